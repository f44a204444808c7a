//! Exceptions of SSE and the x87 that the program has unmasked (Intel SDM vol. 1, 8.4 and 11.5).
//!
//! `translator/guard.rs` has blocks call these functions while some are unmasked: around each
//! arithmetic instruction, which they undo if it must not be done, and before x87 instructions that
//! wait for exceptions. Generated code can call nothing but the engine's helpers, so helpers of
//! SVM, which no CPU model has, give their names.
#![allow(unsafe_code)]

use crate::emu::unicorn::helpers::env::{DENORMAL, Env, INVALID, OVERFLOW, RECORDED, UNDERFLOW, ZERO_DIVIDE};
use crate::emu::unicorn::translator::guard::{COMPARES, LOADS};
use crate::emu::unicorn::vcpu::current;
use crate::emu::unicorn::wrapped::{replace, replace_faulting};

/// Exceptions that operands raise, before there is a result.
const OF_OPERANDS: u8 = INVALID | DENORMAL | ZERO_DIVIDE;
/// Exceptions that keep the x87 from storing a number, if they are not masked.
const OF_STORES: u8 = INVALID | OVERFLOW | UNDERFLOW;
/// The condition codes C0, C2 and C3, which a comparison sets even if its operands raise an
/// exception that is not masked.
const CODES: u16 = 0x4500;
/// The summary bit of the x87 status word.
const SUMMARY: u16 = 0x80;
/// `EXCP10_COPR`, #MF.
const X87_ERROR: i32 = 16;
/// #XM.
const SSE_ERROR: i32 = 19;

unsafe extern "C" {
    fn raise_exception_ra_x86_64(env: Env, number: i32, retaddr: usize) -> !;
    fn cpu_lduw_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u32;
    fn cpu_ldl_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u32;
    fn cpu_ldq_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u64;
}

/// The state at an arithmetic instruction.
fn begin(env: Env) -> bool {
    // SAFETY: called from generated code, inside the run.
    let Some(vcpu) = (unsafe { current() }) else { return false };
    vcpu.before = env.save();
    (vcpu.raised_earlier, vcpu.refused) = (0, false);
    true
}

/// The x87 exceptions of the instruction at hand.
fn raised_x87(env: Env) -> u8 {
    // SAFETY: as for every access of `Env`.
    let flags = unsafe { (*env.x87()).flags };
    flags & RECORDED | env.fpus() as u8 & DENORMAL
}

replace! {
    fn helper_stgi(env: Env) {
        if begin(env) {
            env.take_sse();
        }
    }
    fn helper_skinit(env: Env) {
        env.collect_x87();
        if begin(env) {
            env.set_fpus(env.fpus() & !u16::from(DENORMAL));
        }
    }
    fn helper_vmmcall(env: Env, kind: u64) {
        // SAFETY: called from generated code, inside the run.
        let Some(vcpu) = (unsafe { current() }) else { return };
        let raised = raised_x87(env);
        // A denormal number is loaded all the same.
        let refusing = OF_OPERANDS & if kind == LOADS { !DENORMAL } else { !0 };
        if vcpu.refused {
            env.restore_registers(&vcpu.before);
            env.raise_x87(raised & OF_STORES);
        } else if raised & refusing & !(env.fpuc() as u8) != 0 {
            let codes = if kind == COMPARES { env.fpus() & CODES } else { vcpu.before.fpus() & CODES };
            env.restore_registers(&vcpu.before);
            env.set_fpus(env.fpus() & !CODES | codes);
            env.raise_x87(raised & OF_OPERANDS);
        } else {
            env.set_fpus(env.fpus() | vcpu.before.fpus() & u16::from(DENORMAL));
        }
        env.collect_x87();
    }
}

replace_faulting! {
    helper_clgi => after_sse, return address in "rsi";
    helper_fwait => wait, return address in "rsi";
    helper_vmload => stored, return address in "r8";
}

/// The number that an x87 instruction stores after it has converted `value`. If an exception keeps
/// it from storing, that is what is there, so that the fault of a page that cannot be written comes
/// first.
unsafe extern "C" fn stored(env: Env, value: u64, address: u64, size: u64, retaddr: usize) -> u64 {
    if raised_x87(env) & OF_STORES & !(env.fpuc() as u8) == 0 {
        return value;
    }
    // SAFETY: called from generated code, inside the run; `retaddr` lies in it, and the jump out of
    // here drops nothing.
    unsafe {
        if let Some(vcpu) = current() {
            vcpu.refused = true;
        }
        match size {
            2 => u64::from(cpu_lduw_data_ra_x86_64(env, address, retaddr)),
            4 => u64::from(cpu_ldl_data_ra_x86_64(env, address, retaddr)),
            _ => cpu_ldq_data_ra_x86_64(env, address, retaddr),
        }
    }
}

unsafe extern "C" fn after_sse(env: Env, retaddr: usize) {
    // SAFETY: called from generated code, inside the run.
    let Some(vcpu) = (unsafe { current() }) else { return };
    let mut raised = env.take_sse();
    let unmasked = !(env.mxcsr() >> 7) as u8;
    if raised & OF_OPERANDS & unmasked != 0 {
        raised &= OF_OPERANDS | vcpu.raised_earlier;
    }
    if raised & unmasked == 0 {
        env.give_sse(&vcpu.before, raised);
        return;
    }
    env.restore_registers(&vcpu.before);
    env.restore_flags(&vcpu.before);
    env.give_sse(&vcpu.before, raised);
    // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
    unsafe { raise_exception_ra_x86_64(env, SSE_ERROR, retaddr) }
}

unsafe extern "C" fn wait(env: Env, retaddr: usize) {
    env.collect_x87();
    if env.fpus() & SUMMARY != 0 {
        // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
        unsafe { raise_exception_ra_x86_64(env, X87_ERROR, retaddr) }
    }
}
