//! The lines of Cachegrind's file, as the programs of Valgrind 3.19 tell them apart and refuse
//! them.

use std::io::BufRead;

use crate::profile::{CostStart, Dialect, End, Gap, Key, Line, Lines, Others, Problem, ReadError, is_space};

/// The lines that the Perl programs know. `desc:` is not among them: they look for it anywhere in a
/// line.
pub(crate) const PERL: Dialect = Dialect {
    keys: &[
        (b"fn=", Key::Function),
        (b"fl=", Key::File),
        (b"summary:", Key::Summary),
        (b"cmd:", Key::Cmd),
        (b"events:", Key::Events),
    ],
    blank: is_space,
    costs: CostStart::Number,
    gap: Gap::SomeBlanks,
    trim: false,
    end: End::Newline,
    others: Others::Refused,
};

/// The lines of `diff`: no blank has to follow a key, as in the format's grammar.
pub(crate) const DIFFERENCE: Dialect = Dialect {
    keys: &[
        (b"fn=", Key::Function),
        (b"fl=", Key::File),
        (b"desc:", Key::Desc),
        (b"summary:", Key::Summary),
        (b"cmd:", Key::Cmd),
        (b"events:", Key::Events),
    ],
    gap: Gap::Blanks,
    ..PERL
};

/// The lines of `merge`. What follows a key and a blank is written again as it is.
pub(crate) const MERGED: Dialect = Dialect {
    keys: &[
        (b"fn=", Key::Function),
        (b"fl=", Key::File),
        (b"fi=", Key::File),
        (b"fe=", Key::File),
        (b"desc:", Key::Desc),
        (b"cmd:", Key::Cmd),
        (b"events:", Key::Events),
        (b"summary:", Key::Summary),
    ],
    costs: CostStart::Digit,
    gap: Gap::OneSpace,
    ..PERL
};

/// Reads the next line, as the programs of Valgrind 3.19 do; false at the end.
///
/// # Errors
/// Those of the input, and a line that is too long.
pub(crate) fn advance(lines: &mut Lines<impl BufRead>) -> Result<bool, ReadError> {
    lines.advance().map_err(|error| match error.problem {
        Problem::TooLong => wrong(lines, "the line is longer than 64 MiB; is this a Cachegrind file?", false),
        _ => error,
    })
}

/// Reads the next line that is neither blank nor a comment; false at the end. The first line of
/// Callgrind's format is not taken for a comment.
///
/// # Errors
/// Those of [`advance`].
pub(crate) fn advance_past_comments(lines: &mut Lines<impl BufRead>) -> Result<bool, ReadError> {
    while advance(lines)? {
        match lines.line() {
            Line::Comment(text) if !text.starts_with(b"# callgrind format") => {}
            Line::Blank => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// Refuses a file for its last line that was read, or for what is missing `at_end`.
pub(crate) fn wrong<R: BufRead>(lines: &Lines<R>, what: &'static str, at_end: bool) -> ReadError {
    let problem = if at_end { Problem::EndsEarly(what) } else { Problem::Refused(what) };
    ReadError { file: lines.name().to_owned(), line: lines.number(), problem }
}
