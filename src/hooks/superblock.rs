//! The second count model: what an unmodified Valgrind prints, which counts in superblocks.
//!
//! A superblock begins wherever control arrives after the one before, so the same code may be in several. This stage stands
//! between the trace and a consumer: it follows the instructions, keeps track of which superblock they are in, and writes
//! the records that the consumer is to see instead. How the engine cuts its blocks makes no difference to it. The engine
//! and the tap are the same for both models; only plans also carry their [`Shape`], which is made when the block is
//! translated, because memory can be read then. In the other model there is neither a shape nor this stage.

//!
//! A block whose jump may be merged with a second one has two more plans behind its own: the block without that jump's
//! branch, and the instructions that are counted behind it.

use crate::hooks::count::Repeat;
use crate::hooks::plan::{End, Plan, PlanId};
use crate::hooks::shape::{Edge, LEFT_TO_EXTEND, MAX_INSTRUCTIONS, Shape};
use crate::hooks::trace::Header;

/// The plans that a plan's records may become besides itself; their ids follow its own, `id`.
pub(super) fn variants(plan: &Plan, id: PlanId) -> Vec<Plan> {
    let ending =
        |end| Plan { end, prefix_of: Some(plan.prefix_of.unwrap_or(id)), shape: None, ..plan.clone() };
    match (plan.shape.as_deref().map(|shape| &shape.edge), plan.end) {
        (Some(Edge::Merged(second)), _) => vec![ending(End::None), Plan::clone(second)],
        // The comparison stays a branch: it is taken if the instruction is repeated.
        (Some(Edge::Known(_)), End::Repeat(Repeat::Compare, _)) => vec![ending(End::Conditional)],
        (Some(Edge::Known(_)), _) => vec![ending(End::None)],
        _ => Vec::new(),
    }
}

/// A plan of the trace, as small as the inner loop wants it.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Block {
    pc: u64,
    /// The instruction that follows in the superblock, if one may.
    next: u64,
    /// Those behind the last that ends a superblock, but for the last of all.
    instructions: u32,
    /// Whether there is such a one.
    stops: bool,
    /// Instructions of the whole block.
    all: u32,
    /// Instructions of a second block that its jump may be merged with, or of [`Edge::Known`].
    merged: u16,
    way: Way,
}

/// How a superblock goes on; see [`Edge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Open,
    Closed,
    Chased,
    Merged,
    Known,
}

/// Where in a superblock control is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Instructions in the superblock so far; 0 at the start of one.
    used: u32,
    /// Whether it was extended.
    extended: bool,
    /// The instruction that continues it.
    at: u64,
    /// So many instructions from there on have been counted already.
    counted: u32,
}

/// The stage between the trace and a consumer.
#[derive(Clone, Debug, Default)]
pub(super) struct Superblocks {
    /// By plan id.
    blocks: Vec<Block>,
    place: Place,
    changed: Vec<u64>,
}

/// Where it was at some moment.
#[derive(Clone, Debug)]
pub(super) struct SavedSuperblocks {
    place: Place,
}

impl Superblocks {
    /// Takes in a plan; ids count up from 0.
    pub fn add_plan(&mut self, plan: &Plan) {
        let (way, next, merged) = match plan.shape.as_deref().map(|shape| &shape.edge) {
            None | Some(Edge::Open) => (Way::Open, plan.fall_through(), 0),
            Some(Edge::Closed) => (Way::Closed, 0, 0),
            Some(Edge::Chased(target)) => (Way::Chased, *target, 0),
            Some(Edge::Known(together)) => (Way::Known, 0, *together),
            Some(Edge::Merged(second)) => (Way::Merged, second.pc, second.insns.len() as u16),
        };
        let after_stop = plan.shape.as_deref().and_then(|shape: &Shape| shape.after_stop);
        let all = plan.insns.len() as u32;
        self.blocks.push(Block {
            pc: plan.pc,
            next,
            instructions: after_stop.map_or(all, u32::from),
            stops: after_stop.is_some(),
            all,
            merged,
            way,
        });
    }

    /// Calls `walk` with the records that stand for `words`, as many at a time as stay as they are. Returns how many
    /// instructions were executed.
    pub fn regroup(&mut self, words: &[u64], mut walk: impl FnMut(&[u64])) -> u64 {
        let Superblocks { blocks, place: saved, changed } = self;
        let mut place = *saved;
        let mut executed = 0;
        let (mut from, mut at) = (0, 0);
        while let Some(&word) = words.get(at) {
            let header = Header::of(word);
            let id = header.plan.0 as usize;
            let Some(block) = blocks.get(id) else { break };
            let start = at;
            executed += header.instructions;
            at += 1 + header.slots;
            if place.counted > 0 {
                if block.pc == place.at && block.all <= place.counted {
                    walk(&words[from..start]);
                    from = at;
                    place.counted -= block.all;
                    place.at = block.next;
                    continue;
                }
                place = Place::default();
            }
            if place.pass(block) {
                walk(&words[from..start]);
                from = at;
                changed.clear();
                changed.push(word + 1);
                changed.extend_from_slice(words.get(start + 1..at).unwrap_or_default());
                if place.counted > 0 {
                    changed.push(u64::from(header.plan.0 + 2) | u64::from(block.merged) << 48);
                }
                walk(changed);
            }
        }
        walk(words.get(from..at).unwrap_or_default());
        *saved = place;
        executed
    }

    pub fn save(&self) -> SavedSuperblocks {
        SavedSuperblocks { place: self.place }
    }

    pub fn restore(&mut self, saved: &SavedSuperblocks) {
        self.place = saved.place;
    }
}

impl Place {
    /// Control passes a block. Whether it is to be another plan's, because its jump is merged or decided. Nearly without branches: what program
    /// branches do is as hard to predict here as where it is counted.
    #[inline(always)]
    fn pass(&mut self, block: &Block) -> bool {
        let carried = block.pc == self.at && !block.stops;
        let mut used = if carried { self.used } else { 0 } + block.instructions;
        let mut extended = carried & self.extended;
        if used > MAX_INSTRUCTIONS {
            // Superblocks that were full have ended in between.
            used = (used - 1) % MAX_INSTRUCTIONS + 1;
            extended = false;
        }
        let extends = !extended & (used <= MAX_INSTRUCTIONS - LEFT_TO_EXTEND);
        let open = block.way == Way::Open;
        let chased = (block.way == Way::Chased) & extends;
        self.used = if open | chased { used } else { 0 };
        self.extended = (open & extended) | chased;
        self.at = block.next;
        if block.way == Way::Merged && extends {
            self.counted = u32::from(block.merged);
            return true;
        }
        block.way == Way::Known && used >= u32::from(block.merged)
    }
}
