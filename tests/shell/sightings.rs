//! Stops at misses and accesses are at exactly the instructions at which the counters rise when
//! the run is stepped one instruction at a time.

use std::path::Path;
use std::sync::Arc;

use crate::common::sessions::{config, instructions_only};
use crate::common::{stderr, tool};
use cgemu::debugger::Debugger;
use cgemu::debugger::control::Stopped;
use cgemu::debugger::stops::{Trigger, WatchAccess};
use cgemu::profile::Event;
use cgemu::session::{Config, Control, CountModel, Schedule, Whose};

/// Instructions that are stepped through.
const STEPS: u64 = 3000;

const EVENTS: [Event; 8] =
    [Event::I1mr, Event::ILmr, Event::D1mr, Event::DLmr, Event::D1mw, Event::DLmw, Event::Bcm, Event::Bim];

fn built(dir: &Path, model: CountModel) -> Config {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/repl/misses.c");
    let out = tool("gcc", dir, "gcc", &["-g", "-O1", "-static", "-o", "misses", source]);
    assert!(out.status.success(), "{}", stderr(&out));
    std::fs::write(dir.join("input"), "typed\n").expect("written");
    config(vec![dir.join("misses").into()], model)
}

/// A run of its own, with its own input, at the beginning of main.
fn start(config: &Config) -> Debugger {
    let mut config = config.clone();
    let input = config.machine.program.with_file_name("input");
    config.machine.stdin = Some(Arc::new(std::fs::File::open(input).expect("open")));
    let mut debugger = Debugger::start(config, Arc::new(Control::default())).expect("it starts");
    let main = debugger.program().locate("main", None).expect("a place");
    assert_eq!(debugger.until(&main).expect("main"), Stopped::There);
    debugger
}

/// The moments until `end` at which each of the counters rises, by single steps.
fn rises(stepped: &mut Debugger, whose: Whose, end: u64) -> Vec<Vec<u64>> {
    let begin = stepped.session().instructions();
    let mut rises: Vec<Vec<u64>> = vec![Vec::new(); EVENTS.len()];
    let mut before = stepped.session().counts(whose);
    for now in begin + 1..=end {
        stepped.travel(now).expect("a step");
        let counts = stepped.session().counts(whose);
        for (event, rises) in EVENTS.into_iter().zip(&mut rises) {
            if counts[event] > before[event] {
                rises.push(now);
            }
        }
        before = counts;
    }
    rises
}

/// The moments until `end` at which the run stops.
fn moments(debugger: &mut Debugger, end: u64) -> Vec<u64> {
    let mut moments = Vec::new();
    loop {
        match debugger.go(Some(end), &[]).expect("it goes on") {
            Stopped::At(_) => moments.push(debugger.session().instructions()),
            Stopped::There => return moments,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn misses_are_where_the_counters_rise() {
    let dir = tempfile::tempdir().expect("a directory");
    for model in [CountModel::Arch, CountModel::Valgrind] {
        let config = built(dir.path(), model);
        let mut stepped = start(&config);
        let begin = stepped.session().instructions();
        let rises = rises(&mut stepped, Whose::Selected, begin + STEPS);
        for (event, rises) in EVENTS.into_iter().zip(&rises) {
            assert!(!rises.is_empty() || matches!(event, Event::DLmr), "no {event:?}");
            let mut debugger = start(&config);
            debugger.stops.add("", Trigger::Miss(event, None), None, false);
            let found = moments(&mut debugger, begin + STEPS);
            assert_eq!(&found, rises, "{event:?} with {model:?}");
            // The same on the way back.
            let mut back = Vec::new();
            while debugger.session().instructions() > begin {
                match debugger.continue_back().expect("it goes back") {
                    Stopped::At(_) => back.push(debugger.session().instructions()),
                    _ => break,
                }
            }
            back.retain(|moment| *moment > begin);
            back.reverse();
            let rest = rises.iter().filter(|moment| **moment < begin + STEPS).copied();
            assert_eq!(back, rest.collect::<Vec<_>>(), "{event:?} back, with {model:?}");
        }
    }
}

/// Several threads and processes in short turns.
#[test]
fn misses_of_several_tasks_are_where_the_counters_rise() {
    const LONG: u64 = 2500;
    let dir = tempfile::tempdir().expect("a directory");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/repl/tasks.c");
    let words = ["-g", "-O0", "-static", "-pthread", "-o", "tasks", source];
    let out = tool("gcc", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    std::fs::write(dir.path().join("input"), "").expect("written");
    for model in [CountModel::Arch, CountModel::Valgrind] {
        let mut config = config(vec![dir.path().join("tasks").into()], model);
        config.machine.schedule = Schedule { quantum: 40, seed: None };
        let several = |debugger: &mut Debugger| {
            let fork = debugger.stops.add("", Trigger::Fork, None, true);
            assert_eq!(debugger.go(None, &[]).expect("a fork"), Stopped::Forked(fork, 1003));
            debugger.session().instructions()
        };
        let mut stepped = start(&config);
        let begin = several(&mut stepped);
        let rises = rises(&mut stepped, Whose::All, begin + LONG);
        assert_eq!(stepped.session().tasks().len(), 4, "all of them ran");
        for (event, rises) in EVENTS.into_iter().zip(&rises) {
            let mut debugger = start(&config);
            several(&mut debugger);
            debugger.stops.add("", Trigger::Miss(event, None), None, false);
            let found = moments(&mut debugger, begin + LONG);
            assert_eq!(&found, rises, "{event:?} with {model:?}");
        }
        assert!(rises.iter().map(Vec::len).sum::<usize>() > 50, "{rises:?}");
    }
}

#[test]
fn stores_are_where_the_bytes_change() {
    let dir = tempfile::tempdir().expect("a directory");
    let all = built(dir.path(), CountModel::Arch);
    let instructions = instructions_only(all.clone());
    for (config, name, changes) in
        [(&all, "kept", None), (&all, "input", Some(1)), (&instructions, "kept", None)]
    {
        let mut stepped = start(config);
        let (address, size) = stepped.program().data(name).expect("data");
        let begin = stepped.session().instructions();
        let mut bytes = vec![0; size as usize];
        let mut rises = Vec::new();
        for now in begin + 1..=begin + STEPS {
            let before = bytes.clone();
            stepped.travel(now).expect("a step");
            stepped.session().read(address, &mut bytes).expect("mapped");
            if bytes != before {
                rises.push(now);
            }
        }
        assert!(changes.map_or(rises.len() > 20, |count| rises.len() == count), "{name}: {rises:?}");
        let mut debugger = start(config);
        debugger.stops.add("", Trigger::Memory(address..address + size, WatchAccess::Write), None, false);
        let found = moments(&mut debugger, begin + STEPS);
        // A store of what is there already is a stop as well.
        let missing: Vec<&u64> = rises.iter().filter(|moment| !found.contains(moment)).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        assert!(found.len() <= rises.len() + 3, "{name}: {found:?} {rises:?}");
    }
}
