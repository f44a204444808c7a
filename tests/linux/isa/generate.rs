//! From the decoder's own table to a guest program: every encoding that cgemu lets run, with every
//! kind of operand.

use std::collections::{BTreeMap, BTreeSet};

use cgemu::x86::decode::{Verdict, decode, verdict};
use iced_x86::{
    Code, CpuidFeature, Encoder, EncodingKind, Formatter as _, Instruction, IntelFormatter, MemoryOperand,
    MemorySize, Mnemonic as M, OpCodeOperandKind as K, OpKind, Register as R, RflagsBits,
};

use super::emit::{assembly, header};
use super::operands::{ADDRESSES, VARIANTS, address, has_memory, immediates, register};
use crate::common::operands::{fixed, immediate_kind};

/// Where the instructions are, and the operand in memory: fixed, for RIP-relative and absolute
/// addresses.
pub const FORMS_ADDRESS: u64 = 0x1000_0000;
pub const MEM_OPERAND: u64 = 0x2000_0ff0;
pub const STUB_SIZE: u64 = 32;
/// Where in a stub a taken branch goes.
pub const TAKEN: u64 = 24;

/// What the harness has to know of a form; the names are those of `forms.h`.
pub const FLAG_NAMES: [&str; 14] = [
    "SSE_FLOAT",
    "X87",
    "MMX",
    "MEMORY",
    "ALIGNED",
    "MISALIGNED",
    "FIXED_ADDRESS",
    "ADDRESS32",
    "ON_STACK",
    "WIDE_COUNT",
    "SS",
    "X87_16",
    "HIDES_POINTERS",
    "MEMORY_F80",
];
pub const SORTS: [&str; 8] = ["QWORDS", "DWORDS", "WORDS", "BYTES", "TEXT", "F32", "F64", "COUNT"];
pub const SPECIALS: [&str; 19] = [
    "NONE",
    "STRING",
    "SHIFT",
    "SHIFT16",
    "BIT",
    "LOOP",
    "POPF",
    "BCD",
    "DIVIDE",
    "FXRSTOR",
    "ENVIRONMENT",
    "FLDCW",
    "MXCSR",
    "SEGMENT",
    "LENGTHS",
    "FRAME",
    "RETURN",
    "JUMP",
    "XLAT",
];

/// One form: an encoding with its operands chosen, over its immediates.
pub struct Form {
    pub flags: BTreeSet<&'static str>,
    pub sort: &'static str,
    pub special: &'static str,
    /// Whether it gets the full number of trials: one of its encoding's first, in register or
    /// memory.
    pub thorough: bool,
    pub stubs: Vec<Stub>,
}

pub struct Stub {
    pub bytes: Vec<u8>,
    /// Defined status flags after it, as in RFLAGS.
    pub flags: u32,
    /// Defined condition codes after it, as in the x87 status word.
    pub codes: u32,
}

/// The program: `forms.h` and `forms.S`, the encodings left out, and how many forms and encodings
/// there are.
pub struct Program {
    pub header: String,
    pub assembly: String,
    pub left_out: Vec<String>,
    pub forms: usize,
    pub encodings: usize,
}

/// Encodings that cannot be run alone, with the reason.
fn left_out(code: Code) -> Option<&'static str> {
    match code.mnemonic() {
        M::Syscall => Some("a system call, not a computation"),
        M::Lsl => Some("it tells the number of the CPU that the program runs on"),
        M::Wrfsbase => Some("it would move the C library's thread-local storage"),
        M::Rdfsbase => Some("its value is the kernel's choice of address"),
        M::Cpuid | M::Rdtsc | M::Rdtscp | M::Rdrand | M::Rdseed => {
            Some("answered by cgemu, not by the engine")
        }
        _ if matches!(code, Code::Popw_FS | Code::Popq_FS) => {
            Some("it would move the C library's thread-local storage")
        }
        M::Lss | M::Lfs | M::Lgs => Some("it loads a segment that cgemu keeps flat"),
        _ => None,
    }
}

/// The arithmetic flags, as `iced_x86` names them and as bits of RFLAGS.
pub const FLAGS: [(u32, u32); 6] = [
    (RflagsBits::OF, 0x800),
    (RflagsBits::SF, 0x80),
    (RflagsBits::ZF, 0x40),
    (RflagsBits::AF, 0x10),
    (RflagsBits::PF, 4),
    (RflagsBits::CF, 1),
];

