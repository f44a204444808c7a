//! Accounts, and the records between those of blocks that tell the consumers what becomes of them.

use crate::hooks::callgraph::dumps::Collection;
use crate::hooks::record::{Header, PlanId};

/// Name of an account: the counts, caches and predictors of a process. Never used again in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AccountId(u32);

impl AccountId {
    /// Account of the first process.
    pub(crate) const FIRST: AccountId = AccountId(0);
    /// No account: what runs is not counted and reaches no simulator.
    pub(crate) const NONE: AccountId = AccountId(u32::MAX);

    /// The account opened after this one.
    pub(super) fn next(self) -> AccountId {
        AccountId(self.0 + 1)
    }

    /// False for [`AccountId::NONE`].
    pub(crate) fn is_counted(self) -> bool {
        self != AccountId::NONE
    }
}

/// Contents of an account at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Empty caches and predictors, no counts: a program that execve(2) has started.
    Empty,
    /// Copies of another account's caches and predictors: a child of fork(2).
    Copy {
        /// The parent's account.
        of: AccountId,
        /// With its counts.
        counts: bool,
    },
    /// Caches and predictors in common with another account, and counts of its own: a thread that
    /// is counted apart.
    Shared {
        /// Account of another thread of the process.
        with: AccountId,
    },
}

/// Instruction to the consumers, in order with the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// The records from here on are this account's.
    Switch(AccountId),
    /// Opens an account.
    Open(AccountId, Opening),
    /// Ends an account; its counts are kept.
    Close(AccountId),
    /// Ends an account and drops its counts.
    Drop(AccountId),
    /// Empties caches and predictors of an account. With `true` its counts go on, else they begin
    /// at zero.
    Reset(AccountId, bool),
    /// Switches counting of the current account on or off.
    Count(bool),
    /// The records from here on are this task's, for the call graph.
    Task(u32),
    /// The costs of the current account's calls so far are treated so.
    Collect(Collection),
    /// Records of this task with so many instructions come later, for the lookout.
    Hold(u32, u32),
    /// The next records are those of this task that were held, with so many instructions.
    Resume(u32, u32),
}

/// Caches or predictors by account that generated code drives.
pub(super) trait ByAccount {
    /// Goes on with an account. What runs is not `counted`, or changes its state.
    fn switch(&mut self, account: AccountId, counted: bool);

    /// Opens an account.
    fn open(&mut self, account: AccountId, opening: Opening);

    /// Sets the state of an account to the initial one.
    fn reset(&mut self, account: AccountId);

    /// Forgets an account that has ended.
    fn forget(&mut self, account: AccountId);

    /// Follows an instruction to the consumers, by which `current` is the account that is `counted`
    /// or not.
    fn follow(&mut self, control: Control, current: AccountId, counted: bool) {
        match control {
            Control::Switch(_) | Control::Count(_) => self.switch(current, counted),
            Control::Open(account, opening) => self.open(account, opening),
            Control::Reset(account, _) => self.reset(account),
            Control::Close(account) | Control::Drop(account) => self.forget(account),
            Control::Task(_) | Control::Collect(_) | Control::Hold(..) | Control::Resume(..) => {}
        }
    }
}

/// Plan of a record that is an instruction to the consumers. No account knows it, so the loops over
/// records end there and need not test for it.
const CONTROL: PlanId = PlanId(u32::MAX);

/// Words of such a record.
pub(super) const CONTROL_WORDS: usize = 4;

impl Control {
    /// Tests whether a header is that of such a record.
    pub(super) fn is(header: Header) -> bool {
        header.plan == CONTROL
    }

    /// Packs an instruction.
    pub(super) fn record(self) -> [u64; CONTROL_WORDS] {
        let header = Header { plan: CONTROL, slots: CONTROL_WORDS - 1, instructions: 0 };
        let (kind, account, other) = match self {
            Control::Switch(account) => (0, account, 0),
            Control::Open(account, Opening::Empty) => (1, account, 0),
            Control::Open(account, Opening::Copy { of, counts }) => (2 + u64::from(counts), account, of.0),
            Control::Open(account, Opening::Shared { with }) => (4, account, with.0),
            Control::Close(account) => (5, account, 0),
            Control::Drop(account) => (6, account, 0),
            Control::Reset(account, keep) => (7 + u64::from(keep), account, 0),
            Control::Count(on) => (9 + u64::from(on), AccountId::NONE, 0),
            Control::Task(task) => (11, AccountId::NONE, task),
            Control::Collect(Collection::Dump(reason)) => (14, AccountId::NONE, reason),
            Control::Collect(Collection::Zero) => (15, AccountId::NONE, 0),
            Control::Collect(Collection::Toggle) => (16, AccountId::NONE, 0),
            Control::Hold(task, instructions) => (12, AccountId(task), instructions),
            Control::Resume(task, instructions) => (13, AccountId(task), instructions),
        };
        [header.word(), kind, u64::from(account.0), u64::from(other)]
    }

    /// Unpacks an instruction.
    pub(super) fn of(slots: &[u64]) -> Option<Control> {
        let &[kind, account, other] = slots else { return None };
        let (account, other) = (AccountId(account as u32), AccountId(other as u32));
        Some(match kind {
            0 => Control::Switch(account),
            1 => Control::Open(account, Opening::Empty),
            2 | 3 => Control::Open(account, Opening::Copy { of: other, counts: kind == 3 }),
            4 => Control::Open(account, Opening::Shared { with: other }),
            5 => Control::Close(account),
            6 => Control::Drop(account),
            7 | 8 => Control::Reset(account, kind == 8),
            9 | 10 => Control::Count(kind == 10),
            11 => Control::Task(other.0),
            12 => Control::Hold(account.0, other.0),
            13 => Control::Resume(account.0, other.0),
            14 => Control::Collect(Collection::Dump(other.0)),
            15 => Control::Collect(Collection::Zero),
            16 => Control::Collect(Collection::Toggle),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_control() {
        let (one, two) = (AccountId::FIRST.next(), AccountId::FIRST.next().next());
        for control in [
            Control::Switch(two),
            Control::Switch(AccountId::NONE),
            Control::Open(two, Opening::Empty),
            Control::Open(two, Opening::Copy { of: one, counts: true }),
            Control::Open(two, Opening::Copy { of: one, counts: false }),
            Control::Open(two, Opening::Shared { with: one }),
            Control::Close(two),
            Control::Drop(two),
            Control::Reset(two, true),
            Control::Reset(two, false),
            Control::Count(true),
            Control::Count(false),
            Control::Task(u32::MAX),
            Control::Collect(Collection::Dump(u32::MAX)),
            Control::Collect(Collection::Zero),
            Control::Collect(Collection::Toggle),
            Control::Hold(7, u32::MAX),
            Control::Resume(u32::MAX, 9),
        ] {
            let record = control.record();
            let header = Header::of(record[0]);
            assert!(Control::is(header) && header.instructions == 0 && header.slots == 3);
            assert_eq!(Control::of(&record[1..]), Some(control));
        }
    }
}
