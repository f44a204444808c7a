//! The parser of expressions: one function for each level of the grammar that [`super::expr`]
//! describes.

use super::expr::{Binary, Counter, ExprError, Expression, MAX_DEPTH, Op, Problem, Unary, error};
use super::lexer::{Lexer, Token};
use super::registers;
use super::value::{Integer, Kind, Type, Value};

impl Expression {
    /// Reads the whole of `text`.
    ///
    /// # Errors
    /// The first thing that the grammar does not allow.
    pub fn parse(text: &str) -> Result<Expression, ExprError> {
        Ok(Expression { text: text.to_owned(), ops: parse(text)? })
    }
}

/// The operations that compute `text`.
fn parse(text: &str) -> Result<Vec<(Op, usize)>, ExprError> {
    let mut parser = Parser { lexer: Lexer::new(text), token: Token::End, at: 0, ops: Vec::new(), depth: 0 };
    match parser.whole() {
        Ok(()) => Ok(parser.ops),
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

/// Result of the last operations, as far as `&` minds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The last operation loads it.
    Memory,
    Symbol,
    Other,
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token,
    /// Byte at which the token begins.
    at: usize,
    ops: Vec<(Op, usize)>,
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

    fn emit(&mut self, op: Op, at: usize) {
        self.ops.push((op, at));
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
            let unless = self.ops.len();
            self.emit(Op::Unless(0), at);
            self.conditional()?;
            self.expect(":", "`:`")?;
            let jump = self.ops.len();
            self.emit(Op::Jump(0), at);
            self.land(unless);
            self.conditional()?;
            self.land(jump);
            shape = Shape::Other;
        }
        self.depth -= 1;
        Ok(shape)
    }

    /// Has the jump at `jump` lead to the next operation.
    fn land(&mut self, jump: usize) {
        let here = self.ops.len();
        if let Some((Op::Unless(to) | Op::Jump(to) | Op::Short { to, .. }, _)) = self.ops.get_mut(jump) {
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
            let jump = self.ops.len();
            if let Some((_, jump_if)) = short {
                self.emit(Op::Short { jump_if, to: 0 }, at);
            }
            self.binary(tightness.saturating_add(1))?;
            match row {
                Some(row) => self.emit(Op::Binary(row.2), at),
                None => {
                    self.emit(Op::Truth, at);
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
                    self.emit(Op::Load(Type::Integer(Kind::U64)), at);
                    Shape::Memory
                }
                ("&", Shape::Memory) => {
                    self.ops.pop();
                    Shape::Other
                }
                ("&", Shape::Symbol) => {
                    if let Some((Op::Symbol { address, .. }, _)) = self.ops.last_mut() {
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
                    self.emit(Op::Unary(operator), at);
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
                self.emit(Op::Push(Value::Integer(Integer::new(i128::from(value), kind))), at);
                self.advance()?;
            }
            Token::Float(value) => {
                self.emit(Op::Push(Value::Float(value)), at);
                self.advance()?;
            }
            Token::Text(bytes) => {
                self.emit(Op::Push(Value::Bytes(bytes)), at);
                self.advance()?;
            }
            Token::Dollar(name) => {
                let op = match registers::named(&name) {
                    Some(named) => Op::Register { name, named },
                    None => Op::Variable(name),
                };
                self.emit(op, at);
                self.advance()?;
            }
            Token::Quoted(name) => {
                self.emit(Op::Symbol { name, address: false }, at);
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
            self.emit(Op::Lane(kind), at);
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
                (Some(kind), _) => Some(Op::Load(kind)),
                (None, "str") => Some(Op::LoadText),
                _ => None,
            };
            if let Some(load) = load {
                self.index()?;
                self.emit(load, at);
                return Ok(Shape::Memory);
            }
        }
        if let Some(counter) = Counter::named(&name) {
            self.emit(Op::Counter(counter), at);
            return Ok(Shape::Other);
        }
        self.emit(Op::Symbol { name, address: false }, at);
        Ok(Shape::Symbol)
    }
}
