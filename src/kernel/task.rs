//! Tasks: what clone(2) makes. A task owns some state and names the objects that it may share.

use crate::abi::process::PR_MCE_KILL_DEFAULT;
use crate::abi::resource::CpuTime;
use crate::abi::sched::{SCHED_FIFO, SCHED_IDLE, SCHED_RR};
use crate::kernel::arena::{FdTableId, FsContextId, HandlersId, MmId, ProcessId, TaskId};
use crate::kernel::cred::Credentials;
use crate::kernel::keys::key::Keyrings;
use crate::kernel::mm::Mm;
use crate::kernel::namespace::kind::Namespaces;
use crate::kernel::process::PID;
use crate::kernel::ptrace::tracee::Tracing;
use crate::kernel::sched::{Call, Claim, Share, TaskState};
use crate::kernel::seccomp::{Seccomp, UserDispatch};
use crate::kernel::signal::state::TaskSignals;

/// Slack of timers in nanoseconds, prctl(2) PR_SET_TIMERSLACK.
pub(crate) const TIMERSLACK_DEFAULT: u64 = 50_000;

/// The shareable objects of a task, each with the flag of clone(2) that shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Thread group (CLONE_THREAD).
    pub process: ProcessId,
    /// Address space (CLONE_VM).
    pub mm: MmId,
    /// Signal handlers (CLONE_SIGHAND).
    pub handlers: HandlersId,
    /// Descriptor table (CLONE_FILES).
    pub fds: FdTableId,
    /// Working directory, root and umask (CLONE_FS).
    pub fs_context: FsContextId,
}

/// Scheduling policy of a task, sched(7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// SCHED_*.
    pub number: u32,
    /// Priority of SCHED_FIFO and SCHED_RR, 1 to 99; 0 for others.
    pub priority: u32,
    /// SCHED_RESET_ON_FORK.
    pub reset_on_fork: bool,
}

impl Policy {
    /// SCHED_FIFO or SCHED_RR.
    fn is_realtime(self) -> bool {
        matches!(self.number, SCHED_FIFO | SCHED_RR)
    }
}

/// A task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Task id, gettid(2).
    pub tid: i32,
    /// The objects that it may share with other tasks.
    pub shared: Shared,
    /// Credentials.
    pub cred: Credentials,
    /// Keyrings, which belong to the credentials.
    pub(crate) keyrings: Keyrings,
    /// Namespaces but the user's.
    pub(crate) namespaces: Namespaces,
    /// State, for the scheduler.
    pub state: TaskState,
    /// Memory of the call in which it sleeps.
    pub call: Call,
    /// Number of the system call that it was in last, or is in; -1 (`orig_rax`) since a fault or an
    /// interrupt.
    pub(crate) orig_rax: u64,
    /// Tracing by ptrace(2).
    pub(crate) tracing: Tracing,
    /// The call that has just returned, until the debugger that wants to see it is told.
    pub(crate) returned: Option<u64>,
    /// CPU time: its instructions until its last turn began, and its calls.
    pub cpu: CpuTime,
    /// Moment at which it was made, in nanoseconds since the program's start.
    pub(crate) started: u64,
    /// Signal mask, signals pending for it alone, alternate stack.
    pub signals: TaskSignals,
    /// Name, padded with NUL, prctl(2) PR_SET_NAME.
    pub comm: [u8; 16],
    /// `set_tid_address`: cleared when the task ends while others share its memory.
    pub clear_child_tid: u64,
    /// CLONE_CHILD_SETTID: where the task stores its id when it first runs.
    pub set_child_tid: u64,
    /// The child that it made with CLONE_VFORK and waits for.
    pub(crate) vfork: Option<TaskId>,
    /// It has called execve(2) or ended, so that its maker need not wait for it any more.
    pub(crate) vfork_done: bool,
    /// `set_robust_list`: address of the list's head.
    pub robust_list: u64,
    /// prctl(2) PR_SET_PDEATHSIG.
    pub pdeathsig: i32,
    /// prctl(2) PR_SET_NO_NEW_PRIVS.
    pub no_new_privs: bool,
    /// prctl(2) PR_SET_TIMERSLACK, in nanoseconds.
    pub timerslack: u64,
    /// The slack that PR_SET_TIMERSLACK sets with 0: that of the task's maker.
    pub(crate) default_timerslack: u64,
    /// Execution domain, personality(2).
    pub personality: u32,
    /// Nice value, -20 to 19.
    pub nice: i32,
    /// prctl(2) PR_MCE_KILL: when to be told of broken memory.
    pub mce_kill: u64,
    /// Policy for new pages, set_mempolicy(2): its mode, and whether it names the one node.
    pub mempolicy: (u32, bool),
    /// Scheduling policy and what comes with it, sched(7).
    pub policy: Policy,
    /// The highest priority of those that wait for a lock of its, if that inherits.
    pub(crate) lent: u32,
    /// I/O priority as ioprio_get(2) gives it.
    pub ioprio: u32,
    /// prctl(2) PR_SET_IO_FLUSHER.
    pub io_flusher: bool,
    /// prctl(2) PR_SET_TSC: reading the time-stamp counter is a fault. execve(2) keeps it.
    pub tsc_faults: bool,
    /// Filters of system calls, seccomp(2).
    pub(crate) seccomp: Seccomp,
    /// prctl(2) PR_SET_SYSCALL_USER_DISPATCH; children do not have it.
    pub(crate) user_dispatch: Option<UserDispatch>,
}

