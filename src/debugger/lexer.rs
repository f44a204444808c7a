//! The words of an expression.

use super::expr::{ExprError, Problem};

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A number, or a character's.
    Integer(u64),
    Float(f64),
    /// `"text"`.
    Text(Vec<u8>),
    /// A symbol, a counter or a type.
    Name(String),
    /// `'a symbol'`.
    Quoted(String),
    /// `$name`, without the `$`.
    Dollar(String),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// The longest first.
const SIGNS: [&str; 31] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "!", "~", "&", "|", "^", "<",
    ">", "?", ":", "(", ")", "[", "]", ".", "=", ",", ";", "@",
];

/// Reads words one after the other.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The column of the byte at `at`: characters from 1.
    fn column(&self, at: usize) -> usize {
        self.text.get(..at).unwrap_or_default().chars().count().saturating_add(1)
    }

    fn fail(&self, at: usize, problem: Problem) -> ExprError {
        ExprError { column: self.column(at), problem }
    }

    /// The next word, and the byte that it begins at.
    pub(super) fn next(&mut self) -> Result<(Token, usize), ExprError> {
        let rest = self.rest().trim_start();
        self.at = self.text.len().saturating_sub(rest.len());
        let start = self.at;
        let Some(first) = rest.chars().next() else { return Ok((Token::End, start)) };
        let token = match first {
            '0'..='9' => self.number()?,
            '\'' | '"' => self.quoted(first)?,
            '$' => {
                let name = take(rest.get(1..).unwrap_or_default(), |c| c.is_alphanumeric() || c == '_');
                if name.is_empty() {
                    return Err(self.fail(start, Problem::NoRegister));
                }
                self.at = self.at.saturating_add(1).saturating_add(name.len());
                Token::Dollar(name.to_owned())
            }
            _ if first.is_alphabetic() || first == '_' => Token::Name(self.name().to_owned()),
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let sign = sign.ok_or_else(|| self.fail(start, Problem::Character(first)))?;
                self.at = self.at.saturating_add(sign.len());
                Token::Sign(sign)
            }
        };
        Ok((token, start))
    }

    /// A name as symbol tables and programmers have it: `a::b`, `f.part.0`, `memcpy@plt`.
    fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let mut length = 0;
        loop {
            let tail = rest.get(length..).unwrap_or_default();
            let part = take(tail, |c| c.is_alphanumeric() || c == '_' || c == '$');
            length = length.saturating_add(part.len());
            let tail = rest.get(length..).unwrap_or_default();
            let joint = ["::", ".", "@@", "@"].into_iter().find(|joint| tail.starts_with(joint));
            let Some(joint) = joint.filter(|joint| {
                let next = tail.get(joint.len()..).and_then(|tail| tail.chars().next());
                next.is_some_and(|c| c.is_alphanumeric() || c == '_')
            }) else {
                break;
            };
            length = length.saturating_add(joint.len());
        }
        self.at = self.at.saturating_add(length);
        rest.get(..length).unwrap_or_default()
    }

    fn number(&mut self) -> Result<Token, ExprError> {
        let start = self.at;
        let rest = self.rest();
        let word = take(rest, |c| c.is_ascii_alphanumeric() || c == '_');
        let lower = word.to_ascii_lowercase();
        let tail = rest.get(word.len()..).unwrap_or_default();
        let bad = || self.fail(start, Problem::Number(word.to_owned()));
        let fraction = tail.strip_prefix('.').filter(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
        if let Some(fraction) = fraction.filter(|_| word.bytes().all(|byte| byte.is_ascii_digit())) {
            let mut length = take(fraction, |c| c.is_ascii_alphanumeric()).len();
            let exponent = fraction.get(..length).is_some_and(|text| text.ends_with(['e', 'E']));
            if let Some(tail) = fraction.get(length..).filter(|tail| exponent && tail.starts_with(['+', '-']))
            {
                length = length
                    .saturating_add(1)
                    .saturating_add(take(tail.get(1..).unwrap_or_default(), |c| c.is_ascii_digit()).len());
            }
            let length = word.len().saturating_add(1).saturating_add(length);
            let text = rest.get(..length).unwrap_or_default();
            let float = text.parse().map_err(|_| self.fail(start, Problem::Number(text.to_owned())))?;
            self.at = self.at.saturating_add(length);
            return Ok(Token::Float(float));
        }
        let (digits, radix) = match lower.get(..2) {
            Some("0x") => (lower.get(2..).unwrap_or_default(), 16),
            Some("0b") => (lower.get(2..).unwrap_or_default(), 2),
            Some("0o") => (lower.get(2..).unwrap_or_default(), 8),
            _ => (lower.as_str(), 10),
        };
        let end = digits.find(|c: char| !c.is_digit(radix) && c != '_').unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at_checked(end).ok_or_else(bad)?;
        let factor: u64 = match suffix {
            "" => 1,
            "k" => 1000,
            "m" => 1_000_000,
            "g" => 1_000_000_000,
            "ki" => 1 << 10,
            "mi" => 1 << 20,
            "gi" => 1 << 30,
            _ => return Err(bad()),
        };
        let plain: String = digits.chars().filter(|c| *c != '_').collect();
        if plain.is_empty() {
            return Err(bad());
        }
        let value = u64::from_str_radix(&plain, radix).ok().and_then(|value| value.checked_mul(factor));
        let value = value.ok_or_else(|| self.fail(start, Problem::TooLarge(word.to_owned())))?;
        self.at = self.at.saturating_add(word.len());
        Ok(Token::Integer(value))
    }

    /// A character, a name with odd characters, or a string. One character between apostrophes is
    /// that character's number.
    fn quoted(&mut self, quote: char) -> Result<Token, ExprError> {
        let start = self.at;
        let mut bytes = Vec::new();
        let mut count = 0usize;
        let mut escapes = false;
        let mut chars = self.rest().char_indices().skip(1).peekable();
        let end = loop {
            let Some((at, c)) = chars.next() else { return Err(self.fail(start, Problem::Unclosed(quote))) };
            if c == quote {
                break at.saturating_add(1);
            }
            count = count.saturating_add(1);
            if c != '\\' {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            escapes = true;
            let Some((_, escape)) = chars.next() else {
                return Err(self.fail(start, Problem::Unclosed(quote)));
            };
            let mut digits = |radix: u32, most: usize, mut value: u32| {
                let mut read = 0usize;
                while let Some(digit) =
                    chars.peek().and_then(|(_, c)| c.to_digit(radix)).filter(|_| read < most)
                {
                    chars.next();
                    value = value.saturating_mul(radix).saturating_add(digit);
                    read = read.saturating_add(1);
                }
                u8::try_from(value).ok()
            };
            // C11, 6.4.4.4, and `\e`.
            let byte = match escape {
                'a' => Some(7),
                'b' => Some(8),
                'e' => Some(27),
                't' => Some(b'\t'),
                'n' => Some(b'\n'),
                'v' => Some(11),
                'f' => Some(12),
                'r' => Some(b'\r'),
                'x' => digits(16, 2, 0),
                '0'..='7' => digits(8, 2, escape.to_digit(8).unwrap_or(0)),
                '\\' | '\'' | '"' | '?' => u8::try_from(escape).ok(),
                _ => None,
            };
            let at = start.saturating_add(at);
            bytes.push(byte.ok_or_else(|| self.fail(at, Problem::Escape(escape)))?);
        };
        self.at = self.at.saturating_add(end);
        if quote == '"' {
            return Ok(Token::Text(bytes));
        }
        match (count, bytes.as_slice()) {
            (0, _) => Err(self.fail(start, Problem::EmptyQuotes)),
            (1, [byte]) => Ok(Token::Integer(u64::from(*byte))),
            (1, _) => {
                let text = String::from_utf8_lossy(&bytes);
                Ok(Token::Integer(text.chars().next().map_or(0, |c| u64::from(u32::from(c)))))
            }
            _ if escapes => Err(self.fail(start, Problem::LongCharacter)),
            _ => Ok(Token::Quoted(String::from_utf8_lossy(&bytes).into_owned())),
        }
    }
}

/// A number alone in the form that expressions have: `12`, `0x20`, `1_000`, `10k`, `5M`, `2G`.
pub(crate) fn number(text: &str) -> Option<u64> {
    let mut lexer = Lexer::new(text);
    match (text.starts_with(|c: char| c.is_ascii_digit()), lexer.next(), lexer.next()) {
        (true, Ok((Token::Integer(value), _)), Ok((Token::End, _))) => Some(value),
        _ => None,
    }
}

/// The longest beginning of `text` whose characters are all `accepted`.
fn take(text: &str, accepted: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c: char| !accepted(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Vec<Token>, String> {
        let mut lexer = Lexer::new(text);
        let mut words = Vec::new();
        loop {
            match lexer.next() {
                Ok((Token::End, _)) => return Ok(words),
                Ok((token, _)) => words.push(token),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    #[test]
    fn numbers() {
        for (text, value) in [
            ("10", 10),
            ("0x1F", 31),
            ("0b101", 5),
            ("0o17", 15),
            ("1_000", 1000),
            ("10k", 10_000),
            ("2M", 2_000_000),
            ("3g", 3_000_000_000),
            ("4Ki", 4096),
            ("0xffff_ffff_ffff_ffff", u64::MAX),
            ("010", 10),
            ("'a'", 97),
            (r"'\n'", 10),
            (r"'\0'", 0),
            (r"'\x41'", 65),
            (r"'\377'", 255),
            (r"'\''", 39),
            ("'é'", 233),
        ] {
            assert_eq!(words(text), Ok(vec![Token::Integer(value)]), "{text}");
        }
        for (text, value) in [("1.5", 1.5), ("0.25e2", 25.0), ("1.0e-3", 0.001)] {
            assert_eq!(words(text), Ok(vec![Token::Float(value)]), "{text}");
        }
        for text in
            ["0x", "12z", "0b2", "18446744073709551616", "18446744073709551615k", "1.5x", "0x_", "1.0e+"]
        {
            let error = words(text).expect_err(text);
            assert!(error.starts_with("column 1: "), "{error}");
        }
    }

    #[test]
    fn names() {
        let name = |text: &str| Token::Name(text.to_owned());
        assert_eq!(words("a::b+f.part.0"), Ok(vec![name("a::b"), Token::Sign("+"), name("f.part.0")]));
        assert_eq!(words("memcpy@plt"), Ok(vec![name("memcpy@plt")]));
        assert_eq!(words("a ? b : c").map(|words| words.len()), Ok(5));
        assert_eq!(words("a?b:c").map(|words| words.len()), Ok(5));
        assert_eq!(words("'f(int)'"), Ok(vec![Token::Quoted("f(int)".to_owned())]));
        let field = [Token::Dollar("xmm0".to_owned()), Token::Sign("."), name("f32"), Token::Sign("[")];
        assert_eq!(words("$xmm0.f32["), Ok(field.to_vec()));
    }

    #[test]
    fn strings() {
        assert_eq!(words(r#""a\tb\"\101""#), Ok(vec![Token::Text(b"a\tb\"A".to_vec())]));
        for (text, column) in
            [("  'abc", 3), ("\"", 1), ("''", 1), (r"'\q'", 2), ("é + €", 5), ("$ 1", 1), ("\\", 1)]
        {
            let error = words(text).expect_err(text);
            assert!(error.starts_with(&format!("column {column}: ")), "{text}: {error}");
        }
    }
}
