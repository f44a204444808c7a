//! Costs of a system call, a switch between two processes, fork and execve under `cgemu run`.
//!
//! `cargo bench --bench tasks [-- ROUNDS]` prints for each operation the shortest run of many of
//! them less the shortest run of none, by the number. It is a measurement: it judges nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Name, arguments, number of operations, and operations of each that are counted.
const OPERATIONS: [(&str, &[&str], u32, u32); 6] = [
    ("getpid", &["call"], 1_000_000, 1),
    ("read or write of a pipe", &["pipe"], 100_000, 2),
    ("switch, with a read and a write", &["switch"], 100_000, 2),
    ("fork, exit and wait, 1 MiB", &["fork", "1"], 200, 1),
    ("fork, exit and wait, 100 MiB", &["fork", "100"], 100, 1),
    ("fork, execve of /bin/true, exit and wait", &["exec"], 200, 1),
];

fn shortest(program: &Path, rounds: u32, arguments: &[&str], number: u32) -> Duration {
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cgemu"));
        command.args(["run", "-q", "--cachegrind-out-file=/dev/null", "--"]).arg(program);
        command.arg(arguments[0]).arg(number.to_string()).args(&arguments[1..]);
        let start = Instant::now();
        let status = command.stdin(Stdio::null()).status().expect("cgemu runs");
        assert!(status.success(), "{arguments:?}: {status}");
        start.elapsed()
    };
    (0..rounds).map(|_| run()).min().unwrap_or_default()
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(5);
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let program = scratch.path().join("tasks");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/bench/tasks.c");
    let compiled = Command::new("gcc").args(["-O2", "-o"]).arg(&program).arg(source).status();
    assert!(compiled.is_ok_and(|status| status.success()), "gcc cannot compile {source}; install gcc");
    for (name, arguments, number, counted) in OPERATIONS {
        let none = shortest(&program, rounds, arguments, 0);
        let many = shortest(&program, rounds, arguments, number);
        let each = many.saturating_sub(none).as_secs_f64() * 1e6 / f64::from(number * counted);
        println!("{name:42} {each:>10.2} us");
    }
}
