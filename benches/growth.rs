//! What a run costs by unit as it grows: instructions, new code, mappings, debug information.
//!
//! `cargo bench --bench growth [-- ROUNDS [KIND...]]` makes programs of each size with gcc, runs
//! them with both simulations and prints the shortest wall time, what the size beyond the least
//! adds to it by unit, and the peak memory. Kinds are `instructions` (to 10^10), `code` (to 50 MB,
//! each block executed once), `mappings` (to 60,000) and `debug` (to 300 MB of debug information).
//! It is a measurement: it judges nothing.

mod measured;

use std::path::Path;
use std::process::Command;

use measured::{Run, measure};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/bench/growth.c");

/// A way to grow.
struct Kind {
    name: &'static str,
    /// What is counted, and how many of it make a unit.
    unit: (&'static str, f64),
    sizes: &'static [u64],
    /// Shell commands that make `./prog` of `$SIZE` from `$SOURCE`.
    setup: &'static str,
    arguments: fn(u64) -> Vec<String>,
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "instructions",
        unit: ("ns an instruction", 1e9),
        sizes: &[1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000],
        setup: "gcc -O1 -o prog \"$SOURCE\"",
        arguments: |size| vec!["loop".to_owned(), size.to_string()],
    },
    Kind {
        name: "code",
        unit: ("us a block of 50 bytes", 5e7),
        sizes: &[50_000, 500_000, 5_000_000, 50_000_000],
        setup: "gcc -O1 -DCODE=$((SIZE / 50)) -o prog \"$SOURCE\"",
        arguments: |_| vec!["code".to_owned()],
    },
    Kind {
        name: "mappings",
        unit: ("us a mapping", 1e6),
        sizes: &[600, 6_000, 60_000],
        setup: "gcc -O1 -o prog \"$SOURCE\"",
        arguments: |size| vec!["map".to_owned(), size.to_string()],
    },
    // 2.4 MB of debug information an object file, compiled once and linked under many prefixes.
    Kind {
        name: "debug",
        unit: ("ms a MB", 1e9),
        sizes: &[2_400_000, 24_000_000, 300_000_000],
        setup: "[ -e ../part.o ] || { awk 'BEGIN{for(i=0;i<6000;i++){printf \"struct s%d { int a%d; long b%d; char name%d[16]; \
                struct s%d *next%d; };\\nint f%d(int a, int *b, double c)\\n{\\n    struct s%d it = { a, b[0], {0}, 0 };\\n    \
                int sum = a;\\n    for (int i = 0; i < a; i++) {\\n        sum += b[i & 3] * %d;\\n        if (sum > %d)\\n            \
                sum ^= it.a%d;\\n    }\\n    return sum + (int)c;\\n}\\n\",i,i,i,i,i,i,i,i,i%17+1,i*3,i}}' > ../part.c && \
                gcc -g -O1 -c ../part.c -o ../part.o; }; i=0; while [ $i -lt $((SIZE / 2400000)) ]; do \
                objcopy --prefix-symbols=p${i}_ ../part.o part$i.o; i=$((i + 1)); done; \
                gcc -g -O1 \"$SOURCE\" part*.o -o prog && rm part*.o",
        arguments: |_| vec!["loop".to_owned(), "1000000".to_owned()],
    },
];

fn run(directory: &Path, kind: &Kind, size: u64) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cgemu"));
    command.args(["run", "-q", "--cachegrind-out-file=/dev/null", "--branch-sim=yes"]);
    command.args(["--", "./prog"]).args((kind.arguments)(size)).current_dir(directory);
    measure(command)
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let rounds: u32 =
        args.next().map_or(2, |arg| arg.parse().expect("the first argument is a number of rounds"));
    let wanted: Vec<String> = args.collect();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    println!("| kind | size | wall s | each | MiB |\n|---|---|---|---|---|");
    for kind in KINDS.iter().filter(|kind| wanted.is_empty() || wanted.iter().any(|name| name == kind.name)) {
        let mut least = None;
        for &size in kind.sizes {
            let directory = scratch.path().join(format!("{}{size}", kind.name));
            std::fs::create_dir(&directory).expect("a work directory");
            let setup = Command::new("sh")
                .args(["-c", kind.setup])
                .env("SOURCE", SOURCE)
                .env("SIZE", size.to_string())
                .current_dir(&directory)
                .status();
            assert!(setup.is_ok_and(|status| status.success()), "{}: cannot be made", kind.name);
            let runs: Vec<Run> = (0..rounds).map(|_| run(&directory, kind, size)).collect();
            let wall = runs.iter().map(|run| run.wall.as_secs_f64()).fold(f64::INFINITY, f64::min);
            let peak = runs.iter().map(|run| run.peak).max().unwrap_or_default() / 1024;
            let (first_size, first_wall) = *least.get_or_insert((size, wall));
            let each = match size == first_size {
                true => "-".to_owned(),
                false => format!(
                    "{:.2} {}",
                    (wall - first_wall) * kind.unit.1 / (size - first_size) as f64,
                    kind.unit.0
                ),
            };
            println!("| {} | {size} | {wall:.3} | {each} | {peak} |", kind.name);
            let _ = std::fs::remove_dir_all(&directory);
        }
    }
}
