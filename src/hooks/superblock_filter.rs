//! The filter of the count model `valgrind`. It follows the superblock that control is in, and
//! gives records other plans where the optimiser has changed the counts. Where the engine ends its
//! blocks makes no difference to it.
//!
//! A fault makes Cachegrind forget what is in its queue. So that no count has to be taken back, the
//! records that may be in the queue at the end of a buffer are kept back.

use rustc_hash::FxHashMap;

use crate::hooks::control::AccountId;
use crate::hooks::fault::{Cause, FaultingInsn};
use crate::hooks::filter::{Drain, Place, RecordFilter, SavedFilter};
use crate::hooks::plan::{End, MappingId, NO_MAPPING, Plan, PlannedInsn};
use crate::hooks::plan_table::PlanTable;
use crate::hooks::record::{Header, MAX_RECORD, PlanId, with_plan};
use crate::hooks::superblock_table::{NewSuperblock, PrivateCode, SuperblockTable};
use crate::hooks::transitions::{Cursor, Position, Previous, Transition, Transitions};
use crate::vex::{CountChange, QUEUE_LENGTH, Superblock};
use crate::x86::cost::{EventKind, Repeat};
use crate::x86::decode::Fetch;

/// No record of the current buffer.
const NO_RECORD: usize = usize::MAX;

/// Records with instructions that may be needed to decide about a fault: one for each entry of the
/// queue, and the one before, which may wait for the merged second block.
const TAIL_RECORDS: usize = QUEUE_LENGTH + 1;

/// Words at the end of a buffer that surely contain these records: two of the largest, and typical
/// ones for the rest.
const TAIL_WORDS: usize = 2 * MAX_RECORD + 64 * QUEUE_LENGTH;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct SuperblockFilter {
    table: SuperblockTable,
    /// The current account.
    account: AccountId,
    /// Private code of the others.
    private: FxHashMap<AccountId, PrivateCode>,
    /// Programs so far.
    programs: u64,
    /// Private code of programs that have ended, once the run may go back to them: what the engine
    /// has translated it does not translate again.
    ended: Option<FxHashMap<u64, PrivateCode>>,
    /// Those of the current account.
    transitions: Transitions,
    /// The account whose transitions these are; none if all without private code share them.
    whose: Option<AccountId>,
    /// Transitions of others.
    others: FxHashMap<Option<AccountId>, Transitions>,
    /// Position of control behind the drained records.
    position: Position,
    /// Index of the last record with instructions.
    last: usize,
    /// Plans that also count a merged second block, by the plan without it and the superblock.
    with_second: FxHashMap<(PlanId, usize), PlanId>,
    /// Events between records, with the number of words before each.
    marks: Vec<(usize, Mark)>,
    /// Data events are counted.
    with_data: bool,
}

/// Event that the records do not show.
#[derive(Debug)]
enum Mark {
    /// A superblock has replaced another one.
    Replaced(NewSuperblock),
    /// The last instruction has faulted, with `at_access` at an access and not after all of them.
    Faulted { at_access: bool },
}

/// Record near the end of a buffer.
struct TailRecord {
    /// Index of its header.
    at: usize,
    /// Position before it.
    position: Position,
    plan: PlanId,
    instructions: usize,
}

impl RecordFilter for SuperblockFilter {
    fn follow_calls(&mut self) {
        // Callgrind has no superblocks over several of its blocks.
        self.table.follow_no_jumps();
    }

    fn translated(&mut self, pc: u64, mapping: MappingId, fetch: &mut Fetch<'_>, recorded: usize) {
        let counted = self.account.is_counted();
        if !counted && mapping == NO_MAPPING {
            return;
        }
        for new in self.table.translate(pc, mapping, fetch) {
            // Records before this one ran with the superblock that is known.
            if self.table.replaces(&new) {
                if !counted {
                    continue;
                }
                self.marks.push((recorded, Mark::Replaced(new)));
            } else {
                self.table.insert(new);
                self.use_own_transitions();
            }
        }
    }

    fn events_before_fault(&self, insn: &mut FaultingInsn<'_>) -> usize {
        insn.events_before()
    }

