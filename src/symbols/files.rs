//! The files of objects on the disk, found as debuggers find them, and the limit to where they may
//! be. Nothing else in this room opens one.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::guest::PageSource;
use crate::symbols::debug_files::{Companions, DebugFiles};
use crate::symbols::debuglink::Links;
use crate::symbols::elf::{ElfError, ElfFile, Source};
use crate::symbols::give_up::GiveUp;

/// Largest `.dwo` file that is read, in bytes.
const LARGEST_SPLIT: u64 = 1 << 30;

/// The files that a reader may open, which a profile or an object has named: every regular file, or
/// those below some directories.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach(Option<Arc<[Root]>>);

/// A directory, without links in its path, and held open.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    directory: OwnedFd,
}

impl Reach {
    /// The files below these directories; all if there are none.
    ///
    /// # Errors
    /// The first that is no directory that can be opened.
    pub(crate) fn below(directories: &[PathBuf]) -> Result<Reach, (PathBuf, io::Error)> {
        let root = |directory: &PathBuf| {
            let path = fs::canonicalize(directory)?;
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let directory = openat(CWD, &path, flags, Mode::empty())?;
            Ok(Root { path, directory })
        };
        let roots = directories.iter().map(|path| root(path).map_err(|error| (path.clone(), error)));
        let roots = roots.collect::<Result<Vec<_>, _>>()?;
        Ok(Reach((!roots.is_empty()).then(|| roots.into())))
    }

    /// True if some files are out of reach.
    pub(crate) fn is_limited(&self) -> bool {
        self.0.is_some()
    }

    /// Opens a regular file: others may have no end, or wait, or do something when they are opened.
    ///
    /// # Errors
    /// Those of open(2); `InvalidInput` for anything but a regular file, `PermissionDenied` for one
    /// that is out of reach, be it by `..` or by a link.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        let regular = |is_file: bool| match is_file {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file")),
        };
        regular(fs::metadata(path)?.is_file())?;
        let file = match &self.0 {
            None => openat(CWD, path, reading(), Mode::empty())?,
            Some(roots) => {
                let path = fs::canonicalize(path)?;
                let within = roots.iter().find_map(|root| Some((root, path.strip_prefix(&root.path).ok()?)));
                let outside = || io::Error::new(io::ErrorKind::PermissionDenied, "outside of --source-root");
                let (root, below) = within.ok_or_else(outside)?;
                open_below(&root.directory, below)?
            }
        };
        let file = File::from(file);
        // It may be another one by now.
        regular(file.metadata()?.is_file())?;
        Ok(file)
    }
}

/// The flags for reading: a FIFO that has come in place of the file does not wait for a writer.
fn reading() -> OFlags {
    OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC
}

/// Opens a file whose path has no links any more. Each step follows none, so one that is put there
/// meanwhile leads nowhere.
fn open_below(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut directory = root.try_clone()?;
    let mut names = path.components().peekable();
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else { break };
        let flags = match names.peek() {
            Some(_) => OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            None => reading(),
        };
        let next = openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        if names.peek().is_none() {
            return Ok(next);
        }
        directory = next;
    }
    Err(io::ErrorKind::InvalidInput.into())
}

/// A file that is read where it is needed. It is opened for each read, of which there are few: a
/// program of hundreds of libraries has more debug files than a process may have descriptors.
#[derive(Debug)]
struct DiskFile {
    path: PathBuf,
    reach: Reach,
    len: u64,
}

impl PageSource for DiskFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let file = self.reach.open(&self.path)?;
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
/// Those of [`Reach::open`].
pub(crate) fn open(path: &Path, reach: &Reach) -> io::Result<Source> {
    let len = reach.open(path)?.metadata()?.len();
    Ok(Arc::new(DiskFile { path: path.to_owned(), reach: reach.clone(), len }))
}

