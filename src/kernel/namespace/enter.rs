//! Ways into another namespace, unshare(2), clone(2), setns(2), and the maps of a user namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::abi::capability::{CAP_FULL_SET, CAP_SETGID, CAP_SETUID, CAP_SYS_ADMIN, CAP_SYS_CHROOT};
use crate::abi::errno::Errno;
use crate::abi::process::CLONE_NEWUSER;
use crate::guest::GuestMemory;
use crate::kernel::arena::TaskId;
use crate::kernel::cred::{Capabilities, Credentials};
use crate::kernel::namespace::kind::{Kind, Namespaces, NsId};
use crate::kernel::namespace::user::{IdMap, UserNamespace};
use crate::kernel::state::Kernel;
use crate::kernel::uts::Names;
use crate::kernel::vfs::mount::{At, MountId};
use crate::kernel::vfs::node::Ino;
use crate::kernel::vfs::proc_file::ProcFile;

/// The kinds that unshare(2) and clone(2) make, in the order of `create_new_namespaces`.
const KINDS: [Kind; 7] = [Kind::Mnt, Kind::Uts, Kind::Ipc, Kind::Pid, Kind::Cgroup, Kind::Net, Kind::Time];

/// Mounts of a namespace with their copies in a new one.
pub(crate) type Copies = BTreeMap<MountId, MountId>;

impl Kernel {
    /// The names of the machine as the running task sees them.
    pub fn names(&self) -> &Names {
        self.namespaces.names(self.task().namespaces.uts)
    }

    /// The same to be changed.
    pub(crate) fn names_mut(&mut self) -> &mut Names {
        let id = self.task().namespaces.uts;
        self.namespaces.names_mut(id)
    }

    /// Checks that the running task has a capability over what belongs to a namespace,
    /// `ns_capable`; EPERM.
    pub(crate) fn require_in(&self, namespace: NsId, capability: u64) -> Result<(), Errno> {
        self.task().cred.require_over(self.namespaces.owner(namespace), capability)
    }

    /// Gives credentials a user namespace of their own, with all capabilities in it,
    /// `create_user_ns`; EPERM, ENOSPC.
    pub(crate) fn enter_new_user(&mut self, cred: &mut Credentials) -> Result<(), Errno> {
        let above = cred.user_ns.clone();
        let known = above.uids.id(cred.uid.effective).and(above.gids.id(cred.gid.effective));
        if known.is_none() || self.is_chrooted() {
            return Err(Errno::EPERM);
        }
        // The depth is looked at before a number is given out.
        UserNamespace::below(&above, above.id, cred.uid.effective)?;
        let id = self.namespaces.add(Kind::User, &above)?;
        let made = UserNamespace::below(&above, id, cred.uid.effective)?;
        self.namespaces.set_user(made.clone());
        cred.enter(made);
        Ok(())
    }

    /// Tells if the running task's root is not that of its mount namespace, `current_chrooted`.
    fn is_chrooted(&self) -> bool {
        let namespace = self.task().namespaces.mnt;
        self.fs.mounts.root_of(namespace).is_some_and(|mount| {
            let root = self.fs.mounts.get(mount).map(|mount| mount.root);
            root.is_some_and(|ino| self.fs_context().root != self.fs.mounts.cross(At { mount, ino }))
        })
    }

