//! Metrics: columns computed from counts. Miss rates, misses per thousand instructions, and
//! KCachegrind's estimate of cycles.

use std::fmt;

use serde::Serialize;

use super::share::thousands;

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Percent of the events that could have missed.
    Percent,
    /// Misses per thousand instructions.
    PerThousand,
    /// Cycles, estimated.
    Cycles,
}

impl Unit {
    /// The name in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Unit::Percent => "percent",
            Unit::PerThousand => "per 1000 instructions",
            Unit::Cycles => "cycles",
        }
    }
}

/// The definition of a metric by the names of events.
struct Rule {
    name: &'static str,
    group: &'static str,
    unit: Unit,
    /// Events with their factors.
    sum: &'static [(i64, &'static str)],
    /// The events that the sum is divided by; none for a plain sum.
    of: &'static [&'static str],
    /// Number of events at the end of `sum` that a profile may lack: those of the branch
    /// predictors.
    optional: usize,
}

/// All rules, in the order of their columns. Rates are defined as in Cachegrind's summary: the miss
/// rate of LL is a share of all accesses, not of those that missed the level above.
const RULES: &[Rule] = &[
    rate("I1-miss", &[(1, "I1mr")], &["Ir"]),
    rate("LLi-miss", &[(1, "ILmr")], &["Ir"]),
    rate("D1r-miss", &[(1, "D1mr")], &["Dr"]),
    rate("D1w-miss", &[(1, "D1mw")], &["Dw"]),
    rate("D1-miss", &[(1, "D1mr"), (1, "D1mw")], &["Dr", "Dw"]),
    rate("LLd-miss", &[(1, "DLmr"), (1, "DLmw")], &["Dr", "Dw"]),
    rate("LL-miss", &[(1, "ILmr"), (1, "DLmr"), (1, "DLmw")], &["Ir", "Dr", "Dw"]),
    mpki("L1-MPKI", &[(1, "I1mr"), (1, "D1mr"), (1, "D1mw")]),
    mpki("LL-MPKI", &[(1, "ILmr"), (1, "DLmr"), (1, "DLmw")]),
    branches("Bc-miss", &[(1, "Bcm")], &["Bc"]),
    branches("Bi-miss", &[(1, "Bim")], &["Bi"]),
    branches("B-miss", &[(1, "Bcm"), (1, "Bim")], &["Bc", "Bi"]),
    mpki("B-MPKI", &[(1, "Bcm"), (1, "Bim")]),
    Rule {
        name: "CEst",
        group: "cycles",
        unit: Unit::Cycles,
        sum: &[
            (1, "Ir"),
            (10, "I1mr"),
            (10, "D1mr"),
            (10, "D1mw"),
            (100, "ILmr"),
            (100, "DLmr"),
            (100, "DLmw"),
            (10, "Bcm"),
            (10, "Bim"),
        ],
        of: &[],
        optional: 2,
    },
];

const fn rate(name: &'static str, sum: &'static [(i64, &'static str)], of: &'static [&'static str]) -> Rule {
    Rule { name, group: "rates", unit: Unit::Percent, sum, of, optional: 0 }
}

const fn branches(
    name: &'static str,
    sum: &'static [(i64, &'static str)],
    of: &'static [&'static str],
) -> Rule {
    Rule { name, group: "branches", unit: Unit::Percent, sum, of, optional: 0 }
}

const fn mpki(name: &'static str, sum: &'static [(i64, &'static str)]) -> Rule {
    Rule { name, group: "mpki", unit: Unit::PerThousand, sum, of: &["Ir"], optional: 0 }
}

/// A metric over the events of certain profiles.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    /// The name of the column.
    pub(crate) name: &'static str,
    /// The unit of the values.
    pub(crate) unit: Unit,
    /// The formula, with the names of events.
    pub(crate) formula: String,
    sum: Vec<(i64, usize)>,
    of: Vec<usize>,
}

/// A value of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    /// A share; none if the divisor is 0.
    Share(Option<f64>),
    /// A count.
    Count(i64),
}

