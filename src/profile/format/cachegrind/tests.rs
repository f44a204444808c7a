//! Expected values come from the format's description in the Valgrind manual.

use std::io::{BufReader, Read};

use super::*;

/// A file as text: its records, or the message it gets.
fn read(text: &[u8]) -> Result<Vec<String>, String> {
    // A small buffer, so that lines cross its ends.
    let input = BufReader::with_capacity(5, text);
    let mut reader = CgReader::new(input, "a.out").map_err(|e| e.to_string())?;
    let mut out = Vec::new();
    while let Some(record) = reader.next_record().map_err(|e| e.to_string())? {
        out.push(match record {
            Record::File(name) => format!("fl={}", name.escape_ascii()),
            Record::Function(name) => format!("fn={}", name.escape_ascii()),
            Record::Counts { line, counts } => format!("{line} {counts:?}"),
            Record::Call { .. } => unreachable!("of Callgrind only"),
        });
    }
    Ok(out)
}

fn with_body(body: &str) -> Result<Vec<String>, String> {
    read(format!("desc: x\ncmd: ./a\nevents: Ir Dr\n{body}").as_bytes())
}

#[test]
fn head_and_body() {
    let text =
        b"# by hand\ndesc: I1 cache:         64 B\ndesc:\t b: c\ncmd: ./a  -x \nevents: Ir Dr \n\nfl=a.c\n";
    let reader = CgReader::new(&text[..], "a").expect("valid");
    let head = reader.head();
    assert_eq!(head.desc, [&b"I1 cache:         64 B"[..], b"b: c"]);
    assert_eq!(head.cmd, b"./a  -x ");
    assert_eq!(head.events, [b"Ir", b"Dr"]);
}

#[test]
fn counts_in_all_their_forms() {
    let body = "fl=a.c\nfn=f\n1 2 3\n2 4\n3\n0 . 5\n4\t-6   -7 \n# no count\nfi=b.h\n7 1\nsummary: 1 1\n";
    let expected = [
        "fl=a.c",
        "fn=<unspecified>",
        "fn=f",
        "1 [2, 3]",
        "2 [4, 0]",
        "3 [0, 0]",
        "0 [0, 5]",
        "4 [-6, -7]",
        "fl=b.h",
        "7 [1, 0]",
    ];
    assert_eq!(with_body(body).expect("valid"), expected);
    assert_eq!(with_body(&body.replace('\n', "\r\n")).expect("valid"), expected);
    assert_eq!(with_body(body.trim_end()).expect("valid"), expected, "no newline at the end");
}

#[test]
fn names_are_bytes() {
    let text = b"cmd: ./a\nevents: Ir\nfl=\xff\xfe.c\nfn=f\r\n1 1\nsummary: 1\n";
    let records = read(text).expect("valid");
    assert_eq!(records[0], "fl=\\xff\\xfe.c");
    assert_eq!(records[2], "fn=f");
}

#[test]
fn sums_are_checked() {
    assert!(with_body("fl=a\nfn=f\n1 1 2\n2 3\nsummary: 4 2\n").is_ok());
    let error = with_body("fl=a\nfn=f\n1 1 2\nsummary: 1\n").expect_err("differs");
    assert_eq!(
        error,
        "a.out:7: `summary:` line doesn't match computed total; summary: [1, 0], computed: [1, 2]"
    );
}

#[test]
fn errors_name_the_line() {
    for (body, line, part) in [
        ("", 4, "missing `summary:`"),
        ("fl=a\nfn=f\n1 1\n", 7, "missing `summary:`"),
        ("1 2 3 4\n", 4, "too many"),
        ("1 2x\n", 4, "malformed"),
        ("1 -\n", 4, "malformed"),
        ("1x 2\n", 4, "malformed"),
        ("1 9223372036854775808\n", 4, "too large"),
        ("1 9223372036854775807\n1 1\n", 5, "too large"),
        ("1 -9223372036854775809\n", 4, "too large"),
        ("18446744073709551616 1\n", 4, "too large"),
        ("calls=1 2\n", 4, "malformed line: calls=1 2"),
        ("-1 2\n", 4, "malformed line"),
        ("summary:\n1 1\n", 5, "malformed line: 1 1"),
        ("summary: 1 2 3\n", 4, "too many"),
    ] {
        let error = with_body(body).expect_err(body);
        assert!(error.starts_with(&format!("a.out:{line}: ")) && error.contains(part), "{body}: {error}");
    }
    for (text, line, part) in [
        ("", 1, "missing `cmd:`"),
        ("desc: x\n", 2, "missing `cmd:`"),
        ("desc: x\nevents: Ir\n", 2, "missing `cmd:`"),
        ("cmd: x\n", 2, "missing `events:`"),
        ("cmd: x\nevents:  \n", 2, "missing `events:`"),
        ("# callgrind format\nversion: 1\n", 2, "Callgrind"),
        ("\u{7f}ELF\u{0}\u{1}", 1, "missing `cmd:`"),
    ] {
        let error = read(text.as_bytes()).expect_err(text);
        assert!(error.starts_with(&format!("a.out:{line}: ")) && error.contains(part), "{text}: {error}");
    }
}

#[test]
fn extremes_fit() {
    let body =
        "1 9223372036854775807 -9223372036854775808\nsummary: 9223372036854775807 -9223372036854775808\n";
    assert!(with_body(body).is_ok());
}

#[test]
fn a_line_without_end_is_refused() {
    let endless = BufReader::new(b"cmd: x\nevents: Ir\nfl=".chain(std::io::repeat(b'x')));
    let mut reader = CgReader::new(endless, "a.out").expect("a head");
    let error = reader.next_record().expect_err("too long").to_string();
    assert!(error.starts_with("a.out:3: line longer"), "{error}");
}
