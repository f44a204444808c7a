//! The built command from outside: options, files, exit statuses.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::{cgemu, names, output, stderr, stdout, tool};

/// A run without a log, whose profile goes nowhere.
fn quiet(directory: &Path, words: &[&str]) -> std::process::Output {
    let first = ["run", "-q", "--cachegrind-out-file=/dev/null"];
    output(directory, &first.iter().chain(words).copied().collect::<Vec<_>>())
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// A failure of our own: the status, one line with the name in it, nothing on standard output, no
/// file left.
fn refused(words: &[&str], status: i32, part: &str) {
    let dir = temporary();
    let out = output(dir.path(), words);
    let text = stderr(&out);
    assert_eq!(out.status.code(), Some(status), "{words:?}: {text}");
    assert!(text.contains(part), "{words:?}: {text}");
    assert!(!text.contains("panicked") && !text.contains("internal error"), "{text}");
    assert_eq!(stdout(&out), "", "{words:?}");
    assert!(names(dir.path()).is_empty(), "{words:?} left {:?}", names(dir.path()));
}

#[test]
fn bad_options_are_125() {
    refused(&[], 125, "Usage");
    refused(&["walk"], 125, "walk");
    refused(&["run"], 125, "PROGRAM");
    refused(&["run", "--bogus", "true"], 125, "--bogus");
    refused(&["run", "--cache-sim=maybe", "true"], 125, "--cache-sim");
    refused(&["run", "--cache=host", "true"], 125, "--cache");
    refused(&["run", "--max-memory=lots", "true"], 125, "--max-memory");
    refused(&["run", "--allow-write=none", "true"], 125, "--allow-write=none");
    refused(&["man", "walk"], 125, "walk");
}

#[test]
fn call_graphs_that_cannot_be_made_are_125() {
    refused(&["run", "--callgraph=maybe", "true"], 125, "--callgraph");
    refused(&["run", "--callgraph=yes", "--separate-recs=0", "true"], 125, "--separate-recs");
    refused(&["run", "--callgraph=yes", "--callgrind-out-file=none/out", "true"], 125, "none/out");
    refused(&["run", "--callgraph=yes", "--dump-every=0", "true"], 125, "--dump-every");
    refused(&["run", "--dump-before=main", "true"], 125, "--callgraph=yes");
    refused(&["run", "--separate-callers2=main", "true"], 125, "--callgraph=yes");
    for word in
        ["--separate-recs0=f", "--separate-callers101=f", "--separate-callers2=", "--separate-callers2"]
    {
        refused(&["run", "--callgraph=yes", word, "true"], 125, "--separate-");
    }
    let threads = ["run", "--callgraph=yes", "--zero-before=main", "--separate-threads=yes", "true"];
    refused(&threads, 125, "--separate-threads=yes");
}

/// A number in the name of an option is for the functions of one name; such words of the program
/// stay as they are.
#[test]
fn functions_are_told_apart_by_name() {
    let dir = temporary();
    let source = "int __attribute__((noinline)) h(int n) { return n * n; }\n\
                  int __attribute__((noinline)) f(int n) { return h(n) + 1; }\n\
                  int __attribute__((noinline)) g(int n) { return h(n) + 2; }\n\
                  int main(int argc, char **argv) { return f(argc) + g(argc) == (int)argv[1][20]; }\n";
    fs::write(dir.path().join("p.c"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-O1", "-o", "p", "p.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let functions = |words: &[&str]| {
        let out = output(dir.path(), words);
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", stderr(&out));
        let graph = fs::read_to_string(dir.path().join("graph")).expect("a call graph");
        let names = graph.lines().filter_map(|line| line.strip_prefix("fn="));
        let mut own: Vec<String> = names.map(str::to_owned).collect();
        own.retain(|name| ["f", "g", "h"].contains(&name.split('\'').next().unwrap_or_default()));
        own.sort();
        own
    };
    let word = "--separate-callers1=f";
    let run =
        ["run", "-q", "--callgraph=yes", "--callgrind-out-file=graph", "--cachegrind-out-file=/dev/null"];
    assert_eq!(functions(&[&run[..], &["./p", word]].concat()), ["f", "g", "h"]);
    assert_eq!(
        functions(&[&run[..], &["--separate-callers1=h", "./p", word]].concat()),
        ["f", "g", "h'f", "h'g"]
    );
    let valgrind =
        ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=graph", "--compress-strings=no"];
    let both = ["--callgrind:separate-callers1=h", "--separate-callers2=g", "./p", word];
    assert_eq!(functions(&[&valgrind[..], &both].concat()), ["f", "g'main'(below main)", "h'f", "h'g"]);
}

/// Twice INC, a load and RET, with a call between them, and three instructions to end. The caches
/// have nothing of what came before: code in two lines, the word and the return address miss.
#[test]
fn counts_begin_with_a_function() {
    let dir = temporary();
    let source = ".globl _start\n.type twice, @function\n.balign 64\ntwice: inc %eax\n mov word, %edx\n ret\n\
                  .size twice, . - twice\n.balign 64\n_start: mov word, %eax\n mov word, %eax\n call twice\n\
                  call twice\n mov $60, %eax\n xor %edi, %edi\n syscall\n.data\nword: .long 0\n";
    fs::write(dir.path().join("p.S"), source).expect("written");
    let out = tool("gcc", dir.path(), "gcc", &["-nostdlib", "-static", "-no-pie", "-o", "p", "p.S"]);
    assert!(out.status.success(), "{}", stderr(&out));
    for (from, summary) in [
        ("--count-from=tw?ce", "summary: 10 2 2 4 2 2 1 0 0"),
        ("--count-from=none", "summary: 0 0 0 0 0 0 0 0 0"),
    ] {
        for model in ["--count-model=arch", "--count-model=valgrind", "--separate-threads=yes"] {
            let out = output(dir.path(), &["run", from, model, "--cachegrind-out-file=out", "./p"]);
            let profile = fs::read_to_string(dir.path().join("out")).expect("a profile");
            assert_eq!(profile.lines().last(), Some(summary), "{from} {model}");
            let told = stderr(&out).contains("no function of --count-from=none was entered");
            assert_eq!(told, from.ends_with("none"), "{}", stderr(&out));
        }
    }
}

/// What is dumped on the way adds up to the profile, in files of their own or in one; what is too
/// much is in the last part.
#[test]
fn call_graphs_in_parts() {
    for (options, files) in [
        (&["--dump-every=20000"][..], None),
        (&["--dump-every=20000", "--combine-dumps=yes"], Some(1)),
        (&["--dump-every=5"], Some(1000)),
    ] {
        let dir = temporary();
        let words = ["run", "--callgraph=yes", "--callgrind-out-file=graph", "--cachegrind-out-file=profile"];
        let out = output(dir.path(), &[&words[..], options, &["--branch-sim=yes", "true"]].concat());
        assert!(out.status.success(), "{}", stderr(&out));
        assert_eq!(stderr(&out).contains("dumps of the call graph are left out"), files == Some(1000));
        let graphs: Vec<String> =
            names(dir.path()).into_iter().filter(|name| name.starts_with("graph")).collect();
        assert!(files.map_or(graphs.len() > 2, |files| graphs.len() == files), "{options:?}: {graphs:?}");
        let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("text");
        let instructions = |line: &str| line.split(' ').nth(1).and_then(|ir| ir.parse::<u64>().ok());
        let sum = |name: &str, key: &str| {
            let text = text(name);
            let lines = text.lines().filter(|line| line.starts_with(key));
            lines.map(|line| instructions(line).expect("a number")).sum::<u64>()
        };
        let dumped: u64 = graphs.iter().map(|name| sum(name, "totals: ")).sum();
        assert_eq!(dumped, sum("profile", "summary: "), "{options:?}");
        assert!(text("graph").contains("desc: Trigger: Program termination"), "{options:?}");
        for name in graphs.iter().filter(|name| *name != "graph") {
            let text = text(name);
            assert!(text.starts_with("# callgrind format") && text.contains(options[0]), "{name}");
        }
    }
}

/// A call graph beside each profile, of processes and threads too, whatever the form.
#[test]
fn call_graphs_of_processes() {
    let dir = temporary();
    let out = output(
        dir.path(),
        &[
            "run",
            "-q",
            "--callgraph=yes",
            "--callgrind-out-file=graph.%p",
            "--cachegrind-out-file=profile.%p",
        ]
        .iter()
        .chain(&["--trace-children=yes", "--separate-threads=yes", "--combine-dumps=yes", "--"])
        .chain(&["sh", "-c", "(exec sed -n 1p /etc/passwd); true"])
        .copied()
        .collect::<Vec<_>>(),
    );
    assert!(out.status.success(), "{}", stderr(&out));
    let all = names(dir.path());
    let graphs: Vec<&String> = all.iter().filter(|name| name.starts_with("graph.")).collect();
    assert_eq!(graphs.len(), 2, "{all:?}");
    for graph in graphs {
        let text = fs::read_to_string(dir.path().join(graph)).expect("a call graph");
        let profile = fs::read_to_string(dir.path().join(graph.replace("graph", "profile")));
        let profile = profile.expect("a profile");
        let instructions = |text: &str, key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)).expect("sums");
            line.split_whitespace().next().map(str::to_owned)
        };
        assert_eq!(instructions(&text, "totals: "), instructions(&profile, "summary: "), "{graph}");
        assert!(text.contains("\nthread: 1\n") && text.contains("\ncalls="), "{graph}");
    }
}

