//! Instructions on general registers, memory and flags.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::ir::{Op, Slice, Source, Value};
use super::lift::Lifter;
use super::state;

pub(super) const RSP: Slice = state::general(4);
pub(super) const RBP: Slice = state::general(5);
pub(super) const RCX: Slice = state::general(1);
pub(super) const ZERO: Value = Value::Known(0);

/// Bytes of an operand.
pub(super) fn bytes(instruction: &Instruction, operand: u32) -> usize {
    match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size(),
        _ => instruction.memory_size().size(),
    }
}

impl Lifter {
    /// An instruction that has no vector operands.
    pub(super) fn integer(&mut self, i: &Instruction) {
        match i.mnemonic() {
            M::Wait | M::Nop | M::Endbr64 | M::Endbr32 | M::Pause | M::Reservednop | M::Clflush => {}
            M::Prefetch | M::Prefetchw | M::Prefetchnta | M::Prefetcht0 | M::Prefetcht1 => {}
            M::Prefetcht2 | M::Prefetchwt1 => {}
            M::Mov | M::Movnti | M::Movzx | M::Movsx | M::Movsxd | M::Movbe => self.mov(i),
            M::Lea => {
                let address = self.address(i);
                let value = self.low(address, i.op0_register().size());
                self.set_register(i.op0_register(), value);
            }
            M::Add | M::Sub | M::And | M::Or | M::Xor | M::Cmp | M::Test | M::Neg => self.arithmetic(i),
            M::Adc | M::Sbb => self.with_carry(i),
            M::Inc | M::Dec => self.increment(i),
            M::Not => {
                let place = self.place(i, 0);
                let old = self.read(place, 0);
                let new = self.op(Op::Not(8 * bytes(i, 0) as u8), &[old]);
                self.write(i, place, 0, new);
            }
            M::Shl | M::Sal | M::Shr | M::Sar => self.shift(i),
            M::Rol | M::Ror => self.rotate(i),
            M::Rcl | M::Rcr => self.rotate_carry(i),
            M::Shld | M::Shrd => self.double_shift(i),
            M::Push | M::Pushf | M::Pushfq | M::Pop | M::Popf | M::Popfq => self.stack(i),
            M::Call | M::Ret | M::Jmp | M::Leave | M::Enter => self.transfer(i),
            M::Xchg => self.exchange(i),
            M::Xadd => self.exchange_add(i),
            M::Cmpxchg => self.compare_exchange(i),
            M::Cmpxchg8b | M::Cmpxchg16b => self.compare_exchange_pair(i),
            M::Mul | M::Imul | M::Div | M::Idiv => self.multiply(i),
            M::Bt | M::Bts | M::Btr | M::Btc => self.bit(i),
            M::Bsf | M::Bsr | M::Popcnt | M::Lzcnt | M::Tzcnt => self.bit_scan(i),
            M::Andn | M::Blsr | M::Blsmsk | M::Mulx | M::Pext | M::Shlx | M::Shrx | M::Sarx | M::Rorx => {
                self.general_vex(i);
            }
            M::Crc32 => {
                let place = self.place(i, 1);
                let new = self.read(place, 0);
                let old = self.register(i.op0_register().full_register());
                let old = self.op(Op::And(64), &[old, Value::Known(u64::from(u32::MAX))]);
                let new = self.widened(new, bytes(i, 1));
                let sum = self.call(&[old, new]);
                let sum = self.low(sum, 4);
                let sum = self.widened(sum, 4);
                self.set_register(i.op0_register().full_register(), sum);
            }
            M::Bswap => {
                let value = self.register(i.op0_register());
                let swapped = self.swapped(value, bytes(i, 0));
                self.set_register(i.op0_register(), swapped);
            }
            M::Cbw | M::Cwde | M::Cdqe | M::Cwd | M::Cdq | M::Cqo => self.sign(i),
            M::Sahf | M::Lahf | M::Clc | M::Stc | M::Cmc => self.flag_moves(i),
            M::Cld => self.put(state::DIRECTION, Value::Known(1)),
            M::Std => self.put(state::DIRECTION, Value::Known(u64::MAX)),
            M::Mfence | M::Lfence | M::Sfence => self.barrier(false),
            _ if i.is_string_instruction() => self.string(i),
            _ if i.is_jcc_short_or_near() => {
                // Of an odd condition VEX tests the even one, and leaves where that holds.
                let jumps = self.condition((i.condition_code() as u8 - 1) & !1);
                self.exit(0, jumps);
            }
            M::Loop | M::Loope | M::Loopne | M::Jrcxz | M::Jecxz | M::Jcxz => self.count(i),
            _ => self.other(i),
        }
    }

