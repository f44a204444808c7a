//! What VEX's optimiser leaves of a superblock: which loads nothing needs, and which branches are decided beforehand. The
//! passes and their order are VEX's, because what a pass finds depends on those before it.

use super::common;
use super::fold::Folding;
use super::forms::more_statements;
use super::ir::{Op, Statement, Value};
use super::known::{Known, Overwritten};
use super::special::specialise;

/// Most statements of a loop that VEX unrolls: half of `--vex-iropt-unroll-thresh`.
const MOST_UNROLLED: usize = 60;

/// Works through the statements of a superblock of so many instructions, which may lead to itself. Returns the instruction
/// that always leaves it, if there is one.
pub(super) fn optimise(
    code: &mut Vec<Statement>,
    next: &mut Option<Value>,
    mut temps: usize,
    loops: Option<usize>,
) -> Option<u16> {
    let (mut leaves, mut special) = pass(code, next, &mut temps);
    // Where the x87 or MMX is at work, VEX looks again.
    let stack =
        |statement: &Statement| matches!(statement, Statement::PutStack { .. } | Statement::GetStack { .. });
    if code.iter().any(stack) {
        common::eliminate(code);
        super::stack::eliminate(code, temps);
        unneeded(code, *next, temps);
        let mut again = |code: &mut Vec<Statement>| {
            let (left, specialised) = pass(code, next, &mut temps);
            (leaves, special) = (left.or(leaves), specialised);
        };
        again(code);
        if common::eliminate(code) {
            again(code);
        }
    }
    // So it does with a short loop, which it unrolls. What one turn knows of the one before changes no count of its own.
    let left: usize = code.iter().map(|statement| weight(statement, special)).sum();
    if leaves.is_none() && loops.is_some_and(|instructions| instructions + left <= MOST_UNROLLED) {
        (leaves, _) = pass(code, next, &mut temps);
    }
    leaves
}

/// How many statements VEX counts. Where conditions have become expressions it writes all of them anew, and most of what is
/// not one of two operands in two statements.
fn weight(statement: &Statement, special: Option<usize>) -> usize {
    let old = |to: super::ir::Temp| special.is_some_and(|first| (to as usize) < first);
    let more = |op: Op| match op {
        Op::Opaque(id, _) => iced_x86::Mnemonic::try_from(usize::from(id)).map_or(0, more_statements),
        _ => 0,
    };
    match *statement {
        Statement::Nothing | Statement::Use(_) => 0,
        Statement::Compute(_, op @ Op::Opaque(_, 2), _) => 1 + more(op),
        Statement::Compute(to, op @ Op::Opaque(..), _) => 1 + usize::from(old(to)) + more(op),
        Statement::Compute(to, op, _) if op != Op::Copy && op.operands() != 2 => 1 + usize::from(old(to)),
        Statement::GetStack { to, .. } => 1 + usize::from(old(to)),
        _ => 1,
    }
}

/// Returns the first temporary of expressions that have become of conditions, too, if there are any.
fn pass(
    code: &mut Vec<Statement>,
    next: &mut Option<Value>,
    temps: &mut usize,
) -> (Option<u16>, Option<usize>) {
    gets(code);
    puts(code);
    let leaves = Folding::new(*temps).run(code, next);
    unneeded(code, *next, *temps);
    let first = *temps;
    let special = specialise(code, temps).then_some(first);
    unneeded(code, *next, *temps);
    (leaves, special)
}

/// A slice that was read or written before needs not be read again.
fn gets(code: &mut [Statement]) {
    let mut known = Known::default();
    for statement in code {
        if let Statement::Get(to, slice) = *statement
            && let Some(value) = known.value(slice)
        {
            *statement = Statement::Compute(to, Op::Copy, [value; super::ir::OPERANDS]);
        }
        known.pass(statement);
    }
}

/// A slice that is written again before anything can see it needs not be written.
fn puts(code: &mut [Statement]) {
    let mut overwritten = Overwritten::default();
    overwritten.begin();
    for statement in code.iter_mut().rev() {
        if let Statement::Put(slice, _) = *statement
            && overwritten.is_unseen(slice)
        {
            *statement = Statement::Nothing;
        }
        overwritten.pass(statement);
    }
}

/// Removes what only computes and loads what nothing uses.
fn unneeded(code: &mut [Statement], next: Option<Value>, temps: usize) {
    let mut used = vec![false; temps];
    let uses = |value: Value, used: &mut Vec<bool>| {
        if let Value::Temp(temp) = value
            && let Some(used) = used.get_mut(temp as usize)
        {
            *used = true;
        }
    };
    if let Some(next) = next {
        uses(next, &mut used);
    }
    for statement in code.iter_mut().rev() {
        match *statement {
            Statement::Get(to, _)
            | Statement::Compute(to, ..)
            | Statement::Load { to, .. }
            | Statement::GetStack { to, .. }
                if !used.get(to as usize).copied().unwrap_or(true) =>
            {
                *statement = Statement::Nothing;
            }
            Statement::Compute(_, op, operands) => {
                operands.iter().take(op.operands()).for_each(|value| uses(*value, &mut used));
            }
            Statement::Load { address, .. } => uses(address, &mut used),
            Statement::GetStack { top, .. } => uses(top, &mut used),
            Statement::Store { address, value, .. } | Statement::PutStack { top: address, value, .. } => {
                uses(address, &mut used);
                uses(value, &mut used);
            }
            Statement::Put(_, value) | Statement::Use(value) | Statement::Exit { guard: value, .. } => {
                uses(value, &mut used);
            }
            Statement::Nothing | Statement::Get(..) | Statement::Barrier { .. } => {}
        }
    }
}
