//! The views of `cgemu annotate` and `cgemu top` beside the text that `tests/readers/annotate.rs`
//! compares: rankings, JSON, CSV, computed columns, colour and pagers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{cgemu, output, stderr, stdout};
use serde_json::Value;

fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/annotate/inputs")
}

fn good(words: &[&str]) -> String {
    let out = output(&inputs(), words);
    assert!(out.status.success() && out.stderr.is_empty(), "{words:?}: {}", stderr(&out));
    stdout(&out)
}

/// The counts of all events of a profile, by file and function, by file, and by file and line; by
/// our own sum.
#[derive(Default)]
struct Sums {
    functions: BTreeMap<(String, String), Vec<i64>>,
    files: BTreeMap<String, Vec<i64>>,
    lines: BTreeMap<(String, u64), Vec<i64>>,
    total: Vec<i64>,
}

fn sums(profile: &str) -> Sums {
    let mut sums = Sums::default();
    let text = fs::read_to_string(inputs().join(profile)).expect("a profile");
    let (mut file, mut function, mut width) = (String::new(), String::new(), 0);
    let add = |sum: &mut Vec<i64>, counts: &[i64]| {
        sum.resize(counts.len(), 0);
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    };
    for line in text.lines() {
        if let Some(events) = line.strip_prefix("events:") {
            width = events.split_whitespace().count();
        } else if let Some(name) = line.strip_prefix("fl=").or_else(|| line.strip_prefix("fi=")) {
            file = name.to_owned();
        } else if let Some(name) = line.strip_prefix("fe=") {
            file = name.to_owned();
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name.to_owned();
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let mut numbers = line.split_whitespace().map(|word| word.parse::<i64>().expect("a number"));
            let number = numbers.next().expect("a line").unsigned_abs();
            let mut counts: Vec<i64> = numbers.collect();
            counts.resize(width, 0);
            add(sums.functions.entry((file.clone(), function.clone())).or_default(), &counts);
            add(sums.files.entry(file.clone()).or_default(), &counts);
            add(sums.lines.entry((file.clone(), number)).or_default(), &counts);
            add(&mut sums.total, &counts);
        }
    }
    sums.functions.retain(|_, counts| counts.iter().any(|count| *count != 0));
    sums
}

fn validated(words: &[&str]) -> Value {
    let schema = include_str!("../../docs/profile.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let document: Value = serde_json::from_str(&good(words)).expect("JSON");
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{words:?}: {errors:?}");
    document
}

fn counts(row: &Value) -> Vec<i64> {
    row["counts"].as_array().expect("counts").iter().map(|n| n.as_i64().expect("an integer")).collect()
}

fn word(row: &Value, key: &str) -> String {
    row[key].as_str().expect("text").to_owned()
}

#[test]
fn json_follows_the_schema_and_holds_every_count() {
    let document = validated(&["annotate", "--json", "--threshold=0", "--derive=all", "all.cgout"]);
    let sums = sums("all.cgout");
    assert_eq!(counts(&document["total"]), sums.total);
    let rows = |kind: &str| document[kind].as_array().expect("rows").clone();
    let functions: BTreeMap<_, _> = rows("functions")
        .iter()
        .map(|row| ((word(row, "file"), word(row, "function")), counts(row)))
        .collect();
    assert_eq!(functions, sums.functions);
    let files: BTreeMap<_, _> = rows("files").iter().map(|row| (word(row, "file"), counts(row))).collect();
    assert_eq!(files, sums.files);
    let lines: BTreeMap<_, _> = rows("lines")
        .iter()
        .map(|row| ((word(row, "file"), row["line"].as_u64().expect("a line")), counts(row)))
        .collect();
    assert_eq!(lines, sums.lines);
    assert_eq!(document["derived"].as_array().map(Vec::len), Some(14));
    for row in rows("functions").windows(2) {
        assert!(counts(&row[0])[0] >= counts(&row[1])[0], "largest first");
    }
}

#[test]
fn every_json_form_is_valid() {
    for words in [
        &["annotate", "--json", "cache.cgout"][..],
        &["annotate", "--json", "--no-annotate", "ir.cgout", "ir.cgout"],
        &["annotate", "--json", "--diff", "--mod-filename=s/v[0-9]/vN/", "v1.cgout", "v2.cgout"],
        &["top", "--json", "--by=line", "odd.cgout"],
        &["top", "--json", "--by=file", "--sort=LL-MPKI", "cache.cgout"],
        &["top", "--json", "nofn.cgout"],
    ] {
        let document = validated(words);
        assert_eq!(
            document.get("lines").is_some(),
            words.contains(&"--by=line")
                || words == ["annotate", "--json", "cache.cgout"]
                || words.contains(&"--diff"),
            "{words:?}"
        );
    }
    let document = validated(&["top", "--json", "-n", "3", "--sort=CEst", "cache.cgout"]);
    assert_eq!(document["functions"].as_array().map(Vec::len), Some(3));
    assert_eq!(document["sort"][0], "CEst");
    assert_eq!(document["derived"][0]["estimate"], true);
}

/// Reads RFC 4180 by hand.
fn csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("a row");
        let field = row.last_mut().expect("a field");
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            _ if quoted => field.push(c),
            ',' => row.push(String::new()),
            '\r' => {
                assert_eq!(chars.next(), Some('\n'), "CR LF ends a row");
                rows.push(vec![String::new()]);
            }
            '\n' => panic!("a newline without a CR"),
            c => field.push(c),
        }
    }
    assert_eq!(rows.pop(), Some(vec![String::new()]), "the last row ends with CR LF");
    rows
}

