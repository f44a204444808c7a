//! Worker threads: each runs one consumer, and full buffers circulate between the recorder and all
//! of them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::hooks::consumer::Consumer;
use crate::hooks::control::AccountId;
use crate::hooks::executions::Tally;
use crate::hooks::plan::Plan;
use crate::hooks::record::{BUFFER_WORDS, MAX_RECORD, instructions};

/// Buffers in circulation. More would use memory and gain no speed.
const BUFFERS: usize = 8;

/// Buffers that are given back together while there are more to read, so that a recorder that waits
/// for them is not woken for each.
const RETURNED: usize = BUFFERS / 2;

/// Full buffer, which every consumer reads.
struct Full {
    words: Box<[u64]>,
    len: usize,
    plans: Vec<Arc<Plan>>,
    /// Counts that generated code has made itself, by account.
    tallies: Vec<(AccountId, Tally)>,
}

/// Buffer that every consumer has read.
struct Empty {
    words: Box<[u64]>,
    instructions: u64,
}

/// Consumer and its thread, which holds the lock while it reads a buffer.
struct Worker {
    full: Sender<Arc<Full>>,
    consumer: Arc<Mutex<Consumer>>,
    thread: JoinHandle<()>,
}

/// Link from the recorder to the consumers.
pub(crate) struct Link {
    end: End,
    /// Instructions in the buffers that came back.
    instructions: u64,
    free: Vec<Box<[u64]>>,
}

enum End {
    Inline(Vec<Consumer>),
    Threads { workers: Vec<Worker>, empty: Receiver<Empty>, out: usize, made: usize },
}

fn new_buffer() -> Box<[u64]> {
    vec![0; BUFFER_WORDS + MAX_RECORD].into_boxed_slice()
}

fn work(consumer: &Mutex<Consumer>, full: &Receiver<Arc<Full>>, empty: &Sender<Empty>) {
    let mut back = Vec::new();
    // Fails only after the recorder has gone.
    let give = |back: &mut Vec<Empty>| back.drain(..).for_each(|buffer| drop(empty.send(buffer)));
    loop {
        let batch = match full.try_recv() {
            Ok(batch) => batch,
            Err(_) => {
                give(&mut back);
                let Ok(batch) = full.recv() else { break };
                batch
            }
        };
        let mut consuming = lock(consumer);
        let instructions = consuming.consume(&batch.words[..batch.len], &batch.plans);
        batch.tallies.iter().for_each(|(account, tally)| consuming.add_executions(*account, tally));
        drop(consuming);
        // The last consumer to drop the buffer returns it.
        if let Some(Full { words, .. }) = Arc::into_inner(batch) {
            back.push(Empty { words, instructions });
        }
        if back.len() >= RETURNED {
            give(&mut back);
        }
    }
}

