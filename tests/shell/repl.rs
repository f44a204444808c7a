//! The shell: every command in a script and on a terminal, what bad input gets, and that looking
//! changes nothing.

mod bad_input;
pub mod bed;
mod terminal;

use std::fs;
use std::path::Path;

use crate::common::{cgemu, golden, stderr, stdout, tool};
use bed::{built, line_of, prints, script, script_with};

#[test]
fn the_reference_lists_the_commands() {
    let reference = cgemu::repl::reference();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/repl.md");
    let text = fs::read_to_string(&file).expect("docs/repl.md");
    // What people wrote ends where the first group of commands begins.
    let (first, _) = reference.split_once('\n').expect("groups of commands");
    let (before, _) = text.split_once(first).expect("the first group of commands");
    let whole = format!("{before}{}\n", reference.trim_end());
    golden::compare(&file, whole.as_bytes()).unwrap_or_else(|why| panic!("docs/repl.md: {why}"));
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
        &["(call to syscall read)", "(returned from syscall read)"],
    );
    prints(dir.path(), "catch syscall\nrun\nrun\n", &["stop 1: catch syscall (call to syscall brk)"]);
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
        &["rip", "xmm15", "counter += i", "int main", "push   %rbp", "0xff"],
    );
    assert!(out.contains("<counter>"), "{out}");
    // One syntax in every view, and a switch for it.
    let views = "disas step 4\nx /4i step\nannotate step --asm\ntop 3 instructions\n";
    let out = prints(dir.path(), &format!("break step\nrun\n{views}"), &["push   %rbp"]);
    assert!(out.contains("%edi,-0x4(%rbp)") && !out.contains("[rbp"), "{out}");
    let intel = format!("break step\nrun\nset disassembly-flavor intel\nshow disassembly-flavor\n{views}");
    let out = prints(dir.path(), &intel, &["disassembly-flavor intel", "push   rbp"]);
    assert!(out.contains("[rbp-0x4],edi") && !out.contains("%rbp"), "{out}");
}

/// What users of GDB type.
#[test]
fn as_in_gdb() {
    let dir = built();
    let line = |text: &str| line_of(text).to_string();
    prints(
        dir.path(),
        "break step\nrun\ninfo registers rip rsp eflags\ninfo b\ninfo source\ninfo line step\ninfo line\ninfo frame\n\
         info symbol step\ninfo stack\ninfo sharedlibrary\ninfo proc mappings\ninfo all-registers\nup\nup 7\ndown\ndown 9\n\
         bt 1\n",
        &[
            "rip  0x",
            "<step+",
            "rsp  0x",
            "eflags  0x",
            "breakpoint",
            "prog.c, ",
            &format!("line {} of ", line("counter += i").parse::<usize>().expect("a number")),
            "<step+",
            "returns to 0x",
            "work",
            "step in ",
            "#2",
            "libc.so.6",
            "[stack]",
            "xmm15",
            "#1",
            "sum += step(i);",
            "_start",
            "#4",
            "#0",
            "counter += i",
            "#0",
        ],
    );
    prints(
        dir.path(),
        "display counter\ndisplay /i $pc\nbreak step\nrun\nundisplay 2\ncontinue 2\ninfo display\nundisplay\ncontinue\ninfo display\n",
        &[
            "1: counter = 0",
            "2: /i $pc = ",
            "<step+",
            "1: counter = 1\n",
            "1: counter\n",
            "nothing is displayed",
        ],
    );
    // Arguments stay until others are given, as does the input.
    fs::write(dir.path().join("other"), "four words are here\n").expect("written");
    let out = prints(
        dir.path(),
        "run 5\nshow args\nrun\nrun '7' < other\nset args 3\nrun\nset args\nshow args\nrun\n",
        &[
            "read 4", "sum 20", "args 5", "sum 20", "read 20", "sum 56", "read 20", "sum 4", "args\n",
            "read 20", "sum ",
        ],
    );
    assert!(!out.contains("cannot"), "{out}");
    prints(dir.path(), "start 4\nlist 7,9\nlist\nlist -\nlist prog.c:1\nlist step\n", &["int n = argc"]);
    prints(dir.path(), "break work\nrun\nline\nline\nline\nuntil\nuntil\n", &["return sum"]);
    prints(dir.path(), "start\nadvance work\nadvance 3\n", &["work", "instructions"]);
    let values = "break step\nrun\nprint step\nprint &counter\nprint $rip\nprint $sp\nprint 1.5 * 2\nprint /x 255\nprint /f 0x3ff8000000000000\nprint $st0\nprint $xmm0\nprint $rip - step\n";
    prints(
        dir.path(),
        values,
        &[
            "$1 = 0x",
            "<step>",
            "$2 = 0x",
            "<counter>",
            "$3 = 0x",
            "<step+",
            "$4 = 0x7ff",
            "$5 = 3.0",
            "$6 = 0xff",
            "$7 = 1.5",
            "$8 = ",
            "$9 = {f64 = {",
            "$10 = ",
        ],
    );
}

