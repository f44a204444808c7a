//! ELF files: headers, sections and symbols, read so that damage costs only what is damaged.
//!
//! `goblin` decodes the structures, but which bytes are read is decided here: its reader of whole
//! files, and that of the `object` crate, take the file in memory or keep all that they have read,
//! and refuse a file for damage in a table that nobody asks for.

use std::cell::RefCell;
use std::sync::Arc;

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::header::{EI_CLASS, EI_DATA, ELFCLASS64, ELFDATA2LSB, ELFMAG, SELFMAG};
use goblin::elf::program_header::{PF_X, PT_LOAD, ProgramHeader};
use goblin::elf::reloc::RelocSection;
use goblin::elf::section_header::{
    SHF_COMPRESSED, SHN_LORESERVE, SHN_UNDEF, SHN_XINDEX, SHT_NOBITS, SectionHeader,
};
use goblin::elf::sym::Symtab;
use goblin::elf64::header::{Header, SIZEOF_EHDR};
use goblin::elf64::program_header::SIZEOF_PHDR;
use goblin::elf64::section_header::SIZEOF_SHDR;
use goblin::elf64::sym::SIZEOF_SYM;
use rustc_hash::FxHashMap;

use crate::guest::{PageSource, page_down, page_up};
use crate::symbols::decompress;
use crate::symbols::give_up::GiveUp;

/// The bytes of a file, read where they are needed.
pub type Source = Arc<dyn PageSource>;

/// Bytes that are read at once.
const READ_AT_ONCE: usize = 1 << 22;

/// Byte order and class of every structure here.
const CTX: Ctx = Ctx { container: Container::Big, le: Endian::Little };

/// A file that cannot be read at all. Damage further in is no error: what can be read is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElfError {
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

/// One `PT_LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// `p_offset`, in bytes.
    pub(crate) offset: u64,
    /// `p_vaddr`.
    pub(crate) vaddr: u64,
    /// `p_filesz`, in bytes.
    pub(crate) file_size: u64,
    /// `PF_X`.
    pub(crate) executable: bool,
}

impl Load {
    /// The address that the byte at `offset` of the file is mapped to, counting whole pages.
    fn vaddr_of(&self, offset: u64) -> Option<u64> {
        let end = page_up(self.offset.checked_add(self.file_size)?).unwrap_or(u64::MAX);
        (self.file_size > 0 && page_down(self.offset) <= offset && offset < end)
            .then(|| self.vaddr.wrapping_add(offset.wrapping_sub(self.offset)))
    }
}

/// The pages that are mapped from the file with execute permission. Valgrind takes symbols and
/// lines only there.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExecutablePages(Vec<(u64, u64)>);

impl ExecutablePages {
    /// The executable pages of `loads`.
    pub(crate) fn of(loads: &[Load]) -> Self {
        let pages = |load: &Load| {
            (page_down(load.vaddr), page_up(load.vaddr.saturating_add(load.file_size)).unwrap_or(u64::MAX))
        };
        Self(loads.iter().filter(|load| load.executable && load.file_size > 0).map(pages).collect())
    }

    /// True if the `size` bytes from `start` lie within one executable mapping.
    pub(crate) fn hold(&self, start: u64, size: u64) -> bool {
        let Some(end) = start.checked_add(size) else { return false };
        self.0.iter().any(|&(from, to)| from <= start && end <= to)
    }
}

/// An ELF file: its headers, and its sections as they are asked for.
pub struct ElfFile {
    source: Source,
    loads: Vec<Load>,
    sections: Vec<SectionHeader>,
    names: Vec<u8>,
    give_up: GiveUp,
    /// Debug sections that were read, decompressed, by number.
    debug: RefCell<FxHashMap<usize, Arc<[u8]>>>,
}

impl ElfFile {
    /// Reads the headers.
    ///
    /// # Errors
    /// If it is not a little-endian 64-bit ELF file with readable program headers.
    pub fn parse(source: Source) -> Result<Self, ElfError> {
        Self::heeding(source, &GiveUp::default())
    }

