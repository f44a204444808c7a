//! SSE arithmetic. The engine's returns the wrong one of two NaNs, does not flush tiny results to
//! zero, adds the products of DPPS in the wrong order, and does not record that an operand was
//! denormal.
//!
//! Ordinary operands use the host's arithmetic, which IEEE 754 makes the same everywhere. The
//! others, and the first inexact result after the program has cleared MXCSR's flag for it, use the
//! engine's soft float.

use std::cmp::Ordering;

use crate::emu::unicorn::helpers::env::{
    DAZ, DENORMAL, Env, FTZ, INEXACT, INVALID, Lanes, OVERFLOW, OVERFLOW_MASKED, Status, UNDERFLOW,
    UNDERFLOW_MASKED, V, read, write,
};
use crate::emu::unicorn::helpers::wide::Wide;
use crate::emu::unicorn::vcpu::current;

/// Fields of `float_status`, as one word, and their usual values: rounding to nearest, an inexact
/// result before. Whether denormals are flushed matters to none that is ordinary.
const USUAL_MASK: u64 = 0x0020_ff00;
const USUAL: u64 = 0x0020_0000;

/// Tests whether the host's arithmetic may be used for an operation with an ordinary result.
#[inline(always)]
fn is_usual(env: Env) -> bool {
    // SAFETY: `Status` is eight bytes long and lies at a multiple of eight.
    unsafe { *env.sse().cast::<u64>() & USUAL_MASK == USUAL }
}

/// Tests the same for an operation that is exact, for which no result needs to have been inexact
/// before.
#[inline(always)]
fn is_usual_if_exact(env: Env) -> bool {
    // SAFETY: as above.
    unsafe { *env.sse().cast::<u64>() & USUAL_MASK & !USUAL == 0 }
}

/// Order of two numbers, as the flags have it after UCOMISD.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Less = 1,
    Equal = 0x40,
    Greater = 0,
    Unordered = 0x45,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
}

