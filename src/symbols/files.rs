//! The files of objects on the disk, found as debuggers find them. Nothing else in this room opens
//! one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::guest::PageSource;
use crate::symbols::debug_files::{Companions, DebugFiles};
use crate::symbols::debuglink::Links;
use crate::symbols::elf::{ElfError, ElfFile, Source};

/// Largest `.dwo` file that is read, in bytes.
const LARGEST_SPLIT: u64 = 1 << 30;

/// A file that is read where it is needed. It is opened for each read, of which there are few: a
/// program of hundreds of libraries has more debug files than a process may have descriptors.
#[derive(Debug)]
struct DiskFile {
    path: PathBuf,
    len: u64,
}

impl PageSource for DiskFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let file = File::open(&self.path)?;
        loop {
            match file.read_at(buf, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn len(&self) -> u64 {
        self.len
    }
}

/// Opens a regular file.
///
/// # Errors
/// Those of open(2); `InvalidInput` for anything but a regular file.
pub(crate) fn open(path: &Path) -> io::Result<Source> {
    // Looked at first: opening a FIFO would wait.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"));
    }
    let len = File::open(path)?.metadata()?.len();
    Ok(Arc::new(DiskFile { path: path.to_owned(), len }))
}

/// Reads the headers of the object `main`, which is at `path`, and finds the files that complete
/// it.
///
/// # Errors
/// Those of [`ElfFile::parse`] for `main`; a companion that cannot be read is left out.
pub(crate) fn complete(main: Source, path: &Path) -> Result<DebugFiles, ElfError> {
    let main = ElfFile::parse(main)?;
    let links = Links::of(&main);
    let candidates = if links.needs_debug_file() { links.debug_files(path) } else { Vec::new() };
    let separate = first_match(&candidates, |candidate| links.is_debug_file(candidate));
    // The alternate file is that of the file with the DWARF.
    let (from, links) = match &separate {
        Some((file, path)) if !links.has_dwarf => (path.as_path(), Links::of(file)),
        _ => (path, links),
    };
    let alternate = first_match(&links.alternate_files(from), |file| links.is_alternate_file(file));
    let packages = [Some(path), separate.as_ref().map(|(_, path)| path.as_path())];
    let packages: Vec<PathBuf> = packages.into_iter().flatten().map(with_dwp).collect();
    let package = first_match(&packages, |_| true);
    let file = |found: Option<(ElfFile, PathBuf)>| found.map(|(file, _)| file);
    let companions =
        Companions { separate: file(separate), alternate: file(alternate), package: file(package) };
    Ok(DebugFiles::new(main, companions))
}

/// The candidates for the file of a split unit of the object at `object`, the best first: where the
/// compiler wrote it, then beside the object. `name` is `DW_AT_dwo_name`, `directory`
/// `DW_AT_comp_dir`.
pub(crate) fn split_units(object: &Path, name: &Path, directory: &Path) -> Vec<ElfFile> {
    let beside = object.parent().unwrap_or(Path::new("/"));
    let mut paths = vec![directory.join(name), beside.join(name)];
    paths.extend(name.file_name().map(|name| beside.join(name)));
    paths.dedup();
    let read = |path: &PathBuf| {
        let source = open(path).ok().filter(|source| source.len() <= LARGEST_SPLIT)?;
        ElfFile::parse(source).ok()
    };
    paths.iter().filter_map(read).collect()
}

fn first_match(paths: &[PathBuf], accept: impl Fn(&ElfFile) -> bool) -> Option<(ElfFile, PathBuf)> {
    paths.iter().find_map(|path| {
        let file = open(path).ok().and_then(|source| ElfFile::parse(source).ok())?;
        accept(&file).then(|| (file, path.clone()))
    })
}

/// `path` with `.dwp` behind it.
fn with_dwp(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".dwp");
    PathBuf::from(name)
}
