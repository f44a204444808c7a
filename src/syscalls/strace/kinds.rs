//! Text of arguments by their kinds.

use std::ops::Range;

use crate::abi::signal_names::name;
use crate::guest::GuestMemory;
use crate::kernel::uaccess::strncpy_from_user;
use crate::syscalls::strace::flags;
use crate::syscalls::strace::kind::{Kind, Names, Shape};
use crate::syscalls::strace::text::{SHOWN, address, hexadecimal, list, peek, quoted, set};

/// Bytes of a path, PATH_MAX.
const PATH: usize = 4096;
/// Open flags with which there is a mode: O_CREAT and the own bit of O_TMPFILE.
const MODE_FOLLOWS: u64 = 0o100 | 0o20000000;
/// MREMAP_FIXED and MREMAP_DONTUNMAP, with which mremap(2) has a new address.
const NEW_ADDRESS: u64 = 6;
/// Bytes from the stack pointer at rt_sigreturn(2) to `uc_sigmask`.
const FRAME_MASK: u64 = 296;

/// Names of kinds of files in a mode.
#[rustfmt::skip]
const FILES: Names = &[
    (0o140000, "S_IFSOCK"), (0o120000, "S_IFLNK"), (0o100000, "S_IFREG"), (0o60000, "S_IFBLK"),
    (0o40000, "S_IFDIR"), (0o20000, "S_IFCHR"), (0o10000, "S_IFIFO"),
];

/// The arguments of a call.
pub(super) struct Arguments<'a> {
    pub(super) mem: &'a mut dyn GuestMemory,
    pub(super) args: [u64; 6],
    /// The stack pointer.
    pub(super) stack: u64,
    /// The value that the call returned, at its end; an inner `None` if it failed.
    pub(super) result: Option<Option<u64>>,
}

