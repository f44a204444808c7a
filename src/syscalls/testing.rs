//! A machine for unit tests of the system calls: the kernel, with a CPU and a memory that need no
//! engine.

use std::collections::BTreeMap;

use crate::guest::fake::{FakeCpu, FakeMemory};
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory, PAGE_SIZE, SpaceId};
use crate::kernel::Kernel;
use crate::kernel::config::KernelConfig;
use crate::kernel::cred::User;
use crate::kernel::sched::{Picked, QUANTUM, TaskState};
use crate::kernel::vfs::policy::Policy;
use crate::syscalls::context::Action;
use crate::syscalls::dispatch;

/// A machine: a kernel, a CPU, and a memory with a page for data at `DATA` and a stack below
/// `STACK`.
pub(crate) struct Machine {
    pub kernel: Kernel,
    pub cpu: FakeCpu,
    pub mem: FakeMemory,
}

/// Pages for the arguments of calls.
pub(crate) const DATA: u64 = 0x10_0000;
/// Bytes at `DATA`.
pub(crate) const DATA_LEN: u64 = 16 * PAGE_SIZE;
/// The stack pointer at the start.
pub(crate) const STACK: u64 = 0x7fff_0000_0000;

impl Machine {
    pub(crate) fn new() -> Machine {
        Machine::of(User::default())
    }

    /// A machine whose program runs as somebody.
    pub(crate) fn of(user: User) -> Machine {
        Machine::with(&KernelConfig { user, ..Machine::config() })
    }

    pub(crate) fn config() -> KernelConfig {
        KernelConfig {
            allow_write: Vec::new(),
            outside: Vec::new(),
            policy: Policy::everything(),
            cwd: "/".into(),
            user: User::default(),
            seed: 1,
            quantum: QUANTUM,
            schedule_seed: None,
            memory_limit: 1 << 30,
            max_processes: None,
            max_files: None,
            max_output: None,
            interrupt: Default::default(),
            front: None,
            input: None,
            journal: false,
        }
    }

    pub(crate) fn with(config: &KernelConfig) -> Machine {
        let mut machine =
            Machine { kernel: Kernel::new(config), cpu: FakeCpu::new(), mem: FakeMemory::new() };
        machine.mem.anonymous(DATA, DATA_LEN);
        machine.mem.anonymous(STACK - 16 * PAGE_SIZE, 16 * PAGE_SIZE);
        machine.cpu.set_gpr(Gpr::Rsp, STACK - 256);
        machine
    }

    /// Makes a call by number as the `syscall` instruction does.
    pub(crate) fn action(&mut self, number: u64, args: &[u64]) -> Action {
        let mut action = self.begin(number, args);
        while let Action::Sleep = action {
            action = self.next();
        }
        action
    }

    /// `action`, until the call ends, sleeps or is given up.
    pub(crate) fn begin(&mut self, number: u64, args: &[u64]) -> Action {
        const ARGS: [Gpr; 6] = [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::R10, Gpr::R8, Gpr::R9];
        for (at, reg) in ARGS.into_iter().enumerate() {
            self.cpu.set_gpr(reg, args.get(at).copied().unwrap_or(0));
        }
        self.cpu.set_gpr(Gpr::Rax, number);
        dispatch::syscall(&mut self.kernel, &mut self.cpu, &mut self.mem)
    }

    /// Lets the next task go on with its call, as the session does. Tasks share the registers.
    fn next(&mut self) -> Action {
        match self.kernel.pick(&mut self.cpu) {
            Picked::Task(task) => {
                self.kernel.switch_to(task, self.cpu.instructions);
                dispatch::resume(&mut self.kernel, &mut self.cpu, &mut self.mem)
            }
            Picked::Deadlock(why) => Action::Refuse(why),
            Picked::Finished | Picked::GivenUp => panic!("no task is left"),
        }
    }

    /// Runs into a fault of the CPU.
    pub(crate) fn fault(&mut self, fault: Fault) -> Action {
        dispatch::fault(&mut self.kernel, &mut self.cpu, &mut self.mem, fault)
    }

    /// Makes a call that returns, and gives what it leaves in RAX.
    pub(crate) fn call(&mut self, number: u64, args: &[u64]) -> i64 {
        match self.action(number, args) {
            Action::Continue => self.cpu.gpr(Gpr::Rax) as i64,
            other => panic!("call {number} ended in {other:?}"),
        }
    }

    /// The signal that has ended the first process.
    pub(crate) fn killed(&self) -> Option<i32> {
        self.kernel.status()?.signal()
    }

