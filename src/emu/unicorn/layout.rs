//! Layout of the pinned engine's structures. `EngineState` checks that of the CPU at start,
//! `verify_context` that of the code generator when the first block is translated.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::emu::unicorn::ffi::{Context, Value};
use crate::guest::Gpr;

/// Opcodes of TCG operations on an x86-64 host.
pub(super) mod opcode {
    pub(crate) const DISCARD: u32 = 0;
    pub(crate) const SET_LABEL: u32 = 1;
    pub(crate) const BR: u32 = 3;
    pub(crate) const MOVI_I32: u32 = 6;
    pub(crate) const MOVI_I64: u32 = 64;
    pub(crate) const LD8U_I64: u32 = 67;
    pub(crate) const LD32U_I64: u32 = 71;
    pub(crate) const LD_I64: u32 = 73;
    pub(crate) const ST8_I64: u32 = 74;
    pub(crate) const ST32_I64: u32 = 76;
    pub(crate) const ST_I64: u32 = 77;
    pub(crate) const ADD_I64: u32 = 78;
    pub(crate) const OR_I64: u32 = 88;
    pub(crate) const BRCOND_I64: u32 = 103;
    pub(crate) const INSN_START: u32 = 129;
    pub(crate) const GOTO_PTR: u32 = 132;
    pub(crate) const QEMU_LD_I32: u32 = 133;
    pub(crate) const QEMU_ST_I64: u32 = 136;
}

/// `TCG_TYPE_I64`.
pub(super) const TYPE_I64: i32 = 1;

/// `TCG_COND_EQ` and `TCG_COND_NE`.
pub(super) const COND_EQ: i32 = 8;
pub(super) const COND_NE: i32 = 9;

/// Offsets in `TCGContext`.
const CONTEXT_OP_DEFS: usize = 39272;
const CONTEXT_UC: usize = 39280;
const CONTEXT_CC_OP: usize = 39312;
const CONTEXT_REGS: usize = 39320;

/// `CC_OP_EFLAGS`: `cc_src` holds all flags.
pub(super) const CC_OP_EFLAGS: usize = 1;
/// `CC_OP_DYNAMIC`: the CPU's state tells.
pub(super) const CC_OP_DYNAMIC: usize = 0;

/// Offsets in `TCGTemp`: the value that it lies beside in memory, and its name; and the size of an
/// operation's definition.
const TEMP_BASE: usize = 16;
const TEMP_NAME: usize = 32;
const OP_DEF_SIZE: usize = 32;

/// Offsets in `uc_struct`, `CPUState` and `CPUX86State`.
pub(super) const UC_CPU: usize = 440;
pub(super) const UC_INVALID_ADDR: usize = 1416;
/// `uc_struct.qemu_real_host_page_size`, and `qemu_icache_linesize`, which blocks of generated code
/// and what the engine keeps of them are aligned to.
pub(super) const UC_HOST_PAGE_SIZE: usize = 2000;
pub(super) const UC_ICACHE_LINE_SIZE: usize = 2008;
pub(super) const CPU_ENV: usize = 296;
/// `CPUState.cflags_next_tb`, and the value that leaves the next block's length free.
pub(super) const CPU_NEXT_BLOCK: usize = 24;
pub(super) const ANY_BLOCK: u32 = u32::MAX;
/// `CPUState.cc` and `CPUClass.do_unaligned_access`.
pub(super) const CPU_CLASS: usize = 33200;
pub(super) const CLASS_UNALIGNED: usize = 24;
/// `CPUX86State.eip`.
pub(super) const ENV_EIP: usize = 128;
/// `CPUX86State.segs`, and the size and base of one.
pub(super) const ENV_SEGS: usize = 184;
pub(super) const SEGMENT_SIZE: usize = 24;
pub(super) const SEGMENT_BASE: usize = 8;
/// `CPUX86State.cc_src`: the flags themselves, after instructions that compute all of them.
pub(super) const ENV_CC_SRC: usize = 152;
/// `CPUX86State.fpstt`: the top of the x87 stack.
pub(super) const ENV_FPSTT: usize = 604;
/// `CPUX86State.fpus`: the x87 status word, without the top.
pub(super) const ENV_FPUS: usize = 608;
/// `CPUX86State.fpuc`: the x87 control word.
pub(super) const ENV_FPUC: usize = 610;
/// `CPUX86State.fptags`: a byte per x87 register, 1 if it is empty.
pub(super) const ENV_FPTAGS: usize = 612;
/// `CPUX86State.fpregs`: sixteen bytes per x87 register.
pub(super) const ENV_FPREGS: usize = 624;
/// `CPUX86State.fp_status`: `float_status` of the x87.
pub(super) const ENV_FP_STATUS: usize = 776;
/// `CPUX86State.ft0`: the operand of an x87 instruction that is not on the stack.
pub(super) const ENV_FT0: usize = 784;
/// `CPUX86State.sse_status`: `float_status` of SSE.
pub(super) const ENV_SSE_STATUS: usize = 808;
/// `CPUX86State.mxcsr`.
pub(super) const ENV_MXCSR: usize = 816;
/// `CPUX86State.xmm_regs`, and the size of one register.
pub(super) const ENV_XMM: usize = 824;
pub(super) const XMM_SIZE: usize = 64;

