//! Alignment that accesses must have in blocks for a mode with EFLAGS.AC (Intel SDM vol. 3, 6.15,
//! #AC). Linux sets CR0.AM, so user code that sets the flag gets a SIGBUS.
#![allow(unsafe_code)]

use std::ffi::c_void;

use iced_x86::{CpuidFeature, Instruction, Mnemonic as M};

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::errata;
use crate::emu::unicorn::ffi::{self, Context};

unsafe extern "C" {
    fn helper_invlpga_x86_64();
}

/// EFLAGS.AC, as it is in the mode of a block.
pub(crate) const ALIGNMENT_CHECK: u32 = 1 << 18;
/// `MO_ASHIFT`: place of the alignment in a `MemOp`, as a power of two.
const ALIGN_SHIFT: u32 = 4;

/// Adds to the operation of an access the alignment that it must have; `first` says that it is the
/// first of the instruction. Of sixteen bytes, which the engine accesses in halves, the manual
/// leaves open whether eight suffice; as on AMD's CPUs they do not.
pub(super) fn of_access(instruction: &Instruction, op: u32, first: bool) -> u32 {
    let operand = if errata::has_memory(instruction) { instruction.memory_size().size() } else { 0 };
    let log = match operand {
        16 if !first => 0,
        16 => 4,
        // Less than the engine accesses, as by PUNPCKLBW of MMX.
        2 | 4 | 8 => (op & 3).min(operand.trailing_zeros()),
        _ => op & 3,
    };
    op | log << ALIGN_SHIFT
}

/// The alignment in bytes of the operand of an instruction whose helper accesses memory itself.
/// The state of the x87 is made of words of 16 or 32 bits.
fn of_helper(instruction: &Instruction) -> u64 {
    match instruction.mnemonic() {
        // #GP if it is not aligned.
        M::Cmpxchg16b => 1,
        M::Fldenv | M::Fnstenv | M::Frstor | M::Fnsave => match instruction.memory_size().size() {
            14 | 94 => 2,
            _ => 4,
        },
        // Whatever is not aligned to sixteen bytes and passes this is #GP.
        _ if instruction.cpuid_features().contains(&CpuidFeature::FXSR) => 4,
        _ => 8,
    }
}

/// Emits the check of the operand of a helper, whose address a temporary holds.
pub(super) fn check_helper(
    context: Context,
    instruction: &Instruction,
    state: *mut c_void,
    address: *mut c_void,
) {
    let emit = Emit(context);
    let mask = emit.constant(of_helper(instruction) - 1);
    let mut args = [state, address, mask as *mut c_void];
    // SAFETY: as for `Emit`; the helper that stands in for this one has these arguments.
    unsafe {
        let function = helper_invlpga_x86_64 as *const c_void;
        let args = args.as_mut_ptr();
        ffi::__real_tcg_gen_callN_x86_64(context, function, std::ptr::null_mut(), 3, args);
    }
    emit.free(mask);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::decode::decode;

    /// movups, punpcklbw mm0, movzx eax from 16 bits, push; fnsave of 108 and 94 bytes, fld of ten,
    /// cmpxchg16b.
    #[test]
    fn operands_are_aligned_as_the_manual_says() {
        let of = |bytes: &[u8], op| of_access(&decode(bytes, 0), op, true) >> ALIGN_SHIFT;
        assert_eq!(of(&[0x0f, 0x10, 0x07], 3), 4);
        assert_eq!(of_access(&decode(&[0x0f, 0x10, 0x07], 0), 3, false) >> ALIGN_SHIFT, 0);
        assert_eq!(of(&[0x0f, 0x60, 0x07], 3), 2);
        assert_eq!(of(&[0x0f, 0xb7, 0x07], 1), 1);
        assert_eq!(of(&[0x50], 3), 3);
        let of = |bytes: &[u8]| of_helper(&decode(bytes, 0));
        assert_eq!(of(&[0xdd, 0x37]), 4);
        assert_eq!(of(&[0x66, 0xdd, 0x37]), 2);
        assert_eq!(of(&[0xdb, 0x2f]), 8);
        assert_eq!(of(&[0x48, 0x0f, 0xc7, 0x0f]), 1);
    }
}
