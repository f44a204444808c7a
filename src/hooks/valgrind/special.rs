//! Conditions on flags of a known source become expressions of its operands: which do, and which expressions, is what VEX
//! 3.19 knows.

use super::fold::mask;
use super::ir::{OPERANDS, Op, Source, Statement, Temp, Value, code};

const ZERO: Value = Value::Known(0);
const ONE: Value = Value::Known(1);

/// Expressions in the place of one statement.
struct Expressions<'a> {
    code: &'a mut Vec<Statement>,
    temps: &'a mut usize,
}

impl Expressions<'_> {
    fn op(&mut self, op: Op, operands: &[Value]) -> Value {
        let mut all = [ZERO; OPERANDS];
        for (place, operand) in all.iter_mut().zip(operands) {
            *place = *operand;
        }
        let to = *self.temps as Temp;
        *self.temps += 1;
        self.code.push(Statement::Compute(to, op, all));
        Value::Temp(to)
    }

    fn number(&mut self, op: Op, one: Value, other: Value) -> Value {
        let condition = self.op(op, &[one, other]);
        self.op(Op::Number, &[condition])
    }

    /// A value cut to so many bits.
    fn narrow(&mut self, value: Value, bits: u8) -> Value {
        if bits < 64 { self.op(Op::Narrow(bits), &[value]) } else { value }
    }

    /// A bit of a value; the one above 63 others needs no mask, but for sums.
    fn bit(&mut self, value: Value, bit: u8, masked: bool) -> Value {
        let shifted = self.op(Op::Shr(64), &[value, Value::Known(u64::from(bit))]);
        if bit < 63 || masked { self.op(Op::And(64), &[shifted, ONE]) } else { shifted }
    }

    /// The value, or its opposite if the condition code is odd.
    fn even(&mut self, value: Value, code: u8) -> Value {
        if code & 1 == 0 { value } else { self.op(Op::Xor(64), &[value, ONE]) }
    }

    /// Whether a value is zero, or with an odd condition code, whether it is not.
    fn zero(&mut self, value: Value, bits: u8, code: u8) -> Value {
        let op = if code & 1 == 0 { Op::Equal(bits) } else { Op::Differ(bits) };
        self.number(op, value, ZERO)
    }

    fn add(&mut self, bits: u8, code: u8, one: Value, other: Value) -> Option<Value> {
        let sum = |this: &mut Self| this.op(Op::Add(64), &[one, other]);
        match (bits, code) {
            (32, code::O) => {
                let sum = sum(self);
                let changed = self.op(Op::Xor(64), &[one, sum]);
                let differ = self.op(Op::Xor(64), &[one, other]);
                let alike = self.op(Op::Not(64), &[differ]);
                let both = self.op(Op::And(64), &[alike, changed]);
                Some(self.bit(both, 31, true))
            }
            (32, code::S | code::NS) | (64, code::S) => {
                let sum = sum(self);
                let sign = self.bit(sum, bits - 1, true);
                Some(self.even(sign, code))
            }
            (64, code::Z) => {
                let sum = sum(self);
                Some(self.zero(sum, 64, code))
            }
            _ => None,
        }
    }

    fn sub(&mut self, bits: u8, code: u8, one: Value, other: Value) -> Option<Value> {
        match bits {
            32 | 64 => self.sub_wide(bits, code, one, other),
            _ => self.sub_narrow(bits, code, one, other),
        }
    }

    fn sub_narrow(&mut self, bits: u8, code: u8, one: Value, other: Value) -> Option<Value> {
        let both = |this: &mut Self, op: Op, by: u64| {
            let by = Value::Known(by);
            let other = this.op(op, &[other, by]);
            (this.op(op, &[one, by]), other)
        };
        match (bits, code) {
            (8, code::B | code::NB | code::BE) => {
                let (one, other) = both(self, Op::And(64), 0xff);
                Some(match code {
                    code::B => self.number(Op::Less(false, 64), one, other),
                    code::NB => self.number(Op::LessEqual(false, 64), other, one),
                    _ => self.number(Op::LessEqual(false, 64), one, other),
                })
            }
            (16, code::BE | code::LE) => {
                let (one, other) = both(self, Op::Shl(64), 48);
                Some(self.number(Op::LessEqual(code == code::LE, 64), one, other))
            }
            (8 | 16, code::Z | code::NZ) => {
                let (one, other) = (self.narrow(one, bits), self.narrow(other, bits));
                let op = if code == code::Z { Op::Equal(bits) } else { Op::Differ(bits) };
                Some(self.number(op, one, other))
            }
            (8 | 16, code::S | code::NS) if other == ZERO => {
                let sign = self.bit(one, bits - 1, true);
                Some(self.even(sign, code))
            }
            _ => None,
        }
    }

    fn sub_wide(&mut self, bits: u8, code: u8, one: Value, other: Value) -> Option<Value> {
        match code {
            code::O => {
                let difference = self.op(Op::Sub(64), &[one, other]);
                let changed = self.op(Op::Xor(64), &[one, difference]);
                let differ = self.op(Op::Xor(64), &[one, other]);
                let both = self.op(Op::And(64), &[differ, changed]);
                return Some(self.bit(both, bits - 1, false));
            }
            code::S | code::NS => {
                let difference = self.op(Op::Sub(64), &[one, other]);
                let sign = self.bit(difference, bits - 1, false);
                return Some(self.even(sign, code));
            }
            _ => {}
        }
        // Against a power of two: whether the bits from it on are zero.
        let power = match (bits, code, other) {
            (32, code::B | code::NB, Value::Known(limit)) => limit,
            (32, code::BE | code::NBE, Value::Known(last)) => last.wrapping_add(1),
            _ => 0,
        };
        if power.is_power_of_two() && (1..32).contains(&power.trailing_zeros()) {
            let value = self.narrow(one, 32);
            let by = Value::Known(u64::from(power.trailing_zeros()));
            let above = self.op(Op::Shr(32), &[value, by]);
            return Some(self.zero(above, 32, code));
        }
        let (one, other) = (self.narrow(one, bits), self.narrow(other, bits));
        Some(match code {
            code::B => self.number(Op::Less(false, bits), one, other),
            code::NB => self.number(Op::LessEqual(false, bits), other, one),
            code::Z => self.number(Op::Equal(bits), one, other),
            code::NZ => self.number(Op::Differ(bits), one, other),
            code::BE => self.number(Op::LessEqual(false, bits), one, other),
            code::NBE if bits == 64 => {
                let less = self.number(Op::LessEqual(false, bits), one, other);
                self.even(less, code)
            }
            code::NBE => self.number(Op::Less(false, bits), other, one),
            code::L => self.number(Op::Less(true, bits), one, other),
            code::NL => self.number(Op::LessEqual(true, bits), other, one),
            code::LE => self.number(Op::LessEqual(true, bits), one, other),
            code::NLE => self.number(Op::Less(true, bits), other, one),
            _ => return None,
        })
    }

    /// Of what is zero or negative as its result is.
    fn result(&mut self, source: Source, bits: u8, code: u8, result: Value) -> Option<Value> {
        match (source, bits, code) {
            (Source::Logic, 8 | 16, code::Z | code::NZ) | (Source::Shr, 16, code::Z) => {
                let narrow = self.narrow(result, bits);
                let wide = self.op(Op::Widen(bits), &[narrow]);
                Some(self.zero(wide, 32, code))
            }
            (Source::Logic | Source::Shr, 32 | 64, code::Z | code::NZ)
            | (Source::Shl, 32, code::Z)
            | (Source::Shl, 64, code::Z | code::NZ)
            | (Source::Dec, 32, code::Z) => {
                let narrow = self.narrow(result, bits);
                Some(self.zero(narrow, bits, code))
            }
            (Source::Inc, 16, code::Z) | (Source::Dec, 16, code::NZ) => {
                let shifted = self.op(Op::Shl(64), &[result, Value::Known(48)]);
                Some(self.zero(shifted, 64, code))
            }
            (Source::Inc, 8, code::LE) => {
                let before = self.op(Op::Sub(64), &[result, ONE]);
                Some(self.bit(before, 7, true))
            }
            (Source::Logic, 8 | 16 | 32, code::S | code::NS)
            | (Source::Shr, 32, code::S | code::NS)
            | (Source::Shr, 64, code::S)
            | (Source::Shl, 32, code::S) => {
                let sign = self.bit(result, bits - 1, false);
                Some(self.even(sign, code))
            }
            (Source::Logic, 64, code::L) => Some(self.number(Op::Less(true, 64), result, ZERO)),
            (Source::Logic, 32, code::LE) => {
                let narrow = self.narrow(result, 32);
                Some(self.number(Op::LessEqual(true, 32), narrow, ZERO))
            }
            _ => None,
        }
    }

    fn flags(&mut self, code: u8, flags: Value) -> Option<Value> {
        let shift = |this: &mut Self, by: u64| this.op(Op::Shr(64), &[flags, Value::Known(by)]);
        let bits = match code & !1 {
            code::B => shift(self, 0),
            code::Z => shift(self, 6),
            code::P => shift(self, 2),
            code::BE => {
                let zero = shift(self, 6);
                let carry = shift(self, 0);
                self.op(Op::Or(64), &[carry, zero])
            }
            _ => return None,
        };
        let bit = self.op(Op::And(64), &[bits, ONE]);
        Some(self.number(Op::Equal(64), bit, Value::Known(u64::from(code & 1 == 0))))
    }

    fn condition(&mut self, code: u8, [source, one, other, _]: [Value; OPERANDS]) -> Option<Value> {
        let (source, bytes) = Source::of(source)?;
        let bits = 8 * bytes;
        match source {
            Source::Flags => self.flags(code, one),
            Source::Add => self.add(bits, code, one, other),
            Source::Sub => self.sub(bits, code, one, other),
            _ => self.result(source, bits, code, one),
        }
    }

    fn carry(&mut self, [source, one, other, before]: [Value; OPERANDS]) -> Option<Value> {
        let (source, bytes) = Source::of(source)?;
        let bits = 8 * bytes;
        match (source, bits) {
            (Source::Logic, _) => Some(ZERO),
            (Source::Inc | Source::Dec, 32 | 64) => Some(before),
            (Source::Sub, 8 | 16) => {
                let low = Value::Known(mask(bits));
                let other = self.op(Op::And(64), &[other, low]);
                let one = self.op(Op::And(64), &[one, low]);
                Some(self.number(Op::Less(false, 64), one, other))
            }
            (Source::Sub, _) => {
                let (one, other) = (self.narrow(one, bits), self.narrow(other, bits));
                Some(self.number(Op::Less(false, bits), one, other))
            }
            (Source::Add, 32 | 64) => {
                let sum = self.op(Op::Add(64), &[one, other]);
                let (sum, one) = (self.narrow(sum, bits), self.narrow(one, bits));
                Some(self.number(Op::Less(false, bits), sum, one))
            }
            _ => None,
        }
    }
}

/// Puts expressions in the place of conditions and carries; whether there were any.
pub(super) fn specialise(code: &mut Vec<Statement>, temps: &mut usize) -> bool {
    let mut any = false;
    let mut new = Vec::with_capacity(code.len());
    for &statement in code.iter() {
        let mut expressions = Expressions { code: &mut new, temps: &mut *temps };
        let special = match statement {
            Statement::Compute(to, Op::Condition(code), parts) => {
                expressions.condition(code, parts).map(|value| (to, value))
            }
            Statement::Compute(to, Op::Carry, parts) => expressions.carry(parts).map(|value| (to, value)),
            _ => None,
        };
        new.push(match special {
            Some((to, value)) => {
                any = true;
                Statement::Compute(to, Op::Copy, [value, ZERO, ZERO, ZERO])
            }
            None => statement,
        });
    }
    *code = new;
    any
}
