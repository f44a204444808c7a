//! The debugger with several threads and processes: the way back, and steps of one thread.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::sessions::config;
use crate::common::{cgemu, stderr, stdout, tool};
use cgemu::debugger::Debugger;
use cgemu::debugger::control::Stopped;
use cgemu::session::{Config, Control, CountModel, Whose};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/repl/tasks.c");

pub fn built(dir: &Path) {
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
    format!("{pc:#x} {:?} {:?} {:?}", session.tasks(), session.processes(), session.counts(Whose::Selected))
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
        let end =
            (debugger.session().instructions(), format!("{:?}", debugger.session().counts(Whose::Selected)));
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
        let again =
            (debugger.session().instructions(), format!("{:?}", debugger.session().counts(Whose::Selected)));
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

/// The number of the line of the source that holds `text`.
fn line_of(text: &str) -> usize {
    let source = fs::read_to_string(SOURCE).expect("the source");
    source.lines().position(|line| line.contains(text)).expect("a line of the source") + 1
}

/// Runs commands, one a line, over the program; what they print, which has these parts in this
/// order.
pub fn prints(dir: &Path, commands: &str, parts: &[&str]) -> String {
    fs::write(dir.join("script"), commands).expect("written");
    let words = ["repl", "--commands=script", "--cachegrind-out-file=out", "./tasks"];
    let out = cgemu(dir, &words).output().expect("cgemu starts");
    let (out, err) = (stdout(&out), stderr(&out));
    let mut rest = out.as_str();
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => panic!("no {part:?} (in its place) after\n{commands}\nin\n{out}{err}"),
        }
    }
    out + &err
}

/// In the child, while the parent sleeps in read(2) and two threads wait for their turns.
pub const IN_THE_CHILD: &str = "break work\nrun\ncontinue 2\n";

#[test]
fn threads_and_processes_are_listed_and_told() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let told = ["[thread 1001 of process 1000]", "[thread 1002 of process 1000]"];
    prints(dir.path(), "break work\nrun\ncontinue\n", &told);
    let list = [
        "[thread 1003 of process 1003]",
        "  1  task 1000 of process 1000 (tasks)  sleeping in read(3, 0x",
        ", 1): read from an empty pipe  ",
        " Ir  0x",
        "  2  task 1001 of process 1000 (tasks)  ready  ",
        " Ir  0x",
        "<work+",
        "> 4  task 1003 of process 1003 (tasks)  running  ",
        " Ir  0x",
        "  1  process 1000 of 999 (tasks)  3 threads  ",
        " Ir  /",
        "> 4  process 1003 of 1000 (tasks)  1 thread  ",
        " Ir  /",
    ];
    let commands = format!("{IN_THE_CHILD}info threads\ninfo processes\nthread 9\n");
    let out = prints(dir.path(), &commands, &list);
    assert!(out.contains("no thread 9; `info threads` lists them"), "{out}");
}

#[test]
fn another_thread_is_looked_at() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let out = prints(dir.path(), &format!("{IN_THE_CHILD}delete\ncontinue\n"), &["has ended"]);
    let profile = |name: &str| fs::read(dir.path().join(name)).expect("a profile");
    let (printed, before) = (out.lines().last().map(str::to_owned), profile("out"));

    let read = format!("main at {SOURCE}:{}", line_of("read(ends[0]"));
    let part = format!("counter at {SOURCE}:{}", line_of("long part ="));
    let commands = format!(
        "{IN_THE_CHILD}thread 1\nwhere\nthread\nthread 1001\nwhere\nprint total\nx /1gx &total\n\
         info registers rip\ndisas 1\nlist\ninfo files\nprocess 1003\ninfo process\nprocess 1\ninfo process\ninfo maps\n\
         thread apply all where 1\nthread apply 2-3 4 print $rip\nthread name first of all\nthread find ^first\nthread find 1002\n\
         delete\ncontinue\n"
    )
    .replace("", "");
    let out = prints(
        dir.path(),
        &commands,
        &[
            "1  task 1000 of process 1000 (tasks)  sleeping in read(3, ",
            "sleeping in read(3, ",
            &read,
            "> 1  task 1000",
            "2  task 1001 of process 1000 (tasks)  ready",
            "#0",
            "work at ",
            &part,
            "= 0\n",
            "<total>:\t0x0000000000000000",
            "<work+",
            "=> 0x",
            "long sum = 0",
            "pipe:",
            "4  task 1003",
            "process 1003 of 1000, group 1000",
            "1  task 1000",
            "process 1000 of 999, group 1000",
            "[stack]",
            "Thread 4  task 1003",
            "work at",
            "Thread 3  task 1002",
            "Thread 2  task 1001",
            "Thread 1  task 1000",
            "sleeping in read(3, ",
            "Thread 2  task 1001",
            "<work+",
            "Thread 3  task 1002",
            "<work+",
            "Thread 4  task 1003",
            "<work+",
            "> 1  task 1000 of process 1000 (first of all)",
            "  3  task 1002",
            "has ended",
        ],
    );
    // Looking changes nothing.
    assert_eq!(out.lines().last().map(str::to_owned), printed);
    assert!(profile("out") == before, "another profile after looking");

    for (commands, error) in [
        ("thread apply all\n", "write `thread apply all COMMAND`"),
        ("thread apply 9 where\n", "no thread 9"),
        ("thread apply all continue\n", "`continue` lets the program run"),
        ("thread find\n", "which name"),
        ("thread find (\n", "`(` is no regular expression"),
        ("process 2\n", "no process 2"),
        ("run\nthread\n", "all have ended"),
    ] {
        prints(dir.path(), commands, &[]).find(error).unwrap_or_else(|| panic!("{commands}: no {error}"));
    }
}

