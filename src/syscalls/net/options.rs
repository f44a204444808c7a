//! getsockopt(2) and setsockopt(2): the way to the options of each level, and those of SOL_SOCKET
//! that are more than a number of the table.

use crate::abi::capability::{CAP_NET_ADMIN, CAP_NET_RAW};
use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::abi::time::{CLOCK_MONOTONIC, NSEC_PER_SEC, USEC_PER_SEC};
use crate::kernel::net::addr::{Family, encode};
use crate::kernel::net::options::{Privilege, Privileges};
use crate::kernel::net::queue::Ucred;
use crate::kernel::net::sock::{Kind, State};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array, get_u32, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::net::address::{Socket, socket_at};
use crate::syscalls::net::ip_options::*;
use crate::syscalls::net::option_value::{Given, number, set_number, words};
use crate::syscalls::net::tcp_options::{get_tcp, set_tcp};
use crate::syscalls::process::pidfd;
use crate::syscalls::row::{Row, partial};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    partial(
        54,
        "setsockopt",
        setsockopt,
        "no filters, lists of sources of multicast, headers of packets, IPsec, netfilter; what only a real network tells is \
         remembered",
    ),
    partial(55, "getsockopt", getsockopt, "no filters, no TCP_INFO beyond the state of the connection"),
];

/// Least and largest SO_SNDBUF and SO_RCVBUF; what is asked for is doubled.
const SEND_LEAST: i32 = 4608;
const RECEIVE_LEAST: i32 = 2304;
const ROOM_MOST: i32 = 212_992;
/// Size of `struct sock_fprog`.
const SOCK_FPROG: i32 = 16;
/// Bits of SO_TIMESTAMPING; of stamps that packets get when they are sent, which are not made; of
/// identifiers and statistics, and of the stamps' clock, which need others.
const STAMPING_MASK: u32 = 0x7_ffff;
const STAMPING_SENT: u32 = 0x4_0302;
const STAMPING_ID: u32 = 1 << 7;
const STAMPING_ONLY: u32 = 1 << 11;
const STAMPING_STATS: u32 = 1 << 12;
const STAMPING_CLOCK: u32 = 1 << 15;
const STAMPING_ID_TCP: u32 = 1 << 16;
/// The one interface: its name and its number.
const LOOPBACK: &[u8] = b"lo";
const LOOPBACK_INDEX: i64 = 1;

/// Privileges of the caller over a socket.
fn privileges(ctx: &Ctx, socket: Socket) -> Result<Privileges, Errno> {
    let namespace = ctx.kernel.fs.net.sock(socket.id)?.namespace;
    let has = |capability| ctx.kernel.require_in(namespace, capability).is_ok();
    Ok(Privileges { admin: has(CAP_NET_ADMIN), raw: has(CAP_NET_RAW) })
}

/// UDP-Lite has the options of UDP, at either level.
fn level_of(level: u32) -> u32 {
    if level == IPPROTO_UDPLITE { IPPROTO_UDP } else { level }
}

/// setsockopt(2).
fn setsockopt(ctx: &mut Ctx, [fd, level, name, addr, len, _]: [u64; 6]) -> SysResult {
    let (level, name, len) = (level as u32, name as u32, len as i32);
    if len < 0 {
        return Err(Errno::EINVAL.into());
    }
    let socket = socket_at(ctx, fd)?;
    let (given, may) = (Given { addr, len }, privileges(ctx, socket)?);
    match (level_of(level), socket.family) {
        (SOL_SOCKET, _) => set_socket(ctx, socket, name, given, may)?,
        (_, Family::Unix) => return Err(Errno::EOPNOTSUPP.into()),
        (SOL_NETLINK, Family::Netlink) => set_netlink(ctx, socket, name, given, may)?,
        (_, Family::Netlink) => return Err(Errno::ENOPROTOOPT.into()),
        (IPPROTO_IP, _) => set_ip(ctx, socket, name, given, may)?,
        (IPPROTO_IPV6, Family::Inet6) => set_ipv6(ctx, socket, name, given, may)?,
        (IPPROTO_TCP, _) if socket.is_tcp() => set_tcp(ctx, socket, name, given, may)?,
        (IPPROTO_UDP, _) if !socket.is_tcp() => set_udp(ctx, socket, name, given, may)?,
        _ => return Err(Errno::ENOPROTOOPT.into()),
    }
    Ok(0)
}

