//! Turns of a task's life that concern several objects: signals and execve(2).

use crate::abi::fs::{F_OWNER_PGRP, F_OWNER_PID, F_OWNER_TID};
use crate::abi::resource::Resource;
use crate::abi::signal::{si_code, signo::*};
use crate::guest::{Fault, FileId, GuestCpu, GuestMemory};
use crate::kernel::arena::TaskId;
use crate::kernel::cred::User;
use crate::kernel::fasync::{Notice, Owner, Reason};
use crate::kernel::fdtable::FileNo;
use crate::kernel::mm::Places;
use crate::kernel::process::Status;
use crate::kernel::sched::WaitKey;
use crate::kernel::signal::deliver::Fate;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::{To, describe};
use crate::kernel::state::{Kernel, Parts};
use crate::kernel::vfs::Ino;
use crate::kernel::vfs::mount::At;

/// Signals whose `si_code` has a meaning of its own (`sig_specific_sicodes`).
const SPECIFIC_CODES: [i32; 7] = [SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGTRAP, SIGCHLD, SIGSYS];

impl Kernel {
    /// A signal that the running task sends.
    pub fn signal_from_task(&self, signo: i32, code: i32) -> SigInfo {
        let cred = &self.task().cred;
        SigInfo::user(signo, code, self.process().pid as u32, cred.user_ns.uids.shown(cred.uid.real))
    }

    /// Sends a signal that a call causes (SIGPIPE, SIGXFSZ) to the running task. The program sees
    /// SI_USER and its own ids, as on Linux.
    pub fn raise(&mut self, signo: i32) {
        let info = self.signal_from_task(signo, si_code::SI_USER);
        self.send_signal(self.current, info, To::Task);
    }

    /// Sends the signals that descriptions have asked for, fcntl(2) O_ASYNC and F_SETSIG.
    fn send_signals_of_files(&mut self) {
        self.send_signals_of_terminals();
        for id in self.fs.net.take_urgent() {
            if let Some(owner) = self.files.owner_of_socket(id) {
                self.signal_owner(owner, SigInfo::kernel(SIGURG));
            }
        }
        for notice in self.fs.queues.fasync.take() {
            let owner = self.files.get(notice.file).owner;
            let signo = owner.signo;
            let (code, band) = notice.reason.code_and_band();
            // Codes of these signals have meanings of their own.
            let code = if SPECIFIC_CODES.contains(&signo) { si_code::SI_SIGIO } else { code };
            let info = match signo {
                0 => SigInfo::kernel(SIGIO),
                _ => SigInfo::poll(signo, code, band, notice.fd),
            };
            self.signal_owner(owner, info);
        }
    }

    /// Sends a signal to the owner of a description.
    fn signal_owner(&mut self, Owner { kind, id, .. }: Owner, info: SigInfo) {
        match kind {
            F_OWNER_TID => {
                if let Some(task) = self.find_task(id) {
                    self.send_signal(task, info, To::Task);
                }
            }
            F_OWNER_PID => {
                if let Some(process) = self.find_process(id) {
                    self.send_to(process, info);
                }
            }
            F_OWNER_PGRP if id != 0 => {
                for process in self.group(id) {
                    self.send_to(process, info);
                }
            }
            _ => {}
        }
    }

    /// Asks for the leases that stand in the way of opening a file.
    pub(crate) fn recall_leases(&mut self, ino: Ino, write: bool) {
        for (file, fd) in self.files.leases.recall(ino, write) {
            self.fs.queues.fasync.push(Notice { file, fd, reason: Reason::Message });
        }
        self.send_signals_of_files();
    }

    /// Tells if a task waits for the leases on a file: it has the file open as good as done.
    pub(crate) fn awaits_leases(&self, ino: Ino) -> bool {
        self.sched.sleepers_of(WaitKey::Lease(ino)).next().is_some()
    }

    /// Makes this process the receiver of a description's signals if it has none.
    pub(crate) fn own_if_nobody_does(&mut self, file: FileNo) {
        let pid = self.process().pid;
        let owner = &mut self.files.get_mut(file).owner;
        if owner.id == 0 {
            (owner.kind, owner.id) = (F_OWNER_PID, pid);
        }
    }

