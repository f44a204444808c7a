//! Prologue of a block: it asks if the trace is full or the run is to stop, stores its header, and
//! moves the cursor past its slots.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::offset_of;

use crate::emu::unicorn::emit::{Emit, Helper};
use crate::emu::unicorn::ffi::Context;
use crate::emu::unicorn::layout::{self, COND_GTU, COND_LT};
use crate::emu::unicorn::line_tlb::CLOCK;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::patches::Later;

unsafe extern "C" {
    fn helper_check_exit_request_x86_64();
}

/// The helper that leaves generated code if that is asked for.
const EXIT_CHECK: Helper = helper_check_exit_request_x86_64;

/// The words of the cursor, as generated code finds them.
#[derive(Clone, Copy)]
pub(super) struct Words {
    emit: Emit,
    base: usize,
    /// Bytes from the base to the first word.
    offset: usize,
    /// The base is a constant, and not the CPU's state.
    constant: bool,
}

impl Words {
    pub(super) fn load(self, to: usize, at: usize) {
        self.emit.load(to, self.base, self.offset.wrapping_add(at));
    }

    pub(super) fn store(self, from: usize, at: usize) {
        self.emit.store(from, self.base, self.offset.wrapping_add(at));
    }

    pub(super) fn free(self) {
        if self.constant {
            self.emit.free(self.base);
        }
    }
}

impl Translator {
    /// The words of the cursor: beside the CPU's state if they are near enough, as they are where
    /// the allocator has both in one place.
    pub(super) fn words(&self, emit: Emit, cursor: *const Cursor) -> Words {
        let distance = (cursor as isize).wrapping_sub(self.env as isize);
        if i32::try_from(distance).is_ok_and(|near| near.checked_add(size_of::<Cursor>() as i32).is_some()) {
            return Words { emit, base: emit.env(), offset: distance as usize, constant: false };
        }
        Words { emit, base: emit.constant(cursor as u64), offset: 0, constant: true }
    }

    /// Emits our exit check in place of the engine's at the start of a block. The engine's other
    /// ones, before every access, are left out: a refused access leaves the block by itself. A
    /// block at a breakpoint always asks, after it has stored its address to the word `reached`.
    pub(crate) fn exit_check(
        &mut self,
        context: Context,
        cursor: *const Cursor,
        reached: Option<*const u64>,
    ) {
        self.context = context;
        if !std::mem::take(&mut self.at_start) {
            return;
        }
        let emit = Emit(context);
        let words = self.words(emit, cursor);
        if let Some(reached) = reached.filter(|_| !self.reference) {
            let (word, pc) = (emit.constant(reached as u64), emit.constant(self.pc));
            emit.store(pc, word, 0);
            for temp in [word, pc] {
                emit.free(temp);
            }
            self.call_exit_check(emit);
            if self.counts {
                let left = self.pass_instructions(emit, words, Later::MinusInstructions);
                emit.free(left);
            }
            return words.free();
        }
        let (asks, back) = (emit.new_label(), emit.new_label());
        if self.counts {
            let left = self.pass_instructions(emit, words, Later::MinusInstructions);
            let none = emit.constant(0);
            emit.branch(COND_LT, left, none, asks);
            emit.free(left);
            emit.free(none);
        } else {
            let (now, limit) = (emit.new_temp(false), emit.new_temp(false));
            words.load(now, offset_of!(Cursor, next));
            words.load(limit, offset_of!(Cursor, limit));
            emit.branch(COND_GTU, now, limit, asks);
            emit.free(now);
            emit.free(limit);
        }
        words.free();
        emit.place(back);
        self.asks = Some((asks, back));
    }

