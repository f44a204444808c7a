//! Decoding, and the decision whether the emulated CPU may run an instruction.

use iced_x86::{
    Code, CpuidFeature, Decoder, DecoderError, DecoderOptions, EncodingKind, Instruction, Mnemonic,
};

/// Most bytes in an x86 instruction.
pub const MAX_LENGTH: usize = 15;

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
    /// The bytes end before it, where nothing is executable: the fetch of the rest faults.
    Truncated,
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
    /// SGDT, SIDT, SLDT, STR or SMSW.
    Descriptors,
    /// CLFLUSH, which does nothing but to fault as a load does.
    Flush,
    /// INT1, which raises #DB behind it.
    Icebp,
    /// IRET or a far RET, which leads to the same segment or faults.
    FarReturn,
}

/// Reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not an instruction, or one that no CPU has: #UD.
    Undefined,
    /// Privileged, or longer than fifteen bytes: #GP.
    Privileged,
    /// Beyond the emulated model (x86-64-v2): #UD.
    Unsupported,
    /// A far transfer, or the gate of 32-bit system calls. Every CPU has it, so no fault would be
    /// right: the run ends.
    Transfer,
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
    CpuidFeature::CET_IBT,
    CpuidFeature::MONITOR,
    CpuidFeature::CLDEMOTE,
];

/// Extensions with privileged instructions that the CPU models do not have.
const SYSTEM_EXTENSIONS: &[CpuidFeature] = &[
    CpuidFeature::VMX,
    CpuidFeature::SVM,
    CpuidFeature::SKINIT,
    CpuidFeature::HRESET,
    CpuidFeature::SMX,
    CpuidFeature::CET_SS,
    CpuidFeature::KL,
    CpuidFeature::LKGS,
    CpuidFeature::FRED,
    CpuidFeature::INVPCID,
    CpuidFeature::XSAVES,
];

/// Decodes the instruction at `pc`, which is `Code::INVALID` if `bytes` end before it.
pub fn decode(bytes: &[u8], pc: u64) -> Instruction {
    Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode()
}

/// Decodes the instruction at `pc` and decides about it. Fewer than `MAX_LENGTH` bytes end where
/// nothing is executable.
pub(crate) fn examine(bytes: &[u8], pc: u64) -> (Instruction, Verdict) {
    let mut decoder = Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let verdict = match decoder.last_error() {
        _ if instruction.code() == Code::INVALID && is_too_long(bytes) => {
            Verdict::Refuse(Refusal::Privileged)
        }
        DecoderError::NoMoreBytes if bytes.len() < MAX_LENGTH && continues(bytes, pc) => Verdict::Truncated,
        _ => verdict(&instruction),
    };
    (instruction, verdict)
}

/// Tests whether more bytes could make an instruction of these. The decoder does not tell, as it
/// reads on after an undefined opcode.
fn continues(bytes: &[u8], pc: u64) -> bool {
    /// Bytes of which one or another, repeated, completes every instruction: as the rest of an
    /// opcode or of a VEX prefix, as ModRM byte in memory and in registers, as an immediate.
    const REST: [u8; 7] = [0x00, 0x0f, 0x58, 0x61, 0xc0, 0xf0, 0xff];
    REST.into_iter().any(|rest| {
        let mut whole = [rest; MAX_LENGTH];
        whole[..bytes.len()].copy_from_slice(bytes);
        // What may be locked shows in the bytes to come.
        whole.iter_mut().take_while(|byte| is_prefix(**byte)).filter(|byte| **byte == 0xf0).for_each(
            |byte| {
                *byte = 0x3e;
            },
        );
        decode(&whole, pc).code() != Code::INVALID
    })
}

/// Tests whether repeated prefixes make an instruction of these bytes longer than it may be.
fn is_too_long(bytes: &[u8]) -> bool {
    let mut short = [0; MAX_LENGTH];
    let mut len = 0;
    let prefixes = bytes.iter().take_while(|byte| is_prefix(**byte)).count();
    for (i, byte) in bytes.iter().enumerate() {
        if i >= prefixes || !bytes[i + 1..prefixes].contains(byte) {
            short[len] = *byte;
            len += 1;
        }
    }
    bytes.len() == MAX_LENGTH && len < bytes.len() && {
        let instruction = decode(&short, 0);
        instruction.code() != Code::INVALID && instruction.len() > len
    }
}

/// Tests for a legacy prefix (Intel SDM vol. 2, 2.1.1).
fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
}

