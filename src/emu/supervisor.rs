//! The narrow way from the machine to whoever runs it.

use crate::emu::memory::space::{AddressSpace, FileArea};
use crate::guest::{Fault, GuestCpu, GuestMemory};
use crate::hooks::plan::MappingId;
use crate::x86::decode::Refusal;

/// Whether the guest goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It does, from where the registers say.
    Continue,
    /// The run ends here.
    Stop,
    /// An answer to `tick`: the CPU pauses here for `interrupt`.
    Interrupt,
    /// An answer to `syscall` or `request`: the run ends here as if that had not been reached.
    Undo,
}

/// An instruction that the machine will not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its address.
    pub pc: u64,
    /// Why.
    pub why: Refusal,
}

/// Serves what the guest asks for. Called from inside the run, so it must not touch the machine but through
/// what it is given.
pub trait Supervisor {
    /// A system call.
    fn syscall(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Next;

    /// A client request of Valgrind's, whose words RAX points to; the next instruction is behind it. Where the words
    /// cannot be read, the address is the error.
    fn request(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Result<Next, u64>;

    /// A fault; `refused` says which instruction was refused if that was the cause, `mapping` which file the
    /// instruction is from.
    fn fault(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut AddressSpace,
        fault: Fault,
        refused: Option<Refused>,
        mapping: MappingId,
    ) -> Next;

    /// The memory limit stopped an access.
    fn out_of_memory(&mut self, cpu: &mut dyn GuestCpu);

    /// A number for the file that code is about to be translated from; the same for the same file and origin.
    fn mapping_of(&mut self, file: Option<FileArea<'_>>) -> MappingId;

    /// Something about the code at `pc` that the user should know, once.
    fn notice(&mut self, pc: u64, what: &'static str);

    /// Called every so often, at the start of a block. `instructions` is how many have been executed if that is as
    /// many as `instructions_left` wanted, else fewer.
    fn tick(&mut self, instructions: u64, resident: u64) -> Next;

    /// The pause that `tick` asked for: something outside the program, a timer, may want to be heard. Never answers
    /// with [`Next::Interrupt`].
    fn interrupt(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Next;

    /// Control is at a breakpoint, and the instruction there has not run.
    fn breakpoint(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Next;

    /// How many instructions after the first `executed` `tick` has to be called, exactly there whatever blocks the
    /// code falls into; `None` if it does not matter.
    fn instructions_left(&self, executed: u64) -> Option<u64>;

    /// A number for RDRAND and RDSEED.
    fn random(&mut self) -> u64;
}
