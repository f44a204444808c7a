//! The host's standard streams, files, pipes or terminals, as descriptions. `/dev/tty` opens one
//! that is a terminal.

use rustix::fs::SeekFrom;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::signal::signo::SIGPIPE;
use crate::abi::tty::*;
use crate::kernel::clock::REALTIME_START;
use crate::kernel::cred::User;
use crate::kernel::file::description::{Description, Descriptions};
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, READABLE, WRITABLE};
use crate::kernel::streams::Streams;
use crate::kernel::uaccess::{copy_to_user, put_u32};
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::node::{ANON_DEV, DEV_DEV, HOST_DEV, PIPE_DEV, PTS_DEV};
use crate::kernel::vfs::termios::{Form, Termios};
use crate::kernel::vfs::time::{Time, Times};
use crate::kernel::vfs::tree::FileSystem;

/// Standard input (0), output (1) or error (2) of the host.
#[derive(Clone, Debug)]
pub(crate) struct HostStream(pub(crate) u8);

/// The descriptions that a process starts with.
pub(crate) fn standard_streams() -> Descriptions {
    let stream = |at| Description::new(HostStream(at), O_RDWR, b"/dev/console");
    Descriptions::with_streams([0, 1, 2].map(stream))
}

/// The standard stream that is a terminal, if one is.
pub(crate) fn terminal(streams: &Streams) -> Option<HostStream> {
    (0..3).find(|&stream| streams.is_terminal(stream)).map(HostStream)
}

/// `/dev/null`, `/dev/zero` and `/dev/full`.
const MEMORY_DEVICES: [u64; 3] = [makedev(1, 3), makedev(1, 5), makedev(1, 7)];

/// `struct winsize` of 80 columns and 24 lines.
const WINSIZE: [u8; 8] = [24, 0, 80, 0, 0, 0, 0, 0];

