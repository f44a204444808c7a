//! The events of a file: those that cost lines count, in their order, then those that `event:`
//! lines derive.

use super::error::Problem;
use super::number::{any_count, counts, words};

/// Recorded and derived events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Events {
    recorded: Vec<Vec<u8>>,
    derived: Vec<(Vec<u8>, Terms)>,
}

/// A sum of recorded events, each by its place and with a factor.
type Terms = Vec<(usize, i64)>;

/// An `event:` line: a name, perhaps with a formula, perhaps with a long name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The short name.
    pub name: Vec<u8>,
    /// The formula, as written.
    pub formula: Option<Vec<u8>>,
    /// The long name.
    pub title: Option<Vec<u8>>,
}

impl Definition {
    /// Reads what follows `event:`. None if there is no name.
    pub fn parse(text: &[u8]) -> Option<Definition> {
        let (left, title) = split(text, b':');
        let (name, formula) = split(left, b'=');
        let owned = |text: Option<&[u8]>| text.map(<[u8]>::trim_ascii).map(<[u8]>::to_vec);
        let name = name.trim_ascii();
        (!name.is_empty()).then(|| Definition {
            name: name.to_vec(),
            formula: owned(formula),
            title: owned(title),
        })
    }
}

impl Events {
    /// Those of an `events:` line.
    pub(crate) fn new(text: &[u8]) -> Events {
        Events { recorded: words(text).map(<[u8]>::to_vec).collect(), derived: Vec::new() }
    }

    /// The largest number of counts of a cost line.
    pub(crate) fn recorded(&self) -> usize {
        self.recorded.len()
    }

    /// All names, recorded ones first.
    pub(crate) fn names(&self) -> Vec<Vec<u8>> {
        self.recorded.iter().chain(self.derived.iter().map(|(name, _)| name)).cloned().collect()
    }

    /// Adds the events with a formula, in their order. A formula may name events that are defined
    /// later. One that names an event that is neither recorded nor derived is left out, as
    /// KCachegrind does; so is one that depends on itself, and one of a name that is recorded.
    pub(crate) fn derive(&mut self, definitions: &[Definition]) {
        let mut open: Vec<&Definition> = Vec::new();
        for definition in definitions.iter().filter(|d| d.formula.is_some()) {
            let known = |name: &[u8]| self.recorded.iter().any(|r| r == name);
            if !known(&definition.name) && !open.iter().any(|o| o.name == definition.name) {
                open.push(definition);
            }
        }
        let order: Vec<&[u8]> = open.iter().map(|d| d.name.as_slice()).collect();
        // Each round resolves those whose parts are all known; what is left at the end cannot be.
        loop {
            let before = open.len();
            open.retain(|definition| {
                let terms = definition.formula.as_deref().and_then(|formula| self.terms(formula));
                terms.map(|terms| self.derived.push((definition.name.clone(), terms))).is_none()
            });
            if open.len() == before {
                break;
            }
        }
        self.derived.sort_by_key(|(name, _)| order.iter().position(|other| other == name));
    }

    /// A formula as factors of recorded events; none if it names others or makes no sense.
    fn terms(&self, formula: &[u8]) -> Option<Terms> {
        let mut sum: Terms = Vec::new();
        for term in formula.split(|c| *c == b'+') {
            let (factor, name) = factor(term.trim_ascii())?;
            let mut add = |at: usize, times: i64| {
                let times = times.checked_mul(factor)?;
                match sum.iter_mut().find(|(other, _)| *other == at) {
                    Some((_, total)) => *total = total.checked_add(times)?,
                    None => sum.push((at, times)),
                }
                Some(())
            };
            if let Some(at) = self.recorded.iter().position(|r| r == name) {
                add(at, 1)?;
            } else {
                let (_, parts) = self.derived.iter().find(|(other, _)| other == name)?;
                parts.iter().try_for_each(|(at, times)| add(*at, *times))?;
            }
        }
        Some(sum)
    }

