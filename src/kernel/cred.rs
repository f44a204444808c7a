//! Credentials of a task: credentials(7), capabilities(7). The rules are those of Linux's
//! `kernel/sys.c` and `security/commoncap.c`. Ids are the kernel's; only what calls are given and
//! give is as the task's user namespace has it.

use std::sync::Arc;

use crate::abi::capability::*;
use crate::abi::errno::Errno;
use crate::abi::fs::{S_ISGID, S_ISUID, S_IXGRP};
use crate::kernel::namespace::user::{IdMap, UserNamespace};

/// A user of the emulated machine: the one who runs the program. Never the host's, so that a run is
/// the same for every user of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl Default for User {
    /// The first user of most systems.
    fn default() -> User {
        User { uid: 1000, gid: 1000 }
    }
}

/// An argument that leaves an id alone, (uid_t) -1.
const KEEP: u32 = u32::MAX;

/// The user ids of a task, or its group ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    /// The id that says whose the task is.
    pub real: u32,
    /// The id that permissions go by.
    pub effective: u32,
    /// The id that may become the effective one again.
    pub saved: u32,
    /// The id that permissions of files go by, which follows the effective one.
    pub fs: u32,
}

impl Ids {
    fn all(id: u32) -> Ids {
        Ids { real: id, effective: id, saved: id, fs: id }
    }

    fn three(self) -> [u32; 3] {
        [self.real, self.effective, self.saved]
    }

    /// setuid(2), setgid(2). `any`: the caller may take any id. EPERM, EINVAL.
    fn set(self, id: u32, any: bool) -> Result<Ids, Errno> {
        match id {
            KEEP => Err(Errno::EINVAL),
            id if any => Ok(Ids::all(id)),
            id if id == self.real || id == self.saved => Ok(Ids { effective: id, fs: id, ..self }),
            _ => Err(Errno::EPERM),
        }
    }

    /// setreuid(2), setregid(2); EPERM.
    fn set_two(self, real: u32, effective: u32, any: bool) -> Result<Ids, Errno> {
        let mut new = self;
        if real != KEEP {
            if !any && real != self.real && real != self.effective {
                return Err(Errno::EPERM);
            }
            new.real = real;
        }
        if effective != KEEP {
            if !any && !self.three().contains(&effective) {
                return Err(Errno::EPERM);
            }
            new.effective = effective;
        }
        if real != KEEP || effective != KEEP && effective != self.real {
            new.saved = new.effective;
        }
        Ok(Ids { fs: new.effective, ..new })
    }

    /// setresuid(2), setresgid(2); EPERM.
    fn set_three(self, wanted: [u32; 3], any: bool) -> Result<Ids, Errno> {
        let held = self.three();
        if !any && wanted.iter().any(|id| *id != KEEP && !held.contains(id)) {
            return Err(Errno::EPERM);
        }
        let [real, effective, saved] =
            [0, 1, 2].map(|at| if wanted[at] == KEEP { held[at] } else { wanted[at] });
        Ok(Ids { real, effective, saved, fs: effective })
    }

    /// setfsuid(2), setfsgid(2): nothing changes where it may not.
    fn set_fs(self, id: u32, any: bool) -> Ids {
        let may = any || id == self.fs || self.three().contains(&id);
        if id != KEEP && may { Ids { fs: id, ..self } } else { self }
    }
}

/// Calls that change ids, by their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// setuid(2), setgid(2).
    One(u32),
    /// setreuid(2), setregid(2).
    Two(u32, u32),
    /// setresuid(2), setresgid(2).
    Three([u32; 3]),
    /// setfsuid(2), setfsgid(2).
    Fs(u32),
}

impl Change {
    /// The change with the kernel's ids; EINVAL for those that a map does not have. setfsuid(2)
    /// leaves an id alone instead.
    fn in_kernel(self, map: &IdMap) -> Result<Change, Errno> {
        let id = |id: u32| if id == KEEP { Ok(KEEP) } else { map.kernel_id(id).ok_or(Errno::EINVAL) };
        Ok(match self {
            Change::One(one) => Change::One(id(one)?),
            Change::Two(real, effective) => Change::Two(id(real)?, id(effective)?),
            Change::Three([real, effective, saved]) => Change::Three([id(real)?, id(effective)?, id(saved)?]),
            Change::Fs(one) => Change::Fs(id(one).unwrap_or(KEEP)),
        })
    }

