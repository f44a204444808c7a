//! The guest as the machine's supervisor: the kernel serves it; limits end it, and stop conditions
//! pause it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::abi::signal::signo::SIGILL;
use crate::emu::memory::space::{AddressSpace, FileArea};
use crate::emu::supervisor::{Next, Refused, Supervisor};
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory};
use crate::hooks::callgraph::facts::CodePlace;
use crate::hooks::plan::MappingId;
use crate::kernel::Kernel;
use crate::kernel::arena::TaskId;
use crate::kernel::process::{PID, Process, Status};
use crate::kernel::random::Random;
use crate::kernel::sched::Picked;
use crate::kernel::transcript::Transcript;
use crate::requests::{Answer, Requests, Voice};
use crate::session::config::Limits;
use crate::session::control::{Control, PAUSE, TIME_IS_UP};
use crate::session::kernel_stores::KernelStores;
use crate::session::modules::Modules;
use crate::session::outcome::{Ending, Pause, Stop};
use crate::session::places::Calls;
use crate::session::request::RequestHost;
use crate::syscalls::context::{Action, ExecRequest, Spawn};
use crate::syscalls::dispatch;
use crate::x86::decode::{MAX_LENGTH, Refusal};

/// Conditions under which a run pauses. A pause changes nothing that the guest can see, and
/// nothing of what is counted.
#[derive(Clone, Debug, Default)]
pub struct StopConditions {
    /// Exactly after this number of instructions.
    pub at: Option<u64>,
    /// At the end of a block after this number of instructions: cheaper than `at`.
    pub after: Option<u64>,
    /// Before these system calls, and when they have returned.
    pub syscalls: BTreeSet<u64>,
    /// Before any system call, and when it has returned.
    pub any_syscall: bool,
    /// At the first instruction of a signal's handler, and before a signal ends a process.
    pub signals: bool,
    /// After a task was made.
    pub spawns: bool,
    /// After code of a file was mapped.
    pub mapped: bool,
    /// Not at the breakpoint at which the next instruction is.
    pub pass_breakpoint: bool,
    /// Before a system call reaches the host's streams for the first time.
    pub outside: bool,
    /// Not at breakpoints.
    pub ignore_breakpoints: bool,
    /// At the first instruction of a program that execve(2) has loaded.
    pub exec: bool,
    /// At the turn of the task with this id, or of another one after its end.
    pub turn_of: Option<i32>,
}

/// Number of rt_sigreturn(2).
const RT_SIGRETURN: u64 = 15;

/// Instructions that the others may execute when the first process has ended. They may sleep as
/// long as they like.
const LINGER: u64 = 1_000_000_000;

/// Bytes that may be kept for the code of a run whatever the limit of memory is: that of a million
/// different instructions.
const LEAST_FOR_CODE: u64 = 256 << 20;

/// Bytes that may be kept for the counts and simulators of processes whatever the limit of memory
/// is.
const LEAST_FOR_COUNTS: u64 = 64 << 20;

/// Work that waits until the engine has been left.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// Another task is next; it sleeps in a call, or is between two instructions.
    Of(TaskId),
    /// The running task has made another one, and is next itself.
    Spawn(Spawn),
    /// The running task goes on, from the call that it is in or between two instructions.
    GoOn,
    /// A signal ends the process of the running task.
    Kill(i32),
    /// The next task is still to be picked.
    Pick,
}

/// The guest's side of a run.
pub(super) struct Guest {
    pub kernel: Kernel,
    pub modules: Modules,
    pub control: Arc<Control>,
    pub limits: Limits,
    pub ending: Option<Ending>,
    /// The end of the first process by a fault, for when the others have ended too.
    pub first_end: Option<Ending>,
    pub exec: Option<ExecRequest>,
    /// Work before the machine may run on.
    pub turn: Option<Turn>,
    pub conditions: StopConditions,
    pub paused: Option<Pause>,
    /// Instruction count at the last system call before which the run paused.
    pub syscall_paused_at: Option<u64>,
    /// Pause that is due when the run is resumed: two were due at one moment.
    pub owed: Option<Pause>,
    /// Numbers for RDRAND, apart from the kernel's, which the guest may also ask for.
    pub random: Random,
    /// State of Valgrind's client requests.
    pub requests: Requests,
    /// Debug information is read on another thread when a file's code runs for the first time.
    pub reads_ahead: bool,
    /// Programs that children execute are counted.
    pub traces_children: bool,
    /// The log hears nothing of a child of fork(2) until it executes a program.
    pub silent_forks: bool,
    /// Memory that is watched while the kernel serves the guest.
    pub lookout: KernelStores,
    /// Calls about which something is said in the log.
    pub places: Vec<Calls>,
}

