//! Holds the sources to the picture of ARCHITECTURE.md: imports along its arrows only, the engine behind its one
//! door, no I/O in the pure rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const PICTURE: &str = include_str!("../../ARCHITECTURE.md");

/// Rooms that open no file and read no environment.
const PURE: [&str; 5] = ["loader", "hooks", "sim", "x86", "profile"];

/// The picture: each room, and each part that has a row of its own (`guest`), with its arrows.
fn arrows(text: &str) -> BTreeMap<String, Vec<String>> {
    let (_, block) = text.split_once("```text\nsrc/\n").expect("the picture begins with src/");
    let (block, _) = block.split_once("```").expect("the picture ends");
    let mut rows = BTreeMap::new();
    let (mut room, mut name) = (String::new(), String::new());
    for line in block.lines() {
        let indent = line.len() - line.trim_start().len();
        let word = line.split_whitespace().next().expect("no empty row");
        let word = word.trim_end_matches('/').trim_end_matches(".rs");
        match indent {
            2 => (room, name) = (word.to_owned(), word.to_owned()),
            4 => name = format!("{room}::{word}"),
            // The text of the row above goes on.
            _ => {}
        }
        if let Some((_, targets)) = line.rsplit_once("-> ") {
            let targets = targets.split(", ").map(str::trim).filter(|t| *t != "nothing");
            let old = rows.insert(name.clone(), targets.map(str::to_owned).collect());
            assert!(old.is_none(), "{name} is in the picture twice");
        }
    }
    rows
}

/// Rust source without comments and with the insides of its literals taken out.
fn code_only(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let c = at(i);
        let raw =
            c == 'r' && !(i > 0 && word(at(i - 1)) && at(i - 1) != 'b') && matches!(at(i + 1), '"' | '#');
        if c == '/' && at(i + 1) == '/' {
            while i < chars.len() && at(i) != '\n' {
                i += 1;
            }
        } else if c == '/' && at(i + 1) == '*' {
            let mut depth = 0;
            while i < chars.len() {
                match (at(i), at(i + 1)) {
                    ('/', '*') => (depth, i) = (depth + 1, i + 2),
                    ('*', '/') => (depth, i) = (depth - 1, i + 2),
                    _ => i += 1,
                }
                if depth == 0 {
                    break;
                }
            }
        } else if raw {
            let hashes = (i + 1..).take_while(|&k| at(k) == '#').count();
            if at(i + 1 + hashes) != '"' {
                // A raw identifier.
                out.push(c);
                i += 1;
                continue;
            }
            i += 2 + hashes;
            while i < chars.len() && !(at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#')) {
                i += 1;
            }
            i += 1 + hashes;
            out.push_str("\"\"");
        } else if c == '"' {
            i += 1;
            while i < chars.len() && at(i) != '"' {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            i += 1;
            out.push_str("\"\"");
        } else if c == '\'' && (at(i + 1) == '\\' || at(i + 2) == '\'') {
            // A character; anything else after the quote is a lifetime.
            i += if at(i + 1) == '\\' { 3 } else { 2 };
            while i < chars.len() && at(i) != '\'' {
                i += 1;
            }
            i += 1;
            out.push_str("' '");
        } else {
            out.push(c);
            i += 1;
        }
    }
    out
}

/// Names, `::` and the signs of use trees.
fn tokens(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut word = c.to_string();
            while let Some(&next) = chars.peek().filter(|c| c.is_alphanumeric() || **c == '_') {
                word.push(next);
                chars.next();
            }
            out.push(word);
        } else if c == ':' && chars.peek() == Some(&':') {
            chars.next();
            out.push("::".to_owned());
        } else if !c.is_whitespace() {
            out.push(c.to_string());
        }
    }
    out
}

/// Follows a path or a tree of paths from `at`, and collects each with its beginning.
fn tree(tokens: &[String], at: &mut usize, prefix: &str, found: &mut Vec<String>) {
    let token = tokens.get(*at).map_or("", String::as_str);
    if token == "{" {
        *at += 1;
        while tokens.get(*at).is_some_and(|t| t != "}") {
            let before = *at;
            tree(tokens, at, prefix, found);
            // A renaming, a comma.
            while tokens.get(*at).is_some_and(|t| t != "," && t != "}") {
                *at += 1;
            }
            if tokens.get(*at).is_some_and(|t| t == ",") {
                *at += 1;
            }
            assert!(*at > before, "no way on in a use tree");
        }
        *at += 1;
        return;
    }
    let path = if prefix.is_empty() { token.to_owned() } else { format!("{prefix}::{token}") };
    *at += 1;
    let next = tokens.get(*at + 1).and_then(|t| t.chars().next());
    let goes_on = next.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '{' | '*'));
    if tokens.get(*at).is_some_and(|t| t == "::") && goes_on {
        *at += 1;
        tree(tokens, at, &path, found);
    } else {
        found.push(path);
    }
}

