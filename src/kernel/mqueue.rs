//! POSIX message queues, mq_overview(7): the names, the queues and those who wait at them.
//!
//! A message goes straight to a task that waits for one, and a task that waits for room has its
//! message put in by who makes the room; so nobody else comes between.

use std::collections::{BTreeMap, VecDeque};

use crate::abi::capability::{CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_SYS_RESOURCE};
use crate::abi::errno::Errno;
use crate::abi::fs::{POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM};
use crate::abi::mqueue::*;
use crate::kernel::arena::TaskId;
use crate::kernel::cred::Credentials;
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::sock::SockId;
use crate::kernel::vfs::time::{Time, Times};
use crate::kernel::wait_queue::{QueueId, WaitQueues};

/// Bytes that a message takes beside its text, `struct msg_msg`, and a priority, `struct
/// posix_msg_tree_node`.
const MESSAGE: u64 = 48;

/// Key of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MqueueId(u32);

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) priority: u32,
    pub(crate) text: Vec<u8>,
}

/// Kind of a notification, mq_notify(3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notify {
    /// SIGEV_NONE.
    Nothing,
    /// SIGEV_SIGNAL: the signal and its value.
    Signal(i32, u64),
    /// SIGEV_THREAD: what a netlink socket gets, for a thread of the C library.
    Socket(SockId, [u8; NOTIFY_COOKIE]),
}

/// A process that is to be told of a message.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    pub(crate) pid: i32,
    /// Its descriptor table, with whose descriptors the registration goes.
    pub(crate) table: u32,
    pub(crate) notify: Notify,
}

/// Attributes with which a queue is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Most messages.
    pub(crate) messages: i64,
    /// Most bytes of one.
    pub(crate) size: i64,
}

impl Default for Capacity {
    fn default() -> Capacity {
        Capacity { messages: MSG_DEFAULT, size: MSGSIZE_DEFAULT }
    }
}

impl Capacity {
    /// Bytes that a queue is charged with to RLIMIT_MSGQUEUE; EINVAL beyond the limits.
    fn bytes(self, cred: &Credentials) -> Result<u64, Errno> {
        let most = match cred.capable(CAP_SYS_RESOURCE) {
            true => (HARD_MSG_MAX, HARD_MSGSIZE_MAX),
            false => (MSG_MAX, MSGSIZE_MAX),
        };
        if !(1..=most.0).contains(&self.messages) || !(1..=most.1).contains(&self.size) {
            return Err(Errno::EINVAL);
        }
        let (messages, size) = (self.messages as u64, self.size as u64);
        Ok(messages * size + messages * MESSAGE + messages.min(u64::from(MQ_PRIO_MAX)) * MESSAGE)
    }
}

/// A queue.
#[derive(Clone, Debug)]
pub(crate) struct Mqueue {
    pub(crate) capacity: Capacity,
    /// Messages by falling priority, and of one priority in the order in which they came.
    messages: VecDeque<Message>,
    /// Bytes of all texts.
    pub(crate) bytes: u64,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) number: u64,
    pub(crate) times: Times,
    pub(crate) registration: Option<Registration>,
    /// Queue of those who poll.
    pub(crate) queue: QueueId,
    receivers: Vec<TaskId>,
    senders: VecDeque<(TaskId, Message)>,
    /// Open descriptions.
    opens: u32,
    linked: bool,
    /// Real user who made it, and the bytes that count against that user's limit.
    charged: (u32, u64),
}

impl Mqueue {
    /// Number of messages.
    pub(crate) fn len(&self) -> i64 {
        self.messages.len() as i64
    }

    /// Tells if it has a name.
    pub(crate) fn is_linked(&self) -> bool {
        self.linked
    }

    fn is_full(&self) -> bool {
        self.len() >= self.capacity.messages
    }

    /// Events of poll(2) that are ready.
    pub(crate) fn ready(&self) -> u16 {
        let readable = if self.messages.is_empty() { 0 } else { POLLIN | POLLRDNORM };
        let writable = if self.is_full() { 0 } else { POLLOUT | POLLWRNORM };
        readable | writable
    }