impl FileOperations for HostStream {
    fn kind(&self) -> &'static str {
        "standard stream"
    }

    /// The host's files and devices of memory never block.
    fn can_be_watched(&self, streams: &Streams) -> bool {
        streams.stat(self.0).is_ok_and(|stat| match stat.st_mode & S_IFMT {
            S_IFREG | S_IFDIR => false,
            S_IFCHR => !MEMORY_DEVICES.contains(&stat.st_rdev),
            _ => true,
        })
    }

    fn can_splice(&self) -> bool {
        true
    }

    fn is_seekable(&self, streams: &Streams) -> bool {
        streams.has_position(self.0)
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        _mode: Mode,
        at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        if self.0 == 0 && at.is_none() && cx.fs.net.has_outside() && cx.streams.ready_now()? == (false, false)
        {
            return Err(FileError::WouldBlock("read from standard input"));
        }
        Ok(cx.streams.read(self.0, at, buf)?)
    }

    fn write(
        &mut self,
        cx: &mut FileContext,
        _mode: Mode,
        at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let hole = if cx.fs.quota.bounds_output() { cx.streams.hole_before(self.0, at)? } else { 0 };
        let room = cx.fs.quota.output_room(hole, bytes.len());
        if room == 0 && !bytes.is_empty() {
            return Ok(0);
        }
        let written = cx.streams.write(self.0, at, &bytes[..room]).map_err(|errno| match errno {
            Errno::EPIPE => FileError::Signal(SIGPIPE, errno),
            errno => errno.into(),
        })?;
        cx.fs.quota.wrote(hole, written);
        Ok(written)
    }

    fn seek(&self, cx: &mut FileContext, _offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        let to = match whence {
            SEEK_SET if by > i64::MAX as u64 => return Err(Errno::EINVAL),
            SEEK_SET => SeekFrom::Start(by),
            SEEK_CUR => SeekFrom::Current(by as i64),
            SEEK_END => SeekFrom::End(by as i64),
            SEEK_DATA => SeekFrom::Data(by),
            SEEK_HOLE => SeekFrom::Hole(by),
            _ => return Err(Errno::EINVAL),
        };
        cx.streams.seek(self.0, to)
    }

    /// Keeps the host's timing out: a pipe or a file at standard input always counts as readable,
    /// and the question waits on the host until it is so. A terminal is asked as it is, and so is
    /// all while there is a connection to the host's network.
    fn poll(&self, cx: &mut FileContext, _mode: Mode, wait: bool) -> Result<u16, Errno> {
        if self.0 > 0 {
            return Ok(WRITABLE);
        }
        let outside = cx.fs.net.has_outside();
        let (input, end) = if outside { cx.streams.ready_now()? } else { cx.streams.ready(wait)? };
        let hup = if end { POLLHUP } else { 0 };
        Ok(if input { READABLE | WRITABLE | hup } else { hup })
    }

    fn readable_bytes(&self, cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        cx.streams.readable_bytes(self.0)
    }

    /// Commands of terminals, ioctl_tty(2).
    fn ioctl(&mut self, cx: &mut FileContext, command: u64, arg: u64) -> Result<u64, Errno> {
        if !cx.streams.is_terminal(self.0) {
            return Err(Errno::ENOTTY);
        }
        match command {
            TCGETS | TCGETS2 | TCGETA => {
                let form = Form::asked_by(command).unwrap_or(Form::Termios);
                copy_to_user(cx.mem, arg, &Termios::STANDARD.bytes(form))?;
            }
            // What was written is with the host, which has no other line discipline for it.
            TIOCGETD | TIOCOUTQ => put_u32(cx.mem, arg, 0)?,
            TIOCGWINSZ => copy_to_user(cx.mem, arg, &WINSIZE)?,
            TIOCGPGRP => put_u32(cx.mem, arg, cx.pgid as u32)?,
            TIOCSPGRP | TIOCSWINSZ | TCFLSH | TCXONC | TCSBRK | TCSBRKP => {}
            _ if Form::set_by(command).is_some() => {}
            _ => return Err(Errno::ENOTTY),
        }
        Ok(0)
    }

    /// The stream's true type, a file's size; the rest is the emulated machine's.
    fn attributes(&self, cx: &mut FileContext) -> Result<Meta, Errno> {
        let stat = cx.streams.stat(self.0)?;
        let ino = cx.fs.inode_number(stat.st_dev, stat.st_ino);
        let meta = |dev, mode| {
            let User { uid, gid } = cx.fs.owner();
            Meta { dev, ino, mode, nlink: 1, uid, gid, ..Meta::default() }
        };
        Ok(match stat.st_mode & S_IFMT {
            S_IFREG => {
                let size = u64::try_from(stat.st_size).unwrap_or(0);
                // Output that the host's shell has just made has the host's time and umask.
                let input = self.0 == 0;
                let nsec = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
                let modify = Time::of_host(stat.st_mtime, nsec);
                Meta {
                    size,
                    blocks: size.div_ceil(4096) * 8,
                    times: Times::all(if input { modify } else { Time::from_ns(REALTIME_START) }),
                    ..meta(HOST_DEV, if input { stat.st_mode } else { S_IFREG | 0o644 })
                }
            }
            S_IFCHR if cx.streams.is_terminal(self.0) => {
                Meta { rdev: makedev(136, 0), ..meta(PTS_DEV, S_IFCHR | 0o620) }
            }
            // Programs compare their output with /dev/null.
            S_IFCHR => match cx.fs.device(stat.st_rdev) {
                Some(device) => cx.fs.meta(device),
                None => Meta { rdev: stat.st_rdev, ..meta(DEV_DEV, S_IFCHR | 0o600) },
            },
            S_IFIFO => meta(PIPE_DEV, S_IFIFO | 0o600),
            S_IFSOCK => meta(ANON_DEV, S_IFSOCK | 0o777),
            kind => meta(HOST_DEV, kind | stat.st_mode & 0o7777),
        })
    }

    fn sync(&mut self, cx: &mut FileContext) -> Result<(), Errno> {
        let kind = cx.streams.stat(self.0)?.st_mode & S_IFMT;
        if kind == S_IFREG { Ok(()) } else { Err(Errno::EINVAL) }
    }

    fn advise(&self, cx: &mut FileContext) -> Result<(), Errno> {
        let fifo = cx.streams.stat(self.0).is_ok_and(|stat| stat.st_mode & S_IFMT == S_IFIFO);
        if fifo { Err(Errno::ESPIPE) } else { Ok(()) }
    }

    fn reopen(&self, _fs: &mut FileSystem, _mode: Mode) -> Result<Box<dyn FileOperations>, Errno> {
        Ok(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    /// `stty sane` on Linux: intr ^C, eof ^D, erase ^?, susp ^Z.
    #[test]
    fn control_characters_are_where_linux_has_them() {
        let termios = super::Termios::STANDARD.bytes(super::Form::Termios);
        assert_eq!((termios[17], termios[17 + 4], termios[17 + 2], termios[17 + 10]), (3, 4, 0x7f, 0x1a));
    }
}
