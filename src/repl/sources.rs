//! Source files as the shell shows them, each read once for as long as it does not change.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::SystemTime;

use crate::annotate::Places;
use crate::annotate::sources::text_lines;

/// The lines of a file, and what tells if it has changed.
struct Text {
    modified: Option<SystemTime>,
    length: u64,
    lines: Rc<Vec<String>>,
}

/// Source files that have been shown.
pub(super) struct Texts {
    places: Places,
    known: BTreeMap<String, Text>,
}

impl Texts {
    /// Source files in these places.
    pub(super) fn new(places: &Places) -> Texts {
        Texts { places: places.clone(), known: BTreeMap::new() }
    }

    /// The reason why a file is not shown.
    pub(super) fn why_not(&self) -> &'static str {
        match self.places.reach.is_limited() {
            false => "cannot be read",
            true => "cannot be read or is outside of --source-root",
        }
    }

    /// The lines of a file; `None` if it cannot be read.
    pub(super) fn lines(&mut self, path: &str) -> Option<Rc<Vec<String>>> {
        let data = std::fs::metadata(path).ok()?;
        let (modified, length) = (data.modified().ok(), data.len());
        let known = self.known.get(path).filter(|text| (text.modified, text.length) == (modified, length));
        if let Some(known) = known {
            return Some(Rc::clone(&known.lines));
        }
        let lines = Rc::new(text_lines(path, &self.places)?);
        self.known.insert(path.to_owned(), Text { modified, length, lines: Rc::clone(&lines) });
        Some(lines)
    }

    /// A line, counted from 1.
    pub(super) fn line(&mut self, path: &str, number: u64) -> Option<String> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lines(path)?.get(at).cloned()
    }
}
