//! Bytes of connections in order: streams of Unix sockets and TCP, unix(7), tcp(7).

use crate::abi::errno::Errno;
use crate::abi::fs::POLLPRI;
use crate::abi::net::*;
use crate::abi::signal::signo::SIGPIPE;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::error::{FileError, Wait};
use crate::kernel::net::addr::{Addr, Family};
use crate::kernel::net::queue::{Message, Rights, Ucred, truesize};
use crate::kernel::net::sock::{SockId, State};
use crate::kernel::net::table::Net;
use crate::kernel::wait_queue::WaitQueues;

/// Bytes of the largest buffer of a stream: a head, and pages.
const MAX_BUFFER: usize = 3776 + 32_768;

/// A message, or a part of a stream, to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) bytes: &'a [u8],
    /// MSG_*.
    pub(crate) flags: u32,
    pub(crate) nonblocking: bool,
    /// Sender; it is given with the message even if nobody asked (SCM_CREDENTIALS).
    pub(crate) cred: Ucred,
    pub(crate) cred_given: bool,
    /// The sender may administer the network, CAP_NET_ADMIN.
    pub(crate) administers: bool,
    pub(crate) rights: Option<Rights>,
    /// Hops and type of service of a packet, if not those of the socket.
    pub(crate) hops: Option<u8>,
    pub(crate) service: Option<u8>,
}

impl<'a> Outgoing<'a> {
    /// Bytes with nothing else.
    pub(crate) fn plain(bytes: &'a [u8], nonblocking: bool, cred: Ucred) -> Outgoing<'a> {
        let (rights, hops, service) = (None, None, None);
        Outgoing {
            bytes,
            flags: 0,
            nonblocking,
            cred,
            cred_given: false,
            administers: false,
            rights,
            hops,
            service,
        }
    }
}

/// A message, or a part of a stream, that was received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incoming {
    pub(crate) bytes: Vec<u8>,
    /// Bytes of the whole message.
    pub(crate) len: usize,
    pub(crate) from: Option<Addr>,
    pub(crate) to: Option<std::net::SocketAddr>,
    pub(crate) hops: u8,
    pub(crate) service: u8,
    /// SO_MARK and SO_PRIORITY of its sender.
    pub(crate) mark: u32,
    pub(crate) priority: u32,
    pub(crate) cred: Option<Ucred>,
    /// Descriptions; they hold references unless the message was only looked at.
    pub(crate) files: Vec<FileNo>,
    /// MSG_* that recvmsg(2) shows.
    pub(crate) flags: u32,
    /// The end of the stream, or nothing was asked for.
    pub(crate) end: bool,
    /// It is a packet that came back, MSG_ERRQUEUE.
    pub(crate) returned: bool,
}

/// A caller's wish to receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Bytes that there is room for.
    pub(crate) len: usize,
    /// Bytes that the caller's memory takes, if they are fewer.
    pub(crate) reach: usize,
    /// MSG_*.
    pub(crate) flags: u32,
    pub(crate) nonblocking: bool,
}

/// A wait, or EAGAIN if the caller does not wait.
pub(super) fn wait(nonblocking: bool, what: &'static str, timeout: Option<u64>) -> FileError {
    if nonblocking {
        return Errno::EAGAIN.into();
    }
    FileError::Wait(Wait { what, timeout, late: Errno::EAGAIN, queue: None })
}

/// EPIPE, with SIGPIPE unless the caller wants none.
fn broken(flags: u32) -> FileError {
    if flags & MSG_NOSIGNAL != 0 { Errno::EPIPE.into() } else { FileError::Signal(SIGPIPE, Errno::EPIPE) }
}

