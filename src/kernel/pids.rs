//! Numbers of tasks and processes, pid_namespaces(7). Everywhere in the kernel they are those of
//! the first namespace; here are those that another one has for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::abi::errno::Errno;
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::process::PID;

/// The highest number and one, `/proc/sys/kernel/pid_max` of a large machine.
pub(crate) const PID_MAX: i32 = 4_194_304;
/// The lowest number that is used again, `RESERVED_PIDS`.
const RESERVED: i32 = 300;
/// The number that nobody has.
pub(crate) const NOBODY: i32 = i32::MAX;
/// Most namespaces above one, `MAX_PID_NS_LEVEL`.
const DEEPEST: usize = 32;

/// Numbers of the tasks of a namespace.
#[derive(Clone, Debug)]
struct Space {
    parent: NsId,
    level: usize,
    /// Its numbers by those of the first namespace.
    own: BTreeMap<i32, i32>,
    /// Numbers of the first namespace by its own.
    first: BTreeMap<i32, i32>,
    last: i32,
    /// Its first process has ended: there will be no other.
    over: bool,
    /// That process, which is waited for only when all others have ended.
    waits: Option<ProcessId>,
}

/// Tasks by their numbers. Numbers rise, so that a program that prints them repeats.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pids {
    tasks: BTreeMap<i32, TaskId>,
    last: i32,
    /// Numbers that were ever given out.
    made: u64,
    /// The namespaces beside the first.
    spaces: BTreeMap<NsId, Space>,
    /// Numbers of processes that are gone, but not their groups or sessions.
    of_groups: BTreeSet<i32>,
}

impl Pids {
    /// The numbers of a machine with its first task.
    pub(super) fn first(task: TaskId) -> Pids {
        Pids { tasks: BTreeMap::from([(PID, task)]), last: PID, made: 1, ..Pids::default() }
    }

    /// The next number that nobody has, and one in every namespace from `namespace` up; EAGAIN if
    /// all are taken, ENOMEM where the first process has ended.
    pub(super) fn allocate(&mut self, namespace: NsId) -> Result<i32, Errno> {
        let chain = self.chain(namespace);
        if chain.iter().any(|id| self.spaces[id].over) {
            return Err(Errno::ENOMEM);
        }
        let taken = |number: i32| self.tasks.contains_key(&number) || self.of_groups.contains(&number);
        let number = next(self.last, taken).ok_or(Errno::EAGAIN)?;
        (self.last, self.made) = (number, self.made + 1);
        for id in chain {
            let Some(space) = self.spaces.get_mut(&id) else { continue };
            let own = next(space.last, |own| space.first.contains_key(&own)).ok_or(Errno::EAGAIN)?;
            space.last = own;
            space.own.insert(number, own);
            space.first.insert(own, number);
        }
        Ok(number)
    }

    /// A namespace with those above it, but for the first.
    fn chain(&self, namespace: NsId) -> Vec<NsId> {
        let above = |id: &NsId| self.spaces.get(id).map(|space| space.parent);
        std::iter::successors(Some(namespace), above).filter(|id| self.spaces.contains_key(id)).collect()
    }

    /// Adds a namespace below another.
    pub(super) fn add_space(&mut self, id: NsId, parent: NsId) {
        let level = self.level(parent) + 1;
        let (own, first) = (BTreeMap::new(), BTreeMap::new());
        self.spaces.insert(id, Space { parent, level, own, first, last: 0, over: false, waits: None });
    }

    /// Checks that there may be a namespace below one; ENOSPC.
    pub(super) fn may_be_below(&self, parent: NsId) -> Result<(), Errno> {
        if self.level(parent) >= DEEPEST { Err(Errno::ENOSPC) } else { Ok(()) }
    }

    /// Number of namespaces above one.
    fn level(&self, id: NsId) -> usize {
        self.spaces.get(&id).map_or(0, |space| space.level)
    }

    /// Tells if a namespace is another one or below it.
    pub(super) fn is_within(&self, id: NsId, other: NsId) -> bool {
        other == Kind::Pid.first() || self.chain(id).contains(&other)
    }

