//! What was counted, where: the profile and its file formats. A leaf: it knows neither the simulators nor
//! the machine, so that a profile can be read, compared and shown without either.

mod cgfile;
mod event;
mod format;
mod instructions;
mod model;
mod summary;

pub use cgfile::{CgFile, NameId, Names, Place};
pub use event::{Costs, Event, EventSet};
pub use format::{
    CgReader, Head, Problem, ReadError, Record, SIDE_SUFFIX, UNSPECIFIED, add, cache_desc, read_instructions,
    write_cachegrind, write_instructions,
};
pub use format::{callgrind, lenient, reason, strict};
pub use instructions::{CodeObject, InsnCosts, Instructions, add_costs};
pub use model::{Line, Profile};
pub use summary::{grouped, summary_lines};
