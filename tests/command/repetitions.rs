//! The same profile in every one of many runs, with more to do for the machine than it has
//! processors and without: of a program of threads that contend, and of a make that runs the
//! compiler. `CGEMU_REPEAT=COUNT` sets the number of runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{cgemu, stderr, tool, vars};

/// What a run leaves to compare: its output and all profiles, by their names.
type Left = (Vec<u8>, Vec<(String, Vec<u8>)>);

fn run(directory: &Path, words: &[&str]) -> Left {
    let profiles = tempfile::tempdir().expect("a directory");
    // Only the first process's profile is named after a number of the host.
    let option = format!("--cachegrind-out-file={}/%p", profiles.path().display());
    let options = ["run", "-q", "--branch-sim=yes", "--trace-children=yes", &option, "--"];
    let mut command = cgemu(directory, &options);
    let child =
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cgemu starts");
    let own = child.id().to_string();
    let out = child.wait_with_output().expect("cgemu ends");
    assert!(out.status.success(), "{words:?} ends with {}: {}", out.status, stderr(&out));
    let read = |name: &String| fs::read(profiles.path().join(name)).expect("a profile");
    let files = crate::common::names(profiles.path());
    let mut files: Vec<_> = files.iter().map(|name| (name.replacen(&own, "first", 1), read(name))).collect();
    files.sort();
    (out.stdout, files)
}

/// Tells the busy threads to end, also when a run fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs it again and again, every other time beside threads that keep all processors busy, and
/// compares with the first run.
fn repeat(directory: &Path, words: &[&str], processes: usize) {
    let count = std::env::var(vars::REPEAT).map_or(5, |text| text.parse().expect("a number of runs"));
    let (output, profiles) = run(directory, words);
    assert_eq!(profiles.len(), processes, "profiles of {words:?}");
    for at in 1..count {
        let done = AtomicBool::new(at % 2 == 0);
        let again = thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let _stop = Stop(&done);
            run(directory, words)
        });
        assert_eq!(output, again.0, "the output of run {at} of {words:?}");
        let mut pairs = profiles.iter().zip(&again.1);
        let first = pairs.find(|(one, other)| one != other).map(|(one, other)| (&one.0, &other.0));
        assert!(first.is_none() && profiles.len() == again.1.len(), "run {at} of {words:?}: {first:?}");
    }
}

#[test]
fn threads_that_contend() {
    let dir = tempfile::tempdir().expect("a directory");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/determinism/threads.c");
    let built = tool("gcc", dir.path(), "gcc", &["-O2", "-pthread", "-o", "threads", source]);
    assert!(built.status.success(), "{}", stderr(&built));
    repeat(dir.path(), &["./threads"], 1);
}

#[test]
fn make_with_compilers() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("write");
    let makefile = "prog: a.o b.o main.o\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -O1 -c $<\n";
    write("Makefile", makefile);
    write(
        "a.c",
        "#include <stdio.h>\nvoid a(int n) { for (int i = 0; i < n; i++) printf(\"%d\\n\", i * i); }\n",
    );
    write("b.c", "#include <string.h>\nint b(const char *s) { return (int)strlen(s) % 7; }\n");
    write(
        "main.c",
        "void a(int); int b(const char *);\nint main(int n, char **v) { a(b(v[n - 1])); return 0; }\n",
    );
    // Three times gcc with cc1 and as, once with collect2 and ld, and make itself.
    repeat(dir.path(), &["make", "-s", "-j3", "prog"], 1 + 3 * 3 + 3);
    let kept = Command::new("make").args(["-q", "prog"]).current_dir(dir.path()).status();
    assert!(!kept.expect("make starts").success(), "the emulated make has written to the host");
}
