//! A socket: what all families share.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::namespace::kind::NsId;
pub(crate) use crate::kernel::net::addr::SockId;
use crate::kernel::net::addr::{Addr, Family};
use crate::kernel::net::far_end::FarEnd;
use crate::kernel::net::options::Options;
use crate::kernel::net::queue::{Queue, Ucred};
use crate::kernel::vfs::node::Ino;
use crate::kernel::wait_queue::QueueId;

/// Type of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Stream,
    Datagram,
    SeqPacket,
}

impl Kind {
    /// Its number, SOCK_*.
    pub(crate) fn number(self) -> u32 {
        match self {
            Kind::Stream => SOCK_STREAM,
            Kind::Datagram => SOCK_DGRAM,
            Kind::SeqPacket => SOCK_SEQPACKET,
        }
    }
}

/// State of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Closed,
    /// It waits until the listener has room for it.
    Connecting,
    Connected,
    Listening,
}

/// Identity of whoever made a connection or listens, SO_PEERCRED and SO_PEERGROUPS.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) cred: Ucred,
    pub(crate) groups: Vec<u32>,
}

/// A socket.
#[derive(Clone, Debug)]
pub(crate) struct Sock {
    /// Network namespace.
    pub(crate) namespace: NsId,
    pub(crate) family: Family,
    pub(crate) kind: Kind,
    pub(crate) protocol: u32,
    /// It was made as SOCK_RAW, which for netlink is the same as SOCK_DGRAM.
    pub(crate) raw: bool,
    /// Inode number shown to the guest; 0 before accept(2) has given it a descriptor.
    pub(crate) number: u64,
    /// User who made it.
    pub(crate) uid: u32,
    /// Queue of those who wait for it.
    pub(crate) queue: QueueId,
    /// Queue of those who wait for a place in its queues, `peer_wait`.
    pub(crate) peer_wait: QueueId,
    pub(crate) state: State,
    /// Nothing more can be received; nothing more can be sent.
    pub(crate) shut: (bool, bool),
    /// Error that the next operation answers with, SO_ERROR.
    pub(crate) error: Option<Errno>,
    pub(crate) local: Option<Addr>,
    pub(crate) remote: Option<Addr>,
    pub(crate) peer: Option<SockId>,
    pub(crate) received: Queue,
    /// Packets that came back, with IP_RECVERR.
    pub(crate) errors: Queue,
    /// Room that what it has sent takes until somebody has taken it.
    pub(crate) sent: usize,
    /// Most connections that may wait to be accepted.
    pub(crate) backlog: usize,
    /// Connections that wait to be accepted.
    pub(crate) waiting: VecDeque<SockId>,
    /// Sockets that connect and have no place among `waiting` yet.
    pub(crate) pending: VecDeque<SockId>,
    /// The one that has it among `waiting`.
    pub(crate) listener: Option<SockId>,
    /// The first answer of connect(2) after EINPROGRESS is still to be given.
    pub(crate) in_progress: bool,
    pub(crate) own: Option<Identity>,
    pub(crate) of_peer: Option<Identity>,
    pub(crate) options: Options,
    /// SO_SNDBUF and SO_RCVBUF.
    pub(crate) send_room: usize,
    pub(crate) receive_room: usize,
    /// SO_SNDBUF and SO_RCVBUF were set.
    pub(crate) rooms_were_set: (bool, bool),
    /// SO_RCVLOWAT.
    pub(crate) low_water: usize,
    /// SO_RCVTIMEO and SO_SNDTIMEO in nanoseconds.
    pub(crate) receive_timeout: Option<u64>,
    pub(crate) send_timeout: Option<u64>,
    /// SO_LINGER: on, and seconds.
    pub(crate) linger: (bool, u32),
    /// SO_PEEK_OFF.
    pub(crate) peek_at: Option<usize>,
    /// Address of IP that bind(2) has given it.
    pub(crate) bound: Option<SocketAddr>,
    /// Inode of the path that it is bound to.
    pub(crate) inode: Option<Ino>,
    /// Multicast groups that it is in.
    pub(crate) groups: Vec<IpAddr>,
    /// The other side has said that it sends no more, and all before that has come.
    pub(crate) finished: bool,
    /// It stands for a far end on the host's network.
    pub(crate) outside: Option<FarEnd>,
}

