//! Signals: signal(7), sigaction(2), sigaltstack(2).

/// Signal numbers of the x86-64 ABI, signal(7), that the kernel sends or treats specially.
#[allow(missing_docs)]
pub(crate) mod signo {
    pub(crate) const SIGHUP: i32 = 1;
    pub(crate) const SIGINT: i32 = 2;
    pub(crate) const SIGQUIT: i32 = 3;
    pub(crate) const SIGILL: i32 = 4;
    pub(crate) const SIGTRAP: i32 = 5;
    pub(crate) const SIGABRT: i32 = 6;
    pub(crate) const SIGBUS: i32 = 7;
    pub(crate) const SIGFPE: i32 = 8;
    pub(crate) const SIGKILL: i32 = 9;
    pub(crate) const SIGSEGV: i32 = 11;
    pub(crate) const SIGPIPE: i32 = 13;
    pub(crate) const SIGALRM: i32 = 14;
    pub(crate) const SIGCHLD: i32 = 17;
    pub(crate) const SIGCONT: i32 = 18;
    pub(crate) const SIGSTOP: i32 = 19;
    pub(crate) const SIGTSTP: i32 = 20;
    pub(crate) const SIGTTIN: i32 = 21;
    pub(crate) const SIGTTOU: i32 = 22;
    pub(crate) const SIGURG: i32 = 23;
    pub(crate) const SIGXCPU: i32 = 24;
    pub(crate) const SIGXFSZ: i32 = 25;
    pub(crate) const SIGVTALRM: i32 = 26;
    pub(crate) const SIGPROF: i32 = 27;
    pub(crate) const SIGWINCH: i32 = 28;
    pub(crate) const SIGIO: i32 = 29;
    pub(crate) const SIGSYS: i32 = 31;
    /// First real-time signal of the kernel; the C library keeps the first two or three for itself.
    pub(crate) const SIGRTMIN: i32 = 32;
    /// Highest signal.
    pub(crate) const SIGRTMAX: i32 = 64;
}

/// Values of `si_code`, sigaction(2).
#[allow(missing_docs)]
pub(crate) mod si_code {
    pub(crate) const SI_USER: i32 = 0;
    pub(crate) const SI_KERNEL: i32 = 0x80;
    pub(crate) const SI_TIMER: i32 = -2;
    pub(crate) const SI_MESGQ: i32 = -3;
    pub(crate) const SI_QUEUE: i32 = -1;
    pub(crate) const SI_SIGIO: i32 = -5;
    pub(crate) const SI_TKILL: i32 = -6;
    pub(crate) const SEGV_MAPERR: i32 = 1;
    pub(crate) const SEGV_ACCERR: i32 = 2;
    pub(crate) const BUS_ADRALN: i32 = 1;
    pub(crate) const BUS_ADRERR: i32 = 2;
    pub(crate) const ILL_ILLOPN: i32 = 2;
    pub(crate) const FPE_INTDIV: i32 = 1;
    pub(crate) const FPE_FLTDIV: i32 = 3;
    pub(crate) const FPE_FLTOVF: i32 = 4;
    pub(crate) const FPE_FLTUND: i32 = 5;
    pub(crate) const FPE_FLTRES: i32 = 6;
    pub(crate) const FPE_FLTINV: i32 = 7;
    pub(crate) const SYS_SECCOMP: i32 = 1;
    pub(crate) const SYS_USER_DISPATCH: i32 = 2;
    pub(crate) const TRAP_BRKPT: i32 = 1;
    pub(crate) const TRAP_TRACE: i32 = 2;
}

/// `sa_handler` for the default action.
pub(crate) const SIG_DFL: u64 = 0;
/// `sa_handler` to ignore the signal.
pub(crate) const SIG_IGN: u64 = 1;

/// Flags of sigaction(2).
#[allow(missing_docs)]
pub(crate) mod sa {
    pub(crate) const NOCLDSTOP: u64 = 1;
    pub(crate) const NOCLDWAIT: u64 = 2;
    pub(crate) const SIGINFO: u64 = 4;
    pub(crate) const ONSTACK: u64 = 0x0800_0000;
    pub(crate) const RESTORER: u64 = 0x0400_0000;
    pub(crate) const RESTART: u64 = 0x1000_0000;
    pub(crate) const NODEFER: u64 = 0x4000_0000;
    pub(crate) const RESETHAND: u64 = 0x8000_0000;
}

/// Flags that sigaction(2) keeps; it clears the others, so that programs can tell what is known.
pub(crate) const SA_FLAGS: u64 = 0xdc00_0807;

/// rt_sigprocmask(2): adds to the blocked signals.
pub(crate) const SIG_BLOCK: i32 = 0;
/// rt_sigprocmask(2): takes from the blocked signals.
pub(crate) const SIG_UNBLOCK: i32 = 1;
/// rt_sigprocmask(2): replaces the blocked signals.
pub(crate) const SIG_SETMASK: i32 = 2;

/// Flags of sigaltstack(2).
#[allow(missing_docs)]
pub(crate) mod ss {
    pub(crate) const ONSTACK: u32 = 1;
    pub(crate) const DISABLE: u32 = 2;
    pub(crate) const AUTODISARM: u32 = 0x8000_0000;
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
pub(crate) const MINSIGSTKSZ: u64 = 2048;
/// Bytes of the kernel's `sigset_t`.
pub(crate) const SIGSET_SIZE: u64 = 8;

/// The bit of a signal in a `sigset_t`; 0 for a number that is not a signal.
pub(crate) fn bit(signo: i32) -> u64 {
    if (1..=signo::SIGRTMAX).contains(&signo) { 1 << (signo - 1) } else { 0 }
}

/// SIGKILL and SIGSTOP, which cannot be blocked or handled.
pub(crate) const UNBLOCKABLE: u64 = 1 << (signo::SIGKILL - 1) | 1 << (signo::SIGSTOP - 1);
