//! Modes of a terminal, termios(3).

use crate::abi::tty::*;
use bits::*;
use places::*;

/// Bits of `c_iflag`, `c_oflag` and `c_lflag` that are heeded.
#[allow(missing_docs)]
pub(super) mod bits {
    pub(in crate::kernel::vfs) const ISTRIP: u32 = 0o40;
    pub(in crate::kernel::vfs) const INLCR: u32 = 0o100;
    pub(in crate::kernel::vfs) const IGNCR: u32 = 0o200;
    pub(in crate::kernel::vfs) const ICRNL: u32 = 0o400;
    pub(in crate::kernel::vfs) const IUCLC: u32 = 0o1000;
    pub(in crate::kernel::vfs) const IXON: u32 = 0o2000;
    pub(in crate::kernel::vfs) const IXANY: u32 = 0o4000;
    pub(in crate::kernel::vfs) const IMAXBEL: u32 = 0o20000;
    pub(in crate::kernel::vfs) const OPOST: u32 = 1;
    pub(in crate::kernel::vfs) const OLCUC: u32 = 2;
    pub(in crate::kernel::vfs) const ONLCR: u32 = 4;
    pub(in crate::kernel::vfs) const OCRNL: u32 = 0o10;
    pub(in crate::kernel::vfs) const ONOCR: u32 = 0o20;
    pub(in crate::kernel::vfs) const ONLRET: u32 = 0o40;
    pub(in crate::kernel::vfs) const XTABS: u32 = 0o14000;
    pub(in crate::kernel::vfs) const ISIG: u32 = 1;
    pub(in crate::kernel::vfs) const ICANON: u32 = 2;
    pub(in crate::kernel::vfs) const ECHO: u32 = 0o10;
    pub(in crate::kernel::vfs) const ECHOE: u32 = 0o20;
    pub(in crate::kernel::vfs) const ECHOK: u32 = 0o40;
    pub(in crate::kernel::vfs) const ECHONL: u32 = 0o100;
    pub(in crate::kernel::vfs) const NOFLSH: u32 = 0o200;
    pub(crate) const TOSTOP: u32 = 0o400;
    pub(in crate::kernel::vfs) const ECHOCTL: u32 = 0o1000;
    pub(in crate::kernel::vfs) const ECHOKE: u32 = 0o4000;
    pub(in crate::kernel::vfs) const IEXTEN: u32 = 0o100000;
    pub(in crate::kernel::vfs) const EXTPROC: u32 = 0o200000;
}

/// Places in `c_cc`.
#[allow(missing_docs)]
pub(super) mod places {
    pub(in crate::kernel::vfs) const VINTR: usize = 0;
    pub(in crate::kernel::vfs) const VQUIT: usize = 1;
    pub(in crate::kernel::vfs) const VERASE: usize = 2;
    pub(in crate::kernel::vfs) const VKILL: usize = 3;
    pub(in crate::kernel::vfs) const VEOF: usize = 4;
    pub(in crate::kernel::vfs) const VTIME: usize = 5;
    pub(in crate::kernel::vfs) const VMIN: usize = 6;
    pub(in crate::kernel::vfs) const VSTART: usize = 8;
    pub(in crate::kernel::vfs) const VSTOP: usize = 9;
    pub(in crate::kernel::vfs) const VSUSP: usize = 10;
    pub(in crate::kernel::vfs) const VEOL: usize = 11;
    pub(in crate::kernel::vfs) const VREPRINT: usize = 12;
    pub(in crate::kernel::vfs) const VWERASE: usize = 14;
    pub(in crate::kernel::vfs) const VLNEXT: usize = 15;
    pub(in crate::kernel::vfs) const VEOL2: usize = 16;
}
pub(crate) use bits::TOSTOP;

/// Bits of `c_cflag`. What a pseudo-terminal has no line for is kept all the same.
const CBAUD: u32 = 0o10017;
const CBAUDEX: u32 = 0o10000;
const BOTHER: u32 = 0o10000;
const CSIZE: u32 = 0o60;
const CS8: u32 = 0o60;
const CREAD: u32 = 0o200;
const PARENB: u32 = 0o400;
const CLOCAL: u32 = 0o4000;
const ADDRB: u32 = 0o4000000000;
/// Place of the speed of input in `c_cflag`.
const IBSHIFT: u32 = 16;

