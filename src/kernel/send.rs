//! Signals from one to another, kill(2): who may send them, who takes them, and what those that
//! stop, continue and kill do at once.

use crate::abi::capability::CAP_KILL;
use crate::abi::errno::Errno;
use crate::abi::resource::Resource;
use crate::abi::signal::si_code::{SI_TIMER, SI_USER};
use crate::abi::signal::{bit, signo::*};
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::process::PPID;
use crate::kernel::sched::TaskState;
use crate::kernel::signal::handlers::STOPS;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::To;
use crate::kernel::state::Kernel;

/// Receivers of kill(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receivers {
    /// The process that the task with this number belongs to.
    Process(i32),
    /// A process group.
    Group(i32),
    /// Everybody but the sender.
    All,
}

impl Kernel {
    /// Sends a signal to a task or to its process, and wakes who has to take it: of a process the
    /// given task if it can, or else the first that can (`complete_signal`). One that has ended
    /// takes none.
    pub(crate) fn send_signal(&mut self, task: TaskId, info: SigInfo, to: To) {
        let Some(held) = self.tasks.get(task) else { return };
        let (process, dead, signo) = (held.shared.process, held.state == TaskState::Dead, info.signo());
        if bit(signo) == 0 || self.processes[process].ended.is_some() || dead && to == To::Task {
            return;
        }
        if self.init_ignores(task, &info) {
            return;
        }
        let info = self.with_shown_sender(task, info);
        let task = if dead { self.leader(process) } else { task };
        let full = self.is_queue_full(task, &info);
        let info = if full { SigInfo::user(signo, SI_USER, 0, 0) } else { info };
        self.prepare_signal(process, signo);
        let others = match to {
            To::Task => Vec::new(),
            To::Process => self.processes[process].tasks.clone(),
        };
        let all: Vec<TaskId> = [task].into_iter().chain(others).collect();
        let lets_through = |task: &TaskId| self.tasks[*task].signals.blocked & bit(signo) == 0;
        let handlers = &self.handlers[self.tasks[task].shared.handlers];
        let traced = |task: &TaskId| self.tasks[*task].tracing.trace.is_some();
        let any_traced = self.processes[process].tasks.iter().any(traced);
        if handlers.stops(signo) && !any_traced && all.iter().any(lets_through) {
            let tid = self.tasks[task].tid;
            if self.stop_process(process, signo)
                && let Some(transcript) = &mut self.transcript
            {
                transcript.stopped(tid, info);
            }
            return;
        }
        if self.transcript.is_some() && lets_through(&task) && handlers.ignores(signo) {
            // strace shows what is ignored too.
            let taken = &mut self.tasks[task].signals.taken;
            if !taken.iter().any(|other| other.signo() == signo) {
                taken.push(info);
            }
        }
        if to == To::Process {
            self.direct(process, task, signo);
        }
        self.task_charge.signal_sent();
        let mut signals = self.signals_of(task);
        if !full || signals.queue(to).set() & bit(signo) == 0 {
            signals.send(info, to);
        }
        let taker = all.into_iter().find(|task| to == To::Task || self.takes(*task, signo));
        if let Some(taker) = taker {
            self.wake_for_signals(taker);
        }
    }

    /// Checks that a signal of rt_sigqueueinfo(2) or tgkill(2) can be queued: EAGAIN beyond
    /// RLIMIT_SIGPENDING for a real-time one, `__send_signal_locked`.
    pub(crate) fn may_queue(&self, task: TaskId, info: &SigInfo) -> Result<(), Errno> {
        let lost = info.signo() >= SIGRTMIN && info.code() != SI_USER && self.is_queue_full(task, info);
        if lost { Err(Errno::EAGAIN) } else { Ok(()) }
    }

    /// Tells if a signal finds no room in what RLIMIT_SIGPENDING allows the user of a task. Then
    /// only the signal waits, once, and not what came with it. The kernel's own and kill(2)'s
    /// standard signals are always kept, and those of timers have their room since timer_create(2).
    fn is_queue_full(&self, task: TaskId, info: &SigInfo) -> bool {
        let kept = info.signo() < SIGRTMIN && info.code() >= 0 || info.code() == SI_TIMER;
        let held = &self.tasks[task];
        let most = self.processes[held.shared.process].limits.soft(Resource::Sigpending);
        !kept && self.queued.of(held.cred.uid.real) >= most
    }

