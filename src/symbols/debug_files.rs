//! An object with the files that complete it, each opened and parsed once.

use std::cell::OnceCell;
use std::sync::Arc;

use gimli::{Dwarf, DwarfSections, EndianArcSlice, EndianSlice, LittleEndian, SectionId};
use gimli::{Relocate, RelocateReader};
use goblin::elf::section_header::{SHT_DYNSYM, SHT_SYMTAB};

use crate::symbols::elf::ElfFile;
use crate::symbols::give_up::GiveUp;

/// A debug section, or a piece of one.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;
/// A debug section that its users own together, and of which no more is read than is wanted.
pub(crate) type SharedSlice = RelocateReader<EndianArcSlice<LittleEndian>, Heed>;

/// `bytes` as gimli reads them.
pub(crate) fn slice(bytes: &[u8]) -> Slice<'_> {
    EndianSlice::new(bytes, LittleEndian)
}

/// The same of bytes that have several owners.
pub(crate) fn shared(bytes: Arc<[u8]>, give_up: &GiveUp) -> SharedSlice {
    SharedSlice::new(EndianArcSlice::new(bytes, LittleEndian), Heed(give_up.clone()))
}

/// Fails to read addresses and offsets once reading is to be given up. The library parses a whole
/// unit at once, and this is its way to look at what it reads.
#[derive(Clone, Debug)]
pub(crate) struct Heed(GiveUp);

impl Heed {
    fn pass<T>(&self, value: T) -> gimli::Result<T> {
        if self.0.asked() { Err(gimli::Error::Io) } else { Ok(value) }
    }
}

impl Relocate for Heed {
    fn relocate_address(&self, _: usize, value: u64) -> gimli::Result<u64> {
        self.pass(value)
    }

    fn relocate_offset(&self, _: usize, value: usize) -> gimli::Result<usize> {
        self.pass(value)
    }
}

/// The files that complete an object.
#[derive(Default)]
pub struct Companions {
    /// The separate debug file, used for whichever of symbol table and DWARF the object lacks.
    pub separate: Option<ElfFile>,
    /// The file that `.gnu_debugaltlink` of the one with the DWARF names: what dwz(1) moved there.
    pub alternate: Option<ElfFile>,
    /// The `.dwp` file: the package of its split units.
    pub package: Option<ElfFile>,
}

/// An object and its companions. Line tables, symbols and all views are made from this.
pub struct DebugFiles {
    main: ElfFile,
    companions: Companions,
    mini: OnceCell<Option<ElfFile>>,
    dwarf: OnceCell<DwarfSections<Arc<[u8]>>>,
}

impl DebugFiles {
    /// The object `main` (the one that is mapped) and its companions.
    pub fn new(main: ElfFile, companions: Companions) -> Self {
        Self { main, companions, mini: OnceCell::new(), dwarf: OnceCell::new() }
    }

    /// The link-time address of the byte at `offset` of the object's file, if a `PT_LOAD` maps it.
    pub fn vaddr_of_file_offset(&self, offset: u64) -> Option<u64> {
        self.main.vaddr_of_file_offset(offset)
    }

    /// The wish to read no more of them.
    pub(crate) fn give_up(&self) -> &GiveUp {
        self.main.give_up()
    }

    /// The object itself.
    pub(crate) fn main(&self) -> &ElfFile {
        &self.main
    }

    /// The separate debug file.
    pub(crate) fn separate(&self) -> Option<&ElfFile> {
        self.companions.separate.as_ref()
    }

    /// The alternate file, which supplies strings and entries.
    pub(crate) fn alternate(&self) -> Option<&ElfFile> {
        self.companions.alternate.as_ref()
    }

    /// The package of the split units.
    pub(crate) fn package(&self) -> Option<&ElfFile> {
        self.companions.package.as_ref()
    }

    /// The file to take DWARF from: the object if it has any, else the separate file.
    pub(crate) fn with_dwarf(&self) -> Option<&ElfFile> {
        if self.main.has_dwarf() { Some(&self.main) } else { self.separate() }
    }

    /// The symbol tables, each as its file and its type: `.symtab` of the object, else of the
    /// separate file or of the MiniDebugInfo; `.dynsym` of the object.
    pub(crate) fn symbol_tables(&self) -> impl Iterator<Item = (&ElfFile, u32)> {
        let mini = || self.give_up().once(&self.mini, || self.main.mini_debug_info())?.as_ref();
        let with_symtab = if self.main.section_of_type(SHT_SYMTAB).is_some() {
            Some(&self.main)
        } else {
            self.separate().or_else(mini)
        };
        with_symtab.map(|file| (file, SHT_SYMTAB)).into_iter().chain([(&self.main, SHT_DYNSYM)])
    }

    /// The DWARF, for walks over its entries, without the alternate file.
    pub(crate) fn dwarf(&self) -> Option<Dwarf<Slice<'_>>> {
        Some(self.sections()?.borrow(|bytes| slice(bytes)))
    }

    /// The same DWARF with the alternate file, for views that hold it.
    pub(crate) fn shared_dwarf(&self) -> Option<Dwarf<SharedSlice>> {
        let mut dwarf = self.sections()?.borrow(|bytes| shared(Arc::clone(bytes), self.give_up()));
        if let Some(alternate) = self.alternate() {
            let load = |id: SectionId| Ok::<_, gimli::Error>(shared_section(alternate, Some(id.name())));
            dwarf.load_sup(load).ok()?;
        }
        Some(dwarf)
    }

    /// Gives back the sections that only reading needed: what was made of them is smaller.
    pub(crate) fn release_sections(&self) {
        let Companions { separate, alternate, package } = &self.companions;
        for file in [Some(&self.main), separate.as_ref(), alternate.as_ref(), package.as_ref()] {
            file.into_iter().for_each(ElfFile::release_sections);
        }
    }

    fn sections(&self) -> Option<&DwarfSections<Arc<[u8]>>> {
        let file = self.with_dwarf()?;
        let load = |id: SectionId| Ok::<_, std::convert::Infallible>(file.debug_section(id.name()));
        self.give_up().once(&self.dwarf, || match DwarfSections::load(load) {
            Ok(sections) => sections,
            Err(never) => match never {},
        })
    }
}

/// A debug section of `file`; empty if it has none of that name.
pub(crate) fn shared_section(file: &ElfFile, name: Option<&str>) -> SharedSlice {
    shared(name.map(|name| file.debug_section(name)).unwrap_or_default(), file.give_up())
}
