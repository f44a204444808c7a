//! Renderers of views: the text of `cg_annotate`, tables for terminals, JSON, CSV and
//! flame graphs.

pub(crate) mod code;
pub(crate) mod code_report;
pub(crate) mod columns;
pub(crate) mod flame;
pub(crate) mod functions;
pub(crate) mod report;
pub(crate) mod source;
pub(crate) mod terminal;
pub(crate) mod text;
pub(crate) mod tree;
