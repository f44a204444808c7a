//! Ends of tasks and processes, `do_exit`, and of what is left of them, wait(2). Every end happens
//! in the context of a task of the process, so its memory is the one that is loaded.

use crate::abi::resource::Resource;
use crate::abi::signal::{SIG_IGN, bit, sa, signo::*};
use crate::abi::signal_names::name;
use crate::guest::{GuestCpu, GuestMemory};
use crate::kernel::arena::{MmId, ProcessId, TaskId};
use crate::kernel::clock::CpuClock;
use crate::kernel::fdtable::FdTable;
use crate::kernel::file::operations::READABLE;
use crate::kernel::mm::{Mm, space_of};
use crate::kernel::process::{EndedProcess, INIT, PID, Process, Status, Usage};
use crate::kernel::sched::{TaskState, WaitKey};
use crate::kernel::signal::handlers::SignalHandlers;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::state::Kernel;
use crate::kernel::task::Shared;
use crate::kernel::uaccess::put_u32;
use crate::kernel::vfs::FsContext;
use crate::kernel::vfs::mount::{At, MountId};
use crate::kernel::vfs::proc_file::Subject;

/// Signals whose default action dumps core, signal(7).
const DUMPS: [i32; 10] =
    [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS];

/// Least RLIMIT_CORE with which Linux writes an ELF core file, a page.
const LEAST_CORE: u64 = 4096;

impl Kernel {
    /// The status of a process that a signal ends. The core-dump flag is set where Linux would have
    /// dumped core.
    pub(crate) fn status_of_signal(&self, signo: i32) -> Status {
        let limit = self.process().limits.soft(Resource::Core);
        let dumps = DUMPS.contains(&signo) && limit >= LEAST_CORE && self.mm().dumpable == 1;
        Status::killed(signo, dumps)
    }

    /// Has processes that a signal ends wait for [`Kernel::exit_process`], or not.
    pub(crate) fn hold_fatal_signals(&mut self, hold: bool) {
        self.holds_fatal_signals = hold;
    }

    /// Tells if processes that a signal ends wait.
    pub(crate) fn holds_fatal_signals(&self) -> bool {
        self.holds_fatal_signals
    }

    /// Ends the running task, _exit(2); with the last one the process ends.
    pub(crate) fn exit_task(&mut self, status: Status, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) {
        let (task, process) = (self.current(), self.task().shared.process);
        // The status of a process is that of its last task, since Linux 5.19.
        if self.processes[process].tasks.len() == 1 {
            self.exit_process(status, cpu, mem);
        } else {
            self.note_end(task, status, cpu);
            self.end_task(task, status, mem);
        }
    }

    /// Ends the process of the running task, exit_group(2).
    pub(crate) fn exit_process(&mut self, status: Status, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) {
        let process = self.task().shared.process;
        self.note_resident(mem);
        self.account(cpu.instructions());
        for task in self.other_tasks().into_iter().chain([self.current()]) {
            self.note_end(task, status, cpu);
        }
        self.end_other_tasks(status, mem);
        let (exe, argv) = (self.mm().exe.clone(), self.mm().argv.clone());
        let Process { pid, ppid, .. } = self.processes[process];
        let now = self.real_time(cpu).sec;
        self.exit_ipc(process, now, mem);
        self.end_task(self.current(), status, mem);
        self.end_process(process, status);
        if pid == PID {
            self.first_end = Some((status, cpu.instructions()));
        }
        self.ended.push(EndedProcess { process, pid, ppid, status, exe, argv });
    }

    /// Notes the end of a task in the transcript.
    fn note_end(&mut self, task: TaskId, status: Status, cpu: &mut dyn GuestCpu) {
        if self.transcript.is_none() {
            return;
        }
        let (tid, now) = (self.tasks[task].tid, self.now(cpu));
        let core = if status.0 & 0x80 != 0 { " (core dumped)" } else { "" };
        let text = match status.signal() {
            Some(signo) => format!("+++ killed by {}{core} +++", name(signo)),
            None => format!("+++ exited with {} +++", status.code()),
        };
        if let Some(transcript) = &mut self.transcript {
            transcript.line(tid, now, &text);
        }
    }

