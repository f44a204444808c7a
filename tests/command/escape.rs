//! Programs that try to leave the box. Afterwards the host is as it was, no text of it has been
//! seen, and the emulator has come to an end by itself.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use cgemu::cli::Doors;
use tempfile::TempDir;

use crate::common::network::Server;
use crate::common::{cgemu, counts, names, not_compared, stderr, stdout, tool, wanted_in_all};

/// The text that must not be seen, in files of this many bytes.
const PLANTED: &str = "the planted text\n";
const SIZE: usize = 4321;

/// A process of the host, ended with the test.
struct Bystander(Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn planted() -> String {
    format!("{PLANTED}{}", "x".repeat(SIZE - PLANTED.len()))
}

/// A directory with a `vault` that holds the secret, and a directory `work` with links to it, a
/// secret of its own and the program.
fn bed() -> TempDir {
    let bed = tempfile::tempdir().expect("a directory");
    let at = |name: &str| bed.path().join(name);
    fs::create_dir(at("vault")).expect("made");
    fs::create_dir_all(at("work/.ssh")).expect("made");
    fs::write(at("vault/secret"), planted()).expect("written");
    fs::write(at("work/.ssh/id"), planted()).expect("written");
    for (link, target) in [
        ("out", "../vault"),
        ("direct", "../vault/secret"),
        ("chain", "hop"),
        ("hop", "out/secret"),
        ("sshlink", ".ssh/id"),
        ("sshdir", ".ssh"),
    ] {
        symlink(target, at("work").join(link)).expect("linked");
    }
    symlink(at("vault/secret"), at("work/absolute")).expect("linked");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/escape/attempts.c");
    let words = ["-O1", "-w", "-pthread", "-static", "-o", "work/attempts", &source.display().to_string()];
    let built = tool("gcc", bed.path(), "gcc", &words);
    assert!(built.status.success(), "{}", stderr(&built));
    bed
}

/// Runs the program in a bed with these options, and checks the host afterwards.
fn attempt(bed: &TempDir, options: &[&str], trace: Option<&Path>) -> Output {
    let sleep = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().expect("sleep starts");
    let mut bystander = Bystander(sleep);
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = format!("cgemu-escape-{}", bystander.0.id());
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let sockets = [UnixListener::bind_addr(&address), UnixListener::bind(bed.path().join("work/sock"))];
    tcp.set_nonblocking(true).expect("set");
    let mut command =
        cgemu(&bed.path().join("work"), &["run", "--cachegrind-out-file=../out", "--timeout=240s"]);
    if let Some(trace) = trace {
        command = traced(&command, trace);
    }
    let real = bed.path().canonicalize().expect("there");
    command.args(options).arg(format!("--env=VAULT={}", real.join("vault").display()));
    command.arg(format!("--env=HOSTPID={}", bystander.0.id())).arg(format!("--env=ABSTRACT={name}"));
    command.arg(format!("--env=PORT={}", tcp.local_addr().expect("a port").port()));
    let out = command.args(["--", "./attempts"]).output().expect("cgemu starts");
    let (said, log) = (stdout(&out), stderr(&out));
    assert!(!said.contains("LEAK"), "{options:?}: {said}");
    assert!(!said.contains(PLANTED.trim_end()), "{options:?}: {said}");
    assert!(!log.contains("panicked") && !log.contains("emulator failed"), "{options:?}: {log}");
    assert_eq!(out.status.code(), Some(0), "{options:?}: {log}");
    assert!(bystander.0.try_wait().expect("asked").is_none(), "the host's process was ended");
    assert!(tcp.accept().is_err(), "the host was called");
    for socket in sockets {
        let socket = socket.expect("a socket");
        socket.set_nonblocking(true).expect("set");
        assert!(socket.accept().is_err(), "a socket of the host was reached");
    }
    assert_eq!(fs::read_to_string(bed.path().join("vault/secret")).expect("there"), planted());
    assert_eq!(names(&bed.path().join("vault")), ["secret"]);
    assert!(counts::read(&bed.path().join("out")).rows.values().any(|row| row[0] > 0), "no profile");
    out
}

/// More than 300 attempts, as the usual user and as root of the emulated machine.
#[test]
fn nothing_leaves_the_box() {
    for options in [&["--cache-sim=no"][..], &["--cache-sim=no", "--user=0"]] {
        let bed = bed();
        let said = stdout(&attempt(&bed, options, None));
        let made: u32 =
            said.lines().last().and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0);
        assert!(made >= 300, "{said}");
        assert_eq!(fs::read_to_string(bed.path().join("work/.ssh/id")).expect("there"), planted());
    }
}

