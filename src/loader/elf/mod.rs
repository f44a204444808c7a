//! ELF64 executables for x86-64: headers checked as `fs/binfmt_elf.c` checks them, and made into an [`Image`].

mod bias;
mod check;
mod plan;
#[cfg(test)]
mod tests;

pub use plan::{LoadMapping, MapSource};

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::header::{EM_X86_64, ET_CORE, ET_DYN, ET_EXEC, ET_REL, Header};
use goblin::elf::program_header::{
    PF_R, PF_W, PF_X, PT_GNU_RELRO, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_TLS, ProgramHeader,
};
use goblin::elf::{Elf, ProgramHeaders};

use crate::abi::fs::PATH_MAX;
use crate::guest::{PAGE_SIZE, Prot, page_down, page_up};
use crate::loader::FileBytes;
use crate::loader::error::{LoadError, not_elf};

/// Bytes of an ELF64 header.
const EHDR_SIZE: usize = 64;

/// Bytes of an ELF64 program header; AT_PHENT.
pub const PHDR_SIZE: u16 = 56;

/// Bytes of program headers that Linux reads at most.
const PHDRS_MAX: u64 = 65536;

/// Whether the addresses of a file are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElfType {
    /// ET_EXEC: loaded at its own addresses.
    Exec,
    /// ET_DYN: position-independent; a PIE, a static PIE, a shared library or the program interpreter.
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

/// What the headers say. Every address is the file's own; [`crate::loader::Layout`] chooses the bias to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// ET_EXEC or ET_DYN.
    pub elf_type: ElfType,
    /// e_entry.
    pub entry: u64,
    /// Address of the program headers in memory, for AT_PHDR; 0 if no segment holds them, as the kernel has it.
    pub phdr_vaddr: u64,
    /// e_phentsize, for AT_PHENT.
    pub phent: u16,
    /// e_phnum, for AT_PHNUM.
    pub phnum: u16,
    /// The PT_LOAD segments in the order of the file, which is the order they are mapped in.
    pub segments: Vec<Segment>,
    /// Path in PT_INTERP, without the NUL. None for a static program.
    pub interpreter: Option<Vec<u8>>,
    /// Whether PT_GNU_STACK asks for an executable stack. Without that header the stack is not executable: so
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

    /// What to add to every address so that the lowest page is at `base`, or below it as the alignment asks;
    /// 0 for ET_EXEC. To be added with wrapping.
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
}

/// Reads and checks the headers of an ELF file. Of the file only the ELF header, the program headers and the
/// interpreter's name are read.
pub fn parse<B: FileBytes + ?Sized>(file: &B) -> Result<Image, LoadError> {
    let header = read_header(file)?;
    let elf_type = if header.e_type == ET_EXEC { ElfType::Exec } else { ElfType::Dyn };
    let phdrs = read_program_headers(file, &header)?;
    let segments: Vec<Segment> = phdrs.iter().filter(|p| p.p_type == PT_LOAD).map(segment).collect();
    check::segments(&segments, file.len())?;
    let interpreter = match phdrs.iter().find(|p| p.p_type == PT_INTERP) {
        Some(phdr) => Some(read_interpreter(file, phdr)?),
        None => None,
    };
    check::entry(header.e_entry, elf_type, interpreter.is_some(), &segments)?;
    let ends = segments.iter().map(|s| s.vaddr.saturating_add(s.mem_size));
    let last = |kind: u32| phdrs.iter().rev().find(move |p| p.p_type == kind);
    Ok(Image {
        elf_type,
        entry: header.e_entry,
        phdr_vaddr: phdr_vaddr(header.e_phoff, &segments),
        phent: header.e_phentsize,
        phnum: header.e_phnum,
        interpreter,
        stack_exec: last(PT_GNU_STACK).is_some_and(|p| p.p_flags & PF_X != 0),
        relro: last(PT_GNU_RELRO).map(|p| (p.p_vaddr, p.p_memsz)),
        tls: last(PT_TLS).map(|p| Tls {
            vaddr: p.p_vaddr,
            offset: p.p_offset,
            file_size: p.p_filesz,
            mem_size: p.p_memsz,
            align: p.p_align,
        }),
        brk_base: page_end(ends.max().unwrap_or(0)),
        low: page_down(segments.iter().map(|s| s.vaddr).min().unwrap_or(0)),
        align: segments.iter().map(|s| s.align).filter(|a| a.is_power_of_two()).fold(PAGE_SIZE, u64::max),
        segments,
    })
}

