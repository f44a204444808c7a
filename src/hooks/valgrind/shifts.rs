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

    /// SHLD and SHRD: of both operands as one number; where they have 64 bits each, of the two apart.
    pub(super) fn double_shift(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let left = i.mnemonic() == M::Shld;
        let place = self.place(i, 0);
        let (value, other) = (self.read(place, 0), self.register(i.op1_register()));
        let mask = Value::Known(if size == 8 { 63 } else { 31 });
        let count = self.shift_count(i, size);
        let less = self.op(Op::Sub(8), &[count, Value::Known(1)]);
        let less = self.op(Op::And(8), &[less, mask]);
        let [shifted, before] = match size {
            8 => [count, less].map(|by| self.shifted_apart(left, value, other, by)),
            4 => {
                let both = if left { [value, other] } else { [other, value] };
                let both = self.op(Op::Join(32), &both);
                [count, less].map(|by| self.shifted_both(left, both, by, bits))
            }
            _ => {
                let halves = if left { [[value, other], [other; 2]] } else { [[other; 2], [other, value]] };
                let halves = halves.map(|half| self.op(Op::Join(16), &half));
                let both = self.op(Op::Join(32), &halves);
                let mut alone = self.widened(value, size);
                if left {
                    alone = self.op(Op::Shl(64), &[alone, Value::Known(48)]);
                }
                [(both, count), (alone, less)].map(|(both, by)| self.shifted_both(left, both, by, bits))
            }
        };
        let source = if left { Source::Shl } else { Source::Shr };
        let (dep1, dep2) = (self.widened(shifted, size), self.widened(before, size));
        self.set_flags_if(count, source.value(size), dep1, dep2);
        self.write(i, place, 0, shifted);
    }

    /// A number of 64 bits, shifted, and cut to the bits of the operand.
    fn shifted_both(&mut self, left: bool, both: Value, by: Value, bits: u8) -> Value {
        let mut shifted = self.op(if left { Op::Shl(64) } else { Op::Shr(64) }, &[both, by]);
        if left {
            shifted = self.op(Op::Shr(64), &[shifted, Value::Known(64 - u64::from(bits))]);
        }
        self.low(shifted, usize::from(bits) / 8)
    }

    fn shifted_apart(&mut self, left: bool, value: Value, other: Value, by: Value) -> Value {
        let (to, from) = if left { (Op::Shl(64), Op::Shr(64)) } else { (Op::Shr(64), Op::Shl(64)) };
        let one = self.op(to, &[value, by]);
        let rest = self.op(Op::Sub(8), &[Value::Known(64), by]);
        let rest = self.op(from, &[other, rest]);
        let both = self.op(Op::Or(64), &[one, rest]);
        let shifts = self.op(Op::Differ(8), &[by, ZERO]);
        self.op(Op::Choose, &[shifts, both, value])
    }

    pub(super) fn rotate(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let place = self.place(i, 0);
        let value = self.read(place, 0);
        let count = self.shift_count(i, size);
        let by =
            if size == 8 { count } else { self.op(Op::And(8), &[count, Value::Known(u64::from(bits) - 1)]) };
        let (to, from) = match i.mnemonic() {
            M::Rol => (Op::Shl(bits), Op::Shr(bits)),
            _ => (Op::Shr(bits), Op::Shl(bits)),
        };
        let one = self.op(to, &[value, by]);
        let rest = self.op(Op::Sub(8), &[Value::Known(u64::from(bits)), by]);
        let rest = self.op(from, &[value, rest]);
        let result = self.op(Op::Or(bits), &[one, rest]);
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
        let wide = self.widened(value, size);
        let flags = self.flags();
        let count = match i.op_kind(1) {
            OpKind::Register => self.register(Register::CL),
            _ => Value::Known(i.try_immediate(1).unwrap_or(1) & 0xff),
        };
        let count = self.widened(count, 1);
        let result = self.call(&[wide, count, flags]);
        let new_flags = self.call(&[wide, count, flags]);
        let result = self.low(result, size);
        self.set_all_flags(new_flags);
        self.write(i, place, 0, result);
    }
}
