//! Registers of a stopped task, as ptrace(2) shows and sets them: `struct user_regs_struct` and
//! `struct user_fpregs_struct` of sys/user.h.

use crate::abi::errno::Errno;
use crate::abi::ptrace::USER_REGS_SIZE;
use crate::guest::{Gpr, GuestCpu, USER_END};

/// Words of `struct user_regs_struct`.
pub(crate) const WORDS: usize = USER_REGS_SIZE as usize / 8;

/// Places of the words that are no general registers, and of those with a meaning of their own.
pub(crate) mod word {
    pub(crate) const RAX: usize = 10;
    pub(crate) const ORIG_RAX: usize = 15;
    pub(crate) const RIP: usize = 16;
    pub(super) const CS: usize = 17;
    pub(super) const EFLAGS: usize = 18;
    pub(crate) const RSP: usize = 19;
    pub(super) const SS: usize = 20;
    pub(crate) const FS_BASE: usize = 21;
    pub(crate) const GS_BASE: usize = 22;
}

/// The general registers with their places.
const GENERAL: [(usize, Gpr); 16] = [
    (0, Gpr::R15),
    (1, Gpr::R14),
    (2, Gpr::R13),
    (3, Gpr::R12),
    (4, Gpr::Rbp),
    (5, Gpr::Rbx),
    (6, Gpr::R11),
    (7, Gpr::R10),
    (8, Gpr::R9),
    (9, Gpr::R8),
    (word::RAX, Gpr::Rax),
    (11, Gpr::Rcx),
    (12, Gpr::Rdx),
    (13, Gpr::Rsi),
    (14, Gpr::Rdi),
    (word::RSP, Gpr::Rsp),
];

/// The arguments of a system call.
const ARGUMENTS: [usize; 6] = [14, 13, 12, 7, 9, 8];

/// `__USER_CS` and `__USER_DS`.
const USER_CS: u64 = 0x33;
const USER_DS: u64 = 0x2b;

/// Flags that a tracer may set (`FLAG_MASK`): CF PF AF ZF SF TF DF OF NT RF AC.
const FLAGS: u64 = 0x5_4dd5;
/// EFLAGS.TF.
pub(crate) const TRAP_FLAG: u64 = 0x100;

/// Bits that MXCSR has.
const MXCSR_MASK: u32 = 0xffff;

/// The registers of a task at a stop.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    words: [u64; WORDS],
    fpu: Box<[u8; 512]>,
    /// General registers that a tracer has set: all are stored again.
    pub(crate) is_set: bool,
    is_fpu_set: bool,
}

impl Registers {
    /// The registers as they are, but for `orig_rax`.
    pub(super) fn of(cpu: &dyn GuestCpu, orig_rax: u64) -> Registers {
        let mut words = [0; WORDS];
        for (at, reg) in GENERAL {
            words[at] = cpu.gpr(reg);
        }
        words[word::ORIG_RAX] = orig_rax;
        words[word::RIP] = cpu.rip();
        words[word::CS] = USER_CS;
        words[word::EFLAGS] = cpu.rflags();
        words[word::SS] = USER_DS;
        words[word::FS_BASE] = cpu.fs_base();
        words[word::GS_BASE] = cpu.gs_base();
        Registers { words, fpu: cpu.fpu(), is_set: false, is_fpu_set: false }
    }

    /// Shows another value than the register has, which is no change of it.
    pub(super) fn show(&mut self, at: usize, value: u64) {
        self.words[at] = value;
    }

    /// Stores what was set.
    pub(super) fn restore(&self, cpu: &mut dyn GuestCpu) {
        if self.is_set {
            for (at, reg) in GENERAL {
                cpu.set_gpr(reg, self.words[at]);
            }
            cpu.set_rip(self.words[word::RIP]);
            cpu.set_rflags(self.words[word::EFLAGS]);
            cpu.set_fs_base(self.words[word::FS_BASE]);
            cpu.set_gs_base(self.words[word::GS_BASE]);
        }
        if self.is_fpu_set {
            cpu.set_fpu(&self.fpu);
        }
    }

    /// A word.
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// All words.
    pub(crate) fn words(&self) -> &[u64; WORDS] {
        &self.words
    }

    /// The arguments of the system call that the task is in.
    pub(crate) fn arguments(&self) -> [u64; 6] {
        ARGUMENTS.map(|at| self.words[at])
    }

    /// Sets a word; EIO for what it cannot be (`putreg`). Another selector than the one that is
    /// there is among that: code is 64-bit and data segments have no meaning in it.
    pub(crate) fn set(&mut self, at: usize, value: u64) -> Result<(), Errno> {
        let old = self.words.get_mut(at).ok_or(Errno::EIO)?;
        *old = match at {
            word::CS | word::SS | 23.. if value & 0xffff != *old => return Err(Errno::EIO),
            word::CS | word::SS | 23.. => *old,
            word::FS_BASE | word::GS_BASE if value >= USER_END => return Err(Errno::EIO),
            word::EFLAGS => *old & !FLAGS | value & FLAGS,
            _ => value,
        };
        self.is_set = true;
        Ok(())
    }

    /// The FXSAVE image.
    pub(crate) fn fpu(&self) -> &[u8; 512] {
        &self.fpu
    }

    /// Sets the FXSAVE image; EINVAL for bits that MXCSR has not.
    pub(crate) fn set_fpu(&mut self, image: &[u8; 512]) -> Result<(), Errno> {
        if u32::from_le_bytes([image[24], image[25], image[26], image[27]]) & !MXCSR_MASK != 0 {
            return Err(Errno::EINVAL);
        }
        *self.fpu = *image;
        self.is_fpu_set = true;
        Ok(())
    }
}
