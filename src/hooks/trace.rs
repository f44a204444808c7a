//! The trace: records of one header word and the slots of its block, in buffers that go to the consumer.

use crate::hooks::consumer::{Consumer, SavedConsumer, Watched};
use crate::hooks::fault::Cause;
use crate::hooks::plan::{PlanId, PlanTable};
use crate::hooks::ring::Link;
use crate::hooks::valgrind::regroup::{Formed, Handed, Regroup, SavedPlace};

/// Words in a buffer before it is handed over, not counting the room for one more record.
pub const BUFFER_WORDS: usize = 1 << 16;

/// Most instructions in a block of the engine (`TCG_MAX_INSNS`).
pub const MAX_BLOCK: u64 = 512;

/// The parts of a header word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The plan.
    pub plan: PlanId,
    /// Slots that follow.
    pub slots: usize,
    /// Instructions the record stands for.
    pub instructions: u64,
}

impl Header {
    /// Takes a header word apart.
    #[inline]
    pub fn of(word: u64) -> Header {
        Header { plan: PlanId(word as u32), slots: (word >> 32) as usize & 0xffff, instructions: word >> 48 }
    }
}

/// Instructions that records stand for.
pub fn instructions(words: &[u64]) -> u64 {
    let (mut at, mut instructions) = (0, 0);
    while let Some(&word) = words.get(at) {
        let header = Header::of(word);
        instructions += header.instructions;
        at += 1 + header.slots;
    }
    instructions
}

/// The producer's end: the buffer being filled, the plans, and the link to the consumer.
pub struct Recorder {
    /// The plans of this run.
    pub plans: PlanTable,
    words: Box<[u64]>,
    len: usize,
    /// Up to here the buffer's instructions are in `counted`.
    walked: usize,
    counted: u64,
    /// Instructions in everything handed over, while somebody asks for exact numbers.
    handed_over: Option<u64>,
    /// Buffers handed over since somebody has asked.
    unasked: u32,
    /// Whether what runs is counted.
    counting: bool,
    link: Link,
    /// What stands before the consumers when superblocks are counted.
    pub regroup: Option<Box<Regroup>>,
}

/// Buffers whose instructions the producer counts after it was asked for an exact number. To wait for the consumers
/// each time would let them stand still in between.
const COUNTED_AHEAD: u32 = 16;

impl Recorder {
    /// A recorder that feeds `link`.
    pub fn new(mut link: Link) -> Recorder {
        let words = link.buffer();
        Recorder {
            plans: PlanTable::default(),
            words,
            len: 0,
            walked: 0,
            counted: 0,
            handed_over: None,
            unasked: 0,
            counting: true,
            link,
            regroup: None,
        }
    }

