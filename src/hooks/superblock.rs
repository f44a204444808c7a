//! The second count model: what an unmodified Valgrind prints, which counts in superblocks.
//!
//! A superblock begins wherever control arrives after the one before, so the same code may be in several. This stage stands
//! between the trace and a consumer: it follows the instructions, keeps track of which superblock they are in, and writes
//! the records that the consumer is to see instead. How the engine cuts its blocks makes no difference to it. The engine
//! and the tap are the same for both models; only plans also carry their [`Shape`], which is made when the block is
//! translated, because memory can be read then. In the other model there is neither a shape nor this stage.

use crate::hooks::plan::{End, Plan, PlanId};
use crate::hooks::shape::{Edge, LEFT_TO_EXTEND, MAX_INSTRUCTIONS, Shape};
use crate::hooks::trace::Header;

/// A plan of the trace.
#[derive(Clone, Debug)]
struct Block {
    pc: u64,
    /// Address after it.
    end: u64,
    instructions: u32,
    /// See [`Shape`].
    after_stop: Option<u32>,
    next: Next,
    /// Its header when it stays as it is.
    header: u64,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Open,
    Closed,
    Chased(u64),
    Merged {
        /// The block's header if its jump is not counted.
        header: u64,
        /// The header of the instructions that are counted behind it, where they begin and how many they are.
        second: u64,
        pc: u64,
        instructions: u32,
    },
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
    /// By id of the trace's plans.
    blocks: Vec<Block>,
    /// Plans of the records that are written.
    plans: u32,
    place: Place,
    words: Vec<u64>,
}

/// Where it was at some moment.
#[derive(Clone, Debug)]
pub(super) struct SavedSuperblocks {
    place: Place,
}

impl Superblocks {
    /// Takes in a plan of the trace; ids count up from 0. Hands on the plans that its records may become.
    pub fn add_plan(&mut self, plan: &Plan, mut hand_on: impl FnMut(&Plan)) {
        let mut new = |plan: &Plan| {
            let id = PlanId(self.plans);
            self.plans += 1;
            hand_on(plan);
            (id, plan.header(id))
        };
        // The whole is known by another number here.
        let whole = plan.prefix_of.and_then(|whole| self.blocks.get(whole.0 as usize));
        let own =
            Plan { prefix_of: whole.map(|whole| Header::of(whole.header).plan), shape: None, ..plan.clone() };
        let (id, header) = new(&own);
        let next = match plan.shape.as_deref().map(|shape| &shape.edge) {
            None | Some(Edge::Open) => Next::Open,
            Some(Edge::Closed) => Next::Closed,
            Some(Edge::Chased(target)) => Next::Chased(*target),
            Some(Edge::Merged(second)) => {
                let (_, header) = new(&Plan { end: End::None, prefix_of: Some(id), ..own });
                let (_, behind) = new(second);
                let instructions = second.insns.len() as u32;
                Next::Merged { header, second: behind, pc: second.pc, instructions }
            }
        };
        self.blocks.push(Block {
            pc: plan.pc,
            end: plan.fall_through(),
            instructions: plan.insns.len() as u32,
            after_stop: plan.shape.as_deref().and_then(|shape: &Shape| shape.after_stop).map(u32::from),
            next,
            header,
        });
    }

    /// The records that stand for these. `Some` only until the next call.
    pub fn regroup(&mut self, mut words: &[u64]) -> &[u64] {
        let Superblocks { blocks, place, words: out, .. } = self;
        out.clear();
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            let Some(block) = blocks.get(header.plan.0 as usize) else { break };
            words = next;
            if place.counted > 0 {
                if block.pc == place.at && block.instructions <= place.counted {
                    place.counted -= block.instructions;
                    place.at = block.end;
                    continue;
                }
                *place = Place::default();
            }
            let header = place.pass(block);
            out.push(header);
            out.extend_from_slice(slots);
            if let (true, Next::Merged { second, .. }) = (place.counted > 0, block.next) {
                out.push(second);
            }
        }
        out
    }

    pub fn save(&self) -> SavedSuperblocks {
        SavedSuperblocks { place: self.place }
    }

    pub fn restore(&mut self, saved: &SavedSuperblocks) {
        self.place = saved.place;
    }
}

impl Place {
    /// Control passes a block; what is written for it. With `counted` so is what is counted behind it.
    #[inline(always)]
    fn pass(&mut self, block: &Block) -> u64 {
        if block.pc != self.at {
            *self = Place::default();
        }
        let (mut used, mut extended) = match block.after_stop {
            Some(after) => (after, false),
            None => (self.used + block.instructions, self.extended),
        };
        if used > MAX_INSTRUCTIONS {
            // Superblocks that were full have ended in between.
            used = (used - 1) % MAX_INSTRUCTIONS + 1;
            extended = false;
        }
        let extends = !extended && MAX_INSTRUCTIONS - used >= LEFT_TO_EXTEND;
        *self = match block.next {
            Next::Open if used < MAX_INSTRUCTIONS => Place { used, extended, at: block.end, counted: 0 },
            Next::Chased(target) if extends => Place { used, extended: true, at: target, counted: 0 },
            Next::Merged { header, pc, instructions, .. } if extends => {
                *self = Place { used: 0, extended: false, at: pc, counted: instructions };
                return header;
            }
            _ => Place::default(),
        };
        block.header
    }
}
