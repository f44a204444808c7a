//! Programs of several processes and threads beside Valgrind: every count of every process, line by
//! line.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use crate::common::counts::{self, Counts, Position};
use crate::common::{cgemu, stderr, tool};
use crate::exact::setting::{GEOMETRIES, Geometry, MODELS, Model};

const SIGTERM: i32 = 15;

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
    [name, "other"].iter().for_each(|name| build(dir.path(), name));
    let (caches, program) = (geometry.options(), format!("./{name}"));
    let shared: Vec<&str> = caches.iter().map(String::as_str).chain(options.iter().copied()).collect();

    let mut words =
        vec!["-q", "--log-file=/dev/null", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes"];
    words.extend(model.valgrind);
    words.extend(&shared);
    words.extend(["--cachegrind-out-file=theirs.%p", &program]);
    let out = tool("valgrind", dir.path(), "valgrind", &words);
    let killed = (name == "killed").then_some(SIGTERM);
    assert_eq!(out.status.signal(), killed, "{name}: {}", stderr(&out));

    let mut command = cgemu(dir.path(), &["run", "-q", "--branch-sim=yes", "--timeout=60s"]);
    command.args(&shared).args(model.cgemu).args(["--cachegrind-out-file=ours.%p", "--", &program]);
    let out = command.output().expect("cgemu starts");
    assert_eq!(out.status.code(), Some(killed.map_or(0, |signal| 128 + signal)), "{name}: {}", stderr(&out));
    ["theirs.", "ours."].map(|prefix| profiles(dir.path(), prefix))
}

fn compare(name: &str, processes: usize, geometries: &[Geometry], options: &[&str]) {
    let text = |name: &str| fs::read_to_string(source(name)).expect("a source");
    let (own, leave) = (text(name), text("leave"));
    // killed.S and executed.S consist of it.
    let source: Vec<&str> = if own.contains("\"leave.S\"") { &leave } else { &own }.lines().collect();
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

/// Threads that sleep while another works have their turns in the same order under both.
#[test]
fn threads_that_hand_over() {
    compare("handover", 1, &GEOMETRIES[..1], &[]);
}

/// A thread ends the process, by exit_group(2), by a signal and by execve(2), whose program is then
/// known by its own lines.
#[test]
fn threads_that_end_their_process() {
    for name in ["leave", "killed", "executed"] {
        compare(name, 1, &GEOMETRIES[..1], &["--trace-children=yes"]);
    }
}

/// Children that share the memory of their parent until they execute a program or end.
#[test]
fn children_as_posix_spawn_makes_them() {
    compare("spawn", 3, &GEOMETRIES[..2], &["--trace-children=yes"]);
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

/// As many profiles as Valgrind makes with patterns of programs that are not traced.
#[test]
fn programs_that_are_skipped() {
    for (option, processes) in [
        ("--trace-children-skip=other", 5),
        ("--trace-children-skip=other,*/oth?r", 3),
        ("--trace-children-skip-by-arg=*", 3),
        ("--trace-children-skip-by-arg=other,*forks", 5),
    ] {
        compare("forks", processes, &GEOMETRIES[..1], &["--trace-children=yes", option]);
    }
}

/// Sums up profiles line by line.
fn sum(profiles: &[Counts]) -> Vec<(&Position, Vec<u64>)> {
    let mut sums: BTreeMap<&Position, Vec<u64>> = BTreeMap::new();
    for (at, row) in profiles.iter().flat_map(|profile| &profile.rows) {
        let sum = sums.entry(at).or_insert_with(|| vec![0; row.len()]);
        sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
    }
    sums.into_iter().collect()
}

/// Profiles of a run of `apart.c`, by the ends of their names.
fn apart(dir: &Path, options: &[&str], argument: &[&str]) -> BTreeMap<String, Counts> {
    let files = || fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_str().expect("text").to_owned();
    let words = ["run", "-q", "--branch-sim=yes", "--trace-children=yes", "--quantum=700"];
    let mut command = cgemu(dir, &words);
    command.args(options).args(["--cachegrind-out-file=out.%p", "--", "./apart"]).args(argument);
    let out = command.output().expect("cgemu starts");
    assert!(out.status.success(), "{}", stderr(&out));
    let mut found = BTreeMap::new();
    for path in files().filter(|path| name(path).starts_with("out.")) {
        let end = name(&path)["out.".len()..].trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
        found.insert(end, counts::read(&path));
        fs::remove_file(path).expect("removed");
    }
    found
}

/// Threads that are counted apart have the counts of their process in all.
#[test]
fn threads_apart_are_the_sum() {
    let dir = tempfile::tempdir().expect("a directory");
    let source = source("apart").with_extension("c");
    let words = ["-g", "-O1", "-pthread", "-o", "apart", source.to_str().expect("text")];
    let out = tool("gcc libc6-dev", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    for model in MODELS {
        for producer in ["--hooks=tap", "--hooks=api"] {
            let options = [model.cgemu, &[producer]].concat();
            for argument in [&[][..], &["again"]] {
                let whole = apart(dir.path(), &options, argument);
                let mut apart =
                    apart(dir.path(), &[&options[..], &["--separate-threads=yes"]].concat(), argument);
                let threads: Vec<(String, Counts)> =
                    apart.extract_if(.., |end, _| end.contains('-')).collect();
                let what = format!("{} {producer} {argument:?}", model.name);
                assert_eq!(whole.keys().collect::<Vec<_>>(), apart.keys().collect::<Vec<_>>(), "{what}");
                for (end, whole) in &whole {
                    assert!(whole.rows == apart[end].rows, "{what}: process{end}");
                    let its =
                        threads.iter().filter(|(name, _)| name.rsplit_once('-').expect("a number").0 == end);
                    let its: Vec<Counts> = its
                        .map(|(_, counts)| Counts {
                            events: counts.events.clone(),
                            rows: counts.rows.clone(),
                        })
                        .collect();
                    assert_eq!(
                        its.len(),
                        if end.is_empty() { 5 } else { 1 },
                        "{what}: threads of process{end}"
                    );
                    let all: Vec<(&Position, Vec<u64>)> =
                        whole.rows.iter().map(|(at, row)| (at, row.clone())).collect();
                    assert!(sum(&its) == all, "{what}: process{end}");
                }
            }
        }
    }
}
