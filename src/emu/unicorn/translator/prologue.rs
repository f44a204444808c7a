//! Prologue of a block: it asks if the trace is full or the run is to stop, stores its header, and
//! moves the cursor past its slots.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::{self, Context};
use crate::emu::unicorn::layout::{self, COND_LEU};
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;

impl Translator {
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
        let words = emit.constant(cursor as u64);
        if let Some(reached) = reached.filter(|_| !self.reference) {
            let (word, pc) = (emit.constant(reached as u64), emit.constant(self.pc));
            emit.store(pc, word, 0);
            for temp in [word, pc, words] {
                emit.free(temp);
            }
            self.call_exit_check(emit, call);
            return;
        }
        let (next, limit) = (emit.new_temp(false), emit.new_temp(false));
        emit.load(next, words, std::mem::offset_of!(Cursor, next));
        emit.load(limit, words, std::mem::offset_of!(Cursor, limit));
        // SAFETY: as for `Emit`.
        unsafe {
            let label = ffi::gen_new_label_x86_64(context);
            ffi::tcg_gen_brcond_i64_x86_64(context, COND_LEU, emit.value(next), emit.value(limit), label);
            for temp in [next, limit, words] {
                emit.free(temp);
            }
            self.call_exit_check(emit, call);
            emit.place(label);
        }
    }

    /// Emits the call of the exit check, whose replacement asks first.
    fn call_exit_check(&self, emit: Emit, call: impl FnOnce(&mut [*mut c_void; 2])) {
        // SAFETY: as for `Emit`.
        unsafe {
            let uc = emit.constant(layout::context_uc(emit.0) as u64);
            let delay = emit.temp(ffi::tcg_const_i32_x86_64(emit.0, 0));
            call(&mut [uc as *mut c_void, delay as *mut c_void]);
        }
    }

    /// Emits the header and the advance of the cursor, after the engine's own start of a block.
    pub(crate) fn start_block(&mut self, cursor: *const Cursor) {
        if self.reference || self.context.is_null() {
            return;
        }
        let emit = Emit(self.context);
        let words = emit.constant(cursor as u64);
        let pointer = emit.new_temp(true);
        emit.load(pointer, words, std::mem::offset_of!(Cursor, next));
        let (header, header_op) = emit.later();
        emit.store(header, pointer, 0);
        let (bytes, bytes_op) = emit.later();
        let next = emit.new_temp(false);
        emit.add(next, pointer, bytes);
        emit.store(next, words, std::mem::offset_of!(Cursor, next));
        for temp in [words, header, bytes, next] {
            emit.free(temp);
        }
        self.pointer = pointer as *mut c_void;
        self.header = header_op;
        self.advance = bytes_op;
    }
}
