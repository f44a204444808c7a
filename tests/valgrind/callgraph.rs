//! Call graphs beside Callgrind, of the programs in testdata/callgraph and of those that are
//! compared whole: of every caller and callee the same number of calls and the same inclusive
//! instructions, and of every function the same of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{ENVIRONMENT, as_this_user, cgemu, names, not_compared, parallel, stderr, tool};
use crate::exact::setting::{ARCH, DEFAULT, Model, VALGRIND};
use crate::whole::run::{PRELOADED, TUNABLES, check_host, finish, libraries, valgrind};
use crate::whole::{chosen, set_up};

/// Callgrind without options: it does not chase, so it counts as cgemu does by itself.
const UNMODIFIED: Model = Model { name: "unmodified", valgrind: &[], ..ARCH };

/// Functions whose last block Callgrind may leave out, since no other came after it: where the
/// program ends, and where a signal leads away for good.
const LAST: [&str; 2] = ["_Exit", "__pthread_kill_implementation"];

/// Programs of which only the calls from some functions are compared: Valgrind has no clone3, and
/// the C library does something else then.
const ONLY: [(&str, &[&str]); 2] = [("threads.c", &["work"]), ("waits.c", &["own", "tries", "away", "fib"])];

/// Functions that are entered before main or with it, and left after it.
const STARTS: [&str; 3] = ["main", "(below main)", "__libc_start_main"];

/// Instructions of functions, and calls with inclusive instructions of pairs of them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Graph {
    /// What ended this part of the run.
    trigger: String,
    functions: BTreeMap<String, u64>,
    calls: BTreeMap<(String, String), (u64, u64)>,
    /// Jumps that were followed, by function, kind, line and line that they lead to. How often
    /// conditional ones were executed Callgrind says only of superblocks in which they were.
    jumps: BTreeMap<(String, String), u64>,
}

impl Graph {
    /// Forgets the calls that begin before main.
    fn forget_starts(&mut self) {
        let begins = |called: &str| STARTS.contains(&called.split('@').next().unwrap_or_default());
        self.calls.retain(|(_, called), _| !begins(called));
    }
}

/// A name without parameters, which Valgrind spells otherwise (docs/counting.md); the level of
/// recursion and the callers stay.
fn plain(name: &str) -> String {
    let parts = name.split('\'').map(|part| match part.find('(').filter(|at| *at > 0) {
        Some(end) => &part[..end],
        None => part,
    });
    parts.collect::<Vec<_>>().join("'")
}

/// Reads a Callgrind file with names and positions in full.
fn read(file: &Path) -> Graph {
    let text = String::from_utf8_lossy(&fs::read(file).expect("a call graph")).into_owned();
    let mut graph = Graph::default();
    let (mut function, mut called, mut calls) = (String::new(), String::new(), None);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((kind @ ("jump" | "jcnd"), rest)) = line.split_once('=') {
            let (count, target) = rest.split_once(' ').expect("a target");
            let count: u64 = count.split('/').next().and_then(|count| count.parse().ok()).expect("a count");
            let place = lines.next().expect("the place of the jump").trim_end();
            let key = (function.clone(), format!("{kind} {place} -> {}", target.trim_end()));
            *graph.jumps.entry(key).or_default() += count;
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = plain(name);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            called = plain(name);
        } else if let Some(rest) = line.strip_prefix("calls=") {
            calls = rest.split(' ').next().and_then(|count| count.parse::<u64>().ok());
        } else if let Some(rest) = line.strip_prefix("desc: Trigger: ") {
            graph.trigger = rest.to_owned();
        } else if let Some(rest) = line.strip_prefix("events: ") {
            assert!(rest.starts_with("Ir "), "{}: {line}", file.display());
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let ir: u64 = line.split(' ').nth(1).and_then(|count| count.parse().ok()).expect("Ir");
            match calls.take() {
                Some(count) => {
                    let sum = graph.calls.entry((function.clone(), called.clone())).or_default();
                    *sum = (sum.0 + count, sum.1 + ir);
                }
                None => *graph.functions.entry(function.clone()).or_default() += ir,
            }
        }
    }
    graph
}

/// The programs of testdata/callgraph.
pub fn sources() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/callgraph");
    let entries = fs::read_dir(&directory).expect("testdata/callgraph");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all
}

/// Builds one of them as `program`.
pub fn build(source: &Path, directory: &Path) {
    let compiler = if source.extension().is_some_and(|kind| kind == "cc") { "g++" } else { "gcc" };
    // Entries of the linkage table are bound when they are first called.
    let words = ["-g", "-O2", "-march=x86-64", "-Wl,-z,lazy", "-o", "program"];
    let source = source.to_str().expect("text");
    let out = tool(compiler, directory, compiler, &[&words[..], &[source]].concat());
    assert!(out.status.success(), "{source}: {}", stderr(&out));
}

