//! What Cachegrind has seen of a superblock and not yet counted. It queues events, an entry for each fetch, data access and
//! branch (a load and a store of one place share one), and counts what is queued when one more finds the queue full, before
//! each exit from the superblock, and at its end.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic as M};

use super::ir::Statement;
use super::sse::NO_BRANCH;
use super::superblock::{Superblock, names_memory};
use crate::x86::cost;

/// Most events in the queue (`N_EVENTS`).
pub(super) const LENGTH: usize = 16;

/// The events of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    /// Data events.
    data: u8,
    /// Whether its first branch comes before its accesses: the test of RCX.
    tests_first: bool,
    /// Whether it may leave the superblock before its accesses.
    leaves_before: bool,
    /// Whether it may leave the superblock behind them.
    leaves_behind: bool,
}

/// How far a superblock has been counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// The instruction that has not been wholly.
    pub part: usize,
    /// Entries of it that have been: its fetch is the first, then its data.
    pub entries: usize,
}

/// The queue.
struct Queue {
    used: usize,
    counted: Counted,
}

impl Queue {
    fn add(&mut self, part: usize, entry: usize) {
        if self.used == LENGTH {
            self.flush(part, entry);
        }
        self.used += 1;
    }

    /// Everything up to this entry is counted.
    fn flush(&mut self, part: usize, entries: usize) {
        self.counted = Counted { part, entries };
        self.used = 0;
    }
}

/// Whether an instruction may have data events; most have none, and to find out which takes time.
fn may_access(instruction: &Instruction) -> bool {
    // Bit tests of registers access a slot of Valgrind's.
    let tests_bit = matches!(instruction.mnemonic(), M::Bt | M::Bts | M::Btr | M::Btc);
    tests_bit || instruction.is_stack_instruction() || names_memory(instruction)
}

impl Superblock {
    /// Notes the events of the last instruction.
    pub(super) fn queue(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
        let Some(part) = self.parts.last_mut() else { return };
        if may_access(instruction) {
            part.events.data = cost::cost(instruction, factory).events.len() as u8;
        }
        part.events.tests_first = cost::repeat(instruction).is_some();
        // Settings that VEX does not know, which it leaves the superblock to say.
        part.events.leaves_behind =
            matches!(instruction.mnemonic(), M::Ldmxcsr | M::Fldcw | M::Fldenv | M::Frstor);
    }

    /// Notes which exits are left of the superblock's code, and leaves out the events that are gone.
    pub(super) fn settle_queue(&mut self, code: &[Statement]) {
        for statement in code {
            let Statement::Exit { insn, branch, .. } = *statement else { continue };
            let Some(part) = self.parts.get_mut(usize::from(insn)) else { continue };
            if branch == NO_BRANCH || branch == 0 && part.events.tests_first {
                part.events.leaves_before = true;
            } else {
                part.events.leaves_behind = true;
            }
        }
        for part in &mut self.parts {
            let all = 1_u8.checked_shl(u32::from(part.events.data)).map_or(u8::MAX, |bit| bit - 1);
            part.events.data -= (part.change.dropped & all).count_ones() as u8;
        }
    }

    /// How far the superblock has been counted when control is before the instruction `used`, or if that is `under_way`, when
    /// so many of its data events are queued.
    pub(super) fn counted(&self, used: usize, under_way: Option<usize>, with_data: bool) -> Counted {
        let mut queue = Queue { used: 0, counted: Counted { part: 0, entries: 0 } };
        for (i, part) in self.parts.iter().enumerate().take(used + usize::from(under_way.is_some())) {
            queue.add(i, 0);
            if part.events.leaves_before {
                queue.flush(i, 1);
            }
            let reached = under_way.filter(|_| i == used);
            if with_data {
                (0..reached.unwrap_or(usize::from(part.events.data)))
                    .for_each(|entry| queue.add(i, 1 + entry));
            }
            if part.events.leaves_behind && reached.is_none() {
                queue.flush(i + 1, 0);
            }
        }
        queue.counted
    }
}
