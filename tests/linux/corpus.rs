//! The programs of testdata/corpus/corpus.toml on Linux and in the emulator: exit status, output
//! and files must be the same. An entry is set up once and runs twice, each time in a fresh copy of
//! its directory under the same name.
//!
//! The default is the tiers T0 to T2 with the packages that `./test` installs; `CGEMU_TEST_ALL=1`
//! (`./test --all`) runs all tiers. `CGEMU_CORPUS=part` runs only the entries with that in their
//! names. A package that is missing is a failure, with the command that installs it. With
//! `CGEMU_REPEAT=count` each entry then runs so many times by each of the two producers, and all
//! profiles must be the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use rustix::process::{Pid, Signal, kill_process_group};
use toml::{Table, Value};

use crate::common::{as_this_user, vars};

/// What every Debian system has.
const ESSENTIAL: [&str; 5] = ["coreutils", "diffutils", "findutils", "grep", "sed"];

const ENVIRONMENT: [(&str, &str); 7] = [
    ("PATH", "/usr/bin:/bin"),
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
    ("USER", "tester"),
    ("LOGNAME", "tester"),
    ("TERM", "dumb"),
    ("COLUMNS", "80"),
];

struct Entry {
    name: String,
    tier: String,
    packages: Vec<String>,
    sources: Vec<(String, String)>,
    setup: String,
    argv: Vec<String>,
    stdin: String,
    env: Vec<(String, String)>,
    exit: i32,
    files: Vec<String>,
    normalise: Vec<(Regex, String)>,
    unordered: bool,
    stretch: bool,
    timeout: Duration,
}

fn manifest(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn strings(table: &Table, key: &str) -> Vec<String> {
    let items = table.get(key).and_then(Value::as_array).into_iter().flatten();
    items.map(|item| item.as_str().expect("text").to_owned()).collect()
}

fn text(table: &Table, key: &str) -> String {
    table.get(key).map(|value| value.as_str().expect("text").to_owned()).unwrap_or_default()
}

/// A pair of the corpus, which is written as Python's `re` has it, in this crate's syntax.
fn rule(pair: &Value) -> (Regex, String) {
    let pair = pair.as_array().expect("a pair");
    let (pattern, with) = (pair[0].as_str().expect("text"), pair[1].as_str().expect("text"));
    let pattern = Regex::new(&format!("(?m-u){}", pattern.replace("\\Z", "\\z"))).expect("an expression");
    let with =
        regex::Regex::new(r"\\(\d)").expect("an expression").replace_all(with, "$${$1}").replace("\\n", "\n");
    (pattern, with)
}

fn load() -> Vec<Entry> {
    let text_of_all = fs::read_to_string(manifest("testdata/corpus/corpus.toml")).expect("the corpus");
    let all: Table =
        text_of_all.parse().unwrap_or_else(|e: toml::de::Error| panic!("corpus.toml: {}", e.message()));
    let sources = all["src"].as_table().expect("a table");
    let entries = all["entry"].as_array().expect("entries");
    let read = |value: &Value| -> Entry {
        let table = value.as_table().expect("a table");
        let env = table.get("env").and_then(Value::as_table).into_iter().flatten();
        let rules = table.get("normalise").and_then(Value::as_array).into_iter().flatten();
        let number = |key: &str| table.get(key).map(|value| value.as_integer().expect("a number"));
        let source = |name: &String| (name.clone(), sources[name].as_str().expect("text").to_owned());
        Entry {
            name: text(table, "name"),
            tier: text(table, "tier"),
            packages: strings(table, "packages"),
            sources: strings(table, "src").iter().map(source).collect(),
            setup: text(table, "setup"),
            argv: strings(table, "argv"),
            stdin: text(table, "stdin"),
            env: env.map(|(k, v)| (k.clone(), v.as_str().expect("text").to_owned())).collect(),
            exit: number("exit").unwrap_or(0) as i32,
            files: strings(table, "files"),
            normalise: rules.map(rule).collect(),
            unordered: table.get("unordered").is_some_and(|v| v.as_bool() == Some(true)),
            stretch: table.get("stretch").is_some_and(|v| v.as_bool() == Some(true)),
            timeout: Duration::from_secs(number("timeout").unwrap_or(60) as u64),
        }
    };
    entries.iter().map(read).collect()
}

/// The words of a `NAME="..."` line of a shell script.
fn packages_of(script: &str, name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest(script)).expect("a script");
    let start = format!("{name}=\"");
    let line = text.lines().find_map(|line| line.strip_prefix(&start)).expect("the list of packages");
    line.trim_end_matches('"').split_whitespace().map(str::to_owned).collect()
}

