//! Calls that do much, broken off after every piece: they answer, store and leave what they do when
//! nobody asks for anything.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::guest::{Gpr, GuestCpu as _, GuestMemory as _};
use crate::syscalls::context::Action;
use crate::syscalls::dispatch;
use crate::syscalls::testing::{DATA, Machine};

const READ: u64 = 0;
const WRITE: u64 = 1;
const LSEEK: u64 = 8;
const MMAP: u64 = 9;
const MUNMAP: u64 = 11;
const PREAD64: u64 = 17;
const READV: u64 = 19;
const MINCORE: u64 = 27;
const MADVISE: u64 = 28;
const SENDFILE: u64 = 40;
const SYMLINK: u64 = 88;
const FCNTL: u64 = 72;
const MLOCK: u64 = 149;
const GETDENTS64: u64 = 217;
const OPENAT: u64 = 257;
const PROCESS_VM_READV: u64 = 310;
const PROCESS_VM_WRITEV: u64 = 311;
const GETRANDOM: u64 = 318;
const MEMFD_CREATE: u64 = 319;
const COPY_FILE_RANGE: u64 = 326;

const F_SETFL: u64 = 4;
const O_APPEND: u64 = 0o2000;
const MADV_POPULATE_WRITE: u64 = 23;
const PROT_RW: u64 = 3;
const POPULATED: u64 = 0x8022;
const NO_FD: u64 = u64::MAX;

/// Memory that the calls work on.
const BIG: u64 = 0x4000_0000;
/// Pieces are smaller than that, and it is no multiple of any.
const SIZE: u64 = (1 << 20) + 4097;

/// A machine, and how often its calls were broken off.
struct Tried {
    machine: Machine,
    broken_off: usize,
}

impl Tried {
    /// `asked`: the user never stops asking for something.
    fn new(asked: bool) -> Tried {
        let mut config = Machine::config();
        config.interrupt = Arc::new(AtomicUsize::new(usize::from(asked)));
        let mut machine = Machine::with(&config);
        machine.mem.anonymous(BIG, 4 * SIZE.next_multiple_of(4096));
        Tried { machine, broken_off: 0 }
    }

    /// Answer of a call, made again as often as it is broken off.
    fn call(&mut self, number: u64, args: &[u64]) -> i64 {
        let mut action = self.machine.begin(number, args);
        while let Action::GivenUp = action {
            self.broken_off += 1;
            let Machine { kernel, cpu, mem } = &mut self.machine;
            action = dispatch::syscall(kernel, cpu, mem);
        }
        assert!(matches!(action, Action::Continue), "call {number} ended in {action:?}");
        self.machine.cpu.gpr(Gpr::Rax) as i64
    }

    fn file(&mut self) -> u64 {
        self.machine.put(DATA, b"file\0");
        self.call(MEMFD_CREATE, &[DATA, 0]) as u64
    }

    fn fill(&mut self, addr: u64, len: u64) {
        let bytes: Vec<u8> = (0..len).map(|at| (at * 7 + at / 251) as u8).collect();
        self.machine.put(addr, &bytes);
    }

    /// A file with bytes in it, and its offset behind them.
    fn filled(&mut self) -> u64 {
        self.fill(BIG, SIZE);
        let file = self.file();
        assert_eq!(self.call(WRITE, &[file, BIG, SIZE]), SIZE as i64);
        file
    }

    fn offset(&mut self, file: u64) -> i64 {
        self.call(LSEEK, &[file, 0, 1])
    }

    fn content(&mut self, file: u64) -> Vec<u8> {
        let size = self.call(LSEEK, &[file, 0, 2]);
        assert_eq!(self.call(PREAD64, &[file, BIG, size as u64, 0]), size);
        self.machine.get(BIG, size as usize)
    }
}

/// Result of a scenario: numbers that calls answered, and bytes.
type Outcome = (Vec<i64>, Vec<u8>);

