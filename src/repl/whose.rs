//! `of all`, `of PID`: whose counts a command is about.

use super::error::Error;
use super::shell::{Reply, Shell};
use crate::session::{Folded, Whose};

impl Shell {
    /// Takes `of all` or `of N` off the end of a command's words; without it the selected process
    /// is meant.
    pub(super) fn whose<'w>(&mut self, words: &'w str) -> Result<(&'w str, Whose), Error> {
        let (before, last) = words.rsplit_once(char::is_whitespace).unwrap_or(("", words));
        let before = before.trim_end();
        let rest = match before.strip_suffix("of") {
            Some(rest) if rest.is_empty() || rest.ends_with(char::is_whitespace) => rest.trim_end(),
            _ => return Ok((words, Whose::Selected)),
        };
        if last == "all" {
            return Ok((rest, Whose::All));
        }
        let Ok(id) = last.parse::<i64>() else { return Ok((words, Whose::Selected)) };
        let session = self.debugger.session();
        let counted: Vec<i32> = session.counted().map(|(pid, _)| pid).collect();
        // As for `process`, a number of `info processes` will do.
        let by_number =
            session.processes().into_iter().find(|process| i64::try_from(process.number) == Ok(id));
        let ids = [Some(id), by_number.map(|process| process.pid.into())];
        let found =
            ids.into_iter().flatten().find_map(|id| counted.iter().find(|pid| i64::from(**pid) == id));
        match found {
            Some(&pid) => Ok((rest, Whose::Process(pid))),
            None => Err(Error::NoCounts { name: last.to_owned(), counted }),
        }
    }

    /// Says whose counts come, where several processes have been counted.
    pub(super) fn say_whose(&mut self, whose: Whose) {
        let session = self.debugger.session();
        let (selected, counted) = (session.process_looked_at(), session.counted().count());
        let is_counted = session.counted().any(|(pid, _)| pid == selected);
        let text = match session.meant(whose) {
            Some(pid) if whose == Whose::Selected && !is_counted => {
                format!("[counts of process {pid}; process {selected} is not counted]")
            }
            _ if counted < 2 => return,
            Some(pid) => format!("[counts of process {pid} of {counted}]"),
            None => format!("[counts of all {counted} processes]"),
        };
        self.say(&text);
    }

    /// The counts so far.
    pub(super) fn folded(&mut self, whose: Whose) -> Result<Folded, Error> {
        Ok(self.debugger.profile(whose)?)
    }

    /// Forgets the counts of a process, or of all.
    pub(super) fn zero(&mut self, rest: &str) -> Reply {
        let (rest, whose) = self.whose(rest)?;
        super::arguments::nothing(rest)?;
        self.debugger.turn(|session| session.zero(whose))?;
        self.say_whose(whose);
        Ok(())
    }
}
