//! `--strace`: calls and signals in the log, as strace(1) 6.1 writes them for the same program.

use std::fs;
use std::path::Path;

use crate::common::{output, stderr, tool};

const PROGRAM: &str = r#"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void handler(int signo) { (void)signo; }
int main(void)
{
    int ends[2], status;
    char got[64], *argv[] = { "none", "a b", NULL }, *envp[] = { "A=1", NULL };
    struct sigaction action = { .sa_handler = handler };
    sigaction(SIGUSR1, &action, NULL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    open("/no/such\n\033[31mfile", O_RDWR | O_CLOEXEC);
    int fd = open("/tmp/x", O_CREAT | O_TRUNC | O_WRONLY, 0640);
    write(fd, "0123456789012345678901234567890123456789", 40);
    lseek(fd, -4, SEEK_END);
    close(fd);
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 77, 0);
    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 77, 0);
    kill(getpid(), SIGUSR1);
    pipe(ends);
    pid_t child = fork();
    if (child == 0) {
        write(ends[1], "hello\n", 6);
        _exit(3);
    }
    read(ends[0], got, sizeof got);
    waitpid(child, &status, 0);
    child = fork();
    if (child == 0) {
        execve("/no/none", argv, envp);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    return 0;
}
"#;

/// Calls with structures, and calls that end in unusual ways. The first argument makes it a program
/// that ends at once.
const CALLS: &str = r#"
static int again(int argc) { if (argc > 1) _exit(5); return 0; }
int main(int argc, char **argv)
{
    int status;
    siginfo_t info = { 0 };
    char *args[] = { "p", "x", NULL }, *none[] = { NULL };
    again(argc);
    struct sigaction action = { .sa_handler = handler };
    sigaction(SIGALRM, &action, NULL);
    struct itimerval soon = { .it_value = { 0, 1000 } };
    setitimer(ITIMER_REAL, &soon, NULL);
    pause();
    pid_t child = vfork();
    if (child == 0)
        _exit(4);
    waitid(P_PID, child, &info, WEXITED | WNOWAIT);
    wait4(child, &status, 0, NULL);
    child = fork();
    if (child == 0) {
        int self = open("p", O_PATH);
        syscall(SYS_execveat, self, "", args, none, AT_EMPTY_PATH);
    }
    wait4(child, &status, 0, NULL);
    child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    wait4(child, &status, WUNTRACED, NULL);
    kill(child, SIGCONT);
    wait4(child, &status, 0, NULL);
    struct pollfd ready = { .fd = 1, .events = POLLOUT }, never = { .fd = -1 };
    poll(&ready, 1, -1);
    poll(&never, 1, 1);
    struct timespec time = { 1, 5 };
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR2);
    sigtimedwait(&set, &info, &time);
    fcntl(1, F_GETFD);
    prctl(PR_SET_NAME, "other");
    umask(022);
    struct stat data;
    stat("/", &data);
    stat("/dev/null", &data);
    char room[512];
    mkdir("/tmp/none", 0755);
    int none_there = open("/tmp/none", O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
    syscall(SYS_getdents64, none_there, room, sizeof room);
    syscall(SYS_statx, AT_FDCWD, "/dev/null", AT_SYMLINK_NOFOLLOW | 0x2000, 3, room);
    syscall(SYS_statfs, "/proc", room);
    syscall(SYS_sysinfo, room);
    unsigned long wanted[11] = { 0x100000, 0, 0, (unsigned long)&status, SIGCHLD };
    if (syscall(SYS_clone3, wanted, sizeof wanted) == 0)
        _exit(6);
    wait4(-1, &status, 0, NULL);
    for (int i = 0; i < 2; i++) {
        wanted[0] = 0x4000 | i * 0x100000;
        if (syscall(SYS_clone3, wanted, sizeof wanted) == 0)
            _exit(7);
        wait4(-1, &status, 0, NULL);
    }
    chmod("/tmp/none", 07755);
    stat("/tmp/none", &data);
    sched_getscheduler(0);
    return 0;
}
"#;

