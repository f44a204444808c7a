//! From a path to the place that it names, held by descriptors. The path is walked once, here, and
//! never again.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat};
use rustix::io::Errno;

/// Links that are followed; the kernel's limit (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Flags for a descriptor that only names something.
const NAME_ONLY: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Device and inode, which tell files apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    pub(super) fn of(stat: &Stat) -> Identity {
        Identity(stat.st_dev, stat.st_ino)
    }
}

/// The directories that the program may change. A symbolic link found in one, or below, may be the
/// program's own, of this run or an earlier one, and is not followed.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct GuestWritable(Vec<Identity>);

impl GuestWritable {
    /// The directories of `--allow-write`.
    ///
    /// # Errors
    /// Those of stat(2).
    pub(in crate::cli) fn new(directories: &[PathBuf]) -> io::Result<GuestWritable> {
        let identities = directories.iter().map(|path| Ok(Identity::of(&fs::stat(path)?)));
        Ok(GuestWritable(identities.collect::<io::Result<_>>()?))
    }

    /// True if the program may change no directory.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells if a directory is one of these, or below one.
    pub(super) fn contains(&self, directory: impl AsFd) -> io::Result<bool> {
        if self.is_empty() {
            return Ok(false);
        }
        let mut here = step(directory, ".")?;
        loop {
            let identity = Identity::of(&fs::fstat(&here)?);
            if self.0.contains(&identity) {
                return Ok(true);
            }
            let parent = step(&here, "..")?;
            if Identity::of(&fs::fstat(&parent)?) == identity {
                return Ok(false);
            }
            here = parent;
        }
    }
}

/// A directory on the way.
fn step(from: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    Ok(fs::openat(from, name, NAME_ONLY | OFlags::DIRECTORY, Mode::empty())?)
}

/// A name in a directory that is held open.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) directory: OwnedFd,
    pub(super) name: OsString,
}

impl Entry {
    /// A second name in the same directory, with `suffix` behind this one.
    pub(super) fn beside(&self, suffix: &str) -> io::Result<Entry> {
        let mut name = self.name.clone();
        name.push(suffix);
        Ok(Entry { directory: self.directory.try_clone()?, name })
    }

    /// Path of the file at this moment, if `/proc` is there to tell it.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let directory = fs::readlink(descriptor_path(&self.directory), Vec::new()).ok()?;
        Some(PathBuf::from(OsString::from_vec(directory.into_bytes())).join(&self.name))
    }
}

/// A path that leads to what a descriptor holds, whatever its own names lead to by now.
pub(super) fn descriptor_path(descriptor: &impl std::os::fd::AsRawFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}

/// A place for output.
#[derive(Debug)]
pub(super) enum Place {
    /// A regular file or none, which a new one may replace.
    Entry(Entry),
    /// Something that must not be replaced: a FIFO, a device, our standard output, or what a name
    /// in `/proc` stands for. The descriptor only names it (`O_PATH`).
    Held(OwnedFd),
}

/// Finds an absolute path.
///
/// # Errors
/// Those of open(2); EISDIR for a directory; `PermissionDenied` for a symbolic link in a directory
/// that the program may change.
pub(super) fn find(path: &Path, guest: &GuestWritable) -> io::Result<Place> {
    walk(root()?, path, guest)
}

/// Finds what a name in a directory stands for, which may be a link.
///
/// # Errors
/// Those of [`find`].
pub(super) fn find_entry(entry: Entry, guest: &GuestWritable) -> io::Result<Place> {
    walk(entry.directory, Path::new(&entry.name), guest)
}

fn root() -> io::Result<OwnedFd> {
    step(CWD, "/")
}