macro_rules! format {
    ($module:ident, $float:ident, $bits:ident, $mantissa:expr, $add:ident, $sub:ident, $mul:ident, $div:ident, $sqrt:ident) => {
        pub(super) mod $module {
            use super::*;

            unsafe extern "C" {
                fn $add(a: $bits, b: $bits, status: *mut Status) -> $bits;
                fn $sub(a: $bits, b: $bits, status: *mut Status) -> $bits;
                fn $mul(a: $bits, b: $bits, status: *mut Status) -> $bits;
                fn $div(a: $bits, b: $bits, status: *mut Status) -> $bits;
                fn $sqrt(a: $bits, status: *mut Status) -> $bits;
            }

            const SIGN: $bits = 1 << ($bits::BITS - 1);
            /// The smallest normal number.
            const NORMAL: $bits = 1 << $mantissa;
            const INFINITY: $bits = SIGN - NORMAL;
            const QUIET: $bits = NORMAL >> 1;

            pub(crate) fn is_nan(a: $bits) -> bool {
                a & !SIGN > INFINITY
            }

            fn is_signalling(a: $bits) -> bool {
                is_nan(a) && a & QUIET == 0
            }

            #[inline(always)]
            pub(crate) fn is_denormal(a: $bits) -> bool {
                (a << 1).wrapping_sub(1) < (NORMAL << 1) - 1
            }

            /// Tests for a normal number. The smallest is none, since it may be a tiny result that
            /// was rounded up.
            #[inline(always)]
            pub(crate) fn is_normal(a: $bits) -> bool {
                (a & !SIGN).wrapping_sub(NORMAL + 1) < INFINITY - NORMAL - 1
            }

            /// Applies DAZ to an operand.
            fn operand(env: Env, a: $bits) -> $bits {
                if env.mxcsr() & DAZ != 0 && is_denormal(a) { a & SIGN } else { a }
            }

            /// Raises the exceptions of operands of which one is a NaN or denormal.
            fn check_operands(env: Env, a: $bits, b: $bits) {
                if is_nan(a) || is_nan(b) {
                    if is_signalling(a) || is_signalling(b) {
                        env.raise_sse(INVALID);
                    }
                } else if is_denormal(a) || is_denormal(b) {
                    env.raise_sse(DENORMAL);
                }
            }

            /// A finite number.
            pub(crate) fn wide(a: $bits) -> Wide {
                const BITS: i32 = $bits::BITS as i32;
                const BIAS: i32 = (1 << (BITS - 2 - $mantissa)) - 1;
                let exponent = ((a & !SIGN) >> $mantissa) as i32;
                let man = a & (NORMAL - 1) | if exponent == 0 { 0 } else { NORMAL };
                Wide::of(a & SIGN != 0, exponent.max(1) - BIAS - $mantissa + 127, u128::from(man))
            }

            /// Raises the exceptions of a result, and applies FTZ to it. Tininess is detected after
            /// rounding to the format's precision, so the smallest normal number is tiny if only
            /// the coarser grid of the denormals has rounded it up. Where a result out of range is
            /// an exception that is not masked, it is inexact only if it would be with any
            /// exponent (Intel SDM vol. 1, 4.9.1.4 to 4.9.1.6).
            pub(crate) fn result(env: Env, value: $bits, raised: u8, exact: impl FnOnce() -> Wide) -> $bits {
                let tiny = is_denormal(value) || value & !SIGN <= NORMAL && raised & UNDERFLOW != 0;
                let (masks, mut raised) = (env.mxcsr(), raised);
                if tiny && masks & UNDERFLOW_MASKED == 0 {
                    raised |= UNDERFLOW;
                }
                let range = if tiny { masks & UNDERFLOW_MASKED } else { masks & OVERFLOW_MASKED };
                if raised & (UNDERFLOW | OVERFLOW) != 0 && range == 0 && exact().man << ($mantissa + 1) == 0 {
                    raised &= !INEXACT;
                }
                env.raise_sse(raised);
                if tiny && masks & (FTZ | UNDERFLOW_MASKED) == FTZ | UNDERFLOW_MASKED {
                    env.raise_sse(UNDERFLOW | INEXACT);
                    return value & SIGN;
                }
                value
            }

            /// Computes with the engine's soft float.
            #[cold]
            #[inline(never)]
            fn soft(env: Env, op: Op, a: $bits, b: $bits) -> $bits {
                let (a, b) = (operand(env, a), operand(env, b));
                // Dividing a denormal by zero raises only the division by zero.
                if op != Op::Div || b << 1 != 0 || is_nan(a) {
                    check_operands(env, a, b);
                }
                if is_nan(a) {
                    return a | QUIET;
                }
                if is_nan(b) {
                    return b | QUIET;
                }
                let status = env.sse();
                // SAFETY: the engine's functions get their own `float_status`.
                let (value, raised) = unsafe {
                    let before = std::mem::take(&mut (*status).flags);
                    let value = match op {
                        Op::Add => $add(a, b, status),
                        Op::Sub => $sub(a, b, status),
                        Op::Mul => $mul(a, b, status),
                        Op::Div => $div(a, b, status),
                    };
                    let raised = std::mem::replace(&mut (*status).flags, before);
                    (value, raised)
                };
                result(env, value, raised, || {
                    let (a, b) = (wide(a), wide(b));
                    match op {
                        Op::Add => a.add(b),
                        Op::Sub => a.sub(b),
                        Op::Mul => a.mul(b),
                        Op::Div => a.ratio(b),
                    }
                })
            }

            #[inline(always)]
            fn arithmetic(env: Env, op: Op, a: $bits, b: $bits) -> $bits {
                let (x, y) = ($float::from_bits(a), $float::from_bits(b));
                let value = match op {
                    Op::Add => x + y,
                    Op::Sub => x - y,
                    Op::Mul => x * y,
                    Op::Div => x / y,
                };
                let bits = value.to_bits();
                // Zero is exact as a sum, and where the first factor or the dividend is zero.
                let zero = value == 0.0 && (matches!(op, Op::Add | Op::Sub) || x == 0.0);
                if (is_normal(bits) || zero) && !is_denormal(a) && !is_denormal(b) {
                    if is_usual(env) || is_usual_if_exact(env) && is_exact(op, a, b, bits) {
                        return bits;
                    }
                }
                soft(env, op, a, b)
            }

            /// Tests whether an operation on ordinary numbers was exact. May say no although it
            /// was.
            #[inline(never)]
            fn is_exact(op: Op, a: $bits, b: $bits, result: $bits) -> bool {
                let (x, y, value) = ($float::from_bits(a), $float::from_bits(b), $float::from_bits(result));
                // A product has no more bits than its factors together.
                let fits = |a: $bits, b: $bits| {
                    let zeros = |v: $bits| (v & (NORMAL - 1) | NORMAL).trailing_zeros();
                    zeros(a) + zeros(b) > $mantissa
                };
                match op {
                    _ if value == 0.0 => true,
                    // The error of the sum, by Knuth's TwoSum.
                    Op::Add | Op::Sub => {
                        let y = if op == Op::Sub { -y } else { y };
                        let other = value - x;
                        (x - (value - other)) + (y - other) == 0.0
                    }
                    Op::Mul => fits(a, b),
                    Op::Div => fits(result, b) && value * y == x,
                }
            }

            #[inline(always)]
            pub(crate) fn add(env: Env, a: $bits, b: $bits) -> $bits {
                arithmetic(env, Op::Add, a, b)
            }

            #[inline(always)]
            pub(crate) fn sub(env: Env, a: $bits, b: $bits) -> $bits {
                arithmetic(env, Op::Sub, a, b)
            }

            #[inline(always)]
            pub(crate) fn mul(env: Env, a: $bits, b: $bits) -> $bits {
                arithmetic(env, Op::Mul, a, b)
            }

            #[inline(always)]
            pub(crate) fn div(env: Env, a: $bits, b: $bits) -> $bits {
                arithmetic(env, Op::Div, a, b)
            }

            /// The smaller operand, or the second if they are equal or one is a NaN.
            #[inline(always)]
            pub(crate) fn min(env: Env, a: $bits, b: $bits) -> $bits {
                choose(env, a, b, |x, y| x < y)
            }

            /// The larger operand, or the second if they are equal or one is a NaN.
            #[inline(always)]
            pub(crate) fn max(env: Env, a: $bits, b: $bits) -> $bits {
                choose(env, a, b, |x, y| x > y)
            }

            #[inline(always)]
            fn choose(env: Env, a: $bits, b: $bits, first: fn($float, $float) -> bool) -> $bits {
                let (a, b) = operands(env, a, b, true);
                if first($float::from_bits(a), $float::from_bits(b)) { a } else { b }
            }

            /// Applies DAZ to the operands of a comparison; with `strict` a quiet NaN is invalid
            /// too.
            #[inline(always)]
            fn operands(env: Env, a: $bits, b: $bits, strict: bool) -> ($bits, $bits) {
                if !is_denormal(a) && !is_denormal(b) && !is_nan(a) && !is_nan(b) {
                    return (a, b);
                }
                let (a, b) = (operand(env, a), operand(env, b));
                check_operands(env, a, b);
                if strict && (is_nan(a) || is_nan(b)) {
                    env.raise_sse(INVALID);
                }
                (a, b)
            }

            /// Compares; with `strict` a quiet NaN is invalid too.
            #[inline(always)]
            pub(crate) fn order(env: Env, a: $bits, b: $bits, strict: bool) -> Order {
                let (a, b) = operands(env, a, b, strict);
                match $float::from_bits(a).partial_cmp(&$float::from_bits(b)) {
                    Some(Ordering::Less) => Order::Less,
                    Some(Ordering::Equal) => Order::Equal,
                    Some(Ordering::Greater) => Order::Greater,
                    None => Order::Unordered,
                }
            }

            #[inline(always)]
            pub(crate) fn sqrt(env: Env, a: $bits) -> $bits {
                let root = $float::from_bits(a).sqrt().to_bits();
                let ordinary = is_normal(root) && is_normal(a);
                let exact = || is_usual_if_exact(env) && is_exact(Op::Div, a, root, root);
                if ordinary && (is_usual(env) || exact()) { root } else { soft_sqrt(env, a) }
            }

            #[cold]
            #[inline(never)]
            fn soft_sqrt(env: Env, a: $bits) -> $bits {
                let a = operand(env, a);
                if is_denormal(a) && a & SIGN == 0 {
                    env.raise_sse(DENORMAL);
                }
                // SAFETY: the engine's function gets its own `float_status`.
                unsafe { $sqrt(a, env.sse()) }
            }
        }
    };
}

