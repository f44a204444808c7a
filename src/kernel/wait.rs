//! The order of turns: putting tasks to sleep, waking them, and the timers of every process.

use std::borrow::Cow;

use crate::abi::errno::Errno;
use crate::abi::signal::bit;
use crate::guest::{GuestCpu, GuestMemory};
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::clock::SWITCH_NS;
use crate::kernel::fdtable::FileNo;
use crate::kernel::sched::{Call, Picked, TaskState, WaitKey, Wake};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::To;
use crate::kernel::state::Kernel;
use crate::kernel::streams::Patience;
use crate::kernel::task::Task;
use crate::kernel::timers::{Base, INTERVAL_TIMERS};

impl Kernel {
    /// Lets everything that waits for a time of CLOCK_REALTIME follow it: it was set forward by so
    /// many nanoseconds.
    pub(crate) fn clock_was_set(&mut self, by: i64) {
        self.fs.clock_was_set(by);
        let processes: Vec<ProcessId> = self.processes.iter().map(|(id, _)| id).collect();
        for process in processes {
            self.processes[process].timers.clock_was_set(by);
            self.timers_changed(process);
        }
    }

    /// Time since the program's first instruction, in nanoseconds. Costs a synchronisation with the
    /// CPU.
    pub fn now(&self, cpu: &mut dyn GuestCpu) -> u64 {
        self.clock.now_ns(cpu.instructions())
    }

    /// Makes a task run when its turn comes: a new one, or one that sleeps or was stopped. One that
    /// sleeps in a call makes the call again.
    pub(crate) fn make_ready(&mut self, task: TaskId) {
        self.unschedule(task);
        let held = &mut self.tasks[task];
        if self.processes[held.shared.process].stopped.is_some() && held.tracing.trace.is_none() {
            held.state = TaskState::Stopped; // until SIGCONT
            return;
        }
        held.state = TaskState::Runnable;
        self.sched.add_ready(task, held.claim().priority, false);
    }

    /// Takes a task out of every queue: it is to run, has ended or is stopped, as the caller notes.
    pub(crate) fn unschedule(&mut self, task: TaskId) {
        let held = &self.tasks[task];
        self.sched.remove(task, held.state, &held.call);
        if let Some(owner) = self.lender_to(task) {
            self.settle_priority(owner);
        }
    }

    /// Puts the running task to sleep in a call, by what its `call` says.
    pub(crate) fn fall_asleep(&mut self, number: Option<u64>) {
        let (task, held) = (self.current, &mut self.tasks[self.current]);
        held.call.number = number;
        held.state = TaskState::Sleeping;
        self.sched.sleep(task, &mut held.call);
        if let Some(owner) = self.lender_to(task) {
            self.settle_priority(owner);
        }
        let held = &mut self.tasks[task];
        if !std::mem::replace(&mut held.call.holds_files, true) {
            for (_, file) in held.call.files.iter().flatten() {
                self.files.hold(*file);
            }
        }
        // Timers may have gone off since the call looked.
        self.wake_queues();
        self.wake_for_signals(task);
        if !self.requests.ready(task).is_empty() && self.tasks[task].state == TaskState::Sleeping {
            self.make_ready(task);
        }
    }

    /// Gives the running task's turn to the next one; it stays runnable. What gives way to a higher
    /// priority is the first again after that.
    pub(crate) fn give_way(&mut self) {
        let priority = self.task().claim().priority;
        self.sched.add_ready(self.current, priority, self.sched.is_preempted());
    }

    /// Gives way, sched_yield(2), if anybody else can run who does not have to wait longer; true if
    /// so.
    pub(crate) fn yields(&mut self) -> bool {
        let others = self.sched.has_rival();
        if others {
            self.sched.add_ready(self.current, self.task().claim().priority, false);
        }
        others
    }

    /// Ends the call of the running task.
    pub(crate) fn end_call(&mut self, mem: &mut dyn GuestMemory) {
        (self.sched.all_looked, self.sched.host_looked) = (false, false);
        self.drop_call(self.current, mem);
        self.files.put_dropped(&mut self.fs, mem);
        self.drop_requests(mem);
    }

    /// Gives up what the call of a task holds, which does not sleep.
    pub(super) fn drop_call(&mut self, task: TaskId, mem: &mut dyn GuestMemory) {
        let call = std::mem::take(&mut self.tasks[task].call);
        self.forget_ipc_wait(task, &call.keys);
        self.fs.userfaults.forget(task);
        let held = if call.holds_files { call.files } else { [None; 2] };
        for file in held.into_iter().flatten().map(|(_, file)| file).chain(call.opening) {
            self.files.put(file, &mut self.fs, mem);
        }
    }