fn selected() -> Vec<Entry> {
    let all = std::env::var_os(vars::TEST_ALL).is_some();
    let only = std::env::var(vars::CORPUS).unwrap_or_default();
    let mut there = packages_of("test", "TEST_PACKAGES");
    there.extend(packages_of("scripts/setup.sh", "BUILD_PACKAGES"));
    there.extend(ESSENTIAL.map(str::to_owned));
    let mut entries = load();
    entries.retain(|entry| {
        let small = entry.tier.as_str() <= "T2" && entry.packages.iter().all(|p| there.contains(p));
        !entry.stretch && (small || all) && entry.name.contains(&only)
    });
    entries
}

/// What a run left.
struct Outcome {
    status: Result<ExitStatus, String>,
    stdout: Vec<u8>,
    stderr: String,
    files: BTreeMap<String, String>,
}

fn normalised(entry: &Entry, mut data: Vec<u8>) -> Vec<u8> {
    for (pattern, with) in &entry.normalise {
        data = pattern.replace_all(&data, with.as_bytes()).into_owned();
    }
    data
}

/// The lines of an output, sorted if their order says nothing.
fn ordered(entry: &Entry, data: Vec<u8>) -> Vec<u8> {
    if !entry.unordered {
        return data;
    }
    let mut lines: Vec<&[u8]> = data.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    lines.concat()
}

/// Whether a path matches a glob with `*` and `**`, as Python's `glob` has them.
fn matches(glob: &[&str], path: &[&str]) -> bool {
    match (glob.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            matches(rest, path) || path.split_first().is_some_and(|(_, tail)| matches(glob, tail))
        }
        (Some((pattern, rest)), Some((name, tail))) => {
            let fits = match pattern.split_once('*') {
                None => pattern == name,
                Some((start, end)) => {
                    name.len() >= start.len() + end.len()
                        && name.starts_with(start)
                        && name.ends_with(end)
                        && !name.starts_with('.')
                }
            };
            fits && matches(rest, tail)
        }
        _ => false,
    }
}

fn walk(root: &Path, at: &str, found: &mut Vec<String>) {
    for name in crate::common::names(&root.join(at)) {
        let path = if at.is_empty() { name } else { format!("{at}/{name}") };
        let metadata = fs::symlink_metadata(root.join(&path)).expect("stat");
        found.push(path.clone());
        if metadata.is_dir() {
            walk(root, &path, found);
        }
    }
}

/// Type, mode and content of the files that an entry names.
fn snapshot(entry: &Entry, root: &Path) -> BTreeMap<String, String> {
    let mut paths = Vec::new();
    walk(root, "", &mut paths);
    let mut found = BTreeMap::new();
    for glob in &entry.files {
        let glob_parts: Vec<&str> = glob.split('/').collect();
        let mut any = false;
        for path in paths.iter().filter(|p| matches(&glob_parts, &p.split('/').collect::<Vec<_>>())) {
            any = true;
            let file = root.join(path);
            let metadata = fs::symlink_metadata(&file).expect("stat");
            let mode = metadata.permissions().mode() & 0o7777;
            let what = if metadata.is_symlink() {
                format!("link to {}", fs::read_link(&file).expect("a link").display())
            } else if metadata.is_dir() {
                format!("directory {mode:o}")
            } else if metadata.is_file() {
                let data = normalised(entry, fs::read(&file).expect("read"));
                format!("file {mode:o} {}", data.escape_ascii())
            } else {
                format!("{:?}", metadata.file_type())
            };
            found.insert(path.clone(), what);
        }
        if !any {
            found.insert(glob.clone(), "missing".to_owned());
        }
    }
    found
}

