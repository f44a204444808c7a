//! Policies and priorities, sched(7), on the one processor: which thread gets on before which. The
//! expected orders are what POSIX and sched(7) prescribe; a native run would need privileges and a
//! processor of its own.

use std::path::Path;

use crate::common::{output, stderr, stdout, tool};

fn build(directory: &Path) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/schedule/p.c");
    let out = tool("gcc", directory, "gcc", &["-O1", "-w", "-pthread", "-o", "p", source]);
    assert!(out.status.success(), "{}", stderr(&out));
}

fn run(directory: &Path, options: &[&str], case: &str) -> String {
    let mut words = vec!["run", "--cachegrind-out-file=out", "--user=0", "--timeout=120s"];
    words.extend(options);
    words.extend(["--", "./p", case]);
    let out = output(directory, &words);
    assert!(out.status.success(), "{case}: {}", stderr(&out));
    stdout(&out).trim().to_owned()
}

#[test]
fn policies_decide_the_order() {
    let directory = tempfile::tempdir().expect("a directory");
    build(directory.path());
    for (case, wanted) in [
        // The highest first, at once; of equals one until it is done. pthread_create makes threads
        // with their maker's priority and lowers it: so the last one is before its equals.
        ("fifo", "main c20 c20 main b5 b5 a5 a5 other other"),
        ("rr", "b a b a"),
        ("yield", "b a b a low low"),
        ("timer", "a5 woken a5"),
        ("lowered", "b7 b7 a5 a5"),
        // The owner of the lock keeps the middle one away for the high one's sake, or does not.
        ("inherit", "low-has-it low-gives-it high middle middle low"),
        ("none", "low-has-it middle middle low-gives-it high low"),
    ] {
        for options in [&[][..], &["--schedule-seed=7"], &["--quantum=1000000"]] {
            if case == "rr" && !options.is_empty() {
                continue; // the length of turns decides
            }
            assert_eq!(run(directory.path(), options, case), wanted, "{case} {options:?}");
        }
    }
}

#[test]
fn nice_values_and_policies_have_shares() {
    let directory = tempfile::tempdir().expect("a directory");
    build(directory.path());
    let text = run(directory.path(), &[], "shares");
    let shares: Vec<u64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    // Of 1000: by Linux's weights 335 for nice 5, as much for SCHED_BATCH, 3 for SCHED_IDLE.
    let [nice, batch, idle] = shares[..] else { panic!("{text}") };
    assert!((300..370).contains(&nice) && (950..1050).contains(&batch) && idle < 10, "{text}");
}
