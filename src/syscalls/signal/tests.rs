//! The frame's layout and the rules around it. Offsets are `offsetof` of Debian 12's <ucontext.h>
//! and <signal.h> on x86-64, with `struct rt_sigframe { char *pretcode; struct ucontext uc;
//! siginfo_t info; }`: uc_flags 0, uc_stack 16, uc_mcontext 40, its r8 0, rdi 64, rax 104, rsp 120,
//! rip 128, eflags 136, cs 144, err 152, trapno 160, oldmask 168, cr2 176, fpstate 184; uc_sigmask
//! 296; siginfo 128 bytes with si_code 8, si_pid and si_addr 16, si_uid 20, si_value 24. Answers to
//! odd arguments are those of a native Linux.

use crate::abi::signal::{AltStack, SIG_DFL, SIG_IGN, SigAction, bit, sa, signo::*};
use crate::guest::fake::{FakeCpu, FakeMemory};
use crate::guest::{Fault, Gpr, GuestCpu};
use crate::kernel::clock::{CALL_NS, SWITCH_NS};
use crate::kernel::process::PID;
use crate::kernel::signal::state::Signals;
use crate::syscalls::context::Action;
use crate::syscalls::dispatch;
use crate::syscalls::testing::{DATA, Machine, STACK};

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGABRT: i32 = 6;

const HANDLER: u64 = 0x40_2000;
const RESTORER: u64 = 0x40_3000;

const RT_SIGACTION: u64 = 13;
const RT_SIGPROCMASK: u64 = 14;
const RT_SIGRETURN: u64 = 15;
const PAUSE: u64 = 34;
const SETITIMER: u64 = 38;
const GETPID: u64 = 39;
const KILL: u64 = 62;
const RT_SIGPENDING: u64 = 127;
const RT_SIGTIMEDWAIT: u64 = 128;
const RT_SIGSUSPEND: u64 = 130;
const SIGALTSTACK: u64 = 131;
const TKILL: u64 = 200;
const TGKILL: u64 = 234;
const FUTEX: u64 = 202;

const EINTR: i64 = -4;
const EAGAIN: i64 = -11;
const ENOMEM: i64 = -12;
const EFAULT: i64 = -14;
const EINVAL: i64 = -22;
const ESRCH: i64 = -3;
const EPERM: i64 = -1;

fn handle(machine: &mut Machine, signo: i32, flags: u64, mask: u64) {
    machine.put_words(DATA, &[HANDLER, flags | sa::RESTORER, RESTORER, mask]);
    assert_eq!(machine.call(RT_SIGACTION, &[signo as u64, DATA, 0, 8]), 0);
}

/// Returns from a handler: `ret` to the restorer, which makes the call.
fn sigreturn(machine: &mut Machine) -> Action {
    assert_eq!(machine.word(machine.cpu.gpr(Gpr::Rsp)), RESTORER);
    machine.cpu.gprs[Gpr::Rsp as usize] += 8;
    machine.cpu.rip = RESTORER + 9;
    machine.action(RT_SIGRETURN, &[])
}

/// A handler and its return change some registers and keep the others.
fn registers(cpu: &FakeCpu) -> ([u64; 16], u64, u64) {
    (cpu.gprs, cpu.rip, cpu.rflags)
}

