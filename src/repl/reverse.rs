//! Commands that go back.

use super::arguments::{count, nothing};
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::debugger::control::Stopped;
use crate::debugger::suggest::nearest;

impl Shell {
    pub(super) fn checkpoint(&mut self, rest: &str) -> Reply {
        let name = if rest.is_empty() {
            (1..).map(|n| n.to_string()).find(|n| self.debugger.checkpoints().all(|(name, _)| name != n))
        } else {
            Some(rest.to_owned())
        };
        let name = name.unwrap_or_default();
        self.debugger.checkpoint(&name)?;
        let now = self.debugger.session().instructions();
        self.say(&format!("checkpoint {name}: after {now} instructions"));
        Ok(())
    }

    pub(super) fn restore(&mut self, rest: &str) -> Reply {
        if !self.debugger.restore(rest)? {
            let names: Vec<String> = self.debugger.checkpoints().map(|(name, _)| name.to_owned()).collect();
            let hint = match names.as_slice() {
                [] => "`checkpoint NAME` makes one".to_owned(),
                names => format!("there are {}", names.join(", ")),
            };
            let nearest = nearest(rest, &names);
            return Err(Error::Unknown { kind: "checkpoint", name: rest.to_owned(), nearest, hint });
        }
        self.came_back();
        Ok(())
    }

    /// The program is at an earlier moment.
    fn came_back(&mut self) {
        self.told = false;
        self.here();
    }

    pub(super) fn reverse_step(&mut self, rest: &str) -> Reply {
        let steps = count(rest)?;
        if self.debugger.session().instructions() == 0 {
            return Err("this is the beginning of the run".into());
        }
        self.debugger.step_back(steps)?;
        self.came_back();
        Ok(())
    }

    pub(super) fn reverse_next(&mut self, rest: &str) -> Reply {
        let steps = count(rest)?;
        if self.debugger.session().instructions() == 0 {
            return Err("this is the beginning of the run".into());
        }
        for step in 0..steps {
            self.reached(step, steps);
            self.debugger.step_back_over()?;
            if self.debugger.session().instructions() == 0 {
                break;
            }
        }
        self.came_back();
        Ok(())
    }

    pub(super) fn reverse_finish(&mut self, rest: &str) -> Reply {
        nothing(rest)?;
        self.debugger.finish_back()?;
        self.came_back();
        Ok(())
    }

    pub(super) fn reverse_continue(&mut self, rest: &str) -> Reply {
        nothing(rest)?;
        if self.debugger.session().instructions() == 0 {
            return Err("this is the beginning of the run".into());
        }
        let stopped = self.debugger.continue_back()?;
        self.told = false;
        if stopped == Stopped::There {
            self.say("no stop before: this is the beginning of the run");
        }
        self.tell(&stopped)
    }
}
