//! Generated code that simulates by itself: the branch predictors, and which accesses surely hit.
//!
//! What it cannot decide in a few instructions it tells by a call; see `tell` of `line_tlb.rs`.
#![allow(unsafe_code)]

use std::mem::offset_of;

use iced_x86::FlowControl;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::Op;
use crate::emu::unicorn::inline::{FetchLine, Words};
use crate::emu::unicorn::layout::{COND_EQ, COND_NE, ENV_EIP, opcode};
use crate::emu::unicorn::line_tlb::{self, GUEST, TELL, Tap, tell};
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::patches::Later;
use crate::hooks::predictors;
use crate::x86::address::Address;
use crate::x86::cost::{self, Access, Cost, repeat};

/// Bits of the CPU mode in which blocks do not chain: EFLAGS.TF and `HF_INHIBIT_IRQ_MASK`.
const UNCHAINED: u32 = 0x108;

/// `MO_BSWAP`, and the alignment in an operation.
const BYTES_SWAPPED: u32 = 8;
const ALIGN_SHIFT: u32 = 4;

/// Bit of an operation from which on it has a [`Tap`].
const TAP_SHIFT: u32 = line_tlb::TAP_SHIFT - 4;

/// How generated code gets to know of the branch at the end of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Branch {
    /// There is none.
    #[default]
    None,
    /// The second exit jumps; jumping may count as not taken.
    Sides { inverted: bool },
    /// The word `outcome` says whether it jumps.
    Outcome { inverted: bool },
    /// RIP is the target.
    Indirect,
    /// The first exit leads on, the second repeats the instruction; `outcome` says whether it iterates.
    Repeat,
}

/// How the data events of an instruction are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Data {
    /// Each slot has an event, at its address.
    #[default]
    OneToOne,
    /// All together, when the addresses of all slots are known.
    Together,
}

impl Data {
    fn of(cost: &Cost) -> Data {
        let plain = |slot: &cost::Slot| {
            slot.access != Access::None
                && !matches!(slot.address, Address::OperandBit { .. } | Address::Outcome)
        };
        let one_to_one = cost.events.len() == cost.slots.len()
            && cost.slots.iter().all(plain)
            && (0..).zip(&cost.events).all(|(i, event)| {
                event.slot == i && event.offset == 0 && event.size > 0 && event.size <= Tap::LARGEST
            });
        if one_to_one { Data::OneToOne } else { Data::Together }
    }
}

/// State of the translation of a block that simulates.
#[derive(Default)]
pub(crate) struct Inline {
    /// The words that generated code accesses; none where it does not simulate.
    words: Option<Words>,
    /// Accesses are recorded that do not surely hit.
    strips: bool,
    /// Branch predictors are driven.
    branches: bool,
    /// An operation at the start of the block that the engine leaves there.
    start: Option<*const Op>,
    branch: Branch,
    data: Data,
    /// Exits of the instruction so far.
    exits: u32,
    /// Data events of the block before the instruction.
    first_event: usize,
    /// An access of the instruction was recorded.
    iterates: bool,
}

impl Inline {
    /// A block that simulates what these words are for.
    pub(crate) fn new(words: Option<Words>, strips: bool, branches: bool) -> Inline {
        Inline { words, strips, branches, ..Inline::default() }
    }

    /// Tests whether the block simulates anything.
    fn is_on(&self) -> bool {
        self.words.is_some() && (self.strips || self.branches)
    }
}

impl Translator {
    /// Notes an operation at the start of the block, which stores.
    pub(super) fn inline_from(&mut self, op: *const Op) {
        self.inline.start = Some(op);
    }

