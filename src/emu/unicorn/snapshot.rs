//! Operations on a machine between two runs: breakpoints, snapshots, and access to the simulators.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use unicorn_engine::Context;

use crate::emu::memory::snapshot::SavedSpace;
use crate::emu::memory::space::AddressSpace;
use crate::emu::unicorn::machine::{EngineError, Machine, engine_error};
use crate::emu::unicorn::vcpu::Vcpu;
use crate::guest::{GuestCpu, SpaceId};
use crate::hooks::consumer::{Consumer, Sighting, Target};
use crate::hooks::control::AccountId;
use crate::hooks::recorder::Recorder;
use crate::hooks::recorder::checkpoint::Recorded;

/// A snapshot of a machine: CPU, memory, simulators and counts. Give it back to
/// [`Machine::forget`].
pub(crate) struct SavedMachine {
    cpu: Context,
    space: SavedSpace,
    recorded: Recorded,
}

/// The registers of a task that does not run.
#[derive(Clone)]
pub(crate) struct TaskCpu {
    context: Rc<Context>,
    pc: u64,
}

impl TaskCpu {
    /// Address of its next instruction.
    pub(crate) fn pc(&self) -> u64 {
        self.pc
    }
}

impl SavedMachine {
    /// Bytes that call graphs take in it, roughly.
    pub(crate) fn call_bytes(&self) -> u64 {
        self.recorded.call_bytes()
    }

    /// Number of instructions that had been executed.
    pub(crate) fn instructions(&self) -> u64 {
        self.recorded.instructions()
    }
}

impl Machine {
    /// Replaces all breakpoints by ones at these addresses.
    pub(crate) fn set_breakpoints(&mut self, addresses: FxHashSet<u64>) {
        for addr in self.vcpu.run.set_breakpoints(addresses) {
            self.vcpu.mmu.space().retranslate(addr);
        }
    }

    /// Lets the CPU go on from a breakpoint at the next instruction, if there is one.
    pub(crate) fn pass_breakpoint(&mut self) {
        self.vcpu.run.set_passed(Some(self.vcpu.state.rip()));
    }

    fn context(&mut self) -> Result<Context, EngineError> {
        let mut cpu = self.engine.context_alloc().map_err(engine_error("cannot save the CPU"))?;
        self.engine.context_save(&mut cpu).map_err(engine_error("cannot save the CPU"))?;
        Ok(cpu)
    }

    /// Saves the registers of the running task.
    ///
    /// # Errors
    /// When the engine has no memory.
    pub(crate) fn save_cpu(&mut self) -> Result<TaskCpu, EngineError> {
        Ok(TaskCpu { context: Rc::new(self.context()?), pc: self.vcpu.state.rip() })
    }

    /// Saves the registers of the running task in the place of others.
    ///
    /// # Errors
    /// When the engine has no memory.
    pub(crate) fn save_cpu_in(&mut self, cpu: &mut TaskCpu) -> Result<(), EngineError> {
        cpu.pc = self.vcpu.state.rip();
        match Rc::get_mut(&mut cpu.context) {
            Some(cpu) => self.engine.context_save(cpu).map_err(engine_error("cannot save the CPU")),
            // A saved run has the others.
            None => {
                *cpu = self.save_cpu()?;
                Ok(())
            }
        }
    }

    /// Calls `f` with the registers of a task that does not run.
    ///
    /// # Errors
    /// When the engine has no memory or refuses.
    pub(crate) fn with_cpu_of<T>(
        &mut self,
        cpu: &TaskCpu,
        f: impl FnOnce(&dyn GuestCpu) -> T,
    ) -> Result<T, EngineError> {
        let running = self.context()?;
        let restore = engine_error("cannot restore the CPU");
        self.engine.context_restore(&cpu.context).map_err(restore)?;
        let result = f(&self.cpu());
        self.engine.context_restore(&running).map_err(engine_error("cannot restore the CPU"))?;
        Ok(result)
    }

    /// Lets a task run with the registers that it had, in its address space. `turn` is its id and
    /// account.
    ///
    /// # Errors
    /// When the engine refuses.
    pub(crate) fn load_task(
        &mut self,
        cpu: &TaskCpu,
        space: SpaceId,
        turn: (i32, AccountId),
    ) -> Result<(), EngineError> {
        self.load_cpu(cpu, space)?;
        let Vcpu { run, trace, state, .. } = &mut *self.vcpu;
        run.set_passed(None);
        trace.recorder().switch_task(turn.0.cast_unsigned(), turn.1, state.rip());
        Ok(())
    }

