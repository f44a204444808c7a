//! Holds the sources to the picture of ARCHITECTURE.md: imports along its arrows only, no arrow
//! that nothing uses, no circle between rooms or between files, the engine behind one door, no I/O
//! in the pure rooms.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, imports, sources, test_files, tokens, within};

const PICTURE: &str = include_str!("../../ARCHITECTURE.md");

/// Rooms that open no file and read no environment.
const PURE: [&str; 9] = ["abi", "guest", "hooks", "loader", "profile", "sim", "symbols", "vex", "x86"];

/// The files of these rooms that do.
const OPENING: [&str; 1] = ["symbols::files"];

/// Rows of the picture: each room, and each part that has a row of its own (`syscalls::table`),
/// with its arrows.
type Arrows = BTreeMap<String, Vec<String>>;

fn arrows(text: &str) -> Arrows {
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

/// The row of the picture that a module stands in: the longest that it is within.
fn row_of<'a>(arrows: &'a Arrows, module: &str) -> Option<&'a str> {
    arrows.keys().filter(|row| within(module, row)).max_by_key(|row| row.len()).map(String::as_str)
}

/// Mistakes in the imports of one file, and the arrows that it uses.
fn follow(arrows: &Arrows, module: &[String], tokens: &[String]) -> (Vec<String>, Vec<(String, String)>) {
    let path = module.join("::");
    let Some(row) = row_of(arrows, &path) else {
        return (vec![format!("{path} is not in the picture")], Vec::new());
    };
    let room = &module[0];
    let rooms: BTreeSet<&str> = arrows.keys().filter_map(|row| row.split("::").next()).collect();
    let (mut bad, mut used) = (Vec::new(), Vec::new());
    for import in imports(tokens, module) {
        let first = import.split("::").next().unwrap_or_default();
        if !rooms.contains(first) {
            bad.push(format!("{path} names {import}, which is no room"));
            continue;
        }
        if within(&import, row) || (first == room && row == room) {
            continue;
        }
        match arrows[row].iter().find(|arrow| within(&import, arrow)) {
            Some(arrow) => used.push((row.to_owned(), arrow.clone())),
            None => bad.push(format!("{path} imports {import}: the picture has no arrow from {row} to it")),
        }
    }
    (bad, used)
}

