//! The kernel as one value made of parts, and the way into it.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::abi::errno::Errno;
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory};
use crate::kernel::vfs::FileSystem;
use crate::syscalls::fd::FdTable;
use crate::syscalls::notices::Notices;
use crate::syscalls::process::Process;
use crate::syscalls::random::Random;
use crate::syscalls::signal::{self, Signals};
use crate::syscalls::table;
use crate::syscalls::time::Clock;

/// What a handler works with: the kernel's state and the calling task's registers and memory.
pub struct Ctx<'a> {
    /// The kernel.
    pub kernel: &'a mut Kernel,
    /// Registers of the calling task.
    pub cpu: &'a mut dyn GuestCpu,
    /// Memory of the calling task.
    pub mem: &'a mut dyn GuestMemory,
}

/// Why a call does not simply return a value.
#[derive(Debug)]
pub enum Break {
    /// The call failed.
    Errno(Errno),
    /// The process ends with this status (exit, exit_group).
    Exit(i32),
    /// The process image is replaced.
    Exec(ExecRequest),
    /// Registers were set by the handler (rt_sigreturn); nothing is to be stored in RAX.
    Resume,
    /// Asked for something that would be wrong if it were pretended; the run stops with this message.
    Refuse(String),
}

impl From<Errno> for Break {
    fn from(errno: Errno) -> Self {
        Break::Errno(errno)
    }
}

/// What a handler gives back: the value for RAX, or why there is none.
pub type SysResult = Result<u64, Break>;

/// A successful execve(2), for the session to carry out.
#[derive(Clone, Debug)]
pub struct ExecRequest {
    /// Absolute path of the program in the guest's view; `#!` is not yet followed.
    pub path: String,
    /// The name as the program gave it: AT_EXECFN, the argument of a `#!` interpreter, and the task's name.
    pub filename: Vec<u8>,
    /// Arguments.
    pub argv: Vec<Vec<u8>>,
    /// Environment.
    pub envp: Vec<Vec<u8>>,
}

/// What the session has to do after a system call or a fault.
#[derive(Debug)]
pub enum Action {
    /// Go on.
    Continue,
    /// The process ended with this status.
    Exit(i32),
    /// The process was ended by this signal.
    Killed(i32),
    /// Load another program.
    Exec(ExecRequest),
    /// The user asked for something while the call waited; nothing has happened yet.
    GivenUp,
    /// Stop the run: this cannot be emulated faithfully.
    Refuse(String),
}

/// An open descriptor, for people.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Its number.
    pub number: i32,
    /// What was opened.
    pub path: String,
    /// Where the next read or write is, if that has a meaning.
    pub offset: u64,
    /// What it is.
    pub kind: &'static str,
}

/// What the outside decides about the emulated machine before it starts.
#[derive(Clone, Debug)]
pub struct KernelConfig {
    /// Host directories that the guest may change; everything else it writes goes to the overlay.
    pub allow_write: Vec<PathBuf>,
    /// Host directory the guest starts in.
    pub cwd: PathBuf,
    /// Seed of the guest's random bytes.
    pub seed: u64,
    /// Bytes the guest may hold in memory and in files of the overlay together.
    pub memory_limit: u64,
    /// Not zero when the user has asked the run to end: no call waits for the host any longer.
    pub interrupt: Arc<AtomicUsize>,
    /// Who shares the host's streams with the guest, if anybody.
    pub front: Option<Arc<dyn TerminalObserver>>,
    /// What the guest reads instead of the host's standard input.
    pub input: Option<Arc<File>>,
    /// Whether what comes from the host's streams is kept, so that the run can go back.
    pub journal: bool,
}

/// Whoever prints on the terminal of the guest's streams and has to stand back when the guest uses them.
pub trait TerminalObserver: std::fmt::Debug + Send + Sync {
    /// The guest is about to read stream 0, 1 or 2 of the host.
    fn reading(&self, stream: u8);
    /// The guest is about to write `bytes` to stream 0, 1 or 2 of the host.
    fn writing(&self, stream: u8, bytes: &[u8]);
}

