//! Commands about the list of stops.

use std::collections::BTreeSet;

use super::table::events;
use super::{Reply, Shell};
use crate::annotate::render::terminal::table;
use crate::debugger::expr::Expression;
use crate::debugger::stops::{Access, What};
use crate::debugger::suggest::nearest;
use crate::profile::Event;
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

/// The events that can be caught.
const MISSES: [Event; 8] =
    [Event::I1mr, Event::ILmr, Event::D1mr, Event::DLmr, Event::D1mw, Event::DLmw, Event::Bcm, Event::Bim];

impl Shell {
    /// An expression, its symbols looked up.
    fn parse(&mut self, text: &str) -> Result<Expression, String> {
        let parsed = Expression::parse(text).and_then(|expression| expression.bind(&mut self.debugger));
        parsed.map_err(|error| format!("`{text}`: {error}"))
    }

    /// The condition of a stop, which can be computed in this run.
    fn condition(&mut self, text: Option<&str>) -> Result<Option<Expression>, String> {
        let condition = text.map(|text| self.parse(text)).transpose()?;
        match condition.as_ref().and_then(|condition| self.not_counted(condition)) {
            Some(why) => Err(why),
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
        let location = if place.is_empty() {
            let pc = self.debugger.pc();
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
        let number = self.debugger.stops.add(&spec, What::Code(location.addresses), condition, temporary);
        self.say(&format!("stop {number}: {}", places.join(", ")));
        Ok(())
    }

    /// Why a condition can never be computed: it names an event that is not simulated.
    fn not_counted(&self, condition: &Expression) -> Option<String> {
        use crate::debugger::expr::Counter;
        let events = self.debugger.events();
        condition.counters().find_map(|counter| match counter {
            Counter::Event(event) if !events.contains(event) => Some(not_simulated(event)),
            _ => None,
        })
    }

    pub(super) fn watch(&mut self, rest: &str) -> Reply {
        let (place, condition) = condition(rest);
        let (place, access) = match place.rsplit_once(' ') {
            Some((place, "r")) => (place.trim(), Access::Read),
            Some((place, "w")) => (place.trim(), Access::Write),
            Some((place, "rw")) => (place.trim(), Access::Any),
            _ => (place, Access::Write),
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
                let named =
                    expression.place(&mut self.debugger).map_err(|error| format!("`{place}`: {error}"))?;
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
            return Err(format!("{:#x} is not mapped", range.start));
        }
        let condition = self.condition(condition)?;
        let text = format!("{place} ({:#x}, {} bytes)", range.start, range.end - range.start);
        let number = self.debugger.stops.add(&text, What::Memory(range, access), condition, false);
        self.say(&format!("stop {number}: {text}"));
        Ok(())
    }

    pub(super) fn catch(&mut self, rest: &str) -> Reply {
        let (rest, condition) = condition(rest);
        let condition = self.condition(condition)?;
        let mut words = rest.split_whitespace();
        let what = match words.next() {
            Some("syscall") => {
                let mut numbers = BTreeSet::new();
                for word in words {
                    numbers.insert(syscall(word)?);
                }
                What::Syscall(numbers)
            }
            Some("signal") => What::Signal,
            Some("fork") => What::Fork,
            Some("exec") => What::Exec,
            Some("miss") => {
                let name = words.next().ok_or("which event? `catch miss D1mr in main`")?;
                let event = self.event(name)?;
                if !MISSES.contains(&event) {
                    let names: Vec<&str> = MISSES.iter().map(|event| event.name()).collect();
                    return Err(format!("{name} is no miss; these are: {}", names.join(", ")));
                }
                let within = match (words.next(), words.collect::<Vec<_>>().join(" ")) {
                    (None, _) => None,
                    (Some("in"), function) if !function.is_empty() => {
                        let found = self.debugger.program().functions(&function).into_iter().next();
                        match found {
                            Some(function) => Some(function.range),
                            // Says what is near.
                            None => return self.debugger.program().locate(&function, None).map(|_| ()),
                        }
                    }
                    _ => return Err("write `catch miss EVENT in FUNCTION`".into()),
                };
                What::Miss(event, within)
            }
            other => {
                let known = ["syscall", "signal", "fork", "exec", "miss"];
                let near = other.and_then(|word| nearest(word, known));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(format!("catch what? {}{hint}", known.join(", ")));
            }
        };
        let of = rest.split_once(char::is_whitespace).map_or("", |(_, of)| of.trim());
        let number = self.debugger.stops.add(of, what, condition, false);
        self.say(&format!("stop {number}: catch {rest}"));
        Ok(())
    }

    /// An event that is simulated.
    pub(super) fn event(&self, name: &str) -> Result<Event, String> {
        let event = Event::ALL.into_iter().find(|event| event.name().eq_ignore_ascii_case(name));
        let Some(event) = event else {
            let hint = nearest(name, events().iter().copied())
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(format!("no event `{name}`{hint}; these are: {}", events().join(", ")));
        };
        if self.debugger.events().contains(event) { Ok(event) } else { Err(not_simulated(event)) }
    }

    fn numbers(&self, rest: &str) -> Result<Vec<u32>, String> {
        if rest.is_empty() {
            return Ok(self.debugger.stops.iter().map(|stop| stop.number).collect());
        }
        rest.split_whitespace()
            .map(|word| {
                let number = word.parse().map_err(|_| format!("`{word}` is no number of a stop"))?;
                match self.debugger.stops.get(number) {
                    Some(_) => Ok(number),
                    None => Err(format!("no stop {number}; `info breaks` lists them")),
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
                        format!("{}, once", stop.what.kind())
                    } else {
                        stop.what.kind().into()
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

fn not_simulated(event: Event) -> String {
    let option = if matches!(event, Event::Bc | Event::Bcm | Event::Bi | Event::Bim) {
        "--branch-sim=yes"
    } else {
        "--cache-sim=yes"
    };
    format!("{} is not counted in this run; start it with {option}", event.name())
}

/// The number of a system call, by name or number.
fn syscall(word: &str) -> Result<u64, String> {
    if let Ok(number) = word.parse() {
        return Ok(number);
    }
    let names: Vec<(&str, u64)> = calls::rows().iter().map(|row| (row.name, u64::from(row.number))).collect();
    match names.iter().find(|(name, _)| *name == word) {
        Some((_, number)) => Ok(*number),
        None => Err(match nearest(word, names.iter().map(|(name, _)| *name)) {
            Some(near) => format!("no system call `{word}`; did you mean `{near}`?"),
            None => format!("no system call `{word}`; `cgemu syscalls` lists them"),
        }),
    }
}
