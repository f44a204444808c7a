//! TCP and UDP over the loopback, tcp(7), udp(7). Nothing is ever lost or late on it, so a
//! connection is a pair of sockets, and a packet is in the other one's queue when its call returns.

use std::net::SocketAddr;

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::file::error::{FileError, Wait};
use crate::kernel::net::addr::{Addr, Family};
use crate::kernel::net::port::{is_v6_only, source};
use crate::kernel::net::queue::{Message, truesize};
use crate::kernel::net::sock::{Sock, SockId, State};
use crate::kernel::net::stream::Outgoing;
use crate::kernel::net::table::{Net, READABLE};
use crate::kernel::wait_queue::WaitQueues;

/// SO_SNDBUF of a connection over the loopback: forty of its segments.
pub(super) const SEND_ROOM: usize = 2_626_560;
/// Bytes of the largest packets of IPv4 and IPv6 without their headers.
const MAX_PACKET: [usize; 2] = [65_507, 65_527];
/// Time until a connection is given up, `tcp_syn_retries`.
const CONNECT_TIME: u64 = 127 * NSEC_PER_SEC;

impl Net {
    /// Checks that a socket may send to an address at all; ENETUNREACH.
    fn fits(sock: &Sock, to: SocketAddr) -> Result<(), Errno> {
        let mixed = match (sock.family, to.is_ipv4(), sock.at()) {
            (Family::Inet6, true, Some(at)) => is_v6_only(sock) || at.is_ipv6() && !at.ip().is_unspecified(),
            (Family::Inet6, true, None) => is_v6_only(sock),
            (Family::Inet6, false, Some(at)) => at.is_ipv4(),
            _ => false,
        };
        if mixed { Err(Errno::ENETUNREACH) } else { Ok(()) }
    }

    /// The same, and the way within the machine.
    fn way(&self, sock: &Sock, to: SocketAddr) -> Result<SocketAddr, Errno> {
        Net::fits(sock, to)?;
        self.route(sock.namespace, to)
    }

    /// Lets connections come, listen(2).
    pub(crate) fn listen_tcp(
        &mut self,
        id: SockId,
        backlog: usize,
        queues: &mut WaitQueues,
    ) -> Result<(), Errno> {
        let sock = self.sock(id)?;
        if !sock.is_tcp() {
            return Err(Errno::EOPNOTSUPP);
        }
        match sock.state {
            State::Closed => {
                self.own_address(id, Errno::EADDRINUSE)?;
                self.check_port(id)?;
            }
            State::Listening => {}
            _ => return Err(Errno::EINVAL),
        }
        let sock = self.sock_mut(id)?;
        (sock.state, sock.backlog, sock.shut) = (State::Listening, backlog, (false, false));
        self.admit(id, queues);
        Ok(())
    }

    /// EISCONN for a socket of TCP that is connected already, or listens.
    pub(crate) fn connected(&self, id: SockId) -> Result<(), Errno> {
        let sock = self.sock(id)?;
        let busy = sock.state == State::Listening || sock.state == State::Connected && !sock.in_progress;
        if sock.is_tcp() && busy { Err(Errno::EISCONN) } else { Ok(()) }
    }

