//! Emitting operations into the block being translated.
//!
//! Every function here is sound for the same reason: the context is the engine's, in the middle of
//! a translation, and opcodes and argument kinds are those of the engine's own operation table,
//! which `layout::verify_context` compares before the first block runs.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;

use crate::emu::unicorn::ffi::{self, Context, Op, Value};
use crate::emu::unicorn::layout::{self, COND_EQ, TYPE_I64, opcode};

/// A helper of the engine.
pub(super) type Helper = unsafe extern "C" fn();

/// Emits operations into the block being translated.
#[derive(Clone, Copy)]
pub(super) struct Emit(pub(super) Context);

/// The place of the count of jumps in the first word of a label.
const JUMPS: u32 = 16;

impl Emit {
    pub(super) fn temp(self, value: Value) -> usize {
        self.0 as usize + value
    }

    pub(super) fn value(self, temp: usize) -> Value {
        temp - self.0 as usize
    }

    pub(super) fn constant(self, value: u64) -> usize {
        self.temp(unsafe { ffi::tcg_const_i64_x86_64(self.0, value as i64) })
    }

    pub(super) fn new_temp(self, local: bool) -> usize {
        unsafe { ffi::tcg_temp_new_internal_x86_64(self.0, TYPE_I64, local) as usize }
    }

    pub(super) fn free(self, temp: usize) {
        unsafe { ffi::tcg_temp_free_internal_x86_64(self.0, temp as *mut c_void) }
    }

    pub(super) fn load(self, to: usize, base: usize, offset: usize) {
        unsafe { ffi::tcg_gen_op3_x86_64(self.0, opcode::LD_I64, to, base, offset) }
    }

    pub(super) fn store(self, from: usize, base: usize, offset: usize) {
        unsafe { ffi::tcg_gen_op3_x86_64(self.0, opcode::ST_I64, from, base, offset) }
    }

    /// The same; returns the operation.
    pub(super) fn store_op(self, from: usize, base: usize, offset: usize) -> *mut Op {
        unsafe {
            let op = ffi::tcg_emit_op_x86_64(self.0, opcode::ST_I64);
            (&mut (*op).args)[..3].copy_from_slice(&[from, base, offset]);
            op
        }
    }

    pub(super) fn store_byte(self, from: usize, base: usize, offset: usize) {
        unsafe { ffi::tcg_gen_op3_x86_64(self.0, opcode::ST8_I64, from, base, offset) }
    }

    /// Makes a label.
    pub(super) fn new_label(self) -> *mut u32 {
        unsafe { ffi::gen_new_label_x86_64(self.0) }
    }

    /// Has the engine know that there is a jump to a label.
    fn note_jump(label: *mut u32) {
        unsafe { *label += 1 << JUMPS }
    }

    /// Ends a basic block: no register of the host holds a value then but the CPU's state.
    pub(super) fn end_basic_block(self) {
        let label = self.new_label();
        Emit::note_jump(label);
        self.place(label);
    }

    /// Jumps to a label.
    pub(super) fn go(self, label: *mut u32) {
        unsafe {
            Emit::note_jump(label);
            ffi::__real_tcg_gen_op1_x86_64(self.0, opcode::BR, label as usize);
        }
    }

    /// Begins code that belongs to an instruction at an address, before which the flags are what
    /// the CPU's state tells.
    pub(super) fn begin_instruction(self, pc: u64) {
        unsafe {
            let op = ffi::tcg_emit_op_x86_64(self.0, opcode::INSN_START);
            (&mut (*op).args)[..2].copy_from_slice(&[pc as usize, layout::CC_OP_DYNAMIC]);
        }
    }

    /// Calls one of the engine's helpers that returns nothing.
    pub(super) fn call(self, helper: Helper, args: &mut [usize]) {
        let (function, args, count) = (helper as *const c_void, args.as_mut_ptr().cast(), args.len() as i32);
        unsafe { ffi::__real_tcg_gen_callN_x86_64(self.0, function, std::ptr::null_mut(), count, args) }
    }

    pub(super) fn add(self, to: usize, a: usize, b: usize) {
        unsafe { ffi::tcg_gen_op3_x86_64(self.0, opcode::ADD_I64, to, a, b) }
    }

    pub(super) fn or(self, to: usize, a: usize, b: usize) {
        unsafe { ffi::tcg_gen_op3_x86_64(self.0, opcode::OR_I64, to, a, b) }
    }

