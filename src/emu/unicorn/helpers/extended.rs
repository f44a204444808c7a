//! Rounding of the x87's results, and its arithmetic. The engine's raises a division by zero for
//! 0 / 0, does not record denormal operands, and knows only the results of masked exceptions
//! (Intel SDM vol. 1, 8.5).

use crate::emu::unicorn::helpers::env::{
    DENORMAL, Env, F80, INEXACT, INVALID, OVERFLOW, UNDERFLOW, ZERO_DIVIDE,
};
use crate::emu::unicorn::helpers::real::{INTEGER, MAX, SIGN, invalid, nan_of};
use crate::emu::unicorn::helpers::wide::Wide;
use crate::emu::unicorn::wrapped::replace;

pub(super) const BIAS: i32 = 16383;
pub(super) const F80_ONE: F80 = F80 { mantissa: INTEGER, top: BIAS as u16 };
/// Bits of a significand.
pub(super) const ALL_BITS: u32 = 64;
/// Power of two that brings a result back into range whose exception is not masked.
const ADJUSTMENT: i32 = 24576;
/// Rounding towards minus infinity, as the control word says it.
const DOWN: u16 = 1;

pub(super) fn wide(a: F80) -> Wide {
    let (mantissa, exponent) = a.parts();
    Wide { neg: a.is_negative(), exp: exponent - BIAS, man: u128::from(mantissa) << 64 }
}

pub(super) fn infinity(negative: bool) -> F80 {
    F80 { mantissa: INTEGER, top: if negative { SIGN | MAX } else { MAX } }
}

pub(super) fn zero(negative: bool) -> F80 {
    F80 { mantissa: 0, top: if negative { SIGN } else { 0 } }
}

/// Raises the denormal exception if an operand is one, or was one in memory.
pub(super) fn note_denormals(env: Env, operands: &[F80]) {
    if env.take_ft0_mark() || operands.iter().any(|a| a.is_denormal()) {
        env.raise_x87(DENORMAL);
    }
}

/// The rounding of the control word.
fn rounding(env: Env) -> u16 {
    env.fpuc() >> 10 & 3
}

/// Bits of the significand that the control word asks for.
fn precision(env: Env) -> u32 {
    match env.fpuc() >> 8 & 3 {
        0 => 24,
        2 => 53,
        _ => ALL_BITS,
    }
}

/// Rounds a significand to some of its first bits. The result has them at the top of 64, or one
/// more; the flag says that it is inexact.
fn cut(env: Env, negative: bool, man: u128, bits: u32) -> (u128, bool) {
    const HALF: u128 = 1 << 127;
    let (kept, rest) = (man >> (128 - bits), man << bits);
    let up = match rounding(env) {
        0 => rest > HALF || rest == HALF && kept & 1 != 0,
        DOWN => rest != 0 && negative,
        2 => rest != 0 && !negative,
        _ => false,
    };
    ((kept + u128::from(up)) << (64 - bits), rest != 0)
}

/// Rounds as [`cut`] does, and adds to the exponent what carries.
fn cut_normal(env: Env, value: Wide, bits: u32) -> (u64, i32, bool) {
    let (kept, inexact) = cut(env, value.neg, value.man, bits);
    if kept >> 64 != 0 {
        return (INTEGER, value.exp + 1, inexact);
    }
    (kept as u64, value.exp, inexact)
}

/// Rounds a number whose exponent is `below` that of the smallest normal one, as a multiple of
/// the smallest denormal one.
fn cut_tiny(env: Env, value: Wide, below: i32, bits: u32) -> (u64, bool) {
    let shift = below.min(127);
    let man = value.man >> shift | u128::from(shift > 0 && value.man << (128 - shift) != 0);
    let (kept, inexact) = cut(env, value.neg, man, bits);
    (kept as u64, inexact)
}

/// True where a result that is too large becomes infinite.
fn overflows_to_infinity(env: Env, negative: bool) -> bool {
    match rounding(env) {
        0 => true,
        DOWN => negative,
        2 => !negative,
        _ => false,
    }
}

