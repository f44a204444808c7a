//! Texts about a task and its process.

use std::fmt::Write;

use crate::abi::fs::O_CLOEXEC;
use crate::abi::resource::{RLIM_INFINITY, Resource};
use crate::abi::signal::{SIG_DFL, SIG_IGN, signo::SIGRTMAX};
use crate::abi::time::CLK_TCK_NS;
use crate::guest::{GuestMemory, Mapping, PAGE_SIZE, Prot};
use crate::kernel::clock::MONOTONIC_START;
use crate::kernel::cred::Ids;
use crate::kernel::limits::Limits;
use crate::kernel::mm::Places;
use crate::kernel::procfs::machine;
use crate::kernel::procfs::memory::bytes;
use crate::kernel::state::Kernel;

impl Kernel {
    /// `/proc/PID/status`.
    pub(super) fn proc_status(&self, mem: &mut dyn GuestMemory) -> String {
        let (task, process) = (self.task(), self.process());
        let cred = &task.cred;
        let (pid, caps) = (process.pid, cred.caps);
        let ids = |ids: Ids| format!("{}\t{}\t{}\t{}", ids.real, ids.effective, ids.saved, ids.fs);
        let groups: String = cred.groups.iter().map(|gid| format!("{gid} ")).collect();
        let mut text = format!(
            "Name:\t{}\nUmask:\t{:04o}\nState:\tR (running)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\nPPid:\t{}\n\
             TracerPid:\t0\nUid:\t{}\nGid:\t{}\nFDSize:\t{}\n\
             Groups:\t{groups}\nNStgid:\t{pid}\nNSpid:\t{pid}\nNSpgid:\t{}\nNSsid:\t{}\n",
            String::from_utf8_lossy(task.name()),
            self.fs_context().umask,
            process.ppid,
            ids(cred.uid),
            ids(cred.gid),
            self.fds().size(),
            process.pgid,
            process.sid,
        );
        self.status_of_memory(mem, &mut text);
        let signals = &task.signals;
        let queued = signals.pending.len() + process.pending.len();
        let (ignored, caught) = self.dispositions();
        let most = process.limits.soft(Resource::Sigpending);
        let _ = writeln!(
            text,
            "CoreDumping:\t0\nTHP_enabled:\t1\nThreads:\t{}\nSigQ:\t{queued}/{most}",
            process.tasks.len()
        );
        for (name, set) in [
            ("SigPnd", signals.pending.set()),
            ("ShdPnd", process.pending.set()),
            ("SigBlk", signals.blocked),
            ("SigIgn", ignored),
            ("SigCgt", caught),
            ("CapInh", caps.inheritable),
            ("CapPrm", caps.permitted),
            ("CapEff", caps.effective),
            ("CapBnd", caps.bounding),
            ("CapAmb", caps.ambient),
        ] {
            let _ = writeln!(text, "{name}:\t{set:016x}");
        }
        let _ = write!(
            text,
            "NoNewPrivs:\t{}\nSeccomp:\t{}\nSeccomp_filters:\t{}\nSpeculation_Store_Bypass:\tnot vulnerable\n\
             SpeculationIndirectBranch:\tnot affected\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n\
             Mems_allowed:\t1\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t0\n\
             nonvoluntary_ctxt_switches:\t0\n",
            u8::from(task.no_new_privs),
            task.seccomp.mode(),
            task.seccomp.filters()
        );
        text
    }

    fn status_of_memory(&self, mem: &mut dyn GuestMemory, text: &mut String) {
        let maps = mem.mappings();
        let usage = mem.usage();
        let resident = usage.resident;
        let code = |map: &Mapping, own: bool| {
            let path = map.file.as_ref().map(|file| &*file.path);
            map.prot.allows(Prot::EXEC) && path.is_some_and(|path| (path == self.mm().exe) == own)
        };
        let rows = [
            ("VmPeak", usage.mapped_peak),
            ("VmSize", usage.mapped),
            ("VmLck", bytes(&maps, Mapping::is_locked)),
            ("VmPin", 0),
            ("VmHWM", usage.resident_peak),
            ("VmRSS", resident),
            ("RssAnon", resident),
            ("RssFile", 0),
            ("RssShmem", 0),
            ("VmData", bytes(&maps, Mapping::is_data)),
            ("VmStk", bytes(&maps, Mapping::is_stack)),
            ("VmExe", bytes(&maps, |map| code(map, true))),
            ("VmLib", bytes(&maps, |map| code(map, false))),
            ("VmPTE", 0),
            ("VmSwap", 0),
            ("HugetlbPages", 0),
        ];
        for (name, bytes) in rows {
            let _ = writeln!(text, "{name}:\t{:>8} kB", bytes / 1024);
        }
    }

