//! `cgemu annotate` beside `callgrind_annotate` of the installed Valgrind, on files that Callgrind
//! writes here: totals and the costs of every function, own and inclusive.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{cgemu, output, stderr, stdout, tool};

/// Costs by `file:function`, and in all.
#[derive(Debug, PartialEq, Eq)]
struct Figures {
    total: Vec<i64>,
    functions: BTreeMap<String, Vec<i64>>,
}

/// Builds the program in a new directory.
pub(crate) fn program() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/callgrind");
    for name in ["calls.c", "square.h"] {
        fs::copy(folder.join(name), dir.path().join(name)).expect("a copy");
    }
    let words = ["-g", "-O1", "-fno-optimize-sibling-calls", "-pthread", "-o", "calls", "calls.c"];
    let out = tool("gcc", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

/// Runs it under Callgrind; returns the files that come out, in the order of their names.
fn callgrind(dir: &Path, options: &[&str]) -> Vec<PathBuf> {
    for old in crate::common::names(dir).iter().filter(|name| name.starts_with("cg.")) {
        fs::remove_file(dir.join(old)).expect("removed");
    }
    let words = [&["--tool=callgrind", "--callgrind-out-file=cg.out"], options, &["./calls"]].concat();
    let out = tool("valgrind", dir, "valgrind", &words);
    assert!(out.status.success(), "{words:?}: {}", stderr(&out));
    let mut files: Vec<PathBuf> = crate::common::names(dir)
        .iter()
        .filter(|name| name.starts_with("cg."))
        .map(|name| dir.join(name))
        .collect();
    // Of separate threads, the file without a number is empty.
    files.retain(|file| fs::metadata(file).expect("a file").len() > 0);
    assert!(!files.is_empty(), "{options:?}");
    files
}

/// The numbers that a line begins with, and the rest of it.
fn numbers(line: &str, count: usize) -> Option<(Vec<i64>, &str)> {
    let mut rest = line.trim_start();
    let mut found = Vec::new();
    for _ in 0..count {
        let (word, after) = rest.split_once(' ')?;
        found.push(if word == "." { 0 } else { word.replace(',', "").parse().ok()? });
        rest = after.trim_start();
    }
    Some((found, rest))
}

/// What `callgrind_annotate` says of one file. It takes the current directory off only some names;
/// so not there.
fn theirs(file: &Path, events: usize, inclusive: bool) -> Figures {
    let inclusive = format!("--inclusive={}", if inclusive { "yes" } else { "no" });
    let words = ["--threshold=100", "--auto=no", "--show-percs=no", &inclusive, file.to_str().expect("text")];
    let out = tool("valgrind", Path::new("/"), "callgrind_annotate", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    let mut figures = Figures { total: Vec::new(), functions: BTreeMap::new() };
    for line in stdout(&out).lines() {
        let Some((costs, name)) = numbers(line, events) else { continue };
        if name.starts_with("PROGRAM TOTALS") {
            figures.total = costs;
        } else {
            let name = name.rsplit_once(" [").map_or(name, |(name, _)| name);
            assert!(figures.functions.insert(name.to_owned(), costs).is_none(), "{name} twice");
        }
    }
    without_zeros(figures)
}

fn without_zeros(mut figures: Figures) -> Figures {
    figures.functions.retain(|_, costs| costs.iter().any(|cost| *cost != 0));
    figures
}

/// What we say of some files.
fn ours(files: &[PathBuf], events: usize, inclusive: bool) -> Figures {
    let mut words = vec!["annotate", "--threshold=0", "--no-annotate", "--show-percs=no"];
    words.extend(inclusive.then_some("--inclusive"));
    words.extend(files.iter().map(|file| file.to_str().expect("text")));
    let out = output(Path::new("/"), &words);
    assert!(out.status.success(), "{}", stderr(&out));
    let text = stdout(&out);
    let mut figures = Figures { total: Vec::new(), functions: BTreeMap::new() };
    let section = if inclusive { "-- Function summary, inclusive" } else { "-- File:function summary" };
    let (before, list) = text.split_once(section).expect("a list");
    let totals = before.lines().find(|line| line.ends_with("PROGRAM TOTALS")).expect("totals");
    figures.total = numbers(totals, events).expect("numbers").0;
    let mut file = String::new();
    for line in list.split("\n-- ").next().unwrap_or_default().lines() {
        let (outer, line) = line.strip_prefix("< ").map_or((false, line), |line| (true, line));
        let Some((costs, name)) = numbers(line, events) else { continue };
        if outer && name.ends_with(':') {
            file = name.to_owned();
            continue;
        }
        let name = if outer || inclusive { name.to_owned() } else { format!("{file}{name}") };
        assert!(figures.functions.insert(name.clone(), costs).is_none(), "{name} twice");
    }
    without_zeros(figures)
}

fn same(ours: &Figures, theirs: &Figures, what: &str) {
    assert_eq!(ours.total, theirs.total, "{what}: totals");
    for name in ours.functions.keys().chain(theirs.functions.keys()) {
        assert_eq!(ours.functions.get(name), theirs.functions.get(name), "{what}: {name}, ours first");
    }
    assert!(theirs.functions.len() > 20, "{what}: {}", theirs.functions.len());
}

#[test]
fn every_form_of_the_format() {
    let dir = program();
    for (options, events) in [
        (&[][..], 1),
        (&["--dump-instr=yes"], 1),
        (&["--dump-instr=yes", "--dump-line=no"], 1),
        (&["--compress-strings=no"], 1),
        (&["--compress-pos=no", "--dump-instr=yes"], 1),
        (&["--compress-strings=no", "--compress-pos=no"], 1),
        (&["--cache-sim=yes"], 9),
        (&["--branch-sim=yes"], 5),
        (&["--cache-sim=yes", "--branch-sim=yes", "--dump-instr=yes", "--collect-jumps=yes"], 13),
        (&["--collect-jumps=yes", "--collect-systime=no"], 1),
        (&["--toggle-collect=work"], 1),
        (&["--separate-recs=3", "--separate-callers=1"], 1),
        (&["--skip-plt=no", "--collect-bus=yes"], 2),
    ] {
        let files = callgrind(dir.path(), options);
        let [file] = files.as_slice() else { panic!("{options:?}: {files:?}") };
        for inclusive in [false, true] {
            let (ours, theirs) = (ours(&files, events, inclusive), theirs(file, events, inclusive));
            if options.contains(&"--toggle-collect=work") {
                assert_eq!(ours, theirs, "{options:?}");
            } else {
                same(&ours, &theirs, &format!("{options:?}, inclusive {inclusive}"));
            }
            same_trees(file, events, inclusive, options.is_empty());
        }
    }
}

/// The functions of a listing with callers and callees, in the order of the listing.
fn trees(text: &str, events: usize) -> Vec<Vec<(Vec<i64>, String)>> {
    let line = |line: &str| {
        let (costs, rest) = numbers(line, events)?;
        ["< ", "*  ", ">   "].iter().any(|mark| rest.starts_with(mark)).then(|| (costs, rest.to_owned()))
    };
    let blocks = text.split("\n\n").map(|block| block.lines().filter_map(line).collect::<Vec<_>>());
    blocks.filter(|block| !block.is_empty()).collect()
}

/// Compares callers and callees with those of `callgrind_annotate`, to the byte behind the counts.
/// Where costs are equal, its order is another one in each run.
fn same_trees(file: &Path, events: usize, inclusive: bool, every_kind: bool) {
    let name = file.to_str().expect("text");
    let theirs = format!("--inclusive={}", if inclusive { "yes" } else { "no" });
    let ours = if inclusive { &["--inclusive"][..] } else { &[] };
    let kinds = [("both", "<*>"), ("caller", "<*"), ("calling", "*>")];
    for (kind, marks) in kinds.into_iter().take(if every_kind { 3 } else { 1 }) {
        let tree = format!("--tree={kind}");
        let words = [&tree, "--threshold=100", "--auto=no", "--show-percs=no", &theirs, name];
        let out = tool("valgrind", Path::new("/"), "callgrind_annotate", &words);
        let mut theirs = trees(&stdout(&out), events);
        let words = ["annotate", &tree, "--threshold=0", "--no-annotate", "--show-percs=no"];
        let out = output(Path::new("/"), &[&words, ours, &[name]].concat());
        assert!(out.status.success(), "{}", stderr(&out));
        let mut ours = trees(&stdout(&out), events);
        let own = |block: &[(Vec<i64>, String)]| block.iter().position(|(_, name)| name.starts_with('*'));
        for block in &ours {
            let (callers, called) = block.split_at(own(block).expect("the function"));
            let called = called.get(1..).unwrap_or_default();
            let falls = |rows: &[(Vec<i64>, String)]| rows.is_sorted_by(|a, b| a.0 >= b.0);
            assert!(falls(callers) && falls(called), "{kind}: {block:?}");
        }
        let shown: String =
            "<*>".chars().filter(|mark| stdout(&out).contains(&format!(" {mark} "))).collect();
        assert_eq!(shown, marks);
        for trees in [&mut ours, &mut theirs] {
            trees.iter_mut().for_each(|block| block.sort());
            trees.sort();
        }
        assert!(ours == theirs, "{kind}, inclusive {inclusive}: {name}");
        assert!(ours.len() > 2, "{}", ours.len());
    }
}

/// Several files with calls are added up, or the first is taken away, with the numbers of calls.
#[test]
fn calls_of_two_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |name: &str, calls: u32, cost: u32| {
        let text = format!(
            "# callgrind format\nevents: Ir\nob=p\nfl=a.c\nfn=f\n1 5\ncfn=g\ncalls={calls} 9\n2 {cost}\nfn=g\n9 {cost}\n"
        );
        fs::write(dir.path().join(name), text).expect("written");
    };
    write("x", 3, 7);
    write("y", 1, 11);
    for (name, words) in [("sum", ["merge", "x", "y"]), ("difference", ["diff", "x", "y"])] {
        let out = output(dir.path(), &words);
        assert!(out.status.success() && out.stderr.is_empty(), "{words:?}: {}", stderr(&out));
        fs::write(dir.path().join(name), &out.stdout).expect("written");
    }
    for (words, f, g) in [
        (
            &["x", "y"][..],
            "28  *  a.c:f [p]\n  18  >   a.c:g (4x) [p]\n",
            "18  < a.c:f (4x) [p]\n  18  *  a.c:g [p]\n",
        ),
        (
            &["--diff", "x", "y"],
            " 4  *  a.c:f [p]\n   4  >   a.c:g (-2x) [p]\n",
            " 4  < a.c:f (-2x) [p]\n   4  *  a.c:g [p]\n",
        ),
        (
            &["sum"],
            "28  *  a.c:f [p]\n  18  >   a.c:g (4x) [p]\n",
            "18  < a.c:f (4x) [p]\n  18  *  a.c:g [p]\n",
        ),
        (
            &["difference"],
            " 4  *  a.c:f [p]\n   4  >   a.c:g (-2x) [p]\n",
            " 4  < a.c:f (-2x) [p]\n   4  *  a.c:g [p]\n",
        ),
    ] {
        let words =
            [&["annotate", "--tree=both", "--inclusive", "--no-annotate", "--show-percs=no"], words].concat();
        let out = output(dir.path(), &words);
        let text = stdout(&out);
        assert!(
            text.contains(&format!("\n\n  {f}")) && text.contains(&format!("\n\n  {g}")),
            "{text}{}",
            stderr(&out)
        );
    }
    let out = output(dir.path(), &["flame", "--folded", "sum"]);
    assert_eq!(stdout(&out), "f 10\nf;g 18\n", "{}", stderr(&out));
    // What became less has no width.
    let out = output(dir.path(), &["diff", "y", "x"]);
    fs::write(dir.path().join("less"), &out.stdout).expect("written");
    let out = output(dir.path(), &["flame", "less"]);
    assert!(stderr(&out).contains("less:16: a negative cost has no width"), "{}", stderr(&out));
    assert!(out.stdout.is_empty() && out.status.code() == Some(1));
    // A file of Cachegrind has none.
    fs::write(dir.path().join("cg"), "cmd: c\nevents: Ir\nfn=f\n1 2\nsummary: 2\n").expect("written");
    let out = output(dir.path(), &["annotate", "--tree=caller", "cg"]);
    assert!(
        stderr(&out).contains("cg: a Cachegrind file has no calls; give a Callgrind file"),
        "{}",
        stderr(&out)
    );
    assert_eq!(out.status.code(), Some(1));
}

/// Sums and differences by `merge` and `diff` are those of `annotate`, and `callgrind_annotate`
/// reads them: costs, callers and callees, and for a sum the numbers of calls.
#[test]
fn sums_of_files_with_calls() {
    let dir = program();
    let plain = ["--separate-threads=yes", "--cache-sim=yes"];
    for options in [&plain[..], &["--separate-threads=yes", "--cache-sim=yes", "--dump-instr=yes"]] {
        let files = callgrind(dir.path(), options);
        let [first, second, third] = &files[..] else { panic!("{files:?}") };
        let written = |words: &[&Path], command: &str| {
            let words: Vec<&str> = words.iter().map(|path| path.to_str().expect("text")).collect();
            let out = output(dir.path(), &[&[command], &words[..]].concat());
            assert!(out.status.success(), "{}", stderr(&out));
            let path = dir.path().join(command);
            fs::write(&path, &out.stdout).expect("written");
            // A difference has no lines, and then it complains of those it looks for in sources.
            let words = ["--auto=no", path.to_str().expect("text")];
            let read = tool("valgrind", Path::new("/"), "callgrind_annotate", &words);
            assert!(read.status.success() && read.stderr.is_empty(), "{command}: {}", stderr(&read));
            path
        };
        let sum = written(&[first, second, third], "merge");
        let difference = written(&[second, first], "diff");
        for inclusive in [false, true] {
            let what = format!("{options:?}, inclusive {inclusive}");
            let read = ours(std::slice::from_ref(&sum), 9, inclusive);
            same(&read, &theirs(&sum, 9, inclusive), &what);
            if !inclusive {
                same(&read, &ours(&files, 9, false), &what);
            }
            same_trees(&sum, 9, inclusive, false);
            let read = ours(std::slice::from_ref(&difference), 9, inclusive);
            same(&read, &theirs(&difference, 9, inclusive), &what);
            let both: Vec<i64> = (0..9)
                .map(|event| {
                    ours(std::slice::from_ref(first), 9, false).total[event]
                        - ours(std::slice::from_ref(second), 9, false).total[event]
                })
                .collect();
            assert_eq!(read.total, both, "{what}");
        }
    }
}

/// Callgrind writes a file for each thread; together they are the whole run.
#[test]
fn files_of_threads_are_summed() {
    let dir = program();
    let files = callgrind(dir.path(), &["--separate-threads=yes"]);
    assert_eq!(files.len(), 3, "{files:?}");
    for inclusive in [false, true] {
        let mut sum = Figures { total: vec![0], functions: BTreeMap::new() };
        for file in &files {
            let one = theirs(file, 1, inclusive);
            sum.total[0] += one.total[0];
            for (name, costs) in one.functions {
                sum.functions.entry(name).or_insert_with(|| vec![0])[0] += costs[0];
            }
        }
        same(&ours(&files, 1, inclusive), &sum, &format!("threads, inclusive {inclusive}"));
    }
}

/// `callgrind_annotate` reads only one part. Callgrind also writes them to a file each.
#[test]
fn parts_in_one_file_are_summed() {
    let dir = program();
    let parts = callgrind(dir.path(), &["--combine-dumps=yes", "--dump-before=work", "--dump-after=even"]);
    let [file] = parts.as_slice() else { panic!("{parts:?}") };
    let text = fs::read_to_string(file).expect("a file");
    assert!(text.matches("\npart: ").count() >= 3, "{}", text.matches("\npart: ").count());
    let sum: i64 = text
        .lines()
        .filter_map(|l| l.strip_prefix("totals: "))
        .map(|n| n.parse::<i64>().expect("a number"))
        .sum();
    let ours = ours(&parts, 1, false);
    assert_eq!(ours.total, [sum]);
    assert_eq!(ours.functions.values().map(|costs| costs[0]).sum::<i64>(), sum);
    // Each part's time is named.
    let out = stdout(&output(dir.path(), &["annotate", "cg.out"]));
    let times: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("desc: Timerange")).collect();
    for (number, time) in (1..=20).zip(&times) {
        assert!(out.contains(&format!("\nPart {number}: Timerange{time}\n")), "{number}: {out}");
    }
    assert!(out.contains(&format!("\nParts: {}, added up\n", times.len())), "{out}");
}

