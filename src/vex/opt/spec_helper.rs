//! Specialisation of helper calls (`guest_amd64_spechelper`): `amd64g_calculate_condition` and
//! `amd64g_calculate_rflags_c` on a thunk of known operation become expressions, for the cases that
//! VEX 3.19 has.

use crate::vex::ir::{CcOp, Op, Operands, Statement, Temp, Value, ZERO, cond, mask, operands};

const ONE: Value = Value::Const(1);

/// Emitter of the expressions that replace a call.
struct Expressions<'a> {
    code: &'a mut Vec<Statement>,
    temps: &'a mut usize,
}

impl Expressions<'_> {
    fn op(&mut self, op: Op, values: &[Value]) -> Value {
        let to = *self.temps as Temp;
        *self.temps += 1;
        self.code.push(Statement::WrTmp(to, op, operands(values)));
        Value::Temp(to)
    }

    /// Comparison as an integer.
    fn compare(&mut self, op: Op, one: Value, other: Value) -> Value {
        let condition = self.op(op, &[one, other]);
        self.op(Op::BoolToInt, &[condition])
    }

    /// Truncates a value to this width.
    fn trunc(&mut self, value: Value, bits: u8) -> Value {
        if bits < 64 { self.op(Op::Trunc(bits), &[value]) } else { value }
    }

    /// Extracts a bit. VEX masks bit 63 only in some cases.
    fn bit(&mut self, value: Value, bit: u8, masked: bool) -> Value {
        let shifted = self.op(Op::Shr(64), &[value, Value::Const(u64::from(bit))]);
        if bit < 63 || masked { self.op(Op::And(64), &[shifted, ONE]) } else { shifted }
    }

    /// Negates a value of 0 or 1 if the condition code is odd.
    fn negate_if_odd(&mut self, value: Value, code: u8) -> Value {
        if code & 1 == 0 { value } else { self.op(Op::Xor(64), &[value, ONE]) }
    }

    /// Compares with zero: equal for an even condition code, not equal for an odd one.
    fn zero(&mut self, value: Value, bits: u8, code: u8) -> Value {
        let op = if code & 1 == 0 { Op::CmpEq(bits) } else { Op::CmpNe(bits) };
        self.compare(op, value, ZERO)
    }

    fn add(&mut self, bits: u8, code: u8, one: Value, other: Value) -> Option<Value> {
        let sum = |this: &mut Self| this.op(Op::Add(64), &[one, other]);
        match (bits, code) {
            (32, cond::O) => {
                let sum = sum(self);
                let changed = self.op(Op::Xor(64), &[one, sum]);
                let differ = self.op(Op::Xor(64), &[one, other]);
                let alike = self.op(Op::Not(64), &[differ]);
                let both = self.op(Op::And(64), &[alike, changed]);
                Some(self.bit(both, 31, true))
            }
            (32, cond::S | cond::NS) | (64, cond::S) => {
                let sum = sum(self);
                let sign = self.bit(sum, bits - 1, true);
                Some(self.negate_if_odd(sign, code))
            }
            (64, cond::Z) => {
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
            let by = Value::Const(by);
            let other = this.op(op, &[other, by]);
            (this.op(op, &[one, by]), other)
        };
        match (bits, code) {
            (8, cond::B | cond::NB | cond::BE) => {
                let (one, other) = both(self, Op::And(64), 0xff);
                Some(match code {
                    cond::B => self.compare(Op::CmpLt(false, 64), one, other),
                    cond::NB => self.compare(Op::CmpLe(false, 64), other, one),
                    _ => self.compare(Op::CmpLe(false, 64), one, other),
                })
            }
            (16, cond::BE | cond::LE) => {
                let (one, other) = both(self, Op::Shl(64), 48);
                Some(self.compare(Op::CmpLe(code == cond::LE, 64), one, other))
            }
            (8 | 16, cond::Z | cond::NZ) => {
                let (one, other) = (self.trunc(one, bits), self.trunc(other, bits));
                let op = if code == cond::Z { Op::CmpEq(bits) } else { Op::CmpNe(bits) };
                Some(self.compare(op, one, other))
            }
            (8 | 16, cond::S | cond::NS) if other == ZERO => {
                let sign = self.bit(one, bits - 1, true);
                Some(self.negate_if_odd(sign, code))
            }
            _ => None,
        }
    }

    fn sub_wide(&mut self, bits: u8, code: u8, one: Value, other: Value) -> Option<Value> {
        match code {
            cond::O => {
                let difference = self.op(Op::Sub(64), &[one, other]);
                let changed = self.op(Op::Xor(64), &[one, difference]);
                let differ = self.op(Op::Xor(64), &[one, other]);
                let both = self.op(Op::And(64), &[differ, changed]);
                return Some(self.bit(both, bits - 1, false));
            }
            cond::S | cond::NS => {
                let difference = self.op(Op::Sub(64), &[one, other]);
                let sign = self.bit(difference, bits - 1, false);
                return Some(self.negate_if_odd(sign, code));
            }
            _ => {}
        }
        // Comparison with a power of two: a test of the bits from it upward.
        let power = match (bits, code, other) {
            (32, cond::B | cond::NB, Value::Const(limit)) => limit,
            (32, cond::BE | cond::NBE, Value::Const(last)) => last.wrapping_add(1),
            _ => 0,
        };
        if power.is_power_of_two() && (1..32).contains(&power.trailing_zeros()) {
            let value = self.trunc(one, 32);
            let by = Value::Const(u64::from(power.trailing_zeros()));
            let above = self.op(Op::Shr(32), &[value, by]);
            return Some(self.zero(above, 32, code));
        }
        let (one, other) = (self.trunc(one, bits), self.trunc(other, bits));
        Some(match code {
            cond::B => self.compare(Op::CmpLt(false, bits), one, other),
            cond::NB => self.compare(Op::CmpLe(false, bits), other, one),
            cond::Z => self.compare(Op::CmpEq(bits), one, other),
            cond::NZ => self.compare(Op::CmpNe(bits), one, other),
            cond::BE => self.compare(Op::CmpLe(false, bits), one, other),
            cond::NBE if bits == 64 => {
                let less = self.compare(Op::CmpLe(false, bits), one, other);
                self.negate_if_odd(less, code)
            }
            cond::NBE => self.compare(Op::CmpLt(false, bits), other, one),
            cond::L => self.compare(Op::CmpLt(true, bits), one, other),
            cond::NL => self.compare(Op::CmpLe(true, bits), other, one),
            cond::LE => self.compare(Op::CmpLe(true, bits), one, other),
            cond::NLE => self.compare(Op::CmpLt(true, bits), other, one),
            _ => return None,
        })
    }

    /// Conditions of operations of which the thunk holds the result.
    fn result(&mut self, source: CcOp, bits: u8, code: u8, result: Value) -> Option<Value> {
        match (source, bits, code) {
            (CcOp::Logic, 8 | 16, cond::Z | cond::NZ) | (CcOp::Shr, 16, cond::Z) => {
                let narrow = self.trunc(result, bits);
                let wide = self.op(Op::Zext(bits), &[narrow]);
                Some(self.zero(wide, 32, code))
            }
            (CcOp::Logic | CcOp::Shr, 32 | 64, cond::Z | cond::NZ)
            | (CcOp::Shl, 32, cond::Z)
            | (CcOp::Shl, 64, cond::Z | cond::NZ)
            | (CcOp::Dec, 32, cond::Z) => {
                let narrow = self.trunc(result, bits);
                Some(self.zero(narrow, bits, code))
            }
            (CcOp::Inc, 16, cond::Z) | (CcOp::Dec, 16, cond::NZ) => {
                let shifted = self.op(Op::Shl(64), &[result, Value::Const(48)]);
                Some(self.zero(shifted, 64, code))
            }
            (CcOp::Inc, 8, cond::LE) => {
                let before = self.op(Op::Sub(64), &[result, ONE]);
                Some(self.bit(before, 7, true))
            }
            (CcOp::Logic, 8 | 16 | 32, cond::S | cond::NS)
            | (CcOp::Shr, 32, cond::S | cond::NS)
            | (CcOp::Shr, 64, cond::S)
            | (CcOp::Shl, 32, cond::S) => {
                let sign = self.bit(result, bits - 1, false);
                Some(self.negate_if_odd(sign, code))
            }
            (CcOp::Logic, 64, cond::L) => Some(self.compare(Op::CmpLt(true, 64), result, ZERO)),
            (CcOp::Logic, 32, cond::LE) => {
                let narrow = self.trunc(result, 32);
                Some(self.compare(Op::CmpLe(true, 32), narrow, ZERO))
            }
            _ => None,
        }
    }

    fn flags(&mut self, code: u8, flags: Value) -> Option<Value> {
        let shift = |this: &mut Self, by: u64| this.op(Op::Shr(64), &[flags, Value::Const(by)]);
        let bits = match code & !1 {
            cond::B => shift(self, 0),
            cond::Z => shift(self, 6),
            cond::P => shift(self, 2),
            cond::BE => {
                let zero = shift(self, 6);
                let carry = shift(self, 0);
                self.op(Op::Or(64), &[carry, zero])
            }
            _ => return None,
        };
        let bit = self.op(Op::And(64), &[bits, ONE]);
        Some(self.compare(Op::CmpEq(64), bit, Value::Const(u64::from(code & 1 == 0))))
    }

    fn condition(&mut self, code: u8, [source, one, other, _]: Operands) -> Option<Value> {
        let (source, bytes) = CcOp::of(source)?;
        let bits = 8 * bytes;
        match source {
            CcOp::Copy => self.flags(code, one),
            CcOp::Add => self.add(bits, code, one, other),
            CcOp::Sub => self.sub(bits, code, one, other),
            _ => self.result(source, bits, code, one),
        }
    }

    fn carry(&mut self, [source, one, other, before]: Operands) -> Option<Value> {
        let (source, bytes) = CcOp::of(source)?;
        let bits = 8 * bytes;
        match (source, bits) {
            (CcOp::Logic, _) => Some(ZERO),
            (CcOp::Inc | CcOp::Dec, 32 | 64) => Some(before),
            (CcOp::Sub, 8 | 16) => {
                let low = Value::Const(mask(bits));
                let other = self.op(Op::And(64), &[other, low]);
                let one = self.op(Op::And(64), &[one, low]);
                Some(self.compare(Op::CmpLt(false, 64), one, other))
            }
            (CcOp::Sub, _) => {
                let (one, other) = (self.trunc(one, bits), self.trunc(other, bits));
                Some(self.compare(Op::CmpLt(false, bits), one, other))
            }
            (CcOp::Add, 32 | 64) => {
                let sum = self.op(Op::Add(64), &[one, other]);
                let (sum, one) = (self.trunc(sum, bits), self.trunc(one, bits));
                Some(self.compare(Op::CmpLt(false, bits), sum, one))
            }
            _ => None,
        }
    }
}

/// Replaces the calls. Returns true if there were any.
pub(super) fn specialise(code: &mut Vec<Statement>, temps: &mut usize) -> bool {
    let mut any = false;
    let mut new = Vec::with_capacity(code.len());
    for &statement in code.iter() {
        let mut expressions = Expressions { code: &mut new, temps: &mut *temps };
        let special = match statement {
            Statement::WrTmp(to, Op::CalculateCondition(code), parts) => {
                expressions.condition(code, parts).map(|value| (to, value))
            }
            Statement::WrTmp(to, Op::CalculateRflagsC, parts) => {
                expressions.carry(parts).map(|value| (to, value))
            }
            _ => None,
        };
        new.push(match special {
            Some((to, value)) => {
                any = true;
                Statement::WrTmp(to, Op::Copy, operands(&[value]))
            }
            None => statement,
        });
    }
    *code = new;
    any
}
