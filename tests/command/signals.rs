//! Signals to cgemu itself, and the profile that they leave.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use crate::common::{cgemu_with_signals, names, patience, stderr, stdout, tool};
use crate::limits::{build, profile, temporary};
use rustix::process::{Pid, Signal, kill_process};

/// Signals to cgemu itself, while the guest computes and while it waits for input.
#[test]
fn signals_from_outside_end_a_run() {
    let busy = "#include <unistd.h>\nint main(void) { write(1, \"!\", 1); for (;;); }";
    let waits =
        "#include <unistd.h>\nint main(void) { char c; write(1, \"!\", 1); read(0, &c, 1); return 0; }";
    for text in [busy, waits] {
        for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let dir = temporary();
            build(dir.path(), text);
            let mut child = cgemu_with_signals(
                dir.path(),
                &[],
                &["run", "--timeout=60s", "--cachegrind-out-file=out", "--", "./p"],
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cgemu starts");
            let mut kept_open = child.stdin.take().expect("a pipe");
            let mut ready = [0];
            child.stdout.as_mut().expect("a pipe").read_exact(&mut ready).expect("the program is there");
            std::thread::sleep(Duration::from_millis(100));
            kill_process(Pid::from_child(&child), signal).expect("kill");
            let ended = patience::wait(&mut child, Duration::from_secs(20));
            let _ = kept_open.write_all(b"x");
            let out = child.wait_with_output().expect("it ends");
            assert_eq!(out.status.code(), Some(status), "{text}: {}", stderr(&out));
            assert!(ended.is_ok(), "{text}: {ended:?}");
            profile(dir.path());
        }
    }
}

/// A run of an endless program, and its log, of which the banner has come: it is after the
/// handlers of signals.
fn endless(directory: &Path, options: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let words =
        ["run", "--timeout=60s", "--cachegrind-out-file=out", "--", "sh", "-c", "while :; do :; done"];
    let mut command = cgemu_with_signals(directory, options, &words);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("env starts");
    let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("Command:") {
        line.clear();
        assert!(log.read_line(&mut line).expect("read") > 0, "the log ended early");
    }
    (child, log)
}

/// Signals whose default action ends a process (signal(7)), by name: the profile is written, and
/// the status is the shell's for that signal.
#[test]
fn every_signal_that_ends_a_process_leaves_a_profile() {
    for (signal, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("USR1", 10),
        ("USR2", 12),
        ("ALRM", 14),
        ("TERM", 15),
        ("STKFLT", 16),
        ("XCPU", 24),
        ("VTALRM", 26),
        ("PROF", 27),
        ("IO", 29),
        ("PWR", 30),
        ("RTMIN", 34),
        ("RTMAX", 64),
    ] {
        let dir = temporary();
        let (mut child, mut log) = endless(dir.path(), &[]);
        let pid = child.id().to_string();
        // Twice, as timeout(1) and a terminal that closes send it: one request all the same.
        let line = format!("kill -{signal} {pid}; kill -{signal} {pid}");
        let sent = tool("bash", dir.path(), "bash", &["-c", &line]);
        let mut rest = String::new();
        log.read_to_string(&mut rest).expect("read");
        assert_eq!(child.wait().expect("it ends").code(), Some(128 + number), "{signal}: {rest}");
        assert!(rest.contains(&format!("Ended by signal {number}")), "{}{rest}", stderr(&sent));
        profile(dir.path());
        assert_eq!(names(dir.path()), ["out"]);
    }
}

/// The shell lets the program end, and its profile be written, before it goes.
#[test]
fn signals_end_the_shell_with_a_profile() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let dir = temporary();
        build(dir.path(), "#include <unistd.h>\nint main(void) { write(1, \"!\", 1); for (;;); }");
        fs::write(dir.path().join("script"), "run\n!touch went-on\n").expect("write");
        let words = ["repl", "--commands=script", "--cachegrind-out-file=out", "--", "./p"];
        let mut child = cgemu_with_signals(dir.path(), &[], &words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("env starts");
        let mut said = [0];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut said).expect("the program is there");
        kill_process(Pid::from_child(&child), signal).expect("kill");
        let out = child.wait_with_output().expect("it ends");
        assert_eq!(out.status.code(), Some(status), "{}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).contains("ended by your signal"), "{}", stdout(&out));
        profile(dir.path());
        assert!(!dir.path().join("went-on").exists());
    }
}

/// So it is while the shell waits for commands: before there are any, and between two of them.
#[test]
fn signals_end_a_shell_that_waits_for_commands() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::USR1, 138), (Signal::INT, 130)]
    {
        for named in [true, false] {
            let dir = temporary();
            let (option, name) = if named { ("--commands=fifo", "fifo") } else { ("-v", "pipe") };
            let made = tool("coreutils", dir.path(), "mkfifo", &[name]);
            assert!(made.status.success(), "{}", stderr(&made));
            let words = ["repl", option, "--cachegrind-out-file=out", "--log-file=log", "--", "true"];
            let path = dir.path().join(name);
            let begin = |commands: &str| {
                let mut command = cgemu_with_signals(dir.path(), &[], &words);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                // Held open from both sides, it never ends and never waits for the other.
                let mut pipe = fs::File::options().read(true).write(true).open(&path).expect("a FIFO");
                if !named {
                    command.stdin(pipe.try_clone().expect("a descriptor"));
                }
                let mut child = command.spawn().expect("env starts");
                pipe.write_all(commands.as_bytes()).expect("room");
                let mut said = Vec::new();
                while !commands.is_empty() && !said.ends_with(b"$1 = 7\n") {
                    let mut byte = [0];
                    child.stdout.as_mut().expect("a pipe").read_exact(&mut byte).expect("it goes on");
                    said.push(byte[0]);
                }
                std::thread::sleep(Duration::from_millis(if commands.is_empty() { 500 } else { 50 }));
                kill_process(Pid::from_child(&child), signal).expect("kill");
                let ended = patience::wait(&mut child, Duration::from_secs(20));
                let _ = child.kill();
                let out = child.wait_with_output().expect("it ends");
                assert!(ended.is_ok(), "{signal:?} {named}: {ended:?}");
                assert_eq!(out.status.code(), Some(status), "{}{}", stdout(&out), stderr(&out));
                assert_eq!(stderr(&out), "");
                stdout(&out)
            };
            begin("");
            assert!(!dir.path().join("out").exists(), "nothing was run");
            let said = begin("start\nprint 7\n");
            if signal == Signal::INT {
                assert!(said.contains("interrupted"), "{said}");
                assert!(!dir.path().join("out").exists());
            } else {
                assert!(said.contains("ended by your signal"), "{said}");
                profile(dir.path());
            }
        }
    }
}

/// nohup(1) has SIGHUP ignored, a shell without job control SIGINT for what runs in the background.
#[test]
fn signals_that_are_ignored_stay_ignored() {
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT)] {
        let dir = temporary();
        let (mut child, mut log) = endless(dir.path(), &[&format!("--ignore-signal={name}")]);
        kill_process(Pid::from_child(&child), signal).expect("kill");
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(child.try_wait().expect("wait"), None, "SIG{name}");
        kill_process(Pid::from_child(&child), Signal::TERM).expect("kill");
        let mut rest = String::new();
        log.read_to_string(&mut rest).expect("read");
        assert_eq!(child.wait().expect("it ends").code(), Some(143), "{rest}");
        profile(dir.path());
    }
}
