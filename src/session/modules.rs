//! The files that code came from, and the source of an address by their debug information.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::slice::from_ref;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::emu::memory::space::FileArea;
use crate::guest::{FileId, PageSource};
use crate::hooks::callgraph::facts::{Actions, Apart, CodePlace, Section};
use crate::hooks::plan::{MappingId, NO_MAPPING};
use crate::session::config::FunctionPatterns;
use crate::session::skip::any_matches;
use crate::symbols::give_up::GiveUp;
use crate::symbols::symboliser::{Object, Symboliser};
use crate::symbols::valgrind::debug_info::{DebugInfo, Location, Wanted};
use crate::symbols::valgrind::functions::SectionKind;
use crate::symbols::valgrind::symbol_table::Symbol;

/// One file, mapped at one place.
struct Module {
    origin: u64,
    source: Arc<dyn PageSource>,
    id: FileId,
    object: OnceCell<Rc<Object>>,
    debug: Option<Arc<DebugInfo>>,
}

/// A function that may have the name of others.
struct Named {
    start: u64,
    /// The file that it begins in, if there is one; looked up when it is needed.
    file: OnceCell<Option<Arc<str>>>,
}

/// Functions by name. As for Callgrind, those of one name and file are one: the kinds of a
/// destructor, and what is `(below main)`.
#[derive(Default)]
struct FunctionNames {
    /// The first functions of a name in an object, each in another file.
    by_name: FxHashMap<(u32, Arc<str>), Vec<Named>>,
    /// The first function that is the same as another, by object and address.
    same: FxHashMap<(u32, u64), u64>,
}

/// All files that code was translated from.
#[derive(Default)]
pub(super) struct Modules {
    modules: Vec<Module>,
    /// By inode, device and origin.
    known: FxHashMap<(u64, u64, u64), MappingId>,
    symboliser: Symboliser,
    last: Option<((u64, u64, u64), MappingId)>,
    /// The functions that control what the call graph collects.
    functions: FunctionPatterns,
    /// The functions of call graphs.
    names: FunctionNames,
    /// Such a function was there from which on a process is counted.
    begun: bool,
    /// Mappings before this one are read ahead, or shall not be.
    read_ahead: usize,
}

impl Modules {
    /// No files yet; their paths begin at the directory `root` of the host, and `give_up` tells
    /// when to read no more of them. `functions` control what the call graph
    /// collects.
    pub(super) fn new(root: &Path, give_up: GiveUp, functions: &FunctionPatterns) -> Modules {
        let symboliser = Symboliser::new(root, give_up);
        Modules { symboliser, functions: functions.clone(), ..Modules::default() }
    }

    /// The number of a file mapping.
    pub(super) fn number(&mut self, file: Option<FileArea<'_>>) -> MappingId {
        let Some(area) = file else { return NO_MAPPING };
        let key = (area.id.inode, area.id.device, area.origin);
        if let Some((last, id)) = self.last
            && last == key
        {
            return id;
        }
        let modules = &mut self.modules;
        let id = *self.known.entry(key).or_insert_with(|| {
            modules.push(Module {
                origin: area.origin,
                source: Arc::clone(area.source),
                id: area.id.clone(),
                object: OnceCell::new(),
                debug: None,
            });
            (modules.len() - 1) as MappingId
        });
        self.last = Some((key, id));
        id
    }

    /// Has the debug information of the files that are new read on another thread, if it is
    /// `wanted`.
    pub(super) fn read_ahead(&mut self, wanted: bool) {
        for module in self.modules.get(self.read_ahead..).unwrap_or_default() {
            if wanted && module.object.get().is_none() {
                self.symboliser.read_ahead(&module.id, &module.source);
            }
        }
        self.read_ahead = self.modules.len();
    }

    /// Path of a module in the guest's view.
    pub(super) fn path(&self, mapping: MappingId) -> Option<&str> {
        self.modules.get(mapping as usize).map(|module| &*module.id.path)
    }