    /// The description of a descriptor that the running task's call uses. A call that is made again
    /// has the one that it found first, whatever has become of the descriptor; EBADF.
    pub(crate) fn pin(&mut self, fd: i32) -> Result<FileNo, Errno> {
        let pinned = self.task().call.files.iter().flatten().find(|(number, _)| *number == fd);
        if let Some((_, file)) = pinned {
            return Ok(*file);
        }
        let file = self.fds().get(fd)?;
        let call = &mut self.task_mut().call;
        if let Some(place) = call.files.iter_mut().find(|place| place.is_none()).filter(|_| !call.holds_files)
        {
            *place = Some((fd, file));
        }
        Ok(file)
    }

    /// Makes a task run again that sleeps.
    pub(crate) fn wake_task(&mut self, task: TaskId, wake: Wake) {
        self.make_ready(task);
        self.tasks[task].call.wake = Some(wake);
    }

    /// Wakes all that sleep on a key, in the order in which they came.
    pub(crate) fn wake(&mut self, key: WaitKey) {
        let sleepers: Vec<TaskId> = self.sched.sleepers_of(key).collect();
        for task in sleepers {
            self.wake_task(task, Wake::Event);
        }
        if !self.requests.is_empty() {
            self.wake_requests(key);
        }
    }

    /// Wakes those whose queues have woken since the last time.
    pub(crate) fn wake_queues(&mut self) {
        let woken = self.fs.queues.take_woken();
        let (locks, leases) = self.files.take_freed();
        if self.sched.has_sleepers() || !self.requests.is_empty() {
            let queues = woken.into_iter().map(WaitKey::Queue);
            let locks = locks.into_iter().map(WaitKey::Lock);
            for key in queues.chain(locks).chain(leases.into_iter().map(WaitKey::Lease)) {
                self.wake(key);
            }
        }
    }

    /// Wakes a task that sleeps, if a signal that is pending for it interrupts its call.
    pub(crate) fn wake_for_signals(&mut self, task: TaskId) {
        let Task { state, call, .. } = &self.tasks[task];
        let (asked, killable) = (call.signals | self.requests.signals(task), call.killable);
        if *state != TaskState::Sleeping {
            return;
        }
        let signals = self.signals_of(task);
        if signals.interrupt_pending(killable) {
            self.wake_task(task, Wake::Signal);
        } else if signals.pending() & asked != 0 {
            self.wake_task(task, Wake::Event);
        }
    }

    /// Looks whether the wait of the running task is over, but for what it waits for; if not the
    /// call has to sleep by what is noted here. A deadline is in nanoseconds since the program's
    /// start.
    pub(crate) fn wait(
        &mut self,
        cpu: &mut dyn GuestCpu,
        what: Cow<'static, str>,
        keys: &[WaitKey],
        deadline: Option<u64>,
    ) -> Option<Wake> {
        self.wake_queues();
        self.expire_timers(cpu);
        let Call { killable, frail, wake, .. } = self.task().call;
        let over = if self.signals().interrupt_pending(killable) || frail && wake == Some(Wake::Signal) {
            Some(Wake::Signal)
        } else {
            deadline.is_some_and(|at| at <= self.now(cpu)).then_some(Wake::Timeout)
        };
        if over.is_some() {
            // It may never have slept, so that its call does not know what it waited for.
            self.forget_ipc_wait(self.current, keys);
            return over;
        }
        let call = &mut self.task_mut().call;
        (call.what, call.deadline) = (what, deadline);
        call.keys.clear();
        call.keys.extend_from_slice(keys);
        None
    }

    /// Tells if the running task is only let look once more before a deadlock is reported.
    pub(crate) fn looks_again(&self) -> bool {
        self.sched.all_looked && self.task().call.number.is_some()
    }

    /// Tells if nothing but what comes from the host can go on while the running task sleeps.
    pub(crate) fn is_idle(&self) -> bool {
        let timed = self.sched.first_deadline().is_some() || self.fs.timer_fds.next(|_| true).is_some();
        !self.fs.net.has_outside() && !self.sched.has_ready() && (self.sched.all_looked || !timed)
    }

    /// The task that runs next. If none can, the clock moves to the next moment at which something
    /// happens.
    pub(crate) fn pick(&mut self, cpu: &mut dyn GuestCpu) -> Picked {
        let picked = self.pick_one(cpu);
        // Looking outside is no call of the guest's.
        if self.streams.take_given_up() { Picked::GivenUp } else { picked }
    }

