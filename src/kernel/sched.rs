//! The state of the scheduler: the tasks that may run, those that sleep, and for what. There is one
//! CPU, and the order depends on nothing but the guest and the seed.
//!
//! A call that has to wait is made again: its task sleeps on keys, and when one of them wakes the
//! call looks again. What it must remember until then is its `Call`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::clock::CpuClock;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::locks::{Locked, Record};
use crate::kernel::futex::{FutexKey, FutexWait};
use crate::kernel::mqueue::MqueueId;
use crate::kernel::random::Random;
use crate::kernel::vfs::node::Ino;
use crate::kernel::wait_queue::QueueId;

/// Instructions that a task may run while others wait for their turn.
pub(crate) const QUANTUM: u64 = 100_000;

/// State of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskState {
    /// It runs, or waits for its turn.
    #[default]
    Runnable,
    /// It waits in a call.
    Sleeping,
    /// A signal has stopped it. It may be in a call, which goes on after SIGCONT.
    Stopped,
    /// It has stopped for its tracer, ptrace(2).
    Traced,
    /// It has ended.
    Dead,
}

/// Reason for which a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// One of the keys woke.
    Event,
    /// The deadline came.
    Timeout,
    /// A signal is pending that interrupts the call, or one of those asked for.
    Signal,
}

/// Things that tasks sleep for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WaitKey {
    /// A pipe, an eventfd, a terminal, an epoll instance, a named pipe's other end.
    Queue(QueueId),
    /// A futex.
    Futex(FutexKey),
    /// The end of a child of the process, wait(2).
    Child(ProcessId),
    /// A child of the process that stops.
    StoppedChild(ProcessId),
    /// A child of the process that continues.
    ContinuedChild(ProcessId),
    /// The end of a child of vfork(2), or its execve(2).
    Vfork(TaskId),
    /// A lock of a file.
    Lock(Locked),
    /// A lease of a file.
    Lease(Ino),
    /// A set of semaphores, by its identifier.
    Semaphores(i32),
    /// A System V message queue, by its identifier.
    Messages(i32),
    /// The CPU time of a task or process.
    Cpu(CpuClock),
    /// A POSIX message queue.
    Mqueue(MqueueId),
    /// Input of the host, which no queue tells of.
    Host,
}

impl fmt::Display for WaitKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            WaitKey::Queue(_) => write!(f, "for a file to become ready"),
            WaitKey::Futex(key) => write!(f, "{key}"),
            WaitKey::Child(_) | WaitKey::StoppedChild(_) | WaitKey::ContinuedChild(_) => {
                write!(f, "for a child")
            }
            WaitKey::Vfork(_) => write!(f, "for the child of vfork"),
            WaitKey::Lock(_) => write!(f, "for a lock of a file"),
            WaitKey::Lease(_) => write!(f, "for a lease of a file"),
            WaitKey::Semaphores(id) => write!(f, "for semaphores of set {id}"),
            WaitKey::Mqueue(_) => write!(f, "for a POSIX message queue"),
            WaitKey::Messages(id) => write!(f, "for message queue {id}"),
            WaitKey::Cpu(_) => write!(f, "for CPU time"),
            WaitKey::Host => write!(f, "for input"),
        }
    }
}

/// Memory of a call that sleeps, until it is over.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Its number, from the first sleep on.
    pub number: Option<u64>,
    /// The end of the wait, in nanoseconds since the program's start.
    pub deadline: Option<u64>,
    /// Progress that must not be made again; the meaning is the call's own.
    pub done: u64,
    /// Bytes that were at a terminal when a read of it slept.
    pub there: u64,
    /// Decisions and arguments from when it began that it could not find again; the meaning is the
    /// call's own.
    pub decided: Vec<u64>,
    /// Reason for which the task was made runnable since it slept last.
    pub wake: Option<Wake>,
    /// Keys it sleeps on.
    pub(crate) keys: Vec<WaitKey>,
    /// Blocked signals that end the wait too (sigtimedwait).
    pub signals: u64,
    /// Descriptors that it uses, and their descriptions as it found them.
    pub(crate) files: [Option<(i32, FileNo)>; 2],
    /// The call has a reference to each of them.
    pub(crate) holds_files: bool,
    /// The record lock that it waits for.
    pub(crate) lock: Option<(Locked, Record)>,
    /// A description without a descriptor yet: the end of a named pipe whose other end is awaited.
    pub(crate) opening: Option<FileNo>,
    /// Its part about futexes.
    pub(crate) futex: Option<FutexWait>,
    /// Only a signal that ends the process interrupts it.
    pub killable: bool,
    /// It fails when the process was stopped and goes on, signal(7).
    pub frail: bool,
    /// Subject of the wait, for people: "read from an empty pipe".
    pub what: Cow<'static, str>,
    /// Order in which sleepers came: its place among those of a key.
    ticket: u64,
}

