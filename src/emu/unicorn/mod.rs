//! The engine's room: nothing outside of it names Unicorn or its symbols.
//!
//! Top-down: `machine` runs the guest and `snapshot` saves it; the engine calls back into
//! `callbacks` and `interpose`, and `translation` for each new block. They share a `vcpu`, whose
//! parts keep their own invariants: `engine_state` accesses the engine's CPU, `mmu` answers its
//! TLB, `trace_buffer` is filled by generated code, `run_control` decides when to stop,
//! `translator` generates, and `reference` records through public hooks instead. `layout` and `ffi`
//! describe the pinned release; `errata` and `helpers` correct what it computes wrongly, and
//! `allocators` what it does without memory.

mod allocators;
mod callbacks;
mod emit;
mod engine_state;
mod errata;
mod far;
mod ffi;
mod helpers;
mod interpose;
mod jump_cache;
mod layout;
mod line_accesses;
mod line_lookups;
mod line_tlb;
mod machine;
mod matcher;
mod mmu;
mod predictors;
mod reference;
mod registers;
mod run_control;
mod snapshot;
#[cfg(test)]
mod tests;
mod tlbs;
mod trace_buffer;
mod translation;
mod translator;
mod unmasked;
mod vcpu;
mod ways;
mod wrapped;

pub use machine::EngineError;
pub(crate) use machine::{HOST_ADDRESSES, Machine};
pub(crate) use snapshot::{SavedMachine, TaskCpu};
