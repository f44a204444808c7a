//! Translation with the tap in it: which instructions may run, what each block's plan is, and the operations that
//! make generated code write the trace.
//!
//! Each counted access stores its address into its slot. The header and the number of slots are known only when the
//! block is done, so both are patched into the operations of its [`prologue`] then.
#![allow(unsafe_code)]

mod prologue;

use std::ffi::c_void;

use iced_x86::{FlowControl, Instruction, OpKind};

use crate::emu::supervisor::Refused;
use crate::emu::unicorn::door::{Door, Leave};
use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::errata::{self, Erratum};
use crate::emu::unicorn::ffi::{self, Context, DISAS_TOO_MANY, Disassembly, Op, TranslatorOps, Value};
use crate::emu::unicorn::helpers::env::RECORDED;
use crate::emu::unicorn::layout;
use crate::emu::unicorn::matcher::Matcher;
use crate::guest::Gpr;
use crate::hooks::plan::{Builder, NO_MAPPING};
use crate::x86::address::{Address, SCRATCH_BELOW_RSP};
use crate::x86::cost::{Access, Cost, repeat};
use crate::x86::decode::{self, MAX_LENGTH, Refusal, Trap, Verdict};
use crate::x86::request::{self, Request};

/// What stands at an address instead of an ordinary instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// The machine answers it; so many bytes long.
    Trap(Trap, u8),
    /// It faults.
    Refused(Refused),
    /// A client request.
    Request(Request),
}

/// State of the translation at hand.
pub struct Translation {
    builder: Builder,
    /// The engine's own operations; set while a block is translated.
    original: Option<TranslatorOps>,
    context: Context,
    verified: bool,
    tb: *mut c_void,
    /// Where the block begins.
    pc: u64,
    /// The next call of the exit check is the one at the start of the block.
    at_start: bool,
    /// Holds the buffer pointer within the block.
    pointer: *mut c_void,
    header: *mut Op,
    advance: *mut Op,
    /// Exits of the block that are taken (`goto_tb` indices).
    exits: u32,
    instruction: Instruction,
    matcher: Matcher,
    in_atomic: bool,
    /// The address at which the translator is shown something else, and what.
    shown: Option<(u64, [u8; MAX_LENGTH], usize)>,
    /// The machine answers the instruction at hand, or it faults: the translator is shown UD2.
    trapped: bool,
    /// The client request that the instruction at hand begins.
    request: Option<Request>,
    erratum: Erratum,
    /// Accesses of the instruction at hand so far.
    accesses: u32,
    /// Labels that the engine places before the one where the jump at hand jumps; `None` if nobody asks.
    labels_before_jump: Option<u32>,
    /// The argument of a turn to MMX that waits for the access, which may fault.
    turns_to_mmx: Option<*mut c_void>,
}

impl Default for Translation {
    fn default() -> Translation {
        Translation {
            builder: Builder::default(),
            original: None,
            context: std::ptr::null_mut(),
            verified: false,
            tb: std::ptr::null_mut(),
            pc: 0,
            at_start: false,
            pointer: std::ptr::null_mut(),
            header: std::ptr::null_mut(),
            advance: std::ptr::null_mut(),
            exits: 0,
            instruction: Instruction::default(),
            matcher: Matcher::default(),
            in_atomic: false,
            shown: None,
            trapped: false,
            request: None,
            erratum: Erratum::None,
            accesses: 0,
            labels_before_jump: None,
            turns_to_mmx: None,
        }
    }
}

impl Translation {
    /// Forgets a translation that the engine gave up, as it does when code cannot be fetched.
    pub fn abandon(&mut self) {
        self.original = None;
        self.pointer = std::ptr::null_mut();
        self.header = std::ptr::null_mut();
        self.advance = std::ptr::null_mut();
        self.shown = None;
        self.trapped = false;
        self.erratum = Erratum::None;
        self.in_atomic = false;
    }
}

