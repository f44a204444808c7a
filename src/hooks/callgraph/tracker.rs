//! The call graph of an account: the walk over its records, and the stacks of its threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::hooks::callgraph::batch::{Batch, Unsettled};
use crate::hooks::callgraph::costs::{ArcId, BlockId, CallCosts};
use crate::hooks::callgraph::dumps::{Collection, Demand, Demands, Dumps, Trigger};
use crate::hooks::callgraph::flow::{Flow, Stop};
use crate::hooks::callgraph::misses::{MissLedger, Misses};
use crate::hooks::callgraph::simulation::Simulation;
use crate::hooks::callgraph::step::Varying;
use crate::hooks::callgraph::sums::Packed;
use crate::hooks::callgraph::walker::{CallRules, Thread, Walker};
use crate::hooks::counts::Counted;
use crate::hooks::deferred::{Deferred, Lent, Reading};
use crate::hooks::executions::Count;
use crate::hooks::lookout::Miss;
use crate::hooks::misses_below::MissesOf;
use crate::hooks::numbering::Numbering;
use crate::hooks::part::{Log, Part};
use crate::hooks::plan::Plan;
use crate::hooks::record::Header;

/// Records of a batch from which on its simulation may be put off: new code is simulated as it
/// comes, since its plans have to be known first.
const WORTH_DEFERRING: usize = 256;

/// Call stacks and the graph of an account.
#[derive(Clone, Debug)]
pub(in crate::hooks) struct CallTracker {
    flow: Flow,
    simulation: Simulation,
    /// The simulators are lent to what is put off.
    lent: bool,
    /// Number of the thread that runs; `None` until it is told.
    task: Option<u32>,
    others: BTreeMap<u32, (Thread, MissLedger)>,
    /// Records that have been followed; empty between walks.
    batch: Batch,
    dumps: Dumps,
    /// Counts that are in the dumps.
    dumped: Counted,
}

impl CallTracker {
    /// Nothing has run.
    pub(in crate::hooks) fn new(rules: CallRules) -> CallTracker {
        CallTracker {
            flow: Flow::new(rules),
            simulation: Simulation {
                ledger: MissLedger::new(rules.collect_at_start),
                misses: Misses::default(),
            },
            lent: false,
            task: None,
            others: BTreeMap::new(),
            batch: Batch::default(),
            dumps: Dumps::default(),
            dumped: Counted::default(),
        }
    }

    /// The same with nothing in it.
    pub(in crate::hooks) fn emptied(&self) -> CallTracker {
        CallTracker::new(self.flow.rules)
    }

    /// The tracker of a child of fork(2), which runs on where its parent made it. Blocks have
    /// other numbers there.
    pub(in crate::hooks) fn forked(
        &self,
        part: &mut Part,
        numbering: &mut Numbering,
        plans: &[Arc<Plan>],
    ) -> CallTracker {
        let mut child = CallTracker { task: None, others: BTreeMap::new(), ..self.clone() };
        child.zero();
        child.dumps = Dumps::default();
        child.number_blocks(part, numbering, plans);
        child
    }

    /// True if blocks have the numbers that they have in another one.
    pub(in crate::hooks) fn numbers_blocks_as(&self, other: &CallTracker) -> bool {
        self.flow.graph.numbers_blocks_as(&other.flow.graph)
    }

    /// Bytes that it takes, roughly.
    pub(in crate::hooks) fn bytes(&self) -> u64 {
        let others = self.others.values().map(|(thread, _)| thread.bytes());
        let threads = self.flow.thread.bytes() + others.sum::<u64>();
        self.flow.graph.bytes() + self.simulation.misses.bytes() + threads + self.dumped.bytes()
    }

