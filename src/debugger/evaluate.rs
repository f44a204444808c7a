//! Computes expressions.
//!
//! Integers are C's on x86-64 Linux, where `int` is taken to have 64 bits as `long` has: narrower
//! ones become signed 64-bit ones before an operator sees them, and with an unsigned 64-bit one
//! (`u64[…]`, `*…`, `$rsp`, `$rip`, addresses of symbols, numbers from 2⁶³ on) the result is
//! unsigned; the distance of two addresses is signed. Results are reduced modulo 2⁶⁴. So
//! `$rax == -1` and `$rax == 0xffffffffffffffff` mean the same. Shifts by 64 or more shift
//! everything out. Floating-point numbers are doubles.

use std::cmp::Ordering;

use super::expr::{Binary, Counter, ExprError, Expression, Op, Problem, Unary, error};
use super::registers::{self, Named, Register};
use super::suggest::nearest;
use super::value::{Integer, Kind, Type, Value};

/// Longest string that `str` reads, in bytes.
pub const MAX_TEXT: usize = 4096;
/// Strings are read in pieces that end at multiples of this, so that they may end where memory
/// does.
const PIECE: u64 = 64;

/// Meaning of the name of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its address.
    pub address: u64,
    /// Type of its value; `None` if its name stands for its address, as those of functions and
    /// arrays do.
    pub value: Option<Type>,
}

impl Symbol {
    /// Code, which has no value.
    pub fn code(address: u64) -> Symbol {
        Symbol { address, value: None }
    }

    /// Data of `size` bytes: a signed integer if there is one of this size.
    pub fn data(address: u64, size: u64) -> Symbol {
        let value = match size {
            1 => Some(Kind::I8),
            2 => Some(Kind::I16),
            4 => Some(Kind::I32),
            8 => Some(Kind::I64),
            _ => None,
        };
        Symbol { address, value: value.map(Type::Integer) }
    }
}

/// Values of names.
pub trait Scope {
    /// A register; `None` if its value is not known in the frame that is looked at.
    fn register(&mut self, register: Register) -> Option<u64>;
    /// `$xmm0` and so on, the lowest byte first.
    fn vector(&mut self, number: u8) -> Option<[u8; 16]>;
    /// `$st0` and so on, in the extended format, the lowest byte first.
    fn x87(&mut self, number: u8) -> Option<[u8; 10]>;
    /// Copies from memory.
    ///
    /// # Errors
    /// The bytes that could be read before the first that cannot.
    fn memory(&mut self, address: u64, buf: &mut [u8]) -> Result<(), usize>;
    /// A symbol.
    fn symbol(&mut self, name: &str) -> Option<Symbol>;
    /// A count of this run; `None` if it is not kept.
    fn counter(&mut self, counter: Counter) -> Option<u64>;
    /// A variable of the session, without its `$`.
    fn variable(&mut self, name: &str) -> Option<Value>;
    /// The names of all symbols, for suggestions.
    fn symbols(&mut self) -> Vec<String>;
    /// The names of all variables, without `$`, for suggestions.
    fn variables(&mut self) -> Vec<String>;
    /// True if the user wants no suggestion any more: there may be many names.
    fn is_given_up(&self) -> bool {
        false
    }
}

