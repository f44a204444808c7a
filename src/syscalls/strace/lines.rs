//! Lines of the transcript: a call's beginning and end, and signals.

use std::borrow::Cow;

use crate::abi::errno::Errno;
use crate::abi::signal_names;
use crate::guest::{Gpr, GuestCpu, GuestMemory};
use crate::kernel::Kernel;
use crate::kernel::signal::info::SigInfo;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::strace::kind::Kind;
use crate::syscalls::strace::kinds::Arguments;
use crate::syscalls::strace::results::{failure, interruption};
use crate::syscalls::strace::siginfo::fields;
use crate::syscalls::strace::signatures::arguments;
use crate::syscalls::strace::text::{SHOWN, list, peek, quoted};
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
    let kinds = arguments(&name);
    let before = known_before(kinds, args, *mem);
    let stack = cpu.gpr(Gpr::Rsp);
    let known = Arguments { mem: *mem, args, stack, result: None }.text(kinds, 0..before);
    let mut text = format!("{name}({known}");
    if let Some(next) = kinds.get(before).filter(|_| before > 0) {
        text.push_str(next.separator());
    }
    let Some(transcript) = &mut kernel.transcript else { return };
    transcript.begin(tid, now, text);
    if EXITS.contains(&number) {
        transcript.end(tid, now, &name, "", "?");
    }
}

/// A call that has not ended, with its arguments; those that it answers in are addresses.
pub(crate) fn in_progress(number: u64, args: [u64; 6], mem: &mut dyn GuestMemory) -> String {
    let name = name(number);
    let kinds = arguments(&name);
    let mut shown = Arguments { mem, args, stack: 0, result: Some(None) };
    format!("{name}({})", shown.text(kinds, 0..kinds.len()))
}

/// Number of arguments that are known when the call is made.
fn known_before(kinds: &[Kind], args: [u64; 6], mem: &mut dyn GuestMemory) -> usize {
    let mut is_output = |kind: &Kind| match kind {
        Kind::CloneSize => fills_clone_args(mem, args[0]),
        kind => kind.is_output(args),
    };
    kinds.iter().position(&mut is_output).unwrap_or(kinds.len())
}

/// Tells if clone3(2) answers in the structure at this address: CLONE_PIDFD, CLONE_PARENT_SETTID.
fn fills_clone_args(mem: &mut dyn GuestMemory, addr: u64) -> bool {
    peek::<8>(mem, addr).is_some_and(|flags| u64::from_le_bytes(flags) & 0x10_1000 != 0)
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
        Err(
            Break::Gone
            | Break::Traced
            | Break::Sleep
            | Break::Pause
            | Break::Exec(_)
            | Break::Limit(_)
            | Break::Refuse(_),
        ) => {
            return;
        }
    };
    let Ctx { kernel, cpu, mem } = ctx;
    let (tid, now) = (kernel.task().tid, kernel.now(*cpu));
    let name = name(number);
    let kinds = arguments(&name);
    let errno = match result {
        Err(Break::Errno(errno)) => Some(*errno),
        // What rt_sigreturn brings back may be that of a call which was interrupted.
        Err(Break::Resume) => Errno::from_rax(value),
        _ => None,
    };
    let ok = if errno.is_some() { None } else { Some(value) };
    let stack = cpu.gpr(Gpr::Rsp);
    let mut shown = Arguments { mem: *mem, args, stack, result: Some(ok) };
    let known = known_before(kinds, args, shown.mem);
    let rest = shown.text(kinds, known..kinds.len());
    if kernel.task().vfork.is_some() && matches!(result, Err(Break::Spawn(_))) {
        // It returns when the child lets it.
        if let Some(transcript) = &mut kernel.transcript {
            transcript.waits(tid, name, rest);
        }
        return;
    }
    let result = match (errno, result, kernel.task().signals.interrupted) {
        (Some(_), Err(Break::Errno(_)), Some((_, restart, _))) => interruption(&name, restart),
        (Some(errno), ..) => failure(errno),
        (None, ..) => shown.value(&name),
    };
    if let Some(transcript) = &mut kernel.transcript {
        transcript.end(tid, now, &name, &rest, &result);
    }
}

/// Says that the running task goes on after vfork(2): its child has ended or called execve(2).
pub(in crate::syscalls) fn child_let_go(kernel: &mut Kernel, cpu: &mut dyn GuestCpu) {
    let (tid, now) = (kernel.task().tid, kernel.now(cpu));
    let child = cpu.gpr(Gpr::Rax) as i64;
    if let Some(transcript) = &mut kernel.transcript {
        transcript.goes_on(tid, now, &child.to_string());
    }
}

/// Says which program is run first, at an address of its environment.
pub(crate) fn started(kernel: &mut Kernel, path: &[u8], argv: &[Vec<u8>], variables: usize) {
    let (tid, envp) = (kernel.task().tid, kernel.mm().places.env.0);
    let Some(transcript) = &mut kernel.transcript else { return };
    let mut words: Vec<String> = argv.iter().take(SHOWN).map(|word| quoted(word)).collect();
    if argv.len() > SHOWN {
        words.push("...".into());
    }
    let (path, words) = (quoted(path), list(words));
    transcript.begin(tid, 0, format!("execve({path}, {words}, {envp:#x} /* {variables} vars */"));
    transcript.end(tid, 0, "execve", "", "0");
}

/// Says how execve(2) or execveat(2) ended, which the session carries out: `number` and `tid` are
/// those of the call when it was made.
pub(crate) fn executed(
    kernel: &mut Kernel,
    cpu: &mut dyn GuestCpu,
    (number, tid): (u64, i32),
    result: Result<(), Errno>,
) {
    let (leader, now) = (kernel.task().tid, kernel.now(cpu));
    let Some(transcript) = &mut kernel.transcript else { return };
    if leader != tid {
        transcript.line(leader, now, &format!("+++ superseded by execve in pid {tid} +++"));
    }
    let result = result.map_or_else(failure, |()| "0".into());
    transcript.end(leader, now, &name(number), "", &result);
}

/// Says which signals the running task has taken.
pub(in crate::syscalls) fn signals(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, taken: &[SigInfo]) {
    let (tid, now) = (kernel.task().tid, kernel.now(cpu));
    let Some(transcript) = &mut kernel.transcript else { return };
    for info in taken {
        transcript.line(tid, now, &format!("--- {} {} ---", signal_names::name(info.signo()), fields(info)));
    }
}

fn stop_line(signo: i32) -> String {
    format!("--- stopped by {} ---", signal_names::name(signo))
}

/// Says that a signal has stopped the running task's process.
pub(in crate::syscalls) fn stopped(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, signo: i32) {
    let (tid, now) = (kernel.task().tid, kernel.now(cpu));
    if let Some(transcript) = &mut kernel.transcript {
        transcript.line(tid, now, &stop_line(signo));
    }
}

/// Says which signals have stopped processes at once.
pub(in crate::syscalls) fn stops(kernel: &mut Kernel, cpu: &mut dyn GuestCpu) {
    let now = kernel.now(cpu);
    let Some(transcript) = &mut kernel.transcript else { return };
    for (tid, info) in transcript.take_stops() {
        let signo = signal_names::name(info.signo());
        transcript.line(tid, now, &format!("--- {signo} {} ---", fields(&info)));
        transcript.line(tid, now, &stop_line(info.signo()));
    }
}
