//! Names and lines as Valgrind 3.19 chooses them for Cachegrind: functions from the ELF symbol
//! tables, files and lines from `.debug_line`.

pub mod debug_info;
pub(crate) mod demangle;
pub mod functions;
pub(crate) mod libiberty_style;
pub(crate) mod line_table;
pub(crate) mod members;
pub mod symbol_table;
