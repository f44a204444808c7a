//! The output file: checked before the run, replaced in one step after it. Whoever looks at the
//! name sees the whole old profile or the whole new one.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError};

use rustix::fs::{self, Access, AtFlags, CWD, FileType, Mode, OFlags, accessat};
use rustix::io::Errno;

use super::leftovers;
use super::place::{self, Entry, GuestWritable, Place, descriptor_path};
use super::stream::{Lost, Stream};
use super::temporary::Temporary;
use crate::profile::reason;

/// All outputs of a process.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Outputs {
    guest: GuestWritable,
    /// Not 0 once the user wants the run to end; ends waits for readers.
    interrupt: Arc<AtomicUsize>,
    lost: Lost,
}

impl Outputs {
    /// Outputs beside a program that may change these directories.
    pub(in crate::cli) fn new(guest: GuestWritable, interrupt: Arc<AtomicUsize>) -> Outputs {
        Outputs { guest, interrupt, lost: Lost::default() }
    }

    /// Finds the place of a file, checks that it can be written, and leaves it as it is. The path
    /// must be absolute.
    ///
    /// # Errors
    /// A directory, a directory that is missing or cannot be written, a file that cannot be
    /// written.
    pub(in crate::cli) fn file(&self, path: &Path) -> Result<OutFile, String> {
        let to = directory_name(path).and_then(|()| place::find(path, &self.guest));
        self.prepare(path.to_owned(), to).map_err(|error| refusal(path, &error))
    }

    /// Opens a file that is written line by line; what was in it is gone, as with `>` in a shell.
    /// The path must be absolute.
    ///
    /// # Errors
    /// Those of open(2), and a FIFO that nobody reads when the run is to end.
    pub(in crate::cli) fn stream(&self, path: &Path) -> io::Result<Stream> {
        directory_name(path)?;
        let stream = match place::find(path, &self.guest)? {
            Place::Held(held) => Stream::open(&held, &self.interrupt)?,
            Place::Entry(Entry { directory, name }) => {
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(0o666);
                let file = File::from(fs::openat(directory, name, flags, mode)?);
                Stream::new(file, Arc::clone(&self.interrupt))
            }
        };
        Ok(stream.named(path, &self.lost))
    }

    /// Checks that the files that are written line by line took all.
    ///
    /// # Errors
    /// The first that did not.
    pub(in crate::cli) fn whole(&self) -> Result<(), String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    /// A stream to a file that is open already.
    pub(in crate::cli) fn open_stream(&self, file: File) -> Stream {
        Stream::new(file, Arc::clone(&self.interrupt))
    }

    /// True if the program may change the directory of this path, or if that cannot be told.
    pub(in crate::cli) fn is_guest_writable(&self, path: &Path) -> bool {
        let directory = path.parent().unwrap_or(Path::new("/"));
        let held = fs::open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        match held {
            Ok(held) => self.guest.contains(&held).unwrap_or(true),
            Err(_) => !self.guest.is_empty(),
        }
    }

    fn prepare(&self, path: PathBuf, found: io::Result<Place>) -> io::Result<OutFile> {
        let to = match found? {
            Place::Entry(entry) => {
                match accessat(&entry.directory, &entry.name, Access::WRITE_OK, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(error) => return Err(error.into()),
                }
                leftovers::remove(&entry.directory);
                // Proves that the directory takes new files.
                drop(Temporary::create(&entry)?);
                let there = entry.path();
                Destination::Replace { entry, there }
            }
            Place::Held(held) => {
                let stat = fs::fstat(&held)?;
                if let Some(stream) = place::our_output(&stat) {
                    Destination::Into(File::from(rustix::io::fcntl_dupfd_cloexec(stream, 0)?))
                } else if FileType::from_raw_mode(stat.st_mode) == FileType::Fifo {
                    accessat(CWD, descriptor_path(&held), Access::WRITE_OK, AtFlags::empty())?;
                    Destination::Fifo(held)
                } else {
                    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOCTTY | OFlags::CLOEXEC;
                    Destination::Into(File::from(fs::open(descriptor_path(&held), flags, Mode::empty())?))
                }
            }
        };
        Ok(OutFile { path, to, outputs: self.clone() })
    }
}

