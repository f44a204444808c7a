//! Tasks and processes as `/proc` shows them to the running task.

use crate::abi::capability::CAP_SYS_PTRACE;
use crate::abi::errno::Errno;
use crate::kernel::arena::{Arena, FdTableId, FsContextId, MmId, ProcessId, TaskId};
use crate::kernel::fdtable::FdTable;
use crate::kernel::mm::Mm;
use crate::kernel::namespace::kind::{Kind, NsId, NsLink};
use crate::kernel::pids::Pids;
use crate::kernel::process::Process;
use crate::kernel::sched::TaskState;
use crate::kernel::task::Task;
use crate::kernel::vfs::context::FsContext;
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::proc_file::Subject;

/// The owner of the files of a process in `/proc`.
#[derive(Clone, Copy)]
pub(crate) struct ProcOwner {
    /// The one of its directory.
    pub(crate) of_directory: (u32, u32),
    /// The one of the files: root, where others may not look into the process.
    pub(crate) of_files: (u32, u32),
}

/// The kernel's tables of tasks and of what they share.
#[derive(Clone, Copy)]
pub(crate) struct TaskTable<'a> {
    pub(in crate::kernel) tasks: &'a Arena<TaskId, Task>,
    pub(in crate::kernel) processes: &'a Arena<ProcessId, Process>,
    pub(in crate::kernel) mms: &'a Arena<MmId, Mm>,
    pub(in crate::kernel) fd_tables: &'a Arena<FdTableId, FdTable>,
    pub(in crate::kernel) fs_contexts: &'a Arena<FsContextId, FsContext>,
    pub(in crate::kernel) pids: &'a Pids,
    pub(in crate::kernel) current: TaskId,
}

impl<'a> TaskTable<'a> {
    /// Tests whether the file of this device and number is a program that runs.
    pub(crate) fn runs(&self, file: (u64, u64)) -> bool {
        self.mms.iter().any(|(_, mm)| mm.exe_file == Some(file))
    }

    /// The task that is meant: of a process its leader, which may have ended before the others.
    pub(in crate::kernel) fn task(&self, subject: Subject) -> Option<(TaskId, &'a Task)> {
        let id = match subject {
            Subject::Process(process) => self.processes.get(process)?.leader,
            Subject::Task(task) => task,
        };
        let task = self.tasks.get(id)?;
        let leads = self.processes.get(task.shared.process)?.leader == id;
        (leads || task.state != TaskState::Dead).then_some((id, task))
    }

    /// The address space of a task that has not ended.
    pub(in crate::kernel) fn live(&self, task: &Task) -> Option<MmId> {
        (task.state != TaskState::Dead).then_some(task.shared.mm)
    }

