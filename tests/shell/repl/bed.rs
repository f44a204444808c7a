//! The program that the tests debug, and scripts over it.

use std::fs;
use std::path::Path;

use crate::common::{cgemu, stderr, stdout, tool};

/// The program that is debugged.
pub const SOURCE: &str = include_str!("../../../testdata/repl/prog.c");

/// The number of the line of the source that holds `text`, the first of them.
pub fn line_of(text: &str) -> usize {
    SOURCE.lines().position(|line| line.contains(text)).expect("a line of the source") + 1
}

/// A directory with the program in it.
pub fn built() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("prog.c"), SOURCE).expect("written");
    fs::write(dir.path().join("input"), "abc\n").expect("written");
    let words = ["-g", "-O0", "-fno-pie", "-no-pie", "-o", "prog", "prog.c"];
    let out = tool("gcc", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

pub struct Said {
    pub status: i32,
    pub out: String,
    pub err: String,
}

/// Runs commands, one a line, over the program with some arguments.
pub fn script_with(dir: &Path, options: &[&str], commands: &str, args: &[&str]) -> Said {
    fs::write(dir.join("script"), commands).expect("written");
    let mut words = vec!["repl", "--commands=script", "--stdin=input", "--cachegrind-out-file=out"];
    words.extend(options);
    words.extend(["--", "./prog"]);
    words.extend(args);
    let out = cgemu(dir, &words).output().expect("cgemu starts");
    Said { status: out.status.code().unwrap_or(-1), out: stdout(&out), err: stderr(&out) }
}

pub fn script(dir: &Path, commands: &str) -> Said {
    script_with(dir, &[], commands, &[])
}

/// Runs commands that succeed; what they print, which has these parts in this order.
pub fn prints(dir: &Path, commands: &str, parts: &[&str]) -> String {
    let said = script(dir, commands);
    assert_eq!(said.status, 0, "{commands}\n{}\n{}", said.out, said.err);
    let mut rest = said.out.as_str();
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => panic!("no {part:?} (in its place) after\n{commands}\nin\n{}", said.out),
        }
    }
    said.out
}
