//! `cgemu top`: rankings of functions, files and lines.

use std::io::Write;

use super::error::AnnotateError;
use super::input::{chosen_events, metrics, read_profiles};
use super::options::{Format, TopOptions};
use super::render::report::{Report, Subject};
use super::render::terminal::TopTable;
use super::view::metric::Metric;
use super::view::ranking::{Order, Sign, Threshold, rank, tally_rows};
use crate::console::Console;

/// Reads the profiles and writes the ranking.
///
/// # Errors
/// If a profile cannot be read or is malformed, if the profiles do not fit together, if there is no
/// such event or metric, or if writing fails. Nothing is written before the profiles are read.
pub(crate) fn top(options: &TopOptions, out: &mut Console<impl Write>) -> Result<(), AnnotateError> {
    let (tally, profiles) = read_profiles(&options.input)?;
    let events = &tally.events;
    let mut derive = options.derive.clone();
    let index = |name: &String| events.iter().position(|event| event == name.as_bytes());
    let by_event = options.sort.as_ref().is_none_or(|name| index(name).is_some());
    derive.extend(options.sort.iter().filter(|_| !by_event).cloned());
    let metrics = match metrics(&derive, events) {
        Err(_) if !by_event && options.derive.is_empty() => {
            // The only word names neither an event nor a metric: the message lists the events.
            chosen_events(events, options.sort.clone().map(|name| vec![name]).as_deref(), "--sort")?;
            Vec::new()
        }
        metrics => metrics?,
    };
    let named = |metric: &&Metric| options.sort.as_ref().is_some_and(|n| metric.name.eq_ignore_ascii_case(n));
    let first = metrics.iter().find(named).filter(|_| !by_event);
    let asked = options.sort.clone().filter(|_| by_event).map(|name| vec![name]);
    let mut sort = chosen_events(events, asked.as_deref(), "--sort")?;
    let show = match &options.show {
        Some(show) => chosen_events(events, Some(show), "--show")?,
        None => sort.first().copied().into_iter().collect(),
    };
    // Where the counts are equal, the other events decide.
    let others: Vec<usize> = (0..events.len()).filter(|at| !sort.contains(at)).collect();
    sort.extend(others);
    let order = Order { first, sort: &sort, sign: Sign::Ignored };
    let input = &options.input;
    if options.format != Format::Text {
        let (tally, profiles, metrics) = (&tally, &profiles, &metrics);
        let threshold = Threshold::new(&order, &tally.total, 0.0);
        let subject = Subject { tally, profiles, input, metrics, order, percent: 0.0, threshold };
        return Report::new(&subject, &[options.by], options.count).write(options.format, out);
    }
    let rows = tally_rows(&tally, options.by, input.inclusive);
    let ranking = rank(rows, &order, |_| true, options.count);
    let (by, inclusive) = (options.by, input.inclusive);
    let table = TopTable { tally: &tally, by, inclusive, show: &show, metrics: &metrics };
    table.write(&ranking, options.look, out)?;
    out.flush()?;
    Ok(())
}
