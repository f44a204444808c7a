//! Small C programs that ask the kernel for things, run on Linux and in the emulator: they must
//! agree. Every file of testdata/guest is a case. Its first lines say what it is about:
//!
//! ```text
//! // covers: openat close          the system calls it exercises, by name
//! // args: one two                 its arguments
//! // stdin: text                   what its standard input, a pipe, holds
//! // flags: -static                further words for gcc
//! // exit: 139                     its status, 128 + N for signal N; 0 if not given
//! // native: skip REASON           Linux cannot agree by design; `expect` names the output, and
//! //                               emulated.h, included first, ends the program on Linux
//! // expect: NAME
//! // open: skip REASON             no run with the directory open for writing
//! // user: root                    the emulated machine's user is root; only with `native: skip`
//! ```
//!
//! Each case runs three times in a fresh directory with the same things in it: on Linux; in the
//! emulator with the directory open for writing, which must then look the same; and with writes
//! kept in memory, which must leave the directory as it was. What depends on the machine stays out
//! of the output: its CPU, its release of Linux from 5.10 on, file system, limits, and container.
//! `CGEMU_GUEST=part` runs only the cases with that in their names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::common::{
    ENVIRONMENT, as_this_user, cgemu, golden, not_compared, output, patience, stderr, stdout, tool, vars,
};

/// The status on Linux of a case that this machine cannot be compared in, for the reason that it
/// prints (`lacks` of guest.h).
const LACKS: i32 = 77;

/// How long one run may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// One program.
struct Case {
    name: String,
    source: PathBuf,
    covers: Vec<String>,
    args: Vec<String>,
    stdin: String,
    flags: Vec<String>,
    exit: i32,
    native: bool,
    open: bool,
    root: bool,
    expect: Option<String>,
}

/// What a run left.
#[derive(PartialEq, Eq)]
struct Outcome {
    stdout: String,
    stderr: String,
    status: i32,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/guest")
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn read_case(source: &Path) -> Case {
    let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(source).expect("a readable case");
    let mut case = Case {
        name,
        source: source.to_owned(),
        covers: Vec::new(),
        args: Vec::new(),
        stdin: String::new(),
        flags: Vec::new(),
        exit: 0,
        native: true,
        open: true,
        root: false,
        expect: None,
    };
    for line in text.lines() {
        let Some((key, value)) = line.strip_prefix("// ").and_then(|line| line.split_once(": ")) else {
            break;
        };
        match key {
            "covers" => case.covers.extend(words(value)),
            "args" => case.args = words(value),
            "stdin" => case.stdin = value.to_owned(),
            "flags" => case.flags = words(value),
            "exit" => case.exit = value.parse().unwrap_or_else(|_| panic!("{}: exit: {value}", case.name)),
            "native" if value.starts_with("skip ") => case.native = false,
            "open" if value.starts_with("skip ") => case.open = false,
            "user" if value == "root" => case.root = true,
            "expect" => case.expect = Some(value.to_owned()),
            _ => panic!("{}: unknown directive {line:?}", case.name),
        }
    }
    assert!(!case.covers.is_empty(), "{}: the first line must be `// covers: NAME...`", case.name);
    assert_eq!(case.native, case.expect.is_none(), "{}: `expect` goes with `native: skip`", case.name);
    assert!(!(case.native && case.root), "{}: `user: root` goes with `native: skip`", case.name);
    let first = text.lines().find(|line| line.starts_with("#include"));
    let guarded = first == Some("#include \"emulated.h\"");
    assert_ne!(case.native, guarded, "{}: emulated.h, included first, goes with `native: skip`", case.name);
    case
}

/// Every case, by name.
fn cases() -> Vec<Case> {
    let entries = fs::read_dir(folder()).expect("testdata/guest");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    paths.sort();
    paths.iter().map(|path| read_case(path)).collect()
}

fn compile(case: &Case, to: &Path) -> Result<PathBuf, String> {
    let program = to.join(&case.name);
    let mut args = vec!["-std=gnu17", "-O1", "-Wall", "-Wno-nonnull", "-fmax-errors=3", "-o"];
    let (program_text, source) = (program.to_string_lossy(), case.source.to_string_lossy());
    args.extend([&*program_text, &*source]);
    args.extend(case.flags.iter().map(String::as_str));
    let built = tool("gcc", to, "gcc", &args);
    if built.status.success() { Ok(program) } else { Err(format!("gcc:\n{}", stderr(&built))) }
}

/// What every run finds in its directory: some files of the host, all with fixed modes and times.
fn furnish(dir: &Path) {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let times = fs::FileTimes::new().set_accessed(old).set_modified(old);
    let make = |name: &str, text: &str, mode: u32| {
        let path = dir.join(name);
        fs::write(&path, text).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
        fs::File::options().write(true).open(&path).expect("open").set_times(times).expect("time");
    };
    fs::create_dir_all(dir.join("host/empty")).expect("mkdir");
    make("host/file", "of the host\n", 0o644);
    make("host/tool", "#!/bin/sh\nexit 3\n", 0o755);
    make("host/other", "another\n", 0o600);
    std::os::unix::fs::symlink("file", dir.join("host/link")).expect("symlink");
    std::os::unix::fs::symlink("nowhere", dir.join("host/dangling")).expect("symlink");
    for name in [".", "host", "host/empty"] {
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).expect("chmod");
    }
}

