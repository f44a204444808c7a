//! Instructions on XMM registers. Lifting is exact about which bytes of a register are read and
//! written, and with which type; the operations themselves are mostly opaque.

use iced_x86::{Code, Instruction, Mnemonic as M, OpKind, Register};

use super::ctx::{LiftCtx, int};
use super::vector_ops::{F4, F8, bitwise, blended, is_zero, lane_bits, widens};
use crate::vex::guest_state as state;
use crate::vex::ir::{Op, Type, Value, ZERO};

impl LiftCtx {
    /// LDMXCSR, STMXCSR, FXSAVE and FXRSTOR.
    pub(super) fn sse_state(&mut self, i: &Instruction) {
        let address = self.address(i);
        match i.mnemonic() {
            M::Ldmxcsr => {
                let value = self.load(0, address);
                let checked = self.opaque(i, &[value]);
                self.put(state::SSE_ROUND, checked);
                self.keep(checked);
                self.barrier(false);
            }
            M::Stmxcsr => {
                let value = self.get(state::SSE_ROUND);
                self.store(0, address, value);
            }
            _ => {
                self.check_alignment(address);
                self.barrier(matches!(i.mnemonic(), M::Fxrstor | M::Fxrstor64));
            }
        }
    }

    /// MASKMOVQ and MASKMOVDQU, which VEX lifts to a load and a store of the whole operand.
    pub(super) fn masked_store(&mut self, i: &Instruction) {
        let to = self.get(state::RDI);
        if i.mnemonic() == M::Maskmovq {
            self.switch_to_mmx();
        }
        let (value, mask) = (self.part(i, 1, Type::V128), self.part(i, 2, int(8)));
        let old = self.load(0, to);
        let new = self.opaque(i, &[value, mask, old]);
        self.store(0, to, new);
    }

    /// Lifts an instruction on XMM registers.
    pub(super) fn sse(&mut self, i: &Instruction) {
        if i.op0_kind() == OpKind::Memory {
            self.store_part(i);
        } else if i.op0_register().is_gpr() {
            self.set_gpr(i);
        } else {
            self.set_xmm(i);
        }
    }

    /// Stores a vector register or a part of it.
    fn store_part(&mut self, i: &Instruction) {
        let value = match i.mnemonic() {
            M::Movss | M::Movd => self.part(i, 1, int(4)),
            M::Movsd | M::Movq | M::Movlps | M::Movlpd => self.part(i, 1, int(8)),
            M::Movhps | M::Movhpd => self.part_at(i, 1, 8, int(8)),
            _ => self.part(i, 1, Type::V128),
        };
        let address = self.vector_address(i);
        self.store(0, address, value);
    }

    /// Results in general-purpose registers.
    fn set_gpr(&mut self, i: &Instruction) {
        let from = match i.mnemonic() {
            M::Movd => vec![self.part(i, 1, int(4))],
            M::Movq => vec![self.part(i, 1, int(8))],
            M::Cvtss2si | M::Cvttss2si => vec![self.part(i, 1, F4)],
            M::Cvtsd2si | M::Cvttsd2si => vec![self.part(i, 1, F8)],
            M::Movmskps => (0..4).map(|n| self.part_at(i, 1, 4 * n, int(4))).collect(),
            M::Movmskpd => [4, 12].map(|byte| self.part_at(i, 1, byte, int(4))).to_vec(),
            _ => vec![self.part(i, 1, Type::V128)],
        };
        let value = self.opaque(i, &from);
        self.set_register(i.op0_register(), value);
    }

    /// Writes parts of the destination that depend on the same values.
    fn put_parts(&mut self, i: &Instruction, parts: &[(u16, Type)], from: &[Value]) {
        let value = self.opaque(i, from);
        for &(byte, ty) in parts {
            self.put(state::vector(i.op0_register(), byte, ty), value);
        }
    }