/// A choice of the next task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Picked {
    /// This one is next; it is no longer in the queue.
    Task(TaskId),
    /// All sleep, and nothing can wake any of them. The text names each.
    Deadlock(String),
    /// There is no task left.
    Finished,
    /// The user asks for something meanwhile.
    GivenUp,
}

/// Claim of a task to the CPU, sched(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Real-time priority, its own or lent by one that waits for its lock; 0 for ordinary tasks.
    pub(crate) priority: u32,
    /// Its turn ends after a while also for those of the same priority: all but SCHED_FIFO.
    pub(crate) rotates: bool,
    /// Length of its turns.
    pub(crate) share: Share,
}

/// Length of a task's turns, in quanta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// By nice value: a quarter more for each step down, as Linux weighs tasks.
    Nice(i32),
    /// Three of 1024, the weight of SCHED_IDLE.
    Idle,
}

impl Claim {
    /// An ordinary task.
    pub(crate) const ORDINARY: Claim = Claim { priority: 0, rotates: true, share: Share::Nice(0) };
}

impl Share {
    /// Instructions of a turn.
    fn of(self, quantum: u64) -> u64 {
        let turn = match self {
            Share::Idle => quantum.saturating_mul(3) / 1024,
            Share::Nice(nice) if nice < 0 => (nice..0).fold(quantum, |turn, _| turn.saturating_add(turn / 4)),
            Share::Nice(nice) => (0..nice).fold(quantum, |turn, _| turn - turn.div_ceil(5)),
        };
        turn.max(1)
    }
}

/// Turns of ordinary tasks that have the same length. Later ones have not: a loop that gives a
/// lock up for a moment of each round would stay in step with them, and hold it at the end of every
/// turn.
const EVEN_TURNS: u64 = 64;

/// Half to one and a half of a turn, spread evenly by the golden ratio.
fn varied(turn: u64, number: u64) -> u64 {
    let part = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (turn / 2).saturating_add(((u128::from(turn) * u128::from(part)) >> 32) as u64).max(1)
}

/// The queues.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    /// Ordinary tasks that may run, but for the running one, in the order of their turns.
    ready: VecDeque<TaskId>,
    /// Those with a real-time priority, by priority. No queue is empty.
    realtime: BTreeMap<u32, VecDeque<TaskId>>,
    /// Claim of the running task.
    running: Claim,
    /// Those that sleep, by key and in the order in which they came.
    sleepers: BTreeSet<(WaitKey, u64, TaskId)>,
    /// Those that sleep until some time.
    deadlines: BTreeSet<(u64, u64, TaskId)>,
    /// All that sleep.
    asleep: BTreeMap<u64, TaskId>,
    /// Earliest wall timer of each process that has one.
    pub(super) alarms: BTreeSet<(u64, ProcessId)>,
    last_ticket: u64,
    /// All that sleep were made to look again, and no call has ended since.
    pub(super) all_looked: bool,
    /// Those that sleep for the host's input have looked for it since something happened last.
    pub(super) host_looked: bool,
    /// Instruction count at which the running task got its turn.
    pub(super) since: u64,
    /// Instructions of a turn.
    quantum: u64,
    /// Instructions of this turn.
    turn: u64,
    /// Number of this turn.
    turns: u64,
    /// Chooses instead of the order of coming.
    random: Option<Random>,
}

impl Default for Scheduler {
    fn default() -> Self {
        Scheduler::new(QUANTUM, None)
    }
}

