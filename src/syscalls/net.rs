//! Sockets: there is no network. A Unix socket can be made, and finds nobody to connect to, which
//! is what programs that ask a name service expect; other families do not exist.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::net::*;
use crate::kernel::file::description::Description;
use crate::kernel::file::socket::Socket;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::install;
use crate::syscalls::row::{Row, partial, refused};

const ON_SOCKET: &str = "ENOTSOCK, or ENOTCONN on a socket";
const NOBODY: &str = "ENOENT: nobody listens";

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    partial(41, "socket", socket, "AF_UNIX only, and nobody to connect to; others are EAFNOSUPPORT"),
    refused(53, "socketpair", socketpair, "EAFNOSUPPORT"),
    refused(42, "connect", connect, NOBODY),
    refused(43, "accept", unconnected, ON_SOCKET),
    refused(288, "accept4", unconnected, ON_SOCKET),
    refused(44, "sendto", unconnected, ON_SOCKET),
    refused(45, "recvfrom", unconnected, ON_SOCKET),
    refused(46, "sendmsg", unconnected, ON_SOCKET),
    refused(47, "recvmsg", unconnected, ON_SOCKET),
    refused(299, "recvmmsg", unconnected, ON_SOCKET),
    refused(307, "sendmmsg", unconnected, ON_SOCKET),
    refused(48, "shutdown", unconnected, ON_SOCKET),
    refused(49, "bind", forbidden, "ENOTSOCK, or EACCES on a socket"),
    refused(50, "listen", forbidden, "ENOTSOCK, or EACCES on a socket"),
    refused(51, "getsockname", unconnected, ON_SOCKET),
    refused(52, "getpeername", unconnected, ON_SOCKET),
    refused(54, "setsockopt", setsockopt, "ENOTSOCK; ignored on a socket"),
    refused(55, "getsockopt", unconnected, ON_SOCKET),
];

fn no_network(ctx: &mut Ctx) {
    ctx.kernel.notices.once("the emulated machine has no network: sockets are refused".to_owned());
}

/// socket(2).
fn socket(ctx: &mut Ctx, [family, kind, ..]: [u64; 6]) -> SysResult {
    let flags = kind as u32 & (O_CLOEXEC | O_NONBLOCK);
    if family != AF_UNIX {
        no_network(ctx);
        return Err(Errno::EAFNOSUPPORT.into());
    }
    if !matches!(kind as u32 & !flags, SOCK_STREAM | SOCK_DGRAM | SOCK_SEQPACKET) {
        // Numbers that are no type at all are wrong; the types that Unix sockets lack are not
        // supported.
        let known = matches!(kind as u32 & !flags, SOCK_RAW | SOCK_RDM | SOCK_DCCP | SOCK_PACKET);
        return Err(if known { Errno::ESOCKTNOSUPPORT } else { Errno::EINVAL }.into());
    }
    let number = ctx.kernel.fs.next_number();
    let path = format!("socket:[{number}]");
    let open = Description::new(Socket, O_RDWR | flags & O_NONBLOCK, path.as_bytes());
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// socketpair(2).
fn socketpair(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    no_network(ctx);
    Err(Errno::EAFNOSUPPORT.into())
}

/// EBADF or ENOTSOCK unless the descriptor is a socket.
fn must_be_socket(ctx: &Ctx, fd: u64) -> Result<(), Errno> {
    if ctx.kernel.file(fd as i32)?.ops.is_socket() { Ok(()) } else { Err(Errno::ENOTSOCK) }
}

/// connect(2): nobody listens.
fn connect(ctx: &mut Ctx, [fd, _, len, ..]: [u64; 6]) -> SysResult {
    must_be_socket(ctx, fd)?;
    if len < 3 {
        return Err(Errno::EINVAL.into());
    }
    Err(Errno::ENOENT.into())
}

fn unconnected(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    must_be_socket(ctx, fd)?;
    Err(Errno::ENOTCONN.into())
}

fn forbidden(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    must_be_socket(ctx, fd)?;
    no_network(ctx);
    Err(Errno::EACCES.into())
}

/// setsockopt(2): options of a socket that never connects make no difference.
fn setsockopt(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    must_be_socket(ctx, fd)?;
    Ok(0)
}
