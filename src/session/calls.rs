//! The calls of tasks when something is said about them: what was refused, and who waits for ever.

use crate::emu::memory::space::AddressSpace;
use crate::emu::unicorn::EngineError;
use crate::guest::GuestCpu;
use crate::kernel::arena::TaskId;
use crate::requests::Host as _;
use crate::session::guest::Guest;
use crate::session::outcome::Ending;
use crate::session::places::Calls;
use crate::session::request::RequestHost;
use crate::session::run::Session;

/// Frames that are looked at, as many as Valgrind shows (`--num-callers`).
const FRAMES: usize = 12;
/// Tasks of a deadlock whose stacks are shown.
const TASKS: usize = 16;
/// Bytes of the `syscall` instruction, which is before the address at which a task is in a call.
const SYSCALL_LEN: u64 = 2;

impl Guest {
    /// The calls of the task whose registers these are. It has just made a system call.
    pub(super) fn calls(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Calls {
        self.calls_behind(cpu, mem, SYSCALL_LEN)
    }

    /// The calls of the task whose registers these are, which is so many bytes behind the
    /// instruction that it is at.
    fn calls_behind(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace, bytes: u64) -> Calls {
        let Guest { kernel, modules, control, .. } = self;
        let pcs = RequestHost { cpu, mem, kernel, modules, control, silent: true }.calls(FRAMES);
        // What returns is behind its call instruction.
        let back = |at: usize| if at == 0 { bytes } else { 1 };
        let pcs = pcs.into_iter().enumerate().map(|(at, pc)| pc.wrapping_sub(back(at)));
        pcs.map(|pc| (self.modules.number(mem.file_at(pc)), pc)).collect()
    }

    /// Notes the place of the call that has just been served for what was said about it.
    pub(super) fn place_notices(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) {
        let fresh = self.kernel.notices.take_fresh();
        if !fresh.is_empty() {
            let calls = self.calls(cpu, mem);
            self.kernel.notices.set_place(fresh, self.places.len());
            self.places.push(calls);
        }
    }
}

impl Session {
    /// Adds to the report of a deadlock what each task was doing.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn report_deadlock(&mut self) -> Result<(), EngineError> {
        let Some(Ending::Deadlock { tasks, .. }) = &self.guest.ending else { return Ok(()) };
        if !tasks.is_empty() {
            return Ok(());
        }
        let mut stacks = Vec::new();
        for (task, text) in self.guest.kernel.sleepers().into_iter().take(TASKS) {
            stacks.push((text, self.calls_of(task)?));
        }
        if let Some(Ending::Deadlock { tasks, .. }) = &mut self.guest.ending {
            *tasks = stacks;
        }
        Ok(())
    }

    /// The calls of a task, which may be in a system call.
    pub(super) fn calls_of(&mut self, task: TaskId) -> Result<Calls, EngineError> {
        let Session { machine, guest, cpus, .. } = self;
        let is_in_call = guest.kernel.other_task(task).call.number.is_some();
        let bytes = if is_in_call { SYSCALL_LEN } else { 0 };
        if task == guest.kernel.current() {
            return Ok(machine.between_runs(|cpu, mem| guest.calls_behind(cpu, mem, bytes)));
        }
        let Some(cpu) = cpus.get(&task) else { return Ok(Calls::new()) };
        let spaces = [guest.kernel.space_of_task(task), guest.kernel.space()];
        machine.visit(cpu, spaces, |cpu, mem| guest.calls_behind(cpu, mem, bytes))
    }
}
