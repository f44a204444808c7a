//! Pseudo-terminals, pty(7): pairs of a master and a slave with a line discipline between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::signal::signo::SIGWINCH;
use crate::kernel::cred::Credentials;
use crate::kernel::vfs::n_tty::LineDiscipline;
use crate::kernel::vfs::termios::Termios;
use crate::kernel::wait_queue::QueueId;

/// Number of the first pair: `/dev/pts/0` is the terminal of the standard streams.
const FIRST: u32 = 1;
/// Most pairs at a time.
const MOST: usize = 256;

/// A pair.
#[derive(Clone, Debug)]
pub(crate) struct Pty {
    pub(crate) tty: LineDiscipline,
    /// `struct winsize`.
    pub(crate) winsize: [u8; 8],
    /// TIOCSPTLCK: the slave cannot be opened.
    pub(crate) locked: bool,
    /// TIOCEXCL of the master and of the slave: nobody else may open it.
    pub(crate) exclusive: [bool; 2],
    /// TIOCSLCKTRMIOS: the modes that stay as they are.
    pub(crate) locked_modes: Termios,
    /// Session whose controlling terminal it is; 0 for none.
    pub(crate) session: i32,
    /// Process group in its foreground; 0 for none.
    pub(crate) foreground: i32,
    pub(crate) masters: u32,
    pub(crate) slaves: u32,
    /// The slave was open.
    pub(crate) was_open: bool,
    /// Queues of those who wait at the master and at the slave.
    pub(crate) queues: (QueueId, QueueId),
}

impl Pty {
    fn new(queues: (QueueId, QueueId)) -> Pty {
        Pty {
            tty: LineDiscipline::new(),
            winsize: [0; 8],
            locked: true,
            exclusive: [false; 2],
            locked_modes: Termios::default(),
            session: 0,
            foreground: 0,
            masters: 0,
            slaves: 0,
            was_open: false,
            queues,
        }
    }

    /// Sets its modes.
    pub(crate) fn set_modes(&mut self, modes: Termios) {
        let modes = modes.of_pty(&self.tty.termios, &self.locked_modes);
        self.tty.set_termios(modes);
    }

    /// Checks that its slave may be opened by somebody else; EBUSY.
    pub(crate) fn may_open(&self, cred: &Credentials) -> Result<(), Errno> {
        if self.exclusive[1] && !cred.capable(CAP_SYS_ADMIN) { Err(Errno::EBUSY) } else { Ok(()) }
    }

    /// Sets its size, TIOCSWINSZ: the foreground is told if it changes.
    pub(crate) fn set_winsize(&mut self, winsize: [u8; 8]) {
        if self.winsize != winsize {
            self.winsize = winsize;
            self.signal(SIGWINCH);
        }
    }

    /// Has a signal sent to its foreground.
    pub(crate) fn signal(&mut self, signal: i32) {
        self.tty.signals.push(signal);
    }
}

/// A pair, and the bytes that it took when they were last counted.
#[derive(Clone, Debug)]
struct Held {
    pty: Pty,
    charge: u64,
}

/// Every pair by its number. What was lent to be changed is looked at again when its signals or
/// bytes are next asked for, so that no call looks at them all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ptys {
    held: BTreeMap<u32, Held>,
    /// Sessions that are hung up, and not told yet.
    hung_up: Vec<i32>,
    /// Pairs that may have signals to send.
    signalling: BTreeSet<u32>,
    /// Pairs whose bytes may be others.
    touched: BTreeSet<u32>,
    charged: u64,
}

impl Ptys {
    /// Makes a pair with the lowest free number; `None` if there are too many.
    pub(crate) fn add(&mut self, queues: (QueueId, QueueId)) -> Option<u32> {
        let number = (FIRST..).find(|number| !self.held.contains_key(number))?;
        if self.held.len() >= MOST {
            return None;
        }
        self.held.insert(number, Held { pty: Pty::new(queues), charge: 0 });
        self.touched.insert(number);
        Some(number)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Pty> {
        self.held.get(&number).map(|held| &held.pty)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Pty> {
        let held = self.held.get_mut(&number)?;
        self.signalling.insert(number);
        self.touched.insert(number);
        Some(&mut held.pty)
    }

    /// Takes note that the master of a pair is closed: its session is hung up.
    pub(crate) fn hang_up(&mut self, number: u32) {
        if let Some(Held { pty, .. }) = self.held.get_mut(&number) {
            self.hung_up.extend(Some(std::mem::take(&mut pty.session)).filter(|session| *session != 0));
            pty.foreground = 0;
        }
    }

    /// Takes the signals that are to be sent: the pair and the signal for its foreground, or a
    /// session that is hung up.
    pub(crate) fn take_signals(&mut self) -> Vec<(u32, i32, i32)> {
        let mut signals: Vec<(u32, i32, i32)> =
            self.hung_up.drain(..).map(|session| (0, session, 0)).collect();
        while let Some(number) = self.signalling.pop_first() {
            let Some(Held { pty, .. }) = self.held.get_mut(&number) else { continue };
            signals.extend(pty.tty.signals.drain(..).map(|signo| (number, 0, signo)));
        }
        signals
    }

    /// Drops a pair that nobody holds.
    pub(crate) fn remove(&mut self, number: u32) {
        self.charged -= self.held.remove(&number).map_or(0, |held| held.charge);
    }

    /// Bytes that the pairs take.
    pub(crate) fn charged(&mut self) -> u64 {
        while let Some(number) = self.touched.pop_first() {
            let Some(Held { pty, charge }) = self.held.get_mut(&number) else { continue };
            self.charged -= *charge;
            *charge = (size_of::<Pty>() + pty.tty.bytes()) as u64;
            self.charged += *charge;
        }
        self.charged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::wait_queue::WaitQueues;

    #[test]
    fn numbers_are_used_again_and_are_few() {
        let (mut ptys, mut queues) = (Ptys::default(), WaitQueues::default());
        let mut add = |ptys: &mut Ptys| ptys.add((queues.add(), queues.add()));
        for number in 1..=MOST as u32 {
            assert_eq!(add(&mut ptys), Some(number));
        }
        assert_eq!(add(&mut ptys), None);
        ptys.remove(7);
        assert_eq!(add(&mut ptys), Some(7));
        assert_eq!(ptys.charged(), (MOST * size_of::<Pty>()) as u64);
    }

    #[test]
    fn what_was_changed_is_looked_at_again() {
        let (mut ptys, mut queues) = (Ptys::default(), WaitQueues::default());
        for _ in 0..3 {
            ptys.add((queues.add(), queues.add()));
        }
        let empty = ptys.charged();
        for number in [3, 1] {
            let pty = ptys.get_mut(number).expect("a pair");
            pty.signal(SIGWINCH);
            pty.tty.signals.push(2);
        }
        assert_eq!(ptys.take_signals(), [(1, 0, SIGWINCH), (1, 0, 2), (3, 0, SIGWINCH), (3, 0, 2)]);
        assert_eq!((ptys.take_signals().len(), ptys.charged()), (0, empty));
        ptys.get_mut(2).expect("a pair").session = 9;
        ptys.hang_up(2);
        assert_eq!(ptys.take_signals(), [(0, 9, 0)]);
        (1..=3).for_each(|number| ptys.remove(number));
        assert_eq!(ptys.charged(), 0);
    }
}
