//! x87 instructions that the engine computes in double precision, or without regard to infinities,
//! NaNs, the control word or the range of the result (Intel SDM vol. 1, chapter 8, and vol. 2).

use crate::emu::unicorn::helpers::env::{DENORMAL, Env, F80, INVALID, Status, ZERO_DIVIDE};
use crate::emu::unicorn::helpers::extended::{ALL_BITS, BIAS, DOUBLE, SINGLE, note_denormals, round, wide};
use crate::emu::unicorn::helpers::probe_store;
use crate::emu::unicorn::helpers::real::{INTEGER, MAX, SIGN, invalid, nan_of};
use crate::emu::unicorn::helpers::wide::Wide;
use crate::emu::unicorn::wrapped::{real, replace, replace_after, replace_faulting};

/// The condition codes C0, C1, C2 and C3 of the status word.
const C0: u16 = 0x100;
pub(super) const C1: u16 = 0x200;
pub(super) const C2: u16 = 0x400;
const C3: u16 = 0x4000;

unsafe extern "C" {
    fn floatx80_to_int32_x86_64(a: F80, status: *mut Status) -> i32;
    fn floatx80_to_int32_round_to_zero_x86_64(a: F80, status: *mut Status) -> i32;
    fn floatx80_to_int64_x86_64(a: F80, status: *mut Status) -> i64;
    fn floatx80_to_int64_round_to_zero_x86_64(a: F80, status: *mut Status) -> i64;
    fn cpu_lduw_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u32;
    fn cpu_ldq_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u64;
    fn cpu_stq_data_ra_x86_64(env: Env, address: u64, value: u64, retaddr: usize);
    fn cpu_stw_data_ra_x86_64(env: Env, address: u64, value: u32, retaddr: usize);
}

/// Runs an operation of the engine and returns what it raised beside its result, recording nothing.
fn apart<T>(env: Env, f: impl FnOnce(*mut Status) -> T) -> (T, u8) {
    let status = env.x87();
    // SAFETY: as for all of `Env`.
    unsafe {
        let before = std::mem::take(&mut (*status).flags);
        let value = f(status);
        let raised = std::mem::replace(&mut (*status).flags, before);
        (value, raised)
    }
}

/// FPREM, or with `nearest` FPREM1.
fn remainder(env: Env, nearest: bool) {
    let (a, b) = (env.st(0), env.st(1));
    if a.is_nan() || b.is_nan() || a.is_infinite() || b.is_zero() {
        env.set_fpus(env.fpus() & !(C1 | C2));
        let nan = if a.is_nan() || b.is_nan() { nan_of(env, a, b) } else { invalid(env) };
        return env.set_st(0, nan);
    }
    let mut fpus = env.fpus() & !(C0 | C1 | C2 | C3);
    if a.is_denormal() || b.is_denormal() {
        fpus |= u16::from(DENORMAL);
    }
    let rest =
        if a.is_zero() || b.is_infinite() { wide(a) } else { finite_remainder(a, b, nearest, &mut fpus) };
    env.set_fpus(fpus);
    // It is exact, but may be too small.
    env.set_st(0, round(env, if rest.is_zero() { rest.with_sign(a.is_negative()) } else { rest }, ALL_BITS));
}

fn finite_remainder(a: F80, b: F80, nearest: bool, fpus: &mut u16) -> Wide {
    let ((m, e), (n, f)) = (a.parts(), b.parts());
    let distance = e - f;
    if distance < -1 || distance < 0 && !nearest {
        return wide(a);
    }
    // Everything is doubled, so that half a divisor is an integer.
    let divisor = u128::from(n) << 1;
    let (mut rest, mut quotient) = (u128::from(m), 0u64);
    // Quotients of more than 64 bits take several instructions, of 32 to 63 bits each.
    let left = if distance < 64 { 0 } else { distance - (32 + distance % 32) };
    for _ in left..=distance {
        rest <<= 1;
        quotient <<= 1;
        if rest >= divisor {
            rest -= divisor;
            quotient |= 1;
        }
    }
    let mut negative = a.is_negative();
    if distance >= 64 {
        *fpus |= C2;
    } else {
        let double = rest << 1;
        if nearest && (double > divisor || double == divisor && quotient & 1 != 0) {
            rest = divisor - rest;
            negative = !negative;
            quotient = quotient.wrapping_add(1);
        }
        for (bit, code) in [(1, C1), (2, C3), (4, C0)] {
            if quotient & bit != 0 {
                *fpus |= code;
            }
        }
    }
    // The rest has up to 65 bits.
    Wide::of(negative, f + left - 1 + 64 - BIAS, rest)
}

