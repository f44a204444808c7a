//! Stack operations, calls, returns and jumps.

use iced_x86::{Instruction, Mnemonic as M, OpKind};

use super::ctx::{LiftCtx, Operand};
use crate::vex::guest_state::{self as state, RBP, RCX, RSP};
use crate::vex::ir::{Op, Value, ZERO, cond};
use crate::x86::address;

impl LiftCtx {
    pub(super) fn push_pop(&mut self, i: &Instruction) {
        let size = i.stack_pointer_increment().unsigned_abs();
        match i.mnemonic() {
            M::Push | M::Pushf | M::Pushfq => {
                let (value, event) = match i.mnemonic() {
                    M::Push => {
                        let place = self.operand(i, 0);
                        (self.read(place, 0), u8::from(matches!(place, Operand::Memory(_))))
                    }
                    _ => (self.flags(), 0),
                };
                let old = self.get(RSP);
                let new = self.op(Op::Sub(64), &[old, Value::Const(u64::from(size))]);
                self.put(RSP, new);
                self.store(event, new, value);
            }
            _ => {
                let old = self.get(RSP);
                let value = self.load(0, old);
                let new = self.op(Op::Add(64), &[old, Value::Const(u64::from(size))]);
                self.put(RSP, new);
                match i.mnemonic() {
                    M::Pop if i.op0_kind() == OpKind::Memory => {
                        let address = self.address(i);
                        self.store(1, address, value);
                    }
                    M::Pop => self.set_register(i.op0_register(), value),
                    _ => {
                        let flags = self.opaque(i, &[value]);
                        self.set_all_flags(flags);
                        self.put(state::DFLAG, flags);
                    }
                }
            }
        }
    }

    pub(super) fn jump_call_return(&mut self, i: &Instruction) {
        let indirect = i.op_count() > 0 && !matches!(i.op0_kind(), OpKind::NearBranch64);
        match i.mnemonic() {
            M::Jmp if indirect => {
                let place = self.operand(i, 0);
                let target = self.read(place, 0);
                self.set_next(target);
            }
            M::Jmp => {}
            M::Call => {
                let mut event = 0;
                if indirect {
                    let place = self.operand(i, 0);
                    event = u8::from(matches!(place, Operand::Memory(_)));
                    let target = self.read(place, 0);
                    self.set_next(target);
                }
                let old = self.get(RSP);
                let new = self.op(Op::Sub(64), &[old, Value::Const(8)]);
                self.put(RSP, new);
                self.store(event, new, Value::Const(i.next_ip()));
                self.barrier(false);
            }
            M::Ret => {
                let old = self.get(RSP);
                let target = self.load(0, old);
                self.keep(target);
                let more = if i.op_count() > 0 { i.immediate(0) } else { 0 };
                let new = self.op(Op::Add(64), &[old, Value::Const(8 + more)]);
                self.put(RSP, new);
                self.barrier(false);
            }
            M::Leave => {
                let frame = self.get(RBP);
                self.put(RSP, frame);
                let old = self.load(0, frame);
                self.put(RBP, old);
                let new = self.op(Op::Add(64), &[frame, Value::Const(8)]);
                self.put(RSP, new);
            }
            _ => {
                // ENTER of level 0, the only one that VEX knows.
                let (frame, old) = (self.get(RBP), self.get(RSP));
                let pushed = self.op(Op::Sub(64), &[old, Value::Const(8)]);
                self.put(RSP, pushed);
                self.store(0, pushed, frame);
                self.put(RBP, pushed);
                let room = Value::Const(i.immediate(0));
                let new = self.op(Op::Sub(64), &[pushed, room]);
                self.put(RSP, new);
            }
        }
    }

    /// Of an odd condition code VEX tests the even one, and exits where that holds.
    pub(super) fn jcc(&mut self, i: &Instruction) {
        let jumps = self.condition((i.condition_code() as u8 - 1) & !1);
        self.exit(0, jumps);
    }

    /// JRCXZ, JECXZ, LOOP, LOOPE and LOOPNE.
    pub(super) fn loop_or_jrcxz(&mut self, i: &Instruction) {
        let narrow = address::counts_ecx(i);
        let bits = if narrow { 32 } else { 64 };
        let old = self.get(RCX);
        if matches!(i.mnemonic(), M::Jrcxz | M::Jecxz | M::Jcxz) {
            let count = self.trunc(old, usize::from(bits) / 8);
            let count = self.zext(count, usize::from(bits) / 8);
            let zero = self.op(Op::CmpEq(64), &[count, ZERO]);
            return self.exit(0, zero);
        }
        let size = usize::from(bits) / 8;
        let count = self.trunc(old, size);
        let count = self.op(Op::Sub(bits), &[count, Value::Const(1)]);
        let count = self.zext(count, size);
        self.put(RCX, count);
        let mut again = self.op(Op::CmpNe(64), &[count, ZERO]);
        if i.mnemonic() != M::Loop {
            let left = self.op(Op::BoolToInt, &[again]);
            let holds = self.condition(if i.mnemonic() == M::Loope { cond::Z } else { cond::NZ });
            let holds = self.op(Op::BoolToInt, &[holds]);
            let both = self.op(Op::And(64), &[left, holds]);
            again = self.op(Op::IntToBool, &[both]);
        }
        self.exit(0, again);
    }
}
