//! Orders from outside at a pause: they change what is counted, and tell what goes on.

use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use crate::emu::unicorn::EngineError;
use crate::hooks::callgraph::dumps::{Dump, Dumps};
use crate::hooks::control::AccountId;
use crate::hooks::tally::Tally;
use crate::profile::CallGraph;
use crate::session::attribute::{self, Subject};
use crate::session::call_graph;
use crate::session::line_index::LineIndex;
use crate::session::outcome::{DumpedPart, Whose};
use crate::session::places::place;
use crate::session::run::Session;

impl Session {
    /// Ends a part of the call graph of each process, and gives out these parts; `None` if there is
    /// no call graph. They are among the parts at the end of the run, too.
    pub fn dump(&mut self) -> Option<Vec<DumpedPart>> {
        self.config.counting.calls?;
        let accounts = self.accounts_of(Whose::All);
        let before = self.dumps_of(&accounts);
        self.machine.recorder().dump(&accounts);
        let dumped = self.dumps_of(&accounts);
        let counted: Vec<(i32, Vec<u8>, Vec<AccountId>)> = self
            .accounts
            .counted()
            .iter()
            .map(|of| (of.pid, of.command.clone(), of.threads.iter().map(|thread| thread.account).collect()))
            .collect();
        let mut parts = Vec::new();
        for (pid, command, accounts) in counted {
            // Where threads are counted apart there are no dumps.
            let &[account] = &accounts[..] else { continue };
            let (Some(before), Some(dumped)) = (before.get(&account), dumped.get(&account)) else { continue };
            let number = dumped.made.len();
            let Some(last) = dumped.made.last().filter(|_| number > before.made.len()) else { continue };
            if let Some(graph) = self.fold_dump(&command, last) {
                parts.push(DumpedPart { pid, number: number as u32, graph });
            }
        }
        Some(parts)
    }

    fn dumps_of(&mut self, accounts: &[AccountId]) -> BTreeMap<AccountId, Dumps> {
        let mut all: BTreeMap<AccountId, Dumps> = BTreeMap::new();
        self.machine.visit_consumers(|consumer| {
            for &account in accounts {
                let dumps = consumer.dumps(account);
                match all.entry(account) {
                    Entry::Vacant(entry) => drop(entry.insert(dumps)),
                    Entry::Occupied(mut entry) => entry.get_mut().complete(&dumps),
                }
            }
        });
        all
    }

    /// The call graph of one dump; `None` if a pause is asked for before it is put together.
    fn fold_dump(&mut self, command: &[u8], dump: &Arc<Dump>) -> Option<CallGraph> {
        let mut only = Dumps::default();
        only.made.push(Arc::clone(dump));
        self.guest.modules.read_debug_info(call_graph::addresses_of_dump(dump));
        let outside = self.guest.kernel.outside();
        let subject = Subject {
            command,
            counting: &self.config.counting,
            code: None,
            calls: None,
            dumps: &only,
            reasons: self.guest.requests.reasons(),
            outside: &outside,
            positions: self.config.recording.positions,
        };
        attribute::fold_run(&Tally::default(), &mut self.guest.modules, &mut LineIndex::new(false), subject)?
            .dumps
            .pop()
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
