//! Descriptions of POSIX message queues, mq_open(2). `kernel/mqueue.rs` has the queues.

use crate::abi::errno::Errno;
use crate::abi::fs::S_IFREG;
use crate::abi::mqueue::{NOTIFY_REMOVED, NOTIFY_WOKENUP};
use crate::guest::GuestMemory;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, seek_within};
use crate::kernel::mqueue::{MqueueId, Notify};
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::node::MQUEUE_DEV;
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// A queue that is open.
#[derive(Clone, Debug)]
pub(crate) struct MqueueFile(pub(crate) MqueueId);

/// Bytes of the file that shows the state of a queue.
const SIZE: u64 = 80;

/// Tells a thread of the C library through its socket what became of a registration.
pub(crate) fn tell(fs: &mut FileSystem, notify: &Notify, removed: bool) {
    if let Notify::Socket(socket, mut cookie) = *notify {
        if let Some(last) = cookie.last_mut() {
            *last = if removed { NOTIFY_REMOVED } else { NOTIFY_WOKENUP };
        }
        fs.net.push_netlink(socket, cookie.to_vec(), &mut fs.queues);
    }
}

impl FileOperations for MqueueFile {
    fn kind(&self) -> &'static str {
        "mqueue"
    }

    fn mqueue(&self) -> Option<MqueueId> {
        Some(self.0)
    }

    fn wait_queue(&self, fs: &FileSystem) -> Option<QueueId> {
        fs.mqueues.get(self.0).map(|queue| queue.queue)
    }

    fn has_offset(&self) -> bool {
        true
    }

    fn write_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    /// The state in a line.
    fn read(
        &mut self,
        cx: &mut FileContext,
        _mode: Mode,
        at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        let queue = cx.fs.mqueues.get(self.0).ok_or(Errno::EIO)?;
        let (pid, notify, signo) = match &queue.registration {
            None => (0, 0, 0),
            Some(told) => match told.notify {
                Notify::Signal(signo, _) => (told.pid, 0, signo),
                Notify::Nothing => (told.pid, 1, 0),
                Notify::Socket(..) => (told.pid, 2, 0),
            },
        };
        let text =
            format!("QSIZE:{:<10} NOTIFY:{notify:<5} SIGNO:{signo:<5} NOTIFY_PID:{pid:<6}\n", queue.bytes);
        let from = usize::try_from(at.unwrap_or(0)).unwrap_or(usize::MAX).min(text.len());
        let count = buf.len().min(text.len() - from);
        buf[..count].copy_from_slice(&text.as_bytes()[from..from + count]);
        Ok(count)
    }

    fn truncate(&mut self, _cx: &mut FileContext, _len: u64) -> Result<(), FileError> {
        Ok(())
    }

    fn looks_regular(&self) -> bool {
        true
    }

    fn readable_bytes(&self, _cx: &mut FileContext, offset: u64) -> Result<u64, Errno> {
        Ok(SIZE.wrapping_sub(offset))
    }

    fn seek(&self, _cx: &mut FileContext, offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        seek_within(offset, SIZE, by, whence, |data| match by < SIZE {
            true => Ok(if data { by } else { SIZE }),
            false => Err(Errno::ENXIO),
        })
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(cx.fs.mqueues.get(self.0).map_or(0, |queue| queue.ready()))
    }

    fn attributes(&self, cx: &mut FileContext) -> Result<Meta, Errno> {
        let queue = cx.fs.mqueues.get(self.0).ok_or(Errno::EIO)?;
        Ok(Meta {
            dev: MQUEUE_DEV,
            ino: queue.number,
            mode: S_IFREG | queue.mode,
            nlink: u64::from(queue.is_linked()),
            uid: queue.uid,
            gid: queue.gid,
            size: SIZE,
            times: queue.times,
            ..Meta::default()
        })
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, _mem: &mut dyn GuestMemory) {
        fs.mqueues.close(self.0);
    }
}