    /// The other tasks of the running one's process that have not ended.
    fn other_tasks(&self) -> Vec<TaskId> {
        let here = self.current();
        self.process().tasks.iter().copied().filter(|task| *task != here).collect()
    }

    /// Ends the other tasks of the process.
    pub(super) fn end_other_tasks(&mut self, status: Status, mem: &mut dyn GuestMemory) {
        for task in self.other_tasks() {
            self.end_task(task, status, mem);
        }
    }

    /// Ends a task of the running one's process, which lives in the same memory.
    fn end_task(&mut self, task: TaskId, status: Status, mem: &mut dyn GuestMemory) {
        self.release_memory_of(task, mem);
        if task != self.current() {
            self.unschedule(task);
        }
        self.drop_call(task, mem);
        self.cancel_requests(task, mem);
        let held = &mut self.tasks[task];
        held.state = TaskState::Dead;
        held.tracing.stop = None;
        let (process, tid) = (held.shared.process, held.tid);
        self.release_objects(task, mem);
        self.leave_children(process, task);
        self.live_tasks -= 1;
        self.keys_may_be_left();
        self.tracer_ended(task);
        let process = &mut self.processes[process];
        process.tasks.retain(|other| *other != task);
        process.timers.task_ended(task);
        if process.leader != task && !self.keep_for_tracer(task, status) {
            self.remove_number(tid);
            self.graves.push(task);
        }
    }

    /// Tells those in the same memory that a task has ended, `mm_release`: by its robust list, and
    /// at the address of set_tid_address(2).
    pub(super) fn release_memory_of(&mut self, task: TaskId, mem: &mut dyn GuestMemory) {
        let here = std::mem::replace(&mut self.current, task);
        self.exit_robust_list(mem);
        self.current = here;
        let held = &mut self.tasks[task];
        let clear = std::mem::take(&mut held.clear_child_tid);
        if clear != 0 && self.mms.holders(held.shared.mm) > 1 && put_u32(mem, clear, 0).is_ok() {
            self.wake_word(mem, clear);
        }
        self.tasks[task].vfork_done = true;
        self.wake(WaitKey::Vfork(task));
    }

    /// Gives up what a task shares with others; the last one closes descriptors and frees memory.
    /// The dead task has empty objects of its own.
    fn release_objects(&mut self, task: TaskId, mem: &mut dyn GuestMemory) {
        let shared = self.tasks[task].shared;
        let machine_ends = self.live_tasks() == 1;
        if let Some(fds) = self.fd_tables.release(shared.fds) {
            for fd in fds.numbers() {
                if let Ok(file) = fds.get(fd) {
                    self.files.release(file, fds.owner(), &mut self.fs, mem);
                }
            }
        }
        self.tasks[task].shared.fds = self.fd_tables.add(FdTable::empty());
        if machine_ends {
            return; // what is left can be looked at
        }
        if let Some(context) = self.fs_contexts.release(shared.fs_context) {
            self.fs.let_go(context.root.ino, mem);
            self.fs.let_go(context.cwd.ino, mem);
        }
        let root = At { mount: MountId::FIRST, ino: self.fs.root };
        self.fs.hold(root.ino);
        self.fs.hold(root.ino);
        let context = FsContext { root, cwd: root, umask: 0 };
        self.tasks[task].shared.fs_context = self.fs_contexts.add(context);
        self.give_up_mm(shared.mm);
        self.tasks[task].shared.mm = self.mms.add(Mm::new());
    }

    /// Gives up a hold on an address space. Its pages go when another one is loaded.
    pub(super) fn give_up_mm(&mut self, mm: MmId) {
        if let Some(gone) = self.mms.release(mm) {
            self.fs.userfaults.space_ended(space_of(mm));
            self.unused_spaces.push((space_of(mm), gone.exe_at));
        }
    }

