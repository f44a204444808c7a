//! What a fault makes Cachegrind forget: what is in its queue. So that nothing has to be taken back, the last records of a
//! buffer stay until it is known that they count.

use super::queue::LENGTH;
use super::regroup::{NO_PLAN, Place, Regroup, Step};
use super::regrouped::Regrouped;
use crate::hooks::count::EventKind;
use crate::hooks::plan::{MAX_RECORD, PlanId, PlanTable};
use crate::hooks::trace::Header;

/// Words at the end of a buffer that hold the instructions in the queue, which are no more than its entries: the record that
/// the first is in, and as many as have those behind it, few of whose addresses are more than a word.
const TAIL: usize = MAX_RECORD + 64 * LENGTH;

/// A record near the end of a buffer.
struct Last {
    /// Where it begins.
    at: usize,
    /// Where control was before.
    place: Place,
    plan: PlanId,
    instructions: usize,
}

/// Where the last records begin that together have enough instructions to fill the queue.
fn last_records(words: &[u64]) -> usize {
    let (mut starts, mut records, mut at) = ([0; LENGTH], 0, 0);
    while let Some(&word) = words.get(at) {
        let header = Header::of(word);
        if header.instructions > 0 {
            starts[records % LENGTH] = at;
            records += 1;
        }
        at += 1 + header.slots;
    }
    if records < LENGTH { 0 } else { starts[records % LENGTH] }
}

impl Regroup {
    /// Writes the records for all but the last of `words`; these may be in the queue. Returns how many instructions were
    /// executed, and how many words that were.
    fn walk_to_last(
        &mut self,
        words: &[u64],
        plans: &mut PlanTable,
        out: &mut Regrouped<'_>,
    ) -> (u64, usize) {
        let (executed, walked) = self.walk(words, TAIL, plans, out);
        let tail = words.get(walked..).unwrap_or_default();
        let before = tail.get(..last_records(tail)).unwrap_or_default();
        let (more, _) = self.walk(before, 0, plans, out);
        (executed + more, walked + before.len())
    }

    /// The records in `words`, and where control is behind them.
    fn follow(&mut self, words: &[u64], plans: &mut PlanTable) -> (Vec<Last>, Place) {
        let (mut records, mut place, mut at) = (Vec::new(), self.place, 0);
        while let Some(&word) = words.get(at) {
            let header = Header::of(word);
            records.push(Last { at, place, plan: header.plan, instructions: header.instructions as usize });
            place = self.step(place, header.plan, plans).to;
            at += 1 + header.slots;
        }
        (records, place)
    }

    /// Writes the records for those of `words` that count whatever comes. Returns how many instructions were executed, and
    /// how many words that were.
    pub(super) fn walk_counted(
        &mut self,
        words: &[u64],
        plans: &mut PlanTable,
        out: &mut Regrouped<'_>,
    ) -> (u64, usize) {
        let (executed, walked) = self.walk_to_last(words, plans, out);
        let tail = words.get(walked..).unwrap_or_default();
        let (records, place) = self.follow(tail, plans);
        let mut queued = match self.superblocks.get(place.superblock()) {
            Some(superblock) if place != Place::NONE => {
                place.used() - superblock.counted(place.used(), None, self.counts_data).part.min(place.used())
            }
            _ => 0,
        };
        let mut from = tail.len();
        for record in records.iter().rev() {
            if queued == 0 {
                break;
            }
            from = record.at;
            queued = queued.saturating_sub(record.instructions);
        }
        let (more, _) = self.walk(tail.get(..from).unwrap_or_default(), 0, plans, out);
        (executed + more, walked + from)
    }

    /// Writes the records for `words`, of which the last ends with an instruction that faulted, without what is in the queue
    /// then. Returns how many instructions were executed.
    pub(super) fn forget(
        &mut self,
        words: &[u64],
        at_access: bool,
        plans: &mut PlanTable,
        out: &mut Regrouped<'_>,
    ) -> u64 {
        let (mut executed, walked) = self.walk_to_last(words, plans, out);
        let tail = words.get(walked..).unwrap_or_default();
        let (records, _) = self.follow(tail, plans);
        let (mut whole, mut partly) = self.left(&records, at_access, plans);
        for record in &records {
            let Some((&word, slots)) = tail.get(record.at..).and_then(<[u64]>::split_first) else { break };
            executed += record.instructions as u64;
            let mut step = self.step(record.place, record.plan, plans);
            if record.instructions <= whole {
                whole -= record.instructions;
            } else if step.plan != NO_PLAN {
                step = Step {
                    plan: plans.cut(step.plan, whole as u16, partly.take().map(|events| events as u16)),
                    then: NO_PLAN,
                    ..step
                };
                whole = 0;
            }
            out.write(step, word, slots, Header::of(word).slots);
        }
        self.place = Place::NONE;
        executed
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