    fn mov(&mut self, i: &Instruction) {
        let from = self.place(i, 1);
        let value = self.read(from, 0);
        let (wide, narrow) = (bytes(i, 0) as u8, bytes(i, 1) as u8);
        let value = match i.mnemonic() {
            M::Movzx => self.op(Op::Widen(8 * narrow), &[value]),
            M::Movsx | M::Movsxd => self.op(Op::Sign(8 * narrow, 8 * wide), &[value]),
            M::Movbe => self.swapped(value, bytes(i, 1)),
            _ => value,
        };
        let to = self.place(i, 0);
        self.write(i, to, 0, value);
    }

    fn arithmetic(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let to = self.place(i, 0);
        if i.mnemonic() == M::Neg {
            let value = self.read(to, 0);
            let result = self.op(Op::Sub(bits), &[ZERO, value]);
            self.write(i, to, 0, result);
            let dep = self.widened(value, size);
            return self.set_flags(Source::Sub.value(size), ZERO, dep, ZERO);
        }
        self.forget(i);
        let from = self.place(i, 1);
        let (left, right) = (self.read(to, 0), self.read(from, 0));
        let (op, source) = match i.mnemonic() {
            M::Add => (Op::Add(bits), Source::Add),
            M::Sub | M::Cmp => (Op::Sub(bits), Source::Sub),
            M::And | M::Test => (Op::And(bits), Source::Logic),
            M::Or => (Op::Or(bits), Source::Logic),
            _ => (Op::Xor(bits), Source::Logic),
        };
        let result = self.op(op, &[left, right]);
        if !matches!(i.mnemonic(), M::Cmp | M::Test) {
            self.write(i, to, 0, result);
        }
        if source == Source::Logic {
            let dep = self.widened(result, size);
            self.set_flags(source.value(size), dep, ZERO, ZERO);
        } else {
            let (dep1, dep2) = (self.widened(left, size), self.widened(right, size));
            self.set_flags(source.value(size), dep1, dep2, ZERO);
        }
    }

    /// `xor`, `sub` and `sbb` of a register by itself do not depend on it.
    fn forget(&mut self, i: &Instruction) {
        let same = i.op0_kind() == OpKind::Register
            && i.op1_kind() == OpKind::Register
            && i.op0_register() == i.op1_register();
        if same && matches!(i.mnemonic(), M::Xor | M::Sub | M::Sbb) {
            self.set_register(i.op0_register(), ZERO);
        }
    }

    fn with_carry(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        self.forget(i);
        let (to, from) = (self.place(i, 0), self.place(i, 1));
        let (left, right) = (self.read(to, 0), self.read(from, 0));
        let carry = self.carry();
        let carry = self.op(Op::And(64), &[carry, Value::Known(1)]);
        let narrow = self.low(carry, size);
        let adds = i.mnemonic() == M::Adc;
        let op = if adds { Op::Add(bits) } else { Op::Sub(bits) };
        let sum = self.op(op, &[left, right]);
        let sum = self.op(op, &[sum, narrow]);
        self.write(i, to, 0, sum);
        let dep1 = self.widened(left, size);
        let dep2 = self.op(Op::Xor(bits), &[right, narrow]);
        let dep2 = self.widened(dep2, size);
        let source = if adds { Source::Adc } else { Source::Sbb };
        self.set_flags(source.value(size), dep1, dep2, carry);
    }

