//! The file system calls against the host's own: the same steps are taken natively in one directory
//! and by the emulated kernel in another, and every answer and the resulting trees must be the
//! same.

mod escape;
mod files;
mod same;
mod special;

use std::path::{Path, PathBuf};

use crate::abi::fs::*;
use crate::kernel::config::KernelConfig;
use crate::kernel::cred::User;
use crate::kernel::sched::QUANTUM;
use crate::kernel::vfs::policy::Policy;
use crate::syscalls::fs::FDCWD;
use crate::syscalls::testing::{DATA, Machine};

/// Addresses of the first and the second path of a call, and of its bytes.
const PATHS: [u64; 2] = [DATA, DATA + 4096];
pub(crate) const BUF: u64 = DATA + 8192;

/// Numbers of the calls that tests make by name.
pub(crate) mod nr {
    pub(crate) const READ: u64 = 0;
    pub(crate) const WRITE: u64 = 1;
    pub(crate) const OPEN: u64 = 2;
    pub(crate) const CLOSE: u64 = 3;
    pub(crate) const STAT: u64 = 4;
    pub(crate) const FSTAT: u64 = 5;
    pub(crate) const LSTAT: u64 = 6;
    pub(crate) const LSEEK: u64 = 8;
    pub(crate) const PIPE: u64 = 22;
    pub(crate) const DUP: u64 = 32;
    pub(crate) const DUP2: u64 = 33;
    pub(crate) const FCNTL: u64 = 72;
    pub(crate) const TRUNCATE: u64 = 76;
    pub(crate) const FTRUNCATE: u64 = 77;
    pub(crate) const GETCWD: u64 = 79;
    pub(crate) const CHDIR: u64 = 80;
    pub(crate) const MKDIR: u64 = 83;
    pub(crate) const RMDIR: u64 = 84;
    pub(crate) const LINK: u64 = 86;
    pub(crate) const UNLINK: u64 = 87;
    pub(crate) const SYMLINK: u64 = 88;
    pub(crate) const READLINK: u64 = 89;
    pub(crate) const CHMOD: u64 = 90;
    pub(crate) const GETDENTS64: u64 = 217;
    pub(crate) const EPOLL_WAIT: u64 = 232;
    pub(crate) const EPOLL_CTL: u64 = 233;
    pub(crate) const LINKAT: u64 = 265;
    pub(crate) const UTIMENSAT: u64 = 280;
    pub(crate) const FALLOCATE: u64 = 285;
    pub(crate) const EVENTFD2: u64 = 290;
    pub(crate) const EPOLL_CREATE1: u64 = 291;
    pub(crate) const RENAMEAT2: u64 = 316;
    pub(crate) const MEMFD_CREATE: u64 = 319;
}

/// Result of a call: a value, or the error number.
pub(crate) type Answer<T> = Result<T, i32>;

fn answer(value: i64) -> Answer<i64> {
    if (-4095..0).contains(&value) { Err(-value as i32) } else { Ok(value) }
}

/// An emulated machine whose calls take Rust values.
pub(crate) struct Guest {
    pub(crate) machine: Machine,
}

impl Guest {
    pub(crate) fn new(cwd: &Path, allow_write: &[&Path]) -> Guest {
        let machine = Machine::with(&KernelConfig {
            allow_write: allow_write.iter().map(PathBuf::from).collect(),
            policy: Policy::everything(),
            cwd: cwd.into(),
            // Some tests do the same with the host's own files.
            user: User { uid: rustix::process::getuid().as_raw(), gid: rustix::process::getgid().as_raw() },
            seed: 1,
            max_processes: None,
            max_files: None,
            max_output: None,
            quantum: QUANTUM,
            schedule_seed: None,
            memory_limit: 64 << 20,
            interrupt: Default::default(),
            front: None,
            input: None,
            journal: false,
            outside: Vec::new(),
        });
        let mut guest = Guest { machine };
        guest.machine.kernel.fs_context_mut().umask = 0o022;
        guest
    }

    pub(crate) fn call(&mut self, number: u64, args: &[u64]) -> Answer<i64> {
        answer(self.machine.call(number, args))
    }

    fn path(&mut self, slot: usize, path: &str) -> u64 {
        self.machine.put(PATHS[slot], path.as_bytes());
        self.machine.put(PATHS[slot] + path.len() as u64, &[0]);
        PATHS[slot]
    }

    /// A call whose first argument is a path.
    pub(crate) fn on(&mut self, number: u64, path: &str, args: &[u64]) -> Answer<i64> {
        let addr = self.path(0, path);
        let all: Vec<u64> = std::iter::once(addr).chain(args.iter().copied()).collect();
        self.call(number, &all)
    }

    /// A call whose first two arguments are paths.
    pub(crate) fn on_two(&mut self, number: u64, first: &str, second: &str) -> Answer<i64> {
        let args = [self.path(0, first), self.path(1, second)];
        self.call(number, &args)
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str, flags: u32) -> Answer<i64> {
        let (from, to) = (self.path(0, from), self.path(1, to));
        self.call(nr::RENAMEAT2, &[FDCWD, from, FDCWD, to, flags.into()])
    }

    pub(crate) fn open(&mut self, path: &str, flags: u32, mode: u32) -> Answer<i64> {
        self.on(nr::OPEN, path, &[flags.into(), mode.into()])
    }

    pub(crate) fn close(&mut self, fd: i64) {
        assert_eq!(self.call(nr::CLOSE, &[fd as u64]), Ok(0));
    }

