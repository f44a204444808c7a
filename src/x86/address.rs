//! Addresses of data accesses, as rules over the registers before the instruction.

use iced_x86::{Code, ConditionCode, Instruction, InstructionInfoFactory, Mnemonic, Register};

/// Address of an access, computed from the registers before the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// Memory operand with this index.
    Operand(u8),
    /// Memory operand of `pop m`, computed after RSP has been incremented.
    OperandAfterPop {
        /// Operand index.
        operand: u8,
        /// Bytes popped.
        bytes: u8,
    },
    /// RSP plus an offset.
    Rsp(i32),
    /// RBP plus an offset.
    Rbp(i32),
    /// Valgrind's scratch slot for register bit tests, at RSP - 288.
    Scratch,
    /// Byte of the scratch slot with the bit of this number, modulo the operand size.
    ScratchBit {
        /// Register with the bit number.
        bit: Register,
        /// Operand size in bytes.
        size: u8,
    },
    /// Byte with the bit of this number, counted from the memory operand.
    OperandBit {
        /// Index of the memory operand.
        operand: u8,
        /// Register with the signed bit number.
        bit: Register,
        /// Operand size in bytes.
        size: u8,
    },
    /// No address but an outcome: 1 if a conditional jump to the next instruction jumps, otherwise
    /// 0.
    Outcome,
}

/// Offset below RSP of the scratch slot that VEX uses for bit tests of registers.
pub(crate) const SCRATCH_BELOW_RSP: u64 = 288;

/// Sign-extends the low `size` bytes.
fn sign_extend(value: u64, size: u8) -> i64 {
    let shift = 64 - 8 * u32::from(size.clamp(1, 8));
    ((value << shift) as i64) >> shift
}

impl Address {
    /// Evaluates the address. `register` returns a 64-bit register, or the base of a segment.
    /// `None` if the operand is no memory operand.
    pub(crate) fn evaluate(
        self,
        instruction: &Instruction,
        register: &mut dyn FnMut(Register) -> u64,
    ) -> Option<u64> {
        Some(match self {
            Address::Operand(operand) => operand_address(instruction, operand, 0, register)?,
            Address::OperandAfterPop { operand, bytes } => {
                operand_address(instruction, operand, u64::from(bytes), register)?
            }
            Address::Rsp(offset) => register(Register::RSP).wrapping_add_signed(i64::from(offset)),
            Address::Rbp(offset) => register(Register::RBP).wrapping_add_signed(i64::from(offset)),
            Address::Scratch => register(Register::RSP).wrapping_sub(SCRATCH_BELOW_RSP),
            Address::ScratchBit { bit, size } => {
                let number = register(bit.full_register()) & (8 * u64::from(size) - 1);
                register(Register::RSP).wrapping_sub(SCRATCH_BELOW_RSP).wrapping_add(number >> 3)
            }
            Address::Outcome => return None,
            Address::OperandBit { operand, bit, size } => {
                let number = sign_extend(register(bit.full_register()), size);
                operand_address(instruction, operand, 0, register)?.wrapping_add_signed(number >> 3)
            }
        })
    }
}

fn operand_address(
    instruction: &Instruction,
    operand: u8,
    rsp_bias: u64,
    register: &mut dyn FnMut(Register) -> u64,
) -> Option<u64> {
    instruction.virtual_address(u32::from(operand), 0, |reg, _, _| {
        // In 64-bit mode only FS and GS have a base.
        if reg.is_segment_register() {
            return Some(if matches!(reg, Register::FS | Register::GS) { register(reg) } else { 0 });
        }
        let value = register(reg.full_register());
        let value = if reg.full_register() == Register::RSP { value.wrapping_add(rsp_bias) } else { value };
        Some(match reg.size() {
            8 => value,
            4 => value & 0xffff_ffff,
            2 => value & 0xffff,
            _ => value & 0xff,
        })
    })
}

/// Tests whether bits 47 to 63 of an address are equal.
pub(crate) fn is_canonical(addr: u64) -> bool {
    (addr << 16).cast_signed() >> 16 == addr.cast_signed()
}

/// Tests whether an access to an address goes through SS, as those of pushes and pops do and those
/// of operands based on RSP or RBP (Intel SDM vol. 1, 3.7.4). `register` is as above.
pub(crate) fn is_stack_access(
    instruction: &Instruction,
    addr: u64,
    register: &mut dyn FnMut(Register) -> u64,
) -> bool {
    let mut factory = InstructionInfoFactory::new();
    factory.info(instruction).used_memory().iter().any(|memory| {
        let start = memory.virtual_address(0, |reg, _, _| {
            Some(match reg {
                Register::FS | Register::GS => register(reg),
                _ if reg.is_segment_register() => 0,
                _ if reg.size() == 4 => register(reg.full_register()) & 0xffff_ffff,
                _ => register(reg),
            })
        });
        let size = memory.memory_size().size().max(1) as u64;
        // Other prefixes than FS and GS have no effect.
        let is_stack = matches!(memory.base().full_register(), Register::RSP | Register::RBP)
            && !matches!(memory.segment(), Register::FS | Register::GS);
        is_stack && start.is_some_and(|start| addr.wrapping_sub(start) < size)
    })
}

