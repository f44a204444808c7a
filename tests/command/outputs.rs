//! Files that cgemu writes stay where they were found before the program ran, whatever a program
//! that may change their directory does there; and they appear whole or not at all.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::common::{cgemu, names, output, patience, stderr, stdout, tool};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};

/// What somebody else's file holds.
const VICTIM: &str = "must not change\n";

/// A directory `box` that the guest may change, with the outputs in `box/prof`, and a victim
/// outside of it.
struct Bed {
    directory: tempfile::TempDir,
}

impl Bed {
    fn new(guest: &str) -> Bed {
        let bed = Bed { directory: tempfile::tempdir().expect("a directory") };
        fs::create_dir_all(bed.at("box/prof")).expect("mkdir");
        fs::create_dir(bed.at("outside")).expect("mkdir");
        for name in ["out", "out.instr", "out.1", "out.1.instr", "log", "fifo", "victim"] {
            fs::write(bed.at("outside").join(name), VICTIM).expect("write");
        }
        let text = format!(
            "#include <stdio.h>\n#include <unistd.h>\n#include <sys/stat.h>\n\
             int plant(const char *to, const char *name) {{ unlink(name); return symlink(to, name); }}\n\
             int main(void) {{ int bad = 0; {guest} puts(bad ? \"failed\" : \"planted\"); return bad; }}\n"
        );
        fs::write(bed.at("p.c"), text).expect("write");
        let out = tool("gcc", bed.path(), "gcc", &["-g", "-O0", "-static", "-o", "p", "p.c"]);
        assert!(out.status.success(), "{}", stderr(&out));
        bed
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn mkfifo(&self, name: &str) {
        mknodat(CWD, self.at(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("mkfifo");
    }

    /// Nothing outside of `box` has changed.
    fn nothing_else_is_written(&self) {
        let outside = self.at("outside");
        let all = ["fifo", "log", "out", "out.1", "out.1.instr", "out.instr", "victim"];
        assert_eq!(names(&outside), all);
        for name in all {
            assert_eq!(fs::read_to_string(outside.join(name)).expect("read"), VICTIM, "{name}");
        }
        assert_eq!(names(self.path()), ["box", "outside", "p", "p.c"]);
    }
}

fn is_profile(path: &Path) {
    let text = fs::read_to_string(path).expect("a profile");
    assert!(text.lines().last().is_some_and(|line| line.starts_with("summary: ")), "{}", path.display());
    assert!(fs::symlink_metadata(path).expect("stat").is_file(), "{}", path.display());
}

/// The directory goes away and a link to another takes its place; in it are links in the places of
/// the files.
const AWAY: &str = "bad |= rename(\"box/prof\", \"box/moved\"); bad |= symlink(\"../outside\", \"box/prof\");\
    const char *all[] = {\"out\", \"out.instr\", \"log\", \"out.1\", \"out.1.instr\"};\
    for (int i = 0; i < 5; i++) { char to[99], name[99]; sprintf(to, \"../../outside/%s\", all[i]);\
    sprintf(name, \"box/moved/%s\", all[i]); bad |= plant(to, name); }";

#[test]
fn a_directory_that_moves_takes_its_outputs_along() {
    let bed = Bed::new(AWAY);
    let words = ["run", "--allow-write=box", "--dump-instr=yes", "--log-file=box/prof/log"];
    let words = [&words[..], &["--cachegrind-out-file=box/prof/out", "--", "./p"]].concat();
    let out = output(bed.path(), &words);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    assert_eq!(stdout(&out), "planted\n");
    bed.nothing_else_is_written();
    is_profile(&bed.at("box/moved/out"));
    assert!(fs::symlink_metadata(bed.at("box/moved/out.instr")).expect("stat").is_file());
    assert_eq!(fs::read_link(bed.at("box/prof")).expect("a link"), Path::new("../outside"));
}

#[test]
fn files_of_the_shell_stay_too() {
    let bed = Bed::new(AWAY);
    let script = "break puts\nrun\ndump\ndump box/moved/named\nlog box/moved/session\ncontinue\n";
    fs::write(bed.at("box/script"), script).expect("write");
    let words = ["repl", "--allow-write=box", "--dump-instr=yes", "--commands=box/script"];
    let words = [&words[..], &["--cachegrind-out-file=box/prof/out", "--", "./p"]].concat();
    let out = output(bed.path(), &words);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    bed.nothing_else_is_written();
    for name in ["out", "out.1", "named"] {
        is_profile(&bed.at("box/moved").join(name));
        let side = fs::symlink_metadata(bed.at(&format!("box/moved/{name}.instr"))).expect("a side file");
        assert!(side.is_file(), "{name}");
    }
    assert!(bed.at("box/moved/session").exists());
    // Where the file is now, and not where its name would lead.
    assert!(stdout(&out).contains("box/moved/out.1\n"), "{}", stdout(&out));
}

/// A link in a directory that the guest may change can be the guest's, of this run or one before.
#[test]
fn links_of_the_guest_are_not_followed() {
    let bed = Bed::new(AWAY);
    for (command, path) in [("dump", "box/prof/victim"), ("log", "box/prof/victim"), ("log", "box/moved/log")]
    {
        let script = format!("break puts\nrun\n{command} {path}\n");
        fs::write(bed.at("box/script"), script).expect("write");
        let words = ["repl", "--allow-write=box", "--commands=box/script"];
        let words = [&words[..], &["--cachegrind-out-file=box/prof/out", "--", "./p"]].concat();
        let out = output(bed.path(), &words);
        assert_eq!(out.status.code(), Some(1), "{}{}", stdout(&out), stderr(&out));
        assert!(stderr(&out).contains("symbolic link") && stderr(&out).contains(path), "{}", stderr(&out));
        bed.nothing_else_is_written();
        fs::remove_dir_all(bed.at("box")).expect("remove");
        fs::create_dir_all(bed.at("box/prof")).expect("mkdir");
    }
    symlink("../../outside/victim", bed.at("box/prof/log")).expect("symlink");
    symlink("../outside", bed.at("box/other")).expect("symlink");
    for option in [
        "--log-file=box/prof/log",
        "--cachegrind-out-file=box/prof/log",
        "--cachegrind-out-file=box/other/out",
    ] {
        let out = output(bed.path(), &["run", "--allow-write=box", option, "--", "./p"]);
        assert_eq!(out.status.code(), Some(125), "{option}: {}", stderr(&out));
        assert!(stderr(&out).contains("symbolic link"), "{}", stderr(&out));
        assert_eq!(stdout(&out), "", "the program must not have run");
        bed.nothing_else_is_written();
    }
    // Without a program that may write there they are links as any other.
    let out = output(bed.path(), &["run", "-q", "--cachegrind-out-file=box/other/out", "--", "true"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    is_profile(&bed.at("outside/out"));
}

#[test]
fn special_files_are_held() {
    let bed = Bed::new(
        "bad |= rename(\"box/prof/fifo\", \"box/fifo\"); bad |= symlink(\"../../outside/fifo\", \"box/prof/fifo\");",
    );
    bed.mkfifo("box/prof/fifo");
    let words = ["run", "-q", "--allow-write=box", "--cachegrind-out-file=box/prof/fifo", "--", "./p"];
    let child = cgemu(bed.path(), &words).stdout(Stdio::piped()).spawn().expect("cgemu starts");
    let fifo = bed.at("box/prof/fifo");
    let mut reader = fs::File::open(&fifo).expect("a FIFO with a writer");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("read");
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(stdout(&out), "planted\n");
    assert!(out.status.success() && text.contains("\nsummary: "), "{text}");
    bed.nothing_else_is_written();
}

/// Commands of a script are those that were in it when it began, whatever the program adds.
#[test]
fn a_program_gives_the_shell_no_commands() {
    let add = "FILE *f = fopen(\"box/script\", \"a\"); fputs(\"!touch escaped\\n\", f); bad |= fclose(f);\
        f = fopen(\"box/later\", \"w\"); fputs(\"!touch escaped\\n\", f); bad |= fclose(f);";
    let bed = Bed::new(add);
    for (last, status) in [("", 0), ("source box/later\n", 1)] {
        for (words, redirection) in [("--commands=box/script", ""), ("-q", "<box/script")] {
            fs::write(bed.at("box/script"), format!("run\n{last}")).expect("write");
            let line = format!(
                "exec \"$0\" repl --allow-write=box --cachegrind-out-file=box/out {words} -- ./p {redirection}"
            );
            let out = tool("dash", bed.path(), "sh", &["-c", &line, env!("CARGO_BIN_EXE_cgemu")]);
            assert_eq!(out.status.code(), Some(status), "{}{}", stdout(&out), stderr(&out));
            assert!(stdout(&out).contains("planted"), "{}", stdout(&out));
            bed.nothing_else_is_written();
        }
    }
}

/// `/dev/stdout` and `/dev/fd/N` stand for what they stood for at the beginning.
#[test]
fn descriptors_by_name_are_held() {
    let bed = Bed::new(
        "bad |= rename(\"box/prof/target\", \"box/target\"); bad |= plant(\"../../outside/victim\", \"box/prof/target\");",
    );
    for (name, redirection) in [("/dev/stdout", ">"), ("/dev/fd/7", "7>"), ("/proc/self/fd/2", "2>")] {
        let line = format!(
            "exec \"$0\" run -q --allow-write=box --cachegrind-out-file={name} -- ./p {redirection}box/prof/target"
        );
        let out = tool("dash", bed.path(), "sh", &["-c", &line, env!("CARGO_BIN_EXE_cgemu")]);
        assert!(out.status.success(), "{name}: {}", stderr(&out));
        let text = fs::read_to_string(bed.at("box/target")).expect("the file");
        assert!(text.contains("\nsummary: "), "{name}: {text}");
        bed.nothing_else_is_written();
        fs::remove_file(bed.at("box/prof/target")).expect("the link");
        fs::remove_file(bed.at("box/target")).expect("the file");
    }
}

#[test]
fn a_fifo_that_nobody_reads_does_not_hold_cgemu_past_a_signal() {
    let bed = Bed::new("");
    bed.mkfifo("box/fifo");
    for (name, program) in [("box/fifo", "./p"), ("box/fifo", "sh")] {
        let option = format!("--cachegrind-out-file={name}");
        // One waits for a reader when the signal comes, the other still runs.
        let words = ["run", "-q", &option, "--", program, "-c", "echo planted; while :; do :; done"];
        let mut child = cgemu(bed.path(), &words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cgemu starts");
        let mut said = [0; 8];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut said).expect("the program is there");
        std::thread::sleep(Duration::from_millis(300));
        kill_process(Pid::from_child(&child), Signal::TERM).expect("kill");
        let ended = patience::wait(&mut child, Duration::from_secs(20));
        let _ = child.kill();
        let out = child.wait_with_output().expect("it ends");
        assert!(ended.is_ok(), "{program}: {ended:?}");
        assert_eq!(out.status.code(), Some(125), "{program}: {}", stderr(&out));
        assert!(
            stderr(&out).contains("box/fifo") && stderr(&out).contains("nobody reads it"),
            "{}",
            stderr(&out)
        );
    }
}

/// The kernel's limit on the size of files: an error of the write, and not the end of cgemu.
#[test]
fn a_file_size_limit_is_an_error_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("out"), "old").expect("write");
    let line = "ulimit -f 1; exec \"$0\" run -q --cachegrind-out-file=out -- true";
    let out = tool("dash", dir.path(), "sh", &["-c", line, env!("CARGO_BIN_EXE_cgemu")]);
    assert_eq!(out.status.code(), Some(125), "{}", stderr(&out));
    assert!(stderr(&out).contains("out: the profile is not written: File too large"), "{}", stderr(&out));
    assert_eq!(stderr(&out).lines().count(), 1, "{}", stderr(&out));
    assert_eq!(names(dir.path()), ["out"]);
    assert_eq!(fs::read(dir.path().join("out")).expect("read"), b"old");
}

/// A log that was cut off looks whole, so the run says that it is not.
#[test]
fn a_log_that_does_not_take_all_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("commands"), "start\ncontinue\n").expect("write");
    for words in [
        &["run", "--log-file=/dev/full"][..],
        &["run", "-q", "--strace=/dev/full"],
        &["repl", "--commands=commands", "--log-file=/dev/full"],
    ] {
        let words = [words, &["--cachegrind-out-file=out", "--", "true"]].concat();
        let out = output(dir.path(), &words);
        let said = stderr(&out);
        assert_eq!(out.status.code(), Some(125), "{words:?}: {said}");
        assert!(said.contains("/dev/full: not all of it is written: No space left on device"), "{said}");
        assert!(fs::read(dir.path().join("out")).is_ok_and(|profile| !profile.is_empty()), "no profile");
        fs::remove_file(dir.path().join("out")).expect("removed");
    }
}

/// A run that was killed while it wrote left a file; the next one in that directory removes it.
#[test]
fn leftovers_of_a_killed_run_are_removed() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join(".cgemu.4000000.0.tmp"), "half a profile").expect("write");
    let out = output(dir.path(), &["run", "-q", "--cachegrind-out-file=out", "--", "true"]);
    assert!(out.status.success(), "{}", stderr(&out));
    assert_eq!(names(dir.path()), ["out"]);
}
