//! Arguments of the memory calls; the answers are those of a native Linux 6.18.

use crate::guest::{GuestMemory, PAGE_SIZE, Prot};
use crate::syscalls::testing::{DATA, DATA_LEN, Machine};

const EPERM: i64 = -1;
const ENOMEM: i64 = -12;
const EFAULT: i64 = -14;
const EEXIST: i64 = -17;
const EINVAL: i64 = -22;
const ENOSPC: i64 = -28;
const EBADF: i64 = -9;

const MMAP: u64 = 9;
const MPROTECT: u64 = 10;
const MUNMAP: u64 = 11;
const MREMAP: u64 = 25;
const MSYNC: u64 = 26;
const MINCORE: u64 = 27;
const MADVISE: u64 = 28;
const MLOCK: u64 = 149;
const MLOCKALL: u64 = 151;
const MEMBARRIER: u64 = 324;
const MLOCK2: u64 = 325;
const PKEY_MPROTECT: u64 = 329;
const PKEY_ALLOC: u64 = 330;

const RW: u64 = 3;
const PRIVATE_ANON: u64 = 0x22;
const NO_FD: u64 = u64::MAX;

#[test]
fn odd_arguments() {
    let mut machine = Machine::new();
    let p = machine.call(MMAP, &[0, 16384, RW, PRIVATE_ANON, NO_FD, 0]) as u64;
    let top = 0x7fff_ffff_f000;
    for (number, args, expected) in [
        (MMAP, [0, 0, RW, PRIVATE_ANON, NO_FD, 0], EINVAL),
        (MMAP, [0, 4096, RW, 0x20, NO_FD, 0], EINVAL),
        (MMAP, [0, 4096, RW, 0x23, NO_FD, 0], EINVAL),
        (MMAP, [0, 4096, RW, 2, NO_FD, 0], EBADF),
        (MMAP, [0, 4096, RW, PRIVATE_ANON, NO_FD, 0x123], EINVAL),
        (MMAP, [0, u64::MAX, RW, PRIVATE_ANON, NO_FD, 0], ENOMEM),
        (MMAP, [0, 1 << 47, RW, PRIVATE_ANON, NO_FD, 0], ENOMEM),
        (MMAP, [0x1001, 4096, RW, 0x32, NO_FD, 0], EINVAL),
        (MMAP, [top, 4096, RW, 0x32, NO_FD, 0], ENOMEM),
        (MMAP, [0, 4096, RW, 0x40022, NO_FD, 0], ENOMEM),
        (MMAP, [0, 4096, RW, 0x121, NO_FD, 0], EINVAL),
        (MMAP, [p, 4096, RW, 0x10_0022, NO_FD, 0], EEXIST),
        (MUNMAP, [p + 1, 4096, 0, 0, 0, 0], EINVAL),
        (MUNMAP, [p, 0, 0, 0, 0, 0], EINVAL),
        (MUNMAP, [p, 1 << 47, 0, 0, 0, 0], EINVAL),
        (MUNMAP, [p, u64::MAX, 0, 0, 0, 0], EINVAL),
        (MPROTECT, [p + 1, 1, 1, 0, 0, 0], EINVAL),
        (MPROTECT, [p, 0, 1, 0, 0, 0], 0),
        (MPROTECT, [p, u64::MAX, 1, 0, 0, 0], ENOMEM),
        (MPROTECT, [p, 4096, 0x10, 0, 0, 0], EINVAL),
        (MPROTECT, [p, 4096, 8 | RW, 0, 0, 0], 0),
        (MPROTECT, [p, 4096, 0x0100_0003, 0, 0, 0], EINVAL),
        (MPROTECT, [p, 4096, 0x0300_0003, 0, 0, 0], EINVAL),
        (MPROTECT, [0x10000, 4096, RW, 0, 0, 0], ENOMEM),
        (MADVISE, [p + 1, 1, 4, 0, 0, 0], EINVAL),
        (MADVISE, [p, 0, 4, 0, 0, 0], 0),
        (MADVISE, [p, 0, 77, 0, 0, 0], EINVAL),
        (MADVISE, [0x10000, 4096, 4, 0, 0, 0], ENOMEM),
        (MADVISE, [p, u64::MAX, 4, 0, 0, 0], EINVAL),
        (MADVISE, [p, 4096, 9, 0, 0, 0], EINVAL),
        (MADVISE, [p, 4096, 8, 0, 0, 0], 0),
        (MSYNC, [p, 4096, 5, 0, 0, 0], EINVAL),
        (MSYNC, [p, 4096, 8, 0, 0, 0], EINVAL),
        (MSYNC, [p + 1, 4096, 4, 0, 0, 0], EINVAL),
        (MSYNC, [16, 4096, 1, 0, 0, 0], EINVAL),
        (MSYNC, [0x10000, 4096, 4, 0, 0, 0], ENOMEM),
        (MSYNC, [0x10000, 0, 4, 0, 0, 0], 0),
        (MSYNC, [p, u64::MAX, 4, 0, 0, 0], 0),
        (MINCORE, [p + 1, 1, DATA, 0, 0, 0], EINVAL),
        (MINCORE, [0x10000, 4096, DATA, 0, 0, 0], ENOMEM),
        (MINCORE, [p, 4096, 8, 0, 0, 0], EFAULT),
        (MINCORE, [p, 0, 8, 0, 0, 0], 0),
        (MREMAP, [p + 1, 4096, 8192, 1, 0, 0], EINVAL),
        (MREMAP, [p, 4096, 0, 1, 0, 0], EINVAL),
        (MREMAP, [p, 4096, 8192, 8, 0, 0], EINVAL),
        (MREMAP, [p, 4096, 8192, 2, p, 0], EINVAL),
        (MREMAP, [p, 8192, 8192, 3, p + 4096, 0], EINVAL),
        (MREMAP, [p, 4096, 4096, 3, p + 16385, 0], EINVAL),
        (MREMAP, [0x10000, 4096, 8192, 1, 0, 0], EFAULT),
        (MREMAP, [p, 4096, 8192, 5, 0, 0], EINVAL),
        (MREMAP, [p, 4096, 1 << 47, 1, 0, 0], EINVAL),
        (MREMAP, [p, 4096, 8192, 3, top - 4096, 0], EINVAL),
        (MLOCK, [0x10000, 4096, 0, 0, 0, 0], ENOMEM),
        (MLOCK, [p + 1, 4096, 0, 0, 0, 0], 0),
        (MLOCK2, [p, 4096, 2, 0, 0, 0], EINVAL),
        (MLOCKALL, [0, 0, 0, 0, 0, 0], EINVAL),
        (MLOCKALL, [4, 0, 0, 0, 0, 0], EINVAL),
        (MLOCKALL, [8, 0, 0, 0, 0, 0], EINVAL),
        (MEMBARRIER, [0, 1, 0, 0, 0, 0], EINVAL),
        (MEMBARRIER, [8, 0, 0, 0, 0, 0], EPERM),
        (MEMBARRIER, [16, 0, 0, 0, 0, 0], 0),
        (MEMBARRIER, [8, 0, 0, 0, 0, 0], 0),
        (MEMBARRIER, [99, 0, 0, 0, 0, 0], EINVAL),
        (PKEY_MPROTECT, [p, 4096, RW, u64::MAX, 0, 0], 0),
        (PKEY_MPROTECT, [p, 4096, RW, 5, 0, 0], EINVAL),
        (PKEY_ALLOC, [0, 0, 0, 0, 0, 0], ENOSPC),
    ] {
        assert_eq!(machine.call(number, &args), expected, "{number} {args:x?}");
    }
}

