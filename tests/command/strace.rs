//! `--strace`: calls and signals in the log, as strace(1) 6.1 writes them for the same program.

use std::fs;
use std::path::Path;

use crate::common::{output, stderr, tool};

const PROGRAM: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

/// The log of a run, without cgemu's own process ID and without the program's times.
fn log(directory: &Path) -> String {
    let out = output(directory, &["run", "--strace", "--cachegrind-out-file=out", "--", "./p"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let log = stderr(&out);
    assert!(!log.contains('\x1b'), "{log}");
    let lines = log.lines().map(|line| line.splitn(3, "==").nth(2).unwrap_or(line).trim_start());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn calls_and_signals_are_in_the_log() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("p.c"), PROGRAM).expect("write");
    let out = tool("gcc", dir.path(), "gcc", &["-O0", "-w", "-static", "-o", "p", "p.c"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let (first, again) = (log(dir.path()), log(dir.path()));
    assert_eq!(first, again);
    let untimed = |line: &str| {
        let (task, rest) = line.split_once("] ")?;
        let (time, call) = rest.split_once(' ')?;
        assert!(time.parse::<f64>().is_ok(), "{line}");
        let call = call.split("  ").filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        Some(format!("{task}] {}", call.replace("  ", " ")))
    };
    let lines: Vec<String> =
        first.lines().filter(|line| line.starts_with("[pid ")).filter_map(untimed).collect();
    let mut at = 0;
    for wanted in [
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
    ] {
        let found = lines.iter().skip(at).position(|line| line == wanted);
        at += found.unwrap_or_else(|| panic!("{wanted} is not behind line {at} of:\n{}", lines.join("\n")));
    }
    let failed = r#"[pid 1002] execve("/no/none", ["none", "a b"], 0x"#;
    let failed = lines.iter().find(|line| line.starts_with(failed)).expect("execve");
    assert!(failed.ends_with(" /* 1 var */) = -1 ENOENT (No such file or directory)"), "{failed}");
}
