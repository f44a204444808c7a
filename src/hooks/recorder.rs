//! The recorder: the producer's end of the trace. Generated code fills its buffer; full buffers go
//! through the filter to the consumers. Its folder has what it does for many tasks and checkpoints.

mod accounts;
pub(crate) mod checkpoint;
pub(crate) mod counting;
mod sightings;
mod tasks;
mod turns;

use std::ops::Range;

use crate::hooks::buffer::Handed;
use crate::hooks::callgraph::facts::Between;
use crate::hooks::consumer::Consumer;
use crate::hooks::control::{AccountId, CONTROL_WORDS, Control};
use crate::hooks::executions::Executions;
use crate::hooks::fault::{Cause, FaultingInsn};
use crate::hooks::filter::{Drain, Identity, RecordFilter};
use crate::hooks::plan::{MappingId, NO_MAPPING, PlannedEvent};
use crate::hooks::plan_table::PlanTable;
use crate::hooks::private_code::CodeInNoFile;
use crate::hooks::record::{
    BUFFER_WORDS, Header, MISSED, Mispredicted, PARTIAL_BUFFER_WORDS, PlanId, Running, instructions,
};
use crate::hooks::recorder::tasks::Tasks;
use crate::hooks::successors::Successors;
use crate::hooks::superblock_filter::SuperblockFilter;
use crate::hooks::worker::Link;
use crate::x86::decode::Fetch;

/// Definition of what is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountModel {
    /// Every instruction that is executed, as Cachegrind's manual defines it.
    #[default]
    Arch,
    /// The superblocks that Valgrind translates, as an unmodified Valgrind counts.
    Valgrind,
}

/// Buffer that is being filled, plans, filter, and link to the consumers.
pub(crate) struct Recorder {
    /// The plans of this run.
    pub(crate) plans: PlanTable,
    words: Box<[u64]>,
    len: usize,
    /// Words of the buffer that have passed the filter: those before the current task's.
    filtered: usize,
    /// Words of the buffer of which the instructions are in `counted`.
    walked: usize,
    counted: u64,
    /// Instructions in the buffers handed over, while exact numbers are asked for.
    handed_over: Option<u64>,
    /// Buffers handed over since an exact number was asked for.
    unasked: u32,
    tasks: Tasks,
    /// Counts that generated code makes itself, if it does.
    executions: Option<Executions>,
    /// A trace is written beside them: they are only of mispredictions.
    traces: bool,
    /// Usual successors of blocks, if generated code may join them.
    successors: Option<Successors>,
    /// Bytes that accounts of processes that did not run took, a while ago.
    resting_bytes: u64,
    /// Something is looked out for, in whatever runs.
    watching: bool,
    /// The consumers follow calls.
    follows_calls: bool,
    /// A trace has the addresses of all accesses.
    records_all: bool,
    link: Link,
    filter: Box<dyn RecordFilter>,
    /// Bytes of code that is in no file, if they are wanted.
    code: Option<CodeInNoFile>,
}

/// Buffers of which the producer counts the instructions itself after it has waited for the
/// consumers to answer with an exact number. Waiting each time would stall them.
const COUNTED_AHEAD: u32 = 16;

impl Recorder {
    /// Creates a recorder that feeds `link`. `with_data` says that data events are counted.
    pub(crate) fn new(mut link: Link, model: CountModel, with_data: bool) -> Recorder {
        let filter: Box<dyn RecordFilter> = match model {
            CountModel::Arch => Box::new(Identity),
            CountModel::Valgrind => Box::new(SuperblockFilter::new(with_data)),
        };
        let words = link.buffer();
        Recorder {
            plans: PlanTable::default(),
            words,
            len: 0,
            filtered: 0,
            walked: 0,
            counted: 0,
            handed_over: None,
            unasked: 0,
            tasks: Tasks::first(),
            executions: None,
            traces: true,
            successors: None,
            resting_bytes: 0,
            watching: false,
            follows_calls: false,
            records_all: true,
            link,
            filter,
            code: None,
        }
    }

