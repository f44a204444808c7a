//! What the optimiser's work changes in the counts of a superblock.

use super::ir::{Statement, Value};
use super::lift::Lifter;
use super::optimise::optimise;
use super::superblock::Superblock;
use super::sure::Sure;

/// A statement that counts.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    kind: Kind,
    insn: u16,
    /// Which of the instruction's data events or branches.
    number: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Exit,
}

impl Step {
    fn of(statement: &Statement) -> Option<Step> {
        Some(match *statement {
            Statement::Load { insn, event, .. } => Step { kind: Kind::Load, insn, number: event },
            Statement::Store { insn, event, .. } => Step { kind: Kind::Store, insn, number: event },
            Statement::Exit { insn, branch, .. } => Step { kind: Kind::Exit, insn, number: branch },
            _ => return None,
        })
    }
}

impl Superblock {
    /// Finds out what the optimiser leaves, and notes what is gone.
    pub(super) fn settle(&mut self, lifter: &mut Lifter, sure: &mut Sure, loops: bool) {
        let simple = !loops && self.merged.is_none();
        if simple && sure.leaves_all(&lifter.code, lifter.next, lifter.temps()) {
            return self.settle_queue(&lifter.code);
        }
        let before: Vec<Step> = lifter.code.iter().filter_map(Step::of).collect();
        let temps = lifter.temps();
        let indirect = lifter.next.is_some();
        let leaves = optimise(&mut lifter.code, &mut lifter.next, temps, loops.then_some(self.parts.len()));
        let after = &lifter.code;
        // They are few.
        let left: Vec<Step> = after.iter().filter_map(Step::of).collect();
        for step in before.into_iter().filter(|step| !left.contains(step)) {
            let Some(part) = self.parts.get_mut(usize::from(step.insn)) else { continue };
            let bit = 1_u8.checked_shl(u32::from(step.number)).unwrap_or(0);
            match step.kind {
                // Of a modification the store is left.
                Kind::Load if left.contains(&Step { kind: Kind::Store, ..step }) => part.change.stores |= bit,
                // Stores go behind an exit that is always taken.
                Kind::Load | Kind::Store => part.change.dropped |= bit,
                Kind::Exit => part.change.branches |= bit,
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
        self.settle_queue(after);
        if let Some(last) = leaves {
            self.parts.truncate(usize::from(last) + 1);
            self.merged = self.merged.filter(|second| *second < self.parts.len());
            self.falls = None;
        }
    }
}
