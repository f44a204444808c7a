//! The stack of the x87: what its registers and tags hold, where VEX knows that two places on it are one.

use super::ir::{OPERANDS, Op, Statement, Value};
use super::state;

/// A place on the stack: what the top is computed from, and how many elements from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    tag: bool,
    root: Value,
    index: u64,
}

impl Element {
    /// Whether both may be the same.
    fn may_be(self, other: Element) -> bool {
        self.tag == other.tag && (self.root != other.root || self.index == other.index)
    }
}

/// Reads of what was read or written before become copies; what is written and then written over is not written.
pub(super) fn eliminate(code: &mut [Statement], temps: usize) {
    let mut tops: Vec<Option<(Value, u64)>> = vec![None; temps];
    for statement in code.iter() {
        if let Statement::Compute(to, op, operands) = *statement
            && let Some(top) = tops.get(to as usize).and_then(|_| moved(&tops, op, &operands))
            && let Some(known) = tops.get_mut(to as usize)
        {
            *known = Some(top);
        }
    }
    let element = |statement: &Statement| match *statement {
        Statement::PutStack { tag, top, bias, .. } | Statement::GetStack { tag, top, bias, .. } => {
            let (root, moved) = root(&tops, top);
            Some(Element { tag, root, index: moved.wrapping_add(u64::from(bias)) & 7 })
        }
        _ => None,
    };
    for i in 0..code.len() {
        if let (Statement::GetStack { to, .. }, Some(place)) = (code[i], element(&code[i]))
            && let Some(value) = known(&code[..i], place, &element)
        {
            code[i] = Statement::Compute(to, Op::Copy, [value; OPERANDS]);
        }
    }
    for i in (0..code.len()).rev() {
        if let (Statement::PutStack { .. }, Some(place)) = (code[i], element(&code[i]))
            && is_overwritten(&code[i + 1..], place, &element)
        {
            code[i] = Statement::Nothing;
        }
    }
}

fn root(tops: &[Option<(Value, u64)>], value: Value) -> (Value, u64) {
    match value {
        Value::Temp(temp) => tops.get(temp as usize).copied().flatten().unwrap_or((value, 0)),
        Value::Known(number) => (Value::Known(0), number),
    }
}

/// The top that a sum with a constant is.
fn moved(tops: &[Option<(Value, u64)>], op: Op, operands: &[Value; OPERANDS]) -> Option<(Value, u64)> {
    let [one, by, ..] = *operands;
    let (root, index) = root(tops, one);
    match (op, by) {
        (Op::Copy, _) => Some((root, index)),
        (Op::Add(32), Value::Known(by)) => Some((root, index.wrapping_add(by))),
        (Op::Sub(32), Value::Known(by)) => Some((root, index.wrapping_sub(by))),
        _ => None,
    }
}

/// What a place is known to hold behind these statements.
fn known(
    before: &[Statement],
    place: Element,
    element: &impl Fn(&Statement) -> Option<Element>,
) -> Option<Value> {
    let (first, len) = state::stack(place.tag);
    for statement in before.iter().rev() {
        match *statement {
            Statement::GetStack { to, .. } if element(statement) == Some(place) => {
                return Some(Value::Temp(to));
            }
            Statement::PutStack { value, .. } if element(statement) == Some(place) => return Some(value),
            Statement::PutStack { .. } if element(statement).is_some_and(|other| other.may_be(place)) => {
                return None;
            }
            Statement::Put(slice, _) if slice.overlaps(first, len) => return None,
            Statement::Barrier { writes: true, .. } => return None,
            _ => {}
        }
    }
    None
}

/// Whether a place is written by these statements before anything can see it.
fn is_overwritten(
    behind: &[Statement],
    place: Element,
    element: &impl Fn(&Statement) -> Option<Element>,
) -> bool {
    let (first, len) = state::stack(place.tag);
    for statement in behind {
        match *statement {
            Statement::PutStack { .. } if element(statement) == Some(place) => return true,
            Statement::PutStack { .. } | Statement::GetStack { .. }
                if element(statement).is_some_and(|other| other.may_be(place)) =>
            {
                return false;
            }
            Statement::Get(_, slice) | Statement::Put(slice, _) if slice.overlaps(first, len) => {
                return false;
            }
            Statement::Exit { .. } | Statement::Barrier { state: true, .. } => return false,
            _ => {}
        }
    }
    false
}
