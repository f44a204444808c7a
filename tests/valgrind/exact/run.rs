//! One program, under Valgrind and under cgemu.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::setting::{Geometry, Model};
use crate::common::counts::{self, Counts};
use crate::common::{cgemu, stderr, tool};

/// The profile that Valgrind makes.
pub fn valgrind(
    directory: &Path,
    binary: &Path,
    model: &Model,
    geometry: &Geometry,
) -> Result<Counts, String> {
    let file = directory.join("theirs");
    let out_file = format!("--cachegrind-out-file={}", file.display());
    let caches = geometry.options();
    let mut words: Vec<&str> = vec!["-q", "--log-file=log", "--tool=cachegrind"];
    words.extend(["--cache-sim=yes", "--branch-sim=yes"]);
    words.extend(model.valgrind);
    words.extend(caches.iter().map(String::as_str));
    words.extend([&out_file, binary.to_str().expect("text")]);
    let out = tool("valgrind", directory, "valgrind", &words);
    // Of what it logs, not its remarks about the host's caches.
    let log = fs::read_to_string(directory.join("log")).unwrap_or_default();
    let said: Vec<&str> = log.lines().filter(|line| !line.contains("warning: ")).take(8).collect();
    ended("Valgrind", out.status, &(said.join("\n") + &stderr(&out)))?;
    Ok(counts::read(&file))
}

/// The profile that cgemu makes.
pub fn ours(
    directory: &Path,
    binary: &Path,
    model: &Model,
    geometry: &Geometry,
    cpus: &str,
) -> Result<Counts, String> {
    let file = directory.join("ours");
    let out_file = format!("--cachegrind-out-file={}", file.display());
    let mut command: Command = cgemu(directory, &["run", "-q", "--branch-sim=yes", "--timeout=60s"]);
    command.arg(format!("--cpus={cpus}"));
    command.args(geometry.options()).args(model.cgemu).args([&out_file, "--"]).arg(binary);
    let out = command.stdout(Stdio::piped()).output().expect("cgemu starts");
    ended("cgemu", out.status, &stderr(&out))?;
    Ok(counts::read(&file))
}

/// Every program ends with status 0 and says nothing: what it finds wrong itself is its status.
fn ended(who: &str, status: ExitStatus, said: &str) -> Result<(), String> {
    match status.success() && said.is_empty() {
        true => Ok(()),
        false => Err(format!("{who} ends with {status}: {said}")),
    }
}
