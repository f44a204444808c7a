//! Who is told of changes in the tree: instances of inotify(7), and descriptions with F_NOTIFY of
//! fcntl(2). `fsnotify` says what happens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::POLLIN;
use crate::abi::inotify::*;
use crate::kernel::fasync::{Notice, Reason};
use crate::kernel::fdtable::FileNo;
use crate::kernel::vfs::node::Ino;
use crate::kernel::wait_queue::{QueueId, WaitQueues};

/// Most instances of a user, `/proc/sys/fs/inotify/max_user_instances`.
const MAX_INSTANCES: usize = 128;
/// Most watches of a user, `max_user_watches` there.
const MAX_WATCHES: usize = 65_536;
/// Most events that wait in an instance, `max_queued_events` there.
const MAX_EVENTS: usize = 16_384;
/// Bytes of `struct inotify_event`, and the unit of the name behind it.
const EVENT: usize = 16;

/// An event that waits to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    watch: i32,
    mask: u32,
    cookie: u32,
    name: Option<Arc<[u8]>>,
}

impl Event {
    /// Bytes of the name and its padding.
    fn name_len(&self) -> usize {
        self.name.as_ref().map_or(0, |name| (name.len() + 1).next_multiple_of(EVENT))
    }

    fn put(&self, out: &mut [u8]) {
        let (head, rest) = out.split_at_mut(EVENT);
        let words = [self.watch as u32, self.mask, self.cookie, self.name_len() as u32];
        for (place, word) in head.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        rest.fill(0);
        if let Some(name) = &self.name {
            rest[..name.len()].copy_from_slice(name);
        }
    }

    /// Tells if one event can stand for both.
    fn merges(&self, other: &Event) -> bool {
        let same = (self.watch, self.mask, &self.name) == (other.watch, other.mask, &other.name);
        same && self.mask & IN_IGNORED == 0
    }
}

/// An instance, inotify_init(2).
#[derive(Clone, Debug, Default)]
struct Instance {
    events: VecDeque<Event>,
    /// Inode and mask of each watch.
    watches: BTreeMap<i32, (Ino, u32)>,
    last_watch: i32,
    /// Bytes of the events when they were last counted.
    charge: u64,
}

impl Instance {
    fn push(&mut self, event: Event) {
        let overflow = Event { watch: -1, mask: IN_Q_OVERFLOW, cookie: 0, name: None };
        match self.events.back() {
            Some(last) if last.merges(&event) => {}
            _ if self.events.len() < MAX_EVENTS => self.events.push_back(event),
            _ if self.events.contains(&overflow) => {}
            _ => self.events.push_back(overflow),
        }
    }
}

/// A description with F_NOTIFY.
#[derive(Clone, Copy, Debug)]
struct DirNotify {
    file: FileNo,
    /// The descriptor that asked for it.
    fd: i32,
    /// IN_* and `RENAMED`.
    mask: u32,
    once: bool,
}

/// A rename, for F_NOTIFY; inotify(7) has other words for it.
pub(super) const RENAMED: u32 = 0x1000_0000;

/// An event as it happens at an inode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happening<'a> {
    /// One of IN_*, and IN_ISDIR.
    pub(super) mask: u32,
    /// The name in the directory that it happened to.
    pub(super) name: Option<&'a Arc<[u8]>>,
    pub(super) cookie: u32,
    /// It came through a name that is no longer there.
    pub(super) unlinked: bool,
}

/// Everybody who is told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notify {
    instances: BTreeMap<QueueId, Instance>,
    /// Watches of each inode.
    marks: BTreeMap<Ino, Vec<(QueueId, i32)>>,
    directories: BTreeMap<Ino, Vec<DirNotify>>,
    watches: usize,
    last_cookie: u32,
    /// Instances whose events may be others than when their bytes were counted.
    touched: BTreeSet<QueueId>,
    /// Bytes of all events that were.
    charged: u64,
}

impl Notify {
    /// Tells if nobody is told of anything.
    pub(super) fn is_idle(&self) -> bool {
        self.marks.is_empty() && self.directories.is_empty()
    }

    /// Bytes that the instances take.
    pub(super) fn charged(&mut self) -> u64 {
        const EACH: usize = 128;
        while let Some(queue) = self.touched.pop_first() {
            let Some(held) = self.instances.get_mut(&queue) else { continue };
            self.charged -= held.charge;
            let names: usize = held.events.iter().map(Event::name_len).sum();
            held.charge = (held.events.capacity() * size_of::<Event>() + names) as u64;
            self.charged += held.charge;
        }
        let others = self.instances.len() + self.watches + self.directories.len();
        self.charged + (others * EACH) as u64
    }

    /// An instance whose events are about to change.
    fn instance_mut(&mut self, queue: QueueId) -> Option<&mut Instance> {
        let instance = self.instances.get_mut(&queue)?;
        self.touched.insert(queue);
        Some(instance)
    }

    /// Adds an instance; EMFILE.
    pub(crate) fn add(&mut self, queue: QueueId) -> Result<(), Errno> {
        if self.instances.len() >= MAX_INSTANCES {
            return Err(Errno::EMFILE);
        }
        self.instances.insert(queue, Instance::default());
        Ok(())
    }

