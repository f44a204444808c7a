//! Renderers of views: the text of `cg_annotate`, tables for terminals, JSON and CSV.

pub(crate) mod code;
pub(crate) mod code_report;
pub(crate) mod columns;
pub(crate) mod functions;
pub(crate) mod report;
pub(crate) mod source;
pub(crate) mod terminal;
pub(crate) mod text;
