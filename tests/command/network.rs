//! The host's network: what `--allow-net` opens, that nothing else is open, and what says so. The
//! servers are this test's own, on this machine's loopback.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::network::Server;
use crate::common::patience::Patience;
use crate::common::{cgemu, cgemu_with_signals, not_compared, stderr, stdout, tool};
use crate::limits::temporary;

/// A directory with the program in it.
fn built() -> tempfile::TempDir {
    let dir = temporary();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/network/client.c");
    let words = ["-g", "-O1", "-o", "client", &source.display().to_string(), "-pthread"];
    let out = tool("gcc", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

/// The command that runs the program with some options.
fn words(options: &[String], arguments: &[String]) -> Vec<String> {
    let begin = ["run", "--cache-sim=no", "--cachegrind-out-file=out"].map(str::to_owned);
    let program = ["--", "./client"].map(str::to_owned);
    [&begin[..], options, &program, arguments].concat()
}

fn run(dir: &Path, options: &[String], arguments: &[String]) -> Output {
    let words = words(options, arguments);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    cgemu(dir, &words).output().expect("cgemu starts")
}

/// Waits until a number is what it should be.
fn becomes(what: &str, expected: usize, number: impl Fn() -> usize) {
    let mut patience = Patience::of(Duration::from_secs(20));
    while number() != expected {
        assert!(patience.turn(), "{what}: {} instead of {expected}", number());
    }
}

/// A program with the host's network does what it does on Linux.
#[test]
fn a_client_is_as_on_linux() {
    let dir = built();
    for ip in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
        let Some(server) = Server::start(ip) else {
            not_compared("this machine has no IPv6");
            continue;
        };
        let arguments = server.arguments("talk");
        let native = Command::new(dir.path().join("client")).args(&arguments).output().expect("it starts");
        assert!(native.status.success(), "{}", stdout(&native));
        becomes("bytes", 3 << 20, || server.kept());
        let ours = run(dir.path(), &server.options(), &arguments);
        assert_eq!(stdout(&ours), stdout(&native), "{}", stderr(&ours));
        assert_eq!(ours.status.code(), Some(0), "{}", stderr(&ours));
        becomes("bytes", 6 << 20, || server.kept());
        let log = stderr(&ours);
        let line = format!("the run had an outside (--allow-net): 9 connections to {}, ", server.tcp());
        assert!(log.contains(&line), "{log}");
        let profile = fs::read_to_string(dir.path().join("out")).expect("a profile");
        let line = format!("desc: Outside: {} (--allow-net)\n", server.tcp());
        assert!(profile.contains(&line) && profile.find(&line) < profile.find("cmd:"), "{profile}");
        let read = cgemu(dir.path(), &["annotate", "out"]).output().expect("cgemu starts");
        assert!(read.status.success() && stdout(&read).contains("Outside: "), "{}", stderr(&read));
    }
}

/// Valgrind's own reader takes the profile.
#[test]
fn its_profile_is_cachegrinds() {
    let dir = built();
    let server = Server::start(Ipv4Addr::LOCALHOST.into()).expect("an address");
    let out = run(dir.path(), &server.options(), &server.arguments("reach"));
    assert_eq!(stdout(&out), "tcp ok, udp ok\n", "{}", stderr(&out));
    let read = tool("valgrind", dir.path(), "cg_annotate", &["out"]);
    assert!(read.status.success() && stdout(&read).contains("PROGRAM TOTALS"), "{}", stderr(&read));
}

/// Nothing but what is named is reached, and nothing at all without the option.
#[test]
fn all_else_stays_inside() {
    let dir = built();
    let server = Server::start(Ipv4Addr::LOCALHOST.into()).expect("an address");
    let arguments = server.arguments("reach");
    let other = format!("--allow-net=127.0.0.1:{}", server.tcp().port() ^ 1);
    let host = format!("--allow-net=127.0.0.2:{}", server.tcp().port());
    for options in [vec![], vec![other], vec![host]] {
        let out = run(dir.path(), &options, &arguments);
        assert_eq!(stdout(&out), "tcp ECONNREFUSED, udp ok\n", "{options:?} {}", stderr(&out));
        assert!(!stderr(&out).contains("an outside"), "{}", stderr(&out));
        let profile = fs::read_to_string(dir.path().join("out")).expect("a profile");
        assert!(!profile.contains("Outside"), "{options:?}");
    }
    let mut far = arguments;
    far[0] = "192.0.2.1".into();
    let out = run(dir.path(), &server.options(), &far);
    assert_eq!(stdout(&out), "tcp ENETUNREACH, udp ENETUNREACH\n", "{}", stderr(&out));
    assert_eq!(server.connections(), 0);
    // Nor in a network namespace of its own, which has no network.
    let client = dir.path().join("client").display().to_string();
    let inside = [&["unshare".to_owned(), "-rn".into(), client], &server.arguments("reach")[..]].concat();
    let mut command = cgemu(dir.path(), &["run", "-q", "--cachegrind-out-file=out"]);
    let out = command.args(server.options()).arg("--").args(inside).output().expect("cgemu starts");
    assert_eq!(stdout(&out), "tcp ENETUNREACH, udp ENETUNREACH\n", "{}", stderr(&out));
    assert_eq!(server.connections(), 0);
}

/// A name is looked up once, and the program finds it in `/etc/hosts`.
#[test]
fn names_are_known_inside() {
    let dir = built();
    let server = Server::start(Ipv4Addr::LOCALHOST.into()).expect("an address");
    let option = format!("--allow-net=localhost:{}", server.tcp().port());
    let mut command = cgemu(dir.path(), &["run", "-q", "--cachegrind-out-file=out", &option, "--"]);
    let out =
        command.args(["grep", "-m1", "-w", "127.0.0.1 localhost", "/etc/hosts"]).output().expect("starts");
    assert_eq!(stdout(&out), "127.0.0.1 localhost\n", "{}", stderr(&out));
    let out = run(dir.path(), &[option], &server.arguments("reach"));
    assert_eq!(stdout(&out), "tcp ok, udp ok\n", "{}", stderr(&out));
    becomes("connections", 1, || server.connections());
}

/// A wait for the network ends when the user wants it, and by `--timeout`.
#[test]
fn a_wait_can_be_ended() {
    let dir = built();
    let server = Server::start(Ipv4Addr::LOCALHOST.into()).expect("an address");
    let options = [server.options(), vec!["--timeout=1s".into()]].concat();
    let out = run(dir.path(), &options, &server.arguments("wait"));
    assert_eq!((stdout(&out), out.status.code()), ("waiting\n".into(), Some(124)), "{}", stderr(&out));
    assert!(stderr(&out).contains("--timeout"), "{}", stderr(&out));
    let words = words(&server.options(), &server.arguments("wait"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = cgemu_with_signals(dir.path(), &[], &words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("cgemu starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says so");
    let sent = tool("bash", dir.path(), "bash", &["-c", &format!("kill -INT {}", child.id())]);
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{}", stderr(&sent));
    assert!(fs::read_to_string(dir.path().join("out")).expect("a profile").contains("Outside"));
}
