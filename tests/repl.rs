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
fn running_and_stopping() {
    let dir = built();
    let at = |text: &str| format!("prog.c:{}", line_of(text));
    let (main, add, loop_) = (at("int n = argc"), at("counter += i"), at("for (int i"));
    prints(dir.path(), "start\n", &[&main, "int n = argc"]);
    prints(dir.path(), "break step\nrun\n", &["stop 1: ", "stop 1: breakpoint step", &add]);
    // The third call adds 2 to 0 + 1.
    prints(
        dir.path(),
        "break step\nrun\ncontinue 2\nprint counter\nprint $edi\nline\nprint i32[&counter]\n",
        &["$1 = 1\n", "$2 = 2\n", "$3 = 3\n"],
    );
    prints(
        dir.path(),
        "tbreak work\nrun\nline\nline\nwhere\n",
        &[&at("int sum = 0"), &loop_, &at("sum += step"), "#0"],
    );
    prints(dir.path(), "tbreak work\nrun\nline 2\nline into\n", &[&add]);
    prints(
        dir.path(),
        "tbreak step\nrun\nuntil prog.c:21\n",
        &["stop 1: breakpoint step", &add, &at("return sum")],
    );
    prints(dir.path(), "start\nuntil step\ninfo breaks\n", &[&add, "no stops"]);
    let conditional = "break step if counter > 100\nrun\nprint counter\ndelete\ncontinue\n";
    // 0 + 1 + ... + 14 is the first sum above 100.
    prints(dir.path(), conditional, &["$1 = 105", "sum ", "status 3"]);
    prints(dir.path(), "break step\ndisable 1\nrun\n", &["status 3"]);
    prints(dir.path(), "break step\ndisable\nenable 1\nrun\n", &[&add]);
    prints(dir.path(), "break step if D1mr > 1000000\nbreak prog.c:33\nrun\n", &["stop 2: breakpoint"]);
    prints(
        dir.path(),
        "stop after 1_000 instructions\nrun\n",
        &["stop 1: after", "stop 1: stop after instruction 1000", "after 1,000 instructions"],
    );
    prints(
        dir.path(),
        "advance 10k\nstep\nstep 9\nnext\n",
        &["after 10,000 ", "after 10,001 ", "after 10,010 "],
    );
    prints(dir.path(), "run\nrun\n", &["read 4", "status 3", "read 4", "status 3"]);
    prints(dir.path(), "break work\nrun\nnext 2\nrun\nrun\n", &["stop 1", "stop 1", "stop 1"]);
}

