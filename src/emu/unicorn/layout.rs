//! Where things lie inside the pinned engine, and the check at start-up that they do.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::emu::unicorn::ffi::{Context, Value};
use crate::emu::unicorn::helpers::env::Env;
use crate::guest::Gpr;

/// Opcodes of TCG operations on an x86-64 host.
pub mod opcode {
    pub const DISCARD: u32 = 0;
    pub const SET_LABEL: u32 = 1;
    pub const MOVI_I32: u32 = 6;
    pub const MOVI_I64: u32 = 64;
    pub const LD_I64: u32 = 73;
    pub const ST_I64: u32 = 77;
    pub const ADD_I64: u32 = 78;
    pub const OR_I64: u32 = 88;
}

/// `TCG_TYPE_I64`.
pub const TYPE_I64: i32 = 1;

/// `TCG_COND_LEU`.
pub const COND_LEU: i32 = 12;

/// Offsets in `TCGContext`.
const CONTEXT_OP_DEFS: usize = 39272;
const CONTEXT_UC: usize = 39280;
const CONTEXT_CC_OP: usize = 39312;
const CONTEXT_REGS: usize = 39320;

/// `CC_OP_EFLAGS`: all flags are in `cc_src`.
pub const CC_OP_EFLAGS: usize = 1;

/// Offset of the name in `TCGTemp`, and the size of an operation's definition.
const TEMP_NAME: usize = 32;
const OP_DEF_SIZE: usize = 32;

/// Offsets in `uc_struct`, `CPUState` and `CPUX86State`.
const UC_CPU: usize = 440;
const UC_INVALID_ADDR: usize = 1416;
const CPU_ENV: usize = 296;
/// `CPUState.cflags_next_tb`, and its value when nobody has asked for anything.
const CPU_NEXT_BLOCK: usize = 24;
const ANY_BLOCK: u32 = u32::MAX;
/// `CPUState.cc` and `CPUClass.do_unaligned_access`.
const CPU_CLASS: usize = 33200;
const CLASS_UNALIGNED: usize = 24;
/// `CPUX86State.eip`.
pub const ENV_EIP: usize = 128;
/// `CPUX86State.segs`, and the size and base of one.
const ENV_SEGS: usize = 184;
const SEGMENT_SIZE: usize = 24;
const SEGMENT_BASE: usize = 8;
/// `CPUX86State.cc_src`: the flags themselves, after instructions that compute all of them.
pub const ENV_CC_SRC: usize = 152;
/// `CPUX86State.fpstt`, `fpus`, `fpuc`, `fptags` and `fpregs`.
pub const ENV_FPSTT: usize = 604;
/// See [`ENV_FPSTT`].
pub const ENV_FPUS: usize = 608;
/// See [`ENV_FPSTT`].
pub const ENV_FPUC: usize = 610;
/// See [`ENV_FPSTT`].
pub const ENV_FPTAGS: usize = 612;
/// See [`ENV_FPSTT`].
pub const ENV_FPREGS: usize = 624;
/// `CPUX86State.fp_status` and `sse_status`.
pub const ENV_FP_STATUS: usize = 776;
/// See [`ENV_FP_STATUS`].
pub const ENV_SSE_STATUS: usize = 808;
/// `CPUX86State.mxcsr`.
pub const ENV_MXCSR: usize = 816;
/// `CPUX86State.xmm_regs`, and the size of one.
pub const ENV_XMM: usize = 824;
/// See [`ENV_XMM`].
pub const XMM_SIZE: usize = 64;

/// `CPUX86State.old_exception`, -1 while no exception is in flight.
const ENV_OLD_EXCEPTION: usize = 0x1578;

/// `CPUX86State.eflags` and `hflags`: the mode of the CPU that a block is made for.
const ENV_EFLAGS: usize = 136;
const ENV_HFLAGS: usize = 176;
/// The bits of EFLAGS that belong to it: TF, IOPL, RF, VM and AC (`cpu_get_tb_cpu_state`).
const MODE_FLAGS: u32 = 0x7_3100;
/// CF, PF, AF, ZF, SF, DF and OF.
const SHOWN_FLAGS: u32 = 0xcd5;

/// `TranslationBlock`, as far as it is of use.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Address of its first instruction.
    pub pc: u64,
    cs_base: u64,
    /// The mode it was made for.
    pub flags: u32,
    sizes: u32,
    /// How it was made, and whether it was given up.
    pub cflags: u32,
    trace: u32,
    /// `tc.ptr`: its code.
    pub code: *const c_void,
}

/// In `TranslationBlock.cflags`: the block was given up.
pub const CF_INVALID: u32 = 0x4_0000;

/// Index of FS and GS among the segment registers.
pub const FS: usize = 4;
/// See [`FS`].
pub const GS: usize = 5;