/// Locks a consumer. A poisoned lock is no error here: the panic is reported when the thread is
/// joined.
fn lock(consumer: &Mutex<Consumer>) -> MutexGuard<'_, Consumer> {
    consumer.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Runs the consumers on the caller's thread.
    pub(crate) fn inline(consumers: Vec<Consumer>) -> Link {
        Link { end: End::Inline(consumers), instructions: 0, free: Vec::new() }
    }

    /// Runs each consumer on its own thread, or all on the caller's if a thread cannot be started.
    pub(crate) fn threaded(consumers: Vec<Consumer>) -> Link {
        let (empty_out, empty) = channel::<Empty>();
        let mut workers: Vec<Worker> = Vec::new();
        let mut waiting = consumers.into_iter();
        while let Some(consumer) = waiting.next() {
            let (full, full_in) = channel::<Arc<Full>>();
            let empty = empty_out.clone();
            let consumer = Arc::new(Mutex::new(consumer));
            let its = Arc::clone(&consumer);
            let spawned = std::thread::Builder::new()
                .name("consumer".into())
                .spawn(move || work(&its, &full_in, &empty));
            match spawned {
                Ok(thread) => workers.push(Worker { full, consumer, thread }),
                Err(_) => {
                    let mut back: Vec<Consumer> = workers.into_iter().map(join).collect();
                    back.push(lock(&consumer).clone());
                    back.extend(waiting);
                    return Link::inline(back);
                }
            }
        }
        Link { end: End::Threads { workers, empty, out: 0, made: 0 }, instructions: 0, free: Vec::new() }
    }

    /// Takes an empty buffer. Waits for one to come back if all are in circulation.
    pub(crate) fn buffer(&mut self) -> Box<[u64]> {
        if let Some(words) = self.free.pop() {
            return words;
        }
        match &mut self.end {
            End::Threads { empty, out, made, .. } => {
                if *made < BUFFERS {
                    *made += 1;
                    return new_buffer();
                }
                match empty.recv() {
                    Ok(back) => {
                        *out -= 1;
                        self.instructions += back.instructions;
                        back.words
                    }
                    // A consumer has panicked, which is reported when it is joined.
                    Err(_) => new_buffer(),
                }
            }
            End::Inline(_) => new_buffer(),
        }
    }

    /// Hands over the first `len` words of a buffer, the plans that are new, and what generated
    /// code has counted itself.
    pub(super) fn send(
        &mut self,
        words: Box<[u64]>,
        len: usize,
        plans: Vec<Arc<Plan>>,
        tallies: Vec<(AccountId, Tally)>,
    ) {
        match &mut self.end {
            End::Threads { workers, out, .. } => {
                let batch = Arc::new(Full { words, len, plans, tallies });
                *out += 1;
                for worker in workers {
                    // Fails if the consumer has panicked, which is reported when it is joined.
                    let _ = worker.full.send(Arc::clone(&batch));
                }
                if let Some(Full { words, len, .. }) = Arc::into_inner(batch) {
                    // Every consumer has dropped the buffer already.
                    *out -= 1;
                    self.instructions += instructions(&words[..len]);
                    self.free.push(words);
                }
            }
            End::Inline(consumers) => {
                for consumer in consumers {
                    consumer.consume(&words[..len], &plans);
                    tallies.iter().for_each(|(account, tally)| consumer.add_executions(*account, tally));
                }
                self.instructions += instructions(&words[..len]);
                self.free.push(words);
            }
        }
    }

    /// Instructions in the buffers that have come back.
    pub(crate) fn instructions_seen(&self) -> u64 {
        self.instructions
    }

    /// Buffers handed over that have not come back.
    pub(crate) fn buffers_out(&self) -> usize {
        match &self.end {
            End::Inline(_) => 0,
            End::Threads { out, .. } => *out,
        }
    }

    /// Instructions in all buffers handed over. Waits until they have come back.
    pub(crate) fn instructions(&mut self) -> u64 {
        if let End::Threads { empty, out, .. } = &mut self.end {
            while *out > 0 {
                let Ok(back) = empty.recv() else { break };
                *out -= 1;
                self.instructions += back.instructions;
                self.free.push(back.words);
            }
        }
        self.instructions
    }

    /// Calls `f` with each consumer after it has read all buffers handed over.
    pub(crate) fn visit(&mut self, mut f: impl FnMut(usize, &mut Consumer)) {
        self.instructions();
        match &mut self.end {
            End::Inline(consumers) => {
                consumers.iter_mut().enumerate().for_each(|(i, consumer)| f(i, consumer));
            }
            End::Threads { workers, .. } => {
                workers.iter().enumerate().for_each(|(i, worker)| f(i, &mut lock(&worker.consumer)));
            }
        }
    }

    /// Sets the number of instructions handed over to that of a checkpoint. No buffer may be in
    /// circulation.
    pub(crate) fn rewind(&mut self, instructions: u64) {
        self.instructions = instructions;
    }

    /// Ends the threads and returns the consumers, after they have read everything.
    pub(crate) fn finish(self) -> Vec<Consumer> {
        match self.end {
            End::Inline(consumers) => consumers,
            End::Threads { workers, .. } => workers.into_iter().map(join).collect(),
        }
    }
}

fn join(worker: Worker) -> Consumer {
    drop(worker.full);
    if let Err(panic) = worker.thread.join() {
        std::panic::resume_unwind(panic);
    }
    match Arc::try_unwrap(worker.consumer) {
        Ok(consumer) => consumer.into_inner().unwrap_or_else(PoisonError::into_inner),
        // Unreachable: the thread, which had the other reference, has ended.
        Err(shared) => lock(&shared).clone(),
    }
}
