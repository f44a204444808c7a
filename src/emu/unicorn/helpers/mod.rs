//! Helpers of generated code that replace the engine's own, where those do not do what the CPU
//! does. `tests/linux/isa.rs` compares the outcome with the host's CPU.
#![allow(unsafe_code)]

pub(super) mod alignment;
pub(super) mod env;
pub(super) mod status;

mod compare;
mod extended;
mod flags;
mod mmx;
mod real;
pub(super) mod segments;
mod sse;
mod strings;
mod transcendental;
mod wide;
mod x87;

use crate::guest::PAGE_SIZE;
use env::Env;

unsafe extern "C" {
    fn cpu_ldub_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u32;
    fn cpu_stb_data_ra_x86_64(env: Env, address: u64, value: u32, retaddr: usize);
}

/// Faults where some bytes cannot be stored, before the first of them is: a store that faults
/// changes nothing. They are at most a page long.
///
/// # Safety
/// `retaddr` lies in generated code, and a jump out of here drops nothing.
unsafe fn probe_store(env: Env, address: u64, len: u64, retaddr: usize) {
    let end = address.wrapping_add(len - 1) & !(PAGE_SIZE - 1);
    for byte in [address, end.max(address)] {
        // SAFETY: the caller's.
        unsafe {
            let there = cpu_ldub_data_ra_x86_64(env, byte, retaddr);
            cpu_stb_data_ra_x86_64(env, byte, there, retaddr);
        }
    }
}
