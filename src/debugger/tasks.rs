//! The task that is looked at, its turns, and the processes that are followed.

use super::control::Stopped;
use super::error::Error;
use super::follow::Follow;
use super::history::Point;
use super::state::Debugger;

impl Debugger {
    /// The id of the running task.
    pub fn tid(&self) -> i32 {
        self.session.kernel().task().tid
    }

    /// The id of the task that is looked at: the running one, unless another was chosen since the
    /// run has stopped.
    pub fn selected_tid(&self) -> i32 {
        self.session.looked_at()
    }

    /// The point at which the running task is.
    pub(super) fn point(&mut self) -> Point {
        (self.tid(), self.pc(), self.session.task_instructions())
    }

    /// Looks at a task, at its innermost frame; false if there is none with this id.
    pub fn select_task(&mut self, tid: i32) -> bool {
        let found = self.session.look_at(tid);
        if found {
            self.frame = 0;
            self.program.refresh(&mut self.session);
        }
        found
    }

    /// Looks at the running task, at its innermost frame.
    pub(super) fn look_back(&mut self) {
        self.frame = 0;
        if self.selected_tid() != self.tid() {
            self.session.look_back();
            self.program.refresh(&mut self.session);
        }
    }

    /// Lets the program run until the task that is looked at has its turn. `None` if it has; else
    /// the reason of a stop before that.
    pub(super) fn await_turn(&mut self) -> Result<Option<Stopped>, Error> {
        let tid = self.selected_tid();
        if tid == self.tid() {
            return Ok(None);
        }
        let stopped = self.go_to(None, &[], Some(tid))?;
        Ok((stopped != Stopped::There || self.tid() != tid).then_some(stopped))
    }

    /// The processes that are followed.
    pub fn follow(&self) -> Follow {
        self.followed.mode()
    }

    /// Has stops stop the run in other processes.
    pub fn set_follow(&mut self, mode: Follow) {
        let process = self.session.process_looked_at();
        self.followed.begin(mode, process);
    }

    /// Tells if the running process is followed.
    pub(super) fn is_followed(&mut self) -> bool {
        let now = self.session.instructions();
        self.followed.includes(now, self.session.kernel().process().pid)
    }

    /// True if it matters who makes a child.
    pub(super) fn follows_children(&self) -> bool {
        self.followed.mode() == Follow::Child
    }
}
