//! The recorder: the producer's end of the trace. Generated code fills its buffer; full buffers go
//! through the filter to the consumers.

use std::collections::{BTreeMap, BTreeSet};

use std::ops::Range;

use crate::hooks::consumer::{Consumer, SavedConsumer};
use crate::hooks::control::{AccountId, CONTROL_WORDS, Control, Opening};
use crate::hooks::fault::{Cause, FaultingInsn};
use crate::hooks::filter::{Drain, Identity, Place, RecordFilter, SavedFilter};
use crate::hooks::lookout::{Sighting, Target, Watched};
use crate::hooks::plan::{MappingId, PlanTable};
use crate::hooks::record::{BUFFER_WORDS, Header, MAX_BLOCK, PlanId, instructions};
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
    /// Bytes that the consumers took for accounts of processes that did not run, a while ago.
    resting_bytes: u64,
    /// Something is looked out for, in whatever runs.
    watching: bool,
    link: Link,
    filter: Box<dyn RecordFilter>,
}

/// Accounts and tasks as the producer needs them.
#[derive(Clone, Debug)]
struct Tasks {
    /// The current task.
    task: u32,
    /// Its account.
    account: AccountId,
    /// The account opened last.
    last: AccountId,
    /// Accounts of threads that are counted apart, with that of their process, which has the
    /// memory.
    threads: BTreeMap<AccountId, AccountId>,
    /// Processes with threads that are counted apart, of which the account has been ended.
    headless: BTreeSet<AccountId>,
    /// Accounts opened so far.
    opened: usize,
    /// Processes between Cachegrind's STOP and START requests, by the account that has the memory.
    stopped: BTreeSet<AccountId>,
    /// The others, where the filter follows anything.
    parked: BTreeMap<u32, Parked>,
    /// Instructions of the records that are parked.
    held: u64,
    /// Instructions of tasks without an account, which no consumer sees.
    uncounted: u64,
}

impl Tasks {
    /// Instructions that neither consumers nor the buffer have.
    fn unseen(&self) -> u64 {
        self.uncounted + self.held
    }

    /// Forgets an account that has ended. Returns the one whose memory it had.
    fn end(&mut self, account: AccountId) -> AccountId {
        let process = self.threads.remove(&account);
        if process.is_none() {
            self.headless.insert(account);
        }
        process.unwrap_or(account)
    }

    /// Drops what the threads of a process have left undecided that ended with its program.
    fn drop_parked(&mut self, process: AccountId) {
        let threads = &self.threads;
        let its = |parked: &Parked| threads.get(&parked.account).unwrap_or(&parked.account) == &process;
        for (_, parked) in self.parked.extract_if(.., |_, parked| its(parked)) {
            let dropped = instructions(&parked.tail);
            self.held -= dropped;
            self.uncounted += dropped;
        }
    }

    /// Tells if the accounts of all threads of a process have ended, the first one included.
    fn has_ended(&mut self, process: AccountId) -> bool {
        !self.threads.values().any(|&of| of == process) && self.headless.remove(&process)
    }

    /// The account whose memory a task of this account has.
    fn process(&self, account: AccountId) -> AccountId {
        self.threads.get(&account).copied().unwrap_or(account)
    }
}

/// Task that does not run.
#[derive(Clone, Debug)]
struct Parked {
    account: AccountId,
    place: Place,
    /// Records that a fault of the task may still take back.
    tail: Vec<u64>,
}

/// Buffers of which the producer counts the instructions itself after an exact number was asked
/// for. Waiting for the consumers each time would stall them.
const COUNTED_AHEAD: u32 = 16;

