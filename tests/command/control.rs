//! Orders of `cgemu control` to runs that go on: what they answer, what they change, and that they
//! change nothing else; the directory of the sockets, and that no program reaches it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::common::{cgemu, names, stderr, stdout};
use crate::limits::{build, temporary};

/// For each digit that it reads, so many rounds of work, and the digit.
const WORKER: &str = "#include <unistd.h>\n\
    volatile int sum;\n\
    __attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) sum += i; }\n\
    int main(void) {\n\
        char c;\n\
        write(1, \"!\", 1);\n\
        while (read(0, &c, 1) == 1) { work(1000 * (c - '0')); write(1, &c, 1); }\n\
        return 0;\n\
    }\n";

/// The command, with its sockets below this directory.
fn command(directory: &Path, words: &[&str]) -> Command {
    let mut command = cgemu(directory, words);
    command.env("XDG_RUNTIME_DIR", directory.join("runtime"));
    command
}

fn output(directory: &Path, words: &[&str]) -> Output {
    command(directory, words).output().expect("cgemu starts")
}

/// A run of `./p` that is controlled.
struct Run<'d> {
    directory: &'d Path,
    child: Child,
}

impl<'d> Run<'d> {
    /// Starts it with its profile in `out`, and waits for the program's first byte.
    fn start(directory: &'d Path, options: &[&str]) -> Run<'d> {
        Run::start_to(directory, "out", options)
    }

    fn start_to(directory: &'d Path, profile: &str, options: &[&str]) -> Run<'d> {
        let profile = format!("--cachegrind-out-file={profile}");
        let begin = ["run", "--control", "--timeout=100s"];
        let mut command = command(directory, &[&begin, options, &[&profile, "--", "./p"]].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = Run { directory, child: command.spawn().expect("cgemu starts") };
        run.take(b'!');
        run
    }

    /// Waits for a byte of the program.
    fn take(&mut self, byte: u8) {
        let mut taken = [0];
        self.child.stdout.as_mut().expect("a pipe").read_exact(&mut taken).expect("it goes on");
        assert_eq!(taken, [byte]);
    }

    fn give(&mut self, bytes: &[u8]) {
        self.child.stdin.as_mut().expect("a pipe").write_all(bytes).expect("it reads");
    }

    /// Has the program work.
    fn work(&mut self, digit: u8) {
        self.give(&[digit]);
        self.take(digit);
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    fn ordered(&self, orders: &[&str]) -> Output {
        output(self.directory, &[&["control"], orders, &[&self.pid()]].concat())
    }

    /// The answer to orders that are obeyed.
    fn order(&self, orders: &[&str]) -> String {
        let out = self.ordered(orders);
        assert_eq!(out.status.code(), Some(0), "{orders:?}: {}{}", stdout(&out), stderr(&out));
        assert_eq!(stderr(&out), "");
        stdout(&out).replace(&format!("{}: ", self.pid()), "")
    }

    /// The counts, when the program waits. Between two orders it goes on by a block at least, if it
    /// can.
    fn counts(&self) -> Vec<u64> {
        let mut before = String::new();
        loop {
            let now = self.order(&["--events"]);
            if now == before {
                return counts(&now);
            }
            before = now;
        }
    }

    /// Ends the program's input, and the program with it.
    fn end(mut self) -> Output {
        drop(self.child.stdin.take());
        self.child.wait_with_output().expect("it ends")
    }
}

/// The numbers behind the names of events.
fn counts(events: &str) -> Vec<u64> {
    assert!(events.starts_with("process 1000: Ir "), "{events}");
    let words = events.split([' ', ',', ':']).filter_map(|word| word.parse().ok());
    words.skip(1).collect()
}

/// The counts in the `summary` or `totals` line of a file.
fn sums(file: &Path) -> Vec<u64> {
    let text = fs::read_to_string(file).expect("a profile");
    let line = text.lines().find_map(|line| line.strip_prefix("summary: ")).expect("a summary");
    line.split(' ').map(|word| word.parse().expect("a number")).collect()
}

fn minus(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a.checked_sub(*b).expect("no less")).collect()
}

/// A directory with the program and the one for sockets.
fn bed() -> tempfile::TempDir {
    let dir = temporary();
    fs::create_dir(dir.path().join("runtime")).expect("made");
    build(dir.path(), WORKER);
    dir
}

/// What the program costs that reads these digits, without control.
fn plain(directory: &Path, digits: &str) -> Vec<u64> {
    fs::write(directory.join("digits"), digits).expect("written");
    let words = ["run", "-q", "--cache-sim=no", "--branch-sim=yes", "--cachegrind-out-file=plain", "./p"];
    let input = fs::File::open(directory.join("digits")).expect("there");
    let out = command(directory, &words).stdin(input).output().expect("cgemu starts");
    assert!(out.status.success(), "{}", stderr(&out));
    sums(&directory.join("plain"))
}

/// Orders that look, and parts of the call graph: profile and graph are those of an undisturbed
/// run, parts add up.
#[test]
fn looking_changes_nothing() {
    let dir = bed();
    let options = ["--callgraph=yes", "--branch-sim=yes", "--callgrind-out-file=graph"];
    let file = |name: &str| fs::read_to_string(dir.path().join(name)).expect("written");
    let mut texts = Vec::new();
    for orders in [&[][..], &["--stat", "--back", "--events"], &["--dump"]] {
        let mut run = Run::start(dir.path(), &options);
        let mut dumped = Vec::new();
        for digit in *b"123" {
            for order in orders {
                let answer = run.order(&[order]);
                if let Some(path) = answer.strip_prefix("dumped: ") {
                    let text = fs::read_to_string(path.trim_end()).expect("it is written at once");
                    dumped.push((path.trim_end().to_owned(), text));
                }
                let part = match *order {
                    "--stat" => "process 1000 (of 999): 1 task, counted, ",
                    "--back" => "(main, ",
                    "--events" => "process 1000: Ir ",
                    _ => "dumped",
                };
                assert!(answer.contains(part), "{order}: {answer}");
            }
            run.work(digit);
        }
        let out = run.end();
        assert!(out.status.success(), "{}", stderr(&out));
        assert_eq!(dumped.len(), if orders == ["--dump"] { 3 } else { 0 });
        for (path, text) in dumped {
            assert_eq!(fs::read_to_string(&path).expect("it stays"), text, "{path}");
        }
        texts.push((file("out"), file("graph")));
    }
    let undisturbed = texts.first().expect("three runs");
    assert_eq!(undisturbed, &texts[1]);
    assert_eq!(undisturbed.0, texts[2].0);
    let part = |name: &str| {
        let text = file(name);
        let line = text.lines().find_map(|line| line.strip_prefix("totals: ")).expect("totals").to_owned();
        let trigger = text.lines().find_map(|line| line.strip_prefix("desc: Trigger: ")).map(str::to_owned);
        (trigger, line.split(' ').map(|word| word.parse::<u64>().expect("a number")).collect::<Vec<_>>())
    };
    let (_, mut sum) = part("graph");
    for name in ["graph.1", "graph.2", "graph.3"] {
        let (trigger, counts) = part(name);
        assert_eq!(trigger.as_deref(), Some("cgemu control --dump"));
        assert!(counts[0] > 1000, "{name}: {counts:?}");
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let whole = undisturbed.1.lines().find_map(|line| line.strip_prefix("totals: ")).expect("totals");
    assert_eq!(sum.iter().map(u64::to_string).collect::<Vec<_>>().join(" "), whole);
    assert!(!dir.path().join("graph.4").exists());
    assert_eq!(names(&dir.path().join("runtime/cgemu")), [""; 0], "a run that ends removes its socket");
}

/// Counts begin anew, and what runs while counting is off is not in them: to the instruction, of
/// generated code that counts itself and of both producers.
#[test]
fn counts_are_zeroed_and_switched() {
    let dir = bed();
    let (one, two) = (plain(dir.path(), "1"), plain(dir.path(), "12"));
    for options in [
        &["--cache-sim=no", "--branch-sim=yes"][..],
        &["--cache-sim=no"],
        &["--cache-sim=no", "--branch-sim=yes", "--hooks=api"],
        &["--cache-sim=no", "--branch-sim=yes", "--callgraph=yes", "--callgrind-out-file=graph"],
    ] {
        let mut run = Run::start(dir.path(), options);
        run.work(b'1');
        let first = run.counts();
        // Instructions and branches; mispredictions depend on what the predictors have seen.
        let kinds: &[usize] = if first.len() > 1 { &[0, 1, 3] } else { &[0] };
        let of = |all: &[u64]| kinds.iter().map(|&kind| all[kind]).collect::<Vec<u64>>();
        assert_eq!(run.order(&["--zero"]), "all counts are zero\n");
        run.work(b'2');
        let second = run.counts();
        assert_eq!(of(&second), of(&minus(&two, &one)), "{options:?}");
        assert_eq!(run.order(&["--instr=off"]), "counting is off\n");
        run.work(b'3');
        assert_eq!(run.counts(), second, "{options:?}");
        assert!(run.order(&[]).contains("1 task, counting is off"));
        assert_eq!(run.order(&["--instr=on"]), "counting is on\n");
        let out = run.end();
        assert!(out.status.success(), "{}", stderr(&out));
        let last = minus(&sums(&dir.path().join("out")), &second);
        assert_eq!(of(&last), of(&minus(&one, &first)), "{options:?}");
    }
}

/// What the parent and its child execute while counting is off, and before the counts are zero, is
/// in no profile; each has a part of its own.
#[test]
fn orders_are_for_all_processes() {
    let dir = bed();
    let source =
        WORKER.replace("write(1, \"!\", 1);", "int other = !fork(); if (!other) write(1, \"!\", 1);");
    let source = source.replace("work(1000", "if (other) return 0; work(1000");
    build(dir.path(), &source.replace("while (read", "if (other) pause(); while (read"));
    let options = ["--callgrind-out-file=graph.%p", "--callgraph=yes", "--fork-counts=zero"];
    let mut run = Run::start_to(dir.path(), "out.%p", &options);
    run.work(b'1');
    let stacks = run.order(&["--back"]);
    assert!(stacks.contains("process 1000") && stacks.contains("process 1001"), "{stacks}");
    let dumped = run.order(&["--dump"]);
    for name in [format!("graph.{}.1\n", run.pid()), format!("graph.{}.1001.1\n", run.pid())] {
        assert!(dumped.contains(&name), "{dumped}");
    }
    run.order(&["--zero", "--instr=off"]);
    run.work(b'2');
    assert_eq!(run.order(&["--stat"]).matches("counting is off").count(), 2);
    let before: Vec<String> = run.order(&["--events"]).lines().map(str::to_owned).collect();
    assert_eq!(before.len(), 2);
    assert!(before.iter().all(|line| line.contains(": Ir 0, ")), "{before:?}");
    let pid = run.pid();
    run.order(&["--kill"]);
    assert_eq!(run.end().status.code(), Some(143));
    for name in [format!("graph.{pid}.1"), format!("graph.{pid}.1001.1")] {
        let text = fs::read_to_string(dir.path().join(&name)).expect("a part");
        assert!(text.contains("desc: Trigger: cgemu control --dump"), "{name}");
    }
    for name in [format!("out.{pid}"), format!("out.{pid}.1001")] {
        assert_eq!(sums(&dir.path().join(&name)), [0; 9], "{name}");
    }
}

/// Who says nothing, too much or nonsense on the socket keeps nobody else from it.
#[test]
fn bad_lines_are_refused() {
    let dir = bed();
    let run = Run::start(dir.path(), &[]);
    let path = dir.path().join("runtime/cgemu").join(run.pid());
    let said = |line: &[u8]| {
        let mut connection = UnixStream::connect(&path).expect("it listens");
        // It may be closed before all is written.
        let _ = connection.write_all(line);
        let _ = connection.shutdown(Shutdown::Write);
        let mut answer = String::new();
        let _ = connection.read_to_string(&mut answer);
        answer
    };
    assert_eq!(said(b"bogus\n"), "no\nno such order\n");
    assert_eq!(said(b"\xff\n"), "no\nno such order\n");
    for line in [&b""[..], b"status", &[b'x'; 100_000]] {
        assert_eq!(said(line), "");
    }
    assert!(said(b"status\n").starts_with("ok\n"));
    assert!(run.order(&[]).contains("process 1000"));
    assert!(run.end().status.success());
}

#[test]
fn a_run_is_ended_with_its_profile() {
    let dir = bed();
    let run = Run::start(dir.path(), &[]);
    let refused = run.ordered(&["--dump"]);
    assert_eq!(refused.status.code(), Some(1), "there is no call graph");
    assert!(stdout(&refused).contains("not obeyed: ") && stdout(&refused).contains("--callgraph=yes"));
    assert_eq!(run.order(&["--kill"]), "ends\n");
    let out = run.child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(143), "{}", stderr(&out));
    assert!(sums(&dir.path().join("out"))[0] > 1000);
}

/// Sockets of the dead go, a directory that others enter is refused, and so is a link to one.
#[test]
fn the_directory_is_the_users_alone() {
    let dir = bed();
    let place = dir.path().join("runtime/cgemu");
    let mut dead = Run::start(dir.path(), &[]);
    let socket = place.join(dead.pid());
    let made = |path: &Path| fs::symlink_metadata(path).expect("there");
    assert!(made(&socket).file_type().is_socket());
    assert_eq!(made(&place).permissions().mode() & 0o7777, 0o700);
    let pid = dead.pid();
    dead.child.kill().and_then(|()| dead.child.wait()).expect("killed");
    assert!(socket.exists(), "it had no time to remove it");
    let out = output(dir.path(), &["control", &pid]);
    assert_eq!(out.status.code(), Some(125));
    assert!(stderr(&out).contains("no run of this user"), "{}", stderr(&out));
    assert!(!socket.exists(), "{:?}", names(&place));

    let quiet = ["run", "-q", "--control", "--cachegrind-out-file=/dev/null", "true"];
    let refused = |what: &str| {
        for words in [&quiet[..], &["control"]] {
            let out = output(dir.path(), words);
            assert_eq!(out.status.code(), Some(125), "{what}, {words:?}");
            assert!(stderr(&out).contains("runtime/cgemu: "), "{what}, {words:?}: {}", stderr(&out));
        }
    };
    fs::set_permissions(&place, fs::Permissions::from_mode(0o711)).expect("changed");
    refused("others may enter");
    fs::remove_dir(&place).expect("it is empty");
    fs::create_dir(dir.path().join("other")).expect("made");
    fs::set_permissions(dir.path().join("other"), fs::Permissions::from_mode(0o700)).expect("changed");
    symlink("../other", &place).expect("linked");
    refused("a link");
    fs::remove_file(&place).expect("removed");
    assert!(output(dir.path(), &quiet).status.success());
}

/// A program that may write everything around it neither sees nor reaches a socket, its own or
/// another's, and a run without control has none.
#[test]
fn no_program_reaches_a_socket() {
    let dir = bed();
    let other = Run::start(dir.path(), &[]);
    let text = "#include <dirent.h>\n#include <errno.h>\n#include <stdio.h>\n#include <string.h>\n\
        #include <sys/socket.h>\n#include <sys/stat.h>\n#include <sys/un.h>\n#include <unistd.h>\n\
        int main(int argc, char **argv) {\n\
            struct stat st;\n\
            struct sockaddr_un at = { AF_UNIX };\n\
            for (int i = 1; i < argc; i++) {\n\
                strcpy(at.sun_path, argv[i]);\n\
                errno = 0;\n\
                printf(\"%d\", stat(argv[i], &st)); printf(\" %d\", errno);\n\
                printf(\" %d\", connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&at, sizeof at));\n\
                printf(\" %d\", errno);\n\
                printf(\" %d\", unlink(argv[i])); printf(\" %d\\n\", errno);\n\
            }\n\
            DIR *d = opendir(\"runtime\");\n\
            for (struct dirent *e; d && (e = readdir(d));) if (e->d_name[0] != '.') puts(e->d_name);\n\
            printf(\"%d\\n\", rename(\"runtime\", \"moved\"));\n\
            return 0;\n\
        }\n";
    fs::create_dir(dir.path().join("q")).expect("made");
    build(&dir.path().join("q"), text);
    let socket = format!("runtime/cgemu/{}", other.pid());
    for control in [&["--control"][..], &[]] {
        let begin = ["run", "-q", "--cachegrind-out-file=/dev/null", "--allow-write=."];
        let out = output(dir.path(), &[&begin, control, &["q/p", &socket, "runtime/cgemu"]].concat());
        // ENOENT three times.
        assert_eq!(stdout(&out), "-1 2 -1 2 -1 2\n-1 2 -1 2 -1 2\n-1\n", "{control:?}: {}", stderr(&out));
    }
    assert!(other.order(&["--stat"]).contains("process 1000"));
    assert_eq!(names(&dir.path().join("runtime/cgemu")), [other.pid()]);
    assert!(other.end().status.success());
    let out = output(dir.path(), &["run", "-i", "--control", "true"]);
    assert_eq!(out.status.code(), Some(125));
    assert!(stderr(&out).contains("without -i"), "{}", stderr(&out));
}
