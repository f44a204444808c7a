//! Call graphs of stacks that are very deep, or that the program destroys, and of very many
//! contexts: memory is bounded, and the log says what the costs suffer from.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::{cgemu, stderr, tool};
use crate::limits::peak;

/// Calls itself as often as `DEPTH` says, on a stack of its own.
const DEEP: &str = ".globl _start
.type f, @function
f: dec %ecx
   jz 1f
   call f
1: ret
.size f, . - f
.type _start, @function
_start: lea stack(%rip), %rsp
   mov $DEPTH, %ecx
   call f
   mov $60, %eax
   xor %edi, %edi
   syscall
.size _start, . - _start
.bss
.skip 32 << 20
stack: .skip 8
";

fn build(directory: &Path, source: &str, words: &[&str]) {
    fs::write(directory.join("p.S"), source).expect("written");
    let out = tool("gcc", directory, "gcc", &[words, &["-o", "p"]].concat());
    assert!(out.status.success(), "{}", stderr(&out));
}

/// The call graph of `./p`, the lines about it in the log, and the most memory in MiB.
fn run(directory: &Path, options: &[&str]) -> (String, Vec<String>, u64) {
    let words = ["run", "--callgraph=yes", "--callgrind-out-file=graph", "--cachegrind-out-file=profile"];
    let log = fs::File::create(directory.join("log")).expect("a file");
    let mut command = cgemu(directory, &[&words, options, &["--", "./p"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(log).spawn().expect("cgemu starts");
    let peak = peak(&mut child);
    let log = fs::read_to_string(directory.join("log")).expect("text");
    assert!(child.wait().expect("it ends").success(), "{log}");
    let about = log.lines().filter_map(|line| line.split_once("call graph: "));
    let graph = fs::read_to_string(directory.join("graph")).expect("text");
    (graph, about.map(|(_, text)| text.to_owned()).collect(), peak >> 10)
}

#[test]
fn deep_recursion() {
    let dir = tempfile::tempdir().expect("a directory");
    for (depth, cut, most) in [(100_000u64, 0, 128), (1_500_000, 1_500_000 - (1 << 20), 512)] {
        build(dir.path(), &DEEP.replace("DEPTH", &depth.to_string()), &["-nostdlib", "-static", "p.S"]);
        let (graph, about, peak) = run(dir.path(), &["--cache-sim=no"]);
        // The first call has all that f executes, the others contain each other.
        let all = 4 * depth - 1;
        assert!(graph.contains(&format!("fn=f\n0 4\ncfn=f'2\ncalls=1 0\n0 {}\n", all - 4)), "{graph}");
        let calls = depth - 2 - cut;
        assert!(graph.contains(&format!("fn=f'2\n0 {}\ncfn=f'2\ncalls={calls} 0\n", all - 4)), "{graph}");
        let told = format!(
            "{cut} calls deeper than 1048576 others are taken for jumps, so inclusive costs are less than those of all calls"
        );
        assert_eq!(about, Vec::from_iter((cut > 0).then_some(told)), "{depth}");
        assert!(peak < most, "{depth} calls take {peak} MiB");
    }
}

/// Three functions of a hundred that call each other in a million ways: those for which there is no
/// room are told apart no more.
#[test]
fn a_million_contexts() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut source = "#define N __attribute__((noinline, noclone)) void\nvolatile int s;\n".to_owned();
    for (level, called) in [("c", None), ("b", Some("c")), ("a", Some("b"))] {
        for at in 0..100 {
            let calls = called.map(|called| format!("for (int i = 0; i < 100; i++) {called}[i](); "));
            writeln!(source, "N {level}{at}(void) {{ {}s += {at}; }}", calls.unwrap_or_default())
                .expect("memory");
        }
        let all: Vec<String> = (0..100).map(|at| format!("{level}{at}")).collect();
        writeln!(source, "void (*const {level}[])(void) = {{ {} }};", all.join(", ")).expect("memory");
    }
    source += "int main(void) { for (int i = 0; i < 100; i++) a[i](); return 0; }";
    fs::write(dir.path().join("p.c"), source).expect("written");
    build(dir.path(), "", &["-O1", "-g", "-static", "p.c"]);
    let options = ["--cache-sim=no", "--separate-callers=2"];
    let (graph, about, peak) = run(dir.path(), &options);
    assert_eq!(about.len(), 1, "{about:?}");
    assert!(about[0].starts_with("there were too many contexts"), "{about:?}");
    assert!(peak < 768, "{peak} MiB");
    let functions: Vec<&str> = graph.lines().filter_map(|line| line.strip_prefix("fn=")).collect();
    // The first ones are told apart, the last ones are not.
    assert!(functions.contains(&"c0'b0'a0") && functions.contains(&"c99'b99'a9"), "{functions:?}");
    assert!(functions.contains(&"c99") && !functions.contains(&"c99'b99'a99"), "{functions:?}");
    // All calls are there.
    let is_last =
        |line: &str| line.strip_prefix("cfn=c").is_some_and(|name| name.starts_with(char::is_numeric));
    let counts = graph.lines().collect::<Vec<_>>();
    let calls = counts.windows(2).filter(|pair| is_last(pair[0]));
    let calls =
        calls.filter_map(|pair| pair[1].strip_prefix("calls=")?.split(' ').next()?.parse::<u64>().ok());
    assert_eq!(calls.sum::<u64>(), 1_000_000);
}

#[test]
fn another_stack() {
    let dir = tempfile::tempdir().expect("a directory");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/callgraph/contexts.c");
    build(dir.path(), "", &["-O2", "-g", source]);
    let (_, about, _) = run(dir.path(), &[]);
    let told = "7 returns lead to another stack, which the program took by itself; inclusive costs there are those of jumps";
    assert_eq!(about, [told]);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/callgraph/jump.c");
    build(dir.path(), "", &["-O2", "-g", source]);
    assert_eq!(run(dir.path(), &[]).1, [""; 0]);
}
