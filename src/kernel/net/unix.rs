//! Unix sockets, unix(7): names, connections and their ends.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::kernel::file::error::{FileError, Wait};
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::addr::{Addr, Family};
use crate::kernel::net::sock::{Identity, Kind, Sock, SockId, State};
use crate::kernel::net::table::{Net, READABLE};
use crate::kernel::vfs::node::Ino;
use crate::kernel::wait_queue::WaitQueues;

impl Net {
    /// Connects two new sockets with each other, socketpair(2).
    pub(crate) fn pair(&mut self, ids: [SockId; 2], who: &Identity) -> Result<(), Errno> {
        for (id, peer) in [(ids[0], ids[1]), (ids[1], ids[0])] {
            let sock = self.sock_mut(id)?;
            sock.peer = Some(peer);
            (sock.own, sock.of_peer) = (Some(who.clone()), Some(who.clone()));
            if !sock.is_datagram() {
                sock.state = State::Connected;
            }
        }
        Ok(())
    }

    /// Binds a socket to the inode of a path.
    pub(crate) fn bind_path(&mut self, id: SockId, path: Arc<[u8]>, ino: Ino) -> Result<(), Errno> {
        let sock = self.sock_mut(id)?;
        (sock.local, sock.inode) = (Some(Addr::Path(path)), Some(ino));
        self.paths.insert(ino, id);
        Ok(())
    }

    /// Binds a socket to an abstract name, or to one that is free; EADDRINUSE.
    pub(crate) fn bind_name(&mut self, id: SockId, name: Option<Arc<[u8]>>) -> Result<(), Errno> {
        const NAMES: u32 = 1 << 20;
        let (namespace, kind) = (self.sock(id)?.namespace, self.sock(id)?.kind.number());
        let name = match name {
            Some(name) if self.names.contains_key(&(namespace, kind, name.clone())) => {
                return Err(Errno::EADDRINUSE);
            }
            Some(name) => name,
            None => {
                let next = (0..NAMES).map(|at| (self.last_name + 1 + at) % NAMES);
                let free = |number: u32| -> Option<(u32, Arc<[u8]>)> {
                    let name: Arc<[u8]> = format!("{number:05x}").into_bytes().into();
                    (!self.names.contains_key(&(namespace, kind, name.clone()))).then_some((number, name))
                };
                let (number, name) = next.into_iter().find_map(free).ok_or(Errno::ENOSPC)?;
                self.last_name = number;
                name
            }
        };
        self.names.insert((namespace, kind, name.clone()), id);
        self.sock_mut(id)?.local = Some(Addr::Abstract(name));
        Ok(())
    }

    /// The socket that is bound to the inode of a path; ECONNREFUSED.
    pub(crate) fn at_path(&self, ino: Ino) -> Result<SockId, Errno> {
        self.paths.get(&ino).copied().ok_or(Errno::ECONNREFUSED)
    }

    /// The socket with an abstract name, of which each type has its own; ECONNREFUSED.
    pub(crate) fn at_name(&self, namespace: NsId, kind: Kind, name: &Arc<[u8]>) -> Result<SockId, Errno> {
        self.names.get(&(namespace, kind.number(), name.clone())).copied().ok_or(Errno::ECONNREFUSED)
    }

    /// Lets connections come, listen(2).
    pub(crate) fn listen_unix(
        &mut self,
        id: SockId,
        backlog: usize,
        who: Identity,
        queues: &mut WaitQueues,
    ) -> Result<(), Errno> {
        let sock = self.sock_mut(id)?;
        if sock.is_datagram() {
            return Err(Errno::EOPNOTSUPP);
        }
        if sock.local.is_none()
            || !matches!(sock.state, State::Closed | State::Listening)
            || sock.peer.is_some()
        {
            return Err(Errno::EINVAL);
        }
        if backlog > sock.backlog {
            queues.wake(sock.peer_wait, 0);
        }
        (sock.state, sock.backlog, sock.own) = (State::Listening, backlog, Some(who));
        Ok(())
    }

    /// Connects a socket for packets or a stream to one that listens.
    pub(crate) fn connect_unix(
        &mut self,
        id: SockId,
        to: SockId,
        nonblocking: bool,
        who: Identity,
        queues: &mut WaitQueues,
    ) -> Result<(), FileError> {
        let sock = self.sock(id)?;
        let (kind, state, timeout) = (sock.kind, sock.state, sock.send_timeout);
        let other = self.get(to).ok_or(Errno::ECONNREFUSED)?;
        if other.kind != kind {
            return Err(Errno::EPROTOTYPE.into());
        }
        if other.state != State::Listening || other.shut.0 {
            return Err(Errno::ECONNREFUSED.into());
        }
        if other.waiting.len() > other.backlog {
            if nonblocking {
                return Err(Errno::EAGAIN.into());
            }
            let (what, queue) = ("connect to a socket whose backlog is full", Some(other.peer_wait));
            return Err(FileError::Wait(Wait { what, timeout, late: Errno::EAGAIN, queue }));
        }
        match state {
            State::Closed => {}
            State::Connected => return Err(Errno::EISCONN.into()),
            _ => return Err(Errno::EINVAL.into()),
        }
        let (local, of_listener) = (other.local.clone(), other.own.clone());
        let (uid, inherited) = (other.uid, other.options.passing());
        let namespace = self.sock(to)?.namespace;
        let there = self.add(namespace, (Family::Unix, kind, 0), queues);
        let sock = self.sock_mut(there)?;
        (sock.uid, sock.local, sock.peer) = (uid, local.clone(), Some(id));
        (sock.state, sock.listener, sock.options) = (State::Connected, Some(to), inherited);
        (sock.own, sock.of_peer) = (of_listener.clone(), Some(who.clone()));
        let sock = self.sock_mut(id)?;
        sock.peer = Some(there);
        (sock.state, sock.remote) = (State::Connected, local);
        (sock.own, sock.of_peer) = (Some(who), of_listener);
        let remote = sock.local.clone();
        self.sock_mut(there)?.remote = remote;
        self.sock_mut(to)?.waiting.push_back(there);
        self.wake(to, READABLE, queues);
        self.wake(id, 0, queues);
        Ok(())
    }

