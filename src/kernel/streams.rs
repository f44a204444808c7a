//! The host's standard streams and network: the one place where bytes from outside the emulated
//! machine come in, and leave it, while it runs. The host's answers can be kept in a journal, from
//! which they are given again after the run went back.

use std::cell::Cell;
use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::{FileType, OFlags, SeekFrom, Stat};

use crate::abi::errno::Errno;
use crate::kernel::config::{KernelConfig, TerminalObserver};
use crate::kernel::host_network::{Errand, HostSockets, Report};

/// Interval at which a request to end is seen while the guest waits for input.
const SLICE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Time for which the host's network is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    None,
    /// So many nanoseconds.
    Until(u64),
    Endless,
}

/// An answer of the host.
#[derive(Clone, Debug)]
enum Answer {
    Bytes(Vec<u8>),
    Number(u64),
    Stat(Box<Stat>),
    Network(Box<Report>),
    Failed(Errno),
}

impl Answer {
    /// Bytes that it takes in the journal.
    fn size(&self) -> usize {
        let more = match self {
            Answer::Bytes(bytes) => bytes.len(),
            Answer::Stat(_) => size_of::<Stat>(),
            Answer::Network(report) => report.size(),
            Answer::Number(_) | Answer::Failed(_) => 0,
        };
        size_of::<Answer>() + more
    }
}

/// Answers in the order in which they were given.
#[derive(Debug, Default)]
struct Answers {
    given: Vec<Answer>,
    /// Bytes that they take.
    size: usize,
    /// They took too much, and are not kept any more.
    full: bool,
}

/// The host's answers that are kept, shared by all copies of the kernel; `at` is the number that
/// this copy has had.
#[derive(Clone, Debug, Default)]
struct Journal {
    answers: Arc<Mutex<Answers>>,
    at: Cell<usize>,
}

/// Most that the journal takes, in bytes.
pub(crate) const JOURNAL: usize = 256 << 20;

/// Bytes that a pipe takes without waiting when it says that it takes any (pipe(7), PIPE_BUF).
const PIECE: usize = 4096;

/// Fate of a call that is about to reach the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// It reaches the host.
    Free,
    /// It is given up, so that the session can look first, and will be made again.
    Held,
    /// The session has looked; the next call reaches the host.
    Released,
    /// The session has looked, and the call has reached the host.
    Used,
}

/// The streams 0, 1 and 2.
#[derive(Clone, Debug)]
pub struct Streams {
    /// File that the guest reads instead of the host's standard input.
    input: Option<Arc<File>>,
    journal: Option<Journal>,
    interrupt: Arc<AtomicUsize>,
    front: Option<Arc<dyn TerminalObserver>>,
    /// Tells if calls wait for the session before they reach the host.
    hold: Cell<Hold>,
    /// A call was given up because the user asked for something: it answers EINTR and counts as not
    /// made.
    given_up: Cell<bool>,
    /// Bytes of a write that has been given up which the host has taken: those of the first call
    /// that no copy of the kernel has made.
    taken: Arc<AtomicUsize>,
    /// Sockets of the host, shared by all copies of the kernel: they are as the last call left them
    /// that no copy has made before.
    sockets: Arc<Mutex<HostSockets>>,
    /// The guest asked for something else than when the journal was written.
    astray: Cell<bool>,
}

impl Journal {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an answer, unless there are too many.
    fn note(&self, answer: &Answer) {
        let mut answers = self.answers();
        if answers.full {
            return;
        }
        answers.size = answers.size.saturating_add(answer.size());
        if answers.size > JOURNAL {
            *answers = Answers { full: true, ..Answers::default() };
        } else {
            answers.given.push(answer.clone());
            self.at.update(|at| at + 1);
        }
    }
}

impl Streams {
    /// The host's streams.
    pub(crate) fn new(config: &KernelConfig) -> Streams {
        Streams {
            input: config.input.clone(),
            journal: config.journal.then(Journal::default),
            interrupt: Arc::clone(&config.interrupt),
            front: config.front.clone(),
            hold: Cell::new(Hold::Free),
            given_up: Cell::new(false),
            taken: Arc::default(),
            sockets: Arc::default(),
            astray: Cell::new(false),
        }
    }

