//! Who traces whom, ptrace(2): how that begins and ends, and what becomes of tracees whose tracer
//! ends.

use crate::abi::capability::CAP_SYS_PTRACE;
use crate::abi::errno::Errno;
use crate::abi::ptrace::*;
use crate::abi::signal::signo::{SIGKILL, SIGSTOP};
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::ptrace::tracee::Trace;
use crate::kernel::sched::TaskState;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::To;
use crate::kernel::state::Kernel;

impl Kernel {
    /// Lets the parent trace the running task, PTRACE_TRACEME; EPERM if somebody does already, or
    /// the parent may not. A parent that is not of the machine traces nobody.
    pub(crate) fn trace_me(&mut self) -> Result<(), Errno> {
        if self.task().tracing.trace.is_some() {
            return Err(Errno::EPERM);
        }
        let (tracer, has_parent) = (self.process().creator, self.process().parent.is_some());
        if !has_parent {
            let why = "ptrace: PTRACE_TRACEME without a parent in the emulated machine has no effect";
            self.notices.once(why.into());
            return Ok(());
        }
        let Some(parent) = self.tasks.get(tracer).filter(|parent| parent.state != TaskState::Dead) else {
            return Ok(());
        };
        let (own, above) = (&self.task().cred, &parent.cred);
        let caps = own.user_ns.id == above.user_ns.id && own.caps.permitted & !above.caps.permitted == 0;
        if !caps && !above.capable_over(&own.user_ns, CAP_SYS_PTRACE) {
            return Err(Errno::EPERM);
        }
        self.link(self.current(), Trace::new(tracer, false, 0));
        Ok(())
    }

    /// Has the running task trace another one, PTRACE_ATTACH, or with options PTRACE_SEIZE: EPERM
    /// for a task of its own process, one that it may not look into, one that has ended, and one
    /// that is traced.
    pub(crate) fn trace_task(&mut self, task: TaskId, seize: Option<u32>) -> Result<(), Errno> {
        if self.tasks[task].shared.process == self.task().shared.process {
            return Err(Errno::EPERM);
        }
        self.may_look_into(task)?;
        if !self.is_alive(task) || self.tasks[task].tracing.trace.is_some() {
            return Err(Errno::EPERM);
        }
        let mut trace = Trace::new(self.current(), seize.is_some(), seize.unwrap_or(0));
        let process = self.tasks[task].shared.process;
        let is_stopped = self.processes[process].stopped.is_some();
        trace.trap_stop = is_stopped;
        self.link(task, trace);
        if seize.is_none() {
            self.send_signal(task, SigInfo::kernel(SIGSTOP), To::Task);
        }
        if is_stopped {
            self.wake_to_trap(task);
        }
        Ok(())
    }

    /// Lets a task that the running one makes be traced as this one is, `ptrace_init_task`: it
    /// stops before its first instruction.
    pub(in crate::kernel) fn attach_child(&mut self, child: TaskId) {
        let Some(trace) = &self.task().tracing.trace else { return };
        let mut own = Trace::new(trace.tracer, trace.seized, trace.options);
        own.trap_stop = trace.seized;
        let seized = trace.seized;
        self.link(child, own);
        if !seized {
            self.signals_of(child).send(SigInfo::kernel(SIGSTOP), To::Task);
        }
    }

    fn link(&mut self, task: TaskId, trace: Trace) {
        self.tasks[trace.tracer].tracing.tracees.push(task);
        self.tasks[task].tracing.trace = Some(Box::new(trace));
    }

    /// Takes a task from its tracer.
    pub(in crate::kernel) fn unlink(&mut self, task: TaskId) {
        let Some(trace) = self.tasks[task].tracing.trace.take() else { return };
        if let Some(tracer) = self.tasks.get_mut(trace.tracer) {
            tracer.tracing.tracees.retain(|tracee| *tracee != task);
        }
    }

    /// Lets a stopped task go on without its tracer, PTRACE_DETACH, with a signal or 0. One whose
    /// process is stopped stays so.
    pub(crate) fn detach(&mut self, task: TaskId, signal: i32) {
        self.unlink(task);
        let held = &mut self.tasks[task];
        if let Some(stop) = &mut held.tracing.stop {
            stop.signal = signal;
        }
        let stopped = self.processes[held.shared.process].stopped.is_some();
        let state = held.state;
        match state {
            TaskState::Traced => self.make_ready(task), // or stopped, as its process is
            TaskState::Runnable if stopped && task != self.current() => self.make_ready(task),
            _ => {}
        }
    }

    /// Ends what a task traces, which has ended itself, `exit_ptrace`: its tracees go on, or are
    /// killed where it has asked for that. What is left of those that have ended is for their
    /// parents.
    pub(in crate::kernel) fn tracer_ended(&mut self, tracer: TaskId) {
        for task in std::mem::take(&mut self.tasks[tracer].tracing.tracees) {
            let Some(held) = self.tasks.get(task) else { continue };
            let kills =
                held.tracing.trace.as_ref().is_some_and(|trace| trace.options & PTRACE_O_EXITKILL != 0);
            let process = held.shared.process;
            if held.state != TaskState::Dead {
                if kills {
                    self.send_signal(task, SigInfo::kernel(SIGKILL), To::Process);
                }
                self.detach(task, 0);
                continue;
            }
            self.unlink(task);
            if self.processes[process].leader != task {
                self.bury_thread(task);
            } else if self.is_waitable(process) && self.processes[process].parent != self.process_of(tracer) {
                self.tell_of_end_again(process);
            }
        }
    }

    /// The process of a task, if it is there.
    fn process_of(&self, task: TaskId) -> Option<ProcessId> {
        self.tasks.get(task).map(|task| task.shared.process)
    }

    /// The process whose task traces one.
    pub(in crate::kernel) fn tracing_process(&self, task: TaskId) -> Option<ProcessId> {
        self.process_of(self.tasks.get(task)?.tracing.trace.as_ref()?.tracer)
    }

    /// The task that the running one traces and calls by a number: ESRCH unless it is stopped for
    /// its tracer, or with `any_state` in whatever state it is.
    pub(crate) fn tracee(&self, number: i32, any_state: bool) -> Result<TaskId, Errno> {
        let task = self.named_task(number).ok_or(Errno::ESRCH)?;
        let held = &self.tasks[task];
        let trace = held.tracing.trace.as_ref().filter(|trace| trace.tracer == self.current());
        let trace = trace.ok_or(Errno::ESRCH)?;
        let stopped = held.state == TaskState::Traced && held.tracing.stop.is_some() && !trace.listening;
        if any_state || stopped { Ok(task) } else { Err(Errno::ESRCH) }
    }

    /// Tells if a program that the running task executes gets no privileges by its file, as
    /// somebody traces the task who has none (`LSM_UNSAFE_PTRACE`).
    pub(in crate::kernel) fn is_unsafe_to_exec(&self) -> bool {
        let task = self.task();
        let tracer = task.tracing.trace.as_ref().and_then(|trace| self.tasks.get(trace.tracer));
        tracer.is_some_and(|tracer| !tracer.cred.capable_over(&task.cred.user_ns, CAP_SYS_PTRACE))
    }
}
