//! Wait queues: who is told when something becomes ready. They fill the ready lists of epoll
//! instances, epoll(7).
//!
//! As in Linux an entry joins the end of its instance's ready list when its queue wakes, and a
//! reported one that is level-triggered goes back to the end. So instances with more that is ready
//! than a call has room for go round.

use std::collections::{BTreeMap, BTreeSet};

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::fasync::Fasync;
use crate::kernel::fdtable::FileNo;

/// Key of a wait queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId(u32);

/// Key of an entry of an interest list: a description, and the descriptor that named it.
pub(crate) type Key = (FileNo, i32);

/// Most epoll instances above and below each other that one may watch (`EP_MAX_NESTS`).
const MAX_NESTS: usize = 4;
/// Most entries of a user's interest lists, `/proc/sys/fs/epoll/max_user_watches`.
const MAX_WATCHES: usize = 912_384;
/// Bits of an entry's events that ask for no event.
const PRIVATE: u32 = EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET;
/// Events that may be asked for together with EPOLLEXCLUSIVE.
const EXCLUSIVE_TOO: u32 =
    (POLLIN | POLLOUT | POLLERR | POLLHUP) as u32 | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE;
/// Events that are always reported.
const ALWAYS: u32 = (POLLERR | POLLHUP) as u32;

/// A description to watch, epoll_ctl(2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    pub(crate) key: Key,
    /// The queue that wakes for the description; a kind without one is asked at every call.
    pub(crate) queue: Option<QueueId>,
    /// Events that are ready now.
    pub(crate) ready: u16,
}

/// An entry of an interest list.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// Events to report, EPOLL*.
    events: u32,
    /// The caller's word, which is reported with the events.
    data: u64,
    queue: Option<QueueId>,
    /// Place on the ready list, if it is there.
    place: Option<u64>,
    /// Events that were ready when it was last asked, for a kind without a queue.
    level: u32,
}

impl Item {
    fn is_armed(&self) -> bool {
        self.events & !PRIVATE != 0
    }
}

/// An epoll instance.
#[derive(Clone, Debug, Default)]
struct Instance {
    items: BTreeMap<Key, Item>,
    /// Entries that may have something to report, in the order in which they came.
    ready: BTreeMap<u64, Key>,
    /// Entries whose readiness nobody reports.
    asked: BTreeSet<Key>,
    last_place: u64,
}

impl Instance {
    fn enlist(&mut self, key: Key) {
        if let Some(item) = self.items.get_mut(&key).filter(|item| item.place.is_none()) {
            self.last_place += 1;
            item.place = Some(self.last_place);
            self.ready.insert(self.last_place, key);
        }
    }

    fn delist(&mut self, key: Key) {
        if let Some(place) = self.items.get_mut(&key).and_then(|item| item.place.take()) {
            self.ready.remove(&place);
        }
    }
}

/// Every wait queue and epoll instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitQueues {
    last: u32,
    /// Epoll instances by the queue that wakes for each.
    epolls: BTreeMap<QueueId, Instance>,
    /// Entries that a queue tells.
    watchers: BTreeMap<QueueId, BTreeSet<(QueueId, Key)>>,
    /// Descriptions that ask for a signal instead, fcntl(2) O_ASYNC.
    pub(crate) fasync: Fasync<QueueId>,
    /// Entries of all interest lists.
    entries: usize,
    /// Queues that have woken, for the tasks that sleep on them.
    woken: Vec<QueueId>,
    /// Instances that watch a description.
    watched: BTreeMap<FileNo, BTreeSet<(QueueId, i32)>>,
}

impl WaitQueues {
    /// Bytes that the instances and their lists take.
    pub(crate) fn bytes(&self) -> u64 {
        const PLACES: usize = 4;
        let item = size_of::<Item>() + PLACES * size_of::<(QueueId, Key)>();
        let list = size_of::<BTreeSet<Key>>() + 96;
        let lists = self.watchers.len() + self.watched.len();
        let each = [(self.entries, item), (lists, list), (self.epolls.len(), size_of::<Instance>() + 32)];
        each.iter().map(|(count, bytes)| (count * (bytes + 16)) as u64).sum()
    }

    /// A new queue.
    pub(crate) fn add(&mut self) -> QueueId {
        self.last += 1;
        QueueId(self.last)
    }

    /// A new epoll instance.
    pub(crate) fn add_epoll(&mut self) -> QueueId {
        let epoll = self.add();
        self.epolls.insert(epoll, Instance::default());
        epoll
    }

