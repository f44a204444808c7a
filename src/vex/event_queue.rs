//! Cachegrind's event queue. Each fetch, data access and branch of a superblock is an entry; a load
//! and a store of one place share one. Cachegrind flushes the queue, that is counts its entries,
//! when it is full, before each exit and at the end. A fault loses the entries that are queued.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic as M};

use super::flow::names_memory;
use super::ir::{SIDE_EXIT, Statement};
use super::superblock::{QueueEntries, Superblock};
use crate::x86::cost;

/// Capacity of the queue (`N_EVENTS`).
pub(crate) const LENGTH: usize = 16;

/// Position up to which a superblock has been counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Index of the first instruction that has not been counted completely.
    pub(crate) insn: usize,
    /// Entries of that instruction that have been counted: its fetch is the first, its data follow.
    pub(crate) entries: usize,
}

struct Queue {
    used: usize,
    counted: Counted,
}

impl Queue {
    fn add(&mut self, insn: usize, entry: usize) {
        if self.used == LENGTH {
            self.flush(insn, entry);
        }
        self.used += 1;
    }

    /// Counts everything before this entry.
    fn flush(&mut self, insn: usize, entries: usize) {
        self.counted = Counted { insn, entries };
        self.used = 0;
    }
}

/// Recognises the instructions that may have data events, cheaply: most have none.
fn may_access(instruction: &Instruction) -> bool {
    // Bit tests of registers access Valgrind's scratch slot.
    let tests_bit = matches!(instruction.mnemonic(), M::Bt | M::Bts | M::Btr | M::Btc);
    tests_bit || instruction.is_stack_instruction() || names_memory(instruction)
}

impl QueueEntries {
    /// Entries of an instruction before optimisation.
    pub(super) fn of(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> QueueEntries {
        let data = match may_access(instruction) {
            true => cost::cost(instruction, factory).events.len() as u8,
            false => 0,
        };
        QueueEntries {
            data,
            tests_first: cost::repeat(instruction).is_some(),
            exits_before: false,
            // VEX exits if it does not support the loaded settings; no guard of this model stands
            // for that.
            exits_after: matches!(instruction.mnemonic(), M::Ldmxcsr | M::Fldcw | M::Fldenv | M::Frstor),
        }
    }
}

impl Superblock {
    /// Takes the exits that optimisation has left, and leaves out the events that it has removed.
    pub(super) fn set_queue(&mut self, code: &[Statement]) {
        for statement in code {
            let Statement::Exit { insn, branch, .. } = *statement else { continue };
            let Some(insn) = self.insns.get_mut(usize::from(insn)) else { continue };
            if branch == SIDE_EXIT || branch == 0 && insn.queued.tests_first {
                insn.queued.exits_before = true;
            } else {
                insn.queued.exits_after = true;
            }
        }
        for insn in &mut self.insns {
            let all = 1_u8.checked_shl(u32::from(insn.queued.data)).map_or(u8::MAX, |bit| bit - 1);
            insn.queued.data -= (insn.change.removed & all).count_ones() as u8;
        }
    }

    /// Position up to which the superblock has been counted when control is before the instruction
    /// `used`; or, with `under_way`, when that instruction has been fetched and as many of its data
    /// events are queued.
    pub(crate) fn counted(&self, used: usize, under_way: Option<usize>, with_data: bool) -> Counted {
        let mut queue = Queue { used: 0, counted: Counted { insn: 0, entries: 0 } };
        for (i, insn) in self.insns.iter().enumerate().take(used + usize::from(under_way.is_some())) {
            queue.add(i, 0);
            if insn.queued.exits_before {
                queue.flush(i, 1);
            }
            let reached = under_way.filter(|_| i == used);
            if with_data {
                (0..reached.unwrap_or(usize::from(insn.queued.data)))
                    .for_each(|entry| queue.add(i, 1 + entry));
            }
            if insn.queued.exits_after && reached.is_none() {
                queue.flush(i + 1, 0);
            }
        }
        queue.counted
    }
}
