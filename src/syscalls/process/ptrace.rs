//! ptrace(2): its requests, in the order in which Linux checks them.

use crate::abi::errno::Errno;
use crate::abi::ptrace::*;
use crate::abi::seccomp::AUDIT_ARCH_X86_64;
use crate::abi::signal::signo::{SIGKILL, SIGRTMAX};
use crate::abi::signal::{UNBLOCKABLE, si_code::SI_USER};
use crate::guest::{GuestMemory, Prot, USER_END, within};
use crate::kernel::arena::TaskId;
use crate::kernel::file::proc_mem::force;
use crate::kernel::ptrace::registers::{Registers, WORDS, word};
use crate::kernel::ptrace::tracee::{Mode, Place, Stop, Trace};
use crate::kernel::signal::info::{SIGINFO_SIZE, SigInfo};
use crate::kernel::signal::state::To;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array, get_u64, get_words, put_u64};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, partial};

const NOTE: &str = "no PTRACE_SINGLEBLOCK, seccomp filters, rseq, user dispatch and thread areas of others, \
                    PTRACE_SET_SYSCALL_INFO: EIO; debug registers break nothing: ENOSPC; a thread that another ends has \
                    no PTRACE_EVENT_EXIT";

/// The call of this file.
pub(crate) const ROWS: &[Row] = &[partial(101, "ptrace", ptrace, NOTE)];

/// Bytes of a word.
const WORD: u64 = 8;
/// DR6 when nothing has happened.
const DR6: u64 = 0xffff_0ff0;
/// Bits of DR7 that switch a breakpoint on.
const DR7_ENABLE: u64 = 0xff;
/// Bytes of the FXSAVE image.
const FPU_SIZE: u64 = 512;
/// Bytes of `struct ptrace_syscall_info` up to what depends on the stop, and by it.
const INFO_NONE: usize = 24;
const INFO_ENTRY: usize = 80;
const INFO_EXIT: usize = 33;
const INFO_SECCOMP: usize = 84;

/// ptrace(2).
fn ptrace(ctx: &mut Ctx, [request, pid, addr, data, ..]: [u64; 6]) -> SysResult {
    match request {
        PTRACE_TRACEME => ctx.kernel.trace_me()?,
        PTRACE_ATTACH | PTRACE_SEIZE => {
            let task = ctx.kernel.named_task(pid as i32).ok_or(Errno::ESRCH)?;
            let seize = if request == PTRACE_SEIZE { Some(seize_options(ctx, addr, data)?) } else { None };
            ctx.kernel.trace_task(task, seize)?;
        }
        _ => {
            let any_state = matches!(request, PTRACE_KILL | PTRACE_INTERRUPT);
            let task = ctx.kernel.tracee(pid as i32, any_state)?;
            return of_tracee(ctx, task, request, addr, data);
        }
    }
    Ok(0)
}

/// The options of PTRACE_SEIZE.
fn seize_options(ctx: &Ctx, addr: u64, data: u64) -> Result<u32, Errno> {
    if addr != 0 || data & !u64::from(PTRACE_O_MASK) != 0 {
        return Err(Errno::EIO);
    }
    options(ctx, data)
}

/// Options, `check_ptrace_options`.
fn options(ctx: &Ctx, data: u64) -> Result<u32, Errno> {
    let options = u32::try_from(data).ok().filter(|data| data & !PTRACE_O_MASK == 0).ok_or(Errno::EINVAL)?;
    if options & PTRACE_O_SUSPEND_SECCOMP != 0 {
        let task = ctx.kernel.task();
        task.cred.require(crate::abi::capability::CAP_SYS_ADMIN)?;
        if task.seccomp.mode() != 0 || task.tracing.suspends_seccomp() {
            return Err(Errno::EPERM);
        }
    }
    Ok(options)
}

/// A number of a signal, or 0; EIO.
fn signal(data: u64) -> Result<i32, Errno> {
    if data <= SIGRTMAX as u64 { Ok(data as i32) } else { Err(Errno::EIO) }
}

fn trace<'a>(ctx: &'a mut Ctx<'_>, task: TaskId) -> Result<&'a mut Trace, Errno> {
    ctx.kernel.other_task_mut(task).tracing.trace.as_deref_mut().ok_or(Errno::ESRCH)
}

