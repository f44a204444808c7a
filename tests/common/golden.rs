//! Golden files: outputs that somebody has read and found right.

use std::fs;
use std::path::Path;

use super::vars::BLESS;

/// Compares an output with its golden file and says where they differ. With `BLESS=1` the file is
/// written instead, to be read as a difference before it is committed. A file that is missing
/// fails.
pub fn compare(file: &Path, actual: &[u8]) -> Result<(), String> {
    if std::env::var_os(BLESS).is_some() {
        return fs::write(file, actual).map_err(|error| format!("{}: {error}", file.display()));
    }
    let expected = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (ours, theirs) = (String::from_utf8_lossy(actual), String::from_utf8_lossy(&expected));
    if actual == expected { Ok(()) } else { Err(difference(&ours, &theirs)) }
}

/// The first line that differs: ours, then theirs.
pub fn difference(ours: &str, theirs: &str) -> String {
    let pairs = ours.lines().chain([""]).zip(theirs.lines().chain([""]));
    let first = pairs.enumerate().find(|(_, (a, b))| a != b);
    first.map_or("in length".to_owned(), |(at, (a, b))| format!("line {}:\n  {a}\n  {b}", at + 1))
}
