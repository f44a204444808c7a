//! futex.
use crate::syscalls::table::Row;

/// Rows.
pub const ROWS: &[Row] = &[];
