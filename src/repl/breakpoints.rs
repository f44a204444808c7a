//! Commands about the list of stops.

use std::collections::BTreeSet;

use super::arguments::event_names;
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::annotate::render::terminal::table;
use crate::debugger::expr::{Counter, Expression};
use crate::debugger::stops::{Trigger, WatchAccess};
use crate::debugger::suggest::nearest;
use crate::profile::Event;
use crate::session::signal_name;
use crate::syscalls::table as calls;

/// Cuts `if EXPR` off the end.
fn condition(text: &str) -> (&str, Option<&str>) {
    if let Some(condition) = text.strip_prefix("if ") {
        return ("", Some(condition));
    }
    match text.find(" if ") {
        Some(at) => (text[..at].trim(), Some(text[at + 4..].trim())),
        None => (text, None),
    }
}

/// Words after `catch`.
const CATCHES: &[&str] = &["syscall", "signal", "fork", "vfork", "exec", "miss"];

/// The events that can be caught.
const MISSES: [Event; 8] =
    [Event::I1mr, Event::ILmr, Event::D1mr, Event::DLmr, Event::D1mw, Event::DLmw, Event::Bcm, Event::Bim];

impl Shell {
    /// An expression, its symbols looked up.
    fn parse(&mut self, text: &str) -> Result<Expression, Error> {
        let parsed = Expression::parse(text).and_then(|expression| expression.bind(&mut self.debugger));
        parsed.map_err(|error| Error::Expression { text: text.to_owned(), error })
    }

    /// The condition of a stop, which can be computed in this run.
    fn condition(&mut self, text: Option<&str>) -> Result<Option<Expression>, Error> {
        let condition = text.map(|text| self.parse(text)).transpose()?;
        match condition.as_ref().and_then(|condition| self.not_counted(condition)) {
            Some(event) => Err(Error::NotCounted(event)),
            None => Ok(condition),
        }
    }

    pub(super) fn break_(&mut self, rest: &str) -> Reply {
        self.breakpoint(rest, false)
    }

    pub(super) fn tbreak(&mut self, rest: &str) -> Reply {
        self.breakpoint(rest, true)
    }

    fn breakpoint(&mut self, rest: &str, temporary: bool) -> Reply {
        let (place, condition) = condition(rest);
        let (place, task) = self.of_thread(place)?;
        let location = if place.is_empty() {
            let pc = self.debugger.selected().map_or_else(|| self.debugger.pc(), |frame| frame.pc);
            self.locate(&format!("*{pc:#x}"))?
        } else {
            self.locate(place)?
        };
        let condition = self.condition(condition)?;
        let spec = match &condition {
            Some(condition) => format!("{} if {}", location.name, condition.text()),
            None => location.name.clone(),
        };
        let places: Vec<String> = location.addresses.iter().map(|&address| self.named(address)).collect();
        let spec = match task {
            Some(task) => format!("{spec} thread {task}"),
            None => spec,
        };
        let trigger = match place.trim() {
            // One instruction of this program.
            "" => Trigger::Code(location.addresses),
            exact if exact.starts_with('*') => Trigger::Code(location.addresses),
            line if line.bytes().all(|byte| byte.is_ascii_digit()) => Trigger::Place(location.name),
            named => Trigger::Place(named.to_owned()),
        };
        let number = self.debugger.stops.add(&spec, trigger, condition, temporary);
        if let Some(stop) = self.debugger.stops.get_mut(number) {
            stop.task = task;
        }
        self.say(&format!("stop {number}: {}", places.join(", ")));
        Ok(())
    }

