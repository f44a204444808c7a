//! Watchpoints: counts accesses to ranges of memory, from the addresses that the trace has anyway.

use std::ops::Range;
use std::sync::Arc;

use crate::hooks::plan::Plan;
use crate::hooks::record::Header;
use crate::x86::cost::Access;

/// Watched range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Addresses.
    pub range: Range<u64>,
    /// Count loads.
    pub loads: bool,
    /// Count stores.
    pub stores: bool,
}

/// Watched ranges and their counts.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    ranges: Vec<Watched>,
    accesses: Vec<u64>,
    /// Hull of the ranges.
    all: Range<u64>,
    /// Plans by id.
    plans: Vec<Arc<Plan>>,
}

impl Watch {
    /// Watches the ranges. Accesses in `past`, the records that come next, are not counted.
    pub(super) fn new(ranges: Vec<Watched>, plans: Vec<Arc<Plan>>, past: &[u64]) -> Watch {
        let low = ranges.iter().map(|watched| watched.range.start).min().unwrap_or(0);
        let high = ranges.iter().map(|watched| watched.range.end).max().unwrap_or(0);
        let mut watch = Watch { accesses: vec![0; ranges.len()], ranges, all: low..high, plans };
        watch.scan(past, &[]);
        watch.accesses.iter_mut().for_each(|accesses| *accesses = accesses.wrapping_neg());
        watch
    }

    pub(super) fn accesses(&self) -> &[u64] {
        &self.accesses
    }

    /// Restores the counts.
    pub(super) fn restore(&mut self, accesses: &[u64]) {
        self.accesses.fill(0);
        for (now, &then) in self.accesses.iter_mut().zip(accesses) {
            *now = then;
        }
    }

    /// Scans a buffer of records; `new` are the plans that came with it.
    pub(super) fn scan(&mut self, mut words: &[u64], new: &[Arc<Plan>]) {
        self.plans.extend(new.iter().cloned());
        let all = self.all.clone();
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            words = next;
            // No event exceeds the area of FXSAVE, neither in size nor in offset.
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
            // 0 stands for an iteration that did not take place.
            let Some(&base) = slots.get(usize::from(event.slot)).filter(|&&base| base != 0) else { continue };
            let start = base.wrapping_add(u64::from(event.offset));
            let end = start.saturating_add(u64::from(event.size));
            for (watched, accesses) in self.ranges.iter().zip(&mut self.accesses) {
                let wanted = match event.access {
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
