//! Readers of profiles beside the tools they stand for: cg_annotate, objdump, addr2line.

#[path = "../common/mod.rs"]
mod common;

mod annotate;
mod asm;
mod call_graphs;
mod callgrind;
mod classic;
mod clients;
mod codeviews;
mod debuginfo;
mod flame;
mod fuzz_corpus;
mod grammar;
mod inline;
mod names;
mod valgrind_tools;
mod views;
