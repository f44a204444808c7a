//! What can be wrong with an expression.

use super::expr::Counter;
use super::parser::MAX_DEPTH;
use crate::profile::Event;

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {problem}")]
pub struct ExprError {
    /// The character that it is about, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Problem {
    #[error("an expression is missing; write for example $rax + 8")]
    Empty,
    #[error("`{0}` has no meaning here")]
    Character(char),
    #[error("`$` needs the name of a register or variable, such as $rax")]
    NoRegister,
    #[error("`{0}` is not a number; write 10, 0x1f, 0b101, 0o17, 1.5, 10k or 4Ki")]
    Number(String),
    #[error("`{0}` does not fit into 64 bits")]
    TooLarge(String),
    #[error("the closing {0} is missing")]
    Unclosed(char),
    #[error("`\\{0}` is no escape; write \\n, \\t, \\0, \\x41, \\\\, \\' or \\\"")]
    Escape(char),
    #[error("nothing stands between the quotes")]
    EmptyQuotes,
    #[error("a character constant holds one character; a string stands in double quotes")]
    LongCharacter,
    #[error("a value is missing before {0}")]
    NoValue(String),
    #[error("{expected} is missing before {found}")]
    Missing { expected: &'static str, found: String },
    #[error("{0} cannot follow a complete expression")]
    Trailing(String),
    #[error("`=` does not compare; write `==`")]
    Assignment,
    #[error("nested more than {MAX_DEPTH} deep")]
    TooDeep,
    #[error("`&` needs a symbol or memory, such as &main or &u32[$rsp]")]
    NoAddress,
    #[error("`{0}` is no lane type; write u8, i8, u16, i16, u32, i32, u64, i64, f32 or f64")]
    LaneType(String),
    #[error("only $xmm registers have lanes, not {0}")]
    NotVector(&'static str),
    #[error("lane {index} does not exist; there are {count}, from 0")]
    Lane { index: i128, count: usize },
    #[error("no register or variable ${name}{}", meant(.nearest, "$"))]
    Variable { name: String, nearest: Option<String> },
    #[error("no symbol {name}{}", meant(.nearest, ""))]
    Symbol { name: String, nearest: Option<String> },
    #[error("the value of ${0} is not known here")]
    Register(String),
    #[error("{} is not counted in this run; {}", .0.name(), counted_with(*.0))]
    NotCounted(Counter),
    #[error("cannot read {size} byte{} of memory at {address:#x}", if *.size == 1 { "" } else { "s" })]
    Memory { address: u64, size: usize },
    #[error("division by zero")]
    Division,
    #[error("a shift by {0} bits; the count may not be negative")]
    Shift(i128),
    #[error("`{operator}` does not take {noun}")]
    Operand { operator: &'static str, noun: &'static str },
    #[error("an address is an integer, not {0}")]
    Address(&'static str),
}

fn meant(nearest: &Option<String>, sign: &str) -> String {
    nearest.as_ref().map(|name| format!("; did you mean {sign}{name}?")).unwrap_or_default()
}

fn counted_with(counter: Counter) -> &'static str {
    match counter {
        Counter::Event(Event::Bc | Event::Bcm | Event::Bi | Event::Bim) => "start with --branch-sim=yes",
        Counter::Event(Event::Ir) | Counter::Instructions => "start the program first",
        Counter::Event(_) => "start with --cache-sim=yes",
    }
}

/// `problem` at the byte `at` of `text`.
pub(super) fn error(text: &str, at: usize, problem: Problem) -> ExprError {
    let column = text.get(..at).unwrap_or(text).chars().count().saturating_add(1);
    ExprError { column, problem }
}