    /// The number of accesses of the block that are to look for their lines: those with a tap that the
    /// engine has not found unreachable.
    ///
    /// # Safety
    /// The block's code has just been generated.
    pub(crate) unsafe fn taps(&mut self) -> usize {
        /// Index of the argument with the description of the access.
        const DESCRIPTION: usize = 2;
        if !self.inline.strips {
            return 0;
        }
        // SAFETY: the caller's; the engine removes no operation that stores, at the start of a block.
        let start = self.inline.start.take().map(|op| unsafe { &*op });
        let accesses = std::iter::successors(start, |op| op.next())
            .filter(|op| (opcode::QEMU_LD_I32..=opcode::QEMU_ST_I64).contains(&op.opcode()));
        accesses.filter(|op| Tap::of(op.args[DESCRIPTION] as u32 >> line_tlb::TAP_SHIFT).is_some()).count()
    }

    /// Forgets the branch of the instruction before.
    pub(super) fn no_branch(&mut self) {
        self.inline.branch = Branch::None;
    }

    /// Prepares for the data of an instruction whose cost the matcher has, and for its branch unless
    /// the engine does not see it.
    pub(super) fn begin_simulated(&mut self, trapped: bool) {
        if !self.inline.is_on() {
            return;
        }
        self.inline.data = Data::of(&self.matcher.cost);
        self.inline.first_event = self.builder.events();
        self.inline.exits = 0;
        self.inline.iterates = false;
        if !trapped {
            self.begin_branch();
        }
    }

    fn begin_branch(&mut self) {
        let instruction = &self.instruction;
        let chained = self.guard.mode() & UNCHAINED == 0;
        let is_jcc = instruction.is_jcc_short_or_near();
        self.inline.branch = match (repeat(instruction), instruction.flow_control()) {
            (Some(_), _) => Branch::Repeat,
            _ if !self.inline.branches => Branch::None,
            (None, FlowControl::ConditionalBranch) => {
                let inverted = cost::jumps_to_next(instruction) && cost::is_inverted(instruction);
                if chained && is_jcc { Branch::Sides { inverted } } else { Branch::Outcome { inverted } }
            }
            (None, FlowControl::IndirectBranch | FlowControl::IndirectCall) => Branch::Indirect,
            _ => Branch::None,
        };
        match self.inline.branch {
            Branch::Outcome { .. } => {
                self.set_outcome(0);
                // A Jcc's target label comes first; the others place that of the fall-through
                // before it.
                self.labels_before_jump = Some(u32::from(!is_jcc));
            }
            Branch::Repeat => self.set_outcome(0),
            _ => {}
        }
    }

    /// Notes what the instruction at hand does, for the call that asks.
    pub(super) fn set_outcome(&mut self, outcome: u64) {
        if let (Some(words), Branch::Outcome { .. } | Branch::Repeat) =
            (self.inline.words, self.inline.branch)
        {
            Emit(self.context).store_constant(outcome, words.outcome as u64);
        }
    }

    /// Emits the fetch of the block's lines, if they may not all be the ones that were fetched last.
    pub(super) fn emit_fetch(&mut self) {
        let Some(words) = self.inline.words.filter(|_| self.inline.strips) else { return };
        let emit = Emit(self.context);
        let line = |translator: &mut Translator, n: usize| {
            // Temporaries do not live beyond a branch.
            let base = emit.constant(words.fetched as u64);
            let (found, op) = emit.load_later(base);
            emit.free(base);
            translator.patches.add(op, 2, Later::LineOffset(n));
            let (wanted, op) = emit.later();
            translator.patches.add(op, 1, Later::LineNumber(n));
            (found, wanted)
        };
        let (slow, done) = (emit.new_label(), emit.new_label());
        let (found, wanted) = line(self, 0);
        emit.branch(COND_NE, found, wanted, slow);
        let (other, wanted_too) = line(self, 1);
        let op = emit.branch(COND_EQ, other, wanted_too, done);
        self.patches.add(op, 1, Later::UnlessTwoLines);
        emit.place(slow);
        let none = emit.constant(0);
        self.tell(tell::FETCH, none, none);
        emit.place(done);
        for temp in [found, wanted, other, wanted_too, none] {
            emit.free(temp);
        }
    }

