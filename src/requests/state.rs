//! State of client requests, and the functions that they have called.

use std::collections::BTreeMap;

use crate::guest::{Fault, Gpr, GuestCpu, USER_END};
use crate::requests::host::Host;

/// Return address of the functions that requests call: above all that can be mapped, so that the
/// return is a fault.
pub(super) const RETURN: u64 = USER_END;

/// The registers of the caller of a function, to go on with when that returns.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) gprs: [u64; 16],
    pub(super) rip: u64,
    pub(super) rflags: u64,
    pub(super) fpu: Box<[u8; 512]>,
    /// RSP when the function has returned.
    pub(super) rsp: u64,
    /// Counting goes on then.
    pub(super) counting: bool,
}

/// Reasons that the program has given for dumps of its costs, numbered from 1; 0 stands for none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reasons(Vec<Vec<u8>>);

/// Most reasons that are kept; dumps for others have none.
const MOST_REASONS: usize = 4096;

impl Reasons {
    /// The number of a reason.
    pub(super) fn number(&mut self, text: &[u8]) -> u32 {
        let known = self.0.iter().position(|reason| reason == text);
        let at = known.or_else(|| {
            let free = self.0.len();
            (free < MOST_REASONS).then(|| {
                self.0.push(text.to_vec());
                free
            })
        });
        at.map_or(0, |at| at as u32 + 1)
    }

    /// The reason with a number, in Callgrind's words.
    pub(crate) fn get(&self, number: u32) -> String {
        const REQUEST: &str = "Client Request";
        let text = (number as usize).checked_sub(1).and_then(|at| self.0.get(at));
        text.map_or_else(
            || REQUEST.to_owned(),
            |text| format!("{REQUEST}: {}", String::from_utf8_lossy(text).replace(char::is_control, "?")),
        )
    }
}

/// A task that makes requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// The id of its process.
    pub(crate) pid: i32,
    /// Its own.
    pub(crate) tid: i32,
    /// Its number in the process, from 1 on.
    pub(crate) thread: u64,
}

/// State of client requests of all processes: a part of a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// The run began without counting, and waits for a request to start it.
    pub(super) waits: bool,
    /// Reasons for dumps.
    pub(super) reasons: Reasons,
    /// The task that runs.
    client: Client,
    /// Numbers of stacks that were registered, by process.
    stacks: BTreeMap<i32, u64>,
    /// Callers of functions that have not returned, by task.
    calls: BTreeMap<i32, Vec<Caller>>,
}

impl Requests {
    /// The state before the first request; `waits` says that the run begins without counting.
    pub(crate) fn new(waits: bool, client: Client) -> Requests {
        Requests {
            waits,
            reasons: Reasons::default(),
            client,
            stacks: BTreeMap::new(),
            calls: BTreeMap::new(),
        }
    }

    /// The reasons that were given for dumps.
    pub(crate) fn reasons(&self) -> &Reasons {
        &self.reasons
    }

    /// The number of the running thread in its process.
    pub(super) fn thread(&self) -> u64 {
        self.client.thread
    }

    /// The number of one more stack of the running process.
    pub(super) fn add_stack(&mut self) -> u64 {
        let stacks = self.stacks.entry(self.client.pid).or_default();
        *stacks = stacks.wrapping_add(1);
        *stacks
    }

    /// Callers of the running task.
    pub(super) fn callers(&self) -> &[Caller] {
        self.calls.get(&self.client.tid).map_or(&[], Vec::as_slice)
    }

    /// Remembers the caller of a function that the running task calls.
    pub(super) fn push(&mut self, caller: Caller) {
        self.calls.entry(self.client.tid).or_default().push(caller);
    }

    /// Forgets callers of the running task, but for so many.
    fn keep(&mut self, count: usize) -> Vec<Caller> {
        let Some(calls) = self.calls.get_mut(&self.client.tid) else { return Vec::new() };
        let gone = calls.split_off(count.min(calls.len()));
        if calls.is_empty() {
            self.calls.remove(&self.client.tid);
        }
        gone
    }

