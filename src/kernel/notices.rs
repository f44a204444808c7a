//! Lines for the log, each said once.

use std::collections::BTreeSet;

/// Lines for the user, in order.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    said: BTreeSet<String>,
    lines: Vec<String>,
}

impl Notices {
    /// Adds a line unless it was said before.
    pub fn once(&mut self, line: String) {
        if self.said.insert(line.clone()) {
            self.lines.push(line);
        }
    }

    /// The lines, in the order in which they were added.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}
