//! Constant folding and copy propagation (`cprop_BB`, `fold_Expr`). VEX has rules for some
//! operations of some widths and none for the rest; so has this.

use crate::vex::ir::{Op, Operands, Statement, Temp, Value, mask};

/// Budget of `sameIRExprs`: nodes compared before two expressions count as different.
const MOST_COMPARED: u32 = 31;

/// Environment of the pass, by temporary.
pub(super) struct ConstFold {
    /// The value of which it is a copy.
    values: Vec<Option<Value>>,
    /// Otherwise its expression.
    computed: Vec<Option<(Op, Operands)>>,
}

fn signed(value: u64, bits: u8) -> i64 {
    let shift = 64 - u32::from(bits.clamp(1, 64));
    ((value << shift) as i64) >> shift
}

impl ConstFold {
    pub(super) fn new(temps: usize) -> ConstFold {
        ConstFold { values: vec![None; temps], computed: vec![None; temps] }
    }

    /// Folds, removes exits that are never taken, and removes the rest of the superblock behind an
    /// exit that is always taken. Returns the instruction of that exit.
    pub(super) fn run(&mut self, code: &mut [Statement], next: &mut Option<Value>) -> Option<u16> {
        for i in 0..code.len() {
            let statement = match code[i] {
                Statement::WrTmp(to, op, operands) => self.compute(to, op, operands.map(|v| self.value(v))),
                Statement::Put(slice, value) => Statement::Put(slice, self.value(value)),
                Statement::Use(value) => Statement::Use(self.value(value)),
                Statement::Load { to, address, insn, event } => {
                    Statement::Load { to, address: self.value(address), insn, event }
                }
                Statement::Store { address, value, insn, event } => {
                    Statement::Store { address: self.value(address), value: self.value(value), insn, event }
                }
                Statement::Exit { guard, insn, branch } => match self.value(guard) {
                    Value::Const(0) => Statement::NoOp,
                    Value::Const(_) => {
                        code[i..].fill(Statement::NoOp);
                        *next = None;
                        return Some(insn);
                    }
                    guard => Statement::Exit { guard, insn, branch },
                },
                Statement::PutI { tag, top, bias, value } => {
                    Statement::PutI { tag, top: self.value(top), bias, value: self.value(value) }
                }
                Statement::GetI { to, tag, top, bias } => {
                    Statement::GetI { to, tag, top: self.value(top), bias }
                }
                other => other,
            };
            code[i] = statement;
        }
        *next = next.map(|value| self.value(value));
        None
    }

    /// Resolves copies.
    fn value(&self, value: Value) -> Value {
        match value {
            Value::Temp(temp) => self.values.get(temp as usize).copied().flatten().unwrap_or(value),
            Value::Const(_) => value,
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
            return Statement::NoOp;
        }
        let (op, operands) = match op {
            // t + t becomes t << 1.
            Op::Add(bits @ (8 | 32 | 64)) if self.same(operands[0], operands[1]) => {
                (Op::Shl(bits), [operands[0], Value::Const(1), operands[2], operands[3]])
            }
            _ => (op, operands),
        };
        if let Some(computed) = self.computed.get_mut(at) {
            *computed = Some((op, operands));
        }
        Statement::WrTmp(to, op, operands)
    }

    /// Result of the operation if it is a constant or one of the operands.
    fn fold(&self, op: Op, operands: &Operands) -> Option<Value> {
        use Value::{Const, Temp};
        match (op.operands(), *operands) {
            (1, [Const(value), ..]) => unary(op, value).map(Const),
            (2, [Const(one), Const(other), ..]) => binary(op, one, other).map(Const),
            (2, [one, other, ..]) => self.identity(op, one, other),
            (3, [Const(condition), one, other, _]) if op == Op::Ite => {
                Some(if condition == 0 { other } else { one })
            }
            (3, [Temp(_), one, other, _]) if op == Op::Ite => self.same(one, other).then_some(other),
            _ => None,
        }
    }

