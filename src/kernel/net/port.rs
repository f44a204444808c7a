//! Addresses and ports of IP: which a socket may have, and who is found at one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::addr::{Addr, Family, unspecified};
use crate::kernel::net::sock::{Sock, SockId, State};
use crate::kernel::net::table::Net;

/// Ports that are chosen for sockets without one, `/proc/sys/net/ipv4/ip_local_port_range`.
pub(crate) const EPHEMERAL: std::ops::RangeInclusive<u16> = 32_768..=60_999;
/// The first port that anybody may have.
const UNPRIVILEGED: u16 = 1024;

/// The address that packets to one come from.
pub(super) fn source(to: SocketAddr) -> IpAddr {
    if to.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

/// Tells if an address says nothing without an interface, and none has one but the loopback's.
fn is_link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

/// Tells if a socket of IPv6 takes no part in IPv4.
pub(super) fn is_v6_only(sock: &Sock) -> bool {
    sock.options.is_on(IPPROTO_IPV6, IPV6_V6ONLY)
}

/// Tells if a socket at an address takes what comes to another one: 2 if it is its own, 1 if it
/// takes all, 0 if not.
fn takes(sock: &Sock, at: SocketAddr, to: IpAddr) -> u32 {
    match (at.ip(), to) {
        (ip, to) if ip == to => 2,
        (IpAddr::V4(ip), IpAddr::V4(_)) => u32::from(ip.is_unspecified()),
        (IpAddr::V6(ip), IpAddr::V6(_)) => u32::from(ip.is_unspecified()),
        (IpAddr::V6(ip), IpAddr::V4(_)) => u32::from(ip.is_unspecified() && !is_v6_only(sock)),
        (IpAddr::V4(_), IpAddr::V6(_)) => 0,
    }
}

/// Tells if two addresses have something in common.
fn overlap(a: (&Sock, SocketAddr), b: (&Sock, SocketAddr)) -> bool {
    takes(a.0, a.1, b.1.ip()) > 0 || takes(b.0, b.1, a.1.ip()) > 0
}

impl Net {
    /// Tells if an address is one of a namespace's own.
    fn is_own(&self, namespace: NsId, ip: IpAddr) -> bool {
        let loopback = self.loopback(namespace);
        ip.is_loopback() && if ip.is_ipv4() { loopback.inet } else { loopback.up }
    }

    /// The address that a packet to one goes to: that of the machine for the one that stands for
    /// any; ENETUNREACH for all that are not its own, and where the loopback is down.
    pub(super) fn route(&self, namespace: NsId, to: SocketAddr) -> Result<SocketAddr, Errno> {
        let to = match to.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), to.port()),
            IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::new(Ipv6Addr::LOCALHOST.into(), to.port()),
            _ => to,
        };
        if is_link_local(to.ip()) {
            return Err(Errno::EINVAL);
        }
        let reached = self.is_own(namespace, to.ip()) && self.loopback(namespace).up;
        if reached { Ok(to) } else { Err(Errno::ENETUNREACH) }
    }

    /// The sockets at a port.
    fn at_port(
        &self,
        (namespace, protocol): (NsId, u32),
        port: u16,
    ) -> impl DoubleEndedIterator<Item = (SockId, &Sock, SocketAddr)> {
        let ids = self.ports.get(&(namespace, protocol, port)).map_or(&[][..], Vec::as_slice);
        ids.iter().filter_map(|id| {
            let sock = self.get(*id)?;
            Some((*id, sock, sock.at()?))
        })
    }

    /// Tells if a socket may not have an address because of another one,
    /// `inet_csk_bind_conflict`.
    fn conflicts(&self, id: SockId, at: SocketAddr) -> bool {
        self.conflicts_with_sockets(id, at) || self.conflicts_with_lingering(id, at)
    }

    /// The same because of what is left of a connection, to which a socket's user is nobody.
    fn conflicts_with_lingering(&self, id: SockId, at: SocketAddr) -> bool {
        let Some(sock) = self.get(id).filter(|sock| sock.is_tcp()) else { return false };
        self.lingering(sock.namespace).any(|(_, left)| {
            let reuse = sock.is_on(SO_REUSEADDR) && left.reuse.0;
            let share = sock.is_on(SO_REUSEPORT) && left.reuse.1;
            let meets = left.local.port() == at.port() && takes(sock, at, left.local.ip()) > 0;
            meets && !reuse && !share
        })
    }

    fn conflicts_with_sockets(&self, id: SockId, at: SocketAddr) -> bool {
        let Some(sock) = self.get(id) else { return false };
        self.at_port((sock.namespace, sock.protocol), at.port()).any(|(other_id, other, other_at)| {
            let reuse = sock.is_on(SO_REUSEADDR) && other.is_on(SO_REUSEADDR);
            let reuse = reuse && !(sock.is_tcp() && other.state == State::Listening);
            let share = sock.is_on(SO_REUSEPORT) && other.is_on(SO_REUSEPORT) && sock.uid == other.uid;
            // Where a connection is over, only an address that bind(2) gave stays.
            let over = other.is_tcp() && other.tcp_state() == TCP_CLOSE && other.bound.is_none();
            other_id != id && !over && !reuse && !share && overlap((sock, at), (other, other_at))
        })
    }

    /// A port for a socket without one: the next that nobody has. What is left of connections
    /// counts only if it is to be `bound`.
    fn free_port(&mut self, id: SockId, at: SocketAddr, bound: bool) -> Option<u16> {
        let (namespace, protocol) = (self.get(id)?.namespace, self.get(id)?.protocol);
        // IP_LOCAL_PORT_RANGE: what of it is in the range of all.
        let range = self.get(id)?.options.number(IPPROTO_IP, IP_LOCAL_PORT_RANGE).unwrap_or(0) as u32;
        let (low, high) = (range as u16, (range >> 16) as u16);
        let first = if EPHEMERAL.contains(&low) { low } else { *EPHEMERAL.start() };
        let last = if EPHEMERAL.contains(&high) { high } else { *EPHEMERAL.end() };
        for _ in first..=last {
            let next =
                if self.last_port < first || self.last_port >= last { first } else { self.last_port + 1 };
            self.last_port = next;
            let unused = !self.ports.contains_key(&(namespace, protocol, next));
            let at = SocketAddr::new(at.ip(), next);
            if unused
                && !self.conflicts_with_sockets(id, at)
                && !(bound && self.conflicts_with_lingering(id, at))
            {
                return Some(next);
            }
        }
        None
    }

    /// Gives a socket an address, bind(2); EINVAL, EADDRNOTAVAIL, EACCES, EADDRINUSE.
    /// `privileged`: the caller may take the ports that not everybody may.
    pub(crate) fn bind_inet(&mut self, id: SockId, at: SocketAddr, privileged: bool) -> Result<(), Errno> {
        let sock = self.sock(id)?;
        let any = at.ip().is_unspecified();
        if at.is_ipv4() && sock.family == Family::Inet6 && is_v6_only(sock) {
            return Err(Errno::EINVAL);
        }
        if is_link_local(at.ip()) {
            return Err(Errno::EINVAL);
        }
        if !(any
            || self.is_own(sock.namespace, at.ip())
            || at.ip().is_loopback() && at.is_ipv4()
            || at.ip().is_multicast() && (at.is_ipv4() || !sock.is_tcp())
            || at.ip() == Ipv4Addr::BROADCAST)
        {
            return Err(Errno::EADDRNOTAVAIL);
        }
        if at.port() != 0 && at.port() < UNPRIVILEGED && !privileged {
            return Err(Errno::EACCES);
        }
        if sock.state != State::Closed || sock.local.is_some() {
            return Err(Errno::EINVAL);
        }
        let port = match at.port() {
            0 => self.free_port(id, at, true).ok_or(Errno::EADDRINUSE)?,
            _ if self.conflicts(id, at) => return Err(Errno::EADDRINUSE),
            port => port,
        };
        let (wanted, at) = (at, SocketAddr::new(at.ip(), port));
        let sock = self.sock_mut(id)?;
        sock.bound = Some(if sock.is_tcp() { at } else { wanted });
        self.enter_port(id, at)
    }

    /// Notes the address that a socket has.
    pub(super) fn enter_port(&mut self, id: SockId, at: SocketAddr) -> Result<(), Errno> {
        self.leave_port(id);
        let sock = self.sock_mut(id)?;
        sock.local = Some(Addr::Inet(at));
        let key = (sock.namespace, sock.protocol, at.port());
        self.ports.entry(key).or_default().push(id);
        Ok(())
    }

    /// The reverse of `enter_port`.
    pub(super) fn leave_port(&mut self, id: SockId) {
        let Ok(sock) = self.sock_mut(id) else { return };
        let Some(at) = sock.at() else { return };
        sock.local = None;
        let key = (sock.namespace, sock.protocol, at.port());
        if let Some(ids) = self.ports.get_mut(&key) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.ports.remove(&key);
            }
        }
    }

    /// The address that a socket sends from, which it gets now if it has none; `none` if no port is
    /// left.
    pub(super) fn own_address(&mut self, id: SockId, none: Errno) -> Result<SocketAddr, Errno> {
        let sock = self.sock(id)?;
        if let Some(at) = sock.at() {
            return Ok(at);
        }
        let any = unspecified(sock.family, 0);
        let port = self.free_port(id, any, false).ok_or(none)?;
        let at = SocketAddr::new(any.ip(), port);
        self.enter_port(id, at)?;
        Ok(at)
    }

    /// Checks once more at listen(2) that nobody else is there; EADDRINUSE.
    pub(super) fn check_port(&self, id: SockId) -> Result<(), Errno> {
        let at = self.sock(id)?.at().ok_or(Errno::EINVAL)?;
        if self.conflicts(id, at) { Err(Errno::EADDRINUSE) } else { Ok(()) }
    }

    /// The socket of TCP that listens at an address; of those that share a port, one by the port
    /// that the connection comes from.
    pub(super) fn listener_at(&self, namespace: NsId, to: SocketAddr, from: u16) -> Option<SockId> {
        let found: Vec<(u32, SockId)> = self
            .at_port((namespace, IPPROTO_TCP), to.port())
            .filter(|(_, sock, _)| sock.state == State::Listening)
            .map(|(id, sock, at)| (takes(sock, at, to.ip()), id))
            .filter(|(rank, _)| *rank > 0)
            .collect();
        let best = found.iter().map(|(rank, _)| *rank).max()?;
        let best: Vec<SockId> =
            found.into_iter().filter(|(rank, _)| *rank == best).map(|(_, id)| id).collect();
        best.get(usize::from(from) % best.len()).copied()
    }

    /// The socket of UDP that a packet reaches: the one that is connected to its sender, or whose
    /// address it is; of equals the one that was bound last.
    pub(super) fn receiver_at(&self, at: (NsId, u32), to: SocketAddr, from: SocketAddr) -> Option<SockId> {
        let rank = |sock: &Sock, at: SocketAddr| match (takes(sock, at, to.ip()), sock.to()) {
            (0, _) => 0,
            (rank, None) => rank,
            (rank, Some(remote)) if remote == from => rank + 4,
            _ => 0,
        };
        let all = self.at_port(at, to.port()).map(|(id, sock, at)| (rank(sock, at), id));
        all.filter(|(rank, _)| *rank > 0).max_by_key(|(rank, _)| *rank).map(|(_, id)| id)
    }
}
