//! Mounts: which tree of inodes is shown where, mount_namespaces(7). Every mount namespace has its
//! own; nothing that is mounted in one propagates to another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::vfs::node::Ino;

/// A mount. It is never another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MountId(pub(crate) u32);

impl MountId {
    /// That of files without a path: pipes, sockets, namespaces.
    pub(crate) const NONE: MountId = MountId(0);
    /// The first one, which shows the root.
    pub(crate) const FIRST: MountId = MountId(20);
}

/// An inode in a mount, `struct path`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) mount: MountId,
    pub(crate) ino: Ino,
}

/// Groups by which mounts are told of each other, as `/proc/PID/mountinfo` shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Propagation {
    pub(crate) shared: Option<u32>,
    pub(crate) master: Option<u32>,
    pub(crate) unbindable: bool,
}

/// A mounted tree.
#[derive(Clone, Debug)]
pub(crate) struct Mount {
    pub(crate) namespace: NsId,
    /// The place that it covers; none at the root of a namespace, and once it is detached.
    pub(crate) above: Option<At>,
    /// Of a place that is no directory, the directory that it is in and its name there.
    pub(crate) name: Option<(Ino, Arc<[u8]>)>,
    /// Its top.
    pub(crate) root: Ino,
    /// Path of its top in the file system, which only a part may be shown of.
    pub(crate) part: Arc<[u8]>,
    pub(crate) source: Arc<[u8]>,
    pub(crate) kind: &'static str,
    pub(crate) device: u64,
    /// The user namespace that the file system was made in.
    pub(crate) owner: NsId,
    /// MS_* of the mount.
    pub(crate) flags: u64,
    /// Options of the file system.
    pub(crate) options: String,
    pub(crate) propagation: Propagation,
    /// It came from a namespace with more privilege, and stays with what is around it.
    pub(crate) locked: bool,
    /// The flags that it had there, which are never taken away; `ATIME` if its rule stays too.
    pub(crate) locked_flags: u64,
}

/// The first minor number of the devices of tmpfs that are mounted.
const FIRST_DEVICE: u64 = 64;
/// The rule for times of access.
const ATIME: u64 = MS_NOATIME | MS_NODIRATIME | MS_RELATIME;
/// Flags by which a mount forbids something, and which less privilege does not take away.
const FORBIDS: u64 = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
/// Flags of a mount, not of its file system.
const OF_MOUNT: u64 = FORBIDS | MS_NOSYMFOLLOW | ATIME;

/// The flags of a new mount for those of mount(2), `path_mount`: relatime, unless another rule for
/// times of access is asked for.
pub(crate) fn mount_flags(flags: u64) -> u64 {
    let relatime = if flags & MS_NOATIME == 0 { MS_RELATIME } else { 0 };
    let kept = (flags | relatime) & OF_MOUNT;
    if flags & MS_STRICTATIME != 0 { kept & !(MS_RELATIME | MS_NOATIME) } else { kept }
}

impl Mount {
    /// The flags that mount(2) with MS_REMOUNT gives it: the rule for times of access stays if none
    /// is named. EPERM for those that are locked, `can_change_locked_flags`.
    pub(crate) fn changed_flags(&self, flags: u64) -> Result<u64, Errno> {
        let new = match flags & (ATIME | MS_STRICTATIME) {
            0 => flags & OF_MOUNT & !ATIME | self.flags & ATIME,
            _ => mount_flags(flags),
        };
        let atime = self.locked_flags & ATIME != 0 && (self.flags ^ new) & ATIME != 0;
        let lost = self.locked_flags & FORBIDS & !new != 0;
        if atime || lost { Err(Errno::EPERM) } else { Ok(new) }
    }
}

/// Every mount.
#[derive(Clone, Debug)]
pub(crate) struct Mounts {
    mounts: BTreeMap<MountId, Mount>,
    /// The topmost mount at a place.
    places: BTreeMap<At, MountId>,
    roots: BTreeMap<NsId, MountId>,
    /// Devices of file systems that may only be read, through whatever mount.
    read_only: BTreeSet<u64>,
    last: u32,
    last_group: u32,
    last_device: u64,
}

