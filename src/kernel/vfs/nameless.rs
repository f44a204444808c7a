//! Attributes of pipes, sockets and message queues, which no directory of a file system has: calls
//! change them as they do those of files.

use crate::abi::capability::{CAP_CHOWN, CAP_FOWNER};
use crate::abi::errno::Errno;
use crate::abi::fs::{S_IFMT, W_OK};
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::node::set_id_bits;
use crate::kernel::vfs::time::{Time, Times};

/// The attributes that fchmod(2), fchown(2) and futimens(2) change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nameless {
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) times: Times,
}

impl Nameless {
    fn is_owned(&self, caller: &Caller) -> bool {
        caller.cred.uid.fs == self.uid || caller.cred.capable_over_file(self.uid, self.gid, CAP_FOWNER)
    }

    /// Checks that the caller may set the times to now; EACCES.
    pub(crate) fn may_touch(&self, caller: &Caller) -> Result<(), Errno> {
        match self.is_owned(caller) {
            true => Ok(()),
            false => caller.granted((self.uid, self.gid), self.mode, false, W_OK),
        }
    }

    /// Changes the permissions; EPERM.
    pub(crate) fn chmod(&mut self, caller: &Caller, mode: u32) -> Result<(), Errno> {
        if !self.is_owned(caller) {
            return Err(Errno::EPERM);
        }
        self.mode = self.mode & S_IFMT | caller.mode_in_group(mode & 0o7777, self.gid);
        self.times.change = caller.now;
        Ok(())
    }

    /// Changes the owner, the group or neither; EINVAL, EPERM.
    pub(crate) fn chown(&mut self, caller: &Caller, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
        let (uid, gid, free) = caller.new_owner((self.uid, self.gid), uid, gid)?;
        if !free && !caller.cred.capable_over_file(self.uid, self.gid, CAP_CHOWN) {
            return Err(Errno::EPERM);
        }
        (self.uid, self.gid) = (uid.unwrap_or(self.uid), gid.unwrap_or(self.gid));
        self.mode &= !set_id_bits(self.mode);
        self.times.change = caller.now;
        Ok(())
    }

    /// Changes the times that are given, to the present one unless `explicit`; EPERM, EACCES.
    pub(crate) fn set_times(
        &mut self,
        caller: &Caller,
        access: Option<Time>,
        modify: Option<Time>,
        explicit: bool,
    ) -> Result<(), Errno> {
        if !explicit {
            self.may_touch(caller)?;
        } else if !self.is_owned(caller) {
            return Err(Errno::EPERM);
        }
        self.times.access = access.unwrap_or(self.times.access);
        self.times.modify = modify.unwrap_or(self.times.modify);
        self.times.change = caller.now;
        Ok(())
    }
}
