//! Habits that a machine can look after: where tests stand, how wide comments are, what
//! CONTRIBUTING.md lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Columns of a comment line.
const COMMENT_WIDTH: usize = 100;

/// Every Rust file below these folders, with its text.
fn texts(folders: &[&str]) -> Vec<(PathBuf, String)> {
    fn walk(directory: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                out.push((path, text));
            }
        }
    }
    let mut out = Vec::new();
    for folder in folders {
        walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut out);
    }
    out.sort();
    out
}

#[test]
fn unit_tests_stand_beside_their_module() {
    for (path, text) in texts(&["src"]) {
        let name = path.file_stem().expect("a name").to_string_lossy();
        assert!(!name.ends_with("_tests"), "{}: name it tests.rs, in its module's folder", path.display());
        assert!(!text.contains("#[path"), "{}: a module stands where its name says", path.display());
    }
}

#[test]
fn comments_are_not_too_wide() {
    let mut wide = Vec::new();
    for (path, text) in texts(&["src", "tests", "benches", "fuzz/fuzz_targets"]) {
        for (number, line) in text.lines().enumerate() {
            // An address of the web cannot be broken.
            let comment = line.trim_start().starts_with("//") && !line.contains("://");
            if comment && line.chars().count() > COMMENT_WIDTH {
                wide.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(
        wide.is_empty(),
        "{} comment lines over {COMMENT_WIDTH} columns:\n{}",
        wide.len(),
        wide.join("\n")
    );
}

#[test]
fn first_lines_are_noun_phrases_or_imperatives() {
    let mut bad = Vec::new();
    for (path, text) in texts(&["src"]) {
        let mut before = "";
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        for (number, line) in lines.iter().copied().enumerate() {
            // The help of an option is a text for users, in the words of Valgrind's manual.
            let item =
                lines[number..].iter().find(|line| !line.starts_with("///")).copied().unwrap_or_default();
            let help = item.starts_with("#[arg(") || item.starts_with("#[command(");
            let begins = line.starts_with("/// ") && !before.starts_with("///") && !help;
            if begins
                && ["What", "Where", "Whether", "How", "Who", "When"].iter().any(|word| {
                    line[4..]
                        .strip_prefix(word)
                        .is_some_and(|rest| rest.starts_with(' ') || rest.starts_with("'s"))
                })
            {
                bad.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
            before = line;
        }
    }
    assert!(bad.is_empty(), "{} questions instead of answers:\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn contributing_lists_the_variables_of_tests() {
    let listed = include_str!("../../CONTRIBUTING.md");
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'))
            .filter(|word| word.starts_with("CGEMU_"))
            .map(str::to_owned)
            .collect()
    };
    let declared = words(include_str!("../common/vars.rs"));
    assert!(declared.len() >= 8, "{declared:?}");
    let missing: Vec<_> = declared.difference(&words(listed)).cloned().collect();
    assert!(missing.is_empty() && listed.contains("BLESS"), "CONTRIBUTING.md does not list {missing:?}");
    for (path, text) in texts(&["tests", "benches"]) {
        let own = path.ends_with("common/vars.rs");
        assert!(
            own || !text.contains("var(\"CGEMU_") && !text.contains("var_os(\"CGEMU_"),
            "{}: name it in tests/common/vars.rs",
            path.display()
        );
    }
}

#[test]
fn documents_name_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = texts(&["src", "tests", "benches", "fuzz/fuzz_targets"]);
    let mut documents =
        vec![root.join("ARCHITECTURE.md"), root.join("CONTRIBUTING.md"), root.join("README.md")];
    let docs = fs::read_dir(root.join("docs")).expect("docs");
    documents.extend(
        docs.map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|e| e == "md")),
    );
    let mut missing = Vec::new();
    let mut seen = 0;
    for document in documents {
        let text = fs::read_to_string(&document).expect("a document");
        for name in text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|word| word.ends_with(".rs") && !word.contains([' ', '*']))
        {
            seen += 1;
            let there = root.join(name).exists() || sources.iter().any(|(path, _)| path.ends_with(name));
            if !there {
                missing.push(format!("{} names {name}", document.display()));
            }
        }
    }
    assert!(seen > 30, "only {seen} names");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
