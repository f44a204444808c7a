//! Functions of the engine's code generator and main loop that ours replace, and call in turn.
//!
//! The generators of memory accesses record each access; `tcg_gen_callN` sees the calls of helpers
//! that access memory on their own, and the exit checks; `translator_loop` is where a block begins
//! and ends. Linkers differ in whether they redirect references within one object too. The locked
//! operations use the plain generators inside their own object, so they switch the recording off
//! while they run.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::unicorn::emit::Emit;
use crate::emu::unicorn::ffi::{self, Context, Disassembly, TranslatorOps, Value};
use crate::emu::unicorn::layout::{Block, opcode};
use crate::emu::unicorn::translation;
use crate::emu::unicorn::translator::superblock::Exit;
use crate::emu::unicorn::vcpu::{current, targets};
use crate::emu::unicorn::wrapped::{real, replace};

macro_rules! accesses {
    ($($symbol:ident => $real:ident, $write:expr;)*) => { $(
        replace! {
            fn $symbol(c: Context, value: Value, addr: Value, index: usize, op: u32) {
                // SAFETY: the arguments go on to the engine as they came.
                unsafe {
                    let Some(vcpu) = current() else { return ffi::$real(c, value, addr, index, op) };
                    let Some(op) = vcpu.translator.access(c, (value, addr), (op, index), $write) else { return };
                    ffi::$real(c, value, addr, index, op);
                    if let Some(mut state) = vcpu.translator.accessed(c, index) {
                        let function = helper_enter_mmx_x86_64 as *const c_void;
                        ffi::__real_tcg_gen_callN_x86_64(c, function, std::ptr::null_mut(), 1, &raw mut state);
                    }
                }
            }
        }
    )* };
}

accesses! {
    tcg_gen_qemu_ld_i32 => __real_tcg_gen_qemu_ld_i32_x86_64, false;
    tcg_gen_qemu_ld_i64 => __real_tcg_gen_qemu_ld_i64_x86_64, false;
    tcg_gen_qemu_st_i32 => __real_tcg_gen_qemu_st_i32_x86_64, true;
    tcg_gen_qemu_st_i64 => __real_tcg_gen_qemu_st_i64_x86_64, true;
}

macro_rules! atomics {
    ($($symbol:ident($($arg:ident),*);)*) => { $(
        const _: () = {
            real!($symbol(c: Context, result: Value, addr: Value, $($arg: Value,)* index: usize, op: u32));
            replace! {
                fn $symbol(c: Context, result: Value, addr: Value, $($arg: Value,)* index: usize, op: u32) {
                    // SAFETY: the arguments go on to the engine as they came.
                    unsafe {
                        let outermost = current().is_some_and(|vcpu| vcpu.translator.begin_atomic(c, addr, op));
                        let op = current().map_or(op, |vcpu| vcpu.translator.aligned(op, true));
                        real(c, result, addr, $($arg,)* index, op);
                        if outermost && let Some(vcpu) = current() {
                            vcpu.translator.end_atomic();
                        }
                    }
                }
            }
        };
    )* };
}

atomics! {
    tcg_gen_atomic_cmpxchg_i32(compare, new);
    tcg_gen_atomic_cmpxchg_i64(compare, new);
    tcg_gen_atomic_xchg_i32(value);
    tcg_gen_atomic_xchg_i64(value);
    tcg_gen_atomic_fetch_add_i32(value);
    tcg_gen_atomic_fetch_add_i64(value);
    tcg_gen_atomic_fetch_and_i32(value);
    tcg_gen_atomic_fetch_and_i64(value);
    tcg_gen_atomic_fetch_or_i32(value);
    tcg_gen_atomic_fetch_or_i64(value);
    tcg_gen_atomic_fetch_xor_i32(value);
    tcg_gen_atomic_fetch_xor_i64(value);
    tcg_gen_atomic_add_fetch_i32(value);
    tcg_gen_atomic_add_fetch_i64(value);
    tcg_gen_atomic_and_fetch_i32(value);
    tcg_gen_atomic_and_fetch_i64(value);
    tcg_gen_atomic_or_fetch_i32(value);
    tcg_gen_atomic_or_fetch_i64(value);
    tcg_gen_atomic_xor_fetch_i32(value);
    tcg_gen_atomic_xor_fetch_i64(value);
}