/// Sets SO_TIMESTAMPING; EINVAL, EOPNOTSUPP. Stamps for what is sent are refused by name.
fn set_stamping(ctx: &mut Ctx, socket: Socket, name: u32, flags: u32) -> Result<(), Errno> {
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    let open = matches!(sock.state, State::Closed | State::Listening);
    let needs = |bit: u32, other: u32| flags & bit != 0 && flags & other == 0;
    if flags & !STAMPING_MASK != 0
        || needs(STAMPING_ID_TCP, STAMPING_ID)
        || needs(STAMPING_STATS, STAMPING_ONLY)
        || flags & STAMPING_ID != 0 && socket.is_tcp() && open
    {
        return Err(Errno::EINVAL);
    }
    if flags & STAMPING_CLOCK != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    if flags & STAMPING_SENT != 0 {
        ctx.kernel.notices.count("setsockopt: ", "time stamps of what is sent: answered with ENOPROTOOPT");
        return Err(Errno::ENOPROTOOPT);
    }
    let options = &mut ctx.kernel.fs.net.sock_mut(socket.id)?.options;
    let is_new = name == SO_TIMESTAMPING_NEW;
    options.put(SOL_SOCKET, SO_TIMESTAMPING, flags.into());
    options.put(SOL_SOCKET, SO_TIMESTAMPING_NEW, if is_new { flags.into() } else { 0 });
    Ok(())
}

