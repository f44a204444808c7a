//! Fingerprints of the host's files, taken when the guest first opened them. A run that goes back
//! reads them again, and repeats itself only if they are still the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::Stat;

use crate::kernel::vfs::host::{self, HostPath};

/// Fingerprint of a file: device, inode, size and time of modification.
type State = (u64, u64, i64, i64, i64);

fn state(stat: &Stat) -> State {
    (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec as i64)
}

/// Most that fingerprints take, in bytes.
const MOST: usize = 64 << 20;

/// Fingerprints of the files that were opened. All copies of a kernel share them: a file that was
/// read stays read, whatever the run goes back to.
#[derive(Clone, Debug, Default)]
pub struct HostFingerprint(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    files: BTreeMap<HostPath, State>,
    /// Bytes that they take.
    size: usize,
    /// They took too much, and are not kept any more.
    full: bool,
}

impl HostFingerprint {
    /// Takes the fingerprint of a file, if it has not been opened before.
    pub(crate) fn note(&self, path: &HostPath, file: &File) {
        if let Ok(stat) = host::fstat(file) {
            self.seen().note(path, state(&stat), MOST);
        }
    }

    /// Tells if there were too many files to keep their fingerprints.
    pub fn is_forgotten(&self) -> bool {
        self.seen().full
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds a file whose fingerprint has changed.
    pub fn changed(&self) -> Option<String> {
        let changed = |(path, before): (&HostPath, &State)| {
            let now = host::lstat(path).ok().map(|stat| state(&stat));
            (now != Some(*before)).then(|| String::from_utf8_lossy(path).into_owned())
        };
        self.seen().files.iter().find_map(changed)
    }
}

impl Seen {
    /// Keeps a fingerprint, unless there is one or all take more than `most` bytes.
    fn note(&mut self, path: &HostPath, state: State, most: usize) {
        if self.full || self.files.contains_key(path) {
            return;
        }
        self.size = self.size.saturating_add(path.len() + size_of::<(HostPath, State)>());
        if self.size > most {
            *self = Seen { full: true, ..Seen::default() };
        } else {
            self.files.insert(path.clone(), state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_is_let() {
        let mut seen = Seen::default();
        let name = |number: u32| HostPath::from(format!("/some/file{number}").into_bytes());
        for _ in 0..1000 {
            seen.note(&name(1), (0, 0, 0, 0, 0), 1000);
        }
        assert!(!seen.full && seen.files.len() == 1);
        (0..100).for_each(|number| seen.note(&name(number), (0, 0, 0, 0, 0), 1000));
        assert!(seen.full && seen.files.is_empty());
    }
}
