//! The tokenizer of the Cachegrind and Callgrind families: one line of a file to one [`Line`].

use super::number::{is_space, trim_start};

/// A line of a profile, without its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    /// Nothing, or blanks.
    Blank,
    /// `#` and a comment.
    Comment(&'a [u8]),
    /// A key, and the text after it.
    Key(Key, &'a [u8]),
    /// Positions and counts.
    Cost(&'a [u8]),
    /// None of the dialect's lines.
    Unknown,
}

/// A key: in the head with a colon, in the body with an equals sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// `desc:`
    Desc,
    /// `cmd:`
    Cmd,
    /// `events:`
    Events,
    /// `event:`
    Event,
    /// `positions:`
    Positions,
    /// `version:`
    Version,
    /// `creator:`
    Creator,
    /// `summary:`
    Summary,
    /// `totals:`
    Totals,
    /// `ob=`
    Object,
    /// `fl=`
    File,
    /// `fi=` or `fe=`
    Include,
    /// `fn=`
    Function,
    /// `cob=`
    CalledObject,
    /// `cfi=` or `cfl=`
    CalledFile,
    /// `cfn=`
    CalledFunction,
    /// `calls=`
    Calls,
    /// `jump=` or `jcnd=`
    Jump,
    /// `jfi=`
    JumpFile,
    /// `jfn=`
    JumpFunction,
    /// Another key with a colon, which the dialect passes over.
    Other,
}

/// The rules by which a reader tells lines apart.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The keys it knows.
    pub keys: &'static [(&'static [u8], Key)],
    /// The bytes of which a blank line may consist.
    pub blank: fn(u8) -> bool,
    /// The beginning of a line with costs.
    pub costs: CostStart,
    /// The blanks between the colon of a key and the text.
    pub gap: Gap,
    /// Pass over blanks between an equals sign and the text.
    pub trim: bool,
    /// The end of a line.
    pub end: End,
    /// The keys with a colon that are passed over beside the known ones.
    pub others: Others,
}

/// The beginning of a line with costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CostStart {
    /// With a digit.
    Digit,
    /// With a number, which may be negative, and a blank or newline.
    Number,
    /// With a position of Callgrind: a digit, `+`, `-` or `*`.
    Position,
}

/// The blanks between the colon of a key and the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gap {
    /// Any number of blanks, as C and Perl have them.
    Blanks,
    /// At least one of those; a newline is one.
    SomeBlanks,
    /// Any number of blanks, without the vertical tab.
    AsciiBlanks,
    /// One space or none; more belong to the text.
    OneSpace,
}

/// The end of a line, which is no part of its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// LF.
    Newline,
    /// LF or CR LF.
    CarriageReturn,
}

/// The keys that a dialect passes over beside its own, if a colon follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Others {
    /// None.
    Refused,
    /// Words of lower-case letters.
    Words,
    /// Any text.
    Any,
}

/// Cachegrind's files, as widely as the readers of Valgrind 3.28 take them. The keys of a Callgrind
/// head are known so that a file of that kind can be named.
pub(crate) const CACHEGRIND: Dialect = Dialect {
    keys: &[
        (b"fn=", Key::Function),
        (b"fl=", Key::File),
        (b"fi=", Key::Include),
        (b"fe=", Key::Include),
        (b"summary:", Key::Summary),
        (b"desc:", Key::Desc),
        (b"cmd:", Key::Cmd),
        (b"events:", Key::Events),
        (b"version:", Key::Version),
        (b"creator:", Key::Creator),
    ],
    blank: is_space,
    costs: CostStart::Digit,
    gap: Gap::Blanks,
    trim: false,
    end: End::CarriageReturn,
    others: Others::Refused,
};

/// Callgrind's format, version 1.
pub(crate) const CALLGRIND: Dialect = Dialect { trim: true, others: Others::Words, ..SIDE_FILE };

/// Callgrind's format as the reader of side files takes it.
pub(crate) const SIDE_FILE: Dialect = Dialect {
    keys: &[
        (b"calls=", Key::Calls),
        (b"cfn=", Key::CalledFunction),
        (b"cfi=", Key::CalledFile),
        (b"cfl=", Key::CalledFile),
        (b"cob=", Key::CalledObject),
        (b"fn=", Key::Function),
        (b"fi=", Key::Include),
        (b"fe=", Key::Include),
        (b"fl=", Key::File),
        (b"ob=", Key::Object),
        (b"jump=", Key::Jump),
        (b"jcnd=", Key::Jump),
        (b"jfi=", Key::JumpFile),
        (b"jfn=", Key::JumpFunction),
        (b"desc:", Key::Desc),
        (b"cmd:", Key::Cmd),
        (b"events:", Key::Events),
        (b"event:", Key::Event),
        (b"positions:", Key::Positions),
        (b"version:", Key::Version),
        (b"creator:", Key::Creator),
        (b"summary:", Key::Summary),
        (b"totals:", Key::Totals),
    ],
    blank: |byte| byte.is_ascii_whitespace(),
    costs: CostStart::Position,
    gap: Gap::AsciiBlanks,
    trim: false,
    end: End::CarriageReturn,
    others: Others::Any,
};

