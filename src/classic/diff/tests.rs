//! Expected values: what `cg_diff` of Valgrind 3.19 prints for the same files, its functions
//! sorted.

use super::*;

fn read(name: &str, text: &str) -> Result<FunctionCounts, Failure> {
    FunctionCounts::read(name.as_bytes(), text.as_bytes(), &Renaming::default(), &mut |_, _| {})
}

fn difference(a: &str, b: &str) -> Result<String, Failure> {
    let first = read("a", a)?;
    let mut second = read("b", b)?;
    second.subtract(&first)?;
    let mut out = Vec::new();
    second.write(&first, [b"a", b"b"], &mut out);
    Ok(String::from_utf8(out).expect("text"))
}

const HEAD: &str = "desc: d\ncmd: c\nevents: Ir Dr\n";

#[test]
fn by_function() {
    let a = format!("{HEAD}fl=a\nfn=f\n1 1 2\n5 1 2\nfl=b\nfn=g\n1 9 9\nsummary: 11 13\n");
    let b = format!("{HEAD}fl=a\nfn=f\n7 5 3\nfl=c\nfn=h\n1 . 4\nfn=i\nsummary: 5 7\n");
    let head = "desc: Files compared:   a; b\ncmd:  c; c\nevents:  Ir Dr\n";
    let body = "fl=a\nfn=f\n0 3 -1\nfl=b\nfn=g\n0 -9 -9\nfl=c\nfn=h\n0  4\nfl=c\nfn=i\n0\nsummary: -6 -6\n";
    assert_eq!(difference(&a, &b), Ok(format!("{head}{body}")));
}

#[test]
fn statuses() {
    let good = format!("{HEAD}fl=a\nfn=f\n1 1 2\nsummary: 1 2\n");
    for (text, status, line) in [
        (String::new(), 255, "b:0:"),
        ("desc: d\ncmd: c\n".to_owned(), 255, "b:2:"),
        ("desc: d\nx\n".to_owned(), 25, "b:2:"),
        (format!("{HEAD}fl=a\nfn=f\n"), 255, "b:5:"),
        (format!("{HEAD}fl=a\nfn=f\n1 1 2 3\n"), 25, "b:6:"),
        ("desc: d\ncmd: c\nevents: Ir Dw\nsummary: 0 0\n".to_owned(), 255, "`Ir Dr` and `Ir Dw`"),
    ] {
        let failure = difference(&good, &text).expect_err(&text);
        assert_eq!(failure.status, status, "{text}: {}", failure.message);
        assert!(failure.message.contains(line), "{text}: {}", failure.message);
    }
}

/// Taken by `cg_diff` of Valgrind 3.21 to 3.28 and not by that of 3.19, or allowed by the grammar
/// alone.
#[test]
fn what_later_programs_and_the_grammar_allow() {
    let nothing = format!("{HEAD}summary: 0 0\n");
    for (text, expected) in [
        (format!("{HEAD}1 2 3\nsummary: 2 3\n"), "fl=???\nfn=???\n0 2 3\n"),
        (format!("{HEAD}fl=a\n1 2 3\nsummary: 2 3\n"), "fl=a\nfn=???\n0 2 3\n"),
        (format!("{HEAD}fn=f\n1 2 3\nsummary: 2 3\n"), "fl=???\nfn=f\n0 2 3\n"),
        (format!("{HEAD}fl=a\nfn=\n1 2 3\nsummary: 2 3\n"), "fl=a\nfn=\n0 2 3\n"),
        (format!("{HEAD}fl=a###b\nfn=f\n1 2 3\nsummary: 2 3\n"), "fl=a###b\nfn=f\n0 2 3\n"),
        (
            "# c\n\ndesc:d\n#\ncmd:c\n\nevents:Ir Dr\n# c\n \nfl=a\nfn=f\n1 2 3\nsummary:2 3\n#\n".to_owned(),
            "fl=a\nfn=f\n0 2 3\n",
        ),
    ] {
        let difference = difference(&nothing, &text).expect(&text);
        let body = difference.split_once("events:  Ir Dr\n").expect("a head").1;
        assert_eq!(body, format!("{expected}summary: 2 3\n"), "{text}");
    }
}
