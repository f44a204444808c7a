//! Results of requests of io_uring(7): waking those that wait, and ending them.

use crate::abi::errno::Errno;
use crate::abi::io_uring::Cqe;
use crate::guest::{GuestCpu, GuestMemory};
use crate::kernel::arena::TaskId;
use crate::kernel::fdtable::FileNo;
use crate::kernel::requests::{Request, RequestId};
use crate::kernel::sched::{TaskState, WaitKey};
use crate::kernel::state::Kernel;
use crate::kernel::wait_queue::QueueId;

impl Kernel {
    /// Has the requests that wait on a key be tried again when their tasks run.
    pub(super) fn wake_requests(&mut self, key: WaitKey) {
        for task in self.requests.wake(key) {
            self.rouse(task);
        }
    }

    /// Makes a task run for its requests, if it sleeps: its call is made again and looks.
    fn rouse(&mut self, task: TaskId) {
        if self.tasks.get(task).is_some_and(|task| task.state == TaskState::Sleeping) {
            self.make_ready(task);
        }
    }

    /// Has the running task's requests be tried again that wait for signals, if any is pending.
    pub(crate) fn look_for_signals(&mut self) {
        let (task, asked) = (self.current, self.requests.signals(self.current));
        if asked != 0 && self.signals().pending() & asked != 0 {
            self.requests.signalled(task);
        }
    }

    /// Has a request end with ECANCELED.
    pub(crate) fn cancel_request(&mut self, id: RequestId) {
        for task in self.requests.cancel(id) {
            self.rouse(task);
        }
    }

    /// Adds a result to a ring, and tells who waits for it.
    pub(crate) fn post(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
        ring: QueueId,
        cqe: Cqe,
        counts: bool,
    ) {
        if let Some(counter) = self.post_quietly(mem, ring, cqe, counts) {
            let (files, mut cx) = self.file_ops(cpu, mem);
            // A counter that is full stays so.
            let _ =
                files.get_mut(counter).patiently(true, |open| open.write(&mut cx, None, &1u64.to_le_bytes()));
        }
    }

    /// `post`, but for the eventfd, which is returned.
    fn post_quietly(
        &mut self,
        mem: &mut dyn GuestMemory,
        ring: QueueId,
        cqe: Cqe,
        counts: bool,
    ) -> Option<FileNo> {
        let counter = self.fs.rings.post(ring, mem, cqe);
        self.fs.queues.wake(ring, 0);
        if counts && let Some(held) = self.fs.rings.get_mut(ring) {
            held.completions += 1;
            let done = held.completions;
            if !self.requests.awaits_results() {
                return counter;
            }
            let over = |request: &Request| request.awaited.is_some_and(|awaited| awaited <= done);
            let ids = self.requests.of(ring).filter(|(_, request)| over(request)).map(|(id, _)| id).collect();
            for task in self.requests.again(ids) {
                self.rouse(task);
            }
        }
        counter
    }

    /// Takes what a request holds from it, which is over.
    pub(crate) fn release_request(&mut self, request: &Request, mem: &mut dyn GuestMemory) {
        let call = &request.call;
        let held = if call.holds_files { call.files } else { [None; 2] };
        for file in held.into_iter().flatten().map(|(_, file)| file).chain(call.opening).chain(request.file) {
            self.files.put(file, &mut self.fs, mem);
        }
        if let Some(timer) = request.timer {
            self.fs.timer_fds.remove(timer);
        }
        for task in self.requests.first_deferred() {
            self.rouse(task);
        }
    }

    /// Cancels all requests of a task that has ended or executes another program.
    pub(super) fn cancel_requests(&mut self, task: TaskId, mem: &mut dyn GuestMemory) {
        if self.requests.is_empty() {
            return;
        }
        self.requests.drop_deferred(Some(task), None);
        for id in self.requests.of_task(task) {
            let Some(request) = self.requests.take(id) else { continue };
            let res = -i32::from(Errno::ECANCELED.0);
            let cqe = Cqe { user_data: request.sqe.user_data, res, flags: 0 };
            self.post_quietly(mem, request.ring, cqe, !request.is_timeout());
            self.release_request(&request, mem);
        }
    }

    /// Drops the requests of rings that were closed.
    pub(super) fn drop_requests(&mut self, mem: &mut dyn GuestMemory) {
        for ring in self.fs.rings.take_closed() {
            self.requests.drop_deferred(None, Some(ring));
            for id in self.requests.of(ring).map(|(id, _)| id).collect::<Vec<_>>() {
                if let Some(request) = self.requests.take(id) {
                    self.release_request(&request, mem);
                }
            }
        }
    }
}
