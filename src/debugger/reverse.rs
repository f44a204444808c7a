//! Going back: to a moment, to the stop before, and over calls.

use iced_x86::FlowControl;

use super::ahead::quietly;
use super::control::{InFrame, Stopped, Until};
use super::error::Error;
use super::state::Debugger;
use super::stops::Stops;
use crate::guest::{Gpr, GuestCpu as _};
use crate::session::{Pause, StopConditions};

/// Distances before a moment in the past at which checkpoints are made on the way to it, so that
/// what is asked for next is near one.
const DISTANCES: [u64; 4] = [1 << 24, 1 << 20, 1 << 16, NEAREST];

/// The shortest of them.
const NEAREST: u64 = 1 << 12;

/// Stops that are looked at one after the other; if there are more, the latest are looked for by
/// halves.
const SEVERAL: usize = 200;

/// A stop in the past: its moment, the id of the task, and the reason.
type Found = Option<(u64, i32, Stopped)>;

impl Debugger {
    /// Takes the run to a moment, forwards or back, past all stops.
    ///
    /// # Errors
    /// If there is no such moment, and the engine's.
    pub fn travel(&mut self, moment: u64) -> Result<(), Error> {
        if moment < self.session.instructions() {
            self.approach(moment, NEAREST)?;
            self.places.forget();
        }
        let went = self.forward(moment);
        self.program.refresh(&mut self.session);
        went
    }

    /// As [`Debugger::travel`]; of the tasks that have their turns at that moment, `task` has it.
    fn travel_to(&mut self, moment: u64, task: i32) -> Result<(), Error> {
        self.travel(moment)?;
        if self.tid() != task {
            self.session.resume(StopConditions { turn_of: Some(task), ..quietly(moment + 1) });
            self.program.refresh(&mut self.session);
        }
        Ok(())
    }

    /// As [`Debugger::travel_to`], to what happens there between two instructions of the task: it
    /// has made another, takes a signal, is in a call or has returned from it.
    fn travel_to_event(&mut self, moment: u64, task: i32, event: &Stopped) -> Result<(), Error> {
        self.travel(moment.saturating_sub(1))?;
        let mut conditions = quietly(moment + 1);
        match event {
            Stopped::Syscall(_, number) | Stopped::Returned(_, number) => {
                conditions.syscalls.insert(*number);
            }
            _ => (conditions.spawns, conditions.signals) = (true, true),
        }
        loop {
            match (self.session.resume(conditions.clone()), event) {
                (Pause::Spawned(_) | Pause::Signal(_) | Pause::Fatal(_), _) => {}
                (Pause::Syscall(_), Stopped::Syscall(..)) | (Pause::Returned(_), Stopped::Returned(..)) => {}
                (Pause::Syscall(_) | Pause::Returned(_), _) => continue,
                _ => return self.travel_to(moment, task),
            }
            if self.session.instructions() == moment && self.tid() == task {
                self.program.refresh(&mut self.session);
                return Ok(());
            }
        }
    }

    /// Goes back to the last checkpoint at or before `moment`, and makes some between it and there,
    /// at distances of at least `nearest`; the run is at the last one then.
    fn approach(&mut self, moment: u64, nearest: u64) -> Result<(), Error> {
        if !self.history.go_back(&mut self.session, moment)? {
            return Err(Error::Unreachable);
        }
        self.considered = None;
        for distance in DISTANCES.into_iter().filter(|distance| *distance >= nearest) {
            let now = self.session.instructions();
            let at = moment.saturating_sub(distance);
            // Closer ones cost more than they save.
            if at > now && at - now >= distance {
                self.forward(at)?;
                self.history.keep(&mut self.session, false)?;
            }
        }
        Ok(())
    }

    /// Goes on to a moment, past all stops.
    fn forward(&mut self, moment: u64) -> Result<(), Error> {
        if self.take_interrupt() {
            return Err(Error::Interrupted);
        }
        self.considered = None;
        if self.session.instructions() >= moment {
            return Ok(());
        }
        match self.session.resume(quietly(moment)) {
            Pause::Reached => Ok(()),
            Pause::Ended => Err(Error::EndsBefore),
            _ => {
                self.take_interrupt();
                Err(Error::Interrupted)
            }
        }
    }

