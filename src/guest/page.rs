//! Pages of the guest.

/// Bytes in a page, as in the x86-64 ABI.
pub const PAGE_SIZE: u64 = 4096;

/// First address above user space (`TASK_SIZE_MAX`): 47 bits, as on Linux without LA57.
pub const USER_END: u64 = 0x7fff_ffff_f000;

/// Rounds down to a whole page.
pub const fn page_down(addr: u64) -> u64 {
    addr & !(PAGE_SIZE - 1)
}

/// Rounds up to a whole page; `None` past the end of the address space.
pub const fn page_up(addr: u64) -> Option<u64> {
    match addr.checked_add(PAGE_SIZE - 1) {
        Some(sum) => Some(page_down(sum)),
        None => None,
    }
}
