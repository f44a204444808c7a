//! Prologue of a block: it asks if the trace is full or the run is to stop, stores its header, and
//! moves the cursor past its slots.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::offset_of;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::{self, Context};
use crate::emu::unicorn::layout::{self, COND_GE, COND_LEU};
use crate::emu::unicorn::line_tlb::CLOCK;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::patches::Later;

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
        call: impl FnOnce(&mut [*mut c_void; 2]),
    ) {
        self.context = context;
        if !std::mem::take(&mut self.at_start) {
            return;
        }
        let emit = Emit(context);
        if let Some(reached) = reached.filter(|_| !self.reference) {
            let (word, pc) = (emit.constant(reached as u64), emit.constant(self.pc));
            emit.store(pc, word, 0);
            for temp in [word, pc] {
                emit.free(temp);
            }
            self.call_exit_check(emit, call);
            return;
        }
        let words = self.words(emit, cursor);
        let (at, limit, goes_on) = if self.counts {
            let (least, op) = emit.later();
            self.patches.add(op, 1, Later::Instructions);
            (offset_of!(Cursor, left), least, COND_GE)
        } else {
            let limit = emit.new_temp(false);
            words.load(limit, offset_of!(Cursor, limit));
            (offset_of!(Cursor, next), limit, COND_LEU)
        };
        let now = emit.new_temp(false);
        words.load(now, at);
        words.free();
        // SAFETY: as for `Emit`.
        unsafe {
            let label = ffi::gen_new_label_x86_64(context);
            ffi::tcg_gen_brcond_i64_x86_64(context, goes_on, emit.value(now), emit.value(limit), label);
            for temp in [now, limit] {
                emit.free(temp);
            }
            self.call_exit_check(emit, call);
            emit.place(label);
        }
    }

    /// Emits the call of the exit check, whose replacement asks first. It finds the number of the
    /// block's instructions in place of the flag of a delay slot.
    fn call_exit_check(&mut self, emit: Emit, call: impl FnOnce(&mut [*mut c_void; 2])) {
        // SAFETY: as for `Emit`.
        let uc = emit.constant(unsafe { layout::context_uc(emit.0) } as u64);
        let (instructions, op) = emit.later32();
        self.patches.add(op, 1, Later::Instructions);
        call(&mut [uc as *mut c_void, instructions as *mut c_void]);
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

    /// Emits the count of an execution, and of its instructions.
    fn count_execution(&mut self, emit: Emit, words: Words) {
        let (minus, minus_op) = emit.later();
        let left = emit.new_temp(false);
        words.load(left, offset_of!(Cursor, left));
        emit.add(left, left, minus);
        let at = words.offset.wrapping_add(offset_of!(Cursor, left));
        self.inline.start = Some(emit.store_op(left, words.base, at));
        let (counts, one) = (emit.new_temp(false), emit.constant(1));
        words.load(counts, offset_of!(Cursor, executions));
        let accesses = emit.add_later(counts, one);
        let (plan, plan_op) = emit.later();
        words.store(plan, offset_of!(Cursor, last));
        words.free();
        for temp in [minus, left, counts, one, plan] {
            emit.free(temp);
        }
        self.patches.add(minus_op, 1, Later::MinusInstructions);
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
