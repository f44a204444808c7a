//! One program under Valgrind and under cgemu: the same command, environment, directory and files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::cgemu;
use crate::common::counts::{self, Counts};
use crate::programs::Program;
use crate::setting::{DEFAULT, Model};

/// Everything that cgemu's CPU does not have, and the C library would choose code by.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX_Fast_Unaligned_Load,-BMI1,-BMI2,-LZCNT,-MOVBE,-ERMS,-FMA,\
                        -F16C,-XSAVE,-XSAVEC,-RTM";

/// cgemu's fixed environment, in its order.
const FIXED: [(&str, &str); 6] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("TZ", "UTC0"),
];

/// Where Valgrind's own files are, on Debian and elsewhere.
const LIBRARIES: [&str; 4] = [
    "/usr/libexec/valgrind",
    "/usr/lib/x86_64-linux-gnu/valgrind",
    "/usr/lib/valgrind",
    "/usr/local/libexec/valgrind",
];

/// What Valgrind adds to the environment of its client.
const PRELOADED: &str = "vgpreload_core-amd64-linux.so";

/// Valgrind passes on how many entries the kernel's auxiliary vector has, and a CPUID that depends on AVX2; the layout has
/// those of present kernels and of such a CPU.
pub fn check_host() {
    let auxv = fs::read("/proc/self/auxv").expect("/proc/self/auxv");
    let kinds = auxv.chunks_exact(16).map(|entry| entry[0]).take_while(|kind| *kind != 0);
    assert_eq!(kinds.count(), 22, "these comparisons need the auxiliary vector of Linux 6.3 and later");
    let cpu = fs::read_to_string("/proc/cpuinfo").expect("/proc/cpuinfo");
    let words: Vec<&str> = cpu.split_whitespace().collect();
    let missing: Vec<&&str> =
        ["avx2", "f16c", "rdrand", "rdseed"].iter().filter(|flag| !words.contains(flag)).collect();
    assert!(missing.is_empty(), "Valgrind's CPUID is another one on a CPU without {missing:?}");
}

fn libraries() -> PathBuf {
    let found = LIBRARIES.iter().map(Path::new).find(|directory| directory.join(PRELOADED).exists());
    found.expect("Valgrind's libraries; install them with: apt-get install valgrind").to_owned()
}

/// Valgrind itself: what Debian has under its name is a script that adds to the environment.
fn valgrind() -> &'static str {
    if Path::new("/usr/bin/valgrind.bin").exists() { "/usr/bin/valgrind.bin" } else { "valgrind" }
}

/// Runs it with its output in files, since programs ask what their output is, and gives back what it wrote.
fn finish(mut command: Command, who: &str, directory: &Path) -> Result<Vec<u8>, String> {
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

/// Valgrind's counts, and ours. What the program prints must be the same.
pub fn both(
    program: &Program,
    model: &Model,
    input: &Path,
    directory: &Path,
) -> Result<(Counts, Counts), String> {
    let library = libraries();
    let preload = library.join(PRELOADED).display().to_string();
    let library = library.display().to_string();
    let mut environment = FIXED.to_vec();
    environment.push(("GLIBC_TUNABLES", TUNABLES));
    environment.extend(program.env);
    environment.push(("VALGRIND_LIB", &library));
    let words = program.words();
    let file = |name: &str| format!("--cachegrind-out-file={}", directory.join(name).display());
    let log = |name: &str| format!("--log-file={}", directory.join(name).display());

    // On one CPU, because the emulated machine has one.
    // And through env, because it keeps the order.
    let mut command = Command::new("taskset");
    command.args(["-c", "0", "env", "-i"]).current_dir(input);
    command.args(environment.iter().map(|(name, value)| format!("{name}={value}")));
    command.args([valgrind(), "-q", &log("log.theirs"), "--tool=cachegrind"]);
    command.args(["--cache-sim=yes", "--branch-sim=yes", &file("theirs")]);
    command.args(DEFAULT.options()).args(model.valgrind).args(&words);
    let theirs = finish(command, "Valgrind", directory)?;

    let mut command = cgemu(input, &["run", "-q", "--layout=valgrind", "--branch-sim=yes"]);
    command.args([log("log.ours"), file("ours")]).args(DEFAULT.options()).args(model.cgemu);
    for (name, value) in environment.iter().chain([&("LD_PRELOAD", preload.as_str())]) {
        command.arg(format!("--env={name}={value}"));
    }
    command.arg("--").args(&words);
    let ours = finish(command, "cgemu", directory)?;
    if theirs != ours {
        return Err(format!("it prints {:?}", String::from_utf8_lossy(&ours)));
    }
    Ok((counts::read(&directory.join("theirs")), counts::read(&directory.join("ours"))))
}
