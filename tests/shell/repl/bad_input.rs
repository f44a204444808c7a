//! What is wrong gets one line that helps.

use super::bed::{built, script};

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
        ("run\nannotate prog.c:9-3", &["9-3"]),
        ("run\nannotate prog.c:0", &["from 1"]),
        ("instr maybe", &["on"]),
        ("cache D3", &["D1"]),
        ("predict", &["--branch-sim=yes"]),
        ("frame 99", &["no frame 99"]),
        ("start\nup 99\nup", &["outermost"]),
        ("down", &["innermost"]),
        ("info locals", &["types"]),
        ("info line nowhere", &["nowhere"]),
        ("info registers rxa", &["rxa"]),
        ("disassemble nowhere", &["nowhere"]),
        ("disassemble 0,10", &["0x0"]),
        ("display nowhere", &["nowhere"]),
        ("undisplay 3", &["no display 3"]),
        ("run 'a", &["quote"]),
        ("run a > b", &[">"]),
        ("run < nowhere", &["nowhere"]),
        ("set disassembly-flavor nasm", &["att"]),
        ("start\nlist 0,3", &["`0`"]),
        ("start\nlist 9,3", &["9-3"]),
        ("quit nowhere", &["nowhere"]),
        ("reverse-next", &["beginning"]),
        ("reverse-finish", &["outermost"]),
        ("catch miss D1mr in nowhere", &["nowhere"]),
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
