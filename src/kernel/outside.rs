//! When the machine looks for what comes from the host's network: before each call and each turn
//! while it has a connection there, and for as long as nothing else can go on.

use crate::abi::errno::Errno;
use crate::kernel::host_network::Errand;
use crate::kernel::sched::WaitKey;
use crate::kernel::state::Kernel;
use crate::kernel::streams::Patience;
use crate::kernel::wait_queue::QueueId;

impl Kernel {
    /// Gives the host what is to be sent to its network, and takes what has come from there.
    /// Returns the nanoseconds for which it has waited; EINTR if the user asks for something.
    pub(crate) fn look_outside(&mut self, patience: Patience) -> Result<u64, Errno> {
        if !self.fs.net.has_outside() {
            return Ok(0);
        }
        let errands: Vec<Errand> = self.fs.net.errands();
        let input = patience != Patience::None && self.sched.sleepers_of(WaitKey::Host).next().is_some();
        let report = self.streams.ask_network(&errands, patience, input)?;
        self.fs.net.hear(&report, &mut self.fs.queues)?;
        self.wake_queues();
        if report.input {
            self.wake(WaitKey::Host);
        }
        Ok(report.waited)
    }

    /// Names of what the program reached out for on the host's network.
    pub(crate) fn outside(&self) -> Vec<String> {
        self.fs.net.outside.names().into_iter().map(str::to_owned).collect()
    }

    /// Tells if anybody sleeps for what the host's network can bring, or for input beside it.
    pub(super) fn awaits_outside(&self) -> bool {
        self.fs.net.has_outside()
            && (self.sched.sleepers_of(WaitKey::Host).next().is_some()
                || self.fs.net.outside_queues().into_iter().any(|queue| self.is_slept_on(queue)))
    }

    /// Tells if anybody sleeps on a queue, or on an epoll instance that watches it, or is told of
    /// it by a signal.
    fn is_slept_on(&self, queue: QueueId) -> bool {
        self.sched.sleepers_of(WaitKey::Queue(queue)).next().is_some()
            || self.fs.queues.fasync.is_asked(queue)
            || self.fs.queues.epolls_of(queue).any(|epoll| self.is_slept_on(epoll))
    }
}
