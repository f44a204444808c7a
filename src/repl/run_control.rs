//! Commands that let the program run.

use std::fs::File;

use super::arguments::{CommandLine, command_line, count, nothing, number};
use super::error::Error;
use super::shell::{Reply, Shell, Target};
use crate::debugger;
use crate::debugger::control::Stopped;
use crate::debugger::step::Calls;
use crate::debugger::stops::Trigger;
use crate::debugger::value::Value;
use crate::profile::reason;
use crate::session::{PID, Stop, signal_name};

impl Shell {
    pub(super) fn run_program(&mut self, rest: &str) -> Reply {
        self.begin(rest)?;
        let stopped = self.debugger.go(None, &[])?;
        self.tell(&stopped)
    }

    /// Puts the program at its first instruction, with other arguments if there are any.
    fn begin(&mut self, arguments: &str) -> Reply {
        if !arguments.is_empty() {
            self.set_arguments(arguments)?;
        }
        if self.started || self.other_arguments {
            self.debugger.restart()?;
        }
        self.other_arguments = false;
        self.begun();
        Ok(())
    }

    /// Sets the arguments of the next run, and its input if there is a `< FILE`.
    pub(super) fn set_arguments(&mut self, text: &str) -> Reply {
        let CommandLine { arguments, input } = command_line(text)?;
        if let Some(path) = input {
            let file = File::open(&path).map_err(|error| Error::File {
                path,
                reason: reason(&error),
                hint: "name a file for the program to read",
            })?;
            self.debugger.set_input(file);
        }
        self.debugger.set_arguments(arguments.into_iter().map(Into::into).collect());
        self.other_arguments = true;
        Ok(())
    }

    pub(super) fn start(&mut self, rest: &str) -> Reply {
        self.begin(rest)?;
        let main = self.debugger.program().locate("main", None);
        match main {
            Ok(main) => {
                let stopped = self.debugger.until(&main)?;
                self.tell(&stopped)
            }
            Err(_) => {
                self.say("there is no function `main`: the program is at its first instruction");
                self.here();
                Ok(())
            }
        }
    }

    /// The program has begun with whatever lets it run.
    fn begun(&mut self) {
        self.started = true;
        self.told = false;
    }

    pub(super) fn continue_(&mut self, rest: &str) -> Reply {
        let times = count(rest)?;
        self.begun();
        let mut stopped = Stopped::There;
        for time in 0..times {
            self.reached(time, times);
            stopped = self.debugger.go(None, &[])?;
            if matches!(stopped, Stopped::Ended | Stopped::Asked) {
                break;
            }
        }
        self.tell(&stopped)
    }

    pub(super) fn step(&mut self, rest: &str) -> Reply {
        let steps = count(rest)?;
        self.begun();
        let stopped = self.debugger.step(steps)?;
        self.tell(&stopped)
    }

