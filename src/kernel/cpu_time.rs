//! CPU time: what it is of each task and process, and the timers and sleepers that wait for it,
//! `posix-cpu-timers.c`.

use crate::abi::errno::Errno;
use crate::abi::resource::CpuTime;
use crate::abi::signal::signo::{SIGKILL, SIGXCPU};
use crate::kernel::arena::ProcessId;
use crate::kernel::clock::CpuClock;
use crate::kernel::sched::{TaskState, WaitKey};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::To;
use crate::kernel::state::Kernel;
use crate::kernel::timers::{Alarm, Base, INTERVAL_TIMERS, Timers};

impl Kernel {
    /// Adds the instructions of this turn to the CPU time of the running task and its process,
    /// which may be gone.
    pub(crate) fn account(&mut self, instructions: u64) {
        let ran = instructions.saturating_sub(self.sched.since);
        self.sched.since = instructions;
        let Some(task) = self.tasks.get_mut(self.current) else { return };
        task.cpu.user += ran;
        if let Some(process) = self.processes.get_mut(task.shared.process) {
            process.cpu.user += ran;
        }
    }

    /// Lets time pass in which the kernel works for the running task, which may be gone.
    pub(crate) fn work(&mut self, ns: u64) {
        self.clock.work(ns);
        let Some(task) = self.tasks.get_mut(self.current) else { return };
        task.cpu.system += ns;
        if let Some(process) = self.processes.get_mut(task.shared.process) {
            process.cpu.system += ns;
        }
    }

    /// Takes back the time of a call that has not been made after all.
    pub(crate) fn take_back(&mut self, ns: u64) {
        self.clock.take_back(ns);
        self.task_mut().cpu.system -= ns;
        self.process_mut().cpu.system -= ns;
    }

    /// CPU time of the running task.
    pub(crate) fn task_cpu(&self, instructions: u64) -> CpuTime {
        let CpuTime { user, system } = self.task().cpu;
        CpuTime { user: user + instructions.saturating_sub(self.sched.since), system }
    }

    /// CPU time of the running task's process.
    pub(crate) fn process_cpu(&self, instructions: u64) -> CpuTime {
        let CpuTime { user, system } = self.process().cpu;
        CpuTime { user: user + instructions.saturating_sub(self.sched.since), system }
    }

    /// Arms or disarms a timer of the running task's process, timer_settime(2). Returns what was
    /// set before. EINVAL; ESRCH if the task or process is gone whose time it follows.
    pub(crate) fn set_timer(&mut self, id: i32, alarm: Alarm, absolute: bool) -> Result<Alarm, Errno> {
        let process = self.task().shared.process;
        let clock = self.process().timers.posix(id)?.cpu;
        if clock.is_some_and(|clock| !self.has_clock(clock)) {
            return Err(Errno::ESRCH);
        }
        let before = self.process_mut().timers.set_time(id, alarm, absolute)?;
        if let Some(clock) = clock {
            if let Some(at) = before.expires {
                self.cpu_timers.remove(clock, &(at, Some((process, id))));
            }
            if let Some(at) = alarm.expires {
                self.cpu_timers.add(clock, (at, Some((process, id))));
            }
        }
        self.timers_changed(process);
        Ok(before)
    }

    /// Removes a timer of the running task's process, timer_delete(2); EINVAL.
    pub(crate) fn delete_timer(&mut self, id: i32) -> Result<(), Errno> {
        match self.set_timer(id, Alarm::default(), false) {
            Ok(_) | Err(Errno::ESRCH) => self.process_mut().timers.delete(id),
            Err(errno) => Err(errno),
        }
    }

    /// Removes all timers of timer_create(2) of a process, and with `interval` those of
    /// setitimer(2).
    pub(super) fn clear_timers(&mut self, process: ProcessId, interval: bool) {
        let timers = &mut self.processes[process].timers;
        for (clock, at, id) in timers.on_cpu_clocks() {
            self.cpu_timers.remove(clock, &(at, Some((process, id))));
        }
        if interval {
            *timers = Timers::default();
        } else {
            timers.exec();
        }
        self.timers_changed(process);
    }

    /// Forgets what waits for the time of a task or process that is gone: it never comes.
    pub(super) fn forget_clock(&mut self, clock: CpuClock) {
        for (_, timer) in self.cpu_timers.take(clock) {
            if let Some((process, id)) = timer {
                let _ = self.processes[process].timers.set_time(id, Alarm::default(), false); // it is there
            }
        }
    }

    /// Tells if the task or process is still there whose time a clock shows.
    pub(crate) fn has_clock(&self, clock: CpuClock) -> bool {
        match clock {
            CpuClock::Process(process) => self.processes.get(process).is_some(),
            CpuClock::Task(task) => self.tasks.get(task).is_some_and(|held| {
                held.state != TaskState::Dead || self.processes[held.shared.process].leader == task
            }),
        }
    }

