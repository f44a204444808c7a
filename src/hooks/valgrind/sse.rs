//! Instructions on XMM and MMX registers. Most write all of a register; what counts is which part of it each reads and
//! writes, and with which type.

use iced_x86::{Code, Instruction, Mnemonic as M, OpKind, Register};

use super::ir::{Op, Slice, Type, Value};
use super::lift::{Lifter, int};
use super::state;

/// An exit that is no branch of the program.
const NO_BRANCH: u8 = 7;
const ZERO: Value = Value::Known(0);
const F4: Type = Type::Float(4);
const F8: Type = Type::Float(8);

impl Lifter {
    /// An instruction with vector operands.
    pub(super) fn sse(&mut self, i: &Instruction) {
        match i.mnemonic() {
            M::Ldmxcsr => {
                let address = self.address(i);
                let value = self.load(0, address);
                let checked = self.opaque(i, &[value]);
                self.put(state::SSE_ROUND, checked);
                self.used(checked);
                return self.barrier(false);
            }
            M::Fxsave | M::Fxsave64 => {
                let address = self.address(i);
                self.check_alignment(address);
                return self.barrier(false);
            }
            M::Stmxcsr => {
                let address = self.address(i);
                let value = self.get(state::SSE_ROUND);
                return self.store(0, address, value);
            }
            M::Maskmovdqu | M::Maskmovq => {
                let to = self.get(state::general(7));
                if i.mnemonic() == M::Maskmovq {
                    self.turn_to_mmx();
                }
                let (value, mask) = (self.part(i, 1, Type::Vector), self.part(i, 2, int(8)));
                let old = self.load(0, to);
                let new = self.opaque(i, &[value, mask, old]);
                return self.store(0, to, new);
            }
            _ => {}
        }
        let is_mmx = (0..i.op_count()).any(|n| i.op_register(n).is_mm());
        if is_mmx || i.mnemonic() == M::Emms {
            self.mmx(i);
        } else if i.op0_kind() == OpKind::Memory {
            self.store_part(i);
        } else if i.op0_register().is_gpr() {
            self.sets_general(i);
        } else {
            self.sets_vector(i);
        }
    }

    /// A part of an operand: of a vector register, or what is loaded.
    fn part(&mut self, i: &Instruction, operand: u32, ty: Type) -> Value {
        self.part_at(i, operand, 0, ty)
    }

    fn part_at(&mut self, i: &Instruction, operand: u32, byte: u16, ty: Type) -> Value {
        let register = i.op_register(operand);
        if i.op_kind(operand) != OpKind::Register {
            let address = self.vector_address(i);
            return self.load(0, address);
        }
        if register.is_gpr() {
            return self.register(register);
        }
        let slice = if register.is_mm() { state::mmx(register) } else { state::vector(register, byte, ty) };
        self.get(slice)
    }

    /// The address of an operand in memory. Many instructions check beforehand that it is a multiple of sixteen.
    fn vector_address(&mut self, i: &Instruction) -> Value {
        let address = self.address(i);
        if is_checked(i) {
            self.check_alignment(address);
        }
        address
    }

    /// Leaves the superblock if an address is not a multiple of sixteen.
    pub(super) fn check_alignment(&mut self, address: Value) {
        let low = self.op(Op::And(64), &[address, Value::Known(15)]);
        let wrong = self.op(Op::Differ(64), &[low, ZERO]);
        self.exit(NO_BRANCH, wrong);
    }

    /// Stores from a vector register.
    fn store_part(&mut self, i: &Instruction) {
        let value = match i.mnemonic() {
            M::Movss | M::Movd => self.part(i, 1, int(4)),
            M::Movsd | M::Movq | M::Movlps | M::Movlpd => self.part(i, 1, int(8)),
            M::Movhps | M::Movhpd => self.part_at(i, 1, 8, int(8)),
            _ => self.part(i, 1, Type::Vector),
        };
        let address = self.vector_address(i);
        self.store(0, address, value);
    }

