//! MXCSR and the x87 control, status and tag words. The engine collects exceptions in its
//! `float_status` and never shows them to the guest; these helpers move them to the guest's
//! registers.

use crate::emu::unicorn::helpers::env::{DAZ, Env, F80, INEXACT, Lanes, RECORDED, write};
use crate::emu::unicorn::helpers::probe_store;
use crate::emu::unicorn::wrapped::{real, replace, replace_after, replace_faulting};
use crate::guest::PAGE_SIZE;

/// Bits of MXCSR that are reserved.
const MXCSR_RESERVED: u32 = 0xffff_0000;
/// `EXCP0D_GPF`.
const PROTECTION: i32 = 13;

unsafe extern "C" {
    fn raise_exception_ra_x86_64(env: Env, number: i32, retaddr: usize) -> !;
    fn cpu_ldub_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u32;
    fn cpu_lduw_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u32;
    fn cpu_ldl_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u32;
    fn cpu_ldq_data_ra_x86_64(env: Env, address: u64, retaddr: usize) -> u64;
    fn cpu_stl_data_ra_x86_64(env: Env, address: u64, value: u32, retaddr: usize);
    fn cpu_stq_data_ra_x86_64(env: Env, address: u64, value: u64, retaddr: usize);
    fn cpu_stw_data_ra_x86_64(env: Env, address: u64, value: u32, retaddr: usize);
    fn update_fp_status_x86_64(env: Env);
}

impl Env {
    /// Sets MXCSR, and the modes of the engine that follow from it.
    pub(crate) fn load_mxcsr(self, value: u32) {
        self.set_mxcsr(value);
        // SAFETY: as for every access of `Env`.
        let status = unsafe { &mut *self.sse() };
        status.rounding = (value >> 13 & 3) as i8;
        status.flush_inputs = u8::from(value & DAZ != 0);
        // `sse.rs` flushes, exactly.
        status.flush_to_zero = 0;
        status.flags = value as u8 & RECORDED;
    }

    /// MXCSR with the exceptions so far.
    pub(crate) fn full_mxcsr(self) -> u32 {
        // SAFETY: as for every access of `Env`.
        self.mxcsr() | u32::from(unsafe { (*self.sse()).flags } & RECORDED)
    }

    /// Moves the x87 exceptions into the status word, and sets its summary bit if one is unmasked.
    pub(crate) fn collect_x87(self) {
        // SAFETY: as for every access of `Env`.
        let flags = unsafe { std::mem::take(&mut (*self.x87()).flags) } & RECORDED;
        let mut fpus = self.fpus() | u16::from(flags);
        if fpus & !self.fpuc() & 0x3f != 0 {
            fpus |= 0x8080;
        }
        self.set_fpus(fpus);
    }
}

impl Env {
    /// Sets the x87 control word. Bit 6 is always set; bits 7 and 13 to 15 are reserved and clear.
    fn load_control(self, value: u16) {
        self.set_fpuc(value & 0x1f7f | 0x40);
        // SAFETY: it only derives rounding and precision from the control word.
        unsafe { update_fp_status_x86_64(self) };
    }

    /// Sets the x87 status word and the top, after the control word. Whether an unmasked exception
    /// is pending follows from both, not from the value.
    fn load_status(self, value: u16) {
        self.collect_x87();
        self.set_top(usize::from(value >> 11));
        self.set_fpus(value & !0xb880);
        self.collect_x87();
    }

    /// Sets the x87 control, status and tag words.
    fn set_environment(self, [control, status, tags]: [u16; 3]) {
        self.load_control(control);
        self.load_status(status);
        for i in 0..8 {
            self.set_empty(i + 8 - self.top(), tags >> (2 * i) & 3 == 3);
        }
    }
}

/// FNINIT.
fn fninit(env: Env) {
    env.collect_x87();
    env.set_fpus(0);
    env.set_top(0);
    env.set_fpuc(0x37f);
    // SAFETY: it only derives rounding and precision from the control word.
    unsafe { update_fp_status_x86_64(env) };
    for i in 0..8 {
        env.set_empty(i, true);
    }
}

