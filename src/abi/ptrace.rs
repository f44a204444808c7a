//! Numbers and structures of ptrace(2).
#![allow(missing_docs)]

pub(crate) const PTRACE_TRACEME: u64 = 0;
pub(crate) const PTRACE_PEEKTEXT: u64 = 1;
pub(crate) const PTRACE_PEEKDATA: u64 = 2;
pub(crate) const PTRACE_PEEKUSER: u64 = 3;
pub(crate) const PTRACE_POKETEXT: u64 = 4;
pub(crate) const PTRACE_POKEDATA: u64 = 5;
pub(crate) const PTRACE_POKEUSER: u64 = 6;
pub(crate) const PTRACE_CONT: u64 = 7;
pub(crate) const PTRACE_KILL: u64 = 8;
pub(crate) const PTRACE_SINGLESTEP: u64 = 9;
pub(crate) const PTRACE_GETREGS: u64 = 12;
pub(crate) const PTRACE_SETREGS: u64 = 13;
pub(crate) const PTRACE_GETFPREGS: u64 = 14;
pub(crate) const PTRACE_SETFPREGS: u64 = 15;
pub(crate) const PTRACE_ATTACH: u64 = 16;
pub(crate) const PTRACE_DETACH: u64 = 17;
pub(crate) const PTRACE_OLDSETOPTIONS: u64 = 21;
pub(crate) const PTRACE_SYSCALL: u64 = 24;
pub(crate) const PTRACE_GET_THREAD_AREA: u64 = 25;
pub(crate) const PTRACE_SET_THREAD_AREA: u64 = 26;
pub(crate) const PTRACE_ARCH_PRCTL: u64 = 30;
pub(crate) const PTRACE_SYSEMU: u64 = 31;
pub(crate) const PTRACE_SYSEMU_SINGLESTEP: u64 = 32;
pub(crate) const PTRACE_SINGLEBLOCK: u64 = 33;
pub(crate) const PTRACE_SETOPTIONS: u64 = 0x4200;
pub(crate) const PTRACE_GETEVENTMSG: u64 = 0x4201;
pub(crate) const PTRACE_GETSIGINFO: u64 = 0x4202;
pub(crate) const PTRACE_SETSIGINFO: u64 = 0x4203;
pub(crate) const PTRACE_GETREGSET: u64 = 0x4204;
pub(crate) const PTRACE_SETREGSET: u64 = 0x4205;
pub(crate) const PTRACE_SEIZE: u64 = 0x4206;
pub(crate) const PTRACE_INTERRUPT: u64 = 0x4207;
pub(crate) const PTRACE_LISTEN: u64 = 0x4208;
pub(crate) const PTRACE_PEEKSIGINFO: u64 = 0x4209;
pub(crate) const PTRACE_GETSIGMASK: u64 = 0x420a;
pub(crate) const PTRACE_SETSIGMASK: u64 = 0x420b;
pub(crate) const PTRACE_SECCOMP_GET_FILTER: u64 = 0x420c;
pub(crate) const PTRACE_SECCOMP_GET_METADATA: u64 = 0x420d;
pub(crate) const PTRACE_GET_SYSCALL_INFO: u64 = 0x420e;
pub(crate) const PTRACE_GET_RSEQ_CONFIGURATION: u64 = 0x420f;
pub(crate) const PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG: u64 = 0x4210;
pub(crate) const PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG: u64 = 0x4211;
pub(crate) const PTRACE_SET_SYSCALL_INFO: u64 = 0x4212;

pub(crate) const PTRACE_O_TRACESYSGOOD: u32 = 1;
pub(crate) const PTRACE_O_EXITKILL: u32 = 1 << 20;
pub(crate) const PTRACE_O_SUSPEND_SECCOMP: u32 = 1 << 21;
/// All options.
pub(crate) const PTRACE_O_MASK: u32 = 0xff | PTRACE_O_EXITKILL | PTRACE_O_SUSPEND_SECCOMP;

/// Events. The option that asks for one is the bit of its number.
pub(crate) const PTRACE_EVENT_FORK: u32 = 1;
pub(crate) const PTRACE_EVENT_VFORK: u32 = 2;
pub(crate) const PTRACE_EVENT_CLONE: u32 = 3;
pub(crate) const PTRACE_EVENT_EXEC: u32 = 4;
pub(crate) const PTRACE_EVENT_VFORK_DONE: u32 = 5;
pub(crate) const PTRACE_EVENT_EXIT: u32 = 6;
pub(crate) const PTRACE_EVENT_SECCOMP: u32 = 7;
pub(crate) const PTRACE_EVENT_STOP: u32 = 128;

/// Messages of stops at system calls, PTRACE_GETEVENTMSG.
pub(crate) const PTRACE_EVENTMSG_SYSCALL_ENTRY: u64 = 1;
pub(crate) const PTRACE_EVENTMSG_SYSCALL_EXIT: u64 = 2;

/// `op` of `struct ptrace_syscall_info`.
pub(crate) const PTRACE_SYSCALL_INFO_NONE: u8 = 0;
pub(crate) const PTRACE_SYSCALL_INFO_ENTRY: u8 = 1;
pub(crate) const PTRACE_SYSCALL_INFO_EXIT: u8 = 2;
pub(crate) const PTRACE_SYSCALL_INFO_SECCOMP: u8 = 3;

/// Signals of the process instead of the task's, in `struct ptrace_peeksiginfo_args`.
pub(crate) const PTRACE_PEEKSIGINFO_SHARED: u32 = 1;

/// Sets of registers, `elf.h`.
pub(crate) const NT_PRSTATUS: u32 = 1;
pub(crate) const NT_PRFPREG: u32 = 2;
pub(crate) const NT_386_IOPERM: u32 = 0x201;
pub(crate) const NT_X86_XSTATE: u32 = 0x202;

/// Bytes of `struct user`, and its parts: `struct user_regs_struct`, and where the debug registers
/// are.
pub(crate) const USER_SIZE: u64 = 928;
pub(crate) const USER_REGS_SIZE: u64 = 216;
pub(crate) const USER_DEBUGREG: u64 = 848;

pub(crate) const ARCH_SET_GS: u64 = 0x1001;
pub(crate) const ARCH_SET_FS: u64 = 0x1002;
pub(crate) const ARCH_GET_FS: u64 = 0x1003;
pub(crate) const ARCH_GET_GS: u64 = 0x1004;