/// Options of SOL_SOCKET.
fn set_socket(ctx: &mut Ctx, socket: Socket, name: u32, given: Given, may: Privileges) -> Result<(), Errno> {
    let Given { addr, len } = given;
    if name == SO_BINDTODEVICE {
        let mut bytes = vec![0; len.min(15) as usize];
        copy_from_user(ctx.mem, addr, &mut bytes)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let index = match &bytes[..end] {
            b"" => 0,
            LOOPBACK => LOOPBACK_INDEX,
            _ => return Err(Errno::ENODEV),
        };
        ctx.kernel.fs.net.sock_mut(socket.id)?.options.put(SOL_SOCKET, SO_BINDTOIFINDEX, index);
        return Ok(());
    }
    let [value] = words::<1>(ctx, addr, len)?;
    let value = value as i32;
    match name {
        SO_TYPE | SO_PROTOCOL | SO_DOMAIN | SO_ERROR | SO_ACCEPTCONN | SO_PEERCRED | SO_COOKIE => {
            Err(Errno::ENOPROTOOPT)
        }
        SO_SNDBUF | SO_RCVBUF | SO_SNDBUFFORCE | SO_RCVBUFFORCE => {
            let forced = matches!(name, SO_SNDBUFFORCE | SO_RCVBUFFORCE);
            if forced {
                may.require(Privilege::Admin)?;
            }
            let most = if forced { i32::MAX / 2 } else { ROOM_MOST };
            let sends = matches!(name, SO_SNDBUF | SO_SNDBUFFORCE);
            // As in Linux a negative number is a large one, unless it is forced.
            let wanted = if forced { value.max(0) } else { (value as u32).min(most as u32) as i32 };
            let room = wanted.min(most).saturating_mul(2).max(if sends { SEND_LEAST } else { RECEIVE_LEAST });
            let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
            match sends {
                true => (sock.send_room, sock.rooms_were_set.0) = (room as usize, true),
                false => (sock.receive_room, sock.rooms_were_set.1) = (room as usize, true),
            }
            let queue = sock.queue;
            ctx.kernel.fs.queues.wake(queue, 0);
            Ok(())
        }
        SO_LINGER => {
            let [on, seconds] = words(ctx, addr, len)?;
            let linger = if on == 0 { (false, 0) } else { (true, seconds) };
            ctx.kernel.fs.net.sock_mut(socket.id)?.linger = linger;
            Ok(())
        }
        SO_RCVLOWAT => {
            let most = if value < 0 { i32::MAX } else { value.max(1) };
            // TCP has no more than half of its largest buffer, `tcp_set_rcvlowat`.
            const TCP_MOST: usize = 3 << 20;
            let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
            sock.low_water = (most as usize).min(if sock.is_tcp() { TCP_MOST } else { usize::MAX });
            Ok(())
        }
        SO_RCVTIMEO | SO_SNDTIMEO | SO_RCVTIMEO_NEW | SO_SNDTIMEO_NEW => {
            let [sec, sec_high, micros, micros_high] = words(ctx, addr, len)?;
            let (sec, micros) = (
                i64::from(sec) | i64::from(sec_high) << 32,
                i64::from(micros) | i64::from(micros_high) << 32,
            );
            if !(0..USEC_PER_SEC as i64).contains(&micros) {
                return Err(Errno::EDOM);
            }
            let ns = (sec.max(0) as u64).saturating_mul(NSEC_PER_SEC).saturating_add(micros as u64 * 1000);
            let timeout = (sec < 0 || ns > 0).then_some(ns);
            let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
            match name {
                SO_RCVTIMEO | SO_RCVTIMEO_NEW => sock.receive_timeout = timeout,
                _ => sock.send_timeout = timeout,
            }
            Ok(())
        }
        SO_PEEK_OFF if socket.family == Family::Netlink => Err(Errno::EOPNOTSUPP),
        SO_PEEK_OFF => {
            let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
            sock.peek_at = usize::try_from(value).ok();
            sock.options.put(SOL_SOCKET, SO_PEEK_OFF, value.into());
            Ok(())
        }
        SO_REUSEPORT if value != 0 && !socket.family.is_inet() => Err(Errno::EOPNOTSUPP),
        26 | 51 if len != SOCK_FPROG => Err(Errno::EINVAL), // SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF
        26 | 51 => {
            ctx.kernel.notices.count("setsockopt: ", "a filter of packets: answered with ENOPROTOOPT");
            Err(Errno::ENOPROTOOPT)
        }
        27 => Err(Errno::ENOENT), // SO_DETACH_FILTER: there is none
        // SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_EBPF: no descriptor is a program of BPF.
        50 | 52 if len != 4 => Err(Errno::EINVAL),
        50 | 52 => ctx.opened(value).and(Err(Errno::EINVAL)),
        SO_TIMESTAMPING | SO_TIMESTAMPING_NEW => set_stamping(ctx, socket, name, value as u32),
        53 => Ok(()), // SO_CNX_ADVICE
        47 => {
            // SO_MAX_PACING_RATE, of 8 bytes if there are as many; of 4 all ones mean the same
            let rate = match (len >= 8, value) {
                (true, _) => i64::from_le_bytes(get_array(ctx.mem, addr)?),
                (false, -1) => -1,
                (false, _) => i64::from(value as u32),
            };
            ctx.kernel.fs.net.sock_mut(socket.id)?.options.put(SOL_SOCKET, name, rate);
            Ok(())
        }
        SO_ZEROCOPY if !socket.family.is_inet() => Err(Errno::EOPNOTSUPP),
        61 if len != 8 => Err(Errno::EINVAL), // SO_TXTIME: a clock and flags
        61 => {
            let [clock, flags] = words(ctx, addr, len)?;
            if flags & !3 != 0 {
                return Err(Errno::EINVAL);
            }
            if clock as i32 != CLOCK_MONOTONIC {
                may.require(Privilege::Admin)?;
            }
            let both = i64::from(clock) | i64::from(flags) << 32;
            ctx.kernel.fs.net.sock_mut(socket.id)?.options.put(SOL_SOCKET, name, both);
            Ok(())
        }
        // SO_DETACH_REUSEPORT_BPF: there is none.
        68 => Err(if ctx.kernel.fs.net.sock(socket.id)?.is_on(SO_REUSEPORT) {
            Errno::ENOENT
        } else {
            Errno::EINVAL
        }),
        70 if value < 0 => Err(Errno::EINVAL), // SO_BUSY_POLL_BUDGET
        70 => {
            if value > 0 {
                may.require(Privilege::Admin)?;
            }
            if value > 65_535 { Err(Errno::EINVAL) } else { Ok(()) }
        }
        72 => {
            // SO_BUF_LOCK
            if value & !3 != 0 {
                return Err(Errno::EINVAL);
            }
            ctx.kernel.fs.net.sock_mut(socket.id)?.rooms_were_set = (value & 1 != 0, value & 2 != 0);
            Ok(())
        }
        73 if value < 0 => Err(Errno::EINVAL), // SO_RESERVE_MEM, without a group that counts memory
        73 => Err(Errno::EOPNOTSUPP),
        80 if !socket.is_tcp() => Err(Errno::EBADF), // SO_DEVMEM_DONTNEED: there are no such pieces
        80 if len % 8 != 0 || len > 1024 => Err(Errno::EINVAL),
        80 => Ok(()),
        SO_INQ if (socket.family, socket.kind) == (Family::Unix, Kind::Stream) => {
            if len != 4 || !(0..=1).contains(&value) {
                return Err(Errno::EINVAL);
            }
            ctx.kernel.fs.net.sock_mut(socket.id)?.options.put(SOL_SOCKET, name, value.into());
            Ok(())
        }
        _ => set_number(ctx, socket, SOL_SOCKET, name, value, may),
    }
}

