//! Numbers of the memory calls.

/// `vm.mmap_min_addr`: nothing is mapped below it without CAP_SYS_RAWIO. Linux's default on x86-64.
pub const MMAP_MIN_ADDR: u64 = 0x1_0000;
