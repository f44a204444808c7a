//! Counts in RCX, and string instructions.

use iced_x86::{Instruction, Mnemonic as M, Register};

use super::integer::{RCX, ZERO};
use super::ir::{Op, Source, Value, code};
use super::lift::Lifter;
use super::state;

impl Lifter {
    /// JRCXZ, LOOP and their kin.
    pub(super) fn count(&mut self, i: &Instruction) {
        use iced_x86::Code as C;
        let narrow = matches!(
            i.code(),
            C::Jecxz_rel8_64 | C::Loop_rel8_64_ECX | C::Loope_rel8_64_ECX | C::Loopne_rel8_64_ECX
        );
        let bits = if narrow { 32 } else { 64 };
        let old = self.get(RCX);
        if matches!(i.mnemonic(), M::Jrcxz | M::Jecxz | M::Jcxz) {
            let count = self.low(old, usize::from(bits) / 8);
            let count = self.widened(count, usize::from(bits) / 8);
            let zero = self.op(Op::Equal(64), &[count, ZERO]);
            return self.exit(0, zero);
        }
        let size = usize::from(bits) / 8;
        let count = self.low(old, size);
        let count = self.op(Op::Sub(bits), &[count, Value::Known(1)]);
        let count = self.widened(count, size);
        self.put(RCX, count);
        let mut again = self.op(Op::Differ(64), &[count, ZERO]);
        if i.mnemonic() != M::Loop {
            let left = self.op(Op::Number, &[again]);
            let holds = self.condition(if i.mnemonic() == M::Loope { code::Z } else { code::NZ });
            let holds = self.op(Op::Number, &[holds]);
            let both = self.op(Op::And(64), &[left, holds]);
            again = self.op(Op::Bit, &[both]);
        }
        self.exit(0, again);
    }

    pub(super) fn string(&mut self, i: &Instruction) {
        let (rsi, rdi) = (state::general(6), state::general(7));
        let loads = matches!(i.mnemonic(), M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq);
        let repeated = (i.has_rep_prefix() || i.has_repne_prefix()) && !loads;
        if repeated {
            let old = self.get(RCX);
            let zero = self.op(Op::Equal(64), &[old, ZERO]);
            self.exit(0, zero);
            let count = self.op(Op::Sub(64), &[old, Value::Known(1)]);
            self.put(RCX, count);
        }
        let size = i.memory_size().size();
        let direction = self.get(state::DIRECTION);
        let shift = Value::Known(u64::from(size.trailing_zeros()));
        let step = self.op(Op::Shl(64), &[direction, shift]);
        let accumulator = match size {
            1 => Register::AL,
            2 => Register::AX,
            4 => Register::EAX,
            _ => Register::RAX,
        };
        let mut moved = [None; 2];
        match i.mnemonic() {
            M::Movsb | M::Movsw | M::Movsd | M::Movsq => {
                let (to, from) = (self.get(rdi), self.get(rsi));
                let value = self.load(0, from);
                self.store(1, to, value);
                moved = [Some((rdi, to)), Some((rsi, from))];
            }
            M::Stosb | M::Stosw | M::Stosd | M::Stosq => {
                let value = self.register(accumulator);
                let to = self.get(rdi);
                self.store(0, to, value);
                moved[0] = Some((rdi, to));
            }
            M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq => {
                let from = self.get(rsi);
                let value = self.load(0, from);
                self.set_register(accumulator, value);
                moved[0] = Some((rsi, from));
            }
            M::Scasb | M::Scasw | M::Scasd | M::Scasq => {
                let value = self.register(accumulator);
                let at = self.get(rdi);
                let other = self.load(0, at);
                let (dep1, dep2) = (self.widened(value, size), self.widened(other, size));
                self.set_flags(Source::Sub.value(size), dep1, dep2, ZERO);
                moved[0] = Some((rdi, at));
            }
            _ => {
                let (to, from) = (self.get(rdi), self.get(rsi));
                let (one, other) = (self.load(0, to), self.load(1, from));
                let (dep1, dep2) = (self.widened(other, size), self.widened(one, size));
                self.set_flags(Source::Sub.value(size), dep1, dep2, ZERO);
                moved = [Some((rdi, to)), Some((rsi, from))];
            }
        }
        for (slice, old) in moved.into_iter().flatten() {
            let new = self.op(Op::Add(64), &[old, step]);
            self.put(slice, new);
        }
        let compares = matches!(
            i.mnemonic(),
            M::Scasb | M::Scasw | M::Scasd | M::Scasq | M::Cmpsb | M::Cmpsw | M::Cmpsd | M::Cmpsq
        );
        if repeated && compares {
            let again = self.condition(if i.has_repne_prefix() { code::NZ } else { code::Z });
            self.exit(1, again);
        }
    }
}
