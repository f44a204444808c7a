//! The stack of calls.

use std::sync::atomic::Ordering::Relaxed;

use super::registers::Register;
use super::state::Debugger;
use crate::guest::Gpr;
use crate::session::PAUSE;
use crate::symbols::debugger::cfi::Registers;
use crate::symbols::debugger::unwind::{self, GPRS};
use crate::symbols::valgrind::demangle::display_name;

/// Name of the frame between a signal handler and what it interrupted, as GDB has it; the C library
/// has none for it.
const HANDLER_CALLED: &str = "<signal handler called>";

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Address of its next instruction.
    pub pc: u64,
    /// Its registers, by DWARF's numbers, as far as they are known.
    pub registers: Registers,
    /// It is a part of the frame after it: the compiler has put its code there.
    pub inlined: bool,
    /// Its function, if that is known.
    pub function: Option<String>,
    /// Source file and line, if they are known.
    pub place: Option<(String, u32)>,
}

impl Frame {
    /// A register as the frame has it.
    pub fn register(&self, register: Register) -> Option<u64> {
        match register {
            Register::Gpr(gpr) => {
                let at = GPRS.iter().position(|&known| known == gpr)?;
                self.registers.get(at).copied().flatten()
            }
            Register::Rip => Some(self.pc),
            Register::Rflags | Register::FsBase | Register::GsBase => None,
        }
    }

    /// Its stack pointer.
    pub fn sp(&self) -> Option<u64> {
        self.register(Register::Gpr(Gpr::Rsp))
    }
}

impl Debugger {
    /// The number of the frame that is looked at; 0 is the innermost.
    pub fn frame_number(&self) -> usize {
        self.frame
    }

    /// Looks at another frame; false if there is none with this number.
    pub fn select_frame(&mut self, number: usize) -> bool {
        let found = number == 0 || self.frames(number + 1).len() > number;
        if found {
            self.frame = number;
        }
        found
    }

    /// The frame that is looked at.
    pub fn selected(&mut self) -> Option<Frame> {
        self.frames(self.frame + 1).into_iter().nth(self.frame)
    }

    /// The calls, the innermost first, at most so many.
    pub fn frames(&mut self, limit: usize) -> Vec<Frame> {
        let Ok(registers) = self.session.with_registers(unwind::registers) else { return Vec::new() };
        let Debugger { session, program, control, .. } = self;
        let stack = {
            let mut find = |pc: u64| {
                let module = program.module_at(pc)?;
                let function = program.function_at(pc).map(|(function, _)| function.range.start);
                Some(unwind::Module { cfi: module.cfi(), bias: module.bias, function })
            };
            let mut memory = |addr: u64| {
                // A recursion may be millions of frames deep.
                if control.interrupt.load(Relaxed) == PAUSE {
                    return None;
                }
                let mut bytes = [0; 8];
                session.read(addr, &mut bytes).ok()?;
                Some(u64::from_le_bytes(bytes))
            };
            unwind::unwind(&registers, limit, &mut find, &mut memory)
        };
        let mut frames = Vec::new();
        for frame in &stack.frames {
            self.add_calls(frame, &mut frames);
            if frames.len() >= limit || self.is_interrupted() {
                break;
            }
        }
        frames.truncate(limit);
        frames
    }

    /// Adds a frame of the stack, after the calls that were inlined into it.
    fn add_calls(&self, frame: &unwind::Frame, frames: &mut Vec<Frame>) {
        let code = frame.code();
        if frame.signal {
            let (pc, registers) = (frame.pc(), frame.registers);
            let function = Some(HANDLER_CALLED.to_owned());
            frames.push(Frame { pc, registers, inlined: false, function, place: None });
            return;
        }
        let mut place = self.program.line_at(code).map(|(place, _)| (place.file.to_string(), place.line));
        let chain = self.program.module_at(code).map_or(Vec::new(), |module| module.chain(code));
        let (pc, registers) = (frame.pc(), frame.registers);
        // The first of the chain is the function itself, whose name the symbol table knows better.
        for call in chain.iter().skip(1).rev() {
            let function = call.function.as_ref().map(|name| display_name(name, true, true).into_owned());
            frames.push(Frame { pc, registers, inlined: true, function, place });
            place = match &call.call {
                Some((Some(file), line)) if *line > 0 => Some((file.clone(), *line)),
                _ => None,
            };
        }
        let function = self.program.function_at(code).map(|(function, _)| function.name);
        frames.push(Frame { pc, registers, inlined: false, function, place });
    }
}
