//! `cgemu annotate` against what `cg_annotate` of Valgrind 3.28 printed for the files of
//! `testdata/annotate`: standard output byte for byte, leaving out the `Invocation:` line, and the
//! exit status. Messages are in our own words; they must name the same place.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use crate::common::golden::difference;
use crate::common::vars;
use table::Case;

/// The table of cases.
mod table {
    /// One run of the reference program.
    pub struct Case {
        /// Also the name of its expected outputs.
        pub name: String,
        /// Arguments.
        pub args: Vec<String>,
        /// Exit status.
        pub exit: i32,
    }

    /// All cases of `cases.toml`.
    pub fn cases(text: &str) -> Vec<Case> {
        let table: toml::Table = text.parse().expect("TOML");
        let cases = table["case"].as_array().expect("an array");
        let word = |value: &toml::Value| value.as_str().expect("text").to_owned();
        cases
            .iter()
            .map(|case| Case {
                name: word(&case["name"]),
                args: case["args"].as_array().expect("an array").iter().map(word).collect(),
                exit: case["exit"].as_integer().and_then(|n| n.try_into().ok()).expect("a status"),
            })
            .collect()
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/annotate").join(name)
}

/// A copy of the inputs in which every profile is later than every source file.
fn inputs() -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("directory");
        for entry in fs::read_dir(from).expect("directory") {
            let path = entry.expect("entry").path();
            let to = to.join(path.file_name().expect("name"));
            if path.is_dir() {
                copy(&path, &to);
            } else {
                fs::write(&to, fs::read(&path).expect("input")).expect("copy");
                set_time(&to, if path.extension() == Some(OsStr::new("cgout")) { 2000 } else { 1000 });
            }
        }
    }
    let directory = tempfile::tempdir().expect("directory");
    copy(&data("inputs"), directory.path());
    directory
}

