//! The file that takes the place of another when it is complete, and until then has a name of its
//! own beside it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::place::{Entry, Identity};

/// Names that are tried, where others are taken.
const MOST_NAMES: u32 = 1000;

/// Beginning and end of the names of such files.
const AFFIXES: (&str, &str) = (".cgemu.", ".tmp");

/// A new file in the directory of the one it will become; removed unless it became that. Its writer
/// holds a lock on it (flock(2)), which the kernel takes back however the writer ends.
pub(super) struct Temporary<'a> {
    target: &'a Entry,
    name: OsString,
    file: File,
    keep: bool,
}

impl<'a> Temporary<'a> {
    /// Makes the file, empty and for this user only.
    ///
    /// # Errors
    /// Those of open(2).
    pub(super) fn create(target: &'a Entry) -> io::Result<Temporary<'a>> {
        let directory = &target.directory;
        // Tells what the short temporary name would hide: a target name that is too long.
        match fs::statat(directory, &target.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut number = 0;
        loop {
            let name = OsString::from(format!("{}{}.{number}{}", AFFIXES.0, std::process::id(), AFFIXES.1));
            number += 1;
            match fs::openat(directory, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => {
                    let file = File::from(file);
                    // A file system without locks has no leftovers removed either.
                    let _ = fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
                    // Removed as a leftover before it was locked.
                    if is_named(directory, &name, &file)? {
                        return Ok(Temporary { target, name, file, keep: false });
                    }
                }
                Err(Errno::EXIST) if number < MOST_NAMES => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Puts the file in the place of its target. A link that is there is itself replaced.
    ///
    /// # Errors
    /// Those of rename(2), and another file in the place of this one.
    pub(super) fn become_target(mut self) -> io::Result<()> {
        let directory = &self.target.directory;
        fs::renameat(directory, &self.name, directory, &self.target.name)?;
        self.keep = true;
        // Somebody who may write there could have exchanged the files before.
        if is_named(directory, &self.target.name, &self.file)? {
            return Ok(());
        }
        Err(io::Error::other("another process put another file in its place"))
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::unlinkat(&self.target.directory, &self.name, AtFlags::empty());
        }
    }
}

/// Tells if a name in a directory is that of an open file.
pub(super) fn is_named(directory: &OwnedFd, name: &OsString, file: impl AsFd) -> io::Result<bool> {
    match fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Identity::of(&stat) == Identity::of(&fs::fstat(file)?)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Tells if a name is one of those that [`Temporary::create`] gives.
pub(super) fn is_temporary_name(name: &str) -> bool {
    let number =
        |text: &str| !text.is_empty() && text.len() <= 10 && text.bytes().all(|b| b.is_ascii_digit());
    name.strip_prefix(AFFIXES.0)
        .and_then(|rest| rest.strip_suffix(AFFIXES.1))
        .and_then(|rest| rest.split_once('.'))
        .is_some_and(|(pid, count)| number(pid) && number(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names() {
        for name in [".cgemu.1.0.tmp", ".cgemu.4194304.999.tmp"] {
            assert!(is_temporary_name(name), "{name}");
        }
        for name in [
            "cgemu.1.0.tmp",
            ".cgemu.1.tmp",
            ".cgemu.1.0.tmp~",
            ".cgemu.a.0.tmp",
            ".cgemu.1..tmp",
            ".cgemu.1.0.0.tmp",
        ] {
            assert!(!is_temporary_name(name), "{name}");
        }
    }
}
