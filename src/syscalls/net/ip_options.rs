//! The options of IP, IPv6, UDP and netlink that are more than a number of the table.

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::net::options::{Privilege, Privileges};
use crate::kernel::net::sock::{Sock, State};
use crate::kernel::uaccess::get_bytes;
use crate::syscalls::context::Ctx;
use crate::syscalls::net::address::Socket;
use crate::syscalls::net::multicast::{get_filter, set_multicast, set_multicast6};
use crate::syscalls::net::option_value::{Given, number, set_number};

/// Bytes of a packet on the loopback: what IP_MTU and IPV6_MTU tell. The largest of IPv4 is a byte
/// less than the interface's.
const MTU: i32 = 65_535;
const MTU6: i32 = 65_536;
/// Least IPV6_MTU.
const IPV6_MIN_MTU: i32 = 1280;
/// The one interface.
const LOOPBACK_INDEX: u32 = 1;
/// Most bytes of the options of a packet of IPv4.
const MAX_IP_OPTIONS: usize = 40;
/// Groups that netlink has for a protocol, RTNLGRP_MAX and the least of all.
const ROUTE_GROUPS: u32 = 39;
const LEAST_GROUPS: u32 = 32;

/// Options that are refused by name, with the error number that stands for that.
fn refuse(ctx: &mut Ctx, what: &str, errno: Errno) -> Errno {
    ctx.kernel.notices.count("setsockopt: ", &format!("{what}: not there"));
    errno
}

/// Checks IP_OPTIONS: one that does nothing may stand in a packet, others are refused.
fn ip_options(ctx: &mut Ctx, given: Given, may: Privileges) -> Result<Vec<u8>, Errno> {
    let len = given.len as usize;
    if len > MAX_IP_OPTIONS {
        return Err(Errno::EINVAL);
    }
    let mut bytes = get_bytes(ctx.mem, given.addr, len)?;
    bytes.resize(len.next_multiple_of(4), 0);
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            0 => {
                bytes[at..].fill(0); // IPOPT_END
                break;
            }
            1 => at += 1, // IPOPT_NOOP
            kind => {
                let size = bytes.get(at + 1).map_or(0, |size| usize::from(*size));
                if size < 2 || at + size > bytes.len() {
                    return Err(Errno::EINVAL);
                }
                return Err(match kind {
                    7 | 68 | 130 | 131 | 134 | 136 | 137 | 148 => {
                        refuse(ctx, "an option of IP packets", Errno::ENOPROTOOPT)
                    }
                    _ if may.require(Privilege::Raw).is_ok() => {
                        refuse(ctx, "an option of IP packets", Errno::ENOPROTOOPT)
                    }
                    _ => Errno::EINVAL,
                });
            }
        }
    }
    Ok(bytes)
}

/// The priority that a type of service gives a packet, `ip_tos2prio`.
fn priority(service: i64) -> i64 {
    [0, 2, 6, 4][(service >> 3 & 3) as usize]
}

/// Remembers a number.
fn put(ctx: &mut Ctx, socket: Socket, level: u32, name: u32, value: i64) -> Result<(), Errno> {
    ctx.kernel.fs.net.sock_mut(socket.id)?.options.put(level, name, value);
    Ok(())
}

/// IP_UNICAST_IF and IPV6_UNICAST_IF: an interface's number, in network order.
fn set_unicast_if(
    ctx: &mut Ctx,
    socket: Socket,
    (level, name): (u32, u32),
    given: Given,
) -> Result<(), Errno> {
    let value = given.int(ctx)?;
    match u32::from_be(value as u32) {
        _ if given.len != 4 => Err(Errno::EINVAL),
        0 | LOOPBACK_INDEX => put(ctx, socket, level, name, value.into()),
        _ => Err(Errno::EADDRNOTAVAIL),
    }
}

