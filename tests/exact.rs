//! Every count against Valgrind's, line by line and for all 13 events: programs that start with zeroed
//! registers, set their own stack and use no library, so that every address is the same under both.
//!
//! The two options after `--branch-sim` make Valgrind count what is executed; without them it counts what its
//! optimiser left. Valgrind 3.19 is what the programs were written for; a version that runs fewer instructions would
//! fail here.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{cgemu, counts, exact, stderr, tool};

/// All programs with these caches.
fn compare(geometry: [&str; 3]) {
    let dir = tempfile::tempdir().expect("a directory");
    let [i1, d1, ll] = geometry;
    let caches = [format!("--I1={i1}"), format!("--D1={d1}"), format!("--LL={ll}")];
    let mut failures = Vec::new();
    for program in exact::build(dir.path()) {
        let name = program.file_name().expect("a name").to_string_lossy().into_owned();
        if let Err(why) = compare_one(dir.path(), &program, &caches) {
            failures.push(format!("{name}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{geometry:?}:\n{}", failures.join("\n"));
}

fn compare_one(directory: &Path, program: &Path, caches: &[String]) -> Result<(), String> {
    let (theirs, ours) = (directory.join("theirs"), directory.join("ours"));
    let program = program.to_str().expect("text");
    let theirs_option = format!("--cachegrind-out-file={}", theirs.display());
    let mut words: Vec<&str> = "-q --log-file=log --tool=cachegrind --cache-sim=yes --branch-sim=yes \
                                --vex-guest-chase=no --vex-iropt-level=0"
        .split_whitespace()
        .collect();
    words.extend(caches.iter().map(String::as_str));
    words.extend([&theirs_option, program]);
    let out = tool("valgrind", directory, "valgrind", &words);
    if !out.status.success() {
        return Err(format!("Valgrind ends with {}: {}", out.status, stderr(&out)));
    }

    let ours_option = format!("--cachegrind-out-file={}", ours.display());
    let mut command: Command = cgemu(directory, &["run", "-q", "--branch-sim=yes", &ours_option]);
    command.args(caches).args(["--", program]).stdout(Stdio::piped());
    let out = command.output().expect("cgemu starts");
    if !out.status.success() || !out.stderr.is_empty() {
        return Err(format!("cgemu ends with {}: {}", out.status, stderr(&out)));
    }

    let (theirs, ours) = (counts::read(&theirs), counts::read(&ours));
    // Both must have the debug information: a profile without lines has nothing to compare.
    if !theirs.rows.keys().any(|(file, _, line)| file.contains("testdata/exact") && *line > 0) {
        return Err("Valgrind reads no lines".to_owned());
    }
    let found = counts::differences(&theirs, &ours);
    if found.is_empty() { Ok(()) } else { Err(format!("Valgrind's first:\n  {}", found.join("\n  "))) }
}

#[test]
fn the_default_caches() {
    compare(["32768,8,64", "32768,8,64", "8388608,16,64"]);
}

#[test]
fn tiny_caches() {
    compare(["1024,2,32", "2048,1,64", "8192,4,64"]);
}

#[test]
fn a_twelve_way_cache() {
    compare(["32768,8,64", "49152,12,64", "262144,8,64"]);
}

/// Lines of three lengths: an access can cross a line of one cache and not of another, and the large accesses of
/// fxsave and its like are cut to the shortest line.
#[test]
fn lines_of_different_lengths() {
    compare(["4096,1,128", "4096,4,32", "32768,8,256"]);
}
