//! MMX instructions of SSSE3, for which the engine does not turn the x87 stack into MMX registers,
//! and EMMS, for which it does not reset the top of the stack.

use crate::emu::unicorn::helpers::env::{Env, Lanes};
use crate::emu::unicorn::wrapped::{real, replace};

/// Resets the x87 stack to eight registers, all valid or all empty, with the first on top.
fn reset(env: Env, empty: bool) {
    env.set_top(0);
    for i in 0..8 {
        env.set_empty(i, empty);
    }
}

replace! {
    fn helper_emms(env: Env) {
        reset(env, true);
    }
}

/// Defines helpers that reset the stack and then do what the engine's helper does.
macro_rules! enters {
    ($($symbol:ident($($imm:ident)?);)*) => { $(
        const _: () = {
            real!($symbol(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?));
            replace! {
                fn $symbol(env: Env, to: *mut Lanes, from: *const Lanes $(, $imm: u32)?) {
                    reset(env, false);
                    // SAFETY: the arguments are the engine's.
                    unsafe { real(env, to, from $(, $imm)?) }
                }
            }
        };
    )* };
}

enters! {
    helper_pshufb_mmx();
    helper_phaddw_mmx();
    helper_phaddd_mmx();
    helper_phaddsw_mmx();
    helper_pmaddubsw_mmx();
    helper_phsubw_mmx();
    helper_phsubd_mmx();
    helper_phsubsw_mmx();
    helper_psignb_mmx();
    helper_psignw_mmx();
    helper_psignd_mmx();
    helper_pmulhrsw_mmx();
    helper_pabsb_mmx();
    helper_pabsw_mmx();
    helper_pabsd_mmx();
    helper_palignr_mmx(imm);
}
