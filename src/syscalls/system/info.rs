//! uname(2), sysinfo(2), getrandom(2), syslog(2), kcmp(2).

use crate::abi::errno::Errno;
use crate::abi::fs::{MAX_RW_COUNT, S_IFBLK};
use crate::abi::process::{KCMP_EPOLL_TFD, KCMP_FILE, KCMP_FILES, KCMP_FS, KCMP_SIGHAND, KCMP_VM, UNAME26};
use crate::abi::random::{GRND_INSECURE, GRND_NONBLOCK, GRND_RANDOM};
use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::procfs::machine::TOTAL_MEMORY;
use crate::kernel::uaccess::{copy_to_user, get_u32, put_words};
use crate::kernel::uts;
use crate::kernel::vfs::proc_tables::FILESYSTEMS;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fs::{FDCWD, get_path, nameless_is};
use crate::syscalls::iovec::access_ok;
use crate::syscalls::row::{Row, full, partial};
use crate::syscalls::stat::free_of;

/// System calls about the machine.
pub(crate) const ROWS: &[Row] = &[
    full(63, "uname", uname).noted("a fixed machine"),
    full(136, "ustat", ustat),
    full(139, "sysfs", sysfs),
    full(179, "quotactl", quotactl).noted("no file system has quotas"),
    full(99, "sysinfo", sysinfo).noted("a fixed machine of 4 GiB"),
    partial(312, "kcmp", kcmp, "only the process with itself"),
    full(318, "getrandom", getrandom).noted("a seeded stream"),
];

/// uname(2): `struct utsname`.
fn uname(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    const FIELD: usize = 65;
    let old = ctx.kernel.task().personality & UNAME26 != 0;
    let release = if old { uts::RELEASE_26 } else { uts::RELEASE };
    // sysname, nodename, release, version, machine, domainname.
    let uts::Names { host, domain } = ctx.kernel.names();
    let fields = [b"Linux", &host[..], release.as_bytes(), uts::VERSION.as_bytes(), b"x86_64", domain];
    let mut bytes = Vec::with_capacity(fields.len() * FIELD);
    for (index, field) in fields.iter().enumerate() {
        bytes.extend_from_slice(field);
        bytes.resize((index + 1) * FIELD, 0);
    }
    copy_to_user(ctx.mem, addr, &bytes)?;
    Ok(0)
}

/// sysinfo(2). Sizes are those of `/proc/meminfo`, not of what is in use: a program must not see
/// the host.
fn sysinfo(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    const FREE_RAM: u64 = 3 << 30;
    const PROCESSES: u64 = 2;
    const MEM_UNIT: u64 = 1;
    let uptime = ctx.kernel.clock.monotonic_ns(ctx.cpu.instructions()) / NSEC_PER_SEC;
    // uptime; three loads; ram total, free, shared, buffer; swap total, free; processes; high
    // total, free; unit of memory.
    let words = [uptime, 0, 0, 0, TOTAL_MEMORY, FREE_RAM, 0, 0, 0, 0, PROCESSES, 0, 0, MEM_UNIT];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    copy_to_user(ctx.mem, addr, &bytes)?;
    Ok(0)
}

/// ustat(2) of a mounted file system: blocks and inodes that are free, and no names.
fn ustat(ctx: &mut Ctx, [dev, buf, ..]: [u64; 6]) -> SysResult {
    let (blocks, inodes) = free_of(ctx, u64::from(dev as u32)).ok_or(Errno::EINVAL)?;
    put_words(ctx.mem, buf, &[blocks, inodes, 0, 0])?;
    Ok(0)
}

/// sysfs(2): kinds of file systems by name and number.
fn sysfs(ctx: &mut Ctx, [option, arg1, arg2, ..]: [u64; 6]) -> SysResult {
    let mut names = FILESYSTEMS.lines().filter_map(|line| line.split('\t').next_back());
    match option as u32 {
        1 => {
            let wanted = get_path(ctx.mem, arg1)?;
            let place = names.position(|name| name.as_bytes() == wanted).ok_or(Errno::EINVAL)?;
            Ok(place as u64)
        }
        2 => {
            let name = names.nth(arg1 as u32 as usize).ok_or(Errno::EINVAL)?;
            copy_to_user(ctx.mem, arg2, &[name.as_bytes(), b"\0"].concat())?;
            Ok(0)
        }
        3 => Ok(names.count() as u64),
        _ => Err(Errno::EINVAL.into()),
    }
}