    /// `/proc/PID/stat`: 52 fields. Time in user mode is the clock's.
    pub(super) fn proc_stat(&self, elapsed: u64, mem: &mut dyn GuestMemory) -> String {
        let usage = mem.usage();
        let (size, resident, faults) = (usage.mapped, usage.resident / PAGE_SIZE, usage.faults);
        let (process, task) = (self.process(), self.task());
        let Places { code, data, stack, args, env } = self.mm().places;
        let heap = mem.mappings().iter().find(|map| map.label == Some("[heap]")).map(|map| map.start);
        let heap = heap.unwrap_or_else(|| mem.brk(0));
        let ticks = elapsed / CLK_TCK_NS;
        let start = MONOTONIC_START / CLK_TCK_NS;
        let (pid, ppid, pgid, sid) = (process.pid, process.ppid, process.pgid, process.sid);
        let comm = String::from_utf8_lossy(task.name()).into_owned();
        let limit = process.limits.soft(Resource::Rss);
        let (ignored, caught) = self.dispositions();
        // The real-time signals do not fit into the words, and Linux leaves them out.
        let [pending, blocked, ignored, caught] =
            [task.signals.pending.set(), task.signals.blocked, ignored, caught].map(|set| set & 0x7fff_ffff);
        let (nice, policy) = (task.nice, task.policy);
        let priority = if policy.priority > 0 { -1 - policy.priority as i32 } else { 20 + nice };
        format!(
            "{pid} ({comm}) R {ppid} {pgid} {sid} 0 -1 4194304 {faults} 0 0 0 {ticks} 0 0 0 {priority} {nice} 1 0 \
             {start} {size} {resident} {limit} {} {} {stack} 0 0 {pending} {blocked} {ignored} {caught} 0 0 0 17 0 \
             {} {} 0 0 0 {} {} {heap} {} {} {} {} 0\n",
            code.0, code.1, policy.priority, policy.number, data.0, data.1, args.0, args.1, env.0, env.1
        )
    }

    /// The sets of signals that are ignored and that have handlers.
    fn dispositions(&self) -> (u64, u64) {
        let (mut ignored, mut caught) = (0u64, 0u64);
        for signo in 1..=SIGRTMAX {
            match self.handlers().get(signo).handler {
                SIG_DFL => {}
                SIG_IGN => ignored |= 1 << (signo - 1),
                _ => caught |= 1 << (signo - 1),
            }
        }
        (ignored, caught)
    }

    /// `/proc/PID/fdinfo/N`; empty for a descriptor that has been closed.
    pub(super) fn proc_fdinfo(&self, fd: i32, now: u64) -> String {
        let Ok(slot) = self.fds().slot(fd) else { return String::new() };
        let open = self.files.get(slot.file);
        let flags = open.flags | if slot.cloexec { O_CLOEXEC } else { 0 };
        let (device, inode) = self.numbers_of(slot.file);
        let mount = machine::mount_of(device);
        let mut text =
            format!("pos:\t{}\nflags:\t0{flags:o}\nmnt_id:\t{mount}\nino:\t{inode}\n", open.offset);
        text.push_str(&self.fdinfo_locks(slot.file));
        text.push_str(&open.ops.details(&self.fs, now));
        for ((file, fd), events, data) in
            open.ops.epoll().iter().flat_map(|epoll| self.fs.queues.items(*epoll))
        {
            let (device, inode) = self.numbers_of(file);
            let offset = self.files.get(file).offset;
            let _ = writeln!(
                text,
                "tfd: {fd:8} events: {events:8x} data: {data:16x}  pos:{offset} ino:{inode:x} sdev:{device:x}"
            );
        }
        text
    }

    /// `/proc/PID/io`. What the host reads and writes is not shown.
    pub(super) fn proc_io(&self) -> String {
        let io = &self.process().io;
        format!(
            "rchar: {}\nwchar: {}\nsyscr: {}\nsyscw: {}\nread_bytes: 0\nwrite_bytes: 0\n\
             cancelled_write_bytes: 0\n",
            io.bytes_read, io.bytes_written, io.reads, io.writes
        )
    }
}

/// `/proc/PID/limits`.
pub(super) fn limits(limits: &Limits) -> String {
    let rows = [
        ("Max cpu time", Resource::Cpu, "seconds"),
        ("Max file size", Resource::Fsize, "bytes"),
        ("Max data size", Resource::Data, "bytes"),
        ("Max stack size", Resource::Stack, "bytes"),
        ("Max core file size", Resource::Core, "bytes"),
        ("Max resident set", Resource::Rss, "bytes"),
        ("Max processes", Resource::Nproc, "processes"),
        ("Max open files", Resource::Nofile, "files"),
        ("Max locked memory", Resource::Memlock, "bytes"),
        ("Max address space", Resource::As, "bytes"),
        ("Max file locks", Resource::Locks, "locks"),
        ("Max pending signals", Resource::Sigpending, "signals"),
        ("Max msgqueue size", Resource::Msgqueue, "bytes"),
        ("Max nice priority", Resource::Nice, ""),
        ("Max realtime priority", Resource::Rtprio, ""),
        ("Max realtime timeout", Resource::Rttime, "us"),
    ];
    let show = |value: u64| if value == RLIM_INFINITY { "unlimited".to_owned() } else { value.to_string() };
    let mut text = format!("{:<25} {:<20} {:<20} {:<10}\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    for (name, resource, unit) in rows {
        let (soft, hard) = limits.get(resource);
        let _ = write!(text, "{name:<25} {:<20} {:<20} ", show(soft), show(hard));
        // Linux pads units, and leaves them out with their padding.
        let _ = if unit.is_empty() { writeln!(text) } else { writeln!(text, "{unit:<10}") };
    }
    text
}