/// Costs of source lines: those of the file that is inlined from stay with it.
#[test]
fn sources_are_annotated() {
    let dir = program();
    callgrind(dir.path(), &[]);
    let out = output(dir.path(), &["annotate", "cg.out"]);
    let text = stdout(&out);
    assert!(out.status.success(), "{}", stderr(&out));
    let file = text
        .split("-- Annotated source file: ")
        .find(|part| part.lines().next().is_some_and(|name| name.ends_with("/square.h")))
        .expect("the header");
    let line = file.lines().find(|line| line.ends_with("    int y = x * x;")).expect("the line");
    // Once for each of 300 + 300 + 600 rounds, in a multiplication at least.
    let (costs, _) = numbers(line, 1).expect("a count");
    assert!(costs[0] >= 1200, "{line}");
    assert!(text.contains("\nCommand:          ./calls\n"), "{text}");
}

#[test]
fn derived_events_are_columns() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = "# callgrind format\nevent: Sum = Ir + 10 Bm : All of it\nevent: Bm : Mispredicted\nevents: Ir Bm\n\
                fl=a.c\nfn=f\n1 5 2\ncfn=g\ncalls=1 9\n2 7\nfn=g\n9 7\n";
    fs::write(dir.path().join("x"), text).expect("written");
    let out = output(dir.path(), &["annotate", "--show-percs=no", "--inclusive", "x"]);
    let text = stdout(&out);
    assert!(text.contains("\nEvent Sum = Ir + 10 Bm: All of it\nEvent Bm: Mispredicted\n"), "{text}");
    assert!(text.contains("\nEvents recorded:  Ir Bm Sum\n"), "{text}");
    assert!(text.contains("\n  12  2  32  a.c:f\n   7  0   7  a.c:g\n"), "{text}");
}

