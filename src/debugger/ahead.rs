//! Stops at events that only the simulators and the trace see: misses and accesses. They run behind
//! the CPU, so the run goes ahead for a while, what is seen on the way is noted with its moments,
//! and if anything was seen the run goes back. The moments are known then, and the run stops at
//! them as at any others.

use crate::hooks::consumer::{Miss, Sighting, Target, Watched};
use crate::profile::Event;
use crate::session::{EngineError, Session, StopConditions};

use super::stops::{Stop, Stops, Trigger, WatchAccess};

/// Instructions that the run goes ahead at first, and at least.
const LEAST: u64 = 50_000;

/// Instructions that it goes ahead at most, where nothing is seen.
const MOST: u64 = 16_000_000;

/// Sightings of which there are enough at a time.
const ENOUGH: usize = 256;

/// Conditions that pause at a moment and nowhere before.
pub(super) fn quietly(moment: u64) -> StopConditions {
    StopConditions { at: Some(moment), ignore_breakpoints: true, ..StopConditions::default() }
}

/// The stops that wait for what only the simulators see, and what is known of them.
#[derive(Default)]
pub(super) struct Ahead {
    /// Numbers of the stops, and what they wait for.
    targets: Vec<(u32, Target)>,
    /// Number of the last change of what is counted when it was seen.
    way: u64,
    /// Everything is known that is seen after the first moment, until the second.
    from: u64,
    to: u64,
    seen: Vec<Sighting>,
    /// Instructions to go ahead next.
    length: u64,
}

/// The target of a stop.
fn target(stop: &Stop) -> Option<Target> {
    let miss = |event| {
        Some(match event {
            Event::I1mr => Miss::FetchL1,
            Event::ILmr => Miss::FetchLl,
            Event::D1mr => Miss::LoadL1,
            Event::DLmr => Miss::LoadLl,
            Event::D1mw => Miss::StoreL1,
            Event::DLmw => Miss::StoreLl,
            Event::Bcm => Miss::Conditional,
            Event::Bim => Miss::Indirect,
            _ => return None,
        })
    };
    match &stop.trigger {
        Trigger::Memory(range, access) => Some(Target::Access(Watched {
            range: range.clone(),
            space: stop.space.map(|space| space.0),
            loads: *access != WatchAccess::Write,
            stores: *access != WatchAccess::Read,
        })),
        Trigger::Miss(event, within) => Some(Target::Miss(miss(*event)?, within.clone())),
        _ => None,
    }
}

impl Ahead {
    /// Takes the enabled stops; what was seen is forgotten if they, or the way on which the run is,
    /// are not those of before.
    pub(super) fn arm(&mut self, stops: &Stops, way: u64) {
        let targets: Vec<(u32, Target)> =
            stops.enabled().filter_map(|stop| Some((stop.number, target(stop)?))).collect();
        if (&targets, way) != (&self.targets, self.way) {
            *self = Ahead { targets, way, length: LEAST, ..Ahead::default() };
        }
    }

    /// True if a stop waits for what only the simulators see.
    pub(super) fn is_armed(&self) -> bool {
        !self.targets.is_empty()
    }

    /// The next moment after `now` at which something was seen, else the last until which
    /// everything is known; `None` if nothing is known of what follows.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        let known =
            self.from <= now && (now < self.to || self.seen.last().is_some_and(|last| now < last.moment));
        let next = self.seen.partition_point(|sighting| sighting.moment <= now);
        known.then(|| self.seen.get(next).map_or(self.to, |sighting| sighting.moment))
    }

    /// The stops that wait for what was seen at exactly this moment.
    pub(super) fn at(&self, moment: u64) -> Vec<u32> {
        let begin = self.seen.partition_point(|sighting| sighting.moment < moment);
        let here = self.seen.iter().skip(begin).take_while(|sighting| sighting.moment == moment);
        here.filter_map(|sighting| Some(self.targets.get(sighting.target)?.0)).collect()
    }

    /// Has the session look out from here on; the moment at which to stop looking.
    ///
    /// # Errors
    /// When the engine refuses.
    pub(super) fn look_out(&self, session: &mut Session) -> Result<u64, EngineError> {
        let targets: Vec<Target> = self.targets.iter().map(|(_, target)| target.clone()).collect();
        session.look_out(&targets)?;
        Ok(session.instructions().saturating_add(self.length))
    }

    /// Learns what was seen since [`Ahead::look_out`], which was at the moment `from`; true if
    /// there was anything.
    ///
    /// # Errors
    /// When the engine refuses.
    pub(super) fn learn(&mut self, session: &mut Session, from: u64) -> Result<bool, EngineError> {
        let (seen, to) = session.sightings();
        session.look_out(&[])?;
        self.length = match seen.len() {
            0 => self.length.saturating_mul(2).min(MOST),
            few if few <= ENOUGH => self.length,
            _ => (self.length / 2).max(LEAST),
        };
        (self.seen, self.from, self.to) = (seen, from, to);
        Ok(!self.seen.is_empty())
    }
}
