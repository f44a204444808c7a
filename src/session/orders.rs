//! Orders from outside at a pause: they change what is counted, and tell what goes on.

use crate::emu::unicorn::EngineError;
use crate::session::outcome::Whose;
use crate::session::places::place;
use crate::session::run::Session;

impl Session {
    /// Begins a part of the call graph of each process; false if there is no call graph.
    pub fn dump(&mut self) -> bool {
        let follows = self.config.counting.calls.is_some();
        if follows {
            let accounts = self.accounts_of(Whose::All);
            self.machine.recorder().dump(&accounts);
        }
        follows
    }

    /// Switches counting of all processes that there are. Nothing that is not counted touches
    /// caches and predictors.
    pub fn set_counting_of_all(&mut self, counting: bool) {
        let accounts = self.accounts_of(Whose::All);
        self.machine.set_counting_of(&accounts, counting);
    }

    /// Tells if what a process executes now is counted.
    pub fn counts_now(&mut self, pid: i32) -> bool {
        let account = self.accounts.of(pid).and_then(|counted| counted.threads.first());
        account.map(|thread| thread.account).is_some_and(|account| self.machine.recorder().counts(account))
    }

    /// The calls of a task, the innermost first.
    ///
    /// # Errors
    /// The engine's.
    pub fn stack_of(&mut self, tid: i32) -> Result<Vec<String>, EngineError> {
        let Some(task) = self.guest.kernel.find_task(tid) else { return Ok(Vec::new()) };
        let calls = self.calls_of(task)?;
        let modules = &mut self.guest.modules;
        Ok(calls.into_iter().map(|(mapping, pc)| place(modules, mapping, pc)).collect())
    }
}
