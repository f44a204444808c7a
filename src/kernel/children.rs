//! Waiting for children, wait(2) and waitid(2): which child has news, and what they are.

use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::abi::signal::signo::{SIGCHLD, SIGCONT};
use crate::kernel::arena::ProcessId;
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
        for child in self.process().children.clone() {
            if !self.is_asked_for(child, which, options) {
                continue;
            }
            let held = &self.processes[child];
            can_come |= held.ended.is_none() || held.waits_for_namespace || options & WEXITED != 0;
            if let Some(news) = self.take_news(child, options) {
                return Ok(Some(news));
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

    fn take_news(&mut self, child: ProcessId, options: u32) -> Option<News> {
        let held = &self.processes[child];
        let ended = held.ended.filter(|_| !held.waits_for_namespace);
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
