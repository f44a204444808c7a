//! Text that several commands print: the position of the program, instructions, watched places.

use iced_x86::{Formatter as _, Instruction, IntelFormatter};

use super::error::Error;
use super::shell::Shell;
use crate::annotate::sources::text_lines;
use crate::debugger::program::Location;
use crate::debugger::stops::{Trigger, WatchAccess};
use crate::profile::grouped;

impl Shell {
    /// The text of an instruction, with the name of the address in it.
    pub(super) fn disassembled(&self, instruction: &Instruction) -> String {
        let program = self.debugger.program();
        let mut plain = IntelFormatter::new();
        let mut text = String::new();
        plain.format(instruction, &mut text);
        let target = match instruction.flow_control() {
            iced_x86::FlowControl::Next => {
                instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address())
            }
            _ if instruction.near_branch_target() != 0 => Some(instruction.near_branch_target()),
            _ => instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address()),
        };
        if let Some(name) = target.and_then(|target| program.symbol_at(target)) {
            text += &format!("  <{name}>");
        }
        text
    }

    /// An address with its names: `<main+4>` and `prog.c:12`, as far as they are known.
    pub(super) fn named(&self, pc: u64) -> String {
        let program = self.debugger.program();
        let mut text = format!("{pc:#x}");
        if let Some(name) = program.symbol_at(pc) {
            text += &format!(" <{name}>");
        } else if let Some(module) = program.module_at(pc) {
            text += &format!(" in {}", module.path);
        }
        if let Some((place, _)) = program.line_at(pc) {
            text += &format!(" at {}:{}", place.file, place.line);
        }
        text
    }

    /// Prints the position of the program: the address, its names, and the source line or the
    /// instruction.
    pub(super) fn here(&mut self) {
        let pc = self.debugger.pc();
        let now = self.debugger.session().instructions();
        let text = format!("{} after {} instructions", self.named(pc), grouped(now));
        self.say(&text);
        let source = self.debugger.program().line_at(pc).and_then(|(place, _)| {
            let line = text_lines(&place.file)?.into_iter().nth(place.line as usize - 1)?;
            Some(format!("{:>6}  {line}", place.line))
        });
        let shown = match source {
            Some(source) => source,
            None => match self.debugger.instruction_at(pc) {
                Some(instruction) => format!("        {}", self.disassembled(&instruction)),
                None => "        no instruction there".to_owned(),
            },
        };
        self.say(&shown);
    }

    /// Prints the content of watched memory.
    pub(super) fn show_watched(&mut self, trigger: &Trigger) {
        let Trigger::Memory(range, access) = trigger else { return };
        let len = (range.end - range.start).min(16) as usize;
        let mut bytes = vec![0; len];
        if self.debugger.session().read(range.start, &mut bytes).is_err() {
            return;
        }
        let shown = match bytes.as_slice() {
            [a] => format!("{a:#x}"),
            [a, b] => format!("{:#x}", u16::from_le_bytes([*a, *b])),
            [a, b, c, d] => format!("{:#x}", u32::from_le_bytes([*a, *b, *c, *d])),
            other => match other.first_chunk::<8>() {
                Some(word) if other.len() == 8 => format!("{:#x}", u64::from_le_bytes(*word)),
                _ => other.iter().map(|byte| format!("{byte:02x} ")).collect(),
            },
        };
        let verb = if *access == WatchAccess::Read { "holds" } else { "holds now" };
        self.say(&format!("{:#x} {verb} {shown}", range.start));
    }

    /// The file of the line where the selected frame is.
    pub(super) fn current_file(&mut self) -> Option<(String, u32)> {
        let number = self.debugger.frame_number();
        self.debugger.frames(number + 1).into_iter().nth(number)?.place
    }

    /// The addresses of a location, as seen from the current file.
    pub(super) fn locate(&mut self, text: &str) -> Result<Location, Error> {
        if let Some(expression) = text.trim().strip_prefix('*') {
            let address = self.address(expression)?;
            return Ok(Location { name: format!("{address:#x}"), addresses: vec![address] });
        }
        let here = self.current_file().map(|(file, _)| file);
        Ok(self.debugger.program().locate(text, here.as_deref())?)
    }
}