    /// Connects a socket of TCP, connect(2). `again`: this call has waited for it.
    pub(crate) fn connect_tcp(
        &mut self,
        id: SockId,
        to: SocketAddr,
        (nonblocking, again): (bool, bool),
        queues: &mut WaitQueues,
    ) -> Result<(), FileError> {
        let sock = self.sock_mut(id)?;
        let timeout = sock.send_timeout;
        let waits = match timeout {
            None => {
                Wait { what: "connect", timeout: Some(CONNECT_TIME), late: Errno::ETIMEDOUT, queue: None }
            }
            Some(_) => Wait { what: "connect", timeout, late: Errno::EINPROGRESS, queue: None },
        };
        match sock.state {
            State::Listening => return Err(Errno::EISCONN.into()),
            State::Connected if again || std::mem::take(&mut sock.in_progress) => return Ok(()),
            State::Connected => return Err(Errno::EISCONN.into()),
            State::Connecting if again => return Err(FileError::Wait(waits)),
            State::Connecting => return Err(Errno::EALREADY.into()),
            State::Closed if again || std::mem::take(&mut sock.in_progress) => {
                let error = sock.error.take();
                sock.shut = (false, false); // it is as new
                return Err(error.unwrap_or(Errno::ECONNABORTED).into());
            }
            State::Closed => {}
        }
        let sock = self.sock(id)?;
        Net::fits(sock, to)?;
        let outside = self.outside_at(sock.namespace, to);
        let to = if outside.is_some() { to } else { self.route(sock.namespace, to)? };
        let at = self.own_address(id, Errno::EADDRNOTAVAIL)?;
        let ip = if at.ip().is_unspecified() { source(to) } else { at.ip() };
        self.enter_port(id, SocketAddr::new(ip, at.port()))?;
        let sock = self.sock_mut(id)?;
        (sock.shut, sock.finished, sock.error) = ((false, false), false, None);
        sock.remote = Some(Addr::Inet(to));
        if let Some(outside) = outside {
            self.reach_out(id, outside, queues)?;
            self.sock_mut(id)?.in_progress = nonblocking;
            return Err(if nonblocking { Errno::EINPROGRESS.into() } else { FileError::Wait(waits) });
        }
        let namespace = sock.namespace;
        let Some(listener) = self.listener_at(namespace, to, at.port()) else {
            self.refuse(id, Errno::ECONNREFUSED, queues);
            let sock = self.sock_mut(id)?;
            if nonblocking {
                sock.in_progress = true;
                return Err(Errno::EINPROGRESS.into());
            }
            return Err(sock.error.take().unwrap_or(Errno::ECONNREFUSED).into());
        };
        self.sock_mut(id)?.state = State::Connecting;
        self.sock_mut(listener)?.pending.push_back(id);
        self.admit(listener, queues);
        if nonblocking {
            self.sock_mut(id)?.in_progress = true;
            return Err(Errno::EINPROGRESS.into());
        }
        match self.sock(id)?.state {
            State::Connected => Ok(()),
            _ => Err(FileError::Wait(waits)),
        }
    }

    /// Answers a connection with an error, ECONNREFUSED if it is a reset.
    pub(super) fn refuse(&mut self, id: SockId, errno: Errno, queues: &mut WaitQueues) {
        if let Ok(sock) = self.sock_mut(id) {
            (sock.state, sock.shut, sock.error) = (State::Closed, (true, true), Some(errno));
            (sock.remote, sock.peer) = (None, None);
            let bound = sock.bound;
            self.leave_port(id);
            if let Some(at) = bound {
                let _ = self.enter_port(id, at); // the socket is there
            }
        }
        self.wake(id, 0, queues);
    }

    /// Gives those that connect the places that are free.
    pub(super) fn admit(&mut self, listener: SockId, queues: &mut WaitQueues) {
        while let Ok(sock) = self.sock_mut(listener)
            && sock.waiting.len() <= sock.backlog
            && let Some(id) = sock.pending.pop_front()
        {
            if self.get(id).is_some_and(|sock| sock.state == State::Connecting) {
                self.establish(id, listener, queues);
            }
        }
    }

    /// Makes a connection: a further socket at the listener's address becomes its other end.
    fn establish(&mut self, id: SockId, listener: SockId, queues: &mut WaitQueues) {
        let (Some(from), Some(sock)) = (self.get(listener).cloned(), self.get(id)) else { return };
        let (at, to) = (sock.at(), sock.to());
        if let (Some(at), Some(to)) = (at, to) {
            self.renew_connection(from.namespace, at, to);
        }
        let there = self.add(from.namespace, (from.family, from.kind, from.protocol), queues);
        if let Some(to) = to {
            let _ = self.enter_port(there, to); // the socket is there
        }
        if let Ok(sock) = self.sock_mut(there) {
            *sock = Sock {
                number: 0,
                queue: sock.queue,
                peer_wait: sock.peer_wait,
                local: sock.local.clone(),
                remote: at.map(Addr::Inet),
                peer: Some(id),
                state: State::Connected,
                listener: Some(listener),
                waiting: Default::default(),
                pending: Default::default(),
                bound: None,
                send_room: if from.rooms_were_set.0 { from.send_room } else { SEND_ROOM },
                ..from
            };
            sock.options.put(SOL_SOCKET, SO_PRIORITY, 0);
        }
        if let Ok(sock) = self.sock_mut(id) {
            (sock.state, sock.peer) = (State::Connected, Some(there));
            if !sock.rooms_were_set.0 {
                sock.send_room = SEND_ROOM;
            }
        }
        if let Ok(sock) = self.sock_mut(listener) {
            sock.waiting.push_back(there);
        }
        self.wake(listener, READABLE, queues);
        self.wake(id, 0, queues);
    }

