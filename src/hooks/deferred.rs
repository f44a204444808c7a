//! Simulation that is put off until a thread has time for it: the consumer's, or the recorder's
//! while it waits for a buffer. Without a call graph it is the accesses to LL, on which nothing
//! else depends. With one it is all simulation of records that have been followed, as following
//! needs no simulator.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::hooks::buffer::Full;
use crate::hooks::callgraph::batch::{Batch, Unsettled};
use crate::hooks::callgraph::simulation::Simulation;
use crate::hooks::last_level::{Below, LastLevel};
use crate::hooks::misses_below::MissesOf;
use crate::hooks::part::Part;

/// Simulators of an account that are lent.
pub(super) enum Lent {
    /// All of them, with a call graph.
    Part(Box<(Part, Simulation)>),
    LastLevel(LastLevel),
}

/// Piece of the simulation.
enum Piece {
    /// Records of a buffer that have been followed.
    Records { full: Arc<Full>, words: Range<usize>, batch: Batch },
    /// Accesses to LL.
    Below(Vec<Below>),
}

/// Pieces in the order in which they have to be simulated, and what was of others, to be used
/// again.
#[derive(Default)]
struct Queue {
    pieces: VecDeque<Piece>,
    batches: Vec<Batch>,
    lists: Vec<Vec<Below>>,
}

/// Pieces that are worth the recorder's attention.
const MANY: usize = 4;

/// Lists of accesses to LL that may wait. Records do so in buffers, of which there are few.
const MOST_LISTS: usize = 32;

