//! The way of the buffers from the producer to the consumer and back.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::hooks::consumer::Consumer;
use crate::hooks::plan::{MAX_RECORD, Plan};
use crate::hooks::trace::BUFFER_WORDS;

/// Buffers that may be on their way; more only grow the memory in use.
const BUFFERS: usize = 4;

struct Full {
    words: Box<[u64]>,
    len: usize,
    plans: Vec<Arc<Plan>>,
}

struct Empty {
    words: Box<[u64]>,
    instructions: u64,
}

/// The link between the two ends.
pub struct Link {
    end: End,
    /// Instructions in the buffers that came back.
    instructions: u64,
    free: Vec<Box<[u64]>>,
}

enum End {
    Inline(Box<Consumer>),
    Thread { full: Sender<Full>, empty: Receiver<Empty>, out: usize, made: usize, thread: JoinHandle<Box<Consumer>> },
}

fn new_buffer() -> Box<[u64]> {
    vec![0; BUFFER_WORDS + MAX_RECORD].into_boxed_slice()
}

impl Link {
    /// The consumer runs on the caller's thread, whenever a buffer is full.
    pub fn inline(consumer: Box<Consumer>) -> Link {
        Link { end: End::Inline(consumer), instructions: 0, free: Vec::new() }
    }

    /// The consumer runs on a thread of its own; where none can be had, on the caller's.
    pub fn threaded(consumer: Box<Consumer>) -> Link {
        let (full, full_in) = channel::<Full>();
        let (empty_out, empty) = channel::<Empty>();
        let (give, take) = channel::<Box<Consumer>>();
        let spawned = std::thread::Builder::new().name("consumer".into()).spawn(move || {
            let Ok(mut consumer) = take.recv() else { return Box::default() };
            while let Ok(batch) = full_in.recv() {
                let instructions = consumer.consume(&batch.words[..batch.len], &batch.plans);
                // The producer is gone only when it no longer wants its buffers.
                let _ = empty_out.send(Empty { words: batch.words, instructions });
            }
            consumer
        });
        let end = match spawned {
            Ok(thread) => {
                // The thread waits for it and cannot have ended.
                let _ = give.send(consumer);
                End::Thread { full, empty, out: 0, made: 0, thread }
            }
            Err(_) => End::Inline(consumer),
        };
        Link { end, instructions: 0, free: Vec::new() }
    }

    /// An empty buffer; waits for one when enough are on their way.
    pub fn buffer(&mut self) -> Box<[u64]> {
        if let Some(words) = self.free.pop() {
            return words;
        }
        match &mut self.end {
            End::Thread { empty, out, made, .. } => {
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
                    // The consumer died; its panic is reported when it is joined.
                    Err(_) => new_buffer(),
                }
            }
            End::Inline(_) => new_buffer(),
        }
    }

    /// Hands over the first `len` words of a buffer and the plans made since the last one.
    pub fn send(&mut self, words: Box<[u64]>, len: usize, plans: Vec<Arc<Plan>>) {
        match &mut self.end {
            End::Thread { full, out, .. } => {
                if full.send(Full { words, len, plans }).is_ok() {
                    *out += 1;
                }
            }
            End::Inline(consumer) => {
                self.instructions += consumer.consume(&words[..len], &plans);
                self.free.push(words);
            }
        }
    }

    /// Instructions in everything handed over so far; waits until the consumer has seen it all.
    pub fn instructions(&mut self) -> u64 {
        if let End::Thread { empty, out, .. } = &mut self.end {
            while *out > 0 {
                let Ok(back) = empty.recv() else { break };
                *out -= 1;
                self.instructions += back.instructions;
                self.free.push(back.words);
            }
        }
        self.instructions
    }

    /// Instructions in the buffers that have come back.
    pub fn instructions_seen(&self) -> u64 {
        self.instructions
    }

    /// Ends the link and gives the consumer back, everything consumed.
    pub fn finish(self) -> Box<Consumer> {
        match self.end {
            End::Inline(consumer) => consumer,
            End::Thread { full, thread, .. } => {
                drop(full);
                match thread.join() {
                    Ok(consumer) => consumer,
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        }
    }
}
