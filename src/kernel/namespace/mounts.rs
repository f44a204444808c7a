//! Changes of mounts, mount(2), umount(2), pivot_root(2), and the tables of `/proc/PID`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::GuestMemory;
use crate::kernel::arena::{FsContextId, TaskId};
use crate::kernel::namespace::enter::Copies;
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::namespace::table::MOST;
use crate::kernel::state::Kernel;
use crate::kernel::vfs::context::FsContext;
use crate::kernel::vfs::mount::{At, Mount, MountId, Propagation, mount_flags};
use crate::kernel::vfs::node::Ino;
use crate::kernel::vfs::resolve::Found;
use crate::kernel::vfs::time::Time;
use crate::kernel::vfs::tmpfs::Options;

/// Most mounts of the machine, `/proc/sys/fs/mount-max`.
const MOST_MOUNTS: usize = 64 * MOST;

/// Files of `/proc/PID` about mounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MountTable {
    Mounts,
    Info,
    Stats,
}

impl Kernel {
    /// Checks that the running task may mount in its namespace; EPERM.
    pub(crate) fn may_mount(&self) -> Result<(), Errno> {
        self.require_in(self.task().namespaces.mnt, CAP_SYS_ADMIN)
    }

    /// The mount at a place of the running task's namespace; EINVAL for those of others.
    fn mount_here(&self, at: At) -> Result<&Mount, Errno> {
        let mount =
            self.fs.mounts.get(at.mount).filter(|mount| mount.namespace == self.task().namespaces.mnt);
        mount.ok_or(Errno::EINVAL)
    }

    /// The same, of which the place must be the top; EINVAL.
    fn mount_at(&self, at: At) -> Result<&Mount, Errno> {
        self.mount_here(at).ok().filter(|mount| mount.root == at.ino).ok_or(Errno::EINVAL)
    }

    /// Directory and name of a place that is no directory; not of one that is mounted upon, which
    /// has them.
    fn name_of_file(&self, found: &Found, at: At) -> Option<(Ino, Arc<[u8]>)> {
        let covered = self.fs.mounts.below(at).is_some();
        (!covered && !self.fs.node(at.ino).is_dir()).then(|| (found.dir, found.name[..].into()))
    }

    /// Mounts a tree, on top of what is there; EINVAL, ENOTDIR, EBUSY, ENOSPC.
    fn attach(&mut self, mount: Mount, found: &Found) -> Result<MountId, Errno> {
        let target = found.there()?;
        self.mount_here(target)?;
        if self.fs.mounts.len() >= MOST_MOUNTS {
            return Err(Errno::ENOSPC);
        }
        if self.fs.node(mount.root).is_dir() != self.fs.node(target.ino).is_dir() {
            return Err(Errno::ENOTDIR);
        }
        self.fs.hold(mount.root);
        let name = self.name_of_file(found, target);
        Ok(self.fs.mounts.add(Mount { above: Some(target), name, ..mount }))
    }