    /// The task that is meant, unless it has ended.
    fn live_task(&self, subject: Subject) -> Option<&'a Task> {
        self.task(subject).map(|(_, task)| task).filter(|task| task.state != TaskState::Dead)
    }

    /// Checks that the running task may look into another one, `ptrace_may_access`: EPERM unless it
    /// is of the same process, or of the same user and no program of another's.
    pub(in crate::kernel) fn may(&self, other: &Task) -> Result<(), Errno> {
        let own = &self.tasks[self.current];
        if own.shared.process == other.shared.process {
            return Ok(());
        }
        let (uid, gid) = (other.cred.uid, other.cred.gid);
        let same = [uid.real, uid.effective, uid.saved].iter().all(|id| *id == own.cred.uid.real)
            && [gid.real, gid.effective, gid.saved].iter().all(|id| *id == own.cred.gid.real);
        let dumpable = self.mms.get(other.shared.mm).is_none_or(|mm| mm.dumpable == 1);
        let privileged = own.cred.capable_over(&other.cred.user_ns, CAP_SYS_PTRACE);
        let caps = own.cred.user_ns.id == other.cred.user_ns.id
            && other.cred.caps.permitted & !own.cred.caps.permitted == 0;
        if privileged || same && dumpable && caps { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// The numbers of the running process and task in a PID namespace; none if they are not in it.
    pub(crate) fn own(&self, namespace: NsId) -> Option<(i32, i32)> {
        let task = &self.tasks[self.current];
        let pid = self.pids.shown(namespace, self.processes[task.shared.process].pid);
        (pid != 0).then(|| (pid, self.pids.shown(namespace, task.tid)))
    }

    /// The process or task with a number in a PID namespace: a process by the one of its leader.
    pub(crate) fn find(&self, namespace: NsId, number: i32) -> Option<Subject> {
        let task = self.pids.find(self.pids.global(namespace, number))?;
        let process = self.tasks[task].shared.process;
        let leads = self.processes[process].leader == task;
        Some(if leads { Subject::Process(process) } else { Subject::Task(task) })
    }

    /// The leader of a process.
    pub(crate) fn leader(&self, process: ProcessId) -> Option<Subject> {
        Some(Subject::Task(self.processes.get(process)?.leader))
    }

    /// The process of something.
    pub(crate) fn process(&self, subject: Subject) -> Option<Subject> {
        self.task(subject).map(|(_, task)| Subject::Process(task.shared.process))
    }

    /// The number of something in a PID namespace, if anything is left of it and it is in there.
    pub(crate) fn number(&self, namespace: NsId, subject: Subject) -> Option<i32> {
        let shown = self.task(subject).map(|(_, task)| self.pids.shown(namespace, task.tid));
        shown.filter(|number| *number != 0)
    }

    /// The numbers of all processes of a PID namespace, rising.
    pub(crate) fn processes(&self, namespace: NsId) -> Vec<i32> {
        let there = self.processes.iter().filter(|(_, process)| self.pids.find(process.pid).is_some());
        let shown = there.map(|(_, process)| self.pids.shown(namespace, process.pid));
        shown.filter(|number| *number != 0).collect()
    }

    /// The numbers of the tasks of a process in a PID namespace.
    pub(crate) fn tasks(&self, namespace: NsId, subject: Subject) -> Vec<i32> {
        let Some((_, task)) = self.task(subject) else { return Vec::new() };
        let process = &self.processes[task.shared.process];
        let others = process.tasks.iter().filter(|task| **task != process.leader);
        std::iter::once(&process.leader)
            .chain(others)
            .filter_map(|task| Some(self.pids.shown(namespace, self.tasks.get(*task)?.tid)))
            .collect()
    }

    /// Owner of its files.
    pub(crate) fn owner(&self, subject: Subject) -> Option<ProcOwner> {
        let (_, task) = self.task(subject)?;
        let of_directory = (task.cred.uid.effective, task.cred.gid.effective);
        let open = self.live_task(subject).is_some_and(|task| self.mms[task.shared.mm].dumpable == 1);
        Some(ProcOwner { of_directory, of_files: if open { of_directory } else { (0, 0) } })
    }

    /// Checks that the running task may look into it; EACCES.
    pub(crate) fn may_look_into(&self, subject: Subject) -> Result<(), Errno> {
        let (_, task) = self.task(subject).ok_or(Errno::ENOENT)?;
        self.may(task).map_err(|_| Errno::EACCES)
    }

    /// Tells if it is of the running process.
    pub(crate) fn is_own(&self, subject: Subject) -> bool {
        self.task(subject)
            .is_some_and(|(_, task)| task.shared.process == self.tasks[self.current].shared.process)
    }

    /// Its descriptors; none once it has ended.
    pub(crate) fn fds(&self, subject: Subject) -> Option<&'a FdTable> {
        self.live_task(subject).map(|task| &self.fd_tables[task.shared.fds])
    }

    /// Its working directory and root; none once it has ended.
    pub(crate) fn places(&self, subject: Subject) -> Option<&'a FsContext> {
        self.live_task(subject).map(|task| &self.fs_contexts[task.shared.fs_context])
    }

    /// The namespace that a link of `/proc/PID/ns` leads to; none once it has ended.
    pub(crate) fn namespace(&self, subject: Subject, link: NsLink) -> Option<NsId> {
        let task = self.live_task(subject)?;
        if link == NsLink::OfChildren(Kind::Pid) && !self.pids.has_begun(task.namespaces.pid_of_children) {
            return None;
        }
        Some(task.namespaces.get(link).unwrap_or(task.cred.user_ns.id))
    }

    /// The path of its program and its place; none once it has ended.
    pub(crate) fn exe(&self, subject: Subject) -> Option<(&'a [u8], Option<At>)> {
        let mm = &self.mms[self.live_task(subject)?.shared.mm];
        Some((mm.exe.as_bytes(), mm.exe_at))
    }

    /// Its address space; none once it has ended.
    pub(crate) fn mm(&self, subject: Subject) -> Option<MmId> {
        self.live_task(subject).map(|task| task.shared.mm)
    }
}
