//! Instructions on general registers, memory and flags.

use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

use super::ir::{Op, Slice, Source, Value, code};
use super::lift::{Lifter, Place, is_locked};
use super::state;
use crate::hooks::operand::SCRATCH_BELOW_RSP;

const RSP: Slice = state::general(4);
const RBP: Slice = state::general(5);
const RCX: Slice = state::general(1);
const ZERO: Value = Value::Known(0);

/// Bytes of an operand.
fn bytes(instruction: &Instruction, operand: u32) -> usize {
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
            M::Inc | M::Dec => self.step(i),
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
                let (old, new) = (self.register(i.op0_register().full_register()), self.read(place, 0));
                let sum = self.opaque(i, &[old, new]);
                self.set_register(i.op0_register().full_register(), sum);
            }
            M::Bswap => {
                let value = self.register(i.op0_register());
                let swapped = self.opaque(i, &[value]);
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
            M::Movbe => self.opaque(i, &[value]),
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

    fn step(&mut self, i: &Instruction) {
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

    /// The count of a shift or rotation in its last operand, cut to 5 or 6 bits.
    fn shift_count(&mut self, i: &Instruction, size: usize) -> Value {
        let mask = Value::Known(if size == 8 { 63 } else { 31 });
        let count = match i.op_kind(i.op_count() - 1) {
            OpKind::Register => self.register(Register::CL),
            _ => Value::Known(i.try_immediate(i.op_count() - 1).unwrap_or(1) & 0xff),
        };
        self.op(Op::And(8), &[count, mask])
    }

    /// Flags that change only if something was shifted.
    fn set_flags_if(&mut self, count: Value, source: Value, dep1: Value, dep2: Value) {
        let shifts = self.op(Op::Differ(8), &[count, ZERO]);
        let parts = [(state::CC_OP, source), (state::CC_DEP1, dep1), (state::CC_DEP2, dep2)];
        for (slice, new) in parts {
            let old = self.get(slice);
            let chosen = self.op(Op::Choose, &[shifts, new, old]);
            self.put(slice, chosen);
        }
        self.put(state::CC_NDEP, ZERO);
    }

    fn shift(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let value = self.read(place, 0);
        let count = self.shift_count(i, size);
        let signed = i.mnemonic() == M::Sar;
        let wide = match (signed, size) {
            (_, 8) => value,
            (true, _) => self.op(Op::Sign(8 * size as u8, 64), &[value]),
            (false, _) => self.widened(value, size),
        };
        let (op, source) = match i.mnemonic() {
            M::Shr => (Op::Shr(64), Source::Shr),
            M::Sar => (Op::Sar(64), Source::Shr),
            _ => (Op::Shl(64), Source::Shl),
        };
        let shifted = self.op(op, &[wide, count]);
        let mask = Value::Known(if size == 8 { 63 } else { 31 });
        let less = self.op(Op::Sub(8), &[count, Value::Known(1)]);
        let less = self.op(Op::And(8), &[less, mask]);
        let before = self.op(op, &[wide, less]);
        self.set_flags_if(count, source.value(size), shifted, before);
        let result = self.low(shifted, size);
        self.write(i, place, 0, result);
    }

    fn double_shift(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let (value, other) = (self.read(place, 0), self.register(i.op1_register()));
        let count = self.shift_count(i, size);
        let shifts = self.op(Op::Differ(8), &[count, ZERO]);
        let double = Op::Double(i.mnemonic() == M::Shld, 8 * size as u8);
        let shifted = self.op(double, &[value, other, count]);
        let shifted = self.op(Op::Choose, &[shifts, shifted, value]);
        let less = self.op(Op::Sub(8), &[count, Value::Known(1)]);
        let before = self.op(double, &[value, other, less]);
        let source = if i.mnemonic() == M::Shld { Source::Shl } else { Source::Shr };
        let (dep1, dep2) = (self.widened(shifted, size), self.widened(before, size));
        self.set_flags_if(count, source.value(size), dep1, dep2);
        self.write(i, place, 0, shifted);
    }

    fn rotate(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let value = self.read(place, 0);
        let count = self.shift_count(i, size);
        let result = self.opaque(i, &[value, count]);
        let flags = self.flags();
        let shifts = self.op(Op::Differ(8), &[count, ZERO]);
        let dep = self.widened(result, size);
        let parts = [
            (state::CC_OP, Source::Other.value(size)),
            (state::CC_DEP1, dep),
            (state::CC_DEP2, ZERO),
            (state::CC_NDEP, flags),
        ];
        for (slice, new) in parts {
            let old = self.get(slice);
            let chosen = self.op(Op::Choose, &[shifts, new, old]);
            self.put(slice, chosen);
        }
        self.write(i, place, 0, result);
    }

    fn rotate_carry(&mut self, i: &Instruction) {
        let size = bytes(i, 0);
        let place = self.place(i, 0);
        let value = self.read(place, 0);
        let flags = self.flags();
        let count = self.shift_count(i, size);
        let result = self.opaque(i, &[value, count, flags]);
        let new_flags = self.opaque(i, &[value, count, flags, Value::Known(1)]);
        self.set_all_flags(new_flags);
        self.write(i, place, 0, result);
    }

    fn stack(&mut self, i: &Instruction) {
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

    fn transfer(&mut self, i: &Instruction) {
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

    fn exchange(&mut self, i: &Instruction) {
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

    fn exchange_add(&mut self, i: &Instruction) {
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

    fn compare_exchange(&mut self, i: &Instruction) {
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

    fn compare_exchange_pair(&mut self, i: &Instruction) {
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

    fn multiply(&mut self, i: &Instruction) {
        if i.op_count() > 1 {
            let (from, by) = if i.op_count() == 3 { (1, 2) } else { (0, 1) };
            let size = bytes(i, 0);
            let places = (self.place(i, from), self.place(i, by));
            let (one, other) = (self.read(places.0, 0), self.read(places.1, 0));
            let product = self.opaque(i, &[one, other]);
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
            self.set_register(low, both);
            return self.set_register(high, both);
        }
        let one = self.register(low);
        let (dep1, dep2) = (self.widened(one, size), self.widened(by, size));
        self.set_flags(Source::Other.value(size), dep1, dep2, ZERO);
        let product = self.opaque(i, &[one, by]);
        if size == 1 {
            return self.set_register(Register::AX, product);
        }
        self.set_register(high, product);
        self.set_register(low, product);
    }

    fn bit(&mut self, i: &Instruction) {
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

    fn set_bit_flags(&mut self, i: &Instruction, value: Value, number: Value) {
        let flags = self.flags();
        let flags = self.opaque(i, &[flags, value, number]);
        self.set_all_flags(flags);
    }

    fn bit_scan(&mut self, i: &Instruction) {
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

    fn general_vex(&mut self, i: &Instruction) {
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

    fn sign(&mut self, i: &Instruction) {
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

    fn flag_moves(&mut self, i: &Instruction) {
        let flags = self.flags();
        match i.mnemonic() {
            M::Lahf => {
                let value = self.opaque(i, &[flags]);
                self.set_register(Register::AH, value);
            }
            M::Sahf => {
                let value = self.register(Register::AH);
                let flags = self.opaque(i, &[flags, value]);
                self.set_all_flags(flags);
            }
            _ => {
                let flags = self.opaque(i, &[flags]);
                self.set_all_flags(flags);
            }
        }
    }

    /// JRCXZ, LOOP and their kin.
    fn count(&mut self, i: &Instruction) {
        use iced_x86::Code as C;
        let narrow = matches!(
            i.code(),
            C::Jecxz_rel8_64 | C::Loop_rel8_64_ECX | C::Loope_rel8_64_ECX | C::Loopne_rel8_64_ECX
        );
        let bits = if narrow { 32 } else { 64 };
        let old = self.get(RCX);
        if matches!(i.mnemonic(), M::Jrcxz | M::Jecxz | M::Jcxz) {
            let count = self.low(old, usize::from(bits) / 8);
            let zero = self.op(Op::Equal(bits), &[count, ZERO]);
            return self.exit(0, zero);
        }
        let mut count = self.op(Op::Sub(64), &[old, Value::Known(1)]);
        if narrow {
            count = self.low(count, 4);
            count = self.widened(count, 4);
        }
        self.put(RCX, count);
        let mut again = self.op(Op::Differ(64), &[count, ZERO]);
        if i.mnemonic() != M::Loop {
            let holds = self.condition(if i.mnemonic() == M::Loope { code::Z } else { code::Z + 1 });
            again = self.op(Op::And(1), &[again, holds]);
        }
        self.exit(0, again);
    }

    fn string(&mut self, i: &Instruction) {
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
            let again = self.condition(if i.has_repne_prefix() { code::Z + 1 } else { code::Z });
            self.exit(1, again);
        }
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
            let value = self.op(Op::Narrow(8), &[holds]);
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
