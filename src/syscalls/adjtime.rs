//! adjtimex(2) and clock_adjtime(2).

use crate::abi::capability::CAP_SYS_TIME;
use crate::abi::errno::Errno;
use crate::abi::time::*;
use crate::kernel::clock::ClockId;
use crate::kernel::uaccess::{get_words, put_words};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, partial};
use crate::syscalls::time::{is_of_device, set_realtime};

const PACE: &str = "sets the time, its errors, status and TAI; EPERM for another pace or a leap second";

/// The calls of this file.
pub(super) const ROWS: &[Row] =
    &[partial(159, "adjtimex", adjtimex, PACE), partial(305, "clock_adjtime", clock_adjtime, PACE)];

/// Words of a `struct timex`.
const WORDS: usize = 26;
/// Words of it by their fields.
mod word {
    pub(super) const OFFSET: usize = 1;
    pub(super) const FREQ: usize = 2;
    pub(super) const MAXERROR: usize = 3;
    pub(super) const ESTERROR: usize = 4;
    pub(super) const STATUS: usize = 5;
    pub(super) const CONSTANT: usize = 6;
    pub(super) const SEC: usize = 9;
    pub(super) const USEC: usize = 10;
    pub(super) const TICK: usize = 11;
    pub(super) const TAI: usize = 20;
}

/// Result of a clock that is in step, and of one that is not.
const TIME_OK: u64 = 0;
const TIME_ERROR: u64 = 5;
/// Microseconds of a tick of the clock.
const TICK_USEC: u64 = USEC_PER_SEC / CLK_TCK;
const TOLERANCE: u64 = 500 << 16;
const MAX_TAI: i64 = 100_000;
/// Largest number of ADJ_FREQUENCY either way, `LLONG_MAX / PPM_SCALE`.
const MAX_FREQ: i64 = i64::MAX / 65_536;

