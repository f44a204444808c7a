//! The same run gives the same profile to the byte: of real programs, in any directory, for any
//! user, at any time. What the guest takes in is kept equal: its words, its files, its standard
//! input and the types of its output.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::common::{cgemu, stderr};

/// The variables of a user's shell.
type Environment<'a> = &'a [(&'a str, &'a str)];

/// The variables of somebody's session.
const SOMEBODY: Environment = &[
    ("HOME", "/home/somebody"),
    ("USER", "somebody"),
    ("LOGNAME", "somebody"),
    ("LANG", "de_DE.UTF-8"),
    ("LC_ALL", "C"),
    ("TERM", "xterm-256color"),
    ("TZ", "Asia/Tokyo"),
    ("SHELL", "/bin/zsh"),
    ("COLUMNS", "200"),
    ("POSIXLY_CORRECT", "1"),
    ("GZIP", "-1"),
    ("LD_BIND_NOW", "1"),
    ("MALLOC_ARENA_MAX", "1"),
    ("EMPTY", ""),
    ("PATH", "/bin:/usr/bin:/usr/local/bin:/nonexistent"),
];

const NOBODY: Environment = &[("PATH", "/usr/local/bin:/usr/bin:/bin")];

/// Lines that look like data; the same in every run.
fn write_input(directory: &Path) {
    let mut x: u64 = 42;
    let mut lines = String::new();
    for line in 0..4000 {
        x = x * 16_807 % 2_147_483_647;
        lines.push_str(&format!("{} {} line {line}\n", x % 100_000, x % 13));
    }
    fs::write(directory.join("input"), &lines).expect("write");
    let mut items = String::from("[");
    for item in 0..300 {
        let comma = if item == 0 { "" } else { "," };
        items.push_str(&format!("{comma}{{\"id\":{item},\"group\":\"g{}\",\"v\":[1,{item}]}}", item % 7));
    }
    items.push(']');
    fs::write(directory.join("input.json"), items).expect("write");
    // Times and permissions of its input are something that the guest can see.
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    for name in ["input", "input.json"] {
        let file = directory.join(name);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("chmod");
        File::options().write(true).open(&file).expect("open").set_modified(old).expect("utimes");
    }
}

/// The programs, each with its words.
const PROGRAMS: [&[&str]; 4] = [
    &["sha256sum", "input"],
    &["sort", "-k2,2n", "-k1,1r", "input"],
    &["gzip", "-9c", "input"],
    &["jq", "-c", "group_by(.group)[] | {g: .[0].group, n: length, s: (map(.v[1]) | add)}", "input.json"],
];

/// Runs a program there and returns its output and its profile.
fn profile(directory: &Path, words: &[&str], environment: Environment) -> (Vec<u8>, Vec<u8>) {
    let elsewhere = tempfile::tempdir().expect("a directory");
    let file = elsewhere.path().join("profile");
    let option = format!("--cachegrind-out-file={}", file.display());
    let mut command = cgemu(directory, &["run", "-q", "--branch-sim=yes", &option, "--"]);
    command.args(words).env_clear().envs(environment.iter().copied());
    let out = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().expect("cgemu starts");
    assert!(
        out.status.success(),
        "{words:?} ends with {}: {}; if it is missing: apt-get install coreutils gzip jq",
        out.status,
        stderr(&out)
    );
    let profile = fs::read(file).expect("a profile");
    assert!(String::from_utf8_lossy(&profile).lines().any(|line| line.starts_with("summary: ")));
    (out.stdout, profile)
}

/// Runs every program in two ways and compares to the byte.
fn compare(
    what: &str,
    programs: &[&[&str]],
    first: impl Fn(&[&str]) -> (Vec<u8>, Vec<u8>),
    second: impl Fn(&[&str]) -> (Vec<u8>, Vec<u8>),
) {
    let mut failures = Vec::new();
    for &words in programs {
        let ((output, a), (other_output, b)) = (first(words), second(words));
        assert_eq!(output, other_output, "{words:?}: the program's output");
        if a != b {
            let (a, b) = (String::from_utf8_lossy(&a), String::from_utf8_lossy(&b));
            let summary = |text: &str| text.lines().last().unwrap_or_default().to_owned();
            let line = a.lines().zip(b.lines()).find(|(x, y)| x != y);
            failures.push(format!("{words:?}: {line:?}; {} and {}", summary(&a), summary(&b)));
        }
    }
    assert!(failures.is_empty(), "{what}:\n{}", failures.join("\n"));
}

#[test]
fn again_and_later() {
    let dir = tempfile::tempdir().expect("a directory");
    write_input(dir.path());
    let here = |words: &[&str]| profile(dir.path(), words, NOBODY);
    // Into another second of the clock.
    let later = |words: &[&str]| {
        std::thread::sleep(Duration::from_millis(300));
        here(words)
    };
    compare("a second run", &PROGRAMS, here, later);
}

#[test]
fn in_another_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let (short, long) =
        (dir.path().join("a"), dir.path().join("a-much-longer-name/with more/below/it/so/that/it/is/longer"));
    for place in [&short, &long] {
        fs::create_dir_all(place).expect("mkdir");
        write_input(place);
    }
    // jq asks for the directory's name, to look for modules there; so the name is part of its
    // input.
    let programs: Vec<&[&str]> = PROGRAMS.into_iter().filter(|words| words[0] != "jq").collect();
    // Other files beside the input, made earlier and later.
    fs::write(long.join("another"), b"x").expect("write");
    compare(
        "another directory",
        &programs,
        |words| profile(&short, words, NOBODY),
        |words| profile(&long, words, NOBODY),
    );
}

#[test]
fn with_another_environment() {
    let dir = tempfile::tempdir().expect("a directory");
    write_input(dir.path());
    compare(
        "another user's environment",
        &PROGRAMS,
        |words| profile(dir.path(), words, NOBODY),
        |words| profile(dir.path(), words, SOMEBODY),
    );
}

/// The limits and habits of another user's shell: file sizes, stacks, open files, umask, niceness.
#[test]
fn with_other_limits() {
    let dir = tempfile::tempdir().expect("a directory");
    write_input(dir.path());
    let limited = |words: &[&str]| {
        let elsewhere = tempfile::tempdir().expect("a directory");
        let file = elsewhere.path().join("profile");
        let script = "ulimit -s 1024; ulimit -n 200; ulimit -c 0; umask 077; exec nice -n 5 \"$@\"";
        let option = format!("--cachegrind-out-file={}", file.display());
        let cgemu = env!("CARGO_BIN_EXE_cgemu");
        let mut all = vec!["-c", script, "sh", cgemu, "run", "-q", "--branch-sim=yes", &option, "--"];
        all.extend(words);
        let out = crate::common::tool("dash", dir.path(), "sh", &all);
        assert!(out.status.success(), "{words:?}: {}", stderr(&out));
        (out.stdout, fs::read(file).expect("a profile"))
    };
    compare("other limits", &PROGRAMS, |words| profile(dir.path(), words, NOBODY), limited);
}

/// Two at once, on one machine.
#[test]
fn side_by_side() {
    let dir = tempfile::tempdir().expect("a directory");
    write_input(dir.path());
    for words in PROGRAMS {
        let (a, b) = std::thread::scope(|scope| {
            let run = || profile(dir.path(), words, NOBODY);
            let (a, b) = (scope.spawn(run), scope.spawn(run));
            (a.join().expect("a run"), b.join().expect("a run"))
        });
        assert!(a == b, "{words:?} differs from itself beside it");
    }
}
