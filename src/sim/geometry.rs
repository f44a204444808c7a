//! The size, associativity and line size of one cache, checked once so that the simulators need
//! not.

use std::fmt;
use std::str::FromStr;

/// The smallest line Cachegrind simulates, in bytes: with a shorter one an instruction could touch
/// three.
const MIN_LINE: u32 = 16;

/// Cachegrind reads the three numbers as signed 32-bit integers; so the largest is 2 GiB - 1.
const MAX_NUMBER: u64 = i32::MAX as u64;

/// A valid cache geometry: `size` is `line` x `assoc` x a power of two, `line` a power of two of at
/// least 16 bytes and less than `size`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    size: u64,
    assoc: u32,
    line: u32,
}

/// Why three numbers are not a cache that can be simulated. The first sentence of each message is
/// Cachegrind's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GeometryError {
    /// Not three decimal numbers between commas.
    #[error("Bad argument: expected size,associativity,line size in bytes, such as 32768,8,64")]
    Shape,
    /// A number above 2^31 - 1.
    #[error("Bad argument: a number is larger than 2147483647; give a smaller cache")]
    TooLarge,
    /// The line size is 0.
    #[error("Cache line size is zero; give a power of two of at least 16 bytes")]
    LineZero,
    /// The associativity is 0.
    #[error("Cache associativity is zero; give 1 for a direct-mapped cache")]
    AssocZero,
    /// The size is not associativity x line size x a power of two.
    #[error(
        "Cache set count is not a power of two. The size must be associativity x line size x a power of two"
    )]
    SetCount,
    /// The line size is not a power of two.
    #[error("Cache line size is not a power of two. Give 32, 64 or 128, for example")]
    LineNotPowerOfTwo,
    /// The line size is less than 16 bytes.
    #[error("Cache line size is too small. Give at least 16 bytes")]
    LineTooSmall,
    /// The whole cache is one line.
    #[error("Cache size <= line size. Give a size of at least two lines")]
    SizeNotAboveLine,
}

impl Geometry {
    /// Checks a cache of `size` bytes, `assoc` ways and `line` bytes a line, in Cachegrind's order.
    ///
    /// Cachegrind's last check, associativity above size / line size, cannot fail after the first:
    /// the set count would not be a whole number.
    ///
    /// # Errors
    /// The first rule that is broken. Cachegrind 3.19 divides by zero where `line` or `assoc` is 0;
    /// here that is an error like the others.
    pub const fn new(size: u64, assoc: u32, line: u32) -> Result<Geometry, GeometryError> {
        if size > MAX_NUMBER || assoc as u64 > MAX_NUMBER || line as u64 > MAX_NUMBER {
            return Err(GeometryError::TooLarge);
        }
        if line == 0 {
            return Err(GeometryError::LineZero);
        }
        if assoc == 0 {
            return Err(GeometryError::AssocZero);
        }
        // Both factors are below 2^31, so the product fits.
        let set_bytes = assoc as u64 * line as u64;
        if !size.is_multiple_of(set_bytes) || !(size / set_bytes).is_power_of_two() {
            return Err(GeometryError::SetCount);
        }
        if !line.is_power_of_two() {
            return Err(GeometryError::LineNotPowerOfTwo);
        }
        if line < MIN_LINE {
            return Err(GeometryError::LineTooSmall);
        }
        if size <= line as u64 {
            return Err(GeometryError::SizeNotAboveLine);
        }
        Ok(Geometry { size, assoc, line })
    }

    /// Size of the cache in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Number of ways; 1 is direct-mapped.
    #[must_use]
    pub const fn assoc(&self) -> u32 {
        self.assoc
    }

    /// Size of a line in bytes.
    #[must_use]
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// Number of sets, a power of two.
    #[must_use]
    pub const fn sets(&self) -> u64 {
        self.size / (self.assoc as u64 * self.line as u64)
    }

    /// Base-2 logarithm of the line size: an address shifted right by it is a block number.
    #[must_use]
    pub const fn line_shift(&self) -> u32 {
        self.line.trailing_zeros()
    }
}

