//! The commands of README.md's quick start, one after the other, as a reader would type them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{output, stderr, stdout, tool};

/// What stands for the number of the reader's own run.
const PID: &str = "<pid>";

/// The lines of the shell under a heading, without their comments.
fn commands<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
    let section = text.split(heading).nth(1).expect("the section").split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" # ").next().unwrap_or(line).trim());
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_quick_start_works_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("README.md")).expect("README.md");
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    for name in ["README.md", "testdata"] {
        symlink(root.join(name), at.join(name)).expect("a link");
    }
    fs::create_dir_all(at.join("target/release")).expect("a directory");
    symlink(env!("CARGO_BIN_EXE_cgemu"), at.join("target/release/cgemu")).expect("a link");
    // What the reader has of earlier runs.
    for name in ["cachegrind.out.1", "A.out", "B.out"] {
        let made = output(at, &["run", "-q", &format!("--cachegrind-out-file={name}"), "true"]);
        assert!(made.status.success(), "{}", stderr(&made));
    }
    let made = tool(
        "valgrind",
        at,
        "valgrind",
        &["--tool=callgrind", "--callgrind-out-file=callgrind.out.1", "true"],
    );
    assert!(made.status.success(), "{}", stderr(&made));

    let commands = commands(&text, "## Quick start");
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        if command.starts_with("cargo build") {
            continue;
        }
        // The pager wants the package of manual pages, which a small system lacks.
        let line = command.replace(PID, "1").replace(" | man -l -", "");
        let out = tool("dash", at, "sh", &["-c", &line]);
        assert!(out.status.success(), "{command}: {}{}", stdout(&out), stderr(&out));
    }
}
