//! Buffers of records on their way from the recorder to the consumers and back.

use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use crate::hooks::control::AccountId;
use crate::hooks::executions::Tally;
use crate::hooks::plan::Plan;
use crate::hooks::record::instructions;

/// Message to the recorder.
pub(super) enum Back {
    /// A buffer that nobody reads any more, and the number of its instructions.
    Empty(Box<[u64]>, u64),
    /// A consumer has put much off that the recorder could do.
    Behind,
}

/// Full buffer, which every consumer reads. It goes back when the last of them lets it go.
pub(super) struct Full {
    words: Box<[u64]>,
    len: usize,
    /// Plans that are new.
    pub(super) plans: Vec<Arc<Plan>>,
    /// Counts that generated code has made itself, by account.
    pub(super) tallies: Vec<(AccountId, Tally)>,
    /// Number of its instructions, once a consumer has counted them.
    pub(super) instructions: OnceLock<u64>,
    home: Sender<Back>,
}

impl Full {
    /// The first `len` words of a buffer, which `home` gets back.
    pub(super) fn new(
        words: Box<[u64]>,
        len: usize,
        plans: Vec<Arc<Plan>>,
        tallies: Vec<(AccountId, Tally)>,
        home: Sender<Back>,
    ) -> Full {
        Full { words, len, plans, tallies, instructions: OnceLock::new(), home }
    }

    /// Its records.
    pub(super) fn records(&self) -> &[u64] {
        self.words.get(..self.len).unwrap_or_default()
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let instructions = *self.instructions.get_or_init(|| instructions(self.records()));
        // Fails only after the recorder has gone.
        let _ = self.home.send(Back::Empty(std::mem::take(&mut self.words), instructions));
    }
}
