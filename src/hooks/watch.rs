//! Watching memory: how often the program has accessed some bytes. What the trace carries for the caches says so, so
//! nothing is added to the program's code.

use std::ops::Range;
use std::sync::Arc;

use crate::hooks::plan::Plan;
use crate::hooks::record::Header;
use crate::x86::cost::Access;

/// Bytes to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Their addresses.
    pub range: Range<u64>,
    /// Whether to notice that they are read.
    pub loads: bool,
    /// Whether to notice that they are written.
    pub stores: bool,
}

/// The watched bytes, and how often each range was accessed.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    ranges: Vec<Watched>,
    accesses: Vec<u64>,
    /// From the lowest of the watched bytes to the highest.
    all: Range<u64>,
    /// By plan id.
    plans: Vec<Arc<Plan>>,
}

impl Watch {
    /// Accesses in the records `past`, which come next, are from before.
    pub fn new(ranges: Vec<Watched>, plans: Vec<Arc<Plan>>, past: &[u64]) -> Watch {
        let low = ranges.iter().map(|watched| watched.range.start).min().unwrap_or(0);
        let high = ranges.iter().map(|watched| watched.range.end).max().unwrap_or(0);
        let mut watch = Watch { accesses: vec![0; ranges.len()], ranges, all: low..high, plans };
        watch.scan(past, &[]);
        watch.accesses.iter_mut().for_each(|accesses| *accesses = accesses.wrapping_neg());
        watch
    }

    pub fn accesses(&self) -> &[u64] {
        &self.accesses
    }

    /// There were no more accesses than this.
    pub fn restore(&mut self, accesses: &[u64]) {
        self.accesses.fill(0);
        for (now, &then) in self.accesses.iter_mut().zip(accesses) {
            *now = then;
        }
    }

    /// Looks at a buffer of records; `new` are the plans that came with it.
    pub fn scan(&mut self, mut words: &[u64], new: &[Arc<Plan>]) {
        self.plans.extend(new.iter().cloned());
        let all = self.all.clone();
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            words = next;
            // No event is longer than FXSAVE's area, and none lies further from its slot's address.
            let near =
                |slot: &u64| slot.wrapping_sub(all.start.wrapping_sub(1024)) < all.end - all.start + 1024;
            if slots.iter().any(near) {
                self.look(header.plan.0 as usize, slots);
            }
        }
    }

    #[cold]
    fn look(&mut self, id: usize, slots: &[u64]) {
        let Some(plan) = self.plans.get(id) else { return };
        for event in &plan.events {
            // Zero stands for an iteration that did not take place.
            let Some(&base) = slots.get(usize::from(event.slot)).filter(|&&base| base != 0) else { continue };
            let start = base.wrapping_add(u64::from(event.offset));
            let end = start.saturating_add(u64::from(event.size));
            for (watched, accesses) in self.ranges.iter().zip(&mut self.accesses) {
                let wanted = match event.touch {
                    Access::None => false,
                    Access::Load => watched.loads,
                    Access::Store => watched.stores,
                    Access::Modify => true,
                };
                if wanted && start < watched.range.end && watched.range.start < end {
                    *accesses = accesses.wrapping_add(1);
                }
            }
        }
    }
}
