//! The expressions of `break … if`, `print`, `x` and `watch`: their grammar, and their form:
//! operations of a stack machine. A list instead of a tree, so that no expression is too long to be
//! computed or dropped.
//!
//! Operators bind as in C (C11, 6.5): `?:`, `||`, `&&`, `|`, `^`, `&`, `== !=`, `< <= > >=`, `<<
//! >>`, `+ -`, `* / %`, and the prefixes `- ! ~ * &`. Operands are
//!
//! - numbers: `10`, `0x1f`, `0b101`, `0o17`, `1.5`, with `_` between digits, and `k m g` for
//!   thousands or `Ki Mi Gi` for powers of 1024 behind; characters `'a'`; strings `"text"`;
//! - registers: `$rax`, `$eax`, `$ax`, `$al`, `$rip` or `$pc`, `$rsp` or `$sp`, `$rflags`, `$xmm0`,
//!   and lanes such as `$xmm0.f32[1]`;
//! - variables of the session: `$name`;
//! - symbols: `main`, `std::cout`, `'f(int)'`. Data of 1, 2, 4 or 8 bytes is its value, a signed
//!   integer; functions and other data are their addresses, as `&NAME` always is;
//! - counts of events by Cachegrind's names, `Ir` to `Bim`, and `instructions`;
//! - memory: `*ADDRESS` (a `u64`), `u8[ADDRESS]` to `f64[ADDRESS]`, and `str[ADDRESS]`, which ends
//!   before a NUL.

use super::registers::Named;
use super::value::{Type, Value};
use crate::profile::Event;

/// Deepest nesting of brackets and `?:`.
pub(super) const MAX_DEPTH: usize = 100;

/// A count that expressions can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// An event of the simulation, counted so far.
    Event(Event),
    /// Instructions executed since the program started.
    Instructions,
}

impl Counter {
    /// The counter called `name`.
    pub fn named(name: &str) -> Option<Counter> {
        if name == "instructions" {
            return Some(Counter::Instructions);
        }
        Event::ALL.into_iter().find(|event| event.name() == name).map(Counter::Event)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Counter::Event(event) => event.name(),
            Counter::Instructions => "instructions",
        }
    }
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    Xor,
    And,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Left,
    Right,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    /// The sign, how tightly it binds, and the operator; `&&` and `||`, which bind less tightly,
    /// are jumps.
    pub(super) const TABLE: [(&'static str, u8, Binary); 16] = [
        ("|", 3, Binary::Or),
        ("^", 4, Binary::Xor),
        ("&", 5, Binary::And),
        ("==", 6, Binary::Equal),
        ("!=", 6, Binary::Unequal),
        ("<", 7, Binary::Less),
        ("<=", 7, Binary::LessEqual),
        (">", 7, Binary::Greater),
        (">=", 7, Binary::GreaterEqual),
        ("<<", 8, Binary::Left),
        (">>", 8, Binary::Right),
        ("+", 9, Binary::Add),
        ("-", 9, Binary::Subtract),
        ("*", 10, Binary::Multiply),
        ("/", 10, Binary::Divide),
        ("%", 10, Binary::Remainder),
    ];

    /// Its sign.
    pub(super) fn sign(self) -> &'static str {
        Binary::TABLE.iter().find(|row| row.2 == self).map_or("", |row| row.0)
    }
}

/// An operator before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Not,
    Complement,
}

/// An operation of the stack machine. Jumps lead forward only.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    Push(Value),
    Register {
        name: String,
        named: Named,
    },
    Variable(String),
    Symbol {
        name: String,
        /// `&` stands before it.
        address: bool,
    },
    /// The value of a symbol that was looked up.
    LoadAt(u64, Type),
    Counter(Counter),
    /// Replaces an address by what is there.
    Load(Type),
    LoadText,
    /// Replaces a vector and an index by a lane.
    Lane(Type),
    Unary(Unary),
    Binary(Binary),
    /// Replaces the value by 0 or 1.
    Truth,
    /// Takes a value and jumps if it is false.
    Unless(usize),
    /// Jumps if the value is false (`&&`) or true (`||`) and leaves it as 0 or 1; else takes it.
    Short {
        jump_if: bool,
        to: usize,
    },
    Jump(usize),
}

/// An expression that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(super) text: String,
    /// Each with the byte of `text` that errors are about.
    pub(super) ops: Vec<(Op, usize)>,
}

impl Expression {
    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The counters that its value depends on.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        self.ops.iter().filter_map(|(op, _)| match op {
            Op::Counter(counter) => Some(*counter),
            _ => None,
        })
    }
}

/// An error in an expression, and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {problem}")]
pub struct ExprError {
    /// Column of the error in characters, from 1.
    pub column: usize,
    /// The error.
    pub problem: Problem,
}

/// Errors in expressions.
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
