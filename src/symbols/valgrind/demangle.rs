//! Function names as Valgrind 3.19 prints them: C++ and Rust names demangled, start-up code folded
//! together.

use std::borrow::Cow;
use std::fmt::Write;

use crate::symbols::valgrind::{libiberty_style, members};
use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// The name shown for the code before `main`.
const BELOW_MAIN: &str = "(below main)";
/// Longest readable name, in bytes; a mangled name of some hundred bytes can stand for gigabytes.
const MAX_NAME: usize = 1 << 16;
/// Deepest nesting a mangled name may have.
const MAX_DEPTH: u32 = 192;

/// The name to show for a symbol: demangled with `demangle`, and [`BELOW_MAIN`] for the C library's
/// start-up code unless `show_below_main`. These are Valgrind's options of the same names (Valgrind
/// manual, 2.6).
pub(crate) fn display_name(raw: &str, show_below_main: bool, demangle: bool) -> Cow<'_, str> {
    if !show_below_main && is_below_main(raw) {
        return Cow::Borrowed(BELOW_MAIN);
    }
    if !demangle {
        return Cow::Borrowed(raw);
    }
    rust(raw).or_else(|| cpp(raw)).map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// True for C library code that calls `main`, by its exact name: one with a version suffix is not.
fn is_below_main(raw: &str) -> bool {
    matches!(raw, "_start" | "__libc_start_main" | "__libc_start_call_main" | "generic_start_main")
        || raw.starts_with("__libc_start_main.")
        || raw.starts_with("generic_start_main.")
}

/// A Rust name, without the hash of the older mangling and the compiler's suffixes (`.cold`,
/// `.llvm.123`).
fn rust(raw: &str) -> Option<String> {
    let mangled = if raw.starts_with("_R") {
        raw.split_once('.').map_or(raw, |(name, _)| name)
    } else {
        legacy_rust(raw)?
    };
    let name = rustc_demangle::try_demangle(mangled).ok()?;
    let mut text = Limited(String::new());
    write!(text, "{name:#}").ok()?;
    Some(text.0)
}

