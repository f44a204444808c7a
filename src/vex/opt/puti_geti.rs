//! Redundant PutI and GetI on the x87 stack (`do_redundant_PutI_elimination`,
//! `do_redundant_GetI_elimination`), where VEX can tell that two elements are the same or differ.

use crate::vex::guest_state as state;
use crate::vex::ir::{Op, Operands, Statement, Value, ZERO, operands};

/// Element of the stack: a value from which the top is computed, and a constant offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    tag: bool,
    root: Value,
    index: u64,
}

impl Element {
    /// Tests whether both may be the same bytes and are not known to be.
    fn may_alias(self, other: Element) -> bool {
        self.tag == other.tag && (self.root != other.root || self.index == other.index)
    }
}

/// Replaces GetI of known values by copies and removes PutI that are overwritten.
pub(super) fn eliminate(code: &mut [Statement], temps: usize) {
    let mut tops: Vec<Option<(Value, u64)>> = vec![None; temps];
    for statement in code.iter() {
        if let Statement::WrTmp(to, op, operands) = *statement
            && let Some(top) = tops.get(to as usize).and_then(|_| moved(&tops, op, &operands))
            && let Some(known) = tops.get_mut(to as usize)
        {
            *known = Some(top);
        }
    }
    let element = |statement: &Statement| match *statement {
        Statement::PutI { tag, top, bias, .. } | Statement::GetI { tag, top, bias, .. } => {
            let (root, moved) = root(&tops, top);
            Some(Element { tag, root, index: moved.wrapping_add(u64::from(bias)) & 7 })
        }
        _ => None,
    };
    for i in 0..code.len() {
        if let (Statement::GetI { to, .. }, Some(place)) = (code[i], element(&code[i]))
            && let Some(value) = known_value(&code[..i], place, &element)
        {
            code[i] = Statement::WrTmp(to, Op::Copy, operands(&[value]));
        }
    }
    for i in (0..code.len()).rev() {
        if let (Statement::PutI { .. }, Some(place)) = (code[i], element(&code[i]))
            && is_overwritten(&code[i + 1..], place, &element)
        {
            code[i] = Statement::NoOp;
        }
    }
}

/// Root and offset of a value.
fn root(tops: &[Option<(Value, u64)>], value: Value) -> (Value, u64) {
    match value {
        Value::Temp(temp) => tops.get(temp as usize).copied().flatten().unwrap_or((value, 0)),
        Value::Const(number) => (ZERO, number),
    }
}

/// Root and offset of a top that is a copy or a sum with a constant.
fn moved(tops: &[Option<(Value, u64)>], op: Op, operands: &Operands) -> Option<(Value, u64)> {
    let [one, by, ..] = *operands;
    let (root, index) = root(tops, one);
    match (op, by) {
        (Op::Copy, _) => Some((root, index)),
        (Op::Add(32), Value::Const(by)) => Some((root, index.wrapping_add(by))),
        (Op::Sub(32), Value::Const(by)) => Some((root, index.wrapping_sub(by))),
        _ => None,
    }
}

/// Value of an element after these statements, if it is known.
fn known_value(
    before: &[Statement],
    place: Element,
    element: &impl Fn(&Statement) -> Option<Element>,
) -> Option<Value> {
    let (first, len) = state::x87_array(place.tag);
    for statement in before.iter().rev() {
        match *statement {
            Statement::GetI { to, .. } if element(statement) == Some(place) => {
                return Some(Value::Temp(to));
            }
            Statement::PutI { value, .. } if element(statement) == Some(place) => return Some(value),
            Statement::PutI { .. } if element(statement).is_some_and(|other| other.may_alias(place)) => {
                return None;
            }
            Statement::Put(slice, _) if slice.overlaps(first, len) => return None,
            Statement::Barrier { writes: true, .. } => return None,
            _ => {}
        }
    }
    None
}

/// Tests whether these statements overwrite an element before anything can see it.
fn is_overwritten(
    behind: &[Statement],
    place: Element,
    element: &impl Fn(&Statement) -> Option<Element>,
) -> bool {
    let (first, len) = state::x87_array(place.tag);
    for statement in behind {
        match *statement {
            Statement::PutI { .. } if element(statement) == Some(place) => return true,
            Statement::PutI { .. } | Statement::GetI { .. }
                if element(statement).is_some_and(|other| other.may_alias(place)) =>
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
