//! A run: starts the program, resumes it, and answers what stops the machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

use crate::abi::errno::Errno;
use crate::abi::signal::signo::SIGKILL;
use crate::emu::cpuid::CpuModel;
use crate::emu::host_memory::{advice, give_large_allocations_back};
use crate::emu::memory::arena::Arena;
use crate::emu::memory::frames::Frames;
use crate::emu::memory::space::AddressSpace;
use crate::emu::unicorn::{HOST_ADDRESSES, Machine, TaskCpu};
use crate::guest::layout::{Layout, StackOrder};
use crate::guest::{Gpr, GuestCpu, PAGE_SIZE};
use crate::hooks::consumer::{Consumer, Predictors, Told};
use crate::hooks::recorder::counting::Inline;
use crate::hooks::recorder::{CountModel, Recorder};
use crate::hooks::worker::Link;
use crate::kernel::Kernel;
use crate::kernel::arena::TaskId;
use crate::kernel::config::KernelConfig;
use crate::kernel::process::Status;
use crate::kernel::random::Random;
use crate::kernel::transcript::Transcript;
use crate::kernel::vfs::host::as_path;
use crate::profile::reason;
use crate::requests::Requests;
use crate::session::accounts::Accounts;
use crate::session::config::{Config, CountConfig, FunctionPatterns, Limits, MachineConfig, Producer};
use crate::session::control::{Control, PAUSE, TIME_IS_UP};
use crate::session::guest::{Guest, StopConditions, Turn};
use crate::session::kernel_stores::KernelStores;
use crate::session::load::{self, Start};
use crate::session::modules::Modules;
use crate::session::outcome::{Ending, Pause, Stop};
use crate::session::request::client;
use crate::sim::Hierarchy;
use crate::symbols::give_up::GiveUp;
use crate::syscalls::context::{Action, ExecRequest};
use crate::syscalls::strace::lines::{executed, started};

/// Bytes of guest memory and overlay files without `--max-memory`: what the emulated machine says
/// it has.
const DEFAULT_MEMORY: u64 = 4 << 30;

/// Descriptors that Valgrind keeps for itself (`N_RESERVED_FDS`).
const VALGRINDS_DESCRIPTORS: u64 = 12;

/// Tells the stream of RDRAND apart from the kernel's, which has the same seed.
const RDRAND_STREAM: u64 = 0x5244_5241_4e44;

/// Reason why a program could not be started. Each says what is wrong with which file and what to
/// do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No such file (exit status 127).
    #[error("{0}")]
    NotFound(String),
    /// A file that cannot be run (exit status 126).
    #[error("{0}")]
    NotExecutable(String),
    /// Anything else that went wrong before the first instruction (exit status 125).
    #[error("{0}")]
    Other(String),
}

fn start_error(failure: load::LoadFailure) -> StartError {
    match failure.errno {
        Errno::ENOENT | Errno::ENOTDIR => StartError::NotFound(failure.message),
        Errno::ENOMEM => StartError::Other(failure.message),
        _ => StartError::NotExecutable(failure.message),
    }
}

fn other(error: impl std::fmt::Display) -> StartError {
    StartError::Other(error.to_string())
}

/// The wish to read no more debug information: a front end wants a pause.
fn give_up(control: &Arc<Control>) -> GiveUp {
    let interrupt = Arc::clone(&control.interrupt);
    GiveUp::when(move || interrupt.load(Relaxed) == PAUSE)
}

/// A run that can be paused, looked at, and taken back to a moment before.
pub struct Session {
    pub(super) config: Config,
    pub(super) machine: Machine,
    pub(super) guest: Guest,
    /// Registers of the tasks that do not run.
    pub(super) cpus: BTreeMap<TaskId, TaskCpu>,
    pub(super) accounts: Accounts,
    /// The task that is looked at, if it is not the running one.
    pub(super) looked_at: Option<TaskId>,
    /// Ends the timer when dropped.
    _timer: Option<Sender<()>>,
}