impl Scheduler {
    /// A scheduler with turns of some instructions; a seed makes it choose order and length of the
    /// turns by chance.
    pub(crate) fn new(quantum: u64, seed: Option<u64>) -> Scheduler {
        let quantum = quantum.max(1);
        Scheduler {
            ready: VecDeque::new(),
            realtime: BTreeMap::new(),
            running: Claim::ORDINARY,
            sleepers: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            asleep: BTreeMap::new(),
            alarms: BTreeSet::new(),
            last_ticket: 0,
            all_looked: false,
            host_looked: false,
            since: 0,
            quantum,
            turn: quantum,
            turns: 0,
            random: seed.map(Random::new),
        }
    }

    /// Adds a task to those that may run, behind those of its priority, or with `first` before
    /// them.
    pub(super) fn add_ready(&mut self, task: TaskId, priority: u32, first: bool) {
        let queue = match priority {
            0 => &mut self.ready,
            _ => self.realtime.entry(priority).or_default(),
        };
        if first {
            queue.push_front(task);
        } else {
            queue.push_back(task);
        }
    }

    /// Takes a task out of those that may run; true if it was there.
    pub(super) fn remove_ready(&mut self, task: TaskId) -> bool {
        let take = |queue: &mut VecDeque<TaskId>| {
            let at = queue.iter().position(|ready| *ready == task);
            at.and_then(|at| queue.remove(at)).is_some()
        };
        if take(&mut self.ready) {
            return true;
        }
        let found = self.realtime.values_mut().any(take);
        self.realtime.retain(|_, queue| !queue.is_empty());
        found
    }

    /// Tells if any task but the running one may run.
    pub(super) fn has_ready(&self) -> bool {
        self.best_ready().is_some()
    }

    /// The highest priority of those that may run, but for the running one.
    fn best_ready(&self) -> Option<u32> {
        match self.realtime.last_key_value() {
            Some((priority, _)) => Some(*priority),
            None => (!self.ready.is_empty()).then_some(0),
        }
    }

    /// Tells if a task waits for its turn that does not have to wait longer when the running one
    /// yields.
    pub(super) fn has_rival(&self) -> bool {
        self.best_ready() >= Some(self.running.priority)
    }

    /// Tells if a task of a higher priority than the running one may run.
    pub(super) fn is_preempted(&self) -> bool {
        self.best_ready() > Some(self.running.priority)
    }

    /// Takes the task out whose turn is next. The seed draws among ordinary tasks; the order of the
    /// others is what their programs rely on.
    pub(super) fn take_ready(&mut self) -> Option<TaskId> {
        if let Some(mut best) = self.realtime.last_entry() {
            let task = best.get_mut().pop_front();
            if best.get().is_empty() {
                best.remove();
            }
            return task;
        }
        match &mut self.random {
            Some(random) if self.ready.len() > 1 => {
                let at = random.below(self.ready.len() as u64);
                self.ready.remove(at as usize)
            }
            _ => self.ready.pop_front(),
        }
    }

    /// Begins the turn of a task at an instruction count.
    pub(super) fn begin_turn(&mut self, instructions: u64, claim: Claim) {
        self.since = instructions;
        self.running = claim;
        self.turns += 1;
        let turn = claim.share.of(self.quantum);
        self.turn = match &mut self.random {
            Some(random) => random.below(turn) + 1,
            None if self.turns <= EVEN_TURNS || claim.priority > 0 => turn,
            None => varied(turn, self.turns),
        };
    }

    /// Ends the turn of the running task as soon as another one of its priority may run.
    pub(super) fn end_turn(&mut self) {
        self.turn = 0;
    }

    /// Changes the claim of the running task, whose turn goes on.
    pub(super) fn set_running(&mut self, claim: Claim) {
        self.running = claim;
    }

    /// Instructions of an ordinary turn.
    pub(super) fn quantum(&self) -> u64 {
        self.quantum
    }

    /// The instruction count at which the turn of the running task is over, whoever else may run.
    pub(super) fn whole_turn_end(&self) -> u64 {
        self.since.saturating_add(self.turn)
    }

    /// The instruction count at which the running task has to give way to another one, if there is
    /// one: at once to one of a higher priority, and to one of its own at the end of its turn.
    pub(super) fn turn_end(&self) -> Option<u64> {
        match self.best_ready()?.cmp(&self.running.priority) {
            Ordering::Greater => Some(self.since),
            Ordering::Equal if self.running.rotates => Some(self.since.saturating_add(self.turn)),
            _ => None,
        }
    }

