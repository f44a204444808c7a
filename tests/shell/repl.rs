//! The prompt, with scripts and on a terminal: its commands, its status, its log. The folder has
//! the other subjects.

mod bad_input;
pub mod bed;
mod calls;
mod reverse;
mod sockets;
mod stops;
mod terminal;
mod views;

use std::fs;
use std::path::Path;

use crate::common::{cgemu, golden, stderr, stdout, tool};
use bed::{built, prints, script_with};

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
        (&[], "run\nquit\n", &["v"], 125),
        (&[], "run\nquit 0\n", &["v"], 0),
        (&[], "run\nquit\n", &["a"], 128 + 6),
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
    // The shell is confined otherwise, as it starts what its user wants; and not all hosts have
    // Landlock.
    let same = |line: &&str| !line.contains("Parent PID") && !line.contains("onfined by ");
    lines.lines().filter(same).map(|line| format!("{line}\n")).collect()
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

/// What does not fit is told once, with the failure's own status, and leaves no part of a profile.
#[test]
fn files_that_have_no_room() {
    let dir = built();
    let lists: String = (0..40).map(|_| "list main\n").collect();
    let before = files(dir.path());
    for (commands, status, told, left) in [
        ("start\ndump part\n!touch went-on\n".to_owned(), 1, "script:2: ", &[][..]),
        ("start\ndump\n!touch went-on\n".to_owned(), 1, "script:2: ", &[]),
        ("run\n!touch went-on\n".to_owned(), 1, "script:1: ", &[]),
        (format!("start\nlog log\n{lists}quit 7\n"), 125, "log: not all of it is written", &["log"]),
    ] {
        fs::write(dir.path().join("script"), &commands).expect("written");
        let line =
            "ulimit -f 1; exec \"$0\" repl --commands=script --stdin=input --cachegrind-out-file=out ./prog";
        let out = tool("dash", dir.path(), "sh", &["-c", line, env!("CARGO_BIN_EXE_cgemu")]);
        assert_eq!(out.status.code(), Some(status), "{commands}: {}", stderr(&out));
        let error = stderr(&out);
        assert_eq!(error.lines().count(), 1, "{commands}: {error}");
        assert!(error.contains(told) && error.contains("File too large"), "{commands}: {error}");
        let mut after = files(dir.path());
        after.retain(|name| !before.contains(name) && name != "script");
        assert_eq!(after, left, "{commands}");
    }
}

/// The names in a directory.
fn files(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
