//! Translation of the code at an address to a superblock: which instructions VEX puts into it, and
//! what its optimiser leaves of their loads and branches.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory};

use super::and_idiom;
use super::flow::{Fetched, Flow, LOOK_AHEAD, fetched, flow, is_code, never_falls_through};
use super::lift::{LiftCtx, lift, lift_and_advance};
use super::opt::FastPath;
use super::superblock::{CountChange, Insn, QueueEntries, Superblock};
use crate::x86::decode::Fetch;
use crate::x86::request;

/// Most instructions in a superblock (`--vex-guest-max-insns`).
const MAX_INSTRUCTIONS: usize = 60;

/// Capacity that suffices for most superblocks.
const TYPICAL_INSTRUCTIONS: usize = 8;

/// Translator. Keeps its tables from one superblock to the next.
#[derive(Debug)]
pub(crate) struct Translator {
    factory: InstructionInfoFactory,
    ctx: LiftCtx,
    fast_path: FastPath,
    /// Jumps are followed (`--vex-guest-chase`).
    chases: bool,
}

impl Default for Translator {
    fn default() -> Translator {
        Translator {
            factory: InstructionInfoFactory::new(),
            ctx: LiftCtx::default(),
            fast_path: FastPath::default(),
            chases: true,
        }
    }
}

impl Translator {
    /// Follows no jumps from here on, as Callgrind has it.
    pub(crate) fn follow_no_jumps(&mut self) {
        self.chases = false;
    }

    /// Translates the superblock that begins at an address.
    pub(crate) fn translate(&mut self, start: u64, fetch: &mut Fetch<'_>) -> Superblock {
        let mut superblock =
            Superblock { insns: Vec::with_capacity(TYPICAL_INSTRUCTIONS), ..Superblock::default() };
        self.ctx.begin();
        let loops = self.decode(&mut superblock, start, fetch);
        superblock.optimise(&mut self.ctx, &mut self.fast_path, loops);
        superblock
    }

    /// Decodes and lifts the instructions. Returns true if the superblock may lead to itself.
    fn decode(&mut self, superblock: &mut Superblock, start: u64, fetch: &mut Fetch<'_>) -> bool {
        let (mut pc, mut extended) = (start, false);
        while superblock.insns.len() < MAX_INSTRUCTIONS {
            let instruction = match fetched(fetch, pc) {
                Fetched::Instruction(instruction) => instruction,
                Fetched::Request => {
                    superblock.push(pc, request::LENGTH, QueueEntries::default());
                    superblock.fall_through = Some(pc.wrapping_add(request::LENGTH as u64));
                    return false;
                }
                Fetched::Invalid(any) => {
                    if any {
                        superblock.push(pc, 1, QueueEntries::default());
                    }
                    superblock.fall_through = None;
                    return false;
                }
            };
            let has_room = superblock.insns.len() + 1 + LOOK_AHEAD <= MAX_INSTRUCTIONS;
            let extends = self.chases && !extended && has_room;
            superblock.fall_through = Some(instruction.next_ip());
            self.push(superblock, &instruction);
            pc = instruction.next_ip();
            match flow(&instruction) {
                Flow::Next | Flow::SideExit => lift_and_advance(&mut self.ctx, &instruction),
                Flow::Direct(target) => {
                    lift_and_advance(&mut self.ctx, &instruction);
                    superblock.fall_through = None;
                    if !extends || !is_code(fetch, target) {
                        return target == start && instruction.flow_control() != FlowControl::Call;
                    }
                    (pc, extended) = (target, true);
                }
                Flow::Conditional => {
                    superblock.fall_through = None;
                    let Some(second) = extends.then(|| and_idiom::recognise(&instruction, fetch)).flatten()
                    else {
                        lift(&mut self.ctx, &instruction);
                        return [instruction.near_branch64(), instruction.next_ip()].contains(&start);
                    };
                    let first = superblock.insns.len();
                    second.lift(&mut self.ctx, &instruction, first);
                    superblock.merged = Some(first);
                    for instruction in second.insns() {
                        superblock.push(instruction.ip(), instruction.len(), QueueEntries::default());
                    }
                    return second.may_lead_to(start);
                }
                Flow::End => {
                    if never_falls_through(&instruction) {
                        superblock.fall_through = None;
                    }
                    lift(&mut self.ctx, &instruction);
                    return false;
                }
            }
        }
        false
    }

    /// Appends an instruction that is lifted next.
    fn push(&mut self, superblock: &mut Superblock, instruction: &Instruction) {
        self.ctx.set_insn(superblock.insns.len());
        let queued = QueueEntries::of(instruction, &mut self.factory);
        superblock.push(instruction.ip(), instruction.len(), queued);
    }
}

impl Superblock {
    fn push(&mut self, pc: u64, len: usize, queued: QueueEntries) {
        self.insns.push(Insn { pc, len: len as u8, change: CountChange::default(), queued });
    }
}