macro_rules! helpers {
    ($($helper:ident: argument $argument:expr, $bytes:expr, $write:expr;)*) => {
        unsafe extern "C" { $(fn $helper();)* }

        /// The access of a helper that accesses guest memory itself: the index of the argument with
        /// the address, the size in bytes, and whether it stores.
        fn helper_access(function: *const c_void) -> Option<(usize, u16, bool)> {
            $(if std::ptr::eq(function, $helper as *const c_void) {
                return Some(($argument, $bytes, $write));
            })*
            None
        }
    };
}

helpers! {
    helper_fldt_ST0_x86_64: argument 1, 10, false;
    helper_fstt_ST0_x86_64: argument 1, 10, true;
    helper_fbld_ST0_x86_64: argument 1, 10, false;
    helper_fbst_ST0_x86_64: argument 1, 10, true;
    helper_fldenv_x86_64: argument 1, 28, false;
    helper_fstenv_x86_64: argument 1, 28, true;
    helper_fsave_x86_64: argument 1, 108, true;
    helper_frstor_x86_64: argument 1, 108, false;
    helper_fxsave_x86_64: argument 1, 512, true;
    helper_fxrstor_x86_64: argument 1, 512, false;
    helper_cmpxchg8b_x86_64: argument 1, 8, false;
    helper_cmpxchg8b_unlocked_x86_64: argument 1, 8, false;
    helper_cmpxchg16b_x86_64: argument 1, 16, false;
    helper_cmpxchg16b_unlocked_x86_64: argument 1, 16, false;
    helper_maskmov_xmm_x86_64: argument 3, 16, true;
    helper_maskmov_mmx_x86_64: argument 3, 8, true;
}

unsafe extern "C" {
    fn helper_enter_mmx_x86_64();
    fn helper_check_exit_request_x86_64();
    fn helper_single_step_x86_64();
    fn helper_cc_compute_all_x86_64();
    fn cpu_loop_exit_noexc_x86_64(cpu: *mut c_void) -> !;
}

macro_rules! in_place {
    ($($helper:ident)*) => {
        unsafe extern "C" { $(fn $helper();)* }

        /// Tests whether a helper stores parts of its destination before it has read all of its
        /// source, and so computes nonsense where both are one register.
        fn computes_in_place(function: *const c_void) -> bool {
            $(std::ptr::eq(function, $helper as *const c_void))||*
        }
    };
}

in_place! {
    helper_phaddw_mmx_x86_64 helper_phaddd_mmx_x86_64 helper_phaddsw_mmx_x86_64
    helper_phsubw_mmx_x86_64 helper_phsubd_mmx_x86_64 helper_phsubsw_mmx_x86_64
    helper_phaddw_xmm_x86_64 helper_phaddd_xmm_x86_64 helper_phaddsw_xmm_x86_64
    helper_phsubw_xmm_x86_64 helper_phsubd_xmm_x86_64 helper_phsubsw_xmm_x86_64
    helper_packusdw_xmm_x86_64
}

replace! {
    fn tcg_gen_callN(
        c: Context,
        function: *const c_void,
        result: *mut c_void,
        count: i32,
        args: *mut *mut c_void,
    ) {
        // SAFETY: the arguments are the engine's; the helpers listed have the named argument.
        unsafe {
            if let Some(vcpu) = current() {
                let translator = &mut vcpu.translator;
                if std::ptr::eq(function, helper_check_exit_request_x86_64 as *const c_void) {
                    let at_breakpoint = vcpu.run.breakpoints().contains(&translator.block_pc());
                    let reached = at_breakpoint.then(|| vcpu.run.reached_word());
                    translator.exit_check(c, reached);
                    return;
                }
                if std::ptr::eq(function, helper_single_step_x86_64 as *const c_void) {
                    translator.leaving();
                }
                if std::ptr::eq(function, helper_enter_mmx_x86_64 as *const c_void) && translator.delays_mmx(*args) {
                    return;
                }
                if std::ptr::eq(function, helper_cc_compute_all_x86_64 as *const c_void)
                    && translator.records_flags()
                {
                    ffi::__real_tcg_gen_callN_x86_64(c, function, result, count, args);
                    Emit(c).set_flags_computed();
                    return;
                }
                if let Some((argument, bytes, write)) = helper_access(function) {
                    translator.check_helper(c, *args, *args.add(argument));
                    translator.tap_sized(*args.add(argument) as usize, bytes, write);
                }
                if count > 0 {
                    translator.note_state(*args);
                }
                if count > 0 && translator.guard.begins_at(*args) {
                    translator.guard.before(c, *args);
                    ffi::__real_tcg_gen_callN_x86_64(c, function, result, count, args);
                    translator.guard.after_call(c);
                    return;
                }
                if computes_in_place(function) && translator.is_one_register() {
                    // The arguments are the CPU, the destination and the source.
                    let source = translator.copy_operand(c, *args.add(2) as usize);
                    let mut apart = [*args, *args.add(1), source as *mut c_void];
                    ffi::__real_tcg_gen_callN_x86_64(c, function, result, count, apart.as_mut_ptr());
                    return;
                }
            }
            ffi::__real_tcg_gen_callN_x86_64(c, function, result, count, args);
        }
    }
}

