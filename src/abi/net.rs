//! Numbers and structures of the socket calls: socket(2), unix(7), ip(7), ipv6(7), tcp(7), udp(7),
//! netlink(7).
#![allow(missing_docs)]

pub(crate) const AF_UNSPEC: u16 = 0;
pub(crate) const AF_UNIX: u16 = 1;
pub(crate) const AF_INET: u16 = 2;
pub(crate) const AF_INET6: u16 = 10;
pub(crate) const AF_NETLINK: u16 = 16;
pub(crate) const AF_PACKET: u16 = 17;
/// One more than the highest family.
pub(crate) const AF_MAX: u64 = 46;

pub(crate) const SOCK_STREAM: u32 = 1;
pub(crate) const SOCK_DGRAM: u32 = 2;
pub(crate) const SOCK_RAW: u32 = 3;
pub(crate) const SOCK_SEQPACKET: u32 = 5;
/// One more than the highest type.
pub(crate) const SOCK_MAX: u32 = 11;

pub(crate) const IPPROTO_IP: u32 = 0;
pub(crate) const IPPROTO_ICMP: u32 = 1;
pub(crate) const IPPROTO_TCP: u32 = 6;
pub(crate) const IPPROTO_UDP: u32 = 17;
pub(crate) const IPPROTO_UDPLITE: u32 = 136;
pub(crate) const IPPROTO_IPV6: u32 = 41;
/// One more than the highest protocol of IP.
pub(crate) const IPPROTO_MAX: u32 = 263;

pub(crate) const MSG_OOB: u32 = 1;
pub(crate) const MSG_FASTOPEN: u32 = 0x2000_0000;
pub(crate) const MSG_PEEK: u32 = 2;
pub(crate) const MSG_CTRUNC: u32 = 8;
pub(crate) const MSG_TRUNC: u32 = 0x20;
pub(crate) const MSG_DONTWAIT: u32 = 0x40;
pub(crate) const MSG_WAITALL: u32 = 0x100;
pub(crate) const MSG_ERRQUEUE: u32 = 0x2000;
pub(crate) const MSG_NOSIGNAL: u32 = 0x4000;
pub(crate) const MSG_WAITFORONE: u32 = 0x1_0000;
pub(crate) const MSG_CMSG_CLOEXEC: u32 = 0x4000_0000;
pub(crate) const MSG_CMSG_COMPAT: u32 = 0x8000_0000;

pub(crate) const SHUT_RDWR: u64 = 2;
pub(crate) const SOMAXCONN: usize = 4096;

pub(crate) const SOL_SOCKET: u32 = 1;
pub(crate) const SO_REUSEADDR: u32 = 2;
pub(crate) const SO_TYPE: u32 = 3;
pub(crate) const SO_ERROR: u32 = 4;
pub(crate) const SO_BROADCAST: u32 = 6;
pub(crate) const SO_SNDBUF: u32 = 7;
pub(crate) const SO_RCVBUF: u32 = 8;
pub(crate) const SO_KEEPALIVE: u32 = 9;
pub(crate) const SO_OOBINLINE: u32 = 10;
pub(crate) const SO_PRIORITY: u32 = 12;
pub(crate) const SO_LINGER: u32 = 13;
pub(crate) const SO_REUSEPORT: u32 = 15;
pub(crate) const SO_PASSCRED: u32 = 16;
pub(crate) const SO_PEERCRED: u32 = 17;
pub(crate) const SO_RCVLOWAT: u32 = 18;
pub(crate) const SO_SNDLOWAT: u32 = 19;
pub(crate) const SO_RCVTIMEO: u32 = 20;
pub(crate) const SO_SNDTIMEO: u32 = 21;
pub(crate) const SO_BINDTODEVICE: u32 = 25;
pub(crate) const SO_PEERNAME: u32 = 28;
pub(crate) const SO_TIMESTAMP: u32 = 29;
pub(crate) const SO_ACCEPTCONN: u32 = 30;
pub(crate) const SO_SNDBUFFORCE: u32 = 32;
pub(crate) const SO_RCVBUFFORCE: u32 = 33;
pub(crate) const SO_TIMESTAMPNS: u32 = 35;
pub(crate) const SO_MARK: u32 = 36;
pub(crate) const SO_TIMESTAMPING: u32 = 37;
pub(crate) const SO_PROTOCOL: u32 = 38;
pub(crate) const SO_DOMAIN: u32 = 39;
pub(crate) const SO_PEEK_OFF: u32 = 42;
pub(crate) const SO_INCOMING_CPU: u32 = 49;
pub(crate) const SO_COOKIE: u32 = 57;
pub(crate) const SO_ZEROCOPY: u32 = 60;
pub(crate) const SO_BINDTOIFINDEX: u32 = 62;
pub(crate) const SO_TIMESTAMP_NEW: u32 = 63;
pub(crate) const SO_TIMESTAMPNS_NEW: u32 = 64;
pub(crate) const SO_TIMESTAMPING_NEW: u32 = 65;
pub(crate) const SO_PEERGROUPS: u32 = 59;
pub(crate) const SO_RCVTIMEO_NEW: u32 = 66;
pub(crate) const SO_SNDTIMEO_NEW: u32 = 67;
pub(crate) const SO_RCVMARK: u32 = 75;
pub(crate) const SO_PASSPIDFD: u32 = 76;
pub(crate) const SO_PEERPIDFD: u32 = 77;
pub(crate) const SO_RCVPRIORITY: u32 = 82;
pub(crate) const SO_PASSRIGHTS: u32 = 83;
pub(crate) const SO_INQ: u32 = 84;

