//! FSIN, FCOS, FSINCOS, FPTAN, FPATAN, F2XM1, FYL2X and FYL2XP1, correctly rounded to all 64 bits,
//! where the engine uses the host's C library for doubles. CPUs may differ in the last bit, from
//! each other too. Angles are reduced by the pi of 66 bits of Intel's CPUs (Intel SDM vol. 1,
//! section 8.3.8).

use crate::emu::unicorn::helpers::env::{Env, F80, INEXACT, ZERO_DIVIDE};
use crate::emu::unicorn::helpers::extended::{
    ALL_BITS, BIAS, F80_ONE, infinity, note_denormals, round as round_to, wide, zero,
};
use crate::emu::unicorn::helpers::real::{INTEGER, MAX, SIGN, invalid, nan_of};
use crate::emu::unicorn::helpers::wide::{ONE, PI, Wide};
use crate::emu::unicorn::helpers::x87::{C1, C2};
use crate::emu::unicorn::wrapped::replace;

/// Rounds to an extended real, by the control word's rounding but not its precision.
fn round(env: Env, value: Wide) -> F80 {
    round_to(env, value, ALL_BITS)
}

/// Reduces a finite number below 2^63, other than zero, to an angle near zero and a number of
/// quarter turns.
fn reduce(a: F80) -> (Wide, u64) {
    /// Half of pi, in units of 2^-67.
    const HALF_PI: u128 = 0xc_90fd_aa22_168c_234c;
    let (mantissa, exponent) = a.parts();
    let exp = exponent - BIAS;
    if exp < -1 {
        return (wide(a), 0);
    }
    let (mut rest, mut quarters) = (u128::from(mantissa), 0u64);
    for _ in 0..exp + 4 {
        rest <<= 1;
        quarters <<= 1;
        if rest >= HALF_PI {
            rest -= HALF_PI;
            quarters |= 1;
        }
    }
    let back = rest > HALF_PI / 2;
    if back {
        rest = HALF_PI - rest;
        quarters = quarters.wrapping_add(1);
    }
    if a.is_negative() {
        quarters = quarters.wrapping_neg();
    }
    if rest == 0 {
        return (ONE.scaled(-66 - 63), quarters);
    }
    let shift = rest.leading_zeros();
    let neg = back != a.is_negative();
    (Wide { neg, exp: 127 - shift as i32 - 67, man: rest << shift }, quarters)
}

fn sine((angle, quarters): (Wide, u64)) -> Wide {
    let value = if quarters & 1 == 0 { angle.sin() } else { angle.cos() };
    if quarters & 2 == 0 { value } else { value.negated() }
}

fn cosine((angle, quarters): (Wide, u64)) -> Wide {
    sine((angle, quarters.wrapping_add(1)))
}

/// Runs a function of an angle, whose second result is pushed if `pushes`. For an angle out of
/// range, only sets C2.
fn of_angle(env: Env, pushes: bool, at_zero: (F80, F80), f: impl Fn(F80) -> (F80, F80)) {
    let a = env.st(0);
    let mut fpus = env.fpus() & !(C1 | C2);
    if a.exponent() >= (BIAS + 63) as u16 && a.exponent() != MAX {
        fpus |= C2;
        return env.set_fpus(fpus);
    }
    env.set_fpus(fpus);
    let (first, second) = if a.is_nan() {
        let nan = nan_of(env, a, a);
        (nan, nan)
    } else if a.is_infinite() {
        let none = invalid(env);
        (none, none)
    } else if a.is_zero() {
        at_zero
    } else {
        note_denormals(env, &[a]);
        f(a)
    };
    env.set_st(0, first);
    if pushes {
        env.push(second);
    }
}

/// The angle whose tangent is `y / x`, in the quadrant of the two.
fn arc_tangent(env: Env, y: F80, x: F80) -> F80 {
    if y.is_nan() || x.is_nan() {
        return nan_of(env, y, x);
    }
    note_denormals(env, &[x, y]);
    let (neg, left) = (y.is_negative(), x.is_negative());
    let turned = |angle: Wide| {
        let angle = if left { PI.sub(angle) } else { angle };
        round(env, angle.with_sign(neg))
    };
    if y.is_zero() || x.is_infinite() && !y.is_infinite() {
        return if left { round(env, PI.with_sign(neg)) } else { zero(neg) };
    }
    if y.is_infinite() && x.is_infinite() {
        return turned(PI.scaled(-2));
    }
    if y.is_infinite() || x.is_zero() {
        return round(env, PI.scaled(-1).with_sign(neg));
    }
    let (y, x) = (wide(y).with_sign(false), wide(x).with_sign(false));
    turned(if y.is_larger(x) { PI.scaled(-1).sub(x.div(y).atan()) } else { y.div(x).atan() })
}

