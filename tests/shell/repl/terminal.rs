//! Every command in a script and on a pseudo-terminal; completion, history, signals.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::Signal;

use super::bed::{built, script_with};
use crate::common::patience::Patience;
use crate::common::pty::Terminal;
use crate::common::{stderr, tool};

/// The names of the commands.
fn names() -> BTreeSet<String> {
    let reference = cgemu::repl::reference();
    let heads = reference.lines().filter_map(|line| line.strip_prefix('`'));
    heads.filter_map(|head| head.split([' ', '`']).next()).map(str::to_owned).collect()
}

/// A session with every command in it, and a part of what each prints. The same is typed and read
/// from a file.
const SESSION: &[(&str, &str)] = &[
    ("help break", "Example: break"),
    ("start", "int n = argc"),
    ("break step if counter > 100", "stop 1"),
    ("tbreak work", "stop 2"),
    ("continue", "work"),
    ("where", "main"),
    ("frame 1", "main"),
    ("frame 0", "work"),
    ("up", "main"),
    ("down", "work"),
    ("list", "int sum = 0"),
    ("line", "for (int i"),
    ("continue", "counter += i"),
    ("print counter", "$1 = 105"),
    ("x /2xw &counter", "0x00000069"),
    ("regs", "rip"),
    ("disas", "=>"),
    ("disassemble", "ret"),
    ("display counter", "1: counter = 105"),
    ("undisplay 1", ""),
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
    ("callers step", "work"),
    ("callees work", "step"),
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
    ("process", "process 1000"),
    ("checkpoint c", "checkpoint c"),
    ("stop after 5 instructions", "stop 5"),
    ("continue", "instructions"),
    ("restore c", "instructions"),
    ("reverse-step", "instructions"),
    ("reverse-next", "instructions"),
    ("break step", "stop 6"),
    ("continue", "step"),
    ("continue", "step"),
    ("reverse-continue", "step"),
    ("reverse-finish", "sum += step"),
    ("continue", "step"),
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
    ("follow both", ""),
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
    let said = script_with(dir.path(), &["--branch-sim=yes", "--callgraph=yes"], &commands, &[]);
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    let mut rest = said.out.as_str();
    for (line, part) in SESSION {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => panic!("{line}: no {part:?} (in its place) in\n{}", said.out),
        }
    }

    let words = [
        "repl",
        "--branch-sim=yes",
        "--callgraph=yes",
        "--stdin=input",
        "--cachegrind-out-file=out",
        "./prog",
    ];
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
    // The prompt has let go of the terminal: what is typed while the program reads is the
    // program's.
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

/// Ctrl-C ends what runs the program many times, and a line tells meanwhile how far it is.
#[test]
fn interrupted_among_many_stops() {
    let dir = built();
    let mut terminal = Terminal::cgemu(
        dir.path(),
        &["repl", "--stdin=input", "--cachegrind-out-file=out", "./prog", "100000000"],
    );
    let mut at = terminal.wait_for(0, "cgemu> ");
    for (stop, command) in [
        ("watch counter", "continue 100000000"),
        ("catch miss D1mr in step", "continue 100000000"),
        ("break step", "continue 100000000"),
        // No stop is there, so all of the past is looked through, again and again.
        ("break step if counter == 0 && instructions > 100000", "reverse-next 100000000"),
    ] {
        for line in ["delete", "tbreak work", "run", "advance 1M", stop] {
            terminal.type_in(&format!("{line}\r"));
            at = terminal.wait_for(at, "\x1b[?2004l");
            at = terminal.wait_for(at, "cgemu> ");
        }
        terminal.type_in(&format!("{command}\r"));
        at = terminal.wait_for(at, "\x1b[?2004l");
        at = terminal.wait_for(at, " of 100,000,000, at ");
        terminal.type_in("\x03");
        at = terminal.wait_for(at, "interrupted");
        at = terminal.wait_for(at, "cgemu> ");
    }
    terminal.type_in("quit\r");
    let (screen, status) = terminal.finish();
    assert_eq!(status.code(), Some(0), "{screen}");
}