#[test]
fn csv_has_the_same_rows() {
    let rows = csv(&good(&["annotate", "--csv", "--threshold=0", "--derive=D1-miss", "all.cgout"]));
    let sums = sums("all.cgout");
    let head = &rows[0];
    assert_eq!(head[..5], ["kind", "file", "function", "line", "Ir"]);
    assert_eq!(head.last().map(String::as_str), Some("D1-miss"));
    assert!(rows.iter().all(|row| row.len() == head.len()));
    let numbers = |row: &Vec<String>| -> Vec<i64> {
        row[4..row.len() - 1].iter().map(|n| n.parse().expect("a number")).collect()
    };
    assert_eq!((rows[1][0].as_str(), numbers(&rows[1])), ("total", sums.total.clone()));
    let functions: BTreeMap<_, _> = rows
        .iter()
        .filter(|row| row[0] == "function")
        .map(|row| ((row[1].clone(), row[2].clone()), numbers(row)))
        .collect();
    assert_eq!(functions, sums.functions);
    assert_eq!(rows.iter().filter(|row| row[0] == "line").count(), sums.lines.len());
}

#[test]
fn csv_quotes_names() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = "cmd: c\nevents: Ir\nfl=a,b.c\nfn=f<int, \"x\">(char)\n1 2\nsummary: 2\n";
    fs::write(dir.path().join("x"), text).expect("written");
    let out = output(dir.path(), &["top", "--csv", "x"]);
    assert_eq!(
        stdout(&out),
        "kind,file,function,line,Ir\r\ntotal,,,,2\r\nfunction,\"a,b.c\",\"f<int, \"\"x\"\">(char)\",,2\r\n"
    );
}

#[test]
fn rankings() {
    let sums = sums("all.cgout");
    let text = good(&["top", "-n", "2", "--show=Ir,D1mr", "--derive=D1r-miss", "all.cgout"]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["Ir", "%", "D1mr", "%", "D1r-miss", "Function", "File"]);
    assert_eq!(lines[1][1..2], ["100.0%"]);
    let ((file, function), counts) =
        sums.functions.iter().max_by_key(|(_, counts)| counts[0]).expect("a function");
    assert_eq!(lines[2][0].replace(',', ""), counts[0].to_string());
    assert_eq!(lines[2][5..], [function.as_str(), file.as_str()]);
    assert!(text.contains(&format!("\n2 of {} functions, one with", sums.functions.len())), "{text}");
    assert!(text.ends_with("D1r-miss = 100 * D1mr / Dr\n"), "{text}");

    let text = good(&["top", "-n", "0", "--by=line", "all.cgout"]);
    assert!(text.contains(&format!("\n{0} of {0} lines\n", sums.lines.len())), "{text}");
    let text = good(&["top", "-n", "1", "--by=file", "--sort=Dw", "all.cgout"]);
    let (file, _) = sums.files.iter().max_by_key(|(_, counts)| counts[6]).expect("a file");
    assert!(text.lines().nth(2).is_some_and(|line| line.ends_with(file.as_str())), "{text}");
}

