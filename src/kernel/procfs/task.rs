//! Texts about a task and its process.

use std::fmt::Write;

use crate::abi::capability::CAP_SYS_NICE;
use crate::abi::errno::Errno;
use crate::abi::fs::{O_CLOEXEC, makedev};
use crate::abi::resource::{CpuTime, RLIM_INFINITY, Resource};
use crate::abi::signal::{SIG_DFL, SIG_IGN, signo::SIGRTMAX};
use crate::abi::time::CLK_TCK_NS;
use crate::guest::{GuestMemory, Mapping, PAGE_SIZE, Prot, within};
use crate::kernel::arena::{MmId, ProcessId, TaskId};
use crate::kernel::clock::MONOTONIC_START;
use crate::kernel::cred::Ids;
use crate::kernel::limits::Limits;
use crate::kernel::mm::{Places, space_of};
use crate::kernel::namespace::kind::NsId;
use crate::kernel::namespace::mounts::MountTable;
use crate::kernel::namespace::user::IdMap;
use crate::kernel::process::Process;
use crate::kernel::procfs::memory::bytes;
use crate::kernel::procfs::{machine, memory};
use crate::kernel::sched::TaskState;
use crate::kernel::state::Kernel;
use crate::kernel::task::Task;
use crate::kernel::vfs::mount::MountId;
use crate::kernel::vfs::proc_file::{ProcFile, ProcSource, Subject};

/// A task at a moment, as a file of `/proc` shows it.
pub(super) struct View<'a> {
    pub(super) kernel: &'a Kernel,
    id: TaskId,
    task: &'a Task,
    process: &'a Process,
    /// All of its process is meant.
    whole: bool,
    /// The PID namespace whose numbers are shown.
    pid_ns: NsId,
    /// The address space that the file was opened with.
    mm: Option<MmId>,
    /// Time since the program's first instruction, and instructions until then.
    now: u64,
    instructions: u64,
}

