//! Messages with their bounds: datagrams and sequenced packets of Unix sockets, and the receiving
//! end of UDP and netlink.

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::file::error::{FileError, Wait};
use crate::kernel::net::addr::Family;
use crate::kernel::net::queue::{Message, truesize};
use crate::kernel::net::sock::{Kind, SockId, State};
use crate::kernel::net::stream::{Incoming, Outgoing, Wanted, wait};
use crate::kernel::net::table::{Net, WRITABLE};
use crate::kernel::wait_queue::WaitQueues;

impl Net {
    /// Sends a message to a Unix socket: to `target`, or to the one that it is connected to.
    pub(super) fn send_message(
        &mut self,
        id: SockId,
        target: Option<SockId>,
        out: &Outgoing,
        queues: &mut WaitQueues,
    ) -> Result<usize, FileError> {
        if out.flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP.into());
        }
        let sock = self.sock_mut(id)?;
        if sock.kind == Kind::SeqPacket {
            sock.take_error()?;
            if sock.state != State::Connected {
                return Err(Errno::ENOTCONN.into());
            }
        }
        let to = target.or(sock.peer).ok_or(Errno::ENOTCONN)?;
        if out.bytes.len() > sock.send_room.saturating_sub(32) {
            return Err(Errno::EMSGSIZE.into());
        }
        sock.take_error()?;
        if sock.shut.1 {
            return Err(Errno::EPIPE.into());
        }
        let (timeout, from) = (sock.send_timeout, sock.local.clone());
        if sock.sent >= sock.send_room {
            return Err(wait(out.nonblocking, "send to a full socket", timeout));
        }
        let (passes, connected) = (sock.wants_sender(), sock.kind == Kind::SeqPacket);
        let Some(other) = self.get(to) else {
            let sock = self.sock_mut(id)?;
            if target.is_none() && !connected {
                (sock.peer, sock.remote) = (None, None);
            }
            return Err(if connected { Errno::EPIPE } else { Errno::ECONNREFUSED }.into());
        };
        if other.kind != self.sock(id)?.kind {
            return Err(Errno::EPROTOTYPE.into());
        }
        if other.peer.is_some_and(|peer| peer != id) {
            return Err(Errno::EPERM.into());
        }
        if other.shut.0 {
            return Err(Errno::EPIPE.into());
        }
        if other.peer != Some(id) && to != id && other.queue_is_full() {
            if out.nonblocking {
                return Err(Errno::EAGAIN.into());
            }
            let queue = Some(other.peer_wait);
            let what = "send to a socket whose queue is full";
            return Err(FileError::Wait(Wait { what, timeout, late: Errno::EAGAIN, queue }));
        }
        if out.rights.is_some() && !other.takes_rights() {
            return Err(Errno::EPERM.into());
        }
        let wants_cred = out.cred_given || passes || other.wants_sender();
        let message = Message {
            bytes: out.bytes.to_vec(),
            room: truesize(out.bytes.len()),
            sender: Some(id),
            from,
            cred: wants_cred.then_some(out.cred),
            rights: out.rights.clone(),
            ..Message::default()
        };
        self.push(to, message, queues);
        Ok(out.bytes.len())
    }

    /// Receives a packet that came back, MSG_ERRQUEUE; EAGAIN. The error is that of the next one
    /// then.
    pub(crate) fn receive_error(
        &mut self,
        id: SockId,
        len: usize,
        queues: &mut WaitQueues,
    ) -> Result<Incoming, Errno> {
        let sock = self.sock_mut(id)?;
        let message = sock.errors.pop().ok_or(Errno::EAGAIN)?;
        sock.error = (!sock.errors.is_empty()).then_some(Errno::ECONNREFUSED);
        let bytes = &message.bytes[..message.bytes.len().min(len)];
        let cut = if bytes.len() < message.bytes.len() { MSG_TRUNC } else { 0 };
        let incoming = Incoming {
            bytes: bytes.to_vec(),
            len: message.bytes.len(),
            from: message.from.clone(),
            flags: MSG_ERRQUEUE | cut,
            returned: true,
            ..Incoming::default()
        };
        self.forget(message, queues);
        Ok(incoming)
    }

    /// Receives a message; what there is no room for is lost.
    pub(super) fn receive_message(
        &mut self,
        id: SockId,
        wanted: Wanted,
        queues: &mut WaitQueues,
    ) -> Result<Incoming, FileError> {
        let sock = self.sock_mut(id)?;
        let packets = sock.kind == Kind::SeqPacket;
        if packets && sock.state != State::Connected {
            return Err(Errno::ENOTCONN.into());
        }
        let unix = sock.family == Family::Unix;
        if !sock.family.is_inet() && wanted.flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP.into());
        }
        sock.take_error()?;
        let (peek, was_full) = (wanted.flags & MSG_PEEK != 0, sock.queue_is_full());
        let Some(message) = sock.received.get(0) else {
            let end = sock.shut.0 && (packets || !wanted.nonblocking);
            return match end {
                true => Ok(Incoming { end, ..Incoming::default() }),
                false => Err(wait(wanted.nonblocking, "receive", sock.receive_timeout)),
            };
        };
        let skip = sock.peek_at.unwrap_or(0).min(message.rest().len());
        let rest = &message.rest()[if peek { skip } else { 0 }..];
        let count = rest.len().min(wanted.len);
        let mut incoming = Incoming {
            bytes: rest[..count].to_vec(),
            len: rest.len(),
            from: message.from.clone(),
            to: message.to,
            hops: message.hops,
            service: message.service,
            mark: message.mark,
            priority: message.priority,
            cred: message.cred,
            flags: if count < rest.len() { MSG_TRUNC } else { 0 },
            ..Incoming::default()
        };
        if peek {
            incoming.files = message.rights.as_ref().map_or(Vec::new(), |rights| rights.files.clone());
            if let Some(offset) = &mut sock.peek_at {
                *offset += count;
            }
            return Ok(incoming);
        }
        if let Some(offset) = &mut sock.peek_at {
            *offset = offset.saturating_sub(rest.len());
        }
        let rights = sock.received.rights_mut(0).and_then(Option::take);
        let message = sock.received.pop();
        let (peer_wait, unix_datagram) = (sock.peer_wait, unix && sock.is_datagram());
        incoming.files = rights.map_or(Vec::new(), |rights| self.land(rights));
        if let Some(message) = message {
            self.forget(message, queues);
        }
        if unix_datagram {
            queues.wake(peer_wait, 0);
        }
        if unix_datagram && was_full {
            let senders: Vec<SockId> =
                self.iter().filter(|(_, sock)| sock.peer == Some(id)).map(|(sender, _)| sender).collect();
            for sender in senders {
                self.wake(sender, WRITABLE, queues);
            }
        }
        Ok(incoming)
    }
}
