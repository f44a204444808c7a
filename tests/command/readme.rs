//! The commands of README.md, pasted into a fresh clone as a reader would paste them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::common::{not_compared, output, stderr, stdout, tool};

/// Ahead of the pasted lines: what was done before, and the package of manual pages, which a small
/// system lacks.
const BEFORE: &str = "cargo() { :; }; man() { cat; }\n";

/// The blocks of shell commands under a heading, as they stand.
fn blocks(heading: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("README.md")).expect("README.md");
    let section = text.split(heading).nth(1).expect("the section").split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(str::to_owned).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A clone in which cgemu has been built.
fn clone() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    for name in ["README.md", "testdata"] {
        symlink(root().join(name), at.join(name)).expect("a link");
    }
    fs::create_dir_all(at.join("target/release")).expect("a directory");
    symlink(env!("CARGO_BIN_EXE_cgemu"), at.join("target/release/cgemu")).expect("a link");
    directory
}

/// Pastes lines into one shell, which stops at the first that fails.
fn paste(at: &Path, lines: &str) -> Output {
    let out = tool("dash", at, "sh", &["-exc", &format!("{BEFORE}{lines}")]);
    assert!(out.status.success(), "{}", stderr(&out));
    out
}

#[test]
fn the_quick_start_works_as_it_stands() {
    let clone = clone();
    let blocks = blocks("## Quick start");
    let commands = blocks.iter().flat_map(|block| block.lines()).count();
    assert!(blocks.len() == 6 && commands > 20, "{blocks:?}");
    let out = paste(clone.path(), &blocks.concat());
    // The first page that a newcomer sees has the source with its counts.
    let first = stdout(&paste(clone.path(), &blocks[0]));
    assert!(first.contains("    s = mix(s + i);\n"), "{first}");
    assert!(!first.contains("???"), "{first}");
    assert!(stdout(&out).contains(".TH cgemu-run 1"), "the manual page");
    assert!(stderr(&out).contains("Profile: hot.cgout; to read it: cgemu annotate hot.cgout\n"));
}

/// The claim on counts, with the commands that prove it.
#[test]
fn the_counts_are_those_of_cachegrind() {
    let clone = clone();
    let lines = format!("PATH=$PWD/target/release:$PATH\n{}", blocks("## What the numbers mean").concat());
    let out = stdout(&paste(clone.path(), &lines));
    let summaries: Vec<&str> = out.lines().filter(|line| line.starts_with("summary: ")).collect();
    assert_eq!(summaries.len(), 2, "{out}");
    assert_eq!(summaries[0], summaries[1]);
    assert_eq!(summaries[0].split(' ').count(), 1 + 13, "thirteen counters: {out}");
}

/// Steps through a program on this machine's CPU and prints the number of steps; 77 if that is not
/// allowed.
const STEPS: &str = r#"
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    unsigned long steps = 0;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            _exit(77);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    while (WIFSTOPPED(status)) {
        steps++;
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0))
            return 1;
        waitpid(pid, &status, 0);
    }
    printf("%lu\n", steps);
    return WEXITSTATUS(status);
}
"#;

#[test]
fn instructions_are_those_that_a_cpu_executes() {
    let clone = clone();
    let at = clone.path();
    fs::write(at.join("steps.c"), STEPS).expect("written");
    let built = tool("gcc", at, "gcc", &["-O1", "-o", "steps", "steps.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let block = blocks("## What the numbers mean").concat();
    paste(at, block.lines().next().expect("it is built first"));
    let stepped = tool("gcc", at, "./steps", &["./sorts"]);
    if stepped.status.code() == Some(77) {
        return not_compared("ptrace(2) is not allowed here");
    }
    assert!(stepped.status.success(), "{:?}", stepped.status);
    let steps = stdout(&stepped).lines().last().expect("a number").to_owned();
    let ours = output(at, &["run", "-q", "--cache-sim=no", "--cachegrind-out-file=ir", "./sorts"]);
    assert!(ours.status.success(), "{}", stderr(&ours));
    let profile = fs::read_to_string(at.join("ir")).expect("a profile");
    assert_eq!(profile.lines().last(), Some(format!("summary: {steps}").as_str()));
}