/// What the translator is shown where it is not to translate.
const UD2: [u8; MAX_LENGTH] = [0x0f, 0x0b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// `MemOp`'s size in bytes.
fn op_size(op: u32) -> u16 {
    1 << (op & 3)
}

impl Door {
    /// Whether accesses are to be recorded by generated code now.
    fn tapping(&self) -> bool {
        !self.translation.pointer.is_null() && !self.translation.in_atomic
    }

    /// The engine generates an access; `addr` is the TCG value with its address.
    pub fn tap(&mut self, context: Context, addr: Value, op: u32, write: bool) {
        self.tap_sized(Emit(context).temp(addr), op_size(op), write);
    }

    /// As [`Door::tap`], with the temporary that holds the address and the size in bytes.
    pub fn tap_sized(&mut self, addr: usize, size: u16, write: bool) {
        if self.translation.original.is_none() || self.translation.in_atomic {
            return;
        }
        let Some((index, slot)) = self.translation.matcher.access(write, size) else { return };
        if !self.tapping() {
            return;
        }
        let emit = Emit(self.translation.context);
        let (pointer, at) = (self.translation.pointer as usize, 8 * (1 + index));
        match slot.address {
            Address::OperandBit { bit, size, .. } => {
                // The engine accesses the whole operand; the counted byte is the one with the bit.
                let temp = emit.new_temp(false);
                emit.shift_right(temp, emit.gpr(bit.full_register().number()), 3);
                emit.and(temp, temp, i64::from(size) - 1);
                emit.add(temp, temp, addr);
                emit.store(temp, pointer, at);
                emit.free(temp);
            }
            _ => emit.store(addr, pointer, at),
        }
    }

    /// Whether source and destination of the instruction are one register.
    pub fn is_one_register(&self) -> bool {
        let instruction = &self.translation.instruction;
        instruction.op1_kind() == OpKind::Register && instruction.op0_register() == instruction.op1_register()
    }

    /// Whether the flags that the engine computes for the public hooks, before each instruction, are to be written down
    /// at once: even the first instruction of a block finds them elsewhere then.
    pub fn writes_flags_down(&self) -> bool {
        self.api.is_some() && errata::begins_block(&self.translation.instruction)
    }

    /// Copies the sixteen bytes that `from` points to aside, and returns a value that points to the copy.
    pub fn set_aside(&mut self, context: Context, from: usize) -> usize {
        let emit = Emit(context);
        let copy = emit.constant(&raw const self.aside as u64);
        let part = emit.new_temp(false);
        for offset in [0, 8] {
            emit.load(part, from, offset);
            emit.store(part, copy, offset);
        }
        emit.free(part);
        copy
    }

    /// The engine generates a locked read-modify-write; its parts are not to be seen again.
    pub fn tap_atomic(&mut self, context: Context, addr: Value, op: u32) -> bool {
        if self.translation.in_atomic {
            return false;
        }
        self.tap(context, addr, op, false);
        self.translation.in_atomic = true;
        true
    }

    /// The locked operation is generated.
    pub fn end_atomic(&mut self) {
        self.translation.in_atomic = false;
    }

    /// Decides about the instruction at `pc` and prepares its slots. False ends the block before it.
    fn before_instruction(&mut self, pc: u64, first: bool) -> bool {
        let mut buf = [0; MAX_LENGTH];
        let bytes = self.space.fetch(pc, &mut buf);
        let short = bytes.len() < MAX_LENGTH;
        let may_be_request = request::may_begin(bytes);
        let instruction = decode::decode(bytes, pc);
        let verdict = decode::verdict(&instruction);
        self.translation.instruction = instruction;
        self.translation.shown =
            errata::shown(&instruction, bytes).map(|shown| (pc, shown, instruction.len()));
        self.translation.trapped = false;
        self.translation.request = None;
        self.translation.erratum = errata::erratum(&instruction);
        self.translation.accesses = 0;
        self.translation.labels_before_jump = None;
        self.translation.turns_to_mmx = None;
        if !first && self.breakpoints.contains(&pc) {
            return false;
        }
        if !first && errata::begins_block(&instruction) {
            return false;
        }
        if !first
            && ((short && verdict == Verdict::Refuse(Refusal::Undefined))
                || self.translation.builder.is_full())
        {
            // What follows cannot be fetched; the fault comes when control gets there.
            return false;
        }
        if may_be_request && let Some(request) = self.request_at(pc) {
            self.translation.shown = Some((pc, UD2, 2));
            self.translation.trapped = true;
            self.translation.request = Some(request);
            let first_slot = self.translation.builder.slots();
            self.translation.matcher.start(request.cost(), first_slot);
            if self.tapping() {
                self.store_computed(first_slot);
            }
            self.requests.insert(pc, request);
            return true;
        }
        if verdict != Verdict::Run {
            if !(short && decode::is_truncated(&instruction, bytes.len())) {
                self.translation.shown = Some((pc, UD2, 2));
                self.translation.trapped = true;
            }
            self.translation.matcher.start(Cost::default(), self.translation.builder.slots());
            return true;
        }
        if let Some(what) = decode::inexact(&instruction)
            && let Some((supervisor, ..)) = self.split()
        {
            supervisor.notice(pc, what);
        }
        let cost = self.translation.builder.cost(&instruction);
        let first_slot = self.translation.builder.slots();
        self.translation.matcher.start(cost, first_slot);
        if self.tapping() {
            self.store_computed(first_slot);
            if repeat(&instruction).is_some() {
                self.store_no_iteration(first_slot);
            }
        }
        true
    }

    /// Slots whose address no access will tell.
    fn store_computed(&mut self, first_slot: usize) {
        let emit = Emit(self.translation.context);
        let pointer = self.translation.pointer as usize;
        for (i, slot) in self.translation.matcher.cost.slots.iter().enumerate() {
            if slot.access != Access::None {
                continue;
            }
            if slot.address == Address::Outcome {
                let zero = emit.constant(0);
                emit.store(zero, pointer, 8 * (1 + first_slot + i));
                emit.free(zero);
                // The engine places the label of a Jcc's jump first, of the others after that of the way past it.
                let is_jcc = self.translation.instruction.is_jcc_short_or_near();
                self.translation.labels_before_jump = Some(u32::from(!is_jcc));
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
            emit.store(temp, pointer, 8 * (1 + first_slot + i));
            emit.free(temp);
        }
    }

    /// A repeated string instruction that finds RCX zero makes no access: its slots say so beforehand.
    fn store_no_iteration(&mut self, first_slot: usize) {
        let emit = Emit(self.translation.context);
        let zero = emit.constant(0);
        for i in 0..self.translation.matcher.cost.slots.len() {
            emit.store(zero, self.translation.pointer as usize, 8 * (1 + first_slot + i));
        }
        emit.free(zero);
    }

    /// The engine has placed a label: code that follows runs if the jump to the next instruction jumps.
    pub fn placed_label(&mut self) {
        let translation = &mut self.translation;
        match translation.labels_before_jump {
            Some(0) => translation.labels_before_jump = None,
            Some(more) => {
                translation.labels_before_jump = Some(more - 1);
                return;
            }
            None => return,
        }
        if self.tapping() {
            let translation = &self.translation;
            let emit = Emit(translation.context);
            let one = emit.constant(1);
            let at = 8 * (1 + translation.matcher.first_slot);
            emit.store(one, translation.pointer as usize, at);
            emit.free(one);
        }
    }

    /// The instruction at `pc` is generated and `len` bytes long.
    fn after_instruction(&mut self, pc: u64, len: u64) {
        let translation = &mut self.translation;
        if translation.trapped {
            // The translator saw UD2; the plan has what is really there.
            let len = match translation.request {
                Some(_) => request::LENGTH as u8,
                None => translation.instruction.len().max(1) as u8,
            };
            let cost = std::mem::take(&mut translation.matcher.cost);
            translation.builder.push_trapped(pc, len, &cost);
            return;
        }
        let matcher = &translation.matcher;
        if !matcher.is_complete() {
            let code = translation.instruction.code();
            let why = format!(
                "cannot trace the instruction at {pc:#x} ({code:?}): its accesses are not as expected"
            );
            // The block does not run: its exit check comes first.
            self.leave(Leave::Broken(why));
            return;
        }
        let cost = std::mem::take(&mut translation.matcher.cost);
        translation.builder.push(&translation.instruction, len as u8, &cost);
    }

    /// The block is translated: its plan gets an id, and the operations learn it.
    fn end_block(&mut self, pc: u64, size: u64) {
        let plan = self.translation.builder.finish();
        self.record_translation(plan.pc);
        let slots = usize::from(plan.slots);
        let id = self.recorder.plans.insert(plan);
        if let Some(api) = &mut self.api {
            api.translated(pc, size, id);
        }
        let Some(plan) = self.recorder.plans.get(id) else { return };
        let header = plan.header(id);
        if !self.translation.header.is_null() {
            // SAFETY: both operations belong to the block whose code is generated after this returns.
            unsafe {
                (*self.translation.header).args[1] = header as usize;
                (*self.translation.advance).args[1] = 8 * (1 + slots);
            }
        }
        self.translation.abandon();
    }

    /// Whether the translator, reading a byte of code, is to see another one instead.
    pub fn replaced_byte(&self, addr: u64) -> Option<u32> {
        let (at, bytes, len) = self.translation.shown?;
        bytes.get(..len)?.get(usize::try_from(addr.wrapping_sub(at)).ok()?).map(|byte| u32::from(*byte))
    }

    /// The engine generates an access: the tap sees it, and the operation that is to be generated instead is the
    /// result, if any.
    pub fn access(
        &mut self,
        context: Context,
        value: Value,
        addr: Value,
        op: u32,
        write: bool,
    ) -> Option<u32> {
        /// `MO_ALIGN_16`.
        const ALIGNED: u32 = 4 << 4;
        let translation = &mut self.translation;
        if translation.in_atomic || translation.original.is_none() {
            return Some(op);
        }
        let emit = Emit(context);
        let first = translation.accesses == 0;
        translation.accesses += 1;
        let mut op = op;
        match translation.erratum {
            Erratum::Aligned if first => op |= ALIGNED,
            // The second half is not there; what the engine has for it then, its helper does not look at.
            Erratum::Narrow(_) if !first => return None,
            Erratum::Narrow(4) => op = op & !3 | 2,
            Erratum::ByteBeyond if first => emit.add_constant(emit.temp(addr), emit.temp(addr), 1),
            Erratum::Mxcsr => {
                let (status, flags) = (emit.constant(self.parts.sse_status() as u64), emit.new_temp(false));
                emit.load(flags, status, 0);
                emit.shift_right(flags, flags, 16);
                emit.and(flags, flags, i64::from(RECORDED));
                emit.or(emit.temp(value), emit.temp(value), flags);
                emit.free(flags);
                emit.free(status);
            }
            _ => {}
        }
        self.tap(context, addr, op, write);
        Some(op)
    }

    /// The access is generated. With the state as the result, the turn to MMX is to be generated now.
    pub fn accessed(&mut self, context: Context) -> Option<*mut c_void> {
        if self.translation.erratum == Erratum::Drop && self.translation.accesses == 1 {
            let emit = Emit(context);
            let rsp = emit.gpr(Gpr::Rsp as usize);
            emit.add_constant(rsp, rsp, 0x1_0000);
        }
        self.translation.turns_to_mmx.take()
    }

    /// Whether the x87 stack is not to turn into MMX registers at the start of the instruction at hand: never, or
    /// only after its access.
    pub fn delays_mmx(&mut self, state: *mut c_void) -> bool {
        let has_memory = errata::has_memory(&self.translation.instruction);
        if has_memory && self.translation.erratum != Erratum::NoMmx {
            self.translation.turns_to_mmx = Some(state);
        }
        has_memory
    }

    fn request_at(&mut self, pc: u64) -> Option<Request> {
        let mut buf = [0; request::LENGTH];
        request::decode(self.space.fetch(pc, &mut buf))
    }

    /// What the instruction at `pc` is, if the engine was shown UD2 in its place.
    pub fn special_at(&mut self, pc: u64) -> Option<Special> {
        if let Some(request) = self.request_at(pc) {
            return Some(Special::Request(request));
        }
        let mut buf = [0; MAX_LENGTH];
        let bytes = self.space.fetch(pc, &mut buf);
        let instruction = decode::decode(bytes, pc);
        match decode::verdict(&instruction) {
            Verdict::Run => None,
            Verdict::Trap(Trap::Xgetbv) if self.model.xcr0().is_none() => {
                Some(Special::Refused(Refused { pc, why: Refusal::Unsupported }))
            }
            // There is no other register than XCR0: #GP.
            Verdict::Trap(Trap::Xgetbv) if self.parts.gpr(Gpr::Rcx) as u32 != 0 => {
                Some(Special::Refused(Refused { pc, why: Refusal::Privileged }))
            }
            Verdict::Trap(trap) => Some(Special::Trap(trap, instruction.len() as u8)),
            Verdict::Refuse(why) => Some(Special::Refused(Refused { pc, why })),
        }
    }

    /// A block ends by looking up where a direct jump leads, because that is on another page. The jump can be
    /// chained all the same: whatever changes the frame of an executable page drops the code of the frame.
    pub fn cross_page_exit(&mut self) -> Option<(*mut c_void, u32)> {
        let translation = &mut self.translation;
        translation.original?;
        let direct = matches!(
            translation.instruction.flow_control(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch | FlowControl::Call
        );
        if !direct || translation.exits == 3 || translation.tb.is_null() {
            return None;
        }
        let index = u32::from(translation.exits & 1 != 0);
        translation.exits |= 1 << index;
        Some((translation.tb, index))
    }

    /// The engine uses one of the block's two chained exits.
    pub fn note_exit(&mut self, index: u32) {
        self.translation.exits |= 1 << index;
    }
}

unsafe extern "C" fn tb_start(db: *mut Disassembly, cpu: *mut c_void) {
    // SAFETY: called by the engine inside `translator_loop`.
    unsafe {
        let Some(door) = super::door::door() else { return };
        let Some(original) = door.translation.original else { return };
        (original.tb_start)(db, cpu);
        door.start_block();
    }
}

unsafe extern "C" fn translate_insn(db: *mut Disassembly, cpu: *mut c_void) {
    // SAFETY: as above; `db` is the translation's own, and the door is not held across the engine's function, which
    // may come back through the tap.
    unsafe {
        let pc = (*db).pc_next;
        let Some(door) = super::door::door() else { return };
        let Some(original) = door.translation.original else { return };
        let first = pc == (*db).pc_first;
        if !door.before_instruction(pc, first) {
            (*db).is_jmp = DISAS_TOO_MANY;
            return;
        }
        (original.translate_insn)(db, cpu);
        let len = (*db).pc_next.wrapping_sub(pc);
        if let Some(door) = super::door::door() {
            door.after_instruction(pc, len);
        }
    }
}

/// Stands in front of `translator_loop`: runs it with our own `tb_start` and `translate_insn`.
///
/// # Safety
/// Called by the engine.
pub unsafe fn translate(
    ops: *const TranslatorOps,
    db: *mut Disassembly,
    cpu: *mut c_void,
    tb: *mut c_void,
    max: i32,
) {
    // SAFETY: the arguments are the engine's; our table is a copy of its own with two members replaced.
    unsafe {
        let Some(door) = super::door::door() else {
            return ffi::__real_translator_loop_x86_64(ops, db, cpu, tb, max);
        };
        // `TranslationBlock.pc` is its first member; `db` is not filled in yet.
        let pc = *tb.cast::<u64>();
        let mapping = match door.split() {
            Some((supervisor, _, space)) => supervisor.mapping_of(space.file_at(pc)),
            None => NO_MAPPING,
        };
        door.jumps.made(tb.cast());
        let translation = &mut door.translation;
        translation.original = Some(*ops);
        translation.tb = tb;
        translation.pc = pc;
        translation.at_start = true;
        translation.exits = 0;
        translation.in_atomic = false;
        translation.builder.begin(pc, mapping);
        let mut ours = *ops;
        ours.tb_start = tb_start;
        ours.translate_insn = translate_insn;
        ffi::__real_translator_loop_x86_64(&raw const ours, db, cpu, tb, max);
        if let Some(door) = super::door::door() {
            if !door.translation.verified {
                if let Err(why) = layout::verify_context(door.translation.context, door.parts.uc.cast()) {
                    door.leave(Leave::Broken(format!("this engine is not the one expected: {why}")));
                }
                door.translation.verified = true;
            }
            door.end_block(pc, (*db).pc_next.wrapping_sub(pc));
        }
    }
}
