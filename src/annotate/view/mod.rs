//! Views of profiles as plain values: rankings, annotated source, annotated code, metrics and
//! shares. Renderers print them; `annotate`, `top`, `run --top` and the shell show the same views.

pub(crate) mod calls;
pub(crate) mod code;
pub(crate) mod difference;
pub(crate) mod disassembly;
pub(crate) mod groups;
pub(crate) mod inlined;
pub(crate) mod metric;
pub(crate) mod ranking;
pub(crate) mod share;
pub(crate) mod source;
pub(crate) mod stacks;
pub(crate) mod tree;
