//! Filters of system calls: the modes of seccomp(2) with their classic BPF programs, and the user's
//! own dispatch of prctl(2).

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::seccomp::*;

/// One instruction of a program, `struct sock_filter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Insn {
    code: u16,
    jt: u8,
    jf: u8,
    k: u32,
}

impl Insn {
    fn class(self) -> u16 {
        self.code & 7
    }

    /// Operation of ALU and JMP.
    fn operation(self) -> u16 {
        self.code & 0xf0
    }
}

/// A program that was checked: every jump leads forward to an instruction of it, the last one
/// returns, and no word of its memory is read before it was stored.
#[derive(Clone, Debug)]
pub(crate) struct Filter(Arc<[Insn]>);

impl Filter {
    /// A program from its bytes, 8 for each instruction; EINVAL for one that Linux does not take
    /// (`bpf_check_classic`, `seccomp_check_filter`).
    pub(crate) fn new(bytes: &[u8]) -> Result<Filter, Errno> {
        let insns: Vec<Insn> = bytes.as_chunks().0.iter().map(decode).collect();
        if insns.is_empty() || insns.len() > BPF_MAXINSNS || !check(&insns) {
            return Err(Errno::EINVAL);
        }
        Ok(Filter(insns.into()))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// Runs the program over the words of `struct seccomp_data`.
    fn run(&self, data: &[u32; 16]) -> u32 {
        let (mut a, mut x) = (0u32, 0u32);
        let mut memory = [0u32; BPF_MEMWORDS as usize];
        let mut pc = 0;
        while let Some(insn) = self.0.get(pc) {
            let k = insn.k;
            let operand = if insn.code & BPF_X != 0 { x } else { k };
            pc += 1;
            match insn.class() {
                class::LD | class::LDX => {
                    let value = match insn.code & 0xe0 {
                        mode::ABS => data[(k / 4) as usize & 15],
                        mode::MEM => memory[(k & 15) as usize],
                        mode::LEN => SECCOMP_DATA_SIZE,
                        _ => k,
                    };
                    *(if insn.class() == class::LD { &mut a } else { &mut x }) = value;
                }
                class::ST => memory[(k & 15) as usize] = a,
                class::STX => memory[(k & 15) as usize] = x,
                class::ALU => {
                    a = match insn.operation() {
                        alu::ADD => a.wrapping_add(operand),
                        alu::SUB => a.wrapping_sub(operand),
                        alu::MUL => a.wrapping_mul(operand),
                        alu::DIV => match a.checked_div(operand) {
                            Some(quotient) => quotient,
                            None => return 0,
                        },
                        alu::OR => a | operand,
                        alu::AND => a & operand,
                        alu::LSH => a.wrapping_shl(operand),
                        alu::RSH => a.wrapping_shr(operand),
                        alu::XOR => a ^ operand,
                        _ => a.wrapping_neg(),
                    }
                }
                class::JMP => {
                    let taken = match insn.operation() {
                        jump::JEQ => a == operand,
                        jump::JGT => a > operand,
                        jump::JGE => a >= operand,
                        jump::JSET => a & operand != 0,
                        _ => {
                            pc += k as usize;
                            continue;
                        }
                    };
                    pc += usize::from(if taken { insn.jt } else { insn.jf });
                }
                class::RET => return if insn.code & BPF_A != 0 { a } else { k },
                _ if insn.code & BPF_TXA != 0 => a = x,
                _ => x = a,
            }
        }
        SECCOMP_RET_KILL_THREAD
    }
}

fn decode(bytes: &[u8; 8]) -> Insn {
    let [c0, c1, jt, jf, k @ ..] = *bytes;
    Insn { code: u16::from_le_bytes([c0, c1]), jt, jf, k: u32::from_le_bytes(k) }
}

/// Tests whether one instruction is among those that seccomp(2) takes.
fn is_known(insn: Insn) -> bool {
    let Insn { code, k, .. } = insn;
    let two_operands = code & !(BPF_X | 0xf7) == 0;
    let constant = code & BPF_X == 0;
    match insn.class() {
        class::LD if code == class::LD | mode::ABS => k < SECCOMP_DATA_SIZE && k.is_multiple_of(4),
        class::LD | class::LDX => match code & !7 {
            mode::IMM | mode::LEN => true,
            mode::MEM => k < BPF_MEMWORDS,
            _ => false,
        },
        class::ST | class::STX => code & !7 == 0 && k < BPF_MEMWORDS,
        class::ALU if insn.operation() == alu::NEG => constant && code & !0xf7 == 0,
        class::ALU => {
            two_operands
                && match insn.operation() {
                    alu::DIV => !constant || k != 0,
                    alu::LSH | alu::RSH => !constant || k < 32,
                    operation => operation <= alu::RSH || operation == alu::XOR,
                }
        }
        class::JMP if insn.operation() == jump::JA => code & !7 == 0,
        class::JMP => two_operands && insn.operation() <= jump::JSET,
        class::RET => code & !(7 | BPF_A) == 0,
        _ => code & !(7 | BPF_TXA) == 0,
    }
}

/// Checks a whole program.
fn check(insns: &[Insn]) -> bool {
    // The words of memory that are stored whichever way an instruction is reached.
    let mut reached = vec![u16::MAX; insns.len()];
    let mut stored = 0u16;
    for (pc, insn) in insns.iter().enumerate() {
        if !is_known(*insn) {
            return false;
        }
        stored &= reached[pc];
        let word = 1u16.checked_shl(insn.k).unwrap_or(0);
        match insn.class() {
            class::ST | class::STX => stored |= word,
            class::LD | class::LDX if insn.code & 0xe0 == mode::MEM && stored & word == 0 => return false,
            class::JMP => {
                let always = insn.operation() == jump::JA;
                let ways =
                    if always { [insn.k as usize; 2] } else { [usize::from(insn.jt), usize::from(insn.jf)] };
                for way in ways {
                    match reached.get_mut(pc + 1 + way) {
                        Some(at) => *at &= stored,
                        None => return false,
                    }
                }
                stored = u16::MAX;
            }
            _ => {}
        }
    }
    insns.last().is_some_and(|last| last.class() == class::RET)
}

/// Mode of a task and its filters, seccomp(2). Children and execve(2) keep them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seccomp {
    strict: bool,
    /// Filters, the oldest first.
    filters: Vec<Filter>,
}

