//! Exceptions of SSE and the x87 that the program has unmasked (Intel SDM vol. 1, 8.4 and 11.5).
//!
//! `translator/guard.rs` has blocks call these functions while some are unmasked: around each
//! arithmetic instruction, which they undo if it must not be done, and before x87 instructions that
//! wait for exceptions. Generated code can call nothing but the engine's helpers, so helpers of
//! SVM, which no CPU model has, give their names.
#![allow(unsafe_code)]

use crate::emu::unicorn::helpers::env::{DENORMAL, Env, INVALID, RECORDED, ZERO_DIVIDE};
use crate::emu::unicorn::vcpu::current;
use crate::emu::unicorn::wrapped::{replace, replace_faulting};

/// Exceptions that operands raise, before there is a result.
const OF_OPERANDS: u8 = INVALID | DENORMAL | ZERO_DIVIDE;
/// The summary bit of the x87 status word.
const SUMMARY: u16 = 0x80;
/// `EXCP10_COPR`, #MF.
const X87_ERROR: i32 = 16;
/// #XM.
const SSE_ERROR: i32 = 19;

unsafe extern "C" {
    fn raise_exception_ra_x86_64(env: Env, number: i32, retaddr: usize) -> !;
}

/// The state at an arithmetic instruction.
fn begin(env: Env) -> bool {
    // SAFETY: called from generated code, inside the run.
    let Some(vcpu) = (unsafe { current() }) else { return false };
    vcpu.before = env.save();
    true
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
    fn helper_vmmcall(env: Env) {
        // SAFETY: called from generated code, inside the run.
        let Some(vcpu) = (unsafe { current() }) else { return };
        // SAFETY: as for every access of `Env`.
        let flags = unsafe { (*env.x87()).flags };
        let raised = flags & RECORDED | env.fpus() as u8 & DENORMAL;
        if raised & OF_OPERANDS & !(env.fpuc() as u8) != 0 {
            env.restore_registers(&vcpu.before);
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
}

unsafe extern "C" fn after_sse(env: Env, retaddr: usize) {
    // SAFETY: called from generated code, inside the run.
    let Some(vcpu) = (unsafe { current() }) else { return };
    let mut raised = env.take_sse();
    let unmasked = !(env.mxcsr() >> 7) as u8;
    if raised & OF_OPERANDS & unmasked != 0 {
        raised &= OF_OPERANDS;
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
