//! Looking at a paused run, from one of its tasks: its registers, its memory, its files. Nothing
//! changes by it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::emu::memory::space::FileArea;
use crate::emu::unicorn::{EngineError, TaskCpu};
use crate::guest::{Gpr, GuestCpu, GuestMemory as _, Mapping, SpaceId};
use crate::kernel::arena::TaskId;
use crate::kernel::mm::Mm;
use crate::kernel::process::{PID, Process};
use crate::kernel::sched::TaskState;
use crate::kernel::state::OpenFile;
use crate::session::run::Session;
use crate::symbols::symboliser::Object;
use crate::syscalls::strace::lines::in_progress;

/// A file that is mapped to be executed.
#[derive(Clone)]
pub struct Loaded {
    /// Its path in the guest's view.
    pub path: Arc<str>,
    /// The address at which its first byte would be.
    pub origin: u64,
    /// The addresses of the mapping.
    pub range: Range<u64>,
    /// The file with its debug information.
    pub object: Rc<Object>,
}

/// A task that has not ended, to look at.
#[derive(Clone, Debug)]
pub struct TaskView {
    /// Its place among all that ever were, from 1.
    pub number: u64,
    /// Its id, gettid(2).
    pub tid: i32,
    /// The id of its process.
    pub pid: i32,
    /// Its name.
    pub name: String,
    /// Its state: `running`, `ready`, `sleeping` or `stopped`.
    pub state: &'static str,
    /// The call that it is in, with its arguments, in the form of strace.
    pub call: Option<String>,
    /// Subject of its wait.
    pub waits: String,
    /// Address of its next instruction, or of the one behind its call.
    pub pc: u64,
    /// Instructions that it has executed.
    pub instructions: u64,
}

/// A process that has not been waited for, to look at.
#[derive(Clone, Debug)]
pub struct ProcessView {
    /// The number of its first task.
    pub number: u64,
    /// Its id, getpid(2).
    pub pid: i32,
    /// Its parent's.
    pub ppid: i32,
    /// Name of its first task.
    pub name: String,
    /// Ids of its tasks that have not ended; none of a zombie.
    pub tasks: Vec<i32>,
    /// Path of its program.
    pub program: String,
    /// Instructions that its tasks have executed, those that have ended included.
    pub instructions: u64,
}

/// The number of a task or process with an id.
fn number(id: i32) -> u64 {
    u64::try_from(id - PID + 1).unwrap_or(0)
}

impl Session {
    /// Looks at a task until the run goes on; false if there is none with this id.
    pub fn look_at(&mut self, tid: i32) -> bool {
        let kernel = &self.guest.kernel;
        let task = kernel.find_task(tid).filter(|task| kernel.live().any(|live| live == *task));
        let Some(task) = task.filter(|task| *task == kernel.current() || self.cpus.contains_key(task)) else {
            return false;
        };
        self.looked_at = (task != kernel.current()).then_some(task);
        true
    }

    /// The task that is looked at: the running one, unless another was chosen.
    fn task(&self) -> TaskId {
        self.looked_at.unwrap_or(self.guest.kernel.current())
    }

    /// The address space of the running task.
    pub fn space(&self) -> SpaceId {
        self.guest.kernel.space()
    }

    /// The address space that is looked at.
    pub fn space_looked_at(&self) -> SpaceId {
        self.guest.kernel.space_of_task(self.task())
    }

    /// The id of a task of each address space, the loaded one first.
    pub fn one_task_a_space(&self) -> Vec<i32> {
        let kernel = &self.guest.kernel;
        let mut spaces = BTreeSet::from([kernel.space()]);
        let others = kernel.live().filter(|task| spaces.insert(kernel.space_of_task(*task)));
        std::iter::once(kernel.current()).chain(others).map(|task| kernel.tid_of(task)).collect()
    }

    /// Looks at the running task again.
    pub fn look_back(&mut self) {
        self.looked_at = None;
    }

    /// Instructions that the running task has executed.
    pub fn task_instructions(&mut self) -> u64 {
        let now = self.machine.cpu().instructions();
        self.guest.kernel.task_cpu(now).user
    }

    /// Instructions that a task has executed; `None` if there is none with this id.
    pub fn instructions_of(&mut self, tid: i32) -> Option<u64> {
        let kernel = &self.guest.kernel;
        if tid == kernel.task().tid {
            // The last one may have ended.
            return Some(self.task_instructions());
        }
        let task = kernel.find_task(tid).filter(|task| kernel.is_alive(*task))?;
        // Its turns are over, and what it has executed in them is its CPU time in user mode.
        Some(kernel.other_task(task).cpu.user)
    }

    /// The id of the task that is looked at.
    pub fn looked_at(&self) -> i32 {
        self.guest.kernel.tid_of(self.task())
    }

    /// The id of the process that is looked at.
    pub fn process_looked_at(&self) -> i32 {
        self.guest.kernel.pid_of(self.guest.kernel.other_task(self.task()).shared.process)
    }

    /// Calls `f` with the registers of the task that is looked at.
    ///
    /// # Errors
    /// The engine's.
    pub fn with_registers<T>(&mut self, f: impl FnOnce(&dyn GuestCpu) -> T) -> Result<T, EngineError> {
        match self.looked_at.and_then(|task| self.cpus.get(&task)) {
            Some(cpu) => self.machine.with_cpu_of(cpu, f),
            None => Ok(f(&self.machine.cpu())),
        }
    }

