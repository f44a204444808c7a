//! The superblocks of which the optimiser surely leaves every load and every exit, which are most of them: its passes need
//! not be gone through. Said of fewer than it is true of.

use super::fold::mask;
use super::ir::{Op, Statement, Temp, Value};
use super::known::Overwritten;

/// Finds them; keeps its tables from one to the next.
#[derive(Debug, Default)]
pub(super) struct Sure {
    /// Which statement gives each temporary.
    given: Vec<u32>,
    /// Whether something that stays needs it.
    needed: Vec<bool>,
    /// Slices that are written later.
    overwritten: Overwritten,
}

/// An instruction's data event: which instruction, and which of its events.
type Event = (u16, u8);

impl Sure {
    /// Whether the passes, gone through once, change no count of a superblock that has no second part and does not lead to
    /// itself: all of its loads are needed, none of its exits is decided, and where it leads is not known.
    pub fn leaves_all(&mut self, code: &[Statement], next: Option<Value>, temps: usize) -> bool {
        if !self.find_temporaries(code, temps) || next.is_some_and(|next| !self.is_open(code, next)) {
            return false;
        }
        self.overwritten.begin();
        next.into_iter().for_each(|next| self.need(next));
        let mut stored: Option<(Event, Value)> = None;
        for statement in code.iter().rev() {
            match *statement {
                Statement::Put(slice, value) => {
                    if !self.overwritten.is_unseen(slice) {
                        self.need(value);
                    }
                }
                Statement::Load { to, address, insn, event } => {
                    let alone = stored.is_none_or(|((by, other), at)| {
                        by != insn || other == event || self.differ(code, at, address)
                    });
                    if !alone || !self.is_needed(to) {
                        return false;
                    }
                    self.need(address);
                }
                Statement::Store { address, value, insn, event } => {
                    stored = Some(((insn, event), address));
                    self.need(address);
                    self.need(value);
                }
                Statement::Use(value) => self.need(value),
                Statement::Exit { guard, .. } => {
                    if !self.is_open(code, guard) {
                        return false;
                    }
                }
                Statement::Compute(to, op, operands) => {
                    if self.is_needed(to) {
                        self.need_operands(code, op, &operands);
                    }
                }
                Statement::Get(..) | Statement::Barrier { .. } | Statement::Nothing => {}
                Statement::PutStack { .. } | Statement::GetStack { .. } => {}
            }
            self.overwritten.pass(statement);
        }
        true
    }

    /// Notes which statement gives which temporary; `false` if the x87's stack is in use, where the passes are gone through
    /// more than once.
    fn find_temporaries(&mut self, code: &[Statement], temps: usize) -> bool {
        self.given.clear();
        self.given.resize(temps, u32::MAX);
        self.needed.clear();
        self.needed.resize(temps, false);
        for (i, statement) in code.iter().enumerate() {
            match *statement {
                Statement::Get(to, _) | Statement::Compute(to, ..) | Statement::Load { to, .. } => {
                    if let Some(given) = self.given.get_mut(to as usize) {
                        *given = i as u32;
                    }
                }
                Statement::PutStack { .. } | Statement::GetStack { .. } => return false,
                _ => {}
            }
        }
        true
    }

    fn need(&mut self, value: Value) {
        if let Value::Temp(temp) = value
            && let Some(needed) = self.needed.get_mut(temp as usize)
        {
            *needed = true;
        }
    }

    fn is_needed(&self, temp: Temp) -> bool {
        self.needed.get(temp as usize).copied().unwrap_or(false)
    }

    /// What an operation that is needed needs for sure, whatever its operands turn out to be.
    fn need_operands(&mut self, code: &[Statement], op: Op, operands: &[Value]) {
        let [one, other, third, ..] = *operands else { return };
        match op {
            Op::Opaque(..) | Op::Call => {
                operands.iter().take(op.operands()).for_each(|value| self.need(*value));
            }
            _ if op.operands() == 1 => self.need(one),
            // Of a sum, and of a product that is not computed, neither can be left out.
            Op::Add(_) | Op::Mul(_) | Op::MulSigned | Op::Join(_) => {
                self.need(one);
                self.need(other);
            }
            Op::And(_) | Op::Or(_) | Op::VectorAnd | Op::VectorOr if self.both_open(code, one, other) => {
                self.need(one);
                self.need(other);
            }
            Op::Sub(_) | Op::Xor(_) | Op::VectorXor if self.differ(code, one, other) => {
                self.need(one);
                self.need(other);
            }
            Op::Choose if self.is_open(code, one) => {
                self.need(other);
                self.need(third);
            }
            _ if is_one_to_one(op, other) && self.is_open(code, one) => self.need(one),
            _ => {}
        }
    }

    fn both_open(&self, code: &[Statement], one: Value, other: Value) -> bool {
        self.is_open(code, one) && self.is_open(code, other)
    }

    /// Whether two values, of which one at least is surely no constant, are surely not found to be the same.
    fn differ(&self, code: &[Statement], one: Value, other: Value) -> bool {
        let given = |value| match value {
            Value::Temp(temp) => self.given_by(code, temp),
            Value::Known(_) => None,
        };
        let read = |statement: Option<&Statement>| {
            matches!(statement, Some(Statement::Get(..) | Statement::Load { .. }))
        };
        match (one, other) {
            (Value::Known(_), open) | (open, Value::Known(_)) => self.is_open(code, open),
            _ => one != other && self.both_open(code, one, other) && (read(given(one)) || read(given(other))),
        }
    }

    fn given_by<'a>(&self, code: &'a [Statement], temp: Temp) -> Option<&'a Statement> {
        code.get(*self.given.get(temp as usize)? as usize)
    }

    /// Whether a value is surely not found to be a constant.
    fn is_open(&self, code: &[Statement], value: Value) -> bool {
        let mut value = value;
        // What is computed of many operations is seldom looked at.
        for _ in 0..8 {
            let Value::Temp(temp) = value else { return false };
            value = match self.given_by(code, temp) {
                Some(Statement::Get(..) | Statement::Load { .. }) => return true,
                Some(&Statement::Compute(_, op, operands)) => match (op, operands) {
                    // Neither is computed before the passes are gone through again.
                    (Op::Opaque(..), _) => return true,
                    _ if op.is_call() => return true,
                    (_, [one, ..]) if op.operands() == 1 => one,
                    (_, [one, other, ..]) if is_one_to_one(op, other) => one,
                    _ => return false,
                },
                _ => return false,
            };
        }
        false
    }
}

/// Whether an operation of two operands, of which the second is this constant, depends on the first as far as the optimiser
/// knows.
fn is_one_to_one(op: Op, other: Value) -> bool {
    let Value::Known(number) = other else { return false };
    match op {
        Op::And(bits) => number & mask(bits) != 0,
        Op::Or(bits) => number & mask(bits) != mask(bits),
        Op::Add(_) | Op::Sub(_) | Op::Xor(_) | Op::Shl(_) | Op::Shr(_) | Op::Sar(_) => true,
        Op::Equal(_) | Op::Differ(_) => true,
        _ => false,
    }
}
