//! Symbols by the names that people type for them: `main`, `f(int)`, `ns::f`, `f` for
//! `ns::f<int>(int)`.

use std::borrow::Cow;

use rustc_hash::FxHasher;
use std::hash::Hasher as _;

use crate::symbols::give_up::GiveUp;
use crate::symbols::valgrind::demangle::display_name;
use crate::symbols::valgrind::libiberty_style::closing;

/// The quality of a match; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is the symbol's, with or without a version.
    Exact,
    /// It is the whole readable name; template arguments and parameters may be left out.
    Whole,
    /// It is the end of the readable name: `f` for `ns::f`.
    Tail,
    /// It fits in one of these ways the original of a copy that the compiler made: `f` for
    /// `f.constprop.0`.
    Copy,
}

/// The parts of a readable name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts<'n> {
    /// The parts between `::`, without a return type and without Rust's `::<T>`.
    path: Vec<&'n str>,
    /// With its parentheses.
    parameters: Option<&'n str>,
}

/// Symbols by the end of their names.
#[derive(Debug)]
pub(crate) struct NameIndex {
    /// Hash of the last part of the path, and the symbol's number.
    ends: Vec<(u64, u32)>,
}

impl NameIndex {
    /// Of symbols with these names, as they stand in the symbol table.
    pub(crate) fn new<'n>(raw: impl Iterator<Item = &'n str>, give_up: &GiveUp) -> Self {
        let end = |(index, raw): (usize, &str)| {
            let shown = readable(raw);
            let hash =
                shown.as_ref().and_then(|(shown, _)| parts(shown).path.last().map(|last| hash(bare(last))));
            Some((hash?, u32::try_from(index).ok()?))
        };
        let mut ends: Vec<(u64, u32)> = raw.enumerate().filter_map(end).collect();
        give_up.sort_by(&mut ends, Ord::cmp);
        Self { ends }
    }

    /// The numbers of the symbols that may be meant by `name`.
    pub(crate) fn candidates(&self, name: &str) -> impl Iterator<Item = usize> {
        let hash = parts(name).path.last().map_or(0, |last| hash(bare(last)));
        let from = self.ends.partition_point(|end| end.0 < hash);
        self.ends.iter().skip(from).take_while(move |end| end.0 == hash).map(|end| end.1 as usize)
    }
}

/// The last part of the path of `name`, without template arguments: every symbol that fits has it.
pub(crate) fn last_part(name: &str) -> &str {
    parts(name).path.last().map_or("", |last| bare(last))
}

/// Matches `name` with the symbol called `raw`.
pub(crate) fn fit(name: &str, raw: &str) -> Option<Fit> {
    if raw == name || raw.split('@').next() == Some(name) {
        return Some(Fit::Exact);
    }
    let (shown, copy) = readable(raw)?;
    if !copy && *shown == *name {
        return Some(Fit::Whole);
    }
    let (name, symbol) = (parts(name), parts(&shown));
    let parameters = match (name.parameters, symbol.parameters) {
        (Some(a), Some(b)) => same(a, b),
        (Some(_), None) => false,
        (None, _) => true,
    };
    let skipped = symbol.path.len().checked_sub(name.path.len())?;
    let equal = |(a, b): (&&str, &&str)| same(a, b) || (bare(a).len() == a.len() && same(a, bare(b)));
    if name.path.is_empty()
        || !parameters
        || !name.path.iter().zip(symbol.path.iter().skip(skipped)).all(equal)
    {
        return None;
    }
    Some(match (copy, skipped) {
        (true, _) => Fit::Copy,
        (false, 0) => Fit::Whole,
        (false, _) => Fit::Tail,
    })
}