    fn increment(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let bits = 8 * size as u8;
        let place = self.place(i, 0);
        let old = self.read(place, 0);
        let (op, source) = match i.mnemonic() {
            M::Inc => (Op::Add(bits), Source::Inc),
            _ => (Op::Sub(bits), Source::Dec),
        };
        let new = self.op(op, &[old, Value::Known(1)]);
        self.write(i, place, 0, new);
        let carry = self.carry();
        let dep = self.widened(new, size);
        self.set_flags(source.value(size), dep, ZERO, carry);
    }

    fn multiply(&mut self, i: &Instruction) {
        if i.op_count() > 1 {
            let (from, by) = if i.op_count() == 3 { (1, 2) } else { (1, 0) };
            let size = bytes(i, 0);
            let places = (self.place(i, from), self.place(i, by));
            let (one, other) = (self.read(places.0, 0), self.read(places.1, 0));
            let product = self.op(Op::Mul(8 * size as u8), &[one, other]);
            self.set_register(i.op0_register(), product);
            let (dep1, dep2) = (self.widened(one, size), self.widened(other, size));
            return self.set_flags(Source::Other.value(size), dep1, dep2, ZERO);
        }
        let size = bytes(i, 0);
        let place = self.place(i, 0);
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
        let (dep1, dep2) = (self.widened(one, size), self.widened(by, size));
        self.set_flags(Source::Other.value(size), dep1, dep2, ZERO);
        let op = match i.mnemonic() {
            M::Imul if size == 4 => Op::MulSigned,
            _ => Op::Opaque(i.mnemonic() as u16, 2),
        };
        let product = self.op(op, &[one, by]);
        if size == 1 {
            return self.set_register(Register::AX, product);
        }
        self.set_halves(size, product, low, high);
    }

    /// Two registers from one value: a product, or a quotient and what is left.
    pub(super) fn set_halves(&mut self, size: usize, both: Value, low: Register, high: Register) {
        let bits = 8 * size as u8;
        let upper = self.op(Op::High(2 * bits), &[both]);
        self.set_register(high, upper);
        let lower = self.op(Op::Narrow(bits), &[both]);
        self.set_register(low, lower);
    }

    fn flag_moves(&mut self, i: &Instruction) {
        // All but the flags that SAHF and LAHF know.
        const SEEN: Value = Value::Known(0xd5);
        let rax = state::general(0);
        let flags = self.flags();
        let (op, by) = match i.mnemonic() {
            M::Lahf => {
                let old = self.get(rax);
                let kept = self.op(Op::And(64), &[old, Value::Known(!0xff00)]);
                let seen = self.op(Op::And(64), &[flags, SEEN]);
                let seen = self.op(Op::Or(64), &[seen, Value::Known(2)]);
                let seen = self.op(Op::Shl(64), &[seen, Value::Known(8)]);
                let new = self.op(Op::Or(64), &[kept, seen]);
                return self.put(rax, new);
            }
            M::Sahf => {
                let kept = self.op(Op::And(64), &[flags, Value::Known(0x800)]);
                let value = self.get(rax);
                let value = self.op(Op::Shr(64), &[value, Value::Known(8)]);
                let value = self.op(Op::And(64), &[value, SEEN]);
                let flags = self.op(Op::Or(64), &[kept, value]);
                return self.set_all_flags(flags);
            }
            M::Clc => (Op::And(64), !1),
            M::Stc => (Op::Or(64), 1),
            _ => (Op::Xor(64), 1),
        };
        let flags = self.op(op, &[flags, Value::Known(by)]);
        self.set_all_flags(flags);
    }

    /// Conditional moves and sets by their condition; of what is left nothing is known.
    fn other(&mut self, i: &Instruction) {
        use iced_x86::ConditionCode;
        if i.condition_code() == ConditionCode::None {
            return self.barrier(true);
        }
        let code = i.condition_code() as u8 - 1;
        if i.op_count() == 1 {
            let holds = self.condition(code);
            let value = self.op(Op::Number, &[holds]);
            let place = self.place(i, 0);
            return self.write(i, place, 0, value);
        }
        let place = self.place(i, 1);
        let (new, old) = (self.read(place, 0), self.register(i.op0_register()));
        let holds = self.condition(code);
        let chosen = self.op(Op::Choose, &[holds, new, old]);
        self.set_register(i.op0_register(), chosen);
    }
}
