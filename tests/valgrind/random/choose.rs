//! Random instructions whose counts do not depend on values that Valgrind computes otherwise than a
//! CPU does.
//!
//! RBX and R12 point to data of integer code, RBP and RDI to data of vector and x87 code; these,
//! RSI, the index R14, the counter R15 and RSP keep their values. What vector and x87 code computes
//! goes to its own data and registers, never to flags, general registers or an address: Valgrind
//! computes with 64 bits where the x87 has 80.

use crate::common::operands::{fixed, immediate_kind};
use cgemu::x86::decode::{Verdict, decode, verdict};
use iced_x86::{
    Code, CpuidFeature, Encoder, EncodingKind, Instruction, InstructionInfoFactory, Mnemonic as M, OpAccess,
    OpCodeOperandKind as K, OpKind, Register as R,
};

/// Random numbers (SplitMix64), from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Registers that instructions may write.
pub const FREE: [R; 7] = [R::RAX, R::RCX, R::RDX, R::R8, R::R9, R::R10, R::R13];
/// Bytes of each of the two areas of data from its pointers on.
pub const AREA: u64 = 6000;

/// Instructions that no program gets, with the reason.
fn left_out(code: Code) -> bool {
    match code.mnemonic() {
        // Their answers are the host's or the kernel's.
        M::Cpuid
        | M::Rdtsc
        | M::Rdtscp
        | M::Rdrand
        | M::Rdseed
        | M::Rdfsbase
        | M::Rdgsbase
        | M::Sgdt
        | M::Sidt
        | M::Sldt
        | M::Str
        | M::Smsw
        | M::Lar
        | M::Lsl
        | M::Verr
        | M::Verw => true,
        // They change the state that the rest relies on.
        M::Wrfsbase
        | M::Wrgsbase
        | M::Popf
        | M::Popfq
        | M::Std
        | M::Lss
        | M::Lfs
        | M::Lgs
        | M::Leave
        | M::Enter => true,
        // Control words that unmask exceptions.
        M::Fldcw | M::Fldenv | M::Frstor | M::Fxrstor | M::Fxrstor64 | M::Ldmxcsr => true,
        // Results that no manual defines: of zero, of a swap of 16 bits, of upper halves.
        M::Bsf | M::Bsr | M::Bswap => true,
        M::Cmpxchg if code.op_code().operand_size() == 32 => true,
        M::Shld | M::Shrd if code.op_code().operand_size() == 16 => true,
        // In templates of their own, or nowhere: control, strings, division.
        M::Syscall | M::Ret | M::Call | M::Jmp | M::Div | M::Idiv | M::Xlatb | M::Int | M::Int3 | M::Int1 => {
            true
        }
        M::Bt | M::Bts | M::Btr | M::Btc => false,
        // Valgrind 3.19 does not decode them, or loses its way.
        M::Fbld | M::Fbstp | M::Fnop | M::Movsxd | M::Rdsspd | M::Rdsspq | M::Rorx => true,
        M::Clflushopt | M::Clwb | M::Cldemote | M::Prefetchwt1 | M::Prefetch | M::Prefetchw => true,
        M::Reservednop => true,
        M::Lea if code.op_code().operand_size() == 16 => true,
        M::Pushf | M::Pushfq | M::Fneni | M::Fndisi | M::Fnsetpm => true,
        // It takes XCHG of AX with R8W and above for one of 32 bits.
        M::Xchg if code == Code::Xchg_r16_AX => true,
        _ => matches!(
            code,
            Code::Pop_rm16
                | Code::Test_rm8_imm8_F6r1
                | Code::Test_rm16_imm16_F7r1
                | Code::Test_rm32_imm32_F7r1
                | Code::Test_rm64_imm32_F7r1
                | Code::Movzx_r16_rm16
                | Code::Movsx_r16_rm16
                | Code::Pinsrb_xmm_r64m8_imm8
                | Code::Pextrb_r64m8_xmm_imm8
                | Code::Pextrw_r32m16_xmm_imm8
                | Code::Pextrw_r64m16_xmm_imm8
        ),
    }
}

/// Forms that Valgrind 3.19 knows with memory only.
fn needs_memory(code: Code) -> bool {
    matches!(
        code,
        Code::Pop_rm64
            | Code::Movups_xmmm128_xmm
            | Code::Movss_xmmm32_xmm
            | Code::Movdqu_xmmm128_xmm
            | Code::Movq_xmmm64_xmm
    )
}

