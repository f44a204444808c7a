//! Exchanges, with locks and without.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::integer::{ZERO, bytes};
use super::ir::{Op, Source, code};
use super::lift::{Lifter, Place, is_locked};

impl Lifter {
    pub(super) fn exchange(&mut self, i: &Instruction) {
        let memory = (0..2).find(|&operand| i.op_kind(operand) == OpKind::Memory);
        if let Some(memory) = memory {
            let register = i.op_register(1 - memory);
            let place = self.place(i, memory);
            let (old, new) = (self.read(place, 0), self.register(register));
            self.used(old);
            self.write(i, place, 0, new);
            return self.set_register(register, old);
        }
        let (one, other) = (self.register(i.op0_register()), self.register(i.op1_register()));
        self.set_register(i.op0_register(), other);
        self.set_register(i.op1_register(), one);
    }

    pub(super) fn exchange_add(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let (old, add) = (self.read(place, 0), self.register(i.op1_register()));
        let sum = self.op(Op::Add(8 * size as u8), &[old, add]);
        if matches!(place, Place::Memory(_)) {
            self.write(i, place, 0, sum);
        }
        let (dep1, dep2) = (self.widened(old, size), self.widened(add, size));
        self.set_flags(Source::Add.value(size), dep1, dep2, ZERO);
        self.set_register(i.op1_register(), old);
        if let Place::Register(register) = place {
            self.set_register(register, sum);
        }
    }

    pub(super) fn compare_exchange(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let new = self.register(i.op1_register());
        let accumulator = match size {
            1 => Register::AL,
            2 => Register::AX,
            4 => Register::EAX,
            _ => Register::RAX,
        };
        let expected = self.register(accumulator);
        let locked = is_locked(i);
        let old = if locked {
            if let Place::Memory(address) = place {
                self.used(address);
            }
            self.used(new);
            self.used(expected);
            self.barrier(false);
            self.unknown()
        } else {
            self.read(place, 0)
        };
        let (dep1, dep2) = (self.widened(expected, size), self.widened(old, size));
        self.set_flags(Source::Sub.value(size), dep1, dep2, ZERO);
        let equal = self.condition(code::Z);
        let stored = self.op(Op::Choose, &[equal, new, old]);
        let result = self.op(Op::Choose, &[equal, expected, old]);
        self.set_register(accumulator, result);
        if !locked {
            self.write(i, place, 0, stored);
        }
    }

    pub(super) fn compare_exchange_pair(&mut self, i: &Instruction) {
        let address = self.address(i);
        self.used(address);
        let wide = i.mnemonic() == M::Cmpxchg16b;
        if wide {
            self.check_alignment(address);
        }
        for register in [Register::RAX, Register::RBX, Register::RCX, Register::RDX] {
            let value = self.register(register);
            self.used(value);
        }
        self.barrier(false);
        let old = self.unknown();
        for register in if wide { [Register::RDX, Register::RAX] } else { [Register::EDX, Register::EAX] } {
            self.set_register(register, old);
        }
        let flags = self.flags();
        let flags = self.opaque(i, &[flags, old]);
        self.set_all_flags(flags);
    }
}