/// `CPUX86State.old_exception`, -1 while no exception is in flight.
pub(super) const ENV_OLD_EXCEPTION: usize = 0x1578;

/// `CPUX86State.eflags` and `hflags`, which hold the CPU mode that a block is translated for.
pub(super) const ENV_EFLAGS: usize = 136;
pub(super) const ENV_HFLAGS: usize = 176;
/// Bits of `hflags` that the engine leaves alone: exceptions of SSE, and of the x87, that are not
/// masked.
pub(super) const SSE_UNMASKED: u32 = 1 << 27;
pub(super) const X87_UNMASKED: u32 = 1 << 28;
/// Bits of EFLAGS that belong to the mode: TF, IOPL, RF, VM and AC (`cpu_get_tb_cpu_state`).
pub(super) const MODE_FLAGS: u32 = 0x7_3100;
/// CF, PF, AF, ZF, SF, DF and OF.
pub(super) const COPIED_FLAGS: u32 = 0xcd5;

/// The first members of `TranslationBlock`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Address of its first instruction.
    pub(super) pc: u64,
    cs_base: u64,
    /// The CPU mode it was translated for.
    pub(super) flags: u32,
    size: u16,
    /// Instructions whose places the engine keeps, to find one by an address in generated code.
    pub(super) instructions: u16,
    /// Options of its translation, and [`CF_INVALID`].
    pub(super) cflags: u32,
    trace: u32,
    /// `tc.ptr`: its generated code.
    pub(super) code: *const c_void,
}

/// `TranslationBlock.jmp_dest`: the blocks that its exits are chained to.
const BLOCK_CHAINED: usize = 136;

/// The code that a chained exit of a block leads to; `None` if it is not chained.
///
/// # Safety
/// The block exists, and has an exit with this index, 0 or 1.
pub(super) unsafe fn chained(block: *const Block, index: usize) -> Option<*const c_void> {
    // SAFETY: the caller's. The lowest bit of the pointer is a mark of the engine's; a block that
    // is chained to exists, since the engine undoes chains to blocks that it drops.
    unsafe {
        let word = *block.cast::<u8>().add(BLOCK_CHAINED).cast::<usize>().add(index);
        ((word & !1) as *const Block).as_ref().map(|block| block.code)
    }
}

/// Bit of `TranslationBlock.cflags` that says that the block was dropped.
pub(super) const CF_INVALID: u32 = 0x4_0000;

/// `CPUClass.do_unaligned_access`: the CPU, the address, the kind of access, the index of the TLB
/// and the return address in generated code.
pub(super) type Unaligned = unsafe extern "C" fn(*mut c_void, u64, i32, i32, usize);

