//! `s/PATTERN/REPLACEMENT/FLAGS` for the names in a profile, in two dialects: Perl's, as
//! `--mod-filename` and `--mod-funcname` of `cg_diff` in Valgrind 3.19 take it, and Python's, as
//! those of `cg_annotate` in Valgrind 3.28 do.

use regex::bytes::{Captures, Regex, RegexBuilder};

/// A search, and what replaces its matches.
#[derive(Clone, Debug)]
pub struct Substitution {
    pattern: Regex,
    replacement: Vec<Part>,
    global: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    /// `$1` or `\1`; the whole match is group 0.
    Group(usize),
    /// `\g<name>`
    Named(String),
}

impl Substitution {
    /// Reads a substitution of Perl: `s`, any delimiter, flags of `g`, `i`, `m`, `s`, `x`.
    ///
    /// # Errors
    /// Anything else, and what only Perl itself can do. (`cg_diff` silently leaves the names as
    /// they are.)
    pub fn perl(text: &str) -> Result<Substitution, String> {
        let wrong = |why: &str| format!("`{text}`: {why}; give a substitution such as s/old/new/");
        let rest = text.trim().strip_prefix('s').ok_or_else(|| wrong("does not begin with `s`"))?;
        let open = rest.chars().next().ok_or_else(|| wrong("ends too soon"))?;
        if open.is_alphanumeric() || open.is_whitespace() || open == '_' || open == '\\' {
            return Err(wrong("has no delimiter after the `s`"));
        }
        let body = rest.strip_prefix(open).unwrap_or_default();
        let close = closing(open);
        let (pattern, rest) = delimited(body, open, close).ok_or_else(|| wrong("ends too soon"))?;
        let (replacement, flags) = if close == open {
            delimited(rest, open, close).ok_or_else(|| wrong("ends too soon"))?
        } else {
            let rest = rest.trim_start();
            let open = rest.chars().next().ok_or_else(|| wrong("ends too soon"))?;
            delimited(rest.strip_prefix(open).unwrap_or_default(), open, closing(open))
                .ok_or_else(|| wrong("ends too soon"))?
        };
        let mut builder = RegexBuilder::new(pattern);
        builder.unicode(false);
        let mut global = false;
        for flag in flags.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).chars() {
            match flag {
                'g' => global = true,
                'i' => drop(builder.case_insensitive(true)),
                'm' => drop(builder.multi_line(true)),
                's' => drop(builder.dot_matches_new_line(true)),
                'x' => drop(builder.ignore_whitespace(true)),
                _ => return Err(wrong("has a flag other than g, i, m, s and x")),
            }
        }
        let pattern = builder.build().map_err(|error| {
            let last = last_line(&error);
            wrong(last.trim_start_matches("error: "))
        })?;
        let replacement = perl_parts(replacement)
            .ok_or_else(|| wrong("the replacement can hold text, $1, ${1}, \\1, $& and escapes only"))?;
        Ok(Substitution { pattern, replacement, global })
    }

    /// Reads `s/OLD/NEW/` with `g` for all matches and `i` for letters of either case; a slash
    /// inside is written `\/`. OLD and NEW are those of Python's `re` module: in NEW, `\1` and
    /// `\g<name>` stand for groups.
    ///
    /// # Errors
    /// If the text is not of this form, or OLD or NEW is invalid; the message says which.
    pub fn python(text: &str) -> Result<Substitution, String> {
        const FORM: &str = "expected s/OLD/NEW/ with g, i or both at the end, and \\/ for a slash inside";
        let body = text.strip_prefix("s/").ok_or(FORM)?;
        let fields = slash_fields(body);
        let [old, new, flags] = fields.as_slice() else { return Err(FORM.to_owned()) };
        let (global, either_case) = match flags.as_str() {
            "" => (false, false),
            "g" => (true, false),
            "i" => (false, true),
            "gi" | "ig" => (true, true),
            _ => return Err(FORM.to_owned()),
        };
        let pattern = RegexBuilder::new(old).case_insensitive(either_case).build();
        let pattern = pattern.map_err(|error| format!("bad pattern: {}", last_line(&error).trim()))?;
        let replacement = python_parts(new)?;
        for part in &replacement {
            let there = match part {
                Part::Text(_) => true,
                Part::Group(number) => *number < pattern.captures_len(),
                Part::Named(name) => pattern.capture_names().flatten().any(|n| n == name),
            };
            if !there {
                return Err("the replacement names a group that the pattern does not have".to_owned());
            }
        }
        Ok(Substitution { pattern, replacement, global })
    }

    /// Replaces the first match in a name, or with `g` all matches.
    #[must_use]
    pub fn apply(&self, name: &[u8]) -> Vec<u8> {
        let limit = usize::from(!self.global);
        self.pattern.replacen(name, limit, |found: &Captures<'_>| self.expand(found)).into_owned()
    }

    fn expand(&self, found: &Captures<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        for part in &self.replacement {
            let group = match part {
                Part::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                Part::Group(number) => found.get(*number),
                Part::Named(name) => found.name(name),
            };
            out.extend_from_slice(group.map_or(b"", |group| group.as_bytes()));
        }
        out
    }
}

