//! What the optimiser's work changes in the counts of a superblock.

use super::ir::{Statement, Value};
use super::lift::Lifter;
use super::optimise::optimise;
use super::superblock::Superblock;

impl Superblock {
    /// Finds out what the optimiser leaves, and notes what is gone.
    pub(super) fn settle(&mut self, mut lifter: Lifter) {
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
