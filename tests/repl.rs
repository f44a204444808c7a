//! The shell: every command in a script and on a terminal, what bad input gets, and that looking changes nothing.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::pty::Terminal;
use common::{cgemu, stderr, stdout, tool};

const SOURCE: &str = include_str!("../testdata/repl/prog.c");

/// The number of the line of the source that holds `text`, the first of them.
fn line_of(text: &str) -> usize {
    SOURCE.lines().position(|line| line.contains(text)).expect("a line of the source") + 1
}

/// A directory with the program in it.
fn built() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("prog.c"), SOURCE).expect("written");
    fs::write(dir.path().join("input"), "abc\n").expect("written");
    let words = ["-g", "-O0", "-fno-pie", "-no-pie", "-o", "prog", "prog.c"];
    let out = tool("gcc", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

struct Said {
    status: i32,
    out: String,
    err: String,
}

/// Runs commands, one a line, over the program with some arguments.
fn script_with(dir: &Path, options: &[&str], commands: &str, args: &[&str]) -> Said {
    fs::write(dir.join("script"), commands).expect("written");
    let mut words = vec!["repl", "--commands=script", "--stdin=input", "--cachegrind-out-file=out"];
    words.extend(options);
    words.extend(["--", "./prog"]);
    words.extend(args);
    let out = cgemu(dir, &words).output().expect("cgemu starts");
    Said { status: out.status.code().unwrap_or(-1), out: stdout(&out), err: stderr(&out) }
}

fn script(dir: &Path, commands: &str) -> Said {
    script_with(dir, &[], commands, &[])
}

/// Runs commands that succeed; what they print, which has these parts in this order.
fn prints(dir: &Path, commands: &str, parts: &[&str]) -> String {
    let said = script(dir, commands);
    assert_eq!(said.status, 0, "{commands}\n{}\n{}", said.out, said.err);
    let mut rest = said.out.as_str();
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => panic!("no {part:?} (in its place) after\n{commands}\nin\n{}", said.out),
        }
    }
    said.out
}

/// The names of the commands.
fn names() -> BTreeSet<String> {
    let reference = cgemu::repl::reference();
    let heads = reference.lines().filter_map(|line| line.strip_prefix('`'));
    heads.filter_map(|head| head.split([' ', '`']).next()).map(str::to_owned).collect()
}

#[test]
fn the_reference_lists_the_commands() {
    let reference = cgemu::repl::reference();
    let text = include_str!("../docs/repl.md");
    assert!(text.trim_end().ends_with(reference.trim_end()), "docs/repl.md is to end with:\n{reference}");
}

#[test]
fn every_command_is_tried() {
    let source = include_str!("repl.rs");
    let tried: BTreeSet<&str> = source.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
    let missing: Vec<String> = names().into_iter().filter(|name| !tried.contains(name.as_str())).collect();
    assert!(missing.is_empty() && names().len() > 40, "no test uses {missing:?}");
}

#[test]
fn running_and_stopping() {
    let dir = built();
    let at = |text: &str| format!("prog.c:{}", line_of(text));
    let (main, add, loop_) = (at("int n = argc"), at("counter += i"), at("for (int i"));
    prints(dir.path(), "start\n", &[&main, "int n = argc"]);
    prints(dir.path(), "break step\nrun\n", &["stop 1: ", "stop 1: breakpoint step", &add]);
    // The third call adds 2 to 0 + 1.
    prints(
        dir.path(),
        "break step\nrun\ncontinue 2\nprint i32[&counter]\nprint $edi\nline\nprint i32[&counter]\n",
        &["$1 = 1\n", "$2 = 2\n", "$3 = 3\n"],
    );
    prints(
        dir.path(),
        "tbreak work\nrun\nline\nline\nwhere\n",
        &[&at("int sum = 0"), &loop_, &at("sum += step"), "#0"],
    );
    prints(dir.path(), "tbreak work\nrun\nline 2\nline into\n", &[&add]);
    prints(dir.path(), "tbreak step\nrun\nuntil work\nuntil prog.c:21\n", &[&add]);
    prints(dir.path(), "start\nuntil step\ninfo breaks\n", &[&add, "no stops"]);
    let conditional =
        format!("break step if i32[&counter] > 100\nrun\nprint i32[&counter]\ndelete\ncontinue\n");
    // 0 + 1 + ... + 14 is the first sum above 100.
    prints(dir.path(), &conditional, &["$1 = 105", "sum ", "status 3"]);
    prints(dir.path(), "break step\ndisable 1\nrun\n", &["status 3"]);
    prints(dir.path(), "break step\ndisable\nenable 1\nrun\n", &[&add]);
    prints(dir.path(), "break step if D1mr > 1000000\nbreak prog.c:33\nrun\n", &["stop 2: breakpoint"]);
    prints(dir.path(), "stop after 1_000 instructions\nrun\n", &["stop 1", "after 1,000 instructions"]);
    prints(
        dir.path(),
        "advance 10k\nstep\nstep 9\nnext\n",
        &["after 10,000 ", "after 10,001 ", "after 10,010 "],
    );
    prints(dir.path(), "break work\nrun\nnext 2\nrun\nrun\n", &["stop 1", "stop 1", "stop 1"]);
}