fn stop<'a>(ctx: &'a mut Ctx<'_>, task: TaskId) -> Result<&'a mut Stop, Errno> {
    ctx.kernel.other_task_mut(task).tracing.stop.as_deref_mut().ok_or(Errno::ESRCH)
}

fn registers<'a>(ctx: &'a mut Ctx<'_>, task: TaskId) -> Result<&'a mut Registers, Errno> {
    stop(ctx, task).map(|stop| &mut stop.registers)
}

/// A request about a tracee, which is stopped if it has to be.
fn of_tracee(ctx: &mut Ctx, task: TaskId, request: u64, addr: u64, data: u64) -> SysResult {
    match request {
        PTRACE_PEEKTEXT | PTRACE_PEEKDATA => {
            let value = peek(ctx, task, addr)?;
            put_u64(ctx.mem, data, value)?;
        }
        PTRACE_POKETEXT | PTRACE_POKEDATA => poke(ctx, task, addr, data)?,
        PTRACE_PEEKUSER => {
            let value = peek_user(ctx, task, addr)?;
            put_u64(ctx.mem, data, value)?;
        }
        PTRACE_POKEUSER => poke_user(ctx, task, addr, data)?,
        PTRACE_GETREGS => get_general(ctx, task, WORDS * 8, data)?,
        PTRACE_SETREGS => set_general(ctx, task, WORDS, data)?,
        PTRACE_GETFPREGS => get_fpu(ctx, task, FPU_SIZE as usize, data)?,
        PTRACE_SETFPREGS => set_fpu(ctx, task, FPU_SIZE as usize, data)?,
        PTRACE_GETREGSET | PTRACE_SETREGSET => {
            register_set(ctx, task, addr as u32, data, request == PTRACE_SETREGSET)?;
        }
        PTRACE_ARCH_PRCTL => bases(ctx, task, data, addr)?,
        PTRACE_SETOPTIONS | PTRACE_OLDSETOPTIONS => {
            let options = options(ctx, data)?;
            trace(ctx, task)?.options = options;
        }
        PTRACE_GETEVENTMSG => {
            let message = trace(ctx, task)?.message;
            put_u64(ctx.mem, data, message)?;
        }
        PTRACE_GETSIGINFO => {
            let info = stop(ctx, task)?.info.ok_or(Errno::EINVAL)?;
            copy_to_user(ctx.mem, data, info.bytes())?;
        }
        PTRACE_SETSIGINFO => {
            let bytes: [u8; SIGINFO_SIZE] = get_array(ctx.mem, data)?;
            let signo = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let info = &mut stop(ctx, task)?.info;
            *info = Some(info.map(|_| SigInfo::queued(signo, bytes)).ok_or(Errno::EINVAL)?);
        }
        PTRACE_PEEKSIGINFO => return peek_signals(ctx, task, addr, data),
        PTRACE_GETSIGMASK if addr != WORD => return Err(Errno::EINVAL.into()),
        PTRACE_GETSIGMASK => {
            let signals = &ctx.kernel.other_task(task).signals;
            let mask = signals.saved_mask.unwrap_or(signals.blocked);
            put_u64(ctx.mem, data, mask)?;
        }
        PTRACE_SETSIGMASK if addr != WORD => return Err(Errno::EINVAL.into()),
        PTRACE_SETSIGMASK => {
            let mask = get_u64(ctx.mem, data)? & !UNBLOCKABLE;
            let signals = &mut ctx.kernel.other_task_mut(task).signals;
            (signals.blocked, signals.saved_mask) = (mask, None);
        }
        PTRACE_GET_SYSCALL_INFO => return call_info(ctx, task, addr, data),
        PTRACE_INTERRUPT if trace(ctx, task)?.seized => ctx.kernel.interrupt_tracee(task),
        PTRACE_LISTEN if ctx.kernel.listen(task) => {}
        PTRACE_INTERRUPT | PTRACE_LISTEN => return Err(Errno::EIO.into()),
        PTRACE_CONT => go_on(ctx, task, Mode::Cont, data)?,
        PTRACE_SYSCALL => go_on(ctx, task, Mode::Syscall, data)?,
        PTRACE_SINGLESTEP => go_on(ctx, task, Mode::Step, data)?,
        PTRACE_SYSEMU => go_on(ctx, task, Mode::Sysemu, data)?,
        PTRACE_SYSEMU_SINGLESTEP => go_on(ctx, task, Mode::SysemuStep, data)?,
        PTRACE_DETACH => {
            let signal = signal(data)?;
            ctx.kernel.detach(task, signal);
        }
        PTRACE_KILL => {
            let info = ctx.kernel.signal_from_task(SIGKILL, SI_USER);
            ctx.kernel.send_signal(task, info, To::Process);
        }
        _ => {
            refuse(ctx, request);
            return Err(Errno::EIO.into());
        }
    }
    Ok(0)
}