replace! {
    fn helper_fninit(env: Env) {
        fninit(env);
    }
}

unsafe extern "C" fn collect_x87(env: Env) {
    env.collect_x87();
}

unsafe extern "C" fn before_fxsave(env: Env, address: u64, retaddr: usize) {
    // The engine refuses what is not aligned.
    if address & 15 == 0 {
        // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
        unsafe { probe_store(env, address, 512, retaddr) };
    }
    env.collect_x87();
    env.set_mxcsr(env.full_mxcsr());
}

replace_after! { collect_x87: helper_fnstsw helper_fclex }
replace_after! { before_fxsave: helper_fxsave }

replace_faulting! {
    helper_ldmxcsr => ldmxcsr, return address in "rdx";
    helper_fxrstor => fxrstor, return address in "rdx";
    helper_fldenv => fldenv, return address in "rcx";
    helper_frstor => frstor, return address in "rcx";
    helper_fstenv => fstenv, return address in "rcx";
    helper_fsave => fsave, return address in "rcx";
}

unsafe extern "C" fn ldmxcsr(env: Env, value: u32, retaddr: usize) {
    if value & MXCSR_RESERVED != 0 {
        // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
        unsafe { raise_exception_ra_x86_64(env, PROTECTION, retaddr) }
    }
    env.load_mxcsr(value);
}

replace! {
    fn helper_fldcw(env: Env, value: u32) {
        env.load_control(value as u16);
    }
}

/// FLDENV, of 28 bytes or of 14.
unsafe extern "C" fn fldenv(env: Env, address: u64, wide: u32, retaddr: usize) {
    // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
    let environment = unsafe { load_environment(env, address, wide, retaddr) };
    env.set_environment(environment);
}

/// FRSTOR: loads the whole image first, since a fault must leave the state unchanged.
unsafe extern "C" fn frstor(env: Env, address: u64, wide: u32, retaddr: usize) {
    let registers = address.wrapping_add(if wide != 0 { 28 } else { 14 });
    // SAFETY: as above.
    let (environment, values) = unsafe {
        let environment = load_environment(env, address, wide, retaddr);
        let values: [F80; 8] = std::array::from_fn(|i| {
            let at = registers.wrapping_add(10 * i as u64);
            let mantissa = cpu_ldq_data_ra_x86_64(env, at, retaddr);
            F80 { mantissa, top: cpu_lduw_data_ra_x86_64(env, at.wrapping_add(8), retaddr) as u16 }
        });
        (environment, values)
    };
    env.set_environment(environment);
    for (i, value) in values.into_iter().enumerate() {
        env.set_st(i, value);
    }
}

/// Loads the control, status and tag words of an environment, all of which must be readable.
unsafe fn load_environment(env: Env, address: u64, wide: u32, retaddr: usize) -> [u16; 3] {
    let last = address.wrapping_add(if wide != 0 { 27 } else { 13 }) & !(PAGE_SIZE - 1);
    let last = last.max(address);
    // SAFETY: as above.
    unsafe { cpu_ldub_data_ra_x86_64(env, last, retaddr) };
    std::array::from_fn(|i| {
        let at = address.wrapping_add(i as u64 * if wide != 0 { 4 } else { 2 });
        // SAFETY: as above.
        unsafe { cpu_lduw_data_ra_x86_64(env, at, retaddr) as u16 }
    })
}

