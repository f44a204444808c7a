//! Going back: to a moment, to the stop before, and over calls.

use iced_x86::FlowControl;

use super::control::{InFrame, Stopped, Until};
use super::detect::quietly;
use super::error::Error;
use super::state::Debugger;
use super::stops::Stops;
use crate::guest::{Gpr, GuestCpu as _};
use crate::session::Pause;
use std::sync::atomic::Ordering::Relaxed;

impl Debugger {
    /// Takes the run to a moment, forwards or back, past all stops.
    ///
    /// # Errors
    /// If there is no such moment, and the engine's.
    pub fn travel(&mut self, moment: u64) -> Result<(), Error> {
        self.control.interrupt.store(0, Relaxed);
        let now = self.session.instructions();
        if moment < now && !self.history.go_back(&mut self.session, moment)? {
            return Err(Error::Unreachable);
        }
        self.considered = None;
        if self.session.instructions() < moment {
            let pause = self.session.resume(quietly(moment));
            self.program.refresh(&mut self.session);
            match pause {
                Pause::Reached => {}
                Pause::Ended => return Err(Error::EndsBefore),
                _ => {
                    self.control.interrupt.store(0, Relaxed);
                    return Err(Error::Interrupted);
                }
            }
        }
        self.program.refresh(&mut self.session);
        Ok(())
    }

    /// Goes back by so many instructions, at most to the beginning.
    ///
    /// # Errors
    /// Those of [`Debugger::travel`].
    pub fn step_back(&mut self, count: u64) -> Result<(), Error> {
        let now = self.session.instructions();
        self.travel(now.saturating_sub(count))
    }

    /// Goes back to the previous stop, or to the beginning if there is none.
    ///
    /// # Errors
    /// The engine's, and conditions that cannot be computed.
    pub fn continue_back(&mut self) -> Result<Stopped, Error> {
        let now = self.session.instructions();
        let mut end = now;
        for begin in self.history.before(now) {
            let mut last = None;
            self.travel(begin)?;
            while self.session.instructions() < end {
                let stops = self.stops.clone();
                let stopped = self.go(Some(end), &[]);
                self.stops = stops;
                let at = self.session.instructions();
                match stopped? {
                    Stopped::Asked => return Ok(Stopped::Asked),
                    Stopped::Ended => break,
                    Stopped::There => {}
                    stopped if at < end => last = Some((at, stopped)),
                    _ => {}
                }
                if at >= end {
                    break;
                }
            }
            if let Some((at, stopped)) = last {
                self.travel(at)?;
                self.considered = Some((self.pc(), at));
                return Ok(stopped);
            }
            end = begin;
        }
        self.travel(end)?;
        Ok(Stopped::There)
    }

    /// Goes back to the last moment at which control was at a place, past all stops. At the
    /// beginning of the run if there is none.
    fn back_to(&mut self, until: Until) -> Result<bool, Error> {
        let now = self.session.instructions();
        let stops = std::mem::replace(&mut self.stops, Stops::default());
        let found = self.last_at(until, now);
        self.stops = stops;
        match found? {
            Some(at) => self.travel(at).map(|()| true),
            None => Ok(false),
        }
    }

    /// The last moment before `end` at which control was at a place.
    fn last_at(&mut self, until: Until, mut end: u64) -> Result<Option<u64>, Error> {
        for begin in self.history.before(end) {
            let mut last = None;
            self.travel(begin)?;
            while self.session.instructions() < end {
                let stopped = self.go(Some(end), &[until])?;
                let at = self.session.instructions();
                match stopped {
                    Stopped::There if at < end => last = Some(at),
                    Stopped::Asked => return Err(Error::Interrupted),
                    _ => break,
                }
            }
            if last.is_some() {
                return Ok(last);
            }
            end = begin;
        }
        Ok(None)
    }

    /// Goes back by one instruction; a call that was made counts as one.
    ///
    /// # Errors
    /// Those of [`Debugger::travel`], and if it is not known where a function begins that has
    /// returned.
    pub fn step_back_over(&mut self) -> Result<(), Error> {
        let (pc, now) = (self.pc(), self.session.instructions());
        self.step_back(1)?;
        let returned = self.pc();
        let is_return = self
            .instruction_at(returned)
            .is_some_and(|instruction| instruction.flow_control() == FlowControl::Return);
        if is_return && let Err(why) = self.back_before_call(Some(pc)) {
            self.travel(now)?;
            return Err(why);
        }
        Ok(())
    }

    /// Goes back to the call of the function of the frame that is looked at.
    ///
    /// # Errors
    /// Those of [`Debugger::travel`], if nobody has called it, and if it is not known where it
    /// begins.
    pub fn finish_back(&mut self) -> Result<(), Error> {
        let now = self.session.instructions();
        let (_, caller) = self.callee_and_caller().ok_or(Error::Outermost)?;
        // The call has pushed the address to which the function returns.
        let entry = caller.sp().map(|sp| sp.wrapping_sub(8)).ok_or(Error::NoReturnAddress)?;
        let gone = self.back_to_entry(entry).and_then(|()| self.step_back(1));
        let gone = gone.and_then(|()| self.back_through_jumps(entry, Some(caller.pc)));
        if let Err(why) = gone {
            self.travel(now)?;
            return Err(why);
        }
        Ok(())
    }

    /// From the return of a function to its call, which returns to `back`.
    fn back_before_call(&mut self, back: Option<u64>) -> Result<(), Error> {
        let entry = self.session.cpu().gpr(Gpr::Rsp);
        self.back_to_entry(entry)?;
        self.step_back(1)?;
        self.back_through_jumps(entry, back)
    }

    /// From the jump by which one function has entered another, to the call of the first.
    fn back_through_jumps(&mut self, entry: u64, back: Option<u64>) -> Result<(), Error> {
        loop {
            let pc = self.pc();
            let instruction = self.instruction_at(pc);
            let is_call = instruction.is_some_and(|instruction| {
                matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
                    && back.is_none_or(|back| instruction.next_ip() == back)
            });
            if is_call {
                return Ok(());
            }
            self.back_to_entry(entry)?;
            self.step_back(1)?;
        }
    }

    /// Goes back to the entry of the function that control is in, where the stack pointer was
    /// `entry`.
    fn back_to_entry(&mut self, entry: u64) -> Result<(), Error> {
        let pc = self.pc();
        let (function, _) = self.program.function_at(pc).ok_or(Error::NoReturnAddress)?;
        let start = function.range.start;
        if pc == start && self.session.cpu().gpr(Gpr::Rsp) == entry {
            return Ok(());
        }
        match self.back_to(Until { pc: start, frame: InFrame::At(entry) })? {
            true => Ok(()),
            false => Err(Error::NoReturnAddress),
        }
    }
}
