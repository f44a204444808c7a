//! Extended reals: their parts, kinds and NaNs.

use crate::emu::unicorn::helpers::env::{Env, F80, INVALID, Status};

/// The sign bit, in the word with the exponent.
pub(super) const SIGN: u16 = 0x8000;
/// The largest biased exponent.
pub(super) const MAX: u16 = 0x7fff;
/// The integer bit of the significand.
pub(super) const INTEGER: u64 = 1 << 63;
/// The bit of the significand that makes a NaN quiet.
const QUIET: u64 = 1 << 62;
/// The NaN that an invalid operation returns.
pub(super) const INDEFINITE: F80 = F80 { mantissa: INTEGER | QUIET, top: SIGN | MAX };

unsafe extern "C" {
    fn floatx80_add_x86_64(a: F80, b: F80, status: *mut Status) -> F80;
}

impl F80 {
    pub(super) fn is_negative(self) -> bool {
        self.top & SIGN != 0
    }

    /// The biased exponent.
    pub(super) fn exponent(self) -> u16 {
        self.top & MAX
    }

    pub(super) fn is_zero(self) -> bool {
        self.exponent() == 0 && self.mantissa == 0
    }

    pub(super) fn is_infinite(self) -> bool {
        self.exponent() == MAX && self.mantissa << 1 == 0
    }

    pub(super) fn is_nan(self) -> bool {
        self.exponent() == MAX && self.mantissa << 1 != 0
    }

    /// Tests for an encoding that is no number since the 80387: without the integer bit, though it
    /// is not below the normal numbers.
    pub(super) fn is_unsupported(self) -> bool {
        self.exponent() != 0 && self.mantissa & INTEGER == 0
    }

    pub(super) fn is_denormal(self) -> bool {
        self.exponent() == 0 && self.mantissa != 0
    }

    /// The quiet NaN that an operation returns for a NaN.
    pub(super) fn quieted(self) -> F80 {
        F80 { mantissa: self.mantissa | QUIET, ..self }
    }

    /// The significand, with its integer bit set, and the exponent of a finite number other than
    /// zero. The exponent of a denormal is below the smallest.
    pub(super) fn parts(self) -> (u64, i32) {
        let shift = self.mantissa.leading_zeros();
        (self.mantissa << (shift & 63), i32::from(self.exponent().max(1)) - shift as i32)
    }

    /// Makes the exact number with this significand, which may have leading zeros.
    fn of(negative: bool, mantissa: u64, exponent: i32) -> F80 {
        let sign = if negative { SIGN } else { 0 };
        if mantissa == 0 {
            return F80 { mantissa: 0, top: sign };
        }
        let shift = mantissa.leading_zeros() as i32;
        let (mantissa, exponent) = (mantissa << shift, exponent - shift);
        match u16::try_from(exponent) {
            Ok(biased @ 1..) => F80 { mantissa, top: sign | biased },
            _ => F80 { mantissa: mantissa >> (1 - exponent).min(63), top: sign },
        }
    }

    /// A small integer.
    pub(super) fn from_int(value: i32) -> F80 {
        F80::of(value < 0, u64::from(value.unsigned_abs()), 16383 + 63)
    }
}

/// Chooses between two operands of which one is a NaN, by the x87's rule.
pub(super) fn nan_of(env: Env, a: F80, b: F80) -> F80 {
    // SAFETY: the engine's function gets its own `float_status`; it has the rule.
    unsafe { floatx80_add_x86_64(a, b, env.x87()) }
}

/// Raises an invalid operation and returns its NaN.
pub(super) fn invalid(env: Env) -> F80 {
    env.raise_x87(INVALID);
    INDEFINITE
}