    pub(crate) fn write(&mut self, fd: i64, bytes: &[u8]) -> Answer<i64> {
        self.machine.put(BUF, bytes);
        self.call(nr::WRITE, &[fd as u64, BUF, bytes.len() as u64])
    }

    pub(crate) fn read(&mut self, fd: i64, len: u64) -> Answer<Vec<u8>> {
        let count = self.call(nr::READ, &[fd as u64, BUF, len])?;
        Ok(self.machine.get(BUF, count as usize))
    }

    pub(crate) fn read_file(&mut self, path: &str) -> Answer<Vec<u8>> {
        let fd = self.open(path, 0, 0)?;
        let mut bytes = Vec::new();
        let result = loop {
            match self.read(fd, 4096) {
                Ok(piece) if piece.is_empty() => break Ok(bytes),
                Ok(mut piece) => bytes.append(&mut piece),
                Err(errno) => break Err(errno),
            }
        };
        self.close(fd);
        result
    }

    /// Opens, writes and closes; the number of bytes written.
    pub(crate) fn put_file(&mut self, path: &str, flags: u32, mode: u32, bytes: &[u8]) -> Answer<i64> {
        let fd = self.open(path, flags, mode)?;
        let result = self.write(fd, bytes);
        self.close(fd);
        result
    }

    /// st_mode, st_nlink, and st_size except of directories.
    pub(crate) fn stat(&mut self, number: u64, path: &str) -> Answer<(u32, u64, u64)> {
        self.on(number, path, &[BUF])?;
        Ok(self.stat_at_buf())
    }

    pub(crate) fn fstat(&mut self, fd: i64) -> Answer<(u32, u64, u64)> {
        self.call(nr::FSTAT, &[fd as u64, BUF])?;
        Ok(self.stat_at_buf())
    }

    fn stat_at_buf(&mut self) -> (u32, u64, u64) {
        let mode = self.machine.word(BUF + 24) as u32;
        let dir = mode & S_IFMT == S_IFDIR;
        (mode, self.machine.word(BUF + 16), if dir { 0 } else { self.machine.word(BUF + 48) })
    }

    pub(crate) fn ino(&mut self, path: &str) -> u64 {
        self.on(nr::LSTAT, path, &[BUF]).unwrap();
        self.machine.word(BUF + 8)
    }

    pub(crate) fn readlink(&mut self, path: &str) -> Answer<Vec<u8>> {
        let count = self.on(nr::READLINK, path, &[BUF, 4096])?;
        Ok(self.machine.get(BUF, count as usize))
    }

    /// Names in the order of getdents64(2).
    pub(crate) fn list(&mut self, path: &str) -> Answer<Vec<String>> {
        let fd = self.open(path, O_DIRECTORY, 0)?;
        let mut names = Vec::new();
        loop {
            let count = self.call(nr::GETDENTS64, &[fd as u64, BUF, 256])?;
            if count == 0 {
                break;
            }
            let bytes = self.machine.get(BUF, count as usize);
            let mut at = 0;
            while at < bytes.len() {
                let len = usize::from(u16::from_le_bytes([bytes[at + 16], bytes[at + 17]]));
                let name = bytes[at + 19..at + len].split(|byte| *byte == 0).next().unwrap();
                names.push(String::from_utf8(name.to_vec()).unwrap());
                at += len;
            }
        }
        self.close(fd);
        Ok(names)
    }

    /// Every path beneath a directory with its stat(2), readlink(2) and read(2), as far as allowed.
    pub(crate) fn tree(&mut self, root: &str) -> Vec<String> {
        let names = match self.list(root) {
            Ok(mut names) => {
                names[2..].sort();
                names
            }
            Err(errno) => return vec![format!("error {errno}")],
        };
        let mut lines = Vec::new();
        for name in names.into_iter().skip(2) {
            let path = format!("{root}/{name}");
            let stat = self.stat(nr::LSTAT, &path);
            let content = match stat.map(|stat| stat.0 & S_IFMT) {
                Ok(S_IFLNK) => self.readlink(&path),
                Ok(S_IFREG) => self.read_file(&path),
                _ => Ok(Vec::new()),
            };
            lines.push(format!("{name} {stat:?} {content:?}"));
            if stat.is_ok_and(|stat| stat.0 & S_IFMT == S_IFDIR) {
                lines.extend(self.tree(&path).iter().map(|line| format!("{name}/{line}")));
            }
        }
        lines
    }
}

/// `Guest::tree` of the host itself.
pub(crate) fn native_tree(root: &Path) -> Vec<String> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    let errno = |error: std::io::Error| error.raw_os_error().unwrap();
    let entries = match std::fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) => return vec![format!("error {}", errno(error))],
    };
    let mut lines = Vec::new();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        let path = root.join(&name);
        let stat = std::fs::symlink_metadata(&path).map_err(errno).map(|meta| {
            let size = if meta.is_dir() { 0 } else { meta.len() };
            (meta.mode(), meta.nlink(), size)
        });
        let content = match stat.map(|stat| stat.0 & S_IFMT) {
            Ok(S_IFLNK) => std::fs::read_link(&path).map(|target| target.as_os_str().as_bytes().to_vec()),
            Ok(S_IFREG) => std::fs::read(&path),
            _ => Ok(Vec::new()),
        };
        let (name, content) = (name.to_str().unwrap(), content.map_err(errno));
        lines.push(format!("{name} {stat:?} {content:?}"));
        if stat.is_ok_and(|stat| stat.0 & S_IFMT == S_IFDIR) {
            lines.extend(native_tree(&path).iter().map(|line| format!("{name}/{line}")));
        }
    }
    lines
}