fn directory_name(path: &Path) -> io::Result<()> {
    if path.as_os_str().as_bytes().ends_with(b"/") { Err(Errno::ISDIR.into()) } else { Ok(()) }
}

fn refusal(path: &Path, error: &io::Error) -> String {
    format!("{}: cannot be written: {}; choose another output file", path.display(), reason(error))
}

/// A place for a profile that could be written when it was looked at.
#[derive(Debug)]
pub(in crate::cli) struct OutFile {
    /// As the user named it.
    path: PathBuf,
    to: Destination,
    outputs: Outputs,
}

#[derive(Debug)]
enum Destination {
    /// A regular file, or none yet: written beside and renamed.
    Replace {
        entry: Entry,
        /// Its path, without links, when it was looked at.
        there: Option<PathBuf>,
    },
    /// A FIFO, which is opened when there is something to write.
    Fifo(OwnedFd),
    /// Something else that must not be replaced, such as `/dev/null` or a terminal.
    Into(File),
}

impl OutFile {
    /// A second file, whose name has `suffix` after this one's. It is checked as this one was.
    ///
    /// # Errors
    /// If this one is no regular file, and those of [`Outputs::file`].
    pub(in crate::cli) fn beside_it(&self, suffix: &str) -> Result<OutFile, String> {
        let (path, entry) = self.second(suffix)?;
        let found = entry.and_then(|entry| place::find_entry(entry, &self.outputs.guest));
        self.outputs.prepare(path.clone(), found).map_err(|error| refusal(&path, &error))
    }

    /// A file like that of [`OutFile::beside_it`], but made after the program has begun, which may
    /// have put anything there: so whatever is there is replaced, and no link followed.
    ///
    /// # Errors
    /// If this one is no regular file.
    pub(in crate::cli) fn replacing_beside_it(&self, suffix: &str) -> Result<OutFile, String> {
        let (path, entry) = self.second(suffix)?;
        let entry = entry.map_err(|error| refusal(&path, &error))?;
        let there = entry.path();
        Ok(OutFile { path, to: Destination::Replace { entry, there }, outputs: self.outputs.clone() })
    }

    fn second(&self, suffix: &str) -> Result<(PathBuf, io::Result<Entry>), String> {
        let Destination::Replace { entry, .. } = &self.to else {
            let why = "is no regular file, so none can be written beside it; choose another output file";
            return Err(format!("{}: {why}", self.path.display()));
        };
        let mut name = self.path().unwrap_or_else(|| self.path.clone()).into_os_string();
        name.push(suffix);
        Ok((PathBuf::from(name), entry.beside(suffix)))
    }

    /// Path of the regular file, as the user named it, or where it is now if the program has moved
    /// its directory; `None` for anything else.
    pub(in crate::cli) fn path(&self) -> Option<PathBuf> {
        let Destination::Replace { entry, there } = &self.to else { return None };
        let now = entry.path();
        Some(if now == *there { self.path.clone() } else { now.unwrap_or_else(|| self.path.clone()) })
    }

    /// The place that has to stay writable: the directory, or a FIFO that is not opened yet.
    pub(in crate::cli) fn held(&self) -> Option<BorrowedFd<'_>> {
        match &self.to {
            Destination::Replace { entry, .. } => Some(entry.directory.as_fd()),
            Destination::Fifo(held) => Some(held.as_fd()),
            Destination::Into(_) => None,
        }
    }

    /// Writes the profile. If that fails, a file that was there before is as it was.
    ///
    /// # Errors
    /// What could not be written, and why.
    pub(in crate::cli) fn write(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        let interrupt = &self.outputs.interrupt;
        let result = match &self.to {
            Destination::Replace { entry, .. } => replace(entry, fill),
            Destination::Fifo(held) => Stream::open(held, interrupt).and_then(|to| write_to(to, fill)),
            Destination::Into(file) => {
                file.try_clone().and_then(|file| write_to(Stream::new(file, Arc::clone(interrupt)), fill))
            }
        };
        result.map_err(|error| {
            format!("{}: the profile is not written: {}", self.path.display(), reason(&error))
        })
    }
}

