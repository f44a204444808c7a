//! Letting a program run, and stopping it: everything that moves a run forwards.

use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashSet;

use super::error::Error;
use super::state::Debugger;
use super::stops::{Stop, Trigger};
use crate::guest::{Gpr, GuestCpu};
use crate::session::{PAUSE, Pause, Spawned, StopConditions};

/// Reason of a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// At the moment or place that the command named.
    There,
    /// By these of the list.
    At(Vec<u32>),
    /// Before this system call, by this one of the list.
    Syscall(u32, u64),
    /// After this system call has returned, by this one of the list.
    Returned(u32, u64),
    /// At the start of the handler of this signal, by this one of the list.
    Signal(u32, i32),
    /// Before this signal ends the process, by this one of the list.
    Fatal(u32, i32),
    /// After this process was made, by this one of the list.
    Forked(u32, i32),
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
    /// The frame that is meant, by its stack pointer.
    pub frame: InFrame,
    /// The task that is meant, by its id.
    pub task: i32,
}

/// The frame in which a place is meant, where a function calls itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InFrame {
    /// Any.
    Any,
    /// One whose stack pointer is above this: not a deeper call.
    Above(u64),
    /// The one with this stack pointer.
    At(u64),
}

impl InFrame {
    fn holds(self, sp: u64) -> bool {
        match self {
            InFrame::Any => true,
            InFrame::Above(limit) => sp > limit,
            InFrame::At(exact) => sp == exact,
        }
    }
}

impl Debugger {
    /// Lets the program run until a stop of the list, the moment `at`, or a place of `until`.
    ///
    /// # Errors
    /// The engine's, and conditions that cannot be computed; the program has stopped then too.
    pub fn go(&mut self, at: Option<u64>, until: &[Until]) -> Result<Stopped, Error> {
        self.go_to(at, until, None)
    }

    /// As [`Debugger::go`], and at most until the task `turn_of` has its turn, or has ended.
    pub(super) fn go_to(
        &mut self,
        at: Option<u64>,
        until: &[Until],
        turn_of: Option<i32>,
    ) -> Result<Stopped, Error> {
        if self.session.ending().is_some() {
            return Err(Error::Ended);
        }
        if self.take_interrupt() {
            return Ok(Stopped::Asked);
        }
        self.look_back();
        self.stops.forget_gone();
        self.find_places();
        self.set_breakpoints(until);
        self.ahead.arm(&self.stops, self.history.way());
        let now = self.session.instructions();
        self.history.resume(now);
        let stopped = self.go_on(at, until, turn_of, now);
        self.program.refresh(&mut self.session);
        let stopped = stopped?;
        if let Stopped::At(numbers) = &stopped {
            numbers.iter().for_each(|&number| self.stops.hit(number));
        }
        Ok(stopped)
    }

    fn set_breakpoints(&mut self, until: &[Until]) {
        let places = self.places.addresses(&self.stops);
        let addresses: FxHashSet<u64> =
            self.stops.addresses().chain(places).chain(until.iter().map(|until| until.pc)).collect();
        self.session.set_breakpoints(addresses);
    }

    /// Takes back the user's wish to interrupt what goes on; true if there was one.
    pub fn take_interrupt(&self) -> bool {
        self.control.interrupt.compare_exchange(PAUSE, 0, Relaxed, Relaxed).is_ok()
    }

    /// True if the user wants to interrupt what goes on.
    pub fn is_interrupted(&self) -> bool {
        self.control.interrupt.load(Relaxed) == PAUSE
    }

    /// Has signals from outside kept from here on until a command or a line ends.
    pub fn keep_signals(&self) {
        self.control.resting.store(false, Relaxed);
    }

    /// Number of the signal from outside that is to end everything, if one came.
    pub fn ending_signal(&self) -> Option<u8> {
        match self.control.interrupt.load(Relaxed) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }

