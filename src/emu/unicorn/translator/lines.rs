//! Generated code that drives the caches by itself: it notes the times of lines of I1 and D1 that
//! it finds, and calls for those that it does not.
#![allow(unsafe_code)]

use std::mem::offset_of;

use iced_x86::{Mnemonic, OpKind, Register};

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::Op;
use crate::emu::unicorn::layout::opcode;
use crate::emu::unicorn::line_lookups::{MARK, NEAR, PLACE};
use crate::emu::unicorn::line_tlb::{self, CLOCK, Tap};
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::branch::ADDRESSES;
use crate::emu::unicorn::translator::cache_block::{AbsentLine, Data};
use crate::emu::unicorn::translator::host_code::{Memory, R8, RAX, RCX, RSI};
use crate::emu::unicorn::translator::patches::Later;
use crate::emu::unicorn::translator::tell::{self, Fetch};
use crate::hooks::fetch_table::FetchTable;
use crate::hooks::inline_caches::InlineCaches;
use crate::x86::cost::Access;

/// `MO_BSWAP`, and the alignment in an operation.
const BYTES_SWAPPED: u32 = 8;
const ALIGN_SHIFT: u32 = 4;

/// `test cl, i`, before the constant, and the condition of a jump.
const TEST_CL: [u8; 2] = [0xf6, 0xc1];
const NOT_EQUAL: u8 = 5;

/// Bit of an operation from which on it has a [`Tap`].
const TAP_SHIFT: u32 = line_tlb::TAP_SHIFT - 4;

impl Translator {
    /// Emits the fetch of an instruction, as far as it is from other lines than the one before.
    pub(super) fn fetch(&mut self, pc: u64, len: usize, caches: Option<&mut InlineCaches>) {
        let (Some(block), Some(caches)) = (&mut self.inline.caches, caches) else {
            return self.emit_prologue();
        };
        let shift = block.fetch_shift;
        let (first, len) = (pc >> shift, len.max(1) as u64);
        for line in [first, pc.wrapping_add(len - 1) >> shift] {
            let Some(block) = &mut self.inline.caches else { return };
            if block.line.replace(line) != Some(line) {
                // Lines that may be of one set must differ in time.
                block.lines += 1;
                if block.lines > caches.fetch_sets() {
                    block.lines = 1;
                    self.emit_prologue();
                    self.emit_tick();
                }
                let (insn, ends) = (self.builder.instructions() as u16, line != first);
                let fetch = Fetch { insn, pc, len: len as u8, ends };
                self.emit_fetch(caches.number(line), fetch);
            }
        }
    }

    /// Has the time go on within the block.
    fn emit_tick(&mut self) {
        let emit = Emit(self.context);
        let clock = emit.new_temp(false);
        emit.load32(clock, emit.env(), CLOCK as usize);
        emit.add_constant(clock, clock, 1);
        emit.store32(clock, emit.env(), CLOCK as usize);
        emit.free(clock);
    }

    /// Emits the fetch of an instruction from the line with a number, with the prologue of the
    /// block if that is not there yet.
    fn emit_fetch(&mut self, number: u32, fetch: Fetch) {
        let emit = Emit(self.context);
        if number == FetchTable::LINE_ZERO {
            self.emit_prologue();
            let (line, op) = emit.later();
            self.patches.add(op, 1, Later::Fetch(number, fetch.insn));
            self.tell_with(tell::FETCH, fetch.word(), line);
            return emit.free(line);
        }
        if self.host.is_emitted() {
            emit.end_basic_block();
        }
        let words = self.words();
        let Translator { host, .. } = self;
        host.load(false, RAX, Memory::of_state(CLOCK as i32));
        host.load(true, RCX, words.plus(offset_of!(Cursor, fetch_times)));
        host.load(true, RCX, Memory::at(RCX).plus(size_of::<*mut u32>() * number as usize));
        host.store(false, Memory::at(RCX), RAX);
        host.push(&TEST_CL);
        host.push(&[FetchTable::ABSENT as u8]);
        let jump = host.jump_if(NOT_EQUAL);
        let back = host.here();
        if let Some(block) = &mut self.inline.caches {
            block.absent.push(AbsentLine { number, fetch, jump, back });
        }
        self.emit_prologue();
    }