impl Session {
    /// Loads a program; its first instruction is next.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(config: Config, control: Arc<Control>) -> Result<Session, StartError> {
        give_large_allocations_back();
        let Config { machine: program, counting, .. } = &config;
        let memory = program.limits.memory.unwrap_or(DEFAULT_MEMORY);
        let mut kernel = new_kernel(&config, &control, memory)?;
        let mut machine = new_machine(&config, memory)?;
        load(program, &mut kernel, &mut machine)?;
        if !counting.at_start {
            machine.set_counting(false);
        }
        let first = client(&kernel);
        let guest = Guest {
            kernel,
            modules: Modules::new(as_path(program.policy.root()), give_up(&control), &counting.functions),
            limits: Limits { memory: Some(memory), ..program.limits },
            ending: None,
            first_end: None,
            exec: None,
            turn: None,
            conditions: StopConditions::default(),
            paused: None,
            syscall_paused_at: None,
            owed: None,
            random: Random::new(program.seed ^ RDRAND_STREAM),
            requests: Requests::new(!counting.at_start, first),
            reads_ahead: cpus(config.counting.cpus) > 1,
            traces_children: counting.children.trace,
            silent_forks: config.recording.silent_forks,
            lookout: KernelStores::default(),
            places: Vec::new(),
            control,
        };
        let _timer = program.limits.time.map(|time| start_timer(time, &guest.control));
        let accounts =
            Accounts::new(counting.children, counting.skip.clone(), &guest.kernel, program.command_line());
        Ok(Session { config, machine, guest, cpus: BTreeMap::new(), accounts, looked_at: None, _timer })
    }

    /// Lets the program run until one of the conditions holds, or to its end.
    pub fn resume(&mut self, conditions: StopConditions) -> Pause {
        self.looked_at = None;
        if self.guest.ending.is_some() {
            return Pause::Ended;
        }
        if conditions.pass_breakpoint {
            self.machine.pass_breakpoint();
        }
        self.guest.kernel.streams.hold(conditions.outside);
        self.guest.kernel.hold_fatal_signals(conditions.signals);
        self.guest.kernel.holds_returns = conditions.at_syscalls();
        self.guest.conditions = conditions;
        self.guest.paused = None;
        if let Some(Pause::Returned(number)) = self.guest.owed.take()
            && self.guest.conditions.at_syscall(number)
        {
            return Pause::Returned(number);
        }
        loop {
            let turn = self.guest.turn.take();
            let took_turn = turn.is_some();
            let result = match turn {
                Some(turn) => self.take_turn(turn),
                None => self.machine.run(&mut self.guest),
            };
            let result = result.and_then(|()| self.report_deadlock());
            let failed = match result {
                Ok(()) if self.guest.kernel.streams.is_astray() => Some(
                    "the program did not do again what it had done: its input or files have changed".into(),
                ),
                Ok(()) => None,
                Err(error) => Some(format!("the emulator failed: {error}")),
            };
            if let Some(why) = failed {
                self.guest.ending = Some(Ending::Stop(Stop::Refused(why)));
            }
            if self.guest.ending.is_some() {
                return Pause::Ended;
            }
            if let Some(pause) = self.guest.paused {
                return pause;
            }
            if self.guest.turn.is_some() {
                continue;
            }
            if took_turn && self.guest.exec.is_none() {
                if self.is_turn_wanted() {
                    return Pause::Turn;
                }
                continue;
            }
            let Some(request) = self.guest.exec.take() else {
                let why = "the emulator stopped without a reason".into();
                self.guest.ending = Some(Ending::Stop(Stop::Refused(why)));
                return Pause::Ended;
            };
            let (name, argv) = (request.filename.clone(), request.argv.clone());
            let executed = exec(&mut self.machine, &mut self.guest, request);
            if executed {
                self.accounts.executed(&self.guest.kernel, &name, &argv, self.machine.recorder());
                // As Valgrind, which starts anew.
                self.machine.set_counting(self.config.counting.at_start);
            }
            if !self.guest.kernel.task().tracing.is_idle() && self.guest.ending.is_none() {
                // The tracer is told before the first instruction.
                self.guest.turn.get_or_insert(Turn::GoOn);
            }
            let returned = self.guest.kernel.task_mut().returned.take();
            let returned = returned.filter(|number| self.guest.conditions.at_syscall(*number));
            if executed && self.guest.conditions.exec {
                self.guest.owed = returned.map(Pause::Returned);
                return Pause::Exec;
            }
            if let Some(number) = returned {
                return Pause::Returned(number);
            }
            if self.guest.ending.is_some() {
                return Pause::Ended;
            }
        }
    }

    /// Tells if the task that runs is the one that is waited for, or that one has ended.
    fn is_turn_wanted(&self) -> bool {
        let Guest { kernel, conditions, .. } = &self.guest;
        conditions.turn_of.is_some_and(|tid| {
            let alive = kernel.find_task(tid).is_some_and(|task| kernel.is_alive(task));
            kernel.task().tid == tid || !alive
        })
    }
}

