//! Texts about locks and leases of files.

use crate::abi::fs::{F_RDLCK, F_UNLCK};
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::lease::Lease;
use crate::kernel::file::locks::{Holder, LAST_BYTE, Locked, Record};
use crate::kernel::state::Kernel;
use crate::kernel::vfs::node::{ANON_DEV, Ino, PIPE_DEV};

impl Kernel {
    /// Gives the files numbers that have locks, and that of a description: these texts show them.
    pub(super) fn number_files(&mut self, file: Option<FileNo>) {
        let locks = self.files.locks();
        let whole = locks.whole().map(|(at, _)| at);
        let locked = whole.chain(locks.records().map(|(at, _)| at)).filter_map(|at| match at {
            Locked::Inode(ino) => Some(ino),
            _ => None,
        });
        let open = file.and_then(|file| self.files.get(file).ops.inode());
        let shown: Vec<Ino> =
            locked.chain(self.files.leases.iter().map(|(ino, _)| ino)).chain(open).collect();
        for ino in shown {
            self.fs.number(ino);
        }
    }

    /// `/proc/locks`: every lock, file after file.
    pub(super) fn proc_locks(&self) -> String {
        self.lock_lines("", |_| true)
    }

    /// Lines of `/proc/PID/fdinfo/N` about the locks that were set through a description.
    pub(super) fn fdinfo_locks(&self, file: FileNo) -> String {
        self.lock_lines("lock:\t", |through| through == file)
    }

    /// Device and inode number of a description's file.
    pub(super) fn numbers_of(&self, file: FileNo) -> (u64, u64) {
        let ops = &self.files.get(file).ops;
        match (ops.inode(), ops.pipe()) {
            (Some(ino), _) => self.numbers(Locked::Inode(ino)),
            (None, Some(pipe)) => self.numbers(Locked::Pipe(pipe)),
            (None, None) => self.numbers(Locked::Description(file)),
        }
    }

    fn numbers(&self, what: Locked) -> (u64, u64) {
        match what {
            Locked::Inode(ino) => {
                let node = self.fs.node(ino);
                (node.dev, self.fs.number_if_shown(ino).unwrap_or(0))
            }
            Locked::Pipe(pipe) => (PIPE_DEV, self.fs.pipes.get(pipe).map_or(0, |pipe| pipe.number)),
            Locked::Description(_) => (ANON_DEV, 1),
        }
    }

    /// Numbered lines about the locks that are meant, as `lock_get_status` of Linux prints them.
    fn lock_lines(&self, before: &str, meant: impl Fn(FileNo) -> bool) -> String {
        let mut lines = Vec::new();
        for (at, (_, exclusive, pid)) in self.files.locks().whole().filter(|(_, (file, ..))| meant(*file)) {
            let pid = self.shown_pid(pid);
            let kind = format!("FLOCK  ADVISORY  {}", access(exclusive));
            lines.push((at, format!("{kind} {pid}"), "0 EOF".to_owned()));
        }
        for (at, record) in self.files.locks().records().filter(|(_, record)| meant(record.file)) {
            let Record { holder, pid, exclusive, start, end, .. } = *record;
            let (kind, pid) = match holder {
                Holder::Table(_) => ("POSIX ", self.shown_pid(pid)),
                Holder::Description(_) => ("OFDLCK", -1),
            };
            let end = if end == LAST_BYTE { "EOF".to_owned() } else { end.to_string() };
            lines.push((
                at,
                format!("{kind} ADVISORY  {} {pid}", access(exclusive)),
                format!("{start} {end}"),
            ));
        }
        for (ino, lease) in self.files.leases.iter().filter(|(_, lease)| meant(lease.file)) {
            let Lease { pid, write, pending, .. } = *lease;
            let pid = self.shown_pid(pid);
            let state = if pending.is_some() { "BREAKING  " } else { "ACTIVE    " };
            let kind = match pending {
                Some(F_UNLCK) => "UNLCK",
                Some(F_RDLCK) => "READ",
                _ => access(write),
            };
            lines.push((Locked::Inode(ino), format!("LEASE  {state}{kind} {pid}"), "0 EOF".to_owned()));
        }
        lines.sort_by_key(|(at, ..)| *at);
        let line = |(number, (at, what, range)): (usize, &(Locked, String, String))| {
            let (dev, inode) = self.numbers(*at);
            format!("{before}{}: {what} {:02x}:{:02x}:{inode} {range}\n", number + 1, dev >> 8, dev & 0xff)
        };
        lines.iter().enumerate().map(line).collect()
    }
}

fn access(exclusive: bool) -> &'static str {
    if exclusive { "WRITE" } else { "READ" }
}
