//! `cgemu syscalls`: what the emulated kernel serves, from the table it dispatches by.

use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

use crate::syscalls::table::{Support, rows};

/// Width of the list where the terminal does not say, in columns.
const WIDTH: u16 = 100;

/// The list, by number, with a count below it.
pub fn table() -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_listed_once() {
        let text = table();
        for row in rows() {
            let number = row.number.to_string();
            let listed = text.lines().filter(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some(&number) && words.next() == Some(row.name)
            });
            assert_eq!(listed.count(), 1, "{}", row.name);
        }
    }
}
