//! The line discipline of a terminal, termios(3): what becomes of bytes on their way from the
//! master of a pseudo-terminal to its slave and back, `n_tty.c` of Linux.

use std::collections::VecDeque;

use crate::abi::signal::signo::{SIGINT, SIGQUIT, SIGTSTP};
use crate::abi::tty::*;
use crate::kernel::vfs::termios::Termios;
use crate::kernel::vfs::termios::bits::*;
use crate::kernel::vfs::termios::places::*;

/// Bytes that wait for the slave at most, `N_TTY_BUF_SIZE` less one.
const INPUT_MAX: usize = 4095;
/// Bytes that wait for the master at most.
const OUTPUT_MAX: usize = 65_536;
/// Bytes of them that its own line discipline has already, which TCOFLUSH cannot take back.
const DELIVERED_MAX: usize = 4095;
/// Bytes of echoes that wait at most, and from how many on they do not wait for the end of a write.
const ECHOES_MAX: usize = 4096;
const ECHOES_ENOUGH: usize = 256;

/// Nanoseconds of one unit of VTIME.
const VTIME_UNIT: u64 = 100_000_000;

/// Outcome of a read that found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Bytes(usize),
    /// Nothing is there.
    Nothing,
    /// Fewer than VMIN are there, or the timer of VTIME decides: the nanoseconds that it takes from
    /// the last byte on, or without VMIN from the beginning of the read.
    Fewer(Option<u64>),
}

/// A line discipline with what waits in it.
#[derive(Clone, Debug)]
pub(crate) struct LineDiscipline {
    pub(crate) termios: Termios,
    /// Signals for the foreground that typed keys have brought.
    pub(super) signals: Vec<i32>,
    /// Complete lines, or everything in raw mode, for the slave.
    input: VecDeque<u8>,
    /// Lengths of the lines in `input`.
    lines: VecDeque<usize>,
    /// The line that is being typed.
    typed: Vec<u8>,
    /// The next byte is to be taken as it is, VLNEXT.
    literal: bool,
    /// Output waits for VSTART.
    stopped: bool,
    /// It waits for TCOON, since TCOOFF.
    held: bool,
    /// The master waits for its own TCOON.
    master_held: bool,
    /// Echoes of what was typed, up to the end of the write that brought it, and while output
    /// waits.
    echoes: VecDeque<u8>,
    /// TIOCPKT: reads of the master begin with a byte of control, and this is what it is to be
    /// told.
    pub(crate) packet: Option<u8>,
    output: VecDeque<u8>,
    column: usize,
}

impl LineDiscipline {
    /// The line discipline of a fresh terminal.
    pub(super) fn new() -> LineDiscipline {
        LineDiscipline {
            termios: Termios::STANDARD,
            signals: Vec::new(),
            input: VecDeque::new(),
            lines: VecDeque::new(),
            typed: Vec::new(),
            literal: false,
            stopped: false,
            held: false,
            master_held: false,
            echoes: VecDeque::new(),
            packet: None,
            output: VecDeque::new(),
            column: 0,
        }
    }

    /// Bytes that wait, on the host.
    pub(super) fn bytes(&self) -> usize {
        self.input.capacity() + self.output.capacity() + self.lines.capacity() * 16 + self.echoes.capacity()
    }

    /// Sets the terminal's modes. Without ICANON what was typed is there at once, and with it what
    /// is there is a line. Without IXON output does not wait for a key.
    pub(crate) fn set_termios(&mut self, termios: Termios) {
        let (was, is) = (self.termios.is_canonical(), termios.is_canonical());
        self.note(termios.packet_status(&self.termios), TIOCPKT_NOSTOP | TIOCPKT_DOSTOP);
        let old = std::mem::replace(&mut self.termios, termios);
        if old.iflag & !self.termios.iflag & IXON != 0 {
            self.start();
        }
        if was && !is {
            self.lines.clear();
            self.input.extend(self.typed.drain(..));
        } else if !was && is && !self.input.is_empty() {
            self.lines.push_back(self.input.len());
        }
    }

