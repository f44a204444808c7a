//! Source files where they are now: `--source-path FROM=TO`, and lines of them.

use std::collections::HashMap;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::str::FromStr;

/// Largest source file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// A directory that is elsewhere now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePath {
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

/// Where the file that was recorded as `name` is to be looked for: the longest beginning that is given decides, and of those
/// as long the last. A beginning ends where a component of the path does.
pub fn remap(name: &[u8], paths: &[SourcePath]) -> Vec<u8> {
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
pub struct Sources {
    paths: Vec<SourcePath>,
    files: HashMap<Vec<u8>, Vec<Vec<u8>>>,
}

impl Sources {
    /// Looks for files as `paths` says.
    pub fn new(paths: &[SourcePath]) -> Self {
        Self { paths: paths.to_vec(), files: HashMap::new() }
    }

    /// A line, counted from 1, without its end; `None` if the file cannot be read or is shorter.
    pub fn line(&mut self, file: &[u8], line: u64) -> Option<&[u8]> {
        let paths = &self.paths;
        let lines = self.files.entry(file.to_vec()).or_insert_with(|| read(&remap(file, paths)));
        let at = usize::try_from(line.checked_sub(1)?).ok()?;
        lines.get(at).map(Vec::as_slice)
    }
}

fn read(path: &[u8]) -> Vec<Vec<u8>> {
    let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
    let fits = std::fs::metadata(&path).is_ok_and(|data| data.is_file() && data.len() <= LARGEST);
    let text = if fits { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for line in &mut lines {
        line.pop_if(|last| *last == b'\r');
    }
    lines
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
