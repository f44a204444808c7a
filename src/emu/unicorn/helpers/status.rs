//! MXCSR and the x87 status word. The engine collects exceptions in its own `float_status` and never tells the guest;
//! these helpers move them to where the guest looks.

use std::ffi::c_void;

use crate::emu::unicorn::helpers::state::{Env, F80, Lanes, RECORDED, write};
use crate::emu::unicorn::helpers::{before, faulting};

/// Bits of MXCSR that are reserved.
const MXCSR_RESERVED: u32 = 0xffff_0000;
/// `EXCP0D_GPF`.
const PROTECTION: i32 = 13;

unsafe extern "C" {
    fn raise_exception_ra_x86_64(env: Env, number: i32, place: usize) -> !;
    fn cpu_ldl_data_ra_x86_64(env: Env, address: u64, place: usize) -> u32;
    fn cpu_ldq_data_ra_x86_64(env: Env, address: u64, place: usize) -> u64;
    fn cpu_stl_data_ra_x86_64(env: Env, address: u64, value: u32, place: usize);
    fn cpu_stq_data_ra_x86_64(env: Env, address: u64, value: u64, place: usize);
    fn cpu_stw_data_ra_x86_64(env: Env, address: u64, value: u32, place: usize);
    fn update_fp_status_x86_64(env: Env);
}

impl Env {
    /// Sets MXCSR and what follows from it.
    pub fn load_mxcsr(self, value: u32) {
        self.set_mxcsr(value);
        // SAFETY: as for all of `Env`.
        let status = unsafe { &mut *self.sse() };
        status.rounding = (value >> 13 & 3) as i8;
        status.flush_inputs = u8::from(value & super::state::DAZ != 0);
        // `sse` does that, exactly.
        status.flush_to_zero = 0;
        status.flags = value as u8 & RECORDED;
    }

    /// MXCSR with the exceptions up to now.
    pub fn full_mxcsr(self) -> u32 {
        // SAFETY: as for all of `Env`.
        self.mxcsr() | u32::from(unsafe { (*self.sse()).flags } & RECORDED)
    }