    fn faulted(&mut self, cause: Cause, recorded: usize) {
        if cause != Cause::Instruction {
            self.marks.push((recorded, Mark::Faulted { at_access: cause != Cause::Result }));
        }
    }

    fn drain(&mut self, words: &mut [u64], drain: Drain, plans: &mut PlanTable) -> usize {
        self.last = NO_RECORD;
        let mut at = 0;
        for (recorded, mark) in std::mem::take(&mut self.marks) {
            let end = recorded.min(words.len());
            at = match mark {
                Mark::Replaced(new) => {
                    let at = self.walk(words, at, end, plans);
                    self.replace(new);
                    at
                }
                Mark::Faulted { at_access } => self.roll_back(words, at, end, at_access, plans),
            };
        }
        match drain {
            Drain::Decided => self.walk_decided(words, at, plans),
            Drain::All => self.walk(words, at, words.len(), plans),
        }
    }

    fn place(&self) -> Place {
        Place(self.transitions.cursor(self.position))
    }

    fn enter(&mut self, account: AccountId, place: Place) {
        self.apply_marks();
        if account != self.account {
            let private = self.private.remove(&account).unwrap_or_else(|| self.new_program());
            let before = self.table.replace_private(private);
            self.private.insert(std::mem::replace(&mut self.account, account), before);
            self.use_account_transitions();
        }
        self.position = self.transitions.position(place.0);
    }

    fn open(&mut self, account: AccountId) {
        let program = self.new_program();
        self.private.insert(account, program);
    }

    fn copy(&mut self, account: AccountId, of: AccountId) {
        let original = if of == self.account { Some(self.table.private()) } else { self.private.get(&of) };
        if let Some(original) = original.cloned() {
            let program = self.new_program().program;
            self.private.insert(account, original.of(program));
        }
    }

    fn forget(&mut self, account: AccountId) {
        let gone = if account == self.account {
            self.apply_marks();
            let place = self.place();
            let next = self.new_program();
            let gone = self.table.replace_private(next);
            self.use_account_transitions();
            self.position = self.transitions.position(place.0);
            Some(gone)
        } else {
            self.private.remove(&account)
        };
        self.others.remove(&Some(account));
        self.keep_ended(gone);
    }

    fn save(&mut self) -> SavedFilter {
        self.ended.get_or_insert_default();
        let mut private = self.private.clone();
        private.insert(self.account, self.table.private().clone());
        SavedFilter { place: self.place(), account: Some(self.account), private }
    }

    fn restore(&mut self, saved: &SavedFilter) {
        self.apply_marks();
        let Some(account) = saved.account else { return };
        let place = saved.place;
        let now = self.table.replace_private(PrivateCode::default());
        let now: Vec<PrivateCode> = self.private.drain().map(|(_, private)| private).chain([now]).collect();
        self.keep_ended(now);
        // What was translated since is known then, too.
        let ended = self.ended.get_or_insert_default();
        let newest = |then: &PrivateCode| ended.get(&then.program).unwrap_or(then).clone();
        self.private = saved.private.iter().map(|(&account, then)| (account, newest(then))).collect();
        let private = self.private.remove(&account).unwrap_or_default();
        self.table.replace_private(private);
        self.account = account;
        // An account may be another program's now.
        self.use_transitions(None);
        self.others.clear();
        self.use_account_transitions();
        self.position = self.transitions.position(place.0);
    }
}

impl SuperblockFilter {
    /// Knows no superblock. `with_data` says that data events are counted.
    pub(super) fn new(with_data: bool) -> SuperblockFilter {
        SuperblockFilter {
            table: SuperblockTable::default(),
            account: AccountId::FIRST,
            private: FxHashMap::default(),
            programs: 0,
            ended: None,
            transitions: Transitions::default(),
            whose: None,
            others: FxHashMap::default(),
            position: Position::OUTSIDE,
            last: NO_RECORD,
            with_second: FxHashMap::default(),
            marks: Vec::new(),
            with_data,
        }
    }

