//! Against what Valgrind 3.19 printed for the same totals, and the corners by hand.

use super::*;
use crate::profile::{Costs, EventSet};

/// A profile whose totals are those of the two lines of a Cachegrind file.
fn with_totals(events: &str, summary: &str) -> Profile {
    let names: Vec<&str> = events.strip_prefix("events:").expect("events: line").split_whitespace().collect();
    let set = EventSet { cache: names.contains(&"Dr"), branch: names.contains(&"Bc") };
    let counts = summary.strip_prefix("summary:").expect("summary: line").split_whitespace();
    let mut costs = Costs::ZERO;
    for (name, count) in names.iter().zip(counts) {
        let event = Event::ALL.into_iter().find(|e| e.name() == *name).expect("a known event");
        costs[event] = count.parse().expect("a number");
    }
    let mut profile = Profile::new("", set);
    profile.add("???", "???", 0, &costs);
    profile
}

/// The first two lines are from the file, the others from the log of the same run.
macro_rules! captured {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../testdata/profile/summaries/", $name, ".txt")))),*]
    };
}

const CAPTURED: &[(&str, &str)] = captured! {
    "gzip-cache-no-branch-no"
    "gzip-cache-no-branch-yes"
    "gzip-cache-yes-branch-no"
    "gzip-cache-yes-branch-yes"
    "loads-cache-no-branch-no"
    "loads-cache-no-branch-yes"
    "loads-cache-yes-branch-no"
    "loads-cache-yes-branch-yes"
    "nothing-cache-no-branch-no"
    "nothing-cache-no-branch-yes"
    "nothing-cache-yes-branch-no"
    "nothing-cache-yes-branch-yes"
    "sha256sum-cache-yes-branch-yes"
    "sort-cache-no-branch-no"
    "sort-cache-no-branch-yes"
    "sort-cache-yes-branch-no"
    "sort-cache-yes-branch-yes"
    "stores-3-of-400-cache-yes-branch-yes"
    "stores-8-of-16-cache-yes-branch-yes"
    "stores-9996-of-10000-cache-yes-branch-yes"
    "true-cache-no-branch-no"
    "true-cache-no-branch-yes"
    "true-cache-yes-branch-no"
    "true-cache-yes-branch-yes"
};

#[test]
fn valgrinds_own_summaries_come_out_the_same() {
    for (name, text) in CAPTURED {
        let mut lines = text.lines();
        let events = lines.next().expect("events: line");
        let summary = lines.next().expect("summary: line");
        let theirs: Vec<&str> = lines.collect();
        assert_eq!(summary_lines(&with_totals(events, summary)), theirs, "{name}");
    }
}

#[test]
fn thousands() {
    for (n, text) in [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1,000"),
        (1_000_000, "1,000,000"),
        (12_345_678, "12,345,678"),
        (u64::MAX, "18,446,744,073,709,551,615"),
    ] {
        assert_eq!(grouped(n), text);
    }
}

#[test]
fn halves_are_rounded_down() {
    for (part, whole, digits, text) in [
        (3, 400, 1, "0.7"),      // 0.75
        (1, 400, 1, "0.2"),      // 0.25
        (301, 40_000, 1, "0.8"), // 0.7525
        (5, 8, 1, "62.5"),
        (1, 800, 2, "0.12"), // 0.125
        (3, 800, 2, "0.37"), // 0.375
        (2, 3, 1, "66.7"),
        (1, 3, 2, "33.33"),
        (9_996, 10_000, 1, "100.0"), // 99.96 carries
        (9_995, 100_000, 1, "10.0"), // 9.995 carries
        (1, 2_000, 2, "0.05"),       // the zero after the point stays
        (0, 1, 1, "0.0"),
        (1, 1, 2, "100.00"),
        (7, 1, 1, "700.0"), // a rate may exceed 100 where the denominator was 0
    ] {
        assert_eq!(percent(part, whole, digits), text, "{part} of {whole}");
    }
}

#[test]
fn huge_counts_do_not_panic() {
    let all = "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim";
    let most = format!("summary:{}", " 18446744073709551615".repeat(13));
    let lines = summary_lines(&with_totals(all, &most));
    assert_eq!(lines.len(), 19);
    assert_eq!(lines[0], "I   refs:      18,446,744,073,709,551,615");
}

#[test]
fn numbers_wider_than_their_column_push_the_rest() {
    // More data than instructions, as after `fxsave`: the width of the first column is that of Ir.
    let lines = summary_lines(&with_totals(
        "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw",
        "summary: 100 1 1 5000 7 7 36000 9 9",
    ));
    assert_eq!(lines[0], "I   refs:      100");
    assert_eq!(lines[6], "D   refs:      41,000  (5,000 rd   + 36,000 wr)");
    assert_eq!(lines[7], "D1  misses:     16  (    7 rd   +      9 wr)");
    assert_eq!(lines[9], "D1  miss rate: 0.0% (  0.1%     +    0.0%  )");
}

#[test]
fn events_that_were_not_simulated_do_not_widen_columns() {
    let mut costs = Costs::ZERO;
    costs[Event::Ir] = 10;
    costs[Event::Dr] = 1_000_000;
    costs[Event::Bc] = 3;
    let mut profile = Profile::new("", EventSet { cache: false, branch: true });
    profile.add("a", "f", 1, &costs);
    assert_eq!(
        summary_lines(&profile),
        [
            "I   refs:      10",
            "",
            "Branches:       4  (3 cond + 1 ind)",
            "Mispredicts:    0  (0 cond + 0 ind)",
            "Mispred rate:  0.0% (0.0%     + 0.0%   )",
        ]
    );
}
