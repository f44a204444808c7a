//! What is left of a connection of TCP whose socket has gone: its addresses, which nobody else may
//! have for a while, tcp(7) TIME_WAIT. As in Linux it outlives the process.

use std::net::SocketAddr;

use crate::abi::net::{TCP_FIN_WAIT2, TCP_TIME_WAIT};
use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::addr::Family;

/// Nanoseconds of TIME_WAIT, TCP_TIMEWAIT_LEN, and of FIN_WAIT2, `tcp_fin_timeout`.
pub(super) const LINGER: u64 = 60 * NSEC_PER_SEC;

/// A connection whose socket has gone.
#[derive(Clone, Debug)]
pub(crate) struct Lingering {
    pub(crate) namespace: NsId,
    pub(crate) family: Family,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// The other side has ended too.
    pub(crate) finished: bool,
    /// SO_REUSEADDR and SO_REUSEPORT of the socket.
    pub(super) reuse: (bool, bool),
    /// Its end in nanoseconds since the program's start, from the end of the call on that made it.
    pub(super) until: Option<u64>,
}

impl Lingering {
    /// Its state as `/proc/net/tcp` numbers it.
    pub(crate) fn state(&self) -> u8 {
        if self.finished { TCP_TIME_WAIT } else { TCP_FIN_WAIT2 }
    }

    /// Nanoseconds that are left of it.
    pub(crate) fn left(&self, now: u64) -> u64 {
        self.until.map_or(LINGER, |until| until.saturating_sub(now))
    }
}
