//! Options of sockets, setsockopt(2): what they are, and what is remembered of them. An option is
//! asked for where it matters; one that changes nothing on a loopback is only remembered.

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::kernel::net::addr::Family;
pub(crate) use crate::kernel::net::option_rows::Privilege;
use crate::kernel::net::option_rows::{Of, Row, Takes, rows};

/// Privileges of a caller.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Privileges {
    /// CAP_NET_ADMIN and CAP_NET_RAW over the socket's network namespace.
    pub(crate) admin: bool,
    pub(crate) raw: bool,
}

impl Privileges {
    fn has(self, privilege: Privilege) -> bool {
        match privilege {
            Privilege::Admin => self.admin,
            Privilege::Raw => self.raw,
            Privilege::Either => self.admin || self.raw,
        }
    }

    /// EPERM without a privilege.
    pub(crate) fn require(self, privilege: Privilege) -> Result<(), Errno> {
        if self.has(privilege) { Ok(()) } else { Err(Errno::EPERM) }
    }
}

/// The options that are not as at first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    numbers: BTreeMap<(u32, u32), i64>,
    /// Options that are bytes.
    bytes: BTreeMap<(u32, u32), Vec<u8>>,
}

impl Options {
    /// Those that an accepted Unix socket has of the one that listened: what comes with messages.
    pub(crate) fn passing(&self) -> Options {
        const SO_PASSSEC: u32 = 34;
        let passes = |(level, name): &(u32, u32)| {
            *level == SOL_SOCKET && matches!(*name, SO_PASSCRED | SO_PASSPIDFD | SO_PASSRIGHTS | SO_PASSSEC)
        };
        let numbers = self.numbers.iter().filter(|(key, _)| passes(key)).map(|(key, value)| (*key, *value));
        Options { numbers: numbers.collect(), bytes: BTreeMap::new() }
    }
}

/// The row of an option; ENOPROTOOPT or EOPNOTSUPP if such a socket does not have it.
fn find((family, stream): (Family, bool), level: u32, name: u32) -> Result<&'static Row, Errno> {
    let has = |of: Of| match of {
        Of::All => true,
        Of::Unix => family == Family::Unix,
        Of::Local => !family.is_inet(),
        Of::Inet => family.is_inet(),
        Of::Inet4 => family == Family::Inet,
        Of::Inet6 => family == Family::Inet6,
        Of::Tcp => family.is_inet() && stream,
        Of::Udp => family.is_inet() && !stream,
        Of::Netlink => family == Family::Netlink,
    };
    let mut named = rows(level).iter().filter(|row| row.1 == name).peekable();
    let lacks = match (level, named.peek()) {
        (SOL_SOCKET, Some(_)) => Errno::EOPNOTSUPP,
        _ => Errno::ENOPROTOOPT,
    };
    named.find(|row| has(row.2)).ok_or(lacks)
}

/// Tells if an option is one that is refused by name.
pub(crate) fn is_refused(level: u32, name: u32) -> bool {
    rows(level).iter().any(|row| row.1 == name && matches!(row.4, Takes::Refused(_)))
}

impl Options {
    /// An option's number; ENOPROTOOPT or EOPNOTSUPP if such a socket does not have it.
    pub(crate) fn get(&self, of: (Family, bool), level: u32, name: u32) -> Result<i64, Errno> {
        let row = find(of, level, name)?;
        Ok(self.numbers.get(&(level, name)).copied().unwrap_or(row.3))
    }

    /// Tells if an option is on.
    pub(crate) fn is_on(&self, level: u32, name: u32) -> bool {
        self.numbers.get(&(level, name)).is_some_and(|value| *value != 0)
    }

    /// A number that was set.
    pub(crate) fn number(&self, level: u32, name: u32) -> Option<i64> {
        self.numbers.get(&(level, name)).copied()
    }

    /// Sets a number that was looked at before.
    pub(crate) fn put(&mut self, level: u32, name: u32, value: i64) {
        self.numbers.insert((level, name), value);
    }