fn replace(entry: &Entry, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let temporary = Temporary::create(entry)?;
    write_to(temporary.file(), fill)?;
    temporary.become_target()
}

fn write_to(to: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(to);
    fill(&mut out)?;
    match out.into_inner() {
        Ok(_) => Ok(()),
        Err(error) => {
            let (error, unwritten) = error.into_parts();
            // Dropped, it would try to write the rest again.
            drop(unwritten.into_parts());
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

    fn prepare(path: &Path) -> Result<OutFile, String> {
        Outputs::default().file(path)
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .expect("list")
            .map(|e| e.expect("entry").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_has_mode_0600_and_no_company() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("out");
        let out = prepare(&path).expect("writable");
        assert!(names(dir.path()).is_empty(), "preparing leaves nothing");
        out.write(|w| w.write_all(b"profile")).expect("write");
        assert_eq!(names(dir.path()), ["out"]);
        assert_eq!(fs::read(&path).expect("read"), b"profile");
        assert_eq!(fs::metadata(&path).expect("stat").permissions().mode() & 0o7777, 0o600);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("out");
        fs::write(&path, b"old").expect("write");
        let out = prepare(&path).expect("writable");
        let error = out.write(|w| w.write_all(b"half").and(Err(io::Error::other("disk full"))));
        assert!(error.expect_err("fails").contains("disk full"));
        assert_eq!(fs::read(&path).expect("read"), b"old");
        assert_eq!(names(dir.path()), ["out"]);
        out.write(|w| w.write_all(b"new")).expect("write");
        assert_eq!(fs::read(&path).expect("read"), b"new");
    }

    #[test]
    fn a_failed_rename_leaves_nothing() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("out");
        let out = prepare(&path).expect("writable");
        fs::create_dir(&path).expect("mkdir");
        assert!(out.write(|w| w.write_all(b"x")).is_err());
        assert_eq!(names(dir.path()), ["out"]);
        assert!(names(&path).is_empty());
    }

    #[test]
    fn devices_are_written_into() {
        let path = Path::new("/dev/null");
        prepare(path).expect("writable").write(|w| w.write_all(b"x")).expect("write");
        assert!(fs::metadata(path).expect("stat").file_type().is_char_device());
    }

    #[test]
    fn links_are_followed_even_into_the_void() {
        let dir = tempfile::tempdir().expect("dir");
        fs::create_dir(dir.path().join("sub")).expect("mkdir");
        let (link, target) = (dir.path().join("link"), dir.path().join("sub/target"));
        symlink("sub/hop", &link).expect("symlink");
        symlink("target", dir.path().join("sub/hop")).expect("symlink");
        for text in ["one", "two"] {
            let out = prepare(&link).expect("writable");
            out.write(|w| w.write_all(text.as_bytes())).expect("write");
            assert_eq!(fs::read_to_string(&target).expect("read"), text);
            assert!(fs::symlink_metadata(&link).expect("stat").is_symlink());
        }
        symlink("loop", dir.path().join("loop")).expect("symlink");
        assert!(prepare(&dir.path().join("loop")).is_err());
    }

    #[test]
    fn what_cannot_be_written_is_found_first() {
        let dir = tempfile::tempdir().expect("dir");
        fs::write(dir.path().join("file"), b"").expect("write");
        let long = "x".repeat(300);
        for name in ["", "none/", "none/out", "file/out", long.as_str()] {
            let path = dir.path().join(name);
            let error = prepare(&path).expect_err(name);
            assert!(error.starts_with(&path.display().to_string()) && !error.contains('\n'), "{error}");
        }
        assert!(prepare(dir.path()).is_err());
        assert_eq!(names(dir.path()), ["file"]);
    }

    /// A file is a leftover only if its writer is gone, it is ours and it has our name.
    #[test]
    fn leftovers_of_killed_runs_are_removed() {
        let dir = tempfile::tempdir().expect("dir");
        let at = |name: &str| dir.path().join(name);
        for name in [".cgemu.1.0.tmp", ".cgemu.1.1.tmp", ".cgemu.1.2.tmp", ".cgemu.x.0.tmp", "other"] {
            fs::write(at(name), b"half").expect("write");
        }
        symlink("other", at(".cgemu.1.3.tmp")).expect("symlink");
        fs::create_dir(at(".cgemu.1.4.tmp")).expect("mkdir");
        fs::hard_link(at(".cgemu.1.1.tmp"), at("second name")).expect("link");
        let writing = File::open(at(".cgemu.1.2.tmp")).expect("open");
        writing.lock().expect("flock");
        let out = prepare(&at("out")).expect("writable");
        let kept = [
            ".cgemu.1.1.tmp",
            ".cgemu.1.2.tmp",
            ".cgemu.1.3.tmp",
            ".cgemu.1.4.tmp",
            ".cgemu.x.0.tmp",
            "other",
            "second name",
        ];
        assert_eq!(names(dir.path()), kept);
        out.write(|w| w.write_all(b"x")).expect("write");
        drop(writing);
        prepare(&at("out")).expect("writable");
        assert!(!at(".cgemu.1.2.tmp").exists());
    }

    /// Here the test does as a program could, with the same permissions.
    #[test]
    fn names_that_change_meanwhile_lead_nowhere_else() {
        let dir = tempfile::tempdir().expect("dir");
        let at = |name: &str| dir.path().join(name);
        for name in ["in", "away"] {
            fs::create_dir(at(name)).expect("mkdir");
        }
        let out = prepare(&at("in/out")).expect("writable");
        let side = out.beside_it(".side").expect("writable");
        fs::rename(at("in"), at("moved")).expect("rename");
        symlink("away", at("in")).expect("symlink");
        for name in ["out", "out.side", "out.1"] {
            symlink("../away/victim", at("moved").join(name)).expect("symlink");
        }
        for file in [&out, &side, &out.replacing_beside_it(".1").expect("a part")] {
            file.write(|w| w.write_all(b"profile")).expect("write");
        }
        assert_eq!(out.path().expect("a path"), at("moved/out").canonicalize().expect("there"));
        assert!(names(&at("away")).is_empty());
        assert_eq!(names(&at("moved")), ["out", "out.1", "out.side"]);
        assert!(fs::symlink_metadata(at("moved/out.1")).expect("stat").is_file());
    }

    #[test]
    fn a_fifo_is_held_and_waited_for_until_the_end_is_wanted() {
        let dir = tempfile::tempdir().expect("dir");
        let (fifo, moved) = (dir.path().join("fifo"), dir.path().join("moved"));
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("mkfifo");
        let interrupt = Arc::new(AtomicUsize::new(15));
        let out =
            Outputs::new(GuestWritable::default(), Arc::clone(&interrupt)).file(&fifo).expect("writable");
        let error = out.write(|w| w.write_all(b"x")).expect_err("nobody reads");
        assert!(error.contains("nobody reads it"), "{error}");
        fs::rename(&fifo, &moved).expect("rename");
        symlink("victim", &fifo).expect("symlink");
        interrupt.store(0, std::sync::atomic::Ordering::Relaxed);
        let reader = std::thread::spawn(move || fs::read(moved));
        out.write(|w| w.write_all(b"profile")).expect("write");
        assert_eq!(reader.join().expect("a thread").expect("read"), b"profile");
        assert!(!dir.path().join("victim").exists());
        assert!(out.beside_it(".side").is_err() && out.path().is_none());
    }
}
