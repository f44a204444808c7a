//! Messages that a socket has received and nobody has taken: one queue for streams, datagrams and
//! netlink. As in Linux a message takes the room of its buffer, not that of its bytes.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::kernel::fdtable::FileNo;
use crate::kernel::net::addr::{Addr, SockId};

/// Bytes of `struct sk_buff` and of `struct skb_shared_info`, which every buffer has.
const SK_BUFF: usize = 256;
const SHARED_INFO: usize = 320;
/// Bytes that the head of a buffer has room for before it gets pages, `SKB_MAX_HEAD(0)`.
const MAX_HEAD: usize = 4096 - SHARED_INFO;

/// Room that a buffer with some bytes takes, `skb->truesize`, as `sock_alloc_send_pskb` makes it.
pub(crate) fn truesize(len: usize) -> usize {
    let pages = len.saturating_sub(MAX_HEAD).next_multiple_of(4096).min(len.next_multiple_of(4096));
    let head = len.saturating_sub(pages).next_multiple_of(64) + SHARED_INFO;
    SK_BUFF + head.next_power_of_two().max(512) + pages
}

/// Identity of a sender, `struct ucred`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ucred {
    pub(crate) pid: i32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Ucred {
    /// Stand-in for a sender that is not known: the overflow ids.
    pub(crate) const NOBODY: Ucred = Ucred { pid: 0, uid: 65534, gid: 65534 };
}

/// Descriptors on their way, SCM_RIGHTS. Each holds a reference to its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) files: Vec<FileNo>,
    /// User who sent them.
    pub(crate) uid: u32,
}

/// Message of a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    pub(crate) bytes: Vec<u8>,
    /// Bytes that were taken out.
    pub(crate) taken: usize,
    /// Room that it takes.
    pub(crate) room: usize,
    /// The socket that it counts against until it is gone.
    pub(crate) sender: Option<SockId>,
    pub(crate) from: Option<Addr>,
    /// Address that it was sent to, IP_PKTINFO.
    pub(crate) to: Option<SocketAddr>,
    /// Hops and type of service that it was sent with.
    pub(crate) hops: u8,
    pub(crate) service: u8,
    /// SO_MARK and SO_PRIORITY of the socket that sent it.
    pub(crate) mark: u32,
    pub(crate) priority: u32,
    pub(crate) cred: Option<Ucred>,
    pub(crate) rights: Option<Rights>,
    /// The one byte of urgent data, MSG_OOB.
    pub(crate) urgent: bool,
}

impl Message {
    /// The bytes that are still in it.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }
}

/// The messages in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    messages: VecDeque<Message>,
    /// Bytes in them.
    len: usize,
    /// Room that they take.
    room: usize,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Number of messages.
    pub(crate) fn count(&self) -> usize {
        self.messages.len()
    }

    /// Bytes in them.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Room that they take.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    /// The message at a place.
    pub(crate) fn get(&self, at: usize) -> Option<&Message> {
        self.messages.get(at)
    }

    /// The message at a place, whose bytes stay.
    pub(crate) fn rights_mut(&mut self, at: usize) -> Option<&mut Option<Rights>> {
        self.messages.get_mut(at).map(|message| &mut message.rights)
    }

    /// Adds a message at the end.
    pub(crate) fn push(&mut self, message: Message) {
        self.len += message.rest().len();
        self.room += message.room;
        self.messages.push_back(message);
    }

    /// Adds bytes to the last message, if it is of the same sender and nothing but bytes.
    pub(crate) fn join(&mut self, bytes: &[u8], sender: SockId) -> bool {
        let last = self.messages.back_mut().filter(|last| last.sender == Some(sender) && !last.urgent);
        let Some(last) = last.filter(|last| last.bytes.len() + bytes.len() <= 1 << 16) else { return false };
        last.bytes.extend_from_slice(bytes);
        last.room += bytes.len();
        self.len += bytes.len();
        self.room += bytes.len();
        true
    }

    /// Notes that the first bytes of a message were taken.
    pub(crate) fn take(&mut self, at: usize, count: usize) {
        if let Some(message) = self.messages.get_mut(at) {
            message.taken += count;
            self.len -= count;
        }
    }

    /// Takes a message out.
    pub(crate) fn remove(&mut self, at: usize) -> Option<Message> {
        let message = self.messages.remove(at)?;
        self.len -= message.rest().len();
        self.room -= message.room;
        Some(message)
    }

    /// Takes the first message out.
    pub(crate) fn pop(&mut self) -> Option<Message> {
        self.remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6: 278 writes of a byte fill a socket of 212992 bytes; the buffers of larger ones as
    /// `ss -m` shows them.
    #[test]
    fn buffers_take_more_room_than_their_bytes() {
        assert_eq!([1, 100, 192, 193].map(truesize), [768, 768, 768, 1280]);
        assert_eq!([1000, 3776, 3777].map(truesize), [2304, 4352, 4864]);
        assert_eq!(212_992usize.div_ceil(truesize(1)), 278);
    }
}
