//! Registers of the running task.

/// The general registers, numbered as the instruction encoding numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Gpr {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rsp = 4,
    Rbp = 5,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
    R12 = 12,
    R13 = 13,
    R14 = 14,
    R15 = 15,
}

impl Gpr {
    /// All of them, by number.
    pub const ALL: [Gpr; 16] = [
        Gpr::Rax,
        Gpr::Rcx,
        Gpr::Rdx,
        Gpr::Rbx,
        Gpr::Rsp,
        Gpr::Rbp,
        Gpr::Rsi,
        Gpr::Rdi,
        Gpr::R8,
        Gpr::R9,
        Gpr::R10,
        Gpr::R11,
        Gpr::R12,
        Gpr::R13,
        Gpr::R14,
        Gpr::R15,
    ];
}

/// The registers of the running task.
pub trait GuestCpu {
    /// A general register.
    fn gpr(&self, reg: Gpr) -> u64;
    /// Sets a general register.
    fn set_gpr(&mut self, reg: Gpr, value: u64);
    /// The next instruction to run; during a system call the one after `syscall`.
    fn rip(&self) -> u64;
    /// Sets the next instruction to run.
    fn set_rip(&mut self, value: u64);
    /// RFLAGS.
    fn rflags(&self) -> u64;
    /// Sets the flags a user program may set.
    fn set_rflags(&mut self, value: u64);
    /// Base of the FS segment (the thread pointer).
    fn fs_base(&self) -> u64;
    /// Sets the base of the FS segment.
    fn set_fs_base(&mut self, value: u64);
    /// Base of the GS segment.
    fn gs_base(&self) -> u64;
    /// Sets the base of the GS segment.
    fn set_gs_base(&mut self, value: u64);
    /// x87, MMX and SSE state as FXSAVE64 stores it (Intel SDM vol. 1, 10.5.1).
    fn fpu(&self) -> Box<[u8; 512]>;
    /// Loads x87, MMX and SSE state from an FXSAVE64 image.
    fn set_fpu(&mut self, image: &[u8; 512]);
    /// Instructions executed since the program started, this one included. The guest's clock is
    /// made of it.
    fn instructions(&mut self) -> u64;
    /// Switches counting on or off from here on. Returns whether that is a change.
    fn set_counting(&mut self, counting: bool) -> bool;
    /// Returns whether calls are followed, so that there is a call graph.
    fn follows_calls(&self) -> bool {
        false
    }
    /// Makes a part of the call graph's costs so far, for the reason with this number.
    fn dump_costs(&mut self, _reason: u32) {}
    /// Sets the call graph's costs to zero.
    fn zero_costs(&mut self) {}
    /// Switches collection of the call graph's costs on or off.
    fn toggle_collection(&mut self) {}
    /// Learns that a signal's handler is the next to run.
    fn signal_begins(&mut self) {}
    /// Learns that a signal's handler has returned, and the registers are those of what it
    /// interrupted.
    fn signal_returned(&mut self) {}
}
