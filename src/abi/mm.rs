//! Numbers of the memory calls: mmap(2), mremap(2), msync(2), madvise(2), mlock(2), mbind(2).
#![allow(missing_docs)]

/// `vm.mmap_min_addr`: nothing is mapped below it without CAP_SYS_RAWIO. Linux's default on x86-64.
pub(crate) const MMAP_MIN_ADDR: u64 = 0x1_0000;

/// `vm.max_map_count`: mappings that a process may have. Linux's default.
pub(crate) const MAX_MAP_COUNT: usize = 65_530;

pub(crate) const PROT_SEM: u64 = 8;
pub(crate) const PROT_GROWSDOWN: u64 = 0x0100_0000;
pub(crate) const PROT_GROWSUP: u64 = 0x0200_0000;

pub(crate) const MAP_TYPE: u64 = 0xf;
pub(crate) const MAP_SHARED: u64 = 1;
pub(crate) const MAP_PRIVATE: u64 = 2;
pub(crate) const MAP_SHARED_VALIDATE: u64 = 3;
pub(crate) const MAP_FIXED: u64 = 0x10;
pub(crate) const MAP_ANONYMOUS: u64 = 0x20;
pub(crate) const MAP_32BIT: u64 = 0x40;
pub(crate) const MAP_GROWSDOWN: u64 = 0x100;
pub(crate) const MAP_LOCKED: u64 = 0x2000;
pub(crate) const MAP_NORESERVE: u64 = 0x4000;
pub(crate) const MAP_POPULATE: u64 = 0x8000;
pub(crate) const MAP_NONBLOCK: u64 = 0x1_0000;
pub(crate) const MAP_HUGETLB: u64 = 0x4_0000;
pub(crate) const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
/// The flags that MAP_SHARED_VALIDATE lets pass for any file: those that existed before it.
pub(crate) const LEGACY_MAP_MASK: u64 = MAP_TYPE
    | MAP_FIXED
    | MAP_ANONYMOUS
    | MAP_32BIT
    | MAP_GROWSDOWN
    | MAP_HUGETLB
    | 0x800 // MAP_DENYWRITE
    | 0x1000 // MAP_EXECUTABLE
    | MAP_LOCKED
    | MAP_NORESERVE
    | MAP_POPULATE
    | MAP_NONBLOCK
    | 0x2_0000 // MAP_STACK
    | 0x400_0000; // MAP_UNINITIALIZED

pub(crate) const MREMAP_MAYMOVE: u64 = 1;
pub(crate) const MREMAP_FIXED: u64 = 2;
pub(crate) const MREMAP_DONTUNMAP: u64 = 4;

pub(crate) const MS_ASYNC: u64 = 1;
pub(crate) const MS_INVALIDATE: u64 = 2;
pub(crate) const MS_SYNC: u64 = 4;

pub(crate) const MADV_NORMAL: u32 = 0;
pub(crate) const MADV_RANDOM: u32 = 1;
pub(crate) const MADV_SEQUENTIAL: u32 = 2;
pub(crate) const MADV_WILLNEED: u32 = 3;
pub(crate) const MADV_DONTNEED: u32 = 4;
pub(crate) const MADV_FREE: u32 = 8;
pub(crate) const MADV_REMOVE: u32 = 9;
pub(crate) const MADV_DONTFORK: u32 = 10;
pub(crate) const MADV_DOFORK: u32 = 11;
pub(crate) const MADV_MERGEABLE: u32 = 12;
pub(crate) const MADV_UNMERGEABLE: u32 = 13;
pub(crate) const MADV_HUGEPAGE: u32 = 14;
pub(crate) const MADV_NOHUGEPAGE: u32 = 15;
pub(crate) const MADV_DONTDUMP: u32 = 16;
pub(crate) const MADV_DODUMP: u32 = 17;
pub(crate) const MADV_WIPEONFORK: u32 = 18;
pub(crate) const MADV_KEEPONFORK: u32 = 19;
pub(crate) const MADV_COLD: u32 = 20;
pub(crate) const MADV_PAGEOUT: u32 = 21;
pub(crate) const MADV_POPULATE_READ: u32 = 22;
pub(crate) const MADV_POPULATE_WRITE: u32 = 23;
pub(crate) const MADV_DONTNEED_LOCKED: u32 = 24;
pub(crate) const MADV_COLLAPSE: u32 = 25;
pub(crate) const MADV_GUARD_INSTALL: u32 = 102;
pub(crate) const MADV_GUARD_REMOVE: u32 = 103;

pub(crate) const MLOCK_ONFAULT: u64 = 1;
pub(crate) const MCL_CURRENT: u64 = 1;
pub(crate) const MCL_FUTURE: u64 = 2;
pub(crate) const MCL_ONFAULT: u64 = 4;

/// The last policy, MPOL_WEIGHTED_INTERLEAVE, and the flags that may come with one.
pub(crate) const MPOL_LAST: u32 = 6;
pub(crate) const MPOL_MODE_FLAGS: u32 = 0xe000;
pub(crate) const MPOL_F_STATIC_NODES: u32 = 1 << 15;
pub(crate) const MPOL_F_RELATIVE_NODES: u32 = 1 << 14;
pub(crate) const MPOL_F_NUMA_BALANCING: u32 = 1 << 13;
pub(crate) const MPOL_DEFAULT: u32 = 0;
pub(crate) const MPOL_PREFERRED: u32 = 1;
pub(crate) const MPOL_BIND: u32 = 2;
pub(crate) const MPOL_LOCAL: u32 = 4;
pub(crate) const MPOL_MF_MOVE: u64 = 2;
pub(crate) const MPOL_MF_MOVE_ALL: u64 = 4;
pub(crate) const MPOL_MF_VALID: u64 = 7;
pub(crate) const MPOL_F_NODE: u64 = 1;
pub(crate) const MPOL_F_ADDR: u64 = 2;
pub(crate) const MPOL_F_MEMS_ALLOWED: u64 = 4;

pub(crate) const MEMBARRIER_CMD_QUERY: u32 = 0;
pub(crate) const MEMBARRIER_CMD_GLOBAL: u32 = 1;
pub(crate) const MEMBARRIER_CMD_GLOBAL_EXPEDITED: u32 = 2;
pub(crate) const MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED: u32 = 4;
/// The private commands, each with the one that registers for it.
pub(crate) const MEMBARRIER_CMD_PRIVATE: [(u32, u32); 3] =
    [(8, 16), (32, 64), (MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 256)];
pub(crate) const MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ: u32 = 128;
pub(crate) const MEMBARRIER_CMD_GET_REGISTRATIONS: u32 = 512;
