//! The same run gives the same profile to the byte: of real programs, in any directory, for any
//! user, at any time. What the guest takes in is kept equal: its words, its files, its standard
//! input and the types of its output.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::common::{cgemu, output, stderr, tool, wanted_in_all};

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

/// Writes the directory that `see` looks at, its names made in order or in reverse.
fn write_sights(directory: &Path, reverse: bool) {
    let mut names: Vec<String> = (0..300).map(|at| at.to_string()).collect();
    names.extend(["sub/below".to_owned(), "file".to_owned(), "large".to_owned()]);
    if reverse {
        names.reverse();
    }
    let sights = directory.join("sights");
    fs::create_dir_all(sights.join("sub/empty")).expect("mkdir");
    for name in &names {
        let len = if name == "large" { 100_000 } else { 1 };
        fs::write(sights.join(name), name.repeat(len)).expect("write");
        if reverse {
            // Another file takes the next inode number, and stays.
            fs::write(directory.join(format!("beside-{}", name.replace('/', "-"))), b"").expect("write");
        }
    }
    symlink("file", sights.join("link")).expect("symlink");
    for name in names.iter().map(String::as_str).chain(["sub/empty", "sub", "."]) {
        let path = sights.join(name);
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
    }
    // What is copied keeps its times, and so do directories, once nothing more is made in them.
    let old = ["-h", "-d", "@1600000000", "sights/link"];
    assert!(tool("coreutils", directory, "touch", &old).status.success(), "touch of a link");
    for name in names.iter().map(String::as_str).chain(["sub/empty", "sub", "."]) {
        make_old(&sights.join(name));
    }
}

/// Sets the times of a file or directory to those of 2020.
fn make_old(path: &Path) {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let times = FileTimes::new().set_accessed(old).set_modified(old);
    File::open(path).expect("open").set_times(times).expect("utimes");
}

/// A place for runs by anybody: the command, the program that looks at everything, and the
/// directory that it looks at.
struct Sights {
    place: tempfile::TempDir,
}

impl Sights {
    fn new() -> Sights {
        let place = tempfile::tempdir().expect("a directory");
        let at = |name: &str| place.path().join(name);
        // The build's own directory may be closed to others.
        fs::copy(env!("CARGO_BIN_EXE_cgemu"), at("cgemu")).expect("a copy");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/determinism/see.c");
        let (program, source) = (at("see"), source.to_string_lossy().into_owned());
        let words = ["-O1", "-Wall", "-Werror", "-o", &program.to_string_lossy(), &source];
        let built = tool("gcc", place.path(), "gcc", &words);
        assert!(built.status.success(), "{}", stderr(&built));
        let (here, elsewhere) = (at("here"), at("else/where/much/deeper/than/that/and/longer"));
        for directory in [&here, &elsewhere] {
            fs::create_dir_all(directory).expect("mkdir");
        }
        write_sights(&here, false);
        write_sights(&elsewhere, true);
        write_input(&here);
        [here, elsewhere].iter().for_each(|directory| make_old(directory));
        // Open to anybody, whoever that is; and for the profiles of anybody.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).expect("chmod");
        Sights { place }
    }

    /// Runs a program under `wrapper`, words that run what follows them, in a directory of the
    /// place; its output and its profile.
    fn run(&self, directory: &str, wrapper: &[&str], environment: Environment, words: &[&str]) -> Sight {
        let place = self.place.path().to_string_lossy().into_owned();
        let profile = self.place.path().join("profile");
        let _ = fs::remove_file(&profile);
        let (cgemu, see) = (format!("{place}/cgemu"), format!("{place}/see"));
        let option = format!("--cachegrind-out-file={}", profile.display());
        let mut all: Vec<&str> = wrapper.to_vec();
        all.extend([&*cgemu, "run", "-q", "--branch-sim=yes", &option, "--"]);
        all.extend(words.iter().map(|word| if *word == "see" { &*see } else { word }));
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).current_dir(self.place.path().join(directory)).stdin(Stdio::null());
        let out = command.env_clear().envs(environment.iter().copied()).output();
        let out =
            out.unwrap_or_else(|error| panic!("{all:?}: {error}; apt-get install coreutils util-linux"));
        assert!(out.status.success(), "{all:?} ends with {}: {}", out.status, stderr(&out));
        let profile = fs::read_to_string(&profile).expect("a profile");
        Sight { output: String::from_utf8_lossy(&out.stdout).into_owned(), profile }
    }
}

