//! Objects with their views, shared by all who ask of addresses.

use std::cell::{OnceCell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::guest::FileId;
use crate::symbols::ahead::{Ahead, Opened};
use crate::symbols::debug_files::DebugFiles;
use crate::symbols::debugger::cfi::Cfi;
use crate::symbols::debugger::inline::{Frame, Inlines, SplitUnit};
use crate::symbols::debugger::inlined_sites;
use crate::symbols::debugger::symbol_lookup::{LineCode, MinimalSymbol, SymbolLookup};
use crate::symbols::debuglink::{self, Links};
use crate::symbols::elf::Source;
use crate::symbols::files::{self, Reach};
use crate::symbols::give_up::GiveUp;
use crate::symbols::object_code::ObjectCode;
use crate::symbols::valgrind::debug_info::{DebugInfo, Lines, Wanted};
use crate::symbols::valgrind::demangle::display_name;
use crate::symbols::valgrind::functions::Functions;
use crate::symbols::valgrind::symbol_table::SymbolTable;

/// A program or library: opened once, with the views of it that were asked for. Everything but its
/// bytes is `None` or empty for a file that is no ELF file.
pub struct Object {
    path: PathBuf,
    source: Source,
    reach: Reach,
    files: Option<DebugFiles>,
    symbols: OnceCell<Arc<SymbolTable>>,
    lines: OnceCell<Lines>,
    functions: OnceCell<Option<Rc<Functions>>>,
    lookup: OnceCell<Option<Rc<SymbolLookup>>>,
    cfi: OnceCell<Option<Arc<Cfi>>>,
    inlines: RefCell<Option<Option<Rc<Inlines>>>>,
    give_up: GiveUp,
}

impl Object {
    /// Opens the object at `path` and finds its debug files, as far as they are in `reach`.
    ///
    /// # Errors
    /// Those of [`Reach::open`].
    pub(crate) fn open(path: &Path, reach: &Reach) -> io::Result<Object> {
        Ok(Object::in_reach(files::open(path, reach)?, path, reach, &GiveUp::default()))
    }

    /// The object whose bytes are `source` and whose path is `path`, with its debug files.
    pub fn of(source: Source, path: &Path, give_up: &GiveUp) -> Object {
        Object::in_reach(source, path, &Reach::default(), give_up)
    }

    fn in_reach(source: Source, path: &Path, reach: &Reach, give_up: &GiveUp) -> Object {
        let opened = Opened::of(&source, path, reach, give_up);
        Object::opened(opened, source, path, reach, give_up)
    }

    fn opened(opened: Opened, source: Source, path: &Path, reach: &Reach, give_up: &GiveUp) -> Object {
        Object {
            path: path.to_owned(),
            files: opened.files,
            source,
            symbols: opened.symbols.map(OnceCell::from).unwrap_or_default(),
            lines: opened.lines.map(OnceCell::from).unwrap_or_default(),
            reach: reach.clone(),
            functions: OnceCell::new(),
            lookup: OnceCell::new(),
            cfi: OnceCell::new(),
            inlines: RefCell::default(),
            give_up: give_up.clone(),
        }
    }

    /// The mark of this build of the object: `build-id:` and the digits of its build-id, or
    /// `crc32:` and the checksum of the whole file if it has none.
    pub fn identity(&self) -> String {
        match self.files.as_ref().and_then(|files| Links::of(files.main()).build_id) {
            Some(id) => id.iter().fold("build-id:".to_owned(), |text, byte| format!("{text}{byte:02x}")),
            None => format!("crc32:{:08x}", debuglink::crc32_of_file(&*self.source, &self.give_up)),
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
        let files = self.files.as_ref()?;
        let lines = self.give_up.once(&self.lines, || Lines::read(files))?;
        Some(DebugInfo::of(files, self.symbols(files)?, lines, wanted))
    }

    fn symbols(&self, files: &DebugFiles) -> Option<Arc<SymbolTable>> {
        self.give_up.once(&self.symbols, || Opened::symbols(files)).map(Arc::clone)
    }

    /// Its functions, by Valgrind's rules.
    pub fn functions(&self) -> Option<&Rc<Functions>> {
        let read = || {
            let files = self.files.as_ref()?;
            Some(Rc::new(Functions::of(files, self.symbols(files)?)))
        };
        self.give_up.once(&self.functions, read)?.as_ref()
    }

    /// Its symbols and lines, for a debugger.
    pub fn lookup(&self) -> Option<&Rc<SymbolLookup>> {
        let read = || self.files.as_ref().map(|files| Rc::new(SymbolLookup::read(files)));
        self.give_up.once(&self.lookup, read)?.as_ref()
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
        let read = || self.files.as_ref().map(|files| Arc::new(Cfi::read(files)));
        self.give_up.once(&self.cfi, read)?.clone()
    }

    /// True if there is debug information to tell inlined functions from.
    pub fn has_inlines(&self) -> bool {
        self.inlines().is_some()
    }

    /// The functions at the link-time address `vaddr`, as [`Inlines::chain`] has them; `None` if
    /// there is no debug information.
    pub fn inlined_at(&self, vaddr: u64) -> Option<Vec<Frame>> {
        let find = |unit: &SplitUnit| {
            files::split_units(&self.path, (&unit.name, &unit.directory), &self.reach, &self.give_up)
        };
        let chain = self.inlines()?.chain(vaddr, &find);
        if self.give_up.asked() {
            // The library keeps what it could not read.
            self.inlines.take();
        }
        Some(chain)
    }

    fn inlines(&self) -> Option<Rc<Inlines>> {
        let known = self.inlines.borrow().clone();
        if let Some(known) = known {
            return known;
        }
        let read = Inlines::read(self.files.as_ref()?).map(Rc::new);
        if self.give_up.asked() {
            return None;
        }
        self.inlines.replace(Some(read.clone()));
        read
    }
}

/// The objects of a run, each opened once: the session, its client requests and a debugger share
/// it.
#[derive(Default)]
pub struct Symboliser {
    /// By inode and device.
    objects: FxHashMap<(u64, u64), Rc<Object>>,
    shown: FxHashMap<Arc<str>, Arc<str>>,
    /// Directory of the host that is the root of the objects' paths.
    root: PathBuf,
    ahead: Option<Ahead>,
    give_up: GiveUp,
}

impl Symboliser {
    /// No objects yet; their paths begin at the directory `root`, and `give_up` tells when to read
    /// no more of them.
    pub fn new(root: &Path, give_up: GiveUp) -> Symboliser {
        Symboliser { root: root.to_owned(), give_up, ..Symboliser::default() }
    }

    /// The wish to read no more.
    pub fn give_up(&self) -> &GiveUp {
        &self.give_up
    }

    /// Begins to read the object that is the file `id` with the bytes `source` on another thread.
    pub fn read_ahead(&mut self, id: &FileId, source: &Source) {
        let key = (id.inode, id.device);
        if self.objects.contains_key(&key) {
            return;
        }
        if self.ahead.is_none() {
            self.ahead = Ahead::start(&self.give_up);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.ask(key, source, path_of(&self.root, id));
        }
    }

    /// The object that is the file `id` with the bytes `source`.
    pub fn object(&mut self, id: &FileId, source: &Source) -> Rc<Object> {
        if let Some(known) = self.objects.get(&(id.inode, id.device)) {
            return Rc::clone(known);
        }
        let (path, reach) = (path_of(&self.root, id), Reach::default());
        let key = (id.inode, id.device);
        let opened = self.ahead.as_mut().and_then(|ahead| ahead.take(key, &self.give_up));
        let opened = opened.unwrap_or_else(|| Opened::of(source, &path, &reach, &self.give_up));
        let object = Rc::new(Object::opened(opened, Arc::clone(source), &path, &reach, &self.give_up));
        // Some of its files may not have been looked at.
        if !self.give_up.asked() {
            self.objects.insert((id.inode, id.device), Rc::clone(&object));
        }
        object
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

fn path_of(root: &Path, id: &FileId) -> PathBuf {
    root.join(id.path.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::testkit::Workshop;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    const SOURCE: &str = "static inline __attribute__((always_inline)) int twice(int n) { return 2 * n; }\n\
         int data = 1;\n\
         int one(int n) { return twice(n) + 1; }\n\
         int main(int count, char **words) { return one(count) + twice(words[0][0]); }\n";

    /// Everything that a reader asks an object.
    fn known(object: &Object) -> String {
        let Some(lookup) = object.lookup() else { return String::new() };
        let one = lookup.functions_named("one").first().map_or(0, |found| found.symbol.vaddr);
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            lookup.function_names(),
            lookup.data_names(),
            lookup.source_line(one),
            object.line_code("s.c", 3),
            object.inlined_sites("twice"),
            object.inlined_at(one).map(|chain| chain.len()),
            object.cfi().map(|cfi| cfi.rules(one).is_ok()),
            object.debug_info(Wanted::All).map(|info| info.locate(one)),
            object.identity(),
        )
    }

    /// Wherever reading is given up, what is read later is complete.
    #[test]
    fn given_up_and_read_again() {
        for compressed in ["-gz=none", "-gz=zlib"] {
            let shop = Workshop::new();
            shop.write("s.c", SOURCE);
            shop.run("gcc", &["-g", "-O1", "-Wl,--build-id=none", compressed, "-o", "s", "s.c"]);
            let (path, bytes) = (shop.path("s"), shop.read("s"));
            let open = |give_up: &GiveUp| Object::of(Arc::new(bytes.clone()), &path, give_up);
            let whole = known(&open(&GiveUp::default()));
            assert!(whole.contains("\"main\"") && whole.contains("line: 3"), "{whole}");
            // A look at the wish that is the `wanted`th, and all after it, says to give up.
            let (looks, wanted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(usize::MAX)));
            let give_up = GiveUp::when({
                let (looks, wanted) = (Arc::clone(&looks), Arc::clone(&wanted));
                move || looks.fetch_add(1, Relaxed) + 1 >= wanted.load(Relaxed)
            });
            assert_eq!(known(&open(&give_up)), whole);
            let all = looks.load(Relaxed);
            assert!(all > 50, "{all}");
            for at in 1..=all {
                wanted.store(usize::MAX, Relaxed);
                let object = open(&give_up);
                looks.store(0, Relaxed);
                wanted.store(at, Relaxed);
                known(&object);
                wanted.store(usize::MAX, Relaxed);
                assert_eq!(known(&object), whole, "given up at look {at}");
            }
            let mut symboliser = Symboliser::new(Path::new("/"), give_up);
            let id = FileId { path: path.to_string_lossy().into(), inode: 1, device: 1 };
            let source: Source = Arc::new(bytes.clone());
            wanted.store(0, Relaxed);
            symboliser.object(&id, &source);
            wanted.store(usize::MAX, Relaxed);
            assert_eq!(known(&symboliser.object(&id, &source)), whole);
            // Read ahead, be it given up before, meanwhile or not at all.
            for at in [0, 1, 2, 8, 32, usize::MAX] {
                let mut symboliser = Symboliser::new(Path::new("/"), symboliser.give_up().clone());
                looks.store(0, Relaxed);
                wanted.store(at, Relaxed);
                symboliser.read_ahead(&id, &source);
                symboliser.object(&id, &source);
                wanted.store(usize::MAX, Relaxed);
                let object = symboliser.object(&id, &source);
                assert!(at < usize::MAX || object.lines.get().is_some(), "it was read ahead");
                assert_eq!(known(&object), whole, "read ahead, given up at look {at}");
            }
        }
    }
}