fn same(scenario: fn(&mut Tried) -> Outcome) {
    let (mut plain, mut asked) = (Tried::new(false), Tried::new(true));
    let (expected, found) = (scenario(&mut plain), scenario(&mut asked));
    assert_eq!((plain.broken_off, expected.0), (0, found.0));
    assert!(expected.1 == found.1, "other bytes");
    assert!(asked.broken_off > 2, "broken off {} times", asked.broken_off);
    let counted = |tried: &Tried| {
        let io = &tried.machine.kernel.process().io;
        (io.reads, io.writes, io.bytes_read, io.bytes_written)
    };
    assert_eq!(counted(&plain), counted(&asked));
}

#[test]
fn random_bytes() {
    same(|tried| {
        let sizes = vec![tried.call(GETRANDOM, &[BIG, SIZE, 0]), tried.call(GETRANDOM, &[BIG + SIZE, 9, 0])];
        (sizes, tried.machine.get(BIG, SIZE as usize + 9))
    });
}

#[test]
fn random_bytes_up_to_a_hole() {
    same(|tried| {
        let end = BIG + 4 * SIZE.next_multiple_of(4096);
        let sizes = vec![
            tried.call(GETRANDOM, &[end - SIZE, 2 * SIZE, 0]),
            tried.call(GETRANDOM, &[end, SIZE, 0]),
            tried.call(GETRANDOM, &[BIG, 9, 0]),
        ];
        (sizes, tried.machine.get(BIG, 9))
    });
}

#[test]
fn reads_and_writes() {
    same(|tried| {
        let file = tried.filled();
        let mut answers = vec![tried.offset(file), tried.call(LSEEK, &[file, 5, 0])];
        answers.push(tried.call(READ, &[file, BIG + SIZE, 2 * SIZE]));
        answers.push(tried.offset(file));
        (answers, tried.machine.get(BIG, 2 * SIZE as usize))
    });
}

#[test]
fn appended() {
    same(|tried| {
        let file = tried.filled();
        let mut answers =
            vec![tried.call(FCNTL, &[file, F_SETFL, O_APPEND]), tried.call(LSEEK, &[file, 5, 0])];
        answers.push(tried.call(WRITE, &[file, BIG + 1, SIZE]));
        answers.push(tried.offset(file));
        (answers, tried.content(file))
    });
}

/// The words that say where to read are read over.
#[test]
fn a_vector_that_is_read_over() {
    same(|tried| {
        let file = tried.filled();
        tried.call(LSEEK, &[file, 0, 0]);
        let words = BIG + 2 * SIZE;
        tried.machine.put_words(words, &[words, SIZE / 2, BIG, SIZE / 2]);
        let read = tried.call(READV, &[file, words, 2]);
        let offset = tried.offset(file);
        (vec![read, offset], tried.machine.get(BIG, 3 * SIZE as usize))
    });
}

#[test]
fn a_device() {
    same(|tried| {
        tried.machine.put(DATA, b"/dev/urandom\0");
        let file = tried.call(OPENAT, &[NO_FD, DATA, 0, 0]) as u64;
        let read = tried.call(READ, &[file, BIG, SIZE]);
        let more = tried.call(GETRANDOM, &[BIG + SIZE, 8, 0]);
        (vec![read, more], tried.machine.get(BIG, SIZE as usize + 8))
    });
}

#[test]
fn copies_between_files() {
    same(|tried| {
        let (from, to) = (tried.filled(), tried.file());
        let mut answers = vec![tried.call(LSEEK, &[from, 3, 0])];
        answers.push(tried.call(SENDFILE, &[to, from, 0, 2 * SIZE]));
        tried.machine.put_words(DATA, &[11]);
        answers.push(tried.call(SENDFILE, &[to, from, DATA, SIZE - 100]));
        answers.push(tried.machine.word(DATA) as i64);
        answers.extend([tried.offset(from), tried.offset(to)]);
        (answers, tried.content(to))
    });
}

/// The copy makes the file longer, and would find more to copy if it looked again.
#[test]
fn a_copy_within_a_file() {
    same(|tried| {
        let file = tried.filled();
        tried.machine.put_words(DATA, &[0, SIZE]);
        let copied = tried.call(COPY_FILE_RANGE, &[file, DATA, file, DATA + 8, 2 * SIZE, 0]);
        let offsets = [DATA, DATA + 8].map(|addr| tried.machine.word(addr) as i64);
        (vec![copied, offsets[0], offsets[1]], tried.content(file))
    });
}