    fn pick_one(&mut self, cpu: &mut dyn GuestCpu) -> Picked {
        if self.look_outside(Patience::None).is_err() {
            return Picked::GivenUp;
        }
        self.wake_queues();
        if self.waits_for_time() {
            self.expire_wall(self.now(cpu));
        }
        loop {
            if let Some(task) = self.sched.take_ready() {
                return Picked::Task(task);
            }
            if !std::mem::replace(&mut self.sched.host_looked, true) {
                self.wake(WaitKey::Host);
                continue;
            }
            if self.sched.asleep().next().is_none() {
                if self.fs.net.has_unsent() {
                    match self.look_outside(Patience::Endless) {
                        Ok(_) => continue,
                        Err(_) => return Picked::GivenUp,
                    }
                }
                if self.is_anybody_traced() {
                    return Picked::Deadlock(self.describe_deadlock());
                }
                // Those that are stopped wait for a signal that nobody is left to send.
                return Picked::Finished;
            }
            if self.awaits_outside() {
                // Time passes as outside, until something happens by itself.
                let now = self.now(cpu);
                let most = self.next_event().map(|at| at.saturating_sub(now));
                let Ok(waited) = self.look_outside(most.map_or(Patience::Endless, Patience::Until)) else {
                    return Picked::GivenUp;
                };
                self.clock.advance(most.map_or(waited, |most| waited.min(most)));
                if self.sched.has_ready() || most.is_none_or(|most| waited < most) {
                    continue;
                }
            }
            if let Some(at) = self.next_event() {
                let now = self.now(cpu);
                self.clock.advance(at.saturating_sub(now));
                self.sched.host_looked = false;
                self.expire_wall(at.max(now));
            } else if self.sched.all_looked {
                return Picked::Deadlock(self.describe_deadlock());
            } else {
                // What no key tells of, such as the host's input: let everybody look once.
                self.sched.all_looked = true;
                for task in self.sched.asleep().collect::<Vec<_>>() {
                    self.make_ready(task);
                }
            }
        }
    }

    /// Makes a task that was picked the running one, and accounts the time of the last one.
    pub(crate) fn switch_to(&mut self, task: TaskId, instructions: u64) {
        self.account(instructions);
        self.current = task;
        self.ipc.enter(self.task().namespaces.ipc);
        self.charge_switched();
        // Whoever sleeps for less must leave the others some time.
        let left = self.next_timer().map_or(u64::MAX, |at| at.saturating_sub(instructions));
        self.work(SWITCH_NS.min(left / 2));
        self.sched.begin_turn(instructions, self.task().claim());
    }

    /// The instruction count at which the running task has to give way; `None` while nobody else
    /// can run.
    pub(crate) fn quantum_end(&self) -> Option<u64> {
        // What comes from outside wakes others, which only a turn's end notices.
        let outside = self.fs.net.has_outside();
        self.sched.turn_end().or_else(|| outside.then(|| self.sched.whole_turn_end()))
    }

    /// The next moment at which something happens by itself that ends somebody's sleep.
    fn next_event(&self) -> Option<u64> {
        let deadline = self.sched.first_deadline().map(|(at, _)| at);
        let mut next = deadline.into_iter().chain(self.fs.timer_fds.next(|_| true)).min();
        for (at, process) in &self.sched.alarms {
            if next.is_some_and(|next| next <= *at) {
                break;
            }
            next = next.into_iter().chain(self.next_alarm(*process)).min();
        }
        next
    }

    /// The next moment at which a timer of a process ends the sleep of one of its tasks.
    fn next_alarm(&self, process: ProcessId) -> Option<u64> {
        let tasks = self.processes[process].tasks.iter().map(|task| &self.tasks[*task]);
        let waiting: Vec<_> = tasks
            .filter(|task| task.state == TaskState::Sleeping)
            .map(|task| {
                let traced = task.tracing.trace.is_some();
                (&self.handlers[task.shared.handlers], task.signals.blocked, traced, &task.call)
            })
            .collect();
        self.processes[process].timers.next_wake(|signo| {
            waiting.iter().any(|(handlers, blocked, traced, call)| {
                let told = *traced && blocked & bit(signo) == 0;
                let ends = (told || handlers.interrupts(signo, *blocked)) && !call.killable;
                ends || handlers.kills(signo, *blocked) || bit(signo) & call.signals != 0
            })
        })
    }