#[test]
fn the_frame_has_linux_offsets() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGFPE, sa::SIGINFO, bit(SIGHUP));
    for (at, gpr) in machine.cpu.gprs.iter_mut().enumerate() {
        *gpr = 0x1111 * (at as u64 + 1);
    }
    machine.cpu.set_gpr(Gpr::Rsp, STACK - 1000);
    machine.cpu.rflags = 0x647; // DF, ZF, PF, CF
    machine.cpu.fpu = std::array::from_fn(|at| at as u8);
    machine.cpu.fpu[24..28].copy_from_slice(&0x1fa0_u32.to_le_bytes());
    machine.kernel.task_mut().signals.blocked = bit(SIGINT);
    let before = registers(&machine.cpu);
    let image = machine.cpu.fpu;
    let rip = machine.cpu.rip;

    let action = machine.fault(Fault::Divide);
    assert!(matches!(action, Action::Continue));
    let frame = machine.cpu.gpr(Gpr::Rsp);
    let (uc, info) = (frame + 8, frame + 312);
    assert_eq!(machine.cpu.rip(), HANDLER);
    assert_eq!(frame & 15, 8, "as after a call instruction");
    assert_eq!(machine.cpu.gpr(Gpr::Rdi), SIGFPE as u64);
    assert_eq!(machine.cpu.gpr(Gpr::Rsi), info);
    assert_eq!(machine.cpu.gpr(Gpr::Rdx), uc);
    assert_eq!(machine.cpu.gpr(Gpr::Rax), 0);
    assert_eq!(machine.cpu.rflags(), 0x247, "DF is clear in a handler");
    assert_eq!(machine.cpu.fpu[..2], 0x37f_u16.to_le_bytes());
    assert_eq!(machine.kernel.task_mut().signals.blocked, bit(SIGINT) | bit(SIGHUP) | bit(SIGFPE));

    assert_eq!(machine.word(frame), RESTORER);
    assert_eq!(machine.word(uc), 6);
    assert_eq!((machine.word(uc + 16), machine.word(uc + 24), machine.word(uc + 32)), (0, 2, 0));
    let context = uc + 40;
    assert_eq!(machine.word(context), 0x1111 * 9, "r8");
    assert_eq!(machine.word(context + 64), 0x1111 * 8, "rdi");
    assert_eq!(machine.word(context + 104), 0x1111, "rax");
    assert_eq!(machine.word(context + 120), STACK - 1000, "rsp");
    assert_eq!(machine.word(context + 128), rip);
    assert_eq!(machine.word(context + 136), 0x647);
    assert_eq!(machine.word(context + 144), 0x002b_0000_0000_0033);
    assert_eq!((machine.word(context + 152), machine.word(context + 160)), (0, 0));
    assert_eq!(machine.word(context + 168), bit(SIGINT), "oldmask");
    let fpstate = machine.word(context + 184);
    assert_eq!(fpstate % 64, 0);
    assert!(fpstate >= frame + 440 && fpstate + 512 <= STACK - 1000 - 128, "below the red zone");
    assert_eq!(machine.get(fpstate, 512), image);
    assert_eq!(machine.word(uc + 296), bit(SIGINT));
    assert_eq!(machine.word(info) as u32, SIGFPE as u32);
    assert_eq!(machine.word(info + 8) as u32, 1, "FPE_INTDIV");
    assert_eq!(machine.word(info + 16), rip);

    // An edited context is what comes back.
    machine.put_words(context + 128, &[rip + 2]);
    assert!(matches!(sigreturn(&mut machine), Action::Continue));
    assert_eq!(registers(&machine.cpu), (before.0, before.1 + 2, before.2));
    assert_eq!(machine.cpu.fpu, image);
    assert_eq!(machine.kernel.task_mut().signals.blocked, bit(SIGINT));
}

/// si_code, si_addr, trapno, err and cr2 as a native Linux gave them for the same faults.
#[test]
fn faults_become_signals() {
    let rip = 0x40_1000;
    let page = |addr, write, fetch, mapped| Fault::Page { addr, write, fetch, mapped };
    let cases = [
        (page(16, true, false, false), SIGSEGV, 1, 16, 14, 6),
        (page(0x5000, true, false, true), SIGSEGV, 2, 0x5000, 14, 7),
        (page(0x5000, false, true, true), SIGSEGV, 2, 0x5000, 14, 21),
        (page(0xffff_8000_0000_0000, true, false, false), SIGSEGV, 1, 0xffff_8000_0000_0000, 14, 7),
        (Fault::Bus { addr: 0x6004 }, SIGBUS, 2, 0x6004, 14, 4),
        (Fault::Protection { error: 0x6b }, SIGSEGV, 0x80, 0, 13, 0x6b),
        (Fault::Stack, SIGBUS, 0x80, 0, 12, 0),
        (Fault::Overflow, SIGSEGV, 0x80, 0, 4, 0),
        (Fault::KernelStore { addr: 0x8000_0000_0000 }, SIGSEGV, 1, 0x8000_0000_0000, 14, 6),
        (Fault::Divide, SIGFPE, 1, rip, 0, 0),
        (Fault::InvalidOpcode, SIGILL, 2, rip, 6, 0),
        (Fault::Breakpoint, SIGTRAP, 0x80, 0, 3, 0),
        (Fault::Debug, SIGTRAP, 2, rip, 1, 0),
        (Fault::Icebp, SIGTRAP, 1, rip, 1, 0),
        (Fault::Alignment, SIGBUS, 1, 0, 17, 0),
    ];
    for (fault, signo, code, addr, trapno, error) in cases {
        let mut machine = Machine::new();
        handle(&mut machine, signo, sa::SIGINFO, 0);
        machine.cpu.rip = rip;
        let action = machine.fault(fault);
        assert!(matches!(action, Action::Continue), "{fault:?}");
        let frame = machine.cpu.gpr(Gpr::Rsp);
        let info = frame + 312;
        assert_eq!(machine.word(info) as i32, signo, "{fault:?}");
        assert_eq!(machine.word(info + 8) as u32 as i32, code, "{fault:?}");
        assert_eq!(machine.word(info + 16), addr, "{fault:?}");
        assert_eq!(machine.word(frame + 48 + 160), trapno, "{fault:?}");
        assert_eq!(machine.word(frame + 48 + 152), error, "{fault:?}");
    }
}

