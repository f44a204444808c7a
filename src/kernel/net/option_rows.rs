//! The options of sockets that are numbers: a row each, with its first value and what Linux takes.

use crate::abi::errno::Errno;
use crate::abi::net::*;

/// Capabilities that an option asks for.
///
/// They count over the socket's network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privilege {
    /// CAP_NET_ADMIN.
    Admin,
    /// CAP_NET_RAW.
    Raw,
    /// One of the two.
    Either,
}

/// Values that an option takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// 0 and 1; anything else is 1.
    Bool,
    /// These; EINVAL for others.
    Range(i32, i32),
    /// These and -1, which stands for the first value.
    RangeOr(i32, i32),
    /// Any number.
    Any,
    /// 0 without a privilege; others need it, and are 1.
    BoolFor(Privilege, Errno),
    /// These without a privilege; others need it.
    Free(i32, i32, Privilege),
    /// Any number, with a privilege.
    AnyFor(Privilege),
    /// Any number, which changes nothing.
    Dropped,
    /// None: ENOPROTOOPT.
    Nothing,
    /// None: this error.
    Never(Errno),
    /// None here: EPERM without a privilege, and refused by name with it.
    Refused(Privilege),
}

use Takes::*;

/// Sockets that have an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    All,
    Unix,
    /// Those that credentials come with: of Unix and netlink.
    Local,
    Inet,
    Inet4,
    Inet6,
    Tcp,
    Udp,
    Netlink,
}

/// An option: its level and name, who has it, what it is at first, and what it takes.
pub(super) type Row = (u32, u32, Of, i64, Takes);

/// The numbers 0 and 1; EINVAL for others.
const BIT: Takes = Range(0, 1);

/// SOL_SOCKET.
const SOCKET: &[Row] = &[
    (SOL_SOCKET, 1, Of::All, 0, BoolFor(Privilege::Admin, Errno::EACCES)), // SO_DEBUG
    (SOL_SOCKET, SO_REUSEADDR, Of::All, 0, Bool),
    (SOL_SOCKET, 5, Of::All, 0, Bool), // SO_DONTROUTE
    (SOL_SOCKET, SO_BROADCAST, Of::All, 0, Bool),
    (SOL_SOCKET, SO_KEEPALIVE, Of::All, 0, Bool),
    (SOL_SOCKET, SO_OOBINLINE, Of::All, 0, Bool),
    (SOL_SOCKET, 11, Of::All, 0, Bool), // SO_NO_CHECK
    (SOL_SOCKET, SO_PRIORITY, Of::All, 0, Free(0, 6, Privilege::Either)),
    (SOL_SOCKET, 14, Of::All, 0, Dropped), // SO_BSDCOMPAT
    (SOL_SOCKET, SO_REUSEPORT, Of::All, 0, Bool),
    (SOL_SOCKET, SO_PASSCRED, Of::Local, 0, Bool),
    (SOL_SOCKET, SO_SNDLOWAT, Of::All, 1, Nothing),
    (SOL_SOCKET, SO_TIMESTAMP, Of::All, 0, Bool),
    (SOL_SOCKET, 34, Of::Local, 0, Bool), // SO_PASSSEC
    (SOL_SOCKET, SO_TIMESTAMPNS, Of::All, 0, Bool),
    (SOL_SOCKET, SO_MARK, Of::All, 0, AnyFor(Privilege::Either)),
    (SOL_SOCKET, 40, Of::All, 0, Bool),               // SO_RXQ_OVFL
    (SOL_SOCKET, 41, Of::All, 0, Bool),               // SO_WIFI_STATUS
    (SOL_SOCKET, 43, Of::All, 0, Bool),               // SO_NOFCS
    (SOL_SOCKET, 44, Of::All, 0, Bool),               // SO_LOCK_FILTER
    (SOL_SOCKET, 45, Of::All, 0, Bool),               // SO_SELECT_ERR_QUEUE
    (SOL_SOCKET, 46, Of::All, 0, Range(0, i32::MAX)), // SO_BUSY_POLL
    (SOL_SOCKET, 48, Of::All, 64, Nothing),           // SO_BPF_EXTENSIONS
    (SOL_SOCKET, SO_INCOMING_CPU, Of::All, -1, Any),
    (SOL_SOCKET, 56, Of::All, 0, Nothing), // SO_INCOMING_NAPI_ID
    (SOL_SOCKET, SO_ZEROCOPY, Of::All, 0, BIT),
    (SOL_SOCKET, SO_BINDTOIFINDEX, Of::All, 0, Range(0, i32::MAX)),
    (SOL_SOCKET, SO_TIMESTAMP_NEW, Of::All, 0, Bool),
    (SOL_SOCKET, SO_TIMESTAMPNS_NEW, Of::All, 0, Bool),
    (SOL_SOCKET, 69, Of::All, 0, BoolFor(Privilege::Admin, Errno::EPERM)), // SO_PREFER_BUSY_POLL
    (SOL_SOCKET, 74, Of::Tcp, 1, RangeOr(0, 1)),                           // SO_TXREHASH
    (SOL_SOCKET, SO_RCVMARK, Of::All, 0, Bool),
    (SOL_SOCKET, SO_PASSPIDFD, Of::Unix, 0, Bool),
    (SOL_SOCKET, SO_RCVPRIORITY, Of::All, 0, Bool),
    (SOL_SOCKET, SO_PASSRIGHTS, Of::Unix, 1, Bool),
];