/// Tab offers the program's own functions, and lists them where there are several.
#[test]
fn completion_prefers_the_program() {
    let dir = built();
    let mut terminal = Terminal::cgemu(dir.path(), &["repl", "--cachegrind-out-file=out", "./prog"]);
    let at = terminal.wait_for(0, "cgemu> ");
    terminal.type_in("start\r");
    let at = terminal.wait_for(at, "\x1b[?2004l");
    terminal.type_in("x\n");
    // Its answer, and the prompt after it: what is typed earlier may be typed ahead, without Tab.
    let at = terminal.wait_for(at, "no memory at 0x0");
    let at = terminal.wait_for(at, "\x1b[?2004h");
    let at = terminal.wait_for(at, "cgemu> ");
    // libc has hundreds of functions that begin so.
    terminal.type_in("break st\t\r");
    let at = terminal.wait_for(at, "stop 1: ");
    let at = terminal.wait_for(at, "<step+");
    let at = terminal.wait_for(at, "cgemu> ");
    terminal.type_in("info s\t\t");
    let at = terminal.wait_for(at, "signals");
    terminal.wait_for(at, "symbol");
    terminal.type_in("ource\r");
    let at = terminal.wait_for(at, "the frame is at line");
    let at = terminal.wait_for(at, "cgemu> ");
    terminal.type_in("\x04");
    let at = terminal.wait_for(at, "Ctrl-D again");
    terminal.wait_for(at, "cgemu> ");
    terminal.type_in("\x04");
    terminal.finish();
}

/// Lines that are typed while the program runs are commands, unless the program reads them.
#[test]
fn typed_ahead() {
    let dir = built();
    let mut terminal = Terminal::cgemu(
        dir.path(),
        &["repl", "--stdin=input", "--cachegrind-out-file=out", "./prog", "3000000"],
    );
    let mut at = terminal.wait_for(0, "cgemu> ");
    terminal.type_in("run\r");
    at = terminal.wait_for(at, "\x1b[?2004l");
    at = terminal.wait_for(at, "read 4");
    terminal.type_in("print 6 * 7\nprint 6 * 8\nprint 6 * 9\nprin");
    at = terminal.wait_for(at, "has ended");
    for answer in ["$1 = 42", "$2 = 48", "$3 = 54"] {
        at = terminal.wait_for(at, answer);
    }
    at = terminal.wait_for(at, "cgemu> ");
    // What was not finished is still there to be finished.
    terminal.type_in("t 6 * 10\r");
    at = terminal.wait_for(at, "$4 = 60");
    terminal.wait_for(at, "cgemu> ");
    terminal.type_in("quit\r");
    assert_eq!(terminal.finish().1.code(), Some(0));

    // The program has what it reads, and the shell the rest.
    let mut terminal = Terminal::cgemu(dir.path(), &["repl", "--cachegrind-out-file=out", "./prog"]);
    let at = terminal.wait_for(0, "cgemu> ");
    terminal.type_in("run\r");
    let at = terminal.wait_for(at, "\x1b[?2004l");
    terminal.type_in("abcdef\nprint 6 * 7\n");
    let at = terminal.wait_for(at, "read 7");
    let at = terminal.wait_for(at, "has ended");
    let at = terminal.wait_for(at, "$1 = 42");
    terminal.wait_for(at, "cgemu> ");
    terminal.type_in("quit\r");
    assert_eq!(terminal.finish().1.code(), Some(0));
}

/// Lines that are pasted in one piece come one after the other, and what follows a command that
/// lets the program run is the program's if it reads.
#[test]
fn pasted_in_one_piece() {
    let dir = built();
    let mut terminal = Terminal::cgemu(dir.path(), &["repl", "--cachegrind-out-file=out", "./prog"]);
    let mut at = terminal.wait_for(0, "cgemu> ");
    terminal.type_in("print 6 * 7\rprint 6 * 8\rprint 6 * 9\rprin");
    for answer in ["$1 = 42", "$2 = 48", "$3 = 54"] {
        at = terminal.wait_for(at, answer);
    }
    // What was not finished is still there to be finished.
    at = terminal.wait_for(at, "prin");
    terminal.type_in("t 6 * 10\r");
    at = terminal.wait_for(at, "$4 = 60");
    at = terminal.wait_for(at, "cgemu> ");
    terminal.type_in("run\rabcdef\rprint 6 * 11\rprint 6 * 12\r");
    at = terminal.wait_for(at, "read 7");
    at = terminal.wait_for(at, "has ended");
    at = terminal.wait_for(at, "$5 = 66");
    at = terminal.wait_for(at, "$6 = 72");
    at = terminal.wait_for(at, "cgemu> ");
    // A terminal that brackets what is pasted makes no difference.
    terminal.type_in("\x1b[200~run\rabcdefgh\rprint 6 * 13\x1b[201~\r");
    at = terminal.wait_for(at, "read 9");
    at = terminal.wait_for(at, "has ended");
    at = terminal.wait_for(at, "$7 = 78");
    terminal.wait_for(at, "cgemu> ");
    terminal.type_in("quit\r");
    assert_eq!(terminal.finish().1.code(), Some(0));
}