/// Says which request of Linux's is not served.
fn refuse(ctx: &mut Ctx, request: u64) {
    let name = match request {
        PTRACE_GET_THREAD_AREA => "GET_THREAD_AREA",
        PTRACE_SET_THREAD_AREA => "SET_THREAD_AREA",
        PTRACE_SINGLEBLOCK => "SINGLEBLOCK",
        PTRACE_SECCOMP_GET_FILTER => "SECCOMP_GET_FILTER",
        PTRACE_SECCOMP_GET_METADATA => "SECCOMP_GET_METADATA",
        PTRACE_GET_RSEQ_CONFIGURATION => "GET_RSEQ_CONFIGURATION",
        PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG => "SET_SYSCALL_USER_DISPATCH_CONFIG",
        PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG => "GET_SYSCALL_USER_DISPATCH_CONFIG",
        PTRACE_SET_SYSCALL_INFO => "SET_SYSCALL_INFO",
        _ => return, // Linux has none of this number either
    };
    ctx.kernel.notices.once(format!("ptrace: PTRACE_{name} is refused with EIO"));
}

/// Lets a tracee go on.
fn go_on(ctx: &mut Ctx, task: TaskId, mode: Mode, data: u64) -> Result<(), Errno> {
    let signal = signal(data)?;
    ctx.kernel.let_go(task, mode, signal);
    Ok(())
}

/// Calls `f` with the memory of a tracee.
fn with_memory<T: Default>(ctx: &mut Ctx, task: TaskId, f: impl FnMut(&mut dyn GuestMemory) -> T) -> T {
    within(ctx.mem, ctx.kernel.space_of_task(task), f).unwrap_or_default()
}

/// A word of a tracee's memory, whatever the permissions of its pages; EIO.
fn peek(ctx: &mut Ctx, task: TaskId, addr: u64) -> Result<u64, Errno> {
    let mut bytes = [0; WORD as usize];
    let done = with_memory(ctx, task, |mem| {
        force(mem, addr, bytes.len(), Prot::READ, |mem, at, range| mem.read(at, &mut bytes[range]))
    });
    if done == bytes.len() { Ok(u64::from_le_bytes(bytes)) } else { Err(Errno::EIO) }
}

/// Stores a word to a tracee's memory: to its own copy of a page that only it may not write; EIO.
fn poke(ctx: &mut Ctx, task: TaskId, addr: u64, value: u64) -> Result<(), Errno> {
    let bytes = value.to_le_bytes();
    let done = with_memory(ctx, task, |mem| {
        force(mem, addr, bytes.len(), Prot::WRITE, |mem, at, range| mem.write(at, &bytes[range]))
    });
    if done == bytes.len() { Ok(()) } else { Err(Errno::EIO) }
}

/// The number of a debug register, by its place in `struct user`.
fn debug_register(addr: u64) -> Option<usize> {
    addr.checked_sub(USER_DEBUGREG).map(|at| (at / WORD) as usize).filter(|number| *number < 8)
}

/// A word of `struct user`: registers, and zeros for what core files alone have.
fn peek_user(ctx: &mut Ctx, task: TaskId, addr: u64) -> Result<u64, Errno> {
    if !addr.is_multiple_of(WORD) || addr >= USER_SIZE {
        return Err(Errno::EIO);
    }
    if addr < USER_REGS_SIZE {
        return Ok(registers(ctx, task)?.word((addr / WORD) as usize));
    }
    Ok(match debug_register(addr) {
        Some(number @ 0..=3) => trace(ctx, task)?.debug[number],
        Some(6) => DR6,
        _ => 0,
    })
}

