//! Parsing of ELF headers.

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::header::{EM_X86_64, ET_CORE, ET_DYN, ET_EXEC, ET_REL, Header};
use goblin::elf::program_header::{
    PF_R, PF_W, PF_X, PT_GNU_RELRO, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_TLS, ProgramHeader,
};
use goblin::elf::{Elf, ProgramHeaders};

use crate::abi::fs::PATH_MAX;
use crate::guest::{PAGE_SIZE, Prot, page_down};
use crate::loader::elf::check;
use crate::loader::elf::image::{ElfType, Image, Segment, Tls, page_end};
use crate::loader::error::{LoadError, not_elf};
use crate::loader::file::FileBytes;

/// Bytes of an ELF64 header.
const EHDR_SIZE: usize = 64;

/// Bytes of an ELF64 program header; AT_PHENT.
pub const PHDR_SIZE: u16 = 56;

/// Bytes of program headers that Linux reads at most.
const PHDRS_MAX: u64 = 65536;

/// Reads and checks the headers of an ELF file. Of the file only the ELF header, the program
/// headers and the interpreter's name are read.
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