/// What of RFLAGS and of the x87 condition codes the manual defines after `instruction`.
fn defined(instruction: &Instruction) -> (u32, u32) {
    let undefined = instruction.rflags_undefined();
    let keep = |pairs: &[(u32, u32)]| {
        pairs.iter().filter(|(bit, _)| undefined & bit == 0).fold(0, |mask, (_, value)| mask | value)
    };
    let flags = keep(&FLAGS);
    let codes = keep(&[
        (RflagsBits::C0, 0x100),
        (RflagsBits::C1, 0x200),
        (RflagsBits::C2, 0x400),
        (RflagsBits::C3, 0x4000),
    ]);
    (flags, codes)
}

/// The values that suit the operands.
fn sort(mnemonic: M, memory: MemorySize) -> &'static str {
    if format!("{mnemonic:?}").starts_with('F') {
        return match memory {
            MemorySize::Float32 => "F32",
            MemorySize::Float64 => "F64",
            _ => "ANY",
        };
    }
    let name = format!("{mnemonic:?}").to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|e| name.ends_with(e));
    if let Some(rest) = name.strip_prefix("cvt") {
        let from = rest.trim_start_matches('t');
        return match &from[..2.min(from.len())] {
            "ps" | "ss" => "F32",
            "pd" | "sd" => "F64",
            _ => "DWORDS",
        };
    }
    if name.starts_with("pcmp") && name.contains("str") {
        "TEXT"
    } else if name.starts_with('p') || name.starts_with("mov") && !ends(&["ps", "pd", "ss"]) {
        if ends(&["b", "bw", "ub"]) || name.contains("ubs") || name.contains("pack") && name.contains("wb") {
            "BYTES"
        } else if ends(&["w", "wd", "sw"]) || name.contains("pack") {
            "WORDS"
        } else {
            "ANY"
        }
    } else if ends(&["ps", "ss"]) {
        "F32"
    } else if ends(&["pd", "sd"]) {
        "F64"
    } else {
        "ANY"
    }
}

fn is_float(code: Code) -> bool {
    let name = format!("{:?}", code.mnemonic()).to_lowercase();
    let sse = code.cpuid_features().iter().any(|f| {
        matches!(f, CpuidFeature::SSE | CpuidFeature::SSE2 | CpuidFeature::SSE3 | CpuidFeature::SSE4_1)
    });
    sse && (name.starts_with("cvt") || ["ps", "pd", "ss", "sd"].iter().any(|e| name.ends_with(e)))
        && !name.starts_with("mov")
}

fn special(code: Code, instruction: &Instruction) -> &'static str {
    let by_counter = (0..instruction.op_count()).any(|i| {
        instruction.op_kind(i) == OpKind::Register
            && instruction.op_register(i) == R::CL
            && code.op_code().op_kind(i) == K::cl
    });
    let bit_string =
        code.op_code().op_kinds().last().is_some_and(|k| matches!(k, K::r16_reg | K::r32_reg | K::r64_reg));
    match instruction.mnemonic() {
        _ if instruction.is_string_instruction() => "STRING",
        M::Shld | M::Shrd if by_counter && code.op_code().operand_size() == 16 => "SHIFT16",
        M::Shl | M::Shr | M::Sar | M::Sal | M::Rol | M::Ror | M::Rcl | M::Rcr | M::Shld | M::Shrd
            if by_counter =>
        {
            "SHIFT"
        }
        M::Bt | M::Bts | M::Btr | M::Btc if bit_string => "BIT",
        M::Loop | M::Loope | M::Loopne | M::Jrcxz | M::Jecxz => "LOOP",
        M::Popf | M::Popfq => "POPF",
        M::Fbld => "BCD",
        M::Div | M::Idiv => "DIVIDE",
        M::Fxrstor | M::Fxrstor64 => "FXRSTOR",
        M::Fxsave | M::Fxsave64 => "FXRSTOR",
        M::Fldenv | M::Frstor => "ENVIRONMENT",
        M::Fldcw => "FLDCW",
        M::Ldmxcsr => "MXCSR",
        M::Mov | M::Pop
            if (0..instruction.op_count()).any(|i| instruction.op_register(i).is_segment_register()) =>
        {
            "SEGMENT"
        }
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpestri64 | M::Pcmpestrm64 => "LENGTHS",
        M::Enter | M::Leave => "FRAME",
        M::Ret => "RETURN",
        M::Jmp | M::Call if instruction.is_jmp_near_indirect() || instruction.is_call_near_indirect() => {
            "JUMP"
        }
        M::Xlatb => "XLAT",
        _ => "NONE",
    }
}

