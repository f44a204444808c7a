//! The run's side of its control: a thread takes orders from the socket, and the run obeys them
//! between two blocks.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use signal_hook::consts::SIGTERM;

use super::place::Place;
use crate::profile::grouped;
use crate::session::{DumpedPart, PAUSE, Session, Whose};

/// Order to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Status,
    Stacks,
    Events,
    Dump,
    Zero,
    /// Counting on or off.
    Count(bool),
    Kill,
}

impl Order {
    /// The orders, each with its word on the socket.
    const WORDS: [(&'static str, Order); 8] = [
        ("status", Order::Status),
        ("stacks", Order::Stacks),
        ("events", Order::Events),
        ("dump", Order::Dump),
        ("zero", Order::Zero),
        ("on", Order::Count(true)),
        ("off", Order::Count(false)),
        ("kill", Order::Kill),
    ];

    /// The word on the socket.
    pub(super) fn word(self) -> &'static str {
        Order::WORDS.iter().find(|(_, order)| *order == self).map_or("", |(word, _)| word)
    }

    fn of(line: &str) -> Option<Order> {
        Order::WORDS.iter().find(|(word, _)| *word == line).map(|(_, order)| *order)
    }
}

/// The text that answers an order, or the reason why it is not obeyed.
type Answer = Result<String, String>;

/// Writes a part that was dumped on the way, if it has a file of its own, and gives back where.
pub(in crate::cli) type WriteDump<'a> = dyn Fn(&DumpedPart) -> Result<Option<PathBuf>, String> + 'a;

/// Most orders that wait.
const MOST_WAITING: usize = 64;

/// Bytes of the longest line that is read.
const LONGEST: usize = 64;

/// Time that one end waits for the other to take or give a piece.
const PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// Time until the next try where the host has no descriptor for a connection.
const PAUSE_BETWEEN: Duration = Duration::from_millis(100);

/// Orders, each with the one who gets the answer.
type Orders = VecDeque<(Order, Sender<Answer>)>;

/// Orders that the run has not obeyed yet; `None` when it has ended.
#[derive(Debug)]
struct Waiting(Mutex<Option<Orders>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Option<Orders>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The socket of a run; dropping this removes it.
pub(in crate::cli) struct Server {
    place: Place,
    listener: Option<UnixListener>,
    waiting: Arc<Waiting>,
}

impl Server {
    /// Makes the socket.
    ///
    /// # Errors
    /// The directory is not the user's alone, or the host makes none.
    pub(in crate::cli) fn listen() -> Result<Server, String> {
        let place = Place::make()?;
        let listener = place.listen().map_err(|error| format!("cannot make the socket: {error}"))?;
        let waiting = Arc::new(Waiting(Mutex::new(Some(VecDeque::new()))));
        Ok(Server { place, listener: Some(listener), waiting })
    }

    /// The directory, where the wall lets the socket be removed.
    pub(in crate::cli) fn directory(&self) -> BorrowedFd<'_> {
        self.place.fd()
    }

    /// Takes orders from here on, on a thread of its own, and asks for a pause for each by
    /// `interrupt`.
    ///
    /// # Errors
    /// The host has no thread left.
    pub(in crate::cli) fn start(&mut self, interrupt: &Arc<AtomicUsize>) -> std::io::Result<()> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let (waiting, interrupt) = (Arc::clone(&self.waiting), Arc::clone(interrupt));
        let work = move || {
            for connection in listener.incoming() {
                match connection {
                    // One that breaks is the other end's affair.
                    Ok(connection) => drop(serve(connection, &waiting, &interrupt)),
                    Err(_) => std::thread::sleep(PAUSE_BETWEEN),
                }
            }
        };
        std::thread::Builder::new().name("control".to_owned()).spawn(work).map(drop)
    }

    /// Obeys the orders that wait; `write` writes a part that is dumped, if it has a file of its
    /// own, and gives back where.
    pub(in crate::cli) fn obey(&self, session: &mut Session, write: &WriteDump<'_>) {
        loop {
            let next = self.waiting.lock().as_mut().and_then(VecDeque::pop_front);
            let Some((order, answer)) = next else { break };
            // Who asked may have gone.
            let _ = answer.send(obey(order, session, write));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Those who wait hear that the run has ended.
        *self.waiting.lock() = None;
        self.place.remove(std::process::id());
    }
}

