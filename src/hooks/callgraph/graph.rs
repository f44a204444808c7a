//! Contexts, blocks and arcs of a call graph, and what they cost.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::hooks::callgraph::batch::Batch;
use crate::hooks::callgraph::costs::{
    ArcId, BlockId, CallCosts, ContextId, CostedCall, CostedContext, CostedJump, Disorder,
};
use crate::hooks::callgraph::facts::{Actions, Apart, CallFacts, CodePlace, Jump, Leave, Section};
use crate::hooks::callgraph::misses::Misses;
use crate::hooks::callgraph::step::{Step, Varying, Way};
use crate::hooks::callgraph::summaries::Summaries;
use crate::hooks::callgraph::sums::{Packed, References, counts_of};
use crate::hooks::counts::{Counted, Counts};
use crate::hooks::plan::{MappingId, Plan, PlannedInsn};
use crate::hooks::plan_index::{CountedInsn, PlanIndex};
use crate::hooks::record::PlanId;
use crate::hooks::sparse::Sparse;
use crate::sim::PackedList;

/// A block in a context (Callgrind's BBCC).
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) plan: PlanId,
    pub(super) context: ContextId,
    /// Level of recursion, from 0 on.
    recursion: u32,
    pub(super) facts: CallFacts,
    /// Its address.
    pc: u64,
    /// Address after it, to which its call returns.
    pub(super) fall_through: u64,
    /// It runs in a function that is skipped: its costs go to the call.
    pub(super) skipped: bool,
    /// The twin of a block, for executions while nothing is collected.
    pub(super) uncollected: bool,
}

impl Block {
    /// The address that its call returns to; 0 if it does not end with one.
    pub(super) fn returns_to(&self) -> u64 {
        if self.facts.leave == Leave::Call { self.fall_through } else { 0 }
    }

    /// The context that a call of it enters, and what that does to the costs.
    #[inline]
    pub(super) fn entered(&self) -> (ContextId, Actions) {
        (self.context, self.facts.place.actions)
    }
}

/// A block that remembers what came after it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hint {
    /// Right after it, where it is called.
    Called(BlockId),
    /// After its call has returned.
    Returned(BlockId),
}

/// Start of an arc that is no block: a call that was not seen, but its return was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unseen {
    context: ContextId,
    mapping: MappingId,
    pc: u64,
}

/// Bit of the start of an arc that is an [`Unseen`].
pub(super) const UNSEEN: u32 = 1 << 31;

/// Calls from one block to another (Callgrind's jCC), one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct CallArc {
    pub(super) from: u32,
    pub(super) to: BlockId,
    pub(super) calls: u64,
    /// Inclusive references, less those before the calls that have not returned.
    pub(super) references: References,
}

const _: () = assert!(size_of::<CallArc>() == 64);

/// Most instructions and calls of blocks that are told apart only by callers and levels of
/// recursion; a consumer needs more than a hundred bytes for each.
const MOST_SEPARATED: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

impl Disorder {
    /// Adds another one.
    pub(crate) fn add(&mut self, other: Disorder) {
        self.cut += other.cut;
        self.stray += other.stray;
        self.folded += other.folded;
    }
}

