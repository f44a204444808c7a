//! State of client requests, and the functions that they have called.

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

/// State of client requests: a part of a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// The run began without counting, and waits for a request to start it.
    pub(super) waits: bool,
    /// Stacks that were registered.
    pub(super) stacks: u64,
    /// Callers of functions that have not returned.
    pub(super) calls: Vec<Caller>,
}

impl Requests {
    /// The state before the first request; `waits` says that the run begins without counting.
    pub(crate) fn new(waits: bool) -> Requests {
        Requests { waits, stacks: 0, calls: Vec::new() }
    }

    /// Forgets functions that were left by longjmp(3), as the stack shows; counting goes on if one
    /// of them had stopped it. To be called now and then.
    pub(crate) fn settle(&mut self, cpu: &mut dyn GuestCpu) {
        if self.calls.is_empty() {
            return;
        }
        let rsp = cpu.gpr(Gpr::Rsp);
        let left = self.calls.iter().take_while(|caller| caller.rsp > rsp).count();
        if self.calls.drain(left..).any(|caller| caller.counting) {
            cpu.set_counting(true);
        }
    }

    /// Forgets everything, because the program is replaced by another one.
    pub(crate) fn forget(&mut self, cpu: &mut dyn GuestCpu) {
        if self.calls.drain(..).any(|caller| caller.counting) {
            cpu.set_counting(true);
        }
        *self = Requests::new(self.waits);
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
        let Some(at) = self.calls.iter().rposition(|caller| caller.rsp == rsp) else { return false };
        let result = cpu.gpr(Gpr::Rax);
        // Of those that were left by longjmp the outermost knows whether counting was on.
        let counting = self.calls.iter().skip(at).any(|caller| caller.counting);
        let Some(caller) = self.calls.drain(at..).next() else { return false };
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
