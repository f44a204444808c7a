//! Random programs, whose counts must be Valgrind's for every instruction, all thirteen, by both
//! count models.
//!
//! `CGEMU_RANDOM=COUNT` runs so many instead of two thousand, and `CGEMU_SEED=NUMBER` begins
//! elsewhere. A program that differs is made as small as it can be and still differs, and printed
//! with both counts.

mod build;
mod choose;
mod program;
mod shrink;

use std::io::Write as _;

use self::choose::Random;
use self::program::Program;
use crate::common::parallel;
use crate::common::vars;
use crate::exact::run;
use crate::exact::setting::{ARCH, GEOMETRIES, MODELS, Model};
use iced_x86::{Code, InstructionInfoFactory};

/// Programs in one file: one start of Valgrind for all of them.
const BATCH: u64 = 50;

fn number(name: &str, default: u64) -> u64 {
    let words = std::env::var(name).ok();
    words.map_or(default, |word| word.parse().unwrap_or_else(|_| panic!("{name}={word} is not a number")))
}

/// The programs of a batch: the same for a seed, wherever they are made.
fn batch_of(seed: u64, batch: u64, codes: &[Code]) -> Vec<Program> {
    let mut random = Random(seed.wrapping_mul(0x1_0000_0001).wrapping_add(batch));
    let mut factory = InstructionInfoFactory::new();
    let mut made = || loop {
        let program = Program::new(&mut random, &mut factory, codes);
        if program.lay_out().is_some() {
            return program;
        }
    };
    (0..BATCH).map(|_| made()).collect()
}

/// The tap and the engine's public hooks, which stop before every instruction.
#[test]
fn both_producers_agree() {
    const API: Model = Model { cgemu: &["--hooks=api"], ..ARCH };
    let codes = choose::codes();
    let differences: Vec<String> = parallel((0..8).collect(), |batch| {
        let geometry = &GEOMETRIES[1];
        let agree = |programs: &[Program]| {
            let dir = tempfile::tempdir().expect("a directory");
            let binary = build::build(dir.path(), programs);
            let profile =
                |model, cpus| run::ours(dir.path(), &binary, model, geometry, cpus).map(|counts| counts.rows);
            let tap = profile(&ARCH, "2");
            tap.is_ok() && profile(&API, "2") == tap && profile(&ARCH, "1") == tap
        };
        let programs = batch_of(number(vars::SEED, 1), batch, &codes);
        shrink::smallest(&programs, |programs| !agree(programs))
            .map(|programs| format!("batch {batch}: {}", shrink::show(&programs, &ARCH, geometry)))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(differences.is_empty(), "the producers differ:\n{}", differences.join("\n"));
}

#[test]
fn counts_are_those_of_valgrind() {
    let (count, seed) = (number(vars::RANDOM, 2000), number(vars::SEED, 1));
    let codes = choose::codes();
    assert!(codes.len() > 800, "instructions are missing: {} are left", codes.len());
    let batches: Vec<u64> = (0..count.div_ceil(BATCH)).collect();
    for model in MODELS {
        let differences: Vec<String> = parallel(batches.clone(), |batch| {
            let programs = batch_of(seed, batch, &codes);
            let geometry = &GEOMETRIES[batch as usize % GEOMETRIES.len()];
            shrink::difference(&programs, model, geometry).map(|text| {
                format!("seed {seed}, batch {batch}, by {} with {}:\n{text}", model.name, geometry.name)
            })
        })
        .into_iter()
        .flatten()
        .collect();
        // Past the test harness, which shows what is printed only if the test fails.
        let _ = writeln!(
            std::io::stderr(),
            "{count} programs of {} encodings by {}, seed {seed}",
            codes.len(),
            model.name
        );
        assert!(differences.is_empty(), "{} batches differ:\n{}", differences.len(), differences.join("\n"));
    }
}