/// The readable name of a symbol, and true for a copy that the compiler made. `None` for the cold
/// parts of functions, which nobody calls by name.
fn readable(raw: &str) -> Option<(Cow<'_, str>, bool)> {
    let plain = raw.split('@').next().filter(|name| !name.is_empty()).unwrap_or(raw);
    let shown = display_name(plain, true, true);
    if let Some((name, copies)) = shown.split_once(" [clone ") {
        return (!copies.contains(".cold")).then(|| (Cow::Owned(name.to_owned()), true));
    }
    if !matches!(shown, Cow::Borrowed(_)) {
        return Some((shown, false));
    }
    let dot = plain.char_indices().skip(1).find(|&(_, c)| c == '.').map(|(at, _)| at);
    match dot.and_then(|dot| plain.split_at_checked(dot)) {
        Some((_, copies)) if copies.contains(".cold") => None,
        Some((name, copies)) => {
            let made = [".constprop", ".isra", ".part", ".lto_priv", ".llvm"]
                .iter()
                .any(|mark| copies.starts_with(mark));
            Some(if made { (Cow::Borrowed(name), true) } else { (Cow::Borrowed(plain), false) })
        }
        None => Some((Cow::Borrowed(plain), false)),
    }
}

/// True if two pieces of names are the same but for spaces.
fn same(a: &str, b: &str) -> bool {
    let letters =
        |text: &'_ str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<u8>>();
    a == b || letters(a) == letters(b)
}

/// A part of a path without template arguments and ABI tags.
fn bare(part: &str) -> &str {
    let end = match part {
        _ if is_operator(part) => part.find(" <"),
        _ if part.starts_with('<') => None,
        _ => part.find(['<', '[']),
    };
    end.and_then(|end| part.get(..end)).unwrap_or(part)
}

fn is_operator(part: &str) -> bool {
    let sign = part.strip_prefix("operator");
    sign.is_some_and(|sign| !sign.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn hash(part: &str) -> u64 {
    let mut hasher = FxHasher::default();
    part.bytes().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

/// Takes a name of C, C++ or Rust apart.
fn parts(name: &str) -> Parts<'_> {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let bytes = name.as_bytes();
    let piece = |from: usize, to: usize| name.get(from..to).unwrap_or_default();
    let mut parts = Parts::default();
    let (mut depth, mut start, mut at) = (0usize, 0usize, 0usize);
    let mut end = bytes.len();
    while let Some(&byte) = bytes.get(at) {
        let rest = piece(at, bytes.len());
        if depth == 0 && at == start && is_operator(rest) {
            at = at.saturating_add(operator(rest));
            continue;
        }
        match byte {
            b'(' if depth == 0 && rest.starts_with(ANONYMOUS) => at = at.saturating_add(ANONYMOUS.len() - 1),
            b'(' if depth == 0 => {
                let close = closing(bytes, at).map_or(bytes.len(), |close| close.saturating_add(1));
                parts.parameters = Some(piece(at, close));
                end = at;
                break;
            }
            b'<' | b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b'>' if at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at.saturating_add(1)) == Some(&b':') => {
                add(&mut parts, piece(start, at));
                at = at.saturating_add(1);
                start = at.saturating_add(1);
            }
            // What is before was the return type.
            b' ' if depth == 0 => {
                parts.path.clear();
                start = at.saturating_add(1);
            }
            _ => {}
        }
        at = at.saturating_add(1);
    }
    add(&mut parts, piece(start, end));
    parts
}

fn add<'n>(parts: &mut Parts<'n>, part: &'n str) {
    let turbofish = part.starts_with('<') && !parts.path.is_empty();
    if !part.is_empty() && !turbofish {
        parts.path.push(part);
    }
}