/// IPPROTO_IP.
const IP: &[Row] = &[
    (IPPROTO_IP, IP_TOS, Of::Inet, 0, Any),
    (IPPROTO_IP, IP_TTL, Of::Inet, 64, RangeOr(1, 255)),
    (IPPROTO_IP, 3, Of::Inet, 0, Nothing),              // IP_HDRINCL
    (IPPROTO_IP, 5, Of::Inet, 0, Never(Errno::EINVAL)), // IP_ROUTER_ALERT
    (IPPROTO_IP, 6, Of::Inet, 0, Bool),                 // IP_RECVOPTS
    (IPPROTO_IP, 7, Of::Inet, 0, Bool),                 // IP_RETOPTS
    (IPPROTO_IP, IP_PKTINFO, Of::Inet, 0, Bool),
    (IPPROTO_IP, 10, Of::Inet, 1, Range(0, 5)), // IP_MTU_DISCOVER
    (IPPROTO_IP, IP_RECVERR, Of::Inet, 0, Bool),
    (IPPROTO_IP, IP_RECVTTL, Of::Inet, 0, Bool),
    (IPPROTO_IP, IP_RECVTOS, Of::Inet, 0, Bool),
    (IPPROTO_IP, 15, Of::Inet, 0, Bool), // IP_FREEBIND
    (IPPROTO_IP, 18, Of::Inet, 0, Bool), // IP_PASSSEC
    (IPPROTO_IP, 19, Of::Inet, 0, BoolFor(Privilege::Either, Errno::EPERM)), // IP_TRANSPARENT
    (IPPROTO_IP, IP_RECVORIGDSTADDR, Of::Inet, 0, Bool),
    (IPPROTO_IP, 21, Of::Inet, 0, Range(0, 255)), // IP_MINTTL
    (IPPROTO_IP, 22, Of::Inet, 0, Nothing),       // IP_NODEFRAG
    (IPPROTO_IP, 23, Of::Inet, 0, Bool),          // IP_CHECKSUM
    (IPPROTO_IP, 24, Of::Inet, 0, Bool),          // IP_BIND_ADDRESS_NO_PORT
    (IPPROTO_IP, 25, Of::Inet, 0, Bool),          // IP_RECVFRAGSIZE
    (IPPROTO_IP, 26, Of::Inet, 0, BIT),           // IP_RECVERR_RFC4884
    (IPPROTO_IP, IP_MULTICAST_IF, Of::Inet, 0, Any),
    (IPPROTO_IP, 33, Of::Inet, 1, RangeOr(0, 255)), // IP_MULTICAST_TTL
    (IPPROTO_IP, 34, Of::Inet, 1, Bool),            // IP_MULTICAST_LOOP
    (IPPROTO_IP, 49, Of::Inet4, 1, BIT),            // IP_MULTICAST_ALL
    (IPPROTO_IP, 49, Of::Inet6, 0, BIT),
    (IPPROTO_IP, IP_UNICAST_IF, Of::Inet, 0, Any),
    (IPPROTO_IP, IP_LOCAL_PORT_RANGE, Of::Inet, 0, Any),
];

