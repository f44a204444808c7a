//! The stack frame of a signal handler: `struct rt_sigframe` of arch/x86/include/asm/sigframe.h,
//! with an FXSAVE image above it. Programs unwind through it and edit it, so every offset counts.

use crate::abi::errno::Errno;
use crate::abi::signal::{AltStack, SigAction, sa};
use crate::guest::{Gpr, GuestCpu, GuestMemory};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::TaskSignals;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array};

/// Bytes of `struct rt_sigframe`.
const FRAME_SIZE: usize = 440;
/// Bytes of the FXSAVE image.
const FPSTATE_SIZE: usize = 512;
/// Bytes below the stack pointer that the ABI leaves to the function.
const RED_ZONE: u64 = 128;

/// Offsets within the frame: `pretcode`, then `struct ucontext` from 8, then `siginfo_t`.
mod offset {
    /// `uc.uc_stack`.
    pub(super) const UC_STACK: usize = 8 + 16;
    /// `uc.uc_mcontext`, 23 words of `struct sigcontext`.
    pub(super) const UC_MCONTEXT: usize = 8 + 40;
    /// `uc.uc_mcontext.fpstate`.
    pub(super) const FPSTATE: usize = UC_MCONTEXT + 184;
    /// `uc.uc_sigmask`.
    pub(super) const UC_SIGMASK: usize = 8 + 296;
    /// `info`.
    pub(super) const INFO: usize = 312;
}

/// `UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS`; without XSAVE there is no `UC_FP_XSTATE`.
const UC_FLAGS: u64 = 6;
/// `__USER_CS` and `__USER_DS`, the selectors of a 64-bit program.
const USER_CS: u16 = 0x33;
const USER_DS: u16 = 0x2b;
/// `__USER32_CS`.
const USER32_CS: u16 = 0x23;
/// Flags that rt_sigreturn(2) takes from the frame (`FIX_EFLAGS`): AC OF DF TF SF ZF AF PF CF RF.
const FIX_EFLAGS: u64 = 0x0005_0dd5;
/// Flags that are clear when a handler begins: TF, DF, RF.
const ENTRY_CLEARS: u64 = 0x0001_0500;
/// Bits that MXCSR has; loading any other faults.
const MXCSR_MASK: u32 = 0xffff;

/// The general registers in the order of `struct sigcontext`.
const ORDER: [Gpr; 16] = [
    Gpr::R8,
    Gpr::R9,
    Gpr::R10,
    Gpr::R11,
    Gpr::R12,
    Gpr::R13,
    Gpr::R14,
    Gpr::R15,
    Gpr::Rdi,
    Gpr::Rsi,
    Gpr::Rbp,
    Gpr::Rbx,
    Gpr::Rdx,
    Gpr::Rax,
    Gpr::Rcx,
    Gpr::Rsp,
];

/// The FXSAVE image that a handler starts with: FNINIT's, and MXCSR 0x1f80 (Intel SDM vol. 1,
/// 10.5).
fn initial_fpu() -> [u8; FPSTATE_SIZE] {
    let mut image = [0; FPSTATE_SIZE];
    image[0..2].copy_from_slice(&0x37f_u16.to_le_bytes());
    image[24..28].copy_from_slice(&0x1f80_u32.to_le_bytes());
    image[28..32].copy_from_slice(&MXCSR_MASK.to_le_bytes());
    image
}

/// Addresses of the frame and the FXSAVE image (`get_sigframe`); `None` where they do not fit on
/// the alternate stack.
fn place(sp: u64, action: &SigAction, alt: &AltStack) -> Option<(u64, u64)> {
    let nested = alt.active(sp);
    let mut at = sp.wrapping_sub(RED_ZONE);
    let mut entering = false;
    if action.flags & sa::ONSTACK != 0 && alt.size != 0 && !alt.active(at) {
        at = alt.sp.wrapping_add(alt.size);
        entering = true;
    }
    let fpstate = at.wrapping_sub(FPSTATE_SIZE as u64) & !63;
    let frame = (fpstate.wrapping_sub(FRAME_SIZE as u64) & !15).wrapping_sub(8);
    if (nested || entering) && !alt.contains(frame) {
        return None;
    }
    Some((frame, fpstate))
}

