//! Files and directories as the guest sees them: the host's tree for reading, an overlay in memory
//! for writing, and `/proc`, `/sys` and `/dev` made here.
//!
//! Inodes and names are kept apart as in the kernel, so hard links, renames and files without a
//! name behave as they must. Changes of the guest are dropped with the `FileSystem`, except under
//! the directories that it may change for good. From the bottom up: `host`, `host_handle`,
//! `content`, `pipe`, `termios`, `n_tty`, `pty`, `time`, `proc_file`, `node`, `mount`, `notify`,
//! `context`, `caller`, `nameless`, `policy`, `quota`, `tree`, `data`, `proc`, `resolve`,
//! `fsnotify`, `list`, `attr`, `xattr`, `change`, `rename`, `boot`, `image`.

pub(crate) mod attr;
mod boot;
pub(crate) mod caller;
pub(crate) mod change;
pub(crate) mod content;
pub(crate) mod context;
mod data;
mod fsnotify;
pub(crate) mod host;
pub(crate) mod host_fingerprint;
pub(crate) mod host_handle;
pub(crate) mod image;
pub(crate) mod list;
pub(crate) mod mount;
pub(crate) mod n_tty;
pub(crate) mod nameless;
pub(crate) mod node;
pub(crate) mod notify;
pub(crate) mod pipe;
pub(crate) mod policy;
mod proc;
pub(crate) mod proc_file;
pub(crate) mod proc_tables;
pub(crate) mod pty;
pub(crate) mod quota;
mod rename;
pub(crate) mod resolve;
mod sys_tables;
pub(crate) mod termios;
pub(crate) mod time;
pub(crate) mod tmpfs;
pub(crate) mod tree;
pub(crate) mod xattr;

pub(crate) use context::FsContext;
pub(crate) use image::ImageFile;
pub(crate) use node::Ino;
pub(crate) use time::Time;
pub(crate) use tree::FileSystem;