macro_rules! on_stack {
    ($($symbol:ident => $body:expr;)*) => { $(
        replace! { fn $symbol(env: Env) { let run: fn(Env) = $body; run(env); } }
    )* };
}

on_stack! {
    helper_fprem => |env| remainder(env, false);
    helper_fprem1 => |env| remainder(env, true);
    helper_fscale => |env| env.set_st(0, scale(env, env.st(0), env.st(1)));
    helper_fxtract => extract;
    // Log2(10), log2(e), pi, log10(2) and ln(2), each with the significands below and above it.
    helper_fldl2t_ST0 => |env| constant(env, 0xd49a_784b_cd1b_8afe, 0x4000, false);
    helper_fldl2e_ST0 => |env| constant(env, 0xb8aa_3b29_5c17_f0bb, 0x3fff, true);
    helper_fldpi_ST0 => |env| constant(env, 0xc90f_daa2_2168_c234, 0x4000, true);
    helper_fldlg2_ST0 => |env| constant(env, 0x9a20_9a84_fbcf_f798, 0x3ffd, true);
    helper_fldln2_ST0 => |env| constant(env, 0xb172_17f7_d1cf_79ab, 0x3ffe, true);
}

/// Loads a constant whose significand lies between `below` and the next, and is nearer to that if
/// `nearer`.
fn constant(env: Env, below: u64, top: u16, nearer: bool) {
    let up = match env.fpuc() >> 10 & 3 {
        0 => nearer,
        2 => true,
        _ => false,
    };
    env.set_st(0, F80 { mantissa: below + u64::from(up), top });
}

fn scale(env: Env, a: F80, by: F80) -> F80 {
    if a.is_nan() || by.is_nan() {
        return nan_of(env, a, by);
    }
    let is_none = |by: F80| if by.is_negative() { a.is_infinite() } else { a.is_zero() };
    if by.is_infinite() && is_none(by) {
        return invalid(env);
    }
    note_denormals(env, &[a, by]);
    if by.is_infinite() {
        return match by.is_negative() {
            true => F80 { mantissa: 0, top: a.top & SIGN },
            false => F80 { mantissa: INTEGER, top: a.top & SIGN | MAX },
        };
    }
    // Truncated; all that exceed the range of exponents have the same effect.
    let magnitude = match i32::from(by.exponent()) - 16383 {
        ..0 => 0,
        power @ 0..=16 => (by.mantissa >> (63 - power)) as i32,
        _ => 0x1_0000,
    };
    let n = if by.is_negative() { -magnitude } else { magnitude };
    if a.is_infinite() || a.is_zero() {
        return a;
    }
    // Precision control does not matter here.
    round(env, wide(a).scaled(n), ALL_BITS)
}

/// FXTRACT: replaces ST(0) by its exponent and pushes its significand.
fn extract(env: Env) {
    let a = env.st(0);
    let (exponent, significand) = if a.is_nan() {
        let nan = nan_of(env, a, a);
        (nan, nan)
    } else if a.is_infinite() {
        (F80 { top: MAX, ..a }, a)
    } else if a.is_zero() {
        env.raise_x87(ZERO_DIVIDE);
        (F80 { mantissa: INTEGER, top: SIGN | MAX }, a)
    } else {
        if a.is_denormal() {
            env.raise_x87(DENORMAL);
        }
        let (mantissa, exponent) = a.parts();
        (F80::from_int(exponent - 16383), F80 { mantissa, top: a.top & SIGN | 16383 })
    };
    env.set_st(0, exponent);
    env.push(significand);
}

