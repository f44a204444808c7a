//! Costs of contexts, calls and jumps, as they are taken out of a graph.

use crate::hooks::counts::Counts;
use crate::hooks::plan::MappingId;
use crate::hooks::plan_index::CountedInsn;
use crate::sim::{Pack, PackedList, Packer, Unpacker};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl CostedCall {
    fn numbers(&self) -> [u64; 7] {
        let CostedCall { caller, site, callee, target, calls, .. } = *self;
        [caller.into(), site.0.into(), site.1, callee.into(), target.0.into(), target.1, calls]
    }
}

impl Pack for CostedCall {
    fn pack(&self, before: &CostedCall, packer: &mut Packer) {
        packer.put_all_near(self.numbers(), before.numbers());
        self.cost.pack(&before.cost, packer);
    }

    fn unpack(before: &CostedCall, unpacker: &mut Unpacker<'_>) -> CostedCall {
        let [caller, mapping, pc, callee, target_mapping, target_pc, calls] =
            unpacker.take_all_near(before.numbers());
        CostedCall {
            caller: caller as ContextId,
            site: (mapping as MappingId, pc),
            callee: callee as ContextId,
            target: (target_mapping as MappingId, target_pc),
            calls,
            cost: Counts::unpack(&before.cost, unpacker),
        }
    }
}

/// The call graph of an account with its costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallCosts {
    /// The contexts.
    pub(crate) contexts: Vec<CostedContext>,
    /// Own costs of instructions by context; an instruction may come more than once.
    pub(crate) lines: PackedList<(ContextId, CountedInsn)>,
    /// The calls.
    pub(crate) calls: PackedList<CostedCall>,
    /// The jumps, if they are collected.
    pub(crate) jumps: Vec<CostedJump>,
    /// Events that their costs suffer from.
    pub(crate) disorder: Disorder,
}

impl CallCosts {
    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> u64 {
        let callers: usize = self.contexts.iter().map(|context| size_of_val(&*context.callers)).sum();
        let lists = size_of_val(&*self.contexts) + callers + size_of_val(&*self.jumps);
        lists as u64 + self.lines.bytes() + self.calls.bytes()
    }

    /// Adds what another consumer of the same records has counted: its misses. What follows from
    /// the executions of blocks, both have.
    pub(crate) fn complete(&mut self, other: &CallCosts) {
        let lines = self.lines.iter().zip(other.lines.iter());
        self.lines = lines
            .map(|((context, mut own), (_, other))| {
                own.counts.complete(&other.counts);
                (context, own)
            })
            .collect();
        let calls = self.calls.iter().zip(other.calls.iter());
        self.calls = calls
            .map(|(mut own, other)| {
                own.cost.complete(&other.cost);
                own
            })
            .collect();
    }

    /// Drops what has not been executed, which is the same in all consumers of the same records.
    pub(super) fn drop_zeros(&mut self) {
        self.lines = self.lines.iter().filter(|(_, insn)| insn.counts.ir != 0).collect();
        self.calls = self.calls.iter().filter(|call| call.cost.ir != 0).collect();
    }

    /// Adds the graph of another account.
    pub(crate) fn append(&mut self, other: &CallCosts) {
        self.disorder.add(other.disorder);
        let first = self.contexts.len() as ContextId;
        self.contexts.extend(other.contexts.iter().cloned());
        self.lines.extend(other.lines.iter().map(|(context, insn)| (first + context, insn)));
        let call = |call: CostedCall| CostedCall {
            caller: first + call.caller,
            callee: first + call.callee,
            ..call
        };
        self.calls.extend(other.calls.iter().map(call));
        let moved = |jump: &CostedJump| CostedJump { from: first + jump.from, to: first + jump.to, ..*jump };
        self.jumps.extend(other.jumps.iter().map(moved));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::counts::Misses;

    #[test]
    fn packed_costs_come_back() {
        let misses = Misses { i1mr: 1, ilmr: 0, d1mr: u64::MAX, dlmr: 2, d1mw: 0, dlmw: 7 };
        let all = Counts { ir: 1 << 40, dr: 1, dw: 2, bc: 3, bcm: 4, bi: 5, bim: 6, misses };
        let call = |caller, pc, calls, cost| CostedCall {
            caller,
            site: (3, pc),
            callee: 0,
            target: (u32::MAX, u64::MAX),
            calls,
            cost,
        };
        let calls = [call(1, 9, 1 << 50, all), call(0, 0, 0, Counts::default())];
        assert_eq!(PackedList::from_iter(calls).iter().collect::<Vec<_>>(), calls);
    }

    #[test]
    fn the_graph_of_another_account_has_contexts_of_its_own() {
        let context = |pc| CostedContext { code: (1, pc), recursion: 0, callers: Box::default() };
        let cost = Counts { ir: 3, ..Counts::default() };
        let graph = |pc| CallCosts {
            contexts: vec![context(pc), context(pc + 1)],
            lines: [(1, CountedInsn { at: (1, pc), counts: cost })].into_iter().collect(),
            calls: [CostedCall { caller: 1, callee: 0, calls: 5, cost, ..CostedCall::default() }]
                .into_iter()
                .collect(),
            jumps: vec![CostedJump {
                from: 0,
                site: (1, 2),
                to: 1,
                target: (3, 4),
                conditional: true,
                count: 5,
            }],
            disorder: Disorder { cut: 1, stray: 2, folded: 3 },
        };
        let mut both = graph(0x4000);
        both.append(&graph(0x5000));
        let codes: Vec<u64> = both.contexts.iter().map(|context| context.code.1).collect();
        assert_eq!(codes, [0x4000, 0x4001, 0x5000, 0x5001]);
        let lines: Vec<_> =
            both.lines.iter().map(|(context, insn)| (context, insn.at.1, insn.counts.ir)).collect();
        assert_eq!(lines, [(1, 0x4000, 3), (3, 0x5000, 3)]);
        let calls: Vec<_> = both.calls.iter().map(|call| (call.caller, call.callee, call.calls)).collect();
        assert_eq!(calls, [(1, 0, 5), (3, 2, 5)]);
        let jumps: Vec<_> = both.jumps.iter().map(|jump| (jump.from, jump.to, jump.count)).collect();
        assert_eq!(jumps, [(0, 1, 5), (2, 3, 5)]);
        assert_eq!(both.disorder, Disorder { cut: 2, stray: 4, folded: 6 });
    }
}
