//! getsockopt(2) and setsockopt(2): the options that are no plain numbers, and the way to those
//! that are.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::abi::capability::CAP_NET_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::abi::time::{NSEC_PER_SEC, USEC_PER_SEC};
use crate::kernel::net::addr::{Family, encode};
use crate::kernel::net::queue::Ucred;
use crate::kernel::net::sock::{Kind, Sock, State};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_u32, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::net::address::{Socket, socket_at};
use crate::syscalls::row::{Row, partial};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    partial(54, "setsockopt", setsockopt, "no filters; what only a real network tells is remembered"),
    partial(55, "getsockopt", getsockopt, "no filters, no TCP_INFO beyond the state of the connection"),
];

/// Least and largest SO_SNDBUF and SO_RCVBUF; what is asked for is doubled.
const SEND_LEAST: i32 = 4608;
const RECEIVE_LEAST: i32 = 2304;
const ROOM_MOST: i32 = 212_992;
/// The one interface: its name and its number.
const LOOPBACK: &[u8] = b"lo";
const LOOPBACK_INDEX: u32 = 1;
/// Bytes of a segment on it.
const LOOPBACK_MSS: u32 = 65_483;

/// Reads the words of an option; EINVAL if it is too short.
fn words<const N: usize>(ctx: &mut Ctx, addr: u64, len: i32) -> Result<[u32; N], Errno> {
    if len < 4 * N as i32 {
        return Err(Errno::EINVAL);
    }
    let mut found = [0; N];
    for (at, word) in found.iter_mut().enumerate() {
        *word = get_u32(ctx.mem, addr.wrapping_add(4 * at as u64))?;
    }
    Ok(found)
}

/// setsockopt(2).
fn setsockopt(ctx: &mut Ctx, [fd, level, name, addr, len, _]: [u64; 6]) -> SysResult {
    let (level, name, len) = (level as u32, name as u32, len as i32);
    if len < 0 {
        return Err(Errno::EINVAL.into());
    }
    let socket = socket_at(ctx, fd)?;
    match (level, socket.family) {
        (SOL_SOCKET, _) => set_socket(ctx, socket, name, addr, len)?,
        (_, Family::Unix) => return Err(Errno::EOPNOTSUPP.into()),
        // Groups never have news, and errors never have more to say.
        (SOL_NETLINK, Family::Netlink) if name <= 12 => {
            words::<1>(ctx, addr, len)?;
        }
        (IPPROTO_TCP, _) if name == TCP_CONGESTION => {
            let mut bytes = vec![0; len.min(15) as usize];
            if bytes.is_empty() {
                return Err(Errno::EINVAL.into());
            }
            copy_from_user(ctx.mem, addr, &mut bytes)?;
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            if !matches!(&bytes[..end], b"cubic" | b"reno") {
                return Err(Errno::ENOENT.into());
            }
        }
        (IPPROTO_IP, Family::Inet | Family::Inet6) if set_multicast(ctx, socket, name, addr, len)? => {}
        (IPPROTO_IPV6, Family::Inet6) if set_multicast6(ctx, socket, name, addr, len)? => {}
        _ => {
            // A byte will do for the options of IP.
            let value = match (level, len) {
                (IPPROTO_IP, 1..4) => {
                    let mut byte = [0];
                    copy_from_user(ctx.mem, addr, &mut byte)?;
                    i32::from(byte[0])
                }
                _ => words::<1>(ctx, addr, len)?[0] as i32,
            };
            set_number(ctx, socket, level, name, value)?;
        }
    }
    Ok(0)
}

fn set_number(ctx: &mut Ctx, socket: Socket, level: u32, name: u32, value: i32) -> Result<(), Errno> {
    let cred = ctx.kernel.task().cred.clone();
    let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
    if (level, name) == (IPPROTO_IPV6, IPV6_V6ONLY) && sock.local.is_some() {
        return Err(Errno::EINVAL);
    }
    let which = (sock.family, sock.kind == Kind::Stream);
    sock.options.set(which, (level, name), value, &cred)
}

