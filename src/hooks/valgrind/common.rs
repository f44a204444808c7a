//! Common subexpressions: what was computed before is taken from there.

use super::ir::{OPERANDS, Op, Statement, Temp, Value};
use super::state;

/// What is known to be computed already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Available {
    Computed(Op, [Value; OPERANDS]),
    /// An element of the x87 stack: whether it is a tag, the top, and how far from there.
    Element(bool, Value, u8),
}

/// Replaces what is computed again; whether there was any.
pub(super) fn eliminate(code: &mut [Statement]) -> bool {
    let mut available: Vec<(Available, Temp)> = Vec::new();
    let mut same: Vec<(Temp, Temp)> = Vec::new();
    let mut any = false;
    for statement in code {
        let first = |value: Value| match value {
            Value::Temp(temp) => match same.iter().rev().find(|(later, _)| *later == temp) {
                Some((_, first)) => Value::Temp(*first),
                None => value,
            },
            Value::Known(_) => value,
        };
        let (to, expression) = match *statement {
            Statement::Compute(to, op, operands) if is_comparable(op, &operands) => {
                (to, Available::Computed(op, operands.map(first)))
            }
            Statement::GetStack { to, tag, top: top @ Value::Temp(_), bias } => {
                (to, Available::Element(tag, first(top), bias))
            }
            Statement::Store { .. } | Statement::Barrier { .. } => {
                available.retain(|(known, _)| !matches!(known, Available::Element(..)));
                continue;
            }
            Statement::Put(slice, _) => {
                available.retain(|(known, _)| match *known {
                    Available::Element(tag, ..) => {
                        let (offset, len) = state::stack(tag);
                        !slice.overlaps(offset, len)
                    }
                    Available::Computed(..) => true,
                });
                continue;
            }
            Statement::PutStack { tag, top, bias, .. } => {
                available.retain(|(known, _)| match *known {
                    Available::Element(other, from, at) => {
                        other != tag || (from == top && at & 7 != bias & 7)
                    }
                    Available::Computed(..) => true,
                });
                continue;
            }
            _ => continue,
        };
        if let Some((_, before)) = available.iter().find(|(known, _)| *known == expression) {
            *statement = Statement::Compute(to, Op::Copy, [Value::Temp(*before); OPERANDS]);
            same.push((to, *before));
            any = true;
            continue;
        }
        *statement = match expression {
            Available::Computed(op, operands) => Statement::Compute(to, op, operands),
            Available::Element(tag, top, bias) => Statement::GetStack { to, tag, top, bias },
        };
        available.push((expression, to));
    }
    any
}

/// Expressions of constants alone are left for folding; those of three numbers, as of floating-point ones, are not compared.
fn is_comparable(op: Op, operands: &[Value; OPERANDS]) -> bool {
    let temp = |value: &Value| matches!(value, Value::Temp(_));
    match op {
        Op::Copy => false,
        Op::Choose => temp(&operands[0]),
        Op::Opaque(id, count) => id != u16::MAX && count <= 2 && operands.iter().any(temp),
        Op::Call => false,
        _ => op.is_call() || operands.iter().any(temp),
    }
}
