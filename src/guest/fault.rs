//! Exceptions of the CPU.

/// A fault of the guest's CPU, as the kernel has to tell the guest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access that the page tables do not allow.
    Page {
        /// Address of the access.
        addr: u64,
        /// A write.
        write: bool,
        /// An instruction fetch.
        fetch: bool,
        /// Something is mapped there (SEGV_ACCERR), or nothing is (SEGV_MAPERR).
        mapped: bool,
    },
    /// A page past the end of a mapped file (SIGBUS, BUS_ADRERR).
    Bus {
        /// Address of the access.
        addr: u64,
    },
    /// A non-canonical address, a bad selector or a privileged instruction (#GP; SIGSEGV with
    /// si_addr 0).
    Protection {
        /// Error code: the selector or interrupt vector as the CPU names it, otherwise 0.
        error: u16,
    },
    /// A non-canonical address in an access to the stack (#SS; SIGBUS with si_addr 0).
    Stack,
    /// A store that the kernel makes in place of the CPU's (SGDT and its kin; SIGSEGV).
    KernelStore {
        /// Start of the operand.
        addr: u64,
    },
    /// #OF, from `int 4`.
    Overflow,
    /// #DE.
    Divide,
    /// #UD.
    InvalidOpcode,
    /// #BP, from `int3`.
    Breakpoint,
    /// #DB, from the trap flag.
    Debug,
    /// #DB by INT1 (ICEBP), the instruction before RIP.
    Icebp,
    /// #MF or #XM.
    FloatingPoint,
    /// #AC.
    Alignment,
}