fn form_flags(code: Code, instruction: &Instruction) -> BTreeSet<&'static str> {
    let mut flags = BTreeSet::new();
    let features = code.cpuid_features();
    if is_float(code) {
        flags.insert("SSE_FLOAT");
    }
    if features.iter().any(|f| matches!(f, CpuidFeature::FPU | CpuidFeature::FPU287 | CpuidFeature::FPU387))
        || code.mnemonic() == M::Fisttp
        || code.op_code().op_kinds().contains(&K::sti_opcode)
    {
        flags.insert("X87");
    }
    if code.op_code().instruction_string().contains("mm")
        && code.op_code().op_kinds().iter().any(|k| matches!(k, K::mm_or_mem | K::mm_reg | K::mm_rm))
    {
        flags.insert("MMX");
    }
    if instruction.op_count() > 0
        && (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory)
    {
        flags.insert("MEMORY");
        if matches!(instruction.memory_base(), R::RIP | R::None) {
            flags.insert("FIXED_ADDRESS");
        }
        if instruction.memory_base() == R::RSP {
            flags.insert("ON_STACK");
        }
    }
    if matches!(code.mnemonic(), M::Xlatb | M::Maskmovq | M::Maskmovdqu) {
        flags.insert("MEMORY");
    }
    if flags.contains("MEMORY") && instruction.memory_size().size() >= 16
        || matches!(code.mnemonic(), M::Fxsave | M::Fxrstor | M::Fxsave64 | M::Fxrstor64)
    {
        flags.insert("ALIGNED");
    }
    if instruction.memory_size() == MemorySize::Float80 {
        flags.insert("MEMORY_F80");
    }
    if code.op_code().operand_size() == 64 || code.op_code().instruction_string().contains("r/m64") {
        flags.insert("WIDE_COUNT");
    }
    if (0..instruction.op_count()).any(|i| instruction.op_register(i) == R::SS) {
        flags.insert("SS");
    }
    let memory = instruction.memory_size();
    if matches!(memory, MemorySize::FpuEnv14 | MemorySize::FpuState94) {
        flags.insert("X87_16");
    }
    if matches!(
        memory,
        MemorySize::FpuEnv14
            | MemorySize::FpuState94
            | MemorySize::FpuEnv28
            | MemorySize::FpuState108
            | MemorySize::Fxsave_512Byte
            | MemorySize::Fxsave64_512Byte
    ) {
        flags.insert("HIDES_POINTERS");
    }
    flags
}