#[test]
fn impossible_caches_are_125() {
    refused(&["run", "--I1=32768,8", "true"], 125, "--I1");
    refused(&["run", "--D1=32768,3,64", "true"], 125, "Cache set count is not a power of two");
    refused(&["run", "--LL=32768,8,8", "true"], 125, "Cache line size is too small");
    refused(&["run", "--L2=0,0,0", "true"], 125, "zero");
}

#[test]
fn programs_that_are_not_there_are_127() {
    refused(&["run", "no-such-program"], 127, "no-such-program");
    refused(&["run", "./no-such-program"], 127, "./no-such-program");
    refused(&["run", "/dev/null/x"], 127, "/dev/null/x");
    refused(&["run", ""], 127, "no name");
    refused(&["run", "--env=PATH=/nonexistent", "true"], 127, "/nonexistent");
}

#[test]
fn programs_that_cannot_run_are_126() {
    refused(&["run", "/"], 126, "directory");
    refused(&["run", "/dev/null"], 126, "/dev/null");
    let dir = temporary();
    for (name, bytes, mode) in [
        ("closed", &b"\x7fELF"[..], 0o644),
        ("text", b"hello\n", 0o755),
        ("empty", b"", 0o755),
        ("cut", b"\x7fELF\x02\x01\x01", 0o755),
    ] {
        let file = dir.path().join(name);
        fs::write(&file, bytes).expect("write");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("chmod");
        let out = quiet(dir.path(), &[&format!("./{name}")]);
        assert_eq!(out.status.code(), Some(126), "{name}: {}", stderr(&out));
        assert!(stderr(&out).contains(name), "{}", stderr(&out));
    }
}