    fn replace(&mut self, new: NewSuperblock) {
        self.table.insert(new);
        self.use_own_transitions();
        self.transitions.clear();
    }

    /// Inserts the superblocks whose moment no record has shown.
    fn apply_marks(&mut self) {
        for (_, mark) in std::mem::take(&mut self.marks) {
            if let Mark::Replaced(new) = mark {
                self.replace(new);
            }
        }
    }

    fn new_program(&mut self) -> PrivateCode {
        self.programs += 1;
        PrivateCode::new(self.programs)
    }

    /// Keeps the private code of programs that have ended, if the run may go back.
    fn keep_ended(&mut self, gone: impl IntoIterator<Item = PrivateCode>) {
        if let Some(ended) = &mut self.ended {
            let gone = gone.into_iter().filter(|private| !private.is_empty());
            ended.extend(gone.map(|private| (private.program, private)));
        }
    }

    /// Uses the transitions of the current account.
    fn use_account_transitions(&mut self) {
        let is_own = self.table.has_private();
        self.use_transitions(is_own.then_some(self.account));
    }

    /// Keeps the transitions of an account apart once it has code that others do not have.
    fn use_own_transitions(&mut self) {
        if self.whose.is_none() && self.table.has_private() {
            let place = self.place();
            self.use_transitions(Some(self.account));
            self.position = self.transitions.position(place.0);
        }
    }

    fn use_transitions(&mut self, whose: Option<AccountId>) {
        if whose != self.whose {
            let next = self.others.remove(&whose).unwrap_or_default();
            let before = std::mem::replace(&mut self.transitions, next);
            self.others.insert(std::mem::replace(&mut self.whose, whose), before);
        }
    }

    /// Rewrites the records from the one at `at` on that end before `end`. Returns the index behind
    /// them.
    fn walk(&mut self, words: &mut [u64], mut at: usize, end: usize, plans: &mut PlanTable) -> usize {
        let mut position = self.position;
        while let Some(&word) = words.get(at) {
            let header = Header::of(word);
            let next = at + 1 + header.slots;
            if next > end {
                break;
            }
            let transition = match self.transitions.last(position, header.plan) {
                Some(&transition) => transition,
                None => self.transition(position, header.plan, plans),
            };
            self.rewrite(words, at, transition, plans);
            at = next;
            position = transition.to;
        }
        self.position = position;
        at
    }

    /// Applies a transition to the record at an index.
    #[inline(always)]
    fn rewrite(&mut self, words: &mut [u64], at: usize, transition: Transition, plans: &mut PlanTable) {
        if transition.previous == Previous::CountsSecondBlock {
            self.count_second_block(words, transition.from, plans);
        }
        let Some(word) = words.get_mut(at) else { return };
        *word = with_plan(*word, transition.plan);
        if Header::of(*word).instructions > 0 {
            self.last = at;
        }
    }

    /// Makes the last record count the merged second block of its superblock, too.
    #[cold]
    fn count_second_block(&mut self, words: &mut [u64], position: Position, plans: &mut PlanTable) {
        let Some(word) = words.get_mut(self.last) else { return };
        let id = Header::of(*word).plan;
        let cursor = self.transitions.cursor(position);
        let with_second = match self.with_second.get(&(id, cursor.superblock)) {
            Some(&known) => known,
            None => {
                let Some((superblock, plan)) = self.table.get(cursor).zip(plans.get(id)) else { return };
                let plan = with_second_block(plan, superblock, cursor.insn);
                let with_second = plans.add(plan);
                self.with_second.insert((id, cursor.superblock), with_second);
                with_second
            }
        };
        *word = with_plan(*word, with_second);
    }

    /// Transition of a plan.
    #[inline(never)]
    fn transition(&mut self, from: Position, id: PlanId, plans: &mut PlanTable) -> Transition {
        if let Some(known) = self.transitions.get(from, id) {
            return *known;
        }
        let transition = self.find(from, id, plans);
        self.transitions.insert(id, transition);
        transition
    }

