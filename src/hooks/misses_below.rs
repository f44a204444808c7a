//! Accesses that missed I1 or D1, where generated code drives these. Nothing but LL and the counts
//! of misses depends on what they find in LL, so a thread of its own makes them, if the host has a
//! CPU for it, while the program goes on. With a trace they go to the consumer with their records.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::hooks::last_level::TOGETHER;
use crate::hooks::sparse::Sparse;
use crate::sim::Cache;

/// Access that missed the first level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) address: u64,
    /// Index of its [`Missed`]; of a record's, its [`Origin`].
    pub(super) counter: u32,
    /// Bytes accessed.
    pub(super) size: u32,
}

/// Part of a record that has missed the first level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The fetch of an instruction, by its index in the plan.
    Fetch(u16),
    /// A data event, by its index.
    Data(u16),
}

impl Origin {
    /// The origin as a number.
    pub(super) fn pack(self) -> u32 {
        match self {
            Origin::Fetch(insn) => u32::from(insn) << 1,
            Origin::Data(event) => u32::from(event) << 1 | 1,
        }
    }

    fn of(packed: u32) -> Origin {
        let index = (packed >> 1) as u16;
        if packed & 1 == 0 { Origin::Fetch(index) } else { Origin::Data(index) }
    }
}

/// Access of a record that missed the first level.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordMiss {
    /// Index of the record's header in its buffer.
    pub(super) at: u32,
    pub(super) access: Access,
}

impl RecordMiss {
    /// The part of the record that has missed.
    pub(super) fn origin(&self) -> Origin {
        Origin::of(self.access.counter)
    }
}

/// Accesses of some of a buffer's records that missed the first level, in order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MissesOf<'b> {
    pub(super) list: &'b [RecordMiss],
    /// Index in the buffer of the first word of these records.
    pub(super) first: usize,
}

impl<'b> MissesOf<'b> {
    /// Those of the records in a range of words, of all of a buffer's.
    pub(super) fn within(all: &'b [RecordMiss], words: Range<usize>) -> MissesOf<'b> {
        let place = |word: usize| all.partition_point(|miss| (miss.at as usize) < word);
        let list = all.get(place(words.start)..place(words.end)).unwrap_or_default();
        MissesOf { list, first: words.start }
    }
}

/// Misses of an instruction's fetch or of a data event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missed {
    pub(super) first_level: u64,
    pub(super) ll: u64,
}

/// Misses by the numbers of counters that the plans have ([`PlanTable::facts`]).
///
/// [`PlanTable::facts`]: crate::hooks::plan_table::PlanTable::facts
pub(super) type Counters = Sparse<Missed>;

/// Accesses that are handed to the thread together.
const PIECE: usize = 4096;

/// Pieces that may wait there.
const MOST_PIECES: usize = 64;

/// LL of an account, and its misses.
struct Lent {
    ll: Cache,
    counters: Counters,
}

enum Order {
    Lend(Box<Lent>),
    Make(Vec<Access>),
    GiveBack,
}

enum Answer {
    Made(Vec<Access>),
    Back(Box<Lent>),
}

/// The thread that makes the accesses.
#[derive(Debug)]
struct Helper {
    orders: Sender<Order>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
    /// Pieces that it has not made, or whose lists it still has.
    out: usize,
    /// Lists to be used again.
    lists: Vec<Vec<Access>>,
    /// The cache to leave in the place of LL while it has that.
    instead: Option<Cache>,
}

/// Owner of LL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LlOwner {
    /// The recorder, on the thread that runs the program.
    Recorder,
    /// A thread of its own.
    Thread,
    /// The consumer of the trace.
    Consumer,
}

/// Accesses that missed the first level, by where they go.
#[derive(Debug)]
pub(super) enum MissList {
    /// They are made, or handed over to be.
    LastLevel(Waiting),
    /// They go to the consumer, with the buffer that is being filled; the block that runs has its
    /// record at an index.
    Records { list: Vec<RecordMiss>, at: u32 },
}

