//! Which functions were inlined at an address: `DW_TAG_inlined_subroutine` and its call sites (DWARF 5, 3.3.8), also where
//! they stand in split DWARF (`.dwo` and `.dwp` files, DWARF 5, 7.3.2) or in the file of `.gnu_debugaltlink`.

use std::path::PathBuf;
use std::sync::Arc;

use addr2line::{Context, LookupContinuation as _, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackage, EndianArcSlice, LittleEndian, Reader};

use crate::loader::FileBytes;
use crate::symbols::elf::Elf;
use crate::symbols::section;

/// A debug section that its users own together.
type Bytes = EndianArcSlice<LittleEndian>;

/// Deepest inlining that is followed.
const MAX_DEPTH: usize = 1000;

/// A function at an address: the one that the code belongs to, or one that was inlined into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The linkage name, else the name in the source; `None` if there is neither.
    pub function: Option<String>,
    /// File and line of the call that was replaced by the code; `None` for the function that the code belongs to. The file
    /// is `None` and the line 0 if they are not known.
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
pub type FindSplit<'a> = dyn Fn(&SplitUnit) -> Vec<Vec<u8>> + 'a;

/// The inlining of one object.
pub struct Inlines {
    context: Context<Bytes>,
    package: Option<DwarfPackage<Bytes>>,
}

impl Inlines {
    /// Reads the headers of what `main` or, if that has no DWARF, `separate` says. `alternate` is the file that `.gnu_debugaltlink` of
    /// the one with the DWARF names, `package` the `.dwp` file of the object.
    ///
    /// `None` if there is no DWARF or its headers are damaged.
    pub fn parse<F: FileBytes + ?Sized>(
        main: &F,
        separate: Option<&F>,
        alternate: Option<&F>,
        package: Option<&F>,
    ) -> Option<Self> {
        let main = Elf::parse(main).ok()?;
        let separate = separate.and_then(|file| Elf::parse(file).ok());
        let elf = if main.has_dwarf() { &main } else { separate.as_ref()? };
        let mut dwarf = Dwarf::load(|id| load(elf, Some(id.name()))).ok()?;
        if let Some(elf) = alternate.and_then(|file| Elf::parse(file).ok()) {
            dwarf.load_sup(|id| load(&elf, Some(id.name()))).ok()?;
        }
        let package = package.and_then(|file| {
            let elf = Elf::parse(file).ok()?;
            DwarfPackage::load(|id| load(&elf, id.dwo_name()), bytes(Vec::new())).ok()
        });
        Some(Self { context: Context::from_dwarf(dwarf).ok()?, package })
    }

    /// The functions at the link-time address `vaddr`, outermost first: the one that the code belongs to, what was inlined into it, what was
    /// inlined into that. Empty if nothing is known.
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
        // A frame comes with the place that it is left from: the call site belongs to the frame before.
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

    /// The DWARF of a split unit: from the package, else from the first file that has the unit of that number.
    fn split(&self, load: &SplitDwarfLoad<Bytes>, find: &FindSplit<'_>) -> Option<Arc<Dwarf<Bytes>>> {
        let packed =
            self.package.as_ref().and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok());
        if let Some(dwarf) = packed.flatten() {
            return Some(Arc::new(dwarf));
        }
        let text = |text: Option<&Bytes>| {
            text.and_then(|text| text.to_string_lossy().ok().map(std::borrow::Cow::into_owned))
        };
        let unit = SplitUnit {
            name: PathBuf::from(text(load.path.as_ref())?),
            directory: PathBuf::from(text(load.comp_dir.as_ref()).unwrap_or_default()),
        };
        find(&unit).into_iter().find_map(|file| {
            let elf = Elf::parse(&file).ok()?;
            let mut dwarf = Dwarf::load(|id| self::load(&elf, id.dwo_name())).ok()?;
            dwarf.make_dwo(&load.parent);
            let header = dwarf.units().next().ok()??;
            let unit = dwarf.unit(header).ok()?;
            (unit.dwo_id == Some(load.dwo_id)).then(|| Arc::new(dwarf))
        })
    }
}

fn load(elf: &Elf<'_>, name: Option<&str>) -> Result<Bytes, gimli::Error> {
    Ok(bytes(name.map(|name| section::load(elf, name)).unwrap_or_default()))
}

fn bytes(bytes: Vec<u8>) -> Bytes {
    Bytes::new(Arc::from(bytes), LittleEndian)
}
