//! Attributes of files and file systems: stat(2), statx(2), statfs(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::procfs::machine::mount_of;
use crate::kernel::uaccess::{copy_to_user, get_array, put_words};
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::mount::MountId;
use crate::kernel::vfs::node::{
    ANON_DEV, DEV_DEV, HOST_DEV, MQUEUE_DEV, NSFS_DEV, PIPE_DEV, PROC_DEV, SHM_DEV, SOCK_DEV, SYS_DEV,
};
use crate::kernel::vfs::tmpfs::Space;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fs::{FDCWD, get_path, look_at};
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(4, "stat", stat),
    full(5, "fstat", fstat),
    full(6, "lstat", lstat),
    full(262, "newfstatat", newfstatat),
    full(332, "statx", statx),
    full(137, "statfs", statfs),
    full(138, "fstatfs", fstatfs),
];

const STATX_BASIC_STATS: u32 = 0x7ff;
const STATX_MNT_ID: u32 = 0x1000;
const STATX_ATTR_NODUMP: u64 = 0x40;
const STATX_ATTR_MOUNT_ROOT: u64 = 0x2000;
const STATX_RESERVED: u32 = 0x8000_0000;
const BLOCK: u64 = 4096;

/// The attributes of a path, or with AT_EMPTY_PATH of a descriptor.
fn look(ctx: &mut Ctx, dirfd: u64, path: u64, flags: u32) -> Result<Meta, Errno> {
    let path = match get_path(ctx.mem, path) {
        // Since Linux 6.11 a null path is an empty one where AT_EMPTY_PATH is given.
        Err(Errno::EFAULT) if path == 0 && flags & AT_EMPTY_PATH != 0 => Vec::new(),
        path => path?,
    };
    if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
        if dirfd as i32 == AT_FDCWD {
            let cwd = ctx.kernel.fs_context().cwd.ino;
            return Ok(ctx.kernel.fs.meta(cwd));
        }
        let file = ctx.kernel.fds().get(dirfd as i32)?;
        return look_at(ctx, file);
    }
    let (fs, caller, mem) = ctx.paths();
    match fs.locate(&caller, dirfd as i32, &path, flags & AT_SYMLINK_NOFOLLOW == 0) {
        // The path ends at `/proc/self/fd/N` for something without a name.
        Err(Errno::ENXIO) => {
            let file = fs.nameless(&caller, dirfd as i32, &path)?;
            look_at(ctx, file)
        }
        found => {
            let ino = found?.exists()?;
            Ok(fs.meta_with(ino, mem))
        }
    }
}

/// Tests whether AT_EMPTY_PATH names a descriptor, whatever the other flags are; EFAULT.
fn is_descriptor(ctx: &mut Ctx, dirfd: u64, path: u64, flags: u32) -> Result<bool, Errno> {
    let empty = flags & AT_EMPTY_PATH != 0 && (path == 0 || get_array::<1>(ctx.mem, path)? == [0]);
    Ok(empty && dirfd as i32 >= 0)
}

/// Owner and group as the caller's user namespace has them.
fn shown_owner(ctx: &Ctx, meta: &Meta) -> (u32, u32) {
    let user_ns = &ctx.kernel.task().cred.user_ns;
    (user_ns.uids.shown(meta.uid), user_ns.gids.shown(meta.gid))
}

/// Writes a `struct stat` of x86-64.
fn put_stat(ctx: &mut Ctx, addr: u64, meta: &Meta) -> SysResult {
    let times = &meta.times;
    let (uid, gid) = shown_owner(ctx, meta);
    let words = [
        meta.dev,
        meta.ino,
        meta.nlink,
        u64::from(meta.mode) | u64::from(uid) << 32,
        u64::from(gid),
        meta.rdev,
        meta.size,
        BLOCK,
        meta.blocks,
        times.access.sec as u64,
        u64::from(times.access.nsec),
        times.modify.sec as u64,
        u64::from(times.modify.nsec),
        times.change.sec as u64,
        u64::from(times.change.nsec),
        0,
        0,
        0,
    ];
    put_words(ctx.mem, addr, &words)?;
    Ok(0)
}

