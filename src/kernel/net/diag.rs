//! Questions of netlink about sockets, sock_diag(7), as ss(8) asks them.

use std::net::{IpAddr, SocketAddr};

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::addr::{Addr, Family, unspecified};
use crate::kernel::net::lingering::Lingering;
use crate::kernel::net::netlink::{Request, attribute};
use crate::kernel::net::sock::{Sock, SockId, State};
use crate::kernel::net::table::Net;

/// Bytes of `struct inet_diag_req_v2` and of `struct unix_diag_req`.
const INET_REQUEST: usize = 56;
const UNIX_REQUEST: usize = 24;

/// A number of the question.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

impl Net {
    /// The objects that answer a question about sockets. Only all of a family can be asked for, and
    /// no program may choose among them: EOPNOTSUPP, after which ss(8) reads `/proc/net`.
    pub(super) fn diag(&self, namespace: NsId, request: &Request) -> Result<Vec<Vec<u8>>, Errno> {
        let body = request.body;
        if request.kind != SOCK_DIAG_BY_FAMILY || !request.is_dump() {
            return Err(Errno::EOPNOTSUPP);
        }
        let family = body.first().copied().map_or(AF_UNSPEC, u16::from);
        match family {
            AF_INET | AF_INET6 if body.len() < INET_REQUEST => Err(Errno::EINVAL),
            AF_INET | AF_INET6 if body.len() > INET_REQUEST => Err(Errno::EOPNOTSUPP),
            AF_INET | AF_INET6 => {
                let family = if family == AF_INET { Family::Inet } else { Family::Inet6 };
                let (protocol, states) = (u32::from(body[1]), word(body, 4));
                if !matches!(protocol, IPPROTO_TCP | IPPROTO_UDP | IPPROTO_UDPLITE) {
                    return Err(Errno::ENOENT);
                }
                Ok(self.inet_objects(namespace, (family, protocol), states))
            }
            AF_UNIX if body.len() < UNIX_REQUEST => Err(Errno::EINVAL),
            AF_UNIX => Ok(self.unix_objects(namespace, word(body, 4), word(body, 12))),
            // No module for it is loaded.
            _ => Err(Errno::ENOENT),
        }
    }

    /// `struct inet_diag_msg` of each socket of a protocol in one of the states.
    fn inet_objects(&self, namespace: NsId, of: (Family, u32), states: u32) -> Vec<Vec<u8>> {
        let all = self.iter().filter(|(_, sock)| {
            let visible = sock.at().is_some() && (!sock.is_tcp() || sock.tcp_state() != TCP_CLOSE);
            sock.namespace == namespace && (sock.family, sock.protocol) == of && visible
        });
        let live = all
            .filter(|(_, sock)| states & 1 << inet_state(sock) != 0)
            .map(|(id, sock)| inet_object(id, sock));
        let left = self
            .lingering(namespace)
            .filter(|(_, left)| (left.family, IPPROTO_TCP) == of && states & 1 << left.state() != 0);
        live.chain(left.map(|(id, left)| lingering_object(id, left, self.time))).collect()
    }

    /// `struct unix_diag_msg` of each Unix socket in one of the states, with the attributes that
    /// UDIAG_SHOW_* ask for.
    fn unix_objects(&self, namespace: NsId, states: u32, show: u32) -> Vec<Vec<u8>> {
        let here = |sock: &Sock| sock.family == Family::Unix && sock.namespace == namespace;
        let all = self.iter().filter(|(_, sock)| here(sock));
        all.filter(|(_, sock)| states & 1 << unix_state(sock) != 0)
            .map(|(id, sock)| self.unix_object(id, sock, show))
            .collect()
    }

