//! Objects (programs and libraries) and their debug files on the disk, found as debuggers find them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::guest::PageSource;
use crate::symbols::debugger::cfi::Cfi;
use crate::symbols::debugger::inline::{Inlines, SplitUnit};
use crate::symbols::debugger::symbol_lookup::{LineCode, Places};
use crate::symbols::debuglink::{self, Links};
use crate::symbols::object_code::ObjectCode;
use crate::symbols::search;
use crate::symbols::valgrind::debug_info::DebugInfo;

/// Largest `.dwo` file that is read, in bytes.
const LARGEST_SPLIT: u64 = 1 << 30;

/// A file that is read where it is needed.
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    len: u64,
}

impl DiskFile {
    /// Opens a regular file.
    ///
    /// # Errors
    /// What open(2) says; `InvalidInput` for what is no regular file.
    pub fn open(path: &Path) -> io::Result<DiskFile> {
        // Looked at first: opening a FIFO would wait.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"));
        }
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(DiskFile { file, len })
    }
}

impl PageSource for DiskFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read_at(buf, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn len(&self) -> u64 {
        self.len
    }
}

/// The files that complete an object.
#[derive(Debug, Default)]
pub struct Companions {
    /// The separate debug file.
    pub separate: Option<DiskFile>,
    /// Where that is.
    pub separate_path: Option<PathBuf>,
    /// What the `.gnu_debugaltlink` of the file with the DWARF names.
    pub alternate: Option<DiskFile>,
}

impl Companions {
    /// Finds those of the object `main`, which is at `path`.
    pub fn find(main: &dyn PageSource, path: &Path) -> Companions {
        let Ok(links) = Links::parse(main) else { return Companions::default() };
        let paths =
            if links.needs_debug_file() { search::debug_files(path, &links, None) } else { Vec::new() };
        let separate = first_match(&paths, |candidate| links.is_debug_file(candidate));
        let debug = separate.as_ref().filter(|_| !links.has_dwarf);
        let named = match debug {
            Some((file, _)) => Links::parse(file as &dyn PageSource).ok(),
            None => Some(links.clone()),
        };
        let named = named.filter(|links| links.debugaltlink.is_some());
        let alternate = named.and_then(|links| {
            let from = debug.map_or(path, |(_, path)| path);
            first_match(&search::alternate_files(from, &links), |candidate| {
                links.is_alternate_file(candidate)
            })
        });
        let (separate, separate_path) = separate.unzip();
        Companions { separate, separate_path, alternate: alternate.map(|found| found.0) }
    }

    /// The separate debug file as a source of bytes.
    pub fn separate(&self) -> Option<&dyn PageSource> {
        self.separate.as_ref().map(|file| file as _)
    }

    /// The alternate file as a source of bytes.
    pub fn alternate(&self) -> Option<&dyn PageSource> {
        self.alternate.as_ref().map(|file| file as _)
    }
}

fn first_match(paths: &[PathBuf], accept: impl Fn(&dyn PageSource) -> bool) -> Option<(DiskFile, PathBuf)> {
    paths.iter().find_map(|path| {
        DiskFile::open(path).ok().filter(|file| accept(file)).map(|file| (file, path.clone()))
    })
}

/// What tells one build of an object from another: `build-id:` and the digits of its build-id, or `crc32:` and the
/// checksum of the whole file if it has none.
pub fn identity(object: &dyn PageSource) -> String {
    match Links::parse(object).ok().and_then(|links| links.build_id) {
        Some(id) => id.iter().fold("build-id:".to_owned(), |text, byte| format!("{text}{byte:02x}")),
        None => format!("crc32:{:08x}", debuglink::crc32_of_file(object)),
    }
}

/// An object with the files that complete it.
pub struct Object {
    path: PathBuf,
    main: Arc<dyn PageSource>,
    found: Companions,
}

impl Object {
    /// Opens the object at `path` and finds its debug files.
    ///
    /// # Errors
    /// Those of [`DiskFile::open`].
    pub fn open(path: &Path) -> io::Result<Object> {
        Ok(Object::of(Arc::new(DiskFile::open(path)?), path))
    }

    /// The object whose bytes are `main` and whose path is `path`, with its debug files.
    pub fn of(main: Arc<dyn PageSource>, path: &Path) -> Object {
        let found = Companions::find(&*main, path);
        Object { path: path.to_owned(), main, found }
    }

    /// Its bytes.
    pub fn main(&self) -> &dyn PageSource {
        &*self.main
    }

    /// What tells it from other builds, as [`identity`] has it.
    pub fn identity(&self) -> String {
        identity(self.main())
    }

    /// Its code and symbols; `None` if it is no ELF file.
    pub fn code(&self) -> Option<ObjectCode<'_>> {
        ObjectCode::parse(self.main(), self.found.separate()).ok()
    }

    /// The lines of the instructions at the link-time `addresses`; `None` if it is no ELF file.
    pub fn lines(&self, addresses: &[u64]) -> Option<DebugInfo> {
        DebugInfo::parse_at(self.main(), self.found.separate(), self.found.alternate(), addresses).ok()
    }

    /// Its names and lines, for a debugger; `None` if it is no ELF file.
    pub fn places(&self) -> Option<Places> {
        Places::parse(self.main(), self.found.separate(), self.found.alternate()).ok()
    }

    /// The code of a source line, as [`Places::line_code`] of this object's `places` has it.
    pub fn line_code(&self, places: &Places, file: &str, line: u32) -> Option<LineCode> {
        places.line_code(self.main(), self.found.separate(), file, line)
    }

    /// Where inlined copies of a function begin, as [`Places::inlined_copies`] of this object's `places` has it.
    pub fn inlined_copies(&self, places: &Places, name: &str) -> Vec<u64> {
        places.inlined_copies(self.main(), self.found.separate(), name)
    }

    /// How to unwind its stack frames; `None` if it is no ELF file.
    pub fn cfi(&self) -> Option<Cfi> {
        Cfi::parse(self.main(), self.found.separate()).ok()
    }

    /// What was inlined where; `None` if there is no debug information.
    pub fn inlines(&self) -> Option<Inlines> {
        let beside = [Some(&self.path), self.found.separate_path.as_ref()];
        let package = beside.into_iter().flatten().find_map(|path| {
            let mut name = path.clone().into_os_string();
            name.push(".dwp");
            DiskFile::open(Path::new(&name)).ok()
        });
        let package = package.as_ref().map(|file| file as &dyn PageSource);
        Inlines::parse(self.main(), self.found.separate(), self.found.alternate(), package)
    }

    /// The files that may have the functions of a split unit: where the compiler wrote it, then beside the object.
    pub fn split(&self, unit: &SplitUnit) -> Vec<Vec<u8>> {
        let beside = self.path.parent().unwrap_or(Path::new("/"));
        let mut paths = vec![unit.directory.join(&unit.name), beside.join(&unit.name)];
        paths.extend(unit.name.file_name().map(|name| beside.join(name)));
        paths.dedup();
        let read = |path: &PathBuf| {
            let large =
                std::fs::metadata(path).is_ok_and(|data| !data.is_file() || data.len() > LARGEST_SPLIT);
            if large { None } else { std::fs::read(path).ok() }
        };
        paths.iter().filter_map(read).collect()
    }
}