/// Rounds a result to an extended real with so many bits, and raises its exceptions.
pub(super) fn round(env: Env, value: Wide, bits: u32) -> F80 {
    let negative = value.neg;
    if value.is_zero() {
        return zero(negative);
    }
    let inexact_too = |inexact: bool| if inexact { INEXACT } else { 0 };
    let unmasked = !env.fpuc() as u8;
    let sign = if negative { SIGN } else { 0 };
    let (mut kept, exp, mut inexact) = cut_normal(env, value, bits);
    let mut exp = exp + BIAS;
    let mut raised = 0;
    if exp >= i32::from(MAX) {
        raised = OVERFLOW;
        if unmasked & OVERFLOW == 0 {
            env.raise_x87(OVERFLOW | INEXACT);
            let largest = F80 { mantissa: u64::MAX << (64 - bits), top: sign | (MAX - 1) };
            return if overflows_to_infinity(env, negative) { infinity(negative) } else { largest };
        }
        exp -= ADJUSTMENT;
        if exp >= i32::from(MAX) {
            env.raise_x87(OVERFLOW | INEXACT);
            return infinity(negative);
        }
    } else if exp < 1 && unmasked & UNDERFLOW == 0 {
        (kept, inexact) = cut_tiny(env, value, 1 - (value.exp + BIAS), bits);
        raised = if inexact { UNDERFLOW } else { 0 };
        exp = i32::from(kept & INTEGER != 0);
    } else if exp < 1 {
        raised = UNDERFLOW;
        exp += ADJUSTMENT;
        if exp < 1 {
            env.raise_x87(UNDERFLOW | INEXACT);
            return zero(negative);
        }
    }
    env.raise_x87(raised | inexact_too(inexact));
    F80 { mantissa: kept, top: sign | exp as u16 }
}

/// A format that numbers are stored in.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// Bits of a significand, its first included.
    bits: u32,
    /// The exponent of infinities.
    max: i32,
}

pub(super) const SINGLE: Format = Format { bits: 24, max: 0xff };
pub(super) const DOUBLE: Format = Format { bits: 53, max: 0x7ff };

impl Format {
    fn number(self, negative: bool, exponent: i32, fraction: u64) -> u64 {
        let sign = u64::from(negative) * (self.max as u64 + 1);
        (sign | exponent as u64) << (self.bits - 1) | fraction & ((1 << (self.bits - 1)) - 1)
    }

