//! What a fault makes Cachegrind forget: what is in its queue. So that nothing has to be taken back, the last records of a
//! buffer stay until it is known that they count.

use super::queue::LENGTH;
use super::regroup::{Handed, Regroup};
use super::steps::{Place, Step};
use crate::hooks::plan::{MAX_RECORD, PlanId, PlanTable};
use crate::hooks::trace::Header;
use crate::x86::cost::EventKind;

/// Records that hold the instructions in the queue, which are no more than its entries, and one more: it may wait for where
/// control goes.
const RECORDS: usize = LENGTH + 1;

/// Words at the end of a buffer that these records are in: that of the first instruction in the queue, the one before, and as
/// many as have those behind, few of whose addresses are more than a word.
const TAIL: usize = 2 * MAX_RECORD + 64 * LENGTH;

/// A record near the end of a buffer.
struct Last {
    /// Where it begins.
    at: usize,
    /// Where control was before.
    place: Place,
    plan: PlanId,
    instructions: usize,
}

/// Where the last [`RECORDS`] begin that have instructions.
fn last_records(words: &[u64]) -> usize {
    let (mut starts, mut records, mut at) = ([0; RECORDS], 0, 0);
    while let Some(&word) = words.get(at) {
        let header = Header::of(word);
        if header.instructions > 0 {
            starts[records % RECORDS] = at;
            records += 1;
        }
        at += 1 + header.slots;
    }
    if records < RECORDS { 0 } else { starts[records % RECORDS] }
}

impl Regroup {
    /// Goes on to the last records before `end`, which may be in the queue.
    fn walk_to_last(
        &mut self,
        words: &mut [u64],
        handed: Handed,
        end: usize,
        plans: &mut PlanTable,
    ) -> Handed {
        let handed = self.walk(words, handed, end.saturating_sub(TAIL), plans);
        let last = words.get(handed.words..end).map_or(0, last_records);
        self.walk(words, handed, handed.words + last, plans)
    }

    /// The records up to `end`, and where control is behind them.
    fn follow(
        &mut self,
        words: &[u64],
        from: usize,
        end: usize,
        plans: &mut PlanTable,
    ) -> (Vec<Last>, Place) {
        let (mut records, mut place, mut at) = (Vec::new(), self.place, from);
        while let Some(&word) = words.get(at).filter(|_| at < end) {
            let header = Header::of(word);
            records.push(Last { at, place, plan: header.plan, instructions: header.instructions as usize });
            place = self.step(place, header.plan, plans).to;
            at += 1 + header.slots;
        }
        (records, place)
    }

    /// Goes on to the last records, and through those of them that count whatever comes.
    pub(super) fn walk_counted(
        &mut self,
        words: &mut [u64],
        handed: Handed,
        plans: &mut PlanTable,
    ) -> Handed {
        let handed = self.walk_to_last(words, handed, words.len(), plans);
        let (records, place) = self.follow(words, handed.words, words.len(), plans);
        let (index, used) = self.steps.at(place);
        let mut queued = match self.superblocks.get(index) {
            Some(superblock) if place != Place::NONE => {
                used - superblock.counted(used, None, self.counts_data).part.min(used)
            }
            _ => 0,
        };
        let (mut end, mut place) = (words.len(), place);
        for record in records.iter().rev() {
            if queued == 0 && !self.is_between(place) {
                break;
            }
            (end, place) = (record.at, record.place);
            queued = queued.saturating_sub(record.instructions);
        }
        self.walk(words, handed, end, plans)
    }

    /// Goes on to `end`. The last record before it ends with an instruction that faulted: what is in the queue then does not
    /// count.
    pub(super) fn forget(
        &mut self,
        words: &mut [u64],
        handed: Handed,
        end: usize,
        at_access: bool,
        plans: &mut PlanTable,
    ) -> Handed {
        let mut handed = self.walk_to_last(words, handed, end, plans);
        let (records, _) = self.follow(words, handed.words, end, plans);
        let (mut whole, mut partly) = self.left(&records, at_access, plans);
        for record in &records {
            handed.executed += record.instructions as u64;
            let mut step = self.step(record.place, record.plan, plans);
            if record.instructions <= whole {
                whole -= record.instructions;
            } else {
                let events = partly.take().map(|events| events as u16);
                step = Step { plan: plans.cut(step.plan, whole as u16, events), ..step };
                whole = 0;
            }
            self.rewrite(words, record.at, step, plans);
        }
        self.place = Place::NONE;
        Handed { words: end, ..handed }
    }

    /// How many of the instructions of these records count wholly, and how many data events of the one after, if that does in
    /// part.
    fn left(&mut self, records: &[Last], at_access: bool, plans: &mut PlanTable) -> (usize, Option<usize>) {
        let all: usize = records.iter().map(|record| record.instructions).sum();
        let Some((last, plan)) = records.last().and_then(|last| Some((last, plans.get(last.plan)?.clone())))
        else {
            return (all, None);
        };
        let (superblock, faulted) = self.last_of(last.place, &plan);
        let Some(superblock) = self.superblocks.get(superblock).filter(|_| superblock > 0).cloned() else {
            return (all.saturating_sub(1), Some(0));
        };
        let step = self.step(last.place, last.plan, plans);
        let events = plans.get(step.plan).map_or(&[][..], |plan| &plan.events);
        let its = events.iter().filter(|event| usize::from(event.insn) + 1 == plan.insns.len());
        let queued = its.filter(|event| event.kind != EventKind::Uncounted).count() + usize::from(at_access);
        let counted = superblock.counted(faulted, Some(queued), self.counts_data);
        let whole = all.saturating_sub(1 + faulted - counted.part.min(faulted));
        (whole, counted.entries.checked_sub(1))
    }
}
