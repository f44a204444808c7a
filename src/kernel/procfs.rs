//! The texts of `/proc` and `/sys`, proc(5). The machine is always the same: one CPU, 4 GiB, no
//! swap.

use std::fmt::Write;

use crate::abi::resource::{RLIM_INFINITY, Resource};
use crate::abi::time::{CLK_TCK_NS, NSEC_PER_SEC};
use crate::guest::{GuestCpu, GuestMemory, Mapping, PAGE_SIZE, Prot};
use crate::kernel::clock::{MONOTONIC_START, REALTIME_START};
use crate::kernel::process::Process;
use crate::kernel::state::Kernel;
use crate::kernel::vfs::node::ProcFile;

/// Memory of the emulated machine in bytes.
pub(crate) const TOTAL_MEMORY: u64 = 4 << 30;

impl Kernel {
    /// Makes the text of a file.
    pub(crate) fn proc_text(
        &self,
        file: ProcFile,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Vec<u8> {
        let elapsed = match file {
            ProcFile::Uptime | ProcFile::KernelStat | ProcFile::Stat => self.now(cpu),
            _ => 0,
        };
        let uptime = MONOTONIC_START.saturating_add(elapsed);
        match file {
            ProcFile::Text(text) => text.into(),
            ProcFile::CpuInfo => CPUINFO.into(),
            ProcFile::MemInfo => meminfo(mem.resident()).into_bytes(),
            ProcFile::KernelStat => kernel_stat(uptime).into_bytes(),
            ProcFile::Uptime => {
                let (seconds, hundredths) = (uptime / NSEC_PER_SEC, uptime / 10_000_000 % 100);
                format!("{seconds}.{hundredths:02} {}.00\n", MONOTONIC_START / NSEC_PER_SEC).into_bytes()
            }
            ProcFile::LoadAvg => format!("0.00 0.00 0.00 1/1 {}\n", self.process().pid).into_bytes(),
            ProcFile::Maps => maps(&mem.mappings()).into_bytes(),
            ProcFile::Status => self.proc_status(mem).into_bytes(),
            ProcFile::Stat => self.proc_stat(elapsed, mem).into_bytes(),
            ProcFile::Statm => {
                let (size, resident) = (mapped(mem) / PAGE_SIZE, mem.resident() / PAGE_SIZE);
                format!("{size} {resident} 0 0 0 {size} 0\n").into_bytes()
            }
            ProcFile::Cmdline => with_nuls(&self.mm().argv),
            ProcFile::Comm => [self.task().name(), b"\n"].concat(),
            ProcFile::Environ => with_nuls(&self.mm().envp),
            ProcFile::Auxv => self.mm().auxv.clone(),
            ProcFile::Limits => limits(self.process()).into_bytes(),
            ProcFile::Mounts => mounts().into_bytes(),
            ProcFile::MountInfo => mountinfo().into_bytes(),
        }
    }

    /// `/proc/PID/status`; the fields that programs look for.
    fn proc_status(&self, mem: &mut dyn GuestMemory) -> String {
        let (size, resident) = (mapped(mem) / 1024, mem.resident() / 1024);
        let process = self.process();
        let cred = &self.task().cred;
        let (pid, uid, gid) = (process.pid, cred.uid, cred.gid);
        let groups: String = cred.groups.iter().map(|gid| format!("{gid} ")).collect();
        let capabilities = if uid == 0 { "000001ffffffffff" } else { "0000000000000000" };
        let mut text = format!(
            "Name:\t{}\nUmask:\t{:04o}\nState:\tR (running)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\nPPid:\t{}\n\
             TracerPid:\t0\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nGid:\t{gid}\t{gid}\t{gid}\t{gid}\nFDSize:\t{}\n\
             Groups:\t{groups}\nNStgid:\t{pid}\nNSpid:\t{pid}\n",
            String::from_utf8_lossy(self.task().name()),
            self.fs_context().umask,
            process.ppid,
            self.fds().size()
        );
        let maps = mem.mappings();
        let kib = |which: fn(&Mapping) -> bool| {
            maps.iter().filter(|map| which(map)).map(|map| map.end - map.start).sum::<u64>() / 1024
        };
        let rows = [("VmPeak", size), ("VmSize", size), ("VmLck", kib(|map| map.locked)), ("VmPin", 0)];
        for (name, kib) in rows {
            let _ = writeln!(text, "{name}:\t{kib:>8} kB");
        }
        for name in ["VmHWM", "VmRSS", "RssAnon"] {
            let _ = writeln!(text, "{name}:\t{resident:>8} kB");
        }
        let _ = write!(
            text,
            "VmSwap:\t       0 kB\nThreads:\t1\nSigQ:\t0/31000\nCapInh:\t0000000000000000\nCapPrm:\t{capabilities}\n\
             CapEff:\t{capabilities}\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\n\
             Seccomp:\t0\nCpus_allowed:\t1\nCpus_allowed_list:\t0\nMems_allowed:\t1\nMems_allowed_list:\t0\n\
             voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n"
        );
        text
    }

    /// `/proc/PID/stat`: 52 fields. Time in user mode is the clock's; start of the stack is the
    /// mapping's end.
    fn proc_stat(&self, elapsed: u64, mem: &mut dyn GuestMemory) -> String {
        let (size, resident) = (mapped(mem), mem.resident() / PAGE_SIZE);
        let stack =
            mem.mappings().iter().rev().find(|map| map.label == Some("[stack]")).map_or(0, |map| map.end);
        let process = self.process();
        let ticks = elapsed / CLK_TCK_NS;
        let start = MONOTONIC_START / CLK_TCK_NS;
        let (pid, ppid, pgid, sid) = (process.pid, process.ppid, process.pgid, process.sid);
        let comm = String::from_utf8_lossy(self.task().name()).into_owned();
        let mut text = format!(
            "{pid} ({comm}) R {ppid} {pgid} {sid} 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {start} {size} \
             {resident} {RLIM_INFINITY} 0 0 {stack} 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0"
        );
        text.push_str(" 0 0 0 0 0 0 0 0\n");
        text
    }
}

fn with_nuls(strings: &[Vec<u8>]) -> Vec<u8> {
    strings.iter().flat_map(|string| string.iter().copied().chain([0])).collect()
}

const MOUNTS: [(&str, &str, &str); 5] = [
    ("/dev/root", "/", "ext4"),
    ("proc", "/proc", "proc"),
    ("sysfs", "/sys", "sysfs"),
    ("devtmpfs", "/dev", "devtmpfs"),
    ("tmpfs", "/dev/shm", "tmpfs"),
];

fn mounts() -> String {
    MOUNTS.iter().map(|(device, at, kind)| format!("{device} {at} {kind} rw,relatime 0 0\n")).collect()
}

fn mountinfo() -> String {
    let mut text = String::new();
    for (at, (device, path, kind)) in MOUNTS.iter().enumerate() {
        let parent = if at == 0 { 1 } else { 20 };
        let minor = if at == 0 { "8:1".to_owned() } else { format!("0:{}", at + 4) };
        let _ = writeln!(
            text,
            "{} {parent} {minor} / {path} rw,relatime shared:{} - {kind} {device} rw",
            20 + at,
            at + 1
        );
    }
    text
}

fn meminfo(resident: u64) -> String {
    let total = TOTAL_MEMORY / 1024;
    let free = total.saturating_sub(resident / 1024);
    let rows = [
        ("MemTotal", total),
        ("MemFree", free),
        ("MemAvailable", free),
        ("Buffers", 0),
        ("Cached", 0),
        ("SwapCached", 0),
        ("Active", resident / 1024),
        ("Inactive", 0),
        ("SwapTotal", 0),
        ("SwapFree", 0),
        ("Dirty", 0),
        ("AnonPages", resident / 1024),
        ("Mapped", 0),
        ("Shmem", 0),
        ("CommitLimit", total / 2),
        ("Committed_AS", resident / 1024),
        ("VmallocTotal", 34_359_738_367),
    ];
    let mut text: String =
        rows.iter().map(|(name, value)| format!("{:<16}{value:>8} kB\n", format!("{name}:"))).collect();
    text.push_str("HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n");
    text
}

fn kernel_stat(uptime: u64) -> String {
    let ticks = uptime / CLK_TCK_NS;
    let boot = (REALTIME_START - MONOTONIC_START) / NSEC_PER_SEC;
    format!(
        "cpu  {ticks} 0 0 0 0 0 0 0 0 0\ncpu0 {ticks} 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime {boot}\n\
         processes 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n"
    )
}

/// `/proc/PID/maps`, as `show_map_vma` prints it.
fn maps(mappings: &[Mapping]) -> String {
    let mut text = String::new();
    for map in mappings {
        let bit = |prot: Prot, letter| if map.prot.allows(prot) { letter } else { '-' };
        let (dev, inode) = map.file.as_ref().map_or((0, 0), |file| (file.device, file.inode));
        let line = format!(
            "{:08x}-{:08x} {}{}{}{} {:08x} {:02x}:{:02x} {inode} ",
            map.start,
            map.end,
            bit(Prot::READ, 'r'),
            bit(Prot::WRITE, 'w'),
            bit(Prot::EXEC, 'x'),
            if map.shared { 's' } else { 'p' },
            map.offset,
            dev >> 8,
            dev & 0xff
        );
        let name = map.file.as_ref().map_or(map.label.unwrap_or(""), |file| &file.path);
        if name.is_empty() {
            let _ = writeln!(text, "{line}");
        } else {
            let _ = writeln!(text, "{line:<73}{}", name.replace('\n', "\\012"));
        }
    }
    text
}

fn mapped(mem: &dyn GuestMemory) -> u64 {
    mem.mappings().iter().map(|map| map.end.saturating_sub(map.start)).sum()
}

/// `/proc/PID/limits`.
fn limits(process: &Process) -> String {
    let rows = [
        ("Max cpu time", None, "seconds"),
        ("Max file size", Some(Resource::Fsize), "bytes"),
        ("Max data size", None, "bytes"),
        ("Max stack size", Some(Resource::Stack), "bytes"),
        ("Max open files", Some(Resource::Nofile), "files"),
        ("Max address space", None, "bytes"),
    ];
    let show = |value: u64| if value == RLIM_INFINITY { "unlimited".to_owned() } else { value.to_string() };
    let mut text = format!("{:<25} {:<20} {:<20} {:<10}\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    for (name, resource, unit) in rows {
        let soft = resource.map_or(RLIM_INFINITY, |resource| process.limits.soft(resource));
        let hard = if resource == Some(Resource::Nofile) { 1 << 20 } else { RLIM_INFINITY };
        let _ = writeln!(text, "{name:<25} {:<20} {:<20} {unit:<10}", show(soft), show(hard));
    }
    text
}

/// An x86-64-v2 processor, the one whose CPUID the guest sees.
const CPUINFO: &str = "processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 26
model name\t: cgemu x86-64-v2
stepping\t: 3
microcode\t: 0x1
cpu MHz\t\t: 1000.000
cache size\t: 8192 KB
physical id\t: 0
siblings\t: 1
core id\t\t: 0
cpu cores\t: 1
apicid\t\t: 0
initial apicid\t: 0
fpu\t\t: yes
fpu_exception\t: yes
cpuid level\t: 11
wp\t\t: yes
flags\t\t: fpu tsc cx8 cmov mmx fxsr sse sse2 syscall nx lm constant_tsc pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm
bugs\t\t:
bogomips\t: 2000.00
clflush size\t: 64
cache_alignment\t: 64
address sizes\t: 40 bits physical, 48 bits virtual
power management:

";