impl<'a> View<'a> {
    /// The task that a file is about; ESRCH once it is gone.
    pub(super) fn new(
        kernel: &'a Kernel,
        source: ProcSource,
        now: u64,
        instructions: u64,
    ) -> Result<View<'a>, Errno> {
        let subject = source.subject.ok_or(Errno::ESRCH)?;
        let (id, task) = kernel.table().task(subject).ok_or(Errno::ESRCH)?;
        let process = kernel.other_process(task.shared.process);
        let whole = matches!(subject, Subject::Process(_));
        let pid_ns = source.pid_ns;
        Ok(View { kernel, id, task, process, whole, pid_ns, mm: source.mm, now, instructions })
    }

    /// A number as the PID namespace has it that the file is of.
    fn shown(&self, number: i32) -> i32 {
        self.kernel.pids.shown(self.pid_ns, number)
    }

    /// A number of the task as every PID namespace from there down to its own has it.
    fn shown_in_all(&self, number: i32) -> String {
        let all = self.kernel.pids.all_shown(self.pid_ns, self.task.namespaces.pid, number);
        all.iter().map(i32::to_string).collect::<Vec<_>>().join("\t")
    }

    /// The part of `maps` or `smaps` that begins with an address, and the address of the next.
    pub(super) fn mappings(
        &self,
        file: ProcFile,
        from: u64,
        mem: &mut dyn GuestMemory,
    ) -> (Vec<u8>, Option<u64>) {
        let entry = if file == ProcFile::Smaps { memory::smaps } else { memory::maps };
        self.opened(mem, |mem| memory::part(from, mem, entry))
    }

    /// The text of a file that is made at once.
    pub(super) fn text(&self, file: ProcFile, mem: &mut dyn GuestMemory) -> Result<Vec<u8>, Errno> {
        let text = match file {
            ProcFile::Text(text) => text.to_owned(),
            ProcFile::SmapsRollup => self.opened(mem, |mem| memory::smaps_rollup(&mem.mappings(), mem)),
            ProcFile::Status => return Ok(self.status(mem)),
            ProcFile::Stat => return Ok(self.stat(mem)),
            ProcFile::Statm => self.statm(mem),
            ProcFile::Cmdline => {
                let words = |mem: &mut dyn GuestMemory| self.kernel.mms[self.task.shared.mm].cmdline(mem);
                return Ok(self.memory(mem, words).unwrap_or_default());
            }
            ProcFile::Environ => {
                let Some(mm) = self.mm.and_then(|mm| self.kernel.mms.get(mm)) else { return Ok(Vec::new()) };
                return Ok(self.opened(mem, |mem| mm.environ(mem)));
            }
            ProcFile::Auxv => {
                let mm = self.mm.and_then(|mm| self.kernel.mms.get(mm));
                return Ok(mm.map_or(Vec::new(), |mm| mm.auxv.clone()));
            }
            ProcFile::Comm => return Ok([self.task.name(), b"\n"].concat()),
            ProcFile::Limits => limits(&self.process.limits),
            ProcFile::Personality => format!("{:08x}\n", self.task.personality),
            ProcFile::TimerSlack => {
                if self.id != self.kernel.current() {
                    self.kernel.task().cred.require(CAP_SYS_NICE)?;
                }
                format!("{}\n", self.task.timerslack)
            }
            ProcFile::Io => self.io(),
            ProcFile::FdInfo(fd) => self.fdinfo(fd)?,
            file @ (ProcFile::UidMap | ProcFile::GidMap | ProcFile::ProjidMap | ProcFile::SetGroups) => {
                self.user_map(file)
            }
            ProcFile::Mounts => return Ok(self.kernel.mount_table(self.id, MountTable::Mounts)),
            ProcFile::MountInfo => return Ok(self.kernel.mount_table(self.id, MountTable::Info)),
            ProcFile::MountStats => return Ok(self.kernel.mount_table(self.id, MountTable::Stats)),
            ProcFile::OomScoreAdj => format!("{}\n", self.process.oom_score_adj.0),
            ProcFile::OomAdj => match self.process.oom_score_adj.0 {
                1000 => "15\n".to_owned(),
                adj => format!("{}\n", adj * 17 / 1000),
            },
            ProcFile::CoreDumpFilter => {
                let mm = self.kernel.table().live(self.task).map(|mm| &self.kernel.mms[mm]);
                mm.map_or(String::new(), |mm| format!("{:08x}\n", mm.coredump_filter))
            }
            ProcFile::SchedStat => format!("{} 0 1\n", self.cpu().total()),
            ProcFile::Sched => self.sched(),
            ProcFile::Children => self.children(),
            // The others are about the machine, or no texts.
            _ => String::new(),
        };
        Ok(text.into_bytes())
    }

    /// Calls `what` with the memory of the task; `None` if it has none any more.
    fn memory<R>(&self, mem: &mut dyn GuestMemory, what: impl FnMut(&mut dyn GuestMemory) -> R) -> Option<R> {
        self.kernel.table().live(self.task).and_then(|mm| within(mem, space_of(mm), what))
    }

    /// Calls `what` with the memory that the task had when the file was opened; nothing if it is
    /// gone.
    fn opened<R: Default>(
        &self,
        mem: &mut dyn GuestMemory,
        what: impl FnMut(&mut dyn GuestMemory) -> R,
    ) -> R {
        let mm = self.mm.filter(|mm| self.kernel.mms.get(*mm).is_some());
        mm.and_then(|mm| within(mem, space_of(mm), what)).unwrap_or_default()
    }

    /// CPU time.
    fn cpu(&self) -> CpuTime {
        let running = self.kernel.task();
        let (mut cpu, runs) = match self.whole {
            true => (self.process.cpu, running.shared.process == self.task.shared.process),
            false => (self.task.cpu, self.id == self.kernel.current()),
        };
        cpu.user += if runs { self.instructions.saturating_sub(self.kernel.sched.since) } else { 0 };
        cpu
    }

    /// The state, as a letter and as words.
    fn state(&self) -> &'static str {
        match self.task.state {
            TaskState::Runnable => "R (running)",
            TaskState::Sleeping if self.task.call.killable => "D (disk sleep)",
            TaskState::Sleeping => "S (sleeping)",
            TaskState::Stopped => "T (stopped)",
            TaskState::Traced => "t (tracing stop)",
            TaskState::Dead => "Z (zombie)",
        }
    }

    /// The map of a user namespace, in the ids of the reader or, in it, of its parent.
    fn user_map(&self, file: ProcFile) -> String {
        let namespace = &self.task.cred.user_ns;
        let reader = &self.kernel.task().cred.user_ns;
        let below =
            if reader.id == namespace.id { namespace.parent.as_ref().unwrap_or(reader) } else { reader };
        let below = self.kernel.namespaces.user(below.id);
        match file {
            ProcFile::SetGroups => if namespace.setgroups { "allow\n" } else { "deny\n" }.to_owned(),
            ProcFile::UidMap => namespace.uids.text(&below.uids),
            ProcFile::GidMap => namespace.gids.text(&below.gids),
            _ => namespace.projects.text(&below.projects),
        }
    }

    /// `/proc/PID/status`.
    fn status(&self, mem: &mut dyn GuestMemory) -> Vec<u8> {
        let (task, process) = (self.task, self.process);
        let cred = &task.cred;
        let [pid, tid, ppid] = [process.pid, task.tid, process.ppid].map(|number| self.shown(number));
        let caps = cred.caps;
        let reader = &self.kernel.task().cred.user_ns;
        let ids = |ids: Ids, map: &IdMap| {
            let shown = [ids.real, ids.effective, ids.saved, ids.fs].map(|id| map.shown(id).to_string());
            shown.join("\t")
        };
        let groups: String = cred.groups.iter().map(|gid| format!("{} ", reader.gids.shown(*gid))).collect();
        let lives = task.state != TaskState::Dead;
        let tracer = task.tracing.trace.as_ref().and_then(|trace| self.kernel.tasks.get(trace.tracer));
        let tracer = tracer.map_or(0, |tracer| self.shown(tracer.tid));
        let mut text = String::new();
        if lives {
            let umask = self.kernel.fs_contexts[task.shared.fs_context].umask;
            let _ = writeln!(text, "Umask:\t{umask:04o}");
        }
        let _ = write!(
            text,
            "State:\t{}\nTgid:\t{pid}\nNgid:\t0\nPid:\t{tid}\nPPid:\t{}\nTracerPid:\t{tracer}\nUid:\t{}\nGid:\t{}\n\
             FDSize:\t{}\nGroups:\t{groups}\nNStgid:\t{}\nNSpid:\t{}\nNSpgid:\t{}\nNSsid:\t{}\n",
            self.state(),
            ppid,
            ids(cred.uid, &reader.uids),
            ids(cred.gid, &reader.gids),
            if lives { self.kernel.fd_tables[task.shared.fds].size() } else { 0 },
            self.shown_in_all(process.pid),
            self.shown_in_all(task.tid),
            self.shown_in_all(process.pgid),
            self.shown_in_all(process.sid),
        );
        text.push_str(&self.memory(mem, |mem| self.status_of_memory(mem)).unwrap_or_default());
        let signals = &task.signals;
        let queued = self.kernel.queued.of(self.task.cred.uid.real);
        let (ignored, caught) = self.dispositions();
        let most = process.limits.soft(Resource::Sigpending);
        let threads = process.tasks.len().max(1);
        if lives {
            text.push_str("CoreDumping:\t0\nTHP_enabled:\t1\n");
        }
        let _ = writeln!(text, "Threads:\t{threads}\nSigQ:\t{queued}/{most}");
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
        let mut line = b"Name:\t".to_vec();
        for byte in task.name() {
            match byte {
                b'\n' => line.extend(b"\\n"),
                b'\\' => line.extend(b"\\\\"),
                byte => line.push(*byte),
            }
        }
        [&line[..], b"\n", text.as_bytes()].concat()
    }

    fn status_of_memory(&self, mem: &mut dyn GuestMemory) -> String {
        let maps = mem.mappings();
        let usage = mem.usage();
        let resident = usage.resident;
        let exe = &self.kernel.mms[self.task.shared.mm].exe;
        let code = |map: &Mapping, own: bool| {
            let path = map.file.as_ref().map(|file| &*file.path);
            map.prot.allows(Prot::EXEC) && path.is_some_and(|path| (path == exe) == own)
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
        rows.iter().map(|(name, bytes)| format!("{name}:\t{:>8} kB\n", bytes / 1024)).collect()
    }

    fn statm(&self, mem: &mut dyn GuestMemory) -> String {
        let usage = self.memory(mem, |mem| mem.usage()).unwrap_or_default();
        let (size, resident) = (usage.mapped / PAGE_SIZE, usage.resident / PAGE_SIZE);
        format!("{size} {resident} 0 0 0 {size} 0\n")
    }

    /// `/proc/PID/stat`: 52 fields. Where things are in memory is only for those who may trace.
    fn stat(&self, mem: &mut dyn GuestMemory) -> Vec<u8> {
        let (process, task) = (self.process, self.task);
        let usage = self.memory(mem, |mem| mem.usage()).unwrap_or_default();
        let (size, resident, faults) = (usage.mapped, usage.resident / PAGE_SIZE, usage.faults);
        let may = self.kernel.table().may(task).is_ok();
        let shown = self.kernel.table().live(task).filter(|_| may);
        let places = shown.map_or(Places::default(), |mm| self.kernel.mms[mm].places);
        let Places { code, data, stack, args, env } = places;
        let heap = shown.and_then(|mm| within(mem, space_of(mm), |mem| mem.heap().0)).unwrap_or(0);
        // A program that runs has code; Linux shows others that there is some, but not where.
        let code = if may || size == 0 { code } else { (1, 1) };
        let of_children = if self.whole { process.of_children.cpu } else { CpuTime::default() };
        let ([user, system], [cuser, csystem]) = (self.cpu().ticks(), of_children.ticks());
        let start = MONOTONIC_START.saturating_add(task.started) / CLK_TCK_NS;
        let numbers = [task.tid, process.ppid, process.pgid, process.sid];
        let [tid, ppid, pgid, sid] = numbers.map(|number| self.shown(number));
        let terminal = process.terminal.and_then(|number| Some((number, self.kernel.fs.ptys.get(number)?)));
        let (tty, foreground) = terminal
            .map_or((0, -1), |(number, pty)| (makedev(136, number.into()), self.shown(pty.foreground)));
        let limit = process.limits.soft(Resource::Rss);
        let (ignored, caught) = self.dispositions();
        // The real-time signals do not fit into the words, and Linux leaves them out.
        let [pending, blocked, ignored, caught] =
            [task.signals.pending.set(), task.signals.blocked, ignored, caught].map(|set| set & 0x7fff_ffff);
        let (nice, policy) = (task.nice, task.policy);
        let priority = if policy.priority > 0 { -1 - policy.priority as i32 } else { 20 + nice };
        let (state, threads) = (&self.state()[..1], process.tasks.len().max(1));
        let signal = if process.leader == self.id { process.exit_signal } else { -1 };
        let waits = u8::from(may && task.state != TaskState::Runnable && task.state != TaskState::Dead);
        let status = process.ended.filter(|_| may).map_or(0, |status| status.0);
        let text = format!(
            ") {state} {ppid} {pgid} {sid} {tty} {foreground} 4194304 {faults} 0 0 0 {user} {system} {cuser} {csystem} \
             {priority} {nice} {threads} 0 {start} {size} {resident} {limit} {} {} {stack} 0 0 {pending} {blocked} \
             {ignored} {caught} {waits} 0 0 {signal} 0 {} {} 0 0 0 {} {} {heap} {} {} {} {} {status}\n",
            code.0, code.1, policy.priority, policy.number, data.0, data.1, args.0, args.1, env.0, env.1
        );
        [format!("{tid} (").as_bytes(), task.name(), text.as_bytes()].concat()
    }

    /// The sets of signals that are ignored and that have handlers.
    fn dispositions(&self) -> (u64, u64) {
        let (mut ignored, mut caught) = (0u64, 0u64);
        if self.task.state == TaskState::Dead {
            return (0, 0);
        }
        let handlers = &self.kernel.handlers[self.task.shared.handlers];
        for signo in 1..=SIGRTMAX {
            match handlers.get(signo).handler {
                SIG_DFL => {}
                SIG_IGN => ignored |= 1 << (signo - 1),
                _ => caught |= 1 << (signo - 1),
            }
        }
        (ignored, caught)
    }

    /// The lines of a pidfd: the numbers of its process, 0 where it is not seen.
    fn pids_of(&self, process: ProcessId) -> String {
        let pid = self.kernel.pid_of(process);
        let all = match self.shown(pid) {
            0 => vec![0],
            _ => self.kernel.pids.all_shown(self.pid_ns, self.kernel.pid_ns(process), pid),
        };
        let all: Vec<String> = all.iter().map(i32::to_string).collect();
        format!("Pid:\t{}\nNSpid:\t{}\n", self.shown(pid), all.join("\t"))
    }

    /// `/proc/PID/fdinfo/N`; ENOENT for a descriptor that has been closed.
    fn fdinfo(&self, fd: i32) -> Result<String, Errno> {
        let slot = self.kernel.fd_tables[self.task.shared.fds].slot(fd).map_err(|_| Errno::ENOENT)?;
        let open = self.kernel.files.get(slot.file);
        let flags = open.flags | if slot.cloexec { O_CLOEXEC } else { 0 };
        let (device, inode) = self.kernel.numbers_of(slot.file);
        let mount = match open.mount {
            MountId::NONE => machine::mount_of(device),
            mount => mount.0.into(),
        };
        let mut text =
            format!("pos:\t{}\nflags:\t0{flags:o}\nmnt_id:\t{mount}\nino:\t{inode}\n", open.offset);
        text.push_str(&self.kernel.fdinfo_locks(slot.file));
        match open.ops.process().filter(|process| self.kernel.has_process(*process)) {
            Some(process) => text.push_str(&self.pids_of(process)),
            None => text.push_str(&open.ops.details(&self.kernel.fs, self.now)),
        }
        for ((file, fd), events, data) in
            open.ops.epoll().iter().flat_map(|epoll| self.kernel.fs.queues.items(*epoll))
        {
            let (device, inode) = self.kernel.numbers_of(file);
            let offset = self.kernel.files.get(file).offset;
            let _ = writeln!(
                text,
                "tfd: {fd:8} events: {events:8x} data: {data:16x}  pos:{offset} ino:{inode:x} sdev:{device:x}"
            );
        }
        Ok(text)
    }

    /// `/proc/PID/io`. What the host reads and writes is not shown.
    fn io(&self) -> String {
        let io = &self.process.io;
        format!(
            "rchar: {}\nwchar: {}\nsyscr: {}\nsyscw: {}\nread_bytes: 0\nwrite_bytes: 0\n\
             cancelled_write_bytes: 0\n",
            io.bytes_read, io.bytes_written, io.reads, io.writes
        )
    }

    /// `/proc/PID/sched`: the rows that programs look for. Times are in milliseconds.
    fn sched(&self) -> String {
        let name = String::from_utf8_lossy(self.task.name()).into_owned();
        let (tid, threads) = (self.shown(self.task.tid), self.process.tasks.len().max(1));
        let ms = |ns: u64| format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
        let policy = self.task.policy;
        let priority = if policy.priority > 0 { 99 - policy.priority as i32 } else { 120 + self.task.nice };
        let rows = [
            ("se.exec_start", ms(MONOTONIC_START.saturating_add(self.now))),
            ("se.sum_exec_runtime", ms(self.cpu().total())),
            ("nr_switches", "1".to_owned()),
            ("nr_voluntary_switches", "1".to_owned()),
            ("nr_involuntary_switches", "0".to_owned()),
            ("policy", policy.number.to_string()),
            ("prio", priority.to_string()),
        ];
        let mut text = format!("{name} ({tid}, #threads: {threads})\n{}\n", "-".repeat(67));
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<45}:{value:>21}");
        }
        text
    }

    /// `/proc/PID/task/TID/children`: the children that the task made.
    fn children(&self) -> String {
        let made = self.process.children.iter().map(|child| self.kernel.other_process(*child));
        made.filter(|child| child.creator == self.id)
            .map(|child| format!("{} ", self.shown(child.pid)))
            .collect()
    }
}

/// `/proc/PID/limits`.
fn limits(limits: &Limits) -> String {
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