/// A program on its input.
struct Subject<'a> {
    /// The directory in which it runs.
    input: &'a Path,
    command: &'a [String],
    /// Variables besides the fixed ones.
    env: &'a [(&'a str, &'a str)],
    /// The directory for what comes out.
    directory: &'a Path,
    model: &'static Model,
}

fn environment(own: &[(&str, &str)]) -> Vec<String> {
    let all = ENVIRONMENT.iter().chain(&[("GLIBC_TUNABLES", TUNABLES)]).chain(own);
    let mut all: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
    all.push(format!("VALGRIND_LIB={}", libraries().display()));
    all
}

/// The graphs of Callgrind's parts and of ours, the last part first.
fn both(subject: &Subject<'_>, options: &[&str]) -> [Vec<Graph>; 2] {
    run(subject, [options, options], "");
    parts(subject)
}

/// The graphs of the parts that both have written, the last part first.
fn parts(subject: &Subject<'_>) -> [Vec<Graph>; 2] {
    ["theirs", "ours"].map(|name| {
        let parts = (1..).map(|number| subject.directory.join(format!("{name}.{number}")));
        let all = [subject.directory.join(name)].into_iter().chain(parts.take_while(|part| part.exists()));
        all.map(|part| read(&part)).collect()
    })
}

/// Runs the program under Callgrind and under cgemu, which leave their files in the directory, with
/// this at the end of their names.
fn run(subject: &Subject<'_>, [their_options, options]: [&[&str]; 2], suffix: &str) {
    let &Subject { input, command, env, directory, model } = subject;
    let environment = environment(env);
    let file = |option: &str, name: &str| format!("--{option}={}", directory.join(name).display());
    let mut theirs = Command::new("taskset");
    theirs.args(["-c", "0", "env", "--default-signal", "-i"]).args(&environment).current_dir(input);
    theirs.args([valgrind(), "-q", "--log-file=/dev/null", "--tool=callgrind", "--cache-sim=yes"]);
    theirs.args(["--branch-sim=yes", "--compress-strings=no", "--compress-pos=no"]);
    theirs.args(model.valgrind).args(DEFAULT.options()).args(their_options);
    theirs.arg(file("callgrind-out-file", &format!("theirs{suffix}"))).args(command);
    let expected = finish(theirs, "Valgrind", directory).unwrap_or_else(|why| panic!("{why}"));
    let user = as_this_user();
    let mut ours = cgemu(input, &["run", "-q", &user, "--layout=valgrind", "--branch-sim=yes"]);
    ours.args(DEFAULT.options()).args(model.cgemu).args(options).arg("--callgraph=yes");
    ours.args([
        file("callgrind-out-file", &format!("ours{suffix}")),
        file("cachegrind-out-file", &format!("profile{suffix}")),
    ]);
    ours.args(environment.iter().map(|variable| format!("--env={variable}")));
    ours.arg(format!("--env=LD_PRELOAD={}", libraries().join(PRELOADED).display()));
    ours.arg("--").args(command);
    let printed = finish(ours, "cgemu", directory).unwrap_or_else(|why| panic!("{why}"));
    assert!(printed == expected, "{command:?} prints something else");
}

/// What one of them has and not the other, a line each.
fn difference(source: &Path, theirs: &Graph, ours: &Graph) -> String {
    let mut text = String::new();
    let only = ONLY.iter().find(|(file, _)| source.ends_with(file)).map(|(_, callers)| *callers);
    let is_compared = |caller: &str| only.is_none_or(|only| only.contains(&caller));
    let names: std::collections::BTreeSet<_> = theirs.functions.keys().chain(ours.functions.keys()).collect();
    for name in names {
        let [a, b] = [theirs, ours].map(|graph| graph.functions.get(name).copied().unwrap_or_default());
        // A signal's restorer has no name, and nothing comes after its only block.
        let last = LAST.iter().any(|last| name.split('\'').next() == Some(last)) && a < b
            || name.starts_with("0x") && a == 0;
        if a != b && !last && only.is_none() {
            text += &format!("  {name}: {a}, and ours {b}\n");
        }
    }
    let pairs: std::collections::BTreeSet<_> = theirs.calls.keys().chain(ours.calls.keys()).collect();
    for pair in pairs {
        let [a, b] = [theirs, ours].map(|graph| graph.calls.get(pair).copied().unwrap_or_default());
        if a != b && is_compared(&pair.0) {
            text += &format!("  {} -> {}: {a:?}, and ours {b:?}\n", pair.0, pair.1);
        }
    }
    let jumps: std::collections::BTreeSet<_> = theirs.jumps.keys().chain(ours.jumps.keys()).collect();
    for jump in jumps {
        let [a, b] = [theirs, ours].map(|graph| graph.jumps.get(jump).copied().unwrap_or_default());
        if a != b && is_compared(&jump.0) {
            text += &format!("  {} {}: {a}, and ours {b}\n", jump.0, jump.1);
        }
    }
    text
}