/// FXRSTOR: loads the whole image first, since a fault must leave the state unchanged.
unsafe extern "C" fn fxrstor(env: Env, address: u64, retaddr: usize) {
    // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
    let image: [u64; 52] = unsafe {
        if address & 15 != 0 {
            raise_exception_ra_x86_64(env, PROTECTION, retaddr);
        }
        if cpu_ldl_data_ra_x86_64(env, address.wrapping_add(24), retaddr) & MXCSR_RESERVED != 0 {
            raise_exception_ra_x86_64(env, PROTECTION, retaddr);
        }
        std::array::from_fn(|i| cpu_ldq_data_ra_x86_64(env, address.wrapping_add(8 * i as u64), retaddr))
    };
    env.collect_x87();
    env.load_control(image[0] as u16);
    env.load_status((image[0] >> 16) as u16);
    let top = env.top();
    for i in 0..8 {
        env.set_empty(i + 8 - top, image[0] >> (32 + i) & 1 == 0);
        env.set_st(i, F80 { mantissa: image[4 + 2 * i], top: image[5 + 2 * i] as u16 });
    }
    env.load_mxcsr(image[3] as u32);
    for i in 0..16 {
        // SAFETY: it is a register.
        unsafe { write(env.xmm(i), [image[20 + 2 * i], image[21 + 2 * i]]) };
    }
}

/// FNSTENV: stores the environment, of 28 bytes or of 14, and masks all exceptions.
unsafe extern "C" fn fstenv(env: Env, address: u64, wide: u32, retaddr: usize) {
    // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
    unsafe {
        probe_store(env, address, if wide != 0 { 28 } else { 14 }, retaddr);
        store_environment(env, address, wide, retaddr);
    }
    env.set_fpuc(env.fpuc() | 0x3f);
}

/// FNSAVE: stores the environment and the registers, and then does FNINIT.
unsafe extern "C" fn fsave(env: Env, address: u64, wide: u32, retaddr: usize) {
    // SAFETY: as above.
    unsafe {
        probe_store(env, address, if wide != 0 { 108 } else { 94 }, retaddr);
        let mut at = store_environment(env, address, wide, retaddr);
        for i in 0..8 {
            let value = env.st(i);
            cpu_stq_data_ra_x86_64(env, at, value.mantissa, retaddr);
            cpu_stw_data_ra_x86_64(env, at.wrapping_add(8), u32::from(value.top), retaddr);
            at = at.wrapping_add(10);
        }
    }
    fninit(env);
}

/// Stores the environment and returns the address after it. The last instruction and its operand
/// are unknown and stored as 0; the reserved halves of the wide form are all ones, as on Intel's
/// CPUs.
unsafe fn store_environment(env: Env, address: u64, wide: u32, retaddr: usize) -> u64 {
    env.collect_x87();
    let status = env.fpus() & !0x3800 | (env.top() as u16) << 11;
    let words = [env.fpuc(), status, env.tags(), 0, 0, 0, 0];
    let mut at = address;
    for (i, word) in words.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe {
            if wide != 0 {
                let reserved = if matches!(i, 0..=2 | 6) { 0xffff_0000 } else { 0 };
                cpu_stl_data_ra_x86_64(env, at, u32::from(word) | reserved, retaddr);
                at = at.wrapping_add(4);
            } else {
                cpu_stw_data_ra_x86_64(env, at, u32::from(word), retaddr);
                at = at.wrapping_add(2);
            }
        }
    }
    at
}

/// Defines helpers that do what the engine's does, but record only the exceptions `$keep`, which
/// sees the immediate operand.
macro_rules! without_exceptions {
    ($keep:expr; $($symbol:ident($($imm:ident)?);)*) => { $(
        const _: () = {
            real!($symbol(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?));
            replace! {
                fn $symbol(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?) {
                    // SAFETY: the arguments are the engine's.
                    unsafe {
                        let before = (*env.sse()).flags;
                        real(env, to, from $(, $imm)?);
                        let keep: fn(u32) -> u8 = $keep;
                        let kept = keep(0 $(| $imm)?);
                        (*env.sse()).flags = before | (*env.sse()).flags & kept;
                    }
                }
            }
        };
    )* };
}

// Approximations raise nothing.
without_exceptions! { |_| 0;
    helper_rcpps();
    helper_rcpss();
    helper_rsqrtps();
    helper_rsqrtss();
}

// Bit 3 of the immediate suppresses the precision exception.
without_exceptions! { |imm| if imm & 8 != 0 { !INEXACT } else { !0 };
    helper_roundps_xmm(imm);
    helper_roundpd_xmm(imm);
    helper_roundss_xmm(imm);
    helper_roundsd_xmm(imm);
}