/// Asks at the start of a block of as many instructions as ESI says, where generated code found the
/// cursor beyond its limit. The engine's function finds the block by its return address, so it is
/// jumped to; its second argument says that there is no delay slot.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn exit_check() {
    std::arch::naked_asm!(
        "push rsi",
        "mov edi, esi",
        "call {ask}",
        "pop rsi",
        "mov rdi, rax",
        "xor esi, esi",
        "jmp {real}",
        ask = sym ask,
        real = sym helper_check_exit_request_x86_64,
    )
}

/// Asks, and returns the engine.
unsafe extern "C" fn ask(instructions: u32) -> *mut c_void {
    // SAFETY: called from generated code, inside the run.
    match unsafe { current() } {
        Some(vcpu) => {
            vcpu.ask(instructions.into());
            vcpu.state.engine()
        }
        None => std::process::abort(),
    }
}

replace! {
    fn translator_loop(
        ops: *const TranslatorOps,
        db: *mut Disassembly,
        cpu: *mut c_void,
        tb: *mut c_void,
        max: i32,
    ) {
        // SAFETY: the arguments are the engine's.
        unsafe { translation::translate(ops, db, cpu, tb, max) }
    }
}

replace! {
    /// Leaves the operations of a block as they are: folding constants and copies takes a tenth of
    /// the time of a translation, and its code is no faster for it.
    fn tcg_optimize(_context: Context) {}
}

replace! {
    /// Shows the engine an undefined opcode in place of instructions that it is not to run.
    fn cpu_ldub_code(env: *mut c_void, addr: u64) -> u32 {
        // SAFETY: the arguments are the engine's.
        unsafe {
            if let Some(byte) = current().and_then(|vcpu| vcpu.translator.replaced_byte(addr)) {
                return byte;
            }
            // The engine may find an instruction shorter than it is.
            if let Some(beyond) = current().and_then(|vcpu| vcpu.translator.beyond(addr)) {
                ffi::__real_cpu_ldub_code_x86_64(env, beyond);
            }
            ffi::__real_cpu_ldub_code_x86_64(env, addr)
        }
    }
}

replace! {
    /// Spares the engine the walk of its whole TLB for writable entries of a page to be translated.
    /// There are none if the page is not writable: other mappings of its frame lost theirs when it
    /// became executable.
    fn tlb_reset_dirty_by_vaddr(cpu: *mut c_void, addr: u64, len: u64) {
        // SAFETY: the arguments are the engine's.
        unsafe {
            if let Some(vcpu) = current() {
                if !vcpu.mmu.space().is_writable(addr, len) {
                    return;
                }
                vcpu.mmu.forget_lines();
            }
            let placed = current().is_some_and(|vcpu| vcpu.mmu.place_lines(false));
            ffi::__real_tlb_reset_dirty_by_vaddr_x86_64(cpu, addr, len);
            if let Some(vcpu) = current().filter(|_| placed) {
                vcpu.mmu.place_lines(true);
            }
        }
    }
}