/// The operands of one variant; `None` where it has no such registers or they cannot be encoded
/// together.
fn operands(code: Code, in_memory: bool, way: usize, variant: usize) -> Option<Instruction> {
    let mut instruction = Instruction::new();
    instruction.set_code(code);
    let info = code.op_code();
    let mut registers = 0;
    for (i, &kind) in info.op_kinds().iter().enumerate() {
        let i = i as u32;
        if let Some(register) = fixed(kind) {
            instruction.set_op_kind(i, OpKind::Register);
            instruction.set_op_register(i, register);
        } else if kind == K::mem || kind == K::mem_offs || in_memory && has_memory(kind) {
            instruction.set_op_kind(i, OpKind::Memory);
            let mut memory = address(way);
            if kind == K::mem_offs {
                memory = MemoryOperand::with_displ(MEM_OPERAND, if way == 0 { 8 } else { 4 });
                if way > 1 {
                    return None;
                }
            }
            instruction.set_memory_base(memory.base);
            instruction.set_memory_index(memory.index);
            instruction.set_memory_index_scale(memory.scale);
            instruction.set_memory_displacement64(memory.displacement as u64);
            instruction.set_memory_displ_size(memory.displ_size);
        } else if immediate_kind(kind).is_some() {
            let second = info.op_kinds()[..i as usize].iter().any(|k| immediate_kind(*k).is_some());
            instruction.set_op_kind(i, if second { OpKind::Immediate8_2nd } else { immediate_kind(kind)? });
        } else if let Some(register) = register(kind, registers, variant) {
            registers += 1;
            instruction.set_op_kind(i, OpKind::Register);
            instruction.set_op_register(i, register);
        } else {
            let op = match kind {
                K::seg_rSI => [OpKind::MemorySegRSI, OpKind::MemorySegESI],
                K::es_rDI => [OpKind::MemoryESRDI, OpKind::MemoryESEDI],
                K::seg_rDI => [OpKind::MemorySegRDI, OpKind::MemorySegEDI],
                K::br16_1 | K::br32_1 | K::br64_1 | K::br64_4 => [OpKind::NearBranch64; 2],
                K::seg_rBX_al => {
                    instruction.set_memory_base(R::RBX);
                    instruction.set_memory_index(R::AL);
                    [OpKind::Memory; 2]
                }
                _ => return None,
            };
            if way > 1 {
                return None;
            }
            instruction.set_op_kind(i, op[way]);
        }
    }
    // Without a register operand, or without one in memory, further variants are the same again.
    (registers > 0 || variant == 0).then_some(instruction)
}

fn is_branch(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::NearBranch64)
}

/// Encodes it for `address`, and asks the decoder under test whether cgemu would run it.
fn encode(instruction: &Instruction, address: u64) -> Option<Vec<u8>> {
    let mut instruction = *instruction;
    if is_branch(&instruction) {
        instruction.set_near_branch64(address + TAKEN);
    }
    let mut encoder = Encoder::new(64);
    encoder.encode(&instruction, address).ok()?;
    let bytes = encoder.take_buffer();
    let back = decode(&bytes, address);
    (back.len() == bytes.len() && verdict(&back) == Verdict::Run).then_some(bytes)
}

fn name(instruction: &Instruction, encoding: Code, misaligned: bool) -> String {
    let mut text = String::new();
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_rip_relative_addresses(true);
    formatter.options_mut().set_use_pseudo_ops(false);
    formatter.format(instruction, &mut text);
    for kind in encoding.op_code().op_kinds() {
        if immediate_kind(*kind).is_some() && *kind != K::imm8_const_1 {
            let (head, _) = text.rsplit_once([',', ' ']).expect("an operand");
            let separator = if head.contains(' ') { ',' } else { ' ' };
            text = format!("{head}{separator}i");
        }
    }
    if is_branch(instruction) {
        let (head, _) = text.rsplit_once(' ').expect("a target");
        text = format!("{head} label");
    }
    text = text.replace(' ', "_");
    if misaligned {
        text.push_str("/misaligned");
    }
    text
}

