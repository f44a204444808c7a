//! Calls of `unmasked` around instructions that may raise exceptions, in blocks for a mode of the
//! CPU in which some are not masked.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use iced_x86::{CpuidFeature, EncodingKind, Instruction, Mnemonic as M};

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::{self, Context};
use crate::emu::unicorn::layout::{SSE_UNMASKED, X87_UNMASKED};

unsafe extern "C" {
    fn helper_stgi_x86_64();
    fn helper_clgi_x86_64();
    fn helper_skinit_x86_64();
    fn helper_vmmcall_x86_64();
    fn helper_fwait_x86_64();
    fn helper_vmload_x86_64();
}

/// Offset of the name in `TCGTemp`.
const TEMP_NAME: usize = 32;

/// Kinds of x87 instructions by what an exception of their operands undoes: everything; not the
/// load of a denormal number; not the condition codes.
const OTHERS: u64 = 0;
pub(crate) const LOADS: u64 = 1;
pub(crate) const COMPARES: u64 = 2;

/// Part of an instruction in exceptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// None, or none that is not masked.
    #[default]
    None,
    /// Arithmetic of SSE.
    Sse,
    /// An x87 instruction that may raise exceptions.
    X87,
}

/// The calls that an instruction takes while it is translated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Guard {
    mode: u32,
    part: Part,
    /// Its kind, by what an exception undoes of it.
    kind: u64,
    /// The instruction waits for exceptions of the x87 first.
    waits: bool,
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

    /// The mode that the block is for.
    pub(crate) fn mode(&self) -> u32 {
        self.mode
    }

    /// Tests whether the block has to end after the last instruction.
    pub(crate) fn ends_block(&self) -> bool {
        self.changes
    }

    /// Tests whether the instruction may raise exceptions that are not masked.
    pub(crate) fn may_raise(&self) -> bool {
        self.part != Part::None || self.waits
    }

    /// Begins an instruction.
    pub(crate) fn instruction(&mut self, instruction: &Instruction) {
        self.changes = changes_masks(instruction);
        self.state = None;
        self.kind = kind(instruction);
        self.waits = self.mode & X87_UNMASKED != 0 && waits(instruction);
        self.part = match self.mode & (SSE_UNMASKED | X87_UNMASKED) {
            0 => Part::None,
            _ => part(instruction),
        };
        let bit = if self.part == Part::Sse { SSE_UNMASKED } else { X87_UNMASKED };
        if self.mode & bit == 0 {
            self.part = Part::None;
        }
    }

    /// Tests whether the instruction begins with a wait.
    pub(crate) fn waits(&self) -> bool {
        self.waits
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
            Part::X87 => emit(context, helper_skinit_x86_64, state),
        }
        self.state = Some(state);
    }

    /// Emits the check of a number that the x87 is about to store, of `size` bytes at the address
    /// that a temporary holds.
    pub(crate) fn before_store(&self, context: Context, value: usize, address: usize, size: u16) {
        let (Part::X87, Some(state)) = (self.part, self.state) else { return };
        let emit = Emit(context);
        let size = emit.constant(u64::from(size));
        let mut args = [state, value as *mut c_void, address as *mut c_void, size as *mut c_void];
        // SAFETY: as for `Emit`; the helper that stands in for this one has these arguments, and
        // its result is as wide as the number.
        unsafe {
            let (function, args) = (helper_vmload_x86_64 as *const c_void, args.as_mut_ptr());
            ffi::__real_tcg_gen_callN_x86_64(context, function, value as *mut c_void, 4, args);
        }
        emit.free(size);
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
            let emit = Emit(context);
            let kind = emit.constant(self.kind);
            let mut args = [state, kind as *mut c_void];
            // SAFETY: as for `Emit`; the helper that stands in for this one has these arguments.
            unsafe {
                let (function, args) = (helper_vmmcall_x86_64 as *const c_void, args.as_mut_ptr());
                ffi::__real_tcg_gen_callN_x86_64(context, function, std::ptr::null_mut(), 2, args);
            }
            emit.free(kind);
        }
    }
}

