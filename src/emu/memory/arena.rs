//! The arena: one reserved range of host addresses in which every frame of the guest lies.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::guest::PAGE_SIZE;

/// Bytes in a page, for host arithmetic.
pub(super) const PAGE: usize = PAGE_SIZE as usize;

/// A page of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Frame(u32);

impl Frame {
    /// The frame with this number.
    pub(super) const fn new(index: usize) -> Frame {
        Frame(index as u32)
    }

    /// Its number in the arena.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A reserved, zero-filled range of host memory; pages cost nothing until touched.
#[derive(Debug)]
pub(crate) struct Arena {
    base: NonNull<u8>,
    pages: usize,
}

// SAFETY: the arena owns its range, and every access goes through `&self` or `&mut self` of its
// owner.
unsafe impl Send for Arena {}

impl Arena {
    /// Reserves the largest range beside which the host still has `beside` bytes of address space,
    /// 1 TiB at most and 1 GiB at least.
    ///
    /// # Errors
    /// The host's, when not even the smallest range can be had.
    pub(crate) fn reserve(beside: usize) -> io::Result<Arena> {
        let mut error = io::Error::other("no address range");
        for shift in [40, 38, 36, 34, 32, 30] {
            let len = 1usize << shift;
            // SAFETY: a new anonymous mapping at an address of the kernel's choice overlaps
            // nothing.
            let mapped = unsafe {
                mmap_anonymous(
                    std::ptr::null_mut(),
                    len,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::PRIVATE | MapFlags::NORESERVE,
                )
            };
            match mapped {
                Ok(base) => {
                    if let Some(base) = NonNull::new(base.cast::<u8>()) {
                        let arena = Arena { base, pages: len / PAGE };
                        match has_room(beside) {
                            Ok(()) => return Ok(arena),
                            Err(why) => error = why,
                        }
                    }
                }
                Err(errno) => error = errno.into(),
            }
        }
        Err(error)
    }

    /// Pages in the arena.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    /// Bytes in the arena.
    pub(crate) fn len(&self) -> usize {
        self.pages * PAGE
    }

    /// Host address of the arena, which is its "physical" address in the engine.
    pub(crate) fn base(&self) -> *mut c_void {
        self.base.as_ptr().cast()
    }

    /// Host address of a frame.
    pub(crate) fn address(&self, frame: Frame) -> u64 {
        self.base.as_ptr() as u64 + frame.index() as u64 * PAGE_SIZE
    }

    fn pointer(&self, frame: Frame, offset: usize, len: usize) -> *mut u8 {
        assert!(frame.index() < self.pages && offset + len <= PAGE, "access outside a frame");
        // SAFETY: the assertion keeps the result within the mapping.
        unsafe { self.base.as_ptr().add(frame.index() * PAGE + offset) }
    }

    /// Copies bytes out of a frame.
    pub(super) fn read(&self, frame: Frame, offset: usize, buf: &mut [u8]) {
        let from = self.pointer(frame, offset, buf.len());
        // SAFETY: `pointer` checked the range; `buf` is Rust memory and so lies outside the arena;
        // generated code does not run while the owner of the arena is in here.
        unsafe { std::ptr::copy_nonoverlapping(from, buf.as_mut_ptr(), buf.len()) }
    }

    /// Copies bytes into a frame.
    pub(super) fn write(&mut self, frame: Frame, offset: usize, bytes: &[u8]) {
        let to = self.pointer(frame, offset, bytes.len());
        // SAFETY: as in `read`, and `&mut self` excludes other accesses from Rust.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
    }

    /// Fills a part of a frame with zeros.
    pub(super) fn zero(&mut self, frame: Frame, offset: usize, len: usize) {
        let to = self.pointer(frame, offset, len);
        // SAFETY: as in `write`.
        unsafe { std::ptr::write_bytes(to, 0, len) }
    }

    /// Copies one frame to another.
    pub(super) fn duplicate(&mut self, from: Frame, to: Frame) {
        assert_ne!(from, to, "a frame copied onto itself");
        let (source, target) = (self.pointer(from, 0, PAGE), self.pointer(to, 0, PAGE));
        // SAFETY: two different frames do not overlap, and `pointer` checked both.
        unsafe { std::ptr::copy_nonoverlapping(source, target, PAGE) }
    }

    /// Returns a run of frames to the host, after which they read as zeros.
    ///
    /// # Errors
    /// The host's; the frames then keep their bytes.
    pub(super) fn release(&mut self, first: Frame, count: usize) -> io::Result<()> {
        assert!(first.index() + count <= self.pages, "frames outside the arena");
        // SAFETY: the range lies in our own private anonymous mapping, whose pages MADV_DONTNEED
        // zeroes.
        unsafe {
            let start = self.base.as_ptr().add(first.index() * PAGE);
            madvise(start.cast(), count * PAGE, Advice::LinuxDontNeed)?;
        }
        Ok(())
    }
}

/// Checks that the host has so many bytes of address space left for memory like the engine's, which
/// holds generated code.
fn has_room(bytes: usize) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: a new anonymous mapping at an address of the kernel's choice overlaps nothing, and
    // nobody else knows it before it is unmapped.
    unsafe {
        let prot = ProtFlags::READ | ProtFlags::WRITE | ProtFlags::EXEC;
        let start = mmap_anonymous(std::ptr::null_mut(), bytes, prot, MapFlags::PRIVATE)?;
        munmap(start, bytes)?;
    }
    Ok(())
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the range is ours alone; the engine, which also knew it, is dropped before its
        // memory. If it fails, the addresses stay reserved, which harms nothing.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len()) };
    }
}
