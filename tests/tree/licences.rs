//! Every crate's licence against the list of deny.toml, with nothing but cargo itself.

use std::collections::BTreeSet;
use std::process::Command;

/// Licence expression and crate, one pair per crate reached over these kinds of dependency.
fn crates(edges: &str) -> BTreeSet<(String, String)> {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{l}\t{p}", "--edges", edges])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "cargo tree: {}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("text");
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    pairs
        .map(|(licence, name)| {
            (licence.to_owned(), name.split_whitespace().next().unwrap_or_default().to_owned())
        })
        .collect()
}

/// The strings of the first `allow = [...]` after a line of deny.toml.
fn list(after: &str) -> Vec<String> {
    let text = include_str!("../../deny.toml");
    let (_, text) = text.split_once(after).unwrap_or_else(|| panic!("deny.toml has {after}"));
    let (_, text) = text.split_once("allow = [").expect("a list follows");
    let (text, _) = text.split_once(']').expect("the list ends");
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression can be satisfied with licences of the list. Cargo's old `/` is an OR.
fn satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let result = any(&words, &mut at, allowed);
    result && at == words.len()
}

fn any(words: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut result = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        result |= all(words, at, allowed);
    }
    result
}

fn all(words: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut result = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        result &= one(words, at, allowed);
    }
    result
}

fn one(words: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let Some(&word) = words.get(*at) else { return false };
    *at += 1;
    if word == "(" {
        let result = any(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return result && closed;
    }
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    // The suffix is newer than some crates.
    allowed(if word == "GPL-2.0" { "GPL-2.0-only" } else { word })
}

#[test]
fn what_is_linked_is_compatible() {
    let allow = list("[licenses]");
    let linked = crates("normal,no-proc-macro");
    assert!(linked.iter().any(|(_, name)| name == "unicorn-engine"), "{linked:?}");
    let bad: Vec<_> =
        linked.iter().filter(|(licence, _)| !satisfied(licence, &|l| allow.iter().any(|a| a == l))).collect();
    assert!(bad.is_empty(), "not on the list of deny.toml: {bad:?}");
}

#[test]
fn build_and_test_tools_are_compatible_or_excepted() {
    let allow = list("[licenses]");
    let excepted = list("crate = \"clang-sys\"");
    let every = crates("all");
    let bad: Vec<_> = every
        .iter()
        .filter(|(licence, name)| {
            let more: &[String] = if name == "clang-sys" { &excepted } else { &[] };
            !satisfied(licence, &|l| allow.iter().chain(more).any(|a| a == l))
        })
        .collect();
    assert!(bad.is_empty(), "not on the list of deny.toml: {bad:?}");
}

#[test]
fn the_list_itself_fits_the_gpl() {
    let allow = list("[licenses]");
    assert!(allow.len() > 3, "{allow:?}");
    for licence in ["Apache-2.0", "CDDL-1.0", "CDDL-1.1", "GPL-3.0-only", "EPL-2.0"] {
        assert!(!allow.iter().any(|a| a == licence), "{licence}");
    }
}

#[test]
fn expressions() {
    let mit = |l: &str| l == "MIT";
    for (expression, result) in [
        ("MIT", true),
        ("Apache-2.0", false),
        ("MIT OR Apache-2.0", true),
        ("Apache-2.0/MIT", true),
        ("MIT AND Apache-2.0", false),
        ("(MIT OR Apache-2.0) AND MIT", true),
        ("(MIT OR Apache-2.0) AND ISC", false),
        ("Apache-2.0 WITH LLVM-exception OR MIT", true),
        ("Apache-2.0 OR ISC AND MIT", false),
        ("", false),
        ("(MIT", false),
    ] {
        assert_eq!(satisfied(expression, &mit), result, "{expression}");
    }
}
