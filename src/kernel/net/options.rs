//! Options of sockets that are numbers, setsockopt(2): a row each, with the values that Linux
//! takes. An option is asked for where it matters; one that changes nothing on a loopback is only
//! remembered.

use std::collections::BTreeMap;

use crate::abi::capability::{CAP_NET_ADMIN, CAP_NET_RAW};
use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::cred::Credentials;
use crate::kernel::net::addr::Family;

/// Values that an option takes.
#[derive(Clone, Copy, Debug)]
enum Takes {
    /// 0 and 1; anything else is 1.
    Bool,
    /// These; EINVAL for others.
    Range(i32, i32),
    /// These and -1, which stands for the default.
    RangeOr(i32, i32),
    /// Any number.
    Any,
    /// These without a capability; others need it.
    Free(i32, i32, u64),
    /// None: ENOPROTOOPT.
    Nothing,
}

use Takes::{Any, Bool, Free, Nothing, Range, RangeOr};

/// Sockets that have an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    All,
    Inet,
    Inet6,
    Tcp,
    Udp,
    UdpLite,
}

/// An option: its level and name, who has it, what it is at first, and what it takes.
type Row = (u32, u32, Of, i32, Takes);

const ROWS: &[Row] = &[
    (SOL_SOCKET, 1, Of::All, 0, Free(0, 0, CAP_NET_ADMIN)), // SO_DEBUG
    (SOL_SOCKET, SO_REUSEADDR, Of::All, 0, Bool),
    (SOL_SOCKET, 5, Of::All, 0, Bool), // SO_DONTROUTE
    (SOL_SOCKET, SO_BROADCAST, Of::All, 0, Bool),
    (SOL_SOCKET, SO_KEEPALIVE, Of::All, 0, Bool),
    (SOL_SOCKET, SO_OOBINLINE, Of::All, 0, Bool),
    (SOL_SOCKET, 11, Of::All, 0, Bool),                      // SO_NO_CHECK
    (SOL_SOCKET, 12, Of::All, 0, Free(0, 6, CAP_NET_ADMIN)), // SO_PRIORITY
    (SOL_SOCKET, SO_REUSEPORT, Of::All, 0, Bool),
    (SOL_SOCKET, SO_PASSCRED, Of::All, 0, Bool),
    (SOL_SOCKET, SO_SNDLOWAT, Of::All, 1, Nothing),
    (SOL_SOCKET, SO_TIMESTAMP, Of::All, 0, Bool),
    (SOL_SOCKET, 34, Of::All, 0, Bool), // SO_PASSSEC
    (SOL_SOCKET, SO_TIMESTAMPNS, Of::All, 0, Bool),
    (SOL_SOCKET, 36, Of::All, 0, Free(0, 0, CAP_NET_ADMIN)), // SO_MARK
    (SOL_SOCKET, 40, Of::All, 0, Bool),                      // SO_RXQ_OVFL
    (SOL_SOCKET, 43, Of::All, 0, Bool),                      // SO_NOFCS
    (SOL_SOCKET, 44, Of::All, 0, Bool),                      // SO_LOCK_FILTER
    (SOL_SOCKET, 45, Of::All, 0, Bool),                      // SO_SELECT_ERR_QUEUE
    (SOL_SOCKET, 46, Of::All, 0, Free(0, 0, CAP_NET_ADMIN)), // SO_BUSY_POLL
    (SOL_SOCKET, 47, Of::All, -1, Any),                      // SO_MAX_PACING_RATE
    (SOL_SOCKET, 49, Of::All, 0, Any),                       // SO_INCOMING_CPU
    (SOL_SOCKET, 56, Of::All, 0, Nothing),                   // SO_INCOMING_NAPI_ID
    (SOL_SOCKET, 60, Of::Inet, 0, Bool),                     // SO_ZEROCOPY
    (SOL_SOCKET, 63, Of::All, 0, Bool),                      // SO_TIMESTAMP_NEW
    (SOL_SOCKET, 64, Of::All, 0, Bool),                      // SO_TIMESTAMPNS_NEW
    (IPPROTO_IP, IP_TOS, Of::Inet, 0, Range(0, 255)),
    (IPPROTO_IP, IP_TTL, Of::Inet, 64, RangeOr(1, 255)),
    (IPPROTO_IP, 6, Of::Inet, 0, Bool), // IP_RECVOPTS
    (IPPROTO_IP, 7, Of::Inet, 0, Bool), // IP_RETOPTS
    (IPPROTO_IP, IP_PKTINFO, Of::Inet, 0, Bool),
    (IPPROTO_IP, 10, Of::Inet, 1, Range(0, 5)), // IP_MTU_DISCOVER
    (IPPROTO_IP, IP_RECVERR, Of::Inet, 0, Bool),
    (IPPROTO_IP, IP_RECVTTL, Of::Inet, 0, Bool),
    (IPPROTO_IP, IP_RECVTOS, Of::Inet, 0, Bool),
    (IPPROTO_IP, 15, Of::Inet, 0, Bool),                    // IP_FREEBIND
    (IPPROTO_IP, 18, Of::Inet, 0, Bool),                    // IP_PASSSEC
    (IPPROTO_IP, 19, Of::Inet, 0, Free(0, 0, CAP_NET_RAW)), // IP_TRANSPARENT
    (IPPROTO_IP, 20, Of::Inet, 0, Bool),                    // IP_RECVORIGDSTADDR
    (IPPROTO_IP, 21, Of::Inet, 0, Range(0, 255)),           // IP_MINTTL
    (IPPROTO_IP, 24, Of::Inet, 0, Bool),                    // IP_BIND_ADDRESS_NO_PORT
    (IPPROTO_IP, 33, Of::Inet, 1, RangeOr(0, 255)),         // IP_MULTICAST_TTL
    (IPPROTO_IP, 34, Of::Inet, 1, Bool),                    // IP_MULTICAST_LOOP
    (IPPROTO_IP, 49, Of::Inet, 1, Bool),                    // IP_MULTICAST_ALL
    (IPPROTO_IPV6, IPV6_UNICAST_HOPS, Of::Inet6, 64, RangeOr(0, 255)),
    (IPPROTO_IPV6, 17, Of::Inet6, 0, Any), // IPV6_MULTICAST_IF
    (IPPROTO_IPV6, 18, Of::Inet6, 1, RangeOr(0, 255)), // IPV6_MULTICAST_HOPS
    (IPPROTO_IPV6, 19, Of::Inet6, 1, Range(0, 1)), // IPV6_MULTICAST_LOOP
    (IPPROTO_IPV6, 23, Of::Inet6, 1, Range(0, 5)), // IPV6_MTU_DISCOVER
    (IPPROTO_IPV6, IPV6_RECVERR, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, IPV6_V6ONLY, Of::Inet6, 0, Bool),
    (IPPROTO_IPV6, 29, Of::Inet6, 1, Bool), // IPV6_MULTICAST_ALL
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
    (IPPROTO_IPV6, 70, Of::Inet6, 0, Bool), // IPV6_AUTOFLOWLABEL
    (IPPROTO_IPV6, 72, Of::Inet6, 0, Any),  // IPV6_ADDR_PREFERENCES
    (IPPROTO_IPV6, 78, Of::Inet6, 0, Bool), // IPV6_FREEBIND
    (IPPROTO_TCP, 1, Of::Tcp, 0, Bool),     // TCP_NODELAY
    (IPPROTO_TCP, TCP_MAXSEG, Of::Tcp, 536, Range(88, 32_767)),
    (IPPROTO_TCP, 3, Of::Tcp, 0, Bool),                // TCP_CORK
    (IPPROTO_TCP, 4, Of::Tcp, 7200, Range(1, 32_767)), // TCP_KEEPIDLE
    (IPPROTO_TCP, 5, Of::Tcp, 75, Range(1, 32_767)),   // TCP_KEEPINTVL
    (IPPROTO_TCP, 6, Of::Tcp, 9, Range(1, 127)),       // TCP_KEEPCNT
    (IPPROTO_TCP, 7, Of::Tcp, 6, Range(1, 127)),       // TCP_SYNCNT
    (IPPROTO_TCP, 8, Of::Tcp, 60, Any),                // TCP_LINGER2
    (IPPROTO_TCP, TCP_DEFER_ACCEPT, Of::Tcp, 0, Any),
    (IPPROTO_TCP, 10, Of::Tcp, 0, Any),                // TCP_WINDOW_CLAMP
    (IPPROTO_TCP, 12, Of::Tcp, 1, Any),                // TCP_QUICKACK
    (IPPROTO_TCP, 16, Of::Tcp, 0, Bool),               // TCP_THIN_LINEAR_TIMEOUTS
    (IPPROTO_TCP, 18, Of::Tcp, 0, Range(0, i32::MAX)), // TCP_USER_TIMEOUT
    (IPPROTO_TCP, 23, Of::Tcp, 0, Range(0, i32::MAX)), // TCP_FASTOPEN
    (IPPROTO_TCP, 24, Of::Tcp, 0, Any),                // TCP_TIMESTAMP
    (IPPROTO_TCP, 25, Of::Tcp, 0, Any),                // TCP_NOTSENT_LOWAT
    (IPPROTO_TCP, 30, Of::Tcp, 0, Bool),               // TCP_FASTOPEN_CONNECT
    (IPPROTO_TCP, 36, Of::Tcp, 0, Range(0, 1)),        // TCP_INQ
    (IPPROTO_UDPLITE, 10, Of::UdpLite, 0, Range(0, 65_535)), // UDPLITE_SEND_CSCOV
    (IPPROTO_UDPLITE, 11, Of::UdpLite, 0, Range(0, 65_535)), // UDPLITE_RECV_CSCOV
    (IPPROTO_UDP, 1, Of::Udp, 0, Bool),                // UDP_CORK
    (IPPROTO_UDP, 101, Of::Udp, 0, Bool),              // UDP_NO_CHECK6_TX
    (IPPROTO_UDP, 102, Of::Udp, 0, Bool),              // UDP_NO_CHECK6_RX
    (IPPROTO_UDP, 103, Of::Udp, 0, Range(0, 65_535)),  // UDP_SEGMENT
    (IPPROTO_UDP, 104, Of::Udp, 0, Bool),              // UDP_GRO
];

