//! IRET and far RET to the program's own code segment (Intel SDM vol. 2). There is one level of
//! privilege, and one segment of 64-bit code.

use crate::emu::unicorn::helpers::segments::descriptor;
use crate::x86::far::FarReturn;

/// Flags that user code gets from IRET: CF, PF, AF, ZF, SF, TF, DF, OF, NT, AC and ID.
const POPPED: u64 = 0x24_4dd5;
/// RFLAGS.NT, with which IRET is not for 64-bit code.
pub(super) const NESTED_TASK: u64 = 0x4000;
/// RFLAGS.AC.
pub(super) const ALIGNMENT_CHECK: u64 = 0x4_0000;
/// Order in which the values are read, as by AMD's CPUs; the manuals leave it open.
pub(super) const ORDER: [usize; 5] = [2, 1, 0, 4, 3];

/// Place to which a return leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// On, with these registers.
    Same { rip: u64, rsp: u64, rflags: u64 },
    /// To 32-bit code, which the machine cannot run.
    Narrow,
    /// Nowhere: #GP with this error code.
    Denied(u16),
}

/// Decides what a return does with the values that it has read, where RSP and RFLAGS are these.
pub(super) fn target(far: &FarReturn, values: &[u64; 5], rsp: u64, rflags: u64) -> Target {
    let [rip, cs, flags, new_rsp, ss] = *values;
    let (cs, ss) = (cs as u16, ss as u16);
    let denied = |selector: u16| Target::Denied(selector & !3);
    let code = descriptor(cs.into()).filter(|found| found.is_code() && cs & 3 == 3);
    let Some(code) = code else { return denied(cs) };
    let has_stack = far.values == 5;
    if has_stack && !(ss & 3 == 3 && descriptor(ss.into()).is_some_and(|found| found.writable)) {
        return denied(ss);
    }
    if !code.is_wide() {
        return Target::Narrow;
    }
    if (rip as i64) << 16 >> 16 != rip as i64 {
        return Target::Denied(0);
    }
    if !has_stack {
        return Target::Same { rip, rsp: rsp.wrapping_add(far.bytes() as u64 + far.dropped), rflags };
    }
    let popped = if far.size == 2 { POPPED & 0xffff } else { POPPED };
    Target::Same { rip, rsp: new_rsp, rflags: rflags & !popped | flags & popped }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IRETQ: FarReturn = FarReturn { size: 8, values: 5, dropped: 0 };

    /// Values and error codes as on Linux and an AMD CPU of family 26 (far_returns.c of the guest
    /// tests).
    #[test]
    fn only_the_programs_own_code_is_reached() {
        let to = |cs, ss| target(&IRETQ, &[0x1000, cs, 0x202, 0x2000, ss], 0, 0x202);
        let same = Target::Same { rip: 0x1000, rsp: 0x2000, rflags: 0x202 };
        assert_eq!(to(0x33, 0x2b), same);
        assert_eq!(to(0x1234_0033, 0xffff_002b), same);
        assert_eq!(to(0x23, 0x2b), Target::Narrow);
        for (cs, ss, error) in [(0x30, 0x2b, 0x30), (3, 0x2b, 0), (0x37, 0x2b, 0x34), (0x33, 0x33, 0x30)] {
            assert_eq!(to(cs, ss), Target::Denied(error), "{cs:x} {ss:x}");
        }
        assert_eq!(target(&IRETQ, &[1 << 47, 0x33, 0x202, 0x2000, 0x2b], 0, 0x202), Target::Denied(0));
    }

    #[test]
    fn flags_of_the_system_stay() {
        let from = |flags, popped| match target(&IRETQ, &[0, 0x33, popped, 0, 0x2b], 0, flags) {
            Target::Same { rflags, .. } => rflags,
            other => panic!("{other:?}"),
        };
        assert_eq!(from(0x202, !0x100), 0x24_4ed7);
        assert_eq!(from(0xed7, 0), 0x202);
    }
}