impl Value {
    /// The plain number, as CSV has it; empty if there is none.
    pub(crate) fn plain(self) -> String {
        match self {
            Value::Count(count) => count.to_string(),
            Value::Share(Some(share)) => share.to_string(),
            Value::Share(None) => String::new(),
        }
    }
}

/// The reason why there is no such metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoMetric {
    /// No rule has the name.
    Unknown,
    /// An event is not recorded.
    Needs(&'static str),
}

/// The words that `--derive` takes, for messages.
pub(crate) fn known() -> String {
    let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    format!("all, rates, branches, mpki, cycles, {}", names.join(", "))
}

/// The metrics that the words name, each once, in the order of the rules; the case of letters does
/// not matter. `all` and the names of groups stand for all members whose events are recorded.
///
/// # Errors
/// The word, and the reason why there is no such metric.
pub(crate) fn choose(words: &[String], events: &[Vec<u8>]) -> Result<Vec<Metric>, (String, NoMetric)> {
    let mut wanted = vec![false; RULES.len()];
    for word in words {
        let mut found = Err(NoMetric::Unknown);
        for (rule, wanted) in RULES.iter().zip(&mut wanted) {
            let named = rule.name.eq_ignore_ascii_case(word);
            if named || rule.group.eq_ignore_ascii_case(word) || word.eq_ignore_ascii_case("all") {
                match rule.bind(events) {
                    Ok(_) => (*wanted, found) = (true, Ok(())),
                    Err(event) if found == Err(NoMetric::Unknown) => found = Err(NoMetric::Needs(event)),
                    Err(_) => {}
                }
            }
        }
        found.map_err(|why| (word.clone(), why))?;
    }
    let chosen = RULES.iter().zip(wanted).filter(|(_, wanted)| *wanted);
    Ok(chosen.filter_map(|(rule, _)| rule.bind(events).ok()).collect())
}

impl Rule {
    /// The metric over these events, or the first event that is missing.
    fn bind(&self, events: &[Vec<u8>]) -> Result<Metric, &'static str> {
        let place =
            |event: &'static str| events.iter().position(|name| name == event.as_bytes()).ok_or(event);
        let (needed, optional) = self.sum.split_at(self.sum.len().saturating_sub(self.optional));
        let mut terms = Vec::new();
        let mut sum = Vec::new();
        for (at, (factor, event)) in needed.iter().chain(optional).enumerate() {
            match place(event) {
                Ok(place) => sum.push((*factor, place)),
                Err(event) if at < needed.len() => return Err(event),
                Err(_) => continue,
            }
            terms.push(if *factor == 1 { (*event).to_owned() } else { format!("{factor} {event}") });
        }
        let of = self.of.iter().map(|event| place(event)).collect::<Result<Vec<_>, _>>()?;
        let together = |parts: &[String]| match parts {
            [one] => one.clone(),
            many => format!("({})", many.join(" + ")),
        };
        let whole: Vec<String> = self.of.iter().map(|event| (*event).to_owned()).collect();
        let formula = match self.unit {
            Unit::Percent => format!("100 * {} / {}", together(&terms), together(&whole)),
            Unit::PerThousand => format!("1000 * {} / {}", together(&terms), together(&whole)),
            Unit::Cycles => terms.join(" + "),
        };
        Ok(Metric { name: self.name, unit: self.unit, formula, sum, of })
    }
}

impl Metric {
    /// The value for counts of all recorded events.
    pub(crate) fn value(&self, counts: &[i64]) -> Value {
        let count = |at: usize| i128::from(counts.get(at).copied().unwrap_or(0));
        let sum: i128 = self.sum.iter().map(|(factor, at)| i128::from(*factor) * count(*at)).sum();
        let scale = match self.unit {
            Unit::Percent => 100,
            Unit::PerThousand => 1000,
            Unit::Cycles => {
                return Value::Count(i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX }));
            }
        };
        let of: i128 = self.of.iter().map(|at| count(*at)).sum();
        // Only rounding to the nearest double is lost.
        Value::Share((of != 0).then(|| (sum * scale) as f64 / of as f64))
    }

    /// True for an estimate, false for a value that follows from the counts.
    pub(crate) fn is_estimate(&self) -> bool {
        self.unit == Unit::Cycles
    }

    /// The text of a value: two digits after the point, or separated thousands.
    pub(crate) fn text(&self, counts: &[i64]) -> String {
        match self.value(counts) {
            Value::Share(None) => "n/a".to_owned(),
            Value::Share(Some(share)) if self.unit == Unit::Percent => format!("{share:.2}%"),
            Value::Share(Some(share)) => format!("{share:.2}"),
            Value::Count(count) => thousands(count),
        }
    }
}

