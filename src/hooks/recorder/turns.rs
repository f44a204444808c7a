//! Turns of tasks in one buffer: what a fault may take back of a task waits with it.

use crate::hooks::control::{AccountId, Control};
use crate::hooks::filter::{Drain, Place, RecordFilter};
use crate::hooks::plan_table::PlanTable;
use crate::hooks::record::{BUFFER_WORDS, Header, instructions};
use crate::hooks::recorder::Recorder;
use crate::hooks::recorder::tasks::Parked;

impl Recorder {
    /// Goes on with another task, of this account, where control is at `pc`. The last record must
    /// say where control left the task before.
    pub(crate) fn switch_task(&mut self, task: u32, account: AccountId, pc: u64) {
        self.park();
        self.enter(task, account);
        self.point(pc);
    }

    /// Goes on with a task behind its records that were parked.
    pub(super) fn enter(&mut self, task: u32, account: AccountId) {
        let next = self.tasks.parked.remove(&task).filter(|parked| parked.account == account);
        let (place, tail) = next.map_or_else(Default::default, |parked| (parked.place, parked.tail));
        self.tasks.task = task;
        if std::mem::replace(&mut self.tasks.account, account) != account {
            self.control(Control::Switch(account));
        }
        if self.follows_calls {
            self.control(Control::Task(task));
        }
        self.filter.enter(self.tasks.process(account), place);
        let held = instructions(&tail);
        if self.watching && held > 0 {
            self.control(Control::Resume(task, held as u32));
        }
        if self.len + tail.len() > BUFFER_WORDS {
            self.hand_over(Drain::All);
        }
        if let Some(words) = self.words.get_mut(self.len..self.len + tail.len()) {
            words.copy_from_slice(&tail);
            self.len += tail.len();
            self.tasks.held -= held;
        }
    }

    /// Takes the records of the current task that a fault may take back, and its place, until it
    /// goes on.
    fn park(&mut self) {
        self.drop_uncounted();
        let account = self.tasks.account;
        self.filtered += self.filter(self.filtered..self.len, Drain::Decided);
        let tail = self.words.get(self.filtered..self.len).unwrap_or_default().to_vec();
        let place = self.filter.place();
        if !account.is_counted() || tail.is_empty() && place == Place::default() {
            return;
        }
        self.walk();
        let held = instructions(&tail);
        self.counted -= held;
        self.tasks.held += held;
        (self.len, self.walked) = (self.filtered, self.filtered);
        // A record of another thread must not decide the branch before the tail.
        let next = tail.first().and_then(|&word| self.plans.get(Header::of(word).plan)).map(|plan| plan.pc);
        if let Some(pc) = next {
            self.point(pc);
            self.filtered = self.len;
        }
        if self.watching && held > 0 {
            self.control(Control::Hold(self.tasks.task, held as u32));
        }
        self.tasks.parked.insert(self.tasks.task, Parked { account, place, tail });
    }

    /// Records that are not decided, as if every task ended here.
    pub(super) fn undecided(&mut self) -> Vec<u64> {
        let saved = self.filter.save();
        let mut all = Vec::new();
        let rest = self.words.get(..self.len).unwrap_or_default();
        let after = instructions(rest) as u32;
        if !self.tasks.parked.is_empty() {
            all.extend(Control::Hold(self.tasks.task, after).record());
        }
        for (task, Parked { account, place, tail }) in &self.tasks.parked {
            all.extend(Control::Switch(*account).record());
            if self.follows_calls {
                all.extend(Control::Task(*task).record());
            }
            all.extend(Control::Resume(*task, instructions(tail) as u32).record());
            self.filter.enter(self.tasks.process(*account), *place);
            Self::add_decided(&mut all, tail, &mut *self.filter, &mut self.plans);
        }
        if !all.is_empty() {
            all.extend(Control::Switch(self.tasks.account).record());
            if self.follows_calls {
                all.extend(Control::Task(self.tasks.task).record());
            }
            all.extend(Control::Resume(self.tasks.task, after).record());
        }
        self.filter.restore(&saved);
        Self::add_decided(&mut all, rest, &mut *self.filter, &mut self.plans);
        self.filter.restore(&saved);
        self.send_plans();
        all
    }

    /// Adds records to `all` as they are if nothing comes after them.
    fn add_decided(all: &mut Vec<u64>, words: &[u64], filter: &mut dyn RecordFilter, plans: &mut PlanTable) {
        let at = all.len();
        all.extend(words);
        let drained = all.get_mut(at..).map_or(0, |words| filter.drain(words, Drain::All, plans));
        all.truncate(at + drained);
    }
}
