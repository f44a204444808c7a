//! Sockets as descriptions, socket(7).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::net::{SIOCATMARK, SIOCOUTQ};
use crate::guest::GuestMemory;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, numbered};
use crate::kernel::net::event::Target;
use crate::kernel::net::interface;
use crate::kernel::net::queue::Ucred;
use crate::kernel::net::sock::SockId;
use crate::kernel::net::stream::{Outgoing, Wanted};
use crate::kernel::uaccess::put_u32;
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::node::SOCK_DEV;
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// A socket.
#[derive(Clone, Debug)]
pub(crate) struct Socket(pub(crate) SockId);

impl FileOperations for Socket {
    fn kind(&self) -> &'static str {
        "socket"
    }

    fn socket(&self) -> Option<SockId> {
        Some(self.0)
    }

    fn wait_queue(&self, fs: &FileSystem) -> Option<QueueId> {
        Some(fs.net.get(self.0)?.queue)
    }

    fn can_be_hasty(&self) -> bool {
        true
    }

    fn sends_signals(&self) -> bool {
        true
    }

    fn can_splice(&self) -> bool {
        true
    }

    fn moves_whole(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        if buf.is_empty() {
            return Ok(0);
        }
        let wanted = Wanted { len: buf.len(), reach: cx.reach, flags: 0, nonblocking: mode.nonblocking };
        let incoming = cx.fs.net.receive(self.0, wanted, &mut cx.fs.queues)?;
        cx.fs.net.drop_files(incoming.files);
        buf[..incoming.bytes.len()].copy_from_slice(&incoming.bytes);
        Ok(incoming.bytes.len())
    }

    fn write(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let cred = Ucred { pid: cx.pid, uid: cx.cred.uid.effective, gid: cx.cred.gid.effective };
        let out = Outgoing::plain(bytes, mode.nonblocking, cred);
        cx.fs.net.send(self.0, Target::Peer, &out, &mut cx.fs.queues)
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(cx.fs.net.events(self.0))
    }

    fn readable_bytes(&self, cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        if cx.fs.net.is_netlink(self.0) {
            return Err(Errno::ENOTTY);
        }
        Ok(cx.fs.net.readable(self.0)? as u64)
    }

    fn ioctl(&mut self, cx: &mut FileContext, command: u64, arg: u64) -> Result<u64, Errno> {
        let loopback = cx.fs.net.loopback(cx.fs.net.sock(self.0)?.namespace);
        if interface::ioctl(cx.mem, command, arg, cx.fs.net.is_inet(self.0), loopback)? {
            return Ok(0);
        }
        let value = match command {
            SIOCOUTQ if !cx.fs.net.is_netlink(self.0) => cx.fs.net.unsent(self.0)?,
            SIOCATMARK => usize::from(cx.fs.net.at_mark(self.0)),
            _ => return Err(Errno::ENOTTY),
        };
        put_u32(cx.mem, arg, value as u32)?;
        Ok(0)
    }

    fn attributes(&self, cx: &mut FileContext) -> Result<Meta, Errno> {
        let ino = cx.fs.net.get(self.0).map_or(0, |sock| sock.number);
        Ok(numbered(cx, SOCK_DEV, ino, S_IFSOCK | 0o777))
    }

    fn allocate(
        &mut self,
        _cx: &mut FileContext,
        _mode: u32,
        _offset: u64,
        _len: u64,
    ) -> Result<(), FileError> {
        Err(Errno::ENODEV.into())
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, mem: &mut dyn GuestMemory) {
        let number = fs.net.get(self.0).map_or(0, |sock| sock.number);
        fs.nameless.remove(&number);
        if let Some(ino) = fs.net.close(self.0, &mut fs.queues) {
            fs.let_go(ino, mem);
        }
    }
}
