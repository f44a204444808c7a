//! Waiting for descriptions: what can make one ready while the task does nothing.

use std::collections::BTreeSet;

use crate::abi::fs::POLLIN;
use crate::guest::GuestCpu;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::operations::READABLE;
use crate::kernel::state::Kernel;
use crate::kernel::wait::Wake;
use crate::kernel::wait_queue::QueueId;

/// Things that time can bring to descriptions, those that epoll instances watch included.
#[derive(Debug, Default)]
struct Awaited {
    /// Queues that wake for them.
    queues: BTreeSet<QueueId>,
    /// Signals that can be read from them.
    signals: u64,
}

impl Kernel {
    fn awaited(&self, files: &[FileNo]) -> Awaited {
        let mut awaited = Awaited::default();
        let mut open = files.to_vec();
        while let Some(file) = open.pop() {
            let ops = &self.files.get(file).ops;
            awaited.signals |= ops.signal_mask();
            let Some(queue) = ops.wait_queue(&self.fs) else { continue };
            if !awaited.queues.insert(queue) {
                continue;
            }
            let items = ops.epoll().into_iter().flat_map(|epoll| self.fs.queues.items(epoll));
            let wanted = items.filter(|(_, events, _)| events & u32::from(READABLE | POLLIN) != 0);
            open.extend(wanted.map(|((file, _), ..)| file));
        }
        awaited
    }

    /// Tells if a timer will make one of the descriptions readable, so that a call must not wait
    /// for the host's input.
    pub(crate) fn timer_runs(&self, files: &[FileNo]) -> bool {
        self.fs.timer_fds.next(|_| true).is_some() && {
            let awaited = self.awaited(files);
            self.fs.timer_fds.next(|queue| awaited.queues.contains(&queue)).is_some()
        }
    }

    /// Waits like `wait` for one of `files` to become readable, but `None` says that one may have.
    pub(crate) fn wait_for(
        &mut self,
        cpu: &mut dyn GuestCpu,
        deadline: Option<u64>,
        files: &[FileNo],
    ) -> Option<Wake> {
        let awaited = self.awaited(files);
        let timer = self.fs.timer_fds.next(|queue| awaited.queues.contains(&queue));
        let first = deadline.into_iter().chain(timer).min();
        match self.wait(cpu, first, awaited.signals) {
            Wake::Signal if !self.signals().interrupt_pending() => None,
            Wake::Timeout if timer.is_some() && timer == first && timer != deadline => None,
            wake => Some(wake),
        }
    }
}
