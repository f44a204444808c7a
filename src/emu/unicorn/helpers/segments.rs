//! Selectors, checked against the descriptors that Linux's GDT has for user code; there is no LDT.
//! The engine would look for a table in memory (Intel SDM vol. 2, MOV, LAR, LSL, VERR and VERW).

use crate::emu::unicorn::helpers::env::Env;
use crate::emu::unicorn::vcpu::current;
use crate::emu::unicorn::wrapped::{real, replace, replace_faulting};

/// `EXCP0D_GPF`.
const PROTECTION: i32 = 13;
/// ZF.
const ZERO: u64 = 0x40;
/// Index of SS, as instructions have it.
const SS: u32 = 2;

unsafe extern "C" {
    fn raise_exception_ra_x86_64(env: Env, number: i32, retaddr: usize) -> !;
}

/// A descriptor with base 0 and privilege level 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emu::unicorn) struct Descriptor {
    /// Bits 8 to 23 of its second half, of which LAR may leave open those of the limit.
    rights: u32,
    /// Last offset, in bytes.
    limit: u32,
    /// It is one of data that may be written.
    pub(in crate::emu::unicorn) writable: bool,
}

impl Descriptor {
    /// Tests for a segment of code.
    pub(in crate::emu::unicorn) fn is_code(self) -> bool {
        self.rights & 0x1800 == 0x1800
    }

    /// Tests for 64-bit code.
    pub(in crate::emu::unicorn) fn is_wide(self) -> bool {
        self.is_code() && self.rights & 0x20_0000 != 0
    }
}

/// The descriptor that a selector of any requested privilege level names, if user code may
/// access it (Linux, `arch/x86/include/asm/segment.h`).
pub(in crate::emu::unicorn) fn descriptor(selector: u32) -> Option<Descriptor> {
    let (rights, limit, writable) = match selector & 0xfffc {
        // 32-bit code, data, and 64-bit code.
        0x20 => (0x00cf_fb00, u32::MAX, false),
        0x28 => (0x00cf_f300, u32::MAX, true),
        0x30 => (0x00af_fb00, u32::MAX, false),
        // Number of the CPU and of its node, both 0, in place of a limit.
        0x78 => (0x0000_f500, 0, false),
        _ => return None,
    };
    Some(Descriptor { rights, limit, writable })
}

/// Tests whether a segment register takes a selector. SS takes one of data at level 3.
fn is_loadable(segment: u32, selector: u32) -> bool {
    let null = selector & 0xfffc == 0;
    match (segment, descriptor(selector)) {
        (SS, Some(found)) => found.writable && selector & 3 == 3,
        (SS, None) => false,
        (_, found) => null || found.is_some(),
    }
}

replace_faulting! { helper_load_seg => load_segment, return address in "rcx"; }

/// MOV, POP and their like to a segment register.
unsafe extern "C" fn load_segment(env: Env, segment: u32, selector: u32, retaddr: usize) {
    let selector = selector & 0xffff;
    if !is_loadable(segment, selector) {
        // SAFETY: called from generated code, inside the run.
        if let Some(vcpu) = unsafe { current() } {
            // Without the requested privilege level.
            vcpu.run.set_error(selector as u16 & !3);
        }
        // SAFETY: `retaddr` lies in generated code; the jump out of here drops nothing.
        unsafe { raise_exception_ra_x86_64(env, PROTECTION, retaddr) }
    }
    env.load_segment(segment as usize, selector);
}

/// Defines instructions that say with ZF whether they know a selector. The engine's own finds it
/// beyond the end of its table, and leaves the other flags.
macro_rules! questions {
    ($($symbol:ident($selector:ident) $(-> $result:ident)? => $answer:expr;)*) => { $(
        const _: () = {
            real!($symbol(env: Env, selector: u64) $(-> $result)?);
            replace! {
                fn $symbol(env: Env, $selector: u64) $(-> $result)? {
                    // SAFETY: the arguments are those of the engine's, with the null selector.
                    unsafe { real(env, 0) };
                    let answer: Option<u32> = $answer;
                    env.set_flags(env.flags() & !ZERO | if answer.is_some() { ZERO } else { 0 });
                    $(answer.map_or(0, $result::from))?
                }
            }
        };
    )* };
}

questions! {
    helper_lar(selector) -> u64 => descriptor(selector as u32).map(|found| found.rights);
    helper_lsl(selector) -> u64 => descriptor(selector as u32).map(|found| found.limit);
    helper_verr(selector) => descriptor(selector as u32).map(|_| 0);
    helper_verw(selector) => descriptor(selector as u32).filter(|found| found.writable).map(|_| 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Selectors of Linux's GDT: 0x10 and 0x18 are the kernel's, 0x40 is the task's, 0x63 a free
    /// one for threads; bit 2 is for the LDT.
    #[test]
    fn segment_registers_take_what_user_code_may_access() {
        for selector in [0, 1, 3, 0x20, 0x23, 0x28, 0x2a, 0x2b, 0x33, 0x7b] {
            assert!(is_loadable(3, selector), "{selector:#x}");
        }
        for selector in [4, 7, 8, 0x10, 0x18, 0x1b, 0x2f, 0x37, 0x40, 0x48, 0x63, 0x83, 0xffff] {
            assert!(!is_loadable(3, selector), "{selector:#x}");
        }
        let stacks: Vec<u32> = (0..0x100).filter(|selector| is_loadable(SS, *selector)).collect();
        assert_eq!(stacks, [0x2b]);
    }
}
