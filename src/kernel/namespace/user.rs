//! User namespaces, user_namespaces(7). Credentials and owners of files have the ids of the
//! machine's first user namespace, the kernel's own; here they become those that a task sees, and
//! back.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::kernel::namespace::kind::{Kind, NsId};

/// Stand-in for an id that a namespace does not have, `/proc/sys/kernel/overflowuid`.
const OVERFLOW: u32 = 65_534;
/// Most lines of a map, `UID_GID_MAP_MAX_EXTENTS`.
const MAX_EXTENTS: usize = 340;
/// Deepest nesting.
const MAX_LEVEL: u32 = 32;

/// A range of ids and the kernel's ids that they stand for, `struct uid_gid_extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) first: u32,
    pub(crate) lower_first: u32,
    pub(crate) count: u32,
}

/// A map of ids; nothing until it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdMap(Vec<Extent>);

impl IdMap {
    /// Every id stands for itself.
    fn identity() -> IdMap {
        IdMap(vec![Extent { first: 0, lower_first: 0, count: u32::MAX }])
    }

    /// The kernel's id, `make_kuid`.
    pub(crate) fn kernel_id(&self, id: u32) -> Option<u32> {
        let extent = self.0.iter().find(|extent| id >= extent.first && id - extent.first < extent.count)?;
        Some(extent.lower_first + (id - extent.first))
    }

    /// The id that stands for one of the kernel's, `from_kuid`.
    pub(crate) fn id(&self, kernel: u32) -> Option<u32> {
        let within =
            |extent: &&Extent| kernel >= extent.lower_first && kernel - extent.lower_first < extent.count;
        let extent = self.0.iter().find(within)?;
        Some(extent.first + (kernel - extent.lower_first))
    }

    /// The same, or the overflow id, `from_kuid_munged`.
    pub(crate) fn shown(&self, kernel: u32) -> u32 {
        self.id(kernel).unwrap_or(OVERFLOW)
    }

    /// Tells if it was written.
    pub(crate) fn is_set(&self) -> bool {
        !self.0.is_empty()
    }

    /// Its lines, with the ids below as `below` has them.
    pub(crate) fn text(&self, below: &IdMap) -> String {
        let line = |extent: &Extent| {
            let lower = below.id(extent.lower_first).unwrap_or(u32::MAX);
            format!("{:10} {lower:10} {:10}\n", extent.first, extent.count)
        };
        self.0.iter().map(line).collect()
    }

    /// Reads lines of a map, whose lower ids are not yet the kernel's, `map_write`; EINVAL.
    pub(crate) fn parse(text: &[u8]) -> Result<Vec<Extent>, Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::EINVAL)?;
        let text = text.split('\0').next().unwrap_or_default();
        let mut extents: Vec<Extent> = Vec::new();
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            let words: Vec<u32> = line
                .split_ascii_whitespace()
                .map(|word| word.parse().map_err(|_| Errno::EINVAL))
                .collect::<Result<_, _>>()?;
            let [first, lower_first, count] = words[..] else { return Err(Errno::EINVAL) };
            let fits = |first: u32| first != u32::MAX && first.checked_add(count).is_some();
            let apart =
                |a: u32, b: u32, of_b: u32| a.saturating_add(count) <= b || b.saturating_add(of_b) <= a;
            let free = |other: &Extent| {
                apart(first, other.first, other.count) && apart(lower_first, other.lower_first, other.count)
            };
            if count == 0 || !fits(first) || !fits(lower_first) || !extents.iter().all(free) {
                return Err(Errno::EINVAL);
            }
            extents.push(Extent { first, lower_first, count });
        }
        if extents.is_empty() || extents.len() > MAX_EXTENTS { Err(Errno::EINVAL) } else { Ok(extents) }
    }

    /// The map of lines whose lower ids are those of `below`; EPERM where that has them not.
    pub(crate) fn over(below: &IdMap, extents: &[Extent]) -> Result<IdMap, Errno> {
        let over = |extent: &Extent| {
            let last = below.kernel_id(extent.lower_first + (extent.count - 1));
            let first = below.kernel_id(extent.lower_first).filter(|_| last.is_some());
            Ok(Extent { lower_first: first.ok_or(Errno::EPERM)?, ..*extent })
        };
        Ok(IdMap(extents.iter().map(over).collect::<Result<_, Errno>>()?))
    }
}

