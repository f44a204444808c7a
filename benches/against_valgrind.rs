//! Wall time, CPU time and peak memory of cgemu and of Valgrind's tools on the same programs, in
//! turn; programs that start others are counted with all of them, but of the memory only
//! their own.
//!
//! `cargo bench --bench against_valgrind [-- ROUNDS [PROGRAM...] [--modes=MODE,...]
//! [--against=CGEMU] [--json=FILE]]` runs five pairs of each program in each mode (`instructions`,
//! `caches`, `branches`, which has both simulations, or `callgraph`, which has a call graph too, as
//! Callgrind) and prints a table: for each the median of ours, the median of the ratios of the
//! pairs, and the least and the greatest of them. With
//! `--against=CGEMU` the other side is that program, another revision of cgemu. The file gets every
//! run, with the machine. It is a measurement: it judges nothing.

mod measured;
mod workloads;

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use measured::{Run, measure};
use serde_json::json;
use workloads::{GEOMETRY, Workload, asked};

/// Events that are counted, by the options for them.
struct Mode {
    name: &'static str,
    options: [&'static str; 2],
    callgraph: bool,
}

const MODES: [Mode; 4] = [
    Mode { name: "instructions", options: ["--cache-sim=no", "--branch-sim=no"], callgraph: false },
    Mode { name: "caches", options: ["--cache-sim=yes", "--branch-sim=no"], callgraph: false },
    Mode { name: "branches", options: ["--cache-sim=yes", "--branch-sim=yes"], callgraph: false },
    Mode { name: "callgraph", options: ["--cache-sim=yes", "--branch-sim=yes"], callgraph: true },
];

fn valgrind(workload: &Workload, mode: &Mode, directory: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.arg("--trace-children=yes").args(match mode.callgraph {
        true => ["--tool=callgrind", "--callgrind-out-file=/dev/null"],
        false => ["--tool=cachegrind", "--cachegrind-out-file=/dev/null"],
    });
    command.args(mode.options).args(GEOMETRY).args(workload.command).current_dir(directory);
    command
}

fn cgemu(program: &str, workload: &Workload, mode: &Mode, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["run", "-q", "--trace-children=yes", "--cachegrind-out-file=/dev/null"]);
    if mode.callgraph {
        command.args(["--callgraph=yes", "--callgrind-out-file=/dev/null"]);
    }
    command.args(mode.options).args(GEOMETRY).arg("--").args(workload.command).current_dir(directory);
    command
}

/// The value of an option of the command line.
fn option(name: &str) -> Option<String> {
    std::env::args().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

/// The ratio of two measured values; those of a moment are taken for the shortest that is measured.
fn ratio(ours: f64, theirs: f64, least: f64) -> f64 {
    ours.max(least) / theirs.max(least)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(values: &[f64]) -> f64 {
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// A value of a run, and the least that is measured of it.
type Column = (fn(&Run) -> f64, f64);

const COLUMNS: [Column; 3] = [
    (|run| run.wall.as_secs_f64(), 0.001),
    (|run| run.cpu.as_secs_f64(), 0.01),
    (|run| run.peak as f64 / 1024.0, 1.0),
];

/// The cells of a table for one program: of each column our median, the median ratio, and the least
/// and the greatest ratio.
fn cells(pairs: &[(Run, Run)]) -> String {
    let cell = |&(value, least): &Column| {
        let ratios = sorted(pairs.iter().map(|(theirs, ours)| ratio(value(ours), value(theirs), least)));
        let ours = sorted(pairs.iter().map(|(_, ours)| value(ours)));
        let (first, last) = (ratios.first().unwrap_or(&0.0), ratios.last().unwrap_or(&0.0));
        format!(" {:.3} | {:.2} ({first:.2}-{last:.2}) |", median(&ours), median(&ratios))
    };
    COLUMNS.iter().map(cell).collect()
}

fn values(runs: impl Iterator<Item = Run>) -> serde_json::Value {
    let rows = runs.map(
        |run| json!({ "wall": run.wall.as_secs_f64(), "cpu": run.cpu.as_secs_f64(), "peak_kib": run.peak }),
    );
    rows.collect()
}

fn first_line(command: &mut Command) -> String {
    let out = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&out).lines().next().unwrap_or_default().to_owned()
}

fn machine() -> serde_json::Value {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    json!({
        "cpu": name.trim_start_matches([' ', '\t', ':']),
        "cpus": std::thread::available_parallelism().map_or(1, usize::from),
        "kernel": first_line(Command::new("uname").arg("-sr")),
        "time": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
    })
}

fn main() {
    let (rounds, workloads) = asked(5);
    let modes = option("--modes");
    let wanted = |mode: &&Mode| modes.as_ref().is_none_or(|modes| modes.split(',').any(|m| m == mode.name));
    let modes: Vec<&Mode> = MODES.iter().filter(wanted).collect();
    assert!(!modes.is_empty(), "the modes are instructions, caches, branches and callgraph");
    let (ours, other) = (env!("CARGO_BIN_EXE_cgemu"), option("--against"));
    let theirs = match &other {
        Some(program) => first_line(Command::new(program).arg("--version")),
        None => first_line(Command::new("valgrind").arg("--version")),
    };
    assert!(!theirs.is_empty(), "the program to measure against does not start");
    let scratch = tempfile::tempdir().expect("a temporary directory");
    println!("| program | mode | wall s | ratio | CPU s | ratio | MiB | ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for workload in workloads {
        let program = workload.command[0];
        if program.starts_with('/') && !Path::new(program).exists() {
            println!("| {} | not there: {program} |", workload.name);
            continue;
        }
        let directory = workload.prepare(scratch.path());
        for mode in &modes {
            let pairs: Vec<(Run, Run)> = (0..rounds)
                .map(|_| {
                    let theirs = match &other {
                        Some(other) => cgemu(other, workload, mode, &directory),
                        None => valgrind(workload, mode, &directory),
                    };
                    (measure(theirs), measure(cgemu(ours, workload, mode, &directory)))
                })
                .collect();
            println!("| {} | {} |{}", workload.name, mode.name, cells(&pairs));
            rows.push(json!({
                "program": workload.name,
                "command": workload.command,
                "mode": mode.name,
                "theirs": values(pairs.iter().map(|(theirs, _)| *theirs)),
                "ours": values(pairs.iter().map(|(_, ours)| *ours)),
            }));
        }
    }
    if let Some(file) = option("--json") {
        let all = json!({ "machine": machine(), "theirs": theirs, "programs": rows });
        std::fs::write(file, all.to_string()).expect("the file can be written");
    }
}