#[test]
fn bad_files_are_refused_in_a_line() {
    let dir = tempfile::tempdir().expect("a directory");
    for (text, words, message) in [
        ("events: Ir\nfn=(1)\n", &["annotate", "x"][..], "x:2: name (1) is used before it is defined"),
        ("version: 9\nevents: Ir\n", &["annotate", "x"], "x:1: Callgrind format version 9"),
        (
            "creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 2\n",
            &["annotate", "x"],
            "x:5: missing `totals:` line",
        ),
        (
            "cmd: c\nevents: Ir\nfn=f\n1 2\nsummary: 2\n",
            &["annotate", "--inclusive", "x"],
            "a Cachegrind file has no calls; give a Callgrind file",
        ),
    ] {
        fs::write(dir.path().join("x"), text).expect("written");
        let out = output(dir.path(), words);
        let error = stderr(&out);
        assert_eq!(out.status.code(), Some(1), "{text}: {error}");
        assert!(error.contains(message) && error.lines().count() == 1, "{text}: {error}");
        assert!(out.stdout.is_empty());
    }
}

/// What only reads Cachegrind's format says which command reads the other.
#[test]
fn classic_names_the_command_that_reads_the_format() {
    let dir = tempfile::tempdir().expect("a directory");
    for text in ["# callgrind format\nversion: 1\nevents: Ir\n", "version: 1\ncreator: x\nevents: Ir\n"] {
        fs::write(dir.path().join("cg"), text).expect("written");
        let out = output(dir.path(), &["annotate", "--classic", "cg"]);
        let message = stderr(&out);
        assert_eq!(out.status.code(), Some(25), "{message}");
        assert!(message.contains("cg:1: this is Callgrind's format; `cgemu annotate` "), "{message}");
        assert!(message.lines().count() == 1, "{message}");
    }
}