impl Arguments<'_> {
    /// Some of the arguments, with commas.
    pub(super) fn text(&mut self, kinds: &[Kind], range: Range<usize>) -> String {
        let mut out = String::new();
        for (at, kind) in kinds.iter().copied().enumerate().take(range.end).skip(range.start) {
            let Some(text) = self.argument(kind, at) else { break };
            if at > range.start {
                out.push_str(kind.separator());
            }
            out.push_str(&text);
        }
        out
    }

    fn at(&self, at: usize) -> u64 {
        self.args.get(at).copied().unwrap_or_default()
    }

    /// The text of an argument; `None` if the call does not use it or what follows.
    fn argument(&mut self, kind: Kind, at: usize) -> Option<String> {
        let value = self.at(at);
        let low = u64::from(value as u32);
        let before = at.checked_sub(1).map_or(0, |at| self.at(at));
        Some(match kind {
            Kind::Int => (value as i32).to_string(),
            Kind::Uint => value.to_string(),
            Kind::Long => (value as i64).to_string(),
            Kind::Hex | Kind::Offset if value == 0 => "0".into(),
            Kind::Hex | Kind::Offset => format!("{value:#x}"),
            Kind::Addr => address(value),
            Kind::CreateMode if before & MODE_FOLLOWS == 0 => return None,
            Kind::Mode | Kind::CreateMode => mode(low),
            Kind::FileMode => file_mode(low),
            Kind::Device if !matches!(before & 0o170000, 0o20000 | 0o60000) => return None,
            Kind::Device => device(value),
            Kind::Path => self.path(value),
            Kind::Dir if value as i32 == -100 => "AT_FDCWD".into(),
            Kind::Dir => (value as i32).to_string(),
            Kind::Open => open_flags(low),
            Kind::Prot if low == 0 => "PROT_NONE".into(),
            Kind::Prot => flags::bits(low, flags::PROT),
            Kind::Access if low == 0 => "F_OK".into(),
            Kind::Access => flags::bits(low, flags::ACCESS),
            Kind::Bits(names) => flags::bits(low, names),
            Kind::Value(names) => flags::value(low, names).into_owned(),
            Kind::Clock => clock(value as i32),
            Kind::Signal => name(value as i32).into_owned(),
            Kind::Policy => policy(low),
            Kind::Socket => socket(low),
            Kind::Futex => futex(low),
            Kind::OfFutex => return self.of_futex(at),
            Kind::OfFcntl => return self.of_fcntl(before, value),
            Kind::OfPrctl => return self.of_prctl(at),
            Kind::Moved if before & NEW_ADDRESS == 0 => return None,
            Kind::Moved => address(value),
            Kind::CloneCall => self.clone_call(),
            Kind::Frame => match self.word(self.stack.wrapping_add(FRAME_MASK)) {
                Some(mask) => format!("{{mask={}}}", set(mask)),
                None => address(self.stack),
            },
            Kind::StatxFlags => statx_flags(low),
            Kind::Entries => match self.entries(value) {
                Some(count) => format!("{} /* {count} entries */", address(value)),
                None => address(value),
            },
            Kind::CloneSize => format!("{}, {value}", self.clone_filled()),
            Kind::Data => self.data(value, self.at(at + 1)),
            Kind::Words => self.words(value),
            Kind::Environment => self.environment(value),
            Kind::Remaining if self.result == Some(None) => self.shape(Shape::Timespec, value, at),
            Kind::Remaining => address(value),
            Kind::In(shape) => self.shape(shape, value, at),
            // A call that failed has filled nothing.
            Kind::Out(_) if self.result == Some(None) => address(value),
            Kind::Out(shape) => self.shape(shape, value, at),
        })
    }

    /// The number of entries that getdents(2) has filled, if it has.
    fn entries(&mut self, addr: u64) -> Option<usize> {
        let end = self.result??;
        let (mut at, mut count) = (0, 0);
        while at < end {
            let length = peek::<2>(self.mem, addr.wrapping_add(at + 16)).map(u16::from_le_bytes)?;
            at += u64::from(length.max(1));
            count += 1;
        }
        Some(count)
    }

    /// The id that clone3(2) has stored for the parent, as ` => {parent_tid=[1001]}`.
    fn clone_filled(&mut self) -> String {
        const PARENT_SETTID: u64 = 0x10_0000;
        let first = self.first();
        let Some(tid) = self.result.flatten().filter(|tid| *tid != 0) else { return String::new() };
        match self.word(first) {
            Some(flags) if flags & PARENT_SETTID != 0 => format!(" => {{parent_tid=[{tid}]}}"),
            _ => String::new(),
        }
    }

    /// The value that the call returned.
    pub(super) fn returned(&self) -> u64 {
        self.result.flatten().unwrap_or_default()
    }

    /// The number of elements that the argument behind `at` names.
    pub(super) fn count(&self, at: usize) -> u64 {
        u64::from(self.at(at + 1) as u32)
    }

    /// The first argument.
    pub(super) fn first(&self) -> u64 {
        self.at(0)
    }

    pub(super) fn path(&mut self, addr: u64) -> String {
        match strncpy_from_user(self.mem, addr, PATH) {
            Ok(Some(text)) => quoted(&text),
            _ => address(addr),
        }
    }

    /// The first bytes of some at an address.
    pub(super) fn bytes(&mut self, addr: u64, len: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(SHOWN)];
        let there = addr != 0 && self.mem.read(addr, &mut bytes).is_ok();
        there.then_some(bytes)
    }

    pub(super) fn data(&mut self, addr: u64, len: u64) -> String {
        let more = if len > SHOWN as u64 { "..." } else { "" };
        self.bytes(addr, len).map_or_else(|| address(addr), |bytes| format!("{}{more}", quoted(&bytes)))
    }

    pub(super) fn hex_data(&mut self, addr: u64, len: u64) -> String {
        let more = if len > SHOWN as u64 { "..." } else { "" };
        self.bytes(addr, len).map_or_else(|| address(addr), |bytes| format!("{}{more}", hexadecimal(&bytes)))
    }

    pub(super) fn word(&mut self, addr: u64) -> Option<u64> {
        peek(self.mem, addr).map(u64::from_le_bytes)
    }

    /// `argv`: the strings.
    fn words(&mut self, addr: u64) -> String {
        let mut parts = Vec::new();
        for at in 0..=SHOWN as u64 {
            let Some(word) = self.word(addr.wrapping_add(8 * at)) else { return address(addr) };
            if word == 0 {
                break;
            }
            if at == SHOWN as u64 {
                parts.push("...".into());
                break;
            }
            let text = match strncpy_from_user(self.mem, word, PATH) {
                Ok(Some(text)) if text.len() > SHOWN => format!("{}...", quoted(&text[..SHOWN])),
                Ok(Some(text)) => quoted(&text),
                _ => address(word),
            };
            parts.push(text);
        }
        list(parts)
    }

    /// `envp`: the number of variables.
    fn environment(&mut self, addr: u64) -> String {
        const MOST: u64 = 1 << 16;
        for at in 0..MOST {
            match self.word(addr.wrapping_add(8 * at)) {
                Some(0) => return format!("{addr:#x} /* {at} var{} */", if at == 1 { "" } else { "s" }),
                Some(_) => {}
                None => break,
            }
        }
        address(addr)
    }

    /// The argument of a command of fcntl(2).
    fn of_fcntl(&mut self, command: u64, value: u64) -> Option<String> {
        Some(match command as u32 {
            1 | 3 | 9 | 11 | 1025 | 1032 | 1034 => return None,
            0 | 8 | 1030 | 1031 => (value as i32).to_string(),
            2 => flags::bits(value, flags::FD),
            4 => open_flags(value & 0xffff_ffff),
            5..=7 | 36..=38 => self.shape(Shape::Flock, value, 0),
            10 => name(value as i32).into_owned(),
            15 | 16 => match peek(self.mem, value).map(u64::from_le_bytes) {
                Some(owner) => {
                    let kind = flags::value(owner & 0xffff_ffff, flags::OWNERS);
                    format!("{{type={kind}, pid={}}}", (owner >> 32) as i32)
                }
                None => address(value),
            },
            1024 => flags::value(value, flags::LOCK).into_owned(),
            _ => format!("{value:#x}"),
        })
    }

    /// An argument of an option of prctl(2).
    fn of_prctl(&mut self, at: usize) -> Option<String> {
        let value = self.at(at);
        Some(match (self.at(0) as u32, at) {
            (15 | 16, 1) => self.path(value),
            (1, 1) => name(value as i32).into_owned(),
            (3 | 7 | 13 | 21 | 27 | 30 | 31 | 32, _) => return None,
            (2 | 37, 1) => self.shape(Shape::Ints, value, at),
            (1 | 2 | 4 | 8 | 14..=16 | 23..=29 | 36 | 37 | 40, 2..) => return None,
            (4 | 8 | 14 | 22..=24 | 28 | 29 | 36, 1) => value.to_string(),
            _ if value == 0 => "0".into(),
            _ => format!("{value:#x}"),
        })
    }

    /// An argument of an operation of futex(2).
    fn of_futex(&mut self, at: usize) -> Option<String> {
        const WAKE: u64 = 1;
        const WAKE_OP: u64 = 5;
        let (operation, value) = (self.at(1) & 0x7f, self.at(at));
        let (wakes, unlocks) = (operation == WAKE, matches!(operation, 7 | 8));
        let bitset = matches!(operation, 9 | 10);
        Some(match at {
            2 if unlocks => return None,
            2 => (value as i32).to_string(),
            3 if matches!(operation, 0 | 6 | 9 | 11 | 13) => self.shape(Shape::Timespec, value, at),
            3 if matches!(operation, 3 | 4 | WAKE_OP | 12) => (value as i32).to_string(),
            3 if bitset => address(value),
            _ if wakes || unlocks || matches!(operation, 0 | 6 | 13) => return None,
            4 if bitset => match self.at(5) as u32 {
                u32::MAX => "FUTEX_BITSET_MATCH_ANY".into(),
                bits => format!("{bits:#x}"),
            },
            5 if bitset => return None,
            4 => address(value),
            5 if matches!(operation, 3 | 11) => return None,
            _ => format!("{:#x}", value as u32),
        })
    }

    /// Arguments of clone(2) in strace's order, those that the flags use.
    fn clone_call(&self) -> String {
        let [flags, stack, parent, child, tls, _] = self.args;
        let mut text = format!("child_stack={}, flags={}", address(stack), clone_flags(flags));
        let mut add = |flag: u64, name: &str, value: u64| {
            if flags & flag != 0 {
                text.push_str(&format!(", {name}={}", address(value)));
            }
        };
        add(0x10_1000, "parent_tid", parent);
        add(0x8_0000, "tls", tls);
        add(0x120_0000, "child_tidptr", child);
        text
    }
}