fn compare(options: &[&str]) {
    compare_some(sources(), options, 20);
}

/// Compares the graphs of some programs, which have more than `least` pairs.
fn compare_some(sources: Vec<PathBuf>, options: &[&str], least: usize) {
    compare_parts(sources, &ARCH, options, least, Some(0));
}

/// Builds each program and fails if `find` finds a difference between what Callgrind and cgemu make
/// of one.
fn compare_each(
    sources: Vec<PathBuf>,
    model: &'static Model,
    find: impl Fn(&Path, &Subject<'_>) -> String + Sync,
) {
    if let Err(why) = check_host() {
        return not_compared(&format!("{why}: Valgrind starts programs otherwise there"));
    }
    none_differ(parallel(sources, |source| {
        let dir = tempfile::tempdir().expect("a directory");
        build(&source, dir.path());
        let command = ["./program".to_owned()];
        let subject =
            Subject { input: dir.path(), command: &command, env: &[], directory: dir.path(), model };
        (source.display().to_string(), find(&source, &subject))
    }));
}

/// Fails if one of the programs has a difference.
fn none_differ<N: std::fmt::Display>(results: Vec<(N, String)>) {
    let differ = results.into_iter().filter(|(_, difference)| !difference.is_empty());
    let failures: String = differ.map(|(name, difference)| format!("{name}:\n{difference}")).collect();
    assert!(failures.is_empty(), "\n{failures}");
}

/// Compares all parts, which are as many as `dumps` says and one more.
fn compare_parts(
    sources: Vec<PathBuf>,
    model: &'static Model,
    options: &[&str],
    least: usize,
    dumps: Option<usize>,
) {
    compare_each(sources, model, |source, subject| {
        let [theirs, ours] = both(subject, options);
        let pairs: usize = theirs.iter().map(|part| part.calls.len()).sum();
        assert!(pairs > least, "{}: few calls", source.display());
        let triggers =
            [&theirs, &ours].map(|parts| parts.iter().map(|part| &part.trigger).collect::<Vec<_>>());
        assert_eq!(triggers[0], triggers[1], "{}: parts", source.display());
        assert!(dumps.is_none_or(|dumps| theirs.len() == dumps + 1), "{}: {triggers:?}", source.display());
        theirs.iter().zip(&ours).map(|(theirs, ours)| difference(source, theirs, ours)).collect()
    });
}

#[test]
fn calls_and_their_costs_are_callgrinds() {
    compare(&[]);
}

#[test]
fn calls_of_whole_programs_are_callgrinds() {
    if let Err(why) = check_host() {
        return not_compared(&format!("{why}: Valgrind starts programs otherwise there"));
    }
    let input = tempfile::tempdir().expect("a directory");
    set_up(input.path());
    // The others print where memory is, and Callgrind itself takes more of it than Cachegrind does.
    let programs: Vec<_> = chosen().into_iter().filter(|p| !p.name.starts_with("addresses")).collect();
    assert!(!programs.is_empty(), "no program has that in its name");
    let rows = programs.into_iter().flat_map(|program| [(program, &UNMODIFIED), (program, &VALGRIND)]);
    let results = parallel(rows.collect(), |(program, model)| {
        let dir = tempfile::tempdir().expect("a directory");
        let command = program.words();
        let subject = Subject {
            input: input.path(),
            command: &command,
            env: program.env,
            directory: dir.path(),
            model,
        };
        let [theirs, ours] = both(&subject, &[]);
        assert_eq!([theirs.len(), ours.len()], [1, 1], "{}: parts", program.name);
        assert!(theirs[0].calls.len() > 20, "{}: few calls", program.name);
        let name = format!("{} by {}", program.name, model.name);
        (name, difference(Path::new(""), &theirs[0], &ours[0]))
    });
    none_differ(results);
}

/// As Callgrind counts without options, in both count models.
#[test]
fn calls_and_their_costs_are_those_of_unmodified_callgrind() {
    compare_parts(sources(), &UNMODIFIED, &[], 20, Some(0));
    compare_parts(sources(), &VALGRIND, &[], 20, Some(0));
}

#[test]
fn calls_through_the_linkage_table_are_callgrinds() {
    compare(&["--skip-plt=no"]);
}

/// Chains of callers that are shorter and longer than the stack, with levels of recursion.
#[test]
fn callers_are_told_apart_as_by_callgrind() {
    compare(&["--separate-callers=1"]);
    compare(&["--separate-callers=3", "--separate-recs=3"]);
}

/// Functions with numbers of their own, besides those of all.
#[test]
fn some_functions_are_told_apart_as_by_callgrind() {
    compare(&["--separate-callers2=h", "--separate-callers1=step*", "--separate-recs4=rec*"]);
    compare(&["--separate-callers=1", "--separate-callers3=h", "--separate-recs1=rec", "--separate-recs=3"]);
}

#[test]
fn jumps_are_callgrinds() {
    compare(&["--collect-jumps=yes"]);
}

/// Functions that switch collection: within each other, in recursion, with all else collected.
#[test]
fn collection_is_switched_as_by_callgrind() {
    let source = || sources().into_iter().filter(|source| source.ends_with("collect.c")).collect();
    for options in [
        &["--toggle-collect=f"][..],
        &["--toggle-collect=re?*"],
        &["--toggle-collect=f", "--toggle-collect=h"],
        &["--toggle-collect=main", "--toggle-collect=g"],
        &["--toggle-collect=g", "--collect-atstart=yes"],
    ] {
        compare_some(source(), options, 3);
    }
    compare_some(sources(), &["--toggle-collect=main"], 3);
}

/// Functions that switch collection and are left by longjmp, by an exception, by a switch of stacks
/// and by tail calls, or interrupted by handlers, which they do not switch it for.
#[test]
fn collection_is_switched_back_as_by_callgrind() {
    let all = ["nested", "down*", "handler", "within*", "order", "walk", "run", "own", "ping", "try_it"];
    let options = all.map(|name| format!("--toggle-collect={name}"));
    let programs =
        ["deepjump.c", "unwinding.cc", "interrupts.c", "coroutines.c", "generators.c", "tail.c", "jump.c"];
    let is_one = |source: &PathBuf| programs.iter().any(|program| source.ends_with(program));
    let sources = sources().into_iter().filter(is_one).collect();
    compare_some(sources, &options.each_ref().map(String::as_str), 3);
}

/// Functions that end parts: within each other, in recursion, several at a time; and those that set
/// costs to zero.
#[test]
fn parts_are_callgrinds() {
    let source = || sources().into_iter().filter(|source| source.ends_with("collect.c")).collect();
    for (options, dumps) in [
        (&["--dump-before=g"][..], 3),
        (&["--dump-after=g"], 3),
        (&["--dump-before=re?", "--dump-after=rec"], 4),
        (&["--dump-after=f", "--dump-after=other", "--dump-before=rec", "--zero-before=h"], 5),
        (&["--zero-before=g"], 0),
        (&["--dump-before=f", "--zero-before=f", "--toggle-collect=other"], 2),
    ] {
        compare_parts(source(), &ARCH, options, 3, Some(dumps));
    }
    compare_parts(sources(), &ARCH, &["--dump-before=main", "--dump-after=main"], 20, None);
    // With entries of the linkage table skipped, Callgrind keeps what they have cost until then.
    compare_parts(sources(), &ARCH, &["--zero-before=main", "--skip-plt=no"], 3, Some(0));
}

/// Requests of callgrind.h: within each other, in recursion, beside functions that do the same.
#[test]
fn requests_are_callgrinds() {
    let source = || vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/callgrind/requests.c")];
    compare_parts(source(), &ARCH, &[], 5, Some(8));
    compare_parts(source(), &ARCH, &["--toggle-collect=main", "--dump-before=rec"], 5, Some(11));
}

/// Parts before, around and after instrumentation is switched off and on. Callgrind forgets the
/// block that switches it off, and in the last part the beginning of main.
#[test]
fn parts_around_instrumentation_are_callgrinds() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/callgrind/switches.c");
    compare_each(vec![source], &ARCH, |source, subject| {
        let [mut theirs, mut ours] = both(subject, &[]);
        assert_eq!([theirs.len(), ours.len()], [4, 4], "{}: parts", source.display());
        theirs.remove(0);
        ours.remove(0);
        assert!(theirs.iter().map(|part| part.calls.len()).sum::<usize>() > 250, "few calls");
        for (theirs, ours) in theirs.iter_mut().zip(&mut ours) {
            let [a, b] = [theirs, ours].map(|part| part.functions.remove("main").unwrap_or_default());
            assert!(a <= b && b <= a + 20, "main: {a}, and ours {b}");
        }
        theirs.iter().zip(&ours).map(|(theirs, ours)| difference(source, theirs, ours)).collect()
    });
}

