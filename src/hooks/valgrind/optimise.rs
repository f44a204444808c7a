//! What VEX's optimiser leaves of a superblock: which loads nothing needs, and which branches are decided beforehand. The
//! passes and their order are VEX's, because what a pass finds depends on those before it.

use super::fold::Folding;
use super::ir::{Op, Slice, Source, Statement, Value};
use super::state;

/// Works through the statements of a superblock. Returns the instruction that always leaves it, if there is one.
pub(super) fn optimise(code: &mut [Statement], next: &mut Option<Value>, temps: usize) -> Option<u16> {
    let leaves = pass(code, next, temps);
    // Where the x87 or MMX is at work, VEX looks twice.
    let stack =
        |statement: &Statement| matches!(statement, Statement::PutStack { .. } | Statement::GetStack { .. });
    if !code.iter().any(stack) {
        return leaves;
    }
    super::stack::eliminate(code, temps);
    unneeded(code, *next, temps);
    pass(code, next, temps).or(leaves)
}

fn pass(code: &mut [Statement], next: &mut Option<Value>, temps: usize) -> Option<u16> {
    gets(code);
    puts(code);
    let leaves = Folding::new(temps).run(code, next);
    unneeded(code, *next, temps);
    specialise(code);
    unneeded(code, *next, temps);
    leaves
}

/// A slice that was read or written before needs not be read again.
fn gets(code: &mut [Statement]) {
    let mut known: Vec<(Slice, Value)> = Vec::new();
    for statement in code {
        match *statement {
            Statement::Get(to, slice) => match known.iter().find(|(place, _)| place.same_place(slice)) {
                Some((place, value)) if place.ty == slice.ty => {
                    let value = *value;
                    *statement = Statement::Compute(to, Op::Copy, [value; super::ir::OPERANDS]);
                }
                Some(_) => {}
                None => known.push((slice, Value::Temp(to))),
            },
            Statement::Put(slice, value) => {
                known.retain(|(place, _)| !place.overlaps(slice.offset, slice.ty.size()));
                known.push((slice, value));
            }
            Statement::PutStack { tag, .. } => {
                let (first, len) = state::stack(tag);
                known.retain(|(place, _)| !place.overlaps(first, len));
            }
            Statement::Barrier { writes: true } => known.clear(),
            _ => {}
        }
    }
}

/// A slice that is written again before anything can see it needs not be written.
fn puts(code: &mut [Statement]) {
    let mut overwritten: Vec<Slice> = Vec::new();
    for statement in code.iter_mut().rev() {
        match *statement {
            Statement::Put(slice, _) => {
                if overwritten.iter().any(|place| place.same_place(slice)) {
                    *statement = Statement::Nothing;
                } else {
                    overwritten.push(slice);
                }
            }
            Statement::Get(_, slice) => {
                overwritten.retain(|place| !place.overlaps(slice.offset, slice.ty.size()));
            }
            // A fault here must find the stack.
            Statement::Load { .. } | Statement::Store { .. } => {
                overwritten.retain(|place| !state::is_exact(*place));
            }
            Statement::Barrier { .. } | Statement::Exit { .. } => overwritten.clear(),
            Statement::GetStack { tag, .. } => {
                let (first, len) = state::stack(tag);
                overwritten.retain(|place| !place.overlaps(first, len));
            }
            Statement::Nothing | Statement::Compute(..) | Statement::Use(_) | Statement::PutStack { .. } => {}
        }
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
            Statement::Compute(_, _, operands) => operands.iter().for_each(|value| uses(*value, &mut used)),
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

/// The condition codes, a bit each, that VEX computes from the operands themselves where it knows what the flags come from.
fn direct(source: Source, bytes: u8) -> u16 {
    const O: u16 = 1 << 0;
    const B: u16 = 1 << 2;
    const NB: u16 = 1 << 3;
    const Z: u16 = 1 << 4;
    const NZ: u16 = 1 << 5;
    const BE: u16 = 1 << 6;
    const NBE: u16 = 1 << 7;
    const S: u16 = 1 << 8;
    const NS: u16 = 1 << 9;
    const P: u16 = 1 << 10;
    const NP: u16 = 1 << 11;
    const L: u16 = 1 << 12;
    const NL: u16 = 1 << 13;
    const LE: u16 = 1 << 14;
    const NLE: u16 = 1 << 15;
    match (source, bytes) {
        (Source::Logic, 1 | 2) => Z | NZ | S | NS,
        (Source::Logic, 4) => Z | NZ | S | NS | LE,
        (Source::Logic, 8) => Z | NZ | L,
        (Source::Sub, 1) => B | NB | Z | NZ | BE,
        (Source::Sub, 2) => Z | NZ | BE | LE,
        (Source::Sub, 4 | 8) => O | B | NB | Z | NZ | BE | NBE | S | NS | L | NL | LE | NLE,
        (Source::Add, 4) => O | S | NS,
        (Source::Add, 8) => Z | S,
        (Source::Inc, 2) | (Source::Dec, 4) => Z,
        (Source::Dec, 2) => NZ,
        (Source::Shl, 4) => Z | S,
        (Source::Shl, 8) => Z | NZ,
        (Source::Shr, 2) => Z,
        (Source::Shr, 4) => Z | NZ | S | NS,
        (Source::Shr, 8) => Z | NZ | S,
        (Source::Flags, _) => B | NB | Z | NZ | BE | NBE | P | NP,
        _ => 0,
    }
}

/// Conditions on flags of a known source become expressions of its operands.
fn specialise(code: &mut [Statement]) {
    const NONE: Value = Value::Known(0);
    for statement in code {
        let Statement::Compute(to, op, [source, dep1, dep2, ndep]) = *statement else { continue };
        let Some((source, bytes)) = Source::of(source) else { continue };
        let bits = 8 * bytes;
        let (op, operands) = match op {
            Op::Condition(code) if direct(source, bytes) & 1 << code != 0 => match (source, code & !1) {
                (Source::Sub, super::ir::code::Z) => {
                    (if code & 1 == 0 { Op::Equal(bits) } else { Op::Differ(bits) }, [dep1, dep2])
                }
                (
                    Source::Logic | Source::Inc | Source::Dec | Source::Shl | Source::Shr,
                    super::ir::code::Z,
                ) => {
                    // The result has been widened with zeroes.
                    (if code & 1 == 0 { Op::Equal(64) } else { Op::Differ(64) }, [dep1, NONE])
                }
                (Source::Logic | Source::Shl | Source::Shr | Source::Flags, _) => {
                    (Op::Compare(source, bytes, code), [dep1, NONE])
                }
                _ => (Op::Compare(source, bytes, code), [dep1, dep2]),
            },
            Op::Carry => match (source, bytes) {
                (Source::Logic, _) => (Op::Copy, [NONE, NONE]),
                (Source::Sub, _) | (Source::Add, 4 | 8) => (Op::Compare(source, bytes, 2), [dep1, dep2]),
                (Source::Inc | Source::Dec, 4 | 8) => (Op::Copy, [ndep, NONE]),
                _ => continue,
            },
            _ => continue,
        };
        *statement = Statement::Compute(to, op, [operands[0], operands[1], NONE, NONE]);
    }
}
