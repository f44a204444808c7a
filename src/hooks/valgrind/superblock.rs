//! What Valgrind's translator makes of the code at an address: which instructions are in one superblock, and which of their
//! loads and branches its optimiser leaves.
//!
//! VEX decodes up to [`MAX_INSTRUCTIONS`] instructions, to one that ends a block, and then once more at the target of a
//! direct jump or call. Behind a conditional jump it looks for a second one that shares a destination with the first, as `a
//! && b` leaves them in machine code; it executes both always and makes one exit of them.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind};

use super::ir::{Op, Statement, Value};
use super::lift::Lifter;
use super::optimise::optimise;
use super::sse::is_checked;
use crate::hooks::count::repeat;
use crate::hooks::decode::{self, MAX_LENGTH, Verdict};
use crate::hooks::request;

/// Most instructions in a superblock (`--vex-guest-max-insns`).
const MAX_INSTRUCTIONS: usize = 60;

/// Instructions that must be left for a superblock to be extended, and that are looked at behind a conditional jump.
const LEFT_TO_EXTEND: usize = 3;

/// What is counted otherwise than the instruction says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Data events that are left out, a bit each.
    pub dropped: u64,
    /// Modifications of which only the store is left.
    pub stores: u64,
    /// Branches that are none, a bit each.
    pub branches: u8,
}

/// An instruction of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub pc: u64,
    pub len: u8,
    pub change: Change,
}

/// The code that is translated together with what is at some address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Superblock {
    pub parts: Vec<Part>,
    /// From this instruction on they are executed always, because a second conditional jump decides for two.
    pub merged: Option<usize>,
    /// Where the next superblock begins if control falls out of this one.
    pub falls: Option<u64>,
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
            _ if instruction.has_lock_prefix() || is_checked(instruction) => Kind::Side,
            Mnemonic::Ldmxcsr | Mnemonic::Fldcw => Kind::Side,
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

impl Superblock {
    /// The superblock that begins at an address.
    pub fn form(start: u64, fetch: &mut Fetch<'_>) -> Superblock {
        let mut formed = Superblock::default();
        let mut lifter = Lifter::default();
        let (mut pc, mut extended) = (start, false);
        while formed.parts.len() < MAX_INSTRUCTIONS {
            let (bytes, len) = fetch(pc);
            let instruction = decode::decode(bytes.get(..len).unwrap_or_default(), pc);
            let extends = !extended && formed.parts.len() + 1 + LEFT_TO_EXTEND <= MAX_INSTRUCTIONS;
            formed.falls = Some(instruction.next_ip());
            if instruction.is_invalid() {
                if len > 0 {
                    formed.push(pc, 1);
                }
                formed.falls = None;
                break;
            }
            if request::at(fetch, pc).is_some() {
                formed.push(pc, request::LENGTH);
                formed.falls = Some(pc.wrapping_add(request::LENGTH as u64));
                break;
            }
            lifter.insn = formed.parts.len() as u16;
            formed.push(pc, instruction.len());
            pc = instruction.next_ip();
            match kind(&instruction) {
                Kind::Plain | Kind::Side => lifter.lift(&instruction),
                Kind::Jump(target) => {
                    lifter.lift(&instruction);
                    formed.falls = None;
                    if !extends || !is_code(fetch, target) {
                        break;
                    }
                    (pc, extended) = (target, true);
                }
                Kind::Conditional => {
                    formed.falls = None;
                    match merged(&instruction, fetch).filter(|_| extends) {
                        Some(second) => formed.merge(&mut lifter, &instruction, &second),
                        None => lifter.lift(&instruction),
                    }
                    break;
                }
                Kind::End => {
                    lifter.lift(&instruction);
                    break;
                }
            }
        }
        formed.settle(lifter);
        formed
    }

    fn push(&mut self, pc: u64, len: usize) {
        self.parts.push(Part { pc, len: len as u8, change: Change::default() });
    }

    /// Adds the instructions up to a second conditional jump.
    fn merge(&mut self, lifter: &mut Lifter, jump: &Instruction, second: &Second) {
        self.merged = Some(self.parts.len());
        let code = jump.condition_code() as u8 - 1;
        let guard = lifter.condition(if second.at_target { code } else { code ^ 1 });
        lifter.guard = Some(guard);
        for instruction in &second.insns {
            lifter.insn = self.parts.len() as u16;
            self.push(instruction.ip(), instruction.len());
            if instruction.is_jcc_short_or_near() {
                let holds = lifter.condition(instruction.condition_code() as u8 - 1);
                let both = lifter.op(Op::Opaque(u16::MAX), &[guard, holds]);
                lifter.exit(0, both);
                continue;
            }
            lifter.lift(instruction);
            if let Some(&Statement::Exit { guard: again, .. }) = lifter.code.last() {
                lifter.code.pop();
                let both = lifter.op(Op::Opaque(u16::MAX), &[guard, again]);
                lifter.exit(0, both);
            }
        }
    }

