//! Memory of the running task: mappings, shared objects, copies in and out.

use std::fmt;
use std::sync::Arc;

use crate::guest::page::PAGE_SIZE;

/// Permissions of a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Prot(pub u8);

impl Prot {
    /// No access.
    pub const NONE: Prot = Prot(0);
    /// Readable.
    pub const READ: Prot = Prot(1);
    /// Writable.
    pub const WRITE: Prot = Prot(2);
    /// Executable.
    pub const EXEC: Prot = Prot(4);
    /// Readable and writable.
    pub const RW: Prot = Prot(3);

    /// Returns whether every permission of `other` is granted.
    pub fn allows(self, other: Prot) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of permissions together.
    pub fn with(self, other: Prot) -> Prot {
        Prot(self.0 | other.0)
    }
}

/// A file of the host in a certain state: device, inode, length, and time of its last modification
/// in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileVersion(pub [u64; 5]);

/// Source of the bytes of a file mapping, read page by page when the guest first touches a page.
pub trait PageSource: Send + Sync {
    /// Reads up to `buf.len()` bytes at `offset`; fewer mean the end of the file, whose tail reads
    /// as zero.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize>;
    /// Length of the file in bytes; a page wholly past it faults with SIGBUS.
    fn len(&self) -> u64;
    /// The file and the state of it that the bytes are those of, if it is known that they stay.
    fn version(&self) -> Option<FileVersion> {
        None
    }
    /// Returns whether the file has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Reads until `buf` is full or the file ends, and returns the number of bytes.
    fn read_to_end(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            match self.read_at(offset.saturating_add(done as u64), &mut buf[done..]) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

impl PageSource for Vec<u8> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..)).unwrap_or(&[]);
        let count = rest.len().min(buf.len());
        buf.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok(count)
    }

    fn len(&self) -> u64 {
        self.len() as u64
    }
}

/// A set of pages that several mappings, and the kernel itself, may share: shared memory, and the
/// contents of a file of the emulated machine once it is mapped shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// Objects whose pages are counted together, as those of the files of a tmpfs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolId(pub u64);

/// A userfaultfd(2), whose number is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserfaultId(pub u32);

/// An address space of the machine. Tasks that share memory (CLONE_VM) run in the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceId(pub u32);

/// Backing store of a mapping.
#[derive(Clone)]
pub enum Backing {
    /// Zeroed memory.
    Anonymous,
    /// A view of a file from `offset` (a multiple of the page size) that nobody has changed yet
    /// (`object_take_views`).
    File {
        /// The file.
        source: Arc<dyn PageSource>,
        /// Offset of the mapping in it.
        offset: u64,
        /// Mapped with MAP_SHARED.
        shared: bool,
    },
    /// A shared view of an object from `offset` (a multiple of the page size).
    Shared {
        /// The object; the mapping holds one reference.
        object: ObjectId,
        /// Offset of the mapping in it.
        offset: u64,
    },
    /// A private view of an object from `offset` (a multiple of the page size): a page shows what
    /// is stored in the object until it is written to itself.
    Private {
        /// The object; the mapping holds one reference.
        object: ObjectId,
        /// Offset of the mapping in it.
        offset: u64,
    },
}

impl Backing {
    /// The object behind it, and where in it the mapping begins.
    pub fn object(&self) -> Option<(ObjectId, u64)> {
        match *self {
            Backing::Shared { object, offset } | Backing::Private { object, offset } => {
                Some((object, offset))
            }
            Backing::Anonymous | Backing::File { .. } => None,
        }
    }
}

/// Meaning of the address given to `map`, mmap(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anywhere; the address is a hint.
    Hint,
    /// Exactly there, replacing what was there (MAP_FIXED).
    Fixed,
    /// Exactly there, or not at all (MAP_FIXED_NOREPLACE).
    FixedNoReplace,
}

/// Properties of a mapping beside its permissions: the flags of Linux's `vm_flags` that a program
/// can set, named as `/proc/PID/smaps` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmFlags(pub u16);