/// A mode in octal, with a zero before it and three digits at least.
pub(super) fn mode(value: u64) -> String {
    let digits = format!("0{:o}", value as u32);
    format!("{digits:0>3}")
}

/// A mode with the kind of file.
pub(super) fn file_mode(value: u64) -> String {
    match value & 0o170000 {
        0 => mode(value),
        kind => {
            let bits = [(0o4000, "|S_ISUID"), (0o2000, "|S_ISGID"), (0o1000, "|S_ISVTX")];
            let set: String =
                bits.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| *name).collect();
            format!("{}{set}|{}", flags::value(kind, FILES), mode(value & 0o777))
        }
    }
}

/// The number of a device.
pub(super) fn device(value: u64) -> String {
    let (major, minor) =
        (value >> 8 & 0xfff | value >> 32 & 0xffff_f000, value & 0xff | value >> 12 & 0xffff_ff00);
    let number = |value: u64| if value == 0 { "0".to_owned() } else { format!("{value:#x}") };
    format!("makedev({}, {})", number(major), number(minor))
}

/// Flags of statx(2), the kind of agreement first.
fn statx_flags(low: u64) -> String {
    const SYNC: u64 = 0x6000;
    let sync = flags::value(low & SYNC, flags::STATX_SYNC);
    match low & !SYNC {
        0 => sync.into_owned(),
        others => format!("{sync}|{}", flags::bits(others, flags::AT)),
    }
}

