//! Turns: gives new tasks their registers, and lets the task run that the kernel has picked.

use crate::emu::supervisor::Next;
use crate::emu::unicorn::EngineError;
use crate::guest::{Gpr, GuestCpu as _};
use crate::kernel::arena::TaskId;
use crate::session::guest::Turn;
use crate::session::run::Session;
use crate::syscalls::context::{Action, Spawn};
use crate::syscalls::dispatch;

impl Session {
    /// Does the work of a turn; what runs next is loaded then.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn take_turn(&mut self, turn: Turn) -> Result<(), EngineError> {
        let action = match turn {
            Turn::Of(task) => self.switch_to(task)?,
            Turn::Spawn(spawn) => self.spawn(spawn)?,
        };
        let Session { machine, guest, .. } = self;
        if machine.between_runs(|cpu, mem| guest.act(action, cpu, mem)) == Next::Undo {
            // The user wants something before the call that the task is in goes on.
            guest.turn = Some(Turn::Of(guest.kernel.current()));
        }
        Ok(())
    }

    /// Loads a task and makes its call again, if it sleeps in one.
    fn switch_to(&mut self, task: TaskId) -> Result<Action, EngineError> {
        let Session { machine, guest, cpus, accounts, .. } = self;
        let last = guest.kernel.current();
        let process = guest.kernel.task().shared.process;
        let pid = guest.kernel.process().pid;
        if guest.kernel.is_alive(last) {
            match cpus.get_mut(&last) {
                Some(cpu) => machine.save_cpu_in(cpu)?,
                None => {
                    cpus.insert(last, machine.save_cpu()?);
                }
            }
        } else {
            cpus.remove(&last);
        }
        let instructions = machine.cpu().instructions();
        guest.kernel.switch_to(task, instructions);
        accounts.left(&guest.kernel, process, pid, machine.recorder());
        if let Some(cpu) = cpus.get(&task) {
            let turn = (guest.kernel.task().tid, accounts.current(&guest.kernel));
            machine.load_task(cpu, guest.kernel.space(), turn)?;
        }
        Ok(self.go_on())
    }

    /// Gives a new task the registers of the running one, but for RAX, which is 0, and what
    /// clone(2) was told.
    fn spawn(&mut self, Spawn { task, stack, tls }: Spawn) -> Result<Action, EngineError> {
        let Session { machine, guest, cpus, accounts, .. } = self;
        let parent = machine.save_cpu()?;
        accounts.spawned(&guest.kernel, task, machine.recorder());
        let mut cpu = machine.cpu();
        cpu.set_gpr(Gpr::Rax, 0);
        if let Some(stack) = stack {
            cpu.set_gpr(Gpr::Rsp, stack);
        }
        if let Some(tls) = tls {
            cpu.set_fs_base(tls);
        }
        drop(cpu);
        cpus.insert(task, machine.save_cpu()?);
        let turn = (guest.kernel.task().tid, accounts.current(&guest.kernel));
        machine.load_task(&parent, guest.kernel.space(), turn)?;
        Ok(self.go_on())
    }

    /// Lets the loaded task go on: from its call, or with the signals that are pending for it.
    fn go_on(&mut self) -> Action {
        let Session { machine, guest, .. } = self;
        machine.between_runs(|cpu, mem| dispatch::resume(&mut guest.kernel, cpu, mem))
    }
}
