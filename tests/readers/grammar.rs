//! The grammars of the manuals, "Cachegrind output file format" and "Callgrind Format
//! Specification", one production after the other: what they allow is read, with the sums that they
//! give it, and what they do not is refused.

use std::fs;
use std::path::Path;

use crate::common::{output, stderr, stdout};

/// The totals that a command shows of a file, without separators; an empty text if it refuses it.
fn totals(dir: &Path, words: &[&str]) -> String {
    let options = ["annotate", "--no-annotate", "--no-show-percs"];
    let out = output(dir, &[&options, words].concat());
    let text = stdout(&out);
    let line = text.lines().find_map(|line| line.strip_suffix("PROGRAM TOTALS"));
    line.unwrap_or_default().replace(',', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The totals by `annotate`, by `merge` and by the difference with a file without counts.
fn all_totals(dir: &Path, file: &str, empty: &str) -> [String; 3] {
    let through = |words: &[&str]| {
        let out = output(dir, words);
        if !out.status.success() {
            assert!(stderr(&out).contains(file), "{words:?}: {}", stderr(&out));
            return String::new();
        }
        fs::write(dir.join("result"), &out.stdout).expect("written");
        totals(dir, &["result"])
    };
    [totals(dir, &[file]), through(&["merge", file, file, file]), through(&["diff", empty, file])]
}

#[test]
fn cachegrind() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    fs::write(dir.join("empty"), "cmd: c\nevents: Ir Dr\nsummary: 0 0\n").expect("written");
    let head = "desc: d\ncmd: c\nevents: Ir Dr\n";
    let body = "fl=a.c\nfn=f\n1 2 3\n";
    let sum = "summary: 2 3\n";
    let file = |head: &str, body: &str, sum: &str| format!("{head}{body}{sum}");
    for (production, text) in [
        ("file", file(head, body, sum)),
        ("desc_line*: none", file("cmd: c\nevents: Ir Dr\n", body, sum)),
        ("desc_line*: several", file(&format!("desc: a\ndesc: b\n{head}"), body, sum)),
        ("desc_line: no blank", file("desc:d\ncmd: c\nevents: Ir Dr\n", body, sum)),
        ("desc_line: nothing", file("desc:\ncmd: c\nevents: Ir Dr\n", body, sum)),
        ("cmd_line: no blank", file("desc: d\ncmd:c\nevents: Ir Dr\n", body, sum)),
        ("cmd_line: nothing", file("desc: d\ncmd:\nevents: Ir Dr\n", body, sum)),
        ("cmd_line: blanks", file("desc: d\ncmd: \t a  b \nevents: Ir Dr\n", body, sum)),
        ("events_line: no blank", file("desc: d\ncmd: c\nevents:Ir Dr\n", body, sum)),
        ("events_line: blanks", file("desc: d\ncmd: c\nevents:\tIr \t Dr \n", body, sum)),
        ("file_line without a fn_line", file(head, "fl=b.c\nfl=a.c\nfn=f\n1 2 3\n", sum)),
        ("names", file(head, "fl= a b#1.c\nfn=f(int, char const*) [x=\"y\"] # no comment\n1 2 3\n", sum)),
        ("names: nothing", file(head, "fl=\nfn=\n1 2 3\n", sum)),
        ("count_line: blanks", file(head, "fl=a.c\nfn=f\n1 \t 2\t3 \t\n", sum)),
        ("count_line: fewer counts", file(head, "fl=a.c\nfn=f\n1 2\n2 0 3\n", sum)),
        ("count_line: no count", file(head, "fl=a.c\nfn=f\n7\n8 \n1 2 3\n", sum)),
        ("count: a dot", file(head, "fl=a.c\nfn=f\n1 2 .\n2 . 3\n", sum)),
        ("count: negative, of cg_diff", file(head, "fl=a.c\nfn=f\n1 5 3\n2 -3\n", sum)),
        (
            "counts are accumulated",
            file(head, "fl=a.c\nfn=f\n1 1 1\n1 1 1\nfl=b.c\nfn=f\nfl=a.c\nfn=f\n1 0 1\n", sum),
        ),
        ("counts before a name", file(head, "1 2 3\n", sum)),
        ("counts before a function", file(head, "fl=a.c\n1 2 3\n", sum)),
        ("counts before a file", file(head, "fn=f\n1 2 3\n", sum)),
        ("summary_line: no blank", file(head, body, "summary:2 3\n")),
        ("summary_line: blanks", file(head, body, "summary: \t2  3 \n")),
        ("summary_line: no line end", file(head, body, "summary: 2 3")),
        (
            "empty lines",
            file(
                "\ndesc: d\n\ncmd: c\n\nevents: Ir Dr\n\n",
                "fl=a.c\n\nfn=f\n \t \n1 2 3\n\n",
                "summary: 2 3\n\n",
            ),
        ),
        (
            "comments",
            file(
                "# x\ndesc: d\n# x\ncmd: c\n# x\nevents: Ir Dr\n#\n",
                "fl=a.c\n#\nfn=f\n# 1 2\n1 2 3\n#x\n",
                "summary: 2 3\n# x\n",
            ),
        ),
        ("CR LF", file(head, body, sum).replace('\n', "\r\n")),
    ] {
        fs::write(dir.join("file"), &text).expect("written");
        assert_eq!(all_totals(dir, "file", "empty"), ["2 3", "6 9", "2 3"], "{production}: {text:?}");
    }
    for (fault, text) in [
        ("nothing", String::new()),
        ("no cmd_line", file("desc: d\nevents: Ir Dr\n", body, sum)),
        ("no events_line", file("desc: d\ncmd: c\n", body, sum)),
        ("no event", file("desc: d\ncmd: c\nevents:\n", body, sum)),
        ("no summary_line", file(head, body, "")),
        ("too many counts", file(head, "fl=a.c\nfn=f\n1 2 3 4\n", sum)),
        ("too many in the summary", file(head, body, "summary: 2 3 4\n")),
    ] {
        fs::write(dir.join("file"), &text).expect("written");
        assert_eq!(all_totals(dir, "file", "empty"), ["", "", ""], "{fault}: {text:?}");
    }
    // cg_diff of Valgrind 3.19 passes over these and takes any summary.
    for (fault, text) in [
        ("another line", file(head, "fl=a.c\nfn=f\nwhat=1\n1 2 3\n", sum)),
        ("no number", file(head, "fl=a.c\nfn=f\n1 2 x\n", "summary: 2 0\n")),
        ("another summary", file(head, body, "summary: 2 4\n")),
        ("counts after the summary", file(head, body, "summary: 2 3\n1 1 1\n")),
    ] {
        fs::write(dir.join("file"), &text).expect("written");
        assert_eq!(all_totals(dir, "file", "empty")[..2], ["", ""], "{fault}: {text:?}");
    }
}

#[test]
fn callgrind() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let body = "fl=a.c\nfn=f\n1 2 3\n";
    let plain = |head: &str| format!("# callgrind format\n{head}events: Ir Dr\n{body}");
    let costs = |lines: &str| format!("# callgrind format\nevents: Ir Dr\n{lines}");
    for (production, text, expected) in [
        ("FormatSpec: none", format!("version: 1\nevents: Ir Dr\n{body}"), "2 3"),
        ("FormatVersion, Creator", plain("version: 1\ncreator: any text: 1\n"), "2 3"),
        ("HeaderLine: empty, comment", plain("\n# x\n \n"), "2 3"),
        ("TargetCommand", plain("cmd: a b\n"), "2 3"),
        ("TargetCommand: nothing", plain("cmd:\n"), "2 3"),
        ("TargetID", plain("pid: 12\nthread:1\npart: \t3\n"), "2 3"),
        ("Description", plain("desc: I1 cache: x\ndesc:Unknown type : y\n"), "2 3"),
        (
            "EventSpecification",
            plain("event: Ir : long name\nevent: T = Ir + 2 Dr + 3 * Ir: title\n"),
            "2 3 14",
        ),
        ("EventSpecification after events", costs(&format!("event: T=Ir+Dr\n{body}")), "2 3 5"),
        ("CostLineDef: positions", plain("positions: line\n"), "2 3"),
        (
            "CostLineDef: instr",
            "# callgrind format\npositions: instr\nevents: Ir Dr\nfn=f\n0x10 2 3\n".into(),
            "2 3",
        ),
        (
            "CostLineDef: instr line",
            "# callgrind format\npositions: instr line\nevents: Ir Dr\nfn=f\n0x10 1 2 3\n+3 * 1\n".into(),
            "3 3",
        ),
        (
            "CostLineDef: instr bb line",
            "# callgrind format\npositions: instr bb line\nevents: Ir Dr\nfn=f\n0x10 0x8 1 2 3\n".into(),
            "2 3",
        ),
        ("CostLineDef: no blank", format!("# callgrind format\nevents:Ir Dr\n{body}"), "2 3"),
        ("BodyLine: empty, comment", costs("\n#x\nfl=a.c\n\nfn=f\n#\n1 2 3\n \n"), "2 3"),
        ("CostLine without costs", costs("fl=a.c\nfn=f\n1\n2 \n+1 2 3\n"), "2 3"),
        ("Costs: fewer, hexadecimal", costs("fl=a.c\nfn=f\n1 0x2\n0x2 0 0X3\n"), "2 3"),
        ("SubPosition", costs("fn=f\n10 1\n+3 1\n-5 0 1\n* 0 2\n"), "2 3"),
        ("PositionSpec: blanks", costs("fl= \ta.c\nfn= f\n1 2 3\n"), "2 3"),
        (
            "PositionName: compressed",
            costs("fl=(1) a.c\nfn=(1) f\nfn=(0x2) g\n1 1 1\nfl=(1)\nfn=(1)\n2 1 2\n"),
            "2 3",
        ),
        ("Position", costs("ob=o\nfl=a.c\nfn=f\n1 1 1\nfi=b.h\n1 1\nfe=a.c\n1 0 2\n"), "2 3"),
        (
            "CallSpec",
            costs(
                "fl=a.c\nfn=f\n1 2 3\ncob=o\ncfi=b.c\ncfn=g\ncalls=1 5\n1 70 70\ncfl=b.c\ncfn=g\ncalls=0x2 +5\n+1 70\n",
            ),
            "2 3",
        ),
        ("CallSpec: no position", costs("fn=f\n1 2 3\ncfn=g\ncalls=0x10\n1 70 70\n"), "2 3"),
        ("CallSpec: no costs", costs("fn=f\n1 2 3\ncfn=g\ncalls=1 +3\n*\n"), "2 3"),
        (
            "CallSpec: instr line",
            "# callgrind format\npositions: instr line\nevents: Ir Dr\nfn=f\n0x10 1 2 3\ncfn=g\ncalls=2 0x20 +4\n+2 * 7\n".into(),
            "2 3",
        ),
        (
            "PositionName: compressed, of calls and jumps",
            costs(
                "ob=(1) o\nfl=(1) a.c\nfn=(1) f\n1 1 1\ncob=(2) p\ncfi=(2) b.c\ncfn=(2) g\ncalls=1 1\n1 9 9\n\
                 jfi=(3) c.c\njfn=(3) h\njump=1 1\n1\nob=(2)\nfl=(3)\nfn=(3)\n1 1 1\nfi=(2)\nfe=(1)\nfn=(2)\n1 0 1\n",
            ),
            "2 3",
        ),
        ("UncondJumpSpec", costs("fn=f\n1 1 1\njump=3 7\n2 1 2\n"), "2 3"),
        ("UncondJumpSpec, as Callgrind writes it", costs("fn=f\n1 1 1\njump=3 7\n1\n2 1 2\n"), "2 3"),
        ("CondJumpSpec", costs("fn=f\n1 1 1\njcnd=3 5 7\n2 1 2\n"), "2 3"),
        (
            "CondJumpSpec, as Callgrind writes it",
            costs("fn=f\n1 1 1\njfi=b.c\njfn=g\njcnd=3/5 +4\n*\n2 1 2\n"),
            "2 3",
        ),
        (
            "PartData",
            format!("{}totals: 2 3\n\npart: 2\nevents: Ir Dr\n{body}totals: 2 3\n", plain("part: 1\n")),
            "4 6",
        ),
        ("summary", plain("summary: 10 3\n"), "10 3"),
        ("totals", format!("{}totals: 2 3\n", plain("")), "2 3"),
        ("unknown keys of the head", plain("rusage: 1\narch: arm\n"), "2 3"),
    ] {
        fs::write(dir.join("file"), &text).expect("written");
        assert_eq!(totals(dir, &["file"]), expected, "{production}: {text:?}");
        let columns: Vec<i64> = expected.split(' ').map(|word| word.parse().expect("a number")).collect();
        let times =
            |factor: i64| columns.iter().map(|count| (count * factor).to_string()).collect::<Vec<_>>();
        let through = |words: &[&str], factor: i64| {
            let out = output(dir, words);
            assert!(out.status.success(), "{production}: {words:?}: {}", stderr(&out));
            fs::write(dir.join("result"), &out.stdout).expect("written");
            assert_eq!(totals(dir, &["result"]), times(factor).join(" "), "{production}: {words:?}");
        };
        through(&["merge", "file", "file", "file"], 3);
        through(&["diff", "file", "file"], 0);
    }
    for (fault, text) in [
        ("version 2", plain("version: 2\n")),
        ("no events", format!("# callgrind format\n{body}")),
        ("another line", costs("fn=f\nwhat=1\n1 2 3\n")),
        ("rcalls, of old versions", costs("fn=f\ncfn=g\nrcalls=1 1\n1 2 3\n")),
        ("no number of calls", costs("fn=f\ncfn=g\ncalls=x 1\n1 2 3\n")),
        ("two calls with costs of one", costs("fn=f\ncfn=g\ncalls=1 1\ncalls=1 1\n1 2 3\n")),
        ("a position before the first", costs("fn=f\n3 2\n-4 0 3\n")),
        ("a called function without a name", costs("fn=f\ncfn=(4)\ncalls=1 1\n1 2 3\n")),
        ("too many costs", costs("fn=f\n1 2 3 4\n")),
        ("no number", costs("fn=f\n1 2 x\n")),
        ("a call without costs", costs("fn=f\ncfn=g\ncalls=1 2\nfn=h\n")),
        ("an ID without a name", costs("fn=(7)\n1 2 3\n")),
        ("wrong totals", format!("{}totals: 9 9\n", plain(""))),
        ("a summary that is too small", plain("summary: 1 3\n")),
    ] {
        fs::write(dir.join("file"), &text).expect("written");
        for words in [&["annotate", "file"][..], &["merge", "file"], &["diff", "file", "file"]] {
            let out = output(dir, words);
            let message = stderr(&out);
            assert!(!out.status.success() && out.stdout.is_empty(), "{fault}: {words:?}");
            assert!(message.contains("file:") && message.lines().count() == 1, "{fault}: {message}");
        }
    }
}