    /// Converts a number to be stored, and raises the exceptions. After one that is not masked the
    /// result is of no use.
    pub(super) fn narrow(self, env: Env, a: F80) -> u64 {
        let negative = a.is_negative();
        let Format { bits, max } = self;
        if a.is_unsupported() {
            env.raise_x87(INVALID);
            return self.number(true, max, 1 << (bits - 2));
        }
        if a.is_nan() {
            if a != a.quieted() {
                env.raise_x87(INVALID);
            }
            return self.number(negative, max, a.quieted().mantissa >> (64 - bits));
        }
        if a.is_infinite() || a.is_zero() {
            return self.number(negative, if a.is_zero() { 0 } else { max }, 0);
        }
        let value = wide(a);
        let unmasked = !env.fpuc() as u8;
        let bias = max / 2;
        let (mut kept, exp, mut inexact) = cut_normal(env, value, bits);
        let mut exp = exp + bias;
        if exp >= max {
            if unmasked & OVERFLOW != 0 {
                env.raise_x87(OVERFLOW);
                return 0;
            }
            env.raise_x87(OVERFLOW | INEXACT);
            let largest = self.number(negative, max - 1, u64::MAX);
            return if overflows_to_infinity(env, negative) {
                self.number(negative, max, 0)
            } else {
                largest
            };
        }
        if exp < 1 {
            if unmasked & UNDERFLOW != 0 {
                env.raise_x87(UNDERFLOW);
                return 0;
            }
            (kept, inexact) = cut_tiny(env, value, 1 - (value.exp + bias), bits);
            exp = i32::from(kept & INTEGER != 0);
            if inexact {
                env.raise_x87(UNDERFLOW);
            }
        }
        if inexact {
            env.raise_x87(INEXACT);
        }
        self.number(negative, exp, kept >> (64 - bits))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
}

fn compute(env: Env, op: Op, a: F80, b: F80) -> F80 {
    if a.is_unsupported() || b.is_unsupported() {
        return invalid(env);
    }
    if a.is_nan() || b.is_nan() {
        return nan_of(env, a, b);
    }
    let b = if op == Op::Sub { F80 { top: b.top ^ SIGN, ..b } } else { b };
    match op {
        Op::Add | Op::Sub => sum(env, a, b),
        Op::Mul => product(env, a, b),
        Op::Div => quotient(env, a, b),
    }
}

fn sum(env: Env, a: F80, b: F80) -> F80 {
    if a.is_infinite() && b.is_infinite() && a != b {
        return invalid(env);
    }
    note_denormals(env, &[a, b]);
    if a.is_infinite() || b.is_infinite() {
        return if a.is_infinite() { a } else { b };
    }
    let value = wide(a).add(wide(b));
    if value.is_zero() {
        let negative = if a.is_zero() && a == b { a.is_negative() } else { rounding(env) == DOWN };
        return zero(negative);
    }
    round(env, value, precision(env))
}

fn product(env: Env, a: F80, b: F80) -> F80 {
    if a.is_infinite() && b.is_zero() || a.is_zero() && b.is_infinite() {
        return invalid(env);
    }
    note_denormals(env, &[a, b]);
    let negative = a.is_negative() != b.is_negative();
    if a.is_infinite() || b.is_infinite() {
        return infinity(negative);
    }
    if a.is_zero() || b.is_zero() {
        return zero(negative);
    }
    round(env, wide(a).mul(wide(b)), precision(env))
}

fn quotient(env: Env, a: F80, b: F80) -> F80 {
    if a.is_infinite() && b.is_infinite() || a.is_zero() && b.is_zero() {
        return invalid(env);
    }
    let negative = a.is_negative() != b.is_negative();
    if b.is_zero() && !a.is_infinite() {
        env.raise_x87(ZERO_DIVIDE);
        return infinity(negative);
    }
    note_denormals(env, &[a, b]);
    if a.is_infinite() || b.is_infinite() || a.is_zero() {
        return if a.is_infinite() { infinity(negative) } else { zero(negative) };
    }
    round(env, wide(a).ratio(wide(b)), precision(env))
}

fn square_root(env: Env, a: F80) -> F80 {
    if a.is_unsupported() {
        return invalid(env);
    }
    if a.is_nan() {
        return nan_of(env, a, a);
    }
    if a.is_zero() || a == infinity(false) {
        return a;
    }
    if a.is_negative() {
        return invalid(env);
    }
    note_denormals(env, &[a]);
    let (mantissa, exponent) = a.parts();
    let exponent = exponent - BIAS;
    let square = u128::from(mantissa) << (63 + (exponent & 1));
    let root = square.isqrt();
    let rest = square - root * root;
    // Whether the next bit is set, and whether there are more; a root is never half-way.
    let next = u128::from(rest > root) << 63 | u128::from(rest != 0);
    round(env, Wide { neg: false, exp: exponent >> 1, man: root << 64 | next }, precision(env))
}

/// Defines the two helpers of an operation: on ST(0) and FT0, and on ST(i) and ST(0). With
/// `reverse` the second operand comes first.
macro_rules! arithmetic {
    ($($st0:ident, $stn:ident => $op:ident $(, $reverse:ident)?;)*) => { $(
        replace! {
            fn $st0(env: Env) {
                env.set_st(0, in_order!($op(env, env.st(0), env.ft0()) $($reverse)?));
                env.take_ft0_mark();
            }
            fn $stn(env: Env, index: i32) {
                let index = index as usize;
                env.set_st(index, in_order!($op(env, env.st(index), env.st(0)) $($reverse)?));
            }
        }
    )* };
}

macro_rules! in_order {
    ($op:ident($env:expr, $a:expr, $b:expr)) => {
        compute($env, Op::$op, $a, $b)
    };
    ($op:ident($env:expr, $a:expr, $b:expr) reverse) => {
        compute($env, Op::$op, $b, $a)
    };
}

arithmetic! {
    helper_fadd_ST0_FT0, helper_fadd_STN_ST0 => Add;
    helper_fsub_ST0_FT0, helper_fsub_STN_ST0 => Sub;
    helper_fsubr_ST0_FT0, helper_fsubr_STN_ST0 => Sub, reverse;
    helper_fmul_ST0_FT0, helper_fmul_STN_ST0 => Mul;
    helper_fdiv_ST0_FT0, helper_fdiv_STN_ST0 => Div;
    helper_fdivr_ST0_FT0, helper_fdivr_STN_ST0 => Div, reverse;
}

replace! {
    fn helper_fsqrt(env: Env) {
        env.set_st(0, square_root(env, env.st(0)));
    }
}