impl Expression {
    /// Computes the value.
    ///
    /// # Errors
    /// Names that `scope` does not know, memory that cannot be read, operators that do not take
    /// what they get.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ExprError> {
        run(&self.text, &self.ops, scope)
    }

    /// The memory that the expression names, as address and size in bytes, if it is `*…`, `u32[…]`,
    /// data with a value or the like: what a watchpoint on it watches. A string has its length,
    /// without the NUL.
    ///
    /// # Errors
    /// Those of [`Expression::evaluate`].
    pub fn place(&self, scope: &mut dyn Scope) -> Result<Option<(u64, usize)>, ExprError> {
        let Some(((op, at), before)) = self.ops.split_last() else { return Ok(None) };
        // A load that only one side of `?:` ends with names no place.
        let end = self.ops.len();
        let joins = |(op, _): &(Op, usize)| matches!(op, Op::Jump(to) if *to == end);
        if before.iter().any(joins) {
            return Ok(None);
        }
        let wrong = |problem| error(&self.text, *at, problem);
        match op {
            Op::LoadAt(address, kind) => Ok(Some((*address, kind.size()))),
            Op::Symbol { name, address: false } => {
                let found = symbol(name, scope).map_err(wrong)?;
                Ok(found.value.map(|kind| (found.address, kind.size())))
            }
            Op::Load(kind) => {
                let value = run(&self.text, before, scope)?;
                Ok(Some((address(&value).map_err(wrong)?, kind.size())))
            }
            Op::LoadText => {
                let address = address(&run(&self.text, before, scope)?).map_err(wrong)?;
                Ok(Some((address, text(address, scope).map_err(wrong)?.len())))
            }
            _ => Ok(None),
        }
    }

    /// The expression with its symbols looked up: for conditions that are computed often, and to
    /// refuse an unknown name before the program goes on.
    ///
    /// # Errors
    /// The first symbol that `scope` does not know.
    pub fn bind(mut self, scope: &mut dyn Scope) -> Result<Expression, ExprError> {
        for (op, at) in &mut self.ops {
            if let Op::Symbol { name, address } = op {
                let found = symbol(name, scope).map_err(|problem| error(&self.text, *at, problem))?;
                *op = match found.value {
                    Some(kind) if !*address => Op::LoadAt(found.address, kind),
                    _ => Op::Push(Value::pointer(found.address)),
                };
            }
        }
        Ok(self)
    }
}

fn run(text: &str, ops: &[(Op, usize)], scope: &mut dyn Scope) -> Result<Value, ExprError> {
    let mut stack: Vec<Value> = Vec::new();
    let mut next = 0usize;
    while let Some((op, at)) = ops.get(next) {
        next = next.saturating_add(1);
        // The parser leaves as many values as the operations take.
        let mut pop = || stack.pop().unwrap_or(Value::signed(0));
        let value = match op {
            Op::Jump(to) => {
                next = next.max(*to);
                continue;
            }
            Op::Unless(to) => {
                if !pop().is_true() {
                    next = next.max(*to);
                }
                continue;
            }
            Op::Short { jump_if, to } => {
                if pop().is_true() != *jump_if {
                    continue;
                }
                next = next.max(*to);
                Ok(truth(*jump_if))
            }
            Op::Push(value) => Ok(value.clone()),
            Op::Register { name, named } => register(name, *named, scope),
            Op::Variable(name) => variable(name, scope),
            Op::Symbol { name, address } => symbol(name, scope).and_then(|found| match found.value {
                Some(kind) if !*address => load(&Value::unsigned(found.address), kind, scope),
                _ => Ok(Value::pointer(found.address)),
            }),
            Op::LoadAt(address, kind) => load(&Value::unsigned(*address), *kind, scope),
            Op::Counter(counter) => {
                let count = scope.counter(*counter).ok_or(Problem::NotCounted(*counter));
                count.map(|count| Value::Integer(Integer::new(i128::from(count), Kind::I64)))
            }
            Op::Load(kind) => load(&pop(), *kind, scope),
            Op::LoadText => address(&pop()).and_then(|at| self::text(at, scope)).map(Value::Bytes),
            Op::Lane(kind) => {
                let index = pop();
                lane(&pop(), &index, *kind)
            }
            Op::Unary(operator) => unary(*operator, &pop()),
            Op::Binary(operator) => {
                let right = pop();
                binary(*operator, &pop(), &right)
            }
            Op::Truth => Ok(truth(pop().is_true())),
        };
        stack.push(value.map_err(|problem| error(text, *at, problem))?);
    }
    Ok(stack.pop().unwrap_or(Value::signed(0)))
}

fn truth(holds: bool) -> Value {
    Value::signed(i64::from(holds))
}

fn register(name: &str, named: Named, scope: &mut dyn Scope) -> Result<Value, Problem> {
    let value = match named {
        Named::Part { register, shift, kind } => {
            scope.register(register).map(|value| Value::Integer(registers::part(value, shift, kind)))
        }
        Named::Vector(number) => scope.vector(number).map(Value::Vector),
        Named::X87(number) => scope.x87(number).map(|bytes| Value::Float(registers::extended(bytes))),
    };
    value.ok_or_else(|| Problem::Register(name.to_owned()))
}