    /// Reads the debug information that the instructions at the addresses `wanted` need;
    /// [`Modules::locate`] knows of those and may know less of others.
    pub(super) fn read_debug_info(&mut self, wanted: impl IntoIterator<Item = (MappingId, u64)>) {
        // A file mapped twice is read once.
        let mut offsets: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
        for (mapping, pc) in wanted {
            if let Some(module) = self.modules.get(mapping as usize) {
                let key = (module.id.inode, module.id.device);
                offsets.entry(key).or_default().push(pc.wrapping_sub(module.origin));
            }
        }
        for ((inode, device), mut offsets) in offsets {
            offsets.sort_unstable();
            offsets.dedup();
            let mut same = self.modules.iter_mut().filter(|m| (m.id.inode, m.id.device) == (inode, device));
            let Some(first) = same.next() else { continue };
            let give_up = self.symboliser.give_up().clone();
            let object = give_up.once(&first.object, || self.symboliser.object(&first.id, &first.source));
            first.debug =
                object.and_then(|object| object.debug_info(Wanted::Offsets(&offsets))).map(Arc::new);
            for module in same {
                module.debug.clone_from(&first.debug);
            }
        }
    }

    /// The objects of the run.
    pub(super) fn symboliser(&mut self) -> &mut Symboliser {
        &mut self.symboliser
    }

    /// The object of a mapping.
    pub(super) fn object(&mut self, mapping: MappingId) -> Option<&Rc<Object>> {
        let module = self.modules.get(mapping as usize)?;
        let give_up = self.symboliser.give_up().clone();
        give_up.once(&module.object, || self.symboliser.object(&module.id, &module.source))
    }

    /// The file of a mapping, by inode and device: the same for all its mappings.
    pub(super) fn key(&self, mapping: MappingId) -> Option<(u64, u64)> {
        self.modules.get(mapping as usize).map(|module| (module.id.inode, module.id.device))
    }

    /// The mark of this build of the file of a mapping.
    pub(super) fn identity(&mut self, mapping: MappingId) -> Option<String> {
        Some(self.object(mapping)?.identity())
    }

    /// The link-time address of an instruction.
    pub(super) fn vaddr(&mut self, mapping: MappingId, pc: u64) -> Option<u64> {
        let origin = self.modules.get(mapping as usize)?.origin;
        self.object(mapping)?.vaddr_of_file_offset(pc.wrapping_sub(origin))
    }

    /// Tests whether the code at `pc` is in the `.text` of an object.
    pub(super) fn is_in_text(&mut self, mapping: MappingId, pc: u64) -> bool {
        let Some(vaddr) = self.vaddr(mapping, pc) else { return false };
        let functions = self.object(mapping).and_then(|object| object.functions());
        functions.is_some_and(|functions| functions.section(vaddr) == SectionKind::Text)
    }

    /// The place of the code at `pc`, for the call graph.
    pub(super) fn code_place(&mut self, mapping: MappingId, pc: u64) -> CodePlace {
        let Some(key) = self.key(mapping) else { return CodePlace { function: pc, ..CodePlace::default() } };
        let vaddr = self.vaddr(mapping, pc);
        let object = self.modules.iter().position(|module| (module.id.inode, module.id.device) == key);
        let object = object.map_or(0, |at| at as u32 + 1);
        let functions = self.object(mapping).and_then(|object| object.functions()).cloned();
        let (Some(vaddr), Some(functions)) = (vaddr, functions) else {
            return CodePlace { object, function: pc, ..CodePlace::default() };
        };
        let section = match functions.section(vaddr) {
            SectionKind::Text => Section::Text,
            SectionKind::Plt => Section::Plt,
            SectionKind::Other => Section::Other,
        };
        if section != Section::Text {
            // As Callgrind, which knows of the code of an object what is in its `.text`.
            return CodePlace { function: pc, section, ..CodePlace::default() };
        }
        let symbol = functions.symbol(vaddr);
        let function = symbol.map_or(vaddr, |symbol| self.function(mapping, object, symbol));
        let Modules { functions: patterns, symboliser, .. } = self;
        let mut is_one_of = |patterns: &[Vec<u8>]| {
            // Names cost more than a look at whether anybody asks for them.
            !patterns.is_empty()
                && symbol
                    .is_some_and(|symbol| any_matches(patterns, symboliser.shown(&symbol.name).as_bytes()))
        };
        let actions = Actions {
            toggles: is_one_of(&patterns.toggle),
            dumps_before: is_one_of(&patterns.dump_before),
            dumps_after: is_one_of(&patterns.dump_after),
            zeroes_before: is_one_of(&patterns.zero_before),
        };
        let mut of = |named: &[(u32, Vec<u8>)]| {
            let is_it = |(_, pattern): &&(u32, Vec<u8>)| is_one_of(from_ref(pattern));
            named.iter().rev().find(is_it).map(|&(number, _)| number)
        };
        let apart = Apart { callers: of(&patterns.callers), recursions: of(&patterns.recursions) };
        CodePlace {
            object,
            function,
            section,
            apart,
            entry: symbol.is_some_and(|symbol| symbol.start == vaddr),
            resolver: symbol.is_some_and(|symbol| symbol.name.starts_with("_dl_runtime_resolve")),
            actions,
        }
    }

