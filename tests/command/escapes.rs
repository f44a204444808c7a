//! Names, source lines and messages that would steer a terminal: whatever is printed, no control
//! character comes out.

use std::fs;
use std::path::Path;

use crate::common::{cgemu, output, stderr, tool};

/// An order to change the window's title, a cursor movement with the C1 control CSI in UTF-8, a
/// colour, an override of the direction of text.
const EVIL: &[u8] = b"\x1b]0;owned\x07\xc2\x9b1A\x1b[31m\xe2\x80\xaewxyz";

/// The place of [`EVIL`] in what is compiled: as long, and plain.
const PLAIN: &str = "qQevilQqQevilQqQevilQqQevi";

const PROGRAM: &str = r#"
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
char text_PLAIN[] = "PLAIN";
__attribute__((noinline)) int fn_PLAIN(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i * i; /* PLAIN */
    return sum;
}
static inline __attribute__((always_inline)) int in_PLAIN(int n) { return n * fn_PLAIN(n); }
static void request(char *text)
{
    long arguments[6] = { 0x1401, (long)text, 0, 0, 0, 0 }, answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "+d"(answer) : "a"(arguments) : "cc", "memory");
}
int main(int count, char **words)
{
    volatile int sum = in_PLAIN(9000);
    request(text_PLAIN);
    syscall(SYS_personality, 7);
    if (count > 1) abort();
    return sum == 1;
}
"#;

/// Replaces each [`PLAIN`], and the blank at the beginning of each comment by a carriage return.
fn poison(file: &Path) {
    let mut bytes = fs::read(file).expect("a file");
    while let Some(at) = bytes.windows(3).position(|window| window == b"/* ") {
        bytes[at + 2] = b'\r';
    }
    while let Some(at) = bytes.windows(PLAIN.len()).position(|window| window == PLAIN.as_bytes()) {
        bytes[at..at + PLAIN.len()].copy_from_slice(EVIL);
    }
    fs::write(file, bytes).expect("written");
}

/// A directory with a poisoned program, its source and its profile `a.cgout`, all under poisoned
/// names.
fn place() -> tempfile::TempDir {
    assert_eq!(EVIL.len(), PLAIN.len());
    let dir = tempfile::tempdir().expect("a directory");
    let (source, program) = (format!("src_{PLAIN}.c"), format!("prog_{PLAIN}"));
    fs::write(dir.path().join(&source), PROGRAM.replace("PLAIN", PLAIN)).expect("written");
    let built = tool("gcc", dir.path(), "gcc", &["-O1", "-g", "-static", "-o", &program, &source]);
    assert!(built.status.success(), "{}", stderr(&built));
    for name in [source, program] {
        let name = dir.path().join(name);
        poison(&name);
        fs::rename(&name, evil_name(&name)).expect("renamed");
    }
    dir
}

/// A poisoned name.
fn evil_name(name: &Path) -> std::path::PathBuf {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut bytes = name.as_os_str().as_bytes().to_vec();
    let at = bytes.windows(PLAIN.len()).position(|window| window == PLAIN.as_bytes()).expect("a plain name");
    bytes[at..at + PLAIN.len()].copy_from_slice(EVIL);
    std::ffi::OsString::from_vec(bytes).into()
}

/// Checks that a text has nothing but lines.
fn harmless(text: &[u8], of: &str) {
    let shown = || text.escape_ascii().to_string();
    for chunk in text.utf8_chunks() {
        let steers =
            |c: char| c != '\n' && c != '\t' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
        // Rows of CSV end so.
        assert!(!chunk.valid().replace("\r\n", "\n").contains(steers), "{of}: {}", shown());
        assert!(!chunk.invalid().iter().any(|byte| (0x80..=0x9f).contains(byte)), "{of}: {}", shown());
    }
}