#[test]
fn copies_between_processes() {
    same(|tried| {
        tried.fill(BIG, SIZE);
        let pid = crate::kernel::process::PID as u64;
        let words = BIG + 2 * SIZE;
        tried.machine.put_words(DATA, &[BIG, SIZE]);
        tried.machine.put_words(words, &[BIG + SIZE, 1000, words - 100, SIZE - 1000]);
        let read = tried.call(PROCESS_VM_READV, &[pid, words, 2, DATA, 1, 0]);
        tried.machine.put_words(words, &[BIG + 3 * SIZE, SIZE]);
        let written = tried.call(PROCESS_VM_WRITEV, &[pid, DATA, 1, words, 1, 0]);
        (vec![read, written], tried.machine.get(BIG, 4 * SIZE as usize))
    });
}

#[test]
fn pages_at_once() {
    same(|tried| {
        let len = (16 << 20) + 4096;
        let at = tried.call(MMAP, &[0, len, PROT_RW, POPULATED, NO_FD, 0]);
        let advised = tried.call(MADVISE, &[at as u64, len, MADV_POPULATE_WRITE]);
        let past = tried.call(MADVISE, &[at as u64, len + 4096, MADV_POPULATE_WRITE]);
        let locked = tried.call(MLOCK, &[at as u64, 6 << 20]);
        let count = tried.machine.mem.mappings().len() as i64;
        (vec![at, advised, past, locked, count], Vec::new())
    });
}

#[test]
fn pages_that_are_looked_for_and_given_up() {
    same(|tried| {
        let len = 3 * (4096 << 12) + 4096;
        let at = tried.call(MMAP, &[0, len, PROT_RW, POPULATED, NO_FD, 0]) as u64;
        let mut answers = vec![tried.call(MINCORE, &[at, len, BIG])];
        let resident = tried.machine.get(BIG, (len >> 12) as usize + 1);
        answers.push(tried.call(MUNMAP, &[at, len]));
        answers.push(tried.call(MINCORE, &[at, 4096, BIG]));
        (answers, resident)
    });
}

#[test]
fn names_of_a_directory() {
    same(|tried| {
        for number in 0..5000 {
            tried.machine.put(DATA, format!("/dev/shm/{number}\0").as_bytes());
            assert_eq!(tried.call(SYMLINK, &[DATA, DATA]), 0);
        }
        tried.machine.put(DATA, b"/dev/shm\0");
        let directory = tried.call(OPENAT, &[NO_FD, DATA, 0, 0]) as u64;
        let sizes: Vec<i64> = (0..4).map(|_| tried.call(GETDENTS64, &[directory, BIG, 100_000])).collect();
        tried.call(LSEEK, &[directory, 0, 0]);
        assert_eq!(tried.call(GETDENTS64, &[directory, BIG, 100_000]), sizes[0]);
        let bytes = tried.machine.get(BIG, 100_000);
        (sizes, bytes)
    });
}

/// A long text is made as it is read, from anywhere, and anew from its beginning.
#[test]
fn a_text_about_many_mappings() {
    same(|tried| {
        let mut address = 0x10_0000_0000;
        for _ in 0..2000 {
            tried.machine.mem.anonymous(address, 4096);
            address += 8192;
        }
        tried.machine.put(DATA, b"/proc/self/smaps\0");
        let open = |tried: &mut Tried| tried.call(OPENAT, &[NO_FD, DATA, 0, 0]) as u64;
        let (file, whole) = (open(tried), open(tried));
        let mut answers = vec![tried.call(PREAD64, &[file, BIG, 100, 1_000_000])];
        answers.push(tried.call(READ, &[file, BIG, 2 * SIZE]));
        answers.push(tried.call(READ, &[file, BIG + 2 * SIZE, SIZE]));
        answers.push(tried.call(READ, &[whole, BIG, 4 * SIZE]));
        assert_eq!(answers[1] + answers[2], answers[3], "all of it");
        (answers, tried.machine.get(BIG, 3 * SIZE as usize))
    });
}