    /// Connects a socket for datagrams, or takes its connection away; EPERM if the other one is
    /// connected to a third.
    pub(crate) fn connect_datagram(
        &mut self,
        id: SockId,
        to: Option<SockId>,
        queues: &mut WaitQueues,
    ) -> Result<(), Errno> {
        let mut remote = None;
        if let Some(to) = to {
            let (sock, other) = (self.sock(id)?, self.get(to).ok_or(Errno::ECONNREFUSED)?);
            if other.kind != sock.kind {
                return Err(Errno::EPROTOTYPE);
            }
            if other.peer.is_some_and(|peer| peer != id) {
                return Err(Errno::EPERM);
            }
            remote = other.local.clone();
        }
        let sock = self.sock_mut(id)?;
        let before = sock.peer;
        (sock.peer, sock.remote) = (to, remote);
        if let Some(before) = before.filter(|before| Some(*before) != to) {
            // What the former partner sent is lost, and it is told.
            while let Some(message) = self.sock_mut(id)?.received.pop() {
                self.forget(message, queues);
                if let Ok(other) = self.sock_mut(before)
                    && other.peer == Some(id)
                {
                    other.error = Some(Errno::ECONNRESET);
                }
            }
            self.wake(before, 0, queues);
        }
        Ok(())
    }

    /// Takes the first connection that waits; a wait if there is none.
    pub(crate) fn accept(
        &mut self,
        id: SockId,
        nonblocking: bool,
        queues: &mut WaitQueues,
    ) -> Result<SockId, FileError> {
        let sock = self.sock_mut(id)?;
        if sock.is_datagram() {
            return Err(Errno::EOPNOTSUPP.into());
        }
        if sock.state != State::Listening {
            return Err(Errno::EINVAL.into());
        }
        if sock.family == Family::Unix && sock.shut.0 && sock.waiting.is_empty() {
            return Err(Errno::EINVAL.into());
        }
        let (timeout, peer_wait) = (sock.receive_timeout, sock.peer_wait);
        let Some(next) = sock.waiting.pop_front() else {
            return Err(super::stream::wait(nonblocking, "accept", timeout));
        };
        self.sock_mut(next)?.listener = None;
        queues.wake(peer_wait, 0);
        self.admit(id, queues);
        Ok(next)
    }

    /// Closes a Unix socket whose last descriptor has gone: the other side is told, and those whose
    /// connections wait here.
    pub(super) fn close_unix(&mut self, id: SockId, queues: &mut WaitQueues) -> Option<Ino> {
        let sock = self.get(id)?;
        let (waiting, inode) = (sock.waiting.clone(), sock.inode);
        let unread = !sock.received.is_empty() || sock.listener.is_some();
        if let (Some(peer), false) = (sock.peer, sock.is_datagram())
            && let Ok(other) = self.sock_mut(peer)
        {
            other.shut = (true, true);
            if unread {
                other.error = Some(Errno::ECONNRESET);
            }
            self.wake_shut(peer, queues);
        }
        for embryo in waiting {
            self.close_unix(embryo, queues);
        }
        if let Some(ino) = inode {
            self.paths.remove(&ino);
        }
        let listener = self.get(id).and_then(|sock| sock.listener);
        let gone: Sock = self.remove(id, queues)?;
        if let (Some(Addr::Abstract(name)), None) = (&gone.local, listener)
            && self.at_name(gone.namespace, gone.kind, name) == Ok(id)
        {
            self.names.remove(&(gone.namespace, gone.kind.number(), name.clone()));
        }
        if gone.is_datagram() {
            let senders: Vec<SockId> =
                self.iter().filter(|(_, sock)| sock.peer == Some(id)).map(|(sender, _)| sender).collect();
            for sender in senders {
                self.wake(sender, 0, queues);
            }
        }
        inode
    }

    /// Tells if a socket may be bound: EINVAL if it is.
    pub(crate) fn unbound(&self, id: SockId) -> Result<(), Errno> {
        if self.sock(id)?.local.is_some() { Err(Errno::EINVAL) } else { Ok(()) }
    }

    /// Tells if a type of Unix sockets is for connections.
    pub(crate) fn connects(&self, id: SockId) -> bool {
        self.get(id).is_some_and(|sock| matches!(sock.kind, Kind::Stream | Kind::SeqPacket))
    }
}
