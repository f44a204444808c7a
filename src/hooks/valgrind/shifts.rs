//! Shifts and rotations.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::integer::{ZERO, bytes};
use super::ir::{Op, Source, Value};
use super::lift::Lifter;
use super::state;

impl Lifter {
    /// The count of a shift or rotation in its last operand, cut to 5 or 6 bits.
    pub(super) fn shift_count(&mut self, i: &Instruction, size: usize) -> Value {
        let mask = Value::Known(if size == 8 { 63 } else { 31 });
        let count = match i.op_kind(i.op_count() - 1) {
            OpKind::Register => self.register(Register::CL),
            _ => Value::Known(i.try_immediate(i.op_count() - 1).unwrap_or(1) & 0xff),
        };
        self.op(Op::And(8), &[count, mask])
    }

    /// Flags that change only if something was shifted.
    pub(super) fn set_flags_if(&mut self, count: Value, source: Value, dep1: Value, dep2: Value) {
        let shifts = self.op(Op::Differ(8), &[count, ZERO]);
        let parts = [(state::CC_OP, source), (state::CC_DEP1, dep1), (state::CC_DEP2, dep2)];
        for (slice, new) in parts {
            let old = self.get(slice);
            let chosen = self.op(Op::Choose, &[shifts, new, old]);
            self.put(slice, chosen);
        }
        self.put(state::CC_NDEP, ZERO);
    }

    pub(super) fn shift(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let value = self.read(place, 0);
        let count = self.shift_count(i, size);
        let signed = i.mnemonic() == M::Sar;
        let wide = match (signed, size) {
            (_, 8) => value,
            (true, _) => self.op(Op::Sign(8 * size as u8, 64), &[value]),
            (false, _) => self.widened(value, size),
        };
        let (op, source) = match i.mnemonic() {
            M::Shr => (Op::Shr(64), Source::Shr),
            M::Sar => (Op::Sar(64), Source::Shr),
            _ => (Op::Shl(64), Source::Shl),
        };
        let shifted = self.op(op, &[wide, count]);
        let mask = Value::Known(if size == 8 { 63 } else { 31 });
        let less = self.op(Op::Sub(8), &[count, Value::Known(1)]);
        let less = self.op(Op::And(8), &[less, mask]);
        let before = self.op(op, &[wide, less]);
        self.set_flags_if(count, source.value(size), shifted, before);
        let result = self.low(shifted, size);
        self.write(i, place, 0, result);
    }

    pub(super) fn double_shift(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let (value, other) = (self.read(place, 0), self.register(i.op1_register()));
        let count = self.shift_count(i, size);
        let shifts = self.op(Op::Differ(8), &[count, ZERO]);
        let double = Op::Double(i.mnemonic() == M::Shld, 8 * size as u8);
        let shifted = self.op(double, &[value, other, count]);
        let shifted = self.op(Op::Choose, &[shifts, shifted, value]);
        let less = self.op(Op::Sub(8), &[count, Value::Known(1)]);
        let before = self.op(double, &[value, other, less]);
        let source = if i.mnemonic() == M::Shld { Source::Shl } else { Source::Shr };
        let (dep1, dep2) = (self.widened(shifted, size), self.widened(before, size));
        self.set_flags_if(count, source.value(size), dep1, dep2);
        self.write(i, place, 0, shifted);
    }

    pub(super) fn rotate(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let value = self.read(place, 0);
        let count = self.shift_count(i, size);
        let result = self.opaque(i, &[value, count]);
        let flags = self.flags();
        let shifts = self.op(Op::Differ(8), &[count, ZERO]);
        let dep = self.widened(result, size);
        let parts = [
            (state::CC_OP, Source::Other.value(size)),
            (state::CC_DEP1, dep),
            (state::CC_DEP2, ZERO),
            (state::CC_NDEP, flags),
        ];
        for (slice, new) in parts {
            let old = self.get(slice);
            let chosen = self.op(Op::Choose, &[shifts, new, old]);
            self.put(slice, chosen);
        }
        self.write(i, place, 0, result);
    }

    pub(super) fn rotate_carry(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let value = self.read(place, 0);
        let flags = self.flags();
        let count = self.shift_count(i, size);
        let result = self.opaque(i, &[value, count, flags]);
        let new_flags = self.opaque(i, &[value, count, flags, Value::Known(1)]);
        self.set_all_flags(new_flags);
        self.write(i, place, 0, result);
    }
}
