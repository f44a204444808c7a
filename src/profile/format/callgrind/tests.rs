//! Expected values come from the Valgrind manual, "Callgrind Format Specification".

use std::io::BufReader;

use super::*;

/// A file as text: its records, or the message it gets.
fn read(text: &str) -> Result<(Vec<String>, Vec<i64>), String> {
    // A small buffer, so that lines cross its ends.
    let input = BufReader::with_capacity(5, text.as_bytes());
    let mut reader = CallgrindReader::new(input, "a.out").map_err(|e| e.to_string())?;
    let mut out = Vec::new();
    while let Some(record) = reader.next_record().map_err(|e| e.to_string())? {
        out.push(match record {
            Record::File(name) => format!("fl={}", name.escape_ascii()),
            Record::Function(name) => format!("fn={}", name.escape_ascii()),
            Record::Counts { line, counts } => format!("{line} {counts:?}"),
            Record::Call { file, function, calls, line, counts } => {
                format!("{line} {calls}x {}:{} {counts:?}", file.escape_ascii(), function.escape_ascii())
            }
        });
    }
    Ok((out, reader.total().to_vec()))
}

fn records(text: &str) -> Vec<String> {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}")).0
}

/// The manual's extended example, in its three forms.
#[test]
fn the_manuals_example() {
    let plain = "# callgrind format\nevents: Instructions\n\nfl=file1.c\nfn=main\n16 20\ncfn=func1\ncalls=1 50\n16 400\n\
        cfi=file2.c\ncfn=func2\ncalls=3 20\n16 400\n\nfn=func1\n51 100\ncfi=file2.c\ncfn=func2\ncalls=2 20\n\
        51 300\n\nfl=file2.c\nfn=func2\n20 700\n";
    let short = "# callgrind format\nevents: Instructions\n\nfl=(1) file1.c\nfn=(1) main\n16 20\ncfn=(2) func1\ncalls=1 50\n\
        16 400\ncfi=(2) file2.c\ncfn=(3) func2\ncalls=3 20\n16 400\n\nfn=(2)\n51 100\ncfi=(2)\ncfn=(3)\n\
        calls=2 20\n51 300\n\nfl=(2)\nfn=(3)\n20 700\n";
    let (_, body) = short.split_once("fl=(1)").expect("a body");
    let names_first = format!(
        "events: Instructions\nfl=(1) file1.c\nfl=(2) file2.c\nfn=(1) main\nfn=(2) func1\nfn=(3) func2\nfl=(1){body}"
    );
    let expected = [
        "fl=file1.c",
        "fn=main",
        "16 [20]",
        "16 1x file1.c:func1 [400]",
        "16 3x file2.c:func2 [400]",
        "fn=func1",
        "51 [100]",
        "51 2x file2.c:func2 [300]",
        "fl=file2.c",
        "fn=func2",
        "20 [700]",
    ];
    for text in [plain, short, names_first.as_str(), &plain.replace('\n', "\r\n"), plain.trim_end()] {
        let (records, total) = read(text).expect(text);
        assert_eq!(records, expected, "{text}");
        assert_eq!(total, [820]);
    }
}

#[test]
fn the_head() {
    let text = "version: 1\ncreator: me\npid: 7\ncmd:  ./a b\npart: 1\ndesc: I1 cache: 64 B\ndesc: Option: --x\n\
        event: Ir : Instruction Fetches\nmystery: x\npositions: line\nevents: Ir Dr\nevent: Sum = Ir + Dr\n1 1 2\n";
    let reader = CallgrindReader::new(text.as_bytes(), "a").expect("valid");
    let head = reader.head();
    assert_eq!(head.cmd, b"./a b");
    assert_eq!(head.desc, [b"I1 cache: 64 B"]);
    assert_eq!(head.events, [&b"Ir"[..], b"Dr", b"Sum"]);
    assert_eq!(head.definitions.len(), 2);
    assert_eq!(records(text), ["fl=???", "fn=???", "1 [1, 2, 3]"]);
}