    pub(super) fn advance(&mut self, rest: &str) -> Reply {
        if rest.is_empty() {
            return Err("how many instructions? `advance 1M`".into());
        }
        // GDB's takes a place.
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let count = count(rest)?;
            self.begun();
            let stopped = self.debugger.advance(count)?;
            self.tell(&stopped)
        } else {
            self.until(rest)
        }
    }

    pub(super) fn next(&mut self, rest: &str) -> Reply {
        let times = count(rest)?;
        self.repeat(times, |shell| shell.debugger.step_over())
    }

    pub(super) fn line(&mut self, rest: &str) -> Reply {
        let (calls, rest) = match rest.strip_prefix("into") {
            Some(rest) => (Calls::Into, rest.trim()),
            None => (Calls::Over, rest),
        };
        let times = count(rest)?;
        self.repeat(times, |shell| shell.debugger.line(calls))
    }

    /// Tells how far a command has come that is done several times.
    pub(super) fn reached(&self, done: u64, all: u64) {
        if let Some(working) = self.setup.working.as_ref().filter(|_| all > 1) {
            working.reached(done, all);
        }
    }

    fn repeat(&mut self, times: u64, one: impl Fn(&mut Shell) -> Result<Stopped, debugger::Error>) -> Reply {
        self.begun();
        let mut stopped = Stopped::There;
        for time in 0..times {
            self.reached(time, times);
            stopped = one(self)?;
            if stopped != Stopped::There {
                break;
            }
        }
        self.tell(&stopped)
    }

    pub(super) fn until(&mut self, rest: &str) -> Reply {
        if rest.is_empty() {
            return self.repeat(1, |shell| shell.debugger.until_behind());
        }
        let location = self.locate(rest)?;
        self.begun();
        let stopped = self.debugger.until(&location)?;
        self.tell(&stopped)
    }

    pub(super) fn finish(&mut self, rest: &str) -> Reply {
        nothing(rest)?;
        self.begun();
        let stopped = self.debugger.finish()?;
        self.tell(&stopped)
    }

    /// Says why the program has stopped, and where it is.
    pub(super) fn tell(&mut self, stopped: &Stopped) -> Reply {
        match stopped {
            Stopped::There => {}
            Stopped::Asked => {
                self.interrupted = true;
                self.say("interrupted");
            }
            Stopped::At(numbers) => {
                for &number in numbers {
                    self.tell_stop(number);
                }
            }
            Stopped::Syscall(number, call) | Stopped::Returned(number, call) => {
                let name = crate::syscalls::table::find(*call).map(|row| row.name.to_owned());
                let name = name.unwrap_or_else(|| call.to_string());
                let way = if matches!(stopped, Stopped::Syscall(..)) { "call to" } else { "returned from" };
                self.say(&format!("stop {number}: catch syscall ({way} syscall {name})"));
            }
            Stopped::Signal(number, signal) => {
                let name = signal_name(*signal);
                self.say(&format!("stop {number}: signal {signal} ({name}) is about to be handled"));
            }
            Stopped::Fatal(number, signal) => {
                let (name, process) = (signal_name(*signal), self.debugger.session().process_looked_at());
                self.say(&format!(
                    "stop {number}: signal {signal} ({name}) is about to end process {process}"
                ));
            }
            Stopped::Forked(number, child) => {
                let kind = self.debugger.stops.told(*number).map_or("", |stop| stop.trigger.kind());
                let by = if kind.ends_with("vfork") { "vforked" } else { "forked" };
                self.say(&format!("stop {number}: {kind} ({by} process {child})"));
            }
            Stopped::Exec(number) => {
                let program = self.debugger.session().mm().exe.clone();
                self.say(&format!("stop {number}: another program was loaded: {program}"));
            }
            Stopped::Ended => return self.ended(),
        }
        self.here();
        Ok(())
    }

    fn tell_stop(&mut self, number: u32) {
        let Some(stop) = self.debugger.stops.told(number) else { return };
        let text = format!("stop {number}: {} {}", stop.trigger.kind(), stop.spec);
        let trigger = stop.trigger.clone();
        self.say(&text);
        self.show_watched(&trigger);
    }

    /// Tells how the program has ended, and writes its profile, once.
    fn ended(&mut self) -> Reply {
        let Some((stop, line)) = self.debugger.session().ending() else { return Ok(()) };
        if std::mem::replace(&mut self.told, true) {
            return Ok(());
        }
        // The variables of GDB.
        let variables = &mut self.debugger.variables;
        variables.retain(|name, _| name != "_exitcode" && name != "_exitsignal");
        let told = match stop {
            Stop::Exited(status) => Some(("_exitcode", status)),
            Stop::Killed(signal) => Some(("_exitsignal", signal)),
            _ => None,
        };
        if let Some((name, value)) = told {
            variables.insert(name.to_owned(), Value::signed(value.into()));
        }
        if let Some(line) = line {
            self.say(&line);
        }
        let how = match stop {
            Stop::Exited(status) => format!("the program has ended with status {status}"),
            Stop::Killed(signal) => format!("the program was ended by signal {signal}"),
            Stop::Interrupted(signal) => format!("the program was ended by your signal {signal}"),
            Stop::Limit(text) | Stop::Refused(text) => format!("{text};"),
        };
        let executed = self.debugger.session().instructions();
        self.say(&format!("{how} after {executed} instructions"));
        if self.debugger.session().tasks().len() > 1 {
            // They wait for each other, or for what is not supported.
            self.info_threads()?;
            self.say("`thread apply all where` shows their calls, `reverse-step` goes back");
        }
        let Some(finished) = self.debugger.session().finished() else {
            self.complain("the profile was not written; `dump` writes one");
            return Err(debugger::Error::Interrupted.into());
        };
        let written = self.setup.output.write(&finished.counts, PID, Target::Whole);
        self.setup.output.report(&finished);
        self.say_written(&written.map_err(Error::Profile)?);
        Ok(())
    }

    /// Leaves the shell if a signal from outside came during a command; a program that has not
    /// ended ends then, so that its profile is written.
    pub(super) fn heed_signal(&mut self) -> bool {
        let Some(signal) = self.debugger.ending_signal().filter(|_| !self.quit) else { return self.quit };
        if self.started {
            let gone = match self.debugger.session().ending() {
                Some(_) => Ok(()),
                None => self.debugger.go(None, &[]).map(drop).map_err(Error::from),
            };
            if let Err(why) = gone.and_then(|()| self.ended()) {
                self.complain(&why.to_string());
            }
        }
        self.status = Some(128 + signal);
        self.quit = true;
        true
    }

    /// After a command that may have moved the program: nothing that was shown is near any more.
    pub(super) fn after_move(&mut self) -> Reply {
        self.listed = None;
        self.debugger.select_frame(0);
        Ok(())
    }

    pub(super) fn stop_after(&mut self, rest: &str) -> Reply {
        const USAGE: &str = "write `stop after N instructions`";
        let rest = rest.strip_prefix("after").ok_or(USAGE)?.trim();
        let rest = rest.strip_suffix("instructions").unwrap_or(rest).trim();
        let more = number(rest).map_err(|why| Error::WithUsage(Box::new(why), USAGE))?;
        let at = self.debugger.session().instructions().saturating_add(more);
        let trigger = Trigger::After(at);
        let number = self.debugger.stops.add(&format!("instruction {at}"), trigger, None, true);
        self.say(&format!("stop {number}: after {at} instructions"));
        Ok(())
    }
}