    /// Moves the x87 exceptions into the status word; with one unmasked, the word says that too.
    pub fn collect_x87(self) {
        // SAFETY: as for all of `Env`.
        let flags = unsafe { std::mem::take(&mut (*self.x87()).flags) } & RECORDED;
        let mut fpus = self.fpus() | u16::from(flags);
        if fpus & !self.fpuc() & 0x3f != 0 {
            fpus |= 0x8080;
        }
        self.set_fpus(fpus);
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_helper_fninit_x86_64(env: Env) {
    fninit(env);
}

unsafe extern "C" fn collect_x87(env: Env) {
    env.collect_x87();
}

unsafe extern "C" fn collect(env: Env) {
    env.collect_x87();
    env.set_mxcsr(env.full_mxcsr());
}

before! { collect_x87:
    __wrap_helper_fnstsw_x86_64 => __real_helper_fnstsw_x86_64;
    __wrap_helper_fclex_x86_64 => __real_helper_fclex_x86_64;
    __wrap_helper_fldenv_x86_64 => __real_helper_fldenv_x86_64;
    __wrap_helper_frstor_x86_64 => __real_helper_frstor_x86_64;
}

before! { collect:
    __wrap_helper_fxsave_x86_64 => __real_helper_fxsave_x86_64;
}

faulting! {
    __wrap_helper_ldmxcsr_x86_64 => ldmxcsr;
    __wrap_helper_fxrstor_x86_64 => fxrstor;
}

unsafe extern "C" fn ldmxcsr(env: Env, value: u32, place: usize) {
    if value & MXCSR_RESERVED != 0 {
        // SAFETY: `place` is where generated code called; nothing here needs to be dropped.
        unsafe { raise_exception_ra_x86_64(env, PROTECTION, place) }
    }
    env.load_mxcsr(value);
}

/// What the engine calls for an operand that has to be aligned and is not.
///
/// # Safety
/// Called by the engine on behalf of generated code.
pub unsafe extern "C" fn unaligned(cpu: *mut c_void, _addr: u64, _access: i32, _tlb: i32, place: usize) {
    // SAFETY: `place` is where generated code called; nothing here needs to be dropped.
    unsafe { raise_exception_ra_x86_64(crate::emu::unicorn::layout::env_of(cpu), PROTECTION, place) }
}

/// FXRSTOR: loads all of the image before it changes anything, as a fault must leave everything as it was.
unsafe extern "C" fn fxrstor(env: Env, address: u64, place: usize) {
    // SAFETY: `place` is where generated code called; nothing here needs to be dropped.
    let image: [u64; 52] = unsafe {
        if address & 15 != 0 {
            raise_exception_ra_x86_64(env, PROTECTION, place);
        }
        if cpu_ldl_data_ra_x86_64(env, address.wrapping_add(24), place) & MXCSR_RESERVED != 0 {
            raise_exception_ra_x86_64(env, PROTECTION, place);
        }
        std::array::from_fn(|i| cpu_ldq_data_ra_x86_64(env, address.wrapping_add(8 * i as u64), place))
    };
    env.collect_x87();
    env.set_fpuc(image[0] as u16);
    // SAFETY: it only derives rounding and precision from the control word.
    unsafe { update_fp_status_x86_64(env) };
    let status = (image[0] >> 16) as u16;
    env.set_top(usize::from(status >> 11));
    env.set_fpus(status & !0x3800);
    env.collect_x87();
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

macro_rules! storing {
    ($($wrap:ident => $inner:ident;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $wrap() {
            std::arch::naked_asm!("mov rcx, [rsp]", "jmp {inner}", inner = sym $inner)
        }
    )* };
}

storing! {
    __wrap_helper_fstenv_x86_64 => fstenv;
    __wrap_helper_fsave_x86_64 => fsave;
}

/// FNSTENV: the environment of 28 bytes, or of 14. Nothing is known of the last instruction and its operand. Of the
/// wide one's reserved halves, Intel's CPUs set all bits. It leaves all exceptions masked.
unsafe extern "C" fn fstenv(env: Env, address: u64, wide: u32, place: usize) {
    // SAFETY: `place` is where generated code called; nothing here needs to be dropped.
    unsafe { store_environment(env, address, wide, place) };
    env.set_fpuc(env.fpuc() | 0x3f);
}

/// FNSAVE: the environment and the registers; then everything is as FNINIT leaves it.
unsafe extern "C" fn fsave(env: Env, address: u64, wide: u32, place: usize) {
    // SAFETY: as above.
    unsafe {
        let mut at = store_environment(env, address, wide, place);
        for i in 0..8 {
            let value = env.st(i);
            cpu_stq_data_ra_x86_64(env, at, value.mantissa, place);
            cpu_stw_data_ra_x86_64(env, at.wrapping_add(8), u32::from(value.top), place);
            at = at.wrapping_add(10);
        }
    }
    fninit(env);
}

/// Stores the environment and returns the address after it.
unsafe fn store_environment(env: Env, address: u64, wide: u32, place: usize) -> u64 {
    env.collect_x87();
    let status = env.fpus() & !0x3800 | (env.top() as u16) << 11;
    let words = [env.fpuc(), status, env.tags(), 0, 0, 0, 0];
    let mut at = address;
    for (i, word) in words.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe {
            if wide != 0 {
                let reserved = if matches!(i, 0..=2 | 6) { 0xffff_0000 } else { 0 };
                cpu_stl_data_ra_x86_64(env, at, u32::from(word) | reserved, place);
                at = at.wrapping_add(4);
            } else {
                cpu_stw_data_ra_x86_64(env, at, u32::from(word), place);
                at = at.wrapping_add(2);
            }
        }
    }
    at
}

macro_rules! without_exceptions {
    ($keep:expr; $($wrap:ident => $real:ident($($imm:ident)?);)*) => { $(
        unsafe extern "C" { fn $real(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?); }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $wrap(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?) {
            // SAFETY: the arguments are the engine's.
            unsafe {
                let before = (*env.sse()).flags;
                $real(env, to, from $(, $imm)?);
                let keep: fn(u32) -> u8 = $keep;
                let kept = keep(0 $(| $imm)?);
                (*env.sse()).flags = before | (*env.sse()).flags & kept;
            }
        }
    )* };
}

// Approximations raise nothing.
without_exceptions! { |_| 0;
    __wrap_helper_rcpps_x86_64 => __real_helper_rcpps_x86_64();
    __wrap_helper_rcpss_x86_64 => __real_helper_rcpss_x86_64();
    __wrap_helper_rsqrtps_x86_64 => __real_helper_rsqrtps_x86_64();
    __wrap_helper_rsqrtss_x86_64 => __real_helper_rsqrtss_x86_64();
}

// Bit 3 of the immediate keeps ROUNDPS and its kin from saying that a result is inexact.
without_exceptions! { |imm| if imm & 8 != 0 { !super::state::INEXACT } else { !0 };
    __wrap_helper_roundps_xmm_x86_64 => __real_helper_roundps_xmm_x86_64(imm);
    __wrap_helper_roundpd_xmm_x86_64 => __real_helper_roundpd_xmm_x86_64(imm);
    __wrap_helper_roundss_xmm_x86_64 => __real_helper_roundss_xmm_x86_64(imm);
    __wrap_helper_roundsd_xmm_x86_64 => __real_helper_roundsd_xmm_x86_64(imm);
}
