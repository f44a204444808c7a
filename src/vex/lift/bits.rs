//! Bit tests, bit scans, byte swaps, sign extensions of the accumulator, BMI1 and BMI2.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::ctx::{LiftCtx, Operand, bytes};
use crate::vex::guest_state::RSP;
use crate::vex::ir::{CcOp, Op, Value, ZERO, mask};
use crate::x86::address::SCRATCH_BELOW_RSP;

impl LiftCtx {
    pub(super) fn bit(&mut self, i: &Instruction) {
        if i.op1_kind() == OpKind::Register {
            return self.bit_by_register(i);
        }
        let size = bytes(i, 0);
        let number = i.immediate(1) & (8 * size as u64 - 1);
        let place = self.operand(i, 0);
        let old = self.read(place, 0);
        let old = self.zext(old, size);
        let bit = Value::Const(1 << number);
        let all = Value::Const(!(1 << number));
        let new = match i.mnemonic() {
            M::Bt => None,
            M::Bts => Some(self.op(Op::Or(64), &[bit, old])),
            M::Btr => Some(self.op(Op::And(64), &[all, old])),
            _ => Some(self.op(Op::Xor(64), &[bit, old])),
        };
        if let Some(new) = new {
            let new = self.trunc(new, size);
            self.write(i, place, 0, new);
        }
        self.set_bit_flags(old, Value::Const(number));
    }

    /// Bit test by a register. VEX spills a register operand to a scratch slot below the stack
    /// first.
    fn bit_by_register(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let mut number = self.register(i.op1_register());
        if size < 8 {
            number = self.op(Op::Sext(8 * size as u8, 64), &[number]);
        }
        let place = self.operand(i, 0);
        let mut below = None;
        let base = match place {
            Operand::Memory(address) => address,
            _ => {
                let old = self.get(RSP);
                let scratch = self.op(Op::Sub(64), &[old, Value::Const(SCRATCH_BELOW_RSP)]);
                self.put(RSP, scratch);
                let value = self.read(place, 0);
                self.store(0, scratch, value);
                number = self.op(Op::And(64), &[number, Value::Const(8 * size as u64 - 1)]);
                below = Some(scratch);
                scratch
            }
        };
        let event = u8::from(below.is_some());
        let offset = self.op(Op::Sar(64), &[number, Value::Const(3)]);
        let address = self.op(Op::Add(64), &[base, offset]);
        let bit = self.op(Op::And(64), &[number, Value::Const(7)]);
        let bit = self.trunc(bit, 1);
        let mask = self.op(Op::Shl(8), &[Value::Const(1), bit]);
        let byte = self.load(event, address);
        let tests = i.mnemonic() == M::Bt;
        if !tests {
            let changed = match i.mnemonic() {
                M::Bts => self.op(Op::Or(8), &[byte, mask]),
                M::Btr => {
                    let all = self.op(Op::Not(8), &[mask]);
                    self.op(Op::And(8), &[byte, all])
                }
                _ => self.op(Op::Xor(8), &[byte, mask]),
            };
            match below {
                None => self.write(i, Operand::Memory(address), event, changed),
                Some(_) => self.store(event, address, changed),
            }
        }
        let byte = self.zext(byte, 1);
        self.set_bit_flags(byte, bit);
        if let Some(scratch) = below {
            if !tests {
                let value = self.load(2, scratch);
                self.set_register(i.op0_register(), value);
            }
            let back = self.op(Op::Add(64), &[scratch, Value::Const(SCRATCH_BELOW_RSP)]);
            self.put(RSP, back);
        }
    }

    /// Sets CF to a bit of the value and keeps the other flags.
    fn set_bit_flags(&mut self, value: Value, number: Value) {
        let flags = self.flags();
        let kept = self.op(Op::And(64), &[flags, Value::Const(0x8d4)]);
        let bit = self.op(Op::Shr(64), &[value, number]);
        let bit = self.op(Op::And(64), &[bit, Value::Const(1)]);
        let flags = self.op(Op::Or(64), &[kept, bit]);
        self.set_all_flags(flags);
    }

    /// Flag at this position: set if the value is zero.
    fn flag_if_zero(&mut self, value: Value, flag: u64) -> Value {
        let zero = self.op(Op::CmpEq(64), &[value, ZERO]);
        let zero = self.op(Op::BoolToInt, &[zero]);
        self.op(Op::Shl(64), &[zero, Value::Const(flag)])
    }

    pub(super) fn bit_scan(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u64;
        let place = self.operand(i, 1);
        let value = self.read(place, 0);
        let wide = self.zext(value, size);
        if matches!(i.mnemonic(), M::Bsf | M::Bsr) {
            let flags = self.opaque(i, &[wide]);
            self.set_all_flags(flags);
            let old = self.register(i.op0_register());
            let result = self.opaque(i, &[value, old]);
            return self.set_register(i.op0_register(), result);
        }
        if i.mnemonic() == M::Popcnt {
            let result = self.popcnt(value, bits as u8);
            self.set_register(i.op0_register(), result);
            let flags = self.flag_if_zero(wide, 6);
            return self.set_all_flags(flags);
        }
        let counted = match i.mnemonic() {
            M::Lzcnt => self.op(Op::Shl(64), &[wide, Value::Const(64 - bits)]),
            _ => wide,
        };
        let none = self.op(Op::CmpEq(64), &[counted, ZERO]);
        let zeroes = match i.mnemonic() {
            M::Lzcnt => self.op(Op::Clz, &[counted]),
            _ => self.opaque(i, &[counted]),
        };
        let zeroes = self.op(Op::Ite, &[none, Value::Const(bits), zeroes]);
        let result = self.trunc(zeroes, size);
        self.set_register(i.op0_register(), result);
        let result = self.zext(result, size);
        let zero = self.flag_if_zero(result, 6);
        let carry = self.flag_if_zero(wide, 0);
        let flags = self.op(Op::Or(64), &[zero, carry]);
        self.set_all_flags(flags);
    }

