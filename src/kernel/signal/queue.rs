//! Pending signals: one instance of each standard signal, any number of each real-time one.

use std::collections::VecDeque;

use crate::abi::signal::{bit, si_code, signo::*};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::queued::Queued;

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
    /// Each with the user to whose limit it counts.
    infos: VecDeque<(SigInfo, u32)>,
}

impl Queue {
    /// The signals in it; bit 0 is signal 1.
    pub fn set(&self) -> u64 {
        self.set
    }

    /// Bytes that the queue takes.
    pub(in crate::kernel) fn bytes(&self) -> u64 {
        (self.infos.capacity() * size_of::<(SigInfo, u32)>()) as u64
    }

    /// Adds a signal, which counts to the limit of a user. A standard signal that waits already is
    /// not added again, signal(7).
    pub(super) fn push(&mut self, info: SigInfo, user: u32, queued: &mut Queued) {
        let signo = info.signo();
        if signo < SIGRTMIN && self.set & bit(signo) != 0 {
            return;
        }
        self.set |= bit(signo);
        self.infos.push_back((info, user));
        queued.add(user);
    }

    /// Takes the first signal of `wanted`: faults first, then the lowest number, then the oldest.
    pub(super) fn pop(&mut self, wanted: u64, queued: &mut Queued) -> Option<SigInfo> {
        let ready = self.set & wanted;
        let first = if ready & SYNCHRONOUS != 0 { ready & SYNCHRONOUS } else { ready };
        if first == 0 {
            return None;
        }
        let signo = first.trailing_zeros() as i32 + 1;
        let at = self.infos.iter().position(|(info, _)| info.signo() == signo)?;
        let (info, user) = self.infos.remove(at)?;
        queued.take(user);
        // Those before it are others.
        if !self.infos.range(at..).any(|(info, _)| info.signo() == signo) {
            self.set &= !bit(signo);
        }
        Some(info)
    }

    /// The signals that wait, the oldest first.
    pub(crate) fn infos(&self) -> impl Iterator<Item = SigInfo> {
        self.infos.iter().map(|(info, _)| *info)
    }

    /// Drops the signals of a set.
    pub(in crate::kernel) fn remove(&mut self, signals: u64, queued: &mut Queued) {
        if self.set & signals != 0 {
            self.infos.retain(|(info, user)| {
                let stays = bit(info.signo()) & signals == 0;
                if !stays {
                    queued.take(*user);
                }
                stays
            });
            self.set &= !signals;
        }
    }

    /// The waiting signal of a POSIX timer, to count missed expirations on it.
    pub(in crate::kernel) fn timer_mut(&mut self, id: i32) -> Option<&mut SigInfo> {
        let mut infos = self.infos.iter_mut().map(|(info, _)| info);
        infos.find(|info| info.code() == si_code::SI_TIMER && info.pid() == id as u32)
    }
}
