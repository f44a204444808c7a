//! futex(2) for one task. Nobody else can wait, so nothing is ever woken, and a wait ends by its timeout or
//! by a signal or is a deadlock.

use crate::abi::errno::Errno;
use crate::kernel::clock::{MONOTONIC_START, REALTIME_START};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{get_timespec, get_u32, put_u32};
use crate::kernel::wait::Wake;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, partial, refused};

const FUTEX_WAIT: u32 = 0;
const FUTEX_WAKE: u32 = 1;
const FUTEX_REQUEUE: u32 = 3;
const FUTEX_CMP_REQUEUE: u32 = 4;
const FUTEX_WAKE_OP: u32 = 5;
const FUTEX_LOCK_PI: u32 = 6;
const FUTEX_UNLOCK_PI: u32 = 7;
const FUTEX_TRYLOCK_PI: u32 = 8;
const FUTEX_WAIT_BITSET: u32 = 9;
const FUTEX_WAKE_BITSET: u32 = 10;
const FUTEX_LOCK_PI2: u32 = 13;
const FUTEX_PRIVATE_FLAG: u32 = 128;
const FUTEX_CLOCK_REALTIME: u32 = 256;

/// The owner's task id in the word of a priority-inheritance lock.
const FUTEX_TID_MASK: u32 = 0x3fff_ffff;
/// Whether its owner died.
const FUTEX_OWNER_DIED: u32 = 0x4000_0000;

/// Futex calls.
pub const ROWS: &[Row] = &[
    partial(202, "futex", futex, "for one task; a wait that nothing can end stops the run"),
    refused(449, "futex_waitv", absent, "ENOSYS"),
    refused(454, "futex_wake", absent, "ENOSYS"),
    refused(455, "futex_wait", absent, "ENOSYS"),
    refused(456, "futex_requeue", absent, "ENOSYS"),
];

fn absent(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::ENOSYS.into())
}