    /// The namespaces above some.
    pub(super) fn above(&self, ids: &BTreeSet<NsId>) -> BTreeSet<NsId> {
        ids.iter().flat_map(|id| self.chain(*id)).collect()
    }

    /// Forgets a namespace.
    pub(super) fn remove_space(&mut self, id: NsId) {
        self.spaces.remove(&id);
        if self.spaces.is_empty() {
            self.of_groups.clear();
        }
    }

    /// The number in a namespace for one of the first; 0 if it does not see it.
    pub(super) fn shown(&self, namespace: NsId, number: i32) -> i32 {
        match self.spaces.get(&namespace) {
            None if namespace == Kind::Pid.first() => number,
            space => space.and_then(|space| space.own.get(&number)).copied().unwrap_or(0),
        }
    }

    /// The numbers for one of the first namespace in those from one down to another, the outermost
    /// first.
    pub(super) fn all_shown(&self, from: NsId, to: NsId, number: i32) -> Vec<i32> {
        let mut chain = self.chain(to);
        chain.push(Kind::Pid.first());
        let level = self.level(from);
        let seen = chain.into_iter().filter(|id| self.level(*id) >= level);
        let mut all: Vec<i32> = seen.map(|id| self.shown(id, number)).collect();
        all.reverse();
        all
    }

    /// The number in the first namespace of what another one calls so; `NOBODY` if nothing is.
    pub(super) fn global(&self, namespace: NsId, number: i32) -> i32 {
        match self.spaces.get(&namespace) {
            None if namespace == Kind::Pid.first() => number,
            space => space.and_then(|space| space.first.get(&number)).copied().unwrap_or(NOBODY),
        }
    }

    /// Tells if a namespace has or had a process.
    pub(super) fn has_begun(&self, namespace: NsId) -> bool {
        self.spaces.get(&namespace).is_none_or(|space| space.last > 0)
    }

    /// Notes that the first process of a namespace has ended.
    pub(super) fn end_space(&mut self, namespace: NsId) {
        if let Some(space) = self.spaces.get_mut(&namespace) {
            space.over = true;
        }
    }

    /// Has the first process of a namespace wait for the others, or gives it back.
    pub(super) fn set_waits(&mut self, namespace: NsId, waits: Option<ProcessId>) -> Option<ProcessId> {
        let space = self.spaces.get_mut(&namespace)?;
        std::mem::replace(&mut space.waits, waits)
    }

    /// Namespaces from one up whose first process waits for the others.
    pub(super) fn waiting(&self, namespace: NsId) -> Vec<NsId> {
        self.chain(namespace).into_iter().filter(|id| self.spaces[id].waits.is_some()).collect()
    }

    /// The number that was given out last.
    pub(super) fn last(&self) -> i32 {
        self.last
    }

    /// Numbers that were ever given out.
    pub(super) fn made(&self) -> u64 {
        self.made
    }

    /// Gives a task a number.
    pub(super) fn enter(&mut self, tid: i32, task: TaskId) {
        self.tasks.insert(tid, task);
    }

    /// Takes a number back, and those of processes that are gone: of which no group or session is
    /// left, as `kept` says.
    pub(super) fn remove(&mut self, tid: i32, kept: impl Fn(i32) -> bool) {
        self.tasks.remove(&tid);
        if self.spaces.is_empty() {
            return;
        }
        self.of_groups.insert(tid);
        let gone: Vec<i32> = self.of_groups.iter().copied().filter(|id| !kept(*id)).collect();
        for number in gone {
            self.of_groups.remove(&number);
            for space in self.spaces.values_mut() {
                if let Some(own) = space.own.remove(&number) {
                    space.first.remove(&own);
                }
            }
        }
    }

    /// The task with a number; the leader of a process keeps its own until the process is waited
    /// for.
    pub(crate) fn find(&self, tid: i32) -> Option<TaskId> {
        self.tasks.get(&tid).copied()
    }
}

/// The number after the last one that nobody has.
fn next(mut last: i32, taken: impl Fn(i32) -> bool) -> Option<i32> {
    for _ in RESERVED..PID_MAX {
        last = if last + 1 >= PID_MAX { RESERVED } else { last + 1 };
        if !taken(last) {
            return Some(last);
        }
    }
    None
}
