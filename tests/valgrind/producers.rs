//! The two producers of events, the tap in the generated code and the engine's public hooks, must
//! give the same profile to the byte; and where generated code counts instructions itself, as many
//! of them. Small inputs: the public hooks are slow.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;

use crate::common::{cgemu, exact, parallel, stderr, tool};

/// A program with its words, run with these options besides; `stdin` is what its standard input, a
/// file, holds.
struct Case {
    name: String,
    argv: Vec<String>,
    stdin: String,
    options: &'static [&'static str],
}

/// Instructions by line of a profile, with the names in front of them.
fn instructions(profile: &str) -> Vec<String> {
    let begins = |line: &str, with: &str| line.starts_with(with);
    let fields = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let wanted = |line: &&str| {
        begins(line, "f")
            || begins(line, "summary: ")
            || line.starts_with(|first: char| first.is_ascii_digit())
    };
    let lines = profile.lines().filter(wanted);
    lines.map(|line| if begins(line, "f") { line.to_owned() } else { fields(line) }).collect()
}

/// Runs a case with both producers, on one CPU, and counting only instructions, in equal
/// directories of one name.
fn differs(case: &Case) -> Option<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let work = dir.path().join("work");
    fs::write(dir.path().join("stdin"), &case.stdin).expect("write");
    let mut seen = Vec::new();
    for (hooks, cpus, simulates) in
        [("tap", "2", "yes"), ("api", "2", "yes"), ("tap", "1", "yes"), ("tap", "2", "no")]
    {
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).expect("mkdir");
        fs::write(work.join("numbers"), numbers()).expect("write");
        crate::common::guest::furnish(&work);
        let options = [
            format!("--hooks={hooks}"),
            format!("--cpus={cpus}"),
            format!("--cachegrind-out-file={}", dir.path().join(hooks).display()),
        ];
        let simulations = [format!("--cache-sim={simulates}"), format!("--branch-sim={simulates}")];
        let mut command = cgemu(&work, &["run", "-q", "--timeout=180s"]);
        command.args(case.options).args(&simulations).args(&options).arg("--").args(&case.argv);
        let out = command
            .stdin(File::open(dir.path().join("stdin")).expect("open"))
            .stdout(Stdio::piped())
            .output()
            .expect("cgemu starts");
        if out.status.code().is_none_or(|code| code == 124 || code == 125) {
            return Some(format!("--hooks={hooks} ends with {}: {}", out.status, stderr(&out)));
        }
        let profile = fs::read(dir.path().join(hooks)).expect("a profile");
        seen.push((out.status.code(), out.stdout, profile));
    }
    let [tap, api, inline, alone] = &seen[..] else { unreachable!("four runs") };
    for other in [api, inline, alone] {
        if (tap.0, &tap.1) != (other.0, &other.1) {
            return Some(format!("the program itself differs: {:?} and {:?}", tap.0, other.0));
        }
    }
    let text = |profile: &[u8]| String::from_utf8_lossy(profile).into_owned();
    let (tap, api, inline, alone) = (text(&tap.2), text(&api.2), text(&inline.2), text(&alone.2));
    assert!(tap.lines().last().is_some_and(|line| line.starts_with("summary: ")), "{tap}");
    for (other, name) in [(&api, "api"), (&inline, "one CPU")] {
        if &tap != other {
            let at = tap.lines().zip(other.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let line = |text: &str| text.lines().nth(at).unwrap_or_default().to_owned();
            return Some(format!(
                "line {}: {:?} with tap, {:?} with {name}",
                at + 1,
                line(&tap),
                line(other)
            ));
        }
    }
    let (tap, alone) = (instructions(&tap), instructions(&alone));
    let differing = tap.iter().zip(&alone).find(|(a, b)| a != b);
    let differs = differing.is_some() || tap.len() != alone.len();
    differs.then(|| {
        format!("{differing:?}, of {} and {} lines, counting only instructions", tap.len(), alone.len())
    })
}

/// Lines for sort and cat.
fn numbers() -> String {
    let mut x: u32 = 7;
    let mut lines = String::new();
    for _ in 0..300 {
        x = x.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        lines.push_str(&format!("{} of {}\n", x >> 16, x % 97));
    }
    lines
}

