//! Profiles: counts by place in the source, and their file formats. A leaf: it knows neither the
//! simulators nor the machine, so that a profile can be read, compared and shown without either.

mod call_graph;
mod counts;
mod event;
mod format;
mod instructions;
mod model;
mod names;
mod origin;
mod substitution;
mod summary;

pub use call_graph::{CallGraph, CalledFunction, Calls, CodePosition, FunctionId, Jumps, PlaceCosts};
pub use counts::{Cell, Row, Rows, Sums, TooLarge, add};
pub use event::{Costs, Event, EventSet};
pub(crate) use format::{
    CHANGE, COMPARED, CostStart, Dialect, End, Gap, Key, Line, Lines, Number, Others, instead_of_head,
    is_space, numbers, words,
};
pub use format::{
    CallgrindForm, CallgrindPart, CallgrindReader, CgReader, Definition, Head, Problem, ReadError, Record,
    SIDE_SUFFIX, cache_desc, is_callgrind, read_instructions, reason, write_cachegrind, write_callgrind,
    write_instructions,
};
pub use instructions::{CodeObject, InsnCosts, Instructions, add_costs};
pub(crate) use model::clean;
pub use model::{Profile, ProfileLine};
pub use names::{NameId, Names, UNKNOWN};
pub(crate) use origin::unlike;
pub use substitution::Substitution;
pub use summary::{callgrind_totals, grouped, summary_lines};