/// quotactl(2).
fn quotactl(ctx: &mut Ctx, [command, special, ..]: [u64; 6]) -> SysResult {
    /// Users, groups, projects.
    const MAXQUOTAS: u32 = 3;
    const Q_SYNC: u32 = 0x80_0001;
    let command = command as u32;
    if command & 0xff >= MAXQUOTAS {
        return Err(Errno::EINVAL.into());
    }
    if special == 0 {
        return if command >> 8 == Q_SYNC { Ok(0) } else { Err(Errno::ENODEV.into()) };
    }
    let path = get_path(ctx.mem, special)?;
    let (fs, caller, _) = ctx.paths();
    let found = fs.locate(&caller, FDCWD as i32, &path, true);
    let ino = found.map_err(nameless_is(Errno::ENOTBLK))?.exists()?;
    // A node of a block device has no disk behind it.
    Err(if fs.node(ino).kind() == S_IFBLK { Errno::ENODEV } else { Errno::ENOTBLK }.into())
}

/// kcmp(2): objects are ordered as they were made, descriptions as they were opened or reused.
fn kcmp(ctx: &mut Ctx, [pid1, pid2, kind, fd1, fd2, _]: [u64; 6]) -> SysResult {
    let [one, two] = [pid1, pid2].map(|pid| ctx.kernel.named_task(pid as i32));
    let (one, two) = (one.ok_or(Errno::ESRCH)?, two.ok_or(Errno::ESRCH)?);
    ctx.kernel.may_look_into(one)?;
    ctx.kernel.may_look_into(two)?;
    let [a, b] = [one, two].map(|task| ctx.kernel.other_task(task).shared);
    let file = |ctx: &Ctx, task, fd: u32| {
        let fds = ctx.kernel.fds_of_task(task).ok_or(Errno::EBADF)?;
        fds.get(fd as i32)
    };
    let order = match u64::from(kind as u32) {
        KCMP_FILE => file(ctx, one, fd1 as u32)?.cmp(&file(ctx, two, fd2 as u32)?),
        KCMP_EPOLL_TFD => {
            let [epfd, fd, nth] = [0, 4, 8].map(|at| get_u32(ctx.mem, fd2.wrapping_add(at)));
            let (epfd, fd, nth) = (epfd?, fd?, nth?);
            let held = file(ctx, one, fd1 as u32)?;
            let epoll = ctx.kernel.files.epoll(file(ctx, two, epfd)?)?;
            let watched = ctx.kernel.fs.queues.watched(epoll, fd as i32, nth as usize);
            held.cmp(&watched.ok_or(Errno::ENOENT)?)
        }
        KCMP_VM => a.mm.cmp(&b.mm),
        KCMP_FILES => a.fds.cmp(&b.fds),
        KCMP_FS => a.fs_context.cmp(&b.fs_context),
        KCMP_SIGHAND => a.handlers.cmp(&b.handlers),
        // I/O contexts and lists of System V semaphores are made when they are first needed, which
        // is never.
        kind if kind < KCMP_EPOLL_TFD => std::cmp::Ordering::Equal,
        _ => return Err(Errno::EINVAL.into()),
    };
    Ok(match order {
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Greater => 2,
    })
}

/// getrandom(2). The stream is always ready, so the flags only have to be right.
fn getrandom(ctx: &mut Ctx, [addr, len, flags, ..]: [u64; 6]) -> SysResult {
    const CHUNK: u64 = 1 << 16;
    let flags = flags as u32;
    if flags & !(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE) != 0
        || flags & (GRND_RANDOM | GRND_INSECURE) == GRND_RANDOM | GRND_INSECURE
    {
        return Err(Errno::EINVAL.into());
    }
    let len = len.min(MAX_RW_COUNT);
    access_ok(&[(addr, len)])?;
    let before = ctx.kernel.task().call.done;
    let mut done = before;
    while done < len {
        if done > before {
            ctx.pause_if_asked(done)?;
        }
        let mut buf = vec![0; CHUNK.min(len - done) as usize];
        ctx.kernel.random.fill(&mut buf);
        match ctx.mem.write(addr.wrapping_add(done), &buf) {
            Ok(()) => done += buf.len() as u64,
            Err(copied) if done == 0 && copied == 0 => return Err(Errno::EFAULT.into()),
            Err(copied) => return Ok(done + copied as u64),
        }
    }
    Ok(len)
}