    /// Tests whether the code at `pc` begins a function from which on a process is counted.
    pub(super) fn begins_counts(&mut self, mapping: MappingId, pc: u64) -> bool {
        if self.functions.count_from.is_empty() {
            return false;
        }
        let Some(vaddr) = self.vaddr(mapping, pc) else { return false };
        let functions = self.object(mapping).and_then(|object| object.functions()).cloned();
        let Some(functions) = functions.filter(|known| known.section(vaddr) == SectionKind::Text) else {
            return false;
        };
        let Modules { functions: patterns, symboliser, begun, .. } = self;
        let begins = functions.symbol(vaddr).is_some_and(|symbol| {
            let mut shown = || symboliser.shown(&symbol.name);
            symbol.start == vaddr && any_matches(&patterns.count_from, shown().as_bytes())
        });
        *begun |= begins;
        begins
    }

    /// The functions from which on processes were to be counted, if none of them was there.
    pub(super) fn awaited(&self) -> Option<String> {
        let names = &self.functions.count_from;
        let shown = || String::from_utf8_lossy(&names.join(&b","[..])).into_owned();
        (!names.is_empty() && !self.begun).then(shown)
    }

    /// The address of the first function with the name and file of this one, of an object whose
    /// number is given.
    fn function(&mut self, mapping: MappingId, number: u32, symbol: &Symbol) -> u64 {
        if let Some(&known) = self.names.same.get(&(number, symbol.start)) {
            return known;
        }
        let shown = self.symboliser.shown(&symbol.name);
        let object = self.object(mapping).cloned();
        let source = |start: u64| {
            let info = object.as_ref()?.debug_info(Wanted::Addresses(&[start]))?;
            info.source_line(start).map(|(file, _)| Arc::clone(file))
        };
        // Files are looked up only for names that are there twice.
        let others = self.names.by_name.entry((number, shown)).or_default();
        let file = if others.is_empty() { OnceCell::new() } else { OnceCell::from(source(symbol.start)) };
        let mut same =
            others.iter().filter(|other| Some(other.file.get_or_init(|| source(other.start))) == file.get());
        let first = same.next().map_or(symbol.start, |other| other.start);
        if first == symbol.start {
            others.push(Named { start: first, file });
        }
        self.names.same.insert((number, symbol.start), first);
        first
    }

    /// File, function (as it is shown) and line of an instruction that [`Modules::read_debug_info`]
    /// was told of.
    pub(super) fn locate(&mut self, mapping: MappingId, pc: u64) -> Option<Location> {
        let vaddr = self.vaddr(mapping, pc)?;
        let debug = self.modules.get(mapping as usize)?.debug.as_ref()?;
        let location = debug.locate(vaddr);
        Some(Location { function: self.symboliser.shown(&location.function), ..location })
    }
}
