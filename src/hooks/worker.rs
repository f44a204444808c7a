//! Worker threads: each runs one consumer, and full buffers circulate between the recorder and all
//! of them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::hooks::buffer::{Back, Full, Handed};
use crate::hooks::consumer::Consumer;
use crate::hooks::deferred::Deferred;
use crate::hooks::misses_below::RecordMiss;
use crate::hooks::record::{BUFFER_WORDS, MAX_RECORD, instructions};

/// Buffers in circulation. More would use memory and gain no speed.
const BUFFERS: usize = 8;

/// Time after which somebody who waits for a consumer looks whether it has panicked.
const PATIENCE: Duration = Duration::from_millis(100);

/// Buffers that are given back together while there are more to read, so that a recorder that waits
/// for them is not woken for each.
const RETURNED: usize = BUFFERS / 2;

/// Consumer and its thread, which holds the lock while it reads a buffer.
struct Worker {
    full: Sender<Arc<Full>>,
    consumer: Arc<Mutex<Consumer>>,
    /// Simulation that it puts off, where caches are simulated or there is a call graph.
    deferred: Option<Arc<Deferred>>,
    thread: JoinHandle<()>,
}

/// Link from the recorder to the consumers.
pub(crate) struct Link {
    end: End,
    /// Instructions in the buffers that came back.
    instructions: u64,
    free: Free,
}

/// Buffers and lists that have come back, to be used again.
#[derive(Default)]
struct Free {
    words: Vec<Box<[u64]>>,
    missed: Vec<Vec<RecordMiss>>,
}

impl Free {
    /// Keeps what nobody reads any more.
    fn keep(&mut self, Handed { words, mut missed, .. }: Handed) {
        self.words.push(words);
        if missed.capacity() > 0 {
            missed.clear();
            self.missed.push(missed);
        }
    }
}

enum End {
    Inline(Vec<Consumer>),
    Threads {
        workers: Vec<Worker>,
        /// Messages of the consumers, and the way by which they come.
        back: Receiver<Back>,
        home: Sender<Back>,
        /// Buffers that have not come back.
        out: usize,
        made: usize,
    },
}

/// Waits for a buffer to come back, with the number of its instructions, and does some of what the
/// consumers have put off meanwhile. `None` if a consumer has panicked, which is reported when it
/// is joined.
fn receive(workers: &[Worker], back: &Receiver<Back>) -> Option<(Handed, u64)> {
    loop {
        let message = back.try_recv().ok().or_else(|| {
            let deferred = workers.iter().filter_map(|worker| worker.deferred.as_ref());
            let helped = deferred.filter(|deferred| deferred.help()).count() > 0;
            if helped { None } else { back.recv_timeout(PATIENCE).ok() }
        });
        match message {
            Some(Back::Empty(handed, instructions)) => return Some((handed, instructions)),
            Some(Back::Behind) => {}
            None if workers.iter().any(|worker| worker.thread.is_finished()) => return None,
            None => {}
        }
    }
}

/// Takes the other buffers that have come back, and where consumers have put something off, does it
/// until several have, since simulators are slow after they have changed threads.
fn receive_more(workers: &[Worker], back: &Receiver<Back>) -> Vec<(Handed, u64)> {
    let mut more = Vec::new();
    loop {
        match back.try_recv() {
            Ok(Back::Empty(handed, instructions)) => more.push((handed, instructions)),
            Ok(Back::Behind) => {}
            Err(_) => {
                let mut deferred = workers.iter().filter_map(|worker| worker.deferred.as_ref());
                if more.len() + 1 >= RETURNED || !deferred.any(|deferred| deferred.help_on()) {
                    return more;
                }
            }
        }
    }
}

fn new_buffer() -> Box<[u64]> {
    vec![0; BUFFER_WORDS + MAX_RECORD].into_boxed_slice()
}

