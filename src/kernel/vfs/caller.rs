//! The caller of a file system operation: its credentials, its working directory, its descriptors.

use std::sync::Arc;

use crate::abi::capability::{CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID};
use crate::abi::errno::Errno;
use crate::abi::fs::{R_OK, S_ISGID, W_OK, X_OK};
use crate::kernel::cred::Credentials;
use crate::kernel::fdtable::{FdTable, FileNo};
use crate::kernel::procfs::tasks::TaskTable;
use crate::kernel::vfs::context::FsContext;
use crate::kernel::vfs::mount::MountId;
use crate::kernel::vfs::node::{DirKind, Ino, Node};
use crate::kernel::vfs::proc_file::Subject;
use crate::kernel::vfs::time::Time;

/// An open file description as `/proc/PID/fd` shows it.
pub(crate) struct FdLink {
    /// The inode that the link leads to; without one only the descriptor itself leads there.
    pub(crate) target: Option<Ino>,
    /// The inode behind the description, if it has one.
    pub(crate) inode: Option<Ino>,
    /// The mount that it was opened in.
    pub(crate) mount: MountId,
    /// It was opened with O_PATH.
    pub(crate) is_path: bool,
    /// It may be read.
    pub(crate) readable: bool,
    /// It may be written.
    pub(crate) writable: bool,
    /// The path it was opened by.
    pub(crate) path: Arc<[u8]>,
}

/// Open file descriptions as `/proc/PID/fd` shows them.
pub(crate) trait FdLinks {
    /// The link of a description.
    fn link(&self, file: FileNo) -> FdLink;
    /// Tests whether a regular file is open for writing.
    fn is_written(&self, ino: Ino) -> bool;
}

/// The caller of an operation.
pub(crate) struct Caller<'a> {
    pub(crate) cred: &'a Credentials,
    pub(crate) context: &'a FsContext,
    pub(crate) fds: &'a FdTable,
    pub(crate) files: &'a dyn FdLinks,
    /// All tasks. None are shown to the loader, which looks for a program before it runs.
    pub(crate) tasks: Option<TaskTable<'a>>,
    /// CLOCK_REALTIME for time stamps; the epoch for operations that leave none.
    pub(crate) now: Time,
    /// RESOLVE_* of openat2(2).
    pub(crate) how: u64,
}

impl Caller<'_> {
    /// The link of a descriptor; EBADF.
    pub(crate) fn fd_link(&self, fd: i32) -> Result<FdLink, Errno> {
        Ok(self.files.link(self.fds.get(fd)?))
    }

    /// The tasks as `/proc` shows them; ENOENT where there are none.
    pub(crate) fn tasks(&self) -> Result<&TaskTable<'_>, Errno> {
        self.tasks.as_ref().ok_or(Errno::ENOENT)
    }

    /// The description behind `/proc/PID/fd/N`; ENOENT.
    pub(crate) fn file_of(&self, subject: Option<Subject>, fd: i32) -> Result<FileNo, Errno> {
        let fds = self.tasks()?.fds(subject.ok_or(Errno::ENOENT)?).ok_or(Errno::ENOENT)?;
        fds.get(fd).map_err(|_| Errno::ENOENT)
    }

    /// Checks that the caller may read (4), write (2) and execute or search (1) an inode, as the
    /// permission bits say; EACCES, or ESRCH for the directory of a process that is gone.
    /// CAP_DAC_OVERRIDE needs one execute bit.
    pub(crate) fn may(&self, node: &Node, wanted: u32) -> Result<(), Errno> {
        match (node.dir().map(|dir| dir.kind), node.subject) {
            // Also of a program that may not be looked into, `proc_fd_permission`.
            (Some(DirKind::Fd), Some(subject)) if self.tasks()?.is_own(subject) => return Ok(()),
            (Some(DirKind::Process), Some(subject))
                if self.tasks()?.number(node.pid_ns, subject).is_none() =>
            {
                return Err(Errno::ESRCH);
            }
            _ => {}
        }
        self.granted((node.uid, node.gid), node.mode, node.is_dir(), wanted)
    }

    /// The same for what has this owner and mode.
    pub(crate) fn granted(
        &self,
        (uid, gid): (u32, u32),
        mode: u32,
        is_dir: bool,
        wanted: u32,
    ) -> Result<(), Errno> {
        let granted = if self.cred.uid.fs == uid {
            mode >> 6
        } else if self.cred.in_group(gid) {
            mode >> 3
        } else {
            mode
        };
        let reads = if is_dir { wanted & W_OK == 0 } else { wanted == R_OK };
        let can_be = is_dir || wanted & X_OK == 0 || mode & 0o111 != 0;
        let capable = |capability| self.cred.capable_over_file(uid, gid, capability);
        let allowed = granted & wanted == wanted
            || reads && capable(CAP_DAC_READ_SEARCH)
            || can_be && capable(CAP_DAC_OVERRIDE);
        if allowed { Ok(()) } else { Err(Errno::EACCES) }
    }

    /// Checks that the caller owns an inode or acts as if it did; EPERM.
    pub(crate) fn owns(&self, node: &Node) -> Result<(), Errno> {
        let owns = self.cred.uid.fs == node.uid || self.capable(node, CAP_FOWNER);
        if owns { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Tells if the caller has a capability over an inode.
    pub(crate) fn capable(&self, node: &Node, capability: u64) -> bool {
        self.cred.capable_over_file(node.uid, node.gid, capability)
    }

    /// The kernel's ids of the owner and the group that are to be given to a file that another has,
    /// and whether anybody might give them so; EINVAL for ids that the caller's namespace lacks.
    pub(crate) fn new_owner(
        &self,
        of: (u32, u32),
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<(Option<u32>, Option<u32>, bool), Errno> {
        let user_ns = &self.cred.user_ns;
        let uid = uid.map(|uid| user_ns.uids.kernel_id(uid).ok_or(Errno::EINVAL)).transpose()?;
        let gid = gid.map(|gid| user_ns.gids.kernel_id(gid).ok_or(Errno::EINVAL)).transpose()?;
        let own = self.cred.uid.fs == of.0;
        let gives = uid.is_some_and(|uid| !own || uid != of.0);
        let passes = gid.is_some_and(|gid| !own || gid != of.1 && !self.cred.in_group(gid));
        Ok((uid, gid, !gives && !passes))
    }

    /// The mode that a file gets for `mode`: without the set-group-id bit, where the caller is not
    /// in the group.
    pub(crate) fn mode_in_group(&self, mode: u32, gid: u32) -> u32 {
        if self.cred.in_group(gid) || self.cred.capable_here(CAP_FSETID) { mode } else { mode & !S_ISGID }
    }
}