fn variable(name: &str, scope: &mut dyn Scope) -> Result<Value, Problem> {
    scope.variable(name).ok_or_else(|| {
        let known = scope.variables().into_iter().chain(registers::names());
        Problem::Variable { name: name.to_owned(), nearest: nearest(name, known) }
    })
}

fn symbol(name: &str, scope: &mut dyn Scope) -> Result<Symbol, Problem> {
    scope.symbol(name).ok_or_else(|| {
        let counters =
            ["instructions"].into_iter().chain(crate::profile::Event::ALL.map(|event| event.name()));
        let known = scope.symbols().into_iter().chain(counters.map(str::to_owned));
        let known = known.take_while(|_| !scope.is_given_up());
        Problem::Symbol { name: name.to_owned(), nearest: nearest(name, known) }
    })
}

fn address(value: &Value) -> Result<u64, Problem> {
    value.as_u64().ok_or_else(|| Problem::Address(value.noun()))
}

fn load(value: &Value, kind: Type, scope: &mut dyn Scope) -> Result<Value, Problem> {
    let address = address(value)?;
    let mut bytes = [0; 8];
    let unreadable = Problem::Memory { address, size: kind.size() };
    let Some(part) = bytes.get_mut(..kind.size()) else { return Err(unreadable) };
    scope.memory(address, part).map_err(|_| unreadable)?;
    Ok(kind.read(&bytes))
}

/// The string at `address`, up to its NUL or [`MAX_TEXT`] bytes.
fn text(address: u64, scope: &mut dyn Scope) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    while bytes.len() < MAX_TEXT {
        let at = address.wrapping_add(bytes.len() as u64);
        let mut piece = [0; PIECE as usize];
        let size = (PIECE - at % PIECE).min((MAX_TEXT - bytes.len()) as u64);
        let piece = piece.get_mut(..size as usize).unwrap_or_default();
        let (piece, complete) = match scope.memory(at, piece) {
            Ok(()) => (&*piece, true),
            Err(read) => (piece.get(..read).unwrap_or_default(), false),
        };
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            bytes.extend_from_slice(piece.get(..end).unwrap_or_default());
            return Ok(bytes);
        }
        bytes.extend_from_slice(piece);
        if !complete {
            let address = address.wrapping_add(bytes.len() as u64);
            return Err(Problem::Memory { address, size: 1 });
        }
    }
    Ok(bytes)
}

fn lane(vector: &Value, index: &Value, kind: Type) -> Result<Value, Problem> {
    let Value::Vector(bytes) = vector else { return Err(Problem::NotVector(vector.noun())) };
    let Value::Integer(index) = index else {
        return Err(Problem::Operand { operator: "[]", noun: index.noun() });
    };
    let count = bytes.len() / kind.size();
    let lane =
        usize::try_from(index.value()).ok().and_then(|index| bytes.chunks_exact(kind.size()).nth(index));
    lane.map(|bytes| kind.read(bytes)).ok_or(Problem::Lane { index: index.value(), count })
}

/// The kind that an operator computes with.
fn promoted(kind: Kind) -> Kind {
    if matches!(kind, Kind::U64 | Kind::Pointer) { Kind::U64 } else { Kind::I64 }
}

/// The kind of a result of kind `both`: what is so far from an address is an address, and so is one
/// whose low bits were cleared or set; the distance of two is a signed number.
fn result(operator: Binary, left: Kind, right: Kind, both: Kind) -> Kind {
    match (operator, left == Kind::Pointer, right == Kind::Pointer) {
        (Binary::Add | Binary::And | Binary::Or, true, false)
        | (Binary::Add, false, true)
        | (Binary::Subtract, true, false) => Kind::Pointer,
        (Binary::Subtract, true, true) => Kind::I64,
        _ => both,
    }
}

