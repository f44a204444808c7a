//! The way back, and what bars it.

use std::fs;

use super::bed::{built, prints, script, script_with};
use crate::common::{cgemu, stderr, stdout, tool};

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
    // A run that goes back to where it had stopped goes on from there as it did then.
    prints(
        dir.path(),
        "break step\nrun\ncheckpoint here\ncontinue 2\nprint i32[&counter]\nrestore here\ncontinue 2\nprint i32[&counter]\n",
        &["$1 = 1", "$2 = 1"],
    );
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

/// A checkpoint where the run has stopped hides no stop from the way back, whatever has stopped it.
#[test]
fn checkpoints_hide_no_stops() {
    const STOPS: usize = 6;
    let dir = built();
    for stop in ["break step", "watch counter", "catch miss D1mr", "catch miss I1mr", "catch syscall"] {
        let script = format!(
            "break main\nrun\ndelete\n{stop}\n{}print 77777\n{}",
            "continue\ncheckpoint\n".repeat(STOPS),
            "reverse-continue\n".repeat(STOPS - 1),
        );
        let out = prints(dir.path(), &script, &["$1 = 77777"]);
        let (there, back) = out.split_once("$1 = 77777\n").expect("printed");
        let moments = |text: &str| -> Vec<String> {
            let places = text.lines().filter(|line| line.starts_with("0x"));
            places.filter_map(|line| Some(line.split_once(" after ")?.1.to_owned())).collect()
        };
        let mut expected = moments(there);
        expected.reverse();
        assert_eq!(expected.len(), STOPS + 1, "{out}");
        assert_eq!(moments(back), expected[1..STOPS], "{stop}");
    }
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
