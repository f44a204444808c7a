//! `annotate --asm` and `annotate --inline` as JSON and CSV: the schema holds, and the figures are
//! those of the side file.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{output, stderr, stdout, tool};
use serde_json::Value;

fn profiled() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    crate::common::copy_hot(at);
    let built = tool("gcc", at, "gcc", &["-O2", "-g", "-o", "hot", "hot.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let run = output(at, &["run", "-q", "--dump-instr=yes", "--cachegrind-out-file=out", "./hot"]);
    assert!(run.status.success(), "{}", stderr(&run));
    directory
}

fn annotated(at: &Path, words: &[&str]) -> String {
    let output = output(at, &[&["annotate", "--threshold=0"], words, &["out"]].concat());
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {}", stderr(&output));
    stdout(&output)
}

fn validated(at: &Path, words: &[&str]) -> Value {
    let schema: Value = serde_json::from_str(include_str!("../../docs/code.schema.json")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let document: Value = serde_json::from_str(&annotated(at, words)).expect("JSON");
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{words:?}: {errors:?}");
    document
}

fn rows<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn counts(value: &Value) -> Vec<i64> {
    rows(value, "counts").iter().map(|count| count.as_i64().expect("an integer")).collect()
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn added(sum: &mut Vec<i64>, more: &[i64]) {
    sum.resize(more.len(), 0);
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// The counts of the instructions of `hot`, by address, as `docs/instr-format.md` has them.
fn side(at: &Path) -> BTreeMap<u64, Vec<i64>> {
    let text = std::fs::read_to_string(at.join("out.instr")).expect("a side file");
    let mut inside = false;
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        if line.starts_with("ob=") {
            inside = line.ends_with("/hot");
        } else if let (true, Some(line)) = (inside, line.strip_prefix("0x")) {
            let mut words = line.split(' ');
            let address = u64::from_str_radix(words.next().expect("an address"), 16).expect("hex");
            let mut numbers: Vec<i64> = words.skip(1).map(|word| word.parse().expect("a count")).collect();
            numbers.resize(9, 0);
            counts.insert(address, numbers);
        }
    }
    counts
}

/// Fields of CSV without quotes in them.
fn csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for line in text.split_terminator("\r\n") {
        let (mut row, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(String::new()),
                c => row.last_mut().expect("a field").push(c),
            }
        }
        rows.push(row);
    }
    let width = rows[0].len();
    assert!(rows.iter().all(|row| row.len() == width), "{rows:?}");
    rows
}

#[test]
fn machine_code() {
    let directory = profiled();
    let at = directory.path();
    let document = validated(at, &["--asm=work", "--inline", "--derive=D1-miss", "--json"]);
    let [listing] = &rows(&document, "code")[..] else { panic!("{document}") };
    assert_eq!(word(listing, "function"), "work");
    assert!(word(listing, "object").ends_with("/hot") && word(listing, "build").starts_with("build-id:"));
    let disassembly = stdout(&tool("binutils", at, "objdump", &["-dw", "--disassemble=work", "hot"]));
    let mut expected = BTreeMap::new();
    for line in disassembly.lines() {
        let mut parts = line.split('\t');
        if let (Some(address), Some(bytes), Some(text)) = (parts.next(), parts.next(), parts.next()) {
            let address = format!("0x{}", address.trim().trim_end_matches(':'));
            expected.insert(address, (bytes.replace(' ', ""), text.trim_end().to_owned()));
        }
    }
    let side = side(at);
    let mut found = BTreeMap::new();
    let mut sum = Vec::new();
    let mut inlined = 0;
    for insn in rows(listing, "instructions") {
        let text = word(insn, "text").trim_end().to_owned();
        found.insert(word(insn, "address").to_owned(), (word(insn, "bytes").to_owned(), text));
        let address = u64::from_str_radix(&word(insn, "address")[2..], 16).expect("hex");
        assert_eq!(counts(insn), side.get(&address).cloned().unwrap_or(vec![0; 9]), "{insn}");
        added(&mut sum, &counts(insn));
        let is_inlined = !rows(insn, "inlined").is_empty();
        let source = if is_inlined { "/mix.h" } else { "/hot.c" };
        assert!(word(insn, "file").ends_with(source) && insn["line"].as_u64() > Some(0), "{insn}");
        inlined += usize::from(is_inlined);
    }
    assert_eq!(found, expected);
    assert_eq!(counts(listing), sum);
    assert!(inlined > 3);
    // CSV has the same rows.
    let table = csv(&annotated(at, &["--asm=work", "--inline", "--csv"]));
    let head =
        ["kind", "object", "function", "address", "bytes", "instruction", "file", "line", "inlined", "Ir"];
    assert_eq!(table[0][..10], head);
    assert_eq!(table[1][0], "total");
    let numbers =
        |row: &[String]| row[9..].iter().map(|n| n.parse().expect("a number")).collect::<Vec<i64>>();
    assert_eq!((&*table[2][0], &*table[2][2], numbers(&table[2])), ("function", "work", sum));
    for (row, insn) in table[3..].iter().zip(rows(listing, "instructions")) {
        assert_eq!(
            row[3..6].join(" "),
            [word(insn, "address"), word(insn, "bytes"), word(insn, "text")].join(" ")
        );
        assert_eq!((&*row[0], numbers(row)), ("instruction", counts(insn)));
        assert_eq!(row[8].is_empty(), rows(insn, "inlined").is_empty());
    }
    assert_eq!(table.len() - 3, rows(listing, "instructions").len());
    // Without --inline nothing is said of calls.
    let plain = validated(at, &["--asm=work", "--json"]);
    assert!(plain["code"][0]["instructions"][0].get("inlined").is_none());
    // Without the object, the counts are left.
    std::fs::remove_file(at.join("hot")).expect("the program");
    let gone = validated(at, &["--asm=work", "--json"]);
    assert!(gone["warnings"][0].as_str().is_some_and(|line| line.contains("/hot: ")), "{}", gone["warnings"]);
    assert!(gone["code"][0]["instructions"][0]["bytes"].is_null());
    assert_eq!(counts(&gone["code"][0]), counts(listing));
}

/// A node's counts are its own and those of its calls; the rows of the CSV are gathered on the way.
fn walk(node: &Value, chain: &str, table: &mut Vec<(String, String, Vec<i64>)>) {
    let mut sum = counts(&node["own"]);
    if !rows(node, "calls").is_empty() {
        table.push(("itself".to_owned(), chain.to_owned(), sum.clone()));
    }
    for call in rows(node, "calls") {
        added(&mut sum, &counts(call));
        let link = if chain.is_empty() { "" } else { ";" };
        let chain = format!("{chain}{link}{}", word(call, "function"));
        table.push(("call".to_owned(), chain.clone(), counts(call)));
        walk(call, &chain, table);
    }
    assert_eq!(counts(node), sum, "{node}");
}

#[test]
fn inlining() {
    let directory = profiled();
    let at = directory.path();
    let document = validated(at, &["--inline", "--json"]);
    let trees = rows(&document, "trees");
    let tree = trees.iter().find(|tree| word(tree, "function") == "work").expect("a tree");
    let mut expected = Vec::new();
    walk(tree, "", &mut expected);
    let chains: Vec<&str> = expected.iter().map(|row| row.1.as_str()).collect();
    assert!(chains.contains(&"mix;rot") && chains.contains(&"rot"), "{chains:?}");
    trees.iter().for_each(|tree| walk(tree, "", &mut Vec::new()));
    // All of the run is written somewhere.
    let mut sum = Vec::new();
    rows(&document, "written").iter().for_each(|row| added(&mut sum, &counts(row)));
    assert_eq!(counts(&document["total"])[0], sum[0]);
    let rot = rows(&document, "written").iter().find(|row| word(row, "function") == "rot").expect("rot");
    assert_eq!(counts(rot), counts(&rot["inlined"]));

    let table = csv(&annotated(at, &["--inline=work", "--csv"]));
    assert_eq!(table[0][..7], ["kind", "object", "function", "chain", "file", "line", "Ir"]);
    let found: Vec<_> = table
        .iter()
        .filter(|row| row[0] == "itself" || row[0] == "call")
        .map(|row| {
            let numbers = row[6..].iter().map(|n| n.parse().expect("a number")).collect::<Vec<i64>>();
            (row[0].clone(), row[3].clone(), numbers)
        })
        .collect();
    assert_eq!(found, expected);
    let written = table.iter().filter(|row| row[0] == "written").count();
    assert_eq!(written, rows(&document, "written").len());
}
