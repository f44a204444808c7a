//! The words of switches.

use clap::ValueEnum;

/// `yes` or `no`, the only words Cachegrind's switches take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    /// On.
    Yes,
    /// Off.
    No,
}

impl Switch {
    /// True for `yes`.
    pub(super) fn on(self) -> bool {
        self == Switch::Yes
    }
}
