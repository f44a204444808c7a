//! The second count model: what an unmodified Valgrind prints, which counts in superblocks.
//!
//! A superblock begins wherever control arrives after the one before, so the same code may be in several. For every address
//! where one may begin, `superblock` finds out, when the code there is translated, which instructions are in it and what
//! Valgrind's optimiser leaves of them. [`regroup`] stands between the trace and the consumers: it follows in which superblock
//! control is, and gives out records of other plans where something else is to be counted. How the engine cuts its blocks makes
//! no difference to it. In the other model there is nothing of this.

mod ahead;
mod bits;
mod common;
mod control;
mod exchange;
mod fold;
mod forget;
mod forms;
mod fpu;
mod integer;
mod ir;
mod known;
mod lift;
mod merge;
mod mmx;
mod optimise;
mod places;
mod queue;
pub mod regroup;
mod settle;
mod shifts;
mod special;
mod sse;
mod stack;
mod state;
mod steps;
mod strings;
mod superblock;
mod sure;
#[cfg(test)]
mod tests;

pub use regroup::Regroup;