impl Default for Mounts {
    fn default() -> Mounts {
        Mounts {
            mounts: BTreeMap::new(),
            places: BTreeMap::new(),
            roots: BTreeMap::new(),
            read_only: BTreeSet::new(),
            last: MountId::FIRST.0 - 1,
            last_group: 0,
            last_device: FIRST_DEVICE - 1,
        }
    }
}

impl Mounts {
    /// Adds one of the machine's own mounts.
    pub(super) fn boot(&mut self, root: Ino, source: &str, kind: &'static str, device: u64) {
        let above = (!self.mounts.is_empty()).then_some(At { mount: MountId::FIRST, ino: root });
        let shared = Some(self.next_group());
        let namespace = Kind::Mnt.first();
        let id = self.add(Mount {
            namespace,
            above,
            name: None,
            root,
            part: b"/"[..].into(),
            source: source.as_bytes().into(),
            kind,
            device,
            owner: Kind::User.first(),
            flags: MS_RELATIME,
            options: String::new(),
            propagation: Propagation { shared, ..Propagation::default() },
            locked: false,
            locked_flags: 0,
        });
        if above.is_none() {
            self.roots.insert(namespace, id);
        }
    }

    /// A fresh group of mounts.
    pub(crate) fn next_group(&mut self) -> u32 {
        self.last_group += 1;
        self.last_group
    }

    /// A fresh number for a file system without a device.
    pub(crate) fn next_device(&mut self) -> u64 {
        self.last_device += 1;
        self.last_device
    }

    /// Tests whether a device is that of a tmpfs that was mounted.
    pub(crate) fn is_of_tmpfs(&self, device: u64) -> bool {
        device >= makedev(0, FIRST_DEVICE) && device <= makedev(0, self.last_device)
    }

    /// Tests whether a file system is mounted anywhere.
    pub(crate) fn shows(&self, device: u64) -> bool {
        self.mounts.values().any(|mount| mount.device == device)
    }

    /// Number of mounts.
    pub(crate) fn len(&self) -> usize {
        self.mounts.len()
    }

    /// A mount, until nobody is in it any more.
    pub(crate) fn get(&self, id: MountId) -> Option<&Mount> {
        self.mounts.get(&id)
    }

    /// The same to be changed.
    pub(crate) fn get_mut(&mut self, id: MountId) -> Option<&mut Mount> {
        self.mounts.get_mut(&id)
    }

    /// The flags of a mount, MS_*; none for files without a path. MS_RDONLY also if its file system
    /// may only be read.
    pub(crate) fn flags(&self, id: MountId) -> u64 {
        self.mounts.get(&id).map_or(0, |mount| {
            mount.flags | if self.read_only.contains(&mount.device) { MS_RDONLY } else { 0 }
        })
    }

    /// Tells if a file system may only be read.
    pub(crate) fn is_read_only(&self, device: u64) -> bool {
        self.read_only.contains(&device)
    }

    /// Says whether a file system may only be read.
    pub(crate) fn set_read_only(&mut self, device: u64, read_only: bool) {
        match read_only {
            true => self.read_only.insert(device),
            false => self.read_only.remove(&device),
        };
    }

    /// Gives every mount of a file system the options that are shown.
    pub(crate) fn set_options(&mut self, device: u64, options: &str) {
        for mount in self.mounts.values_mut().filter(|mount| mount.device == device) {
            options.clone_into(&mut mount.options);
        }
    }

    /// The mount at the root of a namespace.
    pub(crate) fn root_of(&self, namespace: NsId) -> Option<MountId> {
        self.roots.get(&namespace).copied()
    }

    /// Makes another mount the root of a namespace.
    pub(crate) fn set_root(&mut self, namespace: NsId, id: MountId) {
        self.roots.insert(namespace, id);
    }

    /// Adds a mount, on top of those that are there already.
    pub(crate) fn add(&mut self, mount: Mount) -> MountId {
        self.last += 1;
        let id = MountId(self.last);
        if let Some(above) = mount.above {
            self.places.insert(above, id);
        }
        self.mounts.insert(id, mount);
        id
    }