    /// The interest list of an epoll instance: entries, their events and the caller's words.
    pub(crate) fn items(&self, epoll: QueueId) -> impl Iterator<Item = (Key, u32, u64)> {
        let items = self.epolls.get(&epoll).into_iter().flat_map(|instance| &instance.items);
        items.map(|(key, item)| (*key, item.events, item.data))
    }

    /// Drops an epoll instance.
    pub(crate) fn remove_epoll(&mut self, epoll: QueueId) {
        let keys: Vec<Key> =
            self.epolls.get(&epoll).map_or(Vec::new(), |held| held.items.keys().copied().collect());
        for key in keys {
            self.remove(epoll, key);
        }
        self.epolls.remove(&epoll);
    }

    /// Drops a description that is no longer open from every interest list. A descriptor that was
    /// closed while another refers to its description stays, epoll(7).
    pub(crate) fn forget(&mut self, file: FileNo) {
        self.fasync.remove(file);
        for (epoll, fd) in self.watched.remove(&file).unwrap_or_default() {
            self.remove(epoll, (file, fd));
        }
    }

    fn remove(&mut self, epoll: QueueId, key: Key) {
        let Some(instance) = self.epolls.get_mut(&epoll) else { return };
        instance.delist(key);
        instance.asked.remove(&key);
        let Some(item) = instance.items.remove(&key) else { return };
        self.entries -= 1;
        if let Some(queue) = item.queue {
            drop_from(&mut self.watchers, queue, (epoll, key));
        }
        drop_from(&mut self.watched, key.0, (epoll, key.1));
    }

    /// Tells those who watch a queue that `events` of poll(2) came up; 0 stands for any.
    pub(crate) fn wake(&mut self, queue: QueueId, events: u16) {
        if self.woken.last() != Some(&queue) {
            self.woken.push(queue);
        }
        let Some(watchers) = self.watchers.get(&queue) else { return };
        for (epoll, key) in watchers.clone() {
            let Some(instance) = self.epolls.get_mut(&epoll) else { continue };
            let Some(item) = instance.items.get(&key) else { continue };
            if item.is_armed() && (events == 0 || item.events & u32::from(events) != 0) {
                instance.enlist(key);
                self.wake(epoll, POLLIN | POLLRDNORM);
            }
        }
    }

    /// The epoll instances that watch a queue.
    pub(crate) fn epolls_of(&self, queue: QueueId) -> impl Iterator<Item = QueueId> {
        self.watchers.get(&queue).into_iter().flatten().map(|(epoll, _)| *epoll)
    }

    /// Takes the queues that have woken.
    pub(crate) fn take_woken(&mut self) -> Vec<QueueId> {
        std::mem::take(&mut self.woken)
    }

    /// Changes an interest list, epoll_ctl(2); EEXIST, ENOENT, EINVAL, ELOOP, ENOSPC.
    pub(crate) fn control(
        &mut self,
        epoll: QueueId,
        op: u64,
        events: u32,
        data: u64,
        what: Watched,
    ) -> Result<(), Errno> {
        let key = what.key;
        let nested = what.queue.is_some_and(|queue| self.epolls.contains_key(&queue));
        if op != EPOLL_CTL_DEL && events & EPOLLEXCLUSIVE != 0 {
            let refused = op == EPOLL_CTL_ADD && (nested || events & !EXCLUSIVE_TOO != 0);
            if op == EPOLL_CTL_MOD || refused {
                return Err(Errno::EINVAL);
            }
        }
        if let (EPOLL_CTL_ADD, true, Some(inner)) = (op, nested, what.queue) {
            self.check_nesting(epoll, inner)?;
        }
        let instance = self.epolls.get_mut(&epoll).ok_or(Errno::EINVAL)?;
        let held = instance.items.get_mut(&key);
        match (op, held) {
            (EPOLL_CTL_ADD, Some(_)) => return Err(Errno::EEXIST),
            (EPOLL_CTL_ADD, None) if self.entries >= MAX_WATCHES => return Err(Errno::ENOSPC),
            (EPOLL_CTL_ADD, None) => {
                let item = Item { events: events | ALWAYS, data, queue: what.queue, place: None, level: 0 };
                instance.items.insert(key, item);
                self.entries += 1;
                if nested || what.queue.is_none() {
                    instance.asked.insert(key);
                }
                if let Some(queue) = what.queue {
                    self.watchers.entry(queue).or_default().insert((epoll, key));
                }
                self.watched.entry(key.0).or_default().insert((epoll, key.1));
            }
            (EPOLL_CTL_DEL | EPOLL_CTL_MOD, None) => return Err(Errno::ENOENT),
            (EPOLL_CTL_MOD, Some(item)) => {
                if item.events & EPOLLEXCLUSIVE != 0 {
                    return Err(Errno::EINVAL);
                }
                (item.events, item.data, item.level) = (events | ALWAYS, data, 0);
            }
            (EPOLL_CTL_DEL, Some(_)) => {
                self.remove(epoll, key);
                return Ok(());
            }
            _ => return Err(Errno::EINVAL),
        }
        if (events | ALWAYS) & u32::from(what.ready) != 0 {
            if let Some(instance) = self.epolls.get_mut(&epoll) {
                instance.enlist(key);
            }
            self.wake(epoll, POLLIN | POLLRDNORM);
        }
        Ok(())
    }

