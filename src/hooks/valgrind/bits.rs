//! Bits: tests, scans, and the general instructions with VEX prefixes.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::integer::{RSP, ZERO, bytes};
use super::ir::{Op, Source, Value};
use super::lift::{Lifter, Place};
use crate::hooks::operand::SCRATCH_BELOW_RSP;

impl Lifter {
    pub(super) fn bit(&mut self, i: &Instruction) {
        let tests = i.mnemonic() == M::Bt;
        let by_register = i.op1_kind() == OpKind::Register;
        let number = match by_register {
            true => self.register(i.op1_register()),
            false => Value::Known(i.immediate(1)),
        };
        if by_register && i.op0_kind() == OpKind::Register {
            // The operand goes through memory below the stack.
            let old = self.get(RSP);
            let below = self.op(Op::Sub(64), &[old, Value::Known(SCRATCH_BELOW_RSP)]);
            self.put(RSP, below);
            let value = self.register(i.op0_register());
            self.store(0, below, value);
            let address = self.opaque(i, &[below, number]);
            let byte = self.load(1, address);
            if !tests {
                let changed = self.opaque(i, &[byte, number]);
                self.store(1, address, changed);
            }
            self.set_bit_flags(i, byte, number);
            if !tests {
                let value = self.load(2, below);
                self.set_register(i.op0_register(), value);
            }
            let back = self.op(Op::Add(64), &[below, Value::Known(SCRATCH_BELOW_RSP)]);
            return self.put(RSP, back);
        }
        let mut place = self.place(i, 0);
        if let (Place::Memory(address), true) = (place, by_register) {
            place = Place::Memory(self.opaque(i, &[address, number]));
        }
        let old = self.read(place, 0);
        if !tests {
            let new = self.opaque(i, &[old, number]);
            self.write(i, place, 0, new);
        }
        self.set_bit_flags(i, old, number);
    }

    pub(super) fn set_bit_flags(&mut self, i: &Instruction, value: Value, number: Value) {
        let flags = self.flags();
        let flags = self.opaque(i, &[flags, value, number]);
        self.set_all_flags(flags);
    }

    pub(super) fn bit_scan(&mut self, i: &Instruction) {
        let place = self.place(i, 1);
        let value = self.read(place, 0);
        let flags = self.opaque(i, &[value]);
        if matches!(i.mnemonic(), M::Bsf | M::Bsr) {
            self.set_all_flags(flags);
            let old = self.register(i.op0_register());
            let result = self.opaque(i, &[value, old]);
            return self.set_register(i.op0_register(), result);
        }
        let result = self.opaque(i, &[value]);
        self.set_register(i.op0_register(), result);
        self.set_all_flags(flags);
    }

    pub(super) fn general_vex(&mut self, i: &Instruction) {
        // The first two operands of MULX are its results.
        let first = if i.mnemonic() == M::Mulx { 2 } else { 1 };
        let mut operands = Vec::new();
        for operand in first..i.op_count() {
            let place = self.place(i, operand);
            operands.push(self.read(place, 0));
        }
        let size = bytes(i, 0);
        match i.mnemonic() {
            M::Mulx => {
                operands.push(self.register(if size == 8 { Register::RDX } else { Register::EDX }));
                let product = self.opaque(i, &operands);
                self.set_register(i.op1_register(), product);
                self.set_register(i.op0_register(), product);
            }
            M::Andn | M::Blsr | M::Blsmsk => {
                let result = self.opaque(i, &operands);
                self.set_register(i.op0_register(), result);
                let dep = self.widened(result, size);
                let first = operands.first().copied().unwrap_or(ZERO);
                let dep2 = if i.mnemonic() == M::Andn { ZERO } else { self.widened(first, size) };
                self.set_flags(Source::Other.value(size), dep, dep2, ZERO);
            }
            _ => {
                let result = self.opaque(i, &operands);
                self.set_register(i.op0_register(), result);
            }
        }
    }

    pub(super) fn sign(&mut self, i: &Instruction) {
        let (from, to) = match i.mnemonic() {
            M::Cbw => (Register::AL, Register::AX),
            M::Cwde => (Register::AX, Register::EAX),
            M::Cdqe => (Register::EAX, Register::RAX),
            M::Cwd => (Register::AX, Register::DX),
            M::Cdq => (Register::EAX, Register::EDX),
            _ => (Register::RAX, Register::RDX),
        };
        let value = self.register(from);
        let value = match i.mnemonic() {
            M::Cbw | M::Cwde | M::Cdqe => {
                self.op(Op::Sign(8 * from.size() as u8, 8 * to.size() as u8), &[value])
            }
            _ => {
                let bits = 8 * from.size() as u8;
                self.op(Op::Sar(bits), &[value, Value::Known(u64::from(bits) - 1)])
            }
        };
        self.set_register(to, value);
    }
}
