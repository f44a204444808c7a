//! Stops over several programs: places of each, processes that are made, executed and ended, and
//! memory that is watched.

use std::fs;
use std::path::Path;

use crate::common::{cgemu, stderr, stdout, tool};

const FORKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/repl/forks.c");
const FORKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/repl/forked.c");

fn built(dir: &Path) {
    for (name, source) in [("forks", FORKS), ("forked", FORKED)] {
        let words = ["-g", "-O0", "-fno-pie", "-no-pie", "-static", "-pthread", "-o", name, source];
        let out = tool("gcc", dir, "gcc", &words);
        assert!(out.status.success(), "{}", stderr(&out));
    }
}

/// The lines with which the shell answers commands over the program, but for source lines; those
/// about places only up to the place.
fn said(dir: &Path, commands: &str) -> Vec<String> {
    fs::write(dir.join("script"), commands).expect("written");
    let words = ["repl", "--commands=script", "--cachegrind-out-file=out", "--", "./forks", "./forked"];
    let out = cgemu(dir, &words).output().expect("cgemu starts");
    let text = stdout(&out) + &stderr(&out);
    let lines = text.lines().filter(|line| !line.starts_with(' ') && !line.starts_with("profile:"));
    lines
        .map(|line| match line.split_once("> at ") {
            Some((place, rest)) if line.starts_with("0x") => {
                let name = place.rsplit('<').next().unwrap_or_default().split('+').next();
                let file = rest.split(':').next().unwrap_or_default().rsplit('/').next();
                format!("{} {}", name.unwrap_or_default(), file.unwrap_or_default())
            }
            _ => line.split(" after ").next().unwrap_or_default().to_owned(),
        })
        .collect()
}

/// Only the lines that tell of a stop, a thread or a place in these sources.
fn stops(lines: &[String]) -> Vec<&str> {
    let told = |line: &&str| {
        line.starts_with('[')
            || line.ends_with(" forks.c")
            || line.ends_with(" forked.c")
            || line.starts_with("stop ")
    };
    lines.iter().map(String::as_str).filter(told).collect()
}

/// The stops of a script that adds `added` stops and then lets the program run to its end.
fn all_stops(dir: &Path, added: &str, continues: usize) -> Vec<String> {
    let lines = said(dir, &format!("{added}\nrun\n{}", "continue\n".repeat(continues)));
    let skipped = added.lines().count();
    let mut stops: Vec<String> = stops(&lines).into_iter().map(str::to_owned).collect();
    stops.drain(..skipped.min(stops.len()));
    stops
}

/// The same address is another place in the other program.
#[test]
fn a_breakpoint_is_in_every_program() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    assert_eq!(
        all_stops(dir.path(), "break helper", 7),
        [
            "stop 1: breakpoint helper",
            "helper forks.c",
            "stop 1: breakpoint helper",
            "[thread 1001 of process 1001]",
            "helper forks.c",
            "stop 1: breakpoint helper",
            "helper forked.c",
            "stop 1: breakpoint helper",
            "[thread 1002 of process 1002]",
            "helper forked.c",
            "stop 1: breakpoint helper",
            "[thread 1003 of process 1003]",
            "helper forks.c",
            "stop 1: breakpoint helper",
            "[thread 1005 of process 1000]",
            "helper forks.c",
            "stop 1: breakpoint helper",
            "[thread 1000 of process 1000]",
            "helper forks.c",
        ]
    );
    // One that is set while another process runs that program.
    let lines = said(dir.path(), "catch exec\nrun\nprocess 1000\nbreak helper\ndelete 1\ncontinue\n");
    assert_eq!(stops(&lines).last(), Some(&"helper forked.c"), "{lines:?}");
    // One thread.
    let lines =
        said(dir.path(), "catch fork\nrun\nbreak helper thread 2\ndelete 1\ncontinue\ncontinue\ncontinue\n");
    assert_eq!(lines.iter().filter(|line| line.starts_with("stop 2: breakpoint")).count(), 2, "{lines:?}");
    // An address is the same everywhere.
    let lines = said(dir.path(), "break pad\nbreak *helper\nrun\ndelete\ncontinue\n");
    assert!(lines.iter().any(|line| line.contains("no function `pad`")), "{lines:?}");
}

