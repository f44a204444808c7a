//! Calls of `unmasked` around instructions that may raise exceptions, in blocks for a mode of the
//! CPU in which some are not masked.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use iced_x86::{CpuidFeature, EncodingKind, Instruction, Mnemonic as M};

use crate::emu::unicorn::ffi::{self, Context};
use crate::emu::unicorn::layout::{SSE_UNMASKED, X87_UNMASKED};

unsafe extern "C" {
    fn helper_stgi_x86_64();
    fn helper_clgi_x86_64();
    fn helper_skinit_x86_64();
    fn helper_vmmcall_x86_64();
    fn helper_fwait_x86_64();
}

/// Offset of the name in `TCGTemp`.
const TEMP_NAME: usize = 32;

/// Part of an instruction in exceptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// None, or none that is not masked.
    #[default]
    None,
    /// Arithmetic of SSE.
    Sse,
    /// An x87 instruction that waits, and may raise exceptions itself.
    X87,
    /// One that only waits.
    Waits,
}

/// The calls that an instruction takes while it is translated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Guard {
    mode: u32,
    part: Part,
    /// The instruction may change the mode, so the block ends after it.
    changes: bool,
    /// The engine's state, as an argument, once the first call of the instruction was seen.
    state: Option<*mut c_void>,
}

impl Guard {
    /// The guard of a block, which is translated for a mode of the CPU.
    pub(crate) fn begin(mode: u32) -> Guard {
        Guard { mode, ..Guard::default() }
    }

    /// Tests whether the block has to end after the last instruction.
    pub(crate) fn ends_block(&self) -> bool {
        self.changes
    }

    /// Begins an instruction.
    pub(crate) fn instruction(&mut self, instruction: &Instruction) {
        self.changes = changes_masks(instruction);
        self.state = None;
        self.part = match self.mode & (SSE_UNMASKED | X87_UNMASKED) {
            0 => Part::None,
            _ => part(instruction),
        };
        let bit = if self.part == Part::Sse { SSE_UNMASKED } else { X87_UNMASKED };
        if self.mode & bit == 0 {
            self.part = Part::None;
        }
    }

    /// Tests whether calls belong before a call of the engine's with this first argument.
    pub(crate) fn begins_at(&self, argument: *mut c_void) -> bool {
        self.part != Part::None && self.state.is_none() && is_state(argument)
    }

    /// Emits the calls before the first call of the instruction.
    pub(crate) fn before(&mut self, context: Context, state: *mut c_void) {
        match self.part {
            Part::None => return,
            Part::Sse => emit(context, helper_stgi_x86_64, state),
            Part::X87 => {
                emit(context, helper_fwait_x86_64, state);
                emit(context, helper_skinit_x86_64, state);
            }
            Part::Waits => emit(context, helper_fwait_x86_64, state),
        }
        self.state = Some(state);
    }

    /// Emits the call after a call of the instruction's, before its result is used.
    pub(crate) fn after_call(&mut self, context: Context) {
        if self.part == Part::Sse
            && let Some(state) = self.state.take()
        {
            emit(context, helper_clgi_x86_64, state);
        }
    }

    /// Emits the call at the end of the instruction.
    pub(crate) fn end(&mut self, context: Context) {
        if self.part == Part::X87
            && let Some(state) = self.state.take()
        {
            emit(context, helper_vmmcall_x86_64, state);
        }
    }
}

/// Emits a call of a helper with the engine's state.
fn emit(context: Context, function: unsafe extern "C" fn(), mut state: *mut c_void) {
    // SAFETY: as for `Emit`; the helpers have this one argument, and no result.
    unsafe {
        let function = function as *const c_void;
        ffi::__real_tcg_gen_callN_x86_64(context, function, std::ptr::null_mut(), 1, &raw mut state);
    }
}

/// Tests whether an argument is the engine's state, as every helper of arithmetic has it first.
fn is_state(argument: *mut c_void) -> bool {
    // SAFETY: arguments are live `TCGTemp`s, whose names are constants.
    unsafe {
        let name = *argument.cast::<u8>().add(TEMP_NAME).cast::<*const c_char>();
        !name.is_null() && CStr::from_ptr(name) == c"env"
    }
}

