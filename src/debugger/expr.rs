//! The expressions of `break … if`, `print`, `x` and `watch`: their grammar, and a parser that turns them into a list of
//! steps for a stack machine. Steps instead of a tree, so that no expression is too long to be computed or dropped.
//!
//! Operators bind as in C (C11, 6.5): `?:`, `||`, `&&`, `|`, `^`, `&`, `== !=`, `< <= > >=`, `<< >>`, `+ -`, `* / %`, and the
//! prefixes `- ! ~ * &`. Operands are
//!
//! - numbers: `10`, `0x1f`, `0b101`, `0o17`, `1.5`, with `_` between digits, and `k m g` for thousands or `Ki Mi Gi` for powers
//!   of 1024 behind; characters `'a'`; strings `"text"`;
//! - registers: `$rax`, `$eax`, `$ax`, `$al`, `$rip` or `$pc`, `$rsp` or `$sp`, `$rflags`, `$xmm0`, and lanes such as `$xmm0.f32[1]`;
//! - variables of the session: `$name`;
//! - symbols, which stand for their addresses: `main`, `std::cout`, `'f(int)'`;
//! - counts of events by Cachegrind's names, `Ir` to `Bim`, and `instructions`;
//! - memory: `*ADDRESS` (a `u64`), `u8[ADDRESS]` to `f64[ADDRESS]`, and `str[ADDRESS]`, which ends before a NUL.

use super::lexer::{Lexer, Token};
use super::registers::{self, Named};
use super::value::{Integer, Kind, Type, Value};
use crate::profile::Event;

