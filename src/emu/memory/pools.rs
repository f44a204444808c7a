//! Pools: pages of several objects that are counted together and have a bound, as those of the
//! files of a tmpfs.

use std::collections::BTreeMap;

use crate::guest::{MemError, PoolId};

#[derive(Clone, Copy)]
struct Pool {
    used: u64,
    /// The most that may be used; more is, where a bound came later.
    most: u64,
}

/// The pools of the machine. One that was not named yet has no bound.
#[derive(Clone, Default)]
pub(super) struct Pools(BTreeMap<PoolId, Pool>);

impl Pools {
    fn pool(&mut self, id: PoolId) -> &mut Pool {
        self.0.entry(id).or_insert(Pool { used: 0, most: u64::MAX })
    }

    /// Bounds the pages of a pool.
    pub(super) fn bound(&mut self, id: PoolId, most: u64) {
        self.pool(id).most = most;
    }

    /// Pages that are used.
    pub(super) fn used(&self, id: PoolId) -> u64 {
        self.0.get(&id).map_or(0, |pool| pool.used)
    }

    /// Takes pages from a pool, or from none.
    ///
    /// # Errors
    /// `Full` where not so many are left; none is taken then.
    pub(super) fn take(&mut self, id: Option<PoolId>, pages: u64) -> Result<(), MemError> {
        let Some(id) = id.filter(|_| pages > 0) else { return Ok(()) };
        let pool = self.pool(id);
        let used = pool.used.checked_add(pages).filter(|used| *used <= pool.most);
        pool.used = used.ok_or(MemError::Full)?;
        Ok(())
    }

    /// Gives pages back.
    pub(super) fn give(&mut self, id: Option<PoolId>, pages: u64) {
        if let Some(id) = id {
            let pool = self.pool(id);
            pool.used = pool.used.saturating_sub(pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_gives_what_it_has() {
        let (mut pools, id) = (Pools::default(), PoolId(1));
        assert_eq!(pools.take(Some(id), 5), Ok(()), "no bound yet");
        pools.bound(id, 4);
        assert_eq!(pools.used(id), 5);
        assert_eq!(pools.take(Some(id), 1), Err(MemError::Full));
        pools.give(Some(id), 3);
        assert_eq!(pools.take(Some(id), 3), Err(MemError::Full), "all or nothing");
        assert_eq!(pools.take(Some(id), 2), Ok(()));
        assert_eq!(pools.take(Some(id), u64::MAX), Err(MemError::Full));
        assert_eq!(pools.take(None, u64::MAX), Ok(()));
    }
}