fn new_kernel(config: &Config, control: &Control, memory: u64) -> Result<Kernel, StartError> {
    let program = &config.machine;
    let cwd = std::env::current_dir().and_then(std::fs::canonicalize);
    let cwd = cwd.map_err(|error| other(format!("the working directory: {error}")))?;
    // Outside of a root of its own, the program starts there.
    let root = as_path(program.policy.root());
    let cwd = if cwd.starts_with(root) { cwd } else { root.to_owned() };
    let here = as_path(program.policy.in_guest(cwd.as_os_str().as_bytes())).to_owned();
    let mut kernel = Kernel::new(&KernelConfig {
        allow_write: program.allow_write.clone(),
        policy: program.policy.clone(),
        outside: program.outside.clone(),
        cwd,
        user: program.user,
        seed: program.seed,
        quantum: program.schedule.quantum,
        schedule_seed: program.schedule.seed,
        memory_limit: memory,
        max_processes: program.limits.processes,
        max_files: program.limits.files,
        max_output: program.limits.output,
        interrupt: Arc::clone(&control.interrupt),
        front: control.terminal.clone(),
        input: program.stdin.clone(),
        journal: config.recording.journal,
    });
    kernel.transcript = config.recording.calls.then(Transcript::default);
    if kernel.working_directory() != here.as_os_str().as_bytes() {
        return Err(other(format!(
            "{}: not shown to the program, by --deny or as the emulated machine has files of its own there; run from another \
             directory",
            here.display()
        )));
    }
    if program.layout == Layout::VALGRIND {
        kernel.process_mut().limits.keep_descriptors(VALGRINDS_DESCRIPTORS);
    }
    Ok(kernel)
}

/// Work that generated code can do by itself, if any: nobody asks what comes after what but by the
/// trace, and no thread has counts of its own.
fn inline(counting: &CountConfig, caches: Option<&Hierarchy>, cpus: usize) -> Option<Inline> {
    let CountConfig { branch_sim, calls, model, producer, children, .. } = counting;
    let can = !counting.waits_for_a_function()
        && !children.threads
        && *model == CountModel::Arch
        && *producer == Producer::Tap;
    can.then(|| Inline::most((caches, *branch_sim), calls.is_some(), may_join(counting), cpus))
}

/// Tests whether blocks may be joined: with a call graph no jumps between them are counted, and
/// nothing happens at the beginning of a block but calls.
fn may_join(counting: &CountConfig) -> bool {
    let Some(rules) = &counting.calls else { return true };
    let FunctionPatterns { toggle, dump_before, dump_after, zero_before, .. } = &counting.functions;
    !rules.jumps
        && rules.dump_every == 0
        && rules.collect_at_start
        && [toggle, dump_before, dump_after, zero_before].iter().all(|patterns| patterns.is_empty())
}

