//! Keyrings of tasks, and what becomes of them when tasks come and go.

use crate::abi::errno::Errno;
use crate::abi::key::{KEY_NEED_READ, KEY_NEED_VIEW};
use crate::kernel::arena::TaskId;
use crate::kernel::keys::key::{Keyrings, Serial};
use crate::kernel::keys::table::{Quota, keyring_permissions};
use crate::kernel::sched::TaskState;
use crate::kernel::state::Kernel;

impl Kernel {
    /// Makes the thread keyring of the running task, unless it is there; EDQUOT.
    pub(super) fn install_thread_keyring(&mut self) -> Result<(), Errno> {
        if self.task().keyrings.thread.is_none() {
            self.task_mut().keyrings.thread = Some(self.own_keyring(b"_tid")?);
        }
        Ok(())
    }

    /// Makes the process keyring of the running task, unless it is there; EDQUOT.
    pub(super) fn install_process_keyring(&mut self) -> Result<(), Errno> {
        if self.task().keyrings.process.is_none() {
            self.task_mut().keyrings.process = Some(self.own_keyring(b"_pid")?);
        }
        Ok(())
    }

    fn own_keyring(&mut self, name: &[u8]) -> Result<Serial, Errno> {
        let cred = &self.task().cred;
        let owner = (cred.uid.real, Some(cred.gid.real));
        self.keys.add_keyring(name, owner, keyring_permissions(KEY_NEED_VIEW), Quota::Overrun)
    }

    /// Gives the running task a new session keyring without a name; EDQUOT.
    pub(crate) fn new_session_keyring(&mut self) -> Result<Serial, Errno> {
        let cred = &self.task().cred;
        let owner = (cred.uid.real, Some(cred.gid.real));
        let has_one = self.task().keyrings.session.is_some();
        let quota = if has_one { Quota::Within } else { Quota::Overrun };
        let perm = keyring_permissions(KEY_NEED_VIEW | KEY_NEED_READ);
        let serial = self.keys.add_keyring(b"_ses", owner, perm, quota)?;
        self.set_session_keyring(self.current(), serial);
        Ok(serial)
    }

    /// Gives a task another session keyring.
    pub(super) fn set_session_keyring(&mut self, task: TaskId, serial: Serial) {
        self.tasks[task].keyrings.session = Some(serial);
        self.keys.stale = true;
    }

    /// Keyrings of a task that the running one makes: a thread gets one of its own where its maker
    /// has one, a process begins without; EDQUOT.
    pub(crate) fn keyrings_of_clone(&mut self, is_thread: bool) -> Result<Keyrings, Errno> {
        let own = self.task().keyrings;
        if !is_thread {
            return Ok(own.of_child());
        }
        let thread = own.thread.map(|_| self.own_keyring(b"_tid")).transpose()?;
        Ok(Keyrings { thread, ..own })
    }

    /// Takes note that the running task executes another program.
    pub(crate) fn exec_keyrings(&mut self) {
        let own = self.task().keyrings;
        self.task_mut().keyrings = own.of_child();
        self.keys_may_be_left();
    }

    /// Takes note that a task may have left keys behind.
    pub(crate) fn keys_may_be_left(&mut self) {
        self.keys.stale |= !self.keys.is_empty();
    }

    /// Drops keys that nothing leads to any more, and those that keyrings forget by now.
    pub(crate) fn collect_keys(&mut self, now: i64) {
        if self.keys.is_empty() || !self.keys.is_due(now) {
            return;
        }
        let Kernel { keys, tasks, .. } = self;
        let alive = tasks.iter().filter(|(_, task)| task.state != TaskState::Dead);
        keys.collect(now, alive.flat_map(|(_, task)| task.keyrings.all()));
    }
}
