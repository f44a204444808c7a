//! Fingerprints of the host's files, taken when the guest first opened them. A run that goes back
//! reads them again, and repeats itself only if they are still the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::Stat;

use crate::kernel::vfs::host::{self, HostPath};

/// Fingerprint of a file: device, inode, size and time of modification.
type State = (u64, u64, i64, i64, i64);

fn state(stat: &Stat) -> State {
    (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec as i64)
}

/// Fingerprints of the files that were opened. All copies of a kernel share them: a file that was
/// read stays read, whatever the run goes back to.
#[derive(Clone, Debug, Default)]
pub struct HostFingerprint {
    seen: Arc<Mutex<BTreeMap<HostPath, State>>>,
}

impl HostFingerprint {
    /// Takes the fingerprint of a file, if it has not been opened before.
    pub(crate) fn note(&self, path: &HostPath, file: &File) {
        if let Ok(stat) = host::fstat(file) {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.entry(path.clone()).or_insert_with(|| state(&stat));
        }
    }

    /// Finds a file whose fingerprint has changed.
    pub fn changed(&self) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = |(path, before): (&HostPath, &State)| {
            let now = host::lstat(path).ok().map(|stat| state(&stat));
            (now != Some(*before)).then(|| String::from_utf8_lossy(path).into_owned())
        };
        seen.iter().find_map(changed)
    }
}
