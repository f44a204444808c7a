//! userfaultfd(2): numbers and structures of `linux/userfaultfd.h`.

/// The version of the interface.
pub(crate) const UFFD_API: u64 = 0xaa;

/// Flags of userfaultfd(2) beside O_CLOEXEC and O_NONBLOCK.
pub(crate) const UFFD_USER_MODE_ONLY: u32 = 1;

/// Commands of ioctl(2).
pub(crate) const UFFDIO_API: u64 = 0xc018_aa3f;
pub(crate) const UFFDIO_REGISTER: u64 = 0xc020_aa00;
pub(crate) const UFFDIO_UNREGISTER: u64 = 0x8010_aa01;
pub(crate) const UFFDIO_WAKE: u64 = 0x8010_aa02;
pub(crate) const UFFDIO_COPY: u64 = 0xc028_aa03;
pub(crate) const UFFDIO_ZEROPAGE: u64 = 0xc020_aa04;

/// The commands of a descriptor, and of a range that is registered: bits by their numbers.
pub(crate) const UFFD_API_IOCTLS: u64 = 1 << 0x3f | 1 << 0 | 1 << 1;
pub(crate) const UFFD_API_RANGE_IOCTLS: u64 = 1 << 2 | 1 << 3 | 1 << 4;

/// Features.
pub(crate) const UFFD_FEATURE_EVENT_FORK: u64 = 1 << 1;
pub(crate) const UFFD_FEATURE_MISSING_SHMEM: u64 = 1 << 5;
pub(crate) const UFFD_FEATURE_SIGBUS: u64 = 1 << 7;
pub(crate) const UFFD_FEATURE_THREAD_ID: u64 = 1 << 8;
pub(crate) const UFFD_FEATURE_EXACT_ADDRESS: u64 = 1 << 11;
/// Bit of the features in fdinfo once they are agreed on.
pub(crate) const UFFD_FEATURE_INITIALIZED: u64 = 1 << 31;

/// Modes of UFFDIO_REGISTER, UFFDIO_COPY and UFFDIO_ZEROPAGE.
pub(crate) const UFFDIO_REGISTER_MODE_MISSING: u64 = 1;
pub(crate) const UFFDIO_MODE_DONTWAKE: u64 = 1;

/// `struct uffd_msg`: its bytes, the event of a page fault, and that fault's flags.
pub(crate) const UFFD_MSG: usize = 32;
pub(crate) const UFFD_EVENT_PAGEFAULT: u8 = 0x12;
pub(crate) const UFFD_PAGEFAULT_FLAG_WRITE: u64 = 1;
