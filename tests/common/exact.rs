//! The programs of testdata/exact: what their first lines say, and how they are built.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{parallel, tool};

/// A program of testdata/exact.
pub struct Program {
    /// Its file's name.
    pub name: String,
    /// Its source, by line.
    pub lines: Vec<String>,
    /// The built program.
    pub binary: PathBuf,
}

impl Program {
    /// The words after a marker in the comments at its top.
    fn directive(&self, marker: &str) -> Option<&str> {
        let top = self.lines.iter().take_while(|line| line.starts_with("//"));
        top.filter_map(|line| line.strip_prefix(marker)).map(str::trim).next()
    }

    /// The rows of `rows.txt` that it covers.
    pub fn covers(&self) -> Vec<&str> {
        self.directive("// covers:").unwrap_or_default().split_whitespace().collect()
    }

    /// Why Valgrind does not run it; then its lines say what they count.
    pub fn by_hand(&self) -> Option<&str> {
        self.directive("// by hand:")
    }

    /// What stands behind a marker on its lines, by line number.
    pub fn notes(&self, marker: &str) -> BTreeMap<u64, &str> {
        let lines = (1..).zip(&self.lines);
        lines.filter_map(|(n, line)| Some((n, line.split_once(marker)?.1.trim()))).collect()
    }

    /// A line of its source.
    pub fn line(&self, number: u64) -> &str {
        let index = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        index.and_then(|i| self.lines.get(i)).map_or("", String::as_str)
    }
}

/// The folder of the programs.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/exact")
}

/// All of them, as they would be built in this directory; sorted by name.
pub fn programs(directory: &Path) -> Vec<Program> {
    let mut sources: Vec<PathBuf> = fs::read_dir(folder())
        .expect("testdata/exact")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "S"))
        .collect();
    sources.sort();
    let program = |source: PathBuf| {
        let name = source.file_name().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&source).expect("text");
        Program {
            binary: directory.join(name.replace('.', "_")),
            lines: text.lines().map(str::to_owned).collect(),
            name,
        }
    };
    sources.into_iter().map(program).collect()
}

/// Builds all of them in this directory, without libraries and with debug information; sorted by
/// name.
pub fn build(directory: &Path) -> Vec<Program> {
    parallel(programs(directory), |program| {
        build_one(&program, directory);
        program
    })
}

/// Builds one of them.
pub fn build_one(program: &Program, directory: &Path) {
    let source = folder().join(&program.name);
    let words = "-g -O2 -static -nostdlib -no-pie -fno-pic -ffreestanding -fno-stack-protector \
                     -fno-asynchronous-unwind-tables -march=x86-64 -Wall -Werror -o";
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.extend([program.binary.to_str().expect("text"), source.to_str().expect("text")]);
    words.extend(program.directive("// flags:").unwrap_or_default().split_whitespace());
    let out = tool("gcc", directory, "gcc", &words);
    assert!(out.status.success(), "{}: {}", source.display(), super::stderr(&out));
}