    /// Writes the calls for lines of I1 that are not there, which are behind the end of the block.
    pub(super) fn call_for_absent_lines(&mut self) {
        let lines = self.inline.caches.as_mut().map(|block| std::mem::take(&mut block.absent));
        for AbsentLine { number, fetch, jump, back } in lines.unwrap_or_default() {
            self.host.bind(jump);
            let call = self.words().plus(offset_of!(Cursor, calls.absent_line));
            let Translator { host, patches, .. } = self;
            host.load_later(RSI, (patches, Later::Plan, None));
            host.load_constant(RCX, fetch.word());
            host.load_later(R8, (patches, Later::Fetch(number, fetch.insn), None));
            host.call(call);
            host.jump(back);
        }
    }

    /// Prepares for the data of an instruction whose cost the matcher has.
    pub(super) fn begin_data(&mut self) {
        let ends_with_event = self.ends_with_event();
        let Some(block) = &mut self.inline.caches else { return };
        block.data = Data::of(&self.matcher.cost);
        block.first_event = self.builder.events();
        block.ends_with_event = ends_with_event;
        block.leaves_room = false;
    }

    /// Tests whether the instruction does nothing after its last event that may fault.
    fn ends_with_event(&self) -> bool {
        use Mnemonic as M;
        let instruction = &self.instruction;
        let loads_segment = (0..instruction.op_count()).any(|i| {
            instruction.op_kind(i) == OpKind::Register && instruction.op_register(i).is_segment_register()
        });
        !self.matcher.is_observing()
            && !self.guard.may_raise()
            && !loads_segment
            && !matches!(
                instruction.mnemonic(),
                M::Div
                    | M::Idiv
                    | M::Ldmxcsr
                    | M::Fldcw
                    | M::Fldenv
                    | M::Frstor
                    | M::Fxrstor
                    | M::Fxrstor64
                    | M::Lar
                    | M::Lsl
                    | M::Verr
                    | M::Verw
                    | M::Lfs
                    | M::Lgs
                    | M::Lss
                    | M::Retf
                    | M::Enter
            )
            && instruction.op0_register() != Register::SS
    }

    /// Tells of an access for a slot of the instruction, by its index, whose address is in a
    /// temporary. Returns the tap that the access has if it can be `fused` with it.
    pub(super) fn tap_inline(&mut self, slot: usize, addr: usize, fused: Option<u32>) -> Option<Tap> {
        let is_observing = self.matcher.is_observing();
        let block = self.inline.caches.as_mut()?;
        if is_observing {
            block.data = Data::OneToOne;
        }
        if block.data == Data::Together {
            self.keep_address(slot, addr);
            self.tell_together();
            return None;
        }
        let index = block.first_event + slot;
        let size = self.matcher.cost.events.get(slot).map_or(0, |event| event.size);
        let modifies = self.matcher.cost.slots.get(slot).is_some_and(|slot| slot.access == Access::Modify);
        let has_tap = (1..=Tap::LARGEST).contains(&size) && fused.is_some_and(|op| fits(op, size));
        if has_tap && index <= Tap::MOST {
            let finds = block.ends_with_event && slot + 1 == self.matcher.cost.events.len();
            block.leaves_room = finds;
            return Some(Tap { index: index as u16, size, finds, modifies });
        }
        self.tell_with(tell::DATA, index as u64, addr);
        None
    }

