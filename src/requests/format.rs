//! The language of VALGRIND_PRINTF, a subset of C's without `%i`, `%e`, `%g`, `%n`, `+` and blank.
//! An unknown conversion prints nothing and takes no argument. (Valgrind 3.19,
//! `VG_(debugLog_vprintf)`.)

/// Bytes of a text; what is longer is cut.
pub(super) const MAX_TEXT: usize = 1 << 16;

/// The arguments of a conversion.
pub(super) trait Arguments {
    /// The next one of those that are passed as integers, all 64 bits of its register.
    fn integer(&mut self) -> u64;
    /// The next floating-point one.
    fn double(&mut self) -> f64;
    /// The text that the next one points to; `None` for a null pointer.
    fn string(&mut self) -> Option<Vec<u8>>;
}

/// Flags, width and precision of a conversion.
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    left: bool,
    zeros: bool,
    commas: bool,
    alternate: bool,
    /// Bytes; 0 for none. A negative one is none either.
    width: usize,
    precision: Option<usize>,
    /// `l`, `ll` or `z`.
    wide: bool,
    size: bool,
}

/// Puts the arguments into a text. The result is about [`MAX_TEXT`] bytes at most.
pub(super) fn format(template: &[u8], args: &mut dyn Arguments) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = template;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if out.len() >= MAX_TEXT {
            break;
        }
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        if let Some(after) = rest.strip_prefix(b"%") {
            out.push(b'%');
            rest = after;
            continue;
        }
        let spec = spec(&mut rest, args);
        let Some((&conversion, after)) = rest.split_first() else { break };
        rest = after;
        match conversion {
            b'd' => {
                let word = args.integer();
                let value = if spec.wide { word as i64 } else { i64::from(word as i32) };
                number(&mut out, &spec, 10, false, value.unsigned_abs(), value < 0);
            }
            b'u' => number(&mut out, &spec, 10, false, unsigned(&spec, args), false),
            b'o' => {
                out.extend(spec.alternate.then_some(b'0'));
                number(&mut out, &spec, 8, false, unsigned(&spec, args), false);
            }
            b'x' | b'X' => {
                if spec.alternate {
                    out.extend(b"0x");
                }
                let capital = conversion == b'X' && !spec.size;
                number(&mut out, &spec, 16, capital, unsigned(&spec, args), false);
            }
            b'p' => match rest.first() {
                Some(b'S') => {
                    rest = rest.get(1..).unwrap_or_default();
                    out.extend(escaped(&args.string().unwrap_or_else(null)));
                }
                Some(b's') => {
                    rest = rest.get(1..).unwrap_or_default();
                    text(&mut out, &spec, &args.string().unwrap_or_else(null));
                }
                _ => {
                    out.extend(b"0x");
                    number(&mut out, &spec, 16, true, args.integer(), false);
                }
            },
            b'c' => out.push(args.integer() as u8),
            b's' => text(&mut out, &spec, &args.string().unwrap_or_else(null)),
            b'S' => text(&mut out, &spec, &args.string().unwrap_or_else(null).to_ascii_uppercase()),
            b'f' => float(&mut out, &spec, args.double()),
            _ => {}
        }
    }
    out
}

fn null() -> Vec<u8> {
    b"(null)".to_vec()
}

fn spec(rest: &mut &[u8], args: &mut dyn Arguments) -> Spec {
    let mut spec = Spec::default();
    while let Some((&flag, after)) = rest.split_first() {
        match flag {
            b'-' => spec.left = true,
            b'0' => spec.zeros = true,
            b',' | b'\'' => spec.commas = true,
            b'#' => spec.alternate = true,
            b'(' => {}
            _ => break,
        }
        *rest = after;
    }
    spec.width = size(rest, args).unwrap_or(0);
    if let Some(after) = rest.strip_prefix(b".") {
        *rest = after;
        // A negative one is as if it were not there.
        spec.precision = size(rest, args);
    }
    if let Some(after) = rest.strip_prefix(b"z") {
        *rest = after;
        (spec.wide, spec.size) = (false, true);
    } else {
        while let Some(after) = rest.strip_prefix(b"l") {
            *rest = after;
            spec.wide = true;
        }
    }
    spec
}

