//! Access by access against the cache that keeps its lists in order.

use super::*;
use crate::sim::cache::Cache;

fn geometry(text: &str) -> Geometry {
    text.parse().expect("valid geometry")
}

const SHAPES: &[&str] = &[
    "1024,1,64",
    "1024,2,64",
    "768,3,32",
    "4096,8,64",
    "6144,12,128",
    "1280,5,64",
    "1024,16,64",
    "512,32,16",
    "2048,8,256",
];

/// Numbers that look random and are always the same (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[test]
fn agrees_with_the_ordered_lists() {
    for shape in SHAPES {
        let (mut lines, mut lists) = (LineCache::new(geometry(shape)), Cache::new(geometry(shape)));
        let mut state = 1;
        for round in 0..60_000 {
            // From address 0 on: block 0 hits at first, and can be evicted. The top of the address
            // space too.
            let range = [700, 3000, 20_000][round / 500 % 3];
            let base = if round % 4001 == 0 { u64::MAX - 400 } else { 0 };
            let addr = base.wrapping_add(next(&mut state) % range);
            let size = 1 + (next(&mut state) % 15) as u32;
            assert_eq!(
                lines.access(addr, size),
                lists.access(addr, size),
                "{shape}, access {round} at {addr:#x}"
            );
        }
    }
}

#[test]
fn two_hits_at_once_are_two_hits_in_turn() {
    for shape in SHAPES {
        let (mut pairs, mut single) = (LineCache::new(geometry(shape)), LineCache::new(geometry(shape)));
        let mut state = 2;
        let mut taken = 0;
        for _ in 0..60_000 {
            let blocks = [next(&mut state) % 24, next(&mut state) % 24];
            let both = blocks.map(|block| pairs.line(block));
            let alone = blocks.map(|block| single.line(block)).map(|line| single.touch(line));
            if pairs.hit_both(both) {
                taken += 1;
                assert_eq!(alone, [true, true], "{shape}: {blocks:?}");
            } else {
                assert_eq!(both.map(|line| pairs.touch(line)), alone, "{shape}: {blocks:?}");
            }
        }
        assert!(taken > 0, "{shape}");
    }
}

#[test]
fn stand_ins_change_nothing() {
    let mut lines = LineCache::new(geometry("1024,2,64"));
    let line = lines.line(0x41);
    assert!(!lines.hit_both([line, Line::NONE]), "not loaded yet");
    assert!(!lines.touch(line));
    assert!(lines.hit_both([line, Line::NONE]));
    assert!(lines.hit_both([Line::NONE, Line::NONE]));
    assert!(!lines.hit_both([Line::UNKNOWN, Line::UNKNOWN]) && !lines.hit_both([line, Line::UNKNOWN]));
    assert_eq!((lines.line(0x41), lines.block(line)), (line, 0x41));
}

/// While the age stays the same, a sequence of hits made again changes nothing: left out or not,
/// all later accesses have the same outcome.
#[test]
fn the_age_tells_what_can_be_left_out() {
    for shape in SHAPES {
        let (mut all, mut some) = (LineCache::new(geometry(shape)), LineCache::new(geometry(shape)));
        let mut state = 3;
        let mut ages = std::collections::BTreeMap::new();
        let mut left_out = 0;
        for _ in 0..60_000 {
            let pair = next(&mut state) % 30;
            let blocks = [pair, pair + next(&mut state) % 2];
            let outcomes = blocks.map(|block| all.line(block)).map(|line| all.touch(line));
            if ages.get(&blocks) == Some(&some.age()) {
                left_out += 1;
                assert_eq!(outcomes, [true, true], "{shape}: {blocks:?}");
                continue;
            }
            let lines = blocks.map(|block| some.line(block));
            assert_eq!(lines.map(|line| some.touch(line)), outcomes, "{shape}: {blocks:?}");
            if outcomes == [true, true] {
                ages.insert(blocks, some.age());
            }
        }
        assert!(left_out > 0, "{shape}");
    }
}
