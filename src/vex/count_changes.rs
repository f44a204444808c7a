//! The counts that optimisation changes: the difference between the events before the passes and
//! after them.

use super::ir::{Statement, Value};
use super::lift::LiftCtx;
use super::opt::{FastPath, optimise};
use super::superblock::{Superblock, bit};

/// Statement that is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Event {
    kind: Kind,
    insn: u16,
    /// Index of the data event or branch in the instruction.
    number: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Exit,
}

impl Event {
    fn of(statement: &Statement) -> Option<Event> {
        Some(match *statement {
            Statement::Load { insn, event, .. } => Event { kind: Kind::Load, insn, number: event },
            Statement::Store { insn, event, .. } => Event { kind: Kind::Store, insn, number: event },
            Statement::Exit { insn, branch, .. } => Event { kind: Kind::Exit, insn, number: branch },
            _ => return None,
        })
    }
}

impl Superblock {
    /// Optimises the lifted statements and records what changes. `loops` says that the superblock
    /// may lead to itself.
    pub(super) fn optimise(&mut self, ctx: &mut LiftCtx, fast_path: &mut FastPath, loops: bool) {
        let simple = !loops && self.merged.is_none();
        if simple && fast_path.keeps_all(ctx.code(), ctx.next(), ctx.temps()) {
            return self.set_queue(ctx.code());
        }
        let before: Vec<Event> = ctx.code().iter().filter_map(Event::of).collect();
        let temps = ctx.temps();
        let indirect = ctx.next().is_some();
        let (code, next) = ctx.code_mut();
        let always_exits = optimise(code, next, temps, loops.then_some(self.insns.len()));
        let known_target = indirect && matches!(next, Some(Value::Const(_)) | None);
        // Superblocks have few events.
        let after: Vec<Event> = code.iter().filter_map(Event::of).collect();
        for event in before.into_iter().filter(|event| !after.contains(event)) {
            let Some(insn) = self.insns.get_mut(usize::from(event.insn)) else { continue };
            let bit = bit(u32::from(event.number));
            match event.kind {
                // The store of a modification survives without its load.
                Kind::Load if after.contains(&Event { kind: Kind::Store, ..event }) => {
                    insn.change.stores |= bit;
                }
                // Stores disappear only behind an exit that is always taken.
                Kind::Load | Kind::Store => insn.change.removed |= bit,
                Kind::Exit => insn.change.branches |= bit,
            }
        }
        self.join_modifications(code);
        if let (Some(last), true) = (self.insns.last_mut(), known_target) {
            last.change.branches |= 1;
        }
        if let Some(jump) = self.merged.and_then(|second| self.insns.get_mut(second - 1)) {
            jump.change.branches |= 1;
        }
        self.set_queue(code);
        if let Some(last) = always_exits {
            self.insns.truncate(usize::from(last) + 1);
            self.merged = self.merged.filter(|second| *second < self.insns.len());
            self.fall_through = None;
        }
    }

    /// Makes one event of a load and a store of which only the optimiser sees that their addresses
    /// are equal, as in MOVS.
    fn join_modifications(&mut self, code: &[Statement]) {
        let mut last = None;
        for statement in code {
            match *statement {
                Statement::Load { address, insn, event, .. } => last = Some((address, insn, event)),
                Statement::Store { address, insn, event, .. } => {
                    if let Some((loaded, by, first)) = last.take()
                        && (loaded, by) == (address, insn)
                        && first != event
                        && let Some(insn) = self.insns.get_mut(usize::from(insn))
                    {
                        insn.change.removed |= bit(u32::from(event));
                    }
                }
                _ => {}
            }
        }
    }
}