/// The columns of the text have the values that follow from the counts beside them.
#[test]
fn derived_columns_of_the_text() {
    let text = good(&["annotate", "--derive=CEst,D1-miss", "--no-annotate", "--show=Ir", "cache.cgout"]);
    let sums = sums("cache.cgout");
    let [ir, i1, il, dr, d1r, dlr, dw, d1w, dlw] = sums.total[..] else { panic!("nine events") };
    let cycles = ir + 10 * (i1 + d1r + d1w) + 100 * (il + dlr + dlw);
    let rate = (d1r + d1w) as f64 * 100.0 / (dr + dw) as f64;
    let totals = text.lines().find(|line| line.ends_with("PROGRAM TOTALS")).expect("totals").replace(',', "");
    assert!(totals.contains(&format!("{rate:.2}% {cycles}")), "{totals}");
    assert!(text.contains("\nDerived:          D1-miss = 100 * (D1mr + D1mw) / (Dr + Dw)\n"), "{text}");
    assert!(text.contains(" (an estimate, not measured)\n"), "{text}");
}

#[test]
fn bad_words_are_named() {
    for (words, status, message) in [
        (&["top", "--derive=nonsense", "ir.cgout"][..], 1, "no derived column `nonsense`"),
        (&["annotate", "--derive=B-miss", "ir.cgout"], 1, "`B-miss` needs Bcm"),
        (&["top", "--sort=Xx", "ir.cgout"], 1, "--sort event `Xx`"),
        (&["top", "--show=Xx", "ir.cgout"], 1, "--show event `Xx`"),
        (&["top", "none"], 1, "none: "),
        (&["top", "--json", "--csv", "ir.cgout"], 2, "--csv"),
        (&["top", "--by=nothing", "ir.cgout"], 2, "--by"),
        (&["top", "--inclusive", "ir.cgout"], 1, "ir.cgout: a Cachegrind file has no calls"),
        (&["top", "--diff", "ir.cgout"], 1, "--diff"),
    ] {
        let out = output(&inputs(), words);
        assert_eq!(out.status.code(), Some(status), "{words:?}");
        assert!(stderr(&out).contains(message) && out.stdout.is_empty(), "{words:?}: {}", stderr(&out));
    }
}

/// Text without escape sequences that select colours.
fn uncoloured(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').expect("a colour").1;
    }
    out + rest
}

#[test]
fn colour_changes_nothing_else() {
    for words in [&["annotate", "all.cgout"][..], &["top", "all.cgout"]] {
        let plain = good(words);
        assert!(!plain.contains('\x1b'));
        let coloured = good(&[words, &["--color=always"]].concat());
        assert!(coloured.contains('\x1b'));
        let same = |text: &str| {
            text.lines()
                .filter(|l| !l.starts_with("Invocation:"))
                .map(|l| l.trim_end().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(same(&uncoloured(&coloured)), same(&plain));
        assert_eq!(same(&good(&[words, &["--color=never"]].concat())), same(&plain));
    }
}

/// Runs cgemu on a terminal that `script` makes.
fn on_a_terminal(words: &str, variables: &[(&str, &str)]) -> String {
    let command = format!("{} {words}", env!("CARGO_BIN_EXE_cgemu"));
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &command, "/dev/null"]).current_dir(inputs());
    script.env_remove("NO_COLOR").env_remove("LESS").env("TERM", "xterm").stdin(std::process::Stdio::null());
    let out: Output = match script.envs(variables.iter().copied()).output() {
        Ok(out) => out,
        Err(error) => panic!("script: {error}; install it with: apt-get install bsdutils"),
    };
    assert!(out.status.success(), "{words}: {}", stdout(&out));
    stdout(&out).replace("\r\n", "\n")
}

#[test]
fn a_terminal_has_colour_and_a_pager() {
    let upper = [("PAGER", "tr a-z A-Z")];
    let words = "top -n 3 all.cgout";
    let plain = good(&["top", "-n", "3", "all.cgout"]);
    assert!(on_a_terminal(words, &upper).contains(" TOTAL"), "the pager is used");
    let shown = on_a_terminal(words, &[("PAGER", "")]);
    assert!(shown.contains("\x1b[") && uncoloured(&shown).contains("main"), "{shown:?}");
    let same = |text: &str| text.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    for variables in [[("PAGER", "cat"), ("NO_COLOR", "1")], [("PAGER", ""), ("TERM", "dumb")]] {
        assert_eq!(same(&on_a_terminal(words, &variables)), same(&plain), "{variables:?}");
    }
    let shown = on_a_terminal(&format!("{words} --no-pager --color=never"), &upper);
    assert_eq!(same(&shown), same(&plain));
}

