//! Moves, arithmetic and flags on general-purpose registers and memory.

use iced_x86::{ConditionCode, Instruction, Mnemonic as M, OpKind, Register};

use super::ctx::{LiftCtx, bytes};
use crate::vex::guest_state as state;
use crate::vex::ir::{CcOp, Op, Value, ZERO};

impl LiftCtx {
    pub(super) fn lea(&mut self, i: &Instruction) {
        let address = self.address(i);
        let value = self.trunc(address, i.op0_register().size());
        self.set_register(i.op0_register(), value);
    }

    pub(super) fn not(&mut self, i: &Instruction) {
        let place = self.operand(i, 0);
        let old = self.read(place, 0);
        let new = self.op(Op::Not(8 * bytes(i, 0) as u8), &[old]);
        self.write(i, place, 0, new);
    }

    pub(super) fn crc32(&mut self, i: &Instruction) {
        let place = self.operand(i, 1);
        let new = self.read(place, 0);
        let old = self.register(i.op0_register().full_register());
        let old = self.op(Op::And(64), &[old, Value::Const(u64::from(u32::MAX))]);
        let new = self.zext(new, bytes(i, 1));
        let sum = self.ccall(&[old, new]);
        let sum = self.trunc(sum, 4);
        let sum = self.zext(sum, 4);
        self.set_register(i.op0_register().full_register(), sum);
    }

    pub(super) fn mov(&mut self, i: &Instruction) {
        let from = self.operand(i, 1);
        let value = self.read(from, 0);
        let (wide, narrow) = (bytes(i, 0) as u8, bytes(i, 1) as u8);
        let value = match i.mnemonic() {
            M::Movzx => self.op(Op::Zext(8 * narrow), &[value]),
            M::Movsx | M::Movsxd => self.op(Op::Sext(8 * narrow, 8 * wide), &[value]),
            M::Movbe => self.byte_swap(value, bytes(i, 1)),
            _ => value,
        };
        let to = self.operand(i, 0);
        self.write(i, to, 0, value);
    }

    pub(super) fn arithmetic(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let to = self.operand(i, 0);
        if i.mnemonic() == M::Neg {
            let value = self.read(to, 0);
            let result = self.op(Op::Sub(bits), &[ZERO, value]);
            self.write(i, to, 0, result);
            let dep = self.zext(value, size);
            return self.set_flags(CcOp::Sub.value(size), ZERO, dep, ZERO);
        }
        self.clear_if_same(i);
        let from = self.operand(i, 1);
        let (left, right) = (self.read(to, 0), self.read(from, 0));
        let (op, cc_op) = match i.mnemonic() {
            M::Add => (Op::Add(bits), CcOp::Add),
            M::Sub | M::Cmp => (Op::Sub(bits), CcOp::Sub),
            M::And | M::Test => (Op::And(bits), CcOp::Logic),
            M::Or => (Op::Or(bits), CcOp::Logic),
            _ => (Op::Xor(bits), CcOp::Logic),
        };
        let result = self.op(op, &[left, right]);
        if !matches!(i.mnemonic(), M::Cmp | M::Test) {
            self.write(i, to, 0, result);
        }
        if cc_op == CcOp::Logic {
            let dep = self.zext(result, size);
            self.set_flags(cc_op.value(size), dep, ZERO, ZERO);
        } else {
            let (dep1, dep2) = (self.zext(left, size), self.zext(right, size));
            self.set_flags(cc_op.value(size), dep1, dep2, ZERO);
        }
    }

    /// Clears the destination of XOR, SUB and SBB of a register with itself, which do not depend on
    /// it.
    fn clear_if_same(&mut self, i: &Instruction) {
        let same = i.op0_kind() == OpKind::Register
            && i.op1_kind() == OpKind::Register
            && i.op0_register() == i.op1_register();
        if same && matches!(i.mnemonic(), M::Xor | M::Sub | M::Sbb) {
            self.set_register(i.op0_register(), ZERO);
        }
    }

    pub(super) fn with_carry(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        self.clear_if_same(i);
        let (to, from) = (self.operand(i, 0), self.operand(i, 1));
        let (left, right) = (self.read(to, 0), self.read(from, 0));
        let carry = self.carry();
        let carry = self.op(Op::And(64), &[carry, Value::Const(1)]);
        let narrow = self.trunc(carry, size);
        let adds = i.mnemonic() == M::Adc;
        let op = if adds { Op::Add(bits) } else { Op::Sub(bits) };
        let sum = self.op(op, &[left, right]);
        let sum = self.op(op, &[sum, narrow]);
        self.write(i, to, 0, sum);
        let dep1 = self.zext(left, size);
        let dep2 = self.op(Op::Xor(bits), &[right, narrow]);
        let dep2 = self.zext(dep2, size);
        let cc_op = if adds { CcOp::Adc } else { CcOp::Sbb };
        self.set_flags(cc_op.value(size), dep1, dep2, carry);
    }