    /// Bytes that were set; none at first.
    pub(crate) fn bytes(&self, level: u32, name: u32) -> Vec<u8> {
        self.bytes.get(&(level, name)).cloned().unwrap_or_default()
    }

    /// Sets bytes that were looked at before.
    pub(crate) fn put_bytes(&mut self, level: u32, name: u32, bytes: Vec<u8>) {
        self.bytes.insert((level, name), bytes);
    }

    /// Sets an option to a number; ENOPROTOOPT, EINVAL, EPERM and what else its row says.
    pub(crate) fn set(
        &mut self,
        of: (Family, bool),
        (level, name): (u32, u32),
        value: i32,
        may: Privileges,
    ) -> Result<(), Errno> {
        /// Kinds of time stamps, of which a socket has one.
        const STAMPS: [u32; 4] = [SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW];
        let row = find(of, level, name)?;
        let number = i64::from(value);
        let value = match row.4 {
            Takes::Bool => i64::from(value != 0),
            Takes::Range(least, most) | Takes::RangeOr(least, most) if (least..=most).contains(&value) => {
                number
            }
            Takes::RangeOr(..) if value == -1 => row.3,
            Takes::Range(..) | Takes::RangeOr(..) => return Err(Errno::EINVAL),
            Takes::Any => number,
            Takes::BoolFor(privilege, errno) if value != 0 && !may.has(privilege) => return Err(errno),
            Takes::BoolFor(..) => i64::from(value != 0),
            Takes::Free(least, most, privilege) => {
                if !(least..=most).contains(&value) {
                    may.require(privilege)?;
                }
                number
            }
            Takes::AnyFor(privilege) => {
                may.require(privilege)?;
                number
            }
            Takes::Dropped => return Ok(()),
            Takes::Nothing => return Err(Errno::ENOPROTOOPT),
            Takes::Never(errno) => return Err(errno),
            Takes::Refused(privilege) => {
                may.require(privilege)?;
                return Err(Errno::ENOPROTOOPT);
            }
        };
        if level == SOL_SOCKET && STAMPS.contains(&name) {
            self.numbers.retain(|(level, name), _| *level != SOL_SOCKET || !STAMPS.contains(name));
        }
        self.put(level, name, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_take_what_linux_takes() {
        let mut options = Options::default();
        let user = Privileges::default();
        let mut set = |family, level, name, value| options.set((family, true), (level, name), value, user);
        assert_eq!(set(Family::Unix, SOL_SOCKET, SO_REUSEADDR, 7), Ok(()));
        assert_eq!(set(Family::Unix, IPPROTO_TCP, 1, 1), Err(Errno::ENOPROTOOPT));
        assert_eq!(set(Family::Inet, IPPROTO_TCP, 4, 40_000), Err(Errno::EINVAL));
        assert_eq!(set(Family::Inet, IPPROTO_IP, IP_TTL, -1), Ok(()));
        assert_eq!(set(Family::Inet, SOL_SOCKET, SO_PRIORITY, 7), Err(Errno::EPERM));
        assert_eq!(options.get((Family::Unix, true), SOL_SOCKET, SO_REUSEADDR), Ok(1));
        assert_eq!(options.get((Family::Inet, true), IPPROTO_TCP, 4), Ok(7200));
        assert_eq!(options.get((Family::Inet, false), IPPROTO_TCP, 4), Err(Errno::ENOPROTOOPT));
        assert_eq!(options.get((Family::Inet, false), SOL_SOCKET, SO_PASSCRED), Err(Errno::EOPNOTSUPP));
        assert_eq!(options.get((Family::Inet6, false), IPPROTO_IP, 49), Ok(0));
    }

    /// Each option has one row for each kind of socket, at its own level.
    #[test]
    fn rows_are_one_each() {
        for level in [SOL_SOCKET, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPPROTO_UDP, SOL_NETLINK] {
            let rows = rows(level);
            assert!(rows.iter().all(|row| row.0 == level));
            for (at, row) in rows.iter().enumerate() {
                assert!(
                    rows[..at].iter().all(|other| (other.1, other.2) != (row.1, row.2)),
                    "{level} {}",
                    row.1
                );
            }
        }
    }
}