    /// Applies the identities for operands of which at most one is a constant.
    fn identity(&self, op: Op, one: Value, other: Value) -> Option<Value> {
        use Value::Const;
        let zero = |value: Value| value == Const(0);
        let ones =
            |value: Value, bits: u8| matches!(value, Const(number) if number & mask(bits) == mask(bits));
        let same = || self.same(one, other);
        match op {
            Op::Shl(32 | 64) | Op::Shr(64) | Op::Sar(64) if zero(one) || zero(other) => Some(one),
            Op::Shr(32) | Op::Sar(32) if zero(other) => Some(one),
            Op::Or(_) | Op::Add(32 | 64) | Op::Sub(32 | 64) | Op::Xor(_) if zero(other) => Some(one),
            Op::Or(_) | Op::Add(32 | 64) | Op::Xor(_) if zero(one) => Some(other),
            Op::Or(bits) if ones(one, bits) || ones(other, bits) => Some(Const(mask(bits))),
            Op::And(bits) if ones(other, bits) => Some(one),
            Op::And(bits) if ones(one, bits) => Some(other),
            Op::And(_) | Op::AndV128 if zero(one) || zero(other) => Some(Const(0)),
            Op::AndV128 if ones(other, 64) => Some(one),
            Op::OrV128 | Op::XorV128 if zero(other) => Some(one),
            Op::OrV128 if zero(one) => Some(other),
            Op::Or(_) | Op::And(_) | Op::AndV128 | Op::OrV128 => same().then_some(one),
            Op::Sub(32 | 64) | Op::Xor(_) | Op::XorV128 | Op::CmpNe(32) => same().then_some(Const(0)),
            Op::CmpEq(32 | 64) => same().then_some(Const(1)),
            Op::CmpEqV128(_) => same().then_some(Const(u64::MAX)),
            _ => None,
        }
    }

    /// Tests two values for equality as far as VEX sees it (`sameIRExprs`).
    fn same(&self, one: Value, other: Value) -> bool {
        self.same_values(one, other, &mut 0)
    }

    fn same_values(&self, one: Value, other: Value, seen: &mut u32) -> bool {
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
                (Some(one), Some(other)) => self.same_exprs(one, other, seen),
                _ => false,
            }
    }

    fn same_exprs(&self, one: (Op, Operands), other: (Op, Operands), seen: &mut u32) -> bool {
        let count = one.0.operands();
        if count != other.0.operands() {
            return false;
        }
        *seen += 1;
        if *seen > MOST_COMPARED || one.0 != other.0 || one.0.is_ccall() {
            return false;
        }
        one.1.iter().zip(&other.1).take(count).all(|(one, other)| self.same_values(*one, *other, seen))
    }
}

fn unary(op: Op, value: u64) -> Option<u64> {
    match op {
        Op::Trunc(bits) | Op::Zext(bits) => Some(value & mask(bits)),
        Op::HighHalf(bits @ (16 | 64)) => Some((value & mask(bits)) >> (bits / 2)),
        // VEX has no rule for 8 to 64 bits.
        Op::Sext(8, 16 | 32) | Op::Sext(16 | 32, _) => {
            let Op::Sext(from, to) = op else { return None };
            Some(signed(value, from) as u64 & mask(to))
        }
        Op::Not(bits) => Some(!value & mask(bits)),
        Op::Clz if value != 0 => Some(u64::from(value.leading_zeros())),
        Op::BoolToInt => Some(value),
        Op::IntToBool => Some(value & 1),
        Op::NotBool => Some(u64::from(value == 0)),
        Op::NotV128 => Some(!value),
        Op::ZextToV128 if value == 0 => Some(0),
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
        Op::MullS32 => Some(signed(one, 32).wrapping_mul(signed(other, 32)) as u64),
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
        Op::Concat(32) => Some(one << 32 | other & mask(32)),
        Op::CmpEq(bits @ (32 | 64)) => Some(u64::from(pair(bits).0 == pair(bits).1)),
        Op::CmpNe(bits @ (8 | 32 | 64)) => Some(u64::from(pair(bits).0 != pair(bits).1)),
        Op::CmpLt(signs, bits) => Some(u64::from(order(signs, bits).is_lt())),
        Op::CmpLe(signs, bits) => Some(u64::from(order(signs, bits).is_le())),
        Op::XorV128 => Some(one ^ other),
        Op::AndV128 => Some(one & other),
        Op::OrV128 => Some(one | other),
        _ => None,
    }
}