/// Length of the `operator…` that `rest` begins with, up to its parameters or template arguments.
fn operator(rest: &str) -> usize {
    let sign = rest.get("operator".len()..).unwrap_or_default();
    let length = if sign.starts_with("()") {
        2
    } else if sign.starts_with(' ') {
        // A conversion, `new` or `delete`.
        let mut depth = 0usize;
        let end = sign.bytes().position(|byte| {
            match byte {
                b'<' => depth = depth.saturating_add(1),
                b'>' => depth = depth.saturating_sub(1),
                _ => {}
            }
            byte == b'(' && depth == 0
        });
        end.unwrap_or(sign.len())
    } else {
        let length = sign.bytes().take_while(|byte| b"+-*/%^&|~!=<>,[]\"".contains(byte)).count();
        let arguments = sign.get(length..).is_some_and(|rest| rest.starts_with(" <"));
        length.saturating_add(usize::from(arguments))
    };
    "operator".len().saturating_add(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_names() {
        for (name, path, parameters) in [
            ("main", &["main"][..], None),
            ("f(int)", &["f"], Some("(int)")),
            ("void ns::f<int>(int)", &["ns", "f<int>"], Some("(int)")),
            ("std::enable_if<true, int>::type a::b<x::y>(z)", &["a", "b<x::y>"], Some("(z)")),
            ("main::{lambda()#1}::operator()() const", &["main", "{lambda()#1}", "operator()"], Some("()")),
            ("(anonymous namespace)::f(char)", &["(anonymous namespace)", "f"], Some("(char)")),
            ("d& a::operator<< <b>(c)", &["a", "operator<< <b>"], Some("(c)")),
            ("a::operator<(a const&)", &["a", "operator<"], Some("(a const&)")),
            ("s::operator std::string() const", &["s", "operator std::string"], Some("()")),
            ("operator new(unsigned long)", &["operator new"], Some("(unsigned long)")),
            ("operators(int)", &["operators"], Some("(int)")),
            ("<Test + 'static as foo::Bar<Test>>::bar", &["<Test + 'static as foo::Bar<Test>>", "bar"], None),
            ("a::b::<fn(u8) -> u8>::c::<T>", &["a", "b", "c"], None),
            ("main::main::{closure#0}", &["main", "main", "{closure#0}"], None),
            ("", &[], None),
            (")>:::(", &[")>", ":"], Some("(")),
        ] {
            assert_eq!(parts(name), Parts { path: path.to_vec(), parameters }, "{name}");
        }
    }

    #[test]
    fn fits() {
        use Fit::*;
        for (name, raw, expected) in [
            ("main", "main", Some(Exact)),
            ("memcpy", "memcpy@@GLIBC_2.14", Some(Exact)),
            ("main", "_RNvC6_123foo4main", Some(Tail)),
            ("123foo::main", "_RNvC6_123foo4main", Some(Whole)),
            ("foo::main", "_RNvC6_123foo4main", None),
            ("f", "_Z1fi", Some(Whole)),
            ("f(int)", "_Z1fi", Some(Whole)),
            ("f( int )", "_Z1fi", Some(Whole)),
            ("f(char)", "_Z1fi", None),
            ("foo", "_Z3fooIiEvT_", Some(Whole)),
            ("foo<int>", "_Z3fooIiEvT_", Some(Whole)),
            ("foo<char>", "_Z3fooIiEvT_", None),
            ("foo<int>(int)", "_Z3fooIiEvT_", Some(Whole)),
            ("f", "_ZN1A1fEv", Some(Tail)),
            ("A::f", "_ZN1A1fEv", Some(Whole)),
            ("B::f", "_ZN1A1fEv", None),
            ("_ZN1A1fEv", "_ZN1A1fEv", Some(Exact)),
            ("operator<<", "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", Some(Tail)),
            ("operator()", "_ZZ4mainENKUlvE_clEv", Some(Tail)),
            ("f", "f.constprop.0", Some(Copy)),
            ("f.constprop.0", "f.constprop.0", Some(Exact)),
            ("f", "f.part.0.cold", None),
            ("f", "f.1234", None),
            ("g", "_Z1gv.constprop.0", Some(Copy)),
            ("g", "_Z1gv.cold", None),
            ("foo::bar", "_ZN3foo3bar17h05af221e174051e9E", Some(Whole)),
            ("bar", "_ZN3foo3bar17h05af221e174051e9E", Some(Tail)),
            ("", "_Z1fi", None),
            ("::", "f", None),
        ] {
            assert_eq!(fit(name, raw), expected, "{name} for {raw}");
            if expected.is_some_and(|fit| fit != Exact) {
                let names = NameIndex::new(["zero", raw, "two"].into_iter(), &GiveUp::default());
                assert_eq!(names.candidates(name).collect::<Vec<_>>(), [1], "{name} for {raw}");
            }
        }
    }
}