#[test]
fn imports_follow_the_arrows() {
    let arrows = arrows(PICTURE);
    let sources = sources();
    assert!(sources.len() > 30, "only {} sources", sources.len());
    let mut bad = Vec::new();
    for source in sources.iter().filter(|source| source.module != ["lib"]) {
        bad.extend(follow(&arrows, &source.module, &source.tokens).0);
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn every_arrow_is_used() {
    let arrows = arrows(PICTURE);
    let sources = sources();
    let tests = test_files(&sources);
    let mut used = BTreeSet::new();
    for source in &sources {
        if source.module != ["lib"] && !tests.iter().any(|test| within(&source.name(), test)) {
            used.extend(follow(&arrows, &source.module, source.without_tests()).1);
        }
    }
    let unused: Vec<String> = arrows
        .iter()
        .flat_map(|(row, targets)| targets.iter().map(move |target| (row.clone(), target.clone())))
        .filter(|arrow| !used.contains(arrow))
        .map(|(row, target)| format!("{row} -> {target}"))
        .collect();
    assert!(unused.is_empty(), "nothing uses {}", unused.join(", "));
}

#[test]
fn the_picture_shows_the_rooms_there_are() {
    let arrows = arrows(PICTURE);
    let shown: BTreeSet<String> =
        arrows.keys().filter(|row| !row.contains("::") && *row != "main").cloned().collect();
    let tokens = tokens(include_str!("../../src/lib.rs"));
    let declared: BTreeSet<String> =
        tokens.windows(2).filter(|pair| pair[0] == "mod").map(|pair| pair[1].clone()).collect();
    assert_eq!(shown, declared);
    let modules: Vec<String> = sources().iter().map(Source::name).collect();
    for (row, targets) in &arrows {
        for place in std::iter::once(row).chain(targets) {
            assert!(modules.iter().any(|m| within(m, place)), "{place} is in the picture and not in src");
        }
    }
}

/// The circles of a graph: names from which each of the others can be reached, two or more of them.
fn circles(graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<&str>> {
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut todo: Vec<&str> = graph[from].iter().map(String::as_str).collect();
        while let Some(name) = todo.pop() {
            if seen.insert(name) {
                todo.extend(graph[name].iter().map(String::as_str));
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|name| (name.as_str(), reach(name))).collect();
    let together = |name: &&str| -> Vec<&str> {
        reached[name].iter().copied().filter(|other| reached[other].contains(name)).collect()
    };
    reached.keys().map(together).filter(|circle| !circle.is_empty()).collect()
}

#[test]
fn rooms_make_no_circle() {
    // A part with a row of its own counts as its room: what seems open by such a row would still be
    // a circle.
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let room = |name: &str| name.split("::").next().unwrap_or_default().to_owned();
    for (row, targets) in arrows(PICTURE) {
        let out = rooms.entry(room(&row)).or_default();
        out.extend(targets.iter().map(|target| room(target)).filter(|target| *target != room(&row)));
    }
    let found = circles(&rooms);
    assert!(found.is_empty(), "rooms in circles: {found:?}");
}

#[test]
fn files_make_no_circle() {
    let sources = sources();
    let tests = test_files(&sources);
    let files: Vec<&Source> =
        sources.iter().filter(|source| !tests.iter().any(|test| within(&source.name(), test))).collect();
    let names: BTreeSet<String> = files.iter().map(|file| file.name()).collect();
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in &files {
        let targets = imports(file.without_tests(), &file.module).into_iter().filter_map(|import| {
            // The file that a path leads to is its longest beginning that is one.
            let words: Vec<&str> = import.split("::").collect();
            (1..=words.len()).rev().map(|len| words[..len].join("::")).find(|path| names.contains(path))
        });
        graph.insert(file.name(), targets.filter(|target| *target != file.name()).collect());
    }
    let mut report = String::new();
    for circle in circles(&graph) {
        for name in &circle {
            let to: Vec<&str> =
                graph[*name].iter().map(String::as_str).filter(|target| circle.contains(target)).collect();
            report += &format!("{name} -> {}\n", to.join(", "));
        }
        report.push('\n');
    }
    assert!(report.is_empty(), "files in circles:\n{report}");
}

#[test]
fn the_engine_has_one_door() {
    for source in sources() {
        if source.module.starts_with(&["emu".to_owned(), "unicorn".to_owned()]) {
            continue;
        }
        for word in &source.tokens {
            assert!(!word.starts_with("unicorn_engine"), "{} names {word}", source.path.display());
        }
    }
}

/// Tests beside the code may read their data; the code itself may not.
#[test]
fn pure_rooms_do_no_io() {
    let sources = sources();
    let tests = test_files(&sources);
    for source in sources.iter().filter(|source| PURE.contains(&source.module[0].as_str())) {
        let name = source.name();
        if OPENING.contains(&&*name) || tests.iter().any(|test| within(&name, test)) {
            continue;
        }
        let tokens = source.without_tests();
        for (i, word) in tokens.iter().enumerate() {
            let names = |part: &str| {
                tokens.get(i + 1).is_some_and(|t| t == "::") && tokens.get(i + 2).is_some_and(|t| t == part)
            };
            let io = word == "rustix"
                || (word == "std" && ["fs", "env", "net", "process"].iter().any(|p| names(p)));
            assert!(!io, "{} uses {}", source.path.display(), tokens[i..(i + 3).min(tokens.len())].concat());
        }
    }
}

/// Foreign text must not reach a terminal past the filter of `console`. A stream's descriptor may
/// be looked at.
#[test]
fn output_has_one_door() {
    const LOOKING: [&str; 2] = ["cli::outputs::place", "cli::progress"];
    let sources = sources();
    let tests = test_files(&sources);
    for source in sources.iter().filter(|source| !["console", "kernel"].contains(&&*source.module[0])) {
        let name = source.name();
        if LOOKING.contains(&&*name) || tests.iter().any(|test| within(&name, test)) {
            continue;
        }
        for pair in source.without_tests().windows(2) {
            let prints = matches!(&*pair[0], "print" | "println" | "eprint" | "eprintln") && pair[1] == "!";
            let opens = matches!(&*pair[0], "stdout" | "stderr") && pair[1] == "(";
            assert!(!prints && !opens, "{} names {}: write to console", source.path.display(), pair[0]);
        }
    }
}

/// The checker itself, on sources that are right and wrong.
#[test]
fn the_checker_sees_what_it_must() {
    let arrows = arrows(
        "```text\nsrc/\n  a/   x -> b::inner, c\n  b/   y\n       z -> c\n    inner.rs   w -> nothing\n  c/  v -> nothing\n```",
    );
    let check = |module: &str, source: &str| {
        let module: Vec<String> = module.split("::").map(str::to_owned).collect();
        follow(&arrows, &module, &tokens(source)).0.len()
    };
    for (module, source, count) in [
        ("a::x", "use crate::c::X; use crate::a::y;", 0),
        ("a::x", "use crate::{a::y, b::inner::{P, Q as R}, c};", 0),
        ("a::x", "use crate::{c, b::{inner, out}};", 1),
        ("a::x", "fn f() { crate::b::out::g::<u8>() }", 1),
        ("a::x", "use super::super::b;", 1),
        ("a::x", "use super::b;", 0),
        ("a", "use super::b::inner::Y; use super::c;", 0),
        ("a", "use super::b::out;", 1),
        ("b::out", "use crate::b::inner; use crate::c;", 0),
        ("b::inner", "use crate::b::out;", 1),
        (
            "c::x",
            "// crate::a\n/* crate::a /* */ crate::b */ const S: &str = \"crate::a\"; const R: &str = r#\"\" crate::b\"#;",
            0,
        ),
        ("c::x", "const Q: char = '\"'; use crate::a; const P: char = '\\''; fn f<'a>() {} use crate::b;", 2),
        ("c::x", "pub(crate) fn f() {}", 0),
        ("c::x", "use crate as all;", 1),
        ("c::x", "use crate::d::X;", 1),
        ("c::x", "macro_rules! m { () => { println!(\"{}\", crate::a::f()) } }", 1),
        ("d", "", 1),
    ] {
        assert_eq!(check(module, source), count, "{module}: {source}");
    }
    let seen = |module: &str, source: &str| {
        let module: Vec<String> = module.split("::").map(str::to_owned).collect();
        imports(&tokens(source), &module)
    };
    assert_eq!(
        seen("a", "mod x; pub use x::{P, y::Q}; use self::x::R;"),
        ["a::x::P", "a::x::y::Q", "a::x::R"]
    );
    assert_eq!(
        seen("a::x", "use super::{y, z::P}; fn f() { super::super::b::g() }"),
        ["a::y", "a::z::P", "b::g"]
    );
    let graph = |rows: &[(&str, &[&str])]| -> BTreeMap<String, BTreeSet<String>> {
        rows.iter()
            .map(|(name, to)| ((*name).to_owned(), to.iter().map(|t| (*t).to_owned()).collect()))
            .collect()
    };
    let line = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &[])]);
    assert!(circles(&line).is_empty());
    let round = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b", "d"]), ("d", &["e"]), ("e", &["d"])]);
    assert_eq!(circles(&round).into_iter().collect::<Vec<_>>(), [["b", "c"], ["d", "e"]]);
}
