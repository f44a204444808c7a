//! Functions of the engine that the tap calls or stands in front of. The engine's own headers define them; the
//! signatures are those of release 2.1.5, which Cargo.toml pins.

use std::ffi::c_void;

/// `TCGContext *`.
pub type Context = *mut u8;

/// `TCGv`: byte offset of a `TCGTemp` in its `TCGContext`.
pub type Value = usize;

/// `TCGOp`: the head with the opcode, the list links and the arguments.
#[repr(C)]
pub struct Op {
    head: u64,
    link: [usize; 2],
    /// Arguments of the operation.
    pub args: [usize; 10],
}

/// `DisasContextBase`.
#[repr(C)]
pub struct Disassembly {
    /// The block being made.
    pub tb: *mut c_void,
    /// Address of its first instruction.
    pub pc_first: u64,
    /// Address of the next instruction.
    pub pc_next: u64,
    /// `DisasJumpType`.
    pub is_jmp: i32,
    /// Instructions so far.
    pub num_insns: i32,
}

/// `DISAS_TOO_MANY`: the block ends before the next instruction.
pub const DISAS_TOO_MANY: i32 = 1;

/// A member of `TranslatorOps`.
pub type Translator = unsafe extern "C" fn(*mut Disassembly, *mut c_void);

/// `TranslatorOps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TranslatorOps {
    /// `init_disas_context`.
    pub init: Translator,
    /// `tb_start`.
    pub tb_start: Translator,
    /// `insn_start`.
    pub insn_start: Translator,
    /// `breakpoint_check`.
    pub breakpoint_check: *const c_void,
    /// `translate_insn`.
    pub translate_insn: Translator,
    /// `tb_stop`.
    pub tb_stop: Translator,
    /// `pc_sync`.
    pub pc_sync: Translator,
}

unsafe extern "C" {
    pub fn tcg_const_i64_x86_64(context: Context, value: i64) -> Value;
    pub fn tcg_const_i32_x86_64(context: Context, value: i32) -> Value;
    pub fn tcg_temp_new_internal_x86_64(context: Context, kind: i32, local: bool) -> *mut c_void;
    pub fn tcg_temp_free_internal_x86_64(context: Context, temp: *mut c_void);
    pub fn tcg_gen_op3_x86_64(context: Context, opcode: u32, a: usize, b: usize, c: usize);
    pub fn tcg_emit_op_x86_64(context: Context, opcode: u32) -> *mut Op;
    pub fn gen_new_label_x86_64(context: Context) -> *mut u32;
    pub fn tcg_gen_brcond_i64_x86_64(context: Context, condition: i32, a: Value, b: Value, label: *mut u32);
    pub fn tcg_gen_shri_i64_x86_64(context: Context, result: Value, a: Value, bits: i64);
    pub fn tcg_gen_andi_i64_x86_64(context: Context, result: Value, a: Value, mask: i64);
    pub fn tcg_gen_addi_i64_x86_64(context: Context, result: Value, a: Value, value: i64);
    pub fn tcg_gen_exit_tb_x86_64(context: Context, tb: *mut c_void, index: u32);
    pub fn tlb_flush_x86_64(cpu: *mut c_void);
    pub fn tlb_flush_page_x86_64(cpu: *mut c_void, addr: u64);
    pub fn tb_invalidate_phys_range_x86_64(uc: *mut c_void, start: u64, end: u64);

    pub fn __real_tcg_gen_qemu_ld_i32_x86_64(c: Context, value: Value, addr: Value, index: usize, op: u32);
    pub fn __real_tcg_gen_qemu_ld_i64_x86_64(c: Context, value: Value, addr: Value, index: usize, op: u32);
    pub fn __real_tcg_gen_qemu_st_i32_x86_64(c: Context, value: Value, addr: Value, index: usize, op: u32);
    pub fn __real_tcg_gen_qemu_st_i64_x86_64(c: Context, value: Value, addr: Value, index: usize, op: u32);
    pub fn __real_tcg_gen_callN_x86_64(
        c: Context,
        function: *const c_void,
        result: *mut c_void,
        count: i32,
        args: *mut *mut c_void,
    );
    pub fn __real_tcg_gen_op1_x86_64(context: Context, opcode: u32, a: usize);
    pub fn __real_tcg_gen_lookup_and_goto_ptr_x86_64(c: Context);
    pub fn __real_tcg_gen_goto_tb_x86_64(c: Context, index: u32);
    pub fn __real_translator_loop_x86_64(
        ops: *const TranslatorOps,
        db: *mut Disassembly,
        cpu: *mut c_void,
        tb: *mut c_void,
        max: i32,
    );
    pub fn __real_tlb_reset_dirty_by_vaddr_x86_64(cpu: *mut c_void, addr: u64, len: u64);
    pub fn __real_helper_check_exit_request_x86_64(uc: *mut c_void, in_delay_slot: u32);
    pub fn __real_helper_lookup_tb_ptr_x86_64(env: *mut c_void) -> *const c_void;
    pub fn __real_cpu_ldub_code_x86_64(env: *mut c_void, addr: u64) -> u32;
    pub fn __real_cpu_loop_exit_noexc_x86_64(cpu: *mut c_void) -> !;
}