/// A system call as a filter sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Its number, as it was in EAX.
    pub(crate) number: u32,
    /// Address behind the instruction.
    pub(crate) rip: u64,
    /// Its arguments.
    pub(crate) args: [u64; 6],
}

impl Seccomp {
    /// Mode of the task: 0, `SECCOMP_MODE_STRICT` or `SECCOMP_MODE_FILTER`.
    pub(crate) fn mode(&self) -> u64 {
        match (self.strict, self.filters.is_empty()) {
            (true, _) => SECCOMP_MODE_STRICT,
            (false, false) => SECCOMP_MODE_FILTER,
            (false, true) => 0,
        }
    }

    /// Number of filters.
    pub(crate) fn filters(&self) -> usize {
        self.filters.len()
    }

    /// Bytes that the filters take.
    pub(super) fn bytes(&self) -> u64 {
        self.filters.iter().map(|filter| filter.len() * size_of::<Insn>() + 32).sum::<usize>() as u64
    }

    /// Leaves the task read(2), write(2), _exit(2) and sigreturn(2); EINVAL where it has filters.
    pub(crate) fn set_strict(&mut self) -> Result<(), Errno> {
        if self.mode() == SECCOMP_MODE_FILTER {
            return Err(Errno::EINVAL);
        }
        self.strict = true;
        Ok(())
    }

    /// Adds a filter; EINVAL in strict mode, ENOMEM where all of them are too long together.
    pub(crate) fn add(&mut self, filter: Filter) -> Result<(), Errno> {
        if self.strict {
            return Err(Errno::EINVAL);
        }
        let before: usize = self.filters.iter().map(|filter| filter.len() + 4).sum();
        if before + filter.len() > MAX_INSNS_PER_PATH {
            return Err(Errno::ENOMEM);
        }
        self.filters.push(filter);
        Ok(())
    }

    /// Tests whether these filters are the first ones of another task, so that it can take over
    /// what that one has.
    pub(crate) fn begins(&self, other: &Seccomp) -> bool {
        let same = |(a, b): (&Filter, &Filter)| Arc::ptr_eq(&a.0, &b.0);
        !self.strict
            && self.filters.len() <= other.filters.len()
            && self.filters.iter().zip(&other.filters).all(same)
    }

    /// The verdict on a call, `SECCOMP_RET_*` with its data: the severest of all filters, and of
    /// equal ones that of the youngest.
    pub(crate) fn verdict(&self, call: &Call) -> u32 {
        /// read, write, rt_sigreturn, exit.
        const STRICT: [u32; 4] = [0, 1, 15, 60];
        if self.strict {
            let allowed = STRICT.contains(&call.number);
            return if allowed { SECCOMP_RET_ALLOW } else { SECCOMP_RET_KILL_THREAD };
        }
        let mut data = [call.number, AUDIT_ARCH_X86_64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let words = std::iter::once(call.rip).chain(call.args);
        for (pair, word) in data[2..].as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *pair = [word as u32, (word >> 32) as u32];
        }
        let severity = |verdict: u32| (verdict & SECCOMP_RET_ACTION_FULL) as i32;
        let verdicts = self.filters.iter().rev().map(|filter| filter.run(&data));
        verdicts.fold(
            SECCOMP_RET_ALLOW,
            |worst, verdict| {
                if severity(verdict) < severity(worst) { verdict } else { worst }
            },
        )
    }
}

