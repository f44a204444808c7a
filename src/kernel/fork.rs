//! Making tasks and processes, clone(2): what a child shares with its maker, what it gets a copy
//! of, and what it begins anew.

use crate::abi::capability::{CAP_SYS_ADMIN, CAP_SYS_RESOURCE};
use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::abi::ptrace::PTRACE_EVENT_VFORK_DONE;
use crate::abi::resource::Resource;
use crate::abi::signal::AltStack;
use crate::guest::{GuestMemory, SpaceId};
use crate::kernel::arena::{FdTableId, FsContextId, HandlersId, Key, MmId, ProcessId, TaskId};
use crate::kernel::mm::{Mm, space_of};
use crate::kernel::sched::{Call, WaitKey};
use crate::kernel::state::Kernel;
use crate::kernel::task::{Shared, Task};

/// Reason why there is no new task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CloneError {
    /// The error number.
    Errno(Errno),
    /// There would be more processes and threads than the user allows.
    TooMany(usize),
}

impl From<Errno> for CloneError {
    fn from(errno: Errno) -> CloneError {
        CloneError::Errno(errno)
    }
}

impl Kernel {
    /// Makes a task like the running one by flags of clone(2) that have been checked. It may run at
    /// once, but has no registers yet.
    ///
    /// # Errors
    /// EAGAIN at RLIMIT_NPROC, ENOMEM at the limit of memory, and the limit of the machine.
    pub(crate) fn clone_task(
        &mut self,
        flags: u64,
        exit_signal: i32,
        mem: &mut dyn GuestMemory,
    ) -> Result<TaskId, CloneError> {
        let has = |flag| flags & flag != 0;
        self.check_number_of_tasks()?;
        let maker = self.task().clone();
        let from = maker.shared;
        let mut cred = maker.cred.clone();
        if has(CLONE_NEWUSER) {
            self.enter_new_user(&mut cred)?;
        }
        let (namespaces, copies) = self.new_namespaces(flags, &cred, mem)?;
        let beside = has(CLONE_PARENT) && self.is_init(from.process);
        if has(CLONE_THREAD) && namespaces.pid != namespaces.pid_of_children || beside {
            return Err(Errno::EINVAL.into());
        }
        let keyrings = self.keyrings_of_clone(has(CLONE_THREAD))?;
        let tid = self.pids.allocate(namespaces.pid_of_children)?;
        let mm = if has(CLONE_VM) { Ok(self.share_mm(from.mm)) } else { self.copy_mm(from.mm, mem) };
        let mm = mm.inspect_err(|_| self.remove_number(tid))?;
        let handlers = match has(CLONE_SIGHAND) {
            true => {
                self.handlers.hold(from.handlers);
                from.handlers
            }
            false => self.copy_handlers(from.handlers, has(CLONE_CLEAR_SIGHAND)),
        };
        let fds = if has(CLONE_FILES) { self.share_fds(from.fds) } else { self.copy_fds(from.fds) };
        let fs_context =
            if has(CLONE_FS) { self.share_fs(from.fs_context) } else { self.copy_fs(from.fs_context) };
        self.follow_copies(fs_context, &copies);
        let id = self.tasks.next_key();
        let process = match has(CLONE_THREAD) {
            true => {
                self.processes[from.process].tasks.push(id);
                from.process
            }
            false => self.add_child(tid, id, exit_signal, has(CLONE_PARENT)),
        };
        let mut child = maker.child(tid, Shared { process, mm, handlers, fds, fs_context });
        child.cred = cred;
        child.namespaces = namespaces.of_child();
        child.keyrings = keyrings;
        if has(CLONE_VM) && !has(CLONE_VFORK) {
            child.signals.altstack = AltStack::NONE;
        }
        self.tasks.add(child);
        self.live_tasks += 1;
        self.pids.enter(tid, id);
        let event = self.event_of_clone(has(CLONE_VFORK), exit_signal).filter(|_| !has(CLONE_UNTRACED));
        if event.is_some() || has(CLONE_PTRACE) {
            self.attach_child(id);
        }
        if let Some(event) = event {
            self.event_of_child_is_due(event, tid);
        }
        if has(CLONE_VFORK) {
            self.event_of_child_is_due(PTRACE_EVENT_VFORK_DONE, tid);
        }
        self.make_ready(id);
        if has(CLONE_VFORK) {
            self.task_mut().vfork = Some(id);
        }
        Ok(id)
    }