    /// Finds out what the optimiser leaves, and notes what is gone.
    fn settle(&mut self, mut lifter: Lifter) {
        let before = lifter.code.clone();
        let temps = lifter.temps();
        let indirect = lifter.next.is_some();
        let leaves = optimise(&mut lifter.code, &mut lifter.next, temps);
        let after = &lifter.code;
        for (was, is) in before.iter().zip(after) {
            match (*was, *is) {
                (Statement::Load { insn, event, .. }, Statement::Nothing) => {
                    let change = &mut self.parts[usize::from(insn)].change;
                    let stays = |s: &Statement| matches!(*s, Statement::Store { insn: i, event: e, .. } if (i, e) == (insn, event));
                    if after.iter().any(stays) {
                        change.stores |= 1 << event;
                    } else {
                        change.dropped |= 1 << event;
                    }
                }
                // Behind an exit that is always taken.
                (Statement::Store { insn, event, .. }, Statement::Nothing) => {
                    self.parts[usize::from(insn)].change.dropped |= 1 << event;
                }
                (Statement::Exit { insn, branch, .. }, Statement::Nothing) => {
                    self.parts[usize::from(insn)].change.branches |= 1 << branch;
                }
                _ => {}
            }
        }
        // A load and a store of one place are one event, also where only the optimiser sees that it is one.
        let mut last = None;
        for statement in after {
            match *statement {
                Statement::Load { address, insn, event, .. } => last = Some((address, insn, event)),
                Statement::Store { address, insn, event, .. } => {
                    if let Some((loaded, by, first)) = last.take()
                        && (loaded, by) == (address, insn)
                        && first != event
                    {
                        self.parts[usize::from(insn)].change.dropped |= 1 << event;
                    }
                }
                _ => {}
            }
        }
        let known = indirect && matches!(lifter.next, Some(Value::Known(_)) | None);
        if let (Some(last), true) = (self.parts.last_mut(), known) {
            last.change.branches |= 1;
        }
        if let Some(jump) = self.merged.and_then(|second| self.parts.get_mut(second - 1)) {
            jump.change.branches |= 1;
        }
        if let Some(last) = leaves {
            self.parts.truncate(usize::from(last) + 1);
            self.merged = self.merged.filter(|second| *second < self.parts.len());
            self.falls = None;
        }
    }
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

/// LOOP, JRCXZ and their kin.
fn is_counting(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::ConditionalBranch && !instruction.is_jcc_short_or_near()
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
        let full = seen.len() == LEFT_TO_EXTEND;
        let exit = match kind(&instruction) {
            Kind::Plain if full && is_code(fetch, pc) => Exit::To(pc),
            // Its exit is the last thing in the block.
            Kind::Side if full && is_counting(&instruction) => {
                let target = instruction.near_branch64();
                let both = is_code(fetch, target) && is_code(fetch, pc);
                if both { Exit::Either(target, pc) } else { Exit::Unknown }
            }
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

/// A second conditional jump that decides for both.
struct Second {
    /// The instructions up to it.
    insns: Vec<Instruction>,
    /// Whether the first jump jumps there.
    at_target: bool,
}

/// The instructions that are executed always behind the conditional `jump`, up to a second one that decides for both.
fn merged(jump: &Instruction, fetch: &mut Fetch<'_>) -> Option<Second> {
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
            return Some(Second { insns, at_target: second == target });
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
        M::Div | M::Idiv | M::Mfence | M::Lfence | M::Sfence | M::Xgetbv => true,
        M::Bt | M::Bts | M::Btr | M::Btc => by_register,
        M::Aesenc | M::Aesenclast | M::Aesdec | M::Aesdeclast | M::Aesimc | M::Aeskeygenassist => true,
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpistri | M::Pcmpistrm => true,
        _ => false,
    };
    let memory = instruction.is_stack_instruction() || instruction.is_string_instruction();
    // Of what was seen with the x87 and MMX, these are not executed where they are not reached.
    let kept = matches!(
        instruction.mnemonic(),
        M::Fld1 | M::Fldz | M::Fldpi | M::Fldl2e | M::Fldl2t | M::Fldlg2 | M::Fldln2 | M::Fld | M::Wait
    ) || matches!(instruction.mnemonic(), M::Cvtps2pi | M::Cvttps2pi | M::Cvtpd2pi | M::Cvttpd2pi);
    no_access || (in_registers && !helped && !memory && !kept)
}
