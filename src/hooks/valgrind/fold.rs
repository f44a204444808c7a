//! Constants: what VEX's optimiser computes while it translates. It knows rules for some operations of some widths and
//! none for the others, and so does this.

use super::ir::{OPERANDS, Op, Statement, Temp, Value};

/// How many expressions are looked at to find out whether two are the same.
const MOST_COMPARED: u32 = 31;

type Operands = [Value; OPERANDS];

/// What is known of each temporary.
pub(super) struct Folding {
    /// What it is a copy of, or the constant.
    values: Vec<Option<Value>>,
    /// What it is computed of otherwise.
    computed: Vec<Option<(Op, Operands)>>,
}

pub(super) fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn signed(value: u64, bits: u8) -> i64 {
    let shift = 64 - u32::from(bits.clamp(1, 64));
    ((value << shift) as i64) >> shift
}

impl Folding {
    pub fn new(temps: usize) -> Folding {
        Folding { values: vec![None; temps], computed: vec![None; temps] }
    }

    /// Puts constants and copies in place of what they are; removes exits that are never taken, and what is behind one that
    /// always is. Returns which instruction that is.
    pub fn run(&mut self, code: &mut [Statement], next: &mut Option<Value>) -> Option<u16> {
        for i in 0..code.len() {
            let statement = match code[i] {
                Statement::Compute(to, op, operands) => self.compute(to, op, operands.map(|v| self.value(v))),
                Statement::Put(slice, value) => Statement::Put(slice, self.value(value)),
                Statement::Use(value) => Statement::Use(self.value(value)),
                Statement::Load { to, address, insn, event } => {
                    Statement::Load { to, address: self.value(address), insn, event }
                }
                Statement::Store { address, value, insn, event } => {
                    Statement::Store { address: self.value(address), value: self.value(value), insn, event }
                }
                Statement::Exit { guard, insn, branch } => match self.value(guard) {
                    Value::Known(0) => Statement::Nothing,
                    Value::Known(_) => {
                        code[i..].fill(Statement::Nothing);
                        *next = None;
                        return Some(insn);
                    }
                    guard => Statement::Exit { guard, insn, branch },
                },
                Statement::PutStack { tag, top, bias, value } => {
                    Statement::PutStack { tag, top: self.value(top), bias, value: self.value(value) }
                }
                Statement::GetStack { to, tag, top, bias } => {
                    Statement::GetStack { to, tag, top: self.value(top), bias }
                }
                other => other,
            };
            code[i] = statement;
        }
        *next = next.map(|value| self.value(value));
        None
    }

    /// What a value is known to be.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::Temp(temp) => self.values.get(temp as usize).copied().flatten().unwrap_or(value),
            Value::Known(_) => value,
        }
    }

    fn compute(&mut self, to: Temp, op: Op, operands: Operands) -> Statement {
        let at = to as usize;
        let folded = match op {
            Op::Copy => Some(operands[0]),
            _ => self.fold(op, &operands),
        };
        if let Some(value) = folded {
            if let Some(known) = self.values.get_mut(at) {
                *known = Some(value);
            }
            return Statement::Nothing;
        }
        let (op, operands) = match op {
            // A number added to itself is shifted.
            Op::Add(bits @ (8 | 32 | 64)) if self.same(operands[0], operands[1]) => {
                (Op::Shl(bits), [operands[0], Value::Known(1), operands[2], operands[3]])
            }
            _ => (op, operands),
        };
        if let Some(computed) = self.computed.get_mut(at) {
            *computed = Some((op, operands));
        }
        Statement::Compute(to, op, operands)
    }

    /// The value that the operation gives, if it need not be computed.
    fn fold(&self, op: Op, operands: &Operands) -> Option<Value> {
        use Value::{Known, Temp};
        match (op.operands(), *operands) {
            (1, [Known(value), ..]) => unary(op, value).map(Known),
            (2, [Known(one), Known(other), ..]) => binary(op, one, other).map(Known),
            (2, [one, other, ..]) => self.identity(op, one, other),
            (3, [Known(condition), one, other, _]) if op == Op::Choose => {
                Some(if condition == 0 { other } else { one })
            }
            (3, [Temp(_), one, other, _]) if op == Op::Choose => self.same(one, other).then_some(other),
            _ => None,
        }
    }

    /// What two operands give of which one at most is a constant.
    fn identity(&self, op: Op, one: Value, other: Value) -> Option<Value> {
        use Value::Known;
        let zero = |value: Value| value == Known(0);
        let ones =
            |value: Value, bits: u8| matches!(value, Known(number) if number & mask(bits) == mask(bits));
        let same = || self.same(one, other);
        match op {
            Op::Shl(32 | 64) | Op::Shr(64) | Op::Sar(64) if zero(one) || zero(other) => Some(one),
            Op::Shr(32) | Op::Sar(32) if zero(other) => Some(one),
            Op::Or(_) | Op::Add(32 | 64) | Op::Sub(32 | 64) | Op::Xor(_) if zero(other) => Some(one),
            Op::Or(_) | Op::Add(32 | 64) | Op::Xor(_) if zero(one) => Some(other),
            Op::Or(bits) if ones(one, bits) || ones(other, bits) => Some(Known(mask(bits))),
            Op::And(bits) if ones(other, bits) => Some(one),
            Op::And(bits) if ones(one, bits) => Some(other),
            Op::And(_) | Op::VectorAnd if zero(one) || zero(other) => Some(Known(0)),
            Op::VectorAnd if ones(other, 64) => Some(one),
            Op::VectorOr | Op::VectorXor if zero(other) => Some(one),
            Op::VectorOr if zero(one) => Some(other),
            Op::Or(_) | Op::And(_) | Op::VectorAnd | Op::VectorOr => same().then_some(one),
            Op::Sub(32 | 64) | Op::Xor(_) | Op::VectorXor | Op::Differ(32) => same().then_some(Known(0)),
            Op::Equal(32 | 64) => same().then_some(Known(1)),
            Op::VectorEqual(_) => same().then_some(Known(u64::MAX)),
            _ => None,
        }
    }

    /// Whether two values are surely the same.
    fn same(&self, one: Value, other: Value) -> bool {
        self.same_value(one, other, &mut 0)
    }

    fn same_value(&self, one: Value, other: Value, seen: &mut u32) -> bool {
        let (Value::Temp(one), Value::Temp(other)) = (one, other) else {
            *seen += 1;
            return one == other && *seen <= MOST_COMPARED;
        };
        *seen += 1;
        if *seen > MOST_COMPARED {
            return false;
        }
        let computed = |temp: Temp| self.computed.get(temp as usize).copied().flatten();
        one == other
            || match (computed(one), computed(other)) {
                (Some(one), Some(other)) => self.same_result(one, other, seen),
                _ => false,
            }
    }

    fn same_result(&self, one: (Op, Operands), other: (Op, Operands), seen: &mut u32) -> bool {
        let count = one.0.operands();
        if count != other.0.operands() {
            return false;
        }
        *seen += 1;
        if *seen > MOST_COMPARED || one.0 != other.0 || one.0.is_call() {
            return false;
        }
        one.1.iter().zip(&other.1).take(count).all(|(one, other)| self.same_value(*one, *other, seen))
    }
}