    /// Keeps the address of a slot, by its index in the instruction, for the call that tells of
    /// all.
    pub(super) fn keep_address(&mut self, slot: usize, addr: usize) {
        let Some(words) = self.inline.words.filter(|_| slot < ADDRESSES) else { return };
        let emit = Emit(self.context);
        let base = emit.constant(words.addresses as u64);
        emit.store(addr, base, 8 * slot);
        emit.free(base);
    }

    /// Tells of the events of an instruction together, if the addresses of all its slots are known.
    pub(super) fn tell_together(&mut self) {
        if self.matcher.cost.events.is_empty() || !self.matcher.is_complete() {
            return;
        }
        let emit = Emit(self.context);
        let first_slot = emit.constant(self.matcher.first_slot as u64);
        self.tell_with(tell::EVENTS, self.builder.instructions() as u64, first_slot);
        emit.free(first_slot);
    }

    /// Tells of the computed data of an instruction that the CPU does not access itself.
    pub(super) fn tell_computed(&mut self) {
        let computed = self.matcher.cost.slots.iter().all(|slot| slot.access == Access::None);
        if computed && self.inline.caches.as_ref().is_some_and(|block| block.data == Data::Together) {
            self.tell_together();
        }
    }

    /// Leaves room behind an access that is to store the time.
    pub(super) fn leave_room(&mut self) {
        let emit = Emit(self.context);
        if self.inline.caches.as_mut().is_some_and(|block| std::mem::take(&mut block.leaves_room)) {
            let mark = emit.constant(MARK);
            emit.store(mark, emit.env(), PLACE);
            emit.store_byte(mark, emit.env(), NEAR);
            emit.free(mark);
        }
    }

    /// The number of accesses of the block that have a tap and that the engine has not found
    /// unreachable.
    ///
    /// # Safety
    /// The block's code has just been generated.
    pub(crate) unsafe fn taps(&mut self) -> usize {
        /// Index of the argument with the description of the access.
        const DESCRIPTION: usize = 2;
        if self.inline.caches.is_none() {
            return 0;
        }
        // SAFETY: the caller's; the engine removes no operation that stores, at the start of a
        // block.
        let start = self.inline.start.take().map(|op| unsafe { &*op });
        let accesses = std::iter::successors(start, |op| Op::next(op))
            .filter(|op| (opcode::QEMU_LD_I32..=opcode::QEMU_ST_I64).contains(&op.opcode()));
        accesses.filter(|op| Tap::of(op.args[DESCRIPTION] as u32 >> line_tlb::TAP_SHIFT).is_some()).count()
    }
}

/// Tests whether the engine's look-up for an operation can look for the line of an access of `size`
/// bytes: it adds to the address, or alignment keeps the access within a line.
fn fits(op: u32, size: u16) -> bool {
    let (bits, align) = (op & 3, op >> ALIGN_SHIFT & 7);
    let within = if align == 0 { bits > 0 || size == 1 } else { align >= bits && size <= 1 << align };
    op & BYTES_SWAPPED == 0 && within
}

/// The operation of an access, with its tap.
pub(super) fn with_tap(op: u32, tap: Option<Tap>) -> u32 {
    tap.map_or(op, |tap| op | tap.pack() << TAP_SHIFT)
}

/// Tests whether the guest accesses memory by this mode of the MMU.
pub(super) fn is_guest(index: usize) -> bool {
    index == line_tlb::GUEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_that_can_look_for_a_line() {
        let sixteen_aligned = 3 | 4 << ALIGN_SHIFT;
        for (op, size, expected) in [
            (3, 8, true),
            (3, 16, true),
            (0, 1, true),
            (0, 2, false),
            (sixteen_aligned, 16, true),
            (sixteen_aligned, 32, false),
            (3 | 3 << ALIGN_SHIFT, 8, true),
            (3 | 1 << ALIGN_SHIFT, 8, false),
            (2 | BYTES_SWAPPED, 4, false),
        ] {
            assert_eq!(fits(op, size), expected, "{op:#x} {size}");
        }
    }
}