/// A user namespace. It does not change: who writes a map gives its tasks another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserNamespace {
    pub(crate) id: NsId,
    level: u32,
    pub(crate) parent: Option<Arc<UserNamespace>>,
    /// The user who made it, by the kernel's ids.
    pub(crate) owner: u32,
    pub(crate) uids: IdMap,
    pub(crate) gids: IdMap,
    pub(crate) projects: IdMap,
    /// setgroups(2) is allowed once there is a map of groups.
    pub(crate) setgroups: bool,
}

impl UserNamespace {
    /// The machine's first.
    pub(crate) fn first() -> Arc<UserNamespace> {
        let [uids, gids, projects] = std::array::from_fn(|_| IdMap::identity());
        let id = Kind::User.first();
        Arc::new(UserNamespace {
            id,
            level: 0,
            parent: None,
            owner: 0,
            uids,
            gids,
            projects,
            setgroups: true,
        })
    }

    /// One below another; ENOSPC where that is too deep.
    pub(crate) fn below(
        parent: &Arc<UserNamespace>,
        id: NsId,
        owner: u32,
    ) -> Result<Arc<UserNamespace>, Errno> {
        if parent.level >= MAX_LEVEL {
            return Err(Errno::ENOSPC);
        }
        Ok(Arc::new(UserNamespace {
            id,
            level: parent.level + 1,
            parent: Some(parent.clone()),
            owner,
            uids: IdMap::default(),
            gids: IdMap::default(),
            projects: IdMap::default(),
            setgroups: parent.setgroups,
        }))
    }

    /// Tells if it is the machine's first.
    pub(crate) fn is_first(&self) -> bool {
        self.level == 0
    }

    /// Tells if a task of `own` with this effective user and these capabilities has one of them in
    /// it, `cap_capable`: in its own namespace by its set, in those below that it made, all.
    pub(crate) fn grants(&self, own: &UserNamespace, euid: u32, has: bool) -> bool {
        let mut at = self;
        loop {
            if at.id == own.id {
                return has;
            }
            let Some(parent) = &at.parent else { return false };
            if at.level <= own.level {
                return false;
            }
            if parent.id == own.id && at.owner == euid {
                return true;
            }
            at = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// user_namespaces(7): an id of a range stands for the one as far into the other range.
    #[test]
    fn maps_go_both_ways() {
        let first = UserNamespace::first();
        let extents = IdMap::parse(b"0 1000 1\n1 100000 65535\n").unwrap();
        let map = IdMap::over(&first.uids, &extents).unwrap();
        assert_eq!(
            [0, 1, 65535, 65536].map(|id| map.kernel_id(id)),
            [Some(1000), Some(100000), Some(165534), None]
        );
        assert_eq!((map.id(100_001), map.id(0), map.shown(0)), (Some(2), None, 65534));
        assert_eq!(
            map.text(&first.uids),
            "         0       1000          1\n         1     100000      65535\n"
        );
        let below = IdMap::over(&map, &IdMap::parse(b"5 1 10").unwrap()).unwrap();
        assert_eq!(below.kernel_id(5), Some(100_000));
        assert_eq!(IdMap::over(&map, &IdMap::parse(b"0 70000 1").unwrap()), Err(Errno::EPERM));
    }

    #[test]
    fn bad_maps_are_refused() {
        for text in ["", "0 0", "0 0 0", "0 0 1 2", "a 0 1", "4294967295 0 1", "0 0 2\n1 5 1", "0 0 1\n\n"] {
            assert_eq!(IdMap::parse(text.as_bytes()), Err(Errno::EINVAL), "{text:?}");
        }
    }
}