/// Options of SOL_SOCKET.
fn set_socket(ctx: &mut Ctx, socket: Socket, name: u32, addr: u64, len: i32) -> Result<(), Errno> {
    if name == SO_BINDTODEVICE {
        let mut bytes = vec![0; len.min(15) as usize];
        copy_from_user(ctx.mem, addr, &mut bytes)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        return if end == 0 || &bytes[..end] == LOOPBACK { Ok(()) } else { Err(Errno::ENODEV) };
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
                ctx.kernel.task().cred.require(CAP_NET_ADMIN)?;
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
            ctx.kernel.fs.net.sock_mut(socket.id)?.low_water = most as usize;
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
            ctx.kernel.fs.net.sock_mut(socket.id)?.peek_at = usize::try_from(value).ok();
            Ok(())
        }
        SO_REUSEPORT if value != 0 && !socket.family.is_inet() => Err(Errno::EOPNOTSUPP),
        SO_REUSEPORT => set_number(ctx, socket, SOL_SOCKET, name, value),
        26 | 50..=52 => {
            ctx.kernel.notices.count("setsockopt: ", "a filter of packets: answered with ENOPROTOOPT");
            Err(Errno::ENOPROTOOPT)
        }
        27 => Err(Errno::ENOENT), // SO_DETACH_FILTER: there is none
        _ => set_number(ctx, socket, SOL_SOCKET, name, value),
    }
}

/// Joins or leaves a group, or chooses the interface for groups.
fn join(ctx: &mut Ctx, socket: Socket, group: IpAddr, leave: bool) -> Result<(), Errno> {
    if !group.is_multicast() {
        return Err(Errno::EINVAL);
    }
    let groups = &mut ctx.kernel.fs.net.sock_mut(socket.id)?.groups;
    match (groups.iter().position(|held| *held == group), leave) {
        (None, true) => return Err(Errno::EADDRNOTAVAIL),
        (Some(_), false) => return Err(Errno::EADDRINUSE),
        (None, false) => groups.push(group),
        (Some(at), true) => {
            groups.remove(at);
        }
    }
    Ok(())
}