    /// Goes back by so many instructions of the task that is looked at, at most to its first.
    ///
    /// # Errors
    /// Those of [`Debugger::travel`], and if it has executed none.
    pub fn step_back(&mut self, count: u64) -> Result<(), Error> {
        let tid = self.selected_tid();
        let Some(executed) = self.session.instructions_of(tid).filter(|executed| *executed > 0) else {
            return Err(Error::ThreadBegins);
        };
        let wanted = executed.saturating_sub(count);
        let mut end = self.session.instructions();
        let mut width = NEAREST;
        loop {
            // No task has executed more than all together.
            let last = end.saturating_sub(if width == NEAREST { count } else { 1 });
            self.approach(last, width)?;
            match self.session.instructions_of(tid) {
                Some(then) if then <= wanted => break,
                // The next instruction is the first of all, and the task comes later.
                None if self.session.instructions() == 0 => break,
                _ => (end, width) = (self.session.instructions(), width.saturating_mul(16)),
            }
        }
        let went = self.forward_in(tid, wanted);
        self.program.refresh(&mut self.session);
        went
    }

    /// Goes on past all stops until a task, which may not be there yet, has executed so many
    /// instructions and is about to execute the next.
    fn forward_in(&mut self, tid: i32, wanted: u64) -> Result<(), Error> {
        self.considered = None;
        loop {
            let now = self.session.instructions();
            let conditions = match self.session.instructions_of(tid) {
                Some(executed) if self.tid() == tid => match wanted.saturating_sub(executed) {
                    0 => return Ok(()),
                    left => quietly(now.saturating_add(left)),
                },
                Some(_) => StopConditions { turn_of: Some(tid), ..quietly(u64::MAX) },
                None => StopConditions { spawns: true, ..quietly(u64::MAX) },
            };
            match self.session.resume(conditions) {
                Pause::Ended => return Err(Error::EndsBefore),
                Pause::Asked => {
                    self.take_interrupt();
                    return Err(Error::Interrupted);
                }
                _ => {}
            }
        }
    }

    /// Goes back to the previous stop, or to the beginning if there is none.
    ///
    /// # Errors
    /// The engine's, and conditions that cannot be computed.
    pub fn continue_back(&mut self) -> Result<Stopped, Error> {
        let found = self.last_before(self.stops.clone(), &[]);
        let gone = found.and_then(|found| match found {
            Some((at, task, stopped)) => {
                match stopped {
                    Stopped::Forked(..)
                    | Stopped::Signal(..)
                    | Stopped::Fatal(..)
                    | Stopped::Syscall(..)
                    | Stopped::Returned(..) => self.travel_to_event(at, task, &stopped)?,
                    _ => self.travel_to(at, task)?,
                }
                self.considered = Some(self.point());
                Ok(stopped)
            }
            None => {
                self.travel(0)?;
                Ok(Stopped::There)
            }
        });
        match gone {
            Err(Error::Interrupted) => {
                self.program.refresh(&mut self.session);
                Ok(Stopped::Asked)
            }
            gone => gone,
        }
    }

    /// The last stop before this moment by one of `stops` or at a place of `until`.
    fn last_before(&mut self, mut stops: Stops, until: &[Until]) -> Result<Found, Error> {
        // What is met on the search does not count as a hit.
        stops.make_lasting();
        let stops = std::mem::replace(&mut self.stops, stops);
        let (mut begin, mut end) = (self.session.instructions(), self.session.instructions());
        let mut width = NEAREST;
        let found = loop {
            let Some(last) = begin.checked_sub(1) else { break Ok(None) };
            if let Err(why) = self.approach(last, width) {
                break Err(why);
            }
            begin = self.session.instructions();
            match self.last_until(end, until) {
                // What happened at the moment of a checkpoint does not happen after it.
                Ok(None) => (end, width) = (begin + 1, width.saturating_mul(16)),
                found => break found,
            }
        };
        self.stops = stops;
        found
    }

