//! Text of the structures behind pointers.

use std::fmt::Write as _;

use crate::abi::resource::RLIM_INFINITY;
use crate::abi::signal_names::name;
use crate::kernel::signal::info::{SIGINFO_SIZE, SigInfo};
use crate::syscalls::strace::flags;
use crate::syscalls::strace::kind::Shape;
use crate::syscalls::strace::kinds::{Arguments, device, file_mode, open_flags};
use crate::syscalls::strace::siginfo::fields;
use crate::syscalls::strace::text::{SHOWN, address, list, peek, quoted, set};

/// A word of some that were read.
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let word = |at: usize| bytes.get(at * 8..at * 8 + 8).and_then(|bytes| bytes.try_into().ok());
    std::array::from_fn(|at| u64::from_le_bytes(word(at).unwrap_or_default()))
}

fn timespec(sec: u64, nsec: u64) -> String {
    format!("{{tv_sec={}, tv_nsec={}}}", sec as i64, nsec as i64)
}

fn timeval(sec: u64, usec: u64) -> String {
    format!("{{tv_sec={}, tv_usec={}}}", sec as i64, usec as i64)
}

fn limit(value: u64) -> String {
    match value {
        RLIM_INFINITY => "RLIM64_INFINITY".into(),
        value if value > 1024 && value.is_multiple_of(1024) => format!("{}*1024", value / 1024),
        value => value.to_string(),
    }
}

