//! The names that a program knows, for completion and for "did you mean".

use std::rc::Rc;

use crate::symbols::debugger::symbol_lookup::SymbolLookup;

/// All names of some modules. Making it costs nothing; asking it reads every symbol.
#[derive(Clone, Default)]
pub struct Names(pub(super) Vec<Rc<SymbolLookup>>);

impl Names {
    /// The functions.
    pub fn functions(&self) -> Vec<String> {
        self.0.iter().flat_map(|symbols| symbols.function_names()).collect()
    }

    /// The functions and the data.
    pub fn symbols(&self) -> Vec<String> {
        let of =
            |symbols: &Rc<SymbolLookup>| symbols.function_names().into_iter().chain(symbols.data_names());
        self.0.iter().flat_map(of).collect()
    }

    /// The source files.
    pub fn files(&self) -> Vec<String> {
        self.0.iter().flat_map(|symbols| symbols.files()).collect()
    }
}