    pub(super) fn increment(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let place = self.operand(i, 0);
        let old = self.read(place, 0);
        let (op, cc_op) = match i.mnemonic() {
            M::Inc => (Op::Add(bits), CcOp::Inc),
            _ => (Op::Sub(bits), CcOp::Dec),
        };
        let new = self.op(op, &[old, Value::Const(1)]);
        self.write(i, place, 0, new);
        let carry = self.carry();
        let dep = self.zext(new, size);
        self.set_flags(cc_op.value(size), dep, ZERO, carry);
    }

    pub(super) fn multiply(&mut self, i: &Instruction) {
        if i.op_count() > 1 {
            let (from, by) = if i.op_count() == 3 { (1, 2) } else { (1, 0) };
            let size = bytes(i, 0);
            let places = (self.operand(i, from), self.operand(i, by));
            let (one, other) = (self.read(places.0, 0), self.read(places.1, 0));
            let product = self.op(Op::Mul(8 * size as u8), &[one, other]);
            self.set_register(i.op0_register(), product);
            let (dep1, dep2) = (self.zext(one, size), self.zext(other, size));
            return self.set_flags(CcOp::Other.value(size), dep1, dep2, ZERO);
        }
        let size = bytes(i, 0);
        let place = self.operand(i, 0);
        let by = self.read(place, 0);
        let divides = matches!(i.mnemonic(), M::Div | M::Idiv);
        let [low, high] = match size {
            1 => [Register::AL, Register::AH],
            2 => [Register::AX, Register::DX],
            4 => [Register::EAX, Register::EDX],
            _ => [Register::RAX, Register::RDX],
        };
        if divides {
            let one = self.register(if size == 1 { Register::AX } else { low });
            let other = if size == 1 { ZERO } else { self.register(high) };
            let both = self.opaque(i, &[one, other, by]);
            return self.set_halves(size, both, low, high);
        }
        let one = self.register(low);
        let (dep1, dep2) = (self.zext(one, size), self.zext(by, size));
        self.set_flags(CcOp::Other.value(size), dep1, dep2, ZERO);
        let op = match i.mnemonic() {
            M::Imul if size == 4 => Op::MullS32,
            _ => Op::Opaque(i.mnemonic() as u16, 2),
        };
        let product = self.op(op, &[one, by]);
        if size == 1 {
            return self.set_register(Register::AX, product);
        }
        self.set_halves(size, product, low, high);
    }

    /// Sets two registers to the halves of a product, or to quotient and remainder.
    pub(super) fn set_halves(&mut self, size: usize, both: Value, low: Register, high: Register) {
        let bits = 8 * size as u8;
        let upper = self.op(Op::HighHalf(2 * bits), &[both]);
        self.set_register(high, upper);
        let lower = self.op(Op::Trunc(bits), &[both]);
        self.set_register(low, lower);
    }

    pub(super) fn flag_instruction(&mut self, i: &Instruction) {
        // SF, ZF, AF, PF and CF, which SAHF and LAHF move.
        const MOVED: Value = Value::Const(0xd5);
        let rax = state::RAX;
        let flags = self.flags();
        let (op, by) = match i.mnemonic() {
            M::Lahf => {
                let old = self.get(rax);
                let kept = self.op(Op::And(64), &[old, Value::Const(!0xff00)]);
                let seen = self.op(Op::And(64), &[flags, MOVED]);
                let seen = self.op(Op::Or(64), &[seen, Value::Const(2)]);
                let seen = self.op(Op::Shl(64), &[seen, Value::Const(8)]);
                let new = self.op(Op::Or(64), &[kept, seen]);
                return self.put(rax, new);
            }
            M::Sahf => {
                let kept = self.op(Op::And(64), &[flags, Value::Const(0x800)]);
                let value = self.get(rax);
                let value = self.op(Op::Shr(64), &[value, Value::Const(8)]);
                let value = self.op(Op::And(64), &[value, MOVED]);
                let flags = self.op(Op::Or(64), &[kept, value]);
                return self.set_all_flags(flags);
            }
            M::Clc => (Op::And(64), !1),
            M::Stc => (Op::Or(64), 1),
            _ => (Op::Xor(64), 1),
        };
        let flags = self.op(op, &[flags, Value::Const(by)]);
        self.set_all_flags(flags);
    }

    /// CMOVcc and SETcc; any other instruction is a dirty helper that may change every register.
    pub(super) fn conditional_or_unknown(&mut self, i: &Instruction) {
        if i.condition_code() == ConditionCode::None {
            return self.barrier(true);
        }
        let code = i.condition_code() as u8 - 1;
        if i.op_count() == 1 {
            let holds = self.condition(code);
            let value = self.op(Op::BoolToInt, &[holds]);
            let place = self.operand(i, 0);
            return self.write(i, place, 0, value);
        }
        let place = self.operand(i, 1);
        let (new, old) = (self.read(place, 0), self.register(i.op0_register()));
        let holds = self.condition(code);
        let chosen = self.op(Op::Ite, &[holds, new, old]);
        self.set_register(i.op0_register(), chosen);
    }
}