impl Net {
    /// Sends bytes, as many as there is room for.
    pub(super) fn send_stream(
        &mut self,
        id: SockId,
        out: &Outgoing,
        queues: &mut WaitQueues,
    ) -> Result<usize, FileError> {
        self.may_send(id, out)?;
        let mut done = 0;
        while done < out.bytes.len() {
            if done > 0 && self.sock(id)?.error.is_some() {
                break; // for the next call
            }
            let sent = self.send_buffer(id, &out.bytes[done..], done == 0, out, queues);
            match sent {
                Ok(count) => done += count,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    /// Checks that a stream takes bytes at all.
    fn may_send(&mut self, id: SockId, out: &Outgoing) -> Result<(), FileError> {
        let sock = self.sock_mut(id)?;
        if !sock.is_tcp() {
            return match (sock.peer, sock.shut.1) {
                (None, _) => Err(Errno::ENOTCONN.into()),
                (_, true) => Err(broken(out.flags)),
                _ => Ok(()),
            };
        }
        match sock.state {
            State::Connecting => {
                Err(wait(out.nonblocking, "send before the connection is there", sock.send_timeout))
            }
            State::Connected if !sock.shut.1 => Ok(sock.take_error()?),
            _ => {
                sock.take_error()?;
                Err(broken(out.flags))
            }
        }
    }

    /// Sends the bytes that one buffer takes.
    fn send_buffer(
        &mut self,
        id: SockId,
        bytes: &[u8],
        first: bool,
        out: &Outgoing,
        queues: &mut WaitQueues,
    ) -> Result<usize, FileError> {
        let capacity = self.capacity(id);
        let sock = self.sock_mut(id)?;
        sock.take_error()?;
        if sock.shut.1 {
            return Err(broken(out.flags));
        }
        let (tcp, free) = (sock.is_tcp(), capacity.saturating_sub(sock.sent));
        if free == 0 {
            return Err(wait(out.nonblocking, "send to a full socket", sock.send_timeout));
        }
        let (most, from) = match tcp {
            true => (free.min(1 << 16), None),
            false => ((sock.send_room / 2 - 64).min(MAX_BUFFER), sock.local.clone()),
        };
        let passes = sock.wants_sender();
        let Some((peer, other)) = self.peer(id) else {
            if tcp {
                // The reset is back before more is on its way.
                let sent = bytes.len().min(free).min(1 << 15);
                return Ok(self.send_to_nobody(id, sent, queues));
            }
            return Err(broken(out.flags));
        };
        if !tcp && other.shut.0 {
            return Err(broken(out.flags));
        }
        if !tcp && out.rights.is_some() && !other.takes_rights() {
            return Err(Errno::EPERM.into());
        }
        let bytes = &bytes[..bytes.len().min(most)];
        if tcp && out.flags & MSG_OOB == 0 && self.join(peer, id, bytes, queues) {
            return Ok(bytes.len());
        }
        let wants_cred = out.cred_given || passes || self.sock(peer)?.wants_sender();
        let mut message = Message {
            bytes: bytes.to_vec(),
            room: if tcp { bytes.len() } else { truesize(bytes.len()) },
            sender: Some(id),
            from,
            cred: (!tcp && wants_cred).then_some(out.cred),
            rights: out.rights.clone().filter(|_| first),
            ..Message::default()
        };
        if out.flags & MSG_OOB == 0 {
            self.push(peer, message, queues);
            return Ok(bytes.len());
        }
        // The last byte is the urgent one; those before it are ordinary.
        if bytes.len() > 1 {
            message.bytes.pop();
            message.room = if tcp { bytes.len() - 1 } else { truesize(bytes.len() - 1) };
            self.push(peer, message.clone(), queues);
        }
        message.bytes = bytes[bytes.len() - 1..].to_vec();
        message.room = if tcp { 1 } else { truesize(1) };
        message.urgent = true;
        self.push(peer, message, queues);
        self.wake(peer, POLLPRI, queues);
        self.urgent.push(peer);
        Ok(bytes.len())
    }

    /// Sends to a socket of TCP that was closed: the bytes are lost, and what comes back resets the
    /// connection.
    fn send_to_nobody(&mut self, id: SockId, len: usize, queues: &mut WaitQueues) -> usize {
        if let Some(peer) = self.get(id).and_then(|sock| sock.peer) {
            self.forget_lingering(peer);
        }
        if let Ok(sock) = self.sock_mut(id) {
            sock.error = Some(if sock.finished { Errno::EPIPE } else { Errno::ECONNRESET });
            (sock.state, sock.shut) = (State::Closed, (true, true));
        }
        self.wake(id, 0, queues);
        len
    }

    /// Receives bytes: what there is, up to what is wanted.
    pub(super) fn receive_stream(
        &mut self,
        id: SockId,
        wanted: Wanted,
        queues: &mut WaitQueues,
    ) -> Result<Incoming, FileError> {
        let sock = self.sock(id)?;
        let tcp = sock.is_tcp();
        match sock.state {
            State::Connected => {}
            State::Listening if tcp => return Err(Errno::ENOTCONN.into()),
            _ if !tcp => return Err(Errno::EINVAL.into()),
            _ => {}
        }
        if wanted.flags & MSG_OOB != 0 {
            return self.receive_urgent(id, wanted, queues);
        }
        // Who does not wait takes what there is.
        let target = if wanted.nonblocking { 1 } else { sock.low_water.min(wanted.len).max(1) };
        if sock.received.len() < target && !sock.shut.0 && sock.error.is_none() && !sock.received.is_empty() {
            return Err(wait(wanted.nonblocking, "receive", sock.receive_timeout));
        }
        let incoming = self.take_bytes(id, wanted, queues)?;
        if let Some(incoming) = incoming {
            return Ok(incoming);
        }
        let sock = self.sock_mut(id)?;
        if sock.finished && tcp {
            return Ok(Incoming { end: true, ..Incoming::default() });
        }
        sock.take_error()?;
        match sock.state {
            _ if sock.shut.0 => Ok(Incoming { end: true, ..Incoming::default() }),
            State::Closed if tcp => Err(Errno::ENOTCONN.into()),
            _ => Err(wait(wanted.nonblocking, "receive", sock.receive_timeout)),
        }
    }

    /// Takes bytes out of the queue; none if it is empty. Bytes of different senders are not mixed
    /// where the receiver wants to know them, and those behind descriptors wait. A message that
    /// cannot be stored stays, as all behind it do; EFAULT if it is the first.
    fn take_bytes(
        &mut self,
        id: SockId,
        wanted: Wanted,
        queues: &mut WaitQueues,
    ) -> Result<Option<Incoming>, FileError> {
        let peek = wanted.flags & MSG_PEEK != 0;
        let sock = self.sock(id)?;
        let (tcp, by_sender) = (sock.is_tcp(), sock.wants_sender());
        let inline = sock.is_on(SO_OOBINLINE);
        let mut skip = sock.peek_at.filter(|_| peek).unwrap_or(0);
        let mut incoming = Incoming::default();
        let (mut at, mut any) = (0, false);
        while let Some(message) = self.sock(id)?.received.get(at) {
            if message.urgent && !inline {
                if any {
                    break;
                }
                if peek {
                    at += 1;
                } else if let Some(message) = self.sock_mut(id)?.received.remove(at) {
                    self.forget(message, queues);
                }
                continue;
            }
            if any && by_sender && message.cred != incoming.cred {
                break;
            }
            if skip >= message.rest().len() && skip > 0 {
                (skip, at) = (skip - message.rest().len(), at + 1);
                continue;
            }
            let rest = &message.rest()[skip..];
            skip = 0;
            let count = rest.len().min(wanted.len - incoming.bytes.len());
            if incoming.bytes.len() + count > wanted.reach {
                if any {
                    break;
                }
                return Err(Errno::EFAULT.into());
            }
            incoming.bytes.extend_from_slice(&rest[..count]);
            (incoming.cred, any) = (message.cred, true);
            if !tcp && incoming.from.is_none() {
                incoming.from = message.from.clone();
            }
            let urgent = message.urgent;
            if peek {
                if let Some(rights) = &message.rights {
                    incoming.files = rights.files.clone();
                    break;
                }
                at += 1;
            } else {
                let received = &mut self.sock_mut(id)?.received;
                let rights = received.rights_mut(at).and_then(Option::take);
                received.take(at, count);
                if received.get(at).is_some_and(|message| message.rest().is_empty())
                    && let Some(message) = received.remove(at)
                {
                    self.forget(message, queues);
                }
                if let Some(rights) = rights {
                    incoming.files = self.land(rights);
                    break;
                }
            }
            if incoming.bytes.len() == wanted.len || urgent {
                break;
            }
        }
        if let Some(offset) = self.sock(id)?.peek_at {
            let count = incoming.bytes.len();
            let next = if peek { offset + count } else { offset.saturating_sub(count) };
            self.sock_mut(id)?.peek_at = Some(next);
        }
        incoming.len = incoming.bytes.len();
        Ok(any.then_some(incoming))
    }

    /// Takes the byte of urgent data, MSG_OOB.
    fn receive_urgent(
        &mut self,
        id: SockId,
        wanted: Wanted,
        queues: &mut WaitQueues,
    ) -> Result<Incoming, FileError> {
        let sock = self.sock(id)?;
        let places = sock.received.iter().enumerate().filter(|(_, message)| message.urgent);
        let place = places.map(|(at, _)| at).last().filter(|_| !sock.is_on(SO_OOBINLINE));
        let at = place.ok_or(Errno::EINVAL)?;
        let bytes: Vec<u8> = sock.received.get(at).map_or(Vec::new(), |message| message.rest().to_vec());
        let mut incoming = Incoming { len: bytes.len(), flags: MSG_OOB, bytes, ..Incoming::default() };
        incoming.bytes.truncate(wanted.len);
        if wanted.flags & MSG_PEEK == 0
            && let Some(message) = self.sock_mut(id)?.received.remove(at)
        {
            self.forget(message, queues);
        }
        Ok(incoming)
    }

    /// Tells if the next byte is behind the urgent one's place, SIOCATMARK.
    pub(crate) fn at_mark(&self, id: SockId) -> bool {
        self.get(id).and_then(|sock| sock.received.get(0)).is_some_and(|message| message.urgent)
    }

    /// Ends one or both directions of a connection, shutdown(2).
    pub(crate) fn shutdown(
        &mut self,
        id: SockId,
        (read, write): (bool, bool),
        queues: &mut WaitQueues,
    ) -> Result<(), Errno> {
        let sock = self.sock_mut(id)?;
        let unix = sock.family == Family::Unix;
        match sock.state {
            State::Listening if sock.is_tcp() && read => {
                self.stop_listening(id, queues);
                return Ok(());
            }
            State::Connecting => {
                sock.error = Some(Errno::ECONNRESET);
                (sock.state, sock.shut) = (State::Closed, (true, true));
            }
            // Both ends have been said: TCP has left the socket.
            State::Connected if sock.is_tcp() && sock.finished && sock.shut.1 => {
                sock.shut = (sock.shut.0 || read, true);
                return Err(Errno::ENOTCONN);
            }
            State::Connected | State::Listening => {}
            _ if !unix => {
                let connected = sock.is_datagram() && sock.remote.is_some();
                if !connected {
                    // As in Linux it is shut even so.
                    sock.shut = (sock.shut.0 || read, sock.shut.1 || write);
                    return Err(Errno::ENOTCONN);
                }
            }
            _ => {}
        }
        let sock = self.sock(id)?;
        if sock.is_tcp() && sock.state == State::Connected && write && !sock.shut.1 {
            self.has_said_end(id);
        }
        let sock = self.sock_mut(id)?;
        sock.shut = (sock.shut.0 || read, sock.shut.1 || write);
        let (tcp, datagram) = (sock.is_tcp(), sock.is_datagram());
        if let Some((peer, _)) = self.peer(id).filter(|_| !datagram) {
            let other = self.sock_mut(peer)?;
            // A stop of reading is not told to the other side of TCP.
            other.shut = (other.shut.0 || write, other.shut.1 || read && !tcp);
            other.finished |= write && tcp;
            self.wake_shut(peer, queues);
        }
        self.wake(id, 0, queues);
        Ok(())
    }
}