impl VmFlags {
    /// No flag.
    pub const NONE: VmFlags = VmFlags(0);
    /// Grows down to an access below it, MAP_GROWSDOWN.
    pub const GROWSDOWN: VmFlags = VmFlags(1);
    /// Kept in memory, mlock(2).
    pub const LOCKED: VmFlags = VmFlags(2);
    /// Kept once it is touched, MLOCK_ONFAULT. Comes with `LOCKED`.
    pub const LOCKONFAULT: VmFlags = VmFlags(4);
    /// MADV_SEQUENTIAL.
    pub const SEQ_READ: VmFlags = VmFlags(8);
    /// MADV_RANDOM.
    pub const RAND_READ: VmFlags = VmFlags(16);
    /// Children do not have it, MADV_DONTFORK.
    pub const DONTCOPY: VmFlags = VmFlags(32);
    /// Children have zeros there, MADV_WIPEONFORK.
    pub const WIPEONFORK: VmFlags = VmFlags(64);
    /// MADV_DONTDUMP.
    pub const DONTDUMP: VmFlags = VmFlags(128);
    /// MAP_NORESERVE.
    pub const NORESERVE: VmFlags = VmFlags(256);
    /// MADV_HUGEPAGE.
    pub const HUGEPAGE: VmFlags = VmFlags(512);
    /// MADV_NOHUGEPAGE.
    pub const NOHUGEPAGE: VmFlags = VmFlags(1024);
    /// MADV_MERGEABLE.
    pub const MERGEABLE: VmFlags = VmFlags(2048);
    /// Never code, as the file's mount is noexec: without VM_MAYEXEC.
    pub const NEVER_EXEC: VmFlags = VmFlags(4096);
    /// Holds a file that was open for writing, which cannot be executed then.
    pub const OF_WRITER: VmFlags = VmFlags(8192);
    /// The marks of mlock(2) and its kin.
    pub const LOCKS: VmFlags = VmFlags(2 | 4);

    /// Returns whether every flag of `other` is set.
    pub fn has(self, other: VmFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    pub fn with(self, other: VmFlags) -> VmFlags {
        VmFlags(self.0 | other.0)
    }

    /// The set without the flags of another.
    pub fn without(self, other: VmFlags) -> VmFlags {
        VmFlags(self.0 & !other.0)
    }
}

/// Memory that an address space uses, in bytes, and the most that it has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Pages that are present, VmRSS.
    pub resident: u64,
    /// The most of them at a time, VmHWM.
    pub resident_peak: u64,
    /// Mapped bytes, VmSize.
    pub mapped: u64,
    /// The most of it at a time, VmPeak.
    pub mapped_peak: u64,
    /// Pages that were made present at an access: minor faults, not bytes.
    pub faults: u64,
}

/// The file behind a mapping, for `/proc/self/maps` and for finding debug information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId {
    /// Path in the guest's view.
    pub path: Arc<str>,
    /// Inode number shown to the guest.
    pub inode: u64,
    /// Device number shown to the guest.
    pub device: u64,
}

/// A request for a mapping, mmap(2).
#[derive(Clone)]
pub struct MapRequest {
    /// Address or hint; 0 for none.
    pub addr: u64,
    /// Bytes; rounded up to whole pages.
    pub len: u64,
    /// Permissions.
    pub prot: Prot,
    /// Permission to be made writable later, mprotect(2): not a shared mapping of what cannot be
    /// written.
    pub may_write: bool,
    /// Meaning of `addr`.
    pub place: Place,
    /// Backing store.
    pub backing: Backing,
    /// The file, if there is one.
    pub file: Option<FileId>,
    /// A name such as `[heap]` or `[stack]` where no file is.
    pub label: Option<&'static str>,
    /// Other properties.
    pub flags: VmFlags,
}

/// Refusal of a request about memory. The kernel turns these into its error numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemError {
    /// No address range or no memory left (ENOMEM).
    NoMemory,
    /// No page left in a pool (ENOSPC).
    Full,
    /// Something is there already (EEXIST).
    Exists,
    /// A misaligned, empty or impossible range (EINVAL).
    Invalid,
    /// An address that is not mapped, or not so (EFAULT).
    Fault,
    /// Permissions the backing does not allow (EACCES).
    Access,
    /// A file of the host that cannot be read (EIO).
    Io,
}