/// The numbers that are not as at first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options(BTreeMap<(u32, u32), i32>);

/// The row of an option, if such a socket has it.
fn find(family: Family, stream: bool, level: u32, name: u32) -> Option<&'static Row> {
    let has = |of: Of| match of {
        Of::All => true,
        Of::Inet => family.is_inet(),
        Of::Inet6 => family == Family::Inet6,
        Of::Tcp => family.is_inet() && stream,
        Of::Udp | Of::UdpLite => family.is_inet() && !stream,
    };
    ROWS.iter().find(|row| (row.0, row.1) == (level, name) && has(row.2))
}

impl Options {
    /// An option's number, if such a socket has it.
    pub(crate) fn get(&self, family: Family, stream: bool, level: u32, name: u32) -> Option<i32> {
        let row = find(family, stream, level, name)?;
        Some(self.0.get(&(level, name)).copied().unwrap_or(row.3))
    }

    /// Tells if an option is on.
    pub(crate) fn is_on(&self, level: u32, name: u32) -> bool {
        self.0.get(&(level, name)).is_some_and(|value| *value != 0)
    }

    /// A number that was set.
    pub(crate) fn number(&self, level: u32, name: u32) -> Option<i32> {
        self.0.get(&(level, name)).copied()
    }

    /// Sets an option; ENOPROTOOPT, EINVAL, EPERM.
    pub(crate) fn set(
        &mut self,
        (family, stream): (Family, bool),
        (level, name): (u32, u32),
        value: i32,
        cred: &Credentials,
    ) -> Result<(), Errno> {
        let row = find(family, stream, level, name).ok_or(Errno::ENOPROTOOPT)?;
        let value = match row.4 {
            Bool => i32::from(value != 0),
            Range(least, most) | RangeOr(least, most) if (least..=most).contains(&value) => value,
            RangeOr(..) if value == -1 => row.3,
            Range(..) | RangeOr(..) => return Err(Errno::EINVAL),
            Any => value,
            Free(least, most, capability) => {
                if !(least..=most).contains(&value) {
                    cred.require(capability)?;
                }
                value
            }
            Nothing => return Err(Errno::ENOPROTOOPT),
        };
        self.0.insert((level, name), value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::cred::User;

    #[test]
    fn options_take_what_linux_takes() {
        let mut options = Options::default();
        let user = Credentials::of(User { uid: 1000, gid: 1000 });
        let mut set = |family, level, name, value| options.set((family, true), (level, name), value, &user);
        assert_eq!(set(Family::Unix, SOL_SOCKET, SO_REUSEADDR, 7), Ok(()));
        assert_eq!(set(Family::Unix, IPPROTO_TCP, 1, 1), Err(Errno::ENOPROTOOPT));
        assert_eq!(set(Family::Inet, IPPROTO_TCP, 4, 40_000), Err(Errno::EINVAL));
        assert_eq!(set(Family::Inet, IPPROTO_IP, IP_TTL, -1), Ok(()));
        assert_eq!(set(Family::Inet, SOL_SOCKET, 12, 7), Err(Errno::EPERM));
        assert_eq!(options.get(Family::Unix, true, SOL_SOCKET, SO_REUSEADDR), Some(1));
        assert_eq!(options.get(Family::Inet, true, IPPROTO_TCP, 4), Some(7200));
        assert_eq!(options.get(Family::Inet, false, IPPROTO_TCP, 4), None);
    }
}
