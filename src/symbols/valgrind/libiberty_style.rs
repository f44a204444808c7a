//! Demangled C++ names respelled as Valgrind's demangler (libiberty's, without DMGL_VERBOSE) writes
//! them, where `cpp_demangle` writes them differently. The expectations in the tests are those of
//! `c++filt --no-verbose`.

/// Longest name that is searched for function types, in bytes; the search is quadratic.
const MAX_SEARCH: usize = 8192;

/// Respells `text`, the demangled form of `raw`: literals, parameter packs, function types and the
/// standard library's abbreviated classes.
pub(crate) fn as_libiberty(raw: &str, text: &str) -> String {
    let mut text = function_types(&late_qualifiers(&without_empty_packs(&short_literals(text))));
    for (class, name, full) in ABBREVIATED {
        // In full only where the mangled name says so.
        if text.contains(full) && !raw.contains(&format!("basic_{name}")) {
            text = text.replace(full, class);
        }
    }
    standard_constructors(literal_operators(&text.replace("std::nullptr_t", "decltype(nullptr)")))
}

/// Writes `operator_k::operator ""`, a user-defined literal, as `operator"" _k`.
fn literal_operators(text: &str) -> String {
    const MARK: &str = "::operator \"\"";
    let Some((before, after)) = text.split_once(MARK) else { return text.to_owned() };
    match before.rsplit_once("operator") {
        Some((scope, suffix)) if suffix.chars().all(|c| c.is_alphanumeric() || c == '_') => {
            format!("{scope}operator\"\" {suffix}{after}")
        }
        _ => text.to_owned(),
    }
}

/// Drops what empty parameter packs leave: commas, and the `&&` of `Args&&...`.
fn without_empty_packs(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find([',', '(']) {
        let (before, separator) = rest.split_at(at);
        clean.push_str(before);
        let (separator, after) = match separator.strip_prefix(", ") {
            Some(after) => (", ", after),
            None => separator.split_at_checked(1).unwrap_or((separator, "")),
        };
        // `(&&)(` is a reference to a function, `(&&) [` one to an array.
        let bare = [" const&)", "&&)", "&)"].iter().find_map(|bare| after.strip_prefix(bare));
        rest = match bare.filter(|after| !after.starts_with(['(', '[']) && !after.starts_with(" [")) {
            Some(_) => after.trim_start_matches(|c| c != ')'),
            None => after,
        };
        if separator == "(" || !rest.starts_with(['>', ')', ',']) {
            clean.push_str(separator);
        }
    }
    clean.push_str(rest);
    clean
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

/// Writes `A const*::B`, a member of a class that was named before, as `A::B const*`.
fn late_qualifiers(text: &str) -> String {
    let mut result = text.to_owned();
    let mut end = text.len().min(MAX_SEARCH);
    while let Some(at) = result.get(..end).and_then(|text| text.rfind("::")) {
        end = at;
        let before = result.get(..at).unwrap_or_default();
        let class = before.trim_end_matches(['*', '&']);
        let class = class.strip_suffix(" const").unwrap_or(class);
        let is_class = class.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '>'));
        let is_operator = class.ends_with("operator") || class.ends_with("operator>");
        if class.len() == before.len() || !is_class || is_operator {
            continue;
        }
        let start = class.len();
        let mut qualifiers = before.get(start..).unwrap_or_default().to_owned();
        let member = member_end(result.as_bytes(), at);
        if result.get(member..).is_some_and(|after| after.starts_with(" const")) {
            qualifiers = qualifiers.replace(" const", "");
        }
        result.insert_str(member, &qualifiers);
        result.replace_range(start..at, "");
    }
    result
}

/// End of the name of a type that goes on at `at`.
fn member_end(bytes: &[u8], at: usize) -> usize {
    let mut angles = 0usize;
    for (at, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'<' => angles += 1,
            b'>' if angles > 0 => angles -= 1,
            b'*' | b'&' | b',' | b'(' | b')' | b'>' | b' ' | b'[' if angles == 0 => return at,
            _ => {}
        }
    }
    bytes.len()
}