/// Flags of open(2).
pub(super) fn open_flags(low: u64) -> String {
    let mode = flags::ACCESS_MODES[(low & 3) as usize];
    match flags::bits(low & !3, flags::OPEN) {
        others if others == "0" => mode.into(),
        others => format!("{mode}|{others}"),
    }
}

/// A clock; negative numbers are those of a process or thread.
fn clock(id: i32) -> String {
    match (id, id & 3) {
        (0.., _) => flags::value(id as u64, flags::CLOCKS).into_owned(),
        (_, 3) => format!("FD_TO_CLOCKID({})", !(id >> 3)),
        (_, kind) => {
            let kind = ["CPUCLOCK_PROF", "CPUCLOCK_VIRT", "CPUCLOCK_SCHED"][kind as usize];
            let thread = if id & 4 == 0 { "MAKE_PROCESS_CPUCLOCK" } else { "MAKE_THREAD_CPUCLOCK" };
            format!("{thread}({}, {kind})", !(id >> 3))
        }
    }
}

fn policy(value: u64) -> String {
    const RESET_ON_FORK: u64 = 0x4000_0000;
    let reset = if value & RESET_ON_FORK != 0 { "|SCHED_RESET_ON_FORK" } else { "" };
    format!("{}{reset}", flags::value(value & !RESET_ON_FORK, flags::SCHED))
}

fn socket(value: u64) -> String {
    let (kind, bits) = (value & 0xf, value & !0xf);
    let kind = flags::value(kind, flags::SOCK_TYPES);
    if bits == 0 { kind.into_owned() } else { format!("{kind}|{}", flags::bits(bits, flags::SOCK)) }
}

fn futex(op: u64) -> String {
    let private = if op & 128 != 0 { "_PRIVATE" } else { "" };
    let clock = if op & 256 != 0 { "|FUTEX_CLOCK_REALTIME" } else { "" };
    format!("{}{private}{clock}", flags::value(op & !(128 | 256), flags::FUTEX))
}

/// Flags of clone(2) with the signal in them.
fn clone_flags(value: u64) -> String {
    let (bits, signo) = (value & !0xff, (value & 0xff) as i32);
    match (bits, signo) {
        (0, _) => name(signo).into_owned(),
        (_, 0) => flags::bits(bits, flags::CLONE),
        _ => format!("{}|{}", flags::bits(bits, flags::CLONE), name(signo)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As strace(1) prints them.
    #[test]
    fn flags_and_values() {
        assert_eq!(clone_flags(0x120_0011), "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD");
        assert_eq!(futex(129), "FUTEX_WAKE_PRIVATE");
        assert_eq!(flags::bits(0o4010000, flags::OPEN), "O_SYNC");
        assert_eq!(name(34), "SIGRT_2");
        assert_eq!(open_flags(0o2000), "O_RDONLY|O_APPEND");
        assert_eq!([0, 0o22, 0o755].map(mode), ["000", "022", "0755"]);
        assert_eq!(file_mode(0o100644), "S_IFREG|0644");
        assert_eq!(file_mode(0o041777), "S_IFDIR|S_ISVTX|0777");
        assert_eq!(file_mode(0o106755), "S_IFREG|S_ISUID|S_ISGID|0755");
        assert_eq!(open_flags(0o200000 | 0o2000000 | 0o4000), "O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY");
        assert_eq!(open_flags(0o20200002), "O_RDWR|O_TMPFILE");
        assert_eq!(device(0x103), "makedev(0x1, 0x3)");
        assert_eq!(statx_flags(0x2100), "AT_STATX_FORCE_SYNC|AT_SYMLINK_NOFOLLOW");
        assert_eq!(statx_flags(0), "AT_STATX_SYNC_AS_STAT");
        assert_eq!(socket(0o2000001), "SOCK_STREAM|SOCK_CLOEXEC");
        assert_eq!(clock(!1000 << 3 | 2), "MAKE_PROCESS_CPUCLOCK(1000, CPUCLOCK_SCHED)");
        assert_eq!(policy(0x4000_0001), "SCHED_FIFO|SCHED_RESET_ON_FORK");
    }
}