format!(
    single,
    f32,
    u32,
    23,
    float32_add_x86_64,
    float32_sub_x86_64,
    float32_mul_x86_64,
    float32_div_x86_64,
    float32_sqrt_x86_64
);
format!(
    double,
    f64,
    u64,
    52,
    float64_add_x86_64,
    float64_sub_x86_64,
    float64_mul_x86_64,
    float64_div_x86_64,
    float64_sqrt_x86_64
);

/// Four singles.
pub(super) fn singles(v: V) -> [u32; 4] {
    [v[0] as u32, (v[0] >> 32) as u32, v[1] as u32, (v[1] >> 32) as u32]
}

pub(super) fn from_singles(s: [u32; 4]) -> V {
    [u64::from(s[0]) | u64::from(s[1]) << 32, u64::from(s[2]) | u64::from(s[3]) << 32]
}

/// Defines helpers with two operands, of which the first is also the result.
macro_rules! two_operands {
    ($($symbol:ident($env:ident, $d:ident, $s:ident) $body:expr;)*) => { $(
        crate::emu::unicorn::wrapped::replace! {
            fn $symbol($env: Env, to: *mut Lanes, from: *const Lanes) {
                // SAFETY: the engine calls its helper with its state, a register and an operand.
                unsafe {
                    let ($d, $s) = (read(to), read(from));
                    write(to, $body);
                }
            }
        }
    )* };
}