/// With x87 division by zero unmasked (FCW 0x37b) and pending, then the same for SSE (MXCSR
/// 0x1d80).
#[test]
fn floating_point_codes() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGFPE, sa::SIGINFO | sa::NODEFER, 0);
    machine.cpu.fpu[..4].copy_from_slice(&[0x7b, 3, 4, 0x80]);
    machine.fault(Fault::FloatingPoint);
    let frame = machine.cpu.gpr(Gpr::Rsp);
    assert_eq!((machine.word(frame + 312 + 8) as u32, machine.word(frame + 48 + 160)), (3, 16));
    machine.cpu.fpu[24..28].copy_from_slice(&0x1d84_u32.to_le_bytes());
    machine.fault(Fault::FloatingPoint);
    let frame = machine.cpu.gpr(Gpr::Rsp);
    assert_eq!((machine.word(frame + 312 + 8) as u32, machine.word(frame + 48 + 160)), (3, 19));
}

#[test]
fn a_fault_that_is_blocked_or_ignored_kills() {
    let kill = |prepare: fn(&mut Signals)| {
        let mut machine = Machine::new();
        handle(&mut machine, SIGSEGV, 0, 0);
        prepare(&mut machine.kernel.signals());
        machine.fault(Fault::Protection { error: 0 });
        machine.killed()
    };
    assert_eq!(kill(|_| {}), None);
    assert_eq!(kill(|signals| signals.task.blocked = bit(SIGSEGV)), Some(SIGSEGV));
    let ignore = |signals: &mut Signals| {
        signals.set_action(SIGSEGV, SigAction { handler: SIG_IGN, ..SigAction::default() });
    };
    assert_eq!(kill(ignore), Some(SIGSEGV));
}

#[test]
fn a_frame_that_cannot_be_written_kills() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGUSR, 0, 0);
    machine.cpu.set_gpr(Gpr::Rsp, 0x3000);
    let action = machine.action(KILL, &[PID as u64, SIGUSR as u64]);
    assert_eq!(machine.killed(), Some(SIGSEGV), "{action:?}");
    // And so does a handler without a restorer.
    let mut machine = Machine::new();
    machine.put_words(DATA, &[HANDLER, 0, 0, 0]);
    machine.call(RT_SIGACTION, &[SIGSEGV as u64, DATA, 0, 8]);
    let action = machine.fault(Fault::Protection { error: 0 });
    assert_eq!(machine.killed(), Some(SIGSEGV), "{action:?}");
}

const SIGUSR: i32 = 10;

#[test]
fn a_bad_frame_is_a_segmentation_fault() {
    let mut machine = Machine::new();
    machine.cpu.set_gpr(Gpr::Rsp, 0x3000);
    assert!(matches!(machine.action(RT_SIGRETURN, &[]), Action::Gone));
    assert_eq!(machine.killed(), Some(SIGSEGV));
    let mut machine = Machine::new();
    handle(&mut machine, SIGUSR, 0, 0);
    machine.call(TKILL, &[PID as u64, SIGUSR as u64]);
    let frame = machine.cpu.gpr(Gpr::Rsp);
    let fpstate = machine.word(frame + 48 + 184);
    machine.put(fpstate + 24, &[0xff; 4]);
    sigreturn(&mut machine);
    assert_eq!(machine.killed(), Some(SIGSEGV), "reserved bits of MXCSR");
}

