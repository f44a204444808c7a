//! Addresses of sockets, `struct sockaddr`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::net::*;

/// Bytes of `struct sockaddr_un`.
const SOCKADDR_UN: usize = 110;
/// Bytes of `struct sockaddr_in`.
pub(crate) const SOCKADDR_IN: usize = 16;
/// Bytes of `struct sockaddr_in6` without its scope, which old programs leave out.
pub(crate) const SIN6_LEN_RFC2133: usize = 24;
/// Bytes of `struct sockaddr_nl`.
const SOCKADDR_NL: usize = 12;

/// Key of a socket. It is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SockId(pub(super) u32);

/// Family of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Unix,
    Inet,
    Inet6,
    Netlink,
}

impl Family {
    /// Its number, AF_*.
    pub(crate) fn number(self) -> u16 {
        match self {
            Family::Unix => AF_UNIX,
            Family::Inet => AF_INET,
            Family::Inet6 => AF_INET6,
            Family::Netlink => AF_NETLINK,
        }
    }

    /// Tells if it is one of IP's.
    pub(crate) fn is_inet(self) -> bool {
        matches!(self, Family::Inet | Family::Inet6)
    }
}

/// Address of a socket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Addr {
    /// A path, as bind(2) was given it.
    Path(Arc<[u8]>),
    /// An abstract name, without its leading NUL.
    Abstract(Arc<[u8]>),
    /// An address of IP. One of IPv4 is never written as one of IPv6 here.
    Inet(SocketAddr),
    /// A port of netlink, and multicast groups.
    Netlink(u32, u32),
}

/// An address that a call was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// AF_UNSPEC: dissolves a connection.
    Unspecified,
    /// AF_UNIX without a name: bind(2) chooses one.
    Unnamed,
    Addr(Addr),
}

/// The family that an address names; EINVAL if it is too short for that.
pub(crate) fn family_of(bytes: &[u8]) -> Result<u16, Errno> {
    let head = bytes.first_chunk().ok_or(Errno::EINVAL)?;
    Ok(u16::from_le_bytes(*head))
}

