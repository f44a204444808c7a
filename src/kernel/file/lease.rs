//! Leases, fcntl(2) F_SETLEASE: a description is told before somebody opens or cuts its file in a
//! way that conflicts.

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::fs::{F_RDLCK, F_UNLCK, F_WRLCK};
use crate::kernel::fdtable::FileNo;
use crate::kernel::vfs::node::Ino;

/// Nanoseconds until a lease that is not given back is taken, `/proc/sys/fs/lease-break-time`.
pub(crate) const BREAK_TIME: u64 = 45_000_000_000;

/// A lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) file: FileNo,
    /// The descriptor that asked for it.
    fd: i32,
    /// The process that asked for it.
    pub(crate) pid: i32,
    /// It is for writing.
    pub(crate) write: bool,
    /// Kind that it must become: F_RDLCK or F_UNLCK.
    pub(crate) pending: Option<u16>,
}

impl Lease {
    fn conflicts(&self, write: bool) -> bool {
        write || self.write
    }
}

/// Leases of every file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    held: BTreeMap<Ino, Vec<Lease>>,
    /// Files whose leases have become fewer or less.
    freed: Vec<Ino>,
}

impl Leases {
    /// Takes the files whose leases have become fewer or less, for those who wait for them.
    pub(crate) fn take_freed(&mut self) -> Vec<Ino> {
        std::mem::take(&mut self.freed)
    }

    /// Takes a lease or changes one. `others` tells how often the file is open otherwise: at all,
    /// and for writing. EAGAIN.
    pub(crate) fn set(
        &mut self,
        ino: Ino,
        (file, fd, pid): (FileNo, i32, i32),
        write: bool,
        others: (usize, usize),
    ) -> Result<(), Errno> {
        let held = self.held.entry(ino).or_default();
        let mine = held.iter().position(|lease| lease.file == file);
        let rival = |lease: &Lease| lease.file != file && (write || lease.pending.is_some());
        let refused = others.1 > 0 || (write && others.0 > 0) || held.iter().any(rival);
        if !refused {
            let lease = Lease { file, fd, pid, write, pending: None };
            match mine {
                Some(at) => {
                    held[at] = Lease { fd: held[at].fd, ..lease };
                    self.freed.push(ino);
                }
                None => held.push(lease),
            }
        }
        if held.is_empty() {
            self.held.remove(&ino);
        }
        if refused { Err(Errno::EAGAIN) } else { Ok(()) }
    }

    /// Gives up the lease of a description; EAGAIN if it has none.
    pub(crate) fn remove(&mut self, ino: Ino, file: FileNo) -> Result<(), Errno> {
        let held = self.held.get_mut(&ino).ok_or(Errno::EAGAIN)?;
        let at = held.iter().position(|lease| lease.file == file).ok_or(Errno::EAGAIN)?;
        held.remove(at);
        self.freed.push(ino);
        if held.is_empty() {
            self.held.remove(&ino);
        }
        Ok(())
    }

    /// Every lease.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ino, &Lease)> {
        self.held.iter().flat_map(|(ino, held)| held.iter().map(|lease| (*ino, lease)))
    }

    /// The lease of a description as F_GETLEASE tells it.
    pub(crate) fn get(&self, ino: Ino, file: FileNo) -> u16 {
        let lease = self.held.get(&ino).into_iter().flatten().find(|lease| lease.file == file);
        lease.map_or(F_UNLCK, |lease| lease.pending.unwrap_or(if lease.write { F_WRLCK } else { F_RDLCK }))
    }

    /// Tells if opening a file, for writing or not, must wait for leases on it.
    pub(crate) fn conflict(&self, ino: Ino, write: bool) -> bool {
        self.held.get(&ino).into_iter().flatten().any(|lease| lease.conflicts(write))
    }

    /// Asks for the leases that stand in the way; returns those that were not asked for yet, each
    /// with its descriptor.
    pub(crate) fn recall(&mut self, ino: Ino, write: bool) -> Vec<(FileNo, i32)> {
        let mut told = Vec::new();
        for lease in self.held.get_mut(&ino).into_iter().flatten().filter(|lease| lease.conflicts(write)) {
            let wanted = if write { F_UNLCK } else { F_RDLCK };
            if lease.pending != Some(wanted) && lease.pending != Some(F_UNLCK) {
                lease.pending = Some(wanted);
                told.push((lease.file, lease.fd));
            }
        }
        told
    }

    /// Takes what was asked for and not given back.
    pub(crate) fn expire(&mut self, ino: Ino) {
        let Some(held) = self.held.get_mut(&ino) else { return };
        self.freed.push(ino);
        held.retain(|lease| lease.pending != Some(F_UNLCK));
        for lease in held.iter_mut().filter(|lease| lease.pending.is_some()) {
            (lease.write, lease.pending) = (false, None);
        }
        if held.is_empty() {
            self.held.remove(&ino);
        }
    }
}
