//! The parts of an ELF file that debug information needs, read so that damage costs only what is damaged.

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::header::{EI_CLASS, EI_DATA, ELFCLASS64, ELFDATA2LSB, ELFMAG, SELFMAG};
use goblin::elf::program_header::{PF_W, PF_X, PT_LOAD, ProgramHeader};
use goblin::elf::section_header::{SHN_XINDEX, SHT_NOBITS, SectionHeader};
use goblin::elf64::header::{Header, SIZEOF_EHDR};
use goblin::elf64::program_header::SIZEOF_PHDR;
use goblin::elf64::section_header::SIZEOF_SHDR;

use crate::guest::{page_down, page_up};
use crate::loader::FileBytes;
use crate::symbols::error::DebugError;

/// Byte order and class of every structure here.
pub(crate) const CTX: Ctx = Ctx { container: Container::Big, le: Endian::Little };

/// One `PT_LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// `p_offset`, in bytes.
    pub offset: u64,
    /// `p_vaddr`.
    pub vaddr: u64,
    /// `p_filesz`, in bytes.
    pub file_size: u64,
    /// `PF_X`.
    pub executable: bool,
    /// `PF_W`.
    pub writable: bool,
}

impl Load {
    /// The address that the byte at `offset` of the file is mapped to, counting whole pages.
    pub fn vaddr_of(&self, offset: u64) -> Option<u64> {
        let end = page_up(self.offset.checked_add(self.file_size)?).unwrap_or(u64::MAX);
        (self.file_size > 0 && page_down(self.offset) <= offset && offset < end)
            .then(|| self.vaddr.wrapping_add(offset.wrapping_sub(self.offset)))
    }
}

/// The pages that are mapped from the file with execute permission. Valgrind takes symbols and lines only there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code(Vec<(u64, u64)>);

impl Code {
    /// The executable pages of `loads`.
    pub fn of(loads: &[Load]) -> Self {
        let pages = |load: &Load| {
            (page_down(load.vaddr), page_up(load.vaddr.saturating_add(load.file_size)).unwrap_or(u64::MAX))
        };
        Self(loads.iter().filter(|load| load.executable && load.file_size > 0).map(pages).collect())
    }

    /// Whether the `size` bytes from `start` lie within one executable mapping.
    pub fn holds(&self, start: u64, size: u64) -> bool {
        let Some(end) = start.checked_add(size) else { return false };
        self.0.iter().any(|&(from, to)| from <= start && end <= to)
    }
}

/// The bytes of a file, whatever holds them.
struct Bytes<'a, F: ?Sized>(&'a F);

impl<F: FileBytes + ?Sized> FileBytes for Bytes<'_, F> {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> usize {
        self.0.read_at(offset, buf)
    }
}

/// An ELF file's headers, and the way to its bytes: sections are read when they are asked for.
pub(crate) struct Elf<'a> {
    file: Box<dyn FileBytes + 'a>,
    segments: Vec<ProgramHeader>,
    sections: Vec<SectionHeader>,
    names: Vec<u8>,
}

impl<'a> Elf<'a> {
    /// Reads the headers.
    pub fn parse<F: FileBytes + ?Sized>(file: &'a F) -> Result<Self, DebugError> {
        Self::read(Box::new(Bytes(file)))
    }

    /// The same of a file in memory.
    pub fn owned(file: Vec<u8>) -> Result<Self, DebugError> {
        Self::read(Box::new(file))
    }

    fn read(file: Box<dyn FileBytes + 'a>) -> Result<Self, DebugError> {
        let head = part(&*file, 0, SIZEOF_EHDR as u64);
        if !head.starts_with(&ELFMAG[..SELFMAG]) {
            return Err(DebugError::NotElf);
        }
        let ident = |index: usize| head.get(index).copied().unwrap_or(0);
        let (class, data) = (ident(EI_CLASS), ident(EI_DATA));
        if class != ELFCLASS64 || data != ELFDATA2LSB {
            return Err(DebugError::WrongClass { class, data });
        }
        let head: &[u8; SIZEOF_EHDR] = head.as_slice().try_into().map_err(|_| DebugError::NotElf)?;
        let header = *Header::from_bytes(head);
        let (mut sections, first) = sections(&*file, &header);
        let count = u64::from(header.e_phnum);
        let outside = DebugError::ProgramHeaders { offset: header.e_phoff, count };
        let segments = match count {
            0 => Vec::new(),
            _ => {
                let table = table(&*file, header.e_phoff, count, SIZEOF_PHDR).ok_or(outside.clone())?;
                ProgramHeader::parse(&table, 0, usize::from(header.e_phnum), CTX).map_err(|_| outside)?
            }
        };
        let index = match u32::from(header.e_shstrndx) {
            SHN_XINDEX => first.map_or(0, |section| section.1),
            index => index,
        };
        let names = sections.get(index as usize).and_then(|section| contents(&*file, section));
        let names = names.unwrap_or_default();
        sections.shrink_to_fit();
        Ok(Self { file, segments, sections, names })
    }

