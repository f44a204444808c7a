//! Members of types in the expressions of C++ names (`sr` of the Itanium C++ ABI, 5.1.6.1), which
//! `cpp_demangle` takes only where the type is a parameter of a template, or one that was named
//! before. It takes conversions to any type: the name is rewritten so, and its text back.

use crate::symbols::valgrind::libiberty_style::{closing, opening};

/// Begins the names of members in rewritten names.
const MARK: &str = "cgemu_member_";
/// Most members that are rewritten.
const MOST_MEMBERS: usize = 32;
/// Longest name that is searched for them, in bytes.
const MAX_SEARCH: usize = 8192;
/// Deepest nesting of what is skipped.
const MAX_DEPTH: u32 = 64;

/// The mangled name with conversions for members: `sr <type> <name>` becomes
/// `cv <type> L_Z <name> E`.
pub(crate) fn as_conversions(raw: &str) -> Option<String> {
    if raw.len() > MAX_SEARCH {
        return None;
    }
    let mut rewritten = raw.to_owned();
    let mut members = 0;
    let mut end = raw.len();
    // From the last one on, so that those within a type have been rewritten when it is skipped.
    while let Some(at) = rewritten.get(..end).and_then(|text| text.rfind("sr")) {
        end = at;
        let Some(of) = rewritten.get(at + 2..) else { continue };
        let Some(after) = skip_type(of, 0) else { continue };
        let Some((name, rest)) = source_name(after) else { continue };
        let kind = of.get(..of.len() - after.len()).unwrap_or_default();
        let conversion = format!("cv{kind}L_Z{}{MARK}{name}E{rest}", MARK.len() + name.len());
        rewritten.replace_range(at.., &conversion);
        members += 1;
        if members == MOST_MEMBERS {
            break;
        }
    }
    (members > 0).then_some(rewritten)
}

/// The text of a rewritten name with the members again: `(type)(name)` becomes `type::name`.
pub(crate) fn as_members(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    // The innermost come first, so a type has no marks when its own member is written.
    while let Some(at) = text.find(MARK) {
        let before = text.get(..at)?;
        let open = before.strip_suffix('(').unwrap_or(before);
        let close = open.strip_suffix(')')?.len();
        let start = opening(text.as_bytes(), close)?;
        let kind = text.get(start + 1..close)?.to_owned();
        let after = text.get(at + MARK.len()..)?;
        let length = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
        let name = after.get(..length)?.to_owned();
        let mut end = at + MARK.len() + length;
        if open.len() < at {
            end = closing(text.as_bytes(), open.len())? + 1;
        }
        text.replace_range(start..end, &format!("{kind}::{name}"));
    }
    Some(text)
}

/// A name with its length before it, and what is behind it.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (length, rest) = text.split_at_checked(digits)?;
    rest.split_at_checked(length.parse().ok().filter(|length| *length > 0)?)
}

/// Skips items to the next `E`, and it. Returns the rest, as all that skip.
fn skip_all(mut text: &str, item: fn(&str, u32) -> Option<&str>, depth: u32) -> Option<&str> {
    while !text.starts_with('E') {
        text = item(text, depth)?;
    }
    text.get(1..)
}

/// Skips arguments of a template, if there are some.
fn skip_arguments(text: &str, depth: u32) -> Option<&str> {
    match text.strip_prefix('I') {
        Some(arguments) => skip_all(arguments, skip_argument, depth),
        None => Some(text),
    }
}

fn skip_argument(text: &str, depth: u32) -> Option<&str> {
    match text.as_bytes().first()? {
        b'X' => skip_expression(text.get(1..)?, depth + 1)?.strip_prefix('E'),
        b'L' => skip_literal(text, depth + 1),
        b'I' | b'J' => skip_all(text.get(1..)?, skip_argument, depth + 1),
        _ => skip_type(text, depth + 1),
    }
}

/// Skips a type.
fn skip_type(text: &str, depth: u32) -> Option<&str> {
    if depth > MAX_DEPTH {
        return None;
    }
    let rest = text.get(1..)?;
    match text.as_bytes().first()? {
        b'P' | b'R' | b'O' | b'K' | b'V' | b'r' | b'C' | b'G' => skip_type(rest, depth + 1),
        b'N' => skip_all(rest.trim_start_matches(['r', 'V', 'K']), skip_component, depth + 1),
        b'F' => skip_all(rest.strip_prefix('Y').unwrap_or(rest), skip_type, depth + 1),
        b'M' => skip_type(skip_type(rest, depth + 1)?, depth + 1),
        b'A' => {
            skip_type(rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('_')?, depth + 1)
        }
        b'D' => match rest.as_bytes().first()? {
            b'p' => skip_type(rest.get(1..)?, depth + 1),
            b't' | b'T' => skip_expression(rest.get(1..)?, depth + 1)?.strip_prefix('E'),
            b'v' => {
                let elements = rest.get(1..)?.trim_start_matches(|c: char| c.is_ascii_digit());
                skip_type(elements.strip_prefix('_')?, depth + 1)
            }
            _ => rest.get(1..),
        },
        b'S' | b'T' | b'0'..=b'9' => skip_arguments(skip_component(text, depth + 1)?, depth + 1),
        b'u' => Some(source_name(rest)?.1),
        b'a'..=b'z' => Some(rest),
        _ => None,
    }
}