    /// As [`ElfFile::parse`]; what is read of it later can be given up.
    ///
    /// # Errors
    /// Those of [`ElfFile::parse`].
    pub(crate) fn heeding(source: Source, give_up: &GiveUp) -> Result<Self, ElfError> {
        let file = &*source;
        let head = part(file, 0, SIZEOF_EHDR as u64);
        if !head.starts_with(&ELFMAG[..SELFMAG]) {
            return Err(ElfError::NotElf);
        }
        let ident = |index: usize| head.get(index).copied().unwrap_or(0);
        let (class, data) = (ident(EI_CLASS), ident(EI_DATA));
        if class != ELFCLASS64 || data != ELFDATA2LSB {
            return Err(ElfError::WrongClass { class, data });
        }
        let head: &[u8; SIZEOF_EHDR] = head.as_slice().try_into().map_err(|_| ElfError::NotElf)?;
        let header = *Header::from_bytes(head);
        let loads = loads(file, &header)?;
        let (mut sections, first) = sections(file, &header);
        let index = match u32::from(header.e_shstrndx) {
            SHN_XINDEX => first.map_or(0, |section| section.1),
            index => index,
        };
        let none = GiveUp::default();
        let names = sections.get(index as usize).and_then(|section| contents(file, section, &none));
        let names = names.unwrap_or_default();
        sections.shrink_to_fit();
        let give_up = give_up.clone();
        Ok(Self { source, loads, sections, names, give_up, debug: RefCell::default() })
    }

    /// The bytes of the file.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The wish to read no more of it.
    pub(crate) fn give_up(&self) -> &GiveUp {
        &self.give_up
    }

    /// The executable pages.
    pub(crate) fn executable(&self) -> ExecutablePages {
        ExecutablePages::of(&self.loads)
    }

    /// The address of the byte at `offset` of the file, if a `PT_LOAD` maps it; where two do, of
    /// the executable one. Offsets within a segment's first page, before the segment proper, count
    /// as mapped, because the kernel maps whole pages.
    pub(crate) fn vaddr_of_file_offset(&self, offset: u64) -> Option<u64> {
        let mut hits = self.loads.iter().filter_map(|load| Some((load, load.vaddr_of(offset)?)));
        let first = hits.clone().next()?;
        Some(hits.find(|(load, _)| load.executable).unwrap_or(first).1)
    }

    /// All sections.
    pub(crate) fn sections(&self) -> &[SectionHeader] {
        &self.sections
    }

    /// The first section called `name`.
    pub(crate) fn section(&self, name: &str) -> Option<&SectionHeader> {
        self.sections.get(self.number_of(name)?)
    }

    /// The first section of type `kind` (`SHT_*`).
    pub(crate) fn section_of_type(&self, kind: u32) -> Option<&SectionHeader> {
        self.sections.iter().find(|section| section.sh_type == kind)
    }

    /// The section that a symbol is defined in; `None` for an undefined, absolute or common one.
    pub(crate) fn section_of(&self, symbol: &Symbol<'_>) -> Option<&SectionHeader> {
        self.sections.get(symbol.section).filter(|_| symbol.is_placed())
    }

    /// The bytes of a section in the file, cut where the file ends; none for `SHT_NOBITS`.
    pub(crate) fn contents(&self, section: &SectionHeader) -> Option<Vec<u8>> {
        contents(&*self.source, section, &self.give_up)
    }

    /// True if the file has `.debug_info`.
    pub(crate) fn has_dwarf(&self) -> bool {
        [".debug_info", ".zdebug_info"].iter().any(|name| {
            self.section(name).is_some_and(|section| {
                section.sh_type != SHT_NOBITS && section.sh_size > 0 && section.sh_offset < self.source.len()
            })
        })
    }

    /// The bytes of the debug section `name` (with its dot), decompressed if it is `SHF_COMPRESSED`
    /// or stored under the old `.zdebug` name. Empty if there is no such section or it cannot be
    /// decompressed.
    ///
    /// They are read once, and stay until [`ElfFile::release_sections`].
    pub(crate) fn debug_section(&self, name: &str) -> Arc<[u8]> {
        let old = || self.number_of(&name.replacen(".debug", ".zdebug", 1)).map(|number| (number, true));
        let number = self.number_of(name).map(|number| (number, false)).or_else(old);
        let Some((number, old)) = number else { return Arc::default() };
        if let Some(known) = self.debug.borrow().get(&number) {
            return Arc::clone(known);
        }
        let bytes = self.sections.get(number).and_then(|section| {
            if old {
                decompress::zdebug(&self.contents(section)?, &self.give_up).map(Arc::from)
            } else if section.sh_flags & u64::from(SHF_COMPRESSED) != 0 {
                decompress::section(&self.contents(section)?, &self.give_up).map(Arc::from)
            } else {
                self.shared(section)
            }
        });
        let bytes = bytes.unwrap_or_default();
        if !self.give_up.asked() {
            self.debug.borrow_mut().insert(number, Arc::clone(&bytes));
        }
        bytes
    }