    /// The `PT_LOAD` headers, in the file's order.
    pub fn loads(&self) -> Vec<Load> {
        let loads = self.segments.iter().filter(|header| header.p_type == PT_LOAD);
        loads
            .map(|header| Load {
                offset: header.p_offset,
                vaddr: header.p_vaddr,
                file_size: header.p_filesz,
                executable: header.p_flags & PF_X != 0,
                writable: header.p_flags & PF_W != 0,
            })
            .collect()
    }

    /// The first section called `name`.
    pub fn section(&self, name: &str) -> Option<&SectionHeader> {
        self.sections
            .iter()
            .find(|section| string(&self.names, section.sh_name as u64) == Some(name.as_bytes()))
    }

    /// The first section of type `kind` (`SHT_*`).
    pub fn section_of_type(&self, kind: u32) -> Option<&SectionHeader> {
        self.sections.iter().find(|section| section.sh_type == kind)
    }

    /// The section with this number.
    pub fn section_at(&self, index: u32) -> Option<&SectionHeader> {
        self.sections.get(index as usize)
    }

    /// The bytes of a section in the file, cut where the file ends; none for `SHT_NOBITS`.
    pub fn contents(&self, section: &SectionHeader) -> Option<Vec<u8>> {
        contents(&*self.file, section)
    }

    /// All sections.
    pub fn sections(&self) -> &[SectionHeader] {
        &self.sections
    }

    /// Up to `size` bytes at `offset` of the file.
    pub fn bytes_at(&self, offset: u64, size: u64) -> Vec<u8> {
        part(&*self.file, offset, size)
    }

    /// Whether the file has line tables to read.
    pub fn has_dwarf(&self) -> bool {
        [".debug_info", ".zdebug_info"].iter().any(|name| {
            self.section(name).is_some_and(|section| {
                section.sh_type != SHT_NOBITS && section.sh_size > 0 && section.sh_offset < self.file.len()
            })
        })
    }
}

/// Up to `size` bytes from `vaddr` on, as the file has them; none outside of what `loads` load from it.
pub(crate) fn code_at(elf: &Elf<'_>, loads: &[Load], vaddr: u64, size: u64) -> Vec<u8> {
    let part = loads.iter().find_map(|load| {
        let at = vaddr.checked_sub(load.vaddr)?;
        let left = load.file_size.checked_sub(at)?;
        Some((load.offset.checked_add(at)?, left.min(size)))
    });
    part.map(|(offset, size)| elf.bytes_at(offset, size)).unwrap_or_default()
}

/// The string at `offset` of a string table, without its NUL.
pub(crate) fn string(table: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    rest.split(|&byte| byte == 0).next()
}

/// Up to `size` bytes at `offset`: fewer where the file ends.
fn part(file: &dyn FileBytes, offset: u64, size: u64) -> Vec<u8> {
    let size = size.min(file.len().saturating_sub(offset));
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    let mut done = 0;
    while let Some(rest @ [_, ..]) = bytes.get_mut(done..) {
        match file.read_at(offset.saturating_add(done as u64), rest) {
            0 => break,
            count => done = done.saturating_add(count),
        }
    }
    bytes.truncate(done);
    bytes
}

fn contents(file: &dyn FileBytes, section: &SectionHeader) -> Option<Vec<u8>> {
    (section.sh_type != SHT_NOBITS && section.sh_offset <= file.len())
        .then(|| part(file, section.sh_offset, section.sh_size))
}

/// The bytes of a table of `count` entries, if the file has them all.
fn table(file: &dyn FileBytes, offset: u64, count: u64, entry: usize) -> Option<Vec<u8>> {
    let size = count.checked_mul(entry as u64)?;
    if offset.checked_add(size)? > file.len() {
        return None;
    }
    Some(part(file, offset, size)).filter(|table| table.len() as u64 == size)
}

/// The section headers, and (`sh_size`, `sh_link`) of the first one, which hold the true section count and string
/// table index of files with 65,280 sections or more.
fn sections(file: &dyn FileBytes, header: &Header) -> (Vec<SectionHeader>, Option<(u64, u32)>) {
    let read = |count: u64| -> Vec<SectionHeader> {
        let whole = if header.e_shoff == 0 { None } else { table(file, header.e_shoff, count, SIZEOF_SHDR) };
        let count = usize::try_from(count).unwrap_or(0);
        match whole {
            Some(table) if count > 0 => SectionHeader::parse_from(&table, 0, count, CTX).unwrap_or_default(),
            _ => Vec::new(),
        }
    };
    let first = read(1).first().map(|section| (section.sh_size, section.sh_link));
    let count = match (header.e_shnum, first) {
        (0, Some((size, _))) => size,
        (count, _) => u64::from(count),
    };
    (read(count), first)
}
