//! Readers of profiles: the listings of `cg_annotate` of Valgrind 3.28, rankings, annotated machine
//! code, inlined calls.
//!
//! A command reads its profiles, computes values in `view`, and has one of `render` print them.

mod asm;
mod cg_annotate;
mod error;
mod flame;
mod inline;
mod input;
mod intake;
mod names;
mod options;
pub(crate) mod render;
mod side;
pub(crate) mod sources;
mod tally;
mod top;
pub(crate) mod view;

pub(crate) use crate::symbols::files::Reach;
pub(crate) use asm::annotate_asm;
pub(crate) use cg_annotate::annotate;
pub(crate) use error::AnnotateError;
pub(crate) use flame::{FlameOptions, flame};
pub(crate) use inline::annotate_inline;
pub(crate) use names::NameStyle;
pub(crate) use options::{AsmOptions, Format, Input, Look, Options, TopOptions};
pub(crate) use sources::{Places, SourcePath};
pub(crate) use tally::Renaming;
pub(crate) use top::top;
pub(crate) use view::disassembly::Syntax;
pub(crate) use view::ranking::By;
pub(crate) use view::tree::Tree;
