//! The argument of `--mod-filename` and `--mod-funcname`: `s/OLD/NEW/`, then `g` for all matches and `i` for
//! letters of either case. A slash inside is written `\/`. OLD and NEW are what `cg_annotate` takes, that is, of
//! Python's `re` module: in NEW, `\1` and `\g<name>` stand for groups and a dollar sign for itself.

use regex::bytes::{Captures, Regex, RegexBuilder};

/// A search-and-replace expression.
#[derive(Clone, Debug)]
pub struct Replace {
    pattern: Regex,
    new: Vec<Part>,
    all: bool,
}

#[derive(Clone, Debug)]
enum Part {
    Text(Vec<u8>),
    Group(usize),
    Named(String),
}

impl std::str::FromStr for Replace {
    type Err = String;

    /// # Errors
    /// If the text is not of the form `s/OLD/NEW/`, or OLD or NEW is invalid; the message says which.
    fn from_str(text: &str) -> Result<Replace, String> {
        const FORM: &str = "expected s/OLD/NEW/ with g, i or both at the end, and \\/ for a slash inside";
        let body = text.strip_prefix("s/").ok_or(FORM)?;
        let fields = split(body);
        let [old, new, flags] = fields.as_slice() else { return Err(FORM.to_owned()) };
        let (all, either_case) = match flags.as_str() {
            "" => (false, false),
            "g" => (true, false),
            "i" => (false, true),
            "gi" | "ig" => (true, true),
            _ => return Err(FORM.to_owned()),
        };
        let pattern = RegexBuilder::new(old).case_insensitive(either_case).build();
        let pattern = pattern.map_err(|error| {
            // The last line of the message says what, the others show where.
            let error = error.to_string();
            format!("bad pattern: {}", error.lines().last().unwrap_or("invalid").trim())
        })?;
        let new = template(new)?;
        for part in &new {
            let there = match part {
                Part::Text(_) => true,
                Part::Group(number) => *number < pattern.captures_len(),
                Part::Named(name) => pattern.capture_names().flatten().any(|n| n == name),
            };
            if !there {
                return Err("the replacement names a group that the pattern does not have".to_owned());
            }
        }
        Ok(Replace { pattern, new, all })
    }
}

impl Replace {
    /// The text with the first match, or with `g` all matches, replaced.
    #[must_use]
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let limit = usize::from(!self.all);
        self.pattern.replacen(text, limit, |found: &Captures<'_>| self.expand(found)).into_owned()
    }

    fn expand(&self, found: &Captures<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        for part in &self.new {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Group(number) => out.extend(found.get(*number).map_or(&b""[..], |m| m.as_bytes())),
                Part::Named(name) => out.extend(found.name(name).map_or(&b""[..], |m| m.as_bytes())),
            }
        }
        out
    }
}

/// The fields between slashes that no backslash precedes, with `\/` as `/`.
fn split(body: &str) -> Vec<String> {
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

/// Reads the replacement.
fn template(text: &str) -> Result<Vec<Part>, String> {
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
            // Python refuses escapes of letters that it does not know, and leaves others as they are.
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

    fn applied(expression: &str, text: &str) -> String {
        let replace: Replace = expression.parse().expect(expression);
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
        let replace: Replace = "s/a/b/".parse().expect("valid");
        assert_eq!(replace.apply(b"\xffa\xfe"), b"\xffb\xfe");
    }

    #[test]
    fn wrong_expressions() {
        for expression in
            ["", "s", "s/", "s/a", "s/a/b", "x/y/z/", "s/a/b/x", "s/a/b/gg", "s/a/b/c/", "s/(/b/", "s/a/\\1/"]
        {
            let error = expression.parse::<Replace>().expect_err(expression);
            assert!(!error.contains('\n'), "{error}");
        }
        assert!("s/a/\\q/".parse::<Replace>().is_err());
        assert!("s/a/\\g<none>/".parse::<Replace>().is_err());
    }
}
