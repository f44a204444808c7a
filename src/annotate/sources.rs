//! Source files on the disk, also those that have moved (`--source-path FROM=TO`), as far as they
//! may be opened (`--source-root DIR`).

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read as _, Take};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::str::FromStr;
use std::time::SystemTime;

use crate::symbols::files::Reach;

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

/// The places of source files: what has moved, and what may be opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Directories that have moved.
    pub(crate) moved: Vec<SourcePath>,
    /// The files that may be opened; of objects too.
    pub(crate) reach: Reach,
}

impl Places {
    /// Opens the file that was recorded as `name`; gives it with its length, in bytes.
    ///
    /// # Errors
    /// Those of [`Reach::open`].
    fn open(&self, name: &[u8]) -> io::Result<(File, Metadata)> {
        let file = self.reach.open(Path::new(OsStr::from_bytes(&remap(name, &self.moved))))?;
        let data = file.metadata()?;
        Ok((file, data))
    }
}

/// Lines of source files, each file read once.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    places: Places,
    files: HashMap<Vec<u8>, Vec<Vec<u8>>>,
}

impl Sources {
    /// Sources in these places.
    pub(crate) fn new(places: &Places) -> Self {
        Self { places: places.clone(), files: HashMap::new() }
    }

    /// A line, counted from 1, without its end; `None` if the file cannot be read or is shorter.
    pub(crate) fn line(&mut self, file: &[u8], line: u64) -> Option<&[u8]> {
        let places = &self.places;
        let lines = self.files.entry(file.to_vec()).or_insert_with(|| split(&read(file, places)));
        let at = usize::try_from(line.checked_sub(1)?).ok()?;
        lines.get(at).map(Vec::as_slice)
    }
}

fn split(text: &Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let Some(text) = text.as_ref().filter(|text| !text.is_empty()) else { return Vec::new() };
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for line in &mut lines {
        line.pop_if(|last| *last == b'\r');
    }
    lines
}

/// The lines of a source file as text; `None` if it cannot be read.
pub(crate) fn text_lines(path: &str, places: &Places) -> Option<Vec<String>> {
    let bytes = read(path.as_bytes(), places)?;
    Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

/// Reads a regular file of a reasonable size.
fn read(name: &[u8], places: &Places) -> Option<Vec<u8>> {
    let (file, data) = places.open(name).ok().filter(|(_, data)| data.len() <= LARGEST)?;
    let mut bytes = Vec::new();
    file.take(data.len()).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A source file that has been opened.
#[derive(Debug)]
pub(crate) struct OpenSource<'a> {
    /// The name in the profile.
    pub(crate) name: &'a [u8],
    /// The lines.
    pub(crate) lines: FileLines<BufReader<Take<File>>>,
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
    places: &Places,
) -> Result<Option<OpenSource<'a>>, Unreadable> {
    let mut opened = Vec::new();
    for name in names {
        opened.push((name, open(name, places).map_err(|_| Unreadable::Missing)?));
    }
    let mut opened = opened.into_iter();
    let Some((name, (mut source, mut modified))) = opened.next() else { return Ok(None) };
    for (_, (mut other, time)) in opened {
        let same = same_bytes(&mut source, &mut other);
        match (same, open(name, places)) {
            (Ok(true), Ok((from_start, _))) => source = from_start,
            (Ok(false), Ok(_)) => return Err(Unreadable::Differ),
            _ => return Err(Unreadable::Missing),
        }
        modified = modified.min(time);
    }
    Ok(Some(OpenSource { name, lines: FileLines(source), modified }))
}

/// Opens a source file. No more is read than its length, since files of /proc have none and may
/// wait.
fn open(name: &[u8], places: &Places) -> io::Result<(BufReader<Take<File>>, Option<SystemTime>)> {
    let (file, data) = places.open(name)?;
    Ok((BufReader::new(file.take(data.len())), data.modified().ok()))
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

/// Lines without their ends. They end where the input cannot be read on; one that is longer than
/// any file that is read whole comes in parts.
#[derive(Debug)]
pub(crate) struct FileLines<R>(R);

impl<R: BufRead> Iterator for FileLines<R> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        if (&mut self.0).take(LARGEST).read_until(b'\n', &mut line).unwrap_or(0) == 0 {
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
    fn no_lines_behind_the_last() {
        let lines = |text: &str| split(&Some(text.into())).len();
        assert_eq!([lines(""), lines("a"), lines("a\n"), lines("a\n\n"), lines("\n")], [0, 1, 1, 2, 1]);
        assert_eq!(split(&Some(b"a\r\nb\n".to_vec())), [b"a", b"b"]);
        assert_eq!(split(&None).len(), 0);
    }

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
