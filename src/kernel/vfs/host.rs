//! The only file that touches the host's file system. Every path here is absolute and free of
//! symbolic links; opening one that no longer is fails, so the guest cannot leave a directory that
//! it may change.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;

use rustix::fd::OwnedFd;
use rustix::fs::{
    self, AtFlags, CWD, FileType, IFlags, Mode, OFlags, RawDir, ResolveFlags, SeekFrom, Stat, XattrFlags,
};

use crate::abi::errno::Errno;

/// Extended attributes by name.
pub(crate) type Xattrs = BTreeMap<Vec<u8>, Vec<u8>>;

/// A path of the host, as bytes.
pub(crate) type HostPath = std::sync::Arc<[u8]>;

/// The host allows no further descriptor. Like Linux's ERESTARTSYS never seen by a program: the run
/// stops, since the emulated machine has descriptors enough.
pub(crate) const NO_DESCRIPTOR: Errno = Errno(600);

impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Errno {
        if matches!(error, rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) {
            return NO_DESCRIPTOR;
        }
        Errno(u16::try_from(error.raw_os_error()).unwrap_or(Errno::EIO.0))
    }
}

/// The error number of an I/O error of the standard library.
pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().and_then(|raw| u16::try_from(raw).ok()).map_or(Errno::EIO, Errno)
}

/// `dir/name`.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> HostPath {
    let mut path = dir.to_vec();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path.into()
}

/// Directory and last name of a path.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => (b"/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"/", path),
    }
}

/// lstat(2), which follows no link on the way either.
pub(crate) fn lstat(path: &[u8]) -> Result<Stat, Errno> {
    Ok(fs::fstat(look(path)?)?)
}

/// fstat(2).
pub(crate) fn fstat(file: &File) -> Result<Stat, Errno> {
    Ok(fs::fstat(file)?)
}

/// Checks that this process may read a file or a directory, access(2).
pub(crate) fn may_read(path: &[u8]) -> Result<(), Errno> {
    Ok(fs::accessat(CWD, path, fs::Access::READ_OK, AtFlags::EACCESS)?)
}

/// readlink(2), likewise.
pub(crate) fn readlink(path: &[u8]) -> Result<Vec<u8>, Errno> {
    Ok(fs::readlinkat(look(path)?, "", Vec::new())?.into_bytes())
}

/// Opens without following any symbolic link; walks by hand on kernels and in jails without
/// openat2(2).
fn open_plain(path: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match fs::openat2(CWD, path, flags, mode, ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS) {
        Ok(fd) => return Ok(fd),
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    let step = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let (dir, name) = split(path);
    let mut at = fs::open("/", step, Mode::empty())?;
    for part in dir.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        at = fs::openat(&at, part, step, Mode::empty())?;
    }
    let name = if name.is_empty() { &b"."[..] } else { name };
    Ok(fs::openat(&at, name, flags, mode)?)
}