/// Checks a converted integer against its range, and returns the indefinite integer if it is
/// outside.
fn integer(env: Env, (value, raised): (i64, u8), low: i64, high: i64) -> i64 {
    if raised & INVALID != 0 || !(low..=high).contains(&value) {
        env.raise_x87(INVALID);
        return low;
    }
    env.raise_x87(raised);
    value
}

macro_rules! to_integer {
    ($($symbol:ident: $type:ident in $range:ident, $convert:ident;)*) => { $(
        replace! {
            fn $symbol(env: Env) -> $type {
                env.collect_x87();
                let a = env.st(0);
                // SAFETY: the engine's function gets its own `float_status`.
                let got = apart(env, |status| unsafe { i64::from($convert(a, status)) });
                integer(env, got, i64::from($range::MIN), i64::from($range::MAX)) as $type
            }
        }
    )* };
}

to_integer! {
    helper_fist_ST0: i32 in i16, floatx80_to_int32_x86_64;
    helper_fistl_ST0: i32 in i32, floatx80_to_int32_x86_64;
    helper_fistll_ST0: i64 in i64, floatx80_to_int64_x86_64;
    helper_fistt_ST0: i32 in i16, floatx80_to_int32_round_to_zero_x86_64;
    helper_fisttl_ST0: i32 in i32, floatx80_to_int32_round_to_zero_x86_64;
    helper_fisttll_ST0: i64 in i64, floatx80_to_int64_round_to_zero_x86_64;
}

replace_faulting! { helper_fbst_ST0 => fbst, return address in "rdx"; }

/// FBSTP: eighteen decimal digits and a sign.
unsafe extern "C" fn fbst(env: Env, address: u64, retaddr: usize) {
    const LARGEST: u64 = 999_999_999_999_999_999;
    env.collect_x87();
    let a = env.st(0);
    // SAFETY: the engine's function gets its own `float_status`.
    let (value, raised) = apart(env, |status| unsafe { floatx80_to_int64_x86_64(a, status) });
    let mut rest = value.unsigned_abs();
    let no_answer = raised & INVALID != 0 || rest > LARGEST;
    let mut digits: u128 = if a.is_negative() { 0x80 << 72 } else { 0 };
    for digit in 0..18 {
        digits |= u128::from(rest % 10) << (4 * digit);
        rest /= 10;
    }
    if no_answer {
        digits = 0xffff_c000 << 48;
    }
    let raised = if no_answer { INVALID } else { raised };
    let high = address.wrapping_add(8);
    // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
    unsafe {
        probe_store(env, address, 10, retaddr);
        if raised & INVALID & !env.fpuc() as u8 != 0 {
            // What is there stays.
            digits = u128::from(cpu_ldq_data_ra_x86_64(env, address, retaddr))
                | u128::from(cpu_lduw_data_ra_x86_64(env, high, retaddr)) << 64;
        }
        cpu_stq_data_ra_x86_64(env, address, digits as u64, retaddr);
        cpu_stw_data_ra_x86_64(env, high, (digits >> 64) as u32 & 0xffff, retaddr);
    }
    env.raise_x87(raised);
}

replace_after! { probe_fstt: helper_fstt_ST0 }

/// FSTP of ten bytes.
unsafe extern "C" fn probe_fstt(env: Env, address: u64, retaddr: usize) {
    // SAFETY: `retaddr` lies in generated code; nothing is to be dropped.
    unsafe { probe_store(env, address, 10, retaddr) }
}