    fn unix_object(&self, id: SockId, sock: &Sock, show: u32) -> Vec<u8> {
        let mut body = vec![AF_UNIX as u8, sock.kind.number() as u8, unix_state(sock), 0];
        body.extend((sock.number as u32).to_le_bytes());
        body.extend(cookie(id));
        let wants = |flag: u32| show & flag != 0;
        if wants(UDIAG_SHOW_NAME) {
            match &sock.local {
                Some(Addr::Path(path)) => body.extend(attribute(UNIX_DIAG_NAME, path)),
                Some(Addr::Abstract(name)) => {
                    body.extend(attribute(UNIX_DIAG_NAME, &[&[0], &name[..]].concat()));
                }
                _ => {}
            }
        }
        if wants(UDIAG_SHOW_PEER)
            && let Some((_, peer)) = self.peer(id)
        {
            body.extend(attribute(UNIX_DIAG_PEER, &(peer.number as u32).to_le_bytes()));
        }
        if wants(UDIAG_SHOW_ICONS) && sock.state == State::Listening {
            let waiting =
                sock.waiting.iter().map(|id| self.peer(*id).map_or(0, |(_, peer)| peer.number as u32));
            let waiting: Vec<u8> = waiting.flat_map(u32::to_le_bytes).collect();
            body.extend(attribute(UNIX_DIAG_ICONS, &waiting));
        }
        if wants(UDIAG_SHOW_RQLEN) {
            let lengths = match sock.state {
                State::Listening => [sock.waiting.len(), sock.backlog],
                _ => [sock.received.len(), sock.sent],
            };
            let lengths: Vec<u8> = lengths.iter().flat_map(|len| (*len as u32).to_le_bytes()).collect();
            body.extend(attribute(UNIX_DIAG_RQLEN, &lengths));
        }
        if wants(UDIAG_SHOW_UID) {
            body.extend(attribute(UNIX_DIAG_UID, &sock.uid.to_le_bytes()));
        }
        body.extend(attribute(UNIX_DIAG_SHUTDOWN, &[shutdown(sock)]));
        body
    }
}

/// RCV_SHUTDOWN and SEND_SHUTDOWN.
fn shutdown(sock: &Sock) -> u8 {
    u8::from(sock.shut.0) | u8::from(sock.shut.1) << 1
}

/// The identity of a socket beside its inode.
fn cookie(id: SockId) -> [u8; 8] {
    u64::from(id.0).to_le_bytes()
}

fn inet_state(sock: &Sock) -> u8 {
    if sock.is_tcp() { sock.tcp_state() } else { sock.udp_state() }
}

fn unix_state(sock: &Sock) -> u8 {
    match sock.state {
        State::Listening => TCP_LISTEN,
        _ if sock.peer.is_some() => TCP_ESTABLISHED,
        _ => TCP_CLOSE,
    }
}

/// The first half of an object: family, state, timer and addresses.
fn inet_head(family: Family, [state, timer]: [u8; 2], ends: [SocketAddr; 2], id: SockId) -> Vec<u8> {
    let octets = |end: SocketAddr| -> [u8; 16] {
        match (family, end.ip()) {
            (Family::Inet6, IpAddr::V4(ip)) => ip.to_ipv6_mapped().octets(),
            (_, IpAddr::V6(ip)) => ip.octets(),
            (_, IpAddr::V4(ip)) => {
                let mut octets = [0; 16];
                octets[..4].copy_from_slice(&ip.octets());
                octets
            }
        }
    };
    let mut body = vec![family.number() as u8, state, timer, 0];
    body.extend(ends.iter().flat_map(|end| end.port().to_be_bytes()));
    body.extend(ends.iter().flat_map(|end| octets(*end)));
    body.extend([0; 4]); // no interface
    body.extend(cookie(id));
    body
}

/// The object of what is left of a connection: its timer runs, and it has no owner.
fn lingering_object(id: SockId, left: &Lingering, now: u64) -> Vec<u8> {
    /// The timer of TIME_WAIT.
    const TIMER: u8 = 3;
    let mut body = inet_head(left.family, [left.state(), TIMER], [left.local, left.remote], id);
    for number in [(left.left(now) / 1_000_000) as u32, 0, 0, 0, 0] {
        body.extend(number.to_le_bytes());
    }
    body
}

fn inet_object(id: SockId, sock: &Sock) -> Vec<u8> {
    let ends = [sock.at(), sock.to()].map(|end| end.unwrap_or(unspecified(sock.family, 0)));
    let state = inet_state(sock);
    let (received, sent) = match sock.state {
        State::Listening => (sock.waiting.len(), sock.backlog),
        _ if sock.is_tcp() => (sock.received.len(), 0),
        _ => (sock.received.room(), sock.sent),
    };
    let mut body = inet_head(sock.family, [state, 0], ends, id);
    for number in [0, received as u32, sent as u32, sock.uid, sock.number as u32] {
        body.extend(number.to_le_bytes());
    }
    body.extend(attribute(INET_DIAG_SHUTDOWN, &[shutdown(sock)]));
    if sock.family == Family::Inet6 && matches!(state, TCP_LISTEN | TCP_CLOSE) {
        let only = sock.options.is_on(IPPROTO_IPV6, IPV6_V6ONLY);
        body.extend(attribute(INET_DIAG_SKV6ONLY, &[u8::from(only)]));
    }
    body
}
