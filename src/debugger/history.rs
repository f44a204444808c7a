//! The past of a run: checkpoints from which any earlier moment can be reached again. A moment is
//! the number of instructions executed until then.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::error::Error;
use crate::session::{Saved, Session};

/// Checkpoints kept beside those with names. The newer they are, the closer they lie.
const KEPT: usize = 48;

/// Bytes that call graphs may take in them.
const MOST_CALL_BYTES: u64 = 256 << 20;

/// Instructions between two checkpoints, at least: what can be done again without being noticed.
const CLOSEST: u64 = 10_000_000;

/// The share of the time that making checkpoints may take. What runs after one is slower for a
/// while, as pages are copied on the first store and caches of translations are empty, which costs
/// as much again.
const SHARE: f64 = 0.01;

/// A point in the life of a task: its id, the address of its next instruction, and the number of
/// those that it has executed. Other tasks may run before it goes on.
pub(super) type Point = (i32, u64, u64);

/// A checkpoint.
struct Kept {
    saved: Saved,
    /// The user changed here what is counted; what came before does not lead to what is after.
    turned: bool,
}

/// A checkpoint with a name.
struct Named {
    saved: Saved,
    /// Changes of what is counted on the way there.
    turns: Vec<Turn>,
    /// Point at which the run had stopped at breakpoints then.
    considered: Option<Point>,
}

/// A change of what is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    moment: u64,
    number: u64,
}

/// The checkpoints of a run.
#[derive(Default)]
pub(super) struct History {
    points: BTreeMap<u64, Kept>,
    named: BTreeMap<String, Named>,
    /// Changes of what is counted on the way here.
    turns: Vec<Turn>,
    /// The number of the last change.
    last_turn: u64,
    /// The moment of the next one.
    due: u64,
    /// Time at which the run was resumed, and its moment then.
    resumed: Option<(Instant, u64)>,
    /// Time that the last one took.
    cost: Duration,
}

impl History {
    /// The moment of the next checkpoint.
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// Number of the last change of what is counted on the way here.
    pub(super) fn way(&self) -> u64 {
        self.turns.last().map_or(0, |turn| turn.number)
    }

    /// The run goes on at `now`.
    pub(super) fn resume(&mut self, now: u64) {
        self.resumed = Some((Instant::now(), now));
        self.due = self.due.max(now);
    }

    /// Makes a checkpoint if one is due, and arranges for the next.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn pass(&mut self, session: &mut Session) -> Result<(), Error> {
        let now = session.instructions();
        if now < self.due {
            return Ok(());
        }
        self.keep(session, false)?;
        let speed = match self.resumed {
            Some((since, then)) if now > then => {
                (now - then) as f64 / since.elapsed().as_secs_f64().max(1e-6)
            }
            _ => 0.0,
        };
        let spacing = (self.cost.as_secs_f64() / SHARE * speed) as u64;
        self.due = now.saturating_add(spacing.max(CLOSEST));
        Ok(())
    }

    /// Makes a checkpoint now. With `turned` no earlier one leads to what comes now.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn keep(&mut self, session: &mut Session, turned: bool) -> Result<(), Error> {
        let begin = Instant::now();
        let saved = session.save()?;
        let now = saved.instructions();
        if turned {
            self.forget_from(session, now);
            self.last_turn += 1;
            self.turns.push(Turn { moment: now, number: self.last_turn });
        }
        if let Some(old) = self.points.insert(now, Kept { saved, turned }) {
            session.forget(old.saved);
        }
        self.cost = begin.elapsed();
        self.thin(session, now);
        Ok(())
    }

    /// Gives up those that lie closest together for their age.
    fn thin(&mut self, session: &mut Session, now: u64) {
        let bytes =
            |points: &BTreeMap<u64, Kept>| points.values().map(|point| point.saved.call_bytes()).sum::<u64>();
        while self.points.len() > KEPT || bytes(&self.points) > MOST_CALL_BYTES {
            let moments: Vec<(u64, bool)> =
                self.points.iter().map(|(&at, point)| (at, point.turned)).collect();
            let worst = moments
                .windows(3)
                .filter(|around| !around[1].1)
                .map(|around| {
                    let gap = (around[2].0 - around[0].0) as f64;
                    (gap / (now.saturating_sub(around[1].0) + CLOSEST) as f64, around[1].0)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some(point) = worst.and_then(|(_, at)| self.points.remove(&at)) else { return };
            session.forget(point.saved);
        }
    }

    fn forget_from(&mut self, session: &mut Session, moment: u64) {
        for (_, point) in self.points.split_off(&moment) {
            session.forget(point.saved);
        }
    }

    /// Takes the run back to the last checkpoint at or before `moment`; false if there is none.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn go_back(&mut self, session: &mut Session, moment: u64) -> Result<bool, Error> {
        let point = self.points.range(..=moment).next_back().map(|(_, point)| &point.saved);
        let nearest =
            point.into_iter().chain(self.named_until(moment)).max_by_key(|saved| saved.instructions());
        let Some(saved) = nearest else { return Ok(false) };
        session.check_reversible()?;
        session.restore(saved)?;
        // What was changed later has not been changed any more, and what followed from it will not
        // come.
        let kept = self.turns.iter().take_while(|turn| turn.moment <= moment).count();
        self.keep_turns(session, kept);
        Ok(true)
    }

    /// The named checkpoints at or before `moment` from which the way here leads.
    fn named_until(&self, moment: u64) -> impl Iterator<Item = &Saved> {
        let on_the_way = move |Named { saved, turns, .. }: &&Named| {
            let at = saved.instructions();
            let later = self.turns.get(turns.len());
            at <= moment && self.turns.starts_with(turns) && later.is_none_or(|turn| turn.moment > at)
        };
        self.named.values().filter(on_the_way).map(|named| &named.saved)
    }

    /// Only the first `kept` changes have been made.
    fn keep_turns(&mut self, session: &mut Session, kept: usize) {
        if let Some(undone) = self.turns.get(kept).copied() {
            self.forget_from(session, undone.moment);
        }
        self.turns.truncate(kept);
    }

    /// Makes a checkpoint with a name, of a run that has stopped at breakpoints at `considered`.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn name(
        &mut self,
        session: &mut Session,
        name: &str,
        considered: Option<Point>,
    ) -> Result<(), Error> {
        let named = Named { saved: session.save()?, turns: self.turns.clone(), considered };
        if let Some(old) = self.named.insert(name.to_owned(), named) {
            session.forget(old.saved);
        }
        Ok(())
    }

    /// The point at which the run had stopped at breakpoints when a checkpoint was made.
    pub(super) fn considered(&self, name: &str) -> Option<Point> {
        self.named.get(name)?.considered
    }

    /// Goes back to a checkpoint with a name; false if there is none.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn restore(&mut self, session: &mut Session, name: &str) -> Result<bool, Error> {
        let Some(Named { saved, turns, .. }) = self.named.get(name) else { return Ok(false) };
        session.check_reversible()?;
        session.restore(saved)?;
        let now = session.instructions();
        let turns = turns.clone();
        if self.turns.starts_with(&turns) {
            self.keep_turns(session, turns.len());
        } else {
            // It belongs to another way, on which something else was changed: no other checkpoint
            // leads here.
            self.forget_from(session, 0);
            self.turns = turns;
            let saved = session.save()?;
            self.points.insert(now, Kept { saved, turned: true });
        }
        self.due = self.due.min(now.saturating_add(CLOSEST));
        Ok(true)
    }

    /// The named checkpoints and their moments.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, u64)> {
        self.named.iter().map(|(name, named)| (&**name, named.saved.instructions()))
    }
}