/// Emits the wait at the start of an instruction, with the engine's state as argument.
pub(super) fn wait(context: Context, state: *mut c_void) {
    emit(context, helper_fwait_x86_64, state);
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
pub(super) fn is_state(argument: *mut c_void) -> bool {
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

/// Tests for the instructions of the x87.
fn is_x87(instruction: &Instruction) -> bool {
    let is = |feature| instruction.cpuid_features().contains(&feature);
    is(CpuidFeature::FPU) || is(CpuidFeature::FPU287) || is(CpuidFeature::FPU387)
}

/// Tests whether an instruction waits for exceptions of the x87 (Intel SDM vol. 1, 8.3.11 and
/// 8.6), as those of MMX do.
fn waits(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        M::Fninit | M::Fnclex | M::Fnstsw | M::Fnstcw | M::Fnstenv | M::Fnsave => false,
        M::Fndisi | M::Fneni | M::Fnsetpm => false,
        M::Emms => true,
        _ if is_x87(instruction) => true,
        _ => (0..instruction.op_count().min(2)).any(|i| instruction.op_register(i).is_mm()),
    }
}

/// The kind of an x87 instruction, by what an exception of its operands undoes.
fn kind(instruction: &Instruction) -> u64 {
    match instruction.mnemonic() {
        M::Fld => LOADS,
        M::Fcom
        | M::Fcomp
        | M::Fcompp
        | M::Fucom
        | M::Fucomp
        | M::Fucompp
        | M::Ficom
        | M::Ficomp
        | M::Ftst => COMPARES,
        _ => OTHERS,
    }
}

/// The part of an instruction in exceptions, if none is masked.
fn part(instruction: &Instruction) -> Part {
    if is_x87(instruction) {
        return match instruction.mnemonic() {
            M::Fninit | M::Fnclex | M::Fnstsw | M::Fnstcw | M::Fnstenv | M::Fnsave => Part::None,
            M::Fndisi | M::Fneni | M::Fnsetpm => Part::None,
            M::Wait | M::Fnop | M::Fldcw | M::Fldenv | M::Frstor => Part::None,
            _ => Part::X87,
        };
    }
    // CMPSD is a string instruction too.
    let is_string = instruction.mnemonic() == M::Cmpsd && !instruction.op0_register().is_xmm();
    let is_sse = instruction.encoding() == EncodingKind::Legacy && !is_string;
    if is_sse && is_arithmetic(instruction.mnemonic()) { Part::Sse } else { Part::None }
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

    /// The part of an instruction in a block for this mode, and whether it waits.
    fn part_of(mode: u32, bytes: &[u8]) -> (Part, bool) {
        let mut guard = Guard::begin(mode);
        guard.instruction(&decode(bytes, 0x1000));
        (guard.part, guard.waits)
    }

    /// addsd xmm0,xmm1; fadd st0,st1; fldcw [rax]; fnstsw ax; movapd xmm0,xmm1; fwait; paddb
    /// mm0,mm1; cvtps2pi mm0,xmm1; emms. The SDM's section 8.3.11 lists what does not wait. FWAIT
    /// is the wait itself.
    #[test]
    fn only_blocks_with_unmasked_exceptions_have_calls() {
        let code = [
            (&[0xf2, 0x0f, 0x58, 0xc1][..], Part::Sse, false),
            (&[0xd8, 0xc1], Part::X87, true),
            (&[0xd9, 0x28], Part::None, true),
            (&[0xdf, 0xe0], Part::None, false),
            (&[0x66, 0x0f, 0x28, 0xc1], Part::None, false),
            (&[0x9b], Part::None, false),
            (&[0x0f, 0xfc, 0xc1], Part::None, true),
            (&[0x0f, 0x2d, 0xc1], Part::Sse, true),
            (&[0x0f, 0x77], Part::None, true),
            // cvtsd2si eax,[rax]; cmpltsd xmm0,[rax]; the string instruction.
            (&[0xf2, 0x0f, 0x2d, 0x00], Part::Sse, false),
            (&[0xf2, 0x0f, 0xc2, 0x00, 0x01], Part::Sse, false),
            (&[0xa7], Part::None, false),
        ];
        for (bytes, part, waits) in code {
            assert_eq!(part_of(0, bytes), (Part::None, false), "{bytes:x?}");
            assert_eq!(part_of(SSE_UNMASKED | X87_UNMASKED, bytes), (part, waits), "{bytes:x?}");
        }
        assert_eq!(part_of(X87_UNMASKED, code[0].0), (Part::None, false));
        assert_eq!(part_of(SSE_UNMASKED, code[1].0), (Part::None, false));
    }
}
