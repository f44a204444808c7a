//! Connections to the host's network, as far as it is open. Each has a socket of its own here that
//! stands for its far end: what it has received is sent to the host, and what comes from there it
//! sends. So all else about a socket is as between two of the machine.

use std::net::SocketAddr;

use crate::abi::errno::Errno;
use crate::kernel::host_network::{End, Errand, News, PIECE, Report};
use crate::kernel::namespace::kind::{Kind as NsKind, NsId};
use crate::kernel::net::addr::Addr;
use crate::kernel::net::far_end::FarEnd;
use crate::kernel::net::inet::SEND_ROOM;
use crate::kernel::net::queue::{Message, truesize};
use crate::kernel::net::sock::{Sock, SockId, State};
use crate::kernel::net::table::Net;
use crate::kernel::wait_queue::{QueueId, WaitQueues};

/// Packets that are sent at a time.
const PACKETS: usize = 16;

impl Net {
    /// The address of the host's network that a socket reaches by connecting to one. Only the
    /// machine's first namespace has the host's network.
    pub(super) fn outside_at(&self, namespace: NsId, to: SocketAddr) -> Option<SocketAddr> {
        let has = namespace == NsKind::Net.first();
        self.outside.find(to).filter(|_| has).map(|(at, _)| *at)
    }

    /// Tells if there is any connection to the host's network.
    pub(crate) fn has_outside(&self) -> bool {
        !self.outside.ends.is_empty()
    }

    /// Makes a far end for a socket, which is connected when the host says so.
    pub(super) fn reach_out(
        &mut self,
        id: SockId,
        to: SocketAddr,
        queues: &mut WaitQueues,
    ) -> Result<(), Errno> {
        let sock = self.sock(id)?;
        let (namespace, what, tcp) = (sock.namespace, (sock.family, sock.kind, sock.protocol), sock.is_tcp());
        let end = self.add(namespace, what, queues);
        let far = self.sock_mut(end)?;
        far.outside = Some(FarEnd { to, connected: false, ended: false, said_end: false });
        (far.peer, far.send_room) = (Some(id), 0);
        far.state = if tcp { State::Connecting } else { State::Closed };
        let sock = self.sock_mut(id)?;
        (sock.peer, sock.remote) = (Some(end), Some(Addr::Inet(to)));
        if tcp {
            sock.state = State::Connecting;
        }
        self.outside.ends.insert(end);
        self.outside.traffic(to).connections += 1;
        Ok(())
    }

    /// The far end of a socket on the host's network, at this address.
    pub(super) fn far_end(&self, id: SockId, to: SocketAddr) -> Option<SockId> {
        let (end, far) = self.peer(id)?;
        far.outside.filter(|outside| (outside.to.ip(), outside.to.port()) == (to.ip(), to.port()))?;
        Some(end)
    }

    /// Sends a packet to a far end; it is lost where there is no room.
    pub(super) fn send_far(
        &mut self,
        id: SockId,
        end: SockId,
        bytes: &[u8],
        queues: &mut WaitQueues,
    ) -> Result<usize, Errno> {
        let sock = self.sock_mut(id)?;
        if sock.shut.1 {
            return Err(Errno::EPIPE);
        }
        sock.take_error()?;
        let far = self.sock(end)?;
        if far.received.room() <= far.receive_room {
            let message =
                Message { bytes: bytes.to_vec(), room: truesize(bytes.len()), ..Message::default() };
            self.push(end, message, queues);
        }
        Ok(bytes.len())
    }

    /// The socket whose far end this is, while it is there and connected to it.
    fn near(&self, end: SockId) -> Option<(SockId, &Sock)> {
        self.peer(end).filter(|(_, sock)| sock.peer == Some(end))
    }

    /// Wishes of the far ends to the host.
    pub(crate) fn errands(&self) -> Vec<Errand> {
        self.outside.ends.iter().filter_map(|end| self.errand(*end)).collect()
    }

    fn errand(&self, end: SockId) -> Option<Errand> {
        let far = self.get(end)?;
        let outside = far.outside?;
        let (tcp, near) = (far.is_tcp(), self.near(end));
        let reset = tcp && outside.connected && far.state == State::Closed;
        let mut errand = Errand {
            number: end.0,
            to: outside.to,
            datagrams: !tcp,
            out: Vec::new(),
            urgent: false,
            room: 0,
            end: End::Open,
        };
        if outside.connected && !reset {
            (errand.out, errand.urgent) = to_send(far);
        }
        errand.end = match near {
            _ if reset => End::Reset,
            None if errand.out.is_empty() || !outside.connected => End::Closed,
            Some(_) if tcp && outside.connected && far.finished && !outside.said_end => {
                if errand.out.is_empty() { End::Said } else { End::Open }
            }
            _ => End::Open,
        };
        if let Some((_, near)) = near.filter(|_| outside.connected && !outside.ended) {
            errand.room = match tcp {
                true => self.capacity(end).saturating_sub(far.sent).min(PIECE),
                false if near.received.room() <= near.receive_room && !near.shut.0 => PIECE,
                false => 0,
            };
        }
        Some(errand)
    }

    /// Tells if a far end still has bytes for the host.
    pub(crate) fn has_unsent(&self) -> bool {
        let connected = |far: &Sock| far.outside.is_some_and(|outside| outside.connected);
        let mut ends = self.outside.ends.iter().filter_map(|end| self.get(*end));
        ends.any(|far| {
            connected(far) && (!far.received.is_empty() || far.finished && far.state == State::Connected)
        })
    }