impl fmt::Display for MemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemError::NoMemory => "out of memory",
            MemError::Full => "no space left",
            MemError::Exists => "address range in use",
            MemError::Invalid => "invalid address range",
            MemError::Fault => "bad address",
            MemError::Access => "permission denied",
            MemError::Io => "input/output error",
        })
    }
}

impl std::error::Error for MemError {}

/// One mapping, as `/proc/self/maps` shows it.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Permissions.
    pub prot: Prot,
    /// Shared between address spaces (MAP_SHARED).
    pub shared: bool,
    /// May be made writable, mprotect(2).
    pub may_write: bool,
    /// Other properties.
    pub flags: VmFlags,
    /// The object behind it.
    pub object: Option<ObjectId>,
    /// Offset in the file.
    pub offset: u64,
    /// The file, if there is one.
    pub file: Option<FileId>,
    /// Name of a mapping without a file: `[heap]`, `[stack]`.
    pub label: Option<&'static str>,
    /// Name that the program gave it, prctl(2) PR_SET_VMA.
    pub name: Option<Arc<str>>,
    /// The userfaultfd that is told of its missing pages.
    pub userfault: Option<UserfaultId>,
}

impl Mapping {
    /// Tests whether it is private memory without a file.
    pub fn is_anonymous(&self) -> bool {
        self.file.is_none() && !self.shared
    }

    /// Tests whether RLIMIT_DATA counts it: private and writable, and no stack.
    pub fn is_data(&self) -> bool {
        self.prot.allows(Prot::WRITE) && !self.shared && !self.is_stack()
    }

    /// Tests whether memory is reserved for it, VM_ACCOUNT: private, writable, and not asked for
    /// with MAP_NORESERVE.
    pub fn is_accounted(&self) -> bool {
        self.prot.allows(Prot::WRITE) && !self.shared && !self.flags.has(VmFlags::NORESERVE)
    }

    /// Tests whether it grows down.
    pub fn is_stack(&self) -> bool {
        self.flags.has(VmFlags::GROWSDOWN)
    }

    /// Tests whether it is kept in memory, mlock(2).
    pub fn is_locked(&self) -> bool {
        self.flags.has(VmFlags::LOCKED)
    }
}

/// Bytes of the mappings of an address space that limits are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappedBytes {
    /// All of them.
    pub all: u64,
    /// Those that [`Mapping::is_data`] is true of.
    pub data: u64,
    /// Those that [`Mapping::is_locked`] is true of.
    pub locked: u64,
}

/// A request to resize or move a mapping, mremap(2).
#[derive(Clone, Copy, Debug)]
pub struct Remap {
    /// Address of the mapping.
    pub addr: u64,
    /// Its length in bytes; 0 makes a second mapping of shared memory.
    pub old_len: u64,
    /// Its new length.
    pub new_len: u64,
    /// MREMAP_MAYMOVE.
    pub may_move: bool,
    /// The new address, with MREMAP_FIXED.
    pub fixed: Option<u64>,
    /// MREMAP_DONTUNMAP: the old mapping stays, without its pages.
    pub keep: bool,
}