    /// Reads the counts of a `summary:` or `totals:` line and computes the derived ones.
    ///
    /// # Errors
    /// Those of [`counts`] and [`Events::complete`].
    pub(crate) fn sums(&self, text: &[u8]) -> Result<Vec<i64>, Problem> {
        let mut sums = vec![0; self.recorded.len() + self.derived.len()];
        counts(text, sums.get_mut(..self.recorded.len()).unwrap_or_default(), any_count)?;
        self.complete(&mut sums)?;
        Ok(sums)
    }

    /// Computes the derived events of `counts`, which has room for all of them behind the recorded
    /// ones.
    ///
    /// # Errors
    /// [`Problem::TooLarge`] if one does not fit.
    pub(crate) fn complete(&self, counts: &mut [i64]) -> Result<(), Problem> {
        if self.derived.is_empty() {
            return Ok(());
        }
        let (recorded, derived) = counts.split_at_mut(self.recorded.len().min(counts.len()));
        for (slot, (_, terms)) in derived.iter_mut().zip(&self.derived) {
            *slot = 0;
            for (at, factor) in terms {
                let count = recorded.get(*at).copied().unwrap_or(0);
                let part = count.checked_mul(*factor).ok_or(Problem::TooLarge)?;
                *slot = slot.checked_add(part).ok_or(Problem::TooLarge)?;
            }
        }
        Ok(())
    }
}

/// `Name`, `Number Name` or `Number * Name`.
fn factor(term: &[u8]) -> Option<(i64, &[u8])> {
    let digits = term.iter().take_while(|c| c.is_ascii_digit()).count();
    let (number, rest) = term.split_at_checked(digits)?;
    let factor = if number.is_empty() { 1 } else { str::from_utf8(number).ok()?.parse().ok()? };
    let rest = rest.trim_ascii_start();
    let name = match rest.strip_prefix(b"*") {
        Some(name) if !number.is_empty() => name.trim_ascii_start(),
        _ => rest,
    };
    (!name.is_empty()).then_some((factor, name))
}

fn split(text: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|c| *c == at) {
        Some(place) => (text.get(..place).unwrap_or_default(), text.get(place + 1..)),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(recorded: &str, lines: &[&str]) -> Events {
        let mut events = Events::new(recorded.as_bytes());
        let definitions: Vec<_> = lines.iter().filter_map(|l| Definition::parse(l.as_bytes())).collect();
        events.derive(&definitions);
        events
    }

    fn names(events: &Events) -> String {
        String::from_utf8_lossy(&events.names().join(&b' ')).into_owned()
    }

    #[test]
    fn definitions() {
        let line = Definition::parse(b" Ir : Instruction Fetches").expect("a name");
        assert_eq!(
            (&*line.name, line.formula, line.title),
            (&b"Ir"[..], None, Some(b"Instruction Fetches".to_vec()))
        );
        let line = Definition::parse(b"Sum = Ir + 2 Dr:a: b").expect("a name");
        assert_eq!(line.formula.as_deref(), Some(&b"Ir + 2 Dr"[..]));
        assert_eq!(line.title.as_deref(), Some(&b"a: b"[..]));
        assert_eq!(Definition::parse(b" = Ir"), None);
    }

    #[test]
    fn formulas() {
        let events =
            events("Ir Bcm Bim", &["CEst = Ir + 10 Bm", "Bm = Bcm+Bim", "T = 2*Ir + 3 * Ir", "Ir = Bcm"]);
        assert_eq!(names(&events), "Ir Bcm Bim CEst Bm T");
        let mut counts = [100, 3, 4, 9, 9, 9];
        events.complete(&mut counts).expect("fits");
        assert_eq!(counts, [100, 3, 4, 170, 7, 500]);
        let mut counts = [i64::MAX, 0, 0, 0, 0, 0];
        assert!(events.complete(&mut counts).is_err());
    }

    #[test]
    fn formulas_that_cannot_be_computed() {
        let events = events(
            "Ir",
            &["A = Xx", "B = B + Ir", "C = D", "D = C", "E = ", "F = 2", "G = Ir + + Ir", "H = Ir"],
        );
        assert_eq!(names(&events), "Ir H");
    }
}
