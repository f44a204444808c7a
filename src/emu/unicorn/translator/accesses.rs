//! Recording of accesses: the operations that store addresses into slots, and the accesses that an
//! erratum makes different.
#![allow(unsafe_code)]

use std::ffi::c_void;

use iced_x86::{Code, FlowControl, Mnemonic};

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::errata::{self, Erratum};
use crate::emu::unicorn::ffi::{self, Context, Value};
use crate::emu::unicorn::helpers::env::RECORDED;
use crate::emu::unicorn::line_tlb::Tap;
use crate::emu::unicorn::translator::branch::labels_before_jump;
use crate::emu::unicorn::translator::lines::{is_guest, with_tap};
use crate::emu::unicorn::translator::{Translator, alignment};
use crate::guest::Gpr;
use crate::x86::address::{Address, SCRATCH_BELOW_RSP};
use crate::x86::cost::Access;

/// Size in bytes of an access, from its `MemOp`.
fn op_size(op: u32) -> u16 {
    1 << (op & 3)
}

impl Translator {
    /// Records an access that the engine generates; `addr` is the TCG value with its address. If it
    /// is `fused`, the result is the tap that it is to look for its line with.
    fn tap(&mut self, context: Context, addr: Value, op: u32, write: bool, fused: bool) -> Option<Tap> {
        self.tap_access(Emit(context).temp(addr), op_size(op), write, fused.then_some(op))
    }

    /// Records an access of `size` bytes, of which a temporary holds the address.
    pub(crate) fn tap_sized(&mut self, addr: usize, size: u16, write: bool) {
        self.tap_access(addr, size, write, None);
    }

    fn tap_access(&mut self, addr: usize, size: u16, write: bool, fused: Option<u32>) -> Option<Tap> {
        if self.original.is_none() || self.in_atomic {
            return None;
        }
        let (index, slot) = self.matcher.access(write, size)?;
        self.note_iteration();
        let emit = Emit(self.context);
        let in_instruction = index - self.matcher.first_slot;
        let Address::OperandBit { bit, size, .. } = slot.address else {
            if self.tapping() {
                self.record_slot(index, addr);
            }
            return self.tap_inline(in_instruction, addr, fused);
        };
        // The engine accesses the whole operand; the counted byte is the one with the bit.
        let temp = emit.new_temp(false);
        emit.shift_right(temp, emit.gpr(bit.full_register().number()), 3);
        emit.and(temp, temp, i64::from(size) - 1);
        emit.add(temp, temp, addr);
        if self.tapping() {
            self.record_slot(index, temp);
        }
        self.tap_inline(in_instruction, temp, None);
        emit.free(temp);
        None
    }

    /// Stores what a temporary holds in a slot of the block's record.
    fn record_slot(&self, slot: usize, value: usize) {
        let emit = Emit(self.context);
        let record = self.record(emit);
        emit.store(value, record, size_of::<u64>() * (1 + slot));
        emit.free(record);
    }

    /// Fills the slots whose address comes from no access of the engine.
    pub(super) fn store_computed(&mut self, first_slot: usize) {
        if !self.tapping() && self.inline.caches.is_none() {
            return;
        }
        let emit = Emit(self.context);
        for i in 0..self.matcher.cost.slots.len() {
            let slot = self.matcher.cost.slots[i];
            if slot.access != Access::None {
                continue;
            }
            if slot.address == Address::Outcome {
                if self.tapping() {
                    let zero = emit.constant(0);
                    self.record_slot(first_slot + i, zero);
                    emit.free(zero);
                    self.labels_before_jump = Some(labels_before_jump(&self.instruction));
                }
                continue;
            }
            let temp = emit.new_temp(false);
            let rsp = emit.gpr(Gpr::Rsp as usize);
            match slot.address {
                Address::ScratchBit { bit, size } => {
                    emit.shift_right(temp, emit.gpr(bit.full_register().number()), 3);
                    emit.and(temp, temp, i64::from(size) - 1);
                    emit.add(temp, temp, rsp);
                    emit.add_constant(temp, temp, -(SCRATCH_BELOW_RSP as i64));
                }
                Address::Rsp(offset) => emit.add_constant(temp, rsp, i64::from(offset)),
                _ => emit.add_constant(temp, rsp, -(SCRATCH_BELOW_RSP as i64)),
            }
            if self.tapping() {
                self.record_slot(first_slot + i, temp);
            }
            if self.inline.caches.is_some() {
                self.keep_address(i, temp);
            }
            emit.free(temp);
        }
        if self.inline.caches.is_some() {
            self.tell_computed();
        }
    }