/// Ends what an entry started: it leads its own group.
fn finish(child: &mut Child, limit: Duration) -> Result<ExitStatus, String> {
    let group = Pid::from_child(child);
    let status = crate::common::patience::wait(child, limit);
    let _ = kill_process_group(group, Signal::KILL);
    if status.is_err() {
        let _ = child.wait();
    }
    status
}

fn set_up(entry: &Entry, top: &Path) -> Result<(), String> {
    let template = top.join("template");
    fs::create_dir(&template).expect("mkdir");
    for (name, text) in &entry.sources {
        fs::write(template.join(name), text.trim_start_matches('\n')).expect("write");
    }
    let log = File::create(top.join("log")).expect("create");
    let mut child = Command::new("/bin/bash")
        .args(["-euc", &format!("umask 022\n{}", entry.setup)])
        .current_dir(&template)
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .env("GOCACHE", top.join("gocache"))
        .env("GO111MODULE", "off")
        .env("GOTOOLCHAIN", "local")
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("dup"))
        .stderr(log)
        .process_group(0)
        .spawn()
        .map_err(|e| format!("/bin/bash: {e}"))?;
    let status = finish(&mut child, Duration::from_secs(600))?;
    if status.success() {
        return Ok(());
    }
    let log = fs::read_to_string(top.join("log")).unwrap_or_default();
    let last: Vec<&str> = log.lines().rev().take(3).collect();
    Err(format!("the setup ends with {status}: {}", last.join(" | ")))
}

/// Runs an entry in a fresh copy of its directory, under the words of `prefix` if there are any.
fn run(entry: &Entry, top: &Path, prefix: &[String]) -> Outcome {
    let directory = top.join("run");
    let _ = fs::remove_dir_all(&directory);
    let (from, to) = (top.join("template"), directory.clone());
    let copied = Command::new("cp").arg("-a").args([&from, &to]).status().expect("cp starts");
    assert!(copied.success(), "cp -a {}", from.display());
    fs::write(top.join("stdin"), &entry.stdin).expect("write");

    let mut argv = prefix.to_vec();
    argv.extend(entry.argv.iter().cloned());
    if !entry.argv[0].contains('/') {
        let found =
            ["/usr/bin", "/bin"].iter().map(|d| Path::new(d).join(&entry.argv[0])).find(|p| p.exists());
        if let Some(found) = found {
            argv[prefix.len()] = found.to_string_lossy().into_owned();
        }
    }
    let create = |name: &str| File::create(top.join(name)).expect("create");
    let started = Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(&directory)
        .env_clear()
        .envs(ENVIRONMENT)
        .env("HOME", &directory)
        .envs(entry.env.iter().map(|(k, v)| (k, v)))
        .stdin(File::open(top.join("stdin")).expect("open"))
        .stdout(create("stdout"))
        .stderr(create("stderr"))
        .process_group(0)
        .spawn();
    let status = match started {
        Ok(mut child) => finish(&mut child, entry.timeout),
        Err(error) => Err(format!("{}: {error}", argv[0])),
    };
    Outcome {
        status,
        stdout: ordered(entry, normalised(entry, fs::read(top.join("stdout")).expect("read"))),
        stderr: String::from_utf8_lossy(&fs::read(top.join("stderr")).expect("read")).into_owned(),
        files: snapshot(entry, &directory),
    }
}

/// The start of something long.
fn short(text: &str) -> String {
    text.chars().take(120).collect()
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default()
}

