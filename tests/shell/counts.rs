//! Counts of several processes at the prompt: whose they are, and that they add up.

use std::fs;

use crate::common::{cgemu, stderr, stdout};
use crate::tasks::{IN_THE_CHILD, built, prints};

/// The numbers before ` Ir`, and those of `I   refs:`, in order.
fn numbers(text: &str, mark: &str) -> Vec<u64> {
    let words = text.lines().filter_map(|line| match mark {
        " Ir" => line.split(mark).next().filter(|_| line.contains(mark))?.split_whitespace().last(),
        mark => line.strip_prefix(mark)?.split_whitespace().next(),
    });
    words.filter_map(|word| word.replace(',', "").parse().ok()).collect()
}

#[test]
fn the_counts_are_those_of_the_process_that_is_meant() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let commands = format!(
        "{IN_THE_CHILD}print instructions\nsummary\nsummary of all\nprocess 1000\nsummary\n\
         summary of 1003\nsummary of 4\ninfo threads\ninfo processes\n"
    );
    let out = prints(
        dir.path(),
        &commands,
        &[
            "[counts of process 1003 of 2]\n",
            "[counts of all 2 processes]\n",
            "[counts of process 1000 of 2]\n",
            "[counts of process 1003 of 2]\n",
            "[counts of process 1003 of 2]\n",
        ],
    );
    let all: Vec<u64> = numbers(&out, "$1 =");
    let refs = numbers(&out, "I   refs:");
    assert!(refs.len() == 5 && refs[0] == refs[3] && refs[3] == refs[4], "{refs:?}");
    assert_eq!((refs[1], refs[0] + refs[2]), (all[0], all[0]), "{out}");
    // Four tasks, then two processes.
    let executed = numbers(&out, " Ir");
    assert_eq!(executed[..4].iter().sum::<u64>(), all[0], "{out}");
    assert_eq!(executed[4..], [refs[2], refs[0]], "{out}");

    let commands = format!(
        "{IN_THE_CHILD}dump all.cgout of all\ndump 1000.cgout of 1000\ndump\nmark begin of 1000\nzero\n\
         summary of all\nsummary\ndelete\nadvance 300000\nsummary\nsince begin 1\ntop 1 of 1000\nannotate work of all\n\
         zero of all\nsummary of all\n"
    );
    let out = prints(
        dir.path(),
        &commands,
        &[
            "profile: ",
            "profile: ",
            "profile: ",
            "[counts of process 1000 of 2]",
            "[counts of process 1003 of 2]",
        ],
    );
    let then = numbers(&out, "I   refs:");
    // The profile of the first process at this moment, and nothing of the second.
    assert_eq!((then[0], then[1]), (refs[2], 0), "{out}");
    assert_eq!(then.last(), Some(&0), "{out}");
    let summed = |name: &str| {
        let text = fs::read_to_string(dir.path().join(name)).expect("a profile");
        numbers(&text, "summary:")[0]
    };
    assert_eq!([summed("all.cgout"), summed("1000.cgout"), summed("out.1")], [all[0], refs[2], refs[0]]);
    let out = prints(dir.path(), &format!("{IN_THE_CHILD}summary of 7\n"), &[]);
    assert!(out.contains("no counts of process 7; these are counted: 1000, 1003"), "{out}");
}

/// A program that only a child executes is not counted without `--trace-children=yes`.
#[test]
fn a_process_that_is_not_counted_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("script"), "catch exec\nrun\nsummary\ndelete\ncontinue\n").expect("written");
    let words =
        ["repl", "--commands=script", "--cachegrind-out-file=out", "--", "/bin/sh", "-c", "/bin/true; :"];
    let out = cgemu(dir.path(), &words).output().expect("cgemu starts");
    let text = stdout(&out) + &stderr(&out);
    assert!(text.contains("[counts of process 1000; process 1001 is not counted]"), "{text}");
}
