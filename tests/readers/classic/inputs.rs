//! The files and the options that are compared.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::{output, stderr, tool};

/// Profiles of real programs, made by Valgrind and by cgemu.
pub const REAL: [&str; 5] = ["true", "echo", "prog", "own", "own2"];

const PROGRAM: &str = "#include <stdio.h>\n#include \"util.h\"\nint work(int);\nint main(void)\n{\n    int sum = 0;\n    \
     for (int i = 0; i < 1000; i++)\n        sum += twice(i) + work(i);\n    printf(\"%d\\n\", sum);\n    return 0;\n}\n\
     \n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nint work(int n)\n{\n    return n % 7;\n}";
const HEADER: &str = "static inline int twice(int n)\n{\n    return 2 * n;\n}\n";

/// Hand-made files: what the programs make of them, they were asked, not told.
pub const ODD: &[(&str, &str)] = &[
    (
        "plain",
        "desc: I1\ndesc: D1\ncmd: ./a b\nevents: Ir Dr\nfl=b.c\nfn=g\n3 10 2\n1 4 5\nfl=a.c\nfn=f\n10 1 1\n9 2 2\nfl=b.c\nfn=a\n3 7 7\nsummary: 24 17\n",
    ),
    ("zeros", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 0 0\n2 0 0\nsummary: 0 0\n"),
    ("empty-body", "desc: d\ncmd: c\nevents: Ir Dr\nsummary: 0 0\n"),
    ("empty", ""),
    ("no-desc", "cmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("no-cmd", "desc: d\nevents: Ir Dr\nsummary: 0 0\n"),
    ("no-events", "desc: d\ncmd: c\nfl=a.c\nfn=f\n1 2 3\n"),
    ("no-summary", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\n"),
    ("wrong-summary", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\nsummary: 9 9\n"),
    ("short-summary", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\nsummary: 2\n"),
    ("two-summaries", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\nsummary: 2 3\nsummary: 4 6\n"),
    ("after-summary", "desc: d\ncmd: c\nevents: Ir Dr\nsummary: 2 3\nfl=a.c\nfn=f\n1 2 3\n"),
    ("no-newline", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\nsummary: 2 3"),
    ("no-fn", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\n1 2 3\nsummary: 2 3\n"),
    ("no-fl", "desc: d\ncmd: c\nevents: Ir Dr\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("neither", "desc: d\ncmd: c\nevents: Ir Dr\n1 2 3\nsummary: 2 3\n"),
    (
        "fl-alone",
        "desc: d\ncmd: c\nevents: Ir Dr\nfl=b.c\nfn=f\n1 2 3\nfl=a.c\n1 2 3\n4 1 1\nfn=f\n5 0 1\nsummary: 5 8\n",
    ),
    ("no-lines", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\nfn=g\n1 2 3\nsummary: 2 3\n"),
    (
        "unknown",
        "desc: d\ncmd: c\nevents: Ir Dr\nfl=???\nfn=???\n0 50 5\nfl=a.c\nfn=???\n0 7 7\n2 1 1\nfl=???\nfn=f\n0 1 1\n3 4 4\nsummary: 63 18\n",
    ),
    (
        "odd-names",
        "desc: d\ncmd: sh -c a; b   c\nevents: Ir Dr\nfl=/x/a dir/a c.c\nfn=f(int, char const*) const [with T = int]\n1 2 3\nfl= b \nfn= g \n1 1 1\nfl=a:b.c\nfn=std::x\n1 1 1\nfl=\u{e9}.c\nfn=\u{4e2d}\n7 1 1\nsummary: 5 6\n",
    ),
    ("no-name", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=\n1 2 3\nsummary: 2 3\n"),
    ("no-file", "desc: d\ncmd: c\nevents: Ir Dr\nfl=\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("hashes", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a###b\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("four-hashes", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a#\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("other-events", "desc: d\ncmd: c\nevents: Ir Dw\nfl=a.c\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("fewer-events", "desc: d\ncmd: c\nevents: Ir\nfl=a.c\nfn=f\n1 2\nsummary: 2\n"),
    ("blanks", "desc: d\ncmd:   c  d\nevents:  Ir   Dr \nfl=a.c\nfn=f\n1   2\t3 \nsummary:   2 3 \n"),
    ("trailing", "desc: d\ncmd: c\nevents: Ir Dr \nfl=a.c\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("carriage", "desc: d\r\ncmd: c\r\nevents: Ir Dr\nfl=a.c\r\nfn=f\r\n1 2 3\r\nsummary: 2 3\r\n"),
    ("comments", "desc: d\ncmd: c\nevents: Ir Dr\n# one\n\n  \nfl=a.c\nfn=f\n1 2 3\nsummary: 2 3\n"),
    ("strange", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\nwhat\n1 2 3\njump=1\nsummary: 2 3\n"),
    ("long", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3 4\nsummary: 2 3\n"),
    ("short", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2\n2 1 1\nsummary: 3 1\n"),
    (
        "dots",
        "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 . 3\n2 4 .\nfn=g\n3 . 5\nfn=h\n4 6 .\nsummary: 10 8\n",
    ),
    (
        "negative",
        "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 -200 3\n2 -1000000 999\nfn=g\n3 5 -99999\nsummary: -1000195 -98997\n",
    ),
    ("negative-line", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n-3 1 1\n0 2 2\n2 3 3\nsummary: 6 6\n"),
    (
        "big",
        "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 9223372036854775807 1\n2 9223372036854775807 1\nsummary: 18446744073709551614 2\n",
    ),
    (
        "bigger",
        "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 18446744073709551615 1\n2 18446744073709551615 1\nsummary: 18446744073709551614 2\n",
    ),
    ("big-line", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n4294967297 2 3\nsummary: 2 3\n"),
    ("garbage", "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2x y\nsummary: 2 0\n"),
    (
        "repeated",
        "desc: d\ncmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\nfl=b.c\nfn=f\n1 1 1\nfl=a.c\nfn=f\n1 5 5\nsummary: 8 9\n",
    ),
    (
        "desc-in-cmd",
        "# desc: x\ndesc:\ndesc:   y\ncmd: echo\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 3\nsummary: 2 3\n",
    ),
    (
        "annotated",
        "desc: d\ncmd: c\nevents: Ir Dr Dw\nfl=src/one.c\nfn=f\n0 10 1 0\n2 1000 5 5\n5 300 1 1\n30 70 . 1\n60 1234567 3 3\nfn=g\n33 9 9 9\nfl=src/new.c\nfn=n\n1 5000 0 0\nfl=src/h.h\nfn=h\n2 2000 1 1\n9 5 1 1\nfl=inc.c\nfn=i\n1 777777 1 1\n3 3 3 3\nfl=gone.c\nfn=x\n1 90000 2 2\nfl=zero.c\nfn=z\n1 2000 1 1\n3 2000 1 1\nfl=???\nfn=???\n0 100000 10 10\nsummary: 2214731 37 36\n",
    ),
    (
        "annotated2",
        "desc: d\ncmd: c\nevents: Ir Dr Dw\nfl=src/one.c\nfn=f\n2 3000 5 5\nfl=inc.c\nfn=i\n1 7 1 1\nsummary: 3007 6 6\n",
    ),
];

/// Options that are tried on several profiles.
pub const REPORTS: &[&[&str]] = &[
    &[],
    &["--auto=no"],
    &["--auto=yes", "--auto=no", "--auto=yes"],
    &["--show-percs=no"],
    &["--show-percs=yes", "--context=0"],
    &["--context=1"],
    &["--context=2.5"],
    &["--context=100000"],
    &["--threshold=0"],
    &["--threshold=5%"],
    &["--threshold=20"],
    &["--threshold=007."],
    &["--show=Dw,Ir"],
    &["--show=Dr,Dr"],
    &["--sort=Dr"],
    &["--sort=Dw,Ir", "--show=Ir"],
    &["--sort=Dr:1,Dw:1"],
    &["--sort=Dr:50,Dw:0.5%,Ir"],
    &["--sort=Ir:0.5", "--threshold=20"],
    &["--sort=Ir:10,Dr:10", "--sort=Dw"],
    &["--sort=", "--show="],
    &["--sort=Ir,", "--show=Ir,,"],
    &["-Isub"],
    &["-I=sub", "--include=other/", "--context=3"],
    &["--include=", "-I/"],
];

/// Source files that are named.
pub const WITH_SOURCES: &[&[&str]] = &[
    &["annotated", "src/one.c"],
    &["annotated", "src/one.c", "src/one.c", "src/h.h"],
    &["--auto=no", "annotated", "src/one.c"],
    &["--auto=no", "annotated", "src/one.c", "src/new.c", "src/h.h", "plain"],
    &["annotated", "src/one.c", "--auto=no", "--context=1"],
    &["-Isub", "annotated", "inc.c"],
    &["annotated", "-Isub", "inc.c", "src/one.c"],
    &["--auto=no", "-Isub", "annotated", "inc.c", "empty"],
    &["annotated", "src"],
    &["prog", "prog.c"],
    &["--auto=no", "prog", "util.h"],
    &["change2", "src/one.c"],
];

/// Command lines that fail.
pub const WRONG: &[&[&str]] = &[
    &[],
    &["nosuch"],
    &["."],
    &["plain", "nosuch.c"],
    &["plain", ""],
    &["annotated", "inc.c", "-Isub"],
    &["-x", "plain"],
    &["--", "plain"],
    &["-", "plain"],
    &["-I", "sub", "plain"],
    &["--auto", "plain"],
    &["--auto=on", "plain"],
    &["--show-percs=", "plain"],
    &["--context=-1", "plain"],
    &["--context=x", "plain"],
    &["--threshold=21", "plain"],
    &["--threshold=-1", "plain"],
    &["--sort=Ir:101", "plain"],
    &["--sort=Bc", "plain"],
    &["--show=Bc", "plain"],
    &["--show=,Ir", "plain"],
    &["--sort=Ir:1,Dr:1", "--sort=Ir:2", "plain"],
];

/// The hand-made files, and source files of various ages for them.
pub fn odd(dir: &Path) {
    let now = SystemTime::now();
    let write = |name: &str, text: &str, age: u64| {
        let path = dir.join(name);
        fs::write(&path, text).expect("written");
        let file = File::options().append(true).open(&path).expect("opened");
        file.set_modified(now - Duration::from_secs(age)).expect("dated");
    };
    for (name, text) in ODD {
        write(name, text, 1000);
    }
    for folder in ["src", "sub", "other"] {
        fs::create_dir(dir.join(folder)).expect("a folder");
    }
    let lines: String = (1..=50).map(|line| format!("line {line};\n")).collect();
    write("src/one.c", &lines, 2000);
    write("src/new.c", "changed\n", 0);
    write("src/h.h", "one\ntwo\nthree", 2000);
    write("sub/inc.c", "a\nb", 500);
    write("other/inc.c", "not this\n", 2000);
    write("zero.c", "a\nb\n0", 2000);
    write("a.c", &lines, 2000);
}

/// All files.
pub fn prepare(dir: &Path) {
    odd(dir);
    fs::write(dir.join("prog.c"), PROGRAM).expect("written");
    fs::write(dir.join("util.h"), HEADER).expect("written");
    let built = tool("gcc", dir, "cc", &["-g", "-O1", "-o", "program", "prog.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    for (name, program) in
        [("true", &["true"][..]), ("echo", &["echo", "hello", "world"]), ("prog", &["./program"])]
    {
        let to = format!("--cachegrind-out-file={name}");
        let ran = tool("valgrind", dir, "valgrind", &[&["-q", "--tool=cachegrind", &to], program].concat());
        assert!(ran.status.success(), "{}", stderr(&ran));
    }
    for (name, branches) in [("own", "no"), ("own2", "yes")] {
        let to = format!("--cachegrind-out-file={name}");
        let branches = format!("--branch-sim={branches}");
        let ran = output(dir, &["run", "-q", &to, &branches, "./program"]);
        assert!(ran.status.success(), "{}", stderr(&ran));
    }
}