/// The engine that a context belongs to.
///
/// # Safety
/// `context` is live.
pub(super) unsafe fn context_uc(context: Context) -> *mut c_void {
    // SAFETY: the member is there; `verify_context` has checked it.
    unsafe { *context.add(CONTEXT_UC).cast::<*mut c_void>() }
}

/// The TCG value that holds a general register, by its number in instruction encodings.
///
/// # Safety
/// `context` is live.
pub(super) unsafe fn context_gpr(context: Context, number: usize) -> Value {
    // SAFETY: `cpu_regs` has room for 56 values; `verify_context` has checked the name of one.
    unsafe { *context.add(CONTEXT_REGS).cast::<Value>().add(number) }
}

/// The TCG temporary of the CPU's state, `cpu_env`.
///
/// # Safety
/// `context` is live.
pub(super) unsafe fn context_env(context: Context) -> usize {
    // SAFETY: a register is a global in memory at the state; `verify_context` has checked the name
    // of what this leads to.
    unsafe { *context.add(context_gpr(context, 0) + TEMP_BASE).cast::<usize>() }
}

/// The TCG value of `cc_op`, the rule by which the flags are computed.
///
/// # Safety
/// `context` is live.
pub(super) unsafe fn context_cc_op(context: Context) -> Value {
    // SAFETY: the member is there; `verify_context` has checked the name of the value.
    unsafe { *context.add(CONTEXT_CC_OP).cast::<Value>() }
}

/// Checks a context against this file: the names of the operations that we emit, of RSP, of `cc_op`
/// and of the state.
///
/// # Errors
/// A description of the first difference.
///
/// # Safety
/// `context` is a live `TCGContext` of the engine `uc`.
pub(super) unsafe fn verify_context(context: Context, uc: *mut c_void) -> Result<(), String> {
    // SAFETY: all reads stay within the context and the tables it points to, whose strings are
    // constants.
    unsafe {
        if context_uc(context) != uc {
            return Err("the engine is not where TCGContext.uc should be".into());
        }
        let definitions = *context.add(CONTEXT_OP_DEFS).cast::<*const u8>();
        for (number, name) in [
            (opcode::DISCARD, c"discard"),
            (opcode::SET_LABEL, c"set_label"),
            (opcode::BR, c"br"),
            (opcode::MOVI_I32, c"movi_i32"),
            (opcode::MOVI_I64, c"movi_i64"),
            (opcode::LD8U_I64, c"ld8u_i64"),
            (opcode::LD32U_I64, c"ld32u_i64"),
            (opcode::LD_I64, c"ld_i64"),
            (opcode::ST8_I64, c"st8_i64"),
            (opcode::ST32_I64, c"st32_i64"),
            (opcode::ST_I64, c"st_i64"),
            (opcode::ADD_I64, c"add_i64"),
            (opcode::OR_I64, c"or_i64"),
            (opcode::BRCOND_I64, c"brcond_i64"),
            (opcode::INSN_START, c"insn_start"),
            (opcode::GOTO_PTR, c"goto_ptr"),
            (opcode::QEMU_LD_I32, c"qemu_ld_i32"),
            (opcode::QEMU_ST_I64, c"qemu_st_i64"),
        ] {
            let entry = definitions.add(number as usize * OP_DEF_SIZE).cast::<*const c_char>();
            if CStr::from_ptr(*entry) != name {
                return Err(format!("operation {number} is not {name:?}"));
            }
        }
        let (rsp, cc_op) = (context_gpr(context, Gpr::Rsp as usize), context_cc_op(context));
        let env = context_env(context).wrapping_sub(context as usize);
        for (value, expected) in [(rsp, c"rsp"), (cc_op, c"cc_op"), (env, c"env")] {
            let name = *context.add(value + TEMP_NAME).cast::<*const c_char>();
            if name.is_null() || CStr::from_ptr(name) != expected {
                return Err(format!("the value of {expected:?} is not where TCGContext should have it"));
            }
        }
    }
    Ok(())
}
