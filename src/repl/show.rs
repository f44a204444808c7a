//! Text that several commands print: the position of the program, instructions, watched places.

use super::error::Error;
use super::shell::Shell;
use crate::debugger::program::Location;
use crate::debugger::stops::{Trigger, WatchAccess};
use crate::profile::grouped;

impl Shell {
    /// An address with its names: `<main+4>` and `prog.c:12`, as far as they are known.
    pub(super) fn named(&self, pc: u64) -> String {
        let program = self.debugger.program();
        let mut text = self.address_text(pc);
        if program.label(pc).is_none()
            && let Some(module) = program.module_at(pc)
        {
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
        let kernel = self.debugger.session().kernel();
        let task = (kernel.task().tid, kernel.process().pid);
        if self.task != task {
            self.task = task;
            self.say(&format!("[thread {} of process {}]", task.0, task.1));
        }
        let pc = self.debugger.pc();
        let now = self.debugger.session().instructions();
        let text = format!("{} after {} instructions", self.named(pc), grouped(now));
        self.say(&text);
        let place = self.debugger.program().line_at(pc).map(|(place, _)| place);
        let source = place.and_then(|place| {
            let line = self.sources.line(&place.file, u64::from(place.line))?;
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
        self.show_displays();
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

    /// File and line of the selected frame.
    pub(super) fn current_place(&mut self) -> Option<(String, u32)> {
        self.debugger.selected()?.place
    }

    /// The addresses of a location, as seen from the current file.
    pub(super) fn locate(&mut self, text: &str) -> Result<Location, Error> {
        if let Some(expression) = text.trim().strip_prefix('*') {
            let address = self.address(expression)?;
            return Ok(Location { name: format!("{address:#x}"), addresses: vec![address] });
        }
        let here = self.current_place().map(|(file, _)| file);
        Ok(self.debugger.program().locate(text, here.as_deref())?)
    }
}