/// Writes a function type among template arguments with a space before its parameters, the function
/// in `&A::f(int)` without them, and `&f(int)` and `&A::f<int>(int)` as `&(f(int))`.
fn function_types(text: &str) -> String {
    if text.len() > MAX_SEARCH || !text.contains('<') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut result = String::with_capacity(text.len() + 8);
    let mut copied = 0;
    for (open, _) in text.match_indices('(') {
        let after_type =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'>' | b'*' | b'&' | b']');
        if open < copied || !open.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(after_type) {
            continue;
        }
        let Some(close) = closing(bytes, open) else { continue };
        let rest = text.get(close + 1..).unwrap_or_default();
        let Some(start) =
            argument(bytes, open).filter(|_| rest.starts_with(['>', ',']) || rest.starts_with(" >"))
        else {
            continue;
        };
        result.push_str(text.get(copied..open).unwrap_or_default());
        copied = open;
        if let Some(name) = text.get(start..open).and_then(|argument| argument.strip_prefix('&')) {
            copied = close + 1;
            if !name.contains("::") || name.ends_with('>') {
                result.truncate(result.len() - name.len());
                result.push_str(&format!("({})", text.get(start + 1..copied).unwrap_or_default()));
            }
        } else if !text.get(start..open).is_some_and(|argument| argument.ends_with("operator")) {
            result.push(' ');
        }
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    result
}

/// Index of the parenthesis that closes the one at `open`.
pub(crate) fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    partner(bytes.iter().enumerate().skip(open), b'(', b')')
}

/// Index of the parenthesis that opens what the one at `close` closes.
pub(crate) fn opening(bytes: &[u8], close: usize) -> Option<usize> {
    partner(bytes.iter().enumerate().take(close + 1).rev(), b')', b'(')
}