/// The name of a function, taken from a binary, tries to set the title, clear the screen and go
/// back over the line.
#[test]
fn names_do_not_talk_to_the_terminal() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("hostile.cgout");
    let text = "cmd: ./a\nevents: Ir\nfl=f.c\nfn=a\x1b]0;title\x07\x1b[2J\rb\n1 10\nsummary: 10\n";
    std::fs::write(&file, text).expect("a file");
    let file = file.to_str().expect("a name");
    let shown = on_a_terminal(&format!("annotate --no-pager {file}"), &[]);
    assert!(shown.contains("a^[]0;title^G^[[2J^Mb"), "{shown:?}");
    assert!(!shown.contains('\x07') && !shown.contains("\x1b[2J"), "{shown:?}");
    // A file is shown on a terminal sooner or later.
    assert!(good(&["annotate", file]).contains("a^[]0;title^G^[[2J^Mb"));
}

#[test]
fn a_pager_that_is_asked_for() {
    let run = |pager: &str, words: &[&str]| {
        cgemu(&inputs(), words).env("PAGER", pager).env_remove("LESS").output().expect("cgemu starts")
    };
    let out = run("tr a-z A-Z", &["top", "--pager", "ir.cgout"]);
    assert!(out.status.success() && stdout(&out).contains("FUNCTION"), "{}", stdout(&out));
    let out = run("tr a-z A-Z", &["top", "ir.cgout"]);
    assert!(stdout(&out).contains("Function"), "no pager without a terminal");
    let out = run("echo $LESS; cat >/dev/null", &["top", "--pager", "ir.cgout"]);
    assert_eq!(stdout(&out), "FRSX\n");
    // Quit before the end: no error.
    let out = run("head -n 1", &["annotate", "--pager", "--context=100000", "all.cgout"]);
    assert!(out.status.success() && out.stderr.is_empty(), "{}", stderr(&out));
    let out = run("no-such-pager", &["top", "--pager", "ir.cgout"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(stderr(&out).contains("the pager `no-such-pager` cannot be run"), "{}", stderr(&out));
}

/// Names in a profile are not trusted: what they hold must not steer the terminal.
#[test]
fn tables_have_no_control_characters() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("x"), "cmd: c\nevents: Ir\nfl=a\x1b[2J.c\nfn=\x07f\n1 2\nsummary: 2\n")
        .expect("written");
    let text = stdout(&output(dir.path(), &["top", "x"]));
    assert!(text.contains("^Gf") && text.contains("a^[[2J.c"), "{text:?}");
}

/// Two profiles of unlike programs and caches: of `f` 100 became 160, of `g` 900 became 850.
fn before_and_after() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let profile = |cache: &str, program: &str, f: i64, g: i64| {
        format!(
            "desc: I1 cache:         {cache} B\ncmd: {program} x\nevents: Ir Dr\nfl=a.c\nfn=f\n1 {f} 0\nfn=g\n2 {g} 5\nfl=b.c\nfn=little\n9 1\nsummary: {} 5\n",
            f + g + 1
        )
    };
    fs::write(dir.path().join("old"), profile("32768", "v1/prog", 100, 899)).expect("written");
    fs::write(dir.path().join("new"), profile("65536", "v2/prog", 160, 849)).expect("written");
    fs::write(dir.path().join("other"), profile("32768", "v1/another", 160, 849)).expect("written");
    dir
}