    /// The buffer being filled; it has room for a record that starts below `BUFFER_WORDS`.
    pub fn words(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Words filled so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Says how many words the generated code has filled.
    pub fn set_len(&mut self, len: usize) {
        self.len = len.min(self.words.len());
    }

    /// Appends a record, with its slots.
    pub fn append(&mut self, plan: PlanId, slots: &[u64]) {
        let Some(header) = self.plans.get(plan).map(|p| p.header(plan)) else { return };
        if self.len >= BUFFER_WORDS {
            self.flush();
        }
        self.words[self.len] = header;
        self.words[self.len + 1..][..slots.len()].copy_from_slice(slots);
        self.len += 1 + slots.len();
    }

    /// Says that control is at `pc` now, whatever the last record would lead to.
    pub fn point(&mut self, pc: u64) {
        let plan = self.plans.point(pc);
        self.append(plan, &[]);
    }

    /// The last record was cut short at the instruction at `pc`: what lies before it ran, and with `fetched` it
    /// was itself fetched. Slots of the rest hold stale words and go.
    pub fn cut(&mut self, pc: u64, fetched: bool) {
        let Some(at) = self.last_record() else { return };
        let id = Header::of(self.words[at]).plan;
        let Some(plan) = self.plans.get(id) else { return };
        let Some(complete) = plan.insns.iter().position(|insn| insn.pc == pc) else { return };
        let fetched = fetched.then_some(0);
        let prefix = self.plans.prefix(id, complete as u16, fetched);
        self.shorten(at, prefix);
    }

    /// The record at an index, the last one, becomes one of a prefix of its plan.
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

    /// The instruction at `pc`, in the last record, faulted after it was fetched.
    pub fn fault(&mut self, pc: u64, cause: Cause) {
        if self.regroup.is_none() || cause == Cause::Instruction {
            return self.cut(pc, true);
        }
        let Some(at) = self.last_record() else { return };
        let id = Header::of(self.words[at]).plan;
        let Some(plan) = self.plans.get(id) else { return };
        let Some(complete) = plan.insns.iter().position(|insn| insn.pc == pc) else { return };
        let reached = cause.reached(plan, complete, &self.words[at + 1..]);
        let prefix = self.plans.prefix(id, complete as u16, Some(reached as u16));
        self.shorten(at, prefix);
        if let Some(regroup) = &mut self.regroup {
            regroup.fault(self.len, cause != Cause::Result);
        }
    }

    /// Index of the last record in the buffer.
    fn last_record(&self) -> Option<usize> {
        let mut last = None;
        let mut at = 0;
        while at < self.len {
            last = Some(at);
            at += 1 + Header::of(self.words[at]).slots;
        }
        last
    }

    /// Hands the buffer over and takes an empty one. Where superblocks are counted, records that a fault would take back stay;
    /// there are few.
    pub fn flush(&mut self) {
        self.hand_over(true);
    }

    fn hand_over(&mut self, keeps: bool) {
        if self.len == 0 {
            return;
        }
        let len = self.len;
        if self.handed_over.is_some() {
            self.walk();
        }
        let all = Handed { executed: self.counted, words: len };
        self.drop_buffer();
        let handed = match &mut self.regroup {
            Some(regroup) => regroup.regroup(&mut self.words[..len], keeps, &mut self.plans),
            None => all,
        };
        let mut empty = self.link.buffer();
        let kept = &self.words[handed.words..len];
        empty[..kept.len()].copy_from_slice(kept);
        self.len = kept.len();
        let full = std::mem::replace(&mut self.words, empty);
        self.link.send(full, handed.words, self.plans.take_new());
        if let Some(handed_over) = self.handed_over {
            self.unasked += 1;
            self.handed_over = (self.unasked <= COUNTED_AHEAD).then_some(handed_over + handed.executed);
        }
    }

    /// Takes in a superblock; what was recorded before ran with those that were known until now.
    pub fn form(&mut self, formed: Formed) {
        if let Some(regroup) = &mut self.regroup {
            regroup.add(formed, self.len);
        }
    }

    /// Hands over the plans that are new.
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

    /// Instructions executed so far, exactly. May wait for the consumers.
    pub fn instructions(&mut self) -> u64 {
        self.walk();
        self.unasked = 0;
        let link = &mut self.link;
        *self.handed_over.get_or_insert_with(|| link.instructions()) + self.counted
    }

    /// Instructions in the buffers that have come back: what can be had without waiting.
    pub fn instructions_seen(&self) -> u64 {
        self.link.instructions_seen()
    }

    /// No fewer instructions than have been executed, without waiting.
    pub fn instructions_at_most(&self) -> u64 {
        // Every record is at least one word, and a buffer may end with a record that starts on its last one.
        if let Some(handed_over) = self.handed_over {
            return handed_over + self.counted + (self.len - self.walked) as u64 * MAX_BLOCK;
        }
        let words = (self.link.buffers_out() * (BUFFER_WORDS + 1) + self.len) as u64;
        self.link.instructions_seen().saturating_add(words * MAX_BLOCK)
    }

    /// Calls `f` with each consumer as it is when it has seen every record.
    pub fn visit(&mut self, mut f: impl FnMut(&Consumer)) {
        self.flush();
        let Some(regroup) = self.regroup.as_mut().filter(|_| self.len > 0) else {
            return self.link.visit(|_, consumer| f(consumer));
        };
        // Whether the rest counts is not known yet.
        let place = regroup.save();
        let mut rest = self.words[..self.len].to_vec();
        let handed = regroup.regroup(&mut rest, false, &mut self.plans);
        regroup.restore(place);
        self.send_plans();
        self.link.visit(|_, consumer| {
            let mut consumer = consumer.clone();
            consumer.consume(&rest[..handed.words], &[]);
            f(&consumer);
        });
    }

    /// Forgets what was counted. The simulators keep what they hold.
    pub fn zero(&mut self) {
        self.hand_over(false);
        self.link.visit(|_, consumer| consumer.zero());
    }

    /// Whether what runs from here on, where control is at `pc`, is counted. Returns whether that is a change.
    pub fn set_counting(&mut self, counting: bool, pc: u64) -> bool {
        if std::mem::replace(&mut self.counting, counting) == counting {
            return false;
        }
        // The last branch is decided by where control is now, and nothing that was not counted leads here.
        self.point(pc);
        self.hand_over(false);
        self.link.visit(|_, consumer| consumer.set_counting(counting));
        self.point(pc);
        true
    }

    /// Watches accesses to these ranges, and to no others, from here on.
    pub fn watch(&mut self, ranges: &[Watched]) {
        self.flush();
        self.send_plans();
        let plans = self.plans.shipped();
        let rest = &self.words[..self.len];
        let mut first = true;
        self.link.visit(|_, consumer| {
            // All of them see the same accesses.
            let ranges = if std::mem::take(&mut first) { ranges.to_vec() } else { Vec::new() };
            consumer.watch(ranges, plans.clone(), rest);
        });
    }

    /// What has been recorded so far.
    pub fn save(&mut self) -> Recorded {
        let mut consumers = Vec::new();
        self.flush();
        self.link.visit(|_, consumer| consumers.push(consumer.save()));
        let place = self.regroup.as_ref().map(|regroup| regroup.save());
        let rest = self.words[..self.len].to_vec();
        Recorded { consumers, instructions: self.link.instructions(), counting: self.counting, place, rest }
    }

    /// Goes back to what had been recorded when `saved` was made, by this recorder.
    pub fn restore(&mut self, saved: &Recorded) {
        self.drop_buffer();
        self.counting = saved.counting;
        self.link.visit(|i, consumer| {
            if let Some(before) = saved.consumers.get(i) {
                consumer.restore(before);
            }
        });
        self.link.rewind(saved.instructions);
        if let (Some(regroup), Some(place)) = (&mut self.regroup, saved.place) {
            regroup.restore(place);
        }
        if let Some(words) = self.words.get_mut(..saved.rest.len()) {
            words.copy_from_slice(&saved.rest);
            self.len = saved.rest.len();
        }
        self.handed_over = Some(saved.instructions);
    }

    fn drop_buffer(&mut self) {
        self.len = 0;
        self.walked = 0;
        self.counted = 0;
    }

    /// Hands over what is left and gives the consumers back.
    pub fn finish(mut self) -> Vec<Consumer> {
        self.hand_over(false);
        self.link.finish()
    }
}

/// Everything that was recorded up to some moment: a part of a checkpoint.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The simulators and what they have counted.
    consumers: Vec<SavedConsumer>,
    /// In what they have seen.
    instructions: u64,
    counting: bool,
    /// Where in a superblock control was.
    place: Option<SavedPlace>,
    /// Records that they have not seen, because a fault may take them back.
    rest: Vec<u64>,
}

impl Recorded {
    /// Instructions executed.
    pub fn instructions(&self) -> u64 {
        self.instructions + instructions(&self.rest)
    }
}