    fn go_on(
        &mut self,
        at: Option<u64>,
        until: &[Until],
        turn_of: Option<i32>,
        begin: u64,
    ) -> Result<Stopped, Error> {
        loop {
            let now = self.session.instructions();
            let mut conditions = self.stop_conditions(at, now);
            let point = self.point();
            conditions.pass_breakpoint = self.considered == Some(point);
            conditions.turn_of = turn_of;
            let pause = match self.ahead.next(now) {
                _ if !self.ahead.is_armed() => self.session.resume(conditions),
                Some(moment) => {
                    conditions.at = Some(conditions.at.map_or(moment, |at| at.min(moment)));
                    self.session.resume(conditions)
                }
                None => match self.look_ahead(conditions, now)? {
                    Some(pause) => pause,
                    None => continue,
                },
            };
            match pause {
                Pause::Ended => return Ok(Stopped::Ended),
                Pause::Asked => {
                    self.take_interrupt();
                    return Ok(Stopped::Asked);
                }
                Pause::Turn => return Ok(Stopped::There),
                Pause::Outside => {}
                Pause::Passed => self.history.pass(&mut self.session)?,
                Pause::Breakpoint | Pause::Reached => {
                    if let Some(stopped) = self.at_place(until, begin)? {
                        return Ok(stopped);
                    }
                    if at.is_some_and(|at| self.session.instructions() >= at) {
                        return Ok(Stopped::There);
                    }
                }
                Pause::Syscall(number) => {
                    if let Some(stop) = self.first(|stop| stop.trigger.is_syscall(number))? {
                        return Ok(Stopped::Syscall(stop, number));
                    }
                }
                Pause::Returned(number) => {
                    if self.stops.has_places() {
                        // It may have mapped code.
                        self.find_places_here();
                        self.set_breakpoints(until);
                    }
                    if let Some(stop) = self.first(|stop| stop.trigger.is_syscall(number))? {
                        return Ok(Stopped::Returned(stop, number));
                    }
                }
                Pause::Signal(signal) => {
                    if let Some(stop) = self.first(|stop| stop.trigger.is_signal(signal))? {
                        return Ok(Stopped::Signal(stop, signal));
                    }
                }
                Pause::Fatal(signal) => {
                    if let Some(stop) = self.first(|stop| stop.trigger.is_signal(signal))? {
                        return Ok(Stopped::Fatal(stop, signal));
                    }
                }
                Pause::Spawned(Spawned::Clone(_)) => {}
                Pause::Spawned(spawned @ (Spawned::Fork(child) | Spawned::Vfork(child))) => {
                    let vfork = matches!(spawned, Spawned::Vfork(_));
                    let wanted = |stop: &Stop| match stop.trigger {
                        Trigger::Fork => !vfork,
                        Trigger::Vfork => vfork,
                        _ => false,
                    };
                    let stopped = self.first(wanted)?;
                    let (now, pid) = (self.session.instructions(), self.session.kernel().process().pid);
                    self.followed.forked(now, pid, child);
                    if let Some(stop) = stopped {
                        return Ok(Stopped::Forked(stop, child));
                    }
                }
                Pause::Mapped => {
                    self.find_places_here();
                    self.set_breakpoints(until);
                }
                Pause::Exec => {
                    self.find_places_here();
                    self.set_breakpoints(until);
                    if let Some(stop) = self.first(|stop| matches!(stop.trigger, Trigger::Exec))? {
                        return Ok(Stopped::Exec(stop));
                    }
                }
            }
        }
    }

    /// Goes ahead from the moment `from` and learns what the simulators see. `None` if they have
    /// seen something: the run is back at `from` then. Else the reason for which it has paused.
    fn look_ahead(&mut self, mut conditions: StopConditions, from: u64) -> Result<Option<Pause>, Error> {
        let start = self.session.save()?;
        // What is printed cannot be taken back.
        conditions.outside = true;
        let end = self.ahead.look_out(&mut self.session)?;
        conditions.after = Some(conditions.after.map_or(end, |after| after.min(end)));
        let pause = self.session.resume(conditions);
        let seen = self.ahead.learn(&mut self.session, from)?;
        if seen {
            self.session.restore(&start)?;
        }
        self.session.forget(start);
        Ok(match (seen, pause) {
            // The user wants the prompt; what was seen is still ahead.
            (true, Pause::Asked) => Some(Pause::Asked),
            (true, _) => None,
            (false, pause) => Some(pause),
        })
    }

