//! What a block does before its first instruction: it checks whether there is room in the trace and whether anyone wants
//! to be asked, stores its header, and moves the pointer past its slots.

use std::ffi::c_void;

use crate::emu::unicorn::door::{Door, TapWords};
use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::{self, Context};
use crate::emu::unicorn::layout::{self, COND_LEU, opcode};

impl Door {
    /// The exit check at the start of a block: whether ours stands in for the engine's. The engine also emits one
    /// before every access, which is not needed: a refused access leaves the block by itself.
    pub fn exit_check(&mut self, context: Context, call: impl FnOnce(&mut [*mut c_void; 2])) {
        self.translation.context = context;
        if !std::mem::take(&mut self.translation.at_start) {
            return;
        }
        let emit = Emit(context);
        let words = emit.constant(&raw const self.words as u64);
        if self.api.is_none() && self.breakpoints.contains(&self.translation.pc) {
            // It always asks.
            let (place, pc) = (emit.constant(&raw const self.at as u64), emit.constant(self.translation.pc));
            emit.store(pc, place, 0);
            for temp in [place, pc, words] {
                emit.free(temp);
            }
            self.emit_question(emit, call);
            return;
        }
        let (next, limit) = (emit.new_temp(false), emit.new_temp(false));
        emit.load(next, words, std::mem::offset_of!(TapWords, next));
        emit.load(limit, words, std::mem::offset_of!(TapWords, limit));
        // SAFETY: as for `Emit`; a label's first word holds its presence bit, which the engine sets likewise.
        unsafe {
            let label = ffi::gen_new_label_x86_64(context);
            ffi::tcg_gen_brcond_i64_x86_64(context, COND_LEU, emit.value(next), emit.value(limit), label);
            for temp in [next, limit, words] {
                emit.free(temp);
            }
            self.emit_question(emit, call);
            *label |= 1;
            ffi::__real_tcg_gen_op1_x86_64(context, opcode::SET_LABEL, label as usize);
        }
    }

    /// The call of the exit check, which asks first.
    fn emit_question(&self, emit: Emit, call: impl FnOnce(&mut [*mut c_void; 2])) {
        // SAFETY: as for `Emit`.
        unsafe {
            let uc = emit.constant(layout::context_uc(emit.0) as u64);
            let delay = emit.temp(ffi::tcg_const_i32_x86_64(emit.0, 0));
            call(&mut [uc as *mut c_void, delay as *mut c_void]);
        }
    }

    /// Start of a block, after the engine's own.
    pub(super) fn start_block(&mut self) {
        let translation = &mut self.translation;
        if self.api.is_some() || translation.context.is_null() {
            return;
        }
        let emit = Emit(translation.context);
        let words = emit.constant(&raw const self.words as u64);
        let pointer = emit.new_temp(true);
        emit.load(pointer, words, std::mem::offset_of!(TapWords, next));
        let (header, header_op) = emit.later();
        emit.store(header, pointer, 0);
        let (bytes, bytes_op) = emit.later();
        let next = emit.new_temp(false);
        emit.add(next, pointer, bytes);
        emit.store(next, words, std::mem::offset_of!(TapWords, next));
        for temp in [words, header, bytes, next] {
            emit.free(temp);
        }
        translation.pointer = pointer as *mut c_void;
        translation.header = header_op;
        translation.advance = bytes_op;
    }
}
