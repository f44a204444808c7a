//! Access by access: every rule of the cache model, then a plain model written from the same rules.

use super::*;
use crate::sim::Geometry;

fn cache(text: &str) -> Cache {
    Cache::new(text.parse().expect("valid geometry"))
}

/// Cachegrind's rules with a vector per set, for comparison.
struct Plain {
    line: u64,
    sets: Vec<Vec<u64>>,
}

impl Plain {
    fn new(g: Geometry) -> Plain {
        Plain { line: g.line().into(), sets: vec![vec![0; g.assoc() as usize]; g.sets() as usize] }
    }

    fn touch(&mut self, block: u64) -> bool {
        let count = self.sets.len() as u64;
        let set = &mut self.sets[(block % count) as usize];
        let place = set.iter().position(|&tag| tag == block);
        set.remove(place.unwrap_or(set.len() - 1));
        set.insert(0, block);
        place.is_some()
    }

    fn access(&mut self, addr: u64, size: u32) -> bool {
        let (first, last) = (addr / self.line, (addr + u64::from(size) - 1) / self.line);
        let mut missed = false;
        for block in first..=last {
            missed |= !self.touch(block);
        }
        missed
    }
}

/// Every shape the code treats apart, and the fallback.
const SHAPES: &[&str] = &[
    "1024,1,64", // direct-mapped
    "1024,2,64", // each length known to the compiler ...
    "768,3,32",  // (not a power of two)
    "1024,4,32",
    "4096,8,64",
    "6144,12,128",
    "4096,16,64",
    "1280,5,64", // ... and others
    "3072,24,64",
    "1024,16,64", // fully associative
    "512,32,16",  // fully associative, not a known length
    "2048,8,256", // one set of long lines
];

#[test]
fn block_zero_hits_at_first() {
    for shape in SHAPES {
        let mut c = cache(shape);
        assert!(c.is_mru(0), "{shape}");
        assert!(!c.access(0, 8), "{shape}: block 0 is what empty ways hold");
        assert!(c.access(u64::from(c.geometry().line()), 8), "{shape}: block 1 is not");
    }
}

#[test]
fn block_zero_can_be_evicted() {
    // Two ways, eight sets: 8 and 16 are in set 0.
    let mut c = cache("1024,2,64");
    assert!(!c.touch(8));
    assert!(c.touch(0), "the second way still holds 0");
    assert!(!c.touch(16), "evicts 8");
    assert!(!c.touch(8), "evicts 0");
    assert!(!c.touch(0));
}

#[test]
fn the_least_recently_used_is_evicted() {
    // One set of four.
    let mut c = cache("128,4,32");
    for block in [1, 2, 3, 4] {
        assert!(!c.touch(block));
    }
    assert!(c.touch(1), "1 becomes the most recent");
    assert!(!c.touch(5), "evicts 2");
    assert!(c.touch(1));
    assert!(c.touch(3));
    assert!(!c.touch(2), "evicts 4");
    assert!(!c.touch(4), "evicts 5");
    assert!(c.touch(1));
    assert!(c.touch(3));
    assert!(!c.touch(5));
}

#[test]
fn is_mru_is_the_front_of_the_list() {
    let mut c = cache("1024,2,64");
    c.touch(1);
    c.touch(9);
    assert!(c.is_mru(9) && !c.is_mru(1), "same set");
    c.touch(2);
    assert!(c.is_mru(9) && c.is_mru(2), "different sets");
    assert!(c.touch(1));
    assert!(c.is_mru(1) && !c.is_mru(9));
}

#[test]
fn associativity_three_holds_three() {
    let mut c = cache("12288,3,64"); // 64 sets
    for block in [64, 128, 192] {
        assert!(!c.touch(block));
    }
    for block in [64, 128, 192] {
        assert!(c.touch(block));
    }
    assert!(!c.touch(256), "evicts 64");
    assert!(c.touch(128));
    assert!(!c.touch(64));
}

#[test]
fn direct_mapped_conflicts() {
    let mut c = cache("1024,1,64"); // 16 sets
    assert!(!c.touch(5));
    assert!(c.touch(5));
    assert!(!c.touch(21));
    assert!(!c.touch(5));
    assert!(!c.touch(6) && c.touch(5), "another set");
}

#[test]
fn the_tag_is_the_whole_block_number() {
    let mut c = cache("1024,2,64");
    assert!(c.access(0x1000, 1));
    assert!(c.access(0x1_0000_1000, 1));
    assert!(c.access(0x8000_0000_0000_1000, 1));
    assert!(!c.access(0x1_0000_1000, 1));
}