    /// Drops an instance.
    pub(crate) fn remove(&mut self, queue: QueueId) {
        let Some(instance) = self.instances.remove(&queue) else { return };
        self.watches -= instance.watches.len();
        self.charged -= instance.charge;
        for (watch, (ino, _)) in instance.watches {
            self.unmark(ino, queue, watch);
        }
    }

    fn unmark(&mut self, ino: Ino, queue: QueueId, watch: i32) {
        if let Some(marks) = self.marks.get_mut(&ino) {
            marks.retain(|mark| *mark != (queue, watch));
            if marks.is_empty() {
                self.marks.remove(&ino);
            }
        }
    }

    /// Adds a watch or changes the one that the instance has at the inode, inotify_add_watch(2);
    /// EEXIST, ENOSPC.
    pub(crate) fn watch(&mut self, queue: QueueId, ino: Ino, mask: u32) -> Result<i32, Errno> {
        let instance = self.instances.get_mut(&queue).ok_or(Errno::EINVAL)?;
        let kept = mask & (IN_ALL_EVENTS | IN_EXCL_UNLINK | IN_ONESHOT);
        let marks = self.marks.entry(ino).or_default();
        if let Some((_, watch)) = marks.iter().find(|(of, _)| *of == queue).copied() {
            let held = instance.watches.get_mut(&watch).ok_or(Errno::EINVAL)?;
            if mask & IN_MASK_CREATE != 0 {
                return Err(Errno::EEXIST);
            }
            held.1 = if mask & IN_MASK_ADD != 0 { held.1 | kept } else { kept };
            return Ok(watch);
        }
        let next = instance.last_watch.checked_add(1).filter(|_| self.watches < MAX_WATCHES);
        let Some(watch) = next else {
            if marks.is_empty() {
                self.marks.remove(&ino);
            }
            return Err(Errno::ENOSPC);
        };
        marks.push((queue, watch));
        instance.last_watch = watch;
        instance.watches.insert(watch, (ino, kept));
        self.watches += 1;
        Ok(watch)
    }

    /// Ends a watch and says so, inotify_rm_watch(2); EINVAL.
    pub(crate) fn unwatch(
        &mut self,
        queue: QueueId,
        watch: i32,
        queues: &mut WaitQueues,
    ) -> Result<(), Errno> {
        let instance = self.instance_mut(queue).ok_or(Errno::EINVAL)?;
        let (ino, _) = instance.watches.remove(&watch).ok_or(Errno::EINVAL)?;
        instance.push(Event { watch, mask: IN_IGNORED, cookie: 0, name: None });
        self.watches -= 1;
        self.unmark(ino, queue, watch);
        tell(queues, queue);
        Ok(())
    }

    /// Ends every watch of an inode that is gone.
    pub(super) fn forget(&mut self, ino: Ino, queues: &mut WaitQueues) {
        self.directories.remove(&ino);
        for (queue, watch) in self.marks.get(&ino).cloned().unwrap_or_default() {
            let _ = self.unwatch(queue, watch, queues); // it is there
        }
    }

    /// Tells those who watch an inode.
    pub(super) fn post(&mut self, ino: Ino, what: Happening, queues: &mut WaitQueues) {
        for (queue, watch) in self.marks.get(&ino).cloned().unwrap_or_default() {
            let Some(instance) = self.instance_mut(queue) else { continue };
            let mask = instance.watches.get(&watch).map_or(0, |(_, mask)| *mask);
            let left_out = what.unlinked && mask & IN_EXCL_UNLINK != 0;
            if mask & what.mask & IN_ALL_EVENTS == 0 || left_out {
                continue;
            }
            let plain = what.mask & (IN_MOVE_SELF | IN_DELETE_SELF) != 0;
            let shown = what.mask & (IN_ALL_EVENTS | if plain { 0 } else { IN_ISDIR });
            instance.push(Event { watch, mask: shown, cookie: what.cookie, name: what.name.cloned() });
            tell(queues, queue);
            if mask & IN_ONESHOT != 0 {
                let _ = self.unwatch(queue, watch, queues); // it is there
            }
        }
        let Some(held) = self.directories.get_mut(&ino) else { return };
        held.retain(|one| {
            let told = one.mask & what.mask & !IN_ISDIR != 0;
            if told {
                let reason = Reason::Message;
                queues.fasync.push(Notice { file: one.file, fd: one.fd, reason });
            }
            !told || !one.once
        });
        if held.is_empty() {
            self.directories.remove(&ino);
        }
    }

    /// A number that joins the two events of a rename.
    pub(super) fn cookie(&mut self) -> u32 {
        self.last_cookie = self.last_cookie.wrapping_add(1);
        self.last_cookie
    }