    /// Numbers the blocks of the graph that the part does not have yet.
    pub(in crate::hooks) fn number_blocks(
        &mut self,
        part: &mut Part,
        numbering: &mut Numbering,
        plans: &[Arc<Plan>],
    ) {
        let graph = &mut self.flow.graph;
        for number in part.index().entries.len()..graph.blocks.len() {
            let Some(&block) = graph.blocks.get(number) else { return };
            if let Some(plan) = plans.get(block.plan.0 as usize) {
                part.add_plan(plan, None);
                numbering.push(block.plan);
                if block.uncollected {
                    part.leave_last_out();
                }
                let index = part.index();
                let references = |iterates| Packed::of(&index.references(number, iterates));
                let varying = index.repeats(number).map(|slot| Varying { slot, at_zero: references(false) });
                graph.set_references(number as BlockId, references(true), varying);
            }
        }
        self.flow.numbered = graph.blocks.len();
    }

    /// Sets all costs to zero; calls that have not returned cost from here on.
    pub(in crate::hooks) fn zero(&mut self) {
        self.dumped = Counted::default();
        self.begin_part();
    }

    /// Begins a part: nothing of it has been spent.
    fn begin_part(&mut self) {
        self.flow.since_dump = 0;
        self.flow.graph.zero();
        self.simulation.misses.zero();
        let running = (&mut self.flow.thread, &mut self.simulation.ledger);
        let others = self.others.values_mut().map(|(thread, ledger)| (thread, ledger));
        for (thread, ledger) in others.chain([running]) {
            thread.ledger.zero();
            ledger.zero();
        }
    }

    /// Goes on with another thread.
    pub(in crate::hooks) fn switch(&mut self, task: u32) {
        let Some(before) = self.task.replace(task).filter(|before| *before != task) else { return };
        let new = || (Thread::new(self.flow.rules), MissLedger::new(self.flow.rules.collect_at_start));
        let (thread, ledger) = self.others.remove(&task).unwrap_or_else(new);
        let thread = std::mem::replace(&mut self.flow.thread, thread);
        self.others.insert(before, (thread, std::mem::replace(&mut self.simulation.ledger, ledger)));
    }

    /// Forgets all stacks: what comes is not counted for a while.
    pub(in crate::hooks) fn unwind(&mut self) {
        let CallTracker { flow, simulation: Simulation { ledger, misses }, others, batch, .. } = self;
        let Flow { rules, graph, thread, demands, .. } = flow;
        let others = others.values_mut().map(|(thread, ledger)| (thread, ledger));
        for (thread, ledger) in others.chain([(thread, ledger)]) {
            Walker { rules: *rules, graph, thread, demands, batch }.leave_all();
            ledger.settle(batch, &mut Log::default(), misses);
            // Calls that are not seen from here on have cost nothing of what was before.
            thread.ledger.zero();
            ledger.zero();
        }
        *demands = Demands::default();
    }

    /// The graph with its costs. Calls that have not returned cost what they have cost until now.
    pub(in crate::hooks) fn costs(&self, part: &Part, plans: &[Arc<Plan>]) -> CallCosts {
        self.costs_of(part, part.counted(), plans)
    }

    /// The same, where the part has `counted` so much.
    fn costs_of(&self, part: &Part, mut counted: Counted, plans: &[Arc<Plan>]) -> CallCosts {
        counted.subtract(&self.dumped);
        let costs =
            |of: &CallTracker| of.flow.graph.costs(&of.simulation.misses, part.index(), &counted, plans);
        if self.is_unwound() {
            return costs(self);
        }
        let mut now = self.clone();
        now.unwind();
        costs(&now)
    }

    /// True if [`Self::unwind`] would change no costs.
    fn is_unwound(&self) -> bool {
        let others = self.others.values().map(|(thread, _)| thread);
        others.chain([&self.flow.thread]).all(Thread::is_unwound)
    }

    /// The parts that have been dumped.
    pub(in crate::hooks) fn dumps(&self) -> &Dumps {
        &self.dumps
    }

    /// Makes a part of the costs since the one before.
    #[cold]
    fn dump(&mut self, part: &Part, plans: &[Arc<Plan>], trigger: Trigger) {
        if !self.dumps.has_room() {
            return;
        }
        let counted = part.counted();
        let costs = self.costs_of(part, counted.clone(), plans);
        self.dumped = counted;
        self.begin_part();
        // As Callgrind: calls that have cost nothing are not listed, and count in the next part.
        for (arc, call) in self.flow.graph.arcs.iter_mut().zip(costs.calls.iter()) {
            arc.calls = if call.cost.ir == 0 { call.calls } else { 0 };
        }
        self.dumps.add(trigger, costs);
    }