/// Accounts after which what they take is measured. That waits for the consumers.
const MEASURED: usize = 16;

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
            tasks: Tasks {
                task: 0,
                account: AccountId::FIRST,
                last: AccountId::FIRST,
                opened: 0,
                threads: BTreeMap::new(),
                headless: BTreeSet::new(),
                stopped: BTreeSet::new(),
                parked: BTreeMap::new(),
                held: 0,
                uncounted: 0,
            },
            resting_bytes: 0,
            watching: false,
            link,
            filter,
        }
    }

    /// Buffer that is being filled. It has room for a record that begins below `BUFFER_WORDS`.
    pub(crate) fn words(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Tests whether the record that begins at `start` is the last.
    pub(crate) fn is_last(&self, start: usize) -> bool {
        start < self.len && start + 1 + Header::of(self.words[start]).slots == self.len
    }

    /// Words filled so far.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Sets the number of words that generated code has filled.
    pub(crate) fn set_len(&mut self, len: usize) {
        self.len = len.min(self.words.len());
    }

    /// Appends a record.
    pub(crate) fn append(&mut self, plan: PlanId, slots: &[u64]) {
        let Some(header) = self.plans.get(plan).map(|p| p.header(plan)) else { return };
        if self.len >= BUFFER_WORDS {
            self.flush();
        }
        self.words[self.len] = header;
        self.words[self.len + 1..][..slots.len()].copy_from_slice(slots);
        self.len += 1 + slots.len();
    }

    /// Records that control is at `pc`, wherever the last record leads.
    pub(crate) fn point(&mut self, pc: u64) {
        let plan = self.plans.point(pc);
        self.append(plan, &[]);
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
        let Some(plan) = self.plans.get(prefix) else { return };
        let (header, slots) = (plan.header(prefix), usize::from(plan.slots));
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
        let Some(plan) = self.plans.get(id) else { return };
        if let Some(event) = plan.events.iter().find(|event| usize::from(event.insn) == insn) {
            self.words[at + 1 + usize::from(event.slot)] = addr;
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
        let at = self.last_record()?;
        let id = Header::of(self.words[at]).plan;
        let insn = self.plans.get(id)?.insns.iter().position(|insn| insn.pc == pc)?;
        Some((at, id, insn))
    }

    /// Address of the last instruction of the last record.
    pub(crate) fn last_instruction(&self) -> Option<u64> {
        let id = Header::of(self.words[self.last_record()?]).plan;
        self.plans.get(id)?.insns.last().map(|insn| insn.pc)
    }

    /// Index of the last record.
    fn last_record(&self) -> Option<usize> {
        let mut last = None;
        let mut at = 0;
        while at < self.len {
            last = Some(at);
            at += 1 + Header::of(self.words[at]).slots;
        }
        last
    }

    /// Hands the buffer over and takes an empty one. Keeps the few records that a fault may still
    /// take back.
    pub(crate) fn flush(&mut self) {
        self.hand_over(Drain::Decided);
    }

    fn hand_over(&mut self, drain: Drain) {
        self.drop_uncounted();
        if self.len == 0 {
            return;
        }
        let len = self.len;
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
        let full = std::mem::replace(&mut self.words, empty);
        self.link.send(full, drained, self.plans.take_new());
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
        self.tasks.uncounted += dropped;
        if self.walked > self.filtered {
            let walked = self.words.get(self.filtered..self.walked).unwrap_or_default();
            self.counted -= instructions(walked);
            self.walked = self.filtered;
        }
        self.len = self.filtered;
    }

    /// Opens an account. Its task begins with [`Recorder::switch_task`]. With `counting`, counting
    /// is on, else it waits for Cachegrind's START request; a copy is as its original.
    pub(crate) fn new_account(&mut self, opening: Opening, counting: bool) -> AccountId {
        self.decide();
        let account = self.tasks.last.next();
        self.tasks.last = account;
        let original = match opening {
            Opening::Empty => None,
            Opening::Copy { of, .. } => Some(of),
            Opening::Shared { with } => Some(with),
        };
        self.control(Control::Open(account, opening));
        if original.is_none() {
            self.filter.open(account);
        }
        if let Some(original) = original {
            let process = self.tasks.process(original);
            match opening {
                Opening::Shared { .. } => drop(self.tasks.threads.insert(account, process)),
                _ => {
                    self.filter.copy(account, process);
                    if self.tasks.stopped.contains(&process) {
                        self.tasks.stopped.insert(account);
                    }
                }
            }
        } else if !counting {
            self.tasks.stopped.insert(account);
            let current = self.tasks.account;
            self.control(Control::Switch(account));
            self.control(Control::Count(false));
            self.control(Control::Switch(current));
        }
        self.tasks.opened += 1;
        if self.tasks.opened.is_multiple_of(MEASURED) {
            let mut bytes = 0;
            self.link.visit(|_, consumer| bytes += consumer.resting_bytes());
            self.resting_bytes = bytes;
        }
        account
    }

    /// Bytes that accounts took of processes that did not run, when they were last measured.
    pub(crate) fn resting_bytes(&self) -> u64 {
        self.resting_bytes
    }

    /// The account of the current task.
    pub(crate) fn account(&self) -> AccountId {
        self.tasks.account
    }

    /// Goes on with another task, of this account, where control is at `pc`. The last record must
    /// say where control left the task before.
    pub(crate) fn switch_task(&mut self, task: u32, account: AccountId, pc: u64) {
        self.park();
        self.enter(task, account);
        self.point(pc);
    }

    /// Goes on with a task behind its records that were parked.
    fn enter(&mut self, task: u32, account: AccountId) {
        let next = self.tasks.parked.remove(&task).filter(|parked| parked.account == account);
        let (place, tail) = next.map_or_else(Default::default, |parked| (parked.place, parked.tail));
        self.tasks.task = task;
        if std::mem::replace(&mut self.tasks.account, account) != account {
            self.control(Control::Switch(account));
        }
        self.filter.enter(self.tasks.process(account), place);
        if self.len + tail.len() > BUFFER_WORDS {
            self.hand_over(Drain::All);
        }
        if let Some(words) = self.words.get_mut(self.len..self.len + tail.len()) {
            words.copy_from_slice(&tail);
            self.len += tail.len();
            self.tasks.held -= instructions(&tail);
        }
    }

    /// Takes the records of the current task that a fault may take back, and its place, until it
    /// goes on.
    fn park(&mut self) {
        self.drop_uncounted();
        let account = self.tasks.account;
        self.filtered += self.filter(self.filtered..self.len, Drain::Decided);
        let tail = self.words.get(self.filtered..self.len).unwrap_or_default().to_vec();
        let place = self.filter.place();
        if !account.is_counted() || tail.is_empty() && place == Place::default() {
            return;
        }
        self.walk();
        let held = instructions(&tail);
        self.counted -= held;
        self.tasks.held += held;
        (self.len, self.walked) = (self.filtered, self.filtered);
        // A record of another thread must not decide the branch before the tail.
        let next = tail.first().and_then(|&word| self.plans.get(Header::of(word).plan)).map(|plan| plan.pc);
        if let Some(pc) = next {
            self.point(pc);
            self.filtered = self.len;
        }
        self.tasks.parked.insert(self.tasks.task, Parked { account, place, tail });
    }

    /// Records that are not decided, as if every task ended here.
    fn undecided(&mut self) -> Vec<u64> {
        let saved = self.filter.save();
        let mut all = Vec::new();
        for Parked { account, place, tail } in self.tasks.parked.values() {
            all.extend(Control::Switch(*account).record());
            self.filter.enter(self.tasks.process(*account), *place);
            Self::add_decided(&mut all, tail, &mut *self.filter, &mut self.plans);
        }
        if !all.is_empty() {
            all.extend(Control::Switch(self.tasks.account).record());
        }
        self.filter.restore(&saved);
        let rest = self.words.get(..self.len).unwrap_or_default();
        Self::add_decided(&mut all, rest, &mut *self.filter, &mut self.plans);
        self.filter.restore(&saved);
        self.send_plans();
        all
    }

    /// Adds records to `all` as they are if nothing comes after them.
    fn add_decided(all: &mut Vec<u64>, words: &[u64], filter: &mut dyn RecordFilter, plans: &mut PlanTable) {
        let at = all.len();
        all.extend(words);
        let drained = all.get_mut(at..).map_or(0, |words| filter.drain(words, Drain::All, plans));
        all.truncate(at + drained);
    }

    /// Ends an account, and keeps its counts for [`Recorder::visit`] and [`Recorder::finish`].
    pub(crate) fn close_account(&mut self, account: AccountId) {
        self.end_account(account, Control::Close(account));
    }

    /// Ends an account and drops its counts.
    pub(crate) fn drop_account(&mut self, account: AccountId) {
        self.end_account(account, Control::Drop(account));
    }

    fn end_account(&mut self, account: AccountId, control: Control) {
        if !account.is_counted() {
            return;
        }
        self.decide();
        let current = (self.tasks.task, self.tasks.account);
        let parked = self.tasks.parked.iter().filter(|(_, parked)| parked.account == account);
        let parked: Vec<u32> = parked.map(|(&task, _)| task).collect();
        for task in parked.iter().copied() {
            self.enter(task, account);
            self.decide();
        }
        if !parked.is_empty() {
            self.enter(current.0, current.1);
        }
        let process = self.tasks.end(account);
        if self.tasks.has_ended(process) {
            self.filter.forget(process);
            self.tasks.stopped.remove(&process);
        }
        self.control(control);
        if account == self.tasks.account {
            // What follows until the next switch is nobody's.
            self.tasks.account = AccountId::NONE;
            self.filter.enter(AccountId::NONE, Place::default());
        }
    }

    /// Begins the program that execve(2) has started: caches and predictors are empty. Its counts
    /// begin at zero, or with `counts` go on.
    pub(crate) fn reset_account(&mut self, account: AccountId, counts: bool) {
        if !account.is_counted() {
            return;
        }
        self.decide();
        let process = self.tasks.process(account);
        self.tasks.drop_parked(process);
        self.filter.forget(process);
        self.control(Control::Reset(account, counts));
    }

    /// Appends an instruction to the consumers behind what has passed the filter.
    fn control(&mut self, control: Control) {
        if self.len >= BUFFER_WORDS {
            self.hand_over(Drain::All);
        }
        if let Some(words) = self.words.get_mut(self.len..self.len + CONTROL_WORDS) {
            words.copy_from_slice(&control.record());
            self.len += CONTROL_WORDS;
        }
        self.filtered = self.len;
    }

    /// Learns that a block at `pc` of this mapping has been translated. `fetch` reads the code.
    pub(crate) fn translated(&mut self, pc: u64, mapping: MappingId, fetch: &mut Fetch<'_>) {
        self.filter.translated(pc, mapping, fetch, self.len - self.filtered);
    }

    /// Hands over new plans without a record.
    fn send_plans(&mut self) {
        let plans = self.plans.take_new();
        if !plans.is_empty() {
            let empty = self.link.buffer();
            self.link.send(empty, 0, plans);
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
        let link = &mut self.link;
        *self.handed_over.get_or_insert_with(|| link.instructions()) + self.counted + self.tasks.unseen()
    }

    /// Instructions in the buffers that have come back. Does not wait.
    pub(crate) fn instructions_seen(&self) -> u64 {
        self.link.instructions_seen() + self.tasks.unseen()
    }

    /// Upper bound of the instructions executed. Does not wait.
    pub(crate) fn instructions_at_most(&self) -> u64 {
        // A record has at least one word, and a buffer may end with one that begins at its last
        // word.
        let uncounted = self.tasks.unseen();
        if let Some(handed_over) = self.handed_over {
            return handed_over + self.counted + uncounted + (self.len - self.walked) as u64 * MAX_BLOCK;
        }
        let words = (self.link.buffers_out() * (BUFFER_WORDS + 1) + self.len) as u64;
        self.link.instructions_seen().saturating_add(uncounted + words * MAX_BLOCK)
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

    /// Sets all counts to zero. The simulators keep their contents.
    pub(crate) fn zero(&mut self) {
        self.hand_over(Drain::All);
        self.link.visit(|_, consumer| consumer.zero());
    }

    /// Switches counting of the current process on or off from here on, where control is at `pc`.
    /// Returns false if it was so already.
    pub(crate) fn set_counting(&mut self, counting: bool, pc: u64) -> bool {
        let account = self.tasks.account;
        if !account.is_counted() {
            // It makes no difference, and is none.
            return true;
        }
        let process = self.tasks.process(account);
        let stopped = &mut self.tasks.stopped;
        let changed = if counting { stopped.remove(&process) } else { stopped.insert(process) };
        if changed {
            // `pc` decides the last branch that is counted, and then precedes the first one.
            self.point(pc);
            self.decide();
            self.control(Control::Count(counting));
            self.point(pc);
        }
        changed
    }

    /// Looks out for these targets and no others from here on.
    pub(crate) fn look_out(&mut self, targets: &[Target]) {
        self.flush();
        self.send_plans();
        self.watching = !targets.is_empty();
        let since = self.instructions();
        let now = self.link.instructions() + self.tasks.unseen();
        let mut first = true;
        self.link.visit(|_, consumer| {
            // All consumers see the same accesses, so one looks out for them.
            let first = std::mem::take(&mut first);
            let wanted = |target: &Target| match target {
                Target::Access(_) if first => target.clone(),
                Target::Access(watched) => Target::Access(Watched { range: 0..0, ..watched.clone() }),
                Target::Miss(..) => target.clone(),
            };
            consumer.look_out(targets.iter().map(wanted).collect(), now, since);
        });
    }

    /// The sightings since [`Recorder::look_out`], in order, and the moment until which everything
    /// is known.
    pub(crate) fn sightings(&mut self) -> (Vec<Sighting>, u64) {
        let (mut all, mut known) = (Vec::new(), u64::MAX);
        self.visit(|consumer| {
            if let Some((seen, until)) = consumer.seen() {
                all.extend_from_slice(seen);
                known = known.min(until);
            }
        });
        all.retain(|sighting| sighting.moment <= known);
        all.sort_unstable();
        all.dedup();
        (all, known)
    }

    /// Saves what has been recorded.
    pub(crate) fn save(&mut self) -> Recorded {
        let mut consumers = Vec::new();
        self.flush();
        self.link.visit(|_, consumer| consumers.push(consumer.save()));
        let filter = self.filter.save();
        let rest = self.words[..self.len].to_vec();
        let (instructions, tasks) = (self.link.instructions(), self.tasks.clone());
        Recorded { consumers, instructions, tasks, filter, rest }
    }

    /// Restores what this recorder had recorded when it made `saved`.
    pub(crate) fn restore(&mut self, saved: &Recorded) {
        self.drop_buffer();
        self.tasks.clone_from(&saved.tasks);
        self.watching = false;
        self.link.visit(|i, consumer| {
            if let Some(before) = saved.consumers.get(i) {
                consumer.restore(before);
            }
        });
        self.link.rewind(saved.instructions);
        self.filter.restore(&saved.filter);
        if let Some(words) = self.words.get_mut(..saved.rest.len()) {
            words.copy_from_slice(&saved.rest);
            self.len = saved.rest.len();
        }
        self.handed_over = Some(saved.instructions);
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
            let len = words.len();
            self.link.send(words, len, self.plans.take_new());
        }
        self.link.finish()
    }
}

/// Everything recorded up to a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Contents and counts of the simulators.
    consumers: Vec<SavedConsumer>,
    /// Instructions that the consumers have seen.
    instructions: u64,
    tasks: Tasks,
    filter: SavedFilter,
    /// Records that the consumers have not seen, because a fault may take them back.
    rest: Vec<u64>,
}

impl Recorded {
    /// Instructions executed.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions + self.tasks.unseen() + instructions(&self.rest)
    }
}

#[cfg(test)]
mod tests;
