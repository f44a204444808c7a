//! MMX instructions of SSSE3, which the engine lets run without turning the x87 stack into MMX registers, and EMMS,
//! for which it leaves the top where it was.

use crate::emu::unicorn::helpers::state::{Env, Lanes};

/// The x87 stack becomes eight registers, valid or empty, with the first on top.
fn reset(env: Env, empty: bool) {
    env.set_top(0);
    for i in 0..8 {
        env.set_empty(i, empty);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_helper_emms_x86_64(env: Env) {
    reset(env, true);
}

macro_rules! enters {
    ($($wrap:ident => $real:ident($($imm:ident)?);)*) => { $(
        unsafe extern "C" { fn $real(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?); }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $wrap(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?) {
            reset(env, false);
            // SAFETY: the arguments are the engine's.
            unsafe { $real(env, to, from $(, $imm)?) }
        }
    )* };
}

enters! {
    __wrap_helper_pshufb_mmx_x86_64 => __real_helper_pshufb_mmx_x86_64();
    __wrap_helper_phaddw_mmx_x86_64 => __real_helper_phaddw_mmx_x86_64();
    __wrap_helper_phaddd_mmx_x86_64 => __real_helper_phaddd_mmx_x86_64();
    __wrap_helper_phaddsw_mmx_x86_64 => __real_helper_phaddsw_mmx_x86_64();
    __wrap_helper_pmaddubsw_mmx_x86_64 => __real_helper_pmaddubsw_mmx_x86_64();
    __wrap_helper_phsubw_mmx_x86_64 => __real_helper_phsubw_mmx_x86_64();
    __wrap_helper_phsubd_mmx_x86_64 => __real_helper_phsubd_mmx_x86_64();
    __wrap_helper_phsubsw_mmx_x86_64 => __real_helper_phsubsw_mmx_x86_64();
    __wrap_helper_psignb_mmx_x86_64 => __real_helper_psignb_mmx_x86_64();
    __wrap_helper_psignw_mmx_x86_64 => __real_helper_psignw_mmx_x86_64();
    __wrap_helper_psignd_mmx_x86_64 => __real_helper_psignd_mmx_x86_64();
    __wrap_helper_pmulhrsw_mmx_x86_64 => __real_helper_pmulhrsw_mmx_x86_64();
    __wrap_helper_pabsb_mmx_x86_64 => __real_helper_pabsb_mmx_x86_64();
    __wrap_helper_pabsw_mmx_x86_64 => __real_helper_pabsw_mmx_x86_64();
    __wrap_helper_pabsd_mmx_x86_64 => __real_helper_pabsd_mmx_x86_64();
    __wrap_helper_palignr_mmx_x86_64 => __real_helper_palignr_mmx_x86_64(imm);
}