    /// Emits a call with the plan of the block.
    fn tell(&mut self, what: u64, first: usize, second: usize) {
        let emit = Emit(self.context);
        let (plan, op) = emit.later();
        self.patches.add(op, 1, Later::Plan);
        let what = emit.constant(what);
        emit.call(TELL, &mut [emit.env(), plan, what, first, second]);
        emit.free(plan);
        emit.free(what);
    }

    /// Records an access for a slot of the instruction, by its index, whose address is in a temporary.
    /// Returns the tap that the access is to look for its line with, if it can be `fused`.
    pub(super) fn tap_inline(&mut self, slot: usize, addr: usize, fused: Option<u32>) -> Option<Tap> {
        if !self.inline.is_on() {
            return None;
        }
        if !std::mem::replace(&mut self.inline.iterates, true) && self.inline.branch == Branch::Repeat {
            self.set_outcome(1);
        }
        if !self.inline.strips {
            return None;
        }
        let emit = Emit(self.context);
        if self.matcher.is_observing() {
            self.inline.data = Data::OneToOne;
        }
        match self.inline.data {
            Data::OneToOne => {
                let size = self.matcher.cost.events.get(slot).map_or(1, |event| event.size);
                let tap =
                    Tap { index: (self.inline.first_event + slot) as u16, size: size.clamp(1, Tap::LARGEST) };
                if fused.is_some_and(|op| fits(op, tap.size)) {
                    return Some(tap);
                }
                let bits = emit.constant(tap.pack().into());
                self.tell(tell::DATA, bits, addr);
                emit.free(bits);
            }
            Data::Together => {
                self.keep_address(slot, addr);
                self.record_together();
            }
        }
        None
    }

    /// Keeps the address of a slot, by its index in the instruction, for the call that records all.
    pub(super) fn keep_address(&mut self, slot: usize, addr: usize) {
        let Some(words) = self.inline.words else { return };
        let emit = Emit(self.context);
        let base = emit.constant(words.scratch as u64);
        emit.store(addr, base, 8 * slot);
        emit.free(base);
    }

    /// Records the events of an instruction together, if the addresses of all its slots are known.
    pub(super) fn record_together(&mut self) {
        let has_events = !self.matcher.cost.events.is_empty();
        if !self.inline.is_on() || !self.inline.strips || !has_events || !self.matcher.is_complete() {
            return;
        }
        let emit = Emit(self.context);
        let insn = emit.constant(self.builder.instructions() as u64);
        let first_slot = emit.constant(self.matcher.first_slot as u64);
        self.tell(tell::EVENTS, insn, first_slot);
        emit.free(insn);
        emit.free(first_slot);
    }

    /// Records the computed data of an instruction that the CPU does not access itself.
    pub(super) fn record_computed(&mut self) {
        let computed = self.matcher.cost.slots.iter().all(|slot| slot.access == Access::None);
        if computed && self.inline.data == Data::Together {
            self.record_together();
        }
    }

    /// Tests whether addresses of computed slots are to be kept.
    pub(super) fn keeps_addresses(&self) -> bool {
        self.inline.is_on() && self.inline.strips
    }

    /// Emits the retry of the locked operation that was translated.
    pub(super) fn emit_retry(&mut self) {
        if self.inline.words.is_none() || !self.inline.branches || !self.matcher.cost.retry_branch {
            return;
        }
        let emit = Emit(self.context);
        let (insn, none) = (emit.constant(self.builder.instructions() as u64), emit.constant(0));
        self.tell(tell::RETRY, insn, none);
        emit.free(insn);
        emit.free(none);
    }

