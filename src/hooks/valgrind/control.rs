//! Push, pop, calls, returns and jumps.

use iced_x86::{Instruction, Mnemonic as M, OpKind};

use super::integer::{RBP, RSP};
use super::ir::{Op, Value};
use super::lift::{Lifter, Place};
use super::state;

impl Lifter {
    pub(super) fn stack(&mut self, i: &Instruction) {
        let size = i.stack_pointer_increment().unsigned_abs();
        match i.mnemonic() {
            M::Push | M::Pushf | M::Pushfq => {
                let (value, event) = match i.mnemonic() {
                    M::Push => {
                        let place = self.place(i, 0);
                        (self.read(place, 0), u8::from(matches!(place, Place::Memory(_))))
                    }
                    _ => (self.flags(), 0),
                };
                let old = self.get(RSP);
                let new = self.op(Op::Sub(64), &[old, Value::Known(u64::from(size))]);
                self.put(RSP, new);
                self.store(event, new, value);
            }
            _ => {
                let old = self.get(RSP);
                let value = self.load(0, old);
                let new = self.op(Op::Add(64), &[old, Value::Known(u64::from(size))]);
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
                        self.put(state::DIRECTION, flags);
                    }
                }
            }
        }
    }

    pub(super) fn transfer(&mut self, i: &Instruction) {
        let indirect = i.op_count() > 0 && !matches!(i.op0_kind(), OpKind::NearBranch64);
        match i.mnemonic() {
            M::Jmp if indirect => {
                let place = self.place(i, 0);
                self.next = Some(self.read(place, 0));
            }
            M::Jmp => {}
            M::Call => {
                let mut event = 0;
                if indirect {
                    let place = self.place(i, 0);
                    event = u8::from(matches!(place, Place::Memory(_)));
                    self.next = Some(self.read(place, 0));
                }
                let old = self.get(RSP);
                let new = self.op(Op::Sub(64), &[old, Value::Known(8)]);
                self.put(RSP, new);
                self.store(event, new, Value::Known(i.next_ip()));
                self.barrier(false);
            }
            M::Ret => {
                let old = self.get(RSP);
                let target = self.load(0, old);
                self.used(target);
                let more = if i.op_count() > 0 { i.immediate(0) } else { 0 };
                let new = self.op(Op::Add(64), &[old, Value::Known(8 + more)]);
                self.put(RSP, new);
                self.barrier(false);
            }
            M::Leave => {
                let frame = self.get(RBP);
                self.put(RSP, frame);
                let old = self.load(0, frame);
                self.put(RBP, old);
                let new = self.op(Op::Add(64), &[frame, Value::Known(8)]);
                self.put(RSP, new);
            }
            _ => {
                // Level 0, the only one that VEX knows.
                let (frame, old) = (self.get(RBP), self.get(RSP));
                let pushed = self.op(Op::Sub(64), &[old, Value::Known(8)]);
                self.put(RSP, pushed);
                self.store(0, pushed, frame);
                self.put(RBP, pushed);
                let room = Value::Known(i.immediate(0));
                let new = self.op(Op::Sub(64), &[pushed, room]);
                self.put(RSP, new);
            }
        }
    }
}
