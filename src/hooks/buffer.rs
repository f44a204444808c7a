//! Buffers of records on their way from the recorder to the consumers and back.

use std::ops::Range;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use crate::hooks::control::AccountId;
use crate::hooks::executions::Tally;
use crate::hooks::misses_below::{MissesOf, RecordMiss};
use crate::hooks::plan::Plan;
use crate::hooks::record::instructions;

/// Message to the recorder.
pub(super) enum Back {
    /// A buffer and lists that nobody reads any more, and the number of its instructions.
    Empty(Handed, u64),
    /// A consumer has put much off that the recorder could do.
    Behind,
}

/// Words that the recorder hands over, with what belongs to them.
#[derive(Default)]
pub(super) struct Handed {
    pub(super) words: Box<[u64]>,
    /// Words that are filled.
    pub(super) len: usize,
    /// Plans that are new.
    pub(super) plans: Vec<Arc<Plan>>,
    /// Counts that generated code has made itself, by account.
    pub(super) tallies: Vec<(AccountId, Tally)>,
    /// Accesses of the records that missed the first level, where generated code drives that.
    pub(super) missed: Vec<RecordMiss>,
}

/// Full buffer, which every consumer reads. It goes back when the last of them lets it go.
pub(super) struct Full {
    pub(super) handed: Handed,
    /// Number of its instructions, once a consumer has counted them.
    pub(super) instructions: OnceLock<u64>,
    /// The way back; `None` where it is read at once.
    home: Option<Sender<Back>>,
}

impl Full {
    /// A buffer that was handed over, which `home` gets back.
    pub(super) fn new(handed: Handed, home: Option<Sender<Back>>) -> Full {
        Full { handed, instructions: OnceLock::new(), home }
    }

    /// Its records.
    pub(super) fn records(&self) -> &[u64] {
        let Handed { words, len, .. } = &self.handed;
        words.get(..*len).unwrap_or_default()
    }

    /// Misses of the first level by the records in a range of words.
    pub(super) fn missed(&self, words: Range<usize>) -> MissesOf<'_> {
        MissesOf::within(&self.handed.missed, words)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let instructions = *self.instructions.get_or_init(|| instructions(self.records()));
        if let Some(home) = &self.home {
            // Fails only after the recorder has gone.
            let _ = home.send(Back::Empty(std::mem::take(&mut self.handed), instructions));
        }
    }
}