/// IPPROTO_IPV6.
const IPV6: &[Row] = &[
    (IPPROTO_IPV6, IPV6_2292PKTINFO, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, 3, Of::Inet6, 0, Bool), // IPV6_2292HOPOPTS
    (IPPROTO_IPV6, 4, Of::Inet6, 0, Bool), // IPV6_2292DSTOPTS
    (IPPROTO_IPV6, 5, Of::Inet6, 0, Bool), // IPV6_2292RTHDR
    (IPPROTO_IPV6, IPV6_2292HOPLIMIT, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, IPV6_FLOWINFO, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, IPV6_UNICAST_HOPS, Of::Inet6, 64, RangeOr(0, 255)),
    (IPPROTO_IPV6, IPV6_MULTICAST_IF, Of::Inet6, 0, Any),
    (IPPROTO_IPV6, 18, Of::Inet6, 1, RangeOr(0, 255)), // IPV6_MULTICAST_HOPS
    (IPPROTO_IPV6, 19, Of::Inet6, 1, BIT),             // IPV6_MULTICAST_LOOP
    (IPPROTO_IPV6, 22, Of::Inet6, 0, Nothing),         // IPV6_ROUTER_ALERT
    (IPPROTO_IPV6, 23, Of::Inet6, 1, Range(0, 5)),     // IPV6_MTU_DISCOVER
    (IPPROTO_IPV6, IPV6_RECVERR, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, IPV6_V6ONLY, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, 29, Of::Inet6, 1, Bool), // IPV6_MULTICAST_ALL
    (IPPROTO_IPV6, 30, Of::Inet6, 0, Bool), // IPV6_ROUTER_ALERT_ISOLATE
    (IPPROTO_IPV6, 31, Of::Inet6, 0, BIT),  // IPV6_RECVERR_RFC4884
    (IPPROTO_IPV6, 33, Of::Inet6, 0, Bool), // IPV6_FLOWINFO_SEND
    (IPPROTO_IPV6, IPV6_RECVPKTINFO, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, IPV6_RECVHOPLIMIT, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, 53, Of::Inet6, 0, Bool), // IPV6_RECVHOPOPTS
    (IPPROTO_IPV6, 56, Of::Inet6, 0, Bool), // IPV6_RECVRTHDR
    (IPPROTO_IPV6, 58, Of::Inet6, 0, Bool), // IPV6_RECVDSTOPTS
    (IPPROTO_IPV6, 60, Of::Inet6, 0, Bool), // IPV6_RECVPATHMTU
    (IPPROTO_IPV6, 62, Of::Inet6, 0, Bool), // IPV6_DONTFRAG
    (IPPROTO_IPV6, IPV6_RECVTCLASS, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, IPV6_TCLASS, Of::Inet6, 0, RangeOr(0, 255)),
    (IPPROTO_IPV6, 70, Of::Inet6, 1, Bool), // IPV6_AUTOFLOWLABEL
    (IPPROTO_IPV6, IPV6_ADDR_PREFERENCES, Of::Inet6, 0x500, Any),
    (IPPROTO_IPV6, 73, Of::Inet6, 0, Range(0, 255)), // IPV6_MINHOPCOUNT
    (IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, 75, Of::Inet6, 0, BoolFor(Privilege::Either, Errno::EPERM)), // IPV6_TRANSPARENT
    (IPPROTO_IPV6, IPV6_UNICAST_IF, Of::Inet6, 0, Any),
    (IPPROTO_IPV6, 77, Of::Inet6, 0, Bool), // IPV6_RECVFRAGSIZE
    (IPPROTO_IPV6, 78, Of::Inet6, 0, Bool), // IPV6_FREEBIND
];