fn open_dir(path: &[u8]) -> Result<OwnedFd, Errno> {
    open_plain(path, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
}

/// Opens a regular file. Nothing else is opened: a pipe of the host could block, a device could
/// act.
pub(crate) fn open_file(path: &[u8], read: bool, write: bool) -> Result<File, Errno> {
    let access = match (read, write) {
        (_, false) => OFlags::RDONLY,
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
    };
    let file = File::from(open_plain(path, access | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())?);
    if FileType::from_raw_mode(fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(Errno::EACCES);
    }
    Ok(file)
}

/// Makes a regular file that was not there, open for reading and writing.
pub(crate) fn create_file(dir: &[u8], name: &[u8], mode: u32) -> Result<File, Errno> {
    let dir = open_dir(dir)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = fs::openat(&dir, name, flags, Mode::from_raw_mode(mode))?;
    fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    Ok(File::from(file))
}

/// The names in a directory, sorted by their bytes, without `.` and `..`.
pub(crate) fn names(path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let fd = open_plain(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    let mut buf = Vec::with_capacity(32 * 1024);
    let mut dir = RawDir::new(&fd, buf.spare_capacity_mut());
    let mut names = Vec::new();
    while let Some(entry) = dir.next() {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Counts the directories in a directory, of those with names that are `counted`.
pub(crate) fn subdirectories(path: &[u8], counted: impl Fn(&[u8]) -> bool) -> Result<u32, Errno> {
    let fd = open_plain(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    let mut buf = Vec::with_capacity(32 * 1024);
    let mut dir = RawDir::new(&fd, buf.spare_capacity_mut());
    let mut count = 0;
    while let Some(entry) = dir.next() {
        let entry = entry?;
        let dots = matches!(entry.file_name().to_bytes(), b"." | b"..");
        let is_dir = match entry.file_type() {
            FileType::Unknown => {
                let stat = fs::statat(&fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode) == FileType::Directory
            }
            kind => kind == FileType::Directory,
        };
        count += u32::from(is_dir && !dots && counted(entry.file_name().to_bytes()));
    }
    Ok(count)
}

/// mkdir(2); the mode is set whatever the umask of this process is.
pub(crate) fn mkdir(dir: &[u8], name: &[u8], mode: u32) -> Result<(), Errno> {
    fs::mkdirat(open_dir(dir)?, name, Mode::from_raw_mode(mode))?;
    chmod(&join(dir, name), mode)
}

/// mkfifo(3); the mode likewise.
pub(crate) fn mkfifo(dir: &[u8], name: &[u8], mode: u32) -> Result<(), Errno> {
    fs::mknodat(open_dir(dir)?, name, FileType::Fifo, Mode::from_raw_mode(mode), 0)?;
    chmod(&join(dir, name), mode)
}

/// mknod(2) of a socket's name, which is no socket; the mode likewise.
pub(crate) fn mksock(dir: &[u8], name: &[u8], mode: u32) -> Result<(), Errno> {
    fs::mknodat(open_dir(dir)?, name, FileType::Socket, Mode::from_raw_mode(mode), 0)?;
    chmod(&join(dir, name), mode)
}

/// symlink(2).
pub(crate) fn symlink(dir: &[u8], name: &[u8], target: &[u8]) -> Result<(), Errno> {
    Ok(fs::symlinkat(target, open_dir(dir)?, name)?)
}

/// link(2), of a path that is itself never followed.
pub(crate) fn link(from: &[u8], dir: &[u8], name: &[u8]) -> Result<(), Errno> {
    let (old, old_name) = split(from);
    Ok(fs::linkat(open_dir(old)?, old_name, open_dir(dir)?, name, AtFlags::empty())?)
}

/// unlink(2) or rmdir(2).
pub(crate) fn unlink(dir: &[u8], name: &[u8], directory: bool) -> Result<(), Errno> {
    let flags = if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    Ok(fs::unlinkat(open_dir(dir)?, name, flags)?)
}

/// renameat2(2); `flags` are RENAME_NOREPLACE and RENAME_EXCHANGE.
pub(crate) fn rename(old: (&[u8], &[u8]), new: (&[u8], &[u8]), flags: u32) -> Result<(), Errno> {
    let (old_dir, new_dir) = (open_dir(old.0)?, open_dir(new.0)?);
    let flags = fs::RenameFlags::from_bits_truncate(flags);
    if flags.is_empty() {
        return Ok(fs::renameat(&old_dir, old.1, &new_dir, new.1)?);
    }
    Ok(fs::renameat_with(&old_dir, old.1, &new_dir, new.1, flags)?)
}

/// chmod(2) without following; goes through the descriptor's name, as glibc's fchmodat does.
pub(crate) fn chmod(path: &[u8], mode: u32) -> Result<(), Errno> {
    with_name(&look(path)?, |file| fs::chmod(file, Mode::from_raw_mode(mode)))
}

/// utimensat(2) without following; seconds and nanoseconds of access and change.
pub(crate) fn utimens(path: &[u8], atime: (i64, u32), mtime: (i64, u32)) -> Result<(), Errno> {
    let (dir, name) = split(path);
    let spec = |time: (i64, u32)| fs::Timespec { tv_sec: time.0, tv_nsec: time.1.into() };
    let times = fs::Timestamps { last_access: spec(atime), last_modification: spec(mtime) };
    Ok(fs::utimensat(open_dir(dir)?, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// futimens(2) of the time of the last change alone, in seconds and nanoseconds.
pub(crate) fn set_modified(file: &File, mtime: (i64, u32)) -> Result<(), Errno> {
    let spec = |tv_sec, tv_nsec| fs::Timespec { tv_sec, tv_nsec };
    let (access, modify) = (spec(0, fs::UTIME_OMIT), spec(mtime.0, mtime.1.into()));
    Ok(fs::futimens(file, &fs::Timestamps { last_access: access, last_modification: modify })?)
}

/// A descriptor that names a file of the host and neither reads nor writes it.
pub(crate) fn look(path: &[u8]) -> Result<OwnedFd, Errno> {
    open_plain(path, OFlags::PATH, Mode::empty())
}

/// Calls by the name of a descriptor, which leads to the file itself whatever its mode.
fn with_name<R>(fd: &OwnedFd, call: impl FnOnce(&str) -> rustix::io::Result<R>) -> Result<R, Errno> {
    use rustix::fd::AsRawFd;
    Ok(call(&format!("/proc/self/fd/{}", fd.as_raw_fd()))?)
}

/// The extended attributes of the `user` namespace; none where the file system has none.
pub(crate) fn xattrs(fd: &OwnedFd) -> Result<Xattrs, Errno> {
    const MOST: usize = 65_536;
    let held = with_name(fd, |file| {
        let (mut names, mut value) = (vec![0; MOST], vec![0; MOST]);
        let len = fs::listxattr(file, &mut names[..])?;
        let mut held = Xattrs::new();
        for name in names[..len].split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.")) {
            let len = fs::getxattr(file, name, &mut value[..])?;
            held.insert(name.to_vec(), value[..len].to_vec());
        }
        Ok(held)
    });
    if matches!(held, Err(Errno::EOPNOTSUPP | Errno::ENOSYS)) { Ok(Xattrs::new()) } else { held }
}

/// setxattr(2), or removexattr(2) without a value.
pub(crate) fn setxattr(fd: &OwnedFd, name: &[u8], value: Option<&[u8]>, flags: u32) -> Result<(), Errno> {
    with_name(fd, |file| match value {
        Some(value) => fs::setxattr(file, name, value, XattrFlags::from_bits_truncate(flags)),
        None => fs::removexattr(file, name),
    })
}

/// Flags of chattr(1), FS_IOC_SETFLAGS: sets those of `mask`.
pub(crate) fn set_flags(path: &[u8], flags: u32, mask: u32) -> Result<(), Errno> {
    let file = open_plain(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
    let held = fs::ioctl_getflags(&file)?;
    let wanted = IFlags::from_bits_retain(held.bits() & !mask | flags & mask);
    Ok(fs::ioctl_setflags(&file, wanted)?)
}

/// Flags of chattr(1), FS_IOC_GETFLAGS.
pub(crate) fn flags(path: &[u8]) -> Result<u32, Errno> {
    let file = open_plain(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
    Ok(fs::ioctl_getflags(&file)?.bits())
}

/// Offset of the next data or the next hole, lseek(2); ENXIO past the end and the last data. A hole
/// is what is zero for a whole block, so that it does not depend on how the file was copied here.
pub(crate) fn seek(file: &File, offset: u64, data: bool) -> Result<u64, Errno> {
    const BLOCK: u64 = 4096;
    let size = u64::try_from(fstat(file)?.st_size).unwrap_or(0);
    if offset >= size {
        return Err(Errno::ENXIO);
    }
    let (mut at, mut buf) = (offset / BLOCK * BLOCK, vec![0; 1 << 16]);
    while at < size {
        if data {
            // What the host says is a hole need not be read. It moves an offset that is never used.
            match fs::seek(file, SeekFrom::Data(at)) {
                Ok(next) => at = at.max(next / BLOCK * BLOCK),
                Err(rustix::io::Errno::NXIO) => return Err(Errno::ENXIO),
                Err(_) => {} // a file system without holes
            }
        }
        let count = read_at(file, at, &mut buf)?;
        let found =
            buf[..count].chunks(BLOCK as usize).position(|block| block.iter().any(|byte| *byte != 0) == data);
        match found {
            Some(block) => return Ok(offset.max(at + block as u64 * BLOCK)),
            None if count == 0 => break,
            None => at += count as u64,
        }
    }
    if data { Err(Errno::ENXIO) } else { Ok(size) }
}

/// pread(2) until `buf` is full or the file ends.
pub(crate) fn read_at(file: &File, mut offset: u64, buf: &mut [u8]) -> Result<usize, Errno> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset) {
            Ok(0) => break,
            Ok(count) => {
                done += count;
                offset = offset.saturating_add(count as u64);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(errno_of(&error)),
        }
    }
    Ok(done)
}

/// pwrite(2) of everything.
pub(crate) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
    file.write_all_at(bytes, offset).map_err(|error| errno_of(&error))
}

/// Makes a range of a file read as zero, fallocate(2); its length stays.
pub(crate) fn punch_hole(file: &File, offset: u64, len: u64) -> Result<(), Errno> {
    use rustix::fs::FallocateFlags as Flags;
    Ok(rustix::fs::fallocate(file, Flags::PUNCH_HOLE | Flags::KEEP_SIZE, offset, len)?)
}

/// Symbolic-link-free absolute form of a directory of the host.
pub(crate) fn canonical(path: &std::path::Path) -> Option<HostPath> {
    Some(std::fs::canonicalize(path).ok()?.into_os_string().into_vec().into())
}

/// Bytes as a path.
pub(crate) fn as_path(bytes: &[u8]) -> &std::path::Path {
    std::path::Path::new(OsStr::from_bytes(bytes))
}