    /// Results in general registers.
    fn sets_general(&mut self, i: &Instruction) {
        let from = match i.mnemonic() {
            M::Movd => vec![self.part(i, 1, int(4))],
            M::Movq => vec![self.part(i, 1, int(8))],
            M::Cvtss2si | M::Cvttss2si => vec![self.part(i, 1, F4)],
            M::Cvtsd2si | M::Cvttsd2si => vec![self.part(i, 1, F8)],
            M::Movmskps => (0..4).map(|n| self.part_at(i, 1, 4 * n, int(4))).collect(),
            M::Movmskpd => [4, 12].map(|byte| self.part_at(i, 1, byte, int(4))).to_vec(),
            _ => vec![self.part(i, 1, Type::Vector)],
        };
        let value = self.opaque(i, &from);
        self.set_register(i.op0_register(), value);
    }

    /// Writes parts of the first operand that all come from the same values.
    fn put_parts(&mut self, i: &Instruction, parts: &[(u16, Type)], from: &[Value]) {
        let value = self.opaque(i, from);
        for &(byte, ty) in parts {
            self.put(state::vector(i.op0_register(), byte, ty), value);
        }
    }

    /// Results in XMM registers, and in the flags.
    fn sets_vector(&mut self, i: &Instruction) {
        let to = i.op0_register();
        let from_memory = i.op1_kind() == OpKind::Memory;
        match i.mnemonic() {
            // From memory the rest of the register is cleared; from a register it stays.
            M::Movss | M::Movsd | M::Movq if from_memory && i.code() != Code::Movq_xmm_rm64 => {
                let ty = if i.mnemonic() == M::Movss { int(4) } else { int(8) };
                self.put(state::whole(to), ZERO);
                let value = self.part(i, 1, ty);
                self.put(state::vector(to, 0, ty), value);
            }
            M::Movss | M::Movsd => {
                let ty = if i.mnemonic() == M::Movss { int(4) } else { int(8) };
                let value = self.part(i, 1, ty);
                self.put(state::vector(to, 0, ty), value);
            }
            M::Movq if i.op1_register().is_xmm() => {
                let value = self.part(i, 1, int(8));
                self.put(state::vector(to, 0, int(8)), value);
                self.put(state::vector(to, 8, int(8)), ZERO);
            }
            M::Movlps | M::Movlpd => {
                let value = self.part(i, 1, int(8));
                self.put(state::vector(to, 0, int(8)), value);
            }
            M::Movhps | M::Movhpd | M::Movlhps => {
                let value = self.part(i, 1, int(8));
                self.put(state::vector(to, 8, int(8)), value);
            }
            M::Movhlps => {
                let value = self.part_at(i, 1, 8, int(8));
                self.put(state::vector(to, 0, int(8)), value);
            }
            M::Movaps | M::Movups | M::Movapd | M::Movupd | M::Movdqa | M::Movdqu => {
                let value = self.part(i, 1, Type::Vector);
                self.put(state::whole(to), value);
            }
            M::Cvtsi2ss | M::Cvtsd2ss | M::Roundss => {
                let ty = if i.mnemonic() == M::Roundss { F4 } else { F8 };
                let value = self.part(i, 1, ty);
                self.put_parts(i, &[(0, F4)], &[value]);
            }
            M::Cvtsi2sd | M::Cvtss2sd | M::Roundsd => {
                let ty = if i.mnemonic() == M::Roundsd { F8 } else { F4 };
                let value = self.part(i, 1, ty);
                self.put_parts(i, &[(0, F8)], &[value]);
            }
            M::Cvtdq2pd | M::Cvtpi2pd => {
                let value = self.part(i, 1, int(8));
                self.put_parts(i, &[(0, F8), (8, F8)], &[value]);
            }
            M::Cvtpi2ps => {
                let value = self.part(i, 1, int(8));
                self.put_parts(i, &[(0, F4), (4, F4)], &[value]);
            }
            M::Cvtpd2ps | M::Cvtpd2dq | M::Cvttpd2dq => {
                let ty = if i.mnemonic() == M::Cvtpd2ps { F4 } else { int(4) };
                let value = self.part(i, 1, Type::Vector);
                self.put(state::vector(to, 12, int(4)), ZERO);
                self.put(state::vector(to, 8, int(4)), ZERO);
                self.put_parts(i, &[(4, ty), (0, ty)], &[value]);
            }
            M::Cvtps2pd => self.each(i, &[(0, F4), (4, F4)], &[(0, F8), (8, F8)]),
            M::Roundps => {
                let all = [(0, F4), (4, F4), (8, F4), (12, F4)];
                self.each(i, &all, &all);
            }
            M::Roundpd => self.each(i, &[(0, F8), (8, F8)], &[(0, F8), (8, F8)]),
            M::Ucomiss | M::Comiss | M::Ucomisd | M::Comisd | M::Ptest => {
                let ty = match i.mnemonic() {
                    M::Ucomiss | M::Comiss => F4,
                    M::Ptest => Type::Vector,
                    _ => F8,
                };
                let (one, other) = (self.part(i, 0, ty), self.part(i, 1, ty));
                let flags = self.opaque(i, &[one, other]);
                self.set_all_flags(flags);
            }
            M::Pcmpistri | M::Pcmpistrm | M::Pcmpestri | M::Pcmpestrm => self.compare_strings(i),
            M::Aesenc | M::Aesenclast | M::Aesdec | M::Aesdeclast | M::Aesimc | M::Aeskeygenassist => {
                if from_memory {
                    let value = self.part(i, 1, Type::Vector);
                    self.put(state::SCRATCH_VECTOR, value);
                    self.used(value);
                }
                self.barrier(true);
            }
            _ => self.whole_vector(i),
        }
    }

