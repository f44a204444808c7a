//! A quick look at a profile: the functions with the most instructions.

use std::collections::BTreeMap;

use crate::profile::{Costs, Event, Profile, grouped};

/// The `count` functions with the most instructions, one line each, below a heading; all lines of a function
/// in all files are one. Equal counts are in the order of the names.
pub fn lines(profile: &Profile, count: usize) -> Vec<String> {
    let mut functions: BTreeMap<&[u8], Costs> = BTreeMap::new();
    let lines = profile.lines();
    for line in &lines {
        *functions.entry(line.function).or_default() += line.costs;
    }
    let all = functions.len();
    let mut functions: Vec<(&[u8], Costs)> = functions.into_iter().collect();
    // Stable, so that the names still decide where the counts do not.
    functions.sort_by_key(|(_, costs)| std::cmp::Reverse(costs[Event::Ir]));
    functions.truncate(count);

    let total = profile.total()[Event::Ir];
    let width = functions.first().map_or(0, |(_, costs)| grouped(costs[Event::Ir]).len()).max("Ir".len());
    let mut out = vec![format!("{:>width$}          function ({} of {all})", "Ir", functions.len())];
    for (name, costs) in &functions {
        let ir = costs[Event::Ir];
        out.push(format!(
            "{:>width$} ({:>5.1}%)  {}",
            grouped(ir),
            percent(ir, total),
            String::from_utf8_lossy(name)
        ));
    }
    out
}

fn percent(part: u64, whole: u64) -> f64 {
    // Both are far below 2^53 in any run that ends.
    part as f64 * 100.0 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::EventSet;

    fn profile() -> Profile {
        let mut profile = Profile::new("./a", EventSet::default());
        let mut ir = Costs::ZERO;
        for (file, function, n) in [
            ("a.c", "main", 1000),
            ("b.h", "main", 500),
            ("a.c", "zero", 0),
            ("a.c", "b", 250),
            ("a.c", "a", 250),
        ] {
            ir[Event::Ir] = n;
            profile.add(file, function, 1, &ir);
        }
        profile
    }

    #[test]
    fn largest_first_then_by_name() {
        assert_eq!(
            lines(&profile(), 3),
            [
                "   Ir          function (3 of 4)",
                "1,500 ( 75.0%)  main",
                "  250 ( 12.5%)  a",
                "  250 ( 12.5%)  b"
            ]
        );
    }

    #[test]
    fn none_and_more_than_there_are() {
        assert_eq!(lines(&profile(), 99).len(), 5);
        assert_eq!(lines(&Profile::default(), 10).len(), 1);
    }
}