/// The user's own dispatch of system calls, PR_SET_SYSCALL_USER_DISPATCH of prctl(2): calls from
/// outside of a range become SIGSYS where the byte at `selector` says so. Neither children nor
/// execve(2) keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserDispatch {
    /// First address of the range whose calls pass.
    pub(crate) start: u64,
    /// Its length in bytes.
    pub(crate) len: u64,
    /// Address of the byte; 0 for none, which blocks.
    pub(crate) selector: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(insns: &[(u16, u8, u8, u32)]) -> Vec<u8> {
        let bytes = |&(code, jt, jf, k): &(u16, u8, u8, u32)| {
            let [c0, c1] = code.to_le_bytes();
            let [k0, k1, k2, k3] = k.to_le_bytes();
            [c0, c1, jt, jf, k0, k1, k2, k3]
        };
        insns.iter().flat_map(bytes).collect()
    }

    const CALL: Call = Call { number: 39, rip: 0x1234_5678_9abc, args: [1, 2, 3, 4, 5, u64::MAX] };

    fn verdict(insns: &[(u16, u8, u8, u32)]) -> u32 {
        let mut seccomp = Seccomp::default();
        seccomp.add(Filter::new(&program(insns)).expect("a program")).expect("room");
        seccomp.verdict(&CALL)
    }

    const KILL: u32 = SECCOMP_RET_KILL_PROCESS;

    #[test]
    fn programs_see_the_call() {
        for (offset, word) in [(0, 39), (4, 0xc000_003e), (8, 0x5678_9abc), (12, 0x1234), (16, 1), (60, !0)] {
            let load = (0x20, 0, 0, offset);
            let insns = [load, (0x15, 0, 1, word), (6, 0, 0, SECCOMP_RET_ALLOW), (6, 0, 0, KILL)];
            assert_eq!(verdict(&insns), SECCOMP_RET_ALLOW, "{offset}");
        }
    }

    /// Opcodes of linux/filter.h; the results are those of 32-bit arithmetic.
    #[test]
    fn programs_compute() {
        for (code, k, expected) in [
            (0x04, 5, 15),           // A += 5
            (0x14, 11, 0xffff_ffff), // A -= 11
            (0x24, 7, 70),
            (0x34, 3, 3),
            (0x44, 5, 15),
            (0x54, 2, 2),
            (0x64, 31, 0),
            (0x74, 1, 5),
            (0x84, 0, 0xffff_fff6),
            (0xa4, 3, 9),
        ] {
            // A constant result has an action of its own; compare it.
            let insns =
                [(0, 0, 0, 10), (code, 0, 0, k), (0x15, 0, 1, expected), (6, 0, 0, KILL), (6, 0, 0, 1 << 16)];
            assert_eq!(verdict(&insns), KILL, "{code:#x}");
        }
        let by_zero = [(0, 0, 0, 10), (1, 0, 0, 0), (0x3c, 0, 0, 0), (6, 0, 0, SECCOMP_RET_ALLOW)];
        assert_eq!(verdict(&by_zero), 0, "a division by zero ends the program with 0");
    }

    #[test]
    fn bad_programs_are_refused() {
        let ret = (6, 0, 0, 0);
        for insns in [
            &[][..],
            &[(0, 0, 0, 0)],                                        // no return
            &[(0x20, 0, 0, 64), ret],                               // past the data
            &[(0x20, 0, 0, 2), ret],                                // not aligned
            &[(0x28, 0, 0, 0), ret],                                // a halfword
            &[(5, 0, 0, 1), ret],                                   // past the end
            &[(5, 0, 0, u32::MAX), ret],                            // far past the end
            &[(0x15, 1, 0, 0), ret],                                // likewise
            &[(0x34, 0, 0, 0), ret],                                // by zero
            &[(0x64, 0, 0, 32), ret],                               // too far
            &[(0x94, 0, 0, 2), ret],                                // modulo
            &[(0x60, 0, 0, 0), ret],                                // never stored
            &[(2, 0, 0, 16), ret],                                  // no such word
            &[(0x15, 0, 1, 0), (2, 0, 0, 1), (0x60, 0, 0, 1), ret], // stored on one way only
            &[(0xffff, 0, 0, 0), ret],
        ] {
            assert_eq!(Filter::new(&program(insns)).map(drop), Err(Errno::EINVAL), "{insns:x?}");
        }
        let stored = [(2, 0, 0, 1), (0x15, 0, 1, 0), (5, 0, 0, 0), (0x60, 0, 0, 1), ret];
        assert!(Filter::new(&program(&stored)).is_ok());
    }

    #[test]
    fn the_severest_verdict_counts() {
        let mut seccomp = Seccomp::default();
        let verdicts = [SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | 1, SECCOMP_RET_ERRNO | 2, SECCOMP_RET_LOG];
        for verdict in verdicts {
            seccomp.add(Filter::new(&program(&[(6, 0, 0, verdict)])).expect("a program")).expect("room");
        }
        assert_eq!(seccomp.verdict(&CALL), SECCOMP_RET_ERRNO | 2);
        assert_eq!((seccomp.mode(), seccomp.filters()), (SECCOMP_MODE_FILTER, 4));
        assert_eq!(seccomp.set_strict(), Err(Errno::EINVAL));
    }
}
