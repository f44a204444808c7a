//! The kernel's objects as file operations borrow them.

use crate::abi::errno::Errno;
use crate::abi::resource::Resource;
use crate::guest::{GuestCpu, GuestMemory};
use crate::kernel::fdtable::FdTable;
use crate::kernel::file::description::Descriptions;
use crate::kernel::file::open::Opener;
use crate::kernel::file::operations::FileContext;
use crate::kernel::procfs::tasks::TaskTable;
use crate::kernel::signal::state::Signals;
use crate::kernel::state::{Kernel, Parts};
use crate::kernel::streams::Streams;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::{FileSystem, ImageFile, Time};

impl Kernel {
    /// CLOCK_REALTIME. Asking costs a synchronisation with the CPU.
    pub(crate) fn real_time(&self, cpu: &mut dyn GuestCpu) -> Time {
        Time::from_ns(self.clock.realtime_ns(cpu.instructions()))
    }

    /// The tree, and the running task as the caller of operations on paths that leave the time
    /// stamp `now`.
    pub(crate) fn paths(&mut self, now: Time) -> (&mut FileSystem, Caller<'_>) {
        let (fs, _, _, caller) = self.apart(now);
        (fs, caller)
    }

    /// The path of the running task's working directory.
    pub fn working_directory(&self) -> Vec<u8> {
        self.fs.path_of(self.fs_context().root, self.fs_context().cwd)
    }

    /// open(2) for the running task.
    pub(crate) fn opener<'a>(&'a mut self, now: Time, mem: &'a mut dyn GuestMemory) -> Opener<'a> {
        let terminal = self.process().terminal;
        let (fs, files, streams, caller) = self.apart(now);
        Opener { fs, files, streams, caller, terminal, mem }
    }

    /// The tree, the descriptions, the standard streams and the running task as the caller,
    /// borrowed apart.
    fn apart(&mut self, now: Time) -> (&mut FileSystem, &Descriptions, &Streams, Caller<'_>) {
        let Kernel { tasks, processes, mms, fd_tables, fs_contexts, pids, fs, files, streams, .. } = self;
        let (files, current) = (&*files, self.current);
        let table = TaskTable { tasks, processes, mms, fd_tables, fs_contexts, pids, current };
        let task = &table.tasks[current];
        let caller = Caller {
            cred: &task.cred,
            context: &table.fs_contexts[task.shared.fs_context],
            fds: &table.fd_tables[task.shared.fds],
            files,
            tasks: Some(table),
            now,
            how: 0,
        };
        (fs, files, streams, caller)
    }

    /// The open file descriptions, and the objects that their operations work with for the running
    /// task.
    pub(crate) fn file_ops<'a>(
        &'a mut self,
        cpu: &'a mut dyn GuestCpu,
        mem: &'a mut dyn GuestMemory,
    ) -> (&'a mut Descriptions, FileContext<'a>) {
        let of_others = self.signals_of_others(self.current());
        let pgid = self.shown_pid(self.process().pgid);
        let Parts { task, process, handlers, queued, fs, files, streams, random, clock, .. } = self.parts();
        let size_limit = process.limits.soft(Resource::Fsize);
        let pid = process.pid;
        let cred = &task.cred;
        let (user, shared) = (cred.uid.real, &mut process.pending);
        let unkillable = false; // nothing is delivered here
        let (traced, traps) = (task.tracing.trace.is_some(), false);
        let signals = Signals {
            task: &mut task.signals,
            shared,
            of_others,
            traced,
            traps,
            unkillable,
            handlers,
            user,
            queued,
        };
        (
            files,
            FileContext {
                fs,
                streams,
                random,
                clock,
                cpu,
                mem,
                cred,
                signals,
                pid,
                pgid,
                size_limit,
                reach: usize::MAX,
                late_signal: None,
            },
        )
    }

    /// Closes a descriptor of the running task; EBADF.
    pub(crate) fn close(&mut self, fd: i32, mem: &mut dyn GuestMemory) -> Result<(), Errno> {
        let Parts { fds, fs, files, .. } = self.parts();
        files.close(fds, fd, fs, mem)
    }

    /// The program at an absolute path, for the loader: ENOENT and others of path resolution,
    /// EACCES if it may not be run.
    pub fn image(&mut self, path: &[u8], mem: &mut dyn GuestMemory) -> Result<ImageFile, Errno> {
        // The program is not running yet, so no link of `/proc/self` leads anywhere.
        let fds = FdTable::empty();
        let (fs, caller) = self.paths(Time::default());
        fs.image(&Caller { fds: &fds, tasks: None, ..caller }, path, mem)
    }
}
