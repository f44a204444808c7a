//! One program under Valgrind and under cgemu: the same command, environment, directory and files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::programs::Program;
use crate::common::counts::{self, Counts};
use crate::common::{ENVIRONMENT, as_this_user, cgemu};
use crate::exact::setting::{DEFAULT, Model};

/// Everything that cgemu's CPU does not have, and the C library would choose code by.
/// Without the comma at the end it reads on, up to random bytes (docs/whole-programs.md).
pub const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX_Fast_Unaligned_Load,-BMI1,-BMI2,-LZCNT,-MOVBE,-ERMS,-FMA,\
                        -F16C,-XSAVE,-XSAVEC,-RTM,";

/// Where Valgrind's own files are, on Debian and elsewhere.
const LIBRARIES: [&str; 4] = [
    "/usr/libexec/valgrind",
    "/usr/lib/x86_64-linux-gnu/valgrind",
    "/usr/lib/valgrind",
    "/usr/local/libexec/valgrind",
];

/// What Valgrind adds to the environment of its client.
pub const PRELOADED: &str = "vgpreload_core-amd64-linux.so";

/// Valgrind passes on how many entries the kernel's auxiliary vector has, and a CPUID that depends
/// on AVX2; the layout has those of present kernels and of such a CPU.
///
/// # Errors
/// Why this host is unlike it.
pub fn check_host() -> Result<(), String> {
    let auxv = fs::read("/proc/self/auxv").expect("/proc/self/auxv");
    let kinds = auxv.chunks_exact(16).map(|entry| entry[0]).take_while(|kind| *kind != 0);
    if kinds.count() != 22 {
        return Err("this kernel's auxiliary vector is not that of Linux 6.3 and later".to_owned());
    }
    let cpu = fs::read_to_string("/proc/cpuinfo").expect("/proc/cpuinfo");
    let words: Vec<&str> = cpu.split_whitespace().collect();
    let mut missing = vec!["avx2", "f16c", "rdrand"];
    missing.retain(|flag| !words.contains(flag));
    if missing.is_empty() { Ok(()) } else { Err(format!("this CPU lacks {}", missing.join(", "))) }
}

pub fn libraries() -> PathBuf {
    let found = LIBRARIES.iter().map(Path::new).find(|directory| directory.join(PRELOADED).exists());
    found.expect("Valgrind's libraries; install them with: apt-get install valgrind").to_owned()
}

/// Valgrind itself: what Debian has under its name is a script that adds to the environment.
pub fn valgrind() -> &'static str {
    if Path::new("/usr/bin/valgrind.bin").exists() { "/usr/bin/valgrind.bin" } else { "valgrind" }
}

/// Runs it with its output in files, since programs ask what their output is, and gives back what
/// it wrote.
///
/// # Errors
/// Why it did not end well.
pub fn finish(mut command: Command, who: &str, directory: &Path) -> Result<Vec<u8>, String> {
    let (stdout, stderr) = (directory.join(format!("{who}.1")), directory.join(format!("{who}.2")));
    let create = |path: &Path| File::create(path).expect("a file");
    let status =
        command.stdin(Stdio::null()).stdout(create(&stdout)).stderr(create(&stderr)).status().map_err(
            |error| format!("{who}: {error}; install it with: apt-get install valgrind util-linux"),
        )?;
    let said = fs::read(&stderr).expect("standard error");
    if !status.success() {
        return Err(format!("{who} ends with {status}: {}", String::from_utf8_lossy(&said)));
    }
    Ok([fs::read(&stdout).expect("standard output"), said].concat())
}

/// A program, and where it runs.
pub struct Run<'a> {
    pub program: &'static Program,
    pub model: &'static Model,
    /// The directory with the input files, in which it runs.
    pub input: &'a Path,
    /// The directory for what comes out.
    pub directory: &'a Path,
}

/// The counts, and what the program printed.
pub type Outcome = (Counts, Vec<u8>);

impl Run<'_> {
    fn environment(&self) -> Vec<(String, String)> {
        let all = ENVIRONMENT.iter().chain(&[("GLIBC_TUNABLES", TUNABLES)]).chain(self.program.env);
        let mut all: Vec<_> = all.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        all.push(("VALGRIND_LIB".to_owned(), libraries().display().to_string()));
        all
    }

    fn option(&self, name: &str, file: &str) -> String {
        format!("--{name}={}", self.directory.join(file).display())
    }

    /// Under Valgrind: on one CPU, because the emulated machine has one, and through env, because
    /// it keeps the order.
    pub fn theirs(&self) -> Result<Outcome, String> {
        let mut command = Command::new("taskset");
        // Whoever started the test may ignore signals, as shells do for what runs in the
        // background.
        command.args(["-c", "0", "env", "--default-signal", "-i"]).current_dir(self.input);
        command.args(self.environment().iter().map(|(name, value)| format!("{name}={value}")));
        command.args([valgrind(), "-q", &self.option("log-file", "log.theirs"), "--tool=cachegrind"]);
        command.args(["--cache-sim=yes", "--branch-sim=yes", &self.option("cachegrind-out-file", "theirs")]);
        command.args(DEFAULT.options()).args(self.model.valgrind).args(self.program.words());
        let said = finish(command, "Valgrind", self.directory)?;
        Ok((counts::read(&self.directory.join("theirs")), said))
    }

    /// Under cgemu, with the library that Valgrind loads into the program.
    pub fn ours(&self) -> Result<Outcome, String> {
        let user = as_this_user();
        let mut command = cgemu(self.input, &["run", "-q", &user, "--layout=valgrind", "--branch-sim=yes"]);
        command.args([self.option("log-file", "log.ours"), self.option("cachegrind-out-file", "ours")]);
        command.args(DEFAULT.options()).args(self.model.cgemu);
        command.args(self.environment().iter().map(|(name, value)| format!("--env={name}={value}")));
        command.arg(format!("--env=LD_PRELOAD={}", libraries().join(PRELOADED).display()));
        command.arg("--").args(self.program.words());
        let said = finish(command, "cgemu", self.directory)?;
        Ok((counts::read(&self.directory.join("ours")), said))
    }
}
