//! The text of each file of `/proc` and `/sys` as it is now.

use crate::abi::time::NSEC_PER_SEC;
use crate::guest::{GuestCpu, GuestMemory, PAGE_SIZE};
use crate::kernel::clock::MONOTONIC_START;
use crate::kernel::procfs::{machine, memory, task};
use crate::kernel::state::Kernel;
use crate::kernel::vfs::node::ProcFile;

impl Kernel {
    /// Makes the text of a file.
    pub(crate) fn proc_text(
        &mut self,
        file: ProcFile,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Vec<u8> {
        let elapsed = match file {
            ProcFile::Uptime | ProcFile::KernelStat | ProcFile::Stat | ProcFile::FdInfo(_) => self.now(cpu),
            _ => 0,
        };
        let uptime = MONOTONIC_START.saturating_add(elapsed);
        let text = match file {
            ProcFile::Text(text) => text.to_owned(),
            ProcFile::CpuInfo => machine::CPUINFO.to_owned(),
            ProcFile::MemInfo => machine::meminfo(mem.resident()),
            ProcFile::VmStat => machine::vmstat(mem.resident()),
            ProcFile::KernelStat => machine::kernel_stat(uptime),
            ProcFile::Uptime => {
                let (seconds, hundredths) = (uptime / NSEC_PER_SEC, uptime / 10_000_000 % 100);
                format!("{seconds}.{hundredths:02} {}.00\n", MONOTONIC_START / NSEC_PER_SEC)
            }
            ProcFile::LoadAvg => format!("0.00 0.00 0.00 1/1 {}\n", self.process().pid),
            ProcFile::Locks => self.proc_locks(),
            ProcFile::Uuid => self.new_uuid(),
            ProcFile::Maps => memory::maps(&mem.mappings()),
            ProcFile::Smaps => memory::smaps(&mem.mappings(), mem),
            ProcFile::SmapsRollup => memory::smaps_rollup(&mem.mappings(), mem),
            ProcFile::Status => self.proc_status(mem),
            ProcFile::Stat => self.proc_stat(elapsed, mem),
            ProcFile::Statm => {
                let usage = mem.usage();
                let (size, resident) = (usage.mapped / PAGE_SIZE, usage.resident / PAGE_SIZE);
                format!("{size} {resident} 0 0 0 {size} 0\n")
            }
            ProcFile::HostName => return [&self.names.host[..], b"\n"].concat(),
            ProcFile::DomainName => return [&self.names.domain[..], b"\n"].concat(),
            ProcFile::Cmdline => return self.mm().cmdline(mem),
            ProcFile::Comm => return [self.task().name(), b"\n"].concat(),
            ProcFile::Environ => return self.mm().environ(mem),
            ProcFile::Auxv => return self.mm().auxv.clone(),
            ProcFile::Limits => task::limits(&self.process().limits),
            ProcFile::Personality => format!("{:08x}\n", self.task().personality),
            ProcFile::TimerSlack => format!("{}\n", self.task().timerslack),
            ProcFile::Io => self.proc_io(),
            ProcFile::FdInfo(fd) => self.proc_fdinfo(fd, elapsed),
            ProcFile::Mounts => machine::mounts(),
            ProcFile::MountInfo => machine::mountinfo(),
            ProcFile::PageMap => String::new(), // not a text: `file/pagemap.rs` reads it
        };
        text.into_bytes()
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
