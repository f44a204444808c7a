//! Costs of contexts, calls and jumps, as they are taken out of a graph.

use crate::hooks::counts::{Counts, list};
use crate::hooks::plan::MappingId;
use crate::sim::{Packer, Unpacker};

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

/// Own costs of an instruction in a context, by its mapping and address.
type Line = (ContextId, MappingId, u64, Counts);

/// The call graph of an account with its costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallCosts {
    /// The contexts.
    pub(crate) contexts: Vec<CostedContext>,
    /// Own costs, by context, mapping and address of an instruction; an instruction may come more
    /// than once.
    pub(crate) lines: Vec<Line>,
    /// The calls.
    pub(crate) calls: Vec<CostedCall>,
    /// The jumps, if they are collected.
    pub(crate) jumps: Vec<CostedJump>,
    /// Events that their costs suffer from.
    pub(crate) disorder: Disorder,
}

/// The same in few bytes, for an account that nothing is added to.
#[derive(Clone, Debug)]
pub(crate) struct PackedCosts {
    contexts: Box<[CostedContext]>,
    lines: Box<[u8]>,
    calls: Box<[u8]>,
    jumps: Box<[CostedJump]>,
    disorder: Disorder,
}

impl PackedCosts {
    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> u64 {
        let callers: usize = self.contexts.iter().map(|context| size_of_val(&*context.callers)).sum();
        let lists = size_of_val(&*self.contexts) + callers + size_of_val(&*self.jumps);
        (lists + self.lines.len() + self.calls.len()) as u64
    }

    /// The costs.
    pub(crate) fn unpack(&self) -> CallCosts {
        let line = |unpacker: &mut Unpacker<'_>, before: Option<&Line>| {
            let known = before.map_or([0; 3], numbers_of_line);
            let [context, mapping, pc] = known.map(|known| unpacker.take_near(known));
            (context as ContextId, mapping as MappingId, pc, Counts::unpack(unpacker))
        };
        let call = |unpacker: &mut Unpacker<'_>, before: Option<&CostedCall>| {
            let known = before.map_or([0; 7], numbers_of_call);
            let numbers = known.map(|known| unpacker.take_near(known));
            let [caller, mapping, pc, callee, target_mapping, target_pc, calls] = numbers;
            CostedCall {
                caller: caller as ContextId,
                site: (mapping as MappingId, pc),
                callee: callee as ContextId,
                target: (target_mapping as MappingId, target_pc),
                calls,
                cost: Counts::unpack(unpacker),
            }
        };
        CallCosts {
            contexts: self.contexts.to_vec(),
            lines: list(&mut Unpacker(&self.lines), line),
            calls: list(&mut Unpacker(&self.calls), call),
            jumps: self.jumps.to_vec(),
            disorder: self.disorder,
        }
    }
}

/// The numbers of a line that are near those of the one before.
fn numbers_of_line(&(context, mapping, pc, _): &Line) -> [u64; 3] {
    [context.into(), mapping.into(), pc]
}

/// The numbers of a call that may be near those of the one before.
fn numbers_of_call(call: &CostedCall) -> [u64; 7] {
    let CostedCall { caller, site, callee, target, calls, .. } = *call;
    [caller.into(), site.0.into(), site.1, callee.into(), target.0.into(), target.1, calls]
}

/// Lines or calls in few bytes, each by its numbers and its costs.
fn packed<T, const N: usize>(
    all: &[T],
    numbers: impl Fn(&T) -> [u64; N],
    costs: impl Fn(&T) -> &Counts,
) -> Box<[u8]> {
    let (mut packer, mut before) = (Packer::default(), [0; N]);
    packer.put(all.len() as u64);
    for one in all {
        let own = numbers(one);
        own.into_iter().zip(before).for_each(|(number, known)| packer.put_near(number, known));
        costs(one).pack(&mut packer);
        before = own;
    }
    packer.finish()
}

impl CallCosts {
    /// The same in few bytes.
    pub(crate) fn pack(self) -> PackedCosts {
        PackedCosts {
            lines: packed(&self.lines, numbers_of_line, |(_, _, _, costs)| costs),
            calls: packed(&self.calls, numbers_of_call, |call| &call.cost),
            contexts: self.contexts.into(),
            jumps: self.jumps.into(),
            disorder: self.disorder,
        }
    }

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
        let context = |callers: &[(MappingId, u64)]| CostedContext {
            code: (1, 0x4000),
            recursion: 2,
            callers: callers.into(),
        };
        let costs = CallCosts {
            contexts: vec![context(&[]), context(&[(0, 1), (9, 1 << 46)])],
            lines: vec![(1, 7, 1 << 63, all), (0, 0, 0, Counts::default()), (1, 7, 5, all)],
            calls: vec![call(1, 9, 1 << 50, all), call(0, 0, 0, Counts::default())],
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
        assert_eq!(costs.clone().pack().unpack(), costs);
        assert_eq!(CallCosts::default().pack().unpack(), CallCosts::default());
        let line = |pc| (0, 0, pc, Counts { ir: 7, ..Counts::default() });
        let many = CallCosts { lines: (0..1000).map(line).collect(), ..CallCosts::default() };
        assert_eq!(many.pack().bytes(), 2 + 5 * 1000 + 1, "a byte a number");
    }
}
