//! Pauses and ends of a run, and its results.

use crate::guest::Fault;
use crate::hooks::plan::MappingId;
use crate::profile::{CallGraph, Instructions, Profile};
use crate::session::places::Calls;
use crate::x86::decode::Refusal;

/// Reason of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The number of instructions of [`super::StopConditions::at`] has been executed.
    Reached,
    /// More instructions have been executed than [`super::StopConditions::after`].
    Passed,
    /// The next instruction is at a breakpoint.
    Breakpoint,
    /// The next instruction makes this system call.
    Syscall(u64),
    /// This system call has returned. Signals are delivered when the run goes on.
    Returned(u64),
    /// The handler of this signal is about to start.
    Signal(i32),
    /// This signal is about to end the process of the running task.
    Fatal(i32),
    /// The running task has made another one.
    Spawned(Spawned),
    /// The running task has mapped code of a file.
    Mapped,
    /// Another program was loaded.
    Exec,
    /// The next instruction makes a system call that reaches the host's streams.
    Outside,
    /// The task of [`super::StopConditions::turn_of`] has its turn, or has ended.
    Turn,
    /// The user asked for it through [`super::Control::interrupt`].
    Asked,
    /// The program has ended; there is nothing to go on with.
    Ended,
}

/// A new task: its id, and the kind of its making as ptrace(2) tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spawned {
    /// PTRACE_EVENT_FORK: a process whose end is told with SIGCHLD.
    Fork(i32),
    /// PTRACE_EVENT_VFORK: its maker waits until it executes a program or ends.
    Vfork(i32),
    /// PTRACE_EVENT_CLONE: a thread, or a process that ends in another way.
    Clone(i32),
}

/// The end of a run, before it is put into words.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// As it will be reported.
    Stop(Stop),
    /// Something that a system call asked for is not there.
    Refused {
        /// The message.
        why: String,
        /// The calls of the task that asked.
        calls: Calls,
    },
    /// All tasks wait for ever.
    Deadlock {
        /// The message.
        why: String,
        /// Each task in words, and its calls; empty until they have been looked at.
        tasks: Vec<(String, Calls)>,
    },
    /// A signal, and the fault that caused it.
    Fault {
        /// The signal.
        signal: i32,
        /// The fault.
        fault: Fault,
        /// Address of the instruction.
        pc: u64,
        /// The instruction's bytes, and why it was refused, if it was.
        refused: Option<(Vec<u8>, Refusal)>,
        /// The file it came from.
        mapping: MappingId,
    },
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program ended with this status.
    Exited(i32),
    /// A signal ended the program.
    Killed(i32),
    /// A limit was reached; the text names it and its option.
    Limit(String),
    /// The user asked for it (SIGINT, SIGTERM); the signal's number.
    Interrupted(i32),
    /// Something cannot be emulated faithfully; the text is the message for the user.
    Refused(String),
}

/// Processes whose counts are meant, while a run is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// The process that is looked at.
    #[default]
    Selected,
    /// The one with this id, which may have ended.
    Process(i32),
    /// All that are counted, added up.
    All,
}

/// Counts of a run, folded from its instructions.
#[derive(Debug)]
pub struct Folded {
    /// By file, function and line.
    pub profile: Profile,
    /// By instruction, if they are recorded.
    pub instructions: Option<Instructions>,
    /// The call graph, if calls are followed.
    pub calls: Option<CallGraph>,
    /// The parts of it that were dumped before.
    pub dumps: Vec<CallGraph>,
}

/// A part of the call graph of a process that was dumped on the way.
#[derive(Debug)]
pub struct DumpedPart {
    /// The process.
    pub pid: i32,
    /// Its number among the parts of the process, from 1 on.
    pub number: u32,
    /// The part.
    pub graph: CallGraph,
}

/// A thread that was counted apart.
#[derive(Debug)]
pub struct Thread {
    /// Its number in its process, from 1 on.
    pub number: u32,
    /// Its counts.
    pub counts: Folded,
}

/// A process other than the first that was counted.
#[derive(Debug)]
pub struct Child {
    /// Its process ID in the emulated machine.
    pub pid: i32,
    /// That of its parent.
    pub ppid: i32,
    /// Program and arguments, joined by blanks.
    pub command: Vec<u8>,
    /// Instructions executed.
    pub instructions: u64,
    /// It has a profile of its own: not all are in one.
    pub apart: bool,
    /// Its counts if it has, until they are taken.
    pub counts: Option<Folded>,
    /// Its threads, if they are counted apart, until they are taken.
    pub threads: Vec<Thread>,
    /// It has executed no program of its own, and the log is to be silent about it.
    pub silent: bool,
}

/// Results of a run.
#[derive(Debug)]
pub struct Finished {
    /// The end.
    pub stop: Stop,
    /// The counts of the first process, or of all in one profile.
    pub counts: Folded,
    /// The threads of the first process, if they are counted apart.
    pub threads: Vec<Thread>,
    /// The other processes that were counted, in the order in which they began.
    pub children: Vec<Child>,
    /// Lines for the log (unknown system calls, refused flags, dropped files), in order.
    pub notices: Vec<String>,
}
