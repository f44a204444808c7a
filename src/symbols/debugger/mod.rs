//! The views of a debugger: symbols by name, breakpoints by source line, inlined calls, and stacks.

mod blocks;
mod breakpoint_rows;
pub mod cfi;
pub mod inline;
pub mod inlined_sites;
mod prologue_scan;
pub mod symbol_lookup;
pub mod symbol_match;
pub mod unwind;
