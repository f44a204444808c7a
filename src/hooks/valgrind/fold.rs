//! Constants: what VEX's optimiser computes while it translates.

use super::ir::{OPERANDS, Op, Source, Statement, Temp, Value};

/// How deep two computations are compared.
const DEPTH: u32 = 30;

/// What is known of each temporary.
pub(super) struct Folding {
    /// What it is a copy of, or the constant.
    values: Vec<Option<Value>>,
    /// What it is computed of otherwise.
    computed: Vec<Option<(Op, [Value; OPERANDS])>>,
}

fn mask(bits: u8) -> u64 {
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

    fn value(&self, value: Value) -> Value {
        match value {
            Value::Temp(temp) => self.values.get(temp as usize).copied().flatten().unwrap_or(value),
            Value::Known(_) => value,
        }
    }

    fn compute(&mut self, to: Temp, op: Op, operands: [Value; OPERANDS]) -> Statement {
        let at = to as usize;
        if let Some(value) = self.fold(op, &operands) {
            if let Some(known) = self.values.get_mut(at) {
                *known = Some(value);
            }
            return Statement::Nothing;
        }
        if let Some(computed) = self.computed.get_mut(at) {
            *computed = Some((op, operands));
        }
        Statement::Compute(to, op, operands)
    }

    /// The value that the operation gives, if it need not be computed.
    fn fold(&self, op: Op, operands: &[Value; OPERANDS]) -> Option<Value> {
        use Value::Known;
        let [one, other, third, _] = *operands;
        let known = |bits: u8| match (one, other) {
            (Known(a), Known(b)) => Some((a & mask(bits), b & mask(bits))),
            _ => None,
        };
        let is = |value: Value, number: u64, bits: u8| matches!(value, Known(n) if n & mask(bits) == number & mask(bits));
        match op {
            Op::Copy => Some(one),
            Op::Narrow(bits) | Op::Widen(bits) => match one {
                Known(a) => Some(Known(a & mask(bits))),
                Value::Temp(_) => None,
            },
            Op::Sign(from, to) => match one {
                Known(a) => Some(Known(signed(a, from) as u64 & mask(to))),
                Value::Temp(_) => None,
            },
            Op::Not(bits) => match one {
                Known(a) => Some(Known(!a & mask(bits))),
                Value::Temp(_) => None,
            },
            Op::Add(bits) => match known(bits) {
                Some((a, b)) => Some(Known(a.wrapping_add(b) & mask(bits))),
                None if is(other, 0, bits) => Some(one),
                None if is(one, 0, bits) => Some(other),
                None => None,
            },
            Op::Sub(bits) => match known(bits) {
                Some((a, b)) => Some(Known(a.wrapping_sub(b) & mask(bits))),
                None if is(other, 0, bits) => Some(one),
                None if self.same(one, other) => Some(Known(0)),
                None => None,
            },
            Op::And(bits) => match known(bits) {
                Some((a, b)) => Some(Known(a & b)),
                None if is(one, 0, bits) || is(other, 0, bits) => Some(Known(0)),
                None if is(other, u64::MAX, bits) => Some(one),
                None if is(one, u64::MAX, bits) => Some(other),
                None if self.same(one, other) => Some(one),
                None => None,
            },
            Op::Or(bits) => match known(bits) {
                Some((a, b)) => Some(Known(a | b)),
                None if is(one, u64::MAX, bits) || is(other, u64::MAX, bits) => Some(Known(mask(bits))),
                None if is(other, 0, bits) => Some(one),
                None if is(one, 0, bits) => Some(other),
                None if self.same(one, other) => Some(one),
                None => None,
            },
            Op::Xor(bits) => match known(bits) {
                Some((a, b)) => Some(Known(a ^ b)),
                None if is(other, 0, bits) => Some(one),
                None if is(one, 0, bits) => Some(other),
                None if self.same(one, other) => Some(Known(0)),
                None => None,
            },
            Op::Shl(bits) | Op::Shr(bits) | Op::Sar(bits) => {
                let Known(by) = other else {
                    return is(one, 0, bits).then_some(Known(0));
                };
                match one {
                    _ if by == 0 => Some(one),
                    Known(a) => Some(Known(shifted(op, a, by, bits))),
                    Value::Temp(_) => None,
                }
            }
            // VEX does not look at comparisons of narrow numbers, but for the counts of shifts.
            Op::Equal(8 | 16) | Op::Differ(16) => None,
            Op::Equal(bits) => match known(bits) {
                Some((a, b)) => Some(Known(u64::from(a == b))),
                None => self.same(one, other).then_some(Known(1)),
            },
            Op::Differ(bits) => match known(bits) {
                Some((a, b)) => Some(Known(u64::from(a != b))),
                None => (bits > 8 && self.same(one, other)).then_some(Known(0)),
            },
            Op::Choose => match one {
                Known(0) => Some(third),
                Known(_) => Some(other),
                Value::Temp(_) => self.same(other, third).then_some(other),
            },
            Op::Double(left, bits) => match (known(bits), third) {
                (Some((a, b)), Known(by)) if bits >= 32 => Some(Known(double(left, a, b, by, bits))),
                _ => None,
            },
            Op::VectorAnd if one == Known(0) || other == Known(0) => Some(Known(0)),
            Op::VectorXor | Op::VectorOr if one == Known(0) => Some(other),
            Op::VectorXor | Op::VectorOr if other == Known(0) => Some(one),
            Op::VectorXor => self.same(one, other).then_some(Known(0)),
            Op::VectorEqual => self.same(one, other).then_some(Known(u64::MAX)),
            Op::VectorAnd | Op::VectorOr => self.same(one, other).then_some(one),
            Op::Compare(source, bytes, code) => match (one, other) {
                (Known(a), Known(b)) => {
                    compare(source, bytes, code, a, b).map(|holds| Known(u64::from(holds)))
                }
                // Overflow and sign are of the difference, which is zero.
                (_, Known(0)) if source == Source::Sub && code < 2 => Some(Known(u64::from(code & 1))),
                _ if source == Source::Sub && matches!(code, 0 | 1 | 8 | 9) && self.same(one, other) => {
                    Some(Known(u64::from(code & 1)))
                }
                _ => None,
            },
            Op::Opaque(_) | Op::Condition(_) | Op::Carry | Op::Flags => None,
        }
    }

    /// Whether two values are surely the same.
    fn same(&self, one: Value, other: Value) -> bool {
        let mut left = DEPTH;
        self.same_within(one, other, &mut left)
    }

    fn same_within(&self, one: Value, other: Value, left: &mut u32) -> bool {
        if one == other {
            return true;
        }
        let (Value::Temp(one), Value::Temp(other)) = (one, other) else { return false };
        let computed = |temp: Temp| self.computed.get(temp as usize).copied().flatten();
        let (Some((op, a)), Some((other_op, b))) = (computed(one), computed(other)) else { return false };
        if op != other_op || op == Op::Opaque(u16::MAX) || *left == 0 {
            return false;
        }
        *left -= 1;
        a.iter().zip(&b).all(|(a, b)| self.same_within(*a, *b, left))
    }
}