    fn load_cpu(&mut self, cpu: &TaskCpu, space: SpaceId) -> Result<(), EngineError> {
        self.engine.context_restore(&cpu.context).map_err(engine_error("cannot restore the CPU"))?;
        self.load_space(space);
        Ok(())
    }

    /// Loads a task to look at it, without a turn; then what was loaded before is loaded again.
    /// `spaces` are the task's and the loaded one.
    ///
    /// # Errors
    /// When the engine refuses.
    pub(crate) fn visit<T>(
        &mut self,
        cpu: &TaskCpu,
        spaces: [SpaceId; 2],
        look: impl FnOnce(&mut dyn GuestCpu, &mut AddressSpace) -> T,
    ) -> Result<T, EngineError> {
        let own = self.save_cpu()?;
        let [there, here] = spaces;
        self.load_cpu(cpu, there)?;
        let seen = self.between_runs(look);
        self.load_cpu(&own, here)?;
        Ok(seen)
    }

    /// Loads an address space; an empty one, if it is new.
    pub(crate) fn load_space(&mut self, space: SpaceId) {
        self.vcpu.mmu.space().switch_space(space);
    }

    /// Takes a snapshot.
    ///
    /// # Errors
    /// When the engine has no memory.
    pub(crate) fn save(&mut self) -> Result<SavedMachine, EngineError> {
        let cpu = self.context()?;
        let Vcpu { trace, mmu, .. } = &mut *self.vcpu;
        Ok(SavedMachine { cpu, space: mmu.space().save(), recorded: trace.recorder().save() })
    }

    /// Returns to the state of the snapshot.
    ///
    /// # Errors
    /// When the engine refuses.
    pub(crate) fn restore(&mut self, saved: &SavedMachine) -> Result<(), EngineError> {
        self.engine.context_restore(&saved.cpu).map_err(engine_error("cannot restore the CPU"))?;
        let Vcpu { trace, mmu, run, .. } = &mut *self.vcpu;
        mmu.space().restore(&saved.space);
        trace.recorder().restore(&saved.recorded);
        run.set_passed(None);
        Ok(())
    }

    /// Releases what a snapshot holds.
    pub(crate) fn forget(&mut self, saved: SavedMachine) {
        self.vcpu.mmu.space().forget(saved.space);
    }

    /// Calls `f` with each consumer, after it has seen everything that has run.
    pub(crate) fn visit_consumers(&mut self, f: impl FnMut(&Consumer)) {
        self.vcpu.trace.recorder().visit(f);
    }

    /// Looks out for these targets, in place of any others.
    ///
    /// # Errors
    /// When the engine refuses.
    pub(crate) fn look_out(&mut self, targets: &[Target]) -> Result<(), EngineError> {
        if self.vcpu.trace.recorder().look_out(targets) {
            self.vcpu.simulate_no_more();
            self.drop_generated_code()?;
        }
        Ok(())
    }

    /// Has a consumer simulate the caches in place of generated code, while the guest runs.
    pub(super) fn trace_caches(&mut self) -> Result<(), EngineError> {
        self.vcpu.mmu.place_lines(false);
        self.vcpu.trace.recorder().trace_caches();
        self.vcpu.simulate_inline();
        self.drop_generated_code()
    }

    /// Has blocks that count translated anew, to write the trace.
    fn drop_generated_code(&mut self) -> Result<(), EngineError> {
        self.vcpu.mmu.jumps().clear();
        self.engine.ctl_flush_tb().map_err(engine_error("cannot drop generated code"))
    }

    /// The sightings, in order, and the moment until which everything is known.
    pub(crate) fn sightings(&mut self) -> (Vec<Sighting>, u64) {
        self.vcpu.trace.recorder().sightings()
    }

    /// Turns counting on or off.
    pub(crate) fn set_counting(&mut self, counting: bool) {
        let pc = self.vcpu.state.rip();
        self.vcpu.trace.recorder().set_counting(counting, pc);
    }

    /// Turns counting of the processes with these accounts on or off.
    pub(crate) fn set_counting_of(&mut self, accounts: &[AccountId], counting: bool) {
        let pc = self.vcpu.state.rip();
        self.vcpu.trace.recorder().set_counting_of(accounts, counting, pc);
    }

    /// The recorder, to open, switch and close accounts between two runs.
    pub(crate) fn recorder(&mut self) -> &mut Recorder {
        self.vcpu.trace.recorder()
    }
}
