//! `annotate --inline`: the chains are those of addr2line(1), from every place that debug
//! information may be in.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{output, stderr, stdout, tool};

const SOURCE: &str = r#"#include <stdio.h>
#include <string.h>
static inline unsigned rot(unsigned x) { return x << 5 | x >> 27; }
static inline unsigned mix(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; return rot(x) ^ x >> 15; }
__attribute__((noinline)) unsigned work(const unsigned char *p, size_t n) {
  unsigned s = 0;
  for (size_t i = 0; i < n; i++) {
    s = mix(s + p[i]);
    if (s & 1)
      s = rot(s);
  }
  return s;
}
int main(int argc, char **argv) {
  unsigned char buffer[4096];
  memset(buffer, argc, sizeof buffer);
  printf("%u %u\n", work(buffer, sizeof buffer), mix(argc));
  return 0;
}
"#;

const RUST: &str = "
struct Pair<T>(T, T);
impl Pair<u64> {
    #[inline(always)]
    fn sum(&self) -> u64 { self.0.wrapping_mul(7).wrapping_add(self.1) }
}
#[inline(never)]
fn work(values: &[u64]) -> u64 {
    let pairs = values.iter().map(|v| Pair(*v, v.rotate_left(3)).sum());
    pairs.fold(1, |a, b| a ^ b.wrapping_mul(a))
}
fn main() {
    let values: Vec<u64> = std::env::args().flat_map(|a| a.into_bytes()).map(u64::from).collect();
    println!(\"{}\", work(&values));
}
";

/// What a chain of calls has in all, and for itself if that is another number.
type Chains = BTreeMap<Vec<String>, (i64, i64)>;

fn run(directory: &Path, tool_words: &[&str]) {
    let (program, words) = tool_words.split_first().expect("a program");
    let package = if *program == "gcc" { "gcc" } else { "binutils" };
    let done = tool(package, directory, program, words);
    assert!(done.status.success(), "{tool_words:?}: {}", stderr(&done));
}

/// Writes `out` and `out.instr`: the profile of `./hot` with instructions alone.
fn profile(directory: &Path) {
    let words = ["run", "-q", "--dump-instr=yes", "--cache-sim=no", "--cachegrind-out-file=out", "./hot"];
    let run = output(directory, &words);
    assert!(run.status.success(), "{}", stderr(&run));
}

fn built(flags: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("hot.c"), SOURCE).expect("a source");
    run(directory.path(), &[&["gcc", "-O2"], flags, &["-o", "hot", "hot.c"]].concat());
    profile(directory.path());
    directory
}

