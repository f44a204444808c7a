//! The totals as Valgrind 3.19 prints them when the program ends.
//!
//! Column widths follow the largest counts; a longer number widens its own line only. Zero
//! denominators are replaced by 1, and where branches are shown that 1 shows too. Percentages are
//! rounded by Valgrind's own printf, which rounds halves down.

use super::event::Event;
use super::model::Profile;

/// Misses of three kinds of access beside the accesses: all, reads (or conditional), writes (or
/// indirect).
type Three = [u64; 3];

/// The totals of `profile` as Callgrind prints them ahead of the summary, as [`summary_lines`] has
/// its lines.
#[must_use]
pub fn callgrind_totals(profile: &Profile) -> Vec<String> {
    let total = profile.total();
    let (names, counts): (Vec<&str>, Vec<String>) =
        profile.events().in_callgrinds_order().map(|event| (event.name(), total[event].to_string())).unzip();
    let lines = [("Events   ", names.join(" ")), ("Collected", counts.join(" "))];
    lines.into_iter().map(|(key, values)| format!("{key} : {values}")).chain([String::new()]).collect()
}

/// The summary of `profile`, one string per line without the `==PID== ` in front; empty strings are
/// the empty lines between its parts. The empty line that Valgrind puts before the summary is not
/// included.
#[must_use]
pub fn summary_lines(profile: &Profile) -> Vec<String> {
    let total = profile.total();
    let count = |event: Event| total[event];
    let layout = Layout {
        widths: [
            grouped(count(Event::Ir)).len(),
            grouped(count(Event::Dr).max(count(Event::Bc))).len(),
            grouped(count(Event::Dw).max(count(Event::Bi))).len(),
        ],
    };
    let ir = count(Event::Ir);
    let mut lines = vec![layout.one("I   refs:", ir)];
    if profile.events().cache {
        let (i1, il) = (count(Event::I1mr), count(Event::ILmr));
        let data = |read, write| with_sum(count(read), count(write));
        let refs = data(Event::Dr, Event::Dw);
        let d1 = data(Event::D1mr, Event::D1mw);
        let dl = data(Event::DLmr, Event::DLmw);
        // The last level serves fetches too; they are reads.
        let fetched = |[all, read, write]: Three, misses: u64| [add(all, misses), add(read, misses), write];
        let ir_or_1 = ir.max(1);
        let refs_or_1 = refs.map(|n| n.max(1));
        lines.extend([
            layout.one("I1  misses:", i1),
            layout.one("LLi misses:", il),
            layout.one_rate("I1  miss rate:", i1, ir_or_1),
            layout.one_rate("LLi miss rate:", il, ir_or_1),
            String::new(),
            layout.three("D   refs:", refs, ["rd  ", "wr"]),
            layout.three("D1  misses:", d1, ["rd  ", "wr"]),
            layout.three("LLd misses:", dl, ["rd  ", "wr"]),
            layout.three_rates("D1  miss rate:", d1, refs_or_1, "  "),
            layout.three_rates("LLd miss rate:", dl, refs_or_1, "  "),
            String::new(),
            layout.three("LL refs:", fetched(d1, i1), ["rd  ", "wr"]),
            layout.three("LL misses:", fetched(dl, il), ["rd  ", "wr"]),
            layout.three_rates("LL miss rate:", fetched(dl, il), fetched(refs_or_1, ir_or_1), "  "),
        ]);
    }
    if profile.events().branch {
        let branches = with_sum(count(Event::Bc).max(1), count(Event::Bi).max(1));
        let missed = with_sum(count(Event::Bcm), count(Event::Bim));
        lines.extend([
            String::new(),
            layout.three("Branches:", branches, ["cond", "ind"]),
            layout.three("Mispredicts:", missed, ["cond", "ind"]),
            layout.three_rates("Mispred rate:", missed, branches, "   "),
        ]);
    }
    lines
}

/// The widths of the three columns of numbers.
struct Layout {
    widths: [usize; 3],
}

impl Layout {
    fn one(&self, label: &str, n: u64) -> String {
        format!("{label:14} {:>w$}", grouped(n), w = self.widths[0])
    }

    fn one_rate(&self, label: &str, part: u64, whole: u64) -> String {
        format!("{label:14} {:>w$}%", percent(part, whole, 2), w = self.widths[0])
    }

    fn three(&self, label: &str, numbers: Three, units: [&str; 2]) -> String {
        let [a, b, c] = numbers.map(grouped);
        let [wa, wb, wc] = self.widths;
        format!("{label:14} {a:>wa$}  ({b:>wb$} {} + {c:>wc$} {})", units[0], units[1])
    }

    /// `end` is what Valgrind leaves before the bracket: the width of the unit in the lines above.
    fn three_rates(&self, label: &str, parts: Three, wholes: Three, end: &str) -> String {
        let rate = |i: usize| percent(parts[i], wholes[i], 1);
        let (a, b, c) = (rate(0), rate(1), rate(2));
        let [wa, wb, wc] = self.widths;
        format!("{label:14} {a:>wa$}% ({b:>wb$}%     + {c:>wc$}%{end})")
    }
}

fn with_sum(a: u64, b: u64) -> Three {
    [add(a, b), a, b]
}

fn add(a: u64, b: u64) -> u64 {
    a.saturating_add(b)
}

/// A number with commas between thousands.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `part` of `whole` (not 0) in percent, with `digits` decimals, in Valgrind's arithmetic: double
/// precision; the scaled fraction is cut and goes up by one only if what was cut is more than a
/// half.
fn percent(part: u64, whole: u64, digits: usize) -> String {
    let value = part as f64 * 100.0 / whole as f64;
    let mut integer = value as u64;
    let factor = 10_f64.powi(i32::try_from(digits).unwrap_or(i32::MAX));
    let scaled = (value - integer as f64) * factor;
    let mut fraction = scaled as u64;
    if scaled - fraction as f64 > 0.5 {
        fraction += 1;
    }
    if fraction as f64 >= factor {
        fraction = 0;
        integer = integer.saturating_add(1);
    }
    format!("{integer}.{fraction:0digits$}")
}

#[cfg(test)]
mod tests;