    /// Puts a task to sleep by what its call says. It keeps the place that it had in this call.
    pub(super) fn sleep(&mut self, task: TaskId, call: &mut Call) {
        if call.ticket == 0 {
            self.last_ticket += 1;
            call.ticket = self.last_ticket;
        }
        call.wake = None;
        self.asleep.insert(call.ticket, task);
        self.sleepers.extend(call.keys.iter().map(|key| (*key, call.ticket, task)));
        self.deadlines.extend(call.deadline.map(|at| (at, call.ticket, task)));
    }

    /// Takes a task out of every queue.
    pub(super) fn remove(&mut self, task: TaskId, state: TaskState, call: &Call) {
        match state {
            TaskState::Sleeping => {
                self.asleep.remove(&call.ticket);
                for key in &call.keys {
                    self.sleepers.remove(&(*key, call.ticket, task));
                }
                call.deadline.map(|at| self.deadlines.remove(&(at, call.ticket, task)));
            }
            TaskState::Runnable => {
                self.remove_ready(task);
            }
            TaskState::Stopped | TaskState::Traced | TaskState::Dead => {}
        }
    }

    /// Moves a sleeper from one of its keys to another, behind those that sleep there (futexes).
    pub(super) fn move_key(&mut self, task: TaskId, call: &mut Call, from: WaitKey, to: WaitKey) {
        self.sleepers.remove(&(from, call.ticket, task));
        self.asleep.remove(&call.ticket);
        call.deadline.map(|at| self.deadlines.remove(&(at, call.ticket, task)));
        let wake = call.wake;
        call.keys.retain(|key| *key != from);
        call.keys.push(to);
        call.ticket = 0;
        self.sleep(task, call);
        call.wake = wake;
    }

    /// The sleepers of a key in the order in which they came.
    pub(super) fn sleepers_of(&self, key: WaitKey) -> impl Iterator<Item = TaskId> {
        let first = (key, 0, <TaskId as crate::kernel::arena::Key>::new(0));
        self.sleepers.range(first..).take_while(move |(other, ..)| *other == key).map(|(.., task)| *task)
    }

    /// Tells if anybody sleeps on a key.
    pub(super) fn has_sleepers(&self) -> bool {
        !self.sleepers.is_empty()
    }

    /// All that sleep in the order in which they came.
    pub(super) fn asleep(&self) -> impl Iterator<Item = TaskId> {
        self.asleep.values().copied()
    }

    /// The earliest deadline of a sleeper, and whose it is.
    pub(super) fn first_deadline(&self) -> Option<(u64, TaskId)> {
        self.deadlines.first().map(|(at, _, task)| (*at, *task))
    }

