//! Valgrind's client requests: a program that was compiled against Valgrind's own headers prints
//! under cgemu what it prints under Valgrind, in its output and in the log; requests that no header
//! makes do no harm; what is counted is what the requests say. Which instructions they are is in
//! `tests/valgrind/exact.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{counts, output, stderr, stdout, tool};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/requests").join(name)
}

/// A directory with the program built from this source.
fn built(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let source = source(name);
    let words = ["-g", "-O1", "-static", "-no-pie", "-w", "-o", "prog", source.to_str().expect("text")];
    let out = tool("gcc libc6-dev valgrind", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

/// Lines of a log with `PID` for the number, and without Valgrind's remarks about the host's
/// caches.
fn plain(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let lines = text.lines().filter(|line| !line.contains("LL cache") && !line.contains("L3 cache"));
    let plain = lines.map(|line| {
        let mut line = line.to_owned();
        let digits = line.get(2..).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        if digits > 0 && ["**", "--", "=="].iter().any(|sign| line.starts_with(sign)) {
            line.replace_range(2..2 + digits, "PID");
        }
        line + "\n"
    });
    plain.collect()
}

#[test]
fn programs_behave_as_under_valgrind() {
    let dir = built("headers.c");
    let words = [
        "-q",
        "--tool=cachegrind",
        "--vex-guest-chase=no",
        "--vex-iropt-level=0",
        "--cachegrind-out-file=theirs",
        "--log-file=their-log",
        "./prog",
    ];
    let theirs = tool("valgrind", dir.path(), "valgrind", &words);
    assert!(theirs.status.success(), "{}", stderr(&theirs));
    for producer in ["tap", "api"] {
        let hooks = format!("--hooks={producer}");
        let out_file = format!("--cachegrind-out-file={producer}");
        let ours = output(dir.path(), &["run", "-q", "--log-file=log", &hooks, &out_file, "./prog"]);
        assert_eq!(stdout(&ours), stdout(&theirs), "{producer}: {}", stderr(&ours));
        let log = |name: &str| plain(&fs::read(dir.path().join(name)).expect("a log"));
        // What could steer a terminal is the one difference.
        let theirs = log("their-log");
        assert!(theirs.contains("bell\x07 escape\x1b[1m"), "{theirs}");
        let shown = theirs.replace('\x07', "^G").replace('\x1b', "^[");
        assert_eq!(log("log"), shown, "{producer}");
    }
    let profile = |name: &str| fs::read_to_string(dir.path().join(name)).expect("a profile");
    assert_eq!(profile("tap"), profile("api"));

    // What the program's own functions cost, and that those which Valgrind runs itself cost
    // nothing.
    let own = |name: &str| -> Vec<(u64, u64)> {
        let counts = counts::read(&dir.path().join(name));
        let rows = counts.rows.iter().filter(|((file, ..), _)| file.ends_with("/headers.c"));
        rows.map(|((_, _, line), row)| (*line, row[0])).filter(|(_, ir)| *ir > 0).collect()
    };
    assert!(own("theirs").len() > 50);
    assert_eq!(own("tap"), own("theirs"));
}

/// The log on standard error is written at once, between what the program itself writes there.
#[test]
fn text_comes_in_its_place() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = "#include <stdio.h>\n#include <valgrind/valgrind.h>\nint main(void) {\n\
                fprintf(stderr, \"first\\n\"); VALGRIND_PRINTF(\"second\\n\"); fprintf(stderr, \"third\\n\");\n\
                VALGRIND_PRINTF(\"an open line\"); return 0; }\n";
    fs::write(dir.path().join("prog.c"), text).expect("written");
    let out = tool("gcc libc6-dev valgrind", dir.path(), "gcc", &["-o", "prog", "prog.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let out = output(dir.path(), &["run", "--cachegrind-out-file=out", "./prog"]);
    let said = plain(&out.stderr);
    assert!(
        said.contains("first\n**PID** second\nthird\n**PID** an open line\n==PID== \n==PID== I   refs:"),
        "{said}"
    );
}

#[test]
fn hostile_requests_do_no_harm() {
    let dir = built("hostile.c");
    let expected = fs::read_to_string(source("hostile.out")).expect("hostile.out");
    for producer in ["tap", "api"] {
        let hooks = format!("--hooks={producer}");
        let out_file = format!("--cachegrind-out-file={producer}");
        let words = ["run", "--timeout=60s", "--log-file=log", &hooks, &out_file, "./prog"];
        let out = output(dir.path(), &words);
        assert_eq!(stdout(&out), expected, "{producer}: {}", stderr(&out));
        assert_eq!(out.status.code(), Some(0), "{producer}");
        let log = fs::read(dir.path().join("log")).expect("a log");
        assert!(log.len() < 1 << 20, "{} bytes of log", log.len());
    }
    let profile = |name: &str| fs::read_to_string(dir.path().join(name)).expect("a profile");
    assert_eq!(profile("tap"), profile("api"));
}

/// Builds a program of testdata/exact.
fn exact(dir: &Path, name: &str) -> PathBuf {
    let programs = crate::common::exact::build(dir);
    programs.into_iter().find(|program| program.name == name).expect("it is there").binary
}

/// The sums of the events of a profile.
fn sums(file: &Path) -> Vec<(String, u64)> {
    let counts = counts::read(file);
    let sum = |i: usize| counts.rows.values().map(|row| row[i]).sum();
    counts.events.iter().enumerate().map(|(i, event)| (event.clone(), sum(i))).collect()
}

/// testdata/exact/requestswitch.S stops first, which is redundant here, and then counts from START
/// on: INC, two loads, the jump back, a load, LEA, CMP, JNE, and three instructions to end. The
/// loads find nothing in the caches.
#[test]
fn counting_begins_when_the_program_says_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let binary = exact(dir.path(), "requestswitch.S");
    for model in ["arch", "valgrind"] {
        let model = format!("--count-model={model}");
        let out = output(
            dir.path(),
            &[
                "run",
                "-q",
                "--instr-at-start=no",
                "--branch-sim=yes",
                "--cachegrind-out-file=out",
                &model,
                binary.to_str().expect("text"),
            ],
        );
        assert_eq!(
            plain(&out.stderr),
            "--PID-- warning: CACHEGRIND_STOP_INSTRUMENTATION called,\n\
             --PID--          but instrumentation is already disabled\n"
        );
        let sums = sums(&dir.path().join("out"));
        for (event, expected) in
            [("Ir", 11), ("Dr", 3), ("D1mr", 3), ("DLmr", 3), ("Dw", 0), ("Bc", 1), ("Bi", 0)]
        {
            let found = sums.iter().find(|(name, _)| name == event).expect("an event").1;
            assert_eq!(found, expected, "{event} by {model}");
        }
    }
}

/// Builds a program from text.
fn compiled(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("prog.c"), text).expect("written");
    let words = ["-g", "-O1", "-static", "-no-pie", "-o", "prog", "prog.c"];
    let out = tool("gcc libc6-dev valgrind", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

/// Who waits for a request gets what is between the requests, who asks for a call graph what
/// Callgrind counts, and anybody else the whole run, as from Cachegrind.
#[test]
fn callgrinds_switches_are_for_those_who_wait() {
    let dir = compiled(
        "#include <valgrind/callgrind.h>\n\
         __attribute__((noinline)) void work(void) { for (int i = 0; i < 1000; i++) __asm__ volatile(\"nop\"); }\n\
         int main(void) { work(); CALLGRIND_START_INSTRUMENTATION; work(); work(); CALLGRIND_STOP_INSTRUMENTATION;\n\
         work(); CALLGRIND_ZERO_STATS; CALLGRIND_START_INSTRUMENTATION; CALLGRIND_START_INSTRUMENTATION; work();\n\
         return 0; }\n",
    );
    let run = |option: &str| {
        let out = output(dir.path(), &["run", option, "--cachegrind-out-file=out", "./prog"]);
        let counts = counts::read(&dir.path().join("out"));
        let rows = counts.rows.iter().filter(|((_, function, _), _)| function == "work");
        (rows.map(|(_, row)| row[0]).sum::<u64>(), plain(&out.stderr))
    };
    let (thrice, said) = run("--instr-at-start=no");
    assert_eq!(said.matches("were obeyed").count(), 1, "{said}");
    assert_eq!(said.matches("CALLGRIND_ZERO_STATS was ignored").count(), 1, "{said}");
    let (all, said) = run("--instr-at-start=yes");
    assert_eq!(said.matches("CALLGRIND_STOP_INSTRUMENTATION was ignored").count(), 1, "{said}");
    assert!(thrice > 3000 && thrice * 5 == all * 3, "{thrice} of three calls and {all} of five");
    let (once, said) = run("--callgraph=yes");
    assert!(!said.contains("ignored") && !said.contains("obeyed"), "{said}");
    assert_eq!(once * 5, all, "the others were set to zero");
}

/// Text that was said is not said again after the run went back, and stepping takes the sequence
/// for one instruction.
#[test]
fn the_way_back_says_nothing_twice() {
    let dir = compiled(
        "#include <valgrind/valgrind.h>\n\
         int show(int i) { return VALGRIND_PRINTF(\"show %d\\n\", i); }\n\
         int main(void) { for (int i = 0; i < 4; i++) show(i); return RUNNING_ON_VALGRIND; }\n",
    );
    let commands = "break show\nrun\ncontinue\ncontinue\nreverse-continue\nreverse-continue\ncontinue\ncontinue\n\
                    continue\ndelete 1\ncontinue\n";
    fs::write(dir.path().join("script"), commands).expect("written");
    let out = output(dir.path(), &["repl", "--commands=script", "--cachegrind-out-file=out", "--", "./prog"]);
    let said = plain(&out.stderr);
    assert_eq!(said, "**PID** show 0\n**PID** show 1\n**PID** show 2\n**PID** show 3\n", "{}", stdout(&out));
}

/// Lines that processes have printed.
fn printed(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.starts_with("**")).collect()
}

#[test]
fn children_may_be_silent_until_they_execute_a_program() {
    let dir = built("processes.c");
    for silent in ["--child-silent-after-fork=no", "--child-silent-after-fork=yes"] {
        let options = ["-q", "--trace-children=yes", silent];
        let theirs = [&options[..], &["--tool=none", "./prog"]].concat();
        let theirs = tool("valgrind", dir.path(), "valgrind", &theirs);
        assert!(theirs.status.success(), "{}", stderr(&theirs));
        let ours = ["--strace", "--cachegrind-out-file=out", "--log-file=log", "./prog"];
        let ours = output(dir.path(), &[&["run"], &options[..], &ours].concat());
        assert!(ours.status.success(), "{}", stderr(&ours));
        let ours = plain(&fs::read(dir.path().join("log")).expect("a log"));
        assert_eq!(printed(&ours), printed(&plain(&theirs.stderr)), "{silent}");
        // The last child has the number 1002, and executes nothing.
        assert_eq!(ours.contains("[pid 1002]"), silent.ends_with("no"), "{silent}");
    }
}

/// Instructions executed in functions of a profile.
fn costs(file: &Path, functions: &[&str]) -> Vec<u64> {
    let counts = counts::read(file);
    let cost =
        |name: &&str| counts.rows.iter().filter(|((_, at, _), _)| at == name).map(|(_, row)| row[0]).sum();
    functions.iter().map(cost).collect()
}

#[test]
fn every_process_switches_its_own_counting() {
    let dir = built("processes.c");
    let functions = ["before", "in_child", "in_parent", "in_program"];
    for (at_start, word, expected) in [
        ("--instr-at-start=yes", "stop", [true, false, true, true]),
        ("--instr-at-start=no", "start", [true, false, true, false]),
        ("--instr-at-start=no", "stop", [false; 4]),
    ] {
        for threads in ["--separate-threads=no", "--separate-threads=yes"] {
            let options =
                ["run", "-q", "--trace-children=yes", "--cachegrind-out-file=out", at_start, threads];
            let ours = output(dir.path(), &[&options[..], &["./prog", word]].concat());
            assert!(ours.status.success(), "{}", stderr(&ours));
            let costs = costs(&dir.path().join("out"), &functions);
            assert_eq!(costs.iter().map(|cost| *cost > 0).collect::<Vec<_>>(), expected, "{at_start} {word}");
        }
    }
}

#[test]
fn a_function_that_valgrind_calls_leaves_other_threads_counted() {
    let dir = built("threads.c");
    let theirs = tool("valgrind", dir.path(), "valgrind", &["-q", "--tool=none", "./prog"]);
    assert!(theirs.status.success(), "{}", stderr(&theirs));
    for quantum in ["--quantum=500", "--quantum=1000000000"] {
        let ours = output(dir.path(), &["run", "-q", quantum, "--cachegrind-out-file=out", "./prog"]);
        assert_eq!(stdout(&ours), stdout(&theirs), "{}", stderr(&ours));
        let [counted, uncounted] = costs(&dir.path().join("out"), &["counted", "uncounted"])[..] else {
            panic!("two functions")
        };
        // The rounds of the loop are of the same seven instructions or so in any compiler.
        assert!(counted > 2 * 20_000 * 4 && counted % 2 == 0, "{quantum}: {counted}");
        assert_eq!(uncounted, 0, "{quantum}");
    }
}