/// `CPUClass.do_unaligned_access`: the CPU, the address, the kind of access, the index of the TLB, and the place in
/// the generated code.
pub type Unaligned = unsafe extern "C" fn(*mut c_void, u64, i32, i32, usize);

/// Pointers to the engine's parts.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// `uc_struct`.
    pub uc: *mut u8,
    /// `CPUState`.
    pub cpu: *mut c_void,
    /// `CPUX86State`.
    pub env: *mut u8,
}

/// Finds the parts of an engine.
///
/// # Safety
/// `uc` is a live engine of the pinned release.
pub unsafe fn parts(uc: *mut c_void) -> Parts {
    let uc = uc.cast::<u8>();
    // SAFETY: the caller's engine has these members at these offsets; `verify` compares what they lead to with the
    // engine's own answers before anything relies on it.
    unsafe {
        let cpu = *uc.add(UC_CPU).cast::<*mut c_void>();
        let env = *cpu.cast::<u8>().add(CPU_ENV).cast::<*mut u8>();
        Parts { uc, cpu, env }
    }
}

impl Parts {
    /// The address of the last access that the page tables refused.
    pub fn invalid_address(&self) -> u64 {
        // SAFETY: `uc` is live as long as the engine that holds this value.
        unsafe { *self.uc.add(UC_INVALID_ADDR).cast::<u64>() }
    }

    fn word(&self, offset: usize) -> *mut u64 {
        // SAFETY: every offset used here lies within `CPUX86State`.
        unsafe { self.env.add(offset).cast() }
    }

    /// A general register. Right wherever the engine has stored its registers: in hooks and between runs.
    pub fn gpr(&self, reg: Gpr) -> u64 {
        // SAFETY: `regs` is the first member, sixteen words long.
        unsafe { *self.word(8 * reg as usize) }
    }

    /// Sets a general register.
    pub fn set_gpr(&mut self, reg: Gpr, value: u64) {
        // SAFETY: as in `gpr`.
        unsafe { *self.word(8 * reg as usize) = value }
    }

    /// The exception that came last has been delivered. The engine clears this only when it delivers one itself;
    /// left in place, the next divide or protection fault would count as nested in it and become a double fault.
    pub fn forget_exception(&mut self) {
        // SAFETY: the member is a C `int` that the engine reads when it raises an exception, and not between runs.
        unsafe { *self.env.add(ENV_OLD_EXCEPTION).cast::<i32>() = -1 }
    }

    /// The block that the CPU runs next has so many instructions at most; it is made anew if there is none yet that
    /// was made for this limit.
    pub fn limit_next_block(&mut self, instructions: u32) {
        // SAFETY: the member lies within `CPUState`, and the engine reads it when it is started.
        unsafe { *self.cpu.cast::<u8>().add(CPU_NEXT_BLOCK).cast::<u32>() = instructions }
    }

    /// Whether the next block may have any length: so it is unless somebody has just limited it.
    pub fn any_next_block(&self) -> bool {
        // SAFETY: as in `limit_next_block`.
        unsafe { *self.cpu.cast::<u8>().add(CPU_NEXT_BLOCK).cast::<u32>() == ANY_BLOCK }
    }

    /// What the engine compares with the mode that a block was made for.
    pub fn block_mode(&self) -> u32 {
        // SAFETY: both lie within `CPUX86State`.
        unsafe {
            let eflags = *self.word(ENV_EFLAGS) as u32;
            *self.env.add(ENV_HFLAGS).cast::<u32>() | eflags & MODE_FLAGS
        }
    }

    /// Takes the status flags and DF out of `eflags`, where the engine puts them for its public hooks. They have places of
    /// their own, and PUSHF would put both together.
    pub fn forget_shown_flags(&mut self) {
        // SAFETY: it lies within `CPUX86State`.
        unsafe { *self.env.add(ENV_EFLAGS).cast::<u32>() &= !SHOWN_FLAGS };
    }

    /// The instruction pointer.
    pub fn eip(&self) -> u64 {
        // SAFETY: `verify` has compared the place with the engine's own answer.
        unsafe { *self.word(ENV_EIP) }
    }

    /// Sets the instruction pointer; in hooks only where the engine reads it again afterwards.
    pub fn set_eip(&mut self, value: u64) {
        // SAFETY: as in `eip`.
        unsafe { *self.word(ENV_EIP) = value }
    }

    /// Base of a segment.
    pub fn segment_base(&self, segment: usize) -> u64 {
        // SAFETY: as in `eip`.
        unsafe { *self.word(ENV_SEGS + SEGMENT_SIZE * segment + SEGMENT_BASE) }
    }

    /// Sets the base of a segment.
    pub fn set_segment_base(&mut self, segment: usize, value: u64) {
        // SAFETY: as in `eip`.
        unsafe { *self.word(ENV_SEGS + SEGMENT_SIZE * segment + SEGMENT_BASE) = value }
    }