    /// The memory that is looked at, if it is not the one that is loaded.
    fn other_space(&self) -> Option<SpaceId> {
        self.looked_at.map(|task| self.guest.kernel.space_of_task(task))
    }

    /// Copies from the guest's memory. On a bad address the number of bytes copied before it is the
    /// error.
    pub fn read(&mut self, addr: u64, buf: &mut [u8]) -> Result<(), usize> {
        match self.other_space() {
            Some(space) => self.machine.memory().within(space, |mem| mem.peek(addr, buf)),
            None => self.machine.memory().peek(addr, buf),
        }
    }

    /// The guest's mappings, by rising address.
    pub fn mappings(&mut self) -> Vec<Mapping> {
        match self.other_space() {
            Some(space) => self.machine.memory().within(space, |mem| mem.mappings()),
            None => self.machine.memory().mappings(),
        }
    }

    /// The files that code can come from, by rising address.
    pub fn loaded(&mut self) -> Vec<Loaded> {
        let other = self.other_space();
        let symboliser = self.guest.modules.symboliser();
        let mut loaded = |(range, file): (Range<u64>, FileArea<'_>)| Loaded {
            path: Arc::clone(&file.id.path),
            origin: file.origin,
            range,
            object: symboliser.object(file.id, file.source),
        };
        let mem = self.machine.memory();
        match other {
            Some(space) => mem.within(space, |mem| mem.executable_files().map(&mut loaded).collect()),
            None => mem.executable_files().map(loaded).collect(),
        }
    }

    /// The open descriptors.
    pub fn open_files(&self) -> Vec<OpenFile> {
        self.guest.kernel.open_files(self.task())
    }

    /// The signal state that is not as it was at the start, in words.
    pub fn signals(&self) -> Vec<String> {
        self.guest.kernel.describe_signals(self.task())
    }

    /// The process.
    pub fn process(&self) -> &Process {
        self.guest.kernel.other_process(self.guest.kernel.other_task(self.task()).shared.process)
    }

    /// The program and the words that it was started with.
    pub fn mm(&self) -> &Mm {
        self.guest.kernel.mm_of(self.task())
    }

    /// The tasks that have not ended, by their ids.
    pub fn tasks(&mut self) -> Vec<TaskView> {
        let live: Vec<TaskId> = self.guest.kernel.live().collect();
        let mut tasks: Vec<TaskView> = live.into_iter().map(|task| self.view(task)).collect();
        tasks.sort_unstable_by_key(|task| task.tid);
        tasks
    }

    fn view(&mut self, id: TaskId) -> TaskView {
        let running = id == self.guest.kernel.current();
        let pc = match self.cpus.get(&id) {
            _ if running => self.machine.cpu().rip(),
            cpu => cpu.map_or(0, TaskCpu::pc),
        };
        let call = self.call_of(id);
        let instructions = self.instructions_of(self.guest.kernel.tid_of(id)).unwrap_or(0);
        let kernel = &self.guest.kernel;
        let task = kernel.other_task(id);
        let asleep = task.state == TaskState::Sleeping;
        TaskView {
            number: number(task.tid),
            tid: task.tid,
            pid: kernel.pid_of(task.shared.process),
            name: String::from_utf8_lossy(task.name()).into_owned(),
            state: match task.state {
                TaskState::Stopped => "stopped",
                TaskState::Traced => "stopped for its tracer",
                _ if asleep => "sleeping",
                _ if running => "running",
                _ => "ready",
            },
            call,
            waits: if asleep { task.call.what.to_string() } else { String::new() },
            pc,
            instructions,
        }
    }

    /// The call in which a task sleeps, or was asleep before it became ready.
    fn call_of(&mut self, id: TaskId) -> Option<String> {
        let kernel = &self.guest.kernel;
        let number = kernel.other_task(id).call.number?;
        let space = kernel.space_of_task(id);
        let args = |cpu: &dyn GuestCpu| {
            [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::R10, Gpr::R8, Gpr::R9].map(|reg| cpu.gpr(reg))
        };
        let args = match self.cpus.get(&id).filter(|_| id != kernel.current()) {
            Some(cpu) => self.machine.with_cpu_of(cpu, args).ok()?,
            None => args(&self.machine.cpu()),
        };
        Some(self.machine.memory().within(space, |mem| in_progress(number, args, mem)))
    }

    /// The processes that have not been waited for, by their ids.
    pub fn processes(&mut self) -> Vec<ProcessView> {
        let now = self.instructions();
        let kernel = &self.guest.kernel;
        let (running, its) = (kernel.process().pid, kernel.process_cpu(now).user);
        let view = |process: &Process| ProcessView {
            number: number(process.pid),
            pid: process.pid,
            ppid: process.ppid,
            name: String::from_utf8_lossy(kernel.other_task(process.leader).name()).into_owned(),
            tasks: process.tasks.iter().map(|task| kernel.tid_of(*task)).collect(),
            program: process.tasks.first().map_or(String::new(), |task| kernel.mm_of(*task).exe.clone()),
            // The CPU time of the one that runs goes on with its turn.
            instructions: if process.pid == running { its } else { process.cpu.user },
        };
        let mut processes: Vec<ProcessView> = kernel.all_processes().map(view).collect();
        processes.sort_unstable_by_key(|process| process.pid);
        processes
    }
}
