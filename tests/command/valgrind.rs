//! `cgemu valgrind`, and cgemu called by that name.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{names, stderr, stdout};

/// Runs cgemu as `valgrind` in a directory, with no files or variable of options but its own.
fn valgrind(directory: &Path, environment: &[(&str, &str)], words: &[&str]) -> Output {
    let link = directory.join("bin/valgrind");
    if !link.exists() {
        fs::create_dir(directory.join("bin")).expect("a directory");
        symlink(env!("CARGO_BIN_EXE_cgemu"), &link).expect("a link");
    }
    let mut command = Command::new(link);
    command.args(words).current_dir(directory).stdin(Stdio::null());
    command.env("HOME", directory.join("bin")).env_remove("VALGRIND_OPTS");
    command.envs(environment.iter().copied());
    command.output().expect("cgemu runs")
}

#[test]
fn each_tool_writes_its_files_and_no_other() {
    for (tool, file, lines) in [
        ("cachegrind", Some("cachegrind.out."), &["I   refs: ", "D1  misses: ", "Profile: "][..]),
        (
            "callgrind",
            Some("callgrind.out."),
            &["Events    : Ir\n", "Collected : ", "I   refs: ", "Call graph: "],
        ),
        ("none", None, &["Command: sh "]),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let out = valgrind(
            dir.path(),
            &[("WORD", "seen")],
            &[&format!("--tool={tool}"), "sh", "-c", "echo $WORD; exit 7"],
        );
        assert_eq!((stdout(&out).as_str(), out.status.code()), ("seen\n", Some(7)), "{}", stderr(&out));
        let log = stderr(&out);
        for line in lines {
            assert!(log.contains(&format!("== {line}")), "{tool}: no {line} in {log}");
        }
        assert_eq!(log.contains("I   refs"), file.is_some(), "{log}");
        let mut written = names(dir.path());
        written.retain(|name| name != "bin");
        assert_eq!(written.len(), usize::from(file.is_some()), "{written:?}");
        if let Some(file) = file {
            assert!(written[0].starts_with(file), "{written:?}");
            let text = fs::read_to_string(dir.path().join(&written[0])).expect("a file");
            let [collected, sum] = [("Collected : ", &log), ("totals: ", &text)].map(|(key, text)| {
                let line = text.lines().find_map(|line| line.split_once(key));
                line.map(|(_, counts)| counts.to_owned())
            });
            assert_eq!(collected, sum, "{tool}");
        }
    }
}

/// The log of a harness has the lines that it looks for, and files are in another directory.
/// The program finds the variables that the command has, and no others.
#[test]
fn the_environment_is_the_commands() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cgemu"));
    command.args(["valgrind", "-q", "--tool=none", "/usr/bin/env"]).current_dir(dir.path());
    command.env_clear().envs([("ONE", "1"), ("PATH", "/bin")]);
    let out = command.output().expect("cgemu runs");
    let mut lines: Vec<String> = stdout(&out).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["ONE=1", "PATH=/bin"], "{}", stderr(&out));
}

#[test]
fn files_of_children_in_another_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("out")).expect("a directory");
    let words =
        ["--tool=callgrind", "--trace-children=yes", "--log-file=out/log", "--callgrind-out-file=out/c.#%p"];
    let out = valgrind(dir.path(), &[], &[&words[..], &["sh", "-c", "true; /bin/true; true"]].concat());
    assert!(out.status.success() && out.stderr.is_empty(), "{}", stderr(&out));
    let log = fs::read_to_string(dir.path().join("out/log")).expect("a log");
    let mut lines = log.lines();
    let prefix = lines.next().and_then(|line| line.split(' ').next()).expect("a prefix").to_owned();
    assert!(prefix.starts_with("==") && prefix.ends_with("=="), "{log}");
    let head: Vec<&str> = lines.take_while(|line| line.trim_end() != prefix).collect();
    for line in ["Command: sh ", "Parent PID: "] {
        assert!(head.iter().any(|had| had.starts_with(&format!("{prefix} {line}"))), "{log}");
    }
    let written = names(&dir.path().join("out"));
    assert_eq!(written.len(), 3, "{written:?}");
}

#[test]
fn options_come_from_files_and_a_variable() {
    let dir = tempfile::tempdir().expect("a directory");
    let home = dir.path().join("bin");
    assert_eq!(
        stdout(&valgrind(dir.path(), &[], &["--version"])),
        concat!("valgrind-3.19.0 (cgemu ", env!("CARGO_PKG_VERSION"), ")\n")
    );
    fs::write(home.join(".valgrindrc"), "--tool=cachegrind\n--callgrind:bogus=1 --cachegrind-out-file=home")
        .expect("written");
    let wrote = |environment: &[(&str, &str)], words: &[&str]| {
        let out = valgrind(dir.path(), environment, words);
        assert!(out.status.success(), "{}", stderr(&out));
        let mut found = names(dir.path());
        found.retain(|name| name != "bin");
        found.iter().for_each(|name| drop(fs::remove_file(dir.path().join(name))));
        found
    };
    assert_eq!(wrote(&[], &["true"]), ["home"]);
    let variable = [("VALGRIND_OPTS", "--cachegrind:cachegrind-out-file=variable")];
    assert_eq!(wrote(&variable, &["true"]), ["variable"]);
    assert_eq!(wrote(&variable, &["--cachegrind-out-file=typed", "true"]), ["typed"]);
    let here = dir.path().join("here");
    fs::create_dir(&here).expect("a directory");
    let rc = here.join(".valgrindrc");
    fs::write(&rc, "--cachegrind-out-file=here").expect("written");
    let in_here = || {
        let mut command = Command::new(dir.path().join("bin/valgrind"));
        command.arg("true").current_dir(&here).env("HOME", &home).envs(variable).stdin(Stdio::null());
        let out = command.output().expect("cgemu runs");
        assert!(out.status.success(), "{}", stderr(&out));
        here.join("here").exists()
    };
    fs::set_permissions(&rc, fs::Permissions::from_mode(0o666)).expect("changed");
    assert!(!in_here(), "a file that anybody may write is left alone");
    fs::set_permissions(&rc, fs::Permissions::from_mode(0o644)).expect("changed");
    assert!(in_here());
}

#[test]
fn what_is_not_here_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    for (words, message) in [
        (
            &["true"][..],
            "cgemu: valgrind: --tool=memcheck: not here; say --tool=cachegrind, callgrind or none\n",
        ),
        (
            &["--tool=callgrind", "--simulate-wb=yes", "true"],
            "cgemu: valgrind: --simulate-wb=yes: not supported; only no is\n",
        ),
    ] {
        let out = valgrind(dir.path(), &[], words);
        assert_eq!((out.status.code(), stderr(&out).as_str()), (Some(125), message));
    }
    let out = valgrind(dir.path(), &[], &["--tool=none", "./nothing"]);
    assert_eq!(out.status.code(), Some(127), "{}", stderr(&out));
}
