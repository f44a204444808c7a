//! Simulation of records that have been followed, put off until a thread has time for it: the
//! consumer's, or the recorder's while it waits for a buffer. Following needs no simulator, and the
//! two together take more time than all that the recorder does.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::hooks::buffer::Full;
use crate::hooks::callgraph::batch::Batch;
use crate::hooks::callgraph::misses::{MissLedger, Misses};
use crate::hooks::part::Part;

/// Simulators of an account, and what is charged with their misses.
#[derive(Clone, Debug)]
pub(super) struct Simulation {
    /// Misses of the thread that runs.
    pub(super) ledger: MissLedger,
    pub(super) misses: Misses,
}

impl Simulation {
    /// Simulates the records of a batch, and decides the branch at the end of the last one if it is
    /// known where the next one begins. The batch is empty afterwards.
    #[inline(always)]
    pub(super) fn run(&mut self, part: &mut Part, words: &[u64], batch: &mut Batch, next: Option<u64>) {
        part.walk_logging(words, batch.blocks());
        if let Some(pc) = next {
            part.decide(pc);
        }
        self.ledger.settle(batch, part.log(), &mut self.misses);
    }
}

/// Records of a buffer that have been followed.
struct Piece {
    full: Arc<Full>,
    words: Range<usize>,
    batch: Batch,
}

/// Pieces in the order in which they have to be simulated, and batches to be used again.
#[derive(Default)]
struct Queue {
    pieces: VecDeque<Piece>,
    spare: Vec<Batch>,
}

/// Pieces that are worth the recorder's attention.
const MANY: usize = 4;

/// Simulation that is put off, of one account at a time.
pub(in crate::hooks) struct Deferred {
    /// The simulators, while they are lent. They are locked before the queue.
    lent: Mutex<Option<(Part, Simulation)>>,
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
    pub(in crate::hooks) fn new(ask: impl Fn() + Send + Sync + 'static) -> Deferred {
        let (lent, queue) = (Mutex::default(), Mutex::default());
        let [asked, waits, wanted] = [false; 3].map(AtomicBool::new);
        Deferred { lent, queue, ask: Box::new(ask), asked, waits, wanted }
    }

    /// Takes the simulators of an account.
    pub(super) fn lend(&self, part: Part, simulation: Simulation) {
        *lock(&self.lent) = Some((part, simulation));
    }

    /// Gives the simulators back, when they have simulated everything.
    pub(super) fn recall(&self) -> Option<(Part, Simulation)> {
        let mut lent = lock(&self.lent);
        while self.run_one(&mut lent) {}
        lent.take()
    }

    /// Simulates the next piece, when the recorder does not. Returns whether there was one.
    pub(in crate::hooks) fn run_next(&self) -> bool {
        self.wanted.store(true, Ordering::Relaxed);
        let mut lent = lock(&self.lent);
        self.wanted.store(false, Ordering::Relaxed);
        self.run_one(&mut lent)
    }

    /// Says whether the recorder waits for a buffer.
    pub(in crate::hooks) fn set_waits(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Simulates the next piece for the consumer, unless the recorder does so or has nothing else
    /// to do. Returns whether there was one.
    pub(in crate::hooks) fn run_beside(&self) -> bool {
        !self.waits.load(Ordering::Relaxed) && self.try_run()
    }

    /// Simulates the next piece for the recorder, unless the consumer does so. Returns whether
    /// there was one.
    pub(in crate::hooks) fn help(&self) -> bool {
        self.asked.store(false, Ordering::Relaxed);
        self.try_run()
    }

    /// Simulates the next piece for a recorder that does not have to wait, unless the consumer
    /// would. Returns whether there was one.
    pub(in crate::hooks) fn help_on(&self) -> bool {
        !self.wanted.load(Ordering::Relaxed) && self.try_run()
    }

    fn try_run(&self) -> bool {
        let mut lent = match self.lent.try_lock() {
            Ok(lent) => lent,
            Err(TryLockError::Poisoned(lent)) => lent.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        self.run_one(&mut lent)
    }

    /// Simulates the next piece. Returns false if there is none.
    fn run_one(&self, lent: &mut Option<(Part, Simulation)>) -> bool {
        let Some((part, simulation)) = lent else { return false };
        let Some(Piece { full, words, mut batch }) = lock(&self.queue).pieces.pop_front() else {
            return false;
        };
        simulation.run(part, full.records().get(words).unwrap_or_default(), &mut batch, None);
        drop(full);
        lock(&self.queue).spare.push(batch);
        true
    }
}

/// A buffer whose simulation may be put off.
#[derive(Clone, Copy)]
pub(in crate::hooks) struct Deferral<'a> {
    pub(in crate::hooks) to: &'a Deferred,
    pub(in crate::hooks) full: &'a Arc<Full>,
}

/// Words that have not been simulated, at the end of a buffer. Those of the batch are first.
#[derive(Clone, Copy)]
pub(super) struct Unsettled<'w> {
    pub(super) words: &'w [u64],
    /// The number of words behind the batch.
    pub(super) after: usize,
}

impl<'w> Unsettled<'w> {
    /// Words of the batch.
    pub(super) fn batch(self) -> &'w [u64] {
        self.words.get(..self.words.len().saturating_sub(self.after)).unwrap_or_default()
    }
}

impl Deferral<'_> {
    /// Puts a batch off, and leaves an empty one.
    pub(super) fn put_off(self, words: Unsettled, batch: &mut Batch) {
        let len = self.full.records().len();
        let words = len.saturating_sub(words.words.len())..len.saturating_sub(words.after);
        let mut queue = lock(&self.to.queue);
        let batch = std::mem::replace(batch, queue.spare.pop().unwrap_or_default());
        queue.pieces.push_back(Piece { full: Arc::clone(self.full), words, batch });
        let waiting = queue.pieces.len();
        drop(queue);
        if waiting >= MANY && !self.to.asked.swap(true, Ordering::Relaxed) {
            (self.to.ask)();
        }
    }
}
