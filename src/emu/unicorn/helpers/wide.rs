//! Floating-point numbers with a significand of 128 bits, and their transcendental functions.
//! Integer arithmetic makes the results the same on every host; errors are about sixty bits below
//! the last of an extended real.

/// The number `man * 2^(exp - 127)`, where the highest bit of `man` is set, or zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide {
    pub(super) neg: bool,
    pub(super) exp: i32,
    pub(super) man: u128,
}

const TOP: u128 = 1 << 127;
const ZERO: Wide = Wide { neg: false, exp: 0, man: 0 };
pub(super) const ONE: Wide = Wide { neg: false, exp: 0, man: TOP };
const TWO: Wide = Wide { neg: false, exp: 1, man: TOP };
const LN_2: Wide = Wide { neg: false, exp: -1, man: 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af };
const LOG2_E: Wide = Wide { neg: false, exp: 0, man: 0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e89 };
pub(super) const PI: Wide = Wide { neg: false, exp: 1, man: 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1 };

impl Wide {
    pub(super) fn of(neg: bool, exp: i32, man: u128) -> Wide {
        if man == 0 {
            return ZERO;
        }
        let shift = man.leading_zeros();
        Wide { neg, exp: exp - shift as i32, man: man << shift }
    }

    pub(super) fn from_int(value: i32) -> Wide {
        Wide::of(value < 0, 127, u128::from(value.unsigned_abs()))
    }

    pub(super) fn is_zero(self) -> bool {
        self.man == 0
    }

    pub(super) fn negated(self) -> Wide {
        Wide { neg: !self.neg, ..self }
    }

    pub(super) fn with_sign(self, neg: bool) -> Wide {
        Wide { neg, ..self }
    }

    /// Multiplies by a power of two.
    pub(super) fn scaled(self, by: i32) -> Wide {
        Wide { exp: self.exp + by, ..self }
    }

    pub(super) fn mul(self, by: Wide) -> Wide {
        let halves = |v: u128| (v >> 64, v & u128::from(u64::MAX));
        let ((a1, a0), (b1, b0)) = (halves(self.man), halves(by.man));
        let (x, y) = (a1 * b0, a0 * b1);
        let middle = ((a0 * b0) >> 64) + halves(x).1 + halves(y).1;
        let high = a1 * b1 + (x >> 64) + (y >> 64) + (middle >> 64);
        Wide::of(self.neg != by.neg, self.exp + by.exp + 1, high)
    }

    pub(super) fn div_int(self, by: u64) -> Wide {
        Wide::of(self.neg, self.exp, self.man / u128::from(by.max(1)))
    }

    /// The ratio of two numbers of at most 64 bits, neither of which is zero; its lowest bit says
    /// too whether there is a rest.
    pub(super) fn ratio(self, by: Wide) -> Wide {
        let divisor = by.man >> 64;
        // Up to 65 bits, then 62 more and that one.
        let (first, rest) = (self.man / divisor, self.man % divisor);
        let (second, rest) = ((rest << 62) / divisor, (rest << 62) % divisor);
        let man = first << 63 | second << 1 | u128::from(rest != 0);
        Wide::of(self.neg != by.neg, self.exp - by.exp, man)
    }

    /// Divides; neither may be zero.
    pub(super) fn div(self, by: Wide) -> Wide {
        let (mut rest, mut quotient) = (self.man, 0u128);
        let exp = self.exp - by.exp;
        if rest >= by.man {
            rest -= by.man;
            quotient = 1;
        }
        for _ in 0..127 {
            let carry = rest >> 127 != 0;
            rest <<= 1;
            quotient <<= 1;
            if carry || rest >= by.man {
                rest = rest.wrapping_sub(by.man);
                quotient |= 1;
            }
        }
        Wide::of(self.neg != by.neg, exp, quotient)
    }

    pub(super) fn add(self, other: Wide) -> Wide {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        let (large, small) = if self.is_larger(other) { (self, other) } else { (other, self) };
        // One bit of room for the sum; bits shifted out are kept as a sticky bit.
        let distance = (large.exp - small.exp).unsigned_abs() + 1;
        let man = if distance > 127 {
            1
        } else {
            small.man >> distance | u128::from(small.man << (128 - distance) != 0)
        };
        let sum = if large.neg == small.neg { (large.man >> 1) + man } else { (large.man >> 1) - man };
        Wide::of(large.neg, large.exp + 1, sum)
    }

    pub(super) fn sub(self, other: Wide) -> Wide {
        self.add(other.negated())
    }

    /// Compares magnitudes; neither may be zero.
    pub(super) fn is_larger(self, than: Wide) -> bool {
        (self.exp, self.man) > (than.exp, than.man)
    }