/// Everything below a directory that a program can decide: names, kinds, modes, contents, and times
/// that it set (those are far from now). Of a file's mode those bits are shown that are in `bits`.
fn tree(dir: &Path, bits: u32) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).expect("a directory") {
            let path = entry.expect("entry").path();
            let meta = fs::symlink_metadata(&path).expect("metadata");
            let kind = meta.file_type();
            let mut line = format!("mode {:o}", meta.mode() & if kind.is_file() { bits } else { 0o7777 });
            if kind.is_dir() {
                line += " directory";
                open.push(path.clone());
            } else if kind.is_symlink() {
                line += &format!(" link to {}", fs::read_link(&path).expect("link").display());
            } else if kind.is_fifo() {
                line += " pipe";
            } else {
                let bytes = fs::read(&path).unwrap_or_default();
                let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
                let sum =
                    bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
                line += &format!(" links {} size {} sum {sum:x} {shown:?}", meta.nlink(), meta.len());
            }
            line += &format!(" owner {}:{}", meta.uid(), meta.gid());
            let modified = meta.modified().expect("time");
            let now = SystemTime::now();
            let distance = now.duration_since(modified).unwrap_or_else(|early| early.duration());
            if distance > Duration::from_secs(24 * 3600) {
                line += &format!(" modified {}.{:09}", meta.mtime(), meta.mtime_nsec());
            }
            let name = path.strip_prefix(dir).expect("below").to_string_lossy().into_owned();
            found.insert(name, line);
        }
    }
    found
}

fn collect(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is what there is.
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child) -> Result<i32, String> {
    let ended = patience::wait(child, PATIENCE);
    if ended.is_err() {
        // The whole group: a process that is left would hold the pipes open for ever.
        let group = rustix::process::Pid::from_child(child);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("kill");
        child.wait().expect("wait");
    }
    ended.map(|status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

fn run(mut command: Command, stdin: &str) -> Result<Outcome, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, as in the emulator, where the process leads its group.
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| format!("cannot start: {error}"))?;
    let out = collect(child.stdout.take().expect("piped"));
    let err = collect(child.stderr.take().expect("piped"));
    let mut input = child.stdin.take().expect("piped");
    // The program may have ended without reading.
    let _ = input.write_all(stdin.as_bytes());
    drop(input);
    let status = wait(&mut child);
    let text = |reader: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&reader.join().expect("reader")).into_owned()
    };
    let (stdout, stderr) = (text(out), text(err));
    match status {
        Ok(status) => Ok(Outcome { stdout, stderr, status }),
        Err(why) => Err(format!("{why}; so far:\n{stdout}{stderr}")),
    }
}

/// A fresh directory with the usual things in it.
fn furnished() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    furnish(dir.path());
    dir
}

/// The lines in which two texts differ, in their order.
fn differences(expected: &str, got: &str) -> String {
    let (expected, got): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), got.lines().collect());
    let mut report = String::new();
    let length = expected.len().max(got.len());
    for at in 0..length {
        let (left, right) = (expected.get(at), got.get(at));
        if left != right {
            let shown = |line: Option<&&str>| line.map_or("(nothing)".to_owned(), |line| (*line).to_owned());
            report +=
                &format!("  line {}:\n    linux: {}\n    cgemu: {}\n", at + 1, shown(left), shown(right));
        }
    }
    report
}

fn compare_trees(expected: &BTreeMap<String, String>, got: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&String> = expected.keys().chain(got.keys()).collect();
    let mut report = String::new();
    for name in names {
        let (left, right) = (expected.get(name), got.get(name));
        if left != right {
            report += &format!("  {name}:\n    expected: {left:?}\n    found:    {right:?}\n");
        }
    }
    report
}

