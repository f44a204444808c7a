//! Summaries of calls. A call that has returned is described: by the words of its records, and by
//! what it did to blocks, arcs and references. Where the same words come behind the same block
//! again, it has done the same again, and only their number is counted, to the end of a buffer at
//! most. Stack pointers are the same by their distance from the one at the beginning.

use crate::hooks::callgraph::batch::{Batch, KIND, POP, PUSH, SKIP};
use crate::hooks::callgraph::costs::{ArcId, BlockId, ContextId};
use crate::hooks::callgraph::step::Step;
use crate::hooks::callgraph::sums::{Packed, References};
use crate::hooks::record::{Header, PlanId, is_noted, plan_of};

/// Most words of the records of a call that is summarised.
pub(super) const MOST_WORDS: usize = 24;

/// Most summaries of the calls of a block, and of all calls: few enough for the host's caches.
const MOST_OF_BLOCK: u8 = 4;
const MOST: usize = if cfg!(test) { 1 << 5 } else { 1 << 10 };

/// Most functions that are entered.
const MOST_ENTERED: usize = 4;

/// Calls of a block without a summary until the first one is summarised, and how many times as many
/// until the next one.
const FIRST: u32 = if cfg!(test) { 2 } else { 1 << 6 };
const BACKOFF: u32 = 4;

/// Calls without a summary after which summaries are used no more if there are more than so many
/// for each one with a summary: to look for them takes time, too, as in cc1.
const ENOUGH: u64 = 1 << 20;
const MANY: u64 = 2;

/// Index of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SummaryId(u32);

/// Number of times that does not matter.
const ANY: u32 = u32::MAX;

/// The end of a list.
const NONE: SummaryId = SummaryId(u32::MAX);

/// Calls of a block.
#[derive(Clone, Copy, Debug)]
struct Site {
    /// The first of their summaries.
    first: SummaryId,
    summaries: u8,
    /// Calls that were to be summarised.
    tries: u8,
    /// Calls without one until the next one is summarised.
    until: u32,
}

/// Call with everything up to its return.
#[derive(Debug)]
pub(super) struct Summary {
    /// Times since they were settled.
    times: u32,
    /// Another one of the same block.
    next: SummaryId,
    /// Words of its records.
    len: u8,
    /// Records.
    pub(super) records: u8,
    /// The function is the one that calls it.
    pub(super) is_recursive: bool,
    /// The block that is returned to, and its plan.
    pub(super) returned: BlockId,
    plan: PlanId,
    /// Words that are stack pointers (bits by their index).
    pointers: u32,
    /// The stack pointer after it, from the one at its beginning.
    pub(super) sp: u64,
    pub(super) references: Packed,
    /// Contexts that are entered, and times that each is on the stack before, as far as these
    /// matter.
    entered: [(ContextId, u32); MOST_ENTERED],
    /// Headers, and stack pointers from the one at its beginning.
    words: [u64; MOST_WORDS],
    effects: Box<Effects>,
}

const _: () = assert!(MOST_WORDS <= u32::BITS as usize);

/// Effects of a call.
#[derive(Debug, Default)]
struct Effects {
    blocks: Vec<BlockId>,
    /// Calls, with what they reference.
    arcs: Vec<(ArcId, Packed)>,
    /// Blocks whose calls are skipped, with what these reference.
    skipped: Vec<(BlockId, Packed)>,
}

/// A call from its beginning on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning<'w> {
    /// The block that calls.
    pub(super) block: BlockId,
    /// The words of its records, and all behind them.
    pub(super) words: &'w [u64],
    pub(super) sp: u64,
    /// Records and events of the batch before it.
    pub(super) records: usize,
    pub(super) events: usize,
}

/// The summaries of a graph. They are not state: a copy has none.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    /// By block.
    sites: Vec<Site>,
    all: Vec<Summary>,
    /// Those that have come since they were settled.
    came: Vec<SummaryId>,
    /// Calls that had a summary, as far as they were settled, and that had none.
    had: u64,
    lacked: u64,
}

impl Clone for Summaries {
    fn clone(&self) -> Summaries {
        Summaries::default()
    }
}

