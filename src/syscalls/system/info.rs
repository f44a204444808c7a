//! uname(2), sysinfo(2), getrandom(2), syslog(2), kcmp(2).

use crate::abi::errno::Errno;
use crate::abi::fs::MAX_RW_COUNT;
use crate::abi::process::{KCMP_EPOLL_TFD, KCMP_FILE, UNAME26};
use crate::abi::random::{GRND_INSECURE, GRND_NONBLOCK, GRND_RANDOM};
use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::procfs::machine::TOTAL_MEMORY;
use crate::kernel::uaccess::copy_to_user;
use crate::kernel::uts;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

/// System calls about the machine.
pub(crate) const ROWS: &[Row] = &[
    full(63, "uname", uname).noted("a fixed machine"),
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
    let uts::Names { host, domain } = &ctx.kernel.names;
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

/// kcmp(2) of the process with itself: the same memory, files and so on. Descriptions are
/// ordered as they were opened or reused.
fn kcmp(ctx: &mut Ctx, [pid1, pid2, kind, fd1, fd2, _]: [u64; 6]) -> SysResult {
    let pid = ctx.kernel.process().pid;
    if pid1 as i32 != pid || pid2 as i32 != pid {
        return Err(Errno::ESRCH.into());
    }
    match kind {
        KCMP_FILE => {
            let (file1, file2) = (ctx.kernel.fds().get(fd1 as i32)?, ctx.kernel.fds().get(fd2 as i32)?);
            Ok(match file1.cmp(&file2) {
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Greater => 2,
            })
        }
        kind if kind < KCMP_EPOLL_TFD => Ok(0),
        _ => Err(Errno::EINVAL.into()),
    }
}

/// getrandom(2). The stream is always ready, so the flags only have to be right.
fn getrandom(ctx: &mut Ctx, [addr, len, flags, ..]: [u64; 6]) -> SysResult {
    const CHUNK: u64 = 4096;
    let flags = flags as u32;
    if flags & !(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE) != 0
        || flags & (GRND_RANDOM | GRND_INSECURE) == GRND_RANDOM | GRND_INSECURE
    {
        return Err(Errno::EINVAL.into());
    }
    let len = len.min(MAX_RW_COUNT);
    let mut done = 0;
    while done < len {
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