    /// Population count by sums of neighbours, of pairs and so on, as VEX does it.
    fn popcnt(&mut self, mut value: Value, bits: u8) -> Value {
        let mut width = 1;
        while width < bits {
            let low = (u64::MAX / ((1_u64 << width) + 1)) & mask(bits);
            let even = self.op(Op::And(bits), &[value, Value::Const(low)]);
            let odd = self.op(Op::Shr(bits), &[value, Value::Const(u64::from(width))]);
            let odd = self.op(Op::And(bits), &[odd, Value::Const(low)]);
            value = self.op(Op::Add(bits), &[even, odd]);
            width *= 2;
        }
        value
    }

    pub(super) fn bswap(&mut self, i: &Instruction) {
        let value = self.register(i.op0_register());
        let swapped = self.byte_swap(value, bytes(i, 0));
        self.set_register(i.op0_register(), swapped);
    }

    /// Reverses the bytes.
    pub(super) fn byte_swap(&mut self, value: Value, size: usize) -> Value {
        let bits = 8 * size as u8;
        let shift = |this: &mut Self, op: Op, by: u64| this.op(op, &[value, Value::Const(by)]);
        match size {
            2 => {
                let (up, down) = (shift(self, Op::Shl(16), 8), shift(self, Op::Shr(16), 8));
                self.op(Op::Or(16), &[up, down])
            }
            4 => {
                let top = shift(self, Op::Shl(bits), 24);
                let parts =
                    [(Op::Shl(bits), 8, 0xff_0000), (Op::Shr(bits), 8, 0xff00), (Op::Shr(bits), 24, 0xff)];
                let [second, third, last] = parts.map(|(op, by, part)| {
                    let moved = shift(self, op, by);
                    self.op(Op::And(bits), &[moved, Value::Const(part)])
                });
                let low = self.op(Op::Or(bits), &[third, last]);
                let low = self.op(Op::Or(bits), &[second, low]);
                self.op(Op::Or(bits), &[top, low])
            }
            _ => {
                let mut value = value;
                for (by, upper) in [(8, 0xff00_ff00_ff00_ff00), (16, 0xffff_0000_ffff_0000), (32, !0 << 32)] {
                    let (by, upper) = (Value::Const(by), Value::Const(upper));
                    let down = self.op(Op::And(64), &[value, upper]);
                    let down = self.op(Op::Shr(64), &[down, by]);
                    let up = self.op(Op::Shl(64), &[value, by]);
                    let up = self.op(Op::And(64), &[up, upper]);
                    value = self.op(Op::Or(64), &[down, up]);
                }
                value
            }
        }
    }

    pub(super) fn bmi(&mut self, i: &Instruction) {
        // MULX has two destinations.
        let first = if i.mnemonic() == M::Mulx { 2 } else { 1 };
        let mut operands = Vec::new();
        for operand in first..i.op_count() {
            let place = self.operand(i, operand);
            operands.push(self.read(place, 0));
        }
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let one = operands.first().copied().unwrap_or(ZERO);
        let other = operands.get(1).copied().unwrap_or(ZERO);
        let result = match i.mnemonic() {
            M::Mulx => {
                let by = self.register(if size == 8 { Register::RDX } else { Register::EDX });
                let product = self.opaque(i, &[by, one]);
                return self.set_halves(size, product, i.op1_register(), i.op0_register());
            }
            M::Andn => {
                let without = self.op(Op::Not(bits), &[one]);
                self.op(Op::And(bits), &[without, other])
            }
            M::Blsr | M::Blsmsk => {
                let less = self.op(Op::Sub(bits), &[one, Value::Const(1)]);
                let op = if i.mnemonic() == M::Blsr { Op::And(bits) } else { Op::Xor(bits) };
                self.op(op, &[less, one])
            }
            M::Shlx | M::Shrx | M::Sarx => {
                let count = self.op(Op::And(bits), &[other, Value::Const(u64::from(bits) - 1)]);
                let count = self.op(Op::Trunc(8), &[count]);
                let op = match i.mnemonic() {
                    M::Shlx => Op::Shl(bits),
                    M::Shrx => Op::Shr(bits),
                    _ => Op::Sar(bits),
                };
                self.op(op, &[one, count])
            }
            M::Pext => {
                let chosen = self.op(Op::And(bits), &[one, other]);
                let operands = [self.zext(chosen, size), self.zext(other, size)];
                let result = self.ccall(&operands);
                self.trunc(result, size)
            }
            _ => self.ccall(&operands),
        };
        self.set_register(i.op0_register(), result);
        if matches!(i.mnemonic(), M::Andn | M::Blsr | M::Blsmsk) {
            let dep = self.zext(result, size);
            let dep2 = if i.mnemonic() == M::Andn { ZERO } else { self.zext(one, size) };
            self.set_flags(CcOp::Other.value(size), dep, dep2, ZERO);
        }
    }

    pub(super) fn sign_extend(&mut self, i: &Instruction) {
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
                self.op(Op::Sext(8 * from.size() as u8, 8 * to.size() as u8), &[value])
            }
            _ => {
                let bits = 8 * from.size() as u8;
                self.op(Op::Sar(bits), &[value, Value::Const(u64::from(bits) - 1)])
            }
        };
        self.set_register(to, value);
    }
}
