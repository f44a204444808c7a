//! Answers about the machine and the process, and that no argument brings the kernel down.

use crate::guest::{Fault, Gpr, GuestCpu};
use crate::kernel::clock::CALL_NS;
use crate::kernel::cred::User;
use crate::kernel::process::PID;
use crate::kernel::process::Status;
use crate::kernel::random::Random;
use crate::syscalls::context::Action;
use crate::syscalls::table::Row;
use crate::syscalls::testing::{DATA, DATA_LEN, Machine, STACK};
use crate::syscalls::{exec, futex, mm, process, sched, signal, system, time};

const EPERM: i64 = -1;
const ESRCH: i64 = -3;
const ECHILD: i64 = -10;
const EFAULT: i64 = -14;
const EINVAL: i64 = -22;

/// Those of a native Linux 6.18, where the emulated machine is not a different one.
#[test]
fn odd_arguments() {
    let mut machine = Machine::new();
    let pid = PID as u64;
    let minus = |value: u64| value.wrapping_neg();
    for (name, number, args, expected) in [
        ("prlimit64", 302, [0, 99, 0, 0, 0], EINVAL),
        ("prlimit64", 302, [999_999, 3, 0, 0, 0], ESRCH),
        ("prlimit64", 302, [0, 3, 0, 8, 0], EFAULT),
        ("getrlimit", 97, [16, DATA, 0, 0, 0], EINVAL),
        ("getrusage", 98, [5, DATA, 0, 0, 0], EINVAL),
        ("getrusage", 98, [minus(1), DATA, 0, 0, 0], 0),
        ("getrusage", 98, [0, 8, 0, 0, 0], EFAULT),
        ("prctl", 157, [999, 0, 0, 0, 0], EINVAL),
        ("PR_GET_DUMPABLE", 157, [3, 0, 0, 0, 0], 1),
        ("PR_SET_DUMPABLE", 157, [4, 2, 0, 0, 0], EINVAL),
        ("PR_SET_NO_NEW_PRIVS", 157, [38, 0, 0, 0, 0], EINVAL),
        ("PR_SET_NO_NEW_PRIVS", 157, [38, 1, 1, 0, 0], EINVAL),
        ("PR_SET_NO_NEW_PRIVS", 157, [38, 1, 0, 0, 0], 0),
        ("PR_GET_NO_NEW_PRIVS", 157, [39, 0, 0, 0, 0], 1),
        ("PR_CAPBSET_READ", 157, [23, 40, 0, 0, 0], 1),
        ("PR_CAPBSET_READ", 157, [23, 41, 0, 0, 0], EINVAL),
        ("PR_SET_PDEATHSIG", 157, [1, 65, 0, 0, 0], EINVAL),
        ("PR_SET_NAME", 157, [15, 8, 0, 0, 0], EFAULT),
        ("PR_GET_NAME", 157, [16, 8, 0, 0, 0], EFAULT),
        ("PR_GET_TIMERSLACK", 157, [30, 0, 0, 0, 0], 50_000),
        ("ARCH_SET_FS", 158, [0x1002, 1 << 47, 0, 0, 0], EPERM),
        ("ARCH_GET_FS", 158, [0x1003, 8, 0, 0, 0], EFAULT),
        ("ARCH_GET_CPUID", 158, [0x1011, 0, 0, 0, 0], 1),
        ("ARCH_CET_STATUS", 158, [0x3001, DATA, 0, 0, 0], EINVAL),
        ("setpgid", 109, [0, minus(1), 0, 0, 0], EINVAL),
        ("setpgid", 109, [999_999, 0, 0, 0, 0], ESRCH),
        ("getpgid", 121, [999_999, 0, 0, 0, 0], ESRCH),
        ("setsid", 112, [0, 0, 0, 0, 0], EPERM),
        ("sched_getaffinity", 204, [0, 4, DATA, 0, 0], EINVAL),
        ("sched_getaffinity", 204, [0, 9, DATA, 0, 0], EINVAL),
        ("sched_getaffinity", 204, [0, 8, DATA, 0, 0], 8),
        ("sched_getaffinity", 204, [999_999, 128, DATA, 0, 0], ESRCH),
        ("sched_setaffinity", 203, [0, 0, DATA + 64, 0, 0], EINVAL),
        ("sched_setaffinity", 203, [0, 8, 8, 0, 0], EFAULT),
        ("sched_getscheduler", 145, [minus(1), 0, 0, 0, 0], EINVAL),
        ("sched_getscheduler", 145, [999_999, 0, 0, 0, 0], ESRCH),
        ("sched_getparam", 143, [0, 0, 0, 0, 0], EINVAL),
        ("sched_setscheduler", 144, [0, 99, DATA + 64, 0, 0], EINVAL),
        ("sched_get_priority_max", 146, [1, 0, 0, 0, 0], 99),
        ("sched_get_priority_min", 147, [1, 0, 0, 0, 0], 1),
        ("sched_get_priority_max", 146, [4, 0, 0, 0, 0], EINVAL),
        ("sched_getattr", 315, [0, DATA, 47, 0, 0], EINVAL),
        ("sched_getattr", 315, [0, DATA, 48, 1, 0], EINVAL),
        ("getpriority", 140, [0, 0, 0, 0, 0], 20),
        ("getpriority", 140, [3, 0, 0, 0, 0], EINVAL),
        ("getpriority", 140, [0, 999_999, 0, 0, 0], ESRCH),
        ("getcpu", 309, [8, 0, 0, 0, 0], EFAULT),
        ("set_robust_list", 273, [DATA, 23, 0, 0, 0], EINVAL),
        ("get_robust_list", 274, [999_999, DATA, DATA, 0, 0], ESRCH),
        ("getrandom", 318, [DATA, 8, 8, 0, 0], EINVAL),
        ("getrandom", 318, [DATA, 8, 6, 0, 0], EINVAL),
        ("getrandom", 318, [DATA, 8, 4, 0, 0], 8),
        ("getrandom", 318, [8, 8, 0, 0, 0], EFAULT),
        ("getrandom", 318, [8, 0, 0, 0, 0], 0),
        ("getrandom", 318, [DATA + DATA_LEN - 3, 8, 0, 0, 0], 3),
        ("wait4", 61, [minus(1), 0, 0, 0, 0], ECHILD),
        ("wait4", 61, [minus(1), 0, 0x1000, 0, 0], EINVAL),
        ("wait4", 61, [0x8000_0000, 0, 0, 0, 0], ESRCH),
        ("waitid", 247, [0, 0, DATA, 4, 0], ECHILD),
        ("waitid", 247, [9, 0, DATA, 4, 0], EINVAL),
        ("waitid", 247, [0, 0, DATA, 0, 0], EINVAL),
        ("waitid", 247, [1, 0, DATA, 4, 0], EINVAL),
        ("capget", 125, [8, DATA, 0, 0, 0], EFAULT),
        ("personality", 135, [0xffff_ffff, 0, 0, 0, 0], 0),
        ("getgroups", 115, [minus(1), DATA, 0, 0, 0], EINVAL),
        ("setuid", 105, [minus(1), 0, 0, 0, 0], EINVAL),
        ("uname", 63, [8, 0, 0, 0, 0], EFAULT),
        ("sysinfo", 99, [8, 0, 0, 0, 0], EFAULT),
        ("kcmp", 312, [pid, pid, 2, 0, 0], 0),
        ("nanosleep", 35, [8, 0, 0, 0, 0], EFAULT),
        ("clock_nanosleep", 230, [99, 0, DATA, 0, 0], EINVAL),
        ("clock_nanosleep", 230, [3, 0, DATA + 64, 0, 0], -95),
        ("clock_nanosleep", 230, [4, 0, DATA + 64, 0, 0], -95),
        ("clock_gettime", 228, [1, 0, 0, 0, 0], EFAULT),
        ("clock_getres", 229, [1, 0, 0, 0, 0], 0),
        ("clock_getres", 229, [12, 0, 0, 0, 0], EINVAL),
        ("gettimeofday", 96, [8, 0, 0, 0, 0], EFAULT),
        ("time", 201, [8, 0, 0, 0, 0], EFAULT),
        ("setitimer", 38, [3, DATA + 64, 0, 0, 0], EINVAL),
        ("getitimer", 36, [0, 0, 0, 0, 0], EFAULT),
        ("timer_create", 222, [99, 0, DATA, 0, 0], EINVAL),
        ("timer_create", 222, [5, 0, DATA, 0, 0], -95),
        ("timer_settime", 223, [77, 0, 0, 0, 0], EINVAL),
        ("timer_settime", 223, [77, 0, DATA + 64, 0, 0], EINVAL),
        ("timer_delete", 226, [77, 0, 0, 0, 0], EINVAL),
        ("settimeofday", 164, [DATA + 0x4000, 0, 0, 0, 0], EPERM),
    ] {
        assert_eq!(machine.call(number, &args), expected, "{name} {args:x?}");
    }
}