replace! {
    /// Sees labels, and the discarding of what the engine knew of the flags; both have one
    /// argument.
    fn tcg_gen_op1(c: Context, operation: u32, argument: usize) {
        // SAFETY: the arguments are the engine's.
        unsafe {
            ffi::__real_tcg_gen_op1_x86_64(c, operation, argument);
            let Some(vcpu) = current() else { return };
            match operation {
                opcode::SET_LABEL => vcpu.translator.placed_label(),
                opcode::DISCARD if vcpu.translator.records_flags() => Emit(c).set_flags_computed(),
                _ => {}
            }
        }
    }
}

replace! {
    fn tcg_gen_goto_tb(c: Context, index: u32) {
        // SAFETY: the arguments are the engine's.
        unsafe {
            if let Some(vcpu) = current() {
                vcpu.translator.leaving();
                match vcpu.translator.begin_exit(true) {
                    Some(Exit::Chained(index)) => return ffi::__real_tcg_gen_goto_tb_x86_64(c, index),
                    Some(_) => return,
                    None => vcpu.translator.note_exit(index),
                }
            }
            ffi::__real_tcg_gen_goto_tb_x86_64(c, index);
        }
    }
}

replace! {
    /// Sees the exits that lead to no block, as those of LOOP, and those inside of a superblock.
    fn tcg_gen_exit_tb(c: Context, tb: *mut c_void, index: u32) {
        // SAFETY: the arguments are the engine's.
        unsafe {
            if let Some(vcpu) = current().filter(|_| tb.is_null()) {
                vcpu.translator.leaving();
            }
            if emit_exit(c, tb) {
                return;
            }
            ffi::__real_tcg_gen_exit_tb_x86_64(c, tb, index);
        }
    }
}

replace! {
    /// Generates the code of a block, and changes it.
    fn tcg_gen_code(c: Context, tb: *mut c_void) -> i32 {
        // SAFETY: the arguments are the engine's; the code is of as many bytes as it says.
        unsafe {
            let size = ffi::__real_tcg_gen_code_x86_64(c, tb);
            if let (Ok(size), Some(vcpu)) = (usize::try_from(size), current()) {
                vcpu.change_code((*tb.cast::<Block>()).code.cast_mut().cast(), size);
            }
            size
        }
    }
}

replace! {
    fn tcg_gen_lookup_and_goto_ptr(c: Context) {
        // SAFETY: a chained exit is what the engine itself emits for a jump within the page; it
        // ends with one of the two jumps on either side of the label.
        unsafe {
            if let Some(vcpu) = current() {
                vcpu.translator.leaving();
                if vcpu.translator.begin_exit(false).is_some() && emit_exit(c, std::ptr::null_mut()) {
                    return;
                }
            }
            if let Some(vcpu) = current()
                && let Some((tb, index)) = vcpu.translator.cross_page_exit()
            {
                let (tag, refused, way) = vcpu.mmu.add_way(tb, index);
                let label = Emit(c).skip_unless_equal(tag, &raw const (*way).tag);
                ffi::__real_tcg_gen_goto_tb_x86_64(c, index);
                ffi::__real_tcg_gen_exit_tb_x86_64(c, tb, index);
                Emit(c).place(label);
                Emit(c).store_constant(way as u64, refused as u64);
            } else if emit_jump(c) {
                return;
            }
            ffi::__real_tcg_gen_lookup_and_goto_ptr_x86_64(c);
        }
    }
}

/// Emits a jump to the block at RIP by the table of jumps. Returns false if that cannot be.
///
/// # Safety
/// A block is being translated in this context.
unsafe fn emit_jump(c: Context) -> bool {
    // SAFETY: the caller's.
    let Some(vcpu) = (unsafe { current() }) else { return false };
    let Some(mode) = vcpu.translator.mode() else { return false };
    let Some(table) = vcpu.mmu.jumps().table(mode) else { return false };
    vcpu.translator.jump_by_table(Emit(c), table);
    true
}

/// Emits the exit of a superblock that has begun. Returns false if none has.
///
/// # Safety
/// As for [`emit_jump`], of the block `tb`.
unsafe fn emit_exit(c: Context, tb: *mut c_void) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let Some(vcpu) = current() else { return false };
        match vcpu.translator.take_exit() {
            None => return false,
            Some(Exit::Inside(label)) => label.into_iter().for_each(|label| Emit(c).go(label)),
            Some(Exit::Chained(index)) => ffi::__real_tcg_gen_exit_tb_x86_64(c, tb, index),
            Some(Exit::Table) if emit_jump(c) => {}
            Some(Exit::Table) => ffi::__real_tcg_gen_lookup_and_goto_ptr_x86_64(c),
        }
        true
    }
}