    /// Puts a mount elsewhere, or nowhere.
    pub(crate) fn move_to(&mut self, id: MountId, above: Option<At>) {
        let Some(mount) = self.mounts.get_mut(&id) else { return };
        if let Some(before) = std::mem::replace(&mut mount.above, above) {
            self.places.remove(&before);
        }
        if let Some(above) = above {
            self.places.insert(above, id);
        }
    }

    /// The top of all that is mounted at a place.
    pub(crate) fn cross(&self, mut at: At) -> At {
        while let Some(id) = self.places.get(&at)
            && let Some(mount) = self.mounts.get(id)
        {
            at = At { mount: *id, ino: mount.root };
        }
        at
    }

    /// The place that a mount covers, if this is its top; nothing where none is above.
    pub(crate) fn below(&self, at: At) -> Option<Option<At>> {
        let mount = self.mounts.get(&at.mount).filter(|mount| mount.root == at.ino)?;
        Some(mount.above)
    }

    /// The mounts of a namespace with their ids, rising.
    pub(crate) fn of(&self, namespace: NsId) -> impl Iterator<Item = (MountId, &Mount)> {
        self.mounts
            .iter()
            .filter(move |(_, mount)| mount.namespace == namespace)
            .map(|(id, mount)| (*id, mount))
    }

    /// The mounts directly upon one.
    pub(crate) fn children(&self, id: MountId) -> Vec<MountId> {
        let upon = |mount: &Mount| mount.above.is_some_and(|above| above.mount == id);
        self.mounts.iter().filter(|(_, mount)| upon(mount)).map(|(id, _)| *id).collect()
    }

    /// A mount and all upon it, from the bottom.
    pub(crate) fn tree(&self, id: MountId) -> Vec<MountId> {
        let mut all = vec![id];
        let mut at = 0;
        while let Some(id) = all.get(at).copied() {
            all.extend(self.children(id));
            at += 1;
        }
        all
    }

    /// Takes a mount away with all upon it; who is in one stays there.
    pub(crate) fn detach(&mut self, id: MountId) {
        for id in self.tree(id).into_iter().rev() {
            self.move_to(id, None);
        }
    }

    /// Forgets the mounts that are attached nowhere and that nobody is in; their tops.
    pub(crate) fn collect(&mut self, used: &BTreeSet<MountId>) -> Vec<Ino> {
        let roots: BTreeSet<MountId> = self.roots.values().copied().collect();
        let gone =
            |id: &MountId, mount: &Mount| mount.above.is_none() && !roots.contains(id) && !used.contains(id);
        let ids: Vec<MountId> =
            self.mounts.iter().filter(|(id, mount)| gone(id, mount)).map(|(id, _)| *id).collect();
        let tops = ids.iter().filter_map(|id| Some(self.mounts.remove(id)?.root)).collect();
        if !self.read_only.is_empty() {
            let there: BTreeSet<u64> = self.mounts.values().map(|mount| mount.device).collect();
            self.read_only.retain(|device| there.contains(device));
        }
        tops
    }

    /// Takes all mounts of a namespace away that is gone.
    pub(crate) fn remove_namespace(&mut self, namespace: NsId) {
        let ids: Vec<MountId> = self.of(namespace).map(|(id, _)| id).collect();
        self.roots.remove(&namespace);
        ids.into_iter().for_each(|id| self.move_to(id, None));
    }

    /// Copies the mounts of a namespace into a new one: each old one with its copy. With less
    /// privilege they are locked to each other, and only told of what happens to the old ones.
    pub(crate) fn copy(&mut self, from: NsId, to: NsId, locked: bool) -> BTreeMap<MountId, MountId> {
        let Some(root) = self.root_of(from) else { return BTreeMap::new() };
        let mut copies = BTreeMap::new();
        for id in self.tree(root) {
            let mut mount = self.mounts[&id].clone();
            mount.namespace = to;
            mount.above = mount
                .above
                .and_then(|above| Some(At { mount: copies.get(&above.mount).copied()?, ino: above.ino }));
            if locked {
                mount.locked_flags |= mount.flags & FORBIDS | ATIME;
                mount.locked = mount.above.is_some();
                let shared = mount.propagation.shared.take();
                mount.propagation.master = shared.or(mount.propagation.master);
            }
            copies.insert(id, self.add(mount));
        }
        self.roots.insert(to, copies[&root]);
        copies
    }
}