/// Runs one case in its three ways; what went wrong, or nothing.
fn examine(case: &Case, to: &Path) -> Result<(), String> {
    let program = compile(case, to)?;
    let (native_dir, open_dir, closed_dir) = (furnished(), furnished(), furnished());
    let mut report = String::new();

    let golden = case.expect.as_ref().map(|name| folder().join(name));
    let mut command = Command::new(&program);
    command.args(&case.args).current_dir(native_dir.path());
    command.env_clear().envs(ENVIRONMENT.iter().copied());
    let outcome = run(command, &case.stdin).map_err(|why| format!("on Linux: {why}"))?;
    let expected = if case.native {
        if outcome.status == LACKS {
            not_compared(&format!("{}: {}", case.name, outcome.stdout.trim_end()));
            return Ok(());
        }
        if outcome.status != case.exit {
            report += &format!("on Linux: status {}, {} expected\n", outcome.status, case.exit);
        }
        outcome
    } else {
        // By hand it must be as harmless.
        if (outcome.status, outcome.stdout.lines().count()) != (LACKS, 1) {
            report += &format!("on Linux: it runs, with status {}:\n{}", outcome.status, outcome.stdout);
        }
        Outcome { stdout: String::new(), stderr: String::new(), status: case.exit }
    };
    // No set-user-id or set-group-id bit of a file leaves the emulated machine.
    let expected_tree = tree(native_dir.path(), 0o1777);
    let before = tree(closed_dir.path(), 0o7777);

    for (what, dir, open) in [("--allow-write", &open_dir, true), ("overlay", &closed_dir, false)] {
        if open && !case.open {
            continue;
        }
        let mut options = vec!["run", "-q", "--cachegrind-out-file=/dev/null", "--cache-sim=no"];
        let user = if case.root { "--user=0:0".to_owned() } else { as_this_user() };
        options.push(&user);
        if open {
            options.extend(["--allow-write", "."]);
        }
        let program = program.to_string_lossy();
        options.extend(["--", &program]);
        options.extend(case.args.iter().map(String::as_str));
        let outcome =
            run(cgemu(dir.path(), &options), &case.stdin).map_err(|why| format!("{what}: {why}"))?;
        if let Some(file) = &golden {
            golden::compare(file, outcome.stdout.as_bytes()).map_err(|why| format!("{what}: {why}"))?;
        }
        let differs = golden.is_none() && outcome.stdout != expected.stdout;
        if differs || outcome.status != expected.status {
            report += &format!("{what}: status {} (linux {})\n", outcome.status, expected.status);
            report += &differences(&expected.stdout, &outcome.stdout);
            report += &outcome.stderr;
        }
        let after = tree(dir.path(), 0o7777);
        if open && case.native {
            report += &compare_trees(&expected_tree, &after);
        } else if !open {
            report += &compare_trees(&before, &after);
        }
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}

#[test]
fn guests_see_what_linux_shows_them() {
    let mut cases = cases();
    if let Ok(part) = std::env::var(vars::GUEST) {
        cases.retain(|case| case.name.contains(&part));
    }
    assert!(!cases.is_empty(), "no case to run");
    let build = tempfile::tempdir().expect("a directory");
    let queue = Mutex::new(cases.iter());
    let failures = Mutex::new(BTreeMap::new());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(case) = queue.lock().expect("queue").next() else { break };
                    if let Err(report) = examine(case, build.path()) {
                        failures.lock().expect("failures").insert(&case.name, report);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("failures");
    let text: String = failures.iter().map(|(name, report)| format!("\n{name}:\n{report}")).collect();
    assert!(failures.is_empty(), "{} of {} cases differ:\n{text}", failures.len(), cases.len());
}

/// The calls that `cgemu syscalls` lists: those it serves, and those it refuses.
pub fn listed() -> (BTreeSet<String>, BTreeSet<String>) {
    let listing = output(&folder(), &["syscalls"]);
    let (mut served, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for line in stdout(&listing).lines() {
        let mut words = line.split_whitespace();
        let (number, name, support) = (words.next(), words.next(), words.next());
        let (Some(number), Some(name)) = (number, name) else { continue };
        if number.parse::<u16>().is_err() {
            continue;
        }
        match support {
            Some("full" | "partial") => served.insert(name.to_owned()),
            Some("refused") => refused.insert(name.to_owned()),
            _ => continue,
        };
    }
    (served, refused)
}

#[test]
fn every_served_call_has_a_guest_test() {
    let (served, refused) = listed();
    assert!(served.len() > 150, "the list of calls is not what this test reads: {served:?}");
    let cases = cases();
    let covered: BTreeSet<String> = cases.iter().flat_map(|case| case.covers.clone()).collect();
    let missing: Vec<&String> = served.difference(&covered).collect();
    assert!(missing.is_empty(), "no guest test covers {missing:?}");
    let known: BTreeSet<String> = served.union(&refused).cloned().collect();
    let unknown: Vec<&String> = covered.difference(&known).collect();
    assert!(unknown.is_empty(), "`covers` names calls that are not in the table: {unknown:?}");
}