/// Speeds by their number in CBAUD, those with CBAUDEX behind the others, in bits a second.
const SPEEDS: [u32; 31] = [
    0, 50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19200, 38400, 57600, 115_200,
    230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_152_000, 1_500_000, 2_000_000, 2_500_000,
    3_000_000, 3_500_000, 4_000_000,
];

/// The structures in which modes come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `struct termio` of System V: halves of the flags, and eight control characters.
    Termio,
    /// `struct termios`.
    Termios,
    /// `struct termios2`, with the speeds as numbers.
    Termios2,
}

impl Form {
    /// The form in which a command asks for the modes.
    pub(crate) fn asked_by(command: u64) -> Option<Form> {
        Some(match command {
            TCGETA => Form::Termio,
            TCGETS => Form::Termios,
            TCGETS2 => Form::Termios2,
            _ => return None,
        })
    }

    /// The form in which a command sets the modes, and whether it drops what was typed.
    pub(crate) fn set_by(command: u64) -> Option<(Form, bool)> {
        Some(match command {
            TCSETA | TCSETAW | TCSETAF => (Form::Termio, command == TCSETAF),
            TCSETS | TCSETSW | TCSETSF => (Form::Termios, command == TCSETSF),
            TCSETS2 | TCSETSW2 | TCSETSF2 => (Form::Termios2, command == TCSETSF2),
            _ => return None,
        })
    }

    /// Number of its bytes.
    pub(crate) fn len(self) -> usize {
        match self {
            Form::Termio => 18,
            Form::Termios => 36,
            Form::Termios2 => 44,
        }
    }
}

/// `struct ktermios` of the kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Termios {
    pub(crate) iflag: u32,
    pub(crate) oflag: u32,
    pub(crate) cflag: u32,
    pub(crate) lflag: u32,
    pub(crate) line: u8,
    pub(crate) cc: [u8; 19],
    /// Speeds of input and output, in bits a second.
    pub(crate) speeds: [u32; 2],
}

impl Termios {
    /// A fresh terminal, `tty_std_termios`: ICRNL|IXON, OPOST|ONLCR, B38400|CS8|CREAD, ISIG|ICANON|
    /// ECHO|ECHOE|ECHOK|ECHOCTL|ECHOKE|IEXTEN.
    pub(crate) const STANDARD: Termios = Termios {
        iflag: 0x500,
        oflag: 5,
        cflag: 0xbf,
        lflag: 0x8a3b,
        line: 0,
        cc: [3, 0x1c, 0x7f, 0x15, 4, 0, 1, 0, 0x11, 0x13, 0x1a, 0, 0x12, 0x0f, 0x17, 0x16, 0, 0, 0],
        speeds: [38400; 2],
    };

    fn flags(&self) -> [u32; 4] {
        [self.iflag, self.oflag, self.cflag, self.lflag]
    }

    fn set_flags(&mut self, flags: [u32; 4]) {
        [self.iflag, self.oflag, self.cflag, self.lflag] = flags;
    }

    /// The bytes of a structure.
    pub(crate) fn bytes(&self, form: Form) -> Vec<u8> {
        let width = if form == Form::Termio { 2 } else { 4 };
        let mut bytes: Vec<u8> =
            self.flags().iter().flat_map(|flags| flags.to_le_bytes().into_iter().take(width)).collect();
        bytes.push(self.line);
        bytes.extend_from_slice(&self.cc);
        bytes.truncate(form.len());
        if form == Form::Termio {
            // Eight control characters, and a byte up to the alignment.
            bytes[17] = 0;
        }
        if form == Form::Termios2 {
            self.speeds.iter().for_each(|speed| bytes.extend_from_slice(&speed.to_le_bytes()));
        }
        bytes
    }

    /// Takes over what a structure says; the flags of a `struct termio` are the lower halves.
    pub(crate) fn take(&mut self, form: Form, bytes: &[u8]) {
        let width = if form == Form::Termio { 2 } else { 4 };
        let mut words = bytes[..4 * width].chunks_exact(width);
        self.set_flags(self.flags().map(|old| {
            let mut word = old.to_le_bytes();
            word[..width].copy_from_slice(words.next().unwrap_or_default());
            u32::from_le_bytes(word)
        }));
        let rest = &bytes[4 * width..];
        self.line = rest[0];
        let count = if form == Form::Termio { 8 } else { self.cc.len() };
        self.cc[..count].copy_from_slice(&rest[1..1 + count]);
        if form == Form::Termios2 {
            let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
            self.speeds = [word(36), word(40)];
        }
        self.speeds = [self.speed(true), self.speed(false)];
    }

