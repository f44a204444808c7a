//! Values and memory: `print` and `x`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::code::MOST;
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::debugger::expr::Expression;
use crate::debugger::format::Format;
use crate::debugger::value::{Kind, Type, Value};
use crate::session::PAUSE;

/// The letters after a `/`.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    count: u64,
    format: Option<Format>,
    size: Option<usize>,
}

impl Shape {
    /// True if only memory can be shown so, as gdb's `display` distinguishes it.
    pub(super) fn is_of_memory(&self) -> bool {
        self.size.is_some() || matches!(self.format, Some(Format::Instruction | Format::Text))
    }
}

/// Cuts `/NFS` off the front.
pub(super) fn shape(text: &str) -> Result<(Shape, &str), Error> {
    let mut shape = Shape { count: 1, format: None, size: None };
    let Some(rest) = text.strip_prefix('/') else { return Ok((shape, text)) };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (letters, rest) = rest.split_at(end);
    let digits = letters.find(|c: char| !c.is_ascii_digit()).unwrap_or(letters.len());
    if digits > 0 {
        shape.count = letters[..digits].parse().map_err(|_| Error::LargeCount(letters.to_owned()))?;
    }
    for letter in letters[digits..].chars() {
        match letter {
            'b' => shape.size = Some(1),
            'h' => shape.size = Some(2),
            'w' => shape.size = Some(4),
            'g' => shape.size = Some(8),
            _ => match Format::from_letter(letter) {
                Some(format) => shape.format = Some(format),
                None => {
                    return Err(Error::NoFormat { letters: letters.to_owned(), letter });
                }
            },
        }
    }
    Ok((shape, rest.trim()))
}

impl Shell {
    /// Computes an expression.
    pub(super) fn value(&mut self, text: &str) -> Result<Value, Error> {
        if text.trim().is_empty() {
            return Err("an expression is missing, such as `$rsp + 8`".into());
        }
        Expression::parse(text)
            .and_then(|expression| self.debugger.evaluate(&expression))
            .map_err(|error| Error::Expression { text: text.trim().to_owned(), error })
    }

    /// An address.
    pub(super) fn address(&mut self, text: &str) -> Result<u64, Error> {
        let value = self.value(text)?;
        value.as_u64().ok_or_else(|| Error::NoAddress { text: text.trim().to_owned(), noun: value.noun() })
    }

    pub(super) fn print(&mut self, rest: &str) -> Reply {
        let (shape, text) = shape(rest)?;
        let value = self.value(text)?;
        let shown = self.formatted(&value, &shape);
        self.values += 1;
        let name = self.values.to_string();
        self.debugger.variables.insert(name.clone(), value);
        self.say(&format!("${name} = {shown}"));
        Ok(())
    }

    /// A value in the format that was asked for.
    pub(super) fn formatted(&self, value: &Value, shape: &Shape) -> String {
        let program = self.debugger.program();
        match shape.format {
            Some(format) => format.show(value, &mut |address| program.symbol_at(address)),
            None => self.shown(value),
        }
    }

    /// A value as it is shown where no format is asked for.
    pub(super) fn shown(&self, value: &Value) -> String {
        let program = self.debugger.program();
        Format::natural(value, &mut |address| program.symbol_at(address))
    }

    pub(super) fn examine(&mut self, rest: &str) -> Reply {
        let (shape, text) = shape(rest)?;
        let from = if text.is_empty() { self.examined } else { self.address(text)? };
        let mut lines = Vec::new();
        let end = self.examined_lines(from, &shape, &mut |line| lines.push(line.to_owned()));
        for line in lines {
            self.say(&line);
        }
        self.examined = end?;
        Ok(())
    }

    /// Gives the lines of `x` to `say`; the address behind what they show.
    ///
    /// # Errors
    /// Where no memory or no instruction is, after the lines before that.
    pub(super) fn examined_lines(
        &mut self,
        from: u64,
        shape: &Shape,
        say: &mut dyn FnMut(&str),
    ) -> Result<u64, Error> {
        let mut at = from;
        let format = shape.format.unwrap_or(Format::Hex);
        let count = shape.count.min(MOST);
        match format {
            Format::Instruction => {
                for _ in self.units_asked_for(count) {
                    let instruction = self.debugger.instruction_at(at).ok_or(Error::NoInstruction(at))?;
                    say(&format!("   {}  {}", self.address_text(at), self.disassembled(&instruction)));
                    at = instruction.next_ip();
                }
            }
            Format::Text => {
                for _ in self.units_asked_for(count) {
                    let text = self.value(&format!("str[{at:#x}]"))?;
                    say(&format!("{at:#x}: {text}"));
                    let Value::Bytes(bytes) = text else { break };
                    at = at.wrapping_add(bytes.len() as u64 + 1);
                }
            }
            _ => at = self.units(at, count, format, shape.size, say)?,
        }
        Ok(at)
    }

    /// Numbers of the units that `x` shows, as far as nobody interrupts it.
    fn units_asked_for(&self, count: u64) -> impl Iterator<Item = u64> + use<> {
        let control = Arc::clone(self.debugger.control());
        (0..count).take_while(move |_| control.interrupt.load(Relaxed) != PAUSE)
    }

    fn units(
        &mut self,
        from: u64,
        count: u64,
        format: Format,
        size: Option<usize>,
        say: &mut dyn FnMut(&str),
    ) -> Result<u64, Error> {
        let size = size.unwrap_or(match format {
            Format::Character => 1,
            Format::Address | Format::Float => 8,
            _ => 4,
        });
        let signed = format == Format::Decimal;
        let kind = match (format, size) {
            (Format::Float, 4) => Type::F32,
            (Format::Float, 8) => Type::F64,
            (_, 1) => Type::Integer(if signed { Kind::I8 } else { Kind::U8 }),
            (_, 2) => Type::Integer(if signed { Kind::I16 } else { Kind::U16 }),
            (_, 4) => Type::Integer(if signed { Kind::I32 } else { Kind::U32 }),
            _ => Type::Integer(if signed { Kind::I64 } else { Kind::U64 }),
        };
        let per_line = (16 / size).max(1) as u64;
        let mut at = from;
        let mut line = String::new();
        for unit in self.units_asked_for(count) {
            let mut bytes = vec![0; size];
            if self.debugger.session().read(at, &mut bytes).is_err() {
                if !line.is_empty() {
                    say(&line);
                }
                return Err(Error::NoMemory(at));
            }
            if unit % per_line == 0 {
                if !line.is_empty() {
                    say(&line);
                }
                line = format!("{}:", self.address_text(at));
            }
            let program = self.debugger.program();
            let shown = match format {
                Format::Hex => {
                    format!("0x{}", bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>())
                }
                _ => format.show(&kind.read(&bytes), &mut |address| program.symbol_at(address)),
            };
            line += &format!("\t{shown}");
            at = at.wrapping_add(size as u64);
        }
        say(&line);
        Ok(at)
    }
}