impl MissList {
    /// No accesses. `instead` makes a cache to leave in the place of LL while a thread has it.
    pub(super) fn new(owner: LlOwner, instead: impl FnOnce() -> Cache) -> MissList {
        match owner {
            LlOwner::Recorder => MissList::LastLevel(Waiting::new(None)),
            LlOwner::Thread => MissList::LastLevel(Waiting::new(Some(instead()))),
            LlOwner::Consumer => MissList::Records { list: Vec::new(), at: 0 },
        }
    }

    /// Adds an access.
    #[inline]
    pub(super) fn push(&mut self, access: Access) {
        match self {
            MissList::LastLevel(waiting) => waiting.push(access),
            MissList::Records { list, at } => list.push(RecordMiss { at: *at, access }),
        }
    }

    /// Takes the last access back, which has not been handed over.
    pub(super) fn pop(&mut self) {
        match self {
            MissList::LastLevel(waiting) => waiting.pop(),
            MissList::Records { list, .. } => drop(list.pop()),
        }
    }

    /// Forgets all accesses that have not been handed over.
    pub(super) fn clear(&mut self) {
        match self {
            MissList::LastLevel(waiting) => waiting.clear(),
            MissList::Records { list, .. } => list.clear(),
        }
    }

    /// Those that are made here, if they are.
    pub(super) fn waiting(&mut self) -> Option<&mut Waiting> {
        match self {
            MissList::LastLevel(waiting) => Some(waiting),
            MissList::Records { .. } => None,
        }
    }
}

/// Accesses that wait, in order.
#[derive(Debug)]
pub(super) struct Waiting {
    list: Vec<Access>,
    /// Number of those that have been made or handed over.
    handed_over: u64,
    helper: Option<Helper>,
}

impl Waiting {
    /// No accesses. They are for a thread of their own, if it can be started and there is a cache
    /// to leave in the place of LL while that thread has it.
    pub(super) fn new(instead: Option<Cache>) -> Waiting {
        Waiting { list: Vec::new(), handed_over: 0, helper: instead.and_then(Helper::start) }
    }

    /// Adds an access.
    #[inline]
    pub(super) fn push(&mut self, access: Access) {
        self.list.push(access);
    }

    /// Takes the last access back, which has not been handed over.
    pub(super) fn pop(&mut self) {
        self.list.pop();
    }

    /// Forgets all accesses that have not been handed over.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Tells if there are as many as should be made together.
    #[inline]
    pub(super) fn are_many(&self) -> bool {
        self.list.len() >= if self.helper.is_some() { PIECE } else { TOGETHER }
    }

    /// Tells if they are made by a thread of their own.
    pub(super) fn have_thread(&self) -> bool {
        self.helper.is_some()
    }

    /// Number of all that have been made or handed over.
    pub(super) fn handed_over(&self) -> u64 {
        self.handed_over
    }

    /// Has the accesses made, or makes them.
    pub(super) fn make(&mut self, ll: &mut Cache, counters: &mut Counters) {
        self.handed_over += self.list.len() as u64;
        match &mut self.helper {
            Some(helper) => helper.make(&mut self.list, ll, counters),
            None => make(&mut self.list, ll, counters),
        }
    }

    /// Makes all accesses, with everything as it is then.
    pub(super) fn settle(&mut self, ll: &mut Cache, counters: &mut Counters) {
        if let Some(helper) = &mut self.helper {
            helper.end(ll, counters);
        }
        self.handed_over += self.list.len() as u64;
        make(&mut self.list, ll, counters);
    }
}

/// Makes accesses to LL, and counts their misses.
fn make(list: &mut Vec<Access>, ll: &mut Cache, counters: &mut Counters) {
    let most = list.iter().map(|access| access.counter).max();
    counters.grow(most.map_or(0, |most| most as usize + 1));
    for some in list.chunks(TOGETHER) {
        std::hint::black_box(some.iter().fold(0, |all, access| all ^ ll.read_ahead(access.address)));
        for access in some {
            let missed = ll.access(access.address, access.size);
            if let Some(counter) = counters.get_mut(access.counter as usize) {
                counter.first_level += 1;
                counter.ll += u64::from(missed);
            }
        }
    }
    list.clear();
}