/// Files of either format may be pipes, which can be read once.
#[test]
fn files_that_are_pipes() {
    let dir = tempfile::tempdir().expect("a directory");
    let calls = "# callgrind format\nevents: Ir\nfn=f\n1 2\n";
    for text in [calls, "cmd: c\nevents: Ir\nfl=a\nfn=f\n1 2\nsummary: 2\n"] {
        fs::write(dir.path().join("file"), text).expect("written");
        for (command, expected) in [("merge", "4\n"), ("diff", "0\n")] {
            let piped = |words: &[&str]| {
                let mut cat = Command::new("cat");
                let mut cat = cat.arg(dir.path().join("file")).stdout(Stdio::piped()).spawn().expect("cat");
                let pipe = cat.stdout.take().expect("a pipe");
                let out = cgemu(dir.path(), words).stdin(pipe).output().expect("cgemu starts");
                cat.wait().expect("cat ends");
                assert!(out.status.success() && out.stderr.is_empty(), "{words:?}: {}", stderr(&out));
                assert!(stdout(&out).ends_with(expected), "{words:?}: {}", stdout(&out));
            };
            piped(&[command, "/dev/stdin", "file"]);
            piped(&[command, "file", "/dev/stdin"]);
        }
    }
}

/// Files of both formats, or with other events, are neither added nor compared.
#[test]
fn files_that_do_not_fit() {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in [
        ("calls", "# callgrind format\nevents: Ir\nfn=f\n1 2\n"),
        ("other", "# callgrind format\nevents: Ir Dr\nfn=f\n1 2\n"),
        ("formula", "# callgrind format\nevent: T = 2 Ir\nevents: Ir\nfn=f\n1 2\n"),
        ("much", "# callgrind format\nevents: Ir\nfn=f\n1 9223372036854775807\n"),
        ("plain", "cmd: c\nevents: Ir\nfn=f\n1 2\nsummary: 2\n"),
    ] {
        fs::write(dir.path().join(name), text).expect("written");
    }
    for (words, status, message) in [
        (["merge", "calls", "plain"], 1, "plain:1: the other file is Callgrind's"),
        (["merge", "plain", "calls"], 1, "calls:1: this is Callgrind's format"),
        (["diff", "calls", "plain"], 25, "plain:1: the other file is Callgrind's"),
        (["merge", "calls", "other"], 1, "other: its events differ from those of the first file"),
        (["diff", "calls", "other"], 255, "other: its events differ"),
        (["merge", "calls", "formula"], 1, "formula: its events differ"),
        (["merge", "calls", "much"], 1, "much: number too large"),
        (["merge", "calls", "missing"], 1, "missing: cannot be read"),
    ] {
        let out = output(dir.path(), &words);
        let error = stderr(&out);
        assert!(error.contains(message) && error.lines().count() == 1, "{words:?}: {error}");
        assert!(out.stdout.is_empty() && out.status.code() == Some(status), "{words:?}: {:?}", out.status);
    }
}
