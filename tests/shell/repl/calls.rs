//! Calls at the prompt: who calls what, whatever the run has gone through, and the files.

use std::fs;
use std::path::Path;

use super::bed::{built, script_with};
use crate::common::{cgemu, stderr, stdout, tool};

/// `leaf` is called by all others; `rec` calls itself.
const SOURCE: &str = "#define APART __attribute__((noinline, noclone))
volatile long sum;
APART void leaf(int n) { for (int i = 0; i < n; i++) sum += i; }
APART void rec(int n) { if (n) rec(n - 1); leaf(3); }
APART void work(int n) { leaf(n); rec(n % 7); }
int main(void)
{
    for (int i = 0; i < 50; i++) work(i);
    return 0;
}
";

/// Calls of `rec` by itself.
const AGAIN: u32 = 147;

const OPTIONS: [&str; 3] = ["--callgraph=yes", "--branch-sim=yes", "--callgrind-out-file=graph"];

fn bed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("prog.c"), SOURCE).expect("written");
    fs::write(dir.path().join("input"), "").expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-g", "-O1", "-o", "prog", "prog.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    assert_eq!(AGAIN, (0..50).map(|n| n % 7).sum::<u32>());
    dir
}

/// Runs commands; what they print.
fn said(directory: &Path, commands: &str) -> String {
    let said = script_with(directory, &OPTIONS, commands, &[]);
    assert_eq!(said.status, 0, "{commands}\n{}\n{}", said.out, said.err);
    said.out
}