/// CPUs of the host for this process, and no more than `most`.
fn cpus(most: Option<NonZeroUsize>) -> usize {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    most.map_or(all, |most| all.min(most.get()))
}

fn new_machine(config: &Config, memory: u64) -> Result<Machine, StartError> {
    let Config { machine: program, counting, .. } = config;
    // Before threads begin, whose stacks and heaps take addresses too.
    let arena = Arena::reserve(HOST_ADDRESSES).map_err(|error| {
        let why = reason(&error);
        other(format!(
            "cannot reserve 2.25 GiB of addresses for the program and the engine: {why}; {}",
            advice()
        ))
    })?;
    let caches = counting.caches.map(|caches| Hierarchy::new(caches.i1, caches.d1, caches.ll));
    let predictors = counting.branch_sim.then(Predictors::default);
    let cpus = cpus(counting.cpus);
    let inline = inline(counting, caches.as_ref(), cpus);
    let told = inline.map_or_else(Told::default, Inline::tells);
    // What is left of the simulation is for one thread, or for none.
    let cpus = if told == Told::default() { cpus } else { 1 };
    let shapes = caches.clone();
    let consumers = Consumer::parts(caches, predictors, counting.calls, cpus);
    let waits = counting.waits_for_a_function();
    let consumers = consumers.into_iter().map(|consumer| consumer.waiting(waits).told(told)).collect();
    let traces = inline.is_none_or(|inline| inline.traces);
    let link = if traces { Link::threaded(consumers) } else { Link::inline(consumers) };
    let mut recorder = Recorder::new(link, counting.model, counting.caches.is_some());
    if counting.calls.is_some() {
        recorder.follow_calls();
    }
    if let Some(inline) = inline {
        recorder.work_inline(inline, shapes.as_ref());
    }
    if config.recording.instructions {
        recorder.keep_code();
    }
    let frames = Frames::new(arena, usize::try_from(memory / PAGE_SIZE).unwrap_or(usize::MAX));
    // Valgrind's superblocks are found anew by every process, when its code is translated.
    let page_cache = counting.model == CountModel::Arch;
    let space = AddressSpace::new(frames, program.layout, page_cache);
    let cpu = if program.layout == Layout::VALGRIND && avoids_avx(&program.env) {
        CpuModel::Valgrind
    } else {
        CpuModel::Own
    };
    Machine::new(space, cpu, recorder, counting.producer == Producer::Api).map_err(other)
}

/// Loads the program of a configuration into a machine that has run nothing.
fn load(program: &MachineConfig, kernel: &mut Kernel, machine: &mut Machine) -> Result<(), StartError> {
    let argv: Vec<Vec<u8>> = program.argv.iter().map(|arg| arg.as_bytes().to_vec()).collect();
    let envp =
        program.env.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect();
    let path = program.program.as_os_str().as_bytes();
    // What AT_EXECFN says: Valgrind passes on what was typed.
    let name = match program.layout.stack_order {
        StackOrder::Linux => path,
        StackOrder::Valgrind => program.argv.first().map_or(path, |name| name.as_bytes()),
    };
    load::open(kernel, machine.memory(), path)
        .and_then(|image| {
            let start = Start { image, execfn: name.to_vec(), nameless: false, closes: false };
            load::prepare(kernel, machine.memory(), start, argv.clone(), envp)
        })
        .and_then(|prepared| prepared.start(kernel, machine))
        .map_err(start_error)?;
    started(kernel, path, &argv, program.env.len());
    Ok(())
}

/// Features that make the C library choose AVX code or XSAVE, by the names of its tunable; the
/// third says that unaligned loads are fast.
const AVX_CHOICES: [&[u8]; 4] = [b"AVX", b"AVX2", b"AVX_Fast_Unaligned_Load", b"XSAVE"];