/// Skips a component of a nested name.
fn skip_component(text: &str, depth: u32) -> Option<&str> {
    if depth > MAX_DEPTH {
        return None;
    }
    let rest = text.get(1..)?;
    match text.as_bytes().first()? {
        b'0'..=b'9' => Some(source_name(text)?.1),
        b'S' if rest.starts_with('t') => skip_component(rest.get(1..)?, depth + 1),
        b'S' if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest.get(1..),
        b'S' => {
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase()).strip_prefix('_')
        }
        b'T' => rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('_'),
        b'I' => skip_arguments(text, depth + 1),
        b'B' | b'L' => Some(source_name(rest)?.1),
        _ => None,
    }
}

/// Skips a literal, or the name of a function or an object.
fn skip_literal(text: &str, depth: u32) -> Option<&str> {
    let rest = text.strip_prefix('L')?;
    if let Some(name) = rest.strip_prefix("_Z") {
        let after = match name.strip_prefix('N') {
            Some(nested) => skip_all(nested, skip_component, depth + 1)?,
            None => skip_arguments(skip_component(name, depth + 1)?, depth + 1)?,
        };
        return skip_all(after, skip_type, depth + 1);
    }
    let value = skip_type(rest, depth + 1)?;
    value.trim_start_matches(|c: char| c.is_ascii_digit() || c == 'n').strip_prefix('E')
}

/// Operators with one operand, with two and with three.
const OPERATORS: [&str; 3] =
    ["nt ng ps ad de co sz az", "aa oo eq ne lt le gt ge pl mi ml dv rm an or eo ls rs cm ss pm pt dt", "qu"];

/// Skips an expression.
fn skip_expression(text: &str, depth: u32) -> Option<&str> {
    if depth > MAX_DEPTH {
        return None;
    }
    if text.starts_with('L') {
        return skip_literal(text, depth + 1);
    }
    if text.starts_with('T') {
        return skip_component(text, depth + 1);
    }
    let (code, rest) = text.split_at_checked(2)?;
    match code {
        "sr" => skip_arguments(source_name(skip_type(rest, depth + 1)?)?.1, depth + 1),
        "cv" => skip_expression(skip_type(rest, depth + 1)?, depth + 1),
        "st" | "at" | "ti" => skip_type(rest, depth + 1),
        "sp" => skip_expression(rest, depth + 1),
        "sZ" => skip_component(rest, depth + 1),
        "cl" => skip_all(rest, skip_expression, depth + 1),
        _ => {
            let operands =
                OPERATORS.iter().position(|codes| codes.split(' ').any(|known| known == code))? + 1;
            (0..operands).try_fold(rest, |rest, _| skip_expression(rest, depth + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::valgrind::demangle::display_name;

    /// Names as `c++filt --no-verbose` writes them.
    #[test]
    fn members_of_templates() {
        for (raw, shown) in [
            (
                "_ZN2wi7lrshiftI16generic_wide_intI16wide_int_storageES3_EENS_13binary_traitsIT_S5_XsrNS_10int_traits\
                 IS5_EE14precision_typeEXsrS7_14precision_typeEE11result_typeERKS5_RKT0_",
                "wi::binary_traits<generic_wide_int<wide_int_storage>, generic_wide_int<wide_int_storage>, \
                 wi::int_traits<generic_wide_int<wide_int_storage> >::precision_type, \
                 wi::int_traits<generic_wide_int<wide_int_storage> >::precision_type>::result_type \
                 wi::lrshift<generic_wide_int<wide_int_storage>, generic_wide_int<wide_int_storage> >\
                 (generic_wide_int<wide_int_storage> const&, generic_wide_int<wide_int_storage> const&)",
            ),
            (
                "_Z1fIiENSt9enable_ifIXsrSt7is_voidIT_E5valueES2_E4typeES2_",
                "std::enable_if<std::is_void<int>::value, int>::type f<int>(int)",
            ),
        ] {
            assert_eq!(display_name(raw, false, true), shown, "{raw}");
        }
    }

    #[test]
    fn names_that_only_look_like_it() {
        for raw in ["_Z1fsr", "_Z1fIXsrEEvv", "_ZsrN", "_Z1fIXsr99999999999999999999aEEvv", "_Z2sr1Ai"] {
            display_name(raw, false, true);
        }
        let deep = format!("_Z1fIXsr{}", "N1AI".repeat(50_000));
        assert_eq!(display_name(&deep, false, true), deep);
        let many = format!("_Z1fIX{}", "sr1A1b".repeat(20_000));
        assert_eq!(display_name(&many, false, true), many);
    }
}
