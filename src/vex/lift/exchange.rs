//! Exchanges, with lock prefix and without.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::ctx::{LiftCtx, Operand, accumulator, bytes};
use crate::vex::ir::{CcOp, Op, ZERO, cond};
use crate::x86::cost::is_locked;

impl LiftCtx {
    pub(super) fn exchange(&mut self, i: &Instruction) {
        let memory = (0..2).find(|&operand| i.op_kind(operand) == OpKind::Memory);
        if let Some(memory) = memory {
            let register = i.op_register(1 - memory);
            let place = self.operand(i, memory);
            let (old, new) = (self.read(place, 0), self.register(register));
            self.keep(old);
            self.write(i, place, 0, new);
            return self.set_register(register, old);
        }
        let (one, other) = (self.register(i.op0_register()), self.register(i.op1_register()));
        self.set_register(i.op0_register(), other);
        self.set_register(i.op1_register(), one);
    }

    pub(super) fn exchange_add(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.operand(i, 0);
        let (old, add) = (self.read(place, 0), self.register(i.op1_register()));
        let sum = self.op(Op::Add(8 * size as u8), &[old, add]);
        if matches!(place, Operand::Memory(_)) {
            self.write(i, place, 0, sum);
        }
        let (dep1, dep2) = (self.zext(old, size), self.zext(add, size));
        self.set_flags(CcOp::Add.value(size), dep1, dep2, ZERO);
        self.set_register(i.op1_register(), old);
        if let Operand::Register(register) = place {
            self.set_register(register, sum);
        }
    }

    pub(super) fn compare_exchange(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.operand(i, 0);
        let new = self.register(i.op1_register());
        let accumulator = accumulator(size);
        let expected = self.register(accumulator);
        let locked = is_locked(i);
        let old = if locked {
            if let Operand::Memory(address) = place {
                self.keep(address);
            }
            self.keep(new);
            self.keep(expected);
            self.barrier(false);
            self.fresh()
        } else {
            self.read(place, 0)
        };
        let (dep1, dep2) = (self.zext(expected, size), self.zext(old, size));
        self.set_flags(CcOp::Sub.value(size), dep1, dep2, ZERO);
        let equal = self.condition(cond::Z);
        let stored = self.op(Op::Ite, &[equal, new, old]);
        let result = self.op(Op::Ite, &[equal, expected, old]);
        self.set_register(accumulator, result);
        if !locked {
            self.write(i, place, 0, stored);
        }
    }

    pub(super) fn compare_exchange_pair(&mut self, i: &Instruction) {
        let address = self.address(i);
        self.keep(address);
        let wide = i.mnemonic() == M::Cmpxchg16b;
        if wide {
            self.check_alignment(address);
        }
        for register in [Register::RAX, Register::RBX, Register::RCX, Register::RDX] {
            let value = self.register(register);
            self.keep(value);
        }
        self.barrier(false);
        let old = self.fresh();
        for register in if wide { [Register::RDX, Register::RAX] } else { [Register::EDX, Register::EAX] } {
            self.set_register(register, old);
        }
        let flags = self.flags();
        let flags = self.opaque(i, &[flags, old]);
        self.set_all_flags(flags);
    }
}