fn work(consumer: &Mutex<Consumer>, deferred: Option<&Deferred>, full: &Receiver<Arc<Full>>) {
    let mut read = Vec::new();
    loop {
        // One thread simulates all the time, if possible, since only one can.
        if deferred.is_some_and(Deferred::run_beside) {
            continue;
        }
        let buffer = match full.try_recv() {
            Ok(buffer) => buffer,
            // There is none while the recorder simulates: nothing is missed by waiting for it.
            Err(_) if deferred.is_some_and(Deferred::run_next) => continue,
            Err(_) => {
                read.clear();
                let Ok(buffer) = full.recv() else { break };
                buffer
            }
        };
        let mut consuming = lock(consumer);
        let instructions = consuming.consume_buffer(&buffer, deferred);
        drop(consuming);
        // Every consumer finds the same number.
        let _ = buffer.instructions.set(instructions);
        if deferred.is_none() {
            read.push(buffer);
        }
        if read.len() >= RETURNED {
            read.clear();
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
        Link { end: End::Inline(consumers), instructions: 0, free: Free::default() }
    }

    /// Runs each consumer on its own thread, or all on the caller's if a thread cannot be started.
    pub(crate) fn threaded(consumers: Vec<Consumer>) -> Link {
        let (home, back) = channel();
        let mut workers: Vec<Worker> = Vec::new();
        let mut waiting = consumers.into_iter();
        while let Some(consumer) = waiting.next() {
            let (full, full_in) = channel::<Arc<Full>>();
            let consumer = Arc::new(Mutex::new(consumer));
            let ask = home.clone();
            let deferred = || Arc::new(Deferred::new(move || drop(ask.send(Back::Behind))));
            let deferred = lock(&consumer).may_defer().then(deferred);
            let its = (Arc::clone(&consumer), deferred.clone());
            let spawned = std::thread::Builder::new()
                .name("consumer".into())
                .spawn(move || work(&its.0, its.1.as_deref(), &full_in));
            match spawned {
                Ok(thread) => workers.push(Worker { full, consumer, deferred, thread }),
                Err(_) => {
                    let mut back: Vec<Consumer> = workers.into_iter().map(join).collect();
                    back.push(lock(&consumer).clone());
                    back.extend(waiting);
                    return Link::inline(back);
                }
            }
        }
        let end = End::Threads { workers, back, home, out: 0, made: 0 };
        Link { end, instructions: 0, free: Free::default() }
    }

    /// Runs consumers that run on the caller's thread on their own from here on, if these can be
    /// started.
    pub(super) fn start_threads(&mut self) {
        if let End::Inline(consumers) = &mut self.end {
            self.end = Link::threaded(std::mem::take(consumers)).end;
        }
    }

    /// Takes an empty buffer. Waits for one to come back if all are in circulation.
    pub(crate) fn buffer(&mut self) -> Box<[u64]> {
        if let Some(words) = self.free.words.pop() {
            return words;
        }
        match &mut self.end {
            End::Threads { workers, back, out, made, .. } => {
                if *made < BUFFERS {
                    *made += 1;
                    return new_buffer();
                }
                let deferred = || workers.iter().filter_map(|worker| worker.deferred.as_ref());
                deferred().for_each(|deferred| deferred.set_waits(true));
                for (handed, instructions) in
                    receive(workers, back).into_iter().chain(receive_more(workers, back))
                {
                    *out -= 1;
                    self.instructions += instructions;
                    self.free.keep(handed);
                }
                deferred().for_each(|deferred| deferred.set_waits(false));
                self.free.words.pop().unwrap_or_else(new_buffer)
            }
            End::Inline(_) => new_buffer(),
        }
    }

    /// An empty list for what misses the first level.
    pub(super) fn list(&mut self) -> Vec<RecordMiss> {
        self.free.missed.pop().unwrap_or_default()
    }

    /// Hands a buffer over.
    pub(super) fn send(&mut self, handed: Handed) {
        match &mut self.end {
            End::Threads { workers, home, out, .. } => {
                let full = Arc::new(Full::new(handed, Some(home.clone())));
                *out += 1;
                for worker in workers {
                    // Fails if the consumer has panicked, which is reported when it is joined.
                    let _ = worker.full.send(Arc::clone(&full));
                }
            }
            End::Inline(consumers) => {
                let full = Arc::new(Full::new(handed, None));
                for consumer in consumers {
                    consumer.consume_buffer(&full, None);
                }
                self.instructions += instructions(full.records());
                let handed = Arc::into_inner(full).map(|mut full| std::mem::take(&mut full.handed));
                handed.into_iter().for_each(|handed| self.free.keep(handed));
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
        if let End::Threads { workers, back, out, .. } = &mut self.end {
            while *out > 0 {
                let Some((handed, instructions)) = receive(workers, back) else { break };
                *out -= 1;
                self.instructions += instructions;
                self.free.keep(handed);
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
                for (i, worker) in workers.iter().enumerate() {
                    let mut consumer = lock(&worker.consumer);
                    worker.deferred.iter().for_each(|deferred| consumer.recall(deferred));
                    f(i, &mut consumer);
                }
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
    let mut consumer = match Arc::try_unwrap(worker.consumer) {
        Ok(consumer) => consumer.into_inner().unwrap_or_else(PoisonError::into_inner),
        // Unreachable: the thread, which had the other reference, has ended.
        Err(shared) => lock(&shared).clone(),
    };
    worker.deferred.iter().for_each(|deferred| consumer.recall(deferred));
    consumer
}