/// The bits of the immediate that mean something; with others Valgrind 3.19 does not decode it.
fn immediate_mask(mnemonic: M) -> u8 {
    match mnemonic {
        M::Cmpps | M::Cmppd | M::Cmpss | M::Cmpsd => 7,
        M::Roundps | M::Roundpd | M::Roundss | M::Roundsd => 15,
        M::Pextrw | M::Pinsrw => 7,
        _ => 0xff,
    }
}

/// The encodings to choose from.
pub fn codes() -> Vec<Code> {
    let wanted = |code: &Code| {
        let info = code.op_code();
        let kinds = info.op_kinds();
        info.is_instruction()
            && info.mode64()
            && matches!(info.encoding(), EncodingKind::Legacy | EncodingKind::VEX)
            && !left_out(*code)
            && !kinds.iter().any(|kind| {
                matches!(
                    kind,
                    K::br16_1
                        | K::br32_1
                        | K::br64_1
                        | K::br16_2
                        | K::br32_4
                        | K::br64_4
                        | K::mem_offs
                        | K::seg_reg
                        | K::fs
                        | K::gs
                        | K::seg_rSI
                        | K::es_rDI
                        | K::seg_rBX_al
                )
            })
    };
    let mut codes: Vec<Code> = Code::values().filter(wanted).collect();
    let mut random = Random(1);
    let mut factory = InstructionInfoFactory::new();
    // Those that cannot be had in a hundred tries cannot be had.
    codes.retain(|code| (0..100).any(|_| instruction(&mut random, &mut factory, *code).is_some()));
    codes
}

fn is_vector(code: Code) -> bool {
    use CpuidFeature as F;
    let kinds = code.op_code().op_kinds();
    code.cpuid_features().iter().any(|f| matches!(f, F::FPU | F::FPU287 | F::FPU387 | F::MMX | F::FXSR))
        || code.mnemonic() == M::Fisttp
        || matches!(code.mnemonic(), M::Stmxcsr | M::Emms)
        || kinds.iter().any(|kind| {
            matches!(
                kind,
                K::xmm_or_mem
                    | K::xmm_reg
                    | K::xmm_rm
                    | K::mm_or_mem
                    | K::mm_reg
                    | K::mm_rm
                    | K::sti_opcode
                    | K::st0
                    | K::seg_rDI
            )
        })
}

/// A place in the area at `base`: often at the end of a line or of the page in the middle.
fn memory(random: &mut Random, instruction: &mut Instruction, vector: bool, aligned: bool) {
    let base = if vector { R::RBP } else { random.one_of(&[R::RBX, R::R12]) };
    let mut displacement = match random.below(4) {
        0 => random.below(AREA / 64) * 64 + 64 - random.below(20),
        1 => 4096 - random.below(20),
        2 => random.below(128),
        _ => random.below(AREA),
    };
    let indexed = !aligned && random.below(4) == 0;
    if aligned {
        displacement &= !15;
    }
    instruction.set_memory_base(base);
    if indexed {
        instruction.set_memory_index(R::R14);
        instruction.set_memory_index_scale(random.one_of(&[1, 2, 4, 8]));
    }
    instruction.set_memory_displacement64(displacement);
    // The encoder's word for four bytes in 64-bit code.
    instruction.set_memory_displ_size(if displacement == 0 { 0 } else { 8 });
}

fn general(random: &mut Random, bytes: usize) -> R {
    let register = random.one_of(&FREE);
    let of = |first: R| R::values().find(|r| *r as usize == first as usize + register.number());
    match bytes {
        1 if random.below(5) == 0 => random.one_of(&[R::AH, R::CH, R::DH]),
        1 if register.number() < 4 => of(R::AL).unwrap_or(R::AL),
        1 => R::values().find(|r| *r as usize == R::SPL as usize + register.number() - 4).unwrap_or(R::AL),
        2 => of(R::AX).unwrap_or(R::AX),
        4 => of(R::EAX).unwrap_or(R::EAX),
        _ => register,
    }
}