    fn insert(&mut self, message: Message) {
        let at = self.messages.partition_point(|held| held.priority >= message.priority);
        self.bytes += message.text.len() as u64;
        self.messages.insert(at, message);
    }

    /// Checks that a task may open the queue, for bits like those of a mode; EACCES.
    fn may(&self, cred: &Credentials, wanted: u32) -> Result<(), Errno> {
        let granted = match () {
            () if cred.uid.fs == self.uid => self.mode >> 6,
            () if cred.in_group(self.gid) => self.mode >> 3,
            () => self.mode,
        };
        let denied = wanted & !granted & 7 != 0;
        if denied && !cred.capable(CAP_DAC_OVERRIDE) { Err(Errno::EACCES) } else { Ok(()) }
    }
}

/// Result of a send that did not have to wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The message is in the queue, which was empty before: whom to tell.
    Queued(Option<(i32, Notify)>),
    /// A task that waited has it.
    Handed(TaskId),
    /// There is no room.
    Full,
}

/// End of a call that slept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// mq_timedsend(2) has sent.
    Sent,
    /// mq_timedreceive(2) has got a message.
    Received(Message),
}

/// Arguments of mq_open(2).
pub(crate) struct Opening<'a> {
    /// The IPC namespace.
    pub(crate) namespace: NsId,
    pub(crate) name: &'a [u8],
    /// Bits of the access that is asked for: 4 to receive, 2 to send.
    pub(crate) access: u32,
    /// O_CREAT with its mode and attributes.
    pub(crate) create: Option<(u32, Option<Capacity>)>,
    /// O_EXCL.
    pub(crate) exclusive: bool,
    /// RLIMIT_MSGQUEUE.
    pub(crate) limit: u64,
    pub(crate) now: Time,
}

/// Every queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mqueues {
    /// Names in the IPC namespaces.
    names: BTreeMap<(NsId, Vec<u8>), MqueueId>,
    held: BTreeMap<MqueueId, Mqueue>,
    last: u32,
    ended: BTreeMap<TaskId, Ended>,
    /// Bytes of all texts in queues.
    bytes: u64,
    /// All messages, those too that wait for room.
    messages: u64,
    /// Bytes of all names.
    name_bytes: u64,
}

impl Mqueues {
    /// Bytes that the queues take.
    pub(crate) fn charged(&self) -> u64 {
        let queues = (self.held.len() * size_of::<Mqueue>()) as u64;
        self.bytes + self.messages * MESSAGE + queues + self.name_bytes
    }

    pub(crate) fn get(&self, id: MqueueId) -> Option<&Mqueue> {
        self.held.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: MqueueId) -> Option<&mut Mqueue> {
        self.held.get_mut(&id)
    }

    /// Opens a queue, or makes it, for one more description.
    ///
    /// # Errors
    /// ENOENT, EEXIST, EACCES, ENOSPC, EINVAL, EMFILE.
    pub(crate) fn open(
        &mut self,
        opening: &Opening,
        cred: &Credentials,
        queues: &mut WaitQueues,
        number: u64,
    ) -> Result<MqueueId, Errno> {
        let name = (opening.namespace, opening.name.to_vec());
        if let Some(id) = self.names.get(&name).copied() {
            let queue = self.held.get_mut(&id).ok_or(Errno::ENOENT)?;
            if opening.create.is_some() && opening.exclusive {
                return Err(Errno::EEXIST);
            }
            if opening.access == 0 {
                return Err(Errno::EINVAL);
            }
            queue.may(cred, opening.access)?;
            queue.opens += 1;
            return Ok(id);
        }
        let (mode, capacity) = opening.create.ok_or(Errno::ENOENT)?;
        if self.held.len() >= QUEUES_MAX && !cred.capable(CAP_SYS_RESOURCE) {
            return Err(Errno::ENOSPC);
        }
        let capacity = capacity.unwrap_or_default();
        let bytes = capacity.bytes(cred)?;
        let user = cred.uid.real;
        let used = self.held.values().map(|queue| queue.charged).filter(|(of, _)| *of == user);
        let used: u64 = used.map(|(_, bytes)| bytes).sum();
        if used.saturating_add(bytes) > opening.limit {
            return Err(Errno::EMFILE);
        }
        self.last += 1;
        let id = MqueueId(self.last);
        let queue = Mqueue {
            capacity,
            messages: VecDeque::new(),
            bytes: 0,
            mode,
            uid: cred.uid.fs,
            gid: cred.gid.fs,
            number,
            times: Times::all(opening.now),
            registration: None,
            queue: queues.add(),
            receivers: Vec::new(),
            senders: VecDeque::new(),
            opens: 1,
            linked: true,
            charged: (user, bytes),
        };
        self.held.insert(id, queue);
        self.name_bytes += name.1.len() as u64;
        self.names.insert(name, id);
        Ok(id)
    }

