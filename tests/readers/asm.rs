//! `annotate --asm`: the instructions are those that objdump shows, the counts those of the
//! profile.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{output, stderr, stdout, tool};

const SOURCE: &str = r#"#include <stdio.h>
#include <string.h>
static unsigned mix(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; return x ^ x >> 15; }
__attribute__((noinline)) unsigned work(const unsigned char *p, size_t n, double *d, void (*f)(void)) {
  unsigned s = 0;
  for (size_t i = 0; i < n; i++) {
    s = mix(s + p[i]);
    d[i & 15] += s * 0.5;
    if (s % 7 == 3) f();
  }
  if (s == 12345) puts("never");
  __builtin_memset(d, 0, n & 64);
  return s;
}
static int calls;
static void count(void) { calls++; }
int main(int argc, char **argv) {
  unsigned char buffer[4096]; double d[16] = {0};
  memset(buffer, argc, sizeof buffer);
  printf("%u %d\n", work(buffer, sizeof buffer, d, count), calls);
  return 0;
}
"#;

/// A program with its profile `out`, and `out.instr` beside it. `@` in the flags is the directory.
fn profiled(flags: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path().canonicalize().expect("its path").to_string_lossy().into_owned();
    let flags: Vec<String> = flags.iter().map(|flag| flag.replace('@', &here)).collect();
    let flags: &[&str] = &flags.iter().map(String::as_str).collect::<Vec<_>>();
    std::fs::write(directory.path().join("hot.c"), SOURCE).expect("a source");
    let built = tool("gcc", directory.path(), "gcc", &[flags, &["-g", "-o", "hot", "hot.c"]].concat());
    assert!(built.status.success(), "{}", stderr(&built));
    let words = ["run", "-q", "--dump-instr=yes", "--branch-sim=yes", "--cachegrind-out-file=out", "./hot"];
    let run = output(directory.path(), &words);
    assert!(run.status.success(), "{}", stderr(&run));
    directory
}

fn annotated(directory: &Path, words: &[&str]) -> String {
    let output = output(directory, &[&["annotate"], words].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// Without versions of symbols, which objdump adds to those of the dynamic linker.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('@').filter(|&at| !rest[at..].starts_with("@plt")) {
        out += &rest[..at];
        rest = rest[at..].trim_start_matches(|c| c != '+' && c != '>');
    }
    out + rest
}

/// Address, bytes and instruction of each line that has them; what stands before is ours.
fn instructions(text: &str) -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    for line in text.lines() {
        let mut parts = line.split('\t');
        let (Some(head), Some(bytes)) = (parts.next(), parts.next()) else { continue };
        let Some(address) = head.strip_suffix(':').and_then(|head| head.split_whitespace().last()) else {
            continue;
        };
        match (parts.next(), found.last_mut()) {
            (None, Some(last)) => last.1 += &format!(" {}", bytes.trim()),
            (text, _) => {
                let text = plain(text.unwrap_or_default()).trim_end().to_owned();
                found.push((address.to_owned(), bytes.trim().to_owned(), text));
            }
        }
    }
    found
}

#[test]
fn the_code_is_what_objdump_shows() {
    for flags in [&["-O2"][..], &["-O3", "-fcf-protection"], &["-O0"], &["-Os", "-no-pie"]] {
        let directory = profiled(flags);
        for function in ["work", "main"] {
            let ours = annotated(directory.path(), &[&format!("--asm={function}"), "out"]);
            let disassemble = format!("--disassemble={function}");
            let theirs = tool("binutils", directory.path(), "objdump", &["-d", &disassemble, "hot"]);
            let (ours, theirs) = (instructions(&ours), instructions(&stdout(&theirs)));
            assert!(ours.len() > 10, "{flags:?} {function}");
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!(ours, theirs, "{flags:?} {function}");
            }
            // objdump also shows the padding after the function.
            assert!(theirs[ours.len()..].iter().all(|row| row.2.contains("nop") || row.2.contains("xchg")));
        }
        for (syntax, expected) in [("att", "%r"), ("intel", "PTR [")] {
            let option = format!("--asm-syntax={syntax}");
            let text = annotated(directory.path(), &["--asm=work", &option, "out"]);
            assert!(text.contains(expected), "{text}");
        }
    }
}

/// Counts by function in the profile: Ir, and the sum of all events.
fn of_functions(profile: &str) -> BTreeMap<String, Vec<i64>> {
    let mut sums: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut function = String::new();
    for line in profile.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            name.clone_into(&mut function);
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let counts = line.split(' ').skip(1).map(|word| word.parse::<i64>().expect("a count"));
            let sum = sums.entry(function.clone()).or_insert_with(|| vec![0; 13]);
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    sums
}