/// Calls that cgemu makes before its second wall stands, beside those that it may make behind it.
const BEFORE_THE_WALL: [&str; 8] = [
    "arch_prctl",
    "execve",
    "landlock_add_rule",
    "landlock_create_ruleset",
    "landlock_restrict_self",
    "prctl",
    "seccomp",
    "set_tid_address",
];

/// Those that it makes there to be controlled.
const FOR_A_SOCKET: [&str; 4] = ["bind", "listen", "mkdir", "socket"];

/// The same command under strace(1), which writes all calls with their arguments as numbers.
fn traced(command: &Command, trace: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "--signal=none", "-e", "raw=all", "-o"]).arg(trace);
    strace.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    if let Some(directory) = command.get_current_dir() {
        strace.current_dir(directory);
    }
    strace
}

/// Checks each call of a trace against the wall; at least so many were made behind it.
fn held_by_the_wall(trace: &Path, doors: Doors, least: usize) {
    let text = fs::read_to_string(trace).expect("strace wrote a trace");
    // As many as `confinement.rs` installs.
    let (mut filters, mut behind, mut first) = (0, 0, None);
    for line in text.lines() {
        let (task, call) = line.split_once(' ').expect("a task and its call");
        let process = *first.get_or_insert_with(|| task.parse().expect("a number"));
        // What goes on was checked where it began.
        let Some((name, rest)) = call.trim_start().split_once('(').filter(|(name, _)| !name.contains(' '))
        else {
            assert!(call.trim_start().starts_with("<... "), "{line}");
            continue;
        };
        let end = rest.find([')', '<']).expect("an end of the arguments");
        let number = |word: &str| match word.trim().strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).expect(line),
            None => word.trim().parse().expect(line),
        };
        let words = rest[..end].split(',').filter(|word| !word.trim().is_empty());
        let arguments: Vec<u64> = words.map(number).collect();
        let allowed = cgemu::cli::allows_in_a_run(doors, process, name, &arguments);
        if filters < 2 {
            let makes_socket = doors.controlled && FOR_A_SOCKET.contains(&name);
            assert!(allowed || makes_socket || BEFORE_THE_WALL.contains(&name), "before the wall: {line}");
            filters += usize::from(name == "seccomp" && call.ends_with("= 0"));
        } else {
            assert!(allowed, "behind the wall: {line}");
            behind += 1;
        }
    }
    assert_eq!(
        text.lines().filter(|line| line.contains(" execve(")).count(),
        1,
        "another program was started"
    );
    if filters < 2 {
        not_compared("this host's kernel gave no seccomp filters");
    } else {
        assert!(behind >= least, "{behind} calls behind the wall");
    }
}