    /// Each part of the first operand by itself.
    fn each(&mut self, i: &Instruction, from: &[(u16, Type)], to: &[(u16, Type)]) {
        let mut values = Vec::new();
        let address = (i.op1_kind() == OpKind::Memory).then(|| self.vector_address(i));
        for (event, &(byte, ty)) in (0..).zip(from) {
            values.push(match address {
                Some(address) => self.load(event, address),
                None => self.get(state::vector(i.op1_register(), byte, ty)),
            });
        }
        for (&(byte, ty), value) in to.iter().zip(values) {
            let value = self.opaque(i, &[value]);
            self.put(state::vector(i.op0_register(), byte, ty), value);
        }
    }

    fn compare_strings(&mut self, i: &Instruction) {
        if i.op1_kind() == OpKind::Memory {
            let value = self.part(i, 1, Type::Vector);
            self.put(state::SCRATCH_VECTOR, value);
            self.used(value);
        }
        let index = matches!(i.mnemonic(), M::Pcmpistri | M::Pcmpestri);
        self.barrier(!index);
        let result = self.unknown();
        if index {
            self.set_register(Register::RCX, result);
        }
        self.set_all_flags(result);
    }

    /// Writes all of its first operand.
    fn whole_vector(&mut self, i: &Instruction) {
        let to = state::whole(i.op0_register());
        let scalar = match i.mnemonic() {
            M::Sqrtss | M::Rcpss | M::Rsqrtss => int(4),
            M::Sqrtsd => int(8),
            M::Psllw | M::Pslld | M::Psllq | M::Psrlw | M::Psrld | M::Psrlq | M::Psraw | M::Psrad => int(8),
            _ => Type::Vector,
        };
        let alone = matches!(
            i.mnemonic(),
            M::Movd
                | M::Movq
                | M::Lddqu
                | M::Movntdqa
                | M::Movddup
                | M::Movshdup
                | M::Movsldup
                | M::Pabsb
                | M::Pabsw
                | M::Pabsd
                | M::Pshufd
                | M::Pshuflw
                | M::Pshufhw
                | M::Sqrtps
                | M::Sqrtpd
                | M::Rcpps
                | M::Rsqrtps
                | M::Cvtdq2ps
                | M::Cvtps2dq
                | M::Cvttps2dq
                | M::Phminposuw
        ) || widens(i.mnemonic());
        let immediate = |n: u32| i.op_kind(n) != OpKind::Register && i.op_kind(n) != OpKind::Memory;
        let from = if i.op_count() < 2 || immediate(1) {
            None
        } else {
            // Widening a few elements of a register reads as many bytes as it does in memory.
            let ty = match i.mnemonic() {
                _ if i.op1_kind() == OpKind::Memory => Type::Vector,
                M::Pmovsxbq => int(2),
                M::Pmovsxwq => int(4),
                _ => scalar,
            };
            Some(self.part(i, 1, ty))
        };
        let (source, kept) = blended(i);
        let from = from.filter(|_| source);
        let mut operands: Vec<Value> = from.into_iter().collect();
        if !alone {
            let old = self.get(to);
            operands.extend(Some(old).filter(|_| kept));
        }
        if matches!(i.mnemonic(), M::Pblendvb | M::Blendvps | M::Blendvpd) {
            operands.push(self.get(state::whole(Register::XMM0)));
        }
        let last = i.op_count().saturating_sub(1);
        operands.extend(i.try_immediate(last).ok().map(Value::Known));
        let value = match i.mnemonic() {
            _ if is_nothing(i) => ZERO,
            M::Pcmpeqb => self.op(Op::VectorEqual, &operands),
            M::Xorps | M::Xorpd | M::Pxor => self.op(Op::VectorXor, &operands),
            M::Andps | M::Andpd | M::Pand => self.op(Op::VectorAnd, &operands),
            M::Orps | M::Orpd | M::Por => self.op(Op::VectorOr, &operands),
            _ => self.opaque(i, &operands),
        };
        self.put(to, value);
    }

