//! Misses of a thread, which are known when the simulators have had the records of a batch. A call
//! is charged with them as the ledger charges it with references.

use rustc_hash::FxHashMap;

use crate::hooks::callgraph::batch::{Batch, Change, Event, KIND, POP, PUSH, SKIP, Spending};
use crate::hooks::callgraph::costs::{ArcId, BlockId};
use crate::hooks::callgraph::sums::Missed;
use crate::hooks::part::Log;

/// Misses of calls, by all threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Misses {
    /// Inclusive misses by arc, less those before the calls that have not returned.
    arcs: Vec<Missed>,
    /// Misses of what the calls of a block skip.
    skipped: FxHashMap<BlockId, Missed>,
}

impl Misses {
    /// Misses of the calls of an arc.
    pub(super) fn of(&self, arc: ArcId) -> Missed {
        self.arcs.get(arc as usize).copied().unwrap_or_default()
    }

    /// Misses of what the calls of a block skip.
    pub(super) fn skipped(&self, block: BlockId) -> Missed {
        self.skipped.get(&block).copied().unwrap_or_default()
    }

    /// Sets all to zero.
    pub(super) fn zero(&mut self) {
        self.arcs.fill(Missed::default());
        self.skipped.clear();
    }

    /// Bytes that they take, roughly.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&*self.arcs) as u64
    }

    #[inline(always)]
    fn arc(&mut self, arc: ArcId) -> &mut Missed {
        let at = arc as usize;
        if at >= self.arcs.len() {
            self.arcs.resize(at + 1, Missed::default());
        }
        &mut self.arcs[at]
    }
}

/// Misses of a thread.
#[derive(Clone, Debug)]
pub(super) struct MissLedger {
    /// Those of the thread, or of the handler that runs, up to the last record that was simulated.
    missed: Missed,
    /// Those of what handlers have interrupted.
    interrupted: Vec<Missed>,
    /// Calls on top that have begun since the last miss, from whose arcs nothing was taken yet.
    begun: Vec<ArcId>,
    spending: Spending,
}

impl MissLedger {
    /// Nothing has been missed.
    pub(super) fn new(collects: bool) -> MissLedger {
        MissLedger {
            missed: Missed::default(),
            interrupted: Vec::new(),
            begun: Vec::new(),
            spending: Spending { collects, skipped: None },
        }
    }

    /// Sets all misses to zero, as those of all arcs have to be.
    pub(super) fn zero(&mut self) {
        self.missed = Missed::default();
        self.interrupted.iter_mut().for_each(|missed| *missed = Missed::default());
        self.begun.clear();
    }

    /// Settles a batch, of which the simulators have this log. Both are empty afterwards.
    pub(super) fn settle(&mut self, batch: &mut Batch, log: &mut Log, misses: &mut Misses) {
        let (mut below, mut mispredicted) = (&log.below[..], log.mispredictions());
        let mut miss = |ledger: &mut MissLedger, misses: &mut Misses, before: u32| {
            while let Some((&(_, kind, ll), rest)) = below.split_first().filter(|(next, _)| next.0 < before) {
                below = rest;
                ledger.miss(misses, |missed| missed.miss(kind, ll));
            }
            while let Some((&(_, indirect), rest)) =
                mispredicted.split_first().filter(|(next, _)| next.0 < before)
            {
                mispredicted = rest;
                ledger.miss(misses, |missed| missed.mispredict(indirect));
            }
            let below = below.first().map_or(u32::MAX, |next| next.0);
            below.min(mispredicted.first().map_or(u32::MAX, |next| next.0))
        };
        // The record of the next miss.
        let mut next = miss(self, misses, 0);
        for &[before, event] in &batch.events {
            if next < before {
                next = miss(self, misses, before);
            }
            match event & KIND {
                PUSH => {
                    self.begun.push(event & !KIND);
                    self.spending.skipped = None;
                }
                POP => {
                    if self.begun.pop().is_none() {
                        misses.arc(event & !KIND).add(&self.missed, 1);
                    }
                }
                SKIP => self.spending.skipped = Some(event & !KIND),
                _ => match batch.others.get(event as usize) {
                    Some(&Event::Change(change)) => self.change(change, misses),
                    Some(&Event::Spending(spending)) => self.spending = spending,
                    None => {}
                },
            }
        }
        miss(self, misses, u32::MAX);
        log.clear();
        batch.clear();
    }

    /// Adds a miss.
    fn miss(&mut self, misses: &mut Misses, add: impl Fn(&mut Missed)) {
        let Spending { collects, skipped } = self.spending;
        if collects {
            self.begin(misses);
            add(&mut self.missed);
            if let Some(block) = skipped {
                add(misses.skipped.entry(block).or_default());
            }
        }
    }

    /// Takes from the arcs of the calls that have begun what was missed until now.
    #[inline(always)]
    fn begin(&mut self, misses: &mut Misses) {
        for arc in self.begun.drain(..) {
            misses.arc(arc).subtract(&self.missed);
        }
    }

    /// Makes a change that is rare.
    fn change(&mut self, change: Change, misses: &mut Misses) {
        self.begin(misses);
        match change {
            // There may be any number of them, so they are not listed.
            Change::PushAgain(arc) => misses.arc(arc).subtract(&self.missed),
            Change::Pop { arc, times } => misses.arc(arc).add(&self.missed, times),
            Change::Interrupt => self.interrupted.push(std::mem::take(&mut self.missed)),
            Change::Resume => self.missed = self.interrupted.pop().unwrap_or_default(),
            Change::Push(_) | Change::PushUnseen | Change::None => {}
        }
    }
}