fn annotated(directory: &Path, words: &[&str]) -> String {
    let output = output(directory, &[&["annotate", "--no-show-percs", "--threshold=0"], words].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// The tree of one function, as we print it.
fn ours(text: &str) -> Chains {
    let (_, tree) = text.split_once("-- Inlined into ").expect("a tree");
    let mut path: Vec<String> = Vec::new();
    let mut chains = Chains::new();
    for line in tree.lines().skip(4).take_while(|line| !line.is_empty()) {
        let (count, rest) = line.trim_start().split_once(' ').expect("a count");
        let count: i64 = count.replace(',', "").parse().expect("a number");
        let depth = (rest.len() - rest.trim_start().len()) / 2;
        path.truncate(depth);
        if rest.trim() == "(itself)" {
            chains.get_mut(&path).expect("a function").1 = count;
        } else {
            path.push(rest.trim().to_owned());
            chains.insert(path.clone(), (count, 0));
        }
    }
    let all: Vec<Vec<String>> = chains.keys().cloned().collect();
    for chain in &all {
        // One line stands for both if nothing is inlined.
        if !all.iter().any(|other| other.len() > chain.len() && other.starts_with(chain)) {
            let entry = chains.get_mut(chain).expect("there");
            entry.1 = entry.0;
        }
    }
    chains
}

/// The same, of what addr2line says of each instruction that ran.
fn theirs(directory: &Path, function: &str) -> Chains {
    let side = std::fs::read_to_string(directory.join("out.instr")).expect("a side file");
    let mut counts = BTreeMap::new();
    let mut inside = false;
    for line in side.lines() {
        if line.starts_with("ob=") {
            inside = line.ends_with("/hot");
        } else if let (true, Some(line)) = (inside, line.strip_prefix("0x")) {
            let words: Vec<&str> = line.split(' ').collect();
            counts.insert(
                u64::from_str_radix(words[0], 16).expect("hex"),
                words[2].parse::<i64>().expect("Ir"),
            );
        }
    }
    let addresses: Vec<String> = counts.keys().map(|address| format!("{address:#x}")).collect();
    let words: Vec<&str> = ["-a", "-i", "-f", "-C", "-e", "hot"]
        .into_iter()
        .chain(addresses.iter().map(String::as_str))
        .collect();
    let said = stdout(&tool("binutils", directory, "addr2line", &words));
    let mut chains = Chains::new();
    for (part, count) in said.split("0x0000").skip(1).zip(counts.values()) {
        let lines: Vec<&str> = part.lines().skip(1).collect();
        let frames: Vec<(&str, &str)> = lines
            .chunks(2)
            .map(|pair| (pair[0], pair[1].split(" (disc").next().unwrap_or(pair[1])))
            .collect();
        let mut path: Vec<String> = Vec::new();
        let mut site = None;
        for (name, place) in frames.iter().rev() {
            path.push(site.map_or((*name).to_owned(), |site| format!("{name}, called at {site}")));
            site = Some(*place);
            chains.entry(path.clone()).or_default().0 += count;
        }
        chains.get_mut(&path).expect("just made").1 += count;
    }
    chains.retain(|path, _| path[0] == function);
    chains
}

#[test]
fn chains_are_those_of_addr2line() {
    for flags in [&["-gdwarf-5"][..], &["-gdwarf-4", "-no-pie"], &["-g", "-O3", "-fno-pie", "-no-pie"]] {
        let directory = built(flags);
        for function in ["work", "main"] {
            let option = format!("--inline={function}");
            let ours = ours(&annotated(directory.path(), &[&option, "out"]));
            assert!(ours.len() > 1, "{ours:#?}");
            assert_eq!(ours, theirs(directory.path(), function), "{flags:?}");
        }
    }
}

#[test]
fn generic_code_of_rust() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("hot.rs"), RUST).expect("a source");
    let words = ["-g", "-Copt-level=2", "-Csymbol-mangling-version=v0", "hot.rs"];
    let built = tool("rustc", directory.path(), "rustc", &words);
    assert!(built.status.success(), "{}", stderr(&built));
    profile(directory.path());
    let ours = ours(&annotated(directory.path(), &["--inline=hot::work", "out"]));
    assert!(
        ours.keys().any(|path| path.last().is_some_and(|call| call.contains("Pair<u64>>::sum, "))),
        "{ours:#?}"
    );
    let short = annotated(directory.path(), &["--inline=hot::work", "--names=short", "out"]);
    assert!(short.contains(" hot::Pair::sum, called at "), "{short}");
    assert_eq!(ours, theirs(directory.path(), "hot::work"));
}

#[test]
fn inlined_code_counts_where_it_was_written() {
    let directory = built(&["-g"]);
    let text = annotated(directory.path(), &["--inline", "out"]);
    let (_, table) = text.split_once("inlined code where it was written").expect("a table");
    let (table, _) = table.split_once("-- Inlined into").expect("trees");
    let count = |name: &str| {
        let line = table.lines().find(|line| line.contains(&format!("hot.c:{name}")));
        let line = line.unwrap_or_else(|| panic!("{name} in {table}"));
        let count = line.split_whitespace().next().unwrap_or_default().replace(',', "");
        (count.parse::<i64>().expect("a count"), line.ends_with("[100.0% inlined]"))
    };
    let mut expected = BTreeMap::new();
    for function in ["work", "main"] {
        for (path, (_, own)) in theirs(directory.path(), function) {
            let last = path.last().expect("a name").split(',').next().unwrap_or_default().to_owned();
            *expected.entry(last).or_insert(0) += own;
        }
    }
    for (name, inlined) in [("mix", true), ("rot", true), ("work", false), ("main", false)] {
        assert_eq!(count(name), (expected[name], inlined), "{name}");
    }
    // All of the program is in the table.
    let sum: i64 = table
        .lines()
        .filter(|line| line.contains(':'))
        .map(|line| {
            line.split_whitespace().next().unwrap_or_default().replace(',', "").parse::<i64>().unwrap_or(0)
        })
        .sum();
    let side = std::fs::read_to_string(directory.path().join("out.instr")).expect("a side file");
    let totals = side.lines().find_map(|line| line.strip_prefix("totals: ")).expect("totals");
    assert_eq!(sum.to_string(), totals);
}