/// getsockopt(2).
fn getsockopt(ctx: &mut Ctx, [fd, level, name, addr, len, _]: [u64; 6]) -> SysResult {
    let (level, name) = (level as u32, name as u32);
    let socket = socket_at(ctx, fd)?;
    let room = get_u32(ctx.mem, len)? as i32;
    let room = usize::try_from(room).map_err(|_| Errno::EINVAL)?;
    if level == SOL_SOCKET && name == SO_PEERGROUPS {
        let groups =
            ctx.kernel.fs.net.sock(socket.id)?.of_peer.as_ref().ok_or(Errno::ENODATA)?.groups.clone();
        if room < groups.len() * 4 {
            put_u32(ctx.mem, len, groups.len() as u32 * 4)?;
            return Err(Errno::ERANGE.into());
        }
        let bytes: Vec<u8> = groups.iter().flat_map(|group| group.to_le_bytes()).collect();
        copy_to_user(ctx.mem, addr, &bytes)?;
        put_u32(ctx.mem, len, bytes.len() as u32)?;
        return Ok(0);
    }
    let (bytes, whole) = match (level_of(level), socket.family) {
        (SOL_SOCKET, _) => (get_socket(ctx, socket, name, room)?, room),
        (_, Family::Unix) => return Err(Errno::EOPNOTSUPP.into()),
        (SOL_NETLINK, Family::Netlink) => get_netlink(ctx, socket, name, room)?,
        (_, Family::Netlink) => return Err(Errno::ENOPROTOOPT.into()),
        (IPPROTO_IP, _) => (get_ip(ctx, socket, name, (addr, room))?, room),
        (IPPROTO_IPV6, Family::Inet6) => (get_ipv6(ctx, socket, name, (addr, room))?, room),
        (IPPROTO_TCP, _) if socket.is_tcp() => (get_tcp(ctx, socket, name)?, room),
        (IPPROTO_UDP, _) if !socket.is_tcp() => (get_number(ctx, socket, IPPROTO_UDP, name)?, room),
        (_, Family::Inet) => return Err(Errno::EOPNOTSUPP.into()),
        (_, Family::Inet6) => return Err(Errno::ENOPROTOOPT.into()),
    };
    let shown = bytes.len().min(room);
    copy_to_user(ctx.mem, addr, &bytes[..shown])?;
    put_u32(ctx.mem, len, if level == SOL_NETLINK { whole } else { shown } as u32)?;
    Ok(0)
}

fn get_number(ctx: &Ctx, socket: Socket, level: u32, name: u32) -> Result<Vec<u8>, Errno> {
    Ok((number(ctx.kernel.fs.net.sock(socket.id)?, level, name)? as i32).to_le_bytes().to_vec())
}

/// A descriptor of the process on the other side, SO_PEERPIDFD.
fn peer_pidfd(ctx: &mut Ctx, socket: Socket) -> Result<i32, Errno> {
    let peer = ctx.kernel.fs.net.sock(socket.id)?.of_peer.as_ref().ok_or(Errno::ENODATA)?.cred.pid;
    let process = ctx.kernel.find_process(peer).ok_or(Errno::ESRCH)?;
    pidfd::open(ctx, process, 0).map(|fd| fd as i32).map_err(|_| Errno::EMFILE)
}