    /// Emits the call of the exit check behind the end of the block, as code of its first
    /// instruction, which the engine then goes on with. Returns false if the call is elsewhere.
    pub(crate) fn ask(&mut self, cursor: *const Cursor) -> bool {
        let Some((asks, back)) = self.asks.take() else { return false };
        let emit = Emit(self.context);
        emit.begin_instruction(self.pc);
        emit.place(asks);
        let words = self.words(emit, cursor);
        if self.counts {
            let left = self.pass_instructions(emit, words, Later::Instructions);
            emit.free(left);
        }
        self.call_exit_check(emit);
        if self.counts {
            let left = self.pass_instructions(emit, words, Later::MinusInstructions);
            emit.free(left);
        }
        words.free();
        emit.go(back);
        true
    }

    /// Emits the call of the exit check, whose replacement asks first. It finds the number of the
    /// block's instructions in place of the flag of a delay slot.
    fn call_exit_check(&mut self, emit: Emit) {
        // SAFETY: as for `Emit`.
        let uc = emit.constant(unsafe { layout::context_uc(emit.0) } as u64);
        let (instructions, op) = emit.later32();
        self.patches.add(op, 1, Later::Instructions);
        emit.call(EXIT_CHECK, &mut [uc, instructions]);
        emit.free(uc);
    }

    /// Emits the addition of the number of instructions to those that are left, negated or not.
    /// Returns those that are left then.
    fn pass_instructions(&mut self, emit: Emit, words: Words, number: Later) -> usize {
        let (addend, op) = emit.later();
        self.patches.add(op, 1, number);
        let left = emit.new_temp(false);
        words.load(left, offset_of!(Cursor, left));
        emit.add(left, left, addend);
        words.store(left, offset_of!(Cursor, left));
        emit.free(addend);
        left
    }

    /// Emits the header and the advance of the cursor, or the count of executions, after the
    /// engine's own start of a block.
    pub(crate) fn start_block(&mut self, cursor: *const Cursor) {
        if self.reference || self.context.is_null() {
            return;
        }
        let emit = Emit(self.context);
        let words = self.words(emit, cursor);
        if self.counts {
            return self.count_execution(emit, words);
        }
        let pointer = emit.new_temp(true);
        words.load(pointer, offset_of!(Cursor, next));
        let (header, header_op) = emit.later();
        self.inline.start = Some(emit.store_op(header, pointer, 0));
        if self.inline.caches.is_some() {
            words.store(pointer, offset_of!(Cursor, last));
            self.pass_times(emit);
        }
        let (bytes, bytes_op) = emit.later();
        let next = emit.new_temp(false);
        emit.add(next, pointer, bytes);
        words.store(next, offset_of!(Cursor, next));
        words.free();
        for temp in [header, bytes, next] {
            emit.free(temp);
        }
        self.pointer = pointer as *mut c_void;
        self.patches.add(header_op, 1, Later::Header);
        self.patches.add(bytes_op, 1, Later::Size);
    }

    /// Emits the count of an execution.
    fn count_execution(&mut self, emit: Emit, words: Words) {
        let (counts, one) = (emit.new_temp(false), emit.constant(1));
        words.load(counts, offset_of!(Cursor, executions));
        let accesses = emit.add_later(counts, one);
        let (plan, plan_op) = emit.later();
        let at = words.offset.wrapping_add(offset_of!(Cursor, last));
        self.inline.start = Some(emit.store_op(plan, words.base, at));
        words.free();
        for temp in [counts, one, plan] {
            emit.free(temp);
        }
        accesses.into_iter().for_each(|op| self.patches.add(op, 2, Later::Count));
        self.patches.add(plan_op, 1, Later::Plan);
        if self.inline.caches.is_some() {
            self.pass_times(emit);
        }
    }

    /// Emits the time that passes while the block runs.
    fn pass_times(&mut self, emit: Emit) {
        let (times, times_op) = emit.later();
        let clock = emit.new_temp(false);
        emit.load32(clock, emit.env(), CLOCK as usize);
        emit.add(clock, clock, times);
        emit.store32(clock, emit.env(), CLOCK as usize);
        emit.free(times);
        emit.free(clock);
        self.patches.add(times_op, 1, Later::Times);
    }
}
