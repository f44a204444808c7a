//! Stops, from scripts: places, memory, calls, signals and misses.

use super::bed::{built, line_of, prints, script_with};

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
    prints(
        dir.path(),
        "catch signal\nrun\nwhere\ncontinue\n",
        &["signal 10", "handler", "<signal handler called>", "status 3"],
    );
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