/// The lines of a run of a program with cgemu's own process ID and the program's times taken away,
/// and blanks as one.
fn lines(directory: &Path, text: &str) -> Vec<String> {
    fs::write(directory.join("p.c"), text).expect("write");
    let out = tool("gcc", directory, "gcc", &["-O0", "-w", "-static", "-o", "p", "p.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let run = |option: &str| {
        let out = output(directory, &["run", option, "--cachegrind-out-file=out", "--", "./p"]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        stderr(&out)
    };
    let log = run("--strace");
    assert!(!log.contains('\x1b'), "{log}");
    let in_log: Vec<&str> =
        log.lines().map(|line| line.splitn(3, "==").nth(2).unwrap_or(line).trim_start()).collect();
    let in_log: Vec<&str> = in_log.into_iter().filter(|line| line.starts_with("[pid ")).collect();
    assert!(!run("--strace=calls").contains("[pid "), "they go to the file alone");
    let in_file = fs::read_to_string(directory.join("calls")).expect("a file");
    assert_eq!(in_log, in_file.lines().collect::<Vec<_>>());
    let untimed = |line: &str| {
        let (task, rest) = line.split_once("] ")?;
        let (time, call) = rest.split_once(' ')?;
        assert!(time.parse::<f64>().is_ok(), "{line}");
        Some(format!("{task}] {}", call.split_whitespace().collect::<Vec<_>>().join(" ")))
    };
    in_log.into_iter().filter_map(untimed).collect()
}

/// Checks that lines are there, in this order.
fn check(lines: &[String], wanted: &[&str]) {
    let mut at = 0;
    for wanted in wanted {
        let found = lines.iter().skip(at).position(|line| line == wanted);
        let found =
            found.unwrap_or_else(|| panic!("{wanted} is not behind line {at} of:\n{}", lines.join("\n")));
        at += found + 1;
    }
}

#[test]
fn calls_and_signals_are_in_the_log() {
    let dir = tempfile::tempdir().expect("a directory");
    let lines = lines(dir.path(), PROGRAM);
    check(
        &lines,
        &[
            r#"[pid 1000] rt_sigprocmask(SIG_BLOCK, [USR2], NULL, 8) = 0"#,
            r#"[pid 1000] openat(AT_FDCWD, "/no/such\n\33[31mfile", O_RDWR|O_CLOEXEC) = -1 ENOENT (No such file or directory)"#,
            r#"[pid 1000] openat(AT_FDCWD, "/tmp/x", O_WRONLY|O_CREAT|O_TRUNC, 0640) = 3"#,
            r#"[pid 1000] write(3, "01234567890123456789012345678901"..., 40) = 40"#,
            r#"[pid 1000] lseek(3, -4, SEEK_END) = 36"#,
            r#"[pid 1000] close(3) = 0"#,
            r#"[pid 1000] mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 77, 0) = -1 EBADF (Bad file descriptor)"#,
            r#"[pid 1000] kill(1000, SIGUSR1) = 0"#,
            r#"[pid 1000] --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=1000, si_uid=1000} ---"#,
            r#"[pid 1000] pipe2([3, 4], 0) = 0"#,
            r#"[pid 1000] read(3, <unfinished ...>"#,
            r#"[pid 1001] write(4, "hello\n", 6) = 6"#,
            r#"[pid 1001] exit_group(3) = ?"#,
            r#"[pid 1001] +++ exited with 3 +++"#,
            r#"[pid 1000] <... read resumed>"hello\n", 64) = 6"#,
            r#"[pid 1000] --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=1001, si_uid=1000, si_status=3, si_utime=0, si_stime=0} ---"#,
            r#"[pid 1000] wait4(1001, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = 1001"#,
            r#"[pid 1000] wait4(1002, <unfinished ...>"#,
            r#"[pid 1002] +++ killed by SIGKILL +++"#,
            r#"[pid 1000] <... wait4 resumed>[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL) = 1002"#,
            r#"[pid 1000] +++ exited with 0 +++"#,
        ],
    );
    assert!(lines[0].starts_with(r#"[pid 1000] execve("./p", ["./p"], 0x"#), "{}", lines[0]);
    let failed = r#"[pid 1002] execve("/no/none", ["none", "a b"], 0x"#;
    let failed = lines.iter().find(|line| line.starts_with(failed)).expect("execve");
    assert!(failed.ends_with(" /* 1 var */) = -1 ENOENT (No such file or directory)"), "{failed}");
}

#[test]
fn structures_and_unusual_ends_are_as_strace_writes_them() {
    let dir = tempfile::tempdir().expect("a directory");
    let head = PROGRAM.split("int main").next().expect("the beginning");
    let lines = lines(dir.path(), &format!("#define _GNU_SOURCE{head}{CALLS}"));
    check(
        &lines,
        &[
            "[pid 1000] setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=1000}}, NULL) = 0",
            "[pid 1000] pause() = ? ERESTARTNOHAND (To be restarted if no handler)",
            "[pid 1000] --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---",
            "[pid 1000] rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call)",
            "[pid 1000] vfork( <unfinished ...>",
            "[pid 1001] exit_group(4) = ?",
            "[pid 1001] +++ exited with 4 +++",
            "[pid 1000] <... vfork resumed>) = 1001",
            "[pid 1000] waitid(P_PID, 1001, {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=1001, si_uid=1000, si_status=4, si_utime=0, si_stime=0}, WEXITED|WNOWAIT, NULL) = 0",
            r#"[pid 1002] openat(AT_FDCWD, "p", O_RDONLY|O_PATH) = 3"#,
            "[pid 1002] exit_group(5) = ?",
            "[pid 1003] --- stopped by SIGSTOP ---",
            "[pid 1000] <... wait4 resumed>[{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], WSTOPPED, NULL) = 1003",
            "[pid 1000] kill(1003, SIGCONT) = 0",
            "[pid 1003] --- SIGCONT {si_signo=SIGCONT, si_code=SI_USER, si_pid=1000, si_uid=1000} ---",
            "[pid 1000] poll([{fd=1, events=POLLOUT}], 1, -1) = 1 ([{fd=1, revents=POLLOUT}])",
            "[pid 1000] poll([{fd=-1, events=0}], 1, 1) = 0 (Timeout)",
            "[pid 1000] rt_sigtimedwait([USR2], {si_signo=SIGUSR2, si_code=SI_USER, si_pid=1000, si_uid=1000}, {tv_sec=1, tv_nsec=5}, 8) = 12 (SIGUSR2)",
            "[pid 1000] fcntl(1, F_GETFD) = 0",
            r#"[pid 1000] prctl(PR_SET_NAME, "other") = 0"#,
            "[pid 1000] umask(022) = 022",
            r#"[pid 1000] newfstatat(AT_FDCWD, "/dev/null", {st_mode=S_IFCHR|0666, st_rdev=makedev(0x1, 0x3), ...}, 0) = 0"#,
            r#"[pid 1000] openat(AT_FDCWD, "/tmp/none", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = 3"#,
            "[pid 1000] clone3({flags=CLONE_VFORK, exit_signal=SIGCHLD, stack=NULL, stack_size=0}, 88 <unfinished ...>",
            "[pid 1005] exit_group(7) = ?",
            "[pid 1000] <... clone3 resumed>) = 1005",
            "[pid 1006] exit_group(7) = ?",
            "[pid 1000] <... clone3 resumed> => {parent_tid=[1006]}, 88) = 1006",
            r#"[pid 1000] chmod("/tmp/none", 07755) = 0"#,
            "[pid 1000] sched_getscheduler(0) = 0 (SCHED_OTHER)",
            "[pid 1000] +++ exited with 0 +++",
        ],
    );
    let execveat = r#"[pid 1002] execveat(3, "", ["p", "x"], 0x"#;
    let execveat = lines.iter().find(|line| line.starts_with(execveat)).expect("execveat");
    assert!(execveat.ends_with(" /* 0 vars */, AT_EMPTY_PATH) = 0"), "{execveat}");
    for (begin, end) in [
        ("getdents64(3, 0x", " /* 2 entries */, 512) = 48"),
        (
            r#"statx(AT_FDCWD, "/dev/null", AT_STATX_FORCE_SYNC|AT_SYMLINK_NOFOLLOW, STATX_TYPE|STATX_MODE, {stx_mask="#,
            ", stx_attributes=0, stx_mode=S_IFCHR|0666, stx_size=0, ...}) = 0",
        ),
        (
            r#"statfs("/proc", {f_type=PROC_SUPER_MAGIC, f_bsize=4096, f_blocks="#,
            ", f_frsize=4096, f_flags=ST_VALID|ST_RELATIME}) = 0",
        ),
        ("sysinfo({uptime=", ", totalhigh=0, freehigh=0, mem_unit=1}) = 0"),
        (
            r#"newfstatat(AT_FDCWD, "/tmp/none", {st_mode=S_IFDIR|S_ISUID|S_ISGID|S_ISVTX|0755, st_size="#,
            ", ...}, 0) = 0",
        ),
        (
            "clone3({flags=CLONE_VFORK|CLONE_PARENT_SETTID, parent_tid=0x",
            ", exit_signal=SIGCHLD, stack=NULL, stack_size=0} <unfinished ...>",
        ),
        (
            "clone3({flags=CLONE_PARENT_SETTID, parent_tid=0x",
            ", exit_signal=SIGCHLD, stack=NULL, stack_size=0} => {parent_tid=[1004]}, 88) = 1004",
        ),
    ] {
        let line = lines.iter().find(|line| line.contains(begin)).unwrap_or_else(|| panic!("no {begin}"));
        assert!(line.ends_with(end), "{line}");
    }
    let stat = lines.iter().find(|line| line.contains(r#"newfstatat(AT_FDCWD, "/", {st_mode=S_IFDIR|0"#));
    assert!(stat.is_some(), "{}", lines.join("\n"));
}
