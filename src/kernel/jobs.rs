//! Job control: process groups and sessions, and processes that stop and continue, credentials(7)
//! and setpgid(2).

use crate::abi::errno::Errno;
use crate::abi::process::{CLD_CONTINUED, CLD_STOPPED};
use crate::abi::signal::{SIG_IGN, sa, signo::*};
use crate::kernel::arena::ProcessId;
use crate::kernel::process::{INIT, JobNews};
use crate::kernel::sched::{TaskState, WaitKey, Wake};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::state::Kernel;

impl Kernel {
    /// Moves a process into a group, setpgid(2): ESRCH unless it is the caller or its child, EACCES
    /// for a child that has called execve(2), EPERM for leaders and groups of other sessions.
    pub(crate) fn set_group(&mut self, pid: i32, pgid: i32) -> Result<(), Errno> {
        let here = self.task().shared.process;
        let own = self.process().pid;
        let (pid, process) = match pid {
            0 => (own, here),
            pid => (pid, self.find_process(pid).ok_or(Errno::ESRCH)?),
        };
        let pgid = if pgid == 0 { pid } else { pgid };
        let held = &self.processes[process];
        if held.parent == Some(here) {
            if held.sid != self.process().sid {
                return Err(Errno::EPERM);
            }
            if held.executed {
                return Err(Errno::EACCES);
            }
        } else if process != here {
            return Err(Errno::ESRCH);
        }
        if held.sid == held.pid {
            return Err(Errno::EPERM);
        }
        let sid = self.process().sid;
        let exists = self.group(pgid).into_iter().any(|member| self.processes[member].sid == sid);
        if pgid != pid && !exists {
            return Err(Errno::EPERM);
        }
        self.processes[process].pgid = pgid;
        Ok(())
    }

    /// Makes the running process the leader of a new session and group, setsid(2); EPERM if there
    /// is a group of its number.
    pub(crate) fn new_session(&mut self) -> Result<i32, Errno> {
        let pid = self.process().pid;
        if !self.group(pid).is_empty() {
            return Err(Errno::EPERM);
        }
        let process = self.process_mut();
        (process.sid, process.pgid, process.terminal) = (pid, pid, None);
        Ok(pid)
    }

    /// Tells if nobody outside of a group but in its session watches over it: no member but
    /// `ignored` has its parent there.
    pub(crate) fn is_orphaned(&self, pgid: i32, ignored: Option<ProcessId>) -> bool {
        !self.group(pgid).into_iter().any(|member| {
            let held = &self.processes[member];
            if Some(member) == ignored || held.ended.is_some() {
                return false;
            }
            match held.parent {
                // The first process has a parent in its session that is not emulated.
                None => held.ppid != INIT && held.sid == held.ppid,
                Some(parent) => {
                    let parent = &self.processes[parent];
                    parent.pgid != pgid && parent.sid == held.sid
                }
            }
        })
    }

    /// Sends SIGHUP and SIGCONT to the group of a process if nobody watches over it any more and a
    /// member is stopped, `kill_orphaned_pgrp`: its parent ends, or with `itself` it does.
    pub(super) fn hang_up_orphans(&mut self, process: ProcessId, parent: Option<ProcessId>, itself: bool) {
        let held = &self.processes[process];
        let (pgid, sid) = (held.pgid, held.sid);
        let Some(parent) = parent.map(|parent| &self.processes[parent]) else { return };
        if parent.pgid == pgid || parent.sid != sid || !self.is_orphaned(pgid, itself.then_some(process)) {
            return;
        }
        let members = self.group(pgid);
        if members.iter().any(|member| self.processes[*member].stopped.is_some()) {
            self.send_to_group(pgid, SIGHUP);
            self.send_to_group(pgid, SIGCONT);
        }
    }

    /// Sends a signal of the kernel's to a process group.
    pub(crate) fn send_to_group(&mut self, pgid: i32, signo: i32) {
        for member in self.group(pgid) {
            self.send_to(member, SigInfo::kernel(signo));
        }
    }

    /// Tells if a stop signal has an effect on a process: not one of the terminal's in an orphaned
    /// group, and none on the last process that runs, which nobody could continue.
    fn can_stop(&mut self, process: ProcessId, signo: i32) -> bool {
        let held = &self.processes[process];
        if signo != SIGSTOP && self.is_orphaned(held.pgid, None) {
            return false;
        }
        let runs = |id: ProcessId| id != process && self.processes[id].ended.is_none();
        if held.parent.is_none() && !self.processes.iter().any(|(id, _)| runs(id)) {
            self.notices.once(format!(
                "signal {signo} would stop the program: ignored, as nothing could continue it"
            ));
            return false;
        }
        true
    }

    /// Stops a process and tells its parent; true if it is stopped now.
    pub(crate) fn stop_process(&mut self, process: ProcessId, signo: i32) -> bool {
        if !self.can_stop(process, signo) {
            return false;
        }
        let held = &mut self.processes[process];
        held.stopped = Some(signo);
        held.news = Some(JobNews::Stopped(signo));
        for task in held.tasks.clone() {
            if !self.stop_traced(task) && self.tasks[task].state == TaskState::Runnable {
                self.unschedule(task);
                self.tasks[task].state = TaskState::Stopped;
            }
        }
        self.tell_parent_of_job(process, CLD_STOPPED, signo);
        true
    }

    /// Continues a process that is stopped, and tells its parent. A parent that waits has its turn
    /// before the child, which might end or stop again in its own: Linux tells the parent before
    /// the child's first instruction.
    pub(super) fn continue_process(&mut self, process: ProcessId) {
        if self.processes[process].stopped.is_none() {
            return;
        }
        self.tell_parent_of_job(process, CLD_CONTINUED, SIGCONT);
        self.let_run(process);
        self.processes[process].news = Some(JobNews::Continued);
    }

    /// Lets a process run that was stopped.
    pub(super) fn let_run(&mut self, process: ProcessId) {
        let held = &mut self.processes[process];
        if held.stopped.take().is_none() {
            return;
        }
        held.news = None;
        for task in held.tasks.clone() {
            let held = &self.tasks[task];
            match held.state {
                TaskState::Stopped => self.make_ready(task),
                TaskState::Sleeping if held.call.frail => self.wake_task(task, Wake::Signal),
                _ => {}
            }
        }
    }

    fn tell_parent_of_job(&mut self, process: ProcessId, code: i32, value: i32) {
        let held = &self.processes[process];
        let (pid, uid) = (held.pid, self.tasks[held.leader].cred.uid.real);
        let Some(parent) = held.parent else { return };
        if code == CLD_STOPPED && self.tracing_process(held.leader) == Some(parent) {
            return; // it is told as the tracer
        }
        let news = match code {
            CLD_CONTINUED => WaitKey::ContinuedChild(parent),
            _ => WaitKey::StoppedChild(parent),
        };
        if self.sched.sleepers_of(news).next().is_some() {
            // Else who stops and continues the child in one turn leaves the parent nothing to see.
            self.sched.end_turn();
        }
        let action = self.handlers_of(parent).get(SIGCHLD);
        if action.handler != SIG_IGN && action.flags & sa::NOCLDSTOP == 0 {
            let used = held.cpu;
            let pid = self.pid_for(parent, pid);
            self.send_to(parent, SigInfo::child(SIGCHLD, code, pid, uid, value, used));
        }
        self.wake(news);
    }
}