/// As GDB 13 does with `set follow-fork-mode`.
#[test]
fn processes_are_followed() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let helper = |mode: &str| {
        let mut lines = all_stops(dir.path(), &format!("break helper\nfollow {mode}"), 7);
        // `follow` says nothing.
        lines.retain(|line| line.ends_with(".c") || line.starts_with('['));
        lines
    };
    assert_eq!(
        helper("parent"),
        [
            "helper forks.c",
            "[thread 1005 of process 1000]",
            "helper forks.c",
            "[thread 1000 of process 1000]",
            "helper forks.c"
        ]
    );
    assert_eq!(
        helper("child"),
        ["helper forks.c", "[thread 1001 of process 1001]", "helper forks.c", "helper forked.c"]
    );
    let lines =
        said(dir.path(), "follow\nset follow-fork-mode child\nshow follow-fork-mode\nfollow nobody\n");
    assert_eq!(lines[..2], ["follow both", "follow-fork-mode child"]);
    assert!(lines[2].contains("`follow child`"), "{lines:?}");
}

#[test]
fn processes_are_caught_when_they_are_made_executed_and_ended() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let catches = "catch fork\ncatch vfork\ncatch exec\ncatch signal SEGV usr1\nbreak helper";
    let lines = all_stops(dir.path(), catches, 14);
    let told: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with("stop ")).collect();
    let forked = fs::canonicalize(dir.path().join("forked")).expect("there");
    let exec = format!("stop 3: another program was loaded: {}", forked.display());
    let helper = "stop 5: breakpoint helper";
    // Threads are no processes.
    let expected = [
        helper,
        "stop 1: catch fork (forked process 1001)",
        helper,
        &exec,
        helper,
        "stop 2: catch vfork (vforked process 1002)",
        &exec,
        helper,
        "stop 1: catch fork (forked process 1003)",
        helper,
        "stop 4: signal 11 (SIGSEGV) is about to end process 1003",
        "stop 1: catch fork (forked process 1004)",
        "stop 4: signal 10 (SIGUSR1) is about to be handled",
        helper,
        helper,
    ];
    assert_eq!(told, expected);

    // The way back meets them in the other order, in the same threads.
    // A checkpoint where it has stopped hides none.
    for there in ["continue\n", "checkpoint\ncontinue\n"] {
        let (there, back) = (there.repeat(14), "reverse-continue\n".repeat(14));
        let lines = said(dir.path(), &format!("{catches}\nrun\n{there}checkpoint end\n{back}"));
        let began = lines.iter().position(|line| line.starts_with("checkpoint end")).expect("a checkpoint");
        let told: Vec<&str> =
            stops(&lines[began..]).into_iter().filter(|line| line.starts_with("stop ")).collect();
        assert_eq!(told, expected.iter().rev().skip(1).copied().collect::<Vec<_>>());
    }
    for command in ["catch fork now", "catch signal SIGFOO"] {
        let lines = said(dir.path(), &format!("{command}\n"));
        assert!(
            lines[0].contains("nothing is to follow") || lines[0].contains("no signal `SIGFOO`"),
            "{lines:?}"
        );
    }
    // Nobody who only looks makes a difference.
    let plain = said(dir.path(), "run\n");
    let caught = said(dir.path(), &format!("{catches}\nrun\n{}", "continue\n".repeat(15)));
    assert_eq!(plain.last(), caught.last());
}

/// Watched memory is that of one process, and of those that share it: threads, and the child of
/// vfork. What the kernel stores there is seen too, by a call that has slept as well.
#[test]
fn watched_memory_is_that_of_a_process() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let commands = format!("tbreak main\nrun\nwatch flag\nwatch got\n{}", "continue\n".repeat(6));
    let lines = said(dir.path(), &commands);
    let holds = lines.iter().filter_map(|line| line.split_once(" holds now ")).map(|(_, value)| value);
    assert_eq!(holds.collect::<Vec<_>>(), ["0x1", "0x3", "0x78", "0x8", "0x5"], "{lines:?}");
    let threads: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with('[')).collect();
    let [vfork, back, thread, main] = threads[..] else { panic!("{lines:?}") };
    assert_eq!(
        [vfork, back, thread, main],
        [
            "[thread 1002 of process 1002]",
            "[thread 1000 of process 1000]",
            "[thread 1005 of process 1000]",
            "[thread 1000 of process 1000]"
        ]
    );
}
