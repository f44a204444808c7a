//! Valgrind's own readers on a profile that cgemu wrote.

use std::fs;
use std::path::Path;

use crate::common::{output, stderr, stdout, tool};

/// Takes a profile with every event into the file `out`.
fn profile(directory: &Path) {
    let words =
        ["run", "-q", "--branch-sim=yes", "--cachegrind-out-file=out", "--", "sh", "-c", "echo hello"];
    let out = output(directory, &words);
    assert!(out.status.success(), "{}", stderr(&out));
}

/// The totals of the file's last line, with commas as the readers print them.
fn totals(directory: &Path) -> Vec<String> {
    let text = fs::read_to_string(directory.join("out")).expect("a profile");
    let line = text.lines().find_map(|line| line.strip_prefix("summary: ")).expect("a summary");
    line.split_whitespace()
        .map(|number| {
            let mut out = String::new();
            for (at, digit) in number.chars().enumerate() {
                if at > 0 && (number.len() - at) % 3 == 0 {
                    out.push(',');
                }
                out.push(digit);
            }
            out
        })
        .collect()
}

/// One of the readers, which must accept the file without a word and show its totals.
fn reads(reader: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    profile(dir.path());
    let out = tool("valgrind", dir.path(), reader, &["out"]);
    let (text, complaints) = (stdout(&out), stderr(&out));
    assert!(out.status.success() && complaints.is_empty(), "{reader}: {complaints}\n{text}");
    let shown = text.lines().find(|line| line.ends_with("PROGRAM TOTALS")).expect("a line of totals");
    let numbers: Vec<&str> = shown.split_whitespace().filter(|w| !w.starts_with('(')).collect();
    let totals = totals(dir.path());
    assert_eq!(totals.len(), 13);
    assert_eq!(numbers[..13], totals, "{reader}");
    for part in
        ["I1 cache:", "D1 cache:", "LL cache:", "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim"]
    {
        assert!(text.contains(part), "{reader} does not show {part}: {text}");
    }
}

#[test]
fn cg_annotate_reads_a_profile() {
    reads("cg_annotate");
}

#[test]
fn callgrind_annotate_reads_a_profile() {
    reads("callgrind_annotate");
}

/// cg_diff of a profile with itself: every line is read, and nothing is left.
#[test]
fn cg_diff_finds_no_difference() {
    let dir = tempfile::tempdir().expect("a directory");
    profile(dir.path());
    let out = tool("valgrind", dir.path(), "cg_diff", &["out", "out"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let text = stdout(&out);
    let summary = text.lines().find_map(|line| line.strip_prefix("summary: ")).expect("a summary");
    assert!(summary.split_whitespace().all(|n| n == "0"), "{summary}");
}

/// cg_merge of a profile with itself doubles it.
#[test]
fn cg_merge_adds() {
    let dir = tempfile::tempdir().expect("a directory");
    profile(dir.path());
    let out = tool("valgrind", dir.path(), "cg_merge", &["-o", "twice", "out", "out"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let ir = |name: &str| -> u64 {
        let text = fs::read_to_string(dir.path().join(name)).expect("a profile");
        let line = text.lines().find_map(|line| line.strip_prefix("summary: ").map(str::to_owned));
        line.and_then(|l| l.split_whitespace().next().map(str::to_owned))
            .expect("Ir")
            .parse()
            .expect("a number")
    };
    assert!(ir("out") > 0);
    assert_eq!(ir("twice"), 2 * ir("out"));
}

/// callgrind_annotate of a call graph: no complaint, the file's totals, callers and callees of a
/// function, and no function with more than the whole.
#[test]
fn callgrind_annotate_reads_a_call_graph() {
    let dir = tempfile::tempdir().expect("a directory");
    for options in [&[][..], &["--compress-strings=yes", "--compress-pos=yes"], &["--dump-instr=yes"]] {
        let mut words =
            vec!["run", "-q", "--branch-sim=yes", "--callgraph=yes", "--callgrind-out-file=graph"];
        words.extend(options);
        words.extend(["--cachegrind-out-file=out", "--", "sh", "-c", "echo hello"]);
        let out = output(dir.path(), &words);
        assert!(out.status.success(), "{}", stderr(&out));
        let words = ["--inclusive=yes", "--tree=both", "--threshold=100", "graph"];
        let out = tool("valgrind", dir.path(), "callgrind_annotate", &words);
        let (text, complaints) = (stdout(&out), stderr(&out));
        assert!(out.status.success() && complaints.is_empty(), "{options:?}: {complaints}\n{text}");
        let ir = |line: &str| -> Option<u64> {
            let word = line.split_whitespace().next()?.replace(',', "");
            word.parse().ok()
        };
        let total = text.lines().find(|line| line.ends_with("PROGRAM TOTALS")).and_then(ir).expect("a total");
        let of_profile = totals(dir.path())[0].replace(',', "");
        assert_eq!(total.to_string(), of_profile, "{options:?}");
        // Each function has the number that our own reader gives it.
        let ours = stdout(&output(dir.path(), &["annotate", "--inclusive", "--threshold=0", "graph"]));
        for name in ["_dl_relocate_object", "dl_main"] {
            let is_it = |line: &&str| line.contains("* ") && line.contains(&format!(":{name} "));
            let main = text.lines().find(is_it).unwrap_or_else(|| panic!("no {name} in\n{text}"));
            let number = main.split_whitespace().next().expect("a number");
            let is_ours = |line: &str| line.contains(name) && line.contains(number);
            assert!(ir(main) <= Some(total) && ours.lines().any(is_ours), "{name} {number}:\n{ours}");
        }
        for arrow in [" < ", " > "] {
            assert!(text.lines().any(|line| line.contains(arrow)), "{options:?}: no {arrow} in\n{text}");
        }
    }
}
