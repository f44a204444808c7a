//! Finds the program to run, as execvp(3) does.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fd::AsRawFd as _;
use rustix::fs::{Access, Mode, OFlags, ResolveFlags, access, open, openat2};
use rustix::io::Errno;

pub(super) use crate::profile::reason;
use crate::session::StartError;

/// Finds a program: a name with a slash as it stands, any other in the directories of `path`, the
/// guest's `PATH`.
///
/// # Errors
/// `NotFound` where there is no such file, `NotExecutable` for a directory or a file that the user
/// may not execute.
pub(super) fn find(name: &OsStr, path: &OsStr) -> Result<PathBuf, StartError> {
    search(name, path, runnable)
}

fn search(
    name: &OsStr,
    path: &OsStr,
    runnable: impl Fn(&Path) -> Result<(), Failure>,
) -> Result<PathBuf, StartError> {
    let shown = name.display();
    if name.is_empty() {
        return Err(StartError::NotFound("the program has no name; name a file to run".to_owned()));
    }
    if name.as_bytes().contains(&b'/') {
        return match runnable(Path::new(name)) {
            Ok(()) => Ok(name.into()),
            Err(Failure::Absent(why)) => {
                Err(StartError::NotFound(format!("{shown}: {why}; check the program's name")))
            }
            Err(Failure::Unfit(why)) => Err(StartError::NotExecutable(format!("{shown}: {why}"))),
        };
    }
    let mut unfit = None;
    for directory in path.as_bytes().split(|&b| b == b':') {
        // An empty element is the current directory.
        let directory = if directory.is_empty() { b"." } else { directory };
        let candidate = Path::new(OsStr::from_bytes(directory)).join(name);
        match runnable(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(Failure::Unfit(why)) => {
                unfit.get_or_insert_with(|| format!("{}: {why}", candidate.display()));
            }
            Err(Failure::Absent(_)) => {}
        }
    }
    Err(match unfit {
        Some(message) => StartError::NotExecutable(message),
        None => StartError::NotFound(format!(
            "{shown}: not found in {}; for a file of this directory write ./{shown}",
            path.display()
        )),
    })
}

/// Finds a program in a directory that is its root: a name with a slash from there on, any other in
/// the directories of `path` in there. The result is a path in the emulated machine.
///
/// # Errors
/// Those of [`find`].
pub(super) fn find_in(root: &Path, name: &OsStr, path: &OsStr) -> Result<PathBuf, StartError> {
    let held =
        |error: Errno| StartError::Other(format!("--root={}: {}", root.display(), reason(&error.into())));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = open(root, flags, Mode::empty()).map_err(held)?;
    let runnable_inside = |file: &Path| {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        // Links lead to what they lead to inside.
        let found = openat2(&root, file, flags, Mode::empty(), ResolveFlags::IN_ROOT);
        let found = found.map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => Failure::Absent(reason(&error.into())),
            error => Failure::Unfit(reason(&error.into())),
        })?;
        runnable(Path::new(&format!("/proc/self/fd/{}", found.as_raw_fd())))
    };
    search(name, path, runnable_inside).map(|found| Path::new("/").join(found))
}

/// The reason why a file is not run.
enum Failure {
    Absent(String),
    Unfit(String),
}

/// Checks that a file is there, is a regular file and may be executed.
fn runnable(file: &Path) -> Result<(), Failure> {
    let metadata = std::fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Failure::Absent(reason(&error)),
        _ => Failure::Unfit(reason(&error)),
    })?;
    if metadata.is_dir() {
        return Err(Failure::Unfit("is a directory; name a program".to_owned()));
    }
    if !metadata.is_file() {
        return Err(Failure::Unfit("is no regular file; name a program".to_owned()));
    }
    match access(file, Access::EXEC_OK) {
        Ok(()) => Ok(()),
        Err(Errno::ACCESS) => {
            Err(Failure::Unfit("permission denied; make it executable with chmod +x".to_owned()))
        }
        Err(error) => Err(Failure::Unfit(reason(&error.into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn program(directory: &Path, name: &str, mode: u32) {
        let file = directory.join(name);
        fs::write(&file, b"x").expect("write");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("chmod");
    }

    #[test]
    fn searches_in_order_past_what_cannot_run() {
        let (a, b) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        program(a.path(), "both", 0o755);
        program(b.path(), "both", 0o755);
        program(a.path(), "shadowed", 0o644);
        program(b.path(), "shadowed", 0o755);
        program(b.path(), "plain", 0o644);
        fs::create_dir(a.path().join("folder")).expect("mkdir");
        let path = format!("/nonexistent:{}:{}", a.path().display(), b.path().display());
        let find = |name: &str| find(OsStr::new(name), OsStr::new(&path));
        assert_eq!(find("both").expect("found"), a.path().join("both"));
        assert_eq!(find("shadowed").expect("found"), b.path().join("shadowed"));
        assert!(matches!(find("plain"), Err(StartError::NotExecutable(_))));
        assert!(matches!(find("folder"), Err(StartError::NotExecutable(_))));
        assert!(matches!(find("absent"), Err(StartError::NotFound(_))));
        assert!(matches!(find(""), Err(StartError::NotFound(_))));
    }

    #[test]
    fn names_with_a_slash_are_not_searched() {
        let dir = tempfile::tempdir().expect("dir");
        program(dir.path(), "tool", 0o755);
        program(dir.path(), "data", 0o600);
        let find = |name: PathBuf| find(name.as_os_str(), OsStr::new("/nonexistent"));
        assert_eq!(find(dir.path().join("tool")).expect("found"), dir.path().join("tool"));
        assert!(matches!(find(dir.path().join("data")), Err(StartError::NotExecutable(_))));
        assert!(matches!(find(dir.path().to_owned()), Err(StartError::NotExecutable(_))));
        assert!(matches!(find(dir.path().join("none")), Err(StartError::NotFound(_))));
        assert!(matches!(find(dir.path().join("tool/x")), Err(StartError::NotFound(_))));
    }

    #[test]
    fn an_empty_element_is_the_current_directory() {
        // Tests run in the package's directory.
        assert!(matches!(find(OsStr::new("Cargo.toml"), OsStr::new("")), Err(StartError::NotExecutable(_))));
    }
}
