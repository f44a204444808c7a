//! Random programs, whose counts must be Valgrind's for every instruction, all thirteen.
//!
//! `CGEMU_RANDOM=COUNT` runs so many instead of two thousand, and `CGEMU_SEED=NUMBER` begins elsewhere. A program that
//! differs is made as small as it can be and still differs, and printed with both counts.

#[path = "random/build.rs"]
mod build;
#[path = "random/choose.rs"]
mod choose;
mod common;
#[path = "random/program.rs"]
mod program;
#[path = "exact/run.rs"]
mod run;
#[path = "exact/setting.rs"]
mod setting;
#[path = "random/shrink.rs"]
mod shrink;

use choose::Random;
use common::parallel;
use iced_x86::InstructionInfoFactory;
use program::Program;
use setting::{GEOMETRIES, MODELS};

/// Programs in one file: one start of Valgrind for all of them.
const BATCH: u64 = 50;

fn number(name: &str, default: u64) -> u64 {
    let words = std::env::var(name).ok();
    words.map_or(default, |word| word.parse().unwrap_or_else(|_| panic!("{name}={word} is not a number")))
}

#[test]
fn counts_are_those_of_valgrind() {
    let (count, seed) = (number("CGEMU_RANDOM", 2000), number("CGEMU_SEED", 1));
    let codes = choose::codes();
    assert!(codes.len() > 800, "instructions are missing: {} are left", codes.len());
    let batches: Vec<u64> = (0..count.div_ceil(BATCH)).collect();
    for model in MODELS {
        let differences: Vec<String> = parallel(batches.clone(), |batch| {
            let mut random = Random(seed.wrapping_mul(0x1_0000_0001).wrapping_add(batch));
            let mut factory = InstructionInfoFactory::new();
            let mut made = || loop {
                let program = Program::new(&mut random, &mut factory, &codes);
                if program.lay_out().is_some() {
                    return program;
                }
            };
            let programs: Vec<Program> = (0..BATCH).map(|_| made()).collect();
            let geometry = &GEOMETRIES[batch as usize % GEOMETRIES.len()];
            shrink::difference(&programs, model, geometry).map(|text| {
                format!("seed {seed}, batch {batch}, by {} with {}:\n{text}", model.name, geometry.name)
            })
        })
        .into_iter()
        .flatten()
        .collect();
        println!("{count} programs of {} encodings by {}, seed {seed}", codes.len(), model.name);
        assert!(differences.is_empty(), "{} batches differ:\n{}", differences.len(), differences.join("\n"));
    }
}
