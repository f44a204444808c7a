//! Modes of a terminal, termios(3).

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

/// `struct termios` of the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Termios {
    pub(crate) iflag: u32,
    pub(crate) oflag: u32,
    pub(crate) cflag: u32,
    pub(crate) lflag: u32,
    pub(crate) line: u8,
    pub(crate) cc: [u8; 19],
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
    };

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
        Termios { iflag: word(0), oflag: word(4), cflag: word(8), lflag: word(12), line: bytes[16], cc }
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