    /// The last stop from here to the moment `end`.
    fn last_until(&mut self, mut end: u64, until: &[Until]) -> Result<Found, Error> {
        let mut last = None;
        loop {
            for _ in 0..SEVERAL {
                if self.session.instructions() >= end || self.session.ending().is_some() {
                    return Ok(last);
                }
                let stopped = self.go(Some(end), until)?;
                let at = self.session.instructions();
                match stopped {
                    Stopped::Asked => return Err(Error::Interrupted),
                    Stopped::Ended => return Ok(last),
                    stopped if at < end => last = Some((at, self.tid(), stopped)),
                    _ => {}
                }
            }
            // There are many: the last one is in the second half, unless there are none.
            let here = self.session.instructions();
            let middle = here + end.saturating_sub(here) / 2;
            if middle - here < NEAREST {
                continue;
            }
            let considered = self.considered;
            let saved = self.session.save()?;
            let late = self.forward(middle).and_then(|()| self.last_until(end, until));
            let nothing = matches!(late, Ok(None));
            if nothing {
                self.session.restore(&saved)?;
                self.considered = considered;
                // What happened at that moment had happened when the second half began.
                end = middle + 1;
            }
            self.session.forget(saved);
            if !nothing {
                return late;
            }
        }
    }

    /// Goes back to the last moment at which control was at a place, past all stops; false if there
    /// is none.
    fn back_to(&mut self, until: Until) -> Result<bool, Error> {
        match self.last_before(Stops::default(), &[until])? {
            Some((at, task, _)) => self.travel_to(at, task).map(|()| true),
            None => Ok(false),
        }
    }

    /// Goes back by one instruction; a call that was made counts as one.
    ///
    /// # Errors
    /// Those of [`Debugger::travel`], and if it is not known where a function begins that has
    /// returned.
    pub fn step_back_over(&mut self) -> Result<(), Error> {
        let here = (self.session.instructions(), self.tid());
        let (pc, _) = self.selected_place()?;
        self.step_back(1)?;
        let returned = self.pc();
        let is_return = self
            .instruction_at(returned)
            .is_some_and(|instruction| instruction.flow_control() == FlowControl::Return);
        if is_return && let Err(why) = self.back_before_call(Some(pc)) {
            self.travel_to(here.0, here.1)?;
            return Err(why);
        }
        Ok(())
    }

    /// Program counter and stack pointer of the task that is looked at.
    fn selected_place(&mut self) -> Result<(u64, u64), Error> {
        Ok(self.session.with_registers(|cpu| (cpu.rip(), cpu.gpr(Gpr::Rsp)))?)
    }

    /// Goes back to the call of the function of the frame that is looked at.
    ///
    /// # Errors
    /// Those of [`Debugger::travel`], if nobody has called it, and if it is not known where it
    /// begins.
    pub fn finish_back(&mut self) -> Result<(), Error> {
        let here = (self.session.instructions(), self.tid());
        let (_, caller) = self.callee_and_caller().ok_or(Error::Outermost)?;
        // The call has pushed the address to which the function returns.
        let entry = caller.sp().map(|sp| sp.wrapping_sub(8)).ok_or(Error::NoReturnAddress)?;
        let gone = self.back_to_entry(entry).and_then(|()| self.step_back(1));
        let gone = gone.and_then(|()| self.back_through_jumps(entry, Some(caller.pc)));
        if let Err(why) = gone {
            self.travel_to(here.0, here.1)?;
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
        let (pc, sp) = self.selected_place()?;
        let (function, _) = self.program.function_at(pc).ok_or(Error::NoReturnAddress)?;
        let start = function.range.start;
        if pc == start && sp == entry {
            return Ok(());
        }
        match self.back_to(self.place(start, InFrame::At(entry)))? {
            true => Ok(()),
            false => Err(Error::NoReturnAddress),
        }
    }
}
