//! SSE comparisons, with the exceptions that the engine does not record.

use crate::emu::unicorn::helpers::env::{Env, Lanes, read, write};
use crate::emu::unicorn::helpers::sse::{Order, double, from_singles, single, singles, two_operands};
use crate::emu::unicorn::wrapped::replace;

/// Predicate of CMPPS, CMPPD, CMPSS and CMPSD: whether a quiet NaN is invalid too, and when it
/// holds.
type Predicate = (bool, fn(Order) -> bool);

const EQUAL: Predicate = (false, |order| order == Order::Equal);
const LESS: Predicate = (true, |order| order == Order::Less);
const LESS_EQUAL: Predicate = (true, |order| matches!(order, Order::Less | Order::Equal));
const UNORDERED: Predicate = (false, |order| order == Order::Unordered);
const NOT_EQUAL: Predicate = (false, |order| order != Order::Equal);
const NOT_LESS: Predicate = (true, |order| order != Order::Less);
const NOT_LESS_EQUAL: Predicate = (true, |order| !matches!(order, Order::Less | Order::Equal));
const ORDERED: Predicate = (false, |order| order != Order::Unordered);

#[inline(always)]
fn single_mask(env: Env, (strict, holds): Predicate, a: u32, b: u32) -> u32 {
    if holds(single::order(env, a, b, strict)) { !0 } else { 0 }
}

#[inline(always)]
fn double_mask(env: Env, (strict, holds): Predicate, a: u64, b: u64) -> u64 {
    if holds(double::order(env, a, b, strict)) { !0 } else { 0 }
}

macro_rules! masks {
    ($($predicate:ident: $ps:ident $pd:ident $ss:ident $sd:ident;)*) => { $(
        two_operands! {
            $ps(env, d, s) {
                let (d, s) = (singles(d), singles(s));
                from_singles(std::array::from_fn(|i| single_mask(env, $predicate, d[i], s[i])))
            };
            $pd(env, d, s) std::array::from_fn(|i| double_mask(env, $predicate, d[i], s[i]));
            $ss(env, d, s) {
                let low = single_mask(env, $predicate, d[0] as u32, s[0] as u32);
                [d[0] & !0xffff_ffff | u64::from(low), d[1]]
            };
            $sd(env, d, s) [double_mask(env, $predicate, d[0], s[0]), d[1]];
        }
    )* };
}

masks! {
    EQUAL: helper_cmpeqps helper_cmpeqpd helper_cmpeqss helper_cmpeqsd;
    LESS: helper_cmpltps helper_cmpltpd helper_cmpltss helper_cmpltsd;
    LESS_EQUAL: helper_cmpleps helper_cmplepd helper_cmpless helper_cmplesd;
    UNORDERED: helper_cmpunordps helper_cmpunordpd helper_cmpunordss helper_cmpunordsd;
    NOT_EQUAL: helper_cmpneqps helper_cmpneqpd helper_cmpneqss helper_cmpneqsd;
    NOT_LESS: helper_cmpnltps helper_cmpnltpd helper_cmpnltss helper_cmpnltsd;
    NOT_LESS_EQUAL: helper_cmpnleps helper_cmpnlepd helper_cmpnless helper_cmpnlesd;
    ORDERED: helper_cmpordps helper_cmpordpd helper_cmpordss helper_cmpordsd;
}

macro_rules! flags {
    ($($symbol:ident: $module:ident as $bits:ident, $strict:expr;)*) => { $(
        replace! {
            fn $symbol(env: Env, to: *const Lanes, from: *const Lanes) {
                // SAFETY: the engine calls its helper with its state, a register and an operand.
                let (d, s) = unsafe { (read(to)[0], read(from)[0]) };
                env.set_flags($module::order(env, d as $bits, s as $bits, $strict) as u64);
            }
        }
    )* };
}

flags! {
    helper_ucomiss: single as u32, false;
    helper_ucomisd: double as u64, false;
    helper_comiss: single as u32, true;
    helper_comisd: double as u64, true;
}
