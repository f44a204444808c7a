//! Views of a stopped program: counts, sources, stacks, memory, in words of GDB too.

use std::fs;

use super::bed::{built, line_of, prints, script, script_with};
use crate::common::{stderr, stdout, tool};

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

/// Functions that are nowhere but in their callers: their frames are those of addr2line(1) and
/// GDB, and their lines have counts.
#[test]
fn inlined_everywhere() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("input"), "").expect("written");
    let source = include_str!("../../../testdata/repl/inlined.c");
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