    /// Cuts `thread N` off the end; the id of the thread.
    fn of_thread<'t>(&mut self, text: &'t str) -> Result<(&'t str, Option<i32>), Error> {
        let (place, number) = match text.rsplit_once(char::is_whitespace) {
            Some((before, number)) => match before.trim_end().strip_suffix("thread") {
                Some(place) if place.is_empty() || place.ends_with(char::is_whitespace) => (place, number),
                _ => return Ok((text, None)),
            },
            None => return Ok((text, None)),
        };
        Ok((place.trim_end(), Some(self.task_named(number)?.tid)))
    }

    /// An event that a condition names and that is not simulated.
    fn not_counted(&self, condition: &Expression) -> Option<Event> {
        let events = self.debugger.events();
        condition.counters().find_map(|counter| match counter {
            Counter::Event(event) if !events.contains(event) => Some(event),
            _ => None,
        })
    }

    pub(super) fn watch(&mut self, rest: &str) -> Reply {
        let (place, condition) = condition(rest);
        let (place, access) = match place.rsplit_once(' ') {
            Some((place, "r")) => (place.trim(), WatchAccess::Read),
            Some((place, "w")) => (place.trim(), WatchAccess::Write),
            Some((place, "rw")) => (place.trim(), WatchAccess::Any),
            _ => (place, WatchAccess::Write),
        };
        if place.is_empty() {
            return Err(
                "what is to be watched? `watch SYMBOL`, `watch 0x1234 rw`, `watch u32[$rsp+8]`".into()
            );
        }
        let range = match self.debugger.program().symbol(place) {
            Some((address, size)) => address..address.saturating_add(size.max(1)),
            None => {
                let expression = self.parse(place)?;
                let named = expression
                    .place(&mut self.debugger)
                    .map_err(|error| Error::Expression { text: place.to_owned(), error })?;
                match named {
                    Some((address, size)) => address..address.saturating_add(size.max(1) as u64),
                    None => {
                        let address = self.address(place)?;
                        address..address.saturating_add(8)
                    }
                }
            }
        };
        let mut byte = [0];
        if self.debugger.session().read(range.start, &mut byte).is_err() {
            return Err(Error::NotMapped(range.start));
        }
        let condition = self.condition(condition)?;
        let text = format!("{place} ({:#x}, {} bytes)", range.start, range.end - range.start);
        let number = self.debugger.stops.add(&text, Trigger::Memory(range, access), condition, false);
        let space = self.debugger.session().space_looked_at();
        if let Some(stop) = self.debugger.stops.get_mut(number) {
            stop.space = Some(space);
        }
        self.say(&format!("stop {number}: {text}"));
        Ok(())
    }

    pub(super) fn catch(&mut self, rest: &str) -> Reply {
        let (rest, condition) = condition(rest);
        let condition = self.condition(condition)?;
        let mut words = rest.split_whitespace();
        let trigger = match words.next() {
            Some("syscall") => {
                let mut numbers = BTreeSet::new();
                for word in words {
                    numbers.insert(syscall(word)?);
                }
                Trigger::Syscall(numbers)
            }
            Some("signal") => {
                let mut numbers = BTreeSet::new();
                for word in words.filter(|word| *word != "all") {
                    numbers.insert(signal(word)?);
                }
                Trigger::Signal(numbers)
            }
            Some("fork") => alone(words, Trigger::Fork)?,
            Some("vfork") => alone(words, Trigger::Vfork)?,
            Some("exec") => alone(words, Trigger::Exec)?,
            Some("miss") => {
                let name = words.next().ok_or("which event? `catch miss D1mr in main`")?;
                let event = self.event(name)?;
                if !MISSES.contains(&event) {
                    let misses = MISSES.iter().map(|event| event.name()).collect();
                    return Err(Error::NoMiss { name: name.to_owned(), misses });
                }
                let within = match (words.next(), words.collect::<Vec<_>>().join(" ")) {
                    (None, _) => None,
                    (Some("in"), function) if !function.is_empty() => {
                        let found = self.debugger.program().functions(&function).into_iter().next();
                        match found {
                            Some(function) => Some(function.range),
                            // Says what is near.
                            None => {
                                self.debugger.program().locate(&function, None)?;
                                return Err(Error::Inlined(function));
                            }
                        }
                    }
                    _ => return Err("write `catch miss EVENT in FUNCTION`".into()),
                };
                Trigger::Miss(event, within)
            }
            other => {
                let nearest = other.and_then(|word| nearest(word, CATCHES));
                return Err(Error::Choice { question: "catch", known: CATCHES, nearest });
            }
        };
        let of = rest.split_once(char::is_whitespace).map_or("", |(_, of)| of.trim());
        let number = self.debugger.stops.add(of, trigger, condition, false);
        self.say(&format!("stop {number}: catch {rest}"));
        Ok(())
    }

    /// An event that is simulated.
    pub(super) fn event(&self, name: &str) -> Result<Event, Error> {
        let event = Event::ALL.into_iter().find(|event| event.name().eq_ignore_ascii_case(name));
        let Some(event) = event else {
            return Err(Error::Event { name: name.to_owned(), nearest: nearest(name, event_names()) });
        };
        if self.debugger.events().contains(event) { Ok(event) } else { Err(Error::NotCounted(event)) }
    }

    fn numbers(&self, rest: &str) -> Result<Vec<u32>, Error> {
        if rest.is_empty() {
            return Ok(self.debugger.stops.iter().map(|stop| stop.number).collect());
        }
        rest.split_whitespace()
            .map(|word| {
                let number = word.parse().map_err(|_| Error::NoStopNumber(word.to_owned()))?;
                match self.debugger.stops.get(number) {
                    Some(_) => Ok(number),
                    None => Err(Error::NoStop(number)),
                }
            })
            .collect()
    }

    pub(super) fn delete(&mut self, rest: &str) -> Reply {
        for number in self.numbers(rest)? {
            self.debugger.stops.remove(number);
        }
        Ok(())
    }

    pub(super) fn enable(&mut self, rest: &str) -> Reply {
        self.set_enabled(rest, true)
    }

    pub(super) fn disable(&mut self, rest: &str) -> Reply {
        self.set_enabled(rest, false)
    }

    fn set_enabled(&mut self, rest: &str, enabled: bool) -> Reply {
        for number in self.numbers(rest)? {
            if let Some(stop) = self.debugger.stops.get_mut(number) {
                stop.enabled = enabled;
            }
        }
        Ok(())
    }

    pub(super) fn info_breaks(&mut self) -> Reply {
        let rows: Vec<Vec<String>> = self
            .debugger
            .stops
            .iter()
            .map(|stop| {
                vec![
                    stop.number.to_string(),
                    if stop.temporary {
                        format!("{}, once", stop.trigger.kind())
                    } else {
                        stop.trigger.kind().into()
                    },
                    if stop.enabled { "yes" } else { "no" }.into(),
                    stop.hits.to_string(),
                    stop.spec.clone(),
                ]
            })
            .collect();
        if rows.is_empty() {
            self.say("no stops");
        } else {
            let text = table(&["number", "kind", "enabled", "hits", "what"], rows);
            self.say(&text);
        }
        Ok(())
    }
}

