//! Settings that the outside makes before the emulated machine starts.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::kernel::cred::User;
use crate::kernel::vfs::policy::Policy;

/// A host and port of the host's network that the guest may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideHost {
    /// `HOST:PORT` as it was typed.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<SocketAddr>,
}

/// Settings of the emulated machine.
#[derive(Clone, Debug)]
pub struct KernelConfig {
    /// Host directories that the guest may change; everything else it writes goes to the overlay.
    pub allow_write: Vec<PathBuf>,
    /// The files of the host that the guest is shown.
    pub policy: Policy,
    /// Hosts and ports of the host's network that the guest may reach.
    pub outside: Vec<OutsideHost>,
    /// Host directory the guest starts in.
    pub cwd: PathBuf,
    /// User who runs the program and owns the host's files.
    pub user: User,
    /// Seed of the guest's random bytes.
    pub seed: u64,
    /// Instructions that a task may run while others wait for their turn.
    pub quantum: u64,
    /// Seed of an order of the tasks' turns by chance.
    pub schedule_seed: Option<u64>,
    /// Bytes the guest may hold in memory and in files of the overlay together.
    pub memory_limit: u64,
    /// Most processes and threads at a time; 4096 if not given.
    pub max_processes: Option<usize>,
    /// Most files that the program made and files that it has open at a time.
    pub max_files: Option<u64>,
    /// Most bytes that it writes to the host's streams and files.
    pub max_output: Option<u64>,
    /// Not zero when the user has asked the run to end: no call waits for the host any longer.
    pub interrupt: Arc<AtomicUsize>,
    /// Observer of the host's streams that the guest shares, if any.
    pub front: Option<Arc<dyn TerminalObserver>>,
    /// File the guest reads instead of the host's standard input.
    pub input: Option<Arc<File>>,
    /// Keeps what comes from the host's streams, so that the run can go back.
    pub journal: bool,
}

/// Observer of the host's streams: it prints on the same terminal and has to stand back when the
/// guest uses them.
pub trait TerminalObserver: std::fmt::Debug + Send + Sync {
    /// The guest is about to read stream 0, 1 or 2 of the host.
    fn reading(&self, stream: u8);
    /// The guest is about to write `bytes` to stream 0, 1 or 2 of the host.
    fn writing(&self, stream: u8, bytes: &[u8]);
    /// The next line, at most so many bytes of it, that was typed at standard input and that the
    /// observer has got in place of the guest.
    fn take_typed(&self, _most: usize) -> Option<Vec<u8>> {
        None
    }
    /// Bytes of such lines.
    fn typed(&self) -> usize {
        0
    }
}