/// The memory of the running task. Addresses are the guest's.
pub trait GuestMemory {
    /// Copies from the guest; on a bad address the number of bytes copied before it is the error.
    fn read(&mut self, addr: u64, buf: &mut [u8]) -> Result<(), usize>;
    /// Copies to the guest; on a bad address the number of bytes copied before it is the error.
    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), usize>;
    /// Makes a mapping and returns its address.
    fn map(&mut self, request: MapRequest) -> Result<u64, MemError>;
    /// Removes every mapping in a range of whole pages.
    fn unmap(&mut self, addr: u64, len: u64) -> Result<(), MemError>;
    /// Changes permissions, up to the first hole (`NoMemory`) or what does not allow it (`Access`),
    /// as mprotect(2).
    fn protect(&mut self, addr: u64, len: u64, prot: Prot) -> Result<(), MemError>;
    /// Resizes or moves a mapping and returns its address, mremap(2).
    fn remap(&mut self, request: Remap) -> Result<u64, MemError>;
    /// Sets and clears properties of a range, up to the first hole (`NoMemory`).
    fn change_flags(&mut self, addr: u64, len: u64, set: VmFlags, clear: VmFlags) -> Result<(), MemError>;
    /// Names a range of memory without a file, prctl(2) PR_SET_VMA.
    fn set_name(&mut self, addr: u64, len: u64, name: Option<Arc<str>>) -> Result<(), MemError>;
    /// Sets how many bytes a mapping may grow down to, and to how many all may grow by that:
    /// RLIMIT_STACK and RLIMIT_AS.
    fn limit_growth(&mut self, stack: u64, total: u64);
    /// Memory that this address space uses.
    fn usage(&self) -> MemoryUsage;
    /// Makes the pages of a range present for loads, or for stores: `NoMemory` for a hole and at
    /// the memory limit, `Access` for missing permissions, `Fault` past the end of a file.
    fn populate(&mut self, addr: u64, len: u64, write: bool) -> Result<(), MemError>;
    /// Returns whether an access to the page would not have to wait for a disk, mincore(2).
    fn is_resident(&self, addr: u64) -> bool;
    /// Drops the contents of private pages, so that they read as when first mapped (MADV_DONTNEED).
    fn discard(&mut self, addr: u64, len: u64) -> Result<(), MemError>;
    /// Makes every access to a range fault, MADV_GUARD_INSTALL of madvise(2), or no more.
    fn guard(&mut self, addr: u64, len: u64, install: bool) -> Result<(), MemError>;
    /// Has a userfaultfd told of missing pages in the mappings of a range, or none any more.
    fn register(&mut self, addr: u64, len: u64, userfault: Option<UserfaultId>) -> Result<(), MemError>;
    /// The userfaultfd that is to be told of such an access, as the page is missing.
    fn missing(&self, addr: u64, access: Prot) -> Option<UserfaultId>;
    /// Takes the userfaultfd of a missing page that the kernel, or the CPU, found last.
    fn take_missed(&mut self) -> Option<UserfaultId>;
    /// Gives a page that is missing its bytes: `Exists` if it is not, `Fault` past the end of the
    /// object behind it.
    fn fill(&mut self, addr: u64, page: &[u8; PAGE_SIZE as usize]) -> Result<(), MemError>;
    /// brk(2): sets the program break if it can and returns the break that holds now; 0 only asks.
    fn brk(&mut self, addr: u64) -> u64;
    /// Start of the heap and the program break.
    fn heap(&self) -> (u64, u64);
    /// Says where the heap is, without changing a mapping: PR_SET_MM of prctl(2).
    fn set_heap(&mut self, heap: (u64, u64));
    /// Every mapping, by rising address; neighbours that Linux would merge are merged.
    fn mappings(&self) -> Vec<Mapping>;
    /// Addresses of the pages in a range that were touched, rising.
    fn present_pages(&self, start: u64, end: u64) -> Vec<u64>;
    /// The first mapping that ends behind an address.
    fn next_mapping(&self, addr: u64) -> Option<Mapping>;

    /// Bytes of all mappings, which are not looked at for it.
    fn mapped_bytes(&self) -> MappedBytes;
    /// The backing of the page at an address.
    fn backing(&self, addr: u64) -> Option<Backing>;
    /// Returns whether every page of the range is mapped.
    fn is_mapped(&self, addr: u64, len: u64) -> bool;
    /// Bytes of guest memory that are really in use, by all address spaces.
    fn resident(&self) -> u64;
    /// Charges the bytes that the kernel holds for the guest to its limit; `NoMemory` where the
    /// guest now uses more, or the limit has stopped an access since the last call.
    fn charge(&mut self, kernel: u64) -> Result<(), MemError>;
    /// Makes an object of `len` bytes, with one reference for the caller. Its bytes are those of a
    /// file, as many as the number says, read page by page when they are first touched; then zeros.
    /// `u64::MAX` means all that the file ever has: changes to the object are made there too.
    fn object_create(&mut self, len: u64, base: Option<(Arc<dyn PageSource>, u64)>) -> ObjectId;
    /// Returns whether a mapping with `VmFlags::OF_WRITER` is of this file, by its `FileId`.
    fn has_writer(&self, device: u64, inode: u64) -> bool;
    /// Returns whether a shared mapping of an object may ever be stored to.
    fn is_object_stored_to(&self, object: ObjectId) -> bool;
    /// Returns whether a file, by the numbers of its `FileId`, is behind a `Backing::File`.
    fn is_file_viewed(&self, device: u64, inode: u64) -> bool;
    /// Makes these mappings of a file views of an object, which has the file's bytes.
    fn object_take_views(&mut self, object: ObjectId, device: u64, inode: u64);
    /// Gives up the caller's reference.
    fn object_release(&mut self, object: ObjectId);
    /// Number of mappings of an object, in all address spaces.
    fn object_views(&self, object: ObjectId) -> usize;
    /// Length in bytes.
    fn object_len(&self, object: ObjectId) -> u64;
    /// Cuts or extends an object; pages past the new end fault in every mapping of it.
    fn object_resize(&mut self, object: ObjectId, len: u64) -> Result<(), MemError>;
    /// Reads at `offset`; returns how many bytes there were before the end. `Io` where the file
    /// below cannot be read.
    fn object_read(&mut self, object: ObjectId, offset: u64, buf: &mut [u8]) -> Result<usize, MemError>;
    /// Writes at `offset`, and makes the object longer if it ends before that. Returns how many
    /// bytes had room in its pool, `Full` if none had.
    fn object_write(&mut self, object: ObjectId, offset: u64, bytes: &[u8]) -> Result<usize, MemError>;
    /// Makes a range read as zero, and frees what it can.
    fn object_punch(&mut self, object: ObjectId, offset: u64, len: u64) -> Result<(), MemError>;
    /// Counts the pages of an object that has none yet in a pool. An access to one that has no room
    /// there faults as one past the end does.
    fn object_join(&mut self, object: ObjectId, pool: PoolId);
    /// Pages that were touched or are reserved.
    fn object_pages(&self, object: ObjectId) -> u64;
    /// Takes the room of a range's pages, past the end too, without making them present; `Full`
    /// undoes it, fallocate(2).
    fn object_reserve(&mut self, object: ObjectId, offset: u64, len: u64) -> Result<(), MemError>;
    /// Bounds the pages of a pool; `u64::MAX` is no bound, as one has that was not named before.
    fn pool_bound(&mut self, pool: PoolId, most: u64);
    /// Pages of a pool that are used.
    fn pool_used(&self, pool: PoolId) -> u64;
    /// Takes a page from a pool for something that is no object; `Full`.
    fn pool_take(&mut self, pool: PoolId) -> Result<(), MemError>;
    /// Gives such a page back.
    fn pool_give(&mut self, pool: PoolId);
    /// Start of the first page that was touched and ends behind `offset`.
    fn object_next_page(&self, object: ObjectId, offset: u64) -> Option<u64>;
    /// Makes another address space with the mappings of this one, fork(2): private pages are the
    /// child's own from then on, shared ones stay shared. `NoMemory` at the limit.
    fn fork(&mut self, child: SpaceId) -> Result<(), MemError>;
    /// Frees an address space, with all that is mapped there. The one that is in use stays there
    /// empty until another is.
    fn drop_space(&mut self, space: SpaceId);
    /// Calls `f` with the memory of another address space; one that is not there is empty.
    fn in_space(&mut self, space: SpaceId, f: &mut dyn FnMut(&mut dyn GuestMemory));
}

/// Calls `what` with the memory of an address space; `None` if it was not called.
pub fn within<R>(
    mem: &mut dyn GuestMemory,
    space: SpaceId,
    mut what: impl FnMut(&mut dyn GuestMemory) -> R,
) -> Option<R> {
    let mut result = None;
    mem.in_space(space, &mut |mem| result = Some(what(mem)));
    result
}

/// The mappings that reach into a range, by rising address.
pub fn between(mem: &dyn GuestMemory, start: u64, end: u64) -> impl Iterator<Item = Mapping> {
    std::iter::successors(mem.next_mapping(start), |last| mem.next_mapping(last.end))
        .take_while(move |mapping| mapping.start < end)
}
