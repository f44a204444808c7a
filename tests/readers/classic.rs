//! `cgemu merge`, `diff` and `annotate --classic` beside `cg_merge`, `cg_diff` and `cg_annotate` of
//! the installed Valgrind 3.19, on the same files. The Perl programs print what they keep in hashes
//! in another order in each run; there, and only there, the lines are sorted before they are
//! compared.

mod inputs;
mod order;

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{output, stderr, tool};
use inputs::{ODD, REAL, prepare};

/// One of Valgrind's programs.
fn theirs(directory: &Path, name: &str, words: &[&str]) -> Output {
    tool("valgrind", directory, name, words)
}

/// Ours, which must not fail silently or in more than a line, and must name what it failed at.
fn ours(directory: &Path, words: &[&str]) -> Output {
    let out = output(directory, words);
    let text = stderr(&out);
    assert!(!text.contains("internal error"), "{words:?}: {text}");
    if !out.status.success() {
        assert!(text.starts_with("cgemu: ") || text.starts_with("error: "), "{words:?}: {text}");
        assert!(text.ends_with('\n'), "{words:?}: {text}");
    }
    out
}

/// Every ordered pair of real profiles, and every odd one beside a fitting one, on either side, and
/// beside itself.
fn pairs() -> Vec<[&'static str; 2]> {
    let mut pairs = Vec::new();
    for a in REAL {
        pairs.extend(REAL.map(|b| [a, b]));
    }
    for (odd, _) in ODD {
        pairs.extend([[*odd, "plain"], ["plain", *odd], [*odd, *odd]]);
    }
    pairs
}

/// The files that `cg_merge` of Valgrind 3.21 to 3.28 takes, or the grammar of its manual allows,
/// and that of 3.19 refuses: without `desc:`, with comments and empty lines, with negative counts,
/// dots and fewer counts than events, with blanks and tabs.
const MERGED_LATER: [&str; 9] = [
    "no-desc",
    "comments",
    "negative",
    "dots",
    "short",
    "short-summary",
    "blanks",
    "trailing",
    "desc-in-cmd",
];

/// The tables of `annotate`, which is compared with cg_annotate of Valgrind 3.28, without what
/// names the files.
fn tables(dir: &Path, words: &[&str]) -> String {
    let options = ["annotate", "--no-annotate", "--threshold=0"];
    let text = crate::common::stdout(&output(dir, &[&options, words].concat()));
    text.split_once("-- Summary").map(|(_, tables)| tables.to_owned()).unwrap_or_default()
}

/// Compares a sum that `cg_merge` of 3.19 does not make with that of `annotate`; false if both are
/// refused.
fn same_sum(dir: &Path, list: &[&str], we: &Output) -> bool {
    let expected = tables(dir, list);
    if expected.is_empty() {
        assert!(!we.status.success(), "{list:?}");
        return false;
    }
    assert!(we.status.success(), "{list:?}: {}", stderr(we));
    fs::write(dir.join("merged"), &we.stdout).expect("written");
    assert_eq!(tables(dir, &["merged"]), expected, "{list:?}");
    true
}

#[test]
fn merge_equals_cg_merge() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    prepare(dir);
    let (mut equal, mut refused, mut later) = (0, 0, 0);
    let mut lists: Vec<Vec<&str>> = pairs().iter().map(|pair| pair.to_vec()).collect();
    lists.extend([
        vec!["echo"],
        vec!["plain"],
        vec!["echo", "own", "true", "echo"],
        vec!["none"],
        vec!["echo", "none"],
    ]);
    for list in lists {
        let they = theirs(dir, "cg_merge", &list);
        let we = ours(dir, &[&["merge"], &list[..]].concat());
        if list.iter().any(|name| MERGED_LATER.contains(name)) && !they.status.success() {
            later += u32::from(same_sum(dir, &list, &we));
            continue;
        }
        assert_eq!(we.status.code(), they.status.code(), "{list:?}: {}{}", stderr(&they), stderr(&we));
        assert!(we.stdout == they.stdout, "merge {list:?}: standard output differs");
        if they.status.success() {
            equal += 1;
            let to_file = ours(dir, &[&["merge", "-o", "sum"], &list[..]].concat());
            assert!(to_file.status.success() && to_file.stdout.is_empty());
            assert!(fs::read(dir.join("sum")).expect("a sum") == they.stdout, "merge -o {list:?}");
        } else {
            refused += 1;
            let text = stderr(&we);
            assert!(
                text.lines().count() == 1 && list.iter().any(|name| text.contains(name)),
                "{list:?}: {text}"
            );
        }
    }
    println!("merge: {equal} equal, {refused} refused by both, {later} only ours");
    assert!(equal >= 20 && refused >= 20 && later >= 20, "{equal} {refused} {later}");
}

#[test]
fn a_failed_merge_leaves_the_old_sum() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    inputs::odd(dir);
    fs::write(dir.join("sum"), "old").expect("written");
    for words in [&["merge", "-o", "sum", "plain", "no-summary"][..], &["merge", "-o", "sum/x", "plain"]] {
        assert_eq!(ours(dir, words).status.code(), Some(1));
        assert_eq!(fs::read(dir.join("sum")).expect("a file"), b"old");
    }
    assert!(crate::common::names(dir).iter().all(|name| !name.contains("tmp")));
}

/// The files that `cg_diff` of Valgrind 3.21 to 3.28 takes and that of 3.19 refuses: counts before
/// a file or function is named, a function without a name, a name with `###`. That of 3.19 also
/// moves a `#` at the end of a file's name to the function's.
const COMPARED_LATER: [&str; 6] = ["neither", "no-fn", "no-fl", "no-name", "hashes", "four-hashes"];

