//! The context of a system call and its outcomes.

use std::borrow::Cow;

use crate::abi::errno::Errno;
use crate::guest::{Gpr, GuestCpu, GuestMemory};
use crate::kernel::Kernel;
use crate::kernel::arena::TaskId;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::description::Descriptions;
use crate::kernel::file::operations::FileContext;
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::{FileSystem, ImageFile, Time};

/// The kernel's state and the calling task's registers and memory.
pub(crate) struct Ctx<'a> {
    /// The kernel.
    pub kernel: &'a mut Kernel,
    /// Registers of the calling task.
    pub cpu: &'a mut dyn GuestCpu,
    /// Memory of the calling task.
    pub mem: &'a mut dyn GuestMemory,
}

/// Outcome of a call that does not simply return a value.
#[derive(Debug)]
pub(crate) enum Break {
    /// The call failed.
    Errno(Errno),
    /// The task has ended (exit, exit_group).
    Gone,
    /// The process image is replaced.
    Exec(Box<ExecRequest>),
    /// A limit of the user's was reached; the text names its option.
    Limit(String),
    /// Another task was made; the session gives it its registers.
    Spawn(Spawn),
    /// The task has stopped for its tracer before the call, and goes on there.
    Traced,
    /// The call has to wait: it is made again when something that it sleeps on has woken.
    Sleep,
    /// The user asked for something: the call is made again, and goes on behind what it has done.
    Pause,
    /// The call returns 0, after others had their turns.
    Yield,
    /// Registers were set by the handler (rt_sigreturn); nothing is to be stored in RAX.
    Resume,
    /// Asked for something that would be wrong if it were pretended; the run stops with this
    /// message.
    Refuse(String),
}

impl From<Errno> for Break {
    fn from(errno: Errno) -> Self {
        Break::Errno(errno)
    }
}

/// Result of a handler: the value for RAX, or why there is none.
pub(crate) type SysResult = Result<u64, Break>;

/// A successful execve(2), for the session to carry out.
#[derive(Clone, Debug)]
pub(crate) struct ExecRequest {
    /// The program; `#!` is not yet followed.
    pub image: ImageFile,
    /// The name as the program gave it: AT_EXECFN, the argument of a `#!` interpreter, and the
    /// task's name.
    pub filename: Vec<u8>,
    /// It was named by a descriptor alone: the task has the name of the file.
    pub nameless: bool,
    /// The descriptor that the name begins with will be closed, so that no interpreter finds it.
    pub closes: bool,
    /// Arguments.
    pub argv: Vec<Vec<u8>>,
    /// Environment.
    pub envp: Vec<Vec<u8>>,
}

/// A task that clone(2) has made, for the session to give registers: those of the caller, but for
/// RAX, which is 0, and what is named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spawn {
    /// The task.
    pub task: TaskId,
    /// Its stack pointer, if it has a stack of its own.
    pub stack: Option<u64>,
    /// Its FS base (CLONE_SETTLS).
    pub tls: Option<u64>,
}

/// Work of the session after a system call or a fault.
#[derive(Debug)]
pub(crate) enum Action {
    /// Go on.
    Continue,
    /// Another limit was reached; the text names its option.
    Limit(String),
    /// The limit of memory was reached.
    OutOfMemory,
    /// Load another program.
    Exec(Box<ExecRequest>),
    /// Give the new task its registers; RAX of the caller has its id. Signals are still to be
    /// delivered to the caller.
    Spawn(Spawn),
    /// The task has ended; go on with another one.
    Gone,
    /// This signal is about to end the task's process, and somebody wants to see it before.
    Killed(i32),
    /// This call has returned, and somebody wants to see it before signals are delivered.
    Returned(u64),
    /// The task sleeps; go on with another one.
    Sleep,
    /// The user asked for something while the call was at work: it is made again.
    GivenUp,
    /// Stop the run: this cannot be emulated faithfully.
    Refuse(String),
}