    fn of(self, ids: Ids, any: bool) -> Result<Ids, Errno> {
        match self {
            Change::One(id) => ids.set(id, any),
            Change::Two(real, effective) => ids.set_two(real, effective, any),
            Change::Three(wanted) => ids.set_three(wanted, any),
            Change::Fs(id) => Ok(ids.set_fs(id, any)),
        }
    }
}

/// Capability sets of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Those that permission checks see.
    pub effective: u64,
    /// Those that may become effective.
    pub permitted: u64,
    /// Those that execve(2) keeps where the file wants them.
    pub inheritable: u64,
    /// Those beyond which execve(2) gives none.
    pub bounding: u64,
    /// Those that execve(2) keeps.
    pub ambient: u64,
}

/// Credentials of a task, `struct cred`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// User ids.
    pub uid: Ids,
    /// Group ids.
    pub gid: Ids,
    /// Supplementary groups, by rising number.
    pub groups: Vec<u32>,
    /// Capability sets.
    pub caps: Capabilities,
    /// SECBIT_*, prctl(2) PR_SET_SECUREBITS.
    pub securebits: u32,
    /// The user namespace, which the capabilities are for.
    pub(crate) user_ns: Arc<UserNamespace>,
}

impl Credentials {
    /// Those of a user who has just logged in: the one group is also supplementary.
    pub(super) fn of(user: User) -> Credentials {
        let set = if user.uid == 0 { CAP_FULL_SET } else { 0 };
        Credentials {
            uid: Ids::all(user.uid),
            gid: Ids::all(user.gid),
            groups: vec![user.gid],
            caps: Capabilities {
                effective: set,
                permitted: set,
                bounding: CAP_FULL_SET,
                ..Capabilities::default()
            },
            securebits: 0,
            user_ns: UserNamespace::first(),
        }
    }

    /// Tells if a capability is effective in the machine's first user namespace, `capable`.
    pub fn capable(&self, capability: u64) -> bool {
        self.user_ns.is_first() && self.capable_here(capability)
    }