impl StopConditions {
    /// Tells if the run pauses at any system call.
    pub(super) fn at_syscalls(&self) -> bool {
        self.any_syscall || !self.syscalls.is_empty()
    }

    /// Tells if the run pauses at this system call.
    pub(super) fn at_syscall(&self, number: u64) -> bool {
        self.any_syscall || self.syscalls.contains(&number)
    }
}

impl Guest {
    fn stop(&mut self, stop: Stop) -> Next {
        self.ending.get_or_insert(Ending::Stop(stop));
        Next::Stop
    }

    fn pause(&mut self, pause: Pause) -> Next {
        self.paused.get_or_insert(pause);
        Next::Stop
    }

    /// Does what an action asks for. When the running task cannot go on, the next one is picked: at
    /// once if that is the same, else when the engine has been left.
    pub(super) fn act(&mut self, mut action: Action, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Next {
        loop {
            self.transcribe();
            action = match action {
                Action::Spawn(spawn) => {
                    self.turn = Some(Turn::Spawn(spawn));
                    return Next::Stop;
                }
                Action::Killed(signal) => {
                    self.turn = Some(Turn::Kill(signal));
                    return self.pause(Pause::Fatal(signal));
                }
                Action::Returned(number) if self.conditions.at_syscall(number) => {
                    self.turn = Some(Turn::GoOn);
                    return self.pause(Pause::Returned(number));
                }
                Action::Returned(_) => self.resume(cpu, mem),
                Action::Sleep | Action::Gone => match self.kernel.pick(cpu) {
                    Picked::Task(_) if self.is_overdue(cpu) => return self.end_the_rest(),
                    Picked::Task(task) if task == self.kernel.current() => {
                        self.kernel.switch_to(task, cpu.instructions());
                        self.resume(cpu, mem)
                    }
                    Picked::Task(task) => {
                        self.turn = Some(Turn::Of(task));
                        return Next::Stop;
                    }
                    Picked::Deadlock(_) if self.kernel.status().is_some() => return self.end_the_rest(),
                    Picked::Deadlock(why) => {
                        self.ending.get_or_insert(Ending::Deadlock { why, tasks: Vec::new() });
                        return Next::Stop;
                    }
                    Picked::Finished => return self.finish(),
                    Picked::GivenUp => {
                        self.turn = Some(Turn::Pick);
                        self.conclude(Action::GivenUp);
                        return Next::Stop;
                    }
                },
                Action::Refuse(why) => {
                    let calls = self.calls(cpu, mem);
                    self.ending.get_or_insert(Ending::Refused { why, calls });
                    return Next::Stop;
                }
                other => {
                    if self.kernel.task().signals.delivered.is_some() {
                        cpu.signal_begins();
                    }
                    return self.conclude(other);
                }
            };
        }
    }

    /// Lets the running task go on: from the call that it sleeps in, or with the signals that are
    /// pending for it.
    pub(super) fn resume(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Action {
        self.lookout.before(mem);
        let stopped = self.kernel.task().tracing.stop.is_some();
        let action = dispatch::resume(&mut self.kernel, cpu, mem);
        if stopped {
            // The call of a tracee, which is not that of whoever calls next.
            self.place_notices(cpu, mem);
        }
        // Others may have executed the last instruction; this task will execute the next.
        self.lookout.after(cpu, mem, 1);
        action
    }

    /// Takes what the kernel has noted of calls and signals to the log.
    fn transcribe(&mut self) {
        let mut text = self.kernel.transcript.as_mut().map(Transcript::take).unwrap_or_default();
        if self.silent_forks {
            let heard = |line: &&str| self.task_of_line(line).is_none_or(|process| !self.is_silent(process));
            text = text.split_inclusive('\n').filter(heard).collect();
        }
        if text.is_empty() {
            return;
        }
        if let Some(own) = &self.control.transcript {
            own.say(Voice::User, text.as_bytes());
            return;
        }
        if let Some(terminal) = &self.control.terminal {
            terminal.writing(2, text.as_bytes());
        }
        if let Some(log) = &self.control.log {
            log.say(Voice::User, text.as_bytes());
        }
    }

    /// Tells if the log is to hear nothing of a process.
    pub(super) fn is_silent(&self, process: &Process) -> bool {
        self.silent_forks && !process.executed && process.pid != PID
    }

    /// The process that a line of the transcript is about, if it is there.
    fn task_of_line(&self, line: &str) -> Option<&Process> {
        let tid = line.strip_prefix("[pid ")?.split(']').next()?.parse().ok()?;
        let task = self.kernel.other_task(self.kernel.find_task(tid)?);
        Some(self.kernel.other_process(task.shared.process))
    }

    /// Takes the rest of it to the log: the run has ended.
    pub(super) fn end_transcript(&mut self) {
        if let Some(transcript) = &mut self.kernel.transcript {
            transcript.interrupt();
        }
        self.transcribe();
    }

    /// Tells if the first process ended so long ago that the others are not waited for any more.
    fn is_overdue(&mut self, cpu: &mut dyn GuestCpu) -> bool {
        let ended = self.kernel.first_ended_at();
        ended.is_some_and(|at| cpu.instructions() >= at.saturating_add(LINGER))
    }

    /// Ends the run although processes are left.
    fn end_the_rest(&mut self) -> Next {
        let left = self.kernel.live_tasks();
        self.kernel.notices.once(format!(
            "{left} processes and threads went on after the first process had ended, and were killed"
        ));
        self.finish()
    }

    /// Ends the run if the counts and simulators of processes that do not run take too many bytes.
    pub(super) fn resting(&mut self, bytes: u64) {
        let most = self.limits.memory.unwrap_or_default().max(LEAST_FOR_COUNTS);
        if bytes > most {
            self.stop(Stop::Limit(format!(
                "the counts and simulators of so many processes take more than {most} bytes of memory (--max-memory)"
            )));
        }
    }

    /// Ends the run as its first process has ended.
    fn finish(&mut self) -> Next {
        let of_status = |status: Status| match status.signal() {
            Some(signal) => Stop::Killed(signal),
            None => Stop::Exited(status.code()),
        };
        let stop = self.kernel.status().map_or(Stop::Refused("no task is left".into()), of_status);
        let ending = self.first_end.take().unwrap_or(Ending::Stop(stop));
        self.ending.get_or_insert(ending);
        Next::Stop
    }

    fn conclude(&mut self, action: Action) -> Next {
        let delivered = self.kernel.task_mut().signals.delivered.take();
        match action {
            Action::Continue
            | Action::Spawn(_)
            | Action::Gone
            | Action::Killed(_)
            | Action::Returned(_)
            | Action::Sleep => match (self.interrupted(), delivered) {
                (Some(next), _) => next,
                (None, Some(signal)) if self.conditions.signals => self.pause(Pause::Signal(signal)),
                (None, _) => Next::Continue,
            },
            Action::GivenUp => match self.interrupted() {
                Some(_) if self.ending.is_some() => Next::Stop,
                _ => {
                    let held = self.kernel.streams.is_held();
                    self.pause(if held { Pause::Outside } else { Pause::Asked });
                    Next::Undo
                }
            },
            Action::Limit(what) => self.stop(Stop::Limit(what)),
            Action::Refuse(why) => self.stop(Stop::Refused(why)),
            Action::OutOfMemory => {
                let limit = self.limits.memory.unwrap_or_default();
                let what = format!("the program needs more than {limit} bytes of memory (--max-memory)");
                self.stop(Stop::Limit(what))
            }
            Action::Exec(request) => {
                self.exec = Some(*request);
                Next::Stop
            }
        }
    }

    /// The instruction count at which a timer is due or the task's turn is over.
    fn next_interrupt(&self) -> Option<u64> {
        let overdue = self.kernel.first_ended_at().map(|at| at + LINGER);
        [self.kernel.next_timer(), self.kernel.quantum_end(), overdue].into_iter().flatten().min()
    }

    /// Answers [`Control::interrupt`], if it asks for anything.
    fn interrupted(&mut self) -> Option<Next> {
        let stop = match self.control.interrupt.load(Relaxed) {
            0 => return None,
            PAUSE => return Some(self.pause(Pause::Asked)),
            TIME_IS_UP => {
                let time = self.limits.time.unwrap_or_default();
                Stop::Limit(format!("{time:?} have passed (--timeout)"))
            }
            signal => Stop::Interrupted(signal as i32),
        };
        Some(self.stop(stop))
    }
}

/// The bytes of the instruction at `pc`, and those behind it.
fn bytes_at(mem: &mut AddressSpace, pc: u64) -> Vec<u8> {
    let mut bytes = vec![0; MAX_LENGTH];
    let len = mem.read(pc, &mut bytes).err().unwrap_or(MAX_LENGTH);
    bytes.truncate(len);
    bytes
}

impl Supervisor for Guest {
    fn syscall(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Next {
        if self.conditions.at_syscalls() {
            let number = u64::from(cpu.gpr(Gpr::Rax) as u32);
            let now = Some(cpu.instructions());
            if self.conditions.at_syscall(number) && self.syscall_paused_at != now {
                self.syscall_paused_at = now;
                self.pause(Pause::Syscall(number));
                return Next::Undo;
            }
        }
        self.requests.settle(cpu);
        self.lookout.before(mem);
        let code = mem.code_mappings();
        let returns = u64::from(cpu.gpr(Gpr::Rax) as u32) == RT_SIGRETURN;
        let action = dispatch::syscall(&mut self.kernel, cpu, mem);
        if returns {
            cpu.signal_returned();
        }
        self.place_notices(cpu, mem);
        // The instruction that makes the call has been executed.
        self.lookout.after(cpu, mem, 0);
        match self.act(action, cpu, mem) {
            Next::Continue if self.conditions.mapped && mem.code_mappings() != code => {
                self.pause(Pause::Mapped)
            }
            next => next,
        }
    }

    fn request(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Result<Next, u64> {
        self.lookout.before(mem);
        let silent = self.is_silent(self.kernel.process());
        let Guest { kernel, modules, control, requests, .. } = self;
        let answer = requests.serve(&mut RequestHost { cpu, mem, kernel, modules, control, silent })?;
        self.lookout.after(cpu, mem, 0);
        // They are not about a call.
        self.kernel.notices.take_fresh();
        let given_up = self.kernel.streams.take_given_up();
        let later = given_up || answer == Answer::Later;
        Ok(self.conclude(if later { Action::GivenUp } else { Action::Continue }))
    }

    fn fault(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut AddressSpace,
        fault: Fault,
        refused: Option<Refused>,
        file: MappingId,
    ) -> Next {
        let pc = refused.map_or_else(|| cpu.rip(), |refused| refused.pc);
        if let Some(Refused { why: why @ Refusal::Transfer, .. }) = refused {
            let refused = Some((bytes_at(mem, pc), why));
            self.ending.get_or_insert(Ending::Fault { signal: SIGILL, fault, pc, refused, mapping: file });
            return Next::Stop;
        }
        let silent = self.is_silent(self.kernel.process());
        let Guest { kernel, modules, control, requests, .. } = self;
        if requests.returned(&mut RequestHost { cpu, mem, kernel, modules, control, silent }, fault) {
            return Next::Continue;
        }
        self.lookout.before(mem);
        let ended_before = self.kernel.status().is_some();
        let action = dispatch::fault(&mut self.kernel, cpu, mem, fault);
        // A pause at this moment is one before the signal.
        self.lookout.after(cpu, mem, 1);
        let killed = match action {
            Action::Gone if !ended_before => self.kernel.status().and_then(Status::signal),
            Action::Killed(signal) if self.kernel.process().pid == PID => Some(signal),
            _ => None,
        };
        let Some(signal) = killed else { return self.act(action, cpu, mem) };
        let refused = refused.map(|refused| (bytes_at(mem, pc), refused.why));
        self.first_end = Some(Ending::Fault { signal, fault, pc, refused, mapping: file });
        self.act(action, cpu, mem)
    }

    fn out_of_memory(&mut self, _cpu: &mut dyn GuestCpu) {
        self.conclude(Action::OutOfMemory);
    }

    fn translated(&mut self, bytes: u64) -> Next {
        let most = self.limits.memory.unwrap_or_default().max(LEAST_FOR_CODE);
        if bytes <= most {
            return Next::Continue;
        }
        let what =
            format!("the program runs more code than {most} bytes of memory allow to count (--max-memory)");
        self.stop(Stop::Limit(what))
    }

    fn mapping_of(&mut self, file: Option<FileArea<'_>>) -> MappingId {
        let mapping = self.modules.number(file);
        // Programs that children execute may not be counted.
        let is_counted = self.traces_children || self.kernel.process().pid == PID;
        self.modules.read_ahead(self.reads_ahead && is_counted);
        mapping
    }

    fn code_place(&mut self, mapping: MappingId, pc: u64) -> CodePlace {
        self.modules.code_place(mapping, pc)
    }

    fn begins_counts(&mut self, mapping: MappingId, pc: u64) -> bool {
        self.modules.begins_counts(mapping, pc)
    }

    fn notice(&mut self, pc: u64, file: Option<FileArea<'_>>, what: &'static str) {
        let notices = &mut self.kernel.notices;
        notices.take_fresh();
        notices.count_at(what, pc);
        let fresh = notices.take_fresh();
        if !fresh.is_empty() {
            notices.set_place(fresh, self.places.len());
            self.places.push(vec![(self.modules.number(file), pc)]);
        }
    }

    fn tick(&mut self, instructions: u64, resident: u64) -> Next {
        self.control.instructions.store(instructions, Relaxed);
        self.control.resident.store(resident, Relaxed);
        if let Some(next) = self.interrupted() {
            return next;
        }
        if let Some(limit) = self.limits.instructions.filter(|&limit| instructions >= limit) {
            return self
                .stop(Stop::Limit(format!("{limit} instructions were executed (--max-instructions)")));
        }
        if self.conditions.at.is_some_and(|at| instructions >= at) {
            return self.pause(Pause::Reached);
        }
        if self.conditions.after.is_some_and(|after| instructions >= after) {
            return self.pause(Pause::Passed);
        }
        match self.next_interrupt() {
            Some(due) if instructions >= due => Next::Interrupt,
            _ => Next::Continue,
        }
    }

    fn interrupt(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Next {
        self.lookout.before(mem);
        self.kernel.task_mut().orig_rax = u64::MAX;
        let mut action = dispatch::interrupt(&mut self.kernel, cpu, mem);
        self.lookout.after(cpu, mem, 1);
        let turn_is_over = self.kernel.quantum_end().is_some_and(|end| cpu.instructions() >= end);
        if (turn_is_over || self.is_overdue(cpu)) && matches!(action, Action::Continue) {
            self.kernel.give_way();
            action = Action::Sleep;
        }
        self.act(action, cpu, mem)
    }

    fn breakpoint(&mut self, _cpu: &mut dyn GuestCpu, _mem: &mut AddressSpace) -> Next {
        if self.conditions.ignore_breakpoints {
            return Next::Continue;
        }
        self.pause(Pause::Breakpoint)
    }

    fn instructions_left(&self, executed: u64) -> Option<u64> {
        let wanted = [self.limits.instructions, self.conditions.at, self.next_interrupt()];
        wanted.into_iter().flatten().min().map(|at| at.saturating_sub(executed))
    }

    fn random(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn may_read_tsc(&self) -> bool {
        !self.kernel.task().tsc_faults
    }
}
