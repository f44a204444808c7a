//! References of a thread, which follow its stack of calls. A call costs what the thread has spent
//! when it returns, less what it had spent when it began; so each call takes away from its arc, and
//! each return adds to it.

use crate::hooks::callgraph::batch::{Batch, Change, Event, POP, PUSH, SKIP, Spending};
use crate::hooks::callgraph::costs::BlockId;
use crate::hooks::callgraph::graph::Graph;
use crate::hooks::callgraph::sums::{Growing, Packed, References};

/// References of a thread.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    /// Those of the thread, or of the handler that runs, up to the last record.
    references: Growing,
    /// Those of what handlers have interrupted.
    interrupted: Vec<References>,
    spending: Spending,
    /// References when skipping began.
    skips_since: References,
}

impl Ledger {
    /// Nothing has been spent.
    pub(super) fn new(collects: bool) -> Ledger {
        Ledger {
            references: Growing::default(),
            interrupted: Vec::new(),
            spending: Spending { collects, skipped: None },
            skips_since: References::default(),
        }
    }

    /// Sets all references to zero, as those of all arcs have to be; calls that have not returned
    /// cost from here on.
    pub(super) fn zero(&mut self) {
        self.references = Growing::default();
        self.skips_since = References::default();
        self.interrupted.iter_mut().for_each(|references| *references = References::default());
    }

    /// Adds the references of a record that is collected.
    #[inline(always)]
    pub(super) fn refer(&mut self, record: &Packed) {
        self.references.recent.add(record);
    }

    /// References of the thread, for a loop that adds to them itself.
    #[inline(always)]
    pub(super) fn references(&mut self) -> &mut Growing {
        &mut self.references
    }

    /// Charges the call that is skipped with what was spent since it began.
    pub(super) fn charge_skipped(&mut self, graph: &mut Graph) {
        if let Some(block) = self.spending.skipped {
            graph.skip(block, &self.references.now(), &self.skips_since);
        }
        self.go_on_skipping(self.spending.skipped);
    }

    /// Goes on with a call of the block `skipped`, if there is one, that was charged so far.
    pub(super) fn go_on_skipping(&mut self, skipped: Option<BlockId>) {
        (self.spending.skipped, self.skips_since) = (skipped, self.references.now());
    }

    /// Changes the stack before the next record; `spending` is as it is from there on.
    #[inline(always)]
    pub(super) fn change(
        &mut self,
        batch: &mut Batch,
        graph: &mut Graph,
        change: Change,
        spending: Spending,
    ) {
        let now = self.references.now();
        if let Some(block) = self.spending.skipped {
            graph.skip(block, &now, &self.skips_since);
        }
        match change {
            Change::Push(id) => {
                if let Some(arc) = graph.arcs.get_mut(id as usize) {
                    arc.references.subtract(&now);
                }
                batch.note(PUSH | id);
            }
            Change::Pop { arc: id, times: 1 } => {
                if let Some(arc) = graph.arcs.get_mut(id as usize) {
                    arc.references.add(&now, 1);
                }
                batch.note(POP | id);
            }
            Change::None => {}
            change => self.change_rarely(batch, graph, change, &now),
        }
        if spending.skipped.is_some() {
            self.skips_since = self.references.now();
        }
        if let Change::Push(_) = change {
            self.spending.skipped = None;
        }
        if spending != self.spending {
            match spending.skipped.filter(|_| spending.collects == self.spending.collects) {
                Some(block) => batch.note(SKIP | block),
                None => batch.note_other(Event::Spending(spending)),
            }
            self.spending = spending;
        }
    }

    /// The changes of [`Self::change`] that are rare.
    #[cold]
    fn change_rarely(&mut self, batch: &mut Batch, graph: &mut Graph, change: Change, now: &References) {
        match change {
            Change::PushAgain(arc) => {
                if let Some(arc) = graph.arcs.get_mut(arc as usize) {
                    arc.references.subtract(now);
                }
            }
            Change::Pop { arc, times } => {
                if let Some(arc) = graph.arcs.get_mut(arc as usize) {
                    arc.references.add(now, times);
                }
            }
            Change::Interrupt => {
                self.interrupted.push(*now);
                self.references = Growing::default();
            }
            Change::Resume => self.references = self.interrupted.pop().unwrap_or_default().into(),
            Change::Push(_) | Change::PushUnseen | Change::None => {}
        }
        batch.note_other(Event::Change(change));
    }

    /// Makes room for the references of another batch.
    pub(super) fn settle(&mut self) {
        self.references.settle();
    }
}