/// The graph of one account.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) blocks: Vec<Block>,
    /// By block.
    pub(super) steps: Vec<Step>,
    /// By plan, the block of it that came last.
    pub(super) here: Vec<BlockId>,
    groups: FxHashMap<(ContextId, u32, Section, u32, bool), u32>,
    by_plan: FxHashMap<(PlanId, ContextId, u32, bool), BlockId>,
    /// Functions, by object and address, and the code where each was first entered; with their
    /// callers if those are told apart.
    contexts: Vec<(MappingId, u64)>,
    /// Objects and addresses of the functions.
    functions: Vec<(u32, u64)>,
    /// Numbers by which they are told apart.
    apart: Vec<Apart>,
    by_function: FxHashMap<(u32, u64), ContextId>,
    /// Contexts of functions with their callers: the function is last, which each of these is a
    /// context of, too.
    chains: FxHashMap<ContextId, Box<[ContextId]>>,
    by_chain: FxHashMap<Box<[ContextId]>, ContextId>,
    /// Instructions and calls of blocks that are told apart only by callers and levels.
    separated: usize,
    pub(super) arcs: Vec<CallArc>,
    by_ends: FxHashMap<(u32, BlockId), ArcId>,
    /// Twins by block.
    uncollected: FxHashMap<BlockId, BlockId>,
    unseen: Vec<Unseen>,
    /// References of what the calls of a block skip, by block.
    pub(super) skipped: Sparse<References>,
    /// By block that does not always reference the same.
    pub(super) varying: FxHashMap<BlockId, Varying>,
    /// Times that a jump led from one block to another, if that is collected.
    jumps: FxHashMap<(BlockId, BlockId), u64>,
    pub(super) disorder: Disorder,
    pub(super) summaries: Summaries,
}

/// The arc between two blocks, if it is the last one from there.
#[inline(always)]
pub(super) fn last_arc(steps: &[Step], arcs: &[CallArc], from: u32, to: BlockId) -> Option<ArcId> {
    let id = steps.get(from as usize)?.arc;
    arcs.get(id as usize).filter(|arc| (arc.from, arc.to) == (from, to)).map(|_| id)
}

/// Level of recursion, from 0 on, of a function that is active so many times, where so many levels
/// are told apart.
#[inline(always)]
pub(super) fn recursion_of(active: u32, levels: u32) -> u32 {
    active.clamp(1, levels.max(1)) - 1
}

impl Graph {
    /// True if blocks have the numbers that they have in another graph.
    pub(super) fn numbers_blocks_as(&self, other: &Graph) -> bool {
        let key = |block: &Block| {
            let Block { plan, context, recursion, skipped, uncollected, .. } = *block;
            (plan, context, recursion, skipped, uncollected)
        };
        self.contexts == other.contexts
            && self.chains == other.chains
            && self.blocks.iter().map(key).eq(other.blocks.iter().map(key))
    }

