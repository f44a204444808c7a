//! Options of sockets about groups of multicast, ip(7) and ipv6(7), of which the loopback has any
//! number. Lists of sources are refused by name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::uaccess::{get_array, get_bytes};
use crate::syscalls::context::Ctx;
use crate::syscalls::net::address::Socket;
use crate::syscalls::net::option_value::words;

/// The one interface.
const LOOPBACK_INDEX: u32 = 1;
/// Bytes of `struct ip_mreq_source`, `struct group_req` and `struct group_source_req`.
const SOURCE: i32 = 12;
const GROUP_REQ: i32 = 136;
const GROUP_SOURCE_REQ: i32 = 264;
/// Bytes of `struct ip_msfilter` and `struct group_filter` without sources.
const MSFILTER: i32 = 16;
const GROUP_FILTER: i32 = 144;
/// Options of `struct group_req`, between and behind which are those with a source.
const MCAST_JOIN_GROUP: u32 = 42;
const MCAST_LEAVE_GROUP: u32 = 45;
const MCAST_LEAVE_SOURCE_GROUP: u32 = 47;
const MCAST_MSFILTER: u32 = 48;

/// Refuses a list of sources by name.
fn no_sources(ctx: &mut Ctx) -> Errno {
    ctx.kernel.notices.count("setsockopt: ", "a list of sources of multicast: answered with ENOPROTOOPT");
    Errno::ENOPROTOOPT
}