/// What the compiler has put into its caller is a call all the same.
#[test]
fn inlined_functions() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("input"), "").expect("written");
    let source = "volatile int v;\nstatic inline __attribute__((always_inline)) int twice(int n)\n{\n    v = n;\n    return v + n;\n}\n\
        int main(void)\n{\n    v = 1;\n    int a = twice(v);\n    v = a;\n    return v;\n}\n";
    fs::write(dir.path().join("prog.c"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-g", "-O0", "-o", "prog", "prog.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let out = prints(
        dir.path(),
        "start\nline\nline\nline\n",
        &["prog.c:9 ", "prog.c:10 ", "prog.c:11 ", "prog.c:12 "],
    );
    assert!(!out.contains("prog.c:4 ") && !out.contains("prog.c:5 "), "{out}");
    prints(dir.path(), "start\nline\nline into\n", &["prog.c:10 ", "prog.c:4 "]);
    let out = prints(dir.path(), "break twice\nrun\nwhere\n", &["stop 1: ", "twice", "main"]);
    assert!(out.contains("#0") && out.contains("(inlined)"), "{out}");
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
    // It has been executed when the program stops, so the next line is next.
    let after = format!("prog.c:{}", line_of("return counter") + 1);
    prints(dir.path(), twice, &["watch (any)", "watch (any)", "watch (any)", &after]);
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

#[test]
fn stacks() {
    let dir = built();
    let place = |text: &str| format!("prog.c:{}", line_of(text));
    let (add, call, print) = (place("counter += i"), place("sum += step"), place("work(n)"));
    prints(
        dir.path(),
        "break step\nrun\nwhere\nframe 1\nlist\nprint $rip\nframe 2\nregs\nfinish\n",
        &[
            "#0",
            "step",
            &add,
            "#1",
            "work",
            &call,
            "#2",
            "main",
            &print,
            "#1 ",
            &call,
            "sum += step(i);",
            "#2 ",
        ],
    );
    // `finish` of the innermost frame stops behind the call.
    let out = prints(
        dir.path(),
        "break step\nrun\ndelete\nfinish\nwhere 1\nprint $eax\n",
        &["#0", "work", "$1 = 0"],
    );
    assert!(!out.contains("#1"), "{out}");
    // In the handler the frames go on behind the signal.
    prints(dir.path(), "break handler\nrun\nwhere\n", &["handler", "main", &place("raise(")]);
    prints(dir.path(), "thread\nthread 1\ninfo threads\n", &["task 1000", "task 1000", "task 1000"]);
}

#[test]
fn going_back() {
    let dir = built();
    prints(
        dir.path(),
        "break step\nrun\ncheckpoint first\ncheckpoint\ncontinue 4\nprint i32[&counter]\nreverse-continue\n\
         print i32[&counter]\nrestore first\nprint i32[&counter]\ninfo checkpoints\n",
        &["$1 = 6", "$2 = 3", "$3 = 0", "first", "1"],
    );
    let out = prints(
        dir.path(),
        "run\nreverse-continue\ncontinue\n",
        &["read 4", "beginning of the run", "status 3"],
    );
    assert_eq!(out.matches("read 4").count(), 1, "printed again: {out}");
    // Forth and back is nowhere.
    let there = "break work\nrun\nprint Dr\nprint D1mr\nprint $rsp\nadvance 10k\nreverse-step 10_000\nprint Dr\nprint D1mr\nprint $rsp\n";
    let out = prints(dir.path(), there, &["$6 = "]);
    let value = |n: usize| {
        out.split(&format!("${n} = ")).nth(1).and_then(|rest| rest.lines().next()).expect("printed")
    };
    assert_eq!([value(1), value(2), value(3)], [value(4), value(5), value(6)]);
    // A checkpoint knows what had been changed before it, and the way to it is still there.
    prints(
        dir.path(),
        "break step\nrun\nzero\nstep 3\ncheckpoint c\nstep 5\nrestore c\nreverse-step\nprint Ir\n",
        &["$1 = 2\n"],
    );
    // What is counted again after `zero` is gone is what was counted before.
    let zero = "break step\nrun\nprint Ir\nzero\nstep 5\nreverse-step 6\nprint Ir\n";
    let out = prints(dir.path(), zero, &["$2 = "]);
    let value = |n: usize| -> u64 {
        let rest = out.split(&format!("${n} = ")).nth(1).expect("printed");
        rest.lines().next().expect("a line").parse().expect("a number")
    };
    assert_eq!(value(2), value(1) - 1);
}

#[test]
fn what_has_changed_on_the_host_bars_the_way_back() {
    let dir = built();
    fs::write(dir.path().join("words"), "b\na\n").expect("written");
    fs::write(dir.path().join("script"), "catch syscall write\nrun\n!echo c >> words\nreverse-step\n")
        .expect("written");
    let words = ["repl", "--commands=script", "--cachegrind-out-file=out", "--", "sort", "words"];
    let out = cgemu(dir.path(), &words).output().expect("cgemu starts");
    assert_eq!(out.status.code(), Some(1), "{}", stdout(&out));
    assert!(stderr(&out).contains("words has changed"), "{}", stderr(&out));
    let out = script_with(dir.path(), &["--allow-write=."], "advance 1000\nreverse-step\n", &[]);
    assert!(out.status == 1 && out.err.contains("--allow-write"), "{}", out.err);
}

#[test]
fn the_shell_itself() {
    let dir = built();
    fs::write(dir.path().join("more"), "print 1 + 1\n").expect("written");
    prints(
        dir.path(),
        "# a comment\n\nalias two = print 2\ntwo\nalias\nset $x = 40\nprint $x + $1\nsource more\nset context 2\nshow context\n\
         show\nhelp\nhelp break\nlog said\nprint 77\nlog off\nprint 78\n!echo from the host\nquit\nnonsense\n",
        &[
            "$1 = 2",
            "two = print 2",
            "$2 = 42",
            "$3 = 2",
            "context 2",
            "command ./prog",
            "Running:",
            "Example: break",
            "from the host",
        ],
    );
    let said = fs::read_to_string(dir.path().join("said")).expect("a log");
    assert!(said.contains("77") && !said.contains("78"), "{said}");
    prints(
        dir.path(),
        "break work\nrun\ninfo maps\ninfo files\ninfo signals\ninfo process\ninfo marks\ninfo modules\ninfo breaks\n",
        &["[stack]", "standard stream", "default", "process 1000", "no marks", "prog", "work"],
    );
    for command in ["!true", "dump named", "log said"] {
        let out = script_with(dir.path(), &["--sandbox"], &format!("{command}\n"), &[]);
        assert!(out.status == 1 && out.err.contains("sandbox"), "{command}: {}", out.err);
    }
    // Commands may come through a pipe; the program then reads nothing.
    let mut command = cgemu(dir.path(), &["repl", "--cachegrind-out-file=out", "./prog"]);
    command.stdin(fs::File::open(dir.path().join("more")).expect("open"));
    let out = command.output().expect("cgemu starts");
    assert!(out.status.success() && stdout(&out).contains("$1 = 2"), "{}", stderr(&out));
}

#[test]
fn bad_input_gets_a_line_that_helps() {
    let dir = built();
    for (commands, parts) in [
        ("brak main", &["no command `brak`", "break"][..]),
        ("re", &["could be", "restore", "reverse-step"]),
        ("break mian", &["no function `mian`", "`main`"]),
        ("break prog.c:999", &["no code at or after line 999"]),
        ("break porg.c:3", &["no source file", "prog.c"]),
        ("break", &[]),
        ("break main if", &[]),
        ("break main if countr > 1", &["countr", "counter"]),
        ("break main if 1 +", &["column"]),
        ("break step if Bcm > 1", &["--branch-sim=yes"]),
        ("print *0", &["0x0"]),
        ("print 1/0", &["column"]),
        ("print $rxa", &["rxa"]),
        ("x /9q 0", &["q"]),
        ("x /4xw 16", &["0x10"]),
        ("x /2i 0", &["0x0"]),
        ("step many", &["many"]),
        ("delete 7", &["no stop 7"]),
        ("watch nowhere", &["nowhere"]),
        ("watch 16", &["not mapped"]),
        ("catch", &["syscall", "miss"]),
        ("catch mis", &["did you mean `miss`"]),
        ("catch syscall raed", &["`read`"]),
        ("catch miss D1mr in mian", &["`main`"]),
        ("catch miss Ir", &["no miss"]),
        ("catch miss D1mrr", &["`D1mr`"]),
        ("top by D2mr", &["D1mr"]),
        ("top lots", &["lots"]),
        ("top 0", &["at least one"]),
        ("since start", &["no mark"]),
        ("annotate mian", &["mian"]),
        ("instr maybe", &["on"]),
        ("cache D3", &["D1"]),
        ("predict", &["--branch-sim=yes"]),
        ("frame 99", &["no frame 99"]),
        ("thread 2", &["no thread 2"]),
        ("info nothing", &["breaks"]),
        ("list nowhere", &["nowhere"]),
        ("restore nothing", &["no checkpoint"]),
        ("reverse-step", &["beginning"]),
        ("reverse-continue", &["beginning"]),
        ("run\ncontinue", &["has ended"]),
        ("run\nstep", &["has ended"]),
        ("finish", &[]),
        ("until nowhere", &["nowhere"]),
        ("stop 5", &["stop after"]),
        ("alias break = x", &["is a command"]),
        ("alias zz = zz\nzz", &["itself"]),
        ("set $rax = 1", &["register"]),
        ("set colour red", &["set"]),
        ("show nothing", &["context"]),
        ("source nowhere", &["nowhere"]),
        ("help braek", &["break"]),
        ("!exit 3", &["exit"]),
        ("dump /nowhere/at/all", &["/nowhere"]),
        ("mark", &["mark loop"]),
    ] {
        let said = script(dir.path(), &format!("{commands}\n"));
        if parts.is_empty() {
            assert!(said.status <= 1 && !said.err.contains("internal error"), "{commands}: {}", said.err);
            continue;
        }
        assert_eq!(said.status, 1, "{commands}: {}{}", said.out, said.err);
        let lines: Vec<&str> = said.err.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 1, "{commands}: {}", said.err);
        for part in parts {
            assert!(said.err.contains(part), "{commands}: no {part:?} in {}", said.err);
        }
    }
    let nested = format!("print {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let said = script(dir.path(), &nested);
    assert!(said.status == 1 && !said.err.contains("internal error"), "{}", said.err);
}

/// A program that a signal ends is there to be looked at.
#[test]
fn after_a_crash() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("input"), "").expect("written");
    let source = "int *nowhere;\nint f(int n)\n{\n    return *nowhere + n;\n}\nint main(void)\n{\n    return f(5);\n}\n";
    fs::write(dir.path().join("prog.c"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-g", "-O0", "-o", "prog", "prog.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    prints(
        dir.path(),
        "run\nwhere\nprint $edi\ntop 1\nreverse-step\nwhere 1\n",
        &[
            "signal 11",
            "read of 0x0",
            "#0",
            "f",
            "prog.c:4",
            "main",
            "prog.c:8",
            "$1 = 5",
            "share",
            "prog.c:4",
        ],
    );
}

/// A session with every command in it, and a part of what each prints. The same is typed and read from a file.
const SESSION: &[(&str, &str)] = &[
    ("help break", "Example: break"),
    ("start", "int n = argc"),
    ("break step if counter > 100", "stop 1"),
    ("tbreak work", "stop 2"),
    ("continue", "work"),
    ("where", "main"),
    ("frame 1", "main"),
    ("frame 0", "work"),
    ("list", "int sum = 0"),
    ("line", "for (int i"),
    ("continue", "counter += i"),
    ("print counter", "$1 = 105"),
    ("x /2xw &counter", "0x00000069"),
    ("regs", "rip"),
    ("disas", "=>"),
    ("info breaks", "breakpoint"),
    ("disable 1", ""),
    ("enable 1", ""),
    ("delete 1", ""),
    ("watch counter", "stop 3"),
    ("catch miss D1mr in step", "stop 4"),
    ("delete", ""),
    ("summary", "I   refs:"),
    ("top 3", "everything"),
    ("annotate step", "counter += i"),
    ("dump", "out.1"),
    ("mark here", ""),
    ("step 3", "instructions"),
    ("next", "instructions"),
    ("advance 10", "instructions"),
    ("since here", "everything"),
    ("zero", ""),
    ("instr off", ""),
    ("instr on", ""),
    ("cache D1", "D1:"),
    ("predict", "mispredicted"),
    ("thread", "task 1000"),
    ("checkpoint c", "checkpoint c"),
    ("stop after 5 instructions", "stop 5"),
    ("continue", "instructions"),
    ("restore c", "instructions"),
    ("reverse-step", "instructions"),
    ("break step", "stop 6"),
    ("continue", "step"),
    ("continue", "step"),
    ("reverse-continue", "step"),
    ("finish", "work"),
    ("until prog.c:20", "sum += step"),
    ("set context 3", ""),
    ("show context", "context 3"),
    ("alias one = print 1", ""),
    ("one", "= 1"),
    ("log said", ""),
    ("log off", ""),
    ("source more", "= 2"),
    ("delete", ""),
    ("run", "status 3"),
    ("quit", ""),
];

#[test]
fn every_command_in_a_script_and_on_a_terminal() {
    let tried: BTreeSet<&str> =
        SESSION.iter().filter_map(|(line, _)| line.split_whitespace().next()).collect();
    let missing: Vec<String> = names().into_iter().filter(|name| !tried.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not in the session: {missing:?}");

    let dir = built();
    fs::write(dir.path().join("more"), "print 1 + 1\n").expect("written");
    let commands: String = SESSION.iter().map(|(line, _)| format!("{line}\n")).collect();
    let said = script_with(dir.path(), &["--branch-sim=yes"], &commands, &[]);
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    let mut rest = said.out.as_str();
    for (line, part) in SESSION {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => panic!("{line}: no {part:?} (in its place) in\n{}", said.out),
        }
    }

    let words = ["repl", "--branch-sim=yes", "--stdin=input", "--cachegrind-out-file=out", "./prog"];
    let mut terminal = Terminal::cgemu(dir.path(), &words);
    let mut at = terminal.wait_for(0, "cgemu> ");
    for (line, part) in SESSION {
        terminal.type_in(&format!("{line}\r"));
        // What is typed is seen too; the answer begins where the prompt lets go of the terminal.
        at = terminal.wait_for(at, "\x1b[?2004l");
        at = terminal.wait_for(at, part);
        if *line != "quit" {
            at = terminal.wait_for(at, "cgemu> ");
        }
    }
    let (screen, status) = terminal.finish();
    assert_eq!(status.code(), Some(0), "{screen}");
}

#[test]
fn run_with_a_prompt() {
    let dir = built();
    let mut terminal = Terminal::cgemu(dir.path(), &["run", "-i", "--cachegrind-out-file=out", "./prog"]);
    let at = terminal.wait_for(0, "cgemu> ");
    terminal.type_in("print 6 * 7\r");
    let at = terminal.wait_for(at, "$1 = 42");
    terminal.wait_for(at, "cgemu> ");
    // Nothing has begun, so there is nothing to ask.
    terminal.type_in("\x04");
    let (_, status) = terminal.finish();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn at_the_terminal() {
    let dir = built();
    let mut terminal =
        Terminal::cgemu(dir.path(), &["repl", "--cachegrind-out-file=out", "./prog", "100000000"]);
    let mut at = terminal.wait_for(0, "cgemu> ");
    // Completion of a command and of a function.
    terminal.type_in("bre\t ste\t\r");
    at = terminal.wait_for(at, "stop 1:");
    at = terminal.wait_for(at, "cgemu> ");
    terminal.type_in("delete\r");
    at = terminal.wait_for(at, "cgemu> ");
    // Ctrl-C at the prompt does not end it.
    terminal.type_in("\x03");
    at = terminal.wait_for(at, "quit");
    at = terminal.wait_for(at, "cgemu> ");
    terminal.resize(40, 60);
    terminal.type_in("run\r");
    // The prompt has let go of the terminal: what is typed while the program reads is the program's.
    at = terminal.wait_for(at, "\x1b[?2004l");
    terminal.type_in("xy\n");
    at = terminal.wait_for(at, "read 3");
    terminal.type_in("\x03");
    at = terminal.wait_for(at, "interrupted");
    at = terminal.wait_for(at, "cgemu> ");
    terminal.type_in("where\r");
    at = terminal.wait_for(at, "#0");
    at = terminal.wait_for(at, "main");
    at = terminal.wait_for(at, "cgemu> ");
    // An empty line steps again.
    terminal.type_in("step\r");
    at = terminal.wait_for(at, " instructions");
    at = terminal.wait_for(at, "cgemu> ");
    terminal.type_in("\r");
    at = terminal.wait_for(at, " instructions");
    at = terminal.wait_for(at, "cgemu> ");
    // The history has what was typed.
    terminal.type_in("\x1b[A\x1b[A\r");
    at = terminal.wait_for(at, "#0");
    at = terminal.wait_for(at, "cgemu> ");
    // Ctrl-D asks once.
    terminal.type_in("\x04");
    at = terminal.wait_for(at, "has not ended");
    terminal.wait_for(at, "cgemu> ");
    terminal.type_in("\x04");
    let (_, status) = terminal.finish();
    assert_eq!(status.code(), Some(0));
}