impl Ctx<'_> {
    /// Time since the program's first instruction, in nanoseconds. Costs a synchronisation with the
    /// CPU.
    pub(crate) fn now(&mut self) -> u64 {
        self.kernel.now(self.cpu)
    }

    /// The tree, the task as the caller of operations that leave no time stamp, and its memory. The
    /// time is not asked for, since that costs a synchronisation with the CPU.
    pub(crate) fn paths(&mut self) -> (&mut FileSystem, Caller<'_>, &mut dyn GuestMemory) {
        let (fs, caller) = self.kernel.paths(Time::default());
        (fs, caller, self.mem)
    }

    /// `paths` for operations that leave a time stamp.
    pub(crate) fn paths_now(&mut self) -> (&mut FileSystem, Caller<'_>, &mut dyn GuestMemory) {
        let now = self.kernel.real_time(self.cpu);
        let (fs, caller) = self.kernel.paths(now);
        (fs, caller, self.mem)
    }

    /// The open file descriptions, and the objects that their operations work with.
    pub(crate) fn file_ops(&mut self) -> (&mut Descriptions, FileContext<'_>) {
        self.kernel.file_ops(self.cpu, self.mem)
    }

    /// The description of a descriptor; EBADF, also if it was opened with O_PATH.
    pub(crate) fn opened(&self, fd: i32) -> Result<FileNo, Errno> {
        let file = self.kernel.fds().get(fd)?;
        if self.kernel.files.get(file).is_path() { Err(Errno::EBADF) } else { Ok(file) }
    }

    /// `opened` for a call that may wait: made again, it has the description that it found first.
    pub(crate) fn pin_opened(&mut self, fd: i32) -> Result<FileNo, Errno> {
        let file = self.kernel.pin(fd)?;
        if self.kernel.files.get(file).is_path() { Err(Errno::EBADF) } else { Ok(file) }
    }

    /// Puts another signal mask in place until the call is over, once in a call.
    pub(crate) fn mask_for_this_call(&mut self, mask: u64) {
        if self.kernel.task().signals.saved_mask.is_none() {
            self.kernel.signals().set_temporary_mask(mask);
        }
    }

    /// The moment some nanoseconds after the call began to wait, which is remembered when it is
    /// made again.
    pub(crate) fn deadline(&mut self, ns: u64) -> u64 {
        if let Some(deadline) = self.kernel.task().call.deadline {
            return deadline;
        }
        let deadline = self.now().saturating_add(ns);
        self.kernel.task_mut().call.deadline = Some(deadline);
        deadline
    }

    /// Waits until one of the keys wakes or the deadline comes (nanoseconds since the program's
    /// start), or a signal. The call must have looked for what it waits for, since it is made again
    /// on every event; `what` says for people what it waits for.
    ///
    /// # Errors
    /// `Break::Sleep`, which the handler passes on.
    pub(crate) fn sleep(
        &mut self,
        what: impl Into<Cow<'static, str>>,
        keys: &[WaitKey],
        deadline: Option<u64>,
    ) -> Result<Wake, Break> {
        self.kernel.wait(self.cpu, what.into(), keys, deadline).ok_or(Break::Sleep)
    }

    /// Breaks off a call that does much, if the user asks for something. Made again it finds in its
    /// `Call` what was `done`, which must be more than before, or it would never end.
    ///
    /// # Errors
    /// `Break::Pause`, which the handler passes on.
    pub(crate) fn pause_if_asked(&mut self, done: u64) -> Result<(), Break> {
        if self.kernel.streams.is_asked() { Err(self.pause(done)) } else { Ok(()) }
    }

    /// The break of a call that is made again, and goes on behind what was `done`.
    pub(crate) fn pause(&mut self, done: u64) -> Break {
        self.kernel.task_mut().call.done = done;
        Break::Pause
    }

    /// The break of a call that a pending signal interrupts: it fails with EINTR, or starts again
    /// once the handler is done. RAX must still hold the call's number.
    pub(crate) fn interrupted(&mut self, restart: Restart) -> Break {
        let number = self.cpu.gpr(Gpr::Rax);
        let task = self.kernel.task_mut();
        task.signals.interrupted = Some((number, restart, task.call.deadline));
        Break::Errno(Errno::EINTR)
    }
}
