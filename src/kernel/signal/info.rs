//! `siginfo_t`, in the bytes the guest sees.

use crate::abi::resource::CpuTime;
use crate::abi::seccomp::AUDIT_ARCH_X86_64;
use crate::abi::signal::{si_code, signo::*};

/// Bytes of `siginfo_t`.
pub(crate) const SIGINFO_SIZE: usize = 128;

/// A `siginfo_t`. Offsets are those of `asm-generic/siginfo.h` on 64-bit machines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SigInfo([u8; SIGINFO_SIZE]);

impl std::fmt::Debug for SigInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigInfo {{ signo: {}, code: {} }}", self.signo(), self.code())
    }
}

impl SigInfo {
    fn new(signo: i32, code: i32) -> SigInfo {
        let mut info = SigInfo([0; SIGINFO_SIZE]);
        info.put(0, signo as u32);
        info.put(8, code as u32);
        info
    }

    /// A signal that a process sent: kill(2), tkill(2).
    pub fn user(signo: i32, code: i32, pid: u32, uid: u32) -> SigInfo {
        let mut info = SigInfo::new(signo, code);
        info.put(16, pid);
        info.put(20, uid);
        info
    }

    /// A fault at an address.
    pub fn fault(signo: i32, code: i32, addr: u64) -> SigInfo {
        let mut info = SigInfo::new(signo, code);
        info.0[16..24].copy_from_slice(&addr.to_le_bytes());
        info
    }

    /// An interval timer's signal, or any other that carries only SI_KERNEL.
    pub fn kernel(signo: i32) -> SigInfo {
        SigInfo::new(signo, si_code::SI_KERNEL)
    }

    /// A POSIX timer's signal, timer_create(2).
    pub fn timer(signo: i32, id: i32, overrun: i32, value: u64) -> SigInfo {
        let mut info = SigInfo::new(signo, si_code::SI_TIMER);
        info.put(16, id as u32);
        info.put(20, overrun as u32);
        info.0[24..32].copy_from_slice(&value.to_le_bytes());
        info
    }

    /// A message in a queue, mq_notify(3).
    pub(crate) fn message(signo: i32, code: i32, pid: u32, uid: u32, value: u64) -> SigInfo {
        let mut info = SigInfo::user(signo, code, pid, uid);
        info.0[24..32].copy_from_slice(&value.to_le_bytes());
        info
    }

    /// The end or another change of a child, SIGCHLD; `status` and `code` are those of waitid(2),
    /// and the time is what it has used.
    pub(crate) fn child(signo: i32, code: i32, pid: i32, uid: u32, status: i32, cpu: CpuTime) -> SigInfo {
        let mut info = SigInfo::user(signo, code, pid as u32, uid);
        info.put(24, status as u32);
        let [user, system] = cpu.ticks();
        info.0[32..40].copy_from_slice(&user.to_le_bytes());
        info.0[40..48].copy_from_slice(&system.to_le_bytes());
        info
    }

    /// A system call that was not let through, SIGSYS: its number, the address behind it and what
    /// the filter said of it.
    pub(crate) fn sigsys(code: i32, number: u32, call_addr: u64, reason: u16) -> SigInfo {
        let mut info = SigInfo::fault(SIGSYS, code, call_addr);
        info.put(4, u32::from(reason));
        info.put(24, number);
        info.put(28, AUDIT_ARCH_X86_64);
        info
    }

    /// A signal of a descriptor, fcntl(2) F_SETSIG.
    pub(crate) fn poll(signo: i32, code: i32, band: u16, fd: i32) -> SigInfo {
        let mut info = SigInfo::new(signo, code);
        info.0[16..24].copy_from_slice(&u64::from(band).to_le_bytes());
        info.put(24, fd as u32);
        info
    }

    /// A signal of rt_sigqueueinfo(2): the bytes it was given, with the number it names.
    pub fn queued(signo: i32, bytes: [u8; SIGINFO_SIZE]) -> SigInfo {
        let mut info = SigInfo(bytes);
        info.put(0, signo as u32);
        info
    }

    /// The same with another `si_pid`.
    pub(crate) fn with_pid(mut self, pid: i32) -> SigInfo {
        self.put(16, pid as u32);
        self
    }

    /// The bytes as the guest sees them.
    pub fn bytes(&self) -> &[u8; SIGINFO_SIZE] {
        &self.0
    }

    /// `si_signo`.
    pub fn signo(&self) -> i32 {
        self.word(0) as i32
    }

    /// `si_code`.
    pub fn code(&self) -> i32 {
        self.word(8) as i32
    }

    /// `si_pid`, or `si_timerid` of a timer.
    pub fn pid(&self) -> u32 {
        self.word(16)
    }

    /// `si_uid`, or `si_overrun` of a timer.
    pub fn uid(&self) -> u32 {
        self.word(20)
    }

    /// `si_addr` of a fault.
    pub fn addr(&self) -> u64 {
        u64::from(self.word(16)) | u64::from(self.word(20)) << 32
    }

    /// `si_value` of a queued or timer signal.
    pub fn value(&self) -> u64 {
        u64::from(self.word(24)) | u64::from(self.word(28)) << 32
    }

    /// `struct signalfd_siginfo`, which has a field for each meaning of the same bytes of
    /// `siginfo_t`: `siginfo_layout` tells the one they have.
    pub(in crate::kernel) fn for_signalfd(&self) -> [u8; SIGINFO_SIZE] {
        const POLL_CODES: i32 = 6;
        let code = self.code();
        let mut out = SigInfo([0; SIGINFO_SIZE]);
        let mut copy = |fields: &[(usize, usize)]| {
            for (to, from) in fields {
                out.put(*to, self.word(*from));
            }
        };
        copy(&[(0, 0), (4, 4), (8, 8)]);
        let (sender, value) = ([(12, 16), (16, 20)], [(44, 24), (48, 24), (52, 28)]);
        match (self.signo(), code) {
            (SIGILL | SIGFPE | SIGSEGV | SIGBUS | SIGTRAP, 1..=15) => copy(&[(72, 16), (76, 20)]),
            (SIGCHLD, 1..=POLL_CODES) => {
                copy(&sender);
                copy(&[(40, 24), (56, 32), (60, 36), (64, 40), (68, 44)]);
            }
            (SIGSYS, 1..=2) => copy(&[(84, 24), (88, 16), (92, 20), (96, 28)]),
            (_, 1..=POLL_CODES | si_code::SI_SIGIO) => copy(&[(20, 24), (28, 16)]),
            (_, si_code::SI_TIMER) => {
                copy(&[(24, 16), (32, 20)]);
                copy(&value);
            }
            (_, code) => {
                copy(&sender);
                if code < 0 {
                    copy(&value);
                }
            }
        }
        out.0
    }

    /// Adds missed expirations to a timer's signal.
    pub(in crate::kernel) fn add_overrun(&mut self, more: i32) {
        self.put(20, (self.word(20) as i32).saturating_add(more) as u32);
    }

    fn word(&self, at: usize) -> u32 {
        let word: &[u8] = self.0.get(at..at + 4).unwrap_or(&[0; 4]);
        word.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    fn put(&mut self, at: usize, value: u32) {
        if let Some(slot) = self.0.get_mut(at..at + 4) {
            slot.copy_from_slice(&value.to_le_bytes());
        }
    }
}
