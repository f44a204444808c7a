//! The `&&` idiom (`guest_generic_bb_to_IR.c`): behind a conditional jump VEX looks for a second
//! one that shares a destination with it, executes the code between them speculatively, and makes
//! one exit of both.

use iced_x86::{FlowControl, Instruction, Mnemonic as M, OpKind};

use super::flow::{Fetched, Flow, LOOK_AHEAD, fetched, flow, is_code, names_memory};
use super::ir::{Op, Statement, UNNAMED};
use super::lift::{LiftCtx, lift_and_advance};
use crate::x86::decode::{self, Fetch, Verdict};

/// Conjunction of two conditions, which VEX never folds.
const AND_COND: Op = Op::Opaque(UNNAMED, 2);

/// End of a block, as far as VEX looks ahead (`BlockEnd`).
enum BlockEnd {
    Unknown,
    To(u64),
    Either(u64, u64),
}

impl BlockEnd {
    fn leads_to(&self, pc: u64) -> bool {
        match *self {
            BlockEnd::Unknown => false,
            BlockEnd::To(target) => target == pc,
            BlockEnd::Either(one, other) => one == pc || other == pc,
        }
    }
}

/// Recognises LOOP and JRCXZ.
fn counts_rcx(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::ConditionalBranch && !instruction.is_jcc_short_or_near()
}

/// Recognises a locked NOT: it sets no flags, so the exit that retries it is its last statement.
fn ends_with_retry(instruction: &Instruction) -> bool {
    instruction.mnemonic() == M::Not
}

/// Two destinations, if there is code at both.
fn either(fetch: &mut Fetch<'_>, one: u64, other: u64) -> BlockEnd {
    if is_code(fetch, one) && is_code(fetch, other) {
        BlockEnd::Either(one, other)
    } else {
        BlockEnd::Unknown
    }
}

/// Instructions at an address, at most `LOOK_AHEAD`, and the end of their block
/// (`analyse_block_end`).
fn analyse_block_end(fetch: &mut Fetch<'_>, pc: u64) -> (Vec<Instruction>, BlockEnd) {
    let mut seen = Vec::new();
    let mut pc = pc;
    loop {
        let Fetched::Instruction(instruction) = fetched(fetch, pc) else { return (seen, BlockEnd::Unknown) };
        seen.push(instruction);
        pc = instruction.next_ip();
        let full = seen.len() == LOOK_AHEAD;
        let end = match flow(&instruction) {
            Flow::Next if full && is_code(fetch, pc) => BlockEnd::To(pc),
            Flow::SideExit if full && counts_rcx(&instruction) => {
                either(fetch, instruction.near_branch64(), pc)
            }
            Flow::SideExit if full && ends_with_retry(&instruction) => either(fetch, instruction.ip(), pc),
            Flow::Next | Flow::SideExit if !full => continue,
            Flow::Conditional => either(fetch, instruction.near_branch64(), pc),
            Flow::Direct(target) if is_code(fetch, target) => BlockEnd::To(target),
            _ => BlockEnd::Unknown,
        };
        return (seen, end);
    }
}

/// The block of the second conditional jump.
pub(super) struct SecondBlock {
    /// Its instructions.
    insns: Vec<Instruction>,
    /// It is at the target of the first jump, not behind it.
    at_target: bool,
}

/// Recognises the idiom at a conditional jump.
pub(super) fn recognise(jump: &Instruction, fetch: &mut Fetch<'_>) -> Option<SecondBlock> {
    let (target, next) = (jump.near_branch64(), jump.next_ip());
    if target == next || !is_code(fetch, target) || !is_code(fetch, next) {
        return None;
    }
    let at_target = analyse_block_end(fetch, target);
    let at_next = analyse_block_end(fetch, next);
    let ways = [(target, next, &at_target, &at_next), (next, target, &at_next, &at_target)];
    for (second, common, (insns, exit), (_, common_exit)) in ways {
        let shares = matches!(exit, BlockEnd::Either(one, other) if one != other) && exit.leads_to(common);
        let Some((last, before)) = insns.split_last().filter(|_| shares) else { continue };
        let apart = match common_exit {
            BlockEnd::Unknown => false,
            BlockEnd::Either(one, other) if one == other => false,
            exit => !exit.leads_to(second),
        };
        if apart && last.mnemonic() != M::Not && before.iter().all(is_speculatable) {
            return Some(SecondBlock { insns: insns.clone(), at_target: second == target });
        }
    }
    None
}

/// Recognises instructions that VEX executes speculatively: no memory access and no dirty helper.
fn is_speculatable(instruction: &Instruction) -> bool {
    if decode::verdict(instruction) != Verdict::Run || !matches!(flow(instruction), Flow::Next) {
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
    let by_register = instruction.op1_kind() == OpKind::Register;
    let helped = match instruction.mnemonic() {
        M::Div | M::Idiv | M::Mfence | M::Lfence | M::Sfence | M::Fninit => true,
        M::Cpuid | M::Rdtsc | M::Rdtscp | M::Rdrand | M::Rdseed => true,
        M::Bt | M::Bts | M::Btr | M::Btc => by_register,
        M::Aesenc | M::Aesenclast | M::Aesdec | M::Aesdeclast | M::Aesimc | M::Aeskeygenassist => true,
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpistri | M::Pcmpistrm => true,
        _ => false,
    };
    let memory = instruction.is_stack_instruction() || instruction.is_string_instruction();
    no_access || (!names_memory(instruction) && !helped && !memory)
}

impl SecondBlock {
    /// Tests whether its conditional jump may lead to an address.
    pub(super) fn may_lead_to(&self, pc: u64) -> bool {
        let jump = self.insns.last();
        jump.is_some_and(|jump| [jump.near_branch64(), jump.next_ip()].contains(&pc))
    }

    /// Its instructions.
    pub(super) fn insns(&self) -> &[Instruction] {
        &self.insns
    }

    /// Lifts the block, guarded by the conditional `jump` before it. The first of its instructions
    /// has the index `first`.
    pub(super) fn lift(&self, ctx: &mut LiftCtx, jump: &Instruction, first: usize) {
        let code = jump.condition_code() as u8 - 1;
        let holds = ctx.condition(code & !1);
        let reached = self.at_target == (code & 1 == 0);
        let guard = if reached { holds } else { ctx.op(Op::NotBool, &[holds]) };
        let start = ctx.code().len();
        ctx.forget_registers();
        for (i, instruction) in self.insns.iter().enumerate() {
            ctx.set_insn(first + i);
            lift_and_advance(ctx, instruction);
        }
        // The block knows what it writes itself; behind it, registers have their old values if it
        // is not reached.
        ctx.forget_registers();
        for statement in ctx.split_off(start) {
            match statement {
                Statement::Put(slice, value) => {
                    let old = ctx.get(slice);
                    let chosen = ctx.op(Op::Ite, &[guard, value, old]);
                    ctx.put(slice, chosen);
                }
                Statement::Exit { guard: holds, insn, branch } => {
                    let guard = ctx.op(AND_COND, &[holds, guard]);
                    ctx.add(Statement::Exit { guard, insn, branch });
                }
                other => ctx.add(other),
            }
        }
    }
}