fn shifted(op: Op, value: u64, by: u64, bits: u8) -> u64 {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    let value = value & mask(bits);
    let result = match op {
        Op::Shl(_) => value.checked_shl(by).unwrap_or(0),
        Op::Shr(_) => value.checked_shr(by).unwrap_or(0),
        _ => signed(value, bits).checked_shr(by).unwrap_or(0) as u64,
    };
    result & mask(bits)
}

/// SHLD and SHRD.
fn double(left: bool, a: u64, b: u64, by: u64, bits: u8) -> u64 {
    let by = u32::try_from(by).unwrap_or(0) % u32::from(bits);
    if by == 0 {
        return a;
    }
    let rest = u32::from(bits) - by;
    let both = if left { a << by | b >> rest } else { a >> by | b << rest };
    both & mask(bits)
}

/// Whether a condition code holds after an operation of two numbers.
fn compare(source: Source, bytes: u8, code: u8, a: u64, b: u64) -> Option<bool> {
    let bits = 8 * bytes;
    let (a, b) = (a & mask(bits), b & mask(bits));
    let (x, y) = (signed(a, bits), signed(b, bits));
    let sign = |number: u64| signed(number, bits) < 0;
    let holds = match (source, code & !1) {
        (Source::Sub, 0) => sign((a ^ b) & (a ^ a.wrapping_sub(b))),
        (Source::Add, 0) => sign(!(a ^ b) & (a ^ a.wrapping_add(b))),
        (Source::Sub, 2) => a < b,
        (Source::Sub, 6) => a <= b,
        (Source::Sub, 8) => signed(a.wrapping_sub(b), bits) < 0,
        (Source::Sub, 12) => x < y,
        (Source::Sub, 14) => x <= y,
        (Source::Add, 4) => a.wrapping_add(b) & mask(bits) == 0,
        (Source::Add, 8) => signed(a.wrapping_add(b), bits) < 0,
        (Source::Add, 2) => a.wrapping_add(b) & mask(bits) < a,
        (Source::Logic | Source::Shl | Source::Shr, 8 | 12) => x < 0,
        (Source::Logic, 14) => x <= 0,
        (Source::Flags, 2) => a & 1 != 0,
        (Source::Flags, 4) => a & 0x40 != 0,
        (Source::Flags, 6) => a & 0x41 != 0,
        (Source::Flags, 10) => a & 4 != 0,
        _ => return None,
    };
    Some(holds != (code & 1 != 0))
}
