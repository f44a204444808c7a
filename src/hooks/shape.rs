//! What Valgrind's translator makes of a block of code: where its superblocks end, where one goes on behind a direct jump,
//! and where two conditional jumps become one.
//!
//! VEX decodes up to [`MAX_INSTRUCTIONS`] instructions, to one that ends a block, and then once more at the target of a
//! direct jump or call. Behind a conditional jump it looks for a second one that shares a destination with the first, as `a
//! && b` leaves them in machine code; it executes both always and makes one exit of them.

use iced_x86::{
    CpuidFeature, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use crate::hooks::count::repeat;
use crate::hooks::decode::{self, MAX_LENGTH, Verdict};
use crate::hooks::plan::{End, MappingId, Plan, PlannedInsn};
use crate::hooks::request;

/// Most instructions in a superblock (`--vex-guest-max-insns`).
pub const MAX_INSTRUCTIONS: u32 = 60;

/// Instructions that must be left for a superblock to be extended, and that are looked at behind a conditional jump.
pub const LEFT_TO_EXTEND: u32 = 3;

/// A block as Valgrind's translator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Behind the last instruction that ends a superblock and is not the block's last, there are so many.
    pub after_stop: Option<u16>,
    /// What follows its last instruction.
    pub edge: Edge,
}

/// How a superblock goes on behind a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    /// With the next instruction.
    Open,
    /// Not at all.
    Closed,
    /// Not at all: its last instruction is a repeated one. RCX is a constant there, and its test no branch, if these many
    /// instructions at the end are in one superblock.
    Known(u16),
    /// With the instruction at this address, if it has not been extended yet.
    Chased(u64),
    /// With these instructions up to a conditional jump, if it has not been extended yet.
    Merged(Box<Plan>),
}

impl Shape {
    /// The shape of the first instructions of a block, which an event from outside has cut short.
    pub fn cut() -> Shape {
        Shape { after_stop: None, edge: Edge::Open }
    }
}

/// Code as the translator sees it: up to `MAX_LENGTH` bytes at an address; none where nothing can be executed.
pub type Fetch<'a> = dyn FnMut(u64) -> ([u8; MAX_LENGTH], usize) + 'a;

/// What an instruction does to the block it is in.
enum Kind {
    /// Nothing.
    Plain,
    /// It leaves it now and then.
    Side,
    Conditional,
    /// A direct jump or call.
    Jump(u64),
    /// It ends it otherwise.
    End,
}

fn kind(instruction: &Instruction) -> Kind {
    if repeat(instruction).is_some() {
        // `rep lods` is to VEX an ordinary LODS.
        let loads = matches!(
            instruction.mnemonic(),
            Mnemonic::Lodsb | Mnemonic::Lodsw | Mnemonic::Lodsd | Mnemonic::Lodsq
        );
        return if loads { Kind::Plain } else { Kind::End };
    }
    let near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    match instruction.flow_control() {
        FlowControl::Next => match instruction.mnemonic() {
            Mnemonic::Pause | Mnemonic::Clflush => Kind::End,
            Mnemonic::Xchg if instruction.op0_kind() == OpKind::Memory => Kind::Side,
            Mnemonic::Xchg if instruction.op1_kind() == OpKind::Memory => Kind::Side,
            Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b => Kind::Plain,
            _ if instruction.has_lock_prefix() => Kind::Side,
            _ => Kind::Plain,
        },
        FlowControl::ConditionalBranch if instruction.is_jcc_short_or_near() => Kind::Conditional,
        FlowControl::ConditionalBranch => Kind::Side,
        FlowControl::UnconditionalBranch | FlowControl::Call if near => {
            Kind::Jump(instruction.near_branch64())
        }
        _ => Kind::End,
    }
}

fn decode(fetch: &mut Fetch<'_>, pc: u64) -> Option<Instruction> {
    let (bytes, len) = fetch(pc);
    let instruction = decode::decode(bytes.get(..len)?, pc);
    (!instruction.is_invalid()).then_some(instruction)
}

fn is_code(fetch: &mut Fetch<'_>, pc: u64) -> bool {
    fetch(pc).1 > 0
}

/// The shape of a block.
pub fn shape(plan: &Plan, fetch: &mut Fetch<'_>) -> Shape {
    let mut after_stop = None;
    let mut edge = Edge::Open;
    let count = plan.insns.len();
    for (i, insn) in plan.insns.iter().enumerate() {
        let instruction = decode(fetch, insn.pc);
        let ends = usize::from(insn.len) == request::LENGTH;
        let kind = instruction.as_ref().filter(|_| !ends).map_or(Kind::End, kind);
        let last = i + 1 == count;
        edge = match (kind, instruction) {
            (Kind::Plain | Kind::Side, _) => Edge::Open,
            _ if !last => {
                after_stop = u16::try_from(count - i - 1).ok();
                continue;
            }
            (Kind::Jump(target), _) if is_code(fetch, target) => Edge::Chased(target),
            (Kind::Conditional, Some(jump)) => merged(&jump, plan.mapping, fetch)
                .map_or(Edge::Closed, |second| Edge::Merged(Box::new(second))),
            (Kind::End, Some(end)) if repeat(&end).is_some() => {
                let since = after_stop.map_or(0, |after| count - usize::from(after));
                known_count(plan.insns.get(since..i).unwrap_or_default(), fetch)
                    .map_or(Edge::Closed, Edge::Known)
            }
            (Kind::Jump(_) | Kind::End | Kind::Conditional, _) => Edge::Closed,
        };
    }
    Shape { after_stop, edge }
}