pub(super) use two_operands;

macro_rules! plain {
    ($($op:ident: $ps:ident $pd:ident $ss:ident $sd:ident;)*) => { $(
        two_operands! {
            $ps(env, d, s) {
                let (d, s) = (singles(d), singles(s));
                from_singles(std::array::from_fn(|i| single::$op(env, d[i], s[i])))
            };
            $pd(env, d, s) [double::$op(env, d[0], s[0]), double::$op(env, d[1], s[1])];
            $ss(env, d, s) {
                let low = single::$op(env, d[0] as u32, s[0] as u32);
                [d[0] & !0xffff_ffff | u64::from(low), d[1]]
            };
            $sd(env, d, s) [double::$op(env, d[0], s[0]), d[1]];
        }
    )* };
}

plain! {
    add: helper_addps helper_addpd helper_addss helper_addsd;
    sub: helper_subps helper_subpd helper_subss helper_subsd;
    mul: helper_mulps helper_mulpd helper_mulss helper_mulsd;
    div: helper_divps helper_divpd helper_divss helper_divsd;
    min: helper_minps helper_minpd helper_minss helper_minsd;
    max: helper_maxps helper_maxpd helper_maxss helper_maxsd;
}

/// Combines adjacent lanes of both operands, first those of the destination.
fn pairs(d: V, s: V, op: impl Fn(u32, u32) -> u32) -> V {
    let (d, s) = (singles(d), singles(s));
    from_singles([op(d[0], d[1]), op(d[2], d[3]), op(s[0], s[1]), op(s[2], s[3])])
}

two_operands! {
    helper_haddps(env, d, s) pairs(d, s, |a, b| single::add(env, a, b));
    helper_hsubps(env, d, s) pairs(d, s, |a, b| single::sub(env, a, b));
    helper_haddpd(env, d, s) [double::add(env, d[0], d[1]), double::add(env, s[0], s[1])];
    helper_hsubpd(env, d, s) [double::sub(env, d[0], d[1]), double::sub(env, s[0], s[1])];
    helper_addsubpd(env, d, s) [double::sub(env, d[0], s[0]), double::add(env, d[1], s[1])];
    helper_addsubps(env, d, s) {
        let (d, s) = (singles(d), singles(s));
        from_singles(std::array::from_fn(|i| match i & 1 {
            0 => single::sub(env, d[i], s[i]),
            _ => single::add(env, d[i], s[i]),
        }))
    };
}

/// Tests whether a step of an instruction has raised an exception that is not masked, after which
/// no other step follows; otherwise notes what it has raised. Where some are not masked, nothing is
/// recorded of what was before the instruction.
fn stops(env: Env) -> bool {
    let (raised, masks) = (env.full_mxcsr() as u8 & 0x3f, (env.mxcsr() >> 7) as u8 & 0x3f);
    if raised & !masks != 0 {
        return true;
    }
    if masks != 0x3f {
        // SAFETY: called from generated code, inside the run.
        let vcpu = unsafe { current() };
        if let Some(vcpu) = vcpu {
            vcpu.raised_earlier = raised;
        }
    }
    false
}

/// DPPS: the upper four bits of the immediate choose products, the lower the lanes of their sum.
fn dot_product_of_singles(env: Env, d: V, s: V, imm: u32) -> V {
    let (d, s) = (singles(d), singles(s));
    let product = |i: usize| if imm >> (4 + i) & 1 != 0 { single::mul(env, d[i], s[i]) } else { 0 };
    let products: [u32; 4] = std::array::from_fn(product);
    if stops(env) {
        return V::default();
    }
    // The order decides which NaN is the result; CPUs differ in it by lane.
    let sum = |lane: usize| {
        let pair = |i: usize| {
            let (a, b) = (products[i + (lane & 1 ^ 1)], products[i + (lane & 1)]);
            single::add(env, a, b)
        };
        let (low, high) = (pair(0), pair(2));
        if stops(env) {
            return 0;
        }
        if lane < 2 { single::add(env, low, high) } else { single::add(env, high, low) }
    };
    let first = sum(0);
    let of = |lane| if single::is_nan(first) { sum(lane) } else { first };
    from_singles(std::array::from_fn(|i| if imm >> i & 1 != 0 { of(i) } else { 0 }))
}