/// What a source names of the crate, as paths from its root. `depth` is the number of modules from the root to this
/// file, which tells how many `super` lead out of its room.
fn imports(source: &str, depth: usize) -> Vec<String> {
    let tokens = tokens(&code_only(source));
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let next = tokens.get(i + 1).map_or("", String::as_str);
        if matches!(token.as_str(), "crate" | "cgemu") && next == "::" {
            tree(&tokens, &mut (i + 2), "", &mut found);
        } else if token == "crate" && next != ")" {
            found.push(format!("crate {next}"));
        } else if token == "super" && (i < 2 || tokens[i - 2] != "super") {
            let supers = (0..).take_while(|k| tokens.get(i + 2 * k).is_some_and(|t| t == "super")).count();
            // In an inline module as many lead only to the room's own top, where there is no other room; a name
            // that two rooms' tops share would have to be written differently.
            if supers >= depth {
                let mut paths = Vec::new();
                tree(&tokens, &mut (i + 2 * supers), "", &mut paths);
                found.extend(paths.into_iter().map(|p| format!("super::{p}")));
            }
        }
    }
    found
}

/// Every source file, with its module path.
fn sources() -> Vec<(PathBuf, Vec<String>)> {
    fn walk(directory: &Path, module: &[String], out: &mut Vec<(PathBuf, Vec<String>)>) {
        let mut entries: Vec<_> =
            fs::read_dir(directory).expect("a directory").map(|e| e.expect("entry").path()).collect();
        entries.sort();
        for path in entries {
            let mut module = module.to_vec();
            let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                module.push(stem);
                walk(&path, &module, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                if stem != "mod" {
                    module.push(stem);
                }
                out.push((path, module));
            }
        }
    }
    let mut out = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut out);
    out
}

/// Whether `path` is `target` or inside it.
fn within(path: &str, target: &str) -> bool {
    path.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The row of the picture that a module stands in: the longest that it is within.
fn row_of<'a>(arrows: &'a BTreeMap<String, Vec<String>>, module: &str) -> Option<&'a str> {
    arrows.keys().filter(|row| within(module, row)).max_by_key(|row| row.len()).map(String::as_str)
}

/// What is wrong with the imports of one file.
fn violations(arrows: &BTreeMap<String, Vec<String>>, module: &[String], source: &str) -> Vec<String> {
    let path = module.join("::");
    let Some(row) = row_of(arrows, &path) else { return vec![format!("{path} is not in the picture")] };
    let room = &module[0];
    let rooms: BTreeSet<&str> = arrows.keys().filter_map(|row| row.split("::").next()).collect();
    let mut out = Vec::new();
    for import in imports(source, module.len()) {
        let target = import.strip_prefix("super::").unwrap_or(&import);
        let first = target.split("::").next().unwrap_or_default();
        if !rooms.contains(first) {
            if import.starts_with("super::") {
                continue;
            }
            out.push(format!("{path} names {import}, which is no room"));
            continue;
        }
        let inside = within(target, row) || (first == room && row == room);
        if !inside && !arrows[row].iter().any(|arrow| within(target, arrow)) {
            out.push(format!("{path} imports {target}: the picture has no arrow from {row} to it"));
        }
    }
    out
}