/// A width or precision, no larger than a text may be; `None` for a negative argument.
fn size(rest: &mut &[u8], args: &mut dyn Arguments) -> Option<usize> {
    if let Some(after) = rest.strip_prefix(b"*") {
        *rest = after;
        return usize::try_from(args.integer() as i32).ok().map(|size| size.min(MAX_TEXT));
    }
    let mut size = 0usize;
    while let Some((&digit @ b'0'..=b'9', after)) = rest.split_first() {
        *rest = after;
        size = size.saturating_mul(10).saturating_add(usize::from(digit - b'0')).min(MAX_TEXT);
    }
    Some(size)
}

fn unsigned(spec: &Spec, args: &mut dyn Arguments) -> u64 {
    let word = args.integer();
    if spec.wide || spec.size { word } else { word & 0xffff_ffff }
}

fn pad(out: &mut Vec<u8>, with: u8, count: usize) {
    out.resize(out.len() + count.min(MAX_TEXT), with);
}

/// A number. The sign comes before the digits but behind zeros that fill the width.
fn number(out: &mut Vec<u8>, spec: &Spec, base: u64, capital: bool, value: u64, negative: bool) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut reversed = Vec::new();
    let mut value = value;
    loop {
        if spec.commas && base == 10 && !reversed.is_empty() && reversed.len() % 4 == 3 {
            reversed.push(b',');
        }
        let digit = DIGITS[(value % base) as usize];
        reversed.push(if capital { digit.to_ascii_uppercase() } else { digit });
        value /= base;
        if value == 0 {
            break;
        }
    }
    reversed.extend(negative.then_some(b'-'));
    let missing = spec.width.saturating_sub(reversed.len());
    if !spec.left {
        pad(out, if spec.zeros { b'0' } else { b' ' }, missing);
    }
    out.extend(reversed.iter().rev());
    if spec.left {
        pad(out, b' ', missing);
    }
}

/// A text; the width is also the most that is printed of it, and a precision is nothing.
fn text(out: &mut Vec<u8>, spec: &Spec, text: &[u8]) {
    let shown = if spec.width == 0 { text } else { text.get(..spec.width).unwrap_or(text) };
    let missing = spec.width.saturating_sub(shown.len());
    if !spec.left {
        pad(out, b' ', missing);
    }
    out.extend(shown);
    if spec.left {
        pad(out, b' ', missing);
    }
}

fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in text {
        match byte {
            b'&' => out.extend(b"&amp;"),
            b'<' => out.extend(b"&lt;"),
            b'>' => out.extend(b"&gt;"),
            _ => out.push(*byte),
        }
    }
    out
}

/// A number with a decimal point, from its integral part and so many digits; asterisks for what 64
/// bits do not hold.
fn float(out: &mut Vec<u8>, spec: &Spec, value: f64) {
    /// As the CPU turns a number into an integer that does not hold it.
    const INDEFINITE: u64 = 1 << 63;
    let negative = value < 0.0;
    let value = if negative { -value } else { value };
    if value > u64::MAX as f64 {
        let width = if spec.width == 0 { 6 } else { spec.width };
        return pad(out, b'*', width);
    }
    let whole = |value: f64| if value.is_nan() { INDEFINITE } else { value as u64 };
    let precision = spec.precision.unwrap_or(6).min(10);
    let factor = 10u64.pow(precision as u32);
    let mut integral = whole(value);
    let scaled = (value - integral as f64) * factor as f64;
    let mut digits = whole(scaled);
    if scaled - digits as f64 > 0.5 {
        digits = digits.wrapping_add(1);
    }
    if digits == factor {
        integral = integral.wrapping_add(1);
    }
    digits %= factor;
    let mut shown = if negative { format!("-{integral}") } else { integral.to_string() };
    if precision > 0 {
        shown.push_str(&format!(".{digits:0precision$}"));
    }
    let missing = spec.width.saturating_sub(shown.len());
    if !spec.left {
        pad(out, b' ', missing);
    }
    out.extend(shown.as_bytes());
    if spec.left {
        pad(out, b' ', missing);
    }
}
