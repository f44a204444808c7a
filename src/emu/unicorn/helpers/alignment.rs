//! Faults of operands that are not aligned: #GP where the instruction demands it, #AC where
//! EFLAGS.AC does.

use std::ffi::c_void;

use crate::emu::unicorn::errata::{Erratum, erratum};
use crate::emu::unicorn::helpers::env::Env;
use crate::emu::unicorn::vcpu::current;
use crate::emu::unicorn::wrapped::replace_faulting;
use crate::x86::address::{is_canonical, is_stack_access};
use crate::x86::decode::{MAX_LENGTH, decode};

/// `EXCP0C_STACK`, `EXCP0D_GPF` and `EXCP11_ALGN`.
const STACK: i32 = 12;
const PROTECTION: i32 = 13;
const ALIGNMENT: i32 = 17;

unsafe extern "C" {
    fn raise_exception_ra_x86_64(env: Env, number: i32, retaddr: usize) -> !;
}

replace_faulting! { helper_invlpga => check, return address in "rcx"; }

/// Checks the operand of a helper that accesses memory itself, in blocks for EFLAGS.AC.
unsafe extern "C" fn check(env: Env, address: u64, mask: u64, retaddr: usize) {
    if address & mask != 0 {
        // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
        unsafe { misaligned(env, address, retaddr) }
    }
}

/// Raises the fault of an operand that must be aligned and is not.
///
/// # Safety
/// Called by the engine on behalf of generated code.
pub(crate) unsafe extern "C" fn unaligned(
    cpu: *mut c_void,
    addr: u64,
    _access: i32,
    _tlb: i32,
    retaddr: usize,
) {
    // SAFETY: as for `check`.
    unsafe { misaligned(Env::of_cpu(cpu), addr, retaddr) }
}

unsafe fn misaligned(env: Env, addr: u64, retaddr: usize) -> ! {
    let mut number = PROTECTION;
    // SAFETY: called from generated code, inside the run.
    if let Some(vcpu) = unsafe { current() } {
        vcpu.state.restore_registers(retaddr);
        let (state, mut buf) = (&vcpu.state, [0; MAX_LENGTH]);
        let instruction = decode(vcpu.mmu.space().fetch(state.rip(), &mut buf), state.rip());
        number = match erratum(&instruction) {
            Erratum::Aligned => PROTECTION,
            _ if is_canonical(addr) => ALIGNMENT,
            _ if is_stack_access(&instruction, addr, &mut |reg| state.register(reg)) => STACK,
            _ => PROTECTION,
        };
    }
    // SAFETY: the registers are those before the instruction; the jump out of here drops nothing.
    unsafe { raise_exception_ra_x86_64(env, number, 0) }
}