    /// Takes a name away, mq_unlink(2): ENOENT; EPERM for another user's, as in a directory with
    /// the sticky bit.
    pub(crate) fn unlink(&mut self, namespace: NsId, name: &[u8], cred: &Credentials) -> Result<(), Errno> {
        let name = (namespace, name.to_vec());
        let id = *self.names.get(&name).ok_or(Errno::ENOENT)?;
        let queue = self.held.get_mut(&id).ok_or(Errno::ENOENT)?;
        if cred.uid.fs != queue.uid && !cred.capable(CAP_FOWNER) {
            return Err(Errno::EPERM);
        }
        queue.linked = false;
        self.name_bytes -= name.1.len() as u64;
        self.names.remove(&name);
        self.collect(id);
        Ok(())
    }

    /// Takes the names of an IPC namespace away, which is gone.
    pub(crate) fn leave(&mut self, namespace: NsId) {
        let gone: Vec<_> = self.names.keys().filter(|(of, _)| *of == namespace).cloned().collect();
        for name in gone {
            let Some(id) = self.names.remove(&name) else { continue };
            self.name_bytes -= name.1.len() as u64;
            if let Some(queue) = self.held.get_mut(&id) {
                queue.linked = false;
            }
            self.collect(id);
        }
    }

    /// Takes note that a description is gone.
    pub(crate) fn close(&mut self, id: MqueueId) {
        if let Some(queue) = self.held.get_mut(&id) {
            queue.opens = queue.opens.saturating_sub(1);
        }
        self.collect(id);
    }

    /// Removes a queue without a name that nobody has open.
    fn collect(&mut self, id: MqueueId) {
        if self.held.get(&id).is_some_and(|queue| queue.opens == 0 && !queue.linked)
            && let Some(queue) = self.held.remove(&id)
        {
            self.bytes -= queue.bytes;
            self.messages -= (queue.messages.len() + queue.senders.len()) as u64;
        }
    }

    /// Sends a message.
    pub(crate) fn send(
        &mut self,
        id: MqueueId,
        message: Message,
        now: Time,
        queues: &mut WaitQueues,
    ) -> Result<Sent, Errno> {
        let queue = self.held.get_mut(&id).ok_or(Errno::EBADF)?;
        if queue.is_full() {
            return Ok(Sent::Full);
        }
        queue.times = Times::all(now);
        if !queue.receivers.is_empty() {
            let task = queue.receivers.remove(0);
            self.ended.insert(task, Ended::Received(message));
            return Ok(Sent::Handed(task));
        }
        self.bytes += message.text.len() as u64;
        self.messages += 1;
        queue.insert(message);
        queues.wake(queue.queue, POLLIN | POLLRDNORM);
        let told = if queue.len() == 1 { queue.registration.take() } else { None };
        Ok(Sent::Queued(told.map(|told| (told.pid, told.notify))))
    }

    /// Takes the message that is next. The first task that waits for room has its own put in, and
    /// is to be woken.
    pub(crate) fn receive(
        &mut self,
        id: MqueueId,
        now: Time,
        queues: &mut WaitQueues,
    ) -> Result<Option<(Message, Option<TaskId>)>, Errno> {
        let queue = self.held.get_mut(&id).ok_or(Errno::EBADF)?;
        let Some(message) = queue.messages.pop_front() else { return Ok(None) };
        queue.times = Times::all(now);
        queue.bytes -= message.text.len() as u64;
        self.bytes -= message.text.len() as u64;
        self.messages -= 1;
        let woken = queue.senders.pop_front().map(|(task, message)| {
            self.bytes += message.text.len() as u64;
            queue.insert(message);
            self.ended.insert(task, Ended::Sent);
            task
        });
        if woken.is_none() {
            queues.wake(queue.queue, POLLOUT | POLLWRNORM);
        }
        Ok(Some((message, woken)))
    }