    /// Notes what a master in packet mode is to be told, in the place of something else.
    fn note(&mut self, status: u8, instead: u8) {
        if let Some(packet) = &mut self.packet
            && status != 0
        {
            let flow = status & (TIOCPKT_NOSTOP | TIOCPKT_DOSTOP | TIOCPKT_STOP | TIOCPKT_START);
            *packet = *packet & !if flow != 0 { instead } else { 0 } | status;
        }
    }

    /// Drops what waits for the slave, TCIFLUSH.
    pub(crate) fn flush_input(&mut self) {
        self.note(TIOCPKT_FLUSHREAD, 0);
        self.input.clear();
        self.lines.clear();
        self.typed.clear();
    }

    /// Drops what has not reached the master, TCOFLUSH of the slave.
    pub(crate) fn flush_output(&mut self) {
        self.note(TIOCPKT_FLUSHWRITE, 0);
        self.output.truncate(DELIVERED_MAX);
    }

    /// Drops what the master could read, TCIFLUSH of the master.
    pub(crate) fn flush_delivered(&mut self) {
        self.output.drain(..self.output.len().min(DELIVERED_MAX));
    }

    /// TCOOFF and TCOON of a side.
    pub(crate) fn hold(&mut self, master: bool, on: bool) {
        if master {
            self.master_held = on;
        } else if on {
            self.held = true;
            self.stop();
        } else if std::mem::take(&mut self.held) {
            self.restart();
        }
    }

    /// TCIOFF and TCION of a side: the other one gets VSTOP or VSTART, even past a stop.
    pub(crate) fn send_flow_key(&mut self, master: bool, on: bool) {
        let key = if on { VSTART } else { VSTOP };
        // The master has the keys of a fresh terminal.
        let byte = if master { Termios::STANDARD.cc[key] } else { self.termios.cc[key] };
        if master {
            self.typed(byte);
            self.settle_echoes();
        } else if byte != 0 {
            if self.stopped {
                self.note(TIOCPKT_STOP, TIOCPKT_START);
            }
            self.output.push_back(byte);
        }
    }

    fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopped, true) {
            self.note(TIOCPKT_STOP, TIOCPKT_START);
        }
    }

    /// Lets output go on, unless TCOOFF has stopped it.
    fn start(&mut self) {
        if !self.held {
            self.restart();
            self.settle_echoes();
        }
    }

    /// Lets output go on. Echoes that wait go with what is written or typed next.
    fn restart(&mut self) {
        if std::mem::replace(&mut self.stopped, false) {
            self.note(TIOCPKT_START, TIOCPKT_STOP);
        }
    }

    fn settle_echoes(&mut self) {
        if !self.stopped {
            self.output.append(&mut self.echoes);
        }
    }

    /// Bytes that a read of the slave would find, FIONREAD.
    pub(crate) fn input_len(&self) -> usize {
        self.input.len()
    }

    /// Bytes that a read of the master would find.
    pub(crate) fn output_len(&self) -> usize {
        self.output.len()
    }

    /// Tells if a read of the slave would return.
    pub(crate) fn has_input(&self) -> bool {
        let least = if self.termios.cc[VTIME] == 0 { usize::from(self.termios.cc[VMIN]).max(1) } else { 1 };
        match (self.termios.is_canonical(), self.termios.local(ICANON)) {
            (true, _) => !self.lines.is_empty(),
            (false, true) => !self.input.is_empty(),
            (false, false) => self.input.len() >= least,
        }
    }

    /// Tells if the slave can be written.
    pub(crate) fn has_room(&self) -> bool {
        !self.stopped && self.output.len() < OUTPUT_MAX
    }

    /// Tells if the master can be written: a line that is too long loses its end instead.
    pub(crate) fn takes_input(&self) -> bool {
        let held = self.input.len() + self.typed.len();
        !self.master_held && (held < INPUT_MAX || (self.termios.is_canonical() && self.lines.is_empty()))
    }

    /// Takes what the slave reads: in canonical mode one line.
    pub(crate) fn take_input(&mut self, out: &mut [u8], nonblocking: bool) -> Taken {
        if self.termios.is_canonical() {
            let Some(len) = self.lines.pop_front() else { return Taken::Nothing };
            let count = len.min(out.len());
            for (to, from) in out.iter_mut().zip(self.input.drain(..count)) {
                *to = from;
            }
            if count < len {
                self.lines.push_front(len - count);
            }
            return Taken::Bytes(count);
        }
        let (least, time) = match self.termios.local(ICANON) {
            true => (1, 0),
            false => (usize::from(self.termios.cc[VMIN]), self.termios.cc[VTIME]),
        };
        let (there, wanted) = (self.input.len(), least.min(out.len()));
        if there < wanted.max(1) && !(nonblocking && there > 0) && (least > 0 || time > 0) {
            let timer = time > 0 && (least == 0 || there > 0);
            let timer = timer.then_some(u64::from(time) * VTIME_UNIT);
            let waits = timer.is_some() || there > 0;
            return if waits && !nonblocking { Taken::Fewer(timer) } else { Taken::Nothing };
        }
        let count = self.input.len().min(out.len());
        for (to, from) in out.iter_mut().zip(self.input.drain(..count)) {
            *to = from;
        }
        Taken::Bytes(count)
    }

    /// Takes what the master reads.
    pub(crate) fn take_output(&mut self, out: &mut [u8]) -> usize {
        let count = out.len().min(self.output.len());
        for (to, from) in out.iter_mut().zip(self.output.drain(..count)) {
            *to = from;
        }
        count
    }

    /// Puts a byte before the master as if the slave had written it; false without room.
    pub(crate) fn put_raw(&mut self, byte: u8) -> bool {
        let fits = self.has_room();
        if fits {
            self.output.push_back(byte);
        }
        fits
    }

    /// Writes what the slave writes; returns how many bytes there was room for.
    pub(crate) fn put_output(&mut self, bytes: &[u8]) -> usize {
        self.settle_echoes();
        let mut done = 0;
        while done < bytes.len() && self.has_room() {
            self.write(bytes[done]);
            done += 1;
        }
        done
    }

    /// Echoes a byte, with the changes of OPOST.
    fn put(&mut self, byte: u8) {
        std::mem::swap(&mut self.output, &mut self.echoes);
        self.write(byte);
        std::mem::swap(&mut self.output, &mut self.echoes);
        let more = self.echoes.len().saturating_sub(ECHOES_MAX);
        self.echoes.drain(..more);
    }

    /// Writes a byte to the master with the changes of OPOST.
    fn write(&mut self, byte: u8) {
        let flags = self.termios.oflag;
        let on = |flag| flags & flag != 0;
        if !on(OPOST) {
            self.output.push_back(byte);
            return;
        }
        match byte {
            b'\n' if on(ONLCR) => {
                self.column = 0;
                self.output.extend(b"\r\n");
            }
            b'\n' => {
                self.column = if on(ONLRET) { 0 } else { self.column };
                self.output.push_back(b'\n');
            }
            b'\r' if on(ONOCR) && self.column == 0 => {}
            b'\r' if on(OCRNL) => {
                self.column = if on(ONLRET) { 0 } else { self.column };
                self.output.push_back(b'\n');
            }
            b'\r' => {
                self.column = 0;
                self.output.push_back(b'\r');
            }
            b'\t' => {
                let spaces = 8 - self.column % 8;
                self.column += spaces;
                if flags & XTABS == XTABS {
                    self.output.extend(std::iter::repeat_n(b' ', spaces));
                } else {
                    self.output.push_back(b'\t');
                }
            }
            8 => {
                self.column = self.column.saturating_sub(1);
                self.output.push_back(8);
            }
            _ => {
                let byte = if on(OLCUC) { byte.to_ascii_uppercase() } else { byte };
                // Bytes that continue a character of UTF-8 take no column, nor do controls.
                self.column += usize::from(!byte.is_ascii_control() && byte & 0xc0 != 0x80);
                self.output.push_back(byte);
            }
        }
    }

    /// Echoes a byte, controls as `^X` with ECHOCTL.
    fn echo(&mut self, byte: u8) {
        if self.termios.local(ECHOCTL) && byte.is_ascii_control() && byte != b'\t' && byte != b'\n' {
            self.put(b'^');
            self.put(byte ^ 0x40);
        } else {
            self.put(byte);
        }
    }

    /// Takes what the master writes through the line discipline; returns how many bytes.
    pub(crate) fn put_input(&mut self, bytes: &[u8]) -> usize {
        self.settle_echoes();
        let mut done = 0;
        while done < bytes.len() && self.takes_input() {
            self.typed(bytes[done]);
            done += 1;
            if self.echoes.len() >= ECHOES_ENOUGH {
                self.settle_echoes();
            }
        }
        self.settle_echoes();
        done
    }

    fn typed(&mut self, byte: u8) {
        let (iflag, canonical) = (self.termios.iflag, self.termios.is_canonical());
        let on = |flag| iflag & flag != 0;
        let mut byte = if on(ISTRIP) { byte & 0x7f } else { byte };
        if on(IUCLC) && self.termios.local(IEXTEN) {
            byte = byte.to_ascii_lowercase();
        }
        if self.termios.local(EXTPROC) {
            // The other end has seen to all keys and echoes.
            if self.input.len() < INPUT_MAX {
                self.input.push_back(byte);
            }
            return;
        }
        if std::mem::take(&mut self.literal) {
            return self.keep(byte);
        }
        if on(IXON) {
            if self.termios.is(VSTART, byte) {
                return self.start();
            }
            if self.termios.is(VSTOP, byte) {
                return self.stop();
            }
            if on(IXANY) {
                self.start();
            }
        }
        let key = [(VINTR, SIGINT), (VQUIT, SIGQUIT), (VSUSP, SIGTSTP)]
            .into_iter()
            .find(|(at, _)| self.termios.local(ISIG) && self.termios.is(*at, byte));
        if let Some((_, signo)) = key {
            self.signals.push(signo);
            if !self.termios.local(NOFLSH) {
                self.echoes.clear();
                self.flush_input();
                self.flush_output();
            }
            if on(IXON) {
                self.start();
            }
            if self.termios.local(ECHO) {
                self.echo(byte);
            }
            return;
        }
        match byte {
            b'\r' if on(IGNCR) => return,
            b'\r' if on(ICRNL) => byte = b'\n',
            b'\n' if on(INLCR) => byte = b'\r',
            _ => {}
        }
        if !canonical {
            return self.keep(byte);
        }
        let extended = self.termios.local(IEXTEN);
        if [VERASE, VKILL].iter().any(|at| self.termios.is(*at, byte))
            || (extended && self.termios.is(VWERASE, byte))
        {
            return self.erase(byte);
        }
        if extended && self.termios.is(VLNEXT, byte) {
            self.literal = true;
            if self.termios.local(ECHO) && self.termios.local(ECHOCTL) {
                self.put(b'^');
                self.put(8);
            }
            return;
        }
        if extended && self.termios.local(ECHO) && self.termios.is(VREPRINT, byte) {
            self.echo(byte);
            self.put(b'\n');
            for byte in self.typed.clone() {
                self.echo(byte);
            }
            return;
        }
        if byte == b'\n' {
            if self.termios.local(ECHO) || self.termios.local(ECHONL) {
                self.put(b'\n');
            }
            return self.end_line(Some(byte));
        }
        if self.termios.is(VEOF, byte) {
            return self.end_line(None);
        }
        if self.termios.is(VEOL, byte) || (extended && self.termios.is(VEOL2, byte)) {
            if self.termios.local(ECHO) {
                self.echo(byte);
            }
            return self.end_line(Some(byte));
        }
        self.keep(byte);
    }

    /// Keeps a byte that is nothing special, and echoes it.
    fn keep(&mut self, byte: u8) {
        if self.input.len() + self.typed.len() >= INPUT_MAX {
            if self.termios.iflag & IMAXBEL != 0 {
                self.put(7);
            }
            return;
        }
        if self.termios.local(ECHO) {
            self.echo(byte);
        }
        if self.termios.is_canonical() {
            self.typed.push(byte);
        } else {
            self.input.push_back(byte);
        }
    }

    /// Ends the line that is being typed with a byte, or with an end of file.
    fn end_line(&mut self, byte: Option<u8>) {
        self.typed.extend(byte);
        self.lines.push_back(self.typed.len());
        self.input.extend(self.typed.drain(..));
    }

    /// VERASE, VWERASE or VKILL.
    fn erase(&mut self, byte: u8) {
        let flag = |flag| self.termios.local(flag);
        let (echo, kill) = (flag(ECHO), self.termios.is(VKILL, byte));
        if self.typed.is_empty() {
            return;
        }
        if kill && !(echo && flag(ECHOK) && flag(ECHOKE) && flag(ECHOE)) {
            let newline = flag(ECHOK);
            self.typed.clear();
            if echo {
                self.echo(byte);
                if newline {
                    self.put(b'\n');
                }
            }
            return;
        }
        let single = self.termios.is(VERASE, byte);
        let mut in_word = false;
        while let Some(last) = self.typed.last().copied() {
            let letter = last.is_ascii_alphanumeric() || last == b'_';
            if !single && !kill && in_word && !letter {
                break;
            }
            in_word |= letter;
            self.typed.pop();
            if echo {
                self.rub_out(last, single, byte);
            }
            if single {
                break;
            }
        }
    }

    /// Echoes that a byte of the line was erased.
    fn rub_out(&mut self, gone: u8, single: bool, by: u8) {
        if single && !self.termios.local(ECHOE) {
            return self.echo(by);
        }
        if gone == b'\t' {
            // Back to where the tab began: after the last tab before it, eights from there on.
            let width = self.typed.iter().fold(0, |column, byte| match byte {
                b'\t' => (column / 8 + 1) * 8,
                byte if byte.is_ascii_control() && self.termios.local(ECHOCTL) => column + 2,
                byte => column + usize::from(!byte.is_ascii_control()),
            });
            for _ in 0..8 - width % 8 {
                self.put(8);
            }
            return;
        }
        let shown = match gone.is_ascii_control() {
            true if self.termios.local(ECHOCTL) => 2,
            true => 0,
            false => 1,
        };
        for _ in 0..shown {
            [8, b' ', 8].into_iter().for_each(|byte| self.put(byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tty: &mut LineDiscipline) -> Taken {
        tty.take_input(&mut [0; 8192], true)
    }

    /// N_TTY_BUF_SIZE: a line keeps 4095 bytes, and each further one rings the bell.
    #[test]
    fn a_line_that_is_too_long_loses_its_end() {
        let mut tty = LineDiscipline::new();
        tty.termios.iflag |= IMAXBEL;
        assert_eq!(tty.put_input(&[b'x'; 5000]), 5000);
        assert_eq!((tty.output_len(), read(&mut tty)), (5000, Taken::Nothing));
        tty.put_input(b"\n");
        assert_eq!(read(&mut tty), Taken::Bytes(4096));
    }

    #[test]
    fn in_raw_mode_what_does_not_fit_waits() {
        let mut tty = LineDiscipline::new();
        tty.set_termios(Termios { iflag: 0, lflag: 0, ..Termios::STANDARD });
        assert_eq!(tty.put_input(&[b'x'; 5000]), 4095);
        assert_eq!((tty.put_input(b"x"), tty.output_len()), (0, 0));
        assert_eq!((read(&mut tty), tty.put_input(b"x")), (Taken::Bytes(4095), 1));
    }
}
