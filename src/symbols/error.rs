//! Why an object's debug information cannot be read at all.

/// An object that is not one this reader understands. Damage further in is no error: what can be read is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DebugError {
    /// The file does not begin with the ELF magic number, or ends within its header.
    #[error("not an ELF file: it has no complete ELF header; give an x86-64 program, library or debug file")]
    NotElf,
    /// `EI_CLASS` or `EI_DATA` is another machine's.
    #[error("not a little-endian 64-bit ELF file (class {class}, data {data}); give an x86-64 object")]
    WrongClass {
        /// `e_ident[EI_CLASS]`.
        class: u8,
        /// `e_ident[EI_DATA]`.
        data: u8,
    },
    /// The program header table lies outside the file.
    #[error("program headers at {offset:#x} ({count} of them) lie outside the file; it is truncated")]
    ProgramHeaders {
        /// `e_phoff`.
        offset: u64,
        /// `e_phnum`.
        count: u64,
    },
}
