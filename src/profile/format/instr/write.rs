//! Writes the side file.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::{CODE, MAGIC, OBJECT, VERSION};
use crate::profile::instructions::{CodeObject, Instructions};

/// Writes the costs: objects in their order, instructions by address.
///
/// # Errors
/// Those of `out`. Part of the file may have been written.
pub fn write_instructions(instructions: &Instructions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{MAGIC}\n{VERSION}\nversion: 1\ncreator: cgemu {}", env!("CARGO_PKG_VERSION"))?;
    line(out, "cmd:", &instructions.cmd)?;
    line(out, "positions:", b"instr line")?;
    line(out, "events:", &instructions.events.join(&b' '))?;
    let (mut objects, mut names) = (Numbers::default(), Names::default());
    for object in &instructions.objects {
        writeln!(out)?;
        comments(object, out)?;
        objects.name(out, "ob=", &object.path)?;
        costs(object, &mut names, out)?;
    }
    write!(out, "\ntotals:")?;
    counts(out, &instructions.total())
}

/// What Callgrind's format has no place for.
fn comments(object: &CodeObject, out: &mut dyn Write) -> io::Result<()> {
    if !object.identity.is_empty() {
        write!(out, "{OBJECT} {}", object.identity)?;
        for bias in &object.biases {
            write!(out, " bias:{bias:#x}")?;
        }
        writeln!(out)?;
    }
    for (address, bytes) in &object.code {
        write!(out, "{CODE} {address:#x} ")?;
        for byte in bytes {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn costs<'a>(object: &'a CodeObject, names: &mut Names<'a>, out: &mut dyn Write) -> io::Result<()> {
    // A function's own file is that of its first instruction; code from other files is inside of it.
    let mut function: Option<(&[u8], &[u8])> = None;
    let mut file: &[u8] = b"";
    for (&address, insn) in &object.instructions {
        let own = match function {
            Some((name, own)) if name == &*insn.function => own,
            _ => {
                names.files.name(out, "fl=", &insn.file)?;
                names.functions.name(out, "fn=", &insn.function)?;
                file = &insn.file;
                function = Some((&insn.function, &insn.file));
                file
            }
        };
        if file != &*insn.file {
            names.files.name(out, if own == &*insn.file { "fe=" } else { "fi=" }, &insn.file)?;
            file = &insn.file;
        }
        write!(out, "{address:#x} {}", insn.line)?;
        counts(out, &insn.costs)?;
    }
    Ok(())
}

/// Names that have been given a number.
#[derive(Default)]
struct Names<'a> {
    files: Numbers<'a>,
    functions: Numbers<'a>,
}

#[derive(Default)]
struct Numbers<'a>(FxHashMap<&'a [u8], usize>);

impl<'a> Numbers<'a> {
    /// Writes the short form of a name, and at its first time the name itself. A blank one cannot be told from none after a
    /// number, and has no short form.
    fn name(&mut self, out: &mut dyn Write, key: &str, name: &'a [u8]) -> io::Result<()> {
        if name.trim_ascii().is_empty() {
            write!(out, "{key}")?;
            out.write_all(name)?;
            return writeln!(out);
        }
        let next = self.0.len() + 1;
        let number = *self.0.entry(name).or_insert(next);
        write!(out, "{key}({number})")?;
        if number == next {
            out.write_all(b" ")?;
            out.write_all(name)?;
        }
        writeln!(out)
    }
}

/// A line of the head.
fn line(out: &mut dyn Write, key: &str, value: &[u8]) -> io::Result<()> {
    write!(out, "{key} ")?;
    out.write_all(value)?;
    out.write_all(b"\n")
}

fn counts(out: &mut dyn Write, counts: &[i64]) -> io::Result<()> {
    counts.iter().try_for_each(|count| write!(out, " {count}"))?;
    out.write_all(b"\n")
}