#[test]
fn imports_follow_the_arrows() {
    let arrows = arrows(PICTURE);
    let mut bad = Vec::new();
    let mut seen = 0;
    for (path, module) in sources() {
        if module == ["lib"] {
            continue;
        }
        let source = fs::read_to_string(&path).expect("source");
        bad.extend(violations(&arrows, &module, &source));
        seen += 1;
    }
    assert!(seen > 30, "only {seen} sources");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn the_picture_shows_the_rooms_there_are() {
    let arrows = arrows(PICTURE);
    let shown: BTreeSet<String> =
        arrows.keys().filter(|row| !row.contains("::") && *row != "main").cloned().collect();
    let tokens = tokens(&code_only(include_str!("../../src/lib.rs")));
    let declared: BTreeSet<String> =
        tokens.windows(2).filter(|pair| pair[0] == "mod").map(|pair| pair[1].clone()).collect();
    assert_eq!(shown, declared);
    let modules: Vec<String> = sources().into_iter().map(|(_, module)| module.join("::")).collect();
    for (row, targets) in &arrows {
        for place in std::iter::once(row).chain(targets) {
            assert!(modules.iter().any(|m| within(m, place)), "{place} is in the picture and not in src");
        }
    }
}

#[test]
fn arrows_make_no_circle() {
    let arrows = arrows(PICTURE);
    // A room that nothing left needs can be taken away; a circle stays.
    let mut left: BTreeSet<&str> = arrows.keys().map(String::as_str).collect();
    loop {
        let free: Vec<&str> = left
            .iter()
            .copied()
            .filter(|row| {
                arrows[*row]
                    .iter()
                    .all(|t| !row_of(&arrows, t).is_some_and(|t| t != *row && left.contains(t)))
            })
            .collect();
        if free.is_empty() {
            break;
        }
        for row in free {
            left.remove(row);
        }
    }
    assert!(left.is_empty(), "in a circle: {left:?}");
}

#[test]
fn the_engine_has_one_door() {
    for (path, module) in sources() {
        if module.starts_with(&["emu".to_owned(), "unicorn".to_owned()]) {
            continue;
        }
        let code = tokens(&code_only(&fs::read_to_string(&path).expect("source")));
        for word in code {
            assert!(!word.starts_with("unicorn_engine"), "{} names {word}", path.display());
        }
    }
}

/// The modules that a source has for tests only: each with its name, and where it begins if it is inline.
fn test_modules(tokens: &[String]) -> Vec<(String, Option<usize>)> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let starts = (0..tokens.len()).filter(|&i| tokens[i..].iter().take(mark.len()).eq(mark.iter()));
    starts
        .filter_map(|i| {
            // Past `pub(crate)`.
            let at =
                (i + mark.len()..i + mark.len() + 5).find(|&k| tokens.get(k).is_some_and(|t| t == "mod"))?;
            Some((tokens.get(at + 1)?.clone(), (tokens.get(at + 2)? == "{").then_some(i)))
        })
        .collect()
}

/// Tests beside the code may read their data; the code itself may not.
#[test]
fn pure_rooms_do_no_io() {
    let sources: Vec<(PathBuf, Vec<String>, Vec<String>)> = sources()
        .into_iter()
        .filter(|(_, module)| PURE.contains(&module[0].as_str()))
        .map(|(path, module)| {
            let tokens = tokens(&code_only(&fs::read_to_string(&path).expect("source")));
            (path, module, tokens)
        })
        .collect();
    let mut tests = BTreeSet::new();
    for (_, module, tokens) in &sources {
        tests.extend(
            test_modules(tokens).into_iter().map(|(name, _)| format!("{}::{name}", module.join("::"))),
        );
    }
    for (path, module, tokens) in &sources {
        if tests.iter().any(|test| within(&module.join("::"), test)) {
            continue;
        }
        // Inline tests come last in a file.
        let end = test_modules(tokens).into_iter().find_map(|(_, inline)| inline).unwrap_or(tokens.len());
        for (i, word) in tokens[..end].iter().enumerate() {
            let names = |part: &str| {
                tokens.get(i + 1).is_some_and(|t| t == "::") && tokens.get(i + 2).is_some_and(|t| t == part)
            };
            let io = word == "rustix"
                || (word == "std" && ["fs", "env", "net", "process"].iter().any(|p| names(p)));
            assert!(!io, "{} uses {}", path.display(), tokens[i..(i + 3).min(end)].concat());
        }
    }
}

/// The checker itself, on sources that are right and wrong.
#[test]
fn the_checker_sees_what_it_must() {
    let arrows = arrows(
        "```text\nsrc/\n  a/   x -> b::in, c\n  b/   y\n       z -> c\n    in.rs   w -> nothing\n  c/  v -> nothing\n```",
    );
    let check = |module: &str, source: &str| {
        let module: Vec<String> = module.split("::").map(str::to_owned).collect();
        violations(&arrows, &module, source).len()
    };
    for (module, source, count) in [
        ("a::x", "use crate::c::X; use crate::a::y;", 0),
        ("a::x", "use crate::{a::y, b::in::{P, Q as R}, c};", 0),
        ("a::x", "use crate::{c, b::{in, out}};", 1),
        ("a::x", "fn f() { crate::b::out::g::<u8>() }", 1),
        ("a::x", "use super::super::b;", 1),
        ("a::x", "use super::b; use super::super::q;", 0),
        ("a", "use super::b::in::Y; use super::c;", 0),
        ("a", "use super::b::out;", 1),
        ("b::out", "use crate::b::in; use crate::c;", 0),
        ("b::in", "use crate::b::out;", 1),
        (
            "c::x",
            "// crate::a\n/* crate::a /* */ crate::b */ const S: &str = \"crate::a\"; const R: &str = r#\"\" crate::b\"#;",
            0,
        ),
        ("c::x", "const Q: char = '\"'; use crate::a; const P: char = '\\''; fn f<'a>() {} use crate::b;", 2),
        ("c::x", "pub(crate) fn f() {}", 0),
        ("c::x", "use crate as all;", 1),
        ("c::x", "use crate::d::X;", 1),
        ("d", "", 1),
    ] {
        assert_eq!(check(module, source), count, "{module}: {source}");
    }
}
