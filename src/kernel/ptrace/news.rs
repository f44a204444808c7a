//! What tracers wait for with wait(2): stops and ends of their tracees.

use crate::abi::process::*;
use crate::abi::ptrace::PTRACE_EVENT_EXEC;
use crate::abi::signal::signo::SIGCHLD;
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::children::News;
use crate::kernel::process::{Status, Usage};
use crate::kernel::sched::{TaskState, WaitKey};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::state::Kernel;

impl Kernel {
    /// The tasks that the running process traces, or with __WNOTHREAD the running task.
    pub(in crate::kernel) fn tracees(&self, options: u32) -> Vec<TaskId> {
        let alone = [self.current()];
        let tracers = if options & __WNOTHREAD != 0 { &alone } else { &self.process().tasks[..] };
        tracers.iter().flat_map(|tracer| self.tasks[*tracer].tracing.tracees.iter().copied()).collect()
    }

    /// Looks for news of a task that the running process traces, and takes them unless WNOWAIT is
    /// among the options. Also tells if there may be some later.
    pub(in crate::kernel) fn news_of_tracee(&mut self, task: TaskId, options: u32) -> (Option<News>, bool) {
        let held = &self.tasks[task];
        let (process, leads) = (held.shared.process, self.processes[held.shared.process].leader == task);
        if held.state == TaskState::Dead {
            let status = match leads {
                true => self.processes[process].ended.filter(|_| self.is_waitable(process)),
                false => held.tracing.ended,
            };
            let Some(status) = status else { return (None, true) };
            if options & WEXITED == 0 {
                return (None, false);
            }
            let (code, value) = status.code_and_value();
            let news = self.news(task, leads, status.0, code, value);
            if options & WNOWAIT == 0 {
                self.take_ended(task, leads);
            }
            return (Some(news), true);
        }
        let stopped = held.state == TaskState::Traced;
        let trace = held.tracing.trace.as_ref().filter(|trace| stopped && !trace.listening);
        let Some(code) = trace.and_then(|trace| trace.news) else { return (None, true) };
        if code >> 8 == PTRACE_EVENT_EXEC && !self.processes[process].zombies.is_empty() {
            return (None, true); // execve(2) waits until the other threads are gone
        }
        let news = self.news(task, true, code << 8 | 0x7f, CLD_TRAPPED, code as i32);
        if options & WNOWAIT == 0
            && let Some(trace) = &mut self.tasks[task].tracing.trace
        {
            trace.news = None;
        }
        (Some(news), true)
    }

    fn news(&self, task: TaskId, whole: bool, status: u32, code: i32, value: i32) -> News {
        let held = &self.tasks[task];
        let process = &self.processes[held.shared.process];
        let own = if whole { process.cpu } else { held.cpu };
        let mut used = if whole { process.of_children } else { Usage::default() };
        used.add(Usage { cpu: own, resident: process.max_rss });
        News { pid: self.shown_pid(held.tid), uid: held.cred.uid.real, status, code, value, used }
    }

    /// Takes what is left of a tracee that has ended: a thread is gone then, and a process is for
    /// its parent, if that is another one.
    fn take_ended(&mut self, task: TaskId, leads: bool) {
        if !leads {
            return self.bury_thread(task);
        }
        let process = self.tasks[task].shared.process;
        let reparented = self.tracing_process(task) != self.processes[process].parent;
        self.unlink(task);
        if reparented {
            self.tell_of_end_again(process);
        } else {
            self.reap(process);
        }
    }

    /// Takes what is left of a thread that has ended. With the last one the end of its process can
    /// be waited for.
    pub(super) fn bury_thread(&mut self, task: TaskId) {
        self.unlink(task);
        let (process, tid) = (self.tasks[task].shared.process, self.tasks[task].tid);
        self.remove_number(tid);
        self.graves.push(task);
        let held = &mut self.processes[process];
        held.zombies.retain(|zombie| *zombie != task);
        if let Some(status) = held.ended
            && self.is_waitable(process)
        {
            self.tell_of_end(process, status);
        }
        if let Some(held) = self.processes.get(process)
            && let Some(tracer) = self.tracing_process(held.leader)
        {
            self.wake(WaitKey::Child(tracer));
        }
        self.bury();
    }

    /// Tells if a process has ended and can be waited for.
    pub(in crate::kernel) fn is_waitable(&self, process: ProcessId) -> bool {
        let held = &self.processes[process];
        held.ended.is_some() && !held.waits_for_namespace && held.zombies.is_empty()
    }

    /// Keeps a traced thread that has ended for its tracer, which is told; false if nobody traces
    /// it.
    pub(in crate::kernel) fn keep_for_tracer(&mut self, task: TaskId, status: Status) -> bool {
        let Some(tracer) = self.tracing_process(task) else { return false };
        let held = &mut self.tasks[task];
        held.tracing.ended = Some(status);
        let process = held.shared.process;
        self.processes[process].zombies.push(task);
        let (code, value) = status.code_and_value();
        self.tell_of_traced_end(task, tracer, SIGCHLD, (code, value));
        true
    }

    /// Sends a tracer the signal of its tracee's end.
    pub(in crate::kernel) fn tell_of_traced_end(
        &mut self,
        task: TaskId,
        tracer: ProcessId,
        signo: i32,
        (code, value): (i32, i32),
    ) {
        let held = &self.tasks[task];
        let (tid, uid, cpu) = (held.tid, held.cred.uid.real, held.cpu);
        if signo != 0 {
            let info = SigInfo::child(signo, code, self.pid_for(tracer, tid), uid, value, cpu);
            self.send_to(tracer, info);
        }
        self.wake(WaitKey::Child(tracer));
    }
}
