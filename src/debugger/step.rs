//! Stepping: by instruction, over calls, by source line, and out of functions.

use std::ops::Range;

use iced_x86::{FlowControl, Instruction};

use super::control::{InFrame, Stopped, Until};
use super::error::Error;
use super::program::Location;
use super::stack::Frame;
use super::state::Debugger;
use crate::guest::{Gpr, GuestCpu};
use crate::x86::decode::{self, MAX_LENGTH};

/// Calls that a step by lines enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// None.
    Over,
    /// Calls of functions with line numbers.
    Into,
}

impl Debugger {
    /// The address of the next instruction of the running task.
    pub fn pc(&mut self) -> u64 {
        self.session.cpu().rip()
    }

    /// The instruction at an address; `None` if there is none.
    pub fn instruction_at(&mut self, pc: u64) -> Option<Instruction> {
        let mut bytes = [0; MAX_LENGTH];
        let count = self.session.read(pc, &mut bytes).err().unwrap_or(MAX_LENGTH);
        let instruction = decode::decode(&bytes[..count], pc);
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// Lets the task that is looked at execute `count` instructions; others run when they have
    /// their turns. The stop is in another one if it has ended.
    ///
    /// # Errors
    /// Those of [`Debugger::go`].
    pub fn step(&mut self, count: u64) -> Result<Stopped, Error> {
        if let Some(stopped) = self.await_turn()? {
            return Ok(stopped);
        }
        let tid = self.tid();
        let end = self.session.task_instructions().saturating_add(count);
        loop {
            let left = end.saturating_sub(self.session.task_instructions());
            let at = self.session.instructions().saturating_add(left);
            let mut stopped = self.go(Some(at), &[])?;
            if stopped == Stopped::There && self.tid() != tid {
                stopped = self.go_to(None, &[], Some(tid))?;
            }
            let goes_on = stopped == Stopped::There && self.tid() == tid;
            if !goes_on || self.session.task_instructions() >= end {
                return Ok(stopped);
            }
        }
    }

    /// Lets all tasks together execute `count` instructions.
    ///
    /// # Errors
    /// Those of [`Debugger::go`].
    pub fn advance(&mut self, count: u64) -> Result<Stopped, Error> {
        let now = self.session.instructions();
        self.go(Some(now.saturating_add(count)), &[])
    }

    /// A place that the task that is looked at is to reach.
    pub(super) fn place(&self, pc: u64, frame: InFrame) -> Until {
        Until { pc, frame, task: self.selected_tid() }
    }

    /// Executes one instruction, and if it is a call or a repeated one, everything until it is
    /// done.
    ///
    /// # Errors
    /// Those of [`Debugger::go`].
    pub fn step_over(&mut self) -> Result<Stopped, Error> {
        if let Some(stopped) = self.await_turn()? {
            return Ok(stopped);
        }
        let pc = self.pc();
        let over = self.instruction_at(pc).filter(|instruction| {
            matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
                || instruction.has_rep_prefix()
                || instruction.has_repne_prefix()
        });
        match over {
            Some(instruction) => {
                let sp = self.session.cpu().gpr(Gpr::Rsp);
                let behind = self.place(instruction.next_ip(), InFrame::Above(sp.wrapping_sub(1)));
                self.go(None, &[behind])
            }
            None => self.step(1),
        }
    }

    /// Goes on to the beginning of another source line.
    ///
    /// # Errors
    /// Those of [`Debugger::go`], and if there are no line numbers here.
    pub fn line(&mut self, calls: Calls) -> Result<Stopped, Error> {
        if let Some(stopped) = self.await_turn()? {
            return Ok(stopped);
        }
        let pc = self.pc();
        let Some((place, mut range)) = self.program.line_at(pc) else {
            return Err(Error::NoLines);
        };
        let (mut line, mut file) = (place.line, place.file);
        let mut function = self.program.function_at(pc).map(|(function, _)| function.range);
        let mut depth = self.program.inlined_at(pc);
        let tid = self.tid();
        loop {
            let stopped = self.within_line(&range, calls)?;
            if stopped != Stopped::There || self.tid() != tid {
                return Ok(stopped);
            }
            let pc = self.pc();
            if range.contains(&pc) {
                continue;
            }
            let here = self.program.function_at(pc).map(|(function, _)| function.range);
            let Some((place, now)) = self.program.line_at(pc) else {
                // Code without line numbers, which has just been entered: out of it again.
                let back = self.return_address();
                let stopped = self.go(None, &[back.ok_or(Error::NoReturnAddress)?])?;
                if stopped != Stopped::There {
                    return Ok(stopped);
                }
                continue;
            };
            if calls == Calls::Over && here == function && self.program.inlined_at(pc) > depth {
                // A call all the same, although the compiler has put the function's code here.
                range = now;
                continue;
            }
            if place.is_stmt && (place.line != line || place.file != file || here != function) {
                return Ok(Stopped::There);
            }
            // The middle of a line: of this one again, or of the caller's.
            (line, file, range, function) = (place.line, place.file, now, here);
            depth = self.program.inlined_at(pc);
        }
    }

    /// One step of a line: an instruction, or a call that is not gone into.
    fn within_line(&mut self, range: &Range<u64>, calls: Calls) -> Result<Stopped, Error> {
        let pc = self.pc();
        let Some(instruction) = self.instruction_at(pc) else { return self.step(1) };
        let is_call = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        if !is_call || calls == Calls::Over {
            return self.step_over();
        }
        let sp = self.session.cpu().gpr(Gpr::Rsp);
        let tid = self.tid();
        let stopped = self.step(1)?;
        let pc = self.pc();
        if self.tid() != tid {
            return Ok(stopped);
        }
        if stopped != Stopped::There || self.program.line_at(pc).is_some() || range.contains(&pc) {
            if stopped == Stopped::There
                && let Some((function, 0)) = self.program.function_at(pc)
                && let Some(body) = self.program.body(&function)
                && body != pc
            {
                let body = self.place(body, InFrame::Any);
                return self.go(None, &[body]);
            }
            return Ok(stopped);
        }
        let behind = self.place(instruction.next_ip(), InFrame::Above(sp.wrapping_sub(1)));
        self.go(None, &[behind])
    }

    /// The return address of the function that was just entered.
    fn return_address(&mut self) -> Option<Until> {
        let sp = self.session.cpu().gpr(Gpr::Rsp);
        let mut bytes = [0; 8];
        self.session.read(sp, &mut bytes).ok()?;
        Some(self.place(u64::from_le_bytes(bytes), InFrame::Above(sp)))
    }

    /// Goes on to a place.
    ///
    /// # Errors
    /// Those of [`Debugger::go`].
    pub fn until(&mut self, location: &Location) -> Result<Stopped, Error> {
        let until: Vec<Until> = location.addresses.iter().map(|&pc| self.place(pc, InFrame::Any)).collect();
        self.go(None, &until)
    }

    /// Goes on until the function of the frame that is looked at has returned.
    ///
    /// # Errors
    /// Those of [`Debugger::go`], and if nobody has called it.
    pub fn finish(&mut self) -> Result<Stopped, Error> {
        let (_, caller) = self.callee_and_caller().ok_or(Error::Outermost)?;
        let (pc, sp) = (caller.pc, caller.sp().unwrap_or(0));
        let caller = self.place(pc, InFrame::Above(sp.wrapping_sub(1)));
        self.go(None, &[caller])
    }

    /// The frame that the one that is looked at is in, or is itself if it was not inlined, and its
    /// caller's.
    pub(super) fn callee_and_caller(&mut self) -> Option<(Frame, Frame)> {
        let number = self.frame_number();
        let mut frames = self.frames(number + 64).into_iter().skip(number).skip_while(|frame| frame.inlined);
        frames.next().zip(frames.next())
    }

    /// Goes on to a source line behind this one in the same frame, past the jumps back of a loop,
    /// or to the caller: the bare `until` of GDB.
    ///
    /// # Errors
    /// Those of [`Debugger::line`].
    pub fn until_behind(&mut self) -> Result<Stopped, Error> {
        if let Some(stopped) = self.await_turn()? {
            return Ok(stopped);
        }
        let from = self.pc();
        let function = self.program.function_at(from).map(|(function, _)| function.range);
        let sp = self.session.cpu().gpr(Gpr::Rsp);
        loop {
            let stopped = self.line(Calls::Over)?;
            let pc = self.pc();
            let same = function.as_ref().is_some_and(|range| range.contains(&pc))
                && self.session.cpu().gpr(Gpr::Rsp) <= sp;
            if stopped != Stopped::There || !same || pc > from {
                return Ok(stopped);
            }
        }
    }
}
