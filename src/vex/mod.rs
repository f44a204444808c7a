//! A model of VEX, Valgrind's compiler: code at an address in, a superblock out, with the loads and
//! branches that survive optimisation and so are counted. It knows nothing of plans, records or
//! simulators.
//!
//! A superblock begins wherever control arrives after the one before, so the same code may be in
//! several. As VEX does, [`Translator`] decodes up to 60 instructions (`translate`, `flow`,
//! `and_idiom`), lifts them to statements over the guest state (`lift`, `ir`, `guest_state`) and
//! runs the optimiser's passes (`opt`). The events that are gone afterwards are not counted
//! (`count_changes`); the events that a fault finds in Cachegrind's queue are lost (`event_queue`).

mod and_idiom;
mod count_changes;
mod event_queue;
mod flow;
mod guest_state;
mod ir;
mod lift;
mod opt;
mod reg_values;
mod superblock;
#[cfg(test)]
mod tests;
mod translate;

pub(crate) use event_queue::LENGTH as QUEUE_LENGTH;
pub(crate) use superblock::{CountChange, Superblock};
pub(crate) use translate::Translator;