/// Compares one difference; true if there is one, false if both refuse. Leaves ours in the file
/// `to`.
fn same_difference(dir: &Path, words: &[&str], to: Option<&str>) -> bool {
    let they = theirs(dir, "cg_diff", words);
    let we = ours(dir, &[&["diff"], words].concat());
    let alike = they.status.success() && !words.contains(&"four-hashes");
    if words.iter().any(|name| COMPARED_LATER.contains(name)) && !alike {
        assert!(we.status.success(), "{words:?}: {}", stderr(&we));
        fs::write(dir.join("compared"), &we.stdout).expect("written");
        let total = |text: String| text.lines().find(|line| line.ends_with("TOTALS")).map(str::to_owned);
        assert_eq!(
            total(tables(dir, &["compared"])),
            total(tables(dir, &[&["--diff"], words].concat())),
            "{words:?}"
        );
        return false;
    }
    assert_eq!(we.status.code(), they.status.code(), "{words:?}: {}{}", stderr(&they), stderr(&we));
    if !they.status.success() {
        assert!(we.stdout.is_empty(), "diff {words:?}");
        return false;
    }
    let sorted = order::difference(&they.stdout);
    assert!(we.stdout == sorted, "diff {words:?}: {}", order::first_difference(&we.stdout, &sorted));
    if let Some(to) = to {
        fs::write(dir.join(to), &we.stdout).expect("written");
    }
    true
}

#[test]
fn diff_equals_cg_diff() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    prepare(dir);
    let (mut equal, mut refused) = (0, 0);
    let mut count = |same: bool| if same { equal += 1 } else { refused += 1 };
    for [a, b] in pairs() {
        count(same_difference(dir, &[a, b], None));
    }
    count(same_difference(dir, &["echo", "true"], Some("less")));
    count(same_difference(dir, &["true", "own"], Some("more")));
    count(same_difference(dir, &["less", "more"], Some("both")));
    count(same_difference(dir, &["both", "less"], None));
    count(same_difference(dir, &["both", "echo"], None));
    count(same_difference(dir, &["nosuch", "echo"], None));
    for expression in [
        "s/.*\\///",
        "s/[0-9]+/N/g",
        "s,^/(\\w+)/,<$1>,",
        "s/C/c/i",
        "s{(.)(.)}{$2$1}",
        "s/\\?\\?\\?/unknown/",
        "s/x*$/$&!/",
    ] {
        for option in ["--mod-filename=", "--mod-funcname="] {
            count(same_difference(dir, &[&format!("{option}{expression}"), "odd-names", "true"], None));
        }
    }
    for words in [&[][..], &["plain"], &["plain", "plain", "plain"], &["--bogus", "plain", "plain"]] {
        count(same_difference(dir, words, None));
    }
    println!("diff: {equal} equal, {refused} refused by both");
    assert!(equal >= 60 && refused >= 20, "{equal} {refused}");
}

/// The report with carriage returns as `cat -v` shows them, but for those before a line end.
fn shown(report: &[u8]) -> Vec<u8> {
    let lines = report.split(|byte| *byte == b'\n').map(|line| {
        let (line, end) = line.strip_suffix(b"\r").map_or((line, &b""[..]), |line| (line, b"\r"));
        let parts: Vec<&[u8]> = line.split(|byte| *byte == b'\r').collect();
        [parts.join(&b"^M"[..]).as_slice(), end].concat()
    });
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// Compares one report; true if there is one, false if both fail.
fn same_report(dir: &Path, words: &[&str]) -> bool {
    let they = theirs(dir, "cg_annotate", words);
    let we = ours(dir, &[&["annotate", "--classic"], words].concat());
    assert_eq!(we.status.code(), they.status.code(), "{words:?}: {}{}", stderr(&they), stderr(&we));
    // A carriage return in a name is shown, since it would move the cursor.
    let they_shown = shown(&they.stdout);
    let (a, b) = (order::report(&we.stdout), order::report(&they_shown));
    assert!(a == b, "annotate --classic {words:?}: {}", order::first_difference(&a, &b));
    let sorted_by = words.iter().rev().find_map(|word| word.strip_prefix("--sort="));
    assert_eq!(
        order::sort_columns(&we.stdout, sorted_by),
        order::sort_columns(&they.stdout, sorted_by),
        "{words:?}: order of functions"
    );
    they.status.success()
}

#[test]
fn classic_equals_cg_annotate() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    prepare(dir);
    let (mut equal, mut refused) = (0, 0);
    let mut count = |same: bool| if same { equal += 1 } else { refused += 1 };
    for options in inputs::REPORTS {
        for file in ["prog", "own", "annotated"] {
            count(same_report(dir, &[options, &[file][..]].concat()));
        }
    }
    for (odd, _) in ODD {
        for options in [&[][..], &["--auto=no", "--show-percs=no"], &["--context=0", "--threshold=0"]] {
            count(same_report(dir, &[options, &[*odd]].concat()));
        }
    }
    for file in REAL {
        count(same_report(dir, &[file]));
    }
    for (name, words) in [("change", ["prog", "true"]), ("change2", ["annotated", "annotated2"])] {
        assert!(same_difference(dir, &words, Some(name)));
        for options in [&[][..], &["--threshold=0", "--show-percs=no"], &["--sort=Ir"], &["--threshold=20"]] {
            count(same_report(dir, &[options, &[name]].concat()));
        }
    }
    for words in inputs::WITH_SOURCES {
        count(same_report(dir, words));
    }
    for words in inputs::WRONG {
        assert!(!same_report(dir, words), "{words:?}");
        count(false);
    }
    println!("annotate --classic: {equal} equal, {refused} refused by both");
    assert!(equal >= 100 && refused >= 20, "{equal} {refused}");
}
