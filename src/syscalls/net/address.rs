//! Descriptors and addresses as the calls on sockets have them.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::net::*;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::error::FileError;
use crate::kernel::net::addr::{Addr, Family, Given, encode, family_of, parse};
use crate::kernel::net::event::Target;
use crate::kernel::net::queue::Ucred;
use crate::kernel::net::sock::{Identity, Kind, SockId};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_u32, put_u32};
use crate::kernel::vfs::FileSystem;
use crate::syscalls::context::{Break, Ctx};
use crate::syscalls::transfer::failed;

/// Bytes of `struct sockaddr_storage`.
const SOCKADDR_MAX: usize = 128;

/// A socket of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Socket {
    pub(super) file: FileNo,
    pub(super) id: SockId,
    pub(super) family: Family,
    pub(super) kind: Kind,
    /// O_NONBLOCK.
    pub(super) nonblocking: bool,
}

impl Socket {
    /// Tells if it is one of TCP.
    pub(super) fn is_tcp(&self) -> bool {
        self.family.is_inet() && self.kind == Kind::Stream
    }
}

/// The socket of a descriptor; EBADF, ENOTSOCK.
pub(super) fn socket_at(ctx: &mut Ctx, fd: u64) -> Result<Socket, Errno> {
    let file = ctx.pin_opened(fd as i32)?;
    let open = ctx.kernel.files.get(file);
    let id = open.ops.socket().ok_or(Errno::ENOTSOCK)?;
    let nonblocking = open.mode().nonblocking;
    let sock = ctx.kernel.fs.net.sock(id)?;
    Ok(Socket { file, id, family: sock.family, kind: sock.kind, nonblocking })
}

/// Runs an operation on the sockets; what would wait sleeps.
pub(super) fn on_net<R>(
    ctx: &mut Ctx,
    socket: Socket,
    operation: impl FnOnce(&mut FileSystem) -> Result<R, FileError>,
) -> Result<R, Break> {
    operation(&mut ctx.kernel.fs).map_err(|error| failed(ctx, &[socket.file], error))
}

/// The caller as the other side may see it.
pub(super) fn caller(ctx: &Ctx) -> Ucred {
    let cred = &ctx.kernel.task().cred;
    Ucred { pid: ctx.kernel.process().pid, uid: cred.uid.effective, gid: cred.gid.effective }
}

/// The caller with its groups.
pub(super) fn identity(ctx: &Ctx) -> Identity {
    Identity { cred: caller(ctx), groups: ctx.kernel.task().cred.groups.clone() }
}

/// Reads the bytes of an address; EINVAL if there are too many.
pub(super) fn get_address(ctx: &mut Ctx, addr: u64, len: u64) -> Result<Vec<u8>, Errno> {
    let len = usize::try_from(len as i32).ok().filter(|len| *len <= SOCKADDR_MAX).ok_or(Errno::EINVAL)?;
    let mut bytes = vec![0; len];
    copy_from_user(ctx.mem, addr, &mut bytes)?;
    Ok(bytes)
}

/// Writes an address as far as there is room, and its full length at `len`.
pub(super) fn put_address(ctx: &mut Ctx, bytes: &[u8], addr: u64, len: u64) -> Result<(), Errno> {
    let room = get_u32(ctx.mem, len)? as i32;
    let room = usize::try_from(room).map_err(|_| Errno::EINVAL)?;
    if room > 0 && !bytes.is_empty() {
        copy_to_user(ctx.mem, addr, &bytes[..bytes.len().min(room)])?;
    }
    put_u32(ctx.mem, len, bytes.len() as u32)
}

/// The bytes of an address as a socket shows it.
pub(super) fn shown(socket: Socket, addr: Option<&Addr>) -> Vec<u8> {
    encode(socket.family, addr)
}

/// The Unix socket that an address leads to; ECONNREFUSED, EACCES and the errors of paths.
pub(super) fn find_unix(ctx: &mut Ctx, kind: Kind, addr: &Addr) -> Result<SockId, Errno> {
    match addr {
        Addr::Abstract(name) => {
            let namespace = ctx.kernel.task().namespaces.net;
            ctx.kernel.fs.net.at_name(namespace, kind, name)
        }
        Addr::Path(path) => {
            let cwd = ctx.kernel.fs_context().cwd;
            let base = if path.starts_with(b"/") { ctx.kernel.fs_context().root } else { cwd };
            let (fs, caller, _) = ctx.paths();
            let ino = fs.find(&caller, base, path, true)?;
            caller.may(fs.node(ino), W_OK)?;
            if fs.node(ino).kind() != S_IFSOCK {
                return Err(Errno::ECONNREFUSED);
            }
            fs.net.at_path(ino)
        }
        Addr::Inet(_) | Addr::Netlink(..) => Err(Errno::EINVAL),
    }
}

/// The target of a message that brings an address; EISCONN, EOPNOTSUPP and others.
pub(super) fn target(ctx: &mut Ctx, socket: Socket, bytes: &[u8]) -> Result<Target, Errno> {
    let connected = ctx.kernel.fs.net.sock(socket.id)?.peer.is_some();
    match (socket.family, socket.kind) {
        (Family::Unix, Kind::Stream) => Err(if connected { Errno::EISCONN } else { Errno::EOPNOTSUPP }),
        (Family::Unix, Kind::SeqPacket) | (_, Kind::Stream) => Ok(Target::Peer),
        (Family::Netlink, _) => match parse(Family::Netlink, bytes, Errno::EINVAL)? {
            Given::Addr(_) => Ok(Target::Peer),
            _ => Err(Errno::EINVAL),
        },
        (Family::Unix, _) => match parse(Family::Unix, bytes, Errno::EINVAL)? {
            Given::Addr(addr) => Ok(Target::Sock(find_unix(ctx, socket.kind, &addr)?)),
            Given::Unspecified | Given::Unnamed => Err(Errno::EINVAL),
        },
        (Family::Inet | Family::Inet6, _) => {
            let family = match (socket.family, family_of(bytes)?) {
                (Family::Inet6, AF_INET) => Family::Inet,
                (Family::Inet6, AF_UNSPEC) => return Ok(Target::Peer),
                (family, _) => family,
            };
            let wrong = if family == Family::Inet { Errno::EAFNOSUPPORT } else { Errno::EINVAL };
            match parse(family, &as_inet(bytes), wrong)? {
                Given::Addr(Addr::Inet(to)) => Ok(Target::At(to)),
                _ => Err(Errno::EINVAL),
            }
        }
    }
}

/// An address for UDP, where AF_UNSPEC stands for AF_INET.
fn as_inet(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let [low @ 0, 0, ..] = &mut bytes[..] {
        *low = AF_INET as u8;
    }
    bytes
}