    /// Ends listening: connections that nobody accepted are reset, those to come refused.
    pub(super) fn stop_listening(&mut self, id: SockId, queues: &mut WaitQueues) {
        let Ok(sock) = self.sock_mut(id) else { return };
        sock.state = State::Closed;
        let (waiting, pending) = (std::mem::take(&mut sock.waiting), std::mem::take(&mut sock.pending));
        for embryo in waiting {
            self.reset_peer(embryo, queues);
            self.leave_port(embryo);
            self.remove(embryo, queues);
        }
        for connecting in pending {
            self.refuse(connecting, Errno::ECONNREFUSED, queues);
        }
        self.wake(id, 0, queues);
    }

    /// Resets the other end of a connection.
    fn reset_peer(&mut self, id: SockId, queues: &mut WaitQueues) {
        let Some(peer) = self.get(id).and_then(|sock| sock.peer) else { return };
        self.forget_lingering(peer);
        self.reset(peer, Errno::ECONNRESET, queues);
    }

    /// Breaks a connection of a socket by an error, ECONNRESET if it is a reset.
    pub(super) fn reset(&mut self, id: SockId, errno: Errno, queues: &mut WaitQueues) {
        if let Ok(sock) = self.sock_mut(id)
            && sock.state == State::Connected
        {
            sock.error = Some(if sock.finished { Errno::EPIPE } else { errno });
            (sock.state, sock.shut) = (State::Closed, (true, true));
        }
        self.wake(id, 0, queues);
    }

    /// Dissolves a connection, connect(2) with AF_UNSPEC.
    pub(crate) fn disconnect(&mut self, id: SockId, queues: &mut WaitQueues) -> Result<(), Errno> {
        let sock = self.sock(id)?;
        let mut error = None;
        match (sock.is_tcp(), sock.state) {
            (true, State::Listening) => self.stop_listening(id, queues),
            (true, State::Connected) => {
                error = Some(Errno::ECONNRESET); // as the other side has it
                self.reset_peer(id, queues);
            }
            _ => {}
        }
        while let Some(message) = self.sock_mut(id)?.received.pop() {
            self.forget(message, queues);
        }
        let sock = self.sock_mut(id)?;
        (sock.remote, sock.peer, sock.state, sock.in_progress) = (None, None, State::Closed, false);
        (sock.shut, sock.finished, sock.error) = ((false, false), false, error);
        let bound = sock.bound;
        self.leave_port(id);
        // A port that bind(2) has chosen for a socket of UDP is not kept.
        if let Some(at) = bound.filter(|at| at.port() != 0) {
            self.enter_port(id, at)?;
        }
        self.wake(id, 0, queues);
        Ok(())
    }

    /// Closes a socket of IP whose last descriptor has gone.
    pub(super) fn close_inet(&mut self, id: SockId, queues: &mut WaitQueues) {
        let Some(sock) = self.get(id) else { return };
        let resets = !sock.received.is_empty() || sock.linger == (true, 0);
        match sock.state {
            State::Listening => self.stop_listening(id, queues),
            State::Connected if resets => self.reset_peer(id, queues),
            State::Connected => {
                let (said, finished) = (sock.shut.1, sock.finished);
                if !said {
                    self.has_said_end(id);
                }
                if !finished {
                    self.linger(id);
                }
                if let Some(peer) = self.peer(id).map(|(peer, _)| peer) {
                    if let Ok(other) = self.sock_mut(peer) {
                        (other.shut.0, other.finished) = (true, true);
                    }
                    self.wake_shut(peer, queues);
                }
            }
            _ => {}
        }
        self.leave_port(id);
        self.remove(id, queues);
    }