/// IPPROTO_TCP.
const TCP: &[Row] = &[
    (IPPROTO_TCP, 1, Of::Tcp, 0, Bool), // TCP_NODELAY
    (IPPROTO_TCP, TCP_MAXSEG, Of::Tcp, 536, Range(88, 32_767)),
    (IPPROTO_TCP, 3, Of::Tcp, 0, Bool),                // TCP_CORK
    (IPPROTO_TCP, 4, Of::Tcp, 7200, Range(1, 32_767)), // TCP_KEEPIDLE
    (IPPROTO_TCP, 5, Of::Tcp, 75, Range(1, 32_767)),   // TCP_KEEPINTVL
    (IPPROTO_TCP, 6, Of::Tcp, 9, Range(1, 127)),       // TCP_KEEPCNT
    (IPPROTO_TCP, 7, Of::Tcp, 6, Range(1, 127)),       // TCP_SYNCNT
    (IPPROTO_TCP, TCP_LINGER2, Of::Tcp, 60, Any),
    (IPPROTO_TCP, TCP_DEFER_ACCEPT, Of::Tcp, 0, Any),
    (IPPROTO_TCP, TCP_WINDOW_CLAMP, Of::Tcp, 0, Any),
    (IPPROTO_TCP, 12, Of::Tcp, 1, Bool), // TCP_QUICKACK
    (IPPROTO_TCP, 16, Of::Tcp, 0, BIT),  // TCP_THIN_LINEAR_TIMEOUTS
    (IPPROTO_TCP, TCP_THIN_DUPACK, Of::Tcp, 0, BIT),
    (IPPROTO_TCP, 18, Of::Tcp, 0, Range(0, i32::MAX)), // TCP_USER_TIMEOUT
    (IPPROTO_TCP, 19, Of::Tcp, 0, Refused(Privilege::Admin)), // TCP_REPAIR
    (IPPROTO_TCP, TCP_FASTOPEN, Of::Tcp, 0, Range(0, i32::MAX)),
    (IPPROTO_TCP, 25, Of::Tcp, 0, Any), // TCP_NOTSENT_LOWAT
    (IPPROTO_TCP, TCP_SAVE_SYN, Of::Tcp, 0, Range(0, 2)),
    (IPPROTO_TCP, TCP_FASTOPEN_CONNECT, Of::Tcp, 0, BIT),
    (IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, Of::Tcp, 0, BIT),
    (IPPROTO_TCP, TCP_INQ, Of::Tcp, 0, BIT),
    (IPPROTO_TCP, 37, Of::Tcp, 0, Range(0, (1 << 28) - 1)), // TCP_TX_DELAY
    (IPPROTO_TCP, 43, Of::Tcp, 0, Nothing),                 // TCP_IS_MPTCP
    (IPPROTO_TCP, 44, Of::Tcp, 120_000, Range(1000, 120_000)), // TCP_RTO_MAX_MS
    (IPPROTO_TCP, TCP_RTO_MIN_US, Of::Tcp, 200_000, Range(4001, 200_000)),
    (IPPROTO_TCP, TCP_DELACK_MAX_US, Of::Tcp, 200_000, Range(4001, 200_000)),
];

/// IPPROTO_UDP, which UDP-Lite has too.
const UDP: &[Row] = &[
    (IPPROTO_UDP, 1, Of::Udp, 0, Bool), // UDP_CORK
    (IPPROTO_UDP, UDPLITE_SEND_CSCOV, Of::Udp, 0, Any),
    (IPPROTO_UDP, UDPLITE_RECV_CSCOV, Of::Udp, 0, Any),
    (IPPROTO_UDP, UDP_ENCAP, Of::Udp, 0, Any),
    (IPPROTO_UDP, 101, Of::Udp, 0, Bool),             // UDP_NO_CHECK6_TX
    (IPPROTO_UDP, 102, Of::Udp, 0, Bool),             // UDP_NO_CHECK6_RX
    (IPPROTO_UDP, 103, Of::Udp, 0, Range(0, 65_535)), // UDP_SEGMENT
    (IPPROTO_UDP, 104, Of::Udp, 0, Bool),             // UDP_GRO
];

/// SOL_NETLINK.
const NETLINK: &[Row] = &[
    (SOL_NETLINK, NETLINK_PKTINFO, Of::Netlink, 0, Bool),
    (SOL_NETLINK, 4, Of::Netlink, 0, Bool), // NETLINK_BROADCAST_ERROR
    (SOL_NETLINK, 5, Of::Netlink, 0, Bool), // NETLINK_NO_ENOBUFS
    (SOL_NETLINK, 8, Of::Netlink, 0, AnyFor(Privilege::Admin)), // NETLINK_LISTEN_ALL_NSID
    (SOL_NETLINK, NETLINK_CAP_ACK, Of::Netlink, 0, Bool),
    (SOL_NETLINK, 11, Of::Netlink, 0, Bool), // NETLINK_EXT_ACK
    (SOL_NETLINK, 12, Of::Netlink, 0, Bool), // NETLINK_GET_STRICT_CHK
];

/// The rows of a level.
pub(super) fn rows(level: u32) -> &'static [Row] {
    match level {
        SOL_SOCKET => SOCKET,
        IPPROTO_IP => IP,
        IPPROTO_IPV6 => IPV6,
        IPPROTO_TCP => TCP,
        IPPROTO_UDP => UDP,
        SOL_NETLINK => NETLINK,
        _ => &[],
    }
}