/// futex(2).
fn futex(ctx: &mut Ctx, [addr, op, value, timeout, addr2, value3]: [u64; 6]) -> SysResult {
    let command = op as u32 & !(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    let realtime = op as u32 & FUTEX_CLOCK_REALTIME != 0;
    if realtime && !matches!(command, FUTEX_WAIT_BITSET | FUTEX_LOCK_PI2) {
        return Err(Errno::ENOSYS.into());
    }
    let (value, value3) = (value as u32, value3 as u32);
    match command {
        FUTEX_WAIT => futex_wait(ctx, addr, value, timeout, Until::After),
        FUTEX_WAIT_BITSET | FUTEX_WAKE_BITSET if value3 == 0 => Err(Errno::EINVAL.into()),
        FUTEX_WAIT_BITSET => {
            let until = if realtime { Until::Realtime } else { Until::Monotonic };
            futex_wait(ctx, addr, value, timeout, until)
        }
        FUTEX_WAKE | FUTEX_WAKE_BITSET => {
            // A private futex is not read by a wake, but its address must be one.
            check(ctx, addr)?;
            Ok(0)
        }
        FUTEX_REQUEUE | FUTEX_CMP_REQUEUE => {
            requeue(ctx, command, [addr, addr2], [value, timeout as u32], value3)
        }
        FUTEX_WAKE_OP => wake_op(ctx, addr, addr2, value3),
        FUTEX_LOCK_PI | FUTEX_LOCK_PI2 | FUTEX_TRYLOCK_PI => lock_pi(ctx, addr),
        FUTEX_UNLOCK_PI => unlock_pi(ctx, addr),
        other => {
            ctx.kernel.notices.once(format!("futex: operation {other} is refused with ENOSYS"));
            Err(Errno::ENOSYS.into())
        }
    }
}

/// EINVAL for a misaligned word.
fn check(_: &Ctx, addr: u64) -> Result<(), Errno> {
    if addr.is_multiple_of(4) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// What a timeout counts from.
#[derive(Clone, Copy)]
enum Until {
    After,
    Monotonic,
    Realtime,
}

fn futex_wait(ctx: &mut Ctx, addr: u64, value: u32, timeout: u64, until: Until) -> SysResult {
    let deadline = match timeout {
        0 => None,
        timeout => {
            let ns = get_timespec(ctx.mem, timeout)?;
            Some(match until {
                Until::After => ctx.now().saturating_add(ns),
                Until::Monotonic => ns.saturating_sub(MONOTONIC_START),
                Until::Realtime => ns.saturating_sub(REALTIME_START),
            })
        }
    };
    check(ctx, addr)?;
    if get_u32(ctx.mem, addr)? != value {
        return Err(Errno::EAGAIN.into());
    }
    match ctx.kernel.wait(ctx.cpu, deadline, 0) {
        Wake::Timeout => Err(Errno::ETIMEDOUT.into()),
        Wake::Signal if deadline.is_none() => Err(ctx.interrupted(Restart::WithFlag)),
        Wake::Signal => Err(ctx.interrupted(Restart::Never)),
        Wake::Never => Err(Break::Refuse(format!(
            "futex: the program waits at {addr:#x} for another thread, and there is none: deadlock"
        ))),
    }
}

fn requeue(ctx: &mut Ctx, command: u32, addrs: [u64; 2], counts: [u32; 2], expected: u32) -> SysResult {
    if counts.iter().any(|count| (*count as i32) < 0) {
        return Err(Errno::EINVAL.into());
    }
    for addr in addrs {
        check(ctx, addr)?;
    }
    if command == FUTEX_CMP_REQUEUE && get_u32(ctx.mem, addrs[0])? != expected {
        return Err(Errno::EAGAIN.into());
    }
    Ok(0)
}

/// FUTEX_WAKE_OP: changes the second word; the comparison only decides whom to wake.
fn wake_op(ctx: &mut Ctx, addr: u64, addr2: u64, op: u32) -> SysResult {
    check(ctx, addr)?;
    check(ctx, addr2)?;
    // 12-bit fields, sign-extended.
    let sign_extend = |field: u32| ((field << 20) as i32 >> 20) as u32;
    let mut operand = sign_extend(op >> 12 & 0xfff);
    if op >> 28 & 8 != 0 {
        operand = 1u32.wrapping_shl(operand);
    }
    let old = get_u32(ctx.mem, addr2)?;
    let new = match op >> 28 & 7 {
        0 => operand,
        1 => old.wrapping_add(operand),
        2 => old | operand,
        3 => old & !operand,
        4 => old ^ operand,
        _ => return Err(Errno::ENOSYS.into()),
    };
    put_u32(ctx.mem, addr2, new)?;
    if op >> 24 & 0xf > 5 {
        return Err(Errno::ENOSYS.into());
    }
    Ok(0)
}

fn lock_pi(ctx: &mut Ctx, addr: u64) -> SysResult {
    check(ctx, addr)?;
    let word = get_u32(ctx.mem, addr)?;
    let tid = ctx.kernel.task().tid as u32;
    match word & FUTEX_TID_MASK {
        0 => {
            put_u32(ctx.mem, addr, tid | word & FUTEX_OWNER_DIED)?;
            Ok(0)
        }
        owner if owner == tid => Err(Errno::EDEADLK.into()),
        _ => Err(Errno::ESRCH.into()),
    }
}

fn unlock_pi(ctx: &mut Ctx, addr: u64) -> SysResult {
    check(ctx, addr)?;
    if get_u32(ctx.mem, addr)? & FUTEX_TID_MASK != ctx.kernel.task().tid as u32 {
        return Err(Errno::EPERM.into());
    }
    put_u32(ctx.mem, addr, 0)?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use crate::kernel::process::PID;
    use crate::syscalls::context::Action;
    use crate::syscalls::testing::{DATA, Machine};

    const FUTEX: u64 = 202;
    const EPERM: i64 = -1;
    const ESRCH: i64 = -3;
    const EAGAIN: i64 = -11;
    const EFAULT: i64 = -14;
    const EINVAL: i64 = -22;
    const EDEADLK: i64 = -35;
    const ENOSYS: i64 = -38;
    const ETIMEDOUT: i64 = -110;

    /// The word at DATA is 5; a timeout of 1 us is at DATA + 64, a bad one at DATA + 80.
    #[test]
    fn answers_of_a_native_linux() {
        let mut machine = Machine::new();
        machine.put_words(DATA, &[5]);
        machine.put_words(DATA + 64, &[0, 1000, 0, 1_000_000_000]);
        let (soon, bad) = (DATA + 64, DATA + 80);
        for (args, expected) in [
            ([DATA + 1, 0, 0, 0, 0, 0], EINVAL),
            ([8, 0, 0, 0, 0, 0], EFAULT),
            ([DATA, 99, 0, 0, 0, 0], ENOSYS),
            ([DATA, 0, 6, 0, 0, 0], EAGAIN),
            ([DATA, 9, 5, 0, 0, 0], EINVAL),
            ([DATA, 10, 5, 0, 0, 0], EINVAL),
            ([DATA, 1, 1, 0, 0, 0], 0),
            ([DATA, 256, 5, soon, 0, 0], ENOSYS),
            ([DATA, 0, 5, bad, 0, 0], EINVAL),
            ([DATA, 128, 5, soon, 0, 0], ETIMEDOUT),
            ([DATA, 256 | 9, 5, soon, 0, u64::MAX], ETIMEDOUT),
            ([DATA, 3, 1, 1, DATA + 8, 0], 0),
            ([DATA, 4, 1, 1, DATA + 8, 6], EAGAIN),
            ([DATA, 4, 1, 1, DATA + 8, 5], 0),
            ([DATA, 4, u64::MAX, 1, DATA + 8, 5], EINVAL),
        ] {
            assert_eq!(machine.call(FUTEX, &args), expected, "{args:x?}");
        }
        let action = machine.action(FUTEX, &[DATA, 0, 5, 0]);
        assert!(matches!(action, Action::Refuse(_)), "{action:?}");
    }

    #[test]
    fn wake_op_changes_the_second_word() {
        let mut machine = Machine::new();
        machine.put_words(DATA + 8, &[7]);
        let mut op = |code: u64, operand: u64| {
            machine.call(FUTEX, &[DATA, 5, 1, 1, DATA + 8, code << 28 | operand << 12]);
            machine.word(DATA + 8)
        };
        assert_eq!(op(1, 3), 10);
        assert_eq!(op(1, 0xfff), 9, "operands are signed");
        assert_eq!(op(2, 6), 15);
        assert_eq!(op(3, 1), 14);
        assert_eq!(op(4, 2), 12);
        assert_eq!(op(8, 5), 32, "an operand that is a shift");
        assert_eq!(op(7, 0), 32);
    }

    #[test]
    fn a_lock_has_one_owner() {
        let mut machine = Machine::new();
        assert_eq!(machine.call(FUTEX, &[DATA, 6]), 0);
        assert_eq!(machine.word(DATA), PID as u64);
        assert_eq!(machine.call(FUTEX, &[DATA, 6]), EDEADLK);
        assert_eq!(machine.call(FUTEX, &[DATA, 8]), EDEADLK);
        assert_eq!(machine.call(FUTEX, &[DATA, 7]), 0);
        assert_eq!(machine.word(DATA), 0);
        assert_eq!(machine.call(FUTEX, &[DATA, 7]), EPERM);
        machine.put_words(DATA, &[999_999]);
        assert_eq!(machine.call(FUTEX, &[DATA, 6]), ESRCH);
    }
}
