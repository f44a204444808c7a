//! Calls that are known and not served. Each answers as a kernel does that was built without the feature, or
//! that does not let the caller; the log says so once.

use crate::emu::guest::Gpr;
use crate::syscalls::errno::Errno;
use crate::syscalls::kernel::{Break, Ctx, SysResult};
use crate::syscalls::table::{self, Handler, Row, Support};

/// Says that the call whose number is in RAX is refused.
fn refuse(ctx: &mut Ctx, errno: Errno, name: &str) -> SysResult {
    let number = ctx.cpu.gpr(Gpr::Rax);
    let call = table::find(number).map_or("system call", |row| row.name);
    ctx.kernel.notices.once(format!("{call} is not emulated: answered with {name}"));
    Err(Break::Errno(errno))
}

fn enosys(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    refuse(ctx, Errno::ENOSYS, "ENOSYS")
}

fn eperm(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    refuse(ctx, Errno::EPERM, "EPERM")
}

/// perf_event_open(2) where `/proc/sys/kernel/perf_event_paranoid` forbids it.
fn eacces(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    refuse(ctx, Errno::EACCES, "EACCES")
}

/// Calls that x86-64 numbers but no kernel of today has: nothing to be said.
fn gone(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::ENOSYS.into())
}

/// restart_syscall(2): nothing is interrupted in a way that only the kernel could resume.
fn restart_syscall(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::EINTR.into())
}

const fn row(number: u16, name: &'static str, handler: Handler, note: &'static str) -> Row {
    Row { number, name, handler, support: Support::Refused, note }
}

const fn absent(number: u16, name: &'static str) -> Row {
    row(number, name, enosys, "ENOSYS")
}

const fn forbidden(number: u16, name: &'static str) -> Row {
    row(number, name, eperm, "EPERM")
}

const fn removed(number: u16, name: &'static str) -> Row {
    row(number, name, gone, "ENOSYS: Linux has it no more")
}

/// The refused calls, by number.
pub const ROWS: &[Row] = &[
    absent(29, "shmget"),
    absent(30, "shmat"),
    absent(31, "shmctl"),
    absent(64, "semget"),
    absent(65, "semop"),
    absent(66, "semctl"),
    absent(67, "shmdt"),
    absent(68, "msgget"),
    absent(69, "msgsnd"),
    absent(70, "msgrcv"),
    absent(71, "msgctl"),
    forbidden(101, "ptrace"),
    removed(134, "uselib"),
    forbidden(153, "vhangup"),
    absent(154, "modify_ldt"),
    removed(156, "_sysctl"),
    forbidden(159, "adjtimex"),
    forbidden(163, "acct"),
    forbidden(164, "settimeofday"),
    forbidden(169, "reboot"),
    forbidden(170, "sethostname"),
    forbidden(171, "setdomainname"),
    forbidden(172, "iopl"),
    forbidden(173, "ioperm"),
    removed(174, "create_module"),
    forbidden(175, "init_module"),
    forbidden(176, "delete_module"),
    removed(177, "get_kernel_syms"),
    removed(178, "query_module"),
    removed(180, "nfsservctl"),
    removed(181, "getpmsg"),
    removed(182, "putpmsg"),
    removed(183, "afs_syscall"),
    removed(184, "tuxcall"),
    removed(185, "security"),
    removed(205, "set_thread_area"),
    removed(211, "get_thread_area"),
    removed(212, "lookup_dcookie"),
    removed(214, "epoll_ctl_old"),
    removed(215, "epoll_wait_old"),
    absent(216, "remap_file_pages"),
    row(219, "restart_syscall", restart_syscall, "EINTR: nothing to restart"),
    absent(220, "semtimedop"),
    forbidden(227, "clock_settime"),
    removed(236, "vserver"),
    absent(240, "mq_open"),
    absent(241, "mq_unlink"),
    absent(242, "mq_timedsend"),
    absent(243, "mq_timedreceive"),
    absent(244, "mq_notify"),
    absent(245, "mq_getsetattr"),
    forbidden(246, "kexec_load"),
    absent(248, "add_key"),
    absent(249, "request_key"),
    absent(250, "keyctl"),
    absent(256, "migrate_pages"),
    forbidden(272, "unshare"),
    absent(279, "move_pages"),
    row(298, "perf_event_open", eacces, "EACCES"),
    forbidden(305, "clock_adjtime"),
    forbidden(308, "setns"),
    absent(310, "process_vm_readv"),
    absent(311, "process_vm_writev"),
    forbidden(313, "finit_module"),
    absent(317, "seccomp"),
    forbidden(320, "kexec_file_load"),
    forbidden(321, "bpf"),
    absent(323, "userfaultfd"),
    absent(424, "pidfd_send_signal"),
    absent(434, "pidfd_open"),
    absent(438, "pidfd_getfd"),
    absent(440, "process_madvise"),
    absent(444, "landlock_create_ruleset"),
    absent(445, "landlock_add_rule"),
    absent(446, "landlock_restrict_self"),
    absent(447, "memfd_secret"),
    absent(448, "process_mrelease"),
    absent(450, "set_mempolicy_home_node"),
    absent(453, "map_shadow_stack"),
    absent(459, "lsm_get_self_attr"),
    absent(460, "lsm_set_self_attr"),
    absent(461, "lsm_list_modules"),
    absent(462, "mseal"),
];
