//! Programs of several processes and threads beside Valgrind: every count of every process, line by
//! line.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::counts::{self, Counts};
use crate::common::{cgemu, stderr, tool};
use crate::exact::setting::{GEOMETRIES, Geometry, MODELS, Model};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/processes/{name}.S"))
}

/// Builds a program of testdata/processes in a directory.
fn build(directory: &Path, name: &str) {
    let source = source(name);
    let words = "-g -O2 -static -nostdlib -no-pie -march=x86-64 -o";
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.extend([name, source.to_str().expect("text")]);
    let out = tool("gcc", directory, "gcc", &words);
    assert!(out.status.success(), "{name}: {}", stderr(&out));
}

/// The profiles with names that begin with `prefix`, in the order of the process IDs at their ends.
fn profiles(directory: &Path, prefix: &str) -> Vec<Counts> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let id = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix(prefix)?;
        name.split('.').map(|number| number.parse::<u64>().ok()).collect::<Option<Vec<u64>>>()
    };
    let mut found: Vec<(Vec<u64>, PathBuf)> = entries.filter_map(|path| Some((id(&path)?, path))).collect();
    found.sort();
    found.iter().map(|(_, path)| counts::read(path)).collect()
}

/// The profiles that Valgrind makes, and ours.
fn both(name: &str, model: &Model, geometry: &Geometry, options: &[&str]) -> [Vec<Counts>; 2] {
    let dir = tempfile::tempdir().expect("a directory");
    ["forks", "other", "threads"].iter().for_each(|name| build(dir.path(), name));
    let (caches, program) = (geometry.options(), format!("./{name}"));
    let shared: Vec<&str> = caches.iter().map(String::as_str).chain(options.iter().copied()).collect();

    let mut words =
        vec!["-q", "--log-file=/dev/null", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes"];
    words.extend(model.valgrind);
    words.extend(&shared);
    words.extend(["--cachegrind-out-file=theirs.%p", &program]);
    let out = tool("valgrind", dir.path(), "valgrind", &words);
    assert!(out.status.success(), "{name}: {}", stderr(&out));

    let mut command = cgemu(dir.path(), &["run", "-q", "--branch-sim=yes", "--timeout=60s"]);
    command.args(&shared).args(model.cgemu).args(["--cachegrind-out-file=ours.%p", "--", &program]);
    let out = command.output().expect("cgemu starts");
    assert!(out.status.success(), "{name}: {}", stderr(&out));
    ["theirs.", "ours."].map(|prefix| profiles(dir.path(), prefix))
}

fn compare(name: &str, processes: usize, geometries: &[Geometry], options: &[&str]) {
    let source = fs::read_to_string(source(name)).expect("a source");
    let source: Vec<&str> = source.lines().collect();
    for model in MODELS {
        for geometry in geometries {
            let [theirs, ours] = both(name, model, geometry, options);
            let what = format!("{name} by {} with {}", model.name, geometry.name);
            assert_eq!((theirs.len(), ours.len()), (processes, processes), "{what}: processes");
            for (i, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
                assert_eq!(theirs.events, ours.events, "{what}: process {i}");
                let lines = theirs.rows.keys().chain(ours.rows.keys());
                for at in
                    lines.filter(|at| !source.get(at.2 as usize - 1).is_some_and(|l| l.contains("schedule")))
                {
                    // Valgrind lists lines that were translated and not executed.
                    let none = vec![0; ours.events.len()];
                    let [theirs, ours] = [theirs, ours].map(|counts| counts.rows.get(at).unwrap_or(&none));
                    assert_eq!(theirs, ours, "{what}: process {i}, {at:?}");
                }
            }
        }
    }
}

#[test]
fn every_process_has_the_counts_of_cachegrind() {
    compare("forks", 5, &GEOMETRIES[..2], &["--trace-children=yes"]);
}

#[test]
fn children_that_execute_a_program_are_not_counted() {
    compare("forks", 3, &GEOMETRIES[..2], &["--trace-children=no"]);
}

#[test]
fn threads_share_the_caches_of_their_process() {
    // Lines that depend on the schedule would make others miss in tiny caches.
    compare("threads", 1, &GEOMETRIES[..1], &[]);
}

/// One profile of all processes has the sum of those apart.
#[test]
fn one_profile_of_all_is_the_sum() {
    let dir = tempfile::tempdir().expect("a directory");
    ["forks", "other"].iter().for_each(|name| build(dir.path(), name));
    for file in ["apart.%p", "all"] {
        let out_file = format!("--cachegrind-out-file={file}");
        let words = ["run", "-q", "--trace-children=yes", "--fork-counts=zero", &out_file, "--", "./forks"];
        assert!(cgemu(dir.path(), &words).status().expect("cgemu starts").success());
    }
    let all = counts::read(&dir.path().join("all"));
    let apart = profiles(dir.path(), "apart.");
    assert_eq!(apart.len(), 5);
    for (at, sum) in &all.rows {
        let of =
            |event: usize| apart.iter().filter_map(|one| one.rows.get(at)).map(|row| row[event]).sum::<u64>();
        let parts: Vec<u64> = (0..all.events.len()).map(of).collect();
        assert_eq!(*sum, parts, "{at:?}");
    }
}

/// Two programs have other code at the same address.
#[test]
fn both_producers_tell_programs_apart() {
    let dir = tempfile::tempdir().expect("a directory");
    let profile = |producer: &str| {
        let words = ["run", "-q", "--trace-children=yes", "--cachegrind-out-file=out", producer, "--"];
        let mut command = cgemu(dir.path(), &words);
        let out = command.args(["sh", "-c", "ls / | sort | tail -1"]).output().expect("cgemu runs");
        assert!(out.status.success(), "{}", stderr(&out));
        fs::read(dir.path().join("out")).expect("a profile")
    };
    assert_eq!(profile("--hooks=tap"), profile("--hooks=api"));
}
