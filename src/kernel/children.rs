//! Waiting for children, wait(2) and waitid(2): which child has news, and what they are.

use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::abi::signal::signo::{SIGCHLD, SIGCONT};
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::process::{JobNews, Usage};
use crate::kernel::state::Kernel;

/// Children that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Any.
    All,
    /// The one with a process id.
    Pid(i32),
    /// Those of a process group.
    Group(i32),
    /// A certain one, even if its number was used again.
    Process(ProcessId),
}

/// News of a child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// As the parent has it.
    pub(crate) pid: i32,
    pub(crate) uid: u32,
    /// The status as wait4(2) gives it.
    pub(crate) status: u32,
    /// `si_code` and `si_status` as waitid(2) gives them.
    pub(crate) code: i32,
    pub(crate) value: i32,
    pub(crate) used: Usage,
}

impl Kernel {
    /// Looks for news of a child, and takes them unless WNOWAIT is among the options: WEXITED,
    /// WSTOPPED and WCONTINUED say which. `None` if there are none yet; ECHILD if none can come.
    pub(crate) fn news_of_child(&mut self, which: Which, options: u32) -> Result<Option<News>, Errno> {
        let mut can_come = false;
        let here = self.task().shared.process;
        let tracees = self.tracees(options);
        let mut told = Vec::new();
        for child in self.process().children.clone() {
            let leader = self.processes[child].leader;
            let tracer = self.tracing_process(leader);
            let is_traced = tracer == Some(here) && tracees.contains(&leader);
            if !is_traced && !self.is_asked_for(child, which, options) {
                continue;
            }
            if is_traced {
                told.push(leader);
                if self.is_tracee_asked_for(leader, which) {
                    let (news, later) = self.news_of_tracee(leader, options);
                    if news.is_some() {
                        return Ok(news);
                    }
                    can_come |= later;
                }
            }
            let held = &self.processes[child];
            can_come |= held.ended.is_none() || !self.is_waitable(child) || options & WEXITED != 0;
            if let Some(news) = self.take_news(child, options) {
                return Ok(Some(news));
            }
        }
        for tracee in tracees.into_iter().filter(|tracee| !told.contains(tracee)) {
            if self.is_tracee_asked_for(tracee, which) {
                let (news, later) = self.news_of_tracee(tracee, options);
                if news.is_some() {
                    return Ok(news);
                }
                can_come |= later;
            }
        }
        if can_come { Ok(None) } else { Err(Errno::ECHILD) }
    }

    fn is_asked_for(&self, child: ProcessId, which: Which, options: u32) -> bool {
        let held = &self.processes[child];
        let named = match which {
            Which::All => true,
            Which::Pid(pid) => held.pid == pid,
            Which::Group(pgid) => held.pgid == pgid,
            Which::Process(process) => child == process,
        };
        let clone = held.exit_signal != SIGCHLD;
        let kind = options & __WALL != 0 || clone == (options & __WCLONE != 0);
        let mine = options & __WNOTHREAD == 0 || held.creator == self.current();
        named && kind && mine
    }

    /// Tells if a tracee is among those that are asked for: of whatever kind it is.
    fn is_tracee_asked_for(&self, task: TaskId, which: Which) -> bool {
        let held = &self.tasks[task];
        let process = &self.processes[held.shared.process];
        match which {
            Which::All => true,
            Which::Pid(pid) => held.tid == pid,
            Which::Group(pgid) => process.pgid == pgid,
            Which::Process(id) => held.shared.process == id && process.leader == task,
        }
    }

    fn take_news(&mut self, child: ProcessId, options: u32) -> Option<News> {
        let held = &self.processes[child];
        // The end of who is traced is for the tracer first.
        let traced = self.tasks[held.leader].tracing.trace.is_some();
        let ended = held.ended.filter(|_| self.is_waitable(child) && !traced);
        let (status, code, value) = match (ended, held.news) {
            (Some(status), _) if options & WEXITED != 0 => {
                let (code, value) = status.code_and_value();
                (status.0, code, value)
            }
            (None, Some(JobNews::Stopped(signo))) if options & WSTOPPED != 0 => {
                ((signo as u32) << 8 | 0x7f, CLD_STOPPED, signo)
            }
            (None, Some(JobNews::Continued)) if options & WCONTINUED != 0 => (0xffff, CLD_CONTINUED, SIGCONT),
            _ => return None,
        };
        let mut used = held.of_children;
        used.add(Usage { cpu: held.cpu, resident: held.max_rss });
        let uid = self.tasks[held.leader].cred.uid.real;
        let news = News { pid: self.shown_pid(held.pid), uid, status, code, value, used };
        if options & WNOWAIT == 0 {
            if held.ended.is_some() {
                self.reap(child);
            } else {
                self.processes[child].news = None;
            }
        }
        Some(news)
    }
}
