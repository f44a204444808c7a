//! Commands that show instructions.

use iced_x86::Instruction;
use std::borrow::Cow;

use super::arguments::number;
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::Renaming;
use crate::annotate::view::disassembly::{Addresses, Writer};
use crate::debugger::program::Function;

/// Instructions shown at most.
pub(super) const MOST: u64 = 10_000;

impl Shell {
    /// The text of an instruction, with the names of the addresses in it.
    pub(super) fn disassembled(&mut self, instruction: &Instruction) -> String {
        let mut bytes = vec![0; instruction.len()];
        // It was just decoded from there.
        let _ = self.debugger.session().read(instruction.ip(), &mut bytes);
        let renaming = Renaming::default();
        let mut writer = Writer::new(self.flavor, &renaming).naming(Addresses::Gdb);
        let program = self.debugger.program();
        let label = |address| program.label(address).map(|(name, past)| (Cow::Owned(name), past));
        writer.line(instruction, &bytes, label)
    }

    /// `0x401136 <main+4>  mov    $0x1,%eax`.
    pub(super) fn instruction_line(&mut self, pc: u64) -> String {
        let text = match self.debugger.instruction_at(pc) {
            Some(instruction) => self.disassembled(&instruction),
            None => "(no longer there)".to_owned(),
        };
        format!("{}  {text}", self.address_text(pc))
    }

    /// `0x401136 <main+4>`.
    pub(super) fn address_text(&self, address: u64) -> String {
        match self.debugger.program().symbol_at(address) {
            Some(name) => format!("{address:#x} <{name}>"),
            None => format!("{address:#x}"),
        }
    }

    pub(super) fn disas(&mut self, rest: &str) -> Reply {
        let (place, lines) = match rest.rsplit_once(' ') {
            Some((place, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => {
                (place, number(lines)?)
            }
            _ if rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(':') => ("", number(rest)?),
            _ => (rest, 10),
        };
        let mut at = if place.is_empty() {
            self.debugger.selected().map_or_else(|| self.debugger.pc(), |frame| frame.pc)
        } else {
            // From the first instruction of a function, not from behind its prologue.
            match self.debugger.program().functions(place).into_iter().next() {
                Some(function) => function.range.start,
                None => self.locate(place)?.addresses.first().copied().unwrap_or(0),
            }
        };
        for _ in 0..lines.min(MOST) {
            at = self.marked_instruction(at)?;
        }
        Ok(())
    }

    /// Prints the instruction at an address, marked if it is the next one; the address behind it.
    fn marked_instruction(&mut self, at: u64) -> Result<u64, Error> {
        let instruction = self.debugger.instruction_at(at).ok_or(Error::NoInstruction(at))?;
        let here = self.debugger.selected().is_some_and(|frame| frame.pc == at);
        let mark = if here { "=>" } else { "  " };
        let line = format!("{mark} {}  {}", self.address_text(at), self.disassembled(&instruction));
        self.say(&line);
        Ok(instruction.next_ip())
    }

    pub(super) fn disassemble(&mut self, rest: &str) -> Reply {
        let (mut at, end) = match rest.split_once(',') {
            Some((first, last)) => {
                let first = self.address(first)?;
                let end = match last.trim().strip_prefix('+') {
                    Some(length) => first.saturating_add(self.address(length)?),
                    None => self.address(last)?,
                };
                (first, end)
            }
            None => {
                let function = self.function_of(rest)?;
                self.say(&format!("{}:", function.name));
                (function.range.start, function.range.end)
            }
        };
        let mut shown = 0;
        while at < end && shown < MOST {
            at = self.marked_instruction(at)?;
            shown += 1;
        }
        Ok(())
    }

    /// The function that `disassemble` names: by name, by an address in it, or that of the frame.
    fn function_of(&mut self, rest: &str) -> Result<Function, Error> {
        let named = self.debugger.program().functions(rest).into_iter().next();
        if let Some(function) = named.filter(|_| !rest.is_empty()) {
            return Ok(function);
        }
        let address = match rest {
            "" => self.debugger.selected().map_or_else(|| self.debugger.pc(), |frame| frame.pc),
            _ => match self.locate(rest) {
                Ok(location) => location.addresses.first().copied().unwrap_or(0),
                Err(why) => self.address(rest).map_err(|_| why)?,
            },
        };
        let found = self.debugger.program().function_at(address).map(|(function, _)| function);
        found.filter(|function| !function.range.is_empty()).ok_or(Error::NoFunctionAt(address))
    }
}