    /// Sets the selector that a program reads from a segment register, and nothing else of the segment.
    pub fn set_selector(&mut self, segment: usize, value: u32) {
        // SAFETY: the selector is the first member of the segment.
        unsafe { *self.word(ENV_SEGS + SEGMENT_SIZE * segment).cast::<u32>() = value }
    }

    /// The exception that the engine believes to be in flight; -1 for none.
    pub fn exception_in_flight(&self) -> i32 {
        // SAFETY: the member lies within `CPUX86State`.
        unsafe { *self.env.add(ENV_OLD_EXCEPTION).cast::<i32>() }
    }

    /// Sets what the engine calls when an access is not aligned as its operation wants. This CPU has nothing there.
    ///
    /// # Errors
    /// When there is something, so the place is another one.
    pub fn set_unaligned(&mut self, call: Unaligned) -> Result<(), String> {
        // SAFETY: the class is the engine's own copy, and lives as long as it.
        unsafe {
            let class = *self.cpu.cast::<u8>().add(CPU_CLASS).cast::<*mut u8>();
            if class.is_null() {
                return Err("the CPU's class is not where CPUState.cc should be".into());
            }
            let place = class.add(CLASS_UNALIGNED).cast::<Option<Unaligned>>();
            if (*place).is_some() {
                return Err("CPUClass.do_unaligned_access should be empty".into());
            }
            *place = Some(call);
        }
        Ok(())
    }

    /// Where `float_status` for SSE is.
    pub fn sse_status(&self) -> *const u8 {
        self.state().sse().cast()
    }

    /// The state as helpers see it.
    pub fn state(&self) -> Env {
        // SAFETY: the engine is live as long as the machine that holds this value, and does not run meanwhile.
        unsafe { Env::new(self.env) }
    }
}

/// The state of a CPU.
///
/// # Safety
/// `cpu` is the `CPUState` of a live engine.
pub unsafe fn env_of(cpu: *mut c_void) -> Env {
    // SAFETY: the member is there, as `check` has found.
    unsafe { Env::new(*cpu.cast::<u8>().add(CPU_ENV).cast::<*mut u8>()) }
}

/// The engine that a context belongs to.
///
/// # Safety
/// `context` is live.
pub unsafe fn context_uc(context: Context) -> *mut c_void {
    // SAFETY: the member is there; `verify_context` has checked it.
    unsafe { *context.add(CONTEXT_UC).cast::<*mut c_void>() }
}

/// The TCG value that holds a general register.
///
/// # Safety
/// `context` is live.
pub unsafe fn context_gpr(context: Context, number: usize) -> Value {
    // SAFETY: `cpu_regs` has room for 56 values; `verify_context` has checked the name of one.
    unsafe { *context.add(CONTEXT_REGS).cast::<Value>().add(number) }
}

/// The TCG value that says how the flags are to be computed.
///
/// # Safety
/// `context` is live.
pub unsafe fn context_cc_op(context: Context) -> Value {
    // SAFETY: the member is there; `verify_context` has checked the name of the value.
    unsafe { *context.add(CONTEXT_CC_OP).cast::<Value>() }
}

/// Whether a context has the shape this file describes: the names of the operations we emit, and RSP's.
///
/// # Safety
/// `context` is a live `TCGContext` of the engine `uc`.
pub unsafe fn verify_context(context: Context, uc: *mut c_void) -> Result<(), String> {
    // SAFETY: all reads stay within the context and the tables it points to, whose strings are constants.
    unsafe {
        if context_uc(context) != uc {
            return Err("the engine is not where TCGContext.uc should be".into());
        }
        let definitions = *context.add(CONTEXT_OP_DEFS).cast::<*const u8>();
        for (number, name) in [
            (opcode::DISCARD, c"discard"),
            (opcode::SET_LABEL, c"set_label"),
            (opcode::MOVI_I32, c"movi_i32"),
            (opcode::MOVI_I64, c"movi_i64"),
            (opcode::LD_I64, c"ld_i64"),
            (opcode::ST_I64, c"st_i64"),
            (opcode::ADD_I64, c"add_i64"),
            (opcode::OR_I64, c"or_i64"),
        ] {
            let entry = definitions.add(number as usize * OP_DEF_SIZE).cast::<*const c_char>();
            if CStr::from_ptr(*entry) != name {
                return Err(format!("operation {number} is not {name:?}"));
            }
        }
        let (rsp, cc_op) = (context_gpr(context, Gpr::Rsp as usize), context_cc_op(context));
        for (value, expected) in [(rsp, c"rsp"), (cc_op, c"cc_op")] {
            let name = *context.add(value + TEMP_NAME).cast::<*const c_char>();
            if name.is_null() || CStr::from_ptr(name) != expected {
                return Err(format!("the value of {expected:?} is not where TCGContext should have it"));
            }
        }
    }
    Ok(())
}