#[test]
fn the_counts_are_those_of_the_profile() {
    let directory = profiled(&["-O2"]);
    let profile = std::fs::read_to_string(directory.path().join("out")).expect("a profile");
    let functions = of_functions(&profile);
    let text = annotated(directory.path(), &["--asm=work", "--no-show-percs", "out"]);
    let mut sum = vec![0; 13];
    let mut hot = Vec::new();
    let (_, listing) = text.split_once("-- Machine code: ").expect("a listing");
    for line in listing.lines().filter(|line| line.contains(":\t")) {
        let counts: Vec<&str> = line.split_whitespace().take(13).collect();
        if counts[0] == "." {
            continue;
        }
        let counts = counts.iter().map(|word| word.replace(',', "").parse::<i64>().expect("a count"));
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        if line.contains(" * ") {
            hot.push(line);
        }
    }
    assert_eq!(sum, functions["work"]);
    // The loop runs 4,096 times; what stands outside of it is not hot.
    assert!(hot.len() > 10 && hot.iter().all(|line| line.trim_start().starts_with("4,096")), "{hot:#?}");
    assert!(listing.contains("hot.c:7      s = mix(s + p[i]);"), "{listing}");
    // The whole side file has the whole profile's counts, function by function.
    let side = std::fs::read_to_string(directory.path().join("out.instr")).expect("a side file");
    let totals = side.lines().find_map(|line| line.strip_prefix("totals:")).expect("totals");
    let summary = profile.lines().find_map(|line| line.strip_prefix("summary:")).expect("a summary");
    assert_eq!(totals, summary);
}

#[test]
fn callgrinds_reader_takes_the_side_file() {
    let directory = profiled(&["-O2"]);
    let read = tool("valgrind", directory.path(), "callgrind_annotate", &["--auto=no", "out.instr"]);
    assert!(
        read.status.success() && stdout(&read).contains("hot.c:work"),
        "{}{}",
        stdout(&read),
        stderr(&read)
    );
}

#[test]
fn a_program_that_was_built_anew_is_named() {
    let directory = profiled(&["-O2"]);
    let id = |text: &str| text.split("build-id:").skip(1).map(|id| id[..40].to_owned()).collect::<Vec<_>>();
    let side = std::fs::read_to_string(directory.path().join("out.instr")).expect("a side file");
    let lines: Vec<&str> = side.lines().collect();
    let named = lines.windows(2).find(|pair| pair[1].starts_with("ob=") && pair[1].ends_with("/hot"));
    let old = named.and_then(|pair| id(pair[0]).pop()).expect("an id");
    let built = tool("gcc", directory.path(), "gcc", &["-O1", "-g", "-o", "hot", "hot.c"]);
    assert!(built.status.success());
    let text = annotated(directory.path(), &["--asm=work", "out"]);
    let line = text.lines().find(|line| line.contains("/hot: has ")).unwrap_or_else(|| panic!("{text}"));
    let ids = id(line);
    assert!(ids.len() == 2 && ids[1] == old && ids[0] != old, "{line}");
    assert!(!text.contains("imul"), "{text}");
}

#[test]
fn sources_that_are_elsewhere() {
    let directory = profiled(&["-O2", "-fdebug-prefix-map=@=/gone"]);
    let without = annotated(directory.path(), &["--asm=work", "out"]);
    assert!(!without.contains("mix(s + p[i])"));
    let here = directory.path().canonicalize().expect("its path");
    let option = format!("--source-path=/gone={}", here.display());
    for words in [&["--asm=work", &option, "out"][..], &[&option, "out"]] {
        let with = annotated(directory.path(), words);
        assert!(with.contains("mix(s + p[i])"), "{with}");
    }
}

