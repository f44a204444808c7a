//! What several tests need: the built command, and tools of the host that must be there.

// Each test program uses its own part of this.
#![allow(dead_code)]

pub mod counts;
pub mod exact;
pub mod golden;
pub mod guest;
pub mod network;
pub mod operands;
pub mod patience;
pub mod pty;
pub mod sessions;
pub mod vars;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;

/// The environment of every guest, in its order; a native run to compare with is given the same.
pub const ENVIRONMENT: [(&str, &str); 6] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("TZ", "UTC0"),
];

/// The built `cgemu` with these words, in this directory, with nothing on standard input.
pub fn cgemu(directory: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cgemu"));
    command.args(words).current_dir(directory).stdin(Stdio::null());
    command
}

/// The option that makes the guest's user the one who runs the tests, for programs that are
/// compared with what they do outside.
pub fn as_this_user() -> String {
    use std::os::unix::fs::MetadataExt as _;
    let own = std::fs::metadata("/proc/self").expect("/proc");
    format!("--user={}:{}", own.uid(), own.gid())
}

/// The same, with the signals as `env` of the core utilities sets them: a process that was started
/// with a signal ignored, as a shell does it in the background, would ignore it too.
pub fn cgemu_with_signals(directory: &Path, options: &[&str], words: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal").args(options).arg(env!("CARGO_BIN_EXE_cgemu")).args(words);
    command.current_dir(directory).stdin(Stdio::null());
    command
}

/// Puts the sources of a small program with inlined functions, `hot.c` and `mix.h`, into a
/// directory.
pub fn copy_hot(directory: &Path) {
    for name in ["hot.c", "mix.h"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/hot").join(name);
        std::fs::copy(source, directory.join(name)).expect("a copy");
    }
}

/// Runs it to its end.
pub fn output(directory: &Path, words: &[&str]) -> Output {
    cgemu(directory, words).output().expect("cgemu starts")
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs a tool of the host. One that is missing fails the test and says how to get it: a test that
/// is left out would look like one that passed.
pub fn tool(package: &str, directory: &Path, name: &str, words: &[&str]) -> Output {
    match Command::new(name).args(words).current_dir(directory).stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => panic!("{name}: {error}; install it with: apt-get install {package}"),
    }
}

/// Says why this host cannot be compared with, where it is seen without asking; in CI (`CI` is set)
/// that is a failure.
pub fn not_compared(why: &str) {
    use std::io::Write as _;
    assert!(std::env::var_os("CI").is_none(), "not compared: {why}");
    // Unlike eprintln!, this is shown though the test passes.
    let _ = writeln!(std::io::stderr(), "not compared: {why}");
}

/// True under `./test --all`, which installs what this needs; else says that it is left to that.
pub fn wanted_in_all(what: &str) -> bool {
    use std::io::Write as _;
    let wanted = std::env::var_os(vars::TEST_ALL).is_some();
    if !wanted {
        let _ = writeln!(std::io::stderr(), "left to ./test --all: {what}");
    }
    wanted
}

/// Does the same with each item, as many at a time as there are processors; the results are in the
/// items' order.
pub fn parallel<I: Send, R: Send>(items: Vec<I>, work: impl Fn(I) -> R + Sync) -> Vec<R> {
    let count = items.len();
    let (queue, done) = (Mutex::new(items.into_iter().enumerate()), Mutex::new(Vec::with_capacity(count)));
    let next = || queue.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from).min(count) {
            scope.spawn(|| {
                while let Some((place, item)) = next() {
                    let result = work(item);
                    done.lock().expect("a lock").push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("a lock");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
