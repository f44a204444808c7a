//! The debugger with several threads and processes: the way back, and steps of one thread.

use std::path::Path;
use std::sync::Arc;

use crate::common::sessions::config;
use crate::common::{cgemu, stderr, stdout, tool};
use cgemu::debugger::Debugger;
use cgemu::debugger::control::Stopped;
use cgemu::session::{Config, Control, CountModel};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/repl/tasks.c");

fn built(dir: &Path) {
    let out = tool("gcc", dir, "gcc", &["-g", "-O0", "-static", "-pthread", "-o", "tasks", SOURCE]);
    assert!(out.status.success(), "{}", stderr(&out));
}

fn start(config: &Config) -> Debugger {
    let mut debugger = Debugger::start(config.clone(), Arc::new(Control::default())).expect("it starts");
    let main = debugger.program().locate("main", None).expect("a place");
    assert_eq!(debugger.until(&main).expect("main"), Stopped::There);
    debugger
}

/// Everything that is compared of a moment.
fn state(debugger: &mut Debugger) -> String {
    let pc = debugger.pc();
    let session = debugger.session();
    format!("{pc:#x} {:?} {:?} {:?}", session.tasks(), session.processes(), session.counts(None))
}

#[test]
fn the_way_back_over_forks_and_exits_is_the_same_again() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    for model in [CountModel::Arch, CountModel::Valgrind] {
        let mut debugger = start(&config(vec![dir.path().join("tasks").into()], model));
        debugger.checkpoint("main").expect("a checkpoint");
        let begin = debugger.session().instructions();
        let moments: Vec<u64> = (1..100).map(|step| begin + step * 97_003).collect();
        let mut states = Vec::new();
        for &moment in &moments {
            if debugger.go(Some(moment), &[]).expect("it goes on") == Stopped::Ended {
                break;
            }
            states.push(state(&mut debugger));
        }
        assert!(states.len() > 10, "{} moments", states.len());
        let most = states.iter().map(|state| state.matches("TaskView").count()).max();
        assert_eq!(most, Some(4), "threads and the child");
        let end = (debugger.session().instructions(), format!("{:?}", debugger.session().counts(None)));
        // Back one by one, over the exits and the fork.
        for (&moment, state_then) in moments.iter().zip(&states).rev() {
            debugger.travel(moment).expect("back");
            assert_eq!(&state(&mut debugger), state_then, "{model:?} at {moment}");
        }
        // From the checkpoint on to the end once more.
        assert!(debugger.restore("main").expect("restored"));
        for (&moment, state_then) in moments.iter().zip(&states) {
            assert_eq!(debugger.go(Some(moment), &[]).expect("it goes on"), Stopped::There);
            assert_eq!(&state(&mut debugger), state_then, "{model:?} again at {moment}");
        }
        assert_eq!(debugger.go(None, &[]).expect("the end"), Stopped::Ended);
        let again = (debugger.session().instructions(), format!("{:?}", debugger.session().counts(None)));
        assert_eq!(again, end, "{model:?}");
    }
}

#[test]
fn a_step_is_one_of_the_thread() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let mut debugger = start(&config(vec![dir.path().join("tasks").into()], CountModel::Arch));
    let counter = debugger.program().locate("counter", None).expect("a place");
    debugger.stops.add(
        "counter",
        cgemu::debugger::stops::Trigger::Code(counter.addresses.clone()),
        None,
        true,
    );
    assert_eq!(debugger.go(None, &[]).expect("counter"), Stopped::At(vec![1]));
    let tid = debugger.tid();
    let work = debugger.program().locate("work", None).expect("a place");
    assert_eq!(debugger.until(&work).expect("work"), Stopped::There);
    assert_eq!(debugger.tid(), tid);
    let (ran, all) = (debugger.session().task_instructions(), debugger.session().instructions());
    // Longer than a turn, and others run meanwhile.
    assert_eq!(debugger.step(150_000).expect("steps"), Stopped::There);
    assert_eq!((debugger.tid(), debugger.session().task_instructions()), (tid, ran + 150_000));
    assert!(debugger.session().instructions() > all + 150_000, "others have run");
    // The function returns to its caller in this thread, and not in another one that has called it.
    assert_eq!(debugger.finish().expect("finish"), Stopped::There);
    assert_eq!(debugger.tid(), tid);
    let function = debugger.selected().and_then(|frame| frame.function);
    assert_eq!(function.as_deref(), Some("counter"));
}

#[test]
fn threads_and_processes_are_listed_and_told() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let script = "break work\nrun\ncontinue\ncontinue\ninfo threads\ninfo processes\nthread 1001\nthread 9\n";
    std::fs::write(dir.path().join("script"), script).expect("written");
    let out = cgemu(dir.path(), &["repl", "--commands", "script", "./tasks"]).output().expect("cgemu starts");
    let (out, err) = (stdout(&out), stderr(&out));
    for expected in [
        "[thread 1001 of process 1000]",
        "[thread 1002 of process 1000]",
        "[thread 1003 of process 1003]",
        "  1  task 1000 of process 1000 (tasks)  sleeping in read (",
        "  2  task 1001 of process 1000 (tasks)  ready  0x",
        "> 4  task 1003 of process 1003 (tasks)  running  0x",
        "  process 1000 of 999 (tasks)  3 threads\n> process 1003 of 1000 (tasks)  1 thread\n",
    ] {
        assert!(out.contains(expected), "{expected}:\n{out}\n{err}");
    }
    assert!(err.contains("no thread 9; `info threads` lists them"), "{err}");
}
