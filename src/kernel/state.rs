//! The kernel as one value: the tasks, the objects that they share, and the machine's own state.

use std::collections::BTreeMap;

use crate::abi::capability::CAP_SYS_RESOURCE;
use crate::abi::errno::Errno;
use crate::guest::SpaceId;
use crate::kernel::arena::{Arena, FdTableId, FsContextId, HandlersId, MmId, ProcessId, TaskId};
use crate::kernel::clock::Clock;
use crate::kernel::config::KernelConfig;
use crate::kernel::cpu_timers::CpuTimers;
use crate::kernel::cred::Credentials;
use crate::kernel::fdtable::FdTable;
use crate::kernel::file::description::{Description, Descriptions};
use crate::kernel::file::stream::standard_streams;
use crate::kernel::futex::FutexKey;
use crate::kernel::keys::table::Keys;
use crate::kernel::mm::Mm;
use crate::kernel::namespace::ipcs::Ipcs;
use crate::kernel::namespace::table::NamespaceTable;
use crate::kernel::net::far_end::Outside;
use crate::kernel::notices::Notices;
use crate::kernel::pids::Pids;
use crate::kernel::process::{EndedProcess, Process, Status};
use crate::kernel::procfs::tasks::TaskTable;
use crate::kernel::random::Random;
use crate::kernel::requests::Requests;
use crate::kernel::sched::{Scheduler, TaskState};
use crate::kernel::signal::handlers::SignalHandlers;
use crate::kernel::signal::queued::Queued;
use crate::kernel::signal::state::Signals;
use crate::kernel::streams::Streams;
use crate::kernel::task::{Shared, Task};
use crate::kernel::task_charge::TaskCharge;
use crate::kernel::transcript::Transcript;
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::{FileSystem, FsContext};
use crate::kernel::wait_queue::QueueId;

/// Most tasks at a time without `--max-processes`.
const MAX_TASKS: usize = 4096;

/// The emulated kernel. Every part is a plain value, so that a checkpoint can copy the kernel: a
/// copy must share nothing that changes with the original.
#[derive(Clone)]
pub struct Kernel {
    pub(super) tasks: Arena<TaskId, Task>,
    /// Number of tasks that have not ended.
    pub(super) live_tasks: usize,
    /// The running task.
    pub(super) current: TaskId,
    /// The tasks that may run and those that sleep.
    pub(super) sched: Scheduler,
    /// Waits for the CPU time of tasks and processes.
    pub(super) cpu_timers: CpuTimers,
    /// Owners of locks with priority inheritance that others wait for.
    pub(super) lock_owners: BTreeMap<FutexKey, TaskId>,
    /// Tasks by their numbers.
    pub(super) pids: Pids,
    /// The sum of what tasks are charged with.
    pub(super) task_charge: TaskCharge,
    /// Most tasks at a time.
    pub(super) max_tasks: usize,
    /// The user as whom the first process began, and of its parent.
    pub(super) user: u32,
    /// Tasks that have ended and nobody waits for.
    pub(super) graves: Vec<TaskId>,
    /// Numbers of waiting signals by user.
    pub(super) queued: Queued,
    /// Address spaces that nobody uses any more.
    pub(super) unused_spaces: Vec<(SpaceId, Option<At>)>,
    /// Status of the first process, once it has ended.
    pub(super) first_end: Option<(Status, u64)>,
    /// A debugger wants to see a process before a signal ends it.
    pub(super) holds_fatal_signals: bool,
    /// A debugger wants to see a task when a call of it has returned, before signals are delivered.
    pub(crate) holds_returns: bool,
    /// Processes that have ended, until the session takes note of them.
    pub ended: Vec<EndedProcess>,
    pub(super) processes: Arena<ProcessId, Process>,
    pub(super) mms: Arena<MmId, Mm>,
    pub(super) handlers: Arena<HandlersId, SignalHandlers>,
    pub(super) fd_tables: Arena<FdTableId, FdTable>,
    pub(super) fs_contexts: Arena<FsContextId, FsContext>,
    /// Files and directories: the host's beneath, the overlay above.
    pub fs: FileSystem,
    /// Open file descriptions, which descriptors of every table refer to.
    pub(crate) files: Descriptions,
    /// Requests of io_uring(7) that wait.
    pub(crate) requests: Requests,
    /// System V shared memory, semaphores and message queues.
    pub(crate) ipc: Ipcs,
    /// Keys and keyrings.
    pub(crate) keys: Keys,
    /// The host's standard streams.
    pub streams: Streams,
    /// The clock, made of executed instructions.
    pub clock: Clock,
    /// Namespaces that programs made.
    pub(crate) namespaces: NamespaceTable,
    /// The stream behind getrandom(2), /dev/urandom and AT_RANDOM.
    pub random: Random,
    /// Lines for the log that a call left behind (unknown calls, refused flags), taken by the
    /// session.
    pub notices: Notices,
    /// Lines for the log about calls and signals, if they are wanted.
    pub transcript: Option<Transcript>,
}

