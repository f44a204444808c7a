//! Several tasks and what they do to each other: who is woken before whom, what becomes of children
//! and groups, and of threads at execve(2). The answers are those of Linux.

use crate::syscalls::testing::{DATA, Tasks};

const MMAP: u64 = 9;
const RT_SIGPROCMASK: u64 = 14;
const PAUSE: u64 = 34;
const CLONE: u64 = 56;
const EXIT: u64 = 60;
const WAIT4: u64 = 61;
const KILL: u64 = 62;
const SETPGID: u64 = 109;
const GETPPID: u64 = 110;
const PRCTL: u64 = 157;
const GETTID: u64 = 186;
const FUTEX: u64 = 202;
const EXIT_GROUP: u64 = 231;

const FORK: u64 = 17;
const THREAD: u64 = 0x100 | 0x200 | 0x400 | 0x800 | 0x1_0000;
const FIRST: i32 = 1000;

const FUTEX_WAIT: u64 = 0;
const FUTEX_WAKE: u64 = 1;
const FUTEX_REQUEUE: u64 = 3;
const PRIVATE: u64 = 128;
const SIGHUP: u64 = 1;
const SIGCONT: u64 = 18;
const SIGSTOP: u64 = 19;
const WUNTRACED: u64 = 2;
const WCONTINUED: u64 = 8;

fn spawn(tasks: &mut Tasks, maker: i32, flags: u64) -> i32 {
    tasks.call(maker, CLONE, &[flags, 0]).expect("a new task") as i32
}

/// Waits for a child; its status.
fn status(tasks: &mut Tasks, parent: i32, child: i32, options: u64) -> u64 {
    assert!(tasks.call(parent, GETTID, &[]).is_some()); // its memory is the one that is loaded
    tasks.machine.put_words(DATA + 8, &[0]);
    assert_eq!(tasks.call(parent, WAIT4, &[child as u64, DATA + 8, options]), Some(child.into()));
    tasks.machine.word(DATA + 8)
}

#[test]
fn futex_waiters_wake_in_the_order_in_which_they_came() {
    let mut tasks = Tasks::new();
    let threads: Vec<i32> = (0..4).map(|_| spawn(&mut tasks, FIRST, THREAD)).collect();
    for at in [2, 0, 3, 1] {
        assert_eq!(tasks.call(threads[at], FUTEX, &[DATA, FUTEX_WAIT | PRIVATE, 0]), None);
    }
    assert_eq!(tasks.call(FIRST, FUTEX, &[DATA, FUTEX_WAKE | PRIVATE, 2]), Some(2));
    assert_eq!(tasks.ready(), [threads[2], threads[0]]);
    assert_eq!(tasks.call(FIRST, FUTEX, &[DATA, FUTEX_WAKE | PRIVATE, 9]), Some(2));
    assert_eq!(tasks.ready(), [threads[2], threads[0], threads[3], threads[1]]);
    for thread in threads {
        assert_eq!(tasks.goes_on(thread), Some(0));
    }
}

#[test]
fn futex_waiters_move_over_the_borders_of_processes() {
    let mut tasks = Tasks::new();
    let shared = tasks.call(FIRST, MMAP, &[0, 4096, 3, 0x21, u64::MAX, 0]).expect("memory") as u64;
    let children: Vec<i32> = (0..3).map(|_| spawn(&mut tasks, FIRST, FORK)).collect();
    for child in &children {
        assert_eq!(tasks.call(*child, FUTEX, &[shared, FUTEX_WAIT, 0]), None);
    }
    // One wakes, and two wait behind the other word.
    assert_eq!(tasks.call(FIRST, FUTEX, &[shared, FUTEX_REQUEUE, 1, 5, shared + 64]), Some(3));
    assert_eq!(tasks.ready(), [children[0]]);
    assert_eq!(tasks.call(FIRST, FUTEX, &[shared, FUTEX_WAKE, 9]), Some(0));
    assert_eq!(tasks.call(children[0], FUTEX, &[shared + 64, FUTEX_WAKE, 1]), Some(1));
    assert!(tasks.ready().contains(&children[1]) && !tasks.ready().contains(&children[2]));
    // Without memory in common there is nobody.
    assert_eq!(tasks.call(FIRST, FUTEX, &[DATA, FUTEX_WAKE, 9]), Some(0));
}

#[test]
fn orphans_go_to_the_nearest_subreaper() {
    const PR_SET_CHILD_SUBREAPER: u64 = 36;
    let mut tasks = Tasks::new();
    let child = spawn(&mut tasks, FIRST, FORK);
    let [first, second] = [0, 1].map(|_| spawn(&mut tasks, child, FORK));
    assert_eq!(tasks.call(first, GETPPID, &[]), Some(child.into()));
    assert_eq!(tasks.call(FIRST, PRCTL, &[PR_SET_CHILD_SUBREAPER, 1]), Some(0));
    assert_eq!(tasks.call(child, EXIT_GROUP, &[3]), None);
    assert_eq!(tasks.call(first, GETPPID, &[]), Some(FIRST.into()));
    assert_eq!(status(&mut tasks, FIRST, child, 0), 0x300);
    assert_eq!(tasks.call(second, EXIT_GROUP, &[4]), None);
    assert_eq!(status(&mut tasks, FIRST, second, 0), 0x400);
    // Without one they go to init, which waits for them at once.
    assert_eq!(tasks.call(FIRST, PRCTL, &[PR_SET_CHILD_SUBREAPER, 0]), Some(0));
    let third = spawn(&mut tasks, first, FORK);
    assert_eq!(tasks.call(first, EXIT_GROUP, &[0]), None);
    assert_eq!(tasks.call(third, GETPPID, &[]), Some(1));
}