    pub(super) fn shift_right(self, to: usize, from: usize, bits: i64) {
        unsafe { ffi::tcg_gen_shri_i64_x86_64(self.0, self.value(to), self.value(from), bits) }
    }

    pub(super) fn shift_left(self, to: usize, from: usize, bits: i64) {
        unsafe { ffi::tcg_gen_shli_i64_x86_64(self.0, self.value(to), self.value(from), bits) }
    }

    pub(super) fn and(self, to: usize, from: usize, mask: i64) {
        unsafe { ffi::tcg_gen_andi_i64_x86_64(self.0, self.value(to), self.value(from), mask) }
    }

    pub(super) fn add_constant(self, to: usize, from: usize, value: i64) {
        unsafe { ffi::tcg_gen_addi_i64_x86_64(self.0, self.value(to), self.value(from), value) }
    }

    /// Stores a constant at an address of the host.
    pub(super) fn store_constant(self, value: u64, address: u64) {
        let (value, base) = (self.constant(value), self.constant(address));
        self.store(value, base, 0);
        self.free(value);
        self.free(base);
    }

    /// Skips to the label that is returned unless two words of the host are equal.
    pub(super) fn skip_unless_equal(self, a: *const u64, b: *const u64) -> *mut u32 {
        let words = [a, b].map(|address| {
            let (word, base) = (self.new_temp(false), self.constant(address as u64));
            self.load(word, base, 0);
            self.free(base);
            word
        });
        let [a, b] = words.map(|word| self.value(word));
        unsafe {
            let label = ffi::gen_new_label_x86_64(self.0);
            ffi::tcg_gen_brcond_i64_x86_64(self.0, layout::COND_NE, a, b, label);
            words.into_iter().for_each(|word| self.free(word));
            label
        }
    }

    /// Places a label, whose first word holds its presence bit, which the engine sets likewise.
    pub(super) fn place(self, label: *mut u32) {
        unsafe {
            *label |= 1;
            ffi::__real_tcg_gen_op1_x86_64(self.0, opcode::SET_LABEL, label as usize);
        }
    }

    /// Sets `to` to a canonical address, which is `from` if that is one.
    pub(super) fn canonical(self, to: usize, from: usize) {
        unsafe {
            self.shift_left(to, from, 16);
            ffi::tcg_gen_sari_i64_x86_64(self.0, self.value(to), self.value(to), 16);
        }
    }

    /// Sets `to` to `then` if two values are equal, or else to `other`.
    pub(super) fn choose(self, to: usize, (a, b): (usize, usize), then: usize, other: usize) {
        let [to, a, b, then, other] = [to, a, b, then, other].map(|temp| self.value(temp));
        unsafe { ffi::tcg_gen_movcond_i64_x86_64(self.0, COND_EQ, to, a, b, then, other) }
    }

    /// A constant, and its operation, by which it is patched in when the block is done.
    pub(super) fn later(self) -> (usize, *mut Op) {
        let temp = self.new_temp(false);
        // The operation lives until the block's code is generated, after the last use of the
        // pointer.
        unsafe {
            let op = ffi::tcg_emit_op_x86_64(self.0, opcode::MOVI_I64);
            (&mut (*op).args)[..2].copy_from_slice(&[temp, 0]);
            (temp, op)
        }
    }

    /// Loads 32 bits.
    pub(super) fn load32(self, to: usize, base: usize, offset: usize) {
        unsafe { ffi::tcg_gen_op3_x86_64(self.0, opcode::LD32U_I64, to, base, offset) }
    }

    /// Stores 32 bits.
    pub(super) fn store32(self, from: usize, base: usize, offset: usize) {
        unsafe { ffi::tcg_gen_op3_x86_64(self.0, opcode::ST32_I64, from, base, offset) }
    }

    /// Sets `cc_op` so that `cc_src` holds all flags.
    pub(super) fn set_flags_computed(self) {
        unsafe {
            let op = ffi::tcg_emit_op_x86_64(self.0, opcode::MOVI_I32);
            (*op).args[0] = self.temp(layout::context_cc_op(self.0));
            (*op).args[1] = layout::CC_OP_EFLAGS;
        }
    }

    /// The CPU's state, which a register of the host holds.
    pub(super) fn env(self) -> usize {
        unsafe { layout::context_env(self.0) }
    }

    pub(super) fn gpr(self, number: usize) -> usize {
        self.temp(unsafe { layout::context_gpr(self.0, number) })
    }
}
