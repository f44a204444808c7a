//! The ends of connections of TCP: who says first that it sends no more keeps the addresses for a
//! while, tcp(7) TIME_WAIT.

use std::net::SocketAddr;

use crate::abi::net::{SO_REUSEADDR, SO_REUSEPORT};
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::lingering::{LINGER, Lingering};
use crate::kernel::net::sock::SockId;
use crate::kernel::net::table::Net;

impl Net {
    /// Rests of connections whose sockets have gone, in a namespace.
    pub(crate) fn lingering(&self, namespace: NsId) -> impl Iterator<Item = (SockId, &Lingering)> {
        let all = self.lingering.iter().map(|(id, left)| (*id, left));
        all.filter(move |(_, left)| left.namespace == namespace)
    }

    /// Tells if anything of connections is left.
    pub(crate) fn has_lingering(&self) -> bool {
        !self.lingering.is_empty()
    }

    /// Notes the time, in nanoseconds since the program's start: what is left of connections begins
    /// then if it is new, and ends when its time is up.
    pub(crate) fn pass_time(&mut self, now: u64) {
        self.time = now;
        self.lingering.retain(|_, left| *left.until.get_or_insert(now + LINGER) > now);
    }

    /// A socket has said that it sends no more: if the other side said so first, that one's end has
    /// come.
    pub(super) fn has_said_end(&mut self, id: SockId) {
        let Some((peer, true)) = self.get(id).and_then(|sock| Some((sock.peer?, sock.finished))) else {
            return;
        };
        if self.get(peer).is_some() {
            self.linger(peer);
        }
        if let Some(left) = self.lingering.get_mut(&peer) {
            (left.finished, left.until) = (true, None);
        }
    }

    /// Keeps what is left of a connection.
    pub(super) fn linger(&mut self, id: SockId) {
        let Some(sock) = self.get(id) else { return };
        let (Some(local), Some(remote)) = (sock.at(), sock.to()) else { return };
        let left = Lingering {
            namespace: sock.namespace,
            family: sock.family,
            local,
            remote,
            finished: false,
            reuse: (sock.is_on(SO_REUSEADDR), sock.is_on(SO_REUSEPORT)),
            until: None,
        };
        self.lingering.insert(id, left);
    }

    /// Drops what is left of a connection: it was reset.
    pub(super) fn forget_lingering(&mut self, id: SockId) {
        self.lingering.remove(&id);
    }

    /// Drops what is left of connections between two addresses: there is a new one.
    pub(super) fn renew_connection(&mut self, namespace: NsId, a: SocketAddr, b: SocketAddr) {
        if self.has_lingering() {
            let between = |left: &Lingering| [(a, b), (b, a)].contains(&(left.local, left.remote));
            self.lingering.retain(|_, left| left.namespace != namespace || !between(left));
        }
    }
}