/// With `--count-from=main` functions cost what they cost after Callgrind has set all costs to zero
/// at the beginning of main, and so do calls but for those that had begun then.
#[test]
fn counts_begin_where_callgrind_begins_anew() {
    compare_each(sources(), &ARCH, |source, subject| {
        // Skipped entries of the linkage table keep in Callgrind what they have cost until then.
        let [from, options] = ["--zero-before=main", "--count-from=main"].map(|from| [from, "--skip-plt=no"]);
        run(subject, [&from, &options], "");
        let [mut theirs, mut ours] = parts(subject);
        assert_eq!([theirs.len(), ours.len()], [1, 1], "{}: parts", source.display());
        theirs.iter_mut().chain(&mut ours).for_each(Graph::forget_starts);
        assert!(theirs[0].calls.len() > 3, "{}: few calls", source.display());
        difference(source, &theirs[0], &ours[0])
    });
}

/// The numbers at the end of a file's name: of the process that was started first, of another one,
/// and of a part.
fn numbers(file: &str) -> (u32, u32) {
    let numbers: Vec<u32> = file.split('.').skip(1).map(|number| number.parse().expect("a number")).collect();
    match numbers[..] {
        // cgemu gives processes numbers from 1000 on, and parts smaller ones.
        [_, process, part] => (process, part),
        [_, process] if process >= 1000 => (process, 0),
        [process, part] => (if file.starts_with("theirs") { process } else { 0 }, part),
        [process] => (if file.starts_with("theirs") { process } else { 0 }, 0),
        _ => panic!("{file}: no numbers"),
    }
}