    /// Makes the namespaces that flags of clone(2) ask for, with CLONE_NEWUSER those of a task with
    /// `cred`, which has entered the new user namespace already; EPERM, ENOSPC.
    pub(crate) fn new_namespaces(
        &mut self,
        flags: u64,
        cred: &Credentials,
        mem: &mut dyn GuestMemory,
    ) -> Result<(Namespaces, Copies), Errno> {
        let (mut namespaces, mut copies) = (self.task().namespaces, Copies::new());
        if KINDS.iter().all(|kind| flags & kind.flag() == 0) {
            return Ok((namespaces, copies));
        }
        cred.require_here(CAP_SYS_ADMIN)?;
        self.collect_namespaces(mem);
        if flags & Kind::Pid.flag() != 0 {
            if namespaces.pid != namespaces.pid_of_children {
                return Err(Errno::EINVAL);
            }
            self.pids.may_be_below(namespaces.pid)?;
        }
        for kind in KINDS.into_iter().filter(|kind| flags & kind.flag() != 0) {
            let id = self.namespaces.add(kind, &cred.user_ns)?;
            match kind {
                Kind::Uts => *self.namespaces.names_mut(id) = self.names().clone(),
                Kind::Net => self.fs.net.add_namespace(id),
                Kind::Pid => self.pids.add_space(id, namespaces.pid),
                Kind::Mnt => {
                    let from = namespaces.mnt;
                    let locked = self.namespaces.owner(from).id != cred.user_ns.id;
                    copies = self.fs.mounts.copy(from, id, locked);
                    let tops: Vec<Ino> = self.fs.mounts.of(id).map(|(_, mount)| mount.root).collect();
                    tops.into_iter().for_each(|ino| self.fs.hold(ino));
                }
                _ => {}
            }
            namespaces.set(kind, id);
        }
        Ok((namespaces, copies))
    }

    /// Takes the running task out of the namespaces that flags of unshare(2) name.
    pub(crate) fn unshare_namespaces(&mut self, flags: u64, mem: &mut dyn GuestMemory) -> Result<(), Errno> {
        let mut cred = self.task().cred.clone();
        if flags & CLONE_NEWUSER != 0 {
            self.enter_new_user(&mut cred)?;
        }
        let (namespaces, copies) = self.new_namespaces(flags, &cred, mem)?;
        self.follow_copies(self.task().shared.fs_context, &copies);
        let task = self.task_mut();
        (task.cred, task.namespaces) = (cred, namespaces);
        self.ipc.enter(namespaces.ipc);
        Ok(())
    }

    /// Puts the running task into a namespace, setns(2); EINVAL, EPERM.
    pub(crate) fn enter_namespace(
        &mut self,
        kind: Kind,
        id: NsId,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let cred = self.task().cred.clone();
        if kind == Kind::User {
            let user = self.namespaces.user(id).clone();
            let shares_fs = self.fs_contexts.holders(self.task().shared.fs_context) > 1;
            if user.id == cred.user_ns.id || !self.is_alone(true) || shares_fs {
                return Err(Errno::EINVAL);
            }
            cred.require_over(&user, CAP_SYS_ADMIN)?;
            self.task_mut().cred.enter(user);
            return Ok(());
        }
        self.require_in(id, CAP_SYS_ADMIN)?;
        cred.require_here(CAP_SYS_ADMIN)?;
        if kind == Kind::Mnt {
            cred.require_here(CAP_SYS_CHROOT)?;
        }
        if kind == Kind::Pid && !self.pids.is_within(id, self.task().namespaces.pid) {
            return Err(Errno::EINVAL);
        }
        if kind == Kind::Mnt {
            let shared = self.task().shared.fs_context;
            if self.fs_contexts.holders(shared) > 1 {
                return Err(Errno::EINVAL);
            }
            let root = self.root_of_mounts(id).ok_or(Errno::EINVAL)?;
            let context = &mut self.fs_contexts[shared];
            for place in [&mut context.root, &mut context.cwd] {
                self.fs.hold(root.ino);
                let before = std::mem::replace(place, root);
                self.fs.let_go(before.ino, mem);
            }
        }
        self.task_mut().namespaces.set(kind, id);
        if kind == Kind::Ipc {
            self.ipc.enter(id);
        }
        Ok(())
    }

