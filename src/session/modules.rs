//! The files that code came from, and what their debug information says of an address.

use std::path::Path;
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
    debug: Option<Option<Arc<DebugInfo>>>,
}

/// All files that code was translated from.
#[derive(Default)]
pub struct Modules {
    modules: Vec<Module>,
    /// By inode, device and origin.
    known: FxHashMap<(u64, u64, u64), MappingId>,
    /// Debug information by inode and device: a file mapped twice is read once.
    read: FxHashMap<(u64, u64), Option<Arc<DebugInfo>>>,
    names: FxHashMap<Arc<str>, Arc<str>>,
    last: Option<((u64, u64, u64), MappingId)>,
}

/// Largest file that is read for its debug information.
const LARGEST: u64 = 4 << 30;

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

    /// File, function (as it is shown) and line of an instruction.
    pub fn locate(&mut self, mapping: MappingId, pc: u64) -> Option<Location> {
        let module = self.modules.get_mut(mapping as usize)?;
        let offset = pc.wrapping_sub(module.origin);
        let debug = match &module.debug {
            Some(debug) => debug.clone(),
            None => {
                let key = (module.id.inode, module.id.device);
                let debug = self
                    .read
                    .entry(key)
                    .or_insert_with(|| read(&*module.source, &module.id.path).map(Arc::new))
                    .clone();
                module.debug = Some(debug.clone());
                debug
            }
        }?;
        let mut location = debug.locate(debug.vaddr_of_file_offset(offset)?);
        let shown = self
            .names
            .entry(Arc::clone(&location.function))
            .or_insert_with_key(|raw| Arc::from(&*display_name(raw, false, true)));
        location.function = Arc::clone(shown);
        Some(location)
    }
}

/// All bytes of a file.
fn bytes(source: &dyn PageSource) -> Option<Vec<u8>> {
    let len = source.len();
    if len > LARGEST {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    let mut done = 0;
    while done < bytes.len() {
        match source.read_at(done as u64, &mut bytes[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(done);
    Some(bytes)
}

/// Debug information of an object, from it and from the separate files that its links name.
fn read(source: &dyn PageSource, path: &str) -> Option<DebugInfo> {
    let main = bytes(source)?;
    let links = Links::parse(&main).ok()?;
    let separate = if links.needs_debug_file() {
        first_match(&search::debug_files(Path::new(path), &links, None), |candidate| {
            links.is_debug_file(candidate)
        })
    } else {
        None
    };
    let with_dwarf = separate.as_deref().filter(|_| !links.has_dwarf).unwrap_or(&main);
    let alternate =
        Links::parse(with_dwarf).ok().filter(|links| links.debugaltlink.is_some()).and_then(|links| {
            first_match(&search::alternate_files(Path::new(path), &links), |candidate| {
                links.is_alternate_file(candidate)
            })
        });
    DebugInfo::parse(&main, separate.as_deref(), alternate.as_deref()).ok()
}

fn first_match(paths: &[std::path::PathBuf], accept: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    paths.iter().find_map(|path| std::fs::read(path).ok().filter(|bytes| accept(bytes)))
}
