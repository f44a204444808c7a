//! Which file, function and line an instruction counts for: programs built in many ways, with and
//! without debug information, under Valgrind and under cgemu with Valgrind's layout. Every row of
//! the two profiles must be there with the same Ir, those of the C library and of start-up too.
//! Names of C++ functions are compared by what c++filt(1) makes of the symbol that each stands for;
//! docs/counting.md says where cgemu writes them otherwise, and where it knows more than Valgrind
//! 3.19.
//!
//! `CGEMU_ATTRIBUTION=PART` runs only the cases with that in their names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::common::counts::{Counts, Position};
use crate::common::{output, parallel, stderr, stdout, tool, vars};
use crate::exact::setting::ARCH;
use crate::whole::programs::{Program, Tier};
use crate::whole::run::{self, Run};

/// A program that is built by `build`, in a directory of its own where `$SOURCES` is
/// testdata/attribution.
const fn case(name: &'static str, build: &'static str) -> Program {
    Program { name, tier: Tier::Always, setup: build, command: &["./prog"], env: &[], reasons: &[] }
}

const CASES: &[Program] = &[
    case("C without optimisation", "gcc -g -O0 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("C inlined", "gcc -g -O2 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("C not position-independent", "gcc -g -O2 -no-pie -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("C static", "gcc -g -O2 -static -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("C static-pie", "gcc -g -O2 -static-pie -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("C at link time", "gcc -g -O3 -flto -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case(
        "C with few lines",
        "gcc -g1 -O2 -ffunction-sections -Wl,--gc-sections -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\"",
    ),
    case("C without debug information", "gcc -O2 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("C stripped", "gcc -g -O2 -s -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("DWARF 2", "gcc -gdwarf-2 -gstrict-dwarf -O2 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("DWARF 3", "gcc -gdwarf-3 -O2 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case("DWARF 4, compressed", "gcc -gdwarf-4 -gz -O2 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\""),
    case(
        "names of sources as given",
        "cp \"$SOURCES\"/* .; mkdir sub; cp part.c part.h sub; gcc -g -O2 -o prog ./sub/../main.c sub/./part.c",
    ),
    case(
        "other names of directories",
        "gcc -g -O2 -ffile-prefix-map=\"$SOURCES\"=/nowhere -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\"",
    ),
    case(
        "a separate debug file",
        "gcc -g -O2 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\"; objcopy --only-keep-debug prog prog.debug; \
         strip prog; objcopy --add-gnu-debuglink=prog.debug prog",
    ),
    case(
        "a separate debug file in .debug",
        "gcc -g -O2 -o prog \"$SOURCES/main.c\" \"$SOURCES/part.c\"; mkdir .debug; \
         objcopy --only-keep-debug prog .debug/other; strip -g prog; \
         objcopy --add-gnu-debuglink=.debug/other prog",
    ),
    case(
        "a library of its own",
        "gcc -g -O2 -fPIC -shared -o libpart.so \"$SOURCES/part.c\"; \
         gcc -g -O2 -o prog \"$SOURCES/main.c\" -L. -lpart -Wl,-rpath,'$ORIGIN'",
    ),
    case(
        "a library bound at once",
        "gcc -g -O2 -fPIC -shared -o libpart.so \"$SOURCES/part.c\"; strip -g libpart.so; \
         gcc -g -O2 -fno-plt -Wl,-z,now -o prog \"$SOURCES/main.c\" -L. -lpart -Wl,-rpath,'$ORIGIN'",
    ),
    case("code outside of .text", "gcc -g -O1 -o prog \"$SOURCES/section.c\""),
    case("symbols of assembly", "gcc -g -o prog \"$SOURCES/symbols.S\""),
    case("symbols of assembly, static", "gcc -g -static -o prog \"$SOURCES/symbols.S\""),
    case("odd line tables", "gcc -o prog \"$SOURCES/lines.S\""),
    case("odd line tables of DWARF 4", "gcc -Wa,-gdwarf-4 -o prog \"$SOURCES/lines.S\""),
    case("C++ without optimisation", "g++ -g -O0 -std=c++17 -o prog \"$SOURCES/templates.cc\""),
    case("C++ inlined", "g++ -g -O2 -std=c++17 -o prog \"$SOURCES/templates.cc\""),
    case("C++ static", "g++ -g -O3 -static -std=c++17 -o prog \"$SOURCES/templates.cc\""),
    case("Rust without optimisation", "rustc -g --edition 2021 -o prog \"$SOURCES/rust.rs\""),
    case("Rust inlined", "rustc -g -O --edition 2021 -o prog \"$SOURCES/rust.rs\""),
    case(
        "Rust with the new names",
        "rustc -g -O --edition 2021 -C symbol-mangling-version=v0 -o prog \"$SOURCES/rust.rs\"",
    ),
];

/// Rows that are counted.
type Rows = BTreeMap<Position, u64>;

/// The Ir of each position that is compared.
fn rows(case: &Program, counts: &Counts) -> Rows {
    let of = |(position, row): (&Position, &Vec<u64>)| (position.clone(), row[0]);
    let mut rows: Rows = counts.rows.iter().map(of).collect();
    rows.retain(|(file, ..), ir| {
        // Valgrind also lists what it translated and did not run.
        *ir > 0
            // Rust's start-up has the C library read /proc/self/maps, where Valgrind's own mappings
            // are too.
            && (!case.name.starts_with("Rust") || file.starts_with('/'))
    });
    rows
}

/// What Valgrind 3.19 makes of our rows: of code outside of the section .text it knows no lines.
/// Here that are one function and, in the objects of the C library, what crti.S and crtn.S put into
/// .init and .fini.
fn without_lines_outside_of_text(rows: Rows) -> Rows {
    let mut seen = Rows::new();
    for (position, ir) in rows {
        let (file, function, _) = &position;
        let outside = function == "apart" || file.ends_with("/crti.S") || file.ends_with("/crtn.S");
        let position = if outside { ("???".to_owned(), function.clone(), 0) } else { position };
        *seen.entry(position).or_default() += ir;
    }
    seen
}

/// The mangled names of functions in files, as nm(1) lists them.
fn mangled(files: &[&str], options: &[&str], directory: &Path) -> BTreeSet<String> {
    let out = tool("binutils", directory, "nm", &[&["--defined-only"], options, files].concat());
    let names = stdout(&out);
    let last = names.lines().filter_map(|line| line.split_whitespace().last());
    last.filter(|name| name.starts_with("_Z"))
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .collect()
}

/// What libiberty's demangler, which Valgrind has, writes for what cgemu's writes, of all functions
/// of a program and of the C++ library, where these differ.
fn respelled(directory: &Path) -> BTreeMap<String, String> {
    let library = tool("g++", directory, "g++", &["-print-file-name=libstdc++.so.6"]);
    let mut names = mangled(&["prog"], &[], directory);
    names.extend(mangled(&[stdout(&library).trim()], &["-D"], directory));
    let names: Vec<String> = names.into_iter().collect();
    let mut profile = String::from("cmd: x\nevents: Ir\n");
    for (i, name) in names.iter().enumerate() {
        let _ = writeln!(profile, "fl={i}\nfn={name}\n1 1");
    }
    let _ = writeln!(profile, "summary: {}", names.len());
    std::fs::write(directory.join("names"), profile).expect("written");
    let ours = output(directory, &["top", "--json", "--names=full", "--count=0", "names"]);
    let ours: serde_json::Value = serde_json::from_str(&stdout(&ours)).expect("JSON");
    let mut theirs = Vec::new();
    for some in names.chunks(500) {
        let words: Vec<&str> = ["--no-verbose"].into_iter().chain(some.iter().map(String::as_str)).collect();
        theirs.extend(stdout(&tool("binutils", directory, "c++filt", &words)).lines().map(str::to_owned));
    }
    let functions = ours["functions"].as_array().expect("functions");
    assert_eq!(functions.len(), names.len());
    let pairs = functions.iter().map(|row| {
        let place: usize = row["file"].as_str().and_then(|file| file.parse().ok()).expect("a number");
        (row["function"].as_str().expect("a name").to_owned(), theirs[place].clone())
    });
    pairs.filter(|(ours, theirs)| ours != theirs).collect()
}

/// The rows with other names of functions; those that become one are summed up.
fn renamed(rows: Rows, names: &BTreeMap<String, String>) -> Rows {
    let mut renamed = Rows::new();
    for ((file, function, line), ir) in rows {
        let function = names.get(&function).cloned().unwrap_or(function);
        *renamed.entry((file, function, line)).or_default() += ir;
    }
    renamed
}

/// The rows that differ, the largest difference first.
fn shown(theirs: &Rows, ours: &Rows) -> String {
    let positions: BTreeSet<&Position> = theirs.keys().chain(ours.keys()).collect();
    let of = |rows: &Rows, position: &Position| rows.get(position).copied().unwrap_or(0);
    let both = positions.into_iter().map(|position| (of(theirs, position), of(ours, position), position));
    let mut found: Vec<_> = both.filter(|(theirs, ours, _)| theirs != ours).collect();
    found.sort_by_key(|(theirs, ours, _)| std::cmp::Reverse(theirs.abs_diff(*ours)));
    let mut text = String::new();
    for (theirs, ours, (file, function, line)) in found.iter().take(12) {
        let _ = writeln!(text, "  {theirs:>8} under Valgrind, {ours:>8} here: {file}:{line} {function}");
    }
    if found.len() > 12 {
        let _ = writeln!(text, "  and {} more", found.len() - 12);
    }
    text
}

fn compare(case: &'static Program) -> Result<(), String> {
    let dir = tempfile::tempdir().expect("a directory");
    let (build, out) = (dir.path().join("build"), dir.path().join("out"));
    std::fs::create_dir(&build).expect("mkdir");
    std::fs::create_dir(&out).expect("mkdir");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/attribution");
    let script = format!("SOURCES='{}'; {}", sources.display(), case.setup);
    let built = tool("dash", &build, "sh", &["-ec", &script]);
    if !built.status.success() {
        let needs = "these need: apt-get install gcc g++ libc6-dev binutils, and rustc";
        return Err(format!("  it cannot be built: {}{needs}\n", stderr(&built)));
    }
    let run = Run { program: case, model: &ARCH, input: &build, directory: &out };
    let ((theirs, expected), (ours, printed)) = (run.theirs()?, run.ours()?);
    assert_eq!(printed, expected, "{}", case.name);
    let (theirs, ours) = (rows(case, &theirs), rows(case, &ours));
    let mut ours = without_lines_outside_of_text(ours);
    // Else nothing would be compared.
    if theirs.len() < 50 {
        return Err(format!("  Valgrind has {} rows\n", theirs.len()));
    }
    if case.name.starts_with("C++") {
        ours = renamed(ours, &respelled(&build));
    }
    let text = shown(&theirs, &ours);
    if text.is_empty() { Ok(()) } else { Err(text) }
}

#[test]
fn every_instruction_counts_where_valgrind_counts_it() {
    if let Err(why) = run::check_host() {
        return crate::common::not_compared(&format!("{why}: Valgrind starts programs otherwise there"));
    }
    let part = std::env::var(vars::ATTRIBUTION).unwrap_or_default();
    let cases: Vec<&Program> = CASES.iter().filter(|case| case.name.contains(&part)).collect();
    assert!(!cases.is_empty(), "no case has that in its name");
    let results = parallel(cases, |case| (case.name, compare(case)));
    let wrong: Vec<String> = results
        .into_iter()
        .filter_map(|(name, result)| Some(format!("{name}:\n{}", result.err()?)))
        .collect();
    assert!(wrong.is_empty(), "what differs:\n{}", wrong.concat());
}
