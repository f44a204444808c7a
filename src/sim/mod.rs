//! Cache and branch-predictor simulators with Cachegrind's rules (manual, sections 5.7.1 and
//! 5.7.2): numbers in, outcomes out. They know nothing of instructions, of the emulator or of
//! counting, and hold no state but their own, so that any number of them can run side by side and
//! be cloned for a checkpoint.

mod branch;
mod cache;
mod geometry;
mod hierarchy;
mod lines;
mod packing;
mod presets;
mod timed;

pub(crate) use branch::{COUNTER_MASK, Conditional, HISTORY_MASK, Indirect, PREDICTS_TAKEN_BIT, TAKEN};
pub(crate) use cache::{Cache, HeldCache};
pub(crate) use geometry::Geometry;
pub(crate) use hierarchy::{Held, Hierarchy};
pub(crate) use lines::Line;
pub(crate) use packing::{Pack, PackedList, Packer, Unpacker};
pub(crate) use presets::{PRESETS, preset};
pub(crate) use timed::{NEVER, TimedCache, Touched};