/// The running task, the objects that it uses and the machine's own state, borrowed apart.
pub struct Parts<'a> {
    /// The running task.
    pub task: &'a mut Task,
    /// Its process.
    pub process: &'a mut Process,
    /// Its address space.
    pub mm: &'a mut Mm,
    /// Its signal handlers.
    pub handlers: &'a mut SignalHandlers,
    /// Numbers of waiting signals by user.
    pub(super) queued: &'a mut Queued,
    /// Its descriptors.
    pub fds: &'a mut FdTable,
    /// Its working directory, root and umask.
    pub fs_context: &'a mut FsContext,
    /// Files and directories.
    pub fs: &'a mut FileSystem,
    /// Open file descriptions.
    pub(crate) files: &'a mut Descriptions,
    /// The host's standard streams.
    pub streams: &'a Streams,
    /// The clock.
    pub clock: &'a Clock,
    /// The stream of random bytes.
    pub random: &'a mut Random,
    /// Lines for the log.
    pub notices: &'a mut Notices,
}

/// An open descriptor, for people.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Its number.
    pub number: i32,
    /// Path by which it was opened.
    pub path: String,
    /// Position of the next read or write, if that has a meaning.
    pub offset: u64,
    /// Its kind.
    pub kind: &'static str,
}

impl Kernel {
    /// A kernel with one task, which runs no program yet.
    pub fn new(config: &KernelConfig) -> Kernel {
        let cred = Credentials::of(config.user);
        let namespaces = NamespaceTable::new(&cred.user_ns);
        let mut fs = FileSystem::new(
            &config.allow_write,
            config.policy.clone(),
            config.memory_limit,
            config.journal,
            config.user,
        );
        fs.bound(config.max_files, config.max_output);
        fs.net.outside = Outside::new(&config.outside);
        if let Some(lines) = fs.net.outside.hosts() {
            fs.name_hosts(&lines);
        }
        let mut tasks = Arena::default();
        let current = tasks.next_key();
        let (processes, process) = Arena::with(Process::first(current));
        let (mms, mm) = Arena::with(Mm::new());
        let (handlers, handlers_id) = Arena::with(SignalHandlers::default());
        let (fd_tables, fds) = Arena::with(FdTable::new());
        let (fs_contexts, fs_context) = Arena::with(fs.first_context(&config.cwd));
        let shared = Shared { process, mm, handlers: handlers_id, fds, fs_context };
        tasks.add(Task::first(shared, cred));
        Kernel {
            tasks,
            live_tasks: 1,
            current,
            pids: Pids::first(current),
            task_charge: TaskCharge::default(),
            max_tasks: config.max_processes.unwrap_or(MAX_TASKS),
            user: config.user.uid,
            cpu_timers: CpuTimers::default(),
            lock_owners: BTreeMap::new(),
            sched: Scheduler::new(config.quantum, config.schedule_seed),
            graves: Vec::new(),
            queued: Queued::default(),
            unused_spaces: Vec::new(),
            first_end: None,
            holds_fatal_signals: false,
            holds_returns: false,
            ended: Vec::new(),
            processes,
            mms,
            handlers,
            fd_tables,
            fs_contexts,
            fs,
            files: standard_streams(),
            requests: Requests::default(),
            ipc: Ipcs::default(),
            keys: Keys::new(config.seed),
            streams: Streams::new(config),
            clock: Clock::default(),
            namespaces,
            random: Random::new(config.seed),
            notices: Notices::default(),
            transcript: None,
        }
    }

    /// The running task.
    pub fn task(&self) -> &Task {
        &self.tasks[self.current]
    }

    /// The running task, to be changed.
    pub fn task_mut(&mut self) -> &mut Task {
        &mut self.tasks[self.current]
    }

    /// A task.
    pub(crate) fn other_task(&self, task: TaskId) -> &Task {
        &self.tasks[task]
    }

    /// A task, to be changed.
    pub(crate) fn other_task_mut(&mut self, task: TaskId) -> &mut Task {
        &mut self.tasks[task]
    }

    /// A process.
    pub(crate) fn other_process(&self, process: ProcessId) -> &Process {
        &self.processes[process]
    }

    /// The tasks that have not ended.
    pub(crate) fn live(&self) -> impl Iterator<Item = TaskId> {
        self.processes.iter().flat_map(|(_, process)| process.tasks.iter().copied())
    }

