//! Random programs: items of one or a few instructions, with jumps forward, loops, calls and string
//! instructions.

use iced_x86::{Code, Instruction, InstructionInfoFactory, MemoryOperand, OpKind, Register as R, RflagsBits};

use super::choose::{FREE, Random, encode, instruction};

/// Where a branch of an item goes; the numbers stand for addresses until the program is laid out.
const FORWARD: u64 = 0;
const START: u64 = 1;

/// The flags that a shift may write.
const STATUS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF | RflagsBits::CF;

/// Instructions that belong together.
#[derive(Clone)]
pub struct Item {
    pub instructions: Vec<Instruction>,
    /// How many items its branches forward leave out.
    skip: usize,
}

/// A program: what is in the registers, and what runs so many times.
#[derive(Clone)]
pub struct Program {
    pub items: Vec<Item>,
    pub values: Vec<u64>,
    pub index: u64,
    pub rounds: u64,
    /// Bytes before it, so that it begins anywhere in a line.
    pub padding: u64,
}

fn branch(code: Code, to: u64) -> Instruction {
    Instruction::with_branch(code, to).expect("a branch")
}

fn set(register: R, value: u64) -> Instruction {
    Instruction::with2(Code::Mov_r64_imm64, register, value).expect("a move")
}

/// A random jump, loop, call, string instruction or division.
fn template(random: &mut Random) -> Vec<Instruction> {
    let jcc = [
        Code::Jo_rel8_64,
        Code::Jno_rel32_64,
        Code::Jb_rel8_64,
        Code::Jae_rel8_64,
        Code::Je_rel8_64,
        Code::Jne_rel32_64,
        Code::Jbe_rel8_64,
        Code::Ja_rel8_64,
        Code::Js_rel8_64,
        Code::Jns_rel8_64,
        Code::Jp_rel8_64,
        Code::Jnp_rel8_64,
        Code::Jl_rel8_64,
        Code::Jge_rel8_64,
        Code::Jle_rel32_64,
        Code::Jg_rel8_64,
    ];
    match random.below(12) {
        0..=4 => vec![branch(random.one_of(&jcc), FORWARD)],
        5 => vec![branch(random.one_of(&[Code::Jmp_rel8_64, Code::Jmp_rel32_64]), FORWARD)],
        6 => {
            let code = random.one_of(&[Code::Jrcxz_rel8_64, Code::Jecxz_rel8_64, Code::Loop_rel8_64_RCX]);
            vec![set(R::RCX, random.below(3)), branch(code, FORWARD)]
        }
        7 => {
            let codes = [Code::Loop_rel8_64_RCX, Code::Loope_rel8_64_RCX, Code::Loopne_rel8_64_RCX];
            let turn = branch(random.one_of(&codes), START);
            // The count is set before the start: the item is the count and one instruction that
            // comes round.
            vec![set(R::RCX, 1 + random.below(6)), Instruction::with(Code::Nopd), turn]
        }
        8 => {
            // An address that is computed, and a jump or a call to it; or one that is pushed, and a
            // return.
            let to = MemoryOperand::with_base_displ_size(R::RIP, FORWARD as i64, 8);
            let lea = Instruction::with2(Code::Lea_r64_m, R::R13, to).expect("an address");
            let jump = Instruction::with1(Code::Jmp_rm64, R::R13).expect("a jump");
            let call = Instruction::with1(Code::Call_rm64, R::R13).expect("a call");
            let push = Instruction::with1(Code::Push_r64, R::R13).expect("a push");
            match random.below(3) {
                0 => vec![lea, jump],
                1 => vec![lea, call],
                _ => vec![lea, push, Instruction::with(Code::Retnq)],
            }
        }
        9 => vec![branch(Code::Call_rel32_64, FORWARD)],
        10 => {
            let (base, other) = (R::RBX, R::R12);
            let near = |register, random: &mut Random| {
                let displacement = 200 + random.below(3000) as i64;
                MemoryOperand::with_base_displ_size(register, displacement, 8)
            };
            let source = Instruction::with2(Code::Lea_r64_m, R::RSI, near(base, random)).expect("an address");
            let target =
                Instruction::with2(Code::Lea_r64_m, R::RDI, near(other, random)).expect("an address");
            let string = strings(random);
            let count = [0, 1, 2, random.below(20)];
            let back = MemoryOperand::with_base_displ_size(R::RBP, 0, 1);
            let back = Instruction::with2(Code::Lea_r64_m, R::RDI, back).expect("an address");
            let compare = Instruction::with2(Code::Cmp_rm64_r64, R::RAX, R::RAX).expect("a comparison");
            let mut all = vec![source, target, set(R::RCX, random.one_of(&count)), compare];
            let backwards = random.below(3) == 0;
            all.extend(backwards.then(|| Instruction::with(Code::Std)));
            all.push(string);
            all.extend(backwards.then(|| Instruction::with(Code::Cld)));
            all.push(back);
            all
        }
        _ => {
            let divide = random.one_of(&[Code::Div_rm64, Code::Div_rm32, Code::Idiv_rm64, Code::Idiv_rm32]);
            let zero = Instruction::with2(Code::Mov_r32_imm32, R::EDX, 0).expect("a move");
            let wide = matches!(divide, Code::Div_rm64 | Code::Idiv_rm64);
            let by = if wide { R::R9 } else { R::R9D };
            let divide = Instruction::with1(divide, by).expect("a division");
            vec![zero, set(R::R9, 3 + random.below(1000)), divide]
        }
    }
}