replace! {
    /// Drops the blocks that a store overwrites. One that permission for the store has dropped
    /// already may be running: the instruction begins again in a block of its own, as the engine
    /// has it do after any other store to its block.
    fn tb_invalidate_phys_page_fast(
        uc: *mut c_void,
        pages: *mut c_void,
        start: u64,
        len: i32,
        retaddr: usize,
    ) {
        /// The engine tests for code in words of 64 bits, a byte each, and never in two of them.
        const TOGETHER: u64 = 64;
        // SAFETY: the arguments are the engine's; it holds nothing that the jump out of here drops.
        unsafe {
            if let Some(vcpu) = current()
                && vcpu.mmu.take_dropped()
            {
                vcpu.state.restore_registers(retaddr);
                vcpu.trace.sync();
                let start = vcpu.run.begun_again(vcpu.state.rip());
                if !start.is_some_and(|start| vcpu.trace.recorder().is_last(start)) {
                    vcpu.state.limit_next_block(1);
                    cpu_loop_exit_noexc_x86_64(vcpu.state.cpu())
                }
            }
            let first = (TOGETHER - start % TOGETHER).min(len as u64);
            ffi::__real_tb_invalidate_phys_page_fast_x86_64(uc, pages, start, first as i32, retaddr);
            let rest = len - first as i32;
            if rest > 0 {
                ffi::__real_tb_invalidate_phys_page_fast_x86_64(uc, pages, start + first, rest, retaddr);
            }
        }
    }
}

replace! {
    /// Cuts the record of a block that has overwritten itself. The engine leaves it there, and goes
    /// on at the instruction that did it in a new block.
    fn cpu_loop_exit_noexc(cpu: *mut c_void) -> ! {
        // SAFETY: the registers are restored to that instruction before the call.
        unsafe {
            if let Some(vcpu) = current() {
                vcpu.trace.sync();
                let pc = vcpu.state.rip();
                vcpu.trace.recorder().cut(pc);
                vcpu.run.begin_again(pc, vcpu.trace.recorder().position());
                vcpu.resume_trace();
            }
            ffi::__real_cpu_loop_exit_noexc_x86_64(cpu)
        }
    }
}

/// Takes a block that is dropped, and so leaves the engine's hash table, out of the table of jumps.
///
/// # Safety
/// Called by the engine, with its own arguments.
#[unsafe(export_name = "__wrap_qht_remove")]
unsafe extern "C" fn qht_remove(table: *mut c_void, block: *const Block, hash: u32) -> bool {
    unsafe extern "C" {
        #[link_name = "__real_qht_remove"]
        fn real(table: *mut c_void, block: *const Block, hash: u32) -> bool;
    }
    // SAFETY: the arguments are the engine's, whose hash table has nothing but blocks.
    unsafe {
        if let Some(targets) = targets() {
            targets.dropped(&*block);
        }
        real(table, block, hash)
    }
}

/// Jumps to the block that [`helper_lookup_tb_ptr`] finds, where the table of generated code has
/// not found it. RBP has the engine's state, as in all generated code.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn look_up() {
    std::arch::naked_asm!("mov rdi, rbp", "call {find}", "jmp rax", find = sym helper_lookup_tb_ptr)
}

replace! {
    /// Finds the code of the block that the CPU goes on with, or the way out if there is none yet.
    fn helper_lookup_tb_ptr(env: *mut c_void) -> *const c_void {
        // SAFETY: called from generated code, inside the run; the argument is the engine's.
        unsafe {
            let Some(vcpu) = current() else { return ffi::__real_helper_lookup_tb_ptr_x86_64(env) };
            let (pc, mode) = (vcpu.state.rip(), vcpu.state.block_mode());
            let code = match vcpu.mmu.jumps().find(pc, mode) {
                Some(code) => code,
                None => {
                    let code = ffi::__real_helper_lookup_tb_ptr_x86_64(env);
                    vcpu.mmu.jumps().insert(pc, code);
                    code
                }
            };
            vcpu.mmu.confirm_way(code);
            code
        }
    }
}
