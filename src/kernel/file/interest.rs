//! Interest lists of epoll instances, epoll(7).

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::fdtable::FileNo;

/// An entry of an interest list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) file: FileNo,
    /// Events to report, EPOLL*.
    pub(crate) events: u32,
    /// The caller's word, which is reported with the events.
    pub(crate) data: u64,
    /// Disarmed by EPOLLONESHOT.
    spent: bool,
    /// Events that were ready when it was last reported, for EPOLLET.
    seen: u32,
}

impl Watch {
    /// A watch of a description that has reported nothing yet.
    pub(crate) fn new(file: FileNo, events: u32, data: u64) -> Watch {
        Watch { file, events, data, spent: false, seen: 0 }
    }
}

/// The interest list of an epoll instance, by descriptor.
#[derive(Clone, Debug, Default)]
pub(crate) struct InterestList {
    watches: BTreeMap<i32, Watch>,
}

impl InterestList {
    /// The entries by rising descriptor.
    pub(crate) fn watches(&self) -> Vec<(i32, Watch)> {
        self.watches.iter().map(|(fd, watch)| (*fd, *watch)).collect()
    }

    /// Changes the entry of a descriptor, epoll_ctl(2); EEXIST, ENOENT, EINVAL.
    pub(crate) fn control(&mut self, op: u64, fd: i32, watch: Watch) -> Result<(), Errno> {
        match (op, self.watches.contains_key(&fd)) {
            (EPOLL_CTL_ADD, true) => return Err(Errno::EEXIST),
            (EPOLL_CTL_DEL | EPOLL_CTL_MOD, false) => return Err(Errno::ENOENT),
            (EPOLL_CTL_ADD | EPOLL_CTL_MOD, _) => {
                self.watches.insert(fd, watch);
            }
            (EPOLL_CTL_DEL, true) => {
                self.watches.remove(&fd);
            }
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// Drops the entry of a closed descriptor.
    pub(crate) fn forget(&mut self, fd: i32) {
        self.watches.remove(&fd);
    }

    /// The events to report of a descriptor on which `ready` are ready, if there is news.
    pub(crate) fn news(&mut self, fd: i32, ready: u32) -> Option<u32> {
        let watch = self.watches.get_mut(&fd)?;
        let wanted = ready & (watch.events | u32::from(POLLERR | POLLHUP));
        let news = if watch.events & EPOLLET != 0 { wanted & !watch.seen } else { wanted };
        if news != 0 && !watch.spent {
            return Some(wanted);
        }
        watch.seen &= ready; // what went away may come anew
        None
    }

    /// Marks events of a descriptor as reported; returns the caller's word.
    pub(crate) fn report(&mut self, fd: i32, events: u32) -> Option<u64> {
        let watch = self.watches.get_mut(&fd)?;
        watch.seen = events;
        watch.spent = watch.events & EPOLLONESHOT != 0;
        Some(watch.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fdtable::FdTable;

    const IN: u32 = POLLIN as u32;

    fn list(events: u32) -> InterestList {
        let file = FdTable::new().get(0).unwrap();
        let mut list = InterestList::default();
        assert_eq!(list.control(EPOLL_CTL_ADD, 3, Watch::new(file, events, 7)), Ok(()));
        assert_eq!(list.control(EPOLL_CTL_ADD, 3, Watch::new(file, events, 7)), Err(Errno::EEXIST));
        assert_eq!(list.control(EPOLL_CTL_MOD, 4, Watch::new(file, events, 7)), Err(Errno::ENOENT));
        list
    }

    #[test]
    fn a_level_is_reported_as_long_as_it_holds() {
        let mut list = list(IN);
        assert_eq!((list.news(3, IN), list.report(3, IN), list.news(3, IN)), (Some(IN), Some(7), Some(IN)));
        assert_eq!(list.news(3, u32::from(POLLOUT)), None);
        assert_eq!(list.news(3, u32::from(POLLHUP)), Some(u32::from(POLLHUP)));
    }

    #[test]
    fn an_edge_is_reported_once() {
        let mut list = list(IN | EPOLLET);
        assert_eq!((list.news(3, IN), list.report(3, IN), list.news(3, IN)), (Some(IN), Some(7), None));
        assert_eq!((list.news(3, 0), list.news(3, IN)), (None, Some(IN)));
    }

    #[test]
    fn one_shot_disarms_until_modified() {
        let mut list = list(IN | EPOLLONESHOT);
        assert_eq!((list.news(3, IN), list.report(3, IN), list.news(3, IN)), (Some(IN), Some(7), None));
        let watch = Watch::new(list.watches()[0].1.file, IN, 8);
        assert_eq!((list.control(EPOLL_CTL_MOD, 3, watch), list.news(3, IN)), (Ok(()), Some(IN)));
    }
}
