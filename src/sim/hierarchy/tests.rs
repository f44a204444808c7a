//! The rules between the levels.

use super::*;

fn hierarchy(i1: &str, d1: &str, ll: &str) -> Hierarchy {
    let [i1, d1, ll] = [i1, d1, ll].map(|text| text.parse().expect("valid geometry"));
    Hierarchy::new(i1, d1, ll)
}

#[test]
fn the_last_level_is_asked_only_after_a_miss() {
    // LL is one set of two lines and D1 larger than it: what D1 holds does not reach LL.
    let mut h = hierarchy("1024,2,64", "1024,2,64", "128,2,64");
    assert_eq!(h.data(0x1000, 8), Outcome::LlMiss);
    assert_eq!(h.data(0x1040, 8), Outcome::LlMiss);
    assert_eq!(h.data(0x1000, 8), Outcome::Hit, "LL's order stays 0x1040, 0x1000");
    assert!(h.ll.is_mru(0x41));
    assert_eq!(h.fetch(0x1040, 4), Outcome::L1Miss, "I1 is apart from D1");
    assert_eq!(h.data(0x2080, 8), Outcome::LlMiss, "evicts 0x1000 from LL");
    assert_eq!(h.fetch(0x1000, 4), Outcome::LlMiss);
}

#[test]
fn evicting_from_the_last_level_leaves_the_first_alone() {
    let mut h = hierarchy("1024,2,64", "1024,2,64", "128,2,64");
    assert_eq!(h.data(0x1000, 8), Outcome::LlMiss);
    for addr in [0x1040, 0x1080, 0x10c0] {
        assert_eq!(h.data(addr, 8), Outcome::LlMiss);
    }
    assert_eq!(h.data(0x1000, 8), Outcome::Hit);
}

#[test]
fn a_straddle_with_one_miss_asks_the_last_level_for_the_whole_range() {
    let mut h = hierarchy("1024,2,64", "1024,2,64", "256,4,64");
    assert_eq!(h.data(0x1000, 8), Outcome::LlMiss);
    // Fill LL with others so that 0x1000 is gone from it but not from D1.
    for addr in [0x2040, 0x2080, 0x20c0, 0x3040] {
        assert_eq!(h.data(addr, 8), Outcome::LlMiss);
    }
    assert_eq!(h.data(0x103c, 8), Outcome::LlMiss, "the second line misses in D1");
    assert!(!h.ll_access(0x1000, 1), "the first line, a hit in D1, was loaded into LL again");
    assert!(!h.ll_access(0x1040, 1));
}

#[test]
fn a_straddle_counts_at_most_one_miss_per_level() {
    let mut h = hierarchy("1024,2,64", "1024,2,64", "8192,4,64");
    assert_eq!(h.data(0x103c, 8), Outcome::LlMiss, "two misses in each level");
    assert_eq!(h.fetch(0x103c, 8), Outcome::L1Miss, "two in I1, none in LL");
    assert_eq!(h.data(0x107c, 8), Outcome::LlMiss, "one in each");
    assert_eq!(h.fetch(0x1040, 4), Outcome::Hit);
}

#[test]
fn mixed_line_sizes() {
    let mut h = hierarchy("1024,2,32", "1024,2,128", "16384,4,256");
    assert_eq!(h.min_line(), 32);
    assert_eq!(h.fetch(0x10000, 4), Outcome::LlMiss);
    assert_eq!(h.fetch(0x10020, 4), Outcome::L1Miss, "another I1 line of the same LL line");
    assert_eq!(h.fetch(0x1001e, 4), Outcome::Hit, "a straddle in I1");
    assert_eq!(h.data(0x10070, 8), Outcome::L1Miss);
    assert_eq!(h.data(0x1007c, 8), Outcome::L1Miss, "a straddle in D1 within one LL line");
    assert_eq!(h.data(0x100fc, 8), Outcome::LlMiss, "a straddle in both");
    assert_eq!(h.fetch(0x10100, 4), Outcome::L1Miss);
    let mut h = hierarchy("1024,2,256", "1024,2,64", "16384,4,32");
    assert_eq!(h.min_line(), 32);
    assert_eq!(h.fetch(0x1003e, 4), Outcome::LlMiss, "one line of I1, two of LL");
    assert!(!h.ll_access(0x10020, 1) && !h.ll_access(0x10040, 1) && h.ll_access(0x10060, 1));
}

#[test]
fn two_configurations_side_by_side() {
    let mut small = hierarchy("512,1,32", "512,1,32", "4096,2,32");
    let mut large = hierarchy("32768,8,64", "32768,8,64", "8388608,16,64");
    let (mut small_misses, mut large_misses) = (0, 0);
    for round in 0..4 {
        for addr in (0x4000..0x6000).step_by(64) {
            small_misses += u32::from(small.data(addr, 8) != Outcome::Hit);
            large_misses += u32::from(large.data(addr, 8) != Outcome::Hit);
        }
        // 128 lines: never kept by 512 bytes direct-mapped, always by 32 KiB.
        assert_eq!((small_misses, large_misses), ((round + 1) * 128, 128));
    }
}