// The engine copies the sixteen bytes of a register at once, for which the host's CPU waits if they
// were stored just before as ten.
replace! {
    fn helper_fmov_FT0_STN(env: Env, i: i32) {
        env.set_ft0(env.st(i as usize));
    }

    fn helper_fmov_ST0_STN(env: Env, i: i32) {
        env.set_st(0, env.st(i as usize));
    }

    fn helper_fmov_STN_ST0(env: Env, i: i32) {
        env.set_st(i as usize, env.st(0));
    }

    fn helper_fxchg_ST0_STN(env: Env, i: i32) {
        let (first, other) = (env.st(0), env.st(i as usize));
        env.set_st(0, other);
        env.set_st(i as usize, first);
    }
}

/// Defines helpers that compare as the engine's do, and record that an operand was denormal.
macro_rules! compares {
    ($($symbol:ident;)*) => { $(
        const _: () = {
            real!($symbol(env: Env));
            replace! {
                fn $symbol(env: Env) {
                    let (a, b) = (env.st(0), env.ft0());
                    // SAFETY: the argument is the engine's.
                    unsafe { real(env) }
                    if !a.is_nan() && !b.is_nan() {
                        note_denormals(env, &[a, b]);
                    }
                    env.take_ft0_mark();
                }
            }
        };
    )* };
}

compares! {
    helper_fcom_ST0_FT0;
    helper_fucom_ST0_FT0;
}

/// Defines helpers that compare likewise, set ZF, PF and CF as the engine's, and clear the other
/// status flags.
macro_rules! compares_to_flags {
    ($($symbol:ident;)*) => { $(
        const _: () = {
            real!($symbol(env: Env));
            replace! {
                fn $symbol(env: Env) {
                    let (a, b) = (env.st(0), env.ft0());
                    // SAFETY: the argument is the engine's.
                    unsafe { real(env) }
                    env.set_flags(env.flags() & 0x45);
                    if !a.is_nan() && !b.is_nan() {
                        note_denormals(env, &[a, b]);
                    }
                }
            }
        };
    )* };
}

compares_to_flags! {
    helper_fcomi_ST0_FT0;
    helper_fucomi_ST0_FT0;
}

const _: () = {
    real!(helper_frndint(env: Env));
    replace! {
        fn helper_frndint(env: Env) {
            note_denormals(env, &[env.st(0)]);
            // SAFETY: the argument is the engine's.
            unsafe { real(env) }
        }
    }
};

/// Defines helpers that load a number, record that it is denormal, and make a signalling NaN a
/// quiet one.
macro_rules! loads {
    ($($symbol:ident($bits:ident, $float:ident);)*) => { $(
        const _: () = {
            real!($symbol(env: Env, value: $bits));
            replace! {
                fn $symbol(env: Env, value: $bits) {
                    // SAFETY: the arguments are the engine's.
                    unsafe { real(env, value) }
                    if $float::from_bits(value).is_subnormal() {
                        env.raise_x87(DENORMAL);
                    }
                    let loaded = env.st(0);
                    if loaded.is_nan() {
                        env.set_st(0, loaded.quieted());
                    }
                }
            }
        };
    )* };
}

loads! {
    helper_flds_ST0(u32, f32);
    helper_fldl_ST0(u64, f64);
}

/// Defines helpers that load the operand of an operation to come.
macro_rules! operands {
    ($($symbol:ident($bits:ident, $float:ident);)*) => { $(
        const _: () = {
            real!($symbol(env: Env, value: $bits));
            replace! {
                fn $symbol(env: Env, value: $bits) {
                    // SAFETY: the arguments are the engine's.
                    unsafe { real(env, value) }
                    if $float::from_bits(value).is_subnormal() {
                        env.mark_ft0();
                    }
                }
            }
        };
    )* };
}

operands! {
    helper_flds_FT0(u32, f32);
    helper_fldl_FT0(u64, f64);
}

replace! {
    fn helper_fsts_ST0(env: Env) -> u32 {
        env.collect_x87();
        SINGLE.narrow(env, env.st(0)) as u32
    }
    fn helper_fstl_ST0(env: Env) -> u64 {
        env.collect_x87();
        DOUBLE.narrow(env, env.st(0))
    }
}
