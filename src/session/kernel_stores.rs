//! Watched memory that the kernel stores to: what read(2) and its kin leave there, and the frames
//! of signals. No instruction does it, so the trace does not show it.

use std::ops::Range;

use crate::emu::memory::space::AddressSpace;
use crate::guest::GuestCpu;
use crate::hooks::consumer::{Sighting, Target};

/// Longest range whose bytes are compared.
const COMPARED: u64 = 1 << 16;

/// Ranges that are watched for stores, as they were, and what was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelStores {
    ranges: Vec<(usize, Range<u64>, Option<Vec<u8>>)>,
    seen: Vec<Sighting>,
}

fn bytes(mem: &AddressSpace, range: &Range<u64>) -> Option<Vec<u8>> {
    let len = range.end.checked_sub(range.start).filter(|len| *len <= COMPARED)?;
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    mem.peek(range.start, &mut bytes).ok()?;
    Some(bytes)
}

impl KernelStores {
    /// Watches the ranges of these targets that are watched for stores.
    pub(super) fn watch(targets: &[Target], mem: &AddressSpace) -> KernelStores {
        let stores = |(index, target): (usize, &Target)| match target {
            Target::Access(watched) if watched.stores => {
                Some((index, watched.range.clone(), bytes(mem, &watched.range)))
            }
            _ => None,
        };
        let ranges = targets.iter().enumerate().filter_map(stores).collect();
        KernelStores { ranges, seen: Vec::new() }
    }

    /// The sightings.
    pub(super) fn seen(&self) -> &[Sighting] {
        &self.seen
    }

    /// The kernel is about to serve the guest.
    pub(super) fn before(&mut self, mem: &AddressSpace) {
        for (_, range, before) in &mut self.ranges {
            *before = bytes(mem, range);
        }
    }

    /// The kernel has served the guest; what it has stored is seen `later` instructions after the
    /// last one that was executed.
    pub(super) fn after(&mut self, cpu: &mut dyn GuestCpu, mem: &AddressSpace, later: u64) {
        for (target, range, before) in &self.ranges {
            if bytes(mem, range) != *before {
                let moment = cpu.instructions().saturating_add(later);
                self.seen.push(Sighting { moment, target: *target });
            }
        }
    }
}
