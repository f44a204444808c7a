//! Making, naming and connecting sockets: socket(2), bind(2), listen(2), accept(2), connect(2),
//! shutdown(2).

use std::net::SocketAddr;

use crate::abi::capability::{CAP_NET_ADMIN, CAP_NET_BIND_SERVICE};
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::net::*;
use crate::kernel::file::description::Description;
use crate::kernel::file::socket::Socket as SocketFile;
use crate::kernel::net::addr::{
    Addr, Family, Given, SIN6_LEN_RFC2133, SOCKADDR_IN, encode, family_of, parse,
};
use crate::kernel::net::sock::{Kind, SockId};
use crate::kernel::uaccess::put_u32;
use crate::kernel::vfs::change::Make;
use crate::kernel::vfs::resolve::Last;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::{install, limit};
use crate::syscalls::net::address::*;
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    partial(
        41,
        "socket",
        socket,
        "AF_UNIX, and TCP and UDP over the emulated machine's own loopback and to what --allow-net opens; raw and packet \
         sockets are EPERM",
    ),
    full(53, "socketpair", socketpair),
    full(49, "bind", bind),
    full(50, "listen", listen),
    full(43, "accept", accept),
    full(288, "accept4", accept4),
    full(42, "connect", connect),
    full(51, "getsockname", getsockname),
    full(52, "getpeername", getpeername),
    full(48, "shutdown", shutdown),
];

/// SOCK_CLOEXEC and SOCK_NONBLOCK.
const FLAGS: u32 = O_CLOEXEC | O_NONBLOCK;
/// Bits of the type itself.
const SOCK_TYPE_MASK: u32 = 0xf;