impl Summary {
    /// Tests whether words begin with this call, where the stack pointer is `sp`, and with a record
    /// of the block that is returned to.
    #[inline(always)]
    fn is(&self, words: &[u64], sp: u64) -> bool {
        let Some((words, next)) = words.split_at_checked(usize::from(self.len)) else { return false };
        if words.first() != self.words.first() || next.first().map(|&word| plan_of(word)) != Some(self.plan) {
            return false;
        }
        let (mut pointers, mut differ) = (self.pointers, 0);
        for (word, expected) in words.iter().zip(&self.words) {
            let base = sp & u64::from(pointers & 1).wrapping_neg();
            differ |= word.wrapping_sub(base) ^ expected;
            pointers >>= 1;
        }
        differ == 0
    }

    /// Tests whether what it enters is on the stack as it was, where so many `levels` of recursion
    /// are told apart.
    #[inline(always)]
    pub(super) fn is_at_level(&self, active: &[u32], levels: u32) -> bool {
        let is_same = |&(context, then): &(ContextId, u32)| {
            then == ANY || active.get(context as usize).is_some_and(|now| then == *now.min(&levels))
        };
        levels == 1 || self.entered.iter().all(is_same)
    }

    /// The words behind it, which begin with it.
    #[inline(always)]
    pub(super) fn behind<'w>(&self, words: &'w [u64]) -> &'w [u64] {
        words.get(usize::from(self.len)..).unwrap_or_default()
    }
}

impl Summaries {
    /// Bytes that they take, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let of_summary = size_of::<Summary>() + size_of::<Effects>() + MOST_WORDS * size_of::<[u32; 2]>();
        (self.all.len() * of_summary + size_of_val(&*self.sites)) as u64
    }

    /// Tests whether they are worth looking for.
    pub(super) fn pay(&self) -> bool {
        self.lacked < ENOUGH || self.lacked <= MANY * self.had
    }

    /// The summary of the call of a block that words begin with, where the stack pointer is `sp`.
    #[inline(always)]
    pub(super) fn find(&self, block: BlockId, words: &[u64], sp: u64) -> Option<(SummaryId, &Summary)> {
        let mut id = self.sites.get(block as usize)?.first;
        loop {
            let summary = self.all.get(id.0 as usize)?;
            if summary.is(words, sp) {
                return Some((id, summary));
            }
            id = summary.next;
        }
    }

    /// Counts a call that is as summarised.
    #[inline(always)]
    pub(super) fn count(&mut self, id: SummaryId) {
        if let Some(summary) = self.all.get_mut(id.0 as usize) {
            if summary.times == 0 {
                self.came.push(id);
            }
            summary.times += 1;
        }
    }

    /// Notes that a call of a block has no summary. Returns whether it is to be summarised.
    #[inline(always)]
    pub(super) fn lacks(&mut self, block: BlockId) -> bool {
        self.lacked += 1;
        let Some(site) = self.sites.get_mut(block as usize) else { return self.add_sites(block) };
        site.until -= 1;
        if site.until > 0 {
            return false;
        }
        site.tries = site.tries.saturating_add(1);
        site.until = FIRST.saturating_mul(BACKOFF.saturating_pow(site.tries.into()));
        site.summaries < MOST_OF_BLOCK && self.all.len() < MOST
    }

    #[cold]
    fn add_sites(&mut self, block: BlockId) -> bool {
        let site = Site { first: NONE, summaries: 0, tries: 0, until: FIRST };
        self.sites.resize(block as usize + 1, site);
        false
    }

    /// Summarises a call that has returned to a block, of whose records the batch has blocks and
    /// events, before the words `behind`, with the stack pointer `sp` and with this stack (see
    /// [`Summary::of`]). It remains without a summary if it is not as calls usually are.
    #[cold]
    pub(super) fn add(
        &mut self,
        begun: Beginning<'_>,
        end: (&[u64], u64),
        returned: BlockId,
        stack: (&[u32], u32),
        of: (&[Step], &Batch),
    ) {
        let Some(mut summary) = Summary::of(begun, end, returned, stack, of) else { return };
        let Some(site) = self.sites.get_mut(begun.block as usize) else { return };
        // The first one came first, so it is the most usual.
        let (new, mut at) = (SummaryId(self.all.len() as u32), site.first);
        if at == NONE {
            site.first = new;
        }
        while let Some(other) = self.all.get_mut(at.0 as usize) {
            at = other.next;
            if at == NONE {
                other.next = new;
            }
        }
        site.summaries += 1;
        summary.next = NONE;
        self.all.push(summary);
    }

    /// Adds what the calls did that have come: to the batch, and by `call` and `skip` to what calls
    /// and skipped calls cost, each with its references and a number of times.
    pub(super) fn settle(
        &mut self,
        batch: &mut Batch,
        mut call: impl FnMut(ArcId, References, u64),
        mut skip: impl FnMut(BlockId, References, u64),
    ) {
        for id in self.came.drain(..) {
            let Some(summary) = self.all.get_mut(id.0 as usize) else { continue };
            let times = std::mem::take(&mut summary.times);
            self.had += u64::from(times);
            let Effects { blocks, arcs, skipped } = &*summary.effects;
            arcs.iter().for_each(|&(arc, references)| call(arc, references.into(), times.into()));
            skipped.iter().for_each(|&(block, references)| skip(block, references.into(), times.into()));
            batch.executed.extend(blocks.iter().map(|&block| (block, times)));
        }
    }
}

