//! Descriptors that tell of missing pages and give them, userfaultfd(2). `Userfaults` has who
//! waits.

use crate::abi::capability::CAP_SYS_PTRACE;
use crate::abi::errno::Errno;
use crate::abi::fs::{POLLERR, POLLIN};
use crate::abi::mm::MMAP_MIN_ADDR;
use crate::abi::userfault::*;
use crate::guest::{
    GuestMemory, Mapping, MemError, PAGE_SIZE, SpaceId, USER_END, UserfaultId, between, within,
};
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, read_records};
use crate::kernel::uaccess::{copy_from_user, get_words, put_u64, put_words};
use crate::kernel::userfault::Userfault;
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// A descriptor, by the queue of those who wait for it.
#[derive(Clone, Debug)]
pub(crate) struct UserfaultFd(pub(crate) QueueId);

impl UserfaultFd {
    fn held<'a>(&self, cx: &'a mut FileContext) -> Result<&'a mut Userfault, Errno> {
        cx.fs.userfaults.get_mut(self.0).ok_or(Errno::EBADF)
    }

    /// UFFDIO_API: agrees on features, once.
    fn agree(&self, cx: &mut FileContext, arg: u64) -> Result<u64, Errno> {
        const OFFERED: u64 = UFFD_FEATURE_MISSING_SHMEM
            | UFFD_FEATURE_SIGBUS
            | UFFD_FEATURE_THREAD_ID
            | UFFD_FEATURE_EXACT_ADDRESS;
        let [api, asked, _]: [u64; 3] = get_words(cx.mem, arg)?;
        let traces = cx.cred.capable(CAP_SYS_PTRACE);
        let refused = match asked {
            _ if api != UFFD_API => Some(Errno::EINVAL),
            _ if asked & UFFD_FEATURE_EVENT_FORK != 0 && !traces => Some(Errno::EPERM),
            _ if asked & !OFFERED != 0 || self.held(cx)?.features.is_some() => Some(Errno::EINVAL),
            _ => None,
        };
        if let Some(errno) = refused {
            put_words(cx.mem, arg, &[0; 3])?;
            return Err(errno);
        }
        put_words(cx.mem, arg, &[UFFD_API, OFFERED, UFFD_API_IOCTLS])?;
        self.held(cx)?.features = Some(asked);
        Ok(0)
    }

    /// UFFDIO_REGISTER: has missing pages of the mappings in a range told here.
    fn register(&self, cx: &mut FileContext, arg: u64) -> Result<u64, Errno> {
        let [start, len, mode]: [u64; 3] = get_words(cx.mem, arg)?;
        if mode != UFFDIO_REGISTER_MODE_MISSING {
            return Err(Errno::EINVAL);
        }
        check_range(start, len)?;
        let Userfault { id, space, .. } = *self.held(cx)?;
        let space = space.ok_or(Errno::ENOMEM)?;
        let mappings = mappings(cx.mem, space, start, len);
        if mappings.is_empty() {
            return Err(Errno::EINVAL);
        }
        for mapping in &mappings {
            if !can_be_registered(cx.fs, mapping) {
                return Err(Errno::EINVAL);
            }
            if !mapping.may_write {
                return Err(Errno::EPERM);
            }
            if mapping.userfault.is_some_and(|other| other != id) {
                return Err(Errno::EBUSY);
            }
        }
        in_space(cx.mem, space, |mem| mem.register(start, len, Some(id)))?;
        put_u64(cx.mem, arg.wrapping_add(24), UFFD_API_RANGE_IOCTLS)?;
        Ok(0)
    }

    /// UFFDIO_UNREGISTER.
    fn unregister(&self, cx: &mut FileContext, arg: u64) -> Result<u64, Errno> {
        let [start, len]: [u64; 2] = get_words(cx.mem, arg)?;
        check_range(start, len)?;
        let space = self.held(cx)?.space.ok_or(Errno::ENOMEM)?;
        let mappings = mappings(cx.mem, space, start, len);
        if mappings.is_empty() || !mappings.iter().all(|mapping| can_be_registered(cx.fs, mapping)) {
            return Err(Errno::EINVAL);
        }
        in_space(cx.mem, space, |mem| mem.register(start, len, None))?;
        self.wake(cx, start, len)
    }

    /// UFFDIO_WAKE, and what the others end with: lets those go on that wait for pages of a range.
    fn wake(&self, cx: &mut FileContext, start: u64, len: u64) -> Result<u64, Errno> {
        self.held(cx)?.wake(start, len);
        cx.fs.queues.wake(self.0, 0);
        Ok(0)
    }

    /// UFFDIO_COPY and UFFDIO_ZEROPAGE: gives missing pages the bytes of memory of the caller's, or
    /// zeros. The bytes that were given, or an error number, are stored at `told`.
    fn fill(
        &self,
        cx: &mut FileContext,
        (start, len): (u64, u64),
        from: Option<u64>,
        mode: u64,
        told: u64,
    ) -> Result<u64, Errno> {
        if let Some(from) = from {
            check_unaligned_range(from, len)?;
        }
        check_range(start, len)?;
        if mode & !UFFDIO_MODE_DONTWAKE != 0 {
            return Err(Errno::EINVAL);
        }
        let space = self.held(cx)?.space.ok_or(Errno::ESRCH)?;
        let (given, result) = give(cx.mem, space, (start, len), from);
        let failed = result.err().filter(|_| given == 0);
        put_u64(cx.mem, told, failed.map_or(given, Errno::to_rax))?;
        if let Some(errno) = failed {
            return Err(errno);
        }
        if mode & UFFDIO_MODE_DONTWAKE == 0 {
            self.wake(cx, start, given)?;
        }
        if given == len { Ok(0) } else { Err(Errno::EAGAIN) }
    }
}

