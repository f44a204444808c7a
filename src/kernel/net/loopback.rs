//! The loopback of a network namespace.

/// The loopback of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loopback {
    pub(crate) up: bool,
    /// It has its address of IPv4; the one of IPv6 it has while it is up.
    pub(crate) inet: bool,
}

impl Loopback {
    /// The machine's own.
    pub(crate) const UP: Loopback = Loopback { up: true, inet: true };
    /// That of a new namespace.
    pub(crate) const DOWN: Loopback = Loopback { up: false, inet: false };
}