/// The form of Cachegrind's `--I1`, `--D1` and `--LL`: `32768,8,64`.
impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.size, self.assoc, self.line)
    }
}

impl FromStr for Geometry {
    type Err = GeometryError;

    fn from_str(text: &str) -> Result<Geometry, GeometryError> {
        let mut fields = text.split(',');
        let (Some(size), Some(assoc), Some(line), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(GeometryError::Shape);
        };
        // The shape of all three first: `1,x,99999999999` is no triple of numbers at all.
        let numbers = [size, assoc, line];
        if numbers.iter().any(|n| n.is_empty() || !n.bytes().all(|b| b.is_ascii_digit())) {
            return Err(GeometryError::Shape);
        }
        Geometry::new(number(size)?.into(), number(assoc)?, number(line)?)
    }
}

/// A string of digits as Cachegrind takes it.
fn number(digits: &str) -> Result<u32, GeometryError> {
    let value: i32 = digits.parse().map_err(|_| GeometryError::TooLarge)?;
    u32::try_from(value).map_err(|_| GeometryError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use GeometryError::*;

    #[test]
    fn derived_numbers() {
        let g: Geometry = "98304,3,64".parse().expect("valid");
        assert_eq!((g.size(), g.assoc(), g.line(), g.sets(), g.line_shift()), (98304, 3, 64, 512, 6));
        assert_eq!(g.to_string(), "98304,3,64");
    }

    /// Arguments given to Valgrind 3.19 as `--D1=`, with the check it named.
    #[test]
    fn refused_for_the_reason_valgrind_gives() {
        for (text, reason) in [
            ("32768,8", Shape),
            ("32768,8,64,1", Shape),
            ("a,b,c", Shape),
            ("32768,8,64x", Shape),
            ("99999999999,8,64", TooLarge),
            ("4294967296,8,64", TooLarge),
            ("2147483648,8,64", TooLarge),
            ("0,8,64", SetCount),
            ("32768,3,64", SetCount),
            ("32768,8,48", SetCount),
            ("64,1,128", SetCount),
            ("128,4,64", SetCount),
            ("32768,1024,64", SetCount),
            ("49152,1,48", LineNotPowerOfTwo),
            ("32768,8,8", LineTooSmall),
            ("64,1,64", SizeNotAboveLine),
            ("1073741824,1,1073741824", SizeNotAboveLine),
        ] {
            assert_eq!(text.parse::<Geometry>(), Err(reason), "{text}");
        }
        for text in ["32768,8,64", "128,2,64", "48,3,16", "98304,3,64", "1073741824,1,64"] {
            assert!(text.parse::<Geometry>().is_ok(), "{text}");
        }
    }

    #[test]
    fn zeros_and_signs_are_refused() {
        for (text, reason) in [
            ("32768,8,0", LineZero),
            ("32768,0,64", AssocZero),
            ("0,0,0", LineZero),
            ("", Shape),
            (",,", Shape),
            ("32768,-8,64", Shape),
            ("+32768,8,64", Shape),
            (" 32768,8,64", Shape),
            ("32768,8,\u{664}", Shape),
            ("1,x,99999999999", Shape),
            ("32768,99999999999999999999999,64", TooLarge),
        ] {
            assert_eq!(text.parse::<Geometry>(), Err(reason), "{text}");
        }
        assert_eq!(Geometry::new(u64::MAX, u32::MAX, u32::MAX), Err(TooLarge));
    }

    #[test]
    fn messages_are_one_line_and_begin_with_cachegrinds() {
        for (error, start) in [
            (SetCount, "Cache set count is not a power of two."),
            (LineNotPowerOfTwo, "Cache line size is not a power of two."),
            (LineTooSmall, "Cache line size is too small."),
            (SizeNotAboveLine, "Cache size <= line size."),
        ] {
            let text = error.to_string();
            assert!(text.starts_with(start) && !text.contains('\n'), "{text}");
        }
    }
}