    /// Checks that `outer` may watch `inner`: no circle, and no more instances over each other than
    /// Linux allows; ELOOP.
    fn check_nesting(&self, outer: QueueId, inner: QueueId) -> Result<(), Errno> {
        let below = self.depth_below(inner, outer).ok_or(Errno::ELOOP)?;
        if below + 1 + self.depth_above(outer) > MAX_NESTS { Err(Errno::ELOOP) } else { Ok(()) }
    }

    /// Levels of instances below one; `None` if `target` is among them.
    fn depth_below(&self, epoll: QueueId, target: QueueId) -> Option<usize> {
        if epoll == target {
            return None;
        }
        let mut deepest = 0;
        let inner: BTreeSet<QueueId> =
            self.epolls.get(&epoll)?.items.values().filter_map(|item| item.queue).collect();
        for below in inner.into_iter().filter(|queue| self.epolls.contains_key(queue)) {
            deepest = deepest.max(self.depth_below(below, target)? + 1);
        }
        Some(deepest)
    }

    fn depth_above(&self, epoll: QueueId) -> usize {
        let outer: BTreeSet<QueueId> =
            self.watchers.get(&epoll).into_iter().flatten().map(|(outer, _)| *outer).collect();
        outer.into_iter().map(|outer| self.depth_above(outer) + 1).max().unwrap_or(0)
    }

    /// The description of the nth entry of an instance for a descriptor, in the order of the list.
    pub(crate) fn watched(&self, epoll: QueueId, fd: i32, nth: usize) -> Option<FileNo> {
        let items = self.epolls.get(&epoll)?.items.keys();
        items.filter(|(_, of)| *of == fd).nth(nth).map(|(file, _)| *file)
    }

    /// The entries of an instance that must be asked, each with its events.
    pub(crate) fn to_ask(&self, epoll: QueueId) -> Vec<(Key, u32)> {
        let Some(instance) = self.epolls.get(&epoll) else { return Vec::new() };
        let item = |key: &Key| Some((*key, instance.items.get(key)?.events));
        instance.asked.iter().filter_map(item).collect()
    }

    /// Takes note of an entry that was asked: what came up since the last time enlists it.
    pub(crate) fn asked(&mut self, epoll: QueueId, key: Key, ready: u16) {
        let Some(instance) = self.epolls.get_mut(&epoll) else { return };
        let Some(item) = instance.items.get_mut(&key) else { return };
        let wanted = u32::from(ready) & item.events;
        let news = if item.events & EPOLLET != 0 { wanted & !item.level } else { wanted };
        item.level = u32::from(ready);
        if news != 0 && item.is_armed() {
            instance.enlist(key);
        }
    }

    /// The end of the ready list as it is now: entries behind it came later.
    pub(crate) fn last_place(&self, epoll: QueueId) -> u64 {
        self.epolls.get(&epoll).map_or(0, |instance| instance.last_place)
    }

    /// The first entry of the ready list, up to a place.
    pub(crate) fn first_ready(&self, epoll: QueueId, last: u64) -> Option<Key> {
        Some(*self.epolls.get(&epoll)?.ready.range(..=last).next()?.1)
    }

    /// Decides about the first entry of the ready list, on whose description `ready` are ready: the
    /// events to report and the caller's word, or `None` if there is nothing to report and it left
    /// the list.
    pub(crate) fn wanted(&mut self, epoll: QueueId, key: Key, ready: u16) -> Option<(u32, u64)> {
        let instance = self.epolls.get_mut(&epoll)?;
        let item = *instance.items.get(&key)?;
        let events = if item.is_armed() { u32::from(ready) & item.events } else { 0 };
        if events == 0 {
            instance.delist(key);
            return None;
        }
        Some((events, item.data))
    }

