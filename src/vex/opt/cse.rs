//! Common subexpression elimination (`do_cse_BB`).

use crate::vex::guest_state as state;
use crate::vex::ir::{Op, Operands, Statement, Temp, UNNAMED, Value, operands};

/// Available expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Available {
    Computed(Op, Operands),
    /// GetI of a tag or register, the top of the stack, and the elements from there.
    GetI(bool, Value, u8),
}

/// Replaces expressions that are available. Returns true if there were any.
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
            Value::Const(_) => value,
        };
        let (to, expression) = match *statement {
            Statement::WrTmp(to, op, operands) if is_comparable(op, &operands) => {
                (to, Available::Computed(op, operands.map(first)))
            }
            Statement::GetI { to, tag, top: top @ Value::Temp(_), bias } => {
                (to, Available::GetI(tag, first(top), bias))
            }
            Statement::Store { .. } | Statement::Barrier { .. } => {
                available.retain(|(known, _)| !matches!(known, Available::GetI(..)));
                continue;
            }
            Statement::Put(slice, _) => {
                available.retain(|(known, _)| match *known {
                    Available::GetI(tag, ..) => {
                        let (offset, len) = state::x87_array(tag);
                        !slice.overlaps(offset, len)
                    }
                    Available::Computed(..) => true,
                });
                continue;
            }
            Statement::PutI { tag, top, bias, .. } => {
                available.retain(|(known, _)| match *known {
                    Available::GetI(other, from, at) => other != tag || (from == top && at & 7 != bias & 7),
                    Available::Computed(..) => true,
                });
                continue;
            }
            _ => continue,
        };
        if let Some((_, before)) = available.iter().find(|(known, _)| *known == expression) {
            *statement = Statement::WrTmp(to, Op::Copy, operands(&[Value::Temp(*before)]));
            same.push((to, *before));
            any = true;
            continue;
        }
        *statement = match expression {
            Available::Computed(op, operands) => Statement::WrTmp(to, op, operands),
            Available::GetI(tag, top, bias) => Statement::GetI { to, tag, top, bias },
        };
        available.push((expression, to));
    }
    any
}

/// Selects the expressions that VEX compares: none of constants alone, and no ternary ones but ITE.
fn is_comparable(op: Op, operands: &Operands) -> bool {
    let temp = |value: &Value| matches!(value, Value::Temp(_));
    match op {
        Op::Copy => false,
        Op::Ite => temp(&operands[0]),
        Op::Opaque(id, count) => id != UNNAMED && count <= 2 && operands.iter().any(temp),
        Op::CCall => false,
        _ => op.is_ccall() || operands.iter().any(temp),
    }
}
