//! Function names as Valgrind 3.19 prints them: C++ and Rust names demangled, start-up code folded together.

use std::borrow::Cow;
use std::fmt::Write;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// What the code before `main` is shown as.
pub const BELOW_MAIN: &str = "(below main)";
/// Longest readable name, in bytes; a mangled name of some hundred bytes can stand for gigabytes.
const MAX_NAME: usize = 1 << 16;
/// Deepest nesting a mangled name may have.
const MAX_DEPTH: u32 = 192;

/// The name to show for a symbol: demangled with `demangle`, and [`BELOW_MAIN`] for the C library's start-up code
/// unless `show_below_main`. These are Valgrind's options of the same names (Valgrind manual, 2.6).
pub fn display_name(raw: &str, show_below_main: bool, demangle: bool) -> Cow<'_, str> {
    if !show_below_main && is_below_main(raw) {
        return Cow::Borrowed(BELOW_MAIN);
    }
    if !demangle {
        return Cow::Borrowed(raw);
    }
    rust(raw).or_else(|| cpp(raw)).map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// Whether this is C library code that calls `main`, by its exact name: one with a version suffix is not.
pub fn is_below_main(raw: &str) -> bool {
    matches!(raw, "_start" | "__libc_start_main" | "__libc_start_call_main" | "generic_start_main")
        || raw.starts_with("__libc_start_main.")
        || raw.starts_with("generic_start_main.")
}

/// A Rust name, without the hash of the older mangling.
fn rust(raw: &str) -> Option<String> {
    if !raw.starts_with("_R") && !is_legacy_rust(raw) {
        return None;
    }
    // What the compiler appended (`.cold`, `.llvm.123`) is not shown.
    let mangled = raw.split_once('.').map_or(raw, |(name, _)| name);
    let name = rustc_demangle::try_demangle(mangled).ok()?;
    let mut text = Limited(String::new());
    write!(text, "{name:#}").ok()?;
    Some(text.0)
}

/// Whether the name ends in `17h`, 16 hexadecimal digits of which at least five differ, and `E`. C++ names that end
/// so have fewer different ones.
fn is_legacy_rust(raw: &str) -> bool {
    let name = raw.split_once(".llvm.").map_or(raw, |(name, _)| name);
    let Some(path) = name.strip_prefix("_ZN").and_then(|name| name.strip_suffix('E')) else { return false };
    let Some(start) = path.len().checked_sub(19) else { return false };
    let Some(hash) = path.get(start..).and_then(|hash| hash.strip_prefix("17h")) else { return false };
    let mut seen = 0u16;
    for digit in hash.chars() {
        match digit {
            '0'..='9' | 'a'..='f' => seen |= 1 << digit.to_digit(16).unwrap_or(0),
            _ => return false,
        }
    }
    seen.count_ones() >= 5
}

/// A name of the Itanium C++ ABI.
fn cpp(raw: &str) -> Option<String> {
    let mangled = raw.strip_prefix("_Z")?;
    if let Some((kind, target)) = thunk(mangled) {
        return Some(format!("{kind}{}", cpp(&format!("_Z{target}"))?));
    }
    let parse = ParseOptions::default().recursion_limit(MAX_DEPTH);
    let symbol = Symbol::new_with_options(raw, &parse).ok()?;
    let mut text = Limited(String::new());
    let options = DemangleOptions::default().recursion_limit(MAX_DEPTH);
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(without_empty_packs(&short_literals(&text.0)))
}

/// Drops the commas that empty parameter packs leave.
fn without_empty_packs(text: &str) -> String {
    if !text.contains(", >") && !text.contains(", )") && !text.contains(", ,") {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(", ") {
        let (before, comma) = rest.split_at(at);
        clean.push_str(before);
        rest = comma.get(2..).unwrap_or_default();
        if rest.starts_with('>') {
            if clean.ends_with('>') {
                clean.push(' ');
            }
        } else if !rest.starts_with([')', ',']) {
            clean.push_str(", ");
        }
    }
    clean.push_str(rest);
    clean
}

/// Splits the name of an adjusting thunk into what it is and the name of its target (Itanium C++ ABI, 5.1.4.2).
fn thunk(mangled: &str) -> Option<(&'static str, &str)> {
    let number = |text: &'_ str| -> Option<usize> {
        let digits = text.strip_prefix('n').unwrap_or(text);
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        (count > 0 && digits.as_bytes().get(count) == Some(&b'_'))
            .then_some(text.len() - digits.len() + count + 1)
    };
    if let Some(rest) = mangled.strip_prefix("Th") {
        return Some(("non-virtual thunk to ", rest.get(number(rest)?..)?));
    }
    let rest = mangled.strip_prefix("Tv")?;
    let rest = rest.get(number(rest)?..)?;
    Some(("virtual thunk to ", rest.get(number(rest)?..)?))
}

/// Types of literals that Valgrind writes as a suffix, `2ul` for `(unsigned long)2`.
const SUFFIXES: [(&str, &str); 5] = [
    ("(unsigned int)", "u"),
    ("(long)", "l"),
    ("(unsigned long)", "ul"),
    ("(long long)", "ll"),
    ("(unsigned long long)", "ull"),
];

/// Rewrites literals with casts of the [`SUFFIXES`].
fn short_literals(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('(') {
        let (before, cast) = rest.split_at(at);
        short.push_str(before);
        rest = cast;
        let literal = SUFFIXES.iter().find_map(|(kind, suffix)| {
            let number = cast.strip_prefix(kind)?;
            let sign = usize::from(number.starts_with('-'));
            let digits = number.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
            (digits > 0)
                .then(|| number.split_at_checked(sign + digits))
                .flatten()
                .map(|split| (split, suffix))
        });
        match literal {
            Some(((number, after), suffix)) => {
                short.push_str(number);
                short.push_str(suffix);
                rest = after;
            }
            None => {
                short.push('(');
                rest = cast.get(1..).unwrap_or_default();
            }
        }
    }
    short.push_str(rest);
    short
}

/// A string that refuses to grow past [`MAX_NAME`].
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len().saturating_add(text.len()) > MAX_NAME {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