    /// EPERM unless a capability is effective in the machine's first user namespace.
    pub fn require(&self, capability: u64) -> Result<(), Errno> {
        if self.capable(capability) { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Tells if a capability is effective in the task's own user namespace.
    pub(crate) fn capable_here(&self, capability: u64) -> bool {
        self.caps.effective & 1 << capability != 0
    }

    /// EPERM unless a capability is effective in the task's own user namespace.
    pub(crate) fn require_here(&self, capability: u64) -> Result<(), Errno> {
        if self.capable_here(capability) { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Tells if a capability is effective in a user namespace, `ns_capable`.
    pub(crate) fn capable_over(&self, namespace: &UserNamespace, capability: u64) -> bool {
        namespace.grants(&self.user_ns, self.uid.effective, self.capable_here(capability))
    }

    /// EPERM unless a capability is effective in a user namespace.
    pub(crate) fn require_over(&self, namespace: &UserNamespace, capability: u64) -> Result<(), Errno> {
        if self.capable_over(namespace, capability) { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Tells if a capability is effective over a file of an owner and a group: those must be in the
    /// task's user namespace, `capable_wrt_inode_uidgid`.
    pub(crate) fn capable_over_file(&self, uid: u32, gid: u32, capability: u64) -> bool {
        let known = self.user_ns.is_first()
            || self.user_ns.uids.id(uid).is_some() && self.user_ns.gids.id(gid).is_some();
        known && self.capable_here(capability)
    }

    /// The kernel's id of the superuser of the task's user namespace.
    fn root(&self) -> Option<u32> {
        self.user_ns.uids.kernel_id(0)
    }

    /// Replaces the supplementary groups, setgroups(2); EPERM, EINVAL.
    pub(crate) fn set_groups(&mut self, groups: &[u32]) -> Result<(), Errno> {
        let kernel_id = |gid: &u32| self.user_ns.gids.kernel_id(*gid).ok_or(Errno::EINVAL);
        let mut groups = groups.iter().map(kernel_id).collect::<Result<Vec<u32>, _>>()?;
        groups.sort_unstable();
        self.groups = groups;
        Ok(())
    }

    /// Tells if setgroups(2) is allowed, `may_setgroups`; EPERM.
    pub(crate) fn may_set_groups(&self) -> Result<(), Errno> {
        self.require_here(CAP_SETGID)?;
        let may = self.user_ns.setgroups && self.user_ns.gids.is_set();
        if may { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Tells if files of a group are the task's, too.
    pub fn in_group(&self, gid: u32) -> bool {
        self.gid.fs == gid || self.groups.contains(&gid)
    }

    /// Changes user ids, and with them capabilities; EPERM, EINVAL.
    pub fn set_uid(&mut self, change: Change) -> Result<(), Errno> {
        let (old, root) = (self.uid, self.root());
        let is_root = |id: u32| Some(id) == root;
        self.uid = change.in_kernel(&self.user_ns.uids)?.of(old, self.capable_here(CAP_SETUID))?;
        if self.securebits & SECBIT_NO_SETUID_FIXUP != 0 {
            return Ok(());
        }
        let caps = &mut self.caps;
        if let Change::Fs(_) = change {
            match (is_root(old.fs), is_root(self.uid.fs)) {
                (true, false) => caps.effective &= !CAP_FS_SET,
                (false, true) => caps.effective |= CAP_FS_SET & caps.permitted,
                _ => {}
            }
            return Ok(());
        }
        let was_root = old.three().into_iter().any(is_root);
        if was_root && !self.uid.three().into_iter().any(is_root) {
            if self.securebits & SECBIT_KEEP_CAPS == 0 {
                (caps.permitted, caps.effective) = (0, 0);
            }
            caps.ambient = 0;
        }
        match (is_root(old.effective), is_root(self.uid.effective)) {
            (true, false) => caps.effective = 0,
            (false, true) => caps.effective = caps.permitted,
            _ => {}
        }
        Ok(())
    }

    /// Changes group ids; EPERM, EINVAL.
    pub fn set_gid(&mut self, change: Change) -> Result<(), Errno> {
        self.gid = change.in_kernel(&self.user_ns.gids)?.of(self.gid, self.capable_here(CAP_SETGID))?;
        Ok(())
    }

    /// Replaces the effective, permitted and inheritable sets, capset(2). EPERM for what may not be
    /// gained.
    pub fn set_caps(&mut self, effective: u64, permitted: u64, inheritable: u64) -> Result<(), Errno> {
        let [effective, permitted, inheritable] =
            [effective, permitted, inheritable].map(|set| set & CAP_FULL_SET);
        let old = self.caps;
        let within = |set: u64, all: u64| set & !all == 0;
        let any = self.capable_here(CAP_SETPCAP);
        if !any && !within(inheritable, old.inheritable | old.permitted)
            || !within(inheritable, old.inheritable | old.bounding)
            || !within(permitted, old.permitted)
            || !within(effective, permitted)
        {
            return Err(Errno::EPERM);
        }
        let ambient = old.ambient & permitted & inheritable;
        self.caps = Capabilities { effective, permitted, inheritable, ambient, ..old };
        Ok(())
    }

    /// Takes a capability out of the bounding set, prctl(2) PR_CAPBSET_DROP; EPERM, EINVAL.
    pub fn drop_bounding(&mut self, capability: u64) -> Result<(), Errno> {
        self.require_here(CAP_SETPCAP)?;
        if capability > CAP_LAST_CAP {
            return Err(Errno::EINVAL);
        }
        self.caps.bounding &= !(1 << capability);
        Ok(())
    }

    /// prctl(2) PR_SET_SECUREBITS; EPERM.
    pub fn set_securebits(&mut self, bits: u64) -> Result<(), Errno> {
        let (held, bits) = (u64::from(self.securebits), bits);
        let locks = held & u64::from(SECURE_ALL_LOCKS);
        let known = u64::from(SECURE_ALL_LOCKS | SECURE_ALL_BITS);
        if locks >> 1 & (held ^ bits) != 0 || locks & !bits != 0 || bits & !known != 0 {
            return Err(Errno::EPERM);
        }
        if (held ^ bits) & !u64::from(SECURE_ALL_UNPRIVILEGED) != 0 || held == bits {
            self.require_here(CAP_SETPCAP)?;
        }
        self.securebits = bits as u32;
        Ok(())
    }

    /// prctl(2) PR_SET_KEEPCAPS; EPERM where that is locked.
    pub fn set_keep_caps(&mut self, keep: bool) -> Result<(), Errno> {
        if self.securebits & SECBIT_KEEP_CAPS_LOCKED != 0 {
            return Err(Errno::EPERM);
        }
        self.securebits = self.securebits & !SECBIT_KEEP_CAPS | if keep { SECBIT_KEEP_CAPS } else { 0 };
        Ok(())
    }

    /// prctl(2) PR_CAP_AMBIENT_RAISE; EPERM unless it is permitted and inheritable.
    pub fn raise_ambient(&mut self, capability: u64) -> Result<(), Errno> {
        let both = self.caps.permitted & self.caps.inheritable;
        if both & 1 << capability == 0 || self.securebits & SECBIT_NO_CAP_AMBIENT_RAISE != 0 {
            return Err(Errno::EPERM);
        }
        self.caps.ambient |= 1 << capability;
        Ok(())
    }

    /// Becomes what execve(2) makes of it for a file with this mode and owner. Files have no
    /// capabilities. True if the program gained something that its caller did not have, AT_SECURE.
    pub fn exec(&mut self, mode: u32, owner: User, no_new_privs: bool) -> bool {
        let old = self.clone();
        // Set-id bits of owners that the namespace does not have mean nothing in it.
        let known = self.user_ns.uids.id(owner.uid).is_some() && self.user_ns.gids.id(owner.gid).is_some();
        let root = self.root();
        let is_root = |id: u32| Some(id) == root;
        if !no_new_privs && known {
            if mode & S_ISUID != 0 {
                self.uid.effective = owner.uid;
            }
            if mode & (S_ISGID | S_IXGRP) == S_ISGID | S_IXGRP {
                self.gid.effective = owner.gid;
            }
        }
        let caps = &mut self.caps;
        let root_is_special = self.securebits & SECBIT_NOROOT == 0;
        let privileged = root_is_special && (is_root(self.uid.effective) || is_root(self.uid.real));
        let all_effective = root_is_special && is_root(self.uid.effective);
        caps.permitted = if privileged { caps.bounding | caps.inheritable } else { 0 };
        let set_id = self.uid.effective != old.uid.real || self.gid.effective != old.gid.real;
        if no_new_privs {
            caps.permitted &= old.caps.permitted;
        }
        (self.uid.saved, self.uid.fs) = (self.uid.effective, self.uid.effective);
        (self.gid.saved, self.gid.fs) = (self.gid.effective, self.gid.effective);
        if set_id {
            caps.ambient = 0;
        }
        caps.permitted |= caps.ambient;
        caps.effective = if all_effective { caps.permitted } else { caps.ambient };
        self.securebits &= !SECBIT_KEEP_CAPS;
        let gained = all_effective || caps.permitted & !caps.ambient != 0;
        set_id || !is_root(self.uid.real) && gained
    }

    /// The credentials that access(2) asks for: those of the real ids.
    pub(crate) fn real(&self) -> Credentials {
        let mut cred = self.clone();
        (cred.uid.fs, cred.gid.fs) = (self.uid.real, self.gid.real);
        if self.securebits & SECBIT_NO_SETUID_FIXUP == 0 {
            cred.caps.effective = if Some(self.uid.real) == self.root() { self.caps.permitted } else { 0 };
        }
        cred
    }
}

#[cfg(test)]
mod tests;