/// The options of IPv4 about groups; false for others.
fn set_multicast(ctx: &mut Ctx, socket: Socket, name: u32, addr: u64, len: i32) -> Result<bool, Errno> {
    let octets = |word: u32| Ipv4Addr::from(word.to_le_bytes());
    let ours = |ip: Ipv4Addr, index: u32| ip.is_loopback() || index == LOOPBACK_INDEX;
    let index =
        |ctx: &mut Ctx| if len >= 12 { words::<3>(ctx, addr, len).map(|words| words[2]) } else { Ok(0) };
    match name {
        IP_ADD_MEMBERSHIP | IP_DROP_MEMBERSHIP => {
            let [group, interface] = words(ctx, addr, len)?;
            let index = index(ctx)?;
            let leave = name == IP_DROP_MEMBERSHIP;
            if octets(group).is_multicast() && !leave && !ours(octets(interface), index) {
                return Err(Errno::ENODEV);
            }
            join(ctx, socket, octets(group).into(), leave)?;
        }
        IP_MULTICAST_IF if len >= 8 => {
            let [_, interface] = words(ctx, addr, len)?;
            let index = index(ctx)?;
            if !octets(interface).is_unspecified() && !ours(octets(interface), index) {
                return Err(Errno::EADDRNOTAVAIL);
            }
        }
        IP_MULTICAST_IF => {
            let [interface] = words(ctx, addr, len)?;
            if !octets(interface).is_unspecified() && !octets(interface).is_loopback() {
                return Err(Errno::EADDRNOTAVAIL);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The same for IPv6.
fn set_multicast6(ctx: &mut Ctx, socket: Socket, name: u32, addr: u64, len: i32) -> Result<bool, Errno> {
    if !matches!(name, IPV6_ADD_MEMBERSHIP | IPV6_DROP_MEMBERSHIP) {
        return Ok(false);
    }
    let [a, b, c, d, index] = words(ctx, addr, len)?;
    let mut octets = [0; 16];
    for (at, word) in [a, b, c, d].iter().enumerate() {
        octets[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
    }
    if index > LOOPBACK_INDEX {
        return Err(Errno::ENODEV);
    }
    join(ctx, socket, Ipv6Addr::from(octets).into(), name == IPV6_DROP_MEMBERSHIP)?;
    Ok(true)
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
    let bytes = match (level, socket.family) {
        (SOL_SOCKET, _) => get_socket(ctx, socket, name, room)?,
        (_, Family::Unix) => return Err(Errno::EOPNOTSUPP.into()),
        (IPPROTO_TCP, _) if socket.is_tcp() => get_tcp(ctx, socket, name)?,
        (IPPROTO_IP, _) | (_, Family::Inet6) => get_number(ctx, socket, level, name)?,
        (IPPROTO_UDP, _) if !socket.is_tcp() => get_number(ctx, socket, level, name)?,
        (_, Family::Inet) => return Err(Errno::EOPNOTSUPP.into()),
        _ => get_number(ctx, socket, level, name)?,
    };
    // What fits into a byte may be asked for with one.
    let shown = bytes.len().min(room);
    copy_to_user(ctx.mem, addr, &bytes[..shown])?;
    put_u32(ctx.mem, len, shown as u32)?;
    Ok(0)
}

fn get_number(ctx: &Ctx, socket: Socket, level: u32, name: u32) -> Result<Vec<u8>, Errno> {
    Ok(number(ctx.kernel.fs.net.sock(socket.id)?, level, name)?.to_le_bytes().to_vec())
}

fn number(sock: &Sock, level: u32, name: u32) -> Result<i32, Errno> {
    sock.options.get(sock.family, sock.kind == Kind::Stream, level, name).ok_or(Errno::ENOPROTOOPT)
}

/// Options of SOL_SOCKET.
fn get_socket(ctx: &mut Ctx, socket: Socket, name: u32, room: usize) -> Result<Vec<u8>, Errno> {
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
        SO_PEEK_OFF => sock.peek_at.map_or(-1, |at| at as i32).to_le_bytes().to_vec(),
        SO_ACCEPTCONN => int((sock.state == State::Listening).into()),
        SO_REUSEPORT => int(sock.is_on(SO_REUSEPORT).into()),
        SO_COOKIE if room < 8 => return Err(Errno::EINVAL),
        SO_COOKIE => sock.number.to_le_bytes().to_vec(),
        SO_BINDTODEVICE => Vec::new(),
        SO_PEERCRED => {
            let (pid, uid, gid) = sock.of_peer.as_ref().map_or((0, u32::MAX, u32::MAX), |peer| {
                let Ucred { uid, gid, .. } = peer.cred;
                (pid, user_ns.uids.shown(uid), user_ns.gids.shown(gid))
            });
            [pid, uid, gid].iter().flat_map(|word| word.to_le_bytes()).collect()
        }
        SO_PEERNAME => {
            let remote = sock.remote.as_ref().ok_or(Errno::ENOTCONN)?;
            let bytes = encode(sock.family, Some(remote));
            if bytes.len() < room {
                return Err(Errno::EINVAL);
            }
            bytes
        }
        _ => number(sock, SOL_SOCKET, name)?.to_le_bytes().to_vec(),
    })
}

/// Options of TCP.
fn get_tcp(ctx: &mut Ctx, socket: Socket, name: u32) -> Result<Vec<u8>, Errno> {
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    Ok(match name {
        TCP_CONGESTION => b"cubic\0\0\0\0\0\0\0\0\0\0\0".to_vec(),
        TCP_MAXSEG if sock.state == State::Connected => LOOPBACK_MSS.to_le_bytes().to_vec(),
        TCP_INFO => {
            let mut info = vec![0; 232];
            info[0] = sock.tcp_state();
            let mss = if sock.state == State::Connected { LOOPBACK_MSS } else { 536 };
            for at in [16, 20] {
                info[at..at + 4].copy_from_slice(&mss.to_le_bytes()); // tcpi_snd_mss, tcpi_rcv_mss
            }
            info
        }
        _ => number(sock, IPPROTO_TCP, name)?.to_le_bytes().to_vec(),
    })
}
