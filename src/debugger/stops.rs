//! The list of places and events at which a run is to stop.

use std::collections::BTreeSet;
use std::ops::Range;

use super::expr::Expression;
use crate::profile::Event;
use crate::session::SpaceId;

/// Accesses that a watchpoint stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchAccess {
    /// Loads.
    Read,
    /// Stores.
    Write,
    /// Both.
    Any,
}

/// Events that stop a run.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// Control reaches one of these addresses, in whatever program.
    Code(Vec<u64>),
    /// Control reaches this function or `FILE:LINE` of the program that the process runs then.
    Place(String),
    /// These bytes are accessed.
    Memory(Range<u64>, WatchAccess),
    /// A system call is about to be made, or has returned: one of these, or any if there are none.
    Syscall(BTreeSet<u64>),
    /// A signal is about to be handled or to end a process: one of these, or any if there are
    /// none.
    Signal(BTreeSet<i32>),
    /// A process was made by fork(2), or otherwise so that its end is told with SIGCHLD.
    Fork,
    /// A process was made for which its maker waits, vfork(2).
    Vfork,
    /// Another program was loaded.
    Exec,
    /// An event is counted in a function, or anywhere.
    Miss(Event, Option<Range<u64>>),
    /// This number of instructions has been executed.
    After(u64),
}

/// A stop.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Its number, by which commands name it.
    pub number: u32,
    /// Its description: the words as they were typed.
    pub spec: String,
    /// Its trigger.
    pub trigger: Trigger,
    /// It stops the run only if this holds.
    pub condition: Option<Expression>,
    /// Only this task stops at it.
    pub task: Option<i32>,
    /// Only tasks with this memory stop at it.
    pub space: Option<SpaceId>,
    /// It is in force.
    pub enabled: bool,
    /// It goes when it has stopped the run.
    pub temporary: bool,
    /// Number of times that it has stopped the run.
    pub hits: u64,
}

impl Trigger {
    /// Tells if it waits for a signal.
    pub(super) fn is_signal(&self, signal: i32) -> bool {
        matches!(self, Trigger::Signal(set) if set.is_empty() || set.contains(&signal))
    }

    /// Tells if it waits for a system call.
    pub(super) fn is_syscall(&self, number: u64) -> bool {
        matches!(self, Trigger::Syscall(set) if set.is_empty() || set.contains(&number))
    }

    /// As the list shows it.
    pub fn kind(&self) -> &'static str {
        match self {
            Trigger::Code(_) | Trigger::Place(_) => "breakpoint",
            Trigger::Memory(_, WatchAccess::Read) => "watch (read)",
            Trigger::Memory(_, WatchAccess::Write) => "watch (write)",
            Trigger::Memory(_, WatchAccess::Any) => "watch (any)",
            Trigger::Syscall(_) => "catch syscall",
            Trigger::Signal(_) => "catch signal",
            Trigger::Fork => "catch fork",
            Trigger::Vfork => "catch vfork",
            Trigger::Exec => "catch exec",
            Trigger::Miss(..) => "catch miss",
            Trigger::After(_) => "stop after",
        }
    }
}

/// All stops, by number.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    list: Vec<Stop>,
    /// Temporary ones that have gone, as they were when they stopped the run last.
    gone: Vec<Stop>,
    last: u32,
}

impl Stops {
    /// Adds a stop; its number.
    pub fn add(
        &mut self,
        spec: &str,
        trigger: Trigger,
        condition: Option<Expression>,
        temporary: bool,
    ) -> u32 {
        self.last += 1;
        let (number, spec) = (self.last, spec.to_owned());
        let (enabled, hits, task, space) = (true, 0, None, None);
        self.list.push(Stop { number, spec, trigger, condition, task, space, enabled, temporary, hits });
        number
    }

    /// The number of the last stop that was added; 0 if none was.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// True if a stop in force has to be looked for in every program.
    pub(super) fn has_places(&self) -> bool {
        self.enabled().any(|stop| matches!(stop.trigger, Trigger::Place(_)))
    }

    /// All stops.
    pub fn iter(&self) -> impl Iterator<Item = &Stop> {
        self.list.iter()
    }

    /// The stops in force.
    pub fn enabled(&self) -> impl Iterator<Item = &Stop> {
        self.list.iter().filter(|stop| stop.enabled)
    }

    /// The stop with a number.
    pub fn get(&self, number: u32) -> Option<&Stop> {
        self.list.iter().find(|stop| stop.number == number)
    }

    /// The stop with a number, to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Stop> {
        self.list.iter_mut().find(|stop| stop.number == number)
    }

    /// Takes out the stop with a number.
    pub fn remove(&mut self, number: u32) -> Option<Stop> {
        let at = self.list.iter().position(|stop| stop.number == number)?;
        Some(self.list.remove(at))
    }

    /// Takes out all of them.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Notes that a stop has stopped the run.
    pub fn hit(&mut self, number: u32) {
        let Some(stop) = self.get_mut(number) else { return };
        stop.hits += 1;
        if stop.temporary
            && let Some(stop) = self.remove(number)
        {
            self.gone.push(stop);
        }
    }

    /// Has temporary ones stay.
    pub fn make_lasting(&mut self) {
        self.list.iter_mut().for_each(|stop| stop.temporary = false);
    }

    /// The run goes on: what has gone until now has been told.
    pub fn forget_gone(&mut self) {
        self.gone.clear();
    }

    /// The stop with a number, to tell about it: it may have gone when it stopped the run.
    pub fn told(&self, number: u32) -> Option<&Stop> {
        self.get(number).or_else(|| self.gone.iter().find(|stop| stop.number == number))
    }

    /// Addresses of the breakpoints in force that have the same in every program.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.enabled()
            .flat_map(|stop| match &stop.trigger {
                Trigger::Code(addresses) => addresses.as_slice(),
                _ => &[],
            })
            .copied()
    }
}
