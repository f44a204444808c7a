//! Stops at system calls: before them and when they have returned, forwards and back.

use std::fs;
use std::path::Path;

use crate::common::{cgemu, stderr, stdout};
use crate::repl::bed;
use crate::tasks;

/// The words in brackets of each stop, in order.
fn stops(out: &str) -> Vec<&str> {
    let told = out.lines().filter(|line| line.starts_with("stop ") && line.contains(" syscall "));
    told.filter_map(|line| line.split_once('(')?.1.strip_suffix(')')).collect()
}

fn said(dir: &Path, commands: &str, argv: &[&str]) -> String {
    fs::write(dir.join("script"), commands).expect("written");
    let words = [&["repl", "--commands=script", "--cachegrind-out-file=out", "--"], argv].concat();
    let out = cgemu(dir, &words).output().expect("cgemu starts");
    assert!(out.status.success(), "{}\n{}", stdout(&out), stderr(&out));
    stdout(&out)
}

#[test]
fn calls_stop_before_and_after() {
    let dir = tempfile::tempdir().expect("a directory");
    tasks::built(dir.path());
    let (call, back) = ("call to syscall write", "returned from syscall write");
    let commands = "catch syscall write\nrun\ncontinue\nprint $rax\ncontinue\nreverse-continue\n\
         reverse-continue\ncontinue\ncontinue\ncontinue\ncontinue\n";
    let out = said(dir.path(), commands, &["./tasks"]);
    assert_eq!(stops(&out), [call, back, call, back, call, back, call, back], "{out}");
    assert!(out.contains("$1 = 1\n") && out.contains("has ended"), "{out}");
    // A call that sleeps returns when others have run.
    let commands =
        "break main\nrun\ncatch syscall wait4\ncontinue\ncontinue\nprint $rax\nreverse-continue\ncontinue\n";
    let out = said(dir.path(), commands, &["./tasks"]);
    let (call, back) = ("call to syscall wait4", "returned from syscall wait4");
    assert_eq!(stops(&out), [call, back, call, back], "{out}");
    assert!(out.contains("$1 = 1003\n"), "{out}");
    // Who makes a process returns from the call, too.
    let commands = "catch syscall clone\ncatch fork\nrun\ncontinue\ncontinue\nprint $rax\n";
    let out = said(dir.path(), commands, &["./tasks"]);
    assert_eq!(stops(&out), ["call to syscall clone", "returned from syscall clone"], "{out}");
    assert!(out.contains("(forked process 1003)") && out.contains("$1 = 1003\n"), "{out}");
}

/// The stop at the return comes before the signals that are then delivered.
#[test]
fn a_call_returns_before_its_signal() {
    let dir = bed::built();
    let commands = "catch syscall tgkill\ncatch signal\nrun\ncontinue\nprint $rax\ncontinue\n\
         reverse-continue\ncontinue\ncontinue\ncontinue\n";
    let parts = [
        "call to syscall tgkill",
        "returned from syscall tgkill",
        "$1 = 0\n",
        "stop 2: signal 10",
        "call to syscall tgkill",
        "returned from syscall tgkill",
        "stop 2: signal 10",
        "status 3",
    ];
    bed::prints(dir.path(), commands, &parts);
}

/// execve(2) returns in the program that it has loaded.
#[test]
fn a_program_is_executed_and_the_call_returns() {
    let dir = tempfile::tempdir().expect("a directory");
    let commands = "catch syscall execve\ncatch exec\nrun\ncontinue\ncontinue\ndelete\ncontinue\n";
    let out = said(dir.path(), commands, &["/bin/sh", "-c", "exec /bin/true"]);
    assert_eq!(stops(&out), ["call to syscall execve", "returned from syscall execve"], "{out}");
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("no {text} in {out}"));
    assert!(at("call to") < at("another program was loaded") && at("another program") < at("returned"));
}