/// The last line of the message: it says what is wrong, the others show where.
fn last_line(error: &regex::Error) -> String {
    error.to_string().lines().last().unwrap_or("invalid").to_owned()
}

fn closing(open: char) -> char {
    match open {
        '{' => '}',
        '(' => ')',
        '[' => ']',
        '<' => '>',
        other => other,
    }
}

/// The text up to the delimiter that closes it, and what follows. Brackets nest.
fn delimited(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let (mut depth, mut escaped) = (0_usize, false);
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == close {
            if depth == 0 {
                return Some((text.get(..at)?, text.get(at + c.len_utf8()..)?));
            }
            depth -= 1;
        } else if c == open {
            depth += 1;
        }
    }
    None
}

/// Reads a replacement of Perl; `None` if it needs Perl itself.
fn perl_parts(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..)?;
        if c == '$' && rest.is_empty() {
            plain.push(b'$');
            continue;
        }
        if c != '$' && c != '\\' {
            if c == '@' {
                return None;
            }
            plain.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        if let Some(after) = rest.strip_prefix('&').filter(|_| c == '$') {
            parts.extend([Part::Text(std::mem::take(&mut plain)), Part::Group(0)]);
            rest = after;
            continue;
        }
        let braced = c == '$' && rest.starts_with('{');
        let digits = rest.get(usize::from(braced)..)?;
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length > 0 && (c == '$' || !digits.starts_with('0')) {
            let number = digits.get(..length)?.parse().ok()?;
            parts.extend([Part::Text(std::mem::take(&mut plain)), Part::Group(number)]);
            rest = digits.get(length..)?;
            if braced {
                rest = rest.strip_prefix('}')?;
            }
            continue;
        }
        let escaped = rest.chars().next().filter(|_| c == '\\')?;
        rest = rest.get(escaped.len_utf8()..)?;
        match escaped {
            't' => plain.push(b'\t'),
            // A newline would end the line of the name; the rest change what follows them.
            _ if escaped.is_alphanumeric() => return None,
            _ => plain.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    parts.push(Part::Text(plain));
    Some(parts)
}

/// The fields between slashes that no backslash precedes, with `\/` as `/`.
fn slash_fields(body: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut last = None;
    for c in body.chars() {
        match fields.last_mut() {
            Some(field) if c == '/' && last == Some('\\') => {
                field.pop();
                field.push('/');
            }
            _ if c == '/' => fields.push(String::new()),
            Some(field) => field.push(c),
            None => {}
        }
        last = Some(c);
    }
    fields
}

/// Reads a replacement of Python.
fn python_parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        let group = match chars.next() {
            Some(digit @ '0'..='9') => {
                let mut number = digit.to_string();
                number.extend(chars.next_if(char::is_ascii_digit));
                Part::Group(number.parse().map_err(|_| "bad group number")?)
            }
            Some('g') if chars.next_if_eq(&'<').is_some() => {
                let name: String = chars.by_ref().take_while(|c| *c != '>').collect();
                name.parse().map(Part::Group).unwrap_or(Part::Named(name))
            }
            Some('n') => {
                plain.push('\n');
                continue;
            }
            Some('t') => {
                plain.push('\t');
                continue;
            }
            Some('\\') => {
                plain.push('\\');
                continue;
            }
            // Python refuses escapes of letters that it does not know, and leaves others as they
            // are.
            Some(other) if !other.is_ascii_alphabetic() => {
                plain.extend(['\\', other]);
                continue;
            }
            _ => return Err("bad escape in the replacement; write \\\\ for a backslash".to_owned()),
        };
        parts.push(Part::Text(std::mem::take(&mut plain).into_bytes()));
        parts.push(group);
    }
    parts.push(Part::Text(plain.into_bytes()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Results as Perl 5.36 has them.
    #[test]
    fn as_perl_does() {
        for (expression, name, result) in [
            ("s/prog[0-9]/projN/", "prog1/prog2.c", "projN/prog2.c"),
            ("s/prog[0-9]/projN/g", "prog1/prog2.c", "projN/projN.c"),
            ("s/PROG/x/i;", "prog", "x"),
            ("s,/a/,/b/,", "/a/c", "/b/c"),
            ("s/\\/a\\//-/", "/a/c", "-c"),
            ("s{a(b)}{$1\\1${1}0}", "ab", "bbb0"),
            ("s{a{2}} <x>", "aa", "x"),
            ("s/(.)(.)?/$2[$&]/", "a", "[a]"),
            ("s/^.*\\///", "x/y/z.c", "z.c"),
            ("s/a b/ c /x", "ab", " c "),
            ("s/$/\\$/", "a", "a$"),
            ("s#a#b#", "a", "b"),
        ] {
            let substitution = Substitution::perl(expression).expect(expression);
            assert_eq!(substitution.apply(name.as_bytes()), result.as_bytes(), "{expression}");
        }
        let any = Substitution::perl("s/./x/").expect("reads");
        assert_eq!(any.apply(b"\xff\xfe"), b"x\xfe", "names are bytes");
    }

    #[test]
    fn what_is_refused() {
        for expression in [
            "",
            "s",
            "s/a/b",
            "s/a",
            "tr/a/b/",
            "sxaxbx",
            "s/(/b/",
            "s/a/b/e",
            "s/a/\\U$&/",
            "s/a/@x/",
            "s/a/$x/",
            "s/a/${1/",
        ] {
            let error = Substitution::perl(expression).expect_err(expression);
            assert!(!error.contains('\n') && error.starts_with(&format!("`{expression}`")), "{error}");
        }
    }

    fn applied(expression: &str, text: &str) -> String {
        let replace = Substitution::python(expression).expect(expression);
        String::from_utf8_lossy(&replace.apply(text.as_bytes())).into_owned()
    }

    #[test]
    fn replacements() {
        for (expression, text, expected) in [
            ("s/v[0-9]/vN/", "v1/v2", "vN/v2"),
            ("s/v[0-9]/vN/g", "v1/v2", "vN/vN"),
            ("s/V[0-9]/vN/gi", "v1/v2", "vN/vN"),
            ("s/V[0-9]/vN/ig", "v1/v2", "vN/vN"),
            ("s/V[0-9]/vN/", "v1/v2", "v1/v2"),
            ("s/(v)([0-9])/\\2\\1/", "v1/prog", "1v/prog"),
            ("s/v1\\/prog/a\\/b/", "v1/prog.c", "a/b.c"),
            ("s/(?P<n>[0-9])/\\g<n>\\g<1>\\g<0>/", "v1", "v111"),
            ("s/1/$0\\\\./", "v1", "v$0\\."),
            ("s///", "v1", "v1"),
            ("s/^\\.\\///", "./a.c", "a.c"),
        ] {
            assert_eq!(applied(expression, text), expected, "{expression}");
        }
        let replace = Substitution::python("s/a/b/").expect("valid");
        assert_eq!(replace.apply(b"\xffa\xfe"), b"\xffb\xfe");
    }

    #[test]
    fn wrong_expressions() {
        for expression in
            ["", "s", "s/", "s/a", "s/a/b", "x/y/z/", "s/a/b/x", "s/a/b/gg", "s/a/b/c/", "s/(/b/", "s/a/\\1/"]
        {
            let error = Substitution::python(expression).expect_err(expression);
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(Substitution::python("s/a/\\q/").is_err());
        assert!(Substitution::python("s/a/\\g<none>/").is_err());
    }
}