fn poke_user(ctx: &mut Ctx, task: TaskId, addr: u64, value: u64) -> Result<(), Errno> {
    if !addr.is_multiple_of(WORD) || addr >= USER_SIZE {
        return Err(Errno::EIO);
    }
    if addr < USER_REGS_SIZE {
        return registers(ctx, task)?.set((addr / WORD) as usize, value);
    }
    match debug_register(addr) {
        Some(0..=3) if value >= USER_END => Err(Errno::EINVAL),
        Some(number @ 0..=3) => {
            trace(ctx, task)?.debug[number] = value;
            Ok(())
        }
        Some(6) => Ok(()),
        Some(7) if value & DR7_ENABLE == 0 => Ok(()),
        Some(7) => {
            ctx.kernel.notices.once("ptrace: breakpoints in debug registers are refused with ENOSPC".into());
            Err(Errno::ENOSPC)
        }
        _ => Err(Errno::EIO),
    }
}

/// Copies the first bytes of the general registers to the tracer.
fn get_general(ctx: &mut Ctx, task: TaskId, len: usize, to: u64) -> Result<(), Errno> {
    let bytes: Vec<u8> = registers(ctx, task)?.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    copy_to_user(ctx.mem, to, &bytes[..len.min(bytes.len())])
}

/// Sets the first words of the general registers, up to the first that cannot be so.
fn set_general(ctx: &mut Ctx, task: TaskId, count: usize, from: u64) -> Result<(), Errno> {
    for at in 0..count.min(WORDS) {
        let addr = from.checked_add(at as u64 * WORD).ok_or(Errno::EFAULT)?;
        let value = get_u64(ctx.mem, addr)?;
        registers(ctx, task)?.set(at, value)?;
    }
    Ok(())
}

fn get_fpu(ctx: &mut Ctx, task: TaskId, len: usize, to: u64) -> Result<(), Errno> {
    let image = *registers(ctx, task)?.fpu();
    copy_to_user(ctx.mem, to, &image[..len.min(image.len())])
}

fn set_fpu(ctx: &mut Ctx, task: TaskId, len: usize, from: u64) -> Result<(), Errno> {
    if len != FPU_SIZE as usize {
        return Err(Errno::EINVAL);
    }
    let image = get_array(ctx.mem, from)?;
    registers(ctx, task)?.set_fpu(&image)
}

/// PTRACE_GETREGSET and PTRACE_SETREGSET: a set by its type, with a `struct iovec` whose length is
/// then that of what there was.
fn register_set(ctx: &mut Ctx, task: TaskId, set: u32, iovec: u64, sets: bool) -> Result<(), Errno> {
    let [base, len] = get_words(ctx.mem, iovec)?;
    let most = match set {
        NT_PRSTATUS => USER_REGS_SIZE,
        NT_PRFPREG => FPU_SIZE,
        NT_386_IOPERM | NT_X86_XSTATE => u64::MAX,
        _ => return Err(Errno::EINVAL),
    };
    if !len.is_multiple_of(WORD) {
        return Err(Errno::EINVAL);
    }
    let len = len.min(most);
    let (bytes, words) = (len as usize, (len / WORD) as usize);
    match (set, sets) {
        (NT_PRSTATUS, false) => get_general(ctx, task, bytes, base)?,
        (NT_PRSTATUS, true) => set_general(ctx, task, words, base)?,
        (NT_PRFPREG, false) => get_fpu(ctx, task, bytes, base)?,
        (NT_PRFPREG, true) => set_fpu(ctx, task, bytes, base)?,
        (NT_386_IOPERM, false) => return Err(Errno::ENXIO), // no task has ports
        (NT_386_IOPERM, true) => return Err(Errno::EOPNOTSUPP),
        _ => return Err(Errno::ENODEV), // the CPU has no XSAVE
    }
    put_u64(ctx.mem, iovec.wrapping_add(WORD), len)
}

