//! Open files of the host. The guest may hold more of them than the host lets a process have open,
//! so a descriptor of the host is closed when others are needed, and opened again on demand.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::process::{Resource, getrlimit};

use crate::abi::errno::Errno;
use crate::guest::{FileVersion, PageSource};
use crate::kernel::vfs::host::{self, HostPath};

/// Message for a run that stops because of `host::NO_DESCRIPTOR`.
pub(crate) const NO_DESCRIPTOR_LEFT: &str =
    "the host allows cgemu no further open file; raise the limit (ulimit -n)";

/// Descriptors of the host that are kept open although they could be opened again.
const MOST: usize = 256;
/// The same where the host allows hardly any.
const FEWEST: usize = 2;

/// The open files, and what went wrong with the host. All copies of a kernel share them, as what
/// they do to the host's descriptors is seen by none.
#[derive(Clone, Debug)]
pub(crate) struct HostHandles(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Handles whose descriptors may be closed, those opened longest ago first.
    open: VecDeque<Weak<HostHandle>>,
    /// Reason why the run cannot go on.
    failure: Option<String>,
}

impl Default for HostHandles {
    /// As many as fit: half of what the host allows is left for everything else.
    fn default() -> HostHandles {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        HostHandles::with_room(usize::try_from(allowed / 2).unwrap_or(MOST).clamp(FEWEST, MOST))
    }
}

impl HostHandles {
    /// Keeps so many descriptors open at most.
    fn with_room(most: usize) -> HostHandles {
        HostHandles(Arc::new(Shared { most, state: Mutex::default() }))
    }

    /// A file that was opened just now, for reading only and never to be changed through this
    /// handle: its descriptor may be closed.
    pub(crate) fn add(&self, path: &HostPath, file: File) -> Result<Arc<HostHandle>, Errno> {
        let stat = host::fstat(&file)?;
        let again = Again { path: path.clone(), key: (stat.st_dev, stat.st_ino), all: self.clone() };
        let handle = HostHandle { again: Some(again), slot: Mutex::new(Some(Arc::new(file))) };
        let handle = Arc::new(handle);
        self.opened(&handle);
        Ok(handle)
    }

    /// Opens a file as `open` does; once more with other descriptors closed, if the host allows no
    /// further one.
    pub(crate) fn open<T>(&self, open: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
        match open() {
            Err(host::NO_DESCRIPTOR) => {
                self.close_beyond(0);
                open()
            }
            result => result,
        }
    }

    /// Stops the run after the call or the fault that is served now.
    pub(crate) fn fail(&self, why: String) {
        self.state().failure.get_or_insert(why);
    }

    /// Reason why the run cannot go on, told once.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.state().failure.take()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a handle has a descriptor again, and closes those that are too many.
    fn opened(&self, handle: &Arc<HostHandle>) {
        self.state().open.push_back(Arc::downgrade(handle));
        self.close_beyond(self.0.most);
    }

    fn close_beyond(&self, most: usize) {
        let mut state = self.state();
        if state.open.len() > most {
            state.open.retain(|handle| handle.strong_count() > 0);
        }
        while state.open.len() > most {
            if let Some(handle) = state.open.pop_front().and_then(|handle| handle.upgrade()) {
                handle.slot().take();
            }
        }
    }
}

/// Path and identity of a file that can be opened again.
struct Again {
    path: HostPath,
    /// Device and inode on the host.
    key: (u64, u64),
    all: HostHandles,
}

/// An open file of the host.
pub(crate) struct HostHandle {
    /// None if the descriptor is kept, as its name may be taken from it.
    again: Option<Again>,
    slot: Mutex<Option<Arc<File>>>,
}

