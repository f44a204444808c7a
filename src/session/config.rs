//! Configuration of a run: the machine and its program, what is counted, and what is recorded
//! beside it.

use std::ffi::OsString;
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::guest::layout::Layout;
use crate::hooks::callgraph::walker::CallRules;
use crate::hooks::recorder::CountModel;
use crate::kernel::config::OutsideHost;
use crate::kernel::cred::User;
use crate::kernel::sched::QUANTUM;
use crate::kernel::vfs::policy::Policy;
use crate::profile::EventSet;
use crate::session::skip::Skip;
use crate::sim::{Geometry, PRESETS, preset};

/// Producers of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Producer {
    /// Code added to the engine's translations; the default.
    #[default]
    Tap,
    /// The engine's public hooks; slow, and the reference.
    Api,
}

/// The three simulated caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// First-level instruction cache.
    pub i1: Geometry,
    /// First-level data cache.
    pub d1: Geometry,
    /// Last-level cache.
    pub ll: Geometry,
}

impl Default for Caches {
    /// The preset `default`.
    fn default() -> Caches {
        let preset = preset("default").unwrap_or(&PRESETS[0]);
        Caches { i1: preset.i1, d1: preset.d1, ll: preset.ll }
    }
}

/// Limits that end a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Number of instructions; the run ends after exactly as many.
    pub instructions: Option<u64>,
    /// Bytes of guest memory and overlay files.
    pub memory: Option<u64>,
    /// Time of the host.
    pub time: Option<Duration>,
    /// Processes and threads at a time.
    pub processes: Option<usize>,
    /// Files that the program made and files that it has open, at a time.
    pub files: Option<u64>,
    /// Bytes to standard output and error and to files of the host.
    pub output: Option<u64>,
}

/// The order in which processes and threads run.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Instructions after which another one has its turn.
    pub quantum: u64,
    /// Seed of an order and of turns that are drawn; without it they take turns as they come.
    pub seed: Option<u64>,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { quantum: QUANTUM, seed: None }
    }
}

/// The machine and the program on it: all that decides what the program does.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    /// Path of the program; looked up by the caller.
    pub program: PathBuf,
    /// `argv`, the program's name first.
    pub argv: Vec<OsString>,
    /// User who runs the program, and owns the host's files.
    pub user: User,
    /// The guest's environment, in order.
    pub env: Vec<(OsString, OsString)>,
    /// The guest's standard input, if it is not the host's.
    pub stdin: Option<Arc<File>>,
    /// Layout of the guest's address space.
    pub layout: Layout,
    /// Limits of the run.
    pub limits: Limits,
    /// The order of turns.
    pub schedule: Schedule,
    /// The files of the host that the guest is shown.
    pub policy: Policy,
    /// Host directories the guest may change.
    pub allow_write: Vec<PathBuf>,
    /// Hosts and ports of the host's network that the guest may reach.
    pub outside: Vec<OutsideHost>,
    /// Seed of the guest's random bytes.
    pub seed: u64,
}

impl MachineConfig {
    /// The command for `cmd:`: the program's name and its arguments as they were typed, joined by
    /// blanks as Cachegrind joins them.
    pub(super) fn command_line(&self) -> Vec<u8> {
        let words: Vec<&[u8]> = self.argv.iter().map(|arg| arg.as_bytes()).collect();
        words.join(&b' ')
    }
}

/// Counting: the rules, the simulators, and the producer of the trace.
#[derive(Clone, Debug)]
pub struct CountConfig {
    /// The caches to simulate; none with `--cache-sim=no`.
    pub caches: Option<Caches>,
    /// Branches are simulated.
    pub branch_sim: bool,
    /// The rules of counting.
    pub model: CountModel,
    /// Counting begins at the first instruction.
    pub at_start: bool,
    /// The producer of the trace.
    pub producer: Producer,
    /// Most CPUs of the host to use; none for all that this process may use.
    pub cpus: Option<NonZeroUsize>,
    /// Counting of processes other than the first.
    pub children: Children,
    /// Programs that are not counted although children are traced.
    pub skip: Skip,
    /// Rules for the call graph; none if it is not asked for.
    pub calls: Option<CallRules>,
    /// The functions that control what is counted and collected.
    pub functions: FunctionPatterns,
}

/// Patterns of the functions that control what is counted and collected, with ? and *.
#[derive(Clone, Debug, Default)]
pub struct FunctionPatterns {
    /// They switch collection.
    pub toggle: Vec<Vec<u8>>,
    /// Costs are dumped when they are entered.
    pub dump_before: Vec<Vec<u8>>,
    /// Costs are dumped when they are left.
    pub dump_after: Vec<Vec<u8>>,
    /// Costs are set to zero when they are entered.
    pub zero_before: Vec<Vec<u8>>,
    /// Numbers of callers that they are told apart by; the last one that fits counts.
    pub callers: Vec<(u32, Vec<u8>)>,
    /// Levels of recursion that are told apart of them, likewise.
    pub recursions: Vec<(u32, Vec<u8>)>,
    /// A process is counted from the first entry of one of them on; from its first instruction on
    /// if there are none.
    pub count_from: Vec<Vec<u8>>,
}

/// Counting of the processes that the first one starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Children {
    /// Programs that they execute are counted, too; a child of fork(2) is counted in any case until
    /// it executes one.
    pub trace: bool,
    /// A child of fork(2) begins with its parent's counts, as in Cachegrind.
    pub inherit: bool,
    /// The counts of all processes are added up in one profile.
    pub merged: bool,
    /// Threads have counts of their own, too.
    pub threads: bool,
}

impl Default for Children {
    fn default() -> Children {
        Children { trace: false, inherit: true, merged: false, threads: false }
    }
}

impl CountConfig {
    /// The events that are counted.
    pub fn events(&self) -> EventSet {
        EventSet { cache: self.caches.is_some(), branch: self.branch_sim }
    }

    /// Tests whether a process is counted only from a function on.
    pub(super) fn waits_for_a_function(&self) -> bool {
        !self.functions.count_from.is_empty()
    }
}

/// Positions in a call graph that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    /// By instruction.
    pub instructions: bool,
    /// By line.
    pub lines: bool,
}

impl Default for Positions {
    fn default() -> Positions {
        Positions { instructions: false, lines: true }
    }
}

/// Recordings for a front end. Neither the guest nor the counts depend on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recording {
    /// Costs by instruction.
    pub instructions: bool,
    /// Input from outside, so that the run may go back.
    pub journal: bool,
    /// System calls and signals, for the log.
    pub calls: bool,
    /// Nothing in the log of a child of fork(2) until it executes a program.
    pub silent_forks: bool,
    /// Positions of the call graph, if there is one.
    pub positions: Positions,
}

/// Everything that a session is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The machine and its program.
    pub machine: MachineConfig,
    /// Counting.
    pub counting: CountConfig,
    /// Recordings beside the counts.
    pub recording: Recording,
}
