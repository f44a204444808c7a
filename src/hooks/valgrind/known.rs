//! What each pass over statements has to remember of the registers.

use super::ir::{Slice, Statement, Value};
use super::places::Places;
use super::state;

/// What slices are known to hold, going forward: what was read or written last.
#[derive(Debug, Default)]
pub(super) struct Known(Places<Value>);

impl Known {
    /// What a slice holds. One of another type has to be read again.
    pub fn value(&self, slice: Slice) -> Option<Value> {
        self.0.find(slice).filter(|(ty, _)| *ty == slice.ty).map(|(_, value)| value)
    }

    /// Goes on behind a statement.
    pub fn pass(&mut self, statement: &Statement) {
        match *statement {
            Statement::Get(to, slice) if self.0.find(slice).is_none() => {
                self.0.insert(slice, Value::Temp(to));
            }
            Statement::Put(slice, value) => {
                self.0.remove(slice.offset, slice.ty.size());
                self.0.insert(slice, value);
            }
            Statement::PutStack { tag, .. } => {
                let (offset, len) = state::stack(tag);
                self.0.remove(offset, len);
            }
            Statement::Barrier { writes: true, .. } => self.clear(),
            _ => {}
        }
    }

    /// Nothing is known.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Slices that are written again before anything can see them, going backward.
#[derive(Debug, Default)]
pub(super) struct Overwritten(Places<()>);

impl Overwritten {
    /// At the end of a superblock nothing needs the address that control was at.
    pub fn begin(&mut self) {
        self.0.clear();
        self.0.insert(state::IP, ());
    }

    /// Whether what is written to a slice here is not seen.
    pub fn is_unseen(&self, slice: Slice) -> bool {
        self.0.find(slice).is_some()
    }

    /// Goes on before a statement.
    pub fn pass(&mut self, statement: &Statement) {
        match *statement {
            Statement::Put(slice, _) if self.is_unseen(slice) => {}
            Statement::Put(slice, _) => self.0.insert(slice, ()),
            Statement::Get(_, slice) => self.0.remove(slice.offset, slice.ty.size()),
            // A fault here must find the stack.
            Statement::Load { .. } | Statement::Store { .. } => {
                self.0.remove(state::STACK_POINTER.offset, state::STACK_POINTER.ty.size());
            }
            Statement::Barrier { .. } | Statement::Exit { .. } => self.0.clear(),
            Statement::GetStack { tag, .. } => {
                let (offset, len) = state::stack(tag);
                self.0.remove(offset, len);
            }
            Statement::Nothing | Statement::Compute(..) | Statement::Use(_) | Statement::PutStack { .. } => {}
        }
    }
}