/// The status of a script tells of a program that did not come to its own end.
#[test]
fn the_status_of_a_script() {
    let dir = built();
    let source = "#include <stdlib.h>\n#include <sys/mount.h>\nint main(int argc, char **argv)\n{\n\
        switch (argc > 1 ? argv[1][0] : 0) {\n    case 'a': abort();\n    case 'v': __asm__(\".byte 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0\");\n    }\n    return 7;\n}\n";
    fs::write(dir.path().join("prog.c"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-g", "-O0", "-o", "prog", "prog.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    for (options, commands, args, status) in [
        // The program's own end is no failure of the script, but the script may pass it on.
        (&[][..], "run\n", &[][..], 0),
        (&[], "run\nquit $_exitcode\n", &[], 7),
        (&[], "run\nprint $_exitcode\nquit 3\n", &[], 3),
        (&[], "run a\nprint $_exitsignal\n", &[], 128 + 6),
        (&[], "run\n", &["a"], 128 + 6),
        (&[], "run\n", &["v"], 125),
        (&["--max-instructions=1000"], "run\n", &[], 124),
        (&["--max-memory=64k"], "run\n", &[], 124),
        // It has been taken back, so it has not ended.
        (&["--max-instructions=1000"], "run\nreverse-step\n", &[], 0),
        (&[], "start\n", &[], 0),
        (&[], "start\nquit\n", &[], 0),
        (&[], "nonsense\n", &[], 1),
    ] {
        let said = script_with(dir.path(), options, commands, args);
        assert_eq!(said.status, status, "{options:?} {commands} {args:?}\n{}{}", said.out, said.err);
        // In the syntax of the other views.
        assert!(args != ["v"] || said.out.contains("%zmm0"), "{}", said.out);
        let told = said.err.contains("has not ended");
        let unfinished = commands == "start\n" || commands.contains("reverse");
        assert_eq!(told, unfinished, "{commands}: {}", said.err);
    }
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

/// Input that is too much to be kept lets the run go on, but not back.
#[test]
fn what_cannot_be_kept_bars_the_way_back() {
    let dir = built();
    let source = "#include <unistd.h>\nstatic char part[1 << 20];\n\
         int enough(long n) { return n > 0; }\n\
         int main(void) { long got, all = 0; while ((got = read(0, part, sizeof part)) > 0) all += got;\n\
         enough(all); return all >> 20 != 300; }\n";
    fs::write(dir.path().join("much.c"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-g", "-O0", "-o", "prog", "much.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let input = fs::File::create(dir.path().join("input")).expect("a file");
    input.set_len(300 << 20).expect("its length");
    let said = script(dir.path(), "start\nreverse-step\nbreak enough\ncontinue\nstep\nreverse-step\n");
    assert_eq!(said.status, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("<enough"), "{}", said.out);
    assert!(
        said.err.contains("script:6: more than 256 MiB") && said.err.contains("not back"),
        "{}",
        said.err
    );
    prints(dir.path(), "break enough\ncontinue\ncontinue\n", &["<enough", "has ended with status 0"]);
}

/// Only sources below the directories that were named are shown.
#[test]
fn sources_within_bounds() {
    let dir = built();
    fs::create_dir(dir.path().join("other")).expect("made");
    let commands = "break step\nrun\ninfo source\nannotate work\nlist\n";
    let said = script_with(dir.path(), &["--source-root=."], commands, &[]);
    assert_eq!(said.status, 0, "{}", said.err);
    assert!(said.out.contains("sum += step"), "{}", said.out);
    let said = script_with(dir.path(), &["--source-root=other"], commands, &[]);
    assert!(!said.out.contains("sum += step") && !said.out.contains("counter += i"), "{}", said.out);
    assert!(said.out.contains("prog.c (cannot be read or is outside of --source-root)"), "{}", said.out);
    assert!(said.err.contains("prog.c cannot be read or is outside of --source-root"), "{}", said.err);
    let said = script_with(dir.path(), &["--source-root=none"], commands, &[]);
    assert!(said.status == 125 && said.err.contains("--source-root=none"), "{}", said.err);
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

/// A log without what tells one process from another.
fn log_of(text: &str) -> String {
    let begin = text.find("==").expect("a prefix");
    let pid = text[begin..].split("==").nth(1).expect("a process");
    let lines = text.replace(&format!("=={pid}=="), "==PID==");
    lines.lines().filter(|line| !line.contains("Parent PID")).map(|line| format!("{line}\n")).collect()
}

/// The options of the log mean in the shell what they mean to `run`.
#[test]
fn the_log_is_that_of_a_run() {
    let dir = built();
    let log = |name: &str| fs::read_to_string(dir.path().join(name)).expect("a log");
    let run = |options: &[&str]| {
        let mut words = vec!["run", "--cachegrind-out-file=out"];
        words.extend(options);
        words.push("./prog");
        let mut command = cgemu(dir.path(), &words);
        command.stdin(fs::File::open(dir.path().join("input")).expect("open"));
        let out = command.output().expect("cgemu starts");
        assert_eq!(out.status.code(), Some(3), "{}", stderr(&out));
        stderr(&out)
    };
    let shell = |options: &[&str]| {
        let said = script_with(dir.path(), options, "break work\nrun\ncontinue\nsummary\n", &[]);
        assert_eq!(said.status, 0, "{}", said.err);
        said.err
    };

    for options in [&["-v"][..], &["--top=2"], &["-q", "--top=1"], &["-v", "--branch-sim=yes", "--top=3"]] {
        let words: Vec<&str> = options.iter().copied().chain(["--log-file=theirs"]).collect();
        run(&words);
        let words: Vec<&str> = options.iter().copied().chain(["--log-file=ours"]).collect();
        assert_eq!(shell(&words), "", "{options:?}");
        assert_eq!(log_of(&log("ours")), log_of(&log("theirs")), "{options:?}");
        let words: Vec<&str> = options.iter().copied().chain(["--log-fd=2"]).collect();
        assert_eq!(log_of(&shell(&words)), log_of(&run(&words)), "{options:?}");
    }
    assert_eq!(log_of(&shell(&["-v"])), log_of(&run(&["-v"])));
    assert!(log("ours").contains("Cache configuration used:"), "{}", log("ours"));
    // Without them the shell's own lines say it.
    assert_eq!(shell(&[]), "");
    assert_eq!(shell(&["-q"]), "");
    let (ranking, whole) = (log_of(&shell(&["--top=2"])), log_of(&run(&["--top=2"])));
    assert!(whole.ends_with(&ranking), "{ranking}\n{whole}");
    assert_eq!(ranking.lines().count(), 4, "{ranking}");
    // As often as the program ends.
    let again = script_with(dir.path(), &["--top=1", "-q"], "run\nreverse-step\ncontinue\n", &[]);
    assert_eq!(again.err.matches("function (1 of").count(), 2, "{}", again.err);
    for options in [&["--log-file=none/log"][..], &["--log-fd=987"]] {
        let said = script_with(dir.path(), options, "run\n", &[]);
        assert!(said.status == 125 && said.err.lines().count() == 1, "{}", said.err);
        let name = options[0].split('=').next().expect("a name");
        assert!(said.err.contains(name), "{}", said.err);
    }
}

/// Functions that are nowhere but in their callers: their frames are those of addr2line(1) and
/// GDB, and their lines have counts.
#[test]
fn inlined_everywhere() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("input"), "").expect("written");
    let source = include_str!("../../testdata/repl/inlined.c");
    fs::write(dir.path().join("prog.c"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-g", "-O2", "-fno-pie", "-no-pie", "-o", "prog", "prog.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let out = prints(dir.path(), "break cell\nrun\nwhere\nup\nup\n", &["stop 1: 0x"]);
    let frames: Vec<&str> = out.lines().filter(|line| line.contains('#')).collect();
    let address = frames[0].split_whitespace().nth(1).expect("an address");
    let said = tool("binutils", dir.path(), "addr2line", &["-i", "-f", "-e", "prog", address]);
    let said = stdout(&said);
    let said: Vec<&str> = said.lines().collect();
    let expected: Vec<(String, String)> = said
        .chunks(2)
        .map(|pair| (pair[0].to_owned(), pair[1].split(" (").next().expect("a place").to_owned()))
        .collect();
    assert_eq!(expected.len(), 3, "{said:?}");
    for (number, (function, place)) in expected.iter().enumerate() {
        let inlined = if number < 2 { " (inlined)" } else { "" };
        let text = format!("#{number:<3} {address} {function} at {place}{inlined}");
        assert!(frames[number].contains(&text), "no {text}:\n{out}");
    }
    // `up` shows the frames that `where` does.
    let last = frames.len() - 2;
    for (at, number) in [(last, 1), (last + 1, 2)] {
        assert_eq!(frames[at].trim(), frames[number].trim(), "{out}");
    }

    let line = |text: &str| source.lines().position(|line| line.contains(text)).expect("a line") + 1;
    let call = format!("main at {}:{}", dir.path().join("prog.c").display(), line("t += sum_cols"));
    let out = prints(
        dir.path(),
        "run\nannotate sum_cols\nannotate cell\nannotate cell --asm\n",
        &[
            "sum_cols was inlined",
            "prog.c",
            "s += cell(i, j)",
            "inlined into",
            &call,
            "cell was inlined",
            "return m[i][j]",
            "inlined into",
            &format!("sum_cols at {}:{}", dir.path().join("prog.c").display(), line("s += cell")),
            "cell, inlined into main",
            "0x",
        ],
    );
    // The shares of the calls are those of the lines.
    assert!(!out.contains("nothing was counted"), "{out}");
    let said = script(dir.path(), "start\nannotate cell\n");
    assert!(said.status == 1 && said.err.contains("copies of `cell`"), "{}", said.err);
    let said = script(dir.path(), "start\ncatch miss D1mr in cell\n");
    assert!(said.status == 1 && said.err.contains("inlined everywhere"), "{}", said.err);
}