    /// Connects a socket of UDP: it sends there, and receives from there alone.
    pub(crate) fn connect_udp(
        &mut self,
        id: SockId,
        to: SocketAddr,
        queues: &mut WaitQueues,
    ) -> Result<(), Errno> {
        let sock = self.sock(id)?;
        Net::fits(sock, to)?;
        let outside = self.outside_at(sock.namespace, to);
        let to = if outside.is_some() { to } else { self.route(sock.namespace, to)? };
        let at = self.own_address(id, Errno::EAGAIN)?;
        if at.ip().is_unspecified() {
            self.enter_port(id, SocketAddr::new(source(to), at.port()))?;
        }
        let sock = self.sock_mut(id)?;
        (sock.remote, sock.peer) = (Some(Addr::Inet(to)), None);
        outside.map_or(Ok(()), |outside| self.reach_out(id, outside, queues))
    }

    /// Sends a packet of UDP: to an address, or to that which the socket is connected to.
    pub(super) fn send_udp(
        &mut self,
        id: SockId,
        to: Option<SocketAddr>,
        out: &Outgoing,
        queues: &mut WaitQueues,
    ) -> Result<usize, FileError> {
        if out.flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP.into());
        }
        let at = self.own_address(id, Errno::EAGAIN)?;
        let sock = self.sock(id)?;
        let connected = sock.to();
        let to = to.or(connected).ok_or(Errno::EDESTADDRREQ)?;
        if to.port() == 0 {
            return Err(Errno::EINVAL.into());
        }
        if out.bytes.len() > MAX_PACKET[usize::from(to.is_ipv6())] {
            return Err(Errno::EMSGSIZE.into());
        }
        if let Some(end) = self.far_end(id, to) {
            return Ok(self.send_far(id, end, out.bytes, queues)?);
        }
        let to = self.way(sock, to)?;
        let (hops, service) = match to.is_ipv4() {
            true => (sock.options.number(IPPROTO_IP, IP_TTL), sock.options.number(IPPROTO_IP, IP_TOS)),
            false => (
                sock.options.number(IPPROTO_IPV6, IPV6_UNICAST_HOPS),
                sock.options.number(IPPROTO_IPV6, IPV6_TCLASS),
            ),
        };
        let word = |name: u32| sock.options.number(SOL_SOCKET, name).unwrap_or(0) as u32;
        let (mark, priority) = (word(SO_MARK), word(SO_PRIORITY));
        let at_protocol = (sock.namespace, sock.protocol);
        let sock = self.sock_mut(id)?;
        if sock.shut.1 {
            return Err(Errno::EPIPE.into());
        }
        sock.take_error()?;
        let from = SocketAddr::new(if at.ip().is_loopback() { at.ip() } else { source(to) }, at.port());
        let Some(receiver) = self.receiver_at(at_protocol, to, from) else {
            // Port unreachable.
            let sock = self.sock_mut(id)?;
            let returns = match to.is_ipv4() {
                true => sock.options.is_on(IPPROTO_IP, IP_RECVERR),
                false => sock.options.is_on(IPPROTO_IPV6, IPV6_RECVERR),
            };
            if connected.is_some() || returns {
                sock.error = Some(Errno::ECONNREFUSED);
            }
            if returns {
                let (bytes, room) = (out.bytes.to_vec(), truesize(out.bytes.len()));
                self.give_back(id, Message { bytes, room, from: Some(Addr::Inet(to)), ..Message::default() });
            }
            if connected.is_some() || returns {
                self.wake(id, 0, queues);
            }
            return Ok(out.bytes.len());
        };
        let other = self.sock(receiver)?;
        if other.received.room() <= other.receive_room && !other.shut.0 {
            let message = Message {
                bytes: out.bytes.to_vec(),
                room: truesize(out.bytes.len()),
                from: Some(Addr::Inet(from)),
                to: Some(to),
                hops: out.hops.unwrap_or(hops.map_or(64, |hops| hops as u8)),
                service: out.service.unwrap_or(service.unwrap_or(0) as u8),
                mark,
                priority,
                ..Message::default()
            };
            self.push(receiver, message, queues);
        }
        Ok(out.bytes.len())
    }
}
