//! The calls of whoever runs a machine: its name, its namespaces, its end.
//! They ask for capabilities(7) as Linux does; what then remains that this machine does not have is
//! refused by name.

use crate::abi::capability::*;
use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::kernel::namespace::kind::{Kind, NsLink};
use crate::kernel::uaccess::copy_from_user;
use crate::kernel::uts;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::fs::{FDCWD, get_path};
use crate::syscalls::row::{Row, full, partial};

const NO_MODULES: &str = "EPERM, as where kernel.modules_disabled is set";

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(103, "syslog", syslog).noted("the log is empty"),
    full(153, "vhangup", vhangup),
    partial(163, "acct", acct, "with CAP_SYS_PACCT ENOSYS"),
    partial(167, "swapon", swapon, "with CAP_SYS_ADMIN EINVAL"),
    partial(168, "swapoff", swap, "with CAP_SYS_ADMIN EINVAL"),
    partial(169, "reboot", reboot, "to stop or start the machine stops the run"),
    full(170, "sethostname", sethostname),
    full(171, "setdomainname", setdomainname),
    partial(172, "iopl", iopl, "with CAP_SYS_RAWIO EPERM, as in a locked-down kernel"),
    partial(173, "ioperm", ioperm, "with CAP_SYS_RAWIO EPERM, as in a locked-down kernel"),
    partial(175, "init_module", no_modules, NO_MODULES),
    partial(176, "delete_module", no_modules, NO_MODULES),
    partial(272, "unshare", unshare, "time namespaces have no offsets"),
    full(308, "setns", setns),
    partial(313, "finit_module", no_modules, NO_MODULES),
];

/// EPERM unless the task has a capability.
fn require(ctx: &Ctx, capability: u64) -> Result<(), Errno> {
    ctx.kernel.task().cred.require(capability)
}

/// Says once that something is not done although the task may have it done.
fn not_here(ctx: &mut Ctx, what: &str, errno: Errno, name: &str) -> Break {
    ctx.kernel.notices.once(format!("{what} is not emulated: answered with {name}"));
    errno.into()
}

/// A name for the machine, at most 64 bytes.
fn name(ctx: &mut Ctx, [addr, len, ..]: [u64; 6]) -> Result<Vec<u8>, Errno> {
    ctx.kernel.require_in(ctx.kernel.task().namespaces.uts, CAP_SYS_ADMIN)?;
    if len as i32 as i64 > uts::NAME_MAX as i64 || (len as i32) < 0 {
        return Err(Errno::EINVAL);
    }
    let mut name = vec![0; len as usize];
    copy_from_user(ctx.mem, addr, &mut name)?;
    Ok(name)
}

/// sethostname(2).
fn sethostname(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let name = name(ctx, args)?;
    ctx.kernel.names_mut().host = name;
    Ok(0)
}

/// setdomainname(2).
fn setdomainname(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let name = name(ctx, args)?;
    ctx.kernel.names_mut().domain = name;
    Ok(0)
}

/// unshare(2): threads cannot leave what they share with their process.
fn unshare(ctx: &mut Ctx, [flags, ..]: [u64; 6]) -> SysResult {
    if flags & !(CLONE_UNSHARED | CLONE_NAMESPACES | CLONE_NEWUSER) != 0 {
        return Err(Errno::EINVAL.into());
    }
    // What one flag unshares takes others with it.
    let with_threads = flags & (CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_NEWUSER) != 0;
    if with_threads && !ctx.kernel.is_alone(flags & (CLONE_SIGHAND | CLONE_VM) != 0) {
        return Err(Errno::EINVAL.into());
    }
    if flags & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER) != 0 {
        ctx.kernel.unshare_fs();
    }
    ctx.kernel.unshare_namespaces(flags, ctx.mem)?;
    if flags & CLONE_FILES != 0 {
        ctx.kernel.unshare_files();
    }
    Ok(0)
}

/// setns(2): to the namespace of a descriptor, or to those of a process.
fn setns(ctx: &mut Ctx, [fd, wanted, ..]: [u64; 6]) -> SysResult {
    /// User first, so that its capabilities count for the others.
    const KINDS: [Kind; 8] =
        [Kind::User, Kind::Mnt, Kind::Uts, Kind::Ipc, Kind::Pid, Kind::Cgroup, Kind::Net, Kind::Time];
    let wanted = u64::from(wanted as u32);
    let ops = &ctx.kernel.files.get(ctx.opened(fd as i32)?).ops;
    if let Some((kind, id)) = ops.namespace() {
        if wanted != 0 && wanted != kind.flag() {
            return Err(Errno::EINVAL.into());
        }
        ctx.kernel.enter_namespace(kind, id, ctx.mem)?;
        return Ok(0);
    }
    let process = ops.process().ok_or(Errno::EINVAL)?;
    if wanted == 0 || wanted & !(CLONE_NAMESPACES | CLONE_NEWUSER) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let task = ctx.kernel.has_process(process).then(|| ctx.kernel.task_of(process)).ok_or(Errno::ESRCH)?;
    ctx.kernel.may_look_into(task)?;
    for kind in KINDS.into_iter().filter(|kind| wanted & kind.flag() != 0) {
        let task = ctx.kernel.other_task(task);
        let id = task.namespaces.get(NsLink::Own(kind)).unwrap_or(task.cred.user_ns.id);
        ctx.kernel.enter_namespace(kind, id, ctx.mem)?;
    }
    Ok(0)
}