/// The name with its formula; estimates are marked.
impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.formula)?;
        if self.is_estimate() { write!(f, " (an estimate, not measured)") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(names: &str) -> Vec<Vec<u8>> {
        names.split(' ').map(|name| name.as_bytes().to_vec()).collect()
    }

    fn choose_one(word: &str, names: &str) -> Metric {
        choose(&[word.to_owned()], &events(names)).expect(word).remove(0)
    }

    const ALL: &str = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim";
    const COUNTS: [i64; 13] = [1000, 4, 3, 200, 20, 10, 100, 7, 5, 150, 12, 50, 8];

    /// Worked by hand from the definitions in the Valgrind manual and in KCachegrind's event type
    /// list.
    #[test]
    fn values() {
        for (name, text) in [
            ("I1-miss", "0.40%"),
            ("LLi-miss", "0.30%"),
            ("D1r-miss", "10.00%"),
            ("D1w-miss", "7.00%"),
            ("D1-miss", "9.00%"),
            ("LLd-miss", "5.00%"),
            ("LL-miss", "1.38%"),
            ("L1-MPKI", "31.00"),
            ("LL-MPKI", "18.00"),
            ("Bc-miss", "8.00%"),
            ("Bi-miss", "16.00%"),
            ("B-miss", "10.00%"),
            ("B-MPKI", "20.00"),
            ("CEst", "3,310"),
        ] {
            assert_eq!(choose_one(name, ALL).text(&COUNTS), text, "{name}");
        }
    }

    #[test]
    fn formulas_are_shown() {
        assert_eq!(choose_one("d1-MISS", ALL).to_string(), "D1-miss = 100 * (D1mr + D1mw) / (Dr + Dw)");
        let cache = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw";
        assert_eq!(
            choose_one("cycles", cache).to_string(),
            "CEst = Ir + 10 I1mr + 10 D1mr + 10 D1mw + 100 ILmr + 100 DLmr + 100 DLmw (an estimate, not measured)"
        );
        assert!(choose_one("CEst", ALL).formula.ends_with(" + 10 Bcm + 10 Bim"));
    }

    #[test]
    fn groups_take_what_there_is() {
        let names = |words: &[&str], recorded: &str| {
            let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            let chosen = choose(&words, &events(recorded));
            chosen.map(|chosen| chosen.iter().map(|m| m.name).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(names(&["all"], ALL).expect("all").split(' ').count(), RULES.len());
        assert_eq!(names(&["all"], "Ir Bc Bcm Bi Bim").expect("some"), "Bc-miss Bi-miss B-miss B-MPKI");
        assert_eq!(names(&["LL-MPKI", "I1-miss", "LL-MPKI"], ALL).expect("two"), "I1-miss LL-MPKI");
        assert_eq!(names(&["rates"], "Ir"), Err(("rates".to_owned(), NoMetric::Needs("I1mr"))));
        assert_eq!(names(&["B-miss"], "Ir Bc Bcm"), Err(("B-miss".to_owned(), NoMetric::Needs("Bim"))));
        assert_eq!(names(&["I1-miss", "x"], ALL), Err(("x".to_owned(), NoMetric::Unknown)));
    }

    #[test]
    fn extremes() {
        let metric = choose_one("I1-miss", "Ir I1mr");
        assert_eq!(metric.text(&[0, 5]), "n/a");
        assert_eq!(metric.value(&[i64::MAX, i64::MAX]), Value::Share(Some(100.0)));
        let metric = choose_one("CEst", ALL);
        assert_eq!(metric.value(&[i64::MAX; 13]), Value::Count(i64::MAX));
        assert_eq!(metric.value(&[i64::MIN; 13]), Value::Count(i64::MIN));
    }
}
