//! Shifts and rotations.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::ctx::{LiftCtx, bytes};
use crate::vex::guest_state as state;
use crate::vex::ir::{CcOp, Op, Value, ZERO};

impl LiftCtx {
    /// Count in the last operand, masked to 5 or 6 bits.
    fn shift_count(&mut self, i: &Instruction, size: usize) -> Value {
        let mask = Value::Const(if size == 8 { 63 } else { 31 });
        let count = match i.op_kind(i.op_count() - 1) {
            OpKind::Register => self.register(Register::CL),
            _ => Value::Const(i.try_immediate(i.op_count() - 1).unwrap_or(1) & 0xff),
        };
        self.op(Op::And(8), &[count, mask])
    }

    /// Sets the flags thunk if the count is not zero.
    fn set_flags_if(&mut self, count: Value, cc_op: Value, dep1: Value, dep2: Value) {
        let shifts = self.op(Op::CmpNe(8), &[count, ZERO]);
        let parts = [(state::CC_OP, cc_op), (state::CC_DEP1, dep1), (state::CC_DEP2, dep2)];
        for (slice, new) in parts {
            let old = self.get(slice);
            let chosen = self.op(Op::Ite, &[shifts, new, old]);
            self.put(slice, chosen);
        }
        self.put(state::CC_NDEP, ZERO);
    }

    pub(super) fn shift(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.operand(i, 0);
        let value = self.read(place, 0);
        let count = self.shift_count(i, size);
        let signed = i.mnemonic() == M::Sar;
        let wide = match (signed, size) {
            (_, 8) => value,
            (true, _) => self.op(Op::Sext(8 * size as u8, 64), &[value]),
            (false, _) => self.zext(value, size),
        };
        let (op, cc_op) = match i.mnemonic() {
            M::Shr => (Op::Shr(64), CcOp::Shr),
            M::Sar => (Op::Sar(64), CcOp::Shr),
            _ => (Op::Shl(64), CcOp::Shl),
        };
        let shifted = self.op(op, &[wide, count]);
        let mask = Value::Const(if size == 8 { 63 } else { 31 });
        let less = self.op(Op::Sub(8), &[count, Value::Const(1)]);
        let less = self.op(Op::And(8), &[less, mask]);
        let before = self.op(op, &[wide, less]);
        self.set_flags_if(count, cc_op.value(size), shifted, before);
        let result = self.trunc(shifted, size);
        self.write(i, place, 0, result);
    }

    /// SHLD and SHRD: a shift of the concatenated operands; of 64-bit operands, two shifts.
    pub(super) fn double_shift(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let left = i.mnemonic() == M::Shld;
        let place = self.operand(i, 0);
        let (value, other) = (self.read(place, 0), self.register(i.op1_register()));
        let mask = Value::Const(if size == 8 { 63 } else { 31 });
        let count = self.shift_count(i, size);
        let less = self.op(Op::Sub(8), &[count, Value::Const(1)]);
        let less = self.op(Op::And(8), &[less, mask]);
        let [shifted, before] = match size {
            8 => [count, less].map(|by| self.shift_pair(left, value, other, by)),
            4 => {
                let both = if left { [value, other] } else { [other, value] };
                let both = self.op(Op::Concat(32), &both);
                [count, less].map(|by| self.shift_concat(left, both, by, bits))
            }
            _ => {
                let halves = if left { [[value, other], [other; 2]] } else { [[other; 2], [other, value]] };
                let halves = halves.map(|half| self.op(Op::Concat(16), &half));
                let both = self.op(Op::Concat(32), &halves);
                let mut alone = self.zext(value, size);
                if left {
                    alone = self.op(Op::Shl(64), &[alone, Value::Const(48)]);
                }
                [(both, count), (alone, less)].map(|(both, by)| self.shift_concat(left, both, by, bits))
            }
        };
        let cc_op = if left { CcOp::Shl } else { CcOp::Shr };
        let (dep1, dep2) = (self.zext(shifted, size), self.zext(before, size));
        self.set_flags_if(count, cc_op.value(size), dep1, dep2);
        self.write(i, place, 0, shifted);
    }

    /// Shifts a concatenation and extracts the operand.
    fn shift_concat(&mut self, left: bool, both: Value, by: Value, bits: u8) -> Value {
        let mut shifted = self.op(if left { Op::Shl(64) } else { Op::Shr(64) }, &[both, by]);
        if left {
            shifted = self.op(Op::Shr(64), &[shifted, Value::Const(64 - u64::from(bits))]);
        }
        self.trunc(shifted, usize::from(bits) / 8)
    }

    fn shift_pair(&mut self, left: bool, value: Value, other: Value, by: Value) -> Value {
        let (to, from) = if left { (Op::Shl(64), Op::Shr(64)) } else { (Op::Shr(64), Op::Shl(64)) };
        let one = self.op(to, &[value, by]);
        let rest = self.op(Op::Sub(8), &[Value::Const(64), by]);
        let rest = self.op(from, &[other, rest]);
        let both = self.op(Op::Or(64), &[one, rest]);
        let shifts = self.op(Op::CmpNe(8), &[by, ZERO]);
        self.op(Op::Ite, &[shifts, both, value])
    }

    pub(super) fn rotate(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let place = self.operand(i, 0);
        let value = self.read(place, 0);
        let count = self.shift_count(i, size);
        let by =
            if size == 8 { count } else { self.op(Op::And(8), &[count, Value::Const(u64::from(bits) - 1)]) };
        let (to, from) = match i.mnemonic() {
            M::Rol => (Op::Shl(bits), Op::Shr(bits)),
            _ => (Op::Shr(bits), Op::Shl(bits)),
        };
        let one = self.op(to, &[value, by]);
        let rest = self.op(Op::Sub(8), &[Value::Const(u64::from(bits)), by]);
        let rest = self.op(from, &[value, rest]);
        let result = self.op(Op::Or(bits), &[one, rest]);
        let flags = self.flags();
        let shifts = self.op(Op::CmpNe(8), &[count, ZERO]);
        let dep = self.zext(result, size);
        let parts = [
            (state::CC_OP, CcOp::Other.value(size)),
            (state::CC_DEP1, dep),
            (state::CC_DEP2, ZERO),
            (state::CC_NDEP, flags),
        ];
        for (slice, new) in parts {
            let old = self.get(slice);
            let chosen = self.op(Op::Ite, &[shifts, new, old]);
            self.put(slice, chosen);
        }
        self.write(i, place, 0, result);
    }

    pub(super) fn rotate_carry(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.operand(i, 0);
        let value = self.read(place, 0);
        let wide = self.zext(value, size);
        let flags = self.flags();
        let count = match i.op_kind(1) {
            OpKind::Register => self.register(Register::CL),
            _ => Value::Const(i.try_immediate(1).unwrap_or(1) & 0xff),
        };
        let count = self.zext(count, 1);
        let result = self.ccall(&[wide, count, flags]);
        let new_flags = self.ccall(&[wide, count, flags]);
        let result = self.trunc(result, size);
        self.set_all_flags(new_flags);
        self.write(i, place, 0, result);
    }
}