impl Summary {
    /// The summary of a call, on a stack where contexts are so many times, and so many levels of
    /// recursion are told apart.
    fn of(
        begun: Beginning<'_>,
        (behind, sp): (&[u64], u64),
        returned: BlockId,
        (active, levels): (&[u32], u32),
        (steps, batch): (&[Step], &Batch),
    ) -> Option<Summary> {
        let len = begun.words.len().checked_sub(behind.len()).filter(|len| *len <= MOST_WORDS)?;
        let (mut words, mut pointers, mut at) = ([0; MOST_WORDS], 0, 0);
        while at < len {
            let word = begun.words.get(at).copied().filter(|word| !is_noted(*word))?;
            *words.get_mut(at)? = word;
            let next = at + 1 + Header::of(word).slots;
            for slot in at + 1..next {
                *words.get_mut(slot)? = begun.words.get(slot)?.wrapping_sub(begun.sp);
                pointers |= 1 << slot;
            }
            at = next;
        }
        let blocks = batch.blocks().get(begun.records..)?;
        let (references, effects) = effects(blocks, batch.events.get(begun.events..)?, begun.records, steps)?;
        let mut entered: Vec<ContextId> = Vec::new();
        for block in blocks {
            let &Step { context, skipped, .. } = steps.get(*block as usize)?;
            if !skipped && !entered.contains(&context) {
                entered.push(context);
            }
        }
        let times = |context: ContextId| Some((context, *active.get(context as usize)?.min(&levels)));
        let mut entered = entered.into_iter().map(times).collect::<Option<Vec<_>>>()?;
        if entered.len() > MOST_ENTERED {
            return None;
        }
        entered.resize(MOST_ENTERED, (0, ANY));
        let context = |block: BlockId| steps.get(block as usize).map(|step| step.context);
        Some(Summary {
            times: 0,
            next: NONE,
            len: len as u8,
            records: blocks.len() as u8,
            is_recursive: context(begun.block) == context(*blocks.first()?),
            returned,
            plan: steps.get(returned as usize)?.plan,
            pointers,
            sp: sp.wrapping_sub(begun.sp),
            references,
            entered: entered.try_into().ok()?,
            words,
            effects: Box::new(effects),
        })
    }
}

/// References and effects of a call that runs these blocks, with these events between them. The
/// batch has so many records `before` it.
fn effects(
    blocks: &[BlockId],
    events: &[[u32; 2]],
    before: usize,
    steps: &[Step],
) -> Option<(Packed, Effects)> {
    let mut effects = Effects { blocks: blocks.to_vec(), ..Effects::default() };
    let (mut sum, mut calls, mut skips) = (Packed::default(), Vec::new(), None);
    let mut events = events.iter().copied().peekable();
    for (record, block) in (before..).zip(blocks.iter().map(Some).chain([None])) {
        while let Some([_, event]) = events.next_if(|[next, _]| *next as usize == record + 1) {
            match event & KIND {
                PUSH => {
                    calls.push((event & !KIND, sum));
                    if let Some((block, since)) = skips.take() {
                        effects.skipped.push((block, sum.since(&since)));
                    }
                }
                POP => {
                    let (arc, since) = calls.pop().filter(|(arc, _)| *arc == event & !KIND)?;
                    effects.arcs.push((arc, sum.since(&since)));
                }
                SKIP => skips = Some((event & !KIND, sum)),
                _ => return None,
            }
        }
        if let Some(&block) = block {
            sum.add(&steps.get(block as usize).filter(|step| !step.varies)?.references);
        }
    }
    (events.next().is_none() && calls.is_empty() && skips.is_none()).then_some((sum, effects))
}