/// A step goes on with the thread that was chosen, and others stop at their breakpoints meanwhile.
#[test]
fn steps_of_a_chosen_thread() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let behind = format!("{}", line_of("sum += i & 7"));
    prints(
        dir.path(),
        &format!(
            "{IN_THE_CHILD}delete\nthread 3\nline\nthread\nthread 2\nfinish\nthread\nthread 1\nnext\nwhere 1\n"
        ),
        &[
            "3  task 1002",
            "tasks.c:",
            &behind,
            "> 3  task 1002",
            "counter",
            "> 2  task 1001",
            "task 1000",
            "read",
        ],
    );
    prints(
        dir.path(),
        &format!("{IN_THE_CHILD}thread 1\nnext\n"),
        &["task 1000", "stop 1: ", "[thread 1001"],
    );
}

/// A step back is one of the thread that was chosen, over the turns of others, and the step forth
/// leads to where it was.
#[test]
fn a_step_back_is_one_of_the_thread() {
    let dir = tempfile::tempdir().expect("a directory");
    built(dir.path());
    let mut debugger = start(&config(vec![dir.path().join("tasks").into()], CountModel::Arch));
    let end = debugger.session().instructions() + 700_000;
    assert_eq!(debugger.go(Some(end), &[]).expect("it goes on"), Stopped::There);
    let tasks = debugger.session().tasks();
    assert_eq!(tasks.len(), 4, "{tasks:?}");
    debugger.checkpoint("here").expect("a checkpoint");
    for task in &tasks {
        for count in [1, 17, 90_000, 150_000, u64::MAX] {
            assert!(debugger.restore("here").expect("restored") && debugger.select_task(task.tid));
            let executed = debugger.session().instructions_of(task.tid).expect("it is there");
            debugger.step_back(count).expect("back");
            let left = executed.saturating_sub(count);
            assert_eq!(debugger.tid(), task.tid);
            assert_eq!(debugger.session().instructions_of(task.tid), Some(left), "{count} of {executed}");
            if left == 0 {
                let why = debugger.step_back(1).expect_err("nothing before").to_string();
                assert!(why.contains("beginning of the thread"), "{why}");
                continue;
            }
            debugger.step(count).expect("forth");
            assert_eq!(debugger.session().instructions_of(task.tid), Some(executed), "{count}");
            assert_eq!((debugger.tid(), debugger.pc()), (task.tid, task.pc), "{count}");
        }
    }
    // Out of the function that a thread is in, which does not run, and over the call of it again.
    assert!(debugger.restore("here").expect("restored"));
    let name = |debugger: &mut Debugger| debugger.selected().and_then(|frame| frame.function);
    let working = tasks
        .iter()
        .skip(1)
        .find(|task| debugger.select_task(task.tid) && name(&mut debugger).as_deref() == Some("work"));
    let tid = working.expect("one that works").tid;
    debugger.finish_back().expect("back to the call");
    assert_eq!(debugger.tid(), tid);
    let call = debugger.pc();
    let instruction = debugger.instruction_at(call).expect("a call");
    debugger.step_over().expect("over it");
    assert_eq!((debugger.tid(), debugger.pc()), (tid, instruction.next_ip()));
    debugger.step_back_over().expect("back over it");
    assert_eq!((debugger.tid(), debugger.pc()), (tid, call));
}

/// Where all wait for each other, the shell shows for what, and the run goes back from there.
#[test]
fn a_deadlock_is_shown() {
    let dir = tempfile::tempdir().expect("a directory");
    let source = "#include <pthread.h>\n#include <unistd.h>\n\
        static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;\n\
        static void both(pthread_mutex_t *a, pthread_mutex_t *b)\n{\n    pthread_mutex_lock(a);\n    usleep(1000);\n\
        pthread_mutex_lock(b);\n}\n\
        static void *other(void *arg)\n{\n    both(&two, &one);\n    return arg;\n}\n\
        int main(void)\n{\n    pthread_t thread;\n    pthread_create(&thread, NULL, other, NULL);\n    both(&one, &two);\n    return 0;\n}\n";
    fs::write(dir.path().join("dead.c"), source).expect("written");
    let words = ["-g", "-O0", "-static", "-pthread", "-o", "tasks", "dead.c"];
    let out = tool("gcc", dir.path(), "gcc", &words);
    assert!(out.status.success(), "{}", stderr(&out));
    let commands = "run\nthread apply all where\nprint $_exitcode + 0\n";
    prints(
        dir.path(),
        commands,
        &[
            "deadlock: ",
            "1  task 1000 of process 1000 (tasks)  sleeping in futex(0x",
            "2  task 1001 of process 1000 (tasks)  sleeping in futex(0x",
            "Thread 2  task 1001",
            "both at ",
            "other at ",
            "Thread 1  task 1000",
            "both at ",
            "main at ",
        ],
    );
    let commands =
        "run\nbreak both\nthread 2\nreverse-finish\nreverse-continue\nreverse-continue\nwhere 2\ncontinue\n";
    prints(dir.path(), commands, &["deadlock: ", "both", "other", "stop 1: ", "both", "main", "stop 1: "]);
}
