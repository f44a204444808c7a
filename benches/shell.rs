//! What the shell costs: a run in it against `cgemu run`, alone and with a thousand breakpoints,
//! the time from Ctrl-C to the prompt, and from `reverse-step` near the end of a run of two billion
//! instructions to the prompt; what a stop at a miss or a watched access costs among many, and the
//! way back over them.
//!
//! `cargo bench --bench shell [-- ROUNDS]` prints medians. It is a measurement: it judges nothing.

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::pty::Terminal;

/// Functions of the program with breakpoints; one in ten is called, each a thousand times.
const FUNCTIONS: usize = 1000;

/// Stops of which the cost is measured.
const STOPS: u32 = 20_000;

fn build(directory: &Path) {
    let mut source = String::new();
    for number in 0..FUNCTIONS {
        source += &format!(
            "__attribute__((noinline)) unsigned f{number}(unsigned x) {{ return x * {number} + 1; }}\n"
        );
    }
    let names: Vec<String> = (0..FUNCTIONS).map(|number| format!("f{number}")).collect();
    source += &format!("unsigned (*volatile all[])(unsigned) = {{{}}};\n", names.join(","));
    source += "int main(void) { unsigned x = 1; static unsigned t[4096];\n\
               for (unsigned i = 0; i < 100000000; i++) {\n\
               x = x * 1664525 + 1013904223; t[x >> 20] += x;\n\
               if (i % 1000 == 0) x += all[i / 1000 % 100 * 10](x); }\n\
               return t[5] & 7; }\n";
    std::fs::write(directory.join("many.c"), source).expect("written");
    let mix = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/bench/mix.c");
    let mix = [
        "-O2",
        "-static",
        "-nostdlib",
        "-fno-pie",
        "-no-pie",
        "-fno-stack-protector",
        "-fno-builtin",
        "-DROUNDS=20",
        "-o",
        "mix",
        mix,
    ];
    let stops = "volatile unsigned hot; unsigned table[1 << 20];\n\
                 __attribute__((noinline)) void step(unsigned i) { hot += i; table[i * 7919 & 0xfffff]++; }\n\
                 int main(void) { for (unsigned i = 0; i < 100000000; i++) step(i); return 0; }\n";
    std::fs::write(directory.join("stops.c"), stops).expect("written");
    for words in [&mix[..], &["-O2", "-o", "many", "many.c"], &["-O1", "-o", "stops", "stops.c"]] {
        let out = common::tool("gcc", directory, "gcc", words);
        assert!(out.status.success(), "{}", common::stderr(&out));
    }
    std::fs::write(directory.join("run"), "run\n").expect("written");
    let breaks: String = names.iter().map(|name| format!("break {name} if 0\n")).collect();
    std::fs::write(directory.join("breaks"), breaks + "run\n").expect("written");
}

fn time(directory: &Path, words: &[&str]) -> Duration {
    let begin = Instant::now();
    let mut command: Command = common::cgemu(directory, words);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("cgemu starts");
    assert!(status.code().is_some(), "{words:?}: {status}");
    begin.elapsed()
}

fn median(values: &mut [Duration]) -> Duration {
    values.sort_unstable();
    values[values.len() / 2]
}

/// Compares the same program with and without the shell, in turn.
fn compare(what: &str, directory: &Path, rounds: usize, script: &str, program: &str) {
    let (commands, out) = (format!("--commands={script}"), "--cachegrind-out-file=/dev/null");
    let (mut alone, mut within) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        alone.push(time(directory, &["run", "--branch-sim=yes", out, "--", program]));
        within.push(time(directory, &["repl", "--branch-sim=yes", &commands, out, "--", program]));
    }
    let (alone, within) = (median(&mut alone), median(&mut within));
    let ratio = within.as_secs_f64() / alone.as_secs_f64();
    println!("{what:32} {:>9.3} s {:>9.3} s {ratio:>7.3}", alone.as_secs_f64(), within.as_secs_f64());
}

/// Time within which a typed command is shown.
const SHOWN: Duration = Duration::from_secs(20);

/// Types a command and waits until it is shown; what has been printed then.
fn type_in(terminal: &mut Terminal, command: &str) -> usize {
    terminal.type_in(command);
    // Not in one piece: what it takes is shown beside it meanwhile.
    let (line, begin) = (format!("cgemu> {command}"), Instant::now());
    let is_shown = |screen: &str| {
        screen.lines().rfind(|line| line.starts_with("cgemu>")).is_some_and(|last| last.starts_with(&line))
    };
    while !is_shown(&terminal.screen()) {
        assert!(begin.elapsed() < SHOWN, "{line:?} is not on the terminal:\n{}", terminal.screen());
        std::thread::sleep(Duration::from_millis(1));
    }
    terminal.printed().len()
}