/// The trigger of a word after which none follows.
fn alone<'w>(mut words: impl Iterator<Item = &'w str>, trigger: Trigger) -> Result<Trigger, Error> {
    match words.next() {
        Some(word) => Err(Error::Trailing(word.to_owned())),
        None => Ok(trigger),
    }
}

/// The number of a signal, by number or name, with SIG or without.
fn signal(word: &str) -> Result<i32, Error> {
    const ALL: std::ops::RangeInclusive<i32> = 1..=64;
    let upper = word.to_ascii_uppercase();
    let wanted = if upper.starts_with("SIG") { upper } else { format!("SIG{upper}") };
    let number = word.parse().ok().filter(|number| ALL.contains(number));
    number.or_else(|| ALL.into_iter().find(|number| signal_name(*number) == wanted)).ok_or_else(|| {
        let names: Vec<String> = ALL.map(|number| signal_name(number).into_owned()).collect();
        Error::Unknown {
            kind: "signal",
            name: word.to_owned(),
            nearest: nearest(&wanted, names.iter().map(String::as_str)),
            hint: "SIGUSR1, or a number from 1 to 64".to_owned(),
        }
    })
}

/// The number of a system call, by name or number.
fn syscall(word: &str) -> Result<u64, Error> {
    if let Ok(number) = word.parse() {
        return Ok(number);
    }
    let names: Vec<(&str, u64)> = calls::rows().iter().map(|row| (row.name, u64::from(row.number))).collect();
    match names.iter().find(|(name, _)| *name == word) {
        Some((_, number)) => Ok(*number),
        None => Err(Error::Unknown {
            kind: "system call",
            name: word.to_owned(),
            nearest: nearest(word, names.iter().map(|(name, _)| *name)),
            hint: "`cgemu syscalls` lists them".to_owned(),
        }),
    }
}
