//! What was counted, where: the profile and its file formats. A leaf: it knows neither the simulators nor
//! the machine, so that a profile can be read, compared and shown without either.

mod event;
mod format;
mod instructions;
mod model;
mod names;
mod substitution;
mod summary;

pub use event::{Costs, Event, EventSet};
pub use format::{
    CgReader, Head, Problem, ReadError, Record, SIDE_SUFFIX, UNSPECIFIED, add, cache_desc, read_instructions,
    write_cachegrind, write_instructions,
};
pub use format::{callgrind, reason};
pub use instructions::{CodeObject, InsnCosts, Instructions, add_costs};
pub use model::{Line, Profile};
pub use names::{NameId, Names};
pub use substitution::Substitution;
pub use summary::{grouped, summary_lines};