/// All cases, two at a time.
fn all_agree(cases: &[Case]) {
    let (next, failures) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(case) = next.lock().expect("a lock").next() else { break };
                    if let Some(why) = differs(case) {
                        failures.lock().expect("a lock").push(format!("{}: {why}", case.name));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("a lock");
    failures.sort();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

fn case(argv: &[&str]) -> Case {
    let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
    Case { name: argv.join(" "), argv, stdin: "one\ntwo\n".to_owned(), options: &[] }
}

#[test]
fn freestanding_programs() {
    let dir = tempfile::tempdir().expect("a directory");
    let programs = exact::build(dir.path());
    all_agree(&programs.iter().map(|p| case(&[p.binary.to_str().expect("text")])).collect::<Vec<_>>());
}

#[test]
fn small_tools() {
    all_agree(&[
        case(&["true"]),
        case(&["ls", "-la"]),
        case(&["date"]),
        case(&["echo", "a", "b c"]),
        case(&["cat", "numbers", "-"]),
        case(&["sort", "-n", "numbers"]),
        case(&["sh", "-c", "kill -SEGV $$"]),
        case(&["sh", "-c", "trap 'echo caught' USR1; kill -USR1 $$; exit 3"]),
    ]);
}

/// The word after a marker in the first lines of a guest program; see tests/linux/guest.rs.
fn words(text: &str, marker: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(marker)).unwrap_or_default();
    line.split_whitespace().map(str::to_owned).collect()
}

fn guest(source: &Path, to: &Path) -> Case {
    let text = fs::read_to_string(source).expect("a program");
    let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
    let program = to.join(&name);
    let mut args: Vec<String> = ["-std=gnu17", "-g", "-O1", "-w", "-o"].map(str::to_owned).to_vec();
    args.extend([program.display().to_string(), source.display().to_string()]);
    args.extend(words(&text, "// flags:"));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let out = tool("gcc", to, "gcc", &args);
    assert!(out.status.success(), "{}: {}", source.display(), stderr(&out));
    let mut argv = vec![program.display().to_string()];
    argv.extend(words(&text, "// args:"));
    let stdin = words(&text, "// stdin:").join(" ");
    Case { name, argv, stdin, options: &[] }
}

/// Counts that begin in main: of threads, handlers of signals, and a child that executes a program.
#[test]
fn programs_from_main_on() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/callgrind");
    let sources = crate::callgraph::sources()
        .into_iter()
        .filter(|source| source.extension().is_some_and(|kind| kind == "c"));
    let sources = sources.chain([folder.join("forks.c")]);
    const OPTIONS: [&str; 2] = ["--count-from=main", "--trace-children=yes"];
    let from_main = |source: PathBuf| Case { options: &OPTIONS, ..guest(&source, dir.path()) };
    all_agree(&sources.map(from_main).collect::<Vec<_>>());
}

#[test]
fn guest_programs() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/guest");
    let mut sources: Vec<PathBuf> = fs::read_dir(folder)
        .expect("testdata/guest")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    sources.sort();
    all_agree(&sources.iter().map(|source| guest(source, dir.path())).collect::<Vec<_>>());
}

/// Call graphs too, which need the stack pointer of both, and the profiles beside them.
#[test]
fn call_graphs() {
    const OPTIONS: [&[&str]; 3] = [
        &["--dump-instr=yes", "--collect-jumps=yes", "--separate-callers=1"],
        &["--separate-recs=2", "--skip-plt=no"],
        &["--count-model=valgrind"],
    ];
    let results = parallel(crate::callgraph::sources(), |source| {
        let dir = tempfile::tempdir().expect("a directory");
        crate::callgraph::build(&source, dir.path());
        let files = |options: &[&str], hooks: &str, cpus: &str| {
            let mut command = cgemu(dir.path(), &["run", "-q", "--branch-sim=yes", "--callgraph=yes"]);
            command.args(["--cachegrind-out-file=profile", "--callgrind-out-file=graph"]);
            command.arg(format!("--hooks={hooks}")).arg(format!("--cpus={cpus}"));
            let out =
                command.args(options).args(["--", "./program", "faults"]).output().expect("cgemu starts");
            assert!(out.status.success(), "{} with {hooks}: {}", source.display(), stderr(&out));
            ["graph", "profile"].map(|name| fs::read(dir.path().join(name)).expect("a file"))
        };
        let differs = |options: &&[&str]| {
            let tap = files(options, "tap", "2");
            assert!(tap[0].len() > 10_000, "{}: few calls", source.display());
            let others = [("api", "2"), ("tap", "1")];
            let differing = others.into_iter().filter(|(hooks, cpus)| files(options, hooks, cpus) != tap);
            differing.map(|which| format!("{} {which:?} {options:?}", source.display())).collect::<Vec<_>>()
        };
        OPTIONS.iter().flat_map(differs).collect::<Vec<_>>()
    });
    let differing = results.concat();
    assert!(differing.is_empty(), "{differing:#?}");
}