fn unary(op: Op, value: u64) -> Option<u64> {
    match op {
        Op::Narrow(bits) | Op::Widen(bits) => Some(value & mask(bits)),
        Op::High(bits @ (16 | 64)) => Some((value & mask(bits)) >> (bits / 2)),
        // Not of 8 bits to 64.
        Op::Sign(8, 16 | 32) | Op::Sign(16 | 32, _) => {
            let Op::Sign(from, to) = op else { return None };
            Some(signed(value, from) as u64 & mask(to))
        }
        Op::Not(bits) => Some(!value & mask(bits)),
        Op::LeadingZeroes if value != 0 => Some(u64::from(value.leading_zeros())),
        Op::Number => Some(value),
        Op::Bit => Some(value & 1),
        Op::Opposite => Some(u64::from(value == 0)),
        Op::VectorNot => Some(!value),
        Op::VectorOf if value == 0 => Some(0),
        _ => None,
    }
}

fn binary(op: Op, one: u64, other: u64) -> Option<u64> {
    let pair = |bits: u8| (one & mask(bits), other & mask(bits));
    let order = |signs: bool, bits: u8| match signs {
        true => signed(one, bits).cmp(&signed(other, bits)),
        false => (one & mask(bits)).cmp(&(other & mask(bits))),
    };
    match op {
        Op::Add(bits @ (8 | 32 | 64)) => Some(one.wrapping_add(other) & mask(bits)),
        Op::Sub(bits @ (8 | 32 | 64)) => Some(one.wrapping_sub(other) & mask(bits)),
        Op::Mul(bits @ (32 | 64)) => Some(one.wrapping_mul(other) & mask(bits)),
        Op::MulSigned => Some(signed(one, 32).wrapping_mul(signed(other, 32)) as u64),
        Op::And(bits) => Some(one & other & mask(bits)),
        Op::Or(bits) => Some((one | other) & mask(bits)),
        Op::Xor(bits) => Some((one ^ other) & mask(bits)),
        Op::Shl(bits @ (32 | 64)) | Op::Shr(bits @ (32 | 64)) | Op::Sar(bits @ (32 | 64)) => {
            let by = u32::try_from(other).ok().filter(|by| *by < u32::from(bits))?;
            let value = match op {
                Op::Shl(_) => one << by,
                Op::Shr(_) => (one & mask(bits)) >> by,
                _ => (signed(one, bits) >> by) as u64,
            };
            Some(value & mask(bits))
        }
        Op::Join(32) => Some(one << 32 | other & mask(32)),
        Op::Equal(bits @ (32 | 64)) => Some(u64::from(pair(bits).0 == pair(bits).1)),
        Op::Differ(bits @ (8 | 32 | 64)) => Some(u64::from(pair(bits).0 != pair(bits).1)),
        Op::Less(signs, bits) => Some(u64::from(order(signs, bits).is_lt())),
        Op::LessEqual(signs, bits) => Some(u64::from(order(signs, bits).is_le())),
        Op::VectorXor => Some(one ^ other),
        Op::VectorAnd => Some(one & other),
        Op::VectorOr => Some(one | other),
        _ => None,
    }
}