    /// Frees the address spaces that nobody uses any more, but for the one that is loaded.
    pub(crate) fn drop_unused_spaces(&mut self, mem: &mut dyn GuestMemory) {
        if self.unused_spaces.is_empty() || self.task().state == TaskState::Dead {
            return;
        }
        for (space, program) in std::mem::take(&mut self.unused_spaces) {
            mem.drop_space(space);
            if let Some(at) = program {
                self.fs.let_go(at.ino, mem);
            }
        }
    }

    /// Ends a process whose tasks have all ended: its children get another parent, its own parent
    /// is told.
    fn end_process(&mut self, process: ProcessId, status: Status) {
        self.clear_timers(process, true);
        let held = &mut self.processes[process];
        held.ended = Some(status);
        (held.stopped, held.news) = (None, None);
        let leads_session = held.sid == held.pid;
        let waits = self.is_init(process) && self.end_pid_namespace(process);
        self.processes[process].waits_for_namespace = waits;
        if leads_session {
            self.leave_terminal(process);
        }
        self.give_children_away(process);
        let parent = self.processes[process].parent;
        self.hang_up_orphans(process, parent, true);
        if !waits {
            self.tell_of_end(process, status);
        }
        for (init, status) in self.release_init(process) {
            self.processes[init].waits_for_namespace = false;
            self.tell_of_end(init, status);
        }
    }

    /// Tells those who wait for the end of a process.
    pub(super) fn tell_of_end(&mut self, process: ProcessId, status: Status) {
        if !self.processes[process].zombies.is_empty() {
            return; // with the last of them
        }
        if let Some(queue) = self.processes[process].queue {
            self.files.process_ended(process, false);
            self.fs.queues.wake(queue, READABLE);
        }
        self.tell_parent_of_end(process, status);
    }

    /// Tells the parent of the end of a process, after its tracer.
    pub(super) fn tell_of_end_again(&mut self, process: ProcessId) {
        if let Some(status) = self.processes[process].ended {
            self.tell_parent_of_end(process, status);
        }
    }

    /// Sends the signal of a process's end to its parent. Without a parent, or with one that does
    /// not want to wait, nothing is left of the process.
    fn tell_parent_of_end(&mut self, process: ProcessId, status: Status) {
        let held = &self.processes[process];
        let (signo, pid, leader) = (held.exit_signal, held.pid, held.leader);
        if let Some(tracer) = self.tracing_process(leader) {
            let signo = if Some(tracer) == held.parent { signo } else { SIGCHLD };
            return self.tell_of_traced_end(leader, tracer, signo, status.code_and_value());
        }
        let Some(parent) = held.parent else {
            if pid != PID {
                self.reap(process);
            }
            return;
        };
        let (uid, cpu) = (self.tasks[held.leader].cred.uid.real, held.cpu);
        let action = self.handlers_of(parent).get(SIGCHLD);
        let ignored = action.handler == SIG_IGN;
        let reaps = signo == SIGCHLD && (ignored || action.flags & sa::NOCLDWAIT != 0);
        if bit(signo) != 0 && !(signo == SIGCHLD && ignored) {
            let (code, value) = status.code_and_value();
            let pid = self.pid_for(parent, pid);
            let info = SigInfo::child(signo, code, pid, uid, value, cpu);
            self.send_to(parent, info);
        }
        if reaps {
            self.reap(process);
        }
        self.wake(WaitKey::Child(parent));
    }

    /// Takes what is left of a process that has ended: its usage goes to its parent.
    pub(super) fn reap(&mut self, process: ProcessId) {
        let held = &self.processes[process];
        let (parent, pid, leader, queue) = (held.parent, held.pid, held.leader, held.queue);
        let mut used = held.of_children;
        used.add(Usage { cpu: held.cpu, resident: held.max_rss });
        if let Some(parent) = parent {
            let parent = &mut self.processes[parent];
            parent.children.retain(|child| *child != process);
            parent.of_children.add(used);
        }
        if queue.is_some() {
            self.files.process_ended(process, true);
        }
        self.unlink(leader);
        self.remove_number(pid);
        self.graves.push(leader);
        self.bury();
    }