/// stat(2).
fn stat(ctx: &mut Ctx, [path, buf, ..]: [u64; 6]) -> SysResult {
    newfstatat(ctx, [FDCWD, path, buf, 0, 0, 0])
}

/// lstat(2).
fn lstat(ctx: &mut Ctx, [path, buf, ..]: [u64; 6]) -> SysResult {
    newfstatat(ctx, [FDCWD, path, buf, u64::from(AT_SYMLINK_NOFOLLOW), 0, 0])
}

/// fstat(2).
fn fstat(ctx: &mut Ctx, [fd, buf, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    let meta = look_at(ctx, file)?;
    put_stat(ctx, buf, &meta)
}

/// fstatat(2).
fn newfstatat(ctx: &mut Ctx, [dirfd, path, buf, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    let known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE;
    if flags & !known != 0 && !is_descriptor(ctx, dirfd, path, flags)? {
        return Err(Errno::EINVAL.into());
    }
    let meta = look(ctx, dirfd, path, flags)?;
    put_stat(ctx, buf, &meta)
}

/// statx(2): the basic fields and the mount, whatever is asked for. There is no time of birth.
pub(super) fn statx(ctx: &mut Ctx, [dirfd, path, flags, mask, buf, _]: [u64; 6]) -> SysResult {
    let (flags, mask) = (flags as u32, mask as u32);
    let known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE;
    let refused = flags & AT_STATX_SYNC_TYPE == AT_STATX_SYNC_TYPE || mask & STATX_RESERVED != 0;
    if refused || flags & !known != 0 && !is_descriptor(ctx, dirfd, path, flags)? {
        return Err(Errno::EINVAL.into());
    }
    let meta = look(ctx, dirfd, path, flags)?;
    let (uid, gid) = shown_owner(ctx, &meta);
    let mut out = [0; 256];
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    let attribute = |on: bool, bit: u64| if on { bit } else { 0 };
    let attributes = attribute(meta.mount_root, STATX_ATTR_MOUNT_ROOT)
        | attribute(meta.flags & FS_NODUMP_FL != 0, STATX_ATTR_NODUMP);
    put(0x00, &(STATX_BASIC_STATS | STATX_MNT_ID).to_le_bytes());
    put(0x08, &attributes.to_le_bytes());
    put(0x38, &(STATX_ATTR_MOUNT_ROOT | STATX_ATTR_NODUMP).to_le_bytes());
    put(0x90, &mount_of(meta.dev).to_le_bytes());
    put(0x04, &(BLOCK as u32).to_le_bytes());
    put(0x10, &(meta.nlink as u32).to_le_bytes());
    put(0x14, &uid.to_le_bytes());
    put(0x18, &gid.to_le_bytes());
    put(0x1c, &(meta.mode as u16).to_le_bytes());
    put(0x20, &meta.ino.to_le_bytes());
    put(0x28, &meta.size.to_le_bytes());
    put(0x30, &meta.blocks.to_le_bytes());
    for (at, time) in [(0x40, meta.times.access), (0x60, meta.times.change), (0x70, meta.times.modify)] {
        put(at, &time.sec.to_le_bytes());
        put(at + 8, &time.nsec.to_le_bytes());
    }
    for (at, dev) in [(0x80, meta.rdev), (0x88, meta.dev)] {
        put(at, &((dev >> 8) as u32).to_le_bytes());
        put(at + 4, &((dev & 0xff) as u32).to_le_bytes());
    }
    copy_to_user(ctx.mem, buf, &out)?;
    Ok(0)
}

/// Blocks and inodes of a disk.
const BLOCKS: u64 = 1 << 24;
const FILES: u64 = 1 << 22;

/// The magic number of the file system on a device.
fn kind_of(dev: u64) -> u64 {
    match dev {
        dev if dev >> 8 == 8 => EXT4_SUPER_MAGIC,
        PROC_DEV => PROC_SUPER_MAGIC,
        SYS_DEV => SYSFS_MAGIC,
        PIPE_DEV => PIPEFS_MAGIC,
        SOCK_DEV => SOCKFS_MAGIC,
        ANON_DEV => ANON_INODE_FS_MAGIC,
        MQUEUE_DEV => MQUEUE_MAGIC,
        NSFS_DEV => NSFS_MAGIC,
        _ => TMPFS_MAGIC,
    }
}

/// Tells if a device is one of the machine's disks.
pub(super) fn is_on_disk(dev: u64) -> bool {
    kind_of(dev) == EXT4_SUPER_MAGIC
}

fn has_blocks(kind: u64) -> bool {
    matches!(kind, EXT4_SUPER_MAGIC | TMPFS_MAGIC)
}

/// Blocks and inodes of the file system on a device: those of a tmpfs, or always the same disk,
/// half full.
fn space_of(ctx: &Ctx, dev: u64) -> Space {
    let fs = &ctx.kernel.fs;
    match fs.tmpfs.space(dev, ctx.mem) {
        Some(space) => space,
        // A file of memfd_create(2), or on a ramfs.
        None if fs.is_tmpfs(dev) || !has_blocks(kind_of(dev)) => Space::default(),
        None => Space { blocks: BLOCKS, blocks_free: BLOCKS / 2, inodes: FILES, inodes_free: FILES / 2 },
    }
}

/// Free blocks and inodes of the file system on a device, if there is one.
pub(super) fn free_of(ctx: &Ctx, dev: u64) -> Option<(u64, u64)> {
    let mounts = &ctx.kernel.fs.mounts;
    let tmpfs = mounts.is_of_tmpfs(dev) && mounts.shows(dev);
    if !tmpfs && ![HOST_DEV, PROC_DEV, SYS_DEV, DEV_DEV, SHM_DEV, PIPE_DEV, ANON_DEV].contains(&dev) {
        return None;
    }
    let space = space_of(ctx, dev);
    Some((space.blocks_free, space.inodes_free))
}

/// Writes a `struct statfs`.
fn put_statfs(ctx: &mut Ctx, addr: u64, meta: &Meta, mount: MountId) -> SysResult {
    let fs = &ctx.kernel.fs;
    let ramfs = fs.mounts.is_of_tmpfs(meta.dev) && !fs.tmpfs.has(meta.dev);
    let kind = if ramfs { RAMFS_MAGIC } else { kind_of(meta.dev) };
    let Space { blocks, blocks_free, inodes, inodes_free } = space_of(ctx, meta.dev);
    let words = [
        kind,
        BLOCK,
        blocks,
        blocks_free,
        blocks_free,
        inodes,
        inodes_free,
        meta.dev,
        NAME_MAX as u64,
        BLOCK,
        mount_flags_of(ctx, mount),
        0,
        0,
        0,
        0,
    ];
    put_words(ctx.mem, addr, &words)?;
    Ok(0)
}

/// The flags of a mount as ST_*, which files without a path have none of but ST_RELATIME.
fn mount_flags_of(ctx: &Ctx, mount: MountId) -> u64 {
    const ST_VALID: u64 = 0x20;
    const ST_RELATIME: u64 = 0x1000;
    const ST_NOSYMFOLLOW: u64 = 0x2000;
    let mounts = &ctx.kernel.fs.mounts;
    if mounts.get(mount).is_none() {
        return ST_VALID | ST_RELATIME;
    }
    let flags = mounts.flags(mount);
    let same = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME;
    let other = [(MS_RELATIME, ST_RELATIME), (MS_NOSYMFOLLOW, ST_NOSYMFOLLOW)];
    let other = other.into_iter().filter(|(flag, _)| flags & flag != 0);
    other.fold(ST_VALID | flags & same, |all, (_, flag)| all | flag)
}

/// statfs(2).
fn statfs(ctx: &mut Ctx, [path, buf, ..]: [u64; 6]) -> SysResult {
    let meta = look(ctx, FDCWD, path, 0)?;
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    let found = fs.locate(&caller, AT_FDCWD, &path, true);
    let mount = found.map_or(MountId::NONE, |found| found.mount_there);
    put_statfs(ctx, buf, &meta, mount)
}

/// fstatfs(2).
fn fstatfs(ctx: &mut Ctx, [fd, buf, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    let (meta, mount) = (look_at(ctx, file)?, ctx.kernel.files.get(file).mount);
    put_statfs(ctx, buf, &meta, mount)
}
