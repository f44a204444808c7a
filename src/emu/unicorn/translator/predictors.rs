//! Generated code that drives the branch predictors by itself, at the exits of a block.
#![allow(unsafe_code)]

use std::mem::offset_of;

use iced_x86::FlowControl;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::layout::ENV_EIP;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::translator::Translator;
use crate::emu::unicorn::translator::branch::{Branch, PredictorWords, labels_before_jump};
use crate::emu::unicorn::translator::host_code::{Memory, R10, R11, RAX, RCX, RDX};
use crate::emu::unicorn::translator::patches::Later;
use crate::emu::unicorn::translator::tell::{self, TELL};
use crate::hooks::predictors;
use crate::hooks::record::{AT_END, MISPREDICTED_BYTE};
use crate::x86::cost::{self, repeat};

/// Bits of the CPU mode in which blocks do not chain: EFLAGS.TF and `HF_INHIBIT_IRQ_MASK`.
const UNCHAINED: u32 = 0x108;

/// Opcodes of `movzx` of a byte, of `mov` and `or` of one to memory, and of `adc` of a constant.
const MOVZX_BYTE: &[u8] = &[0x0f, 0xb6];
const MOV_BYTE: &[u8] = &[0x88];
const OR_BYTE: &[u8] = &[0x08];
const ADC: (u8, u8) = (0x83, 2);
/// The next state of the counter in EDX, in EAX: `lea eax, [rdx + rdx + 1]; and eax, 7`, or
/// `mov eax, edx; shr eax, 1`.
const NEXT_TAKEN: [u8; 7] = [0x8d, 0x44, 0x12, 0x01, 0x83, 0xe0, predictors::COUNTER_MASK];
const NEXT_NOT_TAKEN: [u8; 4] = [0x89, 0xd0, 0xd1, 0xe8];
/// The history in ECX goes on: `lea ecx, [rcx + rcx + i]` or `add ecx, ecx`, and `and ecx, i`.
const PAST_TAKEN: [u8; 7] = [0x8d, 0x8c, 0x09, predictors::TAKEN as u8, 0, 0, 0];
const PAST_NOT_TAKEN: [u8; 2] = [0x01, 0xc9];
const MASK_PAST: [u8; 6] =
    [0x81, 0xe1, predictors::HISTORY_MASK as u8, (predictors::HISTORY_MASK >> 8) as u8, 0, 0];
/// `bt edx, i`: the carry flag is what was predicted.
const PREDICTED: [u8; 4] = [0x0f, 0xba, 0xe2, predictors::PREDICTS_TAKEN_BIT as u8];
/// `sub rdx, rcx; neg rdx`: the carry flag says if they differ.
const DIFFERS: [u8; 6] = [0x48, 0x29, 0xca, 0x48, 0xf7, 0xda];
const CMC: [u8; 1] = [0xf5];
const SETB_DL: [u8; 3] = [0x0f, 0x92, 0xc2];
const SETAE_DL: [u8; 3] = [0x0f, 0x93, 0xc2];
/// `shl dl, i`, before the constant.
const SHL_DL: [u8; 2] = [0xc0, 0xe2];

const _: () = assert!(predictors::TAKEN < 1 << 8 && predictors::HISTORY_MASK < 1 << 16);

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
    pub(crate) fn leaving(&mut self) {
        let Some(words) = self.inline.words.filter(|_| self.original.is_some()) else { return };
        let is_second = self.inline.exits == 1;
        self.inline.exits += 1;
        match (self.inline.branch, words.predictors) {
            (Branch::Sides { inverted }, Some(words)) => {
                self.emit_conditional(words, is_second != inverted);
            }
            (Branch::Indirect, Some(words)) => self.emit_indirect(words),
            (Branch::Outcome { inverted }, _) => self.tell(tell::BRANCH, inverted.into()),
            (Branch::Repeat, _) => self.tell(tell::REPEAT, is_second.into()),
            _ => {}
        }
    }

    /// Emits what [`Conditional::record`](predictors::Conditional::record) does.
    fn emit_conditional(&mut self, words: PredictorWords, taken: bool) {
        let emit = Emit(self.context);
        let place = predictors::Conditional::counter_of(self.instruction.ip()) as usize;
        let Translator { host, env, .. } = self;
        let history = host.at(words.history as u64, *env, R10);
        let counter = host.at(words.counters as u64, *env, R11).plus(place).indexed(RCX);
        host.load(false, RCX, history);
        host.with_memory(false, MOVZX_BYTE, RDX, counter);
        host.push(if taken { &NEXT_TAKEN } else { &NEXT_NOT_TAKEN });
        host.with_memory(false, MOV_BYTE, RAX, counter);
        host.push(if taken { &PAST_TAKEN } else { &PAST_NOT_TAKEN });
        host.push(&MASK_PAST);
        host.store(false, history, RCX);
        host.push(&PREDICTED);
        self.count_carry(taken);
        emit.end_basic_block();
        self.host.emit(emit);
    }

    /// Writes the addition of the carry flag, or of its complement, to the mispredictions of the
    /// block's branch, or the note of it in the record.
    fn count_carry(&mut self, complement: bool) {
        let inside = self.builder.branches_inside();
        let (is_inside, stays_inside) = (self.is_inside(), self.superblock.stays_inside());
        let complete = self.builder.instructions() as u16 + 1;
        let words = self.words();
        let Translator { host, patches, .. } = self;
        if self.inline.in_records {
            host.push(if complement { &SETAE_DL } else { &SETB_DL });
            if stays_inside {
                host.push(&SHL_DL);
                host.push(&[AT_END as u8 + inside as u8]);
            }
            host.load(true, RAX, words.plus(offset_of!(Cursor, last)));
            let note = if inside > 0 { OR_BYTE } else { MOV_BYTE };
            return host.with_memory(false, note, RDX, Memory::at(RAX).plus(MISPREDICTED_BYTE));
        }
        if complement {
            host.push(&CMC);
        }
        host.load(true, RAX, words.plus(offset_of!(Cursor, executions)));
        let exit = is_inside.then_some(complete);
        host.with_later(false, ADC, RAX, (patches, Later::Mispredicted, exit));
        host.push(&[0]);
    }

    /// Emits what [`Indirect::record`](predictors::Indirect::record) does.
    fn emit_indirect(&mut self, words: PredictorWords) {
        let emit = Emit(self.context);
        let entry = size_of::<u64>() * predictors::Indirect::entry_of(self.instruction.ip());
        let Translator { host, env, .. } = self;
        let target = host.at(words.targets as u64, *env, R11).plus(entry);
        host.load(true, RCX, Memory::of_state(ENV_EIP as i32));
        host.load(true, RDX, target);
        host.store(true, target, RCX);
        host.push(&DIFFERS);
        self.count_carry(false);
        emit.end_basic_block();
        self.host.emit(emit);
    }
}