/// Rounds up to a page; the last page of the address space where there is none behind it.
pub(super) fn page_end(addr: u64) -> u64 {
    page_up(addr).unwrap_or(page_down(u64::MAX))
}

fn read_header<B: FileBytes + ?Sized>(file: &B) -> Result<Header, LoadError> {
    let mut head = [0; EHDR_SIZE];
    let count = file.read_at(0, &mut head).min(EHDR_SIZE);
    let bytes = head.get(..count).unwrap_or(&head);
    if count == 0 {
        return Err(LoadError::Empty);
    }
    if !bytes.starts_with(b"\x7fELF") {
        return Err(not_elf(bytes));
    }
    match bytes.get(4) {
        Some(1) => return Err(LoadError::Class32),
        Some(&class) if class != 2 => return Err(LoadError::Class(class)),
        _ => {}
    }
    match bytes.get(5) {
        Some(&data) if data != 1 => return Err(LoadError::Data(data)),
        _ => {}
    }
    if count < EHDR_SIZE {
        return Err(LoadError::ShortHeader(count as u64));
    }
    let header = Elf::parse_header(bytes).map_err(|_| LoadError::ShortHeader(count as u64))?;
    if header.e_machine != EM_X86_64 {
        return Err(LoadError::Machine(header.e_machine));
    }
    match header.e_type {
        ET_EXEC | ET_DYN => Ok(header),
        ET_REL => Err(LoadError::Relocatable),
        ET_CORE => Err(LoadError::Core),
        other => Err(LoadError::Type(other)),
    }
}

fn read_program_headers<B: FileBytes + ?Sized>(
    file: &B,
    header: &Header,
) -> Result<ProgramHeaders, LoadError> {
    if header.e_phnum == 0 {
        return Err(LoadError::NoProgramHeaders);
    }
    if header.e_phentsize != PHDR_SIZE {
        return Err(LoadError::PhentSize(header.e_phentsize));
    }
    let need = u64::from(header.e_phnum) * u64::from(PHDR_SIZE);
    if need > PHDRS_MAX {
        return Err(LoadError::TooManyProgramHeaders(header.e_phnum));
    }
    let short = LoadError::ShortProgramHeaders { offset: header.e_phoff, need, len: file.len() };
    let mut table = vec![0; need as usize];
    if file.read_at(header.e_phoff, &mut table) < table.len() {
        return Err(short);
    }
    let ctx = Ctx::new(Container::Big, Endian::Little);
    ProgramHeader::parse(&table, 0, usize::from(header.e_phnum), ctx).map_err(|_| short)
}

fn segment(phdr: &ProgramHeader) -> Segment {
    let flag = |bit: u32, prot: Prot| if phdr.p_flags & bit != 0 { prot } else { Prot::NONE };
    Segment {
        vaddr: phdr.p_vaddr,
        offset: phdr.p_offset,
        file_size: phdr.p_filesz,
        mem_size: phdr.p_memsz,
        prot: flag(PF_R, Prot::READ).with(flag(PF_W, Prot::WRITE)).with(flag(PF_X, Prot::EXEC)),
        align: phdr.p_align,
    }
}

fn read_interpreter<B: FileBytes + ?Sized>(file: &B, phdr: &ProgramHeader) -> Result<Vec<u8>, LoadError> {
    if phdr.p_filesz < 2 || phdr.p_filesz > PATH_MAX as u64 {
        return Err(LoadError::InterpreterName(phdr.p_offset));
    }
    let mut name = vec![0; phdr.p_filesz as usize];
    if file.read_at(phdr.p_offset, &mut name) < name.len() {
        return Err(LoadError::ShortInterpreterName(phdr.p_offset));
    }
    if name.last() != Some(&0) {
        return Err(LoadError::InterpreterName(phdr.p_offset));
    }
    name.truncate(name.iter().position(|&b| b == 0).unwrap_or(0));
    if name.is_empty() {
        return Err(LoadError::EmptyInterpreterName);
    }
    Ok(name)
}

fn phdr_vaddr(phoff: u64, segments: &[Segment]) -> u64 {
    let inside = |s: &&Segment| s.offset <= phoff && phoff - s.offset < s.file_size;
    match segments.iter().rev().find(inside) {
        Some(s) => (phoff - s.offset).wrapping_add(s.vaddr),
        None => 0,
    }
}
