//! `cgemu syscalls` and `cgemu presets`: lists from the tables that the emulator itself uses.

use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

use crate::sim::PRESETS;
use crate::syscalls::table::{Support, rows};

/// Width of the list where the terminal does not say, in columns.
const WIDTH: u16 = 100;

/// The system calls by number, with a count below them.
pub(super) fn syscalls() -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new())
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["Number", "Call", "Support", "Note"]);
    if !table.is_tty() {
        table.set_width(WIDTH);
    }
    if let Some(column) = table.column_mut(0) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows() {
        let support = match row.support {
            Support::Full => "full",
            Support::Partial => "partial",
            Support::Refused => "refused",
        };
        table.add_row([&row.number.to_string(), row.name, support, row.note]);
    }
    let of = |support| rows().iter().filter(|row| row.support == support).count();
    format!(
        "{}\n\n{} full, {} partial, {} refused; any other call is answered with ENOSYS and named in the log.\n",
        table.trim_fmt(),
        of(Support::Full),
        of(Support::Partial),
        of(Support::Refused),
    )
}

/// The named caches, the default first.
pub(super) fn presets() -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_header(["Preset", "I1", "D1", "LL", "Machine"]);
    for preset in PRESETS {
        table.add_row([
            preset.name.to_owned(),
            preset.i1.to_string(),
            preset.d1.to_string(),
            preset.ll.to_string(),
            preset.note.to_owned(),
        ]);
    }
    format!("{}\n\nEach cache is size,associativity,line size in bytes.\n", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_listed_once() {
        let text = syscalls();
        for row in rows() {
            let number = row.number.to_string();
            let listed = text.lines().filter(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some(&number) && words.next() == Some(row.name)
            });
            assert_eq!(listed.count(), 1, "{}", row.name);
        }
    }

    #[test]
    fn every_preset_is_listed() {
        let text = presets();
        for preset in PRESETS {
            let numbers = preset.ll.to_string();
            assert!(text.lines().any(|l| l.contains(preset.name) && l.contains(&numbers)), "{}", preset.name);
        }
    }
}
