//! The process and its one task: ids, names, limits. `ids` serves the identity calls, `prctl` the process
//! settings, `limits` the resource limits, `task` starting, ending and waiting.

mod caps;
mod ids;
mod limits;
mod prctl;
mod task;

pub use caps::ROWS as CAPS_ROWS;
pub use ids::ROWS as IDS_ROWS;
pub use limits::ROWS as LIMITS_ROWS;
pub use prctl::ROWS as PRCTL_ROWS;
pub use task::ROWS;

pub use limits::{Limits, RLIM_INFINITY, Resource};

use rustix::process as host;

/// Id of the process and of its first task. Fixed, so that a program that prints it repeats.
pub const PID: i32 = 1000;
/// Id of the parent, which is not there to be seen: sending to it fails with ESRCH.
pub const PPID: i32 = 999;

/// The user the guest runs as: the real user of the host, so that files look as they do outside.
pub fn host_uid() -> u32 {
    host::getuid().as_raw()
}

/// What every task has for itself.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// `set_tid_address`: cleared when the task ends while others share its memory.
    pub clear_child_tid: u64,
    /// `set_robust_list`: address of the list's head.
    pub robust_list: u64,
    /// Name of the task, padded with NUL, prctl(2) PR_SET_NAME.
    pub comm: [u8; 16],
}

/// Settings of prctl(2) and its kin that only have to be remembered.
#[derive(Clone, Debug)]
pub struct Settings {
    pdeathsig: i32,
    dumpable: u64,
    keepcaps: bool,
    no_new_privs: bool,
    child_subreaper: bool,
    thp_disable: bool,
    timerslack: u64,
    personality: u32,
    nice: i32,
    ioprio: u32,
    membarrier: u32,
}

/// Who the process is: ids, names, limits.
#[derive(Clone, Debug)]
pub struct Process {
    /// Process id.
    pub pid: i32,
    /// Parent's process id.
    pub ppid: i32,
    /// Process group.
    pub pgid: i32,
    /// Session.
    pub sid: i32,
    /// User id: real, effective and saved are the same.
    pub uid: u32,
    /// Group id: real, effective and saved are the same.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
    /// Path of the program in the guest's view, what `/proc/self/exe` names.
    pub exe: String,
    /// Arguments, for `/proc/self/cmdline`.
    pub argv: Vec<Vec<u8>>,
    /// Environment at the start, for `/proc/self/environ`.
    pub envp: Vec<Vec<u8>>,
    /// Auxiliary vector as it lies on the stack, for `/proc/self/auxv`.
    pub auxv: Vec<u8>,
    /// Resource limits.
    pub limits: Limits,
    /// The running task.
    pub task: Task,
    settings: Settings,
    caps: caps::Capabilities,
}

impl Default for Process {
    fn default() -> Self {
        Process::new()
    }
}

impl Process {
    /// The only process: leader of its group in the parent's session, run by the host's user.
    pub fn new() -> Process {
        let uid = host_uid();
        Process {
            pid: PID,
            ppid: PPID,
            pgid: PID,
            sid: PPID,
            uid,
            gid: host::getgid().as_raw(),
            groups: host::getgroups().unwrap_or_default().iter().map(|gid| gid.as_raw()).collect(),
            exe: String::new(),
            argv: Vec::new(),
            envp: Vec::new(),
            auxv: Vec::new(),
            limits: Limits::default(),
            task: Task::default(),
            settings: Settings {
                pdeathsig: 0,
                dumpable: 1,
                keepcaps: false,
                no_new_privs: false,
                child_subreaper: false,
                thp_disable: false,
                timerslack: 50_000,
                personality: 0,
                nice: 0,
                ioprio: 0,
                membarrier: 0,
            },
            caps: caps::Capabilities::of(uid),
        }
    }

    /// Takes the identity of a program that is about to run: path, arguments, environment and auxiliary
    /// vector. The task is named after the last part of the path; `name_task` gives it the name of a link or
    /// script by which the program was called.
    pub fn set_program(&mut self, exe: &str, argv: &[Vec<u8>], envp: &[Vec<u8>], auxv: &[u8]) {
        self.exe = exe.to_owned();
        self.argv = argv.to_vec();
        self.envp = envp.to_vec();
        self.auxv = auxv.to_vec();
        self.name_task(exe.as_bytes());
        self.task.clear_child_tid = 0;
        self.task.robust_list = 0;
        self.settings.dumpable = 1;
        self.settings.keepcaps = false;
        self.settings.pdeathsig = 0;
        self.settings.timerslack = 50_000;
        self.settings.membarrier = 0;
    }

    /// Names the task after the last part of a path, as execve(2) does with the name it was given.
    pub fn name_task(&mut self, filename: &[u8]) {
        let name = filename.rsplit(|byte| *byte == b'/').next().unwrap_or(filename);
        self.task.comm = comm(name);
    }

    /// The name of the task without its padding.
    pub fn comm(&self) -> &[u8] {
        let comm = &self.task.comm;
        &comm[..comm.iter().position(|byte| *byte == 0).unwrap_or(comm.len())]
    }

    /// Whether a process id names this process; 0 is the caller.
    pub fn is_self(&self, pid: u64) -> bool {
        pid as i32 == 0 || pid as i32 == self.pid
    }

    /// The nice value, -20 to 19.
    pub fn nice(&self) -> i32 {
        self.settings.nice
    }

    /// Sets the nice value.
    pub fn set_nice(&mut self, nice: i32) {
        self.settings.nice = nice.clamp(-20, 19);
    }

    /// The I/O priority as ioprio_get(2) gives it.
    pub fn ioprio(&self) -> u32 {
        self.settings.ioprio
    }

    /// Sets the I/O priority.
    pub fn set_ioprio(&mut self, ioprio: u32) {
        self.settings.ioprio = ioprio;
    }

    /// Commands registered with membarrier(2).
    pub fn membarrier(&self) -> u32 {
        self.settings.membarrier
    }

    /// Registers for commands of membarrier(2).
    pub fn register_membarrier(&mut self, commands: u32) {
        self.settings.membarrier |= commands;
    }
}

/// A task's name: 15 bytes at most and a NUL.
pub fn comm(name: &[u8]) -> [u8; 16] {
    let mut comm = [0; 16];
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let len = name.len().min(15);
    comm[..len].copy_from_slice(&name[..len]);
    comm
}
