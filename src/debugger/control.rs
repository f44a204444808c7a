//! Letting a program run, and stopping it: everything that moves a run forwards.

use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashSet;

use super::detect::{CHUNK, Detector, quietly};
use super::error::Error;
use super::state::Debugger;
use super::stops::{Stop, Trigger};
use crate::guest::{Gpr, GuestCpu};
use crate::session::{Pause, Saved, StopConditions};

/// Reason of a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// At the moment or place that the command named.
    There,
    /// By these of the list.
    At(Vec<u32>),
    /// Before this system call, by this one of the list.
    Syscall(u32, u64),
    /// At the start of the handler of this signal, by this one of the list.
    Signal(u32, i32),
    /// After the program was replaced, by this one of the list.
    Exec(u32),
    /// The user interrupted it.
    Asked,
    /// The program has ended.
    Ended,
}

/// A place at which only the command at hand stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// Its address.
    pub pc: u64,
    /// Only when the stack pointer is above this: a deeper call of the same function is not meant.
    pub above: Option<u64>,
}

impl Debugger {
    /// Lets the program run until a stop of the list, the moment `at`, or a place of `until`.
    ///
    /// # Errors
    /// The engine's, and conditions that cannot be computed; the program has stopped then too.
    pub fn go(&mut self, at: Option<u64>, until: &[Until]) -> Result<Stopped, Error> {
        if self.session.ending().is_some() {
            return Err(Error::Ended);
        }
        self.control.interrupt.store(0, Relaxed);
        self.stops.forget_gone();
        let addresses: FxHashSet<u64> =
            self.stops.addresses().chain(until.iter().map(|until| until.pc)).collect();
        self.session.set_breakpoints(addresses);
        let detector = Detector::arm(&mut self.session, &self.stops);
        let mut start = match &detector {
            Some(_) => Some(self.save()?),
            None => None,
        };
        let now = self.session.instructions();
        self.history.resume(now);
        let stopped = self.go_on(at, until, detector, &mut start);
        if let Some(start) = start {
            self.session.forget(start);
        }
        self.program.refresh(&mut self.session);
        let stopped = stopped?;
        if let Stopped::At(numbers) = &stopped {
            numbers.iter().for_each(|&number| self.stops.hit(number));
        }
        Ok(stopped)
    }

    fn save(&mut self) -> Result<Saved, Error> {
        Ok(self.session.save()?)
    }

    fn go_on(
        &mut self,
        at: Option<u64>,
        until: &[Until],
        mut detector: Option<Detector>,
        start: &mut Option<Saved>,
    ) -> Result<Stopped, Error> {
        loop {
            let here = (self.pc(), self.session.instructions());
            let mut conditions = self.stop_conditions(at, here.1, detector.is_some());
            conditions.pass_breakpoint = self.considered == Some(here);
            let pause = self.session.resume(conditions);
            if let (Some(armed), Some(_)) = (&detector, &start) {
                let fired = armed.fired(&mut self.session);
                if !fired.is_empty() {
                    let Some(from) = start.take() else { continue };
                    let fired = armed.pinpoint(&mut self.session, from)?;
                    let mut numbers = Vec::new();
                    for number in fired {
                        if self.holds(number)? {
                            numbers.push(number);
                        }
                    }
                    if !numbers.is_empty() {
                        return Ok(Stopped::At(numbers));
                    }
                    detector = Detector::arm(&mut self.session, &self.stops);
                    *start = Some(self.save()?);
                    continue;
                }
                let next = self.save()?;
                if let Some(old) = start.replace(next) {
                    self.session.forget(old);
                }
            }
            match pause {
                Pause::Ended => return Ok(Stopped::Ended),
                Pause::Asked => {
                    self.control.interrupt.store(0, Relaxed);
                    return Ok(Stopped::Asked);
                }
                Pause::Outside => {}
                Pause::Passed => self.history.pass(&mut self.session)?,
                Pause::Breakpoint => {
                    if let Some(stopped) = self.at_breakpoint(until)? {
                        return Ok(stopped);
                    }
                }
                Pause::Reached => {
                    let now = self.session.instructions();
                    let mut numbers = Vec::new();
                    for number in self.due_at(now) {
                        if self.holds(number)? {
                            numbers.push(number);
                        }
                    }
                    if !numbers.is_empty() {
                        return Ok(Stopped::At(numbers));
                    }
                    if at.is_some_and(|at| now >= at) {
                        // Somebody who arrives at a breakpoint is told so.
                        return Ok(self.at_breakpoint(&[])?.unwrap_or(Stopped::There));
                    }
                }
                Pause::Syscall(number) => {
                    let wanted = |stop: &Stop| match &stop.trigger {
                        Trigger::Syscall(set) => set.is_empty() || set.contains(&number),
                        Trigger::Fork => FORKS.contains(&number),
                        _ => false,
                    };
                    if let Some(stop) = self.first(wanted)? {
                        return Ok(Stopped::Syscall(stop, number));
                    }
                }
                Pause::Signal(signal) => {
                    if let Some(stop) = self.first(|stop| matches!(stop.trigger, Trigger::Signal))? {
                        return Ok(Stopped::Signal(stop, signal));
                    }
                }
                Pause::Exec => {
                    self.program.refresh(&mut self.session);
                    if let Some(stop) = self.first(|stop| matches!(stop.trigger, Trigger::Exec))? {
                        return Ok(Stopped::Exec(stop));
                    }
                }
            }
        }
    }