    /// Mounts a new file system: its kind, its options, and flags of mount(2); ENODEV, EPERM,
    /// EINVAL and others.
    pub(crate) fn mount_new(
        &mut self,
        target: &Found,
        (source, kind, data): (&[u8], &[u8], &[u8]),
        flags: u64,
        now: Time,
    ) -> Result<(), Errno> {
        let device = |kernel: &Kernel, ino| kernel.fs.node(ino).dev;
        let mut options = String::new();
        let mut owner = self.task().cred.user_ns.id;
        let mut read_only = flags & MS_RDONLY != 0;
        let (kind, root, device) = match kind {
            b"tmpfs" | b"ramfs" => {
                let ramfs = kind == b"ramfs";
                let cred = &self.task().cred;
                let given = Options::parse(data, ramfs, cred)?;
                let top = given.top(ramfs, cred);
                read_only |= given.read_only;
                let (root, device, shown) = self.fs.make_tmpfs(Some(&given).filter(|_| !ramfs), top, now);
                options = if ramfs { given.shown_of_ramfs() } else { shown };
                (if ramfs { "ramfs" } else { "tmpfs" }, root, device)
            }
            b"proc" => {
                let pid_ns = self.task().namespaces.pid;
                self.require_in(pid_ns, CAP_SYS_ADMIN)?;
                let root = self.fs.proc_of(pid_ns);
                ("proc", root, device(self, root))
            }
            b"sysfs" | b"devpts" => {
                let own = self.fs.mounts.of(Kind::Mnt.first());
                let own = own.map(|(_, mount)| mount).find(|mount| mount.kind.as_bytes() == kind);
                let own = own.ok_or(Errno::ENODEV)?;
                owner = own.owner;
                (own.kind, own.root, own.device)
            }
            b"ext4" | b"devtmpfs" | b"cgroup2" | b"mqueue" if !self.task().cred.user_ns.is_first() => {
                return Err(Errno::EPERM);
            }
            _ => return Err(Errno::ENODEV),
        };
        let propagation = self.propagation_under(target.mount_there);
        let mount = Mount {
            namespace: self.task().namespaces.mnt,
            above: None,
            name: None,
            root,
            part: b"/"[..].into(),
            source: if source.is_empty() { b"none"[..].into() } else { source.into() },
            kind,
            device,
            owner,
            flags: mount_flags(flags),
            options,
            propagation,
            locked: false,
            locked_flags: 0,
        };
        let made = mount.device;
        let done = self.attach(mount, target);
        if done.is_err() && matches!(kind, "tmpfs" | "ramfs") {
            self.fs.drop_tmpfs(root);
        }
        if done.is_ok() && matches!(kind, "tmpfs" | "ramfs") {
            self.fs.mounts.set_read_only(made, read_only);
        }
        done.map(|_| ())
    }

    /// The group of a new mount: one of its own where mounts are shared.
    fn propagation_under(&mut self, target: MountId) -> Propagation {
        let shared = self.fs.mounts.get(target).is_some_and(|mount| mount.propagation.shared.is_some());
        Propagation { shared: shared.then(|| self.fs.mounts.next_group()), ..Propagation::default() }
    }

    /// Shows a part of the tree at another place, MS_BIND; with `recursive` what is mounted upon it
    /// too. EINVAL.
    pub(crate) fn mount_bind(&mut self, found: &Found, target: &Found, recursive: bool) -> Result<(), Errno> {
        let source = found.there()?;
        let from = match self.fs.mounts.get(source.mount) {
            Some(_) => self.mount_here(source)?.clone(),
            // A namespace that is open.
            None => return Err(Errno::EINVAL),
        };
        if from.propagation.unbindable {
            return Err(Errno::EINVAL);
        }
        let upon: Vec<MountId> = self.fs.mounts.children(source.mount);
        let upon: Vec<MountId> = upon.into_iter().filter(|id| self.lies_beneath(*id, source)).collect();
        let locked =
            |kernel: &Kernel, id: &MountId| kernel.fs.mounts.get(*id).is_some_and(|mount| mount.locked);
        if !recursive && upon.iter().any(|id| locked(self, id)) {
            return Err(Errno::EINVAL);
        }
        let part = match source.ino == from.root || source.mount != found.mount {
            true => b"/".to_vec(),
            false => self.fs.path_in(At { mount: source.mount, ino: from.root }, found).to_vec(),
        };
        let part = if from.part.len() > 1 { [&from.part[..], &part[..]].concat() } else { part };
        let part =
            if part.len() > 1 && part.ends_with(b"/") { part[..part.len() - 1].to_vec() } else { part };
        let top = Mount { root: source.ino, part: part.into(), locked: false, ..from };
        let top = self.attach(top, target)?;
        if recursive {
            let mut copies = BTreeMap::from([(source.mount, top)]);
            for first in upon {
                for id in self.fs.mounts.tree(first) {
                    let Some(mount) = self.fs.mounts.get(id).cloned() else { continue };
                    let above = mount.above.and_then(|above| {
                        Some(At { mount: copies.get(&above.mount).copied()?, ino: above.ino })
                    });
                    // What lies upon the copy itself was not there when the call began.
                    if let Some(above) = above.filter(|_| id != top) {
                        self.fs.hold(mount.root);
                        copies.insert(id, self.fs.mounts.add(Mount { above: Some(above), ..mount }));
                    }
                }
            }
        }
        Ok(())
    }