/// Checks what is asked for, `timekeeping_validate_timex`: EPERM, EINVAL.
fn check(ctx: &Ctx, modes: u32, words: &[u64; WORDS]) -> Result<(), Errno> {
    if modes & ADJ_ADJTIME != 0 && modes & ADJ_OFFSET == 0 {
        return Err(Errno::EINVAL);
    }
    let only_asks =
        modes == 0 || modes & (ADJ_ADJTIME | ADJ_OFFSET_READONLY) == ADJ_ADJTIME | ADJ_OFFSET_READONLY;
    if !only_asks || modes & ADJ_SETOFFSET != 0 {
        ctx.kernel.task().cred.require(CAP_SYS_TIME)?;
    }
    let tick = words[word::TICK] as i64;
    let hz = CLK_TCK as i64;
    if modes & (ADJ_ADJTIME | ADJ_TICK) == ADJ_TICK && !(900_000 / hz..=1_100_000 / hz).contains(&tick) {
        return Err(Errno::EINVAL);
    }
    let part = if modes & ADJ_NANO != 0 { NSEC_PER_SEC } else { USEC_PER_SEC };
    if modes & ADJ_SETOFFSET != 0 && words[word::USEC] >= part {
        return Err(Errno::EINVAL);
    }
    let freq = words[word::FREQ] as i64;
    if modes & ADJ_FREQUENCY != 0 && !(-MAX_FREQ..=MAX_FREQ).contains(&freq) {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// Tells if a change would give the clock another pace, or a second more or less.
fn changes_pace(modes: u32, status: u32, words: &[u64; WORDS]) -> bool {
    if modes & ADJ_ADJTIME != 0 {
        return modes & ADJ_OFFSET_READONLY == 0 && words[word::OFFSET] != 0;
    }
    let status = if modes & ADJ_STATUS != 0 { words[word::STATUS] as u32 } else { status };
    modes & ADJ_FREQUENCY != 0 && words[word::FREQ] != 0
        || modes & ADJ_TICK != 0 && words[word::TICK] != TICK_USEC
        || modes & ADJ_OFFSET != 0 && status & STA_PLL != 0 && words[word::OFFSET] != 0
        || status & (STA_INS | STA_DEL) != 0
}

/// adjtimex(2).
fn adjtimex(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    let mut words: [u64; WORDS] = get_words(ctx.mem, addr)?;
    let modes = words[0] as u32;
    check(ctx, modes, &words)?;
    if changes_pace(modes, ctx.kernel.clock.ntp.status, &words) {
        ctx.kernel.notices.once("adjtimex: the clock's pace cannot be changed: answered with EPERM".into());
        return Err(Errno::EPERM.into());
    }
    if modes & ADJ_SETOFFSET != 0 {
        let part = if modes & ADJ_NANO != 0 { 1 } else { 1000 };
        let now = ctx.kernel.clock.realtime_ns(ctx.cpu.instructions());
        let by = i128::from(words[word::SEC] as i64) * i128::from(NSEC_PER_SEC)
            + i128::from(words[word::USEC] * part);
        let to = u64::try_from(i128::from(now) + by).map_err(|_| Errno::EINVAL)?;
        set_realtime(ctx, to / NSEC_PER_SEC, to % NSEC_PER_SEC)?;
    }
    let instructions = ctx.cpu.instructions();
    let second = ctx.kernel.clock.monotonic_ns(instructions) / NSEC_PER_SEC;
    let ntp = &mut ctx.kernel.clock.ntp;
    let grown = ntp.max_error(second);
    ntp.set_max_error(grown, second);
    if modes & ADJ_ADJTIME == 0 {
        let signed = |at: usize| words[at] as i64;
        if modes & ADJ_STATUS != 0 {
            ntp.set_status(words[word::STATUS] as u32);
        }
        if modes & ADJ_NANO != 0 {
            ntp.status |= STA_NANO;
        }
        if modes & ADJ_MICRO != 0 {
            ntp.status &= !STA_NANO;
        }
        if modes & ADJ_MAXERROR != 0 {
            ntp.set_max_error(signed(word::MAXERROR), second);
        }
        if modes & ADJ_ESTERROR != 0 {
            ntp.set_error(signed(word::ESTERROR));
        }
        if modes & ADJ_TIMECONST != 0 {
            ntp.set_constant(signed(word::CONSTANT));
        }
        if modes & ADJ_TAI != 0 && (0..=MAX_TAI).contains(&signed(word::CONSTANT)) {
            ntp.tai = signed(word::CONSTANT) as i32;
        }
    }
    let max_error = ntp.max_error(second) as u64;
    let (error, status, constant, tai) = (ntp.error as u64, ntp.status, ntp.constant as u64, ntp.tai);
    let ns = ctx.kernel.clock.realtime_ns(instructions);
    let nano = status & STA_NANO != 0;
    let part = if nano { ns % NSEC_PER_SEC } else { ns % NSEC_PER_SEC / 1000 };
    words[1..].fill(0);
    words[word::MAXERROR..=8].copy_from_slice(&[max_error, error, status.into(), constant, 1, TOLERANCE]);
    words[word::SEC..=word::TICK].copy_from_slice(&[ns / NSEC_PER_SEC, part, TICK_USEC]);
    words[word::TAI] = u64::from(tai as u32);
    put_words(ctx.mem, addr, &words)?;
    Ok(if status & STA_UNSYNC != 0 { TIME_ERROR } else { TIME_OK })
}

/// clock_adjtime(2).
fn clock_adjtime(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    get_words::<WORDS>(ctx.mem, addr)?;
    if is_of_device(id) {
        return Err(Errno::EINVAL.into());
    }
    let alarm = matches!(id as i32, CLOCK_REALTIME_ALARM | CLOCK_BOOTTIME_ALARM);
    if id as i32 >= 0 && !alarm {
        ClockId::find(id, ctx.kernel.shown_pid(ctx.kernel.process().pid))?;
    }
    if id as i32 != 0 {
        return Err(Errno::EOPNOTSUPP.into());
    }
    adjtimex(ctx, [addr, 0, 0, 0, 0, 0])
}