    /// Gives back the debug sections that no one else holds.
    pub(crate) fn release_sections(&self) {
        self.debug.borrow_mut().retain(|_, bytes| Arc::strong_count(bytes) > 1);
    }

    /// The symbols of the table of type `kind` (`SHT_SYMTAB` or `SHT_DYNSYM`).
    pub(crate) fn symbols(&self, kind: u32) -> SymbolEntries {
        let section = self.section_of_type(kind);
        let strings = section.and_then(|section| self.sections.get(section.sh_link as usize));
        let contents = |section| self.contents(section);
        SymbolEntries {
            entries: section.and_then(contents).unwrap_or_default(),
            strings: strings.and_then(contents).unwrap_or_default(),
        }
    }

    /// The relocations with addend of a section: (address, number of the symbol, type).
    pub(crate) fn relocations(&self, section: &SectionHeader) -> Vec<(u64, usize, u32)> {
        let bytes = self.contents(section).unwrap_or_default();
        let relocations = RelocSection::parse(&bytes, 0, bytes.len(), true, CTX);
        let relocations = relocations.iter().flat_map(|section| section.iter());
        relocations.map(|entry| (entry.r_offset, entry.r_sym, entry.r_type)).collect()
    }

    /// Up to `size` bytes from `vaddr` on; none outside of what is loaded from the file.
    pub(crate) fn bytes_at(&self, vaddr: u64, size: u64) -> Vec<u8> {
        let part = self.loads.iter().find_map(|load| {
            let at = vaddr.checked_sub(load.vaddr)?;
            let left = load.file_size.checked_sub(at)?;
            Some((load.offset.checked_add(at)?, left.min(size)))
        });
        part.map(|(offset, size)| self::part(&*self.source, offset, size)).unwrap_or_default()
    }

    /// The symbols that a stripped object carries in `.gnu_debugdata`: an ELF file in an xz stream
    /// (GDB manual, "MiniDebugInfo"). Valgrind does not look there.
    pub(crate) fn mini_debug_info(&self) -> Option<ElfFile> {
        let data = self.section(".gnu_debugdata").and_then(|section| self.contents(section))?;
        Self::heeding(Arc::new(decompress::unxz(&data, &self.give_up)), &self.give_up).ok()
    }

    fn number_of(&self, name: &str) -> Option<usize> {
        let named =
            |section: &SectionHeader| string(&self.names, section.sh_name as u64) == Some(name.as_bytes());
        self.sections.iter().position(named)
    }

    /// As [`ElfFile::contents`], without a copy in between: debug sections can be large.
    fn shared(&self, section: &SectionHeader) -> Option<Arc<[u8]>> {
        let size = size_in(&*self.source, section).filter(|_| !self.give_up.asked())?;
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, size).collect();
        let done = fill(&*self.source, section.sh_offset, Arc::get_mut(&mut bytes)?, &self.give_up);
        if done < size { bytes.get(..done).map(Arc::from) } else { Some(bytes) }
    }
}

/// A symbol with a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol<'t> {
    /// `st_name`; never empty.
    pub(crate) name: &'t [u8],
    /// `st_info`.
    pub(crate) info: u8,
    /// `st_shndx`.
    pub(crate) section: usize,
    /// `st_value`, a link-time address.
    pub(crate) value: u64,
    /// `st_size`, in bytes.
    pub(crate) size: u64,
}

impl Symbol<'_> {
    /// False for an undefined, absolute or common symbol.
    pub(crate) fn is_placed(&self) -> bool {
        self.section != SHN_UNDEF as usize && self.section < SHN_LORESERVE as usize
    }
}

/// The bytes of a symbol table and of its names.
pub(crate) struct SymbolEntries {
    entries: Vec<u8>,
    strings: Vec<u8>,
}

impl SymbolEntries {
    /// The symbols that have names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        let table = Symtab::parse(&self.entries, 0, self.entries.len() / SIZEOF_SYM, CTX);
        table.into_iter().flat_map(|table| table.iter()).filter_map(|symbol| {
            Some(Symbol {
                name: string(&self.strings, symbol.st_name as u64).filter(|name| !name.is_empty())?,
                info: symbol.st_info,
                section: symbol.st_shndx,
                value: symbol.st_value,
                size: symbol.st_size,
            })
        })
    }

    /// The name of the symbol with this number; `None` if it has none.
    pub(crate) fn name(&self, number: usize) -> Option<&[u8]> {
        let count = self.entries.len() / SIZEOF_SYM;
        let symbol = Symtab::parse(&self.entries, 0, count, CTX).ok()?.get(number)?;
        string(&self.strings, symbol.st_name as u64).filter(|name| !name.is_empty())
    }
}