#[test]
fn private_memory_comes_and_goes() {
    let mut machine = Machine::new();
    let p = machine.call(MMAP, &[0, 5000, RW, PRIVATE_ANON, NO_FD, 0]) as u64;
    assert!(machine.mem.is_mapped(p, 2 * PAGE_SIZE));
    machine.put_words(p + 4096, &[42]);
    assert_eq!(machine.call(MADVISE, &[p, 8192, 8]), 0);
    assert_eq!(machine.word(p + 4096), 42, "MADV_FREE keeps");
    assert_eq!(machine.call(MADVISE, &[p, 8192, 4]), 0);
    assert_eq!(machine.word(p + 4096), 0, "MADV_DONTNEED does not");
    assert_eq!(machine.call(MUNMAP, &[p + 4096, 1]), 0);
    machine.put_words(p, &[7]);
    assert_eq!(machine.call(MADVISE, &[p, 8192, 4]), ENOMEM);
    assert_eq!(machine.word(p), 0, "discarded up to the hole");
    assert_eq!(machine.call(MINCORE, &[DATA, DATA_LEN, DATA]), 0);
    assert_eq!(machine.get(DATA, 17), [[1; 16].as_slice(), &[0]].concat());
}

#[test]
fn what_can_be_written_can_be_read() {
    let mut machine = Machine::new();
    for (bits, expected) in [(0, 0), (1, 1), (2, 2), (4, 4), (7, 7), (0xf0, 0)] {
        let p = machine.call(MMAP, &[0, 4096, bits, PRIVATE_ANON, NO_FD, 0]) as u64;
        let mapping = machine.mem.mappings().into_iter().find(|m| m.start <= p && p < m.end);
        assert_eq!(mapping.map(|m| m.prot), Some(Prot(expected)));
        machine.call(MUNMAP, &[p, 4096]);
    }
}

