//! Decoding, and the decision whether the emulated CPU may run an instruction.

use iced_x86::{Code, CpuidFeature, Decoder, DecoderOptions, EncodingKind, Instruction, Mnemonic};

/// Most bytes in an x86 instruction.
pub(crate) const MAX_LENGTH: usize = 15;

/// Reads code: up to `MAX_LENGTH` bytes at an address and their number, 0 where nothing is
/// executable.
pub(crate) type Fetch<'a> = dyn FnMut(u64) -> ([u8; MAX_LENGTH], usize) + 'a;

/// Treatment of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The engine runs it.
    Run,
    /// The engine stops at it and the machine itself answers.
    Trap(Trap),
    /// It faults, as on the CPU model that CPUID names. An uncaught fault ends the run with a
    /// message.
    Refuse(Refusal),
}

/// Instructions that the machine emulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// CPUID.
    Cpuid,
    /// RDTSC.
    Rdtsc,
    /// RDTSCP.
    Rdtscp,
    /// RDRAND or RDSEED.
    Random,
    /// XGETBV, where the CPU model has it.
    Xgetbv,
}

/// Reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not an instruction, or one that no CPU has: #UD.
    Undefined,
    /// Privileged: #GP.
    Privileged,
    /// Beyond the emulated model (x86-64-v2): #UD.
    Unsupported,
}

/// Instruction-set extensions that the engine runs as the manuals say.
const SUPPORTED: &[CpuidFeature] = &[
    CpuidFeature::INTEL8086,
    CpuidFeature::INTEL186,
    CpuidFeature::INTEL286,
    CpuidFeature::INTEL386,
    CpuidFeature::INTEL486,
    CpuidFeature::X64,
    CpuidFeature::CPUID,
    CpuidFeature::TSC,
    CpuidFeature::RDTSCP,
    CpuidFeature::RDRAND,
    CpuidFeature::RDSEED,
    CpuidFeature::CX8,
    CpuidFeature::CMPXCHG16B,
    CpuidFeature::CMOV,
    CpuidFeature::FPU,
    CpuidFeature::FPU287,
    CpuidFeature::FPU387,
    CpuidFeature::FXSR,
    CpuidFeature::MMX,
    CpuidFeature::SSE,
    CpuidFeature::SSE2,
    CpuidFeature::SSE3,
    CpuidFeature::SSSE3,
    CpuidFeature::SSE4_1,
    CpuidFeature::SSE4_2,
    CpuidFeature::POPCNT,
    CpuidFeature::LZCNT,
    CpuidFeature::BMI1,
    CpuidFeature::BMI2,
    CpuidFeature::MOVBE,
    CpuidFeature::AES,
    CpuidFeature::PCLMULQDQ,
    CpuidFeature::CLFSH,
    CpuidFeature::PAUSE,
    CpuidFeature::MULTIBYTENOP,
    CpuidFeature::PREFETCHW,
    CpuidFeature::PREFETCHWT1,
    CpuidFeature::SYSCALL,
    CpuidFeature::FSGSBASE,
    CpuidFeature::CET_IBT,
    CpuidFeature::MONITOR,
    CpuidFeature::CLDEMOTE,
];

/// Decodes the instruction at `pc`. `bytes` may end early at an unmapped page; see
/// `is_truncated`.
pub fn decode(bytes: &[u8], pc: u64) -> Instruction {
    Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode()
}

/// Decides about an instruction.
pub fn verdict(instruction: &Instruction) -> Verdict {
    use Mnemonic as M;
    if instruction.code() == Code::INVALID {
        return Verdict::Refuse(Refusal::Undefined);
    }
    match instruction.mnemonic() {
        M::Cpuid => return Verdict::Trap(Trap::Cpuid),
        M::Rdtsc => return Verdict::Trap(Trap::Rdtsc),
        M::Rdtscp => return Verdict::Trap(Trap::Rdtscp),
        M::Rdrand | M::Rdseed => return Verdict::Trap(Trap::Random),
        M::Xgetbv => return Verdict::Trap(Trap::Xgetbv),
        // Shadow-stack reads are no-ops where there is no shadow stack, as here.
        M::Rdsspd | M::Rdsspq => return Verdict::Run,
        M::Int if instruction.immediate8() == 0x80 => return Verdict::Refuse(Refusal::Unsupported),
        M::Int => return Verdict::Refuse(Refusal::Privileged),
        M::Ud0 | M::Ud1 | M::Ud2 => return Verdict::Refuse(Refusal::Undefined),
        // The engine gets these wrong, silently or worse; tests/isa says how.
        M::Bextr | M::Bzhi | M::Blsi | M::Pdep => return Verdict::Refuse(Refusal::Unsupported),
        // Legal in user mode on some systems, never on Linux; and far transfers the engine does not
        // trace.
        M::Rdpmc | M::Monitor | M::Mwait | M::Sysenter | M::Sysexit | M::Sysexitq => {
            return Verdict::Refuse(Refusal::Privileged);
        }
        M::Lar | M::Lsl | M::Verr | M::Verw | M::Str | M::Sldt | M::Smsw => {
            return Verdict::Refuse(Refusal::Unsupported);
        }
        _ => {}
    }
    if instruction.is_privileged() {
        return Verdict::Refuse(Refusal::Privileged);
    }
    if is_far(instruction) {
        return Verdict::Refuse(Refusal::Unsupported);
    }
    let vector = instruction.encoding() != EncodingKind::Legacy && !is_general_vex(instruction);
    if vector || !instruction.cpuid_features().iter().all(|feature| SUPPORTED.contains(feature)) {
        return Verdict::Refuse(Refusal::Unsupported);
    }
    Verdict::Run
}

