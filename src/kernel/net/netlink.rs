//! Netlink, rtnetlink(7): questions about the one interface, its addresses and routes. Of changes
//! only those can be made that a new network namespace needs. There is never any news for a group.

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::addr::{Addr, Family};
use crate::kernel::net::interface::{INDEX, MTU, NAME, QUEUE_LENGTH};
use crate::kernel::net::loopback::Loopback;
use crate::kernel::net::queue::{Message, truesize};
use crate::kernel::net::sock::SockId;
use crate::kernel::net::stream::Outgoing;
use crate::kernel::net::table::Net;
use crate::kernel::wait_queue::WaitQueues;

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;

/// Bytes of `struct ifinfomsg`.
const IFINFO: usize = 16;
/// The last kind of rtnetlink(7).
const RTM_MAX: u16 = 123;

/// A question: `struct nlmsghdr` and what follows.
pub(super) struct Request<'a> {
    pub(super) kind: u16,
    flags: u16,
    sequence: u32,
    /// The header as it was, for errors.
    header: &'a [u8],
    pub(super) body: &'a [u8],
    /// NETLINK_CAP_ACK is on.
    capped: bool,
}

/// An attribute, `struct rtattr`.
pub(super) fn attribute(kind: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = ((data.len() + 4) as u16).to_le_bytes().to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// RTM_NEWLINK of the interface.
fn link(up: bool) -> Vec<u8> {
    let flags = if up { LOOPBACK_FLAGS | IFF_LOWER_UP } else { LOOPBACK_FLAGS & !(IFF_UP | IFF_RUNNING) };
    let mut body = vec![0, 0];
    body.extend(ARPHRD_LOOPBACK.to_le_bytes());
    for word in [INDEX, flags, 0] {
        body.extend(word.to_le_bytes());
    }
    let attributes: [(u16, &[u8]); 11] = [
        (3, NAME),                                      // IFLA_IFNAME
        (13, &QUEUE_LENGTH.to_le_bytes()),              // IFLA_TXQLEN
        (16, if up { &[0] } else { &[2] }),             // IFLA_OPERSTATE: unknown, down
        (17, &[0]),                                     // IFLA_LINKMODE
        (4, &MTU.to_le_bytes()),                        // IFLA_MTU
        (27, &[0; 4]),                                  // IFLA_GROUP
        (6, if up { b"noqueue\0" } else { b"noop\0" }), // IFLA_QDISC
        (1, &[0; 6]),                                   // IFLA_ADDRESS
        (2, &[0; 6]),                                   // IFLA_BROADCAST
        (23, &[0; 200]),                                // IFLA_STATS64
        (7, &[0; 100]),                                 // IFLA_STATS
    ];
    body.extend(attributes.iter().flat_map(|(kind, data)| attribute(*kind, data)));
    body
}

/// RTM_NEWADDR of each address, for a family or for all.
fn addresses(family: u8, loopback: Loopback) -> Vec<Vec<u8>> {
    const PERMANENT: u8 = 0x80;
    const HOST: u8 = 254;
    let lives = [[0xff; 8], [0; 8]].concat();
    let flags = u32::from(PERMANENT).to_le_bytes();
    let head = |family: u16, prefix: u8| {
        let mut body = vec![family as u8, prefix, PERMANENT, HOST];
        body.extend(INDEX.to_le_bytes());
        body
    };
    let mut found = Vec::new();
    if loopback.inet && (family == 0 || u16::from(family) == AF_INET) {
        let octets = [127, 0, 0, 1];
        let parts = [attribute(1, &octets), attribute(2, &octets), attribute(3, NAME)];
        let rest = [attribute(8, &flags), attribute(6, &lives)];
        found.push([head(AF_INET, 8), parts.concat(), rest.concat()].concat());
    }
    if loopback.up && (family == 0 || u16::from(family) == AF_INET6) {
        let mut octets = [0; 16];
        octets[15] = 1;
        let parts = [attribute(1, &octets), attribute(6, &lives), attribute(8, &flags)];
        found.push([head(AF_INET6, 128), parts.concat()].concat());
    }
    found
}

/// RTM_NEWROUTE of each route to the machine itself, for a family or for all.
fn routes(family: u8) -> Vec<Vec<u8>> {
    const RT_TABLE_MAIN: u8 = 254;
    const RT_TABLE_LOCAL: u8 = 255;
    const RTPROT_KERNEL: u8 = 2;
    const RT_SCOPE_LINK: u8 = 253;
    const RT_SCOPE_HOST: u8 = 254;
    let [unicast, local, broadcast] = [1u8, 2, 3]; // RTN_*
    let index = attribute(4, &INDEX.to_le_bytes()); // RTA_OIF
    let table = |table: u8| attribute(15, &u32::from(table).to_le_bytes()); // RTA_TABLE
    let mut found = Vec::new();
    if family == 0 || u16::from(family) == AF_INET {
        for (to, bits, scope, kind) in [
            ([127, 0, 0, 0], 8, RT_SCOPE_HOST, local),
            ([127, 0, 0, 1], 32, RT_SCOPE_HOST, local),
            ([127, 255, 255, 255], 32, RT_SCOPE_LINK, broadcast),
        ] {
            let mut body =
                vec![AF_INET as u8, bits, 0, 0, RT_TABLE_LOCAL, RTPROT_KERNEL, scope, kind, 0, 0, 0, 0];
            body.extend(table(RT_TABLE_LOCAL));
            body.extend(attribute(1, &to)); // RTA_DST
            body.extend(attribute(7, &[127, 0, 0, 1])); // RTA_PREFSRC
            body.extend_from_slice(&index);
            found.push(body);
        }
    }
    if family == 0 || u16::from(family) == AF_INET6 {
        let mut to = [0; 16];
        to[15] = 1;
        for (at, kind, metric) in [(RT_TABLE_MAIN, unicast, 256u32), (RT_TABLE_LOCAL, local, 0)] {
            let mut body = vec![AF_INET6 as u8, 128, 0, 0, at, RTPROT_KERNEL, 0, kind, 0, 0, 0, 0];
            body.extend(table(at));
            body.extend(attribute(1, &to));
            body.extend(attribute(6, &metric.to_le_bytes())); // RTA_PRIORITY
            body.extend_from_slice(&index);
            body.extend(attribute(20, &[0])); // RTA_PREF
            found.push(body);
        }
    }
    found
}

/// RTM_NEWRULE of each rule: the tables local, main and, of IPv4, default.
fn rules(family: u8) -> Vec<Vec<u8>> {
    const FR_ACT_TO_TBL: u8 = 1;
    let tables = [(255u8, 0u32), (254, 32_766), (253, 32_767)];
    let mut found = Vec::new();
    for of in [AF_INET, AF_INET6].into_iter().filter(|of| family == 0 || u16::from(family) == *of) {
        for (table, priority) in &tables[..if of == AF_INET { 3 } else { 2 }] {
            let mut body = vec![of as u8, 0, 0, 0, *table, 0, 0, FR_ACT_TO_TBL, 0, 0, 0, 0];
            body.extend(attribute(15, &u32::from(*table).to_le_bytes())); // FRA_TABLE
            if *priority != 0 {
                body.extend(attribute(6, &priority.to_le_bytes())); // FRA_PRIORITY
            }
            found.push(body);
        }
    }
    found
}

impl Net {
    /// Gives a socket of netlink its port, that of the process or one that is free, bind(2).
    pub(crate) fn bind_netlink(
        &mut self,
        id: SockId,
        port: u32,
        groups: u32,
        pid: u32,
    ) -> Result<u32, Errno> {
        let taken = |port: u32| {
            self.iter().any(|(other, sock)| {
                other != id && matches!(sock.local, Some(Addr::Netlink(held, _)) if held == port)
            })
        };
        let port = match (port, &self.sock(id)?.local) {
            (wanted, Some(Addr::Netlink(held, _))) if wanted == 0 || wanted == *held => *held,
            (_, Some(_)) => return Err(Errno::EINVAL),
            (0, None) if !taken(pid) => pid,
            (0, None) => {
                (1..).map(|at| 0xffff_f000 - at).find(|port| !taken(*port)).ok_or(Errno::EADDRINUSE)?
            }
            (wanted, None) if taken(wanted) => return Err(Errno::EADDRINUSE),
            (wanted, None) => wanted,
        };
        self.sock_mut(id)?.local = Some(Addr::Netlink(port, groups));
        Ok(port)
    }

    /// Switches the loopback of a namespace on or off, or gives it its address; EPERM, ENODEV,
    /// EEXIST, EOPNOTSUPP for other changes.
    fn change_loopback(
        &mut self,
        namespace: NsId,
        request: &Request,
        administers: bool,
    ) -> Result<(), Errno> {
        if !administers {
            return Err(Errno::EPERM);
        }
        let word = |at: usize| {
            request.body.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
        };
        let named = request.body.windows(NAME.len()).any(|bytes| bytes == NAME);
        if word(4) != INDEX && !(word(4) == 0 && named && request.kind != RTM_NEWADDR) {
            return Err(Errno::ENODEV);
        }
        match request.kind {
            RTM_NEWADDR => {
                let own = request.body.windows(4).any(|bytes| bytes == [127, 0, 0, 1]);
                match own {
                    true if self.set_address(namespace) => Ok(()),
                    true => Err(Errno::EEXIST),
                    false => Err(Errno::EOPNOTSUPP),
                }
            }
            _ => {
                let (flags, change) = (word(8), word(12));
                if change & IFF_UP != 0 || change == 0 && flags & IFF_UP != 0 {
                    self.set_up(namespace, flags & IFF_UP != 0);
                }
                Ok(())
            }
        }
    }

    /// Answers the questions of a message at once.
    pub(super) fn send_netlink(
        &mut self,
        id: SockId,
        out: &Outgoing,
        queues: &mut WaitQueues,
    ) -> Result<usize, Errno> {
        let (namespace, administers) = (self.sock(id)?.namespace, out.administers);
        let port = self.bind_netlink(id, 0, 0, out.cred.pid as u32)?;
        let protocol = self.sock(id)?.protocol;
        if !matches!(protocol, NETLINK_ROUTE | NETLINK_SOCK_DIAG) {
            return Err(Errno::EPERM);
        }
        if out.flags & MSG_OOB != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        if out.bytes.is_empty() {
            return Err(Errno::ENODATA);
        }
        let capped = self.sock(id)?.options.is_on(SOL_NETLINK, NETLINK_CAP_ACK);
        let mut rest = out.bytes;
        while let Some(header) = rest.first_chunk::<HEADER>() {
            let [a, b, c, d, k0, k1, f0, f1, s0, s1, s2, s3, ..] = *header;
            let len = u32::from_le_bytes([a, b, c, d]) as usize;
            if !(HEADER..=rest.len()).contains(&len) {
                break;
            }
            let request = Request {
                kind: u16::from_le_bytes([k0, k1]),
                flags: u16::from_le_bytes([f0, f1]),
                sequence: u32::from_le_bytes([s0, s1, s2, s3]),
                header,
                body: &rest[HEADER..len],
                capped,
            };
            let answers = match protocol {
                NETLINK_SOCK_DIAG if request.kind >= RTM_BASE => {
                    request.listing(port, self.diag(namespace, &request))
                }
                _ if request.changes_loopback() => {
                    let changed = self.change_loopback(namespace, &request, administers);
                    request.confirmation(port, changed)
                }
                _ => request.answers(port, self.loopback(namespace)),
            };
            let answers = if request.flags & NLM_F_REQUEST == 0 { Vec::new() } else { answers };
            let acknowledged = answers.iter().all(|answer| !request.is_end(answer));
            let ack = request.flags & NLM_F_ACK != 0 && acknowledged;
            let answers = answers.into_iter().chain(ack.then(|| request.error(port, None)));
            for bytes in answers {
                let room = truesize(bytes.len());
                let from = Some(Addr::Netlink(0, 0));
                self.push(id, Message { bytes, room, from, ..Message::default() }, queues);
            }
            rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(out.bytes.len())
    }
}

impl Net {
    /// Tells if a socket is one of netlink.
    pub(crate) fn is_netlink(&self, id: SockId) -> bool {
        self.sock(id).is_ok_and(|sock| sock.family == Family::Netlink)
    }

    /// Gives a socket of netlink a datagram of the kernel's, if it is still there.
    pub(crate) fn push_netlink(&mut self, id: SockId, bytes: Vec<u8>, queues: &mut WaitQueues) {
        if self.is_netlink(id) {
            let room = truesize(bytes.len());
            let from = Some(Addr::Netlink(0, 0));
            self.push(id, Message { bytes, room, from, ..Message::default() }, queues);
        }
    }
}

impl Request<'_> {
    /// A message of netlink.
    fn message(&self, kind: u16, flags: u16, port: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + body.len()) as u32).to_le_bytes().to_vec();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(self.sequence.to_le_bytes());
        bytes.extend(port.to_le_bytes());
        bytes.extend_from_slice(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// NLMSG_ERROR, also for success if that was asked for.
    fn error(&self, port: u32, error: Option<Errno>) -> Vec<u8> {
        let number = error.map_or(0, |errno| -i32::from(errno.0));
        // What was wrong comes back whole, unless NETLINK_CAP_ACK is on.
        let capped = error.is_none() || self.capped;
        let rest = if capped { &[] } else { self.body };
        let flags = if capped { NLM_F_CAPPED } else { 0 };
        let body = [&number.to_le_bytes()[..], self.header, rest].concat();
        self.message(NLMSG_ERROR, flags, port, &body)
    }

    /// Tells if a datagram is an error, or the end of a list: no acknowledgement follows.
    fn is_end(&self, datagram: &[u8]) -> bool {
        let kind = datagram.get(4..6).map_or(0, |kind| u16::from_le_bytes([kind[0], kind[1]]));
        kind == NLMSG_ERROR || self.is_dump()
    }

    /// The datagrams that answer the question.
    fn answers(&self, port: u32, loopback: Loopback) -> Vec<Vec<u8>> {
        if self.kind < RTM_BASE {
            return Vec::new(); // NLMSG_NOOP and its kin
        }
        if self.kind > RTM_MAX {
            return vec![self.error(port, Some(Errno::EOPNOTSUPP))];
        }
        if self.body.is_empty() {
            return Vec::new(); // not even a family
        }
        let family = self.body.first().copied().unwrap_or(0);
        let dump = self.is_dump();
        let (kind, objects) = match self.kind {
            RTM_GETLINK if dump => (RTM_NEWLINK, vec![link(loopback.up)]),
            RTM_GETLINK => {
                let index = self
                    .body
                    .get(4..8)
                    .map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
                let named = self.body.windows(NAME.len()).any(|bytes| bytes == NAME);
                let known = index == INDEX || index == 0 && named;
                let asks = self.body.len() >= IFINFO && (index != 0 || self.body.len() > IFINFO);
                return vec![match known {
                    _ if !asks => self.error(port, Some(Errno::EINVAL)),
                    true => self.message(RTM_NEWLINK, 0, port, &link(loopback.up)),
                    false => self.error(port, Some(Errno::ENODEV)),
                }];
            }
            RTM_GETADDR if dump => (RTM_NEWADDR, addresses(family, loopback)),
            RTM_GETROUTE if dump && !loopback.up => (RTM_NEWROUTE, Vec::new()),
            RTM_GETROUTE if dump => (RTM_NEWROUTE, routes(family)),
            RTM_GETRULE if dump => (RTM_NEWRULE, rules(family)),
            RTM_GETROUTE if !dump => return vec![self.error(port, Some(Errno::ENETUNREACH))],
            // Kinds come in fours: new, delete, get, set. Only questions are for everybody.
            kind if kind & 3 != 2 => return vec![self.error(port, Some(Errno::EPERM))],
            _ if dump => (self.kind, Vec::new()),
            _ => return vec![self.error(port, Some(Errno::EOPNOTSUPP))],
        };
        self.datagrams(kind, port, &objects)
    }

    /// Tells if all objects are asked for.
    pub(super) fn is_dump(&self) -> bool {
        self.flags & NLM_F_DUMP != 0
    }

    /// Tells if it is one of the changes of the interface that can be made.
    fn changes_loopback(&self) -> bool {
        matches!(self.kind, RTM_NEWLINK | RTM_SETLINK | RTM_NEWADDR)
    }

    /// The datagrams that say how a change went.
    fn confirmation(&self, port: u32, result: Result<(), Errno>) -> Vec<Vec<u8>> {
        match result {
            Ok(()) if self.flags & NLM_F_ACK == 0 => Vec::new(),
            result => vec![self.error(port, result.err())],
        }
    }

    /// The datagrams with objects of the kind that was asked for, or with an error.
    fn listing(&self, port: u32, objects: Result<Vec<Vec<u8>>, Errno>) -> Vec<Vec<u8>> {
        match objects {
            Ok(objects) => self.datagrams(self.kind, port, &objects),
            Err(errno) => vec![self.error(port, Some(errno))],
        }
    }

    /// Datagrams with objects, as many in each as fit into a page or two, and the end of them.
    fn datagrams(&self, kind: u16, port: u32, objects: &[Vec<u8>]) -> Vec<Vec<u8>> {
        /// Bytes of a datagram, NLMSG_GOODSIZE.
        const ROOM: usize = 3776;
        let mut datagrams: Vec<Vec<u8>> = Vec::new();
        for object in objects {
            let message = self.message(kind, NLM_F_MULTI, port, object);
            match datagrams.last_mut() {
                Some(last) if last.len() + message.len() <= ROOM => last.extend(message),
                _ => datagrams.push(message),
            }
        }
        datagrams.push(self.message(NLMSG_DONE, NLM_F_MULTI, port, &[0; 4]));
        datagrams
    }
}
