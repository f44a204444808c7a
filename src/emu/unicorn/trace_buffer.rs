//! The trace buffer as generated code sees it, and the counts that it keeps in place of a trace.
#![allow(unsafe_code)]

use std::mem::offset_of;

use crate::emu::unicorn::line_tlb::CLOCK;
use crate::hooks::executions::Count;
use crate::hooks::record::{PlanId, Running, plan_of};
use crate::hooks::recorder::Recorder;

/// The words that generated code accesses by their addresses, a line of the host's cache.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// Next free word of the buffer.
    pub(super) next: *mut u64,
    /// Last word before which a block may begin without asking.
    pub(super) limit: *mut u64,
    /// Instructions that may be executed without asking, where generated code counts itself.
    pub(super) left: i64,
    /// Counts by plan.
    pub(super) executions: *mut Count,
    /// Plan of the last block, or [`NO_PLAN`]; where there is a trace and generated code drives the
    /// caches, the address of its record.
    pub(super) last: u64,
    /// Places of the times of I1 lines, by number, if generated code drives the caches.
    pub(super) fetch_times: *const *mut u32,
    pub(super) calls: Calls,
}

/// Functions of ours that generated code calls by these words, with other arguments than C has.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// Asks at the start of a block.
    pub(super) exit_check: unsafe extern "C" fn(),
    /// Tells of a line of I1 that is absent.
    pub(super) absent_line: unsafe extern "C" fn(),
}

const NO_PLAN: u64 = u64::MAX;

/// Lines in a page of the host, of which one is the cursor.
const LINES: usize = 64;

/// Bytes from the CPU's state to the cursor, but for whole pages. The host's CPU takes a load for
/// one of what was stored just before if both have the same place in their pages, and waits; so the
/// words are where the state has registers that programs do not see, of AVX-512.
const APART: usize = 0x900;

// Generated code loads and stores whole words at these offsets.
const _: () = assert!(offset_of!(Cursor, last) == 32 && size_of::<Cursor>() == 64);

/// Pages that the engine enters into its TLB between two questions at most. Each takes so long,
/// more than a microsecond where the host has to give memory, that a whole buffer of them takes
/// tens of milliseconds.
const FILLS: u32 = 1024;

/// Instructions between two questions where generated code counts itself.
const TURN: u64 = 1 << 18;

/// The recorder, and the cursor through which generated code fills its buffer.
///
/// While the guest runs, the cursor counts; everywhere else the recorder's length does. So every
/// callback that looks at the recorder calls [`TraceBuffer::sync`] first and
/// [`TraceBuffer::resume`] last.
pub(super) struct TraceBuffer {
    lines: Box<[Cursor; LINES]>,
    /// The line that is the cursor.
    line: usize,
    recorder: Recorder,
    /// Time of the block that runs, where generated code drives the caches.
    clock: *mut u32,
    /// Length of the buffer, or instructions executed, at which a block asks before it starts.
    ask_at: u64,
    /// `Cursor::left` when the recorder was last told of what was executed.
    granted: i64,
    /// Pages entered into the TLB since one of them made a block ask.
    fills: u32,
    /// Generated code writes the trace; otherwise the reference producer does.
    generated: bool,
}

impl TraceBuffer {
    /// Begins a trace, which generated code for the CPU with the state `env` or the reference
    /// producer writes.
    pub(super) fn new(recorder: Recorder, generated: bool, env: *const u64, calls: Calls) -> TraceBuffer {
        let null = std::ptr::null_mut();
        let executions = std::ptr::null_mut();
        let fetch_times = std::ptr::null();
        let (next, limit) = (null, null);
        let cursor = Cursor { next, limit, left: 0, executions, last: NO_PLAN, fetch_times, calls };
        let lines = Box::new([cursor; LINES]);
        let distance = (env as usize).wrapping_add(APART).wrapping_sub(lines.as_ptr() as usize);
        let line = distance / size_of::<Cursor>() % LINES;
        // SAFETY: the word is before the state, in the same object of the engine.
        let clock = unsafe { env.byte_offset(CLOCK) }.cast_mut().cast();
        TraceBuffer { lines, line, recorder, clock, ask_at: 0, granted: 0, fills: 0, generated }
    }

    /// The words that generated code accesses. They must not move while it exists.
    pub(super) fn cursor(&self) -> *const Cursor {
        &raw const self.lines[self.line]
    }

    fn words(&mut self) -> &mut Cursor {
        &mut self.lines[self.line]
    }

    /// The recorder, between [`TraceBuffer::sync`] and [`TraceBuffer::resume`].
    pub(super) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// True if generated code counts executions itself.
    pub(super) fn counts_executions(&self) -> bool {
        self.recorder.counts_executions()
    }

