//! Turns of a task's life that concern several objects: signals and execve(2).

use crate::abi::signal::si_code;
use crate::guest::{Fault, GuestCpu, GuestMemory};
use crate::kernel::signal::deliver::Killed;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::{To, describe};
use crate::kernel::state::{Kernel, Parts};

impl Kernel {
    /// A signal that the running task sends.
    pub fn signal_from_task(&self, signo: i32, code: i32) -> SigInfo {
        SigInfo::user(signo, code, self.process().pid as u32, self.task().cred.uid)
    }

    /// Sends a signal that a call causes (SIGPIPE, SIGXFSZ) to the running task. The program sees
    /// SI_USER and its own ids, as on Linux.
    pub fn raise(&mut self, signo: i32) {
        let info = self.signal_from_task(signo, si_code::SI_USER);
        self.signals().send(info, To::Task);
    }

    /// Lets timers that are due fire, and delivers what is pending and not blocked.
    ///
    /// # Errors
    /// The signal that ends the process.
    pub fn deliver_pending(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Killed> {
        self.expire_timers(cpu);
        self.signals().deliver_pending(cpu, mem)?;
        if let Some(signo) = self.task_mut().signals.dropped_stop.take() {
            self.notices.once(format!(
                "signal {signo} would stop the program: ignored, as nothing could continue it"
            ));
        }
        Ok(())
    }

    /// Turns a fault into its signal and delivers it.
    ///
    /// # Errors
    /// The signal that ends the process.
    pub fn deliver_fault(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
        fault: Fault,
    ) -> Result<(), Killed> {
        self.signals().raise_fault(cpu, fault);
        self.deliver_pending(cpu, mem)
    }

    /// Describes for people the signal state that is not as it was at the start.
    pub fn describe_signals(&self) -> Vec<String> {
        let task = &self.task().signals;
        let pending = task.pending.set() | self.process().pending.set();
        describe(self.handlers(), task.blocked, pending)
    }

    /// Gives up what does not survive execve(2), once the new program is sure to start: handlers,
    /// the alternate stack, POSIX timers and descriptors marked close-on-exec. `set_program` must
    /// follow.
    pub fn exec(&mut self, mem: &mut dyn GuestMemory) {
        self.signals().exec();
        self.process_mut().timers.exec();
        for fd in self.fds().close_on_exec() {
            let _ = self.close(fd, mem); // it is open
        }
    }

    /// Takes the identity of a program that is about to run: its path, the name by which it was
    /// called, arguments, environment and auxiliary vector.
    pub fn set_program(&mut self, exe: &str, name: &[u8], argv: &[Vec<u8>], envp: &[Vec<u8>], auxv: &[u8]) {
        let Parts { task, mm, .. } = self.parts();
        task.exec();
        task.set_name_from_path(name);
        mm.exec(exe, argv, envp, auxv);
    }
}