fn unary(operator: Unary, value: &Value) -> Result<Value, Problem> {
    let integer = |compute: fn(i128) -> i128, integer: &Integer| {
        Value::Integer(Integer::new(compute(integer.value()), promoted(integer.kind())))
    };
    let refuse = |operator| Err(Problem::Operand { operator, noun: value.noun() });
    match (operator, value) {
        (Unary::Not, value) => Ok(truth(!value.is_true())),
        (Unary::Negate, Value::Integer(value)) => Ok(integer(|value| value.wrapping_neg(), value)),
        (Unary::Negate, Value::Float(value)) => Ok(Value::Float(-value)),
        (Unary::Complement, Value::Integer(value)) => Ok(integer(|value| !value, value)),
        (Unary::Negate, _) => refuse("-"),
        (Unary::Complement, _) => refuse("~"),
    }
}

fn binary(operator: Binary, left: &Value, right: &Value) -> Result<Value, Problem> {
    let refuse = |value: &Value| Err(Problem::Operand { operator: operator.sign(), noun: value.noun() });
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => integers(operator, *left, *right),
        (Value::Integer(left), Value::Float(right)) => floats(operator, left.value() as f64, *right),
        (Value::Float(left), Value::Integer(right)) => floats(operator, *left, right.value() as f64),
        (Value::Float(left), Value::Float(right)) => floats(operator, *left, *right),
        (Value::Bytes(left), Value::Bytes(right)) => match compared(operator, Some(left.cmp(right))) {
            Some(holds) => Ok(truth(holds)),
            None => refuse(&Value::Bytes(Vec::new())),
        },
        _ => {
            let wide = |value: &Value| match value {
                Value::Vector(bytes) => Some(u128::from_le_bytes(*bytes)),
                Value::Integer(integer) => Some(u128::from(integer.as_u64())),
                _ => None,
            };
            let odd = if matches!(left, Value::Integer(_) | Value::Float(_)) { right } else { left };
            match (wide(left), wide(right), operator) {
                (Some(left), Some(right), Binary::Equal) => Ok(truth(left == right)),
                (Some(left), Some(right), Binary::Unequal) => Ok(truth(left != right)),
                _ => refuse(odd),
            }
        }
    }
}

/// The result of a comparison for operands in this order; `None` if the operator compares nothing.
/// Without an order (NaN) only `!=` holds.
fn compared(operator: Binary, order: Option<Ordering>) -> Option<bool> {
    Some(match operator {
        Binary::Equal => order == Some(Ordering::Equal),
        Binary::Unequal => order != Some(Ordering::Equal),
        Binary::Less => order == Some(Ordering::Less),
        Binary::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Binary::Greater => order == Some(Ordering::Greater),
        Binary::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        _ => return None,
    })
}

fn integers(operator: Binary, left: Integer, right: Integer) -> Result<Value, Problem> {
    let both = match (promoted(left.kind()), promoted(right.kind())) {
        (Kind::I64, Kind::I64) => Kind::I64,
        _ => Kind::U64,
    };
    let (a, b) = (Integer::new(left.value(), both).value(), Integer::new(right.value(), both).value());
    if let Some(holds) = compared(operator, Some(a.cmp(&b))) {
        return Ok(truth(holds));
    }
    let mut kind = result(operator, left.kind(), right.kind(), both);
    let value = match operator {
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::And => a & b,
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Divide => a.checked_div(b).ok_or(Problem::Division)?,
        Binary::Remainder => a.checked_rem(b).ok_or(Problem::Division)?,
        _ => {
            // A shift has its left operand's kind.
            kind = promoted(left.kind());
            let count = u128::try_from(right.value()).map_err(|_| Problem::Shift(right.value()))?;
            let count = u32::try_from(count.min(64)).unwrap_or(64);
            if operator == Binary::Left {
                left.value().wrapping_shl(count)
            } else {
                left.value().wrapping_shr(count)
            }
        }
    };
    Ok(Value::Integer(Integer::new(value, kind)))
}

fn floats(operator: Binary, left: f64, right: f64) -> Result<Value, Problem> {
    if let Some(holds) = compared(operator, left.partial_cmp(&right)) {
        return Ok(truth(holds));
    }
    Ok(Value::Float(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left / right,
        _ => return Err(Problem::Operand { operator: operator.sign(), noun: "a floating-point number" }),
    }))
}

#[cfg(test)]
mod tests;
