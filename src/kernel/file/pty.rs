//! Both sides of a pseudo-terminal, pty(7), as descriptions, ioctl_tty(2).

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::signal::signo::{SIGINT, SIGQUIT, SIGTSTP};
use crate::abi::tty::*;
use crate::guest::GuestMemory;
use crate::kernel::fasync::Reason;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, READABLE, WRITABLE};
use crate::kernel::uaccess::{copy_to_user, get_array, get_bytes, get_u32, put_u32};
use crate::kernel::vfs::n_tty::Taken;
use crate::kernel::vfs::node::Ino;
use crate::kernel::vfs::pty::Pty;
use crate::kernel::vfs::termios::Form;
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// Major number of the slaves (`UNIX98_PTY_SLAVE_MAJOR`).
const SLAVES: u32 = 136;

/// Bytes of `struct serial_struct`.
const SERIAL_SIZE: usize = 72;

/// A side of a pseudo-terminal.
#[derive(Clone, Debug)]
pub(crate) struct PtySide {
    pub(crate) number: u32,
    pub(crate) master: bool,
    pub(crate) ino: Ino,
}

impl PtySide {
    /// Counts a description of a side that is open now.
    pub(crate) fn open(fs: &mut FileSystem, number: u32, master: bool, ino: Ino) -> PtySide {
        if let Some(pty) = fs.ptys.get_mut(number) {
            if master {
                pty.masters += 1;
            } else {
                pty.slaves += 1;
                pty.was_open = true;
            }
        }
        fs.hold(ino);
        PtySide { number, master, ino }
    }

    fn pty<'a>(&self, fs: &'a mut FileSystem) -> Result<&'a mut Pty, Errno> {
        fs.ptys.get_mut(self.number).ok_or(Errno::EIO)
    }

    /// Tells those who wait at both sides what may have changed.
    fn wake(&self, fs: &mut FileSystem, mine: u16, other: u16) {
        let Some(pty) = fs.ptys.get(self.number) else { return };
        let (master, slave) = pty.queues;
        let (here, there) = if self.master { (master, slave) } else { (slave, master) };
        fs.queues.wake(here, mine);
        fs.queues.wake(there, other);
        fs.queues.fasync.notify(there, if other & POLLIN != 0 { Reason::In } else { Reason::Out });
    }

    /// Wakes who may go on after a change of the modes or of what waits. No signals come of it.
    fn stir(&self, fs: &mut FileSystem) {
        let Some(pty) = fs.ptys.get(self.number) else { return };
        let told = pty.tty.packet.is_some_and(|status| status != 0);
        let (master, slave) = pty.queues;
        fs.queues.wake(master, WRITABLE | if told { READABLE | POLLPRI } else { 0 });
        fs.queues.wake(slave, READABLE | WRITABLE);
    }

    /// Tells if the other side was open and is no more.
    fn is_alone(&self, pty: &Pty) -> bool {
        if self.master { pty.slaves == 0 && pty.was_open } else { pty.masters == 0 }
    }
}