    /// Conditions under which the session is to pause.
    fn stop_conditions(&self, at: Option<u64>, now: u64) -> StopConditions {
        let after = self.stops.enabled().filter_map(|stop| match stop.trigger {
            Trigger::After(at) if at > now => Some(at),
            _ => None,
        });
        let mut conditions = StopConditions {
            at: after.chain(at).min(),
            after: Some(self.history.due()),
            ..StopConditions::default()
        };
        for stop in self.stops.enabled() {
            match &stop.trigger {
                Trigger::Syscall(set) if set.is_empty() => conditions.any_syscall = true,
                Trigger::Syscall(set) => conditions.syscalls.extend(set),
                Trigger::Fork | Trigger::Vfork => conditions.spawns = true,
                Trigger::Signal(_) => conditions.signals = true,
                Trigger::Exec => conditions.exec = true,
                Trigger::Place(_) => (conditions.exec, conditions.mapped) = (true, true),
                _ => {}
            }
        }
        conditions.spawns |= self.follows_children();
        conditions
    }

    /// The stops that are due at exactly this moment, or wait for what was seen there.
    fn due_at(&self, now: u64) -> Vec<u32> {
        let due = self.stops.enabled().filter(|stop| matches!(stop.trigger, Trigger::After(at) if at == now));
        let mut numbers: Vec<u32> = due.map(|stop| stop.number).collect();
        if self.ahead.is_armed() {
            numbers.extend(self.ahead.at(now));
        }
        numbers
    }

    /// The first stop in force that is `wanted` and whose condition holds.
    fn first(&mut self, wanted: impl Fn(&Stop) -> bool) -> Result<Option<u32>, Error> {
        if !self.is_followed() {
            return Ok(None);
        }
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

    /// The stop by breakpoints of this address, by what was seen at this moment if that is after
    /// `begin`, or because it is a place of `until`.
    fn at_place(&mut self, until: &[Until], begin: u64) -> Result<Option<Stopped>, Error> {
        let (pc, sp) = {
            let cpu = self.session.cpu();
            (cpu.rip(), cpu.gpr(Gpr::Rsp))
        };
        let (here, now) = (self.point(), self.session.instructions());
        let mut candidates = if now > begin { self.due_at(now) } else { Vec::new() };
        if self.considered.replace(here) != Some(here) {
            self.follow_program();
            let places = &self.places;
            let at = |stop: &&Stop| match &stop.trigger {
                Trigger::Code(addresses) => addresses.contains(&pc),
                Trigger::Place(_) => places.here(stop.number).contains(&pc),
                _ => false,
            };
            candidates.extend(self.stops.enabled().filter(at).map(|stop| stop.number));
        }
        if !candidates.is_empty() && !self.is_followed() {
            candidates.clear();
        }
        candidates.sort_unstable();
        candidates.dedup();
        let numbers = self.that_hold(candidates)?;
        if !numbers.is_empty() {
            return Ok(Some(Stopped::At(numbers)));
        }
        let task = self.tid();
        let there = until.iter().any(|until| until.pc == pc && until.task == task && until.frame.holds(sp));
        Ok(there.then_some(Stopped::There))
    }

    /// Those of these stops whose conditions hold.
    fn that_hold(&mut self, candidates: Vec<u32>) -> Result<Vec<u32>, Error> {
        let mut numbers = Vec::new();
        for number in candidates {
            if self.holds(number)? {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    /// Tells if a stop is meant where the run is: by its task, its memory and its condition.
    fn holds(&mut self, number: u32) -> Result<bool, Error> {
        let (task, space) = (self.tid(), self.session.space());
        let meant = |stop: &Stop| {
            stop.task.is_none_or(|only| only == task) && stop.space.is_none_or(|only| only == space)
        };
        if !self.stops.get(number).is_some_and(meant) {
            return Ok(false);
        }
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
}
