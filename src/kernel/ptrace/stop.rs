//! Stops of traced tasks, ptrace(2): where they happen, what the tracer is told, and how a task
//! goes on. A stop is a state of the task and a value that has its registers; the task does nothing
//! until its tracer lets it go on, and then continues at the place where it was.

use crate::abi::errno::Errno;
use crate::abi::process::{CLD_STOPPED, CLD_TRAPPED};
use crate::abi::ptrace::*;
use crate::abi::signal::si_code::{SI_USER, TRAP_BRKPT};
use crate::abi::signal::{SIG_IGN, bit, sa, signo::*};
use crate::guest::{Gpr, GuestCpu, GuestMemory};
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::process::Status;
use crate::kernel::ptrace::registers::{Registers, TRAP_FLAG, word};
use crate::kernel::ptrace::tracee::{Mode, Place, Stop};
use crate::kernel::sched::{TaskState, WaitKey};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::{Restart, To};
use crate::kernel::state::Kernel;

/// The signal of stops that are none of a signal.
const TRAP: u32 = SIGTRAP as u32;

/// Results by which a call says to Linux's kernel that it is to be made again, or fails with EINTR.
/// A tracer sees them.
const ERESTARTSYS: u64 = 512;
const ERESTARTNOINTR: u64 = 513;
const ERESTARTNOHAND: u64 = 514;
const ERESTART_RESTARTBLOCK: u64 = 516;
/// Calls that wait for a time and say the last: poll, nanosleep, futex, clock_nanosleep.
const WITH_BLOCK: [u64; 4] = [7, 35, 202, 230];

/// RAX of an interrupted call as a tracer sees it.
fn interrupted(number: u64, restart: Restart) -> Option<u64> {
    let code = match restart {
        Restart::WithFlag => ERESTARTSYS,
        Restart::Always => ERESTARTNOINTR,
        Restart::Never if WITH_BLOCK.contains(&number) => ERESTART_RESTARTBLOCK,
        Restart::Never => ERESTARTNOHAND,
        Restart::Fails => return None,
    };
    Some(code.wrapping_neg())
}

