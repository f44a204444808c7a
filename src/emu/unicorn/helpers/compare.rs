//! SSE comparisons, with the exceptions that the engine does not record.

use crate::emu::unicorn::helpers::sse::{double, from_singles, single, singles, two_operands};
use crate::emu::unicorn::helpers::state::{Env, Lanes, read, write};

/// How two numbers compare, as the flags say it after UCOMISD.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Less = 1,
    Equal = 0x40,
    Greater = 0,
    Unordered = 0x45,
}

/// A predicate of CMPPS and its kin: whether a quiet NaN is invalid too, and when it holds.
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
    EQUAL: __wrap_helper_cmpeqps_x86_64 __wrap_helper_cmpeqpd_x86_64 __wrap_helper_cmpeqss_x86_64 __wrap_helper_cmpeqsd_x86_64;
    LESS: __wrap_helper_cmpltps_x86_64 __wrap_helper_cmpltpd_x86_64 __wrap_helper_cmpltss_x86_64 __wrap_helper_cmpltsd_x86_64;
    LESS_EQUAL: __wrap_helper_cmpleps_x86_64 __wrap_helper_cmplepd_x86_64 __wrap_helper_cmpless_x86_64 __wrap_helper_cmplesd_x86_64;
    UNORDERED: __wrap_helper_cmpunordps_x86_64 __wrap_helper_cmpunordpd_x86_64 __wrap_helper_cmpunordss_x86_64 __wrap_helper_cmpunordsd_x86_64;
    NOT_EQUAL: __wrap_helper_cmpneqps_x86_64 __wrap_helper_cmpneqpd_x86_64 __wrap_helper_cmpneqss_x86_64 __wrap_helper_cmpneqsd_x86_64;
    NOT_LESS: __wrap_helper_cmpnltps_x86_64 __wrap_helper_cmpnltpd_x86_64 __wrap_helper_cmpnltss_x86_64 __wrap_helper_cmpnltsd_x86_64;
    NOT_LESS_EQUAL: __wrap_helper_cmpnleps_x86_64 __wrap_helper_cmpnlepd_x86_64 __wrap_helper_cmpnless_x86_64 __wrap_helper_cmpnlesd_x86_64;
    ORDERED: __wrap_helper_cmpordps_x86_64 __wrap_helper_cmpordpd_x86_64 __wrap_helper_cmpordss_x86_64 __wrap_helper_cmpordsd_x86_64;
}

macro_rules! flags {
    ($($name:ident: $module:ident as $bits:ident, $strict:expr;)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(env: Env, to: *const Lanes, from: *const Lanes) {
            // SAFETY: as above.
            let (d, s) = unsafe { (read(to)[0], read(from)[0]) };
            env.set_flags($module::order(env, d as $bits, s as $bits, $strict) as u64);
        }
    )* };
}

flags! {
    __wrap_helper_ucomiss_x86_64: single as u32, false;
    __wrap_helper_ucomisd_x86_64: double as u64, false;
    __wrap_helper_comiss_x86_64: single as u32, true;
    __wrap_helper_comisd_x86_64: double as u64, true;
}