#[test]
fn a_child_of_a_thread_stays_with_the_process() {
    let mut tasks = Tasks::new();
    let thread = spawn(&mut tasks, FIRST, THREAD);
    let child = spawn(&mut tasks, thread, FORK);
    assert_eq!(tasks.call(thread, EXIT, &[0]), None);
    assert_eq!(tasks.call(child, GETPPID, &[]), Some(FIRST.into()));
    assert_eq!(tasks.call(child, EXIT_GROUP, &[1]), None);
    assert_eq!(status(&mut tasks, FIRST, child, 0), 0x100);
}

#[test]
fn a_process_stops_and_continues_as_a_whole() {
    let mut tasks = Tasks::new();
    let child = spawn(&mut tasks, FIRST, FORK);
    let [sleeper, runner] = [0, 1].map(|_| spawn(&mut tasks, child, THREAD));
    assert_eq!(tasks.call(sleeper, FUTEX, &[DATA, FUTEX_WAIT | PRIVATE, 0]), None);
    assert_eq!(tasks.call(FIRST, KILL, &[child as u64, SIGSTOP]), Some(0));
    assert!(tasks.ready().is_empty());
    assert_eq!(status(&mut tasks, FIRST, child, WUNTRACED), SIGSTOP << 8 | 0x7f);
    assert_eq!(tasks.call(FIRST, KILL, &[child as u64, SIGCONT]), Some(0));
    let mut ready = tasks.ready();
    ready.sort_unstable();
    assert_eq!(ready, [child, runner]);
    assert_eq!(status(&mut tasks, FIRST, child, WCONTINUED), 0xffff);
    assert_eq!(tasks.call(runner, FUTEX, &[DATA, FUTEX_WAKE | PRIVATE, 1]), Some(1));
    assert_eq!(tasks.goes_on(sleeper), Some(0));
}

/// The parent that waits for SIGCONT has its turn before the child, which might end in its own.
#[test]
fn a_parent_sees_a_child_continue_before_it_goes_on() {
    let mut tasks = Tasks::new();
    let [child, sender] = [0, 1].map(|_| spawn(&mut tasks, FIRST, FORK));
    assert_eq!(tasks.call(sender, KILL, &[child as u64, SIGSTOP]), Some(0));
    assert_eq!(tasks.call(FIRST, WAIT4, &[child as u64, DATA, WCONTINUED, 0]), None);
    let turn_is_over = |tasks: &Tasks| tasks.machine.kernel.quantum_end() == Some(0);
    assert!(!turn_is_over(&tasks));
    assert_eq!(tasks.call(sender, KILL, &[child as u64, SIGCONT]), Some(0));
    // The sender might stop the child again in the rest of its own.
    assert!(turn_is_over(&tasks));
    assert_eq!(tasks.ready(), [FIRST, child]);
    assert_eq!(tasks.goes_on(FIRST), Some(child.into()));
    assert_eq!(tasks.machine.word(DATA) as u32, 0xffff);
    // Who waits for an end has no part in it.
    assert_eq!(tasks.call(FIRST, WAIT4, &[child as u64, DATA, 0, 0]), None);
    assert_eq!(tasks.call(sender, KILL, &[child as u64, SIGSTOP]), Some(0));
    assert!(!turn_is_over(&tasks) && tasks.ready().is_empty());
}

#[test]
fn the_thread_that_executes_becomes_the_process() {
    let mut tasks = Tasks::new();
    let child = spawn(&mut tasks, FIRST, FORK);
    let [thread, other] = [0, 1].map(|_| spawn(&mut tasks, child, THREAD));
    assert_eq!(tasks.call(other, PAUSE, &[]), None);
    assert_eq!(tasks.call(thread, GETTID, &[]), Some(thread.into()));
    tasks.machine.kernel.exec(&mut tasks.machine.mem);
    assert_eq!(tasks.machine.call(GETTID, &[]), i64::from(child));
    for gone in [thread, other] {
        assert!(tasks.machine.kernel.find_task(gone).is_none());
    }
    assert_eq!(tasks.call(child, EXIT_GROUP, &[2]), None);
    assert_eq!(status(&mut tasks, FIRST, child, 0), 0x200);
}

/// A stopped group that nobody in its session watches over any more is hung up and continued.
#[test]
fn orphaned_groups_are_hung_up() {
    let mut tasks = Tasks::new();
    let child = spawn(&mut tasks, FIRST, FORK);
    let [dies, survives] = [0, 1].map(|_| spawn(&mut tasks, child, FORK));
    for member in [dies, survives] {
        assert_eq!(tasks.call(child, SETPGID, &[member as u64, dies as u64]), Some(0));
    }
    assert!(tasks.call(survives, GETPPID, &[]).is_some());
    tasks.machine.put_words(DATA, &[1 << (SIGHUP - 1)]);
    assert_eq!(tasks.call(survives, RT_SIGPROCMASK, &[0, DATA, 0, 8]), Some(0));
    assert_eq!(tasks.call(child, KILL, &[-dies as u64, SIGSTOP]), Some(0));
    assert_eq!(tasks.ready(), [FIRST]);
    assert_eq!(tasks.call(child, EXIT_GROUP, &[0]), None);
    assert_eq!(tasks.call(survives, GETPPID, &[]), Some(1));
    assert_eq!(tasks.goes_on(dies), None);
    assert!(tasks.machine.kernel.find_task(dies).is_none());
}