impl Arguments<'_> {
    /// A structure at an address, which is the argument at a place of the call.
    pub(super) fn shape(&mut self, shape: Shape, addr: u64, at: usize) -> String {
        let text = match shape {
            Shape::Filled => return self.data(addr, self.returned()),
            Shape::Bytes => return self.hex_data(addr, self.returned()),
            Shape::Text => return self.path(addr),
            _ if addr == 0 => None,
            Shape::EpollEvents => self.elements(addr, self.returned(), 12, epoll_event),
            Shape::Pollfds => self.elements(addr, self.count(at), 8, pollfd),
            Shape::Iovecs => self.iovecs(addr, at),
            Shape::Fds => self.descriptors(addr),
            Shape::Siginfo => self.siginfo(addr),
            Shape::Status if self.result == Some(Some(0)) => None,
            _ => self.plain(shape, addr),
        };
        text.unwrap_or_else(|| address(addr))
    }

    /// A structure of one size.
    fn plain(&mut self, shape: Shape, addr: u64) -> Option<String> {
        let mem = &mut *self.mem;
        if let Shape::Stat = shape {
            let bytes: [u8; 144] = peek(mem, addr)?;
            let [.., mode, _, number, size] = words::<7>(&bytes);
            let is_device = matches!(mode & 0o170000, 0o20000 | 0o60000);
            let what =
                if is_device { format!("st_rdev={}", device(number)) } else { format!("st_size={size}") };
            return Some(format!("{{st_mode={}, {what}, ...}}", file_mode(mode & 0xffff_ffff)));
        }
        match shape {
            Shape::Statx => return Some(statx(words(&peek::<48>(mem, addr)?))),
            Shape::Statfs => return Some(statfs(words(&peek::<88>(mem, addr)?))),
            Shape::Sysinfo => return Some(sysinfo(words(&peek::<112>(mem, addr)?))),
            _ => {}
        }
        if let Shape::CloneArgs = shape {
            return clone_args(words(&peek::<64>(mem, addr)?)).into();
        }
        if let Shape::Utsname = shape {
            let bytes: [u8; 130] = peek(mem, addr)?;
            let field = |at: usize| {
                let field = bytes.get(at..at + 65).unwrap_or_default();
                quoted(field.split(|byte| *byte == 0).next().unwrap_or_default())
            };
            return Some(format!("{{sysname={}, nodename={}, ...}}", field(0), field(65)));
        }
        let first: [u64; 1] = words(&match shape {
            Shape::Ints | Shape::Status => u64::from(u32::from_le_bytes(peek(mem, addr)?)).to_le_bytes(),
            _ => peek::<8>(mem, addr)?,
        });
        let [word] = first;
        let mut more = |count: u64| {
            let mut all = [word, 0, 0, 0];
            for at in 1..count {
                let next = peek(mem, addr.wrapping_add(8 * at)).map(u64::from_le_bytes)?;
                *all.get_mut(at as usize)? = next;
            }
            Some(all)
        };
        Some(match shape {
            Shape::Ints => format!("[{}]", word as i32),
            Shape::Longs => format!("[{}]", word as i64),
            Shape::Pointer => format!("[{}]", address(word)),
            Shape::Pair => format!("[{}, {}]", word as i32, (word >> 32) as i32),
            Shape::Signals => set(word),
            Shape::Status => status(word as i32),
            Shape::Cpus => {
                let cpus: Vec<String> =
                    (0..64).filter(|cpu| word >> cpu & 1 != 0).map(|cpu: u32| cpu.to_string()).collect();
                format!("[{}]", cpus.join(" "))
            }
            Shape::Timespec => more(2).map(|[sec, nsec, ..]| timespec(sec, nsec))?,
            Shape::Timeval => more(2).map(|[sec, usec, ..]| timeval(sec, usec))?,
            Shape::Times => {
                let [sec, nsec, other_sec, other_nsec] = more(4)?;
                list(vec![timespec(sec, nsec), timespec(other_sec, other_nsec)])
            }
            Shape::Itimerval => {
                let [sec, usec, to_sec, to_usec] = more(4)?;
                format!("{{it_interval={}, it_value={}}}", timeval(sec, usec), timeval(to_sec, to_usec))
            }
            Shape::Itimerspec => {
                let [sec, nsec, to_sec, to_nsec] = more(4)?;
                format!("{{it_interval={}, it_value={}}}", timespec(sec, nsec), timespec(to_sec, to_nsec))
            }
            Shape::Rlimit => {
                let [soft, hard, ..] = more(2)?;
                format!("{{rlim_cur={}, rlim_max={}}}", limit(soft), limit(hard))
            }
            Shape::Rusage => {
                let [sec, usec, system_sec, system_usec] = more(4)?;
                let system = timeval(system_sec, system_usec);
                format!("{{ru_utime={}, ru_stime={system}, ...}}", timeval(sec, usec))
            }
            Shape::Tms => {
                let [user, system, child, child_system] = more(4)?;
                format!(
                    "{{tms_utime={user}, tms_stime={system}, tms_cutime={child}, tms_cstime={child_system}}}"
                )
            }
            Shape::Sigevent => more(3).map(sigevent)?,
            Shape::Altstack => more(3).map(altstack)?,
            Shape::Action => more(4).map(action)?,
            Shape::Flock => more(4).map(|words| flock(words, self.result.is_some()))?,
            Shape::OpenHow => {
                let [bits, mode, resolve, _] = more(3)?;
                let mode = if mode == 0 { String::new() } else { format!(", mode={mode:#o}") };
                format!("{{flags={}{mode}, resolve={resolve:#x}}}", open_flags(bits))
            }
            Shape::EpollEvent => epoll_event(&peek::<12>(self.mem, addr)?),
            _ => return None,
        })
    }

    /// Elements of one size in brackets, as many as strace shows.
    fn elements(&mut self, addr: u64, count: u64, size: usize, text: fn(&[u8]) -> String) -> Option<String> {
        let mut parts = Vec::new();
        for at in 0..count.min(SHOWN as u64) {
            let mut bytes = vec![0; size];
            self.mem.read(addr.wrapping_add(at * size as u64), &mut bytes).ok()?;
            parts.push(text(&bytes));
        }
        if count > SHOWN as u64 {
            parts.push("...".into());
        }
        Some(list(parts))
    }

    /// `struct iovec` with the bytes behind each: all of them, or those that the call has filled.
    fn iovecs(&mut self, addr: u64, at: usize) -> Option<String> {
        let (count, mut left) = (self.count(at), self.result.map(Option::unwrap_or_default));
        let mut parts = Vec::new();
        for at in 0..count.min(SHOWN as u64) {
            let [base, len] = words(&peek::<16>(self.mem, addr.wrapping_add(16 * at))?);
            let filled = left.map_or(len, |left| left.min(len));
            left = left.map(|left| left - filled);
            parts.push(format!("{{iov_base={}, iov_len={len}}}", self.data(base, filled)));
        }
        if count > SHOWN as u64 {
            parts.push("...".into());
        }
        Some(list(parts))
    }

    /// The descriptors of an `fd_set`.
    fn descriptors(&mut self, addr: u64) -> Option<String> {
        const MOST: u64 = 1024;
        let mut parts = Vec::new();
        for number in 0..(self.first() as u32 as u64).min(MOST) {
            let word = self.word(addr.wrapping_add(number / 64 * 8))?;
            if word >> (number % 64) & 1 != 0 {
                parts.push(number.to_string());
            }
        }
        Some(format!("[{}]", parts.join(" ")))
    }

    fn siginfo(&mut self, addr: u64) -> Option<String> {
        let bytes: [u8; SIGINFO_SIZE] = peek(self.mem, addr)?;
        let [signo] = words(&bytes);
        Some(if signo as u32 == 0 { "{}".into() } else { fields(&SigInfo::queued(signo as i32, bytes)) })
    }
}

