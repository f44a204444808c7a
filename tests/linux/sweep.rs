//! Every call with every value of each argument ends as on Linux: with an error, a number, a signal
//! or never. `testdata/sweep` has the program, whose tables say which calls and values these are;
//! each case runs in a process of its own, as a user without rights, in namespaces of its own.
//!
//! Releases of Linux differ in this. So it is always that of `RELEASE`: `testdata/sweep/linux.txt`
//! holds what it does, a line for each argument of each call. `BLESS=1` makes the record anew,
//! where that release runs and root can make namespaces; what depends on the machine is left out.

mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::common::{cgemu, golden, stderr, stdout, tool, vars};
use tables::{Place, Tables};

/// The release of Linux that the record is of.
const RELEASE: &str = "6.18";

/// Of so many cases `./test` runs one.
const SHORT: usize = 20;

/// Processes that run the cases on Linux; most of the time they wait.
const NATIVE_PARTS: usize = 16;

/// A result that is not compared.
const OPEN: &str = "?";

/// One call with the values of its arguments that are not good ones.
struct Case {
    /// The name of the call, and its label if there are several rows.
    call: String,
    /// The number of the argument, two with a comma, or a hyphen for the call with good arguments.
    argument: String,
    /// The value, or two.
    value: String,
}

impl Case {
    /// Each argument with its value.
    fn varied(&self) -> impl Iterator<Item = (&str, &str)> {
        self.argument.split(',').zip(self.value.split(", "))
    }

    /// Tells if places have this case, or one of the two values of a pair.
    fn is_in(&self, places: &[Place]) -> bool {
        let has =
            |argument: &str, value: &str| places.iter().any(|place| place.has(&self.call, argument, value));
        has(&self.argument, &self.value) || self.varied().any(|(argument, value)| has(argument, value))
    }
}

fn build(directory: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/sweep");
    let source = folder.join("sweep.c").to_string_lossy().into_owned();
    let words = ["-std=gnu17", "-O1", "-Wall", "-Wno-nonnull", "-static", "-o", "sweep", &source];
    let built = tool("gcc", directory, "gcc", &words);
    assert!(built.status.success(), "gcc: {}", stderr(&built));
}

fn native(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::new("./sweep");
    command.args(words).current_dir(directory).stdin(Stdio::null()).output().expect("it runs")
}

fn cases(directory: &Path) -> Vec<Case> {
    let listed = native(directory, &["list"]);
    assert!(listed.status.success(), "{}", stderr(&listed));
    let case = |line: &str| {
        let mut words = line.split('\t').map(str::to_owned);
        let mut next = || words.next().expect("three words");
        Case { call: next(), argument: next(), value: next() }
    };
    stdout(&listed).lines().map(case).collect()
}

/// Runs the cases FIRST, FIRST + STEP... of the calls with a part in their names, in so many
/// processes; the results by the cases' numbers.
fn results(
    parts: usize,
    every: usize,
    part: &str,
    run: impl Fn(&[&str]) -> Output + Sync,
) -> BTreeMap<usize, String> {
    let outputs = thread::scope(|scope| {
        let start = |number: usize| {
            let (first, step) = ((number * every).to_string(), (parts * every).to_string());
            let run = &run;
            scope.spawn(move || run(&["run", &first, &step, part]))
        };
        let threads: Vec<_> = (0..parts).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect::<Vec<_>>()
    });
    let mut found = BTreeMap::new();
    for output in outputs {
        assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
        for line in stdout(&output).lines() {
            let (number, result) = line.split_once(' ').expect("a number and a result");
            found.insert(number.parse().expect("a number"), result.to_owned());
        }
    }
    found
}

fn emulated(directory: &Path, every: usize, part: &str) -> BTreeMap<usize, String> {
    let parts = thread::available_parallelism().map_or(1, usize::from);
    results(parts, every, part, |words| {
        let mut all = vec!["run", "-q", "--user=0:0", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
        all.extend(["--", "./sweep"]);
        all.extend(words);
        cgemu(directory, &all).output().expect("cgemu starts")
    })
}

/// The lines of the record, whose results stand in the cases' order.
fn record(cases: &[Case], results: &BTreeMap<usize, String>, tables: &Tables) -> String {
    let mut text = format!("Linux {RELEASE}\n");
    let mut number = 0;
    for group in cases.chunk_by(|a, b| (&a.call, &a.argument) == (&b.call, &b.argument)) {
        let _ = write!(text, "{} {}", group[0].call, group[0].argument);
        let of_group: Vec<&str> = group
            .iter()
            .zip(number..)
            .map(|(case, number)| if case.is_in(&tables.left_out) { OPEN } else { &results[&number] })
            .collect();
        number += group.len();
        for same in of_group.chunk_by(|a, b| a == b) {
            let _ = write!(text, " {}", same[0]);
            if same.len() > 1 {
                let _ = write!(text, "*{}", same.len());
            }
        }
        text.push('\n');
    }
    text
}

/// The results that a record has for the cases.
fn recorded(text: &str, cases: &[Case]) -> Vec<String> {
    let again = "; make it anew with BLESS=1 on that release, as root";
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("Linux {RELEASE}").as_str()), "the record's first line{again}");
    let mut results = Vec::new();
    for group in cases.chunk_by(|a, b| (&a.call, &a.argument) == (&b.call, &b.argument)) {
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (call, argument) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        assert_eq!((call, argument), (&*group[0].call, &*group[0].argument), "the record's lines{again}");
        for word in words {
            let (result, times) = word.split_once('*').unwrap_or((word, "1"));
            let times = times.parse().expect("a number");
            results.extend(std::iter::repeat_n(result.to_owned(), times));
        }
    }
    assert_eq!(results.len(), cases.len(), "the record's results{again}");
    results
}