    /// Checks that another task is allowed.
    fn check_number_of_tasks(&self) -> Result<(), CloneError> {
        if self.live_tasks() >= self.max_tasks {
            return Err(CloneError::TooMany(self.max_tasks));
        }
        let cred = &self.task().cred;
        let most = self.process().limits.soft(Resource::Nproc);
        if (self.tasks.len() as u64) < most {
            return Ok(()); // whoever they belong to
        }
        let privileged = cred.uid.real == 0 || cred.capable(CAP_SYS_RESOURCE) || cred.capable(CAP_SYS_ADMIN);
        let same = |task: &Task| task.cred.uid.real == cred.uid.real;
        let count = self.tasks.iter().filter(|(_, task)| same(task)).count() as u64;
        if count >= most && !privileged { Err(Errno::EAGAIN.into()) } else { Ok(()) }
    }

    /// Puts the running task to sleep if it waits for a child of vfork(2) to call execve(2) or to
    /// end. Only what ends it interrupts the wait.
    pub(crate) fn waits_for_vfork(&mut self) -> bool {
        let Some(child) = self.task().vfork else { return false };
        let killed = self.signals().interrupt_pending(true);
        let done = self.tasks.get(child).is_none_or(|child| child.vfork_done);
        if killed || done {
            self.task_mut().vfork = None;
            self.task_mut().call = Call::default();
            return false;
        }
        let call = &mut self.task_mut().call;
        (call.keys, call.killable) = (vec![WaitKey::Vfork(child)], true);
        call.what = "vfork: the child has not ended or called execve".into();
        self.fall_asleep(None);
        true
    }

    /// Number of tasks that have not ended.
    pub(crate) fn live_tasks(&self) -> usize {
        self.live_tasks
    }

    /// Makes the process of a new task: a child of this one, or with CLONE_PARENT of its parent.
    fn add_child(&mut self, pid: i32, leader: TaskId, exit_signal: i32, sibling: bool) -> ProcessId {
        let here = self.task().shared.process;
        let maker = &self.processes[here];
        let exit_signal = if sibling { maker.exit_signal } else { exit_signal };
        let mut child = maker.child(pid, leader, exit_signal);
        (child.parent, child.ppid, child.creator) = match sibling {
            true => (maker.parent, maker.ppid, maker.creator),
            false => (Some(here), maker.pid, self.current()),
        };
        let parent = child.parent;
        let child = self.processes.add(child);
        if let Some(parent) = parent {
            self.processes[parent].children.push(child);
        }
        child
    }

    fn share_mm(&mut self, mm: MmId) -> MmId {
        self.mms.hold(mm);
        mm
    }

    /// Copies an address space with its pages; ENOMEM.
    fn copy_mm(&mut self, mm: MmId, mem: &mut dyn GuestMemory) -> Result<MmId, Errno> {
        let copy = self.mms[mm].fork();
        mem.fork(space_of(self.mms.next_key())).map_err(|_| Errno::ENOMEM)?;
        Ok(self.add_mm(copy))
    }

    /// Adds an address space, which holds its program.
    fn add_mm(&mut self, mm: Mm) -> MmId {
        if let Some(at) = mm.exe_at {
            self.fs.hold(at.ino);
        }
        self.mms.add(mm)
    }

    fn copy_handlers(&mut self, handlers: HandlersId, clear: bool) -> HandlersId {
        let mut copy = self.handlers[handlers].clone();
        if clear {
            copy.exec();
        }
        self.handlers.add(copy)
    }

