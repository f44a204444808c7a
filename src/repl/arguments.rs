//! Arguments that several commands take.

use super::error::Error;
use crate::debugger::lexer;
use crate::profile::Event;

/// A number in the form that expressions have.
pub(super) fn number(text: &str) -> Result<u64, Error> {
    lexer::number(text).ok_or_else(|| Error::NoNumber(text.to_owned()))
}

/// A number, or one if there is none.
pub(super) fn count(text: &str) -> Result<u64, Error> {
    if text.is_empty() { Ok(1) } else { number(text) }
}

/// Refuses any argument.
pub(super) fn nothing(text: &str) -> Result<(), Error> {
    if text.is_empty() { Ok(()) } else { Err(Error::Trailing(text.to_owned())) }
}

/// The words after `run`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// The program's arguments.
    pub(super) arguments: Vec<String>,
    /// The file behind `<`.
    pub(super) input: Option<String>,
}

/// Splits a line as the shell does (POSIX.1, Shell Command Language, 2.2): at blanks, with quotes
/// and backslashes. Nothing is expanded.
pub(super) fn command_line(text: &str) -> Result<CommandLine, Error> {
    let mut line = CommandLine::default();
    let mut is_input = false;
    let mut chars = text.chars().peekable();
    while let Some(&first) = chars.peek() {
        if first.is_whitespace() {
            chars.next();
            continue;
        }
        if matches!(first, '>' | '|' | '&' | ';') {
            return Err(Error::Redirection(first.to_string()));
        }
        if first == '<' {
            chars.next();
            is_input = true;
            continue;
        }
        let mut word = String::new();
        let mut quote = None;
        while let Some(&c) = chars.peek() {
            match (quote, c) {
                (None, c) if c.is_whitespace() || matches!(c, '<' | '>' | '|' | '&' | ';') => break,
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                (None, '\\') | (Some('"'), '\\') => {
                    chars.next();
                    match chars.peek() {
                        Some(&escaped) if quote.is_none() || matches!(escaped, '"' | '\\' | '$' | '`') => {
                            word.push(escaped);
                        }
                        Some(&plain) => word.extend(['\\', plain]),
                        None => return Err(Error::OpenQuote(text.to_owned())),
                    }
                }
                (_, c) => word.push(c),
            }
            chars.next();
        }
        if quote.is_some() {
            return Err(Error::OpenQuote(text.to_owned()));
        }
        if std::mem::take(&mut is_input) {
            line.input = Some(word);
        } else {
            line.arguments.push(word);
        }
    }
    if is_input { Err(Error::Redirection("<".to_owned())) } else { Ok(line) }
}

/// The names of the events.
pub(super) fn event_names() -> impl Iterator<Item = &'static str> {
    Event::ALL.into_iter().map(|event| event.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as dash hands them to `printf '%s\n'`.
    #[test]
    fn words_of_a_command_line() {
        for (text, expected) in [
            ("a b  c", &["a", "b", "c"][..]),
            (r#"'a b' "c d" e\ f"#, &["a b", "c d", "e f"]),
            (r#"a'b'"c" '' "#, &["abc", ""]),
            (r#""a\"b\c" 'a\b'"#, &["a\"b\\c", "a\\b"]),
            ("-n 3", &["-n", "3"]),
        ] {
            let line = command_line(text).expect(text);
            assert_eq!(
                (line.arguments.as_slice(), line.input),
                (&expected.iter().map(|&w| w.to_owned()).collect::<Vec<_>>()[..], None),
                "{text}"
            );
        }
        let line = command_line("a <in b").expect("a line");
        assert_eq!(
            (line.arguments, line.input),
            (vec!["a".to_owned(), "b".to_owned()], Some("in".to_owned()))
        );
        for text in ["'a", "\"a", "a > b", "a | b", "a &", "a;b", "a <", "a\\"] {
            assert!(command_line(text).is_err(), "{text}");
        }
    }
}