    /// Results in XMM registers and in RFLAGS.
    fn set_xmm(&mut self, i: &Instruction) {
        let to = i.op0_register();
        let from_memory = i.op1_kind() == OpKind::Memory;
        match i.mnemonic() {
            // A load clears the rest of the register; a move between registers keeps it.
            M::Movss | M::Movsd | M::Movq if from_memory && i.code() != Code::Movq_xmm_rm64 => {
                let ty = if i.mnemonic() == M::Movss { int(4) } else { int(8) };
                self.put(state::xmm(to), ZERO);
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
                let value = self.part(i, 1, Type::V128);
                self.put(state::xmm(to), value);
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
                let value = self.part(i, 1, Type::V128);
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
                    M::Ptest => Type::V128,
                    _ => F8,
                };
                let (one, other) = (self.part(i, 0, ty), self.part(i, 1, ty));
                let flags = self.opaque(i, &[one, other]);
                self.set_all_flags(flags);
            }
            M::Pcmpistri | M::Pcmpistrm | M::Pcmpestri | M::Pcmpestrm => self.compare_strings(i),
            M::Aesenc | M::Aesenclast | M::Aesdec | M::Aesdeclast | M::Aesimc | M::Aeskeygenassist => {
                if from_memory {
                    let value = self.part(i, 1, Type::V128);
                    self.put(state::SCRATCH_VECTOR, value);
                    self.keep(value);
                }
                self.barrier(true);
            }
            _ => self.whole_vector(i),
        }
    }

    /// Converts lane by lane.
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
            let value = self.part(i, 1, Type::V128);
            self.put(state::SCRATCH_VECTOR, value);
            self.keep(value);
        }
        let index = matches!(i.mnemonic(), M::Pcmpistri | M::Pcmpestri);
        self.barrier(!index);
        let result = self.fresh();
        if index {
            self.set_register(Register::RCX, result);
        }
        self.set_all_flags(result);
    }

    /// Writes the whole destination.
    fn whole_vector(&mut self, i: &Instruction) {
        let to = state::xmm(i.op0_register());
        let scalar = match i.mnemonic() {
            M::Sqrtss | M::Rcpss | M::Rsqrtss => int(4),
            M::Sqrtsd => int(8),
            M::Psllw | M::Pslld | M::Psllq | M::Psrlw | M::Psrld | M::Psrlq | M::Psraw | M::Psrad => int(8),
            _ => Type::V128,
        };
        let only_source = matches!(
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
            // PMOVSX of a few lanes reads only their bytes, from a register too.
            let ty = match i.mnemonic() {
                _ if i.op1_kind() == OpKind::Memory => Type::V128,
                M::Pmovsxbq => int(2),
                M::Pmovsxwq => int(4),
                _ => scalar,
            };
            Some(self.part(i, 1, ty))
        };
        let (source, kept) = blended(i);
        let from = from.filter(|_| source);
        let mut operands: Vec<Value> = from.into_iter().collect();
        if !only_source {
            let old = self.get(to);
            operands.extend(Some(old).filter(|_| kept));
        }
        if matches!(i.mnemonic(), M::Pblendvb | M::Blendvps | M::Blendvpd) {
            operands.push(self.get(state::xmm(Register::XMM0)));
        }
        let last = i.op_count().saturating_sub(1);
        operands.extend(i.try_immediate(last).ok().map(Value::Const));
        let value = match i.mnemonic() {
            _ if is_zero(i) => ZERO,
            _ => match (bitwise(i.mnemonic()), operands.as_slice()) {
                (Some(op), &[from, old]) => {
                    let old = match i.mnemonic() {
                        M::Andnps | M::Andnpd | M::Pandn => self.op(Op::NotV128, &[old]),
                        _ => old,
                    };
                    self.op(op, &[old, from])
                }
                (_, &[by, old]) if lane_bits(i.mnemonic()).is_some() => self.vector_shift(i, old, by),
                (_, &[from]) if only_source && i.op1_register().is_gpr() => self.op(Op::ZextToV128, &[from]),
                _ => self.opaque(i, &operands),
            },
        };
        self.put(to, value);
    }
}