/// What a run shows.
#[derive(PartialEq, Eq)]
struct Sight {
    output: String,
    profile: String,
}

impl Sight {
    /// The first differences.
    fn difference(&self, other: &Sight) -> Option<String> {
        let lines = |a: &str, b: &str| {
            let pair = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            pair.map_or("another length".to_owned(), |(a, b)| format!("{a:?} and {b:?}"))
        };
        if self.output != other.output {
            return Some(format!("the program sees {}", lines(&self.output, &other.output)));
        }
        (self.profile != other.profile).then(|| format!("profile: {}", lines(&self.profile, &other.profile)))
    }
}

/// The first processor that this process may run on, which in a container need not be 0.
fn a_processor() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a list");
    list.trim().split(['-', ',']).next().expect("a processor").to_owned()
}

/// Words that run a command as another user: as anybody, where root can be; as root, where it
/// cannot. Root in its own user namespace sees the owners of files otherwise, too.
fn another_user() -> Vec<&'static str> {
    if fs::metadata("/proc/self").expect("/proc").uid() == 0 {
        return vec!["setpriv", "--reuid=12345", "--regid=54321", "--groups=7,54321,99"];
    }
    let words = ["--user", "--map-root-user", "true"];
    let tried = tool("util-linux", Path::new("/"), "unshare", &words);
    assert!(
        tried.status.success(),
        "nobody else can be had to run as ({}): run this test as root, or let users make user namespaces \
         (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces=10000 or \
         kernel.apparmor_restrict_unprivileged_userns=0)",
        stderr(&tried).trim()
    );
    vec!["unshare", "--user", "--map-root-user"]
}

/// A shell that runs what follows it after some words.
fn shell(script: &str) -> Vec<&str> {
    vec!["sh", "-c", script, "sh"]
}

