//! What `--count-model=valgrind` costs: wall time by it and by `arch` of the same programs, run in
//! turn.
//!
//! `cargo bench --bench count_models [-- ROUNDS [PROGRAM...]]` prints for each program, without and
//! with the branch predictors, the shortest run of each and their ratio. It is a measurement: it
//! judges nothing.

mod measured;
mod workloads;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use measured::measure;
use workloads::{GEOMETRY, Workload, asked};

fn cgemu(workload: &Workload, directory: &Path, model: &str, branches: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cgemu"));
    command.args(["run", "-q", "--cachegrind-out-file=/dev/null"]);
    command.arg(format!("--count-model={model}")).arg(format!("--branch-sim={branches}"));
    command.args(GEOMETRY).arg("--").args(workload.command).current_dir(directory);
    command
}

fn main() {
    let (rounds, workloads) = asked(3);
    let scratch = tempfile::tempdir().expect("a temporary directory");
    println!("{:10} {:>8} {:>12} {:>12} {:>7}", "program", "branches", "arch", "valgrind", "ratio");
    for workload in workloads {
        let directory = workload.prepare(scratch.path());
        for branches in ["no", "yes"] {
            let mut shortest = [Duration::MAX; 2];
            for _ in 0..rounds {
                for (shortest, model) in shortest.iter_mut().zip(["arch", "valgrind"]) {
                    let run = measure(cgemu(workload, &directory, model, branches));
                    *shortest = run.wall.min(*shortest);
                }
            }
            let [arch, valgrind] = shortest.map(|time| time.as_secs_f64());
            let ratio = valgrind / arch;
            println!("{:10} {branches:>8} {arch:>10.3} s {valgrind:>10.3} s {ratio:>7.2}", workload.name);
        }
    }
}