    /// Bytes that it takes, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let of_block = size_of::<Block>() + size_of::<Step>() + 2 * size_of::<(PlanId, [u32; 4])>();
        let of_arc = size_of::<CallArc>() + 2 * size_of::<[u32; 3]>();
        (self.blocks.len() * of_block + self.arcs.len() * of_arc) as u64 + self.summaries.bytes()
    }

    /// Sets what the records of a block reference, and where that varies, the slot that is 0 where
    /// they reference something else.
    pub(super) fn set_references(&mut self, block: BlockId, usual: Packed, varying: Option<Varying>) {
        if let Some(step) = self.steps.get_mut(block as usize) {
            step.set_references(usual, varying.is_some());
        }
        if let Some(varying) = varying {
            self.varying.insert(block, varying);
        }
    }

    /// Notes the way in which a block has called.
    pub(super) fn set_way(&mut self, block: BlockId, way: Way) {
        if let Some(step) = self.steps.get_mut(block as usize) {
            step.way = way;
        }
    }

    /// Address that the call of a block returns to; 0 if there is none.
    pub(super) fn returns_to(&self, block: u32) -> u64 {
        self.blocks.get(block as usize).map_or(0, Block::returns_to)
    }

    fn hinted(&self, hint: Option<Hint>) -> Option<BlockId> {
        match hint? {
            Hint::Called(last) => self.steps.get(last as usize).map(|step| step.called),
            Hint::Returned(caller) => self.steps.get(caller as usize).map(|step| step.returned),
        }
    }

    /// The block of a plan in a context. The next time it is hinted at.
    #[inline]
    pub(super) fn block(
        &mut self,
        hint: Option<Hint>,
        (id, plan): (PlanId, &Plan),
        (context, recursion): (ContextId, u32),
        skipped: bool,
    ) -> BlockId {
        let is_it = |block: &Block| {
            (block.plan, block.context, block.recursion, block.skipped) == (id, context, recursion, skipped)
        };
        let here = self.here.get(id.0 as usize).copied();
        let hinted = self.hinted(hint).or(here);
        let block = match hinted.filter(|&hinted| self.blocks.get(hinted as usize).is_some_and(is_it)) {
            Some(block) => block,
            None => self.find_block((id, plan), (context, recursion), skipped),
        };
        match hint {
            Some(Hint::Called(last)) => {
                if let Some(step) = self.steps.get_mut(last as usize) {
                    step.called = block;
                }
            }
            Some(Hint::Returned(caller)) => {
                if let Some(step) = self.steps.get_mut(caller as usize) {
                    step.returned = block;
                }
            }
            None => {}
        }
        if here != Some(block) {
            let plan = id.0 as usize;
            if plan >= self.here.len() {
                self.here.resize(plan + 1, BlockId::MAX);
            }
            self.here[plan] = block;
        }
        block
    }

    fn find_block(
        &mut self,
        (id, plan): (PlanId, &Plan),
        (mut context, mut recursion): (ContextId, u32),
        skipped: bool,
    ) -> BlockId {
        if let Some(&known) = self.by_plan.get(&(id, context, recursion, skipped)) {
            return known;
        }
        if self.function(context) != context || recursion > 0 {
            if self.is_full() {
                self.disorder.folded += 1;
                (context, recursion) = (self.function(context), 0);
            } else {
                self.separated += plan.insns.len();
            }
        }
        let new = self.blocks.len() as BlockId;
        let block = *self.by_plan.entry((id, context, recursion, skipped)).or_insert(new);
        if block == new {
            let facts = plan.call_facts().copied().unwrap_or_default();
            self.add_block(Block {
                plan: id,
                context,
                recursion,
                facts,
                pc: plan.pc,
                fall_through: plan.fall_through(),
                skipped,
                uncollected: false,
            });
        }
        block
    }

    fn add_block(&mut self, block: Block) {
        let own = self.blocks.len() as BlockId;
        let Block { plan, context, recursion, skipped, .. } = block;
        let CodePlace { section, object, .. } = block.facts.place;
        let new = self.groups.len() as u32;
        let group = *self.groups.entry((context, recursion, section, object, skipped)).or_insert(new);
        self.steps.push(Step::new(own, (plan, context, recursion), &block.facts, (group, skipped)));
        self.blocks.push(block);
    }

    /// The twin of a block for executions that are not collected.
    pub(super) fn uncollected(&mut self, block: BlockId) -> BlockId {
        let new = self.blocks.len() as BlockId;
        let twin = *self.uncollected.entry(block).or_insert(new);
        if twin == new
            && let Some(&block) = self.blocks.get(block as usize)
        {
            self.add_block(Block { uncollected: true, ..block });
        }
        twin
    }

    /// The context of a function that is entered at `pc`, perhaps that of the block hinted at.
    pub(super) fn context(
        &mut self,
        hint: Option<Hint>,
        place: &CodePlace,
        mapping: MappingId,
        pc: u64,
    ) -> ContextId {
        let function = (place.object, place.function);
        let hinted = self.hinted(hint).and_then(|block| self.blocks.get(block as usize));
        if let Some(context) = hinted.map(|block| block.context)
            && self.functions.get(context as usize) == Some(&function)
        {
            return context;
        }
        let Graph { contexts, functions, apart, by_function, .. } = self;
        *by_function.entry(function).or_insert_with(|| {
            contexts.push((mapping, pc));
            functions.push(function);
            apart.push(place.apart);
            contexts.len() as ContextId - 1
        })
    }

    /// Adds to the arcs and to the batch what the calls did that were counted by their summaries.
    pub(super) fn settle_summaries(&mut self, batch: &mut Batch) {
        let Graph { summaries, arcs, skipped, .. } = self;
        let call = |arc: ArcId, references: References, times: u64| {
            if let Some(arc) = arcs.get_mut(arc as usize) {
                arc.calls += times;
                arc.references.add(&references, times);
            }
        };
        summaries.settle(batch, call, |block, references, times| {
            skipped.at(block as usize).add(&references, times);
        });
    }

    /// True if no more blocks are told apart by callers or levels of recursion.
    pub(super) fn is_full(&self) -> bool {
        self.separated >= MOST_SEPARATED
    }

    /// The context of a function, which is the last one, with those that called it.
    pub(super) fn called_by(&mut self, functions: &[ContextId]) -> ContextId {
        let &[.., function] = functions else { return 0 };
        if let Some(&known) = self.by_chain.get(functions) {
            return known;
        }
        if functions.len() < 2 || self.is_full() {
            return function;
        }
        let new = self.contexts.len() as ContextId;
        self.contexts.push(self.code(function));
        self.functions.push(self.functions.get(function as usize).copied().unwrap_or_default());
        self.apart.push(self.apart(function));
        self.chains.insert(new, functions.into());
        self.by_chain.insert(functions.into(), new);
        self.separated += functions.len();
        new
    }

    /// The context of the same function without its callers.
    pub(super) fn function(&self, context: ContextId) -> ContextId {
        self.chains.get(&context).and_then(|chain| chain.last().copied()).unwrap_or(context)
    }

    /// Numbers by which the function of a context is told apart.
    pub(super) fn apart(&self, context: ContextId) -> Apart {
        self.apart.get(context as usize).copied().unwrap_or_default()
    }

    /// Code of the function of a context.
    pub(super) fn code(&self, context: ContextId) -> (MappingId, u64) {
        self.contexts.get(context as usize).copied().unwrap_or_default()
    }

    /// The arc between two blocks.
    pub(super) fn arc(&mut self, from: u32, to: BlockId) -> ArcId {
        if let Some(arc) = last_arc(&self.steps, &self.arcs, from, to) {
            return arc;
        }
        let Graph { arcs, by_ends, blocks, separated, chains, .. } = self;
        let arc = *by_ends.entry((from, to)).or_insert_with(|| {
            let caller = blocks.get(from as usize);
            let is_separated = |from: &Block| from.recursion > 0 || chains.contains_key(&from.context);
            *separated += usize::from(caller.is_some_and(is_separated));
            arcs.push(CallArc { from, to, calls: 0, references: References::default() });
            arcs.len() as ArcId - 1
        });
        if let Some(step) = self.steps.get_mut(from as usize) {
            step.arc = arc;
        }
        arc
    }

    /// The start of arcs for a call from just before `pc` that was not seen.
    pub(super) fn unseen(&mut self, context: ContextId, mapping: MappingId, pc: u64) -> u32 {
        let wanted = Unseen { context, mapping, pc: pc.wrapping_sub(1) };
        let known = self.unseen.iter().position(|unseen| *unseen == wanted);
        let at = known.unwrap_or_else(|| {
            self.unseen.push(wanted);
            self.unseen.len() - 1
        });
        at as u32 | UNSEEN
    }

    /// Counts the jump at the end of a block, if there is one and it led to the block `to`.
    pub(super) fn jump(&mut self, from: BlockId, to: BlockId) {
        let (Some(block), Some(next)) = (self.blocks.get(from as usize), self.blocks.get(to as usize)) else {
            return;
        };
        let is_followed = match block.facts.jump {
            Jump::None => false,
            Jump::Always => true,
            Jump::Conditional => next.pc != block.fall_through,
        };
        if is_followed {
            *self.jumps.entry((from, to)).or_default() += 1;
        }
    }

    /// Adds to what the calls of a block skip; the references of all are `now` and were `before`.
    pub(super) fn skip(&mut self, block: BlockId, now: &References, before: &References) {
        if now.instructions() != before.instructions() {
            let skipped = self.skipped.at(block as usize);
            skipped.add(now, 1);
            skipped.subtract(before);
        }
    }

    /// Sets all costs and numbers of calls to zero.
    pub(super) fn zero(&mut self) {
        for arc in &mut self.arcs {
            (arc.calls, arc.references) = (0, References::default());
        }
        self.skipped.set(&[]);
        self.jumps.clear();
        self.disorder = Disorder::default();
    }

    /// The costs with these misses, where the blocks have `counted` so much by the numbers of
    /// `index`.
    pub(super) fn costs(
        &self,
        misses: &Misses,
        index: &PlanIndex,
        counted: &Counted,
        plans: &[Arc<Plan>],
    ) -> CallCosts {
        let mapping_of = |block: &Block| plans.get(block.plan.0 as usize).map_or(0, |plan| plan.mapping);
        let site = |block: &Block, last: bool| {
            let plan = plans.get(block.plan.0 as usize);
            let insns = plan.map_or(&[][..], |plan| &plan.insns);
            let insn = if last { insns.last() } else { insns.first() };
            (mapping_of(block), insn.map_or(0, |insn| insn.pc()))
        };
        let mut contexts = Vec::new();
        let mut numbers: FxHashMap<(ContextId, u32), ContextId> = FxHashMap::default();
        let mut number = |context: ContextId, recursion: u32| {
            *numbers.entry((context, recursion)).or_insert_with(|| {
                let callers = self.chains.get(&context).and_then(|chain| chain.split_last());
                let callers = callers.iter().flat_map(|(_, callers)| callers.iter().rev());
                let callers = callers.map(|&caller| self.code(caller)).collect();
                contexts.push(CostedContext { code: self.code(context), recursion, callers });
                contexts.len() as ContextId - 1
            })
        };
        let mut lines = PackedList::default();
        let mut blocks = self.blocks.iter().zip(0..);
        index.each(counted, &mut |entry, counts| {
            let Some((block, id)) = blocks.next() else { return };
            let context = number(block.context, block.recursion);
            if !(block.skipped || block.uncollected) {
                let insns = index.insns.get(entry.insns()).unwrap_or_default();
                let line = |(insn, &counts): (&PlannedInsn, &Counts)| {
                    (context, CountedInsn { at: (mapping_of(block), insn.pc()), counts })
                };
                lines.extend(insns.iter().zip(counts).map(line));
            }
            let references = self.skipped.get(id as usize);
            if references.instructions() != 0 {
                let counts = counts_of(references, &misses.skipped(id));
                lines.push((context, CountedInsn { at: site(block, true), counts }));
            }
        });
        lines.shrink_to_fit();
        let arcs = self.arcs.iter().zip(0..).map(|(arc, id)| {
            let (caller, site_of_call) = match self.unseen.get((arc.from & !UNSEEN) as usize) {
                Some(unseen) if arc.from & UNSEEN != 0 => {
                    (number(unseen.context, 0), (unseen.mapping, unseen.pc))
                }
                _ => match self.blocks.get(arc.from as usize) {
                    Some(block) => (number(block.context, block.recursion), site(block, true)),
                    None => (0, (0, 0)),
                },
            };
            let to = self.blocks.get(arc.to as usize);
            CostedCall {
                caller,
                site: site_of_call,
                callee: to.map_or(0, |to| number(to.context, to.recursion)),
                target: to.map_or((0, 0), |to| site(to, false)),
                calls: arc.calls,
                cost: counts_of(&arc.references, &misses.of(id)),
            }
        });
        let calls = arcs.collect();
        let mut jumps: Vec<_> = self.jumps.iter().collect();
        jumps.sort_unstable();
        let jump = |(&(from, to), &count): (&(BlockId, BlockId), &u64)| {
            let [from, to] = [from, to].map(|block| self.blocks.get(block as usize));
            let ((from, to), conditional) = (from.zip(to)?, from?.facts.jump == Jump::Conditional);
            let [site, target] = [site(from, true), site(to, false)];
            let [from, to] = [from, to].map(|block| number(block.context, block.recursion));
            Some(CostedJump { from, site, to, target, conditional, count })
        };
        let mut jumps: Vec<CostedJump> = jumps.into_iter().filter_map(jump).collect();
        jumps.shrink_to_fit();
        contexts.shrink_to_fit();
        CallCosts { contexts, lines, calls, jumps, disorder: self.disorder }
    }
}