    fn fd(&self, stream: u8) -> BorrowedFd<'_> {
        match (stream, &self.input) {
            (0, Some(file)) => file.as_fd(),
            (0, None) => rustix::stdio::stdin(),
            (1, _) => rustix::stdio::stdout(),
            _ => rustix::stdio::stderr(),
        }
    }

    /// Tells, once, if the call that has just been served was given up.
    pub fn take_given_up(&self) -> bool {
        if self.hold.get() == Hold::Used {
            self.hold.set(Hold::Held);
        }
        self.given_up.take()
    }

    /// Tells if the user asks for something, for which a call that does much may be broken off.
    pub(crate) fn is_asked(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed) != 0
    }

    /// Tells if the call at work was given up.
    pub(crate) fn has_given_up(&self) -> bool {
        self.given_up.get()
    }

    /// Sets if the session wants to look before anything reaches the host.
    pub fn hold(&self, hold: bool) {
        match (hold, self.hold.get()) {
            (false, _) => self.hold.set(Hold::Free),
            (true, Hold::Free) => self.hold.set(Hold::Held),
            (true, _) => {}
        }
    }

    /// Tells if a call was given up because the session wants to look.
    pub fn is_held(&self) -> bool {
        self.hold.get() == Hold::Released
    }

    /// Tells if the run no longer does what it did the first time.
    pub fn is_astray(&self) -> bool {
        self.astray.get()
    }

    /// Tells if too much has come from the host to be kept: the run cannot repeat itself.
    pub fn is_forgotten(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.answers().full)
    }

    /// The answer of the journal, if the run has been here before; else that of `ask`, which is
    /// noted.
    fn answer(&self, ask: impl FnOnce() -> Result<Answer, Errno>) -> Answer {
        if let Some(journal) = &self.journal
            && let Some(answer) = journal.answers().given.get(journal.at.get())
        {
            journal.at.update(|at| at + 1);
            return answer.clone();
        }
        match self.hold.get() {
            Hold::Held => {
                self.hold.set(Hold::Released);
                self.given_up.set(true);
                return Answer::Failed(Errno::EINTR);
            }
            Hold::Released => self.hold.set(Hold::Used),
            Hold::Free | Hold::Used => {}
        }
        let answer = ask().unwrap_or_else(Answer::Failed);
        if let Some(journal) = &self.journal
            && !self.given_up.get()
        {
            journal.note(&answer);
        }
        answer
    }

    fn number(&self, ask: impl FnOnce() -> Result<u64, Errno>) -> Result<u64, Errno> {
        match self.answer(|| ask().map(Answer::Number)) {
            Answer::Number(number) => Ok(number),
            Answer::Failed(errno) => Err(errno),
            _ => Err(self.lost()),
        }
    }

    /// Does something that is seen outside though it is no call of the guest's, and not again after
    /// the run went back. False if it waits for the session, as a call would.
    pub fn outside(&self, act: impl FnOnce()) -> bool {
        let told = self.number(|| {
            act();
            Ok(0)
        });
        told.is_ok() || !self.given_up.get()
    }

    fn lost(&self) -> Errno {
        self.astray.set(true);
        Errno::EIO
    }

    /// Tells if the stream is a terminal. Does not change while a program runs.
    pub(crate) fn is_terminal(&self, stream: u8) -> bool {
        rustix::termios::isatty(self.fd(stream))
    }

    /// Tells if the stream has a position. Does not change while a program runs.
    pub(crate) fn has_position(&self, stream: u8) -> bool {
        rustix::fs::tell(self.fd(stream)).is_ok()
    }

    /// Attributes of the stream, fstat(2).
    pub(crate) fn stat(&self, stream: u8) -> Result<Stat, Errno> {
        match self.answer(|| Ok(Answer::Stat(Box::new(rustix::fs::fstat(self.fd(stream))?)))) {
            Answer::Stat(stat) => Ok(*stat),
            Answer::Failed(errno) => Err(errno),
            _ => Err(self.lost()),
        }
    }

    /// Reads the next bytes, or those at `at`; waits for them. EINTR when the user asks for
    /// something meanwhile.
    pub(crate) fn read(&self, stream: u8, at: Option<u64>, buf: &mut [u8]) -> Result<usize, Errno> {
        let len = buf.len();
        let answer = self.answer(|| {
            if let Some(front) = &self.front {
                front.reading(stream);
            }
            let fd = self.fd(stream);
            let typed = self.front.as_ref().filter(|_| self.is_typed(stream) && at.is_none());
            if let Some(bytes) = typed.and_then(|front| front.take_typed(len)) {
                return Ok(Answer::Bytes(bytes));
            }
            self.wait_for(fd, PollFlags::IN)?;
            let mut bytes = vec![0; len];
            let count = match at {
                Some(at) => rustix::io::pread(fd, &mut bytes, at)?,
                None => rustix::io::read(fd, &mut bytes)?,
            };
            bytes.truncate(count);
            Ok(Answer::Bytes(bytes))
        });
        match answer {
            Answer::Bytes(bytes) => match buf.get_mut(..bytes.len()) {
                Some(buf) => {
                    buf.copy_from_slice(&bytes);
                    Ok(bytes.len())
                }
                None => Err(self.lost()),
            },
            Answer::Failed(errno) => Err(errno),
            _ => Err(self.lost()),
        }
    }

    /// True for the host's standard input, where the user types.
    fn is_typed(&self, stream: u8) -> bool {
        stream == 0 && self.input.is_none()
    }

    /// Bytes at standard input that the observer has.
    fn typed(&self, stream: u8) -> usize {
        self.front.as_ref().filter(|_| self.is_typed(stream)).map_or(0, |front| front.typed())
    }

    /// Waits until something can be read or written, or the user asks for something: EINTR. For
    /// what is not open for it there is no waiting, which would never end: the operation fails.
    fn wait_for(&self, fd: BorrowedFd<'_>, what: PollFlags) -> Result<PollFlags, Errno> {
        let wrong = if what == PollFlags::IN { OFlags::WRONLY } else { OFlags::RDONLY };
        if rustix::fs::fcntl_getfl(fd)? & OFlags::RWMODE == wrong {
            return Ok(PollFlags::empty());
        }
        loop {
            let mut fds = [PollFd::new(&fd, what)];
            match poll(&mut fds, Some(&SLICE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(fds[0].revents()),
                Err(errno) => return Err(errno.into()),
            }
            if self.is_asked() {
                self.given_up.set(true);
                return Err(Errno::EINTR);
            }
        }
    }

    /// Writes all of `bytes`, or as many as can be; not again what was written before the run went
    /// back.
    pub(crate) fn write(&self, stream: u8, at: Option<u64>, bytes: &[u8]) -> Result<usize, Errno> {
        let written = self.number(|| {
            if let Some(front) = &self.front {
                front.writing(stream, bytes);
            }
            let fd = self.fd(stream);
            // What may wait is given only what it takes at once, or nothing could stop the wait.
            let whole = at.is_some() || FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode).is_file();
            let mut done = self.taken.swap(0, Ordering::Relaxed).min(bytes.len());
            while done < bytes.len() {
                if !whole && let Err(errno) = self.wait_for(fd, PollFlags::OUT) {
                    self.taken.store(done, Ordering::Relaxed);
                    return Err(errno);
                }
                let end = if whole { bytes.len() } else { bytes.len().min(done + PIECE) };
                let rest = &bytes[done..end];
                let result = match at {
                    Some(at) => rustix::io::pwrite(fd, rest, at + done as u64),
                    None => rustix::io::write(fd, rest),
                };
                match result {
                    Ok(count) => done += count,
                    // Another took the room meanwhile.
                    Err(rustix::io::Errno::AGAIN) => {}
                    Err(_) if done > 0 => break,
                    Err(errno) => return Err(errno.into()),
                }
            }
            Ok(done as u64)
        })?;
        Ok(written as usize)
    }

    /// Readiness of standard input: bytes to read (IN), and its end (HUP). A terminal is asked as
    /// it is, unless the guest would `wait` for it; a pipe or a file is always waited for, so that
    /// the host's timing stays out.
    pub(crate) fn ready(&self, wait: bool) -> Result<(bool, bool), Errno> {
        let bits = self.number(|| {
            if self.typed(0) > 0 {
                return Ok(1);
            }
            let fd = self.fd(0);
            let found = if self.is_terminal(0) && !wait {
                let mut fds = [PollFd::new(&fd, PollFlags::IN)];
                poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
                fds[0].revents()
            } else {
                self.wait_for(fd, PollFlags::IN)?
            };
            Ok(u64::from(found.contains(PollFlags::IN)) | u64::from(found.contains(PollFlags::HUP)) << 1)
        })?;
        Ok((bits & 1 != 0, bits & 2 != 0))
    }

    /// Readiness of standard input as it is now, for a run that does not keep the host's timing out
    /// since it has connections there.
    pub(crate) fn ready_now(&self) -> Result<(bool, bool), Errno> {
        let bits = self.number(|| {
            if self.typed(0) > 0 {
                return Ok(1);
            }
            let fd = self.fd(0);
            let mut fds = [PollFd::new(&fd, PollFlags::IN)];
            poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
            let found = fds[0].revents();
            Ok(u64::from(found.contains(PollFlags::IN)) | u64::from(found.contains(PollFlags::HUP)) << 1)
        })?;
        Ok((bits & 1 != 0, bits & 2 != 0))
    }

    /// Gives the host what connections want of its network, and takes what has come; waits for that
    /// as long as `patience` says, and for standard input too if `input` is set. EINTR when the
    /// user asks for something meanwhile.
    pub(crate) fn ask_network(
        &self,
        errands: &[Errand],
        patience: Patience,
        input: bool,
    ) -> Result<Report, Errno> {
        match self.answer(|| Ok(Answer::Network(Box::new(self.visit_network(errands, patience, input)?)))) {
            Answer::Network(report) => Ok(*report),
            Answer::Failed(errno) => Err(errno),
            _ => Err(self.lost()),
        }
    }

    fn visit_network(&self, errands: &[Errand], patience: Patience, input: bool) -> Result<Report, Errno> {
        let mut sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let mut report = Report { news: sockets.open(errands), ..Report::default() };
        let most = match patience {
            Patience::None => Duration::ZERO,
            Patience::Until(ns) => Duration::from_nanos(ns),
            Patience::Endless => Duration::MAX,
        };
        report.input = input && self.typed(0) > 0;
        let stdin = self.fd(0);
        let mut fds = sockets.interests(errands);
        fds.extend(input.then(|| PollFd::new(&stdin, PollFlags::IN)));
        let done = errands.iter().any(Errand::is_last);
        while report.news.is_empty() && !report.input && !done {
            let left = most.saturating_sub(begun.elapsed());
            let slice = Timespec { tv_sec: 0, tv_nsec: left.as_nanos().min(SLICE.tv_nsec as u128) as i64 };
            match poll(&mut fds, Some(&slice)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break,
                Err(errno) => return Err(errno.into()),
            }
            if left.is_zero() {
                break;
            }
            if self.is_asked() {
                self.given_up.set(true);
                return Err(Errno::EINTR);
            }
        }
        report.input |= input && fds.last().is_some_and(|fd| !fd.revents().is_empty());
        drop(fds);
        report.news.extend(sockets.go(errands));
        report.waited = begun.elapsed().as_nanos() as u64;
        if patience == Patience::None {
            report.waited = 0;
        }
        Ok(report)
    }

    /// Bytes that a read would find.
    pub(crate) fn readable_bytes(&self, stream: u8) -> Result<u64, Errno> {
        self.number(|| Ok(rustix::io::ioctl_fionread(self.fd(stream))? + self.typed(stream) as u64))
    }

    /// Bytes between the end of a file and the place of the next write, or that at `at`: 0 where it
    /// is no file, and where all goes to the end.
    pub(crate) fn hole_before(&self, stream: u8, at: Option<u64>) -> Result<u64, Errno> {
        self.number(|| {
            let fd = self.fd(stream);
            let stat = rustix::fs::fstat(fd)?;
            let appends = || rustix::fs::fcntl_getfl(fd).is_ok_and(|flags| flags.contains(OFlags::APPEND));
            if !FileType::from_raw_mode(stat.st_mode).is_file() || appends() {
                return Ok(0);
            }
            let place = match at {
                Some(at) => at,
                None => rustix::fs::seek(fd, SeekFrom::Current(0))?,
            };
            Ok(place.saturating_sub(u64::try_from(stat.st_size).unwrap_or(0)))
        })
    }

    /// lseek(2).
    pub(crate) fn seek(&self, stream: u8, to: SeekFrom) -> Result<u64, Errno> {
        self.number(|| Ok(rustix::fs::seek(self.fd(stream), to)?))
    }
}