pub(crate) const SCM_RIGHTS: u32 = 1;
pub(crate) const SCM_CREDENTIALS: u32 = 2;
pub(crate) const SCM_PIDFD: u32 = 4;
/// Most descriptors of one message.
pub(crate) const SCM_MAX_FD: usize = 253;

pub(crate) const IP_TOS: u32 = 1;
pub(crate) const IP_TTL: u32 = 2;
pub(crate) const IP_PKTINFO: u32 = 8;
pub(crate) const IP_RECVTTL: u32 = 12;
pub(crate) const IP_RECVTOS: u32 = 13;
pub(crate) const IP_RECVORIGDSTADDR: u32 = 20;
pub(crate) const IP_UNICAST_IF: u32 = 50;
pub(crate) const IP_LOCAL_PORT_RANGE: u32 = 51;
pub(crate) const IP_MULTICAST_IF: u32 = 32;
pub(crate) const IP_ADD_MEMBERSHIP: u32 = 35;
pub(crate) const IP_DROP_MEMBERSHIP: u32 = 36;

pub(crate) const IPV6_ADD_MEMBERSHIP: u32 = 20;
pub(crate) const IPV6_DROP_MEMBERSHIP: u32 = 21;
pub(crate) const IPV6_V6ONLY: u32 = 26;
pub(crate) const IPV6_RECVPKTINFO: u32 = 49;
pub(crate) const IP_RECVERR: u32 = 11;
pub(crate) const IPV6_RECVERR: u32 = 25;
/// Origins of an error, `struct sock_extended_err`.
pub(crate) const SO_EE_ORIGIN_ICMP: u8 = 2;
pub(crate) const SO_EE_ORIGIN_ICMP6: u8 = 3;
pub(crate) const IPV6_PKTINFO: u32 = 50;
pub(crate) const IPV6_RECVHOPLIMIT: u32 = 51;
pub(crate) const IPV6_HOPLIMIT: u32 = 52;
pub(crate) const IPV6_UNICAST_HOPS: u32 = 16;
pub(crate) const IPV6_RECVTCLASS: u32 = 66;
pub(crate) const IPV6_TCLASS: u32 = 67;
pub(crate) const IPV6_2292PKTINFO: u32 = 2;
pub(crate) const IPV6_2292HOPLIMIT: u32 = 8;
pub(crate) const IPV6_FLOWINFO: u32 = 11;
pub(crate) const IPV6_MULTICAST_IF: u32 = 17;
pub(crate) const IPV6_ADDR_PREFERENCES: u32 = 72;
pub(crate) const IPV6_RECVORIGDSTADDR: u32 = 74;
pub(crate) const IPV6_UNICAST_IF: u32 = 76;
pub(crate) const UDPLITE_SEND_CSCOV: u32 = 10;
pub(crate) const UDPLITE_RECV_CSCOV: u32 = 11;
pub(crate) const UDP_ENCAP: u32 = 100;

pub(crate) const SOL_NETLINK: u32 = 270;
pub(crate) const NETLINK_PKTINFO: u32 = 3;
pub(crate) const NETLINK_CAP_ACK: u32 = 10;
pub(crate) const NETLINK_ROUTE: u32 = 0;
pub(crate) const NETLINK_KOBJECT_UEVENT: u32 = 15;
pub(crate) const NETLINK_SOCK_DIAG: u32 = 4;

pub(crate) const SOCK_DIAG_BY_FAMILY: u16 = 20;
pub(crate) const INET_DIAG_SHUTDOWN: u16 = 8;
pub(crate) const INET_DIAG_SKV6ONLY: u16 = 11;
pub(crate) const UDIAG_SHOW_NAME: u32 = 1;
pub(crate) const UDIAG_SHOW_PEER: u32 = 4;
pub(crate) const UDIAG_SHOW_ICONS: u32 = 8;
pub(crate) const UDIAG_SHOW_RQLEN: u32 = 16;
pub(crate) const UDIAG_SHOW_UID: u32 = 64;
pub(crate) const UNIX_DIAG_NAME: u16 = 0;
pub(crate) const UNIX_DIAG_PEER: u16 = 2;
pub(crate) const UNIX_DIAG_ICONS: u16 = 3;
pub(crate) const UNIX_DIAG_RQLEN: u16 = 4;
pub(crate) const UNIX_DIAG_SHUTDOWN: u16 = 6;
pub(crate) const UNIX_DIAG_UID: u16 = 7;

