//! Returns that may lead to other segments: IRET and far RET (Intel SDM vol. 2, in 64-bit mode).

use iced_x86::{Code, Instruction, OpKind};

/// The values that such a return pops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FarReturn {
    /// Bytes of each.
    pub(crate) size: usize,
    /// Their number: RIP and CS, and RFLAGS, RSP and SS for IRET.
    pub(crate) values: usize,
    /// Bytes that are dropped behind them.
    pub(crate) dropped: u64,
}

impl FarReturn {
    /// The values that an instruction pops, if it is such a return.
    pub(crate) fn of(instruction: &Instruction) -> Option<FarReturn> {
        let (size, values) = match instruction.code() {
            Code::Iretw => (2, 5),
            Code::Iretd => (4, 5),
            Code::Iretq => (8, 5),
            Code::Retfw | Code::Retfw_imm16 => (2, 2),
            Code::Retfd | Code::Retfd_imm16 => (4, 2),
            Code::Retfq | Code::Retfq_imm16 => (8, 2),
            _ => return None,
        };
        let drops = instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Immediate16;
        let dropped = if drops { instruction.immediate16().into() } else { 0 };
        Some(FarReturn { size, values, dropped })
    }

    /// Bytes that are read.
    pub(crate) fn bytes(&self) -> usize {
        self.size * self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::decode::decode;

    #[test]
    fn prefixes_say_how_much_is_popped() {
        let of =
            |bytes: &[u8]| FarReturn::of(&decode(bytes, 0)).map(|far| (far.size, far.values, far.dropped));
        assert_eq!(of(&[0xcf]), Some((4, 5, 0)));
        assert_eq!(of(&[0x66, 0x48, 0xcf]), Some((8, 5, 0)));
        assert_eq!(of(&[0x66, 0xcf]), Some((2, 5, 0)));
        assert_eq!(of(&[0xcb]), Some((4, 2, 0)));
        assert_eq!(of(&[0x48, 0xca, 0x08, 0x80]), Some((8, 2, 0x8008)));
        assert_eq!(of(&[0x66, 0xca, 2, 0]), Some((2, 2, 2)));
        assert_eq!(of(&[0xc3]), None);
    }
}
