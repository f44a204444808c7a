//! Text of a `siginfo_t`.

use std::fmt::Write as _;

use crate::abi::signal_names;
use crate::kernel::signal::info::SigInfo;
use crate::syscalls::strace::flags;
use crate::syscalls::strace::text::address;

/// The fields that the code gives a meaning.
pub(super) fn fields(info: &SigInfo) -> String {
    const SIGCHLD: i32 = 17;
    const SIGIO: i32 = 29;
    const SIGSYS: i32 = 31;
    let (signo, code) = (info.signo(), info.code());
    let mut text =
        format!("{{si_signo={}, si_code={}", signal_names::name(signo), flags::signal_code(signo, code));
    let (pid, uid) = (info.pid() as i32, info.uid());
    let value = || format!("si_int={}, si_ptr={}", info.value() as i32, address(info.value()));
    let _ = match (signo, code) {
        (SIGCHLD, 1..=6) => {
            let status = info.value() as u32 as i32;
            let status = if code == 1 { status.to_string() } else { signal_names::name(status).into_owned() };
            let times = format!("si_utime={}, si_stime={}", word(info, 32), word(info, 40));
            write!(text, ", si_pid={pid}, si_uid={uid}, si_status={status}, {times}")
        }
        (4 | 5 | 7 | 8 | 11, 1..=15) => write!(text, ", si_addr={}", address(info.addr())),
        (SIGIO, 1..=6) => write!(text, ", si_band={}, si_fd={}", info.addr(), info.value() as i32),
        (SIGSYS, 1) => {
            let number = (info.value() & 0xffff_ffff) as i32;
            write!(text, ", si_call_addr={}, si_syscall={number}", address(info.addr()))
        }
        (_, -2) => write!(text, ", si_timerid={pid}, si_overrun={}, {}", uid as i32, value()),
        (_, 0 | -6) => write!(text, ", si_pid={pid}, si_uid={uid}"),
        (_, -1) => write!(text, ", si_pid={pid}, si_uid={uid}, {}", value()),
        _ => Ok(()),
    };
    text.push('}');
    text
}

/// A word of a `siginfo_t`.
fn word(info: &SigInfo, at: usize) -> u64 {
    let word = info.bytes().get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    u64::from_le_bytes(word.unwrap_or_default())
}