    /// The processes, those too that have ended and nobody has waited for.
    pub(crate) fn all_processes(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().map(|(_, process)| process)
    }

    /// A process, to be changed.
    pub(crate) fn other_process_mut(&mut self, process: ProcessId) -> &mut Process {
        &mut self.processes[process]
    }

    /// Checks that the running task may see and set the limits of another one's process,
    /// `check_prlimit_permission`; EPERM.
    pub(crate) fn may_limit(&self, task: TaskId) -> Result<(), Errno> {
        let (own, other) = (self.task(), &self.tasks[task].cred);
        let (uid, gid) = (other.uid, other.gid);
        let same = [uid.real, uid.effective, uid.saved].iter().all(|id| *id == own.cred.uid.real)
            && [gid.real, gid.effective, gid.saved].iter().all(|id| *id == own.cred.gid.real);
        if task == self.current || same { Ok(()) } else { own.cred.require(CAP_SYS_RESOURCE) }
    }

    /// The process of the running task.
    pub fn process(&self) -> &Process {
        &self.processes[self.task().shared.process]
    }

    /// The process of the running task, to be changed.
    pub fn process_mut(&mut self) -> &mut Process {
        &mut self.processes[self.tasks[self.current].shared.process]
    }

    /// The address space of the running task.
    pub fn mm(&self) -> &Mm {
        &self.mms[self.task().shared.mm]
    }

    /// The address space of the running task, to be changed.
    pub fn mm_mut(&mut self) -> &mut Mm {
        &mut self.mms[self.tasks[self.current].shared.mm]
    }

    /// The address space of a task.
    pub(crate) fn mm_of(&self, task: TaskId) -> &Mm {
        &self.mms[self.tasks[task].shared.mm]
    }

    /// Requests of all contexts of io_setup(2).
    pub(crate) fn aio_requests(&self) -> u64 {
        let contexts = self.mms.iter().flat_map(|(_, mm)| mm.aio.values());
        contexts.map(|(context, _)| context.requests).sum()
    }

    /// The signal handlers of the running task.
    pub fn handlers(&self) -> &SignalHandlers {
        &self.handlers[self.task().shared.handlers]
    }

    /// The descriptors of the running task.
    pub fn fds(&self) -> &FdTable {
        &self.fd_tables[self.task().shared.fds]
    }

    /// The descriptors of the running task, to be changed.
    pub fn fds_mut(&mut self) -> &mut FdTable {
        &mut self.fd_tables[self.tasks[self.current].shared.fds]
    }

    /// Working directory, root and umask of the running task.
    pub fn fs_context(&self) -> &FsContext {
        &self.fs_contexts[self.task().shared.fs_context]
    }

    /// Working directory, root and umask of the running task, to be changed.
    pub fn fs_context_mut(&mut self) -> &mut FsContext {
        &mut self.fs_contexts[self.tasks[self.current].shared.fs_context]
    }