fn epoll_event(bytes: &[u8]) -> String {
    let [low] = words(bytes);
    let [data] = words(bytes.get(4..).unwrap_or_default());
    let events = flags::bits(low & 0xffff_ffff, flags::EPOLL_EVENTS);
    format!("{{events={events}, data={{u32={}, u64={data}}}}}", data as u32)
}

fn pollfd(bytes: &[u8]) -> String {
    let [word] = words(bytes);
    format!("{{fd={}, events={}}}", word as i32, flags::bits(word >> 32 & 0xffff, flags::POLL))
}

fn sigevent([value, kinds, task, _]: [u64; 4]) -> String {
    let (signo, notify) = (kinds as i32, kinds >> 32);
    let value = match value {
        0 => String::new(),
        value => format!("sigev_value={{sival_int={}, sival_ptr={value:#x}}}, ", value as i32),
    };
    let kind = match notify {
        0 => "SIGEV_SIGNAL".into(),
        1 => "SIGEV_NONE".into(),
        2 => "SIGEV_THREAD".into(),
        4 => format!("SIGEV_THREAD_ID, sigev_notify_thread_id={}", task as i32),
        other => format!("{other:#x}"),
    };
    format!("{{{value}sigev_signo={}, sigev_notify={kind}}}", name(signo))
}

fn altstack([sp, bits, size, _]: [u64; 4]) -> String {
    const AUTODISARM: u64 = 0x8000_0000;
    let kind = match bits & 3 {
        0 => "0",
        1 => "SS_ONSTACK",
        2 => "SS_DISABLE",
        _ => "SS_ONSTACK|SS_DISABLE",
    };
    let disarm = if bits & AUTODISARM != 0 { "|SS_AUTODISARM" } else { "" };
    format!("{{ss_sp={}, ss_flags={kind}{disarm}, ss_size={size}}}", address(sp))
}

/// `struct sigaction` of the kernel: handler, flags, restorer, mask.
fn action([handler, bits, restorer, mask]: [u64; 4]) -> String {
    let handler = match handler {
        0 => "SIG_DFL".into(),
        1 => "SIG_IGN".into(),
        _ => format!("{handler:#x}"),
    };
    let mut text = format!("{{sa_handler={handler}, sa_mask={}, sa_flags=", set(mask));
    text.push_str(&flags::bits(bits, flags::SIGACTION));
    if restorer != 0 {
        let _ = write!(text, ", sa_restorer={restorer:#x}");
    }
    text + "}"
}

/// `struct flock`; who holds it is only known at the end.
fn flock([kinds, start, len, pid]: [u64; 4], ended: bool) -> String {
    let kind = flags::value(kinds & 0xffff, flags::LOCK);
    let whence = flags::value(kinds >> 16 & 0xffff, flags::WHENCE);
    let pid = if ended { format!(", l_pid={}", pid as i32) } else { String::new() };
    format!("{{l_type={kind}, l_whence={whence}, l_start={}, l_len={}{pid}}}", start as i64, len as i64)
}

/// `struct statx`, as far as strace shows it.
fn statx([mask, attributes, _, kind, _, size]: [u64; 6]) -> String {
    let mask = flags::bits(mask & 0xffff_ffff, flags::STATX);
    let attributes = flags::bits(attributes, flags::STATX_ATTRIBUTES);
    let mode = file_mode(kind >> 32 & 0xffff);
    format!("{{stx_mask={mask}, stx_attributes={attributes}, stx_mode={mode}, stx_size={size}, ...}}")
}

