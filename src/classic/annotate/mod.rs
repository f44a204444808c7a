//! The annotated profile in the layout of `cg_annotate` of Valgrind 3.19 (its manual, section 5.3),
//! byte for byte. Where that program follows the order of a hash, which differs from run to run,
//! names decide here: among functions with equal counts, and among the files that are annotated.

mod columns;
mod options;
mod report;
mod source;
mod table;
mod warnings;

pub(crate) use options::{Options, USAGE};

use std::fs::File;
use std::io;
use std::path::Path;

use crate::classic::failure::Failure;

/// Reads the profile that the options name and writes the whole report to `out`. `open` opens
/// source files; `warn` gets one line for each line of the profile that is passed over.
///
/// # Errors
/// A profile that cannot be read; events in the options that it does not have; a source file that
/// was asked for and cannot be opened. The report up to there is in `out`.
pub(crate) fn annotate(
    options: &Options,
    open: &dyn Fn(&Path) -> io::Result<File>,
    out: &mut Vec<u8>,
    warn: &mut dyn FnMut(String),
) -> Result<(), Failure> {
    let table = table::Table::read(options, warn)?;
    let order = report::Order::new(options, &table)?;
    report::header(options, &order, &table, out);
    let files = report::functions(options, &order, &table, out)?;
    source::annotate(options, open, &order, &table, files, out)
}