#[test]
fn altstack_rules() {
    let mut machine = Machine::new();
    let set = |machine: &mut Machine, sp, flags, size| {
        machine.put_words(DATA, &[sp, flags, size]);
        machine.call(SIGALTSTACK, &[DATA, 0])
    };
    assert_eq!(machine.call(SIGALTSTACK, &[0, DATA]), 0);
    assert_eq!((machine.word(DATA), machine.word(DATA + 8), machine.word(DATA + 16)), (0, 2, 0));
    let alt = DATA + 0x2000;
    assert_eq!(set(&mut machine, alt, 0, 2047), ENOMEM);
    assert_eq!(set(&mut machine, alt, 3, 0x2000), EINVAL);
    assert_eq!(set(&mut machine, alt, 4, 0x2000), EINVAL);
    assert_eq!(machine.call(SIGALTSTACK, &[8, 0]), EFAULT);
    assert_eq!(set(&mut machine, alt, 0x8000_0001, 0x2000), 0);
    assert_eq!(set(&mut machine, alt, 1, 0x2000), 0);

    handle(&mut machine, SIGUSR, sa::ONSTACK | sa::NODEFER, 0);
    let sp = machine.cpu.gpr(Gpr::Rsp);
    call_into_handler(&mut machine, SIGUSR);
    let first = machine.cpu.gpr(Gpr::Rsp);
    assert!(first > alt && first < alt + 0x2000);
    assert_eq!(set(&mut machine, alt, 0, 0x2000), EPERM, "it is in use");
    assert_eq!(machine.call(SIGALTSTACK, &[0, DATA]), 0);
    assert_eq!(machine.word(DATA + 8), 1, "SS_ONSTACK");
    // A second signal goes below the first, and one that would run off the stack kills.
    call_into_handler(&mut machine, SIGUSR);
    assert!(machine.cpu.gpr(Gpr::Rsp) < first);
    sigreturn(&mut machine);
    sigreturn(&mut machine);
    assert_eq!(machine.cpu.gpr(Gpr::Rsp), sp);
    machine.cpu.set_gpr(Gpr::Rsp, alt + 0x100);
    let action = machine.action(KILL, &[PID as u64, SIGUSR as u64]);
    assert_eq!(machine.killed(), Some(SIGSEGV), "{action:?}");
}

#[test]
fn autodisarm_takes_the_stack_away_until_the_return() {
    let mut machine = Machine::new();
    let alt = DATA + 0x2000;
    machine.put_words(DATA, &[alt, 0x8000_0000, 0x2000]);
    assert_eq!(machine.call(SIGALTSTACK, &[DATA, 0]), 0);
    handle(&mut machine, SIGUSR, sa::ONSTACK, 0);
    call_into_handler(&mut machine, SIGUSR);
    assert!(machine.kernel.task_mut().signals.altstack.size == 0);
    sigreturn(&mut machine);
    assert_eq!(
        machine.kernel.task_mut().signals.altstack,
        AltStack { sp: alt, flags: 0x8000_0000, size: 0x2000 }
    );
}

#[test]
fn odd_arguments() {
    let mut machine = Machine::new();
    for (number, args, expected) in [
        (RT_SIGACTION, [0, 0, 0, 8], EINVAL),
        (RT_SIGACTION, [65, 0, 0, 8], EINVAL),
        (RT_SIGACTION, [9, 0, 0, 8], 0),
        (RT_SIGACTION, [9, DATA, 0, 8], EINVAL),
        (RT_SIGACTION, [9, 8, 0, 8], EFAULT),
        (RT_SIGACTION, [1, 0, 0, 4], EINVAL),
        (RT_SIGACTION, [1, 0, 8, 8], EFAULT),
        (RT_SIGPROCMASK, [7, 0, 0, 8], 0),
        (RT_SIGPROCMASK, [7, DATA, 0, 8], EINVAL),
        (RT_SIGPROCMASK, [0, DATA, 0, 16], EINVAL),
        (RT_SIGPROCMASK, [0, 8, 0, 8], EFAULT),
        (RT_SIGPENDING, [DATA, 4, 0, 0], 0),
        (RT_SIGPENDING, [DATA, 9, 0, 0], EINVAL),
        (KILL, [PID as u64, 65, 0, 0], EINVAL),
        (KILL, [999_999, 65, 0, 0], ESRCH),
        (KILL, [0x8000_0000, 0, 0, 0], ESRCH),
        (TGKILL, [PID as u64, PID as u64, 65, 0], EINVAL),
        (TGKILL, [u64::MAX, PID as u64, 0, 0], EINVAL),
        (TGKILL, [PID as u64, 999_999, 0, 0], ESRCH),
        (TGKILL, [1, PID as u64, 0, 0], ESRCH),
        (TKILL, [0, 0, 0, 0], EINVAL),
        (TKILL, [PID as u64, 0, 0, 0], 0),
        (RT_SIGTIMEDWAIT, [8, 0, 0, 8], EFAULT),
        (RT_SIGTIMEDWAIT, [DATA, 0, 0, 4], EINVAL),
        (RT_SIGTIMEDWAIT, [DATA, 0, DATA, 8], EAGAIN),
    ] {
        assert_eq!(machine.call(number, &args), expected, "{number} {args:x?}");
    }
}