/// Joins or leaves a group.
fn join(ctx: &mut Ctx, socket: Socket, group: IpAddr, leave: bool) -> Result<(), Errno> {
    if !(group.is_multicast() || leave && group.is_ipv4()) {
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

/// Joins or leaves the group of a `struct group_req`.
fn join_request(
    ctx: &mut Ctx,
    socket: Socket,
    (inet6, name): (bool, u32),
    addr: u64,
    len: i32,
) -> Result<(), Errno> {
    let with_source = !matches!(name, MCAST_JOIN_GROUP | MCAST_LEAVE_GROUP);
    if len < if with_source { GROUP_SOURCE_REQ } else { GROUP_REQ } {
        return Err(Errno::EINVAL);
    }
    let bytes: [u8; GROUP_REQ as usize] = get_array(ctx.mem, addr)?;
    let index = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let group = match (u16::from_le_bytes([bytes[8], bytes[9]]), inet6) {
        (AF_INET, false) => IpAddr::from([bytes[12], bytes[13], bytes[14], bytes[15]]),
        (AF_INET6, true) => {
            let mut octets = [0; 16];
            octets.copy_from_slice(&bytes[16..32]);
            IpAddr::from(octets)
        }
        (_, false) => return Err(Errno::EINVAL),
        _ => return Err(Errno::EADDRNOTAVAIL),
    };
    if with_source {
        return Err(if group.is_multicast() { no_sources(ctx) } else { Errno::EINVAL });
    }
    if index != LOOPBACK_INDEX && group.is_multicast() && (index != 0 || !inet6) {
        return Err(Errno::ENODEV);
    }
    join(ctx, socket, group, name == MCAST_LEAVE_GROUP)
}

/// The answer to setting MCAST_MSFILTER; never anything but an error.
fn set_group_filter(ctx: &mut Ctx, inet6: bool, addr: u64, len: i32) -> Errno {
    let bytes = match len < GROUP_FILTER {
        true => return Errno::EINVAL,
        false => get_bytes(ctx.mem, addr, 16),
    };
    let family = if inet6 { AF_INET6 } else { AF_INET };
    match bytes {
        Err(errno) => errno,
        Ok(bytes) if bytes[8..10] == family.to_le_bytes() => no_sources(ctx),
        Ok(_) if inet6 => Errno::EINVAL,
        Ok(_) => Errno::EADDRNOTAVAIL,
    }
}

/// The answer to IP_MSFILTER and MCAST_MSFILTER; never anything but an error.
pub(super) fn get_filter(ctx: &mut Ctx, (level, name): (u32, u32), addr: u64, room: usize) -> Errno {
    let (least, at) = if name == MCAST_MSFILTER { (GROUP_FILTER, 8) } else { (MSFILTER, 0) };
    if room < least as usize {
        return Errno::EINVAL;
    }
    let bytes = match get_bytes(ctx.mem, addr, at + 8) {
        Ok(bytes) => bytes,
        Err(errno) => return errno,
    };
    let family = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    match (level, name) {
        (IPPROTO_IPV6, _) if family != AF_INET6 => Errno::EADDRNOTAVAIL,
        (IPPROTO_IPV6, _) => no_sources(ctx),
        (_, MCAST_MSFILTER) if family != AF_INET => Errno::EINVAL,
        (_, MCAST_MSFILTER) => no_sources(ctx),
        _ if !Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).is_multicast() => Errno::EINVAL,
        _ if bytes[4] != 127 && bytes[4..8] != [0; 4] => Errno::ENODEV,
        _ => no_sources(ctx),
    }
}

/// Remembers IP_MULTICAST_IF.
fn put_interface(ctx: &mut Ctx, socket: Socket, address: u32) -> Result<(), Errno> {
    let options = &mut ctx.kernel.fs.net.sock_mut(socket.id)?.options;
    options.put(IPPROTO_IP, IP_MULTICAST_IF, i64::from(address as i32));
    Ok(())
}

/// The options of IPv4 about groups; false for others.
pub(super) fn set_multicast(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    addr: u64,
    len: i32,
) -> Result<bool, Errno> {
    let octets = |word: u32| Ipv4Addr::from(word.to_le_bytes());
    let ours = |ip: Ipv4Addr, index: u32| ip.is_loopback() || index == LOOPBACK_INDEX;
    let index =
        |ctx: &mut Ctx| if len >= 12 { words::<3>(ctx, addr, len).map(|words| words[2]) } else { Ok(0) };
    match name {
        IP_ADD_MEMBERSHIP | IP_DROP_MEMBERSHIP if socket.is_tcp() => return Err(Errno::EPROTO),
        IP_MULTICAST_IF if socket.is_tcp() => return Err(Errno::EINVAL),
        37..=40 if len != SOURCE => return Err(Errno::EINVAL), // IP_UNBLOCK_SOURCE and its kin
        41 if len < MSFILTER => return Err(Errno::EINVAL),     // IP_MSFILTER
        37..=41 => {
            let [group] = words(ctx, addr, len)?;
            return Err(if octets(group).is_multicast() { no_sources(ctx) } else { Errno::EINVAL });
        }
        MCAST_JOIN_GROUP..=MCAST_LEAVE_SOURCE_GROUP => {
            join_request(ctx, socket, (false, name), addr, len)?;
        }
        MCAST_MSFILTER => return Err(set_group_filter(ctx, false, addr, len)),
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
            put_interface(ctx, socket, interface)?;
        }
        IP_MULTICAST_IF => {
            let [interface] = words(ctx, addr, len)?;
            if !octets(interface).is_unspecified() && !octets(interface).is_loopback() {
                return Err(Errno::EADDRNOTAVAIL);
            }
            put_interface(ctx, socket, interface)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The same for IPv6.
pub(super) fn set_multicast6(
    ctx: &mut Ctx,
    socket: Socket,
    name: u32,
    addr: u64,
    len: i32,
) -> Result<bool, Errno> {
    match name {
        MCAST_JOIN_GROUP..=MCAST_LEAVE_SOURCE_GROUP => {
            join_request(ctx, socket, (true, name), addr, len)?;
            return Ok(true);
        }
        MCAST_MSFILTER => return Err(set_group_filter(ctx, true, addr, len)),
        IPV6_ADD_MEMBERSHIP | IPV6_DROP_MEMBERSHIP => {}
        _ => return Ok(false),
    }
    let [a, b, c, d, index] = words(ctx, addr, len)?;
    if socket.is_tcp() {
        return Err(Errno::EPROTO);
    }
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
