//! Every socket, the names that they are found by, and what is on its way between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::fasync::Reason;
use crate::kernel::fdtable::FileNo;
use crate::kernel::namespace::kind::{Kind as NsKind, NsId};
use crate::kernel::net::addr::Family;
use crate::kernel::net::far_end::Outside;
use crate::kernel::net::lingering::Lingering;
use crate::kernel::net::loopback::Loopback;
use crate::kernel::net::queue::{Message, Rights};
use crate::kernel::net::sock::{Kind, Sock, SockId, State};
use crate::kernel::vfs::node::Ino;
use crate::kernel::wait_queue::WaitQueues;

/// Events of poll(2) that say "can be read".
pub(super) const READABLE: u16 = POLLIN | POLLRDNORM;
/// Events of poll(2) that say "can be written".
pub(super) const WRITABLE: u16 = POLLOUT | POLLWRNORM | POLLWRBAND;

/// Every socket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Net {
    socks: BTreeMap<SockId, Sock>,
    last: u32,
    /// Unix sockets that are bound to a path, and to an abstract name, by type.
    pub(super) paths: BTreeMap<Ino, SockId>,
    pub(super) names: BTreeMap<(NsId, u32, Arc<[u8]>), SockId>,
    pub(super) last_name: u32,
    /// Sockets at the ports of each protocol of IP.
    pub(super) ports: BTreeMap<(NsId, u32, u16), Vec<SockId>>,
    /// Loopbacks of namespaces that are not as they were at first.
    pub(super) loopbacks: BTreeMap<NsId, Loopback>,
    /// The host's network, as far as it is open.
    pub(crate) outside: Outside,
    /// Rests of connections whose sockets have gone, by the keys of those.
    pub(super) lingering: BTreeMap<SockId, Lingering>,
    /// Time of the last call, in nanoseconds since the program's start, while anything is left.
    pub(crate) time: u64,
    /// Port that was chosen last.
    pub(super) last_port: u16,
    /// Room that all messages take.
    room: u64,
    /// Descriptors on their way, by the user who sent them.
    in_flight: BTreeMap<u32, usize>,
    /// Sockets that urgent data has reached, whose owners are still to be told.
    pub(super) urgent: Vec<SockId>,
    /// References to descriptions that nobody received.
    dropped: Vec<FileNo>,
}

impl Net {
    /// Bytes that the sockets and their messages take.
    pub(crate) fn bytes(&self) -> u64 {
        let left = self.lingering.len() * (size_of::<Lingering>() + 32);
        self.room + left as u64 + self.socks.len() as u64 * (size_of::<Sock>() as u64 + 256)
    }

    /// Adds a socket, which has no inode number yet.
    pub(crate) fn add(
        &mut self,
        namespace: NsId,
        (family, kind, protocol): (Family, Kind, u32),
        queues: &mut WaitQueues,
    ) -> SockId {
        self.last += 1;
        let id = SockId(self.last);
        let waits = [queues.add(), queues.add()];
        self.socks.insert(id, Sock::new(namespace, (family, kind, protocol), waits));
        id
    }

    /// A socket, if it is still there.
    pub(crate) fn get(&self, id: SockId) -> Option<&Sock> {
        self.socks.get(&id)
    }

    /// A socket of a description; EBADF cannot happen.
    pub(crate) fn sock(&self, id: SockId) -> Result<&Sock, Errno> {
        self.socks.get(&id).ok_or(Errno::EBADF)
    }

    /// The same to be changed.
    pub(crate) fn sock_mut(&mut self, id: SockId) -> Result<&mut Sock, Errno> {
        self.socks.get_mut(&id).ok_or(Errno::EBADF)
    }

    /// The socket at the other end, while it is there.
    pub(crate) fn peer(&self, id: SockId) -> Option<(SockId, &Sock)> {
        let peer = self.get(id)?.peer?;
        Some((peer, self.get(peer)?))
    }

    /// Tells if a socket is one of IP's.
    pub(crate) fn is_inet(&self, id: SockId) -> bool {
        self.get(id).is_some_and(|sock| sock.family.is_inet())
    }