/// Decides about an instruction that was decoded whole.
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
        M::Sgdt | M::Sidt | M::Sldt | M::Str | M::Smsw => return Verdict::Trap(Trap::Descriptors),
        // Linux lets user code call the gates of breakpoint and overflow.
        M::Int if matches!(instruction.immediate8(), 3 | 4) => return Verdict::Run,
        M::Int if instruction.immediate8() == 0x80 => return Verdict::Refuse(Refusal::Transfer),
        M::Int => return Verdict::Refuse(Refusal::Privileged),
        M::Clflush => return Verdict::Trap(Trap::Flush),
        M::Int1 => return Verdict::Trap(Trap::Icebp),
        M::Retf | M::Iret | M::Iretd | M::Iretq => return Verdict::Trap(Trap::FarReturn),
        // Above privilege level 0 there are none.
        M::Monitor | M::Mwait => return Verdict::Refuse(Refusal::Undefined),
        M::Ud0 | M::Ud1 | M::Ud2 | M::Rsm => return Verdict::Refuse(Refusal::Undefined),
        // The engine gets these wrong, silently or worse; tests/isa says how.
        M::Bextr | M::Bzhi | M::Blsi | M::Pdep => return Verdict::Refuse(Refusal::Unsupported),
        // Legal in user mode on some systems, never on Linux; and far transfers the engine does not
        // trace.
        M::Rdpmc | M::Sysenter | M::Sysexit | M::Sysexitq => {
            return Verdict::Refuse(Refusal::Privileged);
        }
        _ => {}
    }
    if instruction.is_privileged() {
        // An extension that is not there is undefined before it is privileged.
        let lacking = instruction.cpuid_features().iter().any(|feature| SYSTEM_EXTENSIONS.contains(feature));
        return Verdict::Refuse(if lacking { Refusal::Unsupported } else { Refusal::Privileged });
    }
    if is_far(instruction) {
        return Verdict::Refuse(Refusal::Transfer);
    }
    let vector = instruction.encoding() != EncodingKind::Legacy && !is_general_vex(instruction);
    if vector || !instruction.cpuid_features().iter().all(|feature| SUPPORTED.contains(feature)) {
        return Verdict::Refuse(Refusal::Unsupported);
    }
    Verdict::Run
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

/// Far jumps and calls change segments, which the emulated machine keeps flat.
fn is_far(instruction: &Instruction) -> bool {
    instruction.is_jmp_far()
        || instruction.is_call_far()
        || instruction.is_jmp_far_indirect()
        || instruction.is_call_far_indirect()
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
        // bextr eax,ebx,ecx; blsi eax,ebx; rdfsbase eax, which no CPU model announces
        for bytes in
            [&[0xc4, 0xe2, 0x70, 0xf7, 0xc3][..], &[0xc4, 0xe2, 0x78, 0xf3, 0xdb], &[0xf3, 0x0f, 0xae, 0xc0]]
        {
            assert_eq!(of(bytes), Verdict::Refuse(Refusal::Unsupported), "{bytes:x?}");
        }
    }

    /// At the end of a page what is there decides: `push es` and `lock add eax,eax` are undefined
    /// whatever follows. Intel SDM vol. 3, 6.15: more than fifteen bytes are #GP.
    #[test]
    fn the_end_of_the_bytes_is_no_verdict_of_its_own() {
        let of = |bytes: &[u8]| examine(bytes, 0x1000).1;
        for bytes in
            [&[0x48, 0x8b][..], &[0x66], &[0xb8, 1, 2, 3], &[0x0f], &[0x0f, 0x3a], &[0xc4], &[0xf0, 0x01]]
        {
            assert_eq!(of(bytes), Verdict::Truncated, "{bytes:x?}");
        }
        for bytes in [&[0x06][..], &[0xf0, 0x01, 0xc0], &[0x0f, 0x0b], &[0xd9, 0xd7], &[0x0f, 0x0a]] {
            assert_eq!(of(bytes), Verdict::Refuse(Refusal::Undefined), "{bytes:x?}");
        }
        assert_eq!(of(&[0x66; MAX_LENGTH]), Verdict::Refuse(Refusal::Privileged));
    }

    #[test]
    fn far_transfers_end_the_run() {
        // ljmp [rax]; rex.w lcall [rax]; int 0x80
        for bytes in [&[0xff, 0x28][..], &[0x48, 0xff, 0x18], &[0xcd, 0x80]] {
            assert_eq!(of(bytes), Verdict::Refuse(Refusal::Transfer), "{bytes:x?}");
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
        // sgdt [rax]; smsw eax
        assert_eq!(of(&[0x0f, 0x01, 0x00]), Verdict::Trap(Trap::Descriptors));
        assert_eq!(of(&[0x0f, 0x01, 0xe0]), Verdict::Trap(Trap::Descriptors));
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
