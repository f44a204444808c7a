//! Names and lines as Valgrind 3.19 chooses them for Cachegrind: functions from the ELF symbol
//! tables, files and lines from `.debug_line`.

pub mod debug_info;
pub mod demangle;
mod libiberty_style;
pub mod line_table;
pub mod symbol_table;
