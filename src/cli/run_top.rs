//! `run --top`: the functions with the most instructions.

use std::borrow::Cow;

use crate::annotate::NameStyle;
use crate::annotate::render::terminal::functions;
use crate::annotate::view::ranking::Counted;
use crate::profile::{Event, Profile};

/// The `count` functions with the most instructions, one line each, below a heading. A function is
/// the sum of its lines in all files, and with short names of all functions of that name. Equal
/// counts are in the order of the names.
pub(super) fn lines(profile: &Profile, count: usize, names: Option<NameStyle>) -> Vec<String> {
    let counted = Counted::lines(profile, |line| {
        Some(names.map_or(Cow::Borrowed(line.function), |names| Cow::Owned(names.apply(line.function))))
    });
    functions(&counted.top(Event::Ir, count, true), counted.total.first().copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Costs, EventSet};

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
            lines(&profile(), 3, None),
            [
                "   Ir          function (3 of 4; with its code of all files)",
                "1,500 ( 75.0%)  main",
                "  250 ( 12.5%)  a",
                "  250 ( 12.5%)  b"
            ]
        );
    }

    #[test]
    fn none_and_more_than_there_are() {
        assert_eq!(lines(&profile(), 99, None).len(), 5);
        assert_eq!(lines(&Profile::default(), 10, None).len(), 1);
    }

    #[test]
    fn short_names_are_added_up() {
        let mut profile = Profile::new("./a", EventSet::default());
        let mut ir = Costs::ZERO;
        for (function, n) in [("f<int>(int)", 10), ("f<long>(long)", 20), ("g(char)", 25)] {
            ir[Event::Ir] = n;
            profile.add("a.cc", function, 1, &ir);
        }
        let short = lines(&profile, 9, Some(NameStyle::Short));
        assert_eq!(short[1..], ["30 ( 54.5%)  f", "25 ( 45.5%)  g"]);
        assert!(lines(&profile, 9, Some(NameStyle::Full))[1].ends_with("g(char)"));
    }
}