    /// Decides the branch of the block, which is left where the next operations are emitted.
    pub(crate) fn leaving(&mut self, cursor: *const Cursor) {
        if self.original.is_none() || !self.inline.is_on() {
            return;
        }
        let emit = Emit(self.context);
        let exit = self.inline.exits;
        self.inline.exits += 1;
        match self.inline.branch {
            Branch::None => {}
            Branch::Sides { inverted } => self.emit_conditional((exit == 1) != inverted, cursor),
            Branch::Indirect => self.emit_indirect(cursor),
            Branch::Outcome { inverted } => {
                let (inverted, none) = (emit.constant(u64::from(inverted)), emit.constant(0));
                self.tell(tell::BRANCH, inverted, none);
                emit.free(inverted);
                emit.free(none);
            }
            Branch::Repeat => {
                let (again, none) = (emit.constant(u64::from(exit == 1)), emit.constant(0));
                self.tell(tell::REPEAT, again, none);
                emit.free(again);
                emit.free(none);
            }
        }
    }

    /// Emits what [`Conditional::record`](predictors::Conditional::record) does.
    fn emit_conditional(&mut self, taken: bool, cursor: *const Cursor) {
        let Some(words) = self.inline.words else { return };
        let emit = Emit(self.context);
        let place = predictors::Conditional::counter_of(self.instruction.ip()) as usize;
        let (past, history) = (emit.constant(words.history as u64), emit.new_temp(false));
        emit.load(history, past, 0);
        let (counters, counter) = (emit.constant(words.counters as u64), emit.new_temp(false));
        emit.add(counters, counters, history);
        emit.load_byte(counter, counters, place);
        let next = emit.new_temp(false);
        if taken {
            emit.shift_left(next, counter, 1);
            emit.or_constant(next, next, 1);
            emit.and(next, next, predictors::COUNTER_MASK.into());
        } else {
            emit.shift_right(next, counter, 1);
        }
        emit.store_byte(next, counters, place);
        emit.shift_right(counter, counter, predictors::PREDICTS_TAKEN_BIT.into());
        emit.and(counter, counter, 1);
        if taken {
            emit.xor_constant(counter, counter, 1);
        }
        emit.shift_left(history, history, 1);
        if taken {
            emit.or_constant(history, history, predictors::TAKEN as i64);
        }
        emit.and(history, history, predictors::HISTORY_MASK as i64);
        emit.store(history, past, 0);
        self.count_mispredicted(emit, counter, cursor);
        for temp in [past, history, counters, counter, next] {
            emit.free(temp);
        }
    }

    /// Emits what [`Indirect::record`](predictors::Indirect::record) does.
    fn emit_indirect(&mut self, cursor: *const Cursor) {
        let Some(words) = self.inline.words else { return };
        let emit = Emit(self.context);
        let entry = 8 * predictors::Indirect::entry_of(self.instruction.ip());
        let (target, before) = (emit.new_temp(false), emit.new_temp(false));
        let targets = emit.constant(words.targets as u64);
        emit.load(target, emit.env(), ENV_EIP);
        emit.load(before, targets, entry);
        emit.store(target, targets, entry);
        emit.set_if(COND_NE, before, before, target);
        self.count_mispredicted(emit, before, cursor);
        for temp in [target, before, targets] {
            emit.free(temp);
        }
    }

    /// Emits the addition of 0 or 1 to the mispredictions of the block's branch.
    fn count_mispredicted(&mut self, emit: Emit, missed: usize, cursor: *const Cursor) {
        let counts = emit.new_temp(false);
        let words = self.words(emit, cursor);
        words.load(counts, offset_of!(Cursor, executions));
        words.free();
        let accesses = emit.add_later(counts, missed);
        accesses.into_iter().for_each(|op| self.patches.add(op, 2, Later::Mispredicted));
        emit.free(counts);
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
    index == GUEST
}

/// The lines of a plan that a block compares with those that were fetched last: no more than two.
pub(super) fn compared(lines: &[FetchLine]) -> [FetchLine; 2] {
    /// A line that was never fetched.
    const NEVER: FetchLine = FetchLine { set: 0, number: u32::MAX };
    match *lines {
        [line] => [line; 2],
        [first, second] => [first, second],
        _ => [NEVER; 2],
    }
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
