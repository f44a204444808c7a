//! Conservative test for superblocks of which all loads and exits survive optimisation, so that the
//! passes can be skipped. Most superblocks pass.

use crate::vex::ir::{Op, Statement, Temp, Value, mask};
use crate::vex::reg_values::Overwritten;

/// The test, with tables that are reused.
#[derive(Debug, Default)]
pub(in crate::vex) struct FastPath {
    /// Index of the statement that defines each temporary.
    definitions: Vec<u32>,
    /// Temporaries that a surviving statement uses.
    live: Vec<bool>,
    /// Slices of which a write would be dead.
    overwritten: Overwritten,
}

/// Data event: index of the instruction and of the event in it.
type Event = (u16, u8);

impl FastPath {
    /// Tests whether one run of the passes changes no count: all loads are live, and neither an
    /// exit nor the target is decided. The superblock must not lead to itself and must not be
    /// merged from two.
    pub(in crate::vex) fn keeps_all(
        &mut self,
        code: &[Statement],
        next: Option<Value>,
        temps: usize,
    ) -> bool {
        if !self.find_definitions(code, temps) || next.is_some_and(|next| !self.is_opaque(code, next)) {
            return false;
        }
        self.overwritten.begin();
        next.into_iter().for_each(|next| self.mark_live(next));
        let mut stored: Option<(Event, Value)> = None;
        for statement in code.iter().rev() {
            match *statement {
                Statement::Put(slice, value) => {
                    if !self.overwritten.contains(slice) {
                        self.mark_live(value);
                    }
                }
                Statement::Load { to, address, insn, event } => {
                    let alone = stored.is_none_or(|((by, other), at)| {
                        by != insn || other == event || self.differ(code, at, address)
                    });
                    if !alone || !self.is_live(to) {
                        return false;
                    }
                    self.mark_live(address);
                }
                Statement::Store { address, value, insn, event } => {
                    stored = Some(((insn, event), address));
                    self.mark_live(address);
                    self.mark_live(value);
                }
                Statement::Use(value) => self.mark_live(value),
                Statement::Exit { guard, .. } => {
                    if !self.is_opaque(code, guard) {
                        return false;
                    }
                }
                Statement::WrTmp(to, op, operands) => {
                    if self.is_live(to) {
                        self.use_operands(code, op, &operands);
                    }
                }
                Statement::Get(..) | Statement::Barrier { .. } | Statement::NoOp => {}
                Statement::PutI { .. } | Statement::GetI { .. } => {}
            }
            self.overwritten.apply(statement);
        }
        true
    }

    /// Finds the definitions of the temporaries. Returns false for x87 code, for which the passes
    /// run more than once.
    fn find_definitions(&mut self, code: &[Statement], temps: usize) -> bool {
        self.definitions.clear();
        self.definitions.resize(temps, u32::MAX);
        self.live.clear();
        self.live.resize(temps, false);
        for (i, statement) in code.iter().enumerate() {
            match *statement {
                Statement::Get(to, _) | Statement::WrTmp(to, ..) | Statement::Load { to, .. } => {
                    if let Some(definition) = self.definitions.get_mut(to as usize) {
                        *definition = i as u32;
                    }
                }
                Statement::PutI { .. } | Statement::GetI { .. } => return false,
                _ => {}
            }
        }
        true
    }

    fn mark_live(&mut self, value: Value) {
        if let Value::Temp(temp) = value
            && let Some(live) = self.live.get_mut(temp as usize)
        {
            *live = true;
        }
    }

    fn is_live(&self, temp: Temp) -> bool {
        self.live.get(temp as usize).copied().unwrap_or(false)
    }

    /// Marks the operands that a live operation surely uses, whatever they are folded to.
    fn use_operands(&mut self, code: &[Statement], op: Op, operands: &[Value]) {
        let [one, other, third, ..] = *operands else { return };
        match op {
            Op::Opaque(..) | Op::CCall => {
                operands.iter().take(op.operands()).for_each(|value| self.mark_live(*value));
            }
            _ if op.operands() == 1 => self.mark_live(one),
            // No identity drops an operand of a sum or a product that is not constant.
            Op::Add(_) | Op::Mul(_) | Op::MullS32 | Op::Concat(_) => {
                self.mark_live(one);
                self.mark_live(other);
            }
            Op::And(_) | Op::Or(_) | Op::AndV128 | Op::OrV128 if self.both_opaque(code, one, other) => {
                self.mark_live(one);
                self.mark_live(other);
            }
            Op::Sub(_) | Op::Xor(_) | Op::XorV128 if self.differ(code, one, other) => {
                self.mark_live(one);
                self.mark_live(other);
            }
            Op::Ite if self.is_opaque(code, one) => {
                self.mark_live(other);
                self.mark_live(third);
            }
            _ if depends_on_first(op, other) && self.is_opaque(code, one) => self.mark_live(one),
            _ => {}
        }
    }

    fn both_opaque(&self, code: &[Statement], one: Value, other: Value) -> bool {
        self.is_opaque(code, one) && self.is_opaque(code, other)
    }

    /// Tests whether the passes surely cannot find two values equal, of which at least one is
    /// surely not constant.
    fn differ(&self, code: &[Statement], one: Value, other: Value) -> bool {
        let definition = |value| match value {
            Value::Temp(temp) => self.definition(code, temp),
            Value::Const(_) => None,
        };
        let read = |statement: Option<&Statement>| {
            matches!(statement, Some(Statement::Get(..) | Statement::Load { .. }))
        };
        match (one, other) {
            (Value::Const(_), open) | (open, Value::Const(_)) => self.is_opaque(code, open),
            _ => {
                one != other
                    && self.both_opaque(code, one, other)
                    && (read(definition(one)) || read(definition(other)))
            }
        }
    }

    fn definition<'a>(&self, code: &'a [Statement], temp: Temp) -> Option<&'a Statement> {
        code.get(*self.definitions.get(temp as usize)? as usize)
    }

    /// Tests whether the passes surely cannot fold a value to a constant.
    fn is_opaque(&self, code: &[Statement], value: Value) -> bool {
        let mut value = value;
        // Longer chains are rare.
        for _ in 0..8 {
            let Value::Temp(temp) = value else { return false };
            value = match self.definition(code, temp) {
                Some(Statement::Get(..) | Statement::Load { .. }) => return true,
                Some(&Statement::WrTmp(_, op, operands)) => match (op, operands) {
                    // The passes fold neither in the first run.
                    (Op::Opaque(..), _) => return true,
                    _ if op.is_ccall() => return true,
                    (_, [one, ..]) if op.operands() == 1 => one,
                    (_, [one, other, ..]) if depends_on_first(op, other) => one,
                    _ => return false,
                },
                _ => return false,
            };
        }
        false
    }
}

/// Tests whether a binary operation with this constant as its second operand keeps depending on the
/// first.
fn depends_on_first(op: Op, other: Value) -> bool {
    let Value::Const(number) = other else { return false };
    match op {
        Op::And(bits) => number & mask(bits) != 0,
        Op::Or(bits) => number & mask(bits) != mask(bits),
        Op::Add(_) | Op::Sub(_) | Op::Xor(_) | Op::Shl(_) | Op::Shr(_) | Op::Sar(_) => true,
        Op::CmpEq(_) | Op::CmpNe(_) => true,
        _ => false,
    }
}