/// A signal from outside ends the shell while a line is being typed, too: with the profile, and
/// with the terminal as it was.
#[test]
fn signals_end_the_prompt() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::USR1, 138)] {
        for typed in ["", "start\r"] {
            let dir = built();
            let mut terminal = Terminal::cgemu(dir.path(), &["repl", "--cachegrind-out-file=out", "./prog"]);
            let mut at = terminal.wait_for(0, "cgemu> ");
            terminal.type_in(typed);
            if !typed.is_empty() {
                at = terminal.wait_for(at, "int n = argc");
                at = terminal.wait_for(at, "cgemu> ");
            }
            terminal.type_in("Q");
            terminal.wait_for(at, "Q");
            assert!(!terminal.is_cooked(), "the editor is at work");
            terminal.kill(signal);
            let (screen, ended) = terminal.finish_cooked();
            assert_eq!(ended.code(), Some(status), "{signal:?} {typed:?}:\n{screen}");
            assert_eq!(screen.contains("ended by your signal"), !typed.is_empty(), "{screen}");
            assert_eq!(dir.path().join("out").exists(), !typed.is_empty(), "{screen}");
        }
    }
}

/// What is pasted while the program runs waits for the prompt; Ctrl-C forgets it, as it makes a
/// terminal forget.
#[test]
fn pasted_while_the_program_runs() {
    let dir = built();
    let mut terminal = Terminal::cgemu(
        dir.path(),
        &["repl", "--stdin=input", "--cachegrind-out-file=out", "./prog", "100000000"],
    );
    let mut at = terminal.wait_for(0, "cgemu> ");
    terminal.type_in("tbreak step\rrun\rcontinue\rprint 6 * 7\r");
    at = terminal.wait_for(at, "stop 1: breakpoint step");
    at = terminal.wait_for(at, "cgemu> continue");
    at = terminal.wait_for(at, "M instructions, 1 s; Ctrl-C stops it");
    terminal.type_in("print 6 * 8\nprint 6 * 9\n\x03");
    at = terminal.wait_for(at, "interrupted");
    at = terminal.wait_for(at, "cgemu> ");
    terminal.type_in("print 6 * 10\r");
    at = terminal.wait_for(at, "$1 = 60");
    terminal.wait_for(at, "cgemu> ");
    terminal.type_in("quit\r");
    assert_eq!(terminal.finish().1.code(), Some(0));
}

/// Ctrl-C stops a program whose output nobody takes, and none of it is lost or written twice.
#[test]
fn interrupted_at_a_full_pipe() {
    const ALL: usize = 300_000;
    let dir = tempfile::tempdir().expect("a directory");
    let source = format!(
        "#include <unistd.h>\n#include <string.h>\nstatic char all[{ALL}];\n\
         int main(void) {{ memset(all, '#', sizeof all); return write(1, all, sizeof all) != sizeof all; }}\n"
    );
    fs::write(dir.path().join("much.c"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-O1", "-o", "much", "much.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let words = ["repl", "--cachegrind-out-file=out", "./much"];
    let mut terminal = Terminal::cgemu_writing_to(dir.path(), &words, writer);
    // The prompt is on standard output, so it is only seen there.
    terminal.type_in("run\r");
    terminal.wait_for(0, "Ctrl-C stops it");
    terminal.type_in("\x03");
    // The terminal shows it when it sends the signal; before that the program may still come to
    // its end.
    terminal.wait_for(0, "^C");
    let taken = Arc::new(Mutex::new(Vec::<u8>::new()));
    let to = Arc::clone(&taken);
    let reading = std::thread::spawn(move || {
        let mut reader = reader;
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            to.lock().expect("what was read").extend(&buffer[..count]);
        }
    });
    // If the program came to its end first, the words for that may have been lost at the full
    // pipe; the terminal then says in answer to `continue` that it has ended.
    terminal.type_in("continue\r");
    let said = || String::from_utf8_lossy(&taken.lock().expect("what was read")).into_owned();
    let ended =
        |screen: &str| screen.contains("the program has ended;") || said().contains("ended with status 0");
    let mut patience = Patience::of(Duration::from_secs(60));
    while !ended(&terminal.screen()) {
        assert!(patience.turn(), "{} bytes, and: {}", said().len(), terminal.screen());
    }
    terminal.type_in("quit\r");
    assert_eq!(terminal.finish().1.code(), Some(0));
    reading.join().expect("read");
    assert_eq!(said().matches('#').count(), ALL);
}
