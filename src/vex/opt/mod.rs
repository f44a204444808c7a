//! The optimiser: the passes of `ir_opt.c` that decide which loads stay and which exits are taken,
//! in VEX's order, because what a pass finds depends on those before it.

mod const_fold;
mod cse;
mod fast_path;
mod puti_geti;
mod spec_helper;
mod unroll;

pub(super) use fast_path::FastPath;

use super::ir::{Op, Statement, Temp, Value, operands};
use super::reg_values::{Overwritten, RegValues};
use const_fold::ConstFold;

/// Optimises a superblock. `loops` is the number of its instructions if it may lead to itself.
/// Returns the instruction with an exit that is always taken, if there is one.
pub(super) fn optimise(
    code: &mut Vec<Statement>,
    next: &mut Option<Value>,
    mut temps: usize,
    loops: Option<usize>,
) -> Option<u16> {
    let mut last = cheap_transformations(code, next, &mut temps);
    // VEX runs the expensive passes where it finds x87 or MMX code.
    let is_x87 = |statement: &Statement| matches!(statement, Statement::PutI { .. } | Statement::GetI { .. });
    if code.iter().any(is_x87) {
        cse::eliminate(code);
        puti_geti::eliminate(code, temps);
        dead_code(code, *next, temps);
        let mut again = |code: &mut Vec<Statement>| {
            let pass = cheap_transformations(code, next, &mut temps);
            last = Pass { always_exits: pass.always_exits.or(last.always_exits), ..pass };
        };
        again(code);
        if cse::eliminate(code) {
            again(code);
        }
    }
    // And once more where it unrolls a short loop. Knowledge from one iteration changes no count of
    // the next.
    let short = |instructions| unroll::is_short(code, instructions, last.specialised_from);
    if last.always_exits.is_none() && loops.is_some_and(short) {
        last = cheap_transformations(code, next, &mut temps);
    }
    last.always_exits
}

/// Result of [`cheap_transformations`].
#[derive(Clone, Copy)]
struct Pass {
    /// Instruction with an exit that is always taken.
    always_exits: Option<u16>,
    /// First temporary of the expressions that replaced calls of helpers, if there are any.
    specialised_from: Option<Temp>,
}

/// The passes that VEX always runs (`cheap_transformations`).
fn cheap_transformations(code: &mut Vec<Statement>, next: &mut Option<Value>, temps: &mut usize) -> Pass {
    redundant_gets(code);
    redundant_puts(code);
    let always_exits = ConstFold::new(*temps).run(code, next);
    dead_code(code, *next, *temps);
    let first = *temps as Temp;
    let specialised_from = spec_helper::specialise(code, temps).then_some(first);
    dead_code(code, *next, *temps);
    Pass { always_exits, specialised_from }
}

/// Replaces reads of slices whose value is known (`redundant_get_removal_BB`).
fn redundant_gets(code: &mut [Statement]) {
    let mut values = RegValues::default();
    for statement in code {
        if let Statement::Get(to, slice) = *statement
            && let Some(value) = values.value(slice)
        {
            *statement = Statement::WrTmp(to, Op::Copy, operands(&[value]));
        }
        values.apply(statement);
    }
}

/// Removes writes to slices that are overwritten before anything can see them
/// (`redundant_put_removal_BB`).
fn redundant_puts(code: &mut [Statement]) {
    let mut overwritten = Overwritten::default();
    overwritten.begin();
    for statement in code.iter_mut().rev() {
        if let Statement::Put(slice, _) = *statement
            && overwritten.contains(slice)
        {
            *statement = Statement::NoOp;
        }
        overwritten.apply(statement);
    }
}

/// Removes computations and loads of which nothing uses the result (`do_deadcode_BB`).
fn dead_code(code: &mut [Statement], next: Option<Value>, temps: usize) {
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
            | Statement::WrTmp(to, ..)
            | Statement::Load { to, .. }
            | Statement::GetI { to, .. }
                if !used.get(to as usize).copied().unwrap_or(true) =>
            {
                *statement = Statement::NoOp;
            }
            Statement::WrTmp(_, op, operands) => {
                operands.iter().take(op.operands()).for_each(|value| uses(*value, &mut used));
            }
            Statement::Load { address, .. } => uses(address, &mut used),
            Statement::GetI { top, .. } => uses(top, &mut used),
            Statement::Store { address, value, .. } | Statement::PutI { top: address, value, .. } => {
                uses(address, &mut used);
                uses(value, &mut used);
            }
            Statement::Put(_, value) | Statement::Use(value) | Statement::Exit { guard: value, .. } => {
                uses(value, &mut used);
            }
            Statement::NoOp | Statement::Get(..) | Statement::Barrier { .. } => {}
        }
    }
}
