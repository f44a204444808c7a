//! State of a task that is traced, and of one that has stopped for its tracer.

use crate::abi::ptrace::*;
use crate::kernel::arena::TaskId;
use crate::kernel::process::Status;
use crate::kernel::ptrace::registers::Registers;
use crate::kernel::signal::info::SigInfo;

/// Way in which a tracer has let its tracee go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// To the next signal or event.
    #[default]
    Cont,
    /// To the beginning or end of a system call, too.
    Syscall,
    /// For one instruction.
    Step,
    /// To the beginning of a system call, which is not made.
    Sysemu,
    /// Likewise, or for one instruction.
    SysemuStep,
}

impl Mode {
    /// Tells if the beginning of a system call is a stop.
    pub(super) fn at_entry(self) -> bool {
        matches!(self, Mode::Syscall | Mode::Sysemu | Mode::SysemuStep)
    }

    /// Tells if the call is not made.
    pub(crate) fn skips(self) -> bool {
        matches!(self, Mode::Sysemu | Mode::SysemuStep)
    }

    /// Tells if one instruction is a stop.
    pub(super) fn steps(self) -> bool {
        matches!(self, Mode::Step | Mode::SysemuStep)
    }
}

/// Tracing of a task, as long as it has a tracer.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// The tracer.
    pub(crate) tracer: TaskId,
    /// It began with PTRACE_SEIZE.
    pub(crate) seized: bool,
    /// PTRACE_O_*.
    pub(crate) options: u32,
    /// Message of PTRACE_GETEVENTMSG.
    pub(crate) message: u64,
    /// Way in which the tracee was let go last.
    pub(crate) mode: Mode,
    /// Code of the stop for wait(2), until it was waited for.
    pub(crate) news: Option<u32>,
    /// PTRACE_LISTEN: the tracee stays stopped, and its tracer waits for what happens to it.
    pub(crate) listening: bool,
    /// The tracer, or attaching to a stopped task, asks for a stop (`JOBCTL_TRAP_STOP`).
    pub(super) trap_stop: bool,
    /// Group stops began or ended since the tracer was told (`JOBCTL_TRAP_NOTIFY`).
    pub(super) trap_notify: bool,
    /// The process is stopped, in which this task has yet to take part (`JOBCTL_STOP_PENDING`).
    pub(super) stop_pending: bool,
    /// The debug registers, which break nothing.
    pub(crate) debug: [u64; 4],
}

impl Trace {
    /// Tracing that begins.
    pub(super) fn new(tracer: TaskId, seized: bool, options: u32) -> Trace {
        Trace {
            tracer,
            seized,
            options,
            message: 0,
            mode: Mode::Cont,
            news: None,
            listening: false,
            trap_stop: false,
            trap_notify: false,
            stop_pending: false,
            debug: [0; 4],
        }
    }

    /// Tells if the tracer wants to know of an event.
    pub(crate) fn wants(&self, event: u32) -> bool {
        self.options >> event & 1 != 0
    }

    /// Tells if a stop is due that no signal has caused.
    pub(super) fn traps(&self) -> bool {
        self.trap_stop || self.trap_notify || self.stop_pending
    }
}

/// Place at which a task has stopped for its tracer: where it goes on from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before a system call, which is not made if it is only emulated (PTRACE_SYSEMU).
    Entry { emulated: bool },
    /// Behind a system call.
    Exit,
    /// Before a system call of which a filter of seccomp(2) tells the tracer.
    Seccomp,
    /// Before its end: by a signal, or in a call.
    End(Option<i32>),
    /// Before a signal takes effect.
    Signal,
    /// Between two instructions.
    Between,
}

/// A stop for the tracer.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The place.
    pub(crate) place: Place,
    /// Cause, PTRACE_GETSIGINFO; none for a group stop of who was not seized.
    pub(crate) info: Option<SigInfo>,
    /// The registers.
    pub(crate) registers: Registers,
    /// Value of RAX as it was shown, where that is not the register's.
    pub(super) shown: u64,
    /// Signal that the tracer has it go on with.
    pub(super) signal: i32,
}

/// All that a task has of ptrace(2) whether it is traced or not. All of it is empty in most tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracing {
    /// Tracing by another task.
    pub(crate) trace: Option<Box<Trace>>,
    /// The stop that it is in, or has not yet gone on from.
    pub(crate) stop: Option<Box<Stop>>,
    /// Tasks that it traces, in the order in which that began.
    pub(crate) tracees: Vec<TaskId>,
    /// Events to be told of before the task goes on, each with its message.
    pub(super) due: Vec<(u32, u64)>,
    /// A call of it has returned, of which the tracer is yet to be told.
    pub(crate) returned: bool,
    /// EFLAGS.TF is set for the tracer alone.
    pub(crate) steps: bool,
    /// The tracer was told of its end.
    pub(super) end_told: bool,
    /// Status with which a thread has ended that its tracer has not yet waited for.
    pub(super) ended: Option<Status>,
}

impl Tracing {
    /// Tells if a stop is due that no signal has caused.
    pub(in crate::kernel) fn traps(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.traps())
    }

    /// Tells if nothing is to be done for a tracer when the task goes on.
    pub(crate) fn is_idle(&self) -> bool {
        self.trace.is_none() && self.due.is_empty() && !self.returned
    }

    /// Tells if system calls of it stop at their beginnings.
    pub(crate) fn stops_at_entry(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.mode.at_entry())
    }

    /// Tells if filters of seccomp(2) are suspended.
    pub(crate) fn suspends_seccomp(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.options & PTRACE_O_SUSPEND_SECCOMP != 0)
    }
}
