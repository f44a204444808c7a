//! The interface from the machine to whoever runs it.

use crate::emu::memory::space::{AddressSpace, FileArea};
use crate::guest::{Fault, GuestCpu};
use crate::hooks::callgraph::facts::CodePlace;
use crate::hooks::plan::MappingId;
use crate::x86::decode::Refusal;

/// Continuation of the run after a call of the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The guest goes on, from where the registers say.
    Continue,
    /// The run ends here.
    Stop,
    /// The CPU pauses here for `interrupt`; an answer to `tick`.
    Interrupt,
    /// The run ends here as if the instruction had not been reached; an answer to `syscall` or
    /// `request`.
    Undo,
}

/// An instruction that the machine will not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Its address.
    pub(crate) pc: u64,
    /// Reason.
    pub(crate) why: Refusal,
}

/// Serves the guest. Called from inside the run, so it accesses the machine only through its
/// arguments.
pub(crate) trait Supervisor {
    /// Serves a system call.
    fn syscall(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Next;

    /// Serves a client request of Valgrind's, whose words RAX points to; RIP is after it.
    ///
    /// # Errors
    /// The address of the first word that cannot be read.
    fn request(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Result<Next, u64>;

    /// Serves a fault of an instruction from the file `mapping`; `refused` is the instruction that
    /// the machine does not run, if that was the cause.
    fn fault(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut AddressSpace,
        fault: Fault,
        refused: Option<Refused>,
        mapping: MappingId,
    ) -> Next;

    /// Learns that the memory limit has stopped an access.
    fn out_of_memory(&mut self, cpu: &mut dyn GuestCpu);

    /// Learns that a block was translated, and the bytes that are kept for the code of the run. May
    /// stop the run before the block.
    fn translated(&mut self, bytes: u64) -> Next;

    /// Numbers the file that code is about to be translated from, by the file and its origin.
    fn mapping_of(&mut self, file: Option<FileArea<'_>>) -> MappingId;

    /// Finds what the call graph needs to know of the code at `pc`, which is in this mapping.
    fn code_place(&mut self, mapping: MappingId, pc: u64) -> CodePlace {
        let _ = (mapping, pc);
        CodePlace::default()
    }

    /// Tells if the first execution of the code at `pc`, which is in this mapping, begins the
    /// counts of its process.
    fn begins_counts(&mut self, mapping: MappingId, pc: u64) -> bool {
        let _ = (mapping, pc);
        false
    }

    /// Notes something about the code at `pc` that the user should be told once.
    fn notice(&mut self, pc: u64, file: Option<FileArea<'_>>, what: &'static str);

    /// Checks the state of the run, at the start of some blocks. `instructions` is the exact number
    /// executed where `instructions_left` asked for the call, otherwise a lower bound; `resident`
    /// is the guest's memory in bytes.
    fn tick(&mut self, instructions: u64, resident: u64) -> Next;

    /// Delivers what `tick` paused the CPU for, such as a timer's signal. Never answers
    /// [`Next::Interrupt`].
    fn interrupt(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Next;

    /// Serves a breakpoint, whose instruction has not run.
    fn breakpoint(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Next;

    /// Number of instructions, after the first `executed`, at which `tick` has to be called, in the
    /// middle of a block too; `None` for no such call.
    fn instructions_left(&self, executed: u64) -> Option<u64>;

    /// Draws a number for RDRAND or RDSEED.
    fn random(&mut self) -> u64;

    /// Tells if the running task may read the time-stamp counter; CR4.TSD forbids it.
    fn may_read_tsc(&self) -> bool;
}