    /// The block that runs, where generated code drives the caches.
    #[inline]
    pub(super) fn running(&mut self) -> Option<Running> {
        let last = self.lines[self.line].last;
        if self.counts_executions() {
            return u32::try_from(last).ok().map(|plan| Running { plan: PlanId(plan), at: 0 });
        }
        let at = self.record_of_running();
        let header = self.recorder.words().get(at).copied()?;
        Some(Running { plan: plan_of(header), at })
    }

    /// Index of the record of the block that runs, where there is a trace and generated code drives
    /// the caches.
    pub(super) fn record_of_running(&mut self) -> usize {
        let base = self.recorder.words().as_ptr() as u64;
        (self.lines[self.line].last.wrapping_sub(base) / size_of::<u64>() as u64) as usize
    }

    /// Ends the trace.
    pub(super) fn into_recorder(self) -> Recorder {
        self.recorder
    }

    /// Tells the recorder what generated code has written.
    pub(super) fn sync(&mut self) {
        if self.counts_executions() {
            let Cursor { left, last, .. } = *self.words();
            let executed = (self.granted - left) as u64;
            self.granted = left;
            let last = u32::try_from(last).ok().map(PlanId);
            self.recorder.executed(executed, last);
        } else {
            self.sync_length();
        }
        if let Some(caches) = self.recorder.inline_caches() {
            // SAFETY: the engine, which has the word, lives as long as the trace.
            caches.set_clock(unsafe { *self.clock });
        }
    }

    /// Tells the recorder how much of a trace generated code has written.
    pub(super) fn sync_length(&mut self) {
        if self.generated && !self.counts_executions() {
            let base = self.recorder.words().as_ptr() as usize;
            let len = (self.words().next as usize - base) / size_of::<u64>();
            self.recorder.set_len(len);
        }
    }

    /// Sets the cursor to the end of the trace. With `stopping`, the next block asks before it
    /// starts.
    pub(super) fn resume(&mut self, stopping: bool) {
        let at = self.recorder.position();
        self.add_plan();
        if let Some(caches) = self.recorder.inline_caches() {
            // SAFETY: as in `sync`.
            unsafe { *self.clock = caches.clock() };
        }
        if self.counts_executions() {
            self.granted = self.ask_at.saturating_sub(self.recorder.instructions_seen()) as i64;
            let last = self.recorder.last_executed().map_or(NO_PLAN, |plan| plan.0.into());
            (self.words().left, self.words().last) = (self.granted, last);
            if stopping {
                self.stop();
            }
            return;
        }
        let ask_at = self.ask_at;
        let words = self.recorder.words();
        // A block asks when `next` is above the limit, so the limit is one word less.
        let limit = ask_at.checked_sub(1).filter(|&limit| limit >= at && !stopping);
        let limit = limit.map_or(std::ptr::null_mut(), |limit| words[limit as usize..].as_mut_ptr());
        let next = words[at as usize..].as_mut_ptr();
        (self.words().next, self.words().limit) = (next, limit);
    }

    /// Has generated code find the count of a plan that is new, and the times of its lines.
    pub(super) fn add_plan(&mut self) {
        self.words().executions = self.recorder.executions().as_mut_ptr();
        let fetch_times = self.recorder.inline_caches().map(|caches| caches.fetch_table().times().as_ptr());
        self.words().fetch_times = fetch_times.unwrap_or(std::ptr::null());
    }

    /// Makes the next block ask before it starts.
    pub(super) fn stop(&mut self) {
        // No block has fewer instructions than none.
        let left = std::mem::replace(&mut self.words().left, -1);
        self.granted -= left + 1;
        self.words().limit = std::ptr::null_mut();
    }

    /// Notes that a page was entered into the TLB: after many the next block asks before it starts,
    /// so that the user does not wait for the buffer to be full.
    pub(super) fn filled(&mut self) {
        self.fills += 1;
        if self.fills == FILLS {
            self.fills = 0;
            self.stop();
        }
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
            None => self.recorder.most_words() as u64,
            Some(left) => {
                let words = self.recorder.plans.words_within(left);
                self.recorder.position().saturating_add(words).min(self.recorder.most_words() as u64)
            }
        };
    }

    /// Most instructions of a block that was translated.
    pub(super) fn longest_block(&self) -> u64 {
        self.recorder.plans.density().longest
    }

    /// Hands a full buffer over to the consumers, and what generated code counts before it
    /// overflows.
    pub(super) fn flush_if_full(&mut self) {
        if self.recorder.len() >= self.recorder.most_words() {
            self.recorder.flush_full();
        }
        self.recorder.tell_if_many();
    }
}