/// swapon(2).
fn swapon(ctx: &mut Ctx, [path, flags, ..]: [u64; 6]) -> SysResult {
    const SWAP_FLAGS_VALID: u32 = 0x7_ffff;
    if flags as u32 & !SWAP_FLAGS_VALID != 0 {
        return Err(Errno::EINVAL.into());
    }
    swap(ctx, [path, 0, 0, 0, 0, 0])
}

/// swapoff(2), and swapon(2): no file is swap space.
fn swap(ctx: &mut Ctx, [path, ..]: [u64; 6]) -> SysResult {
    require(ctx, CAP_SYS_ADMIN)?;
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    match fs.locate(&caller, FDCWD as i32, &path, true) {
        Err(Errno::ENXIO) => {
            // A pipe can be opened, to find that it is no file.
            let file = fs.nameless(&caller, FDCWD as i32, &path)?;
            let pipe = ctx.kernel.files.get(file).ops.pipe().is_some();
            return Err(if pipe { Errno::EINVAL } else { Errno::ENXIO }.into());
        }
        found => found?.exists()?,
    };
    Err(Errno::EINVAL.into())
}

/// reboot(2).
fn reboot(ctx: &mut Ctx, [magic1, magic2, command, ..]: [u64; 6]) -> SysResult {
    const MAGIC1: u32 = 0xfee1_dead;
    const MAGIC2: [u32; 4] = [672_274_793, 85_072_278, 369_367_448, 537_993_216];
    require(ctx, CAP_SYS_BOOT)?;
    if magic1 as u32 != MAGIC1 || !MAGIC2.contains(&(magic2 as u32)) {
        return Err(Errno::EINVAL.into());
    }
    match command as u32 {
        // LINUX_REBOOT_CMD_CAD_ON and CAD_OFF: nobody presses Ctrl-Alt-Del.
        0x89ab_cdef | 0 => Ok(0),
        // RESTART, RESTART2, HALT, POWER_OFF.
        0x0123_4567 | 0xa1b2_c3d4 | 0xcdef_0123 | 0x4321_fedc => Err(Break::Refuse(
            "reboot: the program ends the machine that it runs on; the profile is complete up to here".into(),
        )),
        // KEXEC and SW_SUSPEND need an image and a disk for it.
        _ => Err(Errno::EINVAL.into()),
    }
}

fn no_modules(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    require(ctx, CAP_SYS_MODULE)?;
    Err(not_here(ctx, "a kernel module", Errno::EPERM, "EPERM"))
}

/// acct(2).
fn acct(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    require(ctx, CAP_SYS_PACCT)?;
    Err(not_here(ctx, "process accounting", Errno::ENOSYS, "ENOSYS"))
}

/// iopl(2). Level 0 is what holds anyway.
fn iopl(ctx: &mut Ctx, [level, ..]: [u64; 6]) -> SysResult {
    match level as u32 {
        0 => Ok(0),
        1..=3 => {
            require(ctx, CAP_SYS_RAWIO)?;
            Err(not_here(ctx, "iopl", Errno::EPERM, "EPERM"))
        }
        _ => Err(Errno::EINVAL.into()),
    }
}

/// ioperm(2). No port is open.
fn ioperm(ctx: &mut Ctx, [from, count, on, ..]: [u64; 6]) -> SysResult {
    const PORTS: u64 = 65_536;
    if from.checked_add(count).is_none_or(|end| end <= from || end > PORTS) {
        return Err(Errno::EINVAL.into());
    }
    if on as u32 == 0 {
        return Ok(0);
    }
    require(ctx, CAP_SYS_RAWIO)?;
    Err(not_here(ctx, "ioperm", Errno::EPERM, "EPERM"))
}

/// vhangup(2): there is no controlling terminal to hang up.
fn vhangup(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    require(ctx, CAP_SYS_TTY_CONFIG)?;
    Ok(0)
}

/// syslog(2), with kernel.dmesg_restrict. The log has no messages.
fn syslog(ctx: &mut Ctx, [action, buf, len, ..]: [u64; 6]) -> SysResult {
    const SIZE_BUFFER: u64 = 262_144;
    require(ctx, CAP_SYSLOG)?;
    match action as i32 {
        2..=4 if buf == 0 || (len as i32) < 0 => Err(Errno::EINVAL.into()),
        2 if len as u32 != 0 => Err(Break::Refuse(
            "syslog: waits for a message of the kernel, which has none; ask with SYSLOG_ACTION_READ_ALL"
                .into(),
        )),
        8 if !(1..=8).contains(&(len as i32)) => Err(Errno::EINVAL.into()),
        10 => Ok(SIZE_BUFFER),
        0..=9 => Ok(0),
        _ => Err(Errno::EINVAL.into()),
    }
}
