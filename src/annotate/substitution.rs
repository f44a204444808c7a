//! Perl's `s/PATTERN/REPLACEMENT/FLAGS`, as `--mod-filename` and `--mod-funcname` of `cg_diff` take it.

use regex::bytes::{Captures, Regex, RegexBuilder};

/// A search and what to put in place of what it finds.
#[derive(Clone, Debug)]
pub struct Substitution {
    pattern: Regex,
    replacement: Vec<Part>,
    global: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    /// `$1`, or `$&` as group 0.
    Group(usize),
}

impl Substitution {
    /// Reads an expression: `s`, any delimiter, flags of `g`, `i`, `m`, `s`, `x`.
    ///
    /// # Errors
    /// What this does not do, or what is no substitution. (`cg_diff` silently leaves the names as they are.)
    pub fn parse(text: &str) -> Result<Substitution, String> {
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
            let last = error.to_string();
            wrong(last.lines().last().unwrap_or("is no pattern").trim_start_matches("error: "))
        })?;
        let replacement = parts(replacement)
            .ok_or_else(|| wrong("the replacement can hold text, $1, ${1}, \\1, $& and escapes only"))?;
        Ok(Substitution { pattern, replacement, global })
    }

    /// The name with what matches replaced: once, or everywhere with the flag `g`.
    #[must_use]
    pub fn apply(&self, name: &[u8]) -> Vec<u8> {
        let limit = usize::from(!self.global);
        let put = |found: &Captures<'_>| {
            let mut text = Vec::new();
            for part in &self.replacement {
                match part {
                    Part::Text(bytes) => text.extend_from_slice(bytes),
                    Part::Group(number) => {
                        text.extend_from_slice(found.get(*number).map_or(&b""[..], |group| group.as_bytes()));
                    }
                }
            }
            text
        };
        self.pattern.replacen(name, limit, put).into_owned()
    }
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

/// The parts of a replacement; none if it needs more of Perl than there is here.
fn parts(text: &str) -> Option<Vec<Part>> {
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
            let substitution = Substitution::parse(expression).expect(expression);
            assert_eq!(substitution.apply(name.as_bytes()), result.as_bytes(), "{expression}");
        }
        let any = Substitution::parse("s/./x/").expect("reads");
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
            let error = Substitution::parse(expression).expect_err(expression);
            assert!(!error.contains('\n') && error.starts_with(&format!("`{expression}`")), "{error}");
        }
    }
}
