//! Control of the run: the supervisor, the reason to leave the engine, and breakpoints.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use rustc_hash::FxHashSet;

use crate::emu::supervisor::{Refused, Supervisor};
use crate::guest::Fault;

/// Reason to leave the engine's loop.
#[derive(Clone, Debug)]
pub(super) enum Leave {
    /// The supervisor stops the run.
    Stop,
    /// The guest faulted; the instruction at RIP did not complete unless it is a trap.
    Fault(Fault, Option<Refused>),
    /// The supervisor wants to interrupt.
    Interrupt,
    /// Control is at a breakpoint.
    Breakpoint,
    /// The supervisor wants the instruction at this address undone.
    Undo(u64),
    /// The next block has to be translated again: it may be too long, or its accesses are not as
    /// expected.
    Approach,
    /// A consumer is to simulate the caches in place of generated code.
    TraceCaches,
    /// The engine did what the tap does not understand.
    Broken(String),
}

/// State of the run.
#[derive(Default)]
pub(super) struct RunControl {
    /// Set while the guest runs.
    supervisor: Option<NonNull<dyn Supervisor>>,
    /// The first reason to leave since the engine was started.
    leave: Option<Leave>,
    /// Addresses at which blocks begin and ask.
    breakpoints: FxHashSet<u64>,
    /// Generated code of a block that begins at a breakpoint stores its address here; otherwise 0.
    reached: u64,
    /// Start of the next block, if its length was limited; otherwise 0.
    limited: u64,
    /// The breakpoint that the CPU is at and that has been reported.
    passed: Option<u64>,
    /// The instruction that was begun again in a block of its own, because it stores to code, and
    /// the start of that block's record.
    begun_again: Option<(u64, u64)>,
    /// Error code of the exception that a helper is about to raise.
    error: u16,
}

impl RunControl {
    /// Sets the supervisor, or takes it away.
    ///
    /// # Safety
    /// It lives, and nobody else uses it, until another call takes it away.
    pub(super) unsafe fn set_supervisor(&mut self, supervisor: Option<&mut dyn Supervisor>) {
        self.supervisor = supervisor.and_then(|supervisor| {
            let pointer: *mut (dyn Supervisor + '_) = supervisor;
            // SAFETY: only the lifetime changes; the caller guarantees it.
            let pointer: *mut (dyn Supervisor + 'static) = unsafe { std::mem::transmute(pointer) };
            NonNull::new(pointer)
        });
    }

    /// The supervisor, while the guest runs.
    pub(super) fn supervisor(&mut self) -> Option<&mut (dyn Supervisor + 'static)> {
        // SAFETY: `set_supervisor`'s caller guarantees that it lives and that nobody else uses it.
        self.supervisor.as_mut().map(|supervisor| unsafe { supervisor.as_mut() })
    }

    /// See [`Supervisor::instructions_left`].
    pub(super) fn instructions_left(&mut self, executed: u64) -> Option<u64> {
        self.supervisor().and_then(|supervisor| supervisor.instructions_left(executed))
    }

    /// Sets the error code of the exception that is about to be raised.
    pub(super) fn set_error(&mut self, error: u16) {
        self.error = error;
    }

    /// Takes the error code of the exception that was raised.
    pub(super) fn take_error(&mut self) -> u16 {
        std::mem::take(&mut self.error)
    }

    /// Notes a reason to leave, unless there is one.
    pub(super) fn leave(&mut self, why: Leave) {
        self.leave.get_or_insert(why);
    }

    /// Tests whether the engine is to leave its loop.
    pub(super) fn is_leaving(&self) -> bool {
        self.leave.is_some()
    }

    /// Takes the reason to leave.
    pub(super) fn take_leave(&mut self) -> Option<Leave> {
        self.leave.take()
    }

    /// The addresses of breakpoints.
    pub(super) fn breakpoints(&self) -> &FxHashSet<u64> {
        &self.breakpoints
    }

    /// Replaces all breakpoints; returns the addresses at which one was added or removed.
    pub(super) fn set_breakpoints(&mut self, breakpoints: FxHashSet<u64>) -> Vec<u64> {
        let changed = breakpoints.symmetric_difference(&self.breakpoints).copied().collect();
        self.breakpoints = breakpoints;
        changed
    }

    /// Notes that the instruction at `pc` begins again in a block of its own, whose record will
    /// begin at `start`.
    pub(super) fn begin_again(&mut self, pc: u64, start: u64) {
        self.begun_again = Some((pc, start));
    }

    /// Start of the record of the block that begins the instruction at `pc` again, if there was
    /// one.
    pub(super) fn begun_again(&self, pc: u64) -> Option<u64> {
        self.begun_again.filter(|(at, _)| *at == pc).map(|(_, start)| start)
    }

    /// Forgets which instruction was begun again, as the engine is started anew.
    pub(super) fn start(&mut self) {
        self.leave = None;
        self.begun_again = None;
    }

    /// Sets the address whose breakpoint has been reported.
    pub(super) fn set_passed(&mut self, pc: Option<u64>) {
        self.passed = pc;
    }

    /// Tests whether the block at `pc`, which is about to run, is at a breakpoint that has not been
    /// reported.
    pub(super) fn stops_at(&mut self, pc: u64) -> bool {
        self.leave.is_none() && self.breakpoints.contains(&pc) && self.passed.take() != Some(pc)
    }

    /// The word to which generated code stores the address of a breakpoint. It must not move.
    pub(super) fn reached_word(&self) -> *const u64 {
        &raw const self.reached
    }

    /// Notes that the length of the block at `pc` was limited.
    pub(super) fn set_limited(&mut self, pc: u64) {
        self.limited = pc;
    }

    /// Takes the breakpoint at which the asking block begins (0 for none), and whether it is the
    /// block whose length was limited.
    pub(super) fn take_reached(&mut self) -> (u64, bool) {
        let reached = std::mem::take(&mut self.reached);
        let limited = std::mem::take(&mut self.limited);
        (reached, limited == reached && reached != 0)
    }
}
