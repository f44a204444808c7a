//! Lines for the log, each said once.

use std::collections::BTreeSet;

/// Lines for the user, in order.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    said: BTreeSet<String>,
    new: Vec<String>,
}

impl Notices {
    /// Adds a line unless it was said before.
    pub fn once(&mut self, line: String) {
        if self.said.insert(line.clone()) {
            self.new.push(line);
        }
    }

    /// The lines added since the last call.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}
