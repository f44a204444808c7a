//! Message queues of System V, msgget(2).

use std::collections::VecDeque;

use crate::abi::errno::Errno;
use crate::abi::ipc::{MSG_COPY, MSG_EXCEPT, MSGMNB};
use crate::kernel::arena::TaskId;
use crate::kernel::ipc::ids::Charged;

/// Bytes that a message takes beside its text, `struct msg_msg`.
const MESSAGE: usize = 48;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) kind: i64,
    pub(crate) text: Vec<u8>,
}

/// Messages that a call of msgrcv(2) takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The first one.
    Any,
    /// The first one of this kind.
    Kind(i64),
    /// The first one of another kind, MSG_EXCEPT.
    Except(i64),
    /// The first one of the lowest kind up to this.
    UpTo(i64),
    /// The one at this place, which stays, MSG_COPY.
    Place(i64),
}

impl Wanted {
    /// The messages that `msgtyp` and flags mean.
    pub(crate) fn new(kind: i64, flags: u32) -> Wanted {
        match kind {
            _ if flags & MSG_COPY != 0 => Wanted::Place(kind),
            0 => Wanted::Any,
            kind if kind < 0 => Wanted::UpTo(kind.checked_neg().unwrap_or(i64::MAX)),
            kind if flags & MSG_EXCEPT != 0 => Wanted::Except(kind),
            kind => Wanted::Kind(kind),
        }
    }

    fn takes(self, kind: i64) -> bool {
        match self {
            Wanted::Any | Wanted::Place(_) => true,
            Wanted::Kind(wanted) => kind == wanted,
            Wanted::Except(other) => kind != other,
            Wanted::UpTo(most) => kind <= most,
        }
    }
}

/// A task in msgrcv(2).
#[derive(Clone, Debug)]
struct Receiver {
    task: TaskId,
    pid: i32,
    wanted: Wanted,
    /// Longest text that it takes; none with MSG_NOERROR.
    room: Option<u64>,
}

/// A queue.
#[derive(Clone, Debug)]
pub(crate) struct MsgQueue {
    messages: VecDeque<Message>,
    /// Bytes of all texts, and the most there may be.
    pub(crate) bytes: u64,
    pub(crate) most_bytes: u64,
    /// Moments of the last send, the last receipt and the last change, in seconds.
    pub(crate) sent: i64,
    pub(crate) received: i64,
    pub(crate) changed: i64,
    /// Processes that sent and received last.
    pub(crate) sender: i32,
    pub(crate) receiver: i32,
    receivers: Vec<Receiver>,
}

impl Charged for MsgQueue {
    fn charge(&self) -> u64 {
        self.bytes + (self.messages.len() * MESSAGE + self.receivers.len() * size_of::<Receiver>()) as u64
    }
}

/// The calls that have ended, and what they got.
pub(crate) type Handed = Vec<(TaskId, Result<Message, Errno>)>;

impl MsgQueue {
    pub(crate) fn new(now: i64) -> MsgQueue {
        MsgQueue {
            messages: VecDeque::new(),
            bytes: 0,
            most_bytes: MSGMNB,
            sent: 0,
            received: 0,
            changed: now,
            sender: 0,
            receiver: 0,
            receivers: Vec::new(),
        }
    }

    /// Number of messages.
    pub(crate) fn len(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Tells if a text of so many bytes may be added.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.bytes + bytes <= self.most_bytes && self.len() < self.most_bytes
    }

    /// Adds a message, or hands it to who waits for it. Those in whose room it does not fit, and
    /// who came before, get E2BIG.
    pub(crate) fn send(&mut self, message: Message, pid: i32, now: i64) -> Handed {
        let mut handed = Handed::new();
        (self.sender, self.sent) = (pid, now);
        while let Some(at) = self.receivers.iter().position(|waiting| waiting.wanted.takes(message.kind)) {
            let Receiver { task, pid, room, .. } = self.receivers.remove(at);
            if room.is_some_and(|room| message.text.len() as u64 > room) {
                handed.push((task, Err(Errno::E2BIG)));
                continue;
            }
            (self.receiver, self.received) = (pid, now);
            handed.push((task, Ok(message)));
            return handed;
        }
        self.bytes += message.text.len() as u64;
        self.messages.push_back(message);
        handed
    }

    /// Takes the first message that is wanted; `None` if there is none.
    ///
    /// # Errors
    /// E2BIG where its text is longer than `room`; it stays then.
    pub(crate) fn receive(
        &mut self,
        wanted: Wanted,
        room: Option<u64>,
        pid: i32,
        now: i64,
    ) -> Result<Option<Message>, Errno> {
        let mut kinds = self.messages.iter().map(|message| message.kind).enumerate();
        let at = match wanted {
            Wanted::Place(place) => usize::try_from(place).ok().filter(|at| *at < self.messages.len()),
            Wanted::UpTo(_) => {
                kinds.filter(|(_, kind)| wanted.takes(*kind)).min_by_key(|(_, kind)| *kind).map(|(at, _)| at)
            }
            _ => kinds.find(|(_, kind)| wanted.takes(*kind)).map(|(at, _)| at),
        };
        let Some(at) = at else { return Ok(None) };
        if room.is_some_and(|room| self.messages[at].text.len() as u64 > room) {
            return Err(Errno::E2BIG);
        }
        if let Wanted::Place(_) = wanted {
            return Ok(self.messages.get(at).cloned());
        }
        let message = self.messages.remove(at);
        self.bytes -= message.as_ref().map_or(0, |message| message.text.len() as u64);
        (self.receiver, self.received) = (pid, now);
        Ok(message)
    }

    /// Adds a task to those that wait for a message.
    pub(crate) fn wait(&mut self, task: TaskId, pid: i32, wanted: Wanted, room: Option<u64>) {
        self.receivers.push(Receiver { task, pid, wanted, room });
    }

    /// Tells if a task waits for a message.
    pub(crate) fn has_waiting(&self, task: TaskId) -> bool {
        self.receivers.iter().any(|waiting| waiting.task == task)
    }

    /// Takes a task out that no longer waits.
    pub(crate) fn forget(&mut self, task: TaskId) {
        self.receivers.retain(|waiting| waiting.task != task);
    }

    /// Gives up the queue: all calls of msgrcv(2) end.
    pub(crate) fn end(self) -> Handed {
        self.receivers.into_iter().map(|waiting| (waiting.task, Err(Errno::EIDRM))).collect()
    }
}