#[test]
fn pending_signals_wait_for_the_mask() {
    let mut machine = Machine::new();
    let rt = SIGRTMIN + 2;
    for signo in [SIGUSR, 12, rt] {
        handle(&mut machine, signo, sa::SIGINFO, u64::MAX);
    }
    machine.put_words(DATA, &[bit(SIGUSR) | bit(12) | bit(rt)]);
    assert_eq!(machine.call(RT_SIGPROCMASK, &[0, DATA, 0, 8]), 0);
    for signo in [12, SIGUSR, SIGUSR, rt, rt] {
        assert_eq!(machine.call(TGKILL, &[PID as u64, PID as u64, signo as u64]), 0);
    }
    assert_eq!(machine.call(RT_SIGPENDING, &[DATA + 64, 8]), 0);
    assert_eq!(machine.word(DATA + 64), bit(SIGUSR) | bit(12) | bit(rt));
    // The lowest comes first and blocks the others; each comes as the one before returns.
    let (rip, sp) = (machine.cpu.rip, machine.cpu.gpr(Gpr::Rsp));
    assert!(matches!(machine.action(RT_SIGPROCMASK, &[1, DATA, 0, 8]), Action::Continue));
    for signo in [SIGUSR, 12, rt, rt] {
        assert_eq!(machine.cpu.gpr(Gpr::Rdi), signo as u64);
        let info = machine.cpu.gpr(Gpr::Rsi);
        assert_eq!(machine.word(info + 8) as u32 as i32, -6, "SI_TKILL");
        assert_eq!(
            machine.word(info + 16),
            PID as u64 | u64::from(machine.kernel.task().cred.uid.real) << 32
        );
        sigreturn(&mut machine);
    }
    assert_eq!((machine.cpu.rip, machine.cpu.gpr(Gpr::Rsp)), (rip, sp));
    assert_eq!(machine.cpu.gpr(Gpr::Rax), 0, "what rt_sigprocmask returned");
    assert_eq!(machine.kernel.task_mut().signals.blocked, 0);
}

#[test]
fn default_actions() {
    let send = |signo: i32| {
        let mut machine = Machine::new();
        machine.action(KILL, &[PID as u64, signo as u64]);
        machine.killed()
    };
    assert_eq!(send(15), Some(15));
    assert_eq!(send(SIGKILL), Some(SIGKILL));
    assert_eq!(send(SIGABRT), Some(SIGABRT));
    assert_eq!(send(SIGRTMAX), Some(SIGRTMAX));
    for signo in [SIGCHLD, SIGURG, SIGWINCH, SIGCONT] {
        assert_eq!(send(signo), None);
    }
    let mut machine = Machine::new();
    assert_eq!(machine.call(KILL, &[PID as u64, SIGSTOP as u64]), 0);
    assert_eq!(machine.kernel.notices.lines(|_| None).len(), 1);
}

#[test]
fn resethand_and_queued_values() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGUSR, sa::SIGINFO | sa::RESETHAND, 0);
    machine.put_words(DATA, &[0, 0xffff_ffff, 0x1234, 7]);
    assert!(matches!(machine.action(129, &[PID as u64, SIGUSR as u64, DATA]), Action::Continue));
    let info = machine.cpu.gpr(Gpr::Rsi);
    assert_eq!(machine.word(info) as u32, SIGUSR as u32);
    assert_eq!((machine.word(info + 8) as u32 as i32, machine.word(info + 24)), (-1, 7));
    assert_eq!(machine.kernel.handlers().get(SIGUSR).handler, SIG_DFL);
}