#[test]
fn output_files_that_cannot_be_written_are_found_first() {
    let dir = temporary();
    for name in ["none/out", "/proc/out", "/", "%q{CGEMU_TEST_UNSET}", "%z", "~/out", ""] {
        let option = format!("--cachegrind-out-file={name}");
        let out = output(dir.path(), &["run", &option, "--", "sh", "-c", "echo ran"]);
        assert_eq!(out.status.code(), Some(125), "{name}: {}", stderr(&out));
        assert_eq!(stdout(&out), "", "{name}: the program must not have run");
    }
    assert!(names(dir.path()).is_empty());
    let out = output(dir.path(), &["run", "--log-file=%q{CGEMU_TEST_UNSET}", "true"]);
    assert_eq!(out.status.code(), Some(125));
    assert!(stderr(&out).contains("CGEMU_TEST_UNSET"), "{}", stderr(&out));
}

#[test]
fn the_programs_own_status_passes_through() {
    let dir = temporary();
    for status in [0, 1, 7, 125, 255] {
        let out = quiet(dir.path(), &["--", "sh", "-c", &format!("exit {status}")]);
        assert_eq!(out.status.code(), Some(status), "{}", stderr(&out));
        assert_eq!(stderr(&out), "");
    }
    let out = quiet(dir.path(), &["--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(out.status.code(), Some(128 + 9), "{}", stderr(&out));
    let out = quiet(dir.path(), &["--", "sh", "-c", "kill -15 $$"]);
    assert_eq!(out.status.code(), Some(128 + 15), "{}", stderr(&out));
}

#[test]
fn a_limit_is_124_and_leaves_a_profile() {
    let dir = temporary();
    for limit in ["--max-instructions=100_000", "--timeout=300ms"] {
        let words = ["run", limit, "--cachegrind-out-file=out", "--", "sh", "-c", "while :; do :; done"];
        let out = output(dir.path(), &words);
        assert_eq!(out.status.code(), Some(124), "{limit}: {}", stderr(&out));
        let profile = fs::read_to_string(dir.path().join("out")).expect("a profile");
        assert!(profile.lines().last().is_some_and(|l| l.starts_with("summary: ")), "{limit}");
        fs::remove_file(dir.path().join("out")).expect("remove");
    }
}

#[test]
fn arguments_and_environment_reach_the_program() {
    let dir = temporary();
    let script = "echo \"$#:$1:$2\"; echo \"$A:$B:${C-unset}:${HOME}\"";
    let words = ["run", "-q", "--cachegrind-out-file=/dev/null", "--env=A=1", "--env", "B", "--env", "C"];
    let mut command = cgemu(dir.path(), &words);
    command
        .args(["sh", "-c", script, "sh", "-q", "--"])
        .env("B", "host")
        .env_remove("C")
        .env("HOME", "/home/x");
    let out = command.output().expect("cgemu starts");
    assert_eq!(stdout(&out), "2:-q:--\n1:host:unset:/\n", "{}", stderr(&out));
}

#[test]
fn the_user_is_the_emulated_machines() {
    let dir = temporary();
    let id = |user: &str, which: &str| stdout(&quiet(dir.path(), &[user, "--", "id", which]));
    for (user, uid, gid) in
        [("--seed=0", "1000", "1000"), ("--user=0", "0", "0"), ("--user=12:345", "12", "345")]
    {
        assert_eq!((id(user, "-u").trim(), id(user, "-g").trim(), id(user, "-G").trim()), (uid, gid, gid));
    }
    refused(&["run", "--user=nobody", "true"], 125, "0, 1000 or 1000:100");
}

/// The emulated machine's own /proc hides the host's; to start elsewhere would be a surprise.
#[test]
fn a_directory_that_the_machine_does_not_have_is_125() {
    let out = quiet(Path::new("/proc/self"), &["true"]);
    assert_eq!(out.status.code(), Some(125));
    assert!(stderr(&out).contains("run from another directory"), "{}", stderr(&out));
}

#[test]
fn profiles_do_not_depend_on_the_users_environment() {
    let dir = temporary();
    for (name, value) in [("one", "short"), ("two", "a much longer value that would move the stack")] {
        let option = format!("--cachegrind-out-file={name}");
        let mut command = cgemu(dir.path(), &["run", "-q", &option, "true"]);
        let status =
            command.env("CGEMU_TEST_NOISE", value).env("HOME", value).status().expect("cgemu starts");
        assert!(status.success());
    }
    let read = |name: &str| fs::read(dir.path().join(name)).expect("a profile");
    assert_eq!(read("one"), read("two"));
}

#[test]
fn output_file_names() {
    let dir = temporary();
    let mut child = cgemu(dir.path(), &["run", "-q", "true"]).spawn().expect("cgemu starts");
    let pid = child.id();
    assert!(child.wait().expect("it ends").success());
    assert_eq!(names(dir.path()), [format!("cachegrind.out.{pid}")]);
    let file = dir.path().join(format!("cachegrind.out.{pid}"));
    assert_eq!(fs::metadata(&file).expect("stat").permissions().mode() & 0o7777, 0o600);
    fs::remove_file(file).expect("remove");

    let words = ["run", "-q", "--cachegrind-out-file=%q{CGEMU_TEST_NAME}.%n.100%%", "true"];
    let status = cgemu(dir.path(), &words).env("CGEMU_TEST_NAME", "it").status().expect("cgemu starts");
    assert!(status.success());
    assert_eq!(names(dir.path()), ["it.1.100%"]);
}

#[test]
fn relative_names_are_from_where_cgemu_started() {
    let dir = temporary();
    fs::create_dir(dir.path().join("sub")).expect("mkdir");
    let out =
        output(dir.path(), &["run", "-q", "--cachegrind-out-file=out", "--", "sh", "-c", "cd sub; pwd"]);
    assert!(stdout(&out).ends_with("/sub\n"), "{}", stderr(&out));
    assert_eq!(names(dir.path()), ["out", "sub"]);
    assert!(names(&dir.path().join("sub")).is_empty());
}

#[test]
fn a_failed_run_leaves_the_old_profile() {
    let dir = temporary();
    fs::write(dir.path().join("out"), b"old").expect("write");
    let out = output(dir.path(), &["run", "--cachegrind-out-file=out", "./none"]);
    assert_eq!(out.status.code(), Some(127));
    assert_eq!(fs::read(dir.path().join("out")).expect("read"), b"old");
    assert_eq!(names(dir.path()), ["out"]);
}

#[test]
fn a_profile_that_does_not_fit_is_an_error() {
    let dir = temporary();
    let out = output(dir.path(), &["run", "-q", "--cachegrind-out-file=/dev/full", "true"]);
    assert_eq!(out.status.code(), Some(125));
    assert!(
        stderr(&out).contains("/dev/full: the profile is not written: No space left"),
        "{}",
        stderr(&out)
    );
}

#[test]
fn a_profile_can_follow_the_programs_output() {
    let dir = temporary();
    let target = fs::File::create(dir.path().join("both")).expect("create");
    let mut command =
        cgemu(dir.path(), &["run", "-q", "--cachegrind-out-file=/dev/stdout", "--", "echo", "hello"]);
    assert!(command.stdout(target).status().expect("cgemu starts").success());
    let text = fs::read_to_string(dir.path().join("both")).expect("read");
    assert!(text.starts_with("hello\n") && text.contains("\nevents: Ir"), "{text}");
}

#[test]
fn the_log_has_valgrinds_shape() {
    let dir = temporary();
    let mut command = cgemu(dir.path(), &["run", "--cachegrind-out-file=/dev/null", "--", "echo", "a b"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cgemu starts");
    let prefix = format!("=={}== ", child.id());
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(stdout(&out), "a b\n");
    let log = stderr(&out);
    assert!(log.lines().all(|line| line.starts_with(&prefix)), "{log}");
    assert!(log.starts_with(&format!("{prefix}cgemu ")), "{log}");
    assert!(log.contains(&format!("{prefix}Command: echo a b\n{prefix}\n")), "{log}");
    for label in ["I   refs:      ", "D1  misses:    ", "LL miss rate:  "] {
        assert_eq!(log.matches(&format!("{prefix}{label}")).count(), 1, "{label}: {log}");
    }

    let out = output(dir.path(), &["run", "--cachegrind-out-file=/dev/null", "--log-file=log.%n", "true"]);
    assert_eq!(stderr(&out), "");
    let log = fs::read_to_string(dir.path().join("log.2")).expect("a log");
    assert!(log.contains("== Parent PID: ") && log.contains("== I   refs:"), "{log}");
}

#[test]
fn functions_are_listed_on_request() {
    let dir = temporary();
    let out = output(dir.path(), &["run", "--top=3", "--cachegrind-out-file=/dev/null", "true"]);
    assert!(stderr(&out).contains("function (3 of "), "{}", stderr(&out));
}

#[test]
fn help_version_and_lists_go_to_standard_output() {
    let dir = temporary();
    for (words, part) in [
        (&["--help"][..], "Examples:"),
        (&["run", "--help"], "--cachegrind-out-file"),
        (&["--version"], concat!("cgemu ", env!("CARGO_PKG_VERSION"))),
        (&["-V"], env!("CARGO_PKG_VERSION")),
        (&["syscalls"], "openat"),
        (&["presets"], "8388608,16,64"),
        (&["completions", "bash"], "cgemu"),
        (&["man"], ".TH cgemu 1"),
        (&["man", "run"], ".TH cgemu-run 1"),
        (&["man", "run"], ".SH EXAMPLES"),
        (&["man", "annotate"], ".SH \"EXIT STATUS\""),
        (&["help"], "Examples:"),
        (&["help", "run"], "Exit status:"),
        (&["run", "-h"], "`cgemu run --help` says more"),
    ] {
        let out = output(dir.path(), words);
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", stderr(&out));
        assert!(stdout(&out).contains(part), "{words:?}: {}", stdout(&out));
        assert_eq!(stderr(&out), "", "{words:?}");
    }
    assert!(names(dir.path()).is_empty());
}

#[test]
fn the_log_says_where_the_profile_is() {
    let dir = temporary();
    for (option, line) in [
        ("--cachegrind-out-file=out", Some("Profile: out; to read it: cgemu annotate out")),
        ("--cachegrind-out-file=it's", Some(r"Profile: 'it'\''s'; to read it: cgemu annotate 'it'\''s'")),
        ("--cachegrind-out-file=/dev/null", None),
    ] {
        let log = stderr(&output(dir.path(), &["run", option, "--", "true"]));
        let said: Vec<&str> =
            log.lines().filter_map(|line| line.split_once("== Profile: ")).map(|(_, text)| text).collect();
        let wanted: Vec<&str> = line.and_then(|line| line.strip_prefix("Profile: ")).into_iter().collect();
        assert_eq!(said, wanted, "{option}: {log}");
        assert_eq!(stderr(&output(dir.path(), &["run", "-q", option, "--", "true"])), "");
    }
}

/// Bash's completion offers programs where the guest looks for them, and only where one stands.
#[test]
fn bash_completes_programs() {
    let dir = temporary();
    let script = stdout(&output(dir.path(), &["completions", "bash"]));
    fs::write(dir.path().join("cgemu.bash"), script).expect("write");
    fs::write(dir.path().join("sha256sums"), b"").expect("write");
    let try_it = "source ./cgemu.bash; compopt() { :; }; COMP_WORDS=(cgemu \"$@\"); COMP_CWORD=$#; \
        _cgemu_programs cgemu \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (words, offered, not_offered) in [
        (&["run", "sha256su"][..], "sha256sum", "--cache"),
        (&["run", "--cache", "=", "zen3", "-q", "--", "sha256su"], "sha256sum", "--cache"),
        (&["repl", "--cache", "zen3", "sha256su"], "sha256sum", "zen3"),
        (&["run", "--cache", "ze"], "zen3", "sha256sum"),
        (&["run", "--ca"], "--cache-sim", "sha256sum"),
        (&["run", "sort", "sha256su"], "sha256sums", "sha256sum"),
        (&["annotate", "--js"], "--json", "sha256sum"),
    ] {
        let all = [&["-c", try_it, "bash"][..], words].concat();
        let out = tool("bash", dir.path(), "bash", &all);
        let offers: Vec<String> = stdout(&out).lines().map(str::to_owned).collect();
        assert!(offers.iter().any(|offer| offer == offered), "{words:?}: {offers:?} {}", stderr(&out));
        assert!(!offers.iter().any(|offer| offer == not_offered), "{words:?}: {offers:?}");
    }
}

/// The options that README.md lists are those that there are.
#[test]
fn the_readme_knows_the_options() {
    let readme = include_str!("../../README.md");
    let help = stdout(&output(temporary().path(), &["run", "--help"]));
    let of = |text: &str| -> std::collections::BTreeSet<String> {
        text.split(|c: char| c.is_whitespace() || "`,=[<".contains(c))
            .filter(|word| word.len() > 3 && word.starts_with("--"))
            .map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned())
            .collect()
    };
    let (_, table) = readme.split_once("## Options").expect("a section on options");
    let (table, _) = table.split_once("\n## ").expect("another section");
    let (listed, there) = (of(table), of(help.split("Examples:").next().unwrap_or_default()));
    let missing: Vec<_> = there.difference(&listed).filter(|o| *o != "--help").collect();
    let unknown: Vec<_> = listed.difference(&there).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing {missing:?}, unknown {unknown:?}");
}