/// Reads an address for a socket of a family, of which `other_family` says what another one is.
pub(crate) fn parse(family: Family, bytes: &[u8], other_family: Errno) -> Result<Given, Errno> {
    let number = family_of(bytes)?;
    if number == AF_UNSPEC && family != Family::Unix {
        return Ok(Given::Unspecified);
    }
    match family {
        Family::Unix => unix(bytes),
        Family::Netlink if bytes.len() < SOCKADDR_NL || number != AF_NETLINK => Err(Errno::EINVAL),
        Family::Netlink => Ok(Given::Addr(Addr::Netlink(word(bytes, 4), word(bytes, 8)))),
        // A socket of IPv6 may be given an address of IPv4, udpv6_sendmsg().
        Family::Inet if bytes.len() < SOCKADDR_IN => Err(Errno::EINVAL),
        Family::Inet6 if bytes.len() < SIN6_LEN_RFC2133 => Err(Errno::EINVAL),
        Family::Inet | Family::Inet6 if number != family.number() => Err(other_family),
        Family::Inet => {
            let [.., p0, p1, a, b, c, d] = bytes[..8] else { return Err(Errno::EINVAL) };
            let at = SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([p0, p1]));
            Ok(Given::Addr(Addr::Inet(at.into())))
        }
        Family::Inet6 => {
            let mut octets = [0; 16];
            octets.copy_from_slice(&bytes[8..24]);
            let port = u16::from_be_bytes([bytes[2], bytes[3]]);
            let scope = if bytes.len() >= 28 { word(bytes, 24) } else { 0 };
            let at = SocketAddrV6::new(Ipv6Addr::from(octets), port, 0, scope);
            Ok(Given::Addr(Addr::Inet(plain(at.into()))))
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

fn unix(bytes: &[u8]) -> Result<Given, Errno> {
    if bytes.len() > SOCKADDR_UN || family_of(bytes)? != AF_UNIX {
        return Err(Errno::EINVAL);
    }
    Ok(match &bytes[2..] {
        [] => Given::Unnamed,
        [0, name @ ..] => Given::Addr(Addr::Abstract(name.into())),
        path => {
            let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
            Given::Addr(Addr::Path(path[..end].into()))
        }
    })
}

/// The address with one of IPv4 as such, also if it was written as one of IPv6.
pub(crate) fn plain(at: SocketAddr) -> SocketAddr {
    match at.ip() {
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => SocketAddr::new(ip.into(), at.port()),
            None => at,
        },
        IpAddr::V4(_) => at,
    }
}

/// The bytes of an address as a socket of a family shows it; of none, those of a socket without a
/// name.
pub(crate) fn encode(family: Family, addr: Option<&Addr>) -> Vec<u8> {
    let mut out = family.number().to_le_bytes().to_vec();
    match addr {
        Some(Addr::Path(path)) => {
            out.extend_from_slice(path);
            out.push(0);
        }
        Some(Addr::Abstract(name)) => {
            out.push(0);
            out.extend_from_slice(name);
        }
        Some(Addr::Inet(at)) => encode_inet(family, *at, &mut out),
        Some(Addr::Netlink(port, groups)) => {
            out.extend([0, 0]);
            out.extend(port.to_le_bytes());
            out.extend(groups.to_le_bytes());
        }
        None => match family {
            Family::Unix => {}
            Family::Inet | Family::Inet6 => encode_inet(family, unspecified(family, 0), &mut out),
            Family::Netlink => out.extend([0; 10]),
        },
    }
    out
}

/// The address of every interface of the machine.
pub(crate) fn unspecified(family: Family, port: u16) -> SocketAddr {
    match family {
        Family::Inet6 => (Ipv6Addr::UNSPECIFIED, port).into(),
        _ => (Ipv4Addr::UNSPECIFIED, port).into(),
    }
}

fn encode_inet(family: Family, at: SocketAddr, out: &mut Vec<u8>) {
    out.extend(at.port().to_be_bytes());
    match (family, at.ip()) {
        (Family::Inet6, ip) => {
            let ip = match ip {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            let scope = if let SocketAddr::V6(at) = at { at.scope_id() } else { 0 };
            out.extend([0; 4]);
            out.extend(ip.octets());
            out.extend(scope.to_le_bytes());
        }
        (_, IpAddr::V4(ip)) => {
            out.extend(ip.octets());
            out.extend([0; 8]);
        }
        (_, IpAddr::V6(_)) => out.extend([0; 12]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// unix(7): three types of address.
    #[test]
    fn unix_addresses() {
        let parse = |bytes: &[u8]| parse(Family::Unix, bytes, Errno::EINVAL);
        assert_eq!(parse(b"\x01\0"), Ok(Given::Unnamed));
        let path = Addr::Path(b"/a".as_slice().into());
        assert_eq!(parse(b"\x01\0/a\0junk"), Ok(Given::Addr(path.clone())));
        assert_eq!(encode(Family::Unix, Some(&path)), b"\x01\0/a\0");
        let name = Addr::Abstract(b"x\0y".as_slice().into());
        assert_eq!(parse(b"\x01\0\0x\0y"), Ok(Given::Addr(name.clone())));
        assert_eq!(encode(Family::Unix, Some(&name)), b"\x01\0\0x\0y");
        assert_eq!((parse(b"\x01"), parse(&[1; 111])), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
        assert_eq!(encode(Family::Unix, None), b"\x01\0");
    }

    /// ip(7) and ipv6(7): an address of IPv4 goes to a socket of IPv6 as one that is mapped.
    #[test]
    fn internet_addresses() {
        let bytes = [2, 0, 0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let at = Addr::Inet("127.0.0.1:8080".parse().unwrap());
        assert_eq!(parse(Family::Inet, &bytes, Errno::EINVAL), Ok(Given::Addr(at.clone())));
        assert_eq!(parse(Family::Inet, &bytes[..15], Errno::EINVAL), Err(Errno::EINVAL));
        assert_eq!(encode(Family::Inet, Some(&at)), bytes);
        let mapped = encode(Family::Inet6, Some(&at));
        assert_eq!((mapped.len(), &mapped[18..24]), (28, &[0xff, 0xff, 127, 0, 0, 1][..]));
        assert_eq!(parse(Family::Inet6, &mapped, Errno::EINVAL), Ok(Given::Addr(at)));
        assert_eq!(parse(Family::Inet6, &bytes, Errno::EAFNOSUPPORT), Err(Errno::EINVAL));
    }
}