impl FileOperations for PtySide {
    fn kind(&self) -> &'static str {
        "terminal"
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn link_target(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn wait_queue(&self, fs: &FileSystem) -> Option<QueueId> {
        let (master, slave) = fs.ptys.get(self.number)?.queues;
        Some(if self.master { master } else { slave })
    }

    fn pty_master(&self) -> Option<u32> {
        self.master.then_some(self.number)
    }

    fn pty_slave(&self) -> Option<u32> {
        (!self.master).then_some(self.number)
    }

    fn sends_signals(&self) -> bool {
        true
    }

    fn can_splice(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        if buf.is_empty() {
            return Ok(0);
        }
        let pty = self.pty(cx.fs)?;
        let taken = match self.master {
            false if pty.masters == 0 => return Ok(0), // hung up
            false => pty.tty.take_input(buf, mode.nonblocking),
            true if pty.tty.packet.is_some_and(|status| status != 0) => {
                buf[0] = pty.tty.packet.replace(0).unwrap_or(0);
                Taken::Bytes(1)
            }
            true if pty.tty.output_len() == 0 => Taken::Nothing,
            true => {
                let (head, rest) = buf.split_at_mut(usize::from(pty.tty.packet.is_some()));
                head.fill(0); // TIOCPKT_DATA
                Taken::Bytes(head.len() + pty.tty.take_output(rest))
            }
        };
        let there = pty.tty.input_len();
        match taken {
            Taken::Bytes(count) => {
                self.wake(cx.fs, 0, WRITABLE);
                Ok(count)
            }
            Taken::Fewer(timer) => Err(FileError::Fewer { there, timer }),
            Taken::Nothing if self.is_alone(pty) => Err(Errno::EIO.into()),
            Taken::Nothing if mode.nonblocking => Err(Errno::EAGAIN.into()),
            Taken::Nothing => Err(FileError::WouldBlock("read from a terminal")),
        }
    }

    fn write(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let pty = self.pty(cx.fs)?;
        if pty.masters == 0 {
            return Err(Errno::EIO.into());
        }
        let count = if self.master { pty.tty.put_input(bytes) } else { pty.tty.put_output(bytes) };
        if count == 0 && !bytes.is_empty() {
            return Err(match mode.nonblocking {
                true => Errno::EAGAIN.into(),
                false => FileError::WouldBlock("write to a terminal"),
            });
        }
        // What the master writes may be echoed to it.
        self.wake(cx.fs, READABLE, READABLE);
        Ok(count)
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        let Some(pty) = cx.fs.ptys.get(self.number) else { return Ok(POLLHUP | POLLERR) };
        if !self.master && pty.masters == 0 {
            return Ok(READABLE | WRITABLE | POLLHUP | POLLERR);
        }
        let (readable, writable) = match self.master {
            true => (pty.tty.output_len() > 0, pty.tty.takes_input()),
            false => (pty.tty.has_input(), pty.tty.has_room()),
        };
        let hung_up = if self.is_alone(pty) { POLLHUP } else { 0 };
        let told = self.master && pty.tty.packet.is_some_and(|status| status != 0);
        let told = if told { READABLE | POLLPRI } else { 0 };
        Ok(if readable { READABLE } else { 0 } | if writable { WRITABLE } else { 0 } | told | hung_up)
    }

    fn readable_bytes(&self, cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        let pty = self.pty(cx.fs)?;
        Ok(if self.master { pty.tty.output_len() } else { pty.tty.input_len() } as u64)
    }

    fn ioctl(&mut self, cx: &mut FileContext, command: u64, arg: u64) -> Result<u64, Errno> {
        let (number, master) = (self.number, self.master);
        let pty = cx.fs.ptys.get_mut(number).ok_or(Errno::EIO)?;
        if !master && pty.masters == 0 {
            return Err(Errno::EIO);
        }
        if let Some(form) = Form::asked_by(command) {
            copy_to_user(cx.mem, arg, &pty.tty.termios.bytes(form))?;
            return Ok(0);
        }
        if let Some((form, flushes)) = Form::set_by(command) {
            let mut modes = pty.tty.termios.clone();
            modes.take(form, &get_bytes(cx.mem, arg, form.len())?);
            if flushes {
                pty.tty.flush_input();
            }
            pty.set_modes(modes);
            self.stir(cx.fs);
            return Ok(0);
        }
        match command {
            TCFLSH => {
                match (arg as u32, master) {
                    (0 | 2, true) => pty.tty.flush_delivered(),
                    (1, true) => {}
                    (0, false) => pty.tty.flush_input(),
                    (1, false) => pty.tty.flush_output(),
                    (2, false) => {
                        pty.tty.flush_input();
                        pty.tty.flush_output();
                    }
                    _ => return Err(Errno::EINVAL),
                }
                self.stir(cx.fs);
            }
            TCXONC => {
                match arg as u32 {
                    which @ (0 | 1) => pty.tty.hold(master, which == 0),
                    which @ (2 | 3) => {
                        pty.tty.send_flow_key(master, which == 3);
                        self.wake(cx.fs, 0, READABLE);
                    }
                    _ => return Err(Errno::EINVAL),
                }
                self.stir(cx.fs);
            }
            TCSBRK | TCSBRKP | TIOCSBRK | TIOCCBRK => {}
            TIOCGWINSZ => copy_to_user(cx.mem, arg, &pty.winsize)?,
            TIOCSWINSZ => pty.set_winsize(get_array(cx.mem, arg)?),
            // What is written is with the other side at once.
            TIOCOUTQ => put_u32(cx.mem, arg, 0)?,
            // There is no other line discipline than N_TTY.
            TIOCGETD => put_u32(cx.mem, arg, 0)?,
            TIOCSETD if get_u32(cx.mem, arg)? != 0 => return Err(Errno::EINVAL),
            TIOCSETD => {}
            TIOCEXCL | TIOCNXCL => pty.exclusive[usize::from(!master)] = command == TIOCEXCL,
            TIOCGEXCL => put_u32(cx.mem, arg, u32::from(pty.exclusive[usize::from(!master)]))?,
            TIOCGSOFTCAR => put_u32(cx.mem, arg, u32::from(pty.tty.termios.is_local_line()))?,
            TIOCSSOFTCAR => {
                let mut modes = pty.tty.termios.clone();
                modes.set_local_line(get_u32(cx.mem, arg)? != 0);
                pty.set_modes(modes);
            }
            TIOCGLCKTRMIOS => copy_to_user(cx.mem, arg, &pty.locked_modes.bytes(Form::Termios))?,
            TIOCSLCKTRMIOS => {
                cx.cred.require(CAP_SYS_ADMIN)?;
                let bytes = get_bytes(cx.mem, arg, Form::Termios.len())?;
                pty.locked_modes.take(Form::Termios, &bytes);
            }
            TIOCGDEV => put_u32(cx.mem, arg, SLAVES << 8 | number)?,
            TIOCSTI => {
                let [byte] = get_array(cx.mem, arg)?;
                let fits = if master { pty.tty.put_raw(byte) } else { pty.tty.put_input(&[byte]) == 1 };
                if fits {
                    self.wake(cx.fs, READABLE, READABLE);
                }
            }
            TIOCSIG if master => match arg as i32 {
                signal @ (SIGINT | SIGQUIT | SIGTSTP) => pty.signal(signal),
                _ => return Err(Errno::EINVAL),
            },
            TIOCGPTN if master => put_u32(cx.mem, arg, number)?,
            TIOCSPTLCK if master => pty.locked = get_u32(cx.mem, arg)? != 0,
            TIOCGPTLCK if master => put_u32(cx.mem, arg, u32::from(pty.locked))?,
            TIOCPKT if master => {
                let on = get_u32(cx.mem, arg)? != 0;
                pty.tty.packet = on.then(|| pty.tty.packet.unwrap_or(0));
            }
            TIOCGPKT if master => put_u32(cx.mem, arg, u32::from(pty.tty.packet.is_some()))?,
            TIOCSSERIAL => {
                get_bytes(cx.mem, arg, SERIAL_SIZE)?;
                return Err(Errno::ENOTTY);
            }
            _ => return Err(Errno::ENOTTY),
        }
        Ok(0)
    }

    fn sync(&mut self, _cx: &mut FileContext) -> Result<(), Errno> {
        Err(Errno::EINVAL)
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, mem: &mut dyn GuestMemory) {
        if let Some(pty) = fs.ptys.get_mut(self.number) {
            if self.master {
                pty.masters = pty.masters.saturating_sub(1);
            } else {
                pty.slaves = pty.slaves.saturating_sub(1);
            }
            let (masters, slaves) = (pty.masters, pty.slaves);
            self.wake(fs, 0, 0);
            if masters == 0 {
                fs.ptys.hang_up(self.number);
                fs.hide_pty(self.number);
            }
            if masters == 0 && slaves == 0 {
                fs.ptys.remove(self.number);
            }
        }
        fs.let_go(self.ino, mem);
    }
}
