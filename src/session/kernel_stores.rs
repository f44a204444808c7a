//! Watched memory that the kernel stores to: what read(2) and its kin leave there, and the frames
//! of signals. No instruction does it, so the trace does not show it.

use std::ops::Range;

use crate::emu::memory::space::AddressSpace;
use crate::guest::GuestCpu;
use crate::hooks::consumer::{Sighting, Target};

/// Longest range whose bytes are compared.
const COMPARED: u64 = 1 << 16;

/// A range that is watched for stores.
#[derive(Clone, Debug)]
struct Stored {
    /// Index of the target.
    target: usize,
    range: Range<u64>,
    /// The address space that is meant, if not every one.
    space: Option<u32>,
    /// Its bytes as they were.
    before: Option<Vec<u8>>,
}

impl Stored {
    /// The bytes as they are, if the address space that is meant is loaded.
    fn bytes(&self, mem: &AddressSpace) -> Option<Vec<u8>> {
        let meant = self.space.is_none_or(|space| space == mem.loaded().0);
        if meant { bytes(mem, &self.range) } else { None }
    }
}

/// Ranges that are watched for stores, and what was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelStores {
    ranges: Vec<Stored>,
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
                let (range, space) = (watched.range.clone(), watched.space);
                let stored = Stored { target: index, range, space, before: None };
                Some(Stored { before: stored.bytes(mem), ..stored })
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
        for stored in &mut self.ranges {
            stored.before = stored.bytes(mem);
        }
    }

    /// The kernel has served the guest; what it has stored is seen `later` instructions after the
    /// last one that was executed.
    pub(super) fn after(&mut self, cpu: &mut dyn GuestCpu, mem: &AddressSpace, later: u64) {
        for stored in &self.ranges {
            if stored.bytes(mem) != stored.before {
                let moment = cpu.instructions().saturating_add(later);
                self.seen.push(Sighting { moment, target: stored.target });
            }
        }
    }
}