/// Sets an option of IPPROTO_IP.
pub(super) fn set_ip(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    given: Given,
    may: Privileges,
) -> Result<(), Errno> {
    /// Options that want a byte at least, and those that streams do not take.
    const AT_LEAST_A_BYTE: [u32; 7] = [IP_TTL, 15, 19, 21, 33, 34, 49];
    const NOT_ON_STREAMS: [u32; 2] = [25, 33];
    if given.len == 0 && AT_LEAST_A_BYTE.contains(&name) {
        return Err(Errno::EINVAL);
    }
    match name {
        4 => {
            let bytes = ip_options(ctx, given, may)?;
            ctx.kernel.fs.net.sock_mut(socket.id)?.options.put_bytes(IPPROTO_IP, name, bytes);
            Ok(())
        }
        16 | 17 => {
            may.require(Privilege::Admin)?; // IP_IPSEC_POLICY, IP_XFRM_POLICY
            Err(refuse(ctx, "IPsec", Errno::ENOPROTOOPT))
        }
        IP_UNICAST_IF => set_unicast_if(ctx, socket, (IPPROTO_IP, name), given),
        IP_LOCAL_PORT_RANGE => {
            let range = given.int(ctx)? as u32;
            let (low, high) = (range & 0xffff, range >> 16);
            if given.len != 4 || low != 0 && high != 0 && low > high {
                return Err(Errno::EINVAL);
            }
            put(ctx, socket, IPPROTO_IP, name, i64::from(range as i32))
        }
        _ if set_multicast(ctx, socket, name, given.addr, given.len)? => Ok(()),
        _ if socket.is_tcp() && NOT_ON_STREAMS.contains(&name) => Err(Errno::EINVAL),
        IP_TOS => {
            // The two bits of congestion are TCP's own.
            let value = given.byte_or_int(ctx)? & if socket.is_tcp() { 0xfc } else { 0xff };
            let options = &mut ctx.kernel.fs.net.sock_mut(socket.id)?.options;
            options.put(SOL_SOCKET, SO_PRIORITY, priority(value.into()));
            options.put(IPPROTO_IP, name, value.into());
            Ok(())
        }
        _ => {
            let value = given.byte_or_int(ctx)?;
            set_number(ctx, socket, IPPROTO_IP, name, value, may)
        }
    }
}

/// An option of IPPROTO_IP.
pub(super) fn get_ip(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    (addr, room): (u64, usize),
) -> Result<Vec<u8>, Errno> {
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    let int = |value: i32| Ok(value.to_le_bytes().to_vec());
    match name {
        4 => Ok(sock.options.bytes(IPPROTO_IP, name)),
        9 if socket.is_tcp() => Ok(Vec::new()), // IP_PKTOPTIONS
        14 if is_connected(sock) => int(if sock.to().is_some_and(|to| to.is_ipv4()) { MTU } else { MTU6 }), // IP_MTU
        14 => Err(Errno::ENOTCONN),
        41 | 48 => Err(get_filter(ctx, (IPPROTO_IP, name), addr, room)),
        IP_MULTICAST_IF => int(number(sock, IPPROTO_IP, name)? as i32),
        _ => {
            let value = match name {
                52 => sock.at().map_or(0, |at| at.port().into()), // IP_PROTOCOL: for these the port
                _ => number(sock, IPPROTO_IP, name)? as i32,
            };
            // What fits into a byte may be asked for with one.
            match (u8::try_from(value), room) {
                (Ok(byte), 1..4) => Ok(vec![byte]),
                _ => int(value),
            }
        }
    }
}

/// Tells if there is another side.
fn is_connected(sock: &Sock) -> bool {
    sock.remote.is_some() && (!sock.is_tcp() || sock.state == State::Connected)
}

/// Preferences of IPV6_ADDR_PREFERENCES after some are asked for, `ip6_sock_set_addr_preferences`.
fn preferences(old: i64, asked: i32) -> Result<i64, Errno> {
    let (mut keep, mut add) = (!0, 0);
    match asked & 0x103 {
        0 => {}
        1 => (keep, add) = (keep & !0x103, add | 1), // IPV6_PREFER_SRC_TMP
        2 => (keep, add) = (keep & !0x103, add | 2), // IPV6_PREFER_SRC_PUBLIC
        0x100 => (keep, add) = (keep & !0x103, add | 0x100),
        _ => return Err(Errno::EINVAL),
    }
    match asked & 0x404 {
        0 => {}
        4 => (keep, add) = (keep & !0x404, add | 4), // IPV6_PREFER_SRC_COA
        0x400 => (keep, add) = (keep & !0x404, add | 0x400),
        _ => return Err(Errno::EINVAL),
    }
    if asked & 0x808 == 0x808 { Err(Errno::EINVAL) } else { Ok(old & keep | add) }
}

