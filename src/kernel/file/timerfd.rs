//! Timers as descriptions, timerfd_create(2). `TimerFds` has their state.

use crate::abi::errno::Errno;
use crate::abi::fs::POLLIN;
use crate::abi::time::TFD_IOC_SET_TICKS;
use crate::guest::GuestMemory;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode};
use crate::kernel::uaccess::get_u64;
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// A timer.
#[derive(Clone, Debug)]
pub(crate) struct TimerFile(pub(crate) QueueId);

impl FileOperations for TimerFile {
    fn kind(&self) -> &'static str {
        "timerfd"
    }

    fn write_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn can_be_hasty(&self) -> bool {
        true
    }

    fn details(&self, fs: &FileSystem, now: u64) -> String {
        fs.timer_fds.describe(self.0, now)
    }

    fn timer(&self) -> Option<QueueId> {
        Some(self.0)
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.0)
    }

    fn moves_whole(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        let Some(out) = buf.get_mut(..8) else { return Err(Errno::EINVAL.into()) };
        let now = cx.clock.now_ns(cx.cpu.instructions());
        match cx.fs.timer_fds.take(self.0, now)? {
            0 if mode.nonblocking => Err(Errno::EAGAIN.into()),
            0 => Err(FileError::WouldBlock("read from a timerfd that is not armed")),
            ticks => {
                out.copy_from_slice(&ticks.to_le_bytes());
                Ok(8)
            }
        }
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(if cx.fs.timer_fds.is_readable(self.0) { POLLIN } else { 0 })
    }

    fn ioctl(&mut self, cx: &mut FileContext, command: u64, arg: u64) -> Result<u64, Errno> {
        if command != TFD_IOC_SET_TICKS {
            return Err(Errno::ENOTTY);
        }
        let ticks = get_u64(cx.mem, arg)?;
        if ticks == 0 {
            return Err(Errno::EINVAL);
        }
        cx.fs.timer_fds.set_ticks(self.0, ticks)?;
        cx.fs.queues.wake(self.0, POLLIN);
        Ok(0)
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, _mem: &mut dyn GuestMemory) {
        fs.timer_fds.remove(self.0);
    }
}