    /// Tells if a mount covers something beneath a place of the same mount.
    fn lies_beneath(&self, id: MountId, at: At) -> bool {
        let above = self.fs.mounts.get(id).and_then(|mount| mount.above);
        above.is_some_and(|above| above.mount == at.mount && self.fs.is_beneath_in(above.ino, at.ino))
    }

    /// Moves a mount, MS_MOVE; EINVAL, ELOOP.
    pub(crate) fn mount_move(&mut self, source: At, found: &Found) -> Result<(), Errno> {
        let target = found.there()?;
        let from = self.mount_at(source)?;
        if from.above.is_none() || from.locked {
            return Err(Errno::EINVAL);
        }
        self.mount_here(target)?;
        if self.fs.node(source.ino).is_dir() != self.fs.node(target.ino).is_dir() {
            return Err(Errno::EINVAL);
        }
        if self.fs.mounts.tree(source.mount).contains(&target.mount) {
            return Err(Errno::ELOOP);
        }
        let name = self.name_of_file(found, target);
        self.fs.mounts.move_to(source.mount, Some(target));
        if let Some(mount) = self.fs.mounts.get_mut(source.mount) {
            mount.name = name;
        }
        Ok(())
    }

    /// Changes the flags of a mount and the bounds of its tmpfs, MS_REMOUNT; EINVAL, EBUSY, and
    /// EPERM for flags that are locked.
    pub(crate) fn mount_remount(
        &mut self,
        target: At,
        flags: u64,
        data: &[u8],
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let mount = self.mount_at(target)?;
        let (new, device, owner) = (mount.changed_flags(flags)?, mount.device, mount.owner);
        let whole = flags & MS_BIND == 0;
        let mut given = None;
        if whole {
            if matches!(mount.kind, "tmpfs" | "ramfs") {
                given = Some(Options::parse(data, mount.kind == "ramfs", &self.task().cred)?);
            }
            self.task().cred.require_over(self.namespaces.user(owner), CAP_SYS_ADMIN)?;
        }
        let of = |id: MountId| self.fs.mounts.get(id).is_some_and(|mount| whole && mount.device == device);
        let held = self.fs.mounts.flags(target.mount);
        let mut writers = self.files.writers().filter(|id| *id == target.mount || of(*id));
        let read_only = flags & MS_RDONLY != 0 || given.as_ref().is_some_and(|given| given.read_only);
        let loses = new & MS_RDONLY != 0 || whole && read_only;
        if loses && held & MS_RDONLY == 0 && writers.next().is_some() {
            return Err(Errno::EBUSY);
        }
        drop(writers);
        if let Some(shown) =
            given.and_then(|given| self.fs.tmpfs.reconfigure(device, &given, mem).transpose())
        {
            self.fs.mounts.set_options(device, &shown?);
        }
        if let Some(mount) = self.fs.mounts.get_mut(target.mount) {
            mount.flags = new;
        }
        if whole {
            self.fs.mounts.set_read_only(device, read_only);
        }
        Ok(())
    }