    /// `2^x - 1` for x from -1 to 1.
    pub(super) fn exp2_minus_1(self) -> Wide {
        let t = self.mul(LN_2);
        let sum = (2..=36).rev().fold(ONE, |s, n| ONE.add(t.mul(s).div_int(n)));
        t.mul(sum)
    }

    /// The inverse hyperbolic tangent of a small number, or with `alternating` its arc tangent, by
    /// their series.
    fn series(self, alternating: bool, terms: u64) -> Wide {
        let square = self.mul(self);
        let square = if alternating { square.negated() } else { square };
        let sum = (0..terms).rev().fold(ZERO, |s, k| ONE.div_int(2 * k + 1).add(square.mul(s)));
        self.mul(sum)
    }

    /// The binary logarithm of a positive number.
    pub(super) fn log2(self) -> Wide {
        /// The square root of two, nearly.
        const ROOT: u128 = 0xb504_f333_f9de_6484 << 64;
        let above = i32::from(self.man > ROOT);
        let near = Wide { neg: false, exp: -above, man: self.man };
        let whole = Wide::from_int(self.exp + above);
        let (top, bottom) = (near.sub(ONE), near.add(ONE));
        if top.is_zero() { whole } else { whole.add(top.div(bottom).log2_of_ratio()) }
    }

    /// The binary logarithm of 1 + x, for x near zero but not zero.
    pub(super) fn log2_of_1_plus(self) -> Wide {
        self.div(self.add(TWO)).log2_of_ratio()
    }

    fn log2_of_ratio(self) -> Wide {
        self.series(false, 28).mul(LOG2_E).scaled(1)
    }

    /// The sine of a number up to a little more than a quarter of pi.
    pub(super) fn sin(self) -> Wide {
        self.mul(self.alternating(|n| 2 * n * (2 * n + 1)))
    }

    /// The cosine of a number up to a little more than a quarter of pi.
    pub(super) fn cos(self) -> Wide {
        self.alternating(|n| 2 * n * (2 * n - 1))
    }

    fn alternating(self, divisor: fn(u64) -> u64) -> Wide {
        let square = self.mul(self);
        (1..=19).rev().fold(ONE, |s, n| ONE.sub(square.mul(s).div_int(divisor(n))))
    }

    /// The arc tangent of a number above zero, up to one.
    pub(super) fn atan(self) -> Wide {
        /// The tangent of an eighth of pi, nearly.
        const EIGHTH: Wide = Wide { neg: false, exp: -2, man: 0xd413_cccf_e779_9211 << 64 };
        if !self.is_larger(EIGHTH) {
            return self.series(true, 56);
        }
        let other = ONE.sub(self);
        let quarter = PI.scaled(-2);
        if other.is_zero() { quarter } else { quarter.sub(other.div(ONE.add(self)).series(true, 56)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests whether two numbers agree to 115 bits.
    fn close(a: Wide, b: Wide) -> bool {
        let difference = a.sub(b);
        difference.is_zero() || difference.exp < b.exp - 115
    }

    #[test]
    fn functions_agree_with_their_inverses() {
        for i in 1..40 {
            let x = Wide::from_int(i).div_int(41);
            assert!(close(ONE.add(x.exp2_minus_1()).log2(), x), "2^{i}/41");
            if i < 21 {
                assert!(close(x.exp2_minus_1().log2_of_1_plus(), x), "2^{i}/41 - 1");
            }
            let (sin, cos) = (x.sin(), x.cos());
            assert!(close(sin.mul(sin).add(cos.mul(cos)), ONE), "the circle at {i}/41");
            if i < 32 {
                assert!(close(sin.div(cos).atan(), x), "tan {i}/41");
            }
        }
    }

    #[test]
    fn functions_agree_with_ninety_digits() {
        // Computed with Python's decimal module at a precision of 90 digits.
        let half = ONE.scaled(-1);
        for (value, exp, man) in [
            (Wide::from_int(3).log2(), 0, 0xcae0_0d1c_fdeb_43cf_d005_8905_0345_d6e9),
            (half.sin(), -2, 0xf577_43a2_582f_7f43_b25e_1b27_ec1b_db33),
            (half.cos(), -1, 0xe0a9_4032_dbea_7ced_bddd_9da2_fafa_d985),
            (half.atan(), -2, 0xed63_382b_0dda_7b45_6fe4_45ec_bc3a_8d03),
            (half.exp2_minus_1(), -2, 0xd413_cccf_e779_9211_65f6_26cd_d52a_fa7c),
        ] {
            assert!(close(value, Wide { neg: false, exp, man }), "{value:x?}");
        }
    }

    #[test]
    fn a_sum_keeps_a_sticky_bit() {
        let less = ONE.sub(ONE.scaled(-500));
        assert!(less.exp == -1 && less.man > u128::MAX - 8, "{less:x?}");
    }
}
