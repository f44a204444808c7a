//! The way back over sockets: those of the machine with bytes in flight, and those of the host's
//! network, from which the same comes again.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use super::bed::script_with;
use crate::common::network::Server;
use crate::common::{stderr, tool};

/// A directory with a program of `testdata` in it as `prog`.
fn built(source: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("input"), "").expect("written");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(source).display().to_string();
    let words = ["-g", "-O0", "-fno-pie", "-no-pie", "-pthread", "-o", "prog", &source];
    let out = tool("gcc", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

/// What a script prints, which ends well.
fn said(dir: &Path, options: &[&str], commands: &str, args: &[&str]) -> String {
    let said = script_with(dir, options, commands, args);
    assert_eq!(said.status, 0, "{commands}\n{}\n{}", said.out, said.err);
    said.out
}

/// The values that were printed, in order.
fn values(out: &str) -> Vec<&str> {
    let lines = out.lines().filter(|line| line.starts_with('$'));
    lines.filter_map(|line| line.split_once(" = ").map(|(_, value)| value)).collect()
}

/// What came from the host's network comes again, and nothing is sent twice.
#[test]
fn what_came_from_outside_comes_again() {
    let dir = built("network/client.c");
    let server = Server::start(Ipv4Addr::LOCALHOST.into()).expect("an address");
    let (options, arguments) = (server.options(), server.arguments("numbers"));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let show = "print i32[$rdi]\n";
    let on = format!("continue\n{show}");
    let back = format!("reverse-continue\n{show}");
    // The third number, back to the first, on to the third again and to the end.
    let script = format!(
        "break number\nrun\n{show}checkpoint first\n{on}{on}{back}{back}{on}{on}\
        restore first\n{show}{on}{on}delete\ncontinue\n"
    );
    let out = said(dir.path(), &options, &script, &arguments);
    let seen = values(&out);
    let [a, b, c] = seen[..3] else { panic!("{out}") };
    assert!(a != b && b != c, "{out}");
    assert_eq!(seen[3..], [b, a, b, c, a, b, c], "{out}");
    let printed: Vec<&str> = out.lines().filter(|line| line.starts_with("got ")).collect();
    let mut once = printed.clone();
    once.dedup();
    assert_eq!((printed.len(), once.len()), (4, 4), "{out}");
    assert_eq!(server.connections(), 1);
}

/// Sockets of the machine are part of a checkpoint: bytes, connections and descriptors on their
/// way.
#[test]
fn sockets_in_flight_are_part_of_a_checkpoint() {
    let dir = built("repl/flight.c");
    let undisturbed = said(dir.path(), &[], "run\n", &[]);
    let lines = |out: &str| -> Vec<String> {
        out.lines().filter(|line| line.starts_with("step ")).map(str::to_owned).collect()
    };
    assert_eq!(lines(&undisturbed).len(), 12, "{undisturbed}");
    // From every step back to the first, where all is still on its way, and on.
    let mut script = "break step\nrun\ncheckpoint first\n".to_owned();
    for step in 1..12 {
        script.push_str(&format!("continue {step}\nrestore first\n"));
    }
    script.push_str("continue 11\nreverse-continue\nreverse-continue\ndelete\ncontinue\n");
    let out = said(dir.path(), &[], &script, &[]);
    assert_eq!(lines(&out), lines(&undisturbed), "{out}");
    assert!(out.contains("status 0"), "{out}");
}