    /// MMX's registers are those of the x87, whose stack they empty.
    fn turn_to_mmx(&mut self) {
        self.put(state::FPU_TOP, ZERO);
        for bias in 0..8 {
            self.put_stack(true, ZERO, bias, Value::Known(1));
        }
    }

    /// An instruction with an MMX operand.
    fn mmx(&mut self, i: &Instruction) {
        // What reads no MMX register leaves the x87 as it is.
        let reads = (0..i.op_count()).any(|n| i.op_register(n).is_mm());
        if (reads && i.mnemonic() != M::Movntq) || i.mnemonic() == M::Emms {
            self.turn_to_mmx();
        }
        if i.mnemonic() == M::Emms {
            (0..8).for_each(|bias| self.put_stack(true, ZERO, bias, ZERO));
            return;
        }
        if i.op0_kind() == OpKind::Memory {
            let value = self.part(i, 1, int(8));
            let address = self.address(i);
            return self.store(0, address, value);
        }
        let mut operands = Vec::new();
        match i.mnemonic() {
            M::Cvtps2pi | M::Cvttps2pi => {
                return self.each_to_mmx(i, &[(0, F4), (4, F4)]);
            }
            M::Cvtpd2pi | M::Cvttpd2pi => {
                return self.each_to_mmx(i, &[(0, F8), (8, F8)]);
            }
            _ => {}
        }
        if i.op_count() > 1 && matches!(i.op1_kind(), OpKind::Register | OpKind::Memory) {
            operands.push(self.part(i, 1, int(8)));
        }
        let (source, kept) = blended(i);
        operands.retain(|_| source);
        let to = i.op0_register();
        let alone = matches!(
            i.mnemonic(),
            M::Movq | M::Movd | M::Pshufw | M::Pabsb | M::Pabsw | M::Pabsd | M::Movdq2q
        );
        if to.is_mm() {
            let slice = state::mmx(to);
            if !alone {
                let old = self.get(slice);
                operands.extend(Some(old).filter(|_| kept));
            }
            let value = match i.mnemonic() {
                _ if is_nothing(i) => ZERO,
                M::Pcmpeqb => self.op(Op::VectorEqual, &operands),
                M::Psllq | M::Psrlq if operands.len() == 2 => {
                    self.op(Op::Shl(64), &[operands[1], operands[0]])
                }
                M::Pxor => self.op(Op::Xor(64), &operands),
                M::Pand => self.op(Op::And(64), &operands),
                M::Por => self.op(Op::Or(64), &operands),
                M::Movq => operands.first().copied().unwrap_or(ZERO),
                _ => self.opaque(i, &operands),
            };
            return self.put(slice, value);
        }
        let value = self.opaque(i, &operands);
        match i.mnemonic() {
            _ if to.is_gpr() => self.set_register(to, value),
            M::Cvtpi2ps => {
                self.put(state::vector(to, 0, F4), value);
                self.put(state::vector(to, 4, F4), value);
            }
            M::Cvtpi2pd => {
                self.put(state::vector(to, 0, F8), value);
                self.put(state::vector(to, 8, F8), value);
            }
            _ => self.put(state::whole(to), value),
        }
    }