    /// Notes that a task, if it is not the first one of its process, takes a signal before others
    /// do.
    fn direct(&mut self, process: ProcessId, task: TaskId, signo: i32) {
        let directed = self.leader(process) != task && self.takes(task, signo);
        let held = &mut self.processes[process];
        let before = held.directed.map_or(0, |(taker, signals)| match directed && taker != task {
            true => 0,
            false => signals & held.pending.set() & !bit(signo),
        });
        let signals = before | if directed { bit(signo) } else { 0 };
        let taker = if directed { Some(task) } else { held.directed.map(|(taker, _)| taker) };
        held.directed = taker.filter(|_| signals != 0).map(|taker| (taker, signals));
    }

    /// Tells if a task would take a signal that is sent to its process.
    fn takes(&self, task: TaskId, signo: i32) -> bool {
        let task = &self.tasks[task];
        let free = (!task.signals.blocked | task.call.signals) & bit(signo) != 0;
        free && matches!(task.state, TaskState::Runnable | TaskState::Sleeping)
    }

    /// Sends a signal to a process.
    pub(crate) fn send_to(&mut self, process: ProcessId, info: SigInfo) {
        self.send_signal(self.leader(process), info, To::Process);
    }

    /// Does what a signal does before it is queued, `prepare_signal`: stop signals and SIGCONT
    /// cancel each other, and SIGCONT and SIGKILL let a stopped process run.
    fn prepare_signal(&mut self, process: ProcessId, signo: i32) {
        let opposite = match signo {
            SIGCONT => STOPS,
            _ if bit(signo) & STOPS != 0 => bit(SIGCONT),
            SIGKILL => {
                self.let_run(process);
                self.kill_traced(process);
                return;
            }
            _ => return,
        };
        let held = &mut self.processes[process];
        held.pending.remove(opposite, &mut self.queued);
        for task in held.tasks.clone() {
            self.tasks[task].signals.pending.remove(opposite, &mut self.queued);
        }
        if signo == SIGCONT {
            self.continue_process(process);
            self.continue_traced(process);
        }
    }

    /// Checks that the running task may send a signal to a process, `check_kill_permission`; EPERM.
    pub(crate) fn may_signal(&self, process: ProcessId, signo: i32) -> Result<(), Errno> {
        let held = &self.processes[process];
        let (from, to) = (&self.task().cred, &self.tasks[held.leader].cred.uid);
        let same = [from.uid.effective, from.uid.real].iter().any(|uid| *uid == to.saved || *uid == to.real);
        let continues = signo == SIGCONT && held.sid == self.process().sid;
        let allowed = process == self.task().shared.process
            || same
            || continues
            || from.capable_over(&self.tasks[held.leader].cred.user_ns, CAP_KILL);
        if allowed { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Checks that the running task may send a signal to the parent of the first process; EPERM.
    fn may_signal_parent(&self, signo: i32) -> Result<(), Errno> {
        let (own, user) = (&self.task().cred, self.user);
        let same = [own.uid.effective, own.uid.real].contains(&user);
        let continues = signo == SIGCONT && self.process().sid == PPID;
        if same || continues || own.capable(CAP_KILL) { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// The processes of a group, those that wait to be waited for included.
    pub(crate) fn group(&self, pgid: i32) -> Vec<ProcessId> {
        self.processes.iter().filter(|(_, held)| held.pgid == pgid).map(|(id, _)| id).collect()
    }

    /// Sends a signal as kill(2) does, or without one only asks: ESRCH if nobody is there, EPERM if
    /// none of them may be sent to.
    pub(crate) fn kill(&mut self, to: Receivers, signo: i32, info: Option<SigInfo>) -> Result<(), Errno> {
        let here = self.task().shared.process;
        let receivers: Vec<ProcessId> = match to {
            Receivers::Process(pid) => {
                self.find_task(pid).map(|task| self.tasks[task].shared.process).into_iter().collect()
            }
            Receivers::Group(pgid) => self.group(pgid),
            Receivers::All => {
                let above_first = |id: &ProcessId| {
                    let shown = self.shown_pid(self.processes[*id].pid);
                    *id != here && shown > 1
                };
                self.processes.iter().map(|(id, _)| id).filter(above_first).collect()
            }
        };
        let outside = [Receivers::Process(PPID), Receivers::Group(PPID)].contains(&to);
        let mut result = if outside { self.may_signal_parent(signo) } else { Err(Errno::ESRCH) };
        for process in receivers {
            match self.may_signal(process, signo) {
                // Linux keeps quiet about those of everybody that it left out.
                Err(_) if to == Receivers::All => result = Ok(()),
                Err(errno) if result.is_err() => result = Err(errno),
                Err(_) => {}
                Ok(()) => {
                    if let Some(info) = info {
                        self.send_to(process, info);
                    }
                    result = Ok(());
                }
            }
        }
        result
    }
}
