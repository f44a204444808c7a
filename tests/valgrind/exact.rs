//! Every count against Valgrind's, line by line and for all 13 events: small programs that start
//! with zeroed registers, set their own stack and use no library, so that every address is the same
//! under both. Every file of testdata/exact is one. Its first lines say what it is about:
//!
//! ```text
//! // covers: push pop-mem          the rows of testdata/exact/rows.txt that it holds
//! // flags: -O0                    further words for gcc
//! // by hand: REASON               Valgrind 3.19 cannot run it
//! ```
//!
//! In a program that Valgrind cannot run every executed line says behind `//=` what counting it is,
//! and why. A line where cgemu differs on purpose says by how much behind `//~` and the model, with
//! a name that docs/counting.md explains.
//!
//! `CGEMU_EXACT=part` compares only the programs with that in their names. Valgrind 3.19 is what
//! the programs were written for; a version that runs fewer instructions would fail here.

mod compare;
pub mod run;
pub mod setting;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::exact::{self, Program};
use crate::common::parallel;
use crate::common::vars;
use setting::{ARCH, DEFAULT, GEOMETRIES, Geometry, MODELS, Model};

fn chosen(program: &Program) -> bool {
    std::env::var(vars::EXACT).map_or(true, |part| program.name.contains(&part))
}

/// One program with one geometry, by one model.
fn compare_one(
    program: &Program,
    model: &Model,
    geometry: &Geometry,
    directory: &Path,
) -> Result<(), String> {
    let ours = run::ours(directory, &program.binary, model, geometry, "2")?;
    // With one CPU generated code drives the caches.
    if model.name == ARCH.name
        && run::ours(directory, &program.binary, model, geometry, "1")?.rows != ours.rows
    {
        return Err("the counts with --cpus=1 are others".to_owned());
    }
    if program.by_hand().is_some() {
        return compare::with_notes(program, &ours);
    }
    let theirs = run::valgrind(directory, &program.binary, model, geometry)?;
    // Without debug information there would be nothing to compare.
    if !theirs.rows.keys().any(|(file, _, line)| file.ends_with(&program.name) && *line > 0) {
        return Err("Valgrind reads no lines".to_owned());
    }
    compare::with_valgrind(program, model, &theirs, &ours)
}

#[test]
fn counts_are_those_of_valgrind() {
    let dir = tempfile::tempdir().expect("a directory");
    let programs = exact::build(dir.path());
    let programs: Vec<&Program> = programs.iter().filter(|program| chosen(program)).collect();
    assert!(!programs.is_empty(), "no program has that in its name");
    let mut cases = Vec::new();
    for model in MODELS {
        for (i, geometry) in GEOMETRIES.iter().enumerate() {
            // What is derived by hand is derived once.
            let derived = i == 0 && model.name == ARCH.name;
            let of = |program: &&&Program| {
                (program.by_hand().is_none() || derived) && !model.is_unlike(&program.name)
            };
            cases.extend(programs.iter().filter(of).map(|program| (*program, model, geometry)));
        }
    }
    let count = cases.len();
    let results = parallel(cases, |(program, model, geometry)| {
        let dir = tempfile::tempdir().expect("a directory");
        let why = compare_one(program, model, geometry, dir.path()).err()?;
        Some((program, format!("by {} with {}", model.name, geometry.name), why))
    });
    // Of each program one difference, and with what else it differs.
    let mut failures: Vec<(&Program, String)> = Vec::new();
    for (program, setting, why) in results.into_iter().flatten() {
        match failures.iter_mut().find(|(known, _)| known.name == program.name) {
            Some((_, text)) => *text += &format!("  also {setting}\n"),
            None => failures.push((program, format!("{} {setting}: {why}\n", program.name))),
        }
    }
    let texts: Vec<String> = failures.into_iter().map(|(_, text)| text).collect();
    assert!(texts.is_empty(), "{count} comparisons; what differs:\n{}", texts.concat());
}

/// What derived counts are for are cgemu's own caches.
#[test]
fn the_default_is_the_default() {
    let dir = tempfile::tempdir().expect("a directory");
    let programs = exact::build(dir.path());
    let profile = |options: &[String]| {
        let mut command = crate::common::cgemu(dir.path(), &["run", "-q", "--cachegrind-out-file=out"]);
        command.args(options).arg("--").arg(&programs[0].binary);
        assert!(command.status().expect("cgemu starts").success());
        fs::read_to_string(dir.path().join("out")).expect("a profile")
    };
    assert_eq!(profile(&[]), profile(&DEFAULT.options()));
}

/// The programs need what Valgrind has decoded since 3.19.
#[test]
fn valgrind_is_new_enough() {
    let out = crate::common::tool("valgrind", Path::new("."), "valgrind", &["--version"]);
    let said = crate::common::stdout(&out);
    let numbers: Vec<u64> =
        said.trim_start_matches("valgrind-").split('.').map_while(|n| n.parse().ok()).collect();
    assert!(numbers >= vec![3, 19], "Valgrind 3.19 or later is needed for these tests, and this is {said}");
}

/// Every row of the table has a program, and every program has rows of the table.
#[test]
fn every_row_is_covered() {
    let table = fs::read_to_string(exact::folder().join("rows.txt")).expect("rows.txt");
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows: BTreeMap<&str, &str> =
        lines.map(|line| line.split_once(": ").expect("NAME: MEANING")).collect();
    let programs = exact::programs(Path::new(""));
    assert!(programs.len() >= 80, "programs are missing: {} are left", programs.len());
    let mut covered = BTreeSet::new();
    for program in &programs {
        assert!(!program.covers().is_empty(), "{} does not say what it covers", program.name);
        for row in program.covers() {
            assert!(rows.contains_key(row), "{}: rows.txt has no {row}", program.name);
            covered.insert(row);
        }
    }
    let missing: Vec<&&str> = rows.keys().filter(|row| !covered.contains(*row)).collect();
    assert!(missing.is_empty(), "no program covers {missing:?}");
}

/// What is left out of the comparison is there.
#[test]
fn programs_that_differ_are_programs() {
    let programs = exact::programs(Path::new(""));
    for (why, names) in MODELS.iter().flat_map(|model| model.unlike) {
        for name in *names {
            assert!(programs.iter().any(|program| program.name == *name), "{why}: {name}");
        }
    }
}

/// The rules in docs/counting.md name programs that are there, with a star where the counts were
/// derived by hand.
#[test]
fn the_rules_name_their_programs() {
    let programs = exact::programs(Path::new(""));
    let text = include_str!("../../docs/counting.md");
    let rows =
        text.lines().filter_map(|line| line.strip_suffix(" |")?.strip_prefix("| ")?.rsplit_once(" | "));
    let mut rules = 0;
    for (rule, names) in rows.filter(|(rule, _)| *rule != "rule") {
        rules += 1;
        for name in names.split(", ") {
            let (name, by_hand) = name.strip_suffix(" *").map_or((name, false), |name| (name, true));
            let program = programs.iter().find(|program| program.name == name);
            let is_by_hand = program.map(|program| program.by_hand().is_some());
            assert_eq!(is_by_hand, Some(by_hand), "{name}, which holds: {rule}");
        }
    }
    assert!(rules >= 40, "rules are missing: {rules} are left");
}