/// The first difference, in words.
fn difference(native: &Outcome, ours: &Outcome) -> Option<String> {
    let code = |outcome: &Outcome| -> Result<i32, String> {
        let status = outcome.status.clone()?;
        Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
    };
    let (expected, got) = (code(native), code(ours));
    if expected != got {
        return Some(format!("status {expected:?}, ours {got:?}: {}", short(last_line(&ours.stderr))));
    }
    if native.stdout != ours.stdout {
        let lines = |data: &[u8]| -> Vec<String> {
            data.split(|&b| b == b'\n').map(|line| line.escape_ascii().to_string()).collect()
        };
        let (a, b) = (lines(&native.stdout), lines(&ours.stdout));
        let at = a.iter().zip(&b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
        let line = |v: &[String]| short(v.get(at).map_or("(end)", String::as_str));
        return Some(format!("output, line {}: {:?}, ours {:?}", at + 1, line(&a), line(&b)));
    }
    let missing = String::from("missing");
    let names: BTreeSet<&String> = native.files.keys().chain(ours.files.keys()).collect();
    names.into_iter().find_map(|name| {
        let of = |outcome: &Outcome| outcome.files.get(name).unwrap_or(&missing).clone();
        let (a, b) = (of(native), of(ours));
        (a != b).then(|| format!("file {name}: {}, ours {}", short(&a), short(&b)))
    })
}

fn try_entry(entry: &Entry) -> Result<(), String> {
    let dir = tempfile::tempdir().expect("a directory");
    let top = dir.path().canonicalize().expect("a path");
    let install = |why: String| -> String {
        match entry.packages.as_slice() {
            [] => why,
            list => format!("{why}; if something is missing: apt-get install {}", list.join(" ")),
        }
    };
    set_up(entry, &top).map_err(install)?;
    let native = run(entry, &top, &[]);
    let wanted = match entry.exit {
        code @ 0.. => code << 8,
        signal => -signal,
    };
    match &native.status {
        // A core dump is the machine's business.
        Ok(status) if status.into_raw() & !0x80 == wanted => {}
        other => {
            return Err(install(format!("on Linux: {other:?}: {}", short(last_line(&native.stderr)))));
        }
    }
    let repeat: usize = std::env::var(vars::REPEAT).map_or(0, |text| text.parse().expect("a number of runs"));
    let ours = run(entry, &top, &prefix(entry, "tap", Path::new("/dev/null")));
    difference(&native, &ours).map_or(Ok(()), Err)?;
    let mut first = None;
    for (hooks, at) in ["tap", "api"].into_iter().flat_map(|hooks| (0..repeat).map(move |at| (hooks, at))) {
        let file = top.join("profile");
        let ours = run(entry, &top, &prefix(entry, hooks, &file));
        let profile = fs::read(file).map_err(|e| format!("no profile: {e}"))?;
        let why = difference(&native, &ours).map(|why| format!("run {at} with --hooks={hooks}: {why}"));
        let same = *first.get_or_insert_with(|| profile.clone()) == profile;
        why.or((!same).then(|| format!("run {at} with --hooks={hooks} has another profile")))
            .map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// The command that an entry is put behind, and its options.
fn prefix(entry: &Entry, hooks: &str, profile: &Path) -> Vec<String> {
    let mut words: Vec<String> = vec![env!("CARGO_BIN_EXE_cgemu").to_owned()];
    let options = "run -q --trace-children=yes --allow-write . --env TZ";
    words.extend(options.split(' ').map(str::to_owned));
    words.extend([format!("--hooks={hooks}"), format!("--cachegrind-out-file={}", profile.display())]);
    words.push(as_this_user());
    words.extend(entry.env.iter().map(|(name, _)| format!("--env={name}")));
    words.push("--".to_owned());
    words
}

#[test]
fn programs_do_what_they_do_on_linux() {
    let entries = selected();
    assert!(!entries.is_empty(), "no entry has that name");
    let (next, failures) = (Mutex::new(entries.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(entry) = next.lock().expect("a lock").next() else { break };
                    let start = Instant::now();
                    let result = try_entry(entry);
                    let seconds = start.elapsed().as_secs_f32();
                    let word = if result.is_ok() { "ok" } else { "FAILED" };
                    let _ =
                        writeln!(std::io::stdout(), "{} {:20} {word} {seconds:.1} s", entry.tier, entry.name);
                    if let Err(why) = result {
                        failures.lock().expect("a lock").push(format!("{}: {why}", entry.name));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("a lock");
    failures.sort();
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), entries.len(), failures.join("\n"));
}