/// All forms of all encodings that cgemu lets run.
pub fn program() -> Program {
    let mut forms: BTreeMap<String, Form> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut left = Vec::new();
    let mut encodings = 0;
    let mut address = FORMS_ADDRESS;
    for code in Code::values() {
        let info = code.op_code();
        let wanted = info.is_instruction()
            && info.mode64()
            && (info.encoding() == EncodingKind::Legacy || info.encoding() == EncodingKind::VEX);
        if !wanted {
            continue;
        }
        let mut any = false;
        let memory = info.op_kinds().iter().any(|k| has_memory(*k));
        for in_memory in [false, true] {
            let ways =
                if in_memory && memory || info.op_kinds().iter().any(|k| matches!(k, K::mem | K::mem_offs)) {
                    ADDRESSES
                } else {
                    2
                };
            if in_memory && !memory {
                continue;
            }
            for way in 0..ways {
                for variant in 0..VARIANTS {
                    if way > 0 && variant > 0 {
                        continue;
                    }
                    let Some(base) = operands(code, in_memory, way, variant) else { continue };
                    for prefix in ["", "lock", "rep", "repne"] {
                        let mut base = base;
                        match prefix {
                            "lock" if info.can_use_lock_prefix() && in_memory => {
                                base.set_has_lock_prefix(true);
                            }
                            "rep" if base.is_string_instruction() => base.set_has_rep_prefix(true),
                            "repne" if base.is_string_instruction() && info.can_use_repne_prefix() => {
                                base.set_has_repne_prefix(true);
                            }
                            "" => {}
                            _ => continue,
                        }
                        if let Some(reason) = left_out(code) {
                            if encode(&base, address).is_some() && !any {
                                left.push(format!("{code:?}: {reason}"));
                                any = true;
                            }
                            continue;
                        }
                        let first = way == 0 && (variant == 0 || variant == 2);
                        let plain = flags_of(code, &base, way);
                        let aligned = plain.contains("ALIGNED")
                            && !plain.contains("FIXED_ADDRESS")
                            && way == 0
                            && variant == 0;
                        for misaligned in [false, true] {
                            if misaligned && !aligned {
                                continue;
                            }
                            let mut stubs = Vec::new();
                            for instruction in with_immediates(code, &base, first && !misaligned) {
                                let at = address + stubs.len() as u64 * STUB_SIZE;
                                let Some(bytes) = encode(&instruction, at) else { continue };
                                let fixed = instruction.memory_base() != R::RIP && !is_branch(&instruction);
                                if fixed && !misaligned && !seen.insert(bytes.clone()) {
                                    continue;
                                }
                                let (flags, codes) = defined(&instruction);
                                stubs.push(Stub { bytes, flags, codes });
                            }
                            if stubs.is_empty() {
                                continue;
                            }
                            any = true;
                            address += stubs.len() as u64 * STUB_SIZE;
                            let mut name = name(&base, code, misaligned);
                            if forms.contains_key(&name) {
                                name = format!("{name}#{code:?}");
                            }
                            while forms.contains_key(&name) {
                                name.push('+');
                            }
                            let mut flags = plain.clone();
                            if misaligned {
                                flags.remove("ALIGNED");
                                flags.insert("MISALIGNED");
                            }
                            let special = special(code, &base);
                            order.push(name.clone());
                            let thorough = first && !misaligned;
                            let form = Form {
                                flags,
                                sort: sort(code.mnemonic(), base.memory_size()),
                                special,
                                thorough,
                                stubs,
                            };
                            forms.insert(name, form);
                        }
                    }
                }
            }
        }
        encodings += usize::from(any);
    }
    Program {
        header: header(&forms, &order),
        assembly: assembly(&forms, &order),
        left_out: left,
        forms: order.len(),
        encodings,
    }
}

fn flags_of(code: Code, instruction: &Instruction, way: usize) -> BTreeSet<&'static str> {
    let mut flags = form_flags(code, instruction);
    if way == 1 && instruction.is_string_instruction() {
        flags.insert("ADDRESS32");
    }
    flags
}

fn with_immediates(code: Code, base: &Instruction, first: bool) -> Vec<Instruction> {
    let kinds = code.op_code().op_kinds();
    let Some(position) = kinds.iter().position(|k| immediate_kind(*k).is_some()) else { return vec![*base] };
    let mut all = Vec::new();
    for (n, value) in immediates(code, kinds[position], first).into_iter().enumerate() {
        let mut instruction = *base;
        instruction.set_immediate_u64_of(position as u32, value);
        if base.op_count() as usize > position + 1
            && base.op_kind(position as u32 + 1) == OpKind::Immediate8_2nd
        {
            instruction.set_immediate8_2nd(n as u8);
        }
        all.push(instruction);
    }
    all
}

/// Sets an immediate whatever its width.
trait SetImmediate {
    fn set_immediate_u64_of(&mut self, operand: u32, value: u64);
}

impl SetImmediate for Instruction {
    fn set_immediate_u64_of(&mut self, operand: u32, value: u64) {
        match self.op_kind(operand) {
            OpKind::Immediate8 => self.set_immediate8(value as u8),
            OpKind::Immediate16 => self.set_immediate16(value as u16),
            OpKind::Immediate32 => self.set_immediate32(value as u32),
            OpKind::Immediate64 => self.set_immediate64(value),
            OpKind::Immediate8to16 => self.set_immediate8to16(value as i16),
            OpKind::Immediate8to32 => self.set_immediate8to32(value as i32),
            OpKind::Immediate8to64 => self.set_immediate8to64(value as i64),
            OpKind::Immediate32to64 => self.set_immediate32to64(value as i64),
            _ => {}
        }
    }
}
