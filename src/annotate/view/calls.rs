//! Calls of a run that is still in memory, with the numbers that a reader of its file would show.

use std::collections::BTreeMap;

use super::ranking::Counted;
use crate::annotate::intake::Reading;
use crate::annotate::tally::{Pair, Refused, Renaming, Tally};
use crate::profile::{CallGraph, CallgrindForm, CallgrindPart, Event, EventSet, add_costs, write_callgrind};

/// The form that is read back, here and at once.
const FORM: CallgrindForm =
    CallgrindForm { instructions: false, lines: true, compress_names: true, compress_positions: false };

/// The end of calls that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Functions that call.
    Callers,
    /// Functions that are called.
    Called,
}

/// The call at one end of calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    /// The function at that end.
    pub(crate) function: String,
    /// The one at the other end, which was asked for, with its level of recursion and callers.
    pub(crate) of: String,
    /// Its place among functions of this name.
    pair: (Pair, Pair),
    /// The number of calls.
    pub(crate) calls: i64,
}

/// The call graph of a run that goes on.
#[derive(Debug)]
pub(crate) struct CallsSoFar {
    tally: Tally,
    events: Vec<Event>,
    /// Index of each event in the tally.
    columns: Vec<usize>,
}

impl CallsSoFar {
    /// Sums a call graph up.
    ///
    /// # Errors
    /// If a sum becomes too large.
    pub(crate) fn of(graph: &CallGraph) -> Result<CallsSoFar, Refused> {
        let mut file = Vec::new();
        let part = CallgrindPart { pid: 0, thread: None, number: 1, begins: true };
        // Memory takes all.
        let _ = write_callgrind(graph, FORM, part, &mut file);
        let mut tally = Tally::default();
        let reading = Reading { renaming: &Renaming::default(), inclusive: true, calls: true };
        tally.add(file.as_slice(), "the call graph", reading)?;
        let events: Vec<Event> = EventSet::iter(graph.events).collect();
        let column = |event: &Event| tally.events.iter().position(|name| name == event.name().as_bytes());
        let columns = events.iter().filter_map(column).collect();
        Ok(CallsSoFar { tally, events, columns })
    }

    /// Functions with the costs of those they call; those of the same name in several files apart.
    pub(crate) fn inclusive(&self) -> Counted<(String, Pair)> {
        let rows = self.tally.inclusive.iter();
        let sums = rows.map(|(pair, row)| ((self.name(*pair), *pair), self.counts(self.tally.costs(*row))));
        self.counted(self.counts(&self.tally.total), sums.collect())
    }

    /// Calls to a function or from it, and what they cost in all. What is told apart of a function
    /// by levels of recursion and callers has its name with `'` and more behind it.
    pub(crate) fn around(&self, name: &str, end: End) -> Counted<Call> {
        let mut total = vec![0; self.events.len()];
        let mut sums = BTreeMap::new();
        for ((from, to), sum) in &self.tally.calls {
            let (at, of) = match end {
                End::Callers => (from, to),
                End::Called => (to, from),
            };
            let of_name = self.name(*of);
            if is_of(&of_name, name) {
                let counts = self.counts(self.tally.costs(sum.row));
                add_costs(&mut total, &counts);
                let call = Call { function: self.name(*at), of: of_name, pair: (*at, *of), calls: sum.calls };
                sums.insert(call, counts);
            }
        }
        self.counted(total, sums)
    }

    /// True if the function has been executed, or called something.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.names().any(|known| is_of(&known, name))
    }

    /// Names of all functions.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.tally.inclusive.keys().map(|pair| self.name(*pair))
    }

    fn counted<K: Ord>(&self, total: Vec<i64>, sums: BTreeMap<K, Vec<i64>>) -> Counted<K> {
        Counted { events: self.events.clone(), total, sums }
    }

    fn name(&self, (_, function): Pair) -> String {
        String::from_utf8_lossy(self.tally.functions.text(function)).into_owned()
    }

    /// Counts in the order of the events.
    fn counts(&self, counts: &[i64]) -> Vec<i64> {
        self.columns.iter().map(|at| counts.get(*at).copied().unwrap_or(0)).collect()
    }
}

/// True if `full` is the function `name`, or what is told apart of it.
fn is_of(full: &str, name: &str) -> bool {
    full.strip_prefix(name).is_some_and(|more| more.is_empty() || more.starts_with('\''))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Calls, CodePosition, Costs};

    #[test]
    fn names_with_levels_and_callers() {
        for (full, is) in [("f", true), ("f'2", true), ("f'main", true), ("fg", false), ("", false)] {
            assert_eq!(is_of(full, "f"), is, "{full}");
        }
    }

    #[test]
    fn calls_of_a_graph() {
        let mut graph = CallGraph::new(b"./a", &[], EventSet::default());
        let ir = |count| {
            let mut costs = Costs::ZERO;
            costs[Event::Ir] = count;
            costs
        };
        let file = graph.name("a.c");
        let [main, f] = ["main", "f"].map(|name| {
            let name = graph.name(name);
            graph.function(file, file, name)
        });
        let place = CodePosition { file, address: 0, line: 1 };
        graph.spend(main, place, &ir(5));
        graph.spend(f, place, &ir(7));
        graph.call((main, place), (f, place), &Calls { count: 3, costs: ir(7) });
        let calls = CallsSoFar::of(&graph).expect("small sums");
        let inclusive = calls.inclusive();
        let counts: Vec<_> = inclusive.sums.iter().map(|((name, _), counts)| (&**name, counts[0])).collect();
        assert_eq!((counts, &inclusive.total[..]), (vec![("f", 7), ("main", 12)], &[12][..]));
        let callers = calls.around("f", End::Callers);
        let (call, counts) = callers.sums.first_key_value().expect("a call");
        assert_eq!((&*call.function, &*call.of, call.calls, &counts[..]), ("main", "f", 3, &[7][..]));
        assert!(calls.around("f", End::Called).sums.is_empty() && calls.knows("f") && !calls.knows("g"));
    }
}