    /// Tells if anything happens by itself when time passes.
    pub(super) fn waits_for_time(&self) -> bool {
        !self.deadlines.is_empty() || !self.alarms.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::arena::{Key, MmId};

    fn task(number: usize) -> TaskId {
        TaskId::new(number)
    }

    fn futex(addr: u64) -> WaitKey {
        WaitKey::Futex(FutexKey::Private(MmId::new(0), addr))
    }

    fn sleeping(keys: &[WaitKey], deadline: Option<u64>) -> Call {
        Call { keys: keys.to_vec(), deadline, ..Call::default() }
    }

    #[test]
    fn turns_go_round_and_end_only_for_others() {
        let mut sched = Scheduler::new(100, None);
        sched.begin_turn(1000, Claim::ORDINARY);
        assert_eq!(sched.turn_end(), None);
        for number in [3, 1, 2] {
            sched.add_ready(task(number), 0, false);
        }
        assert_eq!(sched.turn_end(), Some(1100));
        assert_eq!(sched.take_ready(), Some(task(3)));
        sched.add_ready(task(3), 0, false);
        let order: Vec<TaskId> = std::iter::from_fn(|| sched.take_ready()).collect();
        assert_eq!(order, [task(1), task(2), task(3)]);
    }

    #[test]
    fn real_time_priorities_come_first_and_only_round_robin_rotates() {
        let mut sched = Scheduler::new(100, Some(1));
        for (number, priority) in [(1, 0), (2, 5), (3, 9), (4, 5)] {
            sched.add_ready(task(number), priority, false);
        }
        sched.add_ready(task(5), 5, true);
        let fifo = Claim { priority: 5, rotates: false, share: Share::Nice(0) };
        sched.begin_turn(1000, fifo);
        assert_eq!((sched.turn_end(), sched.is_preempted()), (Some(1000), true));
        assert_eq!(sched.take_ready(), Some(task(3)));
        assert_eq!((sched.turn_end(), sched.is_preempted(), sched.has_rival()), (None, false, true));
        sched.set_running(Claim { rotates: true, ..fifo });
        assert!(sched.turn_end().is_some_and(|end| end > 1000 && end <= 1100));
        assert!(sched.remove_ready(task(4)) && !sched.remove_ready(task(4)));
        let order: Vec<TaskId> = std::iter::from_fn(|| sched.take_ready()).collect();
        assert_eq!(order, [task(5), task(2), task(1)]);
        sched.add_ready(task(1), 0, false);
        assert_eq!((sched.turn_end(), sched.has_rival(), sched.has_ready()), (None, false, true));
    }

    #[test]
    fn nice_values_and_idle_tasks_have_shares() {
        let turn = |share: Share| share.of(100_000);
        assert_eq!([0, 1, -1, 5].map(|nice| turn(Share::Nice(nice))), [100_000, 80_000, 125_000, 32_768]);
        assert!((1400..1500).contains(&turn(Share::Nice(19))));
        assert!((8_600_000..8_700_000).contains(&turn(Share::Nice(-20))));
        assert_eq!((turn(Share::Idle), Share::Idle.of(1), Share::Nice(19).of(1)), (292, 1, 1));
    }

    /// CPython's interpreter lock: who holds it gives it up for 1 % of a loop that makes calls, and
    /// who waits for it looks once in each turn.
    #[test]
    fn no_loop_stays_in_step_with_the_turns() {
        const LOOP: u64 = 25_000;
        let mut sched = Scheduler::new(100_000, None);
        let (mut done, mut free, mut within) = (0, 0, true);
        for turn in 1..=1000 {
            sched.begin_turn(0, Claim::ORDINARY);
            assert!(turn > EVEN_TURNS || sched.turn == 100_000, "the first are alike");
            within &= (50_000..=150_000).contains(&sched.turn);
            done += sched.turn;
            free += u64::from(done % LOOP >= LOOP / 100 * 99);
        }
        assert!(within);
        assert!((3..=30).contains(&free), "{free} of 1000 turns end there");
        assert_eq!((varied(1, 64), varied(1, 66)), (1, 1));
        sched.begin_turn(0, Claim { priority: 5, ..Claim::ORDINARY });
        assert_eq!(sched.turn, 100_000, "real-time tasks have what they were told");
    }

    #[test]
    fn a_seed_makes_another_order_that_repeats() {
        let order = |seed| {
            let mut sched = Scheduler::new(100, Some(seed));
            (0..20).for_each(|number| sched.add_ready(task(number), 0, false));
            std::iter::from_fn(|| sched.take_ready()).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(3);
        sorted.sort();
        assert_eq!(sorted, (0..20).map(task).collect::<Vec<_>>());
    }

    #[test]
    fn sleepers_keep_their_place_in_a_call_and_lose_it_when_moved() {
        let mut sched = Scheduler::new(100, None);
        let mut calls = [sleeping(&[futex(8)], Some(50)), sleeping(&[futex(8), futex(16)], None)];
        for (number, call) in calls.iter_mut().enumerate() {
            sched.sleep(task(number), call);
        }
        let at = |sched: &Scheduler, addr| sched.sleepers_of(futex(addr)).collect::<Vec<_>>();
        sched.remove(task(0), TaskState::Sleeping, &calls[0]);
        assert_eq!((at(&sched, 8), sched.first_deadline()), (vec![task(1)], None));
        sched.sleep(task(0), &mut calls[0]);
        assert_eq!((at(&sched, 8), sched.first_deadline()), (vec![task(0), task(1)], Some((50, task(0)))));
        sched.move_key(task(0), &mut calls[0], futex(8), futex(16));
        assert_eq!((at(&sched, 8), at(&sched, 16)), (vec![task(1)], vec![task(1), task(0)]));
        sched.remove(task(0), TaskState::Sleeping, &calls[0]);
        sched.remove(task(1), TaskState::Sleeping, &calls[1]);
        assert!(!sched.has_sleepers() && sched.asleep().next().is_none() && sched.first_deadline().is_none());
    }
}
