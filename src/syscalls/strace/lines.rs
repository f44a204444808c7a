//! Lines of the transcript: a call's beginning and end, and signals.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::abi::errno::Errno;
use crate::abi::errno_names::ERRORS;
use crate::abi::signal_names;
use crate::guest::{Gpr, GuestCpu};
use crate::kernel::Kernel;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::Restart;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::strace::flags;
use crate::syscalls::strace::kinds::{Arguments, is_output};
use crate::syscalls::strace::signatures::signature;
use crate::syscalls::table;

/// Numbers of exit(2) and exit_group(2), which never return.
const EXITS: [u64; 2] = [60, 231];

fn name(number: u64) -> Cow<'static, str> {
    // The form of strace for numbers that it does not know.
    table::find(number).map_or_else(|| format!("syscall_{number:#x}").into(), |row| row.name.into())
}

/// Says that the running task makes a call.
pub(in crate::syscalls) fn entered(ctx: &mut Ctx, number: u64, args: [u64; 6]) {
    let Ctx { kernel, cpu, mem } = ctx;
    let (tid, now) = (kernel.task().tid, kernel.now(*cpu));
    let name = name(number);
    let kinds = signature(&name).kinds;
    let (before, _) = split(kinds);
    let mut text = format!("{name}({}", Arguments { mem: *mem, args, result: None }.text(kinds, 0..before));
    if before < kinds.len() && before > 0 {
        text.push_str(", ");
    }
    let Some(transcript) = &mut kernel.transcript else { return };
    transcript.begin(tid, now, text);
    if EXITS.contains(&number) {
        transcript.end(tid, now, &name, "", "?");
    }
}

/// Number of arguments that are known when the call is made, and of all.
fn split(kinds: &str) -> (usize, usize) {
    (kinds.bytes().position(is_output).unwrap_or(kinds.len()), kinds.len())
}

/// Says that the call is given up and counts as not made.
pub(in crate::syscalls) fn forgotten(kernel: &mut Kernel) {
    if let Some(transcript) = &mut kernel.transcript {
        transcript.forget();
    }
}

/// Says how the call of the running task ended, if it has.
pub(in crate::syscalls) fn left(ctx: &mut Ctx, number: u64, args: [u64; 6], result: &SysResult) {
    let value = match result {
        Ok(value) => *value,
        Err(Break::Errno(errno)) => errno.to_rax(),
        Err(Break::Spawn(spawn)) => ctx.kernel.tid_of(spawn.task) as u64,
        Err(Break::Resume) => ctx.cpu.gpr(Gpr::Rax),
        Err(Break::Yield) => 0,
        Err(Break::Gone | Break::Sleep | Break::Exec(_) | Break::Limit(_) | Break::Refuse(_)) => return,
    };
    let Ctx { kernel, cpu, mem } = ctx;
    let (tid, now) = (kernel.task().tid, kernel.now(*cpu));
    let name = name(number);
    let signature = signature(&name);
    let (before, all) = split(signature.kinds);
    let ok = if matches!(result, Err(Break::Errno(_))) { None } else { Some(value) };
    let rest = Arguments { mem: *mem, args, result: Some(ok) }.text(signature.kinds, before..all);
    let result = match (result, kernel.task().signals.interrupted) {
        (Err(Break::Errno(_)), Some((_, restart))) => match restart {
            Restart::WithFlag => "? ERESTARTSYS (To be restarted if SA_RESTART is set)".into(),
            Restart::Always => "? ERESTARTNOINTR (To be restarted)".into(),
            Restart::Never => "? ERESTARTNOHAND (To be restarted if no handler)".into(),
        },
        (Err(Break::Errno(errno)), None) => failure(*errno),
        _ if signature.address => format!("{value:#x}"),
        _ => format!("{}", value as i64),
    };
    if let Some(transcript) = &mut kernel.transcript {
        transcript.end(tid, now, &name, &rest, &result);
    }
}

fn failure(errno: Errno) -> String {
    match ERRORS.iter().find(|(number, ..)| *number == errno.0) {
        Some((_, name, text)) => format!("-1 {name} ({text})"),
        None => format!("-1 (errno {})", errno.0),
    }
}

/// Says how execve(2) ended, which the session carries out.
pub(crate) fn executed(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, result: Result<(), Errno>) {
    let (tid, now) = (kernel.task().tid, kernel.now(cpu));
    if let Some(transcript) = &mut kernel.transcript {
        let result = result.map_or_else(failure, |()| "0".into());
        transcript.end(tid, now, "execve", "", &result);
    }
}

/// Says which signals the running task has taken.
pub(in crate::syscalls) fn signals(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, taken: &[SigInfo]) {
    let (tid, now) = (kernel.task().tid, kernel.now(cpu));
    let Some(transcript) = &mut kernel.transcript else { return };
    for info in taken {
        transcript.line(tid, now, &format!("--- {} {} ---", signal_names::name(info.signo()), fields(info)));
    }
}

/// Says that a signal has stopped the running task's process.
pub(in crate::syscalls) fn stopped(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, signo: i32) {
    let (tid, now) = (kernel.task().tid, kernel.now(cpu));
    if let Some(transcript) = &mut kernel.transcript {
        transcript.line(tid, now, &format!("--- stopped by {} ---", signal_names::name(signo)));
    }
}

/// The fields of a `siginfo_t` that its code gives a meaning.
fn fields(info: &SigInfo) -> String {
    const SIGCHLD: i32 = 17;
    let (signo, code) = (info.signo(), info.code());
    let mut text =
        format!("{{si_signo={}, si_code={}", signal_names::name(signo), flags::signal_code(signo, code));
    let status = info.value() as u32 as i32;
    let _ = match (signo, code) {
        (SIGCHLD, 1..=6) => {
            let status = if code == 1 { status.to_string() } else { signal_names::name(status).into_owned() };
            let (utime, stime) = (word(info, 32), word(info, 40));
            let (pid, uid) = (info.pid(), info.uid());
            let times = format!("si_utime={utime}, si_stime={stime}");
            write!(text, ", si_pid={pid}, si_uid={uid}, si_status={status}, {times}")
        }
        (4 | 5 | 7 | 8 | 11, 1..=15) if info.addr() == 0 => write!(text, ", si_addr=NULL"),
        (4 | 5 | 7 | 8 | 11, 1..=15) => write!(text, ", si_addr={:#x}", info.addr()),
        (_, -2) => write!(text, ", si_timerid={:#x}, si_overrun={}", info.pid(), info.uid()),
        (_, 0 | -6) => write!(text, ", si_pid={}, si_uid={}", info.pid(), info.uid()),
        (_, -1) => {
            let value = info.value();
            write!(text, ", si_pid={}, si_uid={}, si_value={value:#x}", info.pid(), info.uid())
        }
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
