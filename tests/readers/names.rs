//! `--names`: functions of C++ and Rust in full and in short.

use crate::common::{output, stderr, stdout, tool};

/// Names as Valgrind writes them, without and with `--demangle=no`.
const PROFILE: &str = "cmd: x
events: Ir
fl=a.cc
fn=void foo<int>(int)
1 10
fn=void foo<char>(char)
2 5
fn=_Z1fi
3 7
fn=_ZN4core3fmt5Write9write_fmt17h05af221e174051e9E
4 3
fn=<alloc::vec::Vec<T> as core::ops::Drop>::drop
5 1
fn=main
6 2
summary: 28
";

fn counts(words: &[&str]) -> Vec<(String, u64)> {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("p"), PROFILE).expect("a profile");
    let out = output(directory.path(), &[&["top", "--json"], words, &["p"]].concat());
    assert!(out.status.success(), "{}", stderr(&out));
    let report: serde_json::Value = serde_json::from_str(&stdout(&out)).expect("JSON");
    let rows = report["functions"].as_array().unwrap_or_else(|| panic!("{report}"));
    let row = |row: &serde_json::Value| {
        let name = row["function"].as_str().expect("a name").to_owned();
        (name, row["counts"]["Ir"].as_u64().or_else(|| row["counts"][0].as_u64()).expect("a count"))
    };
    rows.iter().map(row).collect()
}

fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn as_they_are_in_full_and_in_short() {
    assert_eq!(counts(&[])[1], ("_Z1fi".to_owned(), 7));
    let full = [
        ("void foo<int>(int)", 10),
        ("f(int)", 7),
        ("void foo<char>(char)", 5),
        ("core::fmt::Write::write_fmt", 3),
        ("main", 2),
        ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 1),
    ];
    assert_eq!(counts(&["--names=full"]), pairs(&full));
    let short = [
        ("foo", 15),
        ("f", 7),
        ("core::fmt::Write::write_fmt", 3),
        ("main", 2),
        ("alloc::vec::Vec::drop", 1),
    ];
    assert_eq!(counts(&["--names=short"]), pairs(&short));
    // A replacement sees the short names.
    let replaced = counts(&["--names=short", "--mod-funcname=s/^f.*/F/"]);
    assert_eq!(replaced[0], ("F".to_owned(), 22));
}

/// The full names are those that c++filt(1) gives.
#[test]
fn full_names_are_cxxfilts() {
    let mangled = ["_Z1fi", "_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZNKSt4hashIdEclEd"];
    let theirs = stdout(&tool("binutils", std::path::Path::new("/"), "c++filt", &mangled));
    let body: String = mangled.iter().map(|name| format!("fn={name}\n1 1\n")).collect();
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("p"), format!("cmd: x\nevents: Ir\nfl=a.cc\n{body}summary: 3\n"))
        .expect("a profile");
    let out = output(directory.path(), &["annotate", "--names=full", "p"]);
    let text = stdout(&out);
    for name in theirs.lines() {
        assert!(
            text.contains(&format!("{name}\n")) || text.contains(&format!(":{name}\n")),
            "{name}: {text}"
        );
    }
}

#[test]
fn other_words_are_refused() {
    let out = output(std::path::Path::new("/"), &["annotate", "--names=long", "p"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("--names"), "{}", stderr(&out));
}
