//! PUSHF and POPF as in user mode with IOPL 0, which the engine's CPU is not in.
#![allow(unsafe_code)]

use crate::emu::unicorn::helpers::env::Env;
use crate::emu::unicorn::wrapped::{real, replace};

/// Flags that POPF changes in user mode: CF, PF, AF, ZF, SF, TF, DF, OF, NT, AC and ID (Intel SDM
/// vol. 2, POPF).
const CHANGEABLE: u32 = 0x24_4dd5;
/// Bit 1 and IF, which are always set.
const ALWAYS: u64 = 0x202;

const _: () = {
    real!(helper_read_eflags(env: Env) -> u64);
    replace! {
        fn helper_read_eflags(env: Env) -> u64 {
            // SAFETY: the argument is the engine's.
            unsafe { real(env) & u64::from(CHANGEABLE) | ALWAYS }
        }
    }
};

const _: () = {
    real!(helper_write_eflags(env: Env, value: u64, mask: u32));
    replace! {
        fn helper_write_eflags(env: Env, value: u64, mask: u32) {
            // SAFETY: the arguments are the engine's.
            unsafe { real(env, value, mask & CHANGEABLE) }
        }
    }
};

replace! {
    /// Takes no single step after a system call: Linux goes back to the program so that the next
    /// one comes after the instruction behind it.
    fn helper_rechecking_single_step(_env: Env) {}
}
