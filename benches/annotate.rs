//! Wall time and peak memory of `cgemu annotate`, with and without `--classic`, and of Valgrind's
//! `cg_annotate`, on one large profile, run in turn.
//!
//! `cargo bench --bench annotate [-- MEGABYTES [ROUNDS]]`; 50 and 3 if not given. It is a
//! measurement: it judges nothing.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const EVENTS: usize = 13;

/// Functions before they repeat, and lines of each file.
const FUNCTIONS: u64 = 20_000;
const LINES: u64 = 3_000;

/// Writes a profile of about this many bytes.
fn generate(path: &Path, bytes: u64) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "desc: I1 cache: 32768 B, 64 B, 8-way associative\ncmd: ./large")?;
    writeln!(out, "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim")?;
    let sizes: [u64; EVENTS] = [1_000_003, 3, 2, 50_021, 7, 5, 30_011, 11, 3, 20_011, 13, 17, 2];
    let (mut sum, mut number, mut written, mut function) = ([0; EVENTS], 1_u64, 0, 0);
    while written < bytes {
        let name = function % FUNCTIONS;
        let mut text =
            format!("fl=src/dir{}/file{}.c\nfn=function_{name}(int, char const*)\n", name % 50, name % 2_000);
        for line in 0..40 {
            // MINSTD, for numbers that differ.
            number = number * 16_807 % 2_147_483_647;
            text += &((name * 7 + line) % LINES + 1).to_string();
            for (sum, size) in sum.iter_mut().zip(sizes) {
                *sum += number % size;
                text += &format!(" {}", number % size);
            }
            text.push('\n');
        }
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
        function += 1;
    }
    write!(out, "summary:")?;
    for sum in sum {
        write!(out, " {sum}")?;
    }
    writeln!(out)?;
    out.flush()
}

/// Wall time and peak memory in KiB of one run.
fn measure(words: &[&str], profile: &Path) -> (Duration, u64) {
    let (program, words) = words.split_first().expect("a program");
    let begin = Instant::now();
    let mut child = Command::new(program)
        .args(words)
        .arg(profile)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if let Some(status) = child.try_wait().expect("can be waited for") {
            assert!(status.success(), "{program}: {status}");
            return (begin.elapsed(), peak);
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let mut number = |or: u64| args.next().map_or(or, |arg| arg.parse().expect("a number"));
    let (megabytes, rounds) = (number(50), number(3));
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = scratch.path().join("large.cgout");
    generate(&profile, megabytes * 1_000_000).expect("a profile");
    let ours = env!("CARGO_BIN_EXE_cgemu");
    let commands: [(&str, &[&str]); 3] = [
        ("cg_annotate", &["cg_annotate", "--auto=no"]),
        ("cgemu annotate --classic", &[ours, "annotate", "--classic", "--auto=no"]),
        ("cgemu annotate", &[ours, "annotate", "--auto=no"]),
    ];
    let mut times = vec![Vec::new(); commands.len()];
    let mut peaks = vec![0; commands.len()];
    for _ in 0..rounds.max(1) {
        for ((command, times), peak) in commands.iter().zip(&mut times).zip(&mut peaks) {
            let (time, most) = measure(command.1, &profile);
            times.push(time);
            *peak = most.max(*peak);
        }
    }
    println!("{:26} {:>10} {:>10} {:>8}", "", "median", "KiB", "faster");
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|times| {
            times.sort_unstable();
            times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
        })
        .collect();
    let reference = medians.first().copied().unwrap_or(0.0);
    for (((name, _), median), peak) in commands.iter().zip(&medians).zip(&peaks) {
        println!("{name:26} {median:>8.3} s {peak:>10} {:>7.1}x", reference / median);
    }
}