/// Serves one connection: a line with an order, and the answer.
fn serve(mut connection: UnixStream, waiting: &Waiting, interrupt: &AtomicUsize) -> std::io::Result<()> {
    connection.set_nonblocking(true)?;
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut bytes = [0; LONGEST];
        wait_for(&connection, PollFlags::IN)?;
        match connection.read(&mut bytes)? {
            0 => return Ok(()),
            count => line.extend_from_slice(&bytes[..count]),
        }
        if line.len() > LONGEST {
            return Ok(());
        }
    }
    let order = String::from_utf8_lossy(&line);
    let answer = match Order::of(order.trim_end()) {
        Some(Order::Kill) => {
            let ends = interrupt.swap(SIGTERM.unsigned_abs() as usize, Relaxed);
            let again = ends != 0 && ends != PAUSE;
            Ok(if again { "ends already\n" } else { "ends\n" }.to_owned())
        }
        Some(order) => ask(order, waiting, interrupt),
        None => Err("no such order".to_owned()),
    };
    let text = match answer {
        Ok(text) => format!("ok\n{text}"),
        Err(why) => format!("no\n{why}\n"),
    };
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        wait_for(&connection, PollFlags::OUT)?;
        let written = connection.write(rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Has the run obey an order, and waits for that.
fn ask(order: Order, waiting: &Waiting, interrupt: &AtomicUsize) -> Answer {
    const ENDED: &str = "the run has ended";
    let (answer, answered) = channel();
    match &mut *waiting.lock() {
        None => return Err(ENDED.to_owned()),
        Some(orders) if orders.len() >= MOST_WAITING => return Err("too many orders wait".to_owned()),
        Some(orders) => orders.push_back((order, answer)),
    }
    // A signal that ends the run goes before.
    let _ = interrupt.compare_exchange(0, PAUSE, Relaxed, Relaxed);
    answered.recv().unwrap_or_else(|_| Err(ENDED.to_owned()))
}

fn wait_for(connection: &UnixStream, what: PollFlags) -> std::io::Result<()> {
    match poll(&mut [PollFd::new(connection, what)], Some(&PATIENCE))? {
        0 => Err(std::io::ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

fn obey(order: Order, session: &mut Session, write: &WriteDump<'_>) -> Answer {
    match order {
        Order::Status => Ok(status(session)),
        Order::Stacks => stacks(session),
        Order::Events => Ok(events(session)),
        Order::Dump if session.config().counting.children.threads => {
            Err("threads are not dumped on the way; start the run without --separate-threads=yes".to_owned())
        }
        Order::Dump => dump(session, write),
        Order::Zero => {
            session.zero(Whose::All);
            Ok("all counts are zero\n".to_owned())
        }
        Order::Count(on) => {
            session.set_counting_of_all(on);
            Ok(format!("counting is {}\n", if on { "on" } else { "off" }))
        }
        Order::Kill => Err("the run ends".to_owned()),
    }
}

/// Dumps the call graphs of all processes, and says where they are.
fn dump(session: &mut Session, write: &WriteDump<'_>) -> Answer {
    let children = session.config().counting.children;
    let Some(parts) = session.dump() else {
        return Err("there is no call graph to dump; start the run with --callgraph=yes".to_owned());
    };
    // Parts of several processes in one series have their numbers at the end.
    let alone = !children.merged || session.counted().count() == 1;
    let mut text = String::new();
    for part in parts.iter().filter(|_| alone) {
        if let Some(path) = write(part)? {
            let _ = writeln!(text, "dumped: {}", path.display());
        }
    }
    if text.is_empty() {
        text = "dumped; what has room is written when the run ends\n".to_owned();
    }
    Ok(text)
}

/// Lines about the run and its processes.
fn status(session: &mut Session) -> String {
    let mut text = format!("{} instructions\n", grouped(session.instructions()));
    let counted: Vec<i32> = session.counted().map(|(pid, _)| pid).collect();
    for process in session.processes() {
        let how = match counted.contains(&process.pid) {
            true if session.counts_now(process.pid) => "counted",
            true => "counting is off",
            false => "not counted",
        };
        let tasks = match process.tasks.len() {
            0 => "ended".to_owned(),
            1 => "1 task".to_owned(),
            more => format!("{more} tasks"),
        };
        let _ = writeln!(
            text,
            "process {} (of {}): {tasks}, {how}, {} instructions: {}",
            process.pid,
            process.ppid,
            grouped(process.instructions),
            process.program
        );
    }
    text
}

/// The calls of each task.
fn stacks(session: &mut Session) -> Answer {
    let mut text = String::new();
    for task in session.tasks() {
        let call = task.call.map(|call| format!(" in {call}")).unwrap_or_default();
        let _ =
            writeln!(text, "task {} of process {}, {}, {}{call}", task.tid, task.pid, task.name, task.state);
        let calls = session.stack_of(task.tid).map_err(|error| error.to_string())?;
        for (at, call) in calls.iter().enumerate() {
            let _ = writeln!(text, "  #{at} {call}");
        }
    }
    Ok(text)
}

/// The counts of each process so far.
fn events(session: &mut Session) -> String {
    let mut text = String::new();
    let all: Vec<(i32, String)> = session
        .counted()
        .map(|(pid, command)| (pid, String::from_utf8_lossy(command).into_owned()))
        .collect();
    let recorded = session.config().counting.events();
    for (pid, command) in all {
        let costs = session.counts(Whose::Process(pid));
        let counts = recorded.iter().map(|event| format!("{} {}", event.name(), costs[event]));
        let counts: Vec<String> = counts.collect();
        let _ = writeln!(text, "process {pid}: {}: {command}", counts.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_have_words() {
        for (word, order) in Order::WORDS {
            assert_eq!((order.word(), Order::of(word)), (word, Some(order)));
        }
        assert_eq!(Order::of("bogus"), None);
    }
}