impl Task {
    /// The first task.
    pub(super) fn first(shared: Shared, cred: Credentials) -> Task {
        Task {
            tid: PID,
            shared,
            cred,
            keyrings: Keyrings::default(),
            namespaces: Namespaces::FIRST,
            state: TaskState::default(),
            call: Call::default(),
            orig_rax: u64::MAX,
            tracing: Tracing::default(),
            returned: None,
            cpu: CpuTime::default(),
            started: 0,
            signals: TaskSignals::new(),
            comm: [0; 16],
            clear_child_tid: 0,
            set_child_tid: 0,
            vfork: None,
            vfork_done: false,
            robust_list: 0,
            pdeathsig: 0,
            no_new_privs: false,
            timerslack: TIMERSLACK_DEFAULT,
            default_timerslack: TIMERSLACK_DEFAULT,
            personality: 0,
            nice: 0,
            mce_kill: PR_MCE_KILL_DEFAULT,
            mempolicy: (0, false),
            policy: Policy::default(),
            lent: 0,
            ioprio: 0,
            io_flusher: false,
            tsc_faults: false,
            seccomp: Seccomp::default(),
            user_dispatch: None,
        }
    }

    /// A task that this one makes, clone(2): signals that wait, timers and addresses of its own
    /// memory are not inherited.
    pub(super) fn child(&self, tid: i32, shared: Shared) -> Task {
        // Only what is better than usual is reset: not SCHED_BATCH and SCHED_IDLE.
        let (policy, nice) = match self.policy {
            policy if !policy.reset_on_fork => (policy, self.nice),
            policy if policy.is_realtime() => (Policy::default(), 0),
            policy => (Policy { reset_on_fork: false, ..policy }, self.nice.max(0)),
        };
        Task {
            tid,
            shared,
            state: TaskState::default(),
            call: Call::default(),
            tracing: Tracing::default(),
            returned: None,
            cpu: CpuTime::default(),
            signals: self.signals.child(),
            set_child_tid: 0,
            vfork: None,
            vfork_done: false,
            clear_child_tid: 0,
            robust_list: 0,
            pdeathsig: 0,
            policy,
            lent: 0,
            nice,
            user_dispatch: None,
            default_timerslack: self.timerslack,
            ..self.clone()
        }
    }

    /// Its claim to the CPU. One that a priority was lent to keeps the CPU as SCHED_FIFO does.
    pub(crate) fn claim(&self) -> Claim {
        let priority = self.policy.priority.max(self.lent);
        let share = if self.policy.number == SCHED_IDLE { Share::Idle } else { Share::Nice(self.nice) };
        match priority {
            0 => Claim { priority, rotates: true, share },
            _ => Claim { priority, rotates: self.policy.number == SCHED_RR, share: Share::Nice(0) },
        }
    }

    /// The name without its padding.
    pub fn name(&self) -> &[u8] {
        self.comm.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// Takes other credentials. A task that has become another or has gained something can no
    /// longer be looked into, and is not told of its parent's end: `commit_creds`.
    pub fn commit(&mut self, cred: Credentials, mm: &mut Mm) {
        let old = std::mem::replace(&mut self.cred, cred);
        let ids = |cred: &Credentials| (cred.uid.effective, cred.uid.fs, cred.gid.effective, cred.gid.fs);
        let gained = self.cred.caps.permitted & !old.caps.permitted != 0;
        if ids(&old) != ids(&self.cred) || gained {
            mm.dumpable = 0;
            self.pdeathsig = 0;
        }
    }

    /// Names the task: 15 bytes at most, up to a NUL.
    pub fn set_name(&mut self, name: &[u8]) {
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let len = name.len().min(self.comm.len() - 1);
        self.comm = [0; 16];
        self.comm[..len].copy_from_slice(&name[..len]);
    }

    /// Names the task after the last part of a path, as execve(2) does with the name it was given.
    pub(super) fn set_name_from_path(&mut self, path: &[u8]) {
        self.set_name(path.rsplit(|byte| *byte == b'/').next().unwrap_or(path));
    }

    /// Changes what belongs to the program that execve(2) replaces. `secure`: the new one has
    /// privileges of its own.
    pub(super) fn exec(&mut self, secure: bool) {
        self.clear_child_tid = 0;
        self.robust_list = 0;
        self.user_dispatch = None;
        if secure {
            self.pdeathsig = 0;
        }
    }

    /// Lets the timers of the task be late by so many nanoseconds; 0 is its default. Real-time
    /// tasks have none.
    pub(crate) fn set_timerslack(&mut self, slack: u64) {
        if !self.policy.is_realtime() {
            self.timerslack = if slack == 0 { self.default_timerslack } else { slack };
        }
    }

    /// Gives the task another policy, and the slack of its timers that goes with it.
    pub(crate) fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
        if policy.is_realtime() {
            self.timerslack = 0;
        } else if self.timerslack == 0 {
            self.timerslack = self.default_timerslack;
        }
    }
}
