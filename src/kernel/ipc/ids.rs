//! Tables of objects by key and identifier, `ipc/util.c` of Linux.

use std::collections::{BTreeMap, BTreeSet};

use crate::abi::capability::{CAP_IPC_OWNER, CAP_SYS_ADMIN};
use crate::abi::errno::Errno;
use crate::abi::ipc::{IPC_CREAT, IPC_EXCL, IPC_PRIVATE, IPCMNI_SHIFT};
use crate::kernel::cred::Credentials;

/// Places that are gone through before one is used again, at least.
const LEAST_CYCLE: u32 = 64;

/// Owner and mode of an object, `struct kern_ipc_perm`.
#[derive(Clone, Debug)]
pub(crate) struct Perm {
    pub(crate) key: i32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) cuid: u32,
    pub(crate) cgid: u32,
    pub(crate) mode: u32,
}

impl Perm {
    fn new(key: i32, cred: &Credentials, mode: u32) -> Perm {
        let (uid, gid) = (cred.uid.effective, cred.gid.effective);
        Perm { key, uid, gid, cuid: uid, cgid: gid, mode }
    }

    /// Checks that a task may do what bits like those of a mode ask for, whichever of the three
    /// groups they stand in, `ipcperms`; EACCES.
    pub(crate) fn check(&self, cred: &Credentials, wanted: u32) -> Result<(), Errno> {
        let wanted = wanted >> 6 | wanted >> 3 | wanted;
        let uid = cred.uid.effective;
        let granted = match () {
            () if uid == self.cuid || uid == self.uid => self.mode >> 6,
            () if cred.in_group(self.cgid) || cred.in_group(self.gid) => self.mode >> 3,
            () => self.mode,
        };
        let denied = wanted & !granted & 7 != 0;
        if denied && !cred.capable(CAP_IPC_OWNER) { Err(Errno::EACCES) } else { Ok(()) }
    }

    /// Checks that a task may change or remove the object; EPERM.
    pub(crate) fn check_owner(&self, cred: &Credentials) -> Result<(), Errno> {
        let uid = cred.uid.effective;
        let owns = uid == self.cuid || uid == self.uid;
        if owns || cred.capable(CAP_SYS_ADMIN) { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Sets owner and mode, IPC_SET: ids as the caller has them, EINVAL for those that its user
    /// namespace lacks.
    pub(crate) fn set(&mut self, cred: &Credentials, uid: u32, gid: u32, mode: u32) -> Result<(), Errno> {
        let user_ns = &cred.user_ns;
        let ids = (user_ns.uids.kernel_id(uid), user_ns.gids.kernel_id(gid));
        let (Some(uid), Some(gid)) = ids else { return Err(Errno::EINVAL) };
        (self.uid, self.gid) = (uid, gid);
        self.mode = self.mode & !0o777 | mode & 0o777;
        Ok(())
    }
}

/// An object of a table.
pub(crate) trait Charged {
    /// Bytes that it takes on the host beside its place.
    fn charge(&self) -> u64;

    /// Parts that count against a limit of the whole table, of which an object has always as many.
    fn parts(&self) -> usize {
        0
    }
}

/// An object with its identifier and permissions.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) id: i32,
    pub(crate) perm: Perm,
    pub(crate) object: T,
    charge: u64,
    touched: bool,
}

/// The objects of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Ids<T> {
    entries: BTreeMap<u32, Entry<T>>,
    /// Places by key, of those that have one.
    keys: BTreeMap<i32, u32>,
    /// Place that was given last.
    last: Option<u32>,
    /// Count in the identifiers that are given now.
    seq: u32,
    /// Most objects.
    most: usize,
    /// Places to be measured again.
    touched: Vec<u32>,
    charged: u64,
    /// Parts of all objects.
    parts: usize,
    /// Objects that are to be removed once nobody uses them.
    pub(super) doomed: BTreeSet<i32>,
}

impl<T: Charged> Ids<T> {
    /// A table of at most so many objects.
    pub(crate) fn new(most: usize) -> Ids<T> {
        Ids {
            entries: BTreeMap::new(),
            keys: BTreeMap::new(),
            last: None,
            seq: 0,
            most,
            touched: Vec::new(),
            charged: 0,
            parts: 0,
            doomed: BTreeSet::new(),
        }
    }

    /// Parts of all objects.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// The identifier of the object with a key, which is made if flags say so: shmget(2) and its
    /// kin. `fits` looks at one that is there.
    ///
    /// # Errors
    /// ENOENT, EEXIST, EACCES, ENOSPC, and those of the functions.
    pub(crate) fn get(
        &mut self,
        key: i32,
        flags: u32,
        cred: &Credentials,
        fits: impl FnOnce(&T) -> Result<(), Errno>,
        make: impl FnOnce() -> Result<T, Errno>,
    ) -> Result<i32, Errno> {
        let known = self.keys.get(&key).and_then(|at| self.entries.get(at));
        match known {
            Some(_) if flags & IPC_CREAT != 0 && flags & IPC_EXCL != 0 => Err(Errno::EEXIST),
            Some(entry) => {
                fits(&entry.object)?;
                entry.perm.check(cred, flags & 0o777)?;
                Ok(entry.id)
            }
            None if key != IPC_PRIVATE && flags & IPC_CREAT == 0 => Err(Errno::ENOENT),
            None => {
                if self.entries.len() >= self.most {
                    return Err(Errno::ENOSPC);
                }
                let object = make()?;
                Ok(self.add(Perm::new(key, cred, flags & 0o777), object))
            }
        }
    }