/// The string at `offset` of a string table, without its NUL.
pub(crate) fn string(table: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    rest.split(|&byte| byte == 0).next()
}

/// Reads bytes from `offset` on and returns how many there were: fewer where the file ends.
fn fill(file: &dyn PageSource, offset: u64, bytes: &mut [u8], give_up: &GiveUp) -> usize {
    let mut done = 0;
    while let Some(rest @ [_, ..]) = bytes.get_mut(done..)
        && !give_up.asked()
    {
        let length = rest.len().min(READ_AT_ONCE);
        let rest = rest.get_mut(..length).unwrap_or_default();
        match file.read_at(offset.saturating_add(done as u64), rest) {
            Ok(0) | Err(_) => break,
            Ok(count) => done = done.saturating_add(count),
        }
    }
    done
}

/// Up to `size` bytes at `offset`: fewer where the file ends.
fn part(file: &dyn PageSource, offset: u64, size: u64) -> Vec<u8> {
    part_heeding(file, offset, size, &GiveUp::default())
}

fn part_heeding(file: &dyn PageSource, offset: u64, size: u64, give_up: &GiveUp) -> Vec<u8> {
    let size = size.min(file.len().saturating_sub(offset));
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    let done = fill(file, offset, &mut bytes, give_up);
    bytes.truncate(done);
    bytes
}

/// The bytes that a section has in the file.
fn size_in(file: &dyn PageSource, section: &SectionHeader) -> Option<usize> {
    let left = file.len().checked_sub(section.sh_offset).filter(|_| section.sh_type != SHT_NOBITS)?;
    usize::try_from(section.sh_size.min(left)).ok()
}

fn contents(file: &dyn PageSource, section: &SectionHeader, give_up: &GiveUp) -> Option<Vec<u8>> {
    size_in(file, section).map(|size| part_heeding(file, section.sh_offset, size as u64, give_up))
}

/// The bytes of a table of `count` entries, if the file has them all.
fn table(file: &dyn PageSource, offset: u64, count: u64, entry: usize) -> Option<Vec<u8>> {
    let size = count.checked_mul(entry as u64)?;
    if offset.checked_add(size)? > file.len() {
        return None;
    }
    Some(part(file, offset, size)).filter(|table| table.len() as u64 == size)
}

fn loads(file: &dyn PageSource, header: &Header) -> Result<Vec<Load>, ElfError> {
    let count = u64::from(header.e_phnum);
    if count == 0 {
        return Ok(Vec::new());
    }
    let outside = ElfError::ProgramHeaders { offset: header.e_phoff, count };
    let table = table(file, header.e_phoff, count, SIZEOF_PHDR).ok_or(outside.clone())?;
    let headers = ProgramHeader::parse(&table, 0, usize::from(header.e_phnum), CTX).map_err(|_| outside)?;
    let loads = headers.iter().filter(|header| header.p_type == PT_LOAD).map(|header| Load {
        offset: header.p_offset,
        vaddr: header.p_vaddr,
        file_size: header.p_filesz,
        executable: header.p_flags & PF_X != 0,
    });
    Ok(loads.collect())
}

/// The section headers, and (`sh_size`, `sh_link`) of the first one, which hold the true section
/// count and string table index of files with 65,280 sections or more.
fn sections(file: &dyn PageSource, header: &Header) -> (Vec<SectionHeader>, Option<(u64, u32)>) {
    let read = |count: u64| -> Vec<SectionHeader> {
        let whole = if header.e_shoff == 0 { None } else { table(file, header.e_shoff, count, SIZEOF_SHDR) };
        let count = usize::try_from(count).unwrap_or(0);
        match whole {
            Some(table) if count > 0 => SectionHeader::parse_from(&table, 0, count, CTX).unwrap_or_default(),
            _ => Vec::new(),
        }
    };
    let mut sections = read(u64::from(header.e_shnum.max(1)));
    let first = sections.first().map(|section| (section.sh_size, section.sh_link));
    if header.e_shnum == 0 {
        sections = first.map(|(count, _)| read(count)).unwrap_or_default();
    }
    (sections, first)
}
