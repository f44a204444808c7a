//! Contents of caches, as they go from one kind of simulators to another.

use std::collections::BTreeMap;

use crate::hooks::control::AccountId;
use crate::sim::{Cache, HeldCache, Hierarchy};

/// Contents of an account's caches, for a checkpoint or for other simulators.
#[derive(Clone, Debug)]
pub(crate) struct SavedCaches {
    /// Blocks of I1 and D1, from the least to the most recently used.
    pub(crate) fetch: Box<[u64]>,
    pub(crate) data: Box<[u64]>,
    /// `None` where a consumer has LL.
    pub(crate) ll: Option<HeldCache>,
}

impl SavedCaches {
    /// Bytes that they take.
    pub(super) fn bytes(&self) -> u64 {
        let first_level = size_of_val(&*self.fetch) + size_of_val(&*self.data);
        first_level as u64 + self.ll.as_ref().map_or(0, HeldCache::bytes)
    }

    /// Brings other caches of the same shapes to these contents, without LL if that is not here.
    pub(super) fn restore(&self, caches: &mut Hierarchy) {
        caches.i1.clear();
        for &block in &self.fetch {
            let line = caches.i1.line(block);
            caches.i1.touch(line);
        }
        caches.d1 = Cache::new(caches.d1.geometry());
        for &block in &self.data {
            caches.d1.touch(block);
        }
        self.ll.iter().for_each(|ll| caches.ll.hold(ll));
    }
}

/// Contents of the caches of all accounts, for a checkpoint.
pub(super) type SavedLevels = BTreeMap<AccountId, SavedCaches>;