    /// Changes how a mount is told of others, MS_SHARED and its kin; EINVAL.
    pub(crate) fn mount_propagation(&mut self, target: At, flags: u64) -> Result<(), Errno> {
        self.mount_at(target)?;
        let kinds = flags & (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE);
        if kinds.count_ones() != 1 {
            return Err(Errno::EINVAL);
        }
        let all = if flags & MS_REC != 0 { self.fs.mounts.tree(target.mount) } else { vec![target.mount] };
        for id in all {
            let fresh = self.fs.mounts.next_group();
            let Some(mount) = self.fs.mounts.get_mut(id) else { continue };
            let held = mount.propagation;
            mount.propagation = match kinds {
                MS_SHARED => Propagation { shared: held.shared.or(Some(fresh)), unbindable: false, ..held },
                MS_SLAVE => {
                    Propagation { shared: None, master: held.shared.or(held.master), unbindable: false }
                }
                _ => Propagation { unbindable: kinds == MS_UNBINDABLE, ..Propagation::default() },
            };
        }
        Ok(())
    }

    /// Takes a mount away, umount(2); EINVAL, EBUSY, EAGAIN.
    pub(crate) fn unmount(&mut self, at: At, flags: u32) -> Result<(), Errno> {
        let at = self.fs.mounts.cross(at);
        let mount = self.mount_at(at)?;
        if mount.locked {
            return Err(Errno::EINVAL);
        }
        let is_root = mount.above.is_none();
        let own = |context: &FsContext| context.root.mount == at.mount;
        if flags & MNT_DETACH == 0 {
            let used = self.used_mounts();
            if is_root || used.contains(&at.mount) || !self.fs.mounts.children(at.mount).is_empty() {
                return Err(Errno::EBUSY);
            }
        } else if is_root || own(self.fs_context()) && self.fs_context().root == at {
            return Err(if is_root { Errno::EINVAL } else { Errno::EBUSY });
        }
        if flags & MNT_EXPIRE != 0 {
            return Err(Errno::EAGAIN); // marked: the next call would take it away
        }
        self.fs.mounts.detach(at.mount);
        Ok(())
    }

    /// The mounts that a task or a description is in.
    fn used_mounts(&self) -> BTreeSet<MountId> {
        let contexts = self.fs_contexts.iter().flat_map(|(_, held)| [held.root.mount, held.cwd.mount]);
        contexts.chain(self.files.mounts()).collect()
    }

    /// Forgets the mounts that were taken away and that nobody is in any more.
    pub(crate) fn collect_mounts(&mut self, mem: &mut dyn GuestMemory) {
        let used = self.used_mounts();
        for root in self.fs.mounts.collect(&used) {
            self.fs.let_go(root, mem);
        }
    }

    /// Makes a mount the root of the namespace, and puts the old root at a place beneath it,
    /// pivot_root(2); EINVAL, EBUSY, ENOTDIR.
    pub(crate) fn pivot_root(&mut self, new: At, old: At) -> Result<(), Errno> {
        let root = self.fs_context().root;
        for at in [new, old] {
            if !self.fs.node(at.ino).is_dir() {
                return Err(Errno::ENOTDIR);
            }
        }
        let (mount, current) = (self.mount_here(new)?.clone(), self.mount_here(root)?.clone());
        self.mount_here(old)?;
        let shared = mount.propagation.shared.is_some() || current.propagation.shared.is_some();
        if mount.locked || shared {
            return Err(Errno::EINVAL);
        }
        if new.mount == root.mount || old.mount == root.mount {
            return Err(Errno::EBUSY);
        }
        let beneath = self.fs.mounts.tree(new.mount).contains(&old.mount);
        if mount.root != new.ino || current.root != root.ino || mount.above.is_none() || !beneath {
            return Err(Errno::EINVAL);
        }
        self.fs.mounts.move_to(new.mount, None);
        let above = current.above;
        self.fs.mounts.move_to(root.mount, Some(old));
        self.fs.mounts.move_to(new.mount, above);
        if above.is_none() {
            self.fs.mounts.set_root(self.task().namespaces.mnt, new.mount);
        }
        // Whoever is at the old root goes to the new one.
        let ids: Vec<_> = self.fs_contexts.iter().map(|(id, _)| id).collect();
        for id in ids {
            let context = &mut self.fs_contexts[id];
            for place in [&mut context.root, &mut context.cwd] {
                if *place == root {
                    *place = new;
                    self.fs.hold(new.ino);
                }
            }
        }
        Ok(())
    }

