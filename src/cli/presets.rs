//! `cgemu presets`: the named caches.

use comfy_table::{Table, TableStyle};

use crate::sim::PRESETS;

/// The list, the default first.
pub fn table() -> String {
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
    fn every_preset_is_listed() {
        let text = table();
        for preset in PRESETS {
            let numbers = preset.ll.to_string();
            assert!(text.lines().any(|l| l.contains(preset.name) && l.contains(&numbers)), "{}", preset.name);
        }
    }
}