/// Runs cgemu, with [`EVIL`] in place of each [`PLAIN`] of the words, and checks both streams.
/// Returns standard output.
fn checked(directory: &Path, words: &[&str], input: &str) -> Vec<u8> {
    use std::io::Write as _;
    let mut command = cgemu(directory, &[]);
    for word in words {
        match word.contains(PLAIN) {
            true => command.arg(evil_name(Path::new(word))),
            false => command.arg(word),
        };
    }
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that reads nothing may have ended.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let out = child.wait_with_output().expect("ended");
    let of = words.join(" ");
    harmless(&out.stdout, &of);
    harmless(&out.stderr, &of);
    assert!(!stderr(&out).contains("panicked"), "{}", stderr(&out));
    out.stdout
}

#[test]
fn no_command_steers_the_terminal() {
    let dir = place();
    let at = dir.path();
    let program = format!("./prog_{PLAIN}");
    let run = ["run", "--top=20", "-v", "--dump-instr=yes", "--branch-sim=yes"];
    let a = [&run[..], &["--log-file=log", "--cachegrind-out-file=a.cgout", "--", &program, PLAIN]].concat();
    checked(at, &a, "");
    let log = fs::read(at.join("log")).expect("a log");
    harmless(&log, "the log");
    let log = String::from_utf8_lossy(&log).into_owned();
    // The function in the ranking, the program's own text, the command.
    assert!(log.contains("fn_^[]0;owned^G"), "{log}");
    assert!(log.contains("** ^[]0;owned^G"), "{log}");
    assert!(log.contains("Command: ./prog_^[]0;owned"), "{log}");
    checked(at, &[&run[..], &["--cachegrind-out-file=b.cgout", "--", &program]].concat(), "");
    let profile = fs::read(at.join("a.cgout")).expect("a profile");
    assert!(profile.windows(8).any(|part| part == b"fn_\x1b]0;o"), "a profile has every byte");

    for command in ["annotate", "top"] {
        for form in [&[][..], &["--json"], &["--csv"], &["--diff"], &["--names=short"], &["--pager"]] {
            let files = if form == ["--diff"] { &["b.cgout", "a.cgout"][..] } else { &["a.cgout"] };
            let out = checked(at, &[&[command], form, files].concat(), "");
            assert!(out.windows(2).any(|part| part == b"]0"), "{command} {form:?} names no function");
            if command == "annotate" && form.is_empty() {
                assert!(out.windows(20).any(|part| part == b"sum += i * i; /*^M^["), "no line of the source");
            }
        }
        checked(at, &[command, "--sort=Nope", "a.cgout"], "");
        checked(at, &[command, &format!("none_{PLAIN}")], "");
        checked(at, &[command, "a.cgout", &format!("--show={PLAIN}")], "");
        checked(at, &[command, &format!("--mod-filename={PLAIN}"), "a.cgout"], "");
    }
    for form in ["--by=file", "--by=line", "--color=never"] {
        checked(at, &["top", form, "a.cgout"], "");
    }
    for form in ["--asm", "--inline"] {
        for format in [&[][..], &["--json"], &["--csv"]] {
            let out = checked(at, &[&["annotate", form], format, &["a.cgout"]].concat(), "");
            assert!(out.windows(2).any(|part| part == b"]0"), "{form} {format:?} names no function");
        }
        checked(at, &["annotate", &format!("{form}={PLAIN}"), "a.cgout"], "");
    }
    for words in
        [&["annotate", "--classic", "a.cgout"][..], &["annotate", "--classic", "--auto=no", "a.cgout"]]
    {
        checked(at, words, "");
    }
    checked(at, &["annotate", "--classic", "a.cgout", &format!("none_{PLAIN}.c")], "");
    // These print a profile, which has every byte; their messages have not.
    checked(at, &["merge", &format!("none_{PLAIN}")], "");
    checked(at, &["diff", &format!("none_{PLAIN}"), "a.cgout"], "");
    checked(at, &["merge", "-o", &format!("none_{PLAIN}/x"), "a.cgout"], "");
    let bad = at.join(format!("bad_{PLAIN}"));
    fs::write(&bad, format!("desc: x\ncmd: {PLAIN}\nevents: {PLAIN}\nfl={PLAIN}\n{PLAIN}\n"))
        .expect("written");
    poison(&bad);
    fs::rename(&bad, evil_name(&bad)).expect("renamed");
    let bad = format!("bad_{PLAIN}");
    for words in [
        &["annotate", &bad][..],
        &["annotate", "--classic", &bad],
        &["annotate", "--asm", &bad],
        &["top", &bad],
        &["merge", "a.cgout", &bad],
        &["diff", "a.cgout", &bad],
        &["annotate", "a.cgout", &bad],
        &["run", "--", &format!("./none_{PLAIN}")],
        &["run", "--", &bad],
        &["run", &format!("--env={PLAIN}"), "--", &program],
        &["run", &format!("--cachegrind-out-file=none_{PLAIN}/x"), "--", &program],
        &["run", &format!("--{PLAIN}")],
        &["man", PLAIN],
        &[PLAIN],
    ] {
        checked(at, words, "");
    }
}

