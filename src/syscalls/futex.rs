//! futex(2), futex_waitv(2).

use crate::abi::errno::Errno;
use crate::abi::futex::*;
use crate::kernel::clock::ClockId;
use crate::kernel::futex::{Futex, FutexKey, FutexWait, Key, Role};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{copy_from_user, get_timespec, get_u32};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, full, refused};

/// Futex calls.
pub(super) const ROWS: &[Row] = &[
    full(202, "futex", futex),
    full(449, "futex_waitv", futex_waitv),
    refused(454, "futex_wake", absent, "ENOSYS"),
    refused(455, "futex_wait", absent, "ENOSYS"),
    refused(456, "futex_requeue", absent, "ENOSYS"),
];

fn absent(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::ENOSYS.into())
}

/// The word at an address, and its name.
fn find(ctx: &mut Ctx, addr: u64, private: bool, written: bool) -> Result<(Futex, FutexKey), Errno> {
    let kind = match (private, written) {
        (true, _) => Key::Private,
        (false, false) => Key::Shared,
        (false, true) => Key::SharedWritten,
    };
    let futex = Futex::at(ctx.mem, addr, kind)?;
    let mm = ctx.kernel.task().shared.mm;
    Ok((futex, futex.key(ctx.mem, mm, private)))
}

/// futex(2).
fn futex(ctx: &mut Ctx, [addr, op, value, timeout, addr2, value3]: [u64; 6]) -> SysResult {
    let command = op as u32 & !(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    let realtime = op as u32 & FUTEX_CLOCK_REALTIME != 0;
    let private = op as u32 & FUTEX_PRIVATE_FLAG != 0;
    let timed = matches!(
        command,
        FUTEX_WAIT | FUTEX_WAIT_BITSET | FUTEX_WAIT_REQUEUE_PI | FUTEX_LOCK_PI | FUTEX_LOCK_PI2
    );
    let timeout_ns = if timed && timeout != 0 { Some(get_timespec(ctx.mem, timeout)?) } else { None };
    if realtime && !matches!(command, FUTEX_WAIT_BITSET | FUTEX_WAIT_REQUEUE_PI | FUTEX_LOCK_PI2) {
        return Err(Errno::ENOSYS.into());
    }
    let real = realtime || command == FUTEX_LOCK_PI;
    let clock = if real { ClockId::Realtime } else { ClockId::Monotonic };
    let deadline = match command {
        FUTEX_WAIT => timeout_ns.map(|ns| ctx.deadline(ns)),
        _ => timeout_ns.map(|ns| ns.saturating_sub(ctx.kernel.clock.start(clock))),
    };
    let (value, value3, count2) = (value as u32, value3 as u32, timeout as i32);
    match command {
        FUTEX_WAIT => wait(ctx, addr, private, value, FUTEX_BITSET_MATCH_ANY, deadline),
        FUTEX_WAIT_BITSET | FUTEX_WAKE_BITSET if value3 == 0 => Err(Errno::EINVAL.into()),
        FUTEX_WAIT_BITSET => wait(ctx, addr, private, value, value3, deadline),
        FUTEX_WAIT_REQUEUE_PI if addr == addr2 => Err(Errno::EINVAL.into()),
        FUTEX_WAIT_REQUEUE_PI => wait_requeue_pi(ctx, (addr, addr2), private, value, deadline),
        FUTEX_WAKE | FUTEX_WAKE_BITSET => {
            let bitset = if command == FUTEX_WAKE { FUTEX_BITSET_MATCH_ANY } else { value3 };
            let (_, key) = find(ctx, addr, private, false)?;
            Ok(ctx.kernel.wake_futex(key, value as i32, bitset)?)
        }
        FUTEX_CMP_REQUEUE_PI if addr == addr2 || value != 1 => Err(Errno::EINVAL.into()),
        FUTEX_REQUEUE | FUTEX_CMP_REQUEUE | FUTEX_CMP_REQUEUE_PI => {
            if (value as i32) < 0 || count2 < 0 {
                return Err(Errno::EINVAL.into());
            }
            let (from, key) = find(ctx, addr, private, false)?;
            let (target, key2) = find(ctx, addr2, private, command == FUTEX_CMP_REQUEUE_PI)?;
            if command != FUTEX_REQUEUE {
                from.expect(ctx.mem, value3)?;
            }
            if command == FUTEX_CMP_REQUEUE_PI {
                return Ok(ctx.kernel.requeue_pi(ctx.mem, key, (target, key2), count2 as u64)?);
            }
            Ok(ctx.kernel.requeue_futex(key, key2, value.into(), count2 as u64)?)
        }
        FUTEX_WAKE_OP => {
            let (_, key) = find(ctx, addr, private, false)?;
            let (word, key2) = find(ctx, addr2, private, true)?;
            let both = word.apply(ctx.mem, value3)?;
            let mut woken = ctx.kernel.wake_futex(key, value as i32, FUTEX_BITSET_MATCH_ANY)?;
            if both {
                woken += ctx.kernel.wake_futex(key2, count2, FUTEX_BITSET_MATCH_ANY)?;
            }
            Ok(woken)
        }
        FUTEX_LOCK_PI | FUTEX_LOCK_PI2 => lock_pi(ctx, addr, private, deadline),
        FUTEX_TRYLOCK_PI => {
            let (word, key) = find(ctx, addr, private, true)?;
            let task = ctx.kernel.current();
            if ctx.kernel.lock_pi(ctx.mem, word, key, task, false)? {
                Ok(0)
            } else {
                Err(Errno::EAGAIN.into())
            }
        }
        FUTEX_UNLOCK_PI => {
            // Linux looks who has it before it looks at the address.
            let owner = get_u32(ctx.mem, addr)? & FUTEX_TID_MASK;
            if owner != ctx.kernel.own_tid(ctx.kernel.current()) {
                return Err(Errno::EPERM.into());
            }
            let (word, key) = find(ctx, addr, private, true)?;
            ctx.kernel.unlock_pi(ctx.mem, word, key)?;
            Ok(0)
        }
        other => {
            ctx.kernel.notices.count("futex: operation ", &format!("{other} is refused with ENOSYS"));
            Err(Errno::ENOSYS.into())
        }
    }
}

/// Tells if the call has slept and is to sleep on if nothing has woken it: another look at the word
/// would not be made by Linux. After a stop it is.
fn sleeps_on(ctx: &Ctx) -> bool {
    ctx.kernel.looks_again()
}

/// Sleeps at futexes, or goes on where it was moved to.
fn sleep(
    ctx: &mut Ctx,
    what: &'static str,
    keys: &[FutexKey],
    wait: FutexWait,
    deadline: Option<u64>,
) -> Result<Wake, Break> {
    let mut keys: Vec<WaitKey> = keys.iter().map(|key| WaitKey::Futex(*key)).collect();
    let call = &mut ctx.kernel.task_mut().call;
    match call.futex {
        None => call.futex = Some(wait),
        Some(_) => keys.clone_from(&call.keys),
    }
    ctx.sleep(what, &keys, deadline)
}

/// Waits, if the word has the value.
fn wait(
    ctx: &mut Ctx,
    addr: u64,
    private: bool,
    value: u32,
    bitset: u32,
    deadline: Option<u64>,
) -> SysResult {
    if ctx.kernel.task().call.wake == Some(Wake::Event) {
        return Ok(0);
    }
    let (word, key) = find(ctx, addr, private, false)?;
    if !sleeps_on(ctx) {
        word.expect(ctx.mem, value)?;
    }
    let wait = FutexWait { bitset, ..FutexWait::new(Role::Waiter) };
    match sleep(ctx, "futex wait", &[key], wait, deadline)? {
        Wake::Event => Ok(0),
        Wake::Timeout => Err(Errno::ETIMEDOUT.into()),
        Wake::Signal if deadline.is_none() => Err(ctx.interrupted(Restart::WithFlag)),
        Wake::Signal => Err(ctx.interrupted(Restart::Never)),
    }
}

/// Takes a lock with priority inheritance. When an owner hands it over it is the task's already,
/// and the word is put right here.
fn lock_pi(ctx: &mut Ctx, addr: u64, private: bool, deadline: Option<u64>) -> SysResult {
    let (word, key) = find(ctx, addr, private, true)?;
    let task = ctx.kernel.current();
    if ctx.kernel.task().call.wake == Some(Wake::Event) {
        return take_over(ctx, word);
    }
    if !sleeps_on(ctx) && ctx.kernel.lock_pi(ctx.mem, word, key, task, true)? {
        return Ok(0);
    }
    match sleep(ctx, "futex wait for a lock", &[key], FutexWait::new(Role::Locker), deadline)? {
        Wake::Event => Ok(0),
        Wake::Timeout => Err(Errno::ETIMEDOUT.into()),
        Wake::Signal => Err(ctx.interrupted(Restart::Always)),
    }
}

/// Notes in its word that the running task has a lock that was handed to it.
fn take_over(ctx: &mut Ctx, word: Futex) -> SysResult {
    let died = ctx.kernel.task().call.futex.is_some_and(|wait| wait.owner_died);
    let tid = ctx.kernel.own_tid(ctx.kernel.current());
    if died {
        let mark = word.get(ctx.mem)? & FUTEX_OWNER_DIED;
        word.put(ctx.mem, tid | FUTEX_WAITERS | mark)?;
    }
    Ok(0)
}

/// Waits to be moved to a lock, and then for it.
fn wait_requeue_pi(
    ctx: &mut Ctx,
    (addr, addr2): (u64, u64),
    private: bool,
    value: u32,
    deadline: Option<u64>,
) -> SysResult {
    let (lock, target) = find(ctx, addr2, private, true)?;
    let (word, key) = find(ctx, addr, private, false)?;
    let moved = ctx.kernel.task().call.futex.is_some_and(|wait| wait.role == Role::Locker);
    if ctx.kernel.task().call.wake == Some(Wake::Event) {
        return if moved { take_over(ctx, lock) } else { Err(Errno::EAGAIN.into()) };
    }
    if !moved && !sleeps_on(ctx) {
        word.expect(ctx.mem, value)?;
    }
    match sleep(ctx, "futex wait for a lock", &[key], FutexWait::new(Role::Mover(target)), deadline)? {
        Wake::Event => Ok(0),
        Wake::Timeout => Err(Errno::ETIMEDOUT.into()),
        Wake::Signal if moved => Err(Errno::EAGAIN.into()),
        Wake::Signal => Err(ctx.interrupted(Restart::Always)),
    }
}

/// futex_waitv(2): the place of the futex that woke the task.
fn futex_waitv(ctx: &mut Ctx, [waiters, count, flags, timeout, clock, _]: [u64; 6]) -> SysResult {
    let count = count as u32 as u64;
    if flags as u32 != 0 || count == 0 || count > FUTEX_WAITV_MAX || waiters == 0 {
        return Err(Errno::EINVAL.into());
    }
    let deadline = match timeout {
        0 => None,
        timeout => {
            let clock = match clock as i32 {
                0 => ClockId::Realtime,
                1 => ClockId::Monotonic,
                _ => return Err(Errno::EINVAL.into()),
            };
            Some(get_timespec(ctx.mem, timeout)?.saturating_sub(ctx.kernel.clock.start(clock)))
        }
    };
    let mut bytes = vec![0; count as usize * 24];
    copy_from_user(ctx.mem, waiters, &mut bytes)?;
    let mut words = Vec::new();
    for entry in bytes.chunks_exact(24) {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| entry[at * 8 + byte]));
        let (value, addr, flags, reserved) = (word(0), word(1), word(2) as u32, word(2) >> 32);
        let wide = value > u64::from(u32::MAX);
        if flags & !(FUTEX_32 | FUTEX_PRIVATE_FLAG) != 0 || flags & FUTEX_32 == 0 || reserved != 0 || wide {
            return Err(Errno::EINVAL.into());
        }
        words.push((value as u32, addr, flags & FUTEX_PRIVATE_FLAG != 0));
    }
    let call = &ctx.kernel.task().call;
    if call.wake == Some(Wake::Event) {
        return Ok(call.done);
    }
    let mut keys = Vec::new();
    for (_, addr, private) in &words {
        keys.push(find(ctx, *addr, *private, false)?);
    }
    if !sleeps_on(ctx) {
        for ((word, _), (value, ..)) in keys.iter().zip(&words) {
            word.expect(ctx.mem, *value)?;
        }
    }
    let keys: Vec<FutexKey> = keys.into_iter().map(|(_, key)| key).collect();
    match sleep(ctx, "futex_waitv", &keys, FutexWait::new(Role::Waiter), deadline)? {
        Wake::Event => Ok(0),
        Wake::Timeout => Err(Errno::ETIMEDOUT.into()),
        Wake::Signal => Err(ctx.interrupted(Restart::WithFlag)),
    }
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