/// Sets the time of a file's last change, in seconds since the epoch.
fn set_time(path: &Path, seconds: u64) {
    let file = File::options().append(true).open(path).expect("file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("time");
}

fn annotate<I: AsRef<OsStr>>(directory: &Path, args: impl IntoIterator<Item = I>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cgemu"));
    command.arg("annotate").args(args).current_dir(directory).output().expect("cgemu runs")
}

fn without_invocation(text: &[u8]) -> String {
    let lines = text.split_inclusive(|c| *c == b'\n').filter(|line| !line.starts_with(b"Invocation:"));
    lines.map(|line| String::from_utf8_lossy(line)).collect()
}

/// One case shows lines of the C library's header on the machine where it was recorded. Elsewhere
/// that part and the totals after it cannot be the same and are cut off.
fn cut(text: String) -> String {
    const HEADER: &str = "/usr/include/stdlib.h";
    let here = fs::read_to_string(HEADER).unwrap_or_default();
    if here.lines().nth(363) == Some("  return (int) strtol (__nptr, (char **) NULL, 10);") {
        return text;
    }
    let part = format!("-- Annotated source file: {HEADER}\n");
    text.split_once(&part).map_or(text.clone(), |(before, _)| before.to_owned())
}

/// What our message must have in common with theirs: the place, if there is one, and the words in
/// quotes.
fn same_message(ours: &str, theirs: &str) -> bool {
    let theirs = theirs.lines().find_map(|line| line.strip_prefix("cg_annotate: error: ")).unwrap_or("");
    let place = theirs.split(": ").next().filter(|word| word.contains(".cgout:"));
    let quoted = |mark: char| theirs.split(mark).skip(1).step_by(2).collect::<Vec<_>>();
    let mut needed: Vec<&str> = place.into_iter().collect();
    needed.extend(
        theirs.split_whitespace().filter_map(|word| word.strip_suffix(':')).filter(|w| w.starts_with("--")),
    );
    // Their `command:` is the file's `cmd:`.
    needed.extend(quoted('`').into_iter().map(|word| if word == "command:" { "cmd:" } else { word }));
    if !theirs.contains("doesn't") && !theirs.contains("don't") {
        needed.extend(quoted('\''));
    }
    !ours.trim().is_empty() && needed.iter().all(|part| ours.contains(part))
}

#[test]
fn golden_cases() {
    let directory = inputs();
    let cases = table::cases(&fs::read_to_string(data("cases.toml")).expect("cases"));
    assert!(cases.len() >= 42, "{} cases", cases.len());
    let mut bad = Vec::new();
    for Case { name, args, exit } in &cases {
        let output = annotate(directory.path(), args);
        let expected =
            |kind: &str| fs::read(data("expected").join(format!("{name}.{kind}"))).expect("expected");
        if output.status.code() != Some(*exit) {
            bad.push(format!("{name}: {} instead of {exit}", output.status));
        }
        let comparable = |text: &[u8]| cut(without_invocation(text));
        if std::env::var_os(vars::BLESS).is_some() {
            fs::write(data("expected").join(format!("{name}.stdout")), &output.stdout)
                .expect("a golden file");
        }
        let (ours, theirs) = (comparable(&output.stdout), comparable(&expected("stdout")));
        if ours != theirs {
            bad.push(format!("{name}: standard output, {}", difference(&ours, &theirs)));
        }
        let (ours, theirs) = (
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(&expected("stderr")).into_owned(),
        );
        let right = if theirs.is_empty() { ours.is_empty() } else { same_message(&ours, &theirs) };
        if !right {
            bad.push(format!("{name}: standard error,\n  {ours}\n  {theirs}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn the_invocation_is_shown() {
    let directory = inputs();
    let output = annotate(directory.path(), ["--auto=no", "--show-percs=no", "ir.cgout"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("\nInvocation:       cgemu annotate --auto=no --show-percs=no ir.cgout\n"),
        "{text}"
    );
}

/// The manual, "cg_annotate Warnings": a source file more recent than the profile.
#[test]
fn newer_sources_are_warned_of() {
    let directory = inputs();
    set_time(&directory.path().join("grid.c"), 2001);
    let output = annotate(directory.path(), ["ir.cgout"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("@ ")).collect();
    assert_eq!(
        warnings,
        [
            "@ Original source files are all newer than data file 'ir.cgout':",
            "@ - ././grid.c",
            "@ Annotations may not be correct."
        ]
    );
    assert!(output.status.success());
}

#[test]
fn names_that_are_not_text_survive() {
    let directory = inputs();
    let source = directory.path().join(OsStr::from_bytes(b"caf\xe9.c"));
    fs::write(&source, b"int x; /* \xff */\n").expect("source");
    let profile = directory.path().join(OsStr::from_bytes(b"\xfe.cgout"));
    fs::write(&profile, b"cmd: \xfd\nevents: Ir\nfl=caf\xe9.c\nfn=f\xfc\n1 7\nsummary: 7\n")
        .expect("profile");
    let output = annotate(directory.path(), [OsStr::from_bytes(b"\xfe.cgout")]);
    let expected: [&[u8]; 4] = [
        b"Command:          \xfd\n",
        b"caf\xe9.c:f\xfc\n",
        b"f\xfc:caf\xe9.c\n",
        b"7 (100.0%)  int x; /* \xff */\n",
    ];
    for part in expected {
        assert!(output.stdout.windows(part.len()).any(|window| window == part), "{}", part.escape_ascii());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let directory = inputs();
    let binary = env!("CARGO_BIN_EXE_cgemu");
    let script =
        format!("'{binary}' annotate --context=100000 all.cgout | head -n 1; echo ${{PIPESTATUS[0]}}");
    let output =
        Command::new("bash").arg("-c").arg(script).current_dir(directory.path()).output().expect("bash");
    let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines.last().map(String::as_str), Some("0"), "{lines:?}");
    assert!(output.stderr.is_empty());
}

/// Our own profiles, with no trailing counts left out, and lines in any number.
#[test]
fn many_lines_of_many_files() {
    let directory = inputs();
    let mut profile = File::create(directory.path().join("big.cgout")).expect("file");
    let mut text = String::from("desc: d\ncmd: c\nevents: Ir Dr\n");
    for file in 0..300 {
        text.push_str(&format!("fl=f{file}.c\nfn=g{file}\n"));
        for line in 1..=100 {
            text.push_str(&format!("{line} 2 1\n"));
        }
    }
    text.push_str("summary: 60000 30000\n");
    profile.write_all(text.as_bytes()).expect("write");
    let output = annotate(directory.path(), ["--threshold=0", "--no-annotate", "big.cgout", "big.cgout"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\n120,000 (100.0%) 60,000 (100.0%)  PROGRAM TOTALS\n"), "{text}");
    // Equal costs: names from last to first.
    let first = text.lines().find(|line| line.starts_with("< ")).unwrap_or_default();
    assert_eq!(first, "< 400 (0.3%,   0.3%) 200 (0.3%,   0.3%)  f99.c:");
}

/// What is no profile is named, without a line where there is none, and without numbers of errors.
#[test]
fn files_that_are_no_profiles() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("folder")).expect("a directory");
    File::create(dir.path().join("empty")).expect("a file");
    for (words, message) in [
        (&["folder"][..], "folder: cannot be read: Is a directory\n"),
        (&["empty"], "empty:1: missing `cmd:` line after the `desc:` lines; is this a Cachegrind file?\n"),
        (
            &["/dev/null"],
            "/dev/null:1: missing `cmd:` line after the `desc:` lines; is this a Cachegrind file?\n",
        ),
        (&["none"], "none: No such file or directory; give the name of a Cachegrind or Callgrind file\n"),
        (
            &["--asm", "none"],
            "none.instr: No such file or directory; `cgemu run --dump-instr=yes` writes it beside the profile none\n",
        ),
    ] {
        let out = annotate(dir.path(), words);
        assert_eq!(out.status.code(), Some(1));
        assert_eq!(String::from_utf8_lossy(&out.stderr), format!("cgemu annotate: {message}"));
    }
}

/// A directory with these files; the profile `a.cgout` is later than the others.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("directory");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("directory");
        fs::write(&path, text).expect("written");
        set_time(&path, if name.ends_with("cgout") { 2000 } else { 1000 });
    }
    dir
}

fn text_of(directory: &Path, args: &[&str]) -> String {
    let out = annotate(directory, args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// As the case `ann2` of Valgrind's own tests of cg_annotate has it: a file whose functions cancel
/// out stays, with the functions that reach the threshold; so does its source. The manual: "a
/// source file is annotated if it contains at least one function that meets the significance
/// threshold".
#[test]
fn the_threshold_is_that_of_inner_entries() {
    let profile = "cmd: c\nevents: Ir\nfl=main.c\nfn=main\n1 100000\nfl=pair.c\nfn=up\n1 1000000\nfn=down\n2 -1000000\n\
                   fn=little\n3 10\nfl=many.c\nfn=a\n1 400\nfn=b\n2 400\nfn=c\n3 400\nsummary: 101210\n";
    let dir = directory(&[("a.cgout", profile), ("pair.c", "one\ntwo\nthree\n")]);
    let text = text_of(dir.path(), &["--threshold=0.5", "--no-show-percs", "a.cgout"]);
    let part = |from: &str, to: &str| {
        let from = text.find(from).expect("the section") + from.len();
        let to = text[from..].find(to).map_or(text.len(), |at| from + at);
        text[from..to].to_owned()
    };
    assert_eq!(
        part("File:function summary", "Function:file summary").lines().skip(2).collect::<Vec<_>>()[1..9],
        [
            "",
            "<    100,000  main.c:main",
            "",
            "<         10  pair.c:",
            "   1,000,000    up",
            "  -1,000,000    down",
            "",
            "-".repeat(80).as_str()
        ]
    );
    assert!(part("Function:file summary", "-- Annotated").contains("> -1,000,000  down:pair.c"));
    assert!(text.contains("-- Annotated source file: pair.c"));
    assert!(text.contains("1,000,000  one\n-1,000,000  two\n"), "{text}");
    // Its functions reach the threshold only together.
    assert!(!text.contains("many.c"), "{text}");
    assert!(text.contains("  1,200  unannotated: files known & below threshold"), "{text}");
    let json = text_of(dir.path(), &["--threshold=0.5", "--json", "a.cgout"]);
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let files = report["files"].as_array().expect("files");
    let files: Vec<&str> = files.iter().filter_map(|file| file["file"].as_str()).collect();
    assert_eq!(files, ["main.c", "pair.c"]);
}

/// What cg_annotate compares: `abs(count) >= threshold * abs(total) / 100`, in doubles.
#[test]
fn the_threshold_rounds_as_python_does() {
    // 1.1 * 3000 / 100 is a little more than 33.
    let profile = "cmd: c\nevents: Ir\nfl=a.c\nfn=most\n1 2967\nfn=just\n1 33\nsummary: 3000\n";
    let dir = directory(&[("a.cgout", profile)]);
    let text = text_of(dir.path(), &["--threshold=1.1", "a.cgout"]);
    assert!(text.contains("most") && !text.contains("just"), "{text}");
}

/// cg_annotate ends the lines of a source with an empty line, and counts without a line with
/// another. A file from `diff` has only such counts.
#[test]
fn counts_without_lines_end_in_one_empty_line() {
    let profile = "cmd: c\nevents: Ir\nfl=v1.c\nfn=f.1\n1 10\nsummary: 10\n";
    let other = "cmd: c\nevents: Ir\nfl=v1.c\nfn=f.2\n1 30\nsummary: 30\n";
    let dir = directory(&[("a.cgout", profile), ("b.cgout", other), ("v1.c", "one\n")]);
    let out =
        crate::common::output(dir.path(), &["diff", "--mod-funcname=s/[.][0-9]//", "a.cgout", "b.cgout"]);
    fs::write(dir.path().join("d.cgout"), out.stdout).expect("written");
    let text = text_of(dir.path(), &["d.cgout"]);
    let expected = "Ir_________ \n\n20 (100.0%)  <unknown (line 0)>\n\n--------";
    assert!(text.contains(expected), "{text}");
}

/// What a profile names is opened only if it is a regular file: a FIFO would wait for a writer, a
/// device may have no end.
#[test]
fn only_regular_files_are_sources() {
    let profile = "desc: d\ncmd: c\nevents: Ir\nfl=fifo\nfn=f\n1 10\nfl=folder\nfn=f\n1 10\nfl=/dev/zero\nfn=f\n1 10\n\
                   fl=/dev/tty\nfn=f\n1 10\nfl=/proc/kmsg\nfn=f\n1 10\nsummary: 50\n";
    let dir = directory(&[("a.cgout", profile), ("folder/x", "")]);
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("fifo")).status().expect("mkfifo");
    assert!(made.success());
    fs::hard_link(dir.path().join("fifo"), dir.path().join("a.cgout.instr")).expect("linked");
    let text = text_of(dir.path(), &["a.cgout"]);
    assert_eq!(
        text.matches("of these original files are unreadable").count() + text.matches("/proc/kmsg'").count(),
        5,
        "{text}"
    );
    let text = text_of(dir.path(), &["--classic", "a.cgout"]);
    assert!(text.contains("could not be found:") && text.contains("  fifo\n"), "{text}");
}

/// `--source-root` keeps a profile from showing what it likes.
#[test]
fn sources_outside_of_the_root_are_not_shown() {
    let dir = directory(&[("src/a.c", "inside\n"), ("secret", "SECRET\n"), ("other/b.c", "other\n")]);
    let at = |name: &str| dir.path().join(name);
    std::os::unix::fs::symlink(at("secret"), at("src/link.c")).expect("linked");
    let name = |name: &str| at(name).to_string_lossy().into_owned();
    let files = [
        name("src/a.c"),
        name("src/link.c"),
        name("src/../secret"),
        "secret".to_owned(),
        name("secret"),
        "src/../secret".to_owned(),
    ];
    let mut profile = "desc: d\ncmd: c\nevents: Ir\n".to_owned();
    files.iter().for_each(|file| profile += &format!("fl={file}\nfn=f\n1 10\n"));
    profile += "summary: 60\n";
    fs::write(at("a.cgout"), profile).expect("written");
    for mode in [&[][..], &["--classic"]] {
        let all = text_of(dir.path(), &[mode, &["a.cgout"]].concat());
        assert_eq!(all.matches("SECRET").count(), 5, "{all}");
        for root in ["--source-root=src", "--source-root=./src/../src/"] {
            let text = text_of(dir.path(), &[mode, &[root, "a.cgout"]].concat());
            assert!(text.contains("inside") && !text.contains("SECRET"), "{mode:?}: {text}");
        }
        let text =
            text_of(dir.path(), &[mode, &["--source-root=other", "--source-root=src", "a.cgout"]].concat());
        assert!(text.contains("inside"), "{text}");
        let out = annotate(dir.path(), [mode, &["--source-root=none", "a.cgout"]].concat());
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && message.contains("--source-root=none: "), "{message}");
    }
    // A place that has moved is looked for in the root.
    let moved = format!("--source-path={}=src", name("other"));
    fs::write(
        at("b.cgout"),
        format!("cmd: c\nevents: Ir\nfl={}\nfn=f\n1 10\nsummary: 10\n", name("other/a.c")),
    )
    .expect("written");
    assert!(text_of(dir.path(), &[&moved, "--source-root=src", "b.cgout"]).contains("inside"));
}