    /// Removes the tasks that have ended and are not waited for, and processes with the last one.
    /// The running task and its process stay until another one runs.
    pub(crate) fn bury(&mut self) {
        let here = self.current();
        let leader = self.process().leader;
        for task in std::mem::take(&mut self.graves) {
            if task == here || task == leader {
                self.graves.push(task);
                continue;
            }
            let Some(mut gone) = self.tasks.release(task) else { continue };
            gone.signals.pending.remove(u64::MAX, &mut self.queued);
            self.fs.forget_subject(Subject::Task(task));
            self.forget_clock(CpuClock::Task(task));
            let Shared { process, mm, handlers, fds, fs_context } = gone.shared;
            self.give_up_mm(mm);
            self.handlers.release(handlers);
            self.fd_tables.release(fds);
            self.fs_contexts.release(fs_context);
            if self.processes.get(process).is_some_and(|held| held.leader == task) {
                if let Some(mut gone) = self.processes.release(process) {
                    gone.pending.remove(u64::MAX, &mut self.queued);
                }
                self.forget_clock(CpuClock::Process(process));
                self.fs.forget_subject(Subject::Process(process));
            }
        }
    }

    /// The task that made children has ended: another one of its process is their parent now, and
    /// those who asked for it are told, prctl(2) PR_SET_PDEATHSIG.
    fn leave_children(&mut self, process: ProcessId, task: TaskId) {
        let heir = self.processes[process].tasks.iter().copied().find(|other| *other != task);
        for child in self.processes[process].children.clone() {
            if self.processes[child].creator != task {
                continue;
            }
            if let Some(heir) = heir {
                self.processes[child].creator = heir;
            }
            for member in self.processes[child].tasks.clone() {
                let signo = self.tasks[member].pdeathsig;
                if bit(signo) != 0 {
                    self.send_to(child, SigInfo::user(signo, 0, 0, 0));
                }
            }
        }
    }

    /// Gives the children of a process that has ended to the nearest subreaper above in its PID
    /// namespace, or to init, of which the machine's waits for them at once.
    fn give_children_away(&mut self, process: ProcessId) {
        let namespace = self.pid_ns(process);
        let within = |kernel: &Kernel, id: &ProcessId| kernel.pid_ns(*id) == namespace;
        let mut above = self.processes[process].parent.filter(|id| within(self, id));
        while let Some(id) = above
            && !(self.processes[id].child_subreaper && self.processes[id].ended.is_none())
        {
            above = self.processes[id].parent.filter(|id| within(self, id));
        }
        let above = above.or_else(|| self.init_of(process));
        for child in std::mem::take(&mut self.processes[process].children) {
            let (ppid, creator) = match above {
                Some(id) => (self.processes[id].pid, self.processes[id].tasks.first().copied()),
                None => (INIT, None),
            };
            let held = &mut self.processes[child];
            (held.parent, held.ppid, held.exit_signal) = (above, ppid, SIGCHLD);
            held.creator = creator.unwrap_or(held.creator);
            let ended = held.ended;
            if let Some(id) = above {
                self.processes[id].children.push(child);
            }
            if let Some(status) = ended {
                if self.is_waitable(child) {
                    self.tell_parent_of_end(child, status);
                }
            } else {
                self.hang_up_orphans(child, Some(process), false);
            }
        }
    }

    /// The signal handlers of a process.
    pub(super) fn handlers_of(&self, process: ProcessId) -> &SignalHandlers {
        &self.handlers[self.tasks[self.leader(process)].shared.handlers]
    }

    /// The status of the first process, once it has ended.
    pub fn status(&self) -> Option<Status> {
        self.first_end.map(|(status, _)| status)
    }

    /// The instruction count at which the first process ended.
    pub(crate) fn first_ended_at(&self) -> Option<u64> {
        self.first_end.map(|(_, at)| at)
    }

    /// Notes how much memory the running process has.
    pub(crate) fn note_resident(&mut self, mem: &mut dyn GuestMemory) {
        let peak = mem.usage().resident_peak;
        let process = self.process_mut();
        process.max_rss = process.max_rss.max(peak);
    }
}
