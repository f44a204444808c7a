//! Functions and structures of the engine, as release 2.1.5 declares them; Cargo.toml pins it.
#![allow(unsafe_code)]

use std::ffi::c_void;

/// `TCGContext *`.
pub(super) type Context = *mut u8;

/// `TCGv`: byte offset of a `TCGTemp` in its `TCGContext`.
pub(super) type Value = usize;

/// `TCGOp`: the opcode with its flags, the list links and the arguments.
#[repr(C)]
pub(super) struct Op {
    head: u64,
    /// The next operation of the block.
    next: *mut Op,
    link: usize,
    /// Arguments of the operation.
    pub(super) args: [usize; 10],
}

impl Op {
    /// Its opcode.
    pub(super) fn opcode(&self) -> u32 {
        u32::from(self.head as u8)
    }

    /// The next operation of the block, if there is one.
    pub(super) fn next(&self) -> Option<&Op> {
        // SAFETY: the engine keeps the operations of a block until it translates another.
        unsafe { self.next.as_ref() }
    }
}

/// `DisasContextBase`.
#[repr(C)]
pub(super) struct Disassembly {
    /// The block being made.
    pub(super) tb: *mut c_void,
    /// Address of its first instruction.
    pub(super) pc_first: u64,
    /// Address of the next instruction.
    pub(super) pc_next: u64,
    /// `DisasJumpType`.
    pub(super) is_jmp: i32,
    /// Number of instructions so far.
    pub(super) num_insns: i32,
}

/// `DISAS_NEXT`: the block goes on.
pub(super) const DISAS_NEXT: i32 = 0;

/// `DISAS_TOO_MANY`: the block ends before the next instruction.
pub(super) const DISAS_TOO_MANY: i32 = 1;

/// A member of `TranslatorOps`.
pub(super) type Translator = unsafe extern "C" fn(*mut Disassembly, *mut c_void);

/// `TranslatorOps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TranslatorOps {
    /// `init_disas_context`.
    pub(super) init: Translator,
    /// `tb_start`.
    pub(super) tb_start: Translator,
    /// `insn_start`.
    pub(super) insn_start: Translator,
    /// `breakpoint_check`.
    pub(super) breakpoint_check: *const c_void,
    /// `translate_insn`.
    pub(super) translate_insn: Translator,
    /// `tb_stop`.
    pub(super) tb_stop: Translator,
    /// `pc_sync`.
    pub(super) pc_sync: Translator,
}

/// `UC_CTL_WRITE(UC_CTL_TCG_BUFFER_SIZE, 1)`.
pub(super) const SET_TCG_BUFFER_SIZE: u32 = 13 | 1 << 26 | 1 << 30;

unsafe extern "C" {
    pub(super) fn free(pointer: *mut c_void);
    pub(super) fn uc_ctl(engine: *mut c_void, control: u32, ...) -> u32;
    pub(super) fn tcg_const_i64_x86_64(context: Context, value: i64) -> Value;
    pub(super) fn tcg_temp_new_internal_x86_64(context: Context, kind: i32, local: bool) -> *mut c_void;
    pub(super) fn tcg_temp_free_internal_x86_64(context: Context, temp: *mut c_void);
    pub(super) fn tcg_gen_op3_x86_64(context: Context, opcode: u32, a: usize, b: usize, c: usize);
    pub(super) fn tcg_emit_op_x86_64(context: Context, opcode: u32) -> *mut Op;
    pub(super) fn gen_new_label_x86_64(context: Context) -> *mut u32;
    pub(super) fn tcg_gen_brcond_i64_x86_64(
        context: Context,
        condition: i32,
        a: Value,
        b: Value,
        label: *mut u32,
    );
    pub(super) fn tcg_gen_shri_i64_x86_64(context: Context, result: Value, a: Value, bits: i64);
    pub(super) fn tcg_gen_shli_i64_x86_64(context: Context, result: Value, a: Value, bits: i64);
    pub(super) fn tcg_gen_sari_i64_x86_64(context: Context, result: Value, a: Value, bits: i64);
    pub(super) fn tcg_gen_movcond_i64_x86_64(
        context: Context,
        condition: i32,
        result: Value,
        a: Value,
        b: Value,
        then: Value,
        other: Value,
    );
    pub(super) fn tcg_gen_andi_i64_x86_64(context: Context, result: Value, a: Value, mask: i64);
    pub(super) fn tcg_gen_addi_i64_x86_64(context: Context, result: Value, a: Value, value: i64);
    pub(super) fn __real_tcg_gen_exit_tb_x86_64(context: Context, tb: *mut c_void, index: u32);
    pub(super) fn __real_tcg_gen_code_x86_64(context: Context, tb: *mut c_void) -> i32;
    pub(super) fn tlb_init_x86_64(cpu: *mut c_void);
    pub(super) fn tlb_flush_x86_64(cpu: *mut c_void);
    pub(super) fn tlb_flush_page_x86_64(cpu: *mut c_void, addr: u64);
    pub(super) fn tb_invalidate_phys_range_x86_64(uc: *mut c_void, start: u64, end: u64);

    pub(super) fn __real_tcg_gen_qemu_ld_i32_x86_64(
        c: Context,
        value: Value,
        addr: Value,
        index: usize,
        op: u32,
    );
    pub(super) fn __real_tcg_gen_qemu_ld_i64_x86_64(
        c: Context,
        value: Value,
        addr: Value,
        index: usize,
        op: u32,
    );
    pub(super) fn __real_tcg_gen_qemu_st_i32_x86_64(
        c: Context,
        value: Value,
        addr: Value,
        index: usize,
        op: u32,
    );
    pub(super) fn __real_tcg_gen_qemu_st_i64_x86_64(
        c: Context,
        value: Value,
        addr: Value,
        index: usize,
        op: u32,
    );
    pub(super) fn __real_tcg_gen_callN_x86_64(
        c: Context,
        function: *const c_void,
        result: *mut c_void,
        count: i32,
        args: *mut *mut c_void,
    );
    pub(super) fn __real_tcg_gen_op1_x86_64(context: Context, opcode: u32, a: usize);
    pub(super) fn __real_tcg_gen_lookup_and_goto_ptr_x86_64(c: Context);
    pub(super) fn __real_tcg_gen_goto_tb_x86_64(c: Context, index: u32);
    pub(super) fn __real_translator_loop_x86_64(
        ops: *const TranslatorOps,
        db: *mut Disassembly,
        cpu: *mut c_void,
        tb: *mut c_void,
        max: i32,
    );
    pub(super) fn __real_tlb_reset_dirty_by_vaddr_x86_64(cpu: *mut c_void, addr: u64, len: u64);
    pub(super) fn __real_tb_invalidate_phys_page_fast_x86_64(
        uc: *mut c_void,
        pages: *mut c_void,
        start: u64,
        len: i32,
        retaddr: usize,
    );
    pub(super) fn cpu_restore_state_x86_64(cpu: *mut c_void, retaddr: usize, will_exit: bool) -> bool;
    pub(super) fn __real_helper_lookup_tb_ptr_x86_64(env: *mut c_void) -> *const c_void;
    pub(super) fn __real_cpu_ldub_code_x86_64(env: *mut c_void, addr: u64) -> u32;
    pub(super) fn __real_cpu_loop_exit_noexc_x86_64(cpu: *mut c_void) -> !;
}
