//! Parts of the costs of a call graph: what asks for them, and what they hold.

use std::sync::Arc;

use crate::hooks::callgraph::costs::{ArcId, CallCosts};
use crate::hooks::plan::MappingId;

/// Code of the function that asks for a part: its mapping and address.
pub(crate) type CodeAt = (MappingId, u64);

/// End of a part of the costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// The function there is entered.
    Before(CodeAt),
    /// The function there is left.
    After(CodeAt),
    /// So many instructions have been executed since the part before.
    Instructions(u64),
    /// Somebody outside of the run has asked for it.
    Ordered,
    /// The program has asked for it, for the reason with this number.
    Request(u32),
}

/// The costs from the dump before, or from the beginning, to what triggers this one.
#[derive(Clone, Debug)]
pub(crate) struct Dump {
    /// The reason.
    pub(crate) trigger: Trigger,
    /// The costs; calls that have not returned cost what they have cost until then.
    pub(crate) costs: CallCosts,
}

/// The dumps of an account, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dumps {
    /// Those that were made.
    pub(crate) made: Vec<Arc<Dump>>,
    /// Number of those that were not made, since they would take too much memory.
    pub(crate) left_out: u64,
    /// Lines and calls in all.
    lines: usize,
    /// Bytes in all.
    bytes: u64,
}

/// Most dumps of an account: the next number could be the process ID in the name of another file.
const MOST_DUMPS: usize = 999;

/// Most lines and calls in the dumps of an account.
const MOST_LINES: usize = 1 << 20;

impl Dumps {
    /// True if there is room for another; otherwise notes that it is left out.
    pub(super) fn has_room(&mut self) -> bool {
        let is_full = self.made.len() >= MOST_DUMPS || self.lines >= MOST_LINES;
        self.left_out += u64::from(is_full);
        !is_full
    }

    /// Adds a part without the costs that are zero.
    pub(super) fn add(&mut self, trigger: Trigger, mut costs: CallCosts) {
        costs.drop_zeros();
        self.lines += costs.lines.len() + costs.calls.len();
        self.bytes += costs.bytes();
        self.made.push(Arc::new(Dump { trigger, costs }));
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the dumps of another account.
    pub(crate) fn append(&mut self, other: &Dumps) {
        self.made.extend(other.made.iter().cloned());
        self.left_out += other.left_out;
        self.lines += other.lines;
        self.bytes += other.bytes;
    }

    /// Adds what another consumer of the same records has counted.
    pub(crate) fn complete(&mut self, other: &Dumps) {
        for (own, its) in self.made.iter_mut().zip(&other.made) {
            Arc::make_mut(own).costs.complete(&its.costs);
        }
    }
}

/// Work of a program's request on the costs so far (callgrind.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collection {
    /// They make a part, for the reason with this number.
    Dump(u32),
    /// They begin at zero.
    Zero,
    /// They are collected from here on if they were not, and the other way round.
    Toggle,
}

/// Treatment of the costs at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Demand {
    Dump(Trigger),
    Zero,
}

/// Demands of the functions that are entered and left between two blocks, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    all: Vec<Demand>,
    /// A call that came after so many of them, and has been counted already.
    pub(super) late: Option<(usize, ArcId)>,
}

impl Demands {
    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds one.
    pub(super) fn add(&mut self, demand: Demand) {
        self.all.push(demand);
    }

    /// Notes that a call was counted now.
    pub(super) fn called(&mut self, arc: ArcId) {
        if !self.all.is_empty() {
            self.late = Some((self.all.len(), arc));
        }
    }

    /// Those before the call that came late, and those after it.
    pub(super) fn split(&self) -> (&[Demand], &[Demand]) {
        self.all.split_at(self.late.map_or(self.all.len(), |(before, _)| before).min(self.all.len()))
    }
}