/// Total before 1000, after 1010: f is +60, 6 % of the total before; g is -50, -5 %.
#[test]
fn differences_have_both_sides() {
    let dir = before_and_after();
    let run = |words: &[&str]| {
        let out = output(dir.path(), words);
        assert!(out.status.success(), "{words:?}: {}", stderr(&out));
        stdout(&out)
    };
    let text = run(&["top", "--diff", "old", "new"]);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["Ir", "%", "old", "new", "Function", "File"]);
    assert_eq!(rows[1], ["10", "1.0%", "1,000", "1,010", "total"]);
    assert_eq!(rows[2], ["60", "6.0%", "100", "160", "f", "a.c"]);
    assert_eq!(rows[3], ["-50", "-5.0%", "899", "849", "g", "a.c"]);
    assert!(text.contains("\n% is of") || text.contains("; % is of the first one's total\n"), "{text}");
    assert!(
        text.contains("warning: the caches differ: I1 cache: 32768 B, and I1 cache: 65536 B\n"),
        "{text}"
    );
    assert!(!text.contains("the programs differ"), "{text}");
    let text = run(&["top", "--diff", "old", "other"]);
    assert!(text.contains("warning: the programs differ: `v1/prog x`, and `v1/another x`\n"), "{text}");

    let document: serde_json::Value =
        serde_json::from_str(&run(&["top", "--json", "--diff", "old", "new"])).expect("JSON");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../docs/profile.schema.json")).expect("JSON");
    assert!(jsonschema::is_valid(&schema, &document), "{document}");
    let row = &document["functions"][0];
    assert_eq!(row["counts"], serde_json::json!([60, 0]));
    assert_eq!((&row["old"], &row["new"]), (&serde_json::json!([100, 0]), &serde_json::json!([160, 0])));
    assert_eq!(row["percent_of_old_total"], serde_json::json!([6.0, 0.0]));
    assert_eq!(document["total"]["old"], serde_json::json!([1000, 5]));
    let plain: serde_json::Value = serde_json::from_str(&run(&["top", "--json", "old"])).expect("JSON");
    assert_eq!(plain["functions"][0].get("old"), None);

    for (by, file, expected) in
        [("file", "a.c", "10,0,999,5,1009,5,1,0"), ("line", "a.c", "60,0,100,0,160,0,6,0")]
    {
        let rows = csv(&run(&["top", "--csv", "--diff", &format!("--by={by}"), "old", "new"]));
        let names = [
            "Ir",
            "Dr",
            "Ir old",
            "Dr old",
            "Ir new",
            "Dr new",
            "Ir percent of old total",
            "Dr percent of old total",
        ];
        assert_eq!(rows[0][4..], names);
        let row = rows.iter().find(|row| row[0] == by && row[1] == file).expect("a row");
        assert_eq!(row[4..].join(","), expected, "{by}");
    }
}

#[test]
fn annotate_can_give_shares_of_the_first_profile() {
    let dir = before_and_after();
    let text = |words: &[&str]| {
        stdout(&output(dir.path(), &[&["annotate", "--diff", "--show=Ir"], words, &["old", "new"]].concat()))
    };
    // As cg_annotate: of the difference, 10.
    assert!(text(&[]).contains(" 60  (600.0%)"), "{}", text(&[]));
    let first = text(&["--percs-of-first"]);
    assert!(first.contains(" 60  (6.0%)") && first.contains("10 (1.0%)  PROGRAM TOTALS"), "{first}");
    assert!(
        text(&["--percs-of-first", "--threshold=5.5"]).contains(" f")
            && !text(&["--percs-of-first", "--threshold=5.5"]).contains(" g\n")
    );
    let out = output(dir.path(), &["annotate", "--percs-of-first", "old"]);
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn diff_warns_of_what_cannot_be_compared() {
    let dir = before_and_after();
    let warnings = |words: &[&str]| {
        let out = output(dir.path(), &[&["diff"], words].concat());
        assert!(out.status.success(), "{}", stderr(&out));
        stderr(&out)
    };
    assert_eq!(warnings(&["old", "old"]), "");
    assert_eq!(
        warnings(&["old", "new"]),
        "cgemu: warning: the caches differ: I1 cache: 32768 B, and I1 cache: 65536 B\n"
    );
    assert_eq!(
        warnings(&["old", "other"]),
        "cgemu: warning: the programs differ: `v1/prog x`, and `v1/another x`\n"
    );
}

#[test]
fn files_below_the_threshold_are_named_if_asked_for() {
    let dir = before_and_after();
    let text = |words: &[&str]| stdout(&output(dir.path(), &[&["annotate"], words, &["old"]].concat()));
    assert!(!text(&["--threshold=1"]).contains("b.c"));
    let all = text(&["--threshold=1", "--left-out"]);
    let (_, list) = all.split_once("-- Files below the threshold\n").expect("a section");
    assert!(
        list.contains("  file\n") && list.contains("1 (0.1%)  0  b.c\n") && !list.contains("a.c"),
        "{list}"
    );
}