    /// Does what the functions that were entered and left have asked for.
    #[cold]
    fn meet_demands(&mut self, part: &mut Part, plans: &[Arc<Plan>]) {
        let demands: Demands = std::mem::take(&mut self.flow.demands);
        let (before, after) = demands.split();
        let late = demands.late.map(|(_, arc)| arc);
        self.recount(late, |calls| calls.saturating_sub(1));
        before.iter().for_each(|demand| self.meet(*demand, part, plans));
        self.recount(late, |calls| calls + 1);
        after.iter().for_each(|demand| self.meet(*demand, part, plans));
    }

    fn recount(&mut self, arc: Option<ArcId>, count: impl Fn(u64) -> u64) {
        if let Some(arc) = arc.and_then(|arc| self.flow.graph.arcs.get_mut(arc as usize)) {
            arc.calls = count(arc.calls);
        }
    }

    /// Makes a part that somebody outside of the run asks for.
    pub(in crate::hooks) fn dump_as_ordered(&mut self, part: &mut Part, plans: &[Arc<Plan>]) {
        self.meet(Demand::Dump(Trigger::Ordered), part, plans);
    }

    fn meet(&mut self, demand: Demand, part: &mut Part, plans: &[Arc<Plan>]) {
        match demand {
            Demand::Dump(trigger) => self.dump(part, plans, trigger),
            Demand::Zero => {
                part.set_counted(&Counted::default());
                self.zero();
            }
        }
    }

    /// Does what the program asks for with the costs so far. As Callgrind: the block that asks is
    /// in the calls that it is in, but its own instructions count to its function after it; where
    /// they are collected no longer, or not yet, not at all.
    pub(in crate::hooks) fn collect(&mut self, what: Collection, part: &mut Part, plans: &[Arc<Plan>]) {
        let asking = self.flow.thread.last_block();
        let asking = asking.filter(|_| self.flow.walker(&mut self.batch).collects());
        let asking = asking.map(|block| block as usize);
        asking.iter().for_each(|block| part.take_execution_back(*block));
        match what {
            Collection::Dump(reason) => self.meet(Demand::Dump(Trigger::Request(reason)), part, plans),
            Collection::Zero => self.meet(Demand::Zero, part, plans),
            Collection::Toggle => {
                self.flow.walker(&mut self.batch).toggle();
                let Simulation { ledger, misses } = &mut self.simulation;
                ledger.settle(&mut self.batch, part.log(), misses);
                return;
            }
        }
        let once = Count { executed: 1, mispredicted: 0 };
        asking.iter().for_each(|block| part.add_executions(*block, &once));
    }