/// Milliseconds since the beginning; calls and turns take some nanoseconds more.
fn elapsed_ms(machine: &Machine) -> u64 {
    machine.kernel.clock.now_ns(0) / 1_000_000
}

/// itimerval of one shot after 20 ms.
fn arm(machine: &mut Machine) {
    machine.put_words(DATA + 128, &[0, 0, 0, 20_000]);
    assert_eq!(machine.call(SETITIMER, &[0, DATA + 128, 0]), 0);
}

#[test]
fn a_timer_ends_pause_and_the_clock_moves() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGALRM, 0, 0);
    assert!(matches!(machine.action(PAUSE, &[]), Action::Refuse(_)), "nothing could end it");
    arm(&mut machine);
    let rip = machine.cpu.rip;
    machine.action(PAUSE, &[]);
    assert_eq!(machine.cpu.rip, HANDLER);
    assert_eq!(elapsed_ms(&machine), 20);
    sigreturn(&mut machine);
    assert_eq!((machine.cpu.gpr(Gpr::Rax) as i64, machine.cpu.rip), (EINTR, rip));
}

#[test]
fn an_ignored_timer_does_not_end_a_wait() {
    let mut machine = Machine::new();
    machine.put_words(DATA + 128, &[0, 1000, 0, 1000]);
    machine.call(SETITIMER, &[0, DATA + 128, 0]);
    let ignore = SigAction { handler: SIG_IGN, ..SigAction::default() };
    machine.kernel.signals().set_action(SIGALRM, ignore);
    assert!(matches!(machine.action(PAUSE, &[]), Action::Refuse(_)));
    machine.put_words(DATA, &[2, 0]);
    assert_eq!(machine.call(35, &[DATA, 0]), 0);
    assert_eq!(elapsed_ms(&machine), 2000);
}

#[test]
fn nanosleep_tells_what_is_left() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGALRM, sa::RESTART, 0);
    arm(&mut machine);
    machine.put_words(DATA, &[2, 0]);
    machine.action(35, &[DATA, DATA + 32]);
    assert_eq!(machine.cpu.rip, HANDLER);
    let left = (machine.word(DATA + 32), machine.word(DATA + 40));
    assert_eq!(left, (1, 980_000_000 + CALL_NS - SWITCH_NS));
    sigreturn(&mut machine);
    assert_eq!(machine.cpu.gpr(Gpr::Rax) as i64, EINTR, "never restarted");
}

#[test]
fn sa_restart_starts_the_call_again() {
    for (flags, restarts) in [(sa::RESTART, true), (0, false)] {
        let mut machine = Machine::new();
        handle(&mut machine, SIGALRM, flags, 0);
        arm(&mut machine);
        let rip = machine.cpu.rip;
        machine.put_words(DATA, &[5]);
        machine.action(FUTEX, &[DATA, 0, 5, 0]);
        assert_eq!(machine.cpu.rip, HANDLER);
        sigreturn(&mut machine);
        let expected = if restarts { (FUTEX as i64, rip - 2) } else { (EINTR, rip) };
        assert_eq!((machine.cpu.gpr(Gpr::Rax) as i64, machine.cpu.rip), expected);
        assert_eq!(machine.cpu.gpr(Gpr::Rdi), DATA);
    }
}

#[test]
fn sigsuspend_restores_the_mask() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGALRM, 0, 0);
    machine.kernel.task_mut().signals.blocked = bit(SIGALRM);
    arm(&mut machine);
    machine.put_words(DATA, &[bit(SIGINT)]);
    machine.action(RT_SIGSUSPEND, &[DATA, 8]);
    assert_eq!(machine.cpu.rip, HANDLER);
    assert_eq!(machine.kernel.task_mut().signals.blocked, bit(SIGINT) | bit(SIGALRM));
    let frame = machine.cpu.gpr(Gpr::Rsp);
    assert_eq!(machine.word(frame + 304), bit(SIGALRM), "the mask of before the call");
    sigreturn(&mut machine);
    assert_eq!(machine.kernel.task_mut().signals.blocked, bit(SIGALRM));
    assert_eq!(machine.cpu.gpr(Gpr::Rax) as i64, EINTR);
}

