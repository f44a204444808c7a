//! Pending signals: one instance of each standard signal, any number of each real-time one.

use std::collections::VecDeque;

use crate::abi::signal::{bit, si_code, signo::*};
use crate::kernel::limits::SIGPENDING_MAX;
use crate::kernel::signal::info::SigInfo;

/// Signals that the CPU causes; they are taken first.
const SYNCHRONOUS: u64 = 1 << (SIGSEGV - 1)
    | 1 << (SIGBUS - 1)
    | 1 << (SIGILL - 1)
    | 1 << (SIGTRAP - 1)
    | 1 << (SIGFPE - 1)
    | 1 << (SIGSYS - 1);

/// A set of pending signals with what came with each, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    set: u64,
    infos: VecDeque<SigInfo>,
}

impl Queue {
    /// The signals in it; bit 0 is signal 1.
    pub fn set(&self) -> u64 {
        self.set
    }

    /// Bytes that the queue takes.
    pub(in crate::kernel) fn bytes(&self) -> u64 {
        (self.infos.capacity() * size_of::<SigInfo>()) as u64
    }

    /// Number of waiting signals.
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Adds a signal. A standard signal that waits already is not added again, signal(7); past
    /// `SIGPENDING_MAX` signals further ones are dropped.
    pub(super) fn push(&mut self, info: SigInfo) {
        let signo = info.signo();
        if signo < SIGRTMIN && self.set & bit(signo) != 0 || self.infos.len() >= SIGPENDING_MAX {
            return;
        }
        self.set |= bit(signo);
        self.infos.push_back(info);
    }

    /// Takes the first signal of `wanted`: faults first, then the lowest number, then the oldest.
    pub(super) fn pop(&mut self, wanted: u64) -> Option<SigInfo> {
        let ready = self.set & wanted;
        let first = if ready & SYNCHRONOUS != 0 { ready & SYNCHRONOUS } else { ready };
        if first == 0 {
            return None;
        }
        let signo = first.trailing_zeros() as i32 + 1;
        let at = self.infos.iter().position(|info| info.signo() == signo)?;
        let info = self.infos.remove(at);
        if !self.infos.iter().any(|info| info.signo() == signo) {
            self.set &= !bit(signo);
        }
        info
    }

    /// Drops the signals of a set.
    pub(in crate::kernel) fn remove(&mut self, signals: u64) {
        if self.set & signals != 0 {
            self.infos.retain(|info| bit(info.signo()) & signals == 0);
            self.set &= !signals;
        }
    }

    /// The waiting signal of a POSIX timer, to count missed expirations on it.
    pub(in crate::kernel) fn timer_mut(&mut self, id: i32) -> Option<&mut SigInfo> {
        self.infos.iter_mut().find(|info| info.code() == si_code::SI_TIMER && info.pid() == id as u32)
    }
}
