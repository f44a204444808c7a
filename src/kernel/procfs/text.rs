//! The text of each file of `/proc` and `/sys` as it is now.

use crate::abi::errno::Errno;
use crate::abi::resource::CpuTime;
use crate::abi::time::NSEC_PER_SEC;
use crate::guest::{GuestCpu, GuestMemory};
use crate::kernel::arena::TaskId;
use crate::kernel::clock::MONOTONIC_START;
use crate::kernel::fdtable::FileNo;
use crate::kernel::namespace::kind::{Kind, NsLink};
use crate::kernel::procfs::machine::{self, Activity};
use crate::kernel::procfs::net;
use crate::kernel::procfs::task::View;
use crate::kernel::sched::TaskState;
use crate::kernel::state::Kernel;
use crate::kernel::vfs::proc_file::{ProcFile, ProcSource};

impl Kernel {
    /// Makes the text of an open file of `/proc` that is read from its beginning, or for the first
    /// time; of a long one the first part.
    ///
    /// # Errors
    /// ESRCH where the process is gone, and others that Linux has for a read.
    pub(crate) fn renew_text(
        &mut self,
        file: FileNo,
        at: Option<u64>,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        if let Some(source) = self.files.get(file).ops.proc_source()
            && (source.next == Some(0) || at == Some(0))
        {
            self.make_text(file, ProcSource { next: Some(0), ..source }, cpu, mem)?;
        }
        Ok(())
    }

    /// Makes the next part of such a text that is to be read up to `end`; false if there is enough.
    ///
    /// # Errors
    /// As those of `renew_text`.
    pub(crate) fn extend_text(
        &mut self,
        file: FileNo,
        end: u64,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Result<bool, Errno> {
        let source = self.files.get(file).ops.proc_source();
        let Some(source) = source.filter(|source| source.next.is_some() && (source.len as u64) < end) else {
            return Ok(false);
        };
        self.make_text(file, source, cpu, mem)?;
        Ok(true)
    }

    fn make_text(
        &mut self,
        file: FileNo,
        source: ProcSource,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let from = source.next.unwrap_or(0);
        let (part, next) = match source.file {
            ProcFile::Maps | ProcFile::Smaps => {
                let (now, instructions) = (self.now(cpu), cpu.instructions());
                View::new(self, source, now, instructions)?.mappings(source.file, from, mem)
            }
            _ => (self.proc_text(source, cpu, mem)?, None),
        };
        self.files.get_mut(file).ops.add_text(from == 0, part, next);
        Ok(())
    }

    fn proc_text(
        &mut self,
        source: ProcSource,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Result<Vec<u8>, Errno> {
        let (now, instructions) = (self.now(cpu), cpu.instructions());
        match (source.file, source.subject) {
            (ProcFile::Locks, _) => self.number_files(None),
            (ProcFile::FdInfo(fd), Some(subject)) => {
                let file = self.table().fds(subject).and_then(|fds| fds.get(fd).ok());
                self.number_files(file);
            }
            _ => {}
        }
        if let ProcFile::Net(file) = source.file {
            let link = NsLink::Own(Kind::Net);
            let namespace = source.subject.and_then(|subject| self.table().namespace(subject, link));
            return Ok(net::text(&self.fs.net, namespace.ok_or(Errno::EINVAL)?, file).into_bytes());
        }
        if source.subject.is_some() {
            return View::new(self, source, now, instructions)?.text(source.file, mem);
        }
        let uptime = MONOTONIC_START.saturating_add(now);
        let ran = CpuTime { user: instructions, system: self.clock.worked() };
        let text = match source.file {
            ProcFile::Text(text) => text.to_owned(),
            ProcFile::CpuInfo => machine::CPUINFO.to_owned(),
            ProcFile::MemInfo => machine::meminfo(mem.resident()),
            ProcFile::VmStat => machine::vmstat(mem.resident()),
            ProcFile::KernelStat => machine::kernel_stat(uptime, ran, self.activity()),
            ProcFile::Uptime => {
                let seconds =
                    |ns: u64| format!("{}.{:02}", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 10_000_000);
                format!("{} {}\n", seconds(uptime), seconds(uptime.saturating_sub(ran.total())))
            }
            ProcFile::LoadAvg => {
                let Activity { runnable, tasks, last, .. } = self.activity();
                format!("0.00 0.00 0.00 {runnable}/{tasks} {last}\n")
            }
            ProcFile::Locks => self.proc_locks(),
            ProcFile::SysvMsg => self.proc_msg(),
            ProcFile::SysvSem => self.proc_sem(),
            ProcFile::SysvShm => self.proc_shm(mem),
            ProcFile::Keys => return Ok(self.proc_keys(self.real_time(cpu).sec)),
            ProcFile::KeyUsers => self.proc_key_users(self.real_time(cpu).sec),
            ProcFile::Uuid => self.new_uuid(),
            ProcFile::AioNr => format!("{}\n", self.aio_requests()),
            ProcFile::HostName => return Ok([&self.names().host[..], b"\n"].concat()),
            ProcFile::DomainName => return Ok([&self.names().domain[..], b"\n"].concat()),
            _ => String::new(), // of a task
        };
        Ok(text.into_bytes())
    }

    /// The tasks in numbers.
    fn activity(&self) -> Activity {
        let runs =
            |task: &TaskId| self.tasks.get(*task).is_some_and(|task| task.state == TaskState::Runnable);
        let (tasks, runnable) = (self.live().count(), self.live().filter(runs).count());
        Activity { tasks, runnable, made: self.pids.made(), last: self.pids.last() }
    }

    /// A line with a new random UUID of version 4, from the stream that getrandom(2) reads.
    fn new_uuid(&mut self) -> String {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        bytes[6] = bytes[6] & 0xf | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{}-{}-{}-{}\n", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}