#[test]
fn map_32bit_stays_low() {
    let mut machine = Machine::new();
    let flags = PRIVATE_ANON | 0x40;
    let first = machine.call(MMAP, &[0, 8192, RW, flags, NO_FD, 0]);
    let second = machine.call(MMAP, &[0, 4096, RW, flags, NO_FD, 0]);
    assert_eq!((first, second), (0x4000_0000, 0x4000_2000));
    machine.call(MUNMAP, &[0x4000_0000, 4096]);
    assert_eq!(machine.call(MMAP, &[0, 4096, RW, flags, NO_FD, 0]), 0x4000_0000);
    assert_eq!(machine.call(MMAP, &[0, 0x4000_0000, RW, flags, NO_FD, 0]), ENOMEM);
}

#[test]
fn shared_memory_lives_with_its_mappings() {
    let mut machine = Machine::new();
    let p = machine.call(MMAP, &[0, 8192, RW, 0x21, NO_FD, 0]) as u64;
    machine.put_words(p + 4096, &[9]);
    assert_eq!(machine.call(MADVISE, &[p, 8192, 4]), 0);
    assert_eq!(machine.word(p + 4096), 9, "shared pages are not discarded");
    let q = machine.call(MREMAP, &[p, 8192, 8192, 3, DATA + (1 << 24)]) as u64;
    assert_eq!((q, machine.word(q + 4096)), (DATA + (1 << 24), 9));
}

/// A file of one byte, opened for reading (3), writing (4) and both (5), and its directory (6).
fn with_files(directory: &std::path::Path) -> Machine {
    const OPEN: u64 = 2;
    let mut machine = Machine::new();
    let path = directory.join("f");
    assert!(std::fs::write(&path, b"x").is_ok());
    let mut open = |path: &std::path::Path, flags| {
        let name = [path.as_os_str().as_encoded_bytes(), b"\0"].concat();
        machine.put(DATA, &name);
        machine.call(OPEN, &[DATA, flags, 0])
    };
    assert_eq!((open(&path, 0), open(&path, 1), open(&path, 2), open(directory, 0)), (3, 4, 5, 6));
    machine
}

#[test]
fn file_mappings() {
    const EACCES: i64 = -13;
    const ENODEV: i64 = -19;
    const EOVERFLOW: i64 = -75;
    const EOPNOTSUPP: i64 = -95;
    let Ok(directory) = tempfile::tempdir() else { panic!("no temporary directory") };
    let mut machine = with_files(directory.path());
    for (args, expected) in [
        ([0, 4096, RW, 1, 3, 0], EACCES),
        ([0, 4096, 1, 1, 4, 0], EACCES),
        ([0, 4096, 1, 2, 4, 0], EACCES),
        ([0, 4096, 1, 2, 6, 0], ENODEV),
        ([0, 4096, 1, 2, 9, 0], EBADF),
        ([0, 4096, RW, 2, 3, 0x123], EINVAL),
        ([0, 4096, 1, 0x40002, 3, 0], EINVAL),
        ([0, 4096, 1, 0x102, 3, 0], EINVAL),
        ([0, 4096, 1, 0x80003, 3, 0], EOPNOTSUPP),
        ([0, 4096, 1, 2, 3, 0x7fff_ffff_ffff_f000], EOVERFLOW),
    ] {
        assert_eq!(machine.call(MMAP, &args), expected, "{args:x?}");
    }
    let private = machine.call(MMAP, &[0, 4096, RW, 2, 3, 0]) as u64;
    let shared = machine.call(MMAP, &[0, 4096, RW, 1, 5, 0]) as u64;
    let again = machine.call(MMAP, &[0, 4096, 1, 1, 5, 0]) as u64;
    assert_eq!((machine.get(private, 2), machine.get(shared, 2)), (b"x\0".to_vec(), b"x\0".to_vec()));
    machine.put(private, b"p");
    machine.put(shared, b"s");
    assert_eq!((machine.get(private, 1), machine.get(again, 1)), (b"p".to_vec(), b"s".to_vec()));
    assert_eq!(machine.call(0, &[3, DATA, 1]), 1);
    assert_eq!(machine.get(DATA, 1), b"s", "read(2) sees what a shared mapping wrote");
    assert_eq!(std::fs::read(directory.path().join("f")).ok(), Some(b"x".to_vec()), "the host does not");
}