impl Sock {
    /// A socket that is connected to nothing.
    pub(crate) fn new(
        namespace: NsId,
        (family, kind, protocol): (Family, Kind, u32),
        queues: [QueueId; 2],
    ) -> Sock {
        let [queue, peer_wait] = queues;
        /// SO_SNDBUF and SO_RCVBUF at first.
        const ROOM: usize = 212_992;
        let tcp = family.is_inet() && kind == Kind::Stream;
        Sock {
            namespace,
            family,
            kind,
            protocol,
            raw: false,
            number: 0,
            uid: 0,
            queue,
            peer_wait,
            state: State::Closed,
            shut: (false, false),
            error: None,
            local: None,
            remote: None,
            peer: None,
            received: Queue::default(),
            errors: Queue::default(),
            sent: 0,
            backlog: MAX_DGRAM_QLEN,
            waiting: VecDeque::new(),
            pending: VecDeque::new(),
            listener: None,
            in_progress: false,
            own: None,
            of_peer: None,
            options: Options::default(),
            send_room: if tcp { 16_384 } else { ROOM },
            receive_room: if tcp { 131_072 } else { ROOM },
            rooms_were_set: (false, false),
            low_water: 1,
            receive_timeout: None,
            send_timeout: None,
            linger: (false, 0),
            peek_at: None,
            bound: None,
            inode: None,
            groups: Vec::new(),
            finished: false,
            outside: None,
        }
    }

    pub(crate) fn is_tcp(&self) -> bool {
        self.family.is_inet() && self.kind == Kind::Stream
    }

    /// Tells if it sends to whoever it likes.
    pub(crate) fn is_datagram(&self) -> bool {
        self.kind == Kind::Datagram
    }

    /// Tells if an option of SOL_SOCKET is on.
    pub(crate) fn is_on(&self, name: u32) -> bool {
        self.options.is_on(SOL_SOCKET, name)
    }

    /// Tells if it wants to know who sends.
    pub(crate) fn wants_sender(&self) -> bool {
        self.is_on(SO_PASSCRED) || self.is_on(SO_PASSPIDFD)
    }

    /// Tells if descriptors may be sent to it, SO_PASSRIGHTS.
    pub(crate) fn takes_rights(&self) -> bool {
        self.options.number(SOL_SOCKET, SO_PASSRIGHTS) != Some(0)
    }

    /// Takes the error that is still to be answered.
    pub(crate) fn take_error(&mut self) -> Result<(), Errno> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// State of TCP as `/proc/net/tcp` and TCP_INFO number it.
    pub(crate) fn tcp_state(&self) -> u8 {
        match (self.state, self.shut.1, self.finished) {
            (State::Connected, false, false) => TCP_ESTABLISHED,
            (State::Connecting, ..) => TCP_SYN_SENT,
            (State::Connected, true, false) => TCP_FIN_WAIT2,
            (State::Connected, true, true) | (State::Closed, ..) => TCP_CLOSE,
            (State::Connected, false, true) => TCP_CLOSE_WAIT,
            (State::Listening, ..) => TCP_LISTEN,
        }
    }

    /// State of UDP as `/proc/net/udp` numbers it.
    pub(crate) fn udp_state(&self) -> u8 {
        if self.remote.is_some() { TCP_ESTABLISHED } else { TCP_CLOSE }
    }

    /// Its address of IP, if it has one.
    pub(crate) fn at(&self) -> Option<SocketAddr> {
        if let Some(Addr::Inet(at)) = self.local { Some(at) } else { None }
    }

    /// The address of IP that it is connected to.
    pub(crate) fn to(&self) -> Option<SocketAddr> {
        if let Some(Addr::Inet(at)) = self.remote { Some(at) } else { None }
    }

    /// Tells if what others sent it fills its queue, `unix_recvq_full`.
    pub(crate) fn queue_is_full(&self) -> bool {
        self.received.count() > self.backlog
    }
}

/// Most messages that a Unix socket's queue takes before senders wait,
/// `/proc/sys/net/unix/max_dgram_qlen`.
pub(crate) const MAX_DGRAM_QLEN: usize = 10;