    /// Walks records to the next instruction to the consumers. Returns the number of their
    /// instructions and the words that are left. The part is not here then if simulation is put
    /// off, until [`Self::recall`].
    pub(in crate::hooks) fn walk<'w>(
        &mut self,
        part: &mut Part,
        numbering: &mut Numbering,
        plans: &[Arc<Plan>],
        words: &'w [u64],
        reading: Option<Reading>,
    ) -> (u64, &'w [u64]) {
        let mut run = |calls: &mut CallTracker, part: &mut Part, words: Unsettled, stop: Stop| {
            let many = calls.lent || calls.batch.followed() >= WORTH_DEFERRING;
            let deferred = reading.and_then(|reading| Some((reading, reading.deferred?)));
            match deferred {
                Some(to) if many && matches!(stop, Stop::Full) => calls.put_off(part, words, to),
                _ => {
                    deferred.iter().for_each(|(_, deferred)| calls.recall(part, deferred));
                    let missed = reading.map_or_else(MissesOf::default, |reading| reading.missed(words));
                    calls.simulation.run(part, words, missed, &mut calls.batch, stop.pc());
                }
            }
        };
        self.walk_with(&mut run, (part, numbering, plans), words)
    }

    /// Puts the simulation of the batch off.
    fn put_off(&mut self, part: &mut Part, words: Unsettled, (reading, deferred): (Reading, &Deferred)) {
        if !std::mem::replace(&mut self.lent, true) {
            let away = || Simulation { ledger: MissLedger::new(false), misses: Misses::default() };
            let simulation = std::mem::replace(&mut self.simulation, away());
            let part = std::mem::replace(part, Part::new(None, None));
            deferred.lend(Lent::Part(Box::new((part, simulation))));
        }
        reading.put_off(deferred, words, &mut self.batch);
    }

    /// Takes the part back, when everything that was put off has been simulated.
    pub(in crate::hooks) fn recall(&mut self, part: &mut Part, deferred: &Deferred) {
        if std::mem::take(&mut self.lent)
            && let Some(Lent::Part(back)) = deferred.recall()
        {
            (*part, self.simulation) = *back;
        }
    }

    /// Walks one record, and notes its misses as [`Part::walk_noting`].
    pub(in crate::hooks) fn walk_noting(
        &mut self,
        part: &mut Part,
        numbering: &mut Numbering,
        plans: &[Arc<Plan>],
        record: &[u64],
        note: &mut dyn FnMut(Option<usize>, u64, Miss),
    ) {
        let mut noting = |calls: &mut CallTracker, part: &mut Part, words: Unsettled, stop: Stop| {
            let CallTracker { simulation, batch, .. } = calls;
            let block = batch.blocks().first().map(|block| *block as usize);
            part.noting(block, |part| part.walk_logging(words.batch(), batch.blocks()), &mut *note);
            part.noting(None, |part| simulation.settle(part, batch, stop.pc()), &mut *note);
        };
        self.walk_with(&mut noting, (part, numbering, plans), record);
    }

    /// Walks records, which `run` simulates and settles.
    fn walk_with<'w>(
        &mut self,
        run: &mut impl FnMut(&mut CallTracker, &mut Part, Unsettled, Stop),
        (part, numbering, plans): (&mut Part, &mut Numbering, &[Arc<Plan>]),
        mut words: &'w [u64],
    ) -> (u64, &'w [u64]) {
        if !self.lent {
            self.flow.only_noted_miss = part.counts_only();
        }
        let mut instructions = 0;
        // Those of the batch are at its beginning.
        let mut unsettled = words;
        loop {
            let (followed, rest, stop) = self.flow.follow(&mut self.batch, plans, words);
            run(self, part, Unsettled { words: unsettled, after: rest.len() }, stop);
            (instructions, words, unsettled) = (instructions + followed, rest, rest);
            let record = words.first().map(|&word| Header::of(word));
            let record = record.and_then(|header| Some((header, words.split_at_checked(1 + header.slots)?)));
            let Some((header, (record, next))) = record else { break };
            let slots = record.get(1..).unwrap_or_default();
            match stop {
                Stop::Full => continue,
                Stop::Control => break,
                Stop::Special { .. } if self.flow.dumps() => {
                    self.dump(part, plans, Trigger::Instructions(self.flow.rules.dump_every));
                    self.flow.since_dump = 0;
                    continue;
                }
                Stop::Special { .. } => {
                    let plan = plans.get(header.plan.0 as usize);
                    if let Some(between) = plan.and_then(|plan| plan.between) {
                        let sp = slots.first().copied().unwrap_or_default();
                        self.flow.walker(&mut self.batch).between(between, sp);
                    }
                    self.flow.since_dump += header.instructions;
                    unsettled = next;
                }
                Stop::Begun { block, collects, .. } => {
                    if !self.flow.demands.is_empty() {
                        self.meet_demands(part, plans);
                    }
                    self.number_blocks(part, numbering, plans);
                    let record = (record, words.len());
                    self.flow.pass(&mut self.batch, (block, collects), header, record);
                }
            }
            (instructions, words) = (instructions + header.instructions, next);
        }
        (instructions, words)
    }
}
