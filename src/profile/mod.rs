//! What was counted, where: the profile and its file formats. A leaf: it knows neither the simulators nor
//! the machine, so that a profile can be read, compared and shown without either.

mod event;
mod format;
mod model;
mod summary;

pub use event::{Costs, Event, EventSet};
pub use format::{cache_desc, write_cachegrind};
pub use model::{Line, Profile};
pub use summary::summary_lines;