    /// Adds an object at the next free place, going round.
    fn add(&mut self, perm: Perm, object: T) -> i32 {
        let end = ((self.entries.len() as u32).saturating_mul(3) / 2).max(LEAST_CYCLE);
        let start = self.last.map_or(0, |last| last + 1);
        let free = |at: &u32| !self.entries.contains_key(at);
        let at = (start..end).find(free).or_else(|| (0..).find(free)).unwrap_or_default();
        if self.last.is_some_and(|last| at <= last) {
            self.seq = (self.seq + 1) & (i32::MAX as u32 >> IPCMNI_SHIFT);
        }
        self.last = Some(at);
        let id = (self.seq << IPCMNI_SHIFT | at) as i32;
        if perm.key != IPC_PRIVATE {
            self.keys.insert(perm.key, at);
        }
        self.parts += object.parts();
        self.entries.insert(at, Entry { id, perm, object, charge: 0, touched: true });
        self.touched.push(at);
        id
    }

    fn place(id: i32) -> u32 {
        id as u32 & ((1 << IPCMNI_SHIFT) - 1)
    }

    /// The object with an identifier; EINVAL.
    pub(crate) fn find(&self, id: i32) -> Result<&Entry<T>, Errno> {
        let entry = self.entries.get(&Self::place(id)).filter(|entry| entry.id == id);
        entry.ok_or(Errno::EINVAL)
    }

    /// The object with an identifier, to be changed; EINVAL.
    pub(crate) fn find_mut(&mut self, id: i32) -> Result<&mut Entry<T>, Errno> {
        let at = Self::place(id);
        let entry = self.entries.get_mut(&at).filter(|entry| entry.id == id).ok_or(Errno::EINVAL)?;
        if !std::mem::replace(&mut entry.touched, true) {
            self.touched.push(at);
        }
        Ok(entry)
    }

    /// The object at a place, as *_STAT asks for it; EINVAL.
    pub(crate) fn at(&self, place: i32) -> Result<&Entry<T>, Errno> {
        let place = u32::try_from(place).map_err(|_| Errno::EINVAL)?;
        self.entries.get(&place).ok_or(Errno::EINVAL)
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, id: i32) -> Option<T> {
        self.find(id).ok()?;
        self.forget_key(id);
        let entry = self.entries.remove(&Self::place(id))?;
        self.charged -= entry.charge;
        self.parts -= entry.object.parts();
        self.doomed.remove(&id);
        Some(entry.object)
    }

    /// Takes the key of an object away, so that it is not found by it any more.
    pub(crate) fn forget_key(&mut self, id: i32) {
        let Ok(entry) = self.find_mut(id) else { return };
        let key = std::mem::replace(&mut entry.perm.key, IPC_PRIVATE);
        if key != IPC_PRIVATE {
            self.keys.remove(&key);
        }
    }

    /// The objects by their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.entries.values()
    }

    /// Number of objects.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The highest place in use; 0 if none is.
    pub(crate) fn highest(&self) -> u64 {
        self.entries.keys().next_back().copied().unwrap_or(0).into()
    }

    /// Bytes that the objects and their places take.
    pub(crate) fn charged(&mut self) -> u64 {
        for at in self.touched.drain(..) {
            let Some(entry) = self.entries.get_mut(&at) else { continue };
            entry.touched = false;
            self.charged -= entry.charge;
            entry.charge = entry.object.charge() + size_of::<Entry<T>>() as u64;
            self.charged += entry.charge;
        }
        self.charged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::cred::User;

    impl Charged for u64 {
        fn charge(&self) -> u64 {
            *self
        }
    }

    fn make(ids: &mut Ids<u64>, key: i32) -> Result<i32, Errno> {
        let cred = Credentials::of(User::default());
        ids.get(key, IPC_CREAT | 0o600, &cred, |_| Ok(()), || Ok(100))
    }

    /// A place is used again last, and then under another identifier.
    #[test]
    fn identifiers_do_not_come_back_soon() {
        let mut ids = Ids::new(1000);
        let given: Vec<i32> = (0..70)
            .map(|_| {
                let id = make(&mut ids, IPC_PRIVATE).expect("a place");
                assert_eq!(ids.remove(id), Some(100));
                id
            })
            .collect();
        assert_eq!((given[0], given[63], given[64], given[65]), (0, 63, 1 << 15, 1 << 15 | 1));
        assert_eq!(ids.find(given[0]).err(), Some(Errno::EINVAL));
        assert_eq!((ids.charged(), ids.len()), (0, 0));
    }

    #[test]
    fn a_key_is_free_when_its_object_is_gone_or_hidden() {
        let mut ids = Ids::new(10);
        let ids = &mut ids;
        assert_eq!((make(ids, 7), make(ids, IPC_PRIVATE), make(ids, IPC_PRIVATE)), (Ok(0), Ok(1), Ok(2)));
        ids.forget_key(0);
        assert_eq!((make(ids, 7), ids.len()), (Ok(3), 4));
        assert_eq!((ids.remove(0), make(ids, 7)), (Some(100), Ok(3)));
        assert_eq!((ids.remove(3), make(ids, 7)), (Some(100), Ok(4)));
    }

    #[test]
    fn a_full_table_and_a_known_key() {
        let mut ids = Ids::new(2);
        let first = make(&mut ids, 7);
        assert_eq!((make(&mut ids, 7), make(&mut ids, 8)), (first, Ok(1)));
        assert_eq!(make(&mut ids, 9), Err(Errno::ENOSPC));
        assert!(ids.charged() >= 200);
    }
}
