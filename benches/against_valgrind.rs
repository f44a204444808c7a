//! Wall time and peak memory of cgemu and of Valgrind's Cachegrind on the same programs, run in
//! turn; programs that start others are counted with all of them, but of the memory only their own.
//!
//! `cargo bench --bench against_valgrind [-- ROUNDS [PROGRAM...] [--json=FILE]]` prints for each
//! program the median of each and the ratio of the medians, and writes the time of every run to the
//! file. It is a measurement: it judges nothing.

mod workloads;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use workloads::{GEOMETRY, Workload, asked, measure};

fn valgrind(workload: &Workload, directory: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args([
        "--tool=cachegrind",
        "--cache-sim=yes",
        "--branch-sim=yes",
        "--trace-children=yes",
        "--cachegrind-out-file=/dev/null",
    ]);
    command.args(GEOMETRY).args(workload.command).current_dir(directory);
    command
}

fn cgemu(workload: &Workload, directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cgemu"));
    command.args(["run", "--branch-sim=yes", "--trace-children=yes"]);
    command
        .arg("--cachegrind-out-file=/dev/null")
        .args(GEOMETRY)
        .arg("--")
        .args(workload.command)
        .current_dir(directory);
    command
}

fn median<T: Ord + Copy>(values: &mut [T]) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

fn main() {
    let (rounds, workloads) = asked();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    println!(
        "{:10} {:>12} {:>12} {:>7} {:>12} {:>12} {:>7}",
        "program", "cachegrind", "cgemu", "ratio", "KiB", "KiB", "ratio"
    );
    let mut rows = Vec::new();
    for workload in workloads {
        let directory = workload.prepare(scratch.path());
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        let (mut their_peak, mut our_peak) = (0, 0);
        for _ in 0..rounds {
            let (time, peak) = measure(valgrind(workload, &directory));
            theirs.push(time);
            their_peak = their_peak.max(peak);
            let (time, peak) = measure(cgemu(workload, &directory));
            ours.push(time);
            our_peak = our_peak.max(peak);
        }
        let seconds = |times: &[Duration]| times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>();
        rows.push(json!({
            "program": workload.name,
            "command": workload.command,
            "cachegrind": { "seconds": seconds(&theirs), "peak_kib": their_peak },
            "cgemu": { "seconds": seconds(&ours), "peak_kib": our_peak },
        }));
        let (theirs, ours) = (median(&mut theirs), median(&mut ours));
        println!(
            "{:10} {:>10.3} s {:>10.3} s {:>7.3} {:>12} {:>12} {:>7.2}",
            workload.name,
            theirs.as_secs_f64(),
            ours.as_secs_f64(),
            ours.as_secs_f64() / theirs.as_secs_f64(),
            their_peak,
            our_peak,
            our_peak as f64 / their_peak.max(1) as f64,
        );
    }
    if let Some(file) = std::env::args().find_map(|arg| arg.strip_prefix("--json=").map(str::to_owned)) {
        std::fs::write(file, json!({ "programs": rows }).to_string()).expect("the file can be written");
    }
}