/// DPPD: as DPPS, with two of each.
fn dot_product_of_doubles(env: Env, d: V, s: V, imm: u32) -> V {
    let product = |i: usize| if imm >> (4 + i) & 1 != 0 { double::mul(env, d[i], s[i]) } else { 0 };
    let products = [product(0), product(1)];
    if stops(env) {
        return V::default();
    }
    let sum = |lane: usize| double::add(env, products[lane], products[lane ^ 1]);
    let sums = [sum(0), sum(1)];
    std::array::from_fn(|i| if imm >> i & 1 != 0 { sums[i] } else { 0 })
}

macro_rules! dot_products {
    ($($symbol:ident => $of:ident;)*) => { $(
        crate::emu::unicorn::wrapped::replace! {
            fn $symbol(env: Env, to: *mut Lanes, from: *const Lanes, imm: u32) {
                // SAFETY: the engine calls its helper with its state, a register and an operand.
                unsafe { write(to, $of(env, read(to), read(from), imm)) }
            }
        }
    )* };
}

dot_products! {
    helper_dpps_xmm => dot_product_of_singles;
    helper_dppd_xmm => dot_product_of_doubles;
}

unsafe extern "C" {
    fn float32_to_float64_x86_64(a: u32, status: *mut Status) -> u64;
    fn float64_to_float32_x86_64(a: u64, status: *mut Status) -> u32;
}

/// Converts a double to a single.
#[inline(always)]
fn narrow(env: Env, a: u64) -> u32 {
    let value = f64::from_bits(a) as f32;
    let exact = || is_usual_if_exact(env) && f64::from(value) == f64::from_bits(a);
    let usual = single::is_normal(value.to_bits()) && (is_usual(env) || exact());
    if usual { value.to_bits() } else { narrow_soft(env, a) }
}

#[cold]
#[inline(never)]
fn narrow_soft(env: Env, a: u64) -> u32 {
    let status = env.sse();
    if double::is_denormal(a) && env.mxcsr() & DAZ == 0 {
        env.raise_sse(DENORMAL);
    }
    // SAFETY: the engine's function gets its own `float_status`.
    let (value, raised) = unsafe {
        let before = std::mem::take(&mut (*status).flags);
        let value = float64_to_float32_x86_64(a, status);
        let raised = std::mem::replace(&mut (*status).flags, before);
        (value, raised)
    };
    single::result(env, value, raised, || double::wide(a))
}

/// Converts a single to a double, which is always exact.
#[inline(always)]
fn widen(env: Env, a: u32) -> u64 {
    let value = f64::from(f32::from_bits(a));
    if f32::from_bits(a).is_normal() { value.to_bits() } else { widen_soft(env, a) }
}

#[cold]
#[inline(never)]
fn widen_soft(env: Env, a: u32) -> u64 {
    if single::is_denormal(a) && env.mxcsr() & DAZ == 0 {
        env.raise_sse(DENORMAL);
    }
    // SAFETY: the engine's function gets its own `float_status`.
    unsafe { float32_to_float64_x86_64(a, env.sse()) }
}

two_operands! {
    helper_cvtss2sd(env, d, s) [widen(env, s[0] as u32), d[1]];
    helper_cvtps2pd(env, _d, s) [widen(env, s[0] as u32), widen(env, (s[0] >> 32) as u32)];
    helper_sqrtps(env, _d, s) from_singles(singles(s).map(|s| single::sqrt(env, s)));
    helper_sqrtpd(env, _d, s) s.map(|s| double::sqrt(env, s));
    helper_sqrtss(env, d, s) {
        [d[0] & !0xffff_ffff | u64::from(single::sqrt(env, s[0] as u32)), d[1]]
    };
    helper_sqrtsd(env, d, s) [double::sqrt(env, s[0]), d[1]];
    helper_cvtsd2ss(env, d, s) [d[0] & !0xffff_ffff | u64::from(narrow(env, s[0])), d[1]];
    helper_cvtpd2ps(env, _d, s) {
        [u64::from(narrow(env, s[0])) | u64::from(narrow(env, s[1])) << 32, 0]
    };
}
