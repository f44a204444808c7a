//! Flow of control through the records of an account: the stack of the thread that runs, the graph,
//! and the references, all of which need no simulator.

use std::sync::Arc;

use crate::hooks::callgraph::batch::{Batch, MOST_RECORDS};
use crate::hooks::callgraph::costs::BlockId;
use crate::hooks::callgraph::dumps::Demands;
use crate::hooks::callgraph::graph::Graph;
use crate::hooks::callgraph::walker::{CallRules, Thread, Walker};
use crate::hooks::control::Control;
use crate::hooks::plan::Plan;
use crate::hooks::record::{Header, MAX_BLOCK, is_noted};

/// Stack, graph and references.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) rules: CallRules,
    pub(super) graph: Graph,
    /// The thread that runs.
    pub(super) thread: Thread,
    /// Demands of the functions that were entered and left since the last block.
    pub(super) demands: Demands,
    /// Instructions since the last dump.
    pub(super) since_dump: u64,
    /// Blocks of the graph that the simulators have.
    pub(super) numbered: usize,
    /// Only records that something is noted in can miss.
    pub(super) only_noted_miss: bool,
}

/// Reason why following records has ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// The batch is full, or no words are left.
    Full,
    /// The words that are left begin with a block that control has been followed to, and that the
    /// simulators have to be told of first, or whose function demands something.
    Begun { pc: u64, block: BlockId, collects: bool },
    /// They begin with a block before which costs are dumped, or with something that is no block.
    Special { pc: u64 },
    /// They begin with an instruction to the consumers, or with nothing that is known.
    Control,
}

impl Stop {
    /// The address that control has reached, if it is known.
    pub(super) fn pc(self) -> Option<u64> {
        match self {
            Stop::Begun { pc, .. } | Stop::Special { pc } => Some(pc),
            Stop::Full | Stop::Control => None,
        }
    }
}

impl Flow {
    /// Nothing has run.
    pub(super) fn new(rules: CallRules) -> Flow {
        Flow {
            rules,
            graph: Graph::default(),
            thread: Thread::new(rules),
            demands: Demands::default(),
            since_dump: 0,
            numbered: 0,
            only_noted_miss: false,
        }
    }

    /// The stack, to be walked on.
    pub(super) fn walker<'a>(&'a mut self, batch: &'a mut Batch) -> Walker<'a> {
        let Flow { rules, graph, thread, demands, .. } = self;
        Walker { rules: *rules, graph, thread, demands, batch }
    }

    /// True if costs are to be dumped before the next block.
    pub(super) fn dumps(&self) -> bool {
        self.rules.dump_every > 0 && self.since_dump >= self.rules.dump_every
    }

    /// Number of records that costs are not dumped before, of those that go to a batch.
    fn until_dump(&self) -> usize {
        let instructions = self.rules.dump_every.saturating_sub(self.since_dump);
        match self.rules.dump_every {
            0 => MOST_RECORDS,
            _ if instructions > MOST_RECORDS as u64 * MAX_BLOCK => MOST_RECORDS,
            _ => usize::from(instructions > 0),
        }
    }

    /// Follows records, and adds them to the batch. Returns the number of their instructions, the
    /// words that are left, and the reason why it ends.
    #[inline(never)]
    pub(super) fn follow<'w>(
        &mut self,
        batch: &mut Batch,
        plans: &[Arc<Plan>],
        mut words: &'w [u64],
    ) -> (u64, &'w [u64], Stop) {
        let mut instructions = 0;
        let stop = loop {
            let most = self.until_dump();
            let only_noted_miss = self.only_noted_miss;
            let (usual, rest) = self.walker(batch).go_on(words, most, only_noted_miss);
            (instructions, words) = (instructions + usual, rest);
            self.since_dump += usual;
            let Some(&word) = words.first().filter(|_| batch.room() > 0) else { break Stop::Full };
            let header = Header::of(word);
            let Some((record, next)) = words.split_at_checked(1 + header.slots) else { break Stop::Control };
            let plan = plans.get(header.plan.0 as usize).filter(|_| !Control::is(header));
            let Some(plan) = plan else { break Stop::Control };
            let facts = plan.call_facts().filter(|_| header.instructions > 0 && !self.dumps());
            let Some(facts) = facts else { break Stop::Special { pc: plan.pc } };
            let (block, collects) = self.walker(batch).begin((header.plan, plan), facts);
            if !self.demands.is_empty() || self.graph.blocks.len() > self.numbered {
                break Stop::Begun { pc: plan.pc, block, collects };
            }
            let left = words.len();
            words = next;
            instructions += header.instructions;
            self.pass(batch, (block, collects), header, (record, left));
        };
        if !matches!(stop, Stop::Full) || words.is_empty() {
            self.graph.settle_summaries(batch);
        }
        self.thread.ledger.settle();
        (instructions, words, stop)
    }

    /// Passes the record of a block that control has been followed to, from which on so many words
    /// are left.
    pub(super) fn pass(
        &mut self,
        batch: &mut Batch,
        (block, collects): (BlockId, bool),
        header: Header,
        (record, left): (&[u64], usize),
    ) {
        self.since_dump += header.instructions;
        let Some(step) = self.graph.steps.get(block as usize) else { return };
        self.thread.step(step, record);
        let varies = step.varies;
        batch.add(block, left, varies || record.first().is_some_and(|&word| is_noted(word)));
        if collects {
            self.thread.ledger.refer(step.referenced(block, &self.graph.varying, record));
        }
    }
}
