//! Turns: gives new tasks their registers, and lets the task run that the kernel has picked.

use crate::emu::supervisor::Next;
use crate::emu::unicorn::{EngineError, TaskCpu};
use crate::guest::{Gpr, GuestCpu as _};
use crate::kernel::arena::TaskId;
use crate::kernel::process::Process;
use crate::kernel::sched::TaskState;
use crate::session::guest::Turn;
use crate::session::run::Session;
use crate::syscalls::context::{Action, Spawn};
use crate::syscalls::dispatch;

/// A task that has not ended, to look at.
#[derive(Clone, Debug)]
pub struct TaskView {
    /// Its id, gettid(2).
    pub tid: i32,
    /// The id of its process.
    pub pid: i32,
    /// Its name.
    pub name: String,
    /// Its state: `running`, `ready`, `sleeping` or `stopped`.
    pub state: &'static str,
    /// Number of the call in which it sleeps.
    pub call: Option<u64>,
    /// Subject of its wait.
    pub waits: String,
    /// Address of its next instruction, or of the one behind its call.
    pub pc: u64,
    /// It uses the memory of the running task.
    pub same_memory: bool,
}

/// A process that has not been waited for, to look at.
#[derive(Clone, Debug)]
pub struct ProcessView {
    /// Its id, getpid(2).
    pub pid: i32,
    /// Its parent's.
    pub ppid: i32,
    /// Name of its first task.
    pub name: String,
    /// Number of its tasks that have not ended; 0 for a zombie.
    pub tasks: usize,
    /// It is the running task's.
    pub current: bool,
}

impl Session {
    /// The tasks that have not ended, by their ids.
    pub fn tasks(&mut self) -> Vec<TaskView> {
        let now = self.machine.cpu().rip();
        let kernel = &self.guest.kernel;
        let mm = kernel.task().shared.mm;
        let view = |id: TaskId| {
            let task = kernel.other_task(id);
            let running = id == kernel.current();
            let asleep = task.state == TaskState::Sleeping;
            TaskView {
                tid: task.tid,
                pid: kernel.pid_of(task.shared.process),
                name: String::from_utf8_lossy(task.name()).into_owned(),
                state: match task.state {
                    TaskState::Stopped => "stopped",
                    _ if asleep => "sleeping",
                    _ if running => "running",
                    _ => "ready",
                },
                call: task.call.number.filter(|_| asleep),
                waits: if asleep { task.call.what.to_string() } else { String::new() },
                pc: if running { now } else { self.cpus.get(&id).map_or(0, TaskCpu::pc) },
                same_memory: task.shared.mm == mm,
            }
        };
        let mut tasks: Vec<TaskView> = kernel.live().map(view).collect();
        tasks.sort_unstable_by_key(|task| task.tid);
        tasks
    }

    /// The processes that have not been waited for, by their ids.
    pub fn processes(&self) -> Vec<ProcessView> {
        let kernel = &self.guest.kernel;
        let view = |process: &Process| ProcessView {
            pid: process.pid,
            ppid: process.ppid,
            name: String::from_utf8_lossy(kernel.other_task(process.leader).name()).into_owned(),
            tasks: process.tasks.len(),
            current: process.pid == kernel.process().pid,
        };
        let mut processes: Vec<ProcessView> = kernel.all_processes().map(view).collect();
        processes.sort_unstable_by_key(|process| process.pid);
        processes
    }

    /// Instructions that the running task has executed.
    pub fn task_instructions(&mut self) -> u64 {
        let now = self.machine.cpu().instructions();
        self.guest.kernel.task_cpu(now)
    }

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
