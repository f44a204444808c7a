//! Programs that try to leave the box. Afterwards the host is as it was, no text of it has been
//! seen, and the emulator has come to an end by itself.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tempfile::TempDir;

use crate::common::{cgemu, counts, names, stderr, stdout, tool};

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
fn attempt(bed: &TempDir, options: &[&str], only: Option<&str>) -> Output {
    let sleep = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().expect("sleep starts");
    let mut bystander = Bystander(sleep);
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = format!("cgemu-escape-{}", bystander.0.id());
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let sockets = [UnixListener::bind_addr(&address), UnixListener::bind(bed.path().join("work/sock"))];
    tcp.set_nonblocking(true).expect("set");
    let mut command =
        cgemu(&bed.path().join("work"), &["run", "--cachegrind-out-file=../out", "--timeout=240s"]);
    let real = bed.path().canonicalize().expect("there");
    command.args(options).arg(format!("--env=VAULT={}", real.join("vault").display()));
    command.arg(format!("--env=HOSTPID={}", bystander.0.id())).arg(format!("--env=ABSTRACT={name}"));
    command.arg(format!("--env=PORT={}", tcp.local_addr().expect("a port").port()));
    if let Some(only) = only {
        command.arg(format!("--env=ONLY={only}"));
    }
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
