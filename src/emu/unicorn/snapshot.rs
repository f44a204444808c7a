//! What can be done with a machine between two runs: breakpoints, checkpoints, and a look at the simulators.

use rustc_hash::FxHashSet;
use unicorn_engine::Context;

use crate::emu::memory::snapshot::SavedSpace;
use crate::emu::unicorn::{EngineError, Machine, engine_error};
use crate::hooks::consumer::{Consumer, Watched};
use crate::hooks::recorder::Recorded;

/// A machine as it was: CPU, memory, simulators and counts. It has to be given back to [`Machine::forget`].
pub struct SavedMachine {
    cpu: Context,
    space: SavedSpace,
    recorded: Recorded,
}

impl SavedMachine {
    /// Instructions that had been executed.
    pub fn instructions(&self) -> u64 {
        self.recorded.instructions()
    }
}

impl Machine {
    /// Makes the CPU ask before the instructions at these addresses, and at no others.
    pub fn set_breakpoints(&mut self, addresses: FxHashSet<u64>) {
        let door = &mut *self.door;
        for &addr in addresses.symmetric_difference(&door.breakpoints) {
            // The blocks there are made again.
            door.space.retranslate(addr);
        }
        door.breakpoints = addresses;
    }

    /// The breakpoint at the next instruction, if there is one, has been dealt with.
    pub fn pass_breakpoint(&mut self) {
        self.door.passed = Some(self.door.parts.eip());
    }

    /// The machine as it is now.
    ///
    /// # Errors
    /// When the engine has no memory.
    pub fn save(&mut self) -> Result<SavedMachine, EngineError> {
        let mut cpu = self.engine.context_alloc().map_err(engine_error("cannot save the CPU"))?;
        self.engine.context_save(&mut cpu).map_err(engine_error("cannot save the CPU"))?;
        let door = &mut *self.door;
        Ok(SavedMachine { cpu, space: door.space.save(), recorded: door.recorder.save() })
    }

    /// The machine becomes what it was when `saved` was made of it.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn restore(&mut self, saved: &SavedMachine) -> Result<(), EngineError> {
        self.engine.context_restore(&saved.cpu).map_err(engine_error("cannot restore the CPU"))?;
        let door = &mut *self.door;
        door.space.restore(&saved.space);
        door.recorder.restore(&saved.recorded);
        door.passed = None;
        Ok(())
    }

    /// Gives up what `saved` holds.
    pub fn forget(&mut self, saved: SavedMachine) {
        self.door.space.forget(saved.space);
    }

    /// Calls `f` with each consumer as it is when it has seen everything that has run.
    pub fn visit_consumers(&mut self, f: impl FnMut(&Consumer)) {
        self.door.recorder.visit(f);
    }

    /// Forgets what was counted. Caches and predictors stay as they are.
    pub fn zero(&mut self) {
        self.door.recorder.zero();
    }

    /// Watches accesses to these ranges, and to no others, from here on.
    pub fn watch(&mut self, ranges: &[Watched]) {
        self.door.recorder.watch(ranges);
    }

    /// Whether what runs from here on is counted.
    pub fn set_counting(&mut self, counting: bool) {
        let pc = self.door.parts.eip();
        self.door.recorder.set_counting(counting, pc);
    }
}
