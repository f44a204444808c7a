//! Temporary files that runs left that were killed while they wrote.

use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags, RawDir};

use super::temporary::{is_named, is_temporary_name};

/// Entries of a directory that are looked at; a very large one is not worth the time.
const MOST_ENTRIES: usize = 100_000;

/// Removes from a directory what earlier runs of this user left. What cannot be looked at or
/// removed stays: it is not in the way.
pub(super) fn remove(directory: &OwnedFd) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(listed) = fs::openat(directory, ".", flags, Mode::empty()) else { return };
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(&listed, &mut buffer);
    let mut found = Vec::new();
    for _ in 0..MOST_ENTRIES {
        let Some(Ok(entry)) = entries.next() else { break };
        if entry.file_name().to_str().is_ok_and(is_temporary_name) {
            found.push(std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
        }
    }
    for name in found {
        remove_leftover(directory, &name);
    }
}

/// Removes a file that is this user's own, has no other name, and that nobody writes: a writer
/// would hold its lock.
fn remove_leftover(directory: &OwnedFd, name: &OsString) {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(file) = fs::openat(directory, name, flags, Mode::empty()) else { return };
    let Ok(stat) = fs::fstat(&file) else { return };
    let ours = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_uid == rustix::process::geteuid().as_raw()
        && stat.st_nlink == 1;
    if ours
        && fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        && is_named(directory, name, &file).unwrap_or(false)
    {
        let _ = fs::unlinkat(directory, name, AtFlags::empty());
    }
}