/// Tells if the next instruction is POPF or IRET (`is_setting_trap_flag`).
fn pops_flags(cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> bool {
    const LONGEST: u64 = 15;
    for at in 0..LONGEST {
        let mut byte = [0];
        if mem.read(cpu.rip().wrapping_add(at), &mut byte).is_err() {
            return false;
        }
        match byte[0] {
            0x9d | 0xcf => return true,
            // Prefixes.
            0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3 => {}
            _ => return false,
        }
    }
    false
}

impl Kernel {
    /// Tells if SIGKILL is about to end a task: it stops for nobody.
    fn is_killed(&self, task: TaskId) -> bool {
        let held = &self.tasks[task];
        let pending = self.processes[held.shared.process].pending.set() | held.signals.pending.set();
        pending & bit(SIGKILL) != 0
    }

    /// Stops the running task for its tracer, `ptrace_stop`, which is told why; false if it has
    /// none or is killed.
    fn stop_here(
        &mut self,
        cpu: &mut dyn GuestCpu,
        place: Place,
        code: u32,
        why: i32,
        info: Option<SigInfo>,
    ) -> bool {
        let here = self.current();
        if self.is_killed(here) {
            return false;
        }
        let held = &mut self.tasks[here];
        let Some(trace) = &mut held.tracing.trace else { return false };
        trace.news = Some(code);
        (trace.trap_stop, trace.listening) = (false, false);
        if why == CLD_STOPPED {
            (trace.trap_notify, trace.stop_pending) = (false, false);
        }
        if std::mem::take(&mut held.tracing.steps) {
            cpu.set_rflags(cpu.rflags() & !TRAP_FLAG);
        }
        let mut registers = Registers::of(cpu, held.orig_rax);
        let shown = match (place, held.signals.interrupted) {
            (Place::Entry { .. } | Place::Seccomp | Place::End(None), _) => Some(Errno::ENOSYS.to_rax()),
            (_, Some((number, restart, _))) => interrupted(number, restart),
            _ => None,
        };
        let shown = shown.unwrap_or(registers.word(word::RAX));
        registers.show(word::RAX, shown);
        held.tracing.stop = Some(Box::new(Stop { place, info, registers, shown, signal: 0 }));
        held.state = TaskState::Traced;
        self.tell_tracer(here, why);
        true
    }

    /// Tells the tracer of a task that it has stopped, `do_notify_parent_cldstop`.
    fn tell_tracer(&mut self, task: TaskId, why: i32) {
        let held = &self.tasks[task];
        let Some(trace) = &held.tracing.trace else { return };
        let Some(process) = self.tracing_process(task) else { return };
        let status = match why {
            CLD_STOPPED => self.processes[held.shared.process].stopped.unwrap_or(0),
            _ => (trace.news.unwrap_or(0) & 0x7f) as i32,
        };
        let (tid, uid, cpu) = (held.tid, held.cred.uid.real, held.cpu);
        let action = self.handlers_of(process).get(SIGCHLD);
        if action.handler != SIG_IGN && action.flags & sa::NOCLDSTOP == 0 {
            let info = SigInfo::child(SIGCHLD, why, self.pid_for(process, tid), uid, status, cpu);
            self.send_to(process, info);
        }
        self.wake(WaitKey::Child(process));
    }

    /// Information on a stop that is none of a signal, PTRACE_GETSIGINFO.
    fn trap_info(&self, task: TaskId, signo: u32, code: u32) -> SigInfo {
        let uid = self.tasks[task].cred.uid.real;
        SigInfo::user(signo as i32, code as i32, self.own_tid(task), uid)
    }

    /// Stops the running task, `ptrace_notify`.
    fn notify(&mut self, cpu: &mut dyn GuestCpu, place: Place, code: u32, message: u64) -> bool {
        let info = self.trap_info(self.current(), TRAP, code);
        if let Some(trace) = &mut self.task_mut().tracing.trace {
            trace.message = message;
        }
        self.stop_here(cpu, place, code, CLD_TRAPPED, Some(info))
    }

    /// Notes an event of the running task, of which its tracer is told before the task goes on.
    pub(crate) fn event_is_due(&mut self, event: u32, message: u64) {
        let tracing = &mut self.task_mut().tracing;
        if tracing.trace.as_ref().is_some_and(|trace| trace.wants(event)) {
            tracing.due.push((event, message));
        }
    }

    /// Notes an event about a task that the running one has made.
    pub(in crate::kernel) fn event_of_child_is_due(&mut self, event: u32, tid: i32) {
        if let Some(tracer) = self.tracing_process(self.current()) {
            let tid = self.pid_for(tracer, tid);
            self.event_is_due(event, tid as u64);
        }
    }

    /// The number of the running task as its tracer has it; 0 without one.
    pub(in crate::kernel) fn shown_tid_for_tracer(&self) -> i32 {
        self.tracing_process(self.current()).map_or(0, |tracer| self.pid_for(tracer, self.task().tid))
    }

    /// Notes that the running task executes a program, whose number was this before: an event, or
    /// the signal that was there before events.
    pub(in crate::kernel) fn executed_traced(&mut self, tid: i32) {
        let Some(trace) = &self.task().tracing.trace else { return };
        if trace.wants(PTRACE_EVENT_EXEC) {
            self.event_is_due(PTRACE_EVENT_EXEC, tid as u64);
        } else if !trace.seized {
            self.raise(SIGTRAP);
        }
    }

    /// The event of making a task, if the tracer of the running one wants to know: by the flags of
    /// clone(2), `kernel_clone`.
    pub(in crate::kernel) fn event_of_clone(&self, vfork: bool, exit_signal: i32) -> Option<u32> {
        let event = match (vfork, exit_signal) {
            (true, _) => PTRACE_EVENT_VFORK,
            (_, SIGCHLD) => PTRACE_EVENT_FORK,
            _ => PTRACE_EVENT_CLONE,
        };
        self.task().tracing.trace.as_ref().is_some_and(|trace| trace.wants(event)).then_some(event)
    }

    /// Stops the running task for an event that is due: before it waits for a child of vfork(2), or
    /// behind that.
    pub(crate) fn stops_for_event(&mut self, cpu: &mut dyn GuestCpu, has_waited: bool) -> bool {
        while let Some((event, message)) = self.task().tracing.due.first().copied() {
            if event == PTRACE_EVENT_VFORK_DONE && !has_waited {
                return false;
            }
            let tracing = &mut self.task_mut().tracing;
            tracing.due.remove(0);
            let wanted = tracing.trace.as_ref().is_some_and(|trace| trace.wants(event));
            if wanted && self.notify(cpu, Place::Between, TRAP | event << 8, message) {
                return true;
            }
        }
        false
    }

    /// The code of a stop at a system call.
    fn call_code(&self) -> u32 {
        let trace = self.task().tracing.trace.as_ref();
        let good = trace.is_some_and(|trace| trace.options & PTRACE_O_TRACESYSGOOD != 0);
        if good { TRAP | 0x80 } else { TRAP }
    }

    /// Stops the running task before its system call, if its tracer wants that.
    pub(crate) fn stops_at_entry(&mut self, cpu: &mut dyn GuestCpu) -> bool {
        let Some(trace) = self.task().tracing.trace.as_ref().filter(|trace| trace.mode.at_entry()) else {
            return false;
        };
        let place = Place::Entry { emulated: trace.mode.skips() };
        let code = self.call_code();
        self.notify(cpu, place, code, PTRACE_EVENTMSG_SYSCALL_ENTRY)
    }

    /// Stops the running task before a call of which a filter of seccomp(2) tells its tracer; false
    /// if that does not want to know.
    pub(crate) fn stops_for_seccomp(&mut self, cpu: &mut dyn GuestCpu, data: u64) -> bool {
        let trace = self.task().tracing.trace.as_ref();
        let wanted = trace.is_some_and(|trace| trace.wants(PTRACE_EVENT_SECCOMP));
        wanted && self.notify(cpu, Place::Seccomp, TRAP | PTRACE_EVENT_SECCOMP << 8, data)
    }

    /// Stops the running task behind its system call, if its tracer wants that. After a single step
    /// it gets the signal of one.
    pub(crate) fn stops_at_exit_of_call(&mut self, cpu: &mut dyn GuestCpu) -> bool {
        if !std::mem::take(&mut self.task_mut().tracing.returned) {
            return false;
        }
        match self.task().tracing.trace.as_ref().map(|trace| trace.mode) {
            Some(Mode::Syscall) => {
                let code = self.call_code();
                self.notify(cpu, Place::Exit, code, PTRACE_EVENTMSG_SYSCALL_EXIT)
            }
            Some(Mode::Step) => {
                let info = SigInfo::fault(SIGTRAP, TRAP_BRKPT, cpu.rip());
                self.signals().force(info);
                false
            }
            _ => false,
        }
    }

    /// Stops the running task before its end, if its tracer wants that: in a call, or by a signal.
    pub(crate) fn stops_at_end(
        &mut self,
        cpu: &mut dyn GuestCpu,
        status: Status,
        signal: Option<i32>,
    ) -> bool {
        let tracing = &self.task().tracing;
        let wanted = tracing.trace.as_ref().is_some_and(|trace| trace.wants(PTRACE_EVENT_EXIT));
        if !wanted || tracing.end_told {
            return false;
        }
        self.task_mut().tracing.end_told = true;
        self.notify(cpu, Place::End(signal), TRAP | PTRACE_EVENT_EXIT << 8, status.0.into())
    }

    /// Stops the running task before a signal takes effect, `ptrace_signal`.
    pub(in crate::kernel) fn stops_for_signal(&mut self, cpu: &mut dyn GuestCpu, info: SigInfo) -> bool {
        self.stop_here(cpu, Place::Signal, info.signo() as u32, CLD_TRAPPED, Some(info))
    }

    /// Code and signal of a stop of a task with its process, or that its tracer has asked for.
    fn trap_of(&self, task: TaskId) -> (u32, Option<SigInfo>) {
        let held = &self.tasks[task];
        let stopped = self.processes[held.shared.process].stopped.map(|signo| signo as u32);
        match held.tracing.trace.as_ref().is_some_and(|trace| trace.seized) {
            true => {
                let signo = stopped.unwrap_or(TRAP);
                let code = signo | PTRACE_EVENT_STOP << 8;
                (code, Some(self.trap_info(task, signo, code)))
            }
            false => (stopped.unwrap_or(SIGSTOP as u32), None),
        }
    }

    /// Stops the running task with its process, or as its tracer has asked, `do_jobctl_trap`.
    pub(in crate::kernel) fn stops_for_trap(&mut self, cpu: &mut dyn GuestCpu) -> bool {
        if !self.task().tracing.trace.as_ref().is_some_and(|trace| trace.traps()) {
            return false;
        }
        let (code, info) = self.trap_of(self.current());
        self.stop_here(cpu, Place::Between, code, CLD_STOPPED, info)
    }

    /// Stops the running task at the first instruction of a signal's handler, as its tracer has it
    /// take single steps; else arms the trap of the next instruction.
    pub(in crate::kernel) fn steps(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
        handler_begins: bool,
    ) -> bool {
        if !self.task().tracing.trace.as_ref().is_some_and(|trace| trace.mode.steps()) {
            return false;
        }
        if handler_begins && self.notify(cpu, Place::Between, TRAP, 0) {
            return true;
        }
        if cpu.rflags() & TRAP_FLAG == 0 {
            cpu.set_rflags(cpu.rflags() | TRAP_FLAG);
            // What the program pops is its own.
            self.task_mut().tracing.steps = !pops_flags(cpu, mem);
        }
        false
    }

    /// Takes a trap of EFLAGS.TF that was meant for a tracer which is gone; false if it is the
    /// program's own, or the tracer's.
    pub(crate) fn step_is_stale(&mut self, cpu: &mut dyn GuestCpu) -> bool {
        let tracing = &mut self.task_mut().tracing;
        let wanted = tracing.trace.as_ref().is_some_and(|trace| trace.mode.steps());
        if !tracing.steps || wanted {
            return false;
        }
        tracing.steps = false;
        cpu.set_rflags(cpu.rflags() & !TRAP_FLAG);
        true
    }

    /// Has a traced task stop as soon as it can: what asks for it is noted.
    pub(super) fn wake_to_trap(&mut self, task: TaskId) {
        match self.tasks[task].state {
            TaskState::Stopped => self.make_ready(task),
            _ => self.wake_for_signals(task),
        }
    }

    /// Stops a task for its tracer, PTRACE_INTERRUPT; one that is stopped already is told of again.
    pub(crate) fn interrupt_tracee(&mut self, task: TaskId) {
        let Some(trace) = &mut self.tasks[task].tracing.trace else { return };
        trace.trap_stop = true;
        if trace.listening {
            self.trap_again(task);
        } else {
            self.wake_to_trap(task);
        }
    }

    /// Lets a task stay stopped while its tracer waits for what happens to it, PTRACE_LISTEN; false
    /// if it is not in a stop of that kind.
    pub(crate) fn listen(&mut self, task: TaskId) -> bool {
        let tracing = &mut self.tasks[task].tracing;
        let info = tracing.stop.as_ref().and_then(|stop| stop.info);
        let is_trap = info.is_some_and(|info| info.code() as u32 >> 8 == PTRACE_EVENT_STOP);
        let Some(trace) = tracing.trace.as_mut().filter(|trace| trace.seized && is_trap) else {
            return false;
        };
        trace.listening = true;
        if trace.trap_notify {
            self.trap_again(task);
        }
        true
    }

    /// Tells the tracer of a task that listens how it is stopped now.
    fn trap_again(&mut self, task: TaskId) {
        let (code, info) = self.trap_of(task);
        let tracing = &mut self.tasks[task].tracing;
        let (Some(trace), Some(stop)) = (&mut tracing.trace, &mut tracing.stop) else { return };
        (trace.trap_stop, trace.trap_notify, trace.stop_pending) = (false, false, false);
        (trace.listening, trace.news, stop.info) = (false, Some(code), info);
        self.tell_tracer(task, CLD_STOPPED);
    }

    /// Has the traced tasks of a process take part in its stop; true if the task is one.
    pub(in crate::kernel) fn stop_traced(&mut self, task: TaskId) -> bool {
        let Some(trace) = &mut self.tasks[task].tracing.trace else { return false };
        trace.stop_pending = true;
        trace.trap_notify |= trace.seized;
        if trace.listening {
            self.trap_again(task);
        } else {
            self.wake_for_signals(task);
        }
        true
    }

    /// Takes note of SIGCONT for the traced tasks of a process: those that were seized tell.
    pub(in crate::kernel) fn continue_traced(&mut self, process: ProcessId) {
        for task in self.processes[process].tasks.clone() {
            let Some(trace) = &mut self.tasks[task].tracing.trace else { continue };
            trace.stop_pending = false;
            if !trace.seized {
                continue;
            }
            trace.trap_notify = true;
            if trace.listening {
                self.trap_again(task);
            } else {
                self.wake_for_signals(task);
            }
        }
    }

    /// Lets the tasks of a process that have stopped for a tracer run to their ends: SIGKILL.
    pub(in crate::kernel) fn kill_traced(&mut self, process: ProcessId) {
        for task in self.processes[process].tasks.clone() {
            if self.tasks[task].state == TaskState::Traced {
                self.make_ready(task);
            }
        }
    }

    /// Lets a stopped task go on, with a signal or 0: PTRACE_CONT and its kin.
    pub(crate) fn let_go(&mut self, task: TaskId, mode: Mode, signal: i32) {
        let tracing = &mut self.tasks[task].tracing;
        if let (Some(trace), Some(stop)) = (&mut tracing.trace, &mut tracing.stop) {
            (trace.mode, trace.news, stop.signal) = (mode, None, signal);
        }
        self.make_ready(task);
    }

    /// Takes the running task out of the stop that it was let go from: its registers are as its
    /// tracer wants them, and the signal is to be delivered. The place where it goes on.
    pub(crate) fn leave_stop(&mut self, cpu: &mut dyn GuestCpu) -> Option<Place> {
        let here = self.current();
        let stop = self.tasks[here].tracing.stop.take()?;
        let Stop { place, info, mut registers, shown, signal } = *stop;
        let (rax, orig) = (registers.word(word::RAX), registers.word(word::ORIG_RAX));
        let before = matches!(place, Place::Entry { .. } | Place::Seccomp);
        let skipped = before && (orig as i32) < 0 || matches!(place, Place::Entry { emulated: true });
        if registers.is_set {
            let held = &mut self.tasks[here];
            held.orig_rax = orig;
            if before && !skipped {
                registers.show(word::RAX, orig);
            } else if rax == shown && (orig as i64) >= 0 {
                registers.show(word::RAX, cpu.gpr(Gpr::Rax));
            } else {
                held.signals.interrupted = None;
            }
        }
        registers.restore(cpu);
        if skipped {
            cpu.set_gpr(Gpr::Rax, rax);
        }
        if signal != 0 {
            match (place, info) {
                (Place::Signal, Some(info)) if info.signo() == signal => {
                    self.task_mut().signals.injected = Some(info);
                }
                (Place::Signal, _) => {
                    let info = self.signal_of_tracer(signal);
                    self.task_mut().signals.injected = Some(info);
                }
                (Place::Entry { .. } | Place::Exit, _) => {
                    self.send_signal(here, SigInfo::kernel(signal), To::Task);
                }
                _ => {}
            }
        }
        match place {
            _ if self.is_killed(here) && !matches!(place, Place::End(_)) => Some(Place::Between),
            Place::Entry { .. } | Place::Seccomp if skipped => {
                self.task_mut().tracing.returned = true;
                Some(Place::Exit)
            }
            place => Some(place),
        }
    }

    /// A signal that the tracer of the running task, or else its parent, has put in the place of
    /// another.
    fn signal_of_tracer(&self, signo: i32) -> SigInfo {
        let trace = self.task().tracing.trace.as_ref();
        let process = trace.and_then(|trace| self.tasks.get(trace.tracer)).map(|task| task.shared.process);
        let process = process.or(self.process().parent);
        let (pid, uid) = process.map_or((self.process().ppid, self.user), |process| {
            let held = &self.processes[process];
            (held.pid, self.tasks[held.leader].cred.uid.real)
        });
        SigInfo::user(signo, SI_USER, self.shown_pid(pid) as u32, uid)
    }
}