    fn share_fds(&mut self, fds: FdTableId) -> FdTableId {
        self.fd_tables.hold(fds);
        fds
    }

    /// Copies a descriptor table: both refer to the same descriptions.
    pub(super) fn copy_fds(&mut self, fds: FdTableId) -> FdTableId {
        let owner = self.fd_tables.next_key().index() as u32;
        let copy = self.fd_tables[fds].copy(owner);
        for fd in copy.numbers() {
            if let Ok(file) = copy.get(fd) {
                self.files.hold(file);
            }
        }
        self.fd_tables.add(copy)
    }

    fn share_fs(&mut self, context: FsContextId) -> FsContextId {
        self.fs_contexts.hold(context);
        context
    }

    /// Copies working directory, root and umask.
    pub(super) fn copy_fs(&mut self, context: FsContextId) -> FsContextId {
        let copy = self.fs_contexts[context].clone();
        self.fs.hold(copy.root.ino);
        self.fs.hold(copy.cwd.ino);
        self.fs_contexts.add(copy)
    }

    /// Gives the running task an object of its own in the place of one that it shares.
    fn unshare<K: Copy>(
        &mut self,
        place: fn(&mut Shared) -> &mut K,
        holders: fn(&Kernel, K) -> u32,
        copy: fn(&mut Kernel, K) -> K,
        release: fn(&mut Kernel, K),
    ) {
        let shared = *place(&mut self.task_mut().shared);
        if holders(self, shared) > 1 {
            let own = copy(self, shared);
            *place(&mut self.task_mut().shared) = own;
            release(self, shared);
        }
    }

    /// Gives the running task an address space of its own, to be filled by execve(2): another one
    /// than it had if somebody shares that, or has it open in `/proc`.
    pub(super) fn unshare_mm(&mut self) {
        let mm = self.task().shared.mm;
        if self.mms.holders(mm) > 1 || self.files.shows(space_of(mm)) {
            let own = self.mms[mm].fork();
            self.task_mut().shared.mm = self.add_mm(own);
            self.give_up_mm(mm);
        }
    }

    /// Gives the running task a descriptor table of its own (CLONE_FILES of unshare(2)).
    pub(crate) fn unshare_files(&mut self) {
        self.unshare(
            |shared| &mut shared.fds,
            |kernel, fds| kernel.fd_tables.holders(fds),
            Kernel::copy_fds,
            |kernel, fds| {
                kernel.fd_tables.release(fds);
            },
        );
    }

    /// Gives the running task a working directory, root and umask of its own (CLONE_FS).
    pub(crate) fn unshare_fs(&mut self) {
        self.unshare(
            |shared| &mut shared.fs_context,
            |kernel, context| kernel.fs_contexts.holders(context),
            Kernel::copy_fs,
            |kernel, context| {
                kernel.fs_contexts.release(context);
            },
        );
    }

    /// Gives the running task signal handlers of its own (CLONE_SIGHAND).
    pub(super) fn unshare_handlers(&mut self) {
        self.unshare(
            |shared| &mut shared.handlers,
            |kernel, handlers| kernel.handlers.holders(handlers),
            |kernel, handlers| kernel.copy_handlers(handlers, false),
            |kernel, handlers| {
                kernel.handlers.release(handlers);
            },
        );
    }

    /// Tells if the running task is the only one of its process and, with `memory`, nobody shares
    /// its signal handlers or its memory either.
    pub(crate) fn is_alone(&self, memory: bool) -> bool {
        let Shared { handlers, mm, .. } = self.task().shared;
        let shared = self.handlers.holders(handlers) > 1 || self.mms.holders(mm) > 1;
        self.process().tasks.len() == 1 && !(memory && shared)
    }

    /// The address space of the running task, as memory names it.
    pub fn space(&self) -> SpaceId {
        space_of(self.task().shared.mm)
    }

    /// The address space of a task, as memory names it.
    pub fn space_of_task(&self, task: TaskId) -> SpaceId {
        space_of(self.tasks[task].shared.mm)
    }
}
