//! Commands about calls and what they cost, where calls are followed.

use std::collections::BTreeSet;

use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::render::terminal;
use crate::annotate::view::calls::{CallsSoFar, End};
use crate::debugger::suggest::nearest;
use crate::profile::{Event, grouped};
use crate::session::Whose;

impl Shell {
    pub(super) fn callers(&mut self, rest: &str) -> Reply {
        self.calls_around(rest, End::Callers)
    }

    pub(super) fn callees(&mut self, rest: &str) -> Reply {
        self.calls_around(rest, End::Called)
    }

    fn calls_around(&mut self, rest: &str, end: End) -> Reply {
        let (rest, whose) = self.whose(rest)?;
        let (name, event) = match rest.rsplit_once(" by ") {
            Some((name, event)) if !event.contains(' ') => (name.trim(), self.event(event)?),
            _ => (rest, Event::Ir),
        };
        let name = match name.is_empty() {
            false => name.to_owned(),
            true => match self.debugger.selected().and_then(|frame| frame.function) {
                Some(function) => function,
                None => return Err("no function here; name one: `callers main`".into()),
            },
        };
        let calls = self.calls(whose)?;
        self.say_whose(whose);
        let around = calls.around(&name, end);
        if around.sums.is_empty() {
            if !calls.knows(&name) {
                let nearest = nearest(&name, calls.names().collect::<BTreeSet<_>>());
                return Err(Error::NothingCounted { name, nearest });
            }
            let text = match end {
                End::Callers => format!("no call of {name} cost anything so far"),
                End::Called => format!("{name} called nothing so far that cost anything"),
            };
            self.say(&text);
            return Ok(());
        }
        let top = around.top(event, usize::MAX, true);
        let rows = top.rows.iter().map(|row| {
            let number = grouped(row.key.calls.unsigned_abs());
            let of = match (end, row.key.of == name) {
                (_, true) => String::new(),
                (End::Callers, _) => format!(" to {}", row.key.of),
                (End::Called, _) => format!(" from {}", row.key.of),
            };
            (format!("{} ({number}x){of}", row.key.function), &*row.counts)
        });
        let text = terminal::ranking(&around, event, rows);
        self.say(&text);
        Ok(())
    }

    /// Lists functions by what they cost with those they call.
    pub(super) fn top_inclusive(&mut self, whose: Whose, event: Event, count: usize) -> Reply {
        let calls = self.calls(whose)?;
        self.say_whose(whose);
        let counted = calls.inclusive();
        let top = counted.top(event, count, false);
        let rows = top.rows.iter().map(|row| (row.key.0.clone(), &*row.counts));
        let text = terminal::ranking(&counted, event, rows);
        self.say(&text);
        Ok(())
    }

    /// The calls so far.
    fn calls(&mut self, whose: Whose) -> Result<CallsSoFar, Error> {
        let folded = self.debugger.profile_with_calls(whose)?;
        let graph = folded.calls.ok_or("calls are not followed; begin with --callgraph=yes")?;
        Ok(CallsSoFar::of(&graph).map_err(|_| "the costs of the calls are too large to be added up")?)
    }
}