#[test]
fn the_prompt_does_not_steer_the_terminal() {
    let dir = place();
    let at = dir.path();
    fs::write(at.join(format!("script_{PLAIN}")), format!("{PLAIN}\n")).expect("written");
    fs::rename(at.join(format!("script_{PLAIN}")), evil_name(&at.join(format!("script_{PLAIN}"))))
        .expect("renamed");
    let program = format!("./prog_{PLAIN}");
    let repl = ["repl", "--log-file=log", "--cachegrind-out-file=a.cgout", "--", &program];
    let text = format!("text_{PLAIN}");
    let text = String::from_utf8_lossy(&evil_bytes(&text)).into_owned();
    let commands = [
        "log session\nbreak main\nrun\nwhere\nlist\nnext\nstep\nstep\nstep\nwhere\nannotate\n",
        "disassemble\nlist\nfinish\nx/8i $pc\ntop\ntop lines\ntop files\ntop instructions\nannotate main\n",
        "x/s $rdi\ninfo files\ninfo modules\ninfo maps\ninfo breaks\nwhere\ncontinue\ntop\n",
    ];
    // The shell stops at the first command that fails, so each is tried by itself too.
    checked(at, &repl, &commands.concat());
    for command in commands.concat().lines() {
        checked(at, &repl, &format!("break main\nrun\nnext\nstep\n{command}\n"));
    }
    for command in ["break", "print", "x/s", "list", "annotate", "info", "source", "asm", ""] {
        checked(at, &repl, &format!("log session\nbreak main\nrun\n{command} {text}\n"));
    }
    checked(at, &["repl", &format!("--commands=script_{PLAIN}"), "--", &program], "");
    harmless(&fs::read(at.join("session")).expect("a log"), "the shell's log");
    harmless(&fs::read(at.join("log")).expect("a log"), "the log");
}

fn evil_bytes(name: &str) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    evil_name(Path::new(name)).as_os_str().as_bytes().to_vec()
}

/// Names that a spreadsheet would take for formulas (OWASP, CSV Injection).
#[test]
fn formulas_are_defused() {
    let dir = tempfile::tempdir().expect("a directory");
    let names = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "plain"];
    let mut profile = "cmd: x\nevents: =Ir\n".to_owned();
    for (line, name) in (1..).zip(names) {
        profile += &format!("fl={name}\nfn={name}\n{line} 1\n");
    }
    profile += "summary: 6\n";
    fs::write(dir.path().join("a.cgout"), profile).expect("written");
    for command in ["annotate", "top"] {
        let out = output(dir.path(), &[command, "--csv", "a.cgout"]);
        assert!(out.status.success(), "{}", stderr(&out));
        for row in String::from_utf8(out.stdout).expect("text").lines() {
            for cell in row.split(',') {
                let cell = cell.trim_matches('"');
                assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{row}");
            }
            if row.starts_with("function") && !row.contains("plain") {
                assert!(row.contains(",'") || row.contains(",^I="), "{row}");
            }
        }
    }
}
