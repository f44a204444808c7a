//! Instructions on MMX registers.

use iced_x86::{Instruction, Mnemonic as M, OpKind};

use super::ctx::{LiftCtx, int};
use super::vector_ops::{F4, F8, bitwise, blended, is_zero, lane_bits};
use crate::vex::guest_state as state;
use crate::vex::ir::{Op, Type, Value, ZERO};

impl LiftCtx {
    /// Lifts an instruction with an MMX operand.
    pub(super) fn mmx(&mut self, i: &Instruction) {
        // Without an MMX register among its operands it leaves the x87 as it is.
        let reads = (0..i.op_count()).any(|n| i.op_register(n).is_mm());
        if (reads && i.mnemonic() != M::Movntq) || i.mnemonic() == M::Emms {
            self.switch_to_mmx();
        }
        if i.mnemonic() == M::Emms {
            (0..8).for_each(|bias| self.puti(true, ZERO, bias, ZERO));
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
        let only_source = matches!(
            i.mnemonic(),
            M::Movq | M::Movd | M::Pshufw | M::Pabsb | M::Pabsw | M::Pabsd | M::Movdq2q
        );
        if to.is_mm() {
            let slice = state::mmx(to);
            if !only_source {
                let old = self.get(slice);
                operands.extend(Some(old).filter(|_| kept));
            }
            let value = match i.mnemonic() {
                _ if is_zero(i) => ZERO,
                M::Movq => operands.first().copied().unwrap_or(ZERO),
                M::Movd => {
                    let low = operands.first().copied().unwrap_or(ZERO);
                    self.op(Op::Concat(32), &[ZERO, low])
                }
                M::Psllq | M::Psrlq if operands.len() == 1 => {
                    let op = if i.mnemonic() == M::Psllq { Op::Shl(64) } else { Op::Shr(64) };
                    self.op(op, &[operands[0], Value::Const(u64::from(i.immediate8()))])
                }
                _ => match (as_number(i.mnemonic()), operands.as_slice()) {
                    (Some(op), &[from, old]) => {
                        let old = match i.mnemonic() {
                            M::Pandn => self.op(Op::Not(64), &[old]),
                            _ => old,
                        };
                        self.op(op, &[old, from])
                    }
                    (_, &[by, old]) if lane_bits(i.mnemonic()).is_some() => self.vector_shift(i, old, by),
                    _ => self.opaque(i, &operands),
                },
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
            _ => self.put(state::xmm(to), value),
        }
    }

    /// Converts two lanes.
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
        let slice = state::mmx(i.op0_register());
        self.put(slice, value);
    }
}

/// Operation of an instruction on MMX registers that the optimiser folds as a 64-bit integer.
fn as_number(mnemonic: M) -> Option<Op> {
    Some(match mnemonic {
        M::Pxor => Op::Xor(64),
        M::Pand | M::Pandn => Op::And(64),
        M::Por => Op::Or(64),
        M::Paddq => Op::Add(64),
        M::Psubq => Op::Sub(64),
        M::Pcmpeqb | M::Pcmpeqw | M::Pcmpeqd => bitwise(mnemonic)?,
        _ => return None,
    })
}
