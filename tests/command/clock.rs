//! One clock for files and the guest: nothing lies in the future, the order of times is kept, and
//! what a run leaves on the host fits to what was there and to what comes later.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime};

use crate::common::{cgemu, stderr, tool};

/// Runs a program in a directory that it may change, and expects it to succeed without a word on
/// standard error.
fn run(directory: &Path, words: &[&str]) -> String {
    let mut command = cgemu(directory, &["run", "-q", "--cachegrind-out-file=/dev/null", "--allow-write=."]);
    let out = command.arg("--").args(words).output().expect("cgemu starts");
    quiet(&out, words)
}

/// Runs a program of the host there.
fn natively(directory: &Path, words: &[&str]) -> String {
    quiet(&tool("coreutils make tar", directory, words[0], &words[1..]), words)
}

fn quiet(out: &Output, words: &[&str]) -> String {
    assert!(out.status.success(), "{words:?}: {} {}", out.status, stderr(out));
    assert_eq!(stderr(out), "", "{words:?}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn modified(directory: &Path, name: &str) -> (i64, i64) {
    let meta = fs::symlink_metadata(directory.join(name)).expect("stat");
    (meta.mtime(), meta.mtime_nsec())
}

#[test]
fn make_agrees_with_itself_and_with_the_host() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let rules = "all: third copy\nfirst: source\n\tcat source > first\nsecond: first\n\tsleep 2\n\tsort first > second\n\
                 third: second first\n\tcat first second > third\ncopy: third\n\tcp -p third copy\n";
    fs::write(dir.join("Makefile"), rules).expect("write");
    fs::write(dir.join("source"), "b\na\n").expect("write");
    let done = "make: Nothing to be done for 'all'.\n";
    assert!(run(dir, &["make"]).contains("cp -p third copy"));
    assert_eq!(run(dir, &["make"]), done);
    assert_eq!(natively(dir, &["make"]), done);
    // A change by the user is seen, and what comes of it is newer than the change.
    fs::write(dir.join("source"), "c\n").expect("write");
    assert!(run(dir, &["make"]).contains("cat source > first"));
    assert_eq!(natively(dir, &["make"]), done);
    assert_eq!(run(dir, &["make"]), done);
    // And the other way round.
    fs::write(dir.join("source"), "d\n").expect("write");
    assert!(natively(dir, &["make"]).contains("cp -p third copy"));
    assert_eq!(run(dir, &["make"]), done);
}

/// Times of the host, rising, from the epoch to after any clock.
const MOMENTS: [i64; 8] = [
    0,
    1_000_000_000,
    1_600_000_000,
    1_790_000_000,
    1_830_297_599,
    1_830_297_600,
    1_900_000_000,
    4_000_000_000,
];

#[test]
fn times_of_the_host_keep_their_order_and_lie_in_the_past() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let mut names = Vec::new();
    for (at, seconds) in MOMENTS.iter().enumerate() {
        for part in ["000000000", "004000000"] {
            let name = format!("f{at}-{part}");
            let stamp = format!("@{seconds}.{part}");
            natively(dir, &["touch", "-d", &stamp, &name]);
            names.push(name);
        }
    }
    let script = "touch now; for name in \"$@\"; do [ now -nt $name ] || echo $name is no older; \
                  [ -z \"$last\" ] || [ $name -nt $last ] || echo $name is no newer than $last; last=$name; done; \
                  find . -newer now -name 'f*'";
    let mut words = vec!["bash", "-c", script, "bash"];
    words.extend(names.iter().map(String::as_str));
    assert_eq!(run(dir, &words), "");
    // Those from before the clock's start are true.
    let shown = run(dir, &["stat", "-c", "%Y", "f0-000000000", "f2-004000000"]);
    assert_eq!(shown, "0\n1600000000\n");
}

#[test]
fn copies_keep_their_times_here_and_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    fs::write(dir.join("of-today"), "x").expect("write");
    fs::write(dir.join("old"), "x").expect("write");
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_500_000_000, 123_456_789);
    File::options().write(true).open(dir.join("old")).expect("open").set_modified(old).expect("utimes");
    let script = "echo x > made; sleep 100; echo x > later; for name in of-today old made; do cp -p $name $name.copy; done; \
                  mkdir out; tar --format=pax -cf all.tar of-today old made; tar -xf all.tar -C out; \
                  for name in of-today old made; do for copy in $name.copy out/$name; do \
                  [ $copy -nt $name ] && echo $copy is newer; [ $name -nt $copy ] && echo $copy is older; done; done; true";
    assert_eq!(run(dir, &["bash", "-c", script]), "");
    let begin = modified(dir, "of-today");
    for name in ["of-today", "old", "made"] {
        for copy in [format!("{name}.copy"), format!("out/{name}")] {
            let ((sec, nsec), (other_sec, other_nsec)) = (modified(dir, &copy), modified(dir, name));
            let late = (sec - other_sec) * 1_000_000_000 + nsec - other_nsec;
            // Exact while the host's clock is before December 2027.
            assert!((0..2048).contains(&late), "{copy} is {late} ns newer than {name}");
        }
    }
    assert_eq!(modified(dir, "old"), (1_500_000_000, 123_456_789));
    assert!(begin < modified(dir, "made") && modified(dir, "made") < modified(dir, "later"));
    // Time slept there has not passed here.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after the epoch");
    assert!(modified(dir, "later").0 <= now.as_secs() as i64);
    // Another run sees what this one left as older than what it makes itself.
    let script =
        "touch fresh; for name in old made later out/made; do [ fresh -nt $name ] || echo $name; done";
    assert_eq!(run(dir, &["bash", "-c", script]), "");
}