    /// Lets timers that are due fire, and delivers what is pending and not blocked.
    ///
    /// # Errors
    /// What a signal does to the process; it is stopped already.
    pub fn deliver_pending(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Result<(), Fate> {
        self.expire_timers(cpu);
        self.send_signals_of_files();
        if self.task().tracing.trace.is_some() {
            return self.deliver_traced(cpu, mem);
        }
        while let Err(fate) = self.signals().deliver_pending(cpu, mem) {
            match fate {
                Fate::Stopped(signo) if !self.stop_process(self.task().shared.process, signo) => {}
                fate => return Err(fate),
            }
        }
        Ok(())
    }

    /// Delivers what is pending for a traced task, whose tracer is told of each signal first.
    fn deliver_traced(&mut self, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Result<(), Fate> {
        let before = self.task_mut().signals.delivered.take();
        loop {
            if self.stops_for_trap(cpu) {
                return Err(Fate::Traced);
            }
            match self.signals().deliver_pending(cpu, mem) {
                Ok(()) => break,
                Err(Fate::Trapped) => {
                    let info = self.task_mut().signals.trapped.take();
                    if info.is_some_and(|info| self.stops_for_signal(cpu, info)) {
                        return Err(Fate::Traced);
                    }
                }
                // The task takes part in its stop in the next round.
                Err(Fate::Stopped(signo)) => {
                    self.stop_process(self.task().shared.process, signo);
                }
                Err(fate) => return Err(fate),
            }
        }
        let begun = self.task().signals.delivered;
        self.task_mut().signals.delivered = begun.or(before);
        if self.steps(cpu, mem, begun.is_some()) { Err(Fate::Traced) } else { Ok(()) }
    }

    /// Turns a fault into its signal and delivers it.
    ///
    /// # Errors
    /// What a signal does to the process; it is stopped already.
    pub fn deliver_fault(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
        fault: Fault,
    ) -> Result<(), Fate> {
        self.task_mut().orig_rax = u64::MAX;
        self.signals().raise_fault(cpu, fault);
        self.deliver_pending(cpu, mem)
    }

    /// Describes for people the signal state of a task that is not as it was at the start.
    pub(crate) fn describe_signals(&self, task: TaskId) -> Vec<String> {
        let task = &self.tasks[task];
        let pending = task.signals.pending.set() | self.processes[task.shared.process].pending.set();
        describe(&self.handlers[task.shared.handlers], task.signals.blocked, pending)
    }

    /// Gives up what does not survive execve(2), once the new program is sure to start: the other
    /// tasks of the process, what it shares with other processes, handlers, the alternate stack,
    /// POSIX timers and descriptors marked close-on-exec. The program is then to be loaded into
    /// `space`, which is a new one if others still use the old one, and `set_program` must follow.
    pub fn exec(&mut self, mem: &mut dyn GuestMemory) {
        self.note_resident(mem);
        self.end_other_tasks(Status::exited(0), mem);
        let tid = self.shown_tid_for_tracer();
        self.take_over_leader();
        let task = self.current();
        self.cancel_requests(task, mem);
        self.release_memory_of(task, mem);
        self.unshare_mm();
        self.fs.userfaults.space_ended(self.space_of_task(task));
        self.unshare_files();
        self.unshare_handlers();
        self.signals().exec();
        self.executed_traced(tid);
        self.exec_keyrings();
        let process = self.process_mut();
        (process.executed, process.exit_signal) = (true, SIGCHLD);
        self.clear_timers(self.task().shared.process, false);
        for fd in self.fds().close_on_exec() {
            let _ = self.close(fd, mem); // it is open
        }
    }

    /// Holds the place of a program that is about to run, before what leads there may be closed.
    pub(crate) fn hold_program(&mut self, at: At) {
        self.fs.hold(at.ino);
        // Of a file that cannot be opened here its program has what it needs.
        let _ = self.fs.hold_content(at.ino, true, false);
    }

    /// Gives a place that is held to the running task's address space, as that of its program.
    pub(crate) fn set_program_place(&mut self, at: At, mem: &mut dyn GuestMemory) {
        if let Some(old) = self.mm_mut().exe_at.replace(at) {
            self.fs.let_go(old.ino, mem);
        }
    }

    /// Bytes that a stack may grow to, and that all may be mapped by that.
    pub fn growth_limits(&self) -> (u64, u64) {
        let limits = &self.process().limits;
        (limits.soft(Resource::Stack), limits.soft(Resource::As))
    }

    /// Gives the only task of a process the number of the process, `de_thread`.
    fn take_over_leader(&mut self) {
        let task = self.current();
        let (pid, leader) = (self.process().pid, self.process().leader);
        if leader == task {
            return;
        }
        let tid = std::mem::replace(&mut self.task_mut().tid, pid);
        self.process_mut().leader = task;
        self.unlink(leader);
        self.remove_number(tid);
        self.pids.enter(pid, task);
        self.graves.push(leader);
        self.bury();
    }

    /// Takes the credentials that the program at a file gives: its owner's, if the mode says so.
    /// True if they are more than those of the caller, AT_SECURE.
    pub fn exec_credentials(&mut self, mode: u32, owner: User) -> bool {
        let is_unsafe = self.is_unsafe_to_exec();
        let task = self.task_mut();
        let secure = task.cred.exec(mode, owner, task.no_new_privs || is_unsafe);
        task.exec(secure);
        secure
    }

    /// Takes the identity of a program that is about to run: its file, the name by which it was
    /// called, arguments, environment, the places of its parts and the auxiliary vector.
    pub fn set_program(
        &mut self,
        exe: &FileId,
        name: &[u8],
        argv: &[Vec<u8>],
        envp: &[Vec<u8>],
        places: Places,
        auxv: &[u8],
    ) {
        let Parts { task, mm, .. } = self.parts();
        task.set_name_from_path(name);
        mm.exec(exe, argv, envp, places, auxv);
        let (uid, gid) = (task.cred.uid, task.cred.gid);
        mm.dumpable = u64::from(uid.real == uid.effective && gid.real == gid.effective);
    }
}