/// An instruction of this encoding with random operands; `None` if these do not go together.
pub fn instruction(
    random: &mut Random,
    factory: &mut InstructionInfoFactory,
    code: Code,
) -> Option<Instruction> {
    let mut instruction = Instruction::new();
    instruction.set_code(code);
    let vector = is_vector(code);
    let in_memory = needs_memory(code) || random.below(4) != 0;
    for (i, &kind) in code.op_code().op_kinds().iter().enumerate() {
        let i = i as u32;
        let or_memory = matches!(
            kind,
            K::r8_or_mem | K::r16_or_mem | K::r32_or_mem | K::r64_or_mem | K::mm_or_mem | K::xmm_or_mem
        );
        if kind == K::mem || or_memory && in_memory {
            instruction.set_op_kind(i, OpKind::Memory);
            let size = instruction.memory_size().size();
            memory(random, &mut instruction, vector, size >= 16);
            continue;
        }
        let register = match kind {
            K::r8_or_mem | K::r8_reg | K::r8_opcode => general(random, 1),
            K::r16_or_mem | K::r16_reg | K::r16_rm | K::r16_opcode => general(random, 2),
            K::r32_or_mem | K::r32_reg | K::r32_rm | K::r32_opcode | K::r32_vvvv => general(random, 4),
            K::r64_or_mem | K::r64_reg | K::r64_rm | K::r64_opcode | K::r64_vvvv => general(random, 8),
            K::xmm_or_mem | K::xmm_reg | K::xmm_rm => random.one_of(&[R::XMM0, R::XMM1, R::XMM7, R::XMM12]),
            K::mm_or_mem | K::mm_reg | K::mm_rm => random.one_of(&[R::MM0, R::MM3, R::MM7]),
            K::sti_opcode => random.one_of(&[R::ST0, R::ST1, R::ST5]),
            K::seg_rDI => {
                instruction.set_op_kind(i, OpKind::MemorySegRDI);
                continue;
            }
            _ => {
                let Some(immediate) = immediate_kind(kind) else {
                    instruction.set_op_kind(i, OpKind::Register);
                    instruction
                        .set_op_register(i, fixed(kind).filter(|register| !register.is_segment_register())?);
                    continue;
                };
                let value = random.next();
                match kind {
                    K::imm8_const_1 => instruction.set_immediate8(1),
                    K::imm8 => instruction.set_immediate8(value as u8 & immediate_mask(code.mnemonic())),
                    K::imm16 => instruction.set_immediate16(value as u16),
                    K::imm32 => instruction.set_immediate32(value as u32),
                    K::imm64 => instruction.set_immediate64(value),
                    K::imm8sex16 => instruction.set_immediate8to16(i16::from(value as i8)),
                    K::imm8sex32 => instruction.set_immediate8to32(i32::from(value as i8)),
                    K::imm8sex64 => instruction.set_immediate8to64(i64::from(value as i8)),
                    K::imm32sex64 => instruction.set_immediate32to64(i64::from(value as i32)),
                    _ => return None,
                }
                instruction.set_op_kind(i, immediate);
                continue;
            }
        };
        instruction.set_op_kind(i, OpKind::Register);
        instruction.set_op_register(i, register);
    }
    // A bit of memory by a register may be anywhere; the index is small.
    if matches!(code.mnemonic(), M::Bt | M::Bts | M::Btr | M::Btc)
        && instruction.op0_kind() == OpKind::Memory
        && instruction.op1_kind() == OpKind::Register
    {
        let size = instruction.op1_register().size();
        instruction.set_op1_register(match size {
            2 => R::R14W,
            4 => R::R14D,
            _ => R::R14,
        });
    }
    if code.op_code().can_use_lock_prefix()
        && instruction.op0_kind() == OpKind::Memory
        && random.below(4) == 0
    {
        instruction.set_has_lock_prefix(true);
    }
    is_harmless(&instruction, factory, vector).then_some(instruction)
}

/// Whether it runs, keeps what must be kept, and takes nothing from vector code to the rest.
fn is_harmless(instruction: &Instruction, factory: &mut InstructionInfoFactory, vector: bool) -> bool {
    if !matches!(encode(instruction, 0x40_0000), Some(bytes) if {
        let back = decode(&bytes, 0x40_0000);
        back.len() == bytes.len() && verdict(&back) == Verdict::Run
    }) {
        return false;
    }
    let moves_stack = matches!(instruction.mnemonic(), M::Push | M::Pop);
    let info = factory.info(instruction);
    let keeps = info.used_registers().iter().all(|used| {
        let writes = !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::None);
        let full = used.register().full_register();
        !writes || !full.is_gpr() || !vector && FREE.contains(&full) || moves_stack && full == R::RSP
    });
    keeps && !(vector && instruction.rflags_modified() != 0)
}

/// Its bytes at an address.
pub fn encode(instruction: &Instruction, address: u64) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, address).ok()?;
    Some(encoder.take_buffer())
}
