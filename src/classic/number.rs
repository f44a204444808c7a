//! Numbers as Perl writes them.

/// A whole number: as it is if 64 bits hold it, with or without a sign; otherwise Perl has it in a
/// double.
#[must_use]
pub(crate) fn integer(value: i128) -> String {
    if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value) {
        value.to_string()
    } else {
        // Rounding is what Perl does here.
        #[allow(clippy::cast_precision_loss)]
        double(value as f64)
    }
}

/// A double, as C's `%.15g` has it.
#[must_use]
pub(crate) fn double(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.14e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..15).contains(&exponent) {
        let places = usize::try_from(14 - exponent).unwrap_or(0);
        return trim(&format!("{value:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits), exponent.unsigned_abs())
}

/// The value of a text of digits and points: that of the longest beginning that is a number, or 0.
#[must_use]
pub(crate) fn leading_decimal(text: &str) -> f64 {
    let second_point = text.match_indices('.').nth(1).map_or(text.len(), |(at, _)| at);
    text.get(..second_point).unwrap_or(text).parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected texts are what `perl -e 'print ...'` writes.
    #[test]
    fn perls_numbers() {
        assert_eq!(integer(-9_223_372_036_854_775_808), "-9223372036854775808");
        assert_eq!(integer(18_446_744_073_709_551_615), "18446744073709551615");
        assert_eq!(integer(18_446_744_073_709_551_616), "1.84467440737096e+19");
        assert_eq!(integer(-18_446_744_073_709_551_615), "-1.84467440737096e+19");
        assert_eq!(integer(100_000_000_000_000_000_000), "1e+20");
        assert_eq!(double(3.5), "3.5");
        assert_eq!(double(-7.0), "-7");
        assert_eq!(double(0.1), "0.1");
        assert_eq!(double(1e15), "1e+15");
        assert_eq!(double(123_456_789_012_345.0), "123456789012345");
        assert_eq!(double(0.000_01), "1e-05");
    }

    #[test]
    fn beginnings() {
        for (text, value) in
            [("5", 5.0), ("5.", 5.0), (".5", 0.5), ("1.2.3", 1.2), (".", 0.0), ("", 0.0), ("..", 0.0)]
        {
            assert!((leading_decimal(text) - value).abs() < 1e-12, "{text}");
        }
    }
}
