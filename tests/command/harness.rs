//! gungraun, a harness for benchmarks that calls Valgrind, with cgemu in Valgrind's place. Its
//! runner is built by `./test --all`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{stderr, stdout, tool, wanted_in_all};

/// Builds the runner where the test looks for it.
const INSTALL: &str = "cargo install --locked gungraun-runner --version 0.20.0 --root target/tools";

/// A crate with a benchmark, and where it is built and run.
struct Harness {
    root: &'static Path,
    directory: tempfile::TempDir,
}

impl Harness {
    fn new() -> Harness {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let directory = tempfile::tempdir().expect("a directory");
        let copy = |name: &str| {
            fs::copy(root.join("testdata/harness").join(name), directory.path().join(name)).expect("a copy");
        };
        for folder in ["src", "benches", "bin"] {
            fs::create_dir(directory.path().join(folder)).expect("a directory");
        }
        ["Cargo.toml", "Cargo.lock", "src/lib.rs", "benches/fib.rs"].into_iter().for_each(copy);
        symlink(env!("CARGO_BIN_EXE_cgemu"), directory.path().join("bin/valgrind")).expect("a link");
        Harness { root, directory }
    }

    /// Runs the benchmark with this program as Valgrind; the lines with its numbers.
    fn bench(&self, valgrind: &Path, tool: &str) -> Vec<String> {
        let runner = self.root.join("target/tools/bin/gungraun-runner");
        assert!(runner.exists(), "gungraun-runner is missing; install it with: {INSTALL}");
        let out = Command::new(env!("CARGO"))
            .args(["bench", "--quiet", "--locked", "--bench", "fib", "--"])
            .arg(format!("--default-tool={tool}"))
            .current_dir(self.directory.path())
            .env("CARGO_TARGET_DIR", self.root.join("target/harness"))
            .env("GUNGRAUN_HOME", self.directory.path().join("results"))
            .env("GUNGRAUN_RUNNER", &runner)
            .env("GUNGRAUN_VALGRIND_BIN", valgrind)
            .env_remove("VALGRIND_OPTS")
            .output()
            .expect("cargo starts");
        assert!(out.status.success(), "{tool}: {}{}", stdout(&out), stderr(&out));
        let text = stdout(&out);
        let numbers = text.lines().filter(|line| line.contains('|') && line.contains(':'));
        numbers.map(|line| line.trim().to_owned()).collect()
    }
}

/// The same numbers twice, on two CPUs (as qemu's user mode shows them to cgemu), and with
/// Callgrind by Valgrind itself.
#[test]
fn gungraun_runs_a_benchmark() {
    if !wanted_in_all("gungraun") {
        return;
    }
    let harness = Harness::new();
    let ours: PathBuf = harness.directory.path().join("bin/valgrind");
    let script = |name: &str, emulator: &str| {
        let file = harness.directory.path().join("bin").join(name);
        let cgemu = env!("CARGO_BIN_EXE_cgemu");
        fs::write(&file, format!("#!/bin/sh\nexec {emulator}{cgemu} valgrind \"$@\"\n")).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
        file
    };
    let (newer, older) = ("qemu-x86_64 -cpu max ", "qemu-x86_64 -cpu Nehalem ");
    let (newer, older) = (script("newer", newer), script("older", older));
    let qemu = tool("qemu-user", harness.directory.path(), "qemu-x86_64", &["--version"]);
    assert!(qemu.status.success(), "{}", stderr(&qemu));
    for tool in ["cachegrind", "callgrind"] {
        let first = harness.bench(&ours, tool);
        assert!(first.len() >= 8 && first.iter().all(|line| line.contains("|N/A")), "{first:?}");
        let same = |numbers: Vec<String>| {
            assert_eq!(first.len(), numbers.len());
            assert!(numbers.iter().all(|line| line.ends_with("(No change)")), "{numbers:?}");
        };
        same(harness.bench(&ours, tool));
        // Both under qemu, which changes the environment, and that is input.
        harness.bench(&newer, tool);
        same(harness.bench(&older, tool));
    }
    let found = tool("valgrind", harness.directory.path(), "sh", &["-c", "command -v valgrind"]);
    harness.bench(&ours, "callgrind");
    let theirs = harness.bench(Path::new(stdout(&found).trim()), "callgrind");
    assert!(theirs.iter().all(|line| line.ends_with("(No change)")), "{theirs:?}");
}