impl HostHandle {
    /// A file whose descriptor is kept until the handle goes.
    pub(crate) fn kept(file: File) -> Arc<HostHandle> {
        Arc::new(HostHandle { again: None, slot: Mutex::new(Some(Arc::new(file))) })
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<File>>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The descriptor. EIO if the file is no longer there; the run is then stopped, as the guest
    /// has it open and would not miss it.
    pub(crate) fn file(self: &Arc<Self>) -> Result<Arc<File>, Errno> {
        if let Some(file) = &*self.slot() {
            return Ok(Arc::clone(file));
        }
        let Some(again) = &self.again else { return Err(Errno::EIO) };
        let shown = || String::from_utf8_lossy(&again.path).into_owned();
        let opened = again.all.open(|| {
            let file = host::open_file(&again.path, true, false)?;
            let stat = host::fstat(&file)?;
            Ok(((stat.st_dev, stat.st_ino) == again.key).then_some(file))
        });
        match opened {
            Ok(Some(file)) => {
                let file = Arc::new(file);
                *self.slot() = Some(Arc::clone(&file));
                again.all.opened(self);
                return Ok(file);
            }
            Err(host::NO_DESCRIPTOR) => return Err(host::NO_DESCRIPTOR),
            _ => again.all.fail(format!(
                "{}: replaced or removed on the host while the program had it open; leave it alone, or raise \
                 the limit of open files (ulimit -n)",
                shown()
            )),
        }
        Err(Errno::EIO)
    }
}

impl fmt::Debug for HostHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.again.as_ref().map(|again| String::from_utf8_lossy(&again.path));
        f.debug_struct("HostHandle").field("path", &path).finish_non_exhaustive()
    }
}

/// A file of the host as the source of a mapping.
pub(crate) struct HostSource {
    handle: Arc<HostHandle>,
    version: Option<FileVersion>,
}

impl HostSource {
    /// The bytes of a file. `stays`: nothing in the emulated machine changes them.
    pub(crate) fn new(handle: Arc<HostHandle>, stays: bool) -> HostSource {
        let stat = handle.file().ok().filter(|_| stays).and_then(|file| host::fstat(&file).ok());
        let version = stat.map(|stat| {
            let numbers = [stat.st_size, stat.st_mtime, stat.st_mtime_nsec as i64];
            let [len, seconds, nanoseconds] = numbers.map(|number| number as u64);
            FileVersion([stat.st_dev, stat.st_ino, len, seconds, nanoseconds])
        });
        HostSource { handle, version }
    }
}

impl PageSource for HostSource {
    fn version(&self) -> Option<FileVersion> {
        self.version
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        let read = self.handle.file().and_then(|file| host::read_at(&file, offset, buf));
        read.map_err(|errno| std::io::Error::from_raw_os_error(errno.0.into()))
    }

    fn len(&self) -> u64 {
        let data = self.handle.file().ok().and_then(|file| file.metadata().ok());
        data.map_or(0, |data| data.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    fn handle(all: &HostHandles, path: &std::path::Path) -> Arc<HostHandle> {
        let path: HostPath = path.as_os_str().as_bytes().into();
        all.add(&path, host::open_file(&path, true, false).unwrap()).unwrap()
    }

    fn read(handle: &Arc<HostHandle>) -> Result<Vec<u8>, Errno> {
        let mut buf = [0; 10];
        let count = host::read_at(&*handle.file()?, 0, &mut buf)?;
        Ok(buf[..count].to_vec())
    }

    #[test]
    fn more_files_than_descriptors() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let all = HostHandles::with_room(3);
        let handles: Vec<_> = (0..10)
            .map(|at| {
                let path = dir.join(at.to_string());
                std::fs::write(&path, at.to_string()).unwrap();
                handle(&all, &path)
            })
            .collect();
        let open = || handles.iter().filter(|handle| handle.slot().is_some()).count();
        assert_eq!(open(), 3);
        for _ in 0..2 {
            for (at, handle) in handles.iter().enumerate() {
                assert_eq!(read(handle), Ok(at.to_string().into_bytes()));
                assert!(open() <= 3);
            }
        }
        assert_eq!(all.take_failure(), None);
    }

    #[test]
    fn another_file_under_the_name_stops_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let all = HostHandles::with_room(1);
        for name in ["a", "b", "new"] {
            std::fs::write(dir.join(name), name).unwrap();
        }
        let (a, _b) = (handle(&all, &dir.join("a")), handle(&all, &dir.join("b")));
        std::fs::rename(dir.join("new"), dir.join("a")).unwrap();
        assert_eq!(read(&a), Err(Errno::EIO));
        assert!(all.take_failure().is_some_and(|why| why.contains("/a: replaced")));
        assert_eq!(all.take_failure(), None);
    }
}
