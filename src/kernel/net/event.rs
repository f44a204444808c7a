//! What is common to all families: readiness, sending and receiving by type, and the end.

use std::net::SocketAddr;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::net::SO_OOBINLINE;
use crate::kernel::file::error::FileError;
use crate::kernel::net::addr::Family;
use crate::kernel::net::sock::{Kind, Sock, SockId, State};
use crate::kernel::net::stream::{Incoming, Outgoing, Wanted};
use crate::kernel::net::table::{Net, READABLE, WRITABLE};
use crate::kernel::vfs::node::Ino;
use crate::kernel::wait_queue::WaitQueues;

/// Receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The one that the socket is connected to.
    Peer,
    /// A Unix socket.
    Sock(SockId),
    /// An address of IP.
    At(SocketAddr),
}

impl Net {
    /// Sends to a target.
    pub(crate) fn send(
        &mut self,
        id: SockId,
        target: Target,
        out: &Outgoing,
        queues: &mut WaitQueues,
    ) -> Result<usize, FileError> {
        let sock = self.sock(id)?;
        match (sock.family, sock.kind) {
            (Family::Netlink, _) => Ok(self.send_netlink(id, out, queues)?),
            (_, Kind::Stream) => self.send_stream(id, out, queues),
            (Family::Unix, _) => {
                let to = if let Target::Sock(to) = target { Some(to) } else { None };
                self.send_message(id, to, out, queues)
            }
            _ => {
                let to = if let Target::At(to) = target { Some(to) } else { None };
                self.send_udp(id, to, out, queues)
            }
        }
    }

    /// Receives what there is.
    pub(crate) fn receive(
        &mut self,
        id: SockId,
        wanted: Wanted,
        queues: &mut WaitQueues,
    ) -> Result<Incoming, FileError> {
        match self.sock(id)?.kind {
            Kind::Stream => self.receive_stream(id, wanted, queues),
            _ => self.receive_message(id, wanted, queues),
        }
    }

    /// Closes a socket; the inode of the path that it was bound to.
    pub(crate) fn close(&mut self, id: SockId, queues: &mut WaitQueues) -> Option<Ino> {
        match self.get(id)?.family {
            Family::Unix => self.close_unix(id, queues),
            Family::Inet | Family::Inet6 => {
                self.close_inet(id, queues);
                None
            }
            Family::Netlink => {
                self.remove(id, queues);
                None
            }
        }
    }

    /// Events of poll(2) that are ready.
    pub(crate) fn events(&self, id: SockId) -> u16 {
        let Some(sock) = self.get(id) else { return POLLERR };
        let mut events = 0;
        events |= if sock.error.is_some() || !sock.errors.is_empty() { POLLERR } else { 0 };
        if sock.state == State::Listening {
            return events | if sock.waiting.is_empty() { 0 } else { READABLE };
        }
        let both = sock.shut == (true, true);
        events |= if sock.shut.0 { READABLE | POLLRDHUP } else { 0 };
        events |= if both { POLLHUP } else { 0 };
        if sock.is_tcp() {
            events | self.events_of_tcp(id, sock)
        } else {
            events | self.events_of_others(id, sock)
        }
    }

    fn events_of_tcp(&self, id: SockId, sock: &Sock) -> u16 {
        let mut events = if sock.state == State::Closed { POLLHUP } else { 0 };
        if sock.state == State::Connecting {
            return events;
        }
        let urgent = sock.received.iter().any(|message| message.urgent);
        // The urgent byte is not read with the others where it is next.
        let skipped = sock.received.get(0).is_some_and(|message| message.urgent) && !sock.is_on(SO_OOBINLINE);
        let target = sock.low_water.max(1) + usize::from(skipped);
        events |= if sock.received.len() >= target { READABLE } else { 0 };
        events |= if urgent { POLLPRI } else { 0 };
        let writable = sock.shut.1 || self.is_writable(id);
        events | if writable { POLLOUT | POLLWRNORM } else { 0 }
    }

    fn events_of_others(&self, id: SockId, sock: &Sock) -> u16 {
        let mut events = if sock.received.is_empty() { 0 } else { READABLE };
        let connects = matches!(sock.kind, Kind::Stream | Kind::SeqPacket);
        events |= if connects && sock.state == State::Closed { POLLHUP } else { 0 };
        events |= if sock.received.iter().any(|message| message.urgent) { POLLPRI } else { 0 };
        let full = self.peer(id).is_some_and(|(_, other)| {
            sock.kind == Kind::Datagram && other.peer != Some(id) && other.queue_is_full()
        });
        events | if self.is_writable(id) && !full { WRITABLE } else { 0 }
    }

    /// Bytes that a read finds, FIONREAD: all of a stream, or those of the first message.
    pub(crate) fn readable(&self, id: SockId) -> Result<usize, Errno> {
        let sock = self.sock(id)?;
        match sock.kind {
            _ if sock.state == State::Listening => Err(Errno::EINVAL),
            Kind::Stream | Kind::SeqPacket => Ok(sock.received.len()),
            _ => Ok(sock.received.get(0).map_or(0, |message| message.rest().len())),
        }
    }

    /// Bytes that nobody has received yet, SIOCOUTQ.
    pub(crate) fn unsent(&self, id: SockId) -> Result<usize, Errno> {
        let sock = self.sock(id)?;
        // On the loopback TCP's bytes are acknowledged as soon as they are sent.
        if sock.state == State::Listening {
            return Err(Errno::EINVAL);
        }
        Ok(if sock.is_tcp() { 0 } else { sock.sent })
    }
}