/// Pushes a frame and sets the registers for the handler (`x64_setup_rt_frame`). `mask` is the one
/// that rt_sigreturn(2) will restore. Nothing changes if the frame cannot be written.
pub(super) fn push(
    cpu: &mut dyn GuestCpu,
    mem: &mut dyn GuestMemory,
    task: &TaskSignals,
    action: &SigAction,
    info: &SigInfo,
    mask: u64,
) -> Result<(), Errno> {
    if action.flags & sa::RESTORER == 0 {
        return Err(Errno::EFAULT);
    }
    let (at, fpstate) = place(cpu.gpr(Gpr::Rsp), action, &task.altstack).ok_or(Errno::EFAULT)?;
    let mut words = vec![action.restorer, UC_FLAGS, 0, task.altstack.sp];
    words.push(u64::from(task.altstack.flags));
    words.push(task.altstack.size);
    words.extend(ORDER.map(|reg| cpu.gpr(reg)));
    words.push(cpu.rip());
    words.push(cpu.rflags());
    words.push(u64::from(USER_CS) | u64::from(USER_DS) << 48);
    words.extend([task.trap.error, task.trap.number, mask, task.trap.cr2, fpstate]);
    words.extend([0; 8]);
    words.push(mask);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if action.flags & sa::SIGINFO != 0 {
        bytes.extend_from_slice(info.bytes());
    }
    copy_to_user(mem, fpstate, cpu.fpu().as_slice())?;
    copy_to_user(mem, at, &bytes)?;

    cpu.set_gpr(Gpr::Rdi, info.signo() as u64);
    cpu.set_gpr(Gpr::Rax, 0);
    cpu.set_gpr(Gpr::Rsi, at.wrapping_add(offset::INFO as u64));
    cpu.set_gpr(Gpr::Rdx, at.wrapping_add(8));
    cpu.set_gpr(Gpr::Rsp, at);
    cpu.set_rip(action.handler);
    cpu.set_rflags(cpu.rflags() & !ENTRY_CLEARS);
    cpu.set_fpu(&initial_fpu());
    Ok(())
}

/// The part of a frame that rt_sigreturn(2) restores besides the registers.
pub(super) struct Popped {
    /// The signal mask.
    pub(super) mask: u64,
    /// `uc_stack`: address, flags, size.
    pub(super) altstack: AltStack,
}

/// A frame that cannot be returned through.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadFrame {
    /// SIGSEGV, as `signal_fault` has it.
    Fault,
    /// It asks for 32-bit code.
    CompatMode,
}

/// Restores the registers from the frame that the stack pointer is just above
/// (`restore_sigcontext`).
pub(super) fn pop(cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Result<Popped, BadFrame> {
    let at = cpu.gpr(Gpr::Rsp).wrapping_sub(8);
    let mut bytes = [0; offset::INFO];
    copy_from_user(mem, at, &mut bytes).map_err(|_| BadFrame::Fault)?;
    let word = |at: usize| -> u64 {
        bytes.get(at..at + 8).map_or(0, |word| word.iter().rev().fold(0, |v, byte| v << 8 | u64::from(*byte)))
    };
    let context = |index: usize| word(offset::UC_MCONTEXT + index * 8);
    match context(18) as u16 | 3 {
        USER_CS => {}
        USER32_CS => return Err(BadFrame::CompatMode),
        _ => return Err(BadFrame::Fault),
    }
    let fpu = match word(offset::FPSTATE) {
        0 => initial_fpu(),
        // FXRSTOR needs its area at a multiple of 16.
        fpstate if fpstate % 16 != 0 => return Err(BadFrame::Fault),
        fpstate => get_array(mem, fpstate).map_err(|_| BadFrame::Fault)?,
    };
    if u32::from_le_bytes([fpu[24], fpu[25], fpu[26], fpu[27]]) & !MXCSR_MASK != 0 {
        return Err(BadFrame::Fault);
    }
    for (index, reg) in ORDER.into_iter().enumerate() {
        cpu.set_gpr(reg, context(index));
    }
    cpu.set_rip(context(16));
    cpu.set_rflags(cpu.rflags() & !FIX_EFLAGS | context(17) & FIX_EFLAGS);
    cpu.set_fpu(&fpu);
    let altstack = AltStack {
        sp: word(offset::UC_STACK),
        flags: word(offset::UC_STACK + 8) as u32,
        size: word(offset::UC_STACK + 16),
    };
    Ok(Popped { mask: word(offset::UC_SIGMASK), altstack })
}
