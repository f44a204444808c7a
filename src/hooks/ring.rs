//! The way of the buffers from the producer to the consumers and back.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::hooks::consumer::Consumer;
use crate::hooks::plan::{MAX_RECORD, Plan};
use crate::hooks::trace::{BUFFER_WORDS, Header};

/// Buffers that may be on their way; more only grow the memory in use.
const BUFFERS: usize = 8;

/// A full buffer, which every consumer reads.
struct Full {
    words: Box<[u64]>,
    len: usize,
    plans: Vec<Arc<Plan>>,
}

/// A buffer that every consumer is done with.
struct Empty {
    words: Box<[u64]>,
    instructions: u64,
}

/// One consumer at work.
struct Worker {
    full: Sender<Arc<Full>>,
    /// Ends with nothing only if it never got its consumer.
    thread: JoinHandle<Option<Consumer>>,
}

/// The link between the producer and its consumers.
pub struct Link {
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

fn work(mut consumer: Consumer, full: &Receiver<Arc<Full>>, empty: &Sender<Empty>) -> Consumer {
    while let Ok(batch) = full.recv() {
        let instructions = consumer.consume(&batch.words[..batch.len], &batch.plans);
        // The last consumer to let go gives the buffer back.
        if let Some(Full { words, .. }) = Arc::into_inner(batch) {
            // The producer is gone only when it no longer wants its buffers.
            let _ = empty.send(Empty { words, instructions });
        }
    }
    consumer
}

impl Link {
    /// The consumers run on the caller's thread, whenever a buffer is full.
    pub fn inline(consumers: Vec<Consumer>) -> Link {
        Link { end: End::Inline(consumers), instructions: 0, free: Vec::new() }
    }

    /// Each consumer runs on a thread of its own; where none can be had, all on the caller's.
    pub fn threaded(consumers: Vec<Consumer>) -> Link {
        let (empty_out, empty) = channel::<Empty>();
        let mut workers: Vec<Worker> = Vec::new();
        let mut waiting = consumers.into_iter();
        while let Some(consumer) = waiting.next() {
            let (full, full_in) = channel::<Arc<Full>>();
            let (give, take) = channel::<Consumer>();
            let empty = empty_out.clone();
            let spawned = std::thread::Builder::new().name("consumer".into()).spawn(move || {
                let consumer = take.recv().ok()?;
                Some(work(consumer, &full_in, &empty))
            });
            match spawned {
                Ok(thread) => {
                    // The thread waits for it and cannot have ended.
                    let _ = give.send(consumer);
                    workers.push(Worker { full, thread });
                }
                Err(_) => {
                    let mut back: Vec<Consumer> = workers.into_iter().filter_map(join).collect();
                    back.push(consumer);
                    back.extend(waiting);
                    return Link::inline(back);
                }
            }
        }
        Link { end: End::Threads { workers, empty, out: 0, made: 0 }, instructions: 0, free: Vec::new() }
    }

    /// An empty buffer; waits for one when enough are on their way.
    pub fn buffer(&mut self) -> Box<[u64]> {
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
                    // A consumer died; its panic is reported when it is joined.
                    Err(_) => new_buffer(),
                }
            }
            End::Inline(_) => new_buffer(),
        }
    }

    /// Hands over the first `len` words of a buffer and the plans made since the last one.
    pub fn send(&mut self, words: Box<[u64]>, len: usize, plans: Vec<Arc<Plan>>) {
        match &mut self.end {
            End::Threads { workers, out, .. } => {
                let batch = Arc::new(Full { words, len, plans });
                *out += 1;
                for worker in workers {
                    // A consumer that died is reported when it is joined.
                    let _ = worker.full.send(Arc::clone(&batch));
                }
                if let Some(Full { words, len, .. }) = Arc::into_inner(batch) {
                    // Every consumer was done before we let go.
                    *out -= 1;
                    self.instructions += count(&words[..len]);
                    self.free.push(words);
                }
            }
            End::Inline(consumers) => {
                for consumer in consumers {
                    consumer.consume(&words[..len], &plans);
                }
                self.instructions += count(&words[..len]);
                self.free.push(words);
            }
        }
    }

    /// Instructions in the buffers that have come back.
    pub fn instructions_seen(&self) -> u64 {
        self.instructions
    }

    /// Buffers handed over that have not come back.
    pub fn buffers_out(&self) -> usize {
        match &self.end {
            End::Inline(_) => 0,
            End::Threads { out, .. } => *out,
        }
    }

    /// Instructions in everything handed over so far; waits until the consumers have seen it all.
    pub fn instructions(&mut self) -> u64 {
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

    /// Ends the link and gives the consumers back, everything consumed.
    pub fn finish(self) -> Vec<Consumer> {
        match self.end {
            End::Inline(consumers) => consumers,
            End::Threads { workers, .. } => workers.into_iter().filter_map(join).collect(),
        }
    }
}

/// Instructions that a buffer's records stand for.
fn count(words: &[u64]) -> u64 {
    let (mut at, mut instructions) = (0, 0);
    while let Some(&word) = words.get(at) {
        let header = Header::of(word);
        instructions += header.instructions;
        at += 1 + header.slots;
    }
    instructions
}

fn join(worker: Worker) -> Option<Consumer> {
    drop(worker.full);
    match worker.thread.join() {
        Ok(consumer) => consumer,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