    /// Takes out as many events as fit; EINVAL if the first does not, 0 if there is none.
    pub(crate) fn read(&mut self, queue: QueueId, buf: &mut [u8]) -> Result<usize, Errno> {
        let Some(instance) = self.instance_mut(queue) else { return Ok(0) };
        let mut done = 0;
        while let Some(event) = instance.events.front() {
            let len = EVENT + event.name_len();
            let Some(place) = buf.get_mut(done..done + len) else { break };
            event.put(place);
            done += len;
            instance.events.pop_front();
        }
        if instance.events.is_empty() {
            instance.events.shrink_to(0);
        }
        if done == 0 && !instance.events.is_empty() { Err(Errno::EINVAL) } else { Ok(done) }
    }

    /// Bytes of the events that wait.
    pub(crate) fn len(&self, queue: QueueId) -> usize {
        let events = self.instances.get(&queue).into_iter().flat_map(|held| &held.events);
        events.map(|event| EVENT + event.name_len()).sum()
    }

    /// Lines of `/proc/PID/fdinfo`; `number` has the device and the number of an inode.
    pub(crate) fn describe(&self, queue: QueueId, number: impl Fn(Ino) -> (u64, u64)) -> String {
        let mut text = String::new();
        let watches = self.instances.get(&queue).into_iter().flat_map(|held| &held.watches);
        for (watch, (ino, mask)) in watches.rev() {
            let (device, inode) = number(*ino);
            let _ = writeln!(
                text,
                "inotify wd:{watch:x} ino:{inode:x} sdev:{device:x} mask:{:x} ignored_mask:0 ",
                mask & (IN_ALL_EVENTS | IN_EXCL_UNLINK | IN_ONESHOT)
            );
        }
        text
    }

    /// F_NOTIFY of fcntl(2): `events` are DN_*; a description that asks again asks for more.
    pub(crate) fn watch_directory(&mut self, ino: Ino, file: FileNo, fd: i32, events: u32) {
        const MEANINGS: [(u32, u32); 6] = [
            (DN_ACCESS, IN_ACCESS),
            (DN_MODIFY, IN_MODIFY),
            (DN_CREATE, IN_CREATE | IN_MOVED_TO),
            (DN_DELETE, IN_DELETE | IN_MOVED_FROM),
            (DN_RENAME, RENAMED),
            (DN_ATTRIB, IN_ATTRIB),
        ];
        let asked = MEANINGS.iter().filter(|(event, _)| events & event != 0);
        let mask = asked.fold(0, |mask, (_, bits)| mask | bits);
        let once = events & DN_MULTISHOT == 0;
        let held = self.directories.entry(ino).or_default();
        match held.iter_mut().find(|one| one.file == file) {
            Some(one) => *one = DirNotify { fd, mask: one.mask | mask, once: one.once && once, file },
            None => held.push(DirNotify { file, fd, mask, once }),
        }
    }

    /// The reverse of `watch_directory`.
    pub(crate) fn unwatch_directory(&mut self, ino: Ino, file: FileNo) {
        if let Some(held) = self.directories.get_mut(&ino) {
            held.retain(|one| one.file != file);
            if held.is_empty() {
                self.directories.remove(&ino);
            }
        }
    }
}

/// Wakes those who wait for the events of an instance.
fn tell(queues: &mut WaitQueues, queue: QueueId) {
    queues.wake(queue, POLLIN);
    queues.fasync.notify(queue, Reason::In);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_overflows_once() {
        let (mut notify, mut queues) = (Notify::default(), WaitQueues::default());
        let queue = queues.add();
        assert_eq!(notify.add(queue), Ok(()));
        assert_eq!(notify.watch(queue, Ino(7), IN_CREATE), Ok(1));
        for at in 0..MAX_EVENTS + 5 {
            let name: Arc<[u8]> = format!("{at}").into_bytes().into();
            let what = Happening { mask: IN_CREATE, name: Some(&name), cookie: 0, unlinked: false };
            notify.post(Ino(7), what, &mut queues);
            notify.post(Ino(7), what, &mut queues); // is one with the first
        }
        let mut buf = vec![0; (MAX_EVENTS + 9) * 32];
        let len = notify.read(queue, &mut buf);
        assert_eq!(len, Ok(MAX_EVENTS * 32 + 16));
        assert_eq!(buf[MAX_EVENTS * 32..][..8], [0xff, 0xff, 0xff, 0xff, 0, 0x40, 0, 0]);
        notify.remove(queue);
        assert!(notify.is_idle() && notify.charged() == 0);
    }

    #[test]
    fn watches_and_instances_have_their_bounds() {
        let (mut notify, mut queues) = (Notify::default(), WaitQueues::default());
        let all: Vec<QueueId> = (0..=MAX_INSTANCES).map(|_| queues.add()).collect();
        assert!(all[1..].iter().all(|queue| notify.add(*queue).is_ok()));
        assert_eq!(notify.add(all[0]), Err(Errno::EMFILE));
        for at in 0..MAX_WATCHES as u32 {
            assert!(notify.watch(all[1], Ino(at), IN_CREATE).is_ok());
        }
        assert_eq!(notify.watch(all[2], Ino(1 << 20), IN_CREATE), Err(Errno::ENOSPC));
        notify.forget(Ino(5), &mut queues);
        assert_eq!((notify.len(all[1]), notify.watch(all[2], Ino(1 << 20), IN_CREATE)), (16, Ok(1)));
    }
}
