//! The parts of an ELF file that debug information needs, read so that damage costs only what is damaged.

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::header::{EI_CLASS, EI_DATA, ELFCLASS64, ELFDATA2LSB, ELFMAG, SELFMAG};
use goblin::elf::program_header::{PF_W, PF_X, PT_LOAD, ProgramHeader};
use goblin::elf::section_header::{SHN_XINDEX, SHT_NOBITS, SectionHeader};
use goblin::elf64::header::{Header, SIZEOF_EHDR};
use goblin::elf64::program_header::SIZEOF_PHDR;
use goblin::elf64::section_header::SIZEOF_SHDR;

use super::error::DebugError;

const PAGE: u64 = 4096;

fn page_down(value: u64) -> u64 {
    value & !(PAGE - 1)
}

fn page_up(value: u64) -> u64 {
    value.checked_add(PAGE - 1).map_or(u64::MAX, page_down)
}

/// Byte order and class of every structure here.
pub(super) const CTX: Ctx = Ctx { container: Container::Big, le: Endian::Little };

/// One `PT_LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
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
        let end = page_up(self.offset.checked_add(self.file_size)?);
        (self.file_size > 0 && page_down(self.offset) <= offset && offset < end)
            .then(|| self.vaddr.wrapping_add(offset.wrapping_sub(self.offset)))
    }
}

/// The pages that are mapped from the file with execute permission. Valgrind takes symbols and lines only there.
#[derive(Clone, Debug, Default)]
pub(super) struct Code(Vec<(u64, u64)>);

impl Code {
    /// The executable pages of `loads`.
    pub fn of(loads: &[Load]) -> Self {
        let pages = |load: &Load| (page_down(load.vaddr), page_up(load.vaddr.saturating_add(load.file_size)));
        Self(loads.iter().filter(|load| load.executable && load.file_size > 0).map(pages).collect())
    }

    /// Whether the `size` bytes from `start` lie within one executable mapping.
    pub fn holds(&self, start: u64, size: u64) -> bool {
        let Some(end) = start.checked_add(size) else { return false };
        self.0.iter().any(|&(from, to)| from <= start && end <= to)
    }
}

/// An ELF file's headers and its bytes.
#[derive(Debug)]
pub(super) struct Elf<'a> {
    bytes: &'a [u8],
    segments: Vec<ProgramHeader>,
    sections: Vec<SectionHeader>,
    names: &'a [u8],
}

impl<'a> Elf<'a> {
    /// Reads the headers.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DebugError> {
        if !bytes.starts_with(&ELFMAG[..SELFMAG]) {
            return Err(DebugError::NotElf);
        }
        let ident = |index: usize| bytes.get(index).copied().unwrap_or(0);
        let (class, data) = (ident(EI_CLASS), ident(EI_DATA));
        if class != ELFCLASS64 || data != ELFDATA2LSB {
            return Err(DebugError::WrongClass { class, data });
        }
        let head: &[u8; SIZEOF_EHDR] =
            bytes.get(..SIZEOF_EHDR).and_then(|head| head.try_into().ok()).ok_or(DebugError::NotElf)?;
        let header = *Header::from_bytes(head);
        let (mut sections, first) = sections(bytes, &header);
        let count = u64::from(header.e_phnum);
        let outside = DebugError::ProgramHeaders { offset: header.e_phoff, count };
        if count > 0 && table(bytes, header.e_phoff, count, SIZEOF_PHDR).is_none() {
            return Err(outside);
        }
        let offset = usize::try_from(header.e_phoff).unwrap_or(usize::MAX);
        let segments = match header.e_phnum {
            0 => Vec::new(),
            count => ProgramHeader::parse(bytes, offset, usize::from(count), CTX).map_err(|_| outside)?,
        };
        let index = match u32::from(header.e_shstrndx) {
            SHN_XINDEX => first.map_or(0, |section| section.1),
            index => index,
        };
        let names = sections.get(index as usize).and_then(|section| contents(bytes, section)).unwrap_or(&[]);
        sections.shrink_to_fit();
        Ok(Self { bytes, segments, sections, names })
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
            .find(|section| string(self.names, section.sh_name as u64) == Some(name.as_bytes()))
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
    pub fn contents(&self, section: &SectionHeader) -> Option<&'a [u8]> {
        contents(self.bytes, section)
    }

    /// Whether the file has line tables to read.
    pub fn has_dwarf(&self) -> bool {
        [".debug_info", ".zdebug_info"].iter().any(|name| {
            self.section(name)
                .is_some_and(|section| self.contents(section).is_some_and(|data| !data.is_empty()))
        })
    }
}

/// The string at `offset` of a string table, without its NUL.
pub(super) fn string(table: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    rest.split(|&byte| byte == 0).next()
}

fn contents<'a>(bytes: &'a [u8], section: &SectionHeader) -> Option<&'a [u8]> {
    if section.sh_type == SHT_NOBITS {
        return None;
    }
    let rest = bytes.get(usize::try_from(section.sh_offset).ok()?..)?;
    let size = usize::try_from(section.sh_size).unwrap_or(usize::MAX);
    Some(rest.get(..size).unwrap_or(rest))
}

/// The bytes of a table of `count` entries, if the file has them all.
fn table(bytes: &[u8], offset: u64, count: u64, entry: usize) -> Option<&[u8]> {
    let size = usize::try_from(count.checked_mul(entry as u64)?).ok()?;
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(size)?)
}

/// The section headers, and (`sh_size`, `sh_link`) of the first one, which hold the true section count and string
/// table index of files with 65,280 sections or more.
fn sections(bytes: &[u8], header: &Header) -> (Vec<SectionHeader>, Option<(u64, u32)>) {
    let offset = usize::try_from(header.e_shoff).unwrap_or(usize::MAX);
    let read = |count: u64| -> Vec<SectionHeader> {
        let whole = header.e_shoff != 0 && table(bytes, header.e_shoff, count, SIZEOF_SHDR).is_some();
        let count = usize::try_from(count).unwrap_or(0);
        if !whole || count == 0 {
            return Vec::new();
        }
        SectionHeader::parse_from(bytes, offset, count, CTX).unwrap_or_default()
    };
    let first = read(1).first().map(|section| (section.sh_size, section.sh_link));
    let count = match (header.e_shnum, first) {
        (0, Some((size, _))) => size,
        (count, _) => u64::from(count),
    };
    (read(count), first)
}