/// Makes accesses until nobody asks for it any more.
fn work(orders: &Receiver<Order>, answers: &Sender<Answer>) {
    let mut lent = None;
    for order in orders {
        let answer = match order {
            Order::Lend(its) => {
                lent = Some(its);
                continue;
            }
            Order::Make(mut list) => {
                if let Some(Lent { ll, counters }) = lent.as_deref_mut() {
                    make(&mut list, ll, counters);
                }
                Answer::Made(list)
            }
            Order::GiveBack => match lent.take() {
                Some(its) => Answer::Back(its),
                None => return,
            },
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

impl Helper {
    /// Starts the thread, if it can be.
    fn start(instead: Cache) -> Option<Helper> {
        let ((orders, its_orders), (its_answers, answers)) = (channel(), channel());
        let thread = Builder::new().name("last level".into()).spawn(move || work(&its_orders, &its_answers));
        let (thread, instead) = (Some(thread.ok()?), Some(instead));
        Some(Helper { orders, answers, thread, out: 0, lists: Vec::new(), instead })
    }

    /// Hands accesses over, and leaves an empty list.
    fn make(&mut self, list: &mut Vec<Access>, ll: &mut Cache, counters: &mut Counters) {
        if let Some(instead) = self.instead.take() {
            let lent = Lent { ll: std::mem::replace(ll, instead), counters: std::mem::take(counters) };
            self.order(Order::Lend(Box::new(lent)));
        }
        while self.out >= MOST_PIECES {
            _ = self.answer();
        }
        while let Ok(Answer::Made(list)) = self.answers.try_recv() {
            self.made(list);
        }
        let empty = self.lists.pop().unwrap_or_default();
        self.order(Order::Make(std::mem::replace(list, empty)));
        self.out += 1;
    }

    /// Waits until all accesses are made, and takes back what was lent.
    fn end(&mut self, ll: &mut Cache, counters: &mut Counters) {
        if self.instead.is_some() {
            return;
        }
        self.order(Order::GiveBack);
        loop {
            if let Some(lent) = self.answer() {
                self.instead = Some(std::mem::replace(ll, lent.ll));
                *counters = lent.counters;
                return;
            }
        }
    }

    fn order(&mut self, order: Order) {
        if self.orders.send(order).is_err() {
            self.report_panic();
        }
    }

    /// Waits for an answer. Returns what was lent, if that is it.
    fn answer(&mut self) -> Option<Box<Lent>> {
        match self.answers.recv() {
            Ok(Answer::Made(list)) => self.made(list),
            Ok(Answer::Back(lent)) => return Some(lent),
            Err(_) => self.report_panic(),
        }
        None
    }

    fn made(&mut self, list: Vec<Access>) {
        self.out -= 1;
        self.lists.push(list);
    }

    /// Goes on with the panic of the thread, which ends in no other way before this one does.
    fn report_panic(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            resume_unwind(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Geometry;

    /// Accesses of a pseudo-random sequence, settled now and then: by a thread and without one.
    #[test]
    fn a_thread_counts_the_same() {
        let counted = |has_thread: bool| {
            let cache = |ways| Cache::new(Geometry::new(64 * 64, ways, 64).expect("a shape"));
            let mut waiting = Waiting::new(has_thread.then(|| cache(1)));
            let mut seed = 88_172_645_463_325_252_u64;
            assert_eq!(waiting.helper.is_some(), has_thread);
            let (mut lls, mut counters) = (Vec::new(), Counters::default());
            for ways in [1, 2] {
                let mut ll = cache(ways);
                for round in 0..100_000_u32 {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    waiting.push(Access { address: seed % 20_000, counter: round % 777, size: round % 9 });
                    if waiting.are_many() {
                        waiting.make(&mut ll, &mut counters);
                    }
                    if round % 9_999 == 0 {
                        waiting.settle(&mut ll, &mut counters);
                    }
                }
                waiting.push(Access { address: 0, counter: 0, size: 1 });
                waiting.pop();
                waiting.settle(&mut ll, &mut counters);
                lls.push(ll.held_blocks().collect::<Vec<_>>());
            }
            (lls, counters.iter().map(|(index, missed)| (index, *missed)).collect::<Vec<_>>())
        };
        let alone = counted(false);
        assert_eq!(alone.1.iter().map(|(_, missed)| missed.first_level).sum::<u64>(), 200_000);
        assert_eq!(counted(true), alone);
    }
}