/// Tests whether the bytes end before the instruction.
pub(crate) fn is_truncated(instruction: &Instruction, available: usize) -> bool {
    instruction.code() == Code::INVALID && available < MAX_LENGTH
}

/// Known difference between the result of this instruction and hardware.
pub(crate) fn inexact(instruction: &Instruction) -> Option<&'static str> {
    use Mnemonic as M;
    match instruction.mnemonic() {
        M::Fsin | M::Fcos | M::Fsincos | M::Fptan | M::Fpatan | M::Fyl2x | M::Fyl2xp1 | M::F2xm1 => {
            Some("x87 transcendental instructions are rounded correctly, where CPUs may err in the last bit")
        }
        _ => None,
    }
}

/// Far jumps, calls and returns change segments, which the emulated machine keeps flat.
fn is_far(instruction: &Instruction) -> bool {
    instruction.is_jmp_far()
        || instruction.is_call_far()
        || instruction.is_jmp_far_indirect()
        || instruction.is_call_far_indirect()
        || matches!(
            instruction.mnemonic(),
            Mnemonic::Retf | Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq
        )
}

/// VEX encodings of general-register instructions (BMI1, BMI2), which the engine runs correctly,
/// unlike vector code.
fn is_general_vex(instruction: &Instruction) -> bool {
    instruction.encoding() == EncodingKind::VEX
        && instruction
            .cpuid_features()
            .iter()
            .all(|feature| matches!(feature, CpuidFeature::BMI1 | CpuidFeature::BMI2))
}

/// Instruction sets of a refused instruction, for a message.
pub(crate) fn feature_names(instruction: &Instruction) -> String {
    let names: Vec<String> =
        instruction.cpuid_features().iter().map(|feature| format!("{feature:?}").replace('_', ".")).collect();
    names.join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Verdict {
        verdict(&decode(bytes, 0x1000))
    }

    #[test]
    fn vector_code_beyond_sse_is_refused() {
        // vpaddd xmm0,xmm1,xmm2; vaddsd; vpaddd zmm; the engine would run the first two wrongly.
        for bytes in
            [&[0xc5, 0xf1, 0xfe, 0xc2][..], &[0xc5, 0xf3, 0x58, 0xc2], &[0x62, 0xf1, 0x75, 0x48, 0xfe, 0xc2]]
        {
            assert_eq!(of(bytes), Verdict::Refuse(Refusal::Unsupported), "{bytes:x?}");
        }
    }

    #[test]
    fn what_the_engine_gets_wrong_is_refused() {
        // bextr eax,ebx,ecx; blsi eax,ebx
        for bytes in [&[0xc4, 0xe2, 0x70, 0xf7, 0xc3][..], &[0xc4, 0xe2, 0x78, 0xf3, 0xdb]] {
            assert_eq!(of(bytes), Verdict::Refuse(Refusal::Unsupported), "{bytes:x?}");
        }
    }

    #[test]
    fn general_vex_code_runs() {
        // andn eax,ebx,ecx; mulx rax,rbx,rcx
        assert_eq!(of(&[0xc4, 0xe2, 0x60, 0xf2, 0xc1]), Verdict::Run);
        assert_eq!(of(&[0xc4, 0xe2, 0xe3, 0xf6, 0xc1]), Verdict::Run);
    }

    #[test]
    fn privileged_code_faults() {
        // hlt; cli; in al,dx; mov cr0,rax; rdmsr; lgdt [rax]; wbinvd
        for bytes in [
            &[0xf4][..],
            &[0xfa],
            &[0xec],
            &[0x0f, 0x22, 0xc0],
            &[0x0f, 0x32],
            &[0x0f, 0x01, 0x10],
            &[0x0f, 0x09],
        ] {
            assert_eq!(of(bytes), Verdict::Refuse(Refusal::Privileged), "{bytes:x?}");
        }
    }

    #[test]
    fn fixed_answers_are_traps() {
        assert_eq!(of(&[0x0f, 0xa2]), Verdict::Trap(Trap::Cpuid));
        assert_eq!(of(&[0x0f, 0x31]), Verdict::Trap(Trap::Rdtsc));
        assert_eq!(of(&[0x0f, 0x01, 0xf9]), Verdict::Trap(Trap::Rdtscp));
        assert_eq!(of(&[0x0f, 0xc7, 0xf0]), Verdict::Trap(Trap::Random));
    }

    #[test]
    fn ordinary_code_runs() {
        // mov rax,[rbx]; pshufb xmm0,xmm1; popcnt eax,ebx; aesenc xmm0,xmm1; fxsave [rax]; crc32
        // eax,ebx; endbr64
        for bytes in [
            &[0x48, 0x8b, 0x03][..],
            &[0x66, 0x0f, 0x38, 0x00, 0xc1],
            &[0xf3, 0x0f, 0xb8, 0xc3],
            &[0x66, 0x0f, 0x38, 0xdc, 0xc1],
            &[0x0f, 0xae, 0x00],
            &[0xf2, 0x0f, 0x38, 0xf1, 0xc3],
            &[0xf3, 0x0f, 0x1e, 0xfa],
        ] {
            assert_eq!(of(bytes), Verdict::Run, "{bytes:x?}");
        }
    }
}