/// A poll that finds its event leaves a signal pending that only its mask lets through, as in
/// Linux.
#[test]
fn a_mask_of_a_call_that_was_not_interrupted_goes_first() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGUSR, 0, 0);
    machine.kernel.task_mut().signals.blocked = bit(SIGUSR);
    machine.kernel.raise(SIGUSR);
    machine.kernel.signals().set_temporary_mask(0);
    assert_eq!(machine.call(GETPID, &[]), i64::from(PID));
    assert_ne!(machine.cpu.rip, HANDLER);
    assert_eq!(machine.kernel.task_mut().signals.blocked, bit(SIGUSR));
    assert_eq!(machine.kernel.signals().pending(), bit(SIGUSR));
}

#[test]
fn sigtimedwait_takes_what_it_waits_for() {
    let mut machine = Machine::new();
    machine.kernel.task_mut().signals.blocked = bit(SIGALRM);
    machine.put_words(DATA, &[bit(SIGALRM), 0, 1, 0]);
    arm(&mut machine);
    assert_eq!(machine.call(RT_SIGTIMEDWAIT, &[DATA, DATA + 256, DATA + 16, 8]), i64::from(SIGALRM));
    assert_eq!(machine.word(DATA + 256 + 8) as u32, 0x80, "SI_KERNEL");
    assert_eq!(elapsed_ms(&machine), 20);
    assert_eq!(machine.call(RT_SIGTIMEDWAIT, &[DATA, 0, DATA + 16, 8]), EAGAIN);
    assert_eq!(elapsed_ms(&machine), 1020);
    let action = machine.action(RT_SIGTIMEDWAIT, &[DATA, 0, 0, 8]);
    assert!(matches!(action, Action::Refuse(_)));
}

#[test]
fn a_call_returns_before_the_handler_runs() {
    let mut machine = Machine::new();
    handle(&mut machine, SIGALRM, 0, 0);
    arm(&mut machine);
    machine.cpu.instructions = 20_000_000;
    machine.action(GETPID, &[]);
    assert_eq!(machine.cpu.rip, HANDLER);
    sigreturn(&mut machine);
    assert_eq!(machine.cpu.gpr(Gpr::Rax), PID as u64);
}

#[test]
fn exec_keeps_what_is_ignored() {
    let mut machine = Machine::new();
    let mut signals = machine.kernel.signals();
    signals.set_action(1, SigAction { handler: SIG_IGN, flags: 5, restorer: 6, mask: 7 });
    signals.set_action(2, SigAction { handler: HANDLER, flags: 5, restorer: 6, mask: 7 });
    signals.task.blocked = 8;
    machine.kernel.exec(&mut machine.mem);
    let signals = machine.kernel.signals();
    assert_eq!(signals.handlers.get(1), SigAction { handler: SIG_IGN, ..SigAction::default() });
    assert_eq!(signals.handlers.get(2), SigAction::default());
    assert_eq!(signals.task.blocked, 8);
}

/// Sends a signal to the process and checks that a handler is about to run.
fn call_into_handler(machine: &mut Machine, signo: i32) {
    let action = machine.action(KILL, &[PID as u64, signo as u64]);
    assert!(matches!(action, Action::Continue), "{action:?}");
    assert_eq!(machine.cpu.rip, HANDLER);
    machine.cpu.rip = 0x40_1000;
}

/// No register values and no stack contents may bring the kernel down.
#[test]
fn any_frame_can_be_returned_through() {
    let mut random = crate::kernel::random::Random::new(7);
    for _ in 0..300 {
        let mut machine = Machine::new();
        let mut bytes = [0; 512];
        random.fill(&mut bytes);
        bytes[8 + 40 + 144 - 8..][..2].copy_from_slice(&[0x33, 0]);
        machine.put(DATA, &bytes);
        machine.cpu.set_gpr(Gpr::Rsp, DATA + u64::from(bytes[0] & 1) * 4);
        let _ = machine.action(RT_SIGRETURN, &[]);
        let _ = machine.fault(Fault::Protection { error: 0 });
    }
    let mut empty = FakeMemory::new();
    let mut machine = Machine::new();
    handle(&mut machine, SIGSEGV, sa::ONSTACK, 0);
    let action =
        dispatch::fault(&mut machine.kernel, &mut machine.cpu, &mut empty, Fault::Protection { error: 0 });
    assert_eq!(machine.killed(), Some(SIGSEGV), "{action:?}");
}