    /// Marks the slots of a repeated string instruction as unused, in case RCX is zero.
    pub(super) fn store_no_iteration(&mut self, first_slot: usize) {
        let emit = Emit(self.context);
        let zero = emit.constant(0);
        for i in 0..self.matcher.cost.slots.len() {
            self.record_slot(first_slot + i, zero);
        }
        emit.free(zero);
    }

    /// Copies the sixteen bytes that `from` points to, and returns a value that points to the copy.
    pub(crate) fn copy_operand(&mut self, context: Context, from: usize) -> usize {
        let emit = Emit(context);
        let copy = emit.constant(&raw const self.operand as u64);
        let part = emit.new_temp(false);
        for offset in [0, 8] {
            emit.load(part, from, offset);
            emit.store(part, copy, offset);
        }
        emit.free(part);
        copy
    }

    /// Records a locked read-modify-write, and stops recording until its parts are generated. False
    /// if it is a part itself.
    pub(crate) fn begin_atomic(&mut self, context: Context, addr: Value, op: u32) -> bool {
        if self.in_atomic {
            return false;
        }
        self.tap(context, addr, op, false, false);
        self.in_atomic = true;
        true
    }

    /// Records again after a locked operation.
    pub(crate) fn end_atomic(&mut self) {
        self.in_atomic = false;
    }

    /// Follows the labels that the engine places, and records the outcome of a conditional jump
    /// after the one that it jumps to.
    pub(crate) fn placed_label(&mut self) {
        match self.labels_before_jump {
            Some(0) => self.labels_before_jump = None,
            Some(more) => {
                self.labels_before_jump = Some(more - 1);
                return;
            }
            None => return,
        }
        self.set_outcome(1);
        if self.tapping() {
            let emit = Emit(self.context);
            let one = emit.constant(1);
            self.record_slot(self.matcher.first_slot, one);
            emit.free(one);
        }
    }

    /// Records an access that the engine is about to generate, and returns the operation to
    /// generate in its place, if any.
    pub(crate) fn access(
        &mut self,
        context: Context,
        (value, addr): (Value, Value),
        (op, index): (u32, usize),
        write: bool,
    ) -> Option<u32> {
        /// `MO_ALIGN_16`.
        const ALIGNED: u32 = 4 << 4;
        if self.in_atomic || self.original.is_none() {
            return Some(op);
        }
        let emit = Emit(context);
        let first = self.accesses == 0;
        self.accesses += 1;
        let mut op = op;
        match self.erratum {
            Erratum::Aligned if first => op |= ALIGNED,
            // The helper ignores the second half, which is not to be accessed.
            Erratum::Narrow(_) if !first => return None,
            Erratum::Narrow(4) => op = op & !3 | 2,
            Erratum::ShortRip if first => emit.add_constant(emit.temp(addr), emit.temp(addr), 1),
            Erratum::Mxcsr => {
                let (status, flags) = (emit.constant(self.sse_status as u64), emit.new_temp(false));
                emit.load(flags, status, 0);
                emit.shift_right(flags, flags, 16);
                emit.and(flags, flags, i64::from(RECORDED));
                emit.or(emit.temp(value), emit.temp(value), flags);
                emit.free(flags);
                emit.free(status);
            }
            _ => {}
        }
        if write {
            self.guard.before_store(context, emit.temp(value), emit.temp(addr), op_size(op));
        }
        let op = self.aligned(op, first);
        let tap = self.tap(context, addr, op, write, is_guest(index));
        if self.instruction.flow_control() == FlowControl::IndirectCall {
            self.check_target(emit, value, addr, write);
        }
        Some(with_tap(op, tap))
    }

