//! Texts about the machine. It is always the same: one CPU, 4 GiB, no swap, a disk at rest.

use crate::abi::resource::CpuTime;
use crate::abi::time::{CLK_TCK_NS, NSEC_PER_SEC};
use crate::guest::PAGE_SIZE;
use crate::kernel::clock::{MONOTONIC_START, REALTIME_START};
use crate::kernel::procfs::memory::row;
use crate::kernel::vfs::mount::MountId;
use crate::kernel::vfs::node::{DEV_DEV, HOST_DEV, PROC_DEV, PTS_DEV, SHM_DEV, SYS_DEV};

/// Memory of the emulated machine in bytes.
pub(crate) const TOTAL_MEMORY: u64 = 4 << 30;

/// Device numbers of the machine's own mounts, in their order.
const MOUNTED: [u64; 6] = [HOST_DEV, PROC_DEV, SYS_DEV, DEV_DEV, SHM_DEV, PTS_DEV];

/// Number of the mount that shows a device, `mnt_id` of `/proc/PID/fdinfo`. Those of the kernel's
/// own file systems, which are mounted nowhere, are below the others.
pub(crate) fn mount_of(device: u64) -> u64 {
    let place = MOUNTED.iter().position(|number| *number == device);
    place.map_or(device & 0xff, |at| u64::from(MountId::FIRST.0) + at as u64)
}

pub(super) fn meminfo(resident: u64) -> String {
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
    let mut text = String::new();
    rows.iter().for_each(|(name, value)| row(&mut text, name, *value));
    text.push_str("HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n");
    text
}

/// Tasks in numbers.
#[derive(Clone, Copy)]
pub(super) struct Activity {
    /// Tasks that have not ended.
    pub(super) tasks: usize,
    /// Those of them that run or wait for their turn.
    pub(super) runnable: usize,
    /// Tasks that were ever made.
    pub(super) made: u64,
    /// The number of the last one.
    pub(super) last: i32,
}

/// `/proc/stat`: the CPU was idle but for what ran.
pub(super) fn kernel_stat(uptime: u64, ran: CpuTime, activity: Activity) -> String {
    let ([user, system], idle) = (ran.ticks(), uptime.saturating_sub(ran.total()) / CLK_TCK_NS);
    let Activity { runnable, made, .. } = activity;
    let boot = (REALTIME_START - MONOTONIC_START) / NSEC_PER_SEC;
    format!(
        "cpu  {user} 0 {system} {idle} 0 0 0 0 0 0\ncpu0 {user} 0 {system} {idle} 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime {boot}\n\
         processes {made}\nprocs_running {runnable}\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n"
    )
}

/// `/proc/vmstat`: the counters that programs look for.
pub(super) fn vmstat(resident: u64) -> String {
    let (total, used) = (TOTAL_MEMORY / PAGE_SIZE, resident / PAGE_SIZE);
    let rows = [
        ("nr_free_pages", total.saturating_sub(used)),
        ("nr_zone_inactive_anon", 0),
        ("nr_zone_active_anon", used),
        ("nr_zone_inactive_file", 0),
        ("nr_zone_active_file", 0),
        ("nr_zone_unevictable", 0),
        ("nr_mlock", 0),
        ("nr_inactive_anon", 0),
        ("nr_active_anon", used),
        ("nr_inactive_file", 0),
        ("nr_active_file", 0),
        ("nr_unevictable", 0),
        ("nr_slab_reclaimable", 0),
        ("nr_slab_unreclaimable", 0),
        ("nr_anon_pages", used),
        ("nr_mapped", 0),
        ("nr_file_pages", 0),
        ("nr_dirty", 0),
        ("nr_writeback", 0),
        ("nr_shmem", 0),
        ("nr_anon_transparent_hugepages", 0),
        ("nr_kernel_stack", 0),
        ("nr_page_table_pages", 0),
        ("pgpgin", 0),
        ("pgpgout", 0),
        ("pswpin", 0),
        ("pswpout", 0),
        ("pgalloc_normal", used),
        ("pgfree", 0),
        ("pgactivate", 0),
        ("pgdeactivate", 0),
        ("pgfault", used),
        ("pgmajfault", 0),
        ("pgscan_kswapd", 0),
        ("pgscan_direct", 0),
        ("pgsteal_kswapd", 0),
        ("pgsteal_direct", 0),
        ("allocstall_normal", 0),
        ("oom_kill", 0),
        ("thp_fault_alloc", 0),
        ("thp_collapse_alloc", 0),
    ];
    rows.iter().map(|(name, value)| format!("{name} {value}\n")).collect()
}

/// An x86-64-v2 processor, the one whose CPUID the guest sees (`emu/cpuid.rs`).
pub(super) const CPUINFO: &str = "processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 44
model name\t: cgemu x86-64-v2
stepping\t: 2
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
cpuid level\t: 13
wp\t\t: yes
flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 \
syscall nx rdtscp lm constant_tsc pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm
bugs\t\t:
bogomips\t: 2000.00
clflush size\t: 64
cache_alignment\t: 64
address sizes\t: 40 bits physical, 48 bits virtual
power management:

";
