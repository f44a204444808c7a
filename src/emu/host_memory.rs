//! Memory that the host does not give: the process ends in one line that names the limit, where
//! Rust would abort. `unicorn/allocators.rs` does the same for the engine.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_int;

use rustix::process::{Resource, getrlimit};

use crate::console;

/// Exit status of cgemu's own failures.
const OWN_FAILURE: c_int = 125;

/// Advice about memory that the host does not give: it names the limits of the process that are
/// set.
pub(crate) fn advice() -> &'static str {
    let limited = |resource| getrlimit(resource).current.is_some();
    match (limited(Resource::As), limited(Resource::Data)) {
        (true, false) => "raise the limit on address space (ulimit -v unlimited)",
        (false, true) => "raise the limit on data (ulimit -d unlimited)",
        (true, true) => {
            "raise the limits on address space and on data (ulimit -v unlimited; ulimit -d unlimited)"
        }
        (false, false) => "end other programs, or add memory or swap",
    }
}

/// The allocator of the C library, whose failures end the process.
pub(crate) struct Allocator;

/// Bytes from which on an allocation is a mapping of its own.
const LARGE: c_int = 128 << 10;

/// Has the allocator give large allocations back to the host as soon as they are freed. By itself
/// it would keep them among small ones from the first that is freed on.
pub(crate) fn give_large_allocations_back() {
    const M_MMAP_THRESHOLD: c_int = -3;
    #[cfg(target_env = "gnu")]
    unsafe extern "C" {
        safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }
    #[cfg(target_env = "gnu")]
    mallopt(M_MMAP_THRESHOLD, LARGE);
}

/// Memory that was asked for, if it was given.
pub(super) fn given<T>(memory: *mut T, size: usize) -> *mut T {
    if memory.is_null() && size > 0 {
        out_of_memory(size);
    }
    memory
}

/// Ends the process without asking for memory.
fn out_of_memory(size: usize) -> ! {
    unsafe extern "C" {
        fn _exit(status: c_int) -> !;
    }
    console::last_words(format_args!("cgemu: the host gave no {size} bytes of memory; {}\n", advice()));
    // SAFETY: it takes any status; what runs at an orderly exit would need memory.
    unsafe { _exit(OWN_FAILURE) }
}

// SAFETY: every request goes to `System` as it came, and what it gives is given on.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this method, which is the same.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