/// A shell over the long program that waits for a command.
fn shell(directory: &Path) -> Terminal {
    let words = ["repl", "--branch-sim=yes", "--cachegrind-out-file=/dev/null", "--", "./mix"];
    let terminal = Terminal::cgemu(directory, &words);
    terminal.wait_for(0, "cgemu> ");
    terminal
}

/// Leaves it.
fn quit(mut terminal: Terminal) {
    type_in(&mut terminal, "quit");
    terminal.type_in("\r");
    terminal.finish();
}

fn times(what: &str, mut times: Vec<Duration>) {
    let most = times.iter().max().copied().unwrap_or_default();
    println!(
        "{what:32} {:>9.1} ms, at most {:.1} ms",
        median(&mut times).as_secs_f64() * 1e3,
        most.as_secs_f64() * 1e3
    );
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let rounds = args.next().map_or(3, |arg| arg.parse().expect("the argument is a number of rounds"));
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let directory = scratch.path();
    build(directory);
    println!("{:32} {:>11} {:>11} {:>7}", "", "run", "repl", "ratio");
    compare("mix, nothing else", directory, rounds, "run", "./mix");
    compare("a thousand breakpoints", directory, rounds, "breaks", "./many");

    let mut terminal = shell(directory);
    let mut interrupted = Vec::new();
    type_in(&mut terminal, "run");
    for round in 0..10 {
        if round > 0 {
            type_in(&mut terminal, "continue");
        }
        terminal.type_in("\r");
        std::thread::sleep(Duration::from_millis(300));
        let seen = terminal.printed().len();
        let begin = Instant::now();
        terminal.type_in("\x03");
        let told = terminal.wait_for(seen, "instructions");
        terminal.wait_for(told, "cgemu> ");
        interrupted.push(begin.elapsed());
    }
    times("Ctrl-C to the prompt", interrupted);
    quit(terminal);

    let mut terminal = shell(directory);
    type_in(&mut terminal, "stop after 2_200M");
    terminal.type_in("\r");
    terminal.wait_for(0, "stop 1: after");
    type_in(&mut terminal, "run");
    terminal.type_in("\r");
    terminal.wait_for(0, "stop 1: stop after");
    std::thread::sleep(Duration::from_millis(300));
    let mut back = Vec::new();
    for _ in 0..5 {
        let seen = type_in(&mut terminal, "reverse-step");
        let begin = Instant::now();
        terminal.type_in("\r");
        let told = terminal.wait_for(seen, "instructions");
        terminal.wait_for(told, "cgemu> ");
        back.push(begin.elapsed());
    }
    times("reverse-step", back);
    quit(terminal);

    // What comes before the many stops is measured alone and taken off.
    for (what, stop) in [
        ("a stop at a miss", "catch miss D1mr in step"),
        ("a stop at a watched access", "watch hot"),
        ("a stop at a breakpoint", "break step"),
    ] {
        let before = format!("tbreak main\nrun\nadvance 1000\n{stop}\n");
        std::fs::write(directory.join("before"), format!("{before}continue\nquit\n")).expect("written");
        let many = format!("{before}continue {STOPS}\nquit\n");
        std::fs::write(directory.join("many-stops"), many).expect("written");
        let run = |script: &str| {
            let commands = format!("--commands={script}");
            time(directory, &["repl", &commands, "--cachegrind-out-file=/dev/null", "--", "./stops"])
        };
        let mut each: Vec<Duration> =
            (0..rounds).map(|_| run("many-stops").saturating_sub(run("before")) / STOPS).collect();
        println!("{what:32} {:>9.1} us", median(&mut each).as_secs_f64() * 1e6);
    }

    let words = ["repl", "--cachegrind-out-file=/dev/null", "--", "./stops"];
    let mut terminal = Terminal::cgemu(directory, &words);
    terminal.wait_for(0, "cgemu> ");
    for command in ["tbreak main", "run", "advance 50M", "watch hot"] {
        let seen = type_in(&mut terminal, command);
        terminal.type_in("\r");
        terminal.wait_for(seen, "cgemu> ");
    }
    let mut back = Vec::new();
    for _ in 0..5 {
        let seen = type_in(&mut terminal, "advance 10k");
        terminal.type_in("\r");
        terminal.wait_for(seen, "cgemu> ");
        let seen = type_in(&mut terminal, "reverse-continue");
        let begin = Instant::now();
        terminal.type_in("\r");
        let told = terminal.wait_for(seen, "instructions");
        terminal.wait_for(told, "cgemu> ");
        back.push(begin.elapsed());
    }
    times("reverse-continue", back);
    quit(terminal);
}
