//! Objects for the tests, built by the host's gcc and binutils.

use std::path::{Path, PathBuf};
use std::process::Command;

use std::sync::Arc;

use tempfile::TempDir;

use crate::symbols::debug_files::{Companions, DebugFiles};
use crate::symbols::elf::ElfFile;

/// The headers of a file in memory.
pub(crate) fn elf(bytes: &[u8]) -> ElfFile {
    ElfFile::parse(Arc::new(bytes.to_vec())).expect("an ELF file")
}

/// An object without companions.
pub(crate) fn alone(bytes: &[u8]) -> DebugFiles {
    DebugFiles::new(elf(bytes), Companions::default())
}

/// An object with its separate debug file.
pub(crate) fn with_debug_file(bytes: &[u8], separate: &[u8]) -> DebugFiles {
    DebugFiles::new(elf(bytes), Companions { separate: Some(elf(separate)), ..Companions::default() })
}

/// A directory of sources and what is built from them; gone with the value.
pub(crate) struct Workshop(TempDir);

impl Workshop {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a temporary directory"))
    }

    /// Path of `name` in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// The directory, as the compiler sees it.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().canonicalize().expect("the temporary directory's path")
    }

    /// Writes a source file, with its folders.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a source folder");
        std::fs::write(path, text).expect("a source file");
    }

    /// Runs a tool of the host in the folder `at`.
    pub(crate) fn run_in(&self, at: &str, tool: &str, arguments: &[&str]) {
        let output = Command::new(tool).args(arguments).current_dir(self.path(at)).output();
        let output = output.unwrap_or_else(|error| {
            panic!("{tool}: {error}; these tests need gcc, g++, binutils, xz-utils and zstd")
        });
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{tool} {arguments:?} failed:\n{messages}");
    }

    /// Runs a tool of the host in the directory.
    pub(crate) fn run(&self, tool: &str, arguments: &[&str]) {
        self.run_in(".", tool, arguments);
    }

    /// Builds the program `name` from assembly that defines `main`.
    pub(crate) fn assemble(&self, name: &str, text: &str) {
        let source = format!("{name}.s");
        self.write(&source, &format!("{text}\n\t.section .note.GNU-stack,\"\",@progbits\n"));
        self.run("gcc", &["-nostdlib", "-static", "-Wl,-e,main", "-o", name, &source]);
    }

    /// The bytes of a file.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a built file")
    }
}
