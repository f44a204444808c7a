//! A run: owns the machine, the kernel and the profiler, and goes round the loop between them.

mod accounts;
mod attribute;
mod call_graph;
mod calls;
mod config;
mod control;
mod costs;
mod finish;
mod guest;
mod inspect;
mod instructions;
mod kernel_stores;
mod line_index;
mod load;
mod look;
mod modules;
mod orders;
mod outcome;
mod places;
mod request;
mod run;
mod skip;
mod tasks;

pub use config::{
    Caches, Children, Config, CountConfig, FunctionPatterns, Limits, MachineConfig, Positions, Producer,
    Recording, Schedule,
};
pub use control::{Control, LogSink, PAUSE};
pub use finish::run;
pub use guest::StopConditions;
pub use inspect::{Irreversible, Saved};
pub use look::{Loaded, ProcessView, TaskView};
pub use outcome::{Child, DumpedPart, Finished, Folded, Pause, Spawned, Stop, Thread, Whose};
pub use run::{Session, StartError};
pub use skip::Skip;

pub(crate) use crate::abi::signal_names::name as signal_name;
pub(crate) use crate::emu::host_memory::advice as memory_advice;
pub use crate::emu::unicorn::EngineError;
pub use crate::guest::SpaceId;
pub use crate::guest::layout::Layout;
pub use crate::hooks::callgraph::walker::CallRules;
pub use crate::hooks::recorder::CountModel;
pub use crate::kernel::config::{OutsideHost, TerminalObserver};
pub use crate::kernel::cred::User;
pub(crate) use crate::kernel::process::PID;
pub use crate::kernel::vfs::policy::{Policy, View};
pub(crate) use crate::requests::Voice;
