//! What is known of the host's network: the addresses that are open, what has passed to and from
//! them, and the sockets that stand for far ends there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use crate::kernel::config::OutsideHost;
use crate::kernel::net::addr::SockId;

/// State of a socket that stands for a far end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FarEnd {
    pub(super) to: SocketAddr,
    pub(super) connected: bool,
    /// Nothing more will come.
    pub(super) ended: bool,
    /// The far end was told that nothing more is sent.
    pub(super) said_end: bool,
}

/// Counts of what has passed between the machine and an address of the host's network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(super) connections: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// The host's network, as far as it is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    /// Addresses that may be reached, and how they were named.
    open: Vec<(SocketAddr, String)>,
    /// Counts of what has passed, by name.
    traffic: BTreeMap<String, Traffic>,
    /// The sockets that stand for far ends.
    pub(super) ends: BTreeSet<SockId>,
}

impl Outside {
    /// Opens the host's network as far as these say.
    pub(crate) fn new(hosts: &[OutsideHost]) -> Outside {
        let all = hosts.iter().flat_map(|host| host.addresses.iter().map(|at| (*at, host.name.clone())));
        Outside { open: all.collect(), ..Outside::default() }
    }

    /// The address of the host's network that one of the machine's stands for. An interface or flow
    /// that it names has no part in it.
    pub(super) fn find(&self, to: SocketAddr) -> Option<&(SocketAddr, String)> {
        self.open.iter().find(|(open, _)| (open.ip(), open.port()) == (to.ip(), to.port()))
    }

    pub(super) fn traffic(&mut self, to: SocketAddr) -> &mut Traffic {
        let name = self.find(to).map(|(_, name)| name.clone()).unwrap_or_default();
        self.traffic.entry(name).or_default()
    }

    /// The names that were reached out for.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.traffic.keys().map(String::as_str).collect()
    }

    /// Lines of `/etc/hosts` for the names, if there are any.
    pub(crate) fn hosts(&self) -> Option<String> {
        let mut text = String::new();
        for (at, name) in &self.open {
            let host = name.rsplit_once(':').map_or(&**name, |(host, _)| host);
            if !host.starts_with('[') && host.parse::<IpAddr>().is_err() {
                let _ = writeln!(text, "{} {host}", at.ip()); // a string takes all
            }
        }
        Some(text).filter(|text| !text.is_empty())
    }

    /// A line on what has passed, for each name.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(name, Traffic { connections, sent, received }): (&String, &Traffic)| {
            let plural = if *connections == 1 { "" } else { "s" };
            format!(
                "the run had an outside (--allow-net): {connections} connection{plural} to {name}, {sent} bytes \
                 sent and {received} received"
            )
        };
        self.traffic.iter().map(line).collect()
    }
}
