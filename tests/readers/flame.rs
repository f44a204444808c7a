//! `cgemu flame` on files whose stacks are worked out by hand, and on what must be refused.

use std::fs;
use std::path::Path;

use crate::common::{output, stderr, stdout};

/// Two callers of `work`, one of them with markup for a name and costs in another file; a cycle;
/// two functions of one name in two files.
const CALLS: &str = "# callgrind format\nevents: Ir Dr\nfl=a.c\nfn=main\n1 10 1\ncfn=a<b>&;\ncalls=1 5\n2 300 3\n\
    cfn=other\ncalls=1 9\n3 140 4\n\nfn=a<b>&;\nfi=b.h\n5 100 1\nfe=a.c\ncfn=work\ncalls=2 7\n6 200 2\n\nfn=other\n9 20 2\n\
    cfn=work\ncalls=1 7\n9 100 1\ncfi=c.c\ncfn=same\ncalls=1 1\n9 20 1\n\nfn=work\n7 270 3\ncfn=even\ncalls=1 8\n\
    8 30 0\n\nfn=even\n8 10 0\ncfn=odd\ncalls=1 8\n8 999 0\n\nfn=odd\n8 20 0\ncfn=even\ncalls=1 8\n8 888 0\n\n\
    fn=same\n1 5 0\nfl=c.c\nfn=same\n1 20 1\n";

/// The output of the command in a directory with the text as `calls`.
fn flame(text: &str, words: &[&str]) -> std::process::Output {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("calls"), text).expect("written");
    fs::write(dir.path().join("old"), CALLS).expect("written");
    let plain = "events: Ir\nfl=a\nfn=b\n1 1\nsummary: 1\n";
    fs::write(dir.path().join("cachegrind"), plain).expect("written");
    output(Path::new(dir.path()), &[&["flame"], words].concat())
}

fn read(text: &str, words: &[&str]) -> String {
    let out = flame(text, words);
    assert!(out.status.success() && out.stderr.is_empty(), "{}", stderr(&out));
    stdout(&out)
}

#[test]
fn stacks_have_the_costs_of_pairs() {
    let expected = "main 10\nmain;a<b>&: 100\nmain;a<b>&:;work 180\n\
        main;a<b>&:;work;<cycle 1: 2 functions>;even 6\nmain;a<b>&:;work;<cycle 1: 2 functions>;odd 14\n\
        main;other 20\nmain;other;same 20\nmain;other;work 90\n\
        main;other;work;<cycle 1: 2 functions>;even 3\nmain;other;work;<cycle 1: 2 functions>;odd 7\nsame 5\n";
    assert_eq!(read(CALLS, &["--folded", "calls"]), expected);
    let reads = read(CALLS, &["--folded", "--event=Dr", "calls"]);
    assert_eq!(
        reads,
        "main 1\nmain;a<b>&: 1\nmain;a<b>&:;work 2\nmain;other 2\nmain;other;same 1\nmain;other;work 1\n"
    );
}

#[test]
fn a_comparison_has_both_costs() {
    let now = CALLS.replace("9 20 2", "9 25 2").replace("3 140 4", "3 145 4");
    let text = read(&now, &["--folded", "--diff=old", "calls"]);
    assert!(text.starts_with("main 10 10\n") && text.contains("\nmain;other 20 25\n"), "{text}");
    let picture = read(&now, &["--diff=old", "calls"]);
    assert!(picture.contains("other (a.c): 145 Ir (31.52%), own 25, +5 since 140<"), "{picture}");
}

/// Names are no markup, and the picture refers to nothing outside of it.
#[test]
fn pictures_stand_alone() {
    let picture = read(CALLS, &["calls"]);
    assert!(picture.starts_with("<?xml") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("<title>a&lt;b&gt;&amp;; (a.c): 300 Ir ("), "{picture}");
    assert!(!picture.contains("a<b>") && picture.matches("http").count() == 1, "{picture}");
    assert!(picture.contains("<title>all: 455 Ir (100.00%), own 0<"), "{picture}");
}

#[test]
fn bad_files_are_refused() {
    for (text, words, message) in [
        ("", &["cachegrind"][..], "cachegrind: a Cachegrind file has no calls"),
        ("", &["nothing"], "nothing: No such file"),
        (CALLS, &["--event=Dw", "calls"], "--event event `Dw` did not appear"),
        ("# callgrind format\nevents: Ir\nfn=f\n1 -5\n", &["calls"], "calls:4: a negative cost has no width"),
        ("# callgrind format\nevents: Ir\nfn=f\ncfn=g\ncalls=1 1\n", &["calls"], "calls:6: missing costs"),
    ] {
        let out = flame(text, words);
        assert_eq!(out.status.code(), Some(1), "{words:?}");
        assert!(stderr(&out).starts_with(&format!("cgemu flame: {message}")), "{}", stderr(&out));
        assert!(out.stdout.is_empty(), "{words:?}");
    }
}

/// A chain of 100,000 calls ends at a level, and it is said.
#[test]
fn deep_stacks_end() {
    let depth = 100_000;
    let mut text = "# callgrind format\nevents: Ir\n".to_owned();
    for at in 0..depth {
        text.push_str(&format!("fn=f{at}\n1 1\ncfn=f{}\ncalls=1 1\n1 {}\n", at + 1, depth - at));
    }
    text.push_str(&format!("fn=f{depth}\n1 1\n"));
    let out = flame(&text, &["--folded", "calls"]);
    assert!(out.status.success());
    assert!(stderr(&out).starts_with("cgemu flame: 1 frames have further calls"), "{}", stderr(&out));
    let sum: u64 = stdout(&out).lines().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
    assert_eq!(sum, depth + 1);
}