    /// The signals of the running task.
    pub fn signals(&mut self) -> Signals<'_> {
        self.signals_of(self.current)
    }

    /// Signals that another task of the process takes if they are sent to the process: one that
    /// came before and does not block them. Not asked while none is pending there.
    pub(super) fn signals_of_others(&self, task: TaskId) -> u64 {
        let process = &self.processes[self.tasks[task].shared.process];
        if process.pending.set() == 0 {
            return 0;
        }
        let runs = |task: &&Task| matches!(task.state, TaskState::Runnable | TaskState::Sleeping);
        let before = process.tasks.iter().take_while(|other| **other != task);
        let before = before.filter_map(|other| self.tasks.get(*other)).filter(runs);
        let of_others = before.fold(0, |taken, other| taken | !other.signals.blocked);
        match process.directed {
            Some((taker, signals)) if taker == task => of_others & !signals,
            Some((taker, signals)) => {
                let taker = self.tasks.get(taker).filter(runs);
                of_others | taker.map_or(0, |taker| signals & !taker.signals.blocked)
            }
            None => of_others,
        }
    }

    /// The signals of a task.
    pub fn signals_of(&mut self, task: TaskId) -> Signals<'_> {
        let of_others = self.signals_of_others(task);
        let unkillable = self.is_init(self.tasks[task].shared.process);
        let task = &mut self.tasks[task];
        Signals {
            of_others,
            traced: task.tracing.trace.is_some(),
            traps: task.tracing.traps(),
            unkillable,
            shared: &mut self.processes[task.shared.process].pending,
            handlers: &mut self.handlers[task.shared.handlers],
            user: task.cred.uid.real,
            queued: &mut self.queued,
            task: &mut task.signals,
        }
    }

    /// Everything that the running task uses, to be borrowed apart.
    pub fn parts(&mut self) -> Parts<'_> {
        let task = &mut self.tasks[self.current];
        let Shared { process, mm, handlers, fds, fs_context } = task.shared;
        Parts {
            task,
            process: &mut self.processes[process],
            mm: &mut self.mms[mm],
            handlers: &mut self.handlers[handlers],
            queued: &mut self.queued,
            fds: &mut self.fd_tables[fds],
            fs_context: &mut self.fs_contexts[fs_context],
            fs: &mut self.fs,
            files: &mut self.files,
            streams: &self.streams,
            clock: &self.clock,
            random: &mut self.random,
            notices: &mut self.notices,
        }
    }

    /// The task with an id.
    pub fn find_task(&self, tid: i32) -> Option<TaskId> {
        self.pids.find(tid)
    }

    /// The process with an id; one that has ended too, until its parent has waited for it.
    pub(crate) fn find_process(&self, pid: i32) -> Option<ProcessId> {
        let task = self.find_task(pid)?;
        let process = self.tasks[task].shared.process;
        (self.processes[process].leader == task).then_some(process)
    }

    /// Tells if a task has not ended.
    pub(crate) fn is_alive(&self, task: TaskId) -> bool {
        self.tasks.get(task).is_some_and(|task| task.state != TaskState::Dead)
    }

    /// The id of a process.
    pub(crate) fn pid_of(&self, process: ProcessId) -> i32 {
        self.processes[process].pid
    }

    /// Tells if something is left of a process.
    pub(crate) fn has_process(&self, process: ProcessId) -> bool {
        self.processes.get(process).is_some()
    }

    /// The task that stands for a process.
    pub(crate) fn task_of(&self, process: ProcessId) -> TaskId {
        self.leader(process)
    }

    /// The descriptors of a process, unless it has ended.
    pub(crate) fn fds_of(&self, process: ProcessId) -> Option<&FdTable> {
        self.fds_of_task(self.leader(process))
    }

    /// The descriptors of a task, unless it has ended.
    pub(crate) fn fds_of_task(&self, task: TaskId) -> Option<&FdTable> {
        let task = &self.tasks[task];
        (task.state != TaskState::Dead).then(|| &self.fd_tables[task.shared.fds])
    }

    /// The queue of those who wait for the end of a process, and whether it has ended.
    pub(crate) fn queue_of(&mut self, process: ProcessId) -> (QueueId, bool) {
        let held = &mut self.processes[process];
        let queue = *held.queue.get_or_insert_with(|| self.fs.queues.add());
        (queue, held.ended.is_some())
    }

    /// Checks that the running task may look into another one, `ptrace_may_access`: EPERM unless it
    /// is of the same process, or of the same user and no program of another's.
    pub(crate) fn may_look_into(&self, task: TaskId) -> Result<(), Errno> {
        self.table().may(&self.tasks[task])
    }

    /// The tables of tasks and of what they share.
    pub(super) fn table(&self) -> TaskTable<'_> {
        TaskTable {
            tasks: &self.tasks,
            processes: &self.processes,
            mms: &self.mms,
            fd_tables: &self.fd_tables,
            fs_contexts: &self.fs_contexts,
            pids: &self.pids,
            current: self.current,
        }
    }

    /// The running task's key.
    pub(crate) fn current(&self) -> TaskId {
        self.current
    }

    /// The id of a task.
    pub(crate) fn tid_of(&self, task: TaskId) -> i32 {
        self.tasks[task].tid
    }

    /// The other tasks of the running task's process, to be changed.
    pub(crate) fn siblings_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        let (tid, process) = (self.task().tid, self.task().shared.process);
        self.tasks.values_mut().filter(move |task| task.shared.process == process && task.tid != tid)
    }

    /// The task that stands for a process: its first one, or another after that one's end.
    pub(super) fn leader(&self, process: ProcessId) -> TaskId {
        let process = &self.processes[process];
        process.tasks.first().copied().unwrap_or(process.leader)
    }

    /// The description that a descriptor of the running task refers to; EBADF.
    pub(crate) fn file(&self, fd: i32) -> Result<&Description, Errno> {
        Ok(self.files.get(self.fds().get(fd)?))
    }

    /// The open descriptors of a task.
    pub(crate) fn open_files(&self, task: TaskId) -> Vec<OpenFile> {
        let Some(fds) = self.fds_of_task(task) else { return Vec::new() };
        let files = fds.numbers().filter_map(|number| {
            let open = self.files.get(fds.get(number).ok()?);
            Some(OpenFile {
                number,
                path: String::from_utf8_lossy(&open.path).into_owned(),
                offset: open.offset,
                kind: open.ops.kind(),
            })
        });
        files.collect()
    }
}