/// Options of SOL_SOCKET.
fn get_socket(ctx: &mut Ctx, socket: Socket, name: u32, room: usize) -> Result<Vec<u8>, Errno> {
    if name == SO_PEERPIDFD {
        return Ok(peer_pidfd(ctx, socket)?.to_le_bytes().to_vec());
    }
    let user_ns = ctx.kernel.task().cred.user_ns.clone();
    let peer = ctx.kernel.fs.net.sock_mut(socket.id)?.of_peer.as_ref().map_or(0, |peer| peer.cred.pid);
    let pid = ctx.kernel.shown_pid(peer) as u32;
    let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
    let int = |value: usize| (value.min(i32::MAX as usize) as u32).to_le_bytes().to_vec();
    let time = |timeout: Option<u64>| {
        let ns = timeout.unwrap_or(0);
        [(ns / NSEC_PER_SEC).to_le_bytes(), (ns % NSEC_PER_SEC / 1000).to_le_bytes()].concat()
    };
    Ok(match name {
        SO_TYPE if sock.raw => int(SOCK_RAW as usize),
        SO_TYPE => int(sock.kind.number() as usize),
        SO_PROTOCOL => int(sock.protocol as usize),
        SO_DOMAIN => int(sock.family.number().into()),
        SO_ERROR => int(sock.error.take().map_or(0, |errno| errno.0.into())),
        SO_SNDBUF => int(sock.send_room),
        SO_RCVBUF => int(sock.receive_room),
        SO_LINGER => [u32::from(sock.linger.0).to_le_bytes(), sock.linger.1.to_le_bytes()].concat(),
        SO_RCVLOWAT => int(sock.low_water),
        SO_RCVTIMEO | SO_RCVTIMEO_NEW => time(sock.receive_timeout),
        SO_SNDTIMEO | SO_SNDTIMEO_NEW => time(sock.send_timeout),
        SO_PEEK_OFF if socket.family == Family::Netlink => return Err(Errno::EOPNOTSUPP),
        SO_PEEK_OFF => {
            let unset = || sock.options.number(SOL_SOCKET, name).map_or(-1, |value| value.min(-1) as i32);
            sock.peek_at.map_or_else(unset, |at| at as i32).to_le_bytes().to_vec()
        }
        SO_ACCEPTCONN => int((sock.state == State::Listening).into()),
        SO_REUSEPORT => int(sock.is_on(SO_REUSEPORT).into()),
        SO_COOKIE if room < 8 => return Err(Errno::EINVAL),
        SO_COOKIE => sock.number.to_le_bytes().to_vec(),
        SO_BINDTODEVICE => match sock.options.number(SOL_SOCKET, SO_BINDTOIFINDEX) {
            Some(LOOPBACK_INDEX) => [LOOPBACK, b"\0"].concat(),
            _ => Vec::new(),
        },
        26 => Vec::new(), // SO_GET_FILTER
        SO_TIMESTAMPING | SO_TIMESTAMPING_NEW => {
            let flags = sock.options.number(SOL_SOCKET, name).unwrap_or(0) as u32;
            [flags, 0].iter().flat_map(|word| word.to_le_bytes()).collect()
        }
        47 => {
            // SO_MAX_PACING_RATE
            let rate = sock.options.number(SOL_SOCKET, name).unwrap_or(-1);
            if room < 8 {
                (rate as u64).min(u32::MAX.into()).to_le_bytes()[..4].to_vec()
            } else {
                rate.to_le_bytes().to_vec()
            }
        }
        SO_INCOMING_CPU if sock.is_tcp() && sock.state == State::Connected => {
            (sock.options.number(SOL_SOCKET, name).unwrap_or(0) as i32).to_le_bytes().to_vec()
        }
        55 => {
            // SO_MEMINFO: rooms that are taken and may be, of what came and of what is sent
            let rooms = [sock.received.room(), sock.receive_room, sock.sent, sock.send_room, 0, 0, 0, 0, 0];
            rooms.iter().flat_map(|room| (*room as u32).to_le_bytes()).collect()
        }
        61 => sock.options.number(SOL_SOCKET, name).unwrap_or(0).to_le_bytes().to_vec(), // SO_TXTIME
        71 if room != 8 => return Err(Errno::EINVAL),                                    // SO_NETNS_COOKIE
        71 => u64::from(sock.namespace.0).to_le_bytes().to_vec(),
        72 => int(usize::from(sock.rooms_were_set.0) | usize::from(sock.rooms_were_set.1) << 1), // SO_BUF_LOCK
        73 => int(0), // SO_RESERVE_MEM
        SO_PEERCRED => {
            let (pid, uid, gid) = sock.of_peer.as_ref().map_or((0, u32::MAX, u32::MAX), |peer| {
                let Ucred { uid, gid, .. } = peer.cred;
                (pid, user_ns.uids.shown(uid), user_ns.gids.shown(gid))
            });
            [pid, uid, gid].iter().flat_map(|word| word.to_le_bytes()).collect()
        }
        SO_PEERNAME => {
            let known = sock.remote.is_some() || sock.peer.is_some() || sock.family == Family::Netlink;
            let bytes =
                if known { encode(sock.family, sock.remote.as_ref()) } else { return Err(Errno::ENOTCONN) };
            if bytes.len() < room {
                return Err(Errno::EINVAL);
            }
            bytes
        }
        _ => (number(sock, SOL_SOCKET, name)? as i32).to_le_bytes().to_vec(),
    })
}