/// Deepest nesting of brackets and `?:`.
const MAX_DEPTH: usize = 100;

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
    const TABLE: [(&'static str, u8, Binary); 16] = [
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
    Symbol(String),
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
        let mut parser =
            Parser { lexer: Lexer::new(text), token: Token::End, at: 0, steps: Vec::new(), depth: 0 };
        let read = parser.whole();
        let steps = parser.steps;
        match read {
            Ok(()) => Ok(Expression { text: text.to_owned(), steps }),
            Err(Failure::At(at, problem)) => Err(error(text, at, problem)),
            Err(Failure::Word(error)) => Err(error),
        }
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

/// `problem` at the byte `at` of `text`.
pub(super) fn error(text: &str, at: usize, problem: Problem) -> ExprError {
    let column = text.get(..at).unwrap_or(text).chars().count().saturating_add(1);
    ExprError { column, problem }
}

enum Failure {
    At(usize, Problem),
    Word(ExprError),
}

impl From<ExprError> for Failure {
    fn from(error: ExprError) -> Self {
        Failure::Word(error)
    }
}

/// What the last steps leave, as far as `&` minds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The last step loads it.
    Memory,
    Symbol,
    Other,
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token,
    /// Where the token begins.
    at: usize,
    steps: Vec<(Step, usize)>,
    depth: usize,
}

impl Parser<'_> {
    fn whole(&mut self) -> Result<(), Failure> {
        self.advance()?;
        if self.token == Token::End {
            return Err(Failure::At(self.at, Problem::Empty));
        }
        self.conditional()?;
        match self.token {
            Token::End => Ok(()),
            Token::Sign("=") => Err(Failure::At(self.at, Problem::Assignment)),
            _ => Err(Failure::At(self.at, Problem::Trailing(self.found()))),
        }
    }

    fn advance(&mut self) -> Result<(), Failure> {
        (self.token, self.at) = self.lexer.next()?;
        Ok(())
    }

    fn step(&mut self, step: Step, at: usize) {
        self.steps.push((step, at));
    }

    /// The token, for messages.
    fn found(&self) -> String {
        match &self.token {
            Token::Integer(value) => format!("`{value}`"),
            Token::Float(value) => format!("`{value}`"),
            Token::Text(_) => "the string".to_owned(),
            Token::Name(name) | Token::Quoted(name) => format!("`{name}`"),
            Token::Dollar(name) => format!("`${name}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_owned(),
        }
    }

    /// Passes over a sign that must be here.
    fn expect(&mut self, sign: &'static str, expected: &'static str) -> Result<(), Failure> {
        if self.token == Token::Sign(sign) {
            return self.advance();
        }
        Err(Failure::At(self.at, Problem::Missing { expected, found: self.found() }))
    }

    fn conditional(&mut self) -> Result<Shape, Failure> {
        if self.depth >= MAX_DEPTH {
            return Err(Failure::At(self.at, Problem::TooDeep));
        }
        self.depth += 1;
        let mut shape = self.binary(1)?;
        if self.token == Token::Sign("?") {
            let at = self.at;
            self.advance()?;
            let unless = self.steps.len();
            self.step(Step::Unless(0), at);
            self.conditional()?;
            self.expect(":", "`:`")?;
            let jump = self.steps.len();
            self.step(Step::Jump(0), at);
            self.land(unless);
            self.conditional()?;
            self.land(jump);
            shape = Shape::Other;
        }
        self.depth -= 1;
        Ok(shape)
    }

    /// Has the jump at `step` lead to the next step.
    fn land(&mut self, step: usize) {
        let here = self.steps.len();
        if let Some((Step::Unless(to) | Step::Jump(to) | Step::Short { to, .. }, _)) =
            self.steps.get_mut(step)
        {
            *to = here;
        }
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<Shape, Failure> {
        let mut shape = self.unary()?;
        loop {
            let Token::Sign(sign) = self.token else { return Ok(shape) };
            let at = self.at;
            let short = match sign {
                "||" => Some((1, true)),
                "&&" => Some((2, false)),
                _ => None,
            };
            let row = Binary::TABLE.iter().find(|row| row.0 == sign);
            let Some(tightness) = short.map(|short| short.0).or(row.map(|row| row.1)) else {
                return Ok(shape);
            };
            if tightness < least {
                return Ok(shape);
            }
            self.advance()?;
            let jump = self.steps.len();
            if let Some((_, jump_if)) = short {
                self.step(Step::Short { jump_if, to: 0 }, at);
            }
            self.binary(tightness.saturating_add(1))?;
            match row {
                Some(row) => self.step(Step::Binary(row.2), at),
                None => {
                    self.step(Step::Truth, at);
                    self.land(jump);
                }
            }
            shape = Shape::Other;
        }
    }

    fn unary(&mut self) -> Result<Shape, Failure> {
        let mut prefixes = Vec::new();
        loop {
            match self.token {
                Token::Sign(sign @ ("-" | "!" | "~" | "*" | "&")) => prefixes.push((sign, self.at)),
                // `&&main` would be the address of an address.
                Token::Sign("&&") => return Err(Failure::At(self.at, Problem::NoAddress)),
                _ => break,
            }
            self.advance()?;
        }
        let mut shape = self.primary()?;
        for (sign, at) in prefixes.into_iter().rev() {
            shape = match (sign, shape) {
                ("*", _) => {
                    self.step(Step::Load(Type::Integer(Kind::U64)), at);
                    Shape::Memory
                }
                ("&", Shape::Memory) => {
                    self.steps.pop();
                    Shape::Other
                }
                ("&", Shape::Symbol) => Shape::Other,
                ("&", Shape::Other) => return Err(Failure::At(at, Problem::NoAddress)),
                _ => {
                    let operator = match sign {
                        "-" => Unary::Negate,
                        "!" => Unary::Not,
                        _ => Unary::Complement,
                    };
                    self.step(Step::Unary(operator), at);
                    Shape::Other
                }
            };
        }
        Ok(shape)
    }

    fn primary(&mut self) -> Result<Shape, Failure> {
        let at = self.at;
        let token = std::mem::replace(&mut self.token, Token::End);
        let mut shape = Shape::Other;
        match token {
            Token::Integer(value) => {
                // As C's constants: signed where that holds them.
                let kind = if i64::try_from(value).is_ok() { Kind::I64 } else { Kind::U64 };
                self.step(Step::Push(Value::Integer(Integer::new(i128::from(value), kind))), at);
                self.advance()?;
            }
            Token::Float(value) => {
                self.step(Step::Push(Value::Float(value)), at);
                self.advance()?;
            }
            Token::Text(bytes) => {
                self.step(Step::Push(Value::Bytes(bytes)), at);
                self.advance()?;
            }
            Token::Dollar(name) => {
                let step = match registers::named(&name) {
                    Some(named) => Step::Register { name, named },
                    None => Step::Variable(name),
                };
                self.step(step, at);
                self.advance()?;
            }
            Token::Quoted(name) => {
                self.step(Step::Symbol(name), at);
                self.advance()?;
                shape = Shape::Symbol;
            }
            Token::Name(name) => shape = self.named(name, at)?,
            Token::Sign("(") => {
                self.advance()?;
                shape = self.conditional()?;
                self.expect(")", "`)`")?;
            }
            token => {
                self.token = token;
                return Err(Failure::At(at, Problem::NoValue(self.found())));
            }
        }
        while self.token == Token::Sign(".") {
            self.advance()?;
            let at = self.at;
            let kind = match &self.token {
                Token::Name(name) => {
                    Type::named(name).ok_or_else(|| Failure::At(at, Problem::LaneType(name.clone())))?
                }
                _ => {
                    let found = self.found();
                    return Err(Failure::At(
                        at,
                        Problem::Missing { expected: "a lane such as f32[0]", found },
                    ));
                }
            };
            self.advance()?;
            self.index()?;
            self.step(Step::Lane(kind), at);
            shape = Shape::Other;
        }
        Ok(shape)
    }

    /// `[EXPR]`.
    fn index(&mut self) -> Result<(), Failure> {
        self.expect("[", "`[`")?;
        self.conditional()?;
        self.expect("]", "`]`")
    }

    /// Memory, a counter or a symbol.
    fn named(&mut self, name: String, at: usize) -> Result<Shape, Failure> {
        self.advance()?;
        if self.token == Token::Sign("[") {
            let load = match (Type::named(&name), name.as_str()) {
                (Some(kind), _) => Some(Step::Load(kind)),
                (None, "str") => Some(Step::LoadText),
                _ => None,
            };
            if let Some(load) = load {
                self.index()?;
                self.step(load, at);
                return Ok(Shape::Memory);
            }
        }
        if let Some(counter) = Counter::named(&name) {
            self.step(Step::Counter(counter), at);
            return Ok(Shape::Other);
        }
        self.step(Step::Symbol(name), at);
        Ok(Shape::Symbol)
    }
}
