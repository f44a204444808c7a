//! Every instruction that cgemu lets run, in every form of its operands, gives what the host's CPU
//! gives: the same program runs on both and prints hashes. What the engine is known to do
//! differently is listed, exactly.

mod emit;
pub mod generate;
pub mod known;
mod operands;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::common::{cgemu, stderr, stdout, tool};
use known::{KNOWN, Vendor, vendor};

/// Instruction sets of the forms, as `/proc/cpuinfo` names them.
const NEEDED: [&str; 15] = [
    "fpu",
    "mmx",
    "fxsr",
    "sse2",
    "pni",
    "ssse3",
    "sse4_1",
    "sse4_2",
    "popcnt",
    "abm",
    "bmi1",
    "bmi2",
    "movbe",
    "aes",
    "pclmulqdq",
];
/// Facets that no manual defines: undefined flags and condition codes.
const UNDEFINED: &str = "undefined";

/// Per form its facets and their hashes.
type Outcome<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>;

fn parse(text: &str) -> Outcome<'_> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines
        .map(|(name, rest)| (name, rest.split_whitespace().filter_map(|word| word.split_once('=')).collect()))
        .collect()
}

/// The instruction of a form's name, with a prefix that is part of it.
fn mnemonic(form: &str) -> &str {
    let end = |s: &str| s.find(['_', '/', '#', '+']).unwrap_or(s.len());
    match form.split_once('_') {
        Some((prefix @ ("lock" | "rep" | "repe" | "repne"), rest)) => &form[..prefix.len() + 1 + end(rest)],
        _ => &form[..end(form)],
    }
}

/// The first entry of the list that speaks of this.
fn entry(form: &str, facet: &str, vendor: Vendor) -> Option<usize> {
    KNOWN.iter().position(|known| {
        known.cpus.may(vendor)
            && known.facets.contains(&facet)
            && (known.forms == ["*"] || known.forms.contains(&mnemonic(form)))
            && known.part.split('|').any(|part| form.contains(part))
    })
}

/// Builds the program in `directory`.
fn build(directory: &Path) -> generate::Program {
    let program = generate::program();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/isa/harness.c");
    fs::copy(&source, directory.join("harness.c")).expect("the harness");
    fs::write(directory.join("forms.h"), &program.header).expect("the table");
    fs::write(directory.join("forms.S"), &program.assembly).expect("the instructions");
    let section = format!("-Wl,--section-start=.forms={:#x}", generate::FORMS_ADDRESS);
    let words = ["-O2", "-static", "-no-pie", &section, "-o", "isa", "harness.c", "forms.S"];
    let built = tool("gcc libc6-dev", directory, "gcc", &words);
    assert!(built.status.success(), "gcc: {}", stderr(&built));
    program
}

fn native(directory: &Path, forms: &[&str]) -> Output {
    Command::new("./isa").args(forms).current_dir(directory).stdin(Stdio::null()).output().expect("it runs")
}

fn emulated(directory: &Path, forms: &[&str]) -> Output {
    let first = ["run", "-q", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--", "./isa"];
    let words: Vec<&str> = first.iter().chain(forms).copied().collect();
    cgemu(directory, &words).output().expect("cgemu starts")
}

/// Whether this is one of the trials in which the facet differs: both lines give it as `
/// FACET:HASH`.
fn differs(one: &str, other: &str, facet: &str) -> bool {
    let value = |line: &str| {
        line.split(' ').find_map(|w| w.strip_prefix(facet)?.strip_prefix(':').map(str::to_owned))
    };
    value(one) != value(other)
}

/// The first trial of a form that differs in this facet, with the words that are not the same.
fn example(directory: &Path, form: &str, facet: &str) -> String {
    let (one, other) = (stdout(&native(directory, &[form])), stdout(&emulated(directory, &[form])));
    let Some((a, b)) = one.lines().zip(other.lines()).find(|(a, b)| differs(a, b, facet)) else {
        return "no single trial differs".to_owned();
    };
    let mut text = String::new();
    for (x, y) in a.split(' ').zip(b.split(' ')).filter(|(x, y)| x != y && !x.contains(':')) {
        text.push_str(&format!("\n    CPU    {x}\n    engine {y}"));
    }
    format!("trial {}{text}", a.split([' ', '\t']).nth(1).unwrap_or("?"))
}

#[test]
fn every_instruction_as_on_the_cpu() {
    let info = fs::read_to_string("/proc/cpuinfo").expect("/proc/cpuinfo");
    let flags: BTreeSet<&str> =
        info.lines().find(|l| l.starts_with("flags")).unwrap_or("").split_whitespace().collect();
    let lacking: Vec<&str> = NEEDED.into_iter().filter(|set| !flags.contains(set)).collect();
    println!("instruction sets that this CPU lacks: {lacking:?}");
    assert!(
        lacking.is_empty(),
        "this CPU lacks {lacking:?}; run the test on one of 2014 or later that has them"
    );

    let vendor = vendor();

    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let program = build(directory);
    println!("{} forms of {} encodings", program.forms, program.encodings);
    for line in &program.left_out {
        println!("left out: {line}");
    }
    let (on_cpu, in_engine) = thread::scope(|scope| {
        let other = scope.spawn(|| native(directory, &[]));
        let ours = emulated(directory, &[]);
        (other.join().expect("a thread"), ours)
    });
    assert!(on_cpu.status.success(), "on the CPU: {} {}", on_cpu.status, stderr(&on_cpu));
    let (cpu_text, engine_text) = (stdout(&on_cpu), stdout(&in_engine));
    let (cpu, engine) = (parse(&cpu_text), parse(&engine_text));
    assert_eq!(cpu.len(), program.forms, "every form has a line");
    let last = engine_text.lines().last().and_then(|l| l.split('\t').next()).unwrap_or("none");
    let (status, said) = (in_engine.status, stderr(&in_engine));
    assert!(status.success() && engine.len() == cpu.len(), "cgemu: {status} after {last}: {said}");

    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (form, facets) in &cpu {
        for (facet, hash) in facets.iter().filter(|(facet, _)| **facet != UNDEFINED) {
            if engine[form].get(facet) == Some(hash) {
                continue;
            }
            match entry(form, facet, vendor) {
                Some(index) => _ = seen.insert((index, *facet, mnemonic(form))),
                None => wrong.push((*form, *facet)),
            }
        }
    }
    let mut report = String::new();
    for (n, (form, facet)) in wrong.iter().enumerate() {
        let text = if n < 5 { example(directory, form, facet) } else { String::new() };
        report.push_str(&format!("\n  {form}: {facet} {text}"));
    }
    for (index, known) in KNOWN.iter().enumerate().filter(|(_, known)| known.cpus.must(vendor)) {
        for (facet, form) in known.facets.iter().flat_map(|f| known.forms.iter().map(move |form| (f, form))) {
            let met = |(i, of, name): &(usize, &str, &str)| {
                *i == index && of == facet && (*form == "*" || name == form)
            };
            if !seen.iter().any(met) {
                report.push_str(&format!(
                    "\n  {form} {}: {facet} is right now; strike it off the list",
                    known.part
                ));
            }
        }
    }
    println!("known differences: {}", KNOWN.len());
    for known in KNOWN {
        println!("  {}; {}: {}", known.why, known.treatment, known.forms.join(" "));
    }
    assert!(report.is_empty(), "{} forms differ from the CPU:{report}", wrong.len());
}
