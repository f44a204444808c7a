//! The guest as the machine's supervisor: the kernel serves it, and limits and the user's stop conditions end it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::emu::memory::space::{AddressSpace, FileArea};
use crate::emu::supervisor::{Next, Refused, Supervisor};
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory};
use crate::hooks::plan::MappingId;
use crate::kernel::Kernel;
use crate::kernel::random::Random;
use crate::requests::Requests;
use crate::session::modules::Modules;
use crate::session::{Control, Limits, Stop, request};
use crate::syscalls::context::{Action, ExecRequest};
use crate::syscalls::dispatch;
use crate::x86::decode::{MAX_LENGTH, Refusal};

/// The value of `Control::interrupt` that stands for the time limit; no signal has this number.
pub const TIME_IS_UP: usize = usize::MAX;

/// The value of `Control::interrupt` that asks for a pause.
pub const PAUSE: usize = usize::MAX - 1;

/// Where a run is to pause. A pause changes nothing that the guest can see, and nothing of what is counted.
#[derive(Clone, Debug, Default)]
pub struct StopConditions {
    /// When so many instructions have been executed.
    pub at: Option<u64>,
    /// Some time after so many instructions have been executed, when it is convenient.
    pub after: Option<u64>,
    /// Before these system calls.
    pub syscalls: BTreeSet<u64>,
    /// Before any system call.
    pub any_syscall: bool,
    /// At the first instruction of a signal's handler.
    pub signals: bool,
    /// Although the next instruction is at a breakpoint, do not pause there now.
    pub pass_breakpoint: bool,
    /// Before a system call reaches the host's streams for the first time.
    pub outside: bool,
    /// Do not pause at breakpoints.
    pub ignore_breakpoints: bool,
    /// At the first instruction of a program that execve(2) has loaded.
    pub exec: bool,
}

/// Why a run has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// As many instructions have been executed as were wished for in `at`.
    Reached,
    /// More instructions have been executed than were wished for in `after`.
    Passed,
    /// The next instruction is at a breakpoint.
    Breakpoint,
    /// The next instruction makes this system call.
    Syscall(u64),
    /// The handler of this signal is about to start.
    Signal(i32),
    /// Another program was loaded.
    Exec,
    /// The next instruction makes a system call that reaches the host's streams.
    Outside,
    /// Somebody asked for it through [`Control::interrupt`].
    Asked,
    /// The program has ended; there is nothing to go on with.
    Ended,
}

/// Why the run ended, before it is put into words.
#[derive(Clone, Debug)]
pub enum Ending {
    /// As it will be reported.
    Stop(Stop),
    /// A signal, and the fault that caused it.
    Fault {
        /// The signal.
        signal: i32,
        /// The fault.
        fault: Fault,
        /// Address of the instruction.
        pc: u64,
        /// The instruction's bytes, and why it was refused, if it was.
        refused: Option<(Vec<u8>, Refusal)>,
        /// The file it came from.
        mapping: MappingId,
    },
}

/// The guest's side of a run.
pub struct Guest {
    pub kernel: Kernel,
    pub modules: Modules,
    pub control: Arc<Control>,
    pub limits: Limits,
    pub ending: Option<Ending>,
    pub exec: Option<ExecRequest>,
    pub conditions: StopConditions,
    pub paused: Option<Pause>,
    /// The instruction count of the system call that was paused at last.
    pub syscall_paused_at: Option<u64>,
    /// Numbers for RDRAND, apart from the kernel's, which the guest may also ask for.
    pub random: Random,
    /// What Valgrind's client requests have left behind.
    pub requests: Requests,
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

    pub(super) fn act(&mut self, action: Action) -> Next {
        let delivered = self.kernel.task_mut().signals.delivered.take();
        match action {
            Action::Continue => match (self.interrupted(), delivered) {
                (Some(next), _) => next,
                (None, Some(signal)) if self.conditions.signals => self.pause(Pause::Signal(signal)),
                (None, _) => Next::Continue,
            },
            Action::GivenUp => match self.interrupted() {
                Some(_) if self.ending.is_some() => Next::Stop,
                _ => {
                    let held = self.kernel.fs.streams.is_held();
                    self.pause(if held { Pause::Outside } else { Pause::Asked });
                    Next::Undo
                }
            },
            Action::Exit(status) => self.stop(Stop::Exited(status)),
            Action::Killed(signal) => self.stop(Stop::Killed(signal)),
            Action::Refuse(why) => self.stop(Stop::Refused(why)),
            Action::Exec(request) => {
                self.exec = Some(request);
                Next::Stop
            }
        }
    }

    /// What to do because the outside wants it, if it wants anything.
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

impl Supervisor for Guest {
    fn syscall(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Next {
        if self.conditions.any_syscall || !self.conditions.syscalls.is_empty() {
            let number = u64::from(cpu.gpr(Gpr::Rax) as u32);
            let now = Some(cpu.instructions());
            if (self.conditions.any_syscall || self.conditions.syscalls.contains(&number))
                && self.syscall_paused_at != now
            {
                self.syscall_paused_at = now;
                self.pause(Pause::Syscall(number));
                return Next::Undo;
            }
        }
        self.requests.settle(cpu);
        let action = dispatch::syscall(&mut self.kernel, cpu, mem);
        self.act(action)
    }

    fn request(&mut self, cpu: &mut dyn GuestCpu, mem: &mut AddressSpace) -> Result<Next, u64> {
        request::serve(self, cpu, mem)
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
        if request::returned(self, cpu, mem, fault) {
            return Next::Continue;
        }
        let action = dispatch::fault(&mut self.kernel, cpu, mem, fault);
        let Action::Killed(signal) = action else { return self.act(action) };
        let refused = refused.map(|refused| {
            let mut bytes = vec![0; MAX_LENGTH];
            let len = mem.read(pc, &mut bytes).err().unwrap_or(MAX_LENGTH);
            bytes.truncate(len);
            (bytes, refused.why)
        });
        self.ending.get_or_insert(Ending::Fault { signal, fault, pc, refused, mapping: file });
        Next::Stop
    }

    fn out_of_memory(&mut self, _cpu: &mut dyn GuestCpu) {
        let limit = self.limits.memory.unwrap_or_default();
        self.stop(Stop::Limit(format!("the program needs more than {limit} bytes of memory (--max-memory)")));
    }

    fn mapping_of(&mut self, file: Option<FileArea<'_>>) -> MappingId {
        self.modules.number(file)
    }

    fn notice(&mut self, pc: u64, what: &'static str) {
        self.kernel.notices.once(format!("{what} (first at {pc:#x})"));
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
        match self.kernel.next_timer() {
            Some(due) if instructions >= due => Next::Interrupt,
            _ => Next::Continue,
        }
    }

    fn interrupt(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Next {
        let action = dispatch::interrupt(&mut self.kernel, cpu, mem);
        self.act(action)
    }

    fn breakpoint(&mut self, _cpu: &mut dyn GuestCpu, _mem: &mut dyn GuestMemory) -> Next {
        if self.conditions.ignore_breakpoints {
            return Next::Continue;
        }
        self.pause(Pause::Breakpoint)
    }

    fn instructions_left(&self, executed: u64) -> Option<u64> {
        let wanted = [self.limits.instructions, self.conditions.at, self.kernel.next_timer()];
        wanted.into_iter().flatten().min().map(|at| at.saturating_sub(executed))
    }

    fn random(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}
