//! Numbers of inotify(7), and of F_NOTIFY of fcntl(2).

pub(crate) const IN_ACCESS: u32 = 1;
pub(crate) const IN_MODIFY: u32 = 2;
pub(crate) const IN_ATTRIB: u32 = 4;
pub(crate) const IN_CLOSE_WRITE: u32 = 8;
pub(crate) const IN_CLOSE_NOWRITE: u32 = 0x10;
pub(crate) const IN_OPEN: u32 = 0x20;
pub(crate) const IN_MOVED_FROM: u32 = 0x40;
pub(crate) const IN_MOVED_TO: u32 = 0x80;
pub(crate) const IN_CREATE: u32 = 0x100;
pub(crate) const IN_DELETE: u32 = 0x200;
pub(crate) const IN_DELETE_SELF: u32 = 0x400;
pub(crate) const IN_MOVE_SELF: u32 = 0x800;
pub(crate) const IN_ALL_EVENTS: u32 = 0xfff;
pub(crate) const IN_UNMOUNT: u32 = 0x2000;
pub(crate) const IN_Q_OVERFLOW: u32 = 0x4000;
pub(crate) const IN_IGNORED: u32 = 0x8000;
pub(crate) const IN_ONLYDIR: u32 = 0x0100_0000;
pub(crate) const IN_DONT_FOLLOW: u32 = 0x0200_0000;
pub(crate) const IN_EXCL_UNLINK: u32 = 0x0400_0000;
pub(crate) const IN_MASK_CREATE: u32 = 0x1000_0000;
pub(crate) const IN_MASK_ADD: u32 = 0x2000_0000;
pub(crate) const IN_ISDIR: u32 = 0x4000_0000;
pub(crate) const IN_ONESHOT: u32 = 0x8000_0000;
/// Every bit that inotify_add_watch(2) takes.
pub(crate) const IN_ALL_BITS: u32 = IN_ALL_EVENTS
    | IN_UNMOUNT
    | IN_Q_OVERFLOW
    | IN_IGNORED
    | IN_ONLYDIR
    | IN_DONT_FOLLOW
    | IN_EXCL_UNLINK
    | IN_MASK_CREATE
    | IN_MASK_ADD
    | IN_ISDIR
    | IN_ONESHOT;

pub(crate) const DN_ACCESS: u32 = 1;
pub(crate) const DN_MODIFY: u32 = 2;
pub(crate) const DN_CREATE: u32 = 4;
pub(crate) const DN_DELETE: u32 = 8;
pub(crate) const DN_RENAME: u32 = 0x10;
pub(crate) const DN_ATTRIB: u32 = 0x20;
pub(crate) const DN_MULTISHOT: u32 = 0x8000_0000;