/// Tests whether an instruction may change the masks.
fn changes_masks(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        M::Ldmxcsr
            | M::Fxrstor
            | M::Fxrstor64
            | M::Fldcw
            | M::Fldenv
            | M::Frstor
            | M::Fninit
            | M::Fnstenv
            | M::Fnsave
    )
}

/// The part of an instruction in exceptions, if none is masked.
fn part(instruction: &Instruction) -> Part {
    let is = |feature| instruction.cpuid_features().contains(&feature);
    if is(CpuidFeature::FPU) || is(CpuidFeature::FPU287) || is(CpuidFeature::FPU387) {
        return match instruction.mnemonic() {
            M::Fninit | M::Fnclex | M::Fnstsw | M::Fnstcw | M::Fnstenv | M::Fnsave | M::Wait => Part::None,
            M::Fnop | M::Fldcw | M::Fldenv | M::Frstor => Part::Waits,
            _ => Part::X87,
        };
    }
    let sse = instruction.encoding() == EncodingKind::Legacy
        && (0..instruction.op_count().min(2)).any(|i| {
            let register = instruction.op_register(i);
            register.is_xmm() || register.is_mm()
        })
        && is_arithmetic(instruction.mnemonic());
    if sse { Part::Sse } else { Part::None }
}

/// Tests for the mnemonics of SSE that may raise exceptions.
#[rustfmt::skip]
fn is_arithmetic(mnemonic: M) -> bool {
    matches!(
        mnemonic,
        M::Addps | M::Addpd | M::Addss | M::Addsd | M::Subps | M::Subpd | M::Subss | M::Subsd
            | M::Mulps | M::Mulpd | M::Mulss | M::Mulsd | M::Divps | M::Divpd | M::Divss | M::Divsd
            | M::Minps | M::Minpd | M::Minss | M::Minsd | M::Maxps | M::Maxpd | M::Maxss | M::Maxsd
            | M::Sqrtps | M::Sqrtpd | M::Sqrtss | M::Sqrtsd | M::Haddps | M::Haddpd | M::Hsubps
            | M::Hsubpd | M::Addsubps | M::Addsubpd | M::Dpps | M::Dppd | M::Cmpps | M::Cmppd
            | M::Cmpss | M::Cmpsd | M::Comiss | M::Comisd | M::Ucomiss | M::Ucomisd | M::Roundps
            | M::Roundpd | M::Roundss | M::Roundsd | M::Cvtdq2ps | M::Cvtpd2dq | M::Cvtpd2pi
            | M::Cvtpd2ps | M::Cvtpi2ps | M::Cvtps2dq | M::Cvtps2pd | M::Cvtps2pi | M::Cvtsd2si
            | M::Cvtsd2ss | M::Cvtsi2sd | M::Cvtsi2ss | M::Cvtss2sd | M::Cvtss2si | M::Cvttpd2dq
            | M::Cvttpd2pi | M::Cvttps2dq | M::Cvttps2pi | M::Cvttsd2si | M::Cvttss2si
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::decode::decode;

    /// The part of an instruction in a block for this mode.
    fn part_of(mode: u32, bytes: &[u8]) -> Part {
        let mut guard = Guard::begin(mode);
        guard.instruction(&decode(bytes, 0x1000));
        guard.part
    }

    /// addsd xmm0,xmm1; fadd st0,st1; fldcw [rax]; fnstsw ax; movapd xmm0,xmm1; fwait. The SDM's
    /// section 8.3.11 lists what does not wait.
    #[test]
    fn only_blocks_with_unmasked_exceptions_have_calls() {
        let code = [
            &[0xf2, 0x0f, 0x58, 0xc1][..],
            &[0xd8, 0xc1],
            &[0xd9, 0x28],
            &[0xdf, 0xe0],
            &[0x66, 0x0f, 0x28, 0xc1],
            &[0x9b],
        ];
        let both = [Part::Sse, Part::X87, Part::Waits, Part::None, Part::None, Part::None];
        for (bytes, part) in code.into_iter().zip(both) {
            assert_eq!(part_of(0, bytes), Part::None, "{bytes:x?}");
            assert_eq!(part_of(SSE_UNMASKED | X87_UNMASKED, bytes), part, "{bytes:x?}");
        }
        assert_eq!(part_of(X87_UNMASKED, code[0]), Part::None);
        assert_eq!(part_of(SSE_UNMASKED, code[1]), Part::None);
    }
}
