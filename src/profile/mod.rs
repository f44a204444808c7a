//! What was counted, where: the profile and its file formats. A leaf: it knows neither the simulators nor
//! the machine, so that a profile can be read, compared and shown without either.

mod cgfile;
mod event;
mod format;
mod model;
mod summary;

pub use cgfile::{CgFile, NameId, Names, Place};
pub use event::{Costs, Event, EventSet};
pub use format::{
    CgReader, Head, Problem, ReadError, Record, UNSPECIFIED, add, cache_desc, write_cachegrind,
};
pub use format::{callgrind, lenient, strict};
pub use model::{Line, Profile};
pub use summary::summary_lines;
