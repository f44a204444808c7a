//! Generated code that drives the branch predictors by itself, at the exits of a block.
#![allow(unsafe_code)]

use std::mem::offset_of;

use iced_x86::FlowControl;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::layout::{COND_NE, ENV_EIP};
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::branch::{Branch, PredictorWords, labels_before_jump};
use crate::emu::unicorn::translator::patches::Later;
use crate::emu::unicorn::translator::tell::{self, TELL};
use crate::hooks::predictors;
use crate::hooks::record::{AT_END, MISPREDICTED_BYTE};
use crate::x86::cost::{self, repeat};

/// Bits of the CPU mode in which blocks do not chain: EFLAGS.TF and `HF_INHIBIT_IRQ_MASK`.
const UNCHAINED: u32 = 0x108;

impl Translator {
    /// Forgets the branch of the instruction before.
    pub(super) fn no_branch(&mut self) {
        self.inline.branch = Branch::None;
    }

    /// Prepares for the branch of the instruction at hand, if it has one.
    pub(super) fn begin_branch(&mut self) {
        if self.inline.words.is_none() {
            return;
        }
        let instruction = &self.instruction;
        let chained = self.guard.mode() & UNCHAINED == 0;
        let is_jcc = instruction.is_jcc_short_or_near();
        self.inline.exits = 0;
        self.inline.iterates = false;
        let predicts = self.inline.words.is_some_and(|words| words.predictors.is_some());
        self.inline.branch = match (repeat(instruction), instruction.flow_control()) {
            (Some(_), _) => Branch::Repeat,
            _ if !predicts => Branch::None,
            (None, FlowControl::ConditionalBranch) => {
                let inverted = cost::jumps_to_next(instruction) && cost::is_inverted(instruction);
                if chained && is_jcc { Branch::Sides { inverted } } else { Branch::Outcome { inverted } }
            }
            (None, FlowControl::IndirectBranch | FlowControl::IndirectCall) => Branch::Indirect,
            _ => Branch::None,
        };
        if let Branch::Outcome { .. } = self.inline.branch {
            self.labels_before_jump = Some(labels_before_jump(instruction));
        }
        self.set_outcome(0);
    }

    /// Notes what the instruction at hand does, for the call that asks.
    pub(super) fn set_outcome(&mut self, outcome: u64) {
        if let (Some(words), Branch::Outcome { .. } | Branch::Repeat) =
            (self.inline.words, self.inline.branch)
        {
            Emit(self.context).store_constant(outcome, words.outcome as u64);
        }
    }

    /// Notes that the instruction iterates if it is repeated, since it accesses memory.
    pub(super) fn note_iteration(&mut self) {
        if self.inline.branch == Branch::Repeat && !std::mem::replace(&mut self.inline.iterates, true) {
            self.set_outcome(1);
        }
    }

    /// Emits a call with the plan of the block.
    pub(super) fn tell(&mut self, what: u64, word: u64) {
        let emit = Emit(self.context);
        let unused = emit.constant(0);
        self.tell_with(what, word, unused);
        emit.free(unused);
    }

    /// The same with a second word.
    pub(super) fn tell_with(&mut self, what: u64, word: u64, second: usize) {
        let emit = Emit(self.context);
        let (plan, op) = emit.later();
        self.patches.add(op, 1, Later::Plan);
        let words = [what, word].map(|word| emit.constant(word));
        let [what, word] = words;
        emit.call(TELL, &mut [emit.env(), plan, what, word, second]);
        emit.free(plan);
        words.into_iter().for_each(|word| emit.free(word));
    }

    /// Emits the retry of the locked operation that was translated.
    pub(super) fn emit_retry(&mut self) {
        let predicts = self.inline.words.is_some_and(|words| words.predictors.is_some());
        if predicts && self.matcher.cost.retry_branch {
            self.tell(tell::RETRY, self.builder.instructions() as u64);
        }
    }

    /// Decides the branch of the block, which is left where the next operations are emitted.
    pub(crate) fn leaving(&mut self, cursor: *const Cursor) {
        let Some(words) = self.inline.words.filter(|_| self.original.is_some()) else { return };
        let is_second = self.inline.exits == 1;
        self.inline.exits += 1;
        match (self.inline.branch, words.predictors) {
            (Branch::Sides { inverted }, Some(words)) => {
                self.emit_conditional(words, is_second != inverted, cursor);
            }
            (Branch::Indirect, Some(words)) => self.emit_indirect(words, cursor),
            (Branch::Outcome { inverted }, _) => self.tell(tell::BRANCH, inverted.into()),
            (Branch::Repeat, _) => self.tell(tell::REPEAT, is_second.into()),
            _ => {}
        }
    }

    /// Emits what [`Conditional::record`](predictors::Conditional::record) does.
    fn emit_conditional(&mut self, words: PredictorWords, taken: bool, cursor: *const Cursor) {
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
    fn emit_indirect(&mut self, words: PredictorWords, cursor: *const Cursor) {
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

    /// Emits the addition of 0 or 1 to the mispredictions of the block's branch, or the note of it
    /// in the record.
    fn count_mispredicted(&mut self, emit: Emit, missed: usize, cursor: *const Cursor) {
        if self.inline.in_records {
            let record = self.pointer as usize;
            let inside = self.builder.branches_inside();
            if self.superblock.stays_inside() {
                emit.shift_left(missed, missed, i64::from(AT_END) + inside as i64);
            }
            if inside > 0 {
                let before = emit.new_temp(false);
                emit.load_byte(before, record, MISPREDICTED_BYTE);
                emit.add(missed, missed, before);
                emit.free(before);
            }
            return emit.store_byte(missed, record, MISPREDICTED_BYTE);
        }
        let counts = emit.new_temp(false);
        let words = self.words(emit, cursor);
        words.load(counts, offset_of!(Cursor, executions));
        words.free();
        let accesses = emit.add_later(counts, missed);
        let exit = self.is_inside().then(|| self.builder.instructions() as u16 + 1);
        for op in accesses {
            match exit {
                Some(complete) => self.patches.add_exit(op, 2, Later::Mispredicted, complete),
                None => self.patches.add(op, 2, Later::Mispredicted),
            }
        }
        emit.free(counts);
    }
}