/// PTRACE_ARCH_PRCTL: the bases of FS and GS.
fn bases(ctx: &mut Ctx, task: TaskId, code: u64, addr: u64) -> Result<(), Errno> {
    let at = match code {
        ARCH_SET_FS | ARCH_GET_FS => word::FS_BASE,
        ARCH_SET_GS | ARCH_GET_GS => word::GS_BASE,
        _ => return Err(Errno::EINVAL),
    };
    if matches!(code, ARCH_GET_FS | ARCH_GET_GS) {
        let base = registers(ctx, task)?.word(at);
        return put_u64(ctx.mem, addr, base);
    }
    registers(ctx, task)?.set(at, addr).map_err(|_| Errno::EPERM)
}

/// PTRACE_PEEKSIGINFO: signals that wait, by their places in the queue.
fn peek_signals(ctx: &mut Ctx, task: TaskId, addr: u64, to: u64) -> SysResult {
    let mut args = [0; 16];
    copy_from_user(ctx.mem, addr, &mut args)?;
    let word = |at: usize| u32::from_le_bytes([args[at], args[at + 1], args[at + 2], args[at + 3]]);
    let first = u64::from(word(0)) | u64::from(word(4)) << 32;
    let (flags, count) = (word(8), word(12) as i32);
    if flags & !PTRACE_PEEKSIGINFO_SHARED != 0 || count < 0 {
        return Err(Errno::EINVAL.into());
    }
    let held = ctx.kernel.other_task(task);
    let queue = match flags {
        0 => &held.signals.pending,
        _ => &ctx.kernel.other_process(held.shared.process).pending,
    };
    let infos: Vec<SigInfo> =
        queue.infos().skip(usize::try_from(first).unwrap_or(usize::MAX)).take(count as usize).collect();
    for (at, info) in infos.iter().enumerate() {
        let place = to.wrapping_add((at * SIGINFO_SIZE) as u64);
        if copy_to_user(ctx.mem, place, info.bytes()).is_err() {
            return if at == 0 { Err(Errno::EFAULT.into()) } else { Ok(at as u64) };
        }
    }
    Ok(infos.len() as u64)
}

/// PTRACE_GET_SYSCALL_INFO: as many bytes of it as there is room for, and how many there are.
fn call_info(ctx: &mut Ctx, task: TaskId, room: u64, to: u64) -> SysResult {
    let message = trace(ctx, task)?.message;
    let Stop { place, info, registers, .. } = stop(ctx, task)?;
    let code = info.map_or(0, |info| info.code());
    let number = registers.word(word::ORIG_RAX);
    let call = || [number].into_iter().chain(registers.arguments()).flat_map(u64::to_le_bytes);
    let mut rest = Vec::new();
    // Without PTRACE_O_TRACESYSGOOD Linux cannot tell either.
    let (op, len) = match place {
        Place::Entry { .. } if code & 0x80 != 0 => {
            rest.extend(call());
            (PTRACE_SYSCALL_INFO_ENTRY, INFO_ENTRY)
        }
        Place::Exit if code & 0x80 != 0 => {
            let value = registers.word(word::RAX);
            rest.extend(value.to_le_bytes());
            rest.push(u8::from((value as i64) < 0 && (value as i64) >= -4095));
            (PTRACE_SYSCALL_INFO_EXIT, INFO_EXIT)
        }
        Place::Seccomp => {
            rest.extend(call());
            rest.extend((message as u32).to_le_bytes());
            (PTRACE_SYSCALL_INFO_SECCOMP, INFO_SECCOMP)
        }
        _ => (PTRACE_SYSCALL_INFO_NONE, INFO_NONE),
    };
    let mut bytes = vec![op, 0, 0, 0];
    bytes.extend(AUDIT_ARCH_X86_64.to_le_bytes());
    bytes.extend(registers.word(word::RIP).to_le_bytes());
    bytes.extend(registers.word(word::RSP).to_le_bytes());
    bytes.extend(rest);
    bytes.truncate(len.min(usize::try_from(room).unwrap_or(usize::MAX)));
    copy_to_user(ctx.mem, to, &bytes)?;
    Ok(len as u64)
}
