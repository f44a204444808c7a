//! Credentials of a task: credentials(7), capabilities(7).

use crate::abi::errno::Errno;
use crate::abi::process::CAP_LAST_CAP;

/// Every capability.
pub(crate) const CAP_FULL_SET: u64 = (1 << (CAP_LAST_CAP + 1)) - 1;

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

/// Capability sets of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Those that permission checks see.
    pub effective: u64,
    /// Those that may become effective.
    pub permitted: u64,
    /// Those that execve(2) keeps.
    pub inheritable: u64,
}

impl Capabilities {
    /// Sets of a fresh process of a user: everything for root, nothing for others.
    fn of(uid: u32) -> Capabilities {
        let set = if uid == 0 { CAP_FULL_SET } else { 0 };
        Capabilities { effective: set, permitted: set, inheritable: 0 }
    }

    /// Replaces the sets, capset(2). Capabilities can only be given up; EPERM.
    pub fn set(&mut self, new: Capabilities) -> Result<(), Errno> {
        let effective = new.effective & CAP_FULL_SET;
        let permitted = new.permitted & CAP_FULL_SET;
        let inheritable = new.inheritable & CAP_FULL_SET;
        let grows =
            permitted & !self.permitted != 0 || inheritable & !(self.inheritable | self.permitted) != 0;
        if grows || effective & !permitted != 0 {
            return Err(Errno::EPERM);
        }
        *self = Capabilities { effective, permitted, inheritable };
        Ok(())
    }
}

/// Credentials of a task, `struct cred`.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// User id: real, effective and saved are the same.
    pub uid: u32,
    /// Group id: real, effective and saved are the same.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
    /// Capability sets.
    pub caps: Capabilities,
    /// SECBIT_KEEP_CAPS, prctl(2) PR_SET_KEEPCAPS.
    pub keepcaps: bool,
}

impl Credentials {
    /// Those of a user who has just logged in: the one group is also supplementary.
    pub(super) fn of(user: User) -> Credentials {
        Credentials {
            uid: user.uid,
            gid: user.gid,
            groups: vec![user.gid],
            caps: Capabilities::of(user.uid),
            keepcaps: false,
        }
    }
}