/// Sets an option of IPPROTO_IPV6.
pub(super) fn set_ipv6(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    given: Given,
    may: Privileges,
) -> Result<(), Errno> {
    /// Options that may be given nothing, which is 0, and those that streams do not have.
    const MAY_BE_SHORT: [u32; 3] = [62, 70, 77];
    const NOT_ON_STREAMS: [u32; 2] = [IPV6_MULTICAST_IF, 18];
    if socket.is_tcp() && NOT_ON_STREAMS.contains(&name) {
        return Err(Errno::ENOPROTOOPT);
    }
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    let (connected, mapped) = (is_connected(sock), sock.to().is_some_and(|to| to.is_ipv4()));
    let (len, int) = (given.len, |ctx: &mut Ctx| given.int(ctx));
    match name {
        1 => match int(ctx)? {
            2 if connected && mapped => Err(refuse(ctx, "IPV6_ADDRFORM", Errno::ENOPROTOOPT)),
            2 if connected => Err(Errno::EADDRNOTAVAIL),
            2 => Err(Errno::ENOTCONN),
            _ => Err(Errno::EINVAL),
        },
        6 if len < 16 => Ok(()), // IPV6_2292PKTOPTIONS, none
        6 => Err(refuse(ctx, "IPV6_2292PKTOPTIONS", Errno::EINVAL)),
        24 => match int(ctx)? {
            0 | IPV6_MIN_MTU.. => Ok(()), // IPV6_MTU; the interface's is less
            _ => Err(Errno::EINVAL),
        },
        27 | 28 if len < 20 => Err(Errno::EINVAL), // IPV6_JOIN_ANYCAST, IPV6_LEAVE_ANYCAST
        27 => {
            may.require(Privilege::Admin)?;
            Err(refuse(ctx, "IPV6_JOIN_ANYCAST", Errno::ENOPROTOOPT))
        }
        28 => Err(Errno::ENOENT),
        32 if len < 32 => Err(Errno::EINVAL), // IPV6_FLOWLABEL_MGR
        32 => Err(refuse(ctx, "IPV6_FLOWLABEL_MGR", Errno::EINVAL)),
        34 | 35 => {
            may.require(Privilege::Admin)?; // IPV6_IPSEC_POLICY, IPV6_XFRM_POLICY
            Err(refuse(ctx, "IPsec", Errno::ENOPROTOOPT))
        }
        IPV6_PKTINFO => match len {
            ..20 => Err(Errno::EINVAL),
            _ => {
                let bytes = get_bytes(ctx.mem, given.addr, 20)?;
                let ours = bytes[..15] == [0; 15] && bytes[15] <= 1 && bytes[16..] <= [1, 0, 0, 0][..];
                if ours { Ok(()) } else { Err(refuse(ctx, "IPV6_PKTINFO", Errno::EADDRNOTAVAIL)) }
            }
        },
        54 | 55 | 59 => {
            may.require(Privilege::Raw)?; // IPV6_HOPOPTS, IPV6_RTHDRDSTOPTS, IPV6_DSTOPTS
            if len == 0 { Ok(()) } else { Err(refuse(ctx, "headers of IPv6 packets", Errno::EINVAL)) }
        }
        57 if len == 0 => Ok(()), // IPV6_RTHDR
        57 => Err(refuse(ctx, "headers of IPv6 packets", Errno::EINVAL)),
        IPV6_UNICAST_IF if len >= 4 => set_unicast_if(ctx, socket, (IPPROTO_IPV6, name), given),
        IPV6_MULTICAST_IF => match int(ctx)? {
            value @ 0..=1 => put(ctx, socket, IPPROTO_IPV6, name, value.into()),
            _ => Err(Errno::ENODEV),
        },
        IPV6_ADDR_PREFERENCES => {
            let asked = int(ctx)?;
            let old = number(ctx.kernel.fs.net.sock(socket.id)?, IPPROTO_IPV6, name)?;
            put(ctx, socket, IPPROTO_IPV6, name, preferences(old, asked)?)
        }
        IPV6_V6ONLY if ctx.kernel.fs.net.sock(socket.id)?.local.is_some() => Err(Errno::EINVAL),
        _ if set_multicast6(ctx, socket, name, given.addr, len)? => Ok(()),
        _ => {
            let value = match len {
                ..4 if MAY_BE_SHORT.contains(&name) => 0,
                ..4 => {
                    number(ctx.kernel.fs.net.sock(socket.id)?, IPPROTO_IPV6, name)?;
                    return Err(Errno::EINVAL);
                }
                _ => int(ctx)?,
            };
            // The two bits of congestion are TCP's own.
            let cut = name == IPV6_TCLASS && socket.is_tcp() && (0..=255).contains(&value);
            set_number(ctx, socket, IPPROTO_IPV6, name, if cut { value & 0xfc } else { value }, may)
        }
    }
}

