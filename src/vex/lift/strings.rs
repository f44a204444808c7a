//! String instructions.

use iced_x86::{Instruction, Mnemonic as M};

use super::ctx::{LiftCtx, accumulator};
use crate::vex::guest_state::{self as state, RCX, RDI, RSI};
use crate::vex::ir::{CcOp, Op, Value, ZERO, cond};
use crate::x86::cost::{self, Repeat};

/// Repetition of an instruction. VEX ignores the prefix of `rep lods`.
pub(in crate::vex) fn repeat(instruction: &Instruction) -> Option<Repeat> {
    let loads = matches!(instruction.mnemonic(), M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq);
    cost::repeat(instruction).filter(|_| !loads)
}

impl LiftCtx {
    pub(super) fn string(&mut self, i: &Instruction) {
        let repeat = repeat(i);
        if repeat.is_some() {
            let old = self.get(RCX);
            let zero = self.op(Op::CmpEq(64), &[old, ZERO]);
            self.exit(0, zero);
            let count = self.op(Op::Sub(64), &[old, Value::Const(1)]);
            self.put(RCX, count);
        }
        let size = i.memory_size().size();
        let direction = self.get(state::DFLAG);
        let shift = Value::Const(u64::from(size.trailing_zeros()));
        let step = self.op(Op::Shl(64), &[direction, shift]);
        let accumulator = accumulator(size);
        let mut moved = [None; 2];
        match i.mnemonic() {
            M::Movsb | M::Movsw | M::Movsd | M::Movsq => {
                let (to, from) = (self.get(RDI), self.get(RSI));
                let value = self.load(0, from);
                self.store(1, to, value);
                moved = [Some((RDI, to)), Some((RSI, from))];
            }
            M::Stosb | M::Stosw | M::Stosd | M::Stosq => {
                let value = self.register(accumulator);
                let to = self.get(RDI);
                self.store(0, to, value);
                moved[0] = Some((RDI, to));
            }
            M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq => {
                let from = self.get(RSI);
                let value = self.load(0, from);
                self.set_register(accumulator, value);
                moved[0] = Some((RSI, from));
            }
            M::Scasb | M::Scasw | M::Scasd | M::Scasq => {
                let value = self.register(accumulator);
                let at = self.get(RDI);
                let other = self.load(0, at);
                let (dep1, dep2) = (self.zext(value, size), self.zext(other, size));
                self.set_flags(CcOp::Sub.value(size), dep1, dep2, ZERO);
                moved[0] = Some((RDI, at));
            }
            _ => {
                let (to, from) = (self.get(RDI), self.get(RSI));
                let (one, other) = (self.load(0, to), self.load(1, from));
                let (dep1, dep2) = (self.zext(other, size), self.zext(one, size));
                self.set_flags(CcOp::Sub.value(size), dep1, dep2, ZERO);
                moved = [Some((RDI, to)), Some((RSI, from))];
            }
        }
        for (slice, old) in moved.into_iter().flatten() {
            let new = self.op(Op::Add(64), &[old, step]);
            self.put(slice, new);
        }
        if repeat == Some(Repeat::Compare) {
            let again = self.condition(if i.has_repne_prefix() { cond::NZ } else { cond::Z });
            self.exit(1, again);
        }
    }
}