/// The part of a name that is in Rust's older mangling: up to `17h`, 16 hexadecimal digits of which
/// at least five differ, and `E`. C++ names that end like this have fewer different ones.
fn legacy_rust(raw: &str) -> Option<&str> {
    let path = raw.strip_prefix("_ZN")?;
    let (at, _) = path.rmatch_indices("17h").find(|&(at, _)| {
        let rest = path.get(at + 19..).and_then(|rest| rest.strip_prefix('E'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })?;
    let mut seen = 0u16;
    for digit in path.get(at + 3..at + 19)?.chars() {
        match digit {
            '0'..='9' | 'a'..='f' => seen |= 1 << digit.to_digit(16).unwrap_or(0),
            _ => return None,
        }
    }
    if seen.count_ones() < 5 { None } else { raw.get(.."_ZN".len() + at + 20) }
}

/// A name of the Itanium C++ ABI.
fn cpp(raw: &str) -> Option<String> {
    let mangled = raw.strip_prefix("_Z")?;
    if let Some((kind, target)) = thunk(mangled) {
        // A thunk's target is no thunk.
        let target = thunk(target).is_none().then(|| cpp(&format!("_Z{target}"))).flatten()?;
        return Some(format!("{kind}{target}"));
    }
    let full = with_return_type(raw).map_or(Cow::Borrowed(raw), Cow::Owned);
    let text = itanium(&full).or_else(|| members::as_members(&itanium(&members::as_conversions(&full)?)?))?;
    Some(libiberty_style::as_libiberty(raw, &text))
}

/// The demangler's own spelling of a name of the Itanium C++ ABI.
fn itanium(raw: &str) -> Option<String> {
    let parse = ParseOptions::default().recursion_limit(MAX_DEPTH);
    let symbol = Symbol::new_with_options(raw, &parse).ok()?;
    let text = |options: DemangleOptions| {
        let mut text = Limited(String::new());
        symbol.structured_demangle(&mut text, &options.recursion_limit(MAX_DEPTH)).ok()?;
        Some(text.0)
    };
    if !raw.starts_with("_ZZ") {
        return text(DemangleOptions::default());
    }
    // What is local to a function is shown without that function's return type, but with its own.
    let local = text(DemangleOptions::default().no_return_type())?;
    Some(match generic_lambda(&local) {
        true => {
            text(DemangleOptions::default()).and_then(|full| with_own_type(&full, &local)).unwrap_or(local)
        }
        false => local,
    })
}

/// True for the call operator of a generic lambda, the only template that is local to a function.
fn generic_lambda(text: &str) -> bool {
    const CALL: &str = "}::operator()";
    text.rfind(CALL).and_then(|at| text.get(at + CALL.len()..)).is_some_and(|rest| rest.starts_with('<'))
}

/// The name of a generic lambda's operator with its return type, which comes first in the full
/// text, before that of the function around, if that is a template.
fn with_own_type(full: &str, local: &str) -> Option<String> {
    let types = full.strip_suffix(local)?;
    let deduced = ["auto ", "decltype(auto) "].into_iter().find(|deduced| types.starts_with(deduced));
    let in_template = local.split('{').next().is_some_and(|around| around.contains('<'));
    let own = deduced.or(Some(types).filter(|_| !in_template))?;
    Some(format!("{own}{local}"))
}

/// The name of a constructor template, with `void` put in front of its parameters. Constructors
/// have no return type in their mangled name, but the demangler takes that of every template to
/// begin with one.
fn with_return_type(raw: &str) -> Option<String> {
    const MAX_TRIES: usize = 64;
    if !raw.starts_with("_ZN") || raw.len() > MAX_NAME {
        return None;
    }
    let constructors = raw.match_indices('C').map(|(at, _)| at).filter(|&at| {
        let rest = raw.as_bytes().get(at + 1..at + 3);
        rest.is_some_and(|rest| matches!(rest, [b'1'..=b'5', b'I']))
    });
    for at in constructors.take(MAX_TRIES) {
        // Only a constructor can have a destructor in its place.
        let class = raw.get(..at)?;
        if !itanium(&format!("{class}D2Ev")).is_some_and(|text| text.contains("::~")) {
            continue;
        }
        // A nested name ends at its own `E`: whatever is shorter or longer is no name.
        let ends = raw.as_bytes().windows(2).enumerate().skip(at).filter(|(_, pair)| *pair == b"EE");
        for (end, _) in ends.take(MAX_TRIES) {
            let (name, parameters) = raw.split_at_checked(end + 2)?;
            if itanium(&format!("{name}vv")).is_some() {
                return Some(format!("{name}v{parameters}"));
            }
        }
    }
    None
}

/// Splits the name of an adjusting thunk into its kind and the name of its target (Itanium C++ ABI,
/// 5.1.4.2).
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that Valgrind 3.19's Cachegrind printed as `fn=` for these symbols.
    #[test]
    fn names_as_valgrind_prints_them() {
        for (raw, shown) in [
            ("main", "main"),
            ("_Z1fi", "f(int)"),
            ("_Z1gv.constprop.0", "g() [clone .constprop.0]"),
            ("_Z3fooIiEvT_.part.0.cold", "void foo<int>(int) [clone .part.0] [clone .cold]"),
            ("_Z3fooi.lto_priv.0", "foo(int) [clone .lto_priv.0]"),
            ("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"),
            ("_ZZ4mainENKUlT_E_clIiEEDaS_", "auto main::{lambda(auto:1)#1}::operator()<int>(int) const"),
            ("_ZN3fooD0Ev", "foo::~foo()"),
            ("_ZN3fooC2Ev", "foo::foo()"),
            (
                "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2IS3_EEPKcRKS3_",
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >\
                 ::basic_string<std::allocator<char> >(char const*, std::allocator<char> const&)",
            ),
            ("_Z6_startv", "_start()"),
            ("_Z3fooi@@VER_1", "_Z3fooi@@VER_1"),
            ("_Z3fooj@VER_1", "_Z3fooj@VER_1"),
            ("__Z3fooi", "__Z3fooi"),
            ("_GLOBAL__sub_I__ZN3foo3barEv", "_GLOBAL__sub_I__ZN3foo3barEv"),
            ("_D4test3fooFiZv", "_D4test3fooFiZv"),
            ("_R", "_R"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"),
            ("_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new", "<arrayvec::ArrayVec<u8, 123>>::new"),
            ("_RNCNvC4main4main0B3_", "main::main::{closure#0}"),
            ("_ZN3foo3bar17h05af221e174051e9E", "foo::bar"),
            ("_ZN3foo3bar17h05af221e174051e9E.llvm.1234", "foo::bar"),
            ("_ZN3foo3bar17h05af221e174051e9E.cold", "foo::bar"),
            (
                "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
                "<Test + 'static as foo::Bar<Test>>::bar",
            ),
            // Too few different digits for a hash.
            (
                "_ZN4core3fmt5Write9write_fmt17hd1d1d1d1d1d1d1d1E",
                "core::fmt::Write::write_fmt::hd1d1d1d1d1d1d1d1",
            ),
            (
                "_Z3barNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                "bar(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
            ),
            ("_ZThn16_N1A1fEv", "non-virtual thunk to A::f()"),
            ("_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()"),
        ] {
            assert_eq!(display_name(raw, false, true), shown, "{raw}");
            assert_eq!(display_name(raw, false, false), raw);
        }
    }

    #[test]
    fn below_main() {
        for raw in [
            "_start",
            "__libc_start_main",
            "__libc_start_main.foo",
            "__libc_start_call_main",
            "generic_start_main",
            "generic_start_main.isra.0",
        ] {
            assert_eq!(display_name(raw, false, true), BELOW_MAIN);
            assert_eq!(display_name(raw, false, false), BELOW_MAIN);
            assert_eq!(display_name(raw, true, true), raw);
        }
        for raw in [
            "__libc_start_main@@GLIBC_2.34",
            "__libc_start_mainX",
            "__libc_start_call_mainX",
            "__libc_start_call_main.isra.0",
            "generic_start_mainX",
            "_startX",
            "main",
        ] {
            assert_eq!(display_name(raw, false, true), raw);
        }
    }

    #[test]
    fn hostile_names_stay_short() {
        let bomb = format!("_Z1f{}", (0..40).fold("1AIiE".to_owned(), |name, _| format!("1AI{name}S0_S0_E")));
        let deep = format!("_Z1f{}i", "P".repeat(100_000));
        let rust = format!("_R{}", "Nv".repeat(100_000));
        for raw in [bomb, deep, rust, "_ZThn_".to_owned(), "_ZTv0_".to_owned(), "_Z\u{e9}".to_owned()] {
            assert!(display_name(&raw, false, true).len() <= MAX_NAME.max(raw.len()));
        }
        let thunks = format!("_Z{}1fv", "Th0_".repeat(100_000));
        assert_eq!(display_name(&thunks, false, true), thunks);
    }
}