/// Family, type and protocol of the socket that socket(2) is asked for; errors in Linux's order.
fn checked(family: u64, kind: u32, protocol: u32) -> Result<(Family, Kind, u32), Errno> {
    let family = family as u32 as u64;
    if family >= AF_MAX {
        return Err(Errno::EAFNOSUPPORT);
    }
    if kind >= SOCK_MAX {
        return Err(Errno::EINVAL);
    }
    match family as u16 {
        AF_UNIX => {
            if protocol != 0 && protocol != u32::from(AF_UNIX) {
                return Err(Errno::EPROTONOSUPPORT);
            }
            match kind {
                SOCK_STREAM => Ok((Family::Unix, Kind::Stream, protocol)),
                SOCK_DGRAM | SOCK_RAW => Ok((Family::Unix, Kind::Datagram, protocol)),
                SOCK_SEQPACKET => Ok((Family::Unix, Kind::SeqPacket, protocol)),
                _ => Err(Errno::ESOCKTNOSUPPORT),
            }
        }
        number @ (AF_INET | AF_INET6) => {
            if protocol >= IPPROTO_MAX {
                return Err(Errno::EINVAL);
            }
            let family = if number == AF_INET { Family::Inet } else { Family::Inet6 };
            match (kind, protocol) {
                (SOCK_STREAM, 0 | IPPROTO_TCP) => Ok((family, Kind::Stream, IPPROTO_TCP)),
                (SOCK_DGRAM, 0 | IPPROTO_UDP) => Ok((family, Kind::Datagram, IPPROTO_UDP)),
                (SOCK_DGRAM, IPPROTO_UDPLITE) => Ok((family, Kind::Datagram, IPPROTO_UDPLITE)),
                // /proc/sys/net/ipv4/ping_group_range allows nobody.
                (SOCK_DGRAM, IPPROTO_ICMP) if family == Family::Inet => Err(Errno::EACCES),
                (SOCK_DGRAM, 58) if family == Family::Inet6 => Err(Errno::EACCES),
                (SOCK_RAW, 0) | (SOCK_STREAM | SOCK_DGRAM, _) => Err(Errno::EPROTONOSUPPORT),
                (SOCK_RAW, _) => Err(Errno::EPERM),
                _ => Err(Errno::ESOCKTNOSUPPORT),
            }
        }
        AF_NETLINK => match (kind, protocol) {
            (SOCK_DGRAM | SOCK_RAW, NETLINK_ROUTE | NETLINK_KOBJECT_UEVENT | NETLINK_SOCK_DIAG) => {
                Ok((Family::Netlink, Kind::Datagram, protocol))
            }
            (SOCK_DGRAM | SOCK_RAW, _) => Err(Errno::EPROTONOSUPPORT),
            _ => Err(Errno::ESOCKTNOSUPPORT),
        },
        AF_PACKET => Err(Errno::EPERM),
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

/// Makes a socket of what `checked` found.
fn make(ctx: &mut Ctx, what: (Family, Kind, u32)) -> Result<SockId, Errno> {
    let uid = ctx.kernel.task().cred.uid.effective;
    let namespace = ctx.kernel.task().namespaces.net;
    let fs = &mut ctx.kernel.fs;
    let id = fs.net.add(namespace, what, &mut fs.queues);
    let number = fs.next_number();
    let sock = fs.net.sock_mut(id)?;
    (sock.number, sock.uid) = (number, uid);
    Ok(id)
}

/// Gives a socket a description and that a descriptor.
fn give_descriptor(ctx: &mut Ctx, id: SockId, flags: u32) -> SysResult {
    let number = ctx.kernel.fs.net.sock(id)?.number;
    let path = format!("socket:[{number}]");
    let open = Description::new(SocketFile(id), O_RDWR | flags & O_NONBLOCK, path.as_bytes());
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// socket(2).
pub(in crate::syscalls) fn socket(ctx: &mut Ctx, [family, kind, protocol, ..]: [u64; 6]) -> SysResult {
    let kind = kind as u32;
    if kind & !(SOCK_TYPE_MASK | FLAGS) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let what = checked(family, kind & SOCK_TYPE_MASK, protocol as u32)?;
    let id = make(ctx, what)?;
    ctx.kernel.fs.net.sock_mut(id)?.raw = what.0 == Family::Netlink && kind & SOCK_TYPE_MASK == SOCK_RAW;
    give_descriptor(ctx, id, kind & FLAGS)
}

/// socketpair(2).
fn socketpair(ctx: &mut Ctx, [family, kind, protocol, to, ..]: [u64; 6]) -> SysResult {
    let kind = kind as u32;
    if kind & !(SOCK_TYPE_MASK | FLAGS) != 0 {
        return Err(Errno::EINVAL.into());
    }
    // As in Linux the place for the answer is looked at first.
    put_u32(ctx.mem, to, 0)?;
    put_u32(ctx.mem, to.wrapping_add(4), 0)?;
    let what = checked(family, kind & SOCK_TYPE_MASK, protocol as u32)?;
    if what.0 != Family::Unix {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let ids = [make(ctx, what)?, make(ctx, what)?];
    let who = identity(ctx);
    ctx.kernel.fs.net.pair(ids, &who)?;
    let first = give_descriptor(ctx, ids[0], kind & FLAGS);
    let first = match first {
        Ok(first) => first,
        Err(why) => {
            let fs = &mut ctx.kernel.fs;
            fs.net.close(ids[1], &mut fs.queues);
            return Err(why);
        }
    };
    match give_descriptor(ctx, ids[1], kind & FLAGS) {
        Ok(second) => {
            put_u32(ctx.mem, to, first as u32)?;
            put_u32(ctx.mem, to.wrapping_add(4), second as u32)?;
            Ok(0)
        }
        Err(why) => {
            ctx.kernel.close(first as i32, ctx.mem)?;
            Err(why)
        }
    }
}

/// bind(2).
fn bind(ctx: &mut Ctx, [fd, addr, len, ..]: [u64; 6]) -> SysResult {
    let socket = socket_at(ctx, fd)?;
    let bytes = get_address(ctx, addr, len)?;
    match socket.family {
        Family::Unix => bind_unix(ctx, socket, &bytes),
        Family::Inet | Family::Inet6 => {
            // AF_UNSPEC stands for AF_INET where it is the address of all.
            let all = socket.family == Family::Inet && bytes.len() >= 16 && bytes[..2] == [0, 0];
            let least = if socket.family == Family::Inet { SOCKADDR_IN } else { SIN6_LEN_RFC2133 };
            if bytes.len() < least {
                return Err(Errno::EINVAL.into());
            }
            let given = match all && bytes[4..8] == [0; 4] {
                true => parse(Family::Inet, &[&[AF_INET as u8, 0], &bytes[2..]].concat(), Errno::EINVAL)?,
                false => parse(socket.family, &bytes, Errno::EAFNOSUPPORT)?,
            };
            let Given::Addr(Addr::Inet(at)) = given else { return Err(Errno::EAFNOSUPPORT.into()) };
            let namespace = ctx.kernel.fs.net.sock(socket.id)?.namespace;
            let privileged = ctx.kernel.require_in(namespace, CAP_NET_BIND_SERVICE).is_ok();
            ctx.kernel.fs.net.bind_inet(socket.id, at, privileged)?;
            Ok(0)
        }
        Family::Netlink => {
            let Given::Addr(Addr::Netlink(port, groups)) = parse(socket.family, &bytes, Errno::EINVAL)?
            else {
                return Err(Errno::EINVAL.into());
            };
            // The groups of multicast routing.
            if groups & (1 << 29 | 1 << 30) != 0 {
                let namespace = ctx.kernel.fs.net.sock(socket.id)?.namespace;
                ctx.kernel.require_in(namespace, CAP_NET_ADMIN)?;
            }
            let pid = ctx.kernel.process().pid as u32;
            ctx.kernel.fs.net.bind_netlink(socket.id, port, groups, pid)?;
            Ok(0)
        }
    }
}

fn bind_unix(ctx: &mut Ctx, socket: Socket, bytes: &[u8]) -> SysResult {
    let id = socket.id;
    match parse(Family::Unix, bytes, Errno::EINVAL)? {
        Given::Unspecified => return Err(Errno::EINVAL.into()),
        Given::Unnamed => {
            if ctx.kernel.fs.net.unbound(id).is_ok() {
                ctx.kernel.fs.net.bind_name(id, None)?;
            }
        }
        Given::Addr(Addr::Path(path)) => {
            let cwd = ctx.kernel.fs_context().cwd;
            let (fs, caller, mem) = ctx.paths_now();
            let found = fs.resolve(&caller, cwd, &path, Last::Parent)?;
            if found.ino.is_some() {
                return Err(Errno::EADDRINUSE.into());
            }
            fs.net.unbound(id)?;
            let socket = Make::Special { kind: S_IFSOCK, rdev: 0 };
            let made = fs.make(&caller, &found, &socket, 0o777, mem);
            let ino = made.map_err(|errno| if errno == Errno::EEXIST { Errno::EADDRINUSE } else { errno })?;
            fs.hold(ino);
            fs.net.bind_path(id, path, ino)?;
        }
        Given::Addr(Addr::Abstract(name)) => {
            ctx.kernel.fs.net.unbound(id)?;
            ctx.kernel.fs.net.bind_name(id, Some(name))?;
        }
        Given::Addr(_) => return Err(Errno::EINVAL.into()),
    }
    Ok(0)
}

/// listen(2). A backlog that is too large is cut.
fn listen(ctx: &mut Ctx, [fd, backlog, ..]: [u64; 6]) -> SysResult {
    let socket = socket_at(ctx, fd)?;
    let backlog = (backlog as u32 as usize).min(SOMAXCONN);
    let who = identity(ctx);
    let fs = &mut ctx.kernel.fs;
    match socket.family {
        Family::Unix => fs.net.listen_unix(socket.id, backlog, who, &mut fs.queues)?,
        Family::Inet | Family::Inet6 => fs.net.listen_tcp(socket.id, backlog, &mut fs.queues)?,
        Family::Netlink => return Err(Errno::EOPNOTSUPP.into()),
    }
    Ok(0)
}

/// accept(2).
fn accept(ctx: &mut Ctx, [fd, addr, len, ..]: [u64; 6]) -> SysResult {
    accept4(ctx, [fd, addr, len, 0, 0, 0])
}

/// accept4(2).
pub(in crate::syscalls) fn accept4(ctx: &mut Ctx, [fd, addr, len, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    ctx.pin_opened(fd as i32)?;
    if flags & !FLAGS != 0 {
        return Err(Errno::EINVAL.into());
    }
    let socket = socket_at(ctx, fd)?;
    ctx.kernel.fds().has_room(limit(ctx))?;
    let id = on_net(ctx, socket, |fs| fs.net.accept(socket.id, socket.nonblocking, &mut fs.queues))?;
    let number = ctx.kernel.fs.next_number();
    let sock = ctx.kernel.fs.net.sock_mut(id)?;
    sock.number = number;
    let remote = sock.remote.clone();
    let new = give_descriptor(ctx, id, flags)?;
    if addr != 0
        && let Err(errno) = put_address(ctx, &shown(socket, remote.as_ref()), addr, len)
    {
        ctx.kernel.close(new as i32, ctx.mem)?;
        return Err(errno.into());
    }
    Ok(new)
}

/// connect(2).
pub(in crate::syscalls) fn connect(ctx: &mut Ctx, [fd, addr, len, ..]: [u64; 6]) -> SysResult {
    ctx.pin_opened(fd as i32)?;
    let bytes = get_address(ctx, addr, len)?;
    let socket = socket_at(ctx, fd)?;
    match socket.family {
        Family::Unix => connect_unix(ctx, socket, &bytes),
        Family::Inet | Family::Inet6 => connect_inet(ctx, socket, &bytes),
        Family::Netlink => match parse(socket.family, &bytes, Errno::EINVAL)? {
            Given::Addr(Addr::Netlink(0, _)) | Given::Unspecified => Ok(0),
            _ => Err(Errno::EPERM.into()),
        },
    }
}

fn connect_unix(ctx: &mut Ctx, socket: Socket, bytes: &[u8]) -> SysResult {
    let id = socket.id;
    if !ctx.kernel.fs.net.connects(id) && family_of(bytes)? == AF_UNSPEC {
        let fs = &mut ctx.kernel.fs;
        fs.net.connect_datagram(id, None, &mut fs.queues)?;
        return Ok(0);
    }
    let Given::Addr(addr) = parse(Family::Unix, bytes, Errno::EINVAL)? else {
        return Err(Errno::EINVAL.into());
    };
    let to = find_unix(ctx, socket.kind, &addr)?;
    let who = identity(ctx);
    on_net(ctx, socket, |fs| {
        if fs.net.connects(id) {
            fs.net.connect_unix(id, to, socket.nonblocking, who, &mut fs.queues)
        } else {
            Ok(fs.net.connect_datagram(id, Some(to), &mut fs.queues)?)
        }
    })?;
    Ok(0)
}

fn connect_inet(ctx: &mut Ctx, socket: Socket, bytes: &[u8]) -> SysResult {
    let id = socket.id;
    let again = ctx.kernel.task().call.number.is_some();
    let family = match family_of(bytes)? {
        AF_INET if socket.family == Family::Inet6 && socket.kind == Kind::Datagram => Family::Inet,
        _ => socket.family,
    };
    let given = parse(family, bytes, Errno::EAFNOSUPPORT);
    // What a stream that is connected is given is not even looked at.
    let to: SocketAddr =
        match given.map_err(|errno| ctx.kernel.fs.net.connected(id).err().unwrap_or(errno))? {
            Given::Unspecified => {
                let fs = &mut ctx.kernel.fs;
                fs.net.disconnect(id, &mut fs.queues)?;
                return Ok(0);
            }
            Given::Addr(Addr::Inet(to)) => to,
            _ => return Err(Errno::EAFNOSUPPORT.into()),
        };
    on_net(ctx, socket, |fs| match socket.kind {
        Kind::Stream => fs.net.connect_tcp(id, to, (socket.nonblocking, again), &mut fs.queues),
        _ => Ok(fs.net.connect_udp(id, to, &mut fs.queues)?),
    })?;
    Ok(0)
}

/// getsockname(2).
fn getsockname(ctx: &mut Ctx, [fd, addr, len, ..]: [u64; 6]) -> SysResult {
    let socket = socket_at(ctx, fd)?;
    let local = ctx.kernel.fs.net.sock(socket.id)?.local.clone();
    put_address(ctx, &encode(socket.family, local.as_ref()), addr, len)?;
    Ok(0)
}

/// getpeername(2).
fn getpeername(ctx: &mut Ctx, [fd, addr, len, ..]: [u64; 6]) -> SysResult {
    let socket = socket_at(ctx, fd)?;
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    let connected = match socket.family {
        Family::Unix => sock.peer.is_some(),
        Family::Netlink => true,
        _ if socket.is_tcp() => !matches!(sock.tcp_state(), TCP_CLOSE | TCP_SYN_SENT | TCP_LISTEN),
        _ => sock.remote.is_some(),
    };
    if !connected {
        return Err(Errno::ENOTCONN.into());
    }
    let remote = sock.remote.clone();
    put_address(ctx, &encode(socket.family, remote.as_ref()), addr, len)?;
    Ok(0)
}

/// shutdown(2).
pub(in crate::syscalls) fn shutdown(ctx: &mut Ctx, [fd, how, ..]: [u64; 6]) -> SysResult {
    let socket = socket_at(ctx, fd)?;
    let how = u64::from(how as u32);
    if how > SHUT_RDWR {
        return Err(Errno::EINVAL.into());
    }
    if socket.family == Family::Netlink {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let fs = &mut ctx.kernel.fs;
    fs.net.shutdown(socket.id, (how != 1, how != 0), &mut fs.queues)?;
    Ok(0)
}
