//! Signals: signal(7), sigaction(2), sigaltstack(2).

/// Signal numbers of the x86-64 ABI, signal(7), that the kernel sends or treats specially.
#[allow(missing_docs)]
pub mod signo {
    pub const SIGILL: i32 = 4;
    pub const SIGTRAP: i32 = 5;
    pub const SIGBUS: i32 = 7;
    pub const SIGFPE: i32 = 8;
    pub const SIGKILL: i32 = 9;
    pub const SIGSEGV: i32 = 11;
    pub const SIGPIPE: i32 = 13;
    pub const SIGALRM: i32 = 14;
    pub const SIGCHLD: i32 = 17;
    pub const SIGCONT: i32 = 18;
    pub const SIGSTOP: i32 = 19;
    pub const SIGTSTP: i32 = 20;
    pub const SIGTTIN: i32 = 21;
    pub const SIGTTOU: i32 = 22;
    pub const SIGURG: i32 = 23;
    pub const SIGXFSZ: i32 = 25;
    pub const SIGVTALRM: i32 = 26;
    pub const SIGPROF: i32 = 27;
    pub const SIGWINCH: i32 = 28;
    pub const SIGSYS: i32 = 31;
    /// First real-time signal of the kernel; the C library keeps the first two or three for itself.
    pub const SIGRTMIN: i32 = 32;
    /// Highest signal.
    pub const SIGRTMAX: i32 = 64;
}

/// Values of `si_code`, sigaction(2).
#[allow(missing_docs)]
pub mod si_code {
    pub const SI_USER: i32 = 0;
    pub const SI_KERNEL: i32 = 0x80;
    pub const SI_TIMER: i32 = -2;
    pub const SI_TKILL: i32 = -6;
    pub const SEGV_MAPERR: i32 = 1;
    pub const SEGV_ACCERR: i32 = 2;
    pub const BUS_ADRALN: i32 = 1;
    pub const BUS_ADRERR: i32 = 2;
    pub const ILL_ILLOPN: i32 = 2;
    pub const FPE_INTDIV: i32 = 1;
    pub const FPE_FLTDIV: i32 = 3;
    pub const FPE_FLTOVF: i32 = 4;
    pub const FPE_FLTUND: i32 = 5;
    pub const FPE_FLTRES: i32 = 6;
    pub const FPE_FLTINV: i32 = 7;
    pub const TRAP_BRKPT: i32 = 1;
    pub const TRAP_TRACE: i32 = 2;
}

/// `sa_handler` for the default action.
pub const SIG_DFL: u64 = 0;
/// `sa_handler` to ignore the signal.
pub const SIG_IGN: u64 = 1;

/// Flags of sigaction(2).
#[allow(missing_docs)]
pub mod sa {
    pub const SIGINFO: u64 = 4;
    pub const ONSTACK: u64 = 0x0800_0000;
    pub const RESTORER: u64 = 0x0400_0000;
    pub const RESTART: u64 = 0x1000_0000;
    pub const NODEFER: u64 = 0x4000_0000;
    pub const RESETHAND: u64 = 0x8000_0000;
}

/// Flags that sigaction(2) keeps; it clears the others, so that programs can tell what is known.
pub const SA_FLAGS: u64 = 0xdc00_0807;

/// rt_sigprocmask(2): adds to the blocked signals.
pub const SIG_BLOCK: i32 = 0;
/// rt_sigprocmask(2): takes from the blocked signals.
pub const SIG_UNBLOCK: i32 = 1;
/// rt_sigprocmask(2): replaces the blocked signals.
pub const SIG_SETMASK: i32 = 2;

/// Flags of sigaltstack(2).
#[allow(missing_docs)]
pub mod ss {
    pub const ONSTACK: u32 = 1;
    pub const DISABLE: u32 = 2;
    pub const AUTODISARM: u32 = 0x8000_0000;
}

/// `struct sigaction` as rt_sigaction(2) passes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SigAction {
    /// `SIG_DFL`, `SIG_IGN` or the handler's address.
    pub handler: u64,
    /// `SA_*`.
    pub flags: u64,
    /// Address that the handler returns to.
    pub restorer: u64,
    /// Signals blocked while the handler runs.
    pub mask: u64,
}

/// The alternate stack of a task, `stack_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AltStack {
    /// Lowest address.
    pub sp: u64,
    /// `SS_DISABLE` or `SS_AUTODISARM`, as last set.
    pub flags: u32,
    /// Bytes; 0 where there is none.
    pub size: u64,
}

impl AltStack {
    /// No alternate stack.
    pub const NONE: AltStack = AltStack { sp: 0, flags: ss::DISABLE, size: 0 };

    /// Returns whether a stack pointer lies on it, whatever its flags (`__on_sig_stack`).
    pub fn contains(&self, sp: u64) -> bool {
        sp > self.sp && sp - self.sp <= self.size
    }

    /// Returns whether the task counts as running on it (`on_sig_stack`).
    pub fn active(&self, sp: u64) -> bool {
        self.flags & ss::AUTODISARM == 0 && self.contains(sp)
    }
}

/// Least size of an alternate stack, as in the headers; the kernel needs no more without XSAVE.
pub const MINSIGSTKSZ: u64 = 2048;
/// Bytes of the kernel's `sigset_t`.
pub const SIGSET_SIZE: u64 = 8;

/// The bit of a signal in a `sigset_t`; 0 for a number that is not a signal.
pub fn bit(signo: i32) -> u64 {
    if (1..=signo::SIGRTMAX).contains(&signo) { 1 << (signo - 1) } else { 0 }
}

/// SIGKILL and SIGSTOP, which cannot be blocked or handled.
pub const UNBLOCKABLE: u64 = 1 << (signo::SIGKILL - 1) | 1 << (signo::SIGSTOP - 1);