/// Code that the program made: the side file has its bytes.
#[test]
fn code_that_is_in_no_file() {
    const MAKER: &str = r#"#include <string.h>
#include <sys/mman.h>
int main(void) {
  static const unsigned char code[] = {0xb9, 100, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x31, 0xc0, 0xc3};
  void *at = mmap((void *)0x7000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memcpy(at, code, sizeof code);
  return ((int (*)(void))at)();
}
"#;
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    std::fs::write(at.join("jit.c"), MAKER).expect("a source");
    let built = tool("gcc", at, "gcc", &["-g", "-o", "jit", "jit.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let words = ["run", "-q", "--dump-instr=yes", "--cache-sim=no", "--cachegrind-out-file=out", "./jit"];
    assert!(output(at, &words).status.success());
    let text = annotated(at, &["--asm=???", "--no-show-percs", "out"]);
    assert!(!text.contains("WARNING"), "{text}");
    let counted: Vec<(String, String)> = text
        .lines()
        .filter(|line| line.contains(" 70000"))
        .filter_map(|line| {
            let count = line.split_whitespace().next()?;
            Some((count.to_owned(), line.rsplit('\t').next()?.to_owned()))
        })
        .collect();
    let expected = [
        ("1", "mov    $0x64,%ecx"),
        ("100", "dec    %ecx"),
        ("100", "jne    7000005"),
        ("1", "xor    %eax,%eax"),
        ("1", "ret"),
    ];
    assert_eq!(counted, expected.map(|(count, text)| (count.to_owned(), text.to_owned())), "{text}");
    assert!(!annotated(at, &["--inline", "out"]).contains("WARNING"));
}

/// Code that a child made and took out again, and that a program made which only a child executes:
/// at the same address as other code of the parent.
#[test]
fn code_in_no_file_of_children() {
    const MAKERS: &str = r#"#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static int made(unsigned char turns) {
  unsigned char code[] = {0xb9, turns, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x31, 0xc0, 0xc3};
  void *at = mmap((void *)0x7000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memcpy(at, code, sizeof code);
  int result = ((int (*)(void))at)();
  return result | munmap(at, 4096);
}
int main(int argc, char **argv) {
  int status;
  if (argc > 1) return made(50);
  if (fork() == 0) return made(30);
  wait(&status);
  if (fork() == 0) return execl(argv[0], argv[0], "again", (char *)0);
  wait(&status);
  return status | made(100);
}
"#;
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    std::fs::write(at.join("makers.c"), MAKERS).expect("a source");
    let built = tool("gcc", at, "gcc", &["-g", "-o", "makers", "makers.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let run = |options: &[&str]| {
        let words = ["run", "-q", "--dump-instr=yes", "--cache-sim=no", "--fork-counts=zero"];
        let ran = output(at, &[&words, options, &["./makers"]].concat());
        assert!(ran.status.success(), "{}", stderr(&ran));
    };
    let made = |profile: &str| -> Vec<(String, String)> {
        let text = annotated(at, &["--asm=???", "--no-show-percs", profile]);
        assert!(!text.contains("WARNING"), "{text}");
        let lines = text.lines().filter(|line| line.contains(" 70000"));
        lines
            .filter_map(|line| {
                let count = line.split_whitespace().next()?.to_owned();
                Some((count, line.rsplit('\t').next()?.to_owned()))
            })
            .collect()
    };
    let code = |constant: &str, calls: &str, turns: &str| {
        let rows = [
            (calls, format!("mov    $0x{constant},%ecx")),
            (turns, "dec    %ecx".to_owned()),
            (turns, "jne    7000005".to_owned()),
            (calls, "xor    %eax,%eax".to_owned()),
            (calls, "ret".to_owned()),
        ];
        rows.map(|(count, text)| (count.to_owned(), text)).to_vec()
    };
    for options in [&["--trace-children=yes"][..], &["--trace-children=yes", "--separate-threads=yes"]] {
        run(&[options, &["--cachegrind-out-file=%p"]].concat());
        let mut files: Vec<String> = std::fs::read_dir(at)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with(|c: char| c.is_ascii_digit()) && !name.ends_with(".instr"))
            .collect();
        files.sort_by_key(|name| (name.contains(".1002"), name.contains(".1001"), name.clone()));
        let each = files.len() / 3;
        assert_eq!(each, 1 + usize::from(options.len() > 1), "{files:?}");
        for (at, file) in files.iter().enumerate() {
            let expected = match at / each {
                0 => code("64", "1", "100"),
                1 => code("1e", "1", "30"),
                _ => code("32", "1", "50"),
            };
            assert_eq!(made(file), expected, "{file}");
        }
        for file in files {
            std::fs::remove_file(at.join(file)).expect("removed");
        }
    }
    // One profile of all has one place for an address: the bytes are those of the first process.
    run(&["--trace-children=yes", "--cachegrind-out-file=merged"]);
    assert_eq!(made("merged"), code("64", "3", "180"));
}

#[test]
fn what_is_not_there() {
    let directory = profiled(&["-O2"]);
    for (words, part) in [
        (&["--asm", "none"][..], "none.instr"),
        (&["--asm=wor", "out"], "there are work"),
        (&["--asm=main", "--show=Xx", "out"], "Xx"),
        (&["--asm", "hot.c"], "--dump-instr=yes"),
    ] {
        let output = output(directory.path(), &[&["annotate"], words].concat());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(part) && message.lines().count() == 1, "{message}");
    }
}