    /// The time of a clock in nanoseconds; 0 if nothing is left of what it shows.
    pub(crate) fn cpu_time(&self, clock: CpuClock, instructions: u64) -> u64 {
        match clock {
            CpuClock::Process(process) if process == self.task().shared.process => {
                self.process_cpu(instructions).total()
            }
            CpuClock::Process(process) => self.processes.get(process).map_or(0, |held| held.cpu.total()),
            CpuClock::Task(task) if task == self.current => self.task_cpu(instructions).total(),
            CpuClock::Task(task) => self.tasks.get(task).map_or(0, |held| held.cpu.total()),
        }
    }

    /// Lets a call of the running task, which is about to sleep on [`WaitKey::Cpu`], look again at
    /// a moment of a clock.
    pub(crate) fn wake_at_cpu_time(&mut self, clock: CpuClock, at: u64) {
        self.cpu_timers.add(clock, (at, None));
    }

    /// The clocks that go while the running task runs.
    fn running_clocks(&self) -> [CpuClock; 2] {
        [CpuClock::Process(self.task().shared.process), CpuClock::Task(self.current)]
    }

    /// The instruction count at which CPU time is due that something waits for, if the running task
    /// goes on until then.
    pub(super) fn next_cpu_timer(&self) -> Option<u64> {
        let process = self.process();
        let own = process.timers.next_due(Base::Cpu).into_iter().chain(process.limits.cpu_ns().0).min();
        let own = own.map(|at| at.saturating_sub(process.cpu.total()));
        let waits = if self.cpu_timers.is_empty() { None } else { self.next_waiting() };
        own.into_iter().chain(waits).min().map(|left| self.sched.since.saturating_add(left))
    }

    /// CPU time from the beginning of this turn until something that waits is due.
    fn next_waiting(&self) -> Option<u64> {
        let left = self.running_clocks().map(|clock| {
            let at = self.cpu_timers.first(clock)?;
            Some(at.saturating_sub(self.cpu_time(clock, self.sched.since)))
        });
        left.into_iter().flatten().min()
    }

    /// Sends the signals of the timers whose CPU time has come, and wakes who slept for it.
    pub(super) fn expire_cpu(&mut self, instructions: u64) {
        let process = self.task().shared.process;
        let ran = self.process_cpu(instructions).total();
        if self.process().timers.next_due(Base::Cpu).is_some_and(|at| at <= ran) {
            for (index, (_, signo)) in INTERVAL_TIMERS.into_iter().enumerate().skip(1) {
                if self.processes[process].timers.interval[index].fire(ran) > 0 {
                    self.send_signal(self.current, SigInfo::kernel(signo), To::Process);
                }
            }
        }
        self.limit_cpu(process, ran);
        for clock in self.running_clocks() {
            let now = self.cpu_time(clock, instructions);
            let mut due = self.cpu_timers.take_due(clock, now);
            due.sort_unstable_by_key(|(_, timer)| *timer);
            for (_, timer) in due {
                let Some((process, id)) = timer else {
                    self.wake(WaitKey::Cpu(clock));
                    continue;
                };
                if let Some(next) = self.fire_timer(process, id, now) {
                    self.cpu_timers.add(clock, (next, Some((process, id))));
                }
            }
        }
    }

    /// Tells if anything waits for the running task's CPU time.
    pub(super) fn waits_for_cpu(&self) -> bool {
        let process = self.process();
        process.timers.next_due(Base::Cpu).is_some()
            || process.limits.cpu_ns().0.is_some()
            || !self.cpu_timers.is_empty() && self.next_waiting().is_some()
    }

    /// Sends the signals of RLIMIT_CPU: SIGXCPU for every second beyond the soft limit, as Linux
    /// does by raising it, and SIGKILL at the hard one.
    fn limit_cpu(&mut self, process: ProcessId, ran: u64) {
        let limits = &mut self.processes[process].limits;
        let reached = |limit: Option<u64>| limit.is_some_and(|limit| ran >= limit);
        let (soft, hard) = limits.cpu_ns();
        let signo = match (reached(hard), reached(soft)) {
            (true, _) => SIGKILL,
            (false, true) => SIGXCPU,
            (false, false) => return,
        };
        if signo == SIGXCPU {
            limits.add_cpu_second();
        }
        // It is for the running task first (`check_rlimit`), which would else reach the limit
        // again, and without end, before another has its turn and takes the signal.
        self.send_signal(self.current, SigInfo::kernel(signo), To::Process);
    }
}
