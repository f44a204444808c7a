//! The trace buffer as generated code sees it.

use std::mem::offset_of;

use crate::hooks::record::{BUFFER_WORDS, MAX_BLOCK};
use crate::hooks::recorder::Recorder;

/// The two words that generated code accesses by their address and their offsets here.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Cursor {
    /// Next free word of the buffer.
    pub(super) next: *mut u64,
    /// Last word before which a block may begin without asking.
    pub(super) limit: *mut u64,
}

// Generated code loads and stores whole words at these offsets.
const _: () = assert!(offset_of!(Cursor, next) == 0 && offset_of!(Cursor, limit) == 8);

/// The recorder, and the cursor through which generated code fills its buffer.
///
/// While the guest runs, the cursor counts; everywhere else the recorder's length does. So every
/// callback that looks at the recorder calls [`TraceBuffer::sync`] first and
/// [`TraceBuffer::resume`] last.
pub(super) struct TraceBuffer {
    cursor: Cursor,
    recorder: Recorder,
    /// Length of the buffer at which a block asks before it starts.
    ask_at: usize,
    /// Generated code writes the trace; otherwise the reference producer does.
    generated: bool,
}

impl TraceBuffer {
    /// Begins a trace, which generated code or the reference producer writes.
    pub(super) fn new(recorder: Recorder, generated: bool) -> TraceBuffer {
        let cursor = Cursor { next: std::ptr::null_mut(), limit: std::ptr::null_mut() };
        TraceBuffer { cursor, recorder, ask_at: BUFFER_WORDS, generated }
    }

    /// The words that generated code accesses. They must not move while it exists.
    pub(super) fn cursor(&self) -> *const Cursor {
        &raw const self.cursor
    }

    /// The recorder, between [`TraceBuffer::sync`] and [`TraceBuffer::resume`].
    pub(super) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Ends the trace.
    pub(super) fn into_recorder(self) -> Recorder {
        self.recorder
    }

    /// Tells the recorder what generated code has written.
    pub(super) fn sync(&mut self) {
        if self.generated {
            let base = self.recorder.words().as_ptr() as usize;
            self.recorder.set_len((self.cursor.next as usize - base) / size_of::<u64>());
        }
    }

    /// Sets the cursor to the end of the trace. With `stopping`, the next block asks before it
    /// starts.
    pub(super) fn resume(&mut self, stopping: bool) {
        let len = self.recorder.len();
        let ask_at = self.ask_at;
        let words = self.recorder.words();
        self.cursor.next = words[len..].as_mut_ptr();
        if stopping || ask_at <= len {
            self.stop();
        } else {
            // A block asks when `next` is above the limit, so the limit is one word less.
            self.cursor.limit = words[ask_at - 1..].as_mut_ptr();
        }
    }

    /// Makes the next block ask before it starts.
    pub(super) fn stop(&mut self) {
        self.cursor.limit = std::ptr::null_mut();
    }

    /// Tests whether a block that begins now has to ask.
    pub(super) fn must_ask(&self) -> bool {
        self.recorder.len() >= self.ask_at
    }

    /// Makes the block after the next one ask.
    pub(super) fn ask_after_next_block(&mut self) {
        self.ask_at = self.recorder.len() + 1;
    }

    /// Chooses when to ask so that it happens before `left` more instructions have run.
    pub(super) fn ask_within(&mut self, left: Option<u64>) {
        self.ask_at = match left {
            None => BUFFER_WORDS,
            // Every record is at least one word and at most a block.
            Some(left) => {
                let words = (left / MAX_BLOCK).min(BUFFER_WORDS as u64) as usize;
                (self.recorder.len() + words).min(BUFFER_WORDS)
            }
        };
    }

    /// Hands a full buffer over to the consumers.
    pub(super) fn flush_if_full(&mut self) {
        if self.recorder.len() >= BUFFER_WORDS {
            self.recorder.flush();
        }
    }
}