/// Runs all cases on Linux twice; those that end in two ways once more by themselves, since other
/// work of the machine may have delayed a process.
fn on_linux(directory: &Path, cases: &[Case]) -> BTreeMap<usize, String> {
    let run = |words: &[&str]| native(directory, words);
    let mut found = results(NATIVE_PARTS, 1, "", run);
    let again = results(NATIVE_PARTS, 1, "", run);
    let differing = found.iter().filter(|(number, result)| again.get(number) != Some(*result));
    let names: BTreeSet<&str> =
        differing.filter_map(|(number, _)| cases[*number].call.split('/').next()).collect();
    for name in names {
        found.extend(results(1, 1, name, run));
    }
    found
}

/// Says why the record cannot be made here.
fn lacks() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("/proc");
    if !release.starts_with(&format!("{RELEASE}.")) {
        return Some(format!("it is of Linux {RELEASE}, and this is {}", release.trim_end()));
    }
    let tried = Command::new("unshare")
        .args(["--pid", "--mount", "--net", "--ipc", "--uts", "--fork", "true"])
        .output();
    let works = tried.is_ok_and(|output| output.status.success());
    (!works || !rustix::process::geteuid().is_root()).then(|| "only root can make its namespaces".to_owned())
}

/// Differences of a run, as lines, that no table has; and what tables have and does not differ.
fn judge(
    cases: &[Case],
    expected: &[String],
    got: &BTreeMap<usize, String>,
    different: &[Place],
) -> (Vec<String>, Vec<String>) {
    let (mut differing, mut stale) = (Vec::new(), Vec::new());
    for (number, result) in got {
        let (case, linux) = (&cases[*number], &expected[*number]);
        if linux == OPEN {
            continue;
        }
        let known = case.is_in(different);
        let text = format!("{} {} {}: Linux {linux}, cgemu {result}", case.call, case.argument, case.value);
        if linux != result && !known {
            differing.push(text);
        } else if linux == result && known && !case.argument.contains(',') {
            stale.push(text);
        }
    }
    (differing, stale)
}

fn record_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/sweep/linux.txt")
}

#[test]
fn every_value_of_every_argument_as_on_linux() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    build(directory);
    let (cases, tables) = (cases(directory), tables::read());
    let part = std::env::var(vars::SWEEP).unwrap_or_default();
    let all = std::env::var_os(vars::TEST_ALL).is_some();
    if std::env::var_os(vars::BLESS).is_some() {
        let why = lacks();
        assert!(why.is_none(), "the record cannot be made: {why:?}");
        let found = on_linux(directory, &cases);
        let made = golden::compare(&record_file(), record(&cases, &found, &tables).as_bytes());
        assert!(made.is_ok(), "{made:?}");
    }
    let expected = recorded(&fs::read_to_string(record_file()).expect("the record"), &cases);
    let every = if all || !part.is_empty() { 1 } else { SHORT };
    let got = emulated(directory, every, &part);
    println!("{} of {} cases ran", got.len(), cases.len());
    assert!(!got.is_empty(), "no call has {part:?} in its name");
    let (differing, stale) = judge(&cases, &expected, &got, &tables.different);
    assert!(
        differing.is_empty(),
        "{} of {} cases differ:\n{}",
        differing.len(),
        got.len(),
        differing.join("\n")
    );
    assert!(
        stale.is_empty(),
        "these differ no more; take them out of testdata/sweep/tables.txt:\n{}",
        stale.join("\n")
    );
}

#[test]
fn tables_name_cases_that_are_there() {
    let directory = tempfile::tempdir().expect("a directory");
    build(directory.path());
    let cases = cases(directory.path());
    let single = || cases.iter().filter(|case| !case.argument.contains(','));
    let unique: BTreeSet<(&str, &str, &str)> =
        single().map(|case| (&*case.call, &*case.argument, &*case.value)).collect();
    assert_eq!(unique.len(), single().count(), "two values of an argument have the same name");
    let tables = tables::read();
    for place in tables.different.iter().chain(&tables.left_out).flat_map(Place::singly) {
        let named = cases.iter().any(|case| case.is_in(std::slice::from_ref(&place)));
        assert!(named, "no case: {place}");
    }
}

#[test]
fn every_served_call_is_swept() {
    let directory = tempfile::tempdir().expect("a directory");
    build(directory.path());
    let swept: BTreeSet<String> = cases(directory.path())
        .iter()
        .filter_map(|case| case.call.split('/').next().map(str::to_owned))
        .collect();
    let served = crate::guest::listed().0;
    let absent: BTreeSet<String> = tables::read().not_called.into_iter().collect();
    let missing: Vec<&String> =
        served.iter().filter(|call| !swept.contains(*call) && !absent.contains(*call)).collect();
    assert!(missing.is_empty(), "testdata/sweep/calls.h has no row for {missing:?}");
    let both: Vec<&String> = absent.intersection(&swept).collect();
    assert!(both.is_empty(), "called, and said not to be: {both:?}");
}