fn strings(random: &mut Random) -> Instruction {
    use iced_x86::RepPrefixKind as P;
    let (rep, repe, repne, none) = (P::Repe, P::Repe, P::Repne, P::None);
    let made = match random.below(22) {
        0 => Instruction::with_movsb(64, R::None, none),
        1 => Instruction::with_movsw(64, R::None, none),
        2 => Instruction::with_movsd(64, R::None, none),
        3 => Instruction::with_movsq(64, R::None, none),
        4 => Instruction::with_movsb(64, R::None, rep),
        5 => Instruction::with_movsw(64, R::None, rep),
        6 => Instruction::with_movsd(64, R::None, rep),
        7 => Instruction::with_movsq(64, R::None, rep),
        8 => Instruction::with_stosb(64, rep),
        9 => Instruction::with_stosw(64, rep),
        10 => Instruction::with_stosd(64, rep),
        11 => Instruction::with_stosq(64, rep),
        12 => Instruction::with_stosq(64, none),
        13 => Instruction::with_lodsb(64, R::None, none),
        14 => Instruction::with_lodsq(64, R::None, none),
        15 => Instruction::with_scasb(64, none),
        16 => Instruction::with_scasb(64, repe),
        17 => Instruction::with_scasd(64, repne),
        18 => Instruction::with_scasq(64, repe),
        19 => Instruction::with_cmpsb(64, R::None, repe),
        20 => Instruction::with_cmpsd(64, R::None, repe),
        _ => Instruction::with_cmpsq(64, R::None, repe),
    };
    made.expect("a string instruction")
}

impl Program {
    /// A random program.
    pub fn new(random: &mut Random, factory: &mut InstructionInfoFactory, codes: &[Code]) -> Program {
        let mut program = Program {
            items: Vec::new(),
            values: FREE.iter().map(|_| random.next() >> random.below(64)).collect(),
            index: random.below(40),
            rounds: 1 + random.below(4),
            padding: random.below(64),
        };
        let length = 4 + random.below(26) as usize;
        while program.items.len() < length {
            let instructions = match random.below(4) {
                0 => template(random),
                _ => {
                    let code = random.one_of(codes);
                    let Some(made) = instruction(random, factory, code) else { continue };
                    vec![made]
                }
            };
            program.items.push(Item { instructions, skip: random.below(5) as usize });
            if !program.is_sound() {
                program.items.pop();
            }
        }
        program
    }

    /// Whether no instruction reads a flag that is undefined, whichever way control comes to it.
    pub fn is_sound(&self) -> bool {
        let mut undefined = 0;
        let mut joins = vec![0; self.items.len() + 8];
        for (i, item) in self.items.iter().enumerate() {
            undefined |= joins[i];
            for instruction in &item.instructions {
                if instruction.rflags_read() & undefined != 0 {
                    return false;
                }
                let defined =
                    instruction.rflags_written() | instruction.rflags_cleared() | instruction.rflags_set();
                // A repetition of no time leaves the flags as they were.
                if !instruction.has_rep_prefix() && !instruction.has_repne_prefix() {
                    undefined &= !defined;
                }
                undefined |= instruction.rflags_undefined();
                // So does a shift by zero, where Valgrind 3.19 forgets what a rotation before it
                // has left alone.
                if may_shift_by_zero(instruction) {
                    undefined |= STATUS;
                }
            }
            joins[(i + 1 + item.skip).min(self.items.len())] |= undefined;
        }
        true
    }

    /// Its instructions with their bytes, laid out from an address on; `None` if a branch does not
    /// reach.
    pub fn lay_out(&self) -> Option<Vec<(Instruction, Vec<u8>)>> {
        let base = 0x40_0000;
        // Lengths do not depend on where a branch goes: its form is chosen.
        let mut starts = vec![base];
        let mut at = base;
        for item in &self.items {
            for instruction in &item.instructions {
                at += encode(&resolved(instruction, at, at), at)?.len() as u64;
            }
            starts.push(at);
        }
        let mut all = Vec::new();
        let mut at = base;
        for (i, item) in self.items.iter().enumerate() {
            let forward = starts[(i + 1 + item.skip).min(self.items.len())];
            let mut second = at;
            for (n, instruction) in item.instructions.iter().enumerate() {
                if n == 1 {
                    second = at;
                }
                let instruction = resolved(instruction, forward, second);
                let bytes = encode(&instruction, at)?;
                at += bytes.len() as u64;
                all.push((instruction, bytes));
            }
        }
        Some(all)
    }
}

/// A shift by CL, by nothing, or a rotation that comes round to where it began.
fn may_shift_by_zero(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic as M;
    let count = match instruction.op_count().checked_sub(1) {
        Some(last) if last > 0 && instruction.op_register(last) == R::CL => None,
        Some(last) if last > 0 && instruction.op_kind(last) == OpKind::Immediate8 => {
            Some(instruction.immediate8() & 31)
        }
        _ => return false,
    };
    match instruction.mnemonic() {
        M::Rol | M::Ror | M::Rcl | M::Rcr => count != Some(1),
        M::Shl | M::Sal | M::Shr | M::Sar | M::Shld | M::Shrd => matches!(count, None | Some(0)),
        _ => false,
    }
}

/// The instruction with its target in place of the number that stands for it.
fn resolved(instruction: &Instruction, forward: u64, start: u64) -> Instruction {
    let mut instruction = *instruction;
    if instruction.is_ip_rel_memory_operand() {
        instruction.set_memory_displacement64(forward);
    } else if instruction.op0_kind() == OpKind::NearBranch64 {
        let to = if instruction.near_branch64() == START { start } else { forward };
        instruction.set_near_branch64(to);
    }
    instruction
}