/// Functions of `forks.c` itself.
const OWN: [&str; 3] = ["main", "f", "g"];

/// Parts of a process, and of its child, which executes a program that has parts too; and counts of
/// both from main on.
#[test]
fn parts_of_children_are_callgrinds() {
    if let Err(why) = check_host() {
        return not_compared(&format!("{why}: Valgrind starts programs otherwise there"));
    }
    let dir = tempfile::tempdir().expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/callgrind/forks.c");
    build(&source, dir.path());
    for (their_options, options, written) in [
        (&["--dump-before=f"][..], &["--dump-before=f"][..], 6),
        (&["--dump-after=f", "--zero-before=g"], &["--dump-after=f", "--zero-before=g"], 6),
        (&["--zero-before=main"], &["--count-from=main"], 2),
    ] {
        let out = tempfile::tempdir().expect("a directory");
        let command = ["./program".to_owned()];
        let subject =
            Subject { input: dir.path(), command: &command, env: &[], directory: out.path(), model: &ARCH };
        let all = [their_options, options].map(|options| [options, &["--trace-children=yes"]].concat());
        run(&subject, [&all[0], &all[1]], ".%p");
        let [theirs, ours] = ["theirs.", "ours."].map(|name| {
            let names = names(out.path()).into_iter().filter(|file| file.starts_with(name));
            let mut all: BTreeMap<(u32, u32), Graph> =
                names.map(|file| (numbers(&file), read(&out.path().join(file)))).collect();
            // The dynamic linker of the second program compares a name in 14 instructions less.
            let first = all.keys().next().expect("a process").0;
            for graph in all.iter_mut().filter(|((process, _), _)| *process != first).map(|(_, graph)| graph)
            {
                graph.functions.retain(|name, _| OWN.contains(&name.as_str()));
                graph.calls.retain(|(caller, _), _| OWN.contains(&caller.as_str()));
            }
            let others = all.iter().filter(|((process, _), _)| *process != first);
            assert!(others.map(|(_, graph)| graph.calls.len()).sum::<usize>() >= 2, "{name}: few calls");
            if options.contains(&"--count-from=main") {
                all.values_mut().for_each(Graph::forget_starts);
            }
            all.into_values().collect::<Vec<_>>()
        });
        let triggers =
            [&theirs, &ours].map(|parts| parts.iter().map(|part| &part.trigger).collect::<Vec<_>>());
        assert_eq!(triggers[0], triggers[1], "{options:?}");
        assert_eq!(theirs.len(), written, "{options:?}: {triggers:?}");
        let parts = theirs.iter().zip(&ours);
        let text: String = parts.map(|(theirs, ours)| difference(&source, theirs, ours)).collect();
        assert!(text.is_empty(), "{options:?}:\n{text}");
    }
}
