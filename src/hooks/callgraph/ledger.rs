//! Costs of a thread, which follow its stack of calls. While records are walked it is only noted
//! where calls begin and end; when the simulators have had the same records, their costs are known
//! and the notes are settled.

use crate::hooks::callgraph::costs::{ArcId, BlockId};
use crate::hooks::callgraph::graph::Graph;
use crate::hooks::callgraph::sums::{RecordReferences, References, Sum};
use crate::hooks::part::Log;

/// Change of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A call that is not skipped begins.
    Push,
    /// The call on top begins once more.
    PushAgain,
    /// A call that was not seen has begun before anything was spent.
    PushUnseen,
    /// The call on top, or so many of them, end; their arc has the costs.
    Pop { arc: ArcId, times: u64 },
    /// A signal's handler begins.
    Interrupt,
    /// A signal's handler ends.
    Resume,
    /// Only where costs go changes.
    None,
}

/// Places that costs go to, besides the calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spending {
    /// Costs are collected.
    pub(super) collects: bool,
    /// The block whose call is skipped, which costs what is spent.
    pub(super) skipped: Option<BlockId>,
}

/// Change of a stack between two records.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// Number of the record after it, from 1 on.
    before: u32,
    /// References of the batch so far.
    references: References,
    change: Change,
    /// Places that costs go to from here on.
    spending: Spending,
}

/// Most records of a batch: few enough for the host's caches.
const MOST_RECORDS: usize = 1 << 10;

/// Records that have been followed, but not simulated.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// Blocks by record.
    blocks: Vec<BlockId>,
    references: References,
    notes: Vec<Note>,
}

impl Batch {
    /// True if it has to be settled.
    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= MOST_RECORDS
    }

    /// The blocks of its records.
    pub(super) fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// Adds a record with what it references if that is collected.
    #[inline(always)]
    pub(super) fn add(&mut self, block: BlockId, references: Option<&RecordReferences>) {
        self.blocks.push(block);
        if let Some(references) = references {
            self.references.add(references);
        }
    }

    /// Notes a change before the next record.
    #[inline]
    pub(super) fn note(&mut self, change: Change, spending: Spending) {
        let before = self.blocks.len() as u32 + 1;
        if let (Change::None, Some(last)) = (change, self.notes.last_mut())
            && last.before == before
        {
            last.spending = spending;
            return;
        }
        self.notes.push(Note { before, references: self.references, change, spending });
    }

    /// Begins again.
    fn clear(&mut self) {
        self.blocks.clear();
        self.references = References::default();
        self.notes.clear();
    }
}

/// Costs of a thread.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    /// Costs of the thread, or of the handler that runs.
    cost: Sum,
    /// Those of what handlers have interrupted.
    interrupted: Vec<Sum>,
    /// By call that has not returned: the costs when it began; a sum if it began several times.
    entered: Vec<Sum>,
    spending: Spending,
}

impl Ledger {
    /// Nothing has been spent.
    pub(super) fn new(collects: bool) -> Ledger {
        Ledger {
            cost: Sum::default(),
            interrupted: Vec::new(),
            entered: Vec::new(),
            spending: Spending { collects, skipped: None },
        }
    }

    /// Sets all costs to zero; calls that have not returned cost from here on.
    pub(super) fn zero(&mut self) {
        self.cost = Sum::default();
        self.interrupted.iter_mut().chain(&mut self.entered).for_each(|cost| *cost = Sum::default());
    }

    /// Settles a batch, of which the simulators have this log. Both are empty afterwards.
    pub(super) fn settle(&mut self, batch: &mut Batch, log: &mut Log, graph: &mut Graph) {
        let (mut below, mut mispredicted) = (&log.below[..], &log.mispredicted[..]);
        let mut settled = References::default();
        let mut spend = |ledger: &mut Ledger, graph: &mut Graph, before: u32, references: &References| {
            let Spending { collects, skipped } = ledger.spending;
            let earlier = skipped.map(|block| (block, ledger.cost));
            ledger.cost.refer(references, &settled);
            settled = *references;
            while let Some((&(_, kind, ll), rest)) = below.split_first().filter(|(next, _)| next.0 < before) {
                below = rest;
                if collects {
                    ledger.cost.miss(kind, ll);
                }
            }
            while let Some((&(_, indirect), rest)) =
                mispredicted.split_first().filter(|(next, _)| next.0 < before)
            {
                mispredicted = rest;
                if collects {
                    ledger.cost.mispredict(indirect);
                }
            }
            if let Some((block, earlier)) = earlier {
                graph.skip(block, &ledger.cost, &earlier);
            }
        };
        for note in &batch.notes {
            spend(self, graph, note.before, &note.references);
            self.apply(note.change, graph);
            self.spending = note.spending;
        }
        spend(self, graph, u32::MAX, &batch.references);
        log.clear();
        batch.clear();
    }

    fn apply(&mut self, change: Change, graph: &mut Graph) {
        match change {
            Change::Push => self.entered.push(self.cost),
            Change::PushAgain => {
                if let Some(top) = self.entered.last_mut() {
                    top.add(&self.cost);
                }
            }
            Change::PushUnseen => self.entered.push(Sum::default()),
            Change::Pop { arc, times } => {
                let entered = self.entered.pop().unwrap_or_default();
                if let Some(arc) = graph.arcs.get_mut(arc as usize) {
                    if times == 1 {
                        arc.cost.add_since(&self.cost, 1, &entered);
                    } else {
                        arc.cost.add_since(&self.cost, times, &entered);
                    }
                }
            }
            Change::Interrupt => self.interrupted.push(std::mem::take(&mut self.cost)),
            Change::Resume => self.cost = self.interrupted.pop().unwrap_or_default(),
            Change::None => {}
        }
    }
}
