//! Guest memory: frames of one arena, objects that mappings share, areas and the page table.
//!
//! Nothing here knows the engine. What its caches must forget is recorded as an
//! [`frames::Invalidation`], and carried out before the guest runs again.
//!
//! The files build on each other in this order: `arena`, `frames`, `ranges`, `pools`, `objects`,
//! `gaps`, `areas`, `page_table`, `space`, then `spaces`, `placement`, `mapping`, `userfault`,
//! `guest_memory` and `snapshot`.

mod areas;
pub(crate) mod arena;
pub(crate) mod frames;
mod gaps;
mod guest_memory;
mod mapping;
mod objects;
mod page_table;
mod placement;
mod pools;
mod ranges;
pub(crate) mod snapshot;
pub(crate) mod space;
mod spaces;
mod userfault;
