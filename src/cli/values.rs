//! Numbers as the options take them: counts with decimal suffixes, sizes with binary ones,
//! durations.

use std::time::Duration;

use crate::session::User;

/// A count such as `1_000`, `10M` or `2G`; K, M, G and T are powers of a thousand.
///
/// # Errors
/// A text that is no such number or does not fit 64 bits.
pub(super) fn count(text: &str) -> Result<u64, String> {
    scaled(text, 1000).ok_or_else(|| "give a count such as 5000000, 5_000_000 or 5M".to_owned())
}

/// A number of instructions for a turn: as [`count`], but not 0.
///
/// # Errors
/// As for [`count`], and 0.
pub(super) fn quantum(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("a turn has at least one instruction".to_owned()),
        quantum => Ok(quantum),
    }
}

/// A number of bytes such as `65536`, `512M` or `2G`; K, M, G and T are powers of 1024.
///
/// # Errors
/// A text that is no such number or does not fit 64 bits.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    scaled(text, 1024).ok_or_else(|| "give a number of bytes such as 65536, 512M or 2G".to_owned())
}

/// A duration in whole milliseconds, seconds, minutes or hours: `500ms`, `10`, `10s`, `5m`, `1h`.
///
/// # Errors
/// Anything else, and zero, which would end the run before it began.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let millis = match unit {
        "ms" => Some(1),
        "" | "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    millis
        .and_then(|unit| digits(number)?.checked_mul(unit))
        .filter(|&ms| ms > 0)
        .map(Duration::from_millis)
        .ok_or_else(|| "give a time such as 10s, 5m or 500ms; a bare number is in seconds".to_owned())
}

/// A 64-bit seed, decimal or hexadecimal with `0x`.
///
/// # Errors
/// A text that is no such number or does not fit 64 bits.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    let value = match text.strip_prefix("0x") {
        // `from_str_radix` would take a sign.
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => digits(text),
    };
    value.ok_or_else(|| "give a number of up to 64 bits, such as 42 or 0x2a".to_owned())
}

/// A user and a group by number: `1000`, `0`, `1000:100`. The last number of 32 bits is none.
///
/// # Errors
/// Anything else, names too: a name means another number on another machine.
pub(super) fn user(text: &str) -> Result<User, String> {
    let id = |text: &str| digits(text)?.try_into().ok().filter(|id| *id != u32::MAX);
    let (uid, gid) = text.split_once(':').unwrap_or((text, text));
    match (id(uid), id(gid)) {
        (Some(uid), Some(gid)) => Ok(User { uid, gid }),
        _ => Err("give numbers such as 0, 1000 or 1000:100".to_owned()),
    }
}

/// A number with an optional suffix, each step of which is `base` times the one before.
fn scaled(text: &str, base: u64) -> Option<u64> {
    let (number, power) = match text.char_indices().next_back()? {
        (at, 'K' | 'k') => (&text[..at], 1),
        (at, 'M') => (&text[..at], 2),
        (at, 'G') => (&text[..at], 3),
        (at, 'T') => (&text[..at], 4),
        _ => (text, 0),
    };
    digits(number)?.checked_mul(base.pow(power))
}

/// Decimal digits, with `_` between them where it helps the reader.
fn digits(text: &str) -> Option<u64> {
    let plain: String = text.split('_').collect();
    let well_formed =
        text.split('_').all(|group| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit()));
    if well_formed { plain.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_decimal() {
        for (text, value) in [
            ("0", 0),
            ("1_000", 1000),
            ("1_000_000", 1_000_000),
            ("7k", 7000),
            ("10M", 10_000_000),
            ("2G", 2_000_000_000),
            ("3T", 3_000_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn bytes_are_binary() {
        for (text, value) in [("4096", 4096), ("64K", 65536), ("512M", 536_870_912), ("2G", 2_147_483_648)] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            "M",
            "-1",
            "+1",
            "1.5M",
            "1 000",
            "_1",
            "1_",
            "1__0",
            "10MB",
            "0x10",
            "m",
            "1\u{664}",
            "\u{1f600}",
            "18446744073709551616",
            "18446744073709551615K",
            "99999999T",
        ] {
            assert!(count(text).is_err(), "{text}");
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, ms) in
            [("10", 10_000), ("10s", 10_000), ("5m", 300_000), ("1h", 3_600_000), ("500ms", 500)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "0", "0s", "-1", "1.5s", "10x", "10 s", "5M", "18446744073709551615h", "1s1"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seeds() {
        assert_eq!(seed("42"), Ok(42));
        assert_eq!(seed("0x2a"), Ok(42));
        assert_eq!(seed("0xffffffffffffffff"), Ok(u64::MAX));
        for text in ["", "0x", "0x+1", "-1", "2a", "0x1ffffffffffffffff"] {
            assert!(seed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn users() {
        let both = |uid, gid| Ok(User { uid, gid });
        assert_eq!(user("0"), both(0, 0));
        assert_eq!(user("1000:50"), both(1000, 50));
        assert_eq!(user("4294967294"), both(u32::MAX - 1, u32::MAX - 1));
        for bad in ["", ":", "1:", ":1", "1:2:3", "root", "-1", "4294967295", "1:4294967296", " 1"] {
            assert!(user(bad).is_err(), "{bad}");
        }
    }
}
