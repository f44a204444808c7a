//! A run: owns the machine, the kernel and the profiler, and goes round the loop between them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

mod attribute;
mod guest;
mod inspect;
mod instructions;
mod load;
mod modules;
mod request;
mod run;

pub use attribute::Folded;
pub use guest::{PAUSE, Pause, StopConditions};
pub use inspect::{Loaded, Saved};
pub use run::{Session, run};

pub use crate::emu::unicorn::EngineError;
pub use crate::guest::layout::Layout;
pub use crate::hooks::consumer::CountModel;
pub use crate::kernel::config::TerminalObserver;
use crate::profile::{Instructions, Profile};
pub use crate::requests::Voice;
use crate::sim::Geometry;

/// Which producer of the trace runs.
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
        let preset = crate::sim::preset("default").unwrap_or(&crate::sim::PRESETS[0]);
        Caches { i1: preset.i1, d1: preset.d1, ll: preset.ll }
    }
}

/// Where a run has to end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// After exactly this many instructions.
    pub instructions: Option<u64>,
    /// At this many bytes of guest memory and overlay files.
    pub memory: Option<u64>,
    /// After this much time of the host.
    pub time: Option<Duration>,
}

/// Everything that decides a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The program as it was typed; looked up by the caller.
    pub program: PathBuf,
    /// `argv`, the program's name first.
    pub argv: Vec<OsString>,
    /// The guest's environment, in order.
    pub env: Vec<(OsString, OsString)>,
    /// The caches to simulate; none with `--cache-sim=no`.
    pub caches: Option<Caches>,
    /// Whether branches are simulated.
    pub branch_sim: bool,
    /// What is counted.
    pub count_model: CountModel,
    /// Where things go in the guest's address space.
    pub layout: Layout,
    /// Whether counting begins at once.
    pub instr_at_start: bool,
    /// Who produces the trace.
    pub producer: Producer,
    /// When to stop.
    pub limits: Limits,
    /// Host directories the guest may change.
    pub allow_write: Vec<PathBuf>,
    /// Seed of the guest's random bytes.
    pub seed: u64,
    /// Whether costs by instruction are wanted.
    pub instructions: bool,
    /// What the guest reads instead of the host's standard input.
    pub input: Option<std::sync::Arc<std::fs::File>>,
    /// Whether the run may go back, so that what comes from outside has to be kept.
    pub journal: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program ended with this status.
    Exited(i32),
    /// A signal ended the program.
    Killed(i32),
    /// A limit was reached; the text names it and its option.
    Limit(String),
    /// The user asked for it (SIGINT, SIGTERM); the signal's number.
    Interrupted(i32),
    /// Something that cannot be emulated faithfully; the text is the message for the user.
    Refused(String),
}

/// What is left of a run.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub stop: Stop,
    /// The counts.
    pub profile: Profile,
    /// The counts by instruction, if they were wanted.
    pub instructions: Option<Instructions>,
    /// Lines for the log (unknown system calls, refused flags, dropped files), in order.
    pub notices: Vec<String>,
}

/// What the outside may read and say while the guest runs; shared with signal handlers and the progress line.
#[derive(Debug, Default)]
pub struct Control {
    /// The number of the signal that asks the run to end; 0 for none.
    pub interrupt: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    /// Instructions executed, roughly.
    pub instructions: std::sync::atomic::AtomicU64,
    /// Bytes of guest memory in use, roughly.
    pub resident: std::sync::atomic::AtomicU64,
    /// Told when the guest is about to use the host's streams.
    pub terminal: Option<std::sync::Arc<dyn TerminalObserver>>,
    /// Takes what the program wants in the log at once.
    pub log: Option<std::sync::Arc<dyn LogSink>>,
}

/// The log while the program runs.
pub trait LogSink: std::fmt::Debug + Send + Sync {
    /// Adds text, with the prefix of `voice` at the beginning of each line.
    fn say(&self, voice: Voice, text: &[u8]);
}

/// Why a program could not be started. Each says what is wrong with which file and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No such file (exit status 127).
    #[error("{0}")]
    NotFound(String),
    /// A file that cannot be run (exit status 126).
    #[error("{0}")]
    NotExecutable(String),
    /// Anything else that went wrong before the first instruction (exit status 125).
    #[error("{0}")]
    Other(String),
}
