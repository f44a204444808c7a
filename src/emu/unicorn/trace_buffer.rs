//! The trace buffer as generated code sees it, and the counts that it keeps in place of a trace.

use std::mem::offset_of;

use crate::hooks::record::{BUFFER_WORDS, MAX_BLOCK, PlanId};
use crate::hooks::recorder::Recorder;

/// The words that generated code accesses by their addresses.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Cursor {
    /// Next free word of the buffer.
    pub(super) next: *mut u64,
    /// Last word before which a block may begin without asking.
    pub(super) limit: *mut u64,
    /// Instructions that may be executed without asking, where generated code counts itself.
    pub(super) left: i64,
    /// Executions by plan.
    pub(super) executions: *mut u64,
    /// Plan of the last block, or [`NO_PLAN`].
    pub(super) last: u64,
}

const NO_PLAN: u64 = u64::MAX;

// Generated code loads and stores whole words at these offsets.
const _: () = assert!(offset_of!(Cursor, last) == 32);

/// Instructions between two questions where generated code counts itself.
const TURN: u64 = 1 << 18;

/// The recorder, and the cursor through which generated code fills its buffer.
///
/// While the guest runs, the cursor counts; everywhere else the recorder's length does. So every
/// callback that looks at the recorder calls [`TraceBuffer::sync`] first and
/// [`TraceBuffer::resume`] last.
pub(super) struct TraceBuffer {
    cursor: Cursor,
    recorder: Recorder,
    /// Length of the buffer, or instructions executed, at which a block asks before it starts.
    ask_at: u64,
    /// `Cursor::left` when the recorder was last told of what was executed.
    granted: i64,
    /// Generated code writes the trace; otherwise the reference producer does.
    generated: bool,
}

impl TraceBuffer {
    /// Begins a trace, which generated code or the reference producer writes.
    pub(super) fn new(recorder: Recorder, generated: bool) -> TraceBuffer {
        let null = std::ptr::null_mut();
        let cursor = Cursor { next: null, limit: null, left: 0, executions: null, last: NO_PLAN };
        TraceBuffer { cursor, recorder, ask_at: 0, granted: 0, generated }
    }

    /// The words that generated code accesses. They must not move while it exists.
    pub(super) fn cursor(&self) -> *const Cursor {
        &raw const self.cursor
    }

    /// The recorder, between [`TraceBuffer::sync`] and [`TraceBuffer::resume`].
    pub(super) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// True if generated code counts executions itself.
    pub(super) fn counts_executions(&self) -> bool {
        self.recorder.counts_executions()
    }

    /// Ends the trace.
    pub(super) fn into_recorder(self) -> Recorder {
        self.recorder
    }

    /// Tells the recorder what generated code has written.
    pub(super) fn sync(&mut self) {
        if self.counts_executions() {
            let executed = (self.granted - self.cursor.left) as u64;
            self.granted = self.cursor.left;
            let last = u32::try_from(self.cursor.last).ok().map(PlanId);
            self.recorder.executed(executed, last);
        } else if self.generated {
            let base = self.recorder.words().as_ptr() as usize;
            self.recorder.set_len((self.cursor.next as usize - base) / size_of::<u64>());
        }
    }

    /// Sets the cursor to the end of the trace. With `stopping`, the next block asks before it
    /// starts.
    pub(super) fn resume(&mut self, stopping: bool) {
        let at = self.recorder.position();
        if self.counts_executions() {
            self.cursor.left = self.ask_at.saturating_sub(self.recorder.instructions_seen()) as i64;
            self.granted = self.cursor.left;
            self.cursor.last = self.recorder.last_executed().map_or(NO_PLAN, |plan| plan.0.into());
            self.add_plan();
            if stopping {
                self.stop();
            }
            return;
        }
        let ask_at = self.ask_at;
        let words = self.recorder.words();
        self.cursor.next = words[at as usize..].as_mut_ptr();
        if stopping || ask_at <= at {
            self.stop();
        } else {
            // A block asks when `next` is above the limit, so the limit is one word less.
            self.cursor.limit = words[ask_at as usize - 1..].as_mut_ptr();
        }
    }

    /// Has generated code find the count of a plan that is new.
    pub(super) fn add_plan(&mut self) {
        self.cursor.executions = self.recorder.executions().as_mut_ptr();
    }

    /// Makes the next block ask before it starts.
    pub(super) fn stop(&mut self) {
        self.cursor.limit = std::ptr::null_mut();
        // No block has fewer instructions than none.
        self.granted -= self.cursor.left + 1;
        self.cursor.left = -1;
    }

    /// Tests whether a block that begins now has to ask.
    pub(super) fn must_ask(&self) -> bool {
        self.recorder.position() >= self.ask_at
    }

    /// Makes the block after the next one ask, unless it ends before the instruction at which it
    /// would have to.
    pub(super) fn ask_after_next_block(&mut self) {
        if !self.counts_executions() {
            self.ask_at = self.recorder.position() + 1;
        }
    }

    /// Chooses when to ask so that it happens before `left` more instructions have run.
    pub(super) fn ask_within(&mut self, left: Option<u64>) {
        if self.counts_executions() {
            self.ask_at =
                self.recorder.instructions_seen().saturating_add(left.map_or(TURN, |left| left.min(TURN)));
            return;
        }
        self.ask_at = match left {
            None => BUFFER_WORDS as u64,
            // Every record is at least one word and at most a block.
            Some(left) => self.recorder.position().saturating_add(left / MAX_BLOCK).min(BUFFER_WORDS as u64),
        };
    }

    /// Hands a full buffer over to the consumers.
    pub(super) fn flush_if_full(&mut self) {
        if self.recorder.len() >= BUFFER_WORDS {
            self.recorder.flush();
        }
    }
}
