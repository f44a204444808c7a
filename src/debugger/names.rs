//! The names that a program knows, for completion and for "did you mean".

use std::sync::Arc;

use crate::symbols::debugger::symbol_lookup::Places;

/// All names of some modules. Making it costs nothing; asking it reads every symbol.
#[derive(Clone, Default)]
pub struct Names(pub(super) Vec<Arc<Places>>);

impl Names {
    /// The functions.
    pub fn functions(&self) -> Vec<String> {
        self.0.iter().flat_map(|places| places.function_names()).collect()
    }

    /// The functions and the data.
    pub fn symbols(&self) -> Vec<String> {
        let of = |places: &Arc<Places>| places.function_names().into_iter().chain(places.data_names());
        self.0.iter().flat_map(of).collect()
    }

    /// The source files.
    pub fn files(&self) -> Vec<String> {
        self.0.iter().flat_map(|places| places.files()).collect()
    }
}
