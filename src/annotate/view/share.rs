//! Numbers as every view has them: thousands, shares of a total, and which counts stand out.

use crate::profile::grouped;

/// A number with a comma between groups of three digits.
pub(crate) fn thousands(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

/// A share in percent; a total of 0 has none.
pub(crate) fn share(part: i64, total: i64) -> Option<f64> {
    (total != 0).then(|| (i128::from(part) * 100) as f64 / total as f64)
}

/// A share in percent with one digit after the point, `n/a` if there is none.
pub(crate) fn percent(part: i64, total: i64) -> String {
    share(part, total).map_or("n/a".to_owned(), |share| format!("{share:.1}%"))
}

/// The weight of a share of the total. Renderers choose a colour for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Negligible,
    Small,
    Medium,
    Large,
}

impl Weight {
    /// The weight of a share in percent, whatever its sign.
    pub(crate) fn of(share: f64) -> Weight {
        match share.abs() {
            share if share >= 10.0 => Weight::Large,
            share if share >= 2.0 => Weight::Medium,
            share if share >= 0.5 => Weight::Small,
            _ => Weight::Negligible,
        }
    }
}

/// The test for hot instructions, which listings mark: a least share of a reference count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hot {
    percent: i64,
    reference: i64,
}

impl Hot {
    /// Hot in a function: at least half of the count of its costliest instruction.
    pub(crate) fn in_function(most: i64) -> Hot {
        Hot { percent: 50, reference: most }
    }

    /// Hot in a run: at least a twentieth of the total.
    pub(crate) fn in_run(total: i64) -> Hot {
        Hot { percent: 5, reference: total }
    }

    /// Tests a count. A count of 0 is never hot.
    pub(crate) fn is_hot(self, count: i64) -> bool {
        count > 0 && i128::from(count) * 100 >= i128::from(self.reference) * i128::from(self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (-1000, "-1,000"),
            (-100, "-100"),
            (i64::MIN, "-9,223,372,036,854,775,808"),
        ] {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(percent(1, 0), "n/a");
        assert_eq!(percent(0, -3), "-0.0%");
        assert_eq!(percent(-1, 8), "-12.5%");
        assert_eq!(percent(i64::MAX, i64::MAX), "100.0%");
    }

    #[test]
    fn larger_shares_weigh_more() {
        let weights = [0.0, 0.5, 2.0, 10.0].map(Weight::of);
        assert_eq!(weights, [Weight::Negligible, Weight::Small, Weight::Medium, Weight::Large]);
        assert_eq!([0.49, 1.99, 9.99].map(Weight::of), [Weight::Negligible, Weight::Small, Weight::Medium]);
        assert_eq!(Weight::of(-50.0), Weight::of(50.0));
        assert_eq!(Weight::of(f64::NAN), Weight::Negligible);
    }

    #[test]
    fn hot_instructions() {
        assert_eq!([49, 50, 100].map(|count| Hot::in_function(100).is_hot(count)), [false, true, true]);
        assert_eq!([4, 5, 100].map(|count| Hot::in_run(100).is_hot(count)), [false, true, true]);
        assert!(!Hot::in_run(0).is_hot(0));
    }
}