    /// Follows the instructions of a plan from a position.
    fn find(&mut self, from: Position, id: PlanId, plans: &mut PlanTable) -> Transition {
        let unchanged = Transition { from, to: Position::OUTSIDE, plan: id, previous: Previous::Unchanged };
        let Some(plan) = plans.get(id).cloned() else { return unchanged };
        let mut cursor = self.transitions.cursor(from);
        let goes_on = self.table.is_next(cursor, plan.pc);
        let previous = match self.table.is_between_blocks(cursor) && !goes_on {
            true => Previous::CountsSecondBlock,
            false => Previous::Unchanged,
        };
        if plan.insns.is_empty() {
            // The record only says where control is.
            return Transition { to: if goes_on { from } else { Position::OUTSIDE }, previous, ..unchanged };
        }
        let mut changes: Vec<CountChange> = Vec::new();
        for (i, insn) in plan.insns.iter().enumerate() {
            cursor = self.table.arrive(cursor, insn.pc(), plan.mapping);
            let superblock = self.table.get(cursor);
            let change =
                superblock.and_then(|superblock| superblock.insns().get(cursor.insn)).map(|insn| insn.change);
            if let Some(change) = change.filter(|change| !change.is_none()) {
                changes.resize(plan.insns.len(), CountChange::default());
                changes[i] = change;
            }
            cursor = self.table.advance(cursor);
        }
        let to = self.transitions.position(cursor);
        let plan = if changes.is_empty() { id } else { plans.add(with_changes(&plan, id, &changes)) };
        Transition { to, plan, previous, from }
    }

    /// Cursor of the last instruction of a plan.
    fn last_insn(&self, from: Position, plan: &Plan) -> Cursor {
        let (mut at, mut next) = (Cursor::OUTSIDE, self.transitions.cursor(from));
        for insn in &plan.insns {
            at = self.table.arrive(next, insn.pc(), plan.mapping);
            next = self.table.advance(at);
        }
        at
    }

    /// Walks to the records before `end` that may be in the queue.
    fn walk_to_tail(&mut self, words: &mut [u64], at: usize, end: usize, plans: &mut PlanTable) -> usize {
        let at = self.walk(words, at, end.saturating_sub(TAIL_WORDS), plans);
        let tail = words.get(at..end).map_or(0, tail_records);
        self.walk(words, at, at + tail, plans)
    }

    /// The records from `at` to `end`, and the position behind them.
    fn tail(
        &mut self,
        words: &[u64],
        mut at: usize,
        end: usize,
        plans: &mut PlanTable,
    ) -> (Vec<TailRecord>, Position) {
        let (mut records, mut position) = (Vec::new(), self.position);
        while let Some(&word) = words.get(at).filter(|_| at < end) {
            let Header { plan, slots, instructions } = Header::of(word);
            records.push(TailRecord { at, position, plan, instructions: instructions as usize });
            position = self.transition(position, plan, plans).to;
            at += 1 + slots;
        }
        (records, position)
    }

    /// Walks through the records that count whatever comes next.
    fn walk_decided(&mut self, words: &mut [u64], at: usize, plans: &mut PlanTable) -> usize {
        let at = self.walk_to_tail(words, at, words.len(), plans);
        let (records, mut position) = self.tail(words, at, words.len(), plans);
        let cursor = self.transitions.cursor(position);
        let mut queued = self.table.get(cursor).map_or(0, |superblock| {
            cursor.insn - superblock.counted(cursor.insn, None, self.with_data).insn.min(cursor.insn)
        });
        let mut end = words.len();
        for record in records.iter().rev() {
            if queued == 0 && !self.table.is_between_blocks(self.transitions.cursor(position)) {
                break;
            }
            (end, position) = (record.at, record.position);
            queued = queued.saturating_sub(record.instructions);
        }
        self.walk(words, at, end, plans)
    }