    /// The sockets in the order in which they were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SockId, &Sock)> {
        self.socks.iter().map(|(id, sock)| (*id, sock))
    }

    /// Takes a socket out with all that it has received.
    pub(super) fn remove(&mut self, id: SockId, queues: &mut WaitQueues) -> Option<Sock> {
        while let Some(message) = self.socks.get_mut(&id).and_then(|sock| sock.received.pop()) {
            self.forget(message, queues);
        }
        while let Some(message) = self.socks.get_mut(&id).and_then(|sock| sock.errors.pop()) {
            self.forget(message, queues);
        }
        let sock = self.socks.remove(&id)?;
        queues.wake(sock.peer_wait, 0);
        Some(sock)
    }

    /// Tells who waits for a socket that `events` of poll(2) came up; 0 stands for any.
    pub(super) fn wake(&self, id: SockId, events: u16, queues: &mut WaitQueues) {
        let Some(sock) = self.get(id) else { return };
        queues.wake(sock.queue, events);
        if events == 0 || events & POLLIN != 0 {
            queues.fasync.notify(sock.queue, Reason::In);
        }
        if events == 0 || events & POLLOUT != 0 {
            queues.fasync.notify(sock.queue, Reason::Out);
        }
    }

    /// Tells who waits for a connected socket that the other side has shut its own.
    pub(super) fn wake_shut(&self, id: SockId, queues: &mut WaitQueues) {
        let Some(sock) = self.get(id) else { return };
        queues.wake(sock.queue, 0);
        let both = sock.shut == (true, true) || sock.is_tcp() && sock.state == State::Closed;
        if sock.shut.0 {
            queues.fasync.notify(sock.queue, if both { Reason::HangUp } else { Reason::In });
        }
    }

    /// Puts a message into a socket's queue.
    pub(super) fn push(&mut self, to: SockId, message: Message, queues: &mut WaitQueues) {
        self.room += message.room as u64;
        if let Some(sender) = message.sender.and_then(|sender| self.socks.get_mut(&sender)) {
            sender.sent += message.room;
        }
        if let Some(rights) = &message.rights {
            *self.in_flight.entry(rights.uid).or_default() += rights.files.len();
        }
        if let Some(sock) = self.socks.get_mut(&to) {
            sock.received.push(message);
        }
        self.wake(to, READABLE, queues);
    }

    /// Gives a packet back to its sender, whose port nobody has; it is lost where there is no room.
    pub(super) fn give_back(&mut self, id: SockId, message: Message) {
        let Some(sock) = self.socks.get_mut(&id) else { return };
        if sock.errors.room() + message.room <= sock.receive_room {
            self.room += message.room as u64;
            sock.errors.push(message);
        }
    }

    /// Adds bytes to the last message of a socket's queue, if they are of the same stream.
    pub(super) fn join(&mut self, to: SockId, sender: SockId, bytes: &[u8], queues: &mut WaitQueues) -> bool {
        let joined = self.socks.get_mut(&to).is_some_and(|sock| sock.received.join(bytes, sender));
        if joined {
            self.room += bytes.len() as u64;
            if let Some(sock) = self.socks.get_mut(&sender) {
                sock.sent += bytes.len();
            }
            self.wake(to, READABLE, queues);
        }
        joined
    }

    /// Takes note that a message has left its queue; what it still carries is dropped.
    pub(super) fn forget(&mut self, message: Message, queues: &mut WaitQueues) {
        self.room -= message.room as u64;
        if let Some(rights) = message.rights {
            let files = self.land(rights);
            self.dropped.extend(files);
        }
        let Some(sender) = message.sender else { return };
        let before = self.is_writable(sender);
        if let Some(sock) = self.socks.get_mut(&sender) {
            sock.sent -= message.room.min(sock.sent);
            let tcp = sock.is_tcp();
            if self.is_writable(sender) && !(tcp && before) {
                self.wake(sender, WRITABLE, queues);
            }
        }
    }

    /// Takes descriptors off their way; the references are the caller's.
    pub(super) fn land(&mut self, rights: Rights) -> Vec<FileNo> {
        if let Some(count) = self.in_flight.get_mut(&rights.uid) {
            *count -= rights.files.len().min(*count);
        }
        rights.files
    }

    /// Descriptors of a user that are on their way.
    pub(crate) fn in_flight_of(&self, uid: u32) -> usize {
        self.in_flight.get(&uid).copied().unwrap_or(0)
    }

    /// Gives up references that were received.
    pub(crate) fn drop_files(&mut self, files: Vec<FileNo>) {
        self.dropped.extend(files);
    }

    /// Takes the sockets whose owners are still to be told of urgent data.
    pub(crate) fn take_urgent(&mut self) -> Vec<SockId> {
        std::mem::take(&mut self.urgent)
    }

    /// Takes the references that nobody holds any more.
    pub(crate) fn take_dropped(&mut self) -> Vec<FileNo> {
        std::mem::take(&mut self.dropped)
    }

    /// Bytes that may be on their way from a socket of TCP: what its own buffer and that of the
    /// other side take.
    pub(super) fn capacity(&self, id: SockId) -> usize {
        let Some(sock) = self.get(id) else { return 0 };
        let window = self.peer(id).map_or(0, |(_, peer)| peer.receive_room / 2);
        if sock.is_tcp() { sock.send_room + window } else { sock.send_room }
    }

    /// Tells if poll(2) calls a socket writable.
    pub(super) fn is_writable(&self, id: SockId) -> bool {
        let Some(sock) = self.get(id) else { return false };
        match sock.is_tcp() {
            true => self.capacity(id).saturating_sub(sock.sent) >= sock.sent / 2,
            false => sock.sent * 4 <= sock.send_room,
        }
    }

    /// Empties the queues that can be reached from no descriptor, `unix_gc`: those of sockets whose
    /// only holders are messages of such queues. `holders` gives the references of a description,
    /// `socket` the socket behind it.
    pub(crate) fn collect(
        &mut self,
        queues: &mut WaitQueues,
        holders: impl Fn(FileNo) -> usize,
        socket: impl Fn(FileNo) -> Option<SockId>,
    ) {
        if self.in_flight.values().all(|count| *count == 0) {
            return;
        }
        // Queues by socket, those of connections that wait to be accepted with their listener's.
        let mut counts: BTreeMap<FileNo, usize> = BTreeMap::new();
        let mut carried: BTreeMap<SockId, Vec<FileNo>> = BTreeMap::new();
        for (id, sock) in self.iter() {
            let of = sock.listener.unwrap_or(id);
            for file in
                sock.received.iter().filter_map(|message| message.rights.as_ref()).flat_map(|r| &r.files)
            {
                *counts.entry(*file).or_default() += 1;
                carried.entry(of).or_default().push(*file);
            }
        }
        let candidates: BTreeSet<SockId> = counts
            .iter()
            .filter(|(file, count)| holders(**file) == **count)
            .filter_map(|(file, _)| socket(*file))
            .collect();
        let mut open: Vec<SockId> = carried.keys().copied().filter(|id| !candidates.contains(id)).collect();
        let mut reached: BTreeSet<SockId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            let next = carried.get(&id).into_iter().flatten().filter_map(|file| socket(*file));
            open.extend(next.filter(|id| reached.insert(*id)));
        }
        let lost: Vec<SockId> = self
            .iter()
            .filter(|(id, sock)| {
                let of = sock.listener.unwrap_or(*id);
                candidates.contains(&of) && !reached.contains(&of)
            })
            .map(|(id, _)| id)
            .collect();
        for id in lost {
            while let Some(message) = self.socks.get_mut(&id).and_then(|sock| sock.received.pop()) {
                self.forget(message, queues);
            }
        }
    }
}

