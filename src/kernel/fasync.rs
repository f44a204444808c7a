//! Descriptions that send a signal when something becomes ready, fcntl(2) O_ASYNC, and the signals
//! that are still to be sent.

use std::collections::BTreeMap;

use crate::abi::fs::*;
use crate::kernel::fdtable::FileNo;

/// Reason of a signal, as `si_code` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// POLL_IN.
    In,
    /// POLL_OUT.
    Out,
    /// POLL_MSG: a lease is to be given back.
    Message,
    /// POLL_HUP: the other side of a socket is closed.
    HangUp,
}

impl Reason {
    /// `si_code` and `si_band`.
    pub(crate) fn code_and_band(self) -> (i32, u16) {
        match self {
            Reason::In => (1, POLLIN | POLLRDNORM),
            Reason::Out => (2, POLLOUT | POLLWRNORM | POLLWRBAND),
            Reason::Message => (3, POLLIN | POLLRDNORM | POLLMSG),
            Reason::HangUp => (6, POLLHUP | POLLERR),
        }
    }
}

/// Receiver of a description's signals, F_SETOWN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    /// F_OWNER_TID, F_OWNER_PID or F_OWNER_PGRP.
    pub(crate) kind: u32,
    /// Its number; 0 for nobody.
    pub(crate) id: i32,
    /// The signal, F_SETSIG; 0 for SIGIO without further information.
    pub(crate) signo: i32,
    /// Real and effective user of who named the receiver.
    pub(crate) uids: [u32; 2],
}

/// A signal that is still to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) file: FileNo,
    /// The descriptor that asked for it.
    pub(crate) fd: i32,
    pub(crate) reason: Reason,
}

/// Descriptions with O_ASYNC: `K` names what they wait at.
#[derive(Clone, Debug)]
pub(crate) struct Fasync<K> {
    held: BTreeMap<K, BTreeMap<FileNo, (i32, u16)>>,
    notices: Vec<Notice>,
}

impl<K> Default for Fasync<K> {
    fn default() -> Self {
        Fasync { held: BTreeMap::new(), notices: Vec::new() }
    }
}

impl<K: Ord + Copy> Fasync<K> {
    /// Sets O_ASYNC of a description by a descriptor, for some events of poll(2).
    pub(crate) fn add(&mut self, at: K, file: FileNo, fd: i32, events: u16) {
        self.held.entry(at).or_default().insert(file, (fd, events));
    }

    /// Clears O_ASYNC of a description.
    pub(crate) fn remove(&mut self, file: FileNo) {
        self.held.retain(|_, files| {
            files.remove(&file);
            !files.is_empty()
        });
        self.notices.retain(|notice| notice.file != file);
    }

    /// Tells if anybody is to be told of it.
    pub(crate) fn is_asked(&self, at: K) -> bool {
        self.held.contains_key(&at)
    }

    /// Notes the signals for an event.
    pub(crate) fn notify(&mut self, at: K, reason: Reason) {
        let (_, band) = reason.code_and_band();
        for (file, (fd, events)) in self.held.get(&at).into_iter().flatten() {
            if events & band != 0 || reason == Reason::HangUp {
                self.notices.push(Notice { file: *file, fd: *fd, reason });
            }
        }
    }

    /// Notes a signal that no queue asked for.
    pub(crate) fn push(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    /// Takes the signals that are to be sent.
    pub(crate) fn take(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
}
