//! Turns: gives new tasks their registers, and lets the task run that the kernel has picked.

use crate::abi::signal::signo::SIGCHLD;
use crate::emu::supervisor::Next;
use crate::emu::unicorn::EngineError;
use crate::guest::{Gpr, GuestCpu as _};
use crate::kernel::Kernel;
use crate::kernel::arena::TaskId;
use crate::session::accounts::Leaving;
use crate::session::guest::Turn;
use crate::session::outcome::{Pause, Spawned};
use crate::session::request::client;
use crate::session::run::Session;
use crate::syscalls::context::{Action, Spawn};
use crate::syscalls::dispatch;

/// The kind of a task that the running one has just made, as the kernel chooses a trace event
/// (`kernel_clone`).
fn spawned(kernel: &Kernel, task: TaskId) -> Spawned {
    let (maker, child) = (kernel.task(), kernel.other_task(task));
    let process = child.shared.process;
    if maker.vfork == Some(task) {
        Spawned::Vfork(child.tid)
    } else if process != maker.shared.process && kernel.other_process(process).exit_signal == SIGCHLD {
        Spawned::Fork(child.tid)
    } else {
        Spawned::Clone(child.tid)
    }
}

impl Session {
    /// Does the work of a turn; what runs next is loaded then.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn take_turn(&mut self, turn: Turn) -> Result<(), EngineError> {
        let action = match turn {
            Turn::Of(task) => {
                self.switch_to(task)?;
                self.go_on()
            }
            Turn::Spawn(spawn) => {
                let spawned = self.spawn(spawn)?;
                if self.guest.conditions.spawns {
                    self.guest.turn = Some(Turn::GoOn);
                    self.guest.paused = Some(Pause::Spawned(spawned));
                    return Ok(());
                }
                self.go_on()
            }
            Turn::GoOn => self.go_on(),
            Turn::Pick => Action::Sleep,
            Turn::Kill(signal) => {
                let Session { machine, guest, .. } = self;
                machine.between_runs(|cpu, mem| dispatch::kill(&mut guest.kernel, cpu, mem, signal))
            }
        };
        let Session { machine, guest, .. } = self;
        if machine.between_runs(|cpu, mem| guest.act(action, cpu, mem)) == Next::Undo {
            // The user wants something before the call that the task is in goes on.
            guest.turn = Some(Turn::GoOn);
        }
        Ok(())
    }

    /// Loads a task.
    fn switch_to(&mut self, task: TaskId) -> Result<(), EngineError> {
        let Session { machine, guest, cpus, accounts, .. } = self;
        let last = guest.kernel.current();
        let process = guest.kernel.task().shared.process;
        let (tid, pid) = (guest.kernel.task().tid, guest.kernel.process().pid);
        guest.requests.leave(&mut machine.cpu());
        let task_ended = !guest.kernel.is_alive(last);
        if !task_ended {
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
        let kernel = &guest.kernel;
        let process_ended = !kernel.has_process(process) || kernel.other_process(process).ended.is_some();
        let leaving = Leaving { tid, pid, task_ended, process_ended };
        accounts.left(leaving, machine.recorder());
        guest.requests.gone(leaving.task_ended.then_some(tid), leaving.process_ended.then_some(pid));
        if let Some(cpu) = cpus.get(&task) {
            let turn = (guest.kernel.task().tid, accounts.current(&guest.kernel));
            machine.load_task(cpu, guest.kernel.space(), turn)?;
        }
        guest.requests.enter(client(&guest.kernel), &mut machine.cpu());
        Ok(())
    }

    /// Gives a new task the registers of the running one, but for RAX, which is 0, and what
    /// clone(2) was told.
    fn spawn(&mut self, Spawn { task, stack, tls }: Spawn) -> Result<Spawned, EngineError> {
        let Session { machine, guest, cpus, accounts, .. } = self;
        let parent = machine.save_cpu()?;
        accounts.spawned(&guest.kernel, task, machine.recorder());
        guest.resting(machine.recorder().resting_bytes());
        let child = guest.kernel.other_task(task);
        if child.shared.process != guest.kernel.task().shared.process {
            guest.requests.forked(child.tid);
        }
        let mut cpu = machine.cpu();
        cpu.set_gpr(Gpr::Rax, 0);
        if let Some(stack) = stack {
            cpu.set_gpr(Gpr::Rsp, stack);
        }
        if let Some(tls) = tls {
            cpu.set_fs_base(tls);
        }
        drop(cpu);
        // Tasks that others have ended never ran to their own end.
        if cpus.len() > 2 * guest.kernel.live_tasks() {
            cpus.retain(|task, _| guest.kernel.is_alive(*task));
        }
        cpus.insert(task, machine.save_cpu()?);
        let turn = (guest.kernel.task().tid, accounts.current(&guest.kernel));
        machine.load_task(&parent, guest.kernel.space(), turn)?;
        Ok(spawned(&guest.kernel, task))
    }

    /// Lets the loaded task go on: from its call, or with the signals that are pending for it.
    fn go_on(&mut self) -> Action {
        let Session { machine, guest, .. } = self;
        machine.between_runs(|cpu, mem| guest.resume(cpu, mem))
    }
}
