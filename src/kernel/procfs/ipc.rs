//! Texts of `/proc/sysvipc`.

use std::fmt::Write as _;

use crate::guest::{GuestMemory, PAGE_SIZE};
use crate::kernel::ipc::ids::Perm;
use crate::kernel::state::Kernel;

/// Columns of owners.
fn owners(perm: &Perm) -> String {
    format!("{:5} {:5} {:5} {:5}", perm.uid, perm.gid, perm.cuid, perm.cgid)
}

impl Kernel {
    /// `/proc/sysvipc/msg`.
    pub(super) fn proc_msg(&self) -> String {
        let mut text =
            "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      \
                        stime      rtime      ctime\n"
                .to_owned();
        for entry in self.ipc.msg.iter() {
            let (perm, queue) = (&entry.perm, &entry.object);
            let _ = writeln!(
                text,
                "{:10} {:10}  {:4o}  {:10} {:10} {:5} {:5} {} {:10} {:10} {:10}",
                perm.key,
                entry.id,
                perm.mode,
                queue.bytes,
                queue.len(),
                queue.sender,
                queue.receiver,
                owners(perm),
                queue.sent,
                queue.received,
                queue.changed,
            );
        }
        text
    }

    /// `/proc/sysvipc/sem`.
    pub(super) fn proc_sem(&self) -> String {
        let mut text =
            "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n"
                .to_owned();
        for entry in self.ipc.sem.iter() {
            let (perm, set) = (&entry.perm, &entry.object);
            let _ = writeln!(
                text,
                "{:10} {:10}  {:4o} {:10} {} {:10} {:10}",
                perm.key,
                entry.id,
                perm.mode,
                set.semaphores.len(),
                owners(perm),
                set.operated,
                set.changed,
            );
        }
        text
    }

    /// `/proc/sysvipc/shm`.
    pub(super) fn proc_shm(&self, mem: &dyn GuestMemory) -> String {
        let mut text =
            "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  \
                        cgid      atime      dtime      ctime                   rss                  swap\n"
                .to_owned();
        for entry in self.ipc.shm.iter() {
            let (perm, segment) = (&entry.perm, &entry.object);
            let next = |at: u64| mem.object_next_page(segment.object, at);
            let pages = std::iter::successors(next(0), |page| next(page + PAGE_SIZE)).count() as u64;
            let _ = writeln!(
                text,
                "{:10} {:10}  {:4o} {:21} {:5} {:5}  {:5} {} {:10} {:10} {:10} {:21} {:21}",
                perm.key,
                entry.id,
                perm.mode,
                segment.size,
                segment.creator,
                segment.last,
                mem.object_views(segment.object),
                owners(perm),
                segment.attached,
                segment.detached,
                segment.changed,
                pages * PAGE_SIZE,
                0,
            );
        }
        text
    }
}
