//! Pending signals as descriptions, signalfd(2). Whoever reads takes its own, not those of who made
//! the description.

use crate::abi::errno::Errno;
use crate::abi::fs::POLLIN;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, read_records};
use crate::kernel::vfs::tree::FileSystem;

/// The signals that are read.
#[derive(Clone, Debug)]
pub(crate) struct SignalFile {
    pub(crate) mask: u64,
}

impl FileOperations for SignalFile {
    fn kind(&self) -> &'static str {
        "signalfd"
    }

    fn write_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn can_be_hasty(&self) -> bool {
        true
    }

    fn details(&self, _fs: &FileSystem, _now: u64) -> String {
        format!("sigmask:\t{:016x}\n", self.mask)
    }

    fn signals(&mut self) -> Option<&mut u64> {
        Some(&mut self.mask)
    }

    fn signal_mask(&self) -> u64 {
        self.mask
    }

    fn moves_whole(&self) -> bool {
        true
    }

    /// As many as there are and fit, `struct signalfd_siginfo` each.
    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        read_records(buf, mode, "read from a signalfd", || {
            cx.signals.dequeue(self.mask).map(|info| info.for_signalfd())
        })
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(if cx.signals.pending() & self.mask != 0 { POLLIN } else { 0 })
    }
}