    /// Adds a task to those that wait for a message, unless it is there.
    pub(crate) fn wait_for_message(&mut self, id: MqueueId, task: TaskId) {
        if let Some(queue) = self.held.get_mut(&id)
            && !queue.receivers.contains(&task)
        {
            queue.receivers.push(task);
        }
    }

    /// Adds a task to those that wait for room, with its message.
    pub(crate) fn wait_for_room(&mut self, id: MqueueId, task: TaskId, message: Message) {
        if let Some(queue) = self.held.get_mut(&id) {
            queue.senders.push_back((task, message));
            self.messages += 1;
        }
    }

    /// Tells if a task waits at a queue.
    pub(crate) fn is_waiting(&self, id: MqueueId, task: TaskId) -> bool {
        let at = |queue: &Mqueue| {
            queue.receivers.contains(&task) || queue.senders.iter().any(|(sender, _)| *sender == task)
        };
        self.held.get(&id).is_some_and(at)
    }

    /// Takes the end of the call that a task has slept in.
    pub(crate) fn take_ended(&mut self, task: TaskId) -> Option<Ended> {
        self.ended.remove(&task)
    }

    /// Forgets a task whose call is over.
    pub(crate) fn forget(&mut self, id: MqueueId, task: TaskId) {
        self.ended.remove(&task);
        if let Some(queue) = self.held.get_mut(&id) {
            queue.receivers.retain(|waiting| *waiting != task);
            let before = queue.senders.len();
            queue.senders.retain(|(waiting, _)| *waiting != task);
            self.messages -= (before - queue.senders.len()) as u64;
        }
    }

    /// Takes the registration away that was made with a descriptor table, one of whose descriptors
    /// of the queue is closed, `mqueue_flush_file`. What a socket is to be told is returned.
    pub(crate) fn flush(&mut self, id: MqueueId, table: u32) -> Option<Notify> {
        let queue = self.held.get_mut(&id)?;
        queue.registration.take_if(|told| told.table == table).map(|told| told.notify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::cred::User;
    use crate::kernel::namespace::kind::Kind;

    fn message(priority: u32, text: &str) -> Message {
        Message { priority, text: text.into() }
    }

    /// The order of mq_receive(3).
    #[test]
    fn messages_come_by_priority_and_then_by_age() {
        let (mut mqueues, mut queues) = (Mqueues::default(), WaitQueues::default());
        let cred = Credentials::of(User::default());
        let create = Some((0o600, Some(Capacity { messages: 4, size: 8 })));
        let namespace = Kind::Ipc.first();
        let opening = Opening {
            namespace,
            name: b"q",
            access: 6,
            create,
            exclusive: true,
            limit: 819_200,
            now: Time::default(),
        };
        let id = mqueues.open(&opening, &cred, &mut queues, 7).expect("a queue");
        assert_eq!(mqueues.open(&opening, &cred, &mut queues, 8), Err(Errno::EEXIST));
        for (priority, text) in [(1, "b"), (2, "a"), (1, "c"), (0, "d")] {
            let sent = mqueues.send(id, message(priority, text), Time::default(), &mut queues);
            assert_eq!(sent, Ok(Sent::Queued(None)));
        }
        let full = mqueues.send(id, message(0, "e"), Time::default(), &mut queues);
        assert_eq!(full, Ok(Sent::Full));
        let mut order = Vec::new();
        while let Ok(Some((message, None))) = mqueues.receive(id, Time::default(), &mut queues) {
            order.extend(message.text);
        }
        assert_eq!(order, b"abcd");
        assert_eq!((mqueues.bytes, mqueues.messages, mqueues.name_bytes), (0, 0, 1));
        mqueues.unlink(namespace, b"q", &cred).expect("a name");
        assert!(mqueues.get(id).is_some());
        mqueues.close(id);
        assert!(mqueues.get(id).is_none() && mqueues.charged() == 0);
    }
}
