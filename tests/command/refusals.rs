//! What is refused, answered otherwise or dropped, and what is said about it.

use std::fs;

use crate::common::stderr;
use crate::limits::{ends, run, temporary};

#[test]
fn instructions_that_the_cpu_lacks_are_refused_by_name() {
    let text =
        "void wide(void) {\n__asm__ volatile(\"vaddps %ymm0, %ymm1, %ymm2\"); }\nint main(void) { wide(); }";
    ends(&[], text, 125, &["vaddps", "wide", "p.c:2", "0x", "AVX"]);
}

/// Whatever is refused names the call, the place, and where it stops the run also what to do.
#[test]
fn what_is_not_there_is_named_with_its_place() {
    let text = "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
        #include <sys/prctl.h>\n#include <sys/ioctl.h>\n#include <sys/mman.h>\n#include <sched.h>\n\
        int main(void) {\nsyscall(1000);\nsyscall(SYS_fanotify_init);\nprctl(62, 0);\nioctl(0, 0x1234);\n\
        madvise(0, 4096, 99);\nsyscall(SYS_futex, &text, 99);\nreturn 0; }\n"
        .replace("&text", "\"\"");
    let dir = temporary();
    let out = run(dir.path(), &[], &text);
    let log = stderr(&out);
    assert_eq!(out.status.code(), Some(0), "{log}");
    for (what, line) in [
        ("unknown system call 1000: answered with ENOSYS", 10),
        ("fanotify_init is not emulated: answered with ENOSYS", 11),
        ("prctl: PR_SCHED_CORE (0x0) is refused with EINVAL", 12),
        ("ioctl 0x1234: answered with ENOTTY", 13),
        ("futex: operation 99", 15),
    ] {
        let found = log.lines().find(|text| text.contains(what));
        let found = found.unwrap_or_else(|| panic!("{what} is not in {log}"));
        assert!(found.contains(", at 0x") && found.ends_with(&format!("p.c:{line})")), "{found}");
    }
    let reboots = "#include <unistd.h>\n#include <sys/syscall.h>\nint main(void) {\n\
        return syscall(SYS_reboot, 0xfee1dead, 672274793, 0x4321fedc, 0); }";
    ends(&["--user=0"], reboots, 125, &["reboot", "complete up to here; at 0x", "(main, /", "p.c:4)"]);
    let log =
        "#include <unistd.h>\n#include <sys/klog.h>\nint main(void) {\nchar c; return klogctl(2, &c, 1); }";
    ends(&["--user=0"], log, 125, &["syslog", "SYSLOG_ACTION_READ_ALL", "(main, /", "p.c:4)"]);
}

#[test]
fn what_is_dropped_is_said() {
    let text = "#include <stdio.h>\nint main(void) { FILE *f = fopen(\"made\", \"w\"); fputs(\"x\", f);\
        return fclose(f) || fopen(\"made\", \"r\") == 0; }";
    let dir = temporary();
    let out = run(dir.path(), &[], text);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stderr(&out).contains("dropped") && stderr(&out).contains("--allow-write"), "{}", stderr(&out));
    assert!(!dir.path().join("made").exists());
    let out = run(dir.path(), &["--allow-write=."], text);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert_eq!(fs::read(dir.path().join("made")).expect("read"), b"x");
    assert!(!stderr(&out).contains("--allow-write"), "{}", stderr(&out));
}

/// Every CPU has them, so a signal would be wrong even where the program catches it.
#[test]
fn far_transfers_are_refused_by_name() {
    let push = "push $0x23; lea 1f(%rip), %rax; push %rax; lretq; 1:";
    let all =
        "mov %rsp, %rax; push $0x2b; push %rax; pushfq; push $0x23; lea 1f(%rip), %rax; push %rax; iretq; 1:";
    let (segments, calls) = ("use a near jump", "make them with `syscall`");
    for (code, name, instead) in [
        (push, "lretq", segments),
        (all, "iretq", segments),
        ("ljmp *(%rsp)", "ljmp", segments),
        ("lcall *(%rsp)", "lcall", segments),
        ("mov $20, %eax; int $0x80", "int $0x80", calls),
    ] {
        let text = format!(
            "#include <signal.h>\n#include <stdlib.h>\nstatic void caught(int s) {{ _Exit(s); }}\n\
             int main(void) {{ signal(SIGILL, caught); signal(SIGSEGV, caught);\
             asm volatile(\"{code}\"); return 0; }}"
        );
        ends(&[], &text, 125, &[&format!("cannot emulate `{name}"), "(main", instead]);
    }
}

/// `vsyscall=xonly` of Linux: the calls are there, and cannot be read.
#[test]
fn the_vsyscall_page_is_called_and_not_read() {
    let head = "#include <sys/time.h>\n#include <time.h>\n\
        static char *page = (char *)0xffffffffff600000;\nint main(void) {";
    let calls = "struct timeval now = {0}; unsigned cpu = 7, node = 7; time_t seconds;\
        if (((int (*)(void *, void *))page)(&now, 0) || now.tv_sec < 1000000) return 1;\
        if (((time_t (*)(time_t *))(page + 0x400))(&seconds) != seconds || seconds < now.tv_sec) return 2;\
        if (((int (*)(void *, void *))(page + 0x800))(&cpu, &node) || cpu || node) return 3; return 0; }";
    ends(&[], &format!("{head} {calls}"), 0, &[]);
    ends(&[], &format!("{head} return *(volatile char *)page; }}"), 139, &["read of 0xffffffffff600000"]);
    ends(&[], &format!("{head} ((void (*)(void))(page + 0xc00))(); }}"), 139, &[]);
}

#[test]
fn unknown_calls_do_not_fill_the_log() {
    let text = "#include <unistd.h>\n#include <sys/syscall.h>\n#include <sys/prctl.h>\n\
        int main(void) { for (long n = 1000; n < 61000; n++) { if (syscall(n) != -1) return 1; prctl(n, n); }\
        for (int i = 0; i < 50; i++) syscall(1003); return 0; }";
    let dir = temporary();
    let out = run(dir.path(), &[], text);
    let log = stderr(&out);
    assert_eq!(out.status.code(), Some(0), "{log}");
    assert!(log.lines().count() < 80, "{} lines", log.lines().count());
    for part in [
        "unknown system call 1000: answered with ENOSYS, at 0x",
        "1003: answered with ENOSYS (51 times), first at 0x",
        "unknown system call ..., 59984 more",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
}