#[test]
fn an_access_within_a_line_is_one_lookup() {
    let mut c = cache("1024,2,64");
    assert!(c.access(0x1000, 1));
    assert!(!c.access(0x103f, 1));
    assert!(!c.access(0x1030, 16));
    assert!(!c.access(0x1000, 64));
}

#[test]
fn a_straddle_looks_up_both_lines() {
    let mut c = cache("1024,2,64");
    assert!(c.access(0x103c, 8), "both miss: one miss");
    assert!(!c.access(0x1000, 8) && !c.access(0x1040, 8), "and both are there");
    assert!(c.access(0x107e, 4), "only the second misses");
    assert!(!c.access(0x1080, 1));
    assert!(c.access(0x0ffe, 4), "only the first misses");
    assert!(!c.access(0x0fc0, 1));
}

#[test]
fn a_straddle_orders_the_lower_line_first() {
    // One set of two.
    let mut c = cache("128,2,64");
    c.access(0x107e, 4); // blocks 0x41, 0x42
    assert!(c.is_mru(0x42));
    assert!(!c.touch(0x50), "evicts 0x41, the older of the two");
    assert!(c.touch(0x42));
}

#[test]
fn a_straddle_can_evict_its_own_first_line() {
    let mut c = cache("64,1,32"); // two sets, so neighbours never meet
    assert!(c.access(0x101e, 4));
    assert!(!c.access(0x101e, 4));
    let mut c = cache("64,2,32"); // one set of two
    c.touch(100);
    assert!(c.access(0x101e, 4), "evicts both others");
    assert!(!c.touch(100));
}

#[test]
fn odd_sizes_and_ends_of_the_address_space() {
    let mut c = cache("1024,2,64");
    assert!(c.access(0x2000, 0), "size 0 looks up one line");
    assert!(!c.access(0x2000, 1) && c.access(0x2040, 1));
    assert!(c.access(u64::MAX, 1));
    assert!(!c.access(u64::MAX - 63, 64));
    // Wraps to block 0, which the other way of its set still holds.
    assert!(!c.access(u64::MAX, 2));
    // More lines than two, which Cachegrind refuses: all of them, in order.
    assert!(c.access(0x3001, 192));
    for line in [0x3000, 0x3040, 0x3080, 0x30c0] {
        assert!(!c.access(line, 1));
    }
}

#[test]
fn line_sizes_differ() {
    for (shape, within) in [("2048,4,32", 32), ("2048,4,64", 64), ("2048,4,128", 128), ("2048,4,256", 256)] {
        let mut c = cache(shape);
        assert_eq!(1_u64 << c.line_shift(), within);
        assert!(c.access(0x10000, 1));
        assert!(!c.access(0x10000 + within - 1, 1));
        assert!(c.access(0x10000 + within, 1));
        assert!(c.access(0x20000 + within - 1, 2));
        assert!(!c.access(0x20000, 1) && !c.access(0x20000 + within, 1));
    }
}

#[test]
fn clones_and_neighbours_are_independent() {
    let mut a = cache("1024,2,64");
    let mut other = cache("32768,8,32");
    a.touch(1);
    let mut b = a.clone();
    a.touch(9);
    a.touch(17);
    assert!(b.touch(1) && !b.touch(9));
    assert!(!other.touch(1));
}

#[test]
fn agrees_with_a_plain_model() {
    for shape in SHAPES {
        let mut c = cache(shape);
        let mut plain = Plain::new(c.geometry());
        let span = c.geometry().size() * 2;
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let (mut misses, mut straddles) = (0, 0);
        for step in 0..60_000_u32 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            // Half of the accesses near 0, so that the initial block 0 takes part; half anywhere
            // within twice the cache; sizes of every kind of load and fetch.
            let at = (seed >> 16) % if seed & 1 == 0 { span } else { span / 8 };
            let size = [1, 2, 4, 8, 16, 15, 3, 10][(seed >> 8 & 7) as usize];
            if seed & 6 == 0 {
                let block = at >> c.line_shift();
                let first = plain.sets[(block % c.geometry().sets()) as usize][0] == block;
                assert_eq!(c.is_mru(block), first, "{shape} step {step}");
                assert_eq!(c.touch(block), plain.touch(block), "{shape} step {step}");
            } else {
                let missed = c.access(at, size);
                assert_eq!(missed, plain.access(at, size), "{shape} step {step} at {at:#x} size {size}");
                misses += u32::from(missed);
                straddles += u32::from(at % plain.line + u64::from(size) > plain.line);
            }
        }
        assert!(misses > 1000 && straddles > 100, "{shape}: the sequence is worth something");
    }
}
