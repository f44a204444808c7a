//! The programs of testdata/exact, built.

use std::fs;
use std::path::{Path, PathBuf};

use super::tool;

/// Builds all of them in this directory, without libraries and with debug information, and returns the
/// programs, sorted.
pub fn build(directory: &Path) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/exact");
    let mut sources: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("testdata/exact")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "S"))
        .collect();
    sources.sort();
    assert!(sources.len() >= 16, "programs are missing from {}", folder.display());
    sources
        .iter()
        .map(|source| {
            let program = directory.join(source.file_stem().expect("a name"));
            let words = "-g -O2 -static -nostdlib -no-pie -fno-pic -ffreestanding -fno-stack-protector \
                         -fno-asynchronous-unwind-tables -march=x86-64 -Wall -Werror -o";
            let mut words: Vec<&str> = words.split_whitespace().collect();
            words.extend([program.to_str().expect("text"), source.to_str().expect("text")]);
            let out = tool("gcc", directory, "gcc", &words);
            assert!(out.status.success(), "{}: {}", source.display(), super::stderr(&out));
            program
        })
        .collect()
}