/// `cfi=` is of one call.
#[test]
fn the_file_of_a_called_function() {
    let text =
        "events: Ir\nfl=a.c\nfn=f\ncfl=b.c\ncfn=g\ncalls=1 1\n2 3\ncfn=h\ncalls=2 2\n3 4\ncalls=1 2\n4 5\n";
    let expected = ["fl=a.c", "fn=f", "2 1x b.c:g [3]", "3 2x a.c:h [4]", "4 1x a.c:h [5]"];
    assert_eq!(records(text), expected);
}

/// The file changes inside of a function, called functions are in the caller's file if no `cfi=`
/// says otherwise, and neither the targets of calls nor jumps change what positions are relative
/// to.
#[test]
fn positions_and_files() {
    let text = "positions: instr line\nevents: Ir\nob=(1) /a\nfl=(1) a.c\nfn=(1) f\n0x10 5 1\nfi=(2) b.h\n+2 +1 2\n\
        jcnd=1/2 +40 +100\n* *\njfi=(3) c.c\njfn=(2) g\njump=1 0x99 1\n+1 *\ncob=(2) /b\ncfn=(2)\ncalls=4 +5 +50\n* -2 7\nfe=(1)\n\
        + 1\n";
    let error = read(text).expect_err("+ alone");
    assert!(error.starts_with("a.out:20: malformed position"), "{error}");
    assert_eq!(
        records(&text.replace("+ 1\n", "+1 +1 3\n")),
        ["fl=a.c", "fn=f", "5 [1]", "fl=b.h", "6 [2]", "4 4x b.h:g [7]", "fl=a.c", "5 [3]"]
    );
}

#[test]
fn parts_are_summed() {
    let part = |number, summary: &str, cost, totals: &str| {
        format!(
            "part: {number}\ndesc: x\npositions: instr line\nevents: Ir\n{summary}fn=f\n0x5 9 {cost}\n{totals}\n"
        )
    };
    let first = part(1, "summary: 5\n", 5, "totals: 5\n");
    let (records, total) = read(&format!("{first}{}", part(2, "", 7, ""))).expect("valid");
    assert_eq!(records, ["fl=???", "fn=f", "9 [5]", "9 [7]"]);
    assert_eq!(total, [12]);
    // A summary may be more than the lines: shares are of it.
    assert_eq!(read(&part(1, "summary: 50\n", 5, "totals: 5\n")).expect("valid").1, [50]);
    assert_eq!(read(&part(1, "summary: 0\n", 5, "")).expect("valid").1, [5]);
}

#[test]
fn wrong_files() {
    for (text, message) in [
        ("", "a.out:1: missing `events:` line"),
        ("version: 2\nevents: Ir\n", "a.out:1: Callgrind format version 2"),
        ("events: Ir\nfn=(1)\n", "a.out:2: name (1) is used before"),
        ("events: Ir\n1 2 3\n", "a.out:2: malformed or too many"),
        ("events: Ir\n-1 2\n", "a.out:2: malformed position"),
        ("events: Ir\ncalls=x 1\n1 2\n", "a.out:2: malformed number of calls"),
        ("events: Ir\ncfn=f\ncalls=1 1\n", "a.out:4: missing costs of the call"),
        ("events: Ir\ncalls=1 1\ncalls=1 1\n", "a.out:3: missing costs of the call"),
        ("events: Ir\n1 1\nwhat is this\n", "a.out:3: malformed line: what is this"),
        ("events: Ir\nxfn=f\n", "a.out:2: malformed line"),
        ("events: Ir\n1 4\ntotals: 5\n", "a.out:4: `totals:` line doesn't match"),
        ("events: Ir\nsummary: 3\n1 4\n", "a.out:4: `summary:` line is less"),
        ("events: Ir\n1 1\nevents: Dr\n1 1\n", "a.out:3: events of this part differ"),
        ("creator: callgrind-3.19.0\nevents: Ir\n1 1\n", "a.out:4: missing `totals:`"),
        ("events: Ir\n1 9223372036854775807\n1 1\n", "a.out:3: number too large"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn a_part_without_known_positions_has_lines() {
    for text in ["line", "", "mystery"] {
        let mut positions = positions(text.as_bytes());
        positions.read(b"3 4", |byte| byte.is_ascii_whitespace(), any_base).expect(text);
        assert_eq!(positions.line(), 3, "{text}");
    }
}