/// Simulation that is put off, of one account at a time.
pub(super) struct Deferred {
    /// The simulators, while they are lent. They are locked before the queue.
    lent: Mutex<Option<Lent>>,
    queue: Mutex<Queue>,
    /// Asks the recorder for help.
    ask: Box<dyn Fn() + Send + Sync>,
    /// It was asked, and has not come yet.
    asked: AtomicBool,
    /// It waits for a buffer.
    waits: AtomicBool,
    /// The consumer waits to simulate.
    wanted: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Deferred {
    /// Nothing is put off; where much is, `ask` asks the recorder for help.
    pub(super) fn new(ask: impl Fn() + Send + Sync + 'static) -> Deferred {
        let (lent, queue) = (Mutex::default(), Mutex::default());
        let [asked, waits, wanted] = [false; 3].map(AtomicBool::new);
        Deferred { lent, queue, ask: Box::new(ask), asked, waits, wanted }
    }

    /// Takes the simulators of an account.
    pub(super) fn lend(&self, lent: Lent) {
        *lock(&self.lent) = Some(lent);
    }

    /// Gives the simulators back, when they have simulated everything.
    pub(super) fn recall(&self) -> Option<Lent> {
        let mut lent = lock(&self.lent);
        while self.run_one(&mut lent) {}
        lent.take()
    }

    /// Simulates the next piece, when the recorder does not. Returns whether there was one.
    pub(super) fn run_next(&self) -> bool {
        self.wanted.store(true, Ordering::Relaxed);
        let mut lent = lock(&self.lent);
        self.wanted.store(false, Ordering::Relaxed);
        self.run_one(&mut lent)
    }

    /// Says whether the recorder waits for a buffer.
    pub(super) fn set_waits(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Simulates records for the consumer, unless the recorder does so or has nothing else to do.
    /// Returns whether there were any.
    pub(super) fn run_beside(&self) -> bool {
        !self.waits.load(Ordering::Relaxed) && self.try_run(|lent| matches!(lent, Lent::Part(..)))
    }

    /// Simulates the next piece for the recorder, unless the consumer does so. Returns whether
    /// there was one.
    pub(super) fn help(&self) -> bool {
        self.asked.store(false, Ordering::Relaxed);
        self.try_run(|_| true)
    }

    /// Simulates the next piece for a recorder that does not have to wait, unless the consumer
    /// would. Returns whether there was one.
    pub(super) fn help_on(&self) -> bool {
        !self.wanted.load(Ordering::Relaxed) && self.try_run(|_| true)
    }

    fn try_run(&self, suits: impl Fn(&Lent) -> bool) -> bool {
        let mut lent = match self.lent.try_lock() {
            Ok(lent) => lent,
            Err(TryLockError::Poisoned(lent)) => lent.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        lent.as_ref().is_some_and(suits) && self.run_one(&mut lent)
    }

    /// Simulates the next piece. Returns false if there is none.
    fn run_one(&self, lent: &mut Option<Lent>) -> bool {
        let Some(lent) = lent else { return false };
        let Some(piece) = lock(&self.queue).pieces.pop_front() else { return false };
        match (lent, piece) {
            (Lent::Part(lent), Piece::Records { full, words, mut batch }) => {
                let (part, simulation) = &mut **lent;
                let (missed, records) = (full.missed(words.clone()), full.records());
                let after = records.len().saturating_sub(words.end);
                let words = Unsettled { words: records.get(words.start..).unwrap_or_default(), after };
                simulation.run(part, words, missed, &mut batch, None);
                drop(full);
                lock(&self.queue).batches.push(batch);
            }
            (Lent::LastLevel(last_level), Piece::Below(mut list)) => {
                last_level.access(&list);
                list.clear();
                lock(&self.queue).lists.push(list);
            }
            // Unreachable: only those pieces are put off that what is lent can simulate.
            _ => return false,
        }
        true
    }

    /// Puts accesses to LL off, and leaves an empty list.
    pub(super) fn put_off_below(&self, below: &mut Vec<Below>) {
        let mut queue = lock(&self.queue);
        let list = std::mem::replace(below, queue.lists.pop().unwrap_or_default());
        self.push(queue, Piece::Below(list));
        while lock(&self.queue).pieces.len() > MOST_LISTS {
            self.run_next();
        }
    }

    fn push(&self, mut queue: MutexGuard<Queue>, piece: Piece) {
        queue.pieces.push_back(piece);
        let waiting = queue.pieces.len();
        drop(queue);
        if waiting >= MANY && !self.asked.swap(true, Ordering::Relaxed) {
            (self.ask)();
        }
    }
}

/// A buffer that is read, and where its simulation may be put off to.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) full: &'a Arc<Full>,
    pub(super) deferred: Option<&'a Deferred>,
}

impl<'a> Reading<'a> {
    /// Puts a batch off, and leaves an empty one.
    pub(super) fn put_off(self, deferred: &Deferred, words: Unsettled, batch: &mut Batch) {
        let words = self.range(words);
        let mut queue = lock(&deferred.queue);
        let batch = std::mem::replace(batch, queue.batches.pop().unwrap_or_default());
        deferred.push(queue, Piece::Records { full: Arc::clone(self.full), words, batch });
    }

    /// Misses of the first level by the records of a batch.
    pub(super) fn missed(self, words: Unsettled) -> MissesOf<'a> {
        self.full.missed(self.range(words))
    }

    /// The words of a batch, in the buffer.
    fn range(self, words: Unsettled) -> Range<usize> {
        let len = self.full.records().len();
        len.saturating_sub(words.words.len())..len.saturating_sub(words.after)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fmt::Debug;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::hooks::buffer::Handed;
    use crate::hooks::counts::Counted;
    use crate::hooks::numbering::Numbering;
    use crate::hooks::plan::{Plan, PlannedEvent, PlannedInsn};
    use crate::hooks::record::PlanId;
    use crate::sim::{Geometry, Hierarchy};
    use crate::x86::cost::{Access, EventKind};

    const ROUNDS: u64 = 30_000;

    /// Checks that what is put off counts as `expected`, with a thread that helps and without.
    pub(in crate::hooks) fn counts_the_same<T: Debug + PartialEq>(
        expected: &T,
        counted: impl Fn(Option<&Deferred>) -> T,
    ) {
        // With nobody else there, it asks for help and then simulates itself.
        let (ask, asked) = channel();
        let alone = Deferred::new(move || _ = ask.send(()));
        assert_eq!(&counted(Some(&alone)), expected);
        assert!(asked.try_recv().is_ok());
        let (helped, done) = (Deferred::new(|| {}), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let help = || {
                while !done.load(Ordering::Relaxed) {
                    helped.help();
                }
            };
            scope.spawn(help);
            let counted = counted(Some(&helped));
            done.store(true, Ordering::Relaxed);
            assert_eq!(&counted, expected);
        });
    }

    /// A block that stores to the address in its only slot.
    fn plan(pc: u64) -> Plan {
        let store = PlannedEvent {
            insn: 0,
            slot: 0,
            offset: 0,
            size: 8,
            kind: EventKind::Write,
            access: Access::Store,
        };
        let insns = vec![PlannedInsn::new(pc, 4)];
        Plan { insns, slots: 1, events: vec![store], ..Plan::empty(pc, 0) }
    }

    /// Counts of two blocks, of which the second is new after the first half. Their lines of I1
    /// exclude each other, and they store wherever D1 and LL may miss.
    fn counted(deferred: Option<&Deferred>) -> Counted {
        let shape = |lines: u64| Geometry::new(lines * 64, 1, 64).expect("a shape");
        let mut part = Part::new(Some(Hierarchy::new(shape(2), shape(4), shape(64))), None);
        for pc in [0x1000, 0x2000] {
            let plan = plan(pc);
            part.add_plan(&plan, None);
            let ids = (0..2).map(PlanId).filter(|id| (id.0 as usize) < part.index().entries.len());
            let ids: Vec<PlanId> = ids.collect();
            let record = |round: u64| [plan.header(ids[round as usize % ids.len()]), round * round % 97 * 64];
            let words: Vec<u64> = (0..ROUNDS).flat_map(record).collect();
            let handed = Handed { words: words[..].into(), len: words.len(), ..Handed::default() };
            let full = Arc::new(Full::new(handed, None));
            let reading = Some(Reading { full: &full, deferred });
            let (instructions, rest) = part.walk(&words, &Numbering::Ids, reading);
            assert_eq!((instructions, rest), (ROUNDS, &[][..]));
        }
        deferred.iter().for_each(|deferred| part.recall(deferred));
        part.counted()
    }

    #[test]
    fn accesses_that_are_put_off_count_the_same() {
        let expected = counted(None);
        let stores = expected.misses.iter().map(|(_, misses)| misses.d1mw).sum::<u64>();
        assert!(stores > ROUNDS && expected.misses.iter().any(|(_, misses)| misses.i1mr > ROUNDS / 4));
        counts_the_same(&expected, counted);
    }
}
