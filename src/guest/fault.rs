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
    /// A non-canonical address or a privileged instruction (#GP; SIGSEGV with si_addr 0).
    Protection,
    /// #DE.
    Divide,
    /// #UD.
    InvalidOpcode,
    /// #BP, from `int3`.
    Breakpoint,
    /// #DB, from the trap flag or `icebp`.
    Debug,
    /// #MF or #XM.
    FloatingPoint,
    /// #AC.
    Alignment,
}
