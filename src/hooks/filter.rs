//! The stage between the recorder and the consumers, once per buffer.

use crate::hooks::fault::{Cause, FaultingInsn};
use rustc_hash::FxHashMap;

use crate::hooks::control::AccountId;
use crate::hooks::plan::MappingId;
use crate::hooks::plan_table::PlanTable;
use crate::hooks::superblock_table::PrivateCode;
use crate::hooks::transitions::Cursor;
use crate::x86::decode::Fetch;

/// Amount of a buffer that a filter has to hand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drain {
    /// The records that no later fault can take back.
    Decided,
    /// All records.
    All,
}

/// Place of a task in what the filter follows, while other tasks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place(pub(super) Cursor);

/// State of a filter, for a checkpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedFilter {
    pub(super) place: Place,
    pub(super) account: Option<AccountId>,
    pub(super) private: FxHashMap<AccountId, PrivateCode>,
}

/// Rewrites records to other plans, in place. The defaults pass every record on as it is.
pub(super) trait RecordFilter {
    /// Learns, before anything has run, that the records are for a call graph.
    fn follow_calls(&mut self) {}

    /// Learns that a block at `pc` of this mapping has been translated, when `recorded` words are
    /// in the buffer.
    fn translated(&mut self, pc: u64, mapping: MappingId, fetch: &mut Fetch<'_>, recorded: usize) {
        let _ = (pc, mapping, fetch, recorded);
    }

    /// Counts the data events of a faulting instruction that are counted with its fetch.
    fn events_before_fault(&self, insn: &mut FaultingInsn<'_>) -> usize {
        let _ = insn;
        0
    }

    /// Learns that the last instruction within the first `recorded` words has faulted.
    fn faulted(&mut self, cause: Cause, recorded: usize) {
        let _ = (cause, recorded);
    }

    /// Rewrites the records of a buffer. Returns the number of words that are ready for the
    /// consumers; the rest comes again, with more behind it.
    fn drain(&mut self, words: &mut [u64], drain: Drain, plans: &mut PlanTable) -> usize {
        let _ = (drain, plans);
        words.len()
    }

    /// Place of the current task, when everything has been drained.
    fn place(&self) -> Place {
        Place::default()
    }

    /// Goes on with another task, of this account, at its place.
    fn enter(&mut self, account: AccountId, place: Place) {
        let _ = (account, place);
    }

    /// Learns of an account with memory of its own.
    fn open(&mut self, account: AccountId) {
        let _ = account;
    }

    /// Learns that the memory of an account is a copy of another's.
    fn copy(&mut self, account: AccountId, of: AccountId) {
        let _ = (account, of);
    }

    /// Learns that the memory of an account is gone.
    fn forget(&mut self, account: AccountId) {
        let _ = account;
    }

    /// Saves the state of the filter.
    fn save(&mut self) -> SavedFilter {
        SavedFilter::default()
    }

    /// Restores the state of the filter. What has not been drained is dropped.
    fn restore(&mut self, saved: &SavedFilter) {
        let _ = saved;
    }
}

/// Filter of the count model `arch`, which counts what is executed.
pub(super) struct Identity;

impl RecordFilter for Identity {}
