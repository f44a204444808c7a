//! Controlling terminals, credentials(7) and tty_ioctl(2): which session has a pseudo-terminal,
//! which of its groups is in the foreground, and the signals that the others and typed keys bring.

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::signal::{SIG_IGN, bit, signo::*};
use crate::kernel::arena::ProcessId;
use crate::kernel::fdtable::FileNo;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::state::Kernel;
use crate::kernel::vfs::termios::TOSTOP;

impl Kernel {
    /// Makes a pseudo-terminal the controlling one of the running process's session, TIOCSCTTY:
    /// EPERM unless it leads a session without one, and if another session has the terminal.
    /// `steal`: with privilege it is taken away from that.
    pub(crate) fn take_terminal(&mut self, number: u32, steal: bool) -> Result<(), Errno> {
        let process = self.process();
        let (pid, sid, pgid, terminal) = (process.pid, process.sid, process.pgid, process.terminal);
        let session = self.fs.ptys.get(number).ok_or(Errno::EIO)?.session;
        if pid == sid && session == sid {
            return Ok(());
        }
        if pid != sid || terminal.is_some() {
            return Err(Errno::EPERM);
        }
        if session != 0 {
            if !steal || !self.task().cred.capable(CAP_SYS_ADMIN) {
                return Err(Errno::EPERM);
            }
            self.drop_terminal(session);
        }
        if let Some(pty) = self.fs.ptys.get_mut(number) {
            (pty.session, pty.foreground) = (sid, pgid);
        }
        for member in self.session(sid) {
            if self.processes[member].pid == pid {
                self.processes[member].terminal = Some(number);
            }
        }
        Ok(())
    }

    /// Gives up the controlling terminal, TIOCNOTTY: the leader for its whole session, whose
    /// foreground is hung up. ENOTTY without one.
    pub(crate) fn release_terminal(&mut self, number: u32) -> Result<(), Errno> {
        let process = self.process();
        if process.terminal != Some(number) {
            return Err(Errno::ENOTTY);
        }
        if process.pid == process.sid {
            self.leave_terminal(self.task().shared.process);
        } else {
            self.process_mut().terminal = None;
        }
        Ok(())
    }

    /// The group in the foreground of a terminal, TIOCGPGRP, and the session that has it, TIOCGSID;
    /// ENOTTY for a slave that is not the caller's controlling terminal.
    pub(crate) fn terminal_groups(&self, number: u32, master: bool) -> Result<(i32, i32), Errno> {
        if !master && self.process().terminal != Some(number) {
            return Err(Errno::ENOTTY);
        }
        let pty = self.fs.ptys.get(number).ok_or(Errno::EIO)?;
        Ok((pty.foreground, pty.session))
    }

    /// Puts a group into the foreground of the controlling terminal, TIOCSPGRP: ENOTTY for another
    /// terminal, EINVAL, ESRCH for a group that is not there and EPERM for one of another session.
    pub(crate) fn set_foreground(&mut self, number: u32, pgid: i32) -> Result<(), Errno> {
        let sid = self.process().sid;
        let pty = self.fs.ptys.get(number).ok_or(Errno::EIO)?;
        if self.process().terminal != Some(number) || pty.session != sid {
            return Err(Errno::ENOTTY);
        }
        if pgid < 0 {
            return Err(Errno::EINVAL);
        }
        let members = self.group(pgid);
        let first = members.first().ok_or(Errno::ESRCH)?;
        if self.processes[*first].sid != sid {
            return Err(Errno::EPERM);
        }
        if let Some(pty) = self.fs.ptys.get_mut(number) {
            pty.foreground = pgid;
        }
        Ok(())
    }

    /// Checks that the running process may use a slave now, `tty_check_change`: one that is not in
    /// the foreground of its controlling terminal gets SIGTTIN or SIGTTOU with its group, and has
    /// to begin again (true). EIO where that signal would do nothing.
    pub(crate) fn is_in_background(&mut self, file: FileNo, signo: i32) -> Result<bool, Errno> {
        let Some(number) = self.files.get(file).ops.pty_slave() else { return Ok(false) };
        let process = self.process();
        let (pgid, sid, own) = (process.pgid, process.sid, process.terminal);
        let Some(pty) = self.fs.ptys.get(number).filter(|_| own == Some(number)) else { return Ok(false) };
        if pty.session != sid || pty.foreground == pgid || pty.foreground == 0 {
            return Ok(false);
        }
        let ignored =
            self.task().signals.blocked & bit(signo) != 0 || self.handlers().get(signo).handler == SIG_IGN;
        match signo {
            SIGTTOU if ignored => return Ok(false),
            _ if ignored || self.is_orphaned(pgid, None) => return Err(Errno::EIO),
            _ => {}
        }
        self.send_to_group(pgid, signo);
        Ok(true)
    }

    /// Tells if a description is of a slave whose master is closed.
    pub(crate) fn is_hung_up(&self, file: FileNo) -> bool {
        let number = self.files.get(file).ops.pty_slave();
        number.is_some_and(|number| self.fs.ptys.get(number).is_none_or(|pty| pty.masters == 0))
    }

    /// `is_in_background` for a write, which only TOSTOP forbids.
    pub(crate) fn writes_in_background(&mut self, file: FileNo) -> Result<bool, Errno> {
        let number = self.files.get(file).ops.pty_slave();
        let pty = number.and_then(|number| self.fs.ptys.get(number));
        if pty.is_some_and(|pty| pty.tty.termios.lflag & TOSTOP != 0) {
            return self.is_in_background(file, SIGTTOU);
        }
        Ok(false)
    }

    /// The processes of a session.
    fn session(&self, sid: i32) -> Vec<ProcessId> {
        self.processes.iter().filter(|(_, held)| held.sid == sid).map(|(id, _)| id).collect()
    }

    /// Takes the controlling terminal from a session.
    fn drop_terminal(&mut self, sid: i32) {
        for member in self.session(sid) {
            self.processes[member].terminal = None;
        }
    }

    /// Gives up the controlling terminal of a session whose leader ends or gives it up,
    /// `disassociate_ctty`: the foreground gets SIGHUP and SIGCONT.
    pub(super) fn leave_terminal(&mut self, leader: ProcessId) {
        let (sid, Some(number)) = (self.processes[leader].sid, self.processes[leader].terminal) else {
            return;
        };
        if let Some(pty) = self.fs.ptys.get_mut(number) {
            let foreground = std::mem::take(&mut pty.foreground);
            pty.session = 0;
            if foreground != 0 {
                self.send_to_group(foreground, SIGHUP);
                self.send_to_group(foreground, SIGCONT);
            }
        }
        self.drop_terminal(sid);
    }

    /// Sends the signals that terminals have for processes: of typed keys, and at a hangup.
    pub(super) fn send_signals_of_terminals(&mut self) {
        for (number, session, signo) in self.fs.ptys.take_signals() {
            if session != 0 {
                // The master is closed: the leader is told, and nobody has the terminal any more.
                if let Some(leader) = self.find_process(session) {
                    self.send_to(leader, SigInfo::kernel(SIGHUP));
                    self.send_to(leader, SigInfo::kernel(SIGCONT));
                }
                self.drop_terminal(session);
            } else if let Some(pty) = self.fs.ptys.get(number)
                && pty.foreground != 0
            {
                let foreground = pty.foreground;
                self.send_to_group(foreground, signo);
            }
        }
    }
}