fn walk(from: OwnedFd, path: &Path, guest: &GuestWritable) -> io::Result<Place> {
    let mut directory = from;
    let mut rest = Vec::new();
    push(&mut rest, path);
    let mut links = 0;
    while let Some(name) = rest.pop() {
        let last = rest.is_empty();
        let found = match fs::openat(&directory, &name, NAME_ONLY, Mode::empty()) {
            Err(Errno::NOENT) if last => return Ok(Place::Entry(Entry { directory, name })),
            found => found?,
        };
        let stat = fs::fstat(&found)?;
        let (found, stat, held) = match FileType::from_raw_mode(stat.st_mode) {
            // The text of such a link need not be a path, so the kernel has to follow it.
            FileType::Symlink if fs::fstatfs(&found)?.f_type == PROC_SUPER_MAGIC => {
                let found = fs::openat(&directory, &name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                let stat = fs::fstat(&found)?;
                (found, stat, true)
            }
            FileType::Symlink => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if guest.contains(&directory)? {
                    return Err(not_followed(&name));
                }
                let target = fs::readlinkat(&directory, &name, Vec::new())?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    directory = root()?;
                }
                push(&mut rest, &target);
                continue;
            }
            _ => (found, stat, is_our_output(&stat)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if last => return Err(Errno::ISDIR.into()),
            FileType::Directory => directory = found,
            _ if !last => return Err(Errno::NOTDIR.into()),
            FileType::RegularFile if !held => return Ok(Place::Entry(Entry { directory, name })),
            _ => return Ok(Place::Held(found)),
        }
    }
    Err(Errno::ISDIR.into())
}

/// Puts the components of a path before the rest, which is in reverse order.
fn push(rest: &mut Vec<OsString>, path: &Path) {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let names: Vec<OsString> = names.collect();
    rest.extend(names.into_iter().rev());
}

fn not_followed(name: &OsStr) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "'{}' on the way is a symbolic link in a directory that the program may change (--allow-write)",
            name.display()
        ),
    )
}

/// True for the file that is our standard output or error, redirected.
fn is_our_output(stat: &Stat) -> bool {
    our_output(stat).is_some()
}

/// Standard output or error, if it is this file.
pub(super) fn our_output(stat: &Stat) -> Option<rustix::fd::BorrowedFd<'static>> {
    [rustix::stdio::stdout(), rustix::stdio::stderr()]
        .into_iter()
        .find(|stream| fs::fstat(stream).is_ok_and(|other| Identity::of(&other) == Identity::of(stat)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn entry(path: &Path, guest: &GuestWritable) -> io::Result<PathBuf> {
        match find(path, guest)? {
            Place::Entry(entry) => entry.path().ok_or_else(|| io::Error::other("no /proc")),
            Place::Held(_) => Err(io::Error::other("held")),
        }
    }

    #[test]
    fn names_of_descriptors_are_held() {
        for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/2", "/dev/null", "/proc/thread-self/fd/1"] {
            let found = find(Path::new(path), &GuestWritable::default()).expect(path);
            assert!(matches!(found, Place::Held(_)), "{path}: {found:?}");
        }
        for path in ["/dev/fd", "/", "/dev/..", "/proc/self"] {
            assert!(find(Path::new(path), &GuestWritable::default()).is_err(), "{path}");
        }
    }

    #[test]
    fn links_are_followed_but_where_the_guest_writes() {
        let dir = tempfile::tempdir().expect("dir");
        let at = dir.path().canonicalize().expect("real");
        for name in ["own/sub", "guest/sub"] {
            std::fs::create_dir_all(at.join(name)).expect("mkdir");
        }
        symlink("../guest", at.join("own/in")).expect("symlink");
        symlink("../../own/x", at.join("guest/sub/out")).expect("symlink");
        symlink("sub", at.join("guest/alias")).expect("symlink");
        let none = GuestWritable::default();
        let guest = GuestWritable::new(&[at.join("guest")]).expect("there");
        for (path, target) in [
            ("own/in/sub/new", "guest/sub/new"),
            ("guest/sub/../sub/./new", "guest/sub/new"),
            ("own/sub/../../guest/new", "guest/new"),
        ] {
            for allowed in [&none, &guest] {
                assert_eq!(entry(&at.join(path), allowed).expect(path), at.join(target));
            }
        }
        for (path, target) in [("guest/sub/out", "own/x"), ("guest/alias/new", "guest/sub/new")] {
            assert_eq!(entry(&at.join(path), &none).expect(path), at.join(target));
            let error = entry(&at.join(path), &guest).expect_err(path);
            assert!(error.to_string().contains("--allow-write"), "{error}");
        }
    }

    #[test]
    fn a_place_stays_when_its_directory_moves() {
        let dir = tempfile::tempdir().expect("dir");
        let at = dir.path().canonicalize().expect("real");
        std::fs::create_dir(at.join("a")).expect("mkdir");
        let Place::Entry(entry) = find(&at.join("a/x"), &GuestWritable::default()).expect("found") else {
            panic!("no entry");
        };
        std::fs::rename(at.join("a"), at.join("b")).expect("rename");
        assert_eq!(entry.path(), Some(at.join("b/x")));
    }
}