/// The emulated kernel: a list of parts, each of which lives in a file of its own and keeps its own rules.
/// Every part is a plain value, so that a checkpoint can copy the kernel: a copy must share nothing that changes with
/// the original.
#[derive(Clone)]
pub struct Kernel {
    /// Files and directories: the host's beneath, the overlay above.
    pub fs: FileSystem,
    /// Open descriptors.
    pub fds: FdTable,
    /// Who the process is: ids, names, limits, working directory.
    pub process: Process,
    /// Signal actions, masks and what is pending.
    pub signals: Signals,
    /// The clock, made of executed instructions.
    pub clock: Clock,
    /// The stream behind getrandom(2), /dev/urandom and AT_RANDOM.
    pub random: Random,
    /// Lines for the log that a call left behind (unknown calls, refused flags), taken by the session.
    pub notices: Notices,
}

impl Kernel {
    /// A kernel with an empty process in it.
    pub fn new(config: &KernelConfig) -> Kernel {
        Kernel {
            fs: FileSystem::new(config),
            fds: FdTable::new(),
            process: Process::new(),
            signals: Signals::new(),
            clock: Clock::new(),
            random: Random::new(config.seed),
            notices: Notices::default(),
        }
    }

    /// The open descriptors, for people.
    pub fn open_files(&self) -> Vec<OpenFile> {
        let files = self.fds.numbers().filter_map(|number| {
            let open = self.fs.files.get(self.fds.get(number).ok()?);
            Some(OpenFile {
                number,
                path: String::from_utf8_lossy(&open.path).into_owned(),
                offset: open.offset,
                kind: open.kind.name(),
            })
        });
        files.collect()
    }

    /// Serves the system call whose number and arguments are in the registers, as the x86-64 ABI has it, and
    /// then delivers a pending signal if there is one. RAX, RCX and R11 are set as the instruction sets them.
    pub fn syscall(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Action {
        // The kernel looks at the low half only.
        let number = u64::from(cpu.gpr(Gpr::Rax) as u32);
        let args = [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::R10, Gpr::R8, Gpr::R9].map(|reg| cpu.gpr(reg));
        let clobbered = [Gpr::Rcx, Gpr::R11].map(|reg| (reg, cpu.gpr(reg)));
        cpu.set_gpr(Gpr::Rcx, cpu.rip());
        cpu.set_gpr(Gpr::R11, cpu.rflags());
        let mut ctx = Ctx { kernel: self, cpu, mem };
        let result = match table::find(number) {
            Some(row) => (row.handler)(&mut ctx, args),
            None => Err(unknown(&mut ctx, number)),
        };
        if ctx.kernel.fs.streams.take_given_up() {
            for (reg, value) in clobbered {
                ctx.cpu.set_gpr(reg, value);
            }
            return Action::GivenUp;
        }
        match result {
            Ok(value) => ctx.cpu.set_gpr(Gpr::Rax, value),
            Err(Break::Errno(errno)) => ctx.cpu.set_gpr(Gpr::Rax, errno.to_rax()),
            Err(Break::Resume) => {}
            Err(Break::Exit(status)) => return Action::Exit(status),
            Err(Break::Exec(request)) => return Action::Exec(request),
            Err(Break::Refuse(why)) => return Action::Refuse(why),
        }
        signal::deliver_pending(&mut ctx)
    }

    /// Between two instructions of the program: timers that are due send their signals, and what is pending and not
    /// blocked is delivered.
    pub fn interrupt(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Action {
        signal::deliver_pending(&mut Ctx { kernel: self, cpu, mem })
    }

    /// Turns a fault of the CPU into its signal: runs the guest's handler, or ends the process.
    pub fn fault(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory, fault: Fault) -> Action {
        signal::deliver_fault(&mut Ctx { kernel: self, cpu, mem }, fault)
    }
}

fn unknown(ctx: &mut Ctx, number: u64) -> Break {
    ctx.kernel.notices.once(format!("unknown system call {number}: answered with ENOSYS"));
    Break::Errno(Errno::ENOSYS)
}
