//! Readers of calls on files that make no sense or are very large: memory is bounded, and messages
//! name file and line.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{output, stderr, stdout};

const READERS: [&[&str]; 3] = [
    &["annotate", "--no-annotate", "--threshold=0", "--inclusive", "--tree=both"],
    &["top", "--inclusive"],
    &["flame", "--folded"],
];

/// Runs a reader of the file `x` with 700 MB of address space.
fn bounded(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 700000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_cgemu")]);
    command.args(words).arg("x").current_dir(directory).output().expect("sh")
}

/// Functions that each call the next, `COUNT` of them, the last one `last`.
fn chain(count: u32, last: &str) -> String {
    let mut text = "# callgrind format\nevents: Ir\n".to_owned();
    for at in 0..count {
        let next = if at + 1 < count { format!("f{}", at + 1) } else { last.to_owned() };
        writeln!(text, "fn=f{at}\n1 1\ncfn={next}\ncalls=1 1\n1 {}", count - at - 1).expect("memory");
    }
    text
}

#[test]
fn large_graphs() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut wide = "# callgrind format\nevents: Ir\nfn=main\n".to_owned();
    (0..50_000).for_each(|at| writeln!(wide, "cfn=g{at}\ncalls=1 1\n1 2").expect("memory"));
    (0..50_000).for_each(|at| writeln!(wide, "fn=g{at}\n1 2").expect("memory"));
    for (what, text, total, pairs) in [
        ("deep", chain(100_000, "end"), 100_000, 100_000),
        ("a ring", chain(20_000, "f0"), 20_000, 20_000),
        ("wide", wide, 100_000, 50_000),
    ] {
        fs::write(dir.path().join("x"), text).expect("written");
        for words in READERS {
            let out = bounded(dir.path(), words);
            assert_eq!(out.status.code(), Some(0), "{what} {words:?}: {}", stderr(&out));
            let text = stdout(&out);
            if words[0] == "flame" {
                let costs = text.lines().map(|line| line.rsplit(' ').next().expect("a cost"));
                assert_eq!(
                    costs.map(|cost| cost.parse::<u64>().expect("a number")).sum::<u64>(),
                    total,
                    "{what}"
                );
            } else if words[0] == "annotate" {
                // Each of the calls stands with its caller and with its callee.
                let calls = |mark: &str| text.lines().filter(|line| line.contains(mark)).count();
                assert_eq!((calls(" < "), calls(" >   ")), (pairs, pairs), "{what}");
            }
        }
    }
}

/// A file that was cut off anywhere is read or refused in a line that says where.
#[test]
fn cut_files() {
    let text = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\ncmd: c\npositions: instr line\n\
        event: Sum = Ir + 2 Dr : Both\nevents: Ir Dr\n\nob=(1) p\nfl=(1) a.c\nfn=(1) f\n0x10 16 1 1\n+3 +1 2\n\
        jcnd=3/4 +4 +1\n* *\njfi=(2) b.h\njump=1 0x30 3\n+1 *\ncob=(2) q\ncfl=(2)\ncfn=(2) g\ncalls=5 0x20 5\n\
        * * 50 5\nfi=(2)\n0x20 5 3 3\nfe=(1)\nfn=(2)\n+1 -1 4\n\ntotals: 10 4\n";
    let dir = tempfile::tempdir().expect("a directory");
    let (mut read, mut refused) = (0, 0);
    for end in (0..=text.len()).rev().step_by(4) {
        fs::write(dir.path().join("x"), &text[..end]).expect("written");
        let out = output(dir.path(), &["annotate", "--tree=both", "--inclusive", "--no-annotate", "x"]);
        let message = stderr(&out);
        match out.status.code() {
            Some(0) => read += 1,
            Some(1) => {
                assert!(
                    message.starts_with("cgemu annotate: x:") && message.lines().count() == 1,
                    "{message}"
                );
                refused += 1;
            }
            _ => panic!("cut at {end}: {message}"),
        }
    }
    // Callgrind ends a file with its totals, so nothing that lacks them is taken for whole.
    assert_eq!((read, refused), (1, text.len() / 4));
}

/// Calls that cost more than the program, more often than can be counted, or of nothing.
#[test]
fn contradictions() {
    let dir = tempfile::tempdir().expect("a directory");
    let head = "# callgrind format\nevents: Ir\nfn=f\n1 2\n";
    for (body, message) in [
        ("cfn=g\ncalls=1 1\n1 9223372036854775805\n", None),
        ("cfn=g\ncalls=1 1\n1 9223372036854775806\n", Some("number too large")),
        ("cfn=f\ncalls=0 1\n1 9\n", None),
        ("calls=1 1\n1 1\n", None),
        ("cfn=g\ncalls=18446744073709551615 1\n1 1\n", Some("number too large")),
        ("cfn=g\ncalls=18446744073709551616 1\n1 1\n", Some("x:6: malformed number of calls")),
        ("cfn=g\ncalls=+1 1\n1 1\n", Some("x:6: malformed number of calls")),
        ("cfn=g\ncalls=1 1\n1 9223372036854775807\n1 9\ncalls=1 1\n1 1\n", Some("number too large")),
        ("cfn=g\ncalls=1 1\nfn=h\n", Some("x:8: missing costs of the call")),
    ] {
        fs::write(dir.path().join("x"), format!("{head}{body}")).expect("written");
        let out = bounded(dir.path(), READERS[0]);
        let error = stderr(&out);
        match message {
            None => assert!(out.status.success() && error.is_empty(), "{body}: {error}"),
            Some(message) => {
                assert_eq!(out.status.code(), Some(1), "{body}");
                assert!(error.contains(message) && error.lines().count() == 1, "{body}: {error}");
            }
        }
    }
}

/// Laying out a table takes time that grows with the square of a name.
#[test]
fn names_of_megabytes() {
    let dir = tempfile::tempdir().expect("a directory");
    let name = "\u{20ac}x".repeat(5_000_000);
    fs::write(dir.path().join("x"), format!("# callgrind format\nevents: Ir\nfn={name}\n1 1\n"))
        .expect("written");
    let out = output(dir.path(), &["top", "x"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let text = stdout(&out);
    assert!(text.contains("\u{20ac}x\u{2026}"), "{} bytes", text.len());
    assert_eq!(text.matches('x').count(), 1 << 14, "{} bytes", text.len());
}
