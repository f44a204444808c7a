//! Objects with their views, shared by all who ask of addresses.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::guest::FileId;
use crate::symbols::debug_files::DebugFiles;
use crate::symbols::debugger::cfi::Cfi;
use crate::symbols::debugger::inline::{Frame, Inlines, SplitUnit};
use crate::symbols::debugger::inlined_sites;
use crate::symbols::debugger::symbol_lookup::{LineCode, MinimalSymbol, SymbolLookup};
use crate::symbols::debuglink::{self, Links};
use crate::symbols::elf::Source;
use crate::symbols::files::{self, Reach};
use crate::symbols::object_code::ObjectCode;
use crate::symbols::valgrind::debug_info::{DebugInfo, Wanted};
use crate::symbols::valgrind::demangle::display_name;

/// A program or library: opened once, with the views of it that were asked for. Everything but its
/// bytes is `None` or empty for a file that is no ELF file.
pub struct Object {
    path: PathBuf,
    source: Source,
    reach: Reach,
    files: Option<DebugFiles>,
    lookup: OnceCell<Option<Rc<SymbolLookup>>>,
    cfi: OnceCell<Option<Arc<Cfi>>>,
    inlines: OnceCell<Option<Inlines>>,
}

impl Object {
    /// Opens the object at `path` and finds its debug files, as far as they are in `reach`.
    ///
    /// # Errors
    /// Those of [`Reach::open`].
    pub(crate) fn open(path: &Path, reach: &Reach) -> io::Result<Object> {
        Ok(Object::in_reach(files::open(path, reach)?, path, reach))
    }

    /// The object whose bytes are `source` and whose path is `path`, with its debug files.
    pub fn of(source: Source, path: &Path) -> Object {
        Object::in_reach(source, path, &Reach::default())
    }

    fn in_reach(source: Source, path: &Path, reach: &Reach) -> Object {
        Object {
            path: path.to_owned(),
            files: files::complete(Arc::clone(&source), path, reach).ok(),
            source,
            reach: reach.clone(),
            lookup: OnceCell::new(),
            cfi: OnceCell::new(),
            inlines: OnceCell::new(),
        }
    }

    /// The mark of this build of the object: `build-id:` and the digits of its build-id, or
    /// `crc32:` and the checksum of the whole file if it has none.
    pub fn identity(&self) -> String {
        match self.files.as_ref().and_then(|files| Links::of(files.main()).build_id) {
            Some(id) => id.iter().fold("build-id:".to_owned(), |text, byte| format!("{text}{byte:02x}")),
            None => format!("crc32:{:08x}", debuglink::crc32_of_file(&*self.source)),
        }
    }

    /// The link-time address of the byte at `offset` of the file.
    pub fn vaddr_of_file_offset(&self, offset: u64) -> Option<u64> {
        self.files.as_ref()?.vaddr_of_file_offset(offset)
    }

    /// Its code and symbols.
    pub fn code(&self) -> Option<ObjectCode<'_>> {
        self.files.as_ref().map(ObjectCode::read)
    }

    /// Its symbols, and the lines of the instructions `wanted`.
    pub fn debug_info(&self, wanted: Wanted<'_>) -> Option<DebugInfo> {
        self.files.as_ref().map(|files| DebugInfo::read(files, wanted))
    }

    /// Its symbols and lines, for a debugger.
    pub fn lookup(&self) -> Option<&Rc<SymbolLookup>> {
        let read = || self.files.as_ref().map(|files| Rc::new(SymbolLookup::read(files)));
        self.lookup.get_or_init(read).as_ref()
    }

    /// The code of a source line, as [`SymbolLookup::line_code`] has it.
    pub fn line_code(&self, file: &str, line: u32) -> Option<LineCode> {
        self.lookup()?.line_code(self.files.as_ref()?, file, line)
    }

    /// The place for a breakpoint on a function, as [`SymbolLookup::after_prologue`] has it.
    pub fn after_prologue(&self, function: &MinimalSymbol) -> Option<u64> {
        Some(self.lookup()?.after_prologue(self.files.as_ref()?, function))
    }

    /// The beginnings of the inlined copies of the function `name`, in order of address.
    pub fn inlined_sites(&self, name: &str) -> Vec<u64> {
        self.files.as_ref().map(|files| inlined_sites::addresses(files, name)).unwrap_or_default()
    }

    /// Its call frame information.
    pub fn cfi(&self) -> Option<Arc<Cfi>> {
        self.cfi.get_or_init(|| self.files.as_ref().map(|files| Arc::new(Cfi::read(files)))).clone()
    }

    /// True if there is debug information to tell inlined functions from.
    pub fn has_inlines(&self) -> bool {
        self.inlines().is_some()
    }

    /// The functions at the link-time address `vaddr`, as [`Inlines::chain`] has them; `None` if
    /// there is no debug information.
    pub fn inlined_at(&self, vaddr: u64) -> Option<Vec<Frame>> {
        let find =
            |unit: &SplitUnit| files::split_units(&self.path, &unit.name, &unit.directory, &self.reach);
        Some(self.inlines()?.chain(vaddr, &find))
    }

    fn inlines(&self) -> Option<&Inlines> {
        self.inlines.get_or_init(|| Inlines::read(self.files.as_ref()?)).as_ref()
    }
}

/// The objects of a run, each opened once: the session, its client requests and a debugger share
/// it.
#[derive(Default)]
pub struct Symboliser {
    /// By inode and device.
    objects: FxHashMap<(u64, u64), Rc<Object>>,
    shown: FxHashMap<Arc<str>, Arc<str>>,
}

impl Symboliser {
    /// The object that is the file `id` with the bytes `source`.
    pub fn object(&mut self, id: &FileId, source: &Source) -> Rc<Object> {
        let open = || Rc::new(Object::of(Arc::clone(source), Path::new(&*id.path)));
        Rc::clone(self.objects.entry((id.inode, id.device)).or_insert_with(open))
    }

    /// The name that a profile shows for the symbol `raw`.
    pub fn shown(&mut self, raw: &Arc<str>) -> Arc<str> {
        if let Some(shown) = self.shown.get(raw) {
            return Arc::clone(shown);
        }
        let shown: Arc<str> = Arc::from(&*display_name(raw, false, true));
        self.shown.insert(Arc::clone(raw), Arc::clone(&shown));
        shown
    }
}