    /// Buffer that is being filled. It has room for a record that begins below
    /// [`Self::most_words`].
    pub(crate) fn words(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Place of the next record.
    pub(crate) fn position(&self) -> u64 {
        if self.counts_executions() { self.tasks.unrecorded } else { self.len as u64 }
    }

    /// Tests whether the record that began at `start` is the last.
    pub(crate) fn is_last(&self, start: u64) -> bool {
        match &self.executions {
            Some(executions) if !self.traces => executions
                .last
                .is_some_and(|plan| start + self.instructions_of(plan) == self.tasks.unrecorded),
            _ => {
                let header = self.words.get(start as usize).map(|&word| Header::of(word));
                header.is_some_and(|header| start + 1 + header.slots as u64 == self.len as u64)
            }
        }
    }

    /// Words filled so far.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Sets the number of words that generated code has filled.
    pub(crate) fn set_len(&mut self, len: usize) {
        self.len = len.min(self.words.len());
    }

    /// Words in the buffer at which it is handed over.
    pub(crate) fn most_words(&self) -> usize {
        if self.records_all { BUFFER_WORDS } else { PARTIAL_BUFFER_WORDS }
    }

    /// Appends a record.
    pub(crate) fn append(&mut self, plan: PlanId, slots: &[u64]) {
        let Some(header) = self.plans.get(plan).map(|p| p.header(plan)) else { return };
        if self.executions.is_some() {
            let pc = self.plans.get(plan).map_or(0, |plan| plan.pc);
            self.decide_branch(pc);
        }
        if let Some(executions) = self.executions.as_mut().filter(|_| !self.traces) {
            executions.add(plan);
            self.tasks.unrecorded += Header::of(header).instructions;
            return;
        }
        if self.len >= self.most_words() {
            self.flush_full();
        }
        self.words[self.len] = header;
        self.words[self.len + 1..][..slots.len()].copy_from_slice(slots);
        self.len += 1 + slots.len();
    }

    /// Records that control is at `pc`, wherever the last record leads.
    pub(crate) fn point(&mut self, pc: u64) {
        let plan = self.plans.point(pc, None);
        self.append(plan, &[]);
    }

    /// Records something between two blocks for the call graph, if there is one: control is at
    /// `pc` then, and the stack pointer is `sp`.
    pub(crate) fn between(&mut self, what: Between, pc: u64, sp: u64) {
        if self.follows_calls {
            let plan = self.plans.point(pc, Some(what));
            self.append(plan, &[sp]);
        }
    }

    /// Has the records followed for a call graph from the first on.
    pub(crate) fn follow_calls(&mut self) {
        self.follows_calls = true;
        self.filter.follow_calls();
    }

    /// True if there is a call graph.
    pub(crate) fn follows_calls(&self) -> bool {
        self.follows_calls
    }

    /// Cuts the last record before the instruction at `pc`, which did not run. Drops the slots
    /// behind it, which are stale.
    pub(crate) fn cut(&mut self, pc: u64) {
        let Some((at, id, insn)) = self.find_in_last(pc) else { return };
        let prefix = self.plans.prefix(id, insn as u16, None);
        self.shorten(at, prefix);
    }

    /// Replaces the plan of the last record, which is at an index, by a prefix.
    fn shorten(&mut self, at: usize, prefix: PlanId) {
        self.await_branch(prefix);
        let Some(plan) = self.plans.get(prefix) else { return };
        let events = plan.events.len();
        self.take_accesses_back(events);
        let Some(plan) = self.plans.get(prefix) else { return };
        if let Some(executions) = self.executions.as_mut().filter(|_| !self.traces) {
            let Some(whole) = executions.last else { return };
            executions.shorten(whole, prefix);
            self.tasks.unrecorded -= self.instructions_of(whole) - self.instructions_of(prefix);
            return;
        }
        let mispredicted = Mispredicted::of(self.words[at]);
        let header = mispredicted.keep_inside(plan.header(prefix), plan.inside.len());
        let header = header | self.words[at] & MISSED;
        let slots = usize::from(plan.slots);
        if self.walked > at {
            self.counted -= Header::of(self.words[at]).instructions;
            self.walked = at;
        }
        self.words[at] = header;
        self.len = at + 1 + slots;
    }

    /// Sets the address of the only access of the instruction at `pc`, in the last record.
    pub(crate) fn set_address(&mut self, pc: u64, addr: u64) {
        let Some((at, id, insn)) = self.find_in_last(pc) else { return };
        let events = self.plans.get(id).map_or(&[][..], |plan| &plan.events);
        let its = |event: &PlannedEvent| usize::from(event.insn) == insn;
        let Some(index) = events.iter().position(its) else { return };
        let event = events[index];
        let PlannedEvent { slot, size, .. } = event;
        if !self.counts_executions() && event.is_recorded() {
            self.words[at + 1 + usize::from(slot)] = addr;
        }
        if let Some(clock) = self.inline_caches().map(|caches| caches.clock()) {
            self.accessed(Running { plan: id, at }, index as u16, (addr, size), (clock, true));
        }
    }

    /// Cuts the last record at the instruction at `pc`, which faulted after it was fetched.
    /// `readable` tests whether an address can be read.
    pub(crate) fn fault(&mut self, pc: u64, cause: Cause, readable: &mut dyn FnMut(u64) -> bool) {
        let Some((at, id, insn)) = self.find_in_last(pc) else { return };
        let Some(plan) = self.plans.get(id) else { return };
        let slots = &self.words[at + 1..];
        let events =
            self.filter.events_before_fault(&mut FaultingInsn { cause, plan, insn, slots, readable });
        let prefix = self.plans.prefix(id, insn as u16, Some(events as u16));
        self.shorten(at, prefix);
        self.filter.faulted(cause, self.len - self.filtered);
    }

    /// Index and plan of the last record, and the index in it of the instruction at `pc`.
    fn find_in_last(&self, pc: u64) -> Option<(usize, PlanId, usize)> {
        let (at, id) = self.last_record()?;
        let insn = self.plans.get(id)?.insns.iter().position(|insn| insn.pc() == pc)?;
        Some((at, id, insn))
    }

    /// Number of instructions of a plan.
    fn instructions_of(&self, plan: PlanId) -> u64 {
        self.plans.get(plan).map_or(0, |plan| plan.insns.len() as u64)
    }

    /// Address of the last instruction of the last record.
    pub(crate) fn last_instruction(&self) -> Option<u64> {
        let (_, id) = self.last_record()?;
        self.plans.get(id)?.insns.last().map(|insn| insn.pc())
    }

    /// Index and plan of the last record; generated code that counts itself leaves only the plan.
    fn last_record(&self) -> Option<(usize, PlanId)> {
        if let Some(executions) = self.executions.as_ref().filter(|_| !self.traces) {
            return executions.last.map(|plan| (0, plan));
        }
        let mut last = None;
        let mut at = 0;
        while at < self.len {
            let header = Header::of(self.words[at]);
            last = Some((at, header.plan));
            at += 1 + header.slots;
        }
        last
    }

    /// Hands the buffer over and takes an empty one. Keeps the few records that a fault may still
    /// take back.
    pub(crate) fn flush(&mut self) {
        self.hand_over(Drain::Decided);
    }

    fn hand_over(&mut self, drain: Drain) {
        self.tell_executions();
        self.send_words(drain);
    }

    /// Hands a full buffer over. What generated code counts itself is not told yet.
    pub(crate) fn flush_full(&mut self) {
        self.send_words(Drain::Decided);
    }

    fn send_words(&mut self, drain: Drain) {
        self.drop_uncounted();
        if self.len == 0 {
            return;
        }
        let len = self.len;
        if let Some(executions) = &mut self.executions {
            executions.add_untold(len as u64);
        }
        if let Some(successors) = &mut self.successors {
            successors.sample(self.words.get(..len).unwrap_or_default(), &self.plans);
        }
        if self.handed_over.is_some() {
            self.walk();
        }
        let (counted, filtered) = (self.counted, self.filtered);
        self.drop_buffer();
        let drained = filtered + self.filter(filtered..len, drain);
        let mut empty = self.link.buffer();
        let kept = &self.words[drained..len];
        empty[..kept.len()].copy_from_slice(kept);
        self.len = kept.len();
        let not_drained = instructions(kept);
        let words = std::mem::replace(&mut self.words, empty);
        let empty = self.link.list();
        let missed = self.inline_caches().map_or_else(Vec::new, |caches| caches.take_missed(drained, empty));
        let plans = self.plans.take_new();
        self.link.send(Handed { words, len: drained, plans, missed, ..Handed::default() });
        if let Some(handed_over) = self.handed_over {
            self.unasked += 1;
            self.handed_over = (self.unasked <= COUNTED_AHEAD).then_some(handed_over + counted - not_drained);
        }
    }

    /// Passes words of the buffer through the filter. Returns the number of those that are ready
    /// for the consumers.
    fn filter(&mut self, words: Range<usize>, drain: Drain) -> usize {
        let words = self.words.get_mut(words).unwrap_or_default();
        if !self.tasks.account.is_counted() {
            return words.len();
        }
        self.filter.drain(words, drain, &mut self.plans)
    }

    /// Passes all words of the current task through the filter.
    fn decide(&mut self) {
        self.drop_uncounted();
        self.filter(self.filtered..self.len, Drain::All);
        self.filtered = self.len;
    }

    /// Drops the records of a task without an account, whose instructions only move the clock.
    fn drop_uncounted(&mut self) {
        if self.tasks.account.is_counted() || self.watching {
            return;
        }
        let dropped = instructions(self.words.get(self.filtered..self.len).unwrap_or_default());
        self.tasks.unrecorded += dropped;
        if self.walked > self.filtered {
            let walked = self.words.get(self.filtered..self.walked).unwrap_or_default();
            self.counted -= instructions(walked);
            self.walked = self.filtered;
        }
        self.len = self.filtered;
        let len = self.len;
        if let Some(caches) = self.inline_caches() {
            caches.drop_missed(len);
        }
    }

    /// Appends an instruction to the consumers behind what has passed the filter.
    fn control(&mut self, control: Control) {
        if self.executions.is_some() {
            self.count_from_here(control);
        }
        if self.len >= BUFFER_WORDS {
            self.hand_over(Drain::All);
        }
        if let Some(words) = self.words.get_mut(self.len..self.len + CONTROL_WORDS) {
            words.copy_from_slice(&control.record());
            self.len += CONTROL_WORDS;
        }
        self.filtered = self.len;
        if self.counts_executions() {
            self.send_words(Drain::All);
        }
    }

    /// Learns that a block at `pc` of this mapping has been translated. `fetch` reads the code.
    pub(crate) fn translated(&mut self, pc: u64, mapping: MappingId, fetch: &mut Fetch<'_>) {
        self.filter.translated(pc, mapping, fetch, self.len - self.filtered);
    }

    /// Learns that a block got this plan, which is alone.
    pub(crate) fn translated_alone(&mut self, id: PlanId) {
        if let (Some(successors), Some(plan)) = (&mut self.successors, self.plans.get(id)) {
            successors.translated(id, plan);
        }
    }

    /// Usual successors of blocks, if generated code may join them.
    pub(crate) fn successors(&self) -> Option<&Successors> {
        self.successors.as_ref()
    }

    /// Takes the blocks that are to begin superblocks, of which the code is to be dropped: address
    /// and mapping.
    pub(crate) fn take_hot(&mut self) -> Vec<(u64, MappingId)> {
        let Some(successors) = &mut self.successors else { return Vec::new() };
        if let Some(executions) = self.executions.as_ref().filter(|_| !self.traces) {
            successors.count(&executions.tally.counts);
        }
        successors
            .take_hot()
            .into_iter()
            .filter_map(|id| self.plans.get(id))
            .map(|plan| (plan.pc, plan.mapping))
            .collect()
    }

    /// Keeps the bytes of code that is in no file, from here on.
    pub(crate) fn keep_code(&mut self) {
        self.code = Some(CodeInNoFile::default());
    }

    /// Notes the code of a plan that has just been made, if it is kept. `fetch` reads it.
    pub(crate) fn note_code(&mut self, plan: PlanId, fetch: &mut Fetch<'_>) {
        let (Some(code), Some(plan)) = (&mut self.code, self.plans.get(plan)) else { return };
        if plan.mapping != NO_MAPPING {
            return;
        }
        let account = self.tasks.process(self.tasks.account);
        for insn in &plan.insns {
            let (bytes, len) = fetch(insn.pc());
            if let Some(bytes) = bytes.get(..usize::from(insn.len()).min(len)) {
                code.note(account, insn.pc(), bytes);
            }
        }
    }

    /// The code that is in no file, as it was when it was translated, if it is kept.
    pub(crate) fn code(&self) -> Option<&CodeInNoFile> {
        self.code.as_ref()
    }

    /// Gives out the code that is in no file, and keeps none any more.
    pub(crate) fn take_code(&mut self) -> Option<CodeInNoFile> {
        self.code.take()
    }

    /// Hands over new plans without a record.
    fn send_plans(&mut self) {
        let plans = self.plans.take_new();
        if !plans.is_empty() {
            let words = self.link.buffer();
            self.link.send(Handed { words, plans, ..Handed::default() });
        }
    }

    fn walk(&mut self) {
        while self.walked < self.len {
            let header = Header::of(self.words[self.walked]);
            self.counted += header.instructions;
            self.walked += 1 + header.slots;
        }
    }

    /// Exact number of instructions executed. May wait for the consumers.
    pub(crate) fn instructions(&mut self) -> u64 {
        self.walk();
        self.unasked = 0;
        let handed_over = self.handed_over.unwrap_or_else(|| {
            let waits = self.link.buffers_out() > 0;
            let handed_over = self.link.instructions();
            self.handed_over = waits.then_some(handed_over);
            handed_over
        });
        handed_over + self.counted + self.tasks.unseen()
    }

    /// Instructions in the buffers that have come back. Does not wait.
    pub(crate) fn instructions_seen(&self) -> u64 {
        self.link.instructions_seen() + self.tasks.unseen()
    }

    /// Upper bound of the instructions executed. Does not wait.
    pub(crate) fn instructions_at_most(&self) -> u64 {
        if self.counts_executions() {
            return self.instructions_seen();
        }
        let uncounted = self.tasks.unseen();
        if let Some(handed_over) = self.handed_over {
            let words = (self.len - self.walked) as u64;
            return handed_over + self.counted + uncounted + self.plans.instructions_at_most(words);
        }
        // A buffer may end with a record that begins at its last word.
        let (buffers, longest) = (self.link.buffers_out(), self.plans.density().longest);
        let words = (buffers * BUFFER_WORDS + self.len) as u64;
        let last = buffers as u64 * longest;
        let most = self.plans.instructions_at_most(words) + last + uncounted;
        self.link.instructions_seen().saturating_add(most)
    }

    /// Calls `f` with each consumer after it has consumed every record.
    pub(crate) fn visit(&mut self, mut f: impl FnMut(&Consumer)) {
        self.flush();
        if self.len == 0 && self.tasks.parked.is_empty() {
            return self.link.visit(|_, consumer| f(consumer));
        }
        // The undecided records count if the run ends here.
        let rest = self.undecided();
        self.link.visit(|_, consumer| {
            let mut consumer = consumer.clone();
            consumer.consume(&rest, &[]);
            f(&consumer);
        });
    }

    /// Sets the counts of these accounts to zero. The simulators keep their contents.
    pub(crate) fn zero(&mut self, accounts: &[AccountId]) {
        self.hand_over(Drain::All);
        self.link.visit(|_, consumer| consumer.zero(accounts));
    }

    fn drop_buffer(&mut self) {
        self.len = 0;
        self.filtered = 0;
        self.walked = 0;
        self.counted = 0;
    }

    /// Hands over the rest and returns the consumers.
    pub(crate) fn finish(mut self) -> Vec<Consumer> {
        self.hand_over(Drain::All);
        let rest = self.undecided();
        if let Some(words) = (!rest.is_empty()).then(|| rest.into_boxed_slice()) {
            let (len, plans) = (words.len(), self.plans.take_new());
            self.link.send(Handed { words, len, plans, ..Handed::default() });
        }
        self.link.finish()
    }
}

#[cfg(test)]
mod tests;
