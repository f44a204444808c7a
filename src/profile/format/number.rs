//! Words and numbers of a line.

use super::error::Problem;

/// C's and Perl's white space.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// The text without the white space in front.
pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| is_space(**byte)).count();
    text.get(blanks..).unwrap_or_default()
}

/// The words between white space.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| is_space(*byte)).filter(|word| !word.is_empty())
}

/// The first word of a text, and what follows it.
pub(crate) fn first_word(text: &[u8], blank: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let begin = text.iter().take_while(|byte| blank(**byte)).count();
    let text = text.get(begin..).unwrap_or_default();
    let end = text.iter().position(|byte| blank(*byte)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, b""))
}

/// A word where a number is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number<'a> {
    /// Up to 18 decimal digits, as nearly all numbers are; every dialect reads them alike.
    Short(i64),
    /// Anything else; the dialect says what it is.
    Word(&'a [u8]),
}

/// Reads the first word of a text as a number, and returns what follows it; `None` if there is
/// none.
#[inline]
pub(crate) fn next_number(text: &[u8]) -> Option<(Number<'_>, &[u8])> {
    let mut rest = text;
    while let [c, after @ ..] = rest
        && is_space(*c)
    {
        rest = after;
    }
    if rest.is_empty() {
        return None;
    }
    if let Some((number, after)) = short_number(rest) {
        return Some((Number::Short(number), after));
    }
    let (word, after) = first_word(rest, is_space);
    Some((Number::Word(word), after))
}

/// The words of a text as numbers.
pub(crate) fn numbers(text: &[u8]) -> impl Iterator<Item = Number<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (number, after) = next_number(rest)?;
        rest = after;
        Some(number)
    })
}

/// The decimal number that a text begins with and what follows it, if that is white space or
/// nothing and the number has at most 18 digits.
#[inline]
fn short_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let mut rest = text;
    let mut number = 0_i64;
    while let [c @ b'0'..=b'9', after @ ..] = rest {
        number = number.wrapping_mul(10).wrapping_add(i64::from(c - b'0'));
        rest = after;
    }
    let short = (1..=18).contains(&(text.len() - rest.len()));
    (short && rest.first().is_none_or(|c| is_space(*c))).then_some((number, rest))
}

/// Reads counts, each by `other` if it is not a short number. Those that are missing at the end are
/// 0.
///
/// # Errors
/// [`Problem::BadCounts`] if there are too many, or what `other` says.
pub(crate) fn counts(
    text: &[u8],
    slots: &mut [i64],
    other: impl Fn(&[u8]) -> Result<i64, Problem>,
) -> Result<(), Problem> {
    let mut rest = text;
    let mut slots = slots.iter_mut();
    while let Some((number, after)) = next_number(rest) {
        let Some(slot) = slots.next() else { return Err(Problem::BadCounts) };
        *slot = match number {
            Number::Short(number) => number,
            Number::Word(word) => other(word)?,
        };
        rest = after;
    }
    slots.for_each(|slot| *slot = 0);
    Ok(())
}

/// A count of Cachegrind: decimal, perhaps negative; `.` is 0.
///
/// # Errors
/// [`Problem::BadCounts`] if it is no number, [`Problem::TooLarge`].
pub(crate) fn decimal_count(word: &[u8]) -> Result<i64, Problem> {
    match word {
        b"." => Ok(0),
        [b'-', digits @ ..] => {
            let size = decimal(digits)?;
            0_i64.checked_sub_unsigned(size).ok_or(Problem::TooLarge)
        }
        digits => i64::try_from(decimal(digits)?).map_err(|_| Problem::TooLarge),
    }
}

/// A decimal number.
///
/// # Errors
/// [`Problem::BadCounts`] if it is no number, [`Problem::TooLarge`].
pub(crate) fn decimal(digits: &[u8]) -> Result<u64, Problem> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Problem::BadCounts);
    }
    let next = |number: u64, c: &u8| number.checked_mul(10)?.checked_add(u64::from(c.wrapping_sub(b'0')));
    digits.iter().try_fold(0, next).ok_or(Problem::TooLarge)
}

/// A count of Callgrind: as [`decimal_count`], or hexadecimal after `0x`.
///
/// # Errors
/// [`Problem::BadCounts`] if it is no number, [`Problem::TooLarge`].
pub(crate) fn any_count(word: &[u8]) -> Result<i64, Problem> {
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let is_number = || digits.iter().all(u8::is_ascii_hexdigit) && !digits.is_empty();
    match any_base(digits) {
        Some(size) if negative => 0_i64.checked_sub_unsigned(size).ok_or(Problem::TooLarge),
        Some(size) => i64::try_from(size).map_err(|_| Problem::TooLarge),
        None if word == b"." => Ok(0),
        None if is_number() => Err(Problem::TooLarge),
        None => Err(Problem::BadCounts),
    }
}

/// A number, decimal or, after `0x`, hexadecimal; `None` if it does not fit into 64 bits.
pub(crate) fn any_base(word: &[u8]) -> Option<u64> {
    let (digits, radix) = match word {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    let mut value = 0_u64;
    for digit in digits {
        let digit = char::from(*digit).to_digit(radix)?;
        value = value.checked_mul(radix.into())?.checked_add(digit.into())?;
    }
    (!digits.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bases() {
        for (word, value) in [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("0x80001234", Some(0x8000_1234)),
            ("0xFFFFFFFFFFFFFFFF", Some(u64::MAX)),
            ("0x10000000000000000", None),
            ("0x", None),
            ("", None),
            ("1a", None),
            ("+1", None),
        ] {
            assert_eq!(any_base(word.as_bytes()), value, "{word}");
        }
    }

    #[test]
    fn counts_of_lines() {
        let read = |text: &str| {
            let mut slots = [9; 3];
            counts(text.as_bytes(), &mut slots, any_count)
                .map(|()| slots)
                .map_err(|problem| problem.to_string())
        };
        assert_eq!(read(" 1 0x10  -3 "), Ok([1, 16, -3]));
        assert_eq!(read("."), Ok([0, 0, 0]));
        for text in ["1 2 3 4", "x", "-", "1.", "9223372036854775808", "99999999999999999999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
