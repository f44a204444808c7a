//! The functions that were inlined at an address: `DW_TAG_inlined_subroutine` and its call sites
//! (DWARF 5, 3.3.8), also in split DWARF (`.dwo` and `.dwp` files, DWARF 5, 7.3.2) and in the file
//! of `.gnu_debugaltlink`.

use std::path::PathBuf;
use std::sync::Arc;

use addr2line::{Context, LookupContinuation as _, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackage, Reader};

use crate::symbols::debug_files::{DebugFiles, SharedSlice, shared, shared_section};
use crate::symbols::elf::ElfFile;

/// Deepest inlining that is followed.
const MAX_DEPTH: usize = 1000;

/// A function at an address: the one that the code belongs to, or one that was inlined into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The linkage name, else the name in the source; `None` if there is neither.
    pub function: Option<String>,
    /// File and line of the call that was replaced by the code; `None` for the function that the
    /// code belongs to. The file is `None` and the line 0 if they are not known.
    pub call: Option<(Option<String>, u32)>,
}

/// A unit whose functions are described in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitUnit {
    /// `DW_AT_dwo_name`: the file, absolute or relative to `directory`.
    pub name: PathBuf,
    /// `DW_AT_comp_dir`.
    pub directory: PathBuf,
}

/// Finds candidates for the file of a unit, the best first.
pub type FindSplit<'a> = dyn Fn(&SplitUnit) -> Vec<ElfFile> + 'a;

/// The inlining of one object.
pub struct Inlines {
    context: Context<SharedSlice>,
    package: Option<DwarfPackage<SharedSlice>>,
}

impl Inlines {
    /// Reads the headers of the units. `None` if there is no DWARF or they are damaged.
    pub fn read(files: &DebugFiles) -> Option<Self> {
        let context = Context::from_dwarf(files.shared_dwarf()?).ok()?;
        let package = files.package().and_then(|file| {
            let load = |id: gimli::SectionId| Ok::<_, gimli::Error>(shared_section(file, id.dwo_name()));
            DwarfPackage::load(load, shared(Arc::default(), files.give_up())).ok()
        });
        Some(Self { context, package })
    }

    /// The functions at the link-time address `vaddr`, the outermost first: the one that the code
    /// belongs to, and those that were inlined there. Empty if nothing is known.
    pub fn chain(&self, vaddr: u64, find: &FindSplit<'_>) -> Vec<Frame> {
        // The library looks for what begins before the address after this one.
        if vaddr == u64::MAX {
            return Vec::new();
        }
        let mut lookup = self.context.find_frames(vaddr);
        let frames = loop {
            match lookup {
                LookupResult::Output(frames) => break frames,
                LookupResult::Load { load, continuation } => {
                    lookup = continuation.resume(self.split(&load, find));
                }
            }
        };
        let mut chain = Vec::new();
        let Ok(mut frames) = frames else { return chain };
        // A frame comes with the place that it is left from: the call site belongs to the frame
        // before.
        while let Ok(Some(frame)) = frames.next() {
            if let Some(Frame { call, .. }) = chain.last_mut() {
                let place = frame.location.map(|place| (place.file.map(str::to_owned), place.line));
                *call = Some(place.map_or((None, 0), |(file, line)| (file, line.unwrap_or(0))));
            }
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            chain.push(Frame { function: name.map(std::borrow::Cow::into_owned), call: None });
            if chain.len() > MAX_DEPTH {
                return Vec::new();
            }
        }
        chain.reverse();
        chain
    }

    /// The DWARF of a split unit: from the package, else from the first file that has the unit of
    /// that number.
    fn split(
        &self,
        load: &SplitDwarfLoad<SharedSlice>,
        find: &FindSplit<'_>,
    ) -> Option<Arc<Dwarf<SharedSlice>>> {
        let packed =
            self.package.as_ref().and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok());
        if let Some(dwarf) = packed.flatten() {
            return Some(Arc::new(dwarf));
        }
        let text = |text: Option<&SharedSlice>| {
            text.and_then(|text| text.to_string_lossy().ok().map(std::borrow::Cow::into_owned))
        };
        let unit = SplitUnit {
            name: PathBuf::from(text(load.path.as_ref())?),
            directory: PathBuf::from(text(load.comp_dir.as_ref()).unwrap_or_default()),
        };
        find(&unit).into_iter().find_map(|file| {
            let section = |id: gimli::SectionId| Ok::<_, gimli::Error>(shared_section(&file, id.dwo_name()));
            let mut dwarf = Dwarf::load(section).ok()?;
            dwarf.make_dwo(&load.parent);
            let header = dwarf.units().next().ok()??;
            let unit = dwarf.unit(header).ok()?;
            (unit.dwo_id == Some(load.dwo_id)).then(|| Arc::new(dwarf))
        })
    }
}
