//! Processes as descriptions, pidfd_open(2). A description names its process even after the number
//! was used again.

use crate::abi::errno::Errno;
use crate::abi::fs::POLLHUP;
use crate::kernel::arena::ProcessId;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, READABLE};
use crate::kernel::streams::Streams;
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct PidFd {
    pub(crate) process: ProcessId,
    /// Its number; -1 once its parent has waited for it.
    pub(crate) pid: i32,
    pub(crate) ended: bool,
    /// Queue that wakes when it ends.
    pub(crate) queue: QueueId,
}

impl FileOperations for PidFd {
    fn kind(&self) -> &'static str {
        "pidfd"
    }

    fn truncate(&mut self, _cx: &mut FileContext, _len: u64) -> Result<(), FileError> {
        Err(Errno::EOPNOTSUPP.into())
    }

    fn looks_regular(&self) -> bool {
        true
    }

    fn read_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn is_seekable(&self, _streams: &Streams) -> bool {
        true
    }

    fn write_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn details(&self, _fs: &FileSystem, _now: u64) -> String {
        format!("Pid:\t{0}\nNSpid:\t{0}\n", self.pid)
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.queue)
    }

    fn process(&self) -> Option<ProcessId> {
        Some(self.process)
    }

    fn process_ended(&mut self, process: ProcessId, gone: bool) {
        if self.process == process {
            self.ended = true;
            self.pid = if gone { -1 } else { self.pid };
        }
    }

    fn poll(&self, _cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        let reaped = if self.pid == -1 { POLLHUP } else { 0 };
        Ok(if self.ended { READABLE | reaped } else { 0 })
    }
}
