//! Timers and waiting. With one task nothing happens while it waits but timers, so a wait is a step
//! of the clock.

use crate::abi::signal::bit;
use crate::abi::signal::signo::{SIGKILL, SIGXCPU};
use crate::guest::GuestCpu;
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::To;
use crate::kernel::state::Kernel;
use crate::kernel::timers::{Base, INTERVAL_TIMERS};

/// Reason for which a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The deadline came; the clock stands there.
    Timeout,
    /// A signal is pending that interrupts the call, or one of those asked for.
    Signal,
    /// There is no deadline and nothing that could end the wait; the clock did not move.
    Never,
}

impl Kernel {
    /// Time since the program's first instruction, in nanoseconds. Costs a synchronisation with the
    /// CPU.
    pub fn now(&self, cpu: &mut dyn GuestCpu) -> u64 {
        self.clock.now_ns(cpu.instructions())
    }

    /// The instruction count at which a timer is due if the program makes no call until then.
    pub fn next_timer(&self) -> Option<u64> {
        let timer = self.process().timers.next_due(self.clock.slept());
        let file = self.fs.timer_fds.next(|_| true).map(|at| at.saturating_sub(self.clock.slept()));
        timer.into_iter().chain(file).chain(self.process().limits.cpu_ns().0).min()
    }

    /// Sends the signals of all timers that are due, and wakes who waits for them. Costs nothing
    /// while none is armed.
    pub fn expire_timers(&mut self, cpu: &mut dyn GuestCpu) {
        if self.fs.timer_fds.next(|_| true).is_some() {
            let now = self.now(cpu);
            self.fs.expire_timer_fds(now);
        }
        if self.process().timers.armed() || self.process().limits.cpu_ns().0.is_some() {
            let cpu = cpu.instructions();
            let wall = self.clock.now_ns(cpu);
            self.expire(self.task().shared.process, wall, cpu);
        }
    }

    fn expire(&mut self, process: ProcessId, wall: u64, cpu: u64) {
        let now = |base| if base == Base::Wall { wall } else { cpu };
        let leader = self.leader(process);
        let mut timers = std::mem::take(&mut self.processes[process].timers);
        for ((base, signo), alarm) in INTERVAL_TIMERS.into_iter().zip(&mut timers.interval) {
            if alarm.fire(now(base)) > 0 {
                self.signals_of(leader).send(SigInfo::kernel(signo), To::Process);
            }
        }
        for base in [Base::Wall, Base::Cpu] {
            timers.fire(base, now(base), |id, timer, fired| {
                let Some(signo) = timer.signo else { return };
                let missed = |count: u64| i32::try_from(count).unwrap_or(i32::MAX);
                let to = if timer.task.is_some() { To::Task } else { To::Process };
                let mut signals = self.signals_of(timer.task.unwrap_or(leader));
                match signals.queue(to).timer_mut(id) {
                    // One signal of a timer waits at a time; the others are its overrun.
                    Some(info) => {
                        info.add_overrun(missed(fired));
                        timer.overrun = info.uid() as i32;
                    }
                    None => {
                        timer.overrun = missed(fired.saturating_sub(1));
                        signals.send(SigInfo::timer(signo, id, timer.overrun, timer.value), to);
                    }
                }
            });
        }
        self.processes[process].timers = timers;
        self.limit_cpu(process, leader, cpu);
    }

    /// Sends the signals of RLIMIT_CPU: SIGXCPU for every second beyond the soft limit, as Linux
    /// does by raising it, and SIGKILL at the hard one.
    fn limit_cpu(&mut self, process: ProcessId, leader: TaskId, cpu: u64) {
        let limits = &mut self.processes[process].limits;
        let reached = |limit: Option<u64>| limit.is_some_and(|limit| cpu >= limit);
        let (soft, hard) = limits.cpu_ns();
        let signo = match (reached(hard), reached(soft)) {
            (true, _) => SIGKILL,
            (false, true) => SIGXCPU,
            (false, false) => return,
        };
        if signo == SIGXCPU {
            limits.add_cpu_second();
        }
        self.signals_of(leader).send(SigInfo::kernel(signo), To::Process);
    }

    /// Lets time pass until `deadline` (nanoseconds since the program's start) or until a signal
    /// interrupts; `also` are blocked signals that end the wait too (sigtimedwait). Nothing else
    /// happens in that time.
    pub fn wait(&mut self, cpu: &mut dyn GuestCpu, deadline: Option<u64>, also: u64) -> Wake {
        self.expire_timers(cpu);
        if self.wait_is_over(also) {
            return Wake::Signal;
        }
        let blocked = self.task().signals.blocked;
        let handlers = self.handlers();
        let ends = |signo| handlers.interrupts(signo, blocked) || bit(signo) & also & blocked != 0;
        let until = match (self.process().timers.next_wake(ends), deadline) {
            (None, None) => return Wake::Never,
            (Some(alarm), Some(deadline)) => alarm.min(deadline),
            (Some(at), None) | (None, Some(at)) => at,
        };
        let left = until.saturating_sub(self.now(cpu));
        self.clock.advance(left);
        self.expire_timers(cpu);
        if self.wait_is_over(also) { Wake::Signal } else { Wake::Timeout }
    }

    fn wait_is_over(&mut self, also: u64) -> bool {
        let signals = self.signals();
        signals.interrupt_pending() || signals.pending() & also != 0
    }
}