/// If the last of these instructions that writes RCX moves a constant other than zero there: how many instructions it and
/// those behind it are, with the one that follows.
fn known_count(insns: &[PlannedInsn], fetch: &mut Fetch<'_>) -> Option<u16> {
    let mut factory = InstructionInfoFactory::new();
    for (i, insn) in insns.iter().rev().enumerate() {
        let instruction = decode(fetch, insn.pc)?;
        let writes = factory.info(&instruction).used_registers().iter().any(|used| {
            used.register().full_register() == Register::RCX
                && !matches!(used.access(), OpAccess::Read | OpAccess::CondRead)
        });
        if !writes {
            continue;
        }
        let wide = matches!(instruction.op0_register(), Register::ECX | Register::RCX);
        let constant = matches!(
            instruction.op1_kind(),
            OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64
        );
        let known = instruction.mnemonic() == Mnemonic::Mov && wide && constant;
        return if known && instruction.immediate(1) != 0 { u16::try_from(i + 2).ok() } else { None };
    }
    None
}

/// How a short look at a block ends.
enum Exit {
    Unknown,
    To(u64),
    Either(u64, u64),
}

impl Exit {
    fn leads_to(&self, pc: u64) -> bool {
        match *self {
            Exit::Unknown => false,
            Exit::To(target) => target == pc,
            Exit::Either(one, other) => one == pc || other == pc,
        }
    }
}

/// The next few instructions, and where they lead.
fn glance(fetch: &mut Fetch<'_>, pc: u64) -> (Vec<Instruction>, Exit) {
    let mut seen = Vec::new();
    let mut pc = pc;
    loop {
        let Some(instruction) = decode(fetch, pc) else { return (seen, Exit::Unknown) };
        if request::at(fetch, pc).is_some() {
            return (seen, Exit::Unknown);
        }
        seen.push(instruction);
        pc = instruction.next_ip();
        let full = seen.len() as u32 == LEFT_TO_EXTEND;
        let exit = match kind(&instruction) {
            Kind::Plain if full && is_code(fetch, pc) => Exit::To(pc),
            Kind::Plain | Kind::Side if !full => continue,
            Kind::Conditional => {
                let target = instruction.near_branch64();
                let both = is_code(fetch, target) && is_code(fetch, pc);
                if both { Exit::Either(target, pc) } else { Exit::Unknown }
            }
            Kind::Jump(target) if is_code(fetch, target) => Exit::To(target),
            _ => Exit::Unknown,
        };
        return (seen, exit);
    }
}

/// The instructions that are executed always behind the conditional `jump`, up to a second one that decides for both.
fn merged(jump: &Instruction, mapping: MappingId, fetch: &mut Fetch<'_>) -> Option<Plan> {
    let (target, next) = (jump.near_branch64(), jump.next_ip());
    if target == next || !is_code(fetch, target) || !is_code(fetch, next) {
        return None;
    }
    for (second, common) in [(target, next), (next, target)] {
        let (insns, exit) = glance(fetch, second);
        let shares = matches!(exit, Exit::Either(one, other) if one != other) && exit.leads_to(common);
        let Some((_, before)) = insns.split_last().filter(|_| shares) else { continue };
        let apart = match glance(fetch, common).1 {
            Exit::Unknown => false,
            Exit::Either(one, other) if one == other => false,
            exit => !exit.leads_to(second),
        };
        if apart && before.iter().all(only_computes) {
            return Some(of_instructions(second, &insns, mapping));
        }
    }
    None
}

/// Whether an instruction may be executed where it is not reached.
fn only_computes(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    if decode::verdict(instruction) != Verdict::Run || !matches!(kind(instruction), Kind::Plain) {
        return false;
    }
    let no_access = matches!(
        instruction.mnemonic(),
        M::Lea
            | M::Nop
            | M::Prefetchw
            | M::Prefetchnta
            | M::Prefetcht0
            | M::Prefetcht1
            | M::Prefetcht2
            | M::Endbr64
            | M::Endbr32
    );
    let in_registers = (0..instruction.op_count()).all(|i| {
        matches!(
            instruction.op_kind(i),
            OpKind::Register
                | OpKind::Immediate8
                | OpKind::Immediate8_2nd
                | OpKind::Immediate16
                | OpKind::Immediate32
                | OpKind::Immediate64
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
                | OpKind::Immediate32to64
        )
    });
    let by_register = instruction.op1_kind() == OpKind::Register;
    let helped = match instruction.mnemonic() {
        M::Div | M::Idiv | M::Mfence | M::Lfence | M::Sfence | M::Xgetbv | M::Emms => true,
        M::Bt | M::Bts | M::Btr | M::Btc => by_register,
        M::Aesenc | M::Aesenclast | M::Aesdec | M::Aesdeclast | M::Aesimc | M::Aeskeygenassist => true,
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpistri | M::Pcmpistrm => true,
        _ => false,
    };
    let memory = instruction.is_stack_instruction() || instruction.is_string_instruction();
    // The x87 stack is an array in VEX, which a block that may not be reached does not touch.
    let features = instruction.cpuid_features();
    let x87 = [CpuidFeature::FPU, CpuidFeature::FPU287, CpuidFeature::FPU387, CpuidFeature::MMX];
    let array = features.iter().any(|feature| x87.contains(feature));
    no_access || (in_registers && !helped && !memory && !array)
}

/// A plan of instructions that only compute, up to a conditional jump.
fn of_instructions(pc: u64, insns: &[Instruction], mapping: MappingId) -> Plan {
    let planned =
        |insn: &Instruction| PlannedInsn { pc: insn.ip(), len: insn.len() as u8, reads: 0, writes: 0 };
    Plan {
        pc,
        insns: insns.iter().map(planned).collect(),
        slots: 0,
        events: Vec::new(),
        retries: Vec::new(),
        end: End::Conditional,
        prefix_of: None,
        mapping,
        shape: None,
    }
}