    fn each_to_mmx(&mut self, i: &Instruction, from: &[(u16, Type)]) {
        let address = (i.op1_kind() == OpKind::Memory).then(|| self.vector_address(i));
        let mut values = Vec::new();
        for (event, &(byte, ty)) in (0..).zip(from) {
            values.push(match address {
                Some(address) => self.load(event, address),
                None => self.get(state::vector(i.op1_register(), byte, ty)),
            });
        }
        let value = self.opaque(i, &values);
        let slice: Slice = state::mmx(i.op0_register());
        self.put(slice, value);
    }
}

/// Whether something of the source is in the result, and something of the destination, of instructions whose immediate
/// chooses elements.
fn blended(i: &Instruction) -> (bool, bool) {
    let all = match i.mnemonic() {
        M::Blendpd => 3,
        M::Blendps => 15,
        M::Pblendw => 255,
        M::Insertps => {
            let (zeroes, to) = (i.immediate8() & 15, 1 << (i.immediate8() >> 4 & 3));
            return (zeroes & to == 0, zeroes | to != 15);
        }
        M::Palignr => {
            let (count, bytes) = (i.immediate8(), if i.op0_register().is_xmm() { 16 } else { 8 });
            return (count < bytes, count != 0);
        }
        _ => return (true, true),
    };
    (i.immediate8() & all != 0, i.immediate8() & all != all)
}

/// Whether nothing of any operand is left: shifts out of the register, dot products of no elements.
fn is_nothing(i: &Instruction) -> bool {
    let last = i.op_count().saturating_sub(1);
    if i.op_kind(last) != OpKind::Immediate8 {
        return false;
    }
    let wide = i.op0_register().is_xmm();
    let count = i.immediate8();
    match i.mnemonic() {
        M::Psllw | M::Psrlw => count > 15,
        M::Pslld | M::Psrld => count > 31,
        M::Psllq | M::Psrlq => count > 63,
        M::Pslldq | M::Psrldq => count > 15,
        M::Palignr => count >= if wide { 32 } else { 16 },
        M::Dpps => count >> 4 == 0 || count & 15 == 0,
        M::Dppd => count >> 4 & 3 == 0 || count & 3 == 0,
        _ => false,
    }
}

/// Whether VEX checks that the operand in memory is a multiple of sixteen, and leaves the superblock if it is not.
pub(super) fn is_checked(i: &Instruction) -> bool {
    i.memory_size().size() == 16 && must_be_aligned(i.mnemonic())
}

/// Instructions whose operand VEX checks; it does not check those of plain arithmetic.
fn must_be_aligned(mnemonic: M) -> bool {
    matches!(mnemonic, M::Movaps | M::Movapd | M::Movdqa | M::Movntps | M::Movntpd | M::Movntdq | M::Movntdqa)
        || matches!(mnemonic, M::Movshdup | M::Movsldup | M::Roundps | M::Roundpd | M::Dpps | M::Dppd)
        || matches!(mnemonic, M::Blendps | M::Blendpd | M::Blendvps | M::Blendvpd | M::Pblendvb | M::Pblendw)
        || matches!(mnemonic, M::Pabsb | M::Pabsw | M::Pabsd | M::Psignb | M::Psignw | M::Psignd | M::Pshufb)
        || matches!(mnemonic, M::Phaddw | M::Phaddd | M::Phaddsw | M::Phsubw | M::Phsubd | M::Phsubsw)
        || matches!(mnemonic, M::Pmaddubsw | M::Pmulhrsw | M::Palignr | M::Mpsadbw | M::Packusdw | M::Pmulld)
        || matches!(mnemonic, M::Pclmulqdq | M::Phminposuw)
}

fn widens(mnemonic: M) -> bool {
    matches!(
        mnemonic,
        M::Pmovsxbw
            | M::Pmovsxbd
            | M::Pmovsxbq
            | M::Pmovsxwd
            | M::Pmovsxwq
            | M::Pmovsxdq
            | M::Pmovzxbw
            | M::Pmovzxbd
            | M::Pmovzxbq
            | M::Pmovzxwd
            | M::Pmovzxwq
            | M::Pmovzxdq
    )
}