/// Gives missing pages of one mapping the bytes of memory of the caller's, or zeros. Returns how
/// many bytes were given, and why not all.
fn give(
    mem: &mut dyn GuestMemory,
    space: SpaceId,
    (start, len): (u64, u64),
    from: Option<u64>,
) -> (u64, Result<(), Errno>) {
    let first = mappings(mem, space, start, PAGE_SIZE).into_iter().next();
    if !first.is_some_and(|mapping| mapping.userfault.is_some() && start + len <= mapping.end) {
        return (0, Err(Errno::ENOENT));
    }
    for given in (0..len).step_by(PAGE_SIZE as usize) {
        let mut bytes = [0; PAGE_SIZE as usize];
        let read = from.map_or(Ok(()), |from| copy_from_user(mem, from + given, &mut bytes));
        let filled = read.and_then(|()| in_space(mem, space, |mem| mem.fill(start + given, &bytes)));
        if filled.is_err() {
            return (given, filled);
        }
    }
    (len, Ok(()))
}

/// EINVAL unless a range lies where programs have memory.
fn check_unaligned_range(start: u64, len: u64) -> Result<(), Errno> {
    let ends = start.checked_add(len).is_some_and(|end| end <= USER_END);
    let good = len.is_multiple_of(PAGE_SIZE) && len > 0 && start >= MMAP_MIN_ADDR && ends;
    if good { Ok(()) } else { Err(Errno::EINVAL) }
}

/// The same for a range of whole pages.
fn check_range(start: u64, len: u64) -> Result<(), Errno> {
    if start.is_multiple_of(PAGE_SIZE) { check_unaligned_range(start, len) } else { Err(Errno::EINVAL) }
}

/// Tests whether missing pages of a mapping can be given by the program (`vma_can_userfault`):
/// anonymous memory, and files in memory.
fn can_be_registered(fs: &FileSystem, mapping: &Mapping) -> bool {
    mapping.file.as_ref().is_none_or(|file| mapping.object.is_some() && fs.is_tmpfs(file.device))
}

/// A request about the memory of an address space.
fn in_space(
    mem: &mut dyn GuestMemory,
    space: SpaceId,
    request: impl FnMut(&mut dyn GuestMemory) -> Result<(), MemError>,
) -> Result<(), Errno> {
    Ok(within(mem, space, request).unwrap_or(Err(MemError::Fault))?)
}

/// The mappings of an address space that reach into a range.
fn mappings(mem: &mut dyn GuestMemory, space: SpaceId, start: u64, len: u64) -> Vec<Mapping> {
    within(mem, space, |mem| between(mem, start, start + len).collect()).unwrap_or_default()
}

/// Takes an address space's mappings from a userfaultfd.
fn let_go(mem: &mut dyn GuestMemory, space: SpaceId, id: UserfaultId) {
    for mapping in mappings(mem, space, 0, USER_END) {
        if mapping.userfault == Some(id) {
            let len = mapping.end - mapping.start;
            // Joined mappings are not more than before.
            let _ = in_space(mem, space, |mem| mem.register(mapping.start, len, None));
        }
    }
}

impl FileOperations for UserfaultFd {
    fn kind(&self) -> &'static str {
        "userfaultfd"
    }

    fn write_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.0)
    }

    fn details(&self, fs: &FileSystem, _now: u64) -> String {
        fs.userfaults.get(self.0).map_or(String::new(), Userfault::describe)
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
        let held = self.held(cx)?;
        if held.features.is_none() {
            return Err(Errno::EINVAL.into());
        }
        read_records(buf, mode, "read from a userfaultfd", || held.take())
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn poll(&self, cx: &mut FileContext, mode: Mode, _wait: bool) -> Result<u16, Errno> {
        let held = self.held(cx)?;
        Ok(match held.is_readable() {
            _ if held.features.is_none() || !mode.nonblocking => POLLERR,
            true => POLLIN,
            false => 0,
        })
    }

    fn ioctl(&mut self, cx: &mut FileContext, command: u64, arg: u64) -> Result<u64, Errno> {
        if command != UFFDIO_API && self.held(cx)?.features.is_none() {
            return Err(Errno::EINVAL);
        }
        match command {
            UFFDIO_API => self.agree(cx, arg),
            UFFDIO_REGISTER => self.register(cx, arg),
            UFFDIO_UNREGISTER => self.unregister(cx, arg),
            UFFDIO_WAKE => {
                let [start, len]: [u64; 2] = get_words(cx.mem, arg)?;
                check_range(start, len)?;
                self.wake(cx, start, len)
            }
            UFFDIO_COPY => {
                let [to, from, len, mode]: [u64; 4] = get_words(cx.mem, arg)?;
                self.fill(cx, (to, len), Some(from), mode, arg.wrapping_add(32))
            }
            UFFDIO_ZEROPAGE => {
                let [to, len, mode]: [u64; 3] = get_words(cx.mem, arg)?;
                self.fill(cx, (to, len), None, mode, arg.wrapping_add(24))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, mem: &mut dyn GuestMemory) {
        if let Some(Userfault { id, space: Some(space), .. }) = fs.userfaults.remove(self.0) {
            let_go(mem, space, id);
        }
        fs.queues.wake(self.0, 0);
    }
}
