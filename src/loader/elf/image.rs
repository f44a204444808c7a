//! Loadable images: the numbers of the headers, and the biases that put them in place.

use crate::guest::layout::{InterpreterPlace, Layout};
use crate::guest::{Prot, page_down, page_up};

/// Rounds up to a page; the last page of the address space where there is none behind it.
pub(super) fn page_end(addr: u64) -> u64 {
    page_up(addr).unwrap_or(page_down(u64::MAX))
}

/// Type of an executable (e_type): with final addresses or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElfType {
    /// ET_EXEC: loaded at its own addresses.
    Exec,
    /// ET_DYN: position-independent; a PIE, a static PIE, a shared library or the program
    /// interpreter.
    Dyn,
}

/// A PT_LOAD segment, with the addresses of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// p_vaddr.
    pub vaddr: u64,
    /// p_offset.
    pub offset: u64,
    /// p_filesz, bytes.
    pub file_size: u64,
    /// p_memsz, bytes.
    pub mem_size: u64,
    /// p_flags as mmap permissions.
    pub prot: Prot,
    /// p_align, as it stands in the file; the kernel passes over one that is no power of two.
    pub align: u64,
}

/// PT_TLS: the initial image of thread-local storage. The kernel does nothing with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tls {
    /// p_vaddr.
    pub vaddr: u64,
    /// p_offset.
    pub offset: u64,
    /// p_filesz, bytes.
    pub file_size: u64,
    /// p_memsz, bytes.
    pub mem_size: u64,
    /// p_align.
    pub align: u64,
}

/// Headers of an executable. Every address is the file's; a [`Layout`] chooses the bias to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// ET_EXEC or ET_DYN.
    pub elf_type: ElfType,
    /// e_entry.
    pub entry: u64,
    /// Address of the program headers in memory, for AT_PHDR; 0 if no segment holds them, as the
    /// kernel has it.
    pub phdr_vaddr: u64,
    /// e_phentsize, for AT_PHENT.
    pub phent: u16,
    /// e_phnum, for AT_PHNUM.
    pub phnum: u16,
    /// The PT_LOAD segments in the order of the file, which is the order they are mapped in.
    pub segments: Vec<Segment>,
    /// Path in PT_INTERP, without the NUL. None for a static program.
    pub interpreter: Option<Vec<u8>>,
    /// Executable stack, as PT_GNU_STACK asks. Without that header the stack is not executable: so
    /// has x86-64 been since Linux 5.8 (`arch/x86/include/asm/elf.h`).
    pub stack_exec: bool,
    /// PT_GNU_RELRO, address and length. The kernel leaves it to the program's own start-up code.
    pub relro: Option<(u64, u64)>,
    /// PT_TLS.
    pub tls: Option<Tls>,
    /// First page after the highest segment, where the heap begins.
    pub brk_base: u64,
    /// First page of the lowest segment.
    pub low: u64,
    /// The largest valid alignment of a segment, at least a page.
    pub align: u64,
}

impl Image {
    /// Bytes from the lowest page to the end of the highest one.
    pub fn span_len(&self) -> u64 {
        self.brk_base.saturating_sub(self.low)
    }

    /// Ranges of code and data, as `load_elf_binary` notes them: from the first executable segment
    /// to the end of the last one's bytes, and from the last segment to the end of the last bytes.
    pub fn code_and_data(&self) -> ((u64, u64), (u64, u64)) {
        let end = |segment: &Segment| segment.vaddr.wrapping_add(segment.file_size);
        let code = || self.segments.iter().filter(|segment| segment.prot.allows(Prot::EXEC));
        let (start_code, end_code) = (code().map(|s| s.vaddr).min(), code().map(end).max());
        let start_data = self.segments.iter().map(|segment| segment.vaddr).max();
        let end_data = self.segments.iter().map(end).max();
        let or_zero = |addr: Option<u64>| addr.unwrap_or(0);
        ((or_zero(start_code), or_zero(end_code)), (or_zero(start_data), or_zero(end_data)))
    }

    /// The bias of every address that puts the lowest page at `base`, or below it as the alignment
    /// asks; 0 for ET_EXEC. To be added with wrapping.
    pub fn bias_at(&self, base: u64) -> u64 {
        match self.elf_type {
            ElfType::Exec => 0,
            ElfType::Dyn => base.wrapping_sub(self.low) & !(self.align - 1),
        }
    }

    /// The entry point with `bias` added.
    pub fn entry_at(&self, bias: u64) -> u64 {
        self.entry.wrapping_add(bias)
    }

    /// The bias of a program; 0 for ET_EXEC.
    pub fn program_bias(&self, layout: &Layout) -> u64 {
        self.bias_at(layout.pie_base)
    }

    /// The bias of a program interpreter; 0 for ET_EXEC. `program_end` is the first address behind
    /// the program.
    pub fn interpreter_bias(&self, layout: &Layout, program_end: u64) -> u64 {
        match layout.interpreter {
            InterpreterPlace::Below(top) => self.bias_at(top.saturating_sub(self.span_len())),
            InterpreterPlace::At(base) => self.bias_at(base.max(program_end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::elf::parse;
    use crate::loader::testelf::TestElf;

    #[test]
    fn linux_addresses() {
        // `setarch -R cat /proc/self/maps` shows the program at 555555554000, the stack ending at
        // 7ffffffff000 and the highest mapping of a file ending at 7ffff7fff000 or just below.
        let pie = parse(TestElf::pie().bytes().as_slice()).unwrap();
        assert_eq!(pie.program_bias(&Layout::LINUX), 0x5555_5555_4000);
        let bias = pie.interpreter_bias(&Layout::LINUX, 0);
        let end = pie.plan(bias).unwrap().iter().map(|m| m.addr + m.len).max();
        assert_eq!(end, Some(0x7fff_f7ff_f000));
    }

    #[test]
    fn fixed_programs_stay_where_they_are() {
        let exec = parse(TestElf::exec().bytes().as_slice()).unwrap();
        assert_eq!(exec.program_bias(&Layout::LINUX), 0);
        assert_eq!(exec.interpreter_bias(&Layout::LINUX, 0), 0);
    }

    #[test]
    fn another_layout_is_another_value() {
        let pie = parse(TestElf::pie().bytes().as_slice()).unwrap();
        assert_eq!(pie.program_bias(&Layout::VALGRIND), 0x10_8000);
        assert_eq!(pie.interpreter_bias(&Layout::VALGRIND, 0x10_c000), 0x400_0000);
        assert_eq!(pie.interpreter_bias(&Layout::VALGRIND, 0x480_0000), 0x480_0000);
    }

    #[test]
    fn alignment_over_a_page_lowers_the_base() {
        let mut elf = TestElf::pie();
        elf.loads[0].align = 0x20_0000;
        let image = parse(elf.bytes().as_slice()).unwrap();
        assert_eq!(image.program_bias(&Layout::LINUX), 0x5555_5540_0000);
        // 0x7ffff7fff000 less a span of three pages, rounded down to 2 MiB.
        assert_eq!(image.interpreter_bias(&Layout::LINUX, 0), 0x7fff_f7e0_0000);
    }
}
