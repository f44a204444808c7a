//! Modules of CPython's own test suite that are about processes, threads, signals, files and
//! sockets, on Linux and in the emulator: each test that passes there must pass here.
//!
//! `CGEMU_TEST_ALL=1` (`./test --all`) runs them, as it installs Python with its tests;
//! `CGEMU_CPYTHON=part` runs only the modules with that in their names. A package that is missing
//! is a failure, with the command that installs it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{ENVIRONMENT, as_this_user, parallel, patience, vars};

/// The modules, those that take long first; each with a number of tests that pass on any Linux.
const MODULES: [(&str, usize); 28] = [
    ("test_ssl", 150),
    ("test_asyncio.test_streams", 60),
    ("test_asyncio.test_sock_lowlevel", 35),
    ("test_selectors", 70),
    ("test_asyncio.test_selector_events", 100),
    ("test_socket", 550),
    ("test_socketserver", 25),
    ("test_threading", 150),
    ("test_os", 200),
    ("test_tempfile", 90),
    ("test_pathlib", 280),
    ("test_mailbox", 300),
    ("test_posix", 90),
    ("test_shutil", 100),
    ("test_glob", 10),
    ("test_fork1", 4),
    ("test_wait3", 3),
    ("test_wait4", 2),
    ("test_threadsignals", 4),
    ("test_thread", 20),
    ("test_popen", 5),
    ("test_queue", 40),
    ("test_select", 3),
    ("test_epoll", 8),
    ("test_pty", 4),
    ("test_mmap", 30),
    ("test_fcntl", 8),
    ("test_resource", 8),
];

/// What became of each test of a module, run by these words before Python's; all that was printed
/// if it did not come to an end.
fn outcomes(words: &[String], module: &str) -> Result<BTreeMap<String, String>, String> {
    let dir = tempfile::tempdir().expect("a directory");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cpython/outcomes.py");
    let log = File::create(dir.path().join("log")).expect("create");
    let tmp = dir.path().join("tmp");
    fs::create_dir(&tmp).expect("mkdir");
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(script).arg(format!("test.{module}")).arg(dir.path().join("outcomes"));
    command.current_dir(&tmp).env_clear().envs(ENVIRONMENT).env("TMPDIR", &tmp);
    command.stdin(Stdio::null()).stdout(log.try_clone().expect("dup")).stderr(log);
    let mut child = command.spawn().map_err(|e| format!("{}: {e}", words[0]))?;
    let status = patience::wait(&mut child, Duration::from_secs(300));
    if status.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = match (&status, fs::read_to_string(dir.path().join("outcomes"))) {
        (Ok(status), Ok(text)) if status.success() => text,
        _ => {
            let log = fs::read(dir.path().join("log")).unwrap_or_default();
            return Err(format!("{status:?}: {}", String::from_utf8_lossy(&log)));
        }
    };
    let split = |line: &str| line.split_once(": ").map(|(name, what)| (name.to_owned(), what.to_owned()));
    Ok(text.lines().filter_map(split).collect())
}

/// Tests that passed on Linux and what they did here instead, or why there was nothing to compare.
fn compare(&(module, least): &(&str, usize)) -> Result<(), String> {
    let python = "/usr/bin/python3".to_owned();
    let native = outcomes(std::slice::from_ref(&python), module).map_err(|why| {
        format!("{module} on Linux: {why}\nif it is missing: apt-get install python3 libpython3.11-testsuite")
    })?;
    let passed: Vec<&String> = native.iter().filter(|(_, what)| *what == "success").map(|(n, _)| n).collect();
    if passed.len() < least {
        return Err(format!("{module} on Linux: only {} tests pass: {native:?}", passed.len()));
    }
    let mut words = vec![env!("CARGO_BIN_EXE_cgemu").to_owned()];
    let options = "run -q --cachegrind-out-file=/dev/null --allow-write=.. --env=TMPDIR";
    words.extend(options.split(' ').map(str::to_owned));
    words.extend([as_this_user(), "--".to_owned(), python]);
    let ours = outcomes(&words, module).map_err(|why| format!("{module}: {why}"))?;
    let differ: Vec<String> = passed
        .into_iter()
        .filter(|name| ours.get(*name).is_none_or(|what| what != "success"))
        .map(|name| format!("{name}: {}", ours.get(name).map_or("not run", String::as_str)))
        .collect();
    if differ.is_empty() { Ok(()) } else { Err(format!("{module}:\n{}", differ.join("\n"))) }
}

#[test]
fn modules_that_pass_on_linux_pass() {
    let only = std::env::var(vars::CPYTHON).ok();
    let all = std::env::var_os(vars::TEST_ALL).is_some();
    let chosen = |name: &str| only.as_deref().map_or(all, |part| name.contains(part));
    let modules: Vec<_> = MODULES.into_iter().filter(|(name, _)| chosen(name)).collect();
    assert!(only.is_none() || !modules.is_empty(), "no module has that name");
    let results = parallel(modules, |module| compare(&module));
    let failures: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