    /// Walks to `end`, where an instruction has faulted, and removes the counts of what is in the
    /// queue.
    fn roll_back(
        &mut self,
        words: &mut [u64],
        at: usize,
        end: usize,
        at_access: bool,
        plans: &mut PlanTable,
    ) -> usize {
        let at = self.walk_to_tail(words, at, end, plans);
        let (records, _) = self.tail(words, at, end, plans);
        let (mut whole, mut partial) = self.counted_before_fault(&records, at_access, plans);
        for record in &records {
            let mut transition = self.transition(record.position, record.plan, plans);
            if record.instructions <= whole {
                whole -= record.instructions;
            } else {
                let events = partial.take().map(|events| events as u16);
                transition.plan = plans.cut(transition.plan, whole as u16, events);
                whole = 0;
            }
            self.rewrite(words, record.at, transition, plans);
        }
        self.position = Position::OUTSIDE;
        end
    }

    /// Number of instructions of these records that are counted completely, and the number of data
    /// events of the next one if that is counted partially.
    fn counted_before_fault(
        &mut self,
        records: &[TailRecord],
        at_access: bool,
        plans: &mut PlanTable,
    ) -> (usize, Option<usize>) {
        let all: usize = records.iter().map(|record| record.instructions).sum();
        let Some((last, plan)) = records.last().and_then(|last| Some((last, plans.get(last.plan)?.clone())))
        else {
            return (all, None);
        };
        let faulted = self.last_insn(last.position, &plan);
        if self.table.get(faulted).is_none() {
            return (all.saturating_sub(1), Some(0));
        }
        let transition = self.transition(last.position, last.plan, plans);
        let events = plans.get(transition.plan).map_or(&[][..], |plan| &plan.events);
        let events = events.iter().filter(|event| usize::from(event.insn) + 1 == plan.insns.len());
        let queued =
            events.filter(|event| event.kind != EventKind::Uncounted).count() + usize::from(at_access);
        let Some(superblock) = self.table.get(faulted) else { return (all, None) };
        let counted = superblock.counted(faulted.insn, Some(queued), self.with_data);
        let whole = all.saturating_sub(1 + faulted.insn - counted.insn.min(faulted.insn));
        (whole, counted.entries.checked_sub(1))
    }
}

/// Index of the first of the last [`TAIL_RECORDS`] records with instructions.
fn tail_records(words: &[u64]) -> usize {
    let (mut starts, mut records, mut at) = ([0; TAIL_RECORDS], 0, 0);
    while let Some(&word) = words.get(at) {
        let header = Header::of(word);
        if header.instructions > 0 {
            starts[records % TAIL_RECORDS] = at;
            records += 1;
        }
        at += 1 + header.slots;
    }
    if records < TAIL_RECORDS { 0 } else { starts[records % TAIL_RECORDS] }
}

/// Plan of a record that ends the first block of a merged superblock and also counts the second,
/// which has no data and decides the branch for both.
fn with_second_block(plan: &Plan, superblock: &Superblock, second: usize) -> Plan {
    let second = superblock.insns().get(second..).unwrap_or_default();
    let mut plan = Plan { end: End::Conditional, prefix_of: None, ..plan.clone() };
    plan.insns.extend(second.iter().map(|insn| PlannedInsn::new(insn.pc, insn.len)));
    plan
}

/// Plan with the counts of its instructions changed.
fn with_changes(plan: &Plan, id: PlanId, changes: &[CountChange]) -> Plan {
    let mut new = Plan { prefix_of: Some(plan.prefix_of.unwrap_or(id)), ..plan.clone() };
    let mut numbers = vec![0_u32; plan.insns.len()];
    for event in &mut new.events {
        let insn = usize::from(event.insn);
        let (Some(number), Some(change)) = (numbers.get_mut(insn), changes.get(insn)) else { continue };
        if change.removes(*number) {
            event.kind = EventKind::Uncounted;
        } else if change.leaves_store(*number) {
            event.kind = EventKind::Write;
        }
        *number += 1;
    }
    let last = changes.last().copied().unwrap_or_default();
    if last.removes_branch(0) {
        new.end = match plan.end {
            // The comparison stays a branch, which is taken if the instruction is repeated.
            End::Repeat(Repeat::Compare, _) if !last.removes_branch(1) => End::Conditional,
            _ => End::None,
        };
    }
    new
}
