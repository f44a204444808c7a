//! Translation of a block from the engine's side: our operations in place of the engine's, and the
//! plan that the block gets.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::memory::space::AddressSpace;
use crate::emu::supervisor::Next;
use crate::emu::unicorn::ffi::{self, DISAS_NEXT, DISAS_TOO_MANY, Disassembly, TranslatorOps};
use crate::emu::unicorn::layout::Block;
use crate::emu::unicorn::run_control::Leave;
use crate::emu::unicorn::translator::{Decision, Unexpected};
use crate::emu::unicorn::vcpu::{Vcpu, current};
use crate::guest::PAGE_SIZE;
use crate::hooks::plan::{MappingId, NO_MAPPING};
use crate::hooks::record::MAX_BLOCK;
use crate::x86::decode::MAX_LENGTH;

/// Runs the engine's `translator_loop` with our own `tb_start` and `translate_insn`.
///
/// # Safety
/// Called by the engine, with its arguments.
pub(super) unsafe fn translate(
    ops: *const TranslatorOps,
    db: *mut Disassembly,
    cpu: *mut c_void,
    tb: *mut c_void,
    max: i32,
) {
    // SAFETY: the arguments are the engine's; our table is a copy of its own with two members
    // replaced.
    unsafe {
        let Some(vcpu) = current() else {
            return ffi::__real_translator_loop_x86_64(ops, db, cpu, tb, max);
        };
        // `TranslationBlock.pc` is its first member; `db` is not filled in yet.
        let pc = *tb.cast::<u64>();
        let mapping = match vcpu.supervised() {
            Some((supervisor, _, space)) => supervisor.mapping_of(space.file_at(pc)),
            None => NO_MAPPING,
        };
        vcpu.mmu.translating(tb.cast());
        let mode = (*tb.cast::<Block>()).flags;
        let is_whole = max as u64 == MAX_BLOCK;
        let may_grow = is_whole && vcpu.begins_superblock(pc, mapping);
        let counts = (vcpu.trace.counts_executions(), vcpu.inline(), may_grow);
        vcpu.translator.begin(*ops, tb, (pc, mode), (mapping, vcpu.trace.cursor()), counts);
        if let Some(supervisor) = vcpu.run.supervisor() {
            if supervisor.begins_counts(mapping, pc) {
                vcpu.translator.begin_counts();
            }
            if vcpu.trace.recorder().follows_calls() {
                let records_all = vcpu.trace.recorder().records_all_accesses();
                vcpu.translator.follow_calls(supervisor.code_place(mapping, pc), records_all);
            }
        }
        let mut ours = *ops;
        ours.tb_start = tb_start;
        ours.translate_insn = translate_insn;
        ours.tb_stop = tb_stop;
        ffi::__real_translator_loop_x86_64(&raw const ours, db, cpu, tb, max);
        if let Some(vcpu) = current() {
            if let Err(why) = vcpu.translator.verify_once(&vcpu.state) {
                vcpu.leave(Leave::Broken(format!("this engine is not the one expected: {why}")));
            }
            if vcpu.translator.emit_calls() {
                (*tb.cast::<Block>()).instructions += 1;
            }
            vcpu.end_block(pc, (*db).pc_next.wrapping_sub(pc), is_whole);
        }
    }
}

unsafe extern "C" fn tb_start(db: *mut Disassembly, cpu: *mut c_void) {
    // SAFETY: called by the engine inside `translator_loop`.
    unsafe {
        let Some(vcpu) = current() else { return };
        let Some(original) = vcpu.translator.original() else { return };
        (original.tb_start)(db, cpu);
        vcpu.translator.start_block();
    }
}

unsafe extern "C" fn translate_insn(db: *mut Disassembly, cpu: *mut c_void) {
    // SAFETY: as above; `db` is the translation's own, and the virtual CPU is not held across the
    // engine's function, which calls back.
    unsafe {
        let pc = (*db).pc_next;
        let Some(vcpu) = current() else { return };
        let Some(original) = vcpu.translator.original() else { return };
        let first = pc == vcpu.translator.block_pc();
        let (space, breakpoints) = (vcpu.mmu.space(), vcpu.run.breakpoints());
        let caches = vcpu.trace.recorder().inline_caches();
        match vcpu.translator.before_instruction(pc, first, space, breakpoints, caches) {
            Decision::EndBlock => {
                (*db).is_jmp = DISAS_TOO_MANY;
                return;
            }
            Decision::Translate(None) => {}
            Decision::Translate(Some(notice)) => {
                if let Some((supervisor, _, space)) = vcpu.supervised() {
                    supervisor.notice(pc, space.file_at(pc), notice);
                }
            }
        }
        vcpu.choose_way();
        (original.translate_insn)(db, cpu);
        if let Some(vcpu) = current() {
            vcpu.translator.end_guard();
        }
        let len = (*db).pc_next.wrapping_sub(pc);
        if let Some(vcpu) = current()
            && let Err(Unexpected) = vcpu.translator.after_instruction(pc, len, vcpu.mmu.space())
        {
            // The block does not run: its exit check comes first.
            vcpu.mmu.space().retranslate(pc);
            vcpu.leave(Leave::Approach);
        }
        if let Some(next) = current().and_then(|vcpu| vcpu.translator.go_on()) {
            ((*db).pc_first, (*db).pc_next, (*db).is_jmp) = (next, next, DISAS_NEXT);
        }
    }
}