/// Recognises the jumps that count in ECX or test it, because of their address size.
pub(crate) fn counts_ecx(instruction: &Instruction) -> bool {
    use Code as C;
    matches!(
        instruction.code(),
        C::Jecxz_rel8_64 | C::Loop_rel8_64_ECX | C::Loope_rel8_64_ECX | C::Loopne_rel8_64_ECX
    )
}

/// Tests whether a conditional jump is taken, given RFLAGS and RCX before it. False for any other
/// instruction.
pub(crate) fn jumps(instruction: &Instruction, flags: u64, rcx: u64) -> bool {
    use Mnemonic as M;
    let (carry, parity, zero, sign, overflow) =
        (flags & 1 != 0, flags & 4 != 0, flags & 0x40 != 0, flags & 0x80 != 0, flags & 0x800 != 0);
    let holds = match instruction.condition_code() {
        ConditionCode::None => true,
        ConditionCode::o => overflow,
        ConditionCode::no => !overflow,
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !carry && !zero,
        ConditionCode::s => sign,
        ConditionCode::ns => !sign,
        ConditionCode::p => parity,
        ConditionCode::np => !parity,
        ConditionCode::l => sign != overflow,
        ConditionCode::ge => sign == overflow,
        ConditionCode::le => zero || sign != overflow,
        ConditionCode::g => !zero && sign == overflow,
    };
    let count = if counts_ecx(instruction) { rcx & 0xffff_ffff } else { rcx };
    match instruction.mnemonic() {
        M::Jecxz | M::Jrcxz => count == 0,
        M::Loop | M::Loope | M::Loopne => count != 1 && holds,
        _ => instruction.is_jcc_short_or_near() && holds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::cost::{is_inverted, jumps_to_next};
    use crate::x86::decode::decode;

    const CF: u64 = 1;
    const PF: u64 = 4;
    const ZF: u64 = 0x40;
    const SF: u64 = 0x80;
    const OF: u64 = 0x800;

    /// Intel SDM vol. 2, Jcc: the condition of each code, as flags that make it hold and flags that
    /// do not.
    #[test]
    fn conditions_are_those_of_the_manual() {
        let even: [(&[u64], &[u64]); 8] = [
            (&[OF, OF | ZF], &[0, CF | PF | ZF | SF]),
            (&[CF], &[0, OF | PF | ZF | SF]),
            (&[ZF], &[0, CF | PF | SF | OF]),
            (&[CF, ZF, CF | ZF], &[0, SF | OF | PF]),
            (&[SF], &[0, CF | PF | ZF | OF]),
            (&[PF], &[0, CF | ZF | SF | OF]),
            (&[SF, OF], &[0, SF | OF, ZF]),
            (&[SF, OF, ZF, ZF | SF | OF], &[0, SF | OF, CF]),
        ];
        for (pair, (holds, fails)) in even.iter().enumerate() {
            for (flags, expected) in holds.iter().map(|f| (f, true)).chain(fails.iter().map(|f| (f, false))) {
                let jcc = |odd: u8| decode(&[0x70 + 2 * pair as u8 + odd, 0], 0x1000);
                assert_eq!(jumps(&jcc(0), *flags, 0), expected, "{pair} {flags:#x}");
                assert_eq!(jumps(&jcc(1), *flags, 0), !expected, "not {pair} {flags:#x}");
            }
        }
    }

    /// LOOP, LOOPE and LOOPNE decrement first; the address size is the width of the count.
    #[test]
    fn counts_are_as_wide_as_addresses() {
        let of = |bytes: &[u8], flags, rcx| jumps(&decode(bytes, 0x1000), flags, rcx);
        assert!(of(&[0xe3, 0], 0, 0) && !of(&[0xe3, 0], 0, 1 << 32));
        assert!(of(&[0x67, 0xe3, 0], 0, 1 << 32) && !of(&[0x67, 0xe3, 0], 0, 1));
        assert!(of(&[0xe2, 0], 0, 2) && of(&[0xe2, 0], 0, 0) && !of(&[0xe2, 0], 0, 1));
        assert!(!of(&[0x67, 0xe2, 0], 0, 1 << 32 | 1) && of(&[0xe2, 0], 0, 1 << 32 | 1));
        assert!(of(&[0xe1, 0], ZF, 2) && !of(&[0xe1, 0], 0, 2) && !of(&[0xe1, 0], ZF, 1));
        assert!(of(&[0xe0, 0], 0, 2) && !of(&[0xe0, 0], ZF, 2) && !of(&[0xe0, 0], 0, 1));
    }

    #[test]
    fn only_odd_codes_are_not_inverted() {
        for code in 0x70..=0x7f_u8 {
            let instruction = decode(&[code, 0], 0x1000);
            assert!(jumps_to_next(&instruction) && !jumps_to_next(&decode(&[code, 1], 0x1000)));
            assert_eq!(is_inverted(&instruction), code & 1 == 0, "{code:#x}");
        }
        for code in 0xe0..=0xe3_u8 {
            assert!(is_inverted(&decode(&[code, 0], 0x1000)), "{code:#x}");
        }
        // A direct jump to the next instruction is no branch.
        assert!(!jumps_to_next(&decode(&[0xeb, 0], 0x1000)));
    }
}