    /// Has ENTER fault before it changes registers if the end of the frame cannot be stored to
    /// (Intel SDM vol. 2, ENTER). The engine does not look.
    fn probe_frame(&self, context: Context, tlb: usize) {
        let instruction = &self.instruction;
        let width: i64 = if instruction.code() == Code::Enterw_imm16_imm8 { 2 } else { 8 };
        let pushed = 1 + i64::from(instruction.immediate8_2nd() & 31);
        let emit = Emit(context);
        let (address, byte) = (emit.new_temp(false), emit.new_temp(false));
        let frame = -(width * pushed + i64::from(instruction.immediate16()));
        emit.add_constant(address, emit.gpr(Gpr::Rsp as usize), frame);
        let (at, value) = (emit.value(address), emit.value(byte));
        // SAFETY: as for `Emit`; the operations load and store a byte.
        unsafe {
            ffi::__real_tcg_gen_qemu_ld_i64_x86_64(context, value, at, tlb, 0);
            ffi::__real_tcg_gen_qemu_st_i64_x86_64(context, value, at, tlb, 0);
        }
        emit.free(byte);
        emit.free(address);
    }

    /// The operation of an access with the alignment that the mode asks for.
    pub(crate) fn aligned(&self, op: u32, first: bool) -> u32 {
        let checked = self.aligns && self.erratum != Erratum::Aligned;
        if checked { alignment::of_access(&self.instruction, op, first) } else { op }
    }

    /// Checks the operand of a helper that accesses memory itself, if the mode asks for it.
    pub(crate) fn check_helper(&self, context: Context, state: *mut c_void, address: *mut c_void) {
        if self.aligns && self.original.is_some() {
            alignment::check_helper(context, &self.instruction, state, address);
        }
    }

    /// Has an indirect call push to its target if that is not canonical, which faults before
    /// anything is stored. The engine would find out only when it has pushed.
    fn check_target(&mut self, emit: Emit, value: Value, addr: Value, write: bool) {
        if !write {
            self.target = Some(emit.temp(value));
            return;
        }
        let register = self.instruction.op0_register();
        let target = self.target.unwrap_or_else(|| emit.gpr(register.full_register().number()));
        let canonical = emit.new_temp(false);
        emit.canonical(canonical, target);
        emit.choose(emit.temp(addr), (canonical, target), emit.temp(addr), target);
        emit.free(canonical);
    }

    /// Follows up on an access that is generated. The result is the argument of the turn to MMX
    /// that is to be generated now.
    pub(crate) fn accessed(&mut self, context: Context, tlb: usize) -> Option<*mut c_void> {
        self.leave_room();
        if self.instruction.mnemonic() == Mnemonic::Enter && self.accesses == 1 {
            self.probe_frame(context, tlb);
        }
        if self.erratum == Erratum::SignedRet && self.accesses == 1 {
            let emit = Emit(context);
            let rsp = emit.gpr(Gpr::Rsp as usize);
            emit.add_constant(rsp, rsp, 0x1_0000);
        }
        self.turns_to_mmx.take()
    }

    /// Tests whether to leave out the turn to MMX at the start of the instruction, because it comes
    /// after the access or not at all.
    pub(crate) fn delays_mmx(&mut self, state: *mut c_void) -> bool {
        let has_memory = errata::has_memory(&self.instruction);
        if has_memory && self.erratum != Erratum::NoMmx {
            self.turns_to_mmx = Some(state);
        }
        has_memory
    }
}
