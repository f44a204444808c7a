//! Prologue of a block: it asks if the trace is full or the run is to stop, stores its header, and
//! moves the cursor past its slots.
#![allow(unsafe_code)]

use std::mem::offset_of;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::Context;
use crate::emu::unicorn::line_tlb::CLOCK;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::host_code::{Memory, R11, RAX, RCX, RSI, beside};
use crate::emu::unicorn::translator::patches::Later;

/// Opcodes of `sub`, `add` and `mov` with memory and a constant, of `cmp` with a register, and of
/// `inc`; and the conditions of jumps.
const SUB: (u8, u8) = (0x81, 5);
pub(super) const ADD: (u8, u8) = (0x81, 0);
pub(super) const MOV: (u8, u8) = (0xc7, 0);
pub(super) const CMP: &[u8] = &[0x3b];
pub(super) const INC: (u8, u8) = (0xff, 0);
/// `lea` of RCX.
pub(super) const LEA: (u8, u8) = (0x8d, RCX);
const LESS: u8 = 0xc;
const ABOVE: u8 = 7;

impl Translator {
    /// The words of the cursor, for code of the host, which may be in `R11` then.
    pub(super) fn words(&mut self) -> Memory {
        self.host.at(self.cursor as u64, self.env, R11)
    }

    /// A temporary with the address of the record of the block that runs.
    pub(super) fn record(&self, emit: Emit) -> usize {
        let record = emit.new_temp(false);
        let last = self.cursor as u64 + offset_of!(Cursor, last) as u64;
        match beside(last, self.env) {
            Some(near) => emit.load(record, emit.env(), near as usize),
            None => {
                let base = emit.constant(last);
                emit.load(record, base, 0);
                emit.free(base);
            }
        }
        record
    }

    /// Writes our exit check in place of the engine's at the start of a block. The engine's other
    /// ones, before every access, are left out: a refused access leaves the block by itself. A
    /// block at a breakpoint always asks, after it has stored its address to the word `reached`.
    pub(crate) fn exit_check(&mut self, context: Context, reached: Option<*const u64>) {
        self.context = context;
        if !std::mem::take(&mut self.at_start) {
            return;
        }
        if let Some(reached) = reached.filter(|_| !self.reference) {
            let reached = self.host.at(reached as u64, self.env, R11);
            self.host.load_constant(RAX, self.pc);
            self.host.store(true, reached, RAX);
            return self.call_exit_check();
        }
        let asks = if self.counts {
            self.change_left(SUB);
            self.host.jump_if(LESS)
        } else {
            let words = self.words();
            self.host.load(true, RAX, words.plus(offset_of!(Cursor, next)));
            self.host.with_memory(true, CMP, RAX, words.plus(offset_of!(Cursor, limit)));
            self.host.jump_if(ABOVE)
        };
        self.asks = Some((asks, self.host.here()));
    }

    /// Emits the calls behind the end of the block: for lines of I1 that are not there, and of the
    /// exit check, as code of its first instruction, which the engine then goes on with. Returns
    /// whether they are of an instruction of their own.
    pub(crate) fn emit_calls(&mut self) -> bool {
        let emit = Emit(self.context);
        let asks = self.asks.take();
        if asks.is_some() {
            emit.begin_instruction(self.pc);
        }
        self.call_for_absent_lines();
        if let Some((asks, back)) = asks {
            self.host.bind(asks);
            if self.counts {
                self.change_left(ADD);
            }
            self.call_exit_check();
            self.host.jump(back);
        }
        if !self.host.is_emitted() {
            emit.end_basic_block();
            self.host.emit(emit);
        }
        asks.is_some()
    }

    /// Writes the call of the exit check, which asks first, with the number of the block's
    /// instructions. Then those that are left are fewer by it.
    fn call_exit_check(&mut self) {
        let call = self.words().plus(offset_of!(Cursor, calls.exit_check));
        let Translator { host, patches, .. } = self;
        host.load_later(RSI, (patches, Later::Instructions, None));
        host.call(call);
        if self.counts {
            self.change_left(SUB);
        }
    }

    /// Writes the addition or subtraction of the number of instructions of the block to those that
    /// are left.
    fn change_left(&mut self, operation: (u8, u8)) {
        let left = self.words().plus(offset_of!(Cursor, left));
        self.host.constant_later(true, operation, left, (&mut self.patches, Later::Instructions, None));
    }

    /// Writes the header and the advance of the cursor, or the count of executions, after the
    /// engine's own start of a block.
    pub(crate) fn start_block(&mut self) {
        if self.reference || self.context.is_null() {
            return;
        }
        self.records = !self.counts;
        let words = self.words();
        let Translator { host, patches, .. } = self;
        let last = words.plus(offset_of!(Cursor, last));
        if self.counts {
            host.load(true, RAX, words.plus(offset_of!(Cursor, executions)));
            host.with_later(false, INC, RAX, (patches, Later::Count, None));
            host.constant_later(true, MOV, last, (patches, Later::Plan, None));
        } else {
            let next = words.plus(offset_of!(Cursor, next));
            host.load(true, RAX, next);
            host.load_later(RCX, (patches, Later::Header, None));
            host.store(true, Memory::at(RAX), RCX);
            host.store(true, last, RAX);
            host.with_later(true, LEA, RAX, (patches, Later::Size, None));
            host.store(true, next, RCX);
        }
        if self.inline.caches.is_some() {
            // The time that passes while the block runs.
            let clock = Memory::of_state(CLOCK as i32);
            host.constant_later(false, ADD, clock, (patches, Later::Times, None));
        }
    }

    /// Emits what has been written of the prologue, if it has not been.
    pub(super) fn emit_prologue(&mut self) {
        if !self.host.is_emitted() {
            let first = self.host.emit(Emit(self.context));
            self.inline.start.get_or_insert(first);
        }
    }
}