unsafe extern "C" fn tb_stop(db: *mut Disassembly, cpu: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let Some(vcpu) = current() else { return };
        let Some(original) = vcpu.translator.original() else { return };
        vcpu.translator.stop();
        (original.tb_stop)(db, cpu);
        if let Some(vcpu) = current()
            && let Some(end) = vcpu.translator.stopped()
        {
            // The engine takes the size of the block from them.
            let start = vcpu.translator.block_pc();
            ((*db).pc_first, (*db).pc_next) = (start, end.max(start + 1));
        }
    }
}

impl Vcpu {
    /// Gives the translated block its plan, whose header generated code stores. Its length was not
    /// limited if it `is_whole`.
    fn end_block(&mut self, pc: u64, size: u64, is_whole: bool) {
        let plan = self.translator.take_plan();
        self.record_translation(plan.pc, plan.mapping);
        let recorder = self.trace.recorder();
        let density = recorder.plans.density();
        let id = recorder.plans.insert(plan);
        if let Some(reference) = &mut self.reference {
            reference.translated(pc, size, self.mmu.space(), id);
        }
        let (space, mut window) = (self.mmu.space(), Window::EMPTY);
        recorder.note_code(id, &mut |pc| window.code(space, pc));
        if !self.translator.end(id, &mut recorder.plans) && is_whole {
            recorder.translated_alone(id);
        }
        let Some(plan) = recorder.plans.get(id) else { return };
        self.times = plan.times();
        let bytes = recorder.plans.bytes();
        let is_denser = recorder.plans.density() != density;
        self.trace.add_plan();
        if is_denser && !self.trace.counts_executions() {
            // The next question may have to come earlier.
            self.reschedule();
            self.resume_trace();
        }
        if self.run.supervisor().is_some_and(|supervisor| supervisor.translated(bytes) == Next::Stop) {
            self.leave(Leave::Stop);
        }
    }

    /// Tests whether a block that is translated at `pc` is to become a superblock.
    fn begins_superblock(&mut self, pc: u64, mapping: MappingId) -> bool {
        let recorder = self.trace.recorder();
        let is_hot = recorder.successors().is_some_and(|successors| successors.is_hot(mapping, pc));
        is_hot
            && !(recorder.follows_calls() && self.translator.has_request_near(pc))
            && !self.mmu.space().is_writable(pc, 1)
    }

    /// Chooses where a superblock goes on after the instruction that is about to be translated.
    fn choose_way(&mut self) {
        let Vcpu { translator, trace, run, .. } = self;
        let mapping = translator.mapping();
        let successors = trace.recorder().successors();
        let usual = |start, ways| successors?.usual(mapping, start, ways);
        let from = translator.place();
        // For a call graph, only jumps that are no calls.
        let may_join = |target| match (from, run.supervisor()) {
            (Some(from), Some(supervisor)) => supervisor.code_place(mapping, target).is_within(&from),
            _ => true,
        };
        translator.choose_way(usual, may_join);
    }

    /// Drops the code of blocks that are to begin superblocks.
    pub(super) fn drop_hot(&mut self) {
        for (pc, mapping) in self.trace.recorder().take_hot() {
            let Some((supervisor, _, space)) = self.supervised() else { return };
            if supervisor.mapping_of(space.file_at(pc)) != mapping {
                continue;
            }
            if let Some(start) = space.code_at(pc) {
                self.state.drop_code(start, start + 1);
            }
        }
    }

    /// Shows the recorder the code of a block that is translated at `pc`.
    fn record_translation(&mut self, pc: u64, mapping: MappingId) {
        self.trace.sync();
        let space = self.mmu.space();
        let mut window = Window::EMPTY;
        self.trace.recorder().translated(pc, mapping, &mut |pc| window.code(space, pc));
    }
}

/// Bytes of code that are read at once.
const WINDOW: usize = 128;

/// The code of one page that was read last, as the next to be read is mostly near.
struct Window {
    start: u64,
    len: usize,
    bytes: [u8; WINDOW],
}

impl Window {
    /// A window with no code.
    const EMPTY: Window = Window { start: 0, len: 0, bytes: [0; WINDOW] };

    /// Reads up to `MAX_LENGTH` bytes of code at an address, and returns their number too.
    fn code(&mut self, space: &mut AddressSpace, pc: u64) -> ([u8; MAX_LENGTH], usize) {
        if let Some(code) = self.seen(pc) {
            return (code, MAX_LENGTH);
        }
        let in_page = (PAGE_SIZE - pc % PAGE_SIZE) as usize;
        if in_page >= MAX_LENGTH {
            self.start = pc;
            self.len = space.fetch(pc, &mut self.bytes[..in_page.min(WINDOW)]).len();
        }
        self.seen(pc).map_or_else(
            || {
                let mut code = [0; MAX_LENGTH];
                let len = space.fetch(pc, &mut code).len();
                (code, len)
            },
            |code| (code, MAX_LENGTH),
        )
    }

    /// The code at an address, if the window holds all of it.
    fn seen(&self, pc: u64) -> Option<[u8; MAX_LENGTH]> {
        let at = usize::try_from(pc.wrapping_sub(self.start)).ok()?;
        self.bytes[..self.len].get(at..)?.first_chunk().copied()
    }
}
