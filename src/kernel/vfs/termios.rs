//! Modes of a terminal, termios(3).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::GuestMemory;
use crate::kernel::uaccess::{copy_to_user, get_array};

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

/// Bits of `c_cflag`.
pub(crate) const CSIZE: u32 = 0o60;
pub(crate) const CS8: u32 = 0o60;
pub(crate) const CREAD: u32 = 0o200;
pub(crate) const PARENB: u32 = 0o400;
const CBAUD: u32 = 0o10017;
/// Set for speeds behind the first sixteen, and alone for one that is a number.
const BOTHER: u32 = 0o10000;
/// Place of the speed of input in `c_cflag`.
const IBSHIFT: u32 = 16;

/// Bits a second, by their places in CBAUD.
const SPEEDS: [u32; 31] = [
    0, 50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200,
    230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_152_000, 1_500_000, 2_000_000, 2_500_000,
    3_000_000, 3_500_000, 4_000_000,
];

/// The speed that CBAUD bits stand for, of a terminal that has the speed `number` if they say so.
fn speed(bits: u32, number: u32) -> u32 {
    let place = if bits & BOTHER == 0 { bits } else { (bits & !BOTHER) + 15 };
    if bits == BOTHER { number } else { SPEEDS[place as usize] }
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
    /// Bits a second of input and output.
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
        speeds: [38_400; 2],
    };

    /// Gives a program the modes, as TCGETS, TCGETA or TCGETS2 do.
    pub(crate) fn put(&self, mem: &mut dyn GuestMemory, at: u64, command: u64) -> Result<(), Errno> {
        match command {
            TCGETA => copy_to_user(mem, at, &self.termio()),
            TCGETS2 => {
                let [input, output] = self.speeds.map(u32::to_le_bytes);
                copy_to_user(mem, at, &[&self.bytes()[..], &input, &output].concat())
            }
            _ => copy_to_user(mem, at, &self.bytes()),
        }
    }

    /// The modes that a program sets by TCSETS, TCSETA, TCSETS2 and their forms, in place of these.
    pub(crate) fn changed(&self, mem: &mut dyn GuestMemory, at: u64, command: u64) -> Result<Termios, Errno> {
        let mut new = match command {
            TCSETA | TCSETAW | TCSETAF => self.with_termio(&get_array(mem, at)?),
            _ => Termios { speeds: self.speeds, ..Termios::from_bytes(&get_array(mem, at)?) },
        };
        if matches!(command, TCSETS2 | TCSETSW2 | TCSETSF2) {
            let bytes: [u8; 44] = get_array(mem, at)?;
            let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
            new.speeds = [word(36), word(40)];
        }
        let output = speed(new.cflag & CBAUD, new.speeds[1]);
        let input = match (new.cflag >> IBSHIFT) & CBAUD {
            0 => output,
            bits => speed(bits, new.speeds[0]),
        };
        new.speeds = [input, output];
        Ok(new)
    }

    /// The modes with those of `old` that `locks` has set.
    pub(crate) fn under(&self, old: &Termios, locks: &Termios) -> Termios {
        let flags = |new: u32, old: u32, locks: u32| new & !locks | old & locks;
        let byte = |new: u8, old: u8, lock: u8| if lock != 0 { old } else { new };
        Termios {
            iflag: flags(self.iflag, old.iflag, locks.iflag),
            oflag: flags(self.oflag, old.oflag, locks.oflag),
            cflag: flags(self.cflag, old.cflag, locks.cflag),
            lflag: flags(self.lflag, old.lflag, locks.lflag),
            line: byte(self.line, old.line, locks.line),
            cc: std::array::from_fn(|at| byte(self.cc[at], old.cc[at], locks.cc[at])),
            speeds: self.speeds,
        }
    }

    /// The bytes of `struct termio`.
    fn termio(&self) -> [u8; 18] {
        let mut bytes = [0; 18];
        for (at, flags) in [(0, self.iflag), (2, self.oflag), (4, self.cflag), (6, self.lflag)] {
            bytes[at..at + 2].copy_from_slice(&flags.to_le_bytes()[..2]);
        }
        bytes[8] = self.line;
        bytes[9..17].copy_from_slice(&self.cc[..8]);
        bytes
    }

    /// The modes with what `struct termio` has of them.
    fn with_termio(&self, bytes: &[u8; 18]) -> Termios {
        let half = |at: usize, whole: u32| {
            whole & 0xffff_0000 | u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
        };
        let mut cc = self.cc;
        cc[..8].copy_from_slice(&bytes[9..17]);
        let (iflag, oflag) = (half(0, self.iflag), half(2, self.oflag));
        let (cflag, lflag) = (half(4, self.cflag), half(6, self.lflag));
        Termios { iflag, oflag, cflag, lflag, line: bytes[8], cc, ..*self }
    }

    /// The bytes of `struct termios`.
    pub(crate) fn bytes(&self) -> [u8; 36] {
        let mut bytes = [0; 36];
        for (at, flags) in [(0, self.iflag), (4, self.oflag), (8, self.cflag), (12, self.lflag)] {
            bytes[at..at + 4].copy_from_slice(&flags.to_le_bytes());
        }
        bytes[16] = self.line;
        bytes[17..].copy_from_slice(&self.cc);
        bytes
    }

    /// The same from bytes.
    pub(crate) fn from_bytes(bytes: &[u8; 36]) -> Termios {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let cc = std::array::from_fn(|at| bytes[17 + at]);
        let line = bytes[16];
        Termios { iflag: word(0), oflag: word(4), cflag: word(8), lflag: word(12), line, cc, speeds: [0; 2] }
    }

    /// Tells if a flag of `c_lflag` is set.
    pub(super) fn local(&self, flag: u32) -> bool {
        self.lflag & flag != 0
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
    fn locked_modes_stay() {
        let old = Termios::STANDARD;
        let mut locks = Termios { iflag: 0x100, lflag: bits::ECHO, ..Termios::default() };
        locks.cc[places::VKILL] = 1;
        let mut new = Termios { iflag: 0, lflag: 0, line: 3, ..old.clone() };
        (new.cc[places::VKILL], new.cc[places::VINTR]) = (9, 9);
        let new = new.under(&old, &locks);
        assert_eq!((new.iflag, new.oflag, new.lflag, new.line), (0x100, old.oflag, bits::ECHO, 3));
        assert_eq!((new.cc[places::VKILL], new.cc[places::VINTR]), (old.cc[places::VKILL], 9));
    }
}
