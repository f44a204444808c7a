//! The place of the sockets by which runs are controlled: a directory that only the user can enter,
//! with a socket for each run, named by its process ID.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::process::geteuid;

/// Rights of everybody else.
const OTHERS: u32 = 0o077;

/// The directories that may have sockets, the preferred one first: in that of the login, if there
/// is one, and in the one for temporary files.
pub(in crate::cli) fn directories() -> Vec<PathBuf> {
    let login = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let login = login.filter(|path| path.is_absolute() && path.as_os_str().as_bytes().len() < 4096);
    let temporary = Path::new("/tmp").join(format!("cgemu-{}", geteuid().as_raw()));
    login.map(|path| path.join("cgemu")).into_iter().chain([temporary]).collect()
}

/// A directory of sockets. Names in it are looked up from its descriptor, so that what becomes of
/// its path does not matter.
pub(super) struct Place(OwnedFd);

impl Place {
    /// Opens the directory for a new socket, and makes it if it is not there.
    ///
    /// # Errors
    /// No directory can be made, or others have access to it.
    pub(super) fn make() -> Result<Place, String> {
        let mut failure = String::new();
        for path in directories() {
            // What is wrong shows when it is opened.
            let _ = rustix::fs::mkdir(&path, Mode::RWXU);
            match Place::open(&path) {
                Ok(Some(place)) => return Ok(place),
                Ok(None) => failure = format!("{}: cannot be made", path.display()),
                Err(why) => return Err(why),
            }
        }
        Err(failure)
    }

    /// The directories that are there.
    ///
    /// # Errors
    /// Others have access to one of them.
    pub(super) fn all() -> Result<Vec<Place>, String> {
        directories().iter().filter_map(|path| Place::open(path).transpose()).collect()
    }

    /// Opens a directory, no link, of this user alone; `None` if nothing is there.
    fn open(path: &Path) -> Result<Option<Place>, String> {
        let fail = |why: &str| Err(format!("{}: {why}; remove it", path.display()));
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(_) => return fail("is no directory that can be read"),
        };
        match rustix::fs::fstat(&fd) {
            Ok(stat) if stat.st_uid == geteuid().as_raw() && stat.st_mode & OTHERS == 0 => {
                Ok(Some(Place(fd)))
            }
            Ok(_) => fail("is not this user's alone"),
            Err(_) => fail("cannot be looked at"),
        }
    }

    /// The directory.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// The path of a name, whatever the directory is called, and short enough for a socket.
    fn path(&self, name: &str) -> PathBuf {
        Path::new("/proc/self/fd").join(self.0.as_raw_fd().to_string()).join(name)
    }

    /// Makes the socket of this process.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        self.remove_dead();
        let own = std::process::id();
        UnixListener::bind(self.path(&own.to_string()))
    }

    /// The process IDs of runs, those that have died included.
    fn names(&self) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(self.path("")) else { return Vec::new() };
        let name = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
        let mut names: Vec<u32> = entries.filter_map(name).collect();
        names.sort_unstable();
        names
    }

    /// The runs that can be controlled, each with a connection to it.
    pub(super) fn runs(&self) -> Vec<(u32, UnixStream)> {
        self.remove_dead();
        let names = self.names().into_iter();
        names.filter_map(|pid| Some((pid, UnixStream::connect(self.path(&pid.to_string())).ok()?))).collect()
    }

    /// Removes the sockets of processes that have died: nobody listens.
    fn remove_dead(&self) {
        for pid in self.names() {
            let path = self.path(&pid.to_string());
            let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
            if UnixStream::connect(path).is_err_and(refused) {
                self.remove(pid);
            }
        }
    }

    /// Removes the socket of a process.
    pub(super) fn remove(&self, pid: u32) {
        // Who comes next finds it dead otherwise.
        let _ = rustix::fs::unlinkat(&self.0, pid.to_string(), AtFlags::empty());
    }
}