/// Each instruction of the listing stands below the chain that addr2line gives it.
#[test]
fn machine_code_names_inlined_calls() {
    let directory = built(&["-g"]);
    let text = annotated(directory.path(), &["--asm=work", "--inline", "out"]);
    let (_, listing) = text.split_once("-- Machine code: ").expect("a listing");
    let mut inside = String::new();
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for line in listing.lines() {
        let words = line.trim_start_matches(['.', ' ']);
        if words == "(itself)" {
            inside.clear();
        } else if words.contains(", called at ") {
            words.clone_into(&mut inside);
        } else if let (true, Some(count)) = (line.contains(":\t"), line.split_whitespace().next()) {
            *sums.entry(inside.clone()).or_insert(0) += count.replace(',', "").parse::<i64>().unwrap_or(0);
        }
    }
    let mut expected: BTreeMap<String, i64> = BTreeMap::new();
    for (path, (_, own)) in theirs(directory.path(), "work") {
        let chain: Vec<String> = path.into_iter().skip(1).rev().collect();
        *expected.entry(chain.join("; ")).or_insert(0) += own;
    }
    sums.retain(|_, sum| *sum > 0);
    expected.retain(|_, sum| *sum > 0);
    assert!(expected.len() > 3, "{expected:#?}");
    assert_eq!(sums, expected, "{text}");
}

#[test]
fn debug_information_in_other_files() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let directory = built(&[version]);
        let at = directory.path();
        let tree = |at: &Path| ours(&annotated(at, &["--inline=work", "out"]));
        let expected = tree(at);
        assert!(expected.len() > 2);
        run(at, &["objcopy", "--only-keep-debug", "hot", "hot.debug"]);
        run(at, &["objcopy", "--strip-debug", "--add-gnu-debuglink=hot.debug", "hot"]);
        assert_eq!(tree(at), expected, "{version}: a separate debug file");
        std::fs::remove_file(at.join("hot.debug")).expect("a debug file");
        assert_eq!(tree(at).len(), 1, "{version}: no debug file");

        let directory = built(&[version, "-gsplit-dwarf"]);
        let at = directory.path();
        let tree = || {
            let text = annotated(at, &["--inline=work", "out"]);
            let shown = |text: &str| text.replace(&at.to_string_lossy().into_owned(), "");
            ours(&shown(&text)).into_iter().collect::<Vec<_>>()
        };
        let names = |chains: &[(Vec<String>, (i64, i64))]| -> Vec<(String, (i64, i64))> {
            let file = |text: &str| text.split('/').next_back().unwrap_or_default().to_owned();
            let name = |text: &str| text.split(',').next().unwrap_or_default().to_owned();
            chains
                .iter()
                .map(|(path, counts)| {
                    (path.iter().map(|call| name(call) + &file(call)).collect::<Vec<_>>().join(" "), *counts)
                })
                .collect()
        };
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(names(&tree()), names(&expected), "{version}: split");
        // Another build's file has another number.
        let split = std::fs::read_dir(at).expect("files").flatten().map(|file| file.path());
        let split: Vec<_> = split.filter(|path| path.extension().is_some_and(|end| end == "dwo")).collect();
        assert_eq!(split.len(), 1);
        let bytes = std::fs::read(&split[0]).expect("a file");
        if version == "-gdwarf-4" {
            run(at, &["dwp", "-e", "hot", "-o", "hot.dwp"]);
            std::fs::remove_file(&split[0]).expect("a file");
            assert_eq!(names(&tree()), names(&expected), "{version}: a package");
            std::fs::remove_file(at.join("hot.dwp")).expect("a package");
        }
        std::fs::write(&split[0], &bytes[..bytes.len() / 2]).expect("half a file");
        assert_eq!(tree().len(), 1, "{version}: half of a file");
        std::fs::remove_file(&split[0]).expect("a file");
        assert_eq!(tree().len(), 1, "{version}: no file");
    }
}

