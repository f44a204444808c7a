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

/// The names of the events.
pub(super) fn event_names() -> impl Iterator<Item = &'static str> {
    Event::ALL.into_iter().map(|event| event.name())
}
