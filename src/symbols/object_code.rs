//! An object's machine code, with the names that a disassembler shows: functions, and what an address is near to.

use std::borrow::Cow;

use crate::loader::FileBytes;
use crate::symbols::elf::{self, Elf};
use crate::symbols::error::DebugError;
use crate::symbols::labels::{self, Label};
use crate::symbols::section;
use crate::symbols::valgrind::demangle::display_name;
use crate::symbols::valgrind::symbol_table::{self, Symbol, SymbolTable};

/// The code of one object. Addresses are link-time addresses.
pub struct ObjectCode<'a> {
    elf: Elf<'a>,
    loads: Vec<elf::Load>,
    functions: SymbolTable,
    labels: Vec<Label>,
}

impl<'a> ObjectCode<'a> {
    /// Reads the headers and symbols of `main`, and those symbols of its debug file that it lacks.
    ///
    /// # Errors
    /// Only if `main` is not a little-endian 64-bit ELF file with readable program headers.
    pub fn parse<F: FileBytes + ?Sized>(main: &'a F, separate: Option<&'a F>) -> Result<Self, DebugError> {
        let elf = Elf::parse(main)?;
        let separate = separate.and_then(|file| Elf::parse(file).ok());
        let separate = separate.or_else(|| section::mini(&elf));
        let loads = elf.loads();
        let functions = symbol_table::read(&elf, separate.as_ref(), &elf::Code::of(&loads));
        let labels = labels::read(&elf, separate.as_ref());
        Ok(Self { elf, loads, functions, labels })
    }

    /// The function whose range holds `vaddr`, as Cachegrind would name it before it is made readable.
    pub fn function(&self, vaddr: u64) -> Option<&Symbol> {
        self.functions.find(vaddr)
    }

    /// All functions, in order of address.
    pub fn functions(&self) -> &SymbolTable {
        &self.functions
    }

    /// Up to `size` bytes from `vaddr` on, as the file has them; none outside of what is loaded from it.
    pub fn bytes(&self, vaddr: u64, size: u64) -> Vec<u8> {
        elf::code_at(&self.elf, &self.loads, vaddr, size)
    }

    /// The name to show for an address, and how many bytes it is past the symbol's start: the nearest symbol
    /// before it, as objdump(1) chooses it. Entries of the procedure linkage table are `name@plt`.
    pub fn label(&self, vaddr: u64) -> Option<(Cow<'_, str>, u64)> {
        let label = labels::nearest(&self.labels, vaddr)?;
        let past = vaddr.checked_sub(label.address)?;
        let name = match label.name.strip_suffix("@plt") {
            Some(target) => Cow::Owned(format!("{}@plt", display_name(target, true, true))),
            None => display_name(&label.name, true, true),
        };
        Some((name, past))
    }
}
