//! The files that code came from, and what their debug information says of an address.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::emu::guest::{FileId, PageSource};
use crate::emu::memory::space::FileArea;
use crate::hooks::plan::{MappingId, NO_MAPPING};
use crate::loader::debug::{DebugInfo, Links, Location, display_name, search};

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

/// A debug file on the host's disk.
struct DebugFile {
    file: File,
    len: u64,
}

impl PageSource for DebugFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.file.read_at(buf, offset) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn len(&self) -> u64 {
        self.len
    }
}

/// Debug information of an object, from it and from the separate files that its links name; of its lines those of
/// the instructions at the file offsets `wanted`.
fn read(main: &dyn PageSource, path: &str, wanted: &[u64]) -> Option<DebugInfo> {
    let links = Links::parse(main).ok()?;
    let separate = if links.needs_debug_file() {
        first_match(&search::debug_files(Path::new(path), &links, None), |candidate| {
            links.is_debug_file(candidate)
        })
    } else {
        None
    };
    let separate: Option<&dyn PageSource> = separate.as_ref().map(|file| file as _);
    let with_dwarf = separate.filter(|_| !links.has_dwarf).unwrap_or(main);
    let alternate =
        Links::parse(with_dwarf).ok().filter(|links| links.debugaltlink.is_some()).and_then(|links| {
            first_match(&search::alternate_files(Path::new(path), &links), |candidate| {
                links.is_alternate_file(candidate)
            })
        });
    DebugInfo::parse_for(main, separate, alternate.as_ref().map(|file| file as _), wanted).ok()
}

fn first_match(paths: &[PathBuf], accept: impl Fn(&dyn PageSource) -> bool) -> Option<DebugFile> {
    paths.iter().find_map(|path| {
        let file = File::open(path).ok()?;
        let status = file.metadata().ok().filter(Metadata::is_file)?;
        Some(DebugFile { file, len: status.len() }).filter(|file| accept(file))
    })
}