    /// The queues of the sockets to which the host can bring something.
    pub(crate) fn outside_queues(&self) -> Vec<QueueId> {
        let ends = self.outside.ends.iter().filter(|end| {
            self.errand(**end).is_some_and(|errand| {
                let connecting =
                    self.get(**end).and_then(|far| far.outside).is_some_and(|far| !far.connected);
                connecting || errand.room > 0 || !errand.out.is_empty() || errand.end != End::Open
            })
        });
        ends.filter_map(|end| Some(self.near(*end)?.1.queue)).collect()
    }

    /// Takes what the host has answered.
    pub(crate) fn hear(&mut self, report: &Report, queues: &mut WaitQueues) -> Result<(), Errno> {
        let over: Vec<u32> = self.errands().iter().filter(|e| e.is_last()).map(|e| e.number).collect();
        for (number, news) in &report.news {
            self.take_news(SockId(*number), news, queues)?;
        }
        for number in over {
            self.drop_end(SockId(number), queues);
        }
        Ok(())
    }

    fn drop_end(&mut self, end: SockId, queues: &mut WaitQueues) {
        self.outside.ends.remove(&end);
        self.remove(end, queues);
    }

    fn take_news(&mut self, end: SockId, news: &News, queues: &mut WaitQueues) -> Result<(), Errno> {
        // A connection that the machine has given up meanwhile.
        let Some(far) = self.get(end) else { return Ok(()) };
        let Some(mut outside) = far.outside else { return Ok(()) };
        let (tcp, near) = (far.is_tcp(), self.near(end).map(|(id, _)| id));
        match news {
            News::Connected => {
                outside.connected = true;
                if tcp {
                    self.sock_mut(end)?.state = State::Connected;
                }
                if let Some(id) = near.filter(|_| tcp) {
                    let sock = self.sock_mut(id)?;
                    sock.state = State::Connected;
                    if !sock.rooms_were_set.0 {
                        sock.send_room = SEND_ROOM;
                    }
                    self.wake(id, 0, queues);
                }
            }
            News::Failed(errno) => {
                match near {
                    Some(id) if tcp && outside.connected => self.reset(id, *errno, queues),
                    Some(id) if tcp => self.refuse(id, *errno, queues),
                    Some(id) => {
                        self.sock_mut(id)?.error = Some(*errno);
                        self.wake(id, 0, queues);
                    }
                    None => {}
                }
                if tcp || !outside.connected {
                    self.drop_end(end, queues);
                    return Ok(());
                }
            }
            News::Came(bytes) => {
                self.outside.traffic(outside.to).received += bytes.len() as u64;
                if let Some(id) = near {
                    self.bring(end, id, bytes, queues);
                }
            }
            News::Ended => {
                outside.ended = true;
                self.shutdown(end, (false, true), queues)?;
            }
            News::Sent(count) => self.sent(end, *count, queues)?,
            News::SaidEnd => outside.said_end = true,
        }
        self.sock_mut(end)?.outside = Some(outside);
        Ok(())
    }

    /// Puts what came from a far end into the queue of its socket.
    fn bring(&mut self, end: SockId, to: SockId, bytes: &[u8], queues: &mut WaitQueues) {
        let tcp = self.get(end).is_some_and(Sock::is_tcp);
        if tcp && self.join(to, end, bytes, queues) {
            return;
        }
        let Some(near) = self.get(to) else { return };
        let message = Message {
            bytes: bytes.to_vec(),
            room: if tcp { bytes.len() } else { truesize(bytes.len()) },
            sender: tcp.then_some(end),
            from: near.remote.clone().filter(|_| !tcp),
            to: near.at(),
            hops: 64,
            ..Message::default()
        };
        self.push(to, message, queues);
    }

    /// Takes out of a far end's queue what the host was given of it: bytes or packets.
    fn sent(&mut self, end: SockId, count: usize, queues: &mut WaitQueues) -> Result<(), Errno> {
        let (to, tcp) = (self.sock(end)?.outside.map(|outside| outside.to), self.sock(end)?.is_tcp());
        let (mut left, mut bytes) = (count, 0);
        while left > 0 {
            let received = &mut self.sock_mut(end)?.received;
            let Some(first) = received.get(0) else { break };
            let size = first.rest().len();
            let taken = if tcp { size.min(left) } else { size };
            left -= if tcp { taken } else { 1 };
            bytes += taken as u64;
            received.take(0, taken);
            if taken == size
                && let Some(message) = received.pop()
            {
                self.forget(message, queues);
            }
        }
        if let Some(to) = to {
            self.outside.traffic(to).sent += bytes;
        }
        Ok(())
    }
}

/// Bytes that a far end has for the host, and if it is the byte of urgent data.
fn to_send(far: &Sock) -> (Vec<Vec<u8>>, bool) {
    if !far.is_tcp() {
        return (far.received.iter().take(PACKETS).map(|message| message.rest().to_vec()).collect(), false);
    }
    let urgent = far.received.get(0).is_some_and(|message| message.urgent);
    let mut piece = Vec::new();
    for message in far.received.iter() {
        if message.urgent != urgent || urgent && !piece.is_empty() || piece.len() >= PIECE {
            break;
        }
        piece.extend_from_slice(message.rest());
    }
    (if piece.is_empty() { Vec::new() } else { vec![piece] }, urgent)
}
