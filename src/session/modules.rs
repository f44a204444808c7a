//! The files that code came from, and what their debug information says of an address.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::emu::memory::space::FileArea;
use crate::guest::{FileId, PageSource};
use crate::hooks::plan::{MappingId, NO_MAPPING};
use crate::symbols::files::{self, Companions};
use crate::symbols::valgrind::debug_info::DebugInfo;
use crate::symbols::valgrind::debug_info::Location;
use crate::symbols::valgrind::demangle::display_name;

/// One file, mapped at one place.
struct Module {
    origin: u64,
    source: Arc<dyn PageSource>,
    id: FileId,
    debug: Option<Arc<DebugInfo>>,
}

/// All files that code was translated from.
#[derive(Default)]
pub struct Modules {
    modules: Vec<Module>,
    /// By inode, device and origin.
    known: FxHashMap<(u64, u64, u64), MappingId>,
    names: FxHashMap<Arc<str>, Arc<str>>,
    last: Option<((u64, u64, u64), MappingId)>,
}

impl Modules {
    /// The number of a file mapping.
    pub fn number(&mut self, file: Option<FileArea<'_>>) -> MappingId {
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
                debug: None,
            });
            (modules.len() - 1) as MappingId
        });
        self.last = Some((key, id));
        id
    }

    /// Path of a module in the guest's view.
    pub fn path(&self, mapping: MappingId) -> Option<&str> {
        self.modules.get(mapping as usize).map(|module| &*module.id.path)
    }

    /// Reads the debug information that the instructions at the addresses `wanted` need; [`Modules::locate`] knows
    /// of those and may know less of others.
    pub fn read_debug_info(&mut self, wanted: &[(MappingId, u64)]) {
        // A file mapped twice is read once.
        let mut offsets: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
        for &(mapping, pc) in wanted {
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
            first.debug = read(&*first.source, &first.id.path, &offsets).map(Arc::new);
            for module in same {
                module.debug.clone_from(&first.debug);
            }
        }
    }

    /// The file of a mapping: its bytes, its path in the guest's view, and the address at which its first byte would be.
    pub fn file(&self, mapping: MappingId) -> Option<(Arc<dyn PageSource>, &str, u64)> {
        let module = self.modules.get(mapping as usize)?;
        Some((Arc::clone(&module.source), &module.id.path, module.origin))
    }

    /// The file of a mapping, by inode and device: the same for all its mappings.
    pub fn key(&self, mapping: MappingId) -> Option<(u64, u64)> {
        self.modules.get(mapping as usize).map(|module| (module.id.inode, module.id.device))
    }

    /// What tells the file of a mapping from another build of it.
    pub fn identity(&self, mapping: MappingId) -> Option<String> {
        self.modules.get(mapping as usize).map(|module| files::identity(&*module.source))
    }

    /// The link-time address of an instruction that [`Modules::read_debug_info`] was told of.
    pub fn vaddr(&self, mapping: MappingId, pc: u64) -> Option<u64> {
        let module = self.modules.get(mapping as usize)?;
        module.debug.as_ref()?.vaddr_of_file_offset(pc.wrapping_sub(module.origin))
    }

    /// File, function (as it is shown) and line of an instruction that [`Modules::read_debug_info`] was told of.
    pub fn locate(&mut self, mapping: MappingId, pc: u64) -> Option<Location> {
        let module = self.modules.get(mapping as usize)?;
        let debug = module.debug.as_ref()?;
        let mut location = debug.locate(debug.vaddr_of_file_offset(pc.wrapping_sub(module.origin))?);
        let shown = self
            .names
            .entry(Arc::clone(&location.function))
            .or_insert_with_key(|raw| Arc::from(&*display_name(raw, false, true)));
        location.function = Arc::clone(shown);
        Some(location)
    }
}

/// Debug information of an object, from it and from the separate files that its links name; of its lines those of
/// the instructions at the file offsets `wanted`.
fn read(main: &dyn PageSource, path: &str, wanted: &[u64]) -> Option<DebugInfo> {
    let found = Companions::find(main, Path::new(path));
    DebugInfo::parse_for(main, found.separate(), found.alternate(), wanted).ok()
}
