//! Waiting for descriptions: what can make one ready.

use crate::kernel::fdtable::FileNo;
use crate::kernel::sched::WaitKey;
use crate::kernel::state::Kernel;

impl Kernel {
    /// Notes that the running task's call is about to sleep until a description changes: its queue,
    /// the signals that can be read from it, or the host, which tells nobody. What an epoll
    /// instance watches wakes its queue, but for what has none.
    pub(crate) fn await_file(&mut self, file: FileNo, keys: &mut Vec<WaitKey>) {
        let ops = &self.files.get(file).ops;
        let (queue, mask, epoll) = (ops.wait_queue(&self.fs), ops.signal_mask(), ops.epoll());
        self.task_mut().call.signals |= mask;
        match queue {
            Some(queue) => keys.push(WaitKey::Queue(queue)),
            None if mask == 0 => keys.push(WaitKey::Host),
            None => {}
        }
        for ((watched, _), _) in epoll.map_or(Vec::new(), |epoll| self.fs.queues.to_ask(epoll)) {
            self.await_file(watched, keys);
        }
    }
}