#[test]
fn memory_and_events() {
    let dir = built();
    let after_add = format!("prog.c:{}", line_of("table[(i"));
    prints(
        dir.path(),
        "break work\nrun\nwatch counter\ncontinue\ncontinue\nprint i32[&counter]\n",
        &[
            "stop 2: watch (write) counter",
            "holds now 0x0",
            &after_add,
            "holds now 0x1",
            &after_add,
            "$1 = 1",
        ],
    );
    // Reads as well: the load of the addition comes first, the one of `return counter` after it.
    let twice = "break step\nrun\ndelete\nwatch counter rw\ncontinue\ncontinue\ncontinue\nwhere\n";
    prints(
        dir.path(),
        twice,
        &["watch (any)", "watch (any)", "watch (any)", &format!("prog.c:{}", line_of("return counter"))],
    );
    prints(
        dir.path(),
        "break work\nrun\nwatch counter r if i32[&counter] == 6\ncontinue\nprint i32[&counter]\n",
        &["$1 = 6"],
    );
    // read(2) stores there, and no instruction.
    prints(dir.path(), "start\nline\nwatch u32[$rbp-0x70+0]\n", &["stop 1"]);
    prints(
        dir.path(),
        "catch syscall read write\nbreak main\nrun\ndisable\nenable 1\ncontinue\ncontinue\n",
        &["(read)"],
    );
    prints(dir.path(), "catch syscall\nrun\nrun\n", &["stop 1: about to make system call 12 (brk)"]);
    prints(dir.path(), "catch signal\nrun\nwhere\ncontinue\n", &["signal 10", "handler", "status 3"]);
    prints(
        dir.path(),
        "break work\nrun\ncatch miss D1mr in step\ndelete 1\ncontinue\n",
        &["catch miss", "step"],
    );
    let said = script_with(dir.path(), &[], "catch exec\nrun\ninfo process\ncontinue\n", &["5", "x"]);
    assert!(said.out.contains("another program was loaded") && said.out.contains("/true"), "{}", said.out);
    prints(dir.path(), "catch fork\nrun\n", &["status 3"]);
}

#[test]
fn the_first_miss_is_found_exactly() {
    let dir = built();
    // Counters one instruction earlier and at the stop: the miss came with that instruction.
    let out = prints(
        dir.path(),
        "break work\nrun\ncatch miss D1mr\nprint D1mr\ncontinue\nprint D1mr\nreverse-step\nprint D1mr\n",
        &["$1 = ", "$2 = ", "$3 = "],
    );
    let value = |name: &str| -> u64 {
        let rest = out.split(&format!("{name} = ")).nth(1).expect("printed");
        rest.lines().next().expect("a line").parse().expect("a number")
    };
    assert_eq!((value("$2"), value("$3")), (value("$1") + 1, value("$1")), "{out}");
}

#[test]
fn counts() {
    let dir = built();
    let dump = "break step\nrun\ndump\ndump named.cgout\ndump\nsummary\n";
    prints(dir.path(), dump, &["out.1", "named.cgout", "out.2", "I   refs:"]);
    assert_eq!(
        fs::read(dir.path().join("out.1")).expect("read"),
        fs::read(dir.path().join("named.cgout")).expect("read")
    );
    let read = tool("valgrind", dir.path(), "cg_annotate", &["named.cgout"]);
    assert!(read.status.success() && stdout(&read).contains("_dl_relocate_object"), "{}", stderr(&read));
    // The loop runs a thousand times.
    let top = "tbreak work\nrun\nmark loop\nbreak prog.c:34\nuntil prog.c:34\nsince loop 2 by Ir functions\n";
    let out = prints(dir.path(), top, &["share"]);
    assert!(out.contains("step") && out.contains("everything"), "{out}");
    prints(dir.path(), "run\ntop 2 by Dw lines\ntop 3 instructions\n", &["prog.c:", "0x"]);
    let annotated = prints(
        dir.path(),
        "run\nannotate step\nannotate prog.c:9-14\nannotate step --asm\n",
        &["counter += i", "prog.c", "0x"],
    );
    assert!(annotated.contains("table[(i * 97)"), "{annotated}");
    let zero = "tbreak step\nrun\nzero\nprint Ir\nstep 7\nprint Ir\ninstr off\nstep 5\nprint Ir\nprint instructions\ninstr on\nstep 2\nprint Ir\n";
    prints(dir.path(), zero, &["$1 = 0", "$2 = 7", "$3 = 7", "$4 = ", "$5 = 9"]);
    prints(
        dir.path(),
        "run\ncache\ncache D1 symbols\ncache LL sets\n",
        &["I1: 32,768 bytes", "D1: ", "lines", "LL: ", "sets are full"],
    );
    let said = script_with(dir.path(), &["--branch-sim=yes"], "run\npredict 3\ntop 2 by Bcm\n", &[]);
    assert!(said.status == 0 && said.out.contains("mispredicted"), "{}{}", said.out, said.err);
}

#[test]
fn looking() {
    let dir = built();
    let out = prints(
        dir.path(),
        "break step\nrun\nregs\nregs -a\nlist\nlist main\ndisas step 4\ndisas\nprint /x 255\nprint 'a'\nx /2xw &counter\n\
         x /3i $rip\n",
        &["rip", "xmm15", "counter += i", "int main", "push rbp", "0xff"],
    );
    assert!(out.contains("<counter>"), "{out}");
}