/// An option of IPPROTO_IPV6.
pub(super) fn get_ipv6(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    (addr, room): (u64, usize),
) -> Result<Vec<u8>, Errno> {
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    let connected = is_connected(sock);
    let int = |value: i32| Ok(value.to_le_bytes().to_vec());
    match name {
        1 if connected => int(AF_INET6.into()), // IPV6_ADDRFORM
        24 if connected => int(MTU6),           // IPV6_MTU
        1 | 24 => Err(Errno::ENOTCONN),
        6 if socket.is_tcp() => Ok(Vec::new()), // IPV6_2292PKTOPTIONS
        32 => Err(Errno::EINVAL),               // IPV6_FLOWLABEL_MGR
        MSFILTER => Err(get_filter(ctx, (IPPROTO_IPV6, name), addr, room)),
        54 | 55 | 57 | 59 => Ok(Vec::new()), // headers of packets, of which there are none
        61 if room < 32 => Err(Errno::EINVAL), // IPV6_PATHMTU
        61 if connected => Ok([&[0; 28][..], &MTU6.to_le_bytes()].concat()),
        61 => Err(Errno::ENOTCONN),
        _ => int(number(sock, IPPROTO_IPV6, name)? as i32),
    }
}

/// MCAST_MSFILTER.
const MSFILTER: u32 = 48;

/// Sets an option of IPPROTO_UDP.
pub(super) fn set_udp(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    given: Given,
    may: Privileges,
) -> Result<(), Errno> {
    let value = given.int(ctx)?;
    let lite = ctx.kernel.fs.net.sock(socket.id)?.protocol == IPPROTO_UDPLITE;
    match name {
        UDPLITE_SEND_CSCOV | UDPLITE_RECV_CSCOV if !lite => Err(Errno::ENOPROTOOPT),
        UDPLITE_SEND_CSCOV | UDPLITE_RECV_CSCOV => {
            let value = match value {
                0 => 0,
                i32::MIN..8 => 8, // an illegal one
                _ => value.min(65_535),
            };
            put(ctx, socket, IPPROTO_UDP, name, value.into())
        }
        UDP_ENCAP => match value {
            0 => Ok(()),
            2 | 3 => Err(refuse(ctx, "UDP_ENCAP", Errno::ENOPROTOOPT)),
            _ => Err(Errno::ENOPROTOOPT),
        },
        _ => set_number(ctx, socket, IPPROTO_UDP, name, value, may),
    }
}

/// The groups of a socket of netlink.
fn groups(sock: &Sock) -> u32 {
    if sock.protocol == NETLINK_ROUTE { ROUTE_GROUPS } else { LEAST_GROUPS }
}

/// Sets an option of SOL_NETLINK. Groups never have news.
pub(super) fn set_netlink(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    given: Given,
    may: Privileges,
) -> Result<(), Errno> {
    let value = if given.len < 4 { 0 } else { given.int(ctx)? };
    match name {
        1 | 2 => {
            // NETLINK_ADD_MEMBERSHIP, NETLINK_DROP_MEMBERSHIP
            let sock = ctx.kernel.fs.net.sock_mut(socket.id)?;
            if !(1..=groups(sock)).contains(&(value as u32)) {
                return Err(Errno::EINVAL);
            }
            let (old, bit) = (sock.options.number(SOL_NETLINK, MEMBERSHIPS).unwrap_or(0), 1 << (value - 1));
            let new = if name == 1 { old | bit } else { old & !bit };
            sock.options.put(SOL_NETLINK, MEMBERSHIPS, new);
            Ok(())
        }
        // NETLINK_LISTEN_ALL_NSID
        8 => set_number(ctx, socket, SOL_NETLINK, name, i32::from(value != 0), may),
        _ => set_number(ctx, socket, SOL_NETLINK, name, value, may),
    }
}

/// NETLINK_LIST_MEMBERSHIPS.
const MEMBERSHIPS: u32 = 9;

/// An option of SOL_NETLINK.
pub(super) fn get_netlink(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    room: usize,
) -> Result<(Vec<u8>, usize), Errno> {
    let sock = ctx.kernel.fs.net.sock(socket.id)?;
    match name {
        MEMBERSHIPS => {
            let Some(held) = sock.options.number(SOL_NETLINK, name) else { return Ok((Vec::new(), 0)) };
            let whole = groups(sock).div_ceil(32) as usize * 4;
            Ok((held.to_le_bytes()[..whole.min(room / 4 * 4)].to_vec(), whole))
        }
        _ => {
            let value = number(sock, SOL_NETLINK, name)? as i32;
            if room < 4 { Err(Errno::EINVAL) } else { Ok((value.to_le_bytes().to_vec(), 4)) }
        }
    }
}