/// A loop that was inlined, described as dwz(1) leaves it: the callee is in the alternate file.
const ALTERNATE_USER: &str = r#"
    .text
    .globl work
    .type work, @function
work:
    mov $100, %ecx
.Lcall:
    dec %ecx
    jnz .Lcall
.Lreturn:
    mov $60, %eax
    xor %edi, %edi
    syscall
.Lend:
    .size work, .-work
    .section .debug_abbrev
    .uleb128 1, 0x11; .byte 1                               # DW_TAG_compile_unit
    .uleb128 0x11, 0x01, 0x12, 0x07, 0, 0                   # low_pc addr, high_pc data8
    .uleb128 2, 0x2e; .byte 1                               # DW_TAG_subprogram
    .uleb128 0x11, 0x01, 0x12, 0x07, 0x03, 0x08, 0, 0       # name string
    .uleb128 3, 0x1d; .byte 0                               # DW_TAG_inlined_subroutine
    .uleb128 0x11, 0x01, 0x12, 0x07, 0x31, 0x1f20, 0x59, 0x0b, 0, 0 # abstract_origin GNU_ref_alt, call_line data1
    .uleb128 0
    .section .debug_info
    .long .Lstop - .Lstart
.Lstart:
    .short 4
    .long 0
    .byte 8
    .uleb128 1; .quad work, .Lend - work
    .uleb128 2; .quad work, .Lend - work; .string "work"
    .uleb128 3; .quad .Lcall, .Lreturn - .Lcall; .long 12; .byte 7
    .byte 0, 0
.Lstop:
    .section .gnu_debugaltlink
    .string "common"
    .byte 0xab, 0xcd, 0xef, 0x01
    .section .note.GNU-stack, "", @progbits
"#;

const ALTERNATE: &str = r#"
    .section .debug_str, "MS", @progbits, 1
    .string "unused"
.Lname:
    .string "mix"
    .section .debug_abbrev
    .uleb128 1, 0x3c; .byte 1; .uleb128 0, 0                # DW_TAG_partial_unit
    .uleb128 2, 0x2e; .byte 0; .uleb128 0x03, 0x0e, 0, 0    # DW_TAG_subprogram: name strp
    .uleb128 0
    .section .debug_info
    .long .Lstop - .Lstart
.Lstart:
    .short 4
    .long 0
    .byte 8
    .uleb128 1
    .uleb128 2; .long .Lname
    .byte 0
.Lstop:
    .section .note.GNU-stack, "", @progbits
"#;

#[test]
fn names_in_an_alternate_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    std::fs::write(at.join("hot.s"), ALTERNATE_USER).expect("a source");
    std::fs::write(at.join("common.s"), ALTERNATE).expect("a source");
    run(at, &["gcc", "-nostdlib", "-static", "-Wl,-e,work", "-o", "hot", "hot.s"]);
    profile(at);
    for (id, name) in [("0xabcdef01", "mix"), ("0xabcdef02", "???")] {
        let link = format!("-Wl,--build-id={id}");
        run(at, &["gcc", "-nostdlib", "-shared", &link, "-o", "common", "common.s"]);
        let tree = ours(&annotated(at, &["--inline=work", "out"]));
        let call = format!("{name}, called at ???:7");
        let expected = [(vec!["work".to_owned()], (204, 4)), (vec!["work".to_owned(), call], (200, 200))];
        assert_eq!(tree, Chains::from(expected), "{id}");
    }
}

#[test]
fn what_is_not_there() {
    let directory = built(&["-g"]);
    for (words, status, part) in [
        (&["--inline", "none"][..], 1, "none.instr"),
        (&["--inline=wor", "out"], 1, "there are work"),
        (&["--inline", "hot.c"], 1, "--dump-instr=yes"),
        (&["--inline=main", "--asm=work", "out"], 2, "--asm=main --inline"),
        (&["--inline", "--json", "--csv", "out"], 2, "--csv"),
    ] {
        let output = output(directory.path(), &[&["annotate"], words].concat());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{message}");
        assert!(message.contains(part), "{message}");
    }
}