impl Dialect {
    /// Classifies a line; `raw` has its newline, which only the last line of a file may lack.
    #[inline]
    pub(crate) fn line<'a>(&self, raw: &'a [u8]) -> Line<'a> {
        let text = self.end.strip(raw);
        match text.first() {
            Some(b'#') => Line::Comment(text),
            Some(_) if self.costs.begin(raw) => Line::Cost(text),
            _ => self.key(text, raw.len() > text.len()),
        }
    }

    /// Classifies a line that is neither a comment nor has costs. A newline `ended` it, or the file
    /// did.
    fn key<'a>(&self, text: &'a [u8], ended: bool) -> Line<'a> {
        if text.iter().all(|c| (self.blank)(*c)) {
            return Line::Blank;
        }
        // All keys are letters and a mark, so a key is compared as a whole: mostly by its length.
        let letters = text.iter().take_while(|c| c.is_ascii_lowercase()).count();
        if let Some((name, rest)) = text.split_at_checked(letters + 1)
            && let Some((_, key)) = self.keys.iter().find(|(known, _)| *known == name)
        {
            let rest = match name.last() {
                Some(b':') => self.gap.skip(rest, ended),
                _ if self.trim => Some(rest.trim_ascii_start()),
                _ => Some(rest),
            };
            return rest.map_or(Line::Unknown, |rest| Line::Key(*key, rest));
        }
        if self.others.take(text) { Line::Key(Key::Other, text) } else { Line::Unknown }
    }
}

impl CostStart {
    #[inline]
    fn begin(self, raw: &[u8]) -> bool {
        match self {
            CostStart::Digit => raw.first().is_some_and(u8::is_ascii_digit),
            CostStart::Position => matches!(raw.first(), Some(b'0'..=b'9' | b'+' | b'-' | b'*')),
            CostStart::Number => {
                let digits = raw.strip_prefix(b"-").unwrap_or(raw);
                let length = digits.iter().take_while(|c| c.is_ascii_digit()).count();
                length > 0 && digits.get(length).is_some_and(|c| is_space(*c))
            }
        }
    }
}

impl Gap {
    /// Returns the text after the gap, or `None` without a gap. A newline `ended` the line, or the
    /// file did.
    fn skip(self, rest: &[u8], ended: bool) -> Option<&[u8]> {
        match self {
            Gap::Blanks => Some(trim_start(rest)),
            Gap::SomeBlanks => rest.first().map_or(ended, |c| is_space(*c)).then(|| trim_start(rest)),
            Gap::AsciiBlanks => Some(rest.trim_ascii_start()),
            Gap::OneSpace => Some(rest.strip_prefix(b" ").unwrap_or(rest)),
        }
    }
}

impl End {
    /// Takes off the end of a line.
    #[inline]
    pub(crate) fn strip(self, raw: &[u8]) -> &[u8] {
        match raw {
            [text @ .., b'\r', b'\n'] if self == End::CarriageReturn => text,
            [text @ .., b'\n'] => text,
            text => text,
        }
    }
}

impl Others {
    fn take(self, text: &[u8]) -> bool {
        let end = match self {
            Others::Refused => return false,
            Others::Words => text.iter().position(|c| !c.is_ascii_lowercase()).filter(|end| *end > 0),
            Others::Any => text.iter().position(|c| matches!(c, b'=' | b':')),
        };
        end.and_then(|end| text.get(end)) == Some(&b':')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same lines, to Cachegrind and to Callgrind.
    #[test]
    fn lines() {
        let name = |text: &'static str| Line::Key(Key::Function, text.as_bytes());
        for (raw, cachegrind, callgrind) in [
            ("\n", Line::Blank, Line::Blank),
            (" \r\n", Line::Blank, Line::Blank),
            ("#x\n", Line::Comment(b"#x"), Line::Comment(b"#x")),
            ("fn= f \r\n", name(" f "), name("f ")),
            ("fn=f\r", name("f\r"), name("f\r")),
            ("1 2\n", Line::Cost(b"1 2"), Line::Cost(b"1 2")),
            ("+1 2\n", Line::Unknown, Line::Cost(b"+1 2")),
            ("cmd: \ta b\n", Line::Key(Key::Cmd, b"a b"), Line::Key(Key::Cmd, b"a b")),
            ("cfn=(1)\n", Line::Unknown, Line::Key(Key::CalledFunction, b"(1)")),
            ("part: 1\n", Line::Unknown, Line::Key(Key::Other, b"part: 1")),
            ("a b: 1\n", Line::Unknown, Line::Unknown),
        ] {
            assert_eq!(CACHEGRIND.line(raw.as_bytes()), cachegrind, "{raw:?}");
            assert_eq!(CALLGRIND.line(raw.as_bytes()), callgrind, "{raw:?}");
        }
        assert_eq!(SIDE_FILE.line(b"fn= f\n"), Line::Key(Key::Function, b" f"));
        assert_eq!(SIDE_FILE.line(b"a b: 1\n"), Line::Key(Key::Other, b"a b: 1"));
    }

    #[test]
    fn gaps() {
        for (rest, ended, some, one) in [
            ("", true, Some(""), ""),
            ("", false, None, ""),
            ("x", true, None, "x"),
            ("  x", true, Some("x"), " x"),
            ("\tx", true, Some("x"), "\tx"),
        ] {
            assert_eq!(Gap::SomeBlanks.skip(rest.as_bytes(), ended), some.map(str::as_bytes), "{rest:?}");
            assert_eq!(Gap::OneSpace.skip(rest.as_bytes(), ended), Some(one.as_bytes()), "{rest:?}");
        }
    }
}
