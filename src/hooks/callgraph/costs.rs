//! Costs of contexts, calls and jumps, as they are taken out of a graph.

use crate::hooks::counts::Counts;
use crate::hooks::plan::MappingId;

/// Number of a context: a function, as it was entered.
pub(crate) type ContextId = u32;
/// Number of a block in a context; consumers count by it.
pub(crate) type BlockId = u32;
/// Number of an arc.
pub(crate) type ArcId = u32;

/// Events that make inclusive costs other than those of the calls that the program made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disorder {
    /// Calls on a stack that could grow no further, which were taken for jumps.
    pub(crate) cut: u64,
    /// Returns to another stack than that of the calls that have not returned.
    pub(crate) stray: u64,
    /// Entries of code that was not told apart by its callers and level of recursion.
    pub(crate) folded: u64,
}

/// A function, as it was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CostedContext {
    /// Mapping and address of its code.
    pub(crate) code: (MappingId, u64),
    /// Its level of recursion.
    pub(crate) recursion: u32,
    /// Code of its callers, if those are told apart, the last one first.
    pub(crate) callers: Box<[(MappingId, u64)]>,
}

/// Calls from one instruction to one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CostedCall {
    /// The context that calls.
    pub(crate) caller: ContextId,
    /// Mapping and address of the instruction that calls.
    pub(crate) site: (MappingId, u64),
    /// The context that is called.
    pub(crate) callee: ContextId,
    /// Mapping and address of the first instruction there.
    pub(crate) target: (MappingId, u64),
    /// Number of calls.
    pub(crate) calls: u64,
    /// Their costs, with all that they call.
    pub(crate) cost: Counts,
}

/// Jumps from one instruction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CostedJump {
    /// The context of the jump.
    pub(crate) from: ContextId,
    /// Mapping and address of it.
    pub(crate) site: (MappingId, u64),
    /// The context where it leads.
    pub(crate) to: ContextId,
    /// Mapping and address there.
    pub(crate) target: (MappingId, u64),
    /// It is conditional.
    pub(crate) conditional: bool,
    /// Number of times that it was followed.
    pub(crate) count: u64,
}

/// The call graph of an account with its costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallCosts {
    /// The contexts.
    pub(crate) contexts: Vec<CostedContext>,
    /// Own costs, by context, mapping and address of an instruction; an instruction may come more
    /// than once.
    pub(crate) lines: Vec<(ContextId, MappingId, u64, Counts)>,
    /// The calls.
    pub(crate) calls: Vec<CostedCall>,
    /// The jumps, if they are collected.
    pub(crate) jumps: Vec<CostedJump>,
    /// Events that their costs suffer from.
    pub(crate) disorder: Disorder,
}

impl CallCosts {
    /// Adds what another consumer of the same records has counted: its misses. What follows from
    /// the executions of blocks, both have.
    pub(crate) fn complete(&mut self, other: &CallCosts) {
        let add = |sum: &mut Counts, other: &Counts| {
            let own = *sum;
            sum.add(other);
            (sum.ir, sum.dr, sum.dw, sum.bc, sum.bi) = (own.ir, own.dr, own.dw, own.bc, own.bi);
        };
        for (own, other) in self.lines.iter_mut().zip(&other.lines) {
            add(&mut own.3, &other.3);
        }
        for (own, other) in self.calls.iter_mut().zip(&other.calls) {
            add(&mut own.cost, &other.cost);
        }
    }

    /// Drops what has not been executed, which is the same in all consumers of the same records.
    pub(super) fn drop_zeros(&mut self) {
        self.lines.retain(|(_, _, _, counts)| counts.ir != 0);
        self.calls.retain(|call| call.cost.ir != 0);
    }

    /// Adds the graph of another account.
    pub(crate) fn append(&mut self, other: &CallCosts) {
        self.disorder.add(other.disorder);
        let first = self.contexts.len() as ContextId;
        self.contexts.extend(other.contexts.iter().cloned());
        self.lines.extend(
            other.lines.iter().map(|&(context, mapping, pc, counts)| (first + context, mapping, pc, counts)),
        );
        self.calls.extend(other.calls.iter().map(|call| CostedCall {
            caller: first + call.caller,
            callee: first + call.callee,
            ..*call
        }));
        let moved = |jump: &CostedJump| CostedJump { from: first + jump.from, to: first + jump.to, ..*jump };
        self.jumps.extend(other.jumps.iter().map(moved));
    }
}
