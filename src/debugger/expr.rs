//! The expressions of `break … if`, `print`, `x` and `watch`: their grammar, and what they are read into: a list of
//! steps for a stack machine. Steps instead of a tree, so that no expression is too long to be computed or dropped.
//!
//! Operators bind as in C (C11, 6.5): `?:`, `||`, `&&`, `|`, `^`, `&`, `== !=`, `< <= > >=`, `<< >>`, `+ -`, `* / %`, and the
//! prefixes `- ! ~ * &`. Operands are
//!
//! - numbers: `10`, `0x1f`, `0b101`, `0o17`, `1.5`, with `_` between digits, and `k m g` for thousands or `Ki Mi Gi` for powers
//!   of 1024 behind; characters `'a'`; strings `"text"`;
//! - registers: `$rax`, `$eax`, `$ax`, `$al`, `$rip` or `$pc`, `$rsp` or `$sp`, `$rflags`, `$xmm0`, and lanes such as `$xmm0.f32[1]`;
//! - variables of the session: `$name`;
//! - symbols: `main`, `std::cout`, `'f(int)'`. Data of 1, 2, 4 or 8 bytes is its value, a signed integer; functions and
//!   other data are their addresses, as `&NAME` always is;
//! - counts of events by Cachegrind's names, `Ir` to `Bim`, and `instructions`;
//! - memory: `*ADDRESS` (a `u64`), `u8[ADDRESS]` to `f64[ADDRESS]`, and `str[ADDRESS]`, which ends before a NUL.

pub use super::lexer::number;
use super::parser;
pub use super::problem::{ExprError, Problem};
use super::registers::Named;
use super::value::{Type, Value};
use crate::profile::Event;

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
    /// The sign, how tightly it binds, and the operator; `&&` and `||`, which bind less tightly, are jumps.
    pub const TABLE: [(&'static str, u8, Binary); 16] = [
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
    pub fn sign(self) -> &'static str {
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

/// One step of the stack machine. Jumps lead forward only.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
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
    pub(super) steps: Vec<(Step, usize)>,
}

impl Expression {
    /// Reads the whole of `text`.
    ///
    /// # Errors
    /// The first thing that the grammar does not allow.
    pub fn parse(text: &str) -> Result<Expression, ExprError> {
        Ok(Expression { text: text.to_owned(), steps: parser::parse(text)? })
    }

    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The counters that its value depends on.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        self.steps.iter().filter_map(|(step, _)| match step {
            Step::Counter(counter) => Some(*counter),
            _ => None,
        })
    }
}