    /// Forgets the namespaces that no task is in and no descriptor names.
    fn collect_namespaces(&mut self, mem: &mut dyn GuestMemory) {
        let mut used: BTreeSet<NsId> = self.fs.held_namespaces();
        for (_, task) in self.tasks.iter() {
            used.extend(task.namespaces.all());
            used.insert(task.cred.user_ns.id);
        }
        used.extend(self.pids.above(&used));
        let Kernel { namespaces, ipc, fs, pids, .. } = self;
        let keeps = |kind: Kind, id: NsId| match kind {
            Kind::Ipc => !ipc.destroy(id, mem),
            Kind::Net => fs.net.is_used(id),
            _ => false,
        };
        for (kind, id) in namespaces.collect(&used, keeps) {
            if kind == Kind::Net {
                fs.net.remove_namespace(id);
            }
            if kind == Kind::Ipc {
                fs.mqueues.leave(id);
            }
            if kind == Kind::Mnt {
                fs.mounts.remove_namespace(id);
            }
            if kind == Kind::Pid {
                pids.remove_space(id);
                fs.forget_proc_of(id);
            }
            fs.forget_namespace(id);
        }
    }

    /// Takes a map of ids, or a word about setgroups(2), that is written for the user namespace of
    /// a task: `map_write`, `proc_setgroups_write`; EPERM, EINVAL.
    pub(crate) fn write_user_map(&mut self, task: TaskId, file: ProcFile, bytes: &[u8]) -> Result<(), Errno> {
        let own = self.task().cred.clone();
        let mut namespace = UserNamespace::clone(&self.other_task(task).cred.user_ns);
        if file == ProcFile::SetGroups {
            let word =
                bytes.split(|byte| byte.is_ascii_whitespace() || *byte == 0).next().unwrap_or_default();
            let allow = match word {
                b"allow" => true,
                b"deny" => false,
                _ => return Err(Errno::EINVAL),
            };
            own.require_over(&namespace, CAP_SYS_ADMIN)?;
            if allow && !namespace.setgroups || !allow && namespace.gids.is_set() {
                return Err(Errno::EPERM);
            }
            namespace.setgroups = allow;
        } else {
            let Some(parent) = namespace.parent.clone() else { return Err(Errno::EPERM) };
            let (map, capability) = match file {
                ProcFile::UidMap => (&namespace.uids, Some(CAP_SETUID)),
                ProcFile::GidMap => (&namespace.gids, Some(CAP_SETGID)),
                _ => (&namespace.projects, None),
            };
            if map.is_set() || own.user_ns.id != namespace.id && own.user_ns.id != parent.id {
                return Err(Errno::EPERM);
            }
            if capability.is_some() {
                own.require_over(&namespace, CAP_SYS_ADMIN)?;
            }
            let extents = IdMap::parse(bytes)?;
            let above = self.namespaces.user(parent.id).clone();
            let below = match file {
                ProcFile::UidMap => &above.uids,
                ProcFile::GidMap => &above.gids,
                _ => &above.projects,
            };
            let map = IdMap::over(below, &extents);
            if let Some(capability) = capability {
                // An unprivileged user may map itself, and its group where none can be dropped.
                let single =
                    extents.len() == 1 && extents[0].count == 1 && namespace.owner == own.uid.effective;
                let maps_itself = single
                    && match file {
                        ProcFile::UidMap => {
                            below.kernel_id(extents[0].lower_first) == Some(own.uid.effective)
                        }
                        _ => {
                            !namespace.setgroups
                                && below.kernel_id(extents[0].lower_first) == Some(own.gid.effective)
                        }
                    };
                if !maps_itself {
                    own.require_over(&above, capability)?;
                }
            }
            let map = map?;
            match file {
                ProcFile::UidMap => namespace.uids = map,
                ProcFile::GidMap => namespace.gids = map,
                _ => namespace.projects = map,
            }
        }
        let namespace = Arc::new(namespace);
        for task in self.tasks.values_mut().filter(|task| task.cred.user_ns.id == namespace.id) {
            task.cred.user_ns = namespace.clone();
        }
        self.namespaces.set_user(namespace);
        Ok(())
    }
}

impl Credentials {
    /// Enters a user namespace with all capabilities there, `set_cred_user_ns`.
    fn enter(&mut self, namespace: Arc<UserNamespace>) {
        self.user_ns = namespace;
        self.securebits = 0;
        self.caps = Capabilities {
            effective: CAP_FULL_SET,
            permitted: CAP_FULL_SET,
            bounding: CAP_FULL_SET,
            ..Capabilities::default()
        };
    }
}
