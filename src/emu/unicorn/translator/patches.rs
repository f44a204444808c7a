//! Parts of operations that follow from the plan of a block, which is known only when all of it has
//! been translated.
#![allow(unsafe_code)]

use std::mem::offset_of;

use crate::emu::unicorn::ffi::Op;
use crate::hooks::executions::Count;
use crate::hooks::plan_table::PlanTable;
use crate::hooks::record::PlanId;

/// Value that follows from a plan.
#[derive(Clone, Copy)]
pub(super) enum Later {
    /// The header of its records.
    Header,
    /// Bytes of a record.
    Size,
    /// Number of its instructions.
    Instructions,
    /// Its id.
    Plan,
    /// Times that pass while its block runs.
    Times,
    /// Offset of its count of executions.
    Count,
    /// Offset of its count of mispredictions.
    Mispredicted,
    /// The line of I1 with a number in the low half, and the counter of misses of the fetch of an
    /// instruction, by its index, in the high one.
    Fetch(u32, u16),
    /// Number of its instructions that an exit leaves out, of which so many are executed.
    InstructionsBack(u16),
}

impl Later {
    /// Tests whether it has 64 bits in code of the host, and not 32.
    pub(super) fn is_wide(self) -> bool {
        matches!(self, Later::Header | Later::Fetch(..))
    }

    /// Bytes that it takes there.
    pub(super) fn bytes(self) -> usize {
        if self.is_wide() { size_of::<u64>() } else { size_of::<u32>() }
    }
}

/// Part of a block that waits for the plan.
#[derive(Clone, Copy)]
enum Part {
    /// Argument of an operation, by its index.
    Argument(*mut Op, usize),
    /// Bytes of the code of the host, from one of them on.
    Code(usize),
}

/// Parts of a block that wait for the plan.
#[derive(Default)]
pub(super) struct Patches(Vec<(Part, Later, Option<u16>)>);

impl Patches {
    /// Adds an argument, by its index, of an operation of the block that is being translated.
    pub(super) fn add(&mut self, op: *mut Op, argument: usize, value: Later) {
        self.0.push((Part::Argument(op, argument), value, None));
    }

    /// Adds a constant in the code of the host, by its place, which follows from the plan of the
    /// block, or of a superblock that is left after so many instructions.
    pub(super) fn add_code(&mut self, place: usize, value: Later, exit: Option<u16>) {
        self.0.push((Part::Code(place), value, exit));
    }

    /// Forgets all, as the translation was given up.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Sets all to what follows from a plan of the table, and what is in the `code` of the host.
    pub(super) fn apply(&mut self, id: PlanId, plans: &mut PlanTable, code: &mut [u8]) {
        for (part, value, exit) in self.0.drain(..) {
            let id = exit.map_or(id, |complete| plans.exit(id, complete));
            let Some(plan) = plans.get(id) else { continue };
            let len = value.bytes();
            let value = match value {
                Later::Header => plan.header(id) as usize,
                Later::Size => 8 * (1 + usize::from(plan.slots)),
                Later::Instructions => plan.insns.len(),
                Later::InstructionsBack(complete) => plan.insns.len() - usize::from(complete),
                Later::Plan => id.0 as usize,
                Later::Times => plan.times() as usize,
                Later::Fetch(line, insn) => {
                    let counter = plans.facts(id).fetches + u32::from(insn);
                    (u64::from(line) | u64::from(counter) << 32) as usize
                }
                Later::Count => size_of::<Count>() * id.0 as usize,
                Later::Mispredicted => size_of::<Count>() * id.0 as usize + offset_of!(Count, mispredicted),
            };
            match part {
                // SAFETY: the operation belongs to the block whose code is generated after this
                // returns, and has that argument.
                Part::Argument(op, argument) => unsafe { (*op).args[argument] = value },
                Part::Code(place) => {
                    code[place..place + len].copy_from_slice(&value.to_le_bytes()[..len]);
                }
            }
        }
    }
}