/// Names at the end of the rows of tables, with the counts of instructions before them.
fn rows(text: &str) -> Vec<(String, u64)> {
    let row = |line: &str| {
        let (count, rest) = line.trim().split_once(' ')?;
        let name = rest.rsplit_once("  ")?.1;
        Some((name.to_owned(), count.replace(',', "").parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

fn sorted(names: impl Iterator<Item = impl ToString>) -> Vec<String> {
    let mut names: Vec<String> = names.map(|name| name.to_string()).collect();
    names.sort();
    names
}

/// The profile and the call graph of an undisturbed run.
fn undisturbed(directory: &Path) -> [String; 2] {
    let words = [&["run", "-q", "--cachegrind-out-file=out"][..], &OPTIONS, &["./prog"]].concat();
    let out = cgemu(directory, &words).output().expect("cgemu starts");
    assert!(out.status.success(), "{}", stderr(&out));
    files(directory)
}

fn files(directory: &Path) -> [String; 2] {
    ["out", "graph"].map(|name| fs::read_to_string(directory.join(name)).expect(name))
}

#[test]
fn callers_and_callees() {
    let dir = bed();
    let text = said(dir.path(), "run\ncallers leaf\ncallees work\ncallers rec\n");
    let names: Vec<String> = rows(&text).into_iter().map(|(name, _)| name).collect();
    let again = format!("rec'2 ({AGAIN}x)");
    let recursive = format!("rec ({}x) to rec'2", (0..50).filter(|n| n % 7 > 0).count());
    let deeper = format!("rec'2 ({}x) to rec'2", (0..50).map(|n: i32| (n % 7 - 1).max(0)).sum::<i32>());
    let expected = [
        &["work (50x)", &again, "rec (50x)"][..],
        &["rec (50x)", "leaf (50x)"],
        &["work (50x)", &recursive, &deeper],
    ];
    let tables: Vec<Vec<String>> =
        names.split(|name| name == "everything").map(|names| sorted(names.iter())).collect();
    assert_eq!(tables[..3], expected.map(|names| sorted(names.iter())), "{text}");
    // The costs are those that a reader of the file finds.
    let words = ["annotate", "--inclusive", "--tree=caller", "--threshold=0", "--no-annotate", "graph"];
    let read = cgemu(dir.path(), &words).output().expect("cgemu starts");
    let read = stdout(&read);
    for (name, count) in rows(&text).into_iter().filter(|(name, _)| name != "everything").take(3) {
        let name = name.split_once(' ').expect("a number of calls");
        let is_row =
            |line: &&str| line.contains(" < ") && line.contains(&format!("prog.c:{} {}", name.0, name.1));
        let line = read.lines().find(is_row).expect("a caller");
        let first = line.split_whitespace().next().expect("a count").replace(',', "");
        assert_eq!(first.parse(), Ok(count), "{line}");
    }
}

/// What a function costs with those it calls is what is counted from its entry to its end.
#[test]
fn inclusive_costs_are_those_of_the_way() {
    let dir = bed();
    let text = said(
        dir.path(),
        "break work\nrun\nprint instructions\nfinish\nprint instructions\ntop 200 inclusive\n",
    );
    let [before, after] = ["$1 = ", "$2 = "].map(|mark| {
        let line = text.lines().find_map(|line| line.strip_prefix(mark)).expect("a number");
        line.replace(',', "").parse::<u64>().expect("a number")
    });
    let work = rows(&text).into_iter().find(|(name, _)| name == "work").expect("work is listed");
    assert_eq!(work.1, after - before, "{text}");
}

/// However the run goes back, is looked out in and is stopped, its files are those of a run that is
/// not; what `zero` forgets is not in them.
#[test]
fn files_are_those_of_an_undisturbed_run() {
    let dir = bed();
    let expected = undisturbed(dir.path());
    for commands in [
        "start\ncheckpoint a\nadvance 5000\nrestore a\n",
        "start\nadvance 1000\nreverse-step 20\nreverse-next 3\nstep 15\n",
        "break leaf\nrun\ncontinue 30\nreverse-finish\nfinish\nreverse-continue\ndelete\n",
        "start\ncatch miss D1mr\ncontinue\ncontinue\nreverse-continue\ndelete\ncatch miss Bcm\ncontinue 3\ndelete\n",
        "start\nwatch sum\ncontinue 40\nreverse-continue\ndelete\n",
        "run\nreverse-step 10\n",
    ] {
        for name in ["out", "graph"] {
            fs::remove_file(dir.path().join(name)).expect("removed");
        }
        said(dir.path(), &format!("{commands}continue\n"));
        assert!(files(dir.path()) == expected, "{commands}");
    }
    let text = said(dir.path(), "break work\nrun\ncontinue 20\nzero\ndelete\ncontinue\ncallers leaf\n");
    assert!(rows(&text).iter().any(|(name, _)| name == "work (30x)"), "{text}");
    let total = |text: &str| {
        let line =
            text.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
        line.and_then(|line| line.split(' ').next()).and_then(|count| count.parse::<u64>().ok())
    };
    let [profile, graph] = files(dir.path());
    assert_eq!(total(&profile), total(&graph));
}

/// What is looked out for is seen at the same moments, whether calls are followed or not: even
/// where only some of the accesses were recorded before.
#[test]
fn sights_are_where_they_are_without_calls() {
    let dir = bed();
    let misses = "start\ncatch miss Bcm\ncontinue\ncontinue 5\ndelete\ncatch miss D1mw\ncontinue\ndelete\n\
        catch miss I1mr\ncontinue 7\nprint instructions\n";
    let accesses = "start\nwatch sum\ncontinue 5\nprint instructions\ndelete\nwatch sum r\ncontinue 3\n\
        print instructions\n";
    for (options, commands) in [
        (&["--branch-sim=yes"][..], misses),
        (&["--branch-sim=yes"], accesses),
        (&["--cache-sim=no", "--branch-sim=no"], accesses),
    ] {
        let with = [options, &["--callgraph=yes", "--callgrind-out-file=graph"]].concat();
        let [with, without] = [&with, options].map(|options| script_with(dir.path(), options, commands, &[]));
        assert_eq!((with.status, without.status), (0, 0), "{commands}\n{}{}", with.err, without.err);
        assert_eq!(with.out, without.out);
        let seen = with.out.matches("(write) sum").count() + with.out.matches("(read) sum").count();
        assert!(commands == misses || seen >= 2, "{}", with.out);
    }
}

#[test]
fn files_of_dumps() {
    let dir = bed();
    let text = said(dir.path(), "break rec\nrun\ndump\ndump part\ndelete\ncontinue\n");
    for name in ["out.1", "out.1.callgrind", "part", "part.callgrind", "graph"] {
        assert!(text.contains(&format!("/{name}\n")), "{name}: {text}");
    }
    let file = |name: &str| fs::read_to_string(dir.path().join(name)).expect(name);
    assert_eq!(file("out.1.callgrind"), file("part.callgrind"));
    let sum = |text: String, mark: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(mark)).expect("sums").to_owned();
        line.split(' ').next().and_then(|count| count.parse::<u64>().ok()).expect("a number")
    };
    assert_eq!(sum(file("part.callgrind"), "totals: "), sum(file("part"), "summary: "));
    assert!(file("part.callgrind").contains("\ncfn=leaf\ncalls=1 "), "{}", file("part.callgrind"));
}

#[test]
fn what_has_no_calls_says_so() {
    let dir = built();
    for command in ["callers main", "callees", "top inclusive"] {
        let said = script_with(dir.path(), &[], &format!("start\n{command}\n"), &[]);
        assert!(said.status == 1 && said.err.contains("--callgraph=yes"), "{command}: {}", said.err);
    }
    let dir = bed();
    for (command, message) in [
        ("callers wrok", "nothing was counted in a function or file `wrok`; did you mean `work`?"),
        ("callers work by Foo", "no event `Foo`"),
        ("since m 3 inclusive", "a mark keeps the counts of lines"),
    ] {
        let said = script_with(dir.path(), &OPTIONS, &format!("run\nmark m\n{command}\n"), &[]);
        assert!(said.status == 1 && said.err.contains(message), "{command}: {}", said.err);
    }
}
