//! Calls that are known and not served. Each answers as a kernel does that was built without the
//! feature, or that does not let the caller; the log says so once.

use crate::abi::errno::Errno;
use crate::guest::Gpr;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, refused};

/// Says that the call whose number is in RAX is refused.
fn refuse(ctx: &mut Ctx, errno: Errno, name: &str) -> SysResult {
    let number = ctx.cpu.gpr(Gpr::Rax);
    let row = ROWS.iter().find(|row| u64::from(row.number) == number);
    let call = row.map_or("system call", |row| row.name);
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

const fn absent(number: u16, name: &'static str) -> Row {
    refused(number, name, enosys, "ENOSYS")
}

const fn forbidden(number: u16, name: &'static str) -> Row {
    refused(number, name, eperm, "EPERM")
}

const fn removed(number: u16, name: &'static str) -> Row {
    refused(number, name, gone, "ENOSYS: Linux has it no more")
}

/// The refused calls, by number.
pub(crate) const ROWS: &[Row] = &[
    removed(134, "uselib"),
    removed(156, "_sysctl"),
    removed(174, "create_module"),
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
    refused(219, "restart_syscall", restart_syscall, "EINTR: nothing to restart"),
    removed(236, "vserver"),
    forbidden(246, "kexec_load"),
    refused(298, "perf_event_open", eacces, "EACCES"),
    absent(300, "fanotify_init"),
    absent(301, "fanotify_mark"),
    forbidden(320, "kexec_file_load"),
    forbidden(321, "bpf"),
    absent(335, "uretprobe"),
    absent(336, "uprobe"),
    forbidden(428, "open_tree"),
    forbidden(429, "move_mount"),
    forbidden(430, "fsopen"),
    forbidden(431, "fsconfig"),
    forbidden(432, "fsmount"),
    forbidden(433, "fspick"),
    forbidden(442, "mount_setattr"),
    absent(443, "quotactl_fd"),
    absent(444, "landlock_create_ruleset"),
    absent(445, "landlock_add_rule"),
    absent(446, "landlock_restrict_self"),
    absent(447, "memfd_secret"),
    absent(448, "process_mrelease"),
    absent(450, "set_mempolicy_home_node"),
    absent(451, "cachestat"),
    absent(453, "map_shadow_stack"),
    absent(457, "statmount"),
    absent(458, "listmount"),
    absent(459, "lsm_get_self_attr"),
    absent(460, "lsm_set_self_attr"),
    absent(461, "lsm_list_modules"),
    absent(462, "mseal"),
    absent(463, "setxattrat"),
    absent(464, "getxattrat"),
    absent(465, "listxattrat"),
    absent(466, "removexattrat"),
    forbidden(467, "open_tree_attr"),
    absent(468, "file_getattr"),
    absent(469, "file_setattr"),
];

#[cfg(test)]
mod tests {
    use crate::syscalls::table;
    use crate::syscalls::testing::Machine;

    /// The x86-64 table of Linux 6.18 has 0 to 336 and 424 to 469.
    #[test]
    fn every_number_has_a_row() {
        let missing: Vec<u64> =
            (0..=336).chain(424..=469).filter(|number| table::find(*number).is_none()).collect();
        assert_eq!(missing, [0; 0]);
    }

    #[test]
    fn numbers_without_a_call_are_enosys() {
        let mut machine = Machine::new();
        for number in [337, 400, 423, 470, 511, 512, 547, 1 << 30, u64::from(u32::MAX)] {
            assert_eq!(machine.call(number, &[]), -38, "{number}");
        }
    }

    #[test]
    fn a_refusal_is_said_once_and_by_name() {
        let mut machine = Machine::new();
        assert_eq!(machine.call(300, &[]), -38);
        assert_eq!(machine.call(300, &[]), -38);
        assert_eq!(machine.call(321, &[]), -1);
        let notices = machine.kernel.notices.lines(|_| None);
        assert_eq!(notices.len(), 2);
        assert!(notices[0].contains("fanotify_init") && notices[1].contains("bpf"), "{notices:?}");
    }
}