/// `struct statfs`.
fn statfs(words: [u64; 11]) -> String {
    let [kind, bsize, blocks, bfree, bavail, files, ffree, fsid, namelen, frsize, mounted] = words;
    let kind = flags::value(kind, flags::FILE_SYSTEMS);
    let half = |value: u64| if value == 0 { "0".to_owned() } else { format!("{value:#x}") };
    let fsid = format!("{{val=[{}, {}]}}", half(fsid & 0xffff_ffff), half(fsid >> 32));
    let mounted = flags::bits(mounted, flags::MOUNTED);
    format!(
        "{{f_type={kind}, f_bsize={bsize}, f_blocks={blocks}, f_bfree={bfree}, f_bavail={bavail}, \
         f_files={files}, f_ffree={ffree}, f_fsid={fsid}, f_namelen={namelen}, f_frsize={frsize}, \
         f_flags={mounted}}}"
    )
}

/// `struct sysinfo`.
fn sysinfo(words: [u64; 14]) -> String {
    let [
        uptime,
        one,
        five,
        fifteen,
        total,
        free,
        shared,
        buffer,
        swap,
        free_swap,
        procs,
        high,
        free_high,
        unit,
    ] = words;
    format!(
        "{{uptime={}, loads=[{one}, {five}, {fifteen}], totalram={total}, freeram={free}, sharedram={shared}, \
         bufferram={buffer}, totalswap={swap}, freeswap={free_swap}, procs={}, totalhigh={high}, \
         freehigh={free_high}, mem_unit={}}}",
        uptime as i64, procs as u16, unit as u32
    )
}

/// `struct clone_args`: the flags, and what they use.
fn clone_args([bits, pidfd, child, parent, signo, stack, size, tls]: [u64; 8]) -> String {
    let mut text = format!("{{flags={}", flags::bits(bits, flags::CLONE));
    let mut add = |wanted: bool, name: &str, value: String| {
        if wanted {
            let _ = write!(text, ", {name}={value}");
        }
    };
    add(bits & 0x1000 != 0, "pidfd", address(pidfd));
    add(bits & 0x120_0000 != 0, "child_tid", address(child));
    add(bits & 0x10_0000 != 0, "parent_tid", address(parent));
    add(true, "exit_signal", name(signo as i32).into_owned());
    add(true, "stack", address(stack));
    add(true, "stack_size", if size == 0 { "0".into() } else { format!("{size:#x}") });
    add(bits & 0x8_0000 != 0, "tls", address(tls));
    text + "}"
}

/// Status of wait4(2).
fn status(status: i32) -> String {
    let (signo, code) = (status & 0x7f, status >> 8 & 0xff);
    match (signo, status) {
        (_, 0xffff) => "[{WIFCONTINUED(s)}]".into(),
        (0, _) => format!("[{{WIFEXITED(s) && WEXITSTATUS(s) == {code}}}]"),
        (0x7f, _) => format!("[{{WIFSTOPPED(s) && WSTOPSIG(s) == {}}}]", name(code)),
        _ => {
            let core = if status & 0x80 != 0 { " && WCOREDUMP(s)" } else { "" };
            format!("[{{WIFSIGNALED(s) && WTERMSIG(s) == {}{core}}}]", name(signo))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As strace(1) prints them.
    #[test]
    fn structures() {
        assert_eq!(limit(8 << 20), "8192*1024");
        assert_eq!(limit(20_000), "20000");
        assert_eq!(status(0x100), "[{WIFEXITED(s) && WEXITSTATUS(s) == 1}]");
        assert_eq!(altstack([0, 2, 0, 0]), "{ss_sp=NULL, ss_flags=SS_DISABLE, ss_size=0}");
        assert_eq!(flock([1, 1, 2, 0], false), "{l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1, l_len=2}");
        assert_eq!(sigevent([0, 34, 0, 0]), "{sigev_signo=SIGRT_2, sigev_notify=SIGEV_SIGNAL}");
        assert_eq!(
            clone_args([0x4100, 0, 0, 0, 17, 0x1000, 0x9000, 0]),
            "{flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x1000, stack_size=0x9000}"
        );
    }
}