/// Reads the headers of the object `main`, which is at `path`, and finds the files that complete
/// it.
///
/// # Errors
/// Those of [`ElfFile::parse`] for `main`; a companion that cannot be read is left out.
pub(crate) fn complete(
    main: Source,
    path: &Path,
    reach: &Reach,
    give_up: &GiveUp,
) -> Result<DebugFiles, ElfError> {
    let main = ElfFile::heeding(main, give_up)?;
    let links = Links::of(&main);
    let candidates = if links.needs_debug_file() { links.debug_files(path) } else { Vec::new() };
    let separate = first_match(&candidates, (reach, give_up), |candidate| links.is_debug_file(candidate));
    // The alternate file is that of the file with the DWARF.
    let (from, links) = match &separate {
        Some((file, path)) if !links.has_dwarf => (path.as_path(), Links::of(file)),
        _ => (path, links),
    };
    let alternate =
        first_match(&links.alternate_files(from), (reach, give_up), |file| links.is_alternate_file(file));
    let packages = [Some(path), separate.as_ref().map(|(_, path)| path.as_path())];
    let packages: Vec<PathBuf> = packages.into_iter().flatten().map(with_dwp).collect();
    let package = first_match(&packages, (reach, give_up), |_| true);
    let file = |found: Option<(ElfFile, PathBuf)>| found.map(|(file, _)| file);
    let companions =
        Companions { separate: file(separate), alternate: file(alternate), package: file(package) };
    Ok(DebugFiles::new(main, companions))
}

/// The candidates for the file of a split unit of the object at `object`, the best first: where the
/// compiler wrote it, then beside the object. `name` is `DW_AT_dwo_name`, `directory`
/// `DW_AT_comp_dir`.
pub(crate) fn split_units(
    object: &Path,
    (name, directory): (&Path, &Path),
    reach: &Reach,
    give_up: &GiveUp,
) -> Vec<ElfFile> {
    let beside = object.parent().unwrap_or(Path::new("/"));
    let mut paths = vec![directory.join(name), beside.join(name)];
    paths.extend(name.file_name().map(|name| beside.join(name)));
    paths.dedup();
    let read = |path: &PathBuf| {
        let source = open(path, reach).ok().filter(|source| source.len() <= LARGEST_SPLIT)?;
        ElfFile::heeding(source, give_up).ok()
    };
    paths.iter().filter_map(read).collect()
}

fn first_match(
    paths: &[PathBuf],
    (reach, give_up): (&Reach, &GiveUp),
    accept: impl Fn(&ElfFile) -> bool,
) -> Option<(ElfFile, PathBuf)> {
    paths.iter().find_map(|path| {
        let file = open(path, reach).ok().and_then(|source| ElfFile::heeding(source, give_up).ok())?;
        accept(&file).then(|| (file, path.clone()))
    })
}

/// `path` with `.dwp` behind it.
fn with_dwp(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".dwp");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_is_below() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("in/deep")).expect("made");
        fs::create_dir(at("inner")).expect("made");
        for name in ["in/a.c", "in/deep/b.c", "out.c", "inner/c.c"] {
            fs::write(at(name), "x").expect("written");
        }
        symlink(at("out.c"), at("in/leads-out")).expect("linked");
        symlink("../../out.c", at("in/deep/leads-up")).expect("linked");
        symlink("deep/b.c", at("in/stays")).expect("linked");
        symlink(at("in"), at("alias")).expect("linked");
        symlink(dir.path(), at("in/up")).expect("linked");
        let reach = Reach::below(&[at("alias")]).expect("a directory");
        for name in ["in/a.c", "in/deep/b.c", "in/deep/../a.c", "in/stays", "alias/a.c", "in/up/in/a.c"] {
            assert!(reach.open(&at(name)).is_ok(), "{name}");
        }
        for name in ["out.c", "in/../out.c", "in/leads-out", "in/deep/leads-up", "in/up/out.c", "inner/c.c"] {
            let error = reach.open(&at(name)).expect_err(name);
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{name}");
            assert!(Reach::default().open(&at(name)).is_ok(), "{name}");
        }
        assert!(reach.open(&at("in/none")).is_err() && Reach::below(&[at("none")]).is_err());
        assert!(reach.is_limited() && !Reach::below(&[]).expect("no directory").is_limited());
    }

    #[test]
    fn only_regular_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RWXU, 0).expect("made");
        for path in [&fifo, Path::new("/dev/zero"), dir.path()] {
            let reach = Reach::below(&[PathBuf::from("/")]).expect("a directory");
            for reach in [Reach::default(), reach] {
                assert_eq!(reach.open(path).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
            }
        }
    }
}