    /// The instruction count at which a timer or a sleeper's deadline is due if the program makes
    /// no call until then.
    pub fn next_timer(&self) -> Option<u64> {
        let ahead = self.clock.ahead();
        let alarm = self.sched.alarms.first().map(|(at, _)| *at);
        let deadline = self.sched.first_deadline().map(|(at, _)| at);
        let file = self.fs.timer_fds.next(|_| true);
        let wall = alarm.into_iter().chain(deadline).chain(file).min().map(|at| at.saturating_sub(ahead));
        wall.into_iter().chain(self.next_cpu_timer()).min()
    }

    /// Notes when the next wall timer of a process is due, after its timers have changed.
    pub(crate) fn timers_changed(&mut self, process: ProcessId) {
        let held = &mut self.processes[process];
        let next = held.timers.next_due(Base::Wall);
        if next != held.alarm {
            held.alarm.map(|at| self.sched.alarms.remove(&(at, process)));
            self.sched.alarms.extend(next.map(|at| (at, process)));
            held.alarm = next;
        }
    }

    /// Sends the signals of all timers that are due, and wakes whose deadline has come. Costs
    /// nothing while there are none.
    pub fn expire_timers(&mut self, cpu: &mut dyn GuestCpu) {
        let cpu_time = self.waits_for_cpu();
        if !cpu_time && !self.waits_for_time() {
            return;
        }
        let instructions = cpu.instructions();
        self.expire_wall(self.clock.now_ns(instructions));
        if cpu_time {
            self.expire_cpu(instructions);
        }
    }

    /// Tells if anything happens by itself when time passes.
    fn waits_for_time(&self) -> bool {
        self.sched.waits_for_time() || self.fs.timer_fds.next(|_| true).is_some()
    }

    fn expire_wall(&mut self, now: u64) {
        self.fs.expire_timer_fds(now);
        self.wake_queues();
        let due = self.sched.alarms.iter().take_while(|(at, _)| *at <= now);
        for process in due.map(|(_, process)| *process).collect::<Vec<_>>() {
            self.expire(process, now);
            self.timers_changed(process);
        }
        while let Some((_, task)) = self.sched.first_deadline().filter(|(at, _)| *at <= now) {
            self.wake_task(task, Wake::Timeout);
        }
    }

    /// Sends the signals of the timers of a process that are due by wall time.
    fn expire(&mut self, process: ProcessId, now: u64) {
        let timers = &mut self.processes[process].timers;
        let real = timers.interval[0].fire(now) > 0;
        let due = timers.take_due(now);
        if real {
            self.send_to(process, SigInfo::kernel(INTERVAL_TIMERS[0].1));
        }
        for id in due {
            self.fire_timer(process, id, now);
        }
    }

    /// Lets a timer of timer_create(2) fire, which is due at `now` of its clock, and sends its
    /// signal: to its task, or to a task of its process, the running one before others. Returns
    /// when it is due again.
    pub(super) fn fire_timer(&mut self, process: ProcessId, id: i32, now: u64) -> Option<u64> {
        let leader = self.leader(process);
        let (timer, fired) = self.processes[process].timers.fire(id, now)?;
        let (next, value) = (timer.alarm.expires, timer.value);
        let Some(signo) = timer.signo else { return next };
        let missed = |count: u64| i32::try_from(count).unwrap_or(i32::MAX);
        let to = if timer.task.is_some() { To::Task } else { To::Process };
        let running = timer.cpu.is_some() && self.task().shared.process == process;
        let task = timer.task.unwrap_or(if running { self.current } else { leader });
        let mut signals = self.signals_of(task);
        // One signal of a timer waits at a time; the others are its overrun.
        let overrun = match signals.queue(to).timer_mut(id) {
            Some(info) => {
                info.add_overrun(missed(fired));
                info.uid() as i32
            }
            None => {
                let overrun = missed(fired.saturating_sub(1));
                self.send_signal(task, SigInfo::timer(signo, id, overrun, value), to);
                overrun
            }
        };
        self.processes[process].timers.set_overrun(id, overrun);
        next
    }

    /// The tasks that may run, but for the running one, in the order of their turns.
    #[cfg(test)]
    pub(crate) fn ready(&self) -> Vec<TaskId> {
        let mut sched = self.sched.clone();
        std::iter::from_fn(|| sched.take_ready()).collect()
    }

    /// Gives a task the next turn; false if it cannot run.
    #[cfg(test)]
    pub(crate) fn prefer(&mut self, task: TaskId) -> bool {
        let ready = self.sched.remove_ready(task);
        if ready {
            self.sched.add_ready(task, u32::MAX, true);
        }
        ready
    }
}
