//! Numbers of seccomp(2), of the classic BPF programs that it takes (linux/bpf_common.h,
//! linux/filter.h), and of the user's own dispatch of system calls in prctl(2).
#![allow(missing_docs)]

pub(crate) const SECCOMP_MODE_STRICT: u64 = 1;
pub(crate) const SECCOMP_MODE_FILTER: u64 = 2;

pub(crate) const SECCOMP_SET_MODE_STRICT: u32 = 0;
pub(crate) const SECCOMP_SET_MODE_FILTER: u32 = 1;
pub(crate) const SECCOMP_GET_ACTION_AVAIL: u32 = 2;
pub(crate) const SECCOMP_GET_NOTIF_SIZES: u32 = 3;

pub(crate) const SECCOMP_FILTER_FLAG_TSYNC: u64 = 1;
pub(crate) const SECCOMP_FILTER_FLAG_NEW_LISTENER: u64 = 8;
pub(crate) const SECCOMP_FILTER_FLAG_TSYNC_ESRCH: u64 = 16;
pub(crate) const SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV: u64 = 32;
/// All flags: those above, LOG and SPEC_ALLOW.
pub(crate) const SECCOMP_FILTER_FLAG_MASK: u64 = 0x3f;

pub(crate) const SECCOMP_RET_KILL_PROCESS: u32 = 0x8000_0000;
pub(crate) const SECCOMP_RET_KILL_THREAD: u32 = 0;
pub(crate) const SECCOMP_RET_TRAP: u32 = 0x0003_0000;
pub(crate) const SECCOMP_RET_ERRNO: u32 = 0x0005_0000;
pub(crate) const SECCOMP_RET_USER_NOTIF: u32 = 0x7fc0_0000;
pub(crate) const SECCOMP_RET_TRACE: u32 = 0x7ff0_0000;
pub(crate) const SECCOMP_RET_LOG: u32 = 0x7ffc_0000;
pub(crate) const SECCOMP_RET_ALLOW: u32 = 0x7fff_0000;
pub(crate) const SECCOMP_RET_ACTION_FULL: u32 = 0xffff_0000;
pub(crate) const SECCOMP_RET_DATA: u32 = 0xffff;

pub(crate) const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
/// Bytes of `struct seccomp_data`.
pub(crate) const SECCOMP_DATA_SIZE: u32 = 64;

/// Most instructions of one program, and of all programs of a task with 4 for each.
pub(crate) const BPF_MAXINSNS: usize = 4096;
pub(crate) const MAX_INSNS_PER_PATH: usize = 32_768;
/// Words of memory of a program.
pub(crate) const BPF_MEMWORDS: u32 = 16;

/// Class of an instruction, in its low three bits.
pub(crate) mod class {
    pub(crate) const LD: u16 = 0;
    pub(crate) const LDX: u16 = 1;
    pub(crate) const ST: u16 = 2;
    pub(crate) const STX: u16 = 3;
    pub(crate) const ALU: u16 = 4;
    pub(crate) const JMP: u16 = 5;
    pub(crate) const RET: u16 = 6;
}

/// Modes of loads, with the width of a word.
pub(crate) mod mode {
    pub(crate) const IMM: u16 = 0x00;
    pub(crate) const ABS: u16 = 0x20;
    pub(crate) const MEM: u16 = 0x60;
    pub(crate) const LEN: u16 = 0x80;
}

/// Operations of ALU.
pub(crate) mod alu {
    pub(crate) const ADD: u16 = 0x00;
    pub(crate) const SUB: u16 = 0x10;
    pub(crate) const MUL: u16 = 0x20;
    pub(crate) const DIV: u16 = 0x30;
    pub(crate) const OR: u16 = 0x40;
    pub(crate) const AND: u16 = 0x50;
    pub(crate) const LSH: u16 = 0x60;
    pub(crate) const RSH: u16 = 0x70;
    pub(crate) const NEG: u16 = 0x80;
    pub(crate) const XOR: u16 = 0xa0;
}

/// Operations of JMP.
pub(crate) mod jump {
    pub(crate) const JA: u16 = 0x00;
    pub(crate) const JEQ: u16 = 0x10;
    pub(crate) const JGT: u16 = 0x20;
    pub(crate) const JGE: u16 = 0x30;
    pub(crate) const JSET: u16 = 0x40;
}

/// The second operand of ALU and JMP is X instead of the constant.
pub(crate) const BPF_X: u16 = 0x08;
/// RET gives the accumulator instead of the constant.
pub(crate) const BPF_A: u16 = 0x10;
/// MISC copies X to A; without it A to X.
pub(crate) const BPF_TXA: u16 = 0x80;

pub(crate) const PR_SYS_DISPATCH_OFF: u64 = 0;
pub(crate) const PR_SYS_DISPATCH_EXCLUSIVE_ON: u64 = 1;
pub(crate) const PR_SYS_DISPATCH_INCLUSIVE_ON: u64 = 2;
pub(crate) const SYSCALL_DISPATCH_FILTER_ALLOW: u8 = 0;
pub(crate) const SYSCALL_DISPATCH_FILTER_BLOCK: u8 = 1;
