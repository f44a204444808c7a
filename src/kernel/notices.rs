//! Lines for the log, each said once. A program can make as many as it likes, so those that hold
//! something of its choice are few of each kind, and counted.

use std::collections::BTreeMap;
use std::ops::Range;

/// Lines of one kind that are kept; of the others only the number is.
const MOST_OF_A_KIND: usize = 16;

/// Lines for the user, in order.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    lines: Vec<Line>,
    /// Places of the lines.
    places: BTreeMap<String, usize>,
    kinds: BTreeMap<&'static str, Kind>,
    /// Lines that were there when they were looked at last.
    seen: usize,
}

#[derive(Clone, Debug)]
struct Line {
    text: String,
    /// Times that it was said, where that is told.
    times: Option<u64>,
    /// The number of the place in the program that it is about.
    place: Option<usize>,
}

/// Lines that begin alike and go on with what the program chose.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    kept: usize,
    /// Times that one was said that is not kept.
    others: u64,
}

impl Notices {
    /// Adds a line unless it was said before.
    pub fn once(&mut self, line: String) {
        if !self.places.contains_key(&line) {
            self.places.insert(line.clone(), self.lines.len());
            self.lines.push(Line { text: line, times: None, place: None });
        }
    }

    /// Adds a line that begins with `kind`, or counts it if it was said before.
    pub fn count(&mut self, kind: &'static str, rest: &str) {
        let text = format!("{kind}{rest}");
        self.count_as(kind, text.clone(), text);
    }

    /// Adds a line about the instruction at `pc`, which is to get its place, or counts it if it was
    /// said before.
    pub(crate) fn count_at(&mut self, kind: &'static str, pc: u64) {
        self.count_as(kind, format!("{kind} (at {pc:#x})"), kind.to_owned());
    }

    fn count_as(&mut self, kind: &'static str, key: String, text: String) {
        if let Some(line) = self.places.get(&key).and_then(|place| self.lines.get_mut(*place)) {
            line.times = line.times.map(|times| times + 1);
            return;
        }
        let known = self.kinds.entry(kind).or_default();
        if known.kept == MOST_OF_A_KIND {
            known.others += 1;
            return;
        }
        known.kept += 1;
        self.places.insert(key, self.lines.len());
        self.lines.push(Line { text, times: Some(1), place: None });
    }

    /// The lines that were added since the last time, by their numbers.
    pub(crate) fn take_fresh(&mut self) -> Range<usize> {
        std::mem::replace(&mut self.seen, self.lines.len())..self.lines.len()
    }

    /// Notes the number of the place in the program that some lines are about.
    pub(crate) fn set_place(&mut self, lines: Range<usize>, place: usize) {
        for line in self.lines.get_mut(lines).unwrap_or_default() {
            line.place = Some(place);
        }
    }

    /// The lines, in the order in which they were added, with the number of times that those were
    /// said that are counted, and the place as `place` words it; then the kinds of which some are
    /// missing.
    pub fn lines(&self, mut place: impl FnMut(usize) -> Option<String>) -> Vec<String> {
        let lines = self.lines.iter().map(|line| {
            let at = line.place.and_then(&mut place);
            match (line.times, at) {
                (None | Some(1), None) => line.text.clone(),
                (None | Some(1), Some(at)) => format!("{}, at {at}", line.text),
                (Some(times), None) => format!("{} ({times} times)", line.text),
                (Some(times), Some(at)) => format!("{} ({times} times), first at {at}", line.text),
            }
        });
        let others = self.kinds.iter().filter(|(_, kind)| kind.others > 0);
        let others =
            others.map(|(kind, Kind { others, .. })| format!("{kind}..., {others} more with other values"));
        lines.chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_cannot_fill_the_log() {
        let mut notices = Notices::default();
        notices.once("first".into());
        for number in 0..60_000 {
            notices.count("unknown call ", &number.to_string());
            notices.once("first".into());
        }
        notices.count("unknown call ", "3");
        let fresh = notices.take_fresh();
        notices.set_place(fresh.start + 3..fresh.start + 5, 7);
        notices.once("last".into());
        assert_eq!(notices.take_fresh().len(), 1);
        for pc in [8, 16, 8] {
            let mut apart = Notices::default();
            apart.count_at("odd instruction", 8);
            apart.take_fresh();
            apart.count_at("odd instruction", pc);
            let fresh = apart.take_fresh();
            assert_eq!(fresh.len(), usize::from(pc == 16));
            apart.set_place(fresh, 3);
            let last = apart.lines(|place| Some(format!("place {place}"))).pop().expect("a line");
            assert_eq!(
                last,
                if pc == 16 { "odd instruction, at place 3" } else { "odd instruction (2 times)" }
            );
        }
        let lines = notices.lines(|place| Some(format!("place {place}")));
        assert_eq!(lines.len(), 1 + MOST_OF_A_KIND + 1 + 1);
        assert_eq!(lines[..2], ["first", "unknown call 0"]);
        assert_eq!(lines[3], "unknown call 2, at place 7");
        assert_eq!(lines[4], "unknown call 3 (2 times), first at place 7");
        assert_eq!(lines[MOST_OF_A_KIND + 1..], ["last", "unknown call ..., 59984 more with other values"]);
    }
}