    /// Gives a context the places of a copied namespace.
    pub(crate) fn follow_copies(&mut self, context: FsContextId, copies: &Copies) {
        let context = &mut self.fs_contexts[context];
        for place in [&mut context.root, &mut context.cwd] {
            if let Some(copy) = copies.get(&place.mount) {
                place.mount = *copy;
            }
        }
    }

    /// The root of a mount namespace.
    pub(crate) fn root_of_mounts(&self, namespace: NsId) -> Option<At> {
        let mount = self.fs.mounts.root_of(namespace)?;
        Some(self.fs.mounts.cross(At { mount, ino: self.fs.mounts.get(mount)?.root }))
    }

    /// The mounts that a task sees, as a file of `/proc/PID` shows them.
    pub(crate) fn mount_table(&self, task: TaskId, table: MountTable) -> Vec<u8> {
        let task = self.other_task(task);
        let root = self.fs_contexts[task.shared.fs_context].root;
        let mut text = Vec::new();
        for (id, mount) in self.fs.mounts.of(task.namespaces.mnt) {
            let (path, seen) = self.fs.path_from(root, At { mount: id, ino: mount.root });
            let top = mount.above.is_none() && root.mount != id;
            if !seen || top {
                continue;
            }
            let (path, source) = (escaped(&path), escaped(&mount.source));
            let whole = if self.fs.mounts.is_read_only(mount.device) { "ro" } else { "rw" };
            let flags = match table {
                MountTable::Mounts => shown_flags(self.fs.mounts.flags(id)),
                _ => shown_flags(mount.flags),
            };
            let Mount { kind, options, device, propagation, .. } = mount;
            let (major, minor) = (device >> 8, device & 0xff);
            let line = match table {
                MountTable::Mounts => format!("{source} {path} {kind} {flags}{options} 0 0\n"),
                MountTable::Stats => format!("device {source} mounted on {path} with fstype {kind}\n"),
                MountTable::Info => {
                    let parent = mount.above.map_or(1, |above| above.mount.0);
                    let shared = propagation.shared.map_or(String::new(), |group| format!(" shared:{group}"));
                    let master = propagation.master.map_or(String::new(), |group| format!(" master:{group}"));
                    let unbindable = if propagation.unbindable { " unbindable" } else { "" };
                    let part = escaped(&mount.part);
                    format!(
                        "{} {parent} {major}:{minor} {part} {path} {flags}{shared}{master}{unbindable} - {kind} \
                         {source} {whole}{options}\n",
                        id.0
                    )
                }
            };
            text.extend(line.into_bytes());
        }
        text
    }
}

/// A name without blanks and backslashes, as the tables of mounts have it.
fn escaped(name: &[u8]) -> String {
    let mut text = String::new();
    for byte in String::from_utf8_lossy(name).chars() {
        match byte {
            ' ' | '\t' | '\n' | '\\' => {
                let _ = write!(text, "\\{:03o}", byte as u32);
            }
            other => text.push(other),
        }
    }
    text
}

fn shown_flags(flags: u64) -> String {
    let mut text = if flags & MS_RDONLY != 0 { "ro" } else { "rw" }.to_owned();
    for (flag, name) in [
        (MS_NOSUID, "nosuid"),
        (MS_NODEV, "nodev"),
        (MS_NOEXEC, "noexec"),
        (MS_NOATIME, "noatime"),
        (MS_NODIRATIME, "nodiratime"),
        (MS_RELATIME, "relatime"),
        (MS_NOSYMFOLLOW, "nosymfollow"),
    ] {
        if flags & flag != 0 {
            let _ = write!(text, ",{name}");
        }
    }
    text
}
