//! The functions of an object and the kinds of its sections, without its lines.

use std::ops::Range;
use std::sync::Arc;

use crate::symbols::debug_files::DebugFiles;
use crate::symbols::valgrind::symbol_table::{Symbol, SymbolTable};

/// Sections that Valgrind tells apart where code is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// `.text`.
    Text,
    /// `.plt`.
    Plt,
    /// All others.
    Other,
}

/// The symbols of an object as Valgrind has them, and where its code is.
#[derive(Clone, Debug)]
pub struct Functions {
    symbols: Arc<SymbolTable>,
    text: Range<u64>,
    plt: Range<u64>,
}

impl Functions {
    /// The functions of an object with these symbols.
    pub(crate) fn of(files: &DebugFiles, symbols: Arc<SymbolTable>) -> Functions {
        let section = |name| {
            let found = files.main().section(name);
            found.map_or(0..0, |section| section.sh_addr..section.sh_addr.saturating_add(section.sh_size))
        };
        Functions { symbols, text: section(".text"), plt: section(".plt") }
    }

    /// The symbol that owns the link-time address `vaddr`.
    pub fn symbol(&self, vaddr: u64) -> Option<&Symbol> {
        self.symbols.find(vaddr)
    }

    /// The kind of the section at `vaddr`.
    pub fn section(&self, vaddr: u64) -> SectionKind {
        if self.text.contains(&vaddr) {
            SectionKind::Text
        } else if self.plt.contains(&vaddr) {
            SectionKind::Plt
        } else {
            SectionKind::Other
        }
    }
}
