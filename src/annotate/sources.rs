//! Source files on the disk, also those that have moved: `--source-path FROM=TO`.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::str::FromStr;
use std::time::SystemTime;

/// Largest source file that is read whole, in bytes.
const LARGEST: u64 = 64 << 20;

/// A directory that has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePath {
    from: String,
    to: String,
}

impl FromStr for SourcePath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((from, to)) if !from.is_empty() => Ok(Self { from: from.to_owned(), to: to.to_owned() }),
            _ => {
                Err("expected FROM=TO: the beginning of a recorded path, and what to put in its place"
                    .to_owned())
            }
        }
    }
}

/// The path of the file that was recorded as `name`. The longest beginning decides, the last of
/// those of equal length. A beginning ends where a component of the path does.
fn remap(name: &[u8], paths: &[SourcePath]) -> Vec<u8> {
    let fits = |path: &&SourcePath| {
        let from = path.from.as_bytes();
        name.strip_prefix(from)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || from.ends_with(b"/"))
    };
    match paths.iter().filter(fits).max_by_key(|path| path.from.len()) {
        Some(path) => [path.to.as_bytes(), name.get(path.from.len()..).unwrap_or_default()].concat(),
        None => name.to_vec(),
    }
}

/// Lines of source files, each file read once.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    paths: Vec<SourcePath>,
    files: HashMap<Vec<u8>, Vec<Vec<u8>>>,
}

impl Sources {
    /// Sources of which some directories have moved.
    pub(crate) fn new(paths: &[SourcePath]) -> Self {
        Self { paths: paths.to_vec(), files: HashMap::new() }
    }

    /// A line, counted from 1, without its end; `None` if the file cannot be read or is shorter.
    pub(crate) fn line(&mut self, file: &[u8], line: u64) -> Option<&[u8]> {
        let paths = &self.paths;
        let lines = self.files.entry(file.to_vec()).or_insert_with(|| split(&remap(file, paths)));
        let at = usize::try_from(line.checked_sub(1)?).ok()?;
        lines.get(at).map(Vec::as_slice)
    }
}

fn split(path: &[u8]) -> Vec<Vec<u8>> {
    let text = read(Path::new(OsStr::from_bytes(path))).unwrap_or_default();
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for line in &mut lines {
        line.pop_if(|last| *last == b'\r');
    }
    lines
}

/// The lines of a source file as text; `None` if it cannot be read.
pub(crate) fn text_lines(path: &str) -> Option<Vec<String>> {
    let bytes = read(Path::new(path))?;
    Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

/// Reads a regular file of a reasonable size.
fn read(path: &Path) -> Option<Vec<u8>> {
    let fits = std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= LARGEST);
    fits.then(|| std::fs::read(path).ok()).flatten()
}

/// A source file that has been opened.
#[derive(Debug)]
pub(crate) struct OpenSource<'a> {
    /// The name in the profile.
    pub(crate) name: &'a [u8],
    /// The lines.
    pub(crate) lines: FileLines<BufReader<File>>,
    /// The time of its last change; `None` if the system does not say.
    pub(crate) modified: Option<SystemTime>,
}

/// The reason why no source file was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A file cannot be read.
    Missing,
    /// Files differ.
    Differ,
}

/// Opens the first of several files that should be identical; `None` if there are no names. The
/// time is that of the oldest.
///
/// # Errors
/// If one cannot be read or differs from the first.
pub(crate) fn open_same<'a>(
    names: &'a BTreeSet<Vec<u8>>,
    paths: &[SourcePath],
) -> Result<Option<OpenSource<'a>>, Unreadable> {
    let mut opened = Vec::new();
    for name in names {
        opened.push((name, open(name, paths).map_err(|_| Unreadable::Missing)?));
    }
    let mut opened = opened.into_iter();
    let Some((name, (mut source, mut modified))) = opened.next() else { return Ok(None) };
    for (_, (mut other, time)) in opened {
        let same = same_bytes(&mut source, &mut other);
        match (same, open(name, paths)) {
            (Ok(true), Ok((from_start, _))) => source = from_start,
            (Ok(false), Ok(_)) => return Err(Unreadable::Differ),
            _ => return Err(Unreadable::Missing),
        }
        modified = modified.min(time);
    }
    Ok(Some(OpenSource { name, lines: FileLines(source), modified }))
}

/// Opens a source file; only a regular one, since others may have no end.
fn open(name: &[u8], paths: &[SourcePath]) -> io::Result<(BufReader<File>, Option<SystemTime>)> {
    let name = remap(name, paths);
    let path = Path::new(OsStr::from_bytes(&name));
    let data = std::fs::metadata(path)?;
    if !data.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((BufReader::new(File::open(path)?), data.modified().ok()))
}

/// Compares two inputs to their ends.
fn same_bytes(one: &mut impl BufRead, other: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left.get(..length) != right.get(..length) {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Lines without their ends. They end where the input cannot be read on.
#[derive(Debug)]
pub(crate) struct FileLines<R>(R);

impl<R: BufRead> Iterator for FileLines<R> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        if self.0.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            return None;
        }
        if line.pop_if(|last| *last == b'\n').is_some() {
            line.pop_if(|last| *last == b'\r');
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_paths() {
        let paths: Vec<SourcePath> = ["/build=/src", "/build/x=/y", ".=/here/", "/b/=c/"]
            .iter()
            .map(|t| t.parse().expect("valid"))
            .collect();
        for (name, expected) in [
            ("/build/a.c", "/src/a.c"),
            ("/build/x/a.c", "/y/a.c"),
            ("/build/xy/a.c", "/src/xy/a.c"),
            ("/builder/a.c", "/builder/a.c"),
            ("/build", "/src"),
            ("./csu/a.c", "/here//csu/a.c"),
            ("/b/a.c", "c/a.c"),
            ("a.c", "a.c"),
        ] {
            assert_eq!(String::from_utf8_lossy(&remap(name.as_bytes(), &paths)), expected);
        }
        for bad in ["", "=", "=x", "x"] {
            assert!(bad.parse::<SourcePath>().is_err(), "{bad}");
        }
    }
}
