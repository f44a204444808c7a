//! The virtual CPU: all that callbacks of the engine and generated code reach, one per engine, on
//! the thread that runs it.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr::NonNull;

use crate::emu::cpuid::CpuModel;
use crate::emu::memory::space::AddressSpace;
use crate::emu::supervisor::{Next, Supervisor};
use crate::emu::unicorn::engine_state::EngineState;
use crate::emu::unicorn::helpers::env::Before;
use crate::emu::unicorn::jump_cache::Targets;
use crate::emu::unicorn::mmu::Mmu;
use crate::emu::unicorn::reference::Reference;
use crate::emu::unicorn::registers::Cpu;
use crate::emu::unicorn::run_control::{Leave, RunControl};
use crate::emu::unicorn::trace_buffer::TraceBuffer;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::branch::{ADDRESSES, Words};
use crate::hooks::record::MAX_BLOCK;

/// The parts of a virtual CPU. It must not move once code was translated, since that has the
/// addresses of some members.
pub(super) struct Vcpu {
    pub(super) state: EngineState,
    pub(super) mmu: Mmu,
    pub(super) trace: TraceBuffer,
    pub(super) run: RunControl,
    pub(super) translator: Translator,
    /// Word that generated code sets to 1 if the instruction at hand jumps or iterates.
    pub(super) outcome: u64,
    /// Addresses of the data of the instruction at hand, if its events are told together.
    pub(super) addresses: Box<[u64; ADDRESSES]>,
    /// Times that pass while the block runs that was translated last.
    pub(super) times: u32,
    /// Words by which generated code drives predictors and caches, if it does.
    pub(super) words: Option<Words>,
    /// The reference producer; `None` when generated code writes the trace.
    pub(super) reference: Option<Reference>,
    /// The CPU that the guest sees in CPUID.
    pub(super) model: CpuModel,
    /// The state before an arithmetic instruction that may raise an exception that is not masked.
    pub(super) before: Before,
    /// SSE exceptions that earlier steps of that instruction have raised.
    pub(super) raised_earlier: u8,
    /// The x87 instruction at hand must not store its result.
    pub(super) refused: bool,
}

/// A virtual CPU that callbacks reach, and by itself its table of jumps, which blocks that are
/// dropped leave while other parts of the virtual CPU are at work.
type Reached = (NonNull<Vcpu>, NonNull<Targets>);

thread_local! {
    static CURRENT: Cell<Option<Reached>> = const { Cell::new(None) };
}

/// Makes a virtual CPU the one that callbacks on this thread reach, until dropped.
pub(super) struct Entered(Option<Reached>);

impl Entered {
    /// Enters; `vcpu` must not move until the result is dropped.
    pub(super) fn new(vcpu: &mut Vcpu) -> Entered {
        let targets = NonNull::from(&**vcpu.mmu.jumps().targets());
        Entered(CURRENT.replace(Some((NonNull::from(vcpu), targets))))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The virtual CPU of the engine that is calling.
///
/// # Safety
/// Called only from callbacks of the engine, which run inside [`Entered`]. The result is not used
/// across a call of the engine that may call back.
pub(super) unsafe fn current<'a>() -> Option<&'a mut Vcpu> {
    // SAFETY: the pointer was made from a live value by `Entered`, which outlives the engine's
    // call.
    CURRENT.get().map(|(mut vcpu, _)| unsafe { vcpu.as_mut() })
}

/// The table of jumps of the virtual CPU of the engine that is calling.
///
/// # Safety
/// Called only from callbacks of the engine, which run inside [`Entered`].
pub(super) unsafe fn targets<'a>() -> Option<&'a Targets> {
    // SAFETY: the virtual CPU keeps its table, which is changed by cells only.
    CURRENT.get().map(|(_, targets)| unsafe { targets.as_ref() })
}

impl Vcpu {
    /// Lets generated code write the trace again after [`TraceBuffer::sync`].
    pub(super) fn resume_trace(&mut self) {
        self.trace.resume(self.run.is_leaving());
    }

    /// Makes the engine leave its loop at the next block.
    pub(super) fn leave(&mut self, why: Leave) {
        self.run.leave(why);
        self.trace.stop();
        self.state.stop();
    }

    /// Makes the engine's caches follow the address space.
    pub(super) fn invalidate(&mut self) {
        self.mmu.invalidate(&mut self.state);
    }

    /// The registers.
    pub(super) fn cpu(&mut self) -> Cpu<'_> {
        Cpu::new(&mut self.state, self.trace.recorder())
    }

    /// The supervisor, the registers and the memory, while the guest runs.
    pub(super) fn supervised(&mut self) -> Option<(&mut dyn Supervisor, Cpu<'_>, &mut AddressSpace)> {
        let cpu = Cpu::new(&mut self.state, self.trace.recorder());
        Some((self.run.supervisor()?, cpu, self.mmu.space()))
    }

    /// Serves a block of so many instructions that asks before it starts: the buffer is full, or
    /// the supervisor wants to know.
    pub(super) fn ask(&mut self, instructions: u64) {
        self.trace.sync();
        let executed = self.executed();
        self.trace.flush_if_full();
        self.drop_hot();
        if self.trace.recorder().misses_much() {
            self.leave(Leave::TraceCaches);
        }
        let resident = self.mmu.resident();
        let next =
            self.run.supervisor().map_or(Next::Continue, |supervisor| supervisor.tick(executed, resident));
        let left = self.reschedule();
        // A block at a breakpoint asks even if it is the one whose length was limited.
        let (reached, is_limited) = self.run.take_reached();
        let near = left.filter(|&left| left > 0 && left < self.trace.longest_block());
        let fits = is_limited || near.is_some_and(|left| instructions <= left);
        match next {
            Next::Continue if near.is_some() && !fits => self.leave(Leave::Approach),
            Next::Continue => {}
            Next::Stop | Next::Undo => self.leave(Leave::Stop),
            Next::Interrupt => self.leave(Leave::Interrupt),
        }
        if reached != 0 && self.run.stops_at(reached) {
            self.leave(Leave::Breakpoint);
        }
        if fits && !self.run.is_leaving() {
            self.trace.ask_after_next_block();
        }
        self.resume_trace();
    }

    /// Instructions executed: exactly where the supervisor may want to be called within a block,
    /// else the number that is known without waiting for the consumers.
    fn executed(&mut self) -> u64 {
        let most = self.trace.recorder().instructions_at_most();
        match self.run.instructions_left(most) {
            Some(left) if left < MAX_BLOCK => self.trace.recorder().instructions(),
            _ => self.trace.recorder().instructions_seen(),
        }
    }

    /// Arranges the next question so that it comes before the instruction at which the supervisor
    /// wants to be called. Returns the instructions left until then, exactly if they are fewer than
    /// a block may have.
    pub(super) fn reschedule(&mut self) -> Option<u64> {
        let most = self.trace.recorder().instructions_at_most();
        let mut left = self.run.instructions_left(most);
        if left.is_some_and(|left| left < MAX_BLOCK) {
            let executed = self.trace.recorder().instructions();
            left = self.run.instructions_left(executed);
        }
        self.trace.ask_within(left);
        left
    }

    /// Arranges the next question and the length of the next block. Only before the engine is
    /// started.
    pub(super) fn prepare(&mut self) {
        let longest = self.trace.longest_block();
        if let Some(left) = self.reschedule().filter(|&left| left > 0 && left < longest) {
            self.trace.flush_if_full();
            self.state.limit_next_block(left as u32);
            self.run.set_limited(self.state.rip());
            self.trace.ask_after_next_block();
        }
    }
}