/// Index of the byte `last` that belongs to the `first` that comes first.
fn partner<'a>(bytes: impl Iterator<Item = (usize, &'a u8)>, first: u8, last: u8) -> Option<usize> {
    let mut depth = 0usize;
    for (at, &byte) in bytes {
        if byte == first {
            depth += 1;
        } else if byte == last {
            depth = depth.checked_sub(1)?;
        } else {
            continue;
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Start of the template argument that `at` is in; `None` if it is in none.
fn argument(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut angles, mut parentheses) = (0usize, 0usize);
    for (at, byte) in bytes.iter().enumerate().take(at).rev() {
        match byte {
            b'>' => angles += 1,
            b')' => parentheses += 1,
            b'(' => parentheses = parentheses.checked_sub(1)?,
            b'<' if angles > 0 => angles -= 1,
            b'<' if parentheses == 0 => return Some(at + 1),
            b',' if angles == 0 && parentheses == 0 => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Abbreviated standard classes, as they are written, and their full names, which libiberty uses
/// for the class of a constructor or destructor.
const ABBREVIATED: [(&str, &str, &str); 4] = [
    ("std::string", "string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"),
    ("std::istream", "istream", "std::basic_istream<char, std::char_traits<char> >"),
    ("std::ostream", "ostream", "std::basic_ostream<char, std::char_traits<char> >"),
    ("std::iostream", "iostream", "std::basic_iostream<char, std::char_traits<char> >"),
];

/// Writes the class of `std::string::string(...)` and its like in full.
fn standard_constructors(text: String) -> String {
    for (class, name, full) in ABBREVIATED {
        let Some(member) = text.strip_prefix(class).and_then(|rest| rest.strip_prefix("::")) else {
            continue;
        };
        let (tilde, member) = member.strip_prefix('~').map_or(("", member), |member| ("~", member));
        let member = member.strip_prefix("basic_").unwrap_or(member);
        if let Some(rest) = member.strip_prefix(name).filter(|rest| rest.starts_with(['(', '<'])) {
            return format!("{full}::{tilde}basic_{name}{rest}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::symbols::valgrind::demangle::display_name;

    fn shown(raw: &str, expected: &str) {
        assert_eq!(display_name(raw, false, true), expected, "{raw}");
    }

    #[test]
    fn literals() {
        shown("_Z1fILj1EEvv", "void f<1u>()");
        shown("_Z1fILmn2EEvv", "void f<-2ul>()");
        shown("_Z1fILi3ELb1EEvv", "void f<3, true>()");
        shown("_Z1fILx4ELy5ELl6EEvv", "void f<4ll, 5ull, 6l>()");
        shown("_Z1fIL1E1EEvv", "void f<(E)1>()");
    }

    #[test]
    fn packs_that_are_empty() {
        shown("_Z1fI1AIiJEEEvT_", "void f<A<int> >(A<int>)");
        shown("_Z1fI1AIS_IiEJEEEvT_", "void f<A<f<int>> >(A<f<int>>)");
        shown("_Z1fIJEEvPKcDpOT_", "void f<>(char const*)");
        shown("_Z1fIJEEvDpOT_", "void f<>()");
        shown("_Z1fIJEEvDpRKT_", "void f<>()");
        shown("_Z1fOFvvE", "f(void (&&)())");
        shown("_Z1fRA3_c", "f(char (&) [3])");
    }

    #[test]
    fn function_types_and_functions_as_arguments() {
        shown("_Z1f8functionIF3FooiEE", "f(function<Foo (int)>)");
        shown("_Z1f8functionIFviEE", "f(function<void (int)>)");
        shown("_Z1gIXadL_ZN1A1hEiEEEvv", "void g<&A::h>()");
        shown("_Z1gIiXadL_Z1hiEEEvT_", "void g<int, &(h(int))>(int)");
    }

    #[test]
    fn members_of_classes_that_were_named_before() {
        shown("_ZN1A1fERKS_PKNS_1BE", "A::f(A const&, A::B const*)");
        shown("_ZN3ana1A1fEPKNS_1BERKNS2_1CE", "ana::A::f(ana::B const*, ana::B::C const&)");
        shown("_ZN1AcvPKNS_1BEEv", "A::operator A::B const*()");
    }

    #[test]
    fn user_defined_literals() {
        shown("_Zli2_ky", "operator\"\" _k(unsigned long long)");
        shown("_ZN1Ali2_kEy", "A::operator\"\" _k(unsigned long long)");
    }

    #[test]
    fn constructor_templates() {
        shown("_ZN1AC2IiEET_i", "A::A<int>(int, int)");
        shown("_ZN1AIiEC1I1BIcEEERKT_", "A<int>::A<B<char> >(B<char> const&)");
        shown("_ZN1AC1IiEEv", "A::A<int>()");
        // Names that only look like constructors.
        shown("_ZN4abC11fIiEEvT_", "void abC1::f<int>(int)");
        shown("_ZN3C1I1fIiEEvT_", "void C1I::f<int>(int)");
        shown("_ZN1B4abC1IiEEvT_", "void B::abC1<int>(int)");
    }

    #[test]
    fn standard_classes() {
        shown("_ZNSdC1Ev", "std::basic_iostream<char, std::char_traits<char> >::basic_iostream()");
        shown("_Z1fDn", "f(decltype(nullptr))");
        shown(
            "_ZNSsC2Ev",
            "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string()",
        );
        shown(
            "_ZNSsD1Ev",
            "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::~basic_string()",
        );
        shown(
            "_ZNSoC2EOSo",
            "std::basic_ostream<char, std::char_traits<char> >::basic_ostream(std::ostream&&)",
        );
        shown("_ZNKSs2atEm", "std::string::at(unsigned long) const");
        shown("_ZNKSi6gcountEv", "std::istream::gcount() const");
        shown("_ZNSi4readEPcl", "std::istream::read(char*, long)");
        shown(
            "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
            "std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >\
             (std::basic_ostream<char, std::char_traits<char> >&, char const*)",
        );
    }
}