/// Whatever the program does, a trace of cgemu itself shows nothing but calls of the wall's table,
/// with arguments that it has: hostile programs, random calls, ordinary ones.
#[test]
fn the_emulator_makes_no_call_outside_its_table() {
    if !wanted_in_all("strace of cgemu") {
        return;
    }
    let bed = bed();
    let trace = bed.path().join("trace");
    let work = bed.path().join("work");
    tool("strace", &work, "strace", &["-V"]);
    attempt(&bed, &["--cache-sim=no"], Some(&trace));
    held_by_the_wall(&trace, Doors::default(), 1000);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/limits/calls.c");
    let built = tool("gcc", &work, "gcc", &["-w", "-static", "-o", "calls", &source.display().to_string()]);
    assert!(built.status.success(), "{}", stderr(&built));
    let script = "mkdir d; for i in 1 2 3; do echo $i > d/$i; done; ln -s 1 d/link; mv d/2 d/4; chmod 600 d/3; \
        cat d/* | sort | wc -l; cp -a d e; rm -r d; ls -l e; sleep 1; (kill -TERM $$) & wait";
    for (options, words) in [
        (&["--log-file=log", "--max-memory=256M"][..], &["./calls", "7", "3"][..]),
        (&["--allow-write=."], &["sh", "-c", script]),
        (&["--callgraph=yes", "-v"], &["gcc", "--version"]),
        (&["--max-instructions=1M"], &["sh", "-c", "while :; do :; done"]),
    ] {
        let begin = ["run", "--cachegrind-out-file=../out", "--timeout=300s"];
        let mut command = cgemu(&work, &begin);
        command.args(options).arg("--").args(words);
        let out = traced(&command, &trace).output().expect("strace starts");
        assert!(!stderr(&out).contains("panicked"), "{words:?}: {}", stderr(&out));
        held_by_the_wall(&trace, Doors::default(), 50);
    }
    // Orders of all kinds while the program waits.
    let sockets = bed.path().join("cgemu");
    let words = ["run", "-q", "--control", "--callgraph=yes", "--callgrind-out-file=../graph", "--", "cat"];
    let mut command = traced(&cgemu(&work, &words), &trace);
    command.env("XDG_RUNTIME_DIR", bed.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut run = command.spawn().expect("strace starts");
    while !sockets.exists() || names(&sockets).is_empty() {
        assert!(run.try_wait().expect("asked").is_none(), "it has ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = names(&sockets).remove(0);
    let all = ["control", "-sbedz", "--instr=off", &pid];
    for orders in [&all[..], &["control", "--instr=on", "--kill", &pid]] {
        let out = cgemu(&work, orders).env("XDG_RUNTIME_DIR", bed.path()).output().expect("cgemu starts");
        assert!(out.status.success(), "{orders:?}: {}", stderr(&out));
    }
    assert_eq!(run.wait().expect("it ends").code(), Some(143));
    assert_eq!(names(&sockets), [""; 0], "the wall lets it remove its socket");
    held_by_the_wall(&trace, Doors { controlled: true, ..Doors::default() }, 50);
    // A program with the host's network.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/network/client.c");
    let built = tool("gcc", &work, "gcc", &["-w", "-pthread", "-o", "client", &source.display().to_string()]);
    assert!(built.status.success(), "{}", stderr(&built));
    let server = Server::start(Ipv4Addr::LOCALHOST.into()).expect("an address");
    let mut command = cgemu(&work, &["run", "--cachegrind-out-file=../out"]);
    command.args(server.options()).arg("./client").args(server.arguments("talk"));
    let out = traced(&command, &trace).output().expect("strace starts");
    assert!(out.status.success() && server.connections() > 5, "{}", stderr(&out));
    held_by_the_wall(&trace, Doors { networked: true, ..Doors::default() }, 50);
}

/// A host process that exchanges a directory for a link to the secret while the program opens what
/// is in it.
#[test]
fn links_that_the_host_puts_there_meanwhile_lead_nowhere() {
    let bed = bed();
    let flip = bed.path().join("work/flip");
    let done = AtomicBool::new(false);
    fs::write(
        bed.path().join("work/open.sh"),
        "for i in 1 2 3 4 5 6 7 8 9; do cat flip/secret; ls -l flip/; done\n",
    )
    .expect("written");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                let _ = fs::create_dir(&flip).and_then(|()| fs::write(flip.join("secret"), "harmless\n"));
                std::thread::yield_now();
                let _ = fs::remove_dir_all(&flip);
                let _ = symlink("../vault", &flip);
                std::thread::yield_now();
                let _ = fs::remove_file(&flip);
            }
        });
        for _ in 0..5 {
            let words =
                ["run", "-q", "--cachegrind-out-file=/dev/null", "--cache-sim=no", "--", "sh", "open.sh"];
            let out = cgemu(&bed.path().join("work"), &words).output().expect("cgemu starts");
            let said = stdout(&out);
            assert!(!said.contains(PLANTED.trim_end()) && !said.contains(&SIZE.to_string()), "{said}");
        }
        done.store(true, Relaxed);
    });
}

/// The options that open and close, and what the log says of them.
#[test]
fn options_open_and_close() {
    let bed = bed();
    let work = bed.path().join("work");
    let see = |options: &[&str], words: &[&str]| {
        let begin = ["run", "--cachegrind-out-file=/dev/null", "--cache-sim=no"];
        let out = cgemu(&work, &begin).args(options).arg("--").args(words).output().expect("cgemu starts");
        (stdout(&out).contains(PLANTED.trim_end()), stderr(&out))
    };
    let vault = bed.path().join("vault").canonicalize().expect("there");
    let open = format!("--allow-read={}", vault.display());
    let by_name = &["sh", "-c", "cat out/secret"][..];
    let (seen, log) = see(&[], by_name);
    assert!(!seen && log.contains("vault") && log.contains("--allow-read=PATH"), "{log}");
    let (seen, log) = see(&[&open], by_name);
    assert!(seen && !log.contains("--allow-read"), "{log}");
    assert!(see(&[], &["cat", "../vault/secret"]).0, "named on the command line");
    assert!(!see(&["--deny=../vault"], &["cat", "../vault/secret"]).0, "--deny goes before");
    assert!(!see(&[], &["sh", "-c", "cat .ssh/id"]).0, "a secret by its name");
    assert!(see(&["--allow-read=.ssh"], &["sh", "-c", "cat .ssh/id"]).0, "--allow-read opens it");
    assert!(see(&[], &["cat", ".ssh/id"]).0, "as its name does");
    // What is hidden under --allow-write is not replaced either.
    let replace = "echo x > new; mv new .ssh/id; mv .ssh gone; mkdir .ssh; echo x > .ssh/id";
    see(&["--allow-write=.", "--deny=.ssh"], &["sh", "-c", replace]);
    assert_eq!(fs::read_to_string(work.join(".ssh/id")).expect("there"), planted());
}
