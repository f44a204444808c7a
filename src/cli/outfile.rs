//! The output file: checked before the run, replaced in one step after it. Whoever looks at the
//! name sees the whole old profile or the whole new one.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::lookup::reason;

/// Links that are followed to find the file to replace; the kernel's limit (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// A place for a profile that could be written when it was looked at.
#[derive(Debug)]
pub(super) struct OutFile {
    path: PathBuf,
    how: How,
}

#[derive(Debug)]
enum How {
    /// A regular file, or none yet: written beside and renamed.
    Replace,
    /// Something that must not be replaced, such as `/dev/null` or a pipe: written into.
    Into,
}

impl OutFile {
    /// Checks that `path` can be written, and leaves it as it is. The path must be absolute.
    ///
    /// # Errors
    /// A directory, a directory that is missing or cannot be written, a file that cannot be
    /// written.
    pub(super) fn prepare(path: &Path) -> Result<OutFile, String> {
        let fail = |why: &str| Err(format!("{}: {why}; choose another output file", path.display()));
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return fail("is the name of a directory");
        }
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => fail("is a directory"),
            Ok(data) => {
                if let Err(error) = access(path, Access::WRITE_OK) {
                    return fail(&reason(&error.into()));
                }
                if !data.is_file() || is_our_output(&data) || names_descriptor(path) {
                    return Ok(OutFile { path: path.to_owned(), how: How::Into });
                }
                OutFile::beside(path)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => OutFile::beside(path),
            Err(error) => fail(&reason(&error)),
        }
    }

    /// A file that will be replaced: proves that its directory takes new files.
    fn beside(path: &Path) -> Result<OutFile, String> {
        let fail = |error: io::Error| {
            format!("{}: cannot be created: {}; choose another output file", path.display(), reason(&error))
        };
        let path = follow(path).map_err(fail)?;
        let probe = Temporary::create(&path).map_err(fail)?;
        drop(probe);
        Ok(OutFile { path, how: How::Replace })
    }

    /// A second file, whose name has `suffix` after this one's.
    ///
    /// # Errors
    /// If this one is no regular file, and those of [`OutFile::prepare`].
    pub(super) fn beside_it(&self, suffix: &str) -> Result<OutFile, String> {
        let mut name = self.path.clone().into_os_string();
        if matches!(self.how, How::Into) {
            let why = "is no regular file, so none can be written beside it; choose another output file";
            return Err(format!("{}: {why}", self.path.display()));
        }
        name.push(suffix);
        OutFile::prepare(Path::new(&name))
    }

    /// Writes the profile. If that fails, a file that was there before is as it was.
    ///
    /// # Errors
    /// What could not be written, and why.
    pub(super) fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
        let result = match self.how {
            How::Replace => self.replace(fill),
            // Appending, lest a profile overwrite what the program put into the same file.
            How::Into => OpenOptions::new()
                .append(true)
                .open(&self.path)
                .and_then(|file| fill_file(file, fill).map(drop)),
        };
        result.map_err(|error| {
            format!("{}: the profile is not written: {}", self.path.display(), reason(&error))
        })
    }

    fn replace(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut temporary = Temporary::create(&self.path)?;
        if let Some(file) = temporary.file.take() {
            fill_file(file, fill)?;
        }
        fs::rename(&temporary.path, &self.path)?;
        temporary.keep = true;
        Ok(())
    }
}

fn fill_file(file: File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A new file in the directory of the one it will become; removed unless kept.
struct Temporary {
    path: PathBuf,
    file: Option<File>,
    keep: bool,
}

impl Temporary {
    fn create(target: &Path) -> io::Result<Temporary> {
        let directory = target.parent().unwrap_or(Path::new("/"));
        // Tells what the short temporary name would hide: a target name that is too long.
        if let Err(error) = fs::symlink_metadata(target)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut number = 0u32;
        loop {
            let path = directory.join(format!(".cgemu.{}.{number}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Ok(Temporary { path, file: Some(file), keep: false }),
                // Left by a process that had this ID before and was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The file a chain of symbolic links ends at, whether it exists or not: a rename would replace the
/// link.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            // EINVAL: no link. ENOENT: nothing there yet.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// True for the file that is our standard output or error, redirected.
fn is_our_output(data: &fs::Metadata) -> bool {
    let same = |fd: rustix::fd::BorrowedFd<'_>| {
        rustix::fs::fstat(fd).is_ok_and(|stat| stat.st_dev == data.dev() && stat.st_ino == data.ino())
    };
    same(io::stdout().as_fd()) || same(io::stderr().as_fd())
}

/// True for names of open descriptors, which a rename would go past.
fn names_descriptor(path: &Path) -> bool {
    let names: [&OsStr; 3] = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].map(OsStr::new);
    names.contains(&path.as_os_str())
        || ["/dev/fd", "/proc/self/fd"].iter().any(|directory| path.parent() == Some(Path::new(directory)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

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
        let out = OutFile::prepare(&path).expect("writable");
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
        let out = OutFile::prepare(&path).expect("writable");
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
        let out = OutFile::prepare(&path).expect("writable");
        fs::create_dir(&path).expect("mkdir");
        assert!(out.write(|w| w.write_all(b"x")).is_err());
        assert_eq!(names(dir.path()), ["out"]);
        assert!(names(&path).is_empty());
    }

    #[test]
    fn devices_are_written_into() {
        let path = Path::new("/dev/null");
        OutFile::prepare(path).expect("writable").write(|w| w.write_all(b"x")).expect("write");
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
            let out = OutFile::prepare(&link).expect("writable");
            out.write(|w| w.write_all(text.as_bytes())).expect("write");
            assert_eq!(fs::read_to_string(&target).expect("read"), text);
            assert!(fs::symlink_metadata(&link).expect("stat").is_symlink());
        }
        symlink("loop", dir.path().join("loop")).expect("symlink");
        assert!(OutFile::prepare(&dir.path().join("loop")).is_err());
    }

    #[test]
    fn what_cannot_be_written_is_found_first() {
        let dir = tempfile::tempdir().expect("dir");
        fs::write(dir.path().join("file"), b"").expect("write");
        let long = "x".repeat(300);
        for name in ["", "none/", "none/out", "file/out", long.as_str()] {
            let path = dir.path().join(name);
            let error = OutFile::prepare(&path).expect_err(name);
            assert!(error.starts_with(&path.display().to_string()) && !error.contains('\n'), "{error}");
        }
        assert!(OutFile::prepare(dir.path()).is_err());
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn a_temporary_file_of_another_run_is_left_alone() {
        let dir = tempfile::tempdir().expect("dir");
        let stale = dir.path().join(format!(".cgemu.{}.0.tmp", std::process::id()));
        fs::write(&stale, b"stale").expect("write");
        let out = OutFile::prepare(&dir.path().join("out")).expect("writable");
        out.write(|w| w.write_all(b"x")).expect("write");
        assert_eq!(fs::read(&stale).expect("read"), b"stale");
    }

    #[test]
    fn descriptors_by_name() {
        for path in ["/dev/stdout", "/dev/fd/3", "/proc/self/fd/1"] {
            assert!(names_descriptor(Path::new(path)), "{path}");
        }
        for path in ["/dev/fd", "/tmp/stdout", "/dev/shm/x"] {
            assert!(!names_descriptor(Path::new(path)), "{path}");
        }
    }
}