impl Net {
    /// Adds a namespace.
    pub(crate) fn add_namespace(&mut self, id: NsId) {
        self.loopbacks.insert(id, Loopback::DOWN);
    }

    /// Forgets a namespace without sockets.
    pub(crate) fn remove_namespace(&mut self, id: NsId) {
        self.loopbacks.remove(&id);
    }

    /// Tells if a socket is in a namespace.
    pub(crate) fn is_used(&self, id: NsId) -> bool {
        self.iter().any(|(_, sock)| sock.namespace == id)
    }

    /// The loopback of a namespace.
    pub(crate) fn loopback(&self, id: NsId) -> Loopback {
        let first = if id == NsKind::Net.first() { Loopback::UP } else { Loopback::DOWN };
        self.loopbacks.get(&id).copied().unwrap_or(first)
    }

    /// Switches a loopback on, which gives it its addresses, or off.
    pub(crate) fn set_up(&mut self, id: NsId, up: bool) {
        let inet = up || self.loopback(id).inet;
        self.loopbacks.insert(id, Loopback { up, inet });
    }

    /// Gives a loopback its address of IPv4; false if it had it.
    pub(crate) fn set_address(&mut self, id: NsId) -> bool {
        let before = self.loopback(id);
        self.loopbacks.insert(id, Loopback { inet: true, ..before });
        !before.inet
    }
}