/// All that a host can be like, one by one and all at once: depth and inode numbers of the
/// directory, limits, user, habits of the process that starts it.
#[test]
fn on_any_host() {
    let sights = Sights::new();
    const DEEP: &str = "else/where/much/deeper/than/that/and/longer";
    const SEE: [&str; 5] = ["see", "sights", "sights/file", "sights/link", "sights/sub"];
    let limits = "ulimit -s 1024; ulimit -c 0; ulimit -f 200000; ulimit -l 64; ulimit -t 3600; exec \"$@\"";
    let all = "umask 077; ulimit -n 40; ulimit -s 2048; ulimit -c 0; trap '' HUP QUIT USR1 ALRM PIPE; \
               exec 3</dev/null 5>/dev/null 9<&0; exec nice -n 7 env --block-signal=USR2 setarch -R -B \"$@\"";
    let user = another_user();
    let both: Vec<&str> = user.iter().copied().chain(shell(all)).collect();
    let processor = a_processor();
    let hosts: [(&str, &str, Vec<&str>, Environment); 19] = [
        ("another directory", DEEP, vec!["env"], NOBODY),
        ("another environment", "here", vec!["env"], SOMEBODY),
        ("few open files", "here", shell("ulimit -n 40; exec \"$@\""), NOBODY),
        ("hardly any open files", "here", shell("ulimit -n 20; exec \"$@\""), NOBODY),
        ("other limits", "here", shell(limits), NOBODY),
        ("an open umask", "here", shell("umask 0; exec \"$@\""), NOBODY),
        ("a closed umask", "here", shell("umask 077; exec \"$@\""), NOBODY),
        ("another user", "here", user, NOBODY),
        ("a low priority", "here", vec!["nice", "-n", "11", "ionice", "-c", "3", "chrt", "-b", "0"], NOBODY),
        ("more descriptors", "here", shell("exec 3</dev/null 4>/dev/null 9<.; exec \"$@\""), NOBODY),
        ("ignored signals", "here", shell("trap '' HUP INT QUIT PIPE TERM USR1 CHLD; exec \"$@\""), NOBODY),
        ("blocked signals", "here", vec!["env", "--block-signal=USR1,ALRM,PIPE,CHLD"], NOBODY),
        ("no randomization", "here", vec!["setarch", "-R"], NOBODY),
        ("another personality", "here", vec!["setarch", "--uname-2.6", "--addr-compat-layout", "-B"], NOBODY),
        ("one processor", "here", vec!["taskset", "-c", &processor], NOBODY),
        ("no new privileges", "here", vec!["setpriv", "--no-new-privs"], NOBODY),
        ("a session of its own", "here", vec!["setsid", "-w"], NOBODY),
        ("first to go", "here", vec!["choom", "-n", "500", "--"], NOBODY),
        ("all of it", DEEP, both.clone(), SOMEBODY),
    ];
    let first = sights.run("here", &["env"], NOBODY, &SEE);
    assert!(first.output.contains("300 files open") && first.output.contains("made 3"), "{}", first.output);
    let mut failures = Vec::new();
    for (what, directory, wrapper, environment) in hosts {
        let other = sights.run(directory, &wrapper, environment, &SEE);
        failures.extend(first.difference(&other).map(|why| format!("{what}: {why}")));
    }
    for words in PROGRAMS.iter().copied().chain([&["ls", "-lai", "sights", "sights/sub"][..]]) {
        let (one, other) =
            (sights.run("here", &["env"], NOBODY, words), sights.run("here", &both, SOMEBODY, words));
        failures.extend(one.difference(&other).map(|why| format!("{words:?}: {why}")));
    }
    assert!(failures.is_empty(), "a run depends on\n{}", failures.join("\n"));
}

/// Files that the program may change stay open, since it may take their names away. A host that
/// does not let cgemu have that many ends the run: the program is told nothing that is not so.
/// Other CPUs, as qemu's user mode shows them to cgemu. `./test --all` installs it.
#[test]
fn on_another_processor() {
    if !wanted_in_all("qemu-x86_64") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    write_input(dir.path());
    let on = |model: Option<&str>, words: &[&str]| {
        let options = ["run", "-q", "--branch-sim=yes", "--cachegrind-out-file=profile", "--callgraph=yes"];
        let options = [&options[..], &["--callgrind-out-file=graph", "--"], words].concat();
        let out = match model {
            None => output(dir.path(), &options),
            Some(model) => {
                let emulated = ["-cpu", model, env!("CARGO_BIN_EXE_cgemu")];
                tool("qemu-user", dir.path(), "qemu-x86_64", &[&emulated[..], &options].concat())
            }
        };
        assert!(out.status.success(), "{model:?}: {words:?}: {}", stderr(&out));
        let files = ["profile", "graph"].map(|name| fs::read(dir.path().join(name)).expect("a file"));
        (out.stdout, files.concat())
    };
    for model in ["Nehalem", "EPYC"] {
        compare(model, &PROGRAMS[..2], |words| on(None, words), |words| on(Some(model), words));
    }
}

#[test]
fn too_few_open_files_end_the_run_by_name() {
    let sights = Sights::new();
    let place = sights.place.path();
    let script = "ulimit -n 20; exec \"$@\"";
    let words =
        ["-c", script, "sh", env!("CARGO_BIN_EXE_cgemu"), "run", "-q", "--cachegrind-out-file=/dev/null"];
    let words: Vec<&str> = words.into_iter().chain(["--allow-write=.", "--", "../see", "sights"]).collect();
    let out = tool("dash", &place.join("here"), "sh", &words);
    assert_eq!(out.status.code(), Some(125), "{}", stderr(&out));
    assert!(stderr(&out).contains("raise the limit (ulimit -n)"), "{}", stderr(&out));
    let seen = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(!seen.contains("EMFILE") && !seen.contains("files open"), "{seen}");
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
