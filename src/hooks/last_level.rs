//! Accesses to LL. Nothing but LL and the counts of misses depends on what they find, so they may
//! be made later than the walk over the records, or by another thread.

use crate::hooks::counts::{Kind, Misses};
use crate::hooks::sparse::Sparse;
use crate::sim::Cache;

/// Access that missed the first level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Below {
    pub(super) address: u64,
    pub(super) insn: u32,
    /// Number of its record in the log of misses; 0 if nothing is logged.
    pub(super) record: u32,
    pub(super) size: u16,
    pub(super) kind: Kind,
}

/// LL, and what depends on it.
#[derive(Clone, Debug)]
pub(super) struct LastLevel {
    pub(super) ll: Cache,
    /// Misses, by instruction.
    pub(super) misses: Sparse<Misses>,
}

/// Accesses whose lists in LL are read ahead together, so that the host's misses for them overlap.
pub(super) const TOGETHER: usize = 64;

/// Accesses LL for what missed the first level, counts the misses, and calls `log` with each access
/// and whether it missed.
pub(super) fn access(
    ll: &mut Cache,
    misses: &mut Sparse<Misses>,
    below: &[Below],
    mut log: impl FnMut(&Below, bool),
) {
    for some in below.chunks(TOGETHER) {
        std::hint::black_box(some.iter().fold(0, |all, access| all ^ ll.read_ahead(access.address)));
        for access in some {
            let missed = ll.access(access.address, u32::from(access.size));
            if let Some(misses) = misses.get_mut(access.insn as usize) {
                misses.add(access.kind, missed);
            }
            log(access, missed);
        }
    }
}

impl LastLevel {
    /// Accesses LL for what missed the first level, and counts the misses, also those of
    /// instructions that are new.
    pub(super) fn access(&mut self, below: &[Below]) {
        let most = below.iter().map(|access| access.insn).max();
        self.misses.grow(most.map_or(0, |insn| insn as usize + 1));
        access(&mut self.ll, &mut self.misses, below, |_, _| ());
    }
}
