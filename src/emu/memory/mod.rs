//! Guest memory: frames in one arena, objects shared between mappings, areas and page tables.
//!
//! Nothing here knows the engine. Whatever the engine's caches must forget is written down as an
//! [`Invalidation`] and carried out by the engine's door before the guest runs again.

pub mod area;
pub mod arena;
mod copy;
pub mod frames;
pub mod object;
mod place;
pub mod saved;
pub mod space;
pub mod table;

/// Something the engine's caches must forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalidation {
    /// Translations of the page at this guest address.
    Page(u64),
    /// Every translation of addresses.
    AllPages,
    /// Code translated from this frame.
    Code(frames::Frame),
}
