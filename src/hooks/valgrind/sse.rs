//! Instructions on XMM and MMX registers. Most write all of a register; what counts is which part of it each reads and
//! writes, and with which type.

use iced_x86::{Code, Instruction, Mnemonic as M, OpKind, Register};

use super::forms::{bitwise, blended, element, is_checked, is_nothing, widens};
use super::ir::{Op, Type, Value};
use super::lift::{Lifter, int};
use super::state;

/// An exit that is no branch of the program.
pub(super) const NO_BRANCH: u8 = 7;
pub(super) const ZERO: Value = Value::Known(0);
pub(super) const F4: Type = Type::Float(4);
pub(super) const F8: Type = Type::Float(8);

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
            M::Fxrstor | M::Fxrstor64 => {
                let address = self.address(i);
                self.check_alignment(address);
                return self.barrier(true);
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
    pub(super) fn part(&mut self, i: &Instruction, operand: u32, ty: Type) -> Value {
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
    pub(super) fn vector_address(&mut self, i: &Instruction) -> Value {
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
            _ => match (bitwise(i.mnemonic()), operands.as_slice()) {
                (Some(op), &[from, old]) => {
                    let old = match i.mnemonic() {
                        M::Andnps | M::Andnpd | M::Pandn => self.op(Op::VectorNot, &[old]),
                        _ => old,
                    };
                    self.op(op, &[old, from])
                }
                (_, &[by, old]) if element(i.mnemonic()).is_some() => self.vector_shift(i, old, by),
                (_, &[from]) if alone && i.op1_register().is_gpr() => self.op(Op::VectorOf, &[from]),
                _ => self.opaque(i, &operands),
            },
        };
        self.put(to, value);
    }

    /// A shift of all elements by the same number, which may be larger than they are.
    pub(super) fn vector_shift(&mut self, i: &Instruction, old: Value, by: Value) -> Value {
        let bits = element(i.mnemonic()).unwrap_or(0);
        let within = self.op(Op::Less(false, 64), &[by, Value::Known(bits)]);
        let count = self.op(Op::Narrow(8), &[by]);
        let shifted = match i.mnemonic() {
            M::Psllq if i.op0_register().is_mm() => self.op(Op::Shl(64), &[old, count]),
            M::Psrlq if i.op0_register().is_mm() => self.op(Op::Shr(64), &[old, count]),
            _ => self.opaque(i, &[old, count]),
        };
        let beyond = match i.mnemonic() {
            M::Psraw | M::Psrad => self.opaque(i, &[old, Value::Known(bits - 1)]),
            _ => ZERO,
        };
        self.op(Op::Choose, &[within, shifted, beyond])
    }
}
