//! Stops at events that only the simulators and the trace see: misses and accesses. They run behind
//! the CPU, so the run goes on for a while, is checked, and if an event has occurred is taken back
//! and bisected for the instruction.

use std::ops::Range;

use crate::hooks::consumer::Watched;
use crate::profile::Event;
use crate::session::{Pause, Saved, Session, StopConditions};

use super::error::Error;
use super::stops::{Stops, Trigger, WatchAccess};

/// Instructions between two probes.
pub(super) const CHUNK: u64 = 4_000_000;

/// The event that one stop waits for.
#[derive(Clone, Debug)]
enum Probe {
    /// The number of the watched range, and its bytes as they were: system calls change them too.
    Memory(usize, Range<u64>, Option<Vec<u8>>),
    Event(Event, Option<Range<u64>>),
}

/// The probes of the enabled stops, and their counts when the run was last resumed.
pub(super) struct Detector {
    probes: Vec<(u32, Probe)>,
    seen: Vec<u64>,
}

/// Longest range whose bytes are compared.
const COMPARED: u64 = 1 << 16;

/// Conditions that pause at a moment and nowhere before.
pub(super) fn quietly(moment: u64) -> StopConditions {
    StopConditions { at: Some(moment), ignore_breakpoints: true, ..StopConditions::default() }
}

fn bytes(session: &mut Session, range: &Range<u64>) -> Option<Vec<u8>> {
    let len = range.end.checked_sub(range.start).filter(|len| *len <= COMPARED)?;
    let mut bytes = vec![0; len as usize];
    session.read(range.start, &mut bytes).ok()?;
    Some(bytes)
}

impl Detector {
    /// Sets the probes of the enabled stops; `None` if there are none.
    pub(super) fn arm(session: &mut Session, stops: &Stops) -> Option<Detector> {
        let mut watched = Vec::new();
        let mut probes = Vec::new();
        for stop in stops.enabled() {
            match &stop.trigger {
                Trigger::Memory(range, access) => {
                    let before = (*access != WatchAccess::Read).then(|| bytes(session, range)).flatten();
                    probes.push((stop.number, Probe::Memory(watched.len(), range.clone(), before)));
                    watched.push(Watched {
                        range: range.clone(),
                        loads: *access != WatchAccess::Write,
                        stores: *access != WatchAccess::Read,
                    });
                }
                Trigger::Miss(event, within) => {
                    probes.push((stop.number, Probe::Event(*event, within.clone())));
                }
                _ => {}
            }
        }
        session.watch(&watched);
        if probes.is_empty() {
            return None;
        }
        let mut detector = Detector { probes, seen: Vec::new() };
        detector.seen = detector.count(session);
        Some(detector)
    }

    fn count(&self, session: &mut Session) -> Vec<u64> {
        let watched = session.watched();
        self.probes
            .iter()
            .map(|(_, probe)| match probe {
                Probe::Memory(at, range, before) => {
                    let changed = before.is_some() && bytes(session, range) != *before;
                    // One more than the accesses there were: a system call has stored there.
                    watched.get(*at).copied().unwrap_or(0) * 2 + u64::from(changed)
                }
                Probe::Event(event, within) => session.counts(within.clone())[*event],
            })
            .collect()
    }

    /// The numbers of the stops whose event has occurred.
    pub(super) fn fired(&self, session: &mut Session) -> Vec<u32> {
        let now = self.count(session);
        let pairs = self.probes.iter().zip(now.iter().zip(&self.seen));
        pairs.filter(|(_, (now, seen))| now != seen).map(|((number, _), _)| *number).collect()
    }

    /// Takes the run, in which an event has occurred since `start`, to the instruction of the first
    /// one; the stops that wait for it. `start` is given up.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn pinpoint(&self, session: &mut Session, start: Saved) -> Result<Vec<u32>, Error> {
        let mut low = start;
        let mut high = session.instructions();
        let mut fired = self.fired(session);
        loop {
            let from = low.instructions();
            if high.saturating_sub(from) <= 1 {
                break;
            }
            let middle = from + (high - from) / 2;
            session.restore(&low)?;
            let reached = session.resume(quietly(middle));
            let now = self.fired(session);
            if reached != Pause::Reached && now.is_empty() {
                break;
            }
            if now.is_empty() {
                let better = session.save()?;
                session.forget(std::mem::replace(&mut low, better));
            } else {
                fired = now;
                high = middle;
            }
        }
        session.restore(&low)?;
        session.forget(low);
        session.resume(quietly(high));
        Ok(fired)
    }
}