/// Offsets are `offsetof` of <sys/sysinfo.h> and <sys/utsname.h>.
#[test]
fn structures_have_linux_offsets() {
    let mut machine = Machine::new();
    assert_eq!(machine.call(99, &[DATA]), 0);
    assert_eq!(machine.word(DATA), 1000, "uptime");
    assert_eq!(machine.word(DATA + 32), 4 << 30, "totalram");
    assert_eq!(machine.word(DATA + 80), 2, "procs");
    assert_eq!(machine.word(DATA + 104), 1, "mem_unit");
    assert_eq!(machine.call(63, &[DATA]), 0);
    assert_eq!(machine.get(DATA, 6), b"Linux\0");
    assert_eq!(machine.get(DATA + 4 * 65, 7), b"x86_64\0");
    assert_eq!(machine.get(DATA + 6 * 65, 1), [0]);
}

/// clone(2) and clone3(2), ERRORS: what Linux 6.1 answers.
#[test]
fn flags_of_clone_that_do_not_go_together() {
    const EINVAL: i64 = -22;
    const E2BIG: i64 = -7;
    let mut machine = Machine::new();
    for flags in [0x1_0000, 0x800, 0x1_0800, 0x1000 | 0x10_0000, 0x1_0900 | 0x1000, 0x2_0200] {
        assert_eq!(machine.call(56, &[flags]), EINVAL, "clone {flags:#x}");
    }
    // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
    for (args, size, expected) in [
        ([0; 11], 63, EINVAL),
        ([0; 11], 5000, E2BIG),
        ([0, 0, 0, 0, 65, 0, 0, 0, 0, 0, 0], 64, EINVAL),
        ([17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 64, EINVAL),
        ([0, 0, 0, 0, 17, 0, 4096, 0, 0, 0, 0], 64, EINVAL),
        ([0, 0, 0, 0, 17, DATA, 0, 0, 0, 0, 0], 64, EINVAL),
        ([0x1_0900, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0], 64, EINVAL),
        ([0x1_0000_0900, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0], 64, EINVAL),
        ([0, 0, 0, 0, 17, 0, 0, 0, 0, 1, 0], 88, EINVAL),
    ] {
        machine.put_words(DATA, &args);
        assert_eq!(machine.call(435, &[DATA, size]), expected, "clone3 {args:x?} of {size} bytes");
    }
    machine.put_words(DATA, &[0; 16]);
    machine.put_words(DATA + 96, &[1]);
    assert_eq!(machine.call(435, &[DATA, 104]), E2BIG, "a field that nobody knows");
}

#[test]
fn exit_keeps_eight_bits() {
    for (number, status, kept) in [(60, 300, 44), (231, u64::MAX, 255)] {
        let mut machine = Machine::new();
        assert!(matches!(machine.action(number, &[status]), Action::Gone));
        assert_eq!(machine.kernel.status().map(Status::code), Some(kept));
    }
}

/// Arguments that have tripped kernels: addresses that are good, bad, odd or at an end; small and
/// huge sizes.
#[test]
fn no_argument_brings_the_kernel_down() {
    const VALUES: [u64; 24] = [
        0,
        1,
        2,
        3,
        8,
        9,
        32,
        34,
        4096,
        0x1000_0000,
        PID as u64,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 47,
        1 << 63,
        i64::MAX as u64,
        u64::MAX,
        u64::MAX - 4095,
        0x7fff_ffff_f000,
        DATA,
        DATA + 1,
        DATA + DATA_LEN - 4,
        STACK,
    ];
    let families: [&[Row]; 13] = [
        exec::ROWS,
        futex::ROWS,
        mm::map::ROWS,
        mm::advice::ROWS,
        mm::policy::ROWS,
        process::task::ROWS,
        process::cred::ROWS,
        process::limits::ROWS,
        process::prctl::ROWS,
        sched::ROWS,
        signal::ROWS,
        system::info::ROWS,
        time::ROWS,
    ];
    let numbers: Vec<u64> = families.iter().copied().flatten().map(|row| u64::from(row.number)).collect();
    let mut random = Random::new(2024);
    let mut machine = Machine::new();
    for round in 0..60_000 {
        if round % 200 == 0 {
            machine = Machine::new();
        }
        let mut bytes = [0; 40];
        random.fill(&mut bytes);
        let pick = |at: usize, of: usize| (usize::from(bytes[at]) | usize::from(bytes[at + 1]) << 8) % of;
        let number = numbers[pick(0, numbers.len())];
        let args: [u64; 6] = std::array::from_fn(|at| VALUES[pick(2 + 2 * at, VALUES.len())]);
        if bytes[16] < 100 {
            let words: [u64; 4] = std::array::from_fn(|at| VALUES[pick(18 + 2 * at, VALUES.len())]);
            let at = DATA + u64::from(bytes[30]);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let _ = crate::guest::GuestMemory::write(&mut machine.mem, at, &bytes);
        }
        machine.cpu.instructions = machine.cpu.instructions.saturating_add(u64::from(bytes[31]));
        let _ = machine.action(number, &args);
        if bytes[32] == 0 {
            machine.cpu.set_gpr(Gpr::Rsp, args[0]);
            let _ = machine.fault(Fault::Divide);
        }
    }
}

/// Rights of root over its machine, by the manual pages; outside it would be done to the host.
#[test]
fn calls_are_cpu_time_in_system_mode() {
    let mut machine = Machine::new();
    for _ in 0..5000 {
        machine.call(39, &[]);
    }
    assert_eq!(machine.call(98, &[0, DATA]), 0, "getrusage");
    let words = [0, 8, 16, 24].map(|at| machine.word(DATA + at));
    assert_eq!(words, [0, 0, 0, 5000 * CALL_NS / 1000]);
    assert_eq!(machine.call(228, &[2, DATA]), 0, "CLOCK_PROCESS_CPUTIME_ID");
    assert_eq!(machine.word(DATA + 8), 5002 * CALL_NS);
}

#[test]
fn root_runs_its_machine() {
    let mut machine = Machine::of(User { uid: 0, gid: 0 });
    const SETTIME: u64 = 227;
    machine.put(DATA, b"somewhere else");
    assert_eq!(machine.call(170, &[DATA, 9]), 0, "sethostname");
    assert_eq!(machine.call(171, &[DATA + 10, 4]), 0, "setdomainname");
    assert_eq!(machine.call(170, &[DATA, 65]), EINVAL);
    assert_eq!(machine.call(170, &[DATA, u64::MAX]), EINVAL);
    assert_eq!(machine.call(170, &[8, 4]), EFAULT);
    assert_eq!(machine.call(63, &[DATA + 1024]), 0, "uname");
    assert_eq!(machine.get(DATA + 1024 + 65, 10), b"somewhere\0");
    assert_eq!(machine.get(DATA + 1024 + 5 * 65, 5), b"else\0");

    machine.put_words(DATA, &[1_000_000_000, 5]);
    assert_eq!(machine.call(SETTIME, &[0, DATA]), 0);
    assert_eq!(machine.call(228, &[0, DATA + 64]), 0, "clock_gettime");
    assert_eq!((machine.word(DATA + 64), machine.word(DATA + 72)), (1_000_000_000, 5 + CALL_NS));
    let mut uptime = machine.call(228, &[1, DATA + 64]);
    uptime += machine.word(DATA + 64) as i64;
    assert_eq!(uptime, 1000, "the other clocks go on");
    assert_eq!(machine.call(SETTIME, &[1, DATA]), EINVAL, "CLOCK_MONOTONIC");
    machine.put_words(DATA, &[5, 1_000_000_000]);
    assert_eq!(machine.call(SETTIME, &[0, DATA]), EINVAL);
    machine.put_words(DATA, &[7, 999_999]);
    assert_eq!(machine.call(164, &[DATA, 0]), 0, "settimeofday");
    assert_eq!(machine.call(201, &[0]), 7, "time");

    const CLONE_NEWNS: u64 = 0x2_0000;
    for (name, number, args, expected) in [
        ("unshare", 272, [CLONE_NEWNS, 0, 0], 0),
        ("vhangup", 153, [0; 3], 0),
        ("reboot", 169, [0; 3], EINVAL),
        ("reboot, Ctrl-Alt-Del", 169, [0xfee1_dead, 672_274_793, 0], 0),
        ("syslog, size", 103, [10, 0, 0], 262_144),
        ("syslog, all", 103, [3, DATA, 100], 0),
        ("syslog", 103, [11, 0, 0], EINVAL),
        ("ioperm", 173, [0x378, 3, 1], EPERM),
        ("setpriority", 141, [0, 0, (-20i64) as u64], 0),
    ] {
        assert_eq!(machine.call(number, &args), expected, "{name}");
    }
    match machine.action(169, &[0xfee1_dead, 672_274_793, 0x4321_fedc]) {
        Action::Refuse(why) => assert!(why.contains("reboot"), "{why}"),
        other => panic!("{other:?}"),
    }
}