    /// Conditions under which the session is to pause.
    fn stop_conditions(&self, at: Option<u64>, now: u64, chunks: bool) -> StopConditions {
        let after = self.stops.enabled().filter_map(|stop| match stop.trigger {
            Trigger::After(at) if at > now => Some(at),
            _ => None,
        });
        let mut conditions = StopConditions {
            at: after.chain(at).min(),
            after: Some(self.history.due()),
            ..StopConditions::default()
        };
        if chunks {
            // What is printed cannot be taken back.
            conditions.outside = true;
            conditions.after = Some(self.history.due().min(now + CHUNK));
        }
        for stop in self.stops.enabled() {
            match &stop.trigger {
                Trigger::Syscall(set) if set.is_empty() => conditions.any_syscall = true,
                Trigger::Syscall(set) => conditions.syscalls.extend(set),
                Trigger::Fork => conditions.syscalls.extend(FORKS),
                Trigger::Signal => conditions.signals = true,
                Trigger::Exec => conditions.exec = true,
                _ => {}
            }
        }
        conditions
    }

    /// The stops that are due at exactly this moment.
    fn due_at(&self, now: u64) -> Vec<u32> {
        let due = self.stops.enabled().filter(|stop| matches!(stop.trigger, Trigger::After(at) if at == now));
        due.map(|stop| stop.number).collect()
    }

    /// The first stop in force that is `wanted` and whose condition holds.
    fn first(&mut self, wanted: impl Fn(&Stop) -> bool) -> Result<Option<u32>, Error> {
        let numbers: Vec<u32> =
            self.stops.enabled().filter(|stop| wanted(stop)).map(|stop| stop.number).collect();
        for number in numbers {
            if self.holds(number)? {
                self.stops.hit(number);
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The stop by breakpoints of this address, if their conditions hold.
    fn at_breakpoint(&mut self, until: &[Until]) -> Result<Option<Stopped>, Error> {
        let (pc, sp) = {
            let cpu = self.session.cpu();
            (cpu.rip(), cpu.gpr(Gpr::Rsp))
        };
        let here = (pc, self.session.instructions());
        let before = self.considered.replace(here);
        let at = |stop: &&Stop| matches!(&stop.trigger, Trigger::Code(addresses) if addresses.contains(&pc));
        let candidates: Vec<u32> = self.stops.enabled().filter(at).map(|stop| stop.number).collect();
        let mut numbers = Vec::new();
        if before != Some(here) {
            for number in candidates {
                if self.holds(number)? {
                    numbers.push(number);
                }
            }
        }
        if !numbers.is_empty() {
            return Ok(Some(Stopped::At(numbers)));
        }
        let there = until.iter().any(|until| until.pc == pc && until.above.is_none_or(|above| sp > above));
        Ok(there.then_some(Stopped::There))
    }

    /// Evaluates the condition of a stop.
    fn holds(&mut self, number: u32) -> Result<bool, Error> {
        let Some(condition) = self.stops.get(number).and_then(|stop| stop.condition.clone()) else {
            return Ok(true);
        };
        match self.evaluate(&condition) {
            Ok(value) => Ok(value.is_true()),
            Err(error) => {
                Err(Error::Condition { stop: number, condition: condition.text().to_owned(), error })
            }
        }
    }

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
}

/// fork, vfork, clone and clone3.
const FORKS: [u64; 4] = [57, 58, 56, 435];
