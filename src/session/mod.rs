//! A run: owns the machine, the kernel and the profiler, and goes round the loop between them.

mod accounts;
mod attribute;
mod config;
mod control;
mod finish;
mod guest;
mod inspect;
mod instructions;
mod kernel_stores;
mod load;
mod modules;
mod outcome;
mod request;
mod run;
mod tasks;

pub use config::{
    Caches, Children, Config, CountConfig, Limits, MachineConfig, Producer, Recording, Schedule,
};
pub use control::{Control, LogSink, PAUSE};
pub use finish::run;
pub use guest::StopConditions;
pub use inspect::{Irreversible, Loaded, Saved};
pub use outcome::{Child, Finished, Folded, Pause, Stop};
pub use run::{Session, StartError};
pub use tasks::{ProcessView, TaskView};

pub use crate::emu::unicorn::EngineError;
pub use crate::guest::layout::Layout;
pub use crate::hooks::recorder::CountModel;
pub use crate::kernel::config::TerminalObserver;
pub use crate::kernel::cred::User;
pub(crate) use crate::requests::Voice;
