//! Function names in full and in short: without parameter lists, template arguments and generic
//! arguments.

use std::borrow::Cow;

use crate::symbols::valgrind::demangle::display_name;

/// The form of the names of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameStyle {
    /// As the demangler writes them, also names that are mangled in the profile.
    Full,
    /// Without parameters, template and generic arguments; `Trait for Type` is `Type`. Functions
    /// whose short names are the same are added up.
    Short,
}

impl NameStyle {
    /// The name of a function in this style.
    pub(crate) fn apply(self, name: &[u8]) -> Vec<u8> {
        let full = match std::str::from_utf8(name) {
            Ok(text) => display_name(text, true, true).into_owned().into_bytes(),
            Err(_) => name.to_vec(),
        };
        match self {
            NameStyle::Full => full,
            NameStyle::Short => short(&full).into_owned(),
        }
    }
}

/// Parentheses of the C++ demangler that are part of a name, not of a parameter list.
const KEPT: [&str; 3] = ["(anonymous namespace)", "(below main)", "operator()"];

/// `name` without parameter lists, template arguments, return type and Rust's generic arguments.
/// Names that are not C++ or Rust stay as they are.
pub(crate) fn short(name: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = std::str::from_utf8(name) else { return Cow::Borrowed(name) };
    if !text.contains(['<', '(']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(shorten(text).into_bytes())
}

fn shorten(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut depth = 0usize;
    while let Some(c) = rest.chars().next() {
        if depth == 0 {
            if let Some(kept) = KEPT.iter().find(|kept| rest.starts_with(**kept)) {
                out.push_str(kept);
                rest = rest.get(kept.len()..).unwrap_or_default();
                continue;
            }
            // `operator<`, `operator<<`, `operator->`: signs that open nothing.
            if out.ends_with("operator") && matches!(c, '<' | '>' | '-' | '=') {
                let signs = rest.bytes().take_while(|b| matches!(b, b'<' | b'>' | b'=' | b'-')).count();
                out.push_str(rest.get(..signs).unwrap_or_default());
                rest = rest.get(signs..).unwrap_or_default();
                // A blank keeps template arguments apart from the sign.
                rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with('<')).unwrap_or(rest);
                continue;
            }
            // `<impl Trait for T>::f`, below the module with the impl: likewise about T.
            if let Some(inner) = matching(rest).filter(|_| rest.starts_with("<impl ")) {
                let subject = rest.get(6..inner).unwrap_or_default();
                out = shorten(subject.rsplit(" for ").next().unwrap_or(subject));
                rest = rest.get(inner + 1..).unwrap_or_default();
                continue;
            }
            // A Rust impl: `<T as Trait>::f` is about T.
            if out.is_empty() && c == '<' {
                let inner = matching(rest).unwrap_or(rest.len());
                let subject = rest.get(1..inner).unwrap_or_default();
                out.push_str(&shorten(subject.split(" as ").next().unwrap_or(subject)));
                rest = rest.get(inner + 1..).unwrap_or_default();
                continue;
            }
        }
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' if depth > 0 => depth -= 1,
            // The return type ends here.
            ' ' if depth == 0 && !rest.starts_with(" [clone") && !rest.starts_with(" const") => {
                if !out.ends_with("operator") && !is_prefix(&out) {
                    out.clear();
                } else {
                    out.push(c);
                }
            }
            ' ' if depth == 0 => return out,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    // Without its arguments, Rust's turbofish leaves colons.
    let trimmed = out.trim_end_matches("::").to_owned();
    let joined = trimmed.replace("::::", "::");
    if joined.is_empty() { text.to_owned() } else { joined }
}

/// Tests for words before a demangled name that are no return type.
fn is_prefix(text: &str) -> bool {
    ["non-virtual", "virtual", "thunk", "to", "vtable", "for", "guard", "variable"]
        .iter()
        .any(|word| text == *word || text.ends_with(&format!(" {word}")))
}

/// Index of the `>` that closes the `<` at the beginning.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut before = '\0';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_short() {
        for (full, expected) in [
            ("main", "main"),
            ("(below main)", "(below main)"),
            ("f(int)", "f"),
            ("void foo<int>(int) [clone .part.0] [clone .cold]", "foo"),
            ("std::map<int, std::less<int> >::find(int const&) const", "std::map::find"),
            ("main::{lambda()#1}::operator()() const", "main::{lambda#1}::operator()"),
            ("(anonymous namespace)::g(char const*)", "(anonymous namespace)::g"),
            ("std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<<"),
            ("non-virtual thunk to A::f()", "non-virtual thunk to A::f"),
            ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "alloc::vec::Vec::drop"),
            ("core::ptr::drop_in_place::<alloc::string::String>", "core::ptr::drop_in_place"),
            ("<arrayvec::ArrayVec<u8, 123>>::new", "arrayvec::ArrayVec::new"),
            ("std::mem::align_of::<f64>", "std::mem::align_of"),
            (
                "core::iter::range::<impl core::iter::Iterator for core::ops::Range<A>>::next",
                "core::ops::Range::next",
            ),
            ("core::num::<impl u64>::wrapping_mul", "u64::wrapping_mul"),
            ("hashbrown::HashMap::<K, V>::insert", "hashbrown::HashMap::insert"),
        ] {
            assert_eq!(String::from_utf8_lossy(&short(full.as_bytes())), expected, "{full}");
        }
        for odd in ["<", "(", "<>", "a<b", ")))", ">>(", " ", "operator<"] {
            let _ = short(odd.as_bytes());
        }
    }
}