    /// Takes an entry that was reported off the ready list, or to its end.
    pub(crate) fn reported(&mut self, epoll: QueueId, key: Key) {
        let Some(instance) = self.epolls.get_mut(&epoll) else { return };
        instance.delist(key);
        let Some(item) = instance.items.get_mut(&key) else { return };
        if item.events & EPOLLONESHOT != 0 {
            item.events &= PRIVATE;
        } else if item.events & EPOLLET == 0 {
            instance.enlist(key);
        }
    }
}

/// Takes a value out of the set of a key, and the set with its last value.
fn drop_from<K: Ord, V: Ord>(sets: &mut BTreeMap<K, BTreeSet<V>>, key: K, value: V) {
    if let Some(set) = sets.get_mut(&key) {
        set.remove(&value);
        if set.is_empty() {
            sets.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fdtable::FdTable;

    const IN: u16 = POLLIN;

    /// An instance that watches descriptors 1 to `count` of one description for `events`.
    fn instance(count: i32, events: u32) -> (WaitQueues, QueueId, QueueId, FileNo) {
        let file = FdTable::new().get(0).unwrap();
        let mut queues = WaitQueues::default();
        let (epoll, queue) = (queues.add_epoll(), queues.add());
        for fd in 1..=count {
            let what = Watched { key: (file, fd), queue: Some(queue), ready: 0 };
            assert_eq!(queues.control(epoll, EPOLL_CTL_ADD, events, fd as u64, what), Ok(()));
            assert_eq!(queues.control(epoll, EPOLL_CTL_ADD, events, 0, what), Err(Errno::EEXIST));
        }
        (queues, epoll, queue, file)
    }

    /// The words of the entries that a call with room for `max` reports while all are ready.
    fn wait(queues: &mut WaitQueues, epoll: QueueId, max: usize) -> Vec<u64> {
        let last = queues.last_place(epoll);
        let mut words = Vec::new();
        while let Some(key) = queues.first_ready(epoll, last).filter(|_| words.len() < max) {
            if let Some((_, word)) = queues.wanted(epoll, key, IN) {
                queues.reported(epoll, key);
                words.push(word);
            }
        }
        words
    }

    #[test]
    fn levels_go_round() {
        let (mut queues, epoll, queue, _) = instance(4, IN.into());
        queues.wake(queue, IN);
        assert_eq!(wait(&mut queues, epoll, 3), [1, 2, 3]);
        assert_eq!(wait(&mut queues, epoll, 3), [4, 1, 2]);
        assert_eq!(wait(&mut queues, epoll, 9), [3, 4, 1, 2]);
    }

    #[test]
    fn every_wake_is_an_edge_and_one_shot_disarms() {
        let (mut queues, epoll, queue, file) = instance(1, u32::from(IN) | EPOLLET);
        queues.wake(queue, POLLOUT);
        assert_eq!(wait(&mut queues, epoll, 9), [0; 0]);
        for _ in 0..2 {
            queues.wake(queue, IN);
            assert_eq!((wait(&mut queues, epoll, 9), wait(&mut queues, epoll, 9)), (vec![1], vec![]));
        }
        let what = Watched { key: (file, 1), queue: Some(queue), ready: IN };
        let once = u32::from(IN) | EPOLLONESHOT;
        assert_eq!(queues.control(epoll, EPOLL_CTL_MOD, once, 7, what), Ok(()));
        assert_eq!(wait(&mut queues, epoll, 9), [7]);
        queues.wake(queue, IN);
        assert_eq!(wait(&mut queues, epoll, 9), [0; 0]);
        queues.forget(file);
        assert_eq!(queues.control(epoll, EPOLL_CTL_MOD, once, 7, what), Err(Errno::ENOENT));
        assert!(queues.watchers.is_empty() && queues.watched.is_empty());
    }

    #[test]
    fn no_circles_and_four_levels_at_most() {
        let mut queues = WaitQueues::default();
        let file = FdTable::new().get(0).unwrap();
        let epolls: Vec<QueueId> = (0..6).map(|_| queues.add_epoll()).collect();
        let mut add = |outer: usize, inner: usize| {
            let what = Watched { key: (file, inner as i32), queue: Some(epolls[inner]), ready: 0 };
            queues.control(epolls[outer], EPOLL_CTL_ADD, IN.into(), 0, what)
        };
        for at in 1..5 {
            assert_eq!(add(at, at - 1), Ok(()));
        }
        assert_eq!(add(0, 4), Err(Errno::ELOOP));
        assert_eq!(add(5, 4), Err(Errno::ELOOP));
        assert_eq!(add(5, 3), Ok(()));
    }
}