    /// Tells if counting goes on when the functions that the running task has called return.
    fn has_stopped_counting(&self) -> bool {
        self.callers().iter().any(|caller| caller.counting)
    }

    /// Another task is about to run: counting is off only for the one that has called a function.
    pub(crate) fn leave(&self, cpu: &mut dyn GuestCpu) {
        if self.has_stopped_counting() {
            cpu.set_counting(true);
        }
    }

    /// This task runs now.
    pub(crate) fn enter(&mut self, client: Client, cpu: &mut dyn GuestCpu) {
        self.client = client;
        if self.has_stopped_counting() {
            cpu.set_counting(false);
        }
    }

    /// The running task has made a process, which begins as its copy.
    pub(crate) fn forked(&mut self, child: i32) {
        if let Some(calls) = self.calls.get(&self.client.tid).cloned() {
            self.calls.insert(child, calls);
        }
        if let Some(&stacks) = self.stacks.get(&self.client.pid) {
            self.stacks.insert(child, stacks);
        }
    }

    /// Forgets a task and a process that have ended.
    pub(crate) fn gone(&mut self, tid: Option<i32>, pid: Option<i32>) {
        tid.and_then(|tid| self.calls.remove(&tid));
        pid.and_then(|pid| self.stacks.remove(&pid));
    }

    /// Forgets functions that were left by longjmp(3), as the stack shows; counting goes on if one
    /// of them had stopped it. To be called now and then.
    pub(crate) fn settle(&mut self, cpu: &mut dyn GuestCpu) {
        if self.callers().is_empty() {
            return;
        }
        let rsp = cpu.gpr(Gpr::Rsp);
        let left = self.callers().iter().take_while(|caller| caller.rsp > rsp).count();
        if self.keep(left).iter().any(|caller| caller.counting) {
            cpu.set_counting(true);
        }
    }

    /// Forgets everything of the running task and its process, whose program is replaced by another
    /// one.
    pub(crate) fn forget(&mut self, client: Client) {
        self.keep(0);
        self.client = client;
        self.stacks.remove(&client.pid);
    }

    /// Lets the caller go on, with the result in RDX, if this fault is the return of the function
    /// called last; false if it is not.
    pub(crate) fn returned(&mut self, host: &mut dyn Host, fault: Fault) -> bool {
        let cpu = host.cpu();
        if !matches!(fault, Fault::Page { fetch: true, .. } | Fault::Protection { .. }) || cpu.rip() != RETURN
        {
            return false;
        }
        let rsp = cpu.gpr(Gpr::Rsp);
        let Some(at) = self.callers().iter().rposition(|caller| caller.rsp == rsp) else { return false };
        let result = cpu.gpr(Gpr::Rax);
        // Of those that were left by longjmp the outermost knows whether counting was on.
        let returned = self.keep(at);
        let counting = returned.iter().any(|caller| caller.counting);
        let Some(caller) = returned.into_iter().next() else { return false };
        for (gpr, value) in Gpr::ALL.into_iter().zip(caller.gprs) {
            cpu.set_gpr(gpr, value);
        }
        cpu.set_fpu(&caller.fpu);
        cpu.set_rflags(caller.rflags);
        cpu.set_gpr(Gpr::Rdx, result);
        cpu.set_rip(caller.rip);
        if counting {
            cpu.set_counting(true);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_numbered_once_and_not_without_end() {
        let mut reasons = Reasons::default();
        assert_eq!((reasons.number(b"one"), reasons.number(b"a\n\x1bb"), reasons.number(b"one")), (1, 2, 1));
        assert_eq!(reasons.get(0), "Client Request");
        assert_eq!(reasons.get(1), "Client Request: one");
        assert_eq!(reasons.get(2), "Client Request: a??b", "it is one line of a file");
        let last = (0..10_000).map(|n| reasons.number(format!("reason {n}").as_bytes())).last();
        assert_eq!((last, reasons.get(u32::MAX)), (Some(0), "Client Request".to_owned()));
    }
}