fn power_minus_one(env: Env, a: F80) -> F80 {
    if a.is_nan() {
        return nan_of(env, a, a);
    }
    if a.is_zero() || a == F80_ONE || a == infinity(false) {
        return a;
    }
    if a == infinity(true) {
        return F80 { mantissa: INTEGER, top: SIGN | F80_ONE.top };
    }
    if a.mantissa == INTEGER && a.exponent() == F80_ONE.top {
        return F80 { mantissa: INTEGER, top: SIGN | (F80_ONE.top - 1) };
    }
    if a.exponent() >= F80_ONE.top {
        // The manual leaves the result undefined; CPUs give this.
        env.raise_x87(INEXACT);
        return a;
    }
    note_denormals(env, &[a]);
    round(env, wide(a).exp2_minus_1())
}

/// A logarithm, which is infinite at the ends of its range.
enum Logarithm {
    None,
    Zero { negative: bool },
    Infinite { negative: bool, divides: bool },
    Finite(Wide),
}

fn times(env: Env, y: F80, log: Logarithm) -> F80 {
    let neg = y.is_negative();
    match log {
        Logarithm::None => invalid(env),
        Logarithm::Zero { .. } if y.is_infinite() => invalid(env),
        Logarithm::Zero { negative } => zero(neg != negative),
        Logarithm::Infinite { .. } if y.is_zero() => invalid(env),
        Logarithm::Infinite { negative, divides } => {
            if divides && !y.is_infinite() {
                env.raise_x87(ZERO_DIVIDE);
            }
            infinity(neg != negative)
        }
        Logarithm::Finite(log) if y.is_infinite() => infinity(neg != log.neg),
        Logarithm::Finite(log) if y.is_zero() => zero(neg != log.neg),
        Logarithm::Finite(log) => round(env, wide(y).mul(log)),
    }
}

fn logarithm(x: F80) -> Logarithm {
    if x.is_zero() {
        return Logarithm::Infinite { negative: true, divides: true };
    }
    if x.is_negative() {
        return Logarithm::None;
    }
    if x.is_infinite() {
        return Logarithm::Infinite { negative: false, divides: false };
    }
    let log = wide(x).log2();
    if log.is_zero() { Logarithm::Zero { negative: false } } else { Logarithm::Finite(log) }
}

fn logarithm_of_1_plus(x: F80) -> Logarithm {
    if x.is_zero() {
        return Logarithm::Zero { negative: x.is_negative() };
    }
    if x.is_infinite() && !x.is_negative() {
        return Logarithm::Infinite { negative: false, divides: false };
    }
    let x = wide(x);
    if x.exp < -1 {
        return Logarithm::Finite(x.log2_of_1_plus());
    }
    let sum = ONE.add(x);
    if sum.neg || sum.is_zero() { Logarithm::None } else { Logarithm::Finite(sum.log2()) }
}

/// Replaces ST(1) by a function of it and ST(0), and pops.
fn combine(env: Env, f: impl Fn(F80, F80) -> F80) {
    env.set_fpus(env.fpus() & !C1);
    let value = f(env.st(1), env.st(0));
    env.set_st(1, value);
    env.set_empty(0, true);
    env.set_top(env.top() + 1);
}

fn product(env: Env, y: F80, x: F80, log: fn(F80) -> Logarithm) -> F80 {
    if y.is_nan() || x.is_nan() {
        return nan_of(env, y, x);
    }
    note_denormals(env, &[x, y]);
    times(env, y, log(x))
}

/// FYL2XP1. Below -1 the manual leaves the result undefined; CPUs give the operand.
fn product_of_1_plus(env: Env, y: F80, x: F80) -> F80 {
    let below = x.is_negative() && !x.is_nan() && (x.exponent(), x.mantissa) > (F80_ONE.top, INTEGER);
    if below && !x.is_infinite() && y.is_infinite() {
        return infinity(!y.is_negative());
    }
    if below && !x.is_infinite() && !y.is_nan() {
        env.raise_x87(INEXACT);
        return x;
    }
    product(env, y, x, logarithm_of_1_plus)
}

replace! {
    fn helper_fsin(env: Env) {
        of_angle(env, false, (env.st(0), F80_ONE), |a| (round(env, sine(reduce(a))), F80_ONE));
    }

    fn helper_fcos(env: Env) {
        of_angle(env, false, (F80_ONE, F80_ONE), |a| (round(env, cosine(reduce(a))), F80_ONE));
    }

    fn helper_fsincos(env: Env) {
        of_angle(env, true, (env.st(0), F80_ONE), |a| {
            let angle = reduce(a);
            (round(env, sine(angle)), round(env, cosine(angle)))
        });
    }

    fn helper_fptan(env: Env) {
        of_angle(env, true, (env.st(0), F80_ONE), |a| {
            let angle = reduce(a);
            (round(env, sine(angle).div(cosine(angle))), F80_ONE)
        });
    }

    fn helper_fpatan(env: Env) {
        combine(env, |y, x| arc_tangent(env, y, x));
    }

    fn helper_f2xm1(env: Env) {
        env.set_fpus(env.fpus() & !C1);
        env.set_st(0, power_minus_one(env, env.st(0)));
    }

    fn helper_fyl2x(env: Env) {
        combine(env, |y, x| product(env, y, x, logarithm));
    }

    fn helper_fyl2xp1(env: Env) {
        combine(env, |y, x| product_of_1_plus(env, y, x));
    }
}