/// States of TCP, `include/net/tcp_states.h`.
pub(crate) const TCP_ESTABLISHED: u8 = 1;
pub(crate) const TCP_SYN_SENT: u8 = 2;
pub(crate) const TCP_FIN_WAIT2: u8 = 5;
pub(crate) const TCP_TIME_WAIT: u8 = 6;
pub(crate) const TCP_CLOSE: u8 = 7;
pub(crate) const TCP_CLOSE_WAIT: u8 = 8;
pub(crate) const TCP_LISTEN: u8 = 10;

pub(crate) const NLMSG_ERROR: u16 = 2;
pub(crate) const NLMSG_DONE: u16 = 3;
pub(crate) const NLM_F_MULTI: u16 = 2;
pub(crate) const NLM_F_REQUEST: u16 = 1;
pub(crate) const NLM_F_ACK: u16 = 4;
pub(crate) const NLM_F_CAPPED: u16 = 0x100;
/// NLM_F_ROOT and NLM_F_MATCH: all objects.
pub(crate) const NLM_F_DUMP: u16 = 0x300;
pub(crate) const RTM_BASE: u16 = 16;
pub(crate) const RTM_NEWLINK: u16 = 16;
pub(crate) const RTM_GETLINK: u16 = 18;
pub(crate) const RTM_SETLINK: u16 = 19;
pub(crate) const RTM_NEWADDR: u16 = 20;
pub(crate) const RTM_NEWROUTE: u16 = 24;
pub(crate) const RTM_NEWRULE: u16 = 32;
pub(crate) const RTM_GETRULE: u16 = 34;
pub(crate) const RTM_GETADDR: u16 = 22;
pub(crate) const RTM_GETROUTE: u16 = 26;
pub(crate) const ARPHRD_LOOPBACK: u16 = 772;
/// IFF_UP, IFF_LOOPBACK and IFF_RUNNING, and IFF_LOWER_UP.
pub(crate) const LOOPBACK_FLAGS: u32 = 0x49;
pub(crate) const IFF_UP: u32 = 1;
pub(crate) const IFF_RUNNING: u32 = 0x40;
pub(crate) const IFF_LOWER_UP: u32 = 0x1_0000;

pub(crate) const FIOSETOWN: u64 = 0x8901;
pub(crate) const SIOCSPGRP: u64 = 0x8902;
pub(crate) const FIOGETOWN: u64 = 0x8903;
pub(crate) const SIOCGPGRP: u64 = 0x8904;
pub(crate) const SIOCGIFNAME: u64 = 0x8910;
pub(crate) const SIOCGIFCONF: u64 = 0x8912;
pub(crate) const SIOCGIFFLAGS: u64 = 0x8913;
pub(crate) const SIOCSIFFLAGS: u64 = 0x8914;
pub(crate) const SIOCGSTAMP: u64 = 0x8906;
pub(crate) const SIOCGSTAMPNS: u64 = 0x8907;
pub(crate) const SIOCGIFADDR: u64 = 0x8915;
pub(crate) const SIOCSIFADDR: u64 = 0x8916;
pub(crate) const SIOCGIFDSTADDR: u64 = 0x8917;
pub(crate) const SIOCGIFBRDADDR: u64 = 0x8919;
pub(crate) const SIOCGIFNETMASK: u64 = 0x891b;
pub(crate) const SIOCGIFMETRIC: u64 = 0x891d;
pub(crate) const SIOCGIFMTU: u64 = 0x8921;
pub(crate) const SIOCSIFMTU: u64 = 0x8922;
pub(crate) const SIOCGIFHWADDR: u64 = 0x8927;
pub(crate) const SIOCGIFINDEX: u64 = 0x8933;
pub(crate) const SIOCGIFTXQLEN: u64 = 0x8942;

pub(crate) const TCP_MAXSEG: u32 = 2;
pub(crate) const TCP_LINGER2: u32 = 8;
pub(crate) const TCP_DEFER_ACCEPT: u32 = 9;
pub(crate) const TCP_WINDOW_CLAMP: u32 = 10;
pub(crate) const TCP_INFO: u32 = 11;
pub(crate) const TCP_CONGESTION: u32 = 13;
pub(crate) const TCP_THIN_DUPACK: u32 = 17;
pub(crate) const TCP_FASTOPEN: u32 = 23;
pub(crate) const TCP_SAVE_SYN: u32 = 27;
pub(crate) const TCP_FASTOPEN_CONNECT: u32 = 30;
pub(crate) const TCP_FASTOPEN_KEY: u32 = 33;
pub(crate) const TCP_FASTOPEN_NO_COOKIE: u32 = 34;
pub(crate) const TCP_INQ: u32 = 36;
pub(crate) const TCP_RTO_MIN_US: u32 = 45;
pub(crate) const TCP_DELACK_MAX_US: u32 = 46;

pub(crate) const SIOCATMARK: u64 = 0x8905;
/// SIOCOUTQ of tcp(7) and unix(7).
pub(crate) const SIOCOUTQ: u64 = 0x5411;