/// True if GLIBC_TUNABLES keeps the C library from choosing AVX code where CPUID announces it.
fn avoids_avx(env: &[(OsString, OsString)]) -> bool {
    let tunables = env.iter().find(|(name, _)| name == "GLIBC_TUNABLES").map(|(_, value)| value.as_bytes());
    let hwcaps = tunables
        .unwrap_or_default()
        .split(|&byte| byte == b':')
        .find_map(|tunable| tunable.strip_prefix(b"glibc.cpu.hwcaps="));
    let off: Vec<&[u8]> = hwcaps
        .unwrap_or_default()
        .split(|&byte| byte == b',')
        .filter_map(|word| word.strip_prefix(b"-"))
        .collect();
    AVX_CHOICES.iter().all(|name| off.contains(name))
}

/// Asks the run to end after some time, unless the result is dropped before. In a separate thread,
/// because a system call may be waiting for the host then.
fn start_timer(time: std::time::Duration, control: &Arc<Control>) -> Sender<()> {
    let (running, ended) = channel();
    let interrupt = Arc::clone(&control.interrupt);
    // Without a thread there is no limit of time; everything else still works.
    let _ = std::thread::Builder::new().name("timer".into()).spawn(move || {
        if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            // A signal of the user's that came first stays.
            let _ = interrupt.compare_exchange(0, TIME_IS_UP, Relaxed, Relaxed);
        }
    });
    running
}

/// Replaces the program by another one, as execve(2); true on success. On failure the old program
/// gets the error number if it is still there, and is killed if it is not.
fn exec(machine: &mut Machine, guest: &mut Guest, request: ExecRequest) -> bool {
    let ExecRequest { image, filename, nameless, closes, argv, envp } = request;
    let call = (machine.cpu().gpr(Gpr::Rax), guest.kernel.task().tid);
    let start = Start { image, execfn: filename, nameless, closes };
    let prepared = load::prepare(&mut guest.kernel, machine.memory(), start, argv, envp);
    match prepared {
        Err(failure) => {
            executed(&mut guest.kernel, &mut machine.cpu(), call, Err(failure.errno));
            machine.cpu().set_gpr(Gpr::Rax, failure.errno.to_rax());
            false
        }
        Ok(prepared) => match prepared.start(&mut guest.kernel, machine) {
            Ok(()) => {
                guest.requests.forget(client(&guest.kernel));
                executed(&mut guest.kernel, &mut machine.cpu(), call, Ok(()));
                true
            }
            Err(failure) => {
                // The old program is gone, so there is nobody to tell: Linux kills the process too.
                guest.kernel.notices.once(failure.message);
                let killed = Status::killed(SIGKILL, false);
                machine.between_runs(|cpu, mem| {
                    guest.kernel.exit_process(killed, cpu, mem);
                    guest.act(Action::Gone, cpu, mem)
                });
                false
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avx_is_avoided_where_all_of_it_is_switched_off() {
        for (value, expected) in [
            (None, false),
            (Some(""), false),
            (Some("glibc.cpu.hwcaps=-AVX,-AVX2"), false),
            (Some("glibc.cpu.hwcaps=-AVX2,-AVX_Fast_Unaligned_Load,-AVX,-XSAVE"), true),
            (Some("glibc.cpu.hwcaps=AVX2,-AVX_Fast_Unaligned_Load,-AVX,-XSAVE"), false),
            (
                Some(
                    "glibc.malloc.check=1:glibc.cpu.hwcaps=-XSAVE,-AVX,-ERMS,-AVX2,-AVX_Fast_Unaligned_Load",
                ),
                true,
            ),
            (Some("glibc.elision.hwcaps=-AVX,-AVX2,-AVX_Fast_Unaligned_Load,-XSAVE"), false),
        ] {
            let env: Vec<(OsString, OsString)> =
                value.iter().map(|value| ("GLIBC_TUNABLES".into(), value.into())).collect();
            assert_eq!(avoids_avx(&env), expected, "{value:?}");
        }
    }
}