    /// Writes to the guest's memory.
    pub(crate) fn put(&mut self, addr: u64, bytes: &[u8]) {
        assert_eq!(self.mem.write(addr, bytes), Ok(()));
    }

    /// Writes words to the guest's memory.
    pub(crate) fn put_words(&mut self, addr: u64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(addr, &bytes);
    }

    /// Reads from the guest's memory.
    pub(crate) fn get(&mut self, addr: u64, len: usize) -> Vec<u8> {
        let mut buf = vec![0; len];
        assert_eq!(self.mem.read(addr, &mut buf), Ok(()));
        buf
    }

    /// Reads a word from the guest's memory.
    pub(crate) fn word(&mut self, addr: u64) -> u64 {
        self.get(addr, 8).iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }
}

/// A machine with several tasks, each with registers of its own, which make calls in the order that
/// a test says.
pub(crate) struct Tasks {
    pub machine: Machine,
    gprs: BTreeMap<i32, [u64; 16]>,
    /// The address space that is loaded.
    loaded: SpaceId,
}

impl Tasks {
    pub(crate) fn new() -> Tasks {
        let machine = Machine::new();
        let loaded = machine.kernel.space();
        Tasks { machine, gprs: BTreeMap::new(), loaded }
    }

    /// Gives a task its turn, if it can have one.
    fn turn(&mut self, tid: i32) -> bool {
        let Machine { kernel, cpu, mem } = &mut self.machine;
        let Some(task) = kernel.find_task(tid) else { return false };
        let last = kernel.current();
        if kernel.is_alive(last) {
            self.gprs.insert(kernel.tid_of(last), cpu.gprs);
        }
        if task == last && kernel.task().state == TaskState::Runnable && !kernel.ready().contains(&task) {
            return true;
        }
        if kernel.is_alive(last)
            && kernel.task().state == TaskState::Runnable
            && !kernel.ready().contains(&last)
        {
            kernel.give_way();
        }
        if !kernel.prefer(task) {
            return false;
        }
        let Picked::Task(picked) = kernel.pick(cpu) else { return false };
        kernel.switch_to(picked, cpu.instructions);
        let from = std::mem::replace(&mut self.loaded, kernel.space());
        mem.load(from, self.loaded);
        cpu.gprs = self.gprs.get(&tid).copied().unwrap_or(cpu.gprs);
        true
    }

    /// The result that an action leaves, or `None` where the task sleeps, is stopped or has ended.
    fn result(&mut self, mut action: Action) -> Option<i64> {
        if let Action::Spawn(spawn) = action {
            let Machine { kernel, cpu, mem } = &mut self.machine;
            let child = kernel.tid_of(spawn.task);
            let mut gprs = cpu.gprs;
            gprs[Gpr::Rax as usize] = 0;
            self.gprs.insert(child, gprs);
            action = dispatch::interrupt(kernel, cpu, mem);
        }
        match action {
            Action::Continue => Some(self.machine.cpu.gpr(Gpr::Rax) as i64),
            Action::Sleep | Action::Gone => None,
            other => panic!("{other:?}"),
        }
    }

    /// Makes a call of a task that can run.
    pub(crate) fn call(&mut self, tid: i32, number: u64, args: &[u64]) -> Option<i64> {
        assert!(self.turn(tid), "task {tid} cannot run");
        const ARGS: [Gpr; 6] = [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::R10, Gpr::R8, Gpr::R9];
        let Machine { kernel, cpu, mem } = &mut self.machine;
        for (at, reg) in ARGS.into_iter().enumerate() {
            cpu.set_gpr(reg, args.get(at).copied().unwrap_or(0));
        }
        cpu.set_gpr(Gpr::Rax, number);
        let action = dispatch::syscall(kernel, cpu, mem);
        self.result(action)
    }

    /// Lets a task go on that was woken in a call, and gives the call's result.
    pub(crate) fn goes_on(&mut self, tid: i32) -> Option<i64> {
        assert!(self.turn(tid), "task {tid} cannot run");
        let Machine { kernel, cpu, mem } = &mut self.machine;
        let action = dispatch::resume(kernel, cpu, mem);
        self.result(action)
    }

    /// The ids of the tasks that wait for their turns, in that order.
    pub(crate) fn ready(&self) -> Vec<i32> {
        self.machine.kernel.ready().into_iter().map(|task| self.machine.kernel.tid_of(task)).collect()
    }
}
