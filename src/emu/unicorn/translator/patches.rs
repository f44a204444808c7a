//! Parts of operations that follow from the plan of a block, which is known only when all of it has
//! been translated.
#![allow(unsafe_code)]

use std::mem::offset_of;

use crate::emu::unicorn::ffi::Op;
use crate::hooks::executions::Count;
use crate::hooks::plan::PlanTable;
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
    /// The same, negated.
    MinusInstructions,
    /// Its id.
    Plan,
    /// Times that pass while its block runs.
    Times,
    /// Offset of its count of executions.
    Count,
    /// Offset of its count of mispredictions.
    Mispredicted,
    /// The same of the plan when a superblock is left after so many instructions.
    ExitHeader(u16),
    ExitSize(u16),
    ExitPlan(u16),
    ExitCount(u16),
    ExitMispredicted(u16),
    /// Number of the instructions that are not executed then.
    InstructionsBack(u16),
}

/// Arguments of operations that wait for the plan.
#[derive(Default)]
pub(super) struct Patches(Vec<(*mut Op, usize, Later)>);

impl Patches {
    /// Adds an argument, by its index, of an operation of the block that is being translated.
    pub(super) fn add(&mut self, op: *mut Op, argument: usize, value: Later) {
        self.0.push((op, argument, value));
    }

    /// Forgets all, as the translation was given up.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Sets all to what follows from a plan of the table.
    pub(super) fn apply(&mut self, id: PlanId, plans: &mut PlanTable) {
        for (op, argument, value) in self.0.drain(..) {
            let id = match value {
                Later::ExitHeader(complete)
                | Later::ExitSize(complete)
                | Later::ExitPlan(complete)
                | Later::ExitCount(complete)
                | Later::ExitMispredicted(complete) => plans.exit(id, complete),
                _ => id,
            };
            let Some(plan) = plans.get(id) else { continue };
            let value = match value {
                Later::Header | Later::ExitHeader(_) => plan.header(id) as usize,
                Later::Size | Later::ExitSize(_) => 8 * (1 + usize::from(plan.slots)),
                Later::Instructions => plan.insns.len(),
                Later::MinusInstructions => plan.insns.len().wrapping_neg(),
                Later::InstructionsBack(complete) => plan.insns.len() - usize::from(complete),
                Later::Plan | Later::ExitPlan(_) => id.0 as usize,
                Later::Times => plan.times() as usize,
                Later::Count | Later::ExitCount(_) => size_of::<Count>() * id.0 as usize,
                Later::Mispredicted | Later::ExitMispredicted(_) => {
                    size_of::<Count>() * id.0 as usize + offset_of!(Count, mispredicted)
                }
            };
            // SAFETY: the operation belongs to the block whose code is generated after this
            // returns, and has that argument.
            unsafe { (*op).args[argument] = value };
        }
    }
}
