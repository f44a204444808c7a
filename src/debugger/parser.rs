//! The parser of expressions: one function for each level of the grammar that [`super::expr`] describes.

use super::expr::{Binary, Counter, Step, Unary};
use super::lexer::{Lexer, Token};
use super::problem::{ExprError, Problem, error};
use super::registers;
use super::value::{Integer, Kind, Type, Value};

/// Deepest nesting of brackets and `?:`.
pub(super) const MAX_DEPTH: usize = 100;

/// The steps that compute `text`.
pub(super) fn parse(text: &str) -> Result<Vec<(Step, usize)>, ExprError> {
    let mut parser =
        Parser { lexer: Lexer::new(text), token: Token::End, at: 0, steps: Vec::new(), depth: 0 };
    match parser.whole() {
        Ok(()) => Ok(parser.steps),
        Err(Failure::At(at, problem)) => Err(error(text, at, problem)),
        Err(Failure::Word(error)) => Err(error),
    }
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
                ("&", Shape::Symbol) => {
                    if let Some((Step::Symbol { address, .. }, _)) = self.steps.last_mut() {
                        *address = true;
                    }
                    Shape::Other
                }
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
                self.step(Step::Symbol { name, address: false }, at);
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
        self.step(Step::Symbol { name, address: false }, at);
        Ok(Shape::Symbol)
    }
}