    /// The speed that `c_cflag` names, `tty_termios_baud_rate`.
    fn speed(&self, input: bool) -> u32 {
        let number = if input { self.cflag >> IBSHIFT } else { self.cflag } & CBAUD;
        match number {
            0 if input => self.speed(false),
            BOTHER => self.speeds[usize::from(!input)],
            number if number & CBAUDEX != 0 => {
                SPEEDS.get((number & !CBAUDEX) as usize + 15).copied().unwrap_or(0)
            }
            number => SPEEDS[number as usize],
        }
    }

    /// The modes that a pseudo-terminal then has: those that are locked stay as they were, and its
    /// bytes have eight bits without parity.
    pub(crate) fn of_pty(mut self, old: &Termios, locked: &Termios) -> Termios {
        let (new, was, held) = (self.flags(), old.flags(), locked.flags());
        self.set_flags(std::array::from_fn(|at| new[at] & !held[at] | was[at] & held[at]));
        if locked.line != 0 {
            self.line = old.line;
        }
        for (at, _) in locked.cc.iter().enumerate().filter(|(_, locked)| **locked != 0) {
            self.cc[at] = old.cc[at];
        }
        self.cflag = self.cflag & !(CSIZE | PARENB | ADDRB) | CS8 | CREAD;
        self
    }

    /// CLOCAL, that there is no carrier to heed.
    pub(crate) fn is_local_line(&self) -> bool {
        self.cflag & CLOCAL != 0
    }

    /// Sets or clears CLOCAL.
    pub(crate) fn set_local_line(&mut self, on: bool) {
        self.cflag = self.cflag & !CLOCAL | if on { CLOCAL } else { 0 };
    }

    /// Tells if a flag of `c_lflag` is set.
    pub(super) fn local(&self, flag: u32) -> bool {
        self.lflag & flag != 0
    }

    /// Tells if lines are made of what is typed.
    pub(super) fn is_canonical(&self) -> bool {
        self.lflag & (ICANON | EXTPROC) == ICANON
    }

    /// Tells if the usual keys stop and start output.
    fn has_usual_flow(&self) -> bool {
        self.iflag & IXON != 0 && self.cc[VSTOP] == 0o23 && self.cc[VSTART] == 0o21
    }

    /// The news of a change of the modes for a master in packet mode (`pty_set_termios`).
    pub(super) fn packet_status(&self, old: &Termios) -> u8 {
        let flow = match (old.has_usual_flow(), self.has_usual_flow()) {
            (false, true) => TIOCPKT_DOSTOP,
            (true, false) => TIOCPKT_NOSTOP,
            _ => 0,
        };
        flow | if (self.lflag | old.lflag) & EXTPROC != 0 { TIOCPKT_IOCTL } else { 0 }
    }

    /// Tells if a byte is a control character, which 0 switches off.
    pub(super) fn is(&self, at: usize, byte: u8) -> bool {
        self.cc[at] == byte && byte != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_back_what_it_was_given() {
        for form in [Form::Termio, Form::Termios, Form::Termios2] {
            let bytes = Termios::STANDARD.bytes(form);
            assert_eq!(bytes.len(), form.len());
            let mut other = Termios::STANDARD;
            other.take(form, &bytes);
            assert_eq!(other.bytes(Form::Termios2), Termios::STANDARD.bytes(Form::Termios2), "{form:?}");
        }
    }

    /// `<asm-generic/termbits.h>`: B57600 is the first with CBAUDEX, B4000000 the last.
    #[test]
    fn speeds_have_their_numbers() {
        for (cflag, speeds) in [
            (0o10001, [57600; 2]),
            (0o10017, [4_000_000; 2]),
            (0o17 | 0o15 << 16, [9600, 38400]),
            (0o10000, [7; 2]),
            (0o10000 << 16 | 0o15, [300, 9600]),
        ] {
            let mut termios = Termios { cflag, speeds: [300, 7], ..Termios::STANDARD };
            termios.take(Form::Termios, &termios.bytes(Form::Termios));
            assert_eq!(termios.speeds, speeds, "{cflag:o}");
        }
    }
}
